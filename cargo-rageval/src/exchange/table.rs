//! Tables of other programs: CSV with a header, one map a row.

use std::path::Path;

use rageval_runner::{
    load::{
        plain::{Located, Value},
        trec,
    },
    model::Place,
};

use super::Wrong;

/// Every row as a map from the header's names to the cells that are not empty, all as text. A byte order mark and CRLF are fine; rows of
/// empty cells are skipped.
pub(crate) fn rows(path: &Path) -> Result<Vec<Located>, Wrong> {
    let mut rows = cells(path)?;
    for row in &mut rows {
        if let Value::Map(cells) = &mut row.value {
            cells.retain(|(_, cell)| cell.value != Value::Text(String::new()));
        }
    }
    Ok(rows)
}

/// The same with the cells that are empty.
pub(crate) fn cells(path: &Path) -> Result<Vec<Located>, Wrong> {
    let text = trec::text(path).map_err(|error| Wrong(error.to_string()))?;
    let mut lines = Lines { text: text.as_bytes(), read: 0, line: 1 };
    let mut place = |record: &csv::StringRecord| Place {
        file: path.display().to_string(),
        line: lines.at(record.position().map_or(0, |position| usize::try_from(position.byte()).unwrap_or(0))),
        column: 1,
    };
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    let mut header: Option<Vec<String>> = None;
    let (mut rows, mut wrong) = (Vec::new(), Vec::new());
    for record in reader.records() {
        let record = record.map_err(|error| Wrong(format!("{}: this is not CSV: {error}", path.display())))?;
        let place = place(&record);
        let Some(names) = &header else {
            let names: Vec<String> = record.iter().map(|name| name.trim().to_owned()).collect();
            if let Some(name) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)).map(|(_, n)| n) {
                return Err(Wrong(format!("{place}: the column {name:?} stands twice; keep one of them")));
            }
            header = Some(names);
            continue;
        };
        if record.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        if record.len() != names.len() {
            wrong.push(format!("{place}: this row has {} cells, the header has {}", record.len(), names.len()));
            continue;
        }
        let cells = names.iter().zip(&record);
        let cells = cells
            .map(|(name, cell)| (name.clone(), Located { place: place.clone(), value: Value::Text(cell.to_owned()) }));
        rows.push(Located { place: place.clone(), value: Value::Map(cells.collect()) });
    }
    if wrong.is_empty() { Ok(rows) } else { Err(Wrong(wrong.join("\n"))) }
}

/// Counts lines up to the start of a record. The reader's own count lags behind where lines end with CRLF: it takes the LF for part of the
/// record after.
struct Lines<'t> {
    text: &'t [u8],
    /// So much is counted.
    read: usize,
    line: usize,
}

impl Lines<'_> {
    fn at(&mut self, start: usize) -> usize {
        let is_end = |byte: &&u8| matches!(byte, b'\r' | b'\n');
        let blank = self.text.iter().skip(start).take_while(is_end).count();
        let start = (start + blank).clamp(self.read, self.text.len());
        self.line += self.text[self.read..start].iter().filter(|byte| **byte == b'\n').count();
        self.read = start;
        self.line
    }
}

/// CSV of a header and rows; every row has as many cells as the header.
pub(crate) fn csv(header: &[&str], rows: &[Vec<String>]) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let records = std::iter::once(header.iter().map(|name| (*name).to_owned()).collect()).chain(rows.iter().cloned());
    for record in records {
        writer.write_record(&record).expect("a vector takes any row of this length");
    }
    writer.into_inner().expect("a vector can be flushed")
}
