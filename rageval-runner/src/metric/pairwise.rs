//! The metric `pairwise`: whether the answer is better than the accepted run's answer to the same case.

use serde_json::Value;

use super::{
    Formula, Input, Kind, Metric, Param, ParamKind, Params, Step,
    answering::{Answering, blank, right_refusal},
    asking::{self, Reading},
    cause,
    numbered::Part,
};
use crate::model::{Detail, Expectation, GoldenCase, JudgeRequest, Outcome, Request, Sample, Transcript, UnitInterval};

/// 1 where a judge prefers the answer to the baseline's, 0 where it prefers the baseline's, 0.5 for a tie.
///
/// The judge is asked twice, with the two answers in both orders; what it prefers in one order only is the place and not the answer, and
/// counts as a tie (Zheng et al. 2023, arXiv 2306.05685, section 3.4). Which order is asked first is drawn from the case's id.
///
/// Answers that are equal but for outer blanks are a tie, refusals are decided, both without asking: on a question that has an answer, who
/// declines loses to who answers, and two that decline tie; on one that should be declined, an answer loses to a refusal and ties with an
/// answer.
///
/// Not applicable to a right refusal, and where there is no baseline answer: no `regression.baseline`, or a case that it lacks or that has
/// changed since. Unmeasured for a blank answer on either side.
#[derive(Debug, Clone, Copy)]
pub struct Pairwise;

/// What came of comparing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Preferred {
    Candidate,
    Baseline,
    Neither,
}

impl Preferred {
    fn word(self) -> &'static str {
        match self {
            Self::Candidate => "the answer",
            Self::Baseline => "the baseline's answer",
            Self::Neither => "a tie",
        }
    }
}

/// Whose answer stands first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    CandidateFirst,
    BaselineFirst,
}

impl Metric for Pairwise {
    fn name(&self) -> &str {
        "pairwise"
    }

    fn about(&self) -> &str {
        "whether the answer is better than the baseline's: 1 better, 0.5 a tie, 0 worse"
    }

    fn formula(&self, _params: &Params) -> Formula {
        Formula::of(
            "1 when the answer is preferred to the baseline's in both orders, 0 when the baseline's is, else 0.5",
        )
    }

    fn kind(&self) -> Kind {
        Kind::Judged
    }

    fn params(&self) -> &[Param] {
        &[Param {
            name: "criteria",
            kind: ParamKind::Text,
            about: "what makes an answer better; that it says more of what was asked for, and correctly, where it is left out",
        }]
    }

    fn reads_baseline(&self) -> bool {
        true
    }

    fn not_applicable(&self, _case: &GoldenCase, _params: &Params) -> Option<String> {
        None
    }

    fn step(&self, input: &Input<'_>, transcript: &Transcript) -> Step {
        let Some(baseline) = input.baseline else {
            return Step::Done(Outcome::not_applicable("no baseline answer"));
        };
        if let Some(outcome) = without_asking(input, baseline) {
            return Step::Done(outcome);
        }
        let mut asks: Vec<Request> = Vec::new();
        let mut found = Vec::new();
        for order in orders(input.case.id.as_str()) {
            match asking::read(transcript, &request(input, baseline, order), |reply| preferred(reply, order)) {
                Reading::Read(preferred) => found.push((order, preferred)),
                Reading::Ask(request) => asks.push(request),
                Reading::Fault(fault) => return Step::Done(Outcome::Unmeasured { fault }),
            }
        }
        match found[..] {
            [(_, one), (_, other)] if one == other => {
                scored(one, format!("the judge prefers {} in both orders", one.word()))
            }
            [(order, one), (_, other)] => {
                let (first, second) = match order {
                    Order::CandidateFirst => (one, other),
                    Order::BaselineFirst => (other, one),
                };
                let note = format!(
                    "the orders disagree, so it is a tie: {} with the answer first, {} with the baseline's first",
                    first.word(),
                    second.word()
                );
                scored(Preferred::Neither, note)
            }
            _ => Step::Ask(asks),
        }
    }
}

fn outcome(preferred: Preferred, note: impl Into<String>) -> Outcome {
    let score = match preferred {
        Preferred::Candidate => UnitInterval::ONE,
        Preferred::Baseline => UnitInterval::ZERO,
        Preferred::Neither => UnitInterval::HALF,
    };
    Outcome::scored_with(score, Detail { note: Some(note.into()), ..Detail::default() })
}

