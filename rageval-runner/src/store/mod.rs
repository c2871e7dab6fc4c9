//! The only writer of files: runs, records, baselines.

pub mod baseline;
pub mod runs;
