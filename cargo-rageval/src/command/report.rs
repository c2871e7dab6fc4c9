//! `report`: a run as a report.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::Args;
use rageval_runner::store::runs;

use crate::{
    context::Context,
    exit::{Ending, Failure},
    report::{html, view::View},
};

/// Write a report of a run
#[derive(Debug, Args)]
pub(crate) struct Report {
    /// A run folder or run.json [default: the latest run]
    run: Option<PathBuf>,
    /// The format
    #[arg(long)]
    format: String,
}

/// Writes it.
pub(crate) fn run(command: &Report, context: &Context) -> Result<Ending, Failure> {
    let path = command.run.clone().unwrap_or_else(|| context.runs.join("latest"));
    let run = runs::read(&path).map_err(|error| Failure::Input(error.to_string()))?;
    if command.format != "html" {
        return Err(Failure::Input(format!("no report is called {}", command.format)));
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    html::render(&View::of(&run), &mut out)?;
    out.flush()?;
    Ok(Ending::Pass)
}
