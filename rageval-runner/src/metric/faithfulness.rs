//! The metric `faithfulness`: which share of the answer's claims the retrieved contexts support.

use serde_json::Value;

use super::{
    Formula, Input, Kind, Metric, Param, ParamKind, Params, Reread, Step,
    answering::{Answering, blank},
    asking::{self, Reading},
    confirm::Confirm,
    material::{Readable, sentences},
    numbered::{Part, entries},
    one_by_one, reread,
    scoring::{claim_of, push_claim, share_of_claims},
};
use crate::model::{Claim, Detail, GoldenCase, JudgeRequest, Outcome, Transcript, UnitInterval, Verdict};

/// Share of the answer's claims that the retrieved contexts support, 0 to 1.
///
/// Supported claims / all claims, after RAGAS (arXiv 2309.15217, section 3). The judge splits each numbered sentence into claims and
/// gives each a verdict, in one request; with `mode: two_step` in two, so that it can't fit the claims to the contexts. With
/// `mode: labels` each sentence that states something is one claim, and a reply is one label a sentence; with `mode: one_by_one` each
/// sentence is asked about alone, which a small model can answer. A claim that only follows from the contexts counts with `inferred: true`.
///
/// Without a readable context the score of an answer is 0, and nothing is asked. Not applicable to a refusal, right or wrong: it claims
/// nothing. Unmeasured for a blank answer, and when the judge finds no claim in an answer that is no refusal.
#[derive(Debug, Clone, Copy)]
pub struct Faithfulness;

impl Metric for Faithfulness {
    fn name(&self) -> &str {
        "faithfulness"
    }

    fn about(&self) -> &str {
        "share of the answer's claims that the retrieved contexts support"
    }

    fn formula(&self, _params: &Params) -> Formula {
        Formula::share("claims that the contexts support / all claims of the answer", "claims supported")
    }

    fn kind(&self) -> Kind {
        Kind::Judged
    }

    fn params(&self) -> &[Param] {
        &[INFERRED, MODE]
    }

    fn not_applicable(&self, _case: &GoldenCase, _params: &Params) -> Option<String> {
        None
    }

    fn rereads(&self) -> Option<&dyn Reread> {
        Some(self)
    }

    fn step(&self, input: &Input<'_>, transcript: &Transcript) -> Step {
        share_of(input, transcript, |verdict| !self.is_bad(input.params, verdict))
    }
}

impl Reread for Faithfulness {
    fn step(&self, input: &Input<'_>, claims: &[Claim], number: u32, transcript: &Transcript) -> Reading<Vec<Verdict>> {
        judged_again(input, claims, number, transcript)
    }

    fn is_bad(&self, params: &Params, verdict: Verdict) -> bool {
        match verdict {
            Verdict::Supported => false,
            Verdict::Inferred => !params.flag(INFERRED.name),
            Verdict::Unsupported | Verdict::Contradicted => true,
        }
    }

    fn outcome(&self, input: &Input<'_>, claims: Vec<Claim>) -> Outcome {
        share_of_claims(claims.iter().filter(|claim| !self.is_bad(input.params, claim.verdict)).count(), claims)
    }
}

const INFERRED: Param = Param {
    name: "inferred",
    kind: ParamKind::Flag,
    about: "counts a claim that only follows from the contexts as supported",
};

/// Whether claims are found and judged in one request or in two.
pub(super) const MODE: Param = Param {
    name: "mode",
    kind: ParamKind::OneOf(&["one_step", TWO_STEP, LABELS, ONE_BY_ONE]),
    about: "`one_step` (the default) finds and judges claims in one request; `two_step` finds them first, without the contexts; \
            `labels` takes each sentence as one claim; `one_by_one` asks for each sentence alone, for small models",
};

const TWO_STEP: &str = "two_step";
const LABELS: &str = "labels";
const ONE_BY_ONE: &str = "one_by_one";

