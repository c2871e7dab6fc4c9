//! The system under test: whatever takes a question and gives an answer.

pub mod command;
pub(crate) mod excerpt;
pub mod function;
pub mod http;
pub mod recorded;
mod setup;
pub mod spec;
mod wire;

use std::{collections::BTreeMap, future::Future, pin::Pin};

pub use function::{IntoSystem, from_fn};
pub use setup::{SetupError, open};

use crate::model::{Answer, CaseId, GoldenCase, GoldenSet, Unmeasured};

/// A future on the heap, as trait objects need it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What the system is asked. It never sees the right answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The case's id.
    pub case_id: CaseId,
    /// The question.
    pub query: String,
    /// The language tag of the case, as written.
    pub language: Option<String>,
    /// The case's metadata.
    pub metadata: BTreeMap<String, String>,
    /// Which asking of a repeated case this is, from 1, for a system that takes a seed; `None` for a case that is asked once.
    pub repeat: Option<usize>,
}

impl From<&GoldenCase> for Question {
    fn from(case: &GoldenCase) -> Self {
        Self {
            case_id: case.id.clone(),
            query: case.query.clone(),
            language: case.language_tag.clone(),
            metadata: case.metadata.clone(),
            repeat: None,
        }
    }
}

/// What came back, with the system's own word on how long it took.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The answer.
    pub answer: Answer,
    /// How long the answer took.
    pub latency: Latency,
}

/// How long an answer took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Latency {
    /// Milliseconds, as the system states them.
    Stated(f64),
    /// The wall time around the call.
    Measured,
    /// Not known: an answer that was recorded without it.
    Unknown,
}

/// The causes that a system's faults are counted by.
pub mod cause {
    /// It returned an error.
    pub const ERROR: &str = "system error";
    /// It did not answer in time.
    pub const TIME_OUT: &str = "system time-out";
    /// It panicked.
    pub const PANIC: &str = "system panicked";
    /// Its process ended, or could not be started.
    pub const CRASH: &str = "system crashed";
    /// What it returned cannot be read.
    pub const INVALID: &str = "system reply invalid";
    /// No recorded answer of this case.
    pub const MISSING: &str = "no recorded answer";
}

/// Whatever takes a question and gives an answer.
pub trait RagSystem: Send + Sync {
    /// Asks one question. Time limits, panics and concurrency are the caller's: a future that is dropped stops what it started.
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Asked, Unmeasured>>;

    /// What changes no outcome and somebody should know, one line each: recorded answers that no case asks for, lines that belong to
    /// no question. `_set` is the whole golden set, not only what a filter left. To be asked once all cases are done.
    fn notices(&self, _set: &GoldenSet) -> Vec<String> {
        Vec::new()
    }
}

impl<S: RagSystem + ?Sized> RagSystem for Box<S> {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Asked, Unmeasured>> {
        (**self).ask(question)
    }

    fn notices(&self, set: &GoldenSet) -> Vec<String> {
        (**self).notices(set)
    }
}
