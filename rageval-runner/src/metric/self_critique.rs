//! The metric `self_critique`: three grades of the answer, weighed in code.

use serde_json::Value;

use super::{
    Formula, Input, Kind, Made, Metric, Params, Step,
    answering::{Answering, WRONG_REFUSAL, blank, right_refusal},
    asking::{self, Reading},
    material::Readable,
    numbered::Part,
    scoring::scored,
    worked::equals,
};
use crate::model::{Detail, Expectation, GoldenCase, JudgeRequest, Outcome, Transcript, UnitInterval};

/// Three grades from 0 to 10, weighed and divided by 10: faithfulness 0.40, relevance 0.35, completeness 0.25.
///
/// The one metric that reads grades instead of counting verdicts, so it is as coarse as the judge's sense of a number. The note says
/// APPROVE from 7 of 10 on, else REVISE, with the grades, issues and improvements; the judge's own word on that is not asked for.
///
/// Without a readable context faithfulness counts as 0, whatever the judge says. A wrong refusal is 0 without asking. Not applicable to a
/// right refusal. Unmeasured for a blank answer.
#[derive(Debug, Clone, Copy)]
pub struct SelfCritique;

/// The highest grade.
const HIGHEST: f64 = 10.0;

/// Hundredths that each grade weighs.
const FAITHFULNESS: f64 = 40.0;
const RELEVANCE: f64 = 35.0;
const COMPLETENESS: f64 = 25.0;

/// The score from which an answer is approved, with the slack of every comparison.
const APPROVED: f64 = 0.7 - 1e-9;

impl Metric for SelfCritique {
    fn name(&self) -> &str {
        "self_critique"
    }

    fn about(&self) -> &str {
        "weighted grades of the answer's faithfulness, relevance and completeness"
    }

    fn formula(&self, _params: &Params) -> Formula {
        Formula::of("(0.40 x faithfulness + 0.35 x relevance + 0.25 x completeness) / 10, each a grade from 0 to 10")
    }

    fn worked(&self, Made { input, transcript, detail, .. }: &Made<'_>) -> Option<Vec<String>> {
        let contexts = Readable::of(input.sample);
        let read = asking::read(transcript, &request(input, &contexts), Critique::read);
        let Reading::Read(Critique { faithfulness, relevance, completeness, .. }) = read else { return None };
        let faithfulness = if contexts.is_empty() { 0.0 } else { faithfulness };
        let grades = [(FAITHFULNESS, faithfulness), (RELEVANCE, relevance), (COMPLETENESS, completeness)];
        let terms = grades.map(|(weight, grade)| format!("{:.2} x {grade}", weight / 100.0)).join(" + ");
        let sum = grades.iter().map(|(weight, grade)| weight * grade).sum::<f64>() / 100.0;
        let note = detail.note.iter().cloned();
        Some(note.chain([format!("({terms}) / {HIGHEST}{}", equals(sum / HIGHEST))]).collect())
    }

    fn kind(&self) -> Kind {
        Kind::Judged
    }

    fn not_applicable(&self, _case: &GoldenCase, _params: &Params) -> Option<String> {
        None
    }

    fn step(&self, input: &Input<'_>, transcript: &Transcript) -> Step {
        match (Answering::of(input.sample), input.case.expectation) {
            (Answering::Blank, _) => return Step::Done(blank(input)),
            (Answering::Refused, Expectation::Refuse) => return Step::Done(right_refusal()),
            (Answering::Refused, Expectation::Answer) => {
                let note = Some(WRONG_REFUSAL.to_owned());
                return Step::Done(Outcome::scored_with(UnitInterval::ZERO, Detail { note, ..Detail::default() }));
            }
            (Answering::Answered, Expectation::Answer | Expectation::Refuse) => {}
        }
        let contexts = Readable::of(input.sample);
        let request = request(input, &contexts);
        asking::read(transcript, &request, Critique::read).then(|critique| critique.outcome(&contexts))
    }
}

fn request(input: &Input<'_>, contexts: &Readable<'_>) -> JudgeRequest {
    JudgeRequest::new("self_critique.grades", input.language())
        .text("query", &input.case.query)
        .text("answer", &input.sample.answer.response)
        .numbered("contexts", contexts.texts())
}

/// What the judge says.
struct Critique {
    faithfulness: f64,
    relevance: f64,
    completeness: f64,
    issues: Vec<String>,
    improvements: Vec<String>,
}

