//! What was decided, as a person reads it on a screen, and as the exit code says it.

use std::io::{self, Write};

use console::style;
use rageval_runner::model::run::{Decision, Ruling};

/// Prints the red decisions, then the summary. Colours are for terminals, unless `NO_COLOR` is set.
pub(super) fn print(decisions: &[Decision], summary: &[String]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for decision in decisions.iter().filter(|decision| decision.ruling.is_red()) {
        let heading = style(format!("---- {} ----", decision.trial)).bold();
        let heading = match decision.ruling {
            Ruling::Fail => heading.red(),
            Ruling::Undecided => heading.yellow(),
            Ruling::Pass | Ruling::Inconclusive => heading,
        };
        writeln!(out, "{heading}\n{}\n", decision.lines.join("\n"))?;
    }
    writeln!(out, "{}", summary.join("\n"))?;
    out.flush()
}
