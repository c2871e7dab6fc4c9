//! What to do about an outcome without a score.

use rageval_runner::{metric::cause, model::Ending, system};

/// What to do about a fault, by the cause that it is counted under; `None` for a cause of somebody's own.
pub(super) fn on_cause(named: &str) -> Option<&'static str> {
    OF_SYSTEM
        .iter()
        .chain(OF_METRICS)
        .find(|(cause, _)| *cause == named)
        .map(|(_, advice)| *advice)
        .or_else(|| Ending::ALL.into_iter().find(|ending| ending.cause() == named).map(on_ending))
}

const OF_SYSTEM: &[(&str, &str)] = &[
    (system::cause::ERROR, "the system returned an error: ask it this question alone, and look at its own log"),
    (
        system::cause::TIME_OUT,
        "raise `system.timeout` in thresholds.yaml, or lower `max_in_flight` where it is slow under load",
    ),
    (system::cause::PANIC, "the system panicked on this question: run the case alone with RUST_BACKTRACE=1"),
    (
        system::cause::CRASH,
        "the system's process ended or could not be started: run its command by hand with this question",
    ),
    (
        system::cause::INVALID,
        "what the system returned does not have the form that `system` in thresholds.yaml names: docs/systems.md",
    ),
    (system::cause::MISSING, "add the answer of this case to the recorded samples"),
];

const OF_METRICS: &[(&str, &str)] = &[
    (cause::ANSWER_BLANK, "the system returned no text; where that is how it declines, let it set `refused`"),
    (
        cause::REPLY_INCOMPLETE,
        "the judge's reply did not fit its question, twice: look at it below; a larger model or `mode: one_by_one` may be needed",
    ),
    (
        cause::NO_CLAIMS,
        "the judge found nothing to judge in an answer with text: a fault of the judge, or a refusal that was not recognised",
    ),
    (cause::DATA, "the case itself is at fault; the reason names it"),
    (cause::PARAMETER, "correct the parameter in thresholds.yaml or in the case; the reason names it"),
    (cause::LATENCY, "record `latency_ms` with the answer, or drop the metric"),
    (cause::USAGE, "return the token usage with the answer, or drop the metric"),
    (cause::COST, "return the cost with the answer, or drop the metric"),
    (cause::QUANTITY, "the system reported a number that is none; correct it there"),
    (cause::CONTEXT_IDS, "give each retrieved context the id of its document"),
    (cause::EMBEDDER, "the embedder failed; the reason says how"),
    (cause::EMBEDDER_TIME_OUT, "raise `embedder.timeout` in thresholds.yaml"),
    (cause::NO_EMBEDDER, "name an `embedder` in thresholds.yaml, or choose parameters that need none"),
    (cause::VECTOR_MISSING, "run once with RAGEVAL_JUDGE_MODE=cached, which asks for what is not stored"),
    (cause::PROBABILITIES, "use a judge that gives log probabilities, or `mode: samples` or `mode: single`"),
    (cause::BASELINE, "accept a run in which this case has an answer: cargo rageval baseline accept"),
    (cause::RANGE, "a fault in rageval: please report it"),
    ("metric panicked", "a fault of the metric: run the case alone with RUST_BACKTRACE=1"),
    ("metric did not finish", "a fault of the metric: it asks for more although all its requests have replies"),
    ("unknown metric", "the test binary has no metric of this name"),
    ("grades too large", "use smaller grades for the relevant documents"),
];

fn on_ending(ending: Ending) -> &'static str {
    match ending {
        Ending::Unreadable => {
            "the judge's reply holds no readable value, twice: a larger model, or one that takes a JSON schema"
        }
        Ending::Empty => "nothing came back, twice: look at the provider's status",
        Ending::Length => "raise `judge.max_tokens` in thresholds.yaml",
        Ending::ContentFilter => "the provider withheld the reply: reword the case, or take another judge",
        Ending::Refusal => "the judge declined: reword the case, or take another judge",
        Ending::ToolCall => "the judge called a tool that nobody offered: take another model",
        Ending::TimeOut => "raise `judge.timeout` in thresholds.yaml, or lower `max_in_flight`",
        Ending::Provider => "the provider answered with an error, after retries; the reason quotes it",
        Ending::Unsupported => {
            "this judge cannot answer this kind of request: take a language model as judge, or drop the metric"
        }
        Ending::Missing => "run once with RAGEVAL_JUDGE_MODE=cached, which asks for what is not stored",
        Ending::Budget => "raise `budget` in thresholds.yaml, or ask for less: cargo rageval estimate",
        Ending::NoKey => "set the variable that `judge.api_key_env` names, or run with RAGEVAL_JUDGE_MODE=replay",
    }
}

/// What would have the metric measured, where it is not applicable for a reason that the case can change; `None` where that is as it should be.
pub(super) fn on_not_applicable(why: &str) -> Option<&'static str> {
    const BY_WORDS: &[(&str, &str)] = &[
        ("relevant documents", "to have it measured, add `relevant_doc_ids` to the case"),
        ("no reference answer", "to have it measured, add `ground_truth_answer` to the case"),
        ("no baseline answer", "to have it measured, accept a run that holds this case: cargo rageval baseline accept"),
        ("gives texts to look for", "to have it measured, give `any` or `all` in the case or in thresholds.yaml"),
        ("gives a pattern", "to have it measured, give `pattern` in the case or in thresholds.yaml"),
        (
            "the system declined",
            "nothing to do: a refusal claims nothing; `refusal_correctness` says whether it was right to decline",
        ),
        ("as it should", "nothing to do: it declined, which is right"),
        (
            "right answer is to decline",
            "nothing to do: with `should_refuse: true` there is nothing that could be found or said",
        ),
    ];
    BY_WORDS.iter().find(|(words, _)| why.contains(words)).map(|(_, advice)| *advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_that_is_documented_has_an_advice() {
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/metrics.md");
        let docs = std::fs::read_to_string(docs).expect("docs/metrics.md");
        let (_, table) = docs.split_once("### Causes").expect("the table of causes");
        let (table, _) = table.split_once("\n## ").expect("its end");
        let rows = table.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
        let causes: Vec<&str> = rows.filter(|cause| *cause != "cause").collect();
        assert!(causes.len() > 20, "{causes:?}");
        for cause in causes {
            assert!(on_cause(cause).is_some_and(|advice| !advice.is_empty()), "nothing on `{cause}`");
        }
        assert_eq!(on_cause("my own"), None);
    }
}
