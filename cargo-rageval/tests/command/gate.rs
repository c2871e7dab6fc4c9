//! `cargo rageval gate`: gates over stored records.

use std::path::Path;

use rageval_runner::{
    load,
    metric::METRICS,
    model::{
        Answer, Confirmation, GoldenSet, Heard, MetricKey, Outcome, Readings, Record, Repeat, Repeated, Sample,
        Spending, Taken, Transcript, UnitInterval,
        run::{Decision, JudgeStamp, Manifest, Ruling, Run, SetStamp, SnapshotFailure, SystemStamp},
    },
};

use super::{ends, folder, json, program, run, write};

const RULES: &str = "version: 1\nmetrics:\n  recall@5: {min: 0.2, mean: {min: 0.5}}\n";
const CASES: &str = "- {id: a, query: q, relevant_doc_ids: [d]}\n- {id: b, query: r, relevant_doc_ids: [d]}\n";

/// A project with a run file for each list of cases and scores.
pub(super) fn project(folder: &Path, shards: &[&[(&str, f64)]]) {
    write(folder, "thresholds.yaml", RULES);
    std::fs::create_dir(folder.join("cases")).expect("made");
    write(&folder.join("cases"), "all.yaml", CASES);
    let policy = load::policy(&folder.join("thresholds.yaml"), METRICS).expect("a policy");
    let set = load::cases(&policy, METRICS).expect("cases");
    for (i, scores) in shards.iter().enumerate() {
        let manifest = Manifest {
            golden_set: SetStamp { digest: set.digest(), cases: set.cases.len(), ..SetStamp::default() },
            judge: JudgeStamp { provider: "offline".into(), ..JudgeStamp::default() },
            policy_digest: policy.digest.clone(),
            parameters: policy.rules.parameters(),
            partial: Some(format!("shard {}/{}", i + 1, shards.len())),
            ..Manifest::default()
        };
        let records = scores.iter().map(|(id, score)| record(&set, id, *score)).collect();
        let run = Run {
            format: "rageval-run".into(),
            version: 1,
            manifest,
            records,
            decisions: Vec::new(),
            ..Run::default()
        };
        write(folder, &format!("{}.json", i + 1), &serde_json::to_string(&run).expect("JSON"));
    }
}

fn record(set: &GoldenSet, id: &str, score: f64) -> Record {
    let case = set.cases.iter().find(|case| case.id.as_str() == id).expect("a case");
    let key = MetricKey::parse("recall@5").expect("a key");
    Record::new(
        case.id.clone(),
        case.digest(),
        Taken::Sample(Sample { answer: Answer::new("x"), is_refusal: false, latency_ms: None }),
        [(key, Outcome::scored(UnitInterval::new(score).expect("in range")))].into(),
        Transcript::default(),
    )
}

#[test]
fn shards_are_decided_together() {
    let folder = folder();
    project(folder.path(), &[&[("a", 1.0)], &[("b", 0.5)]]);
    let text = ends(folder.path(), &["gate", "1.json", "2.json"], 0);
    assert!(text.contains("2 cases: 2 passed; 2 gates: 2 passed"), "{text}");
}

#[test]
fn a_gate_over_all_shards_may_fail() {
    let folder = folder();
    project(folder.path(), &[&[("a", 0.25)], &[("b", 0.5)]]);
    let text = ends(folder.path(), &["gate", "1.json", "2.json"], 1);
    assert!(text.contains("gate::recall@5::mean"), "{text}");
    let ended = run(folder.path(), &["gate", "1.json", "2.json", "--format", "json"]);
    let told = json(&ended.out);
    assert_eq!((ended.code, told["conclusion"].as_str()), (Some(1), Some("fail")), "{told}");
}

#[test]
fn a_red_run_is_red_though_nobody_reads_what_is_printed() {
    let folder = folder();
    project(folder.path(), &[&[("a", 0.25), ("b", 0.5)]]);
    for arguments in [&["gate", "1.json"][..], &["gate", "1.json", "--format", "json"]] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let ended = program(folder.path(), arguments).stdout(writer).output().expect("the program starts");
        assert_eq!(ended.status.code(), Some(1), "{}", String::from_utf8_lossy(&ended.stderr));
    }
}

#[test]
fn a_latest_run_of_a_part_says_how_to_run_all() {
    let folder = folder();
    project(folder.path(), &[&[("a", 1.0)], &[("b", 0.5)]]);
    let whole = "all again: cargo test --test rag_regression";
    let runs = folder.path().join("target/rageval/runs/latest");
    std::fs::create_dir_all(&runs).expect("made");
    std::fs::copy(folder.path().join("1.json"), runs.join("run.json")).expect("copied");
    let text = ends(folder.path(), &["gate"], 3);
    assert!(text.contains("1 of 2 cases have no record: b") && text.contains(whole), "{text}");
    // Who names runs knows what they hold.
    assert!(!ends(folder.path(), &["gate", "1.json"], 3).contains("all again"));
}