impl Critique {
    fn read(reply: &Value) -> Result<Self, String> {
        let part = Part::whole(reply)?;
        let grade = |name| part.grade(name, HIGHEST)?.ok_or_else(|| format!("the reply has no `{name}`"));
        let lines = |name| -> Result<Vec<String>, String> {
            // A note is one line.
            Ok(part.texts(name)?.iter().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")).collect())
        };
        Ok(Self {
            faithfulness: grade("faithfulness")?,
            relevance: grade("relevance")?,
            completeness: grade("completeness")?,
            issues: lines("issues")?,
            improvements: lines("improvements")?,
        })
    }

    fn outcome(self, contexts: &Readable<'_>) -> Outcome {
        let (faithfulness, no_contexts) =
            if contexts.is_empty() { (0.0, " (no contexts)") } else { (self.faithfulness, "") };
        let (relevance, completeness) = (self.relevance, self.completeness);
        // In hundredths of a grade, so that three times the highest is exactly 1.
        let hundredths = FAITHFULNESS * faithfulness + RELEVANCE * relevance + COMPLETENESS * completeness;
        let score = hundredths / (HIGHEST * (FAITHFULNESS + RELEVANCE + COMPLETENESS));
        let word = if APPROVED <= score { "APPROVE" } else { "REVISE" };
        let mut note = format!(
            "{word}: faithfulness {faithfulness}{no_contexts}, relevance {relevance}, completeness {completeness}"
        );
        for (what, list) in [("issues", &self.issues), ("improvements", &self.improvements)] {
            if !list.is_empty() {
                note = format!("{note}; {what}: {}", list.join("; "));
            }
        }
        scored(score, Detail { note: Some(note), ..Detail::default() })
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
        Try::of(&SelfCritique).answer("30 days.").contexts(vec![context("refunds", "Within 30 days.")])
    }

    fn reply(faithfulness: f64, relevance: f64, completeness: f64) -> Value {
        json!({"faithfulness": faithfulness, "relevance": relevance, "completeness": completeness})
    }

    #[test]
    fn the_request_shows_question_answer_and_contexts() {
        let expected = JudgeRequest::new("self_critique.grades", Language::En)
            .text("query", "How long do refunds take?")
            .text("answer", "30 days.")
            .numbered("contexts", ["Within 30 days."]);
        assert_eq!(tried().first_request(), expected);
    }

    #[test]
    fn grades_are_weighed_in_code_and_approved_from_7() {
        for (grades, score, word) in [
            ((10.0, 10.0, 10.0), 1.0, "APPROVE"),
            ((7.0, 7.0, 7.0), 0.7, "APPROVE"),
            ((10.0, 8.0, 0.8), 0.7, "APPROVE"),
            ((7.0, 7.0, 6.9), 0.6975, "REVISE"),
            ((10.0, 0.0, 0.0), 0.4, "REVISE"),
            ((0.0, 10.0, 0.0), 0.35, "REVISE"),
            ((0.0, 0.0, 10.0), 0.25, "REVISE"),
            ((0.0, 0.0, 0.0), 0.0, "REVISE"),
        ] {
            let (faithfulness, relevance, completeness) = grades;
            let mut reply = reply(faithfulness, relevance, completeness);
            reply["score"] = json!(10);
            reply["decision"] = json!("APPROVE");
            tried().replies(&[reply]).expect_score(score).expect_note(word);
        }
    }

    #[test]
    fn issues_and_improvements_are_kept() {
        let mut reply = reply(9.0, 8.0, 5.0);
        reply["issues"] = json!(["no\nfee named", " "]);
        reply["improvements"] = json!(["name the fee", "say from when"]);
        tried().replies(&[reply]).expect_note(
            "APPROVE: faithfulness 9, relevance 8, completeness 5; issues: no fee named; improvements: name the fee; say from when",
        );
    }

    #[test]
    fn an_answer_without_contexts_is_faithful_to_nothing() {
        tried().contexts(vec![]).replies(&[reply(10.0, 10.0, 10.0)]).expect_score(0.6).expect_note("0 (no contexts)");
    }

    #[test]
    fn refusals_are_settled_without_asking_and_silence_is_unmeasured() {
        tried().refusal("Sorry.").expect_score(0.0).expect_note("refused, should answer").expect_asked(0);
        tried().should_refuse().refusal("Sorry.").expect_not_applicable("as it should").expect_asked(0);
        tried().should_refuse().replies(&[reply(5.0, 5.0, 5.0)]).expect_score(0.5);
        tried().answer(" ").expect_unmeasured("answer blank").expect_asked(0);
    }

    #[test]
    fn a_reply_that_does_not_fit_is_asked_again_and_then_unmeasured() {
        for bad in [
            json!({"faithfulness": 8, "relevance": 8}),
            json!({"faithfulness": 80, "relevance": 8, "completeness": 8}),
            json!({"faithfulness": "8", "relevance": 8, "completeness": 8}),
            json!({"faithfulness": null, "relevance": 8, "completeness": 8}),
            json!({"faithfulness": 8, "relevance": 8, "completeness": 8, "issues": "none"}),
            json!(8),
        ] {
            let both = [bad.clone(), bad.clone()];
            tried().replies(&both).expect_unmeasured("judge reply incomplete").expect_asked(2);
            tried().replies(&[bad, reply(10.0, 10.0, 10.0)]).expect_score(1.0).expect_asked(2);
        }
    }
}
