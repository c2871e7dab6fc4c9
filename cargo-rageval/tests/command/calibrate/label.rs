//! `cargo rageval calibrate label`, by lines.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::Stdio,
};

use rageval_runner::{
    load,
    metric::METRICS,
    model::{
        Answer, Claim, Detail, Evidence, MetricKey, Outcome, Record, Reduced, Reduction, RetrievedContext, Sample,
        Taken, Transcript, UnitInterval, Verdict,
        run::{Manifest, Run},
    },
};
use serde_json::Value;

use super::{super::program, Ended, ends, folder, refuses, write};

/// Claims of an answer with what the judge said of each.
type Claims<'a> = &'a [(&'a str, Verdict)];

/// A project with a run of two cases.
fn project(first: Claims<'_>, second: Claims<'_>) -> tempfile::TempDir {
    let folder = folder();
    let policy = "version: 1\njudge: {provider: offline}\nmetrics:\n  faithfulness: {min: 0.5}\n";
    write(folder.path(), "thresholds.yaml", policy);
    std::fs::create_dir_all(folder.path().join("cases")).expect("made");
    let cases = "golden_set: g\nversion: \"1.2.0\"\ncases:\n- {id: a, query: \"What of \\e[2JA?\", language: en}\n- {id: b, query: 要多少钱？, language: zh}\n";
    write(folder.path(), "cases/all.yaml", cases);
    write_run(folder.path(), &[first, second]);
    folder
}

fn write_run(folder: &Path, answers: &[Claims<'_>]) {
    let policy = load::policy(&folder.join("thresholds.yaml"), METRICS).unwrap_or_else(|error| panic!("{error}"));
    let set = load::cases(&policy, METRICS).unwrap_or_else(|error| panic!("{error}"));
    let records = set.cases.iter().zip(answers).map(|(case, claims)| {
        let good = claims.iter().filter(|(_, verdict)| *verdict == Verdict::Supported).count();
        let claim = |(text, verdict): &(&str, Verdict)| Claim {
            text: (*text).to_owned(),
            verdict: *verdict,
            evidence: Some(Evidence { id: None, text: "JUDGE-QUOTED".into() }),
            reason: Some("JUDGE-SAID".into()),
        };
        let detail = Detail { claims: claims.iter().map(claim).collect(), ..Detail::default() };
        let score = UnitInterval::share(good, claims.len()).expect("a share");
        let hostile = "Evidence\u{1b}]0;title\u{7} of \u{202e}rtl\u{202c}.\n::error::x";
        let answer = Answer::new("An answer.").with_contexts([RetrievedContext::new("d", hostile)]);
        Record::new(
            case.id.clone(),
            case.digest(),
            Taken::Sample(Sample { answer, is_refusal: false, latency_ms: None }),
            [(MetricKey::parse("faithfulness").expect("a key"), Outcome::scored_with(score, detail))].into(),
            Transcript::default(),
        )
    });
    let manifest = Manifest { run_id: "r".into(), ..Manifest::default() };
    let run = Run {
        format: "rageval-run".into(),
        version: 2,
        manifest,
        records: records.collect(),
        decisions: Vec::new(),
        ..Run::default()
    };
    write(folder, "run.json", &serde_json::to_string(&run).expect("JSON"));
}

const FIRST: Claims<'_> =
    &[("A costs 5.", Verdict::Supported), ("A \u{1b}[31mships\u{202e} free.", Verdict::Contradicted)];
const SECOND: Claims<'_> = &[("要五元。", Verdict::Supported)];

/// Labels as this person, who types these lines.
fn label(folder: &Path, annotator: &str, typed: &str, more: &[&str]) -> Ended {
    let arguments = [&["calibrate", "label", "--run", "run.json", "--annotator", annotator], more].concat();
    let mut command = program(folder, &arguments);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // One that refuses reads nothing.
    let _ = child.stdin.take().expect("a pipe").write_all(typed.as_bytes());
    child.wait_with_output().expect("it ends").into()
}

fn rows(folder: &Path, annotator: &str) -> Vec<Value> {
    let path = folder.join(format!("cases/calibration/{annotator}.jsonl"));
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn verdicts(folder: &Path, annotator: &str) -> Vec<String> {
    rows(folder, annotator).iter().map(|row| row["verdict"].as_str().expect("a verdict").to_owned()).collect()
}

#[test]
fn one_key_is_one_label_and_what_is_labelled_is_not_asked_again() {
    let folder = project(FIRST, SECOND);
    let ended = label(folder.path(), "ana", "s\nu\nq\n", &[]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!(verdicts(folder.path(), "ana"), ["supported", "unsupported"]);
    let again = label(folder.path(), "ana", "c\n", &[]);
    assert!(again.out.contains("3 claims, 2 of them labelled before"), "{}", again.out);
    assert_eq!(verdicts(folder.path(), "ana"), ["supported", "unsupported", "contradicted"]);
    let done = label(folder.path(), "ana", "s\n", &[]);
    assert!(done.out.starts_with("ana labelled 3 items of faithfulness in all; this draw has 3"), "{}", done.out);
    assert_eq!(rows(folder.path(), "ana").len(), 3);
}

#[test]
fn a_label_has_the_texts_of_its_item_and_its_weight() {
    let folder = project(FIRST, SECOND);
    label(folder.path(), "ana", "s\ns\n", &["--items", "2"]);
    let rows = rows(folder.path(), "ana");
    assert_eq!(rows.len(), 2);
    let total: f64 = rows.iter().map(|row| row["weight"].as_f64().unwrap_or(1.0)).sum();
    assert!(total > 1.9, "{rows:?}");
    assert!(rows.iter().all(|row| row["golden_set_version"] == "1.2.0" && row["metric"] == "faithfulness"));
    assert!(
        rows.iter()
            .all(|row| row["retrieved_contexts"][0]["text"].as_str().is_some_and(|text| text.contains("\u{202e}")))
    );
}

#[test]
fn the_last_label_can_be_taken_back() {
    let folder = project(FIRST, SECOND);
    let ended = label(folder.path(), "ana", "s\nu\nz\nundo\nc\n", &[]);
    assert!(ended.out.contains("the last label was taken back"), "{}", ended.out);
    assert_eq!(verdicts(folder.path(), "ana"), ["contradicted"]);
    let ended = label(folder.path(), "ben", "z\nk\nz\ns\nq\n", &[]);
    assert!(ended.out.contains("nothing to take back") && ended.out.contains("back to the one that was skipped"));
    assert_eq!(verdicts(folder.path(), "ben"), ["supported"]);
}

#[test]
fn notes_are_kept_and_other_words_are_no_keys() {
    let folder = project(FIRST, SECOND);
    let ended = label(folder.path(), "ana", "yes\n5\nn\nhard to say\ni\nn a second one\nSupported\nk\n", &[]);
    assert!(ended.out.contains("`yes` is no key here") && ended.out.contains("`5` is no key here"), "{}", ended.out);
    let notes: Vec<Value> = rows(folder.path(), "ana").iter().map(|row| row["note"].clone()).collect();
    assert_eq!(notes, ["hard to say", "a second one"]);
    assert_eq!(verdicts(folder.path(), "ana"), ["inferred", "supported"]);
}

#[test]
fn a_second_person_labels_the_same_and_sees_how_far_both_agree() {
    let folder = project(FIRST, SECOND);
    let alone = label(folder.path(), "ana", "s\nu\ns\n", &[]);
    assert!(alone.out.contains("nobody else labelled these items yet"), "{}", alone.out);
    let ended = label(folder.path(), "ben", "s\nu\nu\n", &[]);
    assert!(ended.out.contains("with ana: the same verdict on 2 of 3 items, kappa 0.40"), "{}", ended.out);
    assert!(rows(folder.path(), "ben").iter().all(|row| row["item"].is_string() && row["query"].is_null()));
    let text = ends(folder.path(), &["calibrate", "--dry-run"], 1);
    assert!(text.contains("ana 3, ben 3") && text.contains("3 labelled"), "{text}");
}

#[test]
fn an_item_keeps_the_weight_with_which_it_was_first_labelled() {
    let folder = project(FIRST, SECOND);
    label(folder.path(), "ana", "s\n", &["--items", "1"]);
    let ended = label(folder.path(), "ben", "s\ns\ns\n", &[]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(ended.out.contains("ben labelled 3 items") && ended.out.contains("on 1 of 1 item,"), "{}", ended.out);
}

#[test]
fn a_hostile_text_is_inert_and_the_judge_is_not_shown() {
    let folder = project(FIRST, SECOND);
    let ended = label(folder.path(), "ana", "k\nk\nk\n", &[]);
    assert!(!ended.out.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{:?}", ended.out);
    assert!(ended.out.contains("A ships<U+202E> free.") && ended.out.contains("要五元。"), "{}", ended.out);
    assert!(ended.out.contains("<U+202E>rtl") && !ended.out.lines().any(|line| line.starts_with("::error")));
    assert!(!ended.out.contains("JUDGE-"), "{}", ended.out);
    assert_eq!(rows(folder.path(), "ana").len(), 0);
}

#[test]
fn whole_answers_have_scores() {
    let folder = project(FIRST, SECOND);
    let run = std::fs::read_to_string(folder.path().join("run.json")).expect("read");
    write(folder.path(), "run.json", &run.replace("\"faithfulness\"", "\"answer_relevancy\""));
    let ended = label(folder.path(), "ana", "s\n1\n4\n", &["--metric", "answer_relevancy"]);
    assert!(ended.out.contains("2 answers") && ended.out.contains("`s` is no key here"), "{}", ended.out);
    let scores: Vec<f64> = rows(folder.path(), "ana").iter().filter_map(|row| row["score"].as_f64()).collect();
    assert_eq!(scores, [0.0, 0.75]);
}

#[test]
fn one_that_is_killed_has_lost_nothing() {
    let folder = project(FIRST, SECOND);
    let arguments = ["calibrate", "label", "--run", "run.json", "--annotator", "ana"];
    let mut command = program(folder.path(), &arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts");
    child.stdin.as_mut().expect("a pipe").write_all(b"c\n").expect("written");
    let out = BufReader::new(child.stdout.take().expect("a pipe"));
    let is_next = |line: &std::io::Result<String>| line.as_ref().is_ok_and(|line| line.contains("---- 2 of 3 ----"));
    assert!(out.lines().any(|line| is_next(&line)));
    child.kill().expect("killed");
    child.wait().expect("ended");
    assert_eq!(verdicts(folder.path(), "ana"), ["contradicted"]);
}

#[test]
fn what_cannot_be_labelled_is_refused() {
    let folder = project(FIRST, SECOND);
    let at = |more: &[&str]| {
        let arguments = [&["calibrate", "label", "--annotator", "ana", "--run", "run.json"], more].concat();
        refuses(folder.path(), &arguments)
    };
    assert!(
        at(&["--metric", "context_recall"])
            .contains("holds nothing of context_recall to label; it measured faithfulness")
    );
    assert!(at(&["--metric", "token_f1"]).contains("it asks no judge"));
    assert!(at(&["--items", "0"]).contains("at least 1"));
    assert!(at(&["--to", "labels.csv"]).contains("name it .jsonl"));
    assert!(refuses(folder.path(), &["calibrate", "label"]).contains("--annotator"));
    assert!(
        refuses(folder.path(), &["calibrate", "label", "--annotator", "a\u{202e}b"]).contains("control characters")
    );
    let text = refuses(folder.path(), &["calibrate", "label", "--annotator", "ana"]);
    assert!(text.contains("no run yet"), "{text}");
}

#[test]
fn a_case_that_changed_since_the_run_is_left_out_and_counted() {
    let folder = project(FIRST, SECOND);
    let cases = std::fs::read_to_string(folder.path().join("cases/all.yaml")).expect("read");
    write(folder.path(), "cases/all.yaml", &cases.replace("要多少钱？", "现在要多少钱？"));
    let ended = label(folder.path(), "ana", "q\n", &[]);
    assert!(
        ended.err.contains("left out: 1 case changed or gone since the run") && ended.out.contains("2 claims"),
        "{}",
        ended.err
    );
}

#[test]
fn labels_of_another_version_are_refused_before_the_first_item() {
    let folder = project(FIRST, SECOND);
    label(folder.path(), "ana", "s\nq\n", &[]);
    let cases = std::fs::read_to_string(folder.path().join("cases/all.yaml")).expect("read");
    write(folder.path(), "cases/all.yaml", &cases.replace("1.2.0", "1.3.0"));
    let ended = label(folder.path(), "ben", "s\ns\n", &[]);
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    let why = "the labels were drawn from version 1.2.0 of the golden set, which is at 1.3.0\n  look whether they still fit, state its version in them";
    assert!(ended.err.contains(why), "{}", ended.err);
    assert_eq!(rows(folder.path(), "ben").len(), 0);
}

#[test]
fn labels_outside_the_folder_are_counted_where_they_are() {
    let folder = project(FIRST, SECOND);
    let ended = label(folder.path(), "ana", "s\nu\nq\n", &["--to", "elsewhere.jsonl"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let line = "wrote 2 labels of faithfulness to elsewhere.jsonl; `calibrate` reads only cases/calibration, so move the file there";
    assert!(ended.out.contains(line) && !ended.out.contains("labelled 0 items"), "{}", ended.out);
    let inside = label(folder.path(), "ana", "s\nq\n", &["--to", "cases/calibration/a.jsonl"]);
    assert!(inside.out.contains("ana labelled 1 items"), "{}", inside.out);
}

#[test]
fn an_answer_that_is_labelled_under_another_id_is_not_drawn() {
    let folder = project(FIRST, SECOND);
    label(folder.path(), "ana", "s\ns\ns\n", &[]);
    let path = folder.path().join("cases/calibration/ana.jsonl");
    let text = std::fs::read_to_string(&path).expect("read");
    std::fs::write(&path, text.replacen("\"id\":\"", "\"id\":\"x", 1)).expect("written");
    let ended = label(folder.path(), "ben", "s\ns\ns\n", &[]);
    assert!(ended.err.contains("left out: 1 whose texts stand under another id"), "{}", ended.err);
    assert_eq!((ended.code, rows(folder.path(), "ben").len()), (Some(0), 2));
}

#[test]
fn repeated_cases_are_left_out_by_that_name() {
    let folder = project(FIRST, SECOND);
    let path = folder.path().join("run.json");
    let mut run: Run = serde_json::from_str(&std::fs::read_to_string(&path).expect("a run")).expect("a run");
    let reduced = Reduced { by: Reduction::Mean, times: 2, scored: 2, min: None };
    let detail = Detail { reduced: Some(reduced), ..Detail::default() };
    let outcome = Outcome::scored_with(UnitInterval::ONE, detail);
    run.records[0].outcomes = [(MetricKey::parse("faithfulness").expect("a key"), outcome)].into();
    write(folder.path(), "run.json", &serde_json::to_string(&run).expect("JSON"));
    let ended = label(folder.path(), "ana", "q\n", &[]);
    let why = "left out: 1 case asked several times, whose score of faithfulness is of several answers";
    assert!(ended.err.contains(why) && !ended.err.contains("without a score"), "{}", ended.err);
    let none = Outcome::not_applicable("declined");
    run.records[0].outcomes = [(MetricKey::parse("faithfulness").expect("a key"), none)].into();
    write(folder.path(), "run.json", &serde_json::to_string(&run).expect("JSON"));
    let ended = label(folder.path(), "ana", "q\n", &[]);
    assert!(ended.err.contains("left out: 1 case without a score") && !ended.err.contains("asked"), "{}", ended.err);
}
