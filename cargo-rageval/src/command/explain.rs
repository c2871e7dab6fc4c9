//! `explain`: why one case got the scores that it has, from the run file and from the files that stand here.

mod account;
mod advice;
mod asked;
mod measured;
mod nearest;
mod surroundings;
mod text;

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use clap::Args;
use rageval_runner::{
    load::did_you_mean,
    model::{
        CaseId, MetricKey, Record,
        run::{Manifest, Run},
    },
    report::console::text::{listed, visible},
    store::runs,
};

use self::{account::Explanation, surroundings::Surroundings};
use crate::{
    command::format::Format,
    context::Context,
    exit::{Ending, Failure},
};

/// Explain why a case got its scores
///
/// Without METRIC: the case, what came back for it, and every metric with its outcome, rule and baseline. With METRIC: its formula with the
/// numbers of this case, claims and verdicts, further readings, and each request with its prompt, its reply and where that came from.
///
/// What was measured stands in the run; rules, formulas' parameters, prompts and keys are those of the thresholds.yaml and the cases that stand
/// here, and where these changed since the run it says so. Nothing is asked.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo rageval explain refund-window
  cargo rageval explain refund-window faithfulness
  cargo rageval explain refund-window recall@5 --run downloads/run.json
  cargo rageval explain refund-window faithfulness --full | less
  cargo rageval explain refund-window --format json

Exit code: 0 when it is printed, whatever it says; 2 where there is no such case, metric or run.")]
pub(crate) struct Explain {
    /// The case's id
    case: String,
    /// A metric of the case, as in thresholds.yaml: `faithfulness`, `recall@5`
    metric: Option<String>,
    /// A run folder, its `run.json`, or a `latest` file beside run folders [default: the latest run]
    #[arg(long, value_name = "RUN")]
    run: Option<PathBuf>,
    /// Print long texts whole
    #[arg(long)]
    full: bool,
    /// How it is printed
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// Explains and tells.
pub(crate) fn run(command: &Explain, context: &Context) -> Result<Ending, Failure> {
    let path = command.run.clone().unwrap_or_else(|| context.runs.join("latest"));
    let run = read(&path)?;
    let record = record(&run, &path, &command.case)?;
    let metric = command.metric.as_deref().map(|name| metric(record, name)).transpose()?;
    let surroundings = Surroundings::read(context, &context.metrics(&[&path]), &run.manifest);
    let explanation = Explanation::of(&run, &path, record, metric.as_ref(), &surroundings, context);
    let mut out = crate::out::stdout();
    match command.format {
        Format::Text => writeln!(out, "{}", text::lines(&explanation, command.full).join("\n"))?,
        Format::Json => {
            let json = serde_json::to_string_pretty(&explanation).map_err(|error| Failure::Output(error.into()))?;
            writeln!(out, "{json}")?;
        }
    }
    out.flush()?;
    Ok(Ending::Pass)
}

fn read(path: &Path) -> Result<Run, Failure> {
    if !path.exists() {
        return Err(Failure::Input(format!("{}: no run there; run the gate first: {}", path.display(), super::GATES)));
    }
    runs::read(path).map_err(|error| Failure::Input(error.to_string()))
}

/// The record of a case, by its id or by the name of its trial, which is what a failure prints.
fn record<'r>(run: &'r Run, path: &Path, named: &str) -> Result<&'r Record, Failure> {
    let id_of = |named: &str| CaseId::new(named).ok().map(|id| id.nfc());
    let find = |named: &str| {
        let wanted = id_of(named)?;
        run.records.iter().find(|record| record.case.nfc() == wanted)
    };
    let of_trial = named.strip_prefix("case::");
    let in_trial = || of_trial?.match_indices("::").find_map(|(at, sign)| find(&of_trial?[at + sign.len()..]));
    if let Some(record) = find(named).or_else(in_trial) {
        return Ok(record);
    }
    let ids = run.records.iter().map(|record| record.case.as_str());
    let meant = did_you_mean(named, ids.clone()).unwrap_or_else(|| {
        let ids: Vec<&str> = ids.collect();
        format!("it has {}", listed(&ids, 80))
    });
    let meant = format!("; {}", visible(&meant));
    Err(Failure::Input(format!(
        "{}: it holds no case `{}`{meant}{}",
        path.display(),
        visible(named),
        partial(&run.manifest, named)
    )))
}

/// What a partial run says of a case that it lacks.
fn partial(manifest: &Manifest, named: &str) -> String {
    if manifest.missing.iter().any(|case| case.as_str() == named) {
        return "; the case is in the golden set, and this run did not evaluate it (a filter, a shard or an interruption): run the gate again, or name another run with --run"
            .to_owned();
    }
    match &manifest.partial {
        Some(why) => format!("; the run is partial ({}): name another with --run", visible(why)),
        None => String::new(),
    }
}

/// The key of a metric that the record has an outcome of.
fn metric(record: &Record, named: &str) -> Result<MetricKey, Failure> {
    let keys: Vec<String> = record.outcomes.keys().map(ToString::to_string).collect();
    let key = MetricKey::parse(named).ok().filter(|key| record.outcomes.contains_key(key));
    key.ok_or_else(|| {
        let meant = did_you_mean(named, keys.iter().map(String::as_str));
        // A name without its cut-off is near to each of its keys.
        let begun = keys.iter().find(|key| key.split(['@', '/']).next() == Some(named));
        let meant = meant.or_else(|| begun.map(|key| format!("did you mean \"{key}\"?")));
        let meant = meant.map(|meant| format!("; {meant}")).unwrap_or_default();
        Failure::Input(format!(
            "case `{}` has no metric `{}` in this run{}; it has {}",
            record.case,
            visible(named),
            visible(&meant),
            visible(&keys.join(", "))
        ))
    })
}
