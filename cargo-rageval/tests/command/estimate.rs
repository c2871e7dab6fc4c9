//! `cargo rageval estimate`: what a run would ask.

use std::path::Path;

use super::{ends, folder, json, passes, program, refuses, write};

const JUDGE: &str =
    "judge: {provider: openai, base_url: \"http://127.0.0.1:9/v1\", model: m, price: {input: 1, output: 2}}";

const CASES: &str = "
- {id: a, query: How long?, reference: It takes 3 days., reference_contexts: [Refunds take 3 days.]}
- {id: b, query: How much?, reference: It costs 4 euros.}
";

fn project(folder: &Path, head: &str, metrics: &str) {
    write(folder, "thresholds.yaml", &format!("version: 1\nsystem: {{kind: recorded}}\n{head}\nmetrics: {metrics}\n"));
    std::fs::create_dir_all(folder.join("cases")).expect("made");
    write(&folder.join("cases"), "all.yaml", CASES);
}

/// The cells of the row with this name.
fn row(text: &str, name: &str) -> Vec<u64> {
    let line = text.lines().find(|line| line.split_whitespace().next() == Some(name));
    let cells = line.unwrap_or_else(|| panic!("no row {name}\n{text}")).split_whitespace().skip(1);
    cells.map(|cell| cell.replace(',', "").parse().expect("a count")).collect()
}

#[test]
fn requests_tokens_and_money_are_told_before_anything_is_asked() {
    let folder = folder();
    project(
        folder.path(),
        &format!("budget: {{requests: 10, usd: 1}}\n{JUDGE}"),
        "{faithfulness: , answer_relevancy: }",
    );
    let text = passes(folder.path(), &["estimate"]);
    assert_eq!(row(&text, "faithfulness.verdicts")[..3], [2, 0, 2], "{text}");
    let total = row(&text, "total");
    assert_eq!(total[..3], [4, 0, 4], "{text}");
    assert!(total[3] > 2000 && total[4] > 20, "{text}");
    let usd = (total[3] + 2 * total[4]) as f64 / 1e6;
    assert!(text.contains(&format!("money    about {usd:.4} USD")), "{text}");
    assert!(text.contains("budget   4 of 10 requests, "), "{text}");
    assert!(text.contains("cases    2 on a stand-in made from their references"), "{text}");
    assert!(text.contains("what is asked again is not counted"), "{text}");
    let told = json(&passes(folder.path(), &["estimate", "--format", "json"]));
    assert_eq!(told["requests"]["faithfulness.verdicts"]["to_ask"], 2, "{told}");
    assert_eq!((&told["total"]["input_tokens"], &told["beyond"]), (&total[3].into(), &serde_json::json!([])));
    assert!((told["usd"].as_f64().expect("a price") - usd).abs() < 1e-9, "{told}");
}

#[test]
fn an_estimate_beyond_the_budget_ends_with_1() {
    let folder = folder();
    for (budget, limit) in [("requests: 1", "requests"), ("tokens: 100", "tokens"), ("usd: 0.0001", "usd")] {
        project(folder.path(), &format!("budget: {{{budget}}}\n{JUDGE}"), "{faithfulness: }");
        let text = ends(folder.path(), &["estimate"], 1);
        assert!(text.contains(&format!("beyond   `budget.{limit}` at thresholds.yaml:3")), "{text}");
        let told = json(&ends(folder.path(), &["estimate", "--format", "json"], 1));
        assert_eq!(told["beyond"].as_array().map(Vec::len), Some(1), "{told}");
    }
}

#[test]
fn a_judge_that_is_code_costs_nothing() {
    let folder = folder();
    project(folder.path(), "judge: {provider: offline}\nbudget: {requests: 0}", "{faithfulness: }");
    let text = passes(folder.path(), &["estimate"]);
    assert!(text.contains("money    none: the judge is `offline`"), "{text}");
    assert_eq!(row(&text, "total")[0], 2);
}

