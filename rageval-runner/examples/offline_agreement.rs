//! Prints how far the evidence screen agrees with people, on labelled data that is not part of this repository.
//!
//! `cargo run --release -p rageval-runner --example offline_agreement`. Odd rows are those that the screen's constants were chosen on,
//! even rows are the test. Each missing file is skipped with a line that says so.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Instant,
};

use rageval_runner::{
    judge::offline::reply,
    model::{JudgeRequest, Language, Reply, Verdict},
    stats::spearman,
    text::{evidence::Premises, guess_language, sentences, statements},
};
use serde_json::Value;

/// One labelled claim, weighed.
#[derive(Debug, Clone, Copy)]
struct Item {
    is_odd: bool,
    language: Language,
    /// What people say, higher is better supported.
    label: f64,
    /// Whether people call it supported.
    is_supported: bool,
    /// Whether the screen does.
    is_accepted: bool,
    coverage: f64,
}

fn main() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let begun = Instant::now();
    let sets = [
        ("hand-made items", items(&shared.join("models/faithfulness-items.jsonl"))),
        ("qags cnndm, sentences", qags(&shared, "qags-cnndm")),
        ("qags xsum, sentences", qags(&shared, "qags-xsum")),
        ("faithbench, sentences", faithbench(&shared, Unit::Sentence)),
        ("faithbench, answers", faithbench(&shared, Unit::Answer)),
        ("pira answers, own or other context", swapped(&shared, "pira_pt", 12)),
        ("faquad spans, own or other context", swapped(&shared, "faquad", 12)),
        ("cmrc spans, own or other context", swapped(&shared, "cmrc", 6)),
        ("drcd spans, own or other context", swapped(&shared, "drcd", 6)),
        ("evouna answers, by the references", evouna(&shared)),
    ];
    println!(
        "| set | language | rows | n | supported | balanced accuracy | accepted of supported | refused of the rest | Spearman |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let mut weighed = 0;
    for (name, items) in &sets {
        let Some(items) = items else {
            println!("skipped: {name}: the data is not here");
            continue;
        };
        weighed += items.len();
        let mut groups: BTreeMap<(Language, &str), Vec<Item>> = BTreeMap::new();
        for item in items {
            let half = if item.is_odd { "odd (tuned)" } else { "even" };
            groups.entry((item.language, half)).or_default().push(*item);
            groups.entry((item.language, "all")).or_default().push(*item);
        }
        for ((language, half), items) in groups {
            print_row(name, language.as_str(), half, &items);
        }
        if items.iter().any(|item| item.language != items[0].language) {
            print_row(name, "all", "all", items);
        }
    }
    println!(
        "\n{weighed} claims; {:.1} s, with the reading of their evidence and the resampling",
        begun.elapsed().as_secs_f64()
    );
    print_speed(&shared);
}

/// Weighs every sentence of every answer against its own evidence, and says how many a second that is.
fn print_speed(shared: &Path) {
    let Some(rows) = rows(&shared.join("data/faithfulness/faithbench.jsonl")) else { return };
    let (mut claims, mut weighing) = (0, std::time::Duration::ZERO);
    let begun = Instant::now();
    for row in &rows {
        let premises = Premises::new(&contexts(row), Language::En);
        let of_answer = statements(text(row, "/answer"), Language::En);
        let started = Instant::now();
        claims += of_answer.iter().map(|claim| premises.weigh(claim)).filter(|reading| reading.coverage <= 1.0).count();
        weighing += started.elapsed();
    }
    let a_second = |time: std::time::Duration| claims as f64 / time.as_secs_f64();
    println!(
        "faithbench: {claims} claims, {:.0} a second; {:.0} a second with the reading of their evidence",
        a_second(weighing),
        a_second(begun.elapsed())
    );
}

