//! Run folders: one a run, with `run.json`, or with a file a record where each test is a process.
//!
//! `target/rageval/runs/<package>.<target>/<id>/`. One process keeps its records in a [spool](super::spool) and writes `run.json` at the end.
//! Many processes (cargo-nextest) share the folder of `NEXTEST_RUN_ID`: `records/`, `readings/` and `decisions/` hold one file each, `told/` what a process alone knows, `locks/`
//! one lock a case, so that each case is evaluated once, by whoever comes first. [`read`] takes either form.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Component, Path, PathBuf},
    time::SystemTime,
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    StoreError,
    ledger::{self, Ledger},
    minute::MinuteLimit,
    readings,
    slots::{Backoff, Limit, try_lock},
    spool::Spool,
    write_atomically,
};
use crate::model::{
    Budget, CaseId, CaseScores, GoldenCase, Record,
    background::{Background, CaseBackground},
    run::{Decision, Manifest, Run},
};
use crate::report::{
    console,
    told::{self, Told},
};

mod written;

pub use written::{Parts, WholeRecord, record_text, write};

/// What `format` says in a run file.
pub const FORMAT: &str = "rageval-run";
/// Version of the run file that this version writes; it reads those before. Version 2 holds requests to an embedder and endings that a
/// reader of version 1 does not know; version 3 holds further readings, without which a reader of version 2 would decide otherwise;
/// version 4 holds what reports show, which a reader of version 3 would drop when it writes a run anew.
pub const VERSION: u32 = 4;
/// Run folders that are kept a target; older ones are removed when a run ends.
const KEPT: usize = 20;

/// The folder of one run.
#[derive(Debug, Clone)]
pub struct RunFolder {
    runs: PathBuf,
    target: String,
    id: String,
}

/// What a folder of many processes says about its run; written by the first that has read the whole set.
#[derive(Debug, Serialize, Deserialize)]
struct SharedManifest {
    version: u32,
    manifest: Manifest,
    cases: BTreeSet<CaseId>,
}

impl RunFolder {
    /// The folder of the run `id` of a test target, below `runs`. Nothing is made yet.
    pub fn new(runs: PathBuf, target: String, id: String) -> Self {
        Self { runs, target, id }
    }

    /// The run's name.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The folder.
    pub fn path(&self) -> PathBuf {
        self.runs.join(&self.target).join(&self.id)
    }

    /// A limit on calls under way that holds over all processes of this run.
    pub fn limit(&self, what: &str, places: usize) -> Limit {
        Limit::across_processes(self.path().join("slots").join(what), places)
    }

    /// Limits a minute for one kind of request, over all processes of the run.
    pub fn minute(&self, what: &str, requests: Option<usize>, tokens: Option<usize>) -> Option<MinuteLimit> {
        MinuteLimit::new(self.path().join("slots").join(format!("{what}.minute")), requests, tokens)
    }

    /// What all processes of the run spend, against its budget.
    pub fn ledger(&self, budget: Option<&Budget>) -> Ledger {
        Ledger::across_processes(budget, ledger_file(&self.path()))
    }

    /// Where the processes of this run tell each other what they are asking.
    pub fn claims(&self, what: &str) -> PathBuf {
        self.path().join("claims").join(what)
    }

    /// The record of a case, where some process has evaluated it already.
    pub fn record(&self, case: &GoldenCase) -> Result<Option<Record>, StoreError> {
        read_json(&self.file("records", &record_key(case)))
    }

    /// The record of a case: read when it is there, else evaluated under the case's lock and written, so that it is evaluated once.
    pub async fn record_or<F>(&self, case: &GoldenCase, evaluate: F) -> Result<Record, StoreError>
    where
        F: AsyncFnOnce() -> Record,
    {
        let key = record_key(case);
        let path = self.file("records", &key);
        let lock = self.path().join("locks").join(format!("{key}.lock"));
        let mut pause = Backoff::default();
        loop {
            if let Some(record) = read_json(&path)? {
                return Ok(record);
            }
            // Held until the end of this turn; the kernel frees it when this process dies.
            let held = try_lock(&lock).map_err(StoreError::io(&lock))?;
            if held.is_some() {
                if let Some(record) = read_json(&path)? {
                    return Ok(record);
                }
                let record = evaluate().await;
                write_json(&path, &record)?;
                return Ok(record);
            }
            pause.wait().await;
        }
    }

    /// Keeps what was decided about one trial.
    pub fn write_decision(&self, decision: &Decision) -> Result<(), StoreError> {
        write_json(&self.file("decisions", &hash(&decision.trial)), decision)
    }

    /// Keeps what the process that ran these trials alone can tell.
    pub fn write_told(&self, trials: &str, told: &Told) -> Result<(), StoreError> {
        write_json(&self.file("told", &hash(trials)), told)
    }

