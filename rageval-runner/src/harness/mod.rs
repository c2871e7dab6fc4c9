//! Golden cases as tests: the trials, what they wait for, and how the process ends.

mod assembly;
mod confirm;
mod context;
mod course;
mod direct;
mod exit_guard;
mod finished;
mod flags;
mod opening;
mod pending;
mod session;
mod setup;
mod snapshots;
mod suite;
mod trials;
mod verdict;
mod written;

pub use course::{Event, Teller};
pub use direct::{Ended, Opened, Order, Part, Refusal, Start, Surroundings};
pub use pending::Pending;
pub use suite::{Location, Suite};
