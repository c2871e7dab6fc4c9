//! Reads the rules of metrics: which scores pass, for a case, over the set and over single slices.

use std::{collections::BTreeMap, path::Path};

use crate::{
    gate::rule::{Bottom10Rule, Level, MeanRule, MetricRule, PassRateRule, SetRules, TailStatistic},
    metric::{self, Kind as MetricKind, Metric},
    model::{AskedOf, MetricKey},
};

use super::{
    diagnostic::{Diagnostic, quoted},
    embedder::{self, EmbedderStated},
    metrics::{self, Metrics},
    node::{Entry, Kind, Node},
    read::{Empty, Fields, Reader},
    repeats,
    shape::{Key, Shape},
    slices::{SliceMention, slice_name},
    source::Span,
    steps::{self, Steps},
    thresholds::JudgeStated,
};

const LEVEL_KEY: Key =
    Key::optional("level", Shape::OneOf(&["fail", "warn"]), "`warn` reports a broken rule without failing.");

/// Rules over many cases.
pub(crate) const SET: &[Key] = &[
    Key::optional("mean", Shape::Map(MEAN), "The mean over the set and over each slice."),
    Key::optional("pass_rate", Shape::Map(PASS_RATE), "The share of scored cases at or above a score."),
    Key::optional("bottom10", Shape::Map(BOTTOM10), "The worst tenth of the scored cases."),
];

/// Keys of a metric beside its own parameters.
pub(crate) const METRIC: &[Key] = &[
    Key::optional("min", Shape::Unit, "One case: the lowest score that passes."),
    Key::optional("max_drop", Shape::Unit, "One case against its baseline: the largest drop that passes."),
    LEVEL_KEY,
    Key::optional(
        "judge",
        Shape::OneOf(&["offline"]),
        "`offline` has a judged metric scored by the rules of that judge, whoever judges the others.",
    ),
    repeats::REDUCE,
    SET[0],
    SET[1],
    SET[2],
    Key::optional(
        "slices",
        Shape::MapOf(&Shape::Map(SET)),
        "Rules of single slices, over those of the set; a name is `field=value`, as in `language=pt`.",
    ),
];

const MEAN: &[Key] = &[
    Key::optional("min", Shape::Unit, "The lowest mean that passes."),
    Key::optional("max_drop", Shape::Unit, "The largest drop of the paired mean against the baseline that passes."),
    LEVEL_KEY,
];

const PASS_RATE: &[Key] = &[
    Key::required("min", Shape::Unit, "The lowest share that passes."),
    Key::optional("of", Shape::Unit, "The score from which a case counts; the metric's `min` where it is left out."),
    LEVEL_KEY,
];

const BOTTOM10: &[Key] = &[
    Key::optional("min", Shape::Unit, "The lowest statistic that passes."),
    Key::optional("max_drop", Shape::Unit, "The largest drop of the statistic against the baseline that passes."),
    Key::optional(
        "use",
        Shape::OneOf(&["quantile", "tail_mean"]),
        "`quantile`: the ceil(0.10 n)-th lowest score; `tail_mean`: the mean of those.",
    ),
    LEVEL_KEY,
];

/// What reading the list of metrics needs.
pub(crate) struct MetricList<'m, 'p> {
    pub(crate) metrics: Metrics<'m>,
    pub(crate) judge_stated: JudgeStated,
    pub(crate) embedder_stated: EmbedderStated,
    /// The folder of the policy, in which files of steps are.
    pub(crate) root: &'p Path,
    pub(crate) steps: Steps,
    pub(crate) slice_spans: &'p mut Vec<(SliceMention, Span)>,
}

impl MetricList<'_, '_> {
    /// Reads the value of `metrics`.
    pub(crate) fn read(&mut self, reader: &mut Reader<'_>, list: &Entry<'_>) -> BTreeMap<MetricKey, MetricRule> {
        let mut rules = BTreeMap::new();
        let Some(entries) = reader.map(&list.value, "\"metrics\"") else { return rules };
        if entries.is_empty() {
            reader.report(&list.value.span, "\"metrics\" lists no metric, so nothing would be checked");
        }
        for entry in entries {
            let Some((key, metric)) = metrics::key(reader, &entry.key, &entry.key_span, self.metrics) else { continue };
            if metric.kind() == MetricKind::Judged && self.judge_stated == JudgeStated::No {
                reader.problems.push(judge_missing(reader, &entry.key_span, &key));
            }
            let mut rule = self.rule(reader, entry, metric);
            embedder::needed(reader, &entry.key_span, &key, metric, &rule.params, self.embedder_stated);
            match self.steps {
                Steps::Read => steps::of_policy(reader, &entry.key_span, self.root, &key, &mut rule.params),
                Steps::LeftOut => {}
            }
            rules.insert(key, rule);
        }
        rules
    }

