//! Runs that become baselines, and files that do not.

use super::*;
use crate::{
    metric::METRICS,
    model::{
        Answer, Claim, Detail, Record, RetrievedContext, Sample, Score, Taken, Transcript, UnitInterval, Unmeasured,
        Verdict,
        run::{JudgeStamp, LoweredScores, Manifest, Run, SetStamp, SystemStamp},
    },
};

fn id(text: &str) -> CaseId {
    CaseId::new(text).expect("a valid id")
}

fn key(text: &str) -> MetricKey {
    MetricKey::parse(text).expect("a valid key")
}

fn scored(value: f64) -> Outcome {
    Outcome::scored(UnitInterval::new(value).expect("in range"))
}

fn record(case: &str, outcomes: &[(&str, Outcome)]) -> Record {
    let contexts = [
        RetrievedContext::new("d1", "Refunds take 30 days.").with_score(7.5),
        RetrievedContext::without_id("退款期限为三十天。"),
    ];
    Record::new(
        id(case),
        format!("digest of {case}"),
        Taken::Sample(Sample {
            answer: Answer::new("30 days.").with_contexts(contexts).with_cost_usd(0.25),
            is_refusal: false,
            latency_ms: Some(12.5),
        }),
        outcomes.iter().map(|(name, outcome)| (key(name), outcome.clone())).collect(),
        Transcript::default(),
    )
}

fn run(records: Vec<Record>) -> Run {
    let manifest = Manifest {
        run_id: "1a2b".into(),
        rageval: "0.1.0".into(),
        golden_set: SetStamp {
            name: Some("help".into()),
            version: Some("3".into()),
            digest: "set".into(),
            cases: records.len(),
        },
        judge: JudgeStamp { provider: "offline".into(), model: "1".into(), fingerprint: "judge".into() },
        system: SystemStamp { kind: "function".into(), generator: Some("demo".into()) },
        metric_versions: [("recall".to_owned(), 1)].into(),
        policy_digest: "policy".into(),
        git_revision: Some("abc".into()),
        seed: 0,
        ..Manifest::default()
    };
    Run { format: "rageval-run".into(), version: 1, manifest, records, decisions: Vec::new(), ..Run::default() }
}

/// Every kind of content that a baseline keeps.
fn full() -> Run {
    let claim = Claim { text: "30 days".into(), verdict: Verdict::Supported, evidence: None, reason: None };
    let detail = Detail { claims: vec![claim], k_of_n: Some((1, 1)), ..Detail::default() };
    let quantity = Outcome::Scored {
        score: Score { value: UnitInterval::ONE, raw: Some(812.0), first: None },
        detail: Detail::default(),
    };
    run(vec![
        record(
            "refund-window",
            &[
                ("faithfulness", Outcome::scored_with(UnitInterval::ONE, detail)),
                ("recall@5", scored(2.0 / 3.0)),
                ("answer_correctness", Outcome::not_applicable("the case has no reference")),
                ("length", quantity.clone()),
                ("latency", quantity.clone()),
                ("cost/per-case", quantity),
            ],
        ),
        record("ação", &[("recall@5", scored(0.1 + 0.2))]),
    ])
}

/// The same run of a system that has a word of its own on whether it declined.
fn flagged() -> Run {
    let mut run = full();
    for (record, flag) in run.records.iter_mut().zip([Some(false), Some(true)]) {
        if let Taken::Sample(sample) = &mut record.taken {
            (sample.answer.refused, sample.is_refusal) = (flag, flag == Some(true));
        }
    }
    run
}

fn accepted(run: &Run) -> Accepted {
    from_run(run).expect("acceptable")
}

