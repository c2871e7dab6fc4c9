//! promptfoo's assertions as bars of a case.

use rageval_runner::{
    load::plain::{Located, Value},
    model::{Expectation, Place},
};
use regex::Regex;
use serde_json::{Value as Json, json};

use super::{super::ours::number, Draft, Vars, rendered};

/// The levels of a rubric that says yes or no.
pub(super) const LEVELS: [(&str, u8); 2] = [("does not meet the criterion", 0), ("meets the criterion", 1)];

/// Keys of an assertion that are looked at.
const READ: [&str; 3] = ["type", "value", "threshold"];

/// What an assertion asks for.
struct Asked<'a> {
    at: &'a str,
    place: &'a Place,
    /// `not-` stands before its type.
    not: bool,
    /// Its value with variables put in.
    value: Option<Located>,
    threshold: Option<f64>,
}

/// Reads one assertion into the thresholds of a case; what we have no metric for is named.
pub(super) fn read(assertion: &Located, at: &str, vars: &Vars, draft: &mut Draft<'_>) {
    let place = &assertion.place;
    let Some(kind) = assertion.get("type").and_then(Located::word) else {
        let is_reference = assertion.get("$ref").is_some();
        draft.lost_at(
            at,
            if is_reference { "its `$ref` names nothing in this file" } else { "it has no `type`" },
            place,
        );
        return;
    };
    let named = format!("{at} {kind}");
    if let Value::Map(entries) = &assertion.value {
        for (key, value) in entries.iter().filter(|(key, _)| !READ.contains(&key.as_str())) {
            let is_plain_weight = key == "weight" && value.word().is_some_and(|word| word.parse() == Ok(1.0));
            if !is_plain_weight {
                draft.lost_at(&format!("{named}.{key}"), "a bar has no place for it", &value.place);
            }
        }
    }
    let value = match assertion.get("value").map(|value| with_variables(value, vars)) {
        None => None,
        Some(Ok(value)) => Some(value),
        Some(Err(why)) => {
            draft.lost_at(&named, why, place);
            return;
        }
    };
    let threshold = assertion.get("threshold").and_then(Located::word).and_then(|word| word.parse().ok());
    let (not, base) = kind.strip_prefix("not-").map_or((false, kind.as_str()), |base| (true, base));
    let asked = Asked { at: &named, place, not, value, threshold };
    if let Err(why) = metric(base, &asked, draft) {
        draft.lost_at(&named, why, place);
    }
}

fn with_variables(value: &Located, vars: &Vars) -> Result<Located, &'static str> {
    const TEMPLATE: &str = "its value is a template with more than variables in it";
    const FILE: &str = "its value is a file, which is not read";
    let value = match &value.value {
        Value::Text(text) if text.starts_with("file://") => return Err(FILE),
        Value::Text(text) => {
            Located { place: value.place.clone(), value: Value::Text(rendered(text, vars).ok_or(TEMPLATE)?) }
        }
        Value::List(items) => Located {
            place: value.place.clone(),
            value: Value::List(items.iter().map(|item| with_variables(item, vars)).collect::<Result<_, _>>()?),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Map(_) => value.clone(),
    };
    Ok(value)
}

impl Asked<'_> {
    fn text(&self) -> Result<String, String> {
        let text = self.value.as_ref().and_then(Located::word);
        text.filter(|text| !text.trim().is_empty()).ok_or_else(|| "its value is no text".to_owned())
    }

    /// A list of texts, or a text that commas part.
    fn texts(&self) -> Result<Vec<String>, String> {
        let texts: Vec<String> = match self.value.as_ref().map(|value| &value.value) {
            Some(Value::List(items)) => items.iter().filter_map(Located::word).collect(),
            Some(Value::Text(text)) => text.split(',').map(|text| text.trim().to_owned()).collect(),
            _ => self.text().into_iter().collect(),
        };
        let blank = texts.is_empty() || texts.iter().any(|text| text.trim().is_empty());
        if blank { Err("its value is no list of texts".to_owned()) } else { Ok(texts) }
    }

    fn threshold(&self) -> Result<f64, String> {
        self.threshold.ok_or_else(|| "no `threshold`".to_owned())
    }

    fn share(&self, default: f64) -> Result<f64, String> {
        let share = self.threshold.unwrap_or(default);
        if (0.0..=1.0).contains(&share) { Ok(share) } else { Err(format!("{share} is no share from 0 to 1")) }
    }

    fn straight(&self) -> Result<(), String> {
        if self.not { Err("there is no bar from above".to_owned()) } else { Ok(()) }
    }
}

