//! The ends of a reply that give no value, in words.

use serde_json::Value;

use super::Setting;
use crate::{
    judge::transport::Failed,
    model::Ending,
    system::excerpt::{self, excerpt},
};

/// A reply whose shape is not known. Nothing is looked for in it: a number of the envelope is no score.
pub(super) fn unknown(what: &str, value: &Value) -> Failed {
    let shown = excerpt(&value.to_string(), excerpt::REPLY);
    Failed::new(Ending::Provider, format!("the reply has a shape that is not known: {what}; it begins: {shown}"))
}

pub(super) fn refusal(said: &str) -> Failed {
    let said = excerpt(said, excerpt::REPLY);
    Failed::new(
        Ending::Refusal,
        if said.is_empty() { "the model declined".to_owned() } else { format!("the model declined: {said}") },
    )
}

/// Cut by the limit in force, which is named with where to raise it.
pub(super) fn length(setting: &Setting, written: Option<&Value>) -> Failed {
    let written = written.and_then(Value::as_u64).map(|tokens| format!(" after {tokens} tokens")).unwrap_or_default();
    let why = match setting.max_tokens {
        Some(limit) => {
            format!(
                "the reply was cut{written} by the limit of {limit} tokens; raise `judge.max_tokens` in thresholds.yaml"
            )
        }
        None if setting.default_max_tokens.is_some() => format!(
            "the reply was cut{written} by the limit of {} tokens that holds where none is given; \
             set a larger `judge.max_tokens` in thresholds.yaml",
            setting.default_max_tokens.unwrap_or_default()
        ),
        None => format!(
            "the reply was cut{written} by the server's own limit or the model's window; \
             set a larger `judge.max_tokens` in thresholds.yaml, or raise the server's"
        ),
    };
    Failed::new(Ending::Length, why)
}

pub(super) fn tool_call(name: Option<&Value>) -> Failed {
    let name = excerpt(name.and_then(Value::as_str).unwrap_or("without a name"), 60);
    Failed::new(Ending::ToolCall, format!("the model called the tool `{name}`, which was not asked for"))
}

pub(super) fn two_calls() -> Failed {
    Failed::new(Ending::Unreadable, "the model called its tool twice with different arguments")
}

pub(super) fn empty() -> Failed {
    Failed::new(Ending::Empty, "the reply holds no text")
}

pub(super) fn only_thoughts() -> Failed {
    Failed::new(Ending::Empty, "the reply holds thoughts and no text")
}
