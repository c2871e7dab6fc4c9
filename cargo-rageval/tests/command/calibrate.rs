//! `cargo rageval calibrate`.

mod compare;
mod label;

use std::{fmt::Write as _, path::Path};

use rageval_runner::{
    evaluate::stamp,
    judge, load,
    metric::METRICS,
    model::{
        Answer, CaseId, Claim, Detail, MetricKey, Outcome, Record, Sample, Taken, Transcript, UnitInterval, Verdict,
        run::{Manifest, Run},
    },
};
use serde_json::{Value, json};

use super::{Ended, ends, folder, passes, refuses, run, write};

const FILE: &str = "baselines/calibration.json";

/// What the judge of a project says of the item of this number.
type Says = fn(usize) -> &'static str;

fn right(number: usize) -> &'static str {
    if number.is_multiple_of(2) { "supported" } else { "unsupported" }
}

/// A label of one claim: every other one is supported.
fn row(number: usize) -> Value {
    json!({
        "id": format!("i{number}"), "metric": "faithfulness", "annotator": "ana", "verdict": right(number),
        "query": format!("What of {number}?"), "response": format!("Claim {number}."),
        "claim": format!("Claim {number}."), "retrieved_contexts": [format!("Text {number}.")],
    })
}

fn labels(count: usize) -> String {
    (0..count).map(|number| format!("{}\n", row(number))).collect()
}

fn replies(count: usize, says: Says) -> String {
    let mut text = String::new();
    for number in 0..count {
        let value = json!({"claims": [{"n": 1, "verdict": says(number)}]});
        let reply = json!({"request": "faithfulness.confirm", "case": format!("i{number}"), "value": value});
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{reply}");
    }
    text
}

/// A project with so many labels, whose scripted judge says this.
fn project(count: usize, says: Says) -> tempfile::TempDir {
    let folder = folder();
    let policy =
        "version: 1\njudge: {provider: scripted, replies: replies.jsonl}\nmetrics:\n  faithfulness: {min: 0.5}\n";
    write(folder.path(), "thresholds.yaml", policy);
    std::fs::create_dir_all(folder.path().join("cases/calibration")).expect("made");
    write(folder.path(), "cases/all.yaml", "- {id: a, query: What does A cost?}\n");
    write(folder.path(), "cases/calibration/ana.jsonl", &labels(count));
    write(folder.path(), "replies.jsonl", &replies(count, says));
    folder
}

fn stored(folder: &Path) -> Option<String> {
    std::fs::read_to_string(folder.join(FILE)).ok()
}

#[test]
fn a_judge_that_agrees_with_people_passes_and_is_written_down() {
    let folder = project(60, right);
    let text = ends(folder.path(), &["calibrate"], 0);
    assert!(text.contains("calibration faithfulness, judged by scripted") && text.contains("rho 1.000"), "{text}");
    assert!(text.contains("wrote baselines/calibration.json"), "{text}");
    let first = stored(folder.path()).expect("written");
    ends(folder.path(), &["calibrate"], 0);
    assert_eq!(stored(folder.path()), Some(first));
    assert!(passes(folder.path(), &["calibrate", "--check"]).contains("passed"));
}

#[test]
fn a_judge_that_always_says_yes_fails_and_is_written_down_as_it_is() {
    let folder = project(60, |_| "supported");
    let text = ends(folder.path(), &["calibrate"], 1);
    assert!(text.contains("the judge says the same of every item"), "{text}");
    assert!(stored(folder.path()).is_some());
    assert!(ends(folder.path(), &["calibrate", "--check"], 1).contains("the judge says the same of every item"));
}

#[test]
fn a_judge_that_is_right_seven_times_in_ten_fails() {
    let folder = project(60, |number| if number % 10 < 7 { right(number) } else { right(number + 1) });
    let text = ends(folder.path(), &["calibrate"], 1);
    assert!(text.contains("correlation with people is 0.4082, below 0.70") && text.contains("apart "), "{text}");
}

