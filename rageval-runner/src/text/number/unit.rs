//! Units of measure from a closed list, so that `30 days` is not taken for `30 weeks`, nor `$5` for `€5`.

use std::{collections::HashMap, sync::LazyLock};

use crate::model::Language;

/// What a unit measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimension {
    /// Seconds to centuries.
    Time,
    /// A currency.
    Money,
    /// Millimetres to miles.
    Length,
    /// Milligrams to tonnes.
    Weight,
    /// Millilitres and litres.
    Volume,
    /// Percent.
    Share,
    /// Degrees.
    Temperature,
}

/// A unit of the closed list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measure {
    /// What it measures.
    pub dimension: Dimension,
    /// Its name, the same in every language: `week`, `usd`, `°c`.
    pub name: &'static str,
    /// How many of the dimension's smallest unit one of it is; `None` where that is not fixed (months, currencies, degrees).
    pub factor: Option<f64>,
}

impl Measure {
    /// Whether two names may mean one unit: equal, or one leaves open what the other says (`°` and `°C`, `¥` and yuan).
    pub fn may_be(&self, other: &Self) -> bool {
        let pair =
            |one: &str, two: &str| (self.name == one && other.name == two) || (self.name == two && other.name == one);
        self.name == other.name || OPEN.iter().any(|(one, two)| pair(one, two))
    }
}

/// Names that leave open which of several units is meant, each with what it may be.
const OPEN: &[(&str, &str)] = &[
    ("°", "°c"),
    ("°", "°f"),
    ("¥", "cny"),
    ("¥", "jpy"),
    ("cny", "twd"),
    ("cny", "hkd"),
    ("pound", "gbp"),
    ("pound", "lb"),
];

/// The unit of a number whose pieces are `from..to`, glued to it, right behind it, or a currency right before it.
pub(super) fn measure_at(lower: &[String], from: usize, to: usize, language: Language) -> Option<Measure> {
    let last = lower.get(to.checked_sub(1)?)?;
    let glued = last.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '-'));
    let is_digits = last.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
    if let Some(currency) = currency_before(lower, from) {
        return Some(currency);
    }
    if is_digits && !glued.is_empty() {
        return named(glued, language);
    }
    behind(lower, to, language)
}

/// The currency whose sign or code ends right before a piece.
pub(super) fn currency_before(lower: &[String], at: usize) -> Option<Measure> {
    let before = lower.get(at.checked_sub(1)?)?.trim_start_matches('-');
    if before == "$" {
        let country = at.checked_sub(2).and_then(|at| lower.get(at)).map_or("", |text| text.trim_start_matches('-'));
        let name = match country {
            "r" => "brl",
            "a" | "au" => "aud",
            "c" | "ca" => "cad",
            "hk" => "hkd",
            "nt" => "twd",
            "mx" => "mxn",
            "s" | "sg" => "sgd",
            _ => "usd",
        };
        return Some(Measure { dimension: Dimension::Money, name, factor: None });
    }
    if matches!(before, "€" | "£" | "¥" | "usd" | "eur" | "gbp" | "brl" | "cny" | "rmb" | "jpy" | "hkd" | "twd") {
        return named(before, Language::En);
    }
    None
}

