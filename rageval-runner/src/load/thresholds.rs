//! Reads `thresholds.yaml`, the policy: where the cases are, what answers them, who judges, and which scores pass.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    embed::spec::EmbedderSpec,
    gate::rule::{DecisionRule, FailOn, Orphans, Regression, Rules},
    judge::spec::{JudgeProvider, JudgeSpec},
    metric::Metric,
    model::{Budget, Place, case},
    system::spec::SystemSpec,
    trust::{Declared, Party},
};

use super::{
    budget, confirm, connect,
    diagnostic::Diagnostics,
    embedder::{self, EmbedderStated},
    judge,
    metrics::Metrics,
    node::{Entry, Node},
    read::{Empty, Reader},
    rules::MetricList,
    shape::{Key, Shape},
    slices::{self, SliceMention},
    source::{Source, Span},
    steps::Steps,
    waive, yaml,
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
        Shape::Variants("provider", judge::PROVIDERS),
        "Who judges; needed as soon as a judged metric is listed.",
    ),
    Key::optional(
        "embedder",
        Shape::Variants("provider", embedder::PROVIDERS),
        "Who turns texts into vectors; needed as soon as a metric compares them.",
    ),
    Key::optional(
        "budget",
        Shape::Map(budget::KEYS),
        "The most that one run may spend on models; needed for a judge behind an address.",
    ),
    Key::required("metrics", Shape::Metrics, "What is measured, and which scores pass."),
    Key::optional("slices", Shape::Map(slices::KEYS), "Parts of the set that are gated on their own."),
    Key::optional("regression", Shape::Map(REGRESSION), "Comparison with an accepted run."),
    Key::optional("confirm", Shape::Map(confirm::KEYS), "How far a judge is asked again before a run is decided."),
    Key::optional("snapshots", Shape::Map(SNAPSHOTS), "Comparison of verdicts with their snapshots."),
    Key::optional("waive", Shape::Map(waive::KEYS), "Written exceptions from what a judge must be, each until a day."),
    Key::optional("max_unmeasured", Shape::Count(0), "Unmeasured cases that a run may have; 0 where it is left out."),
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
    /// Who turns texts into vectors; `None`: nobody, and no metric may need it then.
    pub embedder: Option<EmbedderSpec>,
    /// The most that one run may spend on models; `None`: no limit.
    pub budget: Option<Budget>,
    /// Which scores pass.
    pub rules: Rules,
    /// What the judge's trust depends on: families, and what is waived.
    pub trust: Declared,
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
/// The policy's file for a package: `thresholds.yaml` in this folder or the nearest one above it.
///
/// The search ends at the root of the cargo workspace, at the root of the repository (`.git`), or at the root of the file system,
/// whichever comes first, so that no file from outside the project can decide.
pub fn find(start: &Path) -> Option<PathBuf> {
    let start = std::path::absolute(start).ok()?;
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
    policy_with(file, metrics, Steps::Read)
}

/// The same, with or without the steps that stand in files of their own.
pub(crate) fn policy_with(file: &Path, metrics: &[&dyn Metric], steps: Steps) -> Result<Policy, Diagnostics> {
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let name = file.file_name().map_or_else(|| FILE_NAME.into(), |name| name.to_string_lossy());
    let source = Source::read(&name, &file)?;
    let mut problems = Diagnostics::default();
    let node = yaml::read(&source, &mut problems);
    let mut reader = Reader { source: &source, problems: &mut problems, whose: String::new() };
    let policy = match &node {
        Some(node) => read(&mut reader, node, &file, metrics, steps),
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

fn read(reader: &mut Reader<'_>, node: &Node<'_>, file: &Path, metrics: Metrics<'_>, steps: Steps) -> Option<Policy> {
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
        Some(entry) => (judge::read(reader, entry, &root), JudgeStated::Yes),
        None => {
            let judge = JudgeSpec { place: first_line.clone(), ..JudgeSpec::of_provider(JudgeProvider::Offline) };
            (Some(judge), JudgeStated::No)
        }
    };
    let replies = judge.as_ref().and_then(|judge| judge.replies.as_ref());
    if let Some((entry, folder)) = fields.entry("judge").zip(replies)
        && folder.starts_with(root.join(&cases))
    {
        let problem = reader
            .problem(
                &entry.key_span,
                "`judge.replies` names a folder among the golden cases, where each reply would be read as a case",
            )
            .help("name another folder, as in `replies: baselines/replies`");
        reader.problems.push(problem);
    }
    let (embedder, embedder_stated) = match fields.entry("embedder") {
        Some(entry) => (embedder::read(reader, entry, judge.as_ref(), &root), EmbedderStated::Yes),
        None => (None, EmbedderStated::No),
    };
    let mut party = |key: &str, named: &Key| match fields.entry(key) {
        Some(entry) => waive::party(reader, entry, named),
        None => Party { family: None, place: first_line.clone() },
    };
    let trust = Declared {
        judge: party("judge", &judge::MODEL),
        system: party("system", &connect::GENERATOR),
        waivers: fields.get("waive").map(|node| waive::waivers(reader, node)).unwrap_or_default(),
    };
    let budget = fields.entry("budget").and_then(|entry| budget::read(reader, entry));
    budget::check(reader, &fields, judge.as_ref(), embedder.as_ref());
    let mut slice_spans = Vec::new();
    let (fail_on, orphans) = fields.get("snapshots").and_then(|node| snapshots(reader, node)).unwrap_or_default();
    let rules = Rules {
        metrics: match fields.entry("metrics") {
            Some(entry) => {
                let mut list = MetricList {
                    metrics,
                    judge_stated,
                    embedder_stated,
                    root: &root,
                    steps,
                    slice_spans: &mut slice_spans,
                };
                list.read(reader, entry)
            }
            None => BTreeMap::new(),
        },
        slices: fields.get("slices").map(|node| slices::read(reader, node, &mut slice_spans)).unwrap_or_default(),
        regression: fields.entry("regression").and_then(|entry| regression(reader, entry)),
        fail_on,
        orphans,
        max_unmeasured: fields
            .get("max_unmeasured")
            .and_then(|node| reader.count(node, "\"max_unmeasured\"", 0))
            .unwrap_or_default(),
        confirm: fields.entry("confirm").and_then(|entry| confirm::read(reader, entry)).unwrap_or_default(),
    };
    let mut digest = case::Fields::default();
    digest.add("policy", &reader.source.text.replace("\r\n", "\n"));
    Some(Policy {
        cases: root.join(cases),
        file: file.to_owned(),
        system: system?,
        judge: judge?,
        embedder,
        budget,
        rules,
        trust,
        digest: digest.finish(),
        judge_stated,
        source: Arc::clone(reader.source),
        cases_span,
        slice_spans,
        root,
    })
}

/// Reads the version of this file or of one beside it: there is one for all.
pub(crate) fn read_version(reader: &mut Reader<'_>, node: &Node<'_>) {
    let Some(version) = reader.count(node, "\"version\"", VERSION) else { return };
    if version != VERSION {
        let problem = reader
            .problem(&node.span, format!("\"version\" is {VERSION}, got {version}"))
            .help("a newer version of rageval may read this file");
        reader.problems.push(problem);
    }
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
