//! `replies prune`: removes stored replies that complete runs do not use.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use clap::Args;
use rageval_runner::{
    embed::stored::REQUEST,
    judge::key::ReplyKey,
    model::Record,
    report::console::text::visible,
    store::replies::{ReplyStore, StoredReply},
};

use super::{Stored, count, latest};
use crate::{
    context::Context,
    exit::{Ending, Failure},
};

/// Remove stored replies that the latest run does not use
///
/// The run must be whole and wholly measured, of the judge and the embedder that thresholds.yaml names; replies of any other in the same
/// folder count as unused. What was killed while it was written goes as well. Don't prune while a run is going on.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo rageval replies prune --dry-run
  cargo rageval replies prune --older-than 30
  cargo rageval replies prune --run runs/a/run.json --run runs/b/run.json   # what neither of them uses")]
pub(crate) struct Prune {
    /// A run folder, its `run.json`, or a `latest` file beside run folders; may be given several times [default: the latest run]
    #[arg(long = "run", value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Remove only what was stored more than so many days ago
    #[arg(long, value_name = "DAYS")]
    older_than: Option<u32>,
    /// Remove nothing, and say what would be removed
    #[arg(long)]
    dry_run: bool,
}

impl Prune {
    /// By the latest run alone, whatever the age.
    pub(super) fn of_latest(dry_run: bool) -> Self {
        Self { runs: Vec::new(), older_than: None, dry_run }
    }
}

/// What becomes of the stored replies.
#[derive(Default)]
struct Sorted {
    used: usize,
    /// Unused, and not old enough.
    young: usize,
    /// Unused, of a day that cannot be told, while an age is asked for.
    undated: usize,
    unused: Vec<ReplyKey>,
    /// How many of the unused are of which model, replies and vectors.
    models: BTreeMap<String, [usize; 2]>,
}

/// Removes them, and tells.
pub(super) fn run(prune: &Prune, context: &Context) -> Result<Ending, Failure> {
    let stored = Stored::of_policy(context)?;
    let named = if prune.runs.is_empty() { vec![the_latest(context)?] } else { prune.runs.clone() };
    let mut used = BTreeSet::new();
    for path in &named {
        used.extend(keys_of(&stored, path)?);
    }
    let input = |error: &dyn std::fmt::Display| Failure::Input(error.to_string());
    let mut folders = Vec::new();
    for store in stored.stores() {
        let keys = store.keys().map_err(|error| input(&error))?;
        // Not what a run leaves behind, and a mistake that would cost everything.
        if !keys.is_empty() && keys.iter().all(|key| !used.contains(key)) {
            let folder = store.folder().display();
            let why = format!(
                "{folder}: no reply there is used by the run; was the judge's `name` or address changed? Run the gate again, or delete the folder"
            );
            return Err(Failure::Input(why));
        }
        folders.push((store, sort(store, keys, &used, prune.older_than)));
    }
    let mut text = String::new();
    for (store, sorted) in &folders {
        let stale = store.stale().map_err(|error| input(&error))?.len();
        if !prune.dry_run {
            for key in &sorted.unused {
                store.remove(key).map_err(|error| input(&error))?;
            }
            store.sweep().map_err(|error| input(&error))?;
        }
        text.push_str(&told(store, sorted, stale, prune.dry_run));
    }
    let mut out = crate::out::stdout();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(Ending::Pass)
}

/// The latest run; where several test targets left runs, each may use replies of the folder, and one must not decide for all.
fn the_latest(context: &Context) -> Result<PathBuf, Failure> {
    let targets: BTreeSet<PathBuf> = fs::read_dir(&context.runs)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("latest")).filter(|latest| latest.is_file()))
        .collect();
    if targets.len() < 2 {
        return Ok(latest(context));
    }
    let named: Vec<_> = targets.iter().map(|latest| format!("  --run {}", latest.display())).collect();
    let why = "several test targets left runs, and each may use stored replies; name those that count";
    Err(Failure::Input(format!("{why}:\n{}", named.join("\n"))))
}

/// The keys of all that a run asked, stored or not.
fn keys_of(stored: &Stored, path: &Path) -> Result<Vec<ReplyKey>, Failure> {
    let run = stored.run(path)?;
    let refused = |why: &str| Failure::Input(format!("{}: {why}; run the whole set again", path.display()));
    if let Some(why) = &run.manifest.partial {
        return Err(refused(&format!("the run is partial: {why}")));
    }
    if !run.manifest.missing.is_empty() {
        let missing = count(run.manifest.missing.len(), "case has", "cases have");
        return Err(refused(&format!("the run is partial: {missing} no record")));
    }
    // A system that failed asked nothing of the judge, and will when it is well again.
    let unmeasured = run.records.iter().filter(|record| record.is_unmeasured()).count();
    if unmeasured > 0 {
        let cases = count(unmeasured, "case is", "cases are");
        return Err(refused(&format!("{cases} unmeasured, so what they will ask is not known")));
    }
    let exchanges = run.records.iter().flat_map(Record::exchanges);
    let keys: Vec<Vec<ReplyKey>> = exchanges.map(|exchange| stored.keys(exchange)).collect::<Result<_, _>>()?;
    Ok(keys.concat())
}

fn sort(store: &ReplyStore, keys: Vec<ReplyKey>, used: &BTreeSet<ReplyKey>, older_than: Option<u32>) -> Sorted {
    let mut sorted = Sorted::default();
    for key in keys {
        if used.contains(&key) {
            sorted.used += 1;
            continue;
        }
        let entry = store.get(&key).ok().flatten();
        let age = entry.as_ref().and_then(StoredReply::days_old);
        match (older_than, age) {
            (Some(days), Some(age)) if age <= i64::from(days) => sorted.young += 1,
            (Some(_), None) => sorted.undated += 1,
            (Some(_), Some(_)) | (None, _) => {
                let is_vector = entry.as_ref().is_some_and(|entry| entry.request == REQUEST);
                let model = match entry {
                    Some(entry) => format!("{} at {}", entry.model, entry.judge),
                    None => "a file that cannot be read".to_owned(),
                };
                sorted.models.entry(model).or_default()[usize::from(is_vector)] += 1;
                sorted.unused.push(key);
            }
        }
    }
    sorted
}

fn told(store: &ReplyStore, sorted: &Sorted, stale: usize, dry_run: bool) -> String {
    let verb = if dry_run { "would be removed" } else { "removed" };
    let replies = |number: usize| count(number, "reply", "replies");
    let mut text = format!(
        "{}: {} {verb}, {} {}\n",
        store.folder().display(),
        replies(sorted.unused.len()),
        replies(sorted.used + sorted.young + sorted.undated),
        if sorted.used + sorted.young + sorted.undated == 1 { "stays" } else { "stay" },
    );
    let mut line = |line: String| {
        text.push_str("  ");
        text.push_str(&line);
        text.push('\n');
    };
    for (model, [of_judge, of_embedder]) in &sorted.models {
        let counts = [replies(*of_judge), count(*of_embedder, "vector", "vectors")];
        for (_, counted) in [of_judge, of_embedder].into_iter().zip(counts).filter(|(number, _)| **number > 0) {
            line(format!("{verb}: {counted} of {}", visible(model)));
        }
    }
    if stale > 0 {
        line(format!("{verb}: {} that killed processes left", count(stale, "unfinished file", "unfinished files")));
    }
    if sorted.young > 0 {
        line(format!("unused, and not old enough: {}", replies(sorted.young)));
    }
    if sorted.undated > 0 {
        line(format!("unused, of a day that cannot be read: {}", replies(sorted.undated)));
    }
    text
}
