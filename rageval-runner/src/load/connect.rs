//! Reads how the system and the judge are reached.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use crate::system::spec::{
    CommandSpec, DEFAULT_MAX_IN_FLIGHT, DEFAULT_TIMEOUT, Per, RecordedSpec, SystemKind, SystemSpec, is_variable,
};

use super::{
    diagnostic::quoted,
    http,
    node::{Entry, Kind, Node},
    read::{Empty, Fields, Reader},
    shape::{Key, Shape, Variant},
    source::Span,
    waive::FAMILY,
};

pub(crate) const GENERATOR: Key = Key::optional(
    "generator",
    Shape::Text,
    "The model that writes the answers, so that no judge grades its own family.",
);
pub(crate) const TIMEOUT: Key =
    Key::optional("timeout", Shape::Duration, "The longest time for one answer; `60s` where it is left out.");
pub(crate) const MAX_IN_FLIGHT: Key =
    Key::optional("max_in_flight", Shape::Count(1), "How many are asked at once; 8 where it is left out.");
pub(crate) const RUN: Key = Key::required("run", Shape::List(&Shape::Text), "The program and its arguments.");
pub(crate) const PER: Key = Key::optional(
    "per",
    Shape::OneOf(&["run", "case"]),
    "`run`: one process for all, a JSON line each; `case`: one process for each. `run` where it is left out.",
);
pub(crate) const ENV: Key = Key::optional("env", Shape::MapOf(&Shape::Word), "Variables set for the program.");

/// What `kind` of a system may be.
pub(crate) const SYSTEM_KINDS: &[Variant] = &[
    Variant { name: "function", keys: &[GENERATOR, FAMILY, TIMEOUT, MAX_IN_FLIGHT] },
    Variant {
        name: "recorded",
        keys: &[
            Key::optional(
                "samples",
                Shape::Text,
                "A JSON-lines file of answers by case id; left out where they stand in the cases themselves.",
            ),
            GENERATOR,
            FAMILY,
            TIMEOUT,
            MAX_IN_FLIGHT,
        ],
    },
    Variant { name: "command", keys: &[RUN, PER, ENV, GENERATOR, FAMILY, TIMEOUT, MAX_IN_FLIGHT] },
    Variant { name: "http", keys: http::KEYS },
];

/// A map whose keys depend on one of them: the word under that key, the entries without it, and the keys that go with the word.
pub(crate) fn variant<'n, 's>(
    reader: &mut Reader<'_>,
    entry: &'n Entry<'s>,
    by: &'static str,
    variants: &'static [Variant],
) -> Option<(&'n Entry<'s>, Option<&'static Variant>)> {
    let what = quoted(&entry.key);
    let entries = reader.map(&entry.value, &what)?;
    let Some(deciding) = entries.iter().find(|entry| entry.key == by) else {
        let known = std::iter::once(by).chain(variants.iter().flat_map(|variant| variant.keys).map(|key| key.name));
        let known: BTreeSet<_> = known.collect();
        for entry in entries.iter().filter(|entry| !known.contains(entry.key.as_ref())) {
            reader.unknown_key(entry, known.iter().copied());
        }
        let names = variants.iter().map(|variant| format!("`{}`", variant.name)).collect::<Vec<_>>().join(", ");
        let start = entry.key_span.clone();
        let problem = reader.problem(&start, format!("{what} has no \"{by}\"")).help(format!("it is one of {names}"));
        reader.problems.push(problem);
        return None;
    };
    let found = match &deciding.value.kind {
        Kind::Text(text) => variants.iter().find(|variant| variant.name == text.as_ref()),
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::List(_) | Kind::Map(_) => None,
    };
    Some((deciding, found))
}

/// The keys of a variant, each with its entry.
pub(crate) fn variant_fields<'n, 's>(
    reader: &mut Reader<'_>,
    entry: &'n Entry<'s>,
    by: &str,
    keys: &'static [Key],
    rest: &'n mut Vec<Entry<'s>>,
) -> Fields<'n, 's> {
    if let Kind::Map(entries) = &entry.value.kind {
        rest.extend(entries.iter().filter(|entry| entry.key != by).cloned());
    }
    reader.fields(&entry.value.span, rest, keys, Empty::Refused)
}

