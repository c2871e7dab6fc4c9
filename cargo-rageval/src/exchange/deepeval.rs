//! DeepEval goldens, as `EvaluationDataset.save_as` writes them.

use rageval_runner::{
    load::plain::{Located, PlainCase, PlainSet, Value},
    model::{DocId, Expectation, Place, RetrievedContext},
};
use serde_json::{Map, Value as Json, json};

use super::{
    cell,
    draft::{Draft, Drafts, Row},
    loss::{Told, Whose},
    table,
};

/// What DeepEval puts before a retrieved text whose source it knows.
const SOURCE: &str = "deepeval_source=";
const CONTEXT: &str = ",deepeval_context=";

/// Reads goldens. `separator` stands between contexts where they are one text: in tables, and in the JSON lines of DeepEval.
pub(crate) fn read(rows: &[Located], separator: &str, told: &mut Told) -> PlainSet {
    let mut drafts = Drafts::default();
    for row in rows {
        golden(row, separator, &mut drafts, told);
    }
    PlainSet { cases: drafts.end(told), ..PlainSet::default() }
}

fn golden(row: &Located, separator: &str, drafts: &mut Drafts, told: &mut Told) {
    let mut fields = Row::new(row);
    let place = fields.place;
    if fields.take(&["scenario"]).is_some() {
        told.lost_at(place, "scenario", "a golden of a conversation: a case is one question");
        return;
    }
    let id = fields.take(&["name"]).and_then(|(_, value)| value.word());
    let query = fields.take(&["input"]).and_then(|(_, value)| value.word());
    let Some(mut draft) = drafts.start(place, id.as_deref(), ("input", query.as_deref()), told) else { return };
    if let Some((field, value)) = fields.take(&["expected_output", "expectedOutput"]) {
        match value.word() {
            Some(text) => draft.reference(field, text),
            None => draft.lost(field, "it is no text"),
        }
    }
    if let Some((field, value)) = fields.take(&["context"]) {
        let texts = items(&mut draft, field, value, separator);
        draft.reference_contexts(field, texts);
    }
    if let Some((field, value)) = fields.take(&["actual_output", "actualOutput"]) {
        match value.word() {
            Some(text) => draft.response(text),
            None => draft.lost(field, "it is no text"),
        }
    }
    if let Some((field, value)) = fields.take(&["retrieval_context", "retrievalContext"]) {
        let texts = items(&mut draft, field, value, separator);
        draft.retrieved(texts.into_iter().map(|text| retrieved(&text.unwrap_or_default())).collect());
    }
    if let Some((field, value)) = fields.take(&["source_file", "sourceFile"])
        && let Some(text) = value.word()
    {
        draft.word(field, text, |case| &mut case.document);
    }
    if let Some((_, value)) = fields.take(&["comments"]) {
        draft.metadata("comments", "comments", value);
    }
    for names in [["additional_metadata", "additionalMetadata"], ["custom_column_key_values", "customColumnKeyValues"]]
    {
        let Some((field, value)) = fields.take(&names) else { continue };
        match mapping(value) {
            Ok(entries) => entries.iter().for_each(|(key, value)| draft.aside(field, key, value)),
            Err(why) => draft.lost(field, why),
        }
    }
    for (field, _) in fields.rest() {
        draft.lost(field, "a case has no place for it");
    }
    draft.end(drafts);
}

/// The entries of a map, which in a table is JSON.
fn mapping(value: &Located) -> Result<Vec<(String, Located)>, String> {
    match &value.value {
        Value::Map(map) => Ok(map.clone()),
        Value::Text(text) => match serde_json::from_str::<Json>(text).map(|json| value_of(&json, &value.place)) {
            Ok(Value::Map(map)) => Ok(map),
            Ok(_) | Err(_) => Err("it is no JSON object".to_owned()),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) => Err("it is no map".to_owned()),
    }
}

fn value_of(json: &Json, place: &Place) -> Value {
    let located = |json: &Json| Located { place: place.clone(), value: value_of(json, place) };
    match json {
        Json::Null => Value::Null,
        Json::Bool(yes) => Value::Bool(*yes),
        Json::Number(number) => Value::Number(number.to_string()),
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => Value::List(items.iter().map(located).collect()),
        Json::Object(map) => Value::Map(map.iter().map(|(key, value)| (key.clone(), located(value))).collect()),
    }
}

