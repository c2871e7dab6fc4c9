//! `snapshots apply`: turns the verdicts of a run, from a CI say, into pending snapshots for review, without a judge and its key.

use std::{
    collections::BTreeSet,
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use clap::Args;
use rageval_runner::{
    load,
    model::{
        GoldenCase, GoldenSet, Record,
        run::{Run, SnapshotsStamp},
    },
    report::{
        console::text::{accept_snapshots, visible},
        snapshot::{Snapshot, description, file_name},
    },
    store::{
        runs,
        snapshots::{self, Header},
    },
};

use super::place;
use crate::{
    command::replies::count,
    context::Context,
    exit::{Ending, Failure},
};

/// Names that are written out; the rest is counted.
const MOST_NAMED: usize = 10;

/// Leave the verdicts of a run for review, as a run of the gate here would
///
/// Writes `.snap.new` beside the snapshots of the run's test target, for each case whose verdicts differ from the stored ones; `cargo insta review`
/// then shows them, or `cargo rageval snapshots accept` where `cargo rageval run` made the run. The run may come from another machine, as an artifact: no judge is asked and no key is needed. Its cases must be those
/// that stand here. Nothing is accepted and nothing deleted but pending snapshots that are no longer true.
///
/// Exit code: 0 when it is done, also where nothing differs; 2 where the run is of other cases or cannot be used here.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gh run download 1234567890 --name rageval-run
  cargo rageval snapshots apply rageval-run/run.json
  cargo insta review")]
pub(crate) struct Apply {
    /// A run folder, its `run.json`, or a `latest` file beside run folders
    run: PathBuf,
}

/// What came of the cases.
#[derive(Debug, Default)]
struct Applied {
    written: Vec<PathBuf>,
    same: usize,
    /// Pending snapshots that were no longer true.
    removed: usize,
    /// Cases of which the run has nothing to compare.
    nothing: usize,
}

/// Writes and tells.
pub(super) fn run(command: &Apply, context: &Context) -> Result<Ending, Failure> {
    let run = runs::read(&command.run).map_err(|error| Failure::Input(error.to_string()))?;
    let (policy, set) = super::super::gate::files(context, &context.metrics(&[&command.run]))?;
    let refused = |why: String| Failure::Input(format!("{}: {why}", command.run.display()));
    let Some(stamp) = run.manifest.snapshots.as_ref() else {
        let why = "it does not say where its snapshots stand: an older rageval wrote it, or they stand outside the folder of thresholds.yaml";
        return Err(refused(format!("{why}; run the gate here")));
    };
    place::source(stamp).map_err(refused)?;
    let folder = place::folder(&context.root, stamp).map_err(refused)?;
    check_cases(&run, &set).map_err(refused)?;
    let mut applied = Applied::default();
    for record in &run.records {
        if let Some(case) = set.get(&record.case) {
            apply(record, case, &folder, stamp, &policy, &mut applied)?;
        }
    }
    let mut out = crate::out::stdout();
    for line in told(&applied, &run, &set, &folder) {
        writeln!(out, "{line}")?;
    }
    out.flush()?;
    Ok(Ending::Pass)
}

/// The verdicts are of the cases that stand here, or a review would show them beside the wrong question.
fn check_cases(run: &Run, set: &GoldenSet) -> Result<(), String> {
    if let Some(case) = super::super::gate::doubled(run) {
        return Err(format!("case `{case}` has two records in it: run the gate again"));
    }
    let (mut unknown, mut changed) = (Vec::new(), Vec::new());
    for record in &run.records {
        match set.get(&record.case) {
            None => unknown.push(record.case.as_str()),
            Some(case) if case.digest() != record.digest => changed.push(record.case.as_str()),
            Some(_) => {}
        }
    }
    let mut why = Vec::new();
    if !unknown.is_empty() {
        why.push(format!("not here: {}", listed(&unknown)));
    }
    if !changed.is_empty() {
        why.push(format!("with other contents here: {}", listed(&changed)));
    }
    if why.is_empty() {
        return Ok(());
    }
    Err(format!(
        "the run is of other cases ({}); check out the commit of the run, or run the gate again",
        why.join("; ")
    ))
}

fn apply(
    record: &Record,
    case: &GoldenCase,
    folder: &Path,
    stamp: &SnapshotsStamp,
    policy: &load::Policy,
    applied: &mut Applied,
) -> Result<(), Failure> {
    let is_judged = |key: &rageval_runner::model::MetricKey| stamp.metrics.contains(key.name());
    let Some(new) = Snapshot::of(record, is_judged, &stamp.judge) else {
        applied.nothing += 1;
        return Ok(());
    };
    let snap = folder.join(format!("{}.snap", file_name(&case.id)));
    // What cannot be read is left for review like what is not there.
    let stored = snapshots::read(&snap).ok().flatten();
    let input = |error: rageval_runner::store::StoreError| Failure::Input(error.to_string());
    if stored.is_some_and(|stored| stored.body == new.body) {
        applied.same += 1;
        applied.removed += usize::from(snapshots::remove_pending(&snap).map_err(input)?);
        return Ok(());
    }
    let header = Header {
        source: stamp.source.clone(),
        line: stamp.line,
        description: description(case, record, &new.digest),
        input_file: input_file(&policy.root, &case.place.file),
    };
    applied.written.push(snapshots::leave_pending(&snap, &header, &new.body).map_err(input)?);
    Ok(())
}

/// The file of a case as insta names it: relative to the root, links resolved; `None` where that is not below it.
fn input_file(root: &Path, file: &str) -> Option<String> {
    let here = if root.as_os_str().is_empty() { Path::new(".") } else { root };
    let (path, root) = (fs::canonicalize(root.join(file)).ok()?, fs::canonicalize(here).ok()?);
    let parts: Vec<_> =
        path.strip_prefix(&root).ok()?.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    Some(parts.join("/"))
}

fn told(applied: &Applied, run: &Run, set: &GoldenSet, folder: &Path) -> Vec<String> {
    let Applied { written, same, removed, nothing } = applied;
    let mut lines = vec![format!(
        "{}: {} left for review, {} as stored{}",
        folder.display(),
        count(written.len(), "snapshot", "snapshots"),
        count(*same, "case", "cases"),
        if *nothing == 0 {
            String::new()
        } else {
            format!(", {} with nothing to compare", count(*nothing, "case", "cases"))
        },
    )];
    lines.extend(written.iter().map(|path| format!("  {}", path.display())));
    if *removed > 0 {
        lines.push(format!("pending snapshots that were no longer true, removed: {removed}"));
    }
    let held: BTreeSet<_> = run.records.iter().map(|record| &record.case).collect();
    let missing: Vec<&str> = set
        .cases
        .iter()
        .map(|case| &case.id)
        .filter(|id| !held.contains(id))
        .map(rageval_runner::model::CaseId::as_str)
        .collect();
    if !missing.is_empty() {
        lines.push(format!("the run is partial, and says nothing of: {}", listed(&missing)));
    }
    let compared = set.cases.iter().filter(|case| case.repeats.times == 1);
    let orphans = snapshots::orphans(folder, compared.map(|case| &case.id));
    if !orphans.is_empty() {
        let orphans: Vec<&str> = orphans.iter().map(String::as_str).collect();
        lines.push(format!("snapshots that belong to no case, left as they are: {}", listed(&orphans)));
    }
    if !written.is_empty() {
        let target = run.manifest.target.as_deref().unwrap_or_default();
        lines.push(format!("look: {}", accept_snapshots(target)));
    }
    lines
}

fn listed(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(MOST_NAMED).map(|name| visible(name)).collect();
    match names.len().saturating_sub(MOST_NAMED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
