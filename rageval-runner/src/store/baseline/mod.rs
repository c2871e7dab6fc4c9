//! Baselines: runs that were accepted and checked in.
//!
//! `baselines/main.json` is JSON with one line a case, sorted by id, so that git shows what changed; no times, costs or run ids. The retrieved
//! texts stand once each in `main.samples.jsonl` beside it, by digest. The same run gives the same bytes.

pub mod accept;
pub mod answers;
pub mod difference;
pub mod rejudged;

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

pub use accept::{Accepted, Refused, from_run, text_digest};
pub use answers::Answers;
pub use difference::{Difference, ScoreChange};
pub use rejudged::{Rejudging, rejudged};

use super::{StoreError, write_atomically};
use crate::model::{
    CaseId, DocId, MetricKey, Outcome,
    record::each_once,
    run::{Baseline, BaselineCase, BaselineManifest},
};

/// What `format` says in a baseline file.
pub const FORMAT: &str = "rageval-baseline";
/// Version of the baseline file that this version writes; it reads those before.
pub const VERSION: u32 = 3;

/// What to do with a file that is broken.
const AGAIN: &str = "restore it, or remove it and accept a run again";

/// Retrieved texts by their digest, as [`text_digest`] makes it.
pub type Texts = BTreeMap<String, String>;

/// The file of retrieved texts that belongs to a baseline file: `main.samples.jsonl` beside `main.json`.
pub fn samples_path(path: &Path) -> PathBuf {
    path.with_extension("samples.jsonl")
}

/// Reads a baseline without its texts.
pub fn read(path: &Path) -> Result<Baseline, StoreError> {
    let text = fs::read_to_string(path).map_err(StoreError::io(path))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    check_version(path, text)?;
    let file: File = serde_json::from_str(text).map_err(|error| unreadable(path, &error))?;
    let mut cases = BTreeMap::new();
    for case in file.cases {
        let (id, case) = case.checked(path)?;
        if cases.insert(id.clone(), case).is_some() {
            let why = format!("case `{id}` stands there twice, perhaps from a merge; {AGAIN}");
            return Err(StoreError::format(path, why));
        }
    }
    let stated = file.manifest.golden_set.cases;
    if stated != cases.len() {
        let why = format!("it holds {} cases and says that there are {stated}; {AGAIN}", cases.len());
        return Err(StoreError::format(path, why));
    }
    Ok(Baseline { manifest: file.manifest, cases })
}

/// Reads a baseline; `None` when there is no such file.
pub fn read_if_present(path: &Path) -> Result<Option<Baseline>, StoreError> {
    match read(path) {
        Ok(baseline) => Ok(Some(baseline)),
        Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads the retrieved texts that belong to the baseline at `path`; each must have the digest it is filed under.
pub fn read_texts(path: &Path) -> Result<Texts, StoreError> {
    let path = samples_path(path);
    let text = fs::read_to_string(&path).map_err(StoreError::io(&path))?;
    let mut texts = Texts::new();
    for (index, line) in text.split('\n').enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line: TextV1 = serde_json::from_str(line)
            .map_err(|error| StoreError::format(&path, format!("line {}: {error}; {AGAIN}", index + 1)))?;
        if text_digest(&line.text) != line.digest {
            let why = format!("line {}: the text does not have the digest it is filed under; {AGAIN}", index + 1);
            return Err(StoreError::format(&path, why));
        }
        texts.insert(line.digest, line.text);
    }
    Ok(texts)
}

/// Writes a baseline and the texts it refers to, each file whole or not at all; the texts first, so that no reader finds a digest without its text.
pub fn write(path: &Path, baseline: &Baseline, texts: &Texts) -> Result<(), StoreError> {
    let faulty = |error: serde_json::Error| StoreError::format(path, error.to_string());
    let samples = texts_text(texts).map_err(faulty)?;
    let text = to_text(baseline).map_err(faulty)?;
    write_atomically(&samples_path(path), samples.as_bytes())?;
    write_atomically(path, text.as_bytes())
}

/// The file, as version 3 lays it out. In version 2 the manifest says no `readings`; in version 1 no case says `refused` either.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[expect(dead_code, reason = "checked before; named here so that other unknown keys are refused")]
    format: String,
    #[expect(dead_code, reason = "checked before; named here so that other unknown keys are refused")]
    version: u32,
    manifest: BaselineManifest,
    cases: Vec<CaseRead>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseRead {
    case: CaseId,
    digest: String,
    response: String,
    #[serde(default)]
    refused: Option<bool>,
    retrieved: Vec<Option<DocId>>,
    context_digests: Vec<String>,
    #[serde(deserialize_with = "each_once")]
    outcomes: BTreeMap<MetricKey, Outcome>,
}

/// The same line, borrowed, for writing.
#[derive(Serialize)]
struct CaseLine<'a> {
    case: &'a CaseId,
    digest: &'a str,
    response: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<bool>,
    retrieved: &'a [Option<DocId>],
    context_digests: &'a [String],
    outcomes: &'a BTreeMap<MetricKey, Outcome>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TextV1 {
    digest: String,
    text: String,
}

