//! One problem at its place in a user's file, and how all of them are shown together.

use std::{fmt, sync::Arc};

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};

use crate::{
    model::Place,
    report::console::text::{no_command, visible_whole},
};

use super::source::{FloorCharBoundary, Source, Span};

/// Most problems that are shown in full; the rest are counted.
pub(crate) const MAX_SHOWN: usize = 50;

/// Most problems that get a suggestion: comparing words is slow, and what comes after these is only counted.
const MAX_SUGGESTED: usize = 1_000;

/// Most characters of a source line that are shown; a longer one is cut around the problem.
const MAX_LINE: usize = 120;

/// Most characters of a user's text that a message quotes.
const MAX_QUOTED: usize = 60;

/// One problem at its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    place: Place,
    marked: Option<Marked>,
    message: String,
    notes: Vec<(Place, Option<Marked>, String)>,
    help: Option<String>,
}

/// The text that a diagnostic points at.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Marked {
    source: Arc<Source>,
    span: Span,
}

impl Diagnostic {
    /// A problem with a piece of a file.
    pub(crate) fn at(source: &Arc<Source>, span: &Span, message: impl Into<String>) -> Self {
        let marked = Marked { source: Arc::clone(source), span: span.clone() };
        Self { marked: Some(marked), ..Self::at_place(source.place(span.start), message) }
    }

    /// A problem with a file as a whole.
    pub(crate) fn of_file(name: &str, message: impl Into<String>) -> Self {
        Self::at_place(Place { file: name.to_owned(), line: 0, column: 0 }, message)
    }

    /// A problem at a place whose text cannot be shown.
    pub(crate) fn at_place(place: Place, message: impl Into<String>) -> Self {
        Self { place, marked: None, message: message.into(), notes: Vec::new(), help: None }
    }

    /// Adds what to do.
    #[must_use]
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds what to do where there is something.
    #[must_use]
    pub(crate) fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }

    /// Adds another place that has to do with it.
    #[must_use]
    pub(crate) fn note(mut self, source: &Arc<Source>, span: &Span, note: impl Into<String>) -> Self {
        let marked = Marked { source: Arc::clone(source), span: span.clone() };
        self.notes.push((source.place(span.start), Some(marked), note.into()));
        self
    }

    /// Where the problem is. The line is 0 where it is the file as a whole.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// What is wrong, in one line.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do, where there is something to say.
    pub fn advice(&self) -> Option<&str> {
        self.help.as_deref()
    }
}

/// The problem as rustc would show it: message, place, source line with carets, help. Plain text without colour.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut groups = vec![
            Group::with_title(Level::ERROR.primary_title(&self.message))
                .elements(elements(&self.place, self.marked.as_ref())),
        ];
        for (place, marked, note) in &self.notes {
            groups
                .push(Group::with_title(Level::NOTE.secondary_title(note)).elements(elements(place, marked.as_ref())));
        }
        if let Some(help) = &self.help {
            groups.push(Group::with_title(Level::HELP.secondary_title(help)));
        }
        // The renderer marks a gap between a place and the source below it; here there is none.
        let text = Renderer::plain().render(&groups);
        let lines: Vec<_> =
            text.lines().filter(|line| line.trim() != ":::").map(|line| harmless(line.trim_end())).collect();
        f.write_str(&lines.join("\n"))
    }
}

/// A line without what a terminal would obey, and which no build server takes for a command, whatever the name of a file or a message holds.
fn harmless(line: &str) -> String {
    let shown: String = line.chars().map(|c| if c.is_control() || is_invisible(c) { ' ' } else { c }).collect();
    no_command(&shown).replace("##[", "# #[").replace("##vso[", "# #vso[")
}

