//! Reads one of a few labels from a judge's reply.

use std::sync::LazyLock;

use regex::Regex;

use super::{
    Unreadable,
    prose::{after_thinking, head, tail},
};

/// Words in which a reply may end on its label without announcing it.
const SHORT: usize = 8;

/// The label that a reply gives: the whole reply, a line of its own (`B`, `Grade: B`, `Verdict: not supported`), a reply that begins with it
/// (`No, ...`), the last word of one short sentence, or what is said to be better (`Answer 1 is better`).
///
/// Labels are whole words, whatever their case, unless two of them differ in case only. A label that merely occurs in the prose counts for
/// nothing.
///
/// # Errors
/// No label is given, or several that differ.
pub fn read_label<'a>(text: &str, labels: &[&'a str]) -> Result<&'a str, Unreadable> {
    let labels = Labels::new(labels);
    after_thinking(text, |text| labels.in_prose(text))
}

/// The label that a text is as a whole, dots and quotation marks aside.
pub(super) fn whole_label<'a>(text: &str, labels: &[&'a str]) -> Option<&'a str> {
    let labels = Labels::new(labels);
    let text = bare(text);
    labels.at_start(text).filter(|(_, length)| *length == text.len()).map(|(label, _)| label)
}

struct Labels<'a> {
    /// The longest first, so that `not supported` is never read as `supported`.
    by_length: Vec<&'a str>,
    is_case_told: bool,
}

struct Patterns {
    marker: Regex,
    better_after: Regex,
    better_before: Regex,
    reported: Regex,
    denied: Regex,
}

static PATTERNS: LazyLock<Result<Patterns, regex::Error>> = LazyLock::new(|| {
    Ok(Patterns {
        marker: Regex::new(
            r"(?i)^[\s>#-]*(?:(?:the|my|final|overall|a|o|minha) )*(?:grade|verdict|answer|label|decision|choice|winner|result|judge?ment|conclusion|veredito|veredicto|resposta|rótulo|decisão|resultado|conclusão|最终结论|最终答案|结论|判定|判断|答案|结果|标签)(?:\s+(?:is|final|é))?\s*[:：=]?\s*",
        )?,
        better_after: Regex::new(
            r"(?i)^[\s.]*(?:(?:is|as) (?:the |a )?(?:\w+ly )?(?:better|best|preferred|winner)\b|é (?:a |o )?melhor|(?:是)?(?:更好|更优))",
        )?,
        better_before: Regex::new(r"(?i)(?:better|best|preferred) (?:\w+ )?(?:is|:)\s*$")?,
        reported: Regex::new(
            r"(?i)\b(?:neither|nor|not|whether|if|why|that both|both|argues?|claims?|says?|states?|believes?|suggests?|concludes?|assistant|nem|não|se|afirma|diz)\b[^.!?\n]*$|(?:不|是否|如果|认为)[^。\n]*$",
        )?,
        denied: Regex::new(
            r"(?i)\b(?:not|n['’]t|neither|nor|never|cannot|whether|if|or|no|não|nem|ou|se)\b|n['’]t\b|不|非|或|是否",
        )?,
    })
});

impl<'a> Labels<'a> {
    fn new(labels: &[&'a str]) -> Self {
        let mut by_length = labels.to_vec();
        by_length.sort_by_key(|label| std::cmp::Reverse(label.len()));
        let mut folded: Vec<_> = labels.iter().map(|label| label.to_lowercase()).collect();
        folded.sort();
        folded.dedup();
        let is_case_told = folded.len() < labels.len();
        Self { by_length, is_case_told }
    }

    /// The label that the text begins with as a whole word, and its length.
    fn at_start(&self, text: &str) -> Option<(&'a str, usize)> {
        self.by_length.iter().find_map(|label| {
            let mut rest = text.chars();
            let is_same = |a: char, b: char| a == b || (!self.is_case_told && a.to_lowercase().eq(b.to_lowercase()));
            let is_there = label.chars().all(|wanted| rest.next().is_some_and(|found| is_same(wanted, found)));
            let length = text.len() - rest.as_str().len();
            let ends_in_word = label.chars().next_back().is_some_and(char::is_alphanumeric);
            let goes_on = rest.next().is_some_and(|next| ends_in_word && (next.is_alphanumeric() || next == '_'));
            (is_there && !goes_on).then_some((*label, length))
        })
    }

    fn in_prose(&self, text: &str) -> Result<&'a str, String> {
        let patterns = PATTERNS.as_ref().map_err(|error| format!("the reader has a faulty pattern: {error}"))?;
        let plain: String = text.chars().filter(|c| !matches!(c, '*' | '`')).collect();
        let lines: Vec<_> = plain.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let mut given: Vec<_> = lines.iter().filter_map(|line| self.of_line(patterns, line)).collect();
        given.extend(self.said_to_be_better(patterns, &plain));
        if given.is_empty() {
            given.extend(lines.first().and_then(|line| self.before_a_gloss(line)));
        }
        if let (true, [line]) = (given.is_empty(), lines.as_slice()) {
            given.extend(self.last_word(patterns, line));
        }
        let mut given = given.into_iter();
        let Some(first) = given.next() else {
            return Err(format!("the reply gives none of the labels {}", self.listed()));
        };
        match given.find(|other| *other != first) {
            Some(other) => Err(format!("the reply gives several labels: `{first}` and `{other}`")),
            None => Ok(first),
        }
    }

