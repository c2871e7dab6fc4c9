//! Recorded probes: `baselines/probes.json`, what a judge said of fixed claims on the day on which it was recorded.
//!
//! JSON with one line a probe, in the order in which they are asked.

use std::{collections::BTreeSet, fmt::Write as _, fs, io, path::Path};

use serde::{Deserialize, Serialize};

use super::{StoreError, write_atomically};
use crate::{
    model::{CaseId, Language, Verdict, run::JudgeStamp},
    trust::{Date, probes::Probe},
};

/// What `format` says in the file.
pub const FORMAT: &str = "rageval-probes";
/// Version of the file that this version reads and writes.
pub const VERSION: u32 = 1;

/// What to do with a file that is broken.
const AGAIN: &str = "restore it, or remove it and record anew: cargo rageval judge check --record";

/// Probes with what a judge said of them.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedProbes {
    /// The day in UTC.
    pub recorded: Date,
    /// The judge.
    pub judge: JudgeStamp,
    /// Names other than its own by which its replies called the model.
    pub calls_itself: BTreeSet<String>,
    /// Each probe with its readings, at least one.
    pub probes: Vec<(Probe, Vec<Verdict>)>,
}

#[derive(Deserialize)]
struct Head {
    format: Option<String>,
    version: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileV1 {
    #[expect(dead_code, reason = "checked before; named here so that other unknown keys are refused")]
    format: String,
    #[expect(dead_code, reason = "checked before; named here so that other unknown keys are refused")]
    version: u32,
    recorded: String,
    judge: JudgeStamp,
    #[serde(default)]
    calls_itself: BTreeSet<String>,
    /// How many probes follow; absent in files of older releases.
    count: Option<usize>,
    probes: Vec<ProbeV1>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProbeV1 {
    id: String,
    language: Language,
    query: String,
    claim: String,
    contexts: Vec<String>,
    verdicts: Vec<Verdict>,
}

/// Reads recorded probes; `None` where there is no such file.
///
/// # Errors
/// It can't be read, or is of a newer version, or holds a probe twice, without a reading or without evidence.
pub fn read_if_present(path: &Path) -> Result<Option<RecordedProbes>, StoreError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(StoreError::Io { path: path.to_owned(), source }),
    };
    let unreadable =
        |error: &dyn std::fmt::Display| StoreError::format(path, format!("no readable probes: {error}; {AGAIN}"));
    let head: Head = serde_json::from_str(&text).map_err(|error| unreadable(&error))?;
    match (head.format.as_deref(), head.version) {
        (Some(FORMAT), Some(VERSION)) => {}
        (Some(FORMAT), Some(version)) if version > VERSION => {
            let why =
                format!("written by a newer rageval (format {version}, this one reads {VERSION}); update rageval");
            return Err(StoreError::format(path, why));
        }
        (Some(FORMAT), _) => return Err(unreadable(&"its `version` is none of this format")),
        (Some(_) | None, _) => return Err(unreadable(&format!("its `format` is not {FORMAT}"))),
    }
    let file: FileV1 = serde_json::from_str(&text).map_err(|error| unreadable(&error))?;
    let recorded =
        file.recorded.parse().map_err(|_| unreadable(&format!("`recorded` is no day: {}", file.recorded)))?;
    let there = file.probes.len();
    if let Some(count) = file.count.filter(|count| *count != there) {
        let are = if there == 1 { "is" } else { "are" };
        return Err(unreadable(&format!("it says that it holds {count} probes, and {there} {are} there")));
    }
    let mut seen = BTreeSet::new();
    let mut probes = Vec::with_capacity(file.probes.len());
    for ProbeV1 { id, language, query, claim, contexts, verdicts } in file.probes {
        if let Err(error) = CaseId::new(&id) {
            return Err(unreadable(&format!("the probe `{id}`: {error}")));
        }
        if !seen.insert(id.clone()) {
            return Err(unreadable(&format!("the probe `{id}` stands there twice")));
        }
        let probe = Probe { id, language, query, claim, contexts };
        if verdicts.is_empty() || probe.sample().is_blank() || probe.sample().readable_contexts().next().is_none() {
            return Err(unreadable(&format!("the probe `{}` lacks its verdicts, its claim or its evidence", probe.id)));
        }
        probes.push((probe, verdicts));
    }
    if probes.is_empty() {
        return Err(unreadable(&"it holds no probe"));
    }
    Ok(Some(RecordedProbes { recorded, judge: file.judge, calls_itself: file.calls_itself, probes }))
}

