//! Snapshots that wait for a person: `.snap.new` beside the accepted `.snap`, as insta leaves them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::StoreError;

/// What insta writes behind the name of an accepted snapshot.
const ENDING: &str = ".snap.new";

/// Every pending snapshot of a folder, sorted; none where there is no folder.
pub fn list(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    let mut pending: Vec<PathBuf> = paths.filter(|path| path.to_string_lossy().ends_with(ENDING)).collect();
    pending.sort();
    pending
}

/// The accepted snapshot that a pending one takes the place of.
pub fn accepted(pending: &Path) -> PathBuf {
    pending.with_extension("")
}

/// Accepts a pending snapshot, as `cargo insta accept` does.
///
/// # Errors
/// It can't be read, or its place can't be written.
pub fn accept(pending: &Path) -> Result<(), StoreError> {
    let snapshot = insta::Snapshot::from_file(pending)
        .map_err(|error| StoreError::format(pending, format!("not a readable snapshot ({error})")))?;
    let path = accepted(pending);
    snapshot.save(&path).map_err(|error| StoreError::format(&path, error.to_string()))?;
    fs::remove_file(pending).map_err(StoreError::io(pending))
}