    fn listed(&self) -> String {
        self.by_length.iter().map(|label| format!("`{label}`")).collect::<Vec<_>>().join(", ")
    }

    /// A line that holds nothing but a label, or announces one.
    fn of_line(&self, patterns: &Patterns, line: &str) -> Option<&'a str> {
        let alone = bare(line);
        if let Some((label, _)) = self.at_start(alone).filter(|(_, length)| *length == alone.len()) {
            return Some(label);
        }
        let marker = patterns.marker.find(line).filter(|marker| {
            let is_closed = marker.as_str().ends_with([' ', ':', '：', '=']);
            is_closed || !marker.as_str().is_ascii()
        })?;
        let rest = line[marker.end()..].trim_start_matches(is_wrapping);
        let (label, length) = self.at_start(rest)?;
        is_gloss(&rest[length..]).then_some(label)
    }

    /// A reply that begins with its label and goes on to explain it.
    fn before_a_gloss(&self, line: &str) -> Option<&'a str> {
        let rest = line.trim_start_matches(is_wrapping);
        let (label, length) = self.at_start(rest)?;
        is_gloss(&rest[length..]).then_some(label)
    }

    /// The label that one short sentence ends on, where no other stands in it and nothing denies it.
    fn last_word(&self, patterns: &Patterns, line: &str) -> Option<&'a str> {
        let line = bare(line);
        if line.split_whitespace().count() > SHORT {
            return None;
        }
        let mut found = self.all(line).into_iter();
        // A single letter in prose counts in its own case only: `a` is an article.
        let mut exact = found.by_ref().filter(|(start, label)| label.len() > 1 || line[*start..].starts_with(*label));
        let (start, label) = exact.next()?;
        let is_last = line[start..].chars().count() == label.chars().count();
        (exact.next().is_none() && is_last && !patterns.denied.is_match(&line[..start])).then_some(label)
    }

    /// Labels of which the judge itself says that they are the better one.
    fn said_to_be_better(&self, patterns: &Patterns, text: &str) -> Vec<&'a str> {
        let is_said = |(start, label): &(usize, &'a str)| {
            let end =
                text[*start..].char_indices().nth(label.chars().count()).map_or(text.len(), |(end, _)| start + end);
            let (before, after) = (tail(&text[..*start], 160), head(&text[end..], 40));
            let is_named = patterns.better_after.is_match(after) || patterns.better_before.is_match(before);
            is_named && !patterns.reported.is_match(before)
        };
        self.all(text).into_iter().filter(is_said).map(|(_, label)| label).collect()
    }

    /// All whole-word occurrences, the longest at each place, with where they start.
    fn all(&self, text: &str) -> Vec<(usize, &'a str)> {
        let mut found = Vec::new();
        let mut before = None;
        let mut free_from = 0;
        for (start, c) in text.char_indices() {
            let is_inside = before.is_some_and(|b: char| b.is_alphanumeric() || b == '_') && c.is_alphanumeric();
            if !is_inside
                && start >= free_from
                && let Some((label, length)) = self.at_start(&text[start..])
            {
                found.push((start, label));
                free_from = start + length;
            }
            before = Some(c);
        }
        found
    }
}

fn is_wrapping(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '“' | '”' | '‘' | '’' | '[' | '<' | '「' | '>' | '-' | '•')
}

/// A text without what a judge puts around a label.
fn bare(text: &str) -> &str {
    let is_end = |c: char| is_wrapping(c) || matches!(c, '.' | ',' | '!' | ']' | '。' | '！' | '」');
    text.trim_start_matches(is_wrapping).trim_end_matches(is_end)
}

/// Whether what follows a label ends it or starts to explain it, rather than going on with the sentence. Behind a colon stands what the label
/// is about: a judge that repeats its prompt writes `Answer 1:`.
fn is_gloss(after: &str) -> bool {
    let trimmed = after.trim_start();
    let is_near = trimmed.len() == after.len();
    match trimmed.chars().next() {
        None => true,
        Some('.' | ',' | ';' | '!' | '。' | '，' | '；' | '"' | '\'' | '”' | '’' | ']' | '」') => is_near,
        Some('(' | '（' | '-' | '—' | '–') => !is_near || trimmed.starts_with(['—', '（']),
        Some(_) => false,
    }
}
