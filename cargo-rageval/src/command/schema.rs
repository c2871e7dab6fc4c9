//! `schema`: prints the JSON schema of a file, for editors and checkers.

use std::io::{self, Write};

use clap::{Args, ValueEnum};

use crate::exit::{Ending, Failure};

/// Print the JSON schema of a file
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo rageval schema run > run.schema.json")]
pub(crate) struct Schema {
    /// Which file
    file: File,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum File {
    /// `run.json`, which a run leaves behind
    Run,
}

/// Prints it.
pub(crate) fn run(schema: &Schema) -> Result<Ending, Failure> {
    let schema = match schema.file {
        File::Run => schemars::schema_for!(rageval_runner::model::run::Run).to_value(),
    };
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{schema:#}")?;
    stdout.flush()?;
    Ok(Ending::Pass)
}
