//! What a judge says of one claim of an answer: what a person's label of that claim is held against.

use super::{
    Input, Metric as _, Step, asking,
    confirm::Confirm,
    faithfulness::{Faithfulness, MODE},
    material::Readable,
    scoring::share_of_claims,
};
use crate::model::{Answer, Detail, Outcome, Sample, Transcript, UnitInterval, Verdict};

/// Whether labels of single claims can be held against this metric: it gives claims verdicts that mean the same alone and in an answer.
pub fn takes_claims(metric: &str) -> bool {
    metric == Faithfulness.name()
}

/// What `faithfulness` does next about this claim alone: 1 where it is good, else 0.
///
/// Where its mode has the judge find the claims in the answer, the judge gets this claim by `faithfulness.confirm`, so that it can't be split
/// otherwise than people saw it. In a mode that takes sentences as they stand, the claim is the whole answer. Without a readable context
/// the score is 0, as of an answer.
pub fn step(input: &Input<'_>, claim: &str, transcript: &Transcript) -> Step {
    let contexts = Readable::of(input.sample);
    if contexts.is_empty() {
        let note = Some("no contexts: nothing supports the claim".to_owned());
        return Step::Done(Outcome::scored_with(UnitInterval::ZERO, Detail { note, ..Detail::default() }));
    }
    match input.params.text(MODE.name) {
        None | Some("one_step" | "two_step") => {
            let confirm = Confirm::new(&input.case.query, vec![claim.to_owned()], &contexts, input.language(), 0);
            let reading = asking::read(transcript, confirm.request(), |reply| confirm.read(reply));
            let inferred_counts = input.params.flag("inferred");
            let is_good = |verdict| match verdict {
                Verdict::Supported => true,
                Verdict::Inferred => inferred_counts,
                Verdict::Unsupported | Verdict::Contradicted => false,
            };
            reading.then(|claims| share_of_claims(claims.iter().filter(|claim| is_good(claim.verdict)).count(), claims))
        }
        Some(_) => {
            let answer = Answer { response: claim.to_owned(), ..input.sample.answer.clone() };
            let sample = Sample { answer, is_refusal: false, latency_ms: None };
            Faithfulness.step(&Input { sample: &sample, ..*input }, transcript)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        metric::{
            Kind, Metric, Params,
            trying::{Try, context},
        },
        model::{GoldenCase, JudgeRequest},
    };

    /// One claim of an answer of two sentences.
    struct OneClaim;

    impl Metric for OneClaim {
        fn name(&self) -> &str {
            "faithfulness"
        }

        fn about(&self) -> &str {
            "one claim"
        }

        fn kind(&self) -> Kind {
            Kind::Judged
        }

        fn not_applicable(&self, _case: &GoldenCase, _params: &Params) -> Option<String> {
            None
        }

        fn step(&self, input: &Input<'_>, transcript: &Transcript) -> Step {
            step(input, "A costs 5.", transcript)
        }
    }

    fn tried() -> Try {
        Try::of(&OneClaim).answer("A costs 5. B costs 6.").contexts(vec![context("a", "A costs 5."), context("b", " ")])
    }

    fn verdict(word: &str) -> Value {
        json!({"claims": [{"n": 1, "verdict": word}]})
    }

    #[test]
    fn a_claim_is_judged_as_people_saw_it() {
        let expected = JudgeRequest::new("faithfulness.confirm", crate::model::Language::En)
            .text("query", "How long do refunds take?")
            .numbered("claims", ["A costs 5."])
            .numbered("contexts", ["A costs 5."]);
        assert_eq!(tried().first_request(), expected);
        assert_eq!(tried().param("mode", json!("two_step")).first_request(), expected);
        for (word, good) in [("supported", 1), ("inferred", 0), ("unsupported", 0), ("contradicted", 0)] {
            tried().replies(&[verdict(word)]).expect_share(good, 1).expect_asked(1);
        }
        tried().param("inferred", json!(true)).replies(&[verdict("inferred")]).expect_share(1, 1);
    }

    #[test]
    fn a_mode_of_whole_sentences_has_the_claim_as_the_answer() {
        let request = tried().param("mode", json!("labels")).first_request();
        assert_eq!(
            (request.name.as_str(), request.numbered_of("sentences")),
            ("faithfulness.labels", Some(&["A costs 5.".to_owned()][..]))
        );
    }

    #[test]
    fn a_reply_that_does_not_fit_is_asked_for_again_and_then_unmeasured() {
        tried()
            .replies(&[json!({}), json!({"claims": []})])
            .expect_unmeasured("judge reply incomplete")
            .expect_asked(2);
        tried().replies(&[json!({}), verdict("supported")]).expect_share(1, 1).expect_asked(2);
    }

    #[test]
    fn without_contexts_nothing_is_asked_and_nothing_supports_it() {
        tried().contexts(vec![context("b", " ")]).expect_score(0.0).expect_asked(0);
    }
}
