//! The metric `context_recall`: which share of the reference answer the retrieved contexts hold.

use serde_json::Value;

use super::{
    Formula, Input, Kind, Metric, Params, Reread, Step,
    asking::{self, Reading},
    cause,
    material::{Readable, named, stating_sentences},
    numbered::{Part, entries},
    reread,
    scoring::{claim_of, share_of_claims, supported},
    shuffled::Shuffled,
};
use crate::model::{
    Claim, Detail, Expectation, GoldenCase, JudgeRequest, Outcome, Transcript, UnitInterval, Unmeasured, Verdict,
};

/// Share of the reference answer's statements that the retrieved contexts hold, 0 to 1.
///
/// Attributed / (attributed + not attributed) over the numbered sentences of the case's first reference, after RAGAS's context recall.
///
/// No readable context: 0. Not applicable without a reference, and where the right answer is to decline. Unmeasured, as an error in the
/// case, when the reference states nothing. The answer's text is not looked at.
#[derive(Debug, Clone, Copy)]
pub struct ContextRecall;

const WORDS: [(&str, Verdict); 2] = [("attributed", Verdict::Supported), ("not_attributed", Verdict::Unsupported)];

impl Metric for ContextRecall {
    fn name(&self) -> &str {
        "context_recall"
    }

    fn about(&self) -> &str {
        "share of the reference answer's statements that the retrieved contexts hold"
    }

    fn formula(&self, _params: &Params) -> Formula {
        Formula::share(
            "reference statements that the contexts hold / reference statements",
            "reference statements in the contexts",
        )
    }

    fn kind(&self) -> Kind {
        Kind::Judged
    }

    fn not_applicable(&self, case: &GoldenCase, _params: &Params) -> Option<String> {
        missing_reference(case)
    }

    fn rereads(&self) -> Option<&dyn Reread> {
        Some(self)
    }

    fn step(&self, input: &Input<'_>, transcript: &Transcript) -> Step {
        let (sentences, contexts) = match reference_and_contexts(input) {
            Ok(both) => both,
            Err(outcome) => return Step::Done(*outcome),
        };
        let request = request(input, sentences.iter().map(String::as_str), &contexts);
        asking::read(transcript, &request, |reply| claims(reply, &sentences, &contexts)).then(|claims| {
            if claims.is_empty() {
                return Outcome::Unmeasured { fault: states_nothing(input) };
            }
            share_of_claims(supported(&claims), claims)
        })
    }
}

impl Reread for ContextRecall {
    /// Only the sentences that stated something at first are shown. One that is then said to state nothing has no verdict, and the
    /// reading none.
    fn step(&self, input: &Input<'_>, claims: &[Claim], number: u32, transcript: &Transcript) -> Reading<Vec<Verdict>> {
        let texts = reread::texts(claims);
        let shuffled = Shuffled::new(&input.case.query, &texts, &Readable::of(input.sample), number);
        let request = request(input, shuffled.shown(&texts), shuffled.contexts());
        asking::read(transcript, &JudgeRequest { sample: number, ..request }, |reply| {
            let parts = shuffled.back(entries(reply, "sentences", texts.len())?);
            let verdict = |(part, text): (&Part<'_>, &String)| {
                let claim = claim_of(part, &WORDS, text)?;
                claim.map(|claim| claim.verdict).ok_or_else(|| format!("{} stated something before", part.place()))
            };
            parts.iter().zip(&texts).map(verdict).collect()
        })
    }

    fn is_bad(&self, _params: &Params, verdict: Verdict) -> bool {
        verdict != Verdict::Supported
    }

    fn outcome(&self, _input: &Input<'_>, claims: Vec<Claim>) -> Outcome {
        share_of_claims(supported(&claims), claims)
    }
}

fn request<'t>(
    input: &Input<'_>,
    sentences: impl IntoIterator<Item = &'t str>,
    contexts: &Readable<'_>,
) -> JudgeRequest {
    JudgeRequest::new("context_recall.attributions", input.language())
        .text("query", &input.case.query)
        .numbered("sentences", sentences)
        .numbered("contexts", contexts.texts())
}

/// Why a metric on the reference's statements does not apply to a case.
pub(super) fn missing_reference(case: &GoldenCase) -> Option<String> {
    match case.expectation {
        Expectation::Refuse => Some("the right answer is to decline".to_owned()),
        Expectation::Answer if case.references.is_empty() => Some("the case has no reference answer".to_owned()),
        Expectation::Answer => None,
    }
}

/// The reference's sentences and the contexts to find them in, or the outcome where there is nothing to ask: not applicable without
/// a reference, unmeasured when it states nothing, 0 without contexts.
pub(super) fn reference_and_contexts<'a>(input: &Input<'a>) -> Result<(Vec<String>, Readable<'a>), Box<Outcome>> {
    if let Some(why) = missing_reference(input.case) {
        return Err(Box::new(Outcome::not_applicable(why)));
    }
    let sentences = first_reference(input).map_err(|fault| Box::new(Outcome::Unmeasured { fault }))?;
    let contexts = Readable::of(input.sample);
    if contexts.is_empty() {
        let note = Some("no contexts".to_owned());
        return Err(Box::new(Outcome::scored_with(UnitInterval::ZERO, Detail { note, ..Detail::default() })));
    }
    Ok((sentences, contexts))
}

