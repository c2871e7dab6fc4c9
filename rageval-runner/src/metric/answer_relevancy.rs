//! The metric `answer_relevancy`: whether the answer speaks to the question.

use serde_json::Value;

use super::{
    Formula, Input, Kind, Metric, Param, ParamKind, Params, Step,
    answering::{Answering, WRONG_REFUSAL, blank, right_refusal},
    asking::{self, Reading},
    material::sentences,
    numbered::{Part, entries},
    scoring::{claim_of, scored, share_of_claims, supported},
    similarity::{self, floored},
};
use crate::model::{
    Claim, Detail, EmbedRequest, Expectation, GoldenCase, JudgeRequest, Outcome, Transcript, UnitInterval, Verdict,
};

/// Whether the answer speaks to the question, 0 to 1. It compares the two only: whether the answer is true is not looked at.
///
/// With `mode: verdicts` (the default) the share of the answer's stating sentences that do: relevant / (relevant + irrelevant) over the
/// numbered sentences; greetings and the like hold no claim and don't count.
///
/// With `mode: questions` the mean cosine similarity of the query to questions that a judge makes from the answer alone, 0 where that
/// is below 0 and for a noncommittal answer: RAGAS's answer relevance (arXiv 2309.15217, section 3). It needs an embedder.
///
/// A wrong refusal is 0 and a right one not applicable, without asking. Unmeasured for a blank answer, and with `mode: verdicts` when no
/// sentence of an answer that is no refusal states anything.
#[derive(Debug, Clone, Copy)]
pub struct AnswerRelevancy;

const MODE: Param = Param {
    name: "mode",
    kind: ParamKind::OneOf(&["verdicts", QUESTIONS]),
    about: "`verdicts` (the default): the share of the answer's sentences that are relevant; `questions`: how like the question are those that the answer suggests",
};

const COUNT: Param = Param {
    name: "questions",
    kind: ParamKind::Whole(1, 20),
    about: "how many questions are made from the answer with `mode: questions`; 3 where it is left out",
};

const QUESTIONS: &str = "questions";

const DEFAULT_COUNT: usize = 3;

const WORDS: [(&str, Verdict); 2] = [("relevant", Verdict::Supported), ("irrelevant", Verdict::Unsupported)];

impl Metric for AnswerRelevancy {
    fn name(&self) -> &str {
        "answer_relevancy"
    }

    fn about(&self) -> &str {
        "whether the answer speaks to the question: by its sentences, or by the questions that it suggests"
    }

    fn formula(&self, params: &Params) -> Formula {
        if by_questions(params) {
            Formula::of(
                "mean cosine of the query to each question that the answer suggests; 0 below 0, and for a noncommittal answer",
            )
        } else {
            Formula::share(
                "sentences that speak to the question / sentences that state something",
                "statements relevant",
            )
        }
    }

    fn kind(&self) -> Kind {
        Kind::Judged
    }

    fn params(&self) -> &[Param] {
        &[MODE, COUNT]
    }

    fn needs_embedder(&self, params: &Params) -> bool {
        by_questions(params)
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
        if by_questions(input.params) {
            return suggested(input, transcript);
        }
        let sentences = sentences(&input.sample.answer.response, input.language());
        let request = JudgeRequest::new("answer_relevancy.verdicts", input.language())
            .text("query", &input.case.query)
            .numbered("sentences", sentences.iter());
        asking::read(transcript, &request, |reply| claims(reply, &sentences))
            .then(|claims| share_of_claims(supported(&claims), claims))
    }
}

fn by_questions(params: &Params) -> bool {
    params.text(MODE.name) == Some(QUESTIONS)
}

