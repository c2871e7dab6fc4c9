//! Reads which questions the labels for calibration are about, to find those that the golden set asks too.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    case,
    diagnostic::{Diagnostic, Diagnostics},
    files, json,
    node::{Kind, Node},
    shape::Key,
    source::Source,
    thresholds::Policy,
    yaml,
};

/// Every question in the folder of the labels: whatever stands under `query`, or another name that a case's question has, in any file
/// of labels. Nothing else of the files is looked at. Empty where there is no such folder.
///
/// # Errors
/// A file that is there and can't be read, at its place.
pub fn calibration_queries(policy: &Policy) -> Result<BTreeSet<String>, Diagnostics> {
    let mut queries = BTreeSet::new();
    let mut problems = Diagnostics::default();
    let folder = &policy.labels;
    if !folder.is_dir() {
        return Ok(queries);
    }
    let paths = files::sorted(folder).unwrap_or_else(|error| {
        problems.push(Diagnostic::of_file("calibration", format!("the folder cannot be read: {error}")));
        Vec::new()
    });
    for path in paths.iter().filter(|path| path.is_file()) {
        let name = path.strip_prefix(&policy.root).unwrap_or(path).to_string_lossy().into_owned();
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(['_', '.'])) {
            continue;
        }
        if !["yaml", "yml", "json", "jsonl", "csv"].contains(&ending.as_str()) {
            continue;
        }
        match Source::read(&name, path) {
            Ok(source) => of_file(&source, &ending, &mut queries, &mut problems),
            Err(found) => problems.append(found),
        }
    }
    problems.or(queries)
}

fn of_file(source: &Arc<Source>, ending: &str, queries: &mut BTreeSet<String>, problems: &mut Diagnostics) {
    match ending {
        "csv" => of_csv(source, queries, problems),
        "jsonl" => {
            for (start, line) in source.json_lines().filter(|(_, line)| !line.trim().is_empty()) {
                if let Some(node) = json::read(source, &(start..start + line.len()), problems) {
                    collect(&node, queries);
                }
            }
        }
        "json" => {
            if let Some(node) = json::read(source, &(0..source.text.len()), problems) {
                collect(&node, queries);
            }
        }
        _ => {
            if let Some(node) = yaml::read(source, problems) {
                collect(&node, queries);
            }
        }
    }
}

fn is_query(key: &str) -> bool {
    case::KEYS.iter().filter(|known| known.name == "query").flat_map(Key::names).any(|name| name == key)
}

fn collect(node: &Node<'_>, queries: &mut BTreeSet<String>) {
    match &node.kind {
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Text(_) => {}
        Kind::List(items) => items.iter().for_each(|item| collect(item, queries)),
        Kind::Map(entries) => {
            for entry in entries {
                match &entry.value.kind {
                    Kind::Text(text) if is_query(&entry.key) => {
                        queries.insert(text.clone().into_owned());
                    }
                    Kind::Text(_) | Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::List(_) | Kind::Map(_) => {
                        collect(&entry.value, queries);
                    }
                }
            }
        }
    }
}

fn of_csv(source: &Source, queries: &mut BTreeSet<String>, problems: &mut Diagnostics) {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(source.text.as_bytes());
    let column = match reader.headers() {
        Ok(header) => header.iter().position(|name| is_query(name.trim())),
        Err(error) => {
            problems.push(Diagnostic::of_file(&source.name, format!("this is not CSV: {error}")));
            return;
        }
    };
    let Some(column) = column else { return };
    for record in reader.records() {
        match record {
            Ok(record) => queries.extend(record.get(column).filter(|text| !text.trim().is_empty()).map(str::to_owned)),
            Err(error) => {
                problems.push(Diagnostic::of_file(&source.name, format!("this is not CSV: {error}")));
                return;
            }
        }
    }
}
