//! What became of one metric on one sample: scored, not applicable, or unmeasured. There is no fourth.

use serde::{Deserialize, Serialize};

use super::{
    claim::Claim,
    ids::DocId,
    score::{Score, UnitInterval},
};

/// What became of one metric on one sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Outcome {
    /// A score, with what it was made from.
    Scored {
        /// The score.
        score: Score,
        /// What it was made from.
        #[serde(default)]
        detail: Detail,
    },
    /// The case says that this metric has nothing to measure here.
    NotApplicable {
        /// Why, as a phrase: `the case names no relevant documents`.
        why: String,
    },
    /// It should have been measured and could not be. Always red.
    Unmeasured {
        /// The fault.
        #[serde(flatten)]
        fault: Unmeasured,
    },
}

/// Why a metric, or a whole case, could not be measured.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unmeasured {
    /// The kind of fault, for counting: `system time-out`, `judge reply unreadable`. A fixed phrase, no data in it.
    pub cause: String,
    /// What exactly happened, with the first part of what came back where that helps.
    pub why: String,
}

impl Unmeasured {
    /// A fault of the named kind.
    pub fn new(cause: impl Into<String>, why: impl Into<String>) -> Self {
        Self { cause: cause.into(), why: why.into() }
    }
}

/// What a score was made from, for people to read. Never used to compute another number.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Detail {
    /// Claims with their verdicts, in the order of the answer (or reference).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
    /// How many of how many counted, for metrics that are a share: the `k of n` of a snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k_of_n: Option<(usize, usize)>,
    /// The cosine similarity that is in the score, -1 to 1. It is no verdict and moves in its last digits, so that a snapshot leaves out a
    /// score that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
    /// For retrieval metrics: what was found and missed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranked: Option<Ranked>,
    /// One line for a person: `refused, should answer`; `missing: "30 days"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The ranking behind a retrieval score.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ranked {
    /// Relevant documents that were found within the cut-off, with their rank from 1.
    pub found: Vec<(DocId, usize)>,
    /// Relevant documents that were not found within the cut-off.
    pub missed: Vec<DocId>,
}

impl Outcome {
    /// A score without detail.
    pub fn scored(value: UnitInterval) -> Self {
        Self::Scored { score: value.into(), detail: Detail::default() }
    }

    /// A score with what it was made from.
    pub fn scored_with(value: UnitInterval, detail: Detail) -> Self {
        Self::Scored { score: value.into(), detail }
    }

    /// Not applicable, for the given reason.
    pub fn not_applicable(why: impl Into<String>) -> Self {
        Self::NotApplicable { why: why.into() }
    }

    /// Unmeasured through a fault of the named kind.
    pub fn unmeasured(cause: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Unmeasured { fault: Unmeasured::new(cause, why) }
    }

    /// The score, where there is one.
    pub fn score(&self) -> Option<UnitInterval> {
        match self {
            Self::Scored { score, .. } => Some(score.value),
            Self::NotApplicable { .. } | Self::Unmeasured { .. } => None,
        }
    }

    /// The score of the first reading, where there is a score: the score itself unless it is made of several.
    pub fn first_score(&self) -> Option<UnitInterval> {
        match self {
            Self::Scored { score, .. } => Some(score.first.unwrap_or(score.value)),
            Self::NotApplicable { .. } | Self::Unmeasured { .. } => None,
        }
    }

    /// The same, made of several readings of which this was the first.
    #[must_use]
    pub fn read_first_as(self, first: &Self) -> Self {
        match self {
            Self::Scored { score, detail } => {
                let first = first.first_score().filter(|first| *first != score.value);
                Self::Scored { score: Score { first, ..score }, detail }
            }
            Self::NotApplicable { .. } | Self::Unmeasured { .. } => self,
        }
    }

    /// The detail of a score, where there is one.
    pub fn detail(&self) -> Option<&Detail> {
        match self {
            Self::Scored { detail, .. } => Some(detail),
            Self::NotApplicable { .. } | Self::Unmeasured { .. } => None,
        }
    }

    /// The fault, where it is unmeasured.
    pub fn fault(&self) -> Option<&Unmeasured> {
        match self {
            Self::Unmeasured { fault } => Some(fault),
            Self::Scored { .. } | Self::NotApplicable { .. } => None,
        }
    }
}
