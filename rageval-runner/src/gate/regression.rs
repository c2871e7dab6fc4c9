//! A run against its baseline.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    basis::{Basis, holds_drop},
    case::estimand,
    decide::drop::{FEWEST_CHANGES, SUSPICION},
    plan::{Gate, GateRule, is_tested},
    rule::Level,
    tally::Reading,
};
use crate::{
    model::{CaseId, GoldenSet, MetricKey, Outcome, Records, UnitInterval, Unmeasured, run::Baseline},
    stats,
};

/// Which cases of the set the baseline holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Population {
    /// In both, with the same content.
    pub paired: Vec<CaseId>,
    /// In the set alone.
    pub new: Vec<CaseId>,
    /// In both, with another question or another right answer: compared as new.
    pub changed: Vec<CaseId>,
    /// In the baseline alone.
    pub vanished: Vec<CaseId>,
}

/// Sorts the cases of set and baseline by where they stand. Paired by id, never by position.
pub fn compare_population(set: &GoldenSet, baseline: &Baseline) -> Population {
    let mut population = Population::default();
    for case in &set.cases {
        let list = match baseline.cases.get(&case.id) {
            None => &mut population.new,
            Some(accepted) if accepted.digest == case.digest() => &mut population.paired,
            Some(_) => &mut population.changed,
        };
        list.push(case.id.clone());
    }
    let ids: BTreeSet<&CaseId> = set.cases.iter().map(|case| &case.id).collect();
    population.vanished = baseline.cases.keys().filter(|id| !ids.contains(id)).cloned().collect();
    population
}

/// The cases of a gate that can be compared, and why the others can't.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pairs {
    /// Case, score in the baseline, score now.
    pub scored: Vec<(CaseId, f64, f64)>,
    /// The same pairs, each the average of both readings where both sides were read once more.
    pub averaged: Vec<(CaseId, f64, f64)>,
    /// How many were read once more.
    pub read_again: usize,
    /// Case, score in the baseline, and why there is none now.
    pub unmeasured: Vec<(CaseId, f64, Unmeasured)>,
    /// Cases that the baseline does not hold.
    pub new: usize,
    /// Cases whose question or right answer changed, or whose own repeats are reduced to another number.
    pub changed: usize,
    /// Cases to which the metric does not apply now or did not then.
    pub not_applicable: usize,
}

impl Pairs {
    /// Pairs the cases of a gate with the baseline, by id and content, on these readings of either side.
    pub fn of(reading: Reading, metric: &MetricKey, cases: &[CaseId], records: &Records, baseline: &Baseline) -> Self {
        let mut pairs = Self::default();
        for case in cases {
            let Some(accepted) = baseline.cases.get(case) else {
                pairs.new += 1;
                continue;
            };
            let record = records.get(case).map(|record| &**record);
            if record.is_some_and(|record| record.digest != accepted.digest) {
                pairs.changed += 1;
                continue;
            }
            let readings = record.and_then(|record| record.readings.get(metric));
            let judged_again = readings.and_then(|readings| readings.confirmation.as_ref()?.baseline());
            let before = match reading {
                Reading::First => accepted.outcomes.get(metric).and_then(Outcome::first_score),
                Reading::Settled => judged_again.or_else(|| accepted.outcomes.get(metric).and_then(Outcome::score)),
            };
            let Some(before) = before.map(UnitInterval::get) else {
                pairs.not_applicable += 1;
                continue;
            };
            let then = accepted.outcomes.get(metric);
            let outcome_now = record.and_then(|record| record.outcomes.get(metric));
            if outcome_now.is_some_and(|now| now.score().is_some() && estimand(now) != then.and_then(estimand)) {
                pairs.changed += 1;
                continue;
            }
            match &*reading.outcome_of(metric, record) {
                Outcome::Scored { score, .. } => {
                    let now = score.value.get();
                    pairs.scored.push((case.clone(), before, now));
                    let second = readings.and_then(|readings| readings.second);
                    pairs.read_again += usize::from(second.is_some());
                    let average = |first: f64, second: Option<UnitInterval>| {
                        second.map_or(first, |second| f64::midpoint(first, second.get()))
                    };
                    let before = average(before, second.map(|second| second.before));
                    pairs.averaged.push((case.clone(), before, average(now, second.map(|second| second.now))));
                }
                Outcome::NotApplicable { .. } => pairs.not_applicable += 1,
                Outcome::Unmeasured { fault } => pairs.unmeasured.push((case.clone(), before, fault.clone())),
            }
        }
        pairs
    }

