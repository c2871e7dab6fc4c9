//! The texts of `thresholds.yaml` and of the golden cases that a project starts with.

use std::fmt::Write as _;

use rageval_runner::{model::CaseId, trust::Date};
use serde_json::{Value, json};

use super::system::System;

/// The cases that the examples of all kinds of system answer.
const EXAMPLES: &str = include_str!("templates/cases.yaml");

/// Cases that are made of the lines of a file of answers, at most.
const MOST_CASES: usize = 20;

/// How firm the first bars are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bars {
    /// Cases and answers are examples that belong together.
    Firm,
    /// The system is the user's, and knows nothing of the example cases: what is below a bar is told, and not red.
    Warn,
}

/// `thresholds.yaml`: a waiver until the day, a budget, no baseline.
pub(super) fn thresholds(system: &System, bars: Bars, until: Date) -> String {
    let (level, why) = match bars {
        Bars::Firm => ("", ""),
        Bars::Warn => (
            ", level: warn",
            "  # `level: warn` tells and does not fail: your system knows nothing of the example cases. Take it away once they are yours.\n",
        ),
    };
    format!(
        "# yaml-language-server: $schema=.rageval/schema/thresholds.json\n\
         #\n\
         # What a run must reach. The line above lets editors complete and check this file.\n\
         version: 1\n\
         cases: cases\n\
         \n\
         {system}\
         \n\
         # Who judges the answers: rules over words, which need no key, and read no meaning. A language model does:\n\
         #   judge: {{provider: openai, model: gpt-4o-2024-08-06, api_key_env: OPENAI_API_KEY}}\n\
         # It must know whose answers it judges: `generator: NAME-OF-YOUR-MODEL` under `system`.\n\
         judge: {{provider: offline}}\n\
         # The most that one run may ask of a model; rules ask none.\n\
         budget: {{requests: 1000}}\n\
         \n\
         metrics:\n\
         {why}\
         \x20 # Of the documents that should be found, the share among the first five.\n\
         \x20 recall@5: {{mean: {{min: 0.80{level}}}}}\n\
         \x20 # Of the claims of an answer, the share that its documents support: on average, and in the worst tenth of the cases.\n\
         \x20 faithfulness: {{mean: {{min: 0.80{level}}}, bottom10: {{min: 0.50{level}}}}}\n\
         \x20 # How far the answer says what the reference answer says.\n\
         \x20 answer_correctness: {{mean: {{min: 0.50{level}}}}}\n\
         \x20 # Whether it declines what it should decline, and answers the rest: each case.\n\
         \x20 refusal_correctness: {{min: 1{level}}}\n\
         \n\
         # To hold each run against one that you accepted (`cargo rageval baseline accept`), take the # away, and say above how far a\n\
         # score may fall, as in `faithfulness: {{max_drop: 0.25, mean: {{min: 0.80, max_drop: 0.02}}}}`:\n\
         # regression: {{baseline: baselines/main.json}}\n\
         \n\
         {waiver}",
        system = system.yaml(),
        waiver = waiver(bars, until),
    )
}

/// The dated exception for a judge that nobody has held against people yet. It is in force only where a bar can fail: else it would waive nothing, and
/// every run would say so.
fn waiver(bars: Bars, until: Date) -> String {
    let (sign, when) = match bars {
        Bars::Firm => ("", ""),
        Bars::Warn => ("# ", "# With the first bar that does not only warn, take the # of these two away:\n"),
    };
    format!(
        "# A judge is believed once the labels of people say so. This waives it until then; it goes when they do:\n\
         #   cargo rageval calibrate label     # label what it said in the last run, 50 items or more\n\
         #   cargo rageval calibrate           # how far it agrees with the labels\n\
         {when}{sign}waive:\n{sign}  calibration: {{reason: \"first use\", until: {until}}}\n"
    )
}

/// The example cases, as a set of this name.
pub(super) fn examples(name: &str) -> String {
    format!("# yaml-language-server: $schema=../.rageval/schema/cases.json\n{}", EXAMPLES.replace("NAME", name))
}

/// Cases for the answers of a file: the ids of its lines, with their questions where it holds them.
///
/// # Errors
/// A line is no JSON object, or no line has an id.
pub(super) fn cases_of(name: &str, samples: &str, text: &str) -> Result<String, String> {
    let mut cases: Vec<(CaseId, Option<String>)> = Vec::new();
    for (i, line) in
        text.trim_start_matches('\u{feff}').split('\n').enumerate().filter(|(_, line)| !line.trim().is_empty())
    {
        let at = |why: &str| format!("{samples}:{}: {why}; a file of answers has one JSON object a line", i + 1);
        let value: Value = serde_json::from_str(line).map_err(|error| at(&format!("no JSON ({error})")))?;
        let object = value.as_object().ok_or_else(|| at("no object"))?;
        let id = ["id", "case_id", "name"].iter().find_map(|key| object.get(*key)).ok_or_else(|| at("no `id`"))?;
        let id = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
        let id = CaseId::new(id).map_err(|error| at(&error.to_string()))?;
        let query = ["query", "question", "user_input", "input"].iter().find_map(|key| object.get(*key)?.as_str());
        if cases.len() < MOST_CASES && cases.iter().all(|(other, _)| *other != id) {
            cases.push((id, query.filter(|query| !query.trim().is_empty()).map(str::to_owned)));
        }
    }
    if cases.is_empty() {
        return Err(format!("{samples}: no answers in it"));
    }
    let mut yaml = format!(
        "# yaml-language-server: $schema=../.rageval/schema/cases.json\n\
         # The golden cases, made of the first {} answers in {samples}. Say of each what its right answer is:\n\
         #   ground_truth_answer: ...          relevant_doc_ids: [...]          should_refuse: true, where declining is right\n\
         golden_set: {name}\nversion: \"1.0.0\"\ncases:\n",
        cases.len()
    );
    for (id, query) in &cases {
        let query =
            query.as_ref().map_or_else(|| json!(format!("(write here what was asked: {id})")), |query| json!(query));
        let _ = writeln!(yaml, "  - id: {}\n    query: {query}", json!(id.as_str()));
    }
    Ok(yaml)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_made_of_a_file_of_answers() {
        let text = "{\"id\": \"a: b\", \"response\": \"x\", \"question\": \"What \\\"is\\\" it?\"}\r\n\n{\"id\": 7, \"response\": \"y\"}\n{\"id\": 7, \"response\": \"z\"}\n";
        let yaml = cases_of("set", "answers.jsonl", text).expect("cases");
        let (_, cases) = yaml.split_once("cases:\n").expect("cases");
        assert_eq!(
            cases,
            "  - id: \"a: b\"\n    query: \"What \\\"is\\\" it?\"\n  - id: \"7\"\n    query: \"(write here what was asked: 7)\"\n"
        );
        assert!(yaml.contains("made of the first 2 answers"), "{yaml}");
    }

    #[test]
    fn a_file_that_is_none_of_answers_is_told_with_its_line() {
        let error = |text: &str| cases_of("set", "a.jsonl", text).expect_err("refused");
        assert!(
            error("{\"id\": \"a\"}\n[1]\n").starts_with("a.jsonl:2: no object"),
            "{}",
            error("{\"id\": \"a\"}\n[1]\n")
        );
        assert!(error("{\"response\": \"a\"}").starts_with("a.jsonl:1: no `id`"));
        assert!(error("{").starts_with("a.jsonl:1: no JSON"));
        assert_eq!(error("\n"), "a.jsonl: no answers in it");
    }
}
