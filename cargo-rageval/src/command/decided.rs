//! What was decided, as a person reads it on a screen.

use std::io::{self, Write as _};

use rageval_runner::model::run::Decision;

use crate::report::console;

/// Prints the red decisions, then the summary. Colours are for terminals.
pub(super) fn print(decisions: &[Decision], summary: &[String]) -> io::Result<()> {
    let mut out = crate::out::coloured();
    console::red(decisions, &mut out)?;
    writeln!(out, "{}", summary.join("\n"))?;
    out.flush()
}
