//! Compares a golden set with its lock: what the set was when it was last given a version.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    model::{
        CaseId, CasePart, GoldenCase, GoldenSet, Place,
        case::set_digest,
        run::{Decision, Ruling},
    },
    report::console::text::{line, visible, whole_line},
};

/// The trial that decides it.
pub const TRIAL: &str = "gate::set::lock";

/// Cases that a red trial names; the rest are counted.
const MOST_NAMED: usize = 10;

/// A golden set as it was when it was given its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lock {
    /// Name of the set, where it had one.
    pub name: Option<String>,
    /// Its version.
    pub version: String,
    /// Its cases.
    pub cases: BTreeMap<CaseId, LockedCase>,
}

/// What a lock holds of one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedCase {
    /// The content digest, which decides.
    pub digest: String,
    /// Digests of its parts, which say what changed; a part of which the case says nothing has none.
    pub parts: BTreeMap<CasePart, String>,
}

impl Lock {
    /// The set as it is now, under this version.
    pub fn of(set: &GoldenSet, version: impl Into<String>) -> Self {
        let locked = |case: &GoldenCase| {
            let parts = CasePart::ALL.into_iter().filter_map(|part| Some((part, case.part_digest(part)?))).collect();
            (case.id.clone(), LockedCase { digest: case.digest(), parts })
        };
        Self { name: set.name.clone(), version: version.into(), cases: set.cases.iter().map(locked).collect() }
    }

    /// Digest over all cases; of a set and its lock it is the same.
    pub fn digest(&self) -> String {
        set_digest(self.cases.iter().map(|(id, case)| (id.as_str(), case.digest.clone())))
    }
}

/// How a set differs from what it was. Each list is sorted by id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    /// Cases whose content changed, with the parts that did; no part where only the whole digest tells.
    pub changed: Vec<(CaseId, Vec<CasePart>)>,
    /// Cases that are new.
    pub new: Vec<CaseId>,
    /// Cases that are no longer there.
    pub gone: Vec<CaseId>,
    /// The name before and after, where it is another.
    pub renamed: Option<(Option<String>, Option<String>)>,
}

impl Difference {
    /// What happened between two states of a set, whatever their versions.
    pub fn between(before: &Lock, after: &Lock) -> Self {
        let mut difference = Self::default();
        for (id, case) in &after.cases {
            match before.cases.get(id) {
                None => difference.new.push(id.clone()),
                Some(earlier) if earlier.digest == case.digest => {}
                Some(earlier) => {
                    let differs = |part: &CasePart| earlier.parts.get(part) != case.parts.get(part);
                    let parts = CasePart::ALL.into_iter().filter(differs).collect();
                    difference.changed.push((id.clone(), parts));
                }
            }
        }
        difference.gone = before.cases.keys().filter(|id| !after.cases.contains_key(*id)).cloned().collect();
        difference.renamed = (before.name != after.name).then(|| (before.name.clone(), after.name.clone()));
        difference
    }

    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.cases() == 0 && self.renamed.is_none()
    }

    /// How many cases differ.
    pub fn cases(&self) -> usize {
        self.changed.len() + self.new.len() + self.gone.len()
    }

    /// `2 changed, 1 new`; `the name changed` where that is all.
    pub fn counts(&self) -> String {
        let counts = [(self.changed.len(), "changed"), (self.new.len(), "new"), (self.gone.len(), "gone")];
        let counts = counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
        let mut words: Vec<String> = counts.collect();
        if self.renamed.is_some() {
            words.push("the name changed".to_owned());
        }
        words.join(", ")
    }

    /// Each difference as what it is and what it is about, in the order changed, new, gone, renamed.
    pub fn entries(&self) -> Vec<(&'static str, String)> {
        let changed = self.changed.iter().map(|(id, parts)| {
            let parts: Vec<&str> = parts.iter().map(|part| part.as_str()).collect();
            let parts = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
            ("changed", format!("{id}{parts}"))
        });
        let new = self.new.iter().map(|id| ("new", id.to_string()));
        let gone = self.gone.iter().map(|id| ("gone", id.to_string()));
        let shown = |name: &Option<String>| name.as_ref().map_or("no name".to_owned(), |name| format!("\"{name}\""));
        let renamed = self
            .renamed
            .iter()
            .map(|(before, after)| ("renamed", format!("the golden set: {} -> {}", shown(before), shown(after))));
        changed.chain(new).chain(gone).chain(renamed).collect()
    }
}

