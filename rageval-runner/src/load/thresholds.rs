//! Reads `thresholds.yaml`, the policy: where the cases are, what answers them, who judges, and which scores pass.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    gate::rule::{
        Bottom10Rule, DecisionRule, FailOn, Level, MeanRule, MetricRule, Orphans, PassRateRule, Regression, Rules,
        SetRules, SliceField, SliceName, Slices, TailStatistic,
    },
    judge::spec::{JudgeProvider, JudgeSpec},
    metric::{self, Kind as MetricKind, Metric},
    model::{MetricKey, Place, case},
    system::spec::SystemSpec,
};

use super::{
    connect,
    diagnostic::{Diagnostic, Diagnostics, did_you_mean, quoted},
    metrics::{self, Metrics},
    node::{Entry, Kind, Node},
    read::{Empty, Reader},
    shape::{Key, Shape},
    source::{Source, Span},
    yaml,
};

/// The name of the policy's file.
pub const FILE_NAME: &str = "thresholds.yaml";

/// The one version of the policy's format.
const VERSION: usize = 1;

/// Keys of the policy.
pub(crate) const KEYS: &[Key] = &[
    Key::required("version", Shape::Count(VERSION), "Version of this format: 1."),
    Key::optional(
        "cases",
        Shape::Text,
        "Folder of the golden cases, or one file of them; `cases` where it is left out.",
    ),
    Key::optional(
        "system",
        Shape::Variants("kind", connect::SYSTEM_KINDS),
        "What answers the questions; the function of the test where it is left out.",
    ),
    Key::optional(
        "judge",
        Shape::Variants("provider", connect::JUDGE_PROVIDERS),
        "Who judges; needed as soon as a judged metric is listed.",
    ),
    Key::required("metrics", Shape::Metrics, "What is measured, and which scores pass."),
    Key::optional("slices", Shape::Map(SLICES), "Parts of the set that are gated on their own."),
    Key::optional("regression", Shape::Map(REGRESSION), "Comparison with an accepted run."),
    Key::optional("snapshots", Shape::Map(SNAPSHOTS), "Comparison of verdicts with their snapshots."),
    Key::optional("max_unmeasured", Shape::Count(0), "Unmeasured cases that a run may have; 0 where it is left out."),
];

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

const SLICES: &[Key] = &[
    Key::required(
        "by",
        Shape::List(&Shape::Text),
        "Fields, each of whose values is a slice: language, type, difficulty, tags, document, should_refuse, metadata.KEY.",
    ),
    Key::optional(
        "min_cases",
        Shape::Count(1),
        "A slice with fewer scored cases is inconclusive; 10 where it is left out.",
    ),
];

const REGRESSION: &[Key] = &[
    Key::required("baseline", Shape::Text, "The file of the accepted run."),
    Key::optional(
        "decision",
        Shape::OneOf(&["point", "confident", "non_inferior"]),
        "How drops of means are decided; `confident` for judged metrics and `point` for the rest where it is left out.",
    ),
];

const SNAPSHOTS: &[Key] = &[
    Key::optional(
        "fail_on",
        Shape::OneOf(&["worse", "any", "never"]),
        "Which difference makes a case red; `worse` where it is left out.",
    ),
    Key::optional(
        "orphans",
        Shape::OneOf(&["warn", "fail"]),
        "What a snapshot does whose case is gone; `warn` where it is left out.",
    ),
];

/// The policy, checked. Paths are absolute.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// The folder of the file; paths in the policy are relative to it.
    pub root: PathBuf,
    /// The file.
    pub file: PathBuf,
    /// The folder of the golden cases, or one file of them.
    pub cases: PathBuf,
    /// What answers the questions.
    pub system: SystemSpec,
    /// Who judges.
    pub judge: JudgeSpec,
    /// Which scores pass.
    pub rules: Rules,
    /// Digest of the file's text, whatever its line ends: 32 hex digits.
    pub digest: String,
    /// Whether the file names a judge; `judge` is `offline` where it does not, and no judged metric may be listed then.
    pub(crate) judge_stated: JudgeStated,
    pub(crate) source: Arc<Source>,
    /// Where `cases` stands.
    pub(crate) cases_span: Span,
    /// Where the names of fields and single slices stand, for the check against the cases.
    pub(crate) slice_spans: Vec<(SliceMention, Span)>,
}

/// Whether the policy names a judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JudgeStated {
    Yes,
    No,
}

/// What the policy says of slices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SliceMention {
    /// Every value of a field.
    Field(SliceField),
    /// One slice.
    Slice(SliceName),
}

/// The policy's file for a package: `thresholds.yaml` in this folder or the nearest one above it.
///
/// The search ends at the root of the cargo workspace, at the root of the repository (`.git`), or at the root of the file system,
/// whichever comes first, so that no file from outside the project can decide.
pub fn find(start: &Path) -> Option<PathBuf> {
    for folder in start.ancestors() {
        let file = folder.join(FILE_NAME);
        if file.is_file() {
            return Some(file);
        }
        let is_workspace = std::fs::read_to_string(folder.join("Cargo.toml"))
            .is_ok_and(|manifest| manifest.lines().any(|line| line.trim_start().starts_with("[workspace")));
        if is_workspace || folder.join(".git").exists() {
            return None;
        }
    }
    None
}

