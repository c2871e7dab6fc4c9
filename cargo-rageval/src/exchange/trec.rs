//! TREC: topics (`id TAB text`, or `<top>` blocks) and qrels.

use std::{collections::HashSet, path::PathBuf};

use rageval_runner::{
    load::{
        plain::{Located, PlainCase, PlainSet, Value},
        trec,
    },
    model::Place,
};

use super::{
    Written, Wrong, beir,
    draft::Drafts,
    judged::{Judgements, Shape, lines},
    loss::{Told, Whose},
};

const TOPICS: &str = "topics.tsv";
const QRELS: &str = "qrels.txt";

/// Reads a file of topics and one of judgements, or a folder with both.
pub(crate) fn read(paths: &[PathBuf], told: &mut Told) -> Result<PlainSet, Wrong> {
    let (topics, qrels) = match paths {
        [folder] if beir::holds(folder, TOPICS) => (folder.join(TOPICS), folder.join(QRELS)),
        [topics, qrels] => (topics.clone(), qrels.clone()),
        _ => {
            return Err(Wrong(format!(
                "TREC is two files, topics and then qrels, or a folder with {TOPICS} and {QRELS}"
            )));
        }
    };
    let mut judgements = Judgements::read(&qrels, Shape::Blanks)?;
    let text = trec::text(&topics).map_err(|error| Wrong(error.to_string()))?;
    let file = topics.display().to_string();
    let found = if text.trim_start().starts_with('<') { blocks(&text, &file) } else { tabs(&text, &file) };
    let mut drafts = Drafts::default();
    let mut seen: HashSet<String> = HashSet::new();
    for topic in found? {
        if !seen.insert(topic.id.clone()) {
            return Err(Wrong(format!("{}: the topic `{}` stands twice; keep one of them", topic.place, topic.id)));
        }
        let judged = judgements.take(&topic.id);
        let Some(mut draft) = drafts.start(&topic.place, Some(&topic.id), ("title", Some(&topic.text)), told) else {
            continue;
        };
        if let Some(judged) = judged {
            draft.relevant(
                "qrels",
                judged.into_iter().map(|judgement| (Some(judgement.id.0), judgement.grade)).collect(),
            );
        }
        for (key, text) in topic.more {
            let value = Located { place: topic.place.clone(), value: Value::Text(text) };
            draft.metadata(key, key, &value);
        }
        draft.end(&mut drafts);
    }
    judgements.tell_rest(told);
    Ok(PlainSet { cases: drafts.end(told), ..PlainSet::default() })
}

struct Topic {
    id: String,
    text: String,
    /// What else stands in a block.
    more: Vec<(&'static str, String)>,
    place: Place,
}

fn at(file: &str, line: usize) -> Place {
    Place { file: file.to_owned(), line, column: 1 }
}

/// `id TAB text` on each line. Only LF ends a line.
fn tabs(text: &str, file: &str) -> Result<Vec<Topic>, Wrong> {
    let (mut topics, mut wrong) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(text.split('\n')) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.trim().is_empty() {
            continue;
        }
        match line.split_once('\t') {
            Some((id, text)) => topics.push(Topic {
                id: id.trim().to_owned(),
                text: text.to_owned(),
                more: Vec::new(),
                place: at(file, number),
            }),
            None => wrong.push(format!("{file}:{number}: expected `id TAB text`, or `<top>` blocks")),
        }
    }
    if wrong.is_empty() { Ok(topics) } else { Err(Wrong(wrong.join("\n"))) }
}

/// The parts of a block, and the words that the oldest collections put before their texts.
const PARTS: [(&str, &str); 4] =
    [("num", "Number:"), ("title", "Topic:"), ("desc", "Description:"), ("narr", "Narrative:")];

/// `<top>` blocks, whose parts may lack their ends as in the first collections.
fn blocks(text: &str, file: &str) -> Result<Vec<Topic>, Wrong> {
    let (mut topics, mut wrong) = (Vec::new(), Vec::new());
    for (start, _) in text.match_indices("<top>") {
        let place = at(file, text[..start].matches('\n').count() + 1);
        let block = &text[start + "<top>".len()..];
        let block = &block[..block.find("</top>").unwrap_or(block.len())];
        let part = |(name, word): (&'static str, &str)| {
            let from = block.find(&format!("<{name}>"))? + name.len() + 2;
            let rest = &block[from..];
            let ends = PARTS.iter().flat_map(|(other, _)| [format!("<{other}>"), format!("</{other}>")]);
            let end = ends.filter_map(|end| rest.find(&end)).min().unwrap_or(rest.len());
            let text = rest[..end].trim();
            let text = text.strip_prefix(word).unwrap_or(text);
            Some(text.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|text| !text.is_empty())
        };
        match (part(PARTS[0]), part(PARTS[1])) {
            (Some(id), Some(text)) => {
                let more = PARTS[2..].iter().filter_map(|of| Some((of.0, part(*of)?))).collect();
                topics.push(Topic { id, text, more, place });
            }
            _ => wrong.push(format!("{place}: a `<top>` block has `<num>` and `<title>`")),
        }
    }
    if wrong.is_empty() { Ok(topics) } else { Err(Wrong(wrong.join("\n"))) }
}

/// Topics, one a line, and judgements.
pub(crate) fn write(cases: &[PlainCase], told: &mut Told) -> Vec<Written> {
    let (mut topics, mut qrels) = (String::new(), String::new());
    let mut taken: HashSet<String> = HashSet::new();
    for case in cases {
        let whose = Whose { id: case.id.as_str(), place: &case.place };
        let plain: String = case.id.as_str().chars().map(|c| if c.is_whitespace() { '_' } else { c }).collect();
        let numbered = (2..).map(|number: usize| format!("{plain}-{number}"));
        let id = std::iter::once(plain.clone())
            .chain(numbered)
            .find(|id| !taken.contains(id) && (*id == case.id.as_str() || cases.iter().all(|c| c.id.as_str() != id)))
            .expect("one of endlessly many is free");
        if id != case.id.as_str() {
            told.changed(whose, "id", format!("{id:?}: a blank parts a line of TREC"));
        }
        let text = case.query.replace(['\t', '\n', '\r'], " ");
        if text != case.query {
            told.changed(whose, "query", "its line ends and tabs are blanks: a topic is one line");
        }
        topics.extend([format!("{id}\t{text}\n")]);
        qrels.push_str(&lines(case, &id, Shape::Blanks, told));
        beir::tell_unknown(case, "TREC", told);
        for key in case.metadata.keys() {
            told.lost(whose, format!("metadata.{key}"), "TREC has no place for it");
        }
        taken.insert(id);
    }
    vec![Written { name: TOPICS, bytes: topics.into_bytes() }, Written { name: QRELS, bytes: qrels.into_bytes() }]
}
