//! What several reports show, on a stored run.

use super::*;
use rageval_runner::store::runs;

fn run() -> Run {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../rageval-runner/tests/fixtures/formats/run-v4.json");
    let mut run = runs::read(std::path::Path::new(fixture)).expect("a run");
    run.manifest.missing.clear();
    // Without rules it lacks no gate.
    run.background.metrics.clear();
    run
}

#[test]
fn the_first_line_says_what_the_run_came_to_and_over_how_many() {
    let mut run = run();
    assert_eq!(View::of(&run).headline(), "failed: 1 of 1 case");
    run.decisions[0].ruling = Ruling::Undecided;
    run.decisions[1].ruling = Ruling::Fail;
    assert_eq!(View::of(&run).headline(), "failed: 1 gate; undecided: 1 of 1 case");
    run.decisions.clear();
    assert_eq!(View::of(&run).headline(), "undecided: 1 case; incomplete: 0 of 1 cases are decided");
}

#[test]
fn a_partial_run_has_not_passed() {
    let mut run = run();
    for decision in &mut run.decisions {
        decision.ruling = Ruling::Pass;
    }
    assert_eq!(View::of(&run).headline(), "passed: 1 case and 1 gate");
    run.manifest.partial = Some("shard 1/3".to_owned());
    let view = View::of(&run);
    assert_eq!(view.conclusion, Conclusion::Undecided);
    assert_eq!(view.headline(), "undecided: 1 case; partial: 1 of 1 case ran (shard 1/3)");
}

#[test]
fn a_green_first_line_counts_the_gates_and_those_that_could_say_nothing() {
    let mut run = run();
    for decision in &mut run.decisions {
        decision.ruling = Ruling::Pass;
    }
    let gate = run.decisions.iter().find(|decision| !decision.is_of_case()).expect("a gate").clone();
    run.decisions.extend([gate.clone(), Decision { ruling: Ruling::Inconclusive, ..gate }]);
    assert_eq!(View::of(&run).headline(), "passed: 1 case and 2 gates; inconclusive: 1 gate");
}

#[test]
fn the_worst_tenth_is_told_by_the_statistic_that_its_gate_uses() {
    let mut run = run();
    let key = View::of(&run).metrics[0].key.clone();
    let told = |run: &Run, scores: &[f64]| {
        let view = View::of(run);
        (view.metrics[0].tail_name(), view.metrics[0].tail_of(scores))
    };
    // Of 20 cases the worst tenth has two.
    let scores: Vec<f64> = [0.2, 0.4].into_iter().chain([1.0; 18]).collect();
    run.background.metrics.retain(|rules| rules.metric != key);
    assert_eq!(told(&run, &scores), ("quantile", Some(0.4)));
    let rules = serde_json::json!({"metric": key, "bottom10_use": "tail_mean"});
    run.background.metrics.push(serde_json::from_value(rules).expect("rules"));
    let (name, tail) = told(&run, &scores);
    assert!(name == "tail mean" && tail.is_some_and(|tail| (tail - 0.3).abs() < 1e-9), "{name} {tail:?}");
}

#[test]
fn a_metric_counts_what_is_scored_and_pairs_it_with_the_baseline() {
    let run = run();
    let view = View::of(&run);
    let metric = &view.metrics[0];
    assert_eq!((metric.scored.len(), metric.total(), metric.mean), (1, 1, Some(0.5)));
    assert_eq!(metric.paired.iter().map(|(_, before, now)| (*before, *now)).collect::<Vec<_>>(), [(1.0, 0.5)]);
    assert_eq!(metric.gates.len(), 1);
}

#[test]
fn readings_that_disagree_make_a_case_flaky() {
    let run = run();
    assert!(View::of(&run).cases[0].is_flaky());
}

#[test]
fn the_nearest_rank_is_a_number_that_was_measured() {
    let spread = Spread::of((1..=10).map(f64::from)).expect("numbers");
    assert_eq!((spread.p50, spread.p95, spread.n, spread.sum), (5.0, 10.0, 10, 55.0));
    assert_eq!(Spread::of([f64::NAN].into_iter()), None);
}
