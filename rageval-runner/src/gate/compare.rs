//! Compares two runs, or a run and a baseline, metric by metric: it reports, and decides nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{
    basis::{MetricFacts, SLACK},
    decide::drop::ALPHA,
    rule::{Rules, SliceName},
    slice, tally,
};
use crate::{
    metric::Kind,
    model::{
        CaseId, GoldenSet, MetricKey, Outcome, Taken,
        run::{Baseline, BaselineManifest, JudgeStamp, Run},
    },
    stats::{self, Interval},
};

/// One of the two that are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// What it was made with.
    pub manifest: BaselineManifest,
    /// The content digest and the outcomes of each case.
    pub cases: BTreeMap<CaseId, (String, BTreeMap<MetricKey, Outcome>)>,
    /// Cases of its set that have no record.
    pub missing: usize,
}

impl From<&Baseline> for Side {
    fn from(baseline: &Baseline) -> Self {
        let case = |(id, case): (&CaseId, &crate::model::run::BaselineCase)| {
            (id.clone(), (case.digest.clone(), case.outcomes.clone()))
        };
        Self { manifest: baseline.manifest.clone(), cases: baseline.cases.iter().map(case).collect(), missing: 0 }
    }
}

impl From<&Run> for Side {
    fn from(run: &Run) -> Self {
        let known: BTreeSet<&MetricKey> = run
            .manifest
            .parameters
            .keys()
            .chain(run.records.iter().flat_map(|record| record.outcomes.keys()))
            .collect();
        let mut cases = BTreeMap::new();
        for record in &run.records {
            let mut outcomes = record.outcomes.clone();
            if let Taken::Failed(fault) = &record.taken {
                // A system that failed left every metric unmeasured.
                for metric in &known {
                    let unmeasured = || Outcome::Unmeasured { fault: fault.clone() };
                    outcomes.entry((*metric).clone()).or_insert_with(unmeasured);
                }
            }
            cases.insert(record.case.clone(), (record.digest.clone(), outcomes));
        }
        let manifest = BaselineManifest::from(&run.manifest);
        Self { manifest, cases, missing: run.manifest.missing.len() }
    }
}

/// What the comparison looks at beside the two sides.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// Facts of the metrics that are known here, by name.
    pub metrics: &'a BTreeMap<String, MetricFacts>,
    /// Slices, the field of clusters, and the scores from which a case counts as passed; empty where there is no policy.
    pub rules: &'a Rules,
    /// The cases with their fields; empty where they are not known.
    pub set: &'a GoldenSet,
    /// Seed of the random draws.
    pub seed: u64,
}

/// Two runs, compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The judges, where they differ: judged metrics are not compared then.
    pub judges_differ: Option<[JudgeStamp; 2]>,
    /// Which cases are in both.
    pub cases: Cases,
    /// Each metric of either side, by name.
    pub metrics: Vec<OfMetric>,
}

/// Which cases are in both sides. The first three add up to those of the current side.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Cases {
    /// In both, with the same content.
    pub paired: usize,
    /// In the current side alone.
    pub new: Vec<CaseId>,
    /// In both, with another question or another right answer.
    pub changed: Vec<CaseId>,
    /// In the base alone.
    pub gone: Vec<CaseId>,
}

/// One metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OfMetric {
    /// The metric.
    pub metric: MetricKey,
    /// Why it is not compared; `None` where it is.
    pub not_compared: Option<String>,
    /// Over all paired cases with both scores.
    pub whole: Option<Numbers>,
    /// Slices of the policy.
    pub slices: Vec<OfSlice>,
    /// The cases whose score changed most, largest change first.
    pub largest: Vec<Change>,
}

/// One slice of one metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OfSlice {
    /// `language=pt`.
    pub slice: String,
    /// Cases of it with both scores.
    pub n: usize,
    /// Its numbers; `None` with fewer cases than `slices.min_cases`. Their p-values are not corrected with those of the metrics, and are not shown.
    pub means: Option<Means>,
}

/// Means of paired cases. A drop above 0 is a loss.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Means {
    /// Mean of the base.
    pub base: f64,
    /// Mean of the current side.
    pub current: f64,
    /// Mean of the paired differences.
    pub drop: f64,
    /// Its 95 % interval; `None` without spread.
    pub drop_interval: Option<[f64; 2]>,
}

