//! Which first readings are suspects, and against which bars they are read again.

use std::collections::BTreeMap;

use crate::{
    gate::{
        Basis,
        basis::{holds_drop, holds_min},
        case::{CaseBars, accepted_score, case_bars},
        plan::{Gate, GateRule},
        rule::Level,
    },
    model::{CaseId, GoldenSet, MetricKey, Outcome, Record, Records},
};

/// One judged score of one case that its first reading puts outside a bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspect {
    /// The case.
    pub case: CaseId,
    /// The metric.
    pub metric: MetricKey,
    /// How far it lies outside the bar that it misses most.
    pub shortfall: f64,
    /// Every bar that it is held against.
    pub bars: Bars,
    /// Whether it would make the run red as a case, so that its confirmation counts for `confirm.enough`: not so for rules that warn, known
    /// failures, and what lies below a bar of the worst tenth alone.
    pub counts: bool,
}

/// The bars of one judged score of one case.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Bars {
    /// The lowest score that passes.
    pub min: Option<f64>,
    /// The largest drop that passes.
    pub drop: Option<Drop>,
    /// The highest bar on the worst tenth of the set, or of a slice that the case belongs to.
    pub tail: Option<f64>,
}

/// A bar on the drop against the baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drop {
    /// The baseline's score.
    pub baseline: f64,
    /// The largest drop that passes.
    pub max_drop: f64,
}

impl Bars {
    /// Whether the score breaks `min`.
    pub fn breaks_min(&self, score: f64) -> bool {
        self.min.is_some_and(|min| !holds_min(score, min))
    }

    /// Whether the score breaks `max_drop`, the baseline's score being this where it was judged again.
    pub fn breaks_drop(&self, score: f64, baseline: Option<f64>) -> bool {
        self.drop.is_some_and(|drop| !holds_drop(baseline.unwrap_or(drop.baseline) - score, drop.max_drop))
    }

    /// Whether the score lies below the bar of the worst tenth.
    pub fn breaks_tail(&self, score: f64) -> bool {
        self.tail.is_some_and(|tail| !holds_min(score, tail))
    }

    /// How far the score lies outside the bar that it misses most; `None` where it meets all.
    fn shortfall(&self, score: f64) -> Option<f64> {
        let below = |bar: f64| (!holds_min(score, bar)).then_some(bar - score);
        let dropped = self.drop.filter(|_| self.breaks_drop(score, None));
        [self.min.and_then(below), dropped.map(|drop| drop.baseline - score - drop.max_drop), self.tail.and_then(below)]
            .into_iter()
            .flatten()
            .max_by(f64::total_cmp)
    }
}

/// Pairs of a case and a judged metric whose readings can differ that carry a rule on the single case: from the files alone, so the same in every process.
pub fn pairs_with_rules(set: &GoldenSet, basis: &Basis<'_>) -> usize {
    let is_compared = basis.rules.regression.is_some();
    let has_rule = |bars: &CaseBars| bars.min.is_some() || (is_compared && bars.max_drop.is_some());
    set.cases
        .iter()
        .flat_map(|case| basis.rules.metrics_of(case).map(move |(metric, rule)| (case, metric, rule)))
        .filter(|(case, metric, rule)| basis.is_noisy(metric) && has_rule(&case_bars(case, metric, *rule)))
        .count()
}

/// The suspects of a run by their first readings, largest shortfall first, then by case and metric.
///
/// `is_read_again` says of which readings further ones can be had: not of what was scored without asking the judge. Metrics whose readings
/// can't differ have no suspects. Rules that warn and known failures make suspects too: they are cheap to read right.
pub fn suspects(
    set: &GoldenSet,
    records: &Records,
    gates: &[Gate],
    basis: &Basis<'_>,
    is_read_again: &dyn Fn(&Record, &MetricKey) -> bool,
) -> Vec<Suspect> {
    let tails = tail_bars(gates);
    let mut suspects = Vec::new();
    for case in &set.cases {
        let Some(record) = records.get(&case.id) else { continue };
        for (metric, rule) in basis.rules.metrics_of(case).filter(|(metric, _)| basis.is_noisy(metric)) {
            let Some(score) = record.outcomes.get(metric).and_then(Outcome::score) else { continue };
            let CaseBars { min, max_drop, level } = case_bars(case, metric, rule);
            let drop = max_drop.and_then(|max_drop| {
                let baseline = accepted_score(case, record, metric, basis)?
                    .and_then(|accepted| accepted.carries(max_drop))
                    .ok()?;
                Some(Drop { baseline, max_drop })
            });
            let tail = tails.get(metric).and_then(|of_metric| of_metric.get(&case.id)).copied();
            let bars = Bars { min, drop, tail };
            let Some(shortfall) = bars.shortfall(score.get()) else { continue };
            if !is_read_again(record, metric) {
                continue;
            }
            let is_known = case.known_failure.as_ref().is_some_and(|known| known.metrics.contains(metric));
            let fails = bars.breaks_min(score.get()) || bars.breaks_drop(score.get(), None);
            let counts = fails && !is_known && level == Level::Fail;
            suspects.push(Suspect { case: case.id.clone(), metric: metric.clone(), shortfall, bars, counts });
        }
    }
    suspects.sort_by(|a, b| {
        let by_shortfall = b.shortfall.total_cmp(&a.shortfall);
        by_shortfall.then_with(|| a.case.cmp(&b.case)).then_with(|| a.metric.cmp(&b.metric))
    });
    suspects
}

/// The highest bar on the worst tenth that holds for each case, by metric.
fn tail_bars(gates: &[Gate]) -> BTreeMap<&MetricKey, BTreeMap<&CaseId, f64>> {
    let mut bars: BTreeMap<_, BTreeMap<_, f64>> = BTreeMap::new();
    for gate in gates {
        let (GateRule::Bottom10 { min, statistic: _ }, Some(metric)) = (gate.rule, &gate.metric) else { continue };
        let of_metric = bars.entry(metric).or_default();
        for case in &gate.population {
            let bar = of_metric.entry(case).or_insert(min.get());
            *bar = bar.max(min.get());
        }
    }
    bars
}
