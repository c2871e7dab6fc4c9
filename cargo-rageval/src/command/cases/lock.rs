//! `cases lock`: gives the golden set as it stands a version, in its lock and its changelog.

use std::io::Write;

use clap::{Args, ValueEnum};
use rageval_runner::{
    model::GoldenSet,
    report::console::text::visible,
    store::lock::{self, LockFiles},
    trust::{
        changelog,
        lock::{Difference, Lock, places},
    },
};
use semver::{BuildMetadata, Prerelease, Version};

use super::{count, files, listed, locked};
use crate::{
    context::Context,
    exit::{Ending, Failure},
};

/// Version of a first lock where nothing states one.
const FIRST: &str = "1.0.0";

/// Give the golden cases as they stand a version
///
/// Writes the lock (a digest for each case) and a line in the changelog, both beside the cases. From the day the lock exists, `gate::set::lock` is red
/// when a case changes without a new version. Refused when no case changed. Where a file of cases states a `version`, write the new one there
/// first: lock and cases must agree.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo rageval cases lock --message \"First set\"                         # makes the lock
  cargo rageval cases lock --bump minor --message \"Questions on refunds\"
  cargo rageval cases lock --message \"Prices of 2026\"                    # at the version that the cases state

patch: the same questions, said better. minor: cases added or corrected. major: a set that asks for something else.")]
pub(crate) struct LockSet {
    /// Which part of the locked MAJOR.MINOR.PATCH is raised
    #[arg(long, value_name = "PART", conflicts_with = "set_version")]
    bump: Option<Bump>,
    /// The new version, in any form [default: the version that the cases state; 1.0.0 for a first lock]
    #[arg(long, value_name = "VERSION", value_parser = word)]
    set_version: Option<String>,
    /// What changed and why, for the changelog
    #[arg(long, value_name = "TEXT", value_parser = message)]
    message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Bump {
    Patch,
    Minor,
    Major,
}

fn message(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() { Err("say what changed and why".to_owned()) } else { Ok(text.to_owned()) }
}

fn word(text: &str) -> Result<String, String> {
    let is_word = !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control());
    if is_word { Ok(text.to_owned()) } else { Err("a version is one word".to_owned()) }
}

/// Writes lock and changelog, and tells what changed.
pub(super) fn run(command: &LockSet, context: &Context) -> Result<Ending, Failure> {
    let (policy, set) = files(context)?;
    let files = LockFiles::of(&policy.cases);
    let name = files.name(&policy.root);
    let earlier = locked(&files)?;
    if let Some(earlier) = &earlier
        && Difference::between(earlier, &Lock::of(&set, "")).is_empty()
    {
        return Err(Failure::Input(nothing_changed(&set, earlier, &name)));
    }
    let input = |error: &dyn std::fmt::Display| Failure::Input(error.to_string());
    let log = lock::read_changelog(&files.changelog).map_err(|error| input(&error))?;
    let log_name = files.changelog_name(&policy.root);
    let removed = match &earlier {
        Some(_) => None,
        None => Removed::of(log.as_deref().unwrap_or_default(), &name, &log_name),
    };
    let version = new_version(command, &set, earlier.as_ref(), removed.as_ref(), &name).map_err(Failure::Input)?;
    let lock = Lock::of(&set, version);
    let difference = earlier.as_ref().map(|earlier| Difference::between(earlier, &lock));
    let entry = changelog::entry(&command.message, difference.as_ref());
    let log = changelog::with_entry(log.as_deref(), &lock.version, &entry);
    lock::write(&files, &lock, &log).map_err(|error| input(&error))?;

    let mut out = crate::out::stdout();
    let cases = count(lock.cases.len(), "case");
    match (&earlier, &difference) {
        (Some(earlier), Some(difference)) => {
            writeln!(out, "{name}: {cases} locked at version {}, after {}", lock.version, earlier.version)?;
            write!(out, "{}:\n{}", difference.counts(), listed(difference, &set))?;
        }
        (None, _) | (_, None) => {
            let after = match &removed {
                Some(Removed { version, .. }) => format!("after {version} of {log_name}, whose lock is gone"),
                None => "the first".to_owned(),
            };
            writeln!(out, "{name}: {cases} locked at version {}, {after}", lock.version)?;
        }
    }
    writeln!(out, "{log_name}, under {}:\n{}", lock.version, entry.join("\n"))?;
    out.flush()?;
    Ok(Ending::Pass)
}

