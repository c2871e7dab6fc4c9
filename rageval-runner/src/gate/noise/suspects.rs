//! Which first readings are suspects, and against which bars they are read again.

use std::collections::BTreeMap;

use crate::{
    gate::{
        Basis,
        basis::{holds_drop, holds_min},
        case::{CaseBars, accepted_score, case_bars},
        plan::{Gate, GateRule},
        rule::Level,
    },
    model::{CaseId, GoldenSet, MetricKey, Scores},
};

/// One judged score of one case that its first reading puts outside a bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspect {
    /// The case.
    pub case: CaseId,
    /// The metric.
    pub metric: MetricKey,
    /// How far it lies outside the bar that it misses most.
    pub shortfall: f64,
    /// Every bar that it is held against.
    pub bars: Bars,
    /// Whether it would make the run red as a case, so that its confirmation counts for `confirm.enough`: not so for rules that warn, known
    /// failures, and what lies below a bar of the worst tenth alone.
    pub counts: bool,
}

/// The bars of one judged score of one case.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Bars {
    /// The lowest score that passes.
    pub min: Option<f64>,
    /// The largest drop that passes.
    pub drop: Option<Drop>,
    /// The highest bar on the worst tenth of the set, or of a slice that the case belongs to.
    pub tail: Option<f64>,
}

/// A bar on the drop against the baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drop {
    /// The baseline's score.
    pub baseline: f64,
    /// The largest drop that passes.
    pub max_drop: f64,
}

impl Bars {
    /// Whether the score breaks `min`.
    pub fn breaks_min(&self, score: f64) -> bool {
        self.min.is_some_and(|min| !holds_min(score, min))
    }

    /// Whether the score breaks `max_drop`, the baseline's score being this where it was judged again.
    pub fn breaks_drop(&self, score: f64, baseline: Option<f64>) -> bool {
        self.drop.is_some_and(|drop| !holds_drop(baseline.unwrap_or(drop.baseline) - score, drop.max_drop))
    }

    /// Whether the score lies below the bar of the worst tenth.
    pub fn breaks_tail(&self, score: f64) -> bool {
        self.tail.is_some_and(|tail| !holds_min(score, tail))
    }

    /// How far the score lies outside the bar that it misses most; `None` where it meets all.
    fn shortfall(&self, score: f64) -> Option<f64> {
        let below = |bar: f64| (!holds_min(score, bar)).then_some(bar - score);
        let dropped = self.drop.filter(|_| self.breaks_drop(score, None));
        [self.min.and_then(below), dropped.map(|drop| drop.baseline - score - drop.max_drop), self.tail.and_then(below)]
            .into_iter()
            .flatten()
            .max_by(f64::total_cmp)
    }
}

/// Pairs of a case and a judged metric whose readings can differ that carry a rule on the single case: from the files alone, so the same in every process.
pub fn pairs_with_rules(set: &GoldenSet, basis: &Basis<'_>) -> usize {
    let is_compared = basis.rules.regression.is_some();
    let has_rule = |bars: &CaseBars| bars.min.is_some() || (is_compared && bars.max_drop.is_some());
    set.cases
        .iter()
        .flat_map(|case| basis.rules.metrics_of(case).map(move |(metric, rule)| (case, metric, rule)))
        .filter(|(case, metric, rule)| basis.is_noisy(metric) && has_rule(&case_bars(case, metric, *rule)))
        .count()
}

