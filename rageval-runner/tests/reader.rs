//! The reader on replies of real judges, and what its scores are worth, where the folder of study data stands beside the workspace.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use rageval_runner::{
    judge::reply::{Field, Form, Scale, Unreadable, read_fields, read_label, read_object, read_score},
    stats,
};
use serde_json::Value;

fn rows(file: &str) -> Option<Vec<Value>> {
    let path = data().join(file);
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: {} is not there", path.display());
        return None;
    };
    Some(text.lines().map(|line| serde_json::from_str(line).expect("JSON lines")).collect())
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data")
}

fn scale(asked: &Value) -> Option<Scale> {
    let ends = asked["scale"].as_array()?;
    Scale::new(ends.first()?.as_f64()?, ends.get(1)?.as_f64()?)
}

/// What a row of odd outputs was read as: the object, `{"score": ...}` or `{"label": ...}`.
fn read(asked: &Value, raw: &str) -> Result<Value, Unreadable> {
    let fields = asked["fields"].as_str().expect("fields");
    // Cut off or filtered: the client ends such a reply before anybody reads it.
    if let Some(end) = asked["finish_reason"].as_str().filter(|end| *end != "stop") {
        return Err(Unreadable { why: format!("the reply ended by {end}") });
    }
    match asked["format"].as_str().expect("a format") {
        "prose" => read_score(raw, scale(asked).expect("a scale")).map(|score| serde_json::json!({"score": score})),
        "label" => {
            let labels: Vec<_> = asked["labels"].as_array().expect("labels").iter().filter_map(Value::as_str).collect();
            let labels = if fields.starts_with("Output (a)") { vec!["Output (a)", "Output (b)"] } else { labels };
            read_label(raw, &labels).map(|label| serde_json::json!({"label": label}))
        }
        "ranking" => ranking(raw, &["model_1", "model_2"]).or_else(|_| ranking(raw, &["m", "M"])),
        _ => {
            let words = Form::Words {
                key: "verdict",
                words: &["yes", "no", "idk"],
                count: asked["statements"].as_u64().and_then(|count| count.try_into().ok()).unwrap_or_default(),
            };
            let field = if fields.contains("verdicts") {
                Field { name: "verdicts", form: words }
            } else if fields.contains("verdict") {
                Field { name: "verdict", form: Form::Truth }
            } else if fields.contains("score") {
                Field { name: "score", form: Form::Score(scale(asked).expect("a scale")) }
            } else {
                return read_object(raw);
            };
            read_fields(raw, &[field]).map(Value::Object)
        }
    }
}

/// The first of a ranking of two, or `{"tie": true}`. Some judges leave out the object around the list.
fn ranking(raw: &str, names: &[&str; 2]) -> Result<Value, Unreadable> {
    let wrapped = format!("{{\"ordered_models\": {raw}}}");
    let object = read_object(raw).or_else(|_| read_object(&wrapped))?;
    let bad = || Unreadable { why: format!("no ranking of {names:?}") };
    let list = object["ordered_models"].as_array().filter(|list| list.len() == 2).ok_or_else(bad)?;
    let rank = |name: &str| {
        let mut ranks = list.iter().filter(|entry| entry["model"] == name).map(|entry| entry["rank"].as_u64());
        match (ranks.next(), ranks.next()) {
            (Some(Some(rank)), None) => Ok(rank),
            _ => Err(bad()),
        }
    };
    let (first, second) = (rank(names[0])?, rank(names[1])?);
    Ok(match first.cmp(&second) {
        std::cmp::Ordering::Less => serde_json::json!({"first": names[0]}),
        std::cmp::Ordering::Equal => serde_json::json!({"tie": true}),
        std::cmp::Ordering::Greater => serde_json::json!({"first": names[1]}),
    })
}

/// Whether a reading says this value anywhere that decides.
fn says(reading: &Value, wrong: &Value) -> bool {
    ["score", "label", "verdict"].iter().any(|key| same(&reading[*key], wrong))
}

