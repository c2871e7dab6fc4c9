//! Signs of numbers: the minus that is one, and the words that say the same.

use crate::model::Language;

/// Whether a piece of a text is the minus sign of the number right behind it, not a hyphen, a dash, a bullet or `to`.
///
/// It is where digits or a currency follow at once and no number stands before it: `-5`, `−5`, `-$5`, `R$ -5`, `气温-5度`, but not `3-5`,
/// `3 - 5`, `3天-5天`, `COVID-19`.
pub(super) fn is_minus(text: &str, at: usize, piece: &str) -> bool {
    if !matches!(piece, "-" | "\u{2212}" | "\u{2013}" | "\u{FE63}" | "\u{FF0D}") {
        return false;
    }
    let letters = |c: &char| c.is_ascii_uppercase();
    let after = &text[at + piece.len()..];
    let country = after.chars().take(3).take_while(letters).count();
    let next = after.chars().nth(country);
    let begins_number = next.is_some_and(|c| is_currency(c) || (country == 0 && c.is_numeric() && c.is_ascii()));
    let mut before = text[..at].chars().rev().take(8);
    let is_range =
        |c: char| c.is_numeric() || c == '%' || is_currency(c) || "一二三四五六七八九十百千万亿两".contains(c);
    begins_number
        && match before.next() {
            None => true,
            Some(c) if c.is_whitespace() => {
                !before.find(|c| !c.is_whitespace()).is_some_and(|c| is_range(c) || super::super::word::is_han(c))
            }
            Some(c) if super::super::word::is_han(c) => !is_range(c) && !before.take(2).any(is_range),
            Some(c) => is_currency(c) || "([{（【:：=~,，、;；\"“'‘".contains(c),
        }
}

fn is_currency(c: char) -> bool {
    matches!(c, '$' | '€' | '£' | '¥' | '￥')
}

/// How many pieces at this one are a sign before a number, written as a word or together with a currency sign.
pub(super) fn minus_pieces(lower: &[String], at: usize, language: Language) -> usize {
    let piece = |at: usize| lower.get(at).map_or("", String::as_str);
    let before = at.checked_sub(1).map_or("", piece);
    match (piece(at), language) {
        (word, _) if word.strip_prefix('-').is_some_and(|rest| rest.ends_with(['$', '€', '£', '¥'])) => 1,
        (word, _) if 1 < word.len() && word.starts_with('-') && piece(at + 1) == "$" => 2,
        ("minus" | "negative", Language::En) => 1,
        // `pelo menos 5` is at least, `mais ou menos 5` about.
        ("menos", Language::Pt) if !matches!(before, "pelo" | "ao" | "ou" | "a" | "de") => 1,
        ("零", Language::Zh) if piece(at + 1) == "下" => 2,
        ("负" | "負", Language::Zh) => 1,
        _ => 0,
    }
}

/// Whether words behind a number turn its sign: `5 degrees below zero`, `5 graus negativos`.
pub(super) fn is_below_zero(lower: &[String], end: usize, language: Language) -> bool {
    let near = &lower[end.min(lower.len())..(end + 5).min(lower.len())];
    let says = |words: &[&str]| near.windows(words.len()).any(|window| window == words);
    match language {
        Language::En => says(&["below", "zero"]),
        Language::Pt => says(&["abaixo", "de", "zero"]) || says(&["graus", "negativos"]),
        Language::Zh => false,
    }
}
