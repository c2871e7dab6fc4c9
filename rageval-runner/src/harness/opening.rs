//! Opens a run: nothing is asked and nothing written yet.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, OnceLock, atomic::AtomicUsize},
    time::{SystemTime, UNIX_EPOCH},
};

use super::{
    context::Context,
    course::Course,
    finished::Shelf,
    session::{Session, Shared},
    setup::{self, Files, Scope},
    snapshots::{Snapshots, Writing},
    suite::Location,
    verdict,
};
use crate::{
    evaluate::stamp,
    gate::{gates, trusted_metrics},
    metric::Metric,
    model::case::Fields,
    store::runs::RunFolder,
    system::RagSystem,
};

/// What a run is opened with.
pub(super) struct Opening {
    /// The test target, for the commands that a failure names.
    pub(super) target: &'static str,
    /// The name of the folder of its runs.
    pub(super) runs: String,
    /// The name of the run; `None`: a new one.
    pub(super) id: Option<String>,
    /// The folder of its snapshots.
    pub(super) snapshots: PathBuf,
    /// Where the source stands that asserts them.
    pub(super) location: Location,
    /// What for.
    pub(super) purpose: Purpose,
    /// The system, where it is a function.
    pub(super) function: Option<Arc<dyn RagSystem>>,
    /// The metrics that rules may name.
    pub(super) metrics: Vec<&'static dyn Metric>,
    /// The surroundings.
    pub(super) context: Context,
    /// What the files say.
    pub(super) files: Files,
    /// What is told and kept while it goes on.
    pub(super) course: Course,
}

/// What a run is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To list its trials: reads YAML only.
    Listing,
    /// To run them.
    Running,
}

impl Opening {
    /// Everything that the trials share.
    pub(super) fn session(self) -> Result<Session, String> {
        let Self { target, runs, id, snapshots, location, purpose, function, metrics, context, files, course } = self;
        let root = &files.policy.root;
        let id = id.or_else(|| context.nextest_run.clone()).unwrap_or_else(new_run_id);
        let folder = RunFolder::new(context.runs_folder(root), runs, id);
        let mut problems = Vec::new();
        let mut accepted = (None, Vec::new());
        match purpose {
            Purpose::Listing => {}
            Purpose::Running => {
                problems.extend(setup::open_gates(&context, root, target));
                problems.extend(setup::shard(&context));
                problems.extend(setup::reply_modes(&context, &files.policy).err());
                match setup::accepted(&files.policy) {
                    Ok(read) => accepted = read,
                    Err(problem) => problems.push(problem),
                }
            }
        }
        let judge = setup::open_judge(&files.policy, &context).map_err(|problem| problem.lines.join("\n"))?;
        let embedder = setup::open_embedder(&files.policy, &context).map_err(|problem| problem.lines.join("\n"))?;
        let writing = match (context.ci, context.insta_force_pass) {
            (true, _) => Writing::Never,
            (false, false) => Writing::Pending,
            (false, true) => Writing::PendingAndPass,
        };
        let mut pinned = Fields::default();
        let judge_stamp = stamp::of_scores(&files.policy, judge.as_ref(), embedder.as_deref());
        // No verdict depends on the embedder, so a snapshot is pinned to the judge alone.
        pinned.add("judge", &stamp::of_verdicts(&files.policy, judge.as_ref()).fingerprint);
        for metric in &metrics {
            pinned.add(metric.name(), &metric.version().to_string());
        }
        let fail_on = files.policy.rules.fail_on;
        let snapshots = Snapshots {
            folder: snapshots,
            file: location.file,
            line: location.line,
            assert: location.snapshot,
            fail_on,
            judge: pinned.finish(),
            writing,
        };
        let facts = verdict::facts(&metrics);
        let gates = match files.scope {
            Scope::Whole => gates(&files.policy.rules, &files.set),
            Scope::OneFile | Scope::Picked => Vec::new(),
        };
        let trusted = trusted_metrics(&files.policy.rules, &files.set, &facts);
        let records = match context.nextest_run {
            Some(_) => Shared::Folder(Mutex::default()),
            None => Shared::Memory(files.set.cases.iter().map(|case| (case.id.clone(), OnceLock::new())).collect()),
        };
        let places = files.set.cases.iter().enumerate().map(|(place, case)| (case.id.clone(), place)).collect();
        let shelf = Shelf::new(folder.spool());
        Ok(Session {
            files,
            metrics,
            gates,
            trusted,
            baseline: accepted.0,
            history: accepted.1,
            snapshots,
            judge_stamp,
            embedder,
            facts,
            target,
            judge,
            folder,
            problems,
            context,
            course,
            decisions: Mutex::default(),
            changed: AtomicUsize::new(0),
            rewritten: AtomicUsize::new(0),
            drop_tests: OnceLock::new(),
            today: OnceLock::new(),
            calibrations: OnceLock::new(),
            function,
            records,
            shelf,
            places,
            settled: OnceLock::new(),
            evaluation: OnceLock::new(),
            runtime: OnceLock::new(),
        })
    }
}

/// A name for a run of one process: the time to the second, and the process.
fn new_run_id() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let stamp = jiff::Timestamp::from_second(i64::try_from(seconds).unwrap_or(0)).unwrap_or_default();
    format!("{}-{}", stamp.strftime("%Y%m%dT%H%M%SZ"), std::process::id())
}
