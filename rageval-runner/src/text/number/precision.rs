//! How a number is meant, by the words before it.

use super::Precision;
use crate::model::Language;

pub(super) fn precision(lower: &[String], at: usize, language: Language) -> Precision {
    let from = at.saturating_sub(4);
    let before = lower[from..at].join(if language == Language::Zh { "" } else { " " });
    let before = before.trim_end_matches(['$', '€', '£', '¥', ' ']).trim_end_matches(" r").trim_end_matches(" us");
    let ends = |phrases: &[&str]| phrases.iter().any(|phrase| before.ends_with(phrase));
    match language {
        Language::En
            if ends(&[
                "no more than",
                "not more than",
                "up to",
                "at most",
                "maximum of",
                "under",
                "less than",
                "fewer than",
                "below",
                "nearly",
                "almost",
                "within",
            ]) =>
        {
            Precision::AtMost
        }
        Language::En if ends(&["more than", "over", "at least", "above", "exceeding", "minimum of", "upwards of"]) => {
            Precision::AtLeast
        }
        Language::En if ends(&["about", "around", "approximately", "roughly", "some", "circa", "approx"]) => {
            Precision::About
        }
        Language::Pt
            if ends(&[
                "até",
                "no máximo",
                "menos de",
                "máximo de",
                "abaixo de",
                "quase",
                "não mais que",
                "não mais de",
            ]) =>
        {
            Precision::AtMost
        }
        Language::Pt
            if ends(&["mais de", "pelo menos", "no mínimo", "acima de", "mínimo de", "superior a", "ao menos"]) =>
        {
            Precision::AtLeast
        }
        Language::Pt
            if ends(&["cerca de", "aproximadamente", "em torno de", "por volta de", "uns", "umas", "perto de"]) =>
        {
            Precision::About
        }
        Language::Zh if ends(&["最多", "不超过", "至多", "不到", "低于", "少于", "近", "将近", "以内"]) => {
            Precision::AtMost
        }
        Language::Zh if ends(&["超过", "至少", "多于", "高于", "大于", "逾", "不少于", "最少", "达"]) => {
            Precision::AtLeast
        }
        Language::Zh if ends(&["约", "大约", "大概", "左右", "約", "大約"]) => Precision::About,
        Language::En | Language::Pt | Language::Zh => Precision::Exact,
    }
}
