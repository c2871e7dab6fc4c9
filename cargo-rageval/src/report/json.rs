//! The run as numbers for other programs, in a shape of its own that its schema describes: it changes less than the run file does.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{self, Write},
};

use rageval_runner::{
    model::{
        CaseId, MetricKey, Outcome, Spending, UnitInterval,
        background::MetricBackground,
        case::Place,
        run::{Conclusion, Decision, Finding, GateFacts, Manifest, Ruling},
    },
    report::console::text::visible,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Input,
    lowered::LoweredScore,
    view::{CaseView, MetricView, Refusals, SliceView, Spread},
    why,
};

/// What `format` says.
const FORMAT: &str = "rageval-report";
/// Raised when a field goes or changes what it means; new fields may come without.
const VERSION: u32 = 1;

/// A run as numbers. Every score is 0 to 1.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "Report of a run of rageval")]
pub(crate) struct Report<'r> {
    /// Always `rageval-report`.
    format: &'static str,
    /// Version of this shape.
    version: u32,
    /// What the run came to, as the exit code of `cargo rageval gate` says it.
    conclusion: Conclusion,
    /// The same as a line: `failed: 3 of 60 cases and 2 gates`.
    headline: String,
    /// Whether it is not of the whole golden set.
    partial: bool,
    /// Trials by what was decided.
    counts: Counts,
    /// Everything that was decided of the set, the set-up and the judge.
    gates: Vec<Gate<'r>>,
    /// Every case: red ones first, then in the order of the set.
    cases: Vec<Case<'r>>,
    /// Every metric, by name.
    metrics: Vec<Metric<'r>>,
    /// Answered or declined, against what was right.
    refusals: RefusalTable<'r>,
    /// Against the baseline; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline: Option<AgainstBaseline<'r>>,
    /// Milliseconds that the system took for an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    latency_ms: Option<Distribution>,
    /// US dollars that an answer of the system cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<Distribution>,
    /// Tokens of an answer of the system.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<Distribution>,
    /// What judging spent.
    #[serde(skip_serializing_if = "Option::is_none")]
    spent: Option<Spending>,
    /// Waivers that hold and are needed.
    waivers: &'r [String],
    /// Everything else worth knowing.
    notices: Vec<&'r str>,
    /// Where the run came from.
    manifest: &'r Manifest,
}

/// Trials by what was decided.
#[derive(Debug, Serialize, JsonSchema)]
struct Counts {
    /// Of cases.
    cases: Rulings,
    /// Of gates, the set-up and calibrations.
    gates: Rulings,
}

/// How many of each; they add up to the total.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct Rulings {
    total: usize,
    passed: usize,
    failed: usize,
    undecided: usize,
    inconclusive: usize,
    not_run: usize,
}

/// One decision that is of no single case.
#[derive(Debug, Serialize, JsonSchema)]
struct Gate<'r> {
    /// The name of its trial.
    trial: &'r str,
    ruling: Ruling,
    /// The number that was compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    statistic: Option<f64>,
    /// What it was compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
    /// Cases that entered the number.
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<usize>,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    about: Option<&'r GateFacts>,
    /// What a person is told.
    lines: &'r [String],
}

/// One case.
#[derive(Debug, Serialize, JsonSchema)]
struct Case<'r> {
    id: &'r CaseId,
    /// `failed`, `undecided`, `passed`, `inconclusive`, `known failure`, `not run`.
    state: &'static str,
    /// Where it starts; absent in runs of older versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<&'r Place>,
    /// Whether its repeats or readings differ.
    flaky: bool,
    /// What is found, the red first.
    findings: &'r [Finding],
    /// Why its snapshot is red.
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<&'r str>,
    /// Its scores.
    scores: BTreeMap<&'r MetricKey, CaseScore>,
    /// Its values in the fields that slice the set.
    #[serde(skip_serializing_if = "Option::is_none")]
    fields: Option<&'r BTreeMap<String, Vec<String>>>,
    /// Milliseconds that the system took.
    #[serde(skip_serializing_if = "Option::is_none")]
    latency_ms: Option<f64>,
}

/// What became of one metric on one case. Without a score it is unmeasured or does not apply.
#[derive(Debug, Serialize, JsonSchema)]
struct CaseScore {
    /// `scored`, `not_applicable`, `unmeasured`.
    outcome: &'static str,
    /// The score, after further readings.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    /// The baseline's, where it can be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline: Option<f64>,
}

