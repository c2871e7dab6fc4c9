//! Reads JSON into the located tree: each value is a slice of the source, and so knows its place.

use std::{borrow::Cow, collections::HashMap, fmt, sync::Arc};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{
    diagnostic::{Diagnostic, Diagnostics},
    node::{Entry, Kind, MAX_DEPTH, Node, push_entry},
    source::{Source, Span},
};

/// Reads a piece of a source that holds one JSON value. `None` when it does not; what was wrong is in `problems`.
pub(crate) fn read<'s>(source: &'s Arc<Source>, span: &Span, problems: &mut Diagnostics) -> Option<Node<'s>> {
    let text = &source.text[span.clone()];
    match serde_json::from_str::<&RawValue>(text) {
        Ok(raw) => node(source, raw, 1, problems),
        Err(error) => {
            problems.push(syntax(source, span, &error));
            None
        }
    }
}

/// A text that is no JSON.
pub(crate) fn syntax(source: &Arc<Source>, span: &Span, error: &serde_json::Error) -> Diagnostic {
    // serde_json counts lines from the start of what it was given, and columns in bytes.
    let first = source.place(span.start).line;
    let at = if error.line() <= 1 {
        (span.start + error.column().saturating_sub(1)).min(span.end)
    } else {
        source.offset(first + error.line() - 1, error.column())
    };
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    let what = if error.is_eof() { "it is cut off here" } else { what };
    Diagnostic::at(source, &(at..at), format!("this is not JSON: {what}"))
}

/// Where a slice of the source stands in it.
fn span_of(source: &Source, slice: &str) -> Span {
    let start = (slice.as_ptr() as usize).saturating_sub(source.text.as_ptr() as usize).min(source.text.len());
    start..(start + slice.len()).min(source.text.len())
}

fn node<'s>(source: &'s Arc<Source>, raw: &'s RawValue, depth: usize, problems: &mut Diagnostics) -> Option<Node<'s>> {
    let text = raw.get();
    let span = span_of(source, text);
    if depth > MAX_DEPTH {
        let at = span.start..span.start;
        problems.push(Diagnostic::at(source, &at, format!("nested deeper than {MAX_DEPTH} levels")));
        return None;
    }
    // The value was scanned whole before, so that what is left to fail is a text with half of a surrogate pair.
    let kind = match text.as_bytes().first() {
        Some(b'{') => parse::<Entries<'s>>(source, &span, problems).map(|entries| {
            let (mut read, mut seen) = (Vec::new(), HashMap::new());
            for (key, value) in entries.0 {
                let key_span = span_of(source, key.get());
                let key = parse::<Text<'s>>(source, &key_span, problems);
                if let (Some(key), Some(value)) = (key, node(source, value, depth + 1, problems)) {
                    push_entry(source, &mut read, &mut seen, Entry { key: key.0, key_span, value }, problems);
                }
            }
            Kind::Map(read)
        }),
        Some(b'[') => parse::<Vec<&'s RawValue>>(source, &span, problems).map(|items| {
            Kind::List(items.into_iter().filter_map(|item| node(source, item, depth + 1, problems)).collect())
        }),
        Some(b'"') => parse::<Text<'s>>(source, &span, problems).map(|text| Kind::Text(text.0)),
        Some(b't') => Some(Kind::Bool(true)),
        Some(b'f') => Some(Kind::Bool(false)),
        Some(b'n') => Some(Kind::Null),
        Some(_) | None => Some(Kind::Number(Cow::Borrowed(text))),
    };
    kind.map(|kind| Node { kind, span })
}

fn parse<'s, T: Deserialize<'s>>(source: &'s Arc<Source>, span: &Span, problems: &mut Diagnostics) -> Option<T> {
    match serde_json::from_str(&source.text[span.clone()]) {
        Ok(value) => Some(value),
        Err(error) => {
            problems.push(syntax(source, span, &error));
            None
        }
    }
}

/// A text that is borrowed where it holds no escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'s>(#[serde(borrow)] Cow<'s, str>);

/// The entries of an object as they stand, keys twice included.
struct Entries<'s>(Vec<(&'s RawValue, &'s RawValue)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Entries<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_problem(text: &str, expected: &str) {
        let source = Source::new("f.json", text);
        let mut problems = Diagnostics::default();
        read(&source, &(0..text.len()), &mut problems);
        let messages: Vec<_> = problems
            .iter()
            .map(|problem| format!("{}:{} {}", problem.place().line, problem.place().column, problem.message()))
            .collect();
        assert_eq!(messages, [expected], "{text}");
    }

    #[test]
    fn values_know_their_place() {
        let text = " {\"é\": [1.50, \"x\"], \"b\\n\": null}";
        let source = Source::new("f.json", text);
        let mut problems = Diagnostics::default();
        let node = read(&source, &(0..text.len()), &mut problems).expect("valid JSON");
        let Kind::Map(entries) = &node.kind else { panic!("a map") };
        let Kind::List(items) = &entries[0].value.kind else { panic!("a list") };
        assert_eq!(items[0].kind, Kind::Number("1.50".into()));
        assert_eq!(source.place(items[1].span.start).column, 15);
        assert_eq!((entries[1].key.as_ref(), source.place(entries[1].key_span.start).column), ("b\n", 21));
        assert!(problems.is_empty());
    }

    #[test]
    fn faults_stand_at_their_place() {
        check_problem("{\"a\": 1, \"a\": 2}", "1:10 the key \"a\" stands twice in one map");
        check_problem("{\"a\": 1,\n \"b\": x}", "2:7 this is not JSON: expected value");
        check_problem("{\"a\": \"x", "1:8 this is not JSON: it is cut off here");
        check_problem("{} {}", "1:4 this is not JSON: trailing characters");
        check_problem("[\"\\ud800\"]", "1:9 this is not JSON: unexpected end of hex escape");
        check_problem(&format!("{}{}", "[".repeat(101), "]".repeat(101)), "1:101 nested deeper than 100 levels");
    }
}
