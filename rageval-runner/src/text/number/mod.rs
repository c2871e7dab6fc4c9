//! Reads the numbers of a text: digits with their separators, number words, Chinese numerals, with the unit that follows.

mod precision;
mod sign;
mod spelled;
mod unit;

use precision::precision;
use sign::{is_below_zero, is_minus, minus_pieces};
use spelled::{han_counts, han_number, han_part, magnitude, ordinal, spelled_number};
use unicode_segmentation::UnicodeSegmentation;
pub use unit::{Dimension, Measure};
use unit::{currency_before, measure_at};

use super::{normal::normalise, stem::stem, stop::is_stop_word};
use crate::model::Language;

/// The unit of what looks like a year; no word is spelled so.
pub const YEAR: &str = "#year";

/// How a number is meant, by the words before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// As it stands.
    Exact,
    /// `about`, `cerca de`, `约`.
    About,
    /// `more than`, `at least`, `mais de`, `超过`.
    AtLeast,
    /// `up to`, `no more than`, `até`, `最多`.
    AtMost,
}

/// One number of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    /// Its value with its sign, and with `thousand`, `mil`, `万` and the like multiplied in.
    pub value: f64,
    /// Digits after the decimal point as written.
    pub decimals: u32,
    /// The stem of what is counted; `%`, `$` for any currency sign, [`YEAR`] for what looks like one. `None` where nothing follows.
    pub unit: Option<String>,
    /// The unit of measure right behind it, or the currency before it, where the closed list has it.
    pub measure: Option<Measure>,
    /// How it is meant.
    pub precision: Precision,
    /// Index of its first piece, of the pieces that [`pieces`] gives.
    pub at: usize,
    /// How many pieces it takes.
    pub len: usize,
    /// Whether a text may say it without meaning a count: `one`, `um`, and `一`, `二` but before a measure word or after `第`.
    pub is_vague: bool,
    /// Whether it is an ordinal, or at most two, in words: speaks against another number, but a text often counts so without saying it.
    pub is_small_word: bool,
}

impl Number {
    /// Whether this number, as a claim states it, agrees with one that the evidence states: equal, or rounded, or within what `about`,
    /// `more than` and `up to` leave open (a tenth, on their side). Two known units of measure that differ never agree, unless one turns
    /// into the other by a fixed factor (`90 minutes`, `1.5 hours`); an unknown one speaks against nothing.
    pub fn agrees_with(&self, stated: &Self) -> bool {
        let Some((claimed, stated_value)) = self.beside(stated) else { return false };
        let is_converted = claimed.to_bits() != self.value.to_bits();
        let near = |share: f64| (claimed - stated_value).abs() <= share * stated_value.abs().max(claimed.abs());
        if near(1e-9) {
            return true;
        }
        let scale = 10f64.powi(self.decimals.min(9).cast_signed());
        let is_rounded = !is_converted
            && self.decimals < stated.decimals
            && ((stated_value * scale).round() / scale - claimed).abs() < 1e-9;
        match self.precision {
            Precision::Exact => is_rounded,
            Precision::About => is_rounded || near(0.1),
            Precision::AtLeast => claimed < stated_value && near(0.1),
            Precision::AtMost => stated_value < claimed && near(0.1),
        }
    }

    /// Whether both are the same quantity, not only by rounding.
    pub fn equals(&self, other: &Self) -> bool {
        self.beside(other).is_some_and(|(one, two)| (one - two).abs() <= 1e-9 * one.abs().max(two.abs()))
    }

    /// Whether another number has the same digits and known unit, save that the unit or the sign is another: `5 kg` and `5 g`, `-5` and `5`.
    pub fn clashes_with(&self, other: &Self) -> bool {
        (self.value.abs() - other.value.abs()).abs() <= 1e-9 * self.value.abs()
            && self.measure.is_some()
            && other.measure.is_some()
            && !self.agrees_with(other)
    }

    /// Both values in one unit. `None` where their known units don't turn into each other.
    fn beside(&self, other: &Self) -> Option<(f64, f64)> {
        let (Some(one), Some(two)) = (self.measure, other.measure) else { return Some((self.value, other.value)) };
        if one.may_be(&two) {
            return Some((self.value, other.value));
        }
        let factors = one.factor.zip(two.factor).filter(|_| one.dimension == two.dimension);
        factors.map(|(one, two)| (self.value * one, other.value * two))
    }
}

