//! What became of one metric over many cases.

use std::{borrow::Cow, collections::BTreeMap};

use super::{
    rule::{Rules, SliceField},
    slice,
};
use crate::{
    model::{CaseId, CaseScores, GoldenCase, GoldenSet, MetricKey, Outcome, Scores, UnitInterval, Unmeasured},
    stats::{self, Cluster, Interval},
};

/// Which reading of a judged score is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// The first one. Numbers over all cases are made of these, since of the others only suspects have any.
    First,
    /// What the readings of a suspect settled, else the first one.
    Settled,
}

/// What became of one metric over many cases. The three add up to the cases.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    /// Cases with a score, in the order given.
    pub scored: Vec<(CaseId, f64)>,
    /// Cases to which the metric does not apply, with the reason.
    pub not_applicable: Vec<(CaseId, String)>,
    /// Cases that should have a score and have none, with the fault.
    pub unmeasured: Vec<(CaseId, Unmeasured)>,
}

impl Tally {
    /// Counts the outcomes of these cases. A case without record, or whose record lacks the metric, is unmeasured.
    pub fn of(metric: &MetricKey, cases: &[CaseId], scores: &Scores) -> Self {
        Self::by(Reading::First, metric, cases, scores)
    }

    /// Counts what these readings made of these cases.
    pub fn by(reading: Reading, metric: &MetricKey, cases: &[CaseId], scores: &Scores) -> Self {
        let mut tally = Self::default();
        for case in cases {
            match &*reading.outcome_of(metric, scores.get(case).map(|scores| &**scores)) {
                Outcome::Scored { score, .. } => tally.scored.push((case.clone(), score.value.get())),
                Outcome::NotApplicable { why } => tally.not_applicable.push((case.clone(), why.clone())),
                Outcome::Unmeasured { fault } => tally.unmeasured.push((case.clone(), fault.clone())),
            }
        }
        tally
    }

    /// All cases.
    pub fn total(&self) -> usize {
        self.scored.len() + self.not_applicable.len() + self.unmeasured.len()
    }

    /// The scores, in the order of the cases.
    pub fn scores(&self) -> Vec<f64> {
        self.scored.iter().map(|(_, score)| *score).collect()
    }

    /// The scores, and 0 for each unmeasured case.
    pub fn scores_with_zeros(&self) -> Vec<f64> {
        let zeros = self.unmeasured.iter().map(|_| 0.0);
        self.scored.iter().map(|(_, score)| *score).chain(zeros).collect()
    }

    /// The scored cases, lowest score first, then by id.
    pub fn lowest_first(&self) -> Vec<&(CaseId, f64)> {
        let mut cases: Vec<_> = self.scored.iter().collect();
        cases.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
        cases
    }

    /// The mean of the scores with its interval; `None` when nothing is scored.
    pub fn mean(&self, set: &GoldenSet, cluster: &SliceField, seed: u64) -> Option<Aggregate> {
        let value = stats::mean(&self.scores())?;
        let interval = stats::mean_interval(&clusters(&self.scored, set, cluster), seed);
        Some(self.aggregate("mean", value, interval))
    }

    /// The share of scored cases at or above a score, with its Wilson interval; `None` when nothing is scored.
    pub fn pass_rate(&self, of: f64) -> Option<Aggregate> {
        let passed = self.scored.iter().filter(|(_, score)| super::holds_min(*score, of)).count();
        let interval = stats::wilson(passed, self.scored.len())?;
        Some(self.aggregate("pass rate", passed as f64 / self.scored.len() as f64, Some(interval)))
    }

    /// The ceil(0.10 n)-th lowest score with its interval by order statistics; an end that the cases do not bound is that of all scores.
    pub fn lowest_decile(&self) -> Option<Aggregate> {
        let scores = self.scores();
        let value = stats::lowest_decile(&scores)?;
        let (low, high) = stats::lowest_decile_limits(&scores);
        let (zero, one) = (UnitInterval::ZERO.get(), UnitInterval::ONE.get());
        let interval = Interval { low: low.unwrap_or(zero), high: high.unwrap_or(one) };
        Some(self.aggregate("quantile", value, Some(interval)))
    }

