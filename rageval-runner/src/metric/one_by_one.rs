//! `mode: one_by_one` of `faithfulness`: a request for each sentence of the answer, with all contexts and nothing else.

use serde_json::Value;

use super::{
    Step,
    asking::{self, Reading},
    faithfulness::words,
    material::Readable,
    numbered::Part,
};
use crate::{
    model::{Claim, JudgeRequest, Language, Outcome, Request, Transcript, Unmeasured, Verdict},
    stats::draw::Draws,
};

/// The word in place of a verdict for a sentence that states nothing.
const NO_CLAIM: &str = "no_claim";

/// Asks about all sentences at once, and makes an outcome of the claims when each has its reply.
///
/// One sentence without a reply that fits leaves the metric unmeasured: the others are not the answer.
pub(super) fn step(
    transcript: &Transcript,
    language: Language,
    sentences: &[String],
    contexts: &Readable<'_>,
    done: impl FnOnce(Vec<Claim>) -> Outcome,
) -> Step {
    let mut asks: Vec<Request> = Vec::new();
    let mut claims = Vec::new();
    let mut fault: Option<Unmeasured> = None;
    for sentence in sentences {
        // The contexts come first: a server that keeps what it has read reads them once for all sentences.
        let request = JudgeRequest::new("faithfulness.sentence", language)
            .numbered("contexts", contexts.texts())
            .text("sentence", sentence);
        match asking::read(transcript, &request, |reply| claim(reply, sentence)) {
            Reading::Read(claim) => claims.extend(claim),
            Reading::Ask(request) if asks.contains(&request) => {}
            Reading::Ask(request) => asks.push(request),
            Reading::Fault(found) => fault = fault.or(Some(found)),
        }
    }
    match fault {
        Some(fault) => Step::Done(Outcome::Unmeasured { fault }),
        None if asks.is_empty() => Step::Done(done(claims)),
        None => Step::Ask(asks),
    }
}

/// Has the claims of a first reading judged once more, one after the other, each in a request of its own under this sample number and with the
/// contexts in an order of that number's.
///
/// One claim without a reply that fits leaves the whole reading without a vote, and so does one that now states nothing.
pub(super) fn judged_again(
    transcript: &Transcript,
    language: Language,
    claims: &[String],
    contexts: &Readable<'_>,
    number: u32,
) -> Reading<Vec<Verdict>> {
    let contexts = contexts.in_order(&Draws::seeded(u64::from(number)).order(contexts.len()));
    let mut verdicts = Vec::with_capacity(claims.len());
    for text in claims {
        let request = JudgeRequest::new("faithfulness.sentence", language)
            .numbered("contexts", contexts.texts())
            .text("sentence", text);
        let request = JudgeRequest { sample: number, ..request };
        let said =
            |reply: &Value| claim(reply, text)?.ok_or_else(|| "a claim that was judged states nothing".to_owned());
        match asking::read(transcript, &request, said) {
            Reading::Read(claim) => verdicts.push(claim.verdict),
            Reading::Ask(request) => return Reading::Ask(request),
            Reading::Fault(fault) => return Reading::Fault(fault),
        }
    }
    Reading::Read(verdicts)
}

