//! The quality gate of a retrieval-augmented generation (RAG) system, run by `cargo test`.

pub mod gate;
pub mod judge;
pub mod metric;
pub mod model;
pub mod system;
pub mod text;

pub use model::{Answer, RetrievedContext, Usage};

/// Any error of user code: everything that implements `std::error::Error`, and plain texts.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// A result whose error is any error.
pub type Result<T, E = Error> = std::result::Result<T, E>;
