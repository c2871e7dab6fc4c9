//! Texts read into tokens that a claim's tokens can be looked up in.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{
    super::{
        normal::normalise,
        number::{Number, numbers, pieces},
        sentence::{statements, without_marker},
        stem::stem,
        stop::is_stop_word,
        word::is_han,
    },
    lexicon::{begins_clause, is_exclusive, lexicon, negation_reach, points_back, voids_negation},
};
use crate::model::Language;

/// At most so many places are kept for one word: a word that stands in more tells nothing, and the work stays bounded.
const PLACES: usize = 4_096;

/// How a token was met.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// A word of letters.
    Word,
    /// A number, read.
    Number(Number),
    /// One or two neighbouring Han characters.
    Han,
}

/// One thing in a sentence that a claim can be held against.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    /// The stem, the Han characters, or the number as written.
    pub(super) stem: String,
    /// The word as it stands, normalised: what a reason shows.
    pub(super) shown: String,
    /// What it is.
    pub(super) kind: Kind,
    /// Whether it is written as a name.
    pub(super) is_name: bool,
    /// Whether a negation reaches it.
    pub(super) is_negated: bool,
    /// Whether it is the first thing that a negation reaches: what is negated, most likely.
    pub(super) is_negation_head: bool,
    /// Which clause of the sentence it stands in.
    pub(super) clause: u32,
}

/// One sentence, read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sentence {
    /// The text, trimmed.
    pub(super) text: String,
    /// Index of the text it stands in.
    pub(super) source: usize,
    /// Its tokens in order.
    pub(super) tokens: Vec<Token>,
    /// Whether it confines what it says (`only`, `apenas`, `仅`).
    pub(super) is_exclusive: bool,
    /// Whether its first words point to the sentence before.
    pub(super) points_back: bool,
}

/// Where a token stands: sentence and token by index.
pub(super) type Place = (usize, usize);

/// Passages of evidence, read once, against which any number of claims can be weighed.
#[derive(Debug, Clone)]
pub struct Premises {
    pub(super) language: Language,
    pub(super) sentences: Vec<Sentence>,
    pub(super) places: HashMap<String, Vec<Place>>,
    pub(super) numbers: Vec<Place>,
}

impl Premises {
    /// Reads texts, each a passage of evidence.
    pub fn new(evidence: &[&str], language: Language) -> Self {
        let mut premises = Self { language, sentences: Vec::new(), places: HashMap::new(), numbers: Vec::new() };
        for (source, text) in evidence.iter().enumerate() {
            for statement in statements(text, language) {
                premises.add(read(statement, source, language));
            }
        }
        premises
    }

    fn add(&mut self, sentence: Sentence) {
        let at = self.sentences.len();
        for (index, token) in sentence.tokens.iter().enumerate() {
            match &token.kind {
                Kind::Number(_) => {
                    if self.numbers.len() < PLACES {
                        self.numbers.push((at, index));
                    }
                }
                Kind::Word => {
                    for key in word_keys(&token.stem, self.language) {
                        self.place(key, (at, index));
                    }
                }
                Kind::Han => {
                    self.place(token.stem.clone(), (at, index));
                    if 1 < token.stem.chars().count() {
                        for c in token.stem.chars() {
                            self.place(c.to_string(), (at, index));
                        }
                    }
                }
            }
        }
        self.sentences.push(sentence);
    }

    fn place(&mut self, key: String, place: Place) {
        let places = self.places.entry(key).or_default();
        if places.len() < PLACES {
            places.push(place);
        }
    }

    pub(super) fn token(&self, (sentence, token): Place) -> &Token {
        &self.sentences[sentence].tokens[token]
    }
}

/// Keys under which a word is found: its stem, its group of equals, and its beginning.
pub(super) fn word_keys(stem: &str, language: Language) -> Vec<String> {
    let mut keys = vec![stem.to_owned()];
    keys.extend(lexicon(language).same.get(stem).map(|group| format!("={group}")));
    keys.extend(beginning(stem).map(|beginning| format!("^{beginning}")));
    keys
}

/// The first five letters of a word of at least five.
pub(super) fn beginning(stem: &str) -> Option<&str> {
    stem.char_indices().nth(4).map(|(at, c)| &stem[..at + c.len_utf8()])
}