fn scored(preferred: Preferred, note: String) -> Step {
    Step::Done(outcome(preferred, note))
}

/// What is settled by refusals, silence and equality alone.
fn without_asking(input: &Input<'_>, baseline: &Sample) -> Option<Outcome> {
    let expectation = input.case.expectation;
    match (Answering::of(input.sample), Answering::of(baseline), expectation) {
        (Answering::Blank, _, _) => Some(blank(input)),
        (Answering::Refused, _, Expectation::Refuse) => Some(right_refusal()),
        (_, Answering::Blank, _) => Some(Outcome::unmeasured(
            cause::BASELINE,
            format!(
                "the baseline's answer to case `{}` has no text to compare with; accept a run that has",
                input.case.id
            ),
        )),
        (Answering::Refused, Answering::Refused, Expectation::Answer) => {
            Some(outcome(Preferred::Neither, "both refused, should answer"))
        }
        (Answering::Refused, Answering::Answered, Expectation::Answer) => {
            Some(outcome(Preferred::Baseline, "refused, should answer; the baseline answered"))
        }
        (Answering::Answered, Answering::Refused, Expectation::Answer) => {
            Some(outcome(Preferred::Candidate, "answered; the baseline refused, should answer"))
        }
        (Answering::Answered, Answering::Refused, Expectation::Refuse) => {
            Some(outcome(Preferred::Baseline, "answered, should refuse; the baseline refused"))
        }
        (Answering::Answered, Answering::Answered, Expectation::Refuse) => {
            Some(outcome(Preferred::Neither, "both answered, should refuse"))
        }
        (Answering::Answered, Answering::Answered, Expectation::Answer) => {
            let is_equal = input.sample.answer.response.trim() == baseline.answer.response.trim();
            is_equal.then(|| outcome(Preferred::Neither, "the same answer as the baseline's"))
        }
    }
}

/// Both orders; which comes first is drawn from the case's id, so that neither side has the better place in all cases.
fn orders(id: &str) -> [Order; 2] {
    if blake3::hash(id.as_bytes()).as_bytes()[0] & 1 == 0 {
        [Order::CandidateFirst, Order::BaselineFirst]
    } else {
        [Order::BaselineFirst, Order::CandidateFirst]
    }
}

fn request(input: &Input<'_>, baseline: &Sample, order: Order) -> JudgeRequest {
    let (candidate, baseline) = (&input.sample.answer.response, &baseline.answer.response);
    let (first, second) = match order {
        Order::CandidateFirst => (candidate, baseline),
        Order::BaselineFirst => (baseline, candidate),
    };
    let mut request = JudgeRequest::new("pairwise.preference", input.language());
    if let Some(criteria) = input.params.text("criteria") {
        request = request.text("criteria", criteria);
    }
    request.text("query", &input.case.query).text("first", first).text("second", second)
}

