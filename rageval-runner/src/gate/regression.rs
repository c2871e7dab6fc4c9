//! A run against its baseline.

mod drop_tests;

use std::collections::BTreeSet;

pub use drop_tests::{DropTest, DropTests, PValue, Stage, drop_tests, suspected};

use super::{case::estimand, tally::Reading};
use crate::model::{CaseId, GoldenSet, MetricKey, Outcome, Scores, UnitInterval, Unmeasured, run::Baseline};

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
    pub fn of(reading: Reading, metric: &MetricKey, cases: &[CaseId], scores: &Scores, baseline: &Baseline) -> Self {
        let mut pairs = Self::default();
        for case in cases {
            let Some(accepted) = baseline.cases.get(case) else {
                pairs.new += 1;
                continue;
            };
            let scores = scores.get(case).map(|scores| &**scores);
            if scores.is_some_and(|scores| scores.digest != accepted.digest) {
                pairs.changed += 1;
                continue;
            }
            let readings = scores.and_then(|scores| scores.readings.get(metric));
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
            let outcome_now = scores.and_then(|scores| scores.outcome(metric));
            if outcome_now.is_some_and(|now| now.score().is_some() && estimand(&now) != then.and_then(estimand)) {
                pairs.changed += 1;
                continue;
            }
            match &*reading.outcome_of(metric, scores) {
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
        gate::fixture::{World, golden, id, key, scored},
        model::{Detail, Outcome, Reduced, Reduction, UnitInterval},
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
        let pairs = Pairs::of(Reading::First, &key("recall@5"), &cases, &world.scores(), baseline);
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
        let pairs = Pairs::of(Reading::First, &key("recall@5"), &cases, &world.scores(), baseline);
        assert_eq!((pairs.scored, pairs.changed), (vec![(id("c01"), 0.9, 0.5)], 1));
    }

    #[test]
    fn a_difference_in_the_last_digits_is_none() {
        assert_eq!(drops(&[(id("a"), 0.1 + 0.2, 0.3)]), [0.0]);
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
            Pairs::of(reading, &key("faithfulness"), &[id("c00")], &world.scores(), baseline).scored
        };
        assert_eq!(pairs(Reading::First), [(id("c00"), 0.75, 0.75)]);
        assert_eq!(pairs(Reading::Settled), [(id("c00"), 1.0, 0.75)]);
    }
}
