//! The metrics: their numbers in one table, then for each how its scores are spread.

use maud::{Markup, html};
use rageval_runner::{
    model::{background::MetricBackground, run::Ruling},
    report::console::text::interval_text,
    stats,
};

use super::{
    plot::{BINS, Histogram, binned},
    text::{CaseLink, Metric, change_between, count, heads, number},
};
use crate::report::view::{MetricView, View};

/// Cases of the worst tenth that are named under a plot.
const NAMED: usize = 20;

/// The section.
pub(super) fn section(view: &View<'_>) -> Markup {
    html! {
        section #metrics aria-labelledby="metrics-title" {
            h2 #metrics-title { "Metrics" }
            @if view.metrics.is_empty() {
                p { "Nothing was measured." }
            } @else {
                div.scroll { (table(view)) }
                p.muted {
                    "Means are of first readings, as the gates decide on them; the worst tenth, as the gate on it takes it, and the plots show settled scores. "
                    "Intervals are 95 %, by bootstrap over cases. Baseline, now and change are over the cases that both have scored (n, where these are fewer)."
                }
                div.plots { @for metric in &view.metrics { (figure(metric)) } }
            }
        }
    }
}

/// A line for each metric: what it was, what it is. Nothing where nothing was measured.
pub(super) fn short(view: &View<'_>) -> Markup {
    let line = |metric: &MetricView<'_>| {
        let paired = Paired::of(metric.paired.iter().map(|(_, before, now)| (*before, *now)));
        let told = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), number);
        let (before, now) = (paired.as_ref().map(|of| of.before), paired.as_ref().map(|of| of.now).or(metric.mean));
        let change = before.zip(now).map(|(before, now)| change_between(before, now));
        let is_worse = before.zip(now).is_some_and(|(before, now)| now - before < -1e-9);
        html! {
            tr {
                th scope="row" { a href={ "#metric-" (slug(metric)) } { (Metric(metric.key)) } }
                td { (told(before)) }
                td { (told(now)) }
                td class=[is_worse.then_some("red")] { (change.unwrap_or_else(|| "–".to_owned())) }
            }
        }
    };
    html! {
        @if !view.metrics.is_empty() {
            h3 { "Metrics, before and now" }
            div.scroll { table.numbers {
                (heads(&["Metric", "Before", "Now", "Change"]))
                tbody { @for metric in &view.metrics { (line(metric)) } }
            } }
        }
    }
}

fn table(view: &View<'_>) -> Markup {
    html! {
        table.numbers {
            (heads(&[
                "Metric", "Mean", "95 %", "Scored", "Not appl.", "Unmeasured", "Worst tenth",
                "Baseline", "Now", "Change", "Worse / better", "Gates",
            ]))
            tbody { @for metric in &view.metrics { (row(metric)) } }
        }
    }
}

fn row(metric: &MetricView<'_>) -> Markup {
    let told = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), number);
    let paired = Paired::of(metric.paired.iter().map(|(_, before, now)| (*before, *now)));
    let red = metric.gates.iter().filter(|gate| gate.ruling.is_red()).count();
    let decided = metric.gates.iter().filter(|gate| gate.ruling != Ruling::Inconclusive).count();
    html! {
        tr {
            th scope="row" { a href={ "#metric-" (slug(metric)) } { (Metric(metric.key)) } }
            td { (told(metric.mean)) }
            td { @if let Some(interval) = metric.interval() { (interval_text(&interval)) } @else { "–" } }
            td { (metric.scored.len()) }
            td { (metric.not_applicable) }
            td class=[(!metric.unmeasured.is_empty()).then_some("red")] { (metric.unmeasured.len()) }
            td { (told(metric.tail())) @if metric.tail().is_some() { " " span.muted { (metric.tail_name()) } } }
            @match &paired {
                Some(paired) => {
                    td {
                        (number(paired.before))
                        @if paired.n != metric.scored.len() { " " span.muted { "n " (paired.n) } }
                    }
                    td { (number(paired.now)) } td { (change_between(paired.before, paired.now)) }
                    td { (paired.worse) " / " (paired.better) }
                }
                None => { td { "–" } td { "–" } td { "–" } td { "–" } }
            }
            td class=[(red > 0).then_some("red")] {
                @if metric.gates.is_empty() { "none" }
                @else if red > 0 { (red) " of " (metric.gates.len()) " red" }
                @else { (decided) " passed" }
            }
        }
    }
}

/// Scores of cases that run and baseline both have.
pub(super) struct Paired {
    /// How many.
    pub(super) n: usize,
    /// The baseline's mean.
    pub(super) before: f64,
    /// This run's mean, of settled scores.
    pub(super) now: f64,
    /// Cases that became worse.
    pub(super) worse: usize,
    /// Cases that became better.
    pub(super) better: usize,
}