/// Measures by the questions that the answer suggests.
fn suggested(input: &Input<'_>, transcript: &Transcript) -> Step {
    let count = input.params.number(COUNT.name).map_or(DEFAULT_COUNT, |count| count as usize);
    // The judge does not see the query, or it would hand it back.
    let request = JudgeRequest::new("answer_relevancy.questions", input.language())
        .text("answer", &input.sample.answer.response)
        .text("count", count.to_string());
    let questions = match asking::read(transcript, &request, |reply| Suggested::read(reply, count)) {
        Reading::Ask(request) => return Step::Ask(vec![request]),
        Reading::Fault(fault) => return Step::Done(Outcome::Unmeasured { fault }),
        Reading::Read(Suggested::Nothing) => {
            let note = Some("noncommittal".to_owned());
            return Step::Done(Outcome::scored_with(UnitInterval::ZERO, Detail { note, ..Detail::default() }));
        }
        Reading::Read(Suggested::Questions(questions)) => questions,
    };
    similarity::read(transcript, EmbedRequest::new(&input.case.query, questions)).then(|similarities| {
        let mean = similarities.iter().sum::<f64>() / similarities.len() as f64;
        let note = format!("mean cosine {mean:.3} of {} questions to the query", similarities.len());
        scored(floored(mean), Detail { similarity: Some(mean), note: Some(note), ..Detail::default() })
    })
}

/// What an answer suggests to somebody who does not know the question.
enum Suggested {
    /// It evades whatever the question was.
    Nothing,
    /// Questions that it would answer.
    Questions(Vec<String>),
}

impl Suggested {
    fn read(reply: &Value, count: usize) -> Result<Self, String> {
        let question = |part: &Part<'_>| {
            let text = part.text("question")?.ok_or_else(|| format!("{} has no `question`", part.place()))?;
            Ok(text.to_owned())
        };
        let questions = entries(reply, "questions", count)?.iter().map(question).collect::<Result<Vec<_>, String>>()?;
        match Part::whole(reply)?.flag("noncommittal")? {
            Some(true) => Ok(Self::Nothing),
            Some(false) => Ok(Self::Questions(questions)),
            None => Err("`noncommittal` is missing".to_owned()),
        }
    }
}

