//! What every decision of a run rests on beside its records.

use std::collections::{BTreeMap, BTreeSet};

use super::rule::{DecisionRule, MetricRule, Rules};
use crate::{
    metric::{Kind, Metric, Params},
    model::{
        AskedOf, GoldenCase, MetricKey,
        run::{AcceptedRun, Baseline, JudgeStamp},
    },
    trust,
};

/// Slack of every comparison, so that 0.90 -> 0.88 passes `max_drop: 0.02` in binary fractions too.
pub const SLACK: f64 = 1e-9;

/// Whether a number meets a lower bar.
pub fn holds_min(number: f64, min: f64) -> bool {
    number >= min - SLACK
}

/// Whether a drop stays within its bar.
pub fn holds_drop(drop: f64, max_drop: f64) -> bool {
    drop <= max_drop + SLACK
}

/// What decisions need to know of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetricFacts {
    /// What it looks at: judged metrics are compared with the baseline only under the same judge.
    pub kind: Kind,
    /// Version of its definition.
    pub version: u32,
    /// Whether it compares with the baseline's answers, so that without a baseline it has no score.
    pub reads_baseline: bool,
    /// The parameter with the word under which the judge is asked, where it is not always.
    pub judged_when: Option<(&'static str, &'static str)>,
}

impl MetricFacts {
    /// What a metric says of itself.
    pub fn of(metric: &dyn Metric) -> Self {
        Self {
            kind: metric.kind(),
            version: metric.version(),
            reads_baseline: metric.reads_baseline(),
            judged_when: metric.judged_when(),
        }
    }

    /// Whether a judge has a say in its scores under these parameters.
    pub fn is_judged(&self, params: &Params) -> bool {
        let is_asked = |(name, word): (&str, &str)| params.text(name) == Some(word);
        self.kind == Kind::Judged && self.judged_when.is_none_or(is_asked)
    }
}

/// What every decision of a run rests on beside its records.
#[derive(Debug, Clone, Copy)]
pub struct Basis<'a> {
    /// The rules.
    pub rules: &'a Rules,
    /// The accepted run; `None` where there is none, so that regression rules say nothing. A file that is configured and missing is not this: it is
    /// `gate::setup`, which is red.
    pub baseline: Option<&'a Baseline>,
    /// The last accepted runs that `regression.window` looks back on, oldest first; empty without that key.
    pub history: &'a [AcceptedRun],
    /// The judge of this run.
    pub judge: &'a JudgeStamp,
    /// Facts of each metric, by its name without cut-off and label.
    pub metrics: &'a BTreeMap<String, MetricFacts>,
    /// Seed of every random draw, from the manifest.
    pub seed: u64,
    /// The test target, for the commands that a failure names: `rag_regression`.
    pub target: &'a str,
}

/// Why a score can't be compared with the baseline's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Incomparable {
    /// Another judge gave the baseline's verdicts.
    Judge {
        /// Provider and model of this run.
        now: String,
        /// Provider and model of the baseline.
        before: String,
        /// The metrics that this run leaves to the rules of `offline`, which makes its judge another one for all.
        offline: Vec<MetricKey>,
    },
    /// The metric is defined in another way now.
    Version {
        /// Version of this run.
        now: u32,
        /// Version of the baseline.
        before: u32,
    },
    /// The metric had other parameters.
    Parameters,
    /// Repeats were reduced to another number.
    Repeats {
        /// What the score of this run estimates.
        now: String,
        /// What the baseline's does.
        before: String,
    },
    /// The baseline was made without this metric.
    NotInBaseline,
    /// The baseline holds the score without the answer or the claims that it was made from, so it can't be read again.
    NotStored,
}

impl Incomparable {
    /// The reason as one phrase.
    pub fn why(&self) -> &'static str {
        match self {
            Self::Judge { .. } => "another judge than the baseline's",
            Self::Version { .. } => "another version of the metric than the baseline's",
            Self::Parameters => "other parameters of the metric than the baseline's",
            Self::Repeats { .. } => "other `repeats`",
            Self::NotInBaseline => "the baseline was made without this metric",
            Self::NotStored => "the baseline lacks the answer or its claims",
        }
    }

    /// The command that makes them comparable.
    pub fn accept(&self) -> &'static str {
        match self {
            // The same answers under the judge of today: what the judge changed is told apart from what the system did.
            Self::Judge { .. } => "cargo rageval baseline rejudge, then the same with --accept",
            Self::Version { .. } | Self::Parameters | Self::Repeats { .. } | Self::NotInBaseline | Self::NotStored => {
                "cargo rageval baseline accept, after a run of all cases"
            }
        }
    }

    /// What differs from the baseline, in words: now, and then. `None` where there is no more to say.
    pub fn difference(&self) -> Option<[String; 2]> {
        self.difference_from("in the baseline")
    }

    /// What differs, in words, from what stands in this place.
    pub fn difference_from(&self, place: &str) -> Option<[String; 2]> {
        match self {
            Self::Judge { now, before, offline } => {
                let offline: Vec<String> = offline.iter().map(ToString::to_string).collect();
                let left = if offline.is_empty() {
                    String::new()
                } else {
                    format!(" with {} left to `offline`", offline.join(", "))
                };
                Some([format!("now {now}{left}"), format!("{place} {before}")])
            }
            Self::Version { now, before } => Some([format!("now version {now}"), format!("{place} version {before}")]),
            Self::Repeats { now, before } => Some([format!("now {now}"), format!("{place} {before}")]),
            Self::Parameters | Self::NotInBaseline | Self::NotStored => None,
        }
    }
}

