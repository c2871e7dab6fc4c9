//! Reads YAML into the located tree.
//!
//! The events of the parser behind `serde_yaml` are taken directly rather than through serde: a serde visitor stops at the first
//! duplicate key and loses where values stand, and wrapping every value to keep its place costs more than parsing it.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use serde_yaml::granit_parser::{self, Event, Parser, ScalarStyle, Tag};

use super::{
    diagnostic::{Diagnostic, Diagnostics},
    node::{Entry, Kind, MAX_DEPTH, Node, push_entry},
    source::{Source, Span},
};

/// Most values that the aliases of one file may repeat in all, so that a few lines can't become gigabytes.
const MAX_ALIASED: usize = 100_000;

/// Reads a file of one document. `None` when it holds nothing, or could not be read to its end; what was wrong is in `problems`.
pub(crate) fn read<'s>(source: &'s Arc<Source>, problems: &mut Diagnostics) -> Option<Node<'s>> {
    let mut builder =
        Builder { source, problems, open: Vec::new(), anchors: BTreeMap::new(), aliased: 0, root: None, documents: 0 };
    for event in Parser::new_from_str(&source.text) {
        let step = match event {
            Ok((event, span)) => builder.take(event, &bytes(&span)),
            Err(error) => {
                let at = error.marker().byte_offset().unwrap_or(source.text.len());
                Err(syntax(source, at, &error).into())
            }
        };
        if let Err(problem) = step {
            builder.problems.append(problem);
            return None;
        }
    }
    builder.root
}

fn bytes(span: &granit_parser::Span) -> Span {
    let start = span.start.byte_offset().unwrap_or(0);
    start..span.end.byte_offset().unwrap_or(start).max(start)
}

/// A text that is no YAML.
fn syntax(source: &Arc<Source>, at: usize, error: &granit_parser::ScanError) -> Diagnostic {
    let problem = Diagnostic::at(source, &(at..at), format!("this is not YAML: {}", error.info()));
    // The scanner gives up at the tab or at the end of the line before it.
    let (start, line) = source.line_at(at);
    let next = source.text.get(start + line.len()..).unwrap_or_default().trim_start_matches(['\r', '\n']);
    let indented = |line: &str| line.trim_start_matches(' ').starts_with('\t');
    if indented(line) || indented(next) { problem.help("indent with blanks instead of tabs") } else { problem }
}

