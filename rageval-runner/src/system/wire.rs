//! Reads an answer from a JSON object, as commands and files of recorded answers write it.

use std::{collections::BTreeMap, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, Visitor},
};
use serde_json::Value;

use super::{
    Asked, Latency,
    excerpt::{self, excerpt},
};
use crate::model::{Answer, DocId, RetrievedContext, Usage};

const ID: &[&str] = &["id", "case_id", "name"];
const RESPONSE: &[&str] = &["response", "answer", "actual_output"];
const CONTEXTS: &[&str] = &["retrieved_contexts", "contexts", "retrieval_context"];
const CONTEXT_IDS: &str = "retrieved_context_ids";
const INPUT_TOKENS: &[&str] = &["input_tokens", "prompt_tokens"];
const OUTPUT_TOKENS: &[&str] = &["output_tokens", "completion_tokens"];

/// Every key of an answer that is read.
const KEYS: [&str; 16] = [
    "id",
    "case_id",
    "name",
    "response",
    "answer",
    "actual_output",
    "retrieved_contexts",
    "contexts",
    "retrieval_context",
    CONTEXT_IDS,
    "usage",
    "cost_usd",
    "generator",
    "refused",
    "latency_ms",
    "error",
];

/// Keys that golden cases and other tools' samples have: never read here, and never taken for a misspelt key.
const OTHER_KEYS: [&str; 13] = [
    "query",
    "question",
    "user_input",
    "input",
    "reference",
    "ground_truth",
    "ground_truth_answer",
    "expected_output",
    "answer_gold",
    "context",
    "reference_contexts",
    "reference_context_ids",
    "answerable",
];

/// How alike two keys must be to count as one misspelt: 1 is equal. `reponse` and `response` are 0.875, `refuse` and `refused` 0.86.
const MISSPELT: f64 = 0.8;

/// A JSON object whose keys are all different.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Object(BTreeMap<String, Value>);

/// What an object says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Said {
    /// An answer.
    Answer(Asked),
    /// The system's own word that it failed.
    Error(String),
}

/// Why a text is no JSON object, with the column in characters from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NoObject {
    pub(super) column: usize,
    pub(super) why: String,
}

impl Object {
    /// Reads one object and nothing else.
    pub(super) fn parse(text: &str) -> Result<Self, NoObject> {
        serde_json::from_str(text).map_err(|error| {
            let why = error.to_string();
            let place = format!(" at line {} column {}", error.line(), error.column());
            let why = why.strip_suffix(&place).unwrap_or(&why).to_owned();
            // serde_json counts bytes of the line.
            let line = text.split('\n').nth(error.line().saturating_sub(1)).unwrap_or_default();
            let column = line.char_indices().take_while(|(at, _)| *at < error.column()).count().max(1);
            NoObject { column, why }
        })
    }

    /// The id under its one name; `Ok(None)` where there is none.
    pub(super) fn id(&self) -> Result<Option<String>, String> {
        let Some((key, value)) = self.one_of(ID)? else { return Ok(None) };
        id_text(value).map(Some).map_err(|got| format!("`{key}` must be a text, got {got}"))
    }

    /// The answer, or everything that is wrong with it.
    pub(super) fn said(&self) -> Result<Said, Vec<String>> {
        if let Some(error) = self.present("error") {
            let text = error.as_str().map_or_else(|| error.to_string(), str::to_owned);
            return Ok(Said::Error(excerpt(&text, excerpt::ERROR)));
        }
        let mut problems = self.misspelt_keys();
        let mut note = |problem: String| problems.push(problem);

        let response = self.response().map_err(&mut note);
        let contexts = self.contexts().map_err(|found| found.into_iter().for_each(&mut note));
        let usage = self.usage().map_err(&mut note);
        let cost_usd = self.amount("cost_usd").map_err(&mut note);
        let latency_ms = self.amount("latency_ms").map_err(&mut note);
        let refused = self.flag("refused").map_err(&mut note);
        let generator = self.text("generator").map_err(&mut note);

        match (response, contexts, usage, cost_usd, latency_ms, refused, generator) {
            (
                Ok(response),
                Ok(retrieved_contexts),
                Ok(usage),
                Ok(cost_usd),
                Ok(latency_ms),
                Ok(refused),
                Ok(generator),
            ) if problems.is_empty() => {
                let answer = Answer { response, retrieved_contexts, refused, usage, cost_usd, generator };
                let latency = latency_ms.map_or(Latency::Measured, Latency::Stated);
                Ok(Said::Answer(Asked { answer, latency }))
            }
            _ => Err(problems),
        }
    }

