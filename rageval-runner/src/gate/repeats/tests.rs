//! Tables of each reduction, and what holds for all of them.

use proptest::prelude::*;

use super::*;
use crate::gate::fixture::{World, golden, key, scored, unit};

const NA: &str = "nothing was claimed";

fn not_applicable() -> Outcome {
    Outcome::not_applicable(NA)
}

/// The score that these scores are reduced to; `None` where there is none.
fn score_of(by: &str, min: Option<f64>, outcomes: &[Outcome]) -> Option<f64> {
    let by = Reduction::parse(by).expect("a reduction");
    reduced(by, min.map(unit), &outcomes.iter().collect::<Vec<_>>()).score().map(UnitInterval::get)
}

#[track_caller]
fn check(by: &str, min: Option<f64>, scores: &[f64], expected: f64) {
    let outcomes: Vec<Outcome> = scores.iter().copied().map(scored).collect();
    let got = score_of(by, min, &outcomes).expect("a score");
    assert!((got - expected).abs() < 1e-12, "{by} at {min:?} of {scores:?}: {got}, not {expected}");
}

#[test]
fn means_medians_and_the_worst() {
    for (by, scores, expected) in [
        ("mean", &[1.0, 0.5, 0.0][..], 0.5),
        ("mean", &[0.1, 0.1, 0.1], 0.1),
        ("mean", &[1.0; 7], 1.0),
        ("median", &[0.9, 0.1, 0.5], 0.5),
        ("median", &[0.9, 0.1, 0.5, 0.6], 0.55),
        ("median", &[0.3], 0.3),
        ("worst", &[0.9, 0.2, 0.5], 0.2),
        ("worst", &[0.0, 1.0], 0.0),
    ] {
        check(by, None, scores, expected);
    }
}

#[test]
fn a_majority_is_more_than_half() {
    for (min, scores, expected) in [
        (None, &[1.0, 1.0, 0.0][..], 1.0),
        (None, &[1.0, 0.0, 0.0], 0.0),
        (None, &[1.0, 0.0], 0.0),
        (None, &[1.0, 1.0, 0.0, 0.0], 0.0),
        (Some(0.8), &[0.8, 0.9, 0.1], 1.0),
        (Some(0.8), &[0.799_999_999_99, 0.9, 0.1], 1.0),
        (Some(0.8), &[0.79, 0.9, 0.1], 0.0),
        (Some(0.0), &[0.0, 0.0], 1.0),
    ] {
        check("majority", min, scores, expected);
    }
}

#[test]
fn a_majority_of_scores_between_needs_a_min() {
    let outcome = reduced(Reduction::Majority, None, &[&scored(1.0), &scored(0.5)]);
    let fault = outcome.fault().expect("a fault");
    assert_eq!(fault.cause, CAUSE);
    assert_eq!(fault.why, "`majority` takes scores of 0 and 1, or a `min` from which a repeat passes; one is 0.5");
}

#[test]
fn pass_at_k_and_pass_all_k() {
    let scores = [0.9, 0.8, 0.2, 0.1, 0.0];
    for (by, expected) in [
        ("pass@1", 0.4),
        ("pass^1", 0.4),
        // Of ten pairs, three hold no pass and one holds two.
        ("pass@2", 0.7),
        ("pass^2", 0.1),
        ("pass@4", 1.0),
        ("pass^3", 0.0),
        ("pass@5", 1.0),
        ("pass^5", 0.0),
    ] {
        check(by, Some(0.8), &scores, expected);
    }
    check("pass^5", Some(0.0), &scores, 1.0);
}

#[test]
fn pass_at_k_without_a_min_is_no_score() {
    assert_eq!(score_of("pass@1", None, &[scored(1.0)]), None);
}

#[test]
fn one_unmeasured_repeat_leaves_no_score_under_any_reduction() {
    let fault = Outcome::unmeasured("system time-out", "no answer within 2 s");
    for by in ["mean", "median", "majority", "worst", "pass@1", "pass^1"] {
        let by = Reduction::parse(by).expect("a reduction");
        let each = [&scored(1.0), &fault, &not_applicable(), &fault];
        let expected = Unmeasured::new("system time-out", "repeat 2 of 4: no answer within 2 s; and 1 more of them");
        assert_eq!(reduced(by, Some(unit(0.5)), &each).fault(), Some(&expected), "{by}");
    }
}

