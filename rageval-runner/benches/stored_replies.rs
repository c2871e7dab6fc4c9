//! A run whose judge's replies are all stored: does its time grow with the cases and no faster?
//!
//! Started with `RAGEVAL_GATE` this binary is a gate over the project in `CARGO_MANIFEST_DIR`. Else it writes projects of 1,000, 3,000
//! and 10,000 cases with four judged requests each, stores every reply (those of the offline judge, under the keys of a hosted one), and
//! times whole runs of the gate in `replay`, from the start of the process to its end. Other numbers of cases may follow on the command line.

use std::{
    fmt::Write as _,
    fs,
    path::Path,
    process::{Command, ExitCode},
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::StreamExt as _;
use rageval_runner::{
    evaluate::{Evaluation, Judging, Replies},
    judge::{
        self,
        key::ReplyKeys,
        spec::{JudgeProvider, JudgeSpec, ReplyMode},
    },
    load,
    metric::{METRICS, Metric},
    store::{baseline::Answers, ledger::Ledger, replies::ReplyStore, slots::Limit},
    system,
};
use serde_json::json;

const GATE: &str = "RAGEVAL_GATE";
const SIZES: [usize; 3] = [1_000, 3_000, 10_000];
const ROUNDS: usize = 3;
const REQUESTS: usize = 4;

const POLICY: &str = "version: 1
system: {kind: recorded, generator: g}
snapshots: {fail_on: never}
judge: {provider: openai, base_url: \"http://127.0.0.1:1/v1\", model: m-2026-01-01, mode: replay}
budget: {requests: 1}
waive: {calibration: {reason: a fixture, until: 2999-12-31}}
metrics:
  faithfulness: {mean: {min: 0}}
  answer_relevancy: {mean: {min: 0}}
  context_precision: {mean: {min: 0}}
  context_recall: {mean: {min: 0}}
";

fn main() -> ExitCode {
    if std::env::var_os(GATE).is_some() {
        return rageval_runner::Suite::new(rageval_runner::location!()).run();
    }
    let asked: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    println!("{:>7} {:>12} {:>12} {:>12} {:>14}", "cases", "replies", "wall s", "CPU s", "CPU ms a case");
    for cases in if asked.is_empty() { SIZES.to_vec() } else { asked } {
        let folder = tempfile::tempdir().expect("a temporary folder");
        project(folder.path(), cases);
        store_all(folder.path(), cases);
        let before = processor_time();
        let mut times: Vec<Duration> = (0..ROUNDS).map(|_| replayed(folder.path(), cases)).collect();
        let used = processor_time().zip(before).map(|(after, before)| (after - before) / ROUNDS as f64);
        times.sort();
        let wall = times[ROUNDS / 2].as_secs_f64();
        let (used, each) = (used.unwrap_or(f64::NAN), used.unwrap_or(f64::NAN) * 1000.0 / cases as f64);
        println!("{cases:>7} {:>12} {wall:>12.2} {used:>12.2} {each:>14.3}", cases * REQUESTS);
    }
    ExitCode::SUCCESS
}

fn project(folder: &Path, cases: usize) {
    fs::write(folder.join("Cargo.toml"), "[workspace]\n").expect("written");
    fs::write(folder.join("thresholds.yaml"), POLICY).expect("written");
    fs::create_dir(folder.join("cases")).expect("made");
    let mut text = String::new();
    for n in 0..cases {
        let contexts = [
            format!("Parcel {n} is blue and weighs 3 kilograms. It was sent on the {}th by road.", n % 28),
            format!("Parcels like {n} are insured up to 500 euros, and are brought back after 14 days."),
            "Our desk in the main hall is open from 9 to 17 on every day of the week but Sunday.".to_owned(),
        ];
        let case = json!({
            "id": format!("c{n}"), "query": format!("What colour is parcel {n}, and what does it weigh?"), "language": "en",
            "ground_truth_answer": format!("Parcel {n} is blue and weighs 3 kilograms."),
            "response": format!("Parcel {n} is blue. Parcel {n} weighs 3 kilograms."), "retrieved_contexts": contexts,
        });
        writeln!(text, "{case}").expect("a line");
    }
    fs::write(folder.join("cases/all.jsonl"), text).expect("written");
}

/// Seconds of processor time that ended children used; `None` where the system does not tell.
fn processor_time() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in brackets, may hold anything; times are in hundredths of a second.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some((fields.get(13)?.parse::<f64>().ok()? + fields.get(14)?.parse::<f64>().ok()?) / 100.0)
}

/// Evaluates every case once, so that every reply is stored.
fn store_all(folder: &Path, cases: usize) {
    let policy = load::policy(&folder.join("thresholds.yaml"), METRICS).unwrap_or_else(|problems| panic!("{problems}"));
    let set = load::cases(&policy, METRICS).unwrap_or_else(|problems| panic!("{problems}"));
    let system = system::open(&policy.system, &policy.root, &|_| None, &set).expect("a system");
    let judge = judge::open(&JudgeSpec::of_provider(JudgeProvider::Offline), &|_| None).expect("a judge");
    let store = ReplyStore::new(&policy.root, None);
    let keys = ReplyKeys::of(&policy.judge).expect("the keys of a hosted judge");
    let evaluation = Evaluation {
        system: Arc::from(system),
        judging: Judging {
            judge,
            timeout: policy.judge.timeout,
            limit: Limit::in_process(64),
            minute: None,
            account: None,
            replies: Some(Replies::new(store.clone(), keys, ReplyMode::Cached)),
        },
        ledger: Ledger::in_process(None),
        baseline: Answers::default(),
        embedding: None,
        metrics: METRICS.iter().map(|metric| *metric as &'static dyn Metric).collect(),
        rules: policy.rules.clone(),
        system_timeout: policy.system.timeout,
        system_limit: Limit::in_process(8),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        futures_util::stream::iter(&set.cases)
            .for_each_concurrent(64, |case| async { drop(evaluation.record(case).await) })
            .await;
    });
    assert_eq!(store.keys().expect("readable").len(), cases * REQUESTS);
}

/// Runs the gate, which must pass on stored replies alone; how long it took.
fn replayed(folder: &Path, cases: usize) -> Duration {
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command.current_dir(folder).arg("-q").env(GATE, "1").env("CI", "true");
    command.env("CARGO_MANIFEST_DIR", folder).env("RAGEVAL_RUNS", folder.join("runs"));
    command.env_remove("NEXTEST_RUN_ID").env_remove("RAGEVAL_JUDGE_MODE");
    let started = Instant::now();
    let output = command.output().expect("a run");
    let took = started.elapsed();
    let said = String::from_utf8_lossy(&output.stderr);
    let all = format!("judge replies: {} stored, 0 asked for (`replay`)", cases * REQUESTS);
    assert!(output.status.success() && said.contains(&all), "{said}");
    took
}
