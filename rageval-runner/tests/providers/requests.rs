//! How many requests the four RAG metrics take.

use std::collections::BTreeMap;

use super::{
    Test,
    four_metrics::{METRICS_YAML, answer, asked, cases},
    gate::Project,
    stub::{Reply, Stub},
};

pub(crate) const TESTS: &[Test] = &[
    ("a_case_takes_four_requests_to_the_judge_for_the_four_rag_metrics", four_a_case),
    ("verdicts_that_do_not_fit_are_asked_for_once_more", once_more),
];

const CASES: usize = 12;

/// A project with the four metrics, judge and embedder at this stub.
fn project(stub: &Stub) -> Project {
    let project = Project::new(stub, [], "");
    let url = stub.url();
    project.write(
        "thresholds.yaml",
        &format!(
            "version: 1\nsystem: {{kind: recorded, generator: g}}\nsnapshots: {{fail_on: never}}\nbudget: {{requests: 1000}}\n\
             judge: {{provider: openai, base_url: \"{url}/v1\", model: m-2026-01-01}}\n\
             embedder: {{provider: openai, base_url: \"{url}/v1\", model: e5-small}}\n{METRICS_YAML}"
        ),
    );
    project.write("cases/all.jsonl", &cases(CASES));
    project
}

/// How often each schema was asked for, and the embedder, under `embeddings`.
fn counted(stub: &Stub) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for seen in stub.seen() {
        *counts.entry(asked(&seen).unwrap_or_else(|| "embeddings".to_owned())).or_default() += 1;
    }
    counts
}

const REQUESTS: [&str; 5] = [
    "answer_relevancy-questions",
    "context_precision-verdicts",
    "context_recall-attributions",
    "embeddings",
    "faithfulness-verdicts",
];

fn four_a_case() {
    let stub = Stub::start(|seen, _| answer(seen));
    let project = project(&stub);
    project.passes("cached");
    // Three sentences, five contexts and two sentences of the reference: one request a metric, whatever they are.
    let once: BTreeMap<String, usize> = REQUESTS.map(|name| (name.to_owned(), CASES)).into();
    assert_eq!(counted(&stub), once);
    let outcomes: Vec<_> = project.latest().records.into_iter().flat_map(|record| record.outcomes).collect();
    assert_eq!(outcomes.len(), CASES * 4);
    assert!(outcomes.iter().all(|(_, outcome)| outcome.score().is_some()), "{outcomes:?}");

    // Their replies are stored, so another run asks the judge for nothing.
    project.passes("cached");
    let judged = |stub: &Stub| stub.seen().iter().filter(|seen| asked(seen).is_some()).count();
    assert_eq!(judged(&stub), CASES * 4);
}

fn once_more() {
    let short = r#"{"contexts": [{"n": 1, "verdict": "useful"}]}"#;
    let stub = Stub::start(move |seen, _| match asked(seen).as_deref() {
        Some("context_precision-verdicts") => Reply::completion(short),
        Some(_) | None => answer(seen),
    });
    let ran = project(&stub).run(&[]);
    ran.ends_with(101);
    let mut expected: BTreeMap<String, usize> = REQUESTS.map(|name| (name.to_owned(), CASES)).into();
    expected.insert("context_precision-verdicts".to_owned(), 2 * CASES);
    assert_eq!(counted(&stub), expected);
}
