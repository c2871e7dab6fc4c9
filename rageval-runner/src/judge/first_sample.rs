//! What a first sample costs: the table in docs/metrics.md against what each metric asks in each of its modes.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::prompt;
use crate::{
    metric::{
        Kind, METRICS, Metric, ParamKind,
        trying::{Try, context},
    },
    model::{JudgeRequest, Reply},
};

/// A metric with a case and a sample in which it has to ask for everything.
fn tried(metric: &'static dyn Metric) -> Try {
    Try::of(metric)
        .answer("Refunds take 30 days. Shipping is free.")
        .references(&["Thirty days. No fee."])
        .contexts(vec![context("refunds", "Within 30 days."), context("shipping", "It is free.")])
        .baseline("Refunds take a while.")
        .param("criterion", json!("How kind is it?"))
        .param("levels", json!({"rude": 0, "kind": 1}))
        .param("criteria", json!("How kind is it?"))
        .param("steps", json!(["Look for a greeting."]))
}

/// A metric in each of its modes: what the table calls the mode, and the metric in it.
fn in_each_mode(metric: &'static dyn Metric) -> Vec<(String, Try)> {
    let mut modes = Vec::new();
    for param in metric.params() {
        if let ParamKind::OneOf(words) = param.kind {
            let mode =
                |word: &&str| (format!("`{}: {word}`", param.name), tried(metric).param(param.name, json!(word)));
            modes.extend(words.iter().map(mode));
        }
    }
    if modes.is_empty() { vec![(String::new(), tried(metric))] } else { modes }
}

/// The reply of a judge that always takes the first choice: the smallest value that fits the schema and holds every number.
fn fitting(schema: &Value, key: &str, n: usize, request: &JudgeRequest) -> Value {
    if let Some(branches) = schema["anyOf"].as_array() {
        return fitting(&branches[0], key, n, request);
    }
    if let Some(words) = schema["enum"].as_array() {
        return words[0].clone();
    }
    match schema["type"].as_str() {
        Some("object") => {
            let properties = schema["properties"].as_object().expect("properties");
            let entries = properties.iter().map(|(key, schema)| (key.clone(), fitting(schema, key, n, request)));
            Value::Object(entries.collect::<Map<_, _>>())
        }
        Some("array") => {
            let counted = request.text_of("count").and_then(|count| count.parse().ok()).unwrap_or(1);
            let numbered = request.numbered_of(key).map_or(counted, <[String]>::len);
            (1..=numbered).map(|n| fitting(&schema["items"], "", n, request)).collect()
        }
        Some("integer") => json!(n.max(1)),
        Some("boolean") => json!(true),
        Some("string") => json!("something"),
        _ => Value::Null,
    }
}

/// The names of all requests that a metric makes for a first sample, each as often as it was made.
fn asked(tried: &Try) -> Vec<String> {
    let mut names = Vec::new();
    let (outcome, _) = tried.run_by(|request| {
        assert_eq!(request.retry, 0, "the reply to {} does not fit", request.name);
        names.push(request.name.clone());
        let schema = prompt::Prompts::default().render(request).expect("a prompt").schema;
        let mut value = fitting(&schema, "", 0, request);
        if request.logprobs {
            value[crate::model::SCORE_PROBABILITIES] = json!({"1": 1.0});
        }
        Reply::Value { value }
    });
    assert!(outcome.score().is_some(), "{outcome:?}");
    names
}

fn docs(name: &str) -> String {
    let path = format!("{}/../docs/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}")).replace("\r\n", "\n")
}

/// The rows below this header, by cells.
fn rows(text: &str, header: &str) -> Vec<Vec<String>> {
    let (_, below) = text.split_once(header).unwrap_or_else(|| panic!("no table `{header}`"));
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    below.trim_start().lines().skip(1).take_while(|line| line.starts_with('|')).map(cells).collect()
}

#[test]
fn the_table_of_requests_is_what_the_metrics_ask() {
    let table = rows(&docs("metrics.md"), "| metric | mode | requests | of the name |\n");
    let known = docs("judge-requests.md");
    let mut expected = Vec::new();
    for metric in METRICS.iter().filter(|metric| metric.kind() == Kind::Judged) {
        for (mode, tried) in in_each_mode(*metric) {
            let asked = asked(&tried);
            let names: BTreeSet<_> = asked.iter().map(|name| format!("`{name}`")).collect();
            for name in &names {
                assert!(known.contains(&format!("| {name} |")), "docs/judge-requests.md has no row of {name}");
            }
            let names: Vec<_> = names.into_iter().collect();
            expected.push(vec![format!("`{}`", metric.name()), mode, asked.len().to_string(), names.join(", ")]);
        }
    }
    assert_eq!(table, expected, "\nthe table should be\n{}", written(&expected));
}

fn written(rows: &[Vec<String>]) -> String {
    rows.iter().map(|row| format!("| {} |\n", row.join(" | "))).collect()
}
