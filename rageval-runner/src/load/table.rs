//! Reads CSV into the located tree: each row a map, each cell shaped by what its column takes.

use std::{borrow::Cow, collections::HashMap, sync::Arc};

use super::{
    diagnostic::{Diagnostic, Diagnostics, counted, quoted},
    json,
    node::{Entry, Kind, Node, push_entry},
    read::Reader,
    shape::{Key, Need, Shape},
    source::{Source, Span},
};

/// Columns of this form are keys of `metadata`.
const METADATA: &str = "metadata.";

/// What one column holds.
enum Column {
    /// A key of a case, by the name in the header.
    Key(&'static Key, String),
    /// A key of `metadata`.
    Metadata(String),
    /// It was reported, and its cells are not read.
    Unknown,
}

/// Every row as a map from the names of the header; what was wrong is in `problems`. `None` when the header makes no row readable.
pub(crate) fn read<'s>(
    source: &'s Arc<Source>,
    keys: &'static [Key],
    problems: &mut Diagnostics,
) -> Option<Vec<Node<'s>>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(source.text.as_bytes());
    let mut rows = Vec::new();
    let mut header: Option<Vec<Column>> = None;
    let mut record = csv::StringRecord::new();
    loop {
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                problems.push(Diagnostic::of_file(&source.name, format!("this is not CSV: {error}")));
                break;
            }
        }
        let start = record.position().map_or(0, |position| usize::try_from(position.byte()).unwrap_or(usize::MAX));
        let (spans, end) = cells(source, start, record.len());
        if end == End::InsideQuotes {
            let at = spans.last().map_or(start, |span| span.start);
            let problem =
                Diagnostic::at(source, &(at..at + 1), "this quote is never closed: everything below stands inside it");
            problems.push(problem.help("close it, or double a quote that belongs to the text"));
            break;
        }
        match &header {
            None => header = Some(columns(source, keys, &record, &spans, problems)?),
            Some(header) => rows.extend(row(source, header, &record, &spans, problems)),
        }
    }
    Some(rows)
}

/// The columns of a header. Everything wrong with it is said here, once, and not again in each row. `None` when no row can be a case.
fn columns(
    source: &Arc<Source>,
    keys: &'static [Key],
    record: &csv::StringRecord,
    spans: &[Span],
    problems: &mut Diagnostics,
) -> Option<Vec<Column>> {
    let mut reader = Reader { source, problems, whose: String::new() };
    let whole = spans.first().map_or(0, |span| span.start)..spans.last().map_or(0, |span| span.end);
    if let Some(separator) = record.get(0).filter(|_| record.len() == 1).and_then(|name| name.find([';', '\t', '|'])) {
        let problem =
            reader.problem(&(whole.start + separator..whole.start + separator + 1), "the header has one column");
        reader.problems.push(problem.help("separate cells with commas"));
        return None;
    }
    let mut columns: Vec<Column> = Vec::with_capacity(record.len());
    let mut stated: Vec<(&str, String, Span)> = Vec::new();
    for (name, span) in record.iter().zip(spans) {
        let name = name.trim();
        if let Some(name) = name.strip_prefix(METADATA).filter(|name| !name.is_empty()) {
            columns.push(Column::Metadata(name.to_owned()));
            continue;
        }
        let Some(key) = keys.iter().find(|key| key.names().any(|known| known == name)) else {
            let value = Node { kind: Kind::Null, span: span.clone() };
            let entry = Entry { key: Cow::Borrowed(name), key_span: span.clone(), value };
            reader.unknown_key(&entry, keys.iter().flat_map(Key::names));
            columns.push(Column::Unknown);
            continue;
        };
        if let Some((_, other, first)) = stated.iter().find(|(known, ..)| *known == key.name) {
            let message = if other == name {
                format!("the column {} stands twice", quoted(name))
            } else {
                format!("{} and {} are two names of one thing", quoted(other), quoted(name))
            };
            let problem = reader.problem(span, message).note(source, first, "it stands here already");
            reader.problems.push(problem.help("keep one of them"));
            columns.push(Column::Unknown);
            continue;
        }
        stated.push((key.name, name.to_owned(), span.clone()));
        columns.push(Column::Key(key, name.to_owned()));
    }
    let mut complete = Some(());
    for key in keys.iter().filter(|key| key.need == Need::Required) {
        if stated.iter().all(|(known, ..)| *known != key.name) {
            reader.report(&(whole.start..whole.start), format!("the column {} is missing", quoted(key.name)));
            complete = None;
        }
    }
    complete.map(|()| columns)
}