/// The unit that begins at a piece, past a hyphen (`30-day`) and a Chinese measure word (`个`).
fn behind(lower: &[String], at: usize, language: Language) -> Option<Measure> {
    let skipped = match (lower.get(at).map(String::as_str)?, language) {
        ("-", _) => 1,
        ("个" | "個" | "多" | "余" | "餘" | "来" | "來" | "几", Language::Zh) => {
            let more = matches!(lower.get(at + 1).map(String::as_str), Some("个" | "個"));
            1 + usize::from(more)
        }
        _ => 0,
    };
    let at = at + skipped;
    let word = lower.get(at)?.as_str();
    let next = |step: usize| lower.get(at + step).map_or("", String::as_str);
    let degrees = |name| Some(Measure { dimension: Dimension::Temperature, name, factor: None });
    match word {
        "°" | "degrees" | "degree" | "graus" | "grau" => {
            return match next(1) {
                "c" | "celsius" | "centigrade" | "centígrados" | "centígrado" => degrees("°c"),
                "f" | "fahrenheit" => degrees("°f"),
                _ => degrees("°"),
            };
        }
        "por" if next(1) == "cento" => return named("%", language),
        "r" | "us" if next(1) == "$" => return named(if word == "r" { "reais" } else { "usd" }, Language::Pt),
        _ => {}
    }
    if word.starts_with(super::super::word::is_han) {
        // The longest name wins: `毫米` over `毫`, `小时` over nothing.
        return (1..=3)
            .rev()
            .filter_map(|len| lower.get(at..at + len))
            .find_map(|pieces| named(&pieces.concat(), Language::Zh));
    }
    named(word, language)
}

/// The unit of a name, with its plural forms and symbols.
fn named(word: &str, language: Language) -> Option<Measure> {
    static COMMON_UNITS: LazyLock<Units> = LazyLock::new(|| read(COMMON));
    static ENGLISH_UNITS: LazyLock<Units> = LazyLock::new(|| read(ENGLISH));
    static PORTUGUESE_UNITS: LazyLock<Units> = LazyLock::new(|| read(PORTUGUESE));
    static CHINESE_UNITS: LazyLock<Units> = LazyLock::new(|| read(CHINESE));
    let own = match language {
        Language::En => &*ENGLISH_UNITS,
        Language::Pt => &*PORTUGUESE_UNITS,
        Language::Zh => &*CHINESE_UNITS,
    };
    COMMON_UNITS.get(word).or_else(|| own.get(word)).copied()
}

type Units = HashMap<&'static str, Measure>;
/// Names, the unit's own name, what it measures, and its factor; 0 where it has none.
type Row = (&'static str, &'static str, Dimension, f64);

fn read(rows: &[Row]) -> Units {
    rows.iter()
        .flat_map(|(names, name, dimension, factor)| {
            let measure = Measure { dimension: *dimension, name, factor: Some(*factor).filter(|factor| 0.0 < *factor) };
            names.split(' ').map(move |name| (name, measure))
        })
        .collect()
}

const COMMON: &[Row] = &[
    ("s sec secs", "second", Dimension::Time, 1.0),
    ("min mins", "minute", Dimension::Time, 60.0),
    ("h hr hrs", "hour", Dimension::Time, 3_600.0),
    ("mm", "mm", Dimension::Length, 1.0),
    ("cm", "cm", Dimension::Length, 10.0),
    ("m", "m", Dimension::Length, 1_000.0),
    ("km", "km", Dimension::Length, 1e6),
    ("ft", "foot", Dimension::Length, 304.8),
    ("mi", "mile", Dimension::Length, 1_609_344.0),
    ("mg", "mg", Dimension::Weight, 1.0),
    ("g", "g", Dimension::Weight, 1e3),
    ("kg", "kg", Dimension::Weight, 1e6),
    ("t", "t", Dimension::Weight, 1e9),
    ("lb lbs", "lb", Dimension::Weight, 0.0),
    ("oz", "oz", Dimension::Weight, 0.0),
    ("ml", "ml", Dimension::Volume, 1.0),
    ("l", "l", Dimension::Volume, 1e3),
    ("%", "%", Dimension::Share, 0.0),
    ("°c oc", "°c", Dimension::Temperature, 0.0),
    ("°f", "°f", Dimension::Temperature, 0.0),
    ("$ usd", "usd", Dimension::Money, 0.0),
    ("€ eur", "eur", Dimension::Money, 0.0),
    ("£ gbp", "gbp", Dimension::Money, 0.0),
    ("¥", "¥", Dimension::Money, 0.0),
    ("brl", "brl", Dimension::Money, 0.0),
    ("cny rmb", "cny", Dimension::Money, 0.0),
    ("jpy", "jpy", Dimension::Money, 0.0),
    ("hkd", "hkd", Dimension::Money, 0.0),
    ("twd", "twd", Dimension::Money, 0.0),
];