/// The notice of a run whose set has no lock; the name of the file stands last, so that the command is whole where a notice is cut.
pub fn unlocked(file: &str) -> String {
    format!("cases are not locked: cargo rageval cases lock --message WHY makes {file}")
}

/// Decides [`TRIAL`]: the set is the one that was locked, under the version that it states, if it states one.
///
/// `file` is what the lock is called; one that cannot be read, with the reason, leaves it undecided, which is red.
pub fn decide(set: &GoldenSet, lock: Result<&Lock, &str>, file: &str) -> Decision {
    let (ruling, lines) = match lock {
        Err(why) => (Ruling::Undecided, vec![whole_line("undecided", why)]),
        Ok(lock) => {
            let lines = findings(set, lock, file);
            (if lines.is_empty() { Ruling::Pass } else { Ruling::Fail }, lines)
        }
    };
    Decision::told(TRIAL, ruling, lines)
}

/// What is wrong and what to do; nothing where all is well.
fn findings(set: &GoldenSet, lock: &Lock, file: &str) -> Vec<String> {
    let difference = Difference::between(lock, &Lock::of(set, lock.version.as_str()));
    let restated = set.version.as_ref().filter(|version| **version != lock.version);
    let places = places(&set.version_places);
    let version = visible(&lock.version);
    let mut lines = Vec::new();
    match (difference.is_empty(), restated) {
        (true, None) => return lines,
        (true, Some(stated)) => {
            let why = format!("version {} is stated at {places}, and {file} holds {version}", visible(stated));
            lines.push(whole_line("failed", &why));
            lines.push(line("", "no case differs from the lock, so there is nothing to lock under another version"));
            lines.push(whole_line("accept", &format!("write version {version} at {places}")));
            return lines;
        }
        (false, None) => {
            let why = format!("{} since version {version} of {file}, without a new version", difference.counts());
            lines.push(whole_line("failed", &why));
        }
        (false, Some(stated)) => {
            let why = format!(
                "{} since version {version} of {file}; version {} is stated and not yet locked",
                difference.counts(),
                visible(stated)
            );
            lines.push(whole_line("failed", &why));
        }
    }
    let entries = difference.entries();
    let at: BTreeMap<&CaseId, &Place> = set.cases.iter().map(|case| (&case.id, &case.place)).collect();
    let ids = difference.changed.iter().map(|(id, _)| id).chain(&difference.new).chain(&difference.gone);
    let mut ids = ids.map(Some).chain([None]);
    for (what, about) in entries.iter().take(MOST_NAMED) {
        let place = ids.next().flatten().and_then(|id| at.get(id));
        let place = place.map(|place| format!(" {place}")).unwrap_or_default();
        lines.push(line(what, &format!("{about}{place}")));
    }
    if entries.len() > MOST_NAMED {
        lines.push(line("", &format!("and {} more", entries.len() - MOST_NAMED)));
    }
    lines.push(whole_line("look", "cargo rageval cases diff"));
    lines.push(whole_line(
        "accept",
        &match (restated, set.version_places.is_empty()) {
            (Some(_), _) => "cargo rageval cases lock --message WHY".to_owned(),
            (None, true) => "cargo rageval cases lock --bump patch|minor|major --message WHY".to_owned(),
            (None, false) => {
                format!("write the new version at {places}, then: cargo rageval cases lock --message WHY")
            }
        },
    ));
    lines
}

/// `cases/en.yaml:3, cases/pt.yaml:3`: each once; the first three, and how many more.
pub fn places(places: &[Place]) -> String {
    const MOST: usize = 3;
    let places: BTreeSet<String> = places.iter().map(ToString::to_string).collect();
    let named = places.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    if places.len() > MOST { format!("{named} and {} more places", places.len() - MOST) } else { named }
}

#[cfg(test)]
mod tests;
