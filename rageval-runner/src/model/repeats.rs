//! How often a case is asked where the system is random, and how its repeats become one outcome.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    ids::MetricKey,
    outcome::Outcome,
    record::{Taken, each_once},
    score::UnitInterval,
    transcript::Transcript,
};

/// The most often that one case may be asked.
pub const MOST: usize = 100;

/// How often a case is asked, and how its repeats are reduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Repeats {
    /// How often: 1 to 100.
    pub times: usize,
    /// How the outcomes of each metric become one; `None` leaves it to what stands further out, and at last to the mean.
    pub reduce: Option<Reduction>,
}

impl Default for Repeats {
    /// Asked once.
    fn default() -> Self {
        Self { times: 1, reduce: None }
    }
}

/// How the scores of a case's repeats become one.
///
/// A repeat passes when its score is at least the `min` of its case and metric.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
pub enum Reduction {
    /// The arithmetic mean.
    #[default]
    Mean,
    /// The middle score; the mean of the two middle ones where their number is even.
    Median,
    /// 1 where more than half of them pass, else 0.
    Majority,
    /// The lowest score.
    Worst,
    /// `pass@k`: the probability that at least one of `k` repeats passes.
    PassAt(usize),
    /// `pass^k`: the probability that all of `k` repeats pass.
    PassAll(usize),
}

impl Reduction {
    /// Every word but those with a number.
    pub const WORDS: [(&'static str, Self); 4] =
        [("mean", Self::Mean), ("median", Self::Median), ("majority", Self::Majority), ("worst", Self::Worst)];

    /// Reads `mean`, `median`, `majority`, `worst`, `pass@3` or `pass^3`; `None` for anything else, a `k` of 0 included.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some((_, word)) = Self::WORDS.iter().find(|(word, _)| *word == text) {
            return Some(*word);
        }
        let rest = text.strip_prefix("pass")?;
        let (sign, digits) = (rest.chars().next()?, rest.get(1..)?);
        // A leading zero or a sign would be another spelling of the same.
        let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
        let k = digits.parse().ok().filter(|_| is_plain)?;
        match sign {
            '@' => Some(Self::PassAt(k)),
            '^' => Some(Self::PassAll(k)),
            _ => None,
        }
    }

    /// The `k` of `pass@k` and `pass^k`.
    pub fn k(self) -> Option<usize> {
        match self {
            Self::PassAt(k) | Self::PassAll(k) => Some(k),
            Self::Mean | Self::Median | Self::Majority | Self::Worst => None,
        }
    }
}

impl fmt::Display for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mean => f.write_str("mean"),
            Self::Median => f.write_str("median"),
            Self::Majority => f.write_str("majority"),
            Self::Worst => f.write_str("worst"),
            Self::PassAt(k) => write!(f, "pass@{k}"),
            Self::PassAll(k) => write!(f, "pass^{k}"),
        }
    }
}

impl From<Reduction> for String {
    fn from(reduction: Reduction) -> Self {
        reduction.to_string()
    }
}

impl TryFrom<String> for Reduction {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("`{text}` is no reduction of repeats"))
    }
}

/// How a score came out of repeats.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reduced {
    /// How they were reduced.
    pub by: Reduction,
    /// How often the case was asked.
    pub times: usize,
    /// How many of these have a score; the metric did not apply to the others.
    pub scored: usize,
    /// The score from which a repeat passes; absent where the case has no `min`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<UnitInterval>,
}

impl Reduced {
    /// What the number estimates, whatever the number of repeats: two scores can be compared when this is the same.
    ///
    /// The mean, `pass@k` and `pass^k` are unbiased, so that more repeats make them steadier and not higher or lower; one reading is
    /// a mean of one, for which this is `None`. What a median, a majority or the worst of 3 is expected to be is not what it is of 10.
    pub fn estimand(&self) -> Option<String> {
        let min = self.min.map_or_else(|| "none".to_owned(), |min| min.get().to_string());
        match self.by {
            Reduction::Mean => None,
            Reduction::PassAt(_) | Reduction::PassAll(_) => Some(format!("{} at min {min}", self.by)),
            Reduction::Majority => Some(format!("{} of {} at min {min}", self.by, self.times)),
            Reduction::Median | Reduction::Worst => Some(format!("{} of {}", self.by, self.times)),
        }
    }
}

/// The repeats of one case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Repeated {
    /// Which of them stands at the top of the record, from 1.
    pub shown: usize,
    /// All of them, in the order in which they were asked for.
    pub each: Vec<Repeat>,
}

/// One repeat: what the system did, and what each metric says of that.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Repeat {
    /// What the system did.
    pub taken: Taken,
    /// One outcome for each metric of the policy.
    #[serde(deserialize_with = "each_once")]
    pub outcomes: std::collections::BTreeMap<MetricKey, Outcome>,
    /// What was asked of the judge, and its replies.
    #[serde(default)]
    pub transcript: Transcript,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_read_as_it_is_written() {
        let words = ["mean", "median", "majority", "worst", "pass@1", "pass@10", "pass^3"];
        for word in words {
            assert_eq!(Reduction::parse(word).map(|reduction| reduction.to_string()).as_deref(), Some(word));
        }
    }

    #[test]
    fn nothing_else_is_a_reduction() {
        for word in [
            "", "Mean", "average", "pass", "pass@", "pass@0", "pass@01", "pass@+1", "pass@-1", "pass%2", "pass^1.5",
            "passé1",
        ] {
            assert_eq!(Reduction::parse(word), None, "{word}");
        }
    }

    #[test]
    fn unbiased_estimates_are_the_same_whatever_the_number_of_repeats() {
        let reduced = |by, times, min: Option<f64>| {
            let min = min.map(|min| UnitInterval::new(min).expect("a score"));
            Reduced { by, times, scored: times, min }.estimand()
        };
        assert_eq!(reduced(Reduction::Mean, 5, Some(0.5)), None, "as a single reading");
        for by in [Reduction::PassAt(2), Reduction::PassAll(2)] {
            assert_eq!(reduced(by, 5, Some(0.5)), reduced(by, 9, Some(0.5)));
            assert_ne!(reduced(by, 5, Some(0.5)), reduced(by, 5, Some(0.6)), "another bar is another question");
        }
        assert_ne!(reduced(Reduction::PassAt(2), 5, Some(0.5)), reduced(Reduction::PassAt(3), 5, Some(0.5)));
        assert_ne!(reduced(Reduction::PassAt(2), 5, Some(0.5)), reduced(Reduction::PassAll(2), 5, Some(0.5)));
        for by in [Reduction::Median, Reduction::Majority, Reduction::Worst] {
            assert_ne!(reduced(by, 5, None), reduced(by, 9, None));
            assert_eq!(reduced(by, 5, None), reduced(by, 5, None));
        }
    }
}
