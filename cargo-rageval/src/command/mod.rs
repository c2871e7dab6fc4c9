//! The subcommands: one file each, and one line in the list.

mod baseline;
mod calibrate;
mod cases;
mod compare;
mod completions;
mod decided;
mod estimate;
mod explain;
mod format;
mod gate;
mod init;
mod judge;
mod prompts;
mod prune;
mod replies;
mod report;
mod run;
mod schema;
mod score;
mod snapshots;
mod steps;
mod watch;

use clap::{Parser, Subcommand};

use crate::{
    context::Context,
    exit::{Ending, Failure},
};

/// What cargo runs: `cargo rageval ...` starts this program with `rageval` as its first argument.
#[derive(Debug, Parser)]
#[command(name = "cargo", bin_name = "cargo")]
enum Cargo {
    Rageval(Rageval),
}

/// The quality gate of a retrieval-augmented generation system.
#[derive(Debug, clap::Args)]
#[command(
    name = "cargo-rageval",
    version,
    after_help = "The gate itself is `cargo test --test rag_regression`; of a system that needs no code of yours, `cargo rageval run`."
)]
struct Rageval {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::Init),
    Run(run::RunGate),
    Watch(watch::Watch),
    Gate(gate::Gate),
    Compare(compare::Compare),
    Report(report::Report),
    Estimate(estimate::EstimateRun),
    Explain(explain::Explain),
    Score(score::Score),
    #[command(subcommand)]
    Baseline(baseline::Baseline),
    Calibrate(calibrate::Calibrate),
    #[command(subcommand)]
    Judge(judge::Judge),
    #[command(subcommand)]
    Cases(cases::Cases),
    Prompts(prompts::Prompts),
    Steps(steps::Steps),
    #[command(subcommand)]
    Replies(replies::Replies),
    #[command(subcommand)]
    Snapshots(snapshots::Snapshots),
    Prune(prune::Prune),
    Schema(schema::Schema),
    Completions(completions::Completions),
}

/// The commands that run a gate, for a text that can't know which of them it is.
const GATES: &str = "cargo test --test rag_regression, or, where the system is no function, cargo rageval run";

/// Does what the command line says.
pub(crate) fn run(context: &Context) -> Result<Ending, Failure> {
    let Cargo::Rageval(rageval) =
        Cargo::try_parse_from(&context.arguments).map_err(|error| Failure::Usage(Box::new(error)))?;
    match rageval.command {
        Command::Init(init) => init::run(&init, context),
        Command::Run(run) => run::run(&run, context),
        Command::Watch(watch) => watch::run(&watch, context),
        Command::Gate(gate) => gate::run(&gate, context),
        Command::Compare(compare) => compare::run(&compare, context),
        Command::Report(report) => report::run(&report, context),
        Command::Estimate(estimate) => estimate::run(&estimate, context),
        Command::Explain(explain) => explain::run(&explain, context),
        Command::Score(score) => score::run(&score),
        Command::Baseline(baseline) => baseline::run(&baseline, context),
        Command::Calibrate(calibrate) => calibrate::run(&calibrate, context),
        Command::Judge(judge) => judge::run(&judge, context),
        Command::Cases(cases) => cases::run(&cases, context),
        Command::Prompts(prompts) => prompts::run(&prompts),
        Command::Steps(steps) => steps::run(&steps, context),
        Command::Replies(replies) => replies::run(&replies, context),
        Command::Snapshots(snapshots) => snapshots::run(&snapshots, context),
        Command::Prune(prune) => prune::run(&prune, context),
        Command::Schema(schema) => schema::run(&schema, context),
        Command::Completions(completions) => completions::run(&completions),
    }
}
