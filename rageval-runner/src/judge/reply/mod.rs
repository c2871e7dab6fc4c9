//! Reads a judge's reply: the one reader, for every judge.
//!
//! Text in, a value out, or the reason why there is none. What was asked decides the function: any JSON object ([`read_object`]), an object
//! whose fields are checked ([`read_fields`]), a score in prose ([`read_score`]), one of a few labels ([`read_label`]).
//! The text is what the judge wrote, taken out of the provider's envelope by its type; an envelope, a tool call's wrapping or an error body
//! never comes here.
//!
//! Strict reading comes first and is final where it succeeds. Only then the text is repaired, and never inside a string. A reply that can
//! be read in two ways is not read at all: the text that is judged may hold a verdict of its own, and whichever rule chose between
//! the two would give it a vote. The rules with examples are in `docs/reading-replies.md`.

mod fields;
mod label;
mod number;
mod objects;
#[cfg(test)]
mod properties;
mod prose;
mod repair;
mod score;
pub(crate) mod strict;
#[cfg(test)]
mod tests;

use serde_json::Value;

pub use fields::{Field, Form, read_fields};
pub use label::read_label;
pub use score::{Scale, read_score};

use crate::metric::asking::shortened;

/// Why a reply could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Unreadable {
    /// What is wrong with it, followed by how it begins.
    pub why: String,
}

impl Unreadable {
    fn new(what: &str, text: &str) -> Self {
        let text = text.trim();
        if text.is_empty() {
            return Self { why: "the reply has no text".to_owned() };
        }
        Self { why: format!("{what}; the reply begins: {}", shortened(text)) }
    }
}

/// The JSON object that a reply holds: the whole reply, or the one object in it once fences, prose and thinking are left out.
///
/// A reply that is strictly valid JSON comes back unchanged where it is an object. A list of one object is that object.
///
/// # Errors
/// No object, one that is cut off (nothing is ever completed), a key twice, several objects that differ, or one that no rule of
/// `docs/reading-replies.md` makes JSON. The reason carries the first part of the reply.
pub fn read_object(text: &str) -> Result<Value, Unreadable> {
    let unreadable = |what: String| Unreadable::new(&what, text);
    let mut objects = objects::all(text).map_err(unreadable)?.into_iter();
    let first = objects.next().ok_or_else(|| unreadable("there is no JSON object in the reply".to_owned()))?;
    if objects.any(|other| other != first) {
        return Err(unreadable("the reply holds several JSON objects that differ".to_owned()));
    }
    Ok(Value::Object(first))
}
