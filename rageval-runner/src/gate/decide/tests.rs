//! Worlds of records, and what each gate says of them.

use super::*;
use crate::{
    gate::{
        fixture::{World, golden, id, scored, slice, unit},
        rule::{Bottom10Rule, DecisionRule, MeanRule, PassRateRule, SetRules, SliceField},
    },
    model::{Outcome, Place},
};

const MEAN: &str = "gate::recall@5::mean";
const DROP: &str = "gate::recall@5::mean_drop";
const JUDGED_DROP: &str = "gate::faithfulness::mean_drop";

/// `ones` scores of 1, then `zeros` of 0.
pub(super) fn scores(ones: usize, zeros: usize) -> Vec<f64> {
    [vec![1.0; ones], vec![0.0; zeros]].concat()
}

pub(super) fn fault() -> Outcome {
    Outcome::unmeasured("system error", "status 500")
}

pub(super) fn outcomes(scores: &[f64], others: Vec<Outcome>) -> Vec<Outcome> {
    scores.iter().copied().map(scored).chain(others).collect()
}

#[test]
fn a_mean_is_compared_on_the_point() {
    assert_eq!(World::of(&scores(8, 2)).mean(0.8).gate(MEAN).ruling, Ruling::Pass);
    let decision = World::of(&scores(7, 3)).mean(0.8).gate(MEAN);
    assert_eq!((decision.ruling, decision.statistic, decision.n), (Ruling::Fail, Some(0.7), Some(10)));
}

#[test]
fn a_mean_is_never_taken_over_the_survivors() {
    let world = World::with("recall@5", outcomes(&scores(59, 0), vec![fault()])).mean(0.8);
    let decision = world.gate(MEAN);
    assert_eq!((decision.ruling, decision.statistic), (Ruling::Undecided, None));
}

#[test]
fn a_case_without_record_is_unmeasured() {
    let world = World::of(&scores(20, 0)).mean(0.8).change(|world| {
        world.records.remove(&id("c07"));
    });
    assert_eq!(world.gate(MEAN).ruling, Ruling::Undecided);
    assert_eq!(world.gate("gate::set::unmeasured").ruling, Ruling::Undecided);
}

#[test]
fn where_some_may_be_unmeasured_a_gate_must_also_hold_with_them_at_zero() {
    for (min, expected) in [(0.9, Ruling::Pass), (0.96, Ruling::Fail)] {
        let world = World::with("recall@5", outcomes(&scores(19, 0), vec![fault()])).mean(min);
        let decision = world.change(|world| world.rules.max_unmeasured = 1).gate(MEAN);
        assert_eq!(decision.ruling, expected, "{min}");
    }
}

#[test]
fn more_unmeasured_cases_than_allowed_are_undecided() {
    let world = World::with("recall@5", outcomes(&scores(19, 0), vec![fault(), fault()])).mean(0.5);
    let world = world.change(|world| world.rules.max_unmeasured = 1);
    assert_eq!(world.gate(MEAN).ruling, Ruling::Undecided);
    assert_eq!(world.gate("gate::set::unmeasured").ruling, Ruling::Undecided);
}

#[test]
fn nothing_scored_is_undecided() {
    let world = World::with("recall@5", vec![Outcome::not_applicable("no relevant documents"); 3]).mean(0.0);
    assert_eq!(world.gate(MEAN).ruling, Ruling::Undecided);
    assert_eq!(World::of(&[]).mean(0.0).gate(MEAN).ruling, Ruling::Undecided);
    assert_eq!(World::of(&[]).gate("gate::set::unmeasured").ruling, Ruling::Undecided);
}

#[test]
fn a_small_set_is_decided_and_says_so() {
    let decision = World::of(&[1.0; 9]).mean(0.8).gate(MEAN);
    assert_eq!(decision.lines, ["passed: mean 1.00, min 0.80, over 9 of 9 (few cases)"]);
    assert_eq!(World::of(&[1.0; 10]).mean(0.8).gate(MEAN).lines, ["passed: mean 1.00, min 0.80, over 10 of 10"]);
    assert_eq!(World::of(&[0.5; 9]).mean(0.8).gate(MEAN).ruling, Ruling::Fail);
}

/// Eleven cases that are red by `mean`, in a slice of their own.
pub(super) fn sliced(min_cases: usize) -> World {
    World::of(&[0.0; 11]).mean(0.8).change(|world| {
        world.rules.slices.by = vec![(Place::default(), SliceField::Type)];
        world.rules.slices.min_cases = min_cases;
    })
}

