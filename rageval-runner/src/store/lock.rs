//! The lock of a golden set and its changelog, beside the cases.
//!
//! `cases/golden.lock` is JSON lines: a first line with format, version and the set, then one line a case, sorted by id. No times and no
//! paths, so that git shows which cases changed. The same set and version give the same bytes.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{StoreError, write_atomically};
use crate::{
    model::{CaseId, CasePart, record::each_once},
    trust::lock::{Lock, LockedCase},
};

/// What `format` says on the first line of a lock.
pub const FORMAT: &str = "rageval-golden-lock";
/// Version of the lock file that this version writes.
pub const VERSION: u32 = 1;

/// What to do with a file that is broken.
const AGAIN: &str =
    "restore it from version control, then lock what changed since: cargo rageval cases lock --message WHY";

/// Where the lock of a set and its changelog are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockFiles {
    /// The lock.
    pub lock: PathBuf,
    /// The changelog.
    pub changelog: PathBuf,
}

impl LockFiles {
    /// `golden.lock` and `CHANGELOG.md` in the folder of the cases. For a set of one file `cases.yaml` they are called `cases.yaml.lock` and
    /// `cases.yaml.CHANGELOG.md` and stand beside it, since a `CHANGELOG.md` there is most likely another's.
    pub fn of(cases: &Path) -> Self {
        let Some(name) = cases.file_name().filter(|_| cases.is_file()) else {
            return Self { lock: cases.join("golden.lock"), changelog: cases.join("CHANGELOG.md") };
        };
        let beside = |ending: &str| {
            let mut name = name.to_owned();
            name.push(ending);
            cases.with_file_name(name)
        };
        Self { lock: beside(".lock"), changelog: beside(".CHANGELOG.md") }
    }

    /// Whether there is a lock, readable or not: what stands in its place and can't be looked at counts.
    pub fn is_locked(&self) -> bool {
        !matches!(self.lock.symlink_metadata(), Err(error) if error.kind() == io::ErrorKind::NotFound)
    }

    /// What the lock is called in texts: relative to the folder of the policy, with `/`.
    pub fn name(&self, root: &Path) -> String {
        relative(&self.lock, root)
    }

    /// What the changelog is called in texts.
    pub fn changelog_name(&self, root: &Path) -> String {
        relative(&self.changelog, root)
    }
}

fn relative(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/")
}

/// Reads a lock. One that holds other cases than its first line says is damaged, as after a careless merge.
pub fn read(path: &Path) -> Result<Lock, StoreError> {
    let text = fs::read_to_string(path).map_err(StoreError::io(path))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut lines = (1..).zip(text.split('\n')).filter(|(_, line)| !line.trim().is_empty());
    let (number, line) = lines.next().unwrap_or((1, ""));
    let head = head(path, number, line)?;
    let mut cases = BTreeMap::new();
    for (number, line) in lines {
        let broken = |why: &str| StoreError::format(path, format!("line {number}: {why}; {AGAIN}"));
        let case: CaseV1 = serde_json::from_str(line).map_err(|error| broken(&of_one_line(&error)))?;
        let CaseV1 { case: id, digest, parts } = case;
        if cases.contains_key(&id) {
            return Err(broken(&format!("case `{id}` stands there twice")));
        }
        cases.insert(id, LockedCase { digest, parts });
    }
    let SetV1 { name, version, digest, cases: stated } = head.golden_set;
    if stated != cases.len() {
        let why = format!("it holds {} cases and says that there are {stated}; {AGAIN}", cases.len());
        return Err(StoreError::format(path, why));
    }
    let lock = Lock { name, version, cases };
    if lock.digest() != digest {
        let why = format!("its cases are not those that its first line was written for; {AGAIN}");
        return Err(StoreError::format(path, why));
    }
    Ok(lock)
}

/// Reads a changelog; `None` when there is no such file.
pub fn read_changelog(path: &Path) -> Result<Option<String>, StoreError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::io(path)(error)),
    }
}

/// Writes changelog and lock, each whole or not at all; the changelog first, so that no version is locked without its line there.
pub fn write(files: &LockFiles, lock: &Lock, changelog: &str) -> Result<(), StoreError> {
    let text = to_text(lock).map_err(|error| StoreError::format(&files.lock, error.to_string()))?;
    write_atomically(&files.changelog, changelog.as_bytes())?;
    write_atomically(&files.lock, text.as_bytes())
}

