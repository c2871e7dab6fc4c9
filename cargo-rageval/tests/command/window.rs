//! `regression.window`: `baseline accept` keeps the history, and `gate` looks back on it.

use std::path::Path;

use rageval_runner::{
    load,
    metric::METRICS,
    model::{
        Answer, MetricKey, Outcome, Record, Sample, Taken, Transcript, UnitInterval,
        run::{JudgeStamp, Manifest, Run, SetStamp, SystemStamp},
    },
    store::history,
};

use super::{ends, folder, passes, write};

const RULES: &str = "version: 1\nmetrics:\n  recall@5: {mean: {max_drop: 0.02}}\nregression: {baseline: baselines/main.json, window: 5}\n";

/// Writes a run of ten cases that all have this score.
fn write_run(folder: &Path, score: f64) {
    let policy = load::policy(&folder.join("thresholds.yaml"), METRICS).expect("a policy");
    let set = load::cases(&policy, METRICS).expect("cases");
    let key = MetricKey::parse("recall@5").expect("a key");
    let records = set.cases.iter().map(|case| {
        Record::new(
            case.id.clone(),
            case.digest(),
            Taken::Sample(Sample { answer: Answer::new("x"), is_refusal: false, latency_ms: None }),
            [(key.clone(), Outcome::scored(UnitInterval::new(score).expect("in range")))].into(),
            Transcript::default(),
        )
    });
    let manifest = Manifest {
        golden_set: SetStamp { digest: set.digest(), cases: set.cases.len(), ..SetStamp::default() },
        judge: JudgeStamp { provider: "offline".into(), ..JudgeStamp::default() },
        system: SystemStamp { kind: "function".into(), generator: None },
        metric_versions: [("recall".to_owned(), 1)].into(),
        policy_digest: policy.digest.clone(),
        parameters: policy.rules.parameters(),
        ..Manifest::default()
    };
    let records = records.collect();
    let run =
        Run { format: "rageval-run".into(), version: 2, manifest, records, decisions: Vec::new(), ..Run::default() };
    write(folder, "run.json", &serde_json::to_string(&run).expect("JSON"));
}

fn project(folder: &Path) {
    write(folder, "thresholds.yaml", RULES);
    std::fs::create_dir(folder.join("cases")).expect("made");
    let case = |i| format!("- {{id: c{i}, query: \"q{i}\", relevant_doc_ids: [d]}}\n");
    write(&folder.join("cases"), "all.yaml", &(0..10).map(case).collect::<String>());
}

#[test]
fn ten_drops_of_0_019_are_red_though_each_was_accepted() {
    let folder = folder();
    project(folder.path());
    write_run(folder.path(), 0.95);
    passes(folder.path(), &["baseline", "accept", "run.json"]);
    for step in 1..=10 {
        write_run(folder.path(), 0.95 - 0.019 * f64::from(step));
        let text = ends(folder.path(), &["gate", "run.json"], i32::from(1 < step));
        assert!(!text.contains("---- gate::recall@5::mean_drop"), "{text}");
        assert_eq!(text.contains("---- gate::recall@5::window_drop"), 1 < step, "{text}");
        passes(folder.path(), &["baseline", "accept", "run.json", "--reason", "a little"]);
    }
    let lost = ends(folder.path(), &["gate", "run.json"], 1);
    assert!(lost.contains("mean drop 0.076 from history.jsonl:7, max_drop 0.02"), "{lost}");
    let runs = history::last(&folder.path().join("baselines/main.json"), 99).expect("readable");
    assert_eq!(runs.len(), 11);
}

#[test]
fn a_lost_history_is_undecided_and_a_broken_one_is_told() {
    let folder = folder();
    project(folder.path());
    write_run(folder.path(), 0.95);
    passes(folder.path(), &["baseline", "accept", "run.json"]);
    passes(folder.path(), &["baseline", "accept", "run.json"]);
    let history = folder.path().join("baselines/history.jsonl");
    let line = std::fs::read_to_string(&history).expect("written");
    assert_eq!(line.lines().count(), 1, "{line}");
    assert!(line.contains("\"means\":{\"recall@5\":{\"mean\":0.95,\"n\":10}}"), "{line}");
    ends(folder.path(), &["gate", "run.json"], 0);
    std::fs::write(&history, format!("{line}>>>>>>> other\n")).expect("written");
    let text = ends(folder.path(), &["gate", "run.json"], 2);
    assert!(
        text.contains("thresholds.yaml:4") && text.contains("history.jsonl: line 2: expected value; restore it"),
        "{text}"
    );
    // Nothing is accepted onto it, and nothing written.
    let torn = format!("{line}{}", &line[..line.len() / 2]);
    std::fs::write(&history, &torn).expect("written");
    let baseline = std::fs::read_to_string(folder.path().join("baselines/main.json")).expect("written");
    write_run(folder.path(), 0.97);
    let text = ends(folder.path(), &["baseline", "accept", "run.json"], 2);
    assert!(text.contains("history.jsonl: line 2: ") && text.contains("or take the line out"), "{text}");
    assert_eq!(std::fs::read_to_string(&history).expect("there"), torn);
    assert_eq!(std::fs::read_to_string(folder.path().join("baselines/main.json")).expect("there"), baseline);
    write_run(folder.path(), 0.95);
    std::fs::remove_file(&history).expect("removed");
    let text = ends(folder.path(), &["gate", "run.json"], 3);
    assert!(text.contains("the history holds no accepted run to compare with"), "{text}");
}