#[test]
fn a_slice_below_its_minimum_is_inconclusive_and_listed() {
    let name = "gate::recall@5::mean@type=fact";
    assert_eq!(sliced(11).gate(name).ruling, Ruling::Fail);
    let decision = sliced(12).gate(name);
    assert_eq!(decision.ruling, Ruling::Inconclusive);
    assert_eq!(decision.notices, [format!("inconclusive: {name}: 11 of 11 cases are scored; slices.min_cases 12")]);
}

#[test]
fn unmeasured_cases_do_not_make_a_slice_too_small_to_decide() {
    let world = sliced(11).change(|world| {
        let record = world.record_mut(&id("c00"));
        record.outcomes.values_mut().for_each(|outcome| *outcome = fault());
    });
    assert_eq!(world.gate("gate::recall@5::mean@type=fact").ruling, Ruling::Undecided);
}

#[test]
fn a_slice_that_no_case_belongs_to_is_undecided() {
    let own = SetRules { mean: Some(MeanRule { min: Some(unit(0.1)), ..MeanRule::default() }), ..SetRules::default() };
    let world = World::of(&[1.0; 11]).rule(|rule| {
        rule.slices.insert(slice(SliceField::Language, "xx"), (Place::default(), own));
    });
    assert_eq!(world.gate("gate::recall@5::mean@language=xx").ruling, Ruling::Undecided);
}

#[test]
fn a_pass_rate_counts_cases_at_or_above_its_score() {
    let world = |of: Option<f64>, min: Option<f64>| {
        World::of(&[0.8, 0.8, 0.79, 0.5]).rule(|rule| {
            rule.min = min.map(unit);
            rule.set.pass_rate = Some(PassRateRule { min: unit(0.5), of: of.map(unit), level: Level::Fail });
        })
    };
    let rate = |of, min| world(of, min).gate("gate::recall@5::pass_rate").statistic;
    assert_eq!(rate(Some(0.8), Some(0.1)), Some(0.5));
    assert_eq!(rate(None, Some(0.79)), Some(0.75));
    assert_eq!(rate(Some(0.0), None), Some(1.0));
    assert_eq!(world(None, None).gate("gate::recall@5::pass_rate").ruling, Ruling::Undecided);
}

pub(super) fn bottom10(scores: &[f64], min: f64, statistic: TailStatistic) -> Decision {
    let rule = Bottom10Rule { min: Some(unit(min)), statistic, ..Bottom10Rule::default() };
    World::of(scores).rule(|metric| metric.set.bottom10 = Some(rule)).gate("gate::recall@5::bottom10")
}

#[test]
fn the_worst_tenth_is_a_score_somebody_has() {
    for (ones, zeros, expected) in [(0, 1, 0.0), (9, 1, 0.0), (10, 1, 1.0), (18, 2, 0.0), (19, 2, 1.0)] {
        let decision = bottom10(&scores(ones, zeros), 0.5, TailStatistic::Quantile);
        assert_eq!(decision.statistic, Some(expected), "{ones} ones, {zeros} zeros");
    }
}

#[test]
fn the_tail_mean_decides_where_it_is_asked_to() {
    assert_eq!(bottom10(&scores(10, 1), 0.6, TailStatistic::TailMean).statistic, Some(0.5));
    assert_eq!(bottom10(&scores(10, 1), 0.6, TailStatistic::TailMean).ruling, Ruling::Fail);
    assert_eq!(bottom10(&scores(10, 1), 0.6, TailStatistic::Quantile).ruling, Ruling::Pass);
}

/// A rule on the drop of the mean of a metric.
pub(super) fn dropping(metric: &str, before: &[f64], now: &[f64], max_drop: f64) -> World {
    World::with(metric, now.iter().copied().map(scored))
        .rule(|rule| rule.set.mean = Some(MeanRule { max_drop: Some(unit(max_drop)), ..MeanRule::default() }))
        .accepted(before)
}

/// This many cases went from 0.9 to 0.5, the others stayed.
pub(super) fn judged_drop(changed: usize, unchanged: usize) -> World {
    let now = [vec![0.5; changed], vec![0.9; unchanged]].concat();
    dropping("faithfulness", &vec![0.9; changed + unchanged], &now, 0.02)
}