/// Where it is, and the first line of what is meant.
fn elements<'a>(place: &'a Place, marked: Option<&'a Marked>) -> Vec<Element<'a>> {
    let origin = Origin::path(visible_whole(&place.file));
    if place.line == 0 {
        return vec![origin.into()];
    }
    let mut elements: Vec<Element<'a>> = vec![origin.line(place.line).char_column(place.column).into()];
    if let Some(Marked { source, span }) = marked {
        let (line, span) = window(source, span);
        let snippet = Snippet::source(line).line_start(place.line).annotation(AnnotationKind::Primary.span(span));
        elements.push(snippet.into());
    }
    elements
}

/// The first line of a span, cut around its start when it is long, and the span within that.
fn window(source: &Source, span: &Span) -> (String, Span) {
    let (line_start, line) = source.line_at(source.text.floor_char_boundary_of(span.start));
    let start = line.floor_char_boundary_of(span.start - line_start);
    let end = (span.end.max(span.start) - line_start).min(line.len());
    let is_long = line.char_indices().nth(MAX_LINE).is_some();
    let before = line[..start].char_indices().rev().nth(MAX_LINE / 3).map_or(0, |(at, _)| at);
    let from = if is_long { before } else { 0 };
    let to = line[from..].char_indices().nth(MAX_LINE).map_or(line.len(), |(at, _)| from + at);
    let mut shown = if from > 0 { "...".to_owned() } else { String::new() };
    let (mut marked, mut marked_end) = (None, 0);
    for (at, c) in line[from..to].char_indices().map(|(at, c)| (from + at, c)) {
        if at >= start && marked.is_none() {
            marked = Some(shown.len());
        }
        // What a terminal would obey or hide is shown as a blank, so that carets stand where they should.
        shown.push(match c {
            _ if source.is_secret(line_start + at) => '*',
            c if c.is_control() || is_invisible(c) => ' ',
            c => c,
        });
        if at < end {
            marked_end = shown.len();
        }
    }
    let marked = marked.unwrap_or(shown.len());
    if to < line.len() {
        shown.push_str("...");
    }
    (shown, marked..marked_end.max(marked))
}

/// All problems of all files, in the order of their places.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// Adds one.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Adds all of another list.
    pub(crate) fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// `Ok(value)` when there is no problem, else all of them, sorted by file, line and column.
    pub(crate) fn or<T>(self, value: T) -> Result<T, Self> {
        if self.0.is_empty() { Ok(value) } else { Err(self.sorted()) }
    }

    /// The same problems in the order of their places; those of one place keep their order.
    #[must_use]
    pub(crate) fn sorted(mut self) -> Self {
        self.0.sort_by(|a, b| a.place.cmp(&b.place));
        self
    }

    /// `did you mean "x"?` for a word, as [`did_you_mean`] finds it, as long as anybody may read it.
    pub(crate) fn suggestion<'n>(&self, word: &str, known: impl IntoIterator<Item = &'n str>) -> Option<String> {
        if self.0.len() < MAX_SUGGESTED { did_you_mean(word, known) } else { None }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Each one.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

/// The first 50 problems in full, then how many there are in all.
impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for diagnostic in self.0.iter().take(MAX_SHOWN) {
            writeln!(f, "{diagnostic}\n")?;
        }
        let left = self.0.len().saturating_sub(MAX_SHOWN);
        if left > 0 {
            writeln!(f, "and {left} more\n")?;
        }
        let files: std::collections::BTreeSet<_> = self.0.iter().map(|diagnostic| &diagnostic.place.file).collect();
        write!(f, "{} in {}", counted(self.0.len(), "problem"), counted(files.len(), "file"))
    }
}

impl std::error::Error for Diagnostics {}

/// `1 problem`, `2 problems`.
pub(crate) fn counted(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// A user's text between double quotes for a message: escaped, and cut where it is long.
pub(crate) fn quoted(text: &str) -> String {
    let mut short: String = text.chars().take(MAX_QUOTED).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    let mut quoted = String::from("\"");
    for c in short.chars() {
        if c.is_control() || is_invisible(c) {
            quoted.extend(['\\', 'u', '{']);
            quoted.extend(format!("{:04X}", u32::from(c)).chars().chain(['}']));
        } else {
            quoted.push(c);
        }
    }
    quoted.push('"');
    quoted
}

/// A user's text that is quoted once it is shown, which mostly it is not.
pub(crate) struct Quoted<'t>(pub(crate) &'t str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quoted(self.0))
    }
}

