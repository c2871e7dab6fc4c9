//! One metric over the cases of a run.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
};

use rageval_runner::{
    model::{CaseId, MetricKey, Outcome, UnitInterval, background::MetricBackground, run::Decision, run::Run},
    stats::{self, Cluster, Interval},
};

use super::CaseView;

/// One metric over the cases of a run.
#[derive(Debug)]
pub(crate) struct MetricView<'r> {
    /// Its key.
    pub(crate) key: &'r MetricKey,
    /// Its rules; `None` where only single cases name it, and in runs of older versions.
    pub(crate) rules: Option<&'r MetricBackground>,
    /// Each scored case with its settled score, 0 to 1, worst first, then by id.
    pub(crate) scored: Vec<(&'r CaseId, f64)>,
    /// Cases to which it does not apply.
    pub(crate) not_applicable: usize,
    /// Cases that should have a score and have none.
    pub(crate) unmeasured: Vec<&'r CaseId>,
    /// Mean of the first readings, as gates decide on it; `None` where nothing is scored.
    pub(crate) mean: Option<f64>,
    /// The first readings that the mean is of.
    firsts: Vec<f64>,
    /// Seed of the draws behind the interval.
    seed: u64,
    /// The interval, once it was asked for.
    interval: OnceCell<Option<Interval>>,
    /// The ceil(0.10 n)-th lowest settled score.
    pub(crate) lowest_decile: Option<f64>,
    /// Mean of the ceil(0.10 n) lowest settled scores.
    pub(crate) lowest_decile_mean: Option<f64>,
    /// Cases that run and baseline both scored, with the baseline's score and the settled one, in the order of the ids.
    pub(crate) paired: Vec<(&'r CaseId, f64, f64)>,
    /// The red, warned and passing gates of this metric.
    pub(crate) gates: Vec<&'r Decision>,
    /// The same numbers over each slice of the policy, by field and value.
    pub(crate) slices: Vec<SliceView<'r>>,
}

/// A metric over one slice.
#[derive(Debug)]
pub(crate) struct SliceView<'r> {
    /// The field.
    pub(crate) field: &'r str,
    /// The value.
    pub(crate) value: &'r str,
    /// The settled scores, worst first.
    pub(crate) scores: Vec<f64>,
    /// Mean of the first readings.
    pub(crate) mean: Option<f64>,
    /// Scored cases in both, each the baseline's score and the settled one.
    pub(crate) paired: Vec<(f64, f64)>,
}

impl MetricView<'_> {
    /// The 95 % interval of the mean. Drawn when it is first asked for: it takes longer than all else of a view, and not every report shows it.
    pub(crate) fn interval(&self) -> Option<Interval> {
        *self.interval.get_or_init(|| {
            let clusters: Vec<Cluster> = self.firsts.iter().map(|first| Cluster::one(*first)).collect();
            stats::mean_interval(&clusters, self.seed)
        })
    }

    /// The statistic of the worst tenth that the policy's gate decides on, of settled scores; the quantile where there is no such gate.
    pub(crate) fn tail(&self) -> Option<f64> {
        if self.uses_tail_mean() { self.lowest_decile_mean } else { self.lowest_decile }
    }

    /// The same statistic of other scores.
    pub(crate) fn tail_of(&self, scores: &[f64]) -> Option<f64> {
        if self.uses_tail_mean() { stats::lowest_decile_mean(scores) } else { stats::lowest_decile(scores) }
    }

    /// Its name: `quantile` or `tail mean`.
    pub(crate) fn tail_name(&self) -> &'static str {
        if self.uses_tail_mean() { "tail mean" } else { "quantile" }
    }

    fn uses_tail_mean(&self) -> bool {
        self.rules.and_then(|rules| rules.bottom10_use.as_deref()) == Some("tail_mean")
    }

    /// How many cases stand in the worst tenth.
    pub(crate) fn decile_size(&self) -> usize {
        stats::decile_size(self.scored.len())
    }

    /// All cases that it is about.
    pub(crate) fn total(&self) -> usize {
        self.scored.len() + self.not_applicable + self.unmeasured.len()
    }
}

