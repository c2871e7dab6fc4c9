//! What accepting a run changes in a baseline.

use std::collections::BTreeMap;

use crate::{
    metric::Metric,
    model::{
        CaseId, MetricKey, Outcome, UnitInterval,
        run::{Baseline, BaselineCase},
    },
};

/// Scores closer than this are equal.
const SLACK: f64 = 1e-9;

/// What differs between two baselines.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Difference {
    /// Cases that only the later one has.
    pub new: Vec<CaseId>,
    /// Cases whose content differs: their scores are not compared.
    pub changed: Vec<CaseId>,
    /// Cases that only the earlier one has.
    pub vanished: Vec<CaseId>,
    /// Scores of unchanged cases that fell, largest fall first.
    pub lowered: Vec<ScoreChange>,
    /// Scores of unchanged cases that rose, largest rise first.
    pub raised: Vec<ScoreChange>,
    /// Scores of unchanged cases that are no longer there: not applicable now, or no longer measured.
    pub unscored: Vec<(CaseId, MetricKey)>,
    /// Scores of unchanged cases that the earlier one lacks, by metric, in the order of the cases.
    pub added: BTreeMap<MetricKey, Vec<f64>>,
}

/// One score before and after.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreChange {
    /// The case.
    pub case: CaseId,
    /// The metric.
    pub metric: MetricKey,
    /// The earlier score. For a metric that compares with the baseline's answer it is a tie, 0.5: what that answer is against itself.
    pub before: f64,
    /// The later score.
    pub after: f64,
}

impl ScoreChange {
    fn size(&self) -> f64 {
        (self.before - self.after).abs()
    }
}

impl Difference {
    /// Compares by case id; a case whose content digest differs is a changed case and nothing else.
    ///
    /// The score of a metric that [reads the baseline](Metric::reads_baseline) is itself a comparison with the answer that is about to be
    /// replaced: below a tie it is lowered and above it raised, whatever an earlier run scored against an older answer. Where the answer
    /// stays the same, nothing is replaced and it is neither. `metrics` tells which these are; one that is not among them compares nothing.
    pub fn between(earlier: &Baseline, later: &Baseline, metrics: &[&dyn Metric]) -> Self {
        let compares =
            |key: &MetricKey| metrics.iter().any(|metric| metric.name() == key.name() && metric.reads_baseline());
        let mut difference = Self::default();
        for (id, case) in &later.cases {
            match earlier.cases.get(id) {
                None => difference.new.push(id.clone()),
                Some(before) if before.digest != case.digest => difference.changed.push(id.clone()),
                Some(before) => difference.add_scores(id, before, case, compares),
            }
        }
        difference.vanished = earlier.cases.keys().filter(|id| !later.cases.contains_key(id)).cloned().collect();
        // Stable sorts: equal falls stay in the order of case and metric.
        difference.lowered.sort_by(|a, b| b.size().total_cmp(&a.size()));
        difference.raised.sort_by(|a, b| b.size().total_cmp(&a.size()));
        difference
    }

    /// Whether the two say the same of the same cases.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn add_scores(
        &mut self,
        id: &CaseId,
        before: &BaselineCase,
        after: &BaselineCase,
        compares: impl Fn(&MetricKey) -> bool,
    ) {
        let old_of = |metric: &MetricKey| before.outcomes.get(metric).and_then(Outcome::score);
        for (metric, outcome) in &after.outcomes {
            let Some(new) = outcome.score() else { continue };
            let old = old_of(metric);
            if old.is_none() {
                self.added.entry(metric.clone()).or_default().push(new.get());
            }
            let old = match compares(metric) {
                true if (&before.response, before.refused) == (&after.response, after.refused) => continue,
                true => UnitInterval::HALF,
                false => match old {
                    Some(old) => old,
                    None => continue,
                },
            };
            let change = ScoreChange { case: id.clone(), metric: metric.clone(), before: old.get(), after: new.get() };
            if change.size() > SLACK {
                if new < old { self.lowered.push(change) } else { self.raised.push(change) }
            }
        }
        let is_gone = |metric: &&MetricKey| {
            old_of(metric).is_some() && after.outcomes.get(*metric).and_then(Outcome::score).is_none()
        };
        self.unscored.extend(before.outcomes.keys().filter(is_gone).map(|metric| (id.clone(), metric.clone())));
    }
}
