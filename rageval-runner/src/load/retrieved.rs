//! Reads what a recorded answer was made from.

use crate::model::{DocId, RetrievedContext};

use super::{
    diagnostic::quoted,
    node::{Entry, Kind, Node},
    read::{Empty, Reader},
    shape::{Key, Shape},
};

/// Keys of a context that is a map.
pub(crate) const KEYS: &[Key] = &[
    Key::optional("id", Shape::Text, "The document it comes from."),
    Key::required("text", Shape::AnyText, "The text."),
    Key::optional("score", Shape::Number, "The retriever's score."),
];

/// What was retrieved, in rank order. Blank texts stay: they keep their rank, and count as no evidence.
pub(crate) fn retrieved(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Vec<RetrievedContext> {
    let what = quoted(&entry.key);
    let items = reader.list(&entry.value, &what).unwrap_or_default();
    items.iter().filter_map(|item| retrieved_context(reader, item, &what)).collect()
}

fn retrieved_context(reader: &mut Reader<'_>, item: &Node<'_>, what: &str) -> Option<RetrievedContext> {
    let Kind::Map(entries) = &item.kind else {
        return reader.any_word(item, format_args!("a text of {what}")).map(RetrievedContext::without_id);
    };
    let fields = reader.fields(&item.span, entries, KEYS, Empty::Absent);
    let id = fields.get("id").and_then(|node| reader.text(node, "\"id\"")).map(DocId);
    let score = fields.get("score").and_then(|node| reader.number(node, "\"score\""));
    let text = fields.get("text").and_then(|node| reader.any_word(node, "\"text\""))?;
    Some(RetrievedContext { id, text, score })
}
