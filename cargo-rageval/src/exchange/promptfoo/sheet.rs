//! promptfoo's tests as a table: a row a test, with columns whose names begin with `__`.

use std::{collections::BTreeMap, path::Path, sync::LazyLock};

use rageval_runner::{
    load::plain::{Located, Value},
    model::Place,
};
use regex::Regex;

use super::super::{Wrong, loss::Told, table};

/// Types that a cell of `__expected` may name, as promptfoo 0.121 lists them; any other text is what the answer must equal.
const TYPES: &str = "agent-rubric answer-relevance bleu classifier contains contains-all contains-any contains-html contains-json \
    contains-sql contains-xml context-faithfulness context-recall context-relevance conversation-relevance cost equals factuality \
    finish-reason g-eval gleu guardrails icontains icontains-all icontains-any is-html is-json is-refusal is-sql \
    is-valid-function-call is-valid-openai-function-call is-valid-openai-tools-call is-xml javascript latency levenshtein llm-rubric \
    pi meteor model-graded-closedqa model-graded-factuality moderation perplexity perplexity-score python regex rouge-n ruby similar \
    similar:cosine similar:dot similar:euclidean starts-with tool-call-f1 skill-used trajectory:goal-success \
    trajectory:tool-args-match trajectory:step-count trajectory:tool-sequence trajectory:tool-used trace-error-spans \
    trace-span-count trace-span-duration search-rubric webhook word-count";

/// Types that have a threshold in a table, also where none is stated.
const WITH_THRESHOLD: &str = "answer-relevance classifier context-faithfulness context-recall context-relevance cost latency \
    levenshtein perplexity-score perplexity rouge-n similar starts-with";
/// That threshold, and the one of `similar`.
const THRESHOLD: &str = "0.75";
const OF_SIMILAR: &str = "0.8";

/// What stands before a value, in place of a type.
const SHORT: [(&str, &str); 6] = [
    ("javascript:", "javascript"),
    ("fn:", "javascript"),
    ("eval:", "javascript"),
    ("grade:", "llm-rubric"),
    ("llm-rubric:", "llm-rubric"),
    ("python:", "python"),
];

/// Columns that promptfoo takes for variables, though something else was probably meant.
const MISSPELT: [&str; 9] = [
    "_expected",
    "_prefix",
    "_suffix",
    "_description",
    "_providerOutput",
    "_metric",
    "_threshold",
    "_metadata",
    "_config",
];

static EXPECTED: LazyLock<Regex> = LazyLock::new(|| {
    let types = TYPES.split_whitespace().collect::<Vec<_>>().join("|");
    let pattern = format!(r"(?s)^(not-)?({types})(?:\((\d+(?:\.\d+)?)\))?(?::(.*))?$");
    Regex::new(&pattern).expect("the pattern is tested")
});

