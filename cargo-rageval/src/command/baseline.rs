//! `baseline`: makes a run the one that later runs are compared with.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use rageval_runner::{
    load,
    metric::{self, METRICS, Metric},
    model::{
        CaseId, MetricKey,
        run::{LoweredScores, Run},
    },
    store::{
        baseline::{self, Difference, ScoreChange},
        history, runs,
    },
};

use crate::{
    context::Context,
    exit::{Ending, Failure},
};

/// Keep the run that later runs are compared with
#[derive(Debug, Subcommand)]
pub(crate) enum Baseline {
    Accept(Accept),
}

/// Make a run the baseline
///
/// Writes the baseline file, and beside it the retrieved texts. A run that is partial or has unmeasured cases is refused. A run with red
/// cases is not; but each score that it lowers needs a reason, which is stored. A score of `pairwise` below 0.5, a tie, counts as lowered: the
/// accepted answer would be replaced by a worse one.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo rageval baseline accept
  cargo rageval baseline accept --reason \"the 2024 price list was withdrawn\"
  cargo rageval baseline accept downloads/rageval-run/run.json")]
pub(crate) struct Accept {
    /// A run folder, its `run.json`, or a `latest` file beside run folders [default: the latest run]
    run: Option<PathBuf>,
    /// The same, as other commands take it
    #[arg(long = "run", value_name = "RUN", conflicts_with = "run")]
    named: Option<PathBuf>,
    /// The baseline file [default: the one that thresholds.yaml names, else baselines/main.json beside it]
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    /// Why scores are lowered
    #[arg(long, value_name = "TEXT", value_parser = reason)]
    reason: Option<String>,
}

fn reason(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() { Err("say why the scores are lowered".to_owned()) } else { Ok(text.to_owned()) }
}

/// Does what the command line says.
pub(crate) fn run(baseline: &Baseline, context: &Context) -> Result<Ending, Failure> {
    match baseline {
        Baseline::Accept(accept) => run_accept(accept, context),
    }
}

/// The baseline file that the policy names, after a check that the run is of these cases and this system.
///
/// A policy or cases that cannot be read here (they may name metrics of the test binary) say nothing.
fn named_baseline(context: &Context, run: &Run, from: &Path) -> Result<PathBuf, Failure> {
    let file = context.root.join(load::FILE_NAME);
    if !file.is_file() && from.starts_with(&context.runs) {
        return Err(Failure::Input(
            "there is no thresholds.yaml here or above; say where the baseline goes: --to FILE".to_owned(),
        ));
    }
    let policy = load::policy(&file, METRICS).ok();
    if let Some(policy) = &policy {
        let other = match load::cases(policy, METRICS) {
            Ok(set) if set.digest() != run.manifest.golden_set.digest => Some("golden cases"),
            _ if policy.system.kind.as_str() != run.manifest.system.kind => Some("kind of system"),
            _ => None,
        };
        if let Some(what) = other {
            let why = format!(
                "{}: it is a run of another {what} than stands here; run the gate again, or name its run",
                from.display()
            );
            return Err(Failure::Input(why));
        }
    }
    let named = policy.and_then(|policy| policy.rules.regression.map(|regression| regression.baseline));
    Ok(context.root.join(named.as_deref().unwrap_or("baselines/main.json")))
}

fn run_accept(accept: &Accept, context: &Context) -> Result<Ending, Failure> {
    let input = |error: &dyn std::fmt::Display| Failure::Input(error.to_string());
    let named = accept.run.as_ref().or(accept.named.as_ref());
    let from = named.cloned().unwrap_or_else(|| context.runs.join("latest"));
    if named.is_none() && !from.exists() {
        let why = format!("{}: no run yet; run the gate first: cargo test --test rag_regression", from.display());
        return Err(Failure::Input(why));
    }
    let run = runs::read(&from).map_err(|error| input(&error))?;
    let to = match &accept.to {
        Some(to) => to.clone(),
        None => named_baseline(context, &run, &from)?,
    };
    let earlier = baseline::read_if_present(&to).map_err(|error| input(&error))?;
    let mut accepted =
        baseline::from_run(&run).map_err(|refused| Failure::Input(format!("{}: {refused}", from.display())))?;
    let difference = earlier.as_ref().map(|earlier| Difference::between(earlier, &accepted.baseline, METRICS));
    let lowered = difference.as_ref().map_or(&[][..], |difference| &difference.lowered);
    // A score that is gone can hide any fall: the next baseline would start from nothing.
    let gone = difference.as_ref().map_or(&[][..], |difference| &difference.unscored);
    accepted.baseline.manifest.reasons = earlier.map(|earlier| earlier.manifest.reasons).unwrap_or_default();
    if !lowered.is_empty() || !gone.is_empty() {
        let Some(reason) = &accept.reason else { return Err(needs_reason(&to, lowered, gone)) };
        let scores = lowered.iter().map(|c| (c.case.clone(), c.metric.clone(), c.before, c.after)).collect();
        let lowered = LoweredScores { reason: reason.clone(), scores, gone: gone.to_vec() };
        accepted.baseline.manifest.reasons.push(lowered);
    }
    baseline::write(&to, &accepted.baseline, &accepted.texts).map_err(|error| input(&error))?;
    history::append(&to, &accepted.baseline).map_err(|error| input(&error))?;

    let mut out = io::stdout().lock();
    let (cases, run) = (count(accepted.baseline.cases.len(), "case"), &run.manifest);
    let revision = run.git_revision.as_deref().map(|revision| format!(" at {revision:.12}")).unwrap_or_default();
    writeln!(out, "{}: {cases} accepted, from run {}{revision}", to.display(), run.run_id)?;
    match &difference {
        None => writeln!(out, "the first baseline here")?,
        Some(difference) if difference.is_empty() => writeln!(out, "no case and no score differs")?,
        Some(difference) => out.write_all(told(difference).as_bytes())?,
    }
    if accept.reason.is_some() && lowered.is_empty() && gone.is_empty() {
        writeln!(out, "no score was lowered, so the reason is not kept")?;
    }
    out.flush()?;
    Ok(Ending::Pass)
}

