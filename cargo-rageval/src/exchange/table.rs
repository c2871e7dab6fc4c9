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
    let text = trec::text(path).map_err(|error| Wrong(error.to_string()))?;
    let place = |record: &csv::StringRecord| Place {
        file: path.display().to_string(),
        line: record.position().map_or(0, |position| usize::try_from(position.line()).unwrap_or(0)),
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
        let cells = names.iter().zip(&record).filter(|(_, cell)| !cell.is_empty());
        let cells = cells
            .map(|(name, cell)| (name.clone(), Located { place: place.clone(), value: Value::Text(cell.to_owned()) }));
        rows.push(Located { place: place.clone(), value: Value::Map(cells.collect()) });
    }
    if wrong.is_empty() { Ok(rows) } else { Err(Wrong(wrong.join("\n"))) }
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
