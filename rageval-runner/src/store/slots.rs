//! How many calls may be under way at once: in this process, or over all processes of one run.

use std::{
    fs::{File, OpenOptions},
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A limit on calls under way.
#[derive(Debug, Clone)]
pub enum Limit {
    /// Within this process.
    Process(Arc<Semaphore>),
    /// Over all processes that share the folder: one lock file a place, freed by the kernel when its holder ends.
    Folder {
        /// Where the lock files stand.
        folder: PathBuf,
        /// How many there are.
        places: usize,
    },
}

/// A place among the calls under way; dropped, it is free again.
#[derive(Debug)]
pub enum Permit {
    /// Of this process.
    Process(OwnedSemaphorePermit),
    /// A held lock file.
    Folder(File),
}

impl Limit {
    /// At most `places` calls in this process; 0 counts as 1.
    pub fn in_process(places: usize) -> Self {
        Self::Process(Arc::new(Semaphore::new(places.max(1))))
    }

    /// At most `places` calls over all processes that use this folder; 0 counts as 1.
    pub fn across_processes(folder: PathBuf, places: usize) -> Self {
        Self::Folder { folder, places: places.max(1) }
    }

    /// Waits for a place.
    pub async fn acquire(&self) -> io::Result<Permit> {
        match self {
            Self::Process(semaphore) => {
                Arc::clone(semaphore).acquire_owned().await.map(Permit::Process).map_err(io::Error::other)
            }
            Self::Folder { folder, places } => {
                let mut pause = Backoff::default();
                // Processes start at different places, so that they do not all queue at the first.
                let first = std::process::id() as usize;
                loop {
                    for place in 0..*places {
                        let path = folder.join(format!("{}.lock", (first + place) % places));
                        if let Some(file) = try_lock(&path)? {
                            return Ok(Permit::Folder(file));
                        }
                    }
                    pause.wait().await;
                }
            }
        }
    }
}

/// Takes the kernel's lock on a file, made when missing; `None` when another holder has it.
pub(crate) fn try_lock(path: &Path) -> io::Result<Option<File>> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    lock(OpenOptions::new().create(true).truncate(false).write(true).open(path)?)
}

/// The same for a file whose content counts.
pub(crate) fn try_lock_to_read(path: &Path) -> io::Result<Option<File>> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    lock(OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)?)
}

fn lock(file: File) -> io::Result<Option<File>> {
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(std::fs::TryLockError::WouldBlock) => Ok(None),
        Err(std::fs::TryLockError::Error(error)) => Err(error),
    }
}

/// Growing pauses between tries: 5 ms to 100 ms.
#[derive(Debug)]
pub(crate) struct Backoff(Duration);

impl Default for Backoff {
    fn default() -> Self {
        Self(Duration::from_millis(5))
    }
}

impl Backoff {
    pub(crate) async fn wait(&mut self) {
        tokio::time::sleep(self.0).await;
        self.0 = (self.0 * 3 / 2).min(Duration::from_millis(100));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_folder_limit_gives_as_many_places_as_it_has() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let limit = Limit::across_processes(folder.path().to_owned(), 2);
        let first = limit.acquire().await.expect("a place");
        let _second = limit.acquire().await.expect("a place");
        let third = tokio::time::timeout(Duration::from_millis(60), limit.acquire()).await;
        assert!(third.is_err(), "a third place does not exist");
        drop(first);
        limit.acquire().await.expect("the freed place");
    }
}
