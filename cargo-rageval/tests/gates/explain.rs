//! `cargo rageval explain` over runs of a real gate.

use crate::Project;

crate::tests![
    every_metric_of_a_case_is_told_with_its_numbers,
    one_metric_is_told_with_claims_and_requests,
    refusals_and_what_is_not_applicable_are_explained,
    a_run_alone_tells_what_it_keeps,
    a_case_that_changed_is_not_reckoned_anew,
    repeats_are_told_one_by_one,
];

const RULES: &str = "version: 1\njudge: {provider: offline}\nwaive: {calibration: {reason: a fixture, until: 2999-12-31}}\nmetrics:\n  recall@5: {min: 0.8}\n  ndcg: {}\n  faithfulness: {min: 0.25, mean: {min: 0.1, max_drop: 0.02}}\n  refusal_correctness: {}\n  answer_correctness: {}\n";
const CASES: &str = "- id: one\n  query: \"How much and how long? The fee is 12 euros. Delivery takes 9 days. [found: x fee time]\"\n  relevant_doc_ids: [fee, {id: time, grade: 2}, gone]\n- {id: declined, query: \"What? I don't know. [found: ]\", should_refuse: true}\n";

fn project() -> Project {
    let project = Project::new(RULES, CASES);
    project.gate(&[("CI", "true")]).with(101);
    project
}

#[track_caller]
fn says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "not in it: {part}\n{text}");
    }
}

fn every_metric_of_a_case_is_told_with_its_numbers() {
    let text = project().command(&["explain", "one"]).with(0);
    says(
        &text,
        &[
            "case        one (cases/all.yaml:1)",
            "question    How much and how long?",
            "relevant    fee, time (grade 2), gone",
            "context 1   x [score 0.50]: Nothing of this.",
            "context 2   fee [relevant; score 0.50]: The fee is 12 euros.",
            "context 3   time [relevant, grade 2; score 0.50]",
            "decision    FAIL (case::all::one)",
            "|{fee, time} of {fee, time, gone}| / 3 = 2 / 3 = 0.6667",
            "found: 1 / log2(3) [fee at 2] + 2 / log2(4) [time at 3] = 1.6309",
            "it makes the case red: recall@5 0.6667, min 0.80",
            "1 of 2 claims supported: 1 / 2 = 0.50",
            "counts in   mean: min 0.10, max_drop 0.02",
            "the case has no reference answer",
            "add `ground_truth_answer` to the case",
        ],
    );
}

fn one_metric_is_told_with_claims_and_requests() {
    let project = project();
    let text = project.command(&["explain", "case::all::one", "faithfulness"]).with(0);
    says(
        &text,
        &[
            "formula     claims that the contexts support / all claims of the answer",
            "numbers     1 of 2 claims supported: 1 / 2 = 0.50",
            "claim 1     supported: The fee is 12 euros.",
            "claim 2     contradicted: Delivery takes 9 days.",
            "request     1 of 1: faithfulness.verdicts, in en",
            "the judge `offline` is code",
            "sentences   1: The fee is 12 euros.",
            "reply",
        ],
    );
    let json = project.command(&["explain", "one", "faithfulness", "--format", "json"]).with(0);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["format"], "rageval-explanation");
    assert_eq!(json["metrics"][0]["outcome"]["score"]["value"], 0.5);
    assert_eq!(json["metrics"][0]["rule"]["says"], "holds");
    assert_eq!(json["requests"][0]["name"], "faithfulness.verdicts");
    let text = project.command(&["explain", "one", "recall@5"]).with(0);
    says(&text, &["requests    none: it was settled without asking a model"]);
}

fn refusals_and_what_is_not_applicable_are_explained() {
    let text = project().command(&["explain", "declined"]).with(0);
    says(
        &text,
        &[
            "expected    that it declines to answer",
            "refusal     yes, by the text detector",
            "contexts    none came back",
            "not applicable because the system declined: nothing was claimed",
            "a refusal claims nothing",
            "add `relevant_doc_ids` to the case",
        ],
    );
}

fn a_run_alone_tells_what_it_keeps() {
    let (there, here) = (project(), tempfile::tempdir().expect("a folder"));
    let latest = there.read("runs/latest");
    std::fs::copy(there.path(&format!("runs/{latest}/run.json")), here.path().join("run.json")).expect("copied");
    let mut command = crate::clean(std::process::Command::new(env!("CARGO_BIN_EXE_cargo-rageval")), here.path());
    let output = command.args(["rageval", "explain", "one", "--run", "run.json"]).output().expect("started");
    let text = crate::Ended::from(output).with(0);
    says(
        &text,
        &[
            "notice      no thresholds.yaml here or above",
            "case        one (cases/all.yaml:1)",
            "relevant    fee, time (grade 2), gone",
            "in the run: recall@5 0.6667, min 0.80",
            "1 of 2",
        ],
    );
}

fn a_case_that_changed_is_not_reckoned_anew() {
    let project = project();
    project.write("cases/all.yaml", &CASES.replace(", gone]", "]"));
    let text = project.command(&["explain", "one", "recall@5"]).with(0);
    says(&text, &["changed since the run", "relevant    fee, time (grade 2)\n", "2 of 3"]);
    assert!(!text.contains("1.00"), "a score that the run does not have:\n{text}");
    // Other parameters than those of the run are told where the numbers come to something else.
    project.write("cases/all.yaml", CASES);
    project.write("thresholds.yaml", &RULES.replace("  ndcg: {}", "  ndcg: {gain: exponential}"));
    let text = project.command(&["explain", "one", "ndcg"]).with(0);
    says(&text, &["thresholds.yaml is not the one of the run", "the run says 0."]);
}

fn repeats_are_told_one_by_one() {
    let project = Project::new(&format!("{RULES}repeats: {{times: 2, reduce: worst}}\n"), CASES);
    project.gate(&[("CI", "true")]).with(101);
    let text = project.command(&["explain", "one", "faithfulness"]).with(0);
    says(
        &text,
        &[
            "asked 2 times; the answer below is number",
            "numbers     worst of 0.50, 0.50, a repeat passing from 0.25 on = 0.50",
            "repeat 2    0.50",
            "1 of 2 claims supported: 1 / 2 = 0.50",
            "request     2 of 2: faithfulness.verdicts, in en, repeat 2",
        ],
    );
}