fn print_row(name: &str, language: &str, half: &str, items: &[Item]) {
    let supported = items.iter().filter(|item| item.is_supported).count();
    let (low, high) = interval(items, balanced_accuracy);
    let (rho_low, rho_high) = interval(items, rank_correlation);
    let share = |number: Option<f64>| number.map_or("-".to_owned(), |number| format!("{number:.2}"));
    println!(
        "| {name} | {language} | {half} | {} | {supported} | {} [{}, {}] | {} | {} | {} [{}, {}] |",
        items.len(),
        share(balanced_accuracy(items)),
        share(low),
        share(high),
        share(accepted(items, Side::Supported)),
        share(accepted(items, Side::Rest).map(|share| 1.0 - share)),
        share(rank_correlation(items)),
        share(rho_low),
        share(rho_high),
    );
}

#[derive(Clone, Copy)]
enum Side {
    Supported,
    Rest,
}

#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Sentence,
    Answer,
}

fn rows(path: &PathBuf) -> Option<Vec<Value>> {
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

fn text<'a>(row: &'a Value, pointer: &str) -> &'a str {
    row.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn contexts(row: &Value) -> Vec<&str> {
    row["contexts"].as_array().into_iter().flatten().map(|context| text(context, "/text")).collect()
}

fn item(row: usize, language: Language, label: f64, is_supported: bool, premises: &Premises, claim: &str) -> Item {
    let reading = premises.weigh(claim);
    Item {
        is_odd: row.is_multiple_of(2),
        language,
        label,
        is_supported,
        is_accepted: matches!(reading.verdict, Verdict::Supported | Verdict::Inferred),
        coverage: reading.coverage,
    }
}

fn items(path: &PathBuf) -> Option<Vec<Item>> {
    let rows = rows(path)?;
    Some(
        rows.iter()
            .enumerate()
            .map(|(at, row)| {
                let language = Language::of_tag(text(row, "/lang")).unwrap_or_default();
                let is_supported = text(row, "/label") == "supported";
                let premises = Premises::new(&[text(row, "/context")], language);
                item(at, language, f64::from(u8::from(is_supported)), is_supported, &premises, text(row, "/claim"))
            })
            .collect(),
    )
}

fn qags(shared: &Path, prefix: &str) -> Option<Vec<Item>> {
    let rows = rows(&shared.join("data/faithfulness/qags.jsonl"))?;
    let mut items = Vec::new();
    for (at, row) in rows.iter().filter(|row| text(row, "/id").starts_with(prefix)).enumerate() {
        let premises = Premises::new(&contexts(row), Language::En);
        for sentence in row["human"]["sentences"].as_array().into_iter().flatten() {
            let votes = sentence["votes"].as_array().map_or(&[][..], Vec::as_slice);
            let yes = votes.iter().filter(|vote| vote.as_str() == Some("yes")).count();
            items.push(item(at, Language::En, yes as f64, votes.len() < 2 * yes, &premises, text(sentence, "/text")));
        }
    }
    Some(items)
}

/// Sentences count as bad where a span that people call unwanted or questionable touches them; an answer by its worst span.
fn faithbench(shared: &Path, unit: Unit) -> Option<Vec<Item>> {
    let rows = rows(&shared.join("data/faithfulness/faithbench.jsonl"))?;
    let mut items = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let answer = text(row, "/answer");
        let premises = Premises::new(&contexts(row), Language::En);
        let mut from = 0;
        let mut of_answer = Vec::new();
        for sentence in sentences(answer, Language::En) {
            let to = from + sentence.chars().count();
            let is_bad = row["human"]["spans"].as_array().into_iter().flatten().any(|span| {
                let labels = span["labels"].to_string();
                let edge = |name: &str| span[name].as_u64().and_then(|edge| usize::try_from(edge).ok()).unwrap_or(0);
                // A span that only touches the sentence by a character or two belongs to its neighbour.
                (labels.contains("Unwanted") || labels.contains("Questionable"))
                    && edge("start") + 2 < to
                    && from + 2 < edge("end")
            });
            from = to;
            if sentence.chars().any(char::is_alphanumeric) {
                let item = item(at, Language::En, f64::from(u8::from(!is_bad)), !is_bad, &premises, sentence);
                of_answer.push(item);
            }
        }
        match unit {
            Unit::Sentence => items.extend(of_answer),
            Unit::Answer => {
                let label = match text(row, "/human/worst") {
                    "consistent" => 3.0,
                    "benign" => 2.0,
                    "questionable" => 1.0,
                    _ => 0.0,
                };
                let n = of_answer.len().max(1) as f64;
                items.push(Item {
                    is_odd: at.is_multiple_of(2),
                    language: Language::En,
                    label,
                    is_supported: 1.5 < label,
                    is_accepted: of_answer.iter().all(|item| item.is_accepted),
                    coverage: of_answer.iter().map(|item| item.coverage).sum::<f64>() / n,
                });
            }
        }
    }
    Some(items)
}

