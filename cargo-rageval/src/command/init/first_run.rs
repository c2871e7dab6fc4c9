//! The first run: it keeps the verdicts of cases that have none yet, as the first snapshots.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use super::place::Place;
use crate::{
    context::Context,
    exit::{Ending, Failure},
};

/// Runs the gate once, and returns how it ended: `Faulty` where it could not be built or did not start.
///
/// Outside CI alone: `INSTA_UPDATE=unseen` writes snapshots that are not there, and never one over another.
pub(super) fn run(place: &Place, context: &Context) -> Result<Ending, Failure> {
    if place.package.is_none() {
        return Ok(match code(this()?.args(["rageval", "run"]), place)? {
            Some(0) => Ending::Pass,
            Some(1) => Ending::Fail,
            Some(3) => Ending::Undecided,
            Some(_) | None => Ending::Faulty,
        });
    }
    let test = |more: &[&str]| {
        let mut cargo = Command::new(&context.cargo);
        cargo.args(["test", "--test", super::manifest::TARGET]).args(more);
        cargo
    };
    if code(&mut test(&["--no-run"]), place)? != Some(0) {
        return Ok(Ending::Faulty);
    }
    if code(&mut test(&[]), place)? == Some(0) {
        return Ok(Ending::Pass);
    }
    // The test says red, and no more; the run that it left says whether anything failed, or nothing was measured.
    let decided = this()?.args(["rageval", "gate"]).current_dir(&place.root).stdin(Stdio::null()).output();
    Ok(match decided.ok().and_then(|output| output.status.code()) {
        Some(3) => Ending::Undecided,
        Some(_) | None => Ending::Fail,
    })
}

fn this() -> Result<Command, Failure> {
    Context::this_program().map_err(|error| Failure::Input(format!("this program can't be started again: {error}")))
}

fn code(command: &mut Command, place: &Place) -> Result<Option<i32>, Failure> {
    command.current_dir(&place.root).stdin(Stdio::null()).env("INSTA_UPDATE", "unseen");
    // Switches that accept more, and what this process set for its own folder.
    for switch in [
        "INSTA_FORCE_PASS",
        "INSTA_FORCE_UPDATE",
        "INSTA_FORCE_UPDATE_SNAPSHOTS",
        "INSTA_OUTPUT",
        "INSTA_WORKSPACE_ROOT",
    ] {
        command.env_remove(switch);
    }
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().map_err(|error| Failure::Input(format!("{name} does not start: {error}")))?;
    Ok(status.code())
}

/// Snapshots that stand in a project.
pub(super) fn snapshots(root: &Path) -> usize {
    ["tests/snapshots", "snapshots"].iter().map(|folder| count(&root.join(folder))).sum()
}

fn count(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    let of = |path: std::path::PathBuf| {
        if path.is_dir() { count(&path) } else { usize::from(path.extension().is_some_and(|ending| ending == "snap")) }
    };
    entries.map(of).sum()
}
