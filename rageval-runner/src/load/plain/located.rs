//! Any YAML or JSON with the places of its values.

use std::{path::Path, sync::Arc};

use serde_json::value::RawValue;

use crate::{
    load::{
        diagnostic::Diagnostics,
        json,
        node::{Kind, Node},
        source::Source,
        yaml,
    },
    model::Place,
};

/// A value of a file, and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Located {
    /// Where it starts.
    pub place: Place,
    /// What it is.
    pub value: Value,
}

/// What a value is. Numbers keep the text they were written as; maps keep their order.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`, or nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(String),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Located>),
    /// A map; no key twice.
    Map(Vec<(String, Located)>),
}

impl Located {
    /// The value under a key of a map; `None` where there is none, or `null`.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Value::Map(entries) = &self.value else { return None };
        entries.iter().find(|(name, value)| name == key && value.value != Value::Null).map(|(_, value)| value)
    }

    /// The text of a text, a number or `true` and `false`.
    pub fn word(&self) -> Option<String> {
        match &self.value {
            Value::Text(text) | Value::Number(text) => Some(text.clone()),
            Value::Bool(yes) => Some(yes.to_string()),
            Value::Null | Value::List(_) | Value::Map(_) => None,
        }
    }

    /// The same without places. A number that JSON does not know is a text.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(yes) => serde_json::Value::Bool(*yes),
            Value::Number(text) => number(text),
            Value::Text(text) => serde_json::Value::String(text.clone()),
            Value::List(items) => items.iter().map(Self::to_json).collect(),
            Value::Map(entries) => entries.iter().map(|(key, value)| (key.clone(), value.to_json())).collect(),
        }
    }
}

fn number(text: &str) -> serde_json::Value {
    serde_json::from_str::<serde_json::Number>(text)
        .ok()
        .or_else(|| text.parse::<f64>().ok().and_then(serde_json::Number::from_f64))
        .map_or_else(|| serde_json::Value::String(text.to_owned()), serde_json::Value::Number)
}

pub(super) fn located(source: &Source, node: &Node<'_>) -> Located {
    let value = match &node.kind {
        Kind::Null => Value::Null,
        Kind::Bool(yes) => Value::Bool(*yes),
        Kind::Number(text) => Value::Number(text.to_string()),
        Kind::Text(text) => Value::Text(text.to_string()),
        Kind::List(items) => Value::List(items.iter().map(|item| located(source, item)).collect()),
        Kind::Map(entries) => {
            Value::Map(entries.iter().map(|entry| (entry.key.to_string(), located(source, &entry.value))).collect())
        }
    };
    Located { place: source.place(node.span.start), value }
}

/// Reads YAML of one document; JSON is YAML too. A file without a value is `Null`.
///
/// # Errors
/// All that is wrong with the file.
pub fn yaml(path: &Path) -> Result<Located, Diagnostics> {
    let source = Source::read(&name_of(path), path)?;
    let mut problems = Diagnostics::default();
    let node = yaml::read(&source, &mut problems);
    let empty = Node { kind: Kind::Null, span: 0..0 };
    let value = located(&source, node.as_ref().unwrap_or(&empty));
    problems.or(value)
}

/// Reads JSON values that stand one after the other, whatever blanks and line ends are between and within them: one value, JSON lines,
/// or JSON lines of which each goes on over several lines.
///
/// # Errors
/// All that is wrong with the file.
pub fn json(path: &Path) -> Result<Vec<Located>, Diagnostics> {
    let source = Source::read(&name_of(path), path)?;
    let mut problems = Diagnostics::default();
    let values = json_nodes(&source, &mut problems).iter().map(|node| located(&source, node)).collect();
    problems.or(values)
}

pub(super) fn json_nodes<'s>(source: &'s Arc<Source>, problems: &mut Diagnostics) -> Vec<Node<'s>> {
    let mut nodes = Vec::new();
    let mut stream = serde_json::Deserializer::from_str(&source.text).into_iter::<&RawValue>();
    loop {
        let start = stream.byte_offset();
        match stream.next() {
            None => break,
            Some(Ok(raw)) => {
                let end = stream.byte_offset();
                let span = end - raw.get().len()..end;
                nodes.extend(json::read(source, &span, problems));
            }
            Some(Err(error)) => {
                // Of a stream the error counts lines from its very start.
                let whole = 0..source.text.len();
                let mut problem = json::syntax(source, &whole, &error);
                let rest = &source.text[start..];
                if rest.contains("NaN") || rest.contains("Infinity") {
                    problem = problem.help("`NaN` and `Infinity` are Python's, and no JSON: write null");
                }
                problems.push(problem);
                break;
            }
        }
    }
    nodes
}

/// The path as messages name the file.
pub(super) fn name_of(path: &Path) -> String {
    path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/")
}
