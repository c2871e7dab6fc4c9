//! `cargo rageval baseline rejudge`, and the readings of `baseline accept`.

use rageval_runner::model::Verdict;

use super::{
    ends, folder,
    loopback::{Loopback, STATEMENTS, baseline, cases, policy, project, repeat, run_file},
    passes, run, write,
};

const BUDGET: &str = "budget: {requests: 100}";
const THEN: &str = "judge-2026-01-01";
const NOW: &str = "judge-2026-06-01";

/// A project whose baseline was made with the judge of then, in which one of Gamma's statements is bad.
fn with_baseline(judge: &Loopback) -> tempfile::TempDir {
    let folder = folder();
    project(folder.path(), &judge.judge(THEN), BUDGET);
    run_file(folder.path(), "run.json", &["Gamma is big."], &[]);
    ends(folder.path(), &["baseline", "accept", "run.json", "--no-reread"], 0);
    folder
}

/// The judge of now finds two other statements bad.
fn stricter(statement: &str, _: usize) -> Option<&'static str> {
    Some(if ["Alpha is big.", "Beta is big."].contains(&statement) { "contradicted" } else { "supported" })
}

#[test]
fn the_drift_is_told_and_nothing_is_written() {
    let judge = Loopback::start(STATEMENTS);
    let folder = with_baseline(&judge);
    let file = folder.path().join("baselines/main.json");
    let before = std::fs::read(&file).expect("a baseline");
    judge.thinks(stricter);
    policy(folder.path(), &judge.judge(NOW), BUDGET);
    let ended = run(folder.path(), &["baseline", "rejudge"]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.err);
    for part in [
        "baselines/main.json: 3 answers judged again\n  then  openai judge-2026-01-01 (",
        "\n  now   openai judge-2026-06-01 (",
        "\nfaithfulness  3 answers scored by both\n  mean     0.833 -> 0.667, shift -0.167 [",
        "\n  ranks    correlation -1.00\n",
        "\n  flipped  3 of 6 verdicts, 0.500 [0.19, 0.81]: 2 to bad, 1 to good\n",
        "\n  read     alpha  1.00 -> 0.50\n           supported -> contradicted  \"Alpha is big.\"\n",
        "\n           gamma  0.50 -> 1.00\n           unsupported -> supported  \"Gamma is big.\"\n",
        "nothing was written; to compare later runs with these scores: cargo rageval baseline rejudge --accept",
    ] {
        assert!(ended.out.contains(part), "{part}\nis not in\n{}", ended.out);
    }
    assert_eq!(std::fs::read(&file).expect("still there"), before);
    assert_eq!(judge.asked(), (3, vec!["faithfulness-verdicts".to_owned()]));
    // The second time all is stored, so that it needs no judge.
    let again = run(folder.path(), &["baseline", "rejudge"]);
    assert_eq!((again.out, judge.asked().0), (ended.out, 0));
}

#[test]
fn once_accepted_the_drops_are_decided_again() {
    let judge = Loopback::start(STATEMENTS);
    let folder = with_baseline(&judge);
    judge.thinks(stricter);
    policy(folder.path(), &judge.judge(NOW), BUDGET);
    run_file(folder.path(), "now.json", &["Alpha is big.", "Beta is big."], &[]);
    let text = ends(folder.path(), &["gate", "now.json"], 3);
    assert!(text.contains("another judge than the baseline's"), "{text}");
    assert!(text.contains("accept      cargo rageval baseline rejudge, then the same with --accept"), "{text}");

    let text = ends(folder.path(), &["baseline", "rejudge", "--accept"], 2);
    assert!(text.contains("2 scores of baselines/main.json would be lowered; say why with --reason"), "{text}");
    let text = ends(folder.path(), &["baseline", "rejudge", "--accept", "--reason", "the old one is gone"], 0);
    assert!(
        text.contains("baselines/main.json: 3 cases accepted, as this judge scores them\n2 scores lowered"),
        "{text}"
    );
    let (manifest, score) = baseline(folder.path());
    assert_eq!((manifest["judge"]["model"].as_str(), manifest["readings"].as_u64(), score), (Some(NOW), Some(3), 0.5));
    assert_eq!(manifest["reasons"][0]["reason"], "the old one is gone");
    assert!(ends(folder.path(), &["gate", "now.json"], 0).contains("3 cases: 3 passed"));
}

