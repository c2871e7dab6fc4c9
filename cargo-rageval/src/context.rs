//! What the command knows of the process it runs in: the only reader of the environment.

use std::ffi::OsString;

/// The process's surroundings.
#[derive(Debug)]
pub(crate) struct Context {
    /// The command line, with `rageval` as its second word, as cargo passes it.
    pub(crate) arguments: Vec<OsString>,
}

impl Context {
    /// Reads it once.
    pub(crate) fn from_environment() -> Self {
        let mut arguments: Vec<_> = std::env::args_os().collect();
        // Run by hand as `cargo-rageval score`, cargo's word is missing.
        if arguments.get(1).is_none_or(|word| word != "rageval") {
            arguments.insert(1.min(arguments.len()), "rageval".into());
        }
        Self { arguments }
    }
}
