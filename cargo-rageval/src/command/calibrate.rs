//! `calibrate`: holds a judge against what people say of the same items.

mod compare;
mod label;
mod measure;

use std::{io::Write, path::PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use rageval_runner::{
    evaluate::calibrated,
    gate,
    load::{self, Labels, Policy},
    metric::Metric,
    model::{GoldenSet, MetricKey, UnitInterval},
    report::console::{calibration as told, text::visible},
    store::{
        calibration,
        lock::{self, LockFiles},
    },
    trust::calibration::{Asked, Calibration, Looked, Now, Refusal, Report, refusals, report},
};
use serde_json::{Value, json};

use crate::{
    asking::Asking,
    context::Context,
    exit::{Ending, Failure, tell},
};

/// Hold the judge against people
///
/// Has the judge score every item that people labelled (`cases/calibration`), says how the two agree, and writes
/// baselines/calibration.json, which the gate reads. A metric passes with enough labels, a Spearman correlation at the bar, and no item left
/// without a score. Ends with 0 where all pass, 1 where one does not, 3 where something could not be judged; such items are named, and nothing
/// is written then. Stored replies, the budget and `replay` hold as in a run.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  cargo rageval calibrate
  cargo rageval calibrate --metric faithfulness --run latest
  cargo rageval calibrate --check                             # ask nothing: decide as the gate does
  cargo rageval calibrate --judge small.yaml --judge offline  # compare judges; writes nothing
  cargo rageval calibrate label --annotator ana               # make labels

A file for --judge:
  judge: {provider: openai, model: gpt-4o-mini-2024-07-18, api_key_env: JUDGE_KEY, price: {input: 0.15, output: 0.60}}

A waiver (`waive: {calibration: ...}`) makes the gate pass and not this command."
)]
pub(crate) struct Calibrate {
    #[command(subcommand)]
    part: Option<Part>,
    #[command(flatten)]
    measure: Measure,
}

#[derive(Debug, Subcommand)]
enum Part {
    Label(label::LabelItems),
}

#[derive(Debug, Args)]
struct Measure {
    /// Only this metric; may be given several times [default: every metric that has labels]
    #[arg(long = "metric", value_name = "METRIC", value_parser = MetricKey::parse)]
    metrics: Vec<MetricKey>,
    /// A judge to compare with others: a file with a `judge`, or `offline`; may be given several times
    #[arg(long = "judge", value_name = "FILE", conflicts_with_all = ["check", "dry_run", "run"])]
    judges: Vec<PathBuf>,
    /// A run of this judge, whose pass rates are corrected for the judge's errors: a run folder, its `run.json`, or `latest`
    #[arg(long, value_name = "RUN", conflicts_with = "check")]
    run: Option<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Ask nothing and write nothing: look at what baselines/calibration.json holds
    #[arg(long, conflicts_with = "dry_run")]
    check: bool,
    /// Ask and tell, but write nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For reading
    Text,
    /// Everything, items and points included
    Json,
}

/// Does what the command line says.
pub(crate) fn run(calibrate: &Calibrate, context: &Context) -> Result<Ending, Failure> {
    match &calibrate.part {
        Some(Part::Label(label)) => label::run(label, context),
        None => hold_against_people(&calibrate.measure, context),
    }
}

/// What stands in the files: policy, cases and labels.
struct Files {
    policy: Policy,
    set: GoldenSet,
    labels: Labels,
    metrics: Vec<&'static dyn Metric>,
}

impl Files {
    fn read(context: &Context) -> Result<Self, Failure> {
        let metrics = context.metrics(&[]);
        let (policy, set) = super::gate::files(context, &metrics)?;
        let labels = load::labels(&policy, &metrics).map_err(|problems| Failure::Input(problems.to_string()))?;
        Ok(Self { policy, set, labels, metrics })
    }

    /// The version of the golden set, stated or locked.
    fn set_version(&self) -> Option<String> {
        let locked = || lock::read(&LockFiles::of(&self.policy.cases).lock).ok().map(|lock| lock.version);
        self.set.version.clone().or_else(locked)
    }