impl<'a> Basis<'a> {
    /// The baseline to compare this metric with; `None` where regression rules say nothing, an error where they can't be decided.
    pub fn comparable(&self, metric: &MetricKey) -> Option<Result<&'a Baseline, Incomparable>> {
        self.rules.regression.as_ref()?;
        let baseline = self.baseline?;
        Some(self.check(metric, baseline).map(|()| baseline))
    }

    /// Whether the scores of this metric mean the same in an accepted run as in this one.
    pub fn check(&self, metric: &MetricKey, baseline: &Baseline) -> Result<(), Incomparable> {
        let facts = self.metrics.get(metric.name());
        let Some(before) = baseline.manifest.metric_versions.get(metric.name()).copied() else {
            return Err(Incomparable::NotInBaseline);
        };
        if let Some(rule) = self.rules.metrics.get(metric).filter(|_| !baseline.manifest.parameters.is_empty()) {
            match baseline.manifest.parameters.get(metric) {
                None => return Err(Incomparable::NotInBaseline),
                Some(parameters) => same_parameters(&self.rules.parameters_of(rule), parameters)?,
            }
        }
        let now = facts.map_or(0, |facts| facts.version);
        if now != before {
            return Err(Incomparable::Version { now, before });
        }
        let is_judged = self.is_judged(metric);
        let judge_before = &baseline.manifest.judge;
        if is_judged && self.judge.fingerprint != judge_before.fingerprint {
            let (now, before) = (judge_name(self.judge), judge_name(judge_before));
            return Err(Incomparable::Judge { now, before, offline: self.by_offline_rules() });
        }
        Ok(())
    }

    /// The metrics that the rules of `offline` score although another judge is named.
    fn by_offline_rules(&self) -> Vec<MetricKey> {
        let is_offline = |rule: &MetricRule| self.judge.provider != "offline" && rule.judge == AskedOf::Offline;
        self.rules.metrics.iter().filter(|(_, rule)| is_offline(rule)).map(|(key, _)| key.clone()).collect()
    }

    /// Whether a judge has a say in the scores of this metric, by the policy's parameters.
    pub fn is_judged(&self, metric: &MetricKey) -> bool {
        let none = Params::default();
        let params = self.rules.metrics.get(metric).map_or(&none, |rule| &rule.params);
        self.metrics.get(metric.name()).is_some_and(|facts| facts.is_judged(params))
    }

    /// Whether readings of this metric can differ: a judge gives them, and it is not the rules of `offline`.
    pub fn is_noisy(&self, metric: &MetricKey) -> bool {
        let is_judged = self.is_judged(metric);
        let is_left_to_rules = self.rules.metrics.get(metric).is_some_and(|rule| rule.judge == AskedOf::Offline);
        is_judged && !is_left_to_rules && self.judge.provider != "offline"
    }

    /// That `max_drop` rules of judged metrics compare with scores that the judge read once; `None` where they do not.
    pub fn read_once(&self, cases: &[GoldenCase]) -> Option<String> {
        let manifest = &self.baseline?.manifest;
        let is_read_once = match manifest.readings {
            Some(readings) => readings < 3,
            None => trust::concerns(&manifest.judge),
        };
        let has_drop = |key: &MetricKey| {
            let of_rules = self.rules.metrics.get(key).is_some_and(|rule| rule.max_drop.is_some());
            of_rules || cases.iter().any(|case| case.bars.get(key).is_some_and(|bar| bar.max_drop.is_some()))
        };
        let keys: BTreeSet<&MetricKey> =
            self.rules.metrics.keys().chain(cases.iter().flat_map(|case| case.bars.keys())).collect();
        let compared =
            |key: &&&MetricKey| has_drop(key) && self.is_noisy(key) && matches!(self.comparable(key), Some(Ok(_)));
        let compared: Vec<String> = keys.iter().filter(compared).map(ToString::to_string).collect();
        (is_read_once && !compared.is_empty()).then(|| {
            format!(
                "`max_drop` of {} compares with scores that were read once: `cargo rageval baseline accept` reads each 3 times",
                compared.join(", ")
            )
        })
    }

    /// How a drop of this metric's mean is decided.
    pub fn decision_rule(&self, metric: &MetricKey) -> DecisionRule {
        let configured = self.rules.regression.as_ref().and_then(|regression| regression.decision);
        let is_judged = self.is_judged(metric);
        configured.unwrap_or(if is_judged { DecisionRule::Confident } else { DecisionRule::Point })
    }
}

/// Tells other parameters from other repeats of the same ones.
fn same_parameters(now: &str, before: &str) -> Result<(), Incomparable> {
    let (params_now, repeats_now) = now.split_once(' ').unwrap_or((now, ""));
    let (params_before, repeats_before) = before.split_once(' ').unwrap_or((before, ""));
    if params_now != params_before {
        return Err(Incomparable::Parameters);
    }
    same_estimand(
        Some(repeats_now).filter(|text| !text.is_empty()),
        Some(repeats_before).filter(|text| !text.is_empty()),
    )
}

/// Whether two scores estimate the same number, whatever the number of readings behind them; `None` is the mean.
pub(super) fn same_estimand(now: Option<&str>, before: Option<&str>) -> Result<(), Incomparable> {
    let word = |estimand: Option<&str>| estimand.unwrap_or("the mean").to_owned();
    if now == before { Ok(()) } else { Err(Incomparable::Repeats { now: word(now), before: word(before) }) }
}

/// Provider and model, with the first digits of the fingerprint, by which two of the same name are told apart.
fn judge_name(judge: &JudgeStamp) -> String {
    let fingerprint: String = judge.fingerprint.chars().take(8).collect();
    format!("{} {} ({fingerprint})", judge.provider, judge.model)
}
