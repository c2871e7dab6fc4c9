//! Adds labels to a file of labels, one JSON line each, as a person gives them.

use std::{
    fs::{self, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use serde::Serialize;

use super::StoreError;
use crate::model::{DocId, Expectation, Human, Item, Label, RetrievedContext};

/// A file of labels that grows line by line, and whose last lines can be taken back.
#[derive(Debug)]
pub struct LabelFile {
    path: PathBuf,
    /// Its length before each line that was added here, and after the last one.
    before: Vec<u64>,
    length: Option<u64>,
}

/// Whether an item's texts go into the file too.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Texts<'a> {
    /// They stand in another row already, and so does the item's weight, which is the same for all who label it.
    Elsewhere,
    /// They stand nowhere yet; with the version of the golden set that they were drawn from, where it has one.
    Here(&'a Item, Option<&'a str>),
}

impl LabelFile {
    /// The file of this path, which need not be there; nothing is written before the first label.
    pub fn new(path: PathBuf) -> Self {
        Self { path, before: Vec::new(), length: None }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a label. It is on the disk when this returns.
    ///
    /// # Errors
    /// The operating system says no.
    pub fn append(&mut self, label: &Label, texts: Texts<'_>) -> Result<(), StoreError> {
        let mut line = row(label, texts).map_err(StoreError::io(&self.path))?;
        line.push(b'\n');
        let written = (|| {
            if let Some(folder) = self.path.parent() {
                fs::create_dir_all(folder)?;
            }
            let mut file = OpenOptions::new().create(true).read(true).append(true).open(&self.path)?;
            let before = file.seek(SeekFrom::End(0))?;
            if !ends_its_line(&mut file, before)? {
                line.insert(0, b'\n');
            }
            file.write_all(&line)?;
            file.sync_data()?;
            Ok((before, before + line.len() as u64))
        })();
        let (before, after) = written.map_err(StoreError::io(&self.path))?;
        self.before.push(before);
        self.length = Some(after);
        Ok(())
    }

    /// Takes the last label back that was added here; `false` where there is none.
    ///
    /// # Errors
    /// The operating system says no, or somebody else wrote to the file since.
    pub fn take_back(&mut self) -> Result<bool, StoreError> {
        let Some(before) = self.before.last().copied() else { return Ok(false) };
        let file = OpenOptions::new().write(true).open(&self.path).map_err(StoreError::io(&self.path))?;
        let length = file.metadata().map_err(StoreError::io(&self.path))?.len();
        if Some(length) != self.length {
            return Err(StoreError::format(&self.path, "something else wrote to it, so the label can't be taken back"));
        }
        file.set_len(before).and_then(|()| file.sync_data()).map_err(StoreError::io(&self.path))?;
        self.before.pop();
        self.length = Some(before);
        Ok(true)
    }
}

/// Whether a line that is added would stand on a line of its own.
fn ends_its_line(file: &mut fs::File, length: u64) -> io::Result<bool> {
    if length == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

#[derive(Serialize)]
struct Row<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    metric: String,
    annotator: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    golden_set_version: Option<&'a str>,
    #[serde(flatten)]
    texts: Option<ItemTexts<'a>>,
}

#[derive(Serialize)]
struct ItemTexts<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<&'a str>,
    query: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<&'a str>,
    response: &'a str,
    #[serde(skip_serializing_if = "slice_is_empty")]
    ground_truth_answer: &'a [String],
    #[serde(skip_serializing_if = "slice_is_empty")]
    reference_contexts: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    should_refuse: Option<bool>,
    retrieved_contexts: Vec<Context<'a>>,
}

#[derive(Serialize)]
struct Context<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    text: &'a str,
}

impl<'a> From<&'a RetrievedContext> for Context<'a> {
    fn from(context: &'a RetrievedContext) -> Self {
        Self { id: context.id.as_ref().map(DocId::as_str), text: &context.text }
    }
}

fn slice_is_empty(texts: &&[String]) -> bool {
    texts.is_empty()
}

fn row(label: &Label, texts: Texts<'_>) -> io::Result<Vec<u8>> {
    let (verdict, score) = match label.human {
        Human::Verdict(verdict) => (Some(verdict.as_str()), None),
        Human::Score(score) => (None, Some(score.get())),
    };
    let (item, id, golden_set_version, texts) = match texts {
        Texts::Elsewhere => (Some(label.item.as_str()), None, None, None),
        Texts::Here(item, version) => (None, Some(label.item.as_str()), version, Some(texts_of(item))),
    };
    // A weight of 1 is what an item without one has.
    let weight = texts.is_some().then_some(label.weight).filter(|weight| *weight != 1.0);
    let note = label.note.as_deref();
    let metric = label.metric.to_string();
    let annotator = &label.annotator;
    let row = Row { item, id, metric, annotator, verdict, score, weight, note, golden_set_version, texts };
    Ok(serde_json::to_vec(&row)?)
}

