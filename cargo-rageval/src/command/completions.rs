//! `completions`: prints what a shell needs to complete the command line.

use std::io::Write;

use clap::Args;
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
    // What cargo's word `rageval` stands before, without that word.
    let mut command = super::Rageval::augment_args(clap::Command::new(NAME));
    let mut script = Vec::new();
    clap_complete::generate(completions.shell, &mut command, NAME, &mut script);
    // clap_complete 4.6 spells a name with a hyphen in two ways in its script for bash, so that nothing behind a subcommand is completed.
    let script = String::from_utf8_lossy(&script).replace("cargo__subcmd__rageval", "cargo__rageval");
    let mut out = crate::out::stdout();
    out.write_all(script.as_bytes())?;
    out.flush()?;
    Ok(Ending::Pass)
}
