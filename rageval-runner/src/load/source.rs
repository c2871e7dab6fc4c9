//! The text of one file, with the way from a byte in it to its line and column.

use std::{
    io,
    ops::Range,
    path::Path,
    sync::{Arc, OnceLock},
};

use crate::model::Place;

use super::{
    diagnostic::{Diagnostic, Diagnostics},
    secret,
};

/// A range of bytes in a [`Source`].
pub(crate) type Span = Range<usize>;

/// The text of one file without its byte order mark, and the name it is reported by.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// Relative to the folder of the policy, with `/` between the parts.
    pub(crate) name: String,
    /// The text.
    pub(crate) text: String,
    /// Where each line starts; only LF ends a line.
    lines: Vec<usize>,
    /// Where keys and passwords were pasted; found when a line is shown.
    secrets: OnceLock<Vec<Span>>,
}

impl Source {
    /// A text under a name. One leading byte order mark is dropped.
    pub(crate) fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        let mut text = text.into();
        if text.starts_with('\u{feff}') {
            text.drain(..'\u{feff}'.len_utf8());
        }
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Arc::new(Self { name: name.into(), text, lines, secrets: OnceLock::new() })
    }

    /// Reads a file. Bytes that are no UTF-8 are a problem at their offset and never replaced.
    pub(crate) fn read(name: &str, path: &Path) -> Result<Arc<Self>, Diagnostics> {
        let bytes = std::fs::read(path)
            .map_err(|error| Diagnostic::of_file(name, format!("the file cannot be read: {}", reason(&error))))?;
        String::from_utf8(bytes).map(|text| Self::new(name, text)).map_err(|error| not_utf8(name, &error).into())
    }

    /// The number of a byte's line, from 0.
    fn line_of(&self, at: usize) -> usize {
        self.lines.partition_point(|start| *start <= at).saturating_sub(1)
    }

    /// The line and column of a byte.
    pub(crate) fn place(&self, at: usize) -> Place {
        let at = self.text.floor_char_boundary_of(at);
        let line = self.line_of(at);
        let column = self.text[self.lines[line]..at].chars().count() + 1;
        Place { file: self.name.clone(), line: line + 1, column }
    }

    /// The line that a byte stands in, without its end, and where it starts.
    pub(crate) fn line_at(&self, at: usize) -> (usize, &str) {
        let line = self.line_of(at);
        let start = self.lines[line];
        let end = self.lines.get(line + 1).copied().unwrap_or(self.text.len());
        (start, self.text[start..end].trim_end_matches(['\n', '\r']))
    }

    /// Whether a byte belongs to a key or a password that was pasted into the file, which nobody must see again.
    pub(crate) fn is_secret(&self, at: usize) -> bool {
        self.secrets.get_or_init(|| secret::secrets(&self.text)).iter().any(|span| span.contains(&at))
    }

    /// The byte at a line and a column in bytes, both from 1, as `serde_json` counts them.
    pub(crate) fn offset(&self, line: usize, column: usize) -> usize {
        let start = self.lines.get(line.saturating_sub(1)).copied().unwrap_or(self.text.len());
        (start + column.saturating_sub(1)).min(self.text.len())
    }

    /// Every line with the byte it starts at, without its end: only LF ends a line, and one CR before it goes with it.
    pub(crate) fn json_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lines.iter().enumerate().map(|(number, start)| {
            let end = self.lines.get(number + 1).copied().unwrap_or(self.text.len());
            let line = &self.text[*start..end];
            let line = line.strip_suffix('\n').unwrap_or(line);
            (*start, line.strip_suffix('\r').unwrap_or(line))
        })
    }
}

/// The last boundary of a character at or before a byte: `str::floor_char_boundary` is newer than our oldest compiler.
pub(crate) trait FloorCharBoundary {
    /// See the trait.
    fn floor_char_boundary_of(&self, at: usize) -> usize;
}

impl FloorCharBoundary for str {
    fn floor_char_boundary_of(&self, at: usize) -> usize {
        let mut at = at.min(self.len());
        while !self.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}

/// Why a file can't be read, in the same words on every system where the reason is a common one.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "it does not exist".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}

fn not_utf8(name: &str, error: &std::string::FromUtf8Error) -> Diagnostic {
    let offset = error.utf8_error().valid_up_to();
    let (before, rest) = error.as_bytes().split_at(offset);
    let byte = rest.first().copied().unwrap_or_default();
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let column = String::from_utf8_lossy(&before[start..]).trim_start_matches('\u{feff}').chars().count() + 1;
    Diagnostic::at_place(
        Place { file: name.to_owned(), line, column },
        format!("the file is not UTF-8: byte {offset} is 0x{byte:02X}"),
    )
    .help("save it as UTF-8; nothing is replaced silently")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, at: usize, line: usize, column: usize) {
        let place = Source::new("f", text).place(at);
        assert_eq!((place.line, place.column), (line, column), "{text:?} at {at}");
    }

    #[test]
    fn columns_count_characters_and_only_lf_ends_a_line() {
        check("abc", 0, 1, 1);
        check("a\r\nb", 3, 2, 1);
        check("é\u{2028}x", 5, 1, 3);
        check("a\n", 2, 2, 1);
        check("", 0, 1, 1);
        check("é", 1, 1, 1);
        check("ab", 99, 1, 3);
    }

    #[test]
    fn one_byte_order_mark_is_dropped() {
        assert_eq!(Source::new("f", "\u{feff}a").text, "a");
        assert_eq!(Source::new("f", "\u{feff}\u{feff}a").text, "\u{feff}a");
    }
}
