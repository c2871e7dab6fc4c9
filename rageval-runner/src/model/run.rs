//! All records of one evaluation, with where they came from and what was decided.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use super::decision::{
    Conclusion, Decision, Finding, FindingKind, FindingLevel, GateFacts, Ruling, SliceFacts, SnapshotFailure,
};
use super::{
    background::{Background, CaseBackground},
    described::DescribedMetric,
    ids::{CaseId, DocId, MetricKey},
    outcome::Outcome,
    record::Record,
    spending::Spending,
};

/// All records of one evaluation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Run {
    /// Always `rageval-run`.
    pub format: String,
    /// Version of the format.
    pub version: u32,
    /// Where the run came from.
    pub manifest: Manifest,
    /// One record a case, sorted by id.
    pub records: Vec<Record>,
    /// What was decided: one entry for each trial that ran.
    pub decisions: Vec<Decision>,
    /// The golden cases as far as reports show them: all of the set, in its order, also those without a record. Empty in runs of older
    /// versions.
    #[serde(default)]
    pub cases: Vec<CaseBackground>,
    /// The rules and the baseline as far as reports show them. Empty in runs of older versions.
    #[serde(default)]
    pub background: Background,
}

impl Run {
    /// What the run came to, as its exit code and every report say it: failed where anything failed; else undecided where anything is, where
    /// nothing was decided, or where [something is missing](Self::holes); else passed.
    pub fn conclusion(&self) -> Conclusion {
        match Conclusion::of(&self.decisions) {
            Conclusion::Pass if self.is_partial() || !self.holes().is_empty() => Conclusion::Undecided,
            conclusion => conclusion,
        }
    }

    /// Whether it is not of the whole golden set: a filter, a shard, an interruption.
    pub fn is_partial(&self) -> bool {
        self.manifest.partial.is_some() || !self.manifest.missing.is_empty()
    }
}

/// Where a run came from: everything that must be equal for two runs to be compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Manifest {
    /// Name of the run's folder.
    pub run_id: String,
    /// Version of rageval that wrote it.
    pub rageval: String,
    /// The golden set.
    pub golden_set: SetStamp,
    /// The judge.
    pub judge: JudgeStamp,
    /// The system.
    pub system: SystemStamp,
    /// Version of each metric's definition, by metric name.
    pub metric_versions: BTreeMap<String, u32>,
    /// The metrics of the test binary itself, by name; empty where it has none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub own_metrics: BTreeMap<String, DescribedMetric>,
    /// Digest of the rules that were applied.
    pub policy_digest: String,
    /// The commit, where the run happened in a git work tree.
    pub git_revision: Option<String>,
    /// Seed of every random draw.
    pub seed: u64,
    /// The test target whose run it is, for the commands that a failure names; absent in runs of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Cases of the set that have no record, because of a filter, a shard or an interruption. Not empty: the run is partial.
    #[serde(default)]
    pub missing: BTreeSet<CaseId>,
    /// Why the run is partial whatever it holds: it is a shard, or only the file of one case was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<String>,
    /// Digest of each metric's parameters in the policy: scores under other parameters are not compared.
    #[serde(default)]
    pub parameters: BTreeMap<MetricKey, String>,
    /// Names other than `judge.model` by which the judge's replies called the model. Stored replies and those of other processes tell none.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub judge_calls_itself: BTreeSet<String>,
    /// What it spent on models; absent where none was asked that costs anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spending>,
    /// How stored replies of the judge were used: `cached`, `live` or `replay`; absent for a judge that is code, and where none was opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_mode: Option<String>,
    /// Where the snapshots of its target stand; absent where they stand outside the folder of thresholds.yaml, and in runs of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshots: Option<SnapshotsStamp>,
}

