//! That the page of red texts quotes what the product prints, and explains all of it.

use std::{fs, path::Path};

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
        // A quotation that holds a backtick stands in two.
        let text = text.trim_start_matches('`').trim_end_matches('`').trim();
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

/// Sources whose red texts the page must explain, each with what stands before such a text.
const EXPLAINED: &[(&str, &[&str])] = &[
    ("rageval-runner/src/harness", &["Problem::everything(", "Problem::regression(", "tell(&", "eprintln!("]),
    ("rageval-runner/src/trust/check.rs", &["why: "]),
    ("rageval-runner/src/gate/decide.rs", &["undecided("]),
    ("rageval-runner/src/gate/decide", &["undecided("]),
    ("rageval-runner/src/report/console/calibration/mod.rs", &["=> (", "=> {\n("]),
];

/// Red texts that stand in these sources and not on the page: of each the longest piece that is the same every time.
pub(crate) fn unexplained(pages: &[Page]) -> Vec<String> {
    let page = pages.iter().find(|page| page.path == PAGE).map_or("", |page| &page.text).replace('`', "");
    let mut faults = Vec::new();
    let mut seen = 0;
    for (path, markers) in EXPLAINED {
        let source = text_of(&root().join(path));
        for marker in *markers {
            for (at, _) in source.match_indices(marker) {
                let Some(text) = literal(&source[at + marker.len()..]) else { continue };
                let piece = longest_piece(&text);
                seen += 1;
                if piece.len() >= 8 && !page.contains(&piece) {
                    faults.push(format!("{PAGE}: does not explain {piece:?}, which {path} prints"));
                }
            }
        }
    }
    if seen < 40 {
        faults.push(format!(
            "only {seen} red texts were found in the sources: do the markers in red_texts.rs still hold?"
        ));
    }
    faults
}

/// The first line of a string that stands here, alone or in `format!`.
fn literal(code: &str) -> Option<String> {
    let code = code.trim_start();
    let code = code.strip_prefix("format!(").unwrap_or(code).trim_start();
    let mut text = String::new();
    let mut escaped = false;
    for c in code.strip_prefix('"')?.chars() {
        match c {
            'n' if escaped => break,
            '"' if !escaped => break,
            '\\' if !escaped => {}
            c => text.push(c),
        }
        escaped = c == '\\' && !escaped;
    }
    Some(text)
}

/// The longest piece between what is filled in.
fn longest_piece(text: &str) -> String {
    let text = text.replace('`', "");
    let pieces = text.split('{').map(|piece| piece.split_once('}').map_or(piece, |(_, rest)| rest));
    let trimmed = pieces.map(|piece| piece.trim_start_matches("Error:").trim_matches([' ', ':', ',', ';']));
    trimmed.max_by_key(|piece| piece.len()).unwrap_or_default().to_owned()
}

/// The sources of the product as one text.
fn sources() -> String {
    ["rageval-runner/src", "cargo-rageval/src"].map(|name| text_of(&root().join(name))).concat()
}

/// A source, or all below a folder, without unit tests; a string that goes on in the next line is one line.
fn text_of(path: &Path) -> String {
    let mut rest = vec![path.to_owned()];
    let mut text = String::new();
    while let Some(path) = rest.pop() {
        if path.is_dir() {
            rest.extend(fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").path()));
        } else if path.extension().is_some_and(|ending| ending == "rs") && !path.ends_with("tests.rs") {
            let source = fs::read_to_string(&path).expect("a source");
            let code = source.split("#[cfg(test)]").next().unwrap_or_default();
            for line in code.lines() {
                text += line.strip_suffix('\\').unwrap_or(line).trim_start();
                text += if line.ends_with('\\') { "" } else { "\n" };
            }
        }
    }
    text.replace("\\\"", "\"")
}
