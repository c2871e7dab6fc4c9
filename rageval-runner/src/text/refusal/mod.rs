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
    match language {
        Language::En => declines(&head, &ENGLISH),
        Language::Pt => declines(&head, &PORTUGUESE) || declines(&head, &ENGLISH),
        Language::Zh => declines(&head, &CHINESE) || declines(&head, &ENGLISH),
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
    /// Where a sentence falls into clauses that are read on their own.
    joint: Regex,
}

static ENGLISH: LazyLock<Patterns> = LazyLock::new(english::patterns);
static PORTUGUESE: LazyLock<Patterns> = LazyLock::new(portuguese::patterns);
static CHINESE: LazyLock<Patterns> = LazyLock::new(chinese::patterns);

static QUOTED: LazyLock<Regex> =
    LazyLock::new(|| pattern("\"[^\"]{1,300}\"|「[^」]{1,300}」|『[^』]{1,300}』|`[^`]{1,300}`|(?:^| )'[^']{3,300}'"));

fn declines(answer: &str, patterns: &Patterns) -> bool {
    let mut declined = false;
    for sentence in statements(answer, patterns.language) {
        let normal = normalise(sentence);
        let own = QUOTED.replace_all(&normal, " _ ");
        let own = chinese::simplified(&own);
        if own.trim_end_matches([' ', '_', '"', ')']).ends_with(['?', '？']) {
            continue;
        }
        for clause in patterns.joint.split(&own) {
            let clause = clause.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '[' | ']'));
            if !clause.chars().any(char::is_alphanumeric) {
                continue;
            }
            if patterns.conditional.is_match(clause) && !patterns.empty.is_match(clause) {
                return false;
            } else if patterns.declining.is_match(clause) {
                declined = true;
            } else if !patterns.empty.is_match(clause) {
                return false;
            }
        }
    }
    declined
}

/// Compiles a table of patterns that is part of this crate; `<name>` stands for the alternatives given under that name.
fn table(patterns: &[&str], names: &[(&str, &str)]) -> RegexSet {
    let expanded = patterns.iter().map(|pattern| expanded(pattern, names));
    RegexSet::new(expanded).unwrap_or_else(|error| unreachable!("the patterns of this crate compile: {error}"))
}

fn expanded(pattern: &str, names: &[(&str, &str)]) -> String {
    names.iter().fold(pattern.to_owned(), |text, (name, alternatives)| {
        text.replace(&format!("<{name}>"), &format!("(?:{alternatives})"))
    })
}

#[cfg(test)]
mod tests;
