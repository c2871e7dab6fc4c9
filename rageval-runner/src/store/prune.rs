//! What runs leave behind and nobody needs: run folders beyond the newest, locks of runs that have ended, files of writers that died.
//!
//! Only what has the form of ours is looked at, below the folder of run folders; symbolic links are never followed and never removed.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Component, Path, PathBuf},
    time::{Duration, SystemTime},
};

use super::StoreError;

/// Age after which nobody is still writing a temporary file.
const WRITTEN: Duration = Duration::from_secs(3600);

/// Age after which a run without `run.json` gets no more cases.
const ENDED: Duration = Duration::from_secs(24 * 3600);

/// What `slots/` of a run holds that its readers need: what it spent.
const LEDGER: &str = "budget";

/// The runs of one test target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfTarget {
    /// Its folder.
    pub folder: PathBuf,
    /// Runs that stay.
    pub kept: usize,
    /// Run folders beyond the newest, oldest first.
    pub surplus: Vec<Leftover>,
    /// Locks of ended runs that stay, and temporary files of writers that died.
    pub stale: Vec<Leftover>,
}

/// A file or folder that nobody needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Where it is.
    pub path: PathBuf,
    /// Bytes that are freed.
    pub bytes: u64,
}

/// Everything below the folder of run folders that can go when the newest `keep` runs of each target stay. What `latest` names stays
/// whatever its age, and so does a run that may be going on.
///
/// # Errors
/// A folder cannot be read. The folder of run folders, or `rageval` around it, is a symbolic link. A `latest` file can't be read or names no
/// run below its folder: nobody knows then which run it would keep.
pub fn leftovers(runs: &Path, keep: usize) -> Result<Vec<OfTarget>, StoreError> {
    let around = runs.parent().filter(|folder| folder.file_name().is_some_and(|name| name == "rageval"));
    for folder in [Some(runs), around].into_iter().flatten() {
        if folder.is_symlink() {
            let why = "this is a symbolic link, which is not followed, and nothing was removed; \
                       set RAGEVAL_RUNS to the folder of run folders itself";
            return Err(StoreError::format(folder, why));
        }
    }
    let latest_of_all = named(&runs.join("latest"))?;
    let mut targets = Vec::new();
    for folder in folders(runs)? {
        let target = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let mut spared: BTreeSet<String> = named(&folder.join("latest"))?.into_iter().collect();
        spared.extend(
            latest_of_all.as_deref().and_then(|name| name.strip_prefix(&target)?.strip_prefix('/')).map(str::to_owned),
        );
        let mut all: Vec<(SystemTime, PathBuf)> = Vec::new();
        for run in folders(&folder)?.into_iter().filter(|run| is_run(run)) {
            all.push((modified(&run)?, run));
        }
        if all.is_empty() {
            continue;
        }
        // Newest first; of the same moment in the order of the names, so that a dry run tells what the next one does.
        all.sort_by(|a, b| b.cmp(a));
        let may_go = |place: usize, run: &Path, at: SystemTime| {
            let name = run.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            place >= keep && !spared.contains(name) && has_ended(run, at)
        };
        let mut of = OfTarget { folder, kept: 0, surplus: Vec::new(), stale: Vec::new() };
        for (place, (at, run)) in all.into_iter().enumerate() {
            if may_go(place, &run, at) {
                of.surplus.push(leftover(run)?);
            } else {
                of.kept += 1;
                of.stale.extend(stale_in(&run, at)?);
            }
        }
        of.surplus.reverse();
        targets.push(of);
    }
    Ok(targets)
}

/// Removes one of them; whether it was still there.
///
/// # Errors
/// It cannot be removed.
pub fn remove(leftover: &Leftover) -> Result<bool, StoreError> {
    let path = &leftover.path;
    let removed = match fs::symlink_metadata(path) {
        // Neither looks behind a link: the one refuses it, the other removes the link itself.
        Ok(data) if data.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Ok(()) => Ok(true),
        // Another process was first.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(StoreError::Io { path: path.clone(), source }),
    }
}

