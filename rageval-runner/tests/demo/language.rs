//! What the demo knows of English, Portuguese and Chinese: words, sentences and a polite no.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A language of the help centre.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Language {
    English,
    Portuguese,
    Chinese,
}

impl Language {
    /// The language of a question: Chinese by its characters, else whichever has more function words.
    pub(crate) fn of(query: &str) -> Self {
        if query.chars().any(is_han) {
            return Self::Chinese;
        }
        let words = split_words(query);
        let function_words = |list: &[&str]| words.iter().filter(|word| list.contains(&word.as_str())).count();
        if function_words(ENGLISH_STOP_WORDS) < function_words(PORTUGUESE_STOP_WORDS) {
            Self::Portuguese
        } else {
            Self::English
        }
    }

    /// Index terms of a text, in order, repeated as often as they occur.
    pub(crate) fn tokens(self, text: &str) -> Vec<String> {
        match self {
            Self::English => stems(text, ENGLISH_STOP_WORDS, stem_english),
            Self::Portuguese => stems(text, PORTUGUESE_STOP_WORDS, stem_portuguese),
            Self::Chinese => bigrams(text),
        }
    }

    /// The sentences of a text with their final mark, without the blanks between them.
    pub(crate) fn sentences(self, text: &str) -> Vec<&str> {
        let ends_sentence = |mark: char, next: Option<char>| match self {
            Self::English | Self::Portuguese => matches!(mark, '.' | '!' | '?') && next.is_none_or(char::is_whitespace),
            Self::Chinese => matches!(mark, '。' | '!' | '?' | '！' | '？'),
        };
        let mut sentences = Vec::new();
        let mut start = 0;
        for (at, mark) in text.char_indices() {
            let end = at + mark.len_utf8();
            if ends_sentence(mark, text[end..].chars().next()) {
                sentences.push(text[start..end].trim());
                start = end;
            }
        }
        sentences.push(text[start..].trim());
        sentences.retain(|sentence| !sentence.is_empty());
        sentences
    }

    /// What stands between two sentences.
    pub(crate) fn sentence_gap(self) -> &'static str {
        match self {
            Self::English | Self::Portuguese => " ",
            Self::Chinese => "",
        }
    }

    /// The answer to a question that the documents do not cover.
    pub(crate) fn refusal(self) -> &'static str {
        match self {
            Self::English => "Sorry, I could not find anything about this in the help centre.",
            Self::Portuguese => "Desculpe, não encontrei nada sobre isso na central de ajuda.",
            Self::Chinese => "抱歉，帮助中心里没有找到相关的内容。",
        }
    }
}

