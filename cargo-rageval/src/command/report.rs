//! `report`: a run as a document for a person or another program, from the run file alone.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{Args, builder::PossibleValue};
use rageval_runner::store::{self, baseline, runs};

use super::gate;
use crate::{
    context::Context,
    exit::{Ending, Failure},
    report::{Input, REPORTERS, Reporter, lowered::Lowered, reach::Reach, view::View},
};

/// Write a report of a run
///
/// Everything is taken from the run file; nothing is asked, and no other file is read. Ends with 0 once the report is written, whatever
/// it says: `cargo rageval gate` is what fails.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo rageval report --format markdown --out comment.md
  cargo rageval report --format summary >> \"$GITHUB_STEP_SUMMARY\"
  cargo rageval report --format annotations
  cargo rageval report target/rageval/runs/latest --format junit --out junit.xml

  # what this pull request's baseline lowered against the base branch's
  git show origin/main:baselines/main.json > base.json
  cargo rageval report --format markdown --base-baseline base.json")]
pub(crate) struct Report {
    /// A run folder, a run.json or `latest` [default: the latest run]
    run: Option<PathBuf>,
    /// What it is for
    #[arg(long, value_parser = formats())]
    format: String,
    /// Write it to this file, whole or not at all; folders that are missing are made
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The base branch's baseline: what the run's baseline lowered against it is shown
    #[arg(long, value_name = "FILE")]
    base_baseline: Option<PathBuf>,
    /// The artifact that keeps the run, its folder of run folders as `runs`: the commands of `markdown`, `summary` and `annotations` read it there
    #[arg(long, value_name = "NAME")]
    artifact: Option<String>,
}

/// The names in [`REPORTERS`], each with its line of help.
fn formats() -> clap::builder::PossibleValuesParser {
    REPORTERS.iter().map(|reporter| PossibleValue::new(reporter.name).help(reporter.purpose)).into()
}

/// Writes it.
pub(crate) fn run(command: &Report, context: &Context) -> Result<Ending, Failure> {
    let wrong = |error: store::StoreError| Failure::Input(error.to_string());
    let path = named(command.run.as_deref(), context);
    let run = runs::read(&path).map_err(wrong)?;
    let read = |file| baseline::read(file).map(|base| (file, base)).map_err(wrong);
    let base = command.base_baseline.as_deref().map(read).transpose()?;
    let reporter: &Reporter = REPORTERS
        .iter()
        .find(|reporter| reporter.name == command.format)
        .ok_or_else(|| Failure::Input(format!("no report is called `{}`", command.format)))?;
    let lowered = match &base {
        Some((file, base)) => Lowered::against(&run, base, file.display().to_string()),
        None => Lowered::stored(&run),
    };
    let input = Input {
        view: View::of(&run),
        lowered,
        folder: context.folder_in_repository(),
        place: gate::place(&path),
        reach: Reach::of(command.artifact.as_deref()),
    };
    let in_folder = reporter.file.map(|file| runs::folder(&path).map(|folder| folder.join(file)).map_err(wrong));
    let in_folder = in_folder.transpose()?;
    match command.out.clone().or(in_folder) {
        Some(out) => {
            let write = |file: &mut std::fs::File| {
                let mut file = io::BufWriter::new(file);
                if reporter.is_coloured {
                    let mut bytes = Vec::new();
                    (reporter.render)(&input, &mut anstream::StripStream::new(&mut bytes))?;
                    file.write_all(&bytes)?;
                } else {
                    (reporter.render)(&input, &mut file)?;
                }
                file.flush()
            };
            store::write_piecewise(&out, write).map_err(wrong)?;
            if command.out.is_none() {
                crate::exit::tell(&format!("written: {}", out.display()));
            }
        }
        None if reporter.is_coloured => {
            let mut out = crate::out::coloured();
            (reporter.render)(&input, &mut out)?;
            out.flush()?;
        }
        None => {
            let mut out = io::BufWriter::new(crate::out::stdout());
            (reporter.render)(&input, &mut out)?;
            out.flush()?;
        }
    }
    Ok(Ending::Pass)
}

/// Where the run is that was asked for; `latest` is the last one wherever it is kept.
fn named(run: Option<&Path>, context: &Context) -> PathBuf {
    match run {
        Some(path) if path != Path::new("latest") || path.exists() => path.to_owned(),
        Some(_) | None => context.runs.join("latest"),
    }
}
