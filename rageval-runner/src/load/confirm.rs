//! Reads how far suspects are read again before a run is decided.

use crate::gate::rule::Confirm;

use super::{
    node::Entry,
    read::{Empty, Reader},
    shape::{Key, Shape},
};

/// Keys of the confirmation.
pub(crate) const KEYS: &[Key] = &[
    Key::optional(
        "enough",
        Shape::Count(1),
        "Confirmed failing cases after which the run is decided and further suspects stay as first read; 5 where it is left out.",
    ),
    Key::optional(
        "budget",
        Shape::Count(0),
        "Requests after which no further suspect is read again; where it is left out one for each case and judged metric, at least 100.",
    ),
];

/// How far suspects are read again: at least one of the keys.
pub(crate) fn read(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<Confirm> {
    let entries = reader.map(&entry.value, "\"confirm\"")?;
    let fields = reader.fields(&entry.value.span, entries, KEYS, Empty::Refused);
    if entries.is_empty() {
        let problem = reader
            .problem(&entry.key_span, "\"confirm\" says nothing")
            .help("it takes `enough` and `budget`, at least one");
        reader.problems.push(problem);
    }
    let default = Confirm::default();
    let enough = fields.get("enough").and_then(|node| reader.count(node, "\"enough\"", 1));
    let budget = fields.get("budget").and_then(|node| reader.count(node, "\"budget\"", 0));
    Some(Confirm { enough: enough.unwrap_or(default.enough), budget })
}