/// What is said of paired scores.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Numbers {
    /// Paired cases with both scores.
    pub n: usize,
    /// The means.
    pub means: Means,
    /// Cases that lost.
    pub worse: usize,
    /// Cases that gained.
    pub better: usize,
    /// Cases whose score is the same.
    pub equal: usize,
    /// Which test gave the p-values.
    pub test: Test,
    /// One-sided p-value of a drop, of this metric alone.
    pub p: f64,
    /// Adjusted by Holm's method over the compared metrics.
    pub p_holm: f64,
    /// Wilcoxon's signed-rank test, one-sided.
    pub wilcoxon_p: f64,
    /// Cohen's d for pairs; `None` without spread.
    pub effect_size: Option<f64>,
    /// The true drop that this many cases would show 8 times in 10 at the level 0.01 over the compared metrics; `None` without spread.
    pub detectable_drop: Option<f64>,
    /// Shares of cases that pass; `None` where the policy says of no score that it does.
    pub pass_rate: Option<PassRates>,
    /// Paired cases to which the metric does not apply on one side.
    pub not_applicable: usize,
    /// Paired cases that are unmeasured on one side.
    pub unmeasured: usize,
}

/// Which test gave a p-value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// McNemar's exact test, for scores that are all 0 or 1.
    McNemar,
    /// The sign-flip test of the mean.
    SignFlip,
}

/// Shares of the same cases that pass, each with its 95 % Wilson interval.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PassRates {
    /// The score from which a case passes.
    pub of: f64,
    /// Share, lower and upper limit of the base.
    pub base: [f64; 3],
    /// The same of the current side.
    pub current: [f64; 3],
}

/// A score that changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// The case.
    pub case: CaseId,
    /// Its score in the base, as it was read first.
    pub base: f64,
    /// Its score now, as it was read first.
    pub current: f64,
}

/// Changes that are named of each metric.
const MOST_NAMED: usize = 10;

/// Compares first readings by case id and content digest; what is not in both with the same content is counted and not compared.
pub fn compare(base: &Side, current: &Side, frame: &Frame<'_>) -> Comparison {
    let mut cases = Cases::default();
    let mut paired = Vec::new();
    for (id, (digest, _)) in &current.cases {
        match base.cases.get(id) {
            None => cases.new.push(id.clone()),
            Some((before, _)) if before == digest => paired.push(id.clone()),
            Some(_) => cases.changed.push(id.clone()),
        }
    }
    cases.paired = paired.len();
    cases.gone = base.cases.keys().filter(|id| !current.cases.contains_key(*id)).cloned().collect();
    let judges = [&base.manifest.judge, &current.manifest.judge];
    let judges_differ = (judges[0].fingerprint != judges[1].fingerprint).then(|| judges.map(Clone::clone));
    let keys: BTreeSet<&MetricKey> =
        [base, current].into_iter().flat_map(|side| side.cases.values()).flat_map(|(_, of)| of.keys()).collect();
    let of = |metric| of_metric(metric, base, current, &paired, judges_differ.is_some(), frame);
    let (mut metrics, drops): (Vec<OfMetric>, Vec<Vec<f64>>) = keys.into_iter().map(of).unzip();
    correct(&mut metrics, &drops);
    Comparison { judges_differ, cases, metrics }
}

impl Comparison {
    /// How many metrics are compared.
    pub fn compared(&self) -> usize {
        self.metrics.iter().filter(|metric| metric.whole.is_some()).count()
    }
}

