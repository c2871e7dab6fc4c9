//! `estimate`: says what a run would ask, before it does, and asks nothing.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::Args;
use rageval_runner::{
    evaluate::{
        Replies,
        estimate::{Asked, Estimate, Samples, Source, estimate},
    },
    judge::{
        key::ReplyKeys,
        spec::{JudgeSpec, ReplyMode},
    },
    load::Policy,
    metric::METRICS,
    model::{GoldenSet, run::Run},
    report::console::spending::{money, thousands},
    store::{
        baseline::{self, Answers},
        replies::ReplyStore,
        runs,
    },
    system::{recorded, spec::SystemKind},
};

use super::gate;
use crate::{
    context::Context,
    exit::{Ending, Failure, tell},
};

/// Say what a run would ask and cost
///
/// Drives the metrics over the golden cases with stand-in replies, without network and without the system, and prints requests, tokens
/// and money, less the replies that are stored. The answers are those of the latest run, else of the baseline, else the recorded ones; a case
/// without any stands on its own reference. Ends with 1 where the estimate goes beyond the `budget` of thresholds.yaml.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo rageval estimate
  cargo rageval estimate --run target/rageval/runs/latest
  RAGEVAL_JUDGE_MODE=live cargo rageval estimate   # as if nothing were stored

Metrics of your own test binary are not known to this command.")]
pub(crate) struct EstimateRun {
    /// The run whose answers are taken [default: the latest run]
    #[arg(long, value_name = "RUN")]
    run: Option<PathBuf>,
}

/// Counts and tells.
pub(crate) fn run(command: &EstimateRun, context: &Context) -> Result<Ending, Failure> {
    let (policy, set) = gate::files(context)?;
    let mode = mode(context, &policy.judge)?;
    let samples = samples(command, context, &policy, &set)?;
    let replies = ReplyKeys::of(&policy.judge)
        .map(|keys| Replies::new(ReplyStore::new(&policy.root, policy.judge.replies.as_deref()), keys, mode));
    let estimate = estimate(&set, &policy.rules, &policy.judge.prompts, METRICS, &samples, replies.as_ref());
    let mut out = io::stdout().lock();
    for line in table(&estimate).into_iter().chain(notes(&estimate, &policy, replies.is_some())) {
        writeln!(out, "{line}")?;
    }
    let beyond = if replies.is_some() { beyond(&estimate, &policy) } else { Vec::new() };
    for line in &beyond {
        writeln!(out, "{line}")?;
    }
    out.flush()?;
    Ok(if beyond.is_empty() { Ending::Pass } else { Ending::Fail })
}

fn mode(context: &Context, judge: &JudgeSpec) -> Result<ReplyMode, Failure> {
    let Some(word) = context.judge_mode.as_deref() else { return Ok(judge.mode) };
    ReplyMode::ALL.into_iter().find(|mode| mode.as_str() == word).ok_or_else(|| {
        let modes = ReplyMode::ALL.map(ReplyMode::as_str).join(", ");
        Failure::Input(format!("RAGEVAL_JUDGE_MODE says `{word}`; it is one of {modes}, or unset"))
    })
}

/// All answers that are known. A run that is named must be readable; the latest one may be missing.
fn samples(command: &EstimateRun, context: &Context, policy: &Policy, set: &GoldenSet) -> Result<Samples, Failure> {
    let at_fault = |error: &dyn std::fmt::Display| Failure::Input(error.to_string());
    let run: Option<Run> = match &command.run {
        Some(path) => Some(runs::read(path).map_err(|error| at_fault(&error))?),
        None => {
            let latest = context.runs.join("latest");
            match latest.is_file().then(|| runs::read(&latest)) {
                Some(Ok(run)) => Some(run),
                Some(Err(error)) => {
                    tell(&format!("the latest run is not used: {error}"));
                    None
                }
                None => None,
            }
        }
    };
    let baseline = match &policy.rules.regression {
        Some(regression) => {
            let path = policy.root.join(&regression.baseline);
            match baseline::read_if_present(&path).map_err(|error| at_fault(&error))? {
                Some(accepted) => baseline::read_texts(&path)
                    .and_then(|texts| Answers::new(&path, &accepted, &texts))
                    .map_err(|error| at_fault(&error))?,
                None => Answers::default(),
            }
        }
        None => Answers::default(),
    };
    let recorded = match &policy.system.kind {
        SystemKind::Recorded(spec) => Some(recorded::open(spec, &policy.root, set).map_err(|error| at_fault(&error))?),
        SystemKind::Function | SystemKind::Command(_) | SystemKind::Http(_) => None,
    };
    Ok(Samples::new(run, baseline, recorded))
}