#[test]
fn what_applies_in_no_repeat_applies_not() {
    for by in ["mean", "worst", "pass@2"] {
        let by = Reduction::parse(by).expect("a reduction");
        let refused = Outcome::not_applicable("a refusal");
        let each = [&not_applicable(), &refused, &not_applicable()];
        assert_eq!(reduced(by, Some(unit(0.5)), &each), Outcome::not_applicable("a refusal; nothing was claimed"));
    }
}

#[test]
fn what_applies_in_some_repeats_is_reduced_over_these_and_says_so() {
    let each = [scored(0.4), not_applicable(), scored(0.8), not_applicable()];
    for (by, expected) in
        [("mean", 0.6), ("median", 0.6), ("worst", 0.4), ("majority", 0.0), ("pass@2", 1.0), ("pass^2", 0.0)]
    {
        let got = score_of(by, Some(0.5), &each).expect("a score");
        assert!((got - expected).abs() < 1e-12, "{by}: {got}");
    }
    let outcome = reduced(Reduction::Mean, None, &each.iter().collect::<Vec<_>>());
    let said = outcome.detail().and_then(|detail| detail.reduced).expect("how it was reduced");
    assert_eq!((said.times, said.scored), (4, 2));
}

#[test]
fn fewer_scores_than_k_are_no_estimate() {
    let each = [&scored(1.0), &not_applicable(), &not_applicable()];
    for by in [Reduction::PassAt(2), Reduction::PassAll(2)] {
        let outcome = reduced(by, Some(unit(0.5)), &each);
        let fault = outcome.fault().expect("a fault");
        let why =
            format!("`{by}` needs 2 repeats with a score, and 1 have one: the metric does not apply to the others");
        assert_eq!((fault.cause.as_str(), &fault.why), (CAUSE, &why));
    }
}

fn repeat(scores: &[(&str, Outcome)]) -> Repeat {
    let answer = crate::model::Answer::new(format!("{scores:?}"));
    Repeat {
        taken: Taken::Sample(crate::model::Sample { answer, is_refusal: false, latency_ms: None }),
        outcomes: scores.iter().map(|(name, outcome)| (key(name), outcome.clone())).collect(),
        transcript: crate::model::Transcript::default(),
    }
}

fn record_of(each: Vec<Repeat>) -> Record {
    let world = World::of(&[1.0]);
    record(&golden("a", 1), &world.rules, each)
}

#[test]
fn the_repeat_nearest_the_reduced_score_stands_for_the_case() {
    let each = |scores: &[f64]| scores.iter().map(|score| repeat(&[("recall@5", scored(*score))])).collect();
    let shown = |scores: &[f64]| record_of(each(scores)).repeats.expect("repeats").shown;
    assert_eq!(shown(&[1.0, 0.0, 0.6, 0.4]), 3, "the mean is 0.5, and of two as near the first is taken");
    assert_eq!(shown(&[0.2, 0.2]), 1);
    let record = record_of(each(&[1.0, 0.0, 0.6, 0.4]));
    let repeats = record.repeats.as_ref().expect("repeats");
    assert_eq!(record.taken, repeats.each[2].taken);
    assert_eq!(record.outcomes[&key("recall@5")].score(), Some(UnitInterval::HALF));
    assert!(record.is_repeated());
}

#[test]
fn a_repeat_without_the_score_stands_for_the_case_last() {
    let each = vec![repeat(&[("recall@5", not_applicable())]), repeat(&[("recall@5", scored(0.5))])];
    assert_eq!(record_of(each).repeats.expect("repeats").shown, 2);
}

#[test]
fn a_system_that_fails_once_leaves_no_sample() {
    let fault = Unmeasured::new("system error", "HTTP 500");
    let failed = Repeat {
        taken: Taken::Failed(fault.clone()),
        outcomes: [(key("recall@5"), Outcome::Unmeasured { fault })].into(),
        transcript: crate::model::Transcript::default(),
    };
    let record = record_of(vec![repeat(&[("recall@5", scored(1.0))]), failed]);
    let expected = Unmeasured::new("system error", "repeat 2 of 2: HTTP 500");
    assert_eq!(record.faults(), [(None, &expected)]);
    assert_eq!(record.repeats.as_ref().map(|repeats| repeats.shown), Some(2));
}