    /// The same with the average of both readings as the score of each pair that has two.
    #[must_use]
    pub fn of_both_readings(self) -> Self {
        Self { scored: self.averaged.clone(), ..self }
    }

    /// Cases without a score now, with the fault.
    pub fn unmeasured_faults(&self) -> Vec<(CaseId, Unmeasured)> {
        self.unmeasured.iter().map(|(case, _, fault)| (case.clone(), fault.clone())).collect()
    }

    /// Case, score before and score now of every scored pair; with `Holes::AtZero` also of the unmeasured ones.
    pub fn with(&self, holes: Holes) -> Vec<(CaseId, f64, f64)> {
        let mut pairs = self.scored.clone();
        match holes {
            Holes::LeftOut => {}
            Holes::AtZero => pairs.extend(self.unmeasured.iter().map(|(case, before, _)| (case.clone(), *before, 0.0))),
        }
        pairs
    }
}

/// What an unmeasured case counts as. Where some are allowed, a gate must hold both ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holes {
    /// Nothing.
    LeftOut,
    /// A score of 0.
    AtZero,
}

/// The p-values of a run's drops of means, corrected together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DropTests {
    by_gate: BTreeMap<String, DropTest>,
}

/// The p-values of one drop: that it is above 0 by chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DropTest {
    /// Over the pairs with both scores.
    pub measured: PValue,
    /// With the unmeasured cases at 0; the same where there are none.
    pub at_zero: PValue,
    /// The readings it is made from.
    pub stage: Stage,
}

/// Which readings the p-value of a drop is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The first ones, which raise no suspicion.
    Unsuspected,
    /// The first ones, which raise suspicion; no fresh reading of both sides is there.
    Suspected,
    /// The average of the first ones and one fresh reading of both sides.
    ReadAgain,
}

/// A p-value, alone and among those of the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PValue {
    /// Of this gate alone.
    pub alone: f64,
    /// Adjusted by Holm's method over all gates that are decided with a p-value.
    pub adjusted: f64,
}

impl DropTests {
    /// The test of a gate; `None` for a gate that is not decided by one.
    pub fn get(&self, gate: &str) -> Option<DropTest> {
        self.by_gate.get(gate).copied()
    }

    /// How many gates are corrected together.
    pub fn len(&self) -> usize {
        self.by_gate.len()
    }

    /// Whether no gate is decided with a p-value.
    pub fn is_empty(&self) -> bool {
        self.by_gate.is_empty()
    }
}

/// Tests every drop of a mean that is decided with a p-value. Call once, with the records of [`super::needed_cases`] or more.
///
/// A drop that the first readings make suspect is tested on the average of both readings where the records hold a second one. Slices below their
/// minimum and gates that can't be compared take no part in the correction.
pub fn drop_tests(all: &[Gate], records: &Records, basis: &Basis<'_>) -> DropTests {
    let first = first_stage(all, records, basis);
    let mut stages = Vec::new();
    let mut p_values_of = Vec::new();
    for tested in &first {
        let (stage, p) = match (tested.is_suspect, tested.pairs.read_again) {
            (false, _) => (Stage::Unsuspected, tested.alone),
            (true, 0) => (Stage::Suspected, tested.alone),
            (true, _) => (Stage::ReadAgain, p_values(&tested.pairs.clone().of_both_readings(), basis.seed)),
        };
        stages.push(stage);
        p_values_of.push(p);
    }
    let [measured, at_zero] = adjusted(&p_values_of);
    let tests = measured.into_iter().zip(at_zero).zip(stages);
    let tests = tests.map(|((measured, at_zero), stage)| DropTest { measured, at_zero, stage });
    DropTests { by_gate: first.into_iter().map(|tested| tested.gate.name.clone()).zip(tests).collect() }
}

