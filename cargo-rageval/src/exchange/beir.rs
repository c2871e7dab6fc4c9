//! BEIR: `queries.jsonl`, and judgements of a split in `qrels/SPLIT.tsv`. The texts of its corpus are the system's, not a case's.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

use rageval_runner::{
    load::plain::{Located, PlainCase, PlainSet, Value, json},
    model::Expectation,
};
use serde_json::json as value;

use super::{
    Written, Wrong,
    draft::{Drafts, Row},
    judged::{Judgements, Shape, lines},
    loss::{Told, Whose},
};

/// Most queries that one line names.
const NAMED: usize = 10;

/// Where the parts stand.
struct Parts {
    queries: PathBuf,
    qrels: PathBuf,
    corpus: Option<PathBuf>,
}

fn parts(paths: &[PathBuf], split: &str) -> Result<Parts, Wrong> {
    if let [folder] = paths
        && folder.is_dir()
    {
        let (queries, corpus) = (folder.join("queries.jsonl"), folder.join("corpus.jsonl"));
        let qrels = folder.join("qrels").join(format!("{split}.tsv"));
        if !qrels.is_file() {
            let names = fs::read_dir(folder.join("qrels")).into_iter().flatten().flatten();
            let mut names: Vec<_> = names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
            names.sort();
            let there = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
            return Err(Wrong(format!(
                "{} is not there; the folder holds {there}: --split names one",
                qrels.display()
            )));
        }
        return Ok(Parts { queries, qrels, corpus: corpus.is_file().then_some(corpus) });
    }
    let ending = |path: &&PathBuf, end: &str| path.to_string_lossy().ends_with(end);
    let find = |end: &str| paths.iter().find(|path| ending(path, end)).cloned();
    let known = |path: &PathBuf| ["queries.jsonl", "corpus.jsonl", ".tsv"].iter().any(|end| ending(&path, end));
    match (find("queries.jsonl"), find(".tsv")) {
        (Some(queries), Some(qrels)) if paths.iter().all(known) && paths.len() <= 3 => {
            Ok(Parts { queries, qrels, corpus: find("corpus.jsonl") })
        }
        _ => {
            Err(Wrong("BEIR is a folder, or its files: queries.jsonl, one .tsv of judgements, corpus.jsonl".to_owned()))
        }
    }
}

/// Reads the queries that the split judges.
pub(crate) fn read(paths: &[PathBuf], split: &str, told: &mut Told) -> Result<PlainSet, Wrong> {
    let parts = parts(paths, split)?;
    let mut judgements = Judgements::read(&parts.qrels, Shape::Tabs)?;
    let rows = json(&parts.queries)?;
    twice(&rows)?;
    let mut drafts = Drafts::default();
    let mut unjudged = Vec::new();
    for row in &rows {
        let mut fields = Row::new(row);
        let id = fields.take(&["_id"]).and_then(|(_, id)| id.word());
        let Some(relevant) = id.as_deref().and_then(|id| judgements.take(id)) else {
            unjudged.push(id.unwrap_or_else(|| row.place.to_string()));
            continue;
        };
        let query = fields.take(&["text"]).and_then(|(_, text)| text.word());
        let Some(mut draft) = drafts.start(&row.place, id.as_deref(), ("text", query.as_deref()), told) else {
            continue;
        };
        let relevant = relevant.into_iter().map(|judgement| (Some(judgement.id.0), judgement.grade));
        draft.relevant("qrels", relevant.collect());
        for (field, located) in fields.rest() {
            match (field, &located.value) {
                ("metadata", Value::Map(entries)) => {
                    for (key, entry) in entries {
                        draft.aside("metadata", key, entry);
                    }
                }
                _ => draft.metadata(field, field, located),
            }
        }
        draft.end(&mut drafts);
    }
    judgements.tell_rest(told);
    tell_left_out(&unjudged, &parts, told);
    Ok(PlainSet { cases: drafts.end(told), ..PlainSet::default() })
}

fn tell_left_out(unjudged: &[String], parts: &Parts, told: &mut Told) {
    if !unjudged.is_empty() {
        let more = unjudged.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let named = unjudged[..unjudged.len().min(NAMED)].join(", ");
        told.lost_of_set("queries", format!("nobody judged them in {}: {named}{more}", parts.qrels.display()));
    }
    if let Some(corpus) = &parts.corpus {
        let what = "the texts of the documents belong to the system; cases name documents by their ids";
        told.notice(format!("{}: not read: {what}", corpus.display()));
    }
}

/// Two queries of one id can't both have its judgements.
fn twice(rows: &[Located]) -> Result<(), Wrong> {
    let mut places: HashMap<String, &Located> = HashMap::new();
    let mut wrong = Vec::new();
    for row in rows {
        let Some(id) = row.get("_id").and_then(Located::word) else { continue };
        if let Some(first) = places.get(&id) {
            wrong.push(format!("{}: the query {id:?} stands at {} already; keep one of them", row.place, first.place));
        } else {
            places.insert(id, row);
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(Wrong(wrong.join("\n"))) }
}

/// Queries, and judgements under the name of the split `test`.
pub(crate) fn write(cases: &[PlainCase], told: &mut Told) -> Vec<Written> {
    let mut queries = String::new();
    let mut qrels = "query-id\tcorpus-id\tscore\n".to_owned();
    for case in cases {
        let id = case.id.as_str();
        let metadata: serde_json::Map<_, _> =
            case.metadata.iter().map(|(key, text)| (key.clone(), text.clone().into())).collect();
        let query = value!({"_id": id, "text": case.query, "metadata": metadata});
        queries.extend([format!("{query}\n")]);
        qrels.push_str(&lines(case, id, Shape::Tabs, told));
        tell_unknown(case, "BEIR", told);
    }
    told.notice("no corpus.jsonl: cases name documents, and don't hold their texts");
    vec![
        Written { name: "queries.jsonl", bytes: queries.into_bytes() },
        Written { name: "qrels/test.tsv", bytes: qrels.into_bytes() },
    ]
}

/// Names the fields that collections of queries and judgements don't have, but for metadata.
pub(crate) fn tell_unknown(case: &PlainCase, format: &str, told: &mut Told) {
    let whose = Whose { id: case.id.as_str(), place: &case.place };
    for (stated, field) in [
        (!case.references.is_empty(), "ground_truth_answer"),
        (!case.reference_contexts.is_empty(), "reference_contexts"),
        (case.expectation == Expectation::Refuse, "should_refuse"),
        (case.kind.is_some(), "type"),
        (case.difficulty.is_some(), "difficulty"),
        (case.language.is_some(), "language"),
        (!case.tags.is_empty(), "tags"),
        (case.document.is_some(), "document"),
        (!case.thresholds.is_empty(), "thresholds"),
        (case.repeats.is_some(), "repeats"),
        (case.known_failure.is_some(), "known_failure"),
        (case.recorded.is_some(), "response"),
    ] {
        if stated {
            told.lost(whose, field, format!("{format} has no place for it"));
        }
    }
}

/// Whether a path is a folder that holds a file.
pub(crate) fn holds(folder: &Path, name: &str) -> bool {
    folder.is_dir() && folder.join(name).is_file()
}
