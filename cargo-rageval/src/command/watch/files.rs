//! The files that `watch` looks at: what they say, and when they change.

use std::{
    collections::BTreeSet,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    time::Duration,
};

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};
use rageval_runner::{
    embed,
    evaluate::stamp,
    harness::Opened,
    judge,
    load::Policy,
    store::{calibration, history, lock::LockFiles},
    system::spec::SystemKind,
};

use super::touch::Face;

/// An editor writes a file in several steps; they are one change.
const SETTLED: Duration = Duration::from_millis(150);

/// Changes that never stop are looked at all the same.
const MOST_STEPS: usize = 40;

/// What the files say now.
///
/// # Errors
/// A judge or embedder that can't be opened.
pub(super) fn face(opened: &Opened) -> Result<Face, String> {
    let policy = opened.policy();
    // What a judge is depends on no key.
    let judge = judge::open(&policy.judge, &|_| None)?;
    let embedder = policy.embedder.as_ref().map(|spec| embed::open(spec, &|_| None)).transpose()?;
    let stamp = stamp::of_scores(policy, judge.as_ref(), embedder.as_deref());
    let recorded = recorded(policy).map(|path| digest([path])).unwrap_or_default();
    Ok(Face::of(policy, opened.set(), stamp, recorded, &digest(beside(policy))))
}

/// Files beside policy and cases that decisions depend on.
fn beside(policy: &Policy) -> BTreeSet<PathBuf> {
    let mut files: BTreeSet<PathBuf> = [policy.root.join(calibration::FILE), LockFiles::of(&policy.cases).lock].into();
    if let Some(regression) = &policy.rules.regression {
        let baseline = policy.root.join(&regression.baseline);
        files.extend([history::path_of(&baseline), baseline]);
    }
    for folder in [Opened::snapshots(policy), policy.labels.clone()] {
        let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        // What a run leaves for review is no change of what it is compared with.
        files.extend(entries.map(|entry| entry.path()).filter(|path| path.extension().is_none_or(|end| end != "new")));
    }
    files
}

fn recorded(policy: &Policy) -> Option<PathBuf> {
    match &policy.system.kind {
        SystemKind::Recorded(spec) => spec.samples.clone(),
        SystemKind::Function | SystemKind::Command(_) | SystemKind::Http(_) => None,
    }
}

/// A digest that means something within this process; a file that can't be read is one that is not there.
fn digest(files: impl IntoIterator<Item = PathBuf>) -> String {
    let mut hasher = DefaultHasher::new();
    for file in files {
        (&file, std::fs::read(&file).ok()).hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}

/// Looks for changes.
pub(super) struct Watcher {
    watcher: RecommendedWatcher,
    changes: Receiver<()>,
    folders: BTreeSet<PathBuf>,
}

impl Watcher {
    /// Looks at nothing yet.
    ///
    /// # Errors
    /// The operating system tells of no changes.
    pub(super) fn new() -> notify::Result<Self> {
        let (sender, changes) = channel();
        let watcher = notify::recommended_watcher(move |event| on_event(&event, &sender))?;
        Ok(Self { watcher, changes, folders: BTreeSet::new() })
    }

    /// Looks at the folder of the policy, and at those of the files that it names.
    pub(super) fn look_at(&mut self, root: &Path, policy: Option<&Policy>) -> notify::Result<()> {
        let mut folders: BTreeSet<PathBuf> = [root.to_owned()].into();
        if let Some(policy) = policy {
            folders.extend(
                beside(policy).into_iter().chain(recorded(policy)).filter_map(|file| file.parent().map(Path::to_owned)),
            );
            folders.extend([Opened::snapshots(policy), policy.labels.clone()]);
            let cases = &policy.cases;
            folders.extend(if cases.is_dir() { Some(cases.clone()) } else { cases.parent().map(Path::to_owned) });
        }
        for folder in folders {
            if folder.is_dir() && !self.folders.contains(&folder) {
                let is_cases = policy.is_some_and(|policy| policy.cases == folder);
                let mode = if is_cases { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive };
                self.watcher.watch(&folder, mode)?;
                self.folders.insert(folder);
            }
        }
        Ok(())
    }

    /// Waits for a change, and until it has settled.
    pub(super) fn wait(&self) {
        if self.changes.recv().is_err() {
            return;
        }
        for _ in 0..MOST_STEPS {
            match self.changes.recv_timeout(SETTLED) {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
        }
    }
}

/// Passes on that something changed. That a file was read is no change: else reading would wake who reads.
fn on_event(event: &notify::Result<Event>, changes: &Sender<()>) {
    if event.as_ref().is_ok_and(|event| event.kind.is_access()) {
        return;
    }
    changes.send(()).ok();
}
