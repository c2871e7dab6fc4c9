//! A thousand cases against a server that fails in every way it can.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::StreamExt as _;
use rageval_runner::{
    evaluate::{Evaluation, Judging},
    judge, load,
    metric::{METRICS, Metric},
    model::{MetricKey, Outcome},
    store::{
        ledger::{Account, Ledger},
        slots::Limit,
    },
    system,
};
use serde_json::json;

use super::{
    KEY, Test, run,
    stub::{Reply, Seen, Stub, completion},
};

pub(crate) const TESTS: &[Test] = &[("a_thousand_cases_against_a_failing_server_lose_none_and_get_none_wrong", faults)];

/// Cases of the run.
const CASES: usize = 1000;

/// Cases that may end unmeasured.
const ALLOWED: usize = 5;

/// What the server does wrong, and on how many of a thousand calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    TooMany,
    Broken,
    Cut,
    Malformed,
    Half,
    Hang,
}

const SHARES: [(Fault, u64); 6] = [
    (Fault::TooMany, 100),
    (Fault::Broken, 50),
    (Fault::Cut, 50),
    (Fault::Malformed, 50),
    (Fault::Half, 50),
    (Fault::Hang, 10),
];

/// The fault of the nth call of a body: drawn from both, so that a run is the same whatever comes first, and none sticks to a case.
fn fault(seen: &Seen, nth: u64) -> Option<Fault> {
    let drawn = blake3::hash(format!("{nth}\n{}", seen.body).as_bytes());
    let mut place = u64::from_le_bytes(drawn.as_bytes()[..8].try_into().expect("eight bytes")) % 1000;
    for (fault, share) in SHARES {
        if place < share {
            return Some(fault);
        }
        place -= share;
    }
    None
}

/// The number of the case that a body is about.
fn case(seen: &Seen) -> usize {
    let (_, rest) = seen.body.split_once("Parcel ").expect("the sentence of a case");
    rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().expect("a number")
}

/// Whether the second claim of a case is supported.
fn is_supported(case: usize) -> bool {
    case.is_multiple_of(3)
}

/// The verdicts about the two sentences of a case.
fn verdicts(case: usize, sentences: usize) -> String {
    let verdicts = ["supported", if is_supported(case) { "supported" } else { "contradicted" }];
    let each =
        verdicts.iter().take(sentences).enumerate().map(
            |(at, verdict)| json!({"n": at + 1, "claims": [{"claim": format!("claim {at}"), "verdict": verdict, "context": 1}]}),
        );
    json!({"sentences": each.collect::<Vec<_>>()}).to_string()
}

