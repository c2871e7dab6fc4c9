//! Our own format: what is written loads again as it was.

use rageval_runner::{
    load::plain::{PlainCase, PlainSet},
    model::{Expectation, Judgement, RetrievedContext},
};
use serde_json::{Value, json};

use super::{
    loss::{Told, Whose},
    table, yaml_text,
};

/// A list of cases, or a map with name and version where there are some.
pub(crate) fn yaml(set: &PlainSet) -> String {
    yaml_text::document(&whole(set))
}

/// The same in JSON.
pub(crate) fn json(set: &PlainSet) -> String {
    format!("{:#}\n", Ordered(&whole(set)).to_json())
}

/// One object a case.
pub(crate) fn json_lines(cases: &[PlainCase]) -> String {
    cases.iter().map(|case| format!("{}\n", Ordered(&Tree::Map(fields(case))).to_json())).collect()
}

/// A value whose maps keep their order, as people want to read a case.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tree {
    /// A value of JSON.
    Value(Value),
    /// A list.
    List(Vec<Tree>),
    /// A map in the order in which it is written.
    Map(Vec<(String, Tree)>),
}

impl From<Value> for Tree {
    fn from(value: Value) -> Self {
        match value {
            Value::Array(items) => Self::List(items.into_iter().map(Self::from).collect()),
            Value::Object(map) => Self::Map(map.into_iter().map(|(key, value)| (key, Self::from(value))).collect()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Self::Value(value),
        }
    }
}

/// Writes a tree as JSON in its order; the maps of `serde_json` are sorted.
struct Ordered<'t>(&'t Tree);

impl Ordered<'_> {
    fn to_json(&self) -> impl std::fmt::Display + use<> {
        OrderedText { plain: self.text(None), pretty: self.text(Some(0)) }
    }

    fn text(&self, indent: Option<usize>) -> String {
        let (open, close, items): (char, char, Vec<String>) = match self.0 {
            Tree::Value(value) => return value.to_string(),
            Tree::List(items) => {
                ('[', ']', items.iter().map(|item| Ordered(item).text(indent.map(|i| i + 1))).collect())
            }
            Tree::Map(entries) => {
                let entry = |(key, value): &(String, Tree)| {
                    let colon = if indent.is_some() { ": " } else { ":" };
                    format!("{}{colon}{}", Value::from(key.as_str()), Ordered(value).text(indent.map(|i| i + 1)))
                };
                ('{', '}', entries.iter().map(entry).collect())
            }
        };
        match indent.filter(|_| !items.is_empty()) {
            None => format!("{open}{}{close}", items.join(",")),
            Some(indent) => {
                let (inner, outer) = ("  ".repeat(indent + 1), "  ".repeat(indent));
                format!("{open}\n{inner}{}\n{outer}{close}", items.join(&format!(",\n{inner}")))
            }
        }
    }
}

struct OrderedText {
    plain: String,
    pretty: String,
}

impl std::fmt::Display for OrderedText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if f.alternate() { &self.pretty } else { &self.plain })
    }
}

fn whole(set: &PlainSet) -> Tree {
    let cases = Tree::List(set.cases.iter().map(|case| Tree::Map(fields(case))).collect());
    let stated = [("golden_set", &set.name), ("version", &set.version)];
    let mut entries: Vec<(String, Tree)> = stated
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), Tree::Value(value.clone()?.into()))))
        .collect();
    if entries.is_empty() {
        return cases;
    }
    entries.push(("cases".to_owned(), cases));
    Tree::Map(entries)
}