const ENGLISH: &[Row] = &[
    ("second seconds", "second", Dimension::Time, 1.0),
    ("minute minutes", "minute", Dimension::Time, 60.0),
    ("hour hours", "hour", Dimension::Time, 3_600.0),
    ("day days", "day", Dimension::Time, 86_400.0),
    ("week weeks", "week", Dimension::Time, 604_800.0),
    ("fortnight fortnights", "fortnight", Dimension::Time, 1_209_600.0),
    ("month months", "month", Dimension::Time, 0.0),
    ("year years yr yrs", "year", Dimension::Time, 0.0),
    ("decade decades", "decade", Dimension::Time, 0.0),
    ("century centuries", "century", Dimension::Time, 0.0),
    ("millimetre millimetres millimeter millimeters", "mm", Dimension::Length, 1.0),
    ("centimetre centimetres centimeter centimeters", "cm", Dimension::Length, 10.0),
    ("metre metres meter meters", "m", Dimension::Length, 1_000.0),
    ("kilometre kilometres kilometer kilometers", "km", Dimension::Length, 1e6),
    ("inch inches", "inch", Dimension::Length, 25.4),
    ("foot feet", "foot", Dimension::Length, 304.8),
    ("yard yards", "yard", Dimension::Length, 914.4),
    ("mile miles", "mile", Dimension::Length, 1_609_344.0),
    ("milligram milligrams", "mg", Dimension::Weight, 1.0),
    ("gram grams gramme grammes", "g", Dimension::Weight, 1e3),
    ("kilogram kilograms kilo kilos", "kg", Dimension::Weight, 1e6),
    ("tonne tonnes", "t", Dimension::Weight, 1e9),
    ("ounce ounces", "oz", Dimension::Weight, 0.0),
    ("pound pounds", "pound", Dimension::Money, 0.0),
    ("millilitre millilitres milliliter milliliters", "ml", Dimension::Volume, 1.0),
    ("litre litres liter liters", "l", Dimension::Volume, 1e3),
    ("percent pct", "%", Dimension::Share, 0.0),
    ("celsius", "°c", Dimension::Temperature, 0.0),
    ("fahrenheit", "°f", Dimension::Temperature, 0.0),
    ("dollar dollars", "usd", Dimension::Money, 0.0),
    ("cent cents", "cent", Dimension::Money, 0.0),
    ("euro euros", "eur", Dimension::Money, 0.0),
    ("reais", "brl", Dimension::Money, 0.0),
    ("yuan renminbi", "cny", Dimension::Money, 0.0),
    ("yen", "jpy", Dimension::Money, 0.0),
];