/// Characters that an editor does not show: marks of byte order, direction and width, and separators of lines.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

/// `did you mean "x"?` for the nearest of the known names, where one is near enough to be meant.
///
/// Near enough: a quarter of the word's characters edited at most (at least one), or the same word but for letter case, `-` and `_`.
pub fn did_you_mean<'n>(word: &str, known: impl IntoIterator<Item = &'n str>) -> Option<String> {
    let plain = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric() || *c == '@').flat_map(char::to_lowercase).collect()
    };
    let wanted = plain(word);
    let allowed = (wanted.chars().count() / 4).max(1);
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&wanted, &plain(name)), name))
        .filter(|(distance, _)| *distance <= allowed && !wanted.is_empty())
        .min_by_key(|(distance, name)| (*distance, name.len().abs_diff(word.len()), *name))
        .map(|(_, name)| format!("did you mean \"{name}\"?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_near_word_is_suggested() {
        let known = ["query", "question", "ground_truth_answer", "judge", "min", "max_drop", "tags"];
        let check = |word: &str, expected: Option<&str>| {
            let expected = expected.map(|name| format!("did you mean \"{name}\"?"));
            assert_eq!(did_you_mean(word, known), expected, "{word}");
        };
        check("querry", Some("query"));
        check("Question", Some("question"));
        check("ground-truth-answer", Some("ground_truth_answer"));
        check("groundTruthAnswer", Some("ground_truth_answer"));
        check("ground_thruth_anser", Some("ground_truth_answer"));
        check("tag", Some("tags"));
        check("budget", None);
        check("max", None);
        check("", None);
        check("退款", None);
    }

    #[test]
    fn a_quoted_text_is_short_and_shows_what_is_hidden() {
        assert_eq!(quoted("a\u{200b}\u{1b}[31m\n"), "\"a\\u{200B}\\u{001B}[31m\\u{000A}\"");
        assert_eq!(quoted(&"é".repeat(61)), format!("\"{}...\"", "é".repeat(60)));
    }

    #[test]
    fn a_caret_stands_under_what_is_meant_whatever_the_line_holds() {
        let check = |text: &str, span: Span, expected: &str| {
            let source = Source::new("f.yaml", text);
            assert_eq!(Diagnostic::at(&source, &span, "m").to_string(), format!("error: m\n --> f.yaml:1:{expected}"));
        };
        check("退款: x", 8..9, "5\n  |\n1 | 退款: x\n  |       ^");
        check("a\u{1b}b", 2..3, "3\n  |\n1 | a b\n  |   ^");
        check("ab\r\ncd", 1..6, "2\n  |\n1 | ab\n  |  ^");
        check("", 0..0, "1\n  |\n1 |\n  | ^");
    }

    #[test]
    fn a_pasted_key_is_shown_by_no_problem_of_its_line() {
        let text = "judge: {api_key_env: sk-12, modle: m}";
        let source = Source::new("f.yaml", text);
        for (span, carets) in [(21..26, "                     ^^^^^"), (28..33, "                            ^^^^^")] {
            let shown = Diagnostic::at(&source, &span, "m").to_string();
            let column = span.start + 1;
            let line = "judge: {api_key_env: *****, modle: m}";
            assert_eq!(shown, format!("error: m\n --> f.yaml:1:{column}\n  |\n1 | {line}\n  | {carets}"));
        }
    }

    #[test]
    fn a_problem_of_a_whole_file_names_the_file() {
        let problem = Diagnostic::of_file("cases/a.yaml", "m").help("h");
        assert_eq!(problem.to_string(), "error: m\n--> cases/a.yaml\n |\nhelp: h");
    }
}
