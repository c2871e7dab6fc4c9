//! Tells an answer, a refusal and a blank apart, the same way for every metric.

use crate::{
    metric::{Input, cause},
    model::{Outcome, Sample},
};

/// What a sample amounts to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answering {
    /// It says something, and does not decline.
    Answered,
    /// It declines. A blank answer is a refusal only by the system's own flag: silence is not taken for one.
    Refused,
    /// It holds no text, and the system does not say that it declined.
    Blank,
}

impl Answering {
    /// What this sample amounts to.
    pub fn of(sample: &Sample) -> Self {
        if sample.is_blank() {
            if sample.is_refusal && sample.answer.refused == Some(true) { Self::Refused } else { Self::Blank }
        } else if sample.is_refusal {
            Self::Refused
        } else {
            Self::Answered
        }
    }
}

/// The outcome of a metric that needs an answer's text and got a blank one: unmeasured.
pub fn blank(input: &Input<'_>) -> Outcome {
    Outcome::unmeasured(
        cause::ANSWER_BLANK,
        format!(
            "the answer to case `{}` has no text; a system that declines without words says so with its `refused` flag",
            input.case.id
        ),
    )
}

/// The outcome of an answer metric on a right refusal: not applicable.
pub fn right_refusal() -> Outcome {
    Outcome::not_applicable("the system declined, as it should")
}

/// The note on a refusal of a question that has an answer.
pub const WRONG_REFUSAL: &str = "refused, should answer";

/// The note on an answer to a question that should be declined.
pub const WRONG_ANSWER: &str = "answered, should refuse";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Answer;

    fn amounts_to(text: &str, refused: Option<bool>, is_refusal: bool) -> Answering {
        let answer = Answer { response: text.to_owned(), refused, ..Answer::default() };
        Answering::of(&Sample { answer, is_refusal, latency_ms: Some(0.0) })
    }

    #[test]
    fn silence_is_a_refusal_only_by_the_systems_own_word() {
        assert_eq!(amounts_to(" \n", None, true), Answering::Blank);
        assert_eq!(amounts_to(" \n", None, false), Answering::Blank);
        assert_eq!(amounts_to("", Some(true), true), Answering::Refused);
        assert_eq!(amounts_to("", Some(false), false), Answering::Blank);
    }

    #[test]
    fn what_was_settled_of_a_text_is_followed() {
        assert_eq!(amounts_to("I can't say.", None, true), Answering::Refused);
        assert_eq!(amounts_to("I can't say.", Some(false), false), Answering::Answered);
    }
}
