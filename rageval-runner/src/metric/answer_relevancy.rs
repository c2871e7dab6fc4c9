//! The metric `answer_relevancy`: which share of the answer speaks to the question.

use serde_json::Value;

use super::{
    Input, Kind, Metric, Params, Step,
    answering::{Answering, WRONG_REFUSAL, blank, right_refusal},
    asking,
    material::sentences,
    numbered::entries,
    scoring::{claim_of, share_of_claims, supported},
};
use crate::model::{Claim, Detail, Expectation, GoldenCase, JudgeRequest, Outcome, Transcript, UnitInterval, Verdict};

/// Share of the answer's stating sentences that speak to the question, 0 to 1.
///
/// Relevant / (relevant + irrelevant) over the numbered sentences; greetings and the like hold no claim and don't count. It compares the
/// answer with the question only: whether it is true is not looked at.
///
/// A wrong refusal is 0 and a right one not applicable, without asking. Unmeasured for a blank answer, and when no sentence of an
/// answer that is no refusal states anything.
#[derive(Debug, Clone, Copy)]
pub struct AnswerRelevancy;

const WORDS: [(&str, Verdict); 2] = [("relevant", Verdict::Supported), ("irrelevant", Verdict::Unsupported)];

impl Metric for AnswerRelevancy {
    fn name(&self) -> &str {
        "answer_relevancy"
    }

    fn about(&self) -> &str {
        "share of the answer's statements that speak to the question"
    }

    fn kind(&self) -> Kind {
        Kind::Judged
    }

    fn not_applicable(&self, _case: &GoldenCase, _params: &Params) -> Option<String> {
        None
    }

    fn step(&self, input: &Input<'_>, transcript: &Transcript) -> Step {
        match (Answering::of(input.sample), input.case.expectation) {
            (Answering::Blank, _) => return Step::Done(blank(input)),
            (Answering::Refused, Expectation::Refuse) => return Step::Done(right_refusal()),
            (Answering::Refused, Expectation::Answer) => {
                let note = Some(WRONG_REFUSAL.to_owned());
                return Step::Done(Outcome::scored_with(UnitInterval::ZERO, Detail { note, ..Detail::default() }));
            }
            (Answering::Answered, Expectation::Answer | Expectation::Refuse) => {}
        }
        let sentences = sentences(&input.sample.answer.response, input.language());
        let request = JudgeRequest::new("answer_relevancy.verdicts", input.language())
            .text("query", &input.case.query)
            .numbered("sentences", sentences.iter());
        asking::read(transcript, &request, |reply| claims(reply, &sentences))
            .then(|claims| share_of_claims(supported(&claims), claims))
    }
}

fn claims(reply: &Value, sentences: &[String]) -> Result<Vec<Claim>, String> {
    let mut claims = Vec::new();
    for (part, sentence) in entries(reply, "sentences", sentences.len())?.iter().zip(sentences) {
        claims.extend(claim_of(part, &WORDS, sentence)?);
    }
    Ok(claims)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{metric::trying::Try, model::Language};

    fn two_sentences() -> Try {
        Try::of(&AnswerRelevancy).answer("Refunds take 30 days. Our shop is blue.")
    }

    fn reply(first: &str, second: &str) -> Value {
        json!({"sentences": [{"n": 1, "verdict": first}, {"n": 2, "verdict": second}]})
    }

    #[test]
    fn the_request_shows_the_question_and_the_sentences() {
        let expected = JudgeRequest::new("answer_relevancy.verdicts", Language::En)
            .text("query", "How long do refunds take?")
            .numbered("sentences", ["Refunds take 30 days.", "Our shop is blue."]);
        assert_eq!(two_sentences().first_request(), expected);
    }

    #[test]
    fn the_score_is_relevant_sentences_of_those_that_state_something() {
        two_sentences().replies(&[reply("relevant", "relevant")]).expect_share(2, 2);
        two_sentences().replies(&[reply("relevant", "irrelevant")]).expect_share(1, 2);
        two_sentences().replies(&[reply("irrelevant", "irrelevant")]).expect_share(0, 2);
        let half = json!({"sentences": [{"n": 1, "verdict": "relevant"}, {"n": 2, "no_claim": true}]});
        two_sentences().replies(&[half]).expect_share(1, 1);
        let none = json!({"sentences": [{"n": 1, "no_claim": true}, {"n": 2, "no_claim": true}]});
        two_sentences().replies(&[none]).expect_unmeasured("no claims in a non-refusal answer");
    }

    #[test]
    fn refusals_are_settled_without_asking() {
        two_sentences().refusal("Sorry.").expect_score(0.0).expect_note("refused, should answer").expect_asked(0);
        two_sentences().should_refuse().refusal("Sorry.").expect_not_applicable("as it should").expect_asked(0);
        two_sentences().should_refuse().replies(&[reply("relevant", "irrelevant")]).expect_share(1, 2);
        two_sentences().answer("").expect_unmeasured("answer blank").expect_asked(0);
    }

    #[test]
    fn a_reply_that_does_not_fit_is_asked_again_and_then_unmeasured() {
        for bad in [
            json!({"sentences": [{"n": 1, "verdict": "relevant"}]}),
            reply("relevant", "maybe"),
            json!({"sentences": [{"n": 1, "verdict": "relevant"}, {"n": 2, "verdict": "relevant", "no_claim": true}]}),
            json!({"sentences": [{"n": 1, "verdict": "relevant"}, {"n": 1, "verdict": "irrelevant"}]}),
            json!({"score": 0.9}),
        ] {
            let both = [bad.clone(), bad.clone()];
            two_sentences().replies(&both).expect_unmeasured("judge reply incomplete").expect_asked(2);
            two_sentences().replies(&[bad, reply("relevant", "relevant")]).expect_share(2, 2).expect_asked(2);
        }
    }
}