#[test]
fn a_folder_without_rules_says_how_to_begin() {
    let folder = folder();
    let commands: [&[&str]; 9] = [
        &["gate"],
        &["run"],
        &["watch"],
        &["judge", "check"],
        &["cases", "lint"],
        &["cases", "stats"],
        &["steps"],
        &["replies", "prune"],
        &["estimate"],
    ];
    for command in commands {
        let text = ends(folder.path(), command, 2);
        assert!(text.contains("no thresholds.yaml here") && text.contains("`cargo rageval init`"), "{text}");
    }
}

#[test]
fn a_missing_shard_is_undecided_and_a_doubled_one_is_refused() {
    let folder = folder();
    project(folder.path(), &[&[("a", 1.0)], &[("b", 0.5)]]);
    let text = ends(folder.path(), &["gate", "1.json"], 3);
    assert!(text.contains("1 of 2 cases have no record: b"), "{text}");
    let text = ends(folder.path(), &["gate", "1.json", "1.json"], 2);
    assert!(text.contains("case `a` has a record in another run too"), "{text}");
}

#[test]
fn cases_that_were_asked_less_often_than_the_files_say_are_refused() {
    let folder = folder();
    project(folder.path(), &[&[("a", 1.0), ("b", 0.5)]]);
    write(folder.path(), "thresholds.yaml", &format!("{RULES}repeats: {{times: 3}}\n"));
    let text = ends(folder.path(), &["gate", "1.json"], 2);
    assert!(text.contains("cases/all.yaml:1: `a` was asked or reduced otherwise in the run"), "{text}");
    write(folder.path(), "thresholds.yaml", &format!("{RULES}repeats: {{times: 1}}\n"));
    ends(folder.path(), &["gate", "1.json"], 0);
}

#[test]
fn other_cases_or_metrics_than_the_runs_are_refused() {
    let folder = folder();
    project(folder.path(), &[&[("a", 1.0), ("b", 0.5)]]);
    write(folder.path(), "thresholds.yaml", &RULES.replace("recall@5", "recall@3"));
    ends(folder.path(), &["gate", "1.json"], 2);
    write(folder.path(), "thresholds.yaml", &RULES.replace("min: 0.5", "min: 0.9"));
    let text = ends(folder.path(), &["gate", "1.json"], 1);
    assert!(text.contains("thresholds.yaml changed since the run"), "{text}");
    write(&folder.path().join("cases"), "all.yaml", &CASES.replace("query: r", "query: s"));
    let text = ends(folder.path(), &["gate", "1.json"], 2);
    assert!(text.contains("the golden cases changed"), "{text}");
}

#[test]
fn a_run_whose_judge_had_no_key_could_not_be_decided() {
    let folder = folder();
    project(folder.path(), &[&[("a", 1.0), ("b", 0.5)]]);
    let path = folder.path().join("1.json");
    let mut run: Run = serde_json::from_str(&std::fs::read_to_string(&path).expect("a run")).expect("JSON");
    let fault = Outcome::unmeasured("judge key missing", "the variable JUDGE_KEY is missing or empty");
    run.records[1].outcomes.insert(MetricKey::parse("recall@5").expect("a key"), fault);
    write(folder.path(), "1.json", &serde_json::to_string(&run).expect("JSON"));
    let text = ends(folder.path(), &["gate", "1.json"], 3);
    let lines: Vec<&str> = text.lines().skip_while(|line| *line != "---- case::all::b ----").take(3).collect();
    assert_eq!(lines[1..], ["unmeasured  judge key missing: the variable JUDGE_KEY is missing or empty", ""], "{text}");
    assert!(text.contains("judge key missing; gate::setup says what to do"), "{text}");
}