#[test]
fn a_baseline_is_read_as_it_was_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("baselines/main.json");
    let mut one = accepted(&flagged());
    one.baseline.manifest.reasons.push(LoweredScores {
        reason: "the \"old\" corpus\nis gone".into(),
        scores: vec![(id("ação"), key("recall@5"), 1.0, 0.1 + 0.2)],
        gone: vec![(id("ação"), key("mrr"))],
    });
    write(&path, &one.baseline, &one.texts).expect("written");
    assert_eq!(read(&path).expect("readable"), one.baseline);
    assert_eq!(read_texts(&path).expect("readable"), one.texts);
    assert!(read_if_present(&folder.path().join("none.json")).expect("no error").is_none());
}

#[test]
fn the_same_run_gives_the_same_bytes_even_after_reading() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("main.json");
    let one = accepted(&full());
    write(&path, &one.baseline, &one.texts).expect("written");
    let first = fs::read(&path).expect("readable");
    let (again, texts) = (read(&path).expect("readable"), read_texts(&path).expect("readable"));
    write(&path, &again, &texts).expect("written");
    assert_eq!(fs::read(&path).expect("readable"), first);
}

#[test]
fn each_case_is_one_line_sorted_by_id_without_times_costs_and_run_ids() {
    let text = to_text(&accepted(&full()).baseline).expect("text");
    let lines: Vec<_> = text.lines().filter(|line| line.starts_with("{\"case\"")).collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].starts_with("{\"case\":\"ação\"") || lines[0].starts_with("{\"case\":\"refund-window\""));
    for banned in ["latency", "cost", "812", "1a2b", "policy", "7.5", "0.25", "12.5"] {
        assert!(!text.contains(banned), "{banned} in {text}");
    }
    assert!(text.contains("\"length\":{\"outcome\":\"scored\",\"score\":{\"value\":1.0}"), "{text}");
    assert!(text.contains("supported"), "{text}");
}