/// One line a request name, and one for all.
fn table(estimate: &Estimate) -> Vec<String> {
    let total = estimate.total();
    let width = estimate.requests.keys().map(String::len).max().unwrap_or_default().max("request".len());
    let row = |name: &str, cells: [String; 5]| {
        let cells: String = cells.iter().map(|cell| format!("  {cell:>13}")).collect();
        format!("{name:width$}{cells}")
    };
    let counts = |asked: &Asked| {
        [asked.requests, asked.stored, asked.to_ask(), asked.input_tokens, asked.output_tokens].map(thousands)
    };
    let head = ["requests", "stored", "to ask", "tokens read", "written"].map(str::to_owned);
    let mut lines = vec![row("request", head)];
    lines.extend(estimate.requests.iter().map(|(name, asked)| row(name, counts(asked))));
    lines.push(row("total", counts(&total)));
    lines
}

/// What the numbers stand on, and what is not in them.
fn notes(estimate: &Estimate, policy: &Policy, is_paid: bool) -> Vec<String> {
    let total = estimate.total();
    let mut notes = vec![String::new()];
    match policy.judge.price {
        _ if !is_paid => notes.push(format!("money    none: the judge is `{}`", policy.judge.provider.as_str())),
        Some(price) => notes.push(format!("money    about {}", money(estimate.usd(price)))),
        None => notes.push("money    not known: `judge.price` in thresholds.yaml says what tokens cost".to_owned()),
    }
    if let Some(budget) = policy.budget.as_ref().filter(|_| is_paid) {
        let mut limits = Vec::new();
        limits.extend(
            budget.requests.map(|most| format!("{} of {} requests", thousands(total.to_ask()), thousands(most))),
        );
        limits.extend(budget.tokens.map(|most| format!("{} of {} tokens", thousands(total.tokens()), thousands(most))));
        if let (Some(most), Some(price)) = (budget.usd, policy.judge.price) {
            limits.push(format!("{} of {most}", money(estimate.usd(price))));
        }
        limits.extend(budget.minutes.map(|most| format!("{most} minutes, of which nothing is known beforehand")));
        notes.push(format!("budget   {}", limits.join(", ")));
    }
    let cases: Vec<String> = estimate
        .cases
        .iter()
        .map(|(source, count)| {
            let on = match source {
                Source::Run => "on the answers of a run",
                Source::Baseline => "on those of the baseline",
                Source::Recorded => "on recorded answers",
                Source::StandIn => "on a stand-in made from their references",
                Source::Nothing => "not counted, since no answer or reference is known",
            };
            format!("{} {on}", thousands(*count as u64))
        })
        .collect();
    notes.push(format!("cases    {}", cases.join(", ")));
    for (name, count) in &estimate.open_ended {
        let requests = if *count == 1 { "request" } else { "requests" };
        notes.push(format!(
            "open     {name}: no stand-in reply for {} {requests}; what follows on them is not counted",
            thousands(*count)
        ));
    }
    if total.missing > 0 {
        notes.push(format!(
            "missing  {} replies are not stored, and `replay` asks for none: they would be unmeasured",
            thousands(total.missing)
        ));
    }
    notes.push("besides  what is asked again is not counted: after an error, for a reply that does not fit, to confirm a suspicion".to_owned());
    notes
}

/// The limits of the budget that a run would go beyond, one line each.
fn beyond(estimate: &Estimate, policy: &Policy) -> Vec<String> {
    let Some(budget) = &policy.budget else { return Vec::new() };
    let total = estimate.total();
    let usd = policy.judge.price.map(|price| estimate.usd(price));
    let limits = [
        ("requests", budget.requests.is_some_and(|most| total.to_ask() > most)),
        ("tokens", budget.tokens.is_some_and(|most| total.tokens() > most)),
        ("usd", budget.usd.zip(usd).is_some_and(|(most, usd)| usd > most)),
    ];
    let over = limits.iter().filter(|(_, is_over)| *is_over);
    over.map(|(name, _)| format!("beyond   `budget.{name}` at {}: a run would stop at it and be red", budget.place))
        .collect()
}
