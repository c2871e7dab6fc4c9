//! Checks names and parameters of metrics against those that exist.

use regex::Regex;
use serde_json::Value;

use crate::{
    metric::{Cutoff, Metric, Param, ParamKind, lexical::json_schema::Schema},
    model::{MetricKey, MetricKeyError},
};

use super::{
    diagnostic::quoted,
    http::number,
    node::{Kind, Node},
    read::Reader,
    source::Span,
};

/// The metrics that exist: built in and the user's own.
pub(crate) type Metrics<'m> = &'m [&'m dyn Metric];

/// What to do where a name is like no other.
const OWN: &str =
    "a metric of your own is passed to `main!` in the test; the command knows it once that test has run here";

/// A metric's name with cut-off and label, and the metric.
pub(crate) fn key<'m>(
    reader: &mut Reader<'_>,
    text: &str,
    span: &Span,
    metrics: Metrics<'m>,
) -> Option<(MetricKey, &'m dyn Metric)> {
    let key = match MetricKey::parse(text) {
        Ok(key) => key,
        Err(error) => {
            let help = match &error {
                MetricKeyError::Name(_) => reader.problems.suggestion(text, metrics.iter().map(|metric| metric.name())),
                MetricKeyError::Cutoff(_) | MetricKeyError::Label(_) => None,
            };
            let problem = reader.problem(span, error.to_string()).maybe_help(help);
            reader.problems.push(problem);
            return None;
        }
    };
    let Some(metric) = metrics.iter().copied().find(|metric| metric.name() == key.name()) else {
        let similar = reader.problems.suggestion(key.name(), metrics.iter().map(|metric| metric.name()));
        let help = similar.or_else(|| Some(OWN.to_owned()));
        let problem = reader.problem(span, format!("unknown metric {}", quoted(key.name()))).maybe_help(help);
        reader.problems.push(problem);
        return None;
    };
    match (metric.cutoff(), key.cutoff()) {
        (Cutoff::Required, None) => {
            let problem = reader
                .problem(span, format!("{} needs a cut-off", quoted(key.name())))
                .help(format!("write how many documents count, as in `{}@5`", key.name()));
            reader.problems.push(problem);
            None
        }
        (Cutoff::Refused, Some(cutoff)) => {
            let problem = reader
                .problem(span, format!("{} takes no cut-off", quoted(key.name())))
                .help(format!("leave `@{cutoff}` out"));
            reader.problems.push(problem);
            None
        }
        (Cutoff::Required, Some(_)) | (Cutoff::Optional, _) | (Cutoff::Refused, None) => Some((key, metric)),
    }
}

/// The value of a parameter.
pub(crate) fn param(reader: &mut Reader<'_>, node: &Node<'_>, param: &Param) -> Option<Value> {
    let what = format!("\"{}\"", param.name);
    match param.kind {
        ParamKind::Flag => reader.flag(node, &what).map(Value::Bool),
        ParamKind::Number => {
            let number = reader.number(node, &what)?;
            if number < 0.0 {
                reader.report(&node.span, format!("{what} is a number of at least 0, got {number}"));
                return None;
            }
            serde_json::Number::from_f64(number).map(Value::Number)
        }
        ParamKind::Unit => {
            let number = reader.unit(node, &what)?.get();
            serde_json::Number::from_f64(number).map(Value::Number)
        }
        ParamKind::Whole(least, most) => {
            let number = reader.count(node, &what, least)?;
            if number > most {
                reader.report(&node.span, format!("{what} is a whole number from {least} to {most}, got {number}"));
                return None;
            }
            Some(Value::from(number))
        }
        ParamKind::Text => reader.word(node, &what).map(Value::String),
        ParamKind::Texts => texts(reader, node, &what),
        ParamKind::Regex => {
            let pattern = reader.word(node, &what)?;
            match Regex::new(&pattern) {
                Ok(_) => Some(Value::String(pattern)),
                Err(error) => {
                    let text = error.to_string();
                    let why = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
                    reader.report(&node.span, format!("{what} is no regular expression: {why}"));
                    None
                }
            }
        }
        ParamKind::OneOf(words) => {
            let words: Vec<_> = words.iter().map(|word| (*word, *word)).collect();
            reader.one_of(node, &what, &words).map(|word| Value::String(word.to_owned()))
        }
        ParamKind::SomeOf(words) => some_of(reader, node, &what, words),
        ParamKind::Levels => levels(reader, node, &what),
        ParamKind::Any => {
            let faults = reader.problems.len();
            let value = json(reader, node);
            (reader.problems.len() == faults).then_some(value)
        }
        ParamKind::JsonSchema => {
            let faults = reader.problems.len();
            let schema = json(reader, node);
            if reader.problems.len() > faults {
                return None;
            }
            match Schema::compile(&schema) {
                Ok(_) => Some(schema),
                Err(why) => {
                    reader.report(&node.span, format!("{what} {why}"));
                    None
                }
            }
        }
    }
}

