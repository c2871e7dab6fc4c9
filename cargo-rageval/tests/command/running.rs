//! `cargo rageval run`: the gate of systems that need no code, as its exit code, its text and its run file say it.

pub(crate) mod endpoint;
mod resumed;

use std::path::Path;

use serde_json::Value;

use super::{Ended, folder, program, write};

const CASES: &str = "\
- {id: refund-window, query: How long can I return an item?, relevant_doc_ids: [d1], language: en}
- {id: shipping, query: How long does shipping take?, relevant_doc_ids: [d2], language: en}
- {id: prazo, query: Qual o prazo de troca?, relevant_doc_ids: [d3], language: pt}
";
const ANSWERS: &str = r#"{"id":"refund-window","response":"Within 30 days.","retrieved_contexts":[{"id":"d1","text":"You can return an item within 30 days."}]}
{"id":"shipping","response":"Two days.","retrieved_contexts":[{"id":"d9","text":"Shipping takes two days."}]}
{"id":"prazo","response":"30 dias.","retrieved_contexts":[{"id":"d3","text":"O prazo de troca tem 30 dias."}]}
"#;

/// A policy over recorded answers.
pub(crate) fn recorded(folder: &Path, rest: &str) {
    let policy =
        format!("version: 1\nsystem: {{kind: recorded, samples: answers.jsonl, generator: none-code}}\n{rest}");
    write(folder, "thresholds.yaml", &policy);
    std::fs::create_dir_all(folder.join("cases")).expect("made");
    write(&folder.join("cases"), "all.yaml", CASES);
    write(folder, "answers.jsonl", ANSWERS);
}

/// The program in surroundings that say nothing: neither CI nor a switch of insta.
pub(crate) fn alone(folder: &Path, arguments: &[&str]) -> std::process::Command {
    let mut command = program(folder, arguments);
    for name in ["CI", "INSTA_UPDATE", "INSTA_FORCE_PASS", "RAGEVAL_RUNS", "RAGEVAL_JUDGE_MODE", "CARGO_TARGET_DIR"] {
        command.env_remove(name);
    }
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Ended {
    alone(folder, arguments).output().expect("the program starts").into()
}

#[track_caller]
fn ends(folder: &Path, arguments: &[&str], code: i32) -> Ended {
    let ended = run(folder, arguments);
    assert_eq!(ended.code, Some(code), "{}\n{}", ended.out, ended.err);
    ended
}

fn latest(folder: &Path) -> rageval_runner::model::run::Run {
    rageval_runner::store::runs::read(&folder.join("target/rageval/runs/latest")).expect("a run")
}

const RETRIEVAL: &str = "metrics:\n  recall@5: {min: 0.5, mean: {min: 0.6}}\n";

#[test]
fn a_red_case_ends_with_1_and_a_green_run_with_0() {
    let folder = folder();
    recorded(folder.path(), RETRIEVAL);
    let ended = ends(folder.path(), &["run"], 1);
    assert!(ended.out.contains("---- case::all::shipping ----"), "{}", ended.out);
    assert!(ended.out.contains("failed      recall@5 0.00, min 0.50"), "{}", ended.out);
    assert!(ended.out.contains("look        cargo rageval run --case 'case::all::shipping'"), "{}", ended.out);
    assert!(ended.out.contains("3 cases: 2 passed, 1 failed; 4 gates: 4 passed"), "{}", ended.out);
    assert!(!ended.out.contains('\u{1b}'), "no colours outside a terminal: {}", ended.out);
    let run = latest(folder.path());
    assert_eq!((run.records.len(), run.manifest.partial, run.manifest.missing.len()), (3, None, 0));
    recorded(folder.path(), "metrics:\n  recall@5: {mean: {min: 0.6}}\n");
    ends(folder.path(), &["run"], 0);
}

#[test]
fn the_command_decides_as_gate_does_over_the_same_run() {
    let folder = folder();
    recorded(folder.path(), "metrics:\n  recall@5: {min: 0.5, mean: {min: 0.9}}\n");
    let ran = ends(folder.path(), &["run"], 1);
    let decided = ends(folder.path(), &["gate"], 1);
    let red = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.starts_with("---- ")).map(str::to_owned).collect()
    };
    assert_eq!(red(&ran.out), red(&decided.out));
    assert_eq!(red(&ran.out), ["---- case::all::shipping ----", "---- gate::recall@5::mean ----"]);
}

