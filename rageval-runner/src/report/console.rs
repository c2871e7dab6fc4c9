//! What a failing case and a failing gate print.

pub mod case;
pub mod gate;
pub mod summary;
pub mod text;

pub use summary::{Summary, summary};
