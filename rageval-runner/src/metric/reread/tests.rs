//! Fresh readings as tables of replies.

use serde_json::{Value, json};

use super::*;
use crate::{
    metric::{
        METRICS, Metric,
        context_precision::ContextPrecision,
        context_recall::ContextRecall,
        context_relevancy::ContextRelevancy,
        faithfulness::Faithfulness,
        hallucination::Hallucination,
        trying::{Try, context},
    },
    model::{AskedOf, Exchange, JudgeRequest, Reply, Request},
};

/// Three readable contexts with a blank one between them, and a reference of three sentences.
fn tried(metric: &'static dyn Metric) -> Try {
    Try::of(metric)
        .answer("Refunds take 30 days. Shipping is free. It rains.")
        .references(&["Refunds take 30 days. Shipping is free. It rains."])
        .contexts(vec![
            context("refunds", "Refunds take 30 days."),
            context("blank", " "),
            context("shipping", "Shipping is free."),
            context("rain", "It rains."),
        ])
}

/// What a judge that knows its mind says of a request, wherever a text stands: `true` where a text speaks of refunds or shipping.
fn reply(request: &JudgeRequest) -> Value {
    let is_good = |text: &String| text.contains("Refunds") || text.contains("Shipping");
    let (list, good, bad) = match request.name.as_str() {
        "faithfulness.confirm" => ("claims", "supported", "contradicted"),
        "context_recall.attributions" => ("sentences", "attributed", "not_attributed"),
        "context_precision.verdicts" => ("contexts", "useful", "not_useful"),
        "context_relevancy.verdicts" => ("contexts", "relevant", "irrelevant"),
        other => panic!("{other} is not asked again"),
    };
    let texts = request.numbered_of(list).expect("numbered");
    let entries: Vec<Value> = (1..)
        .zip(texts)
        .map(|(n, text): (usize, _)| json!({"n": n, "verdict": if is_good(text) { good } else { bad }}))
        .collect();
    json!({ list: entries })
}

/// The claims of a first reading over these texts, all supported.
fn claims(texts: &[&str]) -> Vec<Claim> {
    let claim = |text: &&str| Claim {
        text: (*text).to_owned(),
        verdict: Verdict::Supported,
        evidence: None,
        reason: Some("as read first".to_owned()),
    };
    texts.iter().map(claim).collect()
}

const SENTENCES: [&str; 3] = ["Refunds take 30 days.", "Shipping is free.", "It rains."];
const CONTEXTS: [&str; 4] = ["context refunds", "context blank", "context shipping", "context rain"];
const READABLE: [&str; 3] = ["context refunds", "context shipping", "context rain"];

