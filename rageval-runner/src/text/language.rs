//! Guesses which language's rules fit a text.

use super::{normal::normalise, word::is_han, word::words};
use crate::model::Language;

/// How much of a text is looked at: enough to be sure, and bounded for a text of any size.
const CHARS: usize = 4_000;

/// The language whose rules fit the text best: Chinese by its script, Portuguese by its letters and function words, else English.
///
/// English also stands for every language without rules of its own, so Japanese (kana), Spanish and a text without letters are English
/// here. A guess: state the language of a case where it matters.
pub fn guess_language(text: &str) -> Language {
    let head: String = text.chars().take(CHARS).collect();
    let (mut han, mut kana, mut letters) = (0usize, 0usize, 0usize);
    for c in head.chars().filter(|c| c.is_alphabetic()) {
        letters += 1;
        han += usize::from(is_han(c));
        kana += usize::from(matches!(c, '\u{3041}'..='\u{30FF}'));
    }
    // A Han character says about as much as three Latin letters, so a Chinese sentence full of product names is still Chinese.
    if 0 < han && letters <= han.saturating_mul(4) {
        return if han <= kana.saturating_mul(8) { Language::En } else { Language::Zh };
    }
    let normal = normalise(&head);
    let score = |letters: &[char], function_words: &[&str]| {
        let by_letter = normal.chars().filter(|c| letters.contains(c)).count();
        let by_word = words(&normal, Language::Pt).into_iter().filter(|word| function_words.contains(word)).count();
        by_letter + by_word
    };
    let portuguese = score(PORTUGUESE_LETTERS, PORTUGUESE_WORDS);
    let others = score(&[], ENGLISH_WORDS).max(score(SPANISH_LETTERS, SPANISH_WORDS));
    if others < portuguese { Language::Pt } else { Language::En }
}

const PORTUGUESE_LETTERS: &[char] = &['ã', 'õ', 'ç', 'ê', 'ô', 'â', 'à'];
const PORTUGUESE_WORDS: &[&str] = &[
    "o", "os", "e", "é", "um", "uma", "do", "da", "dos", "das", "de", "em", "no", "na", "nos", "nas", "ao", "com",
    "para", "por", "pelo", "pela", "que", "não", "são", "se", "seu", "sua", "você", "mais", "como", "quando", "qual",
    "quem", "onde", "foi", "tem", "posso", "pode", "meu", "minha", "isso", "este", "esta", "dias", "até",
];
const ENGLISH_WORDS: &[&str] = &[
    "the", "an", "of", "to", "and", "in", "is", "are", "was", "were", "it", "for", "on", "with", "that", "this", "be",
    "by", "at", "from", "or", "not", "can", "you", "your", "i", "we", "do", "does", "how", "what", "which", "when",
    "who", "have", "has",
];
const SPANISH_LETTERS: &[char] = &['ñ', '¿', '¡'];
const SPANISH_WORDS: &[&str] = &[
    "el", "la", "los", "las", "y", "es", "un", "una", "del", "de", "en", "al", "con", "para", "por", "que", "no", "se",
    "su", "sus", "más", "como", "cómo", "cuando", "qué", "cuál", "quién", "fue", "tiene", "puedo", "puede", "mi",
    "este", "esta", "días", "hasta", "son", "lo", "pero",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told_apart() {
        for (language, texts) in [
            (
                Language::En,
                &["How long do I have to return an item?", "Kepler was retired in 2018.", "refund", "", "42", "🙂 …"][..],
            ),
            (
                Language::En,
                &[
                    "¿Cuál es el plazo de devolución de los productos?",
                    "返品は30日以内に可能です。",
                    "Die Rückgabe dauert 30 Tage.",
                ],
            ),
            (
                Language::Pt,
                &[
                    "Qual é o prazo para devolução?",
                    "A loja paga o frete.",
                    "Posso trocar o produto?",
                    "devolução",
                    "7 dias corridos",
                ],
            ),
            (Language::Zh, &["退款期限是多久？", "請問如何退貨", "iPhone 15 Pro 手机的电池容量是多少", "是。"]),
        ] {
            for text in texts {
                assert_eq!(guess_language(text), language, "{text:?}");
            }
        }
    }
}
