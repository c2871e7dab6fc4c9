//! Reads a golden set: all files of cases, with every problem of every file at once.

use std::{collections::HashMap, sync::Arc};

use serde::de::IgnoredAny;

use crate::{
    metric::Metric,
    model::{GoldenCase, GoldenSet, Place},
};

use super::{
    case::{self, ReadCase, RecordedAnswers, Setting},
    diagnostic::{Diagnostic, Diagnostics, quoted},
    files::{self, CaseFile, Format},
    json,
    node::{Entry, Kind, Node},
    read::{Empty, Reader},
    shape::{Key, Shape},
    source::{Source, Span},
    table,
    thresholds::Policy,
    yaml,
};

/// Keys of a file that is a map.
pub(crate) const FILE_KEYS: &[Key] = &[
    Key::optional("golden_set", Shape::Word, "Name of the golden set; the same in every file that states one."),
    Key::optional("version", Shape::Word, "Version of the golden set; the same in every file that states one."),
    Key::required("cases", Shape::List(&Shape::Map(super::case::KEYS)), "The cases."),
];

/// Reads every golden case that the policy names, in the order of their files' paths, then of their places.
pub fn cases(policy: &Policy, metrics: &[&dyn Metric]) -> Result<GoldenSet, Diagnostics> {
    let mut problems = Diagnostics::default();
    let files = files::all(policy, &mut problems);
    if files.is_empty() && problems.is_empty() {
        problems.push(
            Diagnostic::at(&policy.source, &policy.cases_span, "the folder of the cases holds no file of cases")
                .help("a file of cases ends in .yaml, .yml, .json, .jsonl or .csv, and its name does not start with `_` or `.`"),
        );
    }
    read_files(policy, &files, metrics, problems)
}

/// Reads the files of one group alone, as `--exact` needs them. `Ok(None)` when there is no such file.
///
/// What spans files is not checked: that no id stands in two of them, and that they state one version.
pub fn one_file(policy: &Policy, group: &str, metrics: &[&dyn Metric]) -> Result<Option<GoldenSet>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let files = files::of_group(policy, group, &mut problems);
    if files.is_empty() {
        return problems.or(None);
    }
    read_files(policy, &files, metrics, problems).map(Some)
}

fn read_files(
    policy: &Policy,
    files: &[CaseFile],
    metrics: &[&dyn Metric],
    problems: Diagnostics,
) -> Result<GoldenSet, Diagnostics> {
    let mut set = Set { problems, ..Set::default() };
    for file in files {
        let setting = Setting { policy, metrics, group: &file.group, answers: RecordedAnswers::OfPolicy };
        match Source::read(&file.name, &file.path) {
            Ok(source) => set.read(&source, file.format, &setting),
            Err(problems) => set.problems.append(problems),
        }
    }
    let golden_set = GoldenSet {
        name: set.name.map(|(name, ..)| name),
        version: set.version.map(|(version, ..)| version),
        version_places: set.version_places,
        cases: set.cases,
    };
    set.problems.or(golden_set)
}

/// A text that every file which states it must agree on, and where it stands.
pub(super) type Stated = Option<(String, Arc<Source>, Span)>;

/// The set as read so far.
#[derive(Default)]
struct Set {
    cases: Vec<GoldenCase>,
    /// Where each id stands, by its NFC form.
    ids: HashMap<String, (Arc<Source>, Span)>,
    name: Stated,
    version: Stated,
    version_places: Vec<Place>,
    problems: Diagnostics,
}

impl Set {
    fn read(&mut self, source: &Arc<Source>, format: Format, setting: &Setting<'_>) {
        let (cases, faults) = (self.cases.len(), self.problems.len());
        match format {
            Format::Yaml => {
                if let Some(node) = yaml::read(source, &mut self.problems) {
                    self.file(source, &node, setting);
                }
            }
            Format::Json => {
                let whole = trimmed(&source.text, 0);
                if !whole.is_empty()
                    && let Some(node) = json::read(source, &whole, &mut self.problems)
                {
                    self.file(source, &node, setting);
                }
            }
            Format::JsonLines => self.json_lines(source, setting),
            Format::Csv => {
                for node in table::read(source, case::KEYS, &mut self.problems).unwrap_or_default() {
                    self.case(source, &node, setting);
                }
            }
        }
        if self.cases.len() == cases && self.problems.len() == faults {
            self.problems.push(
                Diagnostic::of_file(&source.name, "the file holds no case")
                    .help("start its name with `_` to leave it out of the set"),
            );
        }
    }

