//! Reads one golden case.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    metric::{self, Kind as MetricKind, Metric},
    model::{Answer, CaseBar, CaseId, Expectation, GoldenCase, KnownFailure, Language, MetricKey},
    system::spec::SystemKind,
    text,
};

use super::{
    diagnostic::{Quoted, quoted},
    embedder,
    metrics::{self, Metrics},
    node::{Entry, Kind, Node},
    read::{Empty, Fields, Reader},
    relevant::{JUDGEMENT, relevant},
    repeats,
    retrieved::{self, retrieved},
    rules::judge_missing,
    shape::{Key, Shape},
    source::Span,
    steps,
    thresholds::{JudgeStated, Policy},
};

/// Keys of a golden case.
pub(crate) const KEYS: &[Key] = &[
    Key::required(
        "id",
        Shape::Text,
        "Its name, unique in the set: no control characters or outer blanks, at most 150 bytes, no leading `-`.",
    )
    .or(&["case_id", "name"]),
    Key::required("query", Shape::Text, "The question.").or(&["question", "user_input", "input"]),
    Key::optional(
        "ground_truth_answer",
        Shape::OneOrMany(&Shape::Word),
        "The right answer, or a list of accepted ones.",
    )
    .or(&["reference", "ground_truth", "expected_output", "answer_gold"]),
    Key::optional(
        "relevant_doc_ids",
        Shape::List(&Shape::OrMap(&Shape::Text, JUDGEMENT)),
        "Documents that should be found; a grade of 0 or less means not relevant, 1 where it is left out.",
    )
    .or(&["relevant", "gold_ids", "reference_context_ids"]),
    Key::optional("reference_contexts", Shape::List(&Shape::Text), "Texts that hold the right answer.")
        .or(&["context"]),
    Key::optional(
        "should_refuse",
        Shape::Flag,
        "Whether the right answer is to decline; `answerable` says the opposite.",
    )
    .or(&[ANSWERABLE]),
    Key::optional("type", Shape::Word, "The kind of question: how-to, fact, ..."),
    Key::optional("difficulty", Shape::Word, "easy, medium, hard, or any other word."),
    Key::optional(
        "language",
        Shape::Text,
        "The language tag: en, pt-BR, ...; guessed from the question where it is left out.",
    )
    .or(&["lang"]),
    Key::optional("tags", Shape::List(&Shape::Word), "Free words for slices."),
    Key::optional("document", Shape::Word, "The source document, by which cases are clustered.").or(&["cluster"]),
    Key::optional("metadata", Shape::MapOf(&Shape::Word), "Anything else, by name."),
    Key::optional("thresholds", Shape::Bars, "This case's own bars, over those of the policy."),
    Key::optional(
        "repeats",
        Shape::Map(repeats::CASE),
        "How often this case is asked where the system is random, over what the policy says.",
    ),
    Key::optional("known_failure", Shape::Map(KNOWN_FAILURE), "Metrics in which the case is known to fail for now."),
    Key::optional("response", Shape::AnyText, "A recorded answer; only with `system: {kind: recorded}`.")
        .or(&["answer", "actual_output"]),
    Key::optional(
        "retrieved_contexts",
        Shape::List(&Shape::OrMap(&Shape::AnyText, retrieved::KEYS)),
        "What the recorded answer was made from, in rank order.",
    )
    .or(&["contexts", "retrieval_context"]),
];

/// The name of `should_refuse` that says the opposite.
pub(crate) const ANSWERABLE: &str = "answerable";

const KNOWN_FAILURE: &[Key] = &[
    Key::required("metrics", Shape::List(&Shape::Text), "The metrics."),
    Key::required("reason", Shape::Text, "Why it is known."),
];

/// Keys of a case's own bar beside the metric's parameters.
pub(crate) const BAR: &[Key] = &[
    Key::optional("min", Shape::Unit, "The lowest score that passes."),
    Key::optional("max_drop", Shape::Unit, "The largest drop against the baseline that passes."),
    repeats::REDUCE,
];

/// A case, and where its id stands.
pub(crate) struct ReadCase {
    pub(crate) golden_case: GoldenCase,
    pub(crate) id_span: Span,
}

/// What reading a case needs beside the case.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'m> {
    pub(crate) policy: &'m Policy,
    pub(crate) metrics: Metrics<'m>,
    pub(crate) group: &'m str,
    pub(crate) answers: RecordedAnswers,
}

