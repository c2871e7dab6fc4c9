//! RAGAS datasets: the fields of its `SingleTurnSample`, and the columns that its test set generator and its older versions add.

use rageval_runner::{
    load::plain::{Located, PlainCase, PlainSet, Value},
    model::{DocId, Expectation, RetrievedContext},
};
use serde_json::{Map, Value as Json, json};

use super::{
    cell,
    draft::{Draft, Drafts, Row},
    loss::{Told, Whose},
    table,
};

/// Fields that RAGAS knows and ours does not, but as metadata.
const ASIDE: [&str; 4] = ["persona_name", "query_style", "query_length", "synthesizer_name"];

/// What pandas adds.
const INDEX: [&str; 3] = ["__index_level_0__", "Unnamed: 0", ""];

/// Reads rows.
pub(crate) fn read(rows: &[Located], told: &mut Told) -> PlainSet {
    let mut drafts = Drafts::default();
    for row in rows {
        sample(row, &mut drafts, told);
    }
    PlainSet { cases: drafts.end(told), ..PlainSet::default() }
}

fn sample(row: &Located, drafts: &mut Drafts, told: &mut Told) {
    let mut fields = Row::new(row);
    let place = fields.place;
    let question = fields.take(&["user_input", "question"]);
    let (field, query) = question.map_or(("user_input", None), |(field, value)| (field, Some(value)));
    if let Some(Value::List(_)) = query.map(|value| &value.value) {
        told.lost_at(place, field, "a conversation of several turns: a case is one question");
        return;
    }
    let id = fields.take(&["id"]).and_then(|(_, value)| value.word());
    let query = query.and_then(Located::word).filter(|text| !cell::is_nothing(text));
    let Some(mut draft) = drafts.start(place, id.as_deref(), (field, query.as_deref()), told) else { return };
    if let Some((field, value)) = fields.take(&["reference", "ground_truth"])
        && let Some(text) = said(&mut draft, field, value)
    {
        draft.reference(field, text);
    }
    if let Some((field, value)) = fields.take(&["ground_truths"]) {
        for text in items(&mut draft, field, value).into_iter().flatten().flatten() {
            draft.reference(field, text);
        }
    }
    // Up to version 0.1 a generated test set called `contexts` what its answer was generated from.
    let of_answer = fields.has("evolution_type");
    if let Some((field, value)) =
        if of_answer { fields.take(&["reference_contexts", "contexts"]) } else { fields.take(&["reference_contexts"]) }
    {
        let texts = items(&mut draft, field, value).unwrap_or_default();
        draft.reference_contexts(field, texts);
    }
    if let Some((field, value)) = fields.take(&["reference_context_ids"])
        && let Some(ids) = items(&mut draft, field, value)
    {
        draft.relevant(field, ids.into_iter().map(|id| (id, 1.0)).collect());
    }
    if let Some((field, value)) = fields.take(&["response", "answer"]) {
        match &value.value {
            // An empty answer is an answer.
            Value::Text(text) if text.is_empty() => draft.response(String::new()),
            _ => {
                if let Some(text) = said(&mut draft, field, value) {
                    draft.response(text);
                }
            }
        }
    }
    retrieved(&mut draft, &mut fields);
    let mut is_numbered = false;
    for (field, value) in fields.rest() {
        if INDEX.contains(&field) {
            is_numbered = true;
            continue;
        }
        match field {
            "rubrics" => {
                draft.lost(field, "a rubric is the metric `rubric` under `thresholds`: write its levels there");
            }
            "multi_responses" => draft.lost(field, "a case has one recorded answer"),
            _ => match &value.value {
                Value::Text(_) if said(&mut draft, field, value).is_none() => {}
                _ => draft.metadata(field, field, value),
            },
        }
    }
    draft.end(drafts);
    if is_numbered {
        told.notice(format!("{}: the column of row numbers that pandas added is left out", row.place.file));
    }
}

