//! The demo, degraded on purpose: each way turns the gate red for the right reason.

use std::process::Command;

use crate::fixture::{Ran, SWITCH, finish};

crate::tests![
    the_demo_passes_as_it_is,
    a_weak_retriever_fails_on_retrieval,
    a_verbose_system_fails_on_what_it_adds,
    a_hallucinating_system_fails_on_faithfulness,
    a_system_that_never_refuses_fails_on_refusals,
    an_unknown_variant_is_no_score,
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

/// Fails unless the run is red, these trials are among the red ones, and those are not.
#[track_caller]
fn red(variant: &str, red: &[&str], green: &[&str]) -> Ran {
    let ran = demo(variant);
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

fn a_weak_retriever_fails_on_retrieval() {
    let ran = red(
        "weak-retriever",
        &["gate::recall@5::mean", "gate::recall@5::bottom10", "gate::ndcg@5::mean_drop", "case::en::broken-necklace"],
        &["gate::faithfulness::mean", "gate::set::unmeasured"],
    );
    ran.says("recall@5");
}

fn a_verbose_system_fails_on_what_it_adds() {
    red(
        "verbose",
        &["gate::faithfulness::mean", "gate::answer_relevancy::mean_drop", "case::pt::caixa-molhada"],
        &["gate::recall@5::mean", "gate::ndcg@5::mean_drop", "gate::refusal_correctness::mean"],
    );
}

fn a_hallucinating_system_fails_on_faithfulness() {
    let ran = red(
        "hallucinating",
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
        &[
            "gate::refusal_correctness::mean@type=out-of-scope",
            "case::en::premier-league",
            "case::pt::receita-de-bolo",
            "case::zh::上海-天气",
        ],
        &["gate::recall@5::mean", "gate::ndcg@5::mean_drop"],
    );
}

fn an_unknown_variant_is_no_score() {
    demo("weak-retreiver").ends_with(101).says("system error").says("weak-retriever");
}
