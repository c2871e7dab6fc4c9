//! Cases for the four RAG metrics, and the judge and embedder that answer whatever these ask.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::stub::{Reply, Seen};

/// The four metrics, each in the form that asks most.
pub(crate) const METRICS_YAML: &str = "waive: {calibration: {reason: a fixture, until: 2999-12-31}}
metrics:
  faithfulness: {mean: {min: 0}}
  answer_relevancy: {mode: questions, mean: {min: 0}}
  context_precision: {mean: {min: 0}}
  context_recall: {mean: {min: 0}}
";

/// JSON lines of so many cases: answers of three sentences, five contexts of about 400 characters each, references of two sentences.
pub(crate) fn cases(count: usize) -> String {
    let mut lines = String::new();
    for n in 0..count {
        let context = |at: usize| {
            let days = 3 + (n + at) % 40;
            format!(
                "Section {at} of the terms for parcel {n}. A parcel of this kind is blue, weighs 3 kilograms and leaves the depot on the {}th. \
                 It is insured up to {} euros, which are paid out within {days} days after its loss was reported at the desk. \
                 Whoever wants to send it back has {days} days for that, counted from the day of delivery, and needs the number that is \
                 printed below the address. The desk in the main hall is open from 9 to 17 on every day but Sunday.",
                1 + n % 28,
                100 * (1 + at)
            )
        };
        let case = json!({
            "id": format!("c{n}"), "query": format!("What colour is parcel {n}, and what does it weigh?"), "language": "en",
            "ground_truth_answer": format!("Parcel {n} is blue. It weighs 3 kilograms."),
            "response": format!("Parcel {n} is blue. It weighs 3 kilograms. It leaves the depot on the {}th.", 1 + n % 28),
            "retrieved_contexts": (0..5).map(context).collect::<Vec<_>>(),
        });
        writeln!(lines, "{case}").expect("a line");
    }
    lines
}

/// The name of a request's schema; `None` for a request to the embedder.
pub(crate) fn asked(seen: &Seen) -> Option<String> {
    seen.json()["response_format"]["json_schema"]["name"].as_str().map(str::to_owned)
}

/// A whole and fitting reply to a request for one of the four metrics.
pub(crate) fn answer(seen: &Seen) -> Reply {
    let body = seen.json();
    let Some(schema) = body["response_format"]["json_schema"]["name"].as_str() else { return vectors(&body) };
    let shown = body["messages"][1]["content"].as_str().expect("the data");
    let each =
        |field: &str, entry: &dyn Fn(usize) -> Value| (1..=numbered(shown, field)).map(entry).collect::<Vec<_>>();
    let value = match schema {
        "faithfulness-verdicts" => {
            let claim = |n| json!([{"claim": format!("what sentence {n} says"), "verdict": "supported", "context": 1, "quote": "is blue"}]);
            json!({"sentences": each("sentences", &|n| json!({"n": n, "claims": claim(n)}))})
        }
        "answer_relevancy-questions" => {
            let question = |n| json!({"n": n, "question": format!("What is said of the parcel, {n}?")});
            json!({"questions": [question(1), question(2), question(3)], "noncommittal": false})
        }
        "context_precision-verdicts" => {
            json!({"contexts": each("contexts", &|n| json!({"n": n, "verdict": if n == 2 { "not_useful" } else { "useful" }}))})
        }
        "context_recall-attributions" => {
            json!({"sentences": each("sentences", &|n| json!({"n": n, "verdict": "attributed"}))})
        }
        other => panic!("nothing else is asked, but `{other}`"),
    };
    Reply::completion(&value.to_string())
}

/// How many numbered lines stand in the block of a field.
fn numbered(shown: &str, field: &str) -> usize {
    let (_, block) = shown.split_once(&format!("=== BEGIN {field} ")).expect("the block");
    block.lines().skip(1).take_while(|line| !line.starts_with("=== END ")).count()
}

/// A vector for each text, of as many dimensions as a small embedder has.
fn vectors(body: &Value) -> Reply {
    let texts = body["input"].as_array().expect("texts");
    let vector: Vec<f64> = (1..=384).map(|place| 1.0 / f64::from(place)).collect();
    let data: Vec<Value> = (0..texts.len()).map(|index| json!({"index": index, "embedding": vector})).collect();
    Reply::ok(json!({"model": "e5-small", "data": data, "usage": {"total_tokens": 20}}))
}
