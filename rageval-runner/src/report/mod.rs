//! Decisions as text.

pub mod console;
