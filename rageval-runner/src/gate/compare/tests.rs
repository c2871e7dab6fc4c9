//! Tests of comparing two runs.

use super::*;
use crate::{
    gate::fixture::{World, key, scored, slice, unit},
    gate::rule::SliceField,
    model::Place,
};

/// A base and a current side with these scores of one metric.
fn sides(metric: &str, base: &[f64], current: &[f64]) -> (World, Side, Side) {
    let world = World::with(metric, current.iter().copied().map(scored));
    let side = |scores: &[f64]| {
        let world = World::with(metric, scores.iter().copied().map(scored)).accepted(scores);
        Side::from(world.baseline.as_ref().expect("accepted"))
    };
    (world, side(base), side(current))
}

fn compared(world: &World, base: &Side, current: &Side) -> Comparison {
    let basis = world.basis();
    compare(base, current, &Frame { metrics: basis.metrics, rules: &world.rules, set: &world.set, seed: 0 })
}

#[test]
fn a_loss_is_measured_on_the_same_cases() {
    let (world, base, current) = sides("recall@5", &[1.0; 20], &[vec![1.0; 12], vec![0.5; 8]].concat());
    let comparison = compared(&world, &base, &current);
    assert_eq!((comparison.cases.paired, comparison.compared()), (20, 1));
    let numbers = comparison.metrics[0].whole.as_ref().expect("compared");
    assert_eq!((numbers.worse, numbers.better, numbers.equal), (8, 0, 12));
    assert!((numbers.means.drop - 0.2).abs() < 1e-12, "{numbers:?}");
    // Of 2^8 sign patterns one reaches the observed sum.
    assert_eq!((numbers.test, numbers.p), (Test::SignFlip, 1.0 / 256.0));
    assert_eq!(comparison.metrics[0].largest[0].case.as_str(), "c12");
    assert_eq!(comparison.metrics[0].largest.len(), 8);
}

#[test]
fn scores_of_0_and_1_are_tested_by_mcnemar() {
    let (world, base, current) = sides("recall@5", &[1.0; 10], &[vec![0.0; 7], vec![1.0; 3]].concat());
    let numbers = compared(&world, &base, &current).metrics.remove(0).whole.expect("compared");
    assert_eq!(numbers.test, Test::McNemar);
    assert!((numbers.p - 1.0 / 128.0).abs() < 1e-12, "{numbers:?}");
}

#[test]
fn new_changed_and_gone_cases_are_counted_and_not_compared() {
    let (world, mut base, mut current) = sides("recall@5", &[1.0; 5], &[0.0; 5]);
    let ids: Vec<CaseId> = base.cases.keys().cloned().collect();
    base.cases.remove(&ids[0]);
    current.cases.get_mut(&ids[1]).expect("a case").0 = "other".to_owned();
    current.cases.remove(&ids[2]);
    let comparison = compared(&world, &base, &current);
    let Cases { paired, new, changed, gone } = &comparison.cases;
    assert_eq!((*paired, new, changed, gone), (2, &vec![ids[0].clone()], &vec![ids[1].clone()], &vec![ids[2].clone()]));
    assert_eq!(comparison.metrics[0].whole.as_ref().map(|numbers| numbers.n), Some(2));
}

#[test]
fn what_has_no_score_on_one_side_is_counted_by_why() {
    let (world, base, mut current) = sides("recall@5", &[1.0; 5], &[1.0; 5]);
    let ids: Vec<CaseId> = base.cases.keys().cloned().collect();
    let mut set =
        |place: usize, outcome| current.cases.get_mut(&ids[place]).expect("a case").1.insert(key("recall@5"), outcome);
    set(0, Outcome::unmeasured("time-out", "no reply"));
    set(1, Outcome::not_applicable("no relevant documents"));
    current.cases.get_mut(&ids[2]).expect("a case").1.clear();
    let numbers = compared(&world, &base, &current).metrics.remove(0).whole.expect("compared");
    assert_eq!((numbers.n, numbers.unmeasured, numbers.not_applicable), (2, 2, 1));
}

#[test]
fn under_another_judge_judged_metrics_are_not_compared_and_others_are() {
    for (metric, expected) in [("faithfulness", Some("another judge")), ("recall@5", None)] {
        let (world, base, mut current) = sides(metric, &[1.0; 5], &[1.0; 5]);
        current.manifest.judge.fingerprint = "other".to_owned();
        let comparison = compared(&world, &base, &current);
        assert_eq!(comparison.metrics[0].not_compared.as_deref(), expected);
        assert!(comparison.judges_differ.is_some_and(|judges| judges[1].fingerprint == "other"));
    }
    let (world, base, mut current) = sides("my_own", &[1.0; 5], &[1.0; 5]);
    assert_eq!(compared(&world, &base, &current).compared(), 1);
    current.manifest.judge.fingerprint = "other".to_owned();
    assert_eq!(compared(&world, &base, &current).compared(), 0);
}

