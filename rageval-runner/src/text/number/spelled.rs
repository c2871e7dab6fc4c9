//! Numbers in words: `twenty-five`, `cento e vinte`, `三十`, and the magnitudes behind digits.

use crate::model::Language;

pub(super) fn magnitude(word: &str, language: Language) -> Option<f64> {
    let factor = match (language, word) {
        (Language::En, "hundred") => 1e2,
        (Language::En, "thousand" | "k") | (Language::Pt, "mil") => 1e3,
        (Language::En, "million" | "millions" | "m" | "mn") | (Language::Pt, "milhão" | "milhões") => 1e6,
        (Language::En, "billion" | "billions" | "bn") | (Language::Pt, "bilhão" | "bilhões") => 1e9,
        (Language::En, "trillion") | (Language::Pt, "trilhão" | "trilhões") => 1e12,
        (Language::Zh, "百") => 1e2,
        (Language::Zh, "千") => 1e3,
        (Language::Zh, "万" | "萬") => 1e4,
        (Language::Zh, "亿" | "億") => 1e8,
        _ => return None,
    };
    Some(factor)
}

/// A number in words and how many pieces it takes: `twenty-five`, `two hundred and six`, `cento e vinte`.
pub(super) fn spelled_number(lower: &[String], at: usize, language: Language) -> Option<(f64, usize)> {
    let value_of = |word: &str| {
        let words = if language == Language::Pt { PORTUGUESE } else { ENGLISH };
        words.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
    };
    let first = value_of(&lower[at])?;
    if lower[at] == "cento" && at.checked_sub(1).is_some_and(|before| lower[before] == "por") {
        return None;
    }
    let (mut current, mut len, mut last) = (first, 1, first);
    loop {
        let joined = lower.get(at + len).is_some_and(|word| matches!(word.as_str(), "-" | "and" | "e"));
        let next_at = at + len + usize::from(joined);
        let Some(next) = lower.get(next_at).map(String::as_str) else { break };
        match (next, value_of(next)) {
            ("hundred", _) if !joined && language == Language::En => current *= 100.0,
            // Only smaller parts continue a number: `twenty-five`, `cento e vinte`, but not `five six`.
            (_, Some(value))
                if value < last && 20.0 <= last && (joined || 100.0 <= last || language == Language::En) =>
            {
                current += value;
                last = value;
            }
            _ => break,
        }
        if next == "hundred" {
            last = 100.0;
        }
        len = next_at + 1 - at;
    }
    Some((current, len))
}

/// A Chinese numeral and how many characters it takes: `三十`, `二〇〇六`, `两百五十`.
pub(super) fn han_number(lower: &[String], at: usize) -> Option<(f64, usize)> {
    let digit = |text: &str| {
        "〇一二三四五六七八九".chars().position(|c| text.starts_with(c)).or(match text {
            "零" => Some(0),
            "两" | "兩" => Some(2),
            _ => None,
        })
    };
    let unit = |text: &str| match text {
        "十" => Some(10.0),
        "百" => Some(100.0),
        "千" => Some(1_000.0),
        _ => None,
    };
    if at
        .checked_sub(1)
        .and_then(|before| lower.get(before))
        .is_some_and(|before| matches!(before.as_str(), "周" | "期" | "拜" | "週" | "万" | "统" | "唯"))
    {
        return None;
    }
    let (mut section, mut current, mut len, mut seen, mut units) = (0.0, 0.0, 0usize, 0usize, 0usize);
    let mut positional = String::new();
    while let Some(text) = lower.get(at + len).map(String::as_str) {
        if let Some(value) = digit(text) {
            current = f64::from(u32::try_from(value).unwrap_or(0));
            positional.push(char::from_digit(u32::try_from(value).unwrap_or(0), 10).unwrap_or('0'));
            seen += 1;
        } else if let Some(factor) = unit(text).filter(|_| 0 < seen || text == "十") {
            section +=
                if seen == 0 && section == 0.0 { factor } else { current.max(f64::from(u8::from(seen == 0))) * factor };
            current = 0.0;
            units += 1;
        } else {
            break;
        }
        len += 1;
    }
    let next = lower.get(at + len).map(String::as_str);
    match (seen, units) {
        (0, 0) => None,
        // `十分` is "very".
        (0, _) if next == Some("分") => None,
        (2.., 0) => positional.parse().ok().map(|value: f64| (value, len)),
        _ => Some((section + current, len)),
    }
}

const ENGLISH: &[(&str, f64)] = &[
    ("zero", 0.0),
    ("one", 1.0),
    ("single", 1.0),
    ("once", 1.0),
    ("two", 2.0),
    ("twice", 2.0),
    ("three", 3.0),
    ("four", 4.0),
    ("five", 5.0),
    ("six", 6.0),
    ("seven", 7.0),
    ("eight", 8.0),
    ("nine", 9.0),
    ("ten", 10.0),
    ("eleven", 11.0),
    ("twelve", 12.0),
    ("thirteen", 13.0),
    ("fourteen", 14.0),
    ("fifteen", 15.0),
    ("sixteen", 16.0),
    ("seventeen", 17.0),
    ("eighteen", 18.0),
    ("nineteen", 19.0),
    ("twenty", 20.0),
    ("thirty", 30.0),
    ("forty", 40.0),
    ("fifty", 50.0),
    ("sixty", 60.0),
    ("seventy", 70.0),
    ("eighty", 80.0),
    ("ninety", 90.0),
];

const PORTUGUESE: &[(&str, f64)] = &[
    ("zero", 0.0),
    ("um", 1.0),
    ("uma", 1.0),
    ("única", 1.0),
    ("único", 1.0),
    ("dois", 2.0),
    ("duas", 2.0),
    ("três", 3.0),
    ("quatro", 4.0),
    ("cinco", 5.0),
    ("seis", 6.0),
    ("sete", 7.0),
    ("oito", 8.0),
    ("nove", 9.0),
    ("dez", 10.0),
    ("onze", 11.0),
    ("doze", 12.0),
    ("treze", 13.0),
    ("quatorze", 14.0),
    ("catorze", 14.0),
    ("quinze", 15.0),
    ("dezesseis", 16.0),
    ("dezasseis", 16.0),
    ("dezessete", 17.0),
    ("dezassete", 17.0),
    ("dezoito", 18.0),
    ("dezenove", 19.0),
    ("dezanove", 19.0),
    ("vinte", 20.0),
    ("trinta", 30.0),
    ("quarenta", 40.0),
    ("cinquenta", 50.0),
    ("sessenta", 60.0),
    ("setenta", 70.0),
    ("oitenta", 80.0),
    ("noventa", 90.0),
    ("cem", 100.0),
    ("cento", 100.0),
    ("duzentos", 200.0),
    ("duzentas", 200.0),
    ("trezentos", 300.0),
    ("trezentas", 300.0),
    ("quatrocentos", 400.0),
    ("quinhentos", 500.0),
    ("seiscentos", 600.0),
    ("setecentos", 700.0),
    ("oitocentos", 800.0),
    ("novecentos", 900.0),
    ("mil", 1000.0),
];
