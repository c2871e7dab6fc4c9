//! `completions`: prints what a shell needs to complete the command line.

use std::io::{self, Write};

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::exit::{Ending, Failure};

/// Print the completions of a shell
///
/// They complete `cargo-rageval`, the program that cargo starts: `cargo-rageval gate` and `cargo rageval gate` are the same.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo rageval completions bash > ~/.local/share/bash-completion/completions/cargo-rageval
  cargo rageval completions zsh > ~/.zfunc/_cargo-rageval
  cargo rageval completions fish > ~/.config/fish/completions/cargo-rageval.fish
  cargo rageval completions powershell >> $PROFILE")]
pub(crate) struct Completions {
    /// Whose
    shell: Shell,
}

/// What the program is called where cargo does not start it.
const NAME: &str = "cargo-rageval";

/// Prints them.
pub(crate) fn run(completions: &Completions) -> Result<Ending, Failure> {
    let cargo = super::Cargo::command();
    let Some(rageval) = cargo.get_subcommands().next() else {
        return Err(Failure::Input("the command has no subcommands".to_owned()));
    };
    let mut script = Vec::new();
    clap_complete::generate(completions.shell, &mut rageval.clone().bin_name(NAME), NAME, &mut script);
    let mut out = io::stdout().lock();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Ending::Pass)
}