/// The claim that a sentence makes, by a reply with one verdict; `None` where it states nothing.
fn claim(reply: &Value, sentence: &str) -> Result<Option<Claim>, String> {
    let part = Part::whole(reply)?;
    let mut verdicts = words().map(|(word, verdict)| (word, Some(verdict))).to_vec();
    verdicts.push((NO_CLAIM, None));
    let reason = part.text("reason")?.map(str::to_owned);
    let verdict: Option<Verdict> = part.one_of("verdict", &verdicts)?;
    Ok(verdict.map(|verdict| Claim { text: sentence.to_owned(), verdict, evidence: None, reason }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        metric::{
            faithfulness::Faithfulness,
            trying::{Try, context},
        },
        model::{Ending, Reply},
    };

    /// An answer of three sentences, one of them twice, with two readable contexts and a blank one between them.
    fn tried() -> Try {
        let answer = "Refunds take 30 days. Refunds take 30 days. Thanks!";
        let contexts =
            vec![context("a", "Within 30 days."), context("blank", " \n"), context("b", "Shipping is free.")];
        Try::of(&Faithfulness).param("mode", json!("one_by_one")).answer(answer).contexts(contexts)
    }

    fn verdict(word: &str) -> Value {
        json!({"verdict": word})
    }

    #[test]
    fn each_different_sentence_is_asked_about_alone_behind_the_contexts() {
        let of = |sentence: &str| {
            JudgeRequest::new("faithfulness.sentence", Language::En)
                .numbered("contexts", ["Within 30 days.", "Shipping is free."])
                .text("sentence", sentence)
        };
        assert_eq!(tried().first_requests(), [of("Refunds take 30 days."), of("Thanks!")]);
    }

    #[test]
    fn each_sentence_counts_once_and_one_without_a_claim_for_nothing() {
        for (first, second, good, of) in [
            ("supported", "supported", 3, 3),
            ("supported", "no_claim", 2, 2),
            ("supported", "unsupported", 2, 3),
            ("contradicted", "supported", 1, 3),
            ("inferred", "supported", 1, 3),
            ("unsupported", "no_claim", 0, 2),
        ] {
            tried().replies(&[verdict(first), verdict(second)]).expect_share(good, of).expect_asked(2);
        }
        let inferred = [verdict("inferred"), verdict("supported")];
        tried().param("inferred", json!(true)).replies(&inferred).expect_share(3, 3);
        let with_reason = json!({"verdict": "unsupported", "reason": "no such period"});
        let detail = tried().replies(&[with_reason, verdict("no_claim")]).detail();
        let claim = Claim {
            text: "Refunds take 30 days.".into(),
            verdict: Verdict::Unsupported,
            evidence: None,
            reason: Some("no such period".into()),
        };
        assert_eq!(detail.claims, [claim.clone(), claim]);
        let none = [verdict("no_claim"), verdict("no_claim")];
        tried().replies(&none).expect_unmeasured("no claims in a non-refusal answer").expect_asked(2);
    }

    #[test]
    fn a_sentence_whose_reply_does_not_fit_is_asked_about_again_and_no_other() {
        for bad in [
            json!({}),
            json!([]),
            json!("supported"),
            json!({"no_claim": true}),
            json!({"verdict": null}),
            json!({"verdict": true}),
            json!({"verdict": ["supported"]}),
            json!({"score": 1.0}),
            json!({"verdict": "supported", "reason": 7}),
            verdict("Supported"),
            verdict("yes"),
        ] {
            let good = verdict("supported");
            let again = [bad.clone(), good.clone(), good.clone()];
            tried().replies(&again).expect_share(3, 3).expect_asked(3);
            tried()
                .replies(&[good.clone(), bad.clone(), bad.clone()])
                .expect_unmeasured("judge reply incomplete")
                .expect_why("faithfulness.sentence")
                .expect_asked(3);
        }
    }

    #[test]
    fn one_sentence_without_a_reply_leaves_the_answer_unmeasured() {
        let supported = Reply::Value { value: verdict("supported") };
        let failed = Reply::Failed { ending: Ending::Missing, why: "so it was".to_owned() };
        tried().raw_replies(vec![supported, failed]).expect_unmeasured(Ending::Missing.cause()).expect_why("so it was");
    }

    #[test]
    fn what_needs_no_judge_is_settled_without_one() {
        tried().contexts(vec![]).expect_score(0.0).expect_note("no contexts").expect_asked(0);
        tried().refusal("I don't know.").expect_not_applicable("nothing was claimed").expect_asked(0);
        tried().answer(" \n").expect_unmeasured("answer blank").expect_asked(0);
    }
}
