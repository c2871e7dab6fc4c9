//! What an answer changed against the baseline's, word by word.

use serde::Serialize;
use similar::{Algorithm, ChangeTag, TextDiff};

/// Bytes of both answers together up to which they are compared: the time grows with their product.
const COMPARED: usize = 20_000;

/// Share of the words that both answers must have in common for a comparison to be readable.
const ALIKE: f64 = 0.4;

/// A difference.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub(super) enum Difference {
    /// Word for word the same.
    Same,
    /// Pieces in their order, each with its mark: `0` in both, `-1` in the baseline's alone, `1` in this run's alone.
    Words {
        /// The pieces.
        pieces: Vec<(i8, String)>,
    },
    /// They share too little to be read as one text; both, whole.
    Apart {
        /// The baseline's answer.
        before: String,
        /// This run's.
        now: String,
    },
    /// Too long to compare; the baseline's answer.
    Long {
        /// The baseline's answer.
        before: String,
    },
}

/// The difference of two answers.
pub(super) fn difference(before: &str, now: &str) -> Difference {
    if before == now {
        return Difference::Same;
    }
    if before.len() + now.len() > COMPARED {
        return Difference::Long { before: before.to_owned() };
    }
    let mut common = 0;
    let mut all = 0;
    let mut pieces: Vec<(i8, String)> = Vec::new();
    let diff = TextDiff::configure().algorithm(Algorithm::Patience).diff_unicode_words(before, now);
    for change in diff.iter_all_changes() {
        let mark = match change.tag() {
            ChangeTag::Equal => 0,
            ChangeTag::Delete => -1,
            ChangeTag::Insert => 1,
        };
        // Blanks and punctuation make no answers alike.
        if change.value().chars().any(char::is_alphanumeric) {
            // A common word stands in both.
            all += if mark == 0 { 2 } else { 1 };
            common += if mark == 0 { 2 } else { 0 };
        }
        match pieces.last_mut() {
            Some((last, text)) if *last == mark => text.push_str(change.value()),
            _ => pieces.push((mark, change.value().to_owned())),
        }
    }
    if f64::from(common) < ALIKE * f64::from(all) {
        return Difference::Apart { before: before.to_owned(), now: now.to_owned() };
    }
    Difference::Words { pieces }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(pieces: &[(i8, &str)]) -> Difference {
        Difference::Words { pieces: pieces.iter().map(|(mark, text)| (*mark, (*text).to_owned())).collect() }
    }

    #[test]
    fn words_are_compared_and_not_lines() {
        assert_eq!(
            difference("kept 5 days", "kept 50 days"),
            words(&[(0, "kept "), (-1, "5"), (1, "50"), (0, " days")])
        );
        assert_eq!(difference("保留5天。", "保留7天。"), words(&[(0, "保留"), (-1, "5"), (1, "7"), (0, "天。")]));
        assert_eq!(difference("a", "a"), Difference::Same);
    }

    #[test]
    fn answers_that_share_little_are_shown_one_after_the_other() {
        let (before, now) =
            ("Parcels left before noon leave today.", "Sorry, I could not find anything about parcels left.");
        assert_eq!(difference(before, now), Difference::Apart { before: before.into(), now: now.into() });
        assert_eq!(difference("", now), Difference::Apart { before: String::new(), now: now.into() });
    }

    #[test]
    fn long_answers_are_shown_and_not_compared() {
        let long = "a b ".repeat(COMPARED);
        assert_eq!(difference(&long, "a"), Difference::Long { before: long.clone() });
    }
}
