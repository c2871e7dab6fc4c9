//! Takes checked values out of the located tree, and says what is wrong with the rest.

use std::{fmt, sync::Arc, time::Duration};

use crate::model::ids;
use crate::{model::UnitInterval, system::spec::JsonPointer};

use super::{
    diagnostic::{Diagnostic, Diagnostics, is_invisible, quoted},
    node::{Entry, Kind, Node},
    shape::{Key, Need},
    source::{Source, Span},
};

/// What an empty value (`min:`, `null`) means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Empty {
    /// As if the key were not there: exported cases write every key.
    Absent,
    /// A mistake: a rule without its number checks nothing.
    Refused,
}

/// Reads values of one source into a list of problems.
pub(crate) struct Reader<'r> {
    /// The source that the nodes come from.
    pub(crate) source: &'r Arc<Source>,
    /// What was wrong so far.
    pub(crate) problems: &'r mut Diagnostics,
    /// The id of the case that every message starts with; empty for none.
    pub(crate) whose: String,
}

/// The entries of a map under the names of their keys.
pub(crate) struct Fields<'n, 's>(Vec<(&'static str, &'n Entry<'s>)>);

impl<'n, 's> Fields<'n, 's> {
    /// The entry of a key, by its first name.
    pub(crate) fn entry(&self, name: &str) -> Option<&'n Entry<'s>> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, entry)| *entry)
    }

    /// The value of a key, by its first name.
    pub(crate) fn get(&self, name: &str) -> Option<&'n Node<'s>> {
        self.entry(name).map(|entry| &entry.value)
    }
}