fn same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => (one - other).abs() < 1e-9,
        _ => one == other && !one.is_null(),
    }
}

#[test]
fn odd_replies_are_read_as_a_careful_person_reads_them_or_refused() {
    let Some(rows) = rows("judge_raw/odd_outputs.jsonl") else { return };
    let mut wrong = Vec::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for row in &rows {
        let (id, expected, raw) = (&row["id"], &row["expected"], row["raw"].as_str().expect("text"));
        let status = expected["status"].as_str().expect("a status");
        let reading = read(&row["asked"], raw);
        let is_read = reading.is_ok();
        *counts.entry(format!("{status}, {}", if is_read { "read" } else { "refused" })).or_default() += 1;
        match &reading {
            Err(unreadable) if status == "ok" => wrong.push(format!("{id} is refused: {unreadable}")),
            Err(unreadable) if unreadable.why.is_empty() => wrong.push(format!("{id} is refused without a reason")),
            Err(_) => {}
            Ok(reading) if !status.starts_with("ok") => wrong.push(format!("{id} is read as {reading}")),
            Ok(reading) => {
                let keys = ["score", "label", "verdict", "reason", "first", "tie"];
                let is_as_expected = keys.iter().all(|key| match &expected[*key] {
                    Value::Null => true,
                    value => same(&reading[*key], value),
                });
                let verdicts =
                    |value: &Value| value.as_array().map(|list| list.iter().map(|v| v["verdict"].clone()).collect());
                let expected_verdicts: Option<Vec<Value>> = expected["verdicts"].as_array().cloned();
                let is_listed = expected_verdicts.is_none() || verdicts(&reading["verdicts"]) == expected_verdicts;
                if !is_as_expected || !is_listed {
                    wrong.push(format!("{id} is read as {reading}, not {expected}"));
                }
            }
        }
        let must_not = expected["must_not"].as_array().into_iter().flatten();
        if let Ok(reading) = &reading {
            wrong.extend(must_not.filter(|not| says(reading, not)).map(|not| format!("{id} is read as {not}")));
        }
    }
    println!("{counts:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether the reply calls this label the better one in so many words, and the other nowhere.
fn names_only(raw: &str, label: &str) -> bool {
    let says = |label: &str| {
        let forms =
            [format!("{label} is better"), format!("{label} as the better"), format!("better output is {label}")];
        forms.iter().any(|form| raw.contains(form))
    };
    let other = if label == "Output (a)" { "Output (b)" } else { "Output (a)" };
    says(label) && !says(other)
}

#[derive(Default)]
struct Agreement {
    right: usize,
    refused: usize,
    refused_rightly: usize,
    wrong: Vec<String>,
}

impl Agreement {
    fn add(&mut self, id: &str, raw: &str, scale: Scale, careful: Option<f64>) {
        match (read_score(raw, scale), careful) {
            (Ok(score), Some(careful)) if (score - careful).abs() < 1e-9 => self.right += 1,
            (Ok(score), careful) => self.wrong.push(format!("{id}: {score}, not {careful:?}: {raw:?}")),
            (Err(_), None) => self.refused_rightly += 1,
            (Err(_), Some(_)) => self.refused += 1,
        }
    }
}

#[test]
fn scores_in_the_prose_of_real_judges_are_read_or_refused() {
    let folder = data().join("calibration");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("skipped: {} is not there", folder.display());
        return;
    };
    let mut files: Vec<_> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    files.retain(|file| file.starts_with("summeval_") || file.starts_with("topicalchat_"));
    files.sort();
    let mut wrong = Vec::new();
    let mut total = Agreement::default();
    for file in &files {
        let mut agreement = Agreement::default();
        for row in rows(&format!("calibration/{file}")).unwrap_or_default() {
            let (id, scale) = (row["id"].as_str().expect("an id"), scale(&row).expect("a scale"));
            match row["raw"].as_array() {
                Some(samples) => {
                    for (raw, careful) in samples.iter().zip(row["sample_scores"].as_array().expect("scores")) {
                        agreement.add(id, raw.as_str().expect("text"), scale, careful.as_f64());
                    }
                }
                None => agreement.add(id, row["raw"].as_str().expect("text"), scale, row["judge_score"].as_f64()),
            }
        }
        let Agreement { right, refused, refused_rightly, wrong: misread } = agreement;
        println!(
            "{file}: {right} right, {refused} refused, {refused_rightly} without a score, {} wrong",
            misread.len()
        );
        total.right += right;
        total.refused += refused;
        wrong.extend(misread);
    }
    println!("all: {} right, {} refused, {} wrong", total.right, total.refused, wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// How far the correlation may move where replies are refused: at most 13 of 636 are, which moves it by 0.011.
const NEAR: f64 = 0.015;

/// What a file's raw replies are worth beside people, as far as we read them.
#[derive(Default)]
struct Worth {
    /// Our reading and the mean of the people.
    pairs: Vec<(f64, f64)>,
    /// Replies in which a careful person finds a score and we do not.
    refused: usize,
}

impl Worth {
    /// Adds an item by its replies: our score is their mean, as the careful one is.
    fn add(&mut self, row: &Value, replies: &[&str], careful: &[Option<f64>]) {
        let scale = scale(row).expect("a scale");
        let read: Vec<_> = replies.iter().map(|raw| read_score(raw, scale).ok()).collect();
        self.refused += read.iter().zip(careful).filter(|(ours, careful)| ours.is_none() && careful.is_some()).count();
        let scores: Vec<f64> = read.into_iter().flatten().collect();
        if let Some(ours) = stats::mean(&scores) {
            self.pairs.push((ours, row["human_mean"].as_f64().expect("a mean")));
        }
    }

    /// Equal to SciPy's figure from careful readings of all replies where we read all of them; near it where we refuse some.
    fn check(&self, what: &str, expected: &Value) {
        let rho = stats::spearman(&self.pairs).expect("a correlation");
        let figure = expected["spearman"].as_f64().expect("a figure");
        let n = expected["n"].as_u64().and_then(|n| usize::try_from(n).ok()).expect("a count");
        println!("{what}: rho {rho:.4}, expected {figure:.4}, n {} of {n}, {} refused", self.pairs.len(), self.refused);
        if self.refused == 0 {
            assert_eq!(self.pairs.len(), n, "{what}");
            assert!((rho - figure).abs() < 1e-9, "{what}: {rho}, not {figure}");
        } else {
            assert!(
                self.pairs.len() <= n && n - self.pairs.len() <= self.refused,
                "{what}: {} of {n}",
                self.pairs.len()
            );
            assert!((rho - figure).abs() < NEAR, "{what}: {rho}, not {figure}");
        }
    }
}

fn texts(row: &Value) -> Vec<&str> {
    row["raw"].as_array().expect("samples").iter().map(|raw| raw.as_str().expect("text")).collect()
}

/// The figures by file, dimension or way of reading; `None` where the folder is not there.
fn figures() -> Option<Value> {
    let path = data().join("calibration/expected.json");
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: {} is not there", path.display());
        return None;
    };
    let mut expected: Value = serde_json::from_str(&text).expect("JSON");
    Some(expected["figures"].take())
}

#[test]
fn single_replies_correlate_with_people_as_when_a_person_reads_them() {
    let Some(figures) = figures() else { return };
    for file in ["summeval_gpt-4-0314.jsonl", "summeval_gpt-3.5-turbo-0301.jsonl", "summeval_llama-2-70b-chat-hf.jsonl"]
    {
        let mut by_dimension: BTreeMap<String, Worth> = BTreeMap::new();
        for row in rows(&format!("calibration/{file}")).expect("beside its figures") {
            let worth = by_dimension.entry(row["dimension"].as_str().expect("a dimension").to_owned()).or_default();
            worth.add(&row, &[row["raw"].as_str().expect("text")], &[row["judge_score"].as_f64()]);
        }
        assert_eq!(by_dimension.len(), 4, "{file}");
        for (dimension, worth) in by_dimension {
            worth.check(&format!("{file} {dimension}"), &figures[file][&dimension]);
        }
    }
}

#[test]
fn first_samples_and_means_of_samples_correlate_with_people_as_when_a_person_reads_them() {
    let Some(figures) = figures() else { return };
    let files: Vec<_> = figures.as_object().expect("files").keys().filter(|file| file.starts_with("topical")).collect();
    assert_eq!(files.len(), 8);
    for file in files {
        let (mut first, mut mean) = (Worth::default(), Worth::default());
        for row in rows(&format!("calibration/{file}")).expect("beside its figures") {
            let careful: Vec<_> = row["sample_scores"].as_array().expect("scores").iter().map(Value::as_f64).collect();
            mean.add(&row, &texts(&row), &careful);
            first.add(&row, &texts(&row)[..1], &careful[..1]);
        }
        first.check(&format!("{file} first sample"), &figures[file]["first_sample_only"]);
        mean.check(&format!("{file} mean of samples"), &figures[file]["mean_of_samples"]);
    }
}

#[test]
fn people_correlate_with_people_as_scipy_says() {
    let Some(figures) = figures() else { return };
    let mut by_dimension: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for row in rows("calibration/summeval_gpt-4-0314.jsonl").expect("beside its figures") {
        let human: Vec<_> = row["human"].as_array().expect("three").iter().filter_map(Value::as_f64).collect();
        let pairs = by_dimension.entry(row["dimension"].as_str().expect("a dimension").to_owned()).or_default();
        pairs.push((human[0], stats::mean(&human[1..]).expect("two")));
    }
    assert_eq!(by_dimension.len(), 4);
    for (dimension, pairs) in by_dimension {
        let expected = &figures["people_against_people_summeval"][&dimension];
        let rho = stats::spearman(&pairs).expect("a correlation");
        assert!((rho - expected["spearman"].as_f64().expect("a figure")).abs() < 1e-9, "{dimension}: {rho}");
    }
}

#[test]
fn choices_of_pairwise_judges_are_read_or_refused() {
    let Some(rows) = rows("judge_raw/llmbar_transcripts.jsonl") else { return };
    let mut wrong = Vec::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &rows {
        let raw = row["raw"].as_str().expect("text");
        let is_swapped = row["swap"] == "swap = True";
        let winner = row["winner"].as_str().map(|winner| match (winner, is_swapped) {
            ("1", false) | ("2", true) => "Output (a)",
            _ => "Output (b)",
        });
        let outcome = match (read_label(raw, &["Output (a)", "Output (b)"]), winner) {
            (Ok(label), Some(winner)) if label == winner => "right",
            // The file's winner is what its authors' own parser made of the reply; the words decide.
            (Ok(label), _) if names_only(raw, label) => "read as the reply says, the file has another or none",
            (Ok(label), winner) => {
                wrong.push(format!("{} {label}, not {winner:?}: {raw:?}", row["id"]));
                "wrong"
            }
            (Err(_), None) => "no winner, refused",
            (Err(_), Some(_)) => "refused",
        };
        *counts.entry(outcome).or_default() += 1;
    }
    println!("{counts:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rankings_of_function_calling_judges_are_read() {
    let Some(rows) = rows("judge_raw/alpaca_fn_replies.jsonl") else { return };
    let (mut first, mut ties) = (0, 0);
    for row in &rows {
        let Some(raw) = row["raw"].as_str() else { continue };
        let names = if raw.contains("model_1") { ["model_1", "model_2"] } else { ["m", "M"] };
        let ranking = ranking(raw, &names).unwrap_or_else(|unreadable| panic!("{}: {unreadable}", row["id"]));
        if ranking["tie"] == true { ties += 1 } else { first += 1 }
    }
    println!("{first} with a first, {ties} ties");
    assert!(first + ties > 100);
}