fn metric(base: &str, asked: &Asked<'_>, draft: &mut Draft<'_>) -> Result<(), String> {
    match base {
        "contains" => contains("all", &[asked.text()?], false, asked, draft),
        "icontains" => contains("all", &[asked.text()?], true, asked, draft),
        "contains-all" => contains("all", &asked.texts()?, false, asked, draft),
        "icontains-all" => contains("all", &asked.texts()?, true, asked, draft),
        "contains-any" => contains("any", &asked.texts()?, false, asked, draft),
        "icontains-any" => contains("any", &asked.texts()?, true, asked, draft),
        "regex" => pattern(&asked.text()?, asked, draft)?,
        "starts-with" => pattern(&format!("^{}", regex::escape(&asked.text()?)), asked, draft)?,
        "equals" => {
            if matches!(asked.value.as_ref().map(|value| &value.value), Some(Value::Map(_) | Value::List(_))) {
                return Err("a value that is no text is compared as JSON, which no metric does".to_owned());
            }
            let text = asked.text()?;
            pattern(&format!("^{}$", regex::escape(&text)), asked, draft)?;
            if !asked.not && draft.case.references.is_empty() {
                draft.reference(asked.at, text);
            }
        }
        "is-json" => json_schema(asked, draft)?,
        "latency" | "cost" => {
            asked.straight()?;
            put(base, json!({"max": number(asked.threshold()?), "min": 1}), draft);
        }
        "is-refusal" => {
            if !asked.not {
                draft.case.expectation = Expectation::Refuse;
            }
            put("refusal_correctness", json!({"min": 1}), draft);
        }
        "context-faithfulness" => share("faithfulness", asked, draft)?,
        "context-relevance" => share("context_relevancy", asked, draft)?,
        "answer-relevance" => share("answer_relevancy", asked, draft)?,
        "context-recall" => {
            reference(asked, draft)?;
            share("context_recall", asked, draft)?;
        }
        "factuality" | "model-graded-factuality" => {
            asked.straight()?;
            reference(asked, draft)?;
            put("answer_correctness", json!({"min": 0.5}), draft);
            draft.changed_at(
                asked.at,
                "`answer_correctness` counts the statements that agree: check its `min`, 0.5",
                asked.place,
            );
        }
        "rouge-n" => overlap("rouge_1", 0.75, asked, draft)?,
        "bleu" => overlap("bleu", 0.5, asked, draft)?,
        "llm-rubric" | "model-graded-closedqa" => rubric(asked, draft)?,
        "g-eval" => return Err("`g_eval` needs evaluation steps: see `cargo rageval steps`".to_owned()),
        _ => return Err("no metric of ours".to_owned()),
    }
    Ok(())
}

fn contains(which: &str, texts: &[String], ignore_case: bool, asked: &Asked<'_>, draft: &mut Draft<'_>) {
    // Neither of them is "not any"; of one text both are the same.
    let which = if asked.not && texts.len() == 1 { "any" } else { which };
    let mut bar = json!({"ignore_case": ignore_case, "min": 1});
    bar[which] = json!(texts);
    if asked.not {
        bar["not"] = json!(true);
    }
    put("contains", bar, draft);
}

fn pattern(pattern: &str, asked: &Asked<'_>, draft: &mut Draft<'_>) -> Result<(), String> {
    if let Err(error) = Regex::new(pattern) {
        let why = error.to_string();
        let why = why.lines().last().unwrap_or_default();
        return Err(format!("the pattern is none of ours: {}", why.trim_start_matches("error: ")));
    }
    let mut bar = json!({"pattern": pattern, "min": 1});
    if asked.not {
        bar["not"] = json!(true);
    }
    put("regex", bar, draft);
    Ok(())
}

fn json_schema(asked: &Asked<'_>, draft: &mut Draft<'_>) -> Result<(), String> {
    let mut bar = json!({"min": 1});
    match asked.value.as_ref() {
        None => {}
        Some(value @ Located { value: Value::Map(_), .. }) => bar["schema"] = value.to_json(),
        Some(_) => return Err("its schema is no map".to_owned()),
    }
    if asked.not {
        bar["not"] = json!(true);
    }
    put("json_schema", bar, draft);
    Ok(())
}

fn share(name: &str, asked: &Asked<'_>, draft: &mut Draft<'_>) -> Result<(), String> {
    asked.straight()?;
    put(name, json!({"min": number(asked.share(0.0)?)}), draft);
    Ok(())
}

/// The value as the right answer, which is what the metric compares with.
fn reference(asked: &Asked<'_>, draft: &mut Draft<'_>) -> Result<(), String> {
    let text = asked.text()?;
    match draft.case.references.first() {
        None => draft.reference(asked.at, text),
        Some(known) if *known == text => {}
        Some(known) => return Err(format!("it compares with {text:?}, and the case with {known:?}")),
    }
    Ok(())
}

fn overlap(name: &str, default: f64, asked: &Asked<'_>, draft: &mut Draft<'_>) -> Result<(), String> {
    asked.straight()?;
    let min = asked.share(default)?;
    reference(asked, draft)?;
    put(name, json!({"min": number(min)}), draft);
    draft.changed_at(asked.at, format!("`{name}` is computed in another way: check its `min`, {min}"), asked.place);
    Ok(())
}

fn rubric(asked: &Asked<'_>, draft: &mut Draft<'_>) -> Result<(), String> {
    asked.straight()?;
    let levels: serde_json::Map<String, Json> =
        LEVELS.iter().map(|(level, score)| ((*level).to_owned(), json!(score))).collect();
    put("rubric", json!({"criterion": asked.text()?, "levels": levels, "min": 1}), draft);
    if let Some(threshold) = asked.threshold.filter(|threshold| *threshold != 1.0) {
        draft.changed_at(
            asked.at,
            format!("its threshold {threshold}: the judge says yes or no, and must say yes"),
            asked.place,
        );
    }
    Ok(())
}

/// Sets a bar under the metric's name, or under the name with the first free number as its label.
fn put(name: &str, bar: Json, draft: &mut Draft<'_>) {
    let thresholds = &mut draft.case.thresholds;
    if thresholds
        .values()
        .zip(thresholds.keys())
        .any(|(known, key)| *known == bar && key.split('/').next() == Some(name))
    {
        return;
    }
    let labelled = (2..).map(|number: usize| format!("{name}/{number}"));
    let key = std::iter::once(name.to_owned())
        .chain(labelled)
        .find(|key| !thresholds.contains_key(key))
        .expect("one of endlessly many is free");
    thresholds.insert(key, bar);
}