    fn rule(&mut self, reader: &mut Reader<'_>, entry: &Entry<'_>, metric: &dyn Metric) -> MetricRule {
        let mut rule = MetricRule { place: reader.source.place(entry.key_span.start), ..MetricRule::default() };
        let name = &entry.key;
        match &entry.value.kind {
            // Listed without a rule: measured and reported.
            Kind::Null => {}
            Kind::Number(_) => rule.min = reader.unit(&entry.value, format_args!("`min` of {}", quoted(name))),
            Kind::Map(entries) => self.rules_of(reader, &entry.value.span, entries, metric, &mut rule),
            Kind::Bool(_) | Kind::Text(_) | Kind::List(_) => {
                let what = quoted(name);
                let noun = entry.value.noun();
                reader.report(&entry.value.span, format!("{what} takes rules or a number, its `min`; got {noun}"));
            }
        }
        rule
    }

    fn rules_of(
        &mut self,
        reader: &mut Reader<'_>,
        span: &Span,
        entries: &[Entry<'_>],
        metric: &dyn Metric,
        rule: &mut MetricRule,
    ) {
        let params = metric::params_of(metric);
        let mut known = Vec::with_capacity(entries.len());
        for entry in entries {
            if let Some(param) = params.iter().find(|param| param.name == entry.key) {
                if let Some(value) = metrics::param(reader, &entry.value, param) {
                    rule.params.0.insert(param.name.to_owned(), value);
                }
            } else if METRIC.iter().any(|key| key.name == entry.key) {
                known.push(entry.clone());
            } else {
                let names = METRIC.iter().map(|key| key.name).chain(params.iter().map(|param| param.name));
                reader.unknown_key(entry, names);
            }
        }
        let fields = reader.fields(span, &known, METRIC, Empty::Refused);
        rule.min = fields.get("min").and_then(|node| reader.unit(node, "\"min\""));
        rule.max_drop = fields.get("max_drop").and_then(|node| reader.unit(node, "\"max_drop\""));
        rule.level = fields.get("level").and_then(|node| level(reader, node)).unwrap_or_default();
        rule.reduce = fields.get("reduce").and_then(|node| repeats::reduction(reader, node));
        if let Some(entry) = fields.entry("judge") {
            rule.judge = judge(reader, entry, metric);
        }
        let has_min = if fields.get("min").is_some() { HasMin::Yes } else { HasMin::No };
        rule.set = set_rules(reader, &fields, has_min);
        if let Some(entries) = fields.get("slices").and_then(|node| reader.map(node, "\"slices\"")) {
            for entry in entries {
                self.slice(reader, entry, has_min, rule);
            }
        }
    }

    fn slice(&mut self, reader: &mut Reader<'_>, entry: &Entry<'_>, has_min: HasMin, rule: &mut MetricRule) {
        let Some(name) = slice_name(reader, entry) else { return };
        let what = quoted(&entry.key);
        let Some(entries) = reader.map(&entry.value, &what) else { return };
        if entries.is_empty() {
            reader.report(&entry.value.span, format!("{what} has no rule"));
        }
        let fields = reader.fields(&entry.value.span, entries, SET, Empty::Refused);
        let rules = set_rules(reader, &fields, has_min);
        self.slice_spans.push((SliceMention::Slice(name.clone()), entry.key_span.clone()));
        rule.slices.insert(name, (reader.source.place(entry.key_span.start), rules));
    }
}

/// Who judges a metric.
fn judge(reader: &mut Reader<'_>, entry: &Entry<'_>, metric: &dyn Metric) -> AskedOf {
    if metric.kind() != MetricKind::Judged {
        reader.report(&entry.key_span, format!("{} is not judged, so it takes no \"judge\"", quoted(metric.name())));
    }
    reader.one_of(&entry.value, "\"judge\"", &[("offline", AskedOf::Offline)]).unwrap_or_default()
}

/// A judged metric in a policy that names no judge. Nobody is put in silently: scores of two judges can't be compared.
pub(crate) fn judge_missing(reader: &Reader<'_>, span: &Span, key: &MetricKey) -> Diagnostic {
    reader
        .problem(span, format!("{} needs a judge, and the policy names none", quoted(&key.to_string())))
        .help("add `judge: {provider: offline}`, which needs no network")
}

/// Whether a metric has a bar for single cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HasMin {
    Yes,
    No,
}

