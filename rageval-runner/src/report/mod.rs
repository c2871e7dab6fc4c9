//! Decisions as text, and what other reports need of a run.

pub mod background;
pub mod console;
pub mod judged;
pub mod snapshot;
pub mod told;
pub mod worst;