    /// The value under a key; `null` counts as not there.
    fn present(&self, key: &str) -> Option<&Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    /// The one of several names that is there; two of them are an error that names both.
    fn one_of(&self, names: &'static [&'static str]) -> Result<Option<(&'static str, &Value)>, String> {
        let mut found = names.iter().filter_map(|name| self.0.get(*name).map(|value| (*name, value)));
        match (found.next(), found.next()) {
            (first, None) => Ok(first),
            (Some((one, _)), Some((two, _))) => {
                Err(format!("`{one}` and `{two}` are two names of one thing, give one"))
            }
            (None, Some(_)) => Ok(None),
        }
    }

    fn response(&self) -> Result<String, String> {
        match self.one_of(RESPONSE)? {
            None => Err("no `response` (or `answer`, `actual_output`)".to_owned()),
            Some((_, Value::String(text))) => Ok(text.clone()),
            Some((key, value)) => Err(format!("`{key}` must be a text, got {}", describe(value))),
        }
    }

    fn contexts(&self) -> Result<Vec<RetrievedContext>, Vec<String>> {
        let found = self.one_of(CONTEXTS).map_err(|problem| vec![problem])?;
        let ids = self.present(CONTEXT_IDS).map(context_ids).transpose().map_err(|problem| vec![problem])?;
        let contexts = match found {
            None | Some((_, Value::Null)) => None,
            Some((key, Value::Array(entries))) => Some(read_contexts(key, entries)?),
            Some((key, value)) => {
                return Err(vec![format!(
                    "`{key}` must be a list of texts or `{{id, text}}`, got {}",
                    describe(value)
                )]);
            }
        };
        match (contexts, ids) {
            (contexts, None) => Ok(contexts.unwrap_or_default()),
            (None, Some(ids)) => Ok(ids.into_iter().map(|id| RetrievedContext::new(id, "")).collect()),
            (Some(contexts), Some(ids)) => {
                if contexts.len() != ids.len() || contexts.iter().any(|context| context.id.is_some()) {
                    return Err(vec![format!(
                        "`{CONTEXT_IDS}` must name one id for each context, and contexts then have none"
                    )]);
                }
                Ok(contexts
                    .into_iter()
                    .zip(ids)
                    .map(|(context, id)| RetrievedContext { id: Some(id), ..context })
                    .collect())
            }
        }
    }

    fn usage(&self) -> Result<Option<Usage>, String> {
        let Some(value) = self.present("usage") else { return Ok(None) };
        let Value::Object(usage) = value else {
            return Err(format!("`usage` must be `{{input_tokens, output_tokens}}`, got {}", describe(value)));
        };
        let count = |names: &[&str]| {
            let found = names.iter().find_map(|name| usage.get(*name).and_then(Value::as_u64));
            found.ok_or_else(|| format!("`usage` needs a whole number under `{}` (or `{}`)", names[0], names[1]))
        };
        Ok(Some(Usage { input_tokens: count(INPUT_TOKENS)?, output_tokens: count(OUTPUT_TOKENS)? }))
    }

    fn amount(&self, key: &str) -> Result<Option<f64>, String> {
        let Some(value) = self.present(key) else { return Ok(None) };
        amount(value).map(Some).map_err(|got| format!("`{key}` must be a number of at least 0, got {got}"))
    }

    fn text(&self, key: &str) -> Result<Option<String>, String> {
        let Some(value) = self.present(key) else { return Ok(None) };
        let text = value.as_str().map(str::to_owned);
        text.map(Some).ok_or_else(|| format!("`{key}` must be a text, got {}", describe(value)))
    }

    fn flag(&self, key: &str) -> Result<Option<bool>, String> {
        let Some(value) = self.present(key) else { return Ok(None) };
        value.as_bool().map(Some).ok_or_else(|| format!("`{key}` must be true or false, got {}", describe(value)))
    }

    /// Logs have many keys and most of them mean nothing here; but a contexts key with a letter missing would be a system that
    /// retrieves nothing.
    fn misspelt_keys(&self) -> Vec<String> {
        let unknown = self.0.keys().filter(|key| !KEYS.contains(&key.as_str()) && !OTHER_KEYS.contains(&key.as_str()));
        let meant = unknown.filter_map(|key| {
            let absent = KEYS.iter().filter(|known| !self.0.contains_key(**known));
            let (known, likeness) = absent
                .map(|known| (known, strsim::normalized_damerau_levenshtein(key, known)))
                .max_by(|(_, a), (_, b)| a.total_cmp(b))?;
            (likeness >= MISSPELT).then(|| format!("unknown key `{}`; did you mean `{known}`?", excerpt(key, 60)))
        });
        meant.collect()
    }
}

