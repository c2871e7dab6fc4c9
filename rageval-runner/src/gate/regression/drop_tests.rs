//! The tests of a run's drops of means: which are suspect by first readings, and their p-values, corrected together.

use std::collections::BTreeMap;

use super::{Holes, Pairs, drops};
use crate::{
    gate::{
        basis::{Basis, holds_drop},
        decide::drop::{FEWEST_CHANGES, SUSPICION},
        plan::{Gate, GateRule, is_tested},
        rule::Level,
        tally::Reading,
    },
    model::{CaseId, Scores},
    stats,
};

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

/// Tests every drop of a mean that is decided with a p-value. Call once, with the scores of [`crate::gate::needed_cases`] or more.
///
/// A drop that the first readings make suspect is tested on the average of both readings where the scores hold a second one. Slices below their
/// minimum and gates that can't be compared take no part in the correction.
pub fn drop_tests(all: &[Gate], scores: &Scores, basis: &Basis<'_>) -> DropTests {
    let first = first_stage(all, scores, basis);
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
pub fn suspected(all: &[Gate], scores: &Scores, basis: &Basis<'_>) -> Vec<String> {
    let can_be_read =
        |gate: &Gate| gate.level == Level::Fail && gate.metric.as_ref().is_some_and(|metric| basis.is_noisy(metric));
    let first = first_stage(all, scores, basis).into_iter();
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

fn first_stage<'a>(all: &'a [Gate], scores: &Scores, basis: &Basis<'_>) -> Vec<Tested<'a>> {
    let mut bars = Vec::new();
    let mut tested = Vec::new();
    for gate in all {
        let Some((max_drop, pairs)) = tested_pairs(gate, scores, basis) else { continue };
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
fn tested_pairs(gate: &Gate, scores: &Scores, basis: &Basis<'_>) -> Option<(f64, Pairs)> {
    let (GateRule::MeanDrop { max_drop }, true) = (gate.rule, is_tested(gate, basis)) else { return None };
    let metric = gate.metric.as_ref()?;
    let baseline = basis.comparable(metric)?.ok()?;
    let pairs = Pairs::of(Reading::First, metric, &gate.population, scores, baseline);
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

/// The p-value of a drop over these pairs.
fn p_value(pairs: &[(CaseId, f64, f64)], seed: u64) -> f64 {
    let pairs: Vec<(f64, f64)> = pairs.iter().map(|(_, before, now)| (*before, *now)).collect();
    stats::drop_p_value(&pairs, stats::paired::FLIPS, seed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gate::{
            fixture::{World, id, key, scored, unit},
            plan::gates,
            rule::MeanRule,
        },
        model::{Readings, SecondReading, UnitInterval, run::Ruling},
    };

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
        let of = |world: &World| suspected(&gates(&world.rules, &world.set), &world.scores(), &world.basis());
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
}
