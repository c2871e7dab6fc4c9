//! Whether a judge can be believed, and who has waived it where it can't.

pub mod check;
pub mod family;
pub mod pin;
pub mod waiver;

/// A day of the calendar, in whatever time zone is said beside it.
pub use jiff::civil::Date;

pub use check::{Declared, Party, Trust, check};
pub use waiver::{Waivable, Waiver, utc_day};
