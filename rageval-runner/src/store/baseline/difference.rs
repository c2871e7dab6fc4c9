//! What accepting a run changes in a baseline.

use crate::model::{
    CaseId, MetricKey, Outcome,
    run::{Baseline, BaselineCase},
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
}

/// One score before and after.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreChange {
    /// The case.
    pub case: CaseId,
    /// The metric.
    pub metric: MetricKey,
    /// The earlier score.
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
    pub fn between(earlier: &Baseline, later: &Baseline) -> Self {
        let mut difference = Self::default();
        for (id, case) in &later.cases {
            match earlier.cases.get(id) {
                None => difference.new.push(id.clone()),
                Some(before) if before.digest != case.digest => difference.changed.push(id.clone()),
                Some(before) => difference.add_scores(id, before, case),
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

    fn add_scores(&mut self, id: &CaseId, before: &BaselineCase, after: &BaselineCase) {
        for (metric, outcome) in &before.outcomes {
            let Some(old) = outcome.score() else { continue };
            let Some(new) = after.outcomes.get(metric).and_then(Outcome::score) else {
                self.unscored.push((id.clone(), metric.clone()));
                continue;
            };
            let change = ScoreChange { case: id.clone(), metric: metric.clone(), before: old.get(), after: new.get() };
            if change.size() > SLACK {
                if new < old { self.lowered.push(change) } else { self.raised.push(change) }
            }
        }
    }
}