#[test]
fn further_readings_decide_from_the_run_alone() {
    let folder = folder();
    project(folder.path(), &[&[("a", 1.0), ("b", 0.1)]]);
    let path = folder.path().join("1.json");
    let mut run: Run = serde_json::from_str(&std::fs::read_to_string(&path).expect("a run")).expect("JSON");
    let key = MetricKey::parse("recall@5").expect("a key");
    let settled = |score: f64| Outcome::scored(UnitInterval::new(score).expect("in range"));
    for (confirmation, ending, said) in [
        (Confirmation::NotConfirmed { why: "no key".into() }, 1, "readings    not confirmed: no key"),
        (
            Confirmation::Confirmed { outcome: settled(0.1), baseline: None },
            1,
            "suspects: 1 confirmed in 1 further reading",
        ),
        (
            Confirmation::Cleared { outcome: settled(0.5), baseline: None },
            0,
            "flaky       b: recall@5 0.10 at first, 0.50",
        ),
    ] {
        let now = vec![Heard::Score { score: UnitInterval::ONE }];
        let readings = Readings { now, confirmation: Some(confirmation), ..Readings::default() };
        run.records[1].readings.insert(key.clone(), readings);
        write(folder.path(), "1.json", &serde_json::to_string(&run).expect("JSON"));
        let text = ends(folder.path(), &["gate", "1.json"], ending);
        assert!(text.contains(said), "{said}\n{text}");
    }
}

#[test]
fn what_the_shards_of_a_run_spent_is_told_together() {
    let folder = folder();
    project(folder.path(), &[&[("a", 1.0)], &[("b", 0.5)]]);
    for (name, requests) in [("1.json", 3), ("2.json", 4)] {
        let path = folder.path().join(name);
        let mut run: Run = serde_json::from_str(&std::fs::read_to_string(&path).expect("a run")).expect("JSON");
        run.manifest.spent = Some(Spending { requests, input_tokens: 1000, usd: Some(0.25), ..Spending::default() });
        write(folder.path(), name, &serde_json::to_string(&run).expect("JSON"));
    }
    let text = ends(folder.path(), &["gate", "1.json", "2.json"], 0);
    assert!(text.contains("spent: 7 requests, 2,000 tokens read and 0 written, 0.50 USD"), "{text}");
}

#[test]
fn the_lock_of_the_cases_is_decided_too() {
    let folder = folder();
    project(folder.path(), &[&[("a", 1.0), ("b", 1.0)]]);
    let unlocked = ends(folder.path(), &["gate", "1.json"], 0);
    assert_eq!(unlocked.matches("golden.lock").count(), 1, "{unlocked}");
    assert!(
        unlocked.contains(
            "notice      cases are not locked: cargo rageval cases lock --message WHY makes cases/golden.lock\n"
        ),
        "{unlocked}"
    );
    ends(folder.path(), &["cases", "lock", "--message", "First."], 0);
    let locked = ends(folder.path(), &["gate", "1.json"], 0);
    assert!(locked.contains("3 gates: 3 passed") && !locked.contains("golden.lock"), "{locked}");
    let lock = folder.path().join("cases/golden.lock");
    let text = std::fs::read_to_string(&lock).expect("read");
    std::fs::write(&lock, text.replace("\"case\":\"b\"", "\"case\":\"c\"")).expect("written");
    let damaged = ends(folder.path(), &["gate", "1.json"], 3);
    assert!(damaged.contains("---- gate::set::lock ----\nundecided   "), "{damaged}");
}

#[test]
fn cases_that_are_not_the_locked_ones_fail() {
    let folder = folder();
    project(folder.path(), &[&[("a", 1.0), ("b", 1.0)]]);
    let other = folder.path().join("cases/all.yaml");
    std::fs::write(&other, CASES.replace("query: q", "query: other")).expect("written");
    ends(folder.path(), &["cases", "lock", "--message", "First."], 0);
    std::fs::write(&other, CASES).expect("written");
    let text = ends(folder.path(), &["gate", "1.json"], 1);
    assert!(text.contains("1 changed since version 1.0.0") && text.contains("changed     a (query)"), "{text}");
}

/// A project whose run was judged by this model, of answers by this generator.
fn judged_by(folder: &Path, model: &str, generator: Option<&str>, rules: &str) {
    project(folder, &[&[("a", 1.0), ("b", 0.5)]]);
    write(folder, "thresholds.yaml", &format!("{RULES}{rules}"));
    let path = folder.join("1.json");
    let mut run: Run = serde_json::from_str(&std::fs::read_to_string(&path).expect("a run")).expect("JSON");
    run.manifest.judge = JudgeStamp { provider: "openai".into(), model: model.into(), fingerprint: "f".into() };
    run.manifest.system = SystemStamp { kind: "function".into(), generator: generator.map(str::to_owned) };
    write(folder, "1.json", &serde_json::to_string(&run).expect("JSON"));
}

