//! What `thresholds.yaml` can say about scores.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    metric::Params,
    model::{AskedOf, GoldenCase, MetricKey, Place, Reduced, Reduction, Repeats, UnitInterval},
};

/// What a broken rule does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// It makes the run red.
    #[default]
    Fail,
    /// It is reported and nothing more.
    Warn,
}

/// The rules of one metric.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct MetricRule {
    /// The metric's own parameters.
    #[serde(skip)]
    pub params: Params,
    /// Who judges it.
    pub judge: AskedOf,
    /// One case: the lowest score that passes.
    pub min: Option<UnitInterval>,
    /// One case against its baseline: the largest drop that passes.
    pub max_drop: Option<UnitInterval>,
    /// Level of the two rules above.
    pub level: Level,
    /// How repeats of a case are reduced for this metric; `None` leaves it to the policy's `repeats`.
    pub reduce: Option<Reduction>,
    /// Rules over the set, and over each slice that has none of its own.
    pub set: SetRules,
    /// Rules of single slices, over those of the set: key is `field=value`.
    pub slices: BTreeMap<SliceName, (Place, SetRules)>,
    /// Where the metric stands in the file.
    #[serde(skip)]
    pub place: Place,
}

/// Rules over many cases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct SetRules {
    /// On the mean.
    pub mean: Option<MeanRule>,
    /// On the share of cases at or above a score.
    pub pass_rate: Option<PassRateRule>,
    /// On the worst tenth.
    pub bottom10: Option<Bottom10Rule>,
}

/// A rule on the mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct MeanRule {
    /// The lowest mean that passes.
    pub min: Option<UnitInterval>,
    /// The largest drop of the paired mean against the baseline that passes.
    pub max_drop: Option<UnitInterval>,
    /// Level.
    pub level: Level,
}

/// A rule on the share of scored cases at or above `of`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PassRateRule {
    /// The lowest share that passes.
    pub min: UnitInterval,
    /// The score that counts as passed; `None` takes the metric's `min`.
    pub of: Option<UnitInterval>,
    /// Level.
    pub level: Level,
}

/// A rule on the worst tenth of the scored cases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Bottom10Rule {
    /// The lowest statistic that passes.
    pub min: Option<UnitInterval>,
    /// The largest drop of the statistic against the baseline's same cases that passes.
    pub max_drop: Option<UnitInterval>,
    /// Which statistic.
    pub statistic: TailStatistic,
    /// Level.
    pub level: Level,
}

/// Which number stands for the worst tenth; both are reported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TailStatistic {
    /// The ceil(0.10 n)-th lowest observed score.
    #[default]
    Quantile,
    /// The mean of the ceil(0.10 n) lowest.
    TailMean,
}

/// One slice: a field and a value of it, written `language=pt`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct SliceName {
    /// The field.
    pub field: SliceField,
    /// The value.
    pub value: String,
}

/// A field that slices can be made by.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum SliceField {
    /// The language tag as written.
    Language,
    /// The `type` key.
    Type,
    /// The difficulty.
    Difficulty,
    /// Each tag is a slice.
    Tags,
    /// The source document.
    #[default]
    Document,
    /// `true` and `false`.
    ShouldRefuse,
    /// A key of `metadata`, written `metadata.KEY`.
    Metadata(String),
}

/// Which slices are gated, and from how many cases on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Slices {
    /// Fields, each of whose values is a slice.
    pub by: Vec<(Place, SliceField)>,
    /// A slice with fewer scored cases is inconclusive.
    pub min_cases: usize,
}

impl Default for Slices {
    fn default() -> Self {
        Self { by: Vec::new(), min_cases: 10 }
    }
}

/// How a drop of a mean is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionRule {
    /// The observed paired mean drop is larger than `max_drop`.
    Point,
    /// Larger than `max_drop`, and not by chance: p <= 0.01 by a seeded sign-flip test, Holm over the run's gates; of a judge whose readings can differ
    /// on the average of two readings.
    Confident,
    /// The one-sided 95 % upper limit of the drop is not below `max_drop`.
    NonInferior,
}

/// How far suspects are read again before the run is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Confirm {
    /// Confirmed failing cases after which the run is decided and further suspects stay as first read.
    pub enough: usize,
    /// Requests after which no further suspect is begun; `None` takes as many as the run asked, at least [`Confirm::LEAST_BUDGET`].
    pub budget: Option<usize>,
}

impl Confirm {
    /// The smallest budget where none is stated.
    pub const LEAST_BUDGET: usize = 100;

    /// The requests that confirmation may take in a run that asked so many.
    pub fn budget(&self, asked_in_run: usize) -> usize {
        self.budget.unwrap_or(asked_in_run.max(Self::LEAST_BUDGET))
    }
}

impl Default for Confirm {
    fn default() -> Self {
        Self { enough: 5, budget: None }
    }
}

/// Comparison with the baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Regression {
    /// The baseline file, relative to the policy.
    pub baseline: String,
    /// How drops of means are decided; `None`: confident for judged metrics, point for the rest.
    pub decision: Option<DecisionRule>,
    /// Means are also compared with the best of so many last accepted baselines; `None`: with the baseline alone.
    pub window: Option<usize>,
    /// Where the key stands.
    #[serde(skip)]
    pub place: Place,
}

