//! The metric `context_precision`: whether the useful contexts stand above the useless ones.

use serde_json::Value;

use super::{
    Formula, Input, Kind, Made, Metric, Params, Reread, Step,
    asking::{self, Reading},
    material::{Readable, names_of},
    numbered::entries,
    scoring::scored,
    shuffled::Shuffled,
    worked::{equals, row},
};
use crate::model::{
    Claim, Detail, Expectation, GoldenCase, JudgeRequest, Outcome, RetrievedContext, Transcript, UnitInterval, Verdict,
};

/// Average precision of the contexts that a judge finds useful for the question, 0 to 1.
///
/// The mean, over the useful contexts, of (useful ones down to its rank) / rank, after RAGAS's context precision. Ranks are places in the
/// list as returned; a blank context is not shown to the judge and is not useful. Where the case has a reference answer the judge sees the
/// first one.
///
/// No contexts, or none useful: 0. Not applicable where the right answer is to decline, since no context can then be useful. The
/// answer's text is not looked at.
#[derive(Debug, Clone, Copy)]
pub struct ContextPrecision;

const WORDS: [(&str, Verdict); 2] = [("useful", Verdict::Supported), ("not_useful", Verdict::Unsupported)];

impl Metric for ContextPrecision {
    fn name(&self) -> &str {
        "context_precision"
    }

    fn about(&self) -> &str {
        "average precision of the retrieved contexts that are useful for the question"
    }

    fn formula(&self, _params: &Params) -> Formula {
        Formula::of("mean, over the useful contexts, of (useful ones down to its rank) / rank")
    }

    fn worked(&self, Made { detail, .. }: &Made<'_>) -> Option<Vec<String>> {
        let useful = (1_usize..).zip(&detail.claims).filter(|(_, claim)| claim.verdict == Verdict::Supported);
        let ranks: Vec<usize> = useful.map(|(rank, _)| rank).collect();
        let terms = || (1_usize..).zip(&ranks).map(|(at, rank)| (at, *rank));
        let mean = terms().map(|(at, rank)| at as f64 / rank as f64).sum::<f64>() / ranks.len() as f64;
        let shown = row(terms().map(|(at, rank)| format!("{at}/{rank}")), " + ");
        // Without a useful context there is nothing to take the mean of, and the note says so.
        (!ranks.is_empty()).then(|| vec![format!("({shown}) / {}{}", ranks.len(), equals(mean))])
    }

    fn kind(&self) -> Kind {
        Kind::Judged
    }

    fn not_applicable(&self, case: &GoldenCase, _params: &Params) -> Option<String> {
        match case.expectation {
            Expectation::Refuse => Some("the right answer is to decline, so no context is useful".to_owned()),
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
        let returned = &input.sample.answer.retrieved_contexts;
        let contexts = Readable::of(input.sample);
        if contexts.is_empty() {
            return Step::Done(outcome(returned, Vec::new()));
        }
        let request = request(input, &contexts);
        asking::read(transcript, &request, |reply| verdicts(reply, contexts.len()))
            .then(|verdicts| outcome(returned, verdicts))
    }
}

impl Reread for ContextPrecision {
    /// A blank context is not shown again; it is as little use as before.
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
            let said = shuffled.back_to_ranks(verdicts(reply, shuffled.contexts().len())?);
            let returned = &input.sample.answer.retrieved_contexts;
            Ok(in_ranks(returned, said).into_iter().map(|(verdict, _)| verdict).collect())
        })
    }

    fn is_bad(&self, _params: &Params, verdict: Verdict) -> bool {
        verdict != Verdict::Supported
    }

    fn outcome(&self, _input: &Input<'_>, claims: Vec<Claim>) -> Outcome {
        average_precision(claims)
    }
}

fn request(input: &Input<'_>, contexts: &Readable<'_>) -> JudgeRequest {
    let mut request =
        JudgeRequest::new("context_precision.verdicts", input.language()).text("query", &input.case.query);
    if let Some(reference) = input.case.references.iter().find(|reference| !reference.trim().is_empty()) {
        request = request.text("reference", reference);
    }
    request.numbered("contexts", contexts.texts())
}

/// A verdict with its reason.
type Said = (Verdict, Option<String>);

/// What the judge says of each readable context, in rank order.
fn verdicts(reply: &Value, readable: usize) -> Result<Vec<Said>, String> {
    entries(reply, "contexts", readable)?
        .iter()
        .map(|part| Ok((part.one_of("verdict", &WORDS)?, part.text("reason")?.map(str::to_owned))))
        .collect()
}

/// What is said of each context as returned, the blank ones back at their ranks.
fn in_ranks(returned: &[RetrievedContext], readable: Vec<Said>) -> Vec<Said> {
    let mut readable = readable.into_iter();
    let said = |context: &RetrievedContext| if context.is_blank() { None } else { readable.next() };
    let blank = || (Verdict::Unsupported, Some("blank".to_owned()));
    returned.iter().map(said).map(|said| said.unwrap_or_else(blank)).collect()
}

fn outcome(returned: &[RetrievedContext], readable: Vec<Said>) -> Outcome {
    let claim = |((verdict, reason), text)| Claim { text, verdict, evidence: None, reason };
    average_precision(in_ranks(returned, readable).into_iter().zip(names_of(returned)).map(claim).collect())
}

