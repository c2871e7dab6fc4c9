//! One statement of an answer, and what a judge says of it.

use serde::{Deserialize, Serialize};

use super::ids::DocId;

/// What a judge says of one claim. Not pass or fail: that is decided by thresholds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Verdict {
    /// The evidence states it.
    Supported,
    /// The evidence does not state it, but it follows.
    Inferred,
    /// The evidence says nothing of it.
    Unsupported,
    /// The evidence says otherwise.
    Contradicted,
}

impl Verdict {
    /// Every verdict, best first.
    pub const ALL: [Self; 4] = [Self::Supported, Self::Inferred, Self::Unsupported, Self::Contradicted];

    /// The word in files and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Supported => "supported",
            Self::Inferred => "inferred",
            Self::Unsupported => "unsupported",
            Self::Contradicted => "contradicted",
        }
    }

    /// Reads exactly one of the four words; any other text is out of vocabulary.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.as_str() == word)
    }
}

/// The piece of evidence a verdict rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Evidence {
    /// The document or context it stands in, where it has an id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<DocId>,
    /// The sentence, as it stands there.
    pub text: String,
}

/// One statement with its verdict. A metric's `bad` flag decides whether it counts against the score, not the verdict's name alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Claim {
    /// The statement.
    pub text: String,
    /// What the judge says of it.
    pub verdict: Verdict,
    /// The nearest evidence, where the judge names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// Why, in the judge's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