pub(super) fn words() -> [(&'static str, Verdict); 4] {
    Verdict::ALL.map(|verdict| (verdict.as_str(), verdict))
}

/// The share of the answer's claims whose verdict is good, with what every metric over these claims has in common.
pub(super) fn share_of(input: &Input<'_>, transcript: &Transcript, is_good: impl Fn(Verdict) -> bool) -> Step {
    match Answering::of(input.sample) {
        Answering::Refused => {
            return Step::Done(Outcome::not_applicable("the system declined: nothing was claimed"));
        }
        Answering::Blank => return Step::Done(blank(input)),
        Answering::Answered => {}
    }
    let contexts = Readable::of(input.sample);
    if contexts.is_empty() {
        let note = Some("no contexts: nothing supports the answer".to_owned());
        return Step::Done(Outcome::scored_with(UnitInterval::ZERO, Detail { note, ..Detail::default() }));
    }
    let sentences = sentences(&input.sample.answer.response, input.language());
    let of_the_answer = |name: &str| {
        JudgeRequest::new(name, input.language())
            .text("query", &input.case.query)
            .numbered("sentences", sentences.iter())
            .numbered("contexts", contexts.texts())
    };
    let scored =
        |claims: Vec<Claim>| share_of_claims(claims.iter().filter(|claim| is_good(claim.verdict)).count(), claims);
    let reading = match input.params.text(MODE.name) {
        Some(ONE_BY_ONE) => return one_by_one::step(transcript, input.language(), &sentences, &contexts, scored),
        Some(TWO_STEP) => in_two_steps(input, transcript, &sentences, &contexts),
        Some(LABELS) => {
            asking::read(transcript, &of_the_answer("faithfulness.labels"), |reply| labelled(reply, &sentences))
        }
        Some(_) | None => asking::read(transcript, &of_the_answer("faithfulness.verdicts"), |reply| {
            claims(reply, sentences.len(), &contexts)
        }),
    };
    reading.then(scored)
}

/// Has the claims of a first reading judged once more; metrics over the same claims ask the same.
pub(super) fn judged_again(
    input: &Input<'_>,
    claims: &[Claim],
    number: u32,
    transcript: &Transcript,
) -> Reading<Vec<Verdict>> {
    let contexts = Readable::of(input.sample);
    if input.params.text(MODE.name) == Some(ONE_BY_ONE) {
        return one_by_one::judged_again(transcript, input.language(), &reread::texts(claims), &contexts, number);
    }
    let confirm = Confirm::new(&input.case.query, reread::texts(claims), &contexts, input.language(), number);
    asking::read(transcript, confirm.request(), |reply| {
        Ok(confirm.read(reply)?.into_iter().map(|claim| claim.verdict).collect())
    })
}

/// The claims of a reply, in the order of the answer.
fn claims(reply: &Value, sentences: usize, contexts: &Readable<'_>) -> Result<Vec<Claim>, String> {
    let mut claims: Vec<Claim> = Vec::new();
    for sentence in entries(reply, "sentences", sentences)? {
        for part in sentence.list_or_no_claim("claims")? {
            push_claim(&mut claims, claim(&part, text_of(&part)?, contexts)?, Verdict::as_str)?;
        }
    }
    Ok(claims)
}

/// The sentences of the answer that state something, each as one claim with its label.
fn labelled(reply: &Value, sentences: &[String]) -> Result<Vec<Claim>, String> {
    let mut claims = Vec::new();
    for (part, sentence) in entries(reply, "sentences", sentences.len())?.iter().zip(sentences) {
        if let Some(claim) = claim_of(part, &words(), sentence)? {
            push_claim(&mut claims, claim, Verdict::as_str)?;
        }
    }
    Ok(claims)
}

/// Finds the claims first, without the contexts in view, and then has them judged by number.
fn in_two_steps(
    input: &Input<'_>,
    transcript: &Transcript,
    sentences: &[String],
    contexts: &Readable<'_>,
) -> Reading<Vec<Claim>> {
    let count = sentences.len();
    let request = JudgeRequest::new("faithfulness.claims", input.language())
        .text("query", &input.case.query)
        .numbered("sentences", sentences.iter());
    let texts = match asking::read(transcript, &request, |reply| texts(reply, count)) {
        Reading::Read(texts) if texts.is_empty() => return Reading::Read(Vec::new()),
        Reading::Read(texts) => texts,
        Reading::Ask(request) => return Reading::Ask(request),
        Reading::Fault(fault) => return Reading::Fault(fault),
    };
    let confirm = Confirm::new(&input.case.query, texts, contexts, input.language(), 0);
    asking::read(transcript, confirm.request(), |reply| confirm.read(reply))
}

/// The claims of a reply that has no verdicts yet.
fn texts(reply: &Value, sentences: usize) -> Result<Vec<String>, String> {
    let mut texts = Vec::new();
    for sentence in entries(reply, "sentences", sentences)? {
        for part in sentence.list_or_no_claim("claims")? {
            texts.push(text_of(&part)?.to_owned());
        }
    }
    Ok(texts)
}

fn text_of<'a>(part: &Part<'a>) -> Result<&'a str, String> {
    part.text("claim")?.ok_or_else(|| format!("{} has no `claim`", part.place()))
}

