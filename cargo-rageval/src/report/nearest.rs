//! Where in a text a statement stands: word for word, else the sentence that shares most of its words.

use std::{collections::BTreeSet, ops::Range};

use rageval_runner::{
    model::Language,
    text::{content_words, sentences},
};

/// Bytes of a text that are searched for a sentence; a statement that stands word for word is found anywhere.
const SEARCHED: usize = 64 * 1024;

/// The smallest share of a statement's content words that a sentence must hold to be shown beside it.
const LIKE_ENOUGH: f64 = 0.5;

/// A place in a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Nearest {
    /// Bytes of the text.
    pub(crate) range: Range<usize>,
    /// Share of the statement's content words that stand there; 1 where it stands there word for word.
    pub(crate) share: f64,
    /// Whether it stands there word for word.
    pub(crate) is_verbatim: bool,
}

/// Where a statement stands in a text; `None` where no sentence shares half of its content words.
pub(crate) fn nearest(statement: &str, text: &str, language: Language) -> Option<Nearest> {
    let statement = statement.trim();
    if statement.is_empty() {
        return None;
    }
    if let Some(start) = text.find(statement) {
        return Some(Nearest { range: start..start + statement.len(), share: 1.0, is_verbatim: true });
    }
    let wanted: BTreeSet<String> = content_words(statement, language).into_iter().collect();
    let end = (0..=SEARCHED.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    let searched = &text[..end];
    let mut best: Option<Nearest> = None;
    for sentence in sentences(searched, language) {
        let held: BTreeSet<String> = content_words(sentence, language).into_iter().collect();
        let share = wanted.intersection(&held).count() as f64 / wanted.len().max(1) as f64;
        if share >= LIKE_ENOUGH && best.as_ref().is_none_or(|best| best.share < share) {
            // A sentence is a part of the text that it was cut from, with the blank that follows it.
            let sentence = sentence.trim();
            let start = sentence.as_ptr().addr() - searched.as_ptr().addr();
            best = Some(Nearest { range: start..start + sentence.len(), share, is_verbatim: false });
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(statement: &str, text: &'static str, language: Language) -> Option<&'static str> {
        nearest(statement, text, language).map(|found| &text[found.range])
    }

    #[test]
    fn a_statement_is_found_word_for_word() {
        assert_eq!(found("kept 5 days", "A parcel is kept 5 days. Then it goes.", Language::En), Some("kept 5 days"));
        assert_eq!(found("保留5天", "包裹保留5天。之后退回。", Language::Zh), Some("保留5天"));
    }

    #[test]
    fn else_the_sentence_that_shares_most_of_its_words() {
        let text = "Gold customers pay nothing. A parcel is kept for 5 days in the locker.";
        let sentence = "A parcel is kept for 5 days in the locker.";
        assert_eq!(found("The locker keeps the parcel 5 days", text, Language::En), Some(sentence));
    }

    #[test]
    fn a_sentence_that_shares_little_is_not_shown() {
        assert_eq!(found("Cats sleep on warm roofs", "A parcel is kept for 5 days.", Language::En), None);
        assert_eq!(found("", "A parcel.", Language::En), None);
    }
}