/// The pieces of a text between word boundaries of annex 29, white space left out: words, Han characters, single marks. A minus sign
/// stays with the number or the currency that it stands before.
pub fn pieces(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut sign = None;
    for (at, piece) in text.split_word_bound_indices() {
        if let Some(from) = sign.take() {
            out.push(&text[from..at + piece.len()]);
        } else if is_minus(text, at, piece) {
            sign = Some(at);
        } else if !piece.trim().is_empty() {
            out.push(piece);
        }
    }
    out
}

/// The numbers among the pieces of a text, in order.
pub fn numbers(pieces: &[&str], language: Language) -> Vec<Number> {
    let lower: Vec<String> = pieces.iter().map(|piece| normalise(piece)).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < lower.len() {
        let before = prefix(&lower, at, language);
        let start = at + before.len;
        match number_at(&lower, start, language) {
            Some(mut number) => {
                let end = start + number.len;
                number.measure = if before.is_share {
                    Some(Measure { dimension: Dimension::Share, name: "%", factor: None })
                } else {
                    measure_at(&lower, start, end, language).filter(|_| number.unit.as_deref() != Some(YEAR))
                };
                number.unit = match number.measure {
                    Some(Measure { dimension: Dimension::Money, .. }) => Some("$".to_owned()),
                    Some(Measure { dimension: Dimension::Share, .. }) => Some("%".to_owned()),
                    Some(Measure { dimension: Dimension::Temperature, .. }) => Some("°".to_owned()),
                    _ => number.unit.take().or_else(|| unit(&lower, &number, language)),
                };
                if number.unit.as_deref() == Some(YEAR) {
                    number.measure = None;
                }
                if before.is_minus || is_below_zero(&lower, end, language) {
                    number.value = -number.value.abs();
                }
                number.at = at;
                number.len = end - at;
                number.precision = precision(&lower, at, language);
                at = end.max(at + 1);
                found.push(number);
            }
            None => at += 1,
        }
    }
    found
}

/// What stands before a number's digits and belongs to it.
struct Prefix {
    /// How many pieces it takes.
    len: usize,
    is_minus: bool,
    /// `百分之`.
    is_share: bool,
}

fn prefix(lower: &[String], at: usize, language: Language) -> Prefix {
    let minus = minus_pieces(lower, at, language);
    let is_share = language == Language::Zh
        && lower.get(at + minus..at + minus + 3).is_some_and(|pieces| pieces == ["百", "分", "之"]);
    Prefix { len: minus + if is_share { 3 } else { 0 }, is_minus: 0 < minus, is_share }
}

fn number_at(lower: &[String], at: usize, language: Language) -> Option<Number> {
    let plain = |value: f64, decimals: u32, len: usize| Number {
        value,
        decimals,
        unit: None,
        measure: None,
        precision: Precision::Exact,
        at,
        len,
        is_vague: false,
        is_small_word: false,
    };
    let written = lower.get(at)?.as_str();
    let word = written.strip_prefix('-').unwrap_or(written);
    let mut number = if word.starts_with(|c: char| c.is_ascii_digit()) {
        let end = word.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ',')).unwrap_or(word.len());
        let (digits, rest) = word.split_at(end);
        let (value, decimals) = digits_value(digits.trim_end_matches(['.', ',']), language)?;
        let mut number = plain(value, decimals, 1);
        let is_ordinal = matches!(rest, "" | "st" | "nd" | "rd" | "th" | "s" | "o" | "a" | "º" | "ª");
        number.unit = (!is_ordinal).then(|| stem(rest, language));
        if let Some((joined, places, len)) = pulled_apart(lower, at, language).filter(|_| rest.is_empty()) {
            number = plain(joined, places, len);
        } else if is_ordinal
            && digits.len() == 4
            && (1500.0..2100.0).contains(&value)
            && decimals == 0
            && !is_measure(lower.get(at + 1))
            && measure_at(lower, at, at + 1, language).is_none_or(|measure| measure.name == "year")
        {
            number.unit = Some(YEAR.to_owned());
        }
        number
    } else {
        match language {
            Language::Zh => han_number(lower, at).map(|(value, len)| plain(value, 0, len))?,
            Language::En | Language::Pt => match ordinal(lower, at, language) {
                Some(place) => plain(place, 0, 1),
                None => spelled_number(lower, at, language).map(|(value, len)| plain(value, 0, len))?,
            },
        }
    };
    let is_word = !word.starts_with(|c: char| c.is_ascii_digit());
    number.is_small_word |= is_word && number.value <= 2.0;
    number.is_vague = is_word
        && match language {
            Language::En | Language::Pt => matches!(word, "one" | "um" | "uma") && number.len == 1,
            Language::Zh => number.value <= 2.0 && !han_counts(lower, at, at + number.len),
        };
    if word.len() < written.len() {
        number.value = -number.value;
    }
    // `5 million`, `150 mil`, `1.5万`.
    // An `m` is metres unless money is counted.
    let is_money = currency_before(lower, at).is_some();
    let counts = |word: &str| magnitude(word, language).filter(|_| word != "m" || is_money);
    if let Some(factor) = number.unit.as_deref().filter(|_| is_money).and_then(counts) {
        number.value *= factor;
        number.unit = None;
    }
    let mut last = 1.0;
    while let Some(factor) = lower.get(at + number.len).and_then(|next| counts(next)) {
        number.value *= factor;
        last = factor;
        number.decimals = 0;
        number.len += 1;
        if number.unit.as_deref() == Some(YEAR) {
            number.unit = None;
        }
    }
    while language == Language::Zh && 100.0 <= last {
        let Some((part, len)) = han_part(lower, at + number.len, last) else { break };
        number.value += part;
        number.len += len;
        last = part;
    }
    Some(number)
}