/// The system under test.
pub(crate) fn system(reader: &mut Reader<'_>, entry: &Entry<'_>, root: &Path) -> Option<SystemSpec> {
    let (deciding, found) = variant(reader, entry, "kind", SYSTEM_KINDS)?;
    let Some(found) = found else {
        let words: Vec<_> = SYSTEM_KINDS.iter().map(|kind| (kind.name, ())).collect();
        reader.one_of(&deciding.value, "\"kind\"", &words);
        return None;
    };
    let mut rest = Vec::new();
    let fields = variant_fields(reader, entry, "kind", found.keys, &mut rest);
    let kind = match found.name {
        "recorded" => Some(SystemKind::Recorded(RecordedSpec {
            samples: fields.get("samples").and_then(|node| path(reader, node, "\"samples\"", root)),
        })),
        "command" => command(reader, &fields, root).map(SystemKind::Command),
        "http" => http::read(reader, &fields).map(|http| SystemKind::Http(Box::new(http))),
        _ => Some(SystemKind::Function),
    };
    let generator = fields.get("generator").and_then(|node| reader.text(node, "\"generator\""));
    let timeout = fields.get("timeout").and_then(|node| reader.duration(node, "\"timeout\""));
    let max_in_flight = fields.get("max_in_flight").and_then(|node| reader.count(node, "\"max_in_flight\"", 1));
    Some(SystemSpec {
        kind: kind?,
        generator,
        timeout: timeout.unwrap_or(DEFAULT_TIMEOUT),
        max_in_flight: max_in_flight.unwrap_or(DEFAULT_MAX_IN_FLIGHT),
        place: reader.source.place(entry.key_span.start),
    })
}

pub(crate) fn path(reader: &mut Reader<'_>, node: &Node<'_>, what: &str, root: &Path) -> Option<std::path::PathBuf> {
    let text = reader.text(node, what)?;
    refuse_variables(reader, &text, &node.span);
    Some(root.join(text))
}

/// Reports `${NAME}` where nothing reads it: it would be used as it stands.
pub(crate) fn refuse_variables(reader: &mut Reader<'_>, text: &str, span: &Span) {
    let named = text.split("${").skip(1).any(|rest| rest.split_once('}').is_some_and(|(name, _)| is_variable(name)));
    if named {
        reader.report(span, "`${NAME}` is read only in the values of `headers`");
    }
}

pub(crate) fn command(reader: &mut Reader<'_>, fields: &Fields<'_, '_>, root: &Path) -> Option<CommandSpec> {
    let mut run = Vec::new();
    if let Some(node) = fields.get("run") {
        let items = reader.list(node, "\"run\"")?;
        if items.is_empty() {
            reader.report(&node.span, "\"run\" names no program");
        }
        for (at, item) in items.iter().enumerate() {
            // An argument may be empty, the program may not.
            let word = if at == 0 { reader.text(item, "the program") } else { reader.any_word(item, "an argument") };
            if let Some(word) = word {
                refuse_variables(reader, &word, &item.span);
                run.push(word);
            }
        }
    }
    let per =
        fields.get("per").and_then(|node| reader.one_of(node, "\"per\"", &[("run", Per::Run), ("case", Per::Case)]));
    let mut env = BTreeMap::new();
    for entry in fields.get("env").and_then(|node| reader.map(node, "\"env\"")).unwrap_or_default() {
        if !is_variable(&entry.key) {
            reader.report(&entry.key_span, format!("{} is no name of a variable", quoted(&entry.key)));
        }
        if let Some(value) = reader.any_word(&entry.value, quoted(&entry.key)) {
            refuse_variables(reader, &value, &entry.value.span);
            env.insert(entry.key.to_string(), value);
        }
    }
    (!run.is_empty()).then(|| CommandSpec { run, per: per.unwrap_or_default(), env, folder: root.to_owned() })
}
