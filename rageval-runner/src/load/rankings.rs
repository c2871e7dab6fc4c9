//! Rankings with their judgements, one JSON object a line.
//!
//! ```json
//! {"id": "q1", "relevant_doc_ids": ["d3", {"id": "d7", "grade": 2}], "retrieved": ["d7", "d1", "d3"]}
//! ```
//!
//! | key | also read as | |
//! |---|---|---|
//! | `id` | `query_id`, `case_id` | a text, unique in the file |
//! | `relevant_doc_ids` | `relevant`, `gold_ids`, `reference_context_ids` | ids, or `{"id": .., "grade": ..}` with a grade of 1 where none is given; `null` and `[]` say that there are none |
//! | `retrieved` | `retrieved_doc_ids`, `retrieved_context_ids`, `retrieved_contexts`, `contexts` | in rank order: ids, or objects with an `id`, whose other keys are ignored; `null` for the id stands for a document without one |
//!
//! The order of the list is the ranking; scores are not looked at. `query` and `question` may stand there too; any other key is an error.

mod quick;

use std::{
    borrow::Cow,
    collections::{HashMap, hash_map::Entry},
    fmt,
    path::Path,
};

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{
    blocks::{self, Flow, last_line_end, lines},
    trec::{NOT_UTF8, Problems, TrecError},
};
use crate::metric::retrieval::{Found, Relevant};

/// One line: a query, its judgements and its ranking.
#[derive(Debug, PartialEq)]
pub struct RankedQuery<'a> {
    /// The query's id.
    pub id: Cow<'a, str>,
    /// Judged documents; each has an id.
    pub judged: Vec<Document<'a>>,
    /// What was retrieved, best first.
    pub retrieved: Vec<Document<'a>>,
}

/// A document in a list.
#[derive(Debug, PartialEq)]
pub struct Document<'a> {
    /// Its id; `None` where a retrieved document has none, so that it takes up its rank and matches nothing.
    pub id: Option<Cow<'a, str>>,
    /// Its grade; 1 where none is given.
    pub grade: f64,
}

impl RankedQuery<'_> {
    /// Ids and grades of the judged documents.
    pub fn judgements(&self) -> impl Iterator<Item = (&str, f64)> {
        self.judged.iter().filter_map(|document| document.id.as_deref().map(|id| (id, document.grade)))
    }

    /// Those of the relevant documents that were retrieved.
    pub fn found<'r>(&'r self, relevant: &'r Relevant<'r>) -> Found<'r> {
        Found::in_ranking(&self.retrieved, |document| document.id.as_deref(), relevant)
    }

    /// Ids of what was retrieved, best first.
    pub fn ranking(&self) -> impl Iterator<Item = Option<&str>> {
        self.retrieved.iter().map(|document| document.id.as_deref())
    }
}

