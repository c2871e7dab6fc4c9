//! `baseline`: the run that later runs are compared with, and how it changes.

mod accept;
mod readings;
mod rejudge;

use std::path::Path;

use clap::Subcommand;
use rageval_runner::{
    metric::{self, Kind, Metric},
    model::{
        CaseId, MetricKey,
        run::{Baseline as Kept, LoweredScores},
    },
    store::{
        baseline::{self, Accepted, Difference, ScoreChange},
        history,
    },
};

use crate::{
    context::Context,
    exit::{Ending, Failure},
};

/// Keep the run that later runs are compared with
#[derive(Debug, Subcommand)]
pub(crate) enum Baseline {
    Accept(accept::Accept),
    Rejudge(rejudge::Rejudge),
}

fn reason(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() { Err("say why the scores are lowered".to_owned()) } else { Ok(text.to_owned()) }
}

/// Does what the command line says.
pub(crate) fn run(baseline: &Baseline, context: &Context) -> Result<Ending, Failure> {
    match baseline {
        Baseline::Accept(accept) => accept::run(accept, context),
        Baseline::Rejudge(rejudge) => rejudge::run(rejudge, context),
    }
}

/// Whether a judge gives this score for the answer alone; what is compared with the baseline's own answer is none of these.
fn is_judged(key: &MetricKey) -> bool {
    metric::find(key.name()).is_some_and(|metric| metric.kind() == Kind::Judged && !metric.reads_baseline())
}

/// Writes a baseline in the place of an earlier one, with the reason for what it lowers; returns what it changes, line by line.
fn replace(
    to: &Path,
    earlier: Option<&Kept>,
    mut later: Accepted,
    reason: Option<&str>,
    metrics: &[&dyn Metric],
) -> Result<String, Failure> {
    let difference = earlier.map(|earlier| Difference::between(earlier, &later.baseline, metrics));
    let lowered = difference.as_ref().map_or(&[][..], |difference| &difference.lowered);
    // A score that is gone can hide any fall: the next baseline would start from nothing.
    let gone = difference.as_ref().map_or(&[][..], |difference| &difference.unscored);
    later.baseline.manifest.reasons = earlier.map(|earlier| earlier.manifest.reasons.clone()).unwrap_or_default();
    if !lowered.is_empty() || !gone.is_empty() {
        let Some(reason) = reason else { return Err(needs_reason(to, lowered, gone)) };
        let scores = lowered.iter().map(|c| (c.case.clone(), c.metric.clone(), c.before, c.after)).collect();
        let lowered = LoweredScores { reason: reason.to_owned(), scores, gone: gone.to_vec() };
        later.baseline.manifest.reasons.push(lowered);
    }
    history::check(to).map_err(|error| Failure::Input(error.to_string()))?;
    baseline::write(to, &later.baseline, &later.texts).map_err(|error| Failure::Input(error.to_string()))?;
    history::append(to, &later.baseline).map_err(|error| Failure::Input(error.to_string()))?;
    let mut text = match &difference {
        None => "the first baseline here\n".to_owned(),
        Some(difference) if difference.is_empty() => "no case and no score differs\n".to_owned(),
        Some(difference) => told(difference),
    };
    if reason.is_some() && lowered.is_empty() && gone.is_empty() {
        text.push_str("no score was lowered, so the reason is not kept\n");
    }
    Ok(text)
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
