//! One metric for people.

use rageval_runner::{
    gate::rule::Level,
    model::{Claim, Confirmation, Heard, MetricKey, Outcome, Readings, Verdict},
    report::{console::text::score, judged::word},
};

use super::{
    super::{
        account::in_a_word,
        measured::{Measured, OfBaseline, OfRule, Says},
    },
    Page, bar_of, shown,
};

/// Columns of the label that is a metric's name.
const NAME: usize = 24;

/// A metric among the others.
pub(super) fn short(page: &mut Page, metric: &Measured) {
    headline(page, metric);
    for line in numbers(metric) {
        page.text("", &line);
    }
    rule(page, metric);
    baseline(page, metric);
}

/// A metric alone.
pub(super) fn long(page: &mut Page, metric: &Measured) {
    headline(page, metric);
    if let Some(about) = &metric.about {
        page.text("measures", about);
    }
    match metric.formula {
        Some(formula) => page.text("formula", formula),
        None => page.text("formula", "a metric of the test binary does not say; its note and claims are what is known"),
    }
    for (line, n) in numbers(metric).iter().zip(0..) {
        page.text(if n == 0 { "numbers" } else { "" }, line);
    }
    for repeat in &metric.repeats {
        let label = format!("repeat {}", repeat.number);
        page.text(&label, &said(&repeat.outcome));
        for line in &repeat.worked {
            page.text("", line);
        }
    }
    rule(page, metric);
    baseline(page, metric);
    let shown = metric.settled.as_ref().unwrap_or(&metric.outcome);
    if let Some(detail) = shown.detail() {
        claims(page, &detail.claims, &metric.metric);
    }
    if let Some(readings) = &metric.readings {
        of_readings(page, readings, metric);
    }
}

fn headline(page: &mut Page, metric: &Measured) {
    let outcome = metric.settled.as_ref().unwrap_or(&metric.outcome);
    let mark = match metric.rule.as_ref().map(|rule| rule.says) {
        Some(Says::Fails) => "  FAILS",
        Some(Says::Undecided) => "  RED",
        Some(Says::Warns) => "  warns",
        Some(Says::KnownFailure) => "  known failure",
        Some(Says::Holds | Says::Nothing) | None => "",
    };
    let first = match &metric.settled {
        Some(_) => format!(" (first read as {})", in_a_word(&metric.outcome)),
        None => String::new(),
    };
    let name = shown(&metric.metric.to_string());
    page.lines.push(format!("{name:<NAME$}{}{first}{mark}", in_a_word(outcome)));
}

/// The numbers, or why there are none and what to do.
fn numbers(metric: &Measured) -> Vec<String> {
    let outcome = metric.settled.as_ref().unwrap_or(&metric.outcome);
    let mut lines = metric.worked.clone();
    match outcome {
        Outcome::Scored { detail, .. } if lines.is_empty() => {
            lines.extend(detail.k_of_n.map(|(k, n)| format!("{k} of {n}")));
            lines.extend(detail.note.clone());
        }
        Outcome::Scored { .. } => {}
        Outcome::NotApplicable { why } => {
            lines.push(format!("not applicable because {why}; it enters no mean, and no rule on it holds"));
        }
        Outcome::Unmeasured { fault } => {
            lines.push(format!("unmeasured, which is red: {}: {}", fault.cause, fault.why));
        }
    }
    lines.extend(metric.advice.map(|advice| match outcome {
        Outcome::Unmeasured { .. } => format!("what to do: {advice}"),
        Outcome::Scored { .. } | Outcome::NotApplicable { .. } => advice.to_owned(),
    }));
    lines
}

fn said(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Scored { .. } => in_a_word(outcome),
        Outcome::NotApplicable { why } => format!("not applicable because {why}"),
        Outcome::Unmeasured { fault } => format!("unmeasured: {}: {}", fault.cause, fault.why),
    }
}