#[derive(Serialize)]
struct TextLine<'a> {
    digest: &'a str,
    text: &'a str,
}

impl CaseRead {
    fn checked(self, path: &Path) -> Result<(CaseId, BaselineCase), StoreError> {
        let Self { case, digest, response, refused, retrieved, context_digests, outcomes } = self;
        if retrieved.len() != context_digests.len() {
            let why = format!(
                "case `{case}` has {} retrieved documents and {} digests; {AGAIN}",
                retrieved.len(),
                context_digests.len()
            );
            return Err(StoreError::format(path, why));
        }
        Ok((case, BaselineCase { digest, response, refused, retrieved, context_digests, outcomes }))
    }
}

fn unreadable(path: &Path, error: &serde_json::Error) -> StoreError {
    StoreError::format(path, format!("not a readable baseline: {error}; {AGAIN}"))
}

/// Refuses what is no baseline, and what a newer version wrote, before its fields are looked at.
fn check_version(path: &Path, text: &str) -> Result<(), StoreError> {
    #[derive(Deserialize)]
    struct Head {
        format: Option<String>,
        version: Option<u32>,
    }
    let head: Head = serde_json::from_str(text).map_err(|error| unreadable(path, &error))?;
    let why = match (head.format.as_deref(), head.version) {
        (Some(FORMAT), Some(1..=VERSION)) => return Ok(()),
        (Some(FORMAT), Some(version)) if version > VERSION => {
            format!("written by a newer rageval (format {version}, this one reads up to {VERSION}); update rageval")
        }
        (Some(FORMAT), Some(version)) => format!("there is no version {version} of the baseline format"),
        (Some(FORMAT), None) => "it states no `version`".to_owned(),
        (Some(format), _) => format!("its `format` says `{format}`, a baseline says `{FORMAT}`"),
        (None, _) => format!("it states no `format`, a baseline says `{FORMAT}`"),
    };
    Err(StoreError::format(path, why))
}

/// Valid JSON with one line a case, and one for each part of the manifest.
fn to_text(baseline: &Baseline) -> serde_json::Result<String> {
    let BaselineManifest { golden_set, judge, system, metric_versions, parameters, readings, git_revision, reasons } =
        &baseline.manifest;
    let mut text = format!("{{\"format\":\"{FORMAT}\",\"version\":{VERSION},\n\"manifest\":{{");
    let mut parts = vec![
        ("golden_set", serde_json::to_string(golden_set)?),
        ("judge", serde_json::to_string(judge)?),
        ("system", serde_json::to_string(system)?),
        ("metric_versions", serde_json::to_string(metric_versions)?),
        ("git_revision", serde_json::to_string(git_revision)?),
    ];
    if let Some(readings) = readings {
        parts.insert(4, ("readings", readings.to_string()));
    }
    if !parameters.is_empty() {
        parts.insert(4, ("parameters", serde_json::to_string(parameters)?));
    }
    if !reasons.is_empty() {
        let lines: Vec<_> = reasons.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
        parts.push(("reasons", format!("[\n{}\n]", lines.join(",\n"))));
    }
    let parts: Vec<_> = parts.iter().map(|(name, part)| format!("\"{name}\":{part}")).collect();
    // Writing to a string cannot fail.
    let _ = write!(text, "\n{}\n}},\n\"cases\":[", parts.join(",\n"));
    for (index, (id, case)) in baseline.cases.iter().enumerate() {
        let BaselineCase { digest, response, refused, retrieved, context_digests, outcomes } = case;
        let line = CaseLine { case: id, digest, response, refused: *refused, retrieved, context_digests, outcomes };
        text.push_str(if index == 0 { "\n" } else { ",\n" });
        text.push_str(&serde_json::to_string(&line)?);
    }
    text.push_str("\n]}\n");
    Ok(text)
}

fn texts_text(texts: &Texts) -> serde_json::Result<String> {
    let mut lines = String::new();
    for (digest, text) in texts {
        lines.push_str(&serde_json::to_string(&TextLine { digest, text })?);
        lines.push('\n');
    }
    Ok(lines)
}

#[cfg(test)]
mod tests;
