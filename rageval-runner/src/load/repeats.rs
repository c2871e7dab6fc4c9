//! Reads how often a case is asked, and how its repeats become one outcome.

use std::collections::BTreeMap;

use crate::{
    gate::rule::MetricRule,
    model::{CaseBar, MetricKey, Reduction, Repeats, repeats},
};

use super::{
    diagnostic::quoted,
    node::{Entry, Kind, Node},
    read::{Empty, Fields, Reader},
    shape::{Key, Shape},
    source::Span,
    thresholds::Policy,
};

/// How repeats are reduced: for the set, for a case, for a metric, for a metric of a case.
pub(crate) const REDUCE: Key = Key::optional(
    "reduce",
    Shape::Reduction,
    "How the scores of a case's repeats become one: mean, median, majority, worst, pass@K or pass^K; the nearest word decides, and without any the mean.",
);

const TIMES: &str = "How often a case is asked, each time anew: 1 to 100.";

/// Keys of `repeats` in the policy.
pub(crate) const KEYS: &[Key] = &[Key::required("times", Shape::Count(1), TIMES), REDUCE];

/// Keys of `repeats` in a case.
pub(crate) const CASE: &[Key] = &[Key::optional("times", Shape::Count(1), TIMES), REDUCE];

/// Reads `reduce`.
pub(crate) fn reduction(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<Reduction> {
    let text = match &node.kind {
        Kind::Text(text) => text.as_ref(),
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::List(_) | Kind::Map(_) => "",
    };
    let read = Reduction::parse(text);
    if read.is_none() {
        let words = Reduction::WORDS.map(|(word, _)| word);
        let help = reader.problems.suggestion(text, words);
        let message = "\"reduce\" is one of `mean`, `median`, `majority`, `worst`, `pass@K` and `pass^K` with K from 1";
        let got = if text.is_empty() { node.noun().to_owned() } else { quoted(text) };
        let problem = reader.problem(&node.span, format!("{message}, got {got}")).maybe_help(help);
        reader.problems.push(problem);
    }
    read
}

fn times(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<usize> {
    let times = reader.count(node, "\"times\"", 1)?;
    if times > repeats::MOST {
        reader.report(&node.span, format!("\"times\" is a whole number from 1 to {}, got {times}", repeats::MOST));
        return None;
    }
    Some(times)
}

fn map<'n, 's>(reader: &mut Reader<'_>, entry: &'n Entry<'s>) -> Option<&'n [Entry<'s>]> {
    if let Kind::Number(number) = &entry.value.kind {
        let problem = reader
            .problem(&entry.value.span, "\"repeats\" is a map, got a number")
            .help(format!("write `repeats: {{times: {number}}}`"));
        reader.problems.push(problem);
        return None;
    }
    reader.map(&entry.value, "\"repeats\"")
}

/// Reads the `repeats` of the policy, and holds the metrics to it.
pub(crate) fn of_policy(
    reader: &mut Reader<'_>,
    policy: &Fields<'_, '_>,
    metrics: &BTreeMap<MetricKey, MetricRule>,
) -> Repeats {
    let listed = policy.entry("metrics");
    let Some(entry) = policy.entry("repeats") else {
        for (key, _) in metrics.iter().filter(|(_, rule)| rule.reduce.is_some()) {
            let Some(entry) = listed.and_then(|list| of_metric(&list.value, key)) else { continue };
            let problem = reader
                .problem(
                    &entry.key_span,
                    format!("{} has a \"reduce\", and the policy no `repeats`", quoted(&entry.key)),
                )
                .help("add `repeats: {times: 5}`; with `times: 1`, only cases are repeated that say so themselves");
            reader.problems.push(problem);
        }
        return Repeats::default();
    };
    let Some(entries) = map(reader, entry) else { return Repeats::default() };
    let fields = reader.fields(&entry.value.span, entries, KEYS, Empty::Refused);
    let reduce = fields.get("reduce").and_then(|node| reduction(reader, node));
    let Some(times) = fields.get("times").and_then(|node| times(reader, node)) else { return Repeats::default() };
    let repeats = Repeats { times, reduce };
    if let Some(node) = fields.get("reduce") {
        enough(reader, &node.span, "\"reduce\"", reduce, times);
    }
    for (key, rule) in metrics {
        let Some(entry) = listed.and_then(|list| of_metric(&list.value, key)) else { continue };
        enough(reader, &entry.key_span, &quoted(&entry.key), rule.reduce, times);
        needs_min(reader, &entry.key_span, key, rule.reduce.or(reduce), rule.min.is_some());
    }
    repeats
}

/// Reads the `repeats` of a case, and holds its metrics to it; what the case leaves out is as the policy says.
pub(crate) fn of_case(
    reader: &mut Reader<'_>,
    case: &Fields<'_, '_>,
    policy: &Policy,
    bars: &BTreeMap<MetricKey, CaseBar>,
) -> Repeats {
    let rules = &policy.rules;
    let mut repeats = Repeats { times: rules.repeats.times, reduce: None };
    let own = case.entry("repeats");
    if let Some(entry) = own {
        let Some(entries) = map(reader, entry) else { return repeats };
        let fields = reader.fields(&entry.value.span, entries, CASE, Empty::Refused);
        if entries.is_empty() {
            reader.report(&entry.key_span, "\"repeats\" says nothing");
        }
        repeats.reduce = fields.get("reduce").and_then(|node| reduction(reader, node));
        if let Some(node) = fields.get("times") {
            let Some(times) = times(reader, node) else { return repeats };
            repeats.times = times;
        }
        once(reader, &entry.key_span, repeats.reduce, repeats.times);
    }
    let keys = rules.metrics.keys().chain(bars.keys().filter(|key| !rules.metrics.contains_key(*key)));
    for key in keys {
        let bar = bars.get(key);
        let named = bar.and_then(|_| of_metric(case.get("thresholds")?, key));
        // What neither the case nor a bar of it says is checked with the policy.
        let Some(span) = named.or(own).map(|entry| &entry.key_span) else { continue };
        let of_bar = bar.and_then(|bar| bar.reduce);
        once(reader, span, of_bar, repeats.times);
        let rule = rules.metrics.get(key);
        let further = rule.and_then(|rule| rule.reduce).or(rules.repeats.reduce);
        let by = of_bar.or(repeats.reduce).or(further);
        if repeats.times > 1 || (of_bar.is_none() && repeats.reduce.is_none()) {
            enough(reader, span, &quoted(&key.to_string()), by, repeats.times);
        }
        let has_min = bar.and_then(|bar| bar.min).or(rule.and_then(|rule| rule.min)).is_some();
        needs_min(reader, span, key, by, has_min);
    }
    repeats
}

/// The entry of a metric in a map of metrics.
fn of_metric<'n, 's>(node: &'n Node<'s>, key: &MetricKey) -> Option<&'n Entry<'s>> {
    match &node.kind {
        Kind::Map(entries) => entries.iter().find(|entry| MetricKey::parse(&entry.key).as_ref() == Ok(key)),
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Text(_) | Kind::List(_) => None,
    }
}

/// Reports a way to reduce what is asked once.
fn once(reader: &mut Reader<'_>, span: &Span, by: Option<Reduction>, times: usize) {
    if by.is_some() && times == 1 {
        let problem = reader
            .problem(span, "\"reduce\" says how repeats become one, and this case is asked once")
            .help("add `repeats: {times: 5}` to the case");
        reader.problems.push(problem);
    }
}

/// Reports a `k` beyond the repeats that there are.
fn enough(reader: &mut Reader<'_>, span: &Span, what: &str, by: Option<Reduction>, times: usize) {
    if let Some(by) = by.filter(|by| by.k().is_some_and(|k| k > times)) {
        let problem = reader
            .problem(span, format!("{what} takes `{by}`, more repeats than there are: \"times\" is {times}"))
            .help(format!("raise `times`, or lower the number behind `{}`", &by.to_string()[..5]));
        reader.problems.push(problem);
    }
}

/// Reports `pass@k` without the score from which a repeat passes.
fn needs_min(reader: &mut Reader<'_>, span: &Span, key: &MetricKey, by: Option<Reduction>, has_min: bool) {
    if let Some(by) = by.filter(|by| by.k().is_some() && !has_min) {
        let what = quoted(&key.to_string());
        let problem = reader
            .problem(span, format!("{what} has no \"min\", from which a repeat passes: `{by}` needs one"))
            .help("add a `min`, or `reduce: mean` to this metric");
        reader.problems.push(problem);
    }
}
