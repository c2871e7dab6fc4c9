//! Reads what a page shows of our formats with the readers of the product.

use std::{collections::BTreeSet, fs, path::Path};

use rageval_runner::{embed::scripted::Scripted as Vectors, judge::scripted::Scripted, load, metric::METRICS};
use serde_json::Value;

use super::block::Block;

/// Keys that a piece of a policy gets where it lacks them, so that it is a whole one.
const REST: &[(&str, &str)] = &[
    ("version", "version: 1"),
    ("metrics", "metrics: {recall@5: {min: 0.5}, faithfulness: {min: 0.5}, answer_relevancy: {min: 0.5}}"),
    ("judge", "judge: {provider: offline}"),
    ("system", "system: {kind: function, generator: llama-3.1-8b-instruct-q8_0}"),
    ("budget", "budget: {requests: 1000}"),
];

/// The steps of the one metric on the pages that has its steps in a file.
const STEPS: &str = r#"version: 1
criteria: "Does the answer speak to the customer in a friendly way, without promising what the contexts don't?"
fields: [query, contexts, answer]
judge: {provider: "openai", model: "gpt-4o-2024-08-06", fingerprint: "5f0c"}
language: en
steps: ["Read the answer."]
"#;

/// Reads a block that is no file of the page's folder.
pub(crate) fn read(block: &Block) -> Result<(), String> {
    if block.value("shown-by").is_some() {
        return held(block);
    }
    match (block.language.as_str(), block.value("as")) {
        ("yaml", None) if block.body.lines().any(|line| line.starts_with("- ")) => cases(&block.body),
        ("yaml", None) => fragment(&block.body),
        ("yaml", Some("alternatives")) => entries(&block.body).iter().try_for_each(|entry| fragment(entry)),
        ("yaml", Some("metrics")) => {
            fragment(&format!("metrics:\n{}", block.body.lines().map(|line| format!("  {line}\n")).collect::<String>()))
        }
        ("yaml", Some("case")) => {
            cases(&format!("- id: a\n  query: How long?\n  ground_truth_answer: Three days.\n{}", block.body))
        }
        ("yaml", Some("labels")) => labels(&block.body),
        ("yaml", Some("judge-file")) => judge_file(&block.body),
        ("yaml", Some("workflow")) => workflow(&block.body),
        ("json", None) => json(&block.body),
        ("json", Some("script")) => Scripted::from_text(&block.body).map(drop).map_err(|e| e.to_string()),
        ("json", Some("vectors")) => Vectors::from_text(&block.body).map(drop).map_err(|e| e.to_string()),
        // Compiled together, as that is one call of cargo; drawn by the reader's browser; held by another test.
        ("rust" | "mermaid", _) => Ok(()),
        (language, format) => {
            Err(format!("nothing reads {language} as {format:?}: name its file, or say why it is not read"))
        }
    }
}

/// Reads a whole policy.
pub(crate) fn policy(file: &Path) -> Result<(), String> {
    load::policy(file, METRICS).map(drop).map_err(|faults| faults.to_string())
}

/// Every line of a text stands in the file that is said to hold it; `...` stands for anything.
fn held(block: &Block) -> Result<(), String> {
    let file = block.value("shown-by").ok_or("a text without `shown-by`")?;
    let text = fs::read_to_string(super::root().join(file)).map_err(|e| format!("{file}: {e}"))?;
    // In a source a text may be written with escapes.
    let plain = |text: &str| text.replace("\\\"", "\"").replace("{{", "{").replace("}}", "}");
    let text = plain(&text);
    let stands = |line: &&str| line.split("...").all(|part| text.contains(plain(part.trim()).as_str()));
    let missing: Vec<&str> = block.body.lines().map(str::trim).filter(|line| !stands(line)).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("{file} does not hold\n{}", missing.join("\n"))) }
}

/// Top-level entries of YAML: where one key stands several times, these are alternatives.
fn entries(body: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    for line in body.lines() {
        match entries.last_mut() {
            Some(entry) if line.starts_with([' ', '#']) || line.is_empty() => *entry += &["\n", line].concat(),
            _ => entries.push(line.to_owned()),
        }
    }
    entries
}

/// Reads a piece of a policy as part of a whole one.
fn fragment(body: &str) -> Result<(), String> {
    let keys: BTreeSet<&str> = body
        .lines()
        .filter(|line| !line.starts_with([' ', '#']))
        .filter_map(|line| Some(line.split_once(':')?.0))
        .collect();
    let mut whole = body.trim_end().to_owned() + "\n";
    for (key, line) in REST.iter().filter(|(key, _)| !keys.contains(key)) {
        // A piece that judges by a model says what writes the answers; one that does not ask needs no budget.
        if *key != "budget" || keys.contains("judge") || keys.contains("embedder") || keys.contains("budget") {
            whole += &[line, "\n"].concat();
        }
    }
    let folder = folder();
    fs::write(folder.path().join("thresholds.yaml"), whole).expect("written");
    policy(&folder.path().join("thresholds.yaml"))
}