/// Where the snapshots of a test target stand, and what they depend on beside the records: with it they can be left for review elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SnapshotsStamp {
    /// The folder, relative to that of thresholds.yaml, with `/` between its parts.
    pub folder: String,
    /// The test's source as a snapshot names it.
    pub source: String,
    /// The line in it at which a snapshot is asserted.
    pub line: u32,
    /// Digest over judge and metric versions.
    pub judge: String,
    /// Names of the metrics whose verdicts are compared.
    pub metrics: BTreeSet<String>,
}

/// Which golden set a run used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetStamp {
    /// Name, where stated.
    pub name: Option<String>,
    /// Version, where stated.
    pub version: Option<String>,
    /// Digest over all cases.
    pub digest: String,
    /// Number of cases.
    pub cases: usize,
}

/// Which judge gave the verdicts. Two runs are comparable only when all of it is equal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JudgeStamp {
    /// `offline`, `scripted`, ...
    pub provider: String,
    /// The model with its dated version, or the version of a judge that is code.
    pub model: String,
    /// Digest over provider, model, parameters and prompts.
    pub fingerprint: String,
}

/// Which system was asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SystemStamp {
    /// `function`, `http`, `command` or `recorded`.
    pub kind: String,
    /// The model that writes its answers, as declared.
    pub generator: Option<String>,
}

/// A run that was accepted and checked in: one entry a case, without times, costs and run ids.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Baseline {
    /// What the run was made with.
    pub manifest: BaselineManifest,
    /// One entry a case.
    pub cases: BTreeMap<CaseId, BaselineCase>,
}

/// An earlier baseline as the history keeps it: with the content digest and the scores of each case, without answers.
#[derive(Debug, Clone, PartialEq)]
pub struct AcceptedRun {
    /// Its line in the history, by which a person finds it: `history.jsonl:3`.
    pub place: String,
    /// What it was made with, and its scores.
    pub baseline: Baseline,
}

/// What an accepted run was made with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BaselineManifest {
    /// The golden set.
    pub golden_set: SetStamp,
    /// The judge.
    pub judge: JudgeStamp,
    /// The system.
    pub system: SystemStamp,
    /// Version of each metric's definition.
    pub metric_versions: BTreeMap<String, u32>,
    /// Digest of each metric's parameters in the policy; empty in baselines that were made without.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<MetricKey, String>,
    /// How often the judge read each of its scores, the majority being kept; `None` where the judge says the same each time, and in
    /// baselines that were made without. 3, or 1 where it was accepted as it was read first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readings: Option<u32>,
    /// The commit it was made at.
    pub git_revision: Option<String>,
    /// Why scores were lowered, newest last: what the person who accepted it wrote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<LoweredScores>,
}

impl From<&Manifest> for BaselineManifest {
    /// What of a run's manifest a baseline keeps: without reasons, and without a word on how often its scores were read.
    fn from(manifest: &Manifest) -> Self {
        Self {
            golden_set: manifest.golden_set.clone(),
            judge: manifest.judge.clone(),
            system: manifest.system.clone(),
            metric_versions: manifest.metric_versions.clone(),
            parameters: manifest.parameters.clone(),
            readings: None,
            git_revision: manifest.git_revision.clone(),
            reasons: Vec::new(),
        }
    }
}

/// Scores that an accepted baseline lowered, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoweredScores {
    /// What the person wrote.
    pub reason: String,
    /// Case, metric, score before and after.
    pub scores: Vec<(CaseId, MetricKey, f64, f64)>,
    /// Case and metric of scores that are no longer there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<(CaseId, MetricKey)>,
}

/// One case of a baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BaselineCase {
    /// Content digest of the case when it was accepted.
    pub digest: String,
    /// The answer.
    pub response: String,
    /// The system's own word on whether it declined; `None` where it had none, and in baselines of version 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<bool>,
    /// Ids of what was retrieved, in rank order; the texts stand in the samples file.
    pub retrieved: Vec<Option<DocId>>,
    /// Digests of the retrieved texts, in rank order.
    pub context_digests: Vec<String>,
    /// One outcome a metric.
    pub outcomes: BTreeMap<MetricKey, Outcome>,
}