/// One metric, and its differences where it is compared.
fn of_metric(
    metric: &MetricKey,
    base: &Side,
    current: &Side,
    paired: &[CaseId],
    judges_differ: bool,
    frame: &Frame<'_>,
) -> (OfMetric, Vec<f64>) {
    let left_out = |why: String| {
        let not_compared = Some(why);
        let of =
            OfMetric { metric: metric.clone(), not_compared, whole: None, slices: Vec::new(), largest: Vec::new() };
        (of, Vec::new())
    };
    if let Some(why) = incomparable(metric, base, current, judges_differ, frame) {
        return left_out(why);
    }
    let (mut scored, mut not_applicable, mut unmeasured) = (Vec::new(), 0, 0);
    for id in paired {
        let of = |side: &Side| side.cases[id].1.get(metric).cloned();
        let (before, now) = (of(base), of(current));
        // A baseline holds what most of several readings said, a run what was read first: only first readings are of one kind.
        let first = |outcome: Option<&Outcome>| outcome.and_then(Outcome::first_score);
        if let (Some(before), Some(now)) = (first(before.as_ref()), first(now.as_ref())) {
            scored.push((id.clone(), before.get(), now.get()));
            continue;
        }
        match (before, now) {
            (Some(Outcome::Unmeasured { .. }) | None, _) | (_, Some(Outcome::Unmeasured { .. }) | None) => {
                unmeasured += 1;
            }
            (
                Some(Outcome::NotApplicable { .. } | Outcome::Scored { .. }),
                Some(Outcome::NotApplicable { .. } | Outcome::Scored { .. }),
            ) => not_applicable += 1,
        }
    }
    let Some(means) = means(&scored, frame) else {
        return left_out(format!(
            "no paired case has both scores: {not_applicable} not applicable, {unmeasured} unmeasured"
        ));
    };
    let whole = numbers(metric, &scored, means, frame);
    let whole = Numbers { not_applicable, unmeasured, ..whole };
    let mut largest: Vec<Change> = scored
        .iter()
        .filter(|(_, before, now)| SLACK <= (before - now).abs())
        .map(|(case, base, current)| Change { case: case.clone(), base: *base, current: *current })
        .collect();
    largest.sort_by(|a, b| (b.base - b.current).abs().total_cmp(&(a.base - a.current).abs()).then(a.case.cmp(&b.case)));
    largest.truncate(MOST_NAMED);
    let slices = slices_of(metric, frame).into_iter().map(|name| of_slice(&name, &scored, frame)).collect();
    (OfMetric { metric: metric.clone(), not_compared: None, whole: Some(whole), slices, largest }, drops(&scored))
}

/// Why the scores of the two sides do not mean the same; `None` where they do.
fn incomparable(
    metric: &MetricKey,
    base: &Side,
    current: &Side,
    judges_differ: bool,
    frame: &Frame<'_>,
) -> Option<String> {
    let has = |side: &Side| side.cases.values().any(|(_, outcomes)| outcomes.contains_key(metric));
    match (has(base), has(current)) {
        (true, false) => return Some("only the base has it".to_owned()),
        (false, _) => return Some("only the current run has it".to_owned()),
        (true, true) => {}
    }
    let version = |side: &Side| side.manifest.metric_versions.get(metric.name()).copied();
    let (before, now) = (version(base), version(current));
    if before != now {
        let word = |version: Option<u32>| version.map_or_else(|| "none".to_owned(), |version| version.to_string());
        return Some(format!("another version of the metric: {} in the base, {} now", word(before), word(now)));
    }
    let parameters = |side: &Side| side.manifest.parameters.get(metric).cloned();
    // Baselines that were made without parameters say nothing of them.
    let is_stated = !base.manifest.parameters.is_empty() && !current.manifest.parameters.is_empty();
    if is_stated && parameters(base) != parameters(current) {
        return Some("other parameters of the metric".to_owned());
    }
    let facts = frame.metrics.get(metric.name());
    if facts.is_some_and(|facts| facts.reads_baseline) {
        return Some("its scores are themselves comparisons, each with its own baseline".to_owned());
    }
    match facts.map(|facts| facts.kind) {
        Some(Kind::Judged) if judges_differ => Some("another judge".to_owned()),
        None if judges_differ => Some("another judge, and whether this metric is judged is not known here".to_owned()),
        Some(_) | None => None,
    }
}

fn of_slice(name: &SliceName, scored: &[(CaseId, f64, f64)], frame: &Frame<'_>) -> OfSlice {
    let cases: BTreeSet<&CaseId> =
        frame.set.cases.iter().filter(|case| slice::contains(name, case)).map(|case| &case.id).collect();
    let scored: Vec<_> = scored.iter().filter(|(case, ..)| cases.contains(case)).cloned().collect();
    let is_enough = frame.rules.slices.min_cases <= scored.len();
    let means = if is_enough { means(&scored, frame) } else { None };
    OfSlice { slice: name.to_string(), n: scored.len(), means }
}

