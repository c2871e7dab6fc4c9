//! What makes a number worth believing.

pub mod changelog;
pub mod lock;
pub mod near_duplicates;
pub mod strata;
