//! promptfoo configurations: `tests`, `defaultTest` and the assertions that are metrics of ours.

mod assertion;
mod bar;
mod reference;
mod sheet;
mod write;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use rageval_runner::{
    load::plain::{Located, PlainSet, Value, json, yaml},
    model::Place,
};
use regex::Regex;

pub(crate) use write::write;

use super::{
    Wrong,
    draft::{Draft, Drafts, Row},
    loss::Told,
};

/// Variables that are taken for the question, the first that is there.
const QUESTIONS: [&str; 9] =
    ["query", "question", "user_input", "input", "user_question", "user_query", "prompt", "message", "text"];
/// Variables that are taken for a right answer.
const REFERENCES: [&str; 6] =
    ["reference", "ground_truth_answer", "ground_truth", "expected_output", "expected", "answer_gold"];
/// Variables that are taken for what holds the right answer.
const CONTEXTS: [&str; 2] = ["context", "reference_contexts"];

/// Keys of a configuration that describe the system and the run.
const OF_THE_RUN: [&str; 13] = [
    "$schema",
    "description",
    "prompts",
    "providers",
    "targets",
    "env",
    "outputPath",
    "sharing",
    "writeLatestResults",
    "commandLineOptions",
    "evaluateOptions",
    "defaultPrompts",
    "tracing",
];

/// Most tests that the lists of one test's variables may make.
const MOST_TESTS: usize = 10_000;

type Vars = BTreeMap<String, Located>;