#[test]
fn a_run_whose_judge_cannot_be_believed_fails() {
    let folder = folder();
    for (model, generator, why) in [
        ("gpt-4o", Some("claude-opus-4-6"), "OpenAI moves the judge's name `gpt-4o`"),
        ("gpt-4o-2024-08-06", Some("o3-mini"), "are of one family, openai"),
        ("gpt-4o-2024-08-06", None, "no `system.generator` says"),
    ] {
        judged_by(folder.path(), model, generator, "");
        let text = ends(folder.path(), &["gate", "1.json"], 1);
        assert!(text.contains("---- gate::setup ----\nfailed ") && text.contains(why), "{text}");
        std::fs::remove_dir_all(folder.path().join("cases")).expect("removed");
    }
}

#[test]
fn a_waiver_that_holds_is_printed_and_an_expired_one_fails() {
    let folder = folder();
    judged_by(folder.path(), "gpt-4o", Some("claude-opus-4-6"), "waive: {alias: {reason: r, until: 2999-12-31}}\n");
    let text = ends(folder.path(), &["gate", "1.json"], 0);
    assert!(text.contains("\nwaived      alias until 2999-12-31: r\n"), "{text}");
    write(folder.path(), "thresholds.yaml", &format!("{RULES}waive: {{alias: {{reason: r, until: 2020-12-31}}}}\n"));
    let text = ends(folder.path(), &["gate", "1.json"], 1);
    assert!(text.contains("expired on 2020-12-31"), "{text}");
}

#[test]
fn the_generator_may_be_declared_after_the_run() {
    let folder = folder();
    judged_by(folder.path(), "gpt-4o-2024-08-06", None, "system: {kind: function, generator: claude-opus-4-6}\n");
    ends(folder.path(), &["gate", "1.json"], 0);
}

/// Changes what stands in `1.json`.
pub(super) fn change_run(folder: &Path, change: impl FnOnce(&mut Run)) {
    let path = folder.join("1.json");
    let mut run: Run = serde_json::from_str(&std::fs::read_to_string(&path).expect("a run")).expect("JSON");
    change(&mut run);
    write(folder, "1.json", &serde_json::to_string(&run).expect("JSON"));
}

/// What the trial of case `b` said in the run.
fn stored(ruling: Ruling, snapshot: Option<SnapshotFailure>, lines: &[&str]) -> Decision {
    let lines = lines.iter().map(|line| (*line).to_owned()).collect();
    let trial = "case::all::b".to_owned();
    Decision { snapshot, ..Decision::told(trial, ruling, lines) }
}

#[test]
fn a_stored_green_does_not_hold_against_a_bar_that_was_raised_since() {
    let folder = folder();
    project(folder.path(), &[&[("a", 1.0), ("b", 0.5)]]);
    change_run(folder.path(), |run| run.decisions = vec![stored(Ruling::Pass, None, &[])]);
    ends(folder.path(), &["gate", "1.json"], 0);
    let raised = CASES.replace("query: r,", "query: r, thresholds: {recall@5: {min: 0.9}},");
    write(&folder.path().join("cases"), "all.yaml", &raised);
    let text = ends(folder.path(), &["gate", "1.json"], 1);
    assert!(text.contains("---- case::all::b ----") && text.contains("recall@5 0.50, min 0.90"), "{text}");
}

#[test]
fn a_stored_red_ends_with_the_known_failure_that_it_advises() {
    let folder = folder();
    project(folder.path(), &[&[("a", 1.0), ("b", 0.0)]]);
    let lines = ["case        cases/all.yaml:2, b", "failed      recall@5 0.00, min 0.20"];
    change_run(folder.path(), |run| run.decisions = vec![stored(Ruling::Fail, None, &lines)]);
    ends(folder.path(), &["gate", "1.json"], 1);
    let known = CASES.replace("query: r,", "query: r, known_failure: {metrics: [recall@5], reason: later},");
    write(&folder.path().join("cases"), "all.yaml", &known);
    let text = ends(folder.path(), &["gate", "1.json"], 0);
    assert!(text.contains("known       1: b"), "{text}");
}