/// A cell that holds a comma-separated list, of which an item may stand in quotes.
static ITEM: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?s)^\s*(?:"((?:\\["\\]|""|[^"])*)"\s*|([^,"][^,]*)|)(?:,|$)"#).expect("the pattern is tested")
});

/// Reads the tests of a table as a configuration would write them.
pub(super) fn tests(path: &Path, told: &mut Told) -> Result<Vec<Located>, Wrong> {
    let rows = table::cells(path)?;
    if let Some(Located { value: Value::Map(cells), .. }) = rows.first() {
        for (name, _) in cells.iter().filter(|(name, _)| MISSPELT.iter().any(|start| name.starts_with(start))) {
            told.notice(format!("{}: {name}: taken for a variable, as promptfoo does; _{name}?", path.display()));
        }
    }
    rows.iter().map(test).collect()
}

fn test(row: &Located) -> Result<Located, Wrong> {
    let place = &row.place;
    let Value::Map(cells) = &row.value else { return Ok(row.clone()) };
    let (mut vars, mut options, mut metadata) = (Vec::new(), Vec::new(), Vec::new());
    let (mut entries, mut asserted) = (Vec::new(), Vec::new());
    let mut thresholds: BTreeMap<usize, String> = BTreeMap::new();
    let mut metric = None;
    for (name, cell) in cells {
        let text = cell.word().unwrap_or_default();
        let is_blank = text.trim().is_empty();
        match name.strip_prefix("__") {
            // It says nothing; that the variable is there tells the question from the others.
            None if is_blank => {
                vars.push((name.clone(), Located { place: cell.place.clone(), value: Value::Null }));
            }
            None => vars.push((name.clone(), cell.clone())),
            Some(column) if column.starts_with("config:") => {
                let (number, threshold) = configured(name, &text).map_err(|why| Wrong(format!("{place}: {why}")))?;
                thresholds.insert(number, threshold);
            }
            Some(_) if is_blank => {}
            Some(column) if column.starts_with("expected") => asserted.push(assertion(text.trim(), place)),
            Some(option @ ("prefix" | "suffix")) => options.push((option.to_owned(), cell.clone())),
            Some(key @ ("description" | "providerOutput")) => entries.push((key.to_owned(), cell.clone())),
            // What is no number says nothing there.
            Some("threshold") if text.trim().parse::<f64>().is_err() => {}
            Some("threshold") => entries.push(("threshold".to_owned(), cell.clone())),
            Some("metric") => metric = Some(cell.clone()),
            Some(column) => match column.strip_prefix("metadata:") {
                Some(key) => metadata.push(match key.strip_suffix("[]") {
                    Some(key) => (key.to_owned(), Located { place: place.clone(), value: Value::List(parts(cell)) }),
                    None => (key.to_owned(), cell.clone()),
                }),
                // `__metadata` without a key, which promptfoo leaves out, and names that it takes for variables.
                None if column == "metadata" => {}
                None => vars.push((name.clone(), cell.clone())),
            },
        }
    }
    for (number, assertion) in asserted.iter_mut().enumerate() {
        if let Some(threshold) = thresholds.remove(&number) {
            assertion.retain(|(key, _)| key != "threshold");
            assertion.push(("threshold".to_owned(), worded(&threshold, place)));
        }
        assertion.extend(metric.clone().map(|metric| ("metric".to_owned(), metric)));
    }
    let map = |entries| Located { place: place.clone(), value: Value::Map(entries) };
    let list = Value::List(asserted.into_iter().map(map).collect());
    entries.push(("vars".to_owned(), map(vars)));
    entries.push(("assert".to_owned(), Located { place: place.clone(), value: list }));
    for (key, of) in [("options", options), ("metadata", metadata)] {
        if !of.is_empty() {
            entries.push((key.to_owned(), map(of)));
        }
    }
    Ok(map(entries))
}

fn worded(text: &str, place: &Place) -> Located {
    Located { place: place.clone(), value: Value::Text(text.to_owned()) }
}

/// `__config:__expected2:threshold`: which assertion, counted from 0, and its threshold.
fn configured(name: &str, text: &str) -> Result<(usize, String), String> {
    let of = name.strip_prefix("__config:").and_then(|rest| rest.strip_suffix(":threshold"));
    let number = match of.and_then(|of| of.strip_prefix("__expected")) {
        Some("") => Some(0),
        Some(number) => number.parse::<usize>().ok().and_then(|number| number.checked_sub(1)),
        None => None,
    };
    let number = number
        .ok_or_else(|| format!("the column {name:?} is none of promptfoo's; as in __config:__expected2:threshold"))?;
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((number, text.trim().to_owned())),
        Ok(_) | Err(_) => Err(format!("{name}: {text:?} is no number")),
    }
}

/// The assertion that a cell of `__expected` stands for.
fn assertion(text: &str, place: &Place) -> Vec<(String, Located)> {
    let typed = |kind: &str, value: Option<Located>| {
        let mut entries = vec![("type".to_owned(), worded(kind, place))];
        entries.extend(value.map(|value| ("value".to_owned(), value)));
        entries
    };
    if let Some(file) = text.strip_prefix("file://") {
        let is_python = file.ends_with(".py") || file.contains(".py:");
        let is_script = [".js", ".cjs", ".mjs", ".ts", ".cts", ".mts"].iter().any(|ending| file.ends_with(ending));
        if is_python || is_script {
            return typed(if is_python { "python" } else { "javascript" }, Some(worded(file, place)));
        }
    }
    for (start, kind) in SHORT {
        if let Some(value) = text.strip_prefix(start) {
            return typed(kind, Some(worded(value.trim(), place)));
        }
    }
    let Some(found) = EXPECTED.captures(text) else { return typed("equals", Some(worded(text, place))) };
    let base = &found[2];
    let kind = format!("{}{base}", found.get(1).map_or("", |not| not.as_str()));
    let value = found.get(4).map(|value| value.as_str());
    let value = match base {
        "contains-all" | "contains-any" | "icontains-all" | "icontains-any" => value.map(|value| items(value, place)),
        "is-json" => value.map(|value| structured(value, place)),
        _ => value.map(|value| worded(value.trim(), place)),
    };
    let mut entries = typed(&kind, value);
    if WITH_THRESHOLD.split_whitespace().any(|known| known == base) {
        let default = if base == "similar" { OF_SIMILAR } else { THRESHOLD };
        entries.push(("threshold".to_owned(), worded(found.get(3).map_or(default, |stated| stated.as_str()), place)));
    }
    entries
}