fn texts_of(item: &Item) -> ItemTexts<'_> {
    ItemTexts {
        language: item.case.language_tag.as_deref(),
        query: &item.case.query,
        claim: item.claim.as_deref(),
        response: &item.sample.answer.response,
        ground_truth_answer: &item.case.references,
        reference_contexts: &item.case.reference_contexts,
        should_refuse: (item.case.expectation == Expectation::Refuse).then_some(true),
        retrieved_contexts: item.sample.answer.retrieved_contexts.iter().map(Context::from).collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::model::{Answer, CaseId, GoldenCase, MetricKey, Place, Sample, UnitInterval, Verdict};

    fn item() -> Item {
        let case = GoldenCase {
            references: vec!["Five.".to_owned()],
            language_tag: Some("en-GB".to_owned()),
            group: "en".to_owned(),
            ..GoldenCase::new(CaseId::new("a").expect("a valid id"), "What does it cost?")
        };
        let answer =
            Answer::new("It costs 5.").with_contexts([RetrievedContext::new("d", "The price is 5.\nAll year.")]);
        let sample = Sample { answer, is_refusal: false, latency_ms: None };
        Item { id: "a".to_owned(), case, sample, claim: Some("It costs 5.".to_owned()) }
    }

    fn label(human: Human, weight: f64) -> Label {
        Label {
            item: "a".to_owned(),
            metric: MetricKey::parse("faithfulness").expect("a key"),
            human,
            annotator: "ana".to_owned(),
            weight,
            note: None,
            place: Place::default(),
        }
    }

    fn lines(path: &Path) -> Vec<Value> {
        let text = fs::read_to_string(path).expect("read");
        assert!(text.is_empty() || text.ends_with('\n'));
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    #[test]
    fn the_texts_stand_once_and_a_label_is_one_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("calibration/ana.jsonl");
        let mut file = LabelFile::new(path.clone());
        let supported = label(Human::Verdict(Verdict::Supported), 2.5);
        file.append(&supported, Texts::Here(&item(), Some("1.0.0"))).expect("written");
        let half = label(Human::Score(UnitInterval::new(0.5).expect("a score")), 4.0);
        file.append(&half, Texts::Elsewhere).expect("written");
        assert_eq!(
            lines(&path),
            [
                json!({
                    "id": "a", "metric": "faithfulness", "annotator": "ana", "verdict": "supported", "weight": 2.5,
                    "golden_set_version": "1.0.0", "language": "en-GB", "query": "What does it cost?", "claim": "It costs 5.",
                    "response": "It costs 5.", "ground_truth_answer": ["Five."],
                    "retrieved_contexts": [{"id": "d", "text": "The price is 5.\nAll year."}],
                }),
                json!({"item": "a", "metric": "faithfulness", "annotator": "ana", "score": 0.5}),
            ]
        );
    }

    #[test]
    fn labels_are_taken_back_from_the_last_one_on_and_what_stood_before_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ana.jsonl");
        // An editor left the last line without its end.
        fs::write(&path, "{\"before\": 1}").expect("written");
        let mut file = LabelFile::new(path.clone());
        assert!(!file.take_back().expect("nothing to take back"));
        let one = label(Human::Verdict(Verdict::Contradicted), 1.0);
        for _ in 0..2 {
            file.append(&one, Texts::Elsewhere).expect("written");
        }
        assert_eq!(lines(&path).len(), 3);
        assert!(file.take_back().expect("taken back") && file.take_back().expect("taken back"));
        assert_eq!(fs::read_to_string(&path).expect("read"), "{\"before\": 1}");
        assert!(!file.take_back().expect("nothing left"));
    }

    #[test]
    fn a_label_behind_which_somebody_else_wrote_is_not_taken_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ana.jsonl");
        let mut file = LabelFile::new(path.clone());
        file.append(&label(Human::Verdict(Verdict::Supported), 1.0), Texts::Elsewhere).expect("written");
        let text = fs::read_to_string(&path).expect("read");
        fs::write(&path, format!("{text}{{}}\n")).expect("written");
        let error = file.take_back().expect_err("somebody else wrote");
        assert!(error.to_string().contains("something else wrote to it"), "{error}");
        assert_eq!(lines(&path).len(), 2);
    }
}
