//! `watch`: runs again what a changed file touches.

mod files;
mod function;
mod source;
mod touch;

use std::{
    collections::BTreeSet,
    io::{self, BufRead as _, IsTerminal as _},
    process,
    sync::{Arc, Mutex, PoisonError},
};

use clap::Args;
use rageval_runner::{
    embed::spec::EmbedderSpec,
    harness::{Opened, Order, Part, Start},
    load::Policy,
    model::{CaseId, Records},
    store::runs,
    system::spec::SystemKind,
};

use self::{
    files::Watcher,
    function::Test,
    source::Source,
    touch::{Face, Touch, touched},
};
use super::{
    decided,
    run::{self, pick::Picking, progress::Progress},
};
use crate::{
    context::Context,
    exit::{Ending, Failure, tell},
};

/// Run again what a changed file touches
///
/// Runs all cases once, then waits for changes. A changed threshold, baseline or snapshot asks nothing: the records that are there are
/// decided again. A changed or new case is asked alone, and all is decided with it. A changed judge, system or metric asks every case; a judge
/// that may cost money is asked so only after a yes, or with --yes. Of a system that is a function its own test is run: `cargo test
/// --test rag_regression`, with --exact for a changed case; its source, in the packages of the workspace, is watched too. What answers behind an endpoint or a command is not watched.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo rageval watch
  cargo rageval watch --case refund-window
  cargo rageval watch --slice language=pt --yes

Ctrl-C ends it, with 0.")]
pub(crate) struct Watch {
    #[command(flatten)]
    picking: Picking,
    /// Ask a judge that may cost money about every case without a question
    #[arg(long)]
    yes: bool,
}

/// What is known of the files as they were looked at last.
struct Known {
    face: Face,
    records: Records,
}

/// Watches until it is interrupted.
pub(crate) fn run(command: &Watch, context: &Context) -> Result<Ending, Failure> {
    let progress: &'static Mutex<Option<Progress>> = Box::leak(Box::default());
    ctrlc::set_handler(|| {
        if let Some(progress) = &*progress.lock().unwrap_or_else(PoisonError::into_inner) {
            progress.clear();
        }
        // A terminal shows the keys, and what is said then begins its own line.
        tell(if io::stderr().is_terminal() { "\nwatch ended" } else { "watch ended" });
        process::exit(0);
    })
    .map_err(|error| Failure::Input(format!("Ctrl-C cannot be handled: {error}")))?;
    let at_fault = |error: notify::Error| Failure::Input(format!("changes of files cannot be watched: {error}"));
    context.policy_that_is_there().map_err(Failure::Input)?;
    let root = std::path::absolute(&context.root).or_else(|_| std::env::current_dir())?;
    let mut watcher = Watcher::new(Source::of(context, &root)).map_err(at_fault)?;
    let mut known: Option<Known> = None;
    let mut test = Test::new(context);
    let mut problems = String::new();
    loop {
        let read = context.policy_that_is_there().and_then(|file| Opened::read(&file, context.metrics(&[])));
        let has_told = match read {
            Ok(opened) => {
                // Before the files are looked into: what changes from here on is told.
                watcher.look_at(&root, Some(opened.policy())).map_err(at_fault)?;
                let had_problems = !std::mem::take(&mut problems).is_empty();
                let has_told =
                    turn(command, context, (&opened, watcher.face(&opened)), &mut known, &mut test, progress)
                        .unwrap_or_else(|failure| {
                            crate::exit::code(Err(failure));
                            true
                        });
                // Folders that the run made, such as that of the snapshots.
                watcher.look_at(&root, Some(opened.policy())).map_err(at_fault)?;
                if had_problems && !has_told {
                    tell("mended: nothing else changed");
                }
                has_told || had_problems
            }
            Err(found) => {
                watcher.look_at(&root, None).map_err(at_fault)?;
                let is_new = found != problems;
                if is_new {
                    tell(&found);
                }
                problems = found;
                is_new
            }
        };
        if has_told {
            tell("waiting for changes; Ctrl-C ends");
        }
        watcher.wait();
    }
}