#[test]
fn a_repeat_that_lacks_an_outcome_is_no_smaller_number_of_repeats() {
    let record = record_of(vec![repeat(&[("recall@5", scored(1.0))]), repeat(&[])]);
    let fault = record.outcomes[&key("recall@5")].fault().cloned();
    assert_eq!(fault, Some(Unmeasured::new(CAUSE, "1 of 2 repeats have no outcome")));
}

#[test]
fn a_record_is_of_the_repeats_that_it_was_made_with() {
    let mut world = World::of(&[1.0]).rule(|rule| rule.min = Some(unit(0.5)));
    world.rules.repeats = crate::model::Repeats { times: 2, reduce: Some(Reduction::PassAt(2)) };
    let mut case = golden("a", 1);
    case.repeats.times = 2;
    let each = vec![repeat(&[("recall@5", scored(1.0))]), repeat(&[("recall@5", scored(0.6))])];
    let record = record(&case, &world.rules, each);
    assert!(is_of(&case, &record, &world.rules));
    let more = GoldenCase { repeats: crate::model::Repeats { times: 3, reduce: None }, ..case.clone() };
    assert!(!is_of(&more, &record, &world.rules), "asked more often");
    let other =
        GoldenCase { repeats: crate::model::Repeats { times: 2, reduce: Some(Reduction::Mean) }, ..case.clone() };
    assert!(!is_of(&other, &record, &world.rules), "reduced otherwise");
    let world = world.rule(|rule| rule.min = Some(unit(0.7)));
    assert!(!is_of(&case, &record, &world.rules), "another bar makes another repeat pass");
}

fn scores() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0_f64], 1..12)
}

fn value_of(by: Reduction, scores: &[f64]) -> f64 {
    let mut sorted = scores.to_vec();
    sorted.sort_by(f64::total_cmp);
    value(by, Some(unit(0.5)), &sorted).expect("a number")
}

proptest! {
    #[test]
    fn the_order_of_repeats_does_not_matter((scores, shuffled) in scores().prop_flat_map(|scores| {
        (Just(scores.clone()), Just(scores).prop_shuffle())
    })) {
        let reduce = |by, scores: &[f64]| {
            let outcomes: Vec<Outcome> = scores.iter().copied().map(scored).collect();
            reduced(by, Some(unit(0.5)), &outcomes.iter().collect::<Vec<_>>())
        };
        for by in [Reduction::Mean, Reduction::Median, Reduction::Majority, Reduction::Worst, Reduction::PassAt(1), Reduction::PassAll(1)] {
            prop_assert_eq!(reduce(by, &scores), reduce(by, &shuffled));
        }
    }

    #[test]
    fn reductions_lie_in_their_order(scores in scores()) {
        let best = scores.iter().copied().fold(0.0, f64::max);
        let worst = value_of(Reduction::Worst, &scores);
        for by in [Reduction::Median, Reduction::Mean] {
            let value = value_of(by, &scores);
            prop_assert!(worst <= value + 1e-12 && value <= best + 1e-12, "{by}: {value} of {scores:?}");
        }
        let share = value_of(Reduction::PassAt(1), &scores);
        prop_assert!((share - value_of(Reduction::PassAll(1), &scores)).abs() < 1e-12);
        for k in 1..scores.len() {
            let (any, all) = (value_of(Reduction::PassAt(k), &scores), value_of(Reduction::PassAll(k), &scores));
            prop_assert!(value_of(Reduction::PassAt(k + 1), &scores) >= any - 1e-12);
            prop_assert!(value_of(Reduction::PassAll(k + 1), &scores) <= all + 1e-12);
            prop_assert!(all <= share + 1e-12 && share <= any + 1e-12);
        }
    }

    #[test]
    fn a_repeat_that_gets_worse_raises_nothing(scores in scores(), at in any::<prop::sample::Index>(), lower in 0.0..=1.0_f64) {
        let mut worse = scores.clone();
        let at = at.index(scores.len());
        worse[at] *= lower;
        for by in [Reduction::Mean, Reduction::Median, Reduction::Majority, Reduction::Worst, Reduction::PassAt(1), Reduction::PassAll(1)] {
            prop_assert!(value_of(by, &worse) <= value_of(by, &scores) + 1e-12, "{by}");
        }
    }
}