    /// Says what the run is made of and what reports show of it, when no other process has.
    pub fn write_manifest(
        &self,
        manifest: &Manifest,
        cases: BTreeSet<CaseId>,
        shown: impl FnOnce() -> ForReports,
    ) -> Result<(), StoreError> {
        let path = self.path().join("manifest.json");
        if path.exists() {
            return Ok(());
        }
        write_json(&reports_file(&self.path()), &shown())?;
        // Last, since it says that the folder is a run.
        write_json(&path, &SharedManifest { version: VERSION, manifest: manifest.clone(), cases })
    }

    /// Writes `run.json` into the folder.
    pub fn write_run(&self, parts: Parts<'_>) -> Result<PathBuf, StoreError> {
        write(&self.path(), parts)
    }

    /// Where this process puts records that are finished: beside the folders of runs, as one that is killed must leave none that says nothing.
    pub fn spool(&self) -> Spool {
        Spool::new(self.runs.clone())
    }

    /// Names this run the latest, of its target and of all.
    pub fn name_latest(&self) -> Result<(), StoreError> {
        let of_all = self.runs.join("latest");
        let name = format!("{}/{}", self.target, self.id);
        if fs::read_to_string(&of_all).is_ok_and(|named| named == name) {
            return Ok(());
        }
        write_atomically(&self.runs.join(&self.target).join("latest"), self.id.as_bytes())?;
        write_atomically(&of_all, name.as_bytes())
    }

    /// Names this run the latest, and removes the oldest folders beyond the last 20 of its target.
    pub fn finish(&self) -> Result<(), StoreError> {
        self.name_latest()?;
        let target = self.runs.join(&self.target);
        let mut folders: Vec<(SystemTime, PathBuf)> = fs::read_dir(&target)
            .map_err(StoreError::io(&target))?
            .filter_map(Result::ok)
            .filter(|entry| entry.file_name() != self.id.as_str() && entry.path().is_dir())
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .filter(|(modified, folder)| has_ended(folder, *modified))
            .collect();
        folders.sort();
        let surplus = (folders.len() + 1).saturating_sub(KEPT);
        for (_, folder) in folders.into_iter().take(surplus) {
            // Another process may remove the same one; what is gone is gone.
            fs::remove_dir_all(&folder).ok();
        }
        Ok(())
    }

    fn file(&self, kind: &str, name: &str) -> PathBuf {
        self.path().join(kind).join(format!("{name}.json"))
    }
}

/// What a run file holds for reports alone.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ForReports {
    /// The golden cases, in the order of the set.
    pub cases: Vec<CaseBackground>,
    /// Rules and baseline.
    pub background: Background,
}

/// Where a folder of many processes keeps what reports show.
pub(super) fn reports_file(run: &Path) -> PathBuf {
    run.join("reports.json")
}

/// Where the processes of a run keep what they spent.
fn ledger_file(run: &Path) -> PathBuf {
    run.join("slots").join("budget")
}

/// Whether nobody writes into a run folder any more: it has its `run.json`, or nothing was added for a day.
fn has_ended(folder: &Path, modified: SystemTime) -> bool {
    let a_day = std::time::Duration::from_secs(24 * 3600);
    folder.join("run.json").is_file() || modified.elapsed().is_ok_and(|age| age > a_day)
}

/// The folder that a `latest` file names; `None` for any other path.
fn latest(path: &Path) -> Result<Option<PathBuf>, StoreError> {
    if path.file_name().is_none_or(|name| name != "latest") || !path.is_file() {
        return Ok(None);
    }
    let name = fs::read_to_string(path).map_err(StoreError::io(path))?;
    let name = Path::new(name.trim());
    // Nothing but a run below the folder of runs was ever named there.
    if name.components().any(|part| !matches!(part, Component::Normal(_))) {
        return Err(StoreError::format(path, format!("it names no run of this folder: {}", name.display())));
    }
    let folder = path.parent().unwrap_or_else(|| Path::new(".")).join(name);
    if !folder.exists() {
        let why = format!(
            "the latest run, {}, is not there: it did not end, or was removed; run the gate again",
            name.display()
        );
        return Err(StoreError::format(path, why));
    }
    Ok(Some(folder))
}

/// The folder of a run that is named as [`read`] takes it.
pub fn folder(path: &Path) -> Result<PathBuf, StoreError> {
    match latest(path)? {
        Some(folder) => Ok(folder),
        None if path.is_dir() => Ok(path.to_owned()),
        None => Ok(path.parent().unwrap_or_else(|| Path::new(".")).to_owned()),
    }
}

/// Reads a run: a `run.json`, a run folder of either form, or a `latest` file.
///
/// # Errors
///
/// Where it can't be read, is of a newer version, or does not fit together: a record, a case or a decision that stands twice, a decision
/// about no case of the run.
pub fn read(path: &Path) -> Result<Run, StoreError> {
    if let Some(folder) = latest(path)? {
        return read(&folder);
    }
    let run = if path.is_dir() {
        let whole = path.join("run.json");
        if whole.is_file() { read_file(&whole) } else { read_shared(path) }
    } else {
        read_file(path)
    }?;
    match run.contradiction() {
        Some(why) => Err(StoreError::format(path, format!("{why}; run the gate again"))),
        None => Ok(run),
    }
}

