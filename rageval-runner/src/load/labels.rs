//! Reads what people say of single items: the labels that a judge is held against.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs,
    path::PathBuf,
    sync::Arc,
};

use crate::{
    metric::Metric,
    model::{CaseId, Human, Item, ItemTexts, Label, MetricKey, case::Fields},
    trust::calibration::{Labelled, label_digest, labelled_items},
};

use super::{
    case::{RecordedAnswers, Setting},
    cases::{Stated, agree, many_lines, trimmed},
    diagnostic::{Diagnostic, Diagnostics, quoted},
    files::{self, Format, NOT_READ},
    json,
    label::{self, Row},
    node::{Kind, Node},
    read::{Empty, Reader},
    shape::{Key, Shape},
    source::{Source, Span, reason},
    table,
    thresholds::Policy,
    yaml,
};

/// Keys of a file that is a map.
pub(crate) const FILE_KEYS: &[Key] = &[
    Key::optional(
        "golden_set_version",
        Shape::Word,
        "The version of the golden set that the items were drawn from; the same in every file that states one.",
    ),
    Key::required("labels", Shape::List(&Shape::Map(label::KEYS)), "The labels."),
];

/// What people say of single items.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Labels {
    /// The items, sorted by id.
    pub items: Vec<Item>,
    /// The labels, in the order of their files' paths, then of their places.
    pub labels: Vec<Label>,
    /// Digest over all labels: 32 hex digits. That of one metric is [`Labels::digest_of`].
    pub digest: String,
    /// The version of the golden set that the items were drawn from; `None` where no file states one.
    pub set_version: Option<String>,
}

impl Labels {
    /// Every metric that has a label.
    pub fn metrics(&self) -> BTreeSet<&MetricKey> {
        self.labels.iter().map(|label| &label.metric).collect()
    }

    /// Digest of the labels of one metric, which its calibration is bound to.
    pub fn digest_of(&self, metric: &MetricKey) -> String {
        label_digest(metric, &self.items, &self.labels)
    }

    /// The items that have a label of this metric, sorted by id.
    pub fn items_of(&self, metric: &MetricKey) -> Vec<&Item> {
        let named: BTreeSet<&str> =
            self.labels.iter().filter(|label| label.metric == *metric).map(|label| label.item.as_str()).collect();
        self.items.iter().filter(|item| named.contains(item.id.as_str())).collect()
    }

    /// What the gate looks at.
    pub fn labelled(&self, metric: &MetricKey) -> Labelled {
        let items = labelled_items(metric, &self.items, &self.labels);
        if items.is_empty() {
            return Labelled::Nothing;
        }
        Labelled::Items { items, digest: self.digest_of(metric), set_version: self.set_version.clone() }
    }
}

/// Reads every label in the folder that the policy names; nothing where there is no such folder.
///
/// # Errors
/// All problems of all files at once, each at its place.
pub fn labels(policy: &Policy, metrics: &[&dyn Metric]) -> Result<Labels, Diagnostics> {
    let mut all = All::default();
    let setting = Setting { policy, metrics, group: "calibration", answers: RecordedAnswers::Taken };
    for (name, path, format) in label_files(policy, &mut all.problems) {
        match Source::read(&name, &path) {
            Ok(source) => all.read(&source, format, &setting),
            Err(problems) => all.problems.append(problems),
        }
    }
    all.joined()
}

/// Every file of labels with its name and its format, in the order of their names.
fn label_files(policy: &Policy, problems: &mut Diagnostics) -> Vec<(String, PathBuf, Format)> {
    let folder = &policy.labels;
    let shown = |path: &std::path::Path| files::relative_name(policy, path);
    let paths = match files::sorted(folder) {
        Ok(paths) => paths,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            let why = format!("the labels cannot be read: {}", reason(&error));
            problems.push(Diagnostic::of_file(&shown(folder), why));
            return Vec::new();
        }
    };
    let mut found = Vec::new();
    for path in paths {
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(['_', '.'])) {
            continue;
        }
        let name = shown(&path);
        let ending = files::extension(&path);
        if fs::metadata(&path).is_ok_and(|file| file.is_dir()) {
            problems.push(
                Diagnostic::of_file(&name, "labels stand in the folder itself, not in a folder below it")
                    .help("move the files up; a leading `_` leaves a folder or a file out"),
            );
        } else if let Some(format) = Format::of(&path) {
            found.push((name, path, format));
        } else if NOT_READ.contains(&ending.as_str()) {
            problems.push(
                Diagnostic::of_file(&name, format!("files that end in .{ending} are not read"))
                    .help("labels stand in .jsonl, .csv, .yaml, .yml or .json; a leading `_` leaves a file out"),
            );
        }
    }
    found
}

/// All rows as read so far.
#[derive(Default)]
struct All {
    rows: Vec<Row>,
    set_version: Stated,
    problems: Diagnostics,
}

