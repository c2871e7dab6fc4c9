//! `cargo rageval gate` on a run: whether its judge was held against people counts there too.

use std::{collections::BTreeMap, fmt::Write as _, path::Path};

use rageval_runner::{
    evaluate::stamp,
    judge, load,
    metric::METRICS,
    model::{
        Answer, MetricKey, Outcome, Record, Sample, Taken, Transcript, UnitInterval,
        run::{JudgeStamp, Manifest, Run, SetStamp},
    },
    store::calibration::{self, FILE},
    trust::calibration::{Calibration, Judged, Measured},
};

use super::{ends, folder, write};

const RULES: &str = "version: 1\njudge: {provider: offline}\nmetrics:\n  faithfulness: {min: 0.2}\n";

fn key() -> MetricKey {
    MetricKey::parse("faithfulness").expect("a key")
}

/// A project with one case, its run by this judge (the policy's own where none is given) and 60 labels.
fn project(folder: &Path, rules: &str, judged_by: Option<JudgeStamp>) {
    write(folder, "thresholds.yaml", rules);
    std::fs::create_dir_all(folder.join("cases/calibration")).expect("made");
    write(&folder.join("cases"), "all.yaml", "- {id: a, query: q}\n");
    let mut labels = String::new();
    for i in 0..60 {
        let said = f64::from(i % 5) / 4.0;
        let _ = writeln!(
            labels,
            "{{\"id\": \"i{i}\", \"query\": \"q\", \"response\": \"r{i}\", \"metric\": \"faithfulness\", \"annotator\": \"ana\", \"score\": {said}}}"
        );
    }
    write(&folder.join("cases/calibration"), "ana.jsonl", &labels);
    let policy = load::policy(&folder.join("thresholds.yaml"), METRICS).expect("a policy");
    let set = load::cases(&policy, METRICS).expect("cases");
    let judge = judge::open(&policy.judge, &|_| None).expect("a judge");
    let sample = Sample { answer: Answer::new("x"), is_refusal: false, latency_ms: None };
    let outcome = Outcome::scored(UnitInterval::ONE);
    let record = Record::new(
        set.cases[0].id.clone(),
        set.cases[0].digest(),
        Taken::Sample(sample),
        [(key(), outcome)].into(),
        Transcript::default(),
    );
    let manifest = Manifest {
        golden_set: SetStamp { digest: set.digest(), cases: 1, ..SetStamp::default() },
        judge: judged_by.unwrap_or_else(|| stamp::of_scores(&policy, judge.as_ref(), None)),
        policy_digest: policy.digest.clone(),
        parameters: policy.rules.parameters(),
        ..Manifest::default()
    };
    let run = Run {
        format: "rageval-run".into(),
        version: 1,
        manifest,
        records: vec![record],
        decisions: Vec::new(),
        ..Run::default()
    };
    write(folder, "run.json", &serde_json::to_string(&run).expect("JSON"));
}

/// Stores a calibration in which the judge says what people say.
fn calibrate(folder: &Path) {
    let policy = load::policy(&folder.join("thresholds.yaml"), METRICS).expect("a policy");
    let labels = load::labels(&policy, METRICS).expect("labels");
    let judge = judge::open(&policy.judge, &|_| None).expect("a judge");
    let stamp = stamp::of_metric(&policy, judge.as_ref(), None, METRICS, &key());
    let judged: BTreeMap<String, Judged> = labels
        .labels
        .iter()
        .map(|label| {
            let score = UnitInterval::new(label.human.number()).expect("a score");
            (label.item.clone(), Judged::Scored(score))
        })
        .collect();
    let measured = Measured::of(&key(), (&labels.items, &labels.labels), None, stamp, &judged);
    calibration::write(&folder.join(FILE), &Calibration { metrics: [(key(), measured)].into() }).expect("written");
}

#[test]
fn a_run_of_a_judge_that_was_not_held_against_people_fails() {
    let folder = folder();
    project(folder.path(), RULES, None);
    let text = ends(folder.path(), &["gate", "run.json"], 1);
    assert!(
        text.contains(
            "---- gate::calibration::faithfulness ----\nfailed      no calibration of faithfulness: 60 items"
        ),
        "{text}"
    );
    calibrate(folder.path());
    let text = ends(folder.path(), &["gate", "run.json"], 0);
    assert!(text.contains("1 case: 1 passed; 2 gates: 2 passed"), "{text}");
}

#[test]
fn a_waiver_passes_it_and_is_printed() {
    let folder = folder();
    let waiver = "waive: {calibration: {reason: as agreed, until: 2999-12-31}}\n";
    project(folder.path(), &format!("{RULES}{waiver}"), None);
    let text = ends(folder.path(), &["gate", "run.json"], 0);
    assert!(text.contains("waived      calibration until 2999-12-31: as agreed"), "{text}");
    calibrate(folder.path());
    let text = ends(folder.path(), &["gate", "run.json"], 0);
    assert!(text.contains("thresholds.yaml:5: `waive.calibration` waives nothing; remove it"), "{text}");
    project(folder.path(), &format!("{RULES}{}", waiver.replace("2999", "2020")), None);
    std::fs::remove_file(folder.path().join(FILE)).expect("removed");
    let text = ends(folder.path(), &["gate", "run.json"], 1);
    assert!(text.contains("the waiver at thresholds.yaml:5 expired on 2020-12-31"), "{text}");
}

#[test]
fn the_calibration_of_one_judge_is_none_of_the_judge_of_the_run() {
    let folder = folder();
    let other = JudgeStamp { provider: "openai".into(), model: "m-2026-01-01".into(), fingerprint: "f".into() };
    project(folder.path(), RULES, Some(other));
    calibrate(folder.path());
    let text = ends(folder.path(), &["gate", "run.json"], 1);
    assert!(text.contains("another judge was held against people: offline"), "{text}");
    assert!(text.contains("; now openai m-2026-01-01 (with this metric f)"), "{text}");
}
