//! `compare`: what changed between two runs, or a run and a baseline, on the same cases. It reports, and decides nothing.

mod text;

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use clap::Args;
use rageval_runner::{
    gate::{
        MetricFacts,
        compare::{Comparison, Frame, Side, compare},
        rule::Rules,
    },
    load,
    metric::Metric,
    model::{
        GoldenSet,
        run::{JudgeStamp, SetStamp},
    },
    store::{baseline, runs},
};
use serde::Serialize;

use crate::{
    command::format::Format,
    context::Context,
    exit::{Ending, Failure},
};

/// What `format` says in the JSON.
const FORMAT: &str = "rageval-comparison";
const VERSION: u32 = 1;

/// Seed of the random draws, that of the gates.
const SEED: u64 = 0;

/// Compare two runs on the same cases
///
/// Each of the two is a run folder, a run.json, a `latest` file or a baseline. Cases are paired by id and content. Nothing is asked and nothing is
/// decided: the gates decide. Slices, clusters and the score from which a case passes are those of the thresholds.yaml that stands here, if any.
///
/// Exit code: 0 when it is printed, 2 when a file can't be read, 3 when no metric can be compared.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo rageval compare baselines/main.json target/rageval/runs/latest
  cargo rageval compare before/run.json after/run.json --format json

A drop above 0 is a loss. p-values are one-sided, of a drop; docs/statistics.md says what each number is.")]
pub(crate) struct Compare {
    /// What is compared with: a run or a baseline
    base: PathBuf,
    /// What is looked at: a run or a baseline
    current: PathBuf,
    /// How it is printed
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// One side, as it is told.
#[derive(Debug, Serialize)]
struct Told<'a> {
    file: String,
    golden_set: &'a SetStamp,
    judge: &'a JudgeStamp,
    git_revision: Option<&'a str>,
    cases: usize,
    /// Cases of its set that have no record.
    missing: usize,
}

/// The JSON.
#[derive(Debug, Serialize)]
struct Report<'a> {
    format: &'static str,
    version: u32,
    base: Told<'a>,
    current: Told<'a>,
    judges_differ: bool,
    cases: &'a rageval_runner::gate::compare::Cases,
    metrics: &'a [rageval_runner::gate::compare::OfMetric],
    notices: &'a [String],
}

/// Compares and tells.
pub(crate) fn run(command: &Compare, context: &Context) -> Result<Ending, Failure> {
    let (base, current) = (side(&command.base)?, side(&command.current)?);
    let metrics = context.metrics(&[&command.base, &command.current]);
    let mut notices = Vec::new();
    let (rules, set) = surroundings(context, &metrics, &mut notices);
    let facts: BTreeMap<String, MetricFacts> =
        metrics.iter().map(|metric| (metric.name().to_owned(), MetricFacts::of(*metric))).collect();
    let frame = Frame { metrics: &facts, rules: &rules, set: &set, seed: SEED };
    let comparison = compare(&base, &current, &frame);
    let told = [told(&command.base, &base), told(&command.current, &current)];
    let mut out = crate::out::stdout();
    match command.format {
        Format::Text => {
            let lines = text::lines(&told, &comparison, &rules, &notices);
            writeln!(out, "{}", lines.join("\n"))?;
        }
        Format::Json => {
            let [base, current] = told;
            let Comparison { judges_differ, cases, metrics } = &comparison;
            let judges_differ = judges_differ.is_some();
            let (format, version, notices) = (FORMAT, VERSION, &notices[..]);
            let report = Report { format, version, base, current, judges_differ, cases, metrics, notices };
            let json = serde_json::to_string_pretty(&report).map_err(|error| Failure::Output(error.into()))?;
            writeln!(out, "{json}")?;
        }
    }
    out.flush()?;
    Ok(if comparison.compared() == 0 { Ending::Undecided } else { Ending::Pass })
}

/// Reads a run or a baseline, whichever the file says that it is.
fn side(path: &Path) -> Result<Side, Failure> {
    #[derive(serde::Deserialize)]
    struct Head {
        format: Option<String>,
    }
    let head = if path.is_file() { fs::read_to_string(path).ok() } else { None };
    let head = head.and_then(|text| serde_json::from_str::<Head>(text.trim_start_matches('\u{feff}')).ok());
    let input = |error: &dyn std::fmt::Display| Failure::Input(error.to_string());
    if head.and_then(|head| head.format).as_deref() == Some(baseline::FORMAT) {
        return baseline::read(path).map(|baseline| Side::from(&baseline)).map_err(|error| input(&error));
    }
    let run = runs::read(path).map_err(|error| input(&error))?;
    match super::gate::doubled(&run) {
        Some(case) => Err(Failure::Input(super::gate::twice(path, case))),
        None => Ok(Side::from(&run)),
    }
}

/// The rules and the cases that stand here; none where there are none, or where they cannot be read by this command.
fn surroundings(context: &Context, metrics: &[&dyn Metric], notices: &mut Vec<String>) -> (Rules, GoldenSet) {
    let file = context.root.join(load::FILE_NAME);
    if !file.is_file() {
        notices.push("no thresholds.yaml here: no slices, no pass rates, no clusters".to_owned());
        return (Rules::default(), GoldenSet::default());
    }
    let read = load::policy(&file, metrics).and_then(|policy| {
        let set = load::cases(&policy, metrics)?;
        Ok((policy.rules, set))
    });
    read.unwrap_or_else(|_| {
        notices.push(
            "thresholds.yaml or the cases cannot be read: \
             no slices, no pass rates, no clusters"
                .to_owned(),
        );
        (Rules::default(), GoldenSet::default())
    })
}

fn told<'a>(path: &Path, side: &'a Side) -> Told<'a> {
    Told {
        file: path.display().to_string(),
        golden_set: &side.manifest.golden_set,
        judge: &side.manifest.judge,
        git_revision: side.manifest.git_revision.as_deref(),
        cases: side.cases.len(),
        missing: side.missing,
    }
}