fn retrieved(draft: &mut Draft<'_>, fields: &mut Row<'_>) {
    let texts = fields.take(&["retrieved_contexts", "contexts"]);
    let ids = fields.take(&["retrieved_context_ids"]);
    let texts = texts.and_then(|(field, value)| Some((field, items(draft, field, value)?)));
    let ids = ids.and_then(|(field, value)| Some((field, items(draft, field, value)?)));
    let (texts, ids) = match (texts, ids) {
        (None, None) => return,
        (Some((_, texts)), None) => (texts, Vec::new()),
        (None, Some((_, ids))) => (vec![Some(String::new()); ids.len()], ids),
        (Some((_, texts)), Some((field, ids))) if texts.len() != ids.len() => {
            draft.lost(field, format!("{} ids for {} contexts", ids.len(), texts.len()));
            (texts, Vec::new())
        }
        (Some((_, texts)), Some((_, ids))) => (texts, ids),
    };
    let ids = ids.into_iter().chain(std::iter::repeat(None));
    let context = |(text, id): (Option<String>, Option<String>)| RetrievedContext {
        id: id.filter(|id| !id.trim().is_empty()).map(DocId),
        // A blank context keeps its rank.
        text: text.unwrap_or_default(),
        score: None,
    };
    draft.retrieved(texts.into_iter().zip(ids).map(context).collect());
}

/// A text, unless it is a word for nothing, which is named.
fn said(draft: &mut Draft<'_>, field: &str, value: &Located) -> Option<String> {
    let Some(text) = value.word() else {
        draft.lost(field, "it is no text");
        return None;
    };
    if cell::is_nothing(&text) {
        draft.lost(field, format!("the word `{}`, taken for a value that is missing", text.trim()));
        return None;
    }
    Some(text)
}

/// The items of a list, which in a table is a text; `None` where there is none.
fn items(draft: &mut Draft<'_>, field: &str, value: &Located) -> Option<Vec<Option<String>>> {
    match &value.value {
        Value::List(items) => Some(items.iter().map(Located::word).collect()),
        Value::Text(text) if text.trim_start().starts_with('[') => match cell::list(text) {
            Ok(items) => Some(items),
            Err(why) => {
                draft.lost(field, format!("this list can't be read: {why}"));
                None
            }
        },
        Value::Text(_) => {
            let text = said(draft, field, value)?;
            draft.changed(field, "no list: taken for a list of one");
            Some(vec![Some(text)])
        }
        Value::Null => None,
        Value::Bool(_) | Value::Number(_) | Value::Map(_) => {
            draft.lost(field, "it is no list");
            None
        }
    }
}

/// A sample for each case, with the id of the case beside the fields of RAGAS, which overlooks it.
pub(crate) fn write(cases: &[PlainCase], told: &mut Told) -> Vec<Json> {
    cases.iter().map(|case| Json::Object(row(case, told))).collect()
}

fn row(case: &PlainCase, told: &mut Told) -> Map<String, Json> {
    let whose = Whose { id: case.id.as_str(), place: &case.place };
    let mut row = Map::new();
    row.insert("id".to_owned(), case.id.as_str().into());
    row.insert("user_input".to_owned(), case.query.clone().into());
    let mut references = case.references.iter();
    if let Some(reference) = references.next() {
        row.insert("reference".to_owned(), reference.clone().into());
    }
    for more in references {
        told.lost(whose, "ground_truth_answer", format!("{more:?}: RAGAS takes one reference"));
    }
    if !case.reference_contexts.is_empty() {
        row.insert("reference_contexts".to_owned(), json!(case.reference_contexts));
    }
    if let Some(relevant) = &case.relevant {
        let (found, not): (Vec<_>, Vec<_>) = relevant.iter().partition(|judgement| judgement.grade > 0.0);
        for judgement in not {
            told.lost(whose, "relevant_doc_ids", format!("{:?} is graded as not relevant", judgement.id.as_str()));
        }
        for judgement in found.iter().filter(|judgement| judgement.grade != 1.0) {
            let why = format!("{:?} lost its grade {}", judgement.id.as_str(), judgement.grade);
            told.changed(whose, "relevant_doc_ids", why);
        }
        let ids: Vec<&str> = found.iter().map(|judgement| judgement.id.as_str()).collect();
        row.insert("reference_context_ids".to_owned(), json!(ids));
    }
    if let Some((response, contexts)) = &case.recorded {
        row.insert("response".to_owned(), response.clone().into());
        retrieved_fields(contexts, whose, &mut row, told);
    }
    for (key, value) in &case.metadata {
        if ASIDE.contains(&key.as_str()) {
            row.insert(key.clone(), value.clone().into());
        } else {
            told.lost(whose, format!("metadata.{key}"), "RAGAS has no place for it");
        }
    }
    for field in unknown(case) {
        told.lost(whose, field, "RAGAS has no place for it");
    }
    row
}

