//! `run`: the whole gate of a system that needs no code of the user's.

pub(super) mod pick;
pub(super) mod progress;

use std::{
    collections::BTreeSet,
    io::{self, Write},
    path::Path,
    process,
};

use clap::{Args, ValueEnum};
use rageval_runner::{
    Location,
    harness::{Ended, Opened, Order, Part, Start},
    load::Policy,
    metric,
    model::{
        GoldenSet, MetricKey, Place,
        run::{Conclusion, Decision, Ruling, Run},
    },
    report::console::text::visible,
    store::runs,
};
use serde::Serialize;

use self::{
    pick::{Picking, failed},
    progress::Progress,
};
use super::decided;
use crate::{
    context::Context,
    exit::{Ending, Failure, tell},
};

/// Run the gate of an HTTP endpoint, a command or recorded answers
///
/// Asks the system every question, has the answers judged and decides every case and gate, as `cargo test --test rag_regression` does for a
/// system that is a function: the same thresholds.yaml, baseline, calibration, lock and snapshots, and a run folder that every other
/// command takes. The snapshots stand in snapshots/ beside thresholds.yaml. Records are kept as they come, so that a run that was
/// interrupted goes on with --resume.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo rageval run
  cargo rageval run --case refund-window --case refund-late
  cargo rageval run --slice language=pt
  cargo rageval run --failed             # the cases that were red in the last run
  cargo rageval run --resume             # after Ctrl-C
  cargo rageval run --format json > run-result.json

With --case, --slice or --failed no gate is decided, since a gate is one over all of its cases.
Ends with 0 where all passed, 1 where a case or gate failed, 2 where a file or the command line is wrong,
3 where something could not be decided, 130 where it was interrupted.")]
pub(crate) struct RunGate {
    #[command(flatten)]
    picking: Picking,
    /// Only the cases that were red in the last run
    #[arg(long)]
    failed: bool,
    /// Go on with the run that was interrupted: what is stored of it is not asked again
    #[arg(long)]
    resume: bool,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// How the result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Red decisions, then the summary.
    Text,
    /// One JSON object on standard output.
    Json,
}

impl RunGate {
    /// The flags that say which cases run.
    fn flags(&self) -> String {
        let failed = if self.failed { " --failed" } else { "" };
        format!("{}{failed}", self.picking.flags())
    }
}

/// Runs and tells.
pub(crate) fn run(command: &RunGate, context: &Context) -> Result<Ending, Failure> {
    let file = context.policy_that_is_there().map_err(Failure::Input)?;
    let opened = Opened::read(&file, context.metrics(&[])).map_err(Failure::Input)?;
    if let Some(why) = of_a_test(opened.policy(), opened.set()) {
        return Err(Failure::Input(why));
    }
    let mut part = command.picking.part(opened.set()).map_err(Failure::Input)?;
    if command.failed {
        let last = last_run(context)?;
        part = match failed(part, &last, opened.set()) {
            Some(part) => part,
            None => {
                let why = nothing_red(&last);
                tell(&why);
                // A gate that was red still is: nothing was run that could have changed that. What a part leaves open stays open too.
                let conclusion = match Conclusion::of(&last.decisions) {
                    Conclusion::Pass if is_part(&last) => Conclusion::Undecided,
                    conclusion => conclusion,
                };
                if command.format == Format::Json {
                    print_json(&Report::new(None, Some(&why), conclusion, &[]))?;
                }
                return Ok(conclusion.into());
            }
        };
    }
    let is_whole = part == Part::Whole;
    let start = if command.resume { Start::Resumed } else { Start::Anew };
    let asked = opened.policy().system.place.clone();
    let progress = Progress::new(context.ci);
    on_interruption(progress.clone(), command.flags())?;
    let ended = opened.run(Order { part, start }, &context.surroundings(location()), progress.teller());
    progress.clear();
    let ended = ended?;
    let ending = match Conclusion::of(&ended.decisions).into() {
        Ending::Undecided | Ending::Pass if ended.lacks_baseline && is_whole => Ending::Faulty,
        ending => ending,
    };
    match command.format {
        Format::Text => {
            decided::print(&ended.decisions, &ended.summary)?;
            tell_unanswered(&ended, &asked);
        }
        Format::Json => {
            let folder = ended.path.parent().filter(|_| ended.unwritten.is_none());
            let conclusion = Conclusion::of(&ended.decisions);
            print_json(&Report::new(folder, ended.manifest.partial.as_deref(), conclusion, &ended.decisions))?;
        }
    }
    if let Some(why) = &ended.unwritten {
        return Err(unwritten(why));
    }
    Ok(ending)
}

/// What to say of a run that was decided and could not be written.
pub(super) fn unwritten(why: &str) -> Failure {
    Failure::Input(format!(
        "the run file cannot be written: {why}\nwhat was asked is kept: make room, then `cargo rageval run --resume`"
    ))
}

/// Where insta is called; our own comparison decides.
pub(super) fn location() -> Location {
    rageval_runner::location!()
}

