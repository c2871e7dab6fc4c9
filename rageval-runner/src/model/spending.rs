//! What asking models costs, and what it may cost.

use serde::{Deserialize, Serialize};

use super::case::Place;

/// The most that one run may spend on models; a limit that is `None` is none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Budget {
    /// Requests, those that are sent again included.
    pub requests: Option<u64>,
    /// Tokens, read and written.
    pub tokens: Option<u64>,
    /// US dollars; finite, 0 or more.
    pub usd: Option<f64>,
    /// Minutes from the first request of the run on; finite, above 0.
    pub minutes: Option<f64>,
    /// Where the `budget` key stands.
    pub place: Place,
}

/// What a model costs: US dollars for a million tokens; finite, 0 or more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Of tokens that it reads.
    pub input: f64,
    /// Of tokens that it writes.
    pub output: f64,
}

impl Price {
    /// US dollars for so many tokens read and written.
    pub fn usd(self, input_tokens: u64, output_tokens: u64) -> f64 {
        (input_tokens as f64 * self.input + output_tokens as f64 * self.output) / 1e6
    }
}

/// What one run spent on models.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spending {
    /// Requests that were sent, those that were sent again included.
    pub requests: u64,
    /// Tokens read by models.
    pub input_tokens: u64,
    /// Tokens written by models.
    pub output_tokens: u64,
    /// Tokens among both that no reply told: of calls that were cut off, and of models that say nothing of tokens.
    #[serde(default)]
    pub estimated_tokens: u64,
    /// US dollars at the configured price; absent where none is configured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
}

impl std::ops::AddAssign for Spending {
    fn add_assign(&mut self, more: Self) {
        self.requests += more.requests;
        self.input_tokens += more.input_tokens;
        self.output_tokens += more.output_tokens;
        self.estimated_tokens += more.estimated_tokens;
        self.usd = match (self.usd, more.usd) {
            (Some(usd), Some(more)) => Some(usd + more),
            (usd, more) => usd.or(more),
        };
    }
}
