//! What `thresholds.yaml` says of the judge: checked, resolved, and not yet started.

use std::{path::PathBuf, time::Duration};

use crate::model::Place;

/// How long a judge may take for one request where the policy does not say.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// How many requests are asked at once where the policy does not say.
pub const DEFAULT_MAX_IN_FLIGHT: usize = 8;

/// The judge, as the policy describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeSpec {
    /// Who answers.
    pub provider: JudgeProvider,
    /// The longest time that one request may take; above 0.
    pub timeout: Duration,
    /// Requests asked at once; at least 1.
    pub max_in_flight: usize,
    /// Where the `judge` key stands; the first line of the policy where it is missing.
    pub place: Place,
}

impl JudgeSpec {
    /// A judge of this provider with the default limits.
    pub fn of_provider(provider: JudgeProvider) -> Self {
        Self { provider, timeout: DEFAULT_TIMEOUT, max_in_flight: DEFAULT_MAX_IN_FLIGHT, place: Place::default() }
    }
}

/// Who answers judging requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JudgeProvider {
    /// Rules over the text; needs no network.
    Offline,
    /// Replies from a file, by request name and case.
    Scripted {
        /// The file; absolute.
        replies: PathBuf,
    },
}

impl JudgeProvider {
    /// The words that `provider:` takes.
    pub const NAMES: [&'static str; 2] = ["offline", "scripted"];

    /// The word after `provider:`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Offline => "offline",
            Self::Scripted { .. } => "scripted",
        }
    }
}
