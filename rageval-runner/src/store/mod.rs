//! The only writer of files: runs, records, baselines, calibrations, locks of golden sets, replies of the judge, evaluation steps, probes,
//! what a project starts with, converted cases.

pub mod baseline;
pub mod calibration;
pub mod exchange;
pub mod going;
pub mod history;
pub mod labels;
pub mod ledger;
pub mod lock;
pub mod minute;
pub mod own_metrics;
pub mod pending;
pub mod probes;
pub mod prune;
pub mod readings;
pub mod replies;
pub mod runs;
pub mod slots;
pub mod snapshots;
pub mod spool;
pub mod start;
pub mod steps;

use std::{
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

/// A file of ours that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The operating system says no.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// The file is not what it should be.
    #[error("{path}: {why}", path = path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what to do.
        why: String,
    },
}

impl StoreError {
    /// What is wrong before where, for lines that are cut at the end.
    pub(crate) fn why_first(&self) -> String {
        match self {
            Self::Io { path, source } => format!("{source}: {}", path.display()),
            Self::Format { path, why } => format!("{why}: {}", path.display()),
        }
    }

    /// Whether the disk, or the user's part of it, is full.
    pub(crate) fn is_for_want_of_room(&self) -> bool {
        let full = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded];
        matches!(self, Self::Io { source, .. } if full.contains(&source.kind()))
    }

    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    pub(crate) fn format(path: &Path, why: impl Into<String>) -> Self {
        Self::Format { path: path.to_owned(), why: why.into() }
    }
}

/// Writes a file whole or not at all: a temporary file in the same folder, then a rename. Makes the folder when missing.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    write_piecewise(path, |file| file.write_all(bytes))
}

/// The same for a file that is too large to stand in memory as a whole.
///
/// # Errors
///
/// Where it can't be written, or what writes it fails; then nothing has changed.
pub fn write_piecewise(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), StoreError> {
    write_by_way_of(path.parent().unwrap_or_else(|| Path::new(".")), path, |file| {
        write(file)?;
        file.sync_data()
    })
}

/// The same with the temporary file in a folder of the same file system, where whatever a killed process leaves is easily found;
/// `write` does all that must be done before the file takes its place.
fn write_by_way_of(
    temporaries: &Path,
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), StoreError> {
    let file = temporary(temporaries).or_else(|error| {
        if error.kind() != io::ErrorKind::NotFound {
            return Err(error);
        }
        std::fs::create_dir_all(temporaries)?;
        temporary(temporaries)
    });
    put_in_place(file.map_err(StoreError::io(temporaries))?, path, write)
}

/// Writes a temporary file and gives it its place, whose folder is made when missing. Folders are looked at only where something failed:
/// nearly always they are there, and each look costs as much as the writing.
fn put_in_place(
    mut file: NamedTempFile,
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), StoreError> {
    write(file.as_file_mut()).map_err(StoreError::io(path))?;
    let placed = file.persist(path).or_else(|failed| {
        if failed.error.kind() != io::ErrorKind::NotFound {
            return Err(failed.error);
        }
        std::fs::create_dir_all(path.parent().unwrap_or_else(|| Path::new(".")))?;
        failed.file.persist(path).map_err(|failed| failed.error)
    });
    placed.map(drop).map_err(StoreError::io(path))
}

/// A temporary file that others may read as they may any file of this user.
fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // The user's mask still applies.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}
