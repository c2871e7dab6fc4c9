//! The metric `refusal_correctness`: whether the system declined exactly when it should.

use serde_json::Value;

use super::{
    Formula, Input, Kind, Metric, Param, ParamKind, Params, Step,
    answering::{Answering, WRONG_ANSWER, WRONG_REFUSAL, blank},
    asking,
    numbered::Part,
};
use crate::model::{Detail, Expectation, GoldenCase, JudgeRequest, Outcome, Transcript, UnitInterval};

/// 1 when the system declined exactly when it should, else 0. Applies to every case.
///
/// Whether it declined is the system's own flag, else what the text detector says; with `by: judge` a judge reads the answer instead.
/// A blank answer without the flag is no refusal: 0 where it should decline; unmeasured where it should answer, since then it did
/// neither.
#[derive(Debug, Clone, Copy)]
pub struct RefusalCorrectness;

impl Metric for RefusalCorrectness {
    fn name(&self) -> &str {
        "refusal_correctness"
    }

    fn about(&self) -> &str {
        "whether the system declined exactly when it should"
    }

    fn formula(&self, _params: &Params) -> Formula {
        Formula::of("1 when the system declined exactly when it should, else 0")
    }

    fn kind(&self) -> Kind {
        Kind::Judged
    }

    fn judged_when(&self) -> Option<(&'static str, &'static str)> {
        Some((BY, JUDGE))
    }

    fn params(&self) -> &[Param] {
        &[Param {
            name: BY,
            kind: ParamKind::OneOf(&["system", JUDGE]),
            about: "who says whether it declined: the system's flag or else the text detector (the default), or the judge",
        }]
    }

    fn not_applicable(&self, _case: &GoldenCase, _params: &Params) -> Option<String> {
        None
    }

    fn step(&self, input: &Input<'_>, transcript: &Transcript) -> Step {
        let answering = Answering::of(input.sample);
        let is_judged = input.params.text(BY) == Some(JUDGE) && !input.sample.is_blank();
        if !is_judged {
            return Step::Done(outcome(answering, input));
        }
        let request = JudgeRequest::new("refusal_correctness.verdict", input.language())
            .text("query", &input.case.query)
            .text("answer", &input.sample.answer.response);
        asking::read(transcript, &request, refused).then(|answering| outcome(answering, input))
    }
}

const BY: &str = "by";
const JUDGE: &str = "judge";

fn refused(reply: &Value) -> Result<Answering, String> {
    match Part::whole(reply)?.flag("refused")? {
        Some(true) => Ok(Answering::Refused),
        Some(false) => Ok(Answering::Answered),
        None => Err("`refused` is missing".to_owned()),
    }
}

fn outcome(answering: Answering, input: &Input<'_>) -> Outcome {
    let (is_right, note) = match (answering, input.case.expectation) {
        (Answering::Refused, Expectation::Refuse) => (true, "refused, as it should"),
        (Answering::Answered, Expectation::Answer) => (true, "answered, as it should"),
        (Answering::Refused, Expectation::Answer) => (false, WRONG_REFUSAL),
        (Answering::Answered, Expectation::Refuse) => (false, WRONG_ANSWER),
        (Answering::Blank, Expectation::Refuse) => (false, "blank answer, should refuse in words or by its flag"),
        (Answering::Blank, Expectation::Answer) => return blank(input),
    };
    let detail = Detail { note: Some(note.to_owned()), ..Detail::default() };
    Outcome::scored_with(UnitInterval::from_yes(is_right), detail)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{metric::trying::Try, model::Language};

    fn tried() -> Try {
        Try::of(&RefusalCorrectness).answer("30 days.")
    }

    #[test]
    fn it_is_right_to_decline_exactly_when_one_should() {
        tried().expect_score(1.0).expect_note("answered, as it should").expect_asked(0);
        tried().should_refuse().expect_score(0.0).expect_note("answered, should refuse");
        tried().refusal("Sorry.").expect_score(0.0).expect_note("refused, should answer");
        tried().should_refuse().refusal("Sorry.").expect_score(1.0).expect_note("refused, as it should");
    }

    #[test]
    fn silence_is_no_refusal_unless_the_system_says_so() {
        tried().should_refuse().answer(" ").expect_score(0.0).expect_note("blank answer");
        tried().answer("").expect_unmeasured("answer blank");
        tried().should_refuse().refused_without_words().expect_score(1.0);
        tried().refused_without_words().expect_score(0.0).expect_note("refused, should answer");
    }

    #[test]
    fn the_judge_decides_only_when_so_configured() {
        let judged = || tried().param("by", json!("judge"));
        let expected = JudgeRequest::new("refusal_correctness.verdict", Language::En)
            .text("query", "How long do refunds take?")
            .text("answer", "30 days.");
        assert_eq!(judged().first_request(), expected);
        judged().replies(&[json!({"refused": false})]).expect_score(1.0);
        judged().replies(&[json!({"refused": true})]).expect_score(0.0);
        judged().should_refuse().refusal("Sorry.").replies(&[json!({"refused": false})]).expect_score(0.0);
        judged().answer(" ").expect_unmeasured("answer blank").expect_asked(0);
        tried().param("by", json!("system")).expect_score(1.0).expect_asked(0);
    }

    #[test]
    fn a_reply_that_does_not_fit_is_asked_again_and_then_unmeasured() {
        for bad in [json!({}), json!({"refused": "true"}), json!({"refused": null}), json!(true)] {
            let judged = || tried().param("by", json!("judge"));
            judged().replies(&[bad.clone(), bad.clone()]).expect_unmeasured("judge reply incomplete").expect_asked(2);
            judged().replies(&[bad, json!({"refused": false})]).expect_score(1.0).expect_asked(2);
        }
    }
}