#[test]
fn recorded_answers_are_taken_before_stand_ins() {
    let folder = folder();
    project(folder.path(), &format!("budget: {{requests: 10}}\n{JUDGE}"), "{faithfulness: }");
    let recorded = CASES.replace("{id: a, ", "{id: a, response: Three days., retrieved_contexts: [Three days.], ");
    write(&folder.path().join("cases"), "all.yaml", &recorded);
    let text = passes(folder.path(), &["estimate"]);
    assert!(text.contains("cases    1 on recorded answers, 1 on a stand-in"), "{text}");
}

#[test]
fn a_request_without_stand_in_reply_is_said() {
    let folder = folder();
    project(folder.path(), &format!("budget: {{requests: 10}}\n{JUDGE}"), "{faithfulness: {mode: two_step}}");
    let text = passes(folder.path(), &["estimate"]);
    assert!(text.contains("open     faithfulness.claims: no stand-in reply for 2 requests"), "{text}");
}

#[test]
fn the_mode_of_the_environment_holds() {
    let folder = folder();
    project(folder.path(), &format!("budget: {{requests: 1}}\n{JUDGE}"), "{faithfulness: }");
    let with_mode = |mode: &str| {
        let output = program(folder.path(), &["estimate"]).env("RAGEVAL_JUDGE_MODE", mode).output().expect("a run");
        (output.status.code(), String::from_utf8(output.stdout).expect("UTF-8"))
    };
    let (code, text) = with_mode("replay");
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("missing  2 replies are not stored, and `replay` asks for none"), "{text}");
    assert_eq!(with_mode("live").0, Some(1));
    assert_eq!(with_mode("sometimes").0, Some(2));
}

#[test]
fn broken_files_and_runs_end_with_2() {
    let folder = folder();
    project(folder.path(), JUDGE, "{faithfulness: }");
    assert!(refuses(folder.path(), &["estimate"]).contains("no `budget` says how much one run may spend"));
    project(folder.path(), &format!("budget: {{requests: 10}}\n{JUDGE}"), "{faithfulness: }");
    assert!(refuses(folder.path(), &["estimate", "--run", "nowhere"]).contains("nowhere"));
}

#[test]
fn an_embedder_is_counted_with_its_own_price() {
    let folder = folder();
    let embedder =
        |price: &str| format!("embedder: {{provider: openai, base_url: \"http://127.0.0.1:9/v1\", model: e5{price}}}");
    let metrics = "{answer_correctness: {similarity_weight: 0.25}}";
    let head = |price: &str| format!("judge: {{provider: offline}}\nbudget: {{requests: 10}}\n{}", embedder(price));
    let recorded =
        CASES.replace("{id: a, ", "{id: a, response: Three days., ").replace("{id: b, ", "{id: b, response: Four., ");
    let project = |head: &str| {
        project(folder.path(), head, metrics);
        write(&folder.path().join("cases"), "all.yaml", &recorded);
    };
    project(&head(", price: {input: 1000}"));
    let text = passes(folder.path(), &["estimate"]);
    let cells = row(&text, "embed.similarities");
    assert_eq!(cells[..3], [2, 0, 2], "{text}");
    assert!(text.contains(&format!("money    about {:.4} USD", cells[3] as f64 / 1000.0)), "{text}");
    // What the judge is asked costs nothing: it is code.
    assert!(text.contains("budget   2 of 10 requests"), "{text}");
    project(&head(""));
    let text = passes(folder.path(), &["estimate"]);
    assert!(text.contains("money    not known: `embedder.price` in thresholds.yaml says what tokens cost"), "{text}");
    project(&head("").replace("requests: 10", "requests: 1"));
    assert!(ends(folder.path(), &["estimate"], 1).contains("beyond   `budget.requests`"));
    project(&format!("{JUDGE}\nbudget: {{requests: 10}}\n{}", embedder("")));
    let output = program(folder.path(), &["estimate"]).env("RAGEVAL_JUDGE_MODE", "replay").output().expect("a run");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(row(&text, "total")[2..], [0, 0, 0], "{text}");
}
