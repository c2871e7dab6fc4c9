//! Reads one label: what one person says of one item.

use std::sync::Arc;

use crate::{
    metric::Kind as MetricKind,
    model::{Human, Item, MetricKey, Place, Sample, Verdict},
    text,
};

use super::{
    case::{self, RecordedAnswers, Setting},
    diagnostic::quoted,
    metrics,
    node::{Entry, Kind, Node},
    read::{Empty, Fields, Reader},
    shape::{Key, Need, Shape},
    source::{Source, Span},
};

/// The words of a verdict; `true` is a supported one and `false` an unsupported one.
const VERDICTS: &str = "`supported`, `inferred`, `unsupported`, `contradicted`, `true`, `false`";

/// The greatest weight: more items than any run has.
const MAX_WEIGHT: f64 = 1e6;

/// Keys of a label beside those of its item.
const OWN: &[Key] = &[
    Key::required("metric", Shape::Text, "The metric that was looked at."),
    Key::required("annotator", Shape::Word, "Who says it: a name, or initials."),
    Key::optional("score", Shape::Unit, "What the person says, as a score; `verdict` in its place says it in a word."),
    Key::optional(
        "verdict",
        Shape::Word,
        "What the person says, as a word: supported, inferred, unsupported, contradicted, or true and false.",
    ),
    Key::optional("item", Shape::Text, "The id of an item whose texts stand in another row."),
    Key::optional(
        "weight",
        Shape::Number,
        "How many items of the run this one stands for, above 0, up to 1000000; 1 where it is left out.",
    ),
    Key::optional("note", Shape::AnyText, "What the person wrote beside it."),
    Key::optional(
        "level",
        Shape::OneOf(&["item", "system"]),
        "`item`; means of whole systems are refused, since they calibrate nothing.",
    ),
    Key::optional("golden_set_version", Shape::Word, "The version of the golden set that the item was drawn from."),
];

/// The one claim of the answer that is labelled.
const CLAIM: Key = Key::optional("claim", Shape::Text, "The one claim of the answer that is labelled.");

/// Places of the keys of a case that a label does not take: its bars, and how often a system is asked.
const BARS: std::ops::Range<usize> = 12..15;

const LEN: usize = OWN.len() + 1 + case::KEYS.len() - BARS.end + BARS.start;

/// Every key of a label: its own, and those of a case that say what the item is, none of which is needed where `item` names another row.
pub(crate) const KEYS: &[Key] = &{
    let mut keys = [CLAIM; LEN];
    let (mut from, mut to) = (0, 0);
    while from < case::KEYS.len() {
        if from < BARS.start || from >= BARS.end {
            keys[to] = Key { need: Need::Optional, ..case::KEYS[from] };
            to += 1;
        }
        from += 1;
    }
    // One place is the claim's.
    to += 1;
    let mut own = 0;
    while own < OWN.len() {
        keys[to] = OWN[own];
        to += 1;
        own += 1;
    }
    keys
};

/// One row as it was read.
pub(crate) struct Row {
    pub(crate) item: String,
    /// Where the id of the item stands.
    pub(crate) item_span: Span,
    /// The item, where its texts stand here.
    pub(crate) texts: Option<Item>,
    pub(crate) metric: MetricKey,
    pub(crate) human: Human,
    /// Where the score or the verdict stands.
    pub(crate) human_span: Span,
    pub(crate) annotator: String,
    pub(crate) annotator_span: Span,
    pub(crate) weight: Option<(f64, Span)>,
    pub(crate) note: Option<String>,
    pub(crate) set_version: Option<(String, Span)>,
    pub(crate) source: Arc<Source>,
    pub(crate) place: Place,
}

