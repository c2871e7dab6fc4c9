//! `schema`: prints the JSON schema of a file, for editors and checkers.

use std::io::Write;

use clap::{Args, ValueEnum};

use rageval_runner::load;

use crate::{
    context::Context,
    exit::{Ending, Failure},
};

/// Print the JSON schema of a file
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo rageval schema thresholds > thresholds.schema.json
  cargo rageval schema cases > cases.schema.json

Name the file on the first line of the YAML, and editors complete and check it:
  # yaml-language-server: $schema=thresholds.schema.json")]
pub(crate) struct Schema {
    /// Which file
    file: File,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum File {
    /// Golden cases, in YAML or JSON
    Cases,
    /// Labels of `cases/calibration/`, in YAML or JSON
    Labels,
    /// `thresholds.yaml`
    Thresholds,
    /// `run.json`, which a run leaves behind
    Run,
    /// What `cargo rageval report --format json` writes
    Report,
}

/// Prints it.
pub(crate) fn run(schema: &Schema, context: &Context) -> Result<Ending, Failure> {
    let schema = match schema.file {
        File::Cases => load::schema::cases(),
        File::Labels => load::schema::labels(),
        File::Thresholds => load::schema::thresholds(&context.metrics(&[])),
        File::Run => schemars::schema_for!(rageval_runner::model::run::Run).to_value(),
        File::Report => schemars::schema_for!(crate::report::json::Report<'_>).to_value(),
    };
    let mut stdout = crate::out::stdout();
    writeln!(stdout, "{schema:#}")?;
    stdout.flush()?;
    Ok(Ending::Pass)
}