/// Which difference of a snapshot makes its case red.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailOn {
    /// No snapshot, the same sample with another body, or a changed sample that is worse.
    #[default]
    Worse,
    /// Any difference.
    Any,
    /// None; differences are counted.
    Never,
}

/// What a snapshot does whose case is gone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Orphans {
    /// It is listed.
    #[default]
    Warn,
    /// It makes `gate::set::orphans` red.
    Fail,
}

impl MetricRule {
    /// Whether any rule of this metric can make a run red.
    pub fn can_fail(&self) -> bool {
        let case = self.level == Level::Fail && (self.min.is_some() || self.max_drop.is_some());
        case || self.set.can_fail() || self.slices.values().any(|(_, rules)| rules.can_fail())
    }
}

impl SetRules {
    fn can_fail(&self) -> bool {
        let fails = |level: Option<Level>| level == Some(Level::Fail);
        fails(self.mean.map(|rule| rule.level))
            || fails(self.pass_rate.map(|rule| rule.level))
            || fails(self.bottom10.map(|rule| rule.level))
    }
}

impl Rules {
    /// Digest of each metric's parameters.
    pub fn parameters(&self) -> BTreeMap<MetricKey, String> {
        self.metrics.iter().map(|(key, rule)| (key.clone(), self.parameters_of(rule))).collect()
    }

    /// Digest of one metric's parameters; behind a blank what its repeats estimate, where that is another number than a single reading's.
    pub fn parameters_of(&self, rule: &MetricRule) -> String {
        let params = rule.params.digest();
        let by = rule.reduce.or(self.repeats.reduce).unwrap_or_default();
        let Repeats { times, reduce: _ } = self.repeats;
        let reduced = (times > 1).then_some(Reduced { by, times, scored: times, min: rule.min });
        match reduced.and_then(|reduced| reduced.estimand()) {
            Some(estimand) => format!("{params} {estimand}"),
            None => params,
        }
    }

    /// A metric's parameters for one case: the policy's with the case's own over them.
    pub fn params_of(&self, case: &GoldenCase, key: &MetricKey) -> Params {
        let base = self.metrics.get(key).map(|rule| rule.params.clone()).unwrap_or_default();
        match case.bars.get(key) {
            Some(bar) => base.overlaid(&bar.params),
            None => base,
        }
    }

    /// The lowest score that passes for one case and metric: the case's own bar, else the policy's.
    pub fn min_of(&self, case: &GoldenCase, key: &MetricKey) -> Option<UnitInterval> {
        let own = case.bars.get(key).and_then(|bar| bar.min);
        own.or_else(|| self.metrics.get(key).and_then(|rule| rule.min))
    }

    /// How the repeats of one case are reduced for a metric. The nearest word decides: the case's bar of the metric, the case, the policy's
    /// metric, the policy.
    pub fn reduction_of(&self, case: &GoldenCase, key: &MetricKey) -> Reduction {
        let own = case.bars.get(key).and_then(|bar| bar.reduce).or(case.repeats.reduce);
        let metric = self.metrics.get(key).and_then(|rule| rule.reduce);
        own.or(metric).or(self.repeats.reduce).unwrap_or_default()
    }

    /// Whether any rule compares with a baseline.
    pub fn has_drop_rules(&self) -> bool {
        let set = |rules: &SetRules| {
            rules.mean.is_some_and(|rule| rule.max_drop.is_some())
                || rules.bottom10.is_some_and(|rule| rule.max_drop.is_some())
        };
        self.metrics
            .values()
            .any(|rule| rule.max_drop.is_some() || set(&rule.set) || rule.slices.values().any(|(_, rules)| set(rules)))
    }

    /// The metrics of one case: those of the policy with their rules, and those that only the case itself names.
    pub fn metrics_of<'a>(
        &'a self,
        case: &'a GoldenCase,
    ) -> impl Iterator<Item = (&'a MetricKey, Option<&'a MetricRule>)> {
        let own = case.bars.keys().filter(|key| !self.metrics.contains_key(*key));
        self.metrics.iter().map(|(key, rule)| (key, Some(rule))).chain(own.map(|key| (key, None)))
    }
}

/// All rules over scores.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Rules {
    /// By metric, in the order of their names.
    pub metrics: BTreeMap<MetricKey, MetricRule>,
    /// Slices.
    pub slices: Slices,
    /// The field whose values intervals draw whole: cases of one value rise and fall together.
    pub cluster: SliceField,
    /// Comparison with the baseline; `None`: no regression rules.
    pub regression: Option<Regression>,
    /// Snapshots.
    pub fail_on: FailOn,
    /// Snapshots whose case is gone.
    pub orphans: Orphans,
    /// Unmeasured cases that a run may have.
    pub max_unmeasured: usize,
    /// How often a case is asked that does not say so itself, and how repeats are reduced.
    pub repeats: Repeats,
    /// How far suspects are read again.
    pub confirm: Confirm,
}