    /// The mean of the ceil(0.10 n) lowest scores; without interval, which a bootstrap of so few does not give.
    pub fn lowest_decile_mean(&self) -> Option<Aggregate> {
        Some(self.aggregate("tail mean", stats::lowest_decile_mean(&self.scores())?, None))
    }

    /// A number over these cases with what it was made from.
    pub fn aggregate(&self, name: &'static str, value: f64, interval: Option<Interval>) -> Aggregate {
        Aggregate {
            name,
            value,
            interval,
            scored: self.scored.len(),
            not_applicable: self.not_applicable.len(),
            unmeasured: self.unmeasured.len(),
        }
    }
}

/// A number over many cases, with what it was made from: never shown without.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    /// `mean`, `pass rate`, ...
    pub name: &'static str,
    /// The number.
    pub value: f64,
    /// Its 95 % interval, where there is one.
    pub interval: Option<Interval>,
    /// Cases that entered it.
    pub scored: usize,
    /// Cases to which the metric does not apply.
    pub not_applicable: usize,
    /// Cases that are missing from it.
    pub unmeasured: usize,
}

impl Reading {
    /// What became of a metric in a record by this reading.
    pub fn outcome_of<'a>(self, metric: &MetricKey, scores: Option<&'a CaseScores>) -> Cow<'a, Outcome> {
        let settled = match self {
            Self::Settled => scores.and_then(|scores| scores.settled(metric)),
            Self::First => None,
        };
        settled.unwrap_or_else(|| outcome_of(metric, scores))
    }
}

/// What became of a metric by its first reading.
pub fn outcome_of<'a>(metric: &MetricKey, scores: Option<&'a CaseScores>) -> Cow<'a, Outcome> {
    let Some(scores) = scores else {
        return Cow::Owned(Outcome::unmeasured("no record", "the case was not evaluated"));
    };
    match (scores.outcome(metric), &scores.failed) {
        (Some(outcome), _) => outcome,
        (None, Some(fault)) => Cow::Owned(Outcome::Unmeasured { fault: fault.clone() }),
        (None, None) => {
            Cow::Owned(Outcome::unmeasured("no outcome", format!("the record holds no outcome of {metric}")))
        }
    }
}

/// Every fault of a case, with the metric where it is one metric's: none only when each metric of the policy and of the case itself is scored or not applicable.
pub fn faults_of(
    case: &GoldenCase,
    scores: Option<&CaseScores>,
    rules: &Rules,
) -> Vec<(Option<MetricKey>, Unmeasured)> {
    let Some(scores) = scores else {
        return vec![(None, Unmeasured::new("no record", "the case was not evaluated"))];
    };
    let mut faults: Vec<_> =
        scores.faults().into_iter().map(|(metric, fault)| (metric.cloned(), fault.clone())).collect();
    if scores.failed.is_none() {
        for (metric, _) in rules.metrics_of(case).filter(|(metric, _)| !scores.holds(metric)) {
            if let Some(fault) = outcome_of(metric, Some(scores)).fault() {
                faults.push((Some(metric.clone()), fault.clone()));
            }
        }
    }
    faults
}

/// The numbers in clusters of one value each of a field, such as the source document; a case without it is a cluster of its own.
///
/// A case with several values, which only tags have, belongs to the first: the loader refuses to cluster by them.
pub fn clusters(numbers: &[(CaseId, f64)], set: &GoldenSet, field: &SliceField) -> Vec<Cluster> {
    let value = |case| slice::values_of(case, field).into_iter().next();
    let values: BTreeMap<&CaseId, &str> =
        set.cases.iter().filter_map(|case| value(case).map(|value| (&case.id, value))).collect();
    let mut of_value: BTreeMap<&str, Cluster> = BTreeMap::new();
    let mut clusters = Vec::new();
    for (case, number) in numbers {
        match values.get(case) {
            Some(value) => of_value.entry(value).or_default().add(*number),
            None => clusters.push(Cluster::one(*number)),
        }
    }
    clusters.extend(of_value.into_values());
    clusters
}
