//! Rules over a run, and what they decide.

pub mod basis;
pub mod case;
pub mod compare;
pub mod decide;
#[cfg(test)]
pub(crate) mod fixture;
pub mod noise;
pub mod plan;
#[cfg(test)]
mod properties;
pub mod regression;
pub mod repeats;
pub mod rule;
pub mod slice;
pub mod tally;

pub use basis::{Basis, MetricFacts, holds_drop, holds_min};
pub use case::{Bar, Broken, CaseFindings, case_findings, decide_case};
pub use decide::decide_gate;
pub use plan::{Gate, GateRule, gates, is_tested, needed_cases, trusted_metrics};
pub use regression::{DropTests, Population, compare_population, drop_tests, suspected};
