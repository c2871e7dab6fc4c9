//! What was decided about the trials of a run.

use serde::{Deserialize, Serialize};

use super::ids::MetricKey;

/// What a rule over a run says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Ruling {
    /// The bar is met.
    Pass,
    /// The bar is not met.
    Fail,
    /// Too little to say, by a rule that lets this pass: it is listed.
    Inconclusive,
    /// It could not be decided: something is unmeasured, or nothing was scored. Red.
    Undecided,
}

impl Ruling {
    /// Whether `cargo test` is red.
    pub fn is_red(self) -> bool {
        match self {
            Self::Pass | Self::Inconclusive => false,
            Self::Fail | Self::Undecided => true,
        }
    }
}

/// What was decided about one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Decision {
    /// The trial: `case::cases/en::refund-window`, `gate::recall@5::mean@language=pt`.
    pub trial: String,
    /// What it says.
    pub ruling: Ruling,
    /// The number that was compared, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statistic: Option<f64>,
    /// What it was compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// Cases that entered the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<usize>,
    /// The text a person gets, line by line; for a passing trial at most one line.
    #[serde(default)]
    pub lines: Vec<String>,
    /// Failures that only warn, known failures, and other things worth a line in the summary.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
    /// Of a case: the snapshot that makes it red. Whoever decides anew over the records keeps it, since the records do not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<SnapshotFailure>,
    /// Of a case: each rule that is broken, each metric that is unmeasured, each drop that can't be told; also those that leave it green.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Of a gate over scores: what it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateFacts>,
}

impl Decision {
    /// A decision that is told by its lines alone.
    pub fn told(trial: impl Into<String>, ruling: Ruling, lines: Vec<String>) -> Self {
        Self {
            trial: trial.into(),
            ruling,
            statistic: None,
            threshold: None,
            n: None,
            lines,
            notices: Vec::new(),
            snapshot: None,
            findings: Vec::new(),
            gate: None,
        }
    }

    /// Whether it is about one case: of a gate, the set-up, a calibration otherwise.
    pub fn is_of_case(&self) -> bool {
        self.trial.starts_with("case::")
    }
}

/// What a run came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Conclusion {
    /// Every trial passed.
    Pass,
    /// At least one failed.
    Fail,
    /// None failed, and at least one could not be decided.
    Undecided,
}

impl Conclusion {
    /// What these decisions come to. Of no decisions nothing is known.
    pub fn of(decisions: &[Decision]) -> Self {
        let any = |ruling| decisions.iter().any(|decision| decision.ruling == ruling);
        match (any(Ruling::Fail), any(Ruling::Undecided) || decisions.is_empty()) {
            (true, _) => Self::Fail,
            (false, true) => Self::Undecided,
            (false, false) => Self::Pass,
        }
    }

    /// `passed`, `failed`, `undecided`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "passed",
            Self::Fail => "failed",
            Self::Undecided => "undecided",
        }
    }
}

/// One thing that was found of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// What is found.
    pub kind: FindingKind,
    /// What it does to the case.
    pub level: FindingLevel,
    /// The metric; `None` where it is the system's fault, which leaves every metric unmeasured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<MetricKey>,
    /// The score, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The bar: the lowest score, or the largest drop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bar: Option<f64>,
    /// The baseline's score, 0 to 1; of a drop alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<f64>,
    /// The finding as a phrase: `faithfulness 0.50, min 0.80 (1 of 2)`.
    pub text: String,
}

impl Finding {
    /// How far the score lies on the wrong side of its bar; `None` where there is no bar.
    pub fn shortfall(&self) -> Option<f64> {
        let (score, bar) = self.score.zip(self.bar)?;
        Some(self.baseline.map_or(bar - score, |baseline| baseline - score - bar))
    }
}

/// What is found of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FindingKind {
    /// The score is below `min`.
    Min,
    /// The score dropped by more than `max_drop`.
    MaxDrop,
    /// There is no score through a fault.
    Unmeasured,
    /// Whether the score dropped can't be told.
    Incomparable,
    /// It is known to fail, and breaks no rule any more.
    Recovered,
}

/// What a finding does to its case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FindingLevel {
    /// It makes it red.
    Red,
    /// It is reported and nothing more: the rule only warns, or the policy allows so many unmeasured cases.
    Warned,
    /// The case says that it is known.
    Known,
}

/// What a gate over scores is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GateFacts {
    /// The metric; `None` for the count of unmeasured cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<MetricKey>,
    /// `mean`, `pass_rate`, `bottom10`, `mean_drop`, `window_drop`, `bottom10_drop`, `unmeasured`.
    pub rule: String,
    /// The slice; `None` for the whole set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice: Option<SliceFacts>,
    /// Whether it only warns.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warns: bool,
}

/// A slice by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SliceFacts {
    /// The field: `language`, `metadata.team`.
    pub field: String,
    /// The value.
    pub value: String,
}

/// A snapshot that makes its case red.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SnapshotFailure {
    /// Why, as a phrase: `no snapshot`, `faithfulness: 3 of 4 -> 2 of 4`.
    pub why: String,
    /// The difference, a line each, with the mark of a diff first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diff: Vec<String>,
}