/// Reads configurations.
pub(crate) fn read(paths: &[PathBuf], query_var: Option<&str>, told: &mut Told) -> Result<PlainSet, Wrong> {
    let mut drafts = Drafts::default();
    for path in paths {
        let config = match ending(path).as_str() {
            "csv" => sheet_of(path, told)?,
            _ => reference::resolved(&yaml(path)?),
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        let nothing = Located { place: config.place.clone(), value: Value::Null };
        let (tests, default) = match &config.value {
            Value::List(_) => (config.clone(), nothing),
            Value::Map(entries) => {
                tell_rest(entries, path, told);
                let default = config.get("defaultTest").cloned().unwrap_or(nothing);
                let Some(tests) = config.get("tests") else {
                    return Err(Wrong(format!("{}: a configuration of promptfoo has `tests`", config.place)));
                };
                (tests.clone(), referred(default, folder, told)?)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => {
                return Err(Wrong(format!(
                    "{}: expected a configuration of promptfoo, or a list of tests",
                    config.place
                )));
            }
        };
        for test in listed(tests, folder, told)? {
            one_test(&test, &default, query_var, &mut drafts, told)?;
        }
    }
    told.once(|loss| loss.field.starts_with("defaultTest."));
    Ok(PlainSet { cases: drafts.end(told), ..PlainSet::default() })
}

fn tell_rest(entries: &[(String, Located)], path: &Path, told: &mut Told) {
    let (mut of_the_run, mut rest) = (Vec::new(), Vec::new());
    // Templates are read where they are named.
    let is_read = |key: &str| ["tests", "defaultTest", "assertionTemplates"].contains(&key);
    for (key, value) in entries.iter().filter(|(key, _)| !is_read(key)) {
        if OF_THE_RUN.contains(&key.as_str()) { of_the_run.push(key.as_str()) } else { rest.push((key, value)) }
    }
    if !of_the_run.is_empty() {
        let keys = of_the_run.join(", ");
        told.notice(format!("{}: {keys}: of the system and the run, no part of a case", path.display()));
    }
    for (key, value) in rest {
        told.lost_at(&value.place, key.as_str(), "no part of a case");
    }
}

/// The tests of a list, those in files that it names included.
fn listed(tests: Located, folder: &Path, told: &mut Told) -> Result<Vec<Located>, Wrong> {
    let items = match tests.value {
        Value::List(items) => items,
        _ => vec![tests],
    };
    let mut found = Vec::new();
    for item in items {
        match &item.value {
            // Tests that a script or a sheet makes, with what it is told.
            Value::Map(_) if item.get("path").is_some() && item.get("vars").is_none() => {
                for (key, value) in unread(&item) {
                    told.lost_at(
                        &value.place,
                        format!("tests.{key}"),
                        "it is for the script or the sheet that is named",
                    );
                }
                if let Some(named) = item.get("path") {
                    found.extend(listed(named.clone(), folder, told)?);
                }
            }
            Value::Map(_) => found.push(item),
            Value::Text(_) => match referred(item, folder, told)? {
                Located { value: Value::List(items), .. } => found.extend(items),
                one @ Located { value: Value::Map(_), .. } => found.push(one),
                _ => {}
            },
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) => {
                told.lost_at(&item.place, "tests", "a test is a map");
            }
        }
    }
    Ok(found)
}

/// What a `file://` stands for, where it is YAML or JSON; nothing, and named, where it is something else.
fn referred(value: Located, folder: &Path, told: &mut Told) -> Result<Located, Wrong> {
    let Value::Text(name) = &value.value else { return Ok(value) };
    let path = folder.join(name.strip_prefix("file://").unwrap_or(name));
    match ending(&path).as_str() {
        "yaml" | "yml" | "json" if !name.contains('*') => Ok(yaml(&path)?),
        "jsonl" if !name.contains('*') => Ok(Located { place: value.place.clone(), value: Value::List(json(&path)?) }),
        "csv" if !name.contains('*') => sheet_of(&path, told),
        _ => {
            told.lost_at(&value.place, "tests", format!("{name:?} is not read; name YAML, JSON, JSON lines or CSV"));
            Ok(Located { place: value.place.clone(), value: Value::Null })
        }
    }
}

fn ending(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

fn sheet_of(path: &Path, told: &mut Told) -> Result<Located, Wrong> {
    let place = Place { file: path.display().to_string(), line: 1, column: 1 };
    Ok(Located { place, value: Value::List(sheet::tests(path, told)?) })
}

/// What stands beside a `path`.
fn unread(item: &Located) -> Vec<(&String, &Located)> {
    match &item.value {
        Value::Map(entries) => {
            entries.iter().filter(|(key, _)| key != "path").map(|(key, value)| (key, value)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::List(_) => Vec::new(),
    }
}

fn one_test(
    test: &Located,
    default: &Located,
    query_var: Option<&str>,
    drafts: &mut Drafts,
    told: &mut Told,
) -> Result<(), Wrong> {
    let mut vars = Vars::new();
    for of in [default, test] {
        match of.get("vars").map(|vars| &vars.value) {
            Some(Value::Map(entries)) => vars.extend(entries.iter().cloned()),
            Some(_) => told.lost_at(&of.place, "vars", "they are no map; variables in files are not read"),
            None => {}
        }
    }
    let is_apart = [test, default]
        .iter()
        .find_map(|of| of.get("options")?.get("disableVarExpansion"))
        .is_some_and(|value| value.value == Value::Bool(true));
    let question = question(&vars, query_var, &test.place)?;
    for vars in if is_apart { vec![vars] } else { expanded(vars, &test.place)? } {
        case(test, default, &question, &vars, drafts, told);
    }
    Ok(())
}

/// The variable that is the question.
fn question(vars: &Vars, query_var: Option<&str>, place: &Place) -> Result<String, Wrong> {
    let guessed = QUESTIONS.iter().copied().find(|name| vars.contains_key(*name));
    let only = || (vars.len() == 1).then(|| vars.keys().next().map(String::as_str)).flatten();
    match query_var.or(guessed).or_else(only) {
        Some(name) => Ok(name.to_owned()),
        None if vars.is_empty() => Ok(QUESTIONS[0].to_owned()),
        None => {
            let names = vars.keys().cloned().collect::<Vec<_>>().join(", ");
            Err(Wrong(format!("{place}: which variable is the question? --query-var names one of {names}")))
        }
    }
}

/// A list under a variable makes a test of each item, and two lists one of each pair.
fn expanded(vars: Vars, place: &Place) -> Result<Vec<Vars>, Wrong> {
    let mut all = vec![Vars::new()];
    for (name, value) in vars {
        let items = match &value.value {
            Value::List(items) => items.clone(),
            _ => vec![value],
        };
        if all.len().saturating_mul(items.len()) > MOST_TESTS {
            return Err(Wrong(format!("{place}: the lists of this test make more than {MOST_TESTS} tests")));
        }
        all = all
            .iter()
            .flat_map(|vars| {
                items.iter().map(|item| {
                    let mut vars = vars.clone();
                    vars.insert(name.clone(), item.clone());
                    vars
                })
            })
            .collect();
    }
    Ok(all)
}

fn case(test: &Located, default: &Located, question: &str, vars: &Vars, drafts: &mut Drafts, told: &mut Told) {
    let mut fields = Row::new(test);
    let id = fields.take(&["description"]).and_then(|(_, value)| value.word());
    let query = vars.get(question).and_then(Located::word);
    let field = format!("vars.{question}");
    let Some(mut draft) = drafts.start(&test.place, id.as_deref(), (&field, query.as_deref()), told) else { return };
    for (name, value) in vars.iter().filter(|(name, value)| *name != question && value.value != Value::Null) {
        let field = format!("vars.{name}");
        if REFERENCES.contains(&name.as_str()) {
            texts(value).into_iter().flatten().for_each(|text| draft.reference(&field, text));
        } else if CONTEXTS.contains(&name.as_str()) {
            draft.reference_contexts(&field, texts(value));
        } else {
            draft.metadata(&field, name, value);
        }
    }
    let metadata = [test, default].into_iter().filter_map(|of| of.get("metadata"));
    for (key, value) in merged(metadata.collect()) {
        draft.aside("metadata", &key, &value);
    }
    fields.take(&["metadata"]);
    if let Some((field, value)) = fields.take(&["providerOutput"]) {
        match value.word() {
            Some(text) => draft.response(text),
            None => draft.lost(field, "it is no text"),
        }
    }
    let options = fields.take(&["options"]).map(|(_, value)| value);
    let own_only = options
        .and_then(|options| options.get("disableDefaultAsserts"))
        .is_some_and(|value| value.value == Value::Bool(true));
    for (options, of) in [(options, "options"), (default.get("options"), "defaultTest.options")] {
        tell_options(options, of, &mut draft);
    }
    let asserted = fields.take(&["assert"]).map(|(_, value)| value);
    let of_all = default.get("assert").filter(|_| !own_only);
    for (list, at) in [(of_all, "defaultTest.assert"), (asserted, "assert")] {
        assertions(list, at, vars, &mut draft);
    }
    fields.take(&["vars"]);
    for (field, value) in fields.rest() {
        draft.lost_at(field, "a case has no place for it", &value.place);
    }
    if let Value::Map(entries) = &default.value {
        for (field, value) in
            entries.iter().filter(|(key, _)| !["vars", "assert", "metadata", "options"].contains(&key.as_str()))
        {
            draft.lost_at(&format!("defaultTest.{field}"), "a case has no place for it", &value.place);
        }
    }
    draft.end(drafts);
}

fn tell_options(options: Option<&Located>, of: &str, draft: &mut Draft<'_>) {
    let Some(Value::Map(entries)) = options.map(|options| &options.value) else { return };
    for (key, value) in
        entries.iter().filter(|(key, _)| !["disableVarExpansion", "disableDefaultAsserts"].contains(&key.as_str()))
    {
        draft.lost_at(&format!("{of}.{key}"), "a case has no place for it", &value.place);
    }
}

fn assertions(list: Option<&Located>, at: &str, vars: &Vars, draft: &mut Draft<'_>) {
    let Some(list) = list else { return };
    let Value::List(items) = &list.value else {
        draft.lost(at, "it is no list");
        return;
    };
    for (number, item) in items.iter().enumerate() {
        assertion::read(item, &format!("{at}[{number}]"), vars, draft);
    }
}

/// The entries of maps; the first that has a key counts.
fn merged(maps: Vec<&Located>) -> Vec<(String, Located)> {
    let mut all: Vec<(String, Located)> = Vec::new();
    for map in maps {
        if let Value::Map(entries) = &map.value {
            for (key, value) in entries {
                if all.iter().all(|(known, _)| known != key) {
                    all.push((key.clone(), value.clone()));
                }
            }
        }
    }
    all
}

fn texts(value: &Located) -> Vec<Option<String>> {
    match &value.value {
        Value::List(items) => items.iter().map(Located::word).collect(),
        _ => vec![value.word()],
    }
}

static VARIABLE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}").expect("the pattern is tested"));

/// A text with its variables put in. `None` where it holds more of a template than that.
fn rendered(text: &str, vars: &Vars) -> Option<String> {
    let mut whole = String::new();
    let mut end = 0;
    for found in VARIABLE.captures_iter(text) {
        let all = found.get(0)?;
        whole.push_str(&text[end..all.start()]);
        whole.push_str(&vars.get(&found[1]).and_then(Located::word)?);
        end = all.end();
    }
    let rest = |text: &str| text.contains("{{") || text.contains("{%") || text.contains("{#");
    let plain = VARIABLE.replace_all(text, "");
    whole.push_str(&text[end..]);
    (!rest(&plain)).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_put_in_and_other_templates_are_not_guessed() {
        let place = Place::default();
        let vars = Vars::from([("a".to_owned(), Located { place, value: Value::Text("x {{ b }}".to_owned()) })]);
        assert_eq!(rendered("1 {{ a }} 2 {{a}}", &vars).as_deref(), Some("1 x {{ b }} 2 x {{ b }}"));
        for text in ["{{ a | upper }}", "{{ b }}", "{% if a %}", "{{ a }} {# c #}"] {
            assert_eq!(rendered(text, &vars), None, "{text}");
        }
    }
}