/// The metrics that read again, their first items, and which of them the judge finds bad.
fn all() -> [(&'static dyn Metric, Vec<Claim>, Vec<bool>); 5] {
    [
        (&Faithfulness, claims(&SENTENCES), vec![false, false, true]),
        (&Hallucination, claims(&SENTENCES), vec![false, false, true]),
        (&ContextRecall, claims(&SENTENCES), vec![false, false, true]),
        (&ContextPrecision, claims(&CONTEXTS), vec![false, true, false, true]),
        (&ContextRelevancy, claims(&READABLE), vec![false, false, true]),
    ]
}

fn exchange(request: Request, value: Value) -> Exchange {
    Exchange { request, reply: Reply::Value { value }, of: AskedOf::Policy, source: None }
}

fn asked(reading: Reading<Vec<Verdict>>) -> JudgeRequest {
    match reading {
        Reading::Ask(Request::Judge(request)) => request,
        other @ (Reading::Ask(_) | Reading::Read(_) | Reading::Fault(_)) => panic!("expected a request: {other:?}"),
    }
}

#[test]
fn the_metrics_with_numbered_items_are_read_again_and_no_other() {
    let names: Vec<&str> =
        METRICS.iter().filter(|metric| metric.rereads().is_some()).map(|metric| metric.name()).collect();
    assert_eq!(names, ["faithfulness", "context_precision", "context_recall", "hallucination", "context_relevancy"]);
}

#[test]
fn verdicts_come_back_to_their_items_whatever_the_order_shown() {
    for (metric, claims, bad) in all() {
        let reread = metric.rereads().expect("it reads again");
        tried(metric).look(|input| {
            let mut orders = std::collections::BTreeSet::new();
            for number in 1..=8 {
                let request = asked(reread.step(input, &claims, number, &Transcript::default()));
                assert_eq!((request.sample, request.retry), (number, 0), "{}", metric.name());
                orders.insert(format!("{:?}", request.fields));
                let exchanges = vec![exchange(Request::Judge(request.clone()), reply(&request))];
                let read = reread.step(input, &claims, number, &Transcript { exchanges });
                let Reading::Read(verdicts) = read else { panic!("{}: {read:?}", metric.name()) };
                let heard: Vec<bool> = verdicts.iter().map(|verdict| reread.is_bad(input.params, *verdict)).collect();
                assert_eq!(heard, bad, "{} at {number}", metric.name());
            }
            assert!(orders.len() >= 4, "{}: the order changes with the sample", metric.name());
        });
    }
}

#[test]
fn a_reply_that_does_not_fit_is_asked_again_once_and_then_says_nothing() {
    for (metric, claims, _) in all() {
        let reread = metric.rereads().expect("it reads again");
        tried(metric).look(|input| {
            let first = asked(reread.step(input, &claims, 1, &Transcript::default()));
            let mut exchanges = vec![exchange(Request::Judge(first), json!({"score": 1.0}))];
            let second = asked(reread.step(input, &claims, 1, &Transcript { exchanges: exchanges.clone() }));
            assert_eq!((second.sample, second.retry), (1, 1));
            exchanges.push(exchange(Request::Judge(second), json!({})));
            let read = reread.step(input, &claims, 1, &Transcript { exchanges });
            assert!(matches!(read, Reading::Fault(_)), "{}: {read:?}", metric.name());
        });
    }
}

#[test]
fn items_with_all_verdicts_good_score_1_and_with_all_bad_0() {
    for (metric, claims, bad) in all() {
        let reread = metric.rereads().expect("it reads again");
        tried(metric).look(|input| {
            let of = |bad: &[bool]| score_of(reread, input, bad);
            assert_eq!(of(&vec![false; claims.len()]), Some(1.0), "{}", metric.name());
            assert_eq!(of(&vec![true; claims.len()]), Some(0.0), "{}", metric.name());
            let expected = if metric.name() == "context_precision" { (1.0 + 2.0 / 3.0) / 2.0 } else { 2.0 / 3.0 };
            assert!((of(&bad).expect("a score") - expected).abs() < 1e-12, "{}: {:?}", metric.name(), of(&bad));
        });
    }
}

#[test]
fn faithfulness_and_hallucination_ask_the_same_and_weigh_it_in_their_own_way() {
    let claims = claims(&SENTENCES);
    let request = |metric: &'static dyn Metric| {
        let reread = metric.rereads().expect("it reads again");
        tried(metric).look(|input| asked(reread.step(input, &claims, 3, &Transcript::default())))
    };
    assert_eq!(request(&Faithfulness), request(&Hallucination));
    for (verdict, inferred, unfaithful, hallucinated) in [
        (Verdict::Supported, false, false, false),
        (Verdict::Inferred, false, true, false),
        (Verdict::Inferred, true, false, false),
        (Verdict::Unsupported, true, true, false),
        (Verdict::Contradicted, true, true, true),
    ] {
        let params = Params([("inferred".to_owned(), json!(inferred))].into());
        assert_eq!(Faithfulness.is_bad(&params, verdict), unfaithful, "{verdict:?}");
        assert_eq!(Hallucination.is_bad(&params, verdict), hallucinated, "{verdict:?}");
    }
}

#[test]
fn a_sentence_that_no_longer_states_anything_leaves_the_reading_without_a_vote() {
    tried(&ContextRecall).look(|input| {
        let claims = claims(&["It rains."]);
        let ask = |exchanges: &[Exchange]| {
            let transcript = Transcript { exchanges: exchanges.to_vec() };
            Reread::step(&ContextRecall, input, &claims, 1, &transcript)
        };
        let none = json!({"sentences": [{"n": 1, "no_claim": true}]});
        let mut exchanges = Vec::new();
        for _ in 0..2 {
            exchanges.push(exchange(Request::Judge(asked(ask(&exchanges))), none.clone()));
        }
        let Reading::Fault(fault) = ask(&exchanges) else { panic!("a fault") };
        assert!(fault.why.contains("stated something before"), "{}", fault.why);
    });
}
