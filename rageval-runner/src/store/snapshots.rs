//! Snapshots as insta stores them: read, listed, and left pending for review.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};

use unicode_normalization::UnicodeNormalization;

use super::{StoreError, temporary, write_atomically};
use crate::{
    model::CaseId,
    report::snapshot::{Snapshot, file_name},
};

/// The stored snapshot; `None` when there is none, an error when it cannot be read.
pub fn read(path: &Path) -> Result<Option<Snapshot>, String> {
    if !path.exists() {
        return Ok(None);
    }
    let unreadable = |why: &str| {
        format!("{}: not a readable snapshot ({why}); restore it from version control or delete it", path.display())
    };
    let snapshot = insta::Snapshot::from_file(path).map_err(|error| unreadable(&error.to_string()))?;
    let text = snapshot.as_text().ok_or_else(|| unreadable("it holds no text"))?.to_string();
    Snapshot::stored(&text, snapshot.metadata().description().unwrap_or_default())
        .map(Some)
        .map_err(|why| unreadable(&why))
}

/// Snapshot files of a folder that belong to none of these cases, by file name.
pub fn orphans<'a>(folder: &Path, ids: impl Iterator<Item = &'a CaseId>) -> Vec<String> {
    let known: BTreeSet<String> = ids.map(file_name).collect();
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut orphans: Vec<String> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|file| file.strip_suffix(".snap").is_some_and(|name| !known.contains(&name.nfc().collect::<String>())))
        .collect();
    orphans.sort();
    orphans
}

/// What stands above the verdicts of a pending snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The test's source, relative to the root.
    pub source: String,
    /// The line in it.
    pub line: u32,
    /// What a reviewer reads.
    pub description: String,
    /// The file of the case, relative to the root.
    pub input_file: Option<String>,
}

/// Leaves a snapshot for review, byte for byte as insta does for a test that asserts it; `snap` is the stored one's file.
///
/// # Errors
/// The file cannot be written.
pub fn leave_pending(snap: &Path, header: &Header, body: &str) -> Result<PathBuf, StoreError> {
    let pending = snap.with_extension("snap.new");
    let text = pending_text(header, body).map_err(|why| StoreError::format(&pending, why))?;
    write_atomically(&pending, text.as_bytes())?;
    Ok(pending)
}

/// Removes a pending snapshot that is no longer true; whether there was one.
///
/// # Errors
/// It cannot be removed.
pub fn remove_pending(snap: &Path) -> Result<bool, StoreError> {
    let pending = snap.with_extension("snap.new");
    match fs::remove_file(&pending) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(StoreError::Io { path: pending, source }),
    }
}

/// The text of a pending snapshot. insta writes it, from a draft with the same content, so that it is laid out as insta does that.
fn pending_text(header: &Header, body: &str) -> Result<String, String> {
    let told = |error: &dyn std::fmt::Display| format!("it cannot be laid out: {error}");
    let folder = tempfile::tempdir().map_err(|error| told(&error))?;
    // A JSON text is a YAML text too.
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut draft = format!("---\nsource: {}\n", quoted(&header.source));
    let _ = writeln!(draft, "description: {}", quoted(&header.description));
    if let Some(file) = &header.input_file {
        let _ = writeln!(draft, "input_file: {}", quoted(file));
    }
    let _ = write!(draft, "---\n{body}");
    let mut file = temporary(folder.path()).map_err(|error| told(&error))?;
    io::Write::write_all(&mut file, draft.as_bytes()).map_err(|error| told(&error))?;
    let snapshot = insta::Snapshot::from_file(file.path()).map_err(|error| told(&error))?;
    let path = folder.path().join("laid-out.snap");
    snapshot.save(&path).map_err(|error| told(&error))?;
    let text = fs::read_to_string(&path).map_err(|error| told(&error))?;
    // The line of the assertion is in pending snapshots alone, below the source.
    let (start, rest) = text.strip_prefix("---\nsource: ").and_then(|text| text.split_once('\n')).ok_or("no source")?;
    Ok(format!("---\nsource: {start}\nassertion_line: {}\n{rest}", header.line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_stands_in_a_header_is_read_back() {
        for text in
            ["a: b", "- x", "\"quoted\" \\ back", "---", "退款 ação", "two\nlines: [", "' # {", "true", "<U+202E>"]
        {
            let header = Header {
                source: "tests/rag_regression.rs".to_owned(),
                line: 7,
                description: format!("Question: {text}\nSample: 0123"),
                input_file: Some(format!("cases/{}.yaml", text.replace('\n', ""))),
            };
            let folder = tempfile::tempdir().expect("a folder");
            let body = "faithfulness: 1 of 2\n  supported: A.\n  contradicted: --- b: c\n";
            let pending = leave_pending(&folder.path().join("one.snap"), &header, body).expect("written");
            let read_back = insta::Snapshot::from_file(&pending).expect("readable");
            let metadata = read_back.metadata();
            assert_eq!(metadata.description(), Some(header.description.as_str()));
            assert_eq!(metadata.input_file(), header.input_file.as_deref());
            assert_eq!((metadata.source(), metadata.assertion_line()), (Some("tests/rag_regression.rs"), Some(7)));
            let snapshot = read(&pending).expect("readable").expect("there");
            assert_eq!(snapshot, Snapshot { body: body.to_owned(), digest: "0123".to_owned() });
            assert!(remove_pending(&folder.path().join("one.snap")).expect("removed"));
            assert!(!remove_pending(&folder.path().join("one.snap")).expect("nothing to remove"));
        }
    }
}
