//! A run against its baseline.