fn row<'s>(
    source: &'s Arc<Source>,
    columns: &[Column],
    record: &csv::StringRecord,
    spans: &[Span],
    problems: &mut Diagnostics,
) -> Option<Node<'s>> {
    // A spreadsheet exports the rows below the last one as separators alone.
    if record.iter().all(|cell| cell.trim().is_empty()) {
        return None;
    }
    let whole = spans.first().map_or(0, |span| span.start)..spans.last().map_or(0, |span| span.end);
    if record.len() != columns.len() {
        let cells = counted(record.len(), "cell");
        let message = format!("this row has {cells}, the header has {}", counted(columns.len(), "column"));
        problems.push(
            Diagnostic::at(source, &(whole.start..whole.start), message)
                .help("put a cell that holds a comma, a quote or a line break between double quotes"),
        );
        return None;
    }
    let mut entries = Vec::new();
    let (mut metadata, mut seen) = (Vec::new(), HashMap::new());
    for ((column, cell), span) in columns.iter().zip(record).zip(spans) {
        if cell.trim().is_empty() {
            continue;
        }
        let entry = |name: &str, kind: Kind<'s>| Entry {
            key: Cow::Owned(name.to_owned()),
            key_span: span.clone(),
            value: Node { kind, span: span.clone() },
        };
        match column {
            Column::Unknown => {}
            Column::Metadata(name) => {
                let entry = entry(name, Kind::Text(Cow::Owned(cell.to_owned())));
                push_entry(source, &mut metadata, &mut seen, entry, problems);
            }
            Column::Key(key, name) => {
                entries.extend(shaped(source, cell, span, key.shape, problems).map(|kind| entry(name, kind)));
            }
        }
    }
    add_metadata(source, &mut entries, metadata, &whole, problems);
    Some(Node { kind: Kind::Map(entries), span: whole })
}

/// Lays the columns `metadata.KEY` into the entry `metadata`.
fn add_metadata<'s>(
    source: &Arc<Source>,
    entries: &mut Vec<Entry<'s>>,
    columns: Vec<Entry<'s>>,
    row: &Span,
    problems: &mut Diagnostics,
) {
    if columns.is_empty() {
        return;
    }
    if let Some(Entry { value: Node { kind: Kind::Map(known), .. }, .. }) =
        entries.iter_mut().find(|entry| entry.key == "metadata")
    {
        let mut seen = HashMap::new();
        for entry in columns {
            push_entry(source, known, &mut seen, entry, problems);
        }
        return;
    }
    let span = row.start..row.start;
    let value = Node { kind: Kind::Map(columns), span: span.clone() };
    entries.push(Entry { key: Cow::Borrowed("metadata"), key_span: span, value });
}

/// A cell as the value that its column takes. `None` where it can't be read.
fn shaped<'s>(
    source: &'s Arc<Source>,
    cell: &str,
    span: &Span,
    shape: Shape,
    problems: &mut Diagnostics,
) -> Option<Kind<'s>> {
    let text = || Kind::Text(Cow::Owned(cell.to_owned()));
    let trimmed = cell.trim();
    match shape {
        Shape::Flag => Some(match trimmed.to_ascii_lowercase().as_str() {
            "true" => Kind::Bool(true),
            "false" => Kind::Bool(false),
            _ => text(),
        }),
        Shape::List(_) if trimmed.starts_with('[') => embedded(source, trimmed, span, problems),
        Shape::List(_) => {
            let item = |text: &str| Node { kind: Kind::Text(Cow::Owned(text.trim().to_owned())), span: span.clone() };
            Some(Kind::List(trimmed.strip_suffix(';').unwrap_or(trimmed).split(';').map(item).collect()))
        }
        // An answer may well start with a bracket, so that only a whole list counts as one.
        Shape::OneOrMany(_) if trimmed.starts_with('[') => {
            Some(embedded(source, trimmed, span, &mut Diagnostics::default()).unwrap_or_else(text))
        }
        Shape::Map(_) | Shape::MapOf(_) | Shape::Bars if trimmed.starts_with('{') => {
            embedded(source, trimmed, span, problems)
        }
        Shape::Map(_) | Shape::MapOf(_) | Shape::Bars => {
            problems.push(
                Diagnostic::at(source, span, "this cell is a map")
                    .help("write it as JSON, as in `{\"name\": \"value\"}`"),
            );
            None
        }
        // What is no number stays a text, which is reported where a number is wanted.
        Shape::Unit | Shape::Number if trimmed.parse::<f64>().is_ok() => {
            Some(Kind::Number(Cow::Owned(trimmed.to_owned())))
        }
        Shape::Text
        | Shape::AnyText
        | Shape::Word
        | Shape::Unit
        | Shape::Number
        | Shape::Count(_)
        | Shape::Duration
        | Shape::Date
        | Shape::OneOf(_)
        | Shape::Pointer
        | Shape::Any
        | Shape::OneOrMany(_)
        | Shape::OrMap(..)
        | Shape::Variants(..)
        | Shape::Metrics => Some(text()),
    }
}