/// The suspects of a run by their first readings, largest shortfall first, then by case and metric.
///
/// `is_read_again` says of which readings further ones can be had: not of what was scored without asking the judge. Metrics whose readings
/// can't differ have no suspects. Rules that warn and known failures make suspects too: they are cheap to read right.
pub fn suspects(
    set: &GoldenSet,
    scores: &Scores,
    gates: &[Gate],
    basis: &Basis<'_>,
    is_read_again: &dyn Fn(&CaseId, &MetricKey) -> bool,
) -> Vec<Suspect> {
    let tails = tail_bars(gates);
    let mut suspects = Vec::new();
    for case in &set.cases {
        // The outcomes of a repeated case rest on several readings already.
        let Some(scores) = scores.get(&case.id).filter(|scores| !scores.is_repeated) else { continue };
        for (metric, rule) in basis.rules.metrics_of(case).filter(|(metric, _)| basis.is_noisy(metric)) {
            let Some(score) = scores.outcome(metric).and_then(|outcome| outcome.score()) else { continue };
            let CaseBars { min, max_drop, level } = case_bars(case, metric, rule);
            let drop = max_drop.and_then(|max_drop| {
                let baseline = accepted_score(case, scores, metric, basis)?
                    .and_then(|accepted| accepted.carries(max_drop))
                    .ok()?;
                Some(Drop { baseline, max_drop })
            });
            let tail = tails.get(metric).and_then(|of_metric| of_metric.get(&case.id)).copied();
            let bars = Bars { min, drop, tail };
            let Some(shortfall) = bars.shortfall(score.get()) else { continue };
            if !is_read_again(&case.id, metric) {
                continue;
            }
            let is_known = case.known_failure.as_ref().is_some_and(|known| known.metrics.contains(metric));
            let fails = bars.breaks_min(score.get()) || bars.breaks_drop(score.get(), None);
            let counts = fails && !is_known && level == Level::Fail;
            suspects.push(Suspect { case: case.id.clone(), metric: metric.clone(), shortfall, bars, counts });
        }
    }
    suspects.sort_by(|a, b| {
        let by_shortfall = b.shortfall.total_cmp(&a.shortfall);
        by_shortfall.then_with(|| a.case.cmp(&b.case)).then_with(|| a.metric.cmp(&b.metric))
    });
    suspects
}