/// Every metric that has an outcome or a rule, in the order of the names.
pub(super) fn metrics<'r>(run: &'r Run, cases: &[CaseView<'r>]) -> Vec<MetricView<'r>> {
    let of_records = run.records.iter().flat_map(|record| record.outcomes.keys());
    let of_rules = run.background.metrics.iter().map(|metric| &metric.metric);
    let keys: BTreeSet<&MetricKey> = of_records.chain(of_rules).collect();
    keys.into_iter().map(|key| metric(key, run, cases)).collect()
}

fn metric<'r>(key: &'r MetricKey, run: &'r Run, cases: &[CaseView<'r>]) -> MetricView<'r> {
    let rules = run.background.metrics.iter().find(|metric| metric.metric == *key);
    let (mut scored, mut unmeasured, mut not_applicable, mut paired) = (Vec::new(), Vec::new(), 0, Vec::new());
    let mut firsts = Vec::new();
    let mut by_slice: BTreeMap<(usize, &str), SliceView<'r>> = BTreeMap::new();
    for case in cases {
        let Some(record) = case.record else { continue };
        let names_it = rules.is_some() || case.golden.is_some_and(|golden| golden.bars.contains_key(key));
        match record.settled(key) {
            Some(Outcome::NotApplicable { .. }) => not_applicable += 1,
            Some(Outcome::Unmeasured { .. }) => unmeasured.push(case.id),
            None if names_it => unmeasured.push(case.id),
            None => {}
            Some(outcome @ Outcome::Scored { score, .. }) => {
                let score = score.value.get();
                let first = record.outcomes.get(key).and_then(Outcome::score).map_or(score, UnitInterval::get);
                scored.push((case.id, score));
                firsts.push(first);
                let accepted = case.golden.filter(|_| case.is_paired()).and_then(|golden| golden.accepted.as_ref());
                let before = accepted.and_then(|accepted| accepted.outcomes.get(key)).and_then(Outcome::score);
                let before = before.map(UnitInterval::get).filter(|_| outcome.score().is_some());
                paired.extend(before.map(|before| (case.id, before, score)));
                for (place, field) in run.background.slices.iter().enumerate() {
                    let values = case.golden.and_then(|golden| golden.fields.get(field));
                    for value in values.into_iter().flatten() {
                        let slice = by_slice.entry((place, value)).or_insert_with(|| SliceView {
                            field,
                            value,
                            scores: Vec::new(),
                            mean: None,
                            paired: Vec::new(),
                        });
                        slice.scores.push(score);
                        // The sum until all are there.
                        slice.mean = Some(slice.mean.unwrap_or(0.0) + first);
                        slice.paired.extend(before.map(|before| (before, score)));
                    }
                }
            }
        }
    }
    scored.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(b.0)));
    paired.sort_by_key(|(case, ..)| *case);
    let slices = by_slice.into_values().map(|mut slice| {
        slice.scores.sort_by(f64::total_cmp);
        slice.mean = slice.mean.map(|sum| sum / slice.scores.len() as f64);
        slice
    });
    let scores: Vec<f64> = scored.iter().map(|(_, score)| *score).collect();
    let is_its_gate =
        |decision: &&Decision| decision.gate.as_ref().is_some_and(|gate| gate.metric.as_ref() == Some(key));
    MetricView {
        key,
        rules,
        not_applicable,
        unmeasured,
        mean: stats::mean(&firsts),
        firsts,
        seed: run.manifest.seed,
        interval: OnceCell::new(),
        lowest_decile: stats::lowest_decile(&scores),
        lowest_decile_mean: stats::lowest_decile_mean(&scores),
        paired,
        gates: run.decisions.iter().filter(is_its_gate).collect(),
        slices: slices.collect(),
        scored,
    }
}

#[cfg(test)]
mod tests {
    use super::super::View;
    use crate::report::fixture;

    #[test]
    fn an_interval_is_drawn_once_and_only_where_it_is_asked_for() {
        let run = fixture::every_outcome();
        let view = View::of(&run);
        let is_drawn = || view.metrics.iter().filter(|metric| metric.interval.get().is_some()).count();
        assert_eq!(is_drawn(), 0);
        let metric = view.metrics.iter().find(|metric| metric.key.name() == "faithfulness").expect("it");
        assert!(metric.interval().is_some_and(|interval| interval.low < interval.high));
        assert_eq!((is_drawn(), metric.interval()), (1, metric.interval()));
    }
}
