//! Reduces the repeats of a case to one outcome of each metric.

use std::collections::{BTreeMap, BTreeSet};

use super::{basis::holds_min, rule::Rules};
use crate::{
    model::{
        Detail, GoldenCase, MetricKey, Outcome, Record, Reduced, Reduction, Repeat, Repeated, Score, Taken,
        UnitInterval, Unmeasured,
    },
    stats::{pass_all, pass_at},
};

/// The cause of a metric that has scores and cannot be reduced.
pub const CAUSE: &str = "repeats not reduced";

/// One outcome out of those of all repeats, in any order.
///
/// - Any repeat that is unmeasured makes it unmeasured, for the cause of the first.
/// - Not applicable in all of them: not applicable. In some: these are left out, as cases are to which a metric does not apply, and
///   `Reduced::scored` tells how many are left; `pass@k` and `pass^k` need at least `k` of them, else it is unmeasured.
/// - A repeat passes at a score of at least `min`. A majority without `min` takes scores of 0 and 1 only; half is no majority.
///
/// The claims of no repeat are in its detail: the score is made of none of them alone.
pub fn reduced(by: Reduction, min: Option<UnitInterval>, outcomes: &[&Outcome]) -> Outcome {
    if let Some(fault) = fault(outcomes.iter().map(|outcome| outcome.fault())) {
        return Outcome::Unmeasured { fault };
    }
    let mut scores: Vec<f64> = outcomes.iter().filter_map(|outcome| outcome.score()).map(UnitInterval::get).collect();
    let (times, scored) = (outcomes.len(), scores.len());
    if scored == 0 {
        let whys: BTreeSet<&str> = outcomes.iter().filter_map(|outcome| why_not_applicable(outcome)).collect();
        return Outcome::not_applicable(whys.into_iter().collect::<Vec<_>>().join("; "));
    }
    // In one order whatever that of the repeats, so that the last digit of a sum is the same.
    scores.sort_by(f64::total_cmp);
    let value = match value(by, min, &scores) {
        Ok(value) => value,
        Err(why) => return Outcome::unmeasured(CAUSE, why),
    };
    let reduced = Reduced { by, times, scored, min };
    match UnitInterval::new(value) {
        Ok(value) => {
            let detail = Detail { reduced: Some(reduced), ..Detail::default() };
            Outcome::Scored { score: Score::from(value), detail }
        }
        Err(error) => Outcome::unmeasured(CAUSE, error.to_string()),
    }
}

/// The number of sorted scores, at least one; an error says why there is none.
fn value(by: Reduction, min: Option<UnitInterval>, scores: &[f64]) -> Result<f64, String> {
    let n = scores.len();
    let passed = |min: UnitInterval| scores.iter().filter(|score| holds_min(**score, min.get())).count();
    match by {
        // The sum of equal numbers is a little off; their mean is not.
        Reduction::Mean if scores[0] == scores[n - 1] => Ok(scores[0]),
        Reduction::Mean => Ok(scores.iter().sum::<f64>() / n as f64),
        Reduction::Median => Ok(f64::midpoint(scores[(n - 1) / 2], scores[n / 2])),
        Reduction::Worst => Ok(scores[0]),
        Reduction::Majority => {
            let passed = match min {
                Some(min) => passed(min),
                None => match scores.iter().find(|score| **score != 0.0 && **score != 1.0) {
                    Some(score) => {
                        return Err(format!(
                            "`majority` takes scores of 0 and 1, or a `min` from which a repeat passes; one is {score}"
                        ));
                    }
                    None => passed(UnitInterval::ONE),
                },
            };
            Ok(if passed * 2 > n { 1.0 } else { 0.0 })
        }
        Reduction::PassAt(k) | Reduction::PassAll(k) => {
            let min = min.ok_or_else(|| format!("`{by}` needs a `min`, from which a repeat passes"))?;
            let estimate = if matches!(by, Reduction::PassAt(_)) { pass_at } else { pass_all };
            estimate(n, passed(min), k).ok_or_else(|| {
                format!(
                    "`{by}` needs {k} repeats with a score, and {n} have one: the metric does not apply to the others"
                )
            })
        }
    }
}