#[test]
fn one_json_object_says_what_was_decided() {
    let folder = folder();
    recorded(folder.path(), RETRIEVAL);
    let ended = ends(folder.path(), &["run", "--format", "json"], 1);
    let report: Value = serde_json::from_str(&ended.out).expect("one JSON object");
    assert_eq!(report["conclusion"], "fail");
    assert_eq!(report["counts"]["cases"]["pass"], 2);
    assert_eq!(report["counts"]["cases"]["fail"], 1);
    assert_eq!(report["counts"]["gates"]["pass"], 4);
    assert!(Path::new(report["run"].as_str().expect("a folder")).join("run.json").is_file());
    let trials = report["decisions"].as_array().expect("decisions").iter().map(|one| one["trial"].as_str());
    assert!(trials.flatten().any(|trial| trial == "gate::recall@5::mean"));
}

#[test]
fn a_function_is_left_to_its_own_test() {
    let folder = folder();
    recorded(folder.path(), RETRIEVAL);
    write(folder.path(), "thresholds.yaml", &format!("version: 1\n{RETRIEVAL}"));
    let ended = ends(folder.path(), &["run"], 2);
    assert!(ended.err.contains("cargo test --test rag_regression"), "{}", ended.err);
    assert!(!folder.path().join("target").exists());
}

#[test]
fn picked_cases_decide_no_gate_and_say_so() {
    let folder = folder();
    recorded(folder.path(), "metrics:\n  recall@5: {min: 0.5, mean: {min: 0.99}}\n");
    let ended = ends(folder.path(), &["run", "--slice", "language=pt"], 0);
    assert!(ended.out.contains("1 case: 1 passed; 0 gates: none ran"), "{}", ended.out);
    assert!(ended.out.contains("partial: only --slice language=pt; no gate is decided"), "{}", ended.out);
    let run = latest(folder.path());
    assert!(run.manifest.partial.is_some());
    assert_eq!(run.manifest.missing.len(), 2);
    let ended = ends(folder.path(), &["run", "--case", "prazo", "--case", "case::all::shipping"], 1);
    assert!(ended.out.contains("2 cases: 1 passed, 1 failed"), "{}", ended.out);
    let ended = ends(folder.path(), &["run", "--slice", "language=pt", "--slice", "language=en"], 1);
    assert!(ended.out.contains("3 cases: 2 passed, 1 failed"), "{}", ended.out);
}

#[test]
fn a_case_or_slice_that_is_not_there_is_wrong_usage() {
    let folder = folder();
    recorded(folder.path(), RETRIEVAL);
    let says = |arguments: &[&str], text: &str| {
        let ended = ends(folder.path(), arguments, 2);
        assert!(ended.err.contains(text), "{}", ended.err);
    };
    says(&["run", "--case", "refund-windo"], "no case has the id \"refund-windo\"; did you mean \"refund-window\"?");
    says(&["run", "--case", " prazo"], "no case has the id \" prazo\"; did you mean \"prazo\"?");
    says(&["run", "--slice", "languag=pt"], "unknown slice field \"languag\"; did you mean \"language\"?");
    says(&["run", "--slice", "language=ptt"], "no case is of the slice language=ptt; did you mean \"pt\"?");
    says(&["run", "--slice", "type=fact"], "no case is of the slice type=fact; no case states it");
    says(&["run", "--slice", "pt"], "\"pt\" is no slice; write FIELD=VALUE");
}

