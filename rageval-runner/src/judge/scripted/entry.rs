//! One reply of a script.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::{
    judge::reply,
    model::{CaseId, Ending, Reply, SCORE_PROBABILITIES},
};

/// The text in [`Entry::case`] that stands for every case.
pub const ANY_CASE: &str = "*";

/// Longest delay that an entry may ask for, in milliseconds: ten minutes.
pub const MAX_DELAY_MS: u64 = 600_000;

/// One reply of a script.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The request's name: `faithfulness.verdicts`.
    pub request: String,
    /// The case's id, or `*` for every case that has no fitting entry of its own.
    pub case: String,
    /// Only for this reading, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<u32>,
    /// Only for this try: 0 for the first, 1 when a reply did not fit and was asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<u32>,
    /// A reply that was read. Exactly one of `value`, `text` and `end` is given.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// A raw reply, read by [`reply::read_object`] when asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// An ending without a reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Ending>,
    /// What was said at that ending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// How long the reply takes, in milliseconds, at most [`MAX_DELAY_MS`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
}

/// A `null` that was written down is a value; a key that is absent is none.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Entry {
    /// An entry of this request and case that holds nothing yet; set `value`, `text` or `end`.
    pub fn blank(request: &str, case: &str) -> Self {
        Self {
            request: request.to_owned(),
            case: case.to_owned(),
            sample: None,
            retry: None,
            value: None,
            text: None,
            end: None,
            why: None,
            delay_ms: None,
        }
    }

    /// Whether it is this case's own.
    pub(super) fn is_of(&self, case: &CaseId) -> bool {
        self.case == case.as_str() || CaseId::new(self.case.as_str()).is_ok_and(|own| own.nfc() == case.nfc())
    }

    /// Whether both state the same request, case, sample and retry.
    pub(super) fn has_key_of(&self, other: &Self) -> bool {
        self.request == other.request
            && self.case == other.case
            && self.sample == other.sample
            && self.retry == other.retry
    }

    /// Why nobody could get its reply.
    pub(super) fn problem(&self) -> Option<String> {
        let given = [self.value.is_some(), self.text.is_some(), self.end.is_some()];
        if given.into_iter().filter(|given| *given).count() != 1 {
            return Some("give exactly one of `value`, `text` and `end`".to_owned());
        }
        if self.why.is_some() && self.end.is_none() {
            return Some("`why` goes with `end` only".to_owned());
        }
        if self.request.trim().is_empty() {
            return Some("`request` is empty; write a name such as `faithfulness.verdicts`".to_owned());
        }
        if let Some(delay_ms) = self.delay_ms.filter(|delay_ms| *delay_ms > MAX_DELAY_MS) {
            return Some(format!("`delay_ms` is {delay_ms}, at most {MAX_DELAY_MS} is possible"));
        }
        if self.case == ANY_CASE {
            return None;
        }
        CaseId::new(self.case.as_str()).err().map(|error| format!("`case` is neither `*` nor a case's id: {error}"))
    }

    /// The reply it holds.
    pub(super) fn reply(&self) -> Reply {
        if let Some(ending) = self.end {
            return Reply::Failed { ending, why: self.why.clone().unwrap_or_else(|| "as scripted".to_owned()) };
        }
        if let Some(value) = &self.value {
            return Reply::Value { value: value.clone() };
        }
        match &self.text {
            None => Reply::Failed { ending: Ending::Missing, why: "the script's entry holds no reply".to_owned() },
            Some(text) if text.trim().is_empty() => {
                Reply::Failed { ending: Ending::Empty, why: "the reply has no text".to_owned() }
            }
            Some(text) => match reply::read_object(text) {
                // What a judge writes is no probability of its tokens.
                Ok(Value::Object(mut fields)) => {
                    fields.remove(SCORE_PROBABILITIES);
                    Reply::Value { value: Value::Object(fields) }
                }
                Ok(value) => Reply::Value { value },
                Err(unreadable) => Reply::Failed { ending: Ending::Unreadable, why: unreadable.why },
            },
        }
    }
}
