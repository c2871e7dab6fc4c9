//! `cases diff`: what changed against the lock, or against another lock or folder of cases.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use clap::Args;
use rageval_runner::{
    load::{self, Policy},
    report::console::text::visible,
    store::lock::{self, LockFiles},
    trust::lock::{Difference, Lock},
};

use serde_json::{Value, json};

use super::{files, listed, locked};
use crate::{
    command::format::{Format, print_json},
    context::Context,
    exit::{Ending, Failure},
};

/// Say which cases changed since they were locked
///
/// Names each case and the keys whose content changed. What is compared is the question, the references, the relevant documents with their
/// grades, the reference contexts and `should_refuse`; nothing else is locked.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo rageval cases diff
  git show main:cases/golden.lock > main.lock && cargo rageval cases diff main.lock
  cargo rageval cases diff ../other-checkout/cases")]
pub(crate) struct Diff {
    /// A lock, or a folder of cases, to compare with [default: the lock of the cases]
    earlier: Option<PathBuf>,
    /// How it is printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Compares and tells.
pub(super) fn run(command: &Diff, context: &Context) -> Result<Ending, Failure> {
    let (policy, set) = files(context)?;
    let files = LockFiles::of(&policy.cases);
    let name = files.name(&policy.root);
    let (earlier, what) = match &command.earlier {
        Some(folder) if folder.is_dir() => (of_folder(folder, &policy, context)?, folder.display().to_string()),
        Some(file) => {
            let lock = lock::read(file).map_err(|error| Failure::Input(error.to_string()))?;
            let what = format!("version {} of {}", lock.version, file.display());
            (lock, what)
        }
        None => {
            let Some(lock) = locked(&files)? else {
                return Err(Failure::Input(format!(
                    "there is no {name} to compare with; make it with `cargo rageval cases lock --message WHY`, or name a lock or a folder of cases"
                )));
            };
            let what = format!("version {} of {name}", lock.version);
            (lock, what)
        }
    };
    let difference = Difference::between(&earlier, &Lock::of(&set, ""));
    if command.format == Format::Json {
        print_json(&as_json(&difference, &what))?;
        return Ok(Ending::Pass);
    }
    let mut out = crate::out::stdout();
    let what = visible(&what);
    if difference.is_empty() {
        writeln!(out, "no case differs from {what}")?;
    } else {
        write!(out, "{} since {what}:\n{}", difference.counts(), listed(&difference, &set))?;
    }
    out.flush()?;
    Ok(Ending::Pass)
}

/// The same for programs: `since` says what is compared with.
fn as_json(difference: &Difference, since: &str) -> Value {
    let Difference { changed, new, gone, renamed } = difference;
    let changed: Vec<Value> = changed
        .iter()
        .map(|(case, parts)| {
            let keys: Vec<&str> = parts.iter().map(|part| part.as_str()).collect();
            json!({"case": case, "keys": keys})
        })
        .collect();
    let renamed = renamed.as_ref().map(|(before, after)| json!({"before": before, "after": after}));
    json!({"since": since, "changed": changed, "new": new, "gone": gone, "renamed": renamed})
}

/// The cases of another folder, read by the same policy.
fn of_folder(folder: &Path, policy: &Policy, context: &Context) -> Result<Lock, Failure> {
    let mut other = policy.clone();
    folder.clone_into(&mut other.cases);
    let set = load::cases(&other, &context.metrics(&[])).map_err(|problems| Failure::Input(problems.to_string()))?;
    let version = set.version.clone().unwrap_or_default();
    Ok(Lock::of(&set, version))
}