fn rule(page: &mut Page, metric: &Measured) {
    let Some(rule) = &metric.rule else { return };
    let OfRule { places, min, max_drop, level, counts_in, says: _, why } = rule;
    let bars: Vec<String> = [bar_of("min", *min), bar_of("max_drop", *max_drop)].into_iter().flatten().collect();
    let warns = if *level == Level::Warn && !bars.is_empty() { ", level warn" } else { "" };
    let bars = if bars.is_empty() { String::new() } else { format!("{}{warns}; ", bars.join(", ")) };
    page.text("rule", &format!("{bars}{why} ({})", places.join(", ")));
    if !counts_in.is_empty() {
        page.text("counts in", &counts_in.join("; "));
    }
}

fn baseline(page: &mut Page, metric: &Measured) {
    match &metric.baseline {
        OfBaseline::Accepted { outcome } => {
            let outcome_now = metric.settled.as_ref().unwrap_or(&metric.outcome);
            let change = match (outcome.score(), outcome_now.score()) {
                (Some(before), Some(now)) if before == now => ", unchanged".to_owned(),
                (Some(before), Some(now)) => {
                    let change = now.get() - before.get();
                    format!(", {}{} since", if change < 0.0 { "-" } else { "+" }, score(change.abs()))
                }
                (_, _) => String::new(),
            };
            page.text("baseline", &format!("{}{change}", in_a_word(outcome)));
        }
        OfBaseline::None { why } => page.text("baseline", &format!("none: {why}")),
        OfBaseline::Nowhere => {}
    }
}

fn claims(page: &mut Page, claims: &[Claim], metric: &MetricKey) {
    for (claim, n) in claims.iter().zip(1..) {
        page.text(&format!("claim {n}"), &format!("{}: {}", word(claim.verdict, metric), claim.text));
        if let Some(evidence) = &claim.evidence {
            let id = evidence.id.as_ref().map(|id| format!("{}: ", id.as_str())).unwrap_or_default();
            page.text("  evidence", &format!("{id}\"{}\"", evidence.text));
        }
        if let Some(reason) = &claim.reason {
            page.text("  reason", reason);
        }
    }
}

fn of_readings(page: &mut Page, readings: &Readings, metric: &Measured) {
    let first = &metric.outcome;
    page.text(
        "read again",
        &match &readings.confirmation {
            Some(Confirmation::Confirmed { .. }) => {
                format!("confirmed by further readings; the first one scored {}", in_a_word(first))
            }
            Some(Confirmation::Cleared { .. }) => {
                format!("cleared by further readings: the first one was noise, and scored {}", in_a_word(first))
            }
            Some(Confirmation::NotConfirmed { why }) => format!("not confirmed: {why}; the first reading stands"),
            None => "for the drop of a mean alone; the first reading stands".to_owned(),
        },
    );
    for (label, heard) in [("reading", &readings.now), ("of baseline", &readings.baseline)] {
        for (heard, n) in heard.iter().zip(2..) {
            page.text(&format!("{label} {n}"), &heard_text(heard, &metric.metric));
        }
    }
    if let Some(second) = &readings.second {
        let (now, before) = (score(second.now.get()), score(second.before.get()));
        page.text(
            "second",
            &format!("read once more for the drop of the mean: {now}, and the baseline's answer {before}"),
        );
    }
    if readings.second_failed {
        page.text("second", "a fresh reading for the drop of the mean was wanted, and a side gave none");
    }
}

fn heard_text(heard: &Heard, metric: &MetricKey) -> String {
    match heard {
        Heard::Verdicts { verdicts } => {
            let verdicts =
                (1..).zip(verdicts).map(|(n, verdict): (usize, &Verdict)| format!("{n} {}", word(*verdict, metric)));
            verdicts.collect::<Vec<_>>().join(", ")
        }
        Heard::Score { score: heard } => score(heard.get()),
        Heard::Nothing { why } => format!("no vote: {why}"),
    }
}