fn nothing_changed(set: &GoldenSet, earlier: &Lock, name: &str) -> String {
    let version = &earlier.version;
    let why = format!("no case changed since version {version} of {name}, so there is nothing to lock");
    match &set.version {
        Some(stated) if stated != version => {
            format!("{why}\nthe cases state version {stated}: write {version} at {}", places(&set.version_places))
        }
        Some(_) | None => why,
    }
}

/// What the changelog tells of a lock that is no longer there.
struct Removed {
    /// The versions that the changelog holds.
    versions: Vec<String>,
    /// The newest of them: the highest MAJOR.MINOR.PATCH, else the topmost.
    version: String,
    /// What happened and what to do.
    why: String,
}

impl Removed {
    /// `None` where the changelog holds no version, so that the lock is the first.
    fn of(log: &str, name: &str, log_name: &str) -> Option<Self> {
        let versions: Vec<String> = changelog::versions(log).into_iter().map(visible).collect();
        let highest = versions.iter().filter_map(|version| Version::parse(version).ok()).max();
        let version = highest.map(|version| version.to_string()).or_else(|| versions.first().cloned())?;
        let why = format!(
            "there is no {name}, and {log_name} holds versions up to {version}, so the lock was removed: restore it from version control, \
             or lock above that version with --set-version VERSION"
        );
        Some(Self { versions, version, why })
    }

    /// A version must be above all that the changelog holds.
    fn check(&self, version: &str) -> Result<(), String> {
        let rises = self.versions.iter().all(|earlier| is_above(version, earlier));
        if rises { Ok(()) } else { Err(format!("version {version} is not above {}: {}", self.version, self.why)) }
    }
}

/// The version to lock at: above the locked one, and the one that the cases state, if they state one.
fn new_version(
    command: &LockSet,
    set: &GoldenSet,
    earlier: Option<&Lock>,
    removed: Option<&Removed>,
    name: &str,
) -> Result<String, String> {
    let stated = set.version.as_ref();
    let wanted = match (command.bump, &command.set_version, earlier) {
        (Some(_), _, None) => {
            if let Some(removed) = removed {
                return Err(format!("there is no locked version to bump: {}", removed.why));
            }
            return Err(format!(
                "there is no {name} yet, so there is no version to bump: the first lock takes the version that the cases state, \
                 --set-version, or {FIRST}"
            ));
        }
        (Some(bump), _, Some(earlier)) => bumped(&earlier.version, bump)?,
        (None, Some(version), _) => version.clone(),
        (None, None, None) => stated.cloned().unwrap_or_else(|| FIRST.to_owned()),
        (None, None, Some(earlier)) => match stated {
            Some(stated) if *stated != earlier.version => stated.clone(),
            Some(_) => {
                return Err(format!(
                    "the cases state version {}, which is locked already: write the new one at {}, then lock again",
                    earlier.version,
                    places(&set.version_places)
                ));
            }
            None => {
                return Err(format!(
                    "say how version {} of {name} changes: --bump patch|minor|major, or --set-version VERSION",
                    earlier.version
                ));
            }
        },
    };
    if let Some(earlier) = earlier
        && !is_above(&wanted, &earlier.version)
    {
        return Err(format!("version {wanted} is not above {}, which is locked", earlier.version));
    }
    if let Some(removed) = removed {
        removed.check(&wanted)?;
    }
    match stated {
        Some(stated) if *stated != wanted => Err(format!(
            "the new version is {wanted}, and the cases state {stated}: write {wanted} at {}, then lock again",
            places(&set.version_places)
        )),
        Some(_) | None => Ok(wanted),
    }
}

fn bumped(version: &str, bump: Bump) -> Result<String, String> {
    let Ok(mut next) = Version::parse(version) else {
        return Err(format!(
            "the locked version `{version}` is not MAJOR.MINOR.PATCH, so no part of it can be raised; name the new one with --set-version"
        ));
    };
    (next.major, next.minor, next.patch) = match bump {
        Bump::Patch => (next.major, next.minor, next.patch + 1),
        Bump::Minor => (next.major, next.minor + 1, 0),
        Bump::Major => (next.major + 1, 0, 0),
    };
    (next.pre, next.build) = (Prerelease::EMPTY, BuildMetadata::EMPTY);
    Ok(next.to_string())
}

/// Two versions of the usual form must rise; of other forms no more is known than that they differ.
fn is_above(version: &str, earlier: &str) -> bool {
    match (Version::parse(version), Version::parse(earlier)) {
        (Ok(version), Ok(earlier)) => version > earlier,
        (Ok(_) | Err(_), Err(_)) | (Err(_), Ok(_)) => version != earlier,
    }
}
