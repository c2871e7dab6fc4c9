//! Reads which slices are gated, and checks them against the cases.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    gate::{
        rule::{SliceField, SliceName, Slices},
        slice,
    },
    model::{GoldenSet, ids},
};

use super::{
    diagnostic::{Diagnostic, Diagnostics, did_you_mean, quoted},
    node::{Entry, Node},
    read::{Empty, Reader},
    shape::{Key, Shape},
    source::Span,
    thresholds::Policy,
};

/// Keys of `slices`.
pub(crate) const KEYS: &[Key] = &[
    Key::required(
        "by",
        Shape::List(&Shape::Text),
        "Fields, each of whose values is a slice: language, type, difficulty, tags, document, should_refuse, metadata.KEY.",
    ),
    Key::optional(
        "min_cases",
        Shape::Count(1),
        "A slice with fewer scored cases is inconclusive; 10 where it is left out.",
    ),
];

/// Keys of `interval`.
pub(crate) const INTERVAL: &[Key] = &[Key::required(
    "cluster",
    Shape::Text,
    "Intervals draw the cases of one value of this field together: document (default), language, type, difficulty, should_refuse, metadata.KEY.",
)];

/// Reads the value of `interval`: the field that intervals are clustered by.
pub(crate) fn cluster(
    reader: &mut Reader<'_>,
    node: &Node<'_>,
    spans: &mut Vec<(SliceMention, Span)>,
) -> Option<SliceField> {
    let entries = reader.map(node, "\"interval\"")?;
    let fields = reader.fields(&node.span, entries, INTERVAL, Empty::Refused);
    let node = fields.get("cluster")?;
    let name = reader.text(node, "\"cluster\"")?;
    let field = slice_field(reader, &name, &node.span)?;
    if field == SliceField::Tags {
        let problem = reader
            .problem(&node.span, "\"cluster\" cannot be \"tags\": a case of two tags would belong to two clusters")
            .help("write one of them as `metadata.KEY` in the cases");
        reader.problems.push(problem);
        return None;
    }
    spans.push((SliceMention::Field(field.clone()), node.span.clone()));
    Some(field)
}

/// What the policy says of slices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SliceMention {
    /// Every value of a field.
    Field(SliceField),
    /// One slice.
    Slice(SliceName),
}

/// Fields whose values are slices, by name.
const SLICE_FIELDS: &[(&str, SliceField)] = &[
    ("language", SliceField::Language),
    ("type", SliceField::Type),
    ("difficulty", SliceField::Difficulty),
    ("tags", SliceField::Tags),
    ("document", SliceField::Document),
    ("should_refuse", SliceField::ShouldRefuse),
];

/// The field of a slice, by its name.
///
/// # Errors
/// What was meant, or what there is.
pub fn field_of_slices(name: &str) -> Result<SliceField, String> {
    if let Some((_, field)) = SLICE_FIELDS.iter().find(|(known, _)| *known == name) {
        return Ok(field.clone());
    }
    if let Some(key) = name.strip_prefix("metadata.").filter(|key| !key.is_empty()) {
        return Ok(SliceField::Metadata(key.to_owned()));
    }
    let names = SLICE_FIELDS.iter().map(|(name, _)| *name);
    let list = names.clone().collect::<Vec<_>>().join(", ");
    Err(did_you_mean(name, names).unwrap_or_else(|| format!("it is one of {list} and metadata.KEY")))
}

fn slice_field(reader: &mut Reader<'_>, text: &str, span: &Span) -> Option<SliceField> {
    let unknown = |help| reader.problem(span, format!("unknown slice {}", quoted(text))).help(help);
    match field_of_slices(text).map_err(unknown) {
        Ok(field) => Some(field),
        Err(problem) => {
            reader.problems.push(problem);
            None
        }
    }
}

/// The slice that an entry is named after.
pub(crate) fn slice_name(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<SliceName> {
    match entry.key.split_once('=') {
        Some((field, value)) if !value.is_empty() => {
            let field = slice_field(reader, field, &entry.key_span)?;
            Some(SliceName { field, value: value.to_owned() })
        }
        Some(_) | None => {
            let message = format!("{} is no slice", quoted(&entry.key));
            let problem = reader.problem(&entry.key_span, message).help("write `field=value`, as in `language=pt`");
            reader.problems.push(problem);
            None
        }
    }
}

/// Reads the value of `slices`.
pub(crate) fn read(reader: &mut Reader<'_>, node: &Node<'_>, spans: &mut Vec<(SliceMention, Span)>) -> Slices {
    let mut slices = Slices::default();
    let Some(entries) = reader.map(node, "\"slices\"") else { return slices };
    let fields = reader.fields(&node.span, entries, KEYS, Empty::Refused);
    for item in fields.get("by").and_then(|by| reader.list(by, "\"by\"")).unwrap_or_default() {
        let Some(name) = reader.text(item, "a field of \"by\"") else { continue };
        let Some(field) = slice_field(reader, &name, &item.span) else { continue };
        if slices.by.iter().any(|(_, known)| *known == field) {
            reader.report(&item.span, format!("{} stands twice in \"by\"", quoted(&name)));
            continue;
        }
        spans.push((SliceMention::Field(field.clone()), item.span.clone()));
        slices.by.push((reader.source.place(item.span.start), field));
    }
    if let Some(min_cases) = fields.get("min_cases").and_then(|node| reader.count(node, "\"min_cases\"", 1)) {
        slices.min_cases = min_cases;
    }
    slices
}

/// Checks the slices of the policy against the cases: a field that no case has, or a value that none holds, would gate nothing.
pub fn check_slices(policy: &Policy, golden_set: &GoldenSet) -> Diagnostics {
    let mut problems = Diagnostics::default();
    let mut known: BTreeMap<SliceField, BTreeSet<String>> = BTreeMap::new();
    for (mention, span) in &policy.slice_spans {
        let field = match mention {
            SliceMention::Field(field) => field,
            SliceMention::Slice(name) => &name.field,
        };
        let values = known.entry(field.clone()).or_insert_with(|| {
            golden_set.cases.iter().flat_map(|case| slice::values_of(case, field)).map(str::to_owned).collect()
        });
        if let Some(value) = values.iter().find(|value| value.chars().any(ids::is_unfit_for_names)) {
            let message = format!("a slice's name must not hold control characters, as {} does", quoted(value));
            problems.push(Diagnostic::at(&policy.source, span, message));
        }
        let message = match mention {
            _ if values.is_empty() => format!("no case has a {}", quoted(&field_name(field))),
            SliceMention::Slice(name) if !values.contains(&name.value) => {
                format!("no case has the {} {}", quoted(&field_name(field)), quoted(&name.value))
            }
            SliceMention::Field(_) | SliceMention::Slice(_) => continue,
        };
        let help = match mention {
            SliceMention::Slice(name) => did_you_mean(&name.value, values.iter().map(String::as_str)),
            SliceMention::Field(_) => None,
        };
        problems.push(Diagnostic::at(&policy.source, span, message).maybe_help(help));
    }
    problems.sorted()
}

fn field_name(field: &SliceField) -> String {
    match field {
        SliceField::Language => "language".to_owned(),
        SliceField::Type => "type".to_owned(),
        SliceField::Difficulty => "difficulty".to_owned(),
        SliceField::Tags => "tags".to_owned(),
        SliceField::Document => "document".to_owned(),
        SliceField::ShouldRefuse => "should_refuse".to_owned(),
        SliceField::Metadata(key) => format!("metadata.{key}"),
    }
}
