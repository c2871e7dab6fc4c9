//! The metric `noise_sensitivity`: how well the answer keeps clear of what the retrieved contexts could mislead it to.

use serde_json::Value;

use super::{
    Formula, Input, Kind, Metric, Param, ParamKind, Params, Step,
    answering::{Answering, blank},
    asking,
    context_recall::{first_reference, missing_reference},
    material::{Readable, sentences},
    numbered::{Part, entries},
    scoring::share_of_claims,
};
use crate::model::{Claim, Detail, GoldenCase, JudgeRequest, Outcome, Transcript, UnitInterval, Verdict};

/// Share of the answer's statements that are not wrong because of a retrieved context, 0 to 1: 1 minus RAGAS's noise sensitivity, so that
/// higher is better.
///
/// A sentence of the answer counts against it when it is wrong by the case's first reference and a context states it: with
/// `mode: relevant` (the default) a context that also states a sentence of the reference, with `mode: irrelevant` only others.
///
/// No readable context: 0. Not applicable without a reference, where the right answer is to decline, and to a refusal. Unmeasured for a
/// blank answer, and for one without statements.
#[derive(Debug, Clone, Copy)]
pub struct NoiseSensitivity;

const MODE: Param = Param {
    name: "mode",
    kind: ParamKind::OneOf(&["relevant", IRRELEVANT]),
    about: "which contexts mislead: those that also hold part of the reference (`relevant`, the default), or only the others (`irrelevant`)",
};

const IRRELEVANT: &str = "irrelevant";

/// Whether a sentence of the answer is right by the reference.
const WORDS: [(&str, bool); 2] = [("correct", true), ("wrong", false)];

impl Metric for NoiseSensitivity {
    fn name(&self) -> &str {
        "noise_sensitivity"
    }

    fn about(&self) -> &str {
        "share of the answer's statements that no retrieved context misled: 1 is none misled"
    }

    fn formula(&self, _params: &Params) -> Formula {
        Formula::share("statements that no context misled / statements of the answer", "statements not misled")
    }

    fn kind(&self) -> Kind {
        Kind::Judged
    }

    fn params(&self) -> &[Param] {
        &[MODE]
    }

    fn not_applicable(&self, case: &GoldenCase, _params: &Params) -> Option<String> {
        missing_reference(case)
    }

    fn step(&self, input: &Input<'_>, transcript: &Transcript) -> Step {
        if let Some(why) = self.not_applicable(input.case, input.params) {
            return Step::Done(Outcome::not_applicable(why));
        }
        let reference = match first_reference(input) {
            Ok(sentences) => sentences,
            Err(fault) => return Step::Done(Outcome::Unmeasured { fault }),
        };
        match Answering::of(input.sample) {
            Answering::Refused => {
                return Step::Done(Outcome::not_applicable("the system declined: nothing was claimed"));
            }
            Answering::Blank => return Step::Done(blank(input)),
            Answering::Answered => {}
        }
        let contexts = Readable::of(input.sample);
        if contexts.is_empty() {
            let note = Some("no contexts".to_owned());
            return Step::Done(Outcome::scored_with(UnitInterval::ZERO, Detail { note, ..Detail::default() }));
        }
        let answer = sentences(&input.sample.answer.response, input.language());
        let request = JudgeRequest::new("noise_sensitivity.attributions", input.language())
            .text("query", &input.case.query)
            .numbered("answer", answer.iter())
            .numbered("reference", reference.iter())
            .numbered("contexts", contexts.texts());
        asking::read(transcript, &request, |reply| Attributions::read(reply, &answer, reference.len(), contexts.len()))
            .then(|attributions| attributions.outcome(input.params.text(MODE.name) == Some(IRRELEVANT)))
    }
}

/// Which contexts state what.
struct Attributions {
    /// Each statement of the answer: its text, whether it is right, the contexts that state it, and the judge's reason.
    answer: Vec<(String, bool, Vec<usize>, Option<String>)>,
    /// The contexts that state a sentence of the reference.
    relevant: Vec<usize>,
}

impl Attributions {
    fn read(reply: &Value, answer: &[String], reference: usize, contexts: usize) -> Result<Self, String> {
        let stating = |part: &Part<'_>| part.numbers("contexts", contexts);
        let mut all = Self { answer: Vec::new(), relevant: Vec::new() };
        for (part, sentence) in entries(reply, "answer", answer.len())?.iter().zip(answer) {
            if let Some(is_right) = part.verdict_or_no_claim(&WORDS)? {
                let reason = part.text("reason")?.map(str::to_owned);
                all.answer.push((sentence.clone(), is_right, stating(part)?, reason));
            }
        }
        for part in entries(reply, "reference", reference)? {
            all.relevant.extend(stating(&part)?);
        }
        Ok(all)
    }

