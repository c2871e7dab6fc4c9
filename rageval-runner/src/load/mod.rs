//! Files that a person wrote, read into checked types with every problem at its place.

mod blocks;
mod budget;
pub mod calibration_queries;
mod case;
mod cases;
mod confirm;
mod connect;
mod diagnostic;
mod embedder;
mod files;
mod http;
pub mod insta_config;
mod json;
mod judge;
mod metrics;
mod node;
mod prompts;
pub mod rankings;
mod read;
mod rules;
pub mod schema;
mod secret;
mod shape;
mod slices;
mod source;
pub mod steps;
mod table;
mod thresholds;
pub mod trec;
mod waive;
mod yaml;

pub use budget::ReplyModes;
pub use cases::{cases, one_file};
pub use diagnostic::{Diagnostic, Diagnostics};
pub use slices::check_slices;
pub use thresholds::{FILE_NAME, Policy, find, policy};