/// Reads one sentence.
pub(super) fn read(sentence: &str, source: usize, language: Language) -> Sentence {
    let pieces = pieces(without_marker(sentence));
    let lower: Vec<String> = pieces.iter().map(|piece| normalise(piece)).collect();
    let numbers: BTreeMap<usize, Number> =
        numbers(&pieces, language).into_iter().map(|number| (number.at, number)).collect();
    let names = names(&pieces, &lower, language);
    let mut out =
        Sentence { text: sentence.to_owned(), source, tokens: Vec::new(), is_exclusive: false, points_back: false };
    // `heads` counts what is negated itself: one word after `not`, a noun of up to two words after `no`.
    let (mut clause, mut reach, mut heads, mut at) = (0, 0usize, 0usize, 0);
    let mut han: Vec<(String, Sign)> = Vec::new();
    while let Some(word) = lower.get(at).map(String::as_str) {
        let has_han = word.starts_with(is_han);
        if let Some(number) = numbers.get(&at) {
            flush(&mut han, clause, &mut out.tokens);
            let written = lower[at..at + number.len].join(if language == Language::Zh { "" } else { " " });
            let unit = number.measure.map_or("", |measure| measure.name);
            out.tokens.push(Token {
                // Two numbers are one only when their units are too.
                stem: format!("{written} {unit}"),
                shown: written,
                kind: Kind::Number(number.clone()),
                is_name: false,
                is_negated: false,
                is_negation_head: false,
                clause,
            });
            at += number.len.max(1);
            continue;
        }
        out.points_back |= at < 3 && points_back(word, language);
        out.is_exclusive |= is_exclusive(word, language);
        let next = lower.get(at + 1).map_or("", String::as_str);
        let asks = language == Language::Zh && at.checked_sub(1).is_some_and(|before| lower[before] == next);
        if !word.chars().any(char::is_alphanumeric) {
            flush(&mut han, clause, &mut out.tokens);
            if (word == "-" && matches!(next, "-"))
                || word.contains([',', ';', ':', '(', ')', '，', '；', '：', '（', '）', '—', '–', '.', '。', '?', '!'])
            {
                clause += 1;
                reach = 0;
            }
        } else if let Some(far) = negation_reach(word, language).filter(|_| !voids_negation(next, language) && !asks) {
            flush(&mut han, clause, &mut out.tokens);
            (reach, heads) = (far, if far < 8 { 2 } else { 1 });
        } else if begins_clause(word, language) {
            flush(&mut han, clause, &mut out.tokens);
            clause += 1;
            reach = 0;
        } else if is_stop_word(word, language) {
            flush(&mut han, clause, &mut out.tokens);
            reach = reach.saturating_sub(1);
        } else if has_han {
            let sign = match (reach, heads) {
                (0, _) => Sign::Plain,
                (_, 0) => Sign::Reached,
                (_, _) => Sign::Head,
            };
            // The pair of the first two characters is the head.
            if han.last().is_some_and(|(_, before)| *before == Sign::Head) {
                heads = 0;
            }
            han.push((word.to_owned(), sign));
            reach = reach.saturating_sub(1);
        } else {
            flush(&mut han, clause, &mut out.tokens);
            let base = word.strip_suffix("'s").unwrap_or(word);
            out.tokens.push(Token {
                stem: stem(base, language),
                shown: base.to_owned(),
                kind: Kind::Word,
                is_name: names.contains(&at),
                is_negated: 0 < reach,
                is_negation_head: 0 < reach && 0 < heads,
                clause,
            });
            heads = heads.saturating_sub(1);
            reach = reach.saturating_sub(1);
        }
        at += 1;
    }
    flush(&mut han, clause, &mut out.tokens);
    out
}

/// How a negation bears on a Han character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Plain,
    Reached,
    Head,
}

/// Turns a run of Han characters into overlapping pairs, or the single one it is.
fn flush(run: &mut Vec<(String, Sign)>, clause: u32, tokens: &mut Vec<Token>) {
    let token = |stem: String, sign: Sign| Token {
        shown: stem.clone(),
        stem,
        kind: Kind::Han,
        is_name: false,
        is_negated: sign != Sign::Plain,
        is_negation_head: sign == Sign::Head,
        clause,
    };
    match run.as_slice() {
        [] => {}
        [(only, sign)] => tokens.push(token(only.clone(), *sign)),
        many => tokens.extend(many.windows(2).map(|pair| {
            let sign = if pair[0].1 == Sign::Plain || pair[1].1 == Sign::Plain { Sign::Plain } else { pair[0].1 };
            token(format!("{}{}", pair[0].0, pair[1].0), sign)
        })),
    }
    run.clear();
}

/// Which pieces are written as names: capitalised inside a sentence, or at its start beside another; all in capitals; Latin inside Chinese.
fn names(pieces: &[&str], lower: &[String], language: Language) -> BTreeSet<usize> {
    let is_word = |at: &usize| lower[*at].chars().any(char::is_alphabetic) && !lower[*at].starts_with(is_han);
    let words: Vec<usize> = (0..pieces.len()).filter(is_word).collect();
    if language == Language::Zh {
        return words.into_iter().collect();
    }
    let is_capital = |at: usize| pieces[at].starts_with(char::is_uppercase) && !is_stop_word(&lower[at], language);
    let is_acronym =
        |at: usize| 1 < pieces[at].chars().count() && pieces[at].chars().all(|c| c.is_uppercase() || c.is_numeric());
    let capitals = words.iter().filter(|at| is_capital(**at)).count();
    // A heading in capitals says nothing about names.
    if 4 < words.len() && words.len() * 6 < capitals * 10 {
        return BTreeSet::new();
    }
    let first = words.first().copied();
    let mut names: BTreeSet<usize> = words
        .iter()
        .copied()
        .filter(|at| is_acronym(*at) || (Some(*at) != first && is_capital(*at) && !after_full_stop(pieces, *at)))
        .collect();
    if let Some(first) = first.filter(|at| is_capital(*at) && names.contains(&(at + 1))) {
        names.insert(first);
    }
    names
}

fn after_full_stop(pieces: &[&str], at: usize) -> bool {
    at.checked_sub(1).is_some_and(|before| matches!(pieces[before], "." | "!" | "?" | ":" | "\"" | "“" | "•" | "-"))
}
