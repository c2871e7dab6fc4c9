//! Brings text to a form in which equal wording is equal text.

use std::sync::LazyLock;

use regex::Regex;
use unicode_normalization::UnicodeNormalization;

use super::word::words;
use crate::model::Language;

/// The text in NFKC and lower case, with one kind of quote and dash, single spaces, and without invisible characters.
///
/// Full-width letters and digits become plain ones, ligatures are taken apart, `“”«»` become `"`, `‘’` become `'`, dashes become `-`.
/// Zero-width characters, soft hyphens and the controls that turn writing direction are dropped: they change how a text looks, not what
/// it says. Accents stay: in Portuguese they tell words apart (`avó`, `avô`).
pub fn normalise(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut gap = false;
    for c in text.chars().filter(|c| !is_invisible(*c)).nfkc().flat_map(char::to_lowercase) {
        if c.is_whitespace() || c.is_control() {
            gap = true;
            continue;
        }
        if gap && !out.is_empty() {
            out.push(' ');
        }
        gap = false;
        out.push(match c {
            '\u{2018}' | '\u{2019}' | '\u{201A}' | '\u{201B}' | '\u{02BC}' | '\u{2032}' => '\'',
            '\u{201C}' | '\u{201D}' | '\u{201E}' | '\u{201F}' | '\u{00AB}' | '\u{00BB}' | '\u{2033}' => '"',
            '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{FE58}' | '\u{FE63}' => '-',
            c => c,
        });
    }
    out
}

/// The tokens that exact match and token F1 compare.
///
/// English follows the evaluation script of `SQuAD`: lower case, punctuation deleted (so `U.S.` is `us` and `3.14` is `314`), the
/// articles a, an, the dropped, split at white space. Portuguese is the same with its own articles, accents kept. Chinese is one token a
/// character, with runs of Latin letters and digits whole and numbers kept with their decimal point; punctuation and spaces don't count.
/// A text of punctuation or articles alone has no tokens.
pub fn answer_tokens(text: &str, language: Language) -> Vec<String> {
    let articles: &[&str] = match language {
        Language::En => &["a", "an", "the"],
        Language::Pt => &["o", "a", "os", "as", "um", "uma", "uns", "umas"],
        Language::Zh => return words(&normalise(text), language).into_iter().map(str::to_owned).collect(),
    };
    let normal = normalise(text);
    let bare = PUNCTUATION.replace_all(&normal, "");
    bare.split_whitespace().filter(|token| !articles.contains(token)).map(str::to_owned).collect()
}

/// Unicode's punctuation, and the symbols that the script of `SQuAD` counts as such.
static PUNCTUATION: LazyLock<Regex> = LazyLock::new(|| pattern(r"[\p{P}$+<=>^`|~]"));

/// Compiles a pattern that is part of this crate.
pub(crate) fn pattern(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap_or_else(|error| unreachable!("a pattern of this crate compiles: {error}"))
}

/// Characters that show nothing: zero-width ones, soft hyphens, direction controls, variation selectors, the byte-order mark.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00AD}' | '\u{061C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_do_not_count_and_accents_do() {
        for (text, normal) in [
            ("  Hello\t\nWorld ", "hello world"),
            ("“It’s” – ‘so’", "\"it's\" - 'so'"),
            ("ＡＢＣ　１２３％", "abc 123%"),
            ("e\u{301}te\u{301}", "été"),
            ("re\u{AD}fund\u{200B}able", "refundable"),
            ("\u{202E}abc\u{202C}", "abc"),
            ("Não", "não"),
            ("", ""),
            (" \u{FEFF} ", ""),
        ] {
            assert_eq!(normalise(text), normal, "{text:?}");
        }
    }

    #[test]
    fn english_tokens_are_those_of_squad() {
        for (text, tokens) in [
            ("The U.S. Senate, a body", vec!["us", "senate", "body"]),
            ("$3.14", vec!["314"]),
            ("well-known  AN apple", vec!["wellknown", "apple"]),
            ("the", vec![]),
            ("¿…!", vec![]),
        ] {
            assert_eq!(answer_tokens(text, Language::En), tokens, "{text:?}");
        }
    }

    #[test]
    fn portuguese_tokens_keep_accents_and_drop_articles() {
        for (text, tokens) in [
            ("A loja paga o frete.", vec!["loja", "paga", "frete"]),
            ("É uma AVÓ", vec!["é", "avó"]),
            ("os 7 dias", vec!["7", "dias"]),
        ] {
            assert_eq!(answer_tokens(text, Language::Pt), tokens, "{text:?}");
        }
    }

    #[test]
    fn chinese_tokens_are_characters_and_latin_runs() {
        for (text, tokens) in [
            ("退款，30 天。", vec!["退", "款", "30", "天"]),
            ("使用ＩＰｈｏｎｅ15！", vec!["使", "用", "iphone15"]),
            ("3.14米", vec!["3.14", "米"]),
            ("。、！", vec![]),
        ] {
            assert_eq!(answer_tokens(text, Language::Zh), tokens, "{text:?}");
        }
    }
}