fn retrieved_fields(contexts: &[RetrievedContext], whose: Whose<'_>, row: &mut Map<String, Json>, told: &mut Told) {
    if contexts.is_empty() {
        return;
    }
    let texts: Vec<&str> = contexts.iter().map(|context| context.text.as_str()).collect();
    row.insert("retrieved_contexts".to_owned(), json!(texts));
    // A list of ids has one for each context, or it can't be told whose they are.
    let ids: Option<Vec<&str>> = contexts.iter().map(|context| context.id.as_ref().map(DocId::as_str)).collect();
    match ids {
        Some(ids) => {
            row.insert("retrieved_context_ids".to_owned(), json!(ids));
        }
        None if contexts.iter().any(|context| context.id.is_some()) => {
            told.lost(whose, "retrieved_contexts", "the ids, since not every context has one");
        }
        None => {}
    }
    if contexts.iter().any(|context| context.score.is_some()) {
        told.lost(whose, "retrieved_contexts", "the scores");
    }
}

/// Fields of a case that say something and are none of RAGAS's.
fn unknown(case: &PlainCase) -> Vec<&'static str> {
    let mut fields = Vec::new();
    let mut add = |stated: bool, field| {
        if stated {
            fields.push(field);
        }
    };
    add(case.expectation == Expectation::Refuse, "should_refuse");
    add(case.kind.is_some(), "type");
    add(case.difficulty.is_some(), "difficulty");
    add(case.language.is_some(), "language");
    add(!case.tags.is_empty(), "tags");
    add(case.document.is_some(), "document");
    add(!case.thresholds.is_empty(), "thresholds");
    add(case.repeats.is_some(), "repeats");
    add(case.known_failure.is_some(), "known_failure");
    fields
}

/// The columns in the order of RAGAS's own sample.
pub(crate) const COLUMNS: [(&str, bool); 12] = [
    ("id", false),
    ("user_input", false),
    ("retrieved_contexts", true),
    ("reference_contexts", true),
    ("retrieved_context_ids", true),
    ("reference_context_ids", true),
    ("response", false),
    ("reference", false),
    ("persona_name", false),
    ("query_style", false),
    ("query_length", false),
    ("synthesizer_name", false),
];

/// The columns that any row fills, and whether they hold lists.
pub(crate) fn used(rows: &[Json]) -> Vec<(&'static str, bool)> {
    COLUMNS.into_iter().filter(|(name, _)| rows.iter().any(|row| row.get(*name).is_some())).collect()
}

/// A table. A list is JSON in its cell, which `ast.literal_eval` reads as well.
pub(crate) fn csv(rows: &[Json], cases: &[PlainCase], told: &mut Told) -> Vec<u8> {
    let columns = used(rows);
    let mut cell = |row: &Json, case: &PlainCase, name: &str| match row.get(name) {
        None => String::new(),
        Some(Json::String(text)) => {
            if text.is_empty() {
                let whose = Whose { id: case.id.as_str(), place: &case.place };
                told.lost(whose, name, "an empty text is an empty cell, which says that there is none");
            }
            text.clone()
        }
        Some(value) => value.to_string(),
    };
    let row = |(row, case): (&Json, &PlainCase)| columns.iter().map(|(name, _)| cell(row, case, name)).collect();
    let cells: Vec<Vec<String>> = rows.iter().zip(cases).map(row).collect();
    table::csv(&columns.iter().map(|(name, _)| *name).collect::<Vec<_>>(), &cells)
}
