//! Judge verdicts as insta snapshots: our comparison decides, insta stores, shows and accepts.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use crate::{
    contain,
    gate::rule::FailOn,
    metric::{Kind, Metric},
    model::{CaseId, GoldenCase, MetricKey, Outcome, Record, UnitInterval, run::SnapshotsStamp},
    report::snapshot::{self, Snapshot, changed_metrics, description, difference, file_name, red},
    store::snapshots::{self, read},
};

/// Where the snapshots of one test target stand, and how its crate asserts one.
#[derive(Debug, Clone)]
pub(super) struct Snapshots {
    /// `tests/snapshots/<target>` in the package.
    pub(super) folder: PathBuf,
    /// The test's source as it was compiled, and the line in it, which insta writes above a pending snapshot.
    pub(super) file: &'static str,
    pub(super) line: u32,
    /// Calls insta in the user's crate.
    pub(super) assert: fn(&str, &str),
    /// Which difference is red.
    pub(super) fail_on: FailOn,
    /// Digest over judge and metric versions: with answer and contexts it says whether verdicts may differ at all.
    pub(super) judge: String,
    /// Whether differences are left for review, as `.snap.new`.
    pub(super) writing: Writing,
}

/// What happens to a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writing {
    /// Nothing is written: CI.
    Never,
    /// insta leaves `.snap.new` for review, or what its own switches say.
    Pending,
    /// As above, and red differences pass: `INSTA_FORCE_PASS`, which `cargo insta test` sets to collect all of them.
    PendingAndPass,
}

/// What the snapshot of one case says of this run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Finding {
    /// Nothing to compare: no judged metric, or something is unmeasured, or the case is repeated.
    Nothing,
    /// The same verdicts.
    Same,
    /// Other verdicts, which `fail_on` lets pass.
    Changed,
    /// insta's own switch wrote the first file of this case.
    Written,
    /// insta's own switch rewrote the stored file.
    Rewritten,
    /// Red.
    Red {
        /// Why, as a phrase.
        why: String,
        /// The difference, line by line.
        diff: Vec<String>,
    },
}

impl Snapshots {
    /// Compares a case's verdicts with the stored ones; leaves a difference for review where that is allowed.
    pub(super) fn check(
        &self,
        case: &GoldenCase,
        record: &Record,
        metrics: &[&dyn Metric],
        case_file: &Path,
    ) -> Result<Finding, String> {
        let Some(new) = self.of(record, metrics) else { return Ok(Finding::Nothing) };
        let name = file_name(&case.id);
        let path = self.folder.join(format!("{name}.snap"));
        let stored = read(&path)?;
        let red = match &stored {
            Some(stored) if stored.body == new.body => {
                // insta removes a pending file that is no longer true.
                if self.writing != Writing::Never && path.with_extension("snap.new").exists() {
                    self.assert(&name, &new, case, record, case_file);
                }
                return Ok(Finding::Same);
            }
            Some(stored) => red(self.fail_on, stored, &new),
            None => match self.fail_on {
                FailOn::Worse | FailOn::Any => Some("no snapshot of this case yet".to_owned()),
                FailOn::Never => None,
            },
        };
        if self.writing != Writing::Never {
            self.assert(&name, &new, case, record, case_file);
            if read(&path)?.is_some_and(|stored| stored.body == new.body) {
                return Ok(if stored.is_some() { Finding::Rewritten } else { Finding::Written });
            }
        }
        let difference = difference(stored.as_ref().map_or("", |stored| stored.body.as_str()), &new.body);
        match red {
            Some(why) if self.writing != Writing::PendingAndPass => Ok(Finding::Red { why, diff: difference }),
            Some(_) | None => Ok(Finding::Changed),
        }
    }

    /// The metrics whose verdicts make a case's snapshot red, and could be noise: they differ from the stored ones, and some are bad.
    pub(super) fn suspects(&self, case: &GoldenCase, record: &Record, metrics: &[&dyn Metric]) -> Vec<MetricKey> {
        // What is left of the time before it was repeated is compared with nothing.
        let Some(new) = self.of(record, metrics) else { return Vec::new() };
        let path = self.folder.join(format!("{}.snap", file_name(&case.id)));
        let Ok(Some(stored)) = read(&path) else { return Vec::new() };
        if stored.body == new.body || red(self.fail_on, &stored, &new).is_none() {
            return Vec::new();
        }
        let judged = snapshot::judged(record, is_judged(metrics));
        let differs = changed_metrics(&stored, &new);
        let could_be_noise = |(key, outcome): &(&&MetricKey, &&Outcome)| {
            let is_bad = outcome.score().is_some_and(|score| score != UnitInterval::ONE);
            is_bad && differs(&key.to_string())
        };
        judged.iter().filter(could_be_noise).map(|(key, _)| (*key).clone()).collect()
    }

    fn of(&self, record: &Record, metrics: &[&dyn Metric]) -> Option<Snapshot> {
        Snapshot::of(record, is_judged(metrics), &self.judge)
    }

    /// Lets insta compare, in the user's crate; it prints nothing and its panic says nothing new.
    fn assert(&self, name: &str, new: &Snapshot, case: &GoldenCase, record: &Record, case_file: &Path) {
        let mut settings = insta::Settings::new();
        settings.set_snapshot_path(&self.folder);
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.set_description(description(case, record, &new.digest));
        settings.set_input_file(case_file);
        let _quiet = contain::quietly();
        settings.bind(|| {
            // A panic is insta's way to say that they differ, which is known already.
            catch_unwind(AssertUnwindSafe(|| (self.assert)(name, &new.body))).ok();
        });
    }

    /// Snapshot files of this target that belong to no case, by file name.
    pub(super) fn orphans<'a>(&self, ids: impl Iterator<Item = &'a CaseId>) -> Vec<String> {
        snapshots::orphans(&self.folder, ids)
    }

    /// Where the snapshots stand and what they depend on, for the run file; `None` where they stand outside of `root`.
    pub(super) fn stamp(&self, root: &Path, metrics: &[&'static dyn Metric]) -> Option<SnapshotsStamp> {
        let folder = self.folder.strip_prefix(root).ok()?;
        let judged = metrics.iter().filter(|metric| metric.kind() == Kind::Judged);
        Some(SnapshotsStamp {
            folder: with_slashes(folder),
            source: source(self.file, root),
            line: self.line,
            judge: self.judge.clone(),
            metrics: judged.map(|metric| metric.name().to_owned()).collect(),
        })
    }
}

fn is_judged(metrics: &[&dyn Metric]) -> impl Fn(&MetricKey) -> bool {
    |key| metrics.iter().any(|metric| metric.name() == key.name() && metric.kind() == Kind::Judged)
}

/// The test's source as insta names it in a header: relative to the root where it can be found from here, else as it was compiled.
fn source(file: &str, root: &Path) -> String {
    let found = Path::new(file).canonicalize().and_then(|file| Ok((file, root.canonicalize()?)));
    let below = found.ok().and_then(|(file, root)| file.strip_prefix(&root).ok().map(with_slashes));
    below.unwrap_or_else(|| file.replace('\\', "/"))
}

fn with_slashes(path: &Path) -> String {
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}
