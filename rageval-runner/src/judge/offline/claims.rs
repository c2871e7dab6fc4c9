//! Finds what a sentence claims, if anything.

use std::sync::LazyLock;

use regex::Regex;

use crate::{
    model::Language,
    text::{normal::pattern, normalise, number, sentence::without_marker, stop::is_stop_word, words},
};

/// The claims of a sentence, as they stand in it: the sentence, or its clauses where each has its own subject. None for a question, a
/// greeting, a closing phrase, a heading, and a sentence of function words alone.
pub(super) fn claims(sentence: &str, language: Language) -> Vec<&str> {
    let text = without_marker(sentence.trim()).trim();
    if says_nothing(text, language) {
        return Vec::new();
    }
    let mut claims: Vec<&str> = Vec::new();
    let mut from = 0;
    let joint = match language {
        Language::En => &*ENGLISH_JOINT,
        Language::Pt => &*PORTUGUESE_JOINT,
        Language::Zh => &*CHINESE_JOINT,
    };
    for found in joint.find_iter(text) {
        // Of two joints in a row (`；；`) the first took the second with it.
        if found.start() < from {
            continue;
        }
        let (one, other) = (text[from..found.start()].trim(), &text[found.start()..]);
        // The joint itself may hold the next clause's first word, which belongs to that clause.
        let next = other.trim_start_matches([',', ';', '；', ' ']);
        let next_at = text.len() - next.len();
        let next = next.strip_prefix("and ").or_else(|| next.strip_prefix("e ")).unwrap_or(next);
        let next_at = next_at.max(text.len() - next.len());
        if is_clause(one, language) && is_clause(next, language) {
            claims.push(one);
            from = next_at;
        }
    }
    claims.push(text[from..].trim());
    claims
}

fn is_clause(text: &str, language: Language) -> bool {
    3 <= words(text, language).len()
}

static ENGLISH_JOINT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"; |, and (?:the|a|an|it|they|he|she|we|you|this|these|that|there) "));
static PORTUGUESE_JOINT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"; |, e (?:o|a|os|as|ele|ela|eles|elas|este|esta|isso|há) "));
static CHINESE_JOINT: LazyLock<Regex> = LazyLock::new(|| pattern("[;；]"));

/// Whether a sentence is no answer to anything, even alone: it asks, greets, closes, offers, or has neither letter nor digit.
pub(super) fn is_empty_talk(sentence: &str) -> bool {
    let normal = normalise(sentence);
    let bare = normal.trim_end_matches(['"', '\'', ')', '*', '」', '』', ' ']);
    bare.ends_with(['?', '？']) || TALK.is_match(bare) || !bare.chars().any(char::is_alphanumeric)
}

/// The first text that has a sentence's words one after the other, as they stand: how a text of function words alone is compared (`The
/// Who`). A word of one letter must have the same case, so that the answer `A` is no article.
pub(super) fn text_with(sentence: &str, texts: &[String], language: Language) -> Option<usize> {
    let wanted = words(sentence, language);
    if wanted.is_empty() || LITERAL_WORDS < wanted.len() {
        return None;
    }
    let is_same = |(one, other): (&&str, &&str)| match one.chars().count() {
        1 => one == other,
        _ => normalise(one) == normalise(other),
    };
    texts.iter().position(|text| {
        words(text, language).windows(wanted.len()).any(|window| window.iter().zip(&wanted).all(is_same))
    })
}

/// Longer texts are not compared word by word: bounds the work.
const LITERAL_WORDS: usize = 32;

/// Whether a sentence asks, greets, closes, offers, or only names a section.
fn says_nothing(text: &str, language: Language) -> bool {
    let normal = normalise(text);
    let bare = normal.trim_end_matches(['"', '\'', ')', '*', '」', '』', ' ']);
    let pieces = words(&normal, language);
    let is_long = match language {
        Language::En | Language::Pt => 12 < pieces.len(),
        Language::Zh => 24 < pieces.len(),
    };
    bare.ends_with(['?', '？'])
        || (bare.ends_with([':', '：']) && !is_long)
        || (text.starts_with('#') && !text.contains(['.', '。']))
        || TALK.is_match(bare)
        || HEADING.is_match(bare)
        || pieces.iter().all(|word| is_stop_word(word, language) && yes_or_no(word).is_none())
}