impl Paired {
    /// Of each pair the baseline's score and this run's; `None` of no pairs.
    pub(super) fn of(pairs: impl Iterator<Item = (f64, f64)>) -> Option<Self> {
        let (before, now): (Vec<f64>, Vec<f64>) = pairs.unzip();
        let of_pairs =
            |is: fn(f64) -> bool| before.iter().zip(&now).filter(|(before, now)| is(**now - **before)).count();
        Some(Self {
            n: now.len(),
            worse: of_pairs(|change| change < -1e-9),
            better: of_pairs(|change| change > 1e-9),
            before: stats::mean(&before)?,
            now: stats::mean(&now)?,
        })
    }
}

fn figure(metric: &MetricView<'_>) -> Markup {
    let name = metric.key.to_string();
    if metric.scored.is_empty() {
        return html! { figure id={ "metric-" (slug(metric)) } { figcaption { strong { (name) } } p.muted { "no case is scored" } } };
    }
    let scores = || metric.scored.iter().map(|(_, score)| *score);
    let now = binned(scores(), BINS);
    let tail = binned(scores().take(metric.decile_size()), BINS);
    let before = binned(metric.paired.iter().map(|(_, before, _)| *before), BINS);
    let bars = metric.rules.map(bars).unwrap_or_default();
    let worst = metric.lowest_decile.map(number).unwrap_or_default();
    let described = format!(
        "Scores from 0 to 1 of {}. The worst tenth, {}, lies at or below {worst}. {}",
        count(metric.scored.len(), "case"),
        count(metric.decile_size(), "case"),
        bars.iter().map(|(name, at)| format!("{name} {at}. ")).collect::<String>()
    );
    let plot = Histogram {
        title: format!("{name}: how the scores are spread"),
        description: described,
        now: &now,
        tail: &tail,
        before: &before,
        bars: &bars,
    };
    let drops = worst_drops(metric);
    html! {
        figure id={ "metric-" (slug(metric)) } {
            figcaption {
                strong { (name) }
                span.legend {
                    span.key.now {} "this run"
                    span.key.tail {} "worst tenth"
                    @if !metric.paired.is_empty() { span.key.before {} "baseline (" (metric.paired.len()) ")" }
                    @if !bars.is_empty() { span.key.bar {} "bar" }
                }
            }
            (plot.draw())
            details {
                summary { "Numbers, and the worst tenth by name" }
                table.numbers {
                    (heads(&["Score", "Cases", "Of the worst tenth", "Baseline"]))
                    tbody {
                        @for bin in (0..BINS).filter(|bin| now[*bin] + before[*bin] > 0) {
                            tr {
                                th scope="row" { (format!("{:.2}–{:.2}", bin as f64 / BINS as f64, (bin + 1) as f64 / BINS as f64)) }
                                td { (now[bin]) } td { (tail[bin]) }
                                td { @if metric.paired.is_empty() { "–" } @else { (before[bin]) } }
                            }
                        }
                    }
                }
                p { "Worst tenth:" }
                ol.tail {
                    @for (case, score) in metric.scored.iter().take(metric.decile_size().min(NAMED)) {
                        li { span.score { (number(*score)) } " " (CaseLink(case)) }
                    }
                }
                @if metric.decile_size() > NAMED {
                    p.muted { "and " (metric.decile_size() - NAMED) " more: sort the list of cases by this metric" }
                }
                @if !drops.is_empty() {
                    p { "Largest drops against the baseline:" }
                    ol.tail {
                        @for (case, before, now) in &drops {
                            li { span.score { (number(*before)) " → " (number(*now)) } " " (CaseLink(case)) }
                        }
                    }
                }
                @if !metric.unmeasured.is_empty() {
                    p { "Unmeasured:" }
                    ul.tail {
                        @for case in metric.unmeasured.iter().take(NAMED) { li { (CaseLink(case)) } }
                        @if metric.unmeasured.len() > NAMED { li.muted { "and " (metric.unmeasured.len() - NAMED) " more" } }
                    }
                }
            }
        }
    }
}

/// The cases that dropped most, worst first.
fn worst_drops<'m>(metric: &'m MetricView<'_>) -> Vec<(&'m rageval_runner::model::CaseId, f64, f64)> {
    let mut drops: Vec<_> = metric.paired.iter().filter(|(_, before, now)| before - now > 1e-9).copied().collect();
    drops.sort_by(|a, b| (b.1 - b.2).total_cmp(&(a.1 - a.2)));
    drops.truncate(NAMED / 2);
    drops
}

/// The bars of the policy that stand on the same scale as a score.
fn bars(rules: &MetricBackground) -> Vec<(&'static str, f64)> {
    let all = [("min", rules.min), ("mean ≥", rules.mean_min), ("worst tenth ≥", rules.bottom10_min)];
    all.into_iter().filter_map(|(name, bar)| Some((name, bar?.get()))).collect()
}

/// The metric's name as it may stand in an address.
fn slug(metric: &MetricView<'_>) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    metric.key.to_string().chars().map(plain).collect()
}
