//! Reads English, Portuguese and Chinese text: sentences, words, normal forms, refusals.
//!
//! Everything here is a pure function of its arguments. Other languages get the English rules, which for segmentation are those of
//! Unicode's annex 29.

pub mod evidence;
pub mod language;
pub mod normal;
pub mod number;
pub mod refusal;
pub mod sentence;
pub mod stem;
pub mod stop;
pub mod word;

pub use language::guess_language;
pub use normal::{answer_tokens, normalise};
pub use refusal::is_refusal;
pub use sentence::{sentences, statements};
pub use stop::content_words;
pub use word::words;
