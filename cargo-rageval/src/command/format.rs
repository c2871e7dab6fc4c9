//! How a command prints data.

use std::io::{self, Write};

use clap::ValueEnum;
use serde_json::Value;

/// How a command prints data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people
    Text,
    /// For programs: one JSON document
    Json,
}

/// Prints one JSON document on standard output.
pub(super) fn print_json(value: &Value) -> io::Result<()> {
    let mut out = crate::out::stdout();
    writeln!(out, "{value:#}")?;
    out.flush()
}
