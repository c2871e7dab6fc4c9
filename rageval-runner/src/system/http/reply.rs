//! Reads an answer out of a JSON reply by its pointers.

use serde_json::{Value, error::Category};

use crate::{
    judge::reply::strict,
    model::{Answer, DocId, RetrievedContext, Usage},
    system::{
        spec::{ContextPointers, HttpSpec, JsonPointer, UsagePointers},
        wire::{amount, describe, id_text},
    },
};

/// The pointers of a description.
///
/// What a pointer names must be there: a misspelt one would otherwise be a system without contexts, or one that never refuses. `null`
/// is the endpoint's own word for nothing, wherever nothing is allowed: anywhere but for the answer and the text of a context.
pub(super) struct ReplyReader {
    answer: JsonPointer,
    contexts: Option<ContextPointers>,
    refused: Option<JsonPointer>,
    usage: Option<UsagePointers>,
    cost: Option<JsonPointer>,
    model: Option<JsonPointer>,
}

impl ReplyReader {
    pub(super) fn new(spec: &HttpSpec) -> Self {
        Self {
            answer: spec.answer.clone(),
            contexts: spec.contexts.clone(),
            refused: spec.refused.clone(),
            usage: spec.usage.clone(),
            cost: spec.cost.clone(),
            model: spec.model.clone(),
        }
    }

    /// The answer, or the first thing that is wrong with the reply.
    pub(super) fn read(&self, bytes: &[u8]) -> Result<Answer, String> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let reply = parsed(bytes)?;
        let response = text(&reply, &self.answer, "`answer`")?;
        let retrieved_contexts = match &self.contexts {
            None => Vec::new(),
            Some(pointers) => contexts(&reply, pointers)?,
        };
        let refused = match nullable(&reply, self.refused.as_ref(), "`refused`")? {
            None => None,
            Some(value) => {
                Some(value.as_bool().ok_or_else(|| wrong(self.refused.as_ref(), "`refused`", "true or false", value))?)
            }
        };
        let cost_usd = match nullable(&reply, self.cost.as_ref(), "`cost`")? {
            None => None,
            Some(value) => {
                Some(amount(value).map_err(|_| wrong(self.cost.as_ref(), "`cost`", "a number of at least 0", value))?)
            }
        };
        let usage = self.usage.as_ref().map(|pointers| usage(&reply, pointers)).transpose()?.flatten();
        let generator = match nullable(&reply, self.model.as_ref(), "`model`")? {
            None => None,
            Some(value) => {
                Some(value.as_str().ok_or_else(|| wrong(self.model.as_ref(), "`model`", "a text", value))?.to_owned())
            }
        };
        Ok(Answer { response, retrieved_contexts, refused, usage, cost_usd, generator })
    }
}

/// The reply as JSON; a key that stands twice is a fault, since of two answers nobody knows which was meant.
fn parsed(bytes: &[u8]) -> Result<Value, String> {
    let text = str::from_utf8(bytes).map_err(|error| format!("the reply is no JSON: {error}"))?;
    strict::read(text).map_err(|error| match error.classify() {
        Category::Data => format!("the reply can't be read: {error}"),
        Category::Io | Category::Syntax | Category::Eof => format!("the reply is no JSON: {error}"),
    })
}

fn contexts(reply: &Value, pointers: &ContextPointers) -> Result<Vec<RetrievedContext>, String> {
    let entries = match there(reply, &pointers.each, "`contexts.each`")? {
        Value::Null => return Ok(Vec::new()),
        Value::Array(entries) => entries,
        value @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => {
            return Err(wrong(Some(&pointers.each), "`contexts.each`", "a list", value));
        }
    };
    let read = |(index, entry): (usize, &Value)| {
        let of = |key: &str| format!("`contexts.{key}` of entry {index}");
        let id = match nullable(entry, pointers.id.as_ref(), &of("id"))? {
            None => None,
            Some(value) => Some(
                id_text(value)
                    .map_err(|_| wrong(pointers.id.as_ref(), &of("id"), "a text or a whole number", value))?,
            ),
        };
        let score = match nullable(entry, pointers.score.as_ref(), &of("score"))? {
            None => None,
            Some(value) => {
                Some(value.as_f64().ok_or_else(|| wrong(pointers.score.as_ref(), &of("score"), "a number", value))?)
            }
        };
        let text = text(entry, &pointers.text, &of("text"))?;
        Ok(RetrievedContext { id: id.map(DocId), text, score })
    };
    entries.iter().enumerate().map(read).collect()
}

