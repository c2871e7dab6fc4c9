//! What the system did, beside its scores: refusals, cases that came out differently, time and cost.

use maud::{Markup, html};
use rageval_runner::{
    model::{CaseId, Heard, MetricKey, Outcome, Record, Taken, UnitInterval},
    report::console::spending,
};

use super::text::{CaseLink, count, heads, number};
use crate::report::view::{Spread, View};

/// Ids that are named in a cell, and flaky cases that are listed.
const NAMED: usize = 40;

/// The 2 x 2 of refusals.
pub(super) fn refusals(view: &View<'_>) -> Markup {
    let table = &view.refusals;
    html! {
        section #refusals aria-labelledby="refusals-title" {
            h2 #refusals-title { "Refusals" }
            table.numbers.two {
                thead { tr { td {} th scope="col" { "Answered" } th scope="col" { "Declined" } } }
                tbody {
                    tr {
                        th scope="row" { "Answerable" }
                        (cell(&table.answered_answerable, true))
                        (cell(&table.refused_answerable, false))
                    }
                    tr {
                        th scope="row" { "Not answerable" }
                        (cell(&table.answered_unanswerable, false))
                        (cell(&table.refused_unanswerable, true))
                    }
                }
            }
            @if !table.failed.is_empty() {
                p { (count(table.failed.len(), "case")) " without an answer, through a fault:" }
                (names(&table.failed))
            }
        }
    }
}

fn cell(cases: &[&CaseId], is_right: bool) -> Markup {
    html! {
        td {
            span.big { (cases.len()) } " " span.muted { (if is_right { "right" } else { "wrong" }) }
            @if !is_right && !cases.is_empty() { details { summary { "which" } (names(cases)) } }
        }
    }
}

fn names(cases: &[&CaseId]) -> Markup {
    html! {
        ul.names {
            @for case in cases.iter().take(NAMED) { li { (CaseLink(case)) } }
            @if cases.len() > NAMED { li.muted { "and " (cases.len() - NAMED) " more" } }
        }
    }
}

/// Cases whose answers or verdicts differed within this run.
pub(super) fn flaky(view: &View<'_>) -> Markup {
    let flaky: Vec<_> = view.cases.iter().filter_map(|case| case.record.filter(|_| case.is_flaky())).collect();
    html! {
        section #flaky aria-labelledby="flaky-title" {
            h2 #flaky-title { "Flaky cases" }
            @if flaky.is_empty() {
                p.muted { "No case came out differently among its repeats or readings. Where each case is asked and read once, nothing can." }
            } @else {
                p { (count(flaky.len(), "case")) " came out differently among repeats, or further readings gave other verdicts." }
                div.scroll {
                    table.numbers.left {
                        (heads(&["Case", "What differed"]))
                        tbody {
                            @for record in flaky.iter().take(NAMED) {
                                tr {
                                    th scope="row" { (CaseLink(&record.case)) }
                                    td { @for line in differed(record) { div { (line) } } }
                                }
                            }
                        }
                    }
                }
                @if flaky.len() > NAMED {
                    p.muted { "and " (flaky.len() - NAMED) " more: filter the list of cases by `flaky`" }
                }
            }
        }
    }
}

/// What differed, a line a metric.
fn differed(record: &Record) -> Vec<String> {
    let of_repeats = record.repeats.iter().flat_map(|repeats| {
        record.outcomes.keys().filter_map(|key| {
            let scores = repeats.each.iter().map(|repeat| match &repeat.taken {
                Taken::Sample(_) => repeat.outcomes.get(key).and_then(Outcome::score),
                Taken::Failed(_) => None,
            });
            let scores: Vec<_> = scores.collect();
            let shown = |scores: &[Option<UnitInterval>]| {
                let told =
                    scores.iter().map(|score| score.map_or_else(|| "none".to_owned(), |score| number(score.get())));
                told.collect::<Vec<_>>().join(", ")
            };
            scores.windows(2).any(|pair| pair[0] != pair[1]).then(|| format!("{key}: repeats {}", shown(&scores)))
        })
    });
    let of_readings = record.readings.iter().flat_map(|(key, readings)| {
        [("this answer", &readings.now), ("the baseline's answer", &readings.baseline)]
            .into_iter()
            .filter_map(move |(whose, heard)| disagreement(key, whose, heard))
    });
    of_repeats.chain(of_readings).collect()
}

fn disagreement(key: &MetricKey, whose: &str, heard: &[Heard]) -> Option<String> {
    let told: Vec<&Heard> = heard.iter().filter(|heard| !matches!(heard, Heard::Nothing { .. })).collect();
    let first = told.first()?;
    let others = told.iter().filter(|heard| heard != &first).count();
    (others > 0).then(|| format!("{key}: {others} of {} readings of {whose} differ from the first of them", told.len()))
}

/// Time and cost.
pub(super) fn cost(view: &View<'_>) -> Markup {
    html! {
        section #cost aria-labelledby="cost-title" {
            h2 #cost-title { "Cost and latency" }
            @if view.latency_ms.is_none() && view.cost_usd.is_none() && view.tokens.is_none() {
                p.muted { "The system tells neither time, nor tokens, nor cost." }
            } @else {
                div.scroll { table.numbers {
                    (heads(&["The system, an answer", "p50", "p95", "Sum", "Answers"]))
                    tbody {
                        (spread("Latency, ms", view.latency_ms, 1))
                        (spread("Cost, US dollars", view.cost_usd, 5))
                        (spread("Tokens", view.tokens, 0))
                    }
                } }
            }
            p { "The judge: " @match &view.run.manifest.spent {
                Some(spent) => (spending::line(spent, &rageval_runner::model::Budget::default())),
                None => "nothing was asked of it that costs anything",
            } "." }
        }
    }
}

fn spread(name: &str, spread: Option<Spread>, decimals: usize) -> Markup {
    let Some(Spread { n, p50, p95, sum }) = spread else { return html! {} };
    html! {
        tr {
            th scope="row" { (name) }
            @for number in [p50, p95, sum] { td { (format!("{number:.decimals$}")) } }
            td { (n) }
        }
    }
}