/// Some of these words; one word is a list of one.
pub(crate) fn some_of(reader: &mut Reader<'_>, node: &Node<'_>, what: &str, words: &[&'static str]) -> Option<Value> {
    let words: Vec<_> = words.iter().map(|word| (*word, *word)).collect();
    let items = match &node.kind {
        Kind::List(items) => items.as_slice(),
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Text(_) | Kind::Map(_) => std::slice::from_ref(node),
    };
    if items.is_empty() {
        reader.report(&node.span, format!("{what} is an empty list"));
        return None;
    }
    let chosen: Vec<_> = items.iter().filter_map(|item| reader.one_of(item, what, &words)).collect();
    (chosen.len() == items.len()).then(|| chosen.into_iter().map(Value::from).collect())
}

/// A map of at least two texts, each with a number from 0 to 1.
fn levels(reader: &mut Reader<'_>, node: &Node<'_>, what: &str) -> Option<Value> {
    let entries = reader.map(node, what)?;
    if entries.len() < 2 {
        reader
            .report(&node.span, format!("{what} takes at least two levels, so that there is something to tell apart"));
        return None;
    }
    let mut levels = serde_json::Map::new();
    for entry in entries {
        if entry.key.trim().is_empty() {
            reader.report(&entry.key_span, format!("a level of {what} has no text"));
        } else if let Some(score) = reader.unit(&entry.value, format_args!("the level {}", quoted(&entry.key))) {
            levels.insert(entry.key.to_string(), Value::from(score.get()));
        }
    }
    (levels.len() == entries.len()).then_some(Value::Object(levels))
}

/// Any value, as JSON.
fn json(reader: &mut Reader<'_>, node: &Node<'_>) -> Value {
    match &node.kind {
        Kind::Null => Value::Null,
        Kind::Bool(yes) => Value::Bool(*yes),
        Kind::Number(text) => number(reader, text, &node.span),
        Kind::Text(text) => Value::String(text.to_string()),
        Kind::List(items) => Value::Array(items.iter().map(|item| json(reader, item)).collect()),
        Kind::Map(entries) => entries.iter().map(|entry| (entry.key.to_string(), json(reader, &entry.value))).collect(),
    }
}

/// A list of texts, at least one; one text is a list of one.
pub(crate) fn texts(reader: &mut Reader<'_>, node: &Node<'_>, what: &str) -> Option<Value> {
    let Kind::List(items) = &node.kind else {
        return reader.word(node, what).map(|word| Value::Array(vec![Value::String(word)]));
    };
    if items.is_empty() {
        reader.report(&node.span, format!("{what} is an empty list, so nothing would be checked"));
        return None;
    }
    let texts: Vec<_> = items.iter().filter_map(|item| reader.word(item, format_args!("a text of {what}"))).collect();
    (texts.len() == items.len()).then(|| Value::Array(texts.into_iter().map(Value::String).collect()))
}