/// Reads golden cases; those with answers as a recorded system's.
fn cases(body: &str) -> Result<(), String> {
    let system = if body.contains("response:") { "system: {kind: recorded}\n" } else { "" };
    let folder = folder();
    fs::create_dir(folder.path().join("cases")).expect("a folder");
    fs::write(folder.path().join("cases/page.yaml"), body).expect("written");
    let rules = format!(
        "version: 1\n{system}judge: {{provider: offline}}\nmetrics: {{recall@5: {{min: 0.5}}, faithfulness: {{min: 0.5}}, answer_relevancy: {{min: 0.5}}}}\n"
    );
    fs::write(folder.path().join("thresholds.yaml"), rules).expect("written");
    let policy = load::policy(&folder.path().join("thresholds.yaml"), METRICS).map_err(|faults| faults.to_string())?;
    load::cases(&policy, METRICS).map(drop).map_err(|faults| faults.to_string())
}

fn labels(body: &str) -> Result<(), String> {
    let folder = folder();
    fs::create_dir_all(folder.path().join("cases/calibration")).expect("a folder");
    fs::write(folder.path().join("cases/calibration/page.yaml"), body).expect("written");
    fs::write(
        folder.path().join("thresholds.yaml"),
        "version: 1\njudge: {provider: offline}\nmetrics: {faithfulness: {min: 0.5}}\n",
    )
    .expect("written");
    let policy = load::policy(&folder.path().join("thresholds.yaml"), METRICS).map_err(|faults| faults.to_string())?;
    load::labels(&policy, METRICS).map(drop).map_err(|faults| faults.to_string())
}

/// A file with a `judge` alone, for `calibrate --judge`.
fn judge_file(body: &str) -> Result<(), String> {
    fragment(body)
}

/// A piece of a workflow: it is YAML, and what it gives to our action are inputs of it. GitHub alone can run it.
fn workflow(body: &str) -> Result<(), String> {
    let read = |text: &str| serde_yaml::from_str::<Value>(text).map_err(|e| e.to_string());
    let action = fs::read_to_string(super::root().join("action.yml")).map_err(|e| format!("action.yml: {e}"))?;
    let action = read(&action)?;
    let unknown: Vec<String> = steps(&read(body)?)
        .into_iter()
        .filter(|step| step["uses"].as_str().is_some_and(|uses| uses == "./" || uses.starts_with("rageval/")))
        .flat_map(|step| step["with"].as_object().map(|with| with.keys().cloned().collect()).unwrap_or_else(Vec::new))
        .filter(|input| action["inputs"].get(input).is_none())
        .collect();
    if unknown.is_empty() { Ok(()) } else { Err(format!("no inputs of action.yml: {}", unknown.join(", "))) }
}

/// The steps of a workflow, wherever they stand in it.
fn steps(of: &Value) -> Vec<&Value> {
    match of {
        Value::Object(map) if map.contains_key("uses") => vec![of],
        Value::Object(map) => map.values().flat_map(steps).collect(),
        Value::Array(items) => items.iter().flat_map(steps).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// One value, or one on each line; a key twice is an error.
fn json(body: &str) -> Result<(), String> {
    let values: Vec<Value> =
        serde_json::Deserializer::from_str(body).into_iter().collect::<Result<_, _>>().map_err(|e| e.to_string())?;
    if values.is_empty() { Err("no JSON".to_owned()) } else { Ok(()) }
}

/// A folder with the files that pieces of policies name.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["tests", "prompts", "bin"] {
        fs::create_dir(folder.path().join(name)).expect("a folder");
    }
    let prompt = rageval_runner::judge::prompt::built_in("faithfulness.verdicts", rageval_runner::model::Language::En);
    fs::write(folder.path().join("prompts/faithfulness.verdicts.en.md"), prompt.expect("a prompt")).expect("written");
    let reply = "{\"request\": \"faithfulness.verdicts\", \"case\": \"*\", \"end\": \"missing\", \"why\": \"\"}\n";
    for name in ["tests/replies.json", "tests/judge.jsonl"] {
        fs::write(folder.path().join(name), reply).expect("written");
    }
    fs::create_dir(folder.path().join("g_eval")).expect("a folder");
    fs::write(folder.path().join("g_eval/tone.yaml"), STEPS).expect("written");
    fs::write(folder.path().join("tests/vectors.jsonl"), "{\"text\": \"a\", \"vector\": [1, 0]}\n").expect("written");
    folder
}
