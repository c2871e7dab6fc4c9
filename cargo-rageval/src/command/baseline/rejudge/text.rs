//! What a rejudged baseline says of one metric, in text.

use std::fmt::Write as _;

use rageval_runner::{
    model::{Claim, MetricKey, Outcome, Verdict},
    report::{
        console::text::{against, interval_text, score, shortened, visible},
        judged::word,
    },
    stats::wilson,
    trust::drift::{Drift, Shift},
};

use super::{super::count, TEXT};

/// So many cases are shown to be read, and so many claims of each.
const TO_READ: usize = 5;
const CLAIMS: usize = 3;

/// One metric.
pub(super) fn told(out: &mut String, drift: &Drift<'_>) {
    let _ = writeln!(out, "\n{}  {} scored by both", drift.metric, count(drift.shifts.len(), "answer"));
    if let (Some(before), Some(now)) = (drift.before, drift.now) {
        let interval = drift.interval.as_ref().map(|interval| format!(" {}", interval_text(interval)));
        let interval = interval.unwrap_or_else(|| " (no interval: all shifts are equal)".to_owned());
        let _ = writeln!(out, "  mean     {before:.3} -> {now:.3}, shift {:+.3}{interval}", now - before);
        let rank = match drift.rho {
            Some(rho) => format!("correlation {rho:.2}"),
            None => "no correlation: one judge gives all answers one score".to_owned(),
        };
        let _ = writeln!(out, "  ranks    {rank}");
    }
    if let Some(flips) = drift.flips {
        let share = wilson(flips.flipped(), flips.claims).map(|interval| interval_text(&interval)).unwrap_or_default();
        let _ = writeln!(
            out,
            "  flipped  {} of {}, {:.3} {share}: {} to bad, {} to good",
            flips.flipped(),
            count(flips.claims, "verdict"),
            flips.flipped() as f64 / flips.claims as f64,
            flips.to_bad,
            flips.to_good
        );
    } else {
        let _ = writeln!(out, "  moved    {} of {}", drift.moved().count(), count(drift.shifts.len(), "score"));
    }
    let mut label = "read";
    for shift in drift.moved().take(TO_READ) {
        to_read(out, label, shift, drift.metric);
        label = "";
    }
    for of in &drift.one_sided {
        let what = |outcome: &Outcome| match outcome {
            Outcome::Scored { score: of, .. } => score(of.value.get()),
            Outcome::NotApplicable { why } => format!("not applicable ({why})"),
            Outcome::Unmeasured { fault } => format!("unmeasured ({})", fault.cause),
        };
        let _ = writeln!(out, "  {label:<8} {}  {} -> {}", of.case, what(&of.before), visible(&what(&of.now)));
        label = "";
    }
}

/// A case whose score moved, with the claims that flipped, else with those that are bad now.
fn to_read(out: &mut String, label: &str, shift: &Shift<'_>, metric: &MetricKey) {
    let Shift { of, before, now } = shift;
    let word = |verdict| word(verdict, metric);
    let _ = writeln!(out, "  {label:<8} {}  {} -> {}", of.case, against(*before, *now), against(*now, *before));
    let quoted = |claim: &Claim| format!("\"{}\"", shortened(&claim.text, TEXT));
    let flipped: Vec<String> = of
        .claims
        .iter()
        .filter(|(claim, verdict)| claim.verdict != *verdict)
        .map(|(claim, verdict)| format!("{} -> {}  {}", word(claim.verdict), word(*verdict), quoted(claim)))
        .collect();
    let bad_now = of.now.detail().into_iter().flat_map(|detail| &detail.claims);
    let bad_now = bad_now.filter(|claim| claim.verdict != Verdict::Supported);
    let bad_now = bad_now.map(|claim| format!("now {}  {}", word(claim.verdict), quoted(claim)));
    let lines = if flipped.is_empty() { bad_now.collect() } else { flipped };
    for line in lines.iter().take(CLAIMS) {
        let _ = writeln!(out, "           {line}");
    }
}