#[test]
fn what_cannot_be_judged_keeps_all_of_it_from_being_accepted() {
    let judge = Loopback::start(STATEMENTS);
    let folder = with_baseline(&judge);
    let before = baseline(folder.path());
    judge.thinks(|statement, _| if statement.starts_with("Beta") { None } else { Some("supported") });
    policy(folder.path(), &judge.judge(NOW), BUDGET);
    let text = ends(folder.path(), &["baseline", "rejudge", "--accept", "--reason", "r"], 3);
    assert!(text.contains("not judged: 1 score\n  beta  faithfulness: "), "{text}");
    assert!(text.contains("nothing was written, and nothing can be accepted before all is judged"), "{text}");
    assert_eq!(baseline(folder.path()), before);
    // The budget ends it in the same way.
    policy(folder.path(), &judge.judge("judge-2026-07-01"), "budget: {requests: 1}");
    let text = ends(folder.path(), &["baseline", "rejudge"], 3);
    assert!(text.contains("not judged: 2 scores") && text.contains("`budget.requests` is 1"), "{text}");
}

#[test]
fn cases_that_changed_or_vanished_are_named_and_left_out() {
    let judge = Loopback::start(STATEMENTS);
    let folder = with_baseline(&judge);
    policy(folder.path(), &judge.judge(NOW), BUDGET);
    cases(folder.path(), &["alpha", "gamma", "delta"], "What of");
    let text = ends(folder.path(), &["baseline", "rejudge"], 0);
    assert!(text.contains("left out: 1 case of the baseline vanished since: beta\n"), "{text}");
    assert!(text.contains("left out: 1 case of the set not in the baseline: delta\n"), "{text}");
    assert!(text.contains("2 answers scored by both"), "{text}");
    cases(folder.path(), &["alpha", "beta", "gamma"], "Tell me of");
    let text = ends(folder.path(), &["baseline", "rejudge"], 2);
    assert!(text.contains("it holds no judged answer of a case that stands here"), "{text}");
}

#[test]
fn claims_of_then_are_judged_again_where_the_judge_finds_others() {
    let judge = Loopback::start(STATEMENTS);
    let folder = folder();
    project(folder.path(), &judge.judge(THEN), BUDGET);
    run_file(folder.path(), "run.json", &["Gamma is big."], &[]);
    // What the judge of then called claims are other texts than the judge of now finds.
    let text = std::fs::read_to_string(folder.path().join("run.json")).expect("a run");
    write(folder.path(), "run.json", &text.replace("\"text\":\"Alpha is big.\"", "\"text\":\"Beta is big.\""));
    ends(folder.path(), &["baseline", "accept", "run.json", "--no-reread"], 0);
    judge.thinks(stricter);
    policy(folder.path(), &judge.judge(NOW), BUDGET);
    let text = ends(folder.path(), &["baseline", "rejudge"], 0);
    assert!(text.contains("asking `openai` about the claims of then where it finds others: 1 answer"), "{text}");
    assert_eq!(judge.asked(), (4, vec!["faithfulness-confirm".to_owned(), "faithfulness-verdicts".to_owned()]));
    assert!(text.contains("supported -> contradicted  \"Beta is big.\""), "{text}");
}