/// A number that a tokeniser pulled apart, `3, 000` or `2. 4`: its value, decimals and pieces. In English only, where lists are rarely so.
fn pulled_apart(lower: &[String], at: usize, language: Language) -> Option<(f64, u32, usize)> {
    let is_digits =
        |text: &&String| !text.is_empty() && text.len() <= 3 && text.bytes().all(|byte| byte.is_ascii_digit());
    let part = |at: usize, mark: &str| {
        lower.get(at).filter(|piece| *piece == mark).and_then(|_| lower.get(at + 1)).filter(is_digits)
    };
    let mut digits = lower.get(at).filter(is_digits).filter(|_| language == Language::En)?.clone();
    let mut len = 1;
    while let Some(group) = part(at + len, ",").filter(|group| group.len() == 3) {
        digits.push_str(group);
        len += 2;
    }
    let mut decimals = 0;
    if let Some(fraction) = part(at + len, ".") {
        digits.push('.');
        digits.push_str(fraction);
        decimals = u32::try_from(fraction.len()).unwrap_or(0);
        len += 2;
    }
    if len == 1 {
        return None;
    }
    digits.parse().ok().map(|value| (value, decimals, len))
}

/// Whether what follows four digits makes them a count, not a year; the units of measure are looked for beside.
fn is_measure(next: Option<&String>) -> bool {
    const COUNTED: [&str; 13] =
        ["mah", "w", "kw", "hz", "mb", "gb", "people", "users", "pessoas", "usuários", "requests", "points", "times"];
    next.is_some_and(|next| COUNTED.contains(&next.as_str()) || (next.starts_with(super::word::is_han) && next != "年"))
}

/// The value of digits with separators, and how many digits stand after the decimal point.
fn digits_value(digits: &str, language: Language) -> Option<(f64, u32)> {
    let (thousands, decimal) = match language {
        Language::En | Language::Zh => (',', '.'),
        Language::Pt => ('.', ','),
    };
    let is_grouped = |text: &str, mark: char| {
        let mut groups = text.split(mark);
        groups.next().is_some_and(|first| (1..=3).contains(&first.len())) && groups.all(|group| group.len() == 3)
    };
    let (whole, fraction) = match digits.rsplit_once(decimal) {
        Some((whole, fraction)) if !whole.contains(decimal) => (whole, fraction),
        Some(_) if is_grouped(digits, decimal) => (digits, ""),
        Some(_) => return None,
        None => (digits, ""),
    };
    let plain: String = if whole.contains(thousands) && !is_grouped(whole, thousands) {
        // `3.14` in a Portuguese text, `3,14` in an English one.
        let (whole, fraction) = digits.split_once(thousands)?;
        return format!("{whole}.{fraction}")
            .parse()
            .ok()
            .map(|value| (value, u32::try_from(fraction.len()).unwrap_or(0)));
    } else {
        whole.chars().filter(char::is_ascii_digit).collect()
    };
    let value = format!("{plain}.{}", if fraction.is_empty() { "0" } else { fraction }).parse().ok()?;
    Some((value, u32::try_from(fraction.len()).unwrap_or(0)))
}

