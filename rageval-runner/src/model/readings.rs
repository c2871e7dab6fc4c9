//! Further readings of a judged score: the judge asked again about the same answer.

use serde::{Deserialize, Serialize};

use super::{claim::Verdict, outcome::Outcome, score::UnitInterval};

/// What was read again of one judged metric of one case.
///
/// Readings stand in the order in which they were asked for: the one at index `i` is the fresh sample `i + 1`, the first reading being
/// sample 0.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Readings {
    /// Of this run's answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub now: Vec<Heard>,
    /// Of the baseline's answer, where that was judged again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub baseline: Vec<Heard>,
    /// How the confirmation of a suspect ended; absent where the case was not suspected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<Confirmation>,
    /// The one fresh reading of both sides for the drop of a mean; absent where no mean was suspected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<SecondReading>,
    /// That fresh reading was wanted, and a side gave none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub second_failed: bool,
}

/// One reading.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "heard", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Heard {
    /// One verdict for each claim of the first reading, in its order.
    Verdicts {
        /// The verdicts.
        verdicts: Vec<Verdict>,
    },
    /// A score alone, of a metric whose claims are not the same in each reading.
    Score {
        /// The score.
        score: UnitInterval,
    },
    /// No vote: the call failed, or its reply did not fit.
    Nothing {
        /// Why.
        why: String,
    },
}

/// How the confirmation of a suspect ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ended", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Confirmation {
    /// The case is within its bars once the readings are counted: it is green, and flaky.
    Cleared {
        /// What the case, its snapshot and the tail show.
        outcome: Outcome,
        /// The baseline's score after its answer was judged again; absent where it was not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        baseline: Option<UnitInterval>,
    },
    /// The readings agree that it is outside.
    Confirmed {
        /// What the case, its snapshot and the tail show.
        outcome: Outcome,
        /// The baseline's score after its answer was judged again; absent where it was not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        baseline: Option<UnitInterval>,
    },
    /// It was not, or not wholly, read again: the first reading stands.
    NotConfirmed {
        /// Why, as a phrase: `the run is decided by 5 confirmed cases`.
        why: String,
    },
}

/// One fresh reading of both sides of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SecondReading {
    /// The score of the baseline's answer.
    pub before: UnitInterval,
    /// The score of this run's answer.
    pub now: UnitInterval,
}

impl Confirmation {
    /// The outcome that takes the place of the first reading; `None` where that stands.
    pub fn settled(&self) -> Option<&Outcome> {
        match self {
            Self::Cleared { outcome, .. } | Self::Confirmed { outcome, .. } => Some(outcome),
            Self::NotConfirmed { .. } => None,
        }
    }

    /// The baseline's score after its answer was judged again; `None` where the stored one stands.
    pub fn baseline(&self) -> Option<UnitInterval> {
        match self {
            Self::Cleared { baseline, .. } | Self::Confirmed { baseline, .. } => *baseline,
            Self::NotConfirmed { .. } => None,
        }
    }
}
