//! Numbers that carry their range.

use serde::{Deserialize, Serialize};

/// A number in [0, 1]; never NaN.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "f64"))]
pub struct UnitInterval(f64);

/// A number outside [0, 1], or NaN.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("a score lies between 0 and 1, got {0}")]
pub struct OutOfRange(pub f64);

impl UnitInterval {
    /// 0.
    pub const ZERO: Self = Self(0.0);
    /// 1.
    pub const ONE: Self = Self(1.0);
    /// 0.5: a tie.
    pub const HALF: Self = Self(0.5);

    /// Accepts a number in [0, 1] and nothing else: no clamping, since a score outside is a fault to be seen.
    pub fn new(value: f64) -> Result<Self, OutOfRange> {
        // `-0.0` is taken as 0 so that it never prints with a sign.
        if (0.0..=1.0).contains(&value) { Ok(Self(value + 0.0)) } else { Err(OutOfRange(value)) }
    }

    /// `part / whole`; 1.0 exactly when they are equal. `None` when `whole` is 0 or `part` is larger.
    pub fn share(part: usize, whole: usize) -> Option<Self> {
        (whole > 0 && part <= whole).then(|| Self(part as f64 / whole as f64))
    }

    /// 1 for yes, 0 for no.
    pub fn from_yes(yes: bool) -> Self {
        if yes { Self::ONE } else { Self::ZERO }
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }

    /// 1 minus the number.
    #[must_use]
    pub fn complement(self) -> Self {
        Self(1.0 - self.0)
    }
}

impl Eq for UnitInterval {}

#[expect(clippy::derive_ord_xor_partial_ord, reason = "no NaN can be inside, so the derived partial order is total")]
impl Ord for UnitInterval {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl TryFrom<f64> for UnitInterval {
    type Error = OutOfRange;

    fn try_from(value: f64) -> Result<Self, OutOfRange> {
        Self::new(value)
    }
}

impl From<UnitInterval> for f64 {
    fn from(value: UnitInterval) -> Self {
        value.0
    }
}

/// What a metric says of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Score {
    /// The score in [0, 1]; higher is better.
    pub value: UnitInterval,
    /// The measured quantity behind a yes-or-no score: characters, milliseconds, tokens, US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<f64>,
    /// What the first reading scored, where `value` is made of several and differs. Means over all cases compare first readings: those of a baseline
    /// that several readings have corrected would lie above those of a run that none has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<UnitInterval>,
}

impl From<UnitInterval> for Score {
    fn from(value: UnitInterval) -> Self {
        Self { value, raw: None, first: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_the_interval_gets_in() {
        for bad in [f64::NAN, -0.001, 1.000_001, f64::INFINITY] {
            assert!(UnitInterval::new(bad).is_err());
        }
        assert_eq!(UnitInterval::new(-0.0).map(|u| u.get().is_sign_negative()), Ok(false));
    }

    #[test]
    fn a_full_share_is_exactly_one() {
        assert_eq!(UnitInterval::share(3, 3), Some(UnitInterval::ONE));
        assert_eq!(UnitInterval::share(0, 0), None);
        assert_eq!(UnitInterval::share(4, 3), None);
    }
}
