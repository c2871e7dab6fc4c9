//! Tells an answer that declines from one that answers.
//!
//! A screen by patterns, one table per language. It reads an answer clause by clause: a clause *declines* ("I could not find that"),
//! says *nothing of its own* (an apology, a pointer to support, a description of the sources), or *answers*. An answer is a refusal when
//! some clause declines and none answers. So a partial answer with a caveat is an answer, and so is "no, you can't return it".

mod chinese;
mod english;
mod portuguese;

use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use super::{
    normal::{normalise, pattern},
    sentence::statements,
};
use crate::model::Language;

/// How much of an answer is read: no refusal is longer, and the work stays bounded.
const CHARS: usize = 6_000;

/// Whether an answer declines to answer: it says that it can't, won't, or has nothing to answer with, and answers nothing beside.
///
/// Text in quotation marks is not the answer's own. Conditions and questions ("if you don't know the number", "can't find it?") decline
/// nothing. A blank text is no refusal: it is no answer at all. The patterns of the given language are tried, and the English ones too,
/// since systems often decline in English whatever they were asked.
pub fn is_refusal(answer: &str, language: Language) -> bool {
    let head: String = answer.chars().take(CHARS).collect();
    let plain = chinese::simplified(&normalise(&head));
    // Most answers have none of the words that every pattern needs: for these nothing is compiled.
    let may = |words: &[&str]| words.iter().any(|word| plain.contains(word));
    let in_english = || may(english::NEEDED) && declines(&head, &ENGLISH);
    match language {
        Language::En => in_english(),
        Language::Pt => (may(portuguese::NEEDED) && declines(&head, &PORTUGUESE)) || in_english(),
        Language::Zh => (may(chinese::NEEDED) && declines(&head, &CHINESE)) || in_english(),
    }
}

/// What one language's refusals look like. All patterns meet normalised clauses.
struct Patterns {
    language: Language,
    /// The clause declines.
    declining: RegexSet,
    /// The clause says nothing of its own.
    empty: RegexSet,
    /// The clause is a condition or instruction, so whatever it says of not knowing is not the answer's.
    conditional: Regex,
    /// The sentence draws the conclusion that there is no answer: as the last one it decides, whatever was said before.
    closing: Regex,
    /// Where a sentence falls into clauses that are read on their own.
    joint: Regex,
}

static ENGLISH: LazyLock<Patterns> = LazyLock::new(english::patterns);
static PORTUGUESE: LazyLock<Patterns> = LazyLock::new(portuguese::patterns);
static CHINESE: LazyLock<Patterns> = LazyLock::new(chinese::patterns);

static QUOTED: LazyLock<Regex> =
    LazyLock::new(|| pattern("\"[^\"]{1,300}\"|「[^」]{1,300}」|『[^』]{1,300}』|`[^`]{1,300}`|(?:^| )'[^']{3,300}'"));

/// What a clause, or a whole sentence, does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Declines,
    Empty,
    Answers,
}

fn declines(answer: &str, patterns: &Patterns) -> bool {
    let acts: Vec<(Act, bool)> =
        statements(answer, patterns.language).into_iter().filter_map(|sentence| act(sentence, patterns)).collect();
    let last = acts.iter().rev().find(|(act, concludes)| *concludes || *act != Act::Empty);
    match last {
        Some((Act::Declines | Act::Empty, true)) => true,
        Some(_) => {
            acts.iter().all(|(act, _)| *act != Act::Answers) && acts.iter().any(|(act, _)| *act == Act::Declines)
        }
        None => false,
    }
}

/// What a sentence does, and whether it is a conclusion that there is no answer. `None` for a question and one without words.
fn act(sentence: &str, patterns: &Patterns) -> Option<(Act, bool)> {
    let normal = normalise(sentence);
    let own = QUOTED.replace_all(&normal, " _ ");
    let own = chinese::simplified(&own);
    if own.trim_end_matches([' ', '_', '"', ')']).ends_with(['?', '？']) {
        return None;
    }
    let mut does = None;
    for clause in patterns.joint.split(&own) {
        let clause = clause.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '[' | ']'));
        if !clause.chars().any(char::is_alphanumeric) {
            continue;
        }
        let is_empty = patterns.empty.is_match(clause);
        let clause_does = if patterns.conditional.is_match(clause) && !is_empty {
            Act::Answers
        } else if patterns.declining.is_match(clause) {
            Act::Declines
        } else if is_empty {
            Act::Empty
        } else {
            Act::Answers
        };
        does = match (does, clause_does) {
            (Some(Act::Answers), _) | (_, Act::Answers) => Some(Act::Answers),
            (Some(Act::Declines), _) | (_, Act::Declines) => Some(Act::Declines),
            (_, Act::Empty) => Some(Act::Empty),
        };
    }
    does.map(|does| (does, patterns.closing.is_match(&own)))
}

/// Compiles a table of patterns that is part of this crate; `<name>` stands for the alternatives given under that name.
fn table(patterns: &[&str], names: &[(&str, &str)]) -> RegexSet {
    let expanded = patterns.iter().map(|pattern| expanded(pattern, names));
    RegexSet::new(expanded).unwrap_or_else(|error| unreachable!("the patterns of this crate compile: {error}"))
}

fn expanded(pattern: &str, names: &[(&str, &str)]) -> String {
    // Letters of Latin text alone: Unicode's whole class of word characters makes the tables many times larger and slower to compile.
    let pattern = pattern.replace(r"\w", "[0-9_a-zß-öø-ž]");
    names
        .iter()
        .fold(pattern, |text, (name, alternatives)| text.replace(&format!("<{name}>"), &format!("(?:{alternatives})")))
}

#[cfg(test)]
mod tests;