#[test]
fn an_item_without_a_score_is_named_and_nothing_is_written() {
    let folder = project(60, right);
    ends(folder.path(), &["calibrate"], 0);
    let before = stored(folder.path());
    let without = replies(60, right).lines().filter(|line| !line.contains("\"i7\"")).collect::<Vec<_>>().join("\n");
    write(folder.path(), "replies.jsonl", &without);
    let text = ends(folder.path(), &["calibrate"], 3);
    assert!(text.contains("unmeasured  i7: ") && text.contains("left as it was"), "{text}");
    assert_eq!(stored(folder.path()), before);
}

#[test]
fn a_judge_that_says_nothing_at_all_is_undecided_not_failed() {
    let folder = project(60, right);
    write(folder.path(), "replies.jsonl", &replies(1, right).replace("i0", "another"));
    let text = ends(folder.path(), &["calibrate"], 3);
    assert!(text.contains("60 of 60") && stored(folder.path()).is_none(), "{text}");
}

#[test]
fn a_claim_of_a_metric_that_has_no_verdict_on_one_is_unmeasured() {
    let folder = project(1, right);
    let row = row(0).to_string().replace("\"faithfulness\"", "\"answer_relevancy\"");
    write(folder.path(), "cases/calibration/ana.jsonl", &row);
    let text = ends(folder.path(), &["calibrate"], 3);
    assert!(text.contains("`answer_relevancy` has no verdict on a single claim"), "{text}");
}

#[test]
fn labels_that_changed_are_seen_without_asking() {
    let folder = project(60, right);
    ends(folder.path(), &["calibrate"], 0);
    write(folder.path(), "cases/calibration/ana.jsonl", &labels(59));
    let text = ends(folder.path(), &["calibrate", "--check"], 1);
    assert!(text.contains("the labels of faithfulness are others than at its calibration"), "{text}");
}

#[test]
fn a_dry_run_tells_and_writes_nothing() {
    let folder = project(60, right);
    let text = ends(folder.path(), &["calibrate", "--dry-run"], 0);
    assert!(text.contains("passed") && text.contains("as --dry-run asks"), "{text}");
    assert!(stored(folder.path()).is_none());
    assert!(ends(folder.path(), &["calibrate", "--check"], 1).contains("no calibration of faithfulness"));
}

#[test]
fn too_few_labels_fail_however_well_they_agree() {
    let folder = project(20, right);
    assert!(ends(folder.path(), &["calibrate"], 1).contains("20 labelled items count, and it takes 50"));
}

#[test]
fn without_labels_it_says_how_to_make_some() {
    let folder = project(1, right);
    std::fs::remove_file(folder.path().join("cases/calibration/ana.jsonl")).expect("removed");
    let text = refuses(folder.path(), &["calibrate"]);
    assert!(
        text.contains("cases/calibration: there are no labels; make some: cargo rageval calibrate label"),
        "{text}"
    );
}

#[test]
fn a_metric_is_looked_at_alone_and_the_others_stay() {
    let folder = project(60, right);
    let mut all = labels(60);
    for number in 0..3 {
        let row = json!({
            "id": format!("w{number}"), "metric": "answer_correctness", "annotator": "ana", "score": 0.5,
            "query": format!("Q{number}?"), "response": "A.", "ground_truth_answer": "A.",
        });
        let _ = writeln!(all, "{row}");
    }
    write(folder.path(), "cases/calibration/ana.jsonl", &all);
    let text = refuses(folder.path(), &["calibrate", "--metric", "context_recall"]);
    assert!(text.contains("it has no labels; there are some of answer_correctness, faithfulness"), "{text}");
    ends(folder.path(), &["calibrate", "--metric", "faithfulness"], 0);
    let text = ends(folder.path(), &["calibrate", "--metric", "answer_correctness", "--dry-run"], 1);
    assert!(text.contains("answer_correctness") && !text.contains("calibration faithfulness"), "{text}");
    write(folder.path(), "thresholds.yaml", "version: 1\njudge: {provider: offline}\nmetrics:\n  faithfulness: {}\n");
    ends(folder.path(), &["calibrate", "--metric", "answer_correctness"], 1);
    let stored = stored(folder.path()).expect("written");
    assert!(stored.contains("\"i59\"") && stored.contains("\"w2\""), "{stored}");
}