/// Does what the change since the last turn asks for; returns whether there was any.
fn turn(
    command: &Watch,
    context: &Context,
    (opened, face): (&Opened, Result<Face, String>),
    known: &mut Option<Known>,
    test: &mut Test<'_>,
    progress: &Mutex<Option<Progress>>,
) -> Result<bool, Failure> {
    let face = face.map_err(Failure::Input)?;
    let touch = match known.as_ref() {
        Some(known) => touched(&known.face, &face),
        None => Touch::All(Vec::new()),
    };
    let part = command.picking.part(opened.set()).map_err(Failure::Input)?;
    let picked: BTreeSet<CaseId> = match &part {
        Part::Whole => opened.set().cases.iter().map(|case| case.id.clone()).collect(),
        Part::Picked { cases, .. } => cases.clone(),
    };
    let touch = match touch {
        Touch::Cases(cases) => Touch::Cases(&cases & &picked),
        touch => touch,
    };
    match &touch {
        Touch::Nothing => return Ok(false),
        Touch::Decisions => tell("thresholds or what they decide by changed: nothing is asked"),
        Touch::Cases(cases) => tell(&changed(cases)),
        Touch::All(why) => {
            let count = picked.len();
            let s = if count == 1 { "" } else { "s" };
            let what = if why.is_empty() { String::new() } else { format!("{} changed: ", why.join(", ")) };
            tell(&format!("{what}asking {count} case{s}"));
            if !may_ask(command, opened.policy()) {
                return Ok(true);
            }
        }
    }
    let records = match opened.policy().system.kind {
        SystemKind::Function => {
            match (&touch, &part) {
                (Touch::Nothing, _) => {}
                (Touch::Decisions, _) => test.decisions()?,
                (Touch::Cases(cases), _) => test.cases(cases, opened.set())?,
                (Touch::All(_), Part::Whole) => test.all()?,
                (Touch::All(_), Part::Picked { cases, .. }) => test.cases(cases, opened.set())?,
            }
            Records::new()
        }
        SystemKind::Recorded(_) | SystemKind::Command(_) | SystemKind::Http(_) => {
            let stored = known.as_ref().map(|known| known.records.clone()).unwrap_or_default();
            asked(opened, part, stored, &touch, context, progress)?
        }
    };
    *known = Some(Known { face, records });
    Ok(true)
}

/// Runs what is touched, tells what was decided, and returns all records.
fn asked(
    opened: &Opened,
    part: Part,
    mut stored: Records,
    touch: &Touch,
    context: &Context,
    shown: &Mutex<Option<Progress>>,
) -> Result<Records, Failure> {
    let start = match touch {
        Touch::All(_) => Start::Anew,
        Touch::Nothing | Touch::Decisions => Start::Stored(stored),
        Touch::Cases(cases) => {
            stored.retain(|id, _| !cases.contains(id));
            Start::Stored(stored)
        }
    };
    let progress = Progress::new(context.ci);
    *shown.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress.clone());
    let surroundings = context.surroundings(run::location());
    let ended = opened.clone().run(Order { part, start }, &surroundings, progress.teller());
    progress.clear();
    let ended = ended?;
    decided::print(&ended.decisions, &ended.summary)?;
    run::tell_unanswered(&ended, &opened.policy().system.place);
    if let Some(why) = &ended.unwritten {
        return Err(run::unwritten(why));
    }
    // A run lets go of its records as they are written.
    let run = runs::read(&ended.path).map_err(|error| Failure::Input(error.to_string()))?;
    Ok(run.records.into_iter().map(|record| (record.case.clone(), Arc::new(record))).collect())
}

fn changed(cases: &BTreeSet<CaseId>) -> String {
    let names: Vec<String> = cases.iter().take(5).map(ToString::to_string).collect();
    let more = cases.len() - names.len();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    match cases.len() {
        0 => "a case that is not watched changed: nothing is asked".to_owned(),
        1 => format!("1 case changed: asking {}", names.join(", ")),
        count => format!("{count} cases changed: asking {}{more}", names.join(", ")),
    }
}

/// Whether every case may be asked: a judge that may cost money only after a yes.
fn may_ask(command: &Watch, policy: &Policy) -> bool {
    let is_hosted = policy.judge.is_hosted() || policy.embedder.as_ref().is_some_and(EmbedderSpec::is_hosted);
    if command.yes || !is_hosted {
        return true;
    }
    if !io::stdin().is_terminal() {
        tell(
            "not asked: the judge may cost money; run with --yes, or on a terminal (`cargo rageval estimate` says what it takes)",
        );
        return false;
    }
    tell("the judge may cost money (`cargo rageval estimate` says what it takes); ask? [y/N]");
    let mut line = String::new();
    let is_read = io::stdin().lock().read_line(&mut line).is_ok();
    let is_yes = is_read && matches!(line.trim(), "y" | "Y" | "yes");
    if !is_yes {
        tell("not asked: the next change asks again");
    }
    is_yes
}
