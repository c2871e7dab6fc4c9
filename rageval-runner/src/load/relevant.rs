//! Reads which documents a case should find.

use std::collections::HashSet;

use crate::model::{DocId, Expectation, Judgement};

use super::{
    diagnostic::{Quoted, quoted},
    node::{Kind, Node},
    read::{Empty, Fields, Reader},
    shape::{Key, Shape},
};

/// Keys of one relevant document.
pub(crate) const JUDGEMENT: &[Key] = &[
    Key::required("id", Shape::Text, "The document."),
    Key::optional("grade", Shape::Number, "How relevant it is; 0 or less means not relevant, 1 where it is left out."),
];

/// The judgements of a case; `None` where it does not say.
pub(crate) fn relevant(
    reader: &mut Reader<'_>,
    fields: &Fields<'_, '_>,
    expectation: Expectation,
) -> Option<Vec<Judgement>> {
    let entry = fields.entry("relevant_doc_ids")?;
    let what = Quoted(&entry.key);
    let mut judgements: Vec<Judgement> = Vec::new();
    let mut seen = HashSet::new();
    for item in reader.list(&entry.value, &what)? {
        let Some((judgement, id)) = judgement(reader, item, &what) else { continue };
        if let Kind::Text(text) = &id.kind
            && !seen.insert(text.as_ref())
        {
            let message = format!("the document {} stands twice in {what}", quoted(judgement.id.as_str()));
            reader.report(&id.span, message);
            continue;
        }
        judgements.push(judgement);
    }
    let refuse = fields.entry("should_refuse").filter(|_| expectation == Expectation::Refuse);
    if let (Some(refuse), true) = (refuse, judgements.iter().any(|judgement| judgement.grade > 0.0)) {
        let message = format!("{what} names relevant documents, but the right answer is to decline");
        let problem = reader
            .problem(&entry.key_span, message)
            .note(reader.source, &refuse.key_span, "it says so here")
            .help("leave one of the two out");
        reader.problems.push(problem);
    }
    Some(judgements)
}

fn judgement<'n, 's>(
    reader: &mut Reader<'_>,
    item: &'n Node<'s>,
    what: &Quoted<'_>,
) -> Option<(Judgement, &'n Node<'s>)> {
    let Kind::Map(entries) = &item.kind else {
        let id = reader.text(item, format_args!("an id of {what}"))?;
        return Some((Judgement { id: DocId(id), grade: 1.0 }, item));
    };
    let fields = reader.fields(&item.span, entries, JUDGEMENT, Empty::Refused);
    let grade = match fields.get("grade") {
        Some(node) => reader.number(node, "\"grade\""),
        None => Some(1.0),
    };
    let node = fields.get("id")?;
    let id = reader.text(node, "\"id\"")?;
    Some((Judgement { id: DocId(id), grade: grade? }, node))
}