#[test]
fn the_red_cases_of_the_last_run_run_again() {
    let folder = folder();
    recorded(folder.path(), RETRIEVAL);
    assert!(ends(folder.path(), &["run", "--failed"], 2).err.contains("there is no last run"));
    ends(folder.path(), &["run"], 1);
    let ended = ends(folder.path(), &["run", "--failed"], 1);
    assert!(ended.out.contains("1 case: 1 failed; 0 gates"), "{}", ended.out);
    write(folder.path(), "answers.jsonl", &ANSWERS.replace("d9", "d2"));
    ends(folder.path(), &["run", "--failed"], 0);
    // The part that was red is mended, and of all others that run says nothing.
    let ended = ends(folder.path(), &["run", "--failed"], 3);
    assert!(ended.err.contains("but it was partial (only --failed of the run "), "{}", ended.err);
    assert!(ended.err.contains("run all cases with `cargo rageval run`"), "{}", ended.err);
    let ended = ends(folder.path(), &["run", "--failed", "--format", "json"], 3);
    let told: serde_json::Value = serde_json::from_str(&ended.out).expect("JSON");
    assert_eq!(told["conclusion"], "undecided");
    ends(folder.path(), &["run"], 0);
    let ended = ends(folder.path(), &["run", "--failed"], 0);
    assert!(ended.err.contains("nothing was red in the last run"), "{}", ended.err);
}

#[test]
fn a_gate_that_was_red_stays_red_where_no_case_is_to_run_again() {
    let folder = folder();
    recorded(folder.path(), "metrics:\n  recall@5: {mean: {min: 0.9}}\n");
    ends(folder.path(), &["run"], 1);
    let ended = ends(folder.path(), &["run", "--failed"], 1);
    assert!(ended.err.contains("and 1 gate still: `cargo rageval run` runs all cases"), "{}", ended.err);
}

#[test]
fn a_key_that_is_missing_is_undecided_and_named() {
    let folder = folder();
    let judge = "judge: {provider: openai, base_url: \"http://127.0.0.1:9/v1\", model: m-2026-01-01, api_key_env: NO_SUCH_KEY_HERE}\n";
    let rest = "budget: {requests: 5}\nmetrics:\n  faithfulness: {mean: {min: 0.1}}\n\
                waive: {calibration: {reason: a test, until: 9999-01-01}}\n";
    recorded(folder.path(), &format!("{judge}{rest}"));
    let ended = ends(folder.path(), &["run"], 3);
    assert!(ended.out.contains("---- gate::setup ----"), "{}", ended.out);
    assert!(ended.out.contains("NO_SUCH_KEY_HERE"), "{}", ended.out);
    assert!(ended.out.contains("of 3 cases, 3 need replies that are not stored"), "{}", ended.out);
}

#[cfg(unix)]
#[test]
fn a_command_is_asked() {
    let folder = folder();
    recorded(folder.path(), RETRIEVAL);
    let answers = "while read -r line; do\n  id=$(printf %s \"$line\" | sed 's/.*\"id\":\"\\([^\"]*\\)\".*/\\1/')\n  \
                   echo '{\"id\":\"'$id'\",\"response\":\"30 days.\",\"retrieved_contexts\":[{\"id\":\"d1\",\"text\":\"30 days.\"}]}'\ndone\n";
    write(folder.path(), "rag.sh", answers);
    let policy = format!("version: 1\nsystem: {{kind: command, run: [sh, rag.sh], generator: none-code}}\n{RETRIEVAL}");
    write(folder.path(), "thresholds.yaml", &policy);
    let ended = ends(folder.path(), &["run"], 1);
    assert!(ended.out.contains("3 cases: 1 passed, 2 failed"), "{}", ended.out);
}

#[test]
fn a_baseline_that_is_missing_is_a_wrong_file_and_the_run_can_become_it() {
    let folder = folder();
    let rest = "metrics:\n  recall@5: {max_drop: 0.1, mean: {min: 0.6}}\nregression: {baseline: baselines/main.json}\n";
    recorded(folder.path(), rest);
    let ended = ends(folder.path(), &["run"], 2);
    assert!(ended.out.contains("cargo rageval baseline accept"), "{}", ended.out);
    ends(folder.path(), &["baseline", "accept"], 0);
    ends(folder.path(), &["run"], 0);
}

