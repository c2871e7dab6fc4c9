//! Bars of a case as promptfoo's assertions.

use rageval_runner::{load::plain::PlainCase, model::MetricKey};
use serde_json::{Map, Value as Json, json};

use super::assertion::LEVELS;

/// The assertions of one bar, and what they leave out of it: `(key, why)`.
pub(super) struct Asserted {
    pub(super) assertion: Json,
    pub(super) left: Vec<(String, String)>,
}

/// The assertion of a bar.
///
/// # Errors
/// Why promptfoo has none.
pub(super) fn assertion(key: &str, bar: &Json, case: &PlainCase) -> Result<Asserted, String> {
    let metric = MetricKey::parse(key).map_err(|error| error.to_string())?;
    let mut bar = match bar {
        Json::Number(min) => Map::from_iter([("min".to_owned(), Json::Number(min.clone()))]),
        Json::Object(map) => map.clone(),
        _ => return Err("it is no bar".to_owned()),
    };
    let min = bar.remove("min").ok_or("its `min` stands in thresholds.yaml")?;
    let not = bar.remove("not") == Some(Json::Bool(true));
    let prefix = if not { "not-" } else { "" };
    let assertion = match metric.name() {
        "contains" => contains(&mut bar, prefix)?,
        "regex" => json!({"type": format!("{prefix}regex"), "value": needed(&mut bar, "pattern")?}),
        "json_schema" => {
            let mut assertion = json!({"type": format!("{prefix}is-json")});
            if let Some(schema) = bar.remove("schema") {
                assertion["value"] = schema;
            }
            assertion
        }
        _ if not => return Err("promptfoo has no such assertion with `not-`".to_owned()),
        "latency" => json!({"type": "latency", "threshold": needed(&mut bar, "max")?}),
        "cost" => json!({"type": "cost", "threshold": needed(&mut bar, "max")?}),
        "faithfulness" => json!({"type": "context-faithfulness", "threshold": min}),
        "context_relevancy" => json!({"type": "context-relevance", "threshold": min}),
        "answer_relevancy" => json!({"type": "answer-relevance", "threshold": min}),
        "context_recall" => json!({"type": "context-recall", "value": answer(case)?, "threshold": min}),
        "refusal_correctness" => refusal(case),
        "answer_correctness" => json!({"type": "factuality", "value": answer(case)?}),
        "rouge_1" => json!({"type": "rouge-n", "value": answer(case)?, "threshold": min}),
        "bleu" => json!({"type": "bleu", "value": answer(case)?, "threshold": min}),
        "rubric" => rubric(&mut bar)?,
        _ => return Err("promptfoo has no such assertion".to_owned()),
    };
    let mut left: Vec<(String, String)> = bar
        .keys()
        .map(|param| (format!("thresholds.{key}.{param}"), "an assertion has no place for it".to_owned()))
        .collect();
    if metric.name() == "answer_correctness" {
        left.push((format!("thresholds.{key}"), "`factuality` is a judge's single grade".to_owned()));
    }
    let is_yes_or_no = ["contains", "regex", "json_schema", "latency", "cost", "refusal_correctness", "rubric"];
    if is_yes_or_no.contains(&metric.name()) && min.as_f64() != Some(1.0) {
        left.push((format!("thresholds.{key}.min"), format!("its `min` {min}: the assertion passes or fails")));
    }
    // Labels tell two bars of one metric apart, and `metric` does so for assertions.
    if let Some(label) = metric.label().filter(|label| label.parse::<usize>().is_err()) {
        left.push((format!("thresholds.{key}"), format!("the label {label:?}")));
    }
    if let Some(texts) = template(&assertion) {
        left.push((format!("thresholds.{key}"), format!("{texts:?} holds what promptfoo takes for a template")));
    }
    Ok(Asserted { assertion, left })
}

/// The assertion of `refusal_correctness`.
pub(super) fn refusal(case: &PlainCase) -> Json {
    let refuses = case.expectation == rageval_runner::model::Expectation::Refuse;
    json!({"type": if refuses { "is-refusal" } else { "not-is-refusal" }})
}

fn needed(bar: &mut Map<String, Json>, param: &str) -> Result<Json, String> {
    bar.remove(param).ok_or_else(|| format!("its `{param}` stands in thresholds.yaml"))
}

fn answer(case: &PlainCase) -> Result<&str, String> {
    case.references.first().map(String::as_str).ok_or_else(|| "the case has no answer to compare with".to_owned())
}

fn contains(bar: &mut Map<String, Json>, prefix: &str) -> Result<Json, String> {
    let i = if bar.remove("ignore_case") == Some(Json::Bool(false)) { "" } else { "i" };
    let (which, texts) = match (bar.remove("any"), bar.remove("all")) {
        (Some(texts), None) => ("any", texts),
        (None, Some(texts)) => ("all", texts),
        (Some(_), Some(_)) => return Err("`any` and `all` at once are two assertions".to_owned()),
        (None, None) => return Err("its texts stand in thresholds.yaml".to_owned()),
    };
    let texts = if let Json::Array(texts) = texts { texts } else { vec![texts] };
    Ok(match &texts[..] {
        [text] => json!({"type": format!("{prefix}{i}contains"), "value": text}),
        _ => json!({"type": format!("{prefix}{i}contains-{which}"), "value": texts}),
    })
}

fn rubric(bar: &mut Map<String, Json>) -> Result<Json, String> {
    let levels = bar.remove("levels").ok_or("its `levels` stand in thresholds.yaml")?;
    let known = levels.as_object().is_some_and(|levels| {
        levels.len() == LEVELS.len()
            && LEVELS.iter().all(|(level, score)| levels.get(*level).and_then(Json::as_f64) == Some(f64::from(*score)))
    });
    if !known {
        return Err("a rubric with levels of its own".to_owned());
    }
    Ok(json!({"type": "llm-rubric", "value": needed(bar, "criterion")?}))
}

fn template(assertion: &Json) -> Option<String> {
    let texts: Vec<&str> = match &assertion["value"] {
        Json::String(text) => vec![text],
        Json::Array(items) => items.iter().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    };
    texts.into_iter().find(|text| is_template(text)).map(str::to_owned)
}

/// Whether promptfoo would take a text for a template, or a file.
pub(super) fn is_template(text: &str) -> bool {
    ["{{", "{%", "{#"].iter().any(|open| text.contains(open)) || text.starts_with("file://")
}