#[test]
fn other_versions_parameters_and_comparisons_with_a_baseline_are_not_compared() {
    let (world, base, current) = sides("recall@5", &[1.0; 5], &[1.0; 5]);
    let why = |change: &dyn Fn(&mut Side, &mut Side)| {
        let (mut base, mut current) = (base.clone(), current.clone());
        change(&mut base, &mut current);
        compared(&world, &base, &current).metrics.remove(0).not_compared.expect("a reason")
    };
    let version = why(&|base, _| base.manifest.metric_versions.clear());
    assert_eq!(version, "another version of the metric: none in the base, 1 now");
    let parameters = why(&|base, current| {
        base.manifest.parameters.insert(key("recall@5"), "a".to_owned());
        current.manifest.parameters.insert(key("recall@5"), "b".to_owned());
    });
    assert_eq!(parameters, "other parameters of the metric");
    let gone = why(&|_, current| current.cases.values_mut().for_each(|case| case.1.clear()));
    assert_eq!(gone, "only the base has it");
    let (world, base, current) = sides("pairwise", &[0.5; 5], &[1.0; 5]);
    assert_eq!(compared(&world, &base, &current).compared(), 0);
}

#[test]
fn p_values_are_corrected_over_the_compared_metrics() {
    let (world, mut base, mut current) = sides("recall@5", &[1.0; 20], &[vec![1.0; 12], vec![0.5; 8]].concat());
    for side in [&mut base, &mut current] {
        side.manifest.metric_versions.insert("mrr".to_owned(), 1);
        for (_, outcomes) in side.cases.values_mut() {
            let outcome = outcomes[&key("recall@5")].clone();
            outcomes.insert(key("mrr"), outcome);
        }
    }
    let comparison = compared(&world, &base, &current);
    let p: Vec<_> =
        comparison.metrics.iter().filter_map(|metric| metric.whole.as_ref()).map(|n| (n.p, n.p_holm)).collect();
    assert_eq!(p, [(1.0 / 256.0, 2.0 / 256.0); 2]);
}

#[test]
fn thin_slices_say_how_many_cases_they_have() {
    let (mut world, base, current) = sides("recall@5", &[1.0; 14], &[0.5; 14]);
    for case in &mut world.set.cases[..4] {
        case.language_tag = Some("zh".to_owned());
    }
    world.rules.slices.by = vec![(Place::default(), SliceField::Language)];
    let slices = compared(&world, &base, &current).metrics.remove(0).slices;
    let found: Vec<_> = slices.iter().map(|of| (of.slice.clone(), of.n, of.means.is_some())).collect();
    let expected = [slice(SliceField::Language, "en"), slice(SliceField::Language, "zh")].map(|name| name.to_string());
    assert_eq!(found, [(expected[0].clone(), 10, true), (expected[1].clone(), 4, false)]);
}

#[test]
fn the_shares_that_pass_have_wilson_intervals() {
    let (mut world, base, current) = sides("recall@5", &[1.0; 10], &[vec![1.0; 7], vec![0.4; 3]].concat());
    world = world.rule(|rule| rule.min = Some(unit(0.5)));
    let rates = compared(&world, &base, &current).metrics.remove(0).whole.expect("compared").pass_rate.expect("rates");
    assert_eq!((rates.of, rates.base[0], rates.current[0]), (0.5, 1.0, 0.7));
    let interval = stats::wilson(7, 10).expect("an interval");
    assert_eq!(rates.current[1..], [interval.low, interval.high]);
}

#[test]
fn a_system_that_failed_is_unmeasured_in_every_metric() {
    let world = World::of(&[1.0; 3]);
    let mut records: Vec<_> = world.records.values().map(|record| (**record).clone()).collect();
    records[0].taken = Taken::Failed(crate::model::Unmeasured::new("time-out", "no answer"));
    records[0].outcomes.clear();
    let manifest = crate::model::run::Manifest::default();
    let run = Run { format: String::new(), version: 2, manifest, records, decisions: Vec::new(), ..Run::default() };
    let side = Side::from(&run);
    let numbers = compared(&world, &side, &side).metrics.remove(0).whole.expect("compared");
    assert_eq!((numbers.n, numbers.unmeasured), (2, 1));
}

#[test]
fn a_baseline_of_several_readings_is_compared_by_its_first_ones() {
    let (world, mut base, current) = sides("faithfulness", &[1.0; 6], &[1.0, 1.0, 1.0, 1.0, 0.5, 0.75]);
    let settled: [(usize, f64, f64); 2] = [(4, 1.0, 0.5), (5, 1.0, 1.0)];
    let ids: Vec<CaseId> = base.cases.keys().cloned().collect();
    for (place, by_most, first) in settled {
        let outcome = scored(by_most).read_first_as(&scored(first));
        base.cases.get_mut(&ids[place]).expect("a case").1.insert(key("faithfulness"), outcome);
    }
    let of = compared(&world, &base, &current).metrics.remove(0);
    let numbers = of.whole.expect("compared");
    assert_eq!((numbers.worse, numbers.better, numbers.equal), (1, 0, 5));
    assert!((numbers.means.base - 5.5 / 6.0).abs() < 1e-12 && (numbers.means.drop - 0.25 / 6.0).abs() < 1e-12);
    assert_eq!(of.largest, [Change { case: ids[5].clone(), base: 1.0, current: 0.75 }]);
}
