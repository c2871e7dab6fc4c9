//! Tests of drops against the best of the last accepted runs.

use crate::{
    gate::{
        fixture::{World, scored, unit},
        rule::{DecisionRule, MeanRule},
    },
    model::{
        Outcome,
        run::{AcceptedRun, Decision, Ruling},
    },
};

const GATE: &str = "gate::recall@5::window_drop";

/// 20 cases whose mean is `mean`, all equal.
fn level(mean: f64) -> Vec<f64> {
    vec![mean; 20]
}

/// A run with these scores, whose last baseline is the last of `accepted`, all of which are in the window.
fn world(metric: &str, now: &[f64], accepted: &[Vec<f64>]) -> World {
    let outcomes: Vec<Outcome> = now.iter().map(|score| scored(*score)).collect();
    let mut world = World::with(metric, outcomes);
    for (index, scores) in accepted.iter().enumerate() {
        world = world.accepted(scores);
        let baseline = world.baseline.clone().expect("accepted");
        world.history.push(AcceptedRun { place: format!("history.jsonl:{}", index + 1), baseline });
    }
    let rule = MeanRule { max_drop: Some(unit(0.02)), ..MeanRule::default() };
    world.rule(|rules| rules.set.mean = Some(rule)).change(|world| {
        let regression = world.rules.regression.as_mut().expect("accepted");
        regression.window = Some(accepted.len());
    })
}

fn decide(now: &[f64], accepted: &[Vec<f64>]) -> Decision {
    world("recall@5", now, accepted).gate(GATE)
}

#[test]
fn of_ten_drops_of_0_019_all_but_the_first_are_red() {
    let means: Vec<f64> = (0..=10).map(|step| 0.95 - 0.019 * f64::from(step)).collect();
    for step in 1..=10 {
        let accepted: Vec<Vec<f64>> = means[..step].iter().map(|mean| level(*mean)).collect();
        let world = world("recall@5", &level(means[step]), &accepted);
        // Each is small enough for the baseline alone.
        assert_eq!(world.gate("gate::recall@5::mean_drop").ruling, Ruling::Pass, "step {step}");
        let decision = world.gate(GATE);
        assert_eq!(decision.ruling, if step == 1 { Ruling::Pass } else { Ruling::Fail }, "step {step}");
        let drop = decision.statistic.expect("a drop");
        assert!((drop - 0.019 * step as f64).abs() < 1e-9, "{drop}");
    }
}

#[test]
fn a_failure_names_the_run_that_it_lost_to() {
    let mut accepted = [0.90, 0.95, 0.93].map(level).to_vec();
    accepted[1][0] = 1.0;
    let decision = decide(&level(0.92), &accepted);
    assert_eq!(decision.ruling, Ruling::Fail);
    assert_eq!(
        decision.lines[..2],
        [
            "failed      mean drop 0.0325 from history.jsonl:2, max_drop 0.02, over 20 paired cases",
            "            mean 0.9525 -> 0.92, the best of 3 accepted runs",
        ],
        "{:#?}",
        decision.lines
    );
    assert!(decision.lines[3].contains("1.00 -> 0.92 c00"), "{:#?}", decision.lines);
}

#[test]
fn runs_of_another_judge_or_version_do_not_count() {
    let other = |world: &mut World| world.history[0].baseline.manifest.metric_versions.clear();
    let world = world("recall@5", &level(0.90), &[level(0.95), level(0.91)]).change(other);
    let decision = world.gate(GATE);
    assert_eq!(decision.ruling, Ruling::Pass, "{:#?}", decision.lines);
    assert!(decision.lines[0].contains("from history.jsonl:2"), "{:#?}", decision.lines);
    let none = world.change(|world| world.history.truncate(1)).gate(GATE);
    assert_eq!(none.ruling, Ruling::Undecided);
    assert!(none.lines[0].contains("the history holds no accepted run to compare with"), "{:#?}", none.lines);
    assert!(none.lines[1].contains("history.jsonl:1: the baseline was made without this metric"), "{:#?}", none.lines);
}

#[test]
fn where_no_run_counts_the_newest_says_why() {
    let key = crate::model::MetricKey::parse("recall@5").expect("a key");
    let decide = |older: &str, newer: &str| {
        let world = world("recall@5", &level(0.90), &[level(0.95), level(0.91)]).change(|world| {
            let now = world.rules.parameters()[&key].clone();
            for (run, repeats) in world.history.iter_mut().zip([older, newer]) {
                run.baseline.manifest.parameters = [(key.clone(), format!("{now}{repeats}"))].into();
            }
        });
        world.gate(GATE)
    };
    let none = decide(" median of 3", " worst of 3");
    assert_eq!(none.ruling, Ruling::Undecided);
    assert!(none.lines[1].contains("the newest, history.jsonl:2: other `repeats`"), "{:#?}", none.lines);
    assert!(none.lines[2].contains("now the mean"), "{:#?}", none.lines);
    assert!(none.lines[3].contains("in that run worst of 3"), "{:#?}", none.lines);
    assert_eq!(decide("", " worst of 3").ruling, Ruling::Fail, "an older one counts");
}