/// Whether a recorded answer may stand in a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordedAnswers {
    /// Where the system of the policy is `recorded`.
    OfPolicy,
    /// Always: the answer is what was labelled.
    Taken,
}

impl Setting<'_> {
    /// Reads one case; `None` when it has no usable id or question. Everything wrong is reported.
    pub(crate) fn case(&self, reader: &mut Reader<'_>, node: &Node<'_>) -> Option<ReadCase> {
        reader.whose.clear();
        let entries = reader.map(node, "a case")?;
        let id = entries.iter().find(|entry| KEYS[0].names().any(|name| name == entry.key));
        if let Some(Kind::Text(id)) = id.map(|entry| &entry.value.kind) {
            reader.whose.push_str(id);
        }
        let read = self.fields(reader, node, entries);
        reader.whose.clear();
        read
    }

    fn fields(&self, reader: &mut Reader<'_>, node: &Node<'_>, entries: &[Entry<'_>]) -> Option<ReadCase> {
        let fields = reader.fields(&node.span, entries, KEYS, Empty::Absent);
        let id = fields.get("id").and_then(|node| id(reader, node).map(|id| (id, node.span.clone())));
        let query = fields.get("query").and_then(|node| reader.text(node, named(&fields, "query")));
        let expectation = expectation(reader, &fields);
        let references = references(reader, &fields, expectation);
        let relevant = relevant(reader, &fields, expectation);
        let reference_contexts = texts(reader, &fields, "reference_contexts");
        let language_tag = fields.get("language").and_then(|node| language(reader, node, &named(&fields, "language")));
        let mut word = |key: &'static str| fields.get(key).and_then(|node| reader.name(node, named(&fields, key)));
        let (kind, difficulty, document) = (word("type"), word("difficulty"), word("document"));
        let tags = tags(reader, &fields);
        let metadata = metadata(reader, &fields);
        let bars = self.bars(reader, &fields);
        let repeats = repeats::of_case(reader, &fields, self.policy, &bars);
        let known_failure = self.known_failure(reader, &fields, &bars);
        let recorded = self.recorded(reader, &fields).map(Arc::new);
        let ((id, id_span), query) = (id?, query?);
        let language = match &language_tag {
            Some(tag) => Language::of_tag(tag).unwrap_or_default(),
            None => text::guess_language(&query),
        };
        let golden_case = GoldenCase {
            id,
            query,
            references,
            relevant,
            reference_contexts,
            expectation,
            kind,
            difficulty,
            language_tag,
            language,
            tags,
            document,
            metadata,
            bars,
            known_failure,
            repeats,
            recorded,
            group: self.group.to_owned(),
            place: reader.source.place(node.span.start),
        };
        Some(ReadCase { golden_case, id_span })
    }

    fn bars(&self, reader: &mut Reader<'_>, fields: &Fields<'_, '_>) -> BTreeMap<MetricKey, CaseBar> {
        let mut bars = BTreeMap::new();
        for entry in fields.get("thresholds").and_then(|node| reader.map(node, "\"thresholds\"")).unwrap_or_default() {
            let Some((key, metric)) = metrics::key(reader, &entry.key, &entry.key_span, self.metrics) else { continue };
            if let Some(bar) = self.bar(reader, entry, &key, metric) {
                bars.insert(key, bar);
            }
        }
        bars
    }

    fn bar(&self, reader: &mut Reader<'_>, entry: &Entry<'_>, key: &MetricKey, metric: &dyn Metric) -> Option<CaseBar> {
        let what = quoted(&entry.key);
        let mut bar = CaseBar::default();
        let faults = reader.problems.len();
        match &entry.value.kind {
            Kind::Number(_) => bar.min = Some(reader.unit(&entry.value, format_args!("`min` of {what}"))?),
            Kind::Map(entries) => {
                let params = metric::params_of(metric);
                let mut known = Vec::new();
                for entry in entries {
                    if let Some(param) = params.iter().find(|param| param.name == entry.key) {
                        if let Some(value) = metrics::param(reader, &entry.value, param) {
                            bar.params.insert(param.name.to_owned(), value);
                        }
                    } else if BAR.iter().any(|key| key.name == entry.key) {
                        known.push(entry.clone());
                    } else {
                        let names = BAR.iter().map(|key| key.name).chain(params.iter().map(|param| param.name));
                        reader.unknown_key(entry, names);
                    }
                }
                let fields = reader.fields(&entry.value.span, &known, BAR, Empty::Refused);
                bar.min = fields.get("min").and_then(|node| reader.unit(node, "\"min\""));
                bar.max_drop = fields.get("max_drop").and_then(|node| reader.unit(node, "\"max_drop\""));
                bar.reduce = fields.get("reduce").and_then(|node| repeats::reduction(reader, node));
            }
            Kind::Null | Kind::Bool(_) | Kind::Text(_) | Kind::List(_) => {
                let noun = entry.value.noun();
                let message = format!("{what} takes a map or a number, its `min`; got {noun}");
                reader.report(&entry.value.span, message);
            }
        }
        if reader.problems.len() > faults {
            return Some(bar);
        }
        steps::of_case(reader, &entry.key_span, self.policy, key, &mut bar.params);
        let rule = self.policy.rules.metrics.get(key);
        if rule.is_none() && bar.min.is_none() {
            let problem = reader
                .problem(&entry.key_span, format!("{what} has no `min` here and is not listed in the policy"))
                .help("so it would check nothing: add a `min`, or list the metric in thresholds.yaml");
            reader.problems.push(problem);
        } else if bar == CaseBar::default() {
            reader.report(&entry.key_span, format!("{what} says nothing"));
        }
        let judge_stated = self.policy.judge_stated == JudgeStated::Yes;
        if rule.is_none() && metric.kind() == MetricKind::Judged && !judge_stated {
            reader.problems.push(judge_missing(reader, &entry.key_span, key));
        }
        embedder::needed_by_case(reader, &entry.key_span, key, metric, &bar, self.policy);
        Some(bar)
    }

    fn known_failure(
        &self,
        reader: &mut Reader<'_>,
        fields: &Fields<'_, '_>,
        bars: &BTreeMap<MetricKey, CaseBar>,
    ) -> Option<KnownFailure> {
        let node = fields.get("known_failure")?;
        let entries = reader.map(node, "\"known_failure\"")?;
        let fields = reader.fields(&node.span, entries, KNOWN_FAILURE, Empty::Refused);
        let reason = fields.get("reason").and_then(|node| reader.text(node, "\"reason\""));
        let list = fields.get("metrics")?;
        let mut keys = Vec::new();
        let items = reader.list(list, "\"metrics\"")?;
        if items.is_empty() {
            reader.report(&list.span, "\"metrics\" of \"known_failure\" names none");
        }
        for item in items {
            let Some(text) = reader.text(item, "a metric") else { continue };
            let Some((key, _)) = metrics::key(reader, &text, &item.span, self.metrics) else { continue };
            if !self.policy.rules.metrics.contains_key(&key) && !bars.contains_key(&key) {
                let listed = self.policy.rules.metrics.keys().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                let problem = reader
                    .problem(&item.span, format!("{} is not measured for this case", quoted(&text)))
                    .help(format!("the policy lists {listed}"));
                reader.problems.push(problem);
            } else if keys.contains(&key) {
                reader.report(&item.span, format!("{} stands twice", quoted(&text)));
            } else {
                keys.push(key);
            }
        }
        Some(KnownFailure { metrics: keys, reason: reason? })
    }

    fn recorded(&self, reader: &mut Reader<'_>, fields: &Fields<'_, '_>) -> Option<Answer> {
        let (response, contexts) = (fields.entry("response"), fields.entry("retrieved_contexts"));
        let first = response.or(contexts)?;
        let is_taken = match self.answers {
            RecordedAnswers::Taken => true,
            RecordedAnswers::OfPolicy => matches!(self.policy.system.kind, SystemKind::Recorded(_)),
        };
        if !is_taken {
            for entry in [response, contexts].into_iter().flatten() {
                let problem = reader
                    .problem(&entry.key_span, format!("{} is part of a recorded answer", quoted(&entry.key)))
                    .help("recorded answers are read with `system: {kind: recorded}` in thresholds.yaml only");
                reader.problems.push(problem);
            }
            return None;
        }
        let retrieved_contexts = contexts.map(|entry| retrieved(reader, entry)).unwrap_or_default();
        let Some(response) = response else {
            let problem = reader
                .problem(&first.key_span, format!("{} stands without an answer", quoted(&first.key)))
                .help("add `response`; it may be empty where only the retrieval was recorded");
            reader.problems.push(problem);
            return None;
        };
        let text = reader.any_word(&response.value, quoted(&response.key))?;
        Some(Answer::new(text).with_contexts(retrieved_contexts))
    }
}