/// `None` where every pointer leads to `null`; a kind of tokens without a pointer, or with `null` beside a number, is 0.
fn usage(reply: &Value, pointers: &UsagePointers) -> Result<Option<Usage>, String> {
    let count = |pointer: Option<&JsonPointer>, key: &str| match nullable(reply, pointer, key)? {
        None => Ok(None),
        Some(value) => value.as_u64().map(Some).ok_or_else(|| wrong(pointer, key, "a whole number", value)),
    };
    let input = count(pointers.input_tokens.as_ref(), "`usage.input_tokens`")?;
    let output = count(pointers.output_tokens.as_ref(), "`usage.output_tokens`")?;
    let both_asked = pointers.input_tokens.is_some() && pointers.output_tokens.is_some();
    match (input, output) {
        (None, None) => Ok(None),
        // Half of what was asked for would be too small a sum.
        (None, Some(_)) | (Some(_), None) if both_asked => Ok(None),
        (input, output) => Ok(Some(Usage { input_tokens: input.unwrap_or(0), output_tokens: output.unwrap_or(0) })),
    }
}

fn there<'v>(value: &'v Value, pointer: &JsonPointer, key: &str) -> Result<&'v Value, String> {
    pointer.find(value).ok_or_else(|| format!("{key}: nothing at `{pointer}` in {}", describe(value)))
}

fn nullable<'v>(value: &'v Value, pointer: Option<&JsonPointer>, key: &str) -> Result<Option<&'v Value>, String> {
    let Some(pointer) = pointer else { return Ok(None) };
    there(value, pointer, key).map(|found| Some(found).filter(|found| !found.is_null()))
}

fn text(value: &Value, pointer: &JsonPointer, key: &str) -> Result<String, String> {
    let found = there(value, pointer, key)?;
    found.as_str().map(str::to_owned).ok_or_else(|| wrong(Some(pointer), key, "a text", found))
}