/// Reads one row; `None` when it says nothing that can be used. Everything wrong is reported.
pub(crate) fn row(reader: &mut Reader<'_>, node: &Node<'_>, setting: &Setting<'_>) -> Option<Row> {
    let entries = reader.map(node, "a label")?;
    let (mut own, mut of_case, mut claim) = (Vec::new(), Vec::new(), None);
    for entry in entries {
        let is = |key: &Key| key.names().any(|name| name == entry.key);
        match KEYS.iter().find(|key| is(key)) {
            None => reader.unknown_key(entry, KEYS.iter().flat_map(Key::names)),
            Some(key) if key.name == CLAIM.name => claim = Some(entry),
            Some(key) if OWN.iter().any(|known| known.name == key.name) => own.push(entry.clone()),
            Some(_) => of_case.push(entry.clone()),
        }
    }
    let fields = reader.fields(&node.span, &own, OWN, Empty::Absent);
    is_of_an_item(reader, &fields)?;
    let metric = fields.get("metric").and_then(|node| metric(reader, node, setting));
    let annotator = fields
        .get("annotator")
        .and_then(|node| reader.name(node, "\"annotator\"").map(|name| (name.trim().to_owned(), node.span.clone())));
    let human = human(reader, node, &fields);
    let weight = fields.get("weight").and_then(|node| weight(reader, node));
    let note = fields.get("note").and_then(|node| reader.any_word(node, "\"note\""));
    let set_version = fields
        .get("golden_set_version")
        .and_then(|node| reader.word(node, "\"golden_set_version\"").map(|version| (version, node.span.clone())));
    let (item, item_span, texts) = item(reader, node, &fields, of_case, claim, setting)?;
    let ((annotator, annotator_span), (human, human_span)) = (annotator?, human?);
    Some(Row {
        item,
        item_span,
        texts,
        metric: metric?,
        human,
        human_span,
        annotator,
        annotator_span,
        weight,
        note,
        set_version,
        source: Arc::clone(reader.source),
        place: reader.source.place(node.span.start),
    })
}

/// Refuses what is said of a whole system: a mean over many items hides how often the judge is wrong about one.
fn is_of_an_item(reader: &mut Reader<'_>, fields: &Fields<'_, '_>) -> Option<()> {
    let Some(node) = fields.get("level") else { return Some(()) };
    if reader.one_of(node, "\"level\"", &[("item", true), ("system", false)])? {
        return Some(());
    }
    let problem = reader
        .problem(&node.span, "means of whole systems calibrate nothing: they agree where single items do not")
        .help("label single items");
    reader.problems.push(problem);
    None
}

fn metric(reader: &mut Reader<'_>, node: &Node<'_>, setting: &Setting<'_>) -> Option<MetricKey> {
    let name = reader.text(node, "\"metric\"")?;
    let (key, metric) = metrics::key(reader, &name, &node.span, setting.metrics)?;
    if metric.kind() != MetricKind::Judged {
        let why = format!("{} asks no judge, so there is nothing to hold against people", quoted(&name));
        reader.report(&node.span, why);
        return None;
    }
    Some(key)
}

/// What the person says: exactly one of a score and a verdict.
fn human(reader: &mut Reader<'_>, row: &Node<'_>, fields: &Fields<'_, '_>) -> Option<(Human, Span)> {
    match (fields.entry("score"), fields.entry("verdict")) {
        (Some(score), None) => {
            let said = reader.unit(&score.value, "\"score\"")?;
            Some((Human::Score(said), score.value.span.clone()))
        }
        (None, Some(entry)) => Some((Human::Verdict(verdict(reader, &entry.value)?), entry.value.span.clone())),
        (Some(score), Some(verdict)) => {
            let problem = reader
                .problem(&verdict.key_span, "\"score\" and \"verdict\" say the same thing in two ways")
                .note(reader.source, &score.key_span, "it is said here already")
                .help("keep one of them");
            reader.problems.push(problem);
            None
        }
        (None, None) => {
            let problem = reader
                .problem(
                    &(row.span.start..row.span.start),
                    "\"score\" or \"verdict\" is missing: what does the person say?",
                )
                .help(format!("a score is a number from 0 to 1, a verdict one of {VERDICTS}"));
            reader.problems.push(problem);
            None
        }
    }
}

