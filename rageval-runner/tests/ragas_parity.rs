//! The figures of RAGAS 0.4.3 on the same verdicts, questions and vectors, and where ours differ on purpose.
//!
//! `fixtures/ragas/figures.jsonl` holds what RAGAS's own scoring code said; `figures.py` beside it writes the file anew. The deviations are
//! listed in `docs/metrics.md`.

use std::path::Path;

use rageval_runner::{
    Answer, RetrievedContext,
    embed::cosine,
    metric::{self, Input, Params, Step},
    model::{AskedOf, CaseId, Exchange, GoldenCase, MetricKey, Outcome, Reply, Request, Sample, Transcript},
};
use serde::Deserialize;
use serde_json::{Value, json};

/// RAGAS adds 1e-10 to the denominator of its context precision and 1e-8 to that of its context entity recall.
const EPSILON: f64 = 1e-8;

/// Everything else agrees to the last digits of double precision.
const ROUNDING: f64 = 1e-12;

fn figures(metric: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/ragas/figures.jsonl");
    let text = std::fs::read_to_string(path).expect("figures");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a figure"));
    let found: Vec<_> = lines.filter(|line| line["metric"] == metric).collect();
    assert!(!found.is_empty(), "no figure for {metric}");
    found
}

fn given<T: for<'de> Deserialize<'de>>(line: &Value, name: &str) -> T {
    serde_json::from_value(line[name].clone()).unwrap_or_else(|error| panic!("{name} of {line}: {error}"))
}

fn ragas(line: &Value) -> f64 {
    given(line, "ragas")
}

/// Texts `{what} 1.`, `{what} 2.`, ...: each is one sentence.
fn numbered(what: &str, count: usize) -> Vec<String> {
    (1..=count).map(|n| format!("The {what} holds {n}.")).collect()
}

/// Entries numbered from 1.
fn entries<T>(items: &[T], entry: impl Fn(usize, &T) -> Value) -> Value {
    let entry = |(item, n): (&T, usize)| {
        let mut entry = entry(n, item);
        entry["n"] = json!(n);
        entry
    };
    items.iter().zip(1..).map(entry).collect()
}

fn word(flag: u8, yes: &'static str, no: &'static str) -> &'static str {
    if flag == 1 { yes } else { no }
}

/// A sample with its case and parameters.
struct Measured {
    metric: &'static str,
    answer: Vec<String>,
    reference: Vec<String>,
    contexts: usize,
    params: Value,
}

impl Measured {
    fn of(metric: &'static str) -> Self {
        Self { metric, answer: numbered("answer", 1), reference: Vec::new(), contexts: 1, params: json!({}) }
    }

    /// The outcome where the judge says this, and the embedder has these vectors for the texts it is asked about, in their order.
    fn outcome(self, said: &Value, vectors: &[Vec<f32>]) -> Outcome {
        let references = if self.reference.is_empty() { Vec::new() } else { vec![self.reference.join(" ")] };
        let case = GoldenCase {
            references,
            group: "en".to_owned(),
            ..GoldenCase::new(CaseId::new("case-1").expect("a valid id"), "What do they hold?")
        };
        let contexts = numbered("context", self.contexts).into_iter().map(RetrievedContext::without_id);
        let answer = Answer::new(self.answer.join(" ")).with_contexts(contexts);
        let sample = Sample { answer, is_refusal: false, latency_ms: None };
        let metric = metric::find(self.metric).expect("a metric");
        let key = MetricKey::parse(self.metric).expect("a key");
        let params = Params(serde_json::from_value(self.params).expect("parameters"));
        let input = Input { case: &case, sample: &sample, key: &key, params: &params, baseline: None };
        let mut transcript = Transcript::default();
        for _ in 0..4 {
            match metric.step(&input, &transcript) {
                Step::Done(outcome) => return outcome,
                Step::Ask(requests) => {
                    for request in requests {
                        let value = match &request {
                            Request::Judge(_) => said.clone(),
                            Request::Embed(request) => {
                                assert_eq!(request.others.len() + 1, vectors.len());
                                let likeness = |vector| cosine(&vectors[0], vector).expect("a cosine");
                                vectors[1..].iter().map(|vector| likeness(vector)).collect::<Vec<_>>().into()
                            }
                        };
                        transcript.exchanges.push(Exchange {
                            request,
                            reply: Reply::Value { value },
                            of: AskedOf::Policy,
                            source: None,
                        });
                    }
                }
            }
        }
        panic!("{} asks on and on: {transcript:?}", self.metric)
    }
}

