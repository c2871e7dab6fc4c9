//! The metric `context_relevancy`: which share of the retrieved contexts speaks to the question.

use serde_json::Value;

use super::{
    Formula, Input, Kind, Metric, Params, Reread, Step,
    asking::{self, Reading},
    material::{Readable, names_of},
    numbered::entries,
    scoring::{share_of_claims, supported},
    shuffled::Shuffled,
};
use crate::model::{
    Claim, Detail, Expectation, GoldenCase, JudgeRequest, Outcome, RetrievedContext, Transcript, UnitInterval, Verdict,
};

/// Share of the readable contexts that speak to the question, 0 to 1, whatever their rank.
///
/// No readable context: 0. Not applicable where the right answer is to decline. Neither the answer nor the reference is looked at.
#[derive(Debug, Clone, Copy)]
pub struct ContextRelevancy;

const WORDS: [(&str, Verdict); 2] = [("relevant", Verdict::Supported), ("irrelevant", Verdict::Unsupported)];

impl Metric for ContextRelevancy {
    fn name(&self) -> &str {
        "context_relevancy"
    }

    fn about(&self) -> &str {
        "share of the retrieved contexts that speak to the question"
    }

    fn formula(&self, _params: &Params) -> Formula {
        Formula::share("contexts that speak to the question / readable contexts", "contexts relevant")
    }

    fn kind(&self) -> Kind {
        Kind::Judged
    }

    fn not_applicable(&self, case: &GoldenCase, _params: &Params) -> Option<String> {
        match case.expectation {
            Expectation::Refuse => Some("the right answer is to decline, so no context is relevant".to_owned()),
            Expectation::Answer => None,
        }
    }

    fn rereads(&self) -> Option<&dyn Reread> {
        Some(self)
    }

    fn step(&self, input: &Input<'_>, transcript: &Transcript) -> Step {
        if let Some(why) = self.not_applicable(input.case, input.params) {
            return Step::Done(Outcome::not_applicable(why));
        }
        let contexts = Readable::of(input.sample);
        if contexts.is_empty() {
            let note = Some("no contexts".to_owned());
            return Step::Done(Outcome::scored_with(UnitInterval::ZERO, Detail { note, ..Detail::default() }));
        }
        let request = request(input, &contexts);
        asking::read(transcript, &request, |reply| claims(reply, &input.sample.answer.retrieved_contexts))
            .then(|claims| share_of_claims(supported(&claims), claims))
    }
}

impl Reread for ContextRelevancy {
    fn step(
        &self,
        input: &Input<'_>,
        _claims: &[Claim],
        number: u32,
        transcript: &Transcript,
    ) -> Reading<Vec<Verdict>> {
        let shuffled = Shuffled::new(&input.case.query, &[], &Readable::of(input.sample), number);
        let request = JudgeRequest { sample: number, ..request(input, shuffled.contexts()) };
        asking::read(transcript, &request, |reply| {
            let parts = shuffled.back_to_ranks(entries(reply, "contexts", shuffled.contexts().len())?);
            parts.iter().map(|part| part.one_of("verdict", &WORDS)).collect()
        })
    }

    fn is_bad(&self, _params: &Params, verdict: Verdict) -> bool {
        verdict != Verdict::Supported
    }

    fn outcome(&self, _input: &Input<'_>, claims: Vec<Claim>) -> Outcome {
        share_of_claims(supported(&claims), claims)
    }
}

fn request(input: &Input<'_>, contexts: &Readable<'_>) -> JudgeRequest {
    JudgeRequest::new("context_relevancy.verdicts", input.language())
        .text("query", &input.case.query)
        .numbered("contexts", contexts.texts())
}