    /// The metrics to look at: those that are named, else those that have labels.
    fn metrics(&self, named: &[MetricKey]) -> Result<Vec<MetricKey>, Failure> {
        let labelled = self.labels.metrics();
        if labelled.is_empty() {
            let folder = self.policy.labels.strip_prefix(&self.policy.root).unwrap_or(&self.policy.labels);
            return Err(Failure::Input(format!(
                "{}: there are no labels; make some: cargo rageval calibrate label --annotator NAME",
                folder.display()
            )));
        }
        if let Some(key) = named.iter().find(|key| !labelled.contains(key)) {
            let known: Vec<String> = labelled.iter().map(ToString::to_string).collect();
            return Err(Failure::Input(format!(
                "--metric {key}: it has no labels; there are some of {}",
                known.join(", ")
            )));
        }
        let mut metrics: Vec<MetricKey> =
            if named.is_empty() { labelled.into_iter().cloned().collect() } else { named.to_vec() };
        metrics.sort();
        metrics.dedup();
        Ok(metrics)
    }

    /// The score from which an item passes: of the metric's rules, else 0.5; of claims, which are good or not, 0.5.
    fn bar(&self, key: &MetricKey) -> f64 {
        let rule = self.policy.rules.metrics.get(key);
        let of = rule.and_then(|rule| rule.set.pass_rate.as_ref().and_then(|rate| rate.of).or(rule.min));
        let of = of.filter(|_| !measure::is_of_claims(key, &self.labels));
        of.map(UnitInterval::get).filter(|bar| *bar > 0.0).unwrap_or(0.5)
    }
}

/// How one metric came out.
struct Found {
    key: MetricKey,
    /// `None` where nothing is known of it.
    report: Option<Report>,
    refusals: Vec<Refusal>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ruled {
    Passes,
    Fails,
    /// The judge gave no score on some items.
    Undecided,
}

impl Found {
    fn of(files: &Files, key: &MetricKey, looked: Looked, run: Option<&[f64]>) -> Self {
        let asked = Asked { bar: files.bar(key), run };
        let report = looked.measured.map(|measured| report(key, &measured, &asked));
        Self { key: key.clone(), report, refusals: looked.refusals }
    }

