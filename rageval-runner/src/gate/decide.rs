//! Decides whether a run passes one gate.

pub mod drop;
pub mod window;

use std::collections::BTreeMap;

use super::{
    basis::{Basis, holds_min},
    case::case_findings,
    plan::{Gate, GateRule},
    regression::{DropTests, Holes},
    rule::{Level, TailStatistic},
    tally::{self, Reading, Tally},
};
use crate::{
    model::{
        CaseId, Ending, GoldenCase, GoldenSet, MetricKey, Scores, Unmeasured,
        run::{Decision, Ruling},
    },
    report::console::{
        gate::{self as console, Extent, GateText},
        text::{against, aggregate, bar, listed, score, visible},
    },
    stats,
};

/// From this many scored cases on a number over the whole set is shown without the words "few cases".
pub const FEW_CASES: usize = 10;

/// What was found before it is given a name, a level and a layout.
struct Found {
    ruling: Ruling,
    statistic: Option<f64>,
    threshold: Option<f64>,
    n: Option<usize>,
    text: GateText,
}

/// Decides one gate over the scores of its population. `tests` comes from [`super::drop_tests`], once a run.
pub fn decide_gate(gate: &Gate, set: &GoldenSet, scores: &Scores, basis: &Basis<'_>, tests: &DropTests) -> Decision {
    let run = Evidence { gate, set, scores, basis };
    let found = match (gate.rule, &gate.metric) {
        (GateRule::Unmeasured { max }, _) => run.unmeasured(max),
        (_, None) => run.undecided("the gate names no metric".to_owned()),
        (GateRule::Mean { min }, Some(metric)) => run.mean(metric, min.get()),
        (GateRule::PassRate { min, of: Some(of) }, Some(metric)) => run.pass_rate(metric, min.get(), of.get()),
        (GateRule::PassRate { of: None, .. }, Some(metric)) => {
            run.undecided(format!("pass_rate of {metric} has no score that counts as passed: state `of`, or `min`"))
        }
        (GateRule::Bottom10 { min, statistic }, Some(metric)) => run.bottom10(metric, min.get(), statistic),
        (GateRule::MeanDrop { max_drop }, Some(metric)) => run.mean_drop(metric, max_drop.get(), tests),
        (GateRule::WindowDrop { max_drop }, Some(metric)) => run.window_drop(metric, max_drop.get()),
        (GateRule::Bottom10Drop { max_drop, statistic }, Some(metric)) => {
            run.bottom10_drop(metric, max_drop.get(), statistic)
        }
    };
    named(gate, found, basis)
}

/// Applies the level and lays the text out.
fn named(gate: &Gate, found: Found, basis: &Basis<'_>) -> Decision {
    let Found { ruling, statistic, threshold, n, text } = found;
    let name = visible(&gate.name);
    let label = match ruling {
        Ruling::Pass => "passed",
        Ruling::Fail => "failed",
        Ruling::Inconclusive => "inconclusive",
        Ruling::Undecided => "undecided",
    };
    let (ruling, notices) = match (gate.level, ruling) {
        (Level::Warn, Ruling::Fail) => (Ruling::Pass, vec![format!("warning: {name}: {}", text.headline)]),
        (Level::Warn, Ruling::Undecided) => {
            (Ruling::Inconclusive, vec![format!("warning: {name}: undecided: {}", text.headline)])
        }
        (Level::Fail | Level::Warn, Ruling::Inconclusive) => {
            (ruling, vec![format!("inconclusive: {name}: {}", text.headline)])
        }
        (Level::Fail, Ruling::Fail | Ruling::Undecided) | (_, Ruling::Pass) => (ruling, Vec::new()),
    };
    let lines = if ruling.is_red() {
        console::lines(label, &text, &gate.name, basis.target)
    } else {
        vec![visible(&format!("{label}: {}", text.headline))]
    };
    let facts = gate.facts();
    Decision { statistic, threshold, n, notices, gate: Some(facts), ..Decision::told(&gate.name, ruling, lines) }
}