/// Measures every line of a file and gives what came of it to `take`, in the order of the file; blank lines are skipped.
///
/// `measure` runs on several threads. All problems of the file come at once, and nothing is taken after the first.
pub fn for_each<T: Send>(
    path: &Path,
    measure: impl Fn(&RankedQuery<'_>) -> T + Sync,
    mut take: impl FnMut(&str, T),
) -> Result<(), TrecError> {
    let mut problems = Problems::default();
    let mut lines_of: HashMap<Box<str>, usize> = HashMap::new();
    let mut is_blank = true;
    let read = |block: &[u8]| -> Vec<_> {
        lines(block).filter_map(|(at, line)| Some((at, of_line(line, &measure)?))).collect()
    };
    blocks::for_each(path, last_line_end, read, |first, results| {
        for (at, result) in results {
            is_blank = false;
            let line = first + at;
            match result {
                Ok((id, measured)) => {
                    if problems.is_empty() {
                        take(&id, measured);
                    }
                    match lines_of.entry(id) {
                        Entry::Occupied(entry) => {
                            let what = format!(
                                "query `{}` stands at line {} already; ids are unique",
                                entry.key(),
                                entry.get()
                            );
                            problems.add(path, line, what);
                        }
                        Entry::Vacant(entry) => {
                            entry.insert(line);
                        }
                    }
                }
                Err(what) => what.iter().for_each(|what| problems.add(path, line, what)),
            }
        }
        Flow::On
    })
    .map_err(|source| TrecError::read(path, source))?;
    if is_blank {
        problems.add(path, 1, "the file is empty; expected one JSON object a line");
    }
    problems.or(())
}

/// The id of a line's query and what was measured, or what is wrong with the line.
type Measured<T> = Result<(Box<str>, T), Vec<String>>;

/// What one line says, measured; `None` for a blank line.
fn of_line<T>(line: &[u8], measure: &impl Fn(&RankedQuery<'_>) -> T) -> Option<Measured<T>> {
    // A byte order mark stands at the start of a file only; JSON text cannot start with one.
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    if line.trim_ascii().is_empty() {
        return None;
    }
    let Ok(text) = std::str::from_utf8(line) else { return Some(Err(vec![NOT_UTF8.to_owned()])) };
    let query = match quick::read(text).map_or_else(|| serde_json::from_str(text), Ok) {
        Ok(query) => query,
        Err(error) => return Some(Err(vec![explain(&error, line)])),
    };
    let mut problems = Vec::new();
    if let Some(document) = contradiction(&query) {
        problems.push(format!("document `{document}` has two grades; keep one of them"));
    }
    if query.judged.iter().any(|document| document.id.is_none()) {
        problems.push("a relevant document needs an id".to_owned());
    }
    if !query.retrieved.is_empty() && query.retrieved.iter().all(|document| document.id.is_none()) {
        problems.push("none of the retrieved documents has an id, so nothing can be compared".to_owned());
    }
    Some(if problems.is_empty() { Ok((query.id.as_ref().into(), measure(&query))) } else { Err(problems) })
}

/// The parser's words with the column in characters; its line is always 1, ours is the file's.
fn explain(error: &serde_json::Error, line: &[u8]) -> String {
    let text = error.to_string();
    let text = text.strip_suffix(&format!(" at line {} column {}", error.line(), error.column())).unwrap_or(&text);
    let text = if error.is_eof() { format!("{text}; one whole object a line is expected") } else { text.to_owned() };
    match line.get(..error.column()) {
        Some([]) | None => text,
        Some(before) => format!("column {}: {text}", String::from_utf8_lossy(before).chars().count()),
    }
}

fn contradiction<'q>(query: &'q RankedQuery<'_>) -> Option<&'q str> {
    /// Up to this many, a look at each pair is faster than an order.
    const FEW: usize = 12;
    let contradict = |a: &Document<'_>, b: &Document<'_>| a.grade != b.grade && a.id == b.id;
    let judged = query.judged.as_slice();
    if judged.len() <= FEW && !judged.iter().enumerate().any(|(at, a)| judged[..at].iter().any(|b| contradict(a, b))) {
        return None;
    }
    let mut judgements: Vec<_> = query.judgements().collect();
    judgements.sort_by(|a, b| a.0.cmp(b.0));
    judgements.windows(2).find(|pair| pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1).map(|pair| pair[0].0)
}

/// The keys of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    Id,
    Relevant,
    Retrieved,
    Ignored,
}

const KEYS: &[(&str, Key)] = &[
    ("id", Key::Id),
    ("query_id", Key::Id),
    ("case_id", Key::Id),
    ("relevant_doc_ids", Key::Relevant),
    ("relevant", Key::Relevant),
    ("gold_ids", Key::Relevant),
    ("reference_context_ids", Key::Relevant),
    ("retrieved", Key::Retrieved),
    ("retrieved_doc_ids", Key::Retrieved),
    ("retrieved_context_ids", Key::Retrieved),
    ("retrieved_contexts", Key::Retrieved),
    ("contexts", Key::Retrieved),
    ("query", Key::Ignored),
    ("question", Key::Ignored),
];

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name;
        impl Visitor<'_> for Name {
            type Value = Key;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Key, E> {
                if let Some((_, key)) = KEYS.iter().find(|(known, _)| *known == name) {
                    return Ok(*key);
                }
                let nearest = KEYS.iter().map(|(known, _)| (strsim::damerau_levenshtein(name, known), *known)).min();
                Err(E::custom(match nearest {
                    Some((distance, known)) if distance * 3 <= name.len() => {
                        format!("unknown key `{name}`; did you mean `{known}`?")
                    }
                    Some(_) | None => {
                        format!("unknown key `{name}`; known are `id`, `relevant_doc_ids` and `retrieved`")
                    }
                }))
            }
        }
        deserializer.deserialize_identifier(Name)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RankedQuery<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Line;
        impl<'de> Visitor<'de> for Line {
            type Value = RankedQuery<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with `id`, `relevant_doc_ids` and `retrieved`")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RankedQuery<'de>, A::Error> {
                let mut id: Option<Cow<'de, str>> = None;
                let mut judged: Option<Vec<Document<'de>>> = None;
                let mut retrieved: Option<Vec<Document<'de>>> = None;
                while let Some(key) = map.next_key::<Key>()? {
                    match key {
                        Key::Id => once(&mut id, map.next_value::<Text<'de>>()?.0, "id")?,
                        Key::Relevant => {
                            let list = map.next_value::<Option<Documents<'de>>>()?;
                            once(&mut judged, list.map_or_else(Vec::new, |list| list.0), "relevant_doc_ids")?;
                        }
                        Key::Retrieved => once(&mut retrieved, map.next_value::<Documents<'de>>()?.0, "retrieved")?,
                        Key::Ignored => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(RankedQuery {
                    id: id.ok_or_else(|| de::Error::missing_field("id"))?,
                    judged: judged.ok_or_else(|| de::Error::missing_field("relevant_doc_ids"))?,
                    retrieved: retrieved.ok_or_else(|| de::Error::missing_field("retrieved"))?,
                })
            }
        }
        deserializer.deserialize_map(Line)
    }
}

fn once<T, E: de::Error>(slot: &mut Option<T>, value: T, name: &str) -> Result<(), E> {
    if slot.replace(value).is_some() {
        return Err(E::custom(format!("`{name}` is given twice, perhaps under two of its names; keep one")));
    }
    Ok(())
}

/// A text, borrowed from the line where it holds no escapes. Numbers are refused: an id is a text, and `007` is not `7`.
struct Text<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrowing;
        impl<'de> Visitor<'de> for Borrowing {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Borrowing)
    }
}