impl All {
    fn read(&mut self, source: &Arc<Source>, format: Format, setting: &Setting<'_>) {
        let before = (self.rows.len(), self.problems.len());
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
                for node in table::read(source, label::KEYS, &mut self.problems).unwrap_or_default() {
                    self.row(source, &node, setting);
                }
            }
        }
        if (self.rows.len(), self.problems.len()) == before {
            self.problems.push(
                Diagnostic::of_file(&source.name, "the file holds no label")
                    .help("start its name with `_` to leave it out"),
            );
        }
    }

    /// A file that is a list of labels, or a map with the list in it.
    fn file(&mut self, source: &Arc<Source>, node: &Node<'_>, setting: &Setting<'_>) {
        let mut reader = Reader { source, problems: &mut self.problems, whose: String::new() };
        let list = match &node.kind {
            Kind::List(items) => items.as_slice(),
            Kind::Map(entries) => {
                let fields = reader.fields(&node.span, entries, FILE_KEYS, Empty::Refused);
                let version = fields.get("golden_set_version").and_then(|node| {
                    Some((reader.word(node, "\"golden_set_version\"")?, Arc::clone(source), node.span.clone()))
                });
                agree(&mut self.set_version, version, "golden_set_version", &mut self.problems);
                let mut reader = Reader { source, problems: &mut self.problems, whose: String::new() };
                fields.get("labels").and_then(|node| reader.list(node, "\"labels\"")).unwrap_or_default()
            }
            Kind::Null => return,
            Kind::Bool(_) | Kind::Number(_) | Kind::Text(_) => {
                let noun = node.noun();
                reader.report(&node.span, format!("a file is a list of labels or a map with `labels`, got {noun}"));
                return;
            }
        };
        for item in list {
            self.row(source, item, setting);
        }
    }

    fn json_lines(&mut self, source: &Arc<Source>, setting: &Setting<'_>) {
        if let Some(problem) = many_lines(source) {
            self.problems.push(problem);
            return;
        }
        for (start, line) in source.json_lines() {
            let span = trimmed(line, start);
            if !span.is_empty()
                && let Some(node) = json::read(source, &span, &mut self.problems)
            {
                self.row(source, &node, setting);
            }
        }
    }

    fn row(&mut self, source: &Arc<Source>, node: &Node<'_>, setting: &Setting<'_>) {
        let mut reader = Reader { source, problems: &mut self.problems, whose: String::new() };
        let Some(row) = label::row(&mut reader, node, setting) else { return };
        let version = row.set_version.clone().map(|(version, span)| (version, Arc::clone(source), span));
        agree(&mut self.set_version, version, "golden_set_version", &mut self.problems);
        self.rows.push(row);
    }

    /// The labels with their items, once every row has been read: an item may stand behind what refers to it.
    fn joined(mut self) -> Result<Labels, Diagnostics> {
        let items = self.items();
        let weights = self.weights();
        self.labelled_once();
        self.under_one_id(&items);
        self.said_in_one_way();
        let mut labels = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            let key = nfc(&row.item);
            let Some(item) = items.get(&key) else {
                let why = format!("no row holds the texts of the item {}", quoted(&row.item));
                let help = self.problems.suggestion(&row.item, items.values().map(|item| item.id.as_str()));
                let help = help.unwrap_or_else(|| "write its question and answer beside its id, once".to_owned());
                self.problems.push(Diagnostic::at(&row.source, &row.item_span, why).help(help));
                continue;
            };
            labels.push(Label {
                item: item.id.clone(),
                metric: row.metric.clone(),
                human: row.human,
                annotator: row.annotator.clone(),
                weight: weights.get(&key).copied().unwrap_or(1.0),
                note: row.note.clone(),
                place: row.place.clone(),
            });
        }
        let mut items: Vec<Item> = items.into_values().collect();
        items.sort_by(|a, b| a.id.cmp(&b.id));
        let mut digest = Fields::default();
        let metrics: BTreeSet<&MetricKey> = labels.iter().map(|label| &label.metric).collect();
        for metric in metrics {
            digest.add(&metric.to_string(), &label_digest(metric, &items, &labels));
        }
        let digest = digest.finish();
        let set_version = self.set_version.map(|(version, ..)| version);
        self.problems.or(Labels { items, labels, digest, set_version })
    }

    /// Each item by its id under NFC; a row that states other texts than the first is reported.
    fn items(&mut self) -> HashMap<String, Item> {
        let mut items: HashMap<String, (Item, Arc<Source>, Span)> = HashMap::new();
        for row in &mut self.rows {
            let Some(item) = row.texts.take() else { continue };
            let key = nfc(&item.id);
            match items.get(&key) {
                None => {
                    items.insert(key, (item, Arc::clone(&row.source), row.item_span.clone()));
                }
                Some((first, source, span)) => {
                    if let Some(what) = differs(first, &item) {
                        let why = format!("the {what} of the item {} is another one here", quoted(&row.item));
                        self.problems.push(
                            Diagnostic::at(&row.source, &row.item_span, why)
                                .note(source, span, "its texts stand here first")
                                .help("all who label an item must have seen the same; write `item: ID` and no texts, or give it another id"),
                        );
                    }
                }
            }
        }
        items.into_iter().map(|(key, (item, ..))| (key, item)).collect()
    }

    /// The weight of each item that states one; rows of one item must agree on it.
    fn weights(&mut self) -> HashMap<String, f64> {
        let mut weights: HashMap<String, (f64, &Row)> = HashMap::new();
        for row in &self.rows {
            let Some((weight, span)) = &row.weight else { continue };
            let (first, at) = weights.entry(nfc(&row.item)).or_insert((*weight, row));
            if *first != *weight
                && let Some((_, first_span)) = &at.weight
            {
                let why =
                    format!("the weight of the item {} is {weight} here and {first} elsewhere", quoted(&row.item));
                let problem = Diagnostic::at(&row.source, span, why);
                self.problems.push(problem.note(&at.source, first_span, "it stands here first"));
            }
        }
        weights.into_iter().map(|(item, (weight, _))| (item, weight)).collect()
    }

    /// Refuses two labels of one person for one metric of one item.
    fn labelled_once(&mut self) {
        let mut first: HashMap<(String, &MetricKey, &str), &Row> = HashMap::new();
        for row in &self.rows {
            let key = (nfc(&row.item), &row.metric, row.annotator.as_str());
            match first.get(&key) {
                None => {
                    first.insert(key, row);
                }
                Some(other) => {
                    let who = quoted(&row.annotator);
                    let why = format!("{who} labels the item {} twice for {}", quoted(&row.item), row.metric);
                    self.problems.push(
                        Diagnostic::at(&row.source, &row.annotator_span, why)
                            .note(&other.source, &other.annotator_span, "the first time is here")
                            .help("keep one of them, or name who else it was"),
                    );
                }
            }
        }
    }

    /// Refuses one answer under several ids for one metric: it would count as several items.
    fn under_one_id(&mut self, items: &HashMap<String, Item>) {
        let mut first: HashMap<(&MetricKey, ItemTexts<'_>), (String, &Row)> = HashMap::new();
        let mut told = BTreeSet::new();
        for row in &self.rows {
            let id = nfc(&row.item);
            let Some(item) = items.get(&id) else { continue };
            let (first_id, other) = first.entry((&row.metric, item.texts())).or_insert_with(|| (id.clone(), row));
            if *first_id != id && told.insert(id) {
                let (here, there) = (quoted(&row.item), quoted(&other.item));
                let place = format!("{}:{}", other.place.file, other.place.line);
                let why = format!("item {here} has the texts of item {there} at {place}");
                self.problems.push(
                    Diagnostic::at(&row.source, &row.item_span, why)
                        .help("label it once: several people name one item by `item: ID`"),
                );
            }
        }
    }

    /// Refuses scores and verdicts side by side for one metric: a mean and a majority can't be held against one judge.
    fn said_in_one_way(&mut self) {
        let mut first: BTreeMap<&MetricKey, &Row> = BTreeMap::new();
        for row in &self.rows {
            let other = *first.entry(&row.metric).or_insert(row);
            let is_score = |row: &Row| matches!(row.human, Human::Score(_));
            if is_score(other) != is_score(row) {
                let [here, there] = [row, other].map(|row| if is_score(row) { "a score" } else { "a verdict" });
                let why = format!("{} is labelled by {here} here and by {there} elsewhere", row.metric);
                self.problems.push(
                    Diagnostic::at(&row.source, &row.human_span, why)
                        .note(&other.source, &other.human_span, "it stands here first")
                        .help("label a metric by scores or by verdicts, not by both"),
                );
                return;
            }
        }
    }
}

/// The first part in which two readings of one item differ.
fn differs(first: &Item, other: &Item) -> Option<&'static str> {
    let (a, b) = (&first.case, &other.case);
    let differences = [
        ("id", first.id != other.id),
        ("question", a.query != b.query),
        ("reference answer", a.references != b.references),
        ("list of relevant documents", a.relevant != b.relevant),
        ("list of reference contexts", a.reference_contexts != b.reference_contexts),
        ("right way to answer (`should_refuse`)", a.expectation != b.expectation),
        ("language", a.language_tag != b.language_tag),
        ("answer", first.sample.answer.response != other.sample.answer.response),
        ("list of contexts", first.sample.answer.retrieved_contexts != other.sample.answer.retrieved_contexts),
        ("claim", first.claim != other.claim),
    ];
    differences.into_iter().find(|(_, differs)| *differs).map(|(what, _)| what)
}

/// An id as it is told apart from others.
fn nfc(id: &str) -> String {
    CaseId::new(id).map_or_else(|_| id.to_owned(), |id| id.nfc())
}