fn preferred(reply: &Value, order: Order) -> Result<Preferred, String> {
    let (first, second) = match order {
        Order::CandidateFirst => (Preferred::Candidate, Preferred::Baseline),
        Order::BaselineFirst => (Preferred::Baseline, Preferred::Candidate),
    };
    Part::whole(reply)?.one_of("preferred", &[("first", first), ("second", second), ("tie", Preferred::Neither)])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{metric::trying::Try, model::Reply};

    fn tried() -> Try {
        Try::of(&Pairwise).answer("Within 30 days.").baseline("Ask us.")
    }

    /// What a judge replies who prefers the block that holds this text.
    fn by_text(text: &'static str) -> impl FnMut(&JudgeRequest) -> Reply {
        move |request| {
            let preferred = if request.text_of("first") == Some(text) { "first" } else { "second" };
            Reply::Value { value: json!({"preferred": preferred}) }
        }
    }

    fn by_place(place: &'static str) -> impl FnMut(&JudgeRequest) -> Reply {
        move |_| Reply::Value { value: json!({"preferred": place}) }
    }

    #[test]
    fn both_orders_are_asked_at_once_and_nothing_else_differs() {
        let requests = tried().param("criteria", json!("kindness")).first_requests();
        let [one, other] = &requests[..] else { panic!("{requests:?}") };
        assert_eq!(one.text_of("criteria"), Some("kindness"));
        assert_eq!((one.text_of("first"), one.text_of("second")), (other.text_of("second"), other.text_of("first")));
        assert_eq!(one.text_of("query"), other.text_of("query"));
        assert_eq!(tried().first_requests()[0].text_of("criteria"), None);
    }

    #[test]
    fn which_order_comes_first_depends_on_the_case_alone() {
        let first = |id: &str| tried().id(id).first_requests()[0].text_of("first").map(str::to_owned);
        let firsts: Vec<_> = (0..32).map(|n| first(&format!("case-{n}"))).collect();
        let candidate = firsts.iter().filter(|text| text.as_deref() == Some("Within 30 days.")).count();
        assert!((6..=26).contains(&candidate), "{candidate} of 32 begin with the candidate");
        assert_eq!(first("case-7"), first("case-7"));
    }

    #[test]
    fn a_preference_counts_where_both_orders_agree() {
        for id in ["case-1", "case-2", "case-3", "case-4"] {
            let score = |judge: &mut dyn FnMut(&JudgeRequest) -> Reply| {
                let (outcome, asked) = tried().id(id).run_by(judge);
                assert_eq!(asked, 2);
                outcome.score().map(UnitInterval::get)
            };
            assert_eq!(score(&mut by_text("Within 30 days.")), Some(1.0), "{id}");
            assert_eq!(score(&mut by_text("Ask us.")), Some(0.0), "{id}");
            assert_eq!(score(&mut by_place("tie")), Some(0.5), "{id}");
            // A judge that always takes the first, or the second, has no preference between the answers.
            assert_eq!(score(&mut by_place("first")), Some(0.5), "{id}");
            assert_eq!(score(&mut by_place("second")), Some(0.5), "{id}");
        }
    }

    #[test]
    fn a_disagreement_says_which_order_said_what() {
        let (outcome, _) = tried().run_by(by_place("first"));
        let note = outcome.detail().and_then(|detail| detail.note.clone()).expect("a note");
        let expected = "the orders disagree, so it is a tie: the answer with the answer first, the baseline's answer \
                        with the baseline's first";
        assert_eq!(note, expected);
        let half = |request: &JudgeRequest| {
            let word = if request.text_of("first") == Some("Ask us.") { "tie" } else { "first" };
            Reply::Value { value: json!({"preferred": word}) }
        };
        assert_eq!(tried().run_by(half).0.score(), Some(UnitInterval::HALF), "a win and a tie disagree");
    }

    #[test]
    fn without_a_baseline_answer_there_is_nothing_to_compare() {
        Try::of(&Pairwise).answer("30 days.").expect_not_applicable("no baseline answer").expect_asked(0);
        tried().baseline(" ").expect_unmeasured("baseline answer blank").expect_asked(0);
        tried().answer("").expect_unmeasured("answer blank").expect_asked(0);
    }

    #[test]
    fn equal_answers_tie_without_asking() {
        tried().answer("Ask us.\n").expect_score(0.5).expect_note("same answer").expect_asked(0);
    }

    #[test]
    fn refusals_are_decided_without_asking() {
        let (refusal, other) = ("I don't know.", "I can't help with that.");
        tried().refusal(refusal).expect_score(0.0).expect_note("the baseline answered").expect_asked(0);
        tried().baseline(refusal).expect_score(1.0).expect_note("the baseline refused").expect_asked(0);
        tried().refusal(refusal).baseline(other).expect_score(0.5).expect_note("both refused").expect_asked(0);
        let wrong = || tried().should_refuse();
        wrong().refusal(refusal).expect_not_applicable("as it should").expect_asked(0);
        wrong().refusal(refusal).baseline(other).expect_not_applicable("as it should").expect_asked(0);
        wrong().baseline(refusal).expect_score(0.0).expect_note("should refuse").expect_asked(0);
        wrong().expect_score(0.5).expect_note("both answered").expect_asked(0);
    }

    #[test]
    fn a_reply_that_does_not_fit_is_asked_again_and_then_unmeasured() {
        for bad in
            [json!({"preferred": "neither"}), json!({"preferred": null}), json!({"winner": "first"}), json!("tie")]
        {
            let replies = vec![bad.clone(); 4];
            tried().replies(&replies).expect_unmeasured("judge reply incomplete").expect_asked(4);
            let tie = json!({"preferred": "tie"});
            tried().replies(&[bad, tie.clone(), tie]).expect_score(0.5).expect_asked(3);
        }
    }
}