/// A run of the project's judge, or of another one, with two good claims of three.
fn write_run(folder: &Path, change: impl FnOnce(&mut Manifest)) {
    let policy = load::policy(&folder.join("thresholds.yaml"), METRICS).unwrap_or_else(|error| panic!("{error}"));
    let judge = judge::open(&policy.judge, &|_| None).expect("a judge");
    let judge = stamp::of_scores(&policy, judge.as_ref(), None);
    let claim = |verdict| Claim { text: "a".into(), verdict, evidence: None, reason: None };
    let verdicts = [Verdict::Supported, Verdict::Unsupported, Verdict::Supported];
    let detail = Detail { claims: verdicts.map(claim).to_vec(), ..Detail::default() };
    let outcome = Outcome::scored_with(UnitInterval::share(2, 3).expect("a share"), detail);
    let record = Record::new(
        CaseId::new("a").expect("a valid id"),
        "d".into(),
        Taken::Sample(Sample { answer: Answer::new("x"), is_refusal: false, latency_ms: None }),
        [(MetricKey::parse("faithfulness").expect("a key"), outcome)].into(),
        Transcript::default(),
    );
    let mut manifest = Manifest { judge, ..Manifest::default() };
    change(&mut manifest);
    let run = Run {
        format: "rageval-run".into(),
        version: 2,
        manifest,
        records: vec![record],
        decisions: Vec::new(),
        ..Run::default()
    };
    write(folder, "run.json", &serde_json::to_string(&run).expect("JSON"));
}

#[test]
fn the_pass_rate_of_a_run_is_corrected_for_the_errors_of_its_own_judge() {
    let folder = project(60, |number| if number % 10 < 9 { right(number) } else { right(number + 1) });
    write_run(folder.path(), |_| ());
    let text = ends(folder.path(), &["calibrate", "--dry-run", "--run", "run.json"], 0);
    assert!(text.contains("pass rate   0.667") && text.contains("of 3 items of the run"), "{text}");
    assert!(text.contains("Rogan-Gladen"), "{text}");
    write_run(folder.path(), |manifest| manifest.judge.fingerprint = "another".into());
    let text = refuses(folder.path(), &["calibrate", "--run", "run.json"]);
    assert!(text.contains("another judge judged it"), "{text}");
    assert!(refuses(folder.path(), &["calibrate", "--run", "latest"]).contains("no run yet"));
}

#[test]
fn as_json_it_says_everything() {
    let folder = project(60, right);
    let ended = run(folder.path(), &["calibrate", "--format", "json"]);
    let value: Value = serde_json::from_str(&ended.out).expect("JSON");
    let metric = &value["metrics"][0];
    assert_eq!((&metric["metric"], &metric["passes"]), (&json!("faithfulness"), &json!(true)));
    assert_eq!(metric["report"]["items"]["counted"], 60);
    assert_eq!(metric["report"]["points"].as_array().map(Vec::len), Some(60));
}

#[test]
fn the_help_shows_what_to_type() {
    let folder = folder();
    let text = passes(folder.path(), &["calibrate", "--help"]);
    assert!(text.contains("cargo rageval calibrate --check") && text.contains("judge: {provider: openai"), "{text}");
    let text = passes(folder.path(), &["calibrate", "label", "--help"]);
    assert!(text.contains("s supported, i inferred, u unsupported, c contradicted"), "{text}");
}
