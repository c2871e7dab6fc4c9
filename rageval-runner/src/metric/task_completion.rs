//! The metric `task_completion`: which share of what the question asks for the answer does.

use serde_json::Value;

use super::{
    Formula, Input, Kind, Metric, Params, Step,
    answering::{Answering, WRONG_REFUSAL, blank},
    asking,
    material::sentences,
    numbered::entries,
    scoring::{push_claim, share_of_claims, supported},
};
use crate::model::{Claim, Detail, Expectation, GoldenCase, JudgeRequest, Outcome, Transcript, UnitInterval, Verdict};

/// Share of the tasks that the question sets which the answer does, 0 to 1: done / (done + not done).
///
/// The judge finds the tasks in the numbered sentences of the question and says of each whether the answer does it, in one request.
///
/// A wrong refusal is 0 without asking. Not applicable where the right answer is to decline. Unmeasured for a blank answer.
#[derive(Debug, Clone, Copy)]
pub struct TaskCompletion;

const WORDS: [(&str, Verdict); 2] = [("done", Verdict::Supported), ("not_done", Verdict::Unsupported)];

impl Metric for TaskCompletion {
    fn name(&self) -> &str {
        "task_completion"
    }

    fn about(&self) -> &str {
        "share of what the question asks for that the answer does"
    }

    fn formula(&self, _params: &Params) -> Formula {
        Formula::share("things asked for that the answer does / things asked for", "tasks done")
    }

    fn kind(&self) -> Kind {
        Kind::Judged
    }

    fn not_applicable(&self, case: &GoldenCase, _params: &Params) -> Option<String> {
        match case.expectation {
            Expectation::Refuse => Some("the right answer is to decline".to_owned()),
            Expectation::Answer => None,
        }
    }

    fn step(&self, input: &Input<'_>, transcript: &Transcript) -> Step {
        if let Some(why) = self.not_applicable(input.case, input.params) {
            return Step::Done(Outcome::not_applicable(why));
        }
        match Answering::of(input.sample) {
            Answering::Refused => {
                let note = Some(WRONG_REFUSAL.to_owned());
                return Step::Done(Outcome::scored_with(UnitInterval::ZERO, Detail { note, ..Detail::default() }));
            }
            Answering::Blank => return Step::Done(blank(input)),
            Answering::Answered => {}
        }
        let query = sentences(&input.case.query, input.language());
        let count = query.len();
        let request = JudgeRequest::new("task_completion.tasks", input.language())
            .numbered("query", query)
            .text("answer", &input.sample.answer.response);
        asking::read(transcript, &request, |reply| tasks(reply, count))
            .then(|tasks| share_of_claims(supported(&tasks), tasks))
    }
}

/// The tasks, in the order of the question; there is at least one.
fn tasks(reply: &Value, sentences: usize) -> Result<Vec<Claim>, String> {
    let mut tasks = Vec::new();
    for sentence in entries(reply, "query", sentences)? {
        for part in sentence.list_or_no_claim("tasks")? {
            let text = part.text("task")?.ok_or_else(|| format!("{} has no `task`", part.place()))?.to_owned();
            let verdict = part.one_of("verdict", &WORDS)?;
            let reason = part.text("reason")?.map(str::to_owned);
            push_claim(&mut tasks, Claim { text, verdict, evidence: None, reason }, |verdict| match verdict {
                Verdict::Supported | Verdict::Inferred => "done",
                Verdict::Unsupported | Verdict::Contradicted => "not_done",
            })?;
        }
    }
    if tasks.is_empty() { Err("`query` names no task, and every question sets one".to_owned()) } else { Ok(tasks) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{metric::trying::Try, model::Language};

    fn tried() -> Try {
        Try::of(&TaskCompletion).answer("30 days.")
    }

    fn reply(verdicts: &[&str]) -> Value {
        let tasks: Vec<_> =
            verdicts.iter().zip(1..).map(|(v, i)| json!({"task": format!("task {i}"), "verdict": v})).collect();
        json!({"query": [{"n": 1, "tasks": tasks}]})
    }

    #[test]
    fn the_request_numbers_the_sentences_of_the_question() {
        let expected = JudgeRequest::new("task_completion.tasks", Language::En)
            .numbered("query", ["How long do refunds take?"])
            .text("answer", "30 days.");
        assert_eq!(tried().first_request(), expected);
    }

    #[test]
    fn the_score_is_tasks_done_of_all_tasks() {
        tried().replies(&[reply(&["done"])]).expect_share(1, 1);
        tried().replies(&[reply(&["done", "not_done", "done"])]).expect_share(2, 3);
        tried().replies(&[reply(&["not_done"])]).expect_share(0, 1);
    }

    #[test]
    fn refusals_do_nothing_and_silence_is_unmeasured() {
        tried().refusal("Sorry.").expect_score(0.0).expect_note("refused, should answer").expect_asked(0);
        tried().should_refuse().expect_not_applicable("decline").expect_asked(0);
        tried().should_refuse().refusal("Sorry.").expect_not_applicable("decline").expect_asked(0);
        tried().answer("").expect_unmeasured("answer blank").expect_asked(0);
    }

    #[test]
    fn a_reply_that_does_not_fit_is_asked_again_and_then_unmeasured() {
        for bad in [
            reply(&[]),
            reply(&["partly"]),
            json!({"query": [{"n": 1, "no_claim": true}]}),
            json!({"query": [{"n": 1, "tasks": [{"verdict": "done"}]}]}),
            json!({"query": [{"n": 1, "tasks": [{"task": "a", "verdict": "done"}, {"task": "a", "verdict": "not_done"}]}]}),
            json!({"query": []}),
        ] {
            tried().replies(&[bad.clone(), bad.clone()]).expect_unmeasured("judge reply incomplete").expect_asked(2);
            tried().replies(&[bad, reply(&["done"])]).expect_share(1, 1).expect_asked(2);
        }
    }
}