    fn outcome(self, by_irrelevant: bool) -> Outcome {
        let mut unmisled = 0;
        let mut claims = Vec::new();
        for (text, is_right, stating, reason) in self.answer {
            let is_relevant = stating.iter().any(|context| self.relevant.contains(context));
            let is_misled = !is_right && if by_irrelevant { !is_relevant && !stating.is_empty() } else { is_relevant };
            let verdict = match (is_right, is_misled) {
                (true, _) => Verdict::Supported,
                (false, true) => Verdict::Contradicted,
                (false, false) => Verdict::Unsupported,
            };
            unmisled += usize::from(!is_misled);
            claims.push(Claim { text, verdict, evidence: None, reason });
        }
        share_of_claims(unmisled, claims)
    }
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
        Try::of(&NoiseSensitivity)
            .answer("Refunds take 30 days. They cost 5 euros.")
            .references(&["Refunds take 30 days. They are free.", "another"])
            .contexts(vec![
                context("refunds", "Refunds take 30 days. Some say 5 euros."),
                context("blank", ""),
                context("forum", "I paid 5 euros."),
            ])
    }

    fn reply(second: &str, by: &[usize], relevant: &[usize]) -> Value {
        json!({
            "answer": [
                {"n": 1, "verdict": "correct", "contexts": [1]},
                {"n": 2, "verdict": second, "contexts": by, "reason": "the reference says free"},
            ],
            "reference": [{"n": 1, "contexts": relevant}, {"n": 2, "contexts": []}],
        })
    }

    #[test]
    fn the_request_numbers_answer_reference_and_readable_contexts() {
        let expected = JudgeRequest::new("noise_sensitivity.attributions", Language::En)
            .text("query", "How long do refunds take?")
            .numbered("answer", ["Refunds take 30 days.", "They cost 5 euros."])
            .numbered("reference", ["Refunds take 30 days.", "They are free."])
            .numbered("contexts", ["Refunds take 30 days. Some say 5 euros.", "I paid 5 euros."]);
        assert_eq!(tried().first_request(), expected);
    }

    /// RAGAS's figure is 1 minus each: of two statements, the mean of "wrong and stated by such a context".
    #[test]
    fn a_wrong_statement_counts_when_a_context_of_the_configured_kind_states_it() {
        for (second, by, relevant, by_relevant, by_irrelevant) in [
            ("wrong", &[1_usize][..], &[1_usize][..], 1, 2),
            ("wrong", &[2], &[1], 2, 1),
            ("wrong", &[1, 2], &[1], 1, 2),
            ("wrong", &[], &[1], 2, 2),
            ("wrong", &[2], &[], 2, 1),
            ("correct", &[1, 2], &[1], 2, 2),
        ] {
            let reply = [reply(second, by, relevant)];
            tried().replies(&reply).expect_share(by_relevant, 2);
            tried().param("mode", json!("relevant")).replies(&reply).expect_share(by_relevant, 2);
            tried().param("mode", json!("irrelevant")).replies(&reply).expect_share(by_irrelevant, 2);
        }
    }

    #[test]
    fn sentences_that_state_nothing_count_for_nothing() {
        let with = |first: Value| {
            json!({"answer": [first, {"n": 2, "no_claim": true}],
                   "reference": [{"n": 1, "contexts": [1]}, {"n": 2, "contexts": []}]})
        };
        tried().replies(&[with(json!({"n": 1, "verdict": "wrong", "contexts": [1]}))]).expect_share(0, 1);
        let none = with(json!({"n": 1, "no_claim": true}));
        tried().replies(&[none]).expect_unmeasured("no claims in a non-refusal answer");
    }

    #[test]
    fn what_cant_be_judged_is_told_apart() {
        tried().references(&[]).expect_not_applicable("no reference").expect_asked(0);
        tried().should_refuse().expect_not_applicable("decline").expect_asked(0);
        tried().refusal("Sorry.").expect_not_applicable("nothing was claimed").expect_asked(0);
        tried().references(&["…"]).expect_unmeasured("data error").expect_asked(0);
        tried().answer(" ").expect_unmeasured("answer blank").expect_asked(0);
        tried().contexts(vec![]).expect_score(0.0).expect_note("no contexts").expect_asked(0);
    }

    #[test]
    fn a_reply_that_does_not_fit_is_asked_again_and_then_unmeasured() {
        let good = reply("wrong", &[1], &[1]);
        for bad in [
            reply("false", &[1], &[1]),
            reply("wrong", &[3], &[1]),
            reply("wrong", &[1, 1], &[1]),
            reply("wrong", &[1], &[0]),
            json!({"answer": good["answer"]}),
            json!({"answer": [{"n": 1, "verdict": "wrong"}, {"n": 2, "no_claim": true}], "reference": good["reference"]}),
            json!({"answer": good["answer"], "reference": [{"n": 1, "contexts": [1]}, {"n": 2}]}),
        ] {
            tried().replies(&[bad.clone(), bad.clone()]).expect_unmeasured("judge reply incomplete").expect_asked(2);
            tried().replies(&[bad, good.clone()]).expect_share(1, 2).expect_asked(2);
        }
    }
}