    /// A file that is a list of cases, or a map with the list in it.
    fn file(&mut self, source: &Arc<Source>, node: &Node<'_>, setting: &Setting<'_>) {
        let mut reader = Reader { source, problems: &mut self.problems, whose: String::new() };
        let list = match &node.kind {
            Kind::List(items) => items.as_slice(),
            Kind::Map(entries) => {
                if is_case(entries) {
                    let problem = reader
                        .problem(&(node.span.start..node.span.start), "a file is a list of cases, got one case")
                        .help("put it into a list, or under `cases:`");
                    reader.problems.push(problem);
                    return;
                }
                let fields = reader.fields(&node.span, entries, FILE_KEYS, Empty::Refused);
                let stated = |reader: &mut Reader<'_>, key: &str| {
                    let node = fields.get(key)?;
                    Some((reader.word(node, quoted(key))?, Arc::clone(source), node.span.clone()))
                };
                let (name, version) = (stated(&mut reader, "golden_set"), stated(&mut reader, "version"));
                self.version_places.extend(version.iter().map(|(_, source, span)| source.place(span.start)));
                agree(&mut self.name, name, "golden_set", &mut self.problems);
                agree(&mut self.version, version, "version", &mut self.problems);
                let mut reader = Reader { source, problems: &mut self.problems, whose: String::new() };
                fields.get("cases").and_then(|node| reader.list(node, "\"cases\"")).unwrap_or_default()
            }
            Kind::Null => return,
            Kind::Bool(_) | Kind::Number(_) | Kind::Text(_) => {
                let noun = node.noun();
                reader.report(&node.span, format!("a file is a list of cases or a map with `cases`, got {noun}"));
                return;
            }
        };
        for item in list {
            self.case(source, item, setting);
        }
    }

    fn json_lines(&mut self, source: &Arc<Source>, setting: &Setting<'_>) {
        if let Some(problem) = many_lines(source) {
            self.problems.push(problem.help(
                "put one object on each line, as `cargo rageval cases convert FILE --from rageval-jsonl --to rageval-jsonl` does, or name the file .json if it is a list",
            ));
            return;
        }
        for (start, line) in source.json_lines() {
            let span = trimmed(line, start);
            if span.is_empty() {
                continue;
            }
            let Some(node) = json::read(source, &span, &mut self.problems) else { continue };
            if let Kind::List(_) = node.kind {
                self.problems.push(
                    Diagnostic::at(source, &(span.start..span.start + 1), "a line is one case, got a list")
                        .help("put one object on each line, or name the file .json"),
                );
                continue;
            }
            self.case(source, &node, setting);
        }
    }

    fn case(&mut self, source: &Arc<Source>, node: &Node<'_>, setting: &Setting<'_>) {
        let mut reader = Reader { source, problems: &mut self.problems, whose: String::new() };
        let Some(ReadCase { golden_case, id_span }) = setting.case(&mut reader, node) else { return };
        let id = &golden_case.id;
        let nfc = if id.as_str().is_ascii() { id.as_str().to_owned() } else { id.nfc() };
        if let Some((other, first)) = self.ids.get(&nfc) {
            let same = other.text.get(first.clone()).is_some_and(|text| text.contains(id.as_str()));
            let message = if same {
                format!("the id {} stands twice", quoted(id.as_str()))
            } else {
                format!("the id {} stands twice: the two spellings are one under Unicode NFC", quoted(id.as_str()))
            };
            let problem = Diagnostic::at(source, &id_span, message).note(other, first, "it stands here first");
            self.problems.push(problem);
            return;
        }
        self.ids.insert(nfc, (Arc::clone(source), id_span));
        self.cases.push(golden_case);
    }
}

/// Whether a map at the top of a file is one case rather than a file.
fn is_case(entries: &[Entry<'_>]) -> bool {
    let has =
        |names: &[Key]| names.iter().flat_map(Key::names).any(|name| entries.iter().any(|entry| entry.key == name));
    !has(&FILE_KEYS[2..]) && has(&super::case::KEYS[..2])
}

/// Keeps the first text stated, and reports another that differs.
pub(super) fn agree(known: &mut Stated, stated: Stated, key: &str, problems: &mut Diagnostics) {
    match (known.as_ref(), stated) {
        (_, None) => {}
        (None, stated) => *known = stated,
        (Some((first, other, first_span)), Some((text, source, span))) => {
            if *first != text {
                let message = format!("{} is {} here and {} elsewhere", quoted(key), quoted(&text), quoted(first));
                let problem = Diagnostic::at(&source, &span, message).note(other, first_span, "it stands here first");
                problems.push(problem.help("all files of a set state the same, or nothing"));
            }
        }
    }
}

/// The bytes of a piece of text without the blanks of JSON around it.
pub(super) fn trimmed(text: &str, start: usize) -> Span {
    const BLANK: [char; 4] = [' ', '\t', '\r', '\n'];
    let from = text.len() - text.trim_start_matches(BLANK).len();
    let to = text.trim_end_matches(BLANK).len().max(from);
    start + from..start + to
}

/// What is wrong with a file whose values are sound but not one on each line.
pub(super) fn many_lines(source: &Arc<Source>) -> Option<Diagnostic> {
    let first = first_of_many_lines(source)?;
    let problem = Diagnostic::at(source, &first, "a value goes on over several lines");
    Some(problem.help("put one object on each line, or name the file .json if it is a list"))
}

/// Where the first value starts in such a file.
fn first_of_many_lines(source: &Source) -> Option<Span> {
    let (start, line) = source.json_lines().find(|(start, line)| !trimmed(line, *start).is_empty())?;
    let first = trimmed(line, start);
    let is_cut = serde_json::from_str::<IgnoredAny>(&source.text[first.clone()]).is_err_and(|error| error.is_eof());
    let mut values = serde_json::Deserializer::from_str(&source.text).into_iter::<IgnoredAny>();
    (is_cut && values.all(|value| value.is_ok())).then_some(first)
}