/// Says what to do where the system answered no question at all: what is wrong is rather the system than its cases.
pub(super) fn tell_unanswered(ended: &Ended, system: &Place) {
    if ended.is_unanswered {
        tell(&format!(
            "the system answered no question: is it running, and does `system` ({system}) say where? The causes stand above"
        ));
    }
}

/// What is said where no case is to be run again.
fn nothing_red(last: &Run) -> String {
    let id = &last.manifest.run_id;
    match last.decisions.iter().filter(|decision| decision.ruling.is_red()).count() {
        0 if is_part(last) => {
            let part = last.manifest.partial.as_deref().unwrap_or("cases are missing in it");
            format!(
                "nothing was red in the last run, {id}, but it was partial ({part}): run all cases with `cargo rageval run`",
                part = visible(part)
            )
        }
        0 => format!("nothing was red in the last run, {id}: there is nothing to run"),
        gates => {
            let s = if gates == 1 { "" } else { "s" };
            format!(
                "no case was red in the last run, {id}, and {gates} gate{s} still: `cargo rageval run` runs all cases"
            )
        }
    }
}

/// Whether a run leaves cases or gates open, of which it can't say that they are not red.
fn is_part(run: &Run) -> bool {
    run.manifest.partial.is_some() || !run.manifest.missing.is_empty()
}

fn last_run(context: &Context) -> Result<Run, Failure> {
    let latest = context.runs.join("latest");
    if !latest.is_file() {
        let why = format!("--failed: there is no last run in {}; run all cases first", context.runs.display());
        return Err(Failure::Input(why));
    }
    runs::read(&latest).map_err(|error| Failure::Input(format!("--failed: {error}")))
}

/// Why these files are no run of this command's: metrics of a test binary, which alone can measure them.
fn of_a_test(policy: &Policy, set: &GoldenSet) -> Option<String> {
    let keys = policy.rules.metrics.keys().chain(set.cases.iter().flat_map(|case| case.bars.keys()));
    let names: BTreeSet<&str> = keys.map(MetricKey::name).collect();
    let own: Vec<&str> = names.into_iter().filter(|name| metric::find(name).is_none()).collect();
    (!own.is_empty()).then(|| {
        let named = own.join(", ");
        format!("thresholds.yaml or a case names {named}: of a test binary, which alone can measure that; run the test: cargo test")
    })
}

/// Ends at once on Ctrl-C, and says how to go on: every record that is there is a whole file.
fn on_interruption(progress: Progress, flags: String) -> Result<(), Failure> {
    let interrupted = move || {
        progress.clear();
        match progress.cases() {
            Some((done, cases)) => {
                let again = format!("cargo rageval run --resume{flags}");
                tell(&format!("interrupted: {done} of {cases} cases are done; go on with: {again}"));
            }
            None => tell("interrupted: nothing was asked"),
        }
        process::exit(130);
    };
    ctrlc::set_handler(interrupted).map_err(|error| Failure::Input(format!("Ctrl-C cannot be handled: {error}")))
}

/// What `--format json` prints.
#[derive(Serialize)]
struct Report<'a> {
    /// The run folder; `null` where there was nothing to run.
    run: Option<String>,
    /// What it came to: `pass`, `fail` or `undecided`, as in the JSON report.
    conclusion: Conclusion,
    /// Why the run is partial; absent where it is whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    partial: Option<&'a str>,
    counts: Counts,
    decisions: &'a [Decision],
}

impl<'a> Report<'a> {
    fn new(run: Option<&Path>, partial: Option<&'a str>, conclusion: Conclusion, decisions: &'a [Decision]) -> Self {
        let is_case = |decision: &&Decision| decision.trial.starts_with("case::");
        let counts = Counts {
            cases: Rulings::of(decisions.iter().filter(is_case)),
            gates: Rulings::of(decisions.iter().filter(|decision| !is_case(decision))),
        };
        Self { run: run.map(|run| run.display().to_string()), conclusion, partial, counts, decisions }
    }
}

#[derive(Serialize)]
struct Counts {
    cases: Rulings,
    /// Everything else that was decided.
    gates: Rulings,
}

#[derive(Default, Serialize)]
struct Rulings {
    pass: usize,
    fail: usize,
    inconclusive: usize,
    undecided: usize,
}

impl Rulings {
    fn of<'d>(decisions: impl Iterator<Item = &'d Decision>) -> Self {
        let mut rulings = Self::default();
        for decision in decisions {
            *match decision.ruling {
                Ruling::Pass => &mut rulings.pass,
                Ruling::Fail => &mut rulings.fail,
                Ruling::Inconclusive => &mut rulings.inconclusive,
                Ruling::Undecided => &mut rulings.undecided,
            } += 1;
        }
        rulings
    }
}

fn print_json(report: &Report<'_>) -> io::Result<()> {
    let mut out = crate::out::stdout();
    serde_json::to_writer(&mut out, report)?;
    writeln!(out)?;
    out.flush()
}
