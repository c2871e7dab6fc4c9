//! The numbers in a judge's prose: digits, and words for small ones in English, Portuguese and Chinese.

use std::sync::LazyLock;

use regex::Regex;

const WORDS: [(&str, u8); 36] = [
    ("zero", 0),
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("um", 1),
    ("uma", 1),
    ("dois", 2),
    ("duas", 2),
    ("três", 3),
    ("tres", 3),
    ("quatro", 4),
    ("cinco", 5),
    ("seis", 6),
    ("sete", 7),
    ("oito", 8),
    ("nove", 9),
    ("dez", 10),
    ("零", 0),
    ("一", 1),
    ("二", 2),
    ("两", 2),
    ("三", 3),
    ("四", 4),
    ("五", 5),
    ("六", 6),
    ("七", 7),
    ("八", 8),
    ("九", 9),
    ("十", 10),
];

/// How a number is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notation {
    Digits,
    Word,
}

/// A number and where it stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Found {
    pub(super) value: f64,
    pub(super) notation: Notation,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// All numbers of a text in lower case, in order. `87th`, `2,600`, `40%`, `3x` and times of day are none.
pub(super) fn all(text: &str) -> Vec<Found> {
    static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let words: Vec<_> = WORDS.iter().map(|(word, _)| *word).collect();
        Regex::new(&format!(r"[0-9]+(?:[.,][0-9]+)*|{}", words.join("|"))).ok()
    });
    let Some(number) = NUMBER.as_ref() else { return Vec::new() };
    number.find_iter(text).filter_map(|found| at(text, found.start(), found.as_str())).collect()
}

fn at(text: &str, mut start: usize, written: &str) -> Option<Found> {
    let end = start + written.len();
    let (before, after) = (text[..start].chars().next_back(), text[end..].chars().next());
    let is_latin = |c: char| c.is_alphanumeric() && !('\u{2e80}'..='\u{9fff}').contains(&c);
    let is_digits = written.starts_with(|c: char| c.is_ascii_digit());
    // 一 stands in other words (一致); as a number it is followed by a measure or by nothing.
    let is_han = written.starts_with(|c: char| !c.is_ascii()) && written.chars().count() == 1;
    let is_glued = if is_han {
        after.is_some_and(|c| c.is_alphanumeric() && c != '分' && c != '星')
            || before.is_some_and(|c| "十第".contains(c))
    } else {
        before.is_some_and(|c| is_latin(c) || ".,$€£%#".contains(c) && is_digits)
            || after.is_some_and(|c| is_latin(c) || c == '%' || c == '％')
    };
    if is_glued {
        return None;
    }
    if !is_digits {
        let (_, value) = WORDS.iter().find(|(word, _)| *word == written)?;
        return Some(Found { value: f64::from(*value), notation: Notation::Word, start, end });
    }
    let mut value = digits(written)?;
    // A minus sign touches its number; a dash between a label and a number does not.
    if before == Some('-') {
        let earlier = text[..start - 1].chars().next_back();
        if earlier.is_none_or(|c| !c.is_alphanumeric() && c != '-') {
            value = -value;
            start -= 1;
        }
    }
    Some(Found { value, notation: Notation::Digits, start, end })
}

/// `4`, `4.5`, `4,5`, `0,875`; a comma before three digits parts thousands.
pub(super) fn digits(written: &str) -> Option<f64> {
    let separators = written.matches(['.', ',']).count();
    if let Some((whole, part)) = written.split_once(',') {
        if separators > 1 || (part.len() > 2 && whole != "0") {
            return None;
        }
        return format!("{whole}.{part}").parse().ok();
    }
    if separators > 1 { None } else { written.parse().ok() }
}