#[track_caller]
fn agrees(outcome: &Outcome, expected: f64, tolerance: f64, line: &Value) {
    let score = outcome.score().unwrap_or_else(|| panic!("{outcome:?} for {line}")).get();
    assert!((score - expected).abs() <= tolerance, "{score}, expected {expected}, for {line}");
}

#[test]
fn faithfulness_agrees() {
    for line in figures("faithfulness") {
        let verdicts: Vec<u8> = given(&line, "verdicts");
        let answer = numbered("answer", verdicts.len());
        let said = json!({"sentences": entries(&verdicts, |n, verdict| {
            json!({"claims": [{"claim": answer[n - 1], "verdict": word(*verdict, "supported", "unsupported")}]})
        })});
        agrees(&Measured { answer, ..Measured::of("faithfulness") }.outcome(&said, &[]), ragas(&line), ROUNDING, &line);
    }
}

#[test]
fn what_only_follows_from_the_contexts_is_faithful_to_ragas_and_to_us_where_asked_for() {
    let said = json!({"sentences": [{"n": 1, "claims": [{"claim": "It holds 1.", "verdict": "inferred"}]}]});
    let score = |params: Value| Measured { params, ..Measured::of("faithfulness") }.outcome(&said, &[]).score();
    assert_eq!(score(json!({})).map(f64::from), Some(0.0));
    assert_eq!(score(json!({"inferred": true})).map(f64::from), Some(1.0));
}

#[test]
fn context_recall_agrees() {
    for line in figures("context_recall") {
        let verdicts: Vec<u8> = given(&line, "verdicts");
        let said = json!({"sentences": entries(&verdicts, |_, verdict| {
            json!({"verdict": word(*verdict, "attributed", "not_attributed")})
        })});
        let measured = Measured { reference: numbered("reference", verdicts.len()), ..Measured::of("context_recall") };
        agrees(&measured.outcome(&said, &[]), ragas(&line), ROUNDING, &line);
    }
}

#[test]
fn context_precision_agrees_but_for_the_constant_in_its_denominator() {
    for line in figures("context_precision") {
        let verdicts: Vec<u8> = given(&line, "verdicts");
        let said = json!({"contexts": entries(&verdicts, |_, verdict| {
            json!({"verdict": word(*verdict, "useful", "not_useful")})
        })});
        let reference = numbered("reference", usize::from(given::<bool>(&line, "with_reference")));
        let measured = Measured { contexts: verdicts.len(), reference, ..Measured::of("context_precision") };
        let outcome = measured.outcome(&said, &[]);
        agrees(&outcome, ragas(&line), EPSILON, &line);
        if verdicts.iter().all(|verdict| *verdict == 1) {
            assert_eq!(outcome.score().map(f64::from), Some(1.0), "perfect is exactly 1");
            assert!(ragas(&line) < 1.0);
        }
    }
}

#[test]
fn context_entity_recall_agrees_but_for_the_constant_in_its_denominator() {
    for line in figures("context_entity_recall") {
        let verdicts: Vec<u8> = given(&line, "verdicts");
        let names: Vec<_> = (1..=verdicts.len()).map(|n| format!("entity {n}")).collect();
        let found: Vec<_> =
            names.iter().zip(&verdicts).filter(|(_, found)| **found == 1).map(|(name, _)| name).collect();
        agrees(&entity_recall(&names, |name| found.contains(&name)), ragas(&line), EPSILON, &line);
    }
}

fn entity_recall(names: &[String], found: impl Fn(&String) -> bool) -> Outcome {
    let entity = |name| json!({"entity": name, "verdict": if found(name) { "found" } else { "missing" }});
    let said = json!({"sentences": [{"n": 1, "entities": names.iter().map(entity).collect::<Vec<_>>()}]});
    Measured { reference: numbered("reference", 1), ..Measured::of("context_entity_recall") }.outcome(&said, &[])
}

#[test]
fn an_entity_that_the_reference_repeats_counts_once_with_us_and_lowers_the_figure_of_ragas() {
    for line in figures("context_entity_recall/repeated") {
        let (names, contexts): (Vec<String>, Vec<String>) = (given(&line, "reference"), given(&line, "contexts"));
        let outcome = entity_recall(&names, |name| contexts.contains(name));
        agrees(&outcome, 0.5, 0.0, &line);
        assert!(ragas(&line) < 0.34, "{line}");
    }
}