#[test]
fn a_drop_in_a_stored_run_ends_with_the_baseline_that_is_accepted_from_it() {
    let folder = folder();
    project(folder.path(), &[&[("a", 1.0), ("b", 1.0)]]);
    let rules = "version: 1\nregression: {baseline: baselines/main.json}\nmetrics: {recall@5: {max_drop: 0.1}}\n";
    write(folder.path(), "thresholds.yaml", rules);
    change_run(folder.path(), |run| {
        run.manifest.partial = None;
        run.manifest.system.kind = "function".into();
        run.manifest.metric_versions = [("recall".to_owned(), 1)].into();
        run.manifest.policy_digest =
            load::policy(&folder.path().join("thresholds.yaml"), METRICS).expect("a policy").digest;
    });
    let accept = ["baseline", "accept", "1.json", "--reason", "Why."];
    ends(folder.path(), &accept, 0);
    let key = MetricKey::parse("recall@5").expect("a key");
    let lower = Outcome::scored(UnitInterval::new(0.5).expect("in range"));
    change_run(folder.path(), |run| {
        run.records[1].outcomes.insert(key, lower);
        let lines = ["failed      recall@5 0.50, baseline 1.00: dropped by 0.50, max_drop 0.10"];
        run.decisions = vec![stored(Ruling::Fail, None, &lines)];
    });
    let text = ends(folder.path(), &["gate", "1.json"], 1);
    assert!(text.contains("dropped by 0.50, max_drop 0.10"), "{text}");
    ends(folder.path(), &accept, 0);
    ends(folder.path(), &["gate", "1.json"], 0);
}

#[test]
fn a_snapshot_that_was_red_in_the_run_stays_red_whatever_else_changed() {
    let folder = folder();
    let new = SnapshotFailure { why: "1 of 1 -> 0 of 1".into(), diff: vec!["-   supported: x".into()] };
    let new = stored(Ruling::Fail, Some(new), &[]);
    let lines = ["snapshot    1 of 1 -> 0 of 1", "diff        -   supported: x", "accept      cargo insta review"];
    let older = stored(Ruling::Fail, None, &lines);
    for decision in [new, older] {
        project(folder.path(), &[&[("a", 1.0), ("b", 0.5)]]);
        change_run(folder.path(), |run| {
            run.decisions = vec![decision];
            run.manifest.target = Some("my_gate".into());
        });
        for rules in [RULES.to_owned(), RULES.replace("min: 0.2", "min: 0.1")] {
            write(folder.path(), "thresholds.yaml", &rules);
            let text = ends(folder.path(), &["gate", "1.json"], 1);
            assert!(lines.iter().all(|line| text.lines().any(|told| told == *line)), "{text}");
            assert!(text.contains("look        cargo test --test my_gate -- --exact 'case::all::b'"), "{text}");
        }
        write(
            &folder.path().join("cases"),
            "all.yaml",
            &CASES.replace("query: r,", "query: r, known_failure: {metrics: [recall@5], reason: later},"),
        );
        ends(folder.path(), &["gate", "1.json"], 1);
        std::fs::rename(folder.path().join("cases/all.yaml"), folder.path().join("cases/other.yaml")).expect("moved");
        let text = ends(folder.path(), &["gate", "1.json"], 2);
        assert!(text.contains("`case::all::b` is red by its snapshot in the run"), "{text}");
        std::fs::remove_dir_all(folder.path().join("cases")).expect("removed");
    }
}

#[test]
fn a_run_with_two_records_of_a_case_is_refused() {
    let folder = folder();
    project(folder.path(), &[&[("a", 1.0), ("b", 0.5), ("b", 1.0)]]);
    for arguments in [&["gate", "1.json"][..], &["compare", "1.json", "1.json"]] {
        let text = ends(folder.path(), arguments, 2);
        assert!(text.contains("1.json: case `b` has two records in it"), "{text}");
    }
}

#[test]
fn a_run_with_other_repeats_than_the_files_is_refused_by_that_name() {
    let folder = folder();
    project(folder.path(), &[&[("a", 1.0), ("b", 1.0)]]);
    let text = std::fs::read_to_string(folder.path().join("1.json")).expect("a run");
    let mut run: Run = serde_json::from_str(&text).expect("a run");
    // Both ways: asked more often in the run than now, and less often.
    for (in_run, now) in [("repeats: {times: 3, reduce: worst}\n", ""), ("", "repeats: {times: 3, reduce: worst}\n")] {
        let path = folder.path().join("thresholds.yaml");
        write(folder.path(), "thresholds.yaml", &format!("{RULES}{in_run}"));
        let policy = load::policy(&path, METRICS).expect("a policy");
        run.manifest.parameters = policy.rules.parameters();
        for record in &mut run.records {
            let repeat = Repeat {
                taken: record.taken.clone(),
                outcomes: record.outcomes.clone(),
                transcript: Transcript::default(),
            };
            record.repeats = (!in_run.is_empty()).then(|| Repeated { shown: 1, each: vec![repeat; 3] });
        }
        write(folder.path(), "1.json", &serde_json::to_string(&run).expect("JSON"));
        write(folder.path(), "thresholds.yaml", &format!("{RULES}{now}"));
        let text = ends(folder.path(), &["gate", "1.json"], 2);
        assert!(text.contains("`a` was asked or reduced otherwise in the run than its `repeats` say now"), "{text}");
    }
}
