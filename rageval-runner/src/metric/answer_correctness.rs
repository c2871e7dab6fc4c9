//! The metric `answer_correctness`: whether the answer says what the reference answer says, no less and no more.

use serde_json::Value;

use super::{
    Formula, Input, Kind, Made, Metric, Param, ParamKind, Params, Step,
    answering::{Answering, WRONG_ANSWER, WRONG_REFUSAL, blank, right_refusal},
    asking::{self, Reading},
    cause,
    material::{named, sentences, stating_sentences},
    numbered::entries,
    quote::grounds,
    scoring::{claim_of, no_claims, scored, supported},
    similarity::{self, floored},
    worked::equals,
};
use crate::{
    model::{
        Claim, Detail, EmbedRequest, Expectation, GoldenCase, JudgeRequest, Outcome, Transcript, UnitInterval, Verdict,
    },
    report::console::text::score as score_text,
    text,
};

/// Agreement of the answer's statements with those of the reference, 0 to 1.
///
/// TP / (TP + (FP + FN) / 2): TP correct and FP wrong sentences of the answer, FN reference sentences that the answer misses, after
/// RAGAS's answer correctness. Of several references the best counts, one request each.
///
/// With `similarity_weight: w` above 0 the score is (1 - w) of that and w of the cosine similarity of the answer to the reference, 0 where
/// the cosine is below 0. It needs an embedder.
///
/// An answer equal to a reference after normalisation is 1 without asking; so are, as 0, a refusal of a question that has an answer and
/// an answer to one that should be declined. A right refusal and a case without reference are not applicable. Unmeasured for a blank
/// answer, for an answer without statements, and for references that state nothing.
#[derive(Debug, Clone, Copy)]
pub struct AnswerCorrectness;

const WEIGHT: Param = Param {
    name: "similarity_weight",
    kind: ParamKind::Unit,
    about: "the weight of the cosine similarity of answer and reference, from 0 (the default) to 1; the rest is that of the statements",
};

const ANSWER: [(&str, Verdict); 2] = [("correct", Verdict::Supported), ("wrong", Verdict::Contradicted)];
const REFERENCE: [(&str, Verdict); 2] = [("covered", Verdict::Supported), ("missing", Verdict::Unsupported)];

impl Metric for AnswerCorrectness {
    fn name(&self) -> &str {
        "answer_correctness"
    }

    fn about(&self) -> &str {
        "agreement of the answer's statements with those of the reference answer"
    }

    fn formula(&self, params: &Params) -> Formula {
        if weight(params).is_some() {
            Formula::of("(1 - w) x 2 x correct / (2 x correct + wrong + missing) + w x cosine of answer and reference")
        } else {
            Formula::of("2 x correct / (2 x correct + wrong + missing): sentences of the answer, and of the reference")
        }
    }

    fn worked(&self, Made { input, detail, .. }: &Made<'_>) -> Option<Vec<String>> {
        let count = |verdict| detail.claims.iter().filter(|claim| claim.verdict == verdict).count();
        let of_reference = detail.claims.iter().rev().take_while(|claim| claim.text.starts_with(OF_REFERENCE)).count();
        let (wrong, missing) = (count(Verdict::Contradicted), count(Verdict::Unsupported));
        let correct = detail.claims.len().checked_sub(of_reference + wrong)?;
        let agreement = UnitInterval::share(2 * correct, 2 * correct + wrong + missing)?.get();
        let mut lines = vec![format!(
            "{correct} correct, {wrong} wrong, {missing} of {of_reference} missing: 2 x {correct} / (2 x {correct} + {wrong} + {missing}){}",
            equals(agreement)
        )];
        if let Some((weight, cosine)) = weight(input.params).zip(detail.similarity) {
            let both = (1.0 - weight) * agreement + weight * floored(cosine);
            let (rest, agreement) = (1.0 - weight, score_text(agreement));
            lines.push(format!("{rest} x {agreement} + {weight} x {}{}", score_text(floored(cosine)), equals(both)));
        }
        Some(lines)
    }

    fn kind(&self) -> Kind {
        Kind::Judged
    }

    fn params(&self) -> &[Param] {
        &[WEIGHT]
    }

    fn needs_embedder(&self, params: &Params) -> bool {
        weight(params).is_some()
    }

    fn not_applicable(&self, case: &GoldenCase, _params: &Params) -> Option<String> {
        match case.expectation {
            Expectation::Answer if case.references.is_empty() => Some("the case has no reference answer".to_owned()),
            Expectation::Answer | Expectation::Refuse => None,
        }
    }

