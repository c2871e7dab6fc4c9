//! Markdown for a pull request: one comment that is updated in place, and the same with more rows as a job's summary.
//!
//! The first line says what the run came to. What is most important stands first and is cut last: where all does not fit, the least
//! important goes, and the end says so and how all is read. Text from outside stands in code spans alone ([`inert`]).

mod fill;
mod inert;
mod sections;

use std::io::{self, Write};

use rageval_runner::model::run::Conclusion;

use self::fill::{Room, fill};
use super::Input;

/// What a person reads in two minutes. GitHub takes 65,536 characters of a comment, which nobody reads; bytes are more than characters however
/// those are counted.
const COMMENT: Room =
    Room { bytes: 16_000, rows: 20, worst: 6, others: 25, texts: 3, left_out: "Shortened, to be read in two minutes" };

/// GitHub takes 1 MiB of a step's summary.
const SUMMARY: Room =
    Room { bytes: 1_000_000, rows: 500, worst: 300, others: 3000, texts: 300, left_out: "Cut to fit GitHub's limit" };

/// Writes the comment.
pub(crate) fn comment(input: &Input<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(text(input, COMMENT).as_bytes())
}

/// Writes the job's summary.
pub(crate) fn summary(input: &Input<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(text(input, SUMMARY).as_bytes())
}

fn text(input: &Input<'_>, room: Room) -> String {
    let mark = match input.view.conclusion {
        Conclusion::Pass => "✅",
        Conclusion::Fail => "❌",
        Conclusion::Undecided => "🛑",
    };
    let head = format!(
        "### {mark} {}\n<!-- rageval:{} -->\n\n",
        inert::sentence(&input.view.headline()),
        marker(input.view.run.manifest.target.as_deref().unwrap_or("rag_regression"))
    );
    fill(&head, &sections::all(input, room), &sections::foot(input), room)
}

/// By which a later comment on the same gate is found: a name that ends no HTML comment.
fn marker(name: &str) -> String {
    let kept = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_');
    kept.take(100).collect()
}