/// A list or map whose end was not seen yet.
enum Open<'s> {
    List { items: Vec<Node<'s>>, start: usize, anchor: usize },
    Map(OpenMap<'s>),
}

struct OpenMap<'s> {
    entries: Vec<Entry<'s>>,
    seen: HashMap<String, Span>,
    /// Maps that `<<` brings in.
    merged: Vec<Node<'s>>,
    /// The key whose value comes next; `None` inside where it was no key and its value is dropped.
    key: Option<Option<(Cow<'s, str>, Span)>>,
    start: usize,
    anchor: usize,
}

struct Builder<'s, 'p> {
    source: &'s Arc<Source>,
    problems: &'p mut Diagnostics,
    open: Vec<Open<'s>>,
    anchors: BTreeMap<usize, Node<'s>>,
    aliased: usize,
    root: Option<Node<'s>>,
    documents: usize,
}

impl<'s> Builder<'s, '_> {
    fn take(&mut self, event: Event<'s>, span: &Span) -> Result<(), Diagnostics> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let kind = self.scalar(text, style, tag.as_deref(), span);
                self.finish(Node { kind, span: span.clone() }, anchor);
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.refuse_tag(tag.as_deref(), span);
                self.enter(Open::List { items: Vec::new(), start: span.start, anchor }, span)?;
            }
            Event::MappingStart(_, anchor, tag) => {
                self.refuse_tag(tag.as_deref(), span);
                let map = OpenMap {
                    entries: Vec::new(),
                    seen: HashMap::new(),
                    merged: Vec::new(),
                    key: None,
                    start: span.start,
                    anchor,
                };
                self.enter(Open::Map(map), span)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.leave(span),
            Event::Alias(id) => {
                let node = self.alias(id, span)?;
                self.finish(node, 0);
            }
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(Diagnostic::at(self.source, span, "a second document starts here")
                        .help("put it into a file of its own, or its cases into the list above")
                        .into());
                }
            }
            // The parser's events may grow; these carry no value.
            _ => {}
        }
        Ok(())
    }

    fn enter(&mut self, open: Open<'s>, span: &Span) -> Result<(), Diagnostics> {
        if self.open.len() == MAX_DEPTH {
            return Err(Diagnostic::at(
                self.source,
                &(span.start..span.start),
                format!("nested deeper than {MAX_DEPTH} levels"),
            )
            .into());
        }
        self.open.push(open);
        Ok(())
    }

    fn leave(&mut self, span: &Span) {
        let end = |start: usize| start..span.end.max(start);
        match self.open.pop() {
            Some(Open::List { items, start, anchor }) => {
                self.finish(Node { kind: Kind::List(items), span: end(start) }, anchor);
            }
            Some(Open::Map(map)) => {
                let (start, anchor) = (map.start, map.anchor);
                let kind = Kind::Map(self.merge(map));
                self.finish(Node { kind, span: end(start) }, anchor);
            }
            None => {}
        }
    }

    /// Puts a finished value where it belongs: into the list or map around it, or at the top.
    fn finish(&mut self, node: Node<'s>, anchor: usize) {
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List { items, .. }) => items.push(node),
            Some(Open::Map(map)) => match map.key.take() {
                None => map.key = Some(key(self.source, node, self.problems)),
                Some(None) => {}
                Some(Some((key, key_span))) if key == "<<" => {
                    if !map.merged.is_empty() {
                        let problem = Diagnostic::at(self.source, &key_span, "`<<` stands twice in one map");
                        self.problems.push(problem.help("merge several maps with one list: `<<: [*one, *two]`"));
                    }
                    map.merged.push(node);
                }
                Some(Some((key, key_span))) => {
                    let entry = Entry { key, key_span, value: node };
                    push_entry(self.source, &mut map.entries, &mut map.seen, entry, self.problems);
                }
            },
        }
    }

    /// The entries of a map with those that `<<` brings in behind them; a map's own keys win.
    fn merge(&mut self, mut map: OpenMap<'s>) -> Vec<Entry<'s>> {
        for node in std::mem::take(&mut map.merged) {
            let span = node.span;
            let maps = match node.kind {
                Kind::List(items) => items.into_iter().map(|item| item.kind).collect(),
                other => vec![other],
            };
            for kind in maps {
                if let Kind::Map(entries) = kind {
                    for entry in entries {
                        if map.entries.iter().all(|own| own.key != entry.key) {
                            map.entries.push(entry);
                        }
                    }
                } else {
                    self.problems.push(Diagnostic::at(self.source, &span, "`<<` takes a map, as in `<<: *common`"));
                }
            }
        }
        map.entries
    }

    fn alias(&mut self, id: usize, span: &Span) -> Result<Node<'s>, Diagnostics> {
        let Some(node) = self.anchors.get(&id) else {
            return Err(Diagnostic::at(self.source, span, "this alias stands inside the value that it names").into());
        };
        self.aliased += node.size();
        if self.aliased > MAX_ALIASED {
            return Err(Diagnostic::at(
                self.source,
                span,
                format!("the aliases of this file repeat more than {MAX_ALIASED} values"),
            )
            .into());
        }
        if self.open.len() + node.depth() > MAX_DEPTH {
            return Err(Diagnostic::at(self.source, span, format!("nested deeper than {MAX_DEPTH} levels")).into());
        }
        Ok(node.clone())
    }

    fn scalar(&mut self, text: Cow<'s, str>, style: ScalarStyle, tag: Option<&Tag>, span: &Span) -> Kind<'s> {
        if tag.is_some_and(|tag| tag.is_yaml_core_schema_tag("str")) {
            return Kind::Text(text);
        }
        self.refuse_tag(tag, span);
        if style == ScalarStyle::Plain { plain(text) } else { Kind::Text(text) }
    }

    /// A tag says what a value is in some program; nothing here has use for one, and dropping it silently would change what is read.
    fn refuse_tag(&mut self, tag: Option<&Tag>, span: &Span) {
        if let Some(tag) = tag {
            self.problems.push(
                Diagnostic::at(self.source, span, format!("the tag `{}` is not read here", tag.original()))
                    .help("leave it out; only `!!str` is known"),
            );
        }
    }
}