static TALK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?:hello|hi|hey|dear [\w ]{1,30}|good (?:morning|afternoon|evening)|thanks?(?: you)?|you're welcome|sure|certainly|of course|great question)\b[^.]{0,40}[.!,]*$",
        r"|^(?:i hope (?:this|that) helps|hope (?:this|that) helps|(?:please )?(?:let me know|feel free)|if you (?:have|need) (?:any |more |further )?(?:other |more |further )?(?:questions|help|assistance)|(?:i'm |i am )?happy to help|is there anything else)\b.{0,120}$",
        r"|^(?:olá|oi|bom dia|boa tarde|boa noite|obrigad[oa]|de nada|claro|com certeza|prezad[oa])\b[^.]{0,40}[.!,]*$",
        r"|^(?:espero (?:ter ajudado|que (?:isso|isto) ajude)|fico à disposição|estou à disposição|se (?:você )?(?:tiver|precisar)[^.]{0,30}(?:dúvidas?|ajuda|perguntas?)|qualquer dúvida)\b.{0,120}$",
        r"|^(?:您好|你好|感谢|谢谢|不客气|好的|当然)[^。]{0,16}[。!！,，]*$",
        r"|^(?:希望(?:这|以上|对|能|可以)[^。]{0,20}(?:帮助|帮到|有用)|如(?:果|有)?[^。]{0,14}(?:问题|疑问|需要)[^。]{0,30}|祝(?:您|你)[^。]{0,16})[。!！]*$",
    ))
});
static HEADING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        "^(?:sources?|references?|summary|answer|note|fontes?|referências?|resumo|resposta|nota|来源|参考|总结|答案|注)[:：]?$",
    )
});

/// Whether a text begins with yes (`Some(true)`) or no (`Some(false)`).
pub(super) fn yes_or_no(text: &str) -> Option<bool> {
    let normal = normalise(text);
    let first: String =
        normal.chars().take_while(|c| !matches!(c, ',' | '.' | '!' | ' ' | ';' | ':' | '，' | '。')).collect();
    match first.as_str() {
        "yes" | "yeah" | "sim" | "是" | "是的" | "可以" | "能" | "会" | "有" | "对" => Some(true),
        "no" | "nope" | "不是" | "不可以" | "不能" | "不会" | "不行" | "没有" | "否" | "不" => {
            Some(false)
        }
        // `Não` alone or before a comma; `Não há limite` is no answer to yes or no.
        "não" if normal.chars().nth(3).is_none_or(|c| matches!(c, ',' | '.' | '!' | ';')) => Some(false),
        _ => None,
    }
}

/// Whether a sentence has the form that the question asks for, though it shares no word with it: a number for how many, a name for who,
/// yes or no, or a fragment of few words.
pub(super) fn answers_form_of(query: &str, sentence: &str, language: Language) -> bool {
    let has_number = !number::numbers(&number::pieces(sentence), language).is_empty();
    let asks_number = match language {
        Language::En => &*ENGLISH_NUMBER,
        Language::Pt => &*PORTUGUESE_NUMBER,
        Language::Zh => &*CHINESE_NUMBER,
    };
    let is_fragment = words(sentence, language).len() <= if language == Language::Zh { 8 } else { 5 };
    (has_number && asks_number.is_match(&normalise(query))) || yes_or_no(sentence).is_some() || is_fragment
}

static ENGLISH_NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:how (?:many|much|long|old|far|often|big|tall|fast|soon)|when|what (?:year|date|time|day|percentage|price|number))\b",
    )
});
static PORTUGUESE_NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:quant[oa]s?|quando|que (?:ano|data|dia|horas?)|qual (?:o |a |é o |é a )?(?:prazo|preço|valor|data|ano|número|percentual|limite))\b",
    )
});
static CHINESE_NUMBER: LazyLock<Regex> =
    LazyLock::new(|| pattern("多少|几|何时|什么时候|多久|多长|多大|多远|哪年|哪一年|哪天"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_joints_in_a_row_are_one() {
        for (language, sentence, expected) in [
            (
                Language::En,
                "The fee is 12 euros; ; it is due each month; the card is free.",
                ["The fee is 12 euros", "it is due each month", "the card is free."],
            ),
            (
                Language::Pt,
                "A taxa custa 12 euros; ; o prazo é um mês; o cartão é grátis.",
                ["A taxa custa 12 euros", "o prazo é um mês", "o cartão é grátis."],
            ),
            (
                Language::Zh,
                "运费为12欧元；；退货期为30天；；；保修期为两年。",
                ["运费为12欧元", "退货期为30天", "保修期为两年。"],
            ),
        ] {
            assert_eq!(claims(sentence, language), expected);
        }
    }
}
