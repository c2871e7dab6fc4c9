//! The slices: a table for each field, a row for each value, a column for each metric, with how the scores are spread.

use std::collections::BTreeMap;

use maud::{Markup, html};
use rageval_runner::model::run::{Decision, SliceFacts};

use super::{
    metrics::Paired,
    plot::small,
    text::{Metric, Outside, change_between, count, number},
};
use crate::report::view::{MetricView, SliceView, View};

/// Values of a field that have a row: the largest slices.
const ROWS: usize = 40;

/// The section; nothing where the policy names no slices.
pub(super) fn section(view: &View<'_>) -> Markup {
    let fields: Vec<&str> = view.run.background.slices.iter().map(String::as_str).collect();
    html! {
        section #slices aria-labelledby="slices-title" {
            h2 #slices-title { "Slices" }
            @if fields.is_empty() { p.muted { "The policy names no slices." } }
            @if !fields.is_empty() && view.run.background.baseline.is_some() {
                p.muted {
                    "Mean, n and plot are over all scored cases of a slice; the change is over those that the baseline has scored too, "
                    "with their number where it is another."
                }
            }
            @for field in fields { (table(field, view)) }
        }
    }
}

fn table(field: &str, view: &View<'_>) -> Markup {
    let metrics: Vec<&MetricView<'_>> = view.metrics.iter().filter(|metric| !metric.scored.is_empty()).collect();
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    for slice in metrics.iter().flat_map(|metric| &metric.slices).filter(|slice| slice.field == field) {
        let size = sizes.entry(slice.value).or_default();
        *size = (*size).max(slice.scores.len());
    }
    let mut values: Vec<(&str, usize)> = sizes.into_iter().collect();
    if values.len() > ROWS {
        values.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    }
    html! {
        h3 { (Outside(field)) }
        @if values.is_empty() { p.muted { "No scored case has a value in this field." } } @else {
            div.scroll {
                table.numbers.slices {
                    thead { tr { th scope="col" { "Value" } @for metric in &metrics { th scope="col" { (Metric(metric.key)) } } } }
                    tbody {
                        @for (value, _) in values.iter().take(ROWS) {
                            tr { th scope="row" { (Outside(value)) } @for metric in &metrics { (cell(metric, field, value)) } }
                        }
                    }
                }
            }
            @if values.len() > ROWS { p.muted { (count(values.len() - ROWS, "smaller slice")) " not shown" } }
        }
    }
}

fn cell(metric: &MetricView<'_>, field: &str, value: &str) -> Markup {
    let is_it = |slice: &&SliceView<'_>| slice.field == field && slice.value == value;
    let Some(slice) = metric.slices.iter().find(is_it) else { return html! { td.muted { "–" } } };
    let n = slice.scores.len();
    let tail = rageval_runner::stats::decile_size(n);
    let title = format!(
        "{}, {field}={value}: {}, lowest {}, middle {}, highest {}",
        metric.key,
        count(n, "case"),
        number(slice.scores.first().copied().unwrap_or_default()),
        number(slice.scores.get(n / 2).copied().unwrap_or_default()),
        number(slice.scores.last().copied().unwrap_or_default()),
    );
    let paired = Paired::of(slice.paired.iter().copied());
    let of_slice = |gate: &&&Decision| {
        let facts = gate.gate.as_ref().and_then(|gate| gate.slice.as_ref());
        facts.is_some_and(|SliceFacts { field: of, value: is }| of == field && is == value)
    };
    let red = metric.gates.iter().filter(of_slice).filter(|gate| gate.ruling.is_red()).count();
    html! {
        td {
            span.mean { (slice.mean.map_or_else(|| "–".to_owned(), number)) }
            " " span.muted { "n " (n) }
            (small(&title, &slice.scores, tail))
            @if let Some(paired) = paired {
                span.change { (change_between(paired.before, paired.now)) @if paired.n != n { " over " (paired.n) } }
            }
            @if red > 0 { " " span.state.failed { (count(red, "red gate")) } }
        }
    }
}
