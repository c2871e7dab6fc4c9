//! Reads cases without a policy, and any YAML or JSON with its places: what converting between formats needs.
//!
//! Everything that a case says by itself is checked as in a run. What depends on `thresholds.yaml` is carried as it stands: the metrics
//! under `thresholds`, `known_failure` and `repeats`, and whether a recorded answer may stand there.

mod located;

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
    sync::Arc,
};

use crate::model::{CaseId, Expectation, Judgement, Place, RetrievedContext};

use super::{
    case::{self, KEYS},
    cases::{FILE_KEYS, Stated, agree},
    diagnostic::{Diagnostic, Diagnostics, quoted},
    files::Format,
    node::{Kind, Node},
    read::{Empty, Fields, Reader},
    relevant::relevant,
    retrieved::retrieved,
    source::{Source, Span},
    table, yaml as yaml_file,
};

pub use self::located::{Located, Value, json, yaml};
use self::located::{json_nodes, located, name_of};
/// How a file of our own cases is written.
pub use super::files::Format as CaseFormat;

/// A case as it stands in its file, checked as far as that is possible without `thresholds.yaml`.
#[derive(Debug, Clone, PartialEq)]
pub struct PlainCase {
    /// Its id.
    pub id: CaseId,
    /// The question.
    pub query: String,
    /// Accepted right answers.
    pub references: Vec<String>,
    /// Documents that should be found; `None` where the case does not say.
    pub relevant: Option<Vec<Judgement>>,
    /// Texts that hold the right answer.
    pub reference_contexts: Vec<String>,
    /// Whether the right answer is to decline.
    pub expectation: Expectation,
    /// The `type` key.
    pub kind: Option<String>,
    /// The `difficulty` key.
    pub difficulty: Option<String>,
    /// The language tag as written.
    pub language: Option<String>,
    /// Free words.
    pub tags: Vec<String>,
    /// The source document.
    pub document: Option<String>,
    /// Anything else, as text.
    pub metadata: BTreeMap<String, String>,
    /// The case's own bars, as they stand.
    pub thresholds: serde_json::Map<String, serde_json::Value>,
    /// The key `repeats`, as it stands.
    pub repeats: Option<serde_json::Value>,
    /// The key `known_failure`, as it stands.
    pub known_failure: Option<serde_json::Value>,
    /// A recorded answer, and what it was made from in rank order.
    pub recorded: Option<(String, Vec<RetrievedContext>)>,
    /// Where it stands.
    pub place: Place,
}

impl PlainCase {
    /// A case that has its id and question alone.
    pub fn new(id: CaseId, query: String, place: Place) -> Self {
        Self {
            id,
            query,
            references: Vec::new(),
            relevant: None,
            reference_contexts: Vec::new(),
            expectation: Expectation::Answer,
            kind: None,
            difficulty: None,
            language: None,
            tags: Vec::new(),
            document: None,
            metadata: BTreeMap::new(),
            thresholds: serde_json::Map::new(),
            repeats: None,
            known_failure: None,
            recorded: None,
            place,
        }
    }
}

/// Cases as they stand in their files, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlainSet {
    /// The name of the golden set, where a file states one.
    pub name: Option<String>,
    /// Its version, where a file states one.
    pub version: Option<String>,
    /// The cases.
    pub cases: Vec<PlainCase>,
}

/// Reads files of our own cases. JSON lines may go on over several lines here.
///
/// # Errors
/// All that is wrong with all files: what a run would refuse, but for what needs `thresholds.yaml`.
pub fn cases(files: &[(&Path, Format)]) -> Result<PlainSet, Diagnostics> {
    let mut set = Reading::default();
    for (path, format) in files {
        match Source::read(&name_of(path), path) {
            Ok(source) => set.file(&source, *format),
            Err(problems) => set.problems.append(problems),
        }
    }
    let (name, version) = (set.name.map(|(name, ..)| name), set.version.map(|(version, ..)| version));
    set.problems.or(PlainSet { name, version, cases: set.cases })
}

#[derive(Default)]
struct Reading {
    cases: Vec<PlainCase>,
    /// Where each id stands, by its NFC form.
    ids: HashMap<String, (Arc<Source>, Span)>,
    name: Stated,
    version: Stated,
    problems: Diagnostics,
}

impl Reading {
    fn file(&mut self, source: &Arc<Source>, format: Format) {
        match format {
            Format::Yaml => {
                if let Some(node) = yaml_file::read(source, &mut self.problems) {
                    self.whole(source, &node);
                }
            }
            Format::Json => match &json_nodes(source, &mut self.problems)[..] {
                [node] => self.whole(source, node),
                nodes => self.each(source, nodes),
            },
            Format::JsonLines => {
                let nodes = json_nodes(source, &mut self.problems);
                self.each(source, &nodes);
            }
            Format::Csv => {
                let rows = table::read(source, KEYS, &mut self.problems).unwrap_or_default();
                self.each(source, &rows);
            }
        }
    }

