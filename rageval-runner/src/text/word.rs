//! Splits text into words.

use unicode_segmentation::UnicodeSegmentation;

use crate::model::Language;

/// The words of a text in order, as they stand; white space, punctuation and symbols are not part of any.
///
/// By Unicode's annex 29: Han characters are one word each, runs of Latin letters and digits one word, and a number keeps its separators
/// (`3.14`, `1.234,56`). An English possessive ending is not part of the word (`customer's` is `customer`); contractions stay whole
/// (`don't`). Hyphens part words.
pub fn words(text: &str, language: Language) -> Vec<&str> {
    let words = text.unicode_words();
    match language {
        Language::En => words.map(without_possessive).collect(),
        Language::Pt | Language::Zh => words.collect(),
    }
}

/// Whether a character is Han: Chinese writing, with its compatibility forms and extensions.
pub fn is_han(c: char) -> bool {
    matches!(c,
        '\u{3007}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{323AF}')
}

fn without_possessive(word: &str) -> &str {
    ["'s", "’s", "'S", "’S"].iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_as_they_stand() {
        for (language, text, expected) in [
            (Language::En, "The customer's order isn't late.", vec!["The", "customer", "order", "isn't", "late"]),
            (Language::En, "3.14 and 1,234.56!", vec!["3.14", "and", "1,234.56"]),
            (Language::Pt, "Custa R$ 1.234,56 (à vista)", vec!["Custa", "R", "1.234,56", "à", "vista"]),
            (Language::Zh, "退款15天iPhone15。", vec!["退", "款", "15", "天", "iPhone15"]),
            (Language::En, "—… 😀", vec![]),
            (Language::En, "", vec![]),
        ] {
            assert_eq!(words(text, language), expected, "{text:?}");
        }
    }
}
