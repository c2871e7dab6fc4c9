//! `cargo rageval steps`.

use std::path::Path;

use rageval_runner::{load, metric::METRICS};

use super::{Ended, ends, folder, passes, program, refuses, run, write};

const REPLY: &str = r#"{"request": "g_eval.steps", "case": "*", "value": {"steps": ["Read the answer.", "Look for a greeting: \"Dear\"."]}}"#;

/// A project whose judge is a script.
fn project(metrics: &str, replies: &str) -> tempfile::TempDir {
    let folder = folder();
    let policy = format!("version: 1\njudge: {{provider: scripted, replies: replies.jsonl}}\nmetrics:\n{metrics}");
    write(folder.path(), "thresholds.yaml", &policy);
    write(folder.path(), "replies.jsonl", replies);
    folder
}

fn problem(folder: &Path) -> String {
    let problems = load::policy(&folder.join("thresholds.yaml"), METRICS).expect_err("a problem");
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn steps(folder: &Path, key: &str) -> Vec<String> {
    let policy = load::policy(&folder.join("thresholds.yaml"), METRICS).unwrap_or_else(|problems| panic!("{problems}"));
    let (_, rule) = policy.rules.metrics.iter().find(|(known, _)| known.to_string() == key).expect("the metric");
    rule.params.texts("steps").into_iter().map(str::to_owned).collect()
}

const TONE: &str = "  g_eval/tone: {criteria: Is it kind?}\n";

#[test]
fn the_steps_are_written_once_shown_and_used_from_then_on() {
    let folder = project(TONE, REPLY);
    assert!(problem(folder.path()).contains("cargo rageval steps tone"));
    let text = passes(folder.path(), &["steps", "tone"]);
    assert_eq!(
        text,
        "g_eval/tone: wrote g_eval/tone.yaml\n  1. Read the answer.\n  2. Look for a greeting: \"Dear\".\n  \
         Review these steps and commit the file: they decide what g_eval/tone scores.\n"
    );
    assert_eq!(steps(folder.path(), "g_eval/tone"), ["Read the answer.", "Look for a greeting: \"Dear\"."]);
    let file = std::fs::read_to_string(folder.path().join("g_eval/tone.yaml")).expect("written");
    assert!(file.contains("criteria: \"Is it kind?\"\n") && file.contains("provider: \"scripted\""), "{file}");
}

#[test]
fn a_file_that_is_there_is_written_anew_only_when_told_to() {
    let folder = project(TONE, REPLY);
    passes(folder.path(), &["steps"]);
    let path = folder.path().join("g_eval/tone.yaml");
    let reviewed = std::fs::read_to_string(&path).expect("written").replace("Read the answer.", "Read it twice.");
    std::fs::write(&path, &reviewed).expect("written");
    let text = refuses(folder.path(), &["steps", "tone"]);
    assert!(text.contains("g_eval/tone.yaml is there already") && text.contains("--again"), "{text}");
    assert!(ends(folder.path(), &["steps"], 0).contains("is left alone"));
    assert_eq!(std::fs::read_to_string(&path).expect("read"), reviewed);
    assert_eq!(steps(folder.path(), "g_eval/tone")[0], "Read it twice.");
    passes(folder.path(), &["steps", "tone", "--again"]);
    assert_eq!(steps(folder.path(), "g_eval/tone")[0], "Read the answer.");
}

#[test]
fn steps_that_were_made_for_other_criteria_do_not_load() {
    let folder = project(TONE, REPLY);
    passes(folder.path(), &["steps"]);
    let path = folder.path().join("thresholds.yaml");
    let policy = std::fs::read_to_string(&path).expect("read");
    std::fs::write(&path, policy.replace("Is it kind?", "Is it short?")).expect("written");
    let text = problem(folder.path());
    assert!(text.contains("made for other criteria") && text.contains("cargo rageval steps tone --again"), "{text}");
}

#[test]
fn all_that_are_missing_are_asked_for_in_the_language_that_is_named() {
    let all = format!("{TONE}  g_eval: {{criteria: É curta?}}\n  g_eval/own: {{criteria: x, steps: [One.]}}\n");
    let folder = project(&all, REPLY);
    let text = passes(folder.path(), &["steps", "--language", "pt"]);
    assert!(text.contains("g_eval: wrote g_eval/g_eval.yaml\n") && text.contains("wrote g_eval/tone.yaml"), "{text}");
    assert!(!folder.path().join("g_eval/own.yaml").exists());
    let file = std::fs::read_to_string(folder.path().join("g_eval/g_eval.yaml")).expect("written");
    assert!(file.contains("language: pt\n") && file.contains("É curta?"), "{file}");
    assert!(ends(folder.path(), &["steps", "g_eval", "--again"], 0).contains("wrote g_eval/g_eval.yaml"));
}

#[test]
fn a_judge_that_gives_no_steps_leaves_no_file() {
    let folder = project(TONE, r#"{"request": "g_eval.steps", "case": "*", "value": {"steps": []}}"#);
    let text = ends(folder.path(), &["steps", "tone"], 3);
    assert!(text.contains("g_eval/tone: no steps were written: judge reply incomplete"), "{text}");
    assert!(!folder.path().join("g_eval").exists());
}

#[test]
fn the_offline_judge_can_write_none() {
    let folder = folder();
    write(folder.path(), "thresholds.yaml", &format!("version: 1\njudge: {{provider: offline}}\nmetrics:\n{TONE}"));
    let text = refuses(folder.path(), &["steps"]);
    assert!(text.contains("the judge `offline` is a set of rules and can't write steps"), "{text}");
}

#[test]
fn what_is_not_there_is_named() {
    let folder = project(TONE, REPLY);
    let text = refuses(folder.path(), &["steps", "depth"]);
    assert!(text.contains("no `g_eval/depth`") && text.contains("those that it has: g_eval/tone"), "{text}");
    let none = project("  recall@5:\n", REPLY);
    let ended = run(none.path(), &["steps"]);
    assert_eq!(ended.code, Some(0));
    assert!(ended.err.contains("nothing to write"), "{}", ended.err);
    assert!(refuses(super::folder().path(), &["steps"]).contains("thresholds.yaml"));
}

/// Runs it where `RAGEVAL_JUDGE_MODE` says this.
fn run_in_mode(folder: &Path, mode: &str) -> Ended {
    program(folder, &["steps"]).env("RAGEVAL_JUDGE_MODE", mode).output().expect("the program starts").into()
}

#[test]
fn replay_asks_nothing_and_so_refuses() {
    let folder = project(TONE, REPLY);
    let ended = run_in_mode(folder.path(), "replay");
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    assert!(ended.err.starts_with("error: RAGEVAL_JUDGE_MODE=replay asks nothing"), "{}", ended.err);
    assert_eq!(run_in_mode(folder.path(), "reply").code, Some(2));
    assert!(!folder.path().join("g_eval").exists());

    let judge = "{provider: openai, base_url: \"http://127.0.0.1:9/v1\", model: m, mode: replay}";
    write(folder.path(), "thresholds.yaml", &format!("version: 1\njudge: {judge}\nmetrics:\n{TONE}"));
    let text = refuses(folder.path(), &["steps"]);
    assert!(text.contains("thresholds.yaml:2") && text.contains("`mode: replay` asks nothing"), "{text}");
    // The policy only replays, so it needs no budget; asked to ask after all it does.
    let ended = run_in_mode(folder.path(), "cached");
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    assert!(ended.err.contains("no `budget` says how much may be spent"), "{}", ended.err);
}

#[cfg(unix)]
#[test]
fn what_is_asked_counts_against_the_budget_and_is_told() {
    let folder = folder();
    let script = "cat > /dev/null\necho asked >> asked\necho '{\"value\": {\"steps\": [\"Read it.\"]}}'\n";
    write(folder.path(), "judge.sh", script);
    let judge = "{provider: command, run: [sh, judge.sh], per: case, model: m}";
    let policy = format!(
        "version: 1\njudge: {judge}\nbudget: {{requests: 1}}\nmetrics:\n{TONE}  g_eval/depth: {{criteria: x}}\n"
    );
    write(folder.path(), "thresholds.yaml", &policy);
    let text = ends(folder.path(), &["steps"], 3);
    assert!(
        text.contains("no steps were written: budget used up: g_eval.steps: not asked: `budget.requests` is 1"),
        "{text}"
    );
    assert!(text.contains("thresholds.yaml:3"), "{text}");
    assert!(text.contains("spent: 1 request of 1, "), "{text}");
    let asked = std::fs::read_to_string(folder.path().join("asked")).expect("it was asked");
    assert_eq!(asked, "asked\n");
    assert_eq!(std::fs::read_dir(folder.path().join("g_eval")).expect("a folder").count(), 1);
    // The next command is a run of its own and writes the one that is left.
    assert!(ends(folder.path(), &["steps"], 0).contains("spent: 1 request of 1, "));
    assert_eq!(std::fs::read_dir(folder.path().join("g_eval")).expect("a folder").count(), 2);
}

#[test]
fn a_problem_of_the_policy_is_called_an_error_once() {
    let folder = project("  nonsense: 1\n", REPLY);
    let text = refuses(folder.path(), &["steps"]);
    assert!(text.starts_with("error: ") && !text.starts_with("error: error: "), "{text}");
}
