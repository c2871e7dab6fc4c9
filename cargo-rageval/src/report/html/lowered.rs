//! What the baseline lowered: a reviewer decides whether the reason holds.

use maud::{Markup, html};

use super::text::{CaseLink, Metric, Outside, count, heads, number};
use crate::report::lowered::Lowered;

/// Scores that are shown.
const LISTED: usize = 200;

/// The section; nothing where no score was lowered.
pub(super) fn section(lowered: &Lowered<'_>) -> Markup {
    let told = |score: Option<f64>, none: &str| score.map_or_else(|| none.to_owned(), number);
    html! {
        @if !lowered.scores.is_empty() {
            section #lowered aria-labelledby="lowered-title" {
                h2 #lowered-title { "Lowered by the baseline " span.n { (lowered.scores.len()) } }
                p.muted {
                    @match &lowered.base {
                        Some(base) => { "Against " (Outside(base)) "." },
                        None => "By the reasons that the baseline itself keeps.",
                    }
                }
                div.scroll { table.numbers {
                    (heads(&["Case", "Metric", "Before", "Now", "Reason"]))
                    tbody { @for score in lowered.scores.iter().take(LISTED) {
                        tr {
                            th scope="row" { (CaseLink(&score.case)) }
                            td { (Metric(&score.metric)) }
                            td { (told(score.before, "not told")) }
                            td { (told(score.now, "gone")) }
                            td.wide {
                                @match score.reason {
                                    Some(reason) => (Outside(reason)),
                                    None => span.red { "no reason given" },
                                }
                            }
                        }
                    } }
                } }
                @if lowered.scores.len() > LISTED { p.muted { (count(lowered.scores.len() - LISTED, "more score")) } }
            }
        }
    }
}
