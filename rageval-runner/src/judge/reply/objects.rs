//! Finds the JSON objects of a reply among fences, prose and thinking.

use serde_json::{Map, Value};

use super::{repair, strict};

/// The JSON objects that stand in a reply, in order; those inside of strings, of other objects and of thinking are none of them.
///
/// Takes time linear in the length of the text, whatever it holds.
///
/// # Errors
/// Something that begins like JSON cannot be read, or goes on after its end; thinking has no end; a list holds anything but one object.
pub(super) fn all(text: &str) -> Result<Vec<Map<String, Value>>, String> {
    let whole = text.trim_matches(repair::is_blank);
    match strict::read(whole) {
        // A whole reply that is one string: the judge encoded its JSON twice.
        Ok(Value::String(inner)) => match strict::read(&inner) {
            Ok(value @ Value::Object(_)) => one(value).map(|object| vec![object]),
            _ => Err("the reply is a text in quotes, not a JSON object".to_owned()),
        },
        Ok(value) => one(value).map(|object| vec![object]),
        Err(_) => among_prose(whole),
    }
}

fn one(value: Value) -> Result<Map<String, Value>, String> {
    match value {
        Value::Object(object) => Ok(object),
        Value::Array(mut list) => match (list.len(), list.pop()) {
            (1, Some(Value::Object(object))) => Ok(object),
            (count, _) => Err(format!("the reply is a list of {count} and not one JSON object")),
        },
        Value::Null => Err("the reply is null, not a JSON object".to_owned()),
        Value::Bool(_) => Err("the reply is true or false, not a JSON object".to_owned()),
        Value::Number(_) => Err("the reply is a number, not a JSON object".to_owned()),
        Value::String(_) => Err("the reply is a text in quotes, not a JSON object".to_owned()),
    }
}

fn among_prose(text: &str) -> Result<Vec<Map<String, Value>>, String> {
    let mut objects = Vec::new();
    let mut at = 0;
    let mut is_past_thinking = false;
    while let Some(step) = text[at..].find(['{', '[', '<']) {
        let start = at + step;
        let rest = &text[start..];
        if let Some(tag) = thinking::opening(rest) {
            let after = start + tag;
            at = after + thinking::end(&text[after..]).ok_or("the reply ended while thinking")?;
            is_past_thinking = true;
        } else if let Some(tag) = thinking::closing(rest) {
            at = start + tag;
            is_past_thinking = true;
        } else if repair::begins_json(rest) {
            match value_at(rest) {
                Ok((value, length)) => {
                    at = start + length;
                    if goes_on(&text[at..]) {
                        return Err("the JSON in the reply goes on after its end".to_owned());
                    }
                    objects.push(one(value)?);
                }
                Err(why) => {
                    // Some templates give the closing tag alone; what was thought before it need not be JSON. A reply that begins with
                    // its object is no thinking, and a tag in it may stand in a string.
                    let may_be_thinking = !is_past_thinking && objects.is_empty() && !begins_with(text, start);
                    let end = if may_be_thinking { thinking::end(rest) } else { None };
                    at = start + end.ok_or(why)?;
                    is_past_thinking = true;
                }
            }
        } else {
            at = start + 1;
        }
    }
    Ok(objects)
}

/// The value at the start of a text with its length in bytes: strictly, else repaired.
fn value_at(text: &str) -> Result<(Value, usize), String> {
    strict::first(text).map_or_else(|| repair::first(text), Ok)
}

/// Whether only a code fence stands before this place.
fn begins_with(text: &str, start: usize) -> bool {
    let before = text[..start].trim_matches(repair::is_blank);
    before.is_empty() || (before.starts_with("```") && !before.contains('\n'))
}

/// Whether what follows a value looks like more of it: a quotation mark in a string that was not escaped ended it early.
fn goes_on(text: &str) -> bool {
    let next = text.trim_start_matches(repair::is_blank).chars().next();
    next.is_some_and(|next| repair::is_quote(next) || [',', ':', '，', '：', '\\'].contains(&next))
}

/// Tags around what a judge thinks before it answers.
pub(super) mod thinking {
    const NAMES: [&str; 3] = ["think", "thinking", "thought"];

    /// The length of the opening tag that the text begins with.
    pub(in super::super) fn opening(text: &str) -> Option<usize> {
        tag(text, "<")
    }

    /// The length of the closing tag that the text begins with.
    pub(in super::super) fn closing(text: &str) -> Option<usize> {
        tag(text, "</")
    }

    fn tag(text: &str, before: &str) -> Option<usize> {
        let rest = text.strip_prefix(before)?;
        NAMES.into_iter().find_map(|name| {
            let is_named = rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
            (is_named && rest[name.len()..].starts_with('>')).then_some(before.len() + name.len() + 1)
        })
    }

    /// Where the first closing tag of the text ends.
    pub(in super::super) fn end(text: &str) -> Option<usize> {
        text.match_indices("</").find_map(|(start, _)| closing(&text[start..]).map(|length| start + length))
    }
}
