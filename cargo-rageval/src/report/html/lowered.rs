//! What the baseline lowered: a reviewer decides whether the reason holds.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::text::{CaseLink, Metric, Outside, count, heads, number};
use crate::report::lowered::{Lowered, LoweredScore};

/// Scores of a reason that are shown.
const LISTED: usize = 200;

/// The section; nothing where no score was lowered. A reason that many scores share stands above them once.
pub(super) fn section(lowered: &Lowered<'_>) -> Markup {
    let told = |score: Option<f64>, none: &str| score.map_or_else(|| none.to_owned(), number);
    // Those without a reason come first.
    let mut groups: BTreeMap<Option<&str>, Vec<&LoweredScore<'_>>> = BTreeMap::new();
    for score in &lowered.scores {
        groups.entry(score.reason).or_default().push(score);
    }
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
                @for (reason, scores) in groups {
                    h3 {
                        @match reason {
                            Some(reason) => (Outside(reason)),
                            None => span.red { "No reason given" },
                        }
                        " " span.n { (count(scores.len(), "score")) }
                    }
                    div.scroll { table.numbers {
                        (heads(&["Case", "Metric", "Before", "Now"]))
                        tbody { @for score in scores.iter().take(LISTED) {
                            tr {
                                th scope="row" { (CaseLink(&score.case)) }
                                td { (Metric(&score.metric)) }
                                td { (told(score.before, "not told")) }
                                td { (told(score.now, "gone")) }
                            }
                        } }
                    } }
                    @if scores.len() > LISTED { p.muted { (count(scores.len() - LISTED, "more score")) } }
                }
            }
        }
    }
}