/// The items of `a, "b, c"`; a text that is none of it stays one text, of which the assertion says what is wrong.
fn items(text: &str, place: &Place) -> Located {
    let mut items = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let Some(found) = ITEM.captures(rest) else { return worded(text, place) };
        let quoted =
            found.get(1).map(|item| item.as_str().replace("\\\"", "\"").replace("\"\"", "\"").replace(r"\\", r"\"));
        let plain = || found.get(2).map(|item| item.as_str().trim().to_owned());
        items.extend(quoted.or_else(plain).map(|item| worded(&item, place)));
        rest = &rest[found[0].len()..];
    }
    Located { place: place.clone(), value: Value::List(items) }
}

/// A JSON schema in a cell, else the text as it stands.
fn structured(text: &str, place: &Place) -> Located {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(value @ serde_json::Value::Object(_)) => located(&value, place),
        Ok(_) | Err(_) => worded(text, place),
    }
}

fn located(json: &serde_json::Value, place: &Place) -> Located {
    use serde_json::Value as Json;
    let value = match json {
        Json::Null => Value::Null,
        Json::Bool(yes) => Value::Bool(*yes),
        Json::Number(number) => Value::Number(number.to_string()),
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => Value::List(items.iter().map(|item| located(item, place)).collect()),
        Json::Object(map) => Value::Map(map.iter().map(|(key, value)| (key.clone(), located(value, place))).collect()),
    };
    Located { place: place.clone(), value }
}

/// The parts of a list in a cell; `\,` is no end of one.
fn parts(cell: &Located) -> Vec<Located> {
    let text = cell.word().unwrap_or_default().replace("\\,", "\u{0}");
    text.split(',').map(|part| worded(&part.trim().replace('\u{0}', ","), &cell.place)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(cell: &str, expected: &str) {
        let map = Located { place: Place::default(), value: Value::Map(assertion(cell, &Place::default())) };
        assert_eq!(map.to_json().to_string(), expected, "{cell}");
    }

    #[test]
    fn a_cell_names_its_assertion_or_is_the_answer() {
        check("Paris", r#"{"type":"equals","value":"Paris"}"#);
        check("Answer: 42", r#"{"type":"equals","value":"Answer: 42"}"#);
        check("contains: 30 days", r#"{"type":"contains","value":"30 days"}"#);
        check(
            "not-contains-any: a, \"b, \"\"c\"\"\" ,d",
            r#"{"type":"not-contains-any","value":["a","b, \"c\"","d"]}"#,
        );
        check("grade: it is short", r#"{"type":"llm-rubric","value":"it is short"}"#);
        check("file://check.js", r#"{"type":"javascript","value":"check.js"}"#);
        check("is-json:{\"type\": \"object\"}", r#"{"type":"is-json","value":{"type":"object"}}"#);
    }

    #[test]
    fn thresholds_stand_in_parentheses_and_have_defaults() {
        check("latency(2000)", r#"{"threshold":"2000","type":"latency"}"#);
        check("similar(0.9):x\ny", r#"{"threshold":"0.9","type":"similar","value":"x\ny"}"#);
        check("similar:x", r#"{"threshold":"0.8","type":"similar","value":"x"}"#);
        check("context-recall: x", r#"{"threshold":"0.75","type":"context-recall","value":"x"}"#);
        check("latency(fast)", r#"{"type":"equals","value":"latency(fast)"}"#);
    }
}
