//! Decides a drop of the mean against the best of the last accepted runs, so that many small drops are seen as the one that they make.

use super::{
    super::{
        basis::{holds_drop, holds_min},
        plan::{GateRule, gates},
        regression::{Holes, Pairs, drops},
        rule::DecisionRule,
        tally::{self, Reading},
    },
    Evidence, Found, MOST_NAMED,
    drop::{ALPHA, FEWEST_CHANGES},
};
use crate::{
    model::{CaseId, MetricKey, run::AcceptedRun, run::Ruling},
    report::console::text::{against, bar, probability, score},
    stats,
};

/// The most sign patterns of a test; more would take seconds without an optimiser, and tell nothing at any level that a run can ask for.
const MOST_FLIPS: usize = 999_999;

/// The accepted run from which the mean fell most.
struct Best<'a> {
    run: &'a AcceptedRun,
    pairs: Vec<(CaseId, f64, f64)>,
    drop: f64,
}

impl Evidence<'_> {
    pub(super) fn window_drop(&self, metric: &MetricKey, max_drop: f64) -> Found {
        if self.basis.comparable(metric).is_none() {
            let why =
                "not decided, so not passed: the baseline or its history is missing or unreadable, see gate::setup";
            return self.found(Ruling::Inconclusive, why.to_owned());
        }
        let tally = self.tally(metric);
        if let Some(found) = self.too_little(tally.scored.len(), &tally.unmeasured, "scored") {
            return found;
        }
        let of_one_kind = |run: &&AcceptedRun| self.basis.check(metric, &run.baseline).is_ok();
        let comparable: Vec<&AcceptedRun> = self.basis.history.iter().filter(of_one_kind).collect();
        if comparable.is_empty() {
            let mut found = self.undecided("the history holds no accepted run to compare with".to_owned());
            let newest = self.basis.history.last();
            if let Some((run, why)) = newest.and_then(|run| Some((run, self.basis.check(metric, &run.baseline).err()?)))
            {
                found.text.facts.push(format!("the newest, {}: {}", run.place, why.why()));
                found.text.facts.extend(why.difference_from("in that run").into_iter().flatten());
            }
            found.text.accept = "cargo rageval baseline accept, after a run of all cases".to_owned();
            return found;
        }
        let paired = comparable
            .into_iter()
            .map(|run| (run, Pairs::of(Reading::First, metric, &self.gate.population, self.scores, &run.baseline)));
        // Of a run that shares few cases with this one, the mean of those few says little of the rest.
        let paired: Vec<_> = paired.filter(|(_, pairs)| tally.scored.len() <= 2 * pairs.scored.len()).collect();
        if paired.is_empty() {
            let why = "no accepted run of the history holds half of the scored cases: mean_drop decides";
            return self.found(Ruling::Inconclusive, why.to_owned());
        }
        let ruled = [Holes::LeftOut, Holes::AtZero].map(|holes| {
            let best = paired.iter().filter_map(|(run, pairs)| {
                let pairs = pairs.with(holes);
                let drop = stats::mean(&drops(&pairs))?;
                Some(Best { run, pairs, drop })
            });
            // The first of equals: the oldest.
            let best = best.reduce(|best, next| if best.drop < next.drop { next } else { best });
            best.map(|best| (self.rule_of(metric, &best, max_drop, paired.len()), best, holes))
        });
        let [Some(left_out), Some(at_zero)] = ruled else {
            return self.undecided("no paired case has a score".to_owned());
        };
        let is_worse = at_zero.0.0.is_red() && !left_out.0.0.is_red();
        let ((ruling, said), best, holes) = if is_worse { at_zero } else { left_out };
        let with_zeros = match holes {
            Holes::AtZero => " with unmeasured at 0",
            Holes::LeftOut => "",
        };
        let few = self.few(best.pairs.len());
        let headline = format!(
            "mean drop {} from {}, max_drop {}{with_zeros}{said}, over {} paired cases{few}",
            against(best.drop, max_drop),
            best.run.place,
            bar(max_drop),
            best.pairs.len()
        );
        let mut found = self.found(ruling, headline);
        (found.statistic, found.threshold, found.n) = (Some(best.drop), Some(max_drop), Some(best.pairs.len()));
        if ruling.is_red() {
            self.explain_window(&mut found, &best, paired.len());
        }
        found
    }

    /// What the metric's rule says of the largest drop, with what it adds in words.
    fn rule_of(&self, metric: &MetricKey, best: &Best<'_>, max_drop: f64, runs: usize) -> (Ruling, String) {
        let holds = holds_drop(best.drop, max_drop);
        match self.basis.decision_rule(metric) {
            DecisionRule::Point if holds => (Ruling::Pass, String::new()),
            DecisionRule::Point => (Ruling::Fail, String::new()),
            DecisionRule::NonInferior => {
                let cases = best.pairs.iter().map(|(case, ..)| case.clone());
                let numbers: Vec<_> = cases.zip(drops(&best.pairs)).collect();
                match stats::mean_upper_limit(
                    &tally::clusters(&numbers, self.set, &self.basis.rules.cluster),
                    self.basis.seed,
                ) {
                    None => (Ruling::Undecided, ": one case, or one document, has no upper limit".to_owned()),
                    Some(limit) => {
                        let ruling = if holds_drop(limit, max_drop) { Ruling::Pass } else { Ruling::Fail };
                        (ruling, format!(", upper limit {} (95%)", against(limit, max_drop)))
                    }
                }
            }
            DecisionRule::Confident if holds => (Ruling::Pass, String::new()),
            DecisionRule::Confident => {
                let changed = drops(&best.pairs).iter().filter(|drop| **drop != 0.0).count();
                if changed < FEWEST_CHANGES {
                    let why = format!(": too few changed cases ({changed}), the case rules decide");
                    return (Ruling::Inconclusive, why);
                }
                let p = self.p_among(&best.pairs, runs);
                let ruling = if p <= ALPHA { Ruling::Fail } else { Ruling::Inconclusive };
                let why = if ruling == Ruling::Fail { "" } else { ": may be chance" };
                (ruling, format!("{why}, p {}", probability(p)))
            }
        }
    }

    /// The p-value of the largest of several drops: multiplied by how many runs and gates it was looked for in (Bonferroni), at most 1.
    fn p_among(&self, pairs: &[(CaseId, f64, f64)], runs: usize) -> f64 {
        let looks_back = |rule: &GateRule| matches!(rule, GateRule::WindowDrop { .. });
        let all = gates(self.basis.rules, self.set);
        let looked = all.iter().filter(|gate| {
            let is_confident = |metric| self.basis.decision_rule(metric) == DecisionRule::Confident;
            looks_back(&gate.rule) && gate.metric.as_ref().is_some_and(is_confident)
        });
        let times = runs * looked.count().max(1);
        let pairs: Vec<(f64, f64)> = pairs.iter().map(|(_, before, now)| (*before, *now)).collect();
        // So many patterns that the smallest p, after the multiplication, is what it is for a single test.
        let flips = (stats::paired::FLIPS * times).min(MOST_FLIPS);
        (stats::drop_p_value(&pairs, flips, self.basis.seed) * times as f64).min(1.0)
    }

    fn explain_window(&self, found: &mut Found, best: &Best<'_>, runs: usize) {
        let mean = |of: fn(&(CaseId, f64, f64)) -> f64| {
            stats::mean(&best.pairs.iter().map(of).collect::<Vec<_>>()).map_or_else(|| "-".to_owned(), score)
        };
        let revision = best.run.baseline.manifest.git_revision.as_deref();
        let revision = revision.map(|revision| format!(", accepted at {revision:.12}")).unwrap_or_default();
        let (before, now) = (mean(|pair| pair.1), mean(|pair| pair.2));
        found.text.facts.push(format!("mean {before} -> {now}, the best of {runs} accepted runs{revision}"));
        let mut dropped: Vec<_> = best.pairs.iter().filter(|(_, before, now)| !holds_min(*now, *before)).collect();
        dropped.sort_by(|a, b| (b.1 - b.2).total_cmp(&(a.1 - a.2)).then_with(|| a.0.cmp(&b.0)));
        let cases = dropped.into_iter().take(MOST_NAMED);
        let cases: Vec<_> =
            cases.map(|(case, before, now)| (case, format!("{} -> {}", score(*before), score(*now)))).collect();
        self.name_cases(found, "the largest drops", &cases);
        found.text.accept = "the lower mean: accept the run, and take the older lines out of history.jsonl".to_owned();
    }
}

#[cfg(test)]
mod tests;