/// A claim of this text, by a part of a reply that says the rest.
pub(super) fn claim(part: &Part<'_>, text: &str, contexts: &Readable<'_>) -> Result<Claim, String> {
    let (evidence, reason) = contexts.grounds(part)?;
    Ok(Claim { text: text.to_owned(), verdict: part.one_of("verdict", &words())?, evidence, reason })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::metric::trying::{Try, context};

    /// An answer of two sentences with two readable contexts and a blank one between them.
    fn two_sentences() -> Try {
        Try::of(&Faithfulness).answer("Refunds take 30 days. Thanks!").contexts(vec![
            context("refunds", "Refunds are possible within 30 days."),
            context("blank", " \n"),
            context("shipping", "Shipping is free."),
        ])
    }

    fn reply(verdicts: &[&str]) -> Value {
        let claims: Vec<_> =
            verdicts.iter().zip(1..).map(|(v, i)| json!({"claim": format!("claim {i}"), "verdict": v})).collect();
        json!({"sentences": [{"n": 1, "claims": claims}, {"n": 2, "no_claim": true}]})
    }

    #[test]
    fn the_request_numbers_sentences_and_readable_contexts() {
        let request = two_sentences().first_request();
        let expected = JudgeRequest::new("faithfulness.verdicts", crate::model::Language::En)
            .text("query", "How long do refunds take?")
            .numbered("sentences", ["Refunds take 30 days.", "Thanks!"])
            .numbered("contexts", ["Refunds are possible within 30 days.", "Shipping is free."]);
        assert_eq!(request, expected);
    }

    #[test]
    fn the_score_is_supported_claims_of_all_claims() {
        for (verdicts, k, n) in [
            (&["supported"][..], 1, 1),
            (&["supported", "supported", "supported"], 3, 3),
            (&["supported", "inferred", "unsupported", "contradicted"], 1, 4),
            (&["contradicted"], 0, 1),
        ] {
            two_sentences().replies(&[reply(verdicts)]).expect_share(k, n);
        }
        two_sentences().param("inferred", json!(true)).replies(&[reply(&["supported", "inferred"])]).expect_share(2, 2);
    }

    #[test]
    fn blank_contexts_count_as_none_and_then_nothing_supports_an_answer() {
        for contexts in [vec![], vec![context("a", "")], vec![context("a", " \u{3000}"), context("b", "\n")]] {
            two_sentences().contexts(contexts).expect_score(0.0).expect_note("no contexts").expect_asked(0);
        }
    }

    #[test]
    fn refusals_claim_nothing_and_silence_is_unmeasured() {
        for refuse in [false, true] {
            let case = || if refuse { two_sentences().should_refuse() } else { two_sentences() };
            case().refusal("I don't know.").expect_not_applicable("nothing was claimed").expect_asked(0);
            case().answer(" \n").expect_unmeasured("answer blank").expect_asked(0);
        }
        two_sentences().should_refuse().replies(&[reply(&["supported"])]).expect_share(1, 1);
    }

    #[test]
    fn an_answer_without_claims_is_the_judges_fault() {
        let reply = json!({"sentences": [{"n": 1, "no_claim": true}, {"n": 2, "no_claim": true}]});
        two_sentences().replies(&[reply]).expect_unmeasured("no claims in a non-refusal answer");
    }

    #[test]
    fn evidence_carries_the_id_of_the_context_that_was_shown_under_its_number() {
        let reply = json!({"sentences": [{"n": 2, "no_claim": true, "claims": []}, {"n": 1, "no_claim": null, "claims": [
            {"claim": " a ", "verdict": "supported", "context": 2, "quote": "Shipping is free.", "reason": "stated"},
            {"claim": "b", "verdict": "supported", "context": null, "quote": "", "reason": " "},
        ]}]});
        let detail = two_sentences().replies(&[reply]).detail();
        let evidence = Evidence { id: Some("shipping".into()), text: "Shipping is free.".into() };
        let verdict = Verdict::Supported;
        assert_eq!(
            detail.claims,
            [
                Claim { text: "a".into(), verdict, evidence: Some(evidence), reason: Some("stated".into()) },
                Claim { text: "b".into(), verdict, evidence: None, reason: None },
            ]
        );
    }

    #[test]
    fn a_reply_that_does_not_fit_is_asked_again_and_then_unmeasured() {
        let one = |claims: Value| json!({"sentences": [{"n": 1, "claims": claims}, {"n": 2, "no_claim": true}]});
        let bad = [
            json!({"score": 1.0, "pass": true}),
            json!({"score": null}),
            json!("I am sorry, I can't judge this."),
            json!([1, 2]),
            json!(7),
            json!({"sentences": []}),
            json!({"sentences": [{"n": 1, "claims": [{"claim": "a", "verdict": "supported"}]}]}),
            json!({"sentences": [{"n": 1}, {"n": 2, "no_claim": true}]}),
            json!({"sentences": [{"n": 1, "no_claim": true}, {"n": 2, "no_claim": true}, {"n": 3, "no_claim": true}]}),
            json!({"sentences": [{"n": 1, "no_claim": true}, {"n": 2, "no_claim": true}, {"n": 2, "no_claim": true}]}),
            one(json!([])),
            one(json!("supported")),
            one(json!(["supported"])),
            one(json!([{"verdict": "supported"}])),
            one(json!([{"claim": " ", "verdict": "supported"}])),
            one(json!([{"claim": 7, "verdict": "supported"}])),
            one(json!([{"claim": "a"}])),
            one(json!([{"claim": "a", "verdict": "Supported"}])),
            one(json!([{"claim": "a", "verdict": "yes"}])),
            one(json!([{"claim": "a", "verdict": 1}])),
            one(json!([{"claim": "a", "verdict": "supported", "context": 3}])),
            one(json!([{"claim": "a", "verdict": "supported", "context": 0}])),
            one(json!([{"claim": "a", "verdict": "supported", "context": "1"}])),
            one(json!([{"claim": "a", "verdict": "supported", "quote": 1}])),
            one(json!([{"claim": "a", "verdict": "supported", "reason": []}])),
            one(json!([{"claim": "a", "verdict": "supported"}, {"claim": "a", "verdict": "unsupported"}])),
        ];
        for reply_value in bad {
            let both = [reply_value.clone(), reply_value.clone()];
            two_sentences().replies(&both).expect_unmeasured("judge reply incomplete").expect_asked(2);
            two_sentences().replies(&[reply_value, reply(&["supported"])]).expect_share(1, 1).expect_asked(2);
        }
    }

    fn in_two_steps() -> Try {
        two_sentences().param("mode", json!("two_step"))
    }

    fn found(claims: &[&str]) -> Value {
        let claims: Vec<_> = claims.iter().map(|claim| json!({"claim": claim})).collect();
        json!({"sentences": [{"n": 1, "claims": claims}, {"n": 2, "no_claim": true}]})
    }

    fn judged(verdicts: &[&str]) -> Value {
        let claims: Vec<_> = verdicts.iter().zip(1..).map(|(v, n): (_, usize)| json!({"n": n, "verdict": v})).collect();
        json!({"claims": claims})
    }

    #[test]
    fn in_two_steps_the_claims_are_found_without_the_contexts_and_judged_by_number() {
        let expected = JudgeRequest::new("faithfulness.claims", crate::model::Language::En)
            .text("query", "How long do refunds take?")
            .numbered("sentences", ["Refunds take 30 days.", "Thanks!"]);
        assert_eq!(in_two_steps().first_request(), expected);
        in_two_steps()
            .replies(&[found(&["a", "b", "a"]), judged(&["supported", "contradicted", "supported"])])
            .expect_share(2, 3)
            .expect_asked(2);
        let none = json!({"sentences": [{"n": 1, "no_claim": true}, {"n": 2, "no_claim": true}]});
        in_two_steps().replies(&[none]).expect_unmeasured("no claims in a non-refusal answer").expect_asked(1);
        two_sentences().param("mode", json!("one_step")).replies(&[reply(&["supported"])]).expect_share(1, 1);
    }

    #[test]
    fn each_of_the_two_steps_is_asked_again_when_its_reply_does_not_fit() {
        let good = judged(&["supported", "supported"]);
        for bad in [json!({}), judged(&["supported"]), judged(&["supported", "yes"])] {
            let found = found(&["a", "b"]);
            let twice = [found.clone(), bad.clone(), bad.clone()];
            in_two_steps().replies(&twice).expect_unmeasured("judge reply incomplete").expect_asked(3);
            in_two_steps().replies(&[found, bad, good.clone()]).expect_share(2, 2).expect_asked(3);
        }
        let both = judged(&["supported", "unsupported"]);
        let same = [found(&["a", "a"]), both.clone(), both];
        in_two_steps().replies(&same).expect_unmeasured("judge reply incomplete").expect_why("`a` is both");
        let bad = reply(&[]);
        in_two_steps().replies(&[bad.clone(), bad]).expect_unmeasured("judge reply incomplete").expect_asked(2);
    }

    use crate::model::Evidence;

    fn by_labels() -> Try {
        two_sentences().param("mode", json!("labels"))
    }

    fn labels(first: &str, second: &str) -> Value {
        json!({"sentences": [{"n": 2, "verdict": second}, {"n": 1, "verdict": first}]})
    }

    #[test]
    fn by_labels_each_sentence_that_states_something_is_one_claim() {
        let expected = JudgeRequest { name: "faithfulness.labels".to_owned(), ..two_sentences().first_request() };
        assert_eq!(by_labels().first_request(), expected);
        for (first, second, good) in [
            ("supported", "supported", 2),
            ("supported", "unsupported", 1),
            ("contradicted", "supported", 1),
            ("unsupported", "contradicted", 0),
            ("supported", "inferred", 1),
        ] {
            by_labels().replies(&[labels(first, second)]).expect_share(good, 2).expect_asked(1);
        }
        by_labels().param("inferred", json!(true)).replies(&[labels("supported", "inferred")]).expect_share(2, 2);
        let thanks = json!({"sentences": [{"n": 1, "verdict": "unsupported"}, {"n": 2, "no_claim": true}]});
        let detail = by_labels().replies(&[thanks]).expect_share(0, 1).detail();
        let claim = |verdict| Claim { text: "Refunds take 30 days.".into(), verdict, evidence: None, reason: None };
        assert_eq!(detail.claims, [claim(Verdict::Unsupported)]);
        let none = json!({"sentences": [{"n": 1, "no_claim": true}, {"n": 2, "no_claim": true}]});
        by_labels().replies(&[none]).expect_unmeasured("no claims in a non-refusal answer").expect_asked(1);
    }

    #[test]
    fn labels_that_do_not_fit_the_sentences_are_asked_for_again() {
        for bad in [
            json!({"sentences": [{"n": 1, "verdict": "supported"}]}),
            json!({"sentences": [{"n": 1, "verdict": "supported"}, {"n": 2}]}),
            json!({"sentences": [{"n": 1, "verdict": "supported"}, {"n": 2, "verdict": "supported", "no_claim": true}]}),
            json!({"sentences": [{"n": 1, "verdict": "supported"}, {"n": 1, "verdict": "supported"}]}),
            json!({"sentences": [{"n": 1, "verdict": "supported"}, {"n": 2, "no_claim": true}, {"n": 3, "no_claim": true}]}),
            labels("supported", "yes"),
            labels("Supported", "supported"),
            reply(&["supported"]),
        ] {
            by_labels()
                .replies(&[bad.clone(), bad.clone()])
                .expect_unmeasured("judge reply incomplete")
                .expect_asked(2);
            by_labels().replies(&[bad, labels("supported", "supported")]).expect_share(2, 2).expect_asked(2);
        }
        let twice = || by_labels().answer("It is free. It is free.");
        let both = labels("supported", "unsupported");
        twice().replies(&[both.clone(), both]).expect_unmeasured("judge reply incomplete").expect_why("is both");
        twice().replies(&[labels("supported", "supported")]).expect_share(2, 2);
    }
}