/// A map's key. Anything but a text would be compared as something else than it looks like, save a number or word in plain sight.
fn key<'s>(source: &'s Arc<Source>, node: Node<'s>, problems: &mut Diagnostics) -> Option<(Cow<'s, str>, Span)> {
    match node.kind {
        Kind::Text(text) => Some((text, node.span)),
        Kind::Number(text) => Some((text, node.span)),
        Kind::Bool(_) => {
            let text = source.text.get(node.span.clone()).unwrap_or_default();
            Some((Cow::Borrowed(text), node.span))
        }
        Kind::Null | Kind::List(_) | Kind::Map(_) => {
            let noun = if node.kind == Kind::Null { "nothing" } else { "a list or a map" };
            problems.push(
                Diagnostic::at(source, &node.span, format!("a key is a text, got {noun}"))
                    .help("a value with `{{` in it needs quotes, as in `\"{{ query }}\"`"),
            );
            None
        }
    }
}

/// A scalar without quotes, by the core schema of YAML 1.2: `yes`, `no`, `on`, dates and times are texts.
fn plain(text: Cow<'_, str>) -> Kind<'_> {
    match text.as_ref() {
        "" | "~" | "null" | "Null" | "NULL" => Kind::Null,
        "true" | "True" | "TRUE" => Kind::Bool(true),
        "false" | "False" | "FALSE" => Kind::Bool(false),
        word if is_number(word) => Kind::Number(text),
        _ => Kind::Text(text),
    }
}

/// Whether the core schema reads a plain scalar as a number.
fn is_number(word: &str) -> bool {
    let Some(first) = word.bytes().next() else { return false };
    if !matches!(first, b'0'..=b'9' | b'+' | b'-' | b'.') {
        return false;
    }
    let unsigned = word.strip_prefix(['+', '-']).unwrap_or(word);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(word, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let all = |digits: &str, digit: fn(char) -> bool| !digits.is_empty() && digits.chars().all(digit);
    if let Some(octal) = word.strip_prefix("0o") {
        return all(octal, |c| c.is_digit(8));
    }
    if let Some(hex) = word.strip_prefix("0x") {
        return all(hex, |c| c.is_ascii_hexdigit());
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let decimal = |c: char| c.is_ascii_digit();
    let mantissa_fits = match mantissa.split_once('.') {
        None => all(mantissa, decimal),
        Some(("", fraction)) => all(fraction, decimal),
        Some((whole, fraction)) => all(whole, decimal) && fraction.chars().all(decimal),
    };
    mantissa_fits && exponent.is_none_or(|exponent| all(exponent.strip_prefix(['+', '-']).unwrap_or(exponent), decimal))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> (Option<String>, Vec<String>) {
        let source = Source::new("f.yaml", text);
        let mut problems = Diagnostics::default();
        let node = read(&source, &mut problems);
        let messages = problems
            .iter()
            .map(|problem| format!("{}:{} {}", problem.place().line, problem.place().column, problem.message()))
            .collect();
        (node.map(|node| show(&node)), messages)
    }

    fn show(node: &Node<'_>) -> String {
        match &node.kind {
            Kind::Null => "null".to_owned(),
            Kind::Bool(yes) => yes.to_string(),
            Kind::Number(text) => text.to_string(),
            Kind::Text(text) => format!("{text:?}"),
            Kind::List(items) => format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(", ")),
            Kind::Map(entries) => {
                let entries: Vec<_> =
                    entries.iter().map(|entry| format!("{}: {}", entry.key, show(&entry.value))).collect();
                format!("{{{}}}", entries.join(", "))
            }
        }
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(tree(text), (Some(expected.to_owned()), Vec::new()), "{text}");
    }

    fn check_problem(text: &str, expected: &str) {
        assert_eq!(tree(text).1, [expected], "{text}");
    }

    #[test]
    fn words_of_other_yaml_versions_stay_text() {
        check(
            "[yes, no, on, off, 12:30:45, 2026-08-01, 1_000, v1, 1.2.3]",
            "[\"yes\", \"no\", \"on\", \"off\", \"12:30:45\", \"2026-08-01\", \"1_000\", \"v1\", \"1.2.3\"]",
        );
    }

    #[test]
    fn numbers_keep_the_text_they_were_written_as() {
        check("[007, 1e3, 0042, -1.50, .5, 5., 0x1F, 0o17, .inf]", "[007, 1e3, 0042, -1.50, .5, 5., 0x1F, 0o17, .inf]");
        check("['007', \"1e3\", !!str 42, +, ., e3, 1e]", "[\"007\", \"1e3\", \"42\", \"+\", \".\", \"e3\", \"1e\"]");
    }

    #[test]
    fn nothing_is_null_and_quoted_words_are_text() {
        check(
            "{a: , b: ~, c: null, d: '', e: \"null\", f: true, g: 'true'}",
            "{a: null, b: null, c: null, d: \"\", e: \"null\", f: true, g: \"true\"}",
        );
    }

    #[test]
    fn aliases_and_merged_maps_are_laid_in() {
        check("- &a {x: 1, y: 2}\n- {<<: *a, y: 3}\n- *a\n", "[{x: 1, y: 2}, {y: 3, x: 1}, {x: 1, y: 2}]");
        check_problem("a: &a 1\nb: {<<: *a}\n", "1:7 `<<` takes a map, as in `<<: *common`");
        check_problem("&a [*a]", "1:5 this alias stands inside the value that it names");
    }

    #[test]
    fn an_alias_bomb_is_refused() {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for level in 1..9 {
            let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
            text = format!("{text}a{level}: &a{level} [{aliases}]\n");
        }
        assert!(tree(&text).1[0].ends_with("the aliases of this file repeat more than 100000 values"));
    }

    #[test]
    fn every_duplicate_key_is_reported() {
        let (node, problems) = tree("a: 1\nb: {c: 1, c: 2}\na: 3\n");
        assert_eq!(node.as_deref(), Some("{a: 1, b: {c: 1}}"));
        assert_eq!(
            problems,
            ["2:11 the key \"c\" stands twice in one map", "3:1 the key \"a\" stands twice in one map"]
        );
    }

    #[test]
    fn a_duplicate_key_in_a_large_map_is_found() {
        let mut text: String = (0..100).map(|n| format!("k{n}: {n}\n")).collect();
        text.push_str("k3: 1\nk70: 1\n");
        assert_eq!(tree(&text).1.len(), 2);
    }

    #[test]
    fn what_is_not_read_is_said_at_its_place() {
        check_problem("a: !secret x", "1:12 the tag `!secret` is not read here");
        check_problem("a: 1\n---\nb: 2\n", "2:1 a second document starts here");
        check_problem("a: {{ query }}", "1:5 a key is a text, got a list or a map");
        assert_eq!(tree(&format!("{}{}", "[".repeat(101), "]".repeat(101))).1, ["1:101 nested deeper than 100 levels"]);
    }

    #[test]
    fn byte_order_mark_crlf_and_document_start_are_fine() {
        check("\u{feff}---\r\na: 1\r\nb: x\r\n", "{a: 1, b: \"x\"}");
        assert_eq!(tree(""), (None, vec![]));
        assert_eq!(tree("# nothing\n"), (None, vec![]));
    }
}
