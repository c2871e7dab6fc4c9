//! Decides whether a run passes one gate.

use std::collections::BTreeMap;

use super::{
    basis::{Basis, holds_drop, holds_min},
    case::case_findings,
    plan::{Gate, GateRule},
    regression::{DropTests, Holes, PValue, Pairs, drops},
    rule::{DecisionRule, Level, TailStatistic},
    tally::{self, Tally},
};
use crate::{
    model::{
        CaseId, GoldenCase, GoldenSet, MetricKey, Record, Unmeasured,
        run::{Decision, Ruling},
    },
    report::console::{
        gate::{self as console, GateText},
        text::{against, aggregate, bar, listed, score, visible},
    },
    stats,
};

/// From this many scored cases on a number over the whole set is shown without the words "few cases".
pub const FEW_CASES: usize = 10;

/// Differences that are not zero, below which a drop can't be told from chance: with 6 the smallest p-value is 1/64.
pub const FEWEST_CHANGES: usize = 7;

/// Level of the test that makes a drop red, over all gates of the run.
pub const ALPHA: f64 = 0.01;

/// Level of the test that raises suspicion, of one gate alone.
pub const SUSPICION: f64 = 0.10;

/// What was found before it is given a name, a level and a layout.
struct Found {
    ruling: Ruling,
    statistic: Option<f64>,
    threshold: Option<f64>,
    n: Option<usize>,
    text: GateText,
}

/// Decides one gate over the records of its population. `tests` comes from [`super::drop_tests`], once a run.
pub fn decide_gate(
    gate: &Gate,
    set: &GoldenSet,
    records: &BTreeMap<CaseId, Record>,
    basis: &Basis<'_>,
    tests: &DropTests,
) -> Decision {
    let run = Evidence { gate, set, records, basis };
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
    Decision { trial: gate.name.clone(), ruling, statistic, threshold, n, lines, notices }
}

/// A gate with all that it is decided from.
#[derive(Clone, Copy)]
struct Evidence<'a> {
    gate: &'a Gate,
    set: &'a GoldenSet,
    records: &'a BTreeMap<CaseId, Record>,
    basis: &'a Basis<'a>,
}

