//! The report as one HTML file, for a person with a browser.
//!
//! Decisions and plots are static. The list of cases and their pages are made by `report.js` and `case.js` from data in the file: text from outside
//! enters the page as text alone. The file asks nothing of the network, and its content security policy lets nothing but its own
//! style and script in.

mod behaviour;
mod case_page;
mod data;
mod decisions;
mod difference;
mod findings;
mod lowered;
mod metric_part;
mod metrics;
mod plot;
mod slices;
mod snapshot_diff;
#[cfg(test)]
mod tests;
mod text;
mod texts;
mod trust;

use std::io;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use rageval_runner::report::console::text::visible;
use sha2::{Digest as _, Sha256};

use self::text::Outside;
use super::view::View;

const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = concat!(include_str!("report.js"), include_str!("case.js"));

/// Where the data of the cases comes: markup that no text of a run can be.
const DATA: &str = "<!--data-->";

/// Writes the page. The data, by far its largest part, is written as it is made.
///
/// # Errors
///
/// Where it can't be written.
pub(super) fn report(input: &super::Input<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    let page = frame(input);
    let (before, after) = page.split_once(DATA).unwrap_or((&page, ""));
    out.write_all(before.as_bytes())?;
    data::write(&input.view, out)?;
    out.write_all(after.as_bytes())
}

/// The page without its data.
fn frame(input: &super::Input<'_>) -> String {
    let view = &input.view;
    let headline = view.headline();
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; img-src data:; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    );
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { "rageval: " (visible(&headline)) }
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#decisions" { "To the decisions" }
                (head(view, &headline))
                main #report {
                    (decisions::section(view))
                    (metrics::section(view))
                    (lowered::section(&input.lowered))
                    (slices::section(view))
                    (behaviour::refusals(view))
                    (trust::calibration(view))
                    (behaviour::flaky(view))
                    (behaviour::cost(view))
                    (cases(view))
                    (trust::remarks(view))
                    (trust::manifest(view.run))
                }
                main #case hidden tabindex="-1" {}
                (PreEscaped(DATA))
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// What a content security policy lets in: exactly this text.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

fn head(view: &View<'_>, headline: &str) -> Markup {
    let made = &view.run.manifest;
    let parts = [
        ("#decisions", "Decisions"),
        ("#metrics", "Metrics"),
        ("#slices", "Slices"),
        ("#refusals", "Refusals"),
        ("#calibration", "Calibration"),
        ("#flaky", "Flaky"),
        ("#cost", "Cost"),
        ("#cases", "Cases"),
        ("#remarks", "Notices"),
        ("#manifest", "Manifest"),
    ];
    html! {
        header #top {
            h1 class=(view.conclusion.as_str()) { (Outside(headline)) }
            p.muted {
                @if let Some(name) = &made.golden_set.name { (Outside(name)) " " }
                @if let Some(version) = &made.golden_set.version { (Outside(version)) " · " }
                "judge " (Outside(&made.judge.model))
                @if let Some(revision) = &made.git_revision { " · " (Outside(text::cut(revision, 12))) }
                " · run " (Outside(&made.run_id))
            }
            nav aria-label="Parts of the report" { @for (to, name) in parts { a href=(to) { (name) } } }
        }
    }
}

/// The list of cases, which the script fills.
fn cases(view: &View<'_>) -> Markup {
    html! {
        section #cases aria-labelledby="cases-title" {
            h2 #cases-title { "Cases " span.n { (view.cases.len()) } }
            noscript {
                p { "The list of cases and their pages need JavaScript. All decisions, plots and the first red cases above do not." }
            }
            form #filters role="search" hidden {
                label {
                    "Search " kbd { "/" }
                    input #search type="search" autocomplete="off" spellcheck="false"
                        placeholder="id, question, answer, reason, file";
                }
                label { "State" select #state {} }
                label { "Metric" select #metric {} }
                label { "Slice" select #slice {} }
                label { "Order" select #order {} }
                output #found for="search state metric slice" aria-live="polite" {}
            }
            div.scroll { table #list hidden {
                thead { tr {
                    th scope="col" { "State" }
                    th scope="col" { "Case" }
                    th scope="col" #scored { "Score" }
                    th scope="col" { "Question, and why it is red" }
                } }
                tbody #rows {}
            } }
            nav #pages aria-label="Pages of the list" hidden {
                button #previous type="button" { "Previous" }
                span #page {}
                button #next type="button" { "Next" }
            }
        }
    }
}
