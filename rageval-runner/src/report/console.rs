//! What a failing case and a failing gate print.

pub mod calibration;
pub mod case;
pub mod findings;
pub mod gate;
pub mod readings;
mod repeats;
pub mod shell;
pub mod spending;
pub mod summary;
pub mod text;
pub mod trust;

pub use summary::{OfSet, Summary, summary};

use crate::model::run::Decision;

/// Why a red trial is red, in one line without a label; the trial's name where its text holds no such line.
///
/// For runners that show one line of a failure.
pub fn reason(decision: &Decision) -> String {
    const LABELS: [&str; 4] = ["failed ", "unmeasured ", "undecided ", "snapshot "];
    let why = |label: &&str| decision.lines.iter().find_map(|line| line.strip_prefix(*label));
    LABELS.iter().find_map(why).map_or_else(|| text::visible(&decision.trial), |why| why.trim().to_owned())
}
