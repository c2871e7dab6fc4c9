//! A run file as it is written, piece by piece.

use std::{
    borrow::Cow,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use super::{
    super::{StoreError, write_piecewise},
    FORMAT, VERSION,
};
use crate::model::{
    Record,
    background::{Background, CaseBackground},
    run::{Decision, Manifest},
};

/// What a run file is made of. Records and cases come one by one, as all of them need not be in memory.
pub struct Parts<'a> {
    /// Where it comes from.
    pub manifest: &'a Manifest,
    /// The records, sorted by case; one that can't be had leaves no run file.
    pub records: Box<dyn Iterator<Item = io::Result<WholeRecord<'a>>> + 'a>,
    /// The decisions, sorted by trial.
    pub decisions: &'a [Decision],
    /// The golden cases as reports show them, in the order of the set.
    pub cases: Box<dyn Iterator<Item = Cow<'a, CaseBackground>> + 'a>,
    /// Rules and baseline as reports show them.
    pub background: &'a Background,
}

/// A record as it goes into a run file.
pub enum WholeRecord<'a> {
    /// In memory.
    Record(&'a Record),
    /// As [`record_text`] gave it.
    Text(Vec<u8>),
}

/// A record as it stands in a run file.
pub fn record_text(record: &Record) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(record)
}

/// Writes `run.json` into a folder: one line a record, a decision and a case, as it goes, since the text of a run is larger than its records.
pub fn write(folder: &Path, parts: Parts<'_>) -> Result<PathBuf, StoreError> {
    let path = folder.join("run.json");
    write_piecewise(&path, |file| {
        let mut writer = BufWriter::new(file);
        write_text(&mut writer, parts)?;
        writer.flush()
    })?;
    Ok(path)
}

/// A run as text: valid JSON with one line a record, a decision and a case, for looking at and comparing.
pub(super) fn write_text(writer: &mut impl Write, parts: Parts<'_>) -> io::Result<()> {
    let Parts { manifest, records, decisions, cases, background } = parts;
    let (manifest, background) = (serde_json::to_string(manifest)?, serde_json::to_string(background)?);
    write!(writer, "{{\"format\":\"{FORMAT}\",\"version\":{VERSION},\n\"manifest\":{manifest},\n\"records\":[")?;
    write_lines(writer, records, |writer, record| match record? {
        WholeRecord::Record(record) => Ok(serde_json::to_writer(writer, record)?),
        WholeRecord::Text(text) => writer.write_all(&text),
    })?;
    write!(writer, "],\n\"decisions\":[")?;
    write_lines(writer, decisions, |writer, decision| Ok(serde_json::to_writer(writer, decision)?))?;
    write!(writer, "],\n\"cases\":[")?;
    write_lines(writer, cases, |writer, case| Ok(serde_json::to_writer(writer, &*case)?))?;
    writeln!(writer, "],\n\"background\":{background}}}")
}

fn write_lines<W: Write, T>(
    writer: &mut W,
    items: impl IntoIterator<Item = T>,
    write: impl Fn(&mut W, T) -> io::Result<()>,
) -> io::Result<()> {
    for (i, item) in items.into_iter().enumerate() {
        writer.write_all(if i == 0 { b"\n" } else { b",\n" })?;
        write(writer, item)?;
    }
    Ok(())
}
