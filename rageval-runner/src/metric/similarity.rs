//! Asks for cosine similarities, and reads what came back.

use serde_json::Value;

use super::{
    asking::{Reading, told},
    cause,
};
use crate::model::{EmbedRequest, Ending, Reply, Request, Transcript, Unmeasured};

/// The similarities that a request asks for, one for each of its `others`, from -1 to 1.
///
/// Nothing is asked again here: whoever asks has retried already, and vectors do not change.
pub(super) fn read(transcript: &Transcript, request: EmbedRequest) -> Reading<Vec<f64>> {
    let count = request.others.len();
    let request = Request::Embed(request);
    let fault = |cause: &str, why: &str| {
        Reading::Fault(Unmeasured::new(cause, format!("{}: {}", EmbedRequest::NAME, told(why))))
    };
    match transcript.reply_to(&request) {
        None => Reading::Ask(request),
        Some(Reply::Value { value }) => match numbers(value, count) {
            Some(similarities) => Reading::Read(similarities),
            None => fault(cause::EMBEDDER, &format!("not {count} numbers from -1 to 1: {value}")),
        },
        Some(Reply::Failed { ending, why }) => fault(cause_of(*ending), why),
    }
}

fn numbers(value: &Value, count: usize) -> Option<Vec<f64>> {
    let numbers = value.as_array().filter(|numbers| numbers.len() == count)?;
    numbers.iter().map(|number| number.as_f64().filter(|number| (-1.0..=1.0).contains(number))).collect()
}

/// The cause as counted in reports; a judge's word for it would send people to the wrong address.
fn cause_of(ending: Ending) -> &'static str {
    match ending {
        Ending::TimeOut => cause::EMBEDDER_TIME_OUT,
        Ending::Unsupported => cause::NO_EMBEDDER,
        Ending::Missing => cause::VECTOR_MISSING,
        Ending::Budget => ending.cause(),
        Ending::Unreadable
        | Ending::Empty
        | Ending::Length
        | Ending::ContentFilter
        | Ending::Refusal
        | Ending::ToolCall
        | Ending::NoKey
        | Ending::Provider => cause::EMBEDDER,
    }
}

/// The part of a similarity that enters a score: a text that points the other way is as far off as a score can say.
pub(super) fn floored(similarity: f64) -> f64 {
    similarity.max(0.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::{AskedOf, Exchange};

    fn reading(reply: Reply) -> Reading<Vec<f64>> {
        let request = EmbedRequest::new("q", ["a", "b"]);
        let exchange = Exchange { request: Request::Embed(request.clone()), reply, of: AskedOf::Policy, source: None };
        read(&Transcript { exchanges: vec![exchange] }, request)
    }

    #[test]
    fn a_reply_is_read_in_order_or_not_at_all() {
        assert_eq!(reading(Reply::Value { value: json!([0.5, -1]) }), Reading::Read(vec![0.5, -1.0]));
        for bad in
            [json!([0.5]), json!([0.5, 0.5, 0.5]), json!([0.5, null]), json!([0.5, 1.1]), json!({"0": 1}), json!(1)]
        {
            match reading(Reply::Value { value: bad.clone() }) {
                Reading::Fault(fault) => assert_eq!(fault.cause, cause::EMBEDDER, "{bad}"),
                Reading::Read(_) | Reading::Ask(_) => panic!("{bad}"),
            }
        }
    }

    #[test]
    fn every_ending_is_the_embedders_fault_and_not_the_judges() {
        for ending in Ending::ALL {
            match reading(Reply::Failed { ending, why: "so it was".to_owned() }) {
                Reading::Fault(fault) => {
                    assert!(!fault.cause.contains("judge"), "{fault:?}");
                    assert_eq!(fault.why, "embed.similarities: so it was");
                }
                Reading::Read(_) | Reading::Ask(_) => panic!("{ending:?}"),
            }
        }
        let nothing = read(&Transcript::default(), EmbedRequest::new("q", ["a"]));
        assert_eq!(nothing, Reading::Ask(Request::Embed(EmbedRequest::new("q", ["a"]))));
    }
}