impl Reader<'_> {
    /// A problem at a span, not yet reported.
    pub(crate) fn problem(&self, span: &Span, message: impl AsRef<str>) -> Diagnostic {
        let message = message.as_ref();
        if self.whose.is_empty() {
            return Diagnostic::at(self.source, span, message);
        }
        Diagnostic::at(self.source, span, format!("case {}: {message}", quoted(&self.whose)))
    }

    /// Reports a problem at a span.
    pub(crate) fn report(&mut self, span: &Span, message: impl AsRef<str>) {
        let problem = self.problem(span, message);
        self.problems.push(problem);
    }

    fn wrong(&mut self, node: &Node<'_>, what: impl fmt::Display, wanted: &str) {
        let problem = self.problem(&node.span, format!("{what} is {wanted}, got {}", node.noun()));
        let help = match node.kind {
            Kind::Number(ref text) if wanted.starts_with("a text") => Some(format!("quote it: \"{text}\"")),
            Kind::Bool(yes) if wanted.starts_with("a text") => Some(format!("quote it: \"{yes}\"")),
            Kind::Text(ref text) if wanted.contains("number") && text.trim().parse::<f64>().is_ok() => {
                Some("take the quotes off".to_owned())
            }
            Kind::Text(ref text) if wanted.starts_with("true") && (text == "yes" || text == "no") => {
                Some("YAML 1.2 reads `yes` and `no` as texts; write `true` or `false`".to_owned())
            }
            Kind::Text(_) if wanted.starts_with("a list") => Some("put it between `[` and `]`".to_owned()),
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Text(_) | Kind::List(_) | Kind::Map(_) => None,
        };
        self.problems.push(problem.maybe_help(help));
    }

    /// The entries of a map.
    pub(crate) fn map<'n, 's>(&mut self, node: &'n Node<'s>, what: impl fmt::Display) -> Option<&'n [Entry<'s>]> {
        if let Kind::Map(entries) = &node.kind {
            return Some(entries);
        }
        self.wrong(node, what, "a map");
        None
    }

    /// The items of a list.
    pub(crate) fn list<'n, 's>(&mut self, node: &'n Node<'s>, what: impl fmt::Display) -> Option<&'n [Node<'s>]> {
        if let Kind::List(items) = &node.kind {
            return Some(items);
        }
        self.wrong(node, what, "a list");
        None
    }

    /// Sorts the entries of a map under their keys: unknown keys, two names of one thing and missing keys are reported.
    pub(crate) fn fields<'n, 's>(
        &mut self,
        map: &Span,
        entries: &'n [Entry<'s>],
        keys: &'static [Key],
        empty: Empty,
    ) -> Fields<'n, 's> {
        let mut fields: Vec<(&'static str, &'n Entry<'s>)> = Vec::with_capacity(entries.len());
        let mut empties: Vec<&'static str> = Vec::new();
        for entry in entries {
            let Some(key) = keys.iter().find(|key| key.name == entry.key || key.aliases.contains(&entry.key.as_ref()))
            else {
                self.unknown_key(entry, keys.iter().flat_map(Key::names));
                continue;
            };
            if entry.value.kind == Kind::Null {
                if empty == Empty::Refused {
                    self.report(&entry.key_span, format!("{} has no value", quoted(&entry.key)));
                }
                empties.push(key.name);
                continue;
            }
            if let Some((_, first)) = fields.iter().find(|(known, _)| *known == key.name) {
                let message = format!("{} and {} are two names of one thing", quoted(&first.key), quoted(&entry.key));
                let problem = self
                    .problem(&entry.key_span, message)
                    .note(self.source, &first.key_span, "it stands here already")
                    .help("keep one of them");
                self.problems.push(problem);
                continue;
            }
            fields.push((key.name, entry));
        }
        for key in keys.iter().filter(|key| key.need == Need::Required) {
            if fields.iter().any(|(name, _)| *name == key.name) {
                continue;
            }
            if empties.contains(&key.name) {
                if empty == Empty::Absent {
                    self.report(&(map.start..map.start), format!("{} has no value", quoted(key.name)));
                }
            } else {
                self.report(&(map.start..map.start), format!("{} is missing", quoted(key.name)));
            }
        }
        Fields(fields)
    }

    /// Reports a key that nobody knows, with the nearest one.
    pub(crate) fn unknown_key<'k>(&mut self, entry: &Entry<'_>, known: impl Iterator<Item = &'k str> + Clone) {
        let problem = self.problem(&entry.key_span, format!("unknown key {}", quoted(&entry.key)));
        let visible: String = entry.key.chars().filter(|c| !is_invisible(*c)).collect();
        let problem = if visible != entry.key && known.clone().any(|name| name == visible) {
            problem.help(format!("it is {} but for characters that are not shown", quoted(&visible)))
        } else {
            problem.maybe_help(self.problems.suggestion(&entry.key, known))
        };
        self.problems.push(problem);
    }

    /// A text that is not blank.
    pub(crate) fn text(&mut self, node: &Node<'_>, what: impl fmt::Display) -> Option<String> {
        let Kind::Text(text) = &node.kind else {
            self.wrong(node, what, "a text");
            return None;
        };
        self.not_blank(text, node, what)
    }

    /// A text, or the source text of a number or of `true` and `false`; not blank.
    pub(crate) fn word(&mut self, node: &Node<'_>, what: impl fmt::Display) -> Option<String> {
        let word = self.any_word(node, &what)?;
        self.not_blank(&word, node, what)
    }

    /// A word that may become part of a test's name: without characters that runners strip or that change the order of what is shown.
    pub(crate) fn name(&mut self, node: &Node<'_>, what: impl fmt::Display) -> Option<String> {
        let word = self.word(node, &what)?;
        if let Some(c) = word.chars().find(|c| ids::is_unfit_for_names(*c)) {
            let why = format!("{what} must not hold control characters, this one has U+{:04X}", u32::from(c));
            self.report(&node.span, why);
            return None;
        }
        Some(word)
    }

    /// The same as [`Self::word`], which may be blank.
    pub(crate) fn any_word(&mut self, node: &Node<'_>, what: impl fmt::Display) -> Option<String> {
        match &node.kind {
            Kind::Text(text) | Kind::Number(text) => Some(text.to_string()),
            // In a cell of CSV the word stands among others, and its source text is that of the cell.
            Kind::Bool(yes) => Some(match self.source.text.get(node.span.clone()) {
                Some(text) if text.eq_ignore_ascii_case(&yes.to_string()) => text.to_owned(),
                Some(_) | None => yes.to_string(),
            }),
            Kind::Null | Kind::List(_) | Kind::Map(_) => {
                self.wrong(node, what, "a text");
                None
            }
        }
    }

    fn not_blank(&mut self, text: &str, node: &Node<'_>, what: impl fmt::Display) -> Option<String> {
        if text.trim().is_empty() {
            self.report(&node.span, format!("{what} is empty"));
            return None;
        }
        Some(text.to_owned())
    }

    /// `true` or `false`.
    pub(crate) fn flag(&mut self, node: &Node<'_>, what: impl fmt::Display) -> Option<bool> {
        if let Kind::Bool(yes) = node.kind {
            return Some(yes);
        }
        self.wrong(node, what, "true or false");
        None
    }

    /// A finite number.
    pub(crate) fn number(&mut self, node: &Node<'_>, what: impl fmt::Display) -> Option<f64> {
        self.finite(node, what, "a number")
    }

    fn finite(&mut self, node: &Node<'_>, what: impl fmt::Display, wanted: &str) -> Option<f64> {
        let Kind::Number(text) = &node.kind else {
            self.wrong(node, what, wanted);
            return None;
        };
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Some(number),
            Ok(_) | Err(_) => {
                self.report(&node.span, format!("{what} is {wanted} in decimal digits, got {}", quoted(text)));
                None
            }
        }
    }

    /// A number from 0 to 1.
    pub(crate) fn unit(&mut self, node: &Node<'_>, what: impl fmt::Display) -> Option<UnitInterval> {
        const WANTED: &str = "a number from 0 to 1";
        let number = self.finite(node, &what, WANTED)?;
        match UnitInterval::new(number) {
            Ok(unit) => Some(unit),
            Err(_) => {
                self.report(&node.span, format!("{what} is {WANTED}, got {number}"));
                None
            }
        }
    }

    /// A whole number of at least `least`.
    pub(crate) fn count(&mut self, node: &Node<'_>, what: impl fmt::Display, least: usize) -> Option<usize> {
        let wanted = format!("a whole number of at least {least}");
        let Kind::Number(text) = &node.kind else {
            self.wrong(node, what, &wanted);
            return None;
        };
        match text.parse::<usize>() {
            Ok(count) if count >= least => Some(count),
            Ok(_) | Err(_) => {
                self.report(&node.span, format!("{what} is {wanted}, got {text}"));
                None
            }
        }
    }

    /// One of a few words.
    pub(crate) fn one_of<T: Copy>(
        &mut self,
        node: &Node<'_>,
        what: impl fmt::Display,
        words: &[(&'static str, T)],
    ) -> Option<T> {
        let list = words.iter().map(|(word, _)| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        let Kind::Text(text) = &node.kind else {
            self.wrong(node, what, &format!("one of {list}"));
            return None;
        };
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text.as_ref()) {
            return Some(*value);
        }
        let help = self.problems.suggestion(text, words.iter().map(|(word, _)| *word));
        let problem =
            self.problem(&node.span, format!("{what} is one of {list}, got {}", quoted(text))).maybe_help(help);
        self.problems.push(problem);
        None
    }

    /// A time with its unit: `500ms`, `60s`, `2m`. Above 0.
    pub(crate) fn duration(&mut self, node: &Node<'_>, what: impl fmt::Display) -> Option<Duration> {
        let text = match &node.kind {
            Kind::Text(text) | Kind::Number(text) => text.trim(),
            Kind::Null | Kind::Bool(_) | Kind::List(_) | Kind::Map(_) => "",
        };
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let milliseconds = match unit {
            "ms" => Some(1),
            "s" => Some(1_000),
            "m" => Some(60_000),
            _ => None,
        };
        // A day is longer than anything that waits for one answer, and far from overflow.
        const LONGEST: u64 = 86_400_000;
        let duration = milliseconds
            .and_then(|unit| number.parse::<u64>().ok()?.checked_mul(unit))
            .filter(|milliseconds| (1..=LONGEST).contains(milliseconds));
        if duration.is_none() {
            self.report(
                &node.span,
                format!("{what} is a time above 0 and at most a day, as in `500ms`, `60s` or `2m`"),
            );
        }
        duration.map(Duration::from_millis)
    }

    /// A JSON pointer.
    pub(crate) fn pointer(&mut self, node: &Node<'_>, what: impl fmt::Display) -> Option<JsonPointer> {
        let Kind::Text(text) = &node.kind else {
            self.wrong(node, what, "a text");
            return None;
        };
        match JsonPointer::new(text.as_ref()) {
            Ok(pointer) => Some(pointer),
            Err(error) => {
                self.report(&node.span, format!("{what}: {error}"));
                None
            }
        }
    }
}