fn wrong(pointer: Option<&JsonPointer>, key: &str, wanted: &str, found: &Value) -> String {
    let pointer = pointer.map_or("", JsonPointer::as_str);
    format!("{key}: `{pointer}` must be {wanted}, got {}", describe(found))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pointer(text: &str) -> JsonPointer {
        JsonPointer::new(text).expect("a pointer")
    }

    fn reader() -> ReplyReader {
        ReplyReader {
            answer: pointer("/out/0/text"),
            contexts: Some(ContextPointers {
                each: pointer("/sources"),
                id: Some(pointer("/doc/id")),
                text: pointer("/text"),
                score: Some(pointer("/score")),
            }),
            refused: Some(pointer("/refused")),
            usage: Some(UsagePointers {
                input_tokens: Some(pointer("/usage/in")),
                output_tokens: Some(pointer("/usage/out")),
            }),
            cost: Some(pointer("/cost")),
            model: Some(pointer("/model")),
        }
    }

    fn reply() -> Value {
        json!({
            "out": [{"text": "12"}],
            "sources": [{"doc": {"id": "d1"}, "text": "fee", "score": 2}, {"doc": {"id": 7}, "text": "", "score": null}],
            "refused": false,
            "usage": {"in": 3, "out": 2},
            "cost": 0.01,
            "model": "bot-2026-01-31",
        })
    }

    /// The reply with the value at a pointer replaced.
    fn with(at: &str, value: Value) -> Value {
        let mut reply = reply();
        *reply.pointer_mut(at).expect("a place in the reply") = value;
        reply
    }

    fn read(reply: &Value) -> Result<Answer, String> {
        reader().read(reply.to_string().as_bytes())
    }

    #[test]
    fn every_pointer_is_followed() {
        let expected = Answer::new("12")
            .with_contexts([RetrievedContext::new("d1", "fee").with_score(2.0), RetrievedContext::new("7", "")])
            .with_refused(false)
            .with_usage(Usage { input_tokens: 3, output_tokens: 2 })
            .with_cost_usd(0.01)
            .with_generator("bot-2026-01-31");
        assert_eq!(read(&reply()), Ok(expected));
    }

    #[test]
    fn entries_may_be_texts_themselves() {
        let contexts = ContextPointers { each: pointer("/c"), id: None, text: pointer(""), score: None };
        let reader = ReplyReader {
            answer: pointer("/a"),
            contexts: Some(contexts),
            refused: None,
            usage: None,
            cost: None,
            model: None,
        };
        let answer = reader.read("\u{feff}{\"a\": \"\", \"c\": [\"x\", \"y\"]}".as_bytes()).expect("an answer");
        assert_eq!(answer.retrieved_contexts, [RetrievedContext::without_id("x"), RetrievedContext::without_id("y")]);
    }

    #[test]
    fn null_is_nothing_where_nothing_is_allowed() {
        assert_eq!(read(&with("/sources", Value::Null)).expect("an answer").retrieved_contexts, []);
        assert_eq!(read(&with("/refused", Value::Null)).expect("an answer").refused, None);
        assert_eq!(read(&with("/cost", Value::Null)).expect("an answer").cost_usd, None);
        assert_eq!(read(&with("/model", Value::Null)).expect("an answer").generator, None);
        assert_eq!(read(&with("/usage/in", Value::Null)).expect("an answer").usage, None);
        assert_eq!(read(&with("/sources/0/doc/id", Value::Null)).expect("an answer").retrieved_contexts[0].id, None);
    }

    #[test]
    fn what_is_missing_or_of_another_type_is_named() {
        let table = [
            (json!({"error": "rate limit"}), "`answer`: nothing at `/out/0/text` in an object with the keys [error]"),
            (json!([1, 2]), "`answer`: nothing at `/out/0/text` in a list of 2"),
            (with("/out/0/text", Value::Null), "`answer`: `/out/0/text` must be a text, got null"),
            (
                with("/out/0/text", json!({"en": "x"})),
                "`answer`: `/out/0/text` must be a text, got an object with the keys [en]",
            ),
            (with("/sources", json!("fee")), "`contexts.each`: `/sources` must be a list, got the text \"fee\""),
            (with("/sources/1", json!("fee")), "`contexts.id` of entry 1: nothing at `/doc/id` in the text \"fee\""),
            (
                with("/sources/0/doc/id", json!(1.5)),
                "`contexts.id` of entry 0: `/doc/id` must be a text or a whole number, got the number 1.5",
            ),
            (
                with("/sources/0/text", json!(["a"])),
                "`contexts.text` of entry 0: `/text` must be a text, got a list of 1",
            ),
            (
                with("/sources/0/score", json!("high")),
                "`contexts.score` of entry 0: `/score` must be a number, got the text \"high\"",
            ),
            (with("/model", json!(4)), "`model`: `/model` must be a text, got the number 4"),
            (with("/refused", json!("no")), "`refused`: `/refused` must be true or false, got the text \"no\""),
            (
                with("/usage", json!({"in": 1})),
                "`usage.output_tokens`: nothing at `/usage/out` in an object with the keys [out, sources, usage]",
            ),
            (
                with("/usage/in", json!(-1)),
                "`usage.input_tokens`: `/usage/in` must be a whole number, got the number -1",
            ),
            (with("/cost", json!(-0.5)), "`cost`: `/cost` must be a number of at least 0, got the number -0.5"),
        ];
        for (reply, expected) in table {
            let why = read(&reply).expect_err(expected);
            if expected.contains("/usage/out`") {
                assert!(
                    why.starts_with("`usage.output_tokens`: nothing at `/usage/out` in an object with the keys ["),
                    "{why}"
                );
            } else {
                assert_eq!(why, expected);
            }
        }
    }

    #[test]
    fn a_reply_that_is_no_json_says_where() {
        let why = reader().read(b"<html>").expect_err("an error");
        assert_eq!(why, "the reply is no JSON: expected value at line 1 column 1");
        assert!(reader().read(b"{\"out\": [").is_err());
        assert!(reader().read(b"{} {}").is_err());
        assert!(reader().read(b"\"caf\xe9\"").is_err());
    }
}