/// A list of documents.
struct Documents<'a>(Vec<Document<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Documents<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Documents<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of documents")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Documents<'de>, A::Error> {
                let mut documents = Vec::with_capacity(128);
                while list.next_element_seed(Push(&mut documents))?.is_some() {}
                Ok(Documents(documents))
            }
        }
        deserializer.deserialize_seq(List)
    }
}

/// Reads a document straight into its list: handing it up by value through the parser's layers takes a third of the whole time.
struct Push<'l, 'a>(&'l mut Vec<Document<'a>>);

impl<'de> DeserializeSeed<'de> for Push<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Push<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an id as a text, or an object with an `id`")
    }

    fn visit_borrowed_str<E: de::Error>(self, id: &'de str) -> Result<(), E> {
        self.0.push(Document { id: Some(Cow::Borrowed(id)), grade: 1.0 });
        Ok(())
    }

    fn visit_str<E: de::Error>(self, id: &str) -> Result<(), E> {
        self.0.push(Document { id: Some(Cow::Owned(id.to_owned())), grade: 1.0 });
        Ok(())
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.0.push(Document { id: None, grade: 1.0 });
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut id: Option<Option<Cow<'de, str>>> = None;
        let mut grade = None;
        while let Some(key) = map.next_key::<Text<'de>>()? {
            match key.0.as_ref() {
                "id" => once(&mut id, map.next_value::<Option<Text<'de>>>()?.map(|text| text.0), "id")?,
                "grade" => once(&mut grade, map.next_value::<f64>()?, "grade")?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let id = id.ok_or_else(|| de::Error::missing_field("id"))?;
        self.0.push(Document { id, grade: grade.unwrap_or(1.0) });
        Ok(())
    }
}

#[cfg(test)]
mod tests;