/// JSON inside a cell. All of it stands at the cell, since quoting moves what is inside.
fn embedded<'s>(source: &Arc<Source>, text: &str, span: &Span, problems: &mut Diagnostics) -> Option<Kind<'s>> {
    let inner = Source::new("", text);
    let mut found = Diagnostics::default();
    let node = json::read(&inner, &(0..inner.text.len()), &mut found);
    for problem in found.iter() {
        problems.push(Diagnostic::at(source, span, format!("in this cell: {}", problem.message())));
    }
    if found.is_empty() { node.map(|node| moved(node, span).kind) } else { None }
}

/// A value with all its parts at one span, holding its own texts.
fn moved<'s>(node: Node<'_>, span: &Span) -> Node<'s> {
    let kind = match node.kind {
        Kind::Null => Kind::Null,
        Kind::Bool(yes) => Kind::Bool(yes),
        Kind::Number(text) => Kind::Number(Cow::Owned(text.into_owned())),
        Kind::Text(text) => Kind::Text(Cow::Owned(text.into_owned())),
        Kind::List(items) => Kind::List(items.into_iter().map(|item| moved(item, span)).collect()),
        Kind::Map(entries) => Kind::Map(
            entries
                .into_iter()
                .map(|entry| Entry {
                    key: Cow::Owned(entry.key.into_owned()),
                    key_span: span.clone(),
                    value: moved(entry.value, span),
                })
                .collect(),
        ),
    };
    Node { kind, span: span.clone() }
}

/// How a record ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// At a line end, or the end of the file.
    Line,
    /// The file ended inside a quoted cell.
    InsideQuotes,
}

/// Where the cells of a record stand: split at commas outside quotes, as the reader does.
fn cells(source: &Source, start: usize, count: usize) -> (Vec<Span>, End) {
    let bytes = source.text.as_bytes();
    // The position of a record may be that of blank lines before it.
    let mut at = start.min(bytes.len());
    while matches!(bytes.get(at), Some(b'\n' | b'\r')) {
        at += 1;
    }
    let mut spans = Vec::with_capacity(count);
    let mut cell = at;
    let mut quoted = false;
    loop {
        let byte = bytes.get(at).copied();
        match byte {
            Some(b'"') if quoted || at == cell => quoted = !quoted,
            // A doubled quote inside a quoted cell closes and opens it.
            Some(b'"') if at > cell && bytes[at - 1] == b'"' && bytes[cell] == b'"' => quoted = true,
            Some(b',') if !quoted => {
                spans.push(cell..at);
                cell = at + 1;
            }
            Some(b'\n' | b'\r') if !quoted => break,
            None => break,
            Some(_) => {}
        }
        at += 1;
    }
    spans.push(cell..at);
    let end = if quoted { End::InsideQuotes } else { End::Line };
    let spans = if spans.len() == count { spans } else { vec![start.min(bytes.len())..at; count] };
    (spans, end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::case;

    #[test]
    fn cells_know_their_place() {
        let source = Source::new("f.csv", "\n\na,\"b \"\"x\"\", y\",\"two\nlines\",,d\r\ne");
        let texts: Vec<_> = cells(&source, 0, 5).0.into_iter().map(|span| &source.text[span]).collect();
        assert_eq!(texts, ["a", "\"b \"\"x\"\", y\"", "\"two\nlines\"", "", "d"]);
    }

    #[test]
    fn a_quote_outside_the_rules_falls_back_to_the_record() {
        let source = Source::new("f.csv", "a,b\n");
        assert_eq!(cells(&source, 0, 3).0, vec![0..3; 3]);
    }

    #[test]
    fn a_fault_of_the_header_is_said_once() {
        let source = Source::new("f.csv", "id,id,query,querry\na,b,c,d\na,b,c,d\n");
        let mut problems = Diagnostics::default();
        read(&source, case::KEYS, &mut problems);
        assert_eq!(
            problems.iter().map(Diagnostic::message).collect::<Vec<_>>(),
            ["the column \"id\" stands twice", "unknown key \"querry\""]
        );
    }
}
