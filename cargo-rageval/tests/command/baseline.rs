//! `cargo rageval baseline accept`.

use std::path::Path;

use rageval_runner::model::{
    Answer, CaseId, MetricKey, Outcome, Record, RetrievedContext, Sample, Taken, Transcript, UnitInterval,
    run::{Manifest, Run, SetStamp},
};

use super::{folder, passes, refuses, write};

fn record(case: &str, scores: &[(&str, Option<f64>)]) -> Record {
    let outcome = |score: &Option<f64>| match score {
        Some(score) => Outcome::scored(UnitInterval::new(*score).expect("in range")),
        None => Outcome::unmeasured("judge time-out", "no reply in 60 s"),
    };
    let outcomes = scores.iter().map(|(key, score)| (MetricKey::parse(key).expect("a key"), outcome(score)));
    Record::new(
        CaseId::new(case).expect("a valid id"),
        "one".into(),
        Taken::Sample(Sample {
            answer: Answer::new("30 days.").with_contexts([RetrievedContext::new("d1", "Refunds take 30 days.")]),
            is_refusal: false,
            latency_ms: Some(12.5),
        }),
        outcomes.collect(),
        Transcript::default(),
    )
}

fn write_run(folder: &Path, name: &str, records: Vec<Record>, missing: &[&str]) {
    let missing = missing.iter().map(|id| CaseId::new(*id).expect("a valid id")).collect();
    let golden_set = SetStamp { cases: records.len(), ..SetStamp::default() };
    let manifest = Manifest { run_id: name.into(), missing, golden_set, ..Manifest::default() };
    let run =
        Run { format: "rageval-run".into(), version: 1, manifest, records, decisions: Vec::new(), ..Run::default() };
    write(folder, name, &serde_json::to_string(&run).expect("JSON"));
}

#[test]
fn the_first_run_becomes_the_baseline_and_again_is_no_change() {
    let folder = folder();
    write_run(
        folder.path(),
        "run.json",
        vec![record("a", &[("mrr", Some(1.0))]), record("b", &[("mrr", Some(0.5))])],
        &[],
    );
    let accept = ["baseline", "accept", "run.json"];
    assert_eq!(
        passes(folder.path(), &accept),
        "baselines/main.json: 2 cases accepted, from run run.json\nthe first baseline here\n"
    );
    let file = folder.path().join("baselines/main.json");
    let first = std::fs::read(&file).expect("written");
    assert!(folder.path().join("baselines/main.samples.jsonl").is_file());
    assert_eq!(
        passes(folder.path(), &accept),
        "baselines/main.json: 2 cases accepted, from run run.json\nno case and no score differs\n"
    );
    assert_eq!(std::fs::read(&file).expect("written"), first);
}

#[test]
fn a_run_folder_is_taken_too() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("1a2b")).expect("made");
    write_run(&folder.path().join("1a2b"), "run.json", vec![record("a", &[("mrr", Some(1.0))])], &[]);
    let text = passes(folder.path(), &["baseline", "accept", "1a2b", "--to", "other.json"]);
    assert_eq!(text, "other.json: 1 case accepted, from run run.json\nthe first baseline here\n");
    let text = passes(folder.path(), &["baseline", "accept", "--run", "1a2b", "--to", "other.json"]);
    assert!(text.ends_with("no case and no score differs\n"), "{text}");
    refuses(folder.path(), &["baseline", "accept", "1a2b", "--run", "1a2b", "--to", "other.json"]);
}

#[test]
fn a_lowered_score_needs_a_reason_which_is_stored() {
    let folder = folder();
    let before = vec![
        record("a", &[("mrr", Some(1.0)), ("recall@5", Some(0.5))]),
        record("b", &[("mrr", Some(0.5))]),
        record("c", &[("mrr", Some(0.8))]),
        record("gone", &[("mrr", Some(1.0))]),
    ];
    let mut changed = record("c", &[("mrr", Some(0.1))]);
    changed.digest = "two".into();
    let after = vec![
        record("a", &[("mrr", Some(0.9999)), ("recall@5", Some(1.0))]),
        record("b", &[("mrr", Some(0.25))]),
        changed,
        record("new", &[("mrr", Some(0.0))]),
    ];
    write_run(folder.path(), "before.json", before, &[]);
    write_run(folder.path(), "after.json", after, &[]);
    passes(folder.path(), &["baseline", "accept", "before.json"]);
    let file = folder.path().join("baselines/main.json");
    let first = std::fs::read(&file).expect("written");

    let text = refuses(folder.path(), &["baseline", "accept", "after.json"]);
    let expected = "error: 2 scores of baselines/main.json would be lowered; say why with --reason \"...\":\n  \
                    b  mrr  0.500 -> 0.250\n  a  mrr  1.0000 -> 0.9999\n";
    assert_eq!(text, expected);
    assert_eq!(std::fs::read(&file).expect("still there"), first);
    assert!(refuses(folder.path(), &["baseline", "accept", "after.json", "--reason", "  "]).contains("say why"));

    let text = passes(folder.path(), &["baseline", "accept", "after.json", "--reason", "a new corpus"]);
    let expected = "baselines/main.json: 4 cases accepted, from run after.json\n\
                    2 scores lowered, worst first:\n  b  mrr  0.500 -> 0.250\n  a  mrr  1.0000 -> 0.9999\n\
                    1 case vanished: gone\n\
                    1 case changed, scores not compared: c\n\
                    1 case new: new\n\
                    1 score raised:\n  a  recall@5  0.500 -> 1.000\n";
    assert_eq!(text, expected);
    let stored = std::fs::read_to_string(&file).expect("written");
    assert!(
        stored
            .contains("{\"reason\":\"a new corpus\",\"scores\":[[\"b\",\"mrr\",0.5,0.25],[\"a\",\"mrr\",1.0,0.9999]]}"),
        "{stored}"
    );

    // The reason stays when a later run raises everything.
    let raised = vec![record("a", &[("mrr", Some(1.0)), ("recall@5", Some(1.0))]), record("b", &[("mrr", Some(1.0))])];
    write_run(folder.path(), "raised.json", raised, &[]);
    let text = passes(folder.path(), &["baseline", "accept", "raised.json", "--reason", "none needed"]);
    assert!(text.ends_with("no score was lowered, so the reason is not kept\n"), "{text}");
    let stored = std::fs::read_to_string(&file).expect("written");
    assert!(stored.contains("a new corpus") && !stored.contains("none needed"), "{stored}");
}