/// The key as the user wrote it, between quotes.
pub(super) fn named<'n>(fields: &Fields<'n, '_>, name: &'n str) -> Quoted<'n> {
    Quoted(fields.entry(name).map_or(name, |entry| entry.key.as_ref()))
}

pub(super) fn id(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<CaseId> {
    let Kind::Text(text) = &node.kind else {
        // Says "a text", with the hint to quote a number.
        reader.text(node, "the id of a case");
        return None;
    };
    match CaseId::new(text.as_ref()) {
        Ok(id) => Some(id),
        Err(error) => {
            reader.report(&node.span, error.to_string());
            None
        }
    }
}

pub(super) fn expectation(reader: &mut Reader<'_>, fields: &Fields<'_, '_>) -> Expectation {
    let Some(entry) = fields.entry("should_refuse") else { return Expectation::Answer };
    let says_yes = reader.flag(&entry.value, quoted(&entry.key)).unwrap_or(entry.key == ANSWERABLE);
    let refuse = if entry.key == ANSWERABLE { !says_yes } else { says_yes };
    if refuse { Expectation::Refuse } else { Expectation::Answer }
}

/// Accepted answers. A case whose right answer is to decline may leave the text empty, as exports do.
pub(super) fn references(reader: &mut Reader<'_>, fields: &Fields<'_, '_>, expectation: Expectation) -> Vec<String> {
    let Some(node) = fields.get("ground_truth_answer") else { return Vec::new() };
    let what = named(fields, "ground_truth_answer");
    let blank = |node: &Node<'_>| matches!(&node.kind, Kind::Text(text) if text.trim().is_empty());
    match &node.kind {
        Kind::List(items) => {
            items.iter().filter_map(|item| reader.word(item, format_args!("a text of {what}"))).collect()
        }
        Kind::Text(_) if expectation == Expectation::Refuse && blank(node) => Vec::new(),
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Text(_) | Kind::Map(_) => {
            reader.word(node, &what).into_iter().collect()
        }
    }
}

pub(super) fn texts(reader: &mut Reader<'_>, fields: &Fields<'_, '_>, key: &'static str) -> Vec<String> {
    let Some(node) = fields.get(key) else { return Vec::new() };
    let what = named(fields, key);
    let items = reader.list(node, &what).unwrap_or_default();
    items.iter().filter_map(|item| reader.text(item, format_args!("a text of {what}"))).collect()
}

pub(super) fn tags(reader: &mut Reader<'_>, fields: &Fields<'_, '_>) -> Vec<String> {
    let Some(node) = fields.get("tags") else { return Vec::new() };
    let mut tags: Vec<String> = Vec::new();
    for item in reader.list(node, "\"tags\"").unwrap_or_default() {
        let Some(tag) = reader.name(item, "a tag") else { continue };
        if tags.contains(&tag) {
            reader.report(&item.span, format!("the tag {} stands twice", quoted(&tag)));
        } else {
            tags.push(tag);
        }
    }
    tags
}

pub(super) fn language(reader: &mut Reader<'_>, node: &Node<'_>, what: &Quoted<'_>) -> Option<String> {
    let tag = reader.text(node, what)?;
    if tag.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')) {
        return Some(tag);
    }
    let problem = reader
        .problem(&node.span, format!("{what} is a language tag, got {}", quoted(&tag)))
        .help("write `en`, `pt-BR`, `zh`, ...");
    reader.problems.push(problem);
    None
}

pub(super) fn metadata(reader: &mut Reader<'_>, fields: &Fields<'_, '_>) -> BTreeMap<String, String> {
    let mut metadata = BTreeMap::new();
    for entry in fields.get("metadata").and_then(|node| reader.map(node, "\"metadata\"")).unwrap_or_default() {
        if entry.value.kind == Kind::Null {
            continue;
        }
        if let Some(value) = reader.any_word(&entry.value, format_args!("{} of \"metadata\"", quoted(&entry.key))) {
            metadata.insert(entry.key.to_string(), value);
        }
    }
    metadata
}