impl Evidence<'_> {
    fn unmeasured(&self, max: usize) -> Found {
        let mut by_cause: BTreeMap<String, Vec<&CaseId>> = BTreeMap::new();
        let mut count = 0;
        for case in &self.gate.population {
            let faults = tally::faults_of(self.records.get(case), self.basis.rules);
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
        found.text.cases_are = "by cause".to_owned();
        found.text.cases = by_cause
            .into_iter()
            .map(|(cause, cases)| format!("{cause}, {}: {}", cases.len(), listed(&cases, 60)))
            .collect();
        (found.statistic, found.threshold, found.n) = (Some(count as f64), Some(max as f64), Some(total));
        found
    }

    fn mean(&self, metric: &MetricKey, min: f64) -> Found {
        let tally = self.tally(metric);
        let statistic = |scores: &[f64]| stats::mean(scores);
        self.at_least("mean", &tally, min, statistic, |found| {
            let mean = tally.mean(self.set, self.basis.seed);
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
        let tally = self.tally(metric);
        self.at_least(
            tail_name(which),
            &tally,
            min,
            |scores| tail(scores, which),
            |found| {
                found.text.facts.extend(tail_fact(&tally));
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

    fn mean_drop(&self, metric: &MetricKey, max_drop: f64, tests: &DropTests) -> Found {
        let pairs = match self.pairs(metric) {
            Ok(pairs) => pairs,
            Err(found) => return *found,
        };
        let rule = self.basis.decision_rule(metric);
        let test = tests.get(&self.gate.name);
        let measured = self.judge_drop(rule, &pairs.with(Holes::LeftOut), max_drop, test.map(|test| test.measured));
        let at_zero = self.judge_drop(rule, &pairs.with(Holes::AtZero), max_drop, test.map(|test| test.at_zero));
        let is_at_zero = severity(at_zero.ruling) > severity(measured.ruling) && !pairs.unmeasured.is_empty();
        let judged = if is_at_zero { at_zero } else { measured };
        let mut headline = judged.headline;
        if is_at_zero {
            headline = format!("{headline}, with {} unmeasured at 0", pairs.unmeasured.len());
        }
        let mut found = self.found(judged.ruling, headline);
        (found.statistic, found.threshold, found.n) = (judged.drop, Some(max_drop), Some(pairs.scored.len()));
        let numbers = pairs.with(Holes::LeftOut);
        found.text.facts.push(format!(
            "mean {} -> {} over {} paired cases{}",
            mean_text(numbers.iter().map(|(_, before, _)| *before)),
            mean_text(numbers.iter().map(|(_, _, now)| *now)),
            pairs.scored.len(),
            self.not_compared(&pairs)
        ));
        let differences = drops(&numbers);
        found.text.facts.push(spread_fact(&differences, tests));
        found.text.facts.extend(stats::standardised_mean(&differences).map(|effect| {
            format!("effect size {effect:.2}, Wilcoxon p {:.4}; neither decides", stats::wilcoxon(&differences))
        }));
        self.name_dropped(&mut found, &pairs);
        found
    }

    /// Decides a drop of the mean by one of the three rules.
    fn judge_drop(
        &self,
        rule: DecisionRule,
        pairs: &[(CaseId, f64, f64)],
        max_drop: f64,
        p: Option<PValue>,
    ) -> JudgedDrop {
        let differences = drops(pairs);
        let Some(drop) = stats::mean(&differences) else {
            return JudgedDrop {
                ruling: Ruling::Undecided,
                drop: None,
                headline: "no paired case has a score".to_owned(),
            };
        };
        let said = format!("mean drop {}, max_drop {}", against(drop, max_drop), bar(max_drop));
        let judged = |ruling, headline| JudgedDrop { ruling, drop: Some(drop), headline };
        let holds = holds_drop(drop, max_drop);
        match rule {
            DecisionRule::Point => judged(if holds { Ruling::Pass } else { Ruling::Fail }, said),
            DecisionRule::NonInferior => {
                let cases = pairs.iter().map(|(case, _, _)| case.clone());
                let numbers: Vec<_> = cases.zip(differences).collect();
                let clusters = tally::clusters(&numbers, self.set);
                match stats::mean_upper_limit(&clusters, self.basis.seed) {
                    Some(limit) => {
                        let ruling = if holds_drop(limit, max_drop) { Ruling::Pass } else { Ruling::Fail };
                        let limit = against(limit, max_drop);
                        judged(
                            ruling,
                            format!("mean drop {}, upper limit {limit} (95%), max_drop {}", score(drop), bar(max_drop)),
                        )
                    }
                    None => judged(Ruling::Undecided, format!("{said}: one case has no upper limit")),
                }
            }
            DecisionRule::Confident if holds => judged(Ruling::Pass, said),
            DecisionRule::Confident => {
                let changed = differences.iter().filter(|difference| **difference != 0.0).count();
                match p {
                    _ if changed < FEWEST_CHANGES => judged(
                        Ruling::Inconclusive,
                        format!("{said}: too few changed cases ({changed}), the case rules decide"),
                    ),
                    None => judged(Ruling::Undecided, format!("{said}: its p-value is missing")),
                    Some(p) if p.alone <= SUSPICION && p.adjusted <= ALPHA => judged(
                        Ruling::Fail,
                        format!("{said}, p {:.4} ({:.4} among the run's gates)", p.alone, p.adjusted),
                    ),
                    Some(p) if p.alone <= SUSPICION => judged(
                        Ruling::Inconclusive,
                        format!("{said}: suspected, p {:.4} ({:.4} among the run's gates)", p.alone, p.adjusted),
                    ),
                    Some(p) => judged(Ruling::Inconclusive, format!("{said}: may be chance, p {:.4}", p.alone)),
                }
            }
        }
    }

    fn bottom10_drop(&self, metric: &MetricKey, max_drop: f64, which: TailStatistic) -> Found {
        let pairs = match self.pairs(metric) {
            Ok(pairs) => pairs,
            Err(found) => return *found,
        };
        let drop_of = |holes| {
            let (before, now): (Vec<f64>, Vec<f64>) =
                pairs.with(holes).into_iter().map(|(_, before, now)| (before, now)).unzip();
            Some((tail(&before, which)?, tail(&now, which)?))
        };
        let (Some(measured), Some(at_zero)) = (drop_of(Holes::LeftOut), drop_of(Holes::AtZero)) else {
            return self.undecided("no paired case has a score".to_owned());
        };
        let drop = |(before, now): (f64, f64)| before - now;
        let (shown, with_zeros) = if holds_drop(drop(measured), max_drop) && !holds_drop(drop(at_zero), max_drop) {
            (at_zero, format!(", with {} unmeasured at 0", pairs.unmeasured.len()))
        } else {
            (measured, String::new())
        };
        let value = drop(shown);
        let ruling = if holds_drop(value, max_drop) { Ruling::Pass } else { Ruling::Fail };
        let name = tail_name(which);
        let headline = format!(
            "{name} {} -> {}: dropped by {}, max_drop {}{with_zeros}",
            score(shown.0),
            score(shown.1),
            against(value, max_drop),
            bar(max_drop)
        );
        let mut found = self.found(ruling, headline);
        (found.statistic, found.threshold, found.n) = (Some(value), Some(max_drop), Some(pairs.scored.len()));
        found.text.facts.push(format!("over {} paired cases{}", pairs.scored.len(), self.not_compared(&pairs)));
        self.name_dropped(&mut found, &pairs);
        found
    }

    /// The pairs to compare, or why that can't be decided.
    fn pairs(&self, metric: &MetricKey) -> Result<Pairs, Box<Found>> {
        let baseline = match self.basis.comparable(metric) {
            Some(Ok(baseline)) => baseline,
            Some(Err(why)) => {
                let mut found = self.accept_baseline(why.why());
                found.text.facts.extend(why.difference());
                return Err(Box::new(found));
            }
            None => return Err(Box::new(self.accept_baseline("there is no baseline"))),
        };
        let pairs = Pairs::of(metric, &self.gate.population, self.records, baseline);
        match self.too_little(pairs.scored.len(), &pairs.unmeasured_faults(), "paired") {
            Some(mut found) => {
                if found.ruling == Ruling::Undecided && pairs.unmeasured.is_empty() {
                    found.text.accept = ACCEPT_BASELINE.to_owned();
                }
                Err(Box::new(found))
            }
            None => Ok(pairs),
        }
    }

    fn accept_baseline(&self, why: &str) -> Found {
        let mut found = self.undecided(why.to_owned());
        found.text.accept = ACCEPT_BASELINE.to_owned();
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

    /// What to know of the pairs beside their number: which cases are not compared, and whether they are few.
    fn not_compared(&self, pairs: &Pairs) -> String {
        let counts = [(pairs.new, "new"), (pairs.changed, "changed"), (pairs.not_applicable, "without two scores")];
        let words: Vec<String> =
            counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
        let words = if words.is_empty() { String::new() } else { format!(" (not compared: {})", words.join(", ")) };
        format!("{words}{}", self.few(pairs.scored.len()))
    }

    /// Words for a number over few cases of the whole set; a slice has its own minimum.
    fn few(&self, cases: usize) -> &'static str {
        if self.gate.slice.is_none() && cases < FEW_CASES { " (few cases)" } else { "" }
    }

    fn tally(&self, metric: &MetricKey) -> Tally {
        Tally::of(metric, &self.gate.population, self.records)
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

    /// Names the cases that dropped, the largest drop first.
    fn name_dropped(&self, found: &mut Found, pairs: &Pairs) {
        let mut dropped: Vec<_> = pairs.scored.iter().filter(|(_, before, now)| before > now).collect();
        dropped.sort_by(|a, b| (b.1 - b.2).total_cmp(&(a.1 - a.2)).then_with(|| a.0.cmp(&b.0)));
        let cases: Vec<_> = dropped
            .into_iter()
            .take(MOST_NAMED)
            .map(|(case, before, now)| (case, format!("{} -> {}", score(*before), score(*now))))
            .collect();
        self.name_cases(found, "the largest drops", &cases);
        found.text.accept = "cargo rageval baseline accept RUN --reason WHY".to_owned();
    }

    fn name_cases(&self, found: &mut Found, title: &str, cases: &[(&CaseId, String)]) {
        let index: BTreeMap<&CaseId, &GoldenCase> = self.set.cases.iter().map(|case| (&case.id, case)).collect();
        let mut red = 0;
        found.text.cases = cases
            .iter()
            .map(|(id, numbers)| {
                let case = index.get(id).copied();
                let is_red = case.zip(self.records.get(*id)).is_some_and(|(case, record)| {
                    case_findings(case, record, self.basis).ruling(self.basis.rules.max_unmeasured).is_red()
                });
                red += usize::from(is_red);
                let place = case.map(|case| format!("  {}", case.place)).unwrap_or_default();
                format!("{numbers}  {id}{}{place}", if is_red { " (red)" } else { "" })
            })
            .collect();
        found.text.cases_are = format!("{title}; red as cases: {red} of these {}", cases.len());
    }
}

/// What one of the three rules says of a drop.
struct JudgedDrop {
    ruling: Ruling,
    drop: Option<f64>,
    headline: String,
}

/// Cases that are worked out to be named; fewer are shown.
const MOST_NAMED: usize = 10;

const ACCEPT_BASELINE: &str = "cargo rageval baseline accept RUN, with a run of all cases";

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

/// Both statistics of the worst tenth, whichever decides.
fn tail_fact(tally: &Tally) -> Option<String> {
    let scores = tally.scores();
    let (quantile, mean) = (stats::lowest_decile(&scores)?, stats::lowest_decile_mean(&scores)?);
    let size = stats::decile_size(scores.len());
    let over = aggregate(&tally.aggregate("tail mean", mean, None));
    Some(format!("quantile {}, {over}; the tail is {size} of {}", score(quantile), scores.len()))
}

/// How many got worse and better, and the smallest drop that this many cases could have shown.
fn spread_fact(differences: &[f64], tests: &DropTests) -> String {
    let worse = differences.iter().filter(|difference| **difference > 0.0).count();
    let better = differences.iter().filter(|difference| **difference < 0.0).count();
    let counts = format!("{worse} worse, {better} better, {} equal", differences.len() - worse - better);
    let alpha = ALPHA / tests.len().max(1) as f64;
    match stats::minimum_detectable_mean(differences, alpha) {
        Some(drop) => format!("{counts}; a true drop of {} would show here 8 times in 10", score(drop)),
        None => counts,
    }
}

/// A mean in words; a dash of nothing.
fn mean_text(scores: impl Iterator<Item = f64>) -> String {
    stats::mean(&scores.collect::<Vec<_>>()).map_or_else(|| "-".to_owned(), score)
}

/// Which of two rulings on the same drop counts: the one that says more against it.
fn severity(ruling: Ruling) -> u8 {
    match ruling {
        Ruling::Pass => 0,
        Ruling::Inconclusive => 1,
        Ruling::Undecided => 2,
        Ruling::Fail => 3,
    }
}

#[cfg(test)]
mod tests;
