//! The demo, degraded on purpose: each way turns the gate red for the right reason.
//!
//! The demo as it is and two of the ways have verdicts of a model, committed as replies. The other two are judged by the rules of
//! `offline`, against a baseline made by the same rules: what they show is not how faithful an answer is.

use std::{fs, path::Path, process::Command};

use rageval_runner::store::baseline;

use crate::fixture::{Project, Ran, SWITCH, finish};

crate::tests![
    the_demo_passes_as_it_is,
    every_reply_that_the_demo_needs_is_stored,
    a_weak_retriever_fails_on_retrieval,
    a_verbose_system_fails_on_what_it_adds,
    a_hallucinating_system_fails_on_faithfulness,
    a_system_that_never_refuses_fails_on_refusals,
    an_unknown_variant_is_refused_before_anything_runs,
];

/// Runs the gate of this repository on the demo, degraded in one way; in CI's manner, so that nothing is written beside the source.
fn demo(variant: &str) -> Ran {
    let runs = tempfile::tempdir().expect("a temporary folder");
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    for (name, _) in std::env::vars() {
        if ["NEXTEST", "INSTA", "RAGEVAL"].iter().any(|prefix| name.starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    command.env(SWITCH, "demo").env("RAGEVAL_DEMO", variant).env("RAGEVAL_RUNS", runs.path()).env("CI", "true");
    command.env("CARGO_MANIFEST_DIR", env!("CARGO_MANIFEST_DIR"));
    finish(command)
}

/// The demo judged by rules alone: a project with the same cases and bars, and the demo as it is for its baseline.
fn by_rules(variant: &str) -> Ran {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let replaced = |text: String, from: &str, to: &str| {
        assert!(text.contains(from), "thresholds.yaml no longer says `{from}`");
        text.replace(from, to)
    };
    let policy = read("thresholds.yaml");
    let judge = policy.lines().find(|line| line.starts_with("judge: ")).expect("a line `judge:`").to_owned();
    let policy = replaced(policy, &judge, "judge: {provider: offline}");
    let policy = replaced(policy, "    mode: one_by_one\n", "");
    // Nobody reviews these verdicts.
    let policy = replaced(policy, "snapshots: {fail_on: worse}", "snapshots: {fail_on: never}");
    let regression = "regression: {baseline: baselines/main.json}\n";
    let project = Project::new(&replaced(policy.clone(), regression, ""), "[]");
    fs::remove_file(project.path("cases/all.yaml")).expect("removed");
    for file in ["en.yaml", "pt.yaml", "zh.yaml", "golden.lock", "CHANGELOG.md"] {
        project.write(&format!("cases/{file}"), &read(&format!("cases/{file}")));
    }
    let run = |variant: &str| project.run_with(&[], &[(SWITCH, "demo"), ("RAGEVAL_DEMO", variant), ("CI", "true")]);
    run("normal");
    let made = baseline::from_run(&project.latest_run()).expect("a whole run");
    baseline::write(&project.path("baselines/main.json"), &made.baseline, &made.texts).expect("written");
    project.write("thresholds.yaml", &policy);
    run(variant)
}

/// Fails unless the run is red, these trials are among the red ones, and those are not.
#[track_caller]
fn red(variant: &str, ran: Ran, red: &[&str], green: &[&str]) -> Ran {
    ran.ends_with(101);
    let failed = ran.failed();
    for name in red {
        assert!(failed.iter().any(|one| one == name), "{variant}: {name} is not red\n{failed:#?}");
    }
    for name in green {
        assert!(!failed.iter().any(|one| one == name), "{variant}: {name} is red\n{failed:#?}");
    }
    ran
}

fn the_demo_passes_as_it_is() {
    demo("normal").ends_with(0);
}

fn every_reply_that_the_demo_needs_is_stored() {
    for variant in ["normal", "hallucinating", "never-refuses"] {
        let ran = demo(variant);
        // First readings alone: what a replay has no further readings for stays as first read.
        let is_measured = !ran.failed().iter().any(|name| name == "gate::set::unmeasured");
        assert!(
            is_measured,
            "{variant}: a prompt, a request or an answer of the demo changed, and replies in `judge.replies` are those to the old ones. \
             Start the model's server that docs/judges.md names, run `just record`, and accept the new verdicts\n{}",
            ran.stdout
        );
    }
}

fn a_weak_retriever_fails_on_retrieval() {
    let ran = red(
        "weak-retriever",
        by_rules("weak-retriever"),
        &["gate::recall@5::mean", "gate::recall@5::bottom10", "gate::ndcg@5::mean_drop", "case::en::broken-necklace"],
        &["gate::faithfulness::mean", "gate::set::unmeasured"],
    );
    ran.says("recall@5");
}

fn a_verbose_system_fails_on_what_it_adds() {
    red(
        "verbose",
        by_rules("verbose"),
        &["gate::faithfulness::mean", "gate::answer_relevancy::mean_drop", "case::pt::caixa-molhada"],
        &["gate::recall@5::mean", "gate::ndcg@5::mean_drop", "gate::refusal_correctness::mean"],
    );
}

fn a_hallucinating_system_fails_on_faithfulness() {
    let ran = red(
        "hallucinating",
        demo("hallucinating"),
        &[
            "gate::faithfulness::mean",
            "gate::faithfulness::bottom10",
            "case::en::chilled-temperature",
            "case::zh::免费存放-时长",
        ],
        &["gate::recall@5::mean", "gate::refusal_correctness::mean"],
    );
    ran.says("kept at 5 to 8 °C").says("kept at 2 to 5");
}

fn a_system_that_never_refuses_fails_on_refusals() {
    red(
        "never-refuses",
        demo("never-refuses"),
        &[
            "gate::refusal_correctness::mean@type=out-of-scope",
            "case::en::premier-league",
            "case::pt::receita-de-bolo",
            "case::zh::上海-天气",
        ],
        &["gate::recall@5::mean", "gate::ndcg@5::mean_drop"],
    );
}

fn an_unknown_variant_is_refused_before_anything_runs() {
    let ran = demo("weak-retreiver");
    ran.ends_with(2);
    assert_eq!(ran.stdout, "", "something ran");
    let known = "normal, weak-retriever, verbose, hallucinating, never-refuses";
    assert_eq!(ran.stderr, format!("RAGEVAL_DEMO: unknown demo variant \"weak-retreiver\"; known are {known}\n"));
}
