//! `init`: gives a project its first golden cases, thresholds and test, and runs the gate once.

mod dialogue;
mod ending;
mod first_run;
mod manifest;
mod nextest;
mod place;
mod plan;
mod policy;
mod system;
mod workflow;

use std::{
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
};

use clap::Args;
use rageval_runner::{
    load,
    metric::METRICS,
    store::start::{replace, write_new},
    system::spec::SystemKind,
};

use self::{
    manifest::Runner,
    place::Place,
    plan::{Order, Plan, Step, What},
    system::{Kind, Said, System},
};
use crate::{
    context::Context,
    exit::{Ending, Failure},
};

/// Start a gate: cases, thresholds, test, workflow, and a first run
///
/// Writes what a gate needs into a crate, an empty folder, or the folder of a project in another language, and runs it once. Asks only on a terminal,
/// and only what no flag says. A file that is there is never overwritten: what it lacks is added where that keeps all of it, else named. Started
/// again, it does what is still missing, or nothing.
///
/// Ends as the first run did: 0 when it passed, 1 when something failed, 2 when it could not be built or
/// started, 3 when it could not be decided, as when the system can't be reached.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo rageval init                                        # asks
  cargo rageval init --system function                      # in a crate, or an empty folder
  cargo rageval init --crate crates/search --system function    # a member of a workspace
  cargo rageval init gate --url http://127.0.0.1:8080/ask
  cargo rageval init gate --command ./bin/rag --top-k 5     # --command comes last
  cargo rageval init gate --samples answers.jsonl           # relative to the folder; an example is written where it is missing")]
pub(crate) struct Init {
    /// Where to, made if it is missing
    #[arg(default_value = ".")]
    dir: PathBuf,
    /// What answers the questions
    #[arg(long, value_enum, value_name = "KIND")]
    system: Option<Kind>,
    /// The address of an HTTP endpoint
    #[arg(long, conflicts_with_all = ["command", "samples"])]
    url: Option<String>,
    /// A program and its arguments: all words that follow
    #[arg(long, num_args = 1.., allow_hyphen_values = true, value_name = "WORD", conflicts_with = "samples")]
    command: Vec<String>,
    /// A file of recorded answers, one JSON object a line
    #[arg(long, value_name = "FILE")]
    samples: Option<String>,
    /// The package that gets the test, relative to DIR; with a system that is no function too
    #[arg(long = "crate", value_name = "PATH")]
    package: Option<PathBuf>,
    /// Write no workflow for GitHub
    #[arg(long)]
    no_workflow: bool,
    /// Write the files, and run nothing
    #[arg(long)]
    no_run: bool,
    /// The sources of rageval-runner, in place of its published version: for work on rageval itself
    #[arg(long, value_name = "PATH", hide_short_help = true)]
    runner_path: Option<PathBuf>,
}

/// Looks, asks, writes, runs, and says what comes next.
pub(crate) fn run(init: &Init, context: &Context) -> Result<Ending, Failure> {
    if context.ci && !init.no_run {
        return Err(Failure::Input(
            "CI is set, and the first run keeps verdicts that nobody has seen, which CI must not: start here with --no-run, or on your machine"
                .to_owned(),
        ));
    }
    let folder = init.package.as_ref().map_or_else(|| init.dir.clone(), |package| init.dir.join(package));
    let said = said(init, &folder)?;
    let (system, with_test) = settle(said, init, &folder)?;
    let place = Place::find(&folder, with_test, context)?;
    let runner = match &init.runner_path {
        None => Runner::Published,
        Some(path) => {
            let path =
                std::path::absolute(path).map_err(|error| Failure::Input(format!("{}: {error}", path.display())))?;
            Runner::Path(path.display().to_string())
        }
    };
    let plan = Plan::of(&Order { place: &place, system: &system, runner: &runner, workflow: !init.no_workflow })?;
    write(&plan, &place)?;
    let went = if init.no_run || plan.blocked || first_run::snapshots(&place.root) > 0 {
        None
    } else {
        let builds =
            if place.package.is_some() { "\nThe first run builds the gate: this takes minutes once.\n" } else { "" };
        tell(&format!("\nThe first run: {}\n{builds}", ending::gate(&place)))?;
        Some(first_run::run(&place, context)?)
    };
    tell(&ending::text(&plan, &place, &system, went, init.no_run))?;
    Ok(match went {
        Some(ending) => ending,
        None if plan.blocked => Ending::Undecided,
        None => Ending::Pass,
    })
}