/// Lower-case words without accents. Numbers keep the marks inside them: `4.30`, `1,000`, `17:00`.
fn split_words(text: &str) -> Vec<String> {
    let folded: Vec<char> =
        text.nfkd().filter(|character| !is_combining_mark(*character)).flat_map(char::to_lowercase).collect();
    let digit_at = |at: Option<usize>| at.and_then(|at| folded.get(at)).is_some_and(char::is_ascii_digit);
    let mut words = vec![String::new()];
    for (at, character) in folded.iter().enumerate() {
        let inside_number =
            matches!(character, '.' | ',' | ':') && digit_at(at.checked_sub(1)) && digit_at(Some(at + 1));
        if character.is_alphanumeric() || inside_number {
            words.last_mut().expect("never empty").push(*character);
        } else {
            words.push(String::new());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn stems(text: &str, stop_words: &[&str], stem: fn(&str) -> String) -> Vec<String> {
    split_words(text).iter().filter(|word| !stop_words.contains(&word.as_str())).map(|word| stem(word)).collect()
}

/// Strips plural and the commonest verb endings. A Snowball stemmer would be better, and one more dependency.
fn stem_english(word: &str) -> String {
    let stem =
        without_suffix(word, &[("ies", "y"), ("ied", "y"), ("sses", "ss"), ("ss", "ss"), ("us", "us"), ("s", "")], 3);
    let stem = without_suffix(&stem, &[("ing", ""), ("eed", "eed"), ("ed", "")], 3);
    let stem = stem.strip_suffix('e').filter(|stem| stem.len() > 2).unwrap_or(&stem);
    let mut letters = stem.chars().rev();
    match (letters.next(), letters.next()) {
        (Some(last @ ('l' | 'm' | 'n' | 'p' | 't')), Some(before)) if last == before => {
            stem[..stem.len() - 1].to_owned()
        }
        _ => stem.to_owned(),
    }
}

/// Strips plural, gender and the commonest verb endings; the word has no accents any more.
fn stem_portuguese(word: &str) -> String {
    let stem = without_suffix(
        word,
        &[
            ("oes", "ao"),
            ("aes", "ao"),
            ("ais", "al"),
            ("eis", "el"),
            ("ns", "m"),
            ("res", "r"),
            ("zes", "z"),
            ("s", ""),
        ],
        2,
    );
    let stem = without_suffix(
        &stem,
        &[
            ("amento", ""),
            ("imento", ""),
            ("acao", ""),
            ("ando", ""),
            ("endo", ""),
            ("indo", ""),
            ("amos", ""),
            ("aram", ""),
            ("ada", ""),
            ("ado", ""),
            ("ida", ""),
            ("ido", ""),
            ("ou", ""),
            ("ei", ""),
            ("am", ""),
            ("ar", ""),
            ("er", ""),
            ("ir", ""),
            ("ao", ""),
            ("a", ""),
            ("e", ""),
            ("o", ""),
        ],
        3,
    );
    stem.strip_suffix('i').filter(|stem| stem.len() > 2).map_or_else(|| stem.clone(), str::to_owned)
}

/// Replaces the first ending that fits and leaves at least `kept` bytes of the word.
fn without_suffix(word: &str, endings: &[(&str, &str)], kept: usize) -> String {
    endings
        .iter()
        .find_map(|(ending, replacement)| {
            let stem = word.strip_suffix(ending)?;
            (kept <= stem.len() && stem.is_ascii()).then(|| format!("{stem}{replacement}"))
        })
        .unwrap_or_else(|| word.to_owned())
}

/// Han characters and pairs of neighbouring ones, which need no dictionary; other words whole.
fn bigrams(text: &str) -> Vec<String> {
    let mut text = text.to_owned();
    for phrase in CHINESE_STOP_PHRASES {
        text = text.replace(phrase, " ");
    }
    let mut tokens = Vec::new();
    for word in split_words(&text) {
        let characters: Vec<char> = word.chars().collect();
        for run in characters.chunk_by(|left, right| is_han(*left) == is_han(*right)) {
            if is_han(run[0]) {
                tokens.extend(run.iter().map(char::to_string));
                tokens.extend(run.windows(2).map(String::from_iter));
            } else {
                tokens.push(run.iter().collect());
            }
        }
    }
    tokens
}

fn is_han(character: char) -> bool {
    matches!(character, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}')
}

#[rustfmt::skip]
const ENGLISH_STOP_WORDS: &[&str] = &[
    "a", "about", "after", "all", "already", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because",
    "been", "but", "by", "can", "cannot", "could", "d", "did", "do", "does", "else", "for", "from", "get", "give",
    "had", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "just", "kind", "ll", "m", "many", "may",
    "me", "much", "must", "my", "need", "no", "not", "of", "on", "or", "our", "out", "own", "re", "s", "same", "should",
    "so", "some", "than", "that", "the", "their", "them", "then", "there", "they", "this", "to", "up", "us", "ve",
    "want", "was", "we", "what", "when", "where", "which", "while", "who", "why", "will", "with", "would", "you",
    "your",
];

#[rustfmt::skip]
const PORTUGUESE_STOP_WORDS: &[&str] = &[
    "a", "ao", "aos", "as", "ate", "com", "como", "da", "das", "de", "dela", "dele", "depois", "do", "dos", "e", "ela",
    "ele", "em", "entre", "era", "essa", "esse", "esta", "estao", "estou", "este", "eu", "faco", "faz", "fazer", "fica",
    "foi", "ha", "isso", "ja", "la", "lhe", "mais", "mas", "me", "mesmo", "meu", "meus", "minha", "minhas", "na", "nao",
    "nas", "no", "nos", "o", "onde", "os", "ou", "para", "pela", "pelo", "pode", "podem", "por", "posso", "pra", "preciso",
    "pro", "qual", "quais", "quando", "quanto", "quantos", "que", "quem", "quero", "r", "se", "sem", "ser", "seu", "so",
    "sou", "sua", "tao", "tem", "tenho", "ter", "um", "uma", "vai", "vale", "voce", "voces", "vou",
];

/// Longest first, so that 为什么 goes before 什么.
#[rustfmt::skip]
const CHINESE_STOP_PHRASES: &[&str] = &[
    "有没有", "能不能", "可不可以", "是不是", "为什么", "怎么办", "怎么样", "多少钱", "多长时间", "什么时候", "怎么", "如何",
    "什么", "多少", "多久", "哪些", "哪个", "哪里", "可以", "请问", "你们", "我们", "我的", "需要", "如果", "的话", "一下",
    "还是", "以后", "以前", "我", "你", "他", "的", "了", "吗", "呢", "吧", "是", "在", "有", "和", "就", "都", "把", "被",
    "要", "能", "会", "这", "那", "很", "也", "还",
];