/// The highest bar on the worst tenth that holds for each case, by metric.
fn tail_bars(gates: &[Gate]) -> BTreeMap<&MetricKey, BTreeMap<&CaseId, f64>> {
    let mut bars: BTreeMap<_, BTreeMap<_, f64>> = BTreeMap::new();
    for gate in gates {
        let (GateRule::Bottom10 { min, statistic: _ }, Some(metric)) = (gate.rule, &gate.metric) else { continue };
        let of_metric = bars.entry(metric).or_default();
        for case in &gate.population {
            let bar = of_metric.entry(case).or_insert(min.get());
            *bar = bar.max(min.get());
        }
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gate::{
            fixture::{World, id, key, scored, slice, unit},
            plan::gates,
            rule::{Bottom10Rule, SetRules},
        },
        model::{AskedOf, CaseBar, KnownFailure},
    };

    /// Cases `c00`, ... with these first readings of `faithfulness` by a judge whose readings can differ.
    fn judged(scores: &[f64]) -> World {
        World::with("faithfulness", scores.iter().copied().map(scored))
            .change(|world| world.judge.provider = "openai".to_owned())
    }

    fn suspects_of(world: &World) -> Vec<Suspect> {
        suspects(&world.set, &world.scores(), &gates(&world.rules, &world.set), &world.basis(), &|_, _| true)
    }

    fn names(world: &World) -> Vec<String> {
        suspects_of(world).iter().map(|suspect| suspect.case.to_string()).collect()
    }

    #[test]
    fn suspects_stand_by_shortfall_then_by_id() {
        let world = judged(&[0.9, 0.2, 0.8, 0.2]).rule(|rule| rule.min = Some(unit(0.85)));
        assert_eq!(names(&world), ["c01", "c03", "c02"]);
    }

    #[test]
    fn each_bar_makes_suspects() {
        let world = judged(&[0.8, 0.5]).accepted(&[0.95, 0.5]);
        assert_eq!(names(&world.clone().rule(|rule| rule.max_drop = Some(unit(0.1)))), ["c00"]);
        assert_eq!(names(&world.clone().rule(|rule| rule.min = Some(unit(0.6)))), ["c01"]);
        let tail = world.rule(|rule| {
            rule.set.bottom10 = Some(Bottom10Rule { min: Some(unit(0.6)), ..Bottom10Rule::default() });
        });
        let suspects = suspects_of(&tail);
        assert_eq!(
            (names(&tail), suspects[0].counts, suspects[0].bars.tail),
            (vec!["c01".to_owned()], false, Some(0.6))
        );
    }

    #[test]
    fn the_highest_bar_of_a_slice_that_the_case_belongs_to_holds() {
        let bottom10 = |min: f64| Some(Bottom10Rule { min: Some(unit(min)), ..Bottom10Rule::default() });
        let world = judged(&[0.7, 0.7]).rule(|rule| {
            rule.set.bottom10 = bottom10(0.5);
            let own = SetRules { bottom10: bottom10(0.8), ..SetRules::default() };
            let pt = slice(crate::gate::rule::SliceField::Language, "pt");
            rule.slices.insert(pt, (crate::model::Place::default(), own));
        });
        let world = world.change(|world| world.set.cases[1].language_tag = Some("pt".to_owned()));
        assert_eq!(names(&world), ["c01"]);
    }

    #[test]
    fn a_judge_that_says_the_same_each_time_has_no_suspects() {
        let world = judged(&[0.2]).rule(|rule| rule.min = Some(unit(0.85)));
        assert_eq!((names(&world).len(), pairs_with_rules(&world.set, &world.basis())), (1, 1));
        let offline = world.clone().rule(|rule| rule.judge = AskedOf::Offline);
        assert_eq!((names(&offline).len(), pairs_with_rules(&offline.set, &offline.basis())), (0, 0));
        let named = world.clone().change(|world| world.judge.provider = "offline".to_owned());
        assert_eq!((names(&named).len(), pairs_with_rules(&named.set, &named.basis())), (0, 0));
        // And none where further readings can't be had.
        let gates = gates(&world.rules, &world.set);
        assert!(suspects(&world.set, &world.scores(), &gates, &world.basis(), &|_, _| false).is_empty());
    }

    #[test]
    fn rules_that_warn_and_known_failures_are_suspects_that_do_not_count() {
        let world = judged(&[0.2]).rule(|rule| rule.min = Some(unit(0.85)));
        assert!(suspects_of(&world)[0].counts);
        let warned = world.clone().rule(|rule| rule.level = Level::Warn);
        assert!(!suspects_of(&warned)[0].counts);
        let known = world.change(|world| {
            let known = KnownFailure { metrics: vec![key("faithfulness")], reason: "the index lacks it".to_owned() };
            world.set.cases[0].known_failure = Some(known);
        });
        assert!(!suspects_of(&known)[0].counts);
    }

    #[test]
    fn a_pair_counts_with_a_rule_of_the_policy_or_of_the_case() {
        let world = judged(&[1.0, 1.0]);
        let pairs = |world: &World| pairs_with_rules(&world.set, &world.basis());
        assert_eq!(pairs(&world), 0);
        let own = world.clone().change(|world| {
            let bar = CaseBar { min: Some(unit(0.5)), ..CaseBar::default() };
            world.set.cases[1].bars.insert(key("faithfulness"), bar);
        });
        assert_eq!(pairs(&own), 1);
        // A drop is a rule only where there is a baseline to drop from.
        let drop = world.rule(|rule| rule.max_drop = Some(unit(0.1)));
        assert_eq!((pairs(&drop), pairs(&drop.accepted(&[1.0, 1.0]))), (0, 2));
    }

    #[test]
    fn the_order_of_the_cases_decides_nothing() {
        let world = judged(&[0.1, 0.5, 0.3, 0.5]).rule(|rule| rule.min = Some(unit(0.85)));
        let reversed = world.clone().change(|world| world.set.cases.reverse());
        assert_eq!(suspects_of(&world), suspects_of(&reversed));
        assert_eq!(suspects_of(&world)[0].case, id("c00"));
    }
}