/// What is wrong in a line, without the line number that JSON counts, which would be 1 for each.
fn of_one_line(error: &serde_json::Error) -> String {
    let why = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match why.strip_suffix(&place) {
        Some(what) => format!("{what} at column {}", error.column()),
        None => why,
    }
}

/// The first line, as version 1 lays it out.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeadV1 {
    format: String,
    version: u32,
    golden_set: SetV1,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SetV1 {
    name: Option<String>,
    version: String,
    digest: String,
    cases: usize,
}

/// The line of a case.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseV1 {
    case: CaseId,
    digest: String,
    #[serde(deserialize_with = "each_once")]
    parts: BTreeMap<CasePart, String>,
}

/// Refuses what is no lock, and what a newer version wrote, before its fields are looked at.
fn head(path: &Path, number: usize, line: &str) -> Result<HeadV1, StoreError> {
    #[derive(Deserialize)]
    struct Head {
        format: Option<String>,
        version: Option<u32>,
    }
    let unreadable = |error: &serde_json::Error| {
        StoreError::format(path, format!("line {number}: not a readable lock: {}; {AGAIN}", of_one_line(error)))
    };
    let head: Head = serde_json::from_str(line).map_err(|error| unreadable(&error))?;
    let why = match (head.format.as_deref(), head.version) {
        (Some(FORMAT), Some(VERSION)) => return serde_json::from_str(line).map_err(|error| unreadable(&error)),
        (Some(FORMAT), Some(version)) if version > VERSION => {
            format!("written by a newer rageval (format {version}, this one reads up to {VERSION}); update rageval")
        }
        (Some(FORMAT), Some(version)) => format!("there is no version {version} of the format of locks"),
        (Some(FORMAT), None) => "its first line states no `version`".to_owned(),
        (Some(format), _) => format!("its `format` says `{format}`, a lock says `{FORMAT}`"),
        (None, _) => format!("its first line states no `format`, a lock says `{FORMAT}`"),
    };
    Err(StoreError::format(path, why))
}