/// Reads and checks the policy against the metrics that exist: the built-in ones and the user's own.
pub fn policy(file: &Path, metrics: &[&dyn Metric]) -> Result<Policy, Diagnostics> {
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let name = file.file_name().map_or_else(|| FILE_NAME.into(), |name| name.to_string_lossy());
    let source = Source::read(&name, &file)?;
    let mut problems = Diagnostics::default();
    let node = yaml::read(&source, &mut problems);
    let mut reader = Reader { source: &source, problems: &mut problems, whose: String::new() };
    let policy = match &node {
        Some(node) => read(&mut reader, node, &file, metrics),
        None => {
            if reader.problems.is_empty() {
                reader.report(&(0..0), "the policy is empty; it needs at least `version: 1` and `metrics`");
            }
            None
        }
    };
    match policy {
        Some(policy) => problems.or(policy),
        None => Err(problems.sorted()),
    }
}

fn read(reader: &mut Reader<'_>, node: &Node<'_>, file: &Path, metrics: Metrics<'_>) -> Option<Policy> {
    let root = file.parent().unwrap_or(Path::new("")).to_owned();
    let entries = reader.map(node, "the policy")?;
    let fields = reader.fields(&node.span, entries, KEYS, Empty::Refused);
    if let Some(version) = fields.get("version") {
        read_version(reader, version);
    }
    let cases = fields.get("cases").and_then(|node| reader.text(node, "\"cases\"").map(|path| (path, node)));
    let (cases, cases_span) = match cases {
        Some((path, node)) => {
            connect::refuse_variables(reader, &path, &node.span);
            (path, node.span.clone())
        }
        None => ("cases".to_owned(), node.span.start..node.span.start),
    };
    let first_line = Place { file: reader.source.name.clone(), line: 1, column: 1 };
    let system = match fields.entry("system") {
        Some(entry) => connect::system(reader, entry, &root),
        None => Some(SystemSpec { place: first_line.clone(), ..SystemSpec::function() }),
    };
    let (judge, judge_stated) = match fields.entry("judge") {
        Some(entry) => (connect::judge(reader, entry, &root), JudgeStated::Yes),
        None => {
            let judge = JudgeSpec { place: first_line, ..JudgeSpec::of_provider(JudgeProvider::Offline) };
            (Some(judge), JudgeStated::No)
        }
    };
    let mut slice_spans = Vec::new();
    let (fail_on, orphans) = fields.get("snapshots").and_then(|node| snapshots(reader, node)).unwrap_or_default();
    let rules = Rules {
        metrics: match fields.entry("metrics") {
            Some(entry) => {
                let mut list = MetricList { metrics, judge_stated, slice_spans: &mut slice_spans };
                list.read(reader, entry)
            }
            None => std::collections::BTreeMap::new(),
        },
        slices: fields.get("slices").map(|node| slices(reader, node, &mut slice_spans)).unwrap_or_default(),
        regression: fields.entry("regression").and_then(|entry| regression(reader, entry)),
        fail_on,
        orphans,
        max_unmeasured: fields
            .get("max_unmeasured")
            .and_then(|node| reader.count(node, "\"max_unmeasured\"", 0))
            .unwrap_or_default(),
    };
    let mut digest = case::Fields::default();
    digest.add("policy", &reader.source.text.replace("\r\n", "\n"));
    Some(Policy {
        cases: root.join(cases),
        file: file.to_owned(),
        system: system?,
        judge: judge?,
        rules,
        digest: digest.finish(),
        judge_stated,
        source: Arc::clone(reader.source),
        cases_span,
        slice_spans,
        root,
    })
}

fn read_version(reader: &mut Reader<'_>, node: &Node<'_>) {
    let Some(version) = reader.count(node, "\"version\"", VERSION) else { return };
    if version != VERSION {
        let problem = reader
            .problem(&node.span, format!("\"version\" is {VERSION}, got {version}"))
            .help("a newer version of rageval may read this file");
        reader.problems.push(problem);
    }
}

/// What reading the list of metrics needs.
struct MetricList<'m, 'p> {
    metrics: Metrics<'m>,
    judge_stated: JudgeStated,
    slice_spans: &'p mut Vec<(SliceMention, Span)>,
}

