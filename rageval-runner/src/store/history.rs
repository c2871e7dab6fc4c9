//! The history of a baseline: a line for each run that was accepted, with its scores, in `history.jsonl` beside it.
//!
//! Lines are only added. A drop that a team decided to live with is left behind by taking the older lines out, where a reviewer sees it.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{StoreError, write_atomically};
use crate::{
    model::{
        CaseId, MetricKey, Outcome, UnitInterval,
        record::each_once,
        run::{AcceptedRun, Baseline, BaselineCase, BaselineManifest},
    },
    stats,
};

/// What `format` says in each line.
pub const FORMAT: &str = "rageval-history";
/// Version of the lines that this version writes and reads.
pub const VERSION: u32 = 1;

const AGAIN: &str = "restore it from version control, or take the line out";

/// One accepted run.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    format: String,
    version: u32,
    /// Name of the baseline's file: several baselines of one folder share the history.
    baseline: String,
    /// As in the baseline, without reasons.
    manifest: BaselineManifest,
    /// Mean and number of scores of each metric: for people and plots, and checked against the scores.
    means: BTreeMap<MetricKey, MeanOf>,
    cases: Vec<CaseScores>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MeanOf {
    mean: f64,
    n: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseScores {
    case: CaseId,
    digest: String,
    #[serde(deserialize_with = "each_once")]
    scores: BTreeMap<MetricKey, UnitInterval>,
}

/// The history that belongs to a baseline file: `history.jsonl` in its folder.
pub fn path_of(baseline: &Path) -> PathBuf {
    baseline.with_file_name("history.jsonl")
}

/// Adds a line for a baseline that was accepted. The same run accepted again adds none.
///
/// # Errors
/// The history cannot be read or written; what stands in it stays.
pub fn append(path: &Path, baseline: &Baseline) -> Result<(), StoreError> {
    let history = path_of(path);
    let mut text = read_text(&history)?;
    let line = line_of(path, baseline);
    let line = serde_json::to_string(&line).map_err(|error| StoreError::format(&history, error.to_string()))?;
    let own = lines(&text).filter(|(_, line)| is_of(line, &name_of(path))).last();
    if own.is_some_and(|(_, last)| last == line) {
        return Ok(());
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&line);
    text.push('\n');
    write_atomically(&history, text.as_bytes())
}

/// Whether a line can be added: what no later run could read is refused before anything is written.
///
/// # Errors
/// As of [`last`] for all lines.
pub fn check(path: &Path) -> Result<(), StoreError> {
    last(path, usize::MAX).map(drop)
}

/// The last `count` accepted runs of a baseline file, oldest first; none where there is no history. Equal lines are one run, in the place of
/// the last of them.
///
/// # Errors
/// A line is not what this version writes, or its means are not those of its scores.
pub fn last(path: &Path, count: usize) -> Result<Vec<AcceptedRun>, StoreError> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let history = path_of(path);
    let text = read_text(&history)?;
    let name = name_of(path);
    let mut runs = Vec::new();
    for (number, line) in lines(&text) {
        let faulty = |why: String| StoreError::format(&history, format!("line {number}: {why}; {AGAIN}"));
        let head: Head = serde_json::from_str(line).map_err(|error| faulty(without_place(&error)))?;
        if head.format != FORMAT {
            return Err(faulty(format!("its `format` says `{}`, a line says `{FORMAT}`", head.format)));
        }
        if VERSION < head.version {
            let why = format!(
                "line {number}: written by a newer rageval (format {}, this one reads up to {VERSION}); update rageval",
                head.version
            );
            return Err(StoreError::format(&history, why));
        }
        if head.baseline == name {
            // A merge of two branches may have doubled a line, which would push another run out.
            runs.retain(|(_, earlier)| *earlier != line);
            runs.push((number, line));
        }
    }
    let file = history.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let recent = runs.split_off(runs.len().saturating_sub(count));
    let read = |(number, line): (usize, &str)| {
        let faulty = |why: String| StoreError::format(&history, format!("line {number}: {why}; {AGAIN}"));
        let line: Line = serde_json::from_str(line).map_err(|error| faulty(without_place(&error)))?;
        let stated = line.means.iter().map(|(key, of)| (key.clone(), (of.mean, of.n)));
        let stated: BTreeMap<MetricKey, (f64, usize)> = stated.collect();
        let baseline = baseline_of(line).map_err(|case| faulty(format!("case `{case}` stands there twice")))?;
        let found = means(&baseline);
        let is_same = |(key, (mean, n)): (&MetricKey, &(f64, usize))| {
            found.get(key).is_some_and(|of| of.n == *n && (of.mean - mean).abs() < 1e-9)
        };
        if stated.len() != found.len() || !stated.iter().all(is_same) {
            return Err(faulty("its means are not those of its scores".to_owned()));
        }
        Ok(AcceptedRun { place: format!("{file}:{number}"), baseline })
    };
    recent.into_iter().map(read).collect()
}

/// What every version's lines say.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
    baseline: String,
}

/// What is wrong with a line, without the place inside it, which would read as one of the file.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what).to_owned()
}

fn is_of(line: &str, name: &str) -> bool {
    serde_json::from_str::<Head>(line).is_ok_and(|head| head.baseline == name)
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The lines that are not blank, numbered from 1.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let all = text.split('\n').enumerate().map(|(index, line)| (index + 1, line.trim_end_matches('\r')));
    all.filter(|(_, line)| !line.trim().is_empty())
}

fn read_text(path: &Path) -> Result<String, StoreError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(StoreError::io(path)(error)),
    }
}

fn line_of(path: &Path, baseline: &Baseline) -> Line {
    let scores = |case: &BaselineCase| {
        let scored = case.outcomes.iter().filter_map(|(key, outcome)| Some((key.clone(), outcome.score()?)));
        scored.collect()
    };
    let cases = baseline.cases.iter().map(|(id, case)| CaseScores {
        case: id.clone(),
        digest: case.digest.clone(),
        scores: scores(case),
    });
    Line {
        format: FORMAT.to_owned(),
        version: VERSION,
        baseline: name_of(path),
        manifest: BaselineManifest { reasons: Vec::new(), ..baseline.manifest.clone() },
        means: means(baseline),
        cases: cases.collect(),
    }
}

fn means(baseline: &Baseline) -> BTreeMap<MetricKey, MeanOf> {
    let mut scores: BTreeMap<&MetricKey, Vec<f64>> = BTreeMap::new();
    for (key, outcome) in baseline.cases.values().flat_map(|case| &case.outcomes) {
        if let Some(score) = outcome.score() {
            scores.entry(key).or_default().push(score.get());
        }
    }
    let mean = |scores: Vec<f64>| Some(MeanOf { mean: stats::mean(&scores)?, n: scores.len() });
    scores.into_iter().filter_map(|(key, scores)| Some((key.clone(), mean(scores)?))).collect()
}

/// An error is a case that stands there twice.
fn baseline_of(line: Line) -> Result<Baseline, CaseId> {
    let mut cases = BTreeMap::new();
    for CaseScores { case, digest, scores } in line.cases {
        let outcomes = scores.into_iter().map(|(key, score)| (key, Outcome::scored(score))).collect();
        let scored = BaselineCase {
            digest,
            response: String::new(),
            refused: None,
            retrieved: Vec::new(),
            context_digests: Vec::new(),
            outcomes,
        };
        if cases.insert(case.clone(), scored).is_some() {
            return Err(case);
        }
    }
    Ok(Baseline { manifest: line.manifest, cases })
}

#[cfg(test)]
mod tests;
