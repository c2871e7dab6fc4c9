//! Asks the judge, and once more when the reply does not fit the question.

use serde_json::Value;

use crate::{
    metric::{Step, cause},
    model::{Ending, JudgeRequest, Outcome, Reply, Request, Transcript, Unmeasured},
};

/// How many characters of a reply an explanation quotes.
pub const QUOTED: usize = 200;

/// Characters of a connection's own words: those of a server, and some more.
const TOLD: usize = 500;

/// Where a metric stands with one question to the judge.
#[derive(Debug, Clone, PartialEq)]
pub enum Reading<T> {
    /// The reply fits the question.
    Read(T),
    /// This has to be asked first.
    Ask(Request),
    /// There is no reply that fits, and asking again is over.
    Fault(Unmeasured),
}

impl<T> Reading<T> {
    /// The step of a metric that has this one question.
    pub fn then(self, done: impl FnOnce(T) -> Outcome) -> Step {
        match self {
            Self::Read(read) => Step::Done(done(read)),
            Self::Ask(request) => Step::Ask(vec![request]),
            Self::Fault(fault) => Step::Done(Outcome::Unmeasured { fault }),
        }
    }
}

/// Reads the reply to a request; where `reader` refuses it, asks the same once more with `retry` 1 and reads that.
///
/// `reader` returns what it read, or why the reply does not fit the question. Of the endings without a value those are asked again
/// in which the judge answered in the wrong form (unreadable, empty, a tool call); the others would end the same way, or were
/// retried already by whoever asked.
pub fn read<T>(
    transcript: &Transcript,
    request: &JudgeRequest,
    reader: impl Fn(&Value) -> Result<T, String>,
) -> Reading<T> {
    let first = match attempt(transcript, request, 0, &reader) {
        Ok(reading) => return reading,
        Err(fault) => fault,
    };
    match attempt(transcript, request, 1, &reader) {
        Ok(Reading::Fault(fault)) | Err(fault) => {
            let why = format!("{}; the first reply, before it was asked again: {}", fault.why, first.why);
            Reading::Fault(Unmeasured { cause: fault.cause, why })
        }
        Ok(reading) => reading,
    }
}

/// Reads one try; `Err` is a fault after which asking again may help.
fn attempt<T>(
    transcript: &Transcript,
    request: &JudgeRequest,
    retry: u32,
    reader: &impl Fn(&Value) -> Result<T, String>,
) -> Result<Reading<T>, Unmeasured> {
    let request = Request::Judge(JudgeRequest { retry, ..request.clone() });
    match transcript.reply_to(&request) {
        None => Ok(Reading::Ask(request)),
        Some(Reply::Value { value }) => reader(value).map(Reading::Read).map_err(|why| {
            let why = format!("{}: {why}; the reply begins: {}", request.name(), shortened(&value.to_string()));
            Unmeasured::new(cause::REPLY_INCOMPLETE, why)
        }),
        Some(Reply::Failed { ending, why }) => {
            let fault = Unmeasured::new(ending.cause(), format!("{}: {}", request.name(), told(why)));
            if is_worth_asking_again(*ending) { Err(fault) } else { Ok(Reading::Fault(fault)) }
        }
    }
}

fn is_worth_asking_again(ending: Ending) -> bool {
    match ending {
        Ending::Unreadable | Ending::Empty | Ending::ToolCall => true,
        Ending::Length
        | Ending::ContentFilter
        | Ending::Refusal
        | Ending::TimeOut
        | Ending::Provider
        | Ending::Unsupported
        | Ending::Missing
        | Ending::Budget
        | Ending::NoKey => false,
    }
}

/// The first [`QUOTED`] characters of a text, with `...` where something is left out.
pub fn shortened(text: &str) -> String {
    first(text, QUOTED)
}

/// Why a connection gave no reply: longer than a quotation, since what to do stands behind what a server said.
pub fn told(why: &str) -> String {
    first(why, TOLD)
}

fn first(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::{AskedOf, Exchange, Language};

    fn request() -> JudgeRequest {
        JudgeRequest::new("test.number", Language::En).text("query", "how many?")
    }

    /// The reading after these replies, one a try.
    fn reading(replies: &[Reply]) -> Reading<u64> {
        let exchanges = replies
            .iter()
            .zip(0..)
            .map(|(reply, retry)| Exchange {
                of: AskedOf::Policy,
                request: Request::Judge(JudgeRequest { retry, ..request() }),
                reply: reply.clone(),
                source: None,
            })
            .collect();
        read(&Transcript { exchanges }, &request(), |value| value.as_u64().ok_or_else(|| "no number".to_owned()))
    }

    fn value(value: Value) -> Reply {
        Reply::Value { value }
    }

    fn failed(ending: Ending) -> Reply {
        Reply::Failed { ending, why: "so it was".to_owned() }
    }

    fn asks(retry: u32) -> Reading<u64> {
        Reading::Ask(Request::Judge(JudgeRequest { retry, ..request() }))
    }

    fn fault(reading: Reading<u64>) -> Unmeasured {
        match reading {
            Reading::Fault(fault) => fault,
            Reading::Read(_) | Reading::Ask(_) => panic!("expected a fault, got {reading:?}"),
        }
    }

    #[test]
    fn a_reply_that_fits_is_read_at_once() {
        assert_eq!(reading(&[]), asks(0));
        assert_eq!(reading(&[value(json!(7))]), Reading::Read(7));
    }

    #[test]
    fn a_reply_that_does_not_fit_is_asked_again_once() {
        let bad = value(json!("high"));
        assert_eq!(reading(std::slice::from_ref(&bad)), asks(1));
        assert_eq!(reading(&[bad.clone(), value(json!(7))]), Reading::Read(7));
        let fault = fault(reading(&[bad.clone(), bad]));
        assert_eq!(fault.cause, "judge reply incomplete");
        assert!(fault.why.contains("test.number: no number; the reply begins: \"high\""), "{}", fault.why);
    }

    #[test]
    fn endings_of_the_wrong_form_are_asked_again_and_the_others_are_final() {
        for ending in Ending::ALL {
            let after_one = reading(&[failed(ending)]);
            match ending {
                Ending::Unreadable | Ending::Empty | Ending::ToolCall => {
                    assert_eq!(after_one, asks(1), "{ending:?}");
                    assert_eq!(fault(reading(&[failed(ending), failed(ending)])).cause, ending.cause());
                    assert_eq!(reading(&[failed(ending), value(json!(7))]), Reading::Read(7));
                }
                Ending::Length
                | Ending::ContentFilter
                | Ending::Refusal
                | Ending::TimeOut
                | Ending::Provider
                | Ending::Unsupported
                | Ending::Missing
                | Ending::Budget
                | Ending::NoKey => assert_eq!(fault(after_one).cause, ending.cause(), "{ending:?}"),
            }
        }
    }

    #[test]
    fn a_fault_of_the_second_try_names_the_first_too() {
        let fault = fault(reading(&[value(json!(null)), failed(Ending::Missing)]));
        assert_eq!(fault.cause, "judge reply not stored");
        assert!(fault.why.contains("so it was") && fault.why.contains("no number"), "{}", fault.why);
    }

    #[test]
    fn long_replies_are_cut_between_characters() {
        assert_eq!(shortened("退款"), "退款");
        let long = "退".repeat(QUOTED + 1);
        assert_eq!(shortened(&long), format!("{}...", "退".repeat(QUOTED)));
        let why = format!("501 Not Implemented: {}; what to do", "x".repeat(QUOTED));
        assert_eq!(told(&why), why);
        assert_eq!(told(&why.repeat(3)).chars().count(), TOLD + 3);
    }
}