fn set_rules(reader: &mut Reader<'_>, fields: &Fields<'_, '_>, has_min: HasMin) -> SetRules {
    SetRules {
        mean: fields.entry("mean").and_then(|entry| mean(reader, entry)),
        pass_rate: fields.entry("pass_rate").and_then(|entry| pass_rate(reader, entry, has_min)),
        bottom10: fields.entry("bottom10").and_then(|entry| bottom10(reader, entry)),
    }
}

fn mean(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<MeanRule> {
    let entries = rule_map(reader, entry)?;
    let fields = reader.fields(&entry.value.span, entries, MEAN, Empty::Refused);
    needs_bar(reader, entry, &fields);
    Some(MeanRule {
        min: fields.get("min").and_then(|node| reader.unit(node, "\"min\"")),
        max_drop: fields.get("max_drop").and_then(|node| reader.unit(node, "\"max_drop\"")),
        level: fields.get("level").and_then(|node| level(reader, node)).unwrap_or_default(),
    })
}

fn pass_rate(reader: &mut Reader<'_>, entry: &Entry<'_>, has_min: HasMin) -> Option<PassRateRule> {
    let entries = rule_map(reader, entry)?;
    let fields = reader.fields(&entry.value.span, entries, PASS_RATE, Empty::Refused);
    if fields.get("of").is_none() && has_min == HasMin::No {
        let problem = reader
            .problem(&entry.key_span, "\"pass_rate\" does not say which score counts as passed")
            .help("add `of`, or a `min` to the metric");
        reader.problems.push(problem);
    }
    let of = fields.get("of").and_then(|node| reader.unit(node, "\"of\""));
    let level = fields.get("level").and_then(|node| level(reader, node)).unwrap_or_default();
    let min = fields.get("min").and_then(|node| reader.unit(node, "\"min\""))?;
    Some(PassRateRule { min, of, level })
}

fn bottom10(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<Bottom10Rule> {
    let entries = rule_map(reader, entry)?;
    let fields = reader.fields(&entry.value.span, entries, BOTTOM10, Empty::Refused);
    needs_bar(reader, entry, &fields);
    let words = [("quantile", TailStatistic::Quantile), ("tail_mean", TailStatistic::TailMean)];
    Some(Bottom10Rule {
        min: fields.get("min").and_then(|node| reader.unit(node, "\"min\"")),
        max_drop: fields.get("max_drop").and_then(|node| reader.unit(node, "\"max_drop\"")),
        statistic: fields.get("use").and_then(|node| reader.one_of(node, "\"use\"", &words)).unwrap_or_default(),
        level: fields.get("level").and_then(|node| level(reader, node)).unwrap_or_default(),
    })
}

/// The entries of a rule; a bare number gets the spelling that says what it means.
fn rule_map<'n, 's>(reader: &mut Reader<'_>, entry: &'n Entry<'s>) -> Option<&'n [Entry<'s>]> {
    let what = quoted(&entry.key);
    if let Kind::Number(number) = &entry.value.kind {
        let problem = reader
            .problem(&entry.value.span, format!("{what} is a map, got a number"))
            .help(format!("write `{}: {{min: {number}}}`", entry.key));
        reader.problems.push(problem);
        return None;
    }
    reader.map(&entry.value, &what)
}

/// Reports a rule that can't fail.
fn needs_bar(reader: &mut Reader<'_>, entry: &Entry<'_>, fields: &Fields<'_, '_>) {
    if fields.get("min").is_none() && fields.get("max_drop").is_none() {
        let message = format!("{} has neither \"min\" nor \"max_drop\", so it would check nothing", quoted(&entry.key));
        reader.report(&entry.key_span, message);
    }
}

fn level(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<Level> {
    reader.one_of(node, "\"level\"", &[("fail", Level::Fail), ("warn", Level::Warn)])
}