fn server(counts: Arc<Mutex<BTreeMap<Fault, usize>>>) -> Stub {
    let calls: Mutex<BTreeMap<String, u64>> = Mutex::default();
    Stub::start(move |seen, _| {
        let nth = {
            let mut calls = calls.lock().expect("no panic");
            let nth = calls.entry(seen.body.clone()).or_default();
            *nth += 1;
            *nth
        };
        let whole = completion(&verdicts(case(seen), 2)).to_string();
        let Some(fault) = fault(seen, nth) else { return Reply::ok(whole) };
        *counts.lock().expect("no panic").entry(fault).or_default() += 1;
        match fault {
            Fault::TooMany => Reply::Whole(429, "retry-after-ms: 20\r\n", r#"{"detail": "slow down"}"#.to_owned()),
            Fault::Broken => Reply::status(500, "oops"),
            Fault::Cut => Reply::Cut(whole),
            Fault::Malformed => Reply::ok(whole.replacen(':', "", 3)),
            Fault::Half => Reply::completion(&verdicts(case(seen), 1)),
            Fault::Hang => Reply::Hang,
        }
    })
}

fn faults() {
    let counts = Arc::new(Mutex::new(BTreeMap::new()));
    let stub = server(Arc::clone(&counts));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut cases = String::new();
    for n in 0..CASES {
        let response = format!("Parcel {n} is blue. Parcel {n} weighs 3 kilograms.");
        let line = json!({"id": format!("c{n}"), "query": format!("What of {n}?"), "language": "en", "response": response, "retrieved_contexts": [format!("Parcel {n} is blue.")]});
        writeln!(cases, "{line}").expect("a line");
    }
    std::fs::write(folder.path().join("cases.jsonl"), cases).expect("written");
    let policy = format!(
        "version: 1\ncases: cases.jsonl\nsystem: {{kind: recorded}}\nmetrics: {{faithfulness: }}\nbudget: {{requests: 20000}}\njudge:\n  provider: openai\n  base_url: {}/v1\n  model: judge-2026-01-01\n  api_key_env: JUDGE_KEY\n  timeout: 20s\n  try_timeout: 3s\n  max_in_flight: 64\n",
        stub.url()
    );
    let file = folder.path().join("thresholds.yaml");
    std::fs::write(&file, policy).expect("written");

    let policy = load::policy(&file, METRICS).unwrap_or_else(|problems| panic!("{problems}"));
    let set = load::cases(&policy, METRICS).unwrap_or_else(|problems| panic!("{problems}"));
    let judge = judge::open(&policy.judge, &|_| Some(KEY.to_owned())).expect("a judge");
    let system = system::open(&policy.system, &policy.root, &|_| None, &set).expect("a system");
    let ledger = Ledger::in_process(policy.budget.as_ref());
    let evaluation = Evaluation {
        system: Arc::from(system),
        judging: Judging {
            judge: Arc::clone(&judge),
            timeout: policy.judge.timeout,
            limit: Limit::in_process(policy.judge.max_in_flight),
            minute: None,
            account: Some(Account { ledger: ledger.clone(), price: None }),
            replies: None,
        },
        ledger: ledger.clone(),
        metrics: METRICS.iter().map(|metric| *metric as &'static dyn Metric).collect(),
        baseline: rageval_runner::store::baseline::Answers::default(),
        rules: policy.rules.clone(),
        system_timeout: policy.system.timeout,
        system_limit: Limit::in_process(8),
        embedding: None,
    };
    let started = Instant::now();
    let done = AtomicU64::new(0);
    let records = run(async {
        futures_util::stream::iter(&set.cases)
            .map(|case| async {
                let record = evaluation.record(case).await;
                done.fetch_add(1, Ordering::Relaxed);
                record
            })
            .buffer_unordered(72)
            .collect::<Vec<_>>()
            .await
    });
    let took = started.elapsed();

    assert_eq!(done.load(Ordering::Relaxed), CASES as u64);
    let ids: BTreeSet<_> = records.iter().map(|record| record.case.as_str().to_owned()).collect();
    assert_eq!(ids.len(), CASES, "cases were lost");
    let key = MetricKey::parse("faithfulness").expect("a key");
    let mut unmeasured = Vec::new();
    for record in &records {
        let number: usize = record.case.as_str()[1..].parse().expect("a number");
        match &record.outcomes[&key] {
            Outcome::Scored { score, .. } => {
                let right = if is_supported(number) { 1.0 } else { 0.5 };
                assert_eq!(score.value.get(), right, "{}", record.case);
            }
            Outcome::Unmeasured { fault } => {
                unmeasured.push(format!("{}: {}: {}", record.case, fault.cause, fault.why));
            }
            Outcome::NotApplicable { why } => panic!("{}: {why}", record.case),
        }
    }
    let counts = counts.lock().expect("no panic").clone();
    println!("{} calls in {took:?}, {} unmeasured, faults {counts:?}", stub.seen().len(), unmeasured.len());
    assert!(unmeasured.len() <= ALLOWED, "{unmeasured:#?}");
    assert!(unmeasured.iter().all(|text| !text.contains("sk-planted")), "{unmeasured:#?}");
    assert_eq!(counts.len(), SHARES.len(), "not every fault came: {counts:?}");
    assert!(took < Duration::from_secs(60), "{took:?}");
    let spent = ledger.spent().expect("something was asked");
    assert_eq!(spent.requests, stub.seen().len() as u64, "what is sent again is counted");
    assert!(judge.notices().iter().any(|notice| notice.contains("429: ")), "{:?}", judge.notices());
}
