//! A run that goes on: its records are files as they come, so that one that is interrupted can be taken up.
//!
//! The folder is that of a run of many processes until the run ends, when `run.json` takes the place of the files. Whoever runs holds a lock
//! of the kernel, which ends with its process.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    path::Path,
};

use super::{
    StoreError, ledger,
    runs::{self, ForReports, RunFolder, record_key, reports_file, write_json},
    slots::try_lock,
};
use crate::model::{
    CaseId, GoldenCase, Record,
    run::{Manifest, Run},
};

/// What a run keeps of itself until it has its `run.json`.
const UNTIL_THE_END: [&str; 2] = ["records", "slots"];
const LOCK: &str = "going.lock";

/// The folder of a run that this process is at.
#[derive(Debug)]
pub struct Going {
    folder: RunFolder,
    _held: File,
}

/// What is there of a run that was begun last.
#[derive(Debug)]
pub enum LastRun {
    /// It was interrupted: its folder, and the run as far as it came.
    Interrupted(Going, Box<Run>),
    /// It ended.
    Ended,
    /// There is none.
    None,
}

impl Going {
    /// Begins a run: says what it is made of, and that this process is at it.
    ///
    /// # Errors
    /// The folder can't be written, or is another process's.
    pub fn begin(folder: RunFolder, manifest: &Manifest, cases: BTreeSet<CaseId>) -> Result<Self, StoreError> {
        let going = Self::hold(folder)?;
        // Reports are made of runs that ended.
        going.folder.write_manifest(manifest, cases, ForReports::default)?;
        Ok(going)
    }

    fn hold(folder: RunFolder) -> Result<Self, StoreError> {
        let lock = folder.path().join(LOCK);
        match try_lock(&lock).map_err(StoreError::io(&lock))? {
            Some(held) => Ok(Self { folder, _held: held }),
            None => Err(StoreError::format(&folder.path(), "this run is still going on in another process")),
        }
    }

    /// The folder.
    pub fn folder(&self) -> &RunFolder {
        &self.folder
    }

    /// Keeps a record, so that an interrupted run has it. One with a fault is not kept: what interrupts a run breaks the calls under way
    /// first, and that is no finding about them.
    pub fn keep(&self, case: &GoldenCase, record: &Record) -> Result<(), StoreError> {
        if record.outcomes.values().any(|outcome| outcome.fault().is_some()) {
            return Ok(());
        }
        let name = format!("{}.json", record_key(case));
        write_json(&self.folder.path().join("records").join(name), record)
    }

    /// Ends a run that has its `run.json`: what was kept for the case of an interruption goes.
    pub fn end(&self) {
        // The run is whole without: what can't be removed is looked at by nobody.
        for name in UNTIL_THE_END {
            fs::remove_dir_all(self.folder.path().join(name)).ok();
        }
        let folder = self.folder.path();
        for file in [folder.join("manifest.json"), reports_file(&folder), folder.join(LOCK)] {
            fs::remove_file(file).ok();
        }
    }
}

/// The run of a target that was begun last, by its name, which starts with the time.
///
/// # Errors
/// It can't be read, or another process is at it.
pub fn last(runs: &Path, target: &str) -> Result<LastRun, StoreError> {
    let folder = runs.join(target);
    let Ok(entries) = fs::read_dir(&folder) else { return Ok(LastRun::None) };
    let names = entries.filter_map(Result::ok).filter(|entry| entry.path().is_dir());
    let Some(id) = names.filter_map(|entry| entry.file_name().into_string().ok()).max() else {
        return Ok(LastRun::None);
    };
    let folder = RunFolder::new(runs.to_owned(), target.to_owned(), id);
    let path = folder.path();
    if path.join("run.json").is_file() {
        return Ok(LastRun::Ended);
    }
    let going = Going::hold(folder)?;
    // It may have ended, or died before it had said what it is made of, while nobody held the lock.
    if path.join("run.json").is_file() {
        return Ok(LastRun::Ended);
    }
    if !path.join("manifest.json").is_file() {
        return Ok(LastRun::None);
    }
    let run = runs::read(&path)?;
    let spent = path.join("slots").join("budget");
    if spent.is_file() {
        ledger::reopen(&spent)?;
    }
    Ok(LastRun::Interrupted(going, Box::new(run)))
}
