//! A stored run, whole and with parts of it gone.

use crate::model::{
    Outcome, Unmeasured,
    record::Taken,
    run::{Conclusion, Decision, Ruling, Run},
};

/// The stored run of version 4 as a whole one that passes.
fn whole() -> Run {
    let text = include_str!("../../../tests/fixtures/formats/run-v4.json");
    let mut run: Run = serde_json::from_str(text).expect("a run");
    run.manifest.missing.clear();
    run.decisions = [
        "case::a::a",
        "gate::refusal_correctness::mean",
        "gate::refusal_correctness::pass_rate",
        "gate::refusal_correctness::bottom10",
        "gate::set::unmeasured",
    ]
    .map(|trial| Decision::told(trial, Ruling::Pass, Vec::new()))
    .to_vec();
    run
}

#[track_caller]
fn lacks(change: impl FnOnce(&mut Run), expected: &[&str]) {
    let mut run = whole();
    change(&mut run);
    assert_eq!(run.holes(), expected);
    let conclusion = if expected.is_empty() { Conclusion::Pass } else { Conclusion::Undecided };
    assert_eq!(run.conclusion(), conclusion);
}

#[test]
fn a_whole_run_lacks_nothing() {
    lacks(|_| {}, &[]);
}

#[test]
fn what_is_gone_is_named_and_nothing_is_passed() {
    lacks(|run| run.records.clear(), &["0 of 1 cases have a record"]);
    lacks(|run| drop(run.decisions.remove(0)), &["0 of 1 cases are decided"]);
    lacks(|run| drop(run.decisions.remove(1)), &["gate::refusal_correctness::mean is not decided"]);
    lacks(|run| drop(run.decisions.pop()), &["gate::set::unmeasured is not decided"]);
    let both = ["1 of 60 cases have a record", "1 of 60 cases are decided"];
    lacks(|run| run.manifest.golden_set.cases = 60, &both);
}

#[test]
fn no_case_passes_without_its_scores() {
    let without = ["a passed and is not measured"];
    lacks(|run| run.records[0].outcomes.clear(), &without);
    let fault = || Unmeasured::new("system error", "it is gone");
    lacks(|run| run.records[0].taken = Taken::Failed(fault()), &without);
    let unmeasured = |run: &mut Run| {
        for outcome in run.records[0].outcomes.values_mut() {
            *outcome = Outcome::Unmeasured { fault: fault() };
        }
    };
    lacks(unmeasured, &without);
}

#[test]
fn what_cannot_be_true_of_one_run_is_found() {
    let found = |change: fn(&mut Run)| {
        let mut run = whole();
        change(&mut run);
        run.contradiction().unwrap_or_default()
    };
    assert_eq!(found(|_| {}), "");
    let record = found(|run| run.records.push(run.records[0].clone()));
    assert_eq!(record, "case `a` has two records in it, and a run has one a case");
    assert_eq!(found(|run| run.cases.push(run.cases[0].clone())), "case `a` stands twice in it");
    assert_eq!(
        found(|run| run.decisions.push(run.decisions[1].clone())),
        "`gate::refusal_correctness::mean` is decided twice in it"
    );
    let stray = found(|run| run.decisions.push(Decision::told("case::x::ghost", Ruling::Fail, Vec::new())));
    assert_eq!(stray, "`case::x::ghost` is decided in it, and it has no such case");
}