/// The score of the contexts in rank order.
fn average_precision(claims: Vec<Claim>) -> Outcome {
    let mut useful = 0_usize;
    let mut precisions = 0.0;
    for (claim, rank) in claims.iter().zip(1_usize..) {
        if claim.verdict == Verdict::Supported {
            useful += 1;
            precisions += useful as f64 / rank as f64;
        }
    }
    let note = match (useful, claims.len()) {
        (_, 0) => "no contexts".to_owned(),
        (useful, all) => format!("{useful} of {all} contexts useful"),
    };
    let detail = Detail { claims, note: Some(note), ..Detail::default() };
    if useful == 0 {
        return Outcome::scored_with(UnitInterval::ZERO, detail);
    }
    scored(precisions / useful as f64, detail)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        metric::trying::{Try, context},
        model::Language,
    };

    fn contexts(texts: &[&str]) -> Try {
        let contexts = texts.iter().zip(1..).map(|(text, i)| context(&format!("d{i}"), text)).collect();
        Try::of(&ContextPrecision).answer("30 days.").contexts(contexts)
    }

    /// `+` useful, `-` not.
    fn reply(verdicts: &str) -> Value {
        let entry = |(c, n): (char, usize)| json!({"n": n, "verdict": if c == '+' { "useful" } else { "not_useful" }});
        json!({"contexts": verdicts.chars().zip(1..).map(entry).collect::<Vec<_>>()})
    }

    #[test]
    fn the_request_shows_the_reference_only_where_the_case_has_one() {
        let without = JudgeRequest::new("context_precision.verdicts", Language::En)
            .text("query", "How long do refunds take?")
            .numbered("contexts", ["a", "b"]);
        assert_eq!(contexts(&["a", "", "b"]).first_request(), without);
        let with = JudgeRequest::new("context_precision.verdicts", Language::En)
            .text("query", "How long do refunds take?")
            .text("reference", "30 days.")
            .numbered("contexts", ["a", "b"]);
        assert_eq!(contexts(&["a", "", "b"]).references(&["30 days."]).first_request(), with);
    }

    #[test]
    fn the_score_is_average_precision_and_a_perfect_ranking_is_exactly_one() {
        for (verdicts, expected) in [
            ("+++", 1.0),
            ("+--", 1.0),
            ("--+", 1.0 / 3.0),
            ("+-+", (1.0 + 2.0 / 3.0) / 2.0),
            ("-++", (1.0 / 2.0 + 2.0 / 3.0) / 2.0),
            ("---", 0.0),
        ] {
            contexts(&["a", "b", "c"]).replies(&[reply(verdicts)]).expect_score(expected);
        }
    }

    #[test]
    fn blank_contexts_keep_their_rank_and_are_not_useful() {
        let tried = contexts(&["", "b", " ", "d"]).replies(&[reply("++")]);
        let detail = tried.detail();
        tried.expect_score((1.0 / 2.0 + 2.0 / 4.0) / 2.0).expect_note("2 of 4 contexts useful");
        let texts: Vec<_> = detail.claims.iter().map(|claim| (claim.text.as_str(), claim.verdict)).collect();
        assert_eq!(
            texts,
            [
                ("context d1", Verdict::Unsupported),
                ("context d2", Verdict::Supported),
                ("context d3", Verdict::Unsupported),
                ("context d4", Verdict::Supported),
            ]
        );
    }

    #[test]
    fn contexts_are_named_by_document_and_not_by_rank() {
        let contexts = vec![context("a", "x"), RetrievedContext::without_id("y"), context("a", "z")];
        let tried = Try::of(&ContextPrecision).answer("30 days.").contexts(contexts).replies(&[reply("+-+")]);
        let texts: Vec<_> = tried.detail().claims.into_iter().map(|claim| claim.text).collect();
        assert_eq!(texts, ["context a", "context at rank 2", "context a (2)"]);
    }

    #[test]
    fn nothing_retrieved_is_zero_for_an_answerable_question() {
        contexts(&[]).expect_score(0.0).expect_note("no contexts").expect_asked(0);
        contexts(&[" ", ""]).expect_score(0.0).expect_note("0 of 2 contexts useful").expect_asked(0);
    }

    #[test]
    fn it_looks_at_the_contexts_whatever_was_answered() {
        contexts(&["a"]).refusal("Sorry.").replies(&[reply("+")]).expect_score(1.0);
        contexts(&["a"]).answer("").replies(&[reply("+")]).expect_score(1.0);
        contexts(&["a"]).should_refuse().expect_not_applicable("decline").expect_asked(0);
    }

    #[test]
    fn a_reply_that_does_not_fit_is_asked_again_and_then_unmeasured() {
        for bad in [
            reply("+"),
            reply("+++"),
            json!({"contexts": [{"n": 1, "verdict": "useful"}, {"n": 2, "verdict": "very"}]}),
            json!({"contexts": [{"n": 1, "verdict": "useful"}, {"n": 2, "no_claim": true}]}),
            json!({"contexts": [{"n": 1, "verdict": "useful"}, {"n": 2, "verdict": "useful", "reason": 1}]}),
            json!([]),
        ] {
            let both = [bad.clone(), bad.clone()];
            contexts(&["a", "b"]).replies(&both).expect_unmeasured("judge reply incomplete").expect_asked(2);
            contexts(&["a", "b"]).replies(&[bad, reply("+-")]).expect_score(1.0).expect_asked(2);
        }
    }
}