    fn step(&self, input: &Input<'_>, transcript: &Transcript) -> Step {
        if let Some(why) = self.not_applicable(input.case, input.params) {
            return Step::Done(Outcome::not_applicable(why));
        }
        match (Answering::of(input.sample), input.case.expectation) {
            (Answering::Blank, _) => Step::Done(blank(input)),
            (Answering::Refused, Expectation::Refuse) => Step::Done(right_refusal()),
            (Answering::Refused, Expectation::Answer) => Step::Done(without_asking(UnitInterval::ZERO, WRONG_REFUSAL)),
            (Answering::Answered, Expectation::Refuse) => Step::Done(without_asking(UnitInterval::ZERO, WRONG_ANSWER)),
            (Answering::Answered, Expectation::Answer) => compare(input, transcript),
        }
    }
}

fn without_asking(score: UnitInterval, note: &str) -> Outcome {
    Outcome::scored_with(score, Detail { note: Some(note.to_owned()), ..Detail::default() })
}

/// The weight of likeness; `None` where it has none.
fn weight(params: &Params) -> Option<f64> {
    params.number(WEIGHT.name).filter(|weight| *weight > 0.0)
}

/// Compares an answer with every reference that states something.
fn compare(input: &Input<'_>, transcript: &Transcript) -> Step {
    let references: Vec<_> = input
        .case
        .references
        .iter()
        .map(|reference| (reference, stating_sentences(reference, input.language())))
        .filter(|(_, sentences)| !sentences.is_empty())
        .collect();
    if references.is_empty() {
        let why = format!("{}: no reference answer states anything; write what the right answer says", named(input));
        return Step::Done(Outcome::unmeasured(cause::DATA, why));
    }
    let answer = text::normalise(&input.sample.answer.response);
    if references.iter().any(|(reference, _)| text::normalise(reference) == answer) {
        return Step::Done(without_asking(UnitInterval::ONE, "equal to a reference"));
    }
    let answer = sentences(&input.sample.answer.response, input.language());
    let mut requests = Vec::new();
    let mut outcomes = Vec::new();
    let likeness = match weight(input.params) {
        None => None,
        Some(weight) => {
            let texts = references.iter().map(|(reference, _)| reference.as_str());
            let request = EmbedRequest::new(&input.sample.answer.response, texts);
            match similarity::read(transcript, request) {
                Reading::Ask(request) => {
                    requests.push(request);
                    None
                }
                Reading::Read(similarities) => Some((weight, similarities)),
                Reading::Fault(fault) => return Step::Done(Outcome::Unmeasured { fault }),
            }
        }
    };
    for (nth, (whole, reference)) in references.iter().enumerate() {
        let request = JudgeRequest::new("answer_correctness.statements", input.language())
            .text("query", &input.case.query)
            .numbered("answer", answer.iter())
            .numbered("reference", reference.iter());
        match asking::read(transcript, &request, |reply| Statements::read(reply, &answer, reference, whole)) {
            Reading::Ask(request) if requests.contains(&request) => {}
            Reading::Ask(request) => requests.push(request),
            Reading::Read(statements) => {
                let likeness = likeness.as_ref().and_then(|(weight, all)| Some((*weight, *all.get(nth)?)));
                outcomes.push(statements.outcome(likeness));
            }
            Reading::Fault(fault) => outcomes.push(Outcome::Unmeasured { fault }),
        }
    }
    if requests.is_empty() { Step::Done(best(outcomes)) } else { Step::Ask(requests) }
}

/// The best outcome over the references. A fault stands unless another reference is matched in full: the unread one might be the best.
fn best(outcomes: Vec<Outcome>) -> Outcome {
    let mut best: Option<Outcome> = None;
    let mut fault = None;
    for outcome in outcomes {
        match (&outcome, &best) {
            (Outcome::Unmeasured { .. }, _) => fault = fault.or(Some(outcome)),
            (Outcome::Scored { .. }, Some(other)) if outcome.score() <= other.score() => {}
            (Outcome::Scored { .. } | Outcome::NotApplicable { .. }, _) => best = Some(outcome),
        }
    }
    match (best, fault) {
        (Some(best), _) if best.score() == Some(UnitInterval::ONE) => best,
        (_, Some(fault)) => fault,
        (Some(best), None) => best,
        (None, None) => Outcome::unmeasured(cause::DATA, "no reference answer to compare with"),
    }
}

/// What stands before a claim of the reference.
const OF_REFERENCE: &str = "reference: ";

/// What the judge says of an answer against one reference.
struct Statements {
    answer: Vec<Claim>,
    reference: Vec<Claim>,
}

