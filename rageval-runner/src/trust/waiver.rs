//! Written exceptions from what a judge must be: each with its reason and its last day.

use std::fmt;

use jiff::{Timestamp, civil::Date, tz::Offset};

use crate::model::Place;

/// What can be waived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Waivable {
    /// The judge's model is a name that its provider moves to other models.
    Alias,
    /// Judge and generator are of one family.
    Family,
    /// The generator is not declared.
    Generator,
    /// The judge is not calibrated.
    Calibration,
}

impl Waivable {
    /// Everything that can be waived.
    pub const ALL: [Self; 4] = [Self::Alias, Self::Family, Self::Generator, Self::Calibration];

    /// The word under `waive`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Alias => "alias",
            Self::Family => "family",
            Self::Generator => "generator",
            Self::Calibration => "calibration",
        }
    }
}

/// One written exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiver {
    /// What it waives.
    pub what: Waivable,
    /// Why; not blank.
    pub reason: String,
    /// The last day on which it holds, in UTC.
    pub until: Date,
    /// Where it stands.
    pub place: Place,
}

impl Waiver {
    /// Whether it still holds on this day: through its last one.
    pub fn holds_on(&self, today: Date) -> bool {
        today <= self.until
    }

    /// The notice of one that nothing needs.
    pub fn waives_nothing(&self, today: Date) -> String {
        let end = if self.holds_on(today) { "" } else { ", and has expired" };
        format!("{}: `waive.{}` waives nothing{end}; remove it", self.place, self.what.as_str())
    }
}

/// As it is printed on every run: what, until when, why.
impl fmt::Display for Waiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} until {}: {}", self.what.as_str(), self.until, self.reason)
    }
}

/// The day in UTC at a time that was read elsewhere. The last day there is, on which no waiver but its own holds, for a time beyond the calendar.
pub fn utc_day(seconds_since_1970: u64) -> Date {
    let timestamp = i64::try_from(seconds_since_1970).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    timestamp.map_or(Date::MAX, |timestamp| Offset::UTC.to_datetime(timestamp).date())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiver_holds_through_its_last_day() {
        let until = "2026-12-31".parse().expect("a date");
        let waiver = Waiver { what: Waivable::Alias, reason: "r".to_owned(), until, place: Place::default() };
        for (day, holds) in [("2026-01-01", true), ("2026-12-31", true), ("2027-01-01", false)] {
            assert_eq!(waiver.holds_on(day.parse().expect("a date")), holds, "{day}");
        }
    }

    #[test]
    fn a_day_ends_at_midnight_in_utc() {
        assert_eq!(utc_day(0).to_string(), "1970-01-01");
        assert_eq!(utc_day(1_798_761_599).to_string(), "2026-12-31");
        assert_eq!(utc_day(1_798_761_600).to_string(), "2027-01-01");
    }

    #[test]
    fn a_time_beyond_the_calendar_lets_waivers_expire() {
        assert_eq!(utc_day(u64::MAX), Date::MAX);
    }
}