/// A gate with all that it is decided from.
#[derive(Clone, Copy)]
struct Evidence<'a> {
    gate: &'a Gate,
    set: &'a GoldenSet,
    scores: &'a Scores,
    basis: &'a Basis<'a>,
}

impl Evidence<'_> {
    fn unmeasured(&self, max: usize) -> Found {
        let mut by_cause: BTreeMap<String, Vec<&CaseId>> = BTreeMap::new();
        let mut count = 0;
        let index = self.index();
        for case in &self.gate.population {
            let scores = self.scores.get(case).map(|scores| &**scores);
            // A case that is not in the set has no record that could be read by its rules.
            let faults = match index.get(case) {
                Some(golden_case) => tally::faults_of(golden_case, scores, self.basis.rules),
                None => vec![(None, Unmeasured::new("no case", "the set does not hold it"))],
            };
            count += usize::from(!faults.is_empty());
            for (_, fault) in faults {
                let cases = by_cause.entry(fault.cause).or_default();
                if cases.last() != Some(&case) {
                    cases.push(case);
                }
            }
        }
        let total = self.gate.population.len();
        let mut found = if total == 0 {
            self.undecided("the set has no cases".to_owned())
        } else {
            let headline = format!("unmeasured, in whole or in part: {count} of {total} cases; max_unmeasured {max}");
            self.found(if count > max { Ruling::Undecided } else { Ruling::Pass }, headline)
        };
        let unscored = self.unscored();
        if found.ruling == Ruling::Pass && !unscored.is_empty() {
            // Rules that nothing was held against are not rules that held.
            found.ruling = Ruling::Undecided;
            found.text.headline = format!("no case is scored on {}", listed(&unscored, 60));
            found.text.facts = self.ways_to_score(&unscored);
        }
        if count > max && by_cause.keys().all(|cause| cause == Ending::NoKey.cause()) {
            found.text = told_by_set_up(&found.text.headline);
        }
        found.text.cases_are = "by cause".to_owned();
        found.text.cases = by_cause
            .into_iter()
            .map(|(cause, cases)| format!("{cause}, {}: {}", cases.len(), listed(&cases, 60)))
            .collect();
        (found.statistic, found.threshold, found.n) = (Some(count as f64), Some(max as f64), Some(total));
        found
    }

    /// Metrics with a rule that can make a run red, and no scored case to hold against it.
    fn unscored(&self) -> Vec<&MetricKey> {
        let rules = self.basis.rules.metrics.iter().filter(|(_, rule)| rule.can_fail());
        rules.map(|(metric, _)| metric).filter(|metric| self.tally(metric).scored.is_empty()).collect()
    }

    /// What to do about metrics that no case is scored on.
    fn ways_to_score(&self, unscored: &[&MetricKey]) -> Vec<String> {
        let compares = |metric: &MetricKey| {
            let facts = self.basis.metrics.get(metric.name());
            facts.is_some_and(|facts| facts.reads_baseline)
        };
        let lacks_baseline = |metric: &&MetricKey| self.basis.baseline.is_none() && compares(metric);
        let (lacking, others): (Vec<_>, Vec<_>) = unscored.iter().copied().partition(lacks_baseline);
        let mut ways = Vec::new();
        if !lacking.is_empty() {
            // The names come last: a line that is too long loses its end.
            ways.push(format!("accept a baseline and name it in `regression.baseline`, for {}", listed(&lacking, 60)));
            ways.push("cargo rageval baseline accept, after a run of all cases".to_owned());
        }
        if !others.is_empty() {
            ways.push("drop the metric, or give the cases what it needs: docs/metrics.md".to_owned());
        }
        ways
    }

    fn mean(&self, metric: &MetricKey, min: f64) -> Found {
        let tally = self.tally(metric);
        let statistic = |scores: &[f64]| stats::mean(scores);
        self.at_least("mean", &tally, min, statistic, |found| {
            let mean = tally.mean(self.set, &self.basis.rules.cluster, self.basis.seed);
            found.text.facts.extend(mean.map(|mean| aggregate(&mean)));
            self.name_lowest(found, &tally, MOST_NAMED);
        })
    }

    fn pass_rate(&self, metric: &MetricKey, min: f64, of: f64) -> Found {
        let tally = self.tally(metric);
        let passed = |scores: &[f64]| scores.iter().filter(|score| holds_min(**score, of)).count();
        let statistic = |scores: &[f64]| (!scores.is_empty()).then(|| passed(scores) as f64 / scores.len() as f64);
        self.at_least("pass rate", &tally, min, statistic, |found| {
            found.text.facts.extend(tally.pass_rate(of).map(|rate| aggregate(&rate)));
            found.text.facts.push(format!("a case counts as passed from {} on", bar(of)));
            let below = tally.scored.len() - passed(&tally.scores());
            self.name_lowest(found, &tally, below);
        })
    }

    fn bottom10(&self, metric: &MetricKey, min: f64, which: TailStatistic) -> Found {
        let tally = Tally::by(Reading::Settled, metric, &self.gate.population, self.scores);
        self.at_least(
            tail_name(which),
            &tally,
            min,
            |scores| tail(scores, which),
            |found| {
                found.text.facts.extend(tally.lowest_decile().map(|quantile| aggregate(&quantile)));
                let size = stats::decile_size(tally.scored.len());
                let mean = tally.lowest_decile_mean().map(|mean| format!("tail mean {}", score(mean.value)));
                found.text.facts.extend(mean.map(|mean| format!("{mean} of the lowest {size}")));
                self.name_lowest(found, &tally, stats::decile_size(tally.scored.len()));
            },
        )
    }

    /// Decides a number that must reach a bar, over the scored cases and, where some may be unmeasured, also with those at 0.
    fn at_least(
        &self,
        name: &str,
        tally: &Tally,
        min: f64,
        statistic: impl Fn(&[f64]) -> Option<f64>,
        explain: impl Fn(&mut Found),
    ) -> Found {
        if let Some(found) = self.too_little(tally.scored.len(), &tally.unmeasured, "scored") {
            return found;
        }
        let (Some(measured), Some(at_zero)) = (statistic(&tally.scores()), statistic(&tally.scores_with_zeros()))
        else {
            return self.undecided(format!("no case of {} has a score", tally.total()));
        };
        // Where both fail the number over what was measured is shown; it is never the smaller one.
        let (value, holes) =
            if holds_min(measured, min) { (at_zero, Holes::AtZero) } else { (measured, Holes::LeftOut) };
        let holds = holds_min(value, min);
        let with_zeros = match holes {
            Holes::AtZero if !tally.unmeasured.is_empty() && !holds => {
                format!(" with {} unmeasured at 0", tally.unmeasured.len())
            }
            Holes::AtZero | Holes::LeftOut => String::new(),
        };
        let few = self.few(tally.scored.len());
        let mut found = if holds {
            let over = tally.aggregate("", measured, None);
            let over = aggregate(&over);
            let over = over.split_once(" over ").map_or("", |(_, over)| over);
            self.found(Ruling::Pass, format!("{name} {}, min {}, over {over}{few}", score(measured), bar(min)))
        } else {
            let headline = format!("{name} {}{with_zeros}, min {}{few}", against(value, min), bar(min));
            let mut found = self.found(Ruling::Fail, headline);
            explain(&mut found);
            if holes == Holes::AtZero {
                let ids: Vec<&CaseId> = tally.unmeasured.iter().map(|(case, _)| case).collect();
                found.text.facts.push(format!("unmeasured: {}", listed(&ids, 70)));
            }
            found.text.accept = format!("a lower `min` in thresholds.yaml; now it is {}", bar(min));
            found
        };
        let shown = if holds { measured } else { value };
        (found.statistic, found.threshold, found.n) = (Some(shown), Some(min), Some(tally.scored.len()));
        found
    }

    /// Why nothing can be said of so many cases; `None` when something can.
    fn too_little(&self, usable: usize, unmeasured: &[(CaseId, Unmeasured)], usable_are: &str) -> Option<Found> {
        let total = self.gate.population.len();
        if total == 0 {
            return Some(self.undecided("no case of the set belongs to it".to_owned()));
        }
        let min_cases = self.basis.rules.slices.min_cases.max(1);
        if self.gate.slice.is_some() && usable + unmeasured.len() < min_cases {
            let headline = format!("{usable} of {total} cases are {usable_are}; slices.min_cases {min_cases}");
            let mut found = self.found(Ruling::Inconclusive, headline);
            found.n = Some(usable);
            return Some(found);
        }
        if unmeasured.len() > self.basis.rules.max_unmeasured {
            let mut found = self.undecided(format!("unmeasured: {} of {total} cases", unmeasured.len()));
            found.n = Some(usable);
            if unmeasured.iter().all(|(_, fault)| fault.cause == Ending::NoKey.cause()) {
                found.text = told_by_set_up(&found.text.headline);
                return Some(found);
            }
            found.text.facts.push("a number over the others would hide them".to_owned());
            found.text.cases_are = "unmeasured".to_owned();
            found.text.cases =
                unmeasured.iter().map(|(case, fault)| format!("{}: {case}: {}", fault.cause, fault.why)).collect();
            return Some(found);
        }
        (usable == 0).then(|| {
            let mut found = self.undecided(format!("none of {total} cases is {usable_are}"));
            found.n = Some(0);
            found
        })
    }

    /// Words for a number over few cases of the whole set; a slice has its own minimum.
    fn few(&self, cases: usize) -> &'static str {
        if self.gate.slice.is_none() && cases < FEW_CASES { " (few cases)" } else { "" }
    }

    fn tally(&self, metric: &MetricKey) -> Tally {
        Tally::of(metric, &self.gate.population, self.scores)
    }

    fn found(&self, ruling: Ruling, headline: String) -> Found {
        let text = GateText { headline, ..GateText::default() };
        Found { ruling, statistic: None, threshold: None, n: None, text }
    }

    fn undecided(&self, why: String) -> Found {
        self.found(Ruling::Undecided, why)
    }

    /// Names the lowest scored cases, worst first, and says how many of them are red themselves.
    fn name_lowest(&self, found: &mut Found, tally: &Tally, most: usize) {
        let lowest: Vec<_> = tally.lowest_first().into_iter().take(most).collect();
        let cases = lowest.iter().map(|(case, value)| (case, score(*value))).collect::<Vec<_>>();
        self.name_cases(found, &format!("the lowest {} of {}", cases.len(), tally.scored.len()), &cases);
    }

    /// The cases of the set by id.
    fn index(&self) -> BTreeMap<&CaseId, &GoldenCase> {
        self.set.cases.iter().map(|case| (&case.id, case)).collect()
    }

    fn name_cases(&self, found: &mut Found, title: &str, cases: &[(&CaseId, String)]) {
        let index = self.index();
        let mut red = 0;
        found.text.cases = cases
            .iter()
            .map(|(id, numbers)| {
                let case = index.get(id).copied();
                let is_red = case.zip(self.scores.get(*id)).is_some_and(|(case, scores)| {
                    case_findings(case, scores, self.basis).ruling(self.basis.rules.max_unmeasured).is_red()
                });
                red += usize::from(is_red);
                let place = case.map(|case| format!("  {}", case.place)).unwrap_or_default();
                format!("{numbers}  {id}{}{place}", if is_red { " (red)" } else { "" })
            })
            .collect();
        found.text.cases_are = format!("{title}; red as cases: {red} of these {}", cases.len());
    }
}

/// The text of a gate that lacks nothing but replies of a judge without its key.
fn told_by_set_up(headline: &str) -> GateText {
    let headline = format!("{headline}: {}; gate::setup says what to do", Ending::NoKey.cause());
    GateText { headline, extent: Extent::OneLine, ..GateText::default() }
}

/// Cases that are worked out to be named; fewer are shown.
const MOST_NAMED: usize = 10;

fn tail(scores: &[f64], which: TailStatistic) -> Option<f64> {
    match which {
        TailStatistic::Quantile => stats::lowest_decile(scores),
        TailStatistic::TailMean => stats::lowest_decile_mean(scores),
    }
}

fn tail_name(which: TailStatistic) -> &'static str {
    match which {
        TailStatistic::Quantile => "bottom10 quantile",
        TailStatistic::TailMean => "bottom10 tail mean",
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod text_tests;
