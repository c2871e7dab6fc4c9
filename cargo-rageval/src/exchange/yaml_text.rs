//! Writes YAML for people: blocks, plain words where they can't be misread, and JSON's quoted texts for all else.
//!
//! The two writers of the field choose styles by themselves (folding, literal blocks), and a reader of YAML 1.1 such as promptfoo's users
//! have takes `no` and `1:30` for something else. Here a text is plain only where every version of YAML agrees that it is one.

use serde_json::Value;

use super::ours::Tree;

/// Longest list of short words that is written on one line.
const LINE: usize = 90;

/// A document.
pub(crate) fn document(tree: &Tree) -> String {
    let mut text = String::new();
    match tree {
        Tree::List(items) if !items.is_empty() => list(items, 0, &mut text),
        Tree::Map(entries) if !entries.is_empty() => map(entries, 0, &mut text),
        Tree::Value(_) | Tree::List(_) | Tree::Map(_) => {
            text.push_str(&flow(tree));
            text.push('\n');
        }
    }
    text
}

fn map(entries: &[(String, Tree)], indent: usize, text: &mut String) {
    for (i, (key, value)) in entries.iter().enumerate() {
        if i > 0 {
            text.push_str(&" ".repeat(indent));
        }
        text.push_str(&scalar(key));
        text.push(':');
        value_after(value, indent, text);
    }
}

fn value_after(value: &Tree, indent: usize, text: &mut String) {
    match value {
        Tree::List(items) if !is_short(value) && !items.is_empty() => {
            text.push('\n');
            text.push_str(&" ".repeat(indent + 2));
            list(items, indent + 2, text);
        }
        Tree::Map(entries) if !is_short(value) && !entries.is_empty() => {
            text.push('\n');
            text.push_str(&" ".repeat(indent + 2));
            map(entries, indent + 2, text);
        }
        Tree::Value(_) | Tree::List(_) | Tree::Map(_) => {
            text.push(' ');
            text.push_str(&flow(value));
            text.push('\n');
        }
    }
}

fn list(items: &[Tree], indent: usize, text: &mut String) {
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            text.push_str(&" ".repeat(indent));
        }
        text.push_str("- ");
        match item {
            // Items of the outermost list are cases, and stand on lines of their own.
            Tree::Map(entries) if !entries.is_empty() && (indent < 4 || !is_short(item)) => {
                map(entries, indent + 2, text);
            }
            Tree::List(inner) if !inner.is_empty() && !is_short(item) => list(inner, indent + 2, text),
            Tree::Value(_) | Tree::List(_) | Tree::Map(_) => {
                text.push_str(&flow(item));
                text.push('\n');
            }
        }
    }
}

/// Whether a list or a map reads well on one line.
fn is_short(tree: &Tree) -> bool {
    flow(tree).chars().count() <= LINE
}

fn flow(tree: &Tree) -> String {
    match tree {
        Tree::Value(Value::String(text)) => scalar(text),
        Tree::Value(value) => value.to_string(),
        Tree::List(items) => format!("[{}]", items.iter().map(flow_item).collect::<Vec<_>>().join(", ")),
        Tree::Map(entries) => {
            let entry = |(key, value): &(String, Tree)| format!("{}: {}", flow_text(key), flow_item(value));
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

fn flow_item(tree: &Tree) -> String {
    if let Tree::Value(Value::String(text)) = tree { flow_text(text) } else { flow(tree) }
}

/// A text within brackets, where a comma would end it.
fn flow_text(text: &str) -> String {
    if text.contains(',') { quoted(text) } else { scalar(text) }
}

fn scalar(text: &str) -> String {
    let is_letter = |c: char| c.is_alphabetic();
    let starts = text.chars().next().is_some_and(is_letter);
    let ends = text.chars().next_back().is_some_and(|c| !c.is_whitespace());
    let fits = |c: char| c.is_alphanumeric() || " ,.?!'()-_/@%+;€£$".contains(c);
    let is_word = |word: &str| word.eq_ignore_ascii_case(text);
    let reserved =
        ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"].iter().any(|w| is_word(w));
    if starts && ends && text.chars().all(fits) && !reserved { text.to_owned() } else { quoted(text) }
}

/// JSON's quoted text is YAML's, once what YAML calls not printable is escaped.
fn quoted(text: &str) -> String {
    let json = Value::from(text).to_string();
    let mut quoted = String::with_capacity(json.len());
    for c in json.chars() {
        if matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}') {
            quoted.extend([format!("\\u{:04x}", u32::from(c))]);
        } else {
            quoted.push(c);
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(scalar(text), expected);
    }

    #[test]
    fn a_text_that_may_be_misread_is_quoted() {
        check("How long, and why?", "How long, and why?");
        check("費用是多少", "費用是多少");
        for text in [
            "007",
            "no",
            "Yes",
            "null",
            "1:30",
            "a: b",
            "# a",
            "a #b",
            " a",
            "a ",
            "",
            "-",
            "- a",
            "&a",
            "~",
            "2026-01-01",
        ] {
            check(text, &format!("\"{text}\""));
        }
        check("a\n\u{2028}\u{85}\"", "\"a\\n\\u2028\\u0085\\\"\"");
    }
}
