//! Golden cases as tests: the trials, what they wait for, and how the process ends.

mod context;
mod flags;
mod needs;
mod session;
mod setup;
mod snapshots;
mod suite;
mod trials;

pub use suite::{Location, Suite};