const PORTUGUESE: &[Row] = &[
    ("segundo segundos", "second", Dimension::Time, 1.0),
    ("minuto minutos", "minute", Dimension::Time, 60.0),
    ("hora horas", "hour", Dimension::Time, 3_600.0),
    ("dia dias", "day", Dimension::Time, 86_400.0),
    ("semana semanas", "week", Dimension::Time, 604_800.0),
    ("quinzena quinzenas", "quinzena", Dimension::Time, 0.0),
    ("mês meses", "month", Dimension::Time, 0.0),
    ("ano anos", "year", Dimension::Time, 0.0),
    ("década décadas", "decade", Dimension::Time, 0.0),
    ("século séculos", "century", Dimension::Time, 0.0),
    ("milímetro milímetros", "mm", Dimension::Length, 1.0),
    ("centímetro centímetros", "cm", Dimension::Length, 10.0),
    ("metro metros", "m", Dimension::Length, 1_000.0),
    ("quilômetro quilômetros quilómetro quilómetros", "km", Dimension::Length, 1e6),
    ("polegada polegadas", "inch", Dimension::Length, 25.4),
    ("pé pés", "foot", Dimension::Length, 304.8),
    ("milha milhas", "mile", Dimension::Length, 1_609_344.0),
    ("miligrama miligramas", "mg", Dimension::Weight, 1.0),
    ("grama gramas", "g", Dimension::Weight, 1e3),
    ("quilo quilos quilograma quilogramas kilo kilos", "kg", Dimension::Weight, 1e6),
    ("tonelada toneladas", "t", Dimension::Weight, 1e9),
    ("onça onças", "oz", Dimension::Weight, 0.0),
    ("libra libras", "pound", Dimension::Money, 0.0),
    ("mililitro mililitros", "ml", Dimension::Volume, 1.0),
    ("litro litros", "l", Dimension::Volume, 1e3),
    ("dólar dólares", "usd", Dimension::Money, 0.0),
    ("centavo centavos cêntimo cêntimos", "cent", Dimension::Money, 0.0),
    ("euro euros", "eur", Dimension::Money, 0.0),
    ("real reais", "brl", Dimension::Money, 0.0),
    ("iene ienes", "jpy", Dimension::Money, 0.0),
];

/// `日`, `月`, `分` and `点` alone are left out: they are dates, points and hours of the clock as often.
const CHINESE: &[Row] = &[
    ("秒 秒钟 秒鐘", "second", Dimension::Time, 1.0),
    ("分钟 分鐘", "minute", Dimension::Time, 60.0),
    ("小时 小時 钟头", "hour", Dimension::Time, 3_600.0),
    ("天", "day", Dimension::Time, 86_400.0),
    ("周 週 星期 礼拜 禮拜", "week", Dimension::Time, 604_800.0),
    ("个月 個月 月份", "month", Dimension::Time, 0.0),
    ("年", "year", Dimension::Time, 0.0),
    ("世纪 世紀", "century", Dimension::Time, 0.0),
    ("毫米", "mm", Dimension::Length, 1.0),
    ("厘米 公分", "cm", Dimension::Length, 10.0),
    ("米 公尺", "m", Dimension::Length, 1_000.0),
    ("公里 千米", "km", Dimension::Length, 1e6),
    ("英寸 英吋", "inch", Dimension::Length, 25.4),
    ("英尺 英呎", "foot", Dimension::Length, 304.8),
    ("英里 英哩", "mile", Dimension::Length, 1_609_344.0),
    ("里", "li", Dimension::Length, 5e5),
    ("毫克", "mg", Dimension::Weight, 1.0),
    ("克 公克", "g", Dimension::Weight, 1e3),
    ("斤", "jin", Dimension::Weight, 5e5),
    ("公斤 千克", "kg", Dimension::Weight, 1e6),
    ("吨 噸 公吨", "t", Dimension::Weight, 1e9),
    ("磅", "lb", Dimension::Weight, 0.0),
    ("毫升", "ml", Dimension::Volume, 1.0),
    ("升 公升", "l", Dimension::Volume, 1e3),
    ("度", "°", Dimension::Temperature, 0.0),
    ("摄氏度 攝氏度", "°c", Dimension::Temperature, 0.0),
    ("华氏度 華氏度", "°f", Dimension::Temperature, 0.0),
    ("元 块 塊 圆 人民币", "cny", Dimension::Money, 0.0),
    ("美元 美金", "usd", Dimension::Money, 0.0),
    ("欧元 歐元", "eur", Dimension::Money, 0.0),
    ("英镑 英鎊", "gbp", Dimension::Money, 0.0),
    ("日元 日圆 日圓", "jpy", Dimension::Money, 0.0),
    ("港元 港币 港幣", "hkd", Dimension::Money, 0.0),
    ("新台币 新臺幣", "twd", Dimension::Money, 0.0),
    ("雷亚尔", "brl", Dimension::Money, 0.0),
];