/// The keys of a case that say something, in the order in which the documentation lists them.
pub(crate) fn fields(case: &PlainCase) -> Vec<(String, Tree)> {
    let mut fields: Vec<(String, Tree)> = Vec::new();
    let mut put = |key: &str, value: Option<Tree>| {
        if let Some(value) = value {
            fields.push((key.to_owned(), value));
        }
    };
    let text = |text: &String| Tree::Value(text.clone().into());
    let texts = |texts: &[String]| (!texts.is_empty()).then(|| Tree::List(texts.iter().map(text).collect()));
    put("id", Some(Tree::Value(case.id.as_str().into())));
    put("query", Some(text(&case.query)));
    put(
        "ground_truth_answer",
        if let [one] = &case.references[..] { Some(text(one)) } else { texts(&case.references) },
    );
    put("relevant_doc_ids", case.relevant.as_ref().map(|list| Tree::List(list.iter().map(judgement).collect())));
    put("reference_contexts", texts(&case.reference_contexts));
    put("should_refuse", (case.expectation == Expectation::Refuse).then(|| Tree::Value(true.into())));
    for (key, word) in [
        ("type", &case.kind),
        ("difficulty", &case.difficulty),
        ("language", &case.language),
        ("document", &case.document),
    ] {
        put(key, word.as_ref().map(text));
    }
    put("tags", texts(&case.tags));
    let metadata = case.metadata.iter().map(|(key, value)| (key.clone(), text(value))).collect();
    put("metadata", (!case.metadata.is_empty()).then_some(Tree::Map(metadata)));
    put("thresholds", (!case.thresholds.is_empty()).then(|| Value::Object(case.thresholds.clone()).into()));
    put("repeats", case.repeats.clone().map(Tree::from));
    put("known_failure", case.known_failure.clone().map(Tree::from));
    if let Some((response, contexts)) = &case.recorded {
        put("response", Some(text(response)));
        let list = Tree::List(contexts.iter().map(retrieved).collect());
        put("retrieved_contexts", (!contexts.is_empty()).then_some(list));
    }
    fields
}

fn judgement(judgement: &Judgement) -> Tree {
    let id = judgement.id.as_str();
    if judgement.grade == 1.0 {
        return Tree::Value(id.into());
    }
    let grade = Tree::Value(number(judgement.grade));
    Tree::Map(vec![("id".to_owned(), Tree::Value(id.into())), ("grade".to_owned(), grade)])
}

fn retrieved(context: &RetrievedContext) -> Tree {
    if context.id.is_none() && context.score.is_none() {
        return Tree::Value(context.text.clone().into());
    }
    let id = context.id.as_ref().map(|id| ("id", id.as_str().into()));
    let score = context.score.map(|score| ("score", number(score)));
    let text = Some(("text", Value::from(context.text.clone())));
    let entries = [id, text, score].into_iter().flatten();
    Tree::Map(entries.map(|(key, value)| (key.to_owned(), Tree::Value(value))).collect())
}

/// A number as a person would write it: 2, not 2.0.
pub(crate) fn number(number: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() < EXACT { Value::from(number as i64) } else { Value::from(number) }
}

/// The columns of our table.
const COLUMNS: [&str; 16] = [
    "id",
    "query",
    "ground_truth_answer",
    "relevant_doc_ids",
    "reference_contexts",
    "should_refuse",
    "type",
    "difficulty",
    "language",
    "document",
    "tags",
    "metadata",
    "thresholds",
    "repeats",
    "known_failure",
    "response",
];

/// A table with the columns that any case fills. Lists and maps are JSON in their cells.
pub(crate) fn csv(cases: &[PlainCase], told: &mut Told) -> Vec<u8> {
    let mut columns: Vec<&str> = COLUMNS.to_vec();
    columns.push("retrieved_contexts");
    let rows: Vec<Vec<String>> = cases.iter().map(|case| row(case, &columns, told)).collect();
    let used: Vec<usize> =
        (0..columns.len()).filter(|&at| at < 2 || rows.iter().any(|row| !row[at].is_empty())).collect();
    let header: Vec<&str> = used.iter().map(|&at| columns[at]).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(|row| used.iter().map(|&at| row[at].clone()).collect()).collect();
    table::csv(&header, &rows)
}

fn row(case: &PlainCase, columns: &[&str], told: &mut Told) -> Vec<String> {
    let mut cells = vec![String::new(); columns.len()];
    let whose = Whose { id: case.id.as_str(), place: &case.place };
    let blank_answer = case.recorded.as_ref().is_some_and(|(response, _)| response.trim().is_empty());
    for (key, value) in fields(case) {
        if blank_answer && (key == "response" || key == "retrieved_contexts") {
            told.lost(whose, key, "the recorded answer is blank, and an empty cell says that there is none");
            continue;
        }
        let at = columns.iter().position(|name| *name == key).expect("every key has a column");
        cells[at] = match &value {
            // A text that starts as a list does would be read as one.
            Tree::Value(Value::String(text)) if key == "ground_truth_answer" && text.trim_start().starts_with('[') => {
                json!([text]).to_string()
            }
            Tree::Value(Value::String(text)) => text.clone(),
            Tree::Value(_) | Tree::List(_) | Tree::Map(_) => Ordered(&value).to_json().to_string(),
        };
    }
    cells
}
