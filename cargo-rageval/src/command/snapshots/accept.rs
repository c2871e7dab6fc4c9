//! `snapshots accept`: shows the changed verdicts of `cargo rageval run`, and accepts those that are named.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use clap::Args;
use rageval_runner::{
    harness::{Opened, Pending},
    load::did_you_mean,
    model::{CaseId, GoldenSet},
    report::console::text::visible,
};

use crate::{
    context::Context,
    exit::{Ending, Failure},
    report::console::painted,
};

/// Show changed verdicts, and accept those that are named
///
/// `cargo rageval run` leaves changed verdicts in snapshots/ as .snap.new files. cargo-insta reviews snapshots of Cargo workspaces alone, so
/// that this is the way to accept them where there is none. Without --case or --all nothing is accepted.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo rageval snapshots accept                        # shows what changed
  cargo rageval snapshots accept --case refund-window
  cargo rageval snapshots accept --all")]
pub(crate) struct Accept {
    /// Accept the verdicts of this case; may be repeated
    #[arg(long = "case", value_name = "ID", conflicts_with = "all")]
    cases: Vec<String>,
    /// Accept all of them
    #[arg(long)]
    all: bool,
}

/// Shows and accepts.
pub(crate) fn run(command: &Accept, context: &Context) -> Result<Ending, Failure> {
    let file = context.policy_that_is_there().map_err(Failure::Input)?;
    let opened = Opened::read(&file, context.metrics(&[])).map_err(Failure::Input)?;
    let folder = Opened::snapshots(opened.policy());
    let pending = Pending::of_folder(&folder).map_err(Failure::Input)?;
    let meant =
        if command.cases.is_empty() { pending.iter().collect() } else { named(command, opened.set(), &pending)? };
    let accepts = command.all || !command.cases.is_empty();
    if accepts && context.ci {
        return Err(Failure::Input("CI is set, and changed verdicts are accepted by a person".to_owned()));
    }
    let mut out = crate::out::coloured();
    for one in &meant {
        show(&mut out, one, opened.set())?;
        if accepts {
            one.accept().map_err(|error| Failure::Input(error.to_string()))?;
        }
    }
    let count = meant.len();
    let s = if count == 1 { "" } else { "s" };
    match (count, accepts) {
        (0, _) => writeln!(out, "no changed verdicts wait in {}", folder.display())?,
        (_, true) => writeln!(out, "accepted the verdicts of {count} case{s}; check them in with your change")?,
        (_, false) => writeln!(out, "{count} case{s} to look at; accept with --case ID, or --all")?,
    }
    out.flush()?;
    Ok(Ending::Pass)
}

/// The pending verdicts of the named cases.
fn named<'p>(command: &Accept, set: &GoldenSet, pending: &'p [Pending]) -> Result<Vec<&'p Pending>, Failure> {
    let of_case = |word: &String| {
        let found = CaseId::new(word.as_str()).ok().and_then(|id| pending.iter().find(|one| one.is_of(&id)));
        found.ok_or_else(|| {
            let with_changes = set.cases.iter().filter(|case| pending.iter().any(|one| one.is_of(&case.id)));
            let help = did_you_mean(word, with_changes.map(|case| case.id.as_str()));
            let help = help.unwrap_or_else(|| "without --case all that wait are shown".to_owned());
            Failure::Input(format!("no changed verdicts of a case \"{}\" wait; {help}", visible(word)))
        })
    };
    command.cases.iter().map(of_case).collect()
}

fn show(out: &mut impl Write, pending: &Pending, set: &GoldenSet) -> io::Result<()> {
    let case = set.cases.iter().find(|case| pending.is_of(&case.id));
    let name = case.map_or_else(|| "a case that is gone".to_owned(), |case| visible(case.id.as_str()));
    writeln!(out, "{}", painted(Style::new().bold(), &format!("---- {name} ----")))?;
    for line in &pending.description {
        writeln!(out, "{}", visible(line))?;
    }
    for line in &pending.difference {
        let text = line.trim_start_matches([' ', '+', '-']);
        let line = format!("{}{}", &line[..line.len() - text.len()], visible(text));
        let shown = match line.as_bytes().first() {
            Some(b'-') => painted(AnsiColor::Red.on_default(), &line),
            Some(b'+') => painted(AnsiColor::Green.on_default(), &line),
            Some(_) | None => line,
        };
        writeln!(out, "{shown}")?;
    }
    writeln!(out)
}
