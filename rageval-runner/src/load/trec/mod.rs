//! TREC files: judgements (`qrels`) and runs, as `trec_eval` reads them.

pub mod qrels;
pub mod run;

pub use qrels::Qrels;
pub use run::{Ties, for_each_ranking};

use std::{fmt, io, path::Path};

/// So many problems of one file are shown; the rest is counted.
const SHOWN: usize = 20;

/// Why a file of judgements, rankings or samples could not be used.
#[derive(Debug, thiserror::Error)]
pub enum TrecError {
    /// The file could not be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// Lines that say something impossible.
    #[error("{0}")]
    Lines(Problems),
}

impl TrecError {
    /// The file could not be read.
    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        Self::Read { path: path.display().to_string(), source }
    }
}

/// All problems of one file, each at its line; the first 20 are kept and the rest is counted.
#[derive(Debug, Default)]
pub struct Problems {
    shown: Vec<String>,
    more: usize,
}

impl Problems {
    /// Adds a problem at a line, counted from 1.
    pub(crate) fn add(&mut self, path: &Path, line: usize, what: impl fmt::Display) {
        if self.shown.len() < SHOWN {
            self.shown.push(format!("{}:{line}: {what}", path.display()));
        } else {
            self.more += 1;
        }
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// `value`, unless there are problems.
    pub(crate) fn or<T>(self, value: T) -> Result<T, TrecError> {
        if self.is_empty() { Ok(value) } else { Err(TrecError::Lines(self)) }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown.join("\n"))?;
        match self.more {
            0 => Ok(()),
            1 => f.write_str("\nand 1 more problem"),
            more => write!(f, "\nand {more} more problems"),
        }
    }
}

/// The whole text of a file, without a byte order mark.
pub fn text(path: &Path) -> Result<String, TrecError> {
    let bytes = std::fs::read(path).map_err(|source| TrecError::read(path, source))?;
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let line =
            error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
        let mut problems = Problems::default();
        problems.add(path, line, NOT_UTF8);
        TrecError::Lines(problems)
    })?;
    if text.starts_with(BOM) {
        text.drain(..BOM.len_utf8());
    }
    Ok(text)
}

const BOM: char = '\u{feff}';
pub(super) const NOT_UTF8: &str = "not UTF-8 text; save the file as UTF-8";

/// The fields of a line; `None` for a blank line and a comment, which starts with `#`. A `#` inside a field is part of it.
fn fields(line: &str) -> Option<std::str::SplitAsciiWhitespace<'_>> {
    let line = line.trim_ascii_start();
    (!line.is_empty() && !line.starts_with('#')).then(|| line.split_ascii_whitespace())
}

#[cfg(test)]
mod tests;
