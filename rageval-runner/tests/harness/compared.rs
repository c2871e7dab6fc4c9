//! `pairwise` and `g_eval` in a whole run: against an accepted run, and with reviewed steps.

use rageval_runner::{
    model::{MetricKey, Outcome, Record},
    store::baseline,
};

use crate::fixture::{Project, RECALL};

crate::tests![
    an_answer_is_compared_with_the_accepted_one,
    without_a_baseline_nothing_is_compared,
    a_baseline_without_its_texts_is_red_before_anything_is_asked,
    probabilities_of_scores_weigh_them_and_the_mode_is_told,
    criteria_without_reviewed_steps_are_red_before_anything_runs,
];

const CASES: &str = "- {id: same, query: \"a [found: fee]\", relevant_doc_ids: [fee]}\n\
                     - {id: other, query: \"b [found: fee]\", relevant_doc_ids: [fee]}\n\
                     - {id: changed, query: \"c [found: fee]\", relevant_doc_ids: [fee]}\n";

const PAIRWISE: &str = "version: 1\ncases: cases\njudge: {provider: scripted, replies: replies.jsonl}\n\
                        snapshots: {fail_on: never}\nwaive: {calibration: {reason: a fixture, until: 2999-12-31}}\nmetrics:\n  pairwise: {min: 0.5}\n\
                        regression: {baseline: baselines/main.json}\n";

const FIRST: &str = r#"{"request": "pairwise.preference", "case": "*", "value": {"preferred": "first"}}"#;

/// A project with an accepted run in which `other` was answered otherwise.
fn accepted() -> Project {
    let project = Project::new(RECALL, CASES);
    project.run(&[]).ends_with(0);
    let made = baseline::from_run(&project.latest_run()).expect("a whole run");
    let path = project.path("baselines/main.json");
    baseline::write(&path, &made.baseline, &made.texts).expect("written");
    let text = std::fs::read_to_string(&path).expect("read");
    let earlier = |line: &str| match line.contains("\"case\":\"other\"") {
        true => line.replace("The fee is 12 euros.", "There is a fee."),
        false => line.to_owned(),
    };
    let changed: Vec<_> = text.split('\n').map(earlier).collect();
    assert_ne!(text, changed.join("\n"));
    std::fs::write(&path, changed.join("\n")).expect("written");
    project.write("thresholds.yaml", PAIRWISE);
    project.write("replies.jsonl", FIRST);
    project
}

fn record(project: &Project, id: &str) -> Record {
    let records = project.latest_run().records;
    records.into_iter().find(|record| record.case.as_str() == id).expect("a record")
}

fn outcome(record: &Record, key: &str) -> Outcome {
    record.outcomes[&MetricKey::parse(key).expect("a key")].clone()
}

fn note(outcome: &Outcome) -> (Option<f64>, String) {
    let note = outcome.detail().and_then(|detail| detail.note.clone()).unwrap_or_default();
    (outcome.score().map(rageval_runner::model::UnitInterval::get), note)
}

fn an_answer_is_compared_with_the_accepted_one() {
    let project = accepted();
    project.write("cases/all.yaml", &CASES.replace("\"c [", "\"c reworded ["));
    project.run(&[]).ends_with(0);
    let same = record(&project, "same");
    assert_eq!(note(&outcome(&same, "pairwise")), (Some(0.5), "the same answer as the baseline's".to_owned()));
    assert!(same.transcript.exchanges.is_empty());
    let other = record(&project, "other");
    let (score, said) = note(&outcome(&other, "pairwise"));
    assert_eq!((score, other.transcript.exchanges.len()), (Some(0.5), 2));
    assert!(said.starts_with("the orders disagree"), "{said}");
    let asked = serde_json::to_string(&other.transcript).expect("JSON");
    assert!(asked.contains("There is a fee.") && asked.contains("The fee is 12 euros."), "{asked}");
    assert_eq!(outcome(&record(&project, "changed"), "pairwise"), Outcome::not_applicable("no baseline answer"));
}

fn without_a_baseline_nothing_is_compared() {
    let project = accepted();
    let rules = PAIRWISE.replace("regression: {baseline: baselines/main.json}\n", "").replace("{min:", "{mean: {min:");
    project.write("thresholds.yaml", &rules.replace("0.5}", "0.5}}"));
    let ran = project.run(&[]);
    let failed = ran.ends_with(101).failed();
    assert!(failed.contains(&"gate::pairwise::mean".to_owned()), "a gate without any score is red: {failed:?}");
    assert_eq!(outcome(&record(&project, "other"), "pairwise"), Outcome::not_applicable("no baseline answer"));
}

fn a_baseline_without_its_texts_is_red_before_anything_is_asked() {
    let project = accepted();
    let asked = project.asked().len();
    std::fs::remove_file(project.path("baselines/main.samples.jsonl")).expect("removed");
    project.run(&[]).ends_with(101).says("a metric compares with the baseline's answers, which cannot be read");
    project.write("baselines/main.samples.jsonl", "");
    project.run(&[]).ends_with(101).says("it lacks the text");
    assert_eq!(project.asked().len(), asked);
}

const CRITERIA: &str = "version: 1\ncases: cases\njudge: {provider: scripted, replies: replies.jsonl}\n\
                        snapshots: {fail_on: never}\nwaive: {calibration: {reason: a fixture, until: 2999-12-31}}\nmetrics:\n  g_eval/tone: {criteria: Is it kind?, mode: logprobs, min: 0.5}\n";

fn probabilities_of_scores_weigh_them_and_the_mode_is_told() {
    let project = Project::new(CRITERIA, CASES);
    let steps = "version: 1\ncriteria: Is it kind?\nfields: [query, answer]\n\
                 judge: {provider: openai, model: m, fingerprint: f}\nlanguage: en\nsteps: [Look for a greeting.]\n";
    project.write("g_eval/tone.yaml", steps);
    let reply = |case: &str, rest: &str| format!("{{\"request\": \"g_eval.score\", \"case\": \"{case}\", {rest}}}\n");
    let stated = r#""text": "{\"score\": 4, \"score_probabilities\": {\"5\": 1.0}}""#;
    let weighed = r#""value": {"score": 4, "score_probabilities": {"4": 0.5, "2": 0.5}}"#;
    project.write("replies.jsonl", &(reply("same", weighed) + &reply("*", stated)));
    let ran = project.run(&[]);
    ran.ends_with(101).says("judge cannot answer this").says("mode: samples");
    let (score, said) = note(&outcome(&record(&project, "same"), "g_eval/tone"));
    assert_eq!(score, Some(0.5));
    assert_eq!(said, "mode logprobs: 3.00 on a scale of 1 to 5 (2: 0.500, 4: 0.500)");
    let other = outcome(&record(&project, "other"), "g_eval/tone");
    assert_eq!(other.score(), None, "a judge's own word is no probability: {other:?}");
}

fn criteria_without_reviewed_steps_are_red_before_anything_runs() {
    let project = Project::new(CRITERIA, CASES);
    project.write("replies.jsonl", FIRST);
    project.run(&[]).ends_with(101).says("there is no g_eval/tone.yaml").says("cargo rageval steps tone");
    assert!(project.asked().is_empty());
}