#[test]
fn a_worse_answer_needs_a_reason_though_pairwise_is_new() {
    let folder = folder();
    let answered = |response: &str, score: f64| {
        let mut record = record("a", &[("mrr", Some(1.0)), ("pairwise", Some(score))]);
        if let Taken::Sample(sample) = &mut record.taken {
            sample.answer.response = response.to_owned();
        }
        record
    };
    write_run(folder.path(), "before.json", vec![record("a", &[("mrr", Some(1.0))])], &[]);
    write_run(folder.path(), "worse.json", vec![answered("Maybe.", 0.0)], &[]);
    write_run(folder.path(), "tie.json", vec![answered("Thirty days.", 0.5)], &[]);
    passes(folder.path(), &["baseline", "accept", "before.json"]);

    let text = refuses(folder.path(), &["baseline", "accept", "worse.json"]);
    let expected = "error: 1 score of baselines/main.json would be lowered; say why with --reason \"...\":\n  \
                    a  pairwise  0.500 (a tie) -> 0.000\n";
    assert_eq!(text, expected);
    let text = passes(folder.path(), &["baseline", "accept", "worse.json", "--reason", "shorter on purpose"]);
    let expected = "baselines/main.json: 1 case accepted, from run worse.json\n\
                    1 score lowered, worst first:\n  a  pairwise  0.500 (a tie) -> 0.000\n\
                    new: pairwise on 1 case, mean 0.00\n";
    assert_eq!(text, expected);
    let stored = std::fs::read_to_string(folder.path().join("baselines/main.json")).expect("written");
    let kept = "{\"reason\":\"shorter on purpose\",\"scores\":[[\"a\",\"pairwise\",0.5,0.0]]}";
    assert!(stored.contains(kept), "{stored}");
    // The same run again replaces nothing, and a tie is no fall.
    assert!(passes(folder.path(), &["baseline", "accept", "worse.json"]).ends_with("no case and no score differs\n"));
    let text = passes(folder.path(), &["baseline", "accept", "tie.json"]);
    assert!(text.ends_with("no case and no score differs\n"), "{text}");
}

#[test]
fn partial_and_unmeasured_runs_are_refused_with_their_cases() {
    let folder = folder();
    write_run(folder.path(), "partial.json", vec![record("a", &[("mrr", Some(1.0))])], &["b"]);
    let text = refuses(folder.path(), &["baseline", "accept", "partial.json"]);
    let expected = "error: partial.json: the run is partial, 1 case of its set without a record: b; run the whole set, without filter or shard\n";
    assert_eq!(text, expected);
    write_run(folder.path(), "holes.json", vec![record("a", &[("mrr", Some(1.0)), ("faithfulness", None)])], &[]);
    let text = refuses(folder.path(), &["baseline", "accept", "holes.json"]);
    let expected = "error: holes.json: not everything was measured; a baseline must not have holes:\n  \
                    a: faithfulness: judge time-out: no reply in 60 s\n";
    assert_eq!(text, expected);
    assert!(!folder.path().join("baselines").exists());
}

#[test]
fn a_broken_baseline_is_not_overwritten() {
    let folder = folder();
    write_run(folder.path(), "run.json", vec![record("a", &[("mrr", Some(1.0))])], &[]);
    for text in ["<<<<<<< HEAD\n", "{\"format\":\"rageval-baseline\",\"version\":9}"] {
        write(folder.path(), "main.json", text);
        let said = refuses(folder.path(), &["baseline", "accept", "run.json", "--to", "main.json"]);
        assert!(said.starts_with("error: main.json: "), "{said}");
        assert_eq!(std::fs::read_to_string(folder.path().join("main.json")).expect("still there"), text);
    }
}

#[test]
fn what_is_no_run_is_refused() {
    let folder = folder();
    write(folder.path(), "run.json", "{\"format\":\"rageval-run\",\"version\":9}");
    assert!(refuses(folder.path(), &["baseline", "accept", "run.json"]).contains("written by a newer rageval"));
    assert!(refuses(folder.path(), &["baseline", "accept", "none.json"]).starts_with("error: none.json: "));
}

#[test]
fn a_policy_that_cannot_be_read_is_taken_for_no_other() {
    let folder = folder();
    write_run(folder.path(), "run.json", vec![record("a", &[("mrr", Some(1.0))])], &[]);
    write(
        folder.path(),
        "thresholds.yaml",
        "version: 1\ncases: cases\nsystem: {kind: recorded}\nregression: {baseline: other/place.json}\nmetrics: {mmr: {min: 1}}\n",
    );
    let said = refuses(folder.path(), &["baseline", "accept", "run.json"]);
    assert!(said.contains("unknown metric \"mmr\""), "{said}");
    assert!(said.contains("--to FILE"), "{said}");
    assert!(!folder.path().join("baselines").exists());
    let said = passes(folder.path(), &["baseline", "accept", "run.json", "--to", "named.json"]);
    assert!(said.starts_with("named.json: 1 case accepted"), "{said}");
}