#[test]
fn a_judge_that_is_not_believed_changes_no_baseline_unless_that_is_waived() {
    let judge = Loopback::start(STATEMENTS);
    let folder = with_baseline(&judge);
    policy(folder.path(), &judge.judge("claude-opus-4-8"), BUDGET);
    let text = ends(folder.path(), &["baseline", "rejudge", "--accept"], 1);
    assert!(text.contains("are of one family, anthropic"), "{text}");
    assert_eq!(judge.asked().0, 0);
    run_file(folder.path(), "now.json", &[], &[]);
    let text = ends(folder.path(), &["baseline", "accept", "now.json", "--no-reread"], 1);
    assert!(text.contains("its judge can't be believed, so it can't become a baseline:"), "{text}");
    let waived = std::fs::read_to_string(folder.path().join("thresholds.yaml")).expect("a policy");
    let waived = waived.replace("waive: {", "waive: {family: {reason: as agreed, until: 2999-12-31}, ");
    write(folder.path(), "thresholds.yaml", &waived);
    ends(folder.path(), &["baseline", "accept", "now.json", "--no-reread"], 0);
    let text = ends(folder.path(), &["baseline", "rejudge", "--accept"], 0);
    assert!(text.contains("accepted, as this judge scores them"), "{text}");
}

#[test]
fn accepting_reads_each_score_three_times_and_keeps_what_most_say() {
    let judge = Loopback::start(STATEMENTS);
    let folder = folder();
    project(folder.path(), &judge.judge(THEN), BUDGET);
    // The run was unlucky with Alpha and lucky with Gamma.
    run_file(folder.path(), "run.json", &["Alpha is big."], &[]);
    judge.thinks(|statement, _| Some(if statement == "Gamma is big." { "unsupported" } else { "supported" }));
    let text = ends(folder.path(), &["baseline", "accept", "run.json"], 0);
    assert!(text.contains("reading 3 judged scores until each was read 3 times: about 6 requests"), "{text}");
    assert!(text.contains("3 judged scores read 3 times, 2 other than read first\n"), "{text}");
    assert_eq!(judge.asked(), (6, vec!["faithfulness-confirm".to_owned()]));
    let (manifest, score) = baseline(folder.path());
    assert_eq!((manifest["readings"].as_u64(), score), (Some(3), 1.0));
    assert!(ends(folder.path(), &["gate", "run.json"], 1).contains("case::all::alpha"));
    // What was read is stored.
    ends(folder.path(), &["baseline", "accept", "run.json"], 0);
    assert_eq!(judge.asked().0, 0);
}

#[test]
fn readings_that_the_run_has_are_taken_before_any_is_asked_for() {
    let judge = Loopback::start(STATEMENTS);
    let folder = folder();
    project(folder.path(), &judge.judge(THEN), BUDGET);
    run_file(folder.path(), "run.json", &["Alpha is big."], &[Verdict::Supported, Verdict::Supported]);
    ends(folder.path(), &["baseline", "accept", "run.json"], 0);
    assert_eq!(judge.asked().0, 4);
    assert_eq!(baseline(folder.path()).1, 1.0);
}

#[test]
fn a_baseline_that_was_read_once_says_so_and_each_run_with_it_too() {
    let judge = Loopback::start(STATEMENTS);
    let folder = folder();
    project(folder.path(), &judge.judge(THEN), BUDGET);
    run_file(folder.path(), "run.json", &[], &[]);
    let notice = "`max_drop` of faithfulness compares with scores that were read once";
    let text = ends(folder.path(), &["baseline", "accept", "run.json", "--no-reread"], 0);
    assert!(text.contains("each judged score was read once: `--no-reread`"), "{text}");
    assert_eq!(baseline(folder.path()).0["readings"].as_u64(), Some(1));
    assert!(ends(folder.path(), &["gate", "run.json"], 0).contains(notice));
    ends(folder.path(), &["baseline", "accept", "run.json"], 0);
    assert!(!ends(folder.path(), &["gate", "run.json"], 0).contains(notice));
    // Where nothing may be asked it is the same, with the reason.
    let replay = judge.judge(THEN).replace('}', ", mode: replay}");
    policy(folder.path(), &replay, BUDGET);
    run_file(folder.path(), "run.json", &[], &[]);
    let text = ends(folder.path(), &["baseline", "accept", "run.json"], 0);
    assert!(text.contains("each judged score was read once: thresholds.yaml:3: `mode: replay` asks nothing"), "{text}");
    policy(folder.path(), &judge.judge(NOW), BUDGET);
    let text = ends(folder.path(), &["baseline", "accept", "run.json"], 0);
    assert!(text.contains("now names another judge than the run's"), "{text}");
}