#[test]
fn a_drop_of_a_metric_without_judge_is_decided_on_the_point() {
    let decision = dropping("recall@5", &[0.90; 20], &[0.88; 20], 0.02).gate(DROP);
    assert_eq!(decision.ruling, Ruling::Pass);
    assert_eq!(dropping("recall@5", &[0.90; 20], &[0.87; 20], 0.02).gate(DROP).ruling, Ruling::Fail);
    assert_eq!(dropping("recall@5", &[0.1; 20], &[0.9; 20], 0.0).gate(DROP).ruling, Ruling::Pass);
}

#[test]
fn a_drop_of_a_judged_metric_must_be_more_than_chance() {
    assert_eq!(judged_drop(12, 48).gate(JUDGED_DROP).ruling, Ruling::Fail);
    let few = judged_drop(6, 54).gate(JUDGED_DROP);
    assert_eq!(few.ruling, Ruling::Inconclusive);
    assert!(few.lines[0].contains("too few changed cases (6)"), "{:?}", few.lines);
    assert_eq!(judged_drop(0, 60).gate(JUDGED_DROP).ruling, Ruling::Pass);
}

#[test]
fn a_drop_with_as_many_gains_may_be_chance() {
    let before = [vec![0.9; 12], vec![0.5; 10], vec![0.7; 8]].concat();
    let now = [vec![0.5; 12], vec![0.9; 10], vec![0.7; 8]].concat();
    let decision = dropping("faithfulness", &before, &now, 0.02).gate(JUDGED_DROP);
    assert_eq!(decision.ruling, Ruling::Inconclusive);
    assert!(decision.lines[0].contains("may be chance"), "{:?}", decision.lines);
}

#[test]
fn a_suspected_drop_passes_and_is_listed() {
    let before = [vec![0.9; 11], vec![0.5; 3], vec![0.7; 8]].concat();
    let now = [vec![0.5; 11], vec![0.9; 3], vec![0.7; 8]].concat();
    let decision = dropping("faithfulness", &before, &now, 0.02).gate(JUDGED_DROP);
    assert_eq!(decision.ruling, Ruling::Inconclusive);
    assert!(decision.notices[0].contains("suspected"), "{:?}", decision.notices);
}

#[test]
fn several_gates_are_corrected_together() {
    // Seven of seven: p is about 1/128, below 0.01 alone and above it among two.
    let alone = judged_drop(7, 30);
    assert_eq!(alone.gate(JUDGED_DROP).ruling, Ruling::Fail);
    let among = alone.change(|world| world.rules.slices.by = vec![(Place::default(), SliceField::Language)]);
    assert_eq!(among.tests().len(), 2);
    assert_eq!(among.gate(JUDGED_DROP).ruling, Ruling::Inconclusive);
}

#[test]
fn a_drop_that_no_p_value_decides_reads_the_same_among_tested_gates() {
    let now = [vec![0.5; 12], vec![0.9; 48]].concat();
    let world = dropping("recall@5", &[0.9; 60], &now, 0.02);
    let by_language = |world: &mut World| world.rules.slices.by = vec![(Place::default(), SliceField::Language)];
    let others = judged_drop(12, 48).change(by_language).tests();
    assert_eq!(others.len(), 2);
    let all = crate::gate::gates(&world.rules, &world.set);
    let gate = all.iter().find(|gate| gate.name == DROP).expect("the gate");
    let lines = |tests: &DropTests| decide_gate(gate, &world.set, &world.scores(), &world.basis(), tests).lines;
    assert_eq!(lines(&others), lines(&DropTests::default()));
}

#[test]
fn scores_of_zero_and_one_are_tested_exactly() {
    let world = dropping("faithfulness", &scores(30, 0), &scores(20, 10), 0.02);
    let p = world.tests().get(JUDGED_DROP).expect("a test").measured;
    assert!((p.alone - 1.0 / 1024.0).abs() < 1e-12, "{p:?}");
    assert_eq!(world.gate(JUDGED_DROP).ruling, Ruling::Fail);
}