/// What the flags say of the system, and a policy that is there.
fn said(init: &Init, folder: &Path) -> Result<Said, Failure> {
    let by_value = [
        (init.url.is_some(), Kind::Http),
        (!init.command.is_empty(), Kind::Command),
        (init.samples.is_some(), Kind::Recorded),
    ];
    let implied = by_value.into_iter().find_map(|(is_said, kind)| is_said.then_some(kind));
    let kind = match (init.system, implied) {
        (Some(kind), Some(other)) if kind != other => {
            let text = format!("--system {} and the flag of {} contradict each other", kind.as_str(), other.as_str());
            return Err(Failure::Input(text));
        }
        (kind, implied) => kind.or(implied),
    };
    let mut said = Said { kind, url: init.url.clone(), command: init.command.clone(), samples: init.samples.clone() };
    let file = place::policy(folder);
    if !file.exists() {
        return Ok(said);
    }
    // One that can't be read here, as with metrics of the test itself, is left to the gate.
    let Ok(policy) = load::policy(&file, METRICS) else { return Ok(said) };
    let there = match policy.system.kind {
        SystemKind::Function => Kind::Function,
        SystemKind::Http(_) => Kind::Http,
        SystemKind::Command(_) => Kind::Command,
        SystemKind::Recorded(_) => Kind::Recorded,
    };
    if let Some(kind) = said.kind.filter(|kind| *kind != there) {
        return Err(Failure::Input(format!(
            "{} says `kind: {}`, and the command line {}: change the file, or say the same",
            policy.system.place,
            there.as_str(),
            kind.as_str()
        )));
    }
    said.kind = Some(there);
    // What the policy says already is not asked; no file is made of these.
    said.url.get_or_insert_with(|| "http://localhost".to_owned());
    if said.command.is_empty() {
        said.command.push("as in thresholds.yaml".to_owned());
    }
    said.samples.get_or_insert_with(String::new);
    Ok(said)
}

/// The system, and whether a package gets a test; asks on a terminal what is not said.
fn settle(mut said: Said, init: &Init, folder: &Path) -> Result<(System, bool), Failure> {
    let is_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
    if is_terminal {
        dialogue::complete(&mut said, &mut io::stdin().lock(), &mut io::stderr().lock())?;
    }
    let system = said.system().map_err(Failure::Input)?;
    let with_test = match system {
        _ if init.package.is_some() => true,
        System::Function => true,
        System::Http(_) | System::Command(_) | System::Recorded(_) => {
            let question = "Is the gate to be a test of this package too (`cargo test --test rag_regression`)?";
            let is_package = folder.join("Cargo.toml").exists();
            let has_test = folder.join("tests").join(format!("{}.rs", manifest::TARGET)).exists();
            let asked = || dialogue::agrees(&mut io::stdin().lock(), &mut io::stderr().lock(), question);
            is_package && (has_test || (is_terminal && asked()?))
        }
    };
    Ok((system, with_test))
}

/// Writes what is new, adds what is missing, and tells it line by line.
fn write(plan: &Plan, place: &Place) -> Result<(), Failure> {
    let failed = |error: rageval_runner::store::StoreError| {
        Failure::Input(format!(
            "{error}\nwhat was written before stays; started again, `cargo rageval init` goes on from there"
        ))
    };
    let mut left = Vec::new();
    for Step { path, what } in &plan.steps {
        let name = place.shown(path);
        match what {
            What::New(text) => {
                write_new(path, text).map_err(failed)?;
                tell(&format!("wrote    {name}"))?;
            }
            What::Change { earlier, text, added } => {
                replace(path, earlier, text).map_err(failed)?;
                tell(&format!("changed  {name}: {added}"))?;
            }
            What::Left(None) => left.push(name),
            What::Left(Some(by_hand)) => tell(&format!("left     {name}: {by_hand}"))?,
        }
    }
    let is_nothing = plan.steps.iter().all(|step| matches!(step.what, What::Left(_)));
    if !left.is_empty() {
        tell(&format!("left     as they stand: {}", left.join(", ")))?;
    }
    if is_nothing {
        tell("Nothing was written: all of it is there.")?;
    }
    Ok(())
}

fn tell(text: &str) -> Result<(), Failure> {
    let mut out = crate::out::stdout();
    writeln!(out, "{text}")?;
    out.flush()?;
    Ok(())
}