    fn each(&mut self, source: &Arc<Source>, nodes: &[Node<'_>]) {
        for node in nodes {
            self.case(source, node);
        }
    }

    /// A list of cases, or a map with the list in it.
    fn whole(&mut self, source: &Arc<Source>, node: &Node<'_>) {
        let mut reader = Reader { source, problems: &mut self.problems, whose: String::new() };
        match &node.kind {
            Kind::List(items) => self.each(source, items),
            Kind::Map(entries) => {
                let fields = reader.fields(&node.span, entries, FILE_KEYS, Empty::Refused);
                let stated = |reader: &mut Reader<'_>, key: &str| {
                    let node = fields.get(key)?;
                    Some((reader.word(node, quoted(key))?, Arc::clone(source), node.span.clone()))
                };
                let (name, version) = (stated(&mut reader, "golden_set"), stated(&mut reader, "version"));
                let list = fields.get("cases").and_then(|node| reader.list(node, "\"cases\"")).unwrap_or_default();
                agree(&mut self.name, name, "golden_set", &mut self.problems);
                agree(&mut self.version, version, "version", &mut self.problems);
                self.each(source, list);
            }
            Kind::Null => {}
            Kind::Bool(_) | Kind::Number(_) | Kind::Text(_) => {
                let noun = node.noun();
                reader.report(&node.span, format!("a file is a list of cases or a map with `cases`, got {noun}"));
            }
        }
    }

    fn case(&mut self, source: &Arc<Source>, node: &Node<'_>) {
        let mut reader = Reader { source, problems: &mut self.problems, whose: String::new() };
        let Some((case, id_span)) = read(&mut reader, node) else { return };
        if let Some((other, first)) = self.ids.get(&case.id.nfc()) {
            let message = format!("the id {} stands twice", quoted(case.id.as_str()));
            self.problems.push(Diagnostic::at(source, &id_span, message).note(other, first, "it stands here first"));
            return;
        }
        self.ids.insert(case.id.nfc(), (Arc::clone(source), id_span));
        self.cases.push(case);
    }
}

/// Reads one case; `None` when it has no usable id or question. Everything wrong is reported.
fn read(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<(PlainCase, Span)> {
    let entries = reader.map(node, "a case")?;
    if let Some(Kind::Text(id)) =
        entries.iter().find(|entry| KEYS[0].names().any(|name| name == entry.key)).map(|entry| &entry.value.kind)
    {
        reader.whose.push_str(id);
    }
    let fields = reader.fields(&node.span, entries, KEYS, Empty::Absent);
    let id = fields.get("id").and_then(|node| case::id(reader, node).map(|id| (id, node.span.clone())));
    let query = fields.get("query").and_then(|node| reader.text(node, case::named(&fields, "query")));
    let expectation = case::expectation(reader, &fields);
    let references = case::references(reader, &fields, expectation);
    let relevant = relevant(reader, &fields, expectation);
    let reference_contexts = case::texts(reader, &fields, "reference_contexts");
    let language =
        fields.get("language").and_then(|node| case::language(reader, node, &case::named(&fields, "language")));
    let mut word = |key: &'static str| fields.get(key).and_then(|node| reader.name(node, case::named(&fields, key)));
    let (kind, difficulty, document) = (word("type"), word("difficulty"), word("document"));
    let tags = case::tags(reader, &fields);
    let metadata = case::metadata(reader, &fields);
    let thresholds = match fields.get("thresholds") {
        Some(node) => {
            reader.map(node, "\"thresholds\"");
            as_map(located(reader.source, node).to_json())
        }
        None => serde_json::Map::new(),
    };
    let carried = |key: &str| fields.get(key).map(|node| located(reader.source, node).to_json());
    let (repeats, known_failure) = (carried("repeats"), carried("known_failure"));
    let recorded = recorded(reader, &fields);
    let ((id, id_span), query) = (id?, query?);
    let place = reader.source.place(node.span.start);
    let case = PlainCase {
        references,
        relevant,
        reference_contexts,
        expectation,
        kind,
        difficulty,
        language,
        tags,
        document,
        metadata,
        thresholds,
        repeats,
        known_failure,
        recorded,
        ..PlainCase::new(id, query, place)
    };
    Some((case, id_span))
}

fn as_map(value: serde_json::Value) -> serde_json::Map<String, serde_json::Value> {
    if let serde_json::Value::Object(map) = value { map } else { serde_json::Map::new() }
}

fn recorded(reader: &mut Reader<'_>, fields: &Fields<'_, '_>) -> Option<(String, Vec<RetrievedContext>)> {
    let contexts = fields.entry("retrieved_contexts").map(|entry| retrieved(reader, entry));
    match (fields.entry("response"), fields.entry("retrieved_contexts")) {
        (Some(response), _) => {
            Some((reader.any_word(&response.value, quoted(&response.key))?, contexts.unwrap_or_default()))
        }
        (None, Some(entry)) => {
            let problem = reader
                .problem(&entry.key_span, format!("{} stands without an answer", quoted(&entry.key)))
                .help("add `response`; it may be empty where only the retrieval was recorded");
            reader.problems.push(problem);
            None
        }
        (None, None) => None,
    }
}