/// The gates whose drop of the mean is suspect by the first readings, so that both sides of their changed pairs are to be read once more: a drop of more
/// than `max_drop`, at least [`FEWEST_CHANGES`] differences and a one-sided p of at most [`SUSPICION`] among the run's gates.
///
/// Not of metrics whose readings can't differ, and not of gates that only warn.
pub fn suspected(all: &[Gate], records: &Records, basis: &Basis<'_>) -> Vec<String> {
    let can_be_read =
        |gate: &Gate| gate.level == Level::Fail && gate.metric.as_ref().is_some_and(|metric| basis.is_noisy(metric));
    let first = first_stage(all, records, basis).into_iter();
    first
        .filter(|tested| tested.is_suspect && can_be_read(tested.gate))
        .map(|tested| tested.gate.name.clone())
        .collect()
}

/// A gate that is decided with a p-value, by the first readings.
struct Tested<'a> {
    gate: &'a Gate,
    pairs: Pairs,
    /// The p-values of this gate alone: over the pairs with both scores, and with the unmeasured ones at 0.
    alone: [f64; 2],
    is_suspect: bool,
}

fn first_stage<'a>(all: &'a [Gate], records: &Records, basis: &Basis<'_>) -> Vec<Tested<'a>> {
    let mut bars = Vec::new();
    let mut tested = Vec::new();
    for gate in all {
        let Some((max_drop, pairs)) = tested_pairs(gate, records, basis) else { continue };
        let alone = p_values(&pairs, basis.seed);
        bars.push(max_drop);
        tested.push(Tested { gate, pairs, alone, is_suspect: false });
    }
    let [measured, at_zero] = adjusted(&tested.iter().map(|tested| tested.alone).collect::<Vec<_>>());
    for (((tested, max_drop), measured), at_zero) in tested.iter_mut().zip(bars).zip(measured).zip(at_zero) {
        tested.is_suspect = is_suspect(&tested.pairs, max_drop, [measured.adjusted, at_zero.adjusted]);
    }
    tested
}

/// The p-values of all gates, corrected together: over the pairs with both scores, and with the unmeasured ones at 0.
fn adjusted(alone: &[[f64; 2]]) -> [Vec<PValue>; 2] {
    [0, 1].map(|holes: usize| {
        let alone: Vec<f64> = alone.iter().map(|p| p[holes]).collect();
        let adjusted = stats::holm(&alone);
        alone.into_iter().zip(adjusted).map(|(alone, adjusted)| PValue { alone, adjusted }).collect()
    })
}

/// `max_drop` and the pairs of a gate that is decided with a p-value; `None` of other gates, of slices below their minimum and of what can't be compared.
fn tested_pairs(gate: &Gate, records: &Records, basis: &Basis<'_>) -> Option<(f64, Pairs)> {
    let (GateRule::MeanDrop { max_drop }, true) = (gate.rule, is_tested(gate, basis)) else { return None };
    let metric = gate.metric.as_ref()?;
    let baseline = basis.comparable(metric)?.ok()?;
    let pairs = Pairs::of(Reading::First, metric, &gate.population, records, baseline);
    let count = pairs.scored.len() + pairs.unmeasured.len();
    let is_too_small = count == 0 || (gate.slice.is_some() && count < basis.rules.slices.min_cases);
    (!is_too_small).then(|| (max_drop.get(), pairs))
}

/// The p-values over the scored pairs, and with the unmeasured ones at 0.
fn p_values(pairs: &Pairs, seed: u64) -> [f64; 2] {
    let measured = p_value(&pairs.with(Holes::LeftOut), seed);
    let is_whole = pairs.unmeasured.is_empty();
    [measured, if is_whole { measured } else { p_value(&pairs.with(Holes::AtZero), seed) }]
}

/// Whether first readings make a drop suspect, with the unmeasured cases left out or at 0.
fn is_suspect(pairs: &Pairs, max_drop: f64, adjusted: [f64; 2]) -> bool {
    [Holes::LeftOut, Holes::AtZero].into_iter().zip(adjusted).any(|(holes, p)| {
        let differences = drops(&pairs.with(holes));
        let changed = differences.iter().filter(|difference| **difference != 0.0).count();
        let is_dropped = stats::mean(&differences).is_some_and(|drop| !holds_drop(drop, max_drop));
        is_dropped && changed >= FEWEST_CHANGES && p <= SUSPICION
    })
}