/// What the number counts: the word after it.
fn unit(lower: &[String], number: &Number, language: Language) -> Option<String> {
    let next = lower.get(number.at + number.len)?.as_str();
    match next {
        "年" if 1000.0 <= number.value && number.value < 2100.0 => Some(YEAR.to_owned()),
        word if word.chars().all(char::is_alphabetic) && !is_stop_word(word, language) => Some(stem(word, language)),
        "个" | "個" => lower.get(number.at + number.len + 1).cloned(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, language: Language) -> Vec<(f64, Option<String>)> {
        numbers(&pieces(text), language).into_iter().map(|number| (number.value, number.unit)).collect()
    }

    #[test]
    fn numbers_are_read_in_each_language() {
        for (language, text, expected) in [
            (Language::En, "1,234.56 km", vec![(1234.56, Some("km"))]),
            (
                Language::En,
                "twenty-five users and two hundred and six keys",
                vec![(25.0, Some("user")), (206.0, Some("key"))],
            ),
            (Language::En, "$5 million in 2018", vec![(5e6, Some("$")), (2018.0, Some(YEAR))]),
            (Language::En, "20% or 400mg", vec![(20.0, Some("%")), (400.0, Some("mg"))]),
            (Language::Pt, "R$ 1.234,56 e 13,29 quilômetros", vec![(1234.56, Some("$")), (13.29, Some("quilômetr"))]),
            (Language::Pt, "150 mil veículos", vec![(150e3, Some("veícul"))]),
            (Language::Pt, "cento e vinte dias; 20 por cento", vec![(120.0, Some("dia")), (20.0, Some("%"))]),
            (Language::Pt, "2.75", vec![(2.75, None)]),
            (Language::Zh, "三十天", vec![(30.0, Some("天"))]),
            (Language::Zh, "三百亿元和1.5万人", vec![(3e10, Some("$")), (15e3, Some("人"))]),
            (Language::Zh, "二〇〇六年，2006年", vec![(2006.0, Some(YEAR)), (2006.0, Some(YEAR))]),
            (Language::Zh, "十本书，十分，周一，两百五十", vec![(10.0, Some("本")), (250.0, None)]),
            (Language::En, "no digits here", vec![]),
            (Language::En, "300 m of rope", vec![(300.0, Some("m"))]),
            (Language::En, "$300 m, €3bn and $5m", vec![(300e6, Some("$")), (3e9, Some("$")), (5e6, Some("$"))]),
            (Language::En, "3 million", vec![(3e6, None)]),
            (Language::En, "the second place, a second", vec![(2.0, Some("plac"))]),
            (Language::Pt, "300 m de corda", vec![(300.0, Some("m"))]),
            (Language::Pt, "o terceiro andar, segundo a empresa, na segunda-feira", vec![(3.0, Some("and"))]),
            (
                Language::Zh,
                "15000元，一万五千元，1万5千元",
                vec![(15e3, Some("$")), (15e3, Some("$")), (15e3, Some("$"))],
            ),
            (
                Language::Zh,
                "一万五，一百零五，一百五，二十五",
                vec![(15e3, None), (105.0, None), (150.0, None), (25.0, None)],
            ),
        ] {
            let expected: Vec<_> = expected.into_iter().map(|(value, unit)| (value, unit.map(str::to_owned))).collect();
            assert_eq!(read(text, language), expected, "{text:?}");
        }
    }

    #[test]
    fn rounded_and_open_numbers_agree() {
        for (language, claim, evidence, agree) in [
            (Language::Pt, "mais de 13 km", "13,29 km", true),
            (Language::Pt, "mais de 13 km", "12,9 km", false),
            (Language::En, "about 100 days", "97 days", true),
            (Language::En, "100 days", "97 days", false),
            (Language::En, "13 km", "13.29 km", true),
            (Language::En, "14 km", "13.29 km", false),
            (Language::Zh, "超过三十天", "31天", true),
            (Language::En, "1,200 mg", "1200 mg", true),
        ] {
            let number = |text: &str| numbers(&pieces(text), language).remove(0);
            assert_eq!(number(claim).agrees_with(&number(evidence)), agree, "{claim:?} by {evidence:?}");
        }
    }
}