impl Statements {
    fn read(reply: &Value, answer: &[String], reference: &[String], whole: &str) -> Result<Self, String> {
        let mut statements = Self { answer: Vec::new(), reference: Vec::new() };
        for (part, sentence) in entries(reply, "answer", answer.len())?.iter().zip(answer) {
            let (evidence, reason) = grounds(part, &[(None, whole)])?;
            let claim = claim_of(part, &ANSWER, sentence)?;
            statements.answer.extend(claim.map(|claim| Claim { evidence, reason, ..claim }));
        }
        for (part, sentence) in entries(reply, "reference", reference.len())?.iter().zip(reference) {
            let verdict = part.one_of("verdict", &REFERENCE)?;
            let reason = part.text("reason")?.map(str::to_owned);
            statements.reference.push(Claim {
                text: format!("{OF_REFERENCE}{sentence}"),
                verdict,
                evidence: None,
                reason,
            });
        }
        Ok(statements)
    }

    /// `likeness` is the weight of a similarity, and the similarity.
    fn outcome(self, likeness: Option<(f64, f64)>) -> Outcome {
        let correct = supported(&self.answer);
        let wrong = self.answer.len() - correct;
        let missing = self.reference.len() - supported(&self.reference);
        if self.answer.is_empty() {
            return no_claims();
        }
        let note = format!("{correct} correct, {wrong} wrong, {missing} of {} missing", self.reference.len());
        let claims = self.answer.into_iter().chain(self.reference).collect();
        let detail = Detail { claims, note: Some(note), ..Detail::default() };
        // TP / (TP + (FP + FN) / 2) with both sides doubled, so that it stays in whole numbers and a perfect answer is exactly 1.
        match UnitInterval::share(2 * correct, 2 * correct + wrong + missing) {
            None => no_claims(),
            Some(agreement) => match likeness {
                None => Outcome::scored_with(agreement, detail),
                Some((weight, similarity)) => {
                    let both = (1.0 - weight) * agreement.get() + weight * floored(similarity);
                    let note = detail.note.map(|note| format!("{note}; cosine {similarity:.3} to the reference"));
                    scored(both, Detail { similarity: Some(similarity), note, ..detail })
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        metric::trying::Try,
        model::{Ending, Language, Reply},
    };

    fn two_sentences() -> Try {
        Try::of(&AnswerCorrectness)
            .answer("Refunds take 30 days. They cost 5 euros.")
            .references(&["Refunds take 30 days. They are free."])
    }

    /// `+` correct or covered, `-` wrong or missing, `0` no claim.
    fn reply(answer: &str, reference: &str) -> Value {
        let answer: Vec<_> = answer
            .chars()
            .zip(1..)
            .map(|(c, n): (char, usize)| match c {
                '0' => json!({"n": n, "no_claim": true}),
                c => json!({"n": n, "verdict": if c == '+' { "correct" } else { "wrong" }}),
            })
            .collect();
        let reference: Vec<_> = reference
            .chars()
            .zip(1..)
            .map(|(c, n): (char, usize)| json!({"n": n, "verdict": if c == '+' { "covered" } else { "missing" }}))
            .collect();
        json!({"answer": answer, "reference": reference})
    }

    #[test]
    fn the_request_numbers_both_sides() {
        let expected = JudgeRequest::new("answer_correctness.statements", Language::En)
            .text("query", "How long do refunds take?")
            .numbered("answer", ["Refunds take 30 days.", "They cost 5 euros."])
            .numbered("reference", ["Refunds take 30 days.", "They are free."]);
        assert_eq!(two_sentences().first_request(), expected);
    }

    #[test]
    fn the_score_weighs_wrong_and_missing_statements_by_half() {
        for (answer, reference, expected) in [
            ("++", "++", 1.0),
            ("+0", "++", 1.0),
            ("+-", "+-", 0.5),
            ("+-", "++", 2.0 / 3.0),
            ("++", "+-", 4.0 / 5.0),
            ("--", "--", 0.0),
        ] {
            two_sentences().replies(&[reply(answer, reference)]).expect_score(expected);
        }
        two_sentences().replies(&[reply("+-", "+-")]).expect_note("1 correct, 1 wrong, 1 of 2 missing");
        two_sentences().replies(&[reply("00", "--")]).expect_unmeasured("no claims in a non-refusal answer");
    }

    #[test]
    fn equal_wording_is_right_without_asking() {
        two_sentences()
            .answer(" refunds take 30  days. They ARE free.\n")
            .expect_score(1.0)
            .expect_note("equal")
            .expect_asked(0);
        // A sign or a decimal point is no mere punctuation.
        let tried = two_sentences().answer("-5").references(&["5"]);
        assert_eq!(tried.first_request().name, "answer_correctness.statements");
        assert_eq!(two_sentences().answer("35").references(&["3.5"]).first_request().sample, 0);
    }

    #[test]
    fn refusals_and_answers_that_should_be_refusals_are_settled_without_asking() {
        two_sentences().refusal("Sorry.").expect_score(0.0).expect_note("refused, should answer").expect_asked(0);
        two_sentences().should_refuse().expect_score(0.0).expect_note("answered, should refuse").expect_asked(0);
        let no_reference = || two_sentences().references(&[]);
        no_reference().should_refuse().expect_score(0.0).expect_asked(0);
        no_reference().should_refuse().refusal("Sorry.").expect_not_applicable("as it should").expect_asked(0);
        no_reference().expect_not_applicable("no reference").expect_asked(0);
        no_reference().refusal("Sorry.").expect_not_applicable("no reference");
        two_sentences().answer(" ").expect_unmeasured("answer blank").expect_asked(0);
    }

    #[test]
    fn references_that_state_nothing_are_an_error_of_the_case() {
        two_sentences().references(&["", "…"]).expect_unmeasured("data error").expect_why("`case-1`").expect_asked(0);
    }

    #[test]
    fn of_several_references_the_best_counts() {
        let three = || two_sentences().references(&["One.", "…", "Two.", "One."]);
        assert_eq!(three().first_requests().len(), 2);
        let (half, full) = (reply("+-", "+"), reply("++", "+"));
        three().replies(&[half.clone(), half.clone()]).expect_score(2.0 / 3.0).expect_asked(2);
        three().replies(&[half.clone(), full.clone()]).expect_score(1.0).expect_asked(2);
        three().replies(&[full.clone(), half.clone()]).expect_score(1.0).expect_asked(2);
        let bad = json!({});
        three().replies(&[half, bad.clone(), bad.clone()]).expect_unmeasured("judge reply incomplete").expect_asked(3);
        three().replies(&[full, bad.clone(), bad]).expect_score(1.0).expect_asked(3);
    }

    #[test]
    fn a_reply_that_does_not_fit_is_asked_again_and_then_unmeasured() {
        for bad in [
            reply("++", "+"),
            reply("+", "++"),
            json!({"answer": [{"n": 1, "no_claim": true}, {"n": 2, "no_claim": true}]}),
            json!({"answer": [{"n": 1, "no_claim": true}, {"n": 2, "verdict": "right"}],
                   "reference": [{"n": 1, "verdict": "covered"}, {"n": 2, "verdict": "covered"}]}),
            json!({"answer": [{"n": 1, "no_claim": true}, {"n": 2, "verdict": "correct"}],
                   "reference": [{"n": 1, "verdict": "covered"}, {"n": 2, "no_claim": true}]}),
        ] {
            let both = [bad.clone(), bad.clone()];
            two_sentences().replies(&both).expect_unmeasured("judge reply incomplete").expect_asked(2);
            two_sentences().replies(&[bad, reply("++", "++")]).expect_score(1.0).expect_asked(2);
        }
    }

    fn weighted(weight: f64) -> Try {
        two_sentences().param("similarity_weight", json!(weight))
    }

    #[test]
    fn likeness_counts_by_its_weight_and_never_below_0() {
        let half = || reply("+-", "+-");
        weighted(0.25).replies(&[json!([0.5]), half()]).expect_score(0.5).expect_asked(2).expect_note("cosine 0.500");
        weighted(0.25).replies(&[json!([1.0]), half()]).expect_score(0.625);
        weighted(0.25).replies(&[json!([-1.0]), half()]).expect_score(0.375);
        weighted(0.25).replies(&[json!([1.0]), reply("++", "++")]).expect_score(1.0);
        weighted(1.0).replies(&[json!([0.75]), half()]).expect_score(0.75);
        weighted(0.0).replies(&[half()]).expect_score(0.5).expect_asked(1);
        assert_eq!(weighted(0.25).replies(&[json!([1.0]), half()]).detail().similarity, Some(1.0));
        weighted(0.25).answer("Refunds take 30 days. They are free.").expect_score(1.0).expect_asked(0);
        weighted(0.25)
            .replies(&[json!([0.5]), reply("00", "--")])
            .expect_unmeasured("no claims in a non-refusal answer");
    }

    #[test]
    fn of_several_references_the_best_of_both_counts() {
        // The one that is nearer in wording is further off in what it says.
        let two = || weighted(0.5).references(&["One.", "Two."]);
        let (half, none) = (reply("+-", "+"), reply("--", "-"));
        two().replies(&[json!([0.0, 1.0]), half.clone(), none.clone()]).expect_score(0.5).expect_asked(3);
        two().replies(&[json!([0.5, 0.5]), half, none]).expect_score(0.5 / 1.5 + 0.25);
    }

    #[test]
    fn without_a_similarity_there_is_no_score() {
        let failed = |ending| Reply::Failed { ending, why: "so it was".to_owned() };
        for (ending, cause) in [(Ending::Unsupported, "no embedder"), (Ending::TimeOut, "embedder time-out")] {
            let replies = vec![failed(ending), Reply::Value { value: reply("++", "++") }];
            weighted(0.25).raw_replies(replies).expect_unmeasured(cause).expect_why("so it was");
        }
    }
}