fn claims(reply: &Value, sentences: &[String]) -> Result<Vec<Claim>, String> {
    let mut claims = Vec::new();
    for (part, sentence) in entries(reply, "sentences", sentences.len())?.iter().zip(sentences) {
        claims.extend(claim_of(part, &WORDS, sentence)?);
    }
    Ok(claims)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{metric::trying::Try, model::Language};

    fn two_sentences() -> Try {
        Try::of(&AnswerRelevancy).answer("Refunds take 30 days. Our shop is blue.")
    }

    fn reply(first: &str, second: &str) -> Value {
        json!({"sentences": [{"n": 1, "verdict": first}, {"n": 2, "verdict": second}]})
    }

    #[test]
    fn the_request_shows_the_question_and_the_sentences() {
        let expected = JudgeRequest::new("answer_relevancy.verdicts", Language::En)
            .text("query", "How long do refunds take?")
            .numbered("sentences", ["Refunds take 30 days.", "Our shop is blue."]);
        assert_eq!(two_sentences().first_request(), expected);
    }

    #[test]
    fn the_score_is_relevant_sentences_of_those_that_state_something() {
        two_sentences().replies(&[reply("relevant", "relevant")]).expect_share(2, 2);
        two_sentences().replies(&[reply("relevant", "irrelevant")]).expect_share(1, 2);
        two_sentences().replies(&[reply("irrelevant", "irrelevant")]).expect_share(0, 2);
        let half = json!({"sentences": [{"n": 1, "verdict": "relevant"}, {"n": 2, "no_claim": true}]});
        two_sentences().replies(&[half]).expect_share(1, 1);
        let none = json!({"sentences": [{"n": 1, "no_claim": true}, {"n": 2, "no_claim": true}]});
        two_sentences().replies(&[none]).expect_unmeasured("no claims in a non-refusal answer");
    }

    #[test]
    fn refusals_are_settled_without_asking() {
        two_sentences().refusal("Sorry.").expect_score(0.0).expect_note("refused, should answer").expect_asked(0);
        two_sentences().should_refuse().refusal("Sorry.").expect_not_applicable("as it should").expect_asked(0);
        two_sentences().should_refuse().replies(&[reply("relevant", "irrelevant")]).expect_share(1, 2);
        two_sentences().answer("").expect_unmeasured("answer blank").expect_asked(0);
    }

    #[test]
    fn a_reply_that_does_not_fit_is_asked_again_and_then_unmeasured() {
        for bad in [
            json!({"sentences": [{"n": 1, "verdict": "relevant"}]}),
            reply("relevant", "maybe"),
            json!({"sentences": [{"n": 1, "verdict": "relevant"}, {"n": 2, "verdict": "relevant", "no_claim": true}]}),
            json!({"sentences": [{"n": 1, "verdict": "relevant"}, {"n": 1, "verdict": "irrelevant"}]}),
            json!({"score": 0.9}),
        ] {
            let both = [bad.clone(), bad.clone()];
            two_sentences().replies(&both).expect_unmeasured("judge reply incomplete").expect_asked(2);
            two_sentences().replies(&[bad, reply("relevant", "relevant")]).expect_share(2, 2).expect_asked(2);
        }
    }

    fn by_three_questions() -> Try {
        Try::of(&AnswerRelevancy).answer("Refunds take 30 days.").param("mode", json!("questions"))
    }

    fn suggests(questions: &[&str], noncommittal: bool) -> Value {
        let numbered = questions.iter().zip(1..).map(|(question, n): (_, usize)| json!({"n": n, "question": question}));
        json!({"questions": numbered.collect::<Vec<_>>(), "noncommittal": noncommittal})
    }

    const THREE: [&str; 3] = ["How long do refunds take?", "When is the money back?", "What takes 30 days?"];

    #[test]
    fn questions_are_asked_for_from_the_answer_alone() {
        let expected = JudgeRequest::new("answer_relevancy.questions", Language::En)
            .text("answer", "Refunds take 30 days.")
            .text("count", "3");
        assert_eq!(by_three_questions().first_request(), expected);
        let two = by_three_questions().param("questions", json!(2)).first_request();
        assert_eq!(two.text_of("count"), Some("2"));
    }

    #[test]
    fn the_score_is_the_mean_cosine_and_never_below_0() {
        let with = |cosines: Value| by_three_questions().replies(&[suggests(&THREE, false), cosines]);
        with(json!([1.0, 0.5, 0.75]))
            .expect_score(0.75)
            .expect_note("mean cosine 0.750 of 3 questions")
            .expect_asked(2);
        with(json!([1.0, 1.0, 1.0])).expect_score(1.0);
        with(json!([-0.5, 0.25, 1.0])).expect_score(0.25);
        with(json!([-1.0, -0.5, 0.0])).expect_score(0.0).expect_note("mean cosine -0.500");
        let detail = with(json!([-1.0, -0.5, 0.0])).detail();
        assert_eq!((detail.similarity, detail.k_of_n, detail.claims), (Some(-0.5), None, Vec::new()));
        with(json!([1.0, 1.0])).expect_unmeasured("embedder error");
    }

    #[test]
    fn a_noncommittal_answer_is_0_without_vectors() {
        let evasive = by_three_questions().replies(&[suggests(&THREE, true)]);
        evasive.expect_score(0.0).expect_note("noncommittal").expect_asked(1);
    }

    #[test]
    fn refusals_and_blanks_are_settled_as_in_the_other_mode() {
        by_three_questions().refusal("Sorry.").expect_score(0.0).expect_note("refused, should answer").expect_asked(0);
        by_three_questions().should_refuse().refusal("Sorry.").expect_not_applicable("as it should").expect_asked(0);
        by_three_questions().answer(" ").expect_unmeasured("answer blank").expect_asked(0);
    }

    #[test]
    fn other_than_the_wanted_number_of_questions_is_asked_again() {
        let good = suggests(&THREE, false);
        for bad in [
            suggests(&THREE[..2], false),
            suggests(&["A?", "B?", " "], false),
            suggests(&["A?", "B?", "C?", "D?"], false),
            json!({"questions": ["A?", "B?", "C?"], "noncommittal": false}),
            json!({"questions": good["questions"]}),
            json!({"questions": good["questions"], "noncommittal": 0}),
        ] {
            let both = [bad.clone(), bad.clone()];
            by_three_questions().replies(&both).expect_unmeasured("judge reply incomplete").expect_asked(2);
            let cosines = json!([0.5, 0.5, 0.5]);
            by_three_questions().replies(&[bad, good.clone(), cosines]).expect_score(0.5).expect_asked(3);
        }
    }
}
