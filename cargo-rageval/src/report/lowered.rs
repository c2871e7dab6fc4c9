//! Which scores a baseline lowered, and what was written as the reason.

use std::collections::BTreeMap;

use rageval_runner::model::{
    CaseId, MetricKey, Outcome,
    run::{Baseline, LoweredScores, Run},
};
use serde::Serialize;

/// Which scores the run's baseline lowered.
#[derive(Debug)]
pub(crate) struct Lowered<'r> {
    /// Against what: the base branch's baseline; `None` where no file of it was named, and the reasons in the baseline itself tell.
    pub(crate) base: Option<String>,
    /// Each score, by case and metric.
    pub(crate) scores: Vec<LoweredScore<'r>>,
}

/// One score that is lower than it was accepted before, or gone.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub(crate) struct LoweredScore<'r> {
    /// The case.
    pub(crate) case: CaseId,
    /// The metric.
    pub(crate) metric: MetricKey,
    /// The score before, 0 to 1; absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<f64>,
    /// The score that is accepted now; absent where it is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) now: Option<f64>,
    /// What was written as the reason; absent where nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<&'r str>,
}

impl<'r> Lowered<'r> {
    /// What the reasons that the run's baseline keeps say, the newest of each score.
    pub(crate) fn stored(run: &'r Run) -> Self {
        let mut scores: BTreeMap<(&CaseId, &MetricKey), LoweredScore<'r>> = BTreeMap::new();
        for LoweredScores { reason, scores: lowered, gone } in reasons(run) {
            let of_scores = lowered.iter().map(|(case, metric, before, now)| (case, metric, Some(*before), Some(*now)));
            let of_gone = gone.iter().map(|(case, metric)| (case, metric, None, None));
            for (case, metric, before, now) in of_scores.chain(of_gone) {
                let (reason, of) = (Some(reason.as_str()), (case.clone(), metric.clone()));
                scores.insert((case, metric), LoweredScore { case: of.0, metric: of.1, before, now, reason });
            }
        }
        Self { base: None, scores: scores.into_values().collect() }
    }

    /// What is lower in the run's baseline than in that of the base branch, or is gone from it.
    pub(crate) fn against(run: &'r Run, base: &Baseline, name: String) -> Self {
        let vanished =
            run.background.baseline.as_ref().map(|baseline| baseline.vanished.as_slice()).unwrap_or_default();
        let accepted: BTreeMap<&CaseId, &BTreeMap<MetricKey, Outcome>> =
            run.cases.iter().filter_map(|case| Some((&case.case, &case.accepted.as_ref()?.outcomes))).collect();
        let mut scores = Vec::new();
        for (case, before) in &base.cases {
            // It stands in the run's baseline, but the set lacks it, so that the run holds none of its scores.
            if vanished.contains(case) {
                continue;
            }
            for (metric, before) in &before.outcomes {
                let Some(before) = before.score().map(|score| score.get()) else { continue };
                let now = accepted.get(case).and_then(|outcomes| outcomes.get(metric)).and_then(Outcome::score);
                let now = now.map(|score| score.get());
                if now.is_none_or(|now| now < before) {
                    let reason = reason_of(run, case, metric);
                    let (case, metric) = (case.clone(), metric.clone());
                    scores.push(LoweredScore { case, metric, before: Some(before), now, reason });
                }
            }
        }
        Self { base: Some(name), scores }
    }
}

fn reasons(run: &Run) -> &[LoweredScores] {
    run.background.baseline.as_ref().map(|baseline| baseline.manifest.reasons.as_slice()).unwrap_or_default()
}

/// The newest reason that names this score.
fn reason_of<'r>(run: &'r Run, case: &CaseId, metric: &MetricKey) -> Option<&'r str> {
    let names_it = |lowered: &&LoweredScores| {
        lowered.scores.iter().any(|(of, key, ..)| of == case && key == metric)
            || lowered.gone.iter().any(|(of, key)| of == case && key == metric)
    };
    reasons(run).iter().rev().find(names_it).map(|lowered| lowered.reason.as_str())
}