/// The judge's questions with one flag, and the vectors of the query and of the questions.
fn suggested(line: &Value, noncommittal: bool) -> Outcome {
    let questions: Vec<Vec<f32>> = given(line, "questions");
    let said = json!({
        "questions": entries(&questions, |n, _| json!({"question": format!("What holds {n}?")})),
        "noncommittal": noncommittal,
    });
    let params = json!({"mode": "questions", "questions": questions.len()});
    let vectors: Vec<_> = std::iter::once(given(line, "query")).chain(questions).collect();
    Measured { params, ..Measured::of("answer_relevancy") }.outcome(&said, &vectors)
}

#[test]
fn answer_relevancy_by_questions_agrees_down_to_0() {
    let mut below = 0;
    for line in figures("answer_relevancy") {
        below += usize::from(ragas(&line) < 0.0);
        agrees(&suggested(&line, given(&line, "noncommittal")), ragas(&line).max(0.0), ROUNDING, &line);
    }
    assert!(below > 0, "no figure of RAGAS lies below 0, so that nothing shows the floor");
}

#[test]
fn ragas_takes_an_answer_for_noncommittal_when_all_its_questions_say_so_and_we_ask_once() {
    for line in figures("answer_relevancy/flags") {
        let flags: Vec<u8> = given(&line, "noncommittal");
        let all = flags.iter().all(|flag| *flag == 1);
        agrees(&suggested(&line, all), ragas(&line).max(0.0), ROUNDING, &line);
    }
}

#[test]
fn answer_correctness_agrees_but_for_likeness_below_0() {
    let mut below = 0;
    for line in figures("answer_correctness") {
        let (answer, reference): (Vec<u8>, Vec<u8>) = (given(&line, "answer"), given(&line, "reference"));
        let said = json!({
            "answer": entries(&answer, |_, flag| json!({"verdict": word(*flag, "correct", "wrong")})),
            "reference": entries(&reference, |_, flag| json!({"verdict": word(*flag, "covered", "missing")})),
        });
        let (weight, vectors): (f64, Vec<Vec<f32>>) = (given(&line, "weight"), given(&line, "vectors"));
        let similarity = cosine(&vectors[0], &vectors[1]).expect("a cosine");
        below += usize::from(similarity < 0.0 && weight > 0.0);
        // RAGAS subtracts a cosine below 0, we leave it out.
        let expected = ragas(&line) + weight * (-similarity).max(0.0);
        let measured = Measured {
            answer: numbered("answer", answer.len()),
            reference: numbered("reference", reference.len()),
            params: json!({"similarity_weight": weight}),
            ..Measured::of("answer_correctness")
        };
        agrees(&measured.outcome(&said, &vectors), expected, ROUNDING, &line);
    }
    assert!(below > 0, "no likeness below 0, so that nothing shows the floor");
}

#[test]
fn noise_sensitivity_is_1_minus_that_of_ragas() {
    for line in figures("noise_sensitivity") {
        let correct: Vec<u8> = given(&line, "correct");
        let (answer, reference): (Vec<Vec<u8>>, Vec<Vec<u8>>) = (given(&line, "answer"), given(&line, "reference"));
        let stating = |flags: &Vec<u8>| {
            let numbers = flags.iter().zip(1..).filter(|(flag, _)| **flag == 1).map(|(_, n): (_, usize)| n);
            numbers.collect::<Vec<_>>()
        };
        let said = json!({
            "answer": entries(&answer, |n, flags| {
                json!({"verdict": word(correct[n - 1], "correct", "wrong"), "contexts": stating(flags)})
            }),
            "reference": entries(&reference, |_, flags| json!({"contexts": stating(flags)})),
        });
        let measured = Measured {
            answer: numbered("answer", answer.len()),
            reference: numbered("reference", reference.len()),
            contexts: answer[0].len(),
            params: json!({"mode": line["mode"]}),
            ..Measured::of("noise_sensitivity")
        };
        agrees(&measured.outcome(&said, &[]), 1.0 - ragas(&line), ROUNDING, &line);
    }
}

#[test]
fn what_ragas_calls_nan_is_unmeasured_with_its_cause() {
    let none = json!({"sentences": [{"n": 1, "no_claim": true}]});
    let outcome = Measured::of("faithfulness").outcome(&none, &[]);
    assert_eq!(outcome.fault().map(|fault| fault.cause.as_str()), Some("no claims in a non-refusal answer"));
}