/// The sentences of the case's first reference; a fault of the case when it states nothing.
pub(super) fn first_reference(input: &Input<'_>) -> Result<Vec<String>, Unmeasured> {
    let reference = input.case.references.first().map_or("", String::as_str);
    let sentences = stating_sentences(reference, input.language());
    if sentences.is_empty() { Err(states_nothing(input)) } else { Ok(sentences) }
}

fn claims(reply: &Value, sentences: &[String], contexts: &Readable<'_>) -> Result<Vec<Claim>, String> {
    let mut claims = Vec::new();
    for (part, sentence) in entries(reply, "sentences", sentences.len())?.iter().zip(sentences) {
        let (evidence, reason) = contexts.grounds(part)?;
        claims.extend(claim_of(part, &WORDS, sentence)?.map(|claim| Claim { evidence, reason, ..claim }));
    }
    Ok(claims)
}

fn states_nothing(input: &Input<'_>) -> Unmeasured {
    let why = format!(
        "{}: the reference answer states nothing; write what the right answer says, or remove it",
        named(input)
    );
    Unmeasured::new(cause::DATA, why)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        metric::trying::{Try, context},
        model::Language,
    };

    fn two_sentences() -> Try {
        Try::of(&ContextRecall)
            .answer("30 days.")
            .references(&["Refunds take 30 days. Shipping is free.", "another"])
            .contexts(vec![context("blank", ""), context("refunds", "Refunds are possible within 30 days.")])
    }

    fn reply(first: &str, second: &str) -> Value {
        json!({"sentences": [{"n": 1, "verdict": first}, {"n": 2, "verdict": second}]})
    }

    #[test]
    fn the_request_shows_the_first_reference_and_the_readable_contexts() {
        let expected = JudgeRequest::new("context_recall.attributions", Language::En)
            .text("query", "How long do refunds take?")
            .numbered("sentences", ["Refunds take 30 days.", "Shipping is free."])
            .numbered("contexts", ["Refunds are possible within 30 days."]);
        assert_eq!(two_sentences().first_request(), expected);
    }

    #[test]
    fn the_score_is_attributed_statements_of_all_statements() {
        two_sentences().replies(&[reply("attributed", "attributed")]).expect_share(2, 2);
        two_sentences().replies(&[reply("attributed", "not_attributed")]).expect_share(1, 2);
        two_sentences().replies(&[reply("not_attributed", "not_attributed")]).expect_share(0, 2);
        let half = json!({"sentences": [
            {"n": 1, "verdict": "attributed", "context": 1, "quote": "within 30 days", "reason": "stated"},
            {"n": 2, "no_claim": true},
        ]});
        let tried = two_sentences().replies(&[half]);
        let evidence = tried.detail().claims[0].evidence.clone();
        tried.expect_share(1, 1);
        assert_eq!(evidence.and_then(|evidence| evidence.id), Some("refunds".into()));
    }

    #[test]
    fn a_reference_that_states_nothing_is_an_error_of_the_case() {
        for reference in ["", " \n", "…", "?!"] {
            two_sentences()
                .references(&[reference])
                .expect_unmeasured("data error")
                .expect_why("case `case-1` (cases/en.yaml:3)")
                .expect_asked(0);
        }
        let none = json!({"sentences": [{"n": 1, "no_claim": true}, {"n": 2, "no_claim": true}]});
        two_sentences().replies(&[none]).expect_unmeasured("data error").expect_why("`case-1`");
    }

    #[test]
    fn what_the_case_lacks_makes_it_not_applicable_and_what_the_system_lacks_makes_it_zero() {
        two_sentences().references(&[]).expect_not_applicable("no reference").expect_asked(0);
        two_sentences().should_refuse().expect_not_applicable("decline").expect_asked(0);
        two_sentences().contexts(vec![]).expect_score(0.0).expect_note("no contexts").expect_asked(0);
        two_sentences().contexts(vec![context("a", " ")]).expect_score(0.0).expect_asked(0);
        two_sentences().refusal("Sorry.").replies(&[reply("attributed", "attributed")]).expect_share(2, 2);
        two_sentences().answer("").replies(&[reply("attributed", "attributed")]).expect_share(2, 2);
    }

    #[test]
    fn a_reply_that_does_not_fit_is_asked_again_and_then_unmeasured() {
        for bad in [
            json!({"sentences": [{"n": 1, "verdict": "attributed"}]}),
            json!({"sentences": [{"n": 1, "verdict": 1}, {"n": 2, "verdict": 0}]}),
            json!({"sentences": [{"n": 1, "verdict": "attributed", "context": 2}, {"n": 2, "no_claim": true}]}),
            reply("attributed", "supported"),
        ] {
            let both = [bad.clone(), bad.clone()];
            two_sentences().replies(&both).expect_unmeasured("judge reply incomplete").expect_asked(2);
            two_sentences().replies(&[bad, reply("attributed", "attributed")]).expect_share(2, 2).expect_asked(2);
        }
    }
}
