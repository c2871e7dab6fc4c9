//! Fresh readings through the loop that asks.

use std::{sync::Mutex, time::Duration};

use serde_json::{Value, json};

use super::*;
use crate::{
    evaluate::Judging,
    gate::{
        fixture::{golden, key, unit},
        rule::{MetricRule, Rules},
    },
    judge::{Judge, Judged as Said},
    metric::METRICS,
    model::{Answer, CaseId, Detail, Ending, Reply, RetrievedContext, Verdict, run::JudgeStamp},
    store::{baseline::Answers, ledger::Ledger, slots::Limit},
    system::from_fn,
};

/// Replies as it is told, and remembers what it was asked.
struct Told {
    reply: fn(&JudgeRequest) -> Reply,
    asked: Mutex<Vec<JudgeRequest>>,
}

impl Judge for Told {
    fn stamp(&self) -> JudgeStamp {
        JudgeStamp::default()
    }

    fn is_deterministic(&self) -> bool {
        false
    }

    fn ask<'a>(&'a self, _case: &'a CaseId, request: &'a JudgeRequest) -> crate::system::BoxFuture<'a, Said> {
        self.asked.lock().expect("no panic").push(request.clone());
        Box::pin(async move { (self.reply)(request).into() })
    }
}

fn value(value: Value) -> Reply {
    Reply::Value { value }
}

/// A fresh reading of this metric's first outcome; what was heard, and what the judge was asked.
fn reread(
    metric: &str,
    of: AskedOf,
    first: &Outcome,
    reply: fn(&JudgeRequest) -> Reply,
) -> (FreshReading, Vec<JudgeRequest>) {
    let judge = Arc::new(Told { reply, asked: Mutex::default() });
    let mut rules = Rules::default();
    rules.metrics.insert(key(metric), MetricRule { judge: of, ..MetricRule::default() });
    let evaluation = Evaluation {
        system: Arc::from(from_fn(async |_: String| Ok::<_, std::io::Error>(Answer::default()))),
        judging: Judging {
            judge: Arc::clone(&judge) as Arc<dyn Judge>,
            timeout: Duration::from_secs(5),
            limit: Limit::in_process(1),
            minute: None,
            account: None,
            replies: None,
        },
        ledger: Ledger::in_process(None),
        metrics: METRICS.to_vec(),
        rules,
        baseline: Answers::default(),
        system_timeout: Duration::from_secs(5),
        system_limit: Limit::in_process(1),
        embedding: None,
    };
    let answer = Answer::new("Refunds take 30 days. It rains.");
    let answer = answer.with_contexts([RetrievedContext::new("refunds", "Refunds take 30 days.")]);
    let sample = Sample { answer, is_refusal: false, latency_ms: None };
    let case = golden("a", 1);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let read = runtime.block_on(evaluation.reread(&case, &sample, &key(metric), first, 7));
    let asked = judge.asked.lock().expect("no panic").clone();
    (read, asked)
}

fn two_claims() -> Outcome {
    let claim =
        |text: &str| Claim { text: text.to_owned(), verdict: Verdict::Unsupported, evidence: None, reason: None };
    Outcome::scored_with(unit(0.0), Detail { claims: vec![claim("one"), claim("two")], ..Detail::default() })
}

#[test]
fn a_metric_with_fixed_items_hears_one_verdict_on_each_in_their_order() {
    let (read, asked) = reread("faithfulness", AskedOf::Policy, &two_claims(), |request| {
        let claims = request.numbered_of("claims").expect("claims");
        let verdict = |claim: &String| if claim == "one" { "supported" } else { "contradicted" };
        let entries: Vec<Value> =
            (1..).zip(claims).map(|(n, claim): (usize, _)| json!({"n": n, "verdict": verdict(claim)})).collect();
        value(json!({"claims": entries}))
    });
    assert_eq!(read.heard, Heard::Verdicts { verdicts: vec![Verdict::Supported, Verdict::Contradicted] });
    assert_eq!(
        asked.iter().map(|request| (request.name.as_str(), request.sample)).collect::<Vec<_>>(),
        [("faithfulness.confirm", 7)]
    );
    assert_eq!(read.exchanges.len(), 1);
}

#[test]
fn a_metric_without_fixed_items_is_asked_whole_under_samples_of_its_own() {
    let (read, asked) = reread("toxicity", AskedOf::Policy, &two_claims(), |request| {
        let sentences = request.numbered_of("sentences").expect("sentences").len();
        let entries: Vec<Value> = (1..=sentences).map(|n| json!({"n": n, "verdict": "clean"})).collect();
        value(json!({"sentences": entries}))
    });
    assert_eq!(read.heard, Heard::Score { score: unit(1.0) }, "{:?}", read.exchanges);
    assert_eq!(asked.iter().map(|request| (request.sample, request.retry)).collect::<Vec<_>>(), [(7000, 0)]);
}

#[test]
fn a_call_that_fails_is_no_vote_and_says_why() {
    let (read, asked) = reread("faithfulness", AskedOf::Policy, &two_claims(), |_| Reply::Failed {
        ending: Ending::Provider,
        why: "503".to_owned(),
    });
    let Heard::Nothing { why } = read.heard else { panic!("{:?}", read.heard) };
    assert!(why.starts_with("judge error: ") && why.contains("503"), "{why}");
    assert_eq!(asked.len(), 1);
    let (read, asked) = reread("toxicity", AskedOf::Policy, &two_claims(), |_| value(json!({"sentences": []})));
    let Heard::Nothing { why } = read.heard else { panic!("{:?}", read.heard) };
    assert!(why.starts_with("judge reply incomplete: "), "{why}");
    assert_eq!(asked.iter().map(|request| (request.sample, request.retry)).collect::<Vec<_>>(), [(7000, 0), (7000, 1)]);
}

#[test]
fn what_is_left_to_offline_is_not_asked_of_the_judge() {
    let context =
        Claim { text: "context refunds".to_owned(), verdict: Verdict::Supported, evidence: None, reason: None };
    let first = Outcome::scored_with(unit(1.0), Detail { claims: vec![context], ..Detail::default() });
    let (read, asked) = reread("context_relevancy", AskedOf::Offline, &first, |_| value(json!({})));
    assert!(matches!(read.heard, Heard::Verdicts { .. }), "{:?}", read.heard);
    assert!(asked.is_empty());
}
