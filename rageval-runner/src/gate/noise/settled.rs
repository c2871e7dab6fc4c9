//! What the readings of a suspect make of its outcome, and how that is told.

use std::collections::BTreeMap;

use super::Settled;
use crate::{
    model::{Claim, Confirmation, Detail, Heard, MetricKey, Outcome, Record, UnitInterval, Verdict},
    report::console::text::{score, visible},
};

/// Claims that a remark names; the rest is counted.
const MOST_NAMED: usize = 3;

/// How the confirmation of a suspect ended. `first` is its first outcome, `now` the further readings, `is_bad` as in [`super::Case`].
///
/// A score outside 0 to 1, which no metric gives, leaves the suspect as first read.
pub fn confirmation(
    first: &Outcome,
    settled: &Settled,
    now: &[Heard],
    is_bad: &dyn Fn(Verdict) -> bool,
) -> Confirmation {
    let unit = UnitInterval::new(settled.score);
    let baseline = settled.baseline.map(UnitInterval::new).transpose();
    let (Ok(value), Ok(baseline)) = (unit, baseline) else {
        return Confirmation::NotConfirmed { why: "its readings made no score between 0 and 1".to_owned() };
    };
    let outcome = outcome(first, settled, value, now, is_bad);
    if settled.is_confirmed {
        Confirmation::Confirmed { outcome, baseline }
    } else {
        Confirmation::Cleared { outcome, baseline }
    }
}

/// The outcome that takes the place of the first one: its claims with the verdicts that most readings gave on the settled side.
fn outcome(
    first: &Outcome,
    settled: &Settled,
    value: UnitInterval,
    now: &[Heard],
    is_bad: &dyn Fn(Verdict) -> bool,
) -> Outcome {
    let detail = first.detail().cloned().unwrap_or_default();
    let detail = if settled.bad.len() == detail.claims.len() && !settled.bad.is_empty() {
        let claims: Vec<Claim> = detail
            .claims
            .into_iter()
            .enumerate()
            .map(|(at, claim)| settled_claim(claim, settled.bad[at], &verdicts_on(at, now), is_bad))
            .collect();
        let good = settled.bad.iter().filter(|bad| !**bad).count();
        Detail { k_of_n: detail.k_of_n.map(|(_, all)| (good, all)), claims, ..detail }
    } else {
        // The claims of the first reading explain its own score alone.
        Detail { note: Some("median of the readings".to_owned()), ..Detail::default() }
    };
    Outcome::scored_with(value, detail).read_first_as(first)
}

/// A claim with its settled verdict; evidence and reason stay only with the verdict that they were given for.
fn settled_claim(claim: Claim, bad: bool, heard: &[Verdict], is_bad: &dyn Fn(Verdict) -> bool) -> Claim {
    let mut counts: BTreeMap<Verdict, usize> = BTreeMap::new();
    for verdict in std::iter::once(claim.verdict).chain(heard.iter().copied()).filter(|verdict| is_bad(*verdict) == bad)
    {
        *counts.entry(verdict).or_default() += 1;
    }
    // Of equally many the first reading's, then the better one.
    let most = counts.values().copied().max().unwrap_or_default();
    let has_most = |verdict: Verdict| counts.get(&verdict) == Some(&most);
    if most == 0 || has_most(claim.verdict) {
        return claim;
    }
    let verdict = counts.keys().copied().find(|verdict| has_most(*verdict)).unwrap_or(claim.verdict);
    Claim { text: claim.text, verdict, evidence: None, reason: None }
}

fn verdicts_on(at: usize, now: &[Heard]) -> Vec<Verdict> {
    let of = |heard: &Heard| match heard {
        Heard::Verdicts { verdicts } => verdicts.get(at).copied(),
        Heard::Score { .. } | Heard::Nothing { .. } => None,
    };
    now.iter().filter_map(of).collect()
}

/// The notice on a metric of a case that its further readings cleared: the case is green, and flaky. `None` where it was not suspected, or not cleared.
pub fn notice(record: &Record, metric: &MetricKey) -> Option<String> {
    let readings = record.readings.get(metric)?;
    let (Some(Confirmation::Cleared { outcome, baseline }), Some(first)) =
        (&readings.confirmation, record.outcomes.get(metric).and_then(Outcome::score))
    else {
        return None;
    };
    let now = outcome.score()?;
    let votes = votes(record, metric);
    let votes = if votes.is_empty() { votes } else { format!(": {votes}") };
    let again = baseline.map(|baseline| format!("; its baseline judged again: {}", score(baseline.get())));
    Some(format!(
        "flaky: {}: {metric} {} at first, {} after {} readings{votes}{}",
        visible(record.case.as_str()),
        score(first.get()),
        score(now.get()),
        readings.now.len() + 1,
        again.unwrap_or_default(),
    ))
}

/// What a red case says of the readings behind a score: `confirmed: claim 2 unsupported in 14 of 15 readings`, `not confirmed: WHY`; `None` where it was
/// not suspected, or is cleared.
pub fn remark(record: &Record, metric: &MetricKey) -> Option<String> {
    let readings = record.readings.get(metric)?;
    match readings.confirmation.as_ref()? {
        Confirmation::Cleared { .. } => None,
        Confirmation::NotConfirmed { why } => Some(format!("not confirmed: {why}")),
        Confirmation::Confirmed { .. } => {
            let votes = votes(record, metric);
            Some(if votes.is_empty() { "confirmed".to_owned() } else { format!("confirmed: {votes}") })
        }
    }
}

/// What the readings say of the claims in question: `claim 2 unsupported in 14 of 15 readings`; of a metric without fixed claims, its scores.
fn votes(record: &Record, metric: &MetricKey) -> String {
    let (Some(first), Some(readings)) = (record.outcomes.get(metric), record.readings.get(metric)) else {
        return String::new();
    };
    let claims = first.detail().map_or(&[][..], |detail| &detail.claims);
    let settled = readings.confirmation.as_ref().and_then(Confirmation::settled).and_then(Outcome::detail);
    let settled = settled.map_or(&[][..], |detail| &detail.claims);
    if claims.is_empty() || settled.len() != claims.len() {
        let of = |heard: &Heard| match heard {
            Heard::Score { score: heard } => Some(score(heard.get())),
            Heard::Verdicts { .. } | Heard::Nothing { .. } => None,
        };
        let scores: Vec<String> = readings.now.iter().filter_map(of).collect();
        return if scores.is_empty() { String::new() } else { format!("read again as {}", scores.join(", ")) };
    }
    let mut said: Vec<String> = Vec::new();
    for (at, (claim, settled)) in claims.iter().zip(settled).enumerate() {
        if claim.verdict == Verdict::Supported {
            continue;
        }
        let all: Vec<Verdict> = std::iter::once(claim.verdict).chain(verdicts_on(at, &readings.now)).collect();
        let as_settled = all.iter().filter(|verdict| **verdict == settled.verdict).count();
        said.push(format!("claim {} {} in {as_settled} of {} readings", at + 1, settled.verdict.as_str(), all.len()));
    }
    let more = said.len().saturating_sub(MOST_NAMED);
    said.truncate(MOST_NAMED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    said.join(", ") + &more
}