fn read_contexts(key: &str, entries: &[Value]) -> Result<Vec<RetrievedContext>, Vec<String>> {
    let mut contexts = Vec::with_capacity(entries.len());
    let mut problems = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        match read_context(entry) {
            Ok(context) => contexts.push(context),
            Err(problem) => problems.push(format!("`{key}[{index}]` {problem}")),
        }
    }
    if problems.is_empty() { Ok(contexts) } else { Err(problems) }
}

fn read_context(entry: &Value) -> Result<RetrievedContext, String> {
    let object = match entry {
        Value::String(text) => return Ok(RetrievedContext::without_id(text)),
        Value::Object(object) => object,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            return Err(format!("must be a text or `{{id, text, score}}`, got {}", describe(entry)));
        }
    };
    let present = |name: &str| object.get(name).filter(|value| !value.is_null());
    let id = present("id").map(id_text).transpose().map_err(|got| format!("has an `id` that is no text: {got}"))?;
    let text = match present("text") {
        Some(Value::String(text)) => text.clone(),
        Some(value) => return Err(format!("has a `text` that is none: {}", describe(value))),
        // A retriever that names documents and returns no text can still be measured on what it found.
        None if id.is_some() => String::new(),
        None => return Err("has neither `text` nor `id`".to_owned()),
    };
    let score = present("score")
        .map(|value| value.as_f64().ok_or_else(|| format!("has a `score` that is no number: {}", describe(value))));
    Ok(RetrievedContext { id: id.map(DocId), text, score: score.transpose()? })
}

fn context_ids(value: &Value) -> Result<Vec<DocId>, String> {
    let Value::Array(ids) = value else {
        return Err(format!("`{CONTEXT_IDS}` must be a list of ids, got {}", describe(value)));
    };
    let read = |id| id_text(id).map(DocId).map_err(|got| format!("`{CONTEXT_IDS}` must hold texts, got {got}"));
    ids.iter().map(read).collect()
}

/// An id as text: a text as it stands, a whole number as its digits. Anything else is described.
pub(super) fn id_text(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) if number.is_i64() || number.is_u64() => Ok(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => Err(describe(value)),
    }
}

/// A number of at least 0; anything else is described.
pub(super) fn amount(value: &Value) -> Result<f64, String> {
    value.as_f64().filter(|number| number.is_finite() && *number >= 0.0).ok_or_else(|| describe(value))
}

/// What a value is, for an error: `a list of 3`, `the text "…"`.
pub(super) fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(yes) => yes.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the text {:?}", excerpt(text, 60)),
        Value::Array(entries) => format!("a list of {}", entries.len()),
        Value::Object(fields) => {
            let names: Vec<_> = fields.keys().take(8).map(|name| excerpt(name, 30)).collect();
            let more = if fields.len() > names.len() { ", …" } else { "" };
            format!("an object with the keys [{}{more}]", names.join(", "))
        }
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Object, M::Error> {
        let mut fields = BTreeMap::new();
        while let Some(key) = map.next_key::<String>()? {
            // serde_json itself would take the last of two silently.
            if fields.contains_key(&key) {
                return Err(M::Error::custom(format!("the key `{}` stands twice", excerpt(&key, 60))));
            }
            let value = map.next_value()?;
            fields.insert(key, value);
        }
        Ok(Object(fields))
    }
}

#[cfg(test)]
mod tests;
