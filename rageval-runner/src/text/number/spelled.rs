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
    if at
        .checked_sub(1)
        .and_then(|before| lower.get(before))
        .is_some_and(|before| matches!(before.as_str(), "周" | "期" | "拜" | "週" | "万" | "统" | "唯"))
    {
        return None;
    }
    han_value(lower, at)
}

/// What may follow `万`, `千` and the like within one number: `一万五千`, `1万5千`, `1万5000`, and `一万五` for 15,000. Less than `last`.
pub(super) fn han_part(lower: &[String], at: usize, last: f64) -> Option<(f64, usize)> {
    let first = lower.get(at)?;
    let (mut value, mut len) = if !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_digit()) {
        (first.parse().ok()?, 1)
    } else {
        han_value(lower, at)?
    };
    let is_bare_digit = len == 1 && first.starts_with(super::super::word::is_han) && value < 10.0;
    match lower.get(at + len).and_then(|next| magnitude(next, Language::Zh)) {
        Some(factor) => {
            value *= factor;
            len += 1;
        }
        None if is_bare_digit => value *= last / 10.0,
        None => {}
    }
    (0.0 < value && value < last).then_some((value, len))
}

/// Whether `一`, `二`, `两` of one number count something: after `第`, or before a word that is counted.
pub(super) fn han_counts(lower: &[String], at: usize, end: usize) -> bool {
    let is_first = lower[at] == "一";
    let next = lower.get(end).map_or("", String::as_str);
    let after = lower.get(end + 1).map_or("", String::as_str);
    let is_ordinal = at.checked_sub(1).is_some_and(|before| lower[before] == "第");
    let is_dated = "月日号號名次楼樓年季届屆期章条條天周週岁歲".contains(next) && !next.is_empty();
    let is_unit = matches!((next, after), ("小" | "分" | "公" | "星", "时" | "時" | "钟" | "鐘" | "里" | "斤" | "期"));
    let is_counted = !is_first
        && !next.is_empty()
        && "个個本人位只隻张張件台臺辆輛部种種家条條元块塊米克吨斤倍层層所座".contains(next);
    is_ordinal || is_dated || is_unit || is_counted
}

/// The value of an ordinal that stands before what it counts: `second place`, `terceiro andar`. `None` for `a second`, `30 second`,
/// `segundo a empresa`, `na segunda-feira`.
pub(super) fn ordinal(lower: &[String], at: usize, language: Language) -> Option<f64> {
    let word = lower.get(at)?.as_str();
    let before = at.checked_sub(1).map_or("", |before| lower[before].as_str());
    let joined = usize::from(language == Language::En && lower.get(at + 1).is_some_and(|next| next == "-"));
    let next = lower.get(at + 1 + joined)?.as_str();
    let is_noun = next.chars().all(char::is_alphabetic) && !super::is_stop_word(next, language);
    let follows_number = before.starts_with(|c: char| c.is_ascii_digit())
        || (!before.is_empty() && spelled_number(lower, at - 1, language).is_some());
    if !is_noun || follows_number {
        return None;
    }
    let place = match language {
        Language::En if word == "second" && matches!(before, "a" | "per" | "every" | "each" | "split" | "-") => {
            return None;
        }
        Language::En => ENGLISH_ORDINALS.iter().position(|name| *name == word)? + 1,
        Language::Pt => {
            // `quarto` is a room too, `segundo` also "according to".
            if word == "quarto" && !PORTUGUESE_COUNTED.contains(&next) {
                return None;
            }
            if word == "segundo" && !is_determiner(before) && !PORTUGUESE_COUNTED.contains(&next) {
                return None;
            }
            let stem = word.trim_end_matches('s');
            let stem = stem.strip_suffix(['o', 'a'])?;
            PORTUGUESE_ORDINALS.iter().position(|name| *name == stem)? + 1
        }
        Language::Zh => return None,
    };
    u32::try_from(place).ok().map(f64::from)
}

fn is_determiner(word: &str) -> bool {
    matches!(
        word,
        "o" | "no" | "do" | "ao" | "pelo" | "um" | "num" | "seu" | "meu" | "este" | "esse" | "em" | "os" | "dos"
    )
}

const ENGLISH_ORDINALS: &[&str] = &[
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth",
];
const PORTUGUESE_ORDINALS: &[&str] =
    &["primeir", "segund", "terceir", "quart", "quint", "sext", "sétim", "oitav", "non", "décim"];
const PORTUGUESE_COUNTED: &[&str] = &[
    "lugar",
    "dia",
    "mês",
    "ano",
    "trimestre",
    "semestre",
    "capítulo",
    "andar",
    "século",
    "filho",
    "grau",
    "nível",
    "turno",
    "aviso",
];

fn han_value(lower: &[String], at: usize) -> Option<(f64, usize)> {
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
    // `一百五` is 150, `一百零五` is 105: the unit before the last digit, unless a zero stands between.
    let mut last_unit = 1.0;
    let (mut section, mut current, mut len, mut seen, mut units) = (0.0, 0.0, 0usize, 0usize, 0usize);
    let mut positional = String::new();
    while let Some(text) = lower.get(at + len).map(String::as_str) {
        if let Some(value) = digit(text) {
            current = f64::from(u32::try_from(value).unwrap_or(0));
            if value == 0 {
                last_unit = 10.0;
            }
            positional.push(char::from_digit(u32::try_from(value).unwrap_or(0), 10).unwrap_or('0'));
            seen += 1;
        } else if let Some(factor) = unit(text).filter(|_| 0 < seen || text == "十") {
            section +=
                if seen == 0 && section == 0.0 { factor } else { current.max(f64::from(u8::from(seen == 0))) * factor };
            current = 0.0;
            last_unit = factor;
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
        (_, 0) => Some((current, len)),
        _ => Some((section + current * (last_unit / 10.0), len)),
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
