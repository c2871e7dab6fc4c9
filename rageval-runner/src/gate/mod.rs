//! Rules over a run, and what they decide.

pub mod decide;
pub mod regression;
pub mod rule;
pub mod slice;
