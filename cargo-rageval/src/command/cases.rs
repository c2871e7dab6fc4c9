//! `cases`: the golden set locked under a version, compared with its lock, counted, looked over, and converted.

mod convert;
mod diff;
mod lint;
mod lock;
mod stats;

use std::collections::BTreeMap;

use clap::Subcommand;
use rageval_runner::{
    load::Policy,
    model::{CaseId, GoldenSet},
    report::console::text::visible,
    store::{self, lock::LockFiles},
    trust::lock::{Difference, Lock},
};

use crate::{
    context::Context,
    exit::{Ending, Failure},
};

/// Lock, look over, count and convert the golden cases
#[derive(Debug, Subcommand)]
pub(crate) enum Cases {
    Lock(lock::LockSet),
    Diff(diff::Diff),
    Stats(stats::Stats),
    Lint(lint::Lint),
    Convert(convert::Convert),
}

/// Does what the command line says.
pub(crate) fn run(cases: &Cases, context: &Context) -> Result<Ending, Failure> {
    match cases {
        Cases::Lock(lock) => lock::run(lock, context),
        Cases::Diff(diff) => diff::run(diff, context),
        Cases::Stats(stats) => stats::run(stats, context),
        Cases::Lint(lint) => lint::run(lint, context),
        Cases::Convert(convert) => convert::run(convert),
    }
}

/// The policy and the cases that stand here.
fn files(context: &Context) -> Result<(Policy, GoldenSet), Failure> {
    super::gate::files(context, &context.metrics(&[]))
}

/// Reads the lock of the policy; `None` when the set is not locked.
fn locked(files: &LockFiles) -> Result<Option<Lock>, Failure> {
    let read = || store::lock::read(&files.lock).map_err(|error| Failure::Input(error.to_string()));
    files.is_locked().then(read).transpose()
}

/// Each difference on a line of its own, with the place of a case that is there.
fn listed(difference: &Difference, set: &GoldenSet) -> String {
    let places: BTreeMap<_, _> = set.cases.iter().map(|case| (&case.id, &case.place)).collect();
    let changed = difference.changed.iter().map(|(id, _)| id);
    let ids = changed.chain(&difference.new).map(Some).chain(std::iter::repeat(None));
    let line = |((what, about), id): ((&str, String), Option<&CaseId>)| {
        let place = id.and_then(|id| places.get(id)).map(|place| format!("  {place}")).unwrap_or_default();
        format!("  {what:<8} {}{place}\n", visible(&about))
    };
    difference.entries().into_iter().zip(ids).map(line).collect()
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
