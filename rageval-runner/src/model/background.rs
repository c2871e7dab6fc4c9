//! What reports show beside records and decisions, so that a run file alone is enough for them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    case::{CaseBar, Judgement, KnownFailure, Place},
    ids::{CaseId, MetricKey},
    run::{BaselineCase, BaselineManifest},
    score::UnitInterval,
};

/// The rules and the baseline that a run was decided by, as far as reports show them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Background {
    /// The metrics of the policy, in the order of their names.
    #[serde(default)]
    pub metrics: Vec<MetricBackground>,
    /// The fields whose values are slices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slices: Vec<String>,
    /// The baseline; `None` where the policy names none, or it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<BaselineBackground>,
    /// The waivers that hold and are needed, as they are told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<String>,
    /// Notices of the run itself; those of single trials stand with their decisions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
    /// How the judge of each trusted metric agrees with people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calibrations: Vec<CalibrationBackground>,
}

/// One golden case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CaseBackground {
    /// Its id.
    pub case: CaseId,
    /// Its trial.
    pub trial: String,
    /// Where it starts.
    pub place: Place,
    /// The question.
    pub query: String,
    /// Accepted right answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    /// Documents that should be found; `None` where the case does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relevant: Option<Vec<Judgement>>,
    /// Whether the right answer is to decline.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub should_refuse: bool,
    /// `en`, `pt` or `zh`: the language whose rules apply.
    pub language: String,
    /// Its values in the fields that slice the set: `language`, `type`, `difficulty`, `tags` and those of the policy.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Vec<String>>,
    /// Its own bars.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bars: BTreeMap<MetricKey, CaseBar>,
    /// Metrics in which it is known to fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_failure: Option<KnownFailure>,
    /// What was accepted of it; also where its content changed since, which `digest` tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<BaselineCase>,
}

/// One metric and the rules of the policy on it. Every bar is a score, a share or a drop of one, 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricBackground {
    /// Its key.
    pub metric: MetricKey,
    /// Whether a judge gives its verdicts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_judged: bool,
    /// Whether the rules on single cases only warn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warns: bool,
    /// One case: the lowest score that passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<UnitInterval>,
    /// One case against its baseline: the largest drop that passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_drop: Option<UnitInterval>,
    /// The whole set: the lowest mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_min: Option<UnitInterval>,
    /// The whole set: the largest drop of the mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_max_drop: Option<UnitInterval>,
    /// The whole set: the lowest share of cases that pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_rate_min: Option<UnitInterval>,
    /// The score from which a case counts as passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_rate_of: Option<UnitInterval>,
    /// The whole set: the lowest statistic of the worst tenth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bottom10_min: Option<UnitInterval>,
    /// The whole set: the largest drop of that statistic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bottom10_max_drop: Option<UnitInterval>,
    /// `quantile` or `tail_mean`, where there is a rule on the worst tenth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bottom10_use: Option<String>,
}

/// The baseline as far as it is not said case by case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BaselineBackground {
    /// Its file, relative to `thresholds.yaml`.
    pub file: String,
    /// What it was made with, and which scores it lowered.
    pub manifest: BaselineManifest,
    /// Cases of the set that it lacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new: Vec<CaseId>,
    /// Cases with another question or another right answer: compared as new.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<CaseId>,
    /// Cases that the set lacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vanished: Vec<CaseId>,
}

/// How the judge of a metric agrees with people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CalibrationBackground {
    /// The metric.
    pub metric: MetricKey,
    /// Each item that people and judge scored.
    pub items: Vec<CalibrationItem>,
    /// Spearman's rho over them, -1 to 1; `None` where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rho: Option<f64>,
    /// Its 95 % interval, the lower limit first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
    /// The smallest rho that is believed.
    pub min_rho: f64,
    /// Why the judge is not believed, as it is told; empty where it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refusals: Vec<String>,
}

/// One labelled item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CalibrationItem {
    /// Its id.
    pub item: String,
    /// What people say together, 0 to 1.
    pub people: f64,
    /// What the judge says, 0 to 1.
    pub judge: f64,
}
