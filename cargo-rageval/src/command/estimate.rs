//! `estimate`: says what a run would ask, before it does, and asks nothing.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use clap::Args;
use rageval_runner::{
    embed::stored::VectorKeys,
    evaluate::{
        Replies, Vectors,
        estimate::{Asked, Estimate, Samples, Source, Stored, estimate},
    },
    judge::key::ReplyKeys,
    load::Policy,
    metric::{self, Kind},
    model::{GoldenSet, MetricKey, run::Run},
    report::console::spending::{money, thousands},
    store::{
        baseline::{self, Answers},
        replies::ReplyStore,
        runs,
    },
    system::{recorded, spec::SystemKind},
};

use serde_json::{Map, Value, json};

use super::{
    format::{Format, print_json},
    gate,
};
use crate::{
    asking,
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
  RAGEVAL_JUDGE_MODE=live cargo rageval estimate   # as if nothing were stored")]
pub(crate) struct EstimateRun {
    /// The run whose answers are taken [default: the latest run]
    #[arg(long, value_name = "RUN")]
    run: Option<PathBuf>,
    /// How it is printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Counts and tells.
pub(crate) fn run(command: &EstimateRun, context: &Context) -> Result<Ending, Failure> {
    let named: Vec<&Path> = command.run.as_deref().into_iter().collect();
    let metrics = context.metrics(&named);
    let (policy, set) = gate::files(context, &metrics)?;
    let modes = policy.reply_modes(asking::mode_of(context)?);
    let samples = samples(command, context, &policy, &set)?;
    let store = |named: Option<&PathBuf>| ReplyStore::new(&policy.root, named.map(PathBuf::as_path));
    let replies =
        ReplyKeys::of(&policy.judge).map(|keys| Replies::new(store(policy.judge.replies.as_ref()), keys, modes.judge));
    let vectors = policy
        .embedder
        .as_ref()
        .and_then(|spec| Some(Vectors::new(store(spec.replies.as_ref()), VectorKeys::of(spec)?, modes.embedder)));
    let stored = Stored { replies: replies.as_ref(), vectors: vectors.as_ref() };
    let estimate = estimate(&set, &policy.rules, &policy.judge.prompts, &metrics, &samples, stored);
    let asks = |key: &&MetricKey| {
        metric::find(key.name()).is_none()
            && metrics.iter().any(|metric| metric.name() == key.name() && metric.kind() == Kind::Judged)
    };
    let elsewhere: Vec<String> = policy.rules.metrics.keys().filter(asks).map(ToString::to_string).collect();
    let bill = Bill::new(&estimate, &policy, stored);
    let beyond = beyond(&bill, &policy);
    match command.format {
        Format::Text => {
            let mut out = crate::out::stdout();
            for line in table(&estimate).iter().chain(&notes(&estimate, &policy, &bill, &elsewhere)).chain(&beyond) {
                writeln!(out, "{line}")?;
            }
            out.flush()?;
        }
        Format::Json => print_json(&as_json(&estimate, &bill, &beyond, &elsewhere))?,
    }
    Ok(if beyond.is_empty() { Ending::Pass } else { Ending::Fail })
}

/// What of an estimate may cost money: models that are code cost nothing.
struct Bill {
    /// What is asked; `None` where all models are code.
    asked: Option<Asked>,
    /// US dollars; an error names the key of the price that is not known.
    usd: Result<f64, &'static str>,
}

impl Bill {
    fn new(estimate: &Estimate, policy: &Policy, stored: Stored<'_>) -> Self {
        let of_judge = stored.replies.map(|_| (estimate.of_judge(), policy.judge.price, "judge.price"));
        let price = policy.embedder.as_ref().and_then(|embedder| embedder.price);
        let of_embedder = stored.vectors.map(|_| (estimate.of_embedder(), price, "embedder.price"));
        let mut bill = Self { asked: None, usd: Ok(0.0) };
        for (asked, price, key) in [of_judge, of_embedder].into_iter().flatten() {
            *bill.asked.get_or_insert_default() += asked;
            bill.usd = bill.usd.and_then(|usd| Ok(usd + asked.usd(price.ok_or(key)?)));
        }
        bill
    }
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

/// The same for programs. `usd` is `null` where a price is not known; without a model that may cost money it is 0.
fn as_json(estimate: &Estimate, bill: &Bill, beyond: &[String], elsewhere: &[String]) -> Value {
    let counts = |asked: &Asked| {
        json!({
            "requests": asked.requests,
            "stored": asked.stored,
            "to_ask": asked.to_ask(),
            "missing": asked.missing,
            "input_tokens": asked.input_tokens,
            "output_tokens": asked.output_tokens,
        })
    };
    let requests: Map<String, Value> =
        estimate.requests.iter().map(|(name, asked)| (name.clone(), counts(asked))).collect();
    let name = |source: &Source| match source {
        Source::Run => "run",
        Source::Baseline => "baseline",
        Source::Recorded => "recorded",
        Source::StandIn => "stand_in",
        Source::Nothing => "nothing",
    };
    let cases: Map<String, Value> =
        estimate.cases.iter().map(|(source, count)| (name(source).to_owned(), json!(count))).collect();
    json!({
        "requests": requests,
        "total": counts(&estimate.total()),
        "usd": bill.usd.ok(),
        "cases": cases,
        "open_ended": estimate.open_ended,
        "not_counted": elsewhere,
        "beyond": beyond,
    })
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
fn notes(estimate: &Estimate, policy: &Policy, bill: &Bill, elsewhere: &[String]) -> Vec<String> {
    let total = estimate.total();
    let mut notes = vec![String::new()];
    notes.push(match (bill.asked, bill.usd) {
        (None, _) => format!("money    none: the judge is `{}`", policy.judge.provider.as_str()),
        (Some(_), Ok(usd)) => format!("money    about {}", money(usd)),
        (Some(_), Err(key)) => format!("money    not known: `{key}` in thresholds.yaml says what tokens cost"),
    });
    if let Some((budget, asked)) = policy.budget.as_ref().zip(bill.asked) {
        let mut limits = Vec::new();
        limits.extend(
            budget.requests.map(|most| format!("{} of {} requests", thousands(asked.to_ask()), thousands(most))),
        );
        limits.extend(budget.tokens.map(|most| format!("{} of {} tokens", thousands(asked.tokens()), thousands(most))));
        if let (Some(most), Ok(usd)) = (budget.usd, bill.usd) {
            limits.push(format!("{} of {most}", money(usd)));
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
    if !elsewhere.is_empty() {
        let named = elsewhere.join(", ");
        notes.push(format!("besides  {named}: of a test binary, which alone knows what it asks; not counted"));
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
fn beyond(bill: &Bill, policy: &Policy) -> Vec<String> {
    let Some((budget, asked)) = policy.budget.as_ref().zip(bill.asked) else { return Vec::new() };
    let limits = [
        ("requests", budget.requests.is_some_and(|most| asked.to_ask() > most)),
        ("tokens", budget.tokens.is_some_and(|most| asked.tokens() > most)),
        ("usd", budget.usd.zip(bill.usd.ok()).is_some_and(|(most, usd)| usd > most)),
    ];
    let over = limits.iter().filter(|(_, is_over)| *is_over);
    over.map(|(name, _)| format!("beyond   `budget.{name}` at {}: a run would stop at it and be red", budget.place))
        .collect()
}