/// The first fault of repeats, with its place among them and how many more there are.
fn fault<'f>(faults: impl ExactSizeIterator<Item = Option<&'f Unmeasured>>) -> Option<Unmeasured> {
    let times = faults.len();
    let faults: Vec<(usize, &Unmeasured)> =
        faults.enumerate().filter_map(|(at, fault)| fault.map(|fault| (at + 1, fault))).collect();
    let (first, fault) = faults.first()?;
    let more = match faults.len() - 1 {
        0 => String::new(),
        more => format!("; and {more} more of them"),
    };
    Some(Unmeasured::new(fault.cause.clone(), format!("repeat {first} of {times}: {}{more}", fault.why)))
}

fn why_not_applicable(outcome: &Outcome) -> Option<&str> {
    match outcome {
        Outcome::NotApplicable { why } => Some(why),
        Outcome::Scored { .. } | Outcome::Unmeasured { .. } => None,
    }
}

/// The record of a case that was asked several times.
///
/// Its sample is that of the repeat whose scores lie nearest the reduced ones, summed over the metrics, the first of equals: the one
/// that stands for the case in a baseline. Where the system failed in any repeat there is no sample, whatever the others hold.
pub fn record(case: &GoldenCase, rules: &Rules, each: Vec<Repeat>) -> Record {
    let mut outcomes = BTreeMap::new();
    for (key, _) in rules.metrics_of(case) {
        let of_each: Vec<&Outcome> = each.iter().filter_map(|repeat| repeat.outcomes.get(key)).collect();
        let outcome = if of_each.len() == each.len() {
            reduced(rules.reduction_of(case, key), rules.min_of(case, key), &of_each)
        } else {
            Outcome::unmeasured(
                CAUSE,
                format!("{} of {} repeats have no outcome", each.len() - of_each.len(), each.len()),
            )
        };
        outcomes.insert(key.clone(), outcome);
    }
    let failed = |repeat: &Repeat| match &repeat.taken {
        Taken::Sample(_) => None,
        Taken::Failed(fault) => Some(fault.clone()),
    };
    let failures: Vec<Option<Unmeasured>> = each.iter().map(failed).collect();
    let first_failure = failures.iter().position(Option::is_some);
    let shown = first_failure.unwrap_or_else(|| nearest(&each, &outcomes));
    let taken = match fault(failures.iter().map(Option::as_ref)) {
        Some(fault) => Taken::Failed(fault),
        None => each[shown].taken.clone(),
    };
    let transcript = each[shown].transcript.clone();
    let mut record = Record::new(case.id.clone(), case.digest(), taken, outcomes, transcript);
    record.repeats = Some(Repeated { shown: shown + 1, each });
    record
}

/// The place of the repeat whose scores lie nearest the reduced ones.
fn nearest(each: &[Repeat], reduced: &BTreeMap<MetricKey, Outcome>) -> usize {
    let score = |outcomes: &BTreeMap<MetricKey, Outcome>, key| outcomes.get(key).and_then(Outcome::score);
    let distance = |repeat: &Repeat| -> f64 {
        let of_metric = |key| match (score(reduced, key), score(&repeat.outcomes, key)) {
            (Some(reduced), Some(own)) => (reduced.get() - own.get()).abs(),
            // It lacks a score that others have, so that it stands for the case least.
            (Some(_), None) => 1.0,
            (None, _) => 0.0,
        };
        reduced.keys().map(of_metric).sum()
    };
    let distances: Vec<f64> = each.iter().map(distance).collect();
    // `min_by` gives the first of equals.
    (0..each.len()).min_by(|a, b| distances[*a].total_cmp(&distances[*b])).unwrap_or_default()
}

/// Whether a record was asked as often and reduced as the rules say now, so that it may be decided under them.
pub fn is_of(case: &GoldenCase, record: &Record, rules: &Rules) -> bool {
    let times = record.repeats.as_ref().map_or(1, |repeats| repeats.each.len());
    let same_way = |(key, outcome): (&MetricKey, &Outcome)| {
        let now = Reduced { by: rules.reduction_of(case, key), times, scored: times, min: rules.min_of(case, key) };
        let stored = outcome.detail().and_then(|detail| detail.reduced);
        stored.is_none_or(|stored| stored.by == now.by && stored.estimand() == now.estimand())
    };
    times == case.repeats.times && record.outcomes.iter().all(same_way)
}

#[cfg(test)]
mod tests;