/// One claim a readable context, in rank order.
fn claims(reply: &Value, returned: &[RetrievedContext]) -> Result<Vec<Claim>, String> {
    let names = names_of(returned);
    let readable: Vec<_> = returned.iter().zip(names).filter(|(context, _)| !context.is_blank()).collect();
    let mut claims = Vec::new();
    for (part, (_, text)) in entries(reply, "contexts", readable.len())?.iter().zip(readable) {
        let verdict = part.one_of("verdict", &WORDS)?;
        let reason = match (part.text("reason")?, part.grade("confidence", 1.0)?) {
            (reason, None) => reason.map(str::to_owned),
            (None, Some(confidence)) => Some(format!("confidence {confidence}")),
            (Some(reason), Some(confidence)) => Some(format!("{reason} (confidence {confidence})")),
        };
        claims.push(Claim { text, verdict, evidence: None, reason });
    }
    Ok(claims)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        metric::trying::{Try, context},
        model::Language,
    };

    fn tried() -> Try {
        Try::of(&ContextRelevancy).answer("30 days.").contexts(vec![
            context("refunds", "Within 30 days."),
            context("blank", " "),
            context("refunds", "Shipping is free."),
        ])
    }

    fn reply(first: &str, second: &str) -> Value {
        json!({"contexts": [{"n": 1, "verdict": first}, {"n": 2, "verdict": second}]})
    }

    #[test]
    fn the_request_shows_the_question_and_the_readable_contexts() {
        let expected = JudgeRequest::new("context_relevancy.verdicts", Language::En)
            .text("query", "How long do refunds take?")
            .numbered("contexts", ["Within 30 days.", "Shipping is free."]);
        assert_eq!(tried().first_request(), expected);
    }

    #[test]
    fn the_score_is_relevant_contexts_of_readable_ones_in_any_order() {
        tried().replies(&[reply("relevant", "relevant")]).expect_share(2, 2);
        tried().replies(&[reply("relevant", "irrelevant")]).expect_share(1, 2);
        tried().replies(&[reply("irrelevant", "relevant")]).expect_share(1, 2);
        tried().replies(&[reply("irrelevant", "irrelevant")]).expect_share(0, 2);
    }

    #[test]
    fn reason_and_confidence_are_kept_under_the_contexts_name() {
        let reply = json!({"contexts": [
            {"n": 1, "verdict": "relevant", "reason": "states the period", "confidence": 0.9},
            {"n": 2, "verdict": "irrelevant", "confidence": 1},
        ]});
        let claims = tried().replies(&[reply]).detail().claims;
        let told: Vec<_> = claims.iter().map(|claim| (claim.text.as_str(), claim.reason.as_deref())).collect();
        assert_eq!(
            told,
            [
                ("context refunds", Some("states the period (confidence 0.9)")),
                ("context refunds (2)", Some("confidence 1")),
            ]
        );
    }

    #[test]
    fn nothing_retrieved_is_zero_and_a_question_to_decline_has_no_relevant_context() {
        tried().contexts(vec![]).expect_score(0.0).expect_note("no contexts").expect_asked(0);
        tried().contexts(vec![context("a", " ")]).expect_score(0.0).expect_asked(0);
        tried().should_refuse().expect_not_applicable("decline").expect_asked(0);
        tried().refusal("Sorry.").replies(&[reply("relevant", "irrelevant")]).expect_share(1, 2);
    }

    #[test]
    fn a_reply_that_does_not_fit_is_asked_again_and_then_unmeasured() {
        for bad in [
            json!({"contexts": [{"n": 1, "verdict": "relevant"}]}),
            reply("relevant", "useful"),
            json!({"contexts": [{"n": 1, "verdict": "relevant", "confidence": 90}, {"n": 2, "verdict": "relevant"}]}),
            json!({"contexts": [{"n": 1, "no_claim": true}, {"n": 2, "verdict": "relevant"}]}),
        ] {
            tried().replies(&[bad.clone(), bad.clone()]).expect_unmeasured("judge reply incomplete").expect_asked(2);
            tried().replies(&[bad, reply("relevant", "relevant")]).expect_share(2, 2).expect_asked(2);
        }
    }
}