/// Reads one `run.json`.
fn read_file(path: &Path) -> Result<Run, StoreError> {
    let text = fs::read_to_string(path).map_err(StoreError::io(path))?;
    // An editor may have put a byte order mark there.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    check_version(path, text)?;
    serde_json::from_str(text).map_err(|error| StoreError::format(path, format!("not a readable run: {error}")))
}

/// Refuses what is no run file, and what a newer version wrote, before its fields are looked at.
fn check_version(path: &Path, text: &str) -> Result<(), StoreError> {
    #[derive(Deserialize)]
    struct Head {
        format: Option<String>,
        version: Option<u32>,
    }
    let head: Head = serde_json::from_str(text).map_err(|error| {
        StoreError::format(path, format!("not a run file ({error}); name a run folder or its run.json"))
    })?;
    match (head.format.as_deref(), head.version) {
        (Some(FORMAT), Some(1..=VERSION)) => Ok(()),
        (Some(FORMAT), Some(version)) if version > VERSION => Err(newer(path, version)),
        (Some(FORMAT), version) => {
            Err(StoreError::format(path, format!("unknown version {version:?} of the run format")))
        }
        (format, _) => {
            let format = format.unwrap_or("nothing");
            Err(StoreError::format(path, format!("its `format` says {format}, a run file says {FORMAT}")))
        }
    }
}

fn newer(path: &Path, version: u32) -> StoreError {
    let why = format!("written by a newer rageval (format {version}, this one reads up to {VERSION}); update rageval");
    StoreError::format(path, why)
}

/// Puts a run together from the files of many processes.
fn read_shared(folder: &Path) -> Result<Run, StoreError> {
    let path = folder.join("manifest.json");
    let Some(value) = read_json::<serde_json::Value>(&path)? else {
        let why = "no run.json and no manifest.json: the run did not end, or only single cases ran; run the gate again";
        return Err(StoreError::format(folder, why));
    };
    match value.get("version").and_then(serde_json::Value::as_u64).and_then(|version| u32::try_from(version).ok()) {
        Some(1..=VERSION) => {}
        Some(version) if version > VERSION => return Err(newer(&path, version)),
        version => return Err(StoreError::format(&path, format!("unknown version {version:?} of the run format"))),
    }
    let shared: SharedManifest =
        serde_json::from_value(value).map_err(|error| StoreError::format(&path, error.to_string()))?;
    let mut records: Vec<Record> = read_all(&folder.join("records"))?;
    readings::join(folder, &mut records)?;
    records.sort_by(|a, b| a.case.cmp(&b.case));
    let mut decisions: Vec<Decision> = read_all(&folder.join("decisions"))?;
    decisions.sort_by(|a, b| a.trial.cmp(&b.trial));
    let held: BTreeSet<&CaseId> = records.iter().map(|record| &record.case).collect();
    let mut manifest = shared.manifest;
    manifest.spent = ledger::read(&ledger_file(folder))?;
    manifest.missing = shared.cases.iter().filter(|id| !held.contains(id)).cloned().collect();
    let ForReports { cases, mut background } = read_json(&reports_file(folder))?.unwrap_or_default();
    background.notices.splice(0..0, console::readings::notices(&CaseScores::of_all(&records)));
    let spent = manifest.spent.as_ref().map(|spent| console::spending::line(spent, &Budget::default()));
    background.notices.extend(spent.map(|spent| format!("spent: {spent}")));
    background.notices.extend(told::joined(&read_all::<Told>(&folder.join("told"))?));
    Ok(Run { format: FORMAT.to_owned(), version: VERSION, manifest, records, decisions, cases, background })
}

pub(super) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, StoreError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(StoreError::Io { path: path.to_owned(), source }),
    };
    serde_json::from_slice(&bytes).map(Some).map_err(|error| StoreError::format(path, error.to_string()))
}

pub(super) fn read_all<T: DeserializeOwned>(folder: &Path) -> Result<Vec<T>, StoreError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(StoreError::Io { path: folder.to_owned(), source }),
    };
    let mut items = Vec::new();
    for entry in entries {
        let path = entry.map_err(StoreError::io(folder))?.path();
        // Temporary files of writers that were killed have no such ending.
        if path.extension().is_some_and(|ending| ending == "json") {
            items.extend(read_json(&path)?);
        }
    }
    Ok(items)
}

pub(super) fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), StoreError> {
    let text = serde_json::to_vec(value).map_err(|error| StoreError::format(path, error.to_string()))?;
    write_atomically(path, &text)
}

/// A record is of a case as it was written: a case that is edited while the run goes on is another one.
pub(super) fn record_key(case: &GoldenCase) -> String {
    hash(&format!("{}\n{}", case.id, case.digest()))
}

pub(super) fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..32].to_owned()
}

/// The commit that is checked out at `folder`; `None` outside a work tree, or where git is not installed.
pub fn git_revision(folder: &Path) -> Option<String> {
    let output = std::process::Command::new("git").arg("-C").arg(folder).args(["rev-parse", "HEAD"]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let revision = text.trim();
    (output.status.success() && !revision.is_empty()).then(|| revision.to_owned())
}

#[cfg(test)]
mod tests;