impl MetricList<'_, '_> {
    fn read(&mut self, reader: &mut Reader<'_>, list: &Entry<'_>) -> std::collections::BTreeMap<MetricKey, MetricRule> {
        let mut rules = std::collections::BTreeMap::new();
        let Some(entries) = reader.map(&list.value, "\"metrics\"") else { return rules };
        if entries.is_empty() {
            reader.report(&list.value.span, "\"metrics\" lists no metric, so nothing would be checked");
        }
        for entry in entries {
            let Some((key, metric)) = metrics::key(reader, &entry.key, &entry.key_span, self.metrics) else { continue };
            if metric.kind() == MetricKind::Judged && self.judge_stated == JudgeStated::No {
                reader.problems.push(judge_missing(reader, &entry.key_span, &key));
            }
            let rule = self.rule(reader, entry, metric);
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
            Kind::Number(_) => rule.min = reader.unit(&entry.value, &format!("`min` of {}", quoted(name))),
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

fn set_rules(reader: &mut Reader<'_>, fields: &super::read::Fields<'_, '_>, has_min: HasMin) -> SetRules {
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
fn needs_bar(reader: &mut Reader<'_>, entry: &Entry<'_>, fields: &super::read::Fields<'_, '_>) {
    if fields.get("min").is_none() && fields.get("max_drop").is_none() {
        let message = format!("{} has neither \"min\" nor \"max_drop\", so it would check nothing", quoted(&entry.key));
        reader.report(&entry.key_span, message);
    }
}

fn level(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<Level> {
    reader.one_of(node, "\"level\"", &[("fail", Level::Fail), ("warn", Level::Warn)])
}

/// Fields whose values are slices, by name.
const SLICE_FIELDS: &[(&str, SliceField)] = &[
    ("language", SliceField::Language),
    ("type", SliceField::Type),
    ("difficulty", SliceField::Difficulty),
    ("tags", SliceField::Tags),
    ("document", SliceField::Document),
    ("should_refuse", SliceField::ShouldRefuse),
];

fn slice_field(reader: &mut Reader<'_>, text: &str, span: &Span) -> Option<SliceField> {
    if let Some((_, field)) = SLICE_FIELDS.iter().find(|(name, _)| *name == text) {
        return Some(field.clone());
    }
    if let Some(key) = text.strip_prefix("metadata.").filter(|key| !key.is_empty()) {
        return Some(SliceField::Metadata(key.to_owned()));
    }
    let names = SLICE_FIELDS.iter().map(|(name, _)| *name);
    let list = names.clone().collect::<Vec<_>>().join(", ");
    let help = did_you_mean(text, names).unwrap_or_else(|| format!("it is one of {list} and metadata.KEY"));
    let problem = reader.problem(span, format!("unknown slice {}", quoted(text))).help(help);
    reader.problems.push(problem);
    None
}

fn slice_name(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<SliceName> {
    match entry.key.split_once('=') {
        Some((field, value)) if !value.is_empty() => {
            let field = slice_field(reader, field, &entry.key_span)?;
            Some(SliceName { field, value: value.to_owned() })
        }
        Some(_) | None => {
            let message = format!("{} is no slice", quoted(&entry.key));
            let problem = reader.problem(&entry.key_span, message).help("write `field=value`, as in `language=pt`");
            reader.problems.push(problem);
            None
        }
    }
}

fn slices(reader: &mut Reader<'_>, node: &Node<'_>, spans: &mut Vec<(SliceMention, Span)>) -> Slices {
    let mut slices = Slices::default();
    let Some(entries) = reader.map(node, "\"slices\"") else { return slices };
    let fields = reader.fields(&node.span, entries, SLICES, Empty::Refused);
    for item in fields.get("by").and_then(|by| reader.list(by, "\"by\"")).unwrap_or_default() {
        let Some(name) = reader.text(item, "a field of \"by\"") else { continue };
        let Some(field) = slice_field(reader, &name, &item.span) else { continue };
        if slices.by.iter().any(|(_, known)| *known == field) {
            reader.report(&item.span, format!("{} stands twice in \"by\"", quoted(&name)));
            continue;
        }
        spans.push((SliceMention::Field(field.clone()), item.span.clone()));
        slices.by.push((reader.source.place(item.span.start), field));
    }
    if let Some(min_cases) = fields.get("min_cases").and_then(|node| reader.count(node, "\"min_cases\"", 1)) {
        slices.min_cases = min_cases;
    }
    slices
}

fn regression(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<Regression> {
    let entries = reader.map(&entry.value, "\"regression\"")?;
    let fields = reader.fields(&entry.value.span, entries, REGRESSION, Empty::Refused);
    let words = [
        ("point", DecisionRule::Point),
        ("confident", DecisionRule::Confident),
        ("non_inferior", DecisionRule::NonInferior),
    ];
    let decision = fields.get("decision").and_then(|node| reader.one_of(node, "\"decision\"", &words));
    let node = fields.get("baseline")?;
    let baseline = reader.text(node, "\"baseline\"")?;
    connect::refuse_variables(reader, &baseline, &node.span);
    Some(Regression { baseline, decision, place: reader.source.place(entry.key_span.start) })
}

fn snapshots(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<(FailOn, Orphans)> {
    let entries = reader.map(node, "\"snapshots\"")?;
    let fields = reader.fields(&node.span, entries, SNAPSHOTS, Empty::Refused);
    let words = [("worse", FailOn::Worse), ("any", FailOn::Any), ("never", FailOn::Never)];
    let fail_on = fields.get("fail_on").and_then(|node| reader.one_of(node, "\"fail_on\"", &words));
    let words = [("warn", Orphans::Warn), ("fail", Orphans::Fail)];
    let orphans = fields.get("orphans").and_then(|node| reader.one_of(node, "\"orphans\"", &words));
    Some((fail_on.unwrap_or_default(), orphans.unwrap_or_default()))
}
