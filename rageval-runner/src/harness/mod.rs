//! Golden cases as tests: the trials, what they wait for, and how the process ends.

mod assembly;
mod confirm;
mod context;
mod exit_guard;
mod flags;
mod session;
mod setup;
mod snapshots;
mod suite;
mod trials;
mod verdict;
mod written;

pub use suite::{Location, Suite};
