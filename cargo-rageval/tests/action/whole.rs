//! All shell steps of `action.yml` in their order.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::{
    expression::{Values, fill, holds},
    github::{Runner, action_path},
};

#[derive(Deserialize)]
struct Action {
    inputs: BTreeMap<String, Input>,
    runs: Runs,
}

#[derive(Deserialize)]
struct Input {
    #[serde(default)]
    default: String,
}

#[derive(Deserialize)]
struct Runs {
    steps: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Step {
    name: String,
    id: Option<String>,
    #[serde(rename = "if")]
    condition: Option<String>,
    uses: Option<String>,
    run: Option<String>,
    working_directory: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

fn action() -> Action {
    let text = std::fs::read_to_string(action_path().join("action.yml")).expect("readable");
    serde_yaml::from_str(&text).expect("an action")
}

/// How the action ended, and the names of the steps that ran.
struct Ended {
    failed: bool,
    ran: Vec<String>,
    values: Values,
}

/// Runs the action on a pull request of a repository, or of a fork, with these inputs over their defaults.
fn runs(runner: &Runner, head: &str, inputs: &[(&str, &str)], environment: &[(&str, &str)]) -> Ended {
    let action = action();
    let mut values: Values =
        action.inputs.iter().map(|(name, input)| (format!("inputs.{name}"), input.default.clone())).collect();
    values.extend(inputs.iter().map(|(name, value)| (format!("inputs.{name}"), (*value).to_owned())));
    let github = [
        ("github.repository", "acme/help"),
        ("github.event.pull_request.head.repo.full_name", head),
        ("github.event.pull_request.number", "12"),
        ("github.base_ref", "main"),
        ("github.event_name", "pull_request"),
        ("github.token", "t"),
    ];
    values.extend(github.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let (mut failed, mut ran) = (false, Vec::new());
    for step in action.runs.steps {
        if !holds(step.condition.as_deref().unwrap_or(""), &values, failed) {
            continue;
        }
        ran.push(step.name.clone());
        let Some(script) = step.run else {
            assert!(step.uses.is_some_and(|uses| uses.contains('@')), "{} is pinned", step.name);
            continue;
        };
        let filled: Vec<(String, String)> =
            step.env.iter().map(|(name, value)| (name.clone(), fill(value, &values))).collect();
        let mut all: Vec<(&str, &str)> = environment.to_vec();
        all.extend(filled.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let folder = step.working_directory.map_or(".".to_owned(), |folder| fill(&folder, &values));
        let ended = runner.step(&script, &folder, &all);
        failed |= ended.code != 0;
        if let Some(id) = step.id {
            let outputs = ended.outputs.into_iter().map(|(name, value)| (format!("steps.{id}.outputs.{name}"), value));
            values.extend(outputs);
        }
    }
    Ended { failed, ran, values }
}

/// A gate that leaves the stored run and ends with a code.
fn gate(code: i32) -> String {
    let stored = action_path().join("rageval-runner/tests/fixtures/formats/run-v4.json");
    format!(
        "mkdir -p \"$RAGEVAL_RUNS/h/1\" && cp '{}' \"$RAGEVAL_RUNS/h/1/run.json\" && printf h/1 >\"$RAGEVAL_RUNS/latest\"; exit {code}",
        stored.display()
    )
}

fn does(ended: &Ended, step: &str) -> bool {
    ended.ran.iter().any(|name| name == step)
}

#[test]
fn a_red_gate_is_red_with_its_comment_and_its_run_kept() {
    let runner = Runner::new();
    runner.gh("exit 0");
    let ended = runs(&runner, "acme/help", &[("install", ""), ("command", &gate(101))], &[]);
    assert!(ended.failed);
    assert_eq!(ended.values["steps.gate.outputs.exit-code"], "101");
    assert!(runner.asked().contains("--method POST"), "{}", runner.asked());
    for step in ["Keep the run and its reports", "Keep the judge's replies", "End as the gate ended"] {
        assert!(does(&ended, step), "{step}: {:?}", ended.ran);
    }
}

#[test]
fn a_green_gate_is_green_though_nothing_can_be_reported() {
    let runner = Runner::new();
    let ended = runs(&runner, "acme/help", &[("install", ""), ("command", &gate(0))], &[]);
    assert!(!ended.failed, "gh fails: {:?}", ended.ran);
}

#[test]
fn a_fork_replays_stays_red_and_writes_no_comment() {
    let runner = Runner::new();
    let inputs = [("install", ""), ("command", &*gate(101)), ("judge-key-env", "ACME_KEY")];
    let ended = runs(&runner, "mallory/help", &inputs, &[("ACME_KEY", "")]);
    assert!(ended.failed);
    assert_eq!(ended.values["steps.mode.outputs.judge-mode"], "replay");
    assert!(
        !does(&ended, "Comment on the pull request") && !does(&ended, "Keep the judge's replies"),
        "{:?}",
        ended.ran
    );
    assert_eq!(runner.asked(), "");
    assert!(runner.read("summary.md").contains("Needs a maintainer's run"));
}

#[test]
fn what_cannot_be_installed_is_red() {
    let ended = runs(&Runner::new(), "acme/help", &[("install", "false"), ("command", &gate(0))], &[]);
    assert!(ended.failed && !does(&ended, "Run the gate"), "{:?}", ended.ran);
}

#[test]
fn every_foreign_action_is_pinned_to_a_commit() {
    for file in ["action.yml", ".github/workflows/ci.yml", ".github/workflows/rag-regression.yml"] {
        let text = std::fs::read_to_string(action_path().join(file)).expect("readable");
        for line in text.lines().filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix("uses: ")) {
            let commit = line.split_once('@').map(|(_, rest)| rest.split(' ').next().unwrap_or(rest));
            let is_pinned = |commit: &str| commit.len() == 40 && commit.chars().all(|c| c.is_ascii_hexdigit());
            assert!(line == "./" || commit.is_some_and(is_pinned), "{file}: {line}");
        }
    }
}
