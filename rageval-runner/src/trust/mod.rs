//! What makes a number worth believing: a judge that can be believed, and cases that stay what they were.

pub mod changelog;
pub mod check;
pub mod drift;
pub mod family;
pub mod generators;
pub mod lock;
pub mod near_duplicates;
pub mod pin;
pub mod strata;
pub mod waiver;

/// A day of the calendar, in whatever time zone is said beside it.
pub use jiff::civil::Date;

pub use check::{Declared, Party, Trust, check, concerns};
pub use generators::{Generators, Told};
pub use waiver::{Waivable, Waiver, utc_day};