#[test]
fn an_empty_history_decides_nothing_and_is_red() {
    let world = world("recall@5", &level(0.95), &[level(0.95)]).change(|world| world.history.clear());
    assert_eq!(world.gate(GATE).ruling, Ruling::Undecided);
}

#[test]
fn a_run_that_shares_less_than_half_of_the_cases_does_not_count() {
    let world = world("recall@5", &level(0.90), &[level(0.95), level(0.91)]).change(|world| {
        let cases = &mut world.history[0].baseline.cases;
        let most: Vec<_> = cases.keys().skip(9).cloned().collect();
        cases.retain(|id, _| !most.contains(id));
    });
    assert!(world.gate(GATE).lines[0].contains("from history.jsonl:2"));
    let none = world.change(|world| world.history.truncate(1)).gate(GATE);
    assert_eq!(none.ruling, Ruling::Inconclusive);
}

#[test]
fn without_the_key_there_is_no_gate() {
    let world = world("recall@5", &level(0.95), &[level(0.95)]).change(|world| {
        world.rules.regression.as_mut().expect("accepted").window = None;
    });
    assert!(!world.gate_names().contains(&GATE.to_owned()));
}

#[test]
fn unmeasured_cases_that_may_be_must_hold_at_zero_too() {
    let world = world("recall@5", &level(0.95), &[level(0.95)]).change(|world| {
        world.rules.max_unmeasured = 1;
        let id = world.set.cases[0].id.clone();
        let metric = world.rules.metrics.keys().next().expect("a metric").clone();
        let record = std::sync::Arc::make_mut(world.records.get_mut(&id).expect("a record"));
        record.outcomes.insert(metric, Outcome::unmeasured("judge time-out", "no reply"));
    });
    let decision = world.gate(GATE);
    assert_eq!(decision.ruling, Ruling::Fail, "{:#?}", decision.lines);
    assert!(decision.lines[0].contains("with unmeasured at 0"), "{:#?}", decision.lines);
}

/// Scores of a judge that wavers: every second case of 20 fell by `fall`, the others rose by `rise`.
fn wavering(fall: f64, rise: f64) -> Vec<f64> {
    (0..20).map(|case| if case % 2 == 0 { 0.9 - fall } else { 0.9 + rise }).collect()
}

#[test]
fn a_judged_metric_loses_to_the_best_run_only_beyond_chance() {
    let gate = |now: &[f64]| world("faithfulness", now, &[level(0.9)]).gate("gate::faithfulness::window_drop");
    let chance = gate(&wavering(0.15, 0.1));
    assert_eq!(chance.ruling, Ruling::Inconclusive, "{:#?}", chance.lines);
    assert!(chance.lines[0].contains("may be chance, p 0."), "{:#?}", chance.lines);
    let loss = gate(&wavering(0.15, -0.05));
    assert_eq!(loss.ruling, Ruling::Fail, "{:#?}", loss.lines);
    let mut few = level(0.9);
    few[..6].fill(0.0);
    assert_eq!(gate(&few).ruling, Ruling::Inconclusive);
}

#[test]
fn the_same_p_counts_less_in_a_longer_window() {
    let now = wavering(0.1, 0.05);
    let gate = |runs: usize| {
        let accepted = vec![level(0.9); runs];
        world("faithfulness", &now, &accepted).gate("gate::faithfulness::window_drop")
    };
    let p = |decision: &Decision| {
        let text =
            decision.lines[0].split(" p ").nth(1).expect("a p-value").split(',').next().expect("digits").to_owned();
        text.parse::<f64>().expect("a number")
    };
    assert!(p(&gate(1)) < p(&gate(5)), "{:?} {:?}", gate(1).lines, gate(5).lines);
}

#[test]
fn non_inferior_asks_for_the_limit_of_the_drop() {
    let world = world("faithfulness", &wavering(0.10, 0.10), &[level(0.9)]).change(|world| {
        world.rules.regression.as_mut().expect("accepted").decision = Some(DecisionRule::NonInferior);
    });
    let decision = world.gate("gate::faithfulness::window_drop");
    assert_eq!(decision.ruling, Ruling::Fail, "{:#?}", decision.lines);
    assert!(decision.lines[0].contains("upper limit 0.0"), "{:#?}", decision.lines);
}

#[test]
fn without_a_readable_history_nothing_reads_as_passed() {
    // A history that can't be read takes the baseline with it.
    let world = world("recall@5", &level(0.95), &[level(0.95)]).change(|world| {
        world.baseline = None;
        world.history.clear();
    });
    let decision = world.gate(GATE);
    assert_eq!(decision.ruling, Ruling::Inconclusive, "{:#?}", decision.lines);
    let said = &decision.lines[0];
    assert!(said.starts_with("inconclusive: not decided, so not passed: the baseline or its history"), "{said}");
}