/// What changed, in the order in which a reviewer should look at it.
fn told(difference: &Difference) -> String {
    let Difference { new, changed, vanished, lowered, raised, unscored, added } = difference;
    let mut text = String::new();
    let mut part = |heading: String, body: String| {
        text.push_str(&heading);
        text.push_str(&body);
        text.push('\n');
    };
    if !lowered.is_empty() {
        part(format!("{} lowered, worst first:\n", count(lowered.len(), "score")), lines(lowered));
    }
    if !unscored.is_empty() {
        let body: Vec<_> = unscored.iter().map(|(case, metric)| format!("  {case}  {metric}")).collect();
        part(format!("{} no longer there:\n", count(unscored.len(), "score")), body.join("\n"));
    }
    if !vanished.is_empty() {
        part(format!("{} vanished: ", count(vanished.len(), "case")), ids(vanished));
    }
    if !changed.is_empty() {
        part(format!("{} changed, scores not compared: ", count(changed.len(), "case")), ids(changed));
    }
    if !new.is_empty() {
        part(format!("{} new: ", count(new.len(), "case")), ids(new));
    }
    if !raised.is_empty() {
        part(format!("{} raised:\n", count(raised.len(), "score")), lines(raised));
    }
    for (metric, scores) in added {
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        part("new: ".to_owned(), format!("{metric} on {}, mean {mean:.2}", count(scores.len(), "case")));
    }
    text
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

fn ids(ids: &[CaseId]) -> String {
    ids.iter().map(CaseId::as_str).collect::<Vec<_>>().join(", ")
}

/// What would be lowered or lost, so that a reason can be given for it.
fn needs_reason(to: &Path, lowered: &[ScoreChange], gone: &[(CaseId, MetricKey)]) -> Failure {
    let mut parts = Vec::new();
    if !lowered.is_empty() {
        parts.push(format!("{} of {} would be lowered", count(lowered.len(), "score"), to.display()));
    }
    if !gone.is_empty() {
        parts.push(format!("{} of {} would be gone", count(gone.len(), "score"), to.display()));
    }
    let mut shown: Vec<String> = if lowered.is_empty() { Vec::new() } else { vec![lines(lowered)] };
    shown.extend(gone.iter().take(20).map(|(case, metric)| format!("  {case}  {metric}  gone")));
    if gone.len() > 20 {
        shown.push(format!("  and {} more", gone.len() - 20));
    }
    Failure::Input(format!("{}; say why with --reason \"...\":\n{}", parts.join(", "), shown.join("\n")))
}

fn lines(changes: &[ScoreChange]) -> String {
    let line = |change: &ScoreChange| {
        let (before, after) = digits(change.before, change.after);
        let reads_baseline = metric::find(change.metric.name()).is_some_and(Metric::reads_baseline);
        let tie = if reads_baseline { " (a tie)" } else { "" };
        format!("  {}  {}  {before}{tie} -> {after}", change.case, change.metric)
    };
    changes.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Two numbers with as many digits as it takes to tell them apart, at least three.
fn digits(before: f64, after: f64) -> (String, String) {
    let mut places = 3;
    loop {
        let (left, right) = (format!("{before:.places$}"), format!("{after:.places$}"));
        if left != right || places >= 12 {
            return (left, right);
        }
        places += 1;
    }
}