/// McNemar's exact test for scores of 0 and 1, else the sign-flip test on the mean.
fn p_value(pairs: &[(CaseId, f64, f64)], seed: u64) -> f64 {
    let is_binary = |score: f64| score == 0.0 || score == 1.0;
    if pairs.iter().all(|(_, before, now)| is_binary(*before) && is_binary(*now)) {
        let lost = pairs.iter().filter(|(_, before, now)| before > now).count();
        let gained = pairs.iter().filter(|(_, before, now)| before < now).count();
        return stats::mcnemar(lost, gained);
    }
    stats::sign_flip(&drops(pairs), stats::paired::FLIPS, seed)
}

/// Score before minus score now, of each pair; a difference in the last digits of a float is none.
pub fn drops(pairs: &[(CaseId, f64, f64)]) -> Vec<f64> {
    pairs
        .iter()
        .map(|(_, before, now)| before - now)
        .map(|drop| if drop.abs() < super::basis::SLACK { 0.0 } else { drop })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gate::{
            fixture::{World, golden, id, key, scored, unit},
            plan::gates,
            rule::MeanRule,
        },
        model::{Detail, Outcome, Readings, Reduced, Reduction, SecondReading, UnitInterval, run::Ruling},
    };

    #[test]
    fn cases_are_sorted_by_where_they_stand() {
        let world = World::of(&[1.0; 3]).accepted(&[1.0; 3]).change(|world| {
            world.set.cases[1].references.push("Or that.".to_owned());
            world.set.cases.remove(2);
            world.set.cases.push(golden("new", 9));
        });
        let population = compare_population(&world.set, world.baseline.as_ref().expect("a baseline"));
        assert_eq!(population.paired, [id("c00")]);
        assert_eq!(population.changed, [id("c01")]);
        assert_eq!(population.new, [id("new")]);
        assert_eq!(population.vanished, [id("c02")]);
    }

    #[test]
    fn metadata_and_tags_do_not_make_a_case_another() {
        let world = World::of(&[1.0]).accepted(&[1.0]).change(|world| {
            world.set.cases[0].tags.push("urgent".to_owned());
            world.set.cases[0].metadata.insert("team".to_owned(), "a".to_owned());
        });
        let population = compare_population(&world.set, world.baseline.as_ref().expect("a baseline"));
        assert_eq!(population.paired, [id("c00")]);
    }

    #[test]
    fn every_case_is_paired_or_counted_as_something_else() {
        let outcomes = [
            scored(0.5),
            Outcome::not_applicable("a refusal"),
            Outcome::unmeasured("system error", "500"),
            scored(0.1),
            scored(0.2),
        ];
        let world = World::with("recall@5", outcomes).accepted(&[0.9; 4]).change(|world| {
            world.record_mut(&id("c03")).digest = "another".to_owned();
        });
        let cases: Vec<_> = world.set.cases.iter().map(|case| case.id.clone()).collect();
        let baseline = world.baseline.as_ref().expect("a baseline");
        let pairs = Pairs::of(Reading::First, &key("recall@5"), &cases, &world.records, baseline);
        assert_eq!(pairs.scored, [(id("c00"), 0.9, 0.5)]);
        assert_eq!((pairs.not_applicable, pairs.changed, pairs.new), (1, 1, 1));
        assert_eq!(pairs.with(Holes::AtZero), [(id("c00"), 0.9, 0.5), (id("c02"), 0.9, 0.0)]);
    }

    #[test]
    fn a_case_whose_own_repeats_say_another_number_counts_as_changed() {
        let world = World::of(&[0.5, 0.5]).accepted(&[0.9, 0.9]).change(|world| {
            let by = Reduction::Worst;
            let reduced = Some(Reduced { by, times: 3, scored: 3, min: None });
            let outcome = Outcome::scored_with(UnitInterval::HALF, Detail { reduced, ..Detail::default() });
            world.record_mut(&id("c00")).outcomes.insert(key("recall@5"), outcome);
        });
        let cases: Vec<_> = world.set.cases.iter().map(|case| case.id.clone()).collect();
        let baseline = world.baseline.as_ref().expect("a baseline");
        let pairs = Pairs::of(Reading::First, &key("recall@5"), &cases, &world.records, baseline);
        assert_eq!((pairs.scored, pairs.changed), (vec![(id("c01"), 0.9, 0.5)], 1));
    }

    #[test]
    fn a_difference_in_the_last_digits_is_none() {
        assert_eq!(drops(&[(id("a"), 0.1 + 0.2, 0.3)]), [0.0]);
    }

    /// 20 cases of a judge whose readings can differ, of which the first twelve dropped by this much, and their second readings.
    fn dropped(drop: f64, second: Option<f64>) -> World {
        let scores: Vec<f64> = (0..20).map(|at| if at < 12 { 1.0 - drop } else { 1.0 }).collect();
        let world = World::with("faithfulness", scores.into_iter().map(scored)).accepted(&[1.0; 20]);
        let world = world.rule(|rule| {
            rule.set.mean = Some(MeanRule { max_drop: Some(unit(0.02)), ..MeanRule::default() });
        });
        world.change(|world| {
            world.judge.provider = "openai".to_owned();
            for at in 0..12 {
                let Some(drop) = second else { continue };
                let second = SecondReading { before: UnitInterval::ONE, now: unit(1.0 - drop) };
                let readings = Readings { second: Some(second), ..Readings::default() };
                world.record_mut(&id(&format!("c{at:02}"))).readings.insert(key("faithfulness"), readings);
            }
        })
    }

    const DROP: &str = "gate::faithfulness::mean_drop";

    #[test]
    fn a_drop_of_the_mean_is_suspected_by_the_first_readings() {
        let of = |world: &World| suspected(&gates(&world.rules, &world.set), &world.records, &world.basis());
        assert_eq!(of(&dropped(0.25, None)), [DROP]);
        // Within the bar, too few changed cases, a judge that says the same each time, a rule that warns.
        assert!(of(&dropped(0.01, None)).is_empty());
        let few = dropped(0.9, None).change(|world| {
            for at in 6..12 {
                world.record_mut(&id(&format!("c{at:02}"))).outcomes.insert(key("faithfulness"), scored(1.0));
            }
        });
        assert!(of(&few).is_empty());
        assert!(of(&dropped(0.25, None).change(|world| world.judge.provider = "offline".to_owned())).is_empty());
        let warns = dropped(0.25, None).rule(|rule| rule.set.mean.as_mut().expect("a rule").level = Level::Warn);
        assert!(of(&warns).is_empty());
    }

    #[test]
    fn a_second_reading_of_both_sides_decides_with_the_first() {
        for (second, ruling, statistic) in [
            (Some(0.25), Ruling::Fail, 0.15),
            // The average drops by 0.075, all of it in twelve cases of one size: as unlikely by chance.
            (Some(0.0), Ruling::Fail, 0.075),
            (None, Ruling::Fail, 0.15),
        ] {
            let decision = dropped(0.25, second).gate(DROP);
            let shown = decision.statistic.expect("a drop");
            assert!(decision.ruling == ruling && (shown - statistic).abs() < 1e-9, "{second:?}: {:?}", decision.lines);
        }
        // A loss of the first reading alone that the second one takes back.
        let taken_back = dropped(0.05, Some(0.0)).gate(DROP);
        assert_eq!(taken_back.ruling, Ruling::Pass, "{:?}", taken_back.lines);
    }

    #[test]
    fn a_suspected_drop_that_was_not_read_again_says_so() {
        let decision = dropped(0.25, None).gate(DROP);
        assert!(decision.lines[1].contains("not confirmed: no second reading"), "{:?}", decision.lines);
        let again = dropped(0.25, Some(0.25)).gate(DROP);
        assert!(again.lines[1].contains("average of two readings of 12 changed cases"), "{:?}", again.lines);
    }

    #[test]
    fn a_baseline_of_several_readings_is_compared_by_its_first_one() {
        let world = World::with("faithfulness", [scored(0.75)]).accepted(&[1.0]).change(|world| {
            let accepted = world.baseline.as_mut().expect("a baseline").cases.get_mut(&id("c00")).expect("a case");
            let outcome = scored(1.0).read_first_as(&scored(0.75));
            accepted.outcomes.insert(key("faithfulness"), outcome);
        });
        let pairs = |reading| {
            let baseline = world.baseline.as_ref().expect("a baseline");
            Pairs::of(reading, &key("faithfulness"), &[id("c00")], &world.records, baseline).scored
        };
        assert_eq!(pairs(Reading::First), [(id("c00"), 0.75, 0.75)]);
        assert_eq!(pairs(Reading::Settled), [(id("c00"), 1.0, 0.75)]);
    }
}