    fn ruled(&self) -> Ruled {
        let is_unmeasured = |refusal: &Refusal| matches!(refusal, Refusal::Unmeasured { .. });
        if self.refusals.iter().any(is_unmeasured) {
            Ruled::Undecided
        } else if self.refusals.is_empty() {
            Ruled::Passes
        } else {
            Ruled::Fails
        }
    }
}

fn hold_against_people(command: &Measure, context: &Context) -> Result<Ending, Failure> {
    let files = Files::read(context)?;
    let metrics = files.metrics(&command.metrics)?;
    if !command.judges.is_empty() {
        return compare::run(&files, &metrics, &command.judges, command.format, context);
    }
    if command.check {
        let found = stored(&files, &metrics, context)?;
        print(&found, &files, command.format)?;
        return Ok(ending(&found));
    }
    let run = command.run.as_deref().map(|run| measure::read_run(run, context)).transpose()?;
    let asking = measure::open(&files.policy, context)?;
    if let Some(run) = &run
        && run.manifest.judge != *asking.stamp()
    {
        return Err(Failure::Input(
            "--run: another judge judged it, so that this one's errors say nothing of its scores".to_owned(),
        ));
    }
    let heard = measure::heard(&asking, &files.policy, &files.labels, &metrics);
    asking.tell_notices();
    let measured = Calibration { metrics: heard.into_iter().map(|(key, heard)| (key, heard.measured)).collect() };
    let version = files.set_version();
    let found = |key: &MetricKey| {
        let scores = run.as_ref().and_then(|run| measure::scores_of(run, key, &files.labels));
        Found::of(&files, key, looked(&files, &asking, &measured, key, version.as_deref()), scores.as_deref())
    };
    let found: Vec<Found> = metrics.iter().map(found).collect();
    print(&found, &files, command.format)?;
    write(command, &files, &found, measured)?;
    Ok(ending(&found))
}

/// What the stored calibration says, as the gate looks at it.
fn stored(files: &Files, metrics: &[MetricKey], context: &Context) -> Result<Vec<Found>, Failure> {
    let asking = measure::open(&files.policy, context)?;
    let stamp = |key: &MetricKey| measure::stamp_of(&asking, &files.policy, key);
    let looked = calibrated::looked(&files.policy, &files.set, &files.metrics, metrics, stamp);
    Ok(looked.into_iter().map(|(key, looked)| Found::of(files, &key, looked, None)).collect())
}

/// What was just measured, looked at as the gate will.
fn looked(files: &Files, asking: &Asking, all: &Calibration, key: &MetricKey, version: Option<&str>) -> Looked {
    let (stamp, labels) = (measure::stamp_of(asking, &files.policy, key), files.labels.labelled(key));
    let now = Now { judge: &stamp, labels: &labels, set_version: version, bars: &files.policy.calibration };
    let measured = all.metrics.get(key).cloned();
    Looked { refusals: refusals(measured.as_ref(), &now), measured }
}

/// 1 where a metric does not pass, 3 where one could not be judged and all others pass.
fn ending(found: &[Found]) -> Ending {
    let any = |ruled| found.iter().any(|found| found.ruled() == ruled);
    match (any(Ruled::Fails), any(Ruled::Undecided)) {
        (true, _) => Ending::Fail,
        (false, true) => Ending::Undecided,
        (false, false) => Ending::Pass,
    }
}

/// Keeps what was measured, unless some of it was not: what stands there may be whole.
fn write(command: &Measure, files: &Files, found: &[Found], mut measured: Calibration) -> Result<(), Failure> {
    if command.dry_run {
        tell(&format!("{} is left as it was, as --dry-run asks", calibration::FILE));
        return Ok(());
    }
    if found.iter().any(|found| found.ruled() == Ruled::Undecided) {
        tell(&format!("{} is left as it was, since something could not be judged", calibration::FILE));
        return Ok(());
    }
    let file = files.policy.root.join(calibration::FILE);
    let input = |error: rageval_runner::store::StoreError| Failure::Input(error.to_string());
    if !command.metrics.is_empty() {
        // What was not looked at stays as it is.
        let stored = calibration::read_if_present(&file).map_err(input)?.unwrap_or_default();
        for (key, of) in stored.metrics {
            measured.metrics.entry(key).or_insert(of);
        }
    }
    calibration::write(&file, &measured).map_err(input)?;
    tell(&format!("wrote {}", calibration::FILE));
    Ok(())
}

fn print(found: &[Found], files: &Files, format: Format) -> Result<(), Failure> {
    let mut out = crate::out::stdout();
    match format {
        Format::Text => {
            for one in found {
                writeln!(out, "{}\n", lines(one, files).join("\n"))?;
            }
            if let Some(line) = unlabelled(files) {
                writeln!(out, "{line}")?;
            }
        }
        Format::Json => {
            let metrics: Vec<Value> = found.iter().map(|found| as_json(found, files)).collect();
            writeln!(out, "{:#}", json!({"metrics": metrics}))?;
        }
    }
    out.flush()?;
    Ok(())
}

fn lines(found: &Found, files: &Files) -> Vec<String> {
    let bars = &files.policy.calibration;
    let Some(report) = &found.report else {
        let told = found.refusals.iter().map(|refusal| told::told(&found.key, refusal, bars));
        return told.flat_map(|(why, todo)| [why, format!("  {todo}")]).collect();
    };
    let mut lines = told::report(report, &found.refusals, bars);
    let unmeasured = report.items.unmeasured.iter();
    lines.extend(unmeasured.map(|(item, why)| format!("unmeasured  {}: {}", visible(item), visible(why))));
    lines
}

fn as_json(found: &Found, files: &Files) -> Value {
    let told = |refusal| told::told(&found.key, refusal, &files.policy.calibration).0;
    let refused: Vec<String> = found.refusals.iter().map(told).collect();
    json!({
        "metric": found.key.to_string(),
        "passes": found.ruled() == Ruled::Passes,
        "refusals": refused,
        "report": found.report,
    })
}

/// The metrics that need a calibrated judge and have no label, in a line.
fn unlabelled(files: &Files) -> Option<String> {
    let facts = files.metrics.iter().map(|metric| (metric.name().to_owned(), gate::MetricFacts::of(*metric))).collect();
    let needed = gate::trusted_metrics(&files.policy.rules, &files.set, &facts);
    let labelled = files.labels.metrics();
    let without: Vec<String> =
        needed.iter().filter(|key| !labelled.contains(key)).map(|key| visible(&key.to_string())).collect();
    let whose = || format!("no labels of {}, which the gate takes for uncalibrated", without.join(", "));
    (!without.is_empty()).then(whose)
}
