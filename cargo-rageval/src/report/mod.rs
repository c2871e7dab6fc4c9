//! Reports of a run, each made from the run file alone: one file a format, and one line in the list.
//!
//! What a run came to, [`view::View`] says once: every report and every exit code shows the same conclusion.

mod annotations;
mod claims;
pub(crate) mod console;
mod csv;
mod html;
pub(crate) mod json;
mod junit;
pub(crate) mod lowered;
mod markdown;
mod nearest;
pub(crate) mod reach;
pub(crate) mod view;
mod why;

use std::io::{self, Write};

use self::{lowered::Lowered, reach::Reach, view::View};

/// What a report is made from.
#[derive(Debug)]
pub(crate) struct Input<'r> {
    /// The run.
    pub(crate) view: View<'r>,
    /// Which scores the baseline lowered, and why.
    pub(crate) lowered: Lowered<'r>,
    /// The folder of `thresholds.yaml` below the root of the repository, with `/` between its parts; empty where it is the root.
    pub(crate) folder: String,
    /// Where the run is kept, as a person finds it.
    pub(crate) place: String,
    /// Where readers elsewhere find it.
    pub(crate) reach: Reach,
}

/// One format.
#[derive(Debug)]
pub(crate) struct Reporter {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// What it is for, in a line of help.
    pub(crate) purpose: &'static str,
    /// Whether it uses terminal sequences for colours, which are dropped where no terminal reads it.
    pub(crate) is_coloured: bool,
    /// The file in the run's folder that it goes to where no other is named; `None` where it goes to standard output.
    pub(crate) file: Option<&'static str>,
    /// Writes it.
    pub(crate) render: fn(&Input<'_>, &mut dyn Write) -> io::Result<()>,
}

/// Every format, in the order of the help.
pub(crate) const REPORTERS: &[Reporter] = &[
    Reporter {
        name: "html",
        purpose: "One page for a browser: decisions, plots, every case",
        is_coloured: false,
        file: Some("report.html"),
        render: html::report,
    },
    Reporter {
        name: "markdown",
        purpose: "A comment for a pull request, below GitHub's limit",
        is_coloured: false,
        file: None,
        render: markdown::comment,
    },
    Reporter {
        name: "summary",
        purpose: "The same with more rows, for $GITHUB_STEP_SUMMARY",
        is_coloured: false,
        file: None,
        render: markdown::summary,
    },
    Reporter {
        name: "annotations",
        purpose: "GitHub workflow commands: errors at the cases' lines",
        is_coloured: false,
        file: None,
        render: annotations::render,
    },
    Reporter {
        name: "junit",
        purpose: "JUnit XML, one testcase a trial",
        is_coloured: false,
        file: None,
        render: junit::render,
    },
    Reporter {
        name: "json",
        purpose: "All numbers; `cargo rageval schema report` prints its schema",
        is_coloured: false,
        file: None,
        render: json::render,
    },
    Reporter {
        name: "csv",
        purpose: "The scores: one row a case and metric",
        is_coloured: false,
        file: None,
        render: csv::render,
    },
    Reporter { name: "text", purpose: "What the gate prints", is_coloured: true, file: None, render: console::render },
];

#[cfg(test)]
#[path = "../../tests/support/every_outcome.rs"]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;