/// The items of a list, or of a text that a separator parts.
fn items(draft: &mut Draft<'_>, field: &str, value: &Located, separator: &str) -> Vec<Option<String>> {
    match &value.value {
        Value::List(items) => items.iter().map(text_of).collect(),
        Value::Text(text) if cell::is_nothing(text) => {
            draft.lost(field, format!("the word `{}`, taken for a value that is missing", text.trim()));
            Vec::new()
        }
        Value::Text(text) => {
            let items: Vec<_> = text.split(separator).map(|text| Some(text.to_owned())).collect();
            // Before version 4 tables were written with `|` and read with `;`, so that both are about.
            if items.len() == 1 && separator != ";" && text.contains(';') {
                draft.changed(field, "taken for one context, though it holds `;`: --separator ';' parts it there");
            }
            items
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Map(_) => {
            draft.lost(field, "it is no list");
            Vec::new()
        }
    }
}

/// A context, which may be a map with its source.
fn text_of(item: &Located) -> Option<String> {
    let part = |name: &str| item.get(name).and_then(Located::word);
    match (part("source"), part("context")) {
        (Some(source), Some(context)) => Some(format!("{SOURCE}{source}{CONTEXT}{context}")),
        _ => item.word(),
    }
}

fn retrieved(text: &str) -> RetrievedContext {
    let parts = text.strip_prefix(SOURCE).and_then(|rest| rest.split_once(CONTEXT));
    match parts.filter(|(source, _)| !source.trim().is_empty()) {
        Some((source, context)) => RetrievedContext { id: Some(source.into()), text: context.to_owned(), score: None },
        None => RetrievedContext::without_id(text),
    }
}

/// A golden for each case, with every key that `save_as` writes.
pub(crate) fn write(cases: &[PlainCase], told: &mut Told) -> Vec<Json> {
    cases.iter().map(|case| json(case, told)).collect()
}

fn json(case: &PlainCase, told: &mut Told) -> Json {
    let whose = Whose { id: case.id.as_str(), place: &case.place };
    for more in case.references.iter().skip(1) {
        told.lost(whose, "ground_truth_answer", format!("{more:?}: DeepEval takes one expected output"));
    }
    for (stated, field) in [
        (case.relevant.is_some(), "relevant_doc_ids"),
        (!case.thresholds.is_empty(), "thresholds"),
        (case.repeats.is_some(), "repeats"),
        (case.known_failure.is_some(), "known_failure"),
    ] {
        if stated {
            told.lost(whose, field, "a golden has no place for it");
        }
    }
    let (response, contexts) = case.recorded.as_ref().map_or((None, &[][..]), |(text, list)| (Some(text), &list[..]));
    if contexts.iter().any(|context| context.score.is_some()) {
        told.lost(whose, "retrieved_contexts", "the scores");
    }
    let contexts: Vec<String> = contexts.iter().map(|context| marked(context, whose, told)).collect();
    let mut aside: Map<String, Json> = case
        .metadata
        .iter()
        .filter(|(key, _)| *key != "comments")
        .map(|(k, v)| (k.clone(), v.clone().into()))
        .collect();
    let mut own = |key: &str, value: Option<Json>| {
        if let Some(value) = value
            && aside.insert(key.to_owned(), value).is_some()
        {
            told.lost(whose, format!("metadata.{key}"), format!("the case's own {key} takes the name"));
        }
    };
    own("type", case.kind.clone().map(Json::from));
    own("difficulty", case.difficulty.clone().map(Json::from));
    own("language", case.language.clone().map(Json::from));
    own("tags", (!case.tags.is_empty()).then(|| json!(case.tags)));
    own("should_refuse", (case.expectation == Expectation::Refuse).then_some(Json::Bool(true)));
    json!({
        "input": case.query,
        "actual_output": response,
        "expected_output": case.references.first(),
        "retrieval_context": (!contexts.is_empty()).then_some(contexts),
        "context": (!case.reference_contexts.is_empty()).then_some(&case.reference_contexts),
        "name": case.id.as_str(),
        "comments": case.metadata.get("comments"),
        "source_file": case.document,
        "tools_called": null,
        "expected_tools": null,
        "token_cost": null,
        "input_token_count": null,
        "output_token_count": null,
        "additional_metadata": (!aside.is_empty()).then_some(aside),
        "custom_column_key_values": null,
        "expectations": null,
    })
}

fn marked(context: &RetrievedContext, whose: Whose<'_>, told: &mut Told) -> String {
    match &context.id {
        Some(id) if id.as_str().contains(CONTEXT) => {
            told.lost(whose, "retrieved_contexts", format!("the id {:?}", id.as_str()));
            context.text.clone()
        }
        Some(DocId(id)) => format!("{SOURCE}{id}{CONTEXT}{}", context.text),
        None => context.text.clone(),
    }
}

/// The columns of `save_as("csv", ...)`.
const COLUMNS: [&str; 16] = [
    "input",
    "actual_output",
    "expected_output",
    "retrieval_context",
    "context",
    "name",
    "comments",
    "source_file",
    "tools_called",
    "expected_tools",
    "token_cost",
    "input_token_count",
    "output_token_count",
    "additional_metadata",
    "custom_column_key_values",
    "expectations",
];

/// A table. Contexts are one text with the separator between them, as DeepEval reads them.
pub(crate) fn csv(cases: &[PlainCase], separator: &str, told: &mut Told) -> Vec<u8> {
    let rows: Vec<Vec<String>> = cases
        .iter()
        .map(|case| {
            let golden = json(case, told);
            let whose = Whose { id: case.id.as_str(), place: &case.place };
            COLUMNS.iter().map(|name| cell_of(name, &golden[name], separator, whose, told)).collect()
        })
        .collect();
    table::csv(&COLUMNS, &rows)
}

fn cell_of(name: &str, value: &Json, separator: &str, whose: Whose<'_>, told: &mut Told) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => {
            if text.is_empty() {
                told.lost(whose, name, "an empty text is an empty cell, which says that there is none");
            }
            text.clone()
        }
        Json::Array(items) => {
            let texts: Vec<&str> = items.iter().filter_map(Json::as_str).collect();
            if texts.iter().any(|text| text.contains(separator)) {
                let why = format!("a context holds {separator:?}, which parts contexts: it is read as several");
                told.changed(whose, name, why);
            }
            let cell = texts.join(separator);
            if cell.is_empty() {
                told.lost(whose, name, "a blank context is an empty cell, which says that there is none");
            }
            cell
        }
        Json::Bool(_) | Json::Number(_) | Json::Object(_) => value.to_string(),
    }
}