#[test]
fn what_is_unmeasured_is_undecided() {
    let folder = folder();
    recorded(folder.path(), "metrics:\n  recall@5: {mean: {min: 0.6}}\n");
    write(folder.path(), "answers.jsonl", &ANSWERS.lines().take(2).collect::<Vec<_>>().join("\n").replace("d9", "d2"));
    let ended = ends(folder.path(), &["run"], 3);
    assert!(ended.out.contains("---- case::all::prazo ----"), "{}", ended.out);
}

const JUDGED: &str = "judge: {provider: offline}\nmetrics:\n  faithfulness: {mean: {min: 0.1}}\nwaive: {calibration: {reason: a test, until: 9999-01-01}}\n";

#[test]
fn every_changed_verdict_is_seen_before_it_passes() {
    let folder = folder();
    recorded(folder.path(), JUDGED);
    let ended = ends(folder.path(), &["run"], 1);
    assert!(ended.out.contains("snapshot    no snapshot of this case yet"), "{}", ended.out);
    assert!(ended.out.contains("accept      cargo rageval snapshots accept"), "{}", ended.out);
    let shown = ends(folder.path(), &["snapshots", "accept"], 0).out;
    assert!(shown.contains("---- shipping ----") && shown.contains("+ faithfulness: 1 of 1"), "{shown}");
    ends(folder.path(), &["run"], 1);
    ends(folder.path(), &["snapshots", "accept", "--case", "shipping"], 0);
    let refused = ends(folder.path(), &["snapshots", "accept", "--case", "praso"], 2);
    assert!(refused.err.contains("did you mean \"prazo\"?"), "{}", refused.err);
    ends(folder.path(), &["snapshots", "accept", "--all"], 0);
    ends(folder.path(), &["run"], 0);
    write(folder.path(), "answers.jsonl", &ANSWERS.replace("Two days.", "Nine weeks of waiting."));
    let ended = ends(folder.path(), &["run"], 1);
    assert!(ended.out.contains("snapshot    faithfulness fell from 1 of 1 to 0 of 1"), "{}", ended.out);
    let shown = ends(folder.path(), &["snapshots", "accept"], 0).out;
    assert!(shown.contains("- faithfulness: 1 of 1\n") && shown.contains("+   unsupported: Nine weeks"), "{shown}");
}

#[test]
fn ci_writes_nothing_beside_the_source() {
    let folder = folder();
    recorded(folder.path(), JUDGED);
    let output = alone(folder.path(), &["run"]).env("CI", "true").output().expect("the program starts");
    assert_eq!(output.status.code(), Some(1));
    assert!(!folder.path().join("snapshots").exists());
    let told = ends(folder.path(), &["snapshots", "apply", "target/rageval/runs/latest"], 0).out;
    assert!(told.contains("look: cargo rageval snapshots accept"), "{told}");
    ends(folder.path(), &["snapshots", "accept", "--all"], 0);
    let output = alone(folder.path(), &["run"]).env("CI", "true").output().expect("the program starts");
    assert_eq!(output.status.code(), Some(0));
    let output = alone(folder.path(), &["run"]).env("CI", "true").env("INSTA_UPDATE", "always").output();
    let ended = Ended::from(output.expect("the program starts"));
    assert_eq!(ended.code, Some(2), "{}", ended.out);
    assert!(ended.err.contains("INSTA_UPDATE=always would accept changed verdicts unseen"), "{}", ended.err);
    assert!(ended.err.contains("on your machine with `cargo rageval snapshots accept`"), "{}", ended.err);
}

#[test]
fn a_system_that_answers_nothing_is_asked_for_at_its_place() {
    let folder = folder();
    let system =
        "{kind: http, generator: none-code, url: \"http://127.0.0.1:9/ask\", body: {q: \"{{ query }}\"}, answer: /a}";
    recorded(folder.path(), RETRIEVAL);
    write(folder.path(), "thresholds.yaml", &format!("version: 1\nsystem: {system}\n{RETRIEVAL}"));
    let ended = ends(folder.path(), &["run"], 3);
    let told = "the system answered no question: is it running, and does `system` (thresholds.yaml:2) say where?";
    assert!(ended.err.contains(told), "{}", ended.err);
    recorded(folder.path(), RETRIEVAL);
    assert!(!ends(folder.path(), &["run"], 1).err.contains("answered no question"));
}
