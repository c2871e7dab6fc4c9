//! That the page of red texts quotes what the product prints.

use std::{fs, path::PathBuf};

use super::{page::Page, root};

/// The page.
const PAGE: &str = "docs/red.md";

/// Headings that quote a text which stands in no source.
pub(crate) fn unknown(pages: &[Page]) -> Vec<String> {
    let Some(page) = pages.iter().find(|page| page.path == PAGE) else { return vec![format!("{PAGE} is missing")] };
    let sources = sources();
    let mut faults = Vec::new();
    let mut quoted = 0;
    for (at, line) in page.text.lines().enumerate() {
        let Some(text) = line.strip_prefix("### `").and_then(|rest| rest.strip_suffix('`')) else { continue };
        // Scores, as in `failed      recall@5 0.00, min 0.50`, are examples of a form that gates.md shows.
        if text.starts_with("failed  ") {
            continue;
        }
        quoted += 1;
        let parts = text.split('…').flat_map(|part| part.split("  ")).map(str::trim).filter(|part| part.len() > 3);
        for part in parts.filter(|part| !sources.contains(part)) {
            faults.push(format!("{PAGE}:{}: no source prints {part:?}", at + 1));
        }
    }
    if quoted == 0 {
        faults.push(format!("{PAGE} quotes nothing"));
    }
    faults
}

/// The sources of the product as one text, in which a string that goes on in the next line is one line.
fn sources() -> String {
    let mut folders: Vec<PathBuf> = ["rageval-runner/src", "cargo-rageval/src"].map(|name| root().join(name)).into();
    let mut all = String::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                all += &fs::read_to_string(&path).expect("a source");
            }
        }
    }
    let mut text = String::new();
    for line in all.lines() {
        match line.strip_suffix('\\') {
            Some(goes_on) => text += goes_on.trim_start(),
            None => text = text + line.trim_start() + "\n",
        }
    }
    text.replace("\\\"", "\"")
}
