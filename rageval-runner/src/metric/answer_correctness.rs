//! The metric `answer_correctness`: whether the answer says what the reference answer says, no less and no more.

use serde_json::Value;

use super::{
    Input, Kind, Metric, Params, Step,
    answering::{Answering, WRONG_ANSWER, WRONG_REFUSAL, blank, right_refusal},
    asking::{self, Reading},
    cause,
    material::{named, sentences, stating_sentences},
    numbered::entries,
    scoring::{claim_of, no_claims, supported},
};
use crate::{
    model::{
        Claim, Detail, Evidence, Expectation, GoldenCase, JudgeRequest, Outcome, Transcript, UnitInterval, Verdict,
    },
    text,
};

/// Agreement of the answer's statements with those of the reference, 0 to 1.
///
/// TP / (TP + (FP + FN) / 2): TP correct and FP wrong sentences of the answer, FN reference sentences that the answer misses, after
/// RAGAS's answer correctness without its similarity term. Of several references the best counts, one request each.
///
/// An answer equal to a reference after normalisation is 1 without asking; so are, as 0, a refusal of a question that has an answer and
/// an answer to one that should be declined. A right refusal and a case without reference are not applicable. Unmeasured for a blank
/// answer, for an answer without statements, and for references that state nothing.
#[derive(Debug, Clone, Copy)]
pub struct AnswerCorrectness;

const ANSWER: [(&str, Verdict); 2] = [("correct", Verdict::Supported), ("wrong", Verdict::Contradicted)];
const REFERENCE: [(&str, Verdict); 2] = [("covered", Verdict::Supported), ("missing", Verdict::Unsupported)];

impl Metric for AnswerCorrectness {
    fn name(&self) -> &str {
        "answer_correctness"
    }

    fn about(&self) -> &str {
        "agreement of the answer's statements with those of the reference answer"
    }

    fn kind(&self) -> Kind {
        Kind::Judged
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
    for (_, reference) in &references {
        let request = JudgeRequest::new("answer_correctness.statements", input.language())
            .text("query", &input.case.query)
            .numbered("answer", answer.iter())
            .numbered("reference", reference.iter());
        match asking::read(transcript, &request, |reply| Statements::read(reply, &answer, reference)) {
            Reading::Ask(request) if requests.contains(&request) => {}
            Reading::Ask(request) => requests.push(request),
            Reading::Read(statements) => outcomes.push(statements.outcome()),
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

/// What the judge says of an answer against one reference.
struct Statements {
    answer: Vec<Claim>,
    reference: Vec<Claim>,
}

impl Statements {
    fn read(reply: &Value, answer: &[String], reference: &[String]) -> Result<Self, String> {
        let mut statements = Self { answer: Vec::new(), reference: Vec::new() };
        for (part, sentence) in entries(reply, "answer", answer.len())?.iter().zip(answer) {
            let evidence = part.text("quote")?.map(|quote| Evidence { id: None, text: quote.to_owned() });
            let claim = claim_of(part, &ANSWER, sentence)?;
            statements.answer.extend(claim.map(|claim| Claim { evidence, ..claim }));
        }
        for (part, sentence) in entries(reply, "reference", reference.len())?.iter().zip(reference) {
            let verdict = part.one_of("verdict", &REFERENCE)?;
            let reason = part.text("reason")?.map(str::to_owned);
            statements.reference.push(Claim {
                text: format!("reference: {sentence}"),
                verdict,
                evidence: None,
                reason,
            });
        }
        Ok(statements)
    }

    fn outcome(self) -> Outcome {
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
            Some(score) => Outcome::scored_with(score, detail),
            None => no_claims(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{metric::trying::Try, model::Language};

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
}