#[test]
fn a_score_that_cannot_be_read_again_leaves_the_baseline_as_it_is() {
    let judge = Loopback::start(STATEMENTS);
    let folder = folder();
    project(folder.path(), &judge.judge(THEN), "budget: {requests: 5}");
    run_file(folder.path(), "run.json", &[], &[]);
    let text = ends(folder.path(), &["baseline", "accept", "run.json"], 3);
    assert!(text.contains("could not be read 3 times:") && text.contains("`budget.requests` is 5"), "{text}");
    assert!(!folder.path().join("baselines").exists());
    passes_quietly(folder.path());
}

/// A judge that is code is not asked again.
fn passes_quietly(folder: &std::path::Path) {
    policy(folder, "{provider: offline}", "");
    run_file(folder, "offline.json", &[], &[]);
    passes(folder, &["baseline", "accept", "offline.json"]);
    assert_eq!(baseline(folder).0["readings"], serde_json::Value::Null);
}

#[test]
fn accepting_leaves_repeated_cases_as_the_run_has_them() {
    let judge = Loopback::start(STATEMENTS);
    let folder = folder();
    project(folder.path(), &judge.judge(THEN), BUDGET);
    run_file(folder.path(), "run.json", &[], &[]);
    repeat(folder.path(), "run.json", &["alpha", "beta"]);
    let text = ends(folder.path(), &["baseline", "accept", "run.json"], 0);
    assert!(text.contains("not read again: 2 cases asked several times"), "{text}");
    assert!(text.contains("1 judged score read 3 times"), "{text}");
    assert_eq!(judge.asked().0, 2);
    let (manifest, score) = baseline(folder.path());
    assert_eq!((manifest["readings"].as_u64(), score), (Some(3), 0.75));
    // Of repeated cases alone nothing is read.
    repeat(folder.path(), "run.json", &["alpha", "beta", "gamma"]);
    ends(folder.path(), &["baseline", "accept", "run.json", "--reason", "one more"], 0);
    assert_eq!((judge.asked().0, baseline(folder.path()).1), (0, 0.75));
}

#[test]
fn repeated_cases_are_not_judged_again_and_nothing_of_theirs_is_accepted() {
    let judge = Loopback::start(STATEMENTS);
    let folder = folder();
    project(folder.path(), &judge.judge(THEN), BUDGET);
    run_file(folder.path(), "run.json", &[], &[]);
    repeat(folder.path(), "run.json", &["alpha", "gamma"]);
    ends(folder.path(), &["baseline", "accept", "run.json", "--no-reread"], 0);
    let file = folder.path().join("baselines/main.json");
    let before = std::fs::read(&file).expect("a baseline");
    policy(folder.path(), &judge.judge(NOW), BUDGET);
    let text = ends(folder.path(), &["baseline", "rejudge"], 0);
    assert!(
        text.contains("left out: 2 cases asked several times, of which one answer is kept: alpha, gamma"),
        "{text}"
    );
    assert!(text.contains("faithfulness  1 answer scored by both"), "{text}");
    assert!(text.contains("nothing was written; run the gate with this judge, then: cargo rageval baseline"), "{text}");
    judge.asked();
    let refused = |names: &str| {
        let text = ends(folder.path(), &["baseline", "rejudge", "--accept", "--reason", "r", "--no-reread"], 2);
        assert!(text.contains(names) && text.contains("cargo rageval baseline accept"), "{text}");
        assert_eq!((std::fs::read(&file).expect("still there"), judge.asked().0), (before.clone(), 0));
    };
    refused("2 cases asked several times");
    // The same where the set asks often and the baseline was made of one answer each.
    policy(folder.path(), &judge.judge(NOW), &format!("{BUDGET}\nrepeats: {{times: 3, reduce: worst}}"));
    refused("3 cases asked several times");
    let text = ends(folder.path(), &["baseline", "rejudge"], 2);
    assert!(text.contains("it holds no judged answer of a case that stands here and is asked once"), "{text}");
}
