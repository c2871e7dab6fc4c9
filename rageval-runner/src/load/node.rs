//! One located tree for every format: what stands in a file, and where.

use std::{borrow::Cow, sync::Arc};

use super::{
    diagnostic::{Diagnostic, Diagnostics, quoted},
    source::{Source, Span},
};

/// Deepest nesting that is read: twice what any file of ours needs, and safe for recursion.
pub(crate) const MAX_DEPTH: usize = 100;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node<'s> {
    /// The value.
    pub(crate) kind: Kind<'s>,
    /// Its bytes in the source.
    pub(crate) span: Span,
}

/// What a value is. Numbers keep the text they were written as.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind<'s> {
    Null,
    Bool(bool),
    Number(Cow<'s, str>),
    Text(Cow<'s, str>),
    List(Vec<Node<'s>>),
    Map(Vec<Entry<'s>>),
}

/// A key and its value. The keys of one map differ: a second one was reported and dropped.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry<'s> {
    /// The key.
    pub(crate) key: Cow<'s, str>,
    /// Where the key stands.
    pub(crate) key_span: Span,
    /// The value.
    pub(crate) value: Node<'s>,
}

impl Node<'_> {
    /// What it is, for messages.
    pub(crate) fn noun(&self) -> &'static str {
        match self.kind {
            Kind::Null => "nothing",
            Kind::Bool(_) => "true or false",
            Kind::Number(_) => "a number",
            Kind::Text(_) => "a text",
            Kind::List(_) => "a list",
            Kind::Map(_) => "a map",
        }
    }

    /// How many values it holds, itself included.
    pub(crate) fn size(&self) -> usize {
        1 + match &self.kind {
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Text(_) => 0,
            Kind::List(items) => items.iter().map(Self::size).sum(),
            Kind::Map(entries) => entries.iter().map(|entry| entry.value.size()).sum(),
        }
    }

    /// How deep it is nested: 1 for a text.
    pub(crate) fn depth(&self) -> usize {
        1 + match &self.kind {
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Text(_) => 0,
            Kind::List(items) => items.iter().map(Self::depth).max().unwrap_or(0),
            Kind::Map(entries) => entries.iter().map(|entry| entry.value.depth()).max().unwrap_or(0),
        }
    }
}

/// Adds an entry unless its key stands there already, which is reported at the second place with the first beside it.
///
/// Maps are small, so that looking through them beats hashing; past a few entries the caller's map has a set beside it.
pub(crate) fn push_entry<'s>(
    source: &Arc<Source>,
    entries: &mut Vec<Entry<'s>>,
    seen: &mut std::collections::HashMap<String, Span>,
    entry: Entry<'s>,
    problems: &mut Diagnostics,
) {
    const SMALL: usize = 16;
    let first = if entries.len() < SMALL {
        entries.iter().find(|known| known.key == entry.key).map(|known| known.key_span.clone())
    } else {
        if seen.is_empty() {
            seen.extend(entries.iter().map(|known| (known.key.to_string(), known.key_span.clone())));
        }
        seen.get(entry.key.as_ref()).cloned()
    };
    if let Some(first) = first {
        problems.push(
            Diagnostic::at(source, &entry.key_span, format!("the key {} stands twice in one map", quoted(&entry.key)))
                .note(source, &first, "it stands here first"),
        );
        return;
    }
    if !seen.is_empty() {
        seen.insert(entry.key.to_string(), entry.key_span.clone());
    }
    entries.push(entry);
}