fn verdict(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<Verdict> {
    match &node.kind {
        Kind::Bool(true) => return Some(Verdict::Supported),
        Kind::Bool(false) => return Some(Verdict::Unsupported),
        Kind::Text(word) => match word.trim() {
            // A cell of CSV is a text.
            "true" => return Some(Verdict::Supported),
            "false" => return Some(Verdict::Unsupported),
            word => {
                if let Some(verdict) = Verdict::from_word(word) {
                    return Some(verdict);
                }
            }
        },
        Kind::Null | Kind::Number(_) | Kind::List(_) | Kind::Map(_) => {}
    }
    let (got, help) = match &node.kind {
        Kind::Text(word) => {
            let words = Verdict::ALL.map(Verdict::as_str);
            (quoted(word), reader.problems.suggestion(word, words))
        }
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::List(_) | Kind::Map(_) => (node.noun().to_owned(), None),
    };
    let problem = reader.problem(&node.span, format!("\"verdict\" is one of {VERDICTS}, got {got}")).maybe_help(help);
    reader.problems.push(problem);
    None
}

fn weight(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<(f64, Span)> {
    let weight = reader.number(node, "\"weight\"")?;
    if weight > 0.0 && weight <= MAX_WEIGHT {
        return Some((weight, node.span.clone()));
    }
    reader.report(&node.span, format!("\"weight\" is a number above 0, up to {MAX_WEIGHT}, got {weight}"));
    None
}

/// The id of the item, where it stands, and its texts where they stand in this row.
fn item(
    reader: &mut Reader<'_>,
    row: &Node<'_>,
    fields: &Fields<'_, '_>,
    of_case: Vec<Entry<'_>>,
    claim: Option<&Entry<'_>>,
    setting: &Setting<'_>,
) -> Option<(String, Span, Option<Item>)> {
    let is_id = |entry: &Entry<'_>| case::KEYS[0].names().any(|name| name == entry.key);
    let has_value = |entry: &&Entry<'_>| entry.value.kind != Kind::Null;
    let claim = claim.filter(has_value);
    let first_text = of_case.iter().filter(has_value).find(|entry| !is_id(entry)).or(claim);
    let id = of_case.iter().filter(has_value).find(|entry| is_id(entry));
    match (fields.entry("item"), id, first_text) {
        (None, None, _) => {
            let problem =
                reader.problem(&(row.span.start..row.span.start), "\"id\" is missing: which item is this about?").help(
                    "write `id` with the item's texts, or `item` with the id of one whose texts stand in another row",
                );
            reader.problems.push(problem);
            None
        }
        (Some(named), Some(other), _) | (Some(named), None, Some(other)) => {
            let why = format!("{} says that the item's texts stand in another row", quoted("item"));
            let problem = reader
                .problem(&other.key_span, format!("{} stands beside \"item\"", quoted(&other.key)))
                .note(reader.source, &named.key_span, why)
                .help("write the item's id under `id` where its texts stand, and nothing but `item` elsewhere");
            reader.problems.push(problem);
            None
        }
        (Some(named), None, None) => {
            let id = reader.text(&named.value, "\"item\"")?;
            Some((id, named.value.span.clone(), None))
        }
        (None, Some(named), None) => {
            let id = reader.text(&named.value, quoted(&named.key))?;
            Some((id, named.value.span.clone(), None))
        }
        (None, Some(_), Some(_)) => {
            let node = Node { kind: Kind::Map(of_case), span: row.span.clone() };
            let claim = match claim {
                Some(entry) => Some(reader.text(&entry.value, "\"claim\"")?),
                None => None,
            };
            let read = Setting { answers: RecordedAnswers::Taken, ..*setting }.case(reader, &node)?;
            let mut case = read.golden_case;
            let id = case.id.as_str().to_owned();
            let Some(answer) = case.recorded.take() else {
                let problem = reader
                    .problem(&(row.span.start..row.span.start), "\"response\" is missing: the answer that was labelled")
                    .help("it may be empty where the answer was");
                reader.problems.push(problem);
                return None;
            };
            let is_refusal = answer.refused.unwrap_or_else(|| text::is_refusal(&answer.response, case.language));
            let sample = Sample { answer: Arc::unwrap_or_clone(answer), is_refusal, latency_ms: None };
            Some((id.clone(), read.id_span, Some(Item { id, case, sample, claim })))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_takes_the_keys_of_a_case_but_for_its_bars() {
        let of_case = case::KEYS
            .iter()
            .map(|key| key.name)
            .filter(|name| !["thresholds", "repeats", "known_failure"].contains(name));
        let expected: Vec<_> = of_case.chain(["claim"]).chain(OWN.iter().map(|key| key.name)).collect();
        assert_eq!(KEYS.iter().map(|key| key.name).collect::<Vec<_>>(), expected);
        let mut names: Vec<_> = KEYS.iter().flat_map(Key::names).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "a name means one thing");
    }
}