#[test]
fn non_inferiority_asks_for_evidence_that_nothing_dropped() {
    let rule = |world: World| {
        world.change(|world| {
            let regression = world.rules.regression.as_mut().expect("a baseline");
            regression.decision = Some(DecisionRule::NonInferior);
        })
    };
    let noisy: Vec<f64> = (0..40).map(|i| if i % 2 == 0 { 0.5 } else { 0.9 }).collect();
    let shifted: Vec<f64> = noisy.iter().rev().copied().collect();
    assert_eq!(rule(dropping("recall@5", &noisy, &shifted, 0.02)).gate(DROP).ruling, Ruling::Fail);
    assert_eq!(rule(dropping("recall@5", &noisy, &shifted, 0.2)).gate(DROP).ruling, Ruling::Pass);
    assert_eq!(rule(dropping("recall@5", &noisy, &noisy, 0.0)).gate(DROP).ruling, Ruling::Pass);
    assert_eq!(rule(dropping("recall@5", &[0.5], &[0.5], 0.1)).gate(DROP).ruling, Ruling::Undecided);
}

#[test]
fn only_paired_cases_are_compared() {
    let world = dropping("recall@5", &[0.9; 20], &[0.9; 20], 0.02).change(|world| {
        let new = golden("new", 99);
        let mut record = crate::model::Record::clone(&world.records[&id("c00")]);
        (record.case, record.digest) = (new.id.clone(), new.digest());
        record.outcomes.values_mut().for_each(|outcome| *outcome = scored(0.0));
        world.records.insert(new.id.clone(), record.into());
        world.set.cases.push(new);
    });
    let decision = world.gate(DROP);
    assert_eq!((decision.ruling, decision.n, decision.statistic), (Ruling::Pass, Some(20), Some(0.0)));
}

#[test]
fn an_unmeasured_pair_is_undecided_and_counts_as_zero_where_it_is_allowed() {
    let world = dropping("recall@5", &[0.9; 20], &[0.9; 20], 0.02).change(|world| {
        let record = world.record_mut(&id("c03"));
        record.outcomes.values_mut().for_each(|outcome| *outcome = fault());
    });
    assert_eq!(world.gate(DROP).ruling, Ruling::Undecided);
    let allowed = world.change(|world| world.rules.max_unmeasured = 1);
    assert_eq!(allowed.gate(DROP).ruling, Ruling::Fail);
}

#[test]
fn a_baseline_of_another_judge_or_without_the_metric_is_undecided() {
    let other_judge = judged_drop(0, 20).change(|world| world.judge.fingerprint = "other".to_owned());
    assert_eq!(other_judge.gate(JUDGED_DROP).ruling, Ruling::Undecided);
    let new_metric = judged_drop(0, 20).change(|world| {
        world.baseline.as_mut().expect("a baseline").manifest.metric_versions.clear();
    });
    assert_eq!(new_metric.gate(JUDGED_DROP).ruling, Ruling::Undecided);
    let all_new = judged_drop(0, 20).change(|world| world.baseline.as_mut().expect("a baseline").cases.clear());
    assert_eq!(all_new.gate(JUDGED_DROP).ruling, Ruling::Undecided);
}

#[test]
fn under_another_judge_the_bars_are_decided() {
    let world = judged_drop(0, 20).mean(0.95).change(|world| world.judge.fingerprint = "other".to_owned());
    assert_eq!(world.gate("gate::faithfulness::mean").ruling, Ruling::Fail);
}

#[test]
fn the_worst_tenth_is_compared_over_the_same_cases() {
    let dropped = |max_drop: f64| {
        let rule = Bottom10Rule { max_drop: Some(unit(max_drop)), ..Bottom10Rule::default() };
        let now = [vec![0.3; 2], vec![0.9; 18]].concat();
        let world = World::of(&now).rule(|metric| metric.set.bottom10 = Some(rule)).accepted(&[0.8; 20]);
        world.gate("gate::recall@5::bottom10_drop")
    };
    assert_eq!(dropped(0.5).ruling, Ruling::Pass);
    assert_eq!(dropped(0.4).ruling, Ruling::Fail);
}

#[test]
fn a_gate_that_warns_never_fails() {
    let warn = |world: World| world.rule(|rule| rule.set.mean.as_mut().expect("a rule").level = Level::Warn);
    let decision = warn(World::of(&scores(7, 3)).mean(0.8)).gate(MEAN);
    assert_eq!(decision.ruling, Ruling::Pass);
    assert_eq!(decision.notices, ["warning: gate::recall@5::mean: mean 0.70, min 0.80"]);
    let undecided = warn(World::with("recall@5", [fault()]).mean(0.8)).gate(MEAN);
    assert_eq!(undecided.ruling, Ruling::Inconclusive);
}
