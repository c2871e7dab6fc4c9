//! The `scripted` embedder: vectors from a file, for tests and demonstrations without a network.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    fmt,
};

use serde::Deserialize;

use super::{Embedded, Embedder, EmbedderStamp, Failed, fault_of};
use crate::{
    judge::reply::strict,
    metric::asking::shortened,
    model::{Ending, case::Fields},
    system::BoxFuture,
};

/// An embedder whose vectors are written down beforehand, by text.
///
/// A text that has none is a failure: no vector is made up.
///
/// ```
/// use rageval_runner::embed::scripted::Scripted;
///
/// let embedder = Scripted::from_text("{\"text\": \"How long?\", \"vector\": [1, 0]}\n").expect("a script");
/// assert_eq!(embedder.vector("How long?"), Some([1.0, 0.0].as_slice()));
/// assert_eq!(embedder.vector("How long"), None);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Scripted {
    vectors: BTreeMap<String, Vec<f32>>,
}

/// One line of a script.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    text: String,
    vector: Vec<f32>,
}

/// Everything that is wrong with a script, by line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ScriptError {
    /// Line, from 1, and what is wrong there.
    pub problems: Vec<(usize, String)>,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<_> = self.problems.iter().map(|(line, what)| format!("line {line}: {what}")).collect();
        write!(f, "the embedder's script cannot be used:\n{}", lines.join("\n"))
    }
}

impl Scripted {
    /// Reads JSON lines, `{"text": "...", "vector": [...]}` each; blank lines are skipped, a byte-order mark and CRLF accepted.
    ///
    /// # Errors
    /// All problems of all lines: no such object, a vector that is empty, zero or not finite, one of another dimension than the first, a
    /// text that stands twice; a script without any line.
    pub fn from_text(text: &str) -> Result<Self, ScriptError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut problems = Vec::new();
        let mut vectors: BTreeMap<String, Vec<f32>> = BTreeMap::new();
        let mut dimension = None;
        for (line, number) in text.split('\n').zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
            let Line { text, vector } = match strict::read(line).and_then(serde_json::from_value) {
                Ok(line) => line,
                Err(error) => {
                    problems.push((number, error.to_string()));
                    continue;
                }
            };
            let first = *dimension.get_or_insert(vector.len());
            if let Some(fault) = fault_of(&vector) {
                problems.push((number, format!("the vector {fault}")));
            } else if vector.len() != first {
                problems.push((number, format!("{} dimensions, where the first line has {first}", vector.len())));
            } else if let Entry::Vacant(place) = vectors.entry(text) {
                place.insert(vector);
            } else {
                problems.push((number, "its text has a vector already".to_owned()));
            }
        }
        if vectors.is_empty() && problems.is_empty() {
            problems.push((1, "no line holds a vector".to_owned()));
        }
        if problems.is_empty() { Ok(Self { vectors }) } else { Err(ScriptError { problems }) }
    }

    /// The vector of exactly this text.
    pub fn vector(&self, text: &str) -> Option<&[f32]> {
        self.vectors.get(text).map(Vec::as_slice)
    }

    /// Digest over all texts and vectors, whatever their order: 32 hex digits.
    pub fn digest(&self) -> String {
        let mut fields = Fields::default();
        for (text, vector) in &self.vectors {
            fields.add("text", text);
            for number in vector {
                fields.add("number", &number.to_string());
            }
        }
        fields.finish()
    }
}

impl Embedder for Scripted {
    fn stamp(&self) -> EmbedderStamp {
        let digest = self.digest();
        EmbedderStamp { provider: "scripted".to_owned(), model: digest.clone(), fingerprint: digest }
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Embedded> {
        let vectors = texts.iter().map(|text| {
            let missing = || Failed::new(Ending::Missing, format!("the script has no vector for: {}", shortened(text)));
            self.vector(text).map(<[f32]>::to_vec).ok_or_else(missing)
        });
        Box::pin(std::future::ready(vectors.collect::<Result<Vec<_>, _>>().into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_read_and_told_from_another() {
        let script = |text: &str| Scripted::from_text(text).expect("a script");
        let one =
            script("\u{feff}{\"text\": \"a\", \"vector\": [1, 0.5]}\r\n\n{\"text\": \"退款\", \"vector\": [0, -1]}");
        assert_eq!(one.vector("退款"), Some([0.0, -1.0].as_slice()));
        let turned = script("{\"vector\": [0, -1], \"text\": \"退款\"}\n{\"text\": \"a\", \"vector\": [1, 0.5]}");
        assert_eq!(one.stamp(), turned.stamp());
        let other = script("{\"text\": \"a\", \"vector\": [1, 0.25]}\n{\"text\": \"退款\", \"vector\": [0, -1]}");
        assert_ne!(one.stamp().fingerprint, other.stamp().fingerprint);
    }

    #[test]
    fn every_problem_of_a_script_is_told_with_its_line() {
        let text = "{\"text\": \"a\", \"vector\": [1, 0]}\n{\"text\": \"a\", \"vector\": [0, 1]}\n{\"text\": \"b\", \"vector\": [1]}\n\
                    {\"text\": \"c\", \"vector\": [0, 0]}\n{\"text\": \"d\"}\n[1]\n{\"text\": \"e\", \"vector\": [1e300, 1]}\n{\"text\": \"f\", \"vector\": []}";
        let problems = Scripted::from_text(text).expect_err("problems").problems;
        let lines: Vec<_> = problems.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [2, 3, 4, 5, 6, 7, 8], "{problems:?}");
        assert_eq!(problems[0].1, "its text has a vector already");
        assert_eq!(problems[1].1, "1 dimensions, where the first line has 2");
        assert_eq!(problems[2].1, "the vector is zero, so that it points nowhere");
        let nothing = Scripted::from_text("\n").expect_err("a problem").to_string();
        assert_eq!(nothing, "the embedder's script cannot be used:\nline 1: no line holds a vector");
    }
}
