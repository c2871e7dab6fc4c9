//! The command over runs whose rules name a metric of the test binary itself.

use rageval_runner::{
    metric::FnMetric,
    model::{Outcome, UnitInterval},
};

use crate::{Ended, Project};

crate::tests![
    every_command_reads_rules_that_name_it,
    a_stored_run_is_decided_by_it,
    a_run_that_is_named_tells_it_elsewhere,
    without_a_run_it_is_said_how_it_becomes_known,
    the_command_itself_measures_nothing_with_it,
];

/// Whether the answer has at most five words.
pub(crate) static BRIEF: FnMetric =
    FnMetric::new("brief", "whether the answer has at most five words", 3, |_, sample| {
        Outcome::scored(UnitInterval::from_yes(sample.answer.response.split_whitespace().count() <= 5))
    });

const RULES: &str = "version: 1\njudge: {provider: offline}\nregression: {baseline: baselines/other.json}\n\
                     metrics:\n  brief: {min: 1, mean: {min: 0.9}}\n  recall@5: {}\n";
const CASES: &str = "- {id: one, query: \"How much? The fee is 12 euros. [found: fee]\", relevant_doc_ids: [fee]}\n";
const LONG: &str = "- {id: one, query: \"How much? The fee is 12 euros. Delivery takes 3 days. [found: fee]\", relevant_doc_ids: [fee]}\n";

/// A project with a baseline, whose gate is green.
fn accepted(rules: &str, cases: &str) -> Project {
    let project = Project::new(rules, cases);
    // Red, since there is no baseline yet.
    project.gate(&[("CI", "true")]).with(101);
    project.command(&["baseline", "accept"]).with(0);
    project.gate(&[("CI", "true")]).with(0);
    project
}

fn every_command_reads_rules_that_name_it() {
    let project = accepted(RULES, CASES);
    assert!(project.path("baselines/other.json").is_file(), "the baseline that the policy names");
    let run = "runs/latest";
    let commands: [&[&str]; 10] = [
        &["gate", run],
        &["estimate"],
        &["cases", "lint"],
        &["cases", "stats"],
        &["cases", "lock", "--set-version", "1.0.0", "--message", "first"],
        &["cases", "diff"],
        &["compare", "baselines/other.json", run],
        &["explain", "one", "brief"],
        &["snapshots", "apply", run],
        &["report", "--format", "json", run],
    ];
    for command in commands {
        let Ended { code, text } = project.command(command);
        assert!(
            code == Some(0) && !text.contains("unknown metric") && !text.contains("cannot be read"),
            "{command:?} ended with {code:?}\n{text}"
        );
    }
    let explained = project.command(&["explain", "one", "brief"]).with(0);
    assert!(explained.contains("counts in   mean: min 0.90"), "{explained}");
    let schema = project.command(&["schema", "thresholds"]).with(0);
    assert!(schema.contains("whether the answer has at most five words"), "an editor knows it too");
}

fn a_stored_run_is_decided_by_it() {
    let project = accepted(&RULES.replace("{min: 1, mean: {min: 0.9}}", "{}"), LONG);
    project.command(&["gate", "runs/latest"]).with(0);
    project.write("thresholds.yaml", RULES);
    let text = project.command(&["gate", "runs/latest"]).with(1);
    assert!(text.contains("brief 0.00, min 1.00") && text.contains("gate::brief::mean"), "{text}");
}

fn a_run_that_is_named_tells_it_elsewhere() {
    let project = accepted(RULES, CASES);
    std::fs::rename(project.path("runs"), project.path("downloaded")).expect("renamed");
    let run = format!("downloaded/{}/run.json", project.read("downloaded/latest").trim());
    project.command(&["gate", &run]).with(0);
    let text = project.command(&["cases", "lint"]).with(2);
    assert!(text.contains("unknown metric \"brief\""), "nothing else here tells what it is: {text}");
}

fn without_a_run_it_is_said_how_it_becomes_known() {
    let project = Project::new(RULES, CASES);
    let text = project.command(&["cases", "lint"]).with(2);
    assert!(text.contains("thresholds.yaml:5") && text.contains("unknown metric \"brief\""), "{text}");
    assert!(text.contains("the command knows it once that test has run here"), "{text}");
}

fn the_command_itself_measures_nothing_with_it() {
    let project = accepted(RULES, CASES);
    let text = project.command(&["run"]).with(2);
    assert!(
        text.contains("names brief: of a test binary, which alone can measure that; run the test: cargo test"),
        "{text}"
    );
}