/// One metric over the set.
#[derive(Debug, Serialize, JsonSchema)]
struct Metric<'r> {
    metric: &'r MetricKey,
    /// Cases with a score.
    n: usize,
    not_applicable: usize,
    unmeasured: Vec<&'r CaseId>,
    /// Mean of the first readings, as gates decide on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    mean: Option<f64>,
    /// Its 95 % interval, the lower limit first.
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<(f64, f64)>,
    /// The worst tenth of the cases.
    #[serde(skip_serializing_if = "Option::is_none")]
    bottom10: Option<Bottom10>,
    /// Over the cases that the baseline scored too.
    #[serde(skip_serializing_if = "Option::is_none")]
    paired: Option<Paired>,
    slices: Vec<Slice<'r>>,
    /// The rules on it; absent where single cases alone name it, and in runs of older versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    rules: Option<&'r MetricBackground>,
    /// The trials of its gates.
    gates: Vec<&'r str>,
}

/// The worst tenth of the cases.
#[derive(Debug, Serialize, JsonSchema)]
struct Bottom10 {
    /// Cases in it: ceil(0.10 n).
    n: usize,
    /// The highest score in it: the lower tenth quantile.
    quantile: f64,
    /// The mean of the scores in it.
    tail_mean: f64,
}

/// Means over the cases that run and baseline both scored.
#[derive(Debug, Serialize, JsonSchema)]
struct Paired {
    n: usize,
    baseline: f64,
    now: f64,
}

/// A metric over one slice.
#[derive(Debug, Serialize, JsonSchema)]
struct Slice<'r> {
    field: &'r str,
    value: &'r str,
    n: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    paired: Option<Paired>,
}

/// Answered or declined, against what was right: the cases of each cell.
#[derive(Debug, Serialize, JsonSchema)]
struct RefusalTable<'r> {
    answered_answerable: usize,
    refused_unanswerable: usize,
    refused_answerable: Vec<&'r CaseId>,
    answered_unanswerable: Vec<&'r CaseId>,
    /// Without an answer through a fault.
    failed: Vec<&'r CaseId>,
}

/// The set against the baseline.
#[derive(Debug, Serialize, JsonSchema)]
struct AgainstBaseline<'r> {
    /// Its file.
    file: &'r str,
    /// Whether it was scored by this judge, as its fingerprint says.
    same_judge: bool,
    new: &'r [CaseId],
    changed: &'r [CaseId],
    vanished: &'r [CaseId],
    /// Scores that it lowered: against the base branch's baseline where one was named, else those with a stored reason.
    lowered: &'r [LoweredScore<'r>],
}

/// Percentiles by nearest rank.
#[derive(Debug, Serialize, JsonSchema)]
struct Distribution {
    n: usize,
    p50: f64,
    p95: f64,
    sum: f64,
}

/// Writes it.
pub(crate) fn render(input: &Input<'_>, out: &mut dyn Write) -> io::Result<()> {
    let text = serde_json::to_string_pretty(&report(input))?;
    writeln!(out, "{}", escaped(&text))
}

/// The same JSON with what is invisible, ends a line for some readers, or starts a command of a build server in `\u` notation.
///
/// Such characters stand inside strings alone, so that a reader of JSON gets the same text.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        let is_shown =
            c == '\n' || c == ' ' || (c == '[' && !escaped.ends_with("##")) || (c != '[' && visible_alone(c));
        if is_shown {
            escaped.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        }
    }
    escaped
}

/// Whether a character is shown as it is.
fn visible_alone(c: char) -> bool {
    c.is_ascii_graphic() || *visible(c.encode_utf8(&mut [0; 4])) == *c.encode_utf8(&mut [0; 4])
}

fn report<'r>(input: &'r Input<'r>) -> Report<'r> {
    let view = &input.view;
    let background = &view.run.background;
    let gates = view.run.decisions.iter().filter(|decision| !decision.is_of_case());
    Report {
        format: FORMAT,
        version: VERSION,
        conclusion: view.conclusion,
        headline: view.headline(),
        partial: view.run.is_partial(),
        counts: Counts {
            cases: rulings(view.cases.iter().map(|case| case.decision)),
            gates: rulings(gates.clone().map(Some)),
        },
        gates: gates.map(gate).collect(),
        cases: view.cases.iter().map(case).collect(),
        metrics: view.metrics.iter().map(metric).collect(),
        refusals: refusals(&view.refusals),
        baseline: background.baseline.as_ref().map(|baseline| AgainstBaseline {
            file: &baseline.file,
            same_judge: baseline.manifest.judge.fingerprint == view.run.manifest.judge.fingerprint,
            new: &baseline.new,
            changed: &baseline.changed,
            vanished: &baseline.vanished,
            lowered: &input.lowered.scores,
        }),
        latency_ms: view.latency_ms.map(distribution),
        cost_usd: view.cost_usd.map(distribution),
        tokens: view.tokens.map(distribution),
        spent: view.run.manifest.spent,
        waivers: &background.waivers,
        notices: view.notices.clone(),
        manifest: &view.run.manifest,
    }
}

