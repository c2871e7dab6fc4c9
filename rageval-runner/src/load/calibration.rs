//! Reads how well the policy asks a judge to agree with people, and where their labels are.

use std::path::{Path, PathBuf};

use crate::{
    model::UnitInterval,
    trust::calibration::{Bars, MIN_LABELS, MIN_SPEARMAN},
};

use super::{
    connect,
    files::Format,
    node::Entry,
    read::{Empty, Reader},
    shape::{Key, Shape},
    source::Span,
};

/// Keys of `calibration`.
pub(crate) const KEYS: &[Key] = &[
    Key::optional(
        "labels",
        Shape::Text,
        "The folder of the labels; `calibration` among the cases where it is left out.",
    ),
    Key::optional(
        "min_labels",
        Shape::Count(1),
        "The fewest labelled items; 50 where it is left out, and less is red without a waiver.",
    ),
    Key::optional(
        "min_spearman",
        Shape::Unit,
        "The lowest rank correlation with people; 0.7 where it is left out, and less is red without a waiver.",
    ),
];

/// The folder's name among the cases.
const FOLDER: &str = "calibration";

/// The folder of the labels, and the bars.
pub(crate) fn read(
    reader: &mut Reader<'_>,
    entry: Option<&Entry<'_>>,
    cases: &str,
    cases_span: &Span,
    root: &Path,
) -> (PathBuf, Bars) {
    let cases = root.join(cases);
    // Where the cases are one file, their folder is that of the file.
    let beside = if Format::of(&cases).is_some() { cases.parent().unwrap_or(root) } else { &cases };
    let default = beside.join(FOLDER);
    let mut bars = Bars { place: reader.source.place(cases_span.start), ..Bars::default() };
    let Some(entry) = entry else { return (default, bars) };
    bars.place = reader.source.place(entry.key_span.start);
    let Some(entries) = reader.map(&entry.value, "\"calibration\"") else { return (default, bars) };
    let fields = reader.fields(&entry.value.span, entries, KEYS, Empty::Refused);
    bars.min_labels =
        fields.get("min_labels").and_then(|node| reader.count(node, "\"min_labels\"", 1)).unwrap_or(MIN_LABELS);
    let least = fields.get("min_spearman").and_then(|node| reader.unit(node, "\"min_spearman\""));
    bars.min_spearman = least.map_or(MIN_SPEARMAN, UnitInterval::get);
    let Some(node) = fields.get("labels") else { return (default, bars) };
    let Some(folder) = reader.text(node, "\"labels\"") else { return (default, bars) };
    connect::refuse_variables(reader, &folder, &node.span);
    let folder = root.join(folder);
    if folder.starts_with(&cases) && folder != default {
        let problem = reader
            .problem(
                &node.span,
                "\"labels\" names a folder among the golden cases, where each label would be read as a case",
            )
            .help("only `calibration` directly among the cases is no folder of cases; else name a folder beside them");
        reader.problems.push(problem);
    }
    (folder, bars)
}