#[test]
fn retrieved_texts_stand_once_by_digest() {
    let one = accepted(&full());
    assert_eq!(one.texts.len(), 2);
    for (digest, text) in &one.texts {
        assert_eq!(*digest, text_digest(text));
        assert_eq!(digest.len(), 32);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("main.json");
    write(&path, &one.baseline, &one.texts).expect("written");
    let samples = folder.path().join("main.samples.jsonl");
    let tampered = fs::read_to_string(&samples).expect("readable").replace("30 days", "31 days");
    fs::write(&samples, tampered).expect("written");
    assert!(read_texts(&path).expect_err("tampered").to_string().contains("does not have the digest"));
}

#[test]
fn partial_unmeasured_repeated_and_empty_runs_are_refused_with_their_cases() {
    let mut partial = full();
    partial.manifest.missing = [id("c"), id("b")].into();
    let text = from_run(&partial).expect_err("partial").to_string();
    assert_eq!(
        text,
        "the run is partial, 2 cases of its set without a record: b, c; run the whole set, without filter or shard"
    );

    let mut unmeasured = full();
    unmeasured.records[1]
        .outcomes
        .insert(key("faithfulness"), Outcome::unmeasured("judge time-out", "no reply in 60 s"));
    unmeasured.records[0].taken = Taken::Failed(Unmeasured::new("system error", "connection refused"));
    let text = from_run(&unmeasured).expect_err("unmeasured").to_string();
    assert_eq!(
        text,
        "not everything was measured; a baseline must not have holes:\n  \
         refund-window: the system: system error: connection refused\n  \
         ação: faithfulness: judge time-out: no reply in 60 s"
    );

    let mut repeated = full();
    repeated.records.push(repeated.records[0].clone());
    let text = from_run(&repeated).expect_err("repeated").to_string();
    assert_eq!(text, "1 case with more than one record: refund-window");
    assert_eq!(from_run(&run(Vec::new())).expect_err("empty").to_string(), "the run holds no case");
}

#[test]
fn differences_are_named_worst_first() {
    let of = |records: Vec<Record>| accepted(&run(records)).baseline;
    let earlier = of(vec![
        record("a", &[("mrr", scored(1.0)), ("recall@5", scored(0.5))]),
        record("b", &[("mrr", scored(1.0)), ("recall@5", scored(0.5))]),
        record("c", &[("mrr", scored(1.0))]),
        record("gone", &[]),
        record("same", &[("mrr", scored(0.3))]),
    ]);
    let mut changed = record("c", &[("mrr", scored(0.0))]);
    changed.digest = "another".into();
    let later = of(vec![
        record("a", &[("mrr", scored(0.9)), ("recall@5", scored(1.0))]),
        record("b", &[("mrr", scored(0.2)), ("recall@5", Outcome::not_applicable("refused"))]),
        changed,
        record("new", &[("mrr", scored(0.0))]),
        record("same", &[("mrr", scored(0.3 - 1e-12))]),
    ]);
    let difference = Difference::between(&earlier, &later, METRICS);
    let named =
        |changes: &[ScoreChange]| changes.iter().map(|c| format!("{} {}", c.case, c.metric)).collect::<Vec<_>>();
    assert_eq!(named(&difference.lowered), ["b mrr", "a mrr"]);
    assert_eq!(named(&difference.raised), ["a recall@5"]);
    assert_eq!(difference.unscored, [(id("b"), key("recall@5"))]);
    assert_eq!(
        (difference.new, difference.changed, difference.vanished),
        (vec![id("new")], vec![id("c")], vec![id("gone")])
    );
    assert!(Difference::between(&later, &later, METRICS).is_empty());
}

#[test]
fn a_worse_answer_is_a_lowered_score_though_the_metric_is_new() {
    let with = |response: &str, scores: &[(&str, f64)]| {
        let scores: Vec<_> = scores.iter().map(|(metric, score)| (*metric, scored(*score))).collect();
        let mut case = record("a", &scores);
        if let Taken::Sample(sample) = &mut case.taken {
            sample.answer.response = response.to_owned();
        }
        accepted(&run(vec![case])).baseline
    };
    let seen = |earlier: &Baseline, later: &Baseline| {
        let difference = Difference::between(earlier, later, METRICS);
        let scores = |changes: &[ScoreChange]| changes.iter().map(|c| (c.before, c.after)).collect::<Vec<_>>();
        (scores(&difference.lowered), scores(&difference.raised), difference.added)
    };
    let added = |score: f64| [(key("pairwise"), vec![score])].into();
    let first = with("30 days.", &[("mrr", 1.0)]);
    let worse = with("Maybe.", &[("mrr", 1.0), ("pairwise", 0.0)]);
    assert_eq!(seen(&first, &worse), (vec![(0.5, 0.0)], vec![], added(0.0)));
    assert_eq!(seen(&first, &with("Same.", &[("mrr", 1.0), ("pairwise", 0.5)])), (vec![], vec![], added(0.5)));
    assert_eq!(
        seen(&first, &with("More.", &[("mrr", 1.0), ("pairwise", 1.0)])),
        (vec![], vec![(0.5, 1.0)], added(1.0))
    );
    // Once accepted, the same answer replaces nothing, and the next is held against it and not against what it scored.
    assert!(Difference::between(&worse, &worse, METRICS).is_empty());
    let none = BTreeMap::new;
    assert_eq!(seen(&worse, &with("No.", &[("mrr", 1.0), ("pairwise", 0.0)])), (vec![(0.5, 0.0)], vec![], none()));
    let better = with("60 days.", &[("mrr", 1.0), ("pairwise", 1.0)]);
    assert_eq!(seen(&better, &with("Same.", &[("mrr", 1.0), ("pairwise", 0.5)])), (vec![], vec![], none()));
    // A new score of another metric is told and not compared.
    let more = with("30 days.", &[("mrr", 1.0), ("faithfulness", 0.0)]);
    assert_eq!(seen(&first, &more), (vec![], vec![], [(key("faithfulness"), vec![0.0])].into()));
}

#[test]
fn what_is_no_baseline_of_this_version_is_refused_with_its_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("main.json");
    let manifest = serde_json::to_string(&BaselineManifest::default()).expect("JSON");
    let case = r#"{"case":"a","digest":"d","response":"r","retrieved":[],"context_digests":[],"outcomes":{}}"#;
    let file =
        |cases: &str| format!(r#"{{"format":"rageval-baseline","version":2,"manifest":{manifest},"cases":[{cases}]}}"#);
    let rows = [
        (
            r#"{"format":"rageval-baseline","version":4}"#.to_owned(),
            "written by a newer rageval (format 4, this one reads up to 3); update rageval",
        ),
        (r#"{"format":"rageval-baseline","version":0}"#.to_owned(), "there is no version 0 of the baseline format"),
        (r#"{"format":"rageval-baseline"}"#.to_owned(), "it states no `version`"),
        (
            r#"{"format":"rageval-run","version":1}"#.to_owned(),
            "its `format` says `rageval-run`, a baseline says `rageval-baseline`",
        ),
        ("{}".to_owned(), "it states no `format`, a baseline says `rageval-baseline`"),
        ("<<<<<<< HEAD\n".to_owned(), "not a readable baseline: "),
        (
            file(&format!("{case},{case}")),
            "case `a` stands there twice, perhaps from a merge; restore it, or remove it and accept a run again",
        ),
        (
            file(&case.replace("\"retrieved\":[]", "\"retrieved\":[\"x\"]")),
            "case `a` has 1 retrieved documents and 0 digests; restore it, or remove it and accept a run again",
        ),
        (file(&case.replace("outcomes", "outcome")), "not a readable baseline: unknown field `outcome`"),
    ];
    for (text, expected) in rows {
        fs::write(&path, &text).expect("written");
        let error = read(&path).expect_err(&text).to_string();
        assert!(error.starts_with(&format!("{}: {expected}", path.display())), "{error}");
    }
}

#[test]
fn a_baseline_of_version_1_is_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/formats/baseline-v1.json");
    let baseline = read(&path).expect("readable");
    let expected = accepted(&full());
    assert_eq!(baseline.cases, expected.baseline.cases);
    assert_eq!(baseline.manifest.golden_set, expected.baseline.manifest.golden_set);
    assert_eq!(baseline.manifest.reasons.len(), 1);
    assert_eq!(read_texts(&path).expect("readable"), expected.texts);
}

#[test]
fn a_baseline_of_version_2_is_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/formats/baseline-v2.json");
    let baseline = read(&path).expect("readable");
    assert_eq!(baseline.cases, accepted(&flagged()).baseline.cases);
    assert_eq!(baseline.cases[&id("ação")].refused, Some(true));
    assert_eq!(baseline.manifest.readings, None);
}

#[test]
fn a_baseline_of_version_3_says_how_often_it_was_read_and_is_written_as_it_was() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/formats/baseline-v3.json");
    let baseline = read(&path).expect("readable");
    assert_eq!((&baseline.cases, baseline.manifest.readings), (&accepted(&flagged()).baseline.cases, Some(3)));
    assert_eq!(to_text(&baseline).expect("JSON"), fs::read_to_string(&path).expect("the fixture"));
}

#[test]
fn the_systems_own_word_on_a_refusal_goes_before_the_text_of_the_answer() {
    let answered = |response: &str, flag: Option<bool>| {
        let case = crate::gate::fixture::golden("a", 1);
        let mut one = record("a", &[]);
        one.digest = case.digest();
        if let Taken::Sample(sample) = &mut one.taken {
            (sample.answer.response, sample.answer.refused) = (response.to_owned(), flag);
        }
        let accepted = accepted(&run(vec![one]));
        let answers = Answers::new(Path::new("main.json"), &accepted.baseline, &accepted.texts).expect("its texts");
        let sample = answers.sample_of(&case).expect("the case");
        assert_eq!(sample.answer.refused, flag);
        sample.is_refusal
    };
    assert!(answered("30 days.", Some(true)));
    assert!(!answered("I don't know.", Some(false)));
    assert!(answered("I don't know.", None) && !answered("30 days.", None));
}
