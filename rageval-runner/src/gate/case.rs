//! What the rules say of one case.

use super::{
    basis::{Basis, Incomparable, holds_drop, holds_min},
    rule::Level,
    tally,
};
use crate::{
    model::{
        GoldenCase, MetricKey, Record, Unmeasured,
        run::{Decision, Ruling},
    },
    report::console,
};

/// A rule that a score breaks.
#[derive(Debug, Clone, PartialEq)]
pub struct Broken {
    /// The metric.
    pub metric: MetricKey,
    /// The score.
    pub score: f64,
    /// The bar.
    pub bar: Bar,
}

/// The bar of a rule on one case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bar {
    /// The lowest score that passes.
    Min(f64),
    /// The largest drop against the baseline that passes.
    MaxDrop {
        /// The baseline's score.
        baseline: f64,
        /// The bar.
        max_drop: f64,
    },
}

/// A snapshot that makes its case red.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SnapshotFailure {
    /// Why, as a phrase: `no snapshot`, `faithfulness: 3 of 4 -> 2 of 4`.
    pub why: String,
    /// The difference, a line each, with the mark of a diff first.
    pub diff: Vec<String>,
}

/// What the rules say of one case.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CaseFindings {
    /// Broken rules that make it red.
    pub failed: Vec<Broken>,
    /// Broken rules that only warn.
    pub warned: Vec<Broken>,
    /// Broken rules of metrics in which it is known to fail.
    pub known: Vec<Broken>,
    /// Metrics that it is said to fail, and in which it breaks no rule.
    pub recovered: Vec<MetricKey>,
    /// What is unmeasured: of the system once, else of each metric.
    pub faults: Vec<(Option<MetricKey>, Unmeasured)>,
    /// Drops that can't be decided.
    pub undecided: Vec<(MetricKey, Incomparable)>,
}

impl CaseFindings {
    /// Whether the case is red for its scores or for what is unmeasured; snapshots apart.
    pub fn ruling(&self, max_unmeasured: usize) -> Ruling {
        if !self.failed.is_empty() {
            Ruling::Fail
        } else if !self.undecided.is_empty() || (!self.faults.is_empty() && max_unmeasured == 0) {
            Ruling::Undecided
        } else if !self.faults.is_empty() {
            Ruling::Inconclusive
        } else {
            Ruling::Pass
        }
    }
}

/// What the rules say of one case: its own bars over the policy's.
pub fn case_findings(case: &GoldenCase, record: &Record, basis: &Basis<'_>) -> CaseFindings {
    let mut findings = CaseFindings { faults: tally::faults_of(Some(record), basis.rules), ..CaseFindings::default() };
    let known_metrics = case.known_failure.as_ref().map_or(&[][..], |known| &known.metrics);
    for (metric, rule) in &basis.rules.metrics {
        let own = case.bars.get(metric);
        let min = own.and_then(|own| own.min).or(rule.min);
        let max_drop = own.and_then(|own| own.max_drop).or(rule.max_drop);
        let Some(score) = record.outcomes.get(metric).and_then(crate::model::Outcome::score) else { continue };
        let score = score.get();
        let mut broken = Vec::new();
        if let Some(min) = min.filter(|min| !holds_min(score, min.get())) {
            broken.push(Bar::Min(min.get()));
        }
        match (max_drop, baseline_score(case, record, metric, basis)) {
            (Some(max_drop), Some(Ok(baseline))) if !holds_drop(baseline - score, max_drop.get()) => {
                broken.push(Bar::MaxDrop { baseline, max_drop: max_drop.get() });
            }
            (Some(_), Some(Err(why))) if rule.level == Level::Fail => findings.undecided.push((metric.clone(), why)),
            (Some(_) | None, Some(_) | None) => {}
        }
        let is_known = known_metrics.contains(metric);
        if is_known && broken.is_empty() {
            findings.recovered.push(metric.clone());
        }
        let list = match rule.level {
            _ if is_known => &mut findings.known,
            Level::Fail => &mut findings.failed,
            Level::Warn => &mut findings.warned,
        };
        list.extend(broken.into_iter().map(|bar| Broken { metric: metric.clone(), score, bar }));
    }
    findings
}

/// The accepted score of this case; `None` for a case or metric that is new, changed, or had no score.
fn baseline_score(
    case: &GoldenCase,
    record: &Record,
    metric: &MetricKey,
    basis: &Basis<'_>,
) -> Option<Result<f64, Incomparable>> {
    let accepted = basis.baseline?.cases.get(&case.id).filter(|accepted| accepted.digest == record.digest)?;
    let score = accepted.outcomes.get(metric)?.score()?.get();
    Some(basis.comparable(metric)?.map(|_| score))
}

/// Decides one case from its record, and from its snapshot where that was compared.
pub fn decide_case(
    case: &GoldenCase,
    record: &Record,
    basis: &Basis<'_>,
    snapshot: Option<&SnapshotFailure>,
) -> Decision {
    let findings = case_findings(case, record, basis);
    let ruling = if snapshot.is_some() { Ruling::Fail } else { findings.ruling(basis.rules.max_unmeasured) };
    let (statistic, threshold) = match findings.failed.first() {
        Some(Broken { score, bar: Bar::Min(min), .. }) => (Some(*score), Some(*min)),
        Some(Broken { score, bar: Bar::MaxDrop { baseline, max_drop }, .. }) => {
            (Some(baseline - score), Some(*max_drop))
        }
        None => (None, None),
    };
    let lines =
        if ruling.is_red() { console::case::lines(case, record, &findings, snapshot, basis) } else { Vec::new() };
    let notices = console::case::notices(case, &findings, basis);
    Decision { trial: case.trial_name(), ruling, statistic, threshold, n: None, lines, notices }
}