fn to_text(lock: &Lock) -> serde_json::Result<String> {
    let Lock { name, version, cases } = lock;
    let golden_set = SetV1 { name: name.clone(), version: version.clone(), digest: lock.digest(), cases: cases.len() };
    let head = HeadV1 { format: FORMAT.to_owned(), version: VERSION, golden_set };
    let mut text = serde_json::to_string(&head)? + "\n";
    for (id, LockedCase { digest, parts }) in cases {
        let line = CaseV1 { case: id.clone(), digest: digest.clone(), parts: parts.clone() };
        text += &serde_json::to_string(&line)?;
        text.push('\n');
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gate::fixture::golden,
        model::{Expectation, GoldenSet},
    };

    fn set() -> GoldenSet {
        let mut cases = vec![golden("b", 1), golden("a", 2)];
        cases[0].expectation = Expectation::Refuse;
        cases[0].references.clear();
        GoldenSet { name: Some("help".to_owned()), cases, ..GoldenSet::default() }
    }

    fn folder() -> (tempfile::TempDir, LockFiles) {
        let folder = tempfile::tempdir().expect("a folder");
        let files = LockFiles::of(folder.path());
        (folder, files)
    }

    /// What is said of a lock whose text was changed.
    fn broken(change: impl FnOnce(&str) -> String) -> String {
        let (_folder, files) = folder();
        let text = to_text(&Lock::of(&set(), "1.0.0")).expect("JSON");
        fs::write(&files.lock, change(&text)).expect("written");
        match read(&files.lock).expect_err("a broken lock") {
            StoreError::Format { why, .. } => why,
            StoreError::Io { source, .. } => source.to_string(),
        }
    }

    #[test]
    fn a_lock_reads_back_and_has_one_line_a_case() {
        let (_folder, files) = folder();
        assert!(!files.is_locked());
        let lock = Lock::of(&set(), "1.0.0");
        write(&files, &lock, "# Changes\n").expect("written");
        assert!(files.is_locked());
        assert_eq!(read(&files.lock).expect("read"), lock);
        assert_eq!(read_changelog(&files.changelog).expect("read").as_deref(), Some("# Changes\n"));
        let text = fs::read_to_string(&files.lock).expect("read");
        let starts: Vec<&str> = text.lines().map(|line| &line[..11]).collect();
        assert_eq!(starts, ["{\"format\":\"", "{\"case\":\"a\"", "{\"case\":\"b\""]);
    }

    #[test]
    fn windows_line_ends_and_a_byte_order_mark_are_fine() {
        let (_folder, files) = folder();
        let lock = Lock::of(&set(), "1.0.0");
        let text = format!("\u{feff}{}", to_text(&lock).expect("JSON").replace('\n', "\r\n"));
        fs::write(&files.lock, text).expect("written");
        assert_eq!(read(&files.lock).expect("read"), lock);
    }

    #[test]
    fn a_lock_of_each_version_of_the_format_is_read() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/formats/golden-lock-v1.jsonl");
        let lock = read(&path).expect("read");
        assert_eq!((lock.name.as_deref(), lock.version.as_str(), lock.cases.len()), (Some("help"), "1.0.0", 2));
        assert_eq!(lock, Lock::of(&set(), "1.0.0"));
    }

    #[test]
    fn damage_is_told() {
        let without_last = |text: &str| text.lines().take(2).collect::<Vec<_>>().join("\n");
        assert!(broken(without_last).starts_with("it holds 1 cases and says that there are 2; restore it"));
        let twice = |text: &str| format!("{text}{}", text.lines().nth(1).expect("a case"));
        assert!(broken(twice).starts_with("line 4: case `a` stands there twice; restore it"));
        let digest = set().cases[0].digest();
        let edited = |text: &str| text.replace(&digest, "0123456789abcdef0123456789abcdef");
        assert!(broken(edited).starts_with("its cases are not those that its first line was written for; restore"));
        let merged = |text: &str| text.replace("{\"case\":\"b\"", "<<<<<<< ours\n{\"case\":\"b\"");
        let again =
            "restore it from version control, then lock what changed since: cargo rageval cases lock --message WHY";
        assert_eq!(broken(merged), format!("line 3: expected value at column 1; {again}"));
        let empty = broken(|_| String::new());
        assert!(
            empty.starts_with("line 1: not a readable lock: EOF while parsing a value at column 0; restore it"),
            "{empty}"
        );
        let unknown = |text: &str| text.replace("\"parts\"", "\"more\":1,\"parts\"");
        assert!(broken(unknown).contains("line 2: unknown field `more`"));
    }

    #[test]
    fn other_formats_and_newer_versions_are_refused() {
        let newer = "written by a newer rageval (format 2, this one reads up to 1); update rageval";
        assert_eq!(broken(|text| text.replacen("\"version\":1", "\"version\":2,\"new\":true", 1)), newer);
        assert_eq!(broken(|text| text.replacen(":1,", ":0,", 1)), "there is no version 0 of the format of locks");
        let other = broken(|text| text.replace(FORMAT, "rageval-baseline"));
        assert_eq!(other, "its `format` says `rageval-baseline`, a lock says `rageval-golden-lock`");
        assert_eq!(broken(|_| "{}".to_owned()), "its first line states no `format`, a lock says `rageval-golden-lock`");
        assert!(broken(|_| format!("{{\"format\":\"{FORMAT}\"}}")).contains("states no `version`"));
    }

    #[test]
    fn a_set_of_one_file_has_its_lock_beside_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let cases = folder.path().join("golden.jsonl");
        fs::write(&cases, "").expect("written");
        let files = LockFiles::of(&cases);
        assert_eq!(files.name(folder.path()), "golden.jsonl.lock");
        assert_eq!(files.changelog, folder.path().join("golden.jsonl.CHANGELOG.md"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_nowhere_is_a_lock_that_cannot_be_read() {
        let (folder, files) = folder();
        std::os::unix::fs::symlink(folder.path().join("gone"), &files.lock).expect("linked");
        assert!(files.is_locked());
        assert!(matches!(read(&files.lock), Err(StoreError::Io { .. })));
    }
}