fn rulings<'r>(decisions: impl Iterator<Item = Option<&'r Decision>>) -> Rulings {
    let mut rulings = Rulings::default();
    for decision in decisions {
        rulings.total += 1;
        *match decision.map(|decision| decision.ruling) {
            Some(Ruling::Pass) => &mut rulings.passed,
            Some(Ruling::Fail) => &mut rulings.failed,
            Some(Ruling::Undecided) => &mut rulings.undecided,
            Some(Ruling::Inconclusive) => &mut rulings.inconclusive,
            None => &mut rulings.not_run,
        } += 1;
    }
    rulings
}

fn gate(decision: &Decision) -> Gate<'_> {
    Gate {
        trial: &decision.trial,
        ruling: decision.ruling,
        statistic: decision.statistic,
        threshold: decision.threshold,
        n: decision.n,
        about: decision.gate.as_ref(),
        lines: &decision.lines,
    }
}

fn case<'r>(case: &CaseView<'r>) -> Case<'r> {
    let keys = case.record.iter().flat_map(|record| record.outcomes.keys());
    let scores = keys.filter_map(|key| Some((key, case_score(case, key, case.record?.settled(key)?))));
    Case {
        id: case.id,
        state: case.state(),
        place: case.golden.map(|golden| &golden.place),
        flaky: case.is_flaky(),
        findings: case.decision.map(|decision| decision.findings.as_slice()).unwrap_or_default(),
        snapshot: case.decision.and_then(|decision| Some(decision.snapshot.as_ref()?.why.as_str())),
        scores: scores.collect(),
        fields: case.golden.map(|golden| &golden.fields),
        latency_ms: case.record.and_then(|record| record.sample()?.latency_ms),
    }
}

fn case_score(case: &CaseView<'_>, key: &MetricKey, outcome: &Outcome) -> CaseScore {
    let word = match outcome {
        Outcome::Scored { .. } => "scored",
        Outcome::NotApplicable { .. } => "not_applicable",
        Outcome::Unmeasured { .. } => "unmeasured",
    };
    CaseScore { outcome: word, score: outcome.score().map(UnitInterval::get), baseline: why::baseline(case, key) }
}

fn metric<'r>(metric: &'r MetricView<'r>) -> Metric<'r> {
    let bottom10 = metric.lowest_decile.zip(metric.lowest_decile_mean);
    Metric {
        metric: metric.key,
        n: metric.scored.len(),
        not_applicable: metric.not_applicable,
        unmeasured: metric.unmeasured.clone(),
        mean: metric.mean,
        interval: metric.interval().map(|interval| (interval.low, interval.high)),
        bottom10: bottom10.map(|(quantile, tail_mean)| Bottom10 { n: metric.decile_size(), quantile, tail_mean }),
        paired: paired(metric.paired.iter().map(|(_, before, now)| (*before, *now))),
        slices: metric.slices.iter().map(slice).collect(),
        rules: metric.rules,
        gates: metric.gates.iter().map(|decision| decision.trial.as_str()).collect(),
    }
}

fn slice<'r>(slice: &'r SliceView<'r>) -> Slice<'r> {
    let SliceView { field, value, scores, mean, paired: pairs } = slice;
    Slice { field, value, n: scores.len(), mean: *mean, paired: paired(pairs.iter().copied()) }
}

fn paired(pairs: impl Iterator<Item = (f64, f64)>) -> Option<Paired> {
    let (n, before, now) = pairs.fold((0, 0.0, 0.0), |(n, sum, sums), (before, now)| (n + 1, sum + before, sums + now));
    (n > 0).then(|| Paired { n, baseline: before / n as f64, now: now / n as f64 })
}

fn refusals<'r>(table: &Refusals<'r>) -> RefusalTable<'r> {
    RefusalTable {
        answered_answerable: table.answered_answerable.len(),
        refused_unanswerable: table.refused_unanswerable.len(),
        refused_answerable: table.refused_answerable.clone(),
        answered_unanswerable: table.answered_unanswerable.clone(),
        failed: table.failed.clone(),
    }
}

fn distribution(spread: Spread) -> Distribution {
    let Spread { n, p50, p95, sum } = spread;
    Distribution { n, p50, p95, sum }
}
