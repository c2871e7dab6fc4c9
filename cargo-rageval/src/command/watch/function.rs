//! Runs what a change touches where the system is a function: its own test asks, and the command decides.

use std::{
    collections::BTreeSet,
    path::PathBuf,
    process::{Command, Stdio},
};

use rageval_runner::{
    model::{CaseId, GoldenSet},
    report::console::text::NO_TARGET,
    store::runs,
};

use crate::{
    command::{
        format::Format,
        gate::{self, Gate},
    },
    context::Context,
    exit::{Failure, tell},
};

/// From so many changed cases on the whole gate runs: each case alone starts a process.
const MOST_ALONE: usize = 5;

/// The test of a crate whose runs are decided again.
pub(super) struct Test<'c> {
    context: &'c Context,
    target: String,
    /// The last run of all cases.
    whole: Option<PathBuf>,
}

impl<'c> Test<'c> {
    /// The test target whose run is the latest, else `rag_regression`.
    pub(super) fn new(context: &'c Context) -> Self {
        let latest = runs::read(&context.runs.join("latest")).ok();
        let target = latest.and_then(|run| run.manifest.target).filter(|target| target != NO_TARGET);
        Self { context, target: target.unwrap_or_else(|| "rag_regression".to_owned()), whole: None }
    }

    /// Runs every trial.
    pub(super) fn all(&mut self) -> Result<(), Failure> {
        self.cargo(&[])?;
        self.whole = self.latest();
        Ok(())
    }

    /// Runs the trials of these cases.
    pub(super) fn cases(&mut self, cases: &BTreeSet<CaseId>, set: &GoldenSet) -> Result<(), Failure> {
        if cases.len() > MOST_ALONE {
            return self.all();
        }
        for case in cases.iter().filter_map(|id| set.get(id)) {
            self.cargo(&["--exact", &case.trial_name()])?;
        }
        Ok(())
    }

    /// Decides over the records of the last run of all cases.
    pub(super) fn decisions(&self) -> Result<(), Failure> {
        match &self.whole {
            Some(run) => {
                gate::run(&Gate { runs: vec![run.clone()], out: None, format: Format::Text }, self.context).map(drop)
            }
            None => Err(Failure::Input("no run of all cases is there to be decided".to_owned())),
        }
    }

    fn latest(&self) -> Option<PathBuf> {
        let name = std::fs::read_to_string(self.context.runs.join("latest")).ok()?;
        Some(self.context.runs.join(name.trim()))
    }

    fn cargo(&self, flags: &[&str]) -> Result<(), Failure> {
        let shown = if flags.is_empty() { String::new() } else { format!(" -- {}", flags.join(" ")) };
        tell(&format!("cargo test --test {}{shown}", self.target));
        let mut command = Command::new(&self.context.cargo);
        command.args(["test", "--quiet", "--test", &self.target, "--"]).args(flags);
        if !self.context.root.as_os_str().is_empty() {
            command.current_dir(&self.context.root);
        }
        // A red test is a finding, and it has said what it found.
        command.stdin(Stdio::null()).status().map(drop).map_err(Failure::Output)
    }
}
