//! Decisions as text.

pub mod console;
pub mod snapshot;
