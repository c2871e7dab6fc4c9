//! A run that goes on: its records are files as they come, so that one that is interrupted can be taken up.
//!
//! The folder is that of a run of many processes until the run ends, when `run.json` takes the place of the files. Whoever runs holds a lock
//! of the kernel, which ends with its process.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::Write as _,
    path::Path,
};

use serde::Deserialize;

use super::{
    StoreError, ledger, readings,
    runs::{self, ForReports, RunFolder, record_key, reports_file},
    slots::try_lock,
    write_by_way_of,
};
use crate::model::{
    CaseId, GoldenCase, Record,
    run::{Manifest, Run},
};

/// What a run keeps of itself until it has its `run.json`.
const UNTIL_THE_END: [&str; 3] = ["records", "readings", "slots"];
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
    /// It was interrupted.
    Interrupted {
        /// Its folder.
        going: Going,
        /// The run as far as it came.
        run: Box<Run>,
        /// Records that can't be read, which the run is without; their files stay, under another name.
        unreadable: usize,
    },
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
    ///
    /// `text` is the record as [`runs::record_text`] gives it. Returns whether it was kept, and is a record of the folder now.
    pub fn keep(&self, case: &GoldenCase, record: &Record, text: &[u8]) -> Result<bool, StoreError> {
        if record.outcomes.values().any(|outcome| outcome.fault().is_some()) {
            return Ok(false);
        }
        let records = self.folder.path().join("records");
        let path = records.join(format!("{}.json", record_key(case)));
        // Not waited for until it is on the disk, as 10,000 of them would take minutes: a process that is killed loses nothing.
        write_by_way_of(&records, &path, |file| file.write_all(text))?;
        Ok(true)
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

/// The run of a target that was begun last, by its name, which starts with the time. Runs of some of the cases that ended are passed over:
/// whoever looks into a case after an interruption goes on afterwards.
///
/// # Errors
/// It can't be read, or another process is at it.
pub fn last(runs: &Path, target: &str) -> Result<LastRun, StoreError> {
    let folder = runs.join(target);
    let Ok(entries) = fs::read_dir(&folder) else { return Ok(LastRun::None) };
    let runs_of_target = entries.filter_map(Result::ok).filter(|entry| entry.path().is_dir());
    let mut ids: Vec<String> = runs_of_target.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    ids.sort();
    for id in ids.into_iter().rev() {
        let folder = RunFolder::new(runs.to_owned(), target.to_owned(), id);
        let path = folder.path();
        if path.join("run.json").is_file() {
            if is_of_some_cases(&path.join("run.json")) {
                continue;
            }
            return Ok(LastRun::Ended);
        }
        // It died before it had said what it is made of.
        if !path.join("manifest.json").is_file() {
            continue;
        }
        let going = Going::hold(folder)?;
        // It may have ended while nobody held the lock.
        if path.join("run.json").is_file() {
            return Ok(LastRun::Ended);
        }
        let unreadable = set_aside(&path.join("records"))?;
        let mut run = runs::read(&path)?;
        let kept = run.records.iter().map(|record| record.case.clone()).collect();
        readings::keep_whole(&path, &kept)?;
        for record in &mut run.records {
            // Who goes on finds them in their files, as they were had.
            record.readings.clear();
        }
        let spent = path.join("slots").join("budget");
        if spent.is_file() {
            ledger::reopen(&spent)?;
        }
        return Ok(LastRun::Interrupted { going, run: Box::new(run), unreadable });
    }
    Ok(LastRun::None)
}

/// Takes records that can't be read out of the way, as after a full disk or a crash of the machine; returns how many.
fn set_aside(records: &Path) -> Result<usize, StoreError> {
    let Ok(entries) = fs::read_dir(records) else { return Ok(0) };
    let mut count = 0;
    for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
        let is_record = path.extension().is_some_and(|ending| ending == "json");
        if is_record && runs::read_json::<Record>(&path).is_err() {
            fs::rename(&path, path.with_extension("unreadable")).map_err(StoreError::io(&path))?;
            count += 1;
        }
    }
    Ok(count)
}

/// Whether a run that ended says that it is partial; one that can't be read is taken for a whole one.
fn is_of_some_cases(run: &Path) -> bool {
    #[derive(Deserialize)]
    struct Head {
        manifest: OfManifest,
    }
    #[derive(Deserialize)]
    struct OfManifest {
        partial: Option<String>,
    }
    let head = fs::read(run).ok().and_then(|text| serde_json::from_slice::<Head>(&text).ok());
    head.is_some_and(|head| head.manifest.partial.is_some())
}