/// What a `latest` file names, as a path of plain names; `None` where there is no such file.
fn named(latest: &Path) -> Result<Option<String>, StoreError> {
    const ADVICE: &str =
        "so it is not known which run stays, and no run was removed; remove this file, or run the gate once";
    let refused = |why: &str| StoreError::format(latest, format!("{why}, {ADVICE}"));
    match fs::symlink_metadata(latest) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(StoreError::Io { path: latest.to_owned(), source }),
        Ok(data) if data.is_file() => {}
        Ok(_) => return Err(refused("this is no plain file")),
    }
    let text = fs::read_to_string(latest).map_err(|error| refused(&format!("it can't be read ({error})")))?;
    let name = text.trim();
    let is_below = !name.is_empty() && Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    if !is_below {
        return Err(refused("it names nothing inside its folder"));
    }
    let folder = latest.parent().unwrap_or_else(|| Path::new(".")).to_owned();
    let steps = Path::new(name).components().scan(folder, |at, part| {
        at.push(part);
        Some(at.clone())
    });
    let mut steps = steps.map(|step| fs::symlink_metadata(step).is_ok_and(|data| data.is_dir()));
    if !steps.all(|is_folder| is_folder) {
        return Err(refused("the run that it names is not there"));
    }
    Ok(Some(name.to_owned()))
}

/// Whether a folder has the form of a run.
fn is_run(folder: &Path) -> bool {
    let is = |name: &str, check: fn(&fs::Metadata) -> bool| {
        fs::symlink_metadata(folder.join(name)).is_ok_and(|data| check(&data))
    };
    is("run.json", fs::Metadata::is_file)
        || is("manifest.json", fs::Metadata::is_file)
        || is("records", fs::Metadata::is_dir)
}

fn has_ended(run: &Path, modified: SystemTime) -> bool {
    run.join("run.json").is_file() || is_older(modified, ENDED)
}

/// What is left of the processes of a run that has ended, and of writers that died.
fn stale_in(run: &Path, modified: SystemTime) -> Result<Vec<Leftover>, StoreError> {
    let mut stale = Vec::new();
    let has_ended = has_ended(run, modified);
    for folder in [run.to_owned()].into_iter().chain(folders(run)?) {
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if has_ended && ["locks", "claims", "slots"].contains(&name) && folder != run {
            for entry in entries(&folder)? {
                if entry.file_name() != LEDGER && entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
                    stale.push(leftover(entry.path())?);
                }
            }
            continue;
        }
        for entry in entries(&folder)? {
            let is_temporary = entry.file_name().to_string_lossy().starts_with(".tmp");
            let data = fs::symlink_metadata(entry.path()).map_err(StoreError::io(&entry.path()))?;
            if is_temporary && data.is_file() && data.modified().is_ok_and(|at| is_older(at, WRITTEN)) {
                stale.push(leftover(entry.path())?);
            }
        }
    }
    Ok(stale)
}

fn is_older(at: SystemTime, age: Duration) -> bool {
    at.elapsed().is_ok_and(|elapsed| elapsed > age)
}

fn modified(path: &Path) -> Result<SystemTime, StoreError> {
    fs::symlink_metadata(path).and_then(|data| data.modified()).map_err(StoreError::io(path))
}

fn leftover(path: PathBuf) -> Result<Leftover, StoreError> {
    Ok(Leftover { bytes: size(&path)?, path })
}

/// Bytes of a file, or of all files below a folder; a link counts as nothing.
fn size(path: &Path) -> Result<u64, StoreError> {
    let data = match fs::symlink_metadata(path) {
        Ok(data) => data,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(source) => return Err(StoreError::Io { path: path.to_owned(), source }),
    };
    if data.is_dir() {
        return entries(path)?.into_iter().map(|entry| size(&entry.path())).sum();
    }
    Ok(if data.is_file() { data.len() } else { 0 })
}

/// The folders in a folder, links apart, sorted.
fn folders(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let all = entries(folder)?.into_iter().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut all: Vec<PathBuf> = all.map(|entry| entry.path()).collect();
    all.sort();
    Ok(all)
}

fn entries(folder: &Path) -> Result<Vec<fs::DirEntry>, StoreError> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| entry.map_err(StoreError::io(folder))).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(StoreError::Io { path: folder.to_owned(), source }),
    }
}