/// Answers that people gave from a context: supported by it, not by the context of another question. Easy, but there is nothing harder
/// in these languages.
fn swapped(shared: &Path, name: &str, at_least: usize) -> Option<Vec<Item>> {
    let rows = rows(&shared.join(format!("data/golden/{name}.jsonl")))?;
    let mut items = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let claim = match row["answer"].as_str() {
            Some(answer) => answer,
            None => row["reference"]
                .as_array()
                .and_then(|answers| answers.first())
                .and_then(Value::as_str)
                .unwrap_or_default(),
        };
        let own = contexts(row);
        let other = (1..rows.len()).map(|step| contexts(&rows[(at + step) % rows.len()])).find(|other| *other != own);
        let Some(other) = other.filter(|_| at_least <= claim.chars().count()) else { continue };
        let language = Language::of_tag(text(row, "/lang")).unwrap_or_else(|| guess_language(claim));
        items.push(item(at, language, 1.0, true, &Premises::new(&own, language), claim));
        items.push(item(at, language, 0.0, false, &Premises::new(&other, language), claim));
    }
    Some(items)
}

/// Answers of five systems to open questions: correct by people against one of the accepted answers covered, by the judge's reply.
fn evouna(shared: &Path) -> Option<Vec<Item>> {
    let rows = rows(&shared.join("data/correctness/evouna.jsonl"))?;
    let mut items = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let Some(is_correct) = row["human"]["correct"].as_bool() else { continue };
        let covered = row["references"].as_array().into_iter().flatten().filter_map(Value::as_str).any(|reference| {
            let request = JudgeRequest::new("answer_correctness.statements", Language::En)
                .text("query", text(row, "/question"))
                .numbered("answer", statements(text(row, "/answer"), Language::En))
                .numbered("reference", statements(reference, Language::En));
            match reply(&request) {
                Reply::Value { value } => value["reference"][0]["verdict"] == "covered",
                Reply::Failed { .. } => false,
            }
        });
        let as_number = |truth: bool| f64::from(u8::from(truth));
        items.push(Item {
            is_odd: at.is_multiple_of(2),
            language: Language::En,
            label: as_number(is_correct),
            is_supported: is_correct,
            is_accepted: covered,
            coverage: as_number(covered),
        });
    }
    Some(items)
}

fn accepted(items: &[Item], side: Side) -> Option<f64> {
    let wanted = |item: &&Item| match side {
        Side::Supported => item.is_supported,
        Side::Rest => !item.is_supported,
    };
    let n = items.iter().filter(wanted).count();
    (0 < n).then(|| items.iter().filter(wanted).filter(|item| item.is_accepted).count() as f64 / n as f64)
}

fn balanced_accuracy(items: &[Item]) -> Option<f64> {
    Some(f64::midpoint(accepted(items, Side::Supported)?, 1.0 - accepted(items, Side::Rest)?))
}

fn rank_correlation(items: &[Item]) -> Option<f64> {
    spearman(&items.iter().map(|item| (item.label, item.coverage)).collect::<Vec<_>>())
}

/// A 95% percentile interval from 1,000 seeded resamples.
fn interval(items: &[Item], statistic: fn(&[Item]) -> Option<f64>) -> (Option<f64>, Option<f64>) {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut draw = || {
        // xorshift64*: enough for a resample, and the same everywhere.
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        usize::try_from(state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).unwrap_or(0) % items.len()
    };
    let mut values: Vec<f64> = (0..1_000)
        .filter_map(|_| {
            let resample: Vec<Item> = items.iter().map(|_| items[draw()]).collect();
            statistic(&resample)
        })
        .collect();
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values.get((share * values.len() as f64) as usize).copied();
    (at(0.025), at(0.975))
}