/// The slices of the policy, and those that only this metric names.
fn slices_of(metric: &MetricKey, frame: &Frame<'_>) -> Vec<SliceName> {
    let mut names = slice::slices_of(&frame.rules.slices, frame.set);
    let own = frame.rules.metrics.get(metric).into_iter().flat_map(|rule| rule.slices.keys());
    let own: Vec<SliceName> = own.filter(|name| !names.contains(name)).cloned().collect();
    names.extend(own);
    names
}

/// The differences, of which those in the last digits are none.
fn drops(scored: &[(CaseId, f64, f64)]) -> Vec<f64> {
    super::regression::drops(scored)
}

/// `None` of nothing.
fn means(scored: &[(CaseId, f64, f64)], frame: &Frame<'_>) -> Option<Means> {
    let drops = drops(scored);
    let cases = scored.iter().map(|(case, ..)| case.clone());
    let clusters =
        tally::clusters(&cases.zip(drops.iter().copied()).collect::<Vec<_>>(), frame.set, &frame.rules.cluster);
    let mean = |of: fn(&(CaseId, f64, f64)) -> f64| stats::mean(&scored.iter().map(of).collect::<Vec<_>>());
    Some(Means {
        base: mean(|pair| pair.1)?,
        current: mean(|pair| pair.2)?,
        drop: stats::mean(&drops)?,
        drop_interval: stats::mean_interval(&clusters, frame.seed).map(|Interval { low, high }| [low, high]),
    })
}

fn numbers(metric: &MetricKey, scored: &[(CaseId, f64, f64)], means: Means, frame: &Frame<'_>) -> Numbers {
    let drops = drops(scored);
    let pairs: Vec<(f64, f64)> = scored.iter().map(|(_, before, now)| (*before, *now)).collect();
    let is_binary =
        pairs.iter().all(|(before, now)| [before, now].into_iter().all(|score| *score == 0.0 || *score == 1.0));
    let p = stats::drop_p_value(&pairs, stats::paired::FLIPS, frame.seed);
    let worse = drops.iter().filter(|drop| 0.0 < **drop).count();
    let better = drops.iter().filter(|drop| **drop < 0.0).count();
    Numbers {
        n: scored.len(),
        means,
        worse,
        better,
        equal: scored.len() - worse - better,
        test: if is_binary { Test::McNemar } else { Test::SignFlip },
        p,
        p_holm: p,
        wilcoxon_p: stats::wilcoxon(&drops),
        effect_size: stats::standardised_mean(&drops),
        detectable_drop: None,
        pass_rate: pass_rates(metric, &pairs, frame),
        not_applicable: 0,
        unmeasured: 0,
    }
}

fn pass_rates(metric: &MetricKey, pairs: &[(f64, f64)], frame: &Frame<'_>) -> Option<PassRates> {
    let rule = frame.rules.metrics.get(metric)?;
    let of = rule.set.pass_rate.and_then(|rate| rate.of).or(rule.min)?.get();
    let rate = |score: fn(&(f64, f64)) -> f64| {
        let wins = pairs.iter().filter(|pair| super::holds_min(score(pair), of)).count();
        let interval = stats::wilson(wins, pairs.len())?;
        Some([wins as f64 / pairs.len() as f64, interval.low, interval.high])
    };
    Some(PassRates { of, base: rate(|pair| pair.0)?, current: rate(|pair| pair.1)? })
}

/// Adjusts the p-values and the detectable drops for how many metrics are compared.
fn correct(metrics: &mut [OfMetric], drops: &[Vec<f64>]) {
    let numbers = metrics.iter_mut().zip(drops).filter_map(|(metric, drops)| Some((metric.whole.as_mut()?, drops)));
    let compared: Vec<(&mut Numbers, &Vec<f64>)> = numbers.collect();
    let adjusted = stats::holm(&compared.iter().map(|(numbers, _)| numbers.p).collect::<Vec<_>>());
    let alpha = ALPHA / compared.len().max(1) as f64;
    for ((numbers, drops), p) in compared.into_iter().zip(adjusted) {
        numbers.p_holm = p;
        numbers.detectable_drop = stats::minimum_detectable_mean(drops, alpha).filter(|drop| *drop <= 1.0);
    }
}

#[cfg(test)]
mod tests;