/// Writes recorded probes, whole or not at all, over those that are there.
pub fn write(path: &Path, recorded: &RecordedProbes) -> Result<(), StoreError> {
    let text = text(recorded).map_err(|error| StoreError::format(path, error.to_string()))?;
    write_atomically(path, text.as_bytes())
}

fn text(recorded: &RecordedProbes) -> serde_json::Result<String> {
    let RecordedProbes { recorded, judge, calls_itself, probes } = recorded;
    let mut text = format!("{{\"format\":\"{FORMAT}\",\"version\":{VERSION},\n");
    // Writing to a string cannot fail.
    let _ = write!(text, "\"recorded\":\"{recorded}\",\n\"judge\":{},\n", serde_json::to_string(judge)?);
    if !calls_itself.is_empty() {
        let _ = writeln!(text, "\"calls_itself\":{},", serde_json::to_string(calls_itself)?);
    }
    let _ = writeln!(text, "\"count\":{},", probes.len());
    text.push_str("\"probes\":[");
    for (index, (probe, verdicts)) in probes.iter().enumerate() {
        let Probe { id, language, query, claim, contexts } = probe.clone();
        let line = ProbeV1 { id, language, query, claim, contexts, verdicts: verdicts.clone() };
        text.push_str(if index == 0 { "\n" } else { ",\n" });
        text.push_str(&serde_json::to_string(&line)?);
    }
    text.push_str("\n]}\n");
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trust::probe_set::built_in;

    fn recorded() -> RecordedProbes {
        RecordedProbes {
            recorded: "2026-11-30".parse().expect("a date"),
            judge: JudgeStamp { provider: "openai".into(), model: "m".into(), fingerprint: "f".into() },
            calls_itself: ["m-2".to_owned()].into(),
            probes: built_in().into_iter().map(|probe| (probe, vec![Verdict::Supported; 3])).collect(),
        }
    }

    #[test]
    fn probes_are_read_as_they_were_written_one_line_each() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("baselines/probes.json");
        assert_eq!(read_if_present(&path).expect("no file"), None);
        write(&path, &recorded()).expect("written");
        assert_eq!(read_if_present(&path).expect("readable"), Some(recorded()));
        assert_eq!(fs::read_to_string(&path).expect("there").lines().count(), 6 + 12 + 1);
        // Of an older release.
        let text = text(&recorded()).expect("JSON").replace("\"count\":12,\n", "");
        fs::write(&path, text).expect("written");
        assert_eq!(read_if_present(&path).expect("readable"), Some(recorded()));
    }

    #[test]
    fn what_can_not_be_compared_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("probes.json");
        let text = text(&recorded()).expect("JSON");
        let twice = text.replace("\"id\":\"en-counted\"", "\"id\":\"en-stated\"");
        let silent = text.replacen("[\"supported\",\"supported\",\"supported\"]", "[]", 1);
        for (text, expected) in [
            (text.replace("\"version\":1", "\"version\":2"), "written by a newer rageval"),
            (text.replace("\"count\":12", "\"count\":13"), "it says that it holds 13 probes, and 12 are there"),
            (text.replace("rageval-probes", "rageval-run"), "its `format` is not rageval-probes"),
            (twice, "the probe `en-stated` stands there twice"),
            (silent, "the probe `en-stated` lacks its verdicts"),
            (text.replace("2026-11-30", "today"), "`recorded` is no day: today"),
            (text.replace("\"recorded\"", "\"recordet\""), "no readable probes: unknown field `recordet`"),
            ("<<<".to_owned(), "no readable probes: "),
        ] {
            fs::write(&path, &text).expect("written");
            let error = read_if_present(&path).expect_err(expected).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
