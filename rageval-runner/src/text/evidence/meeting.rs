//! Finds where the tokens of a claim stand in the evidence, and the place that covers most of them.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    super::sentence::statements,
    premise::{Kind, Place, Premises, Token, read, word_keys},
};
use crate::model::Language;

/// At most so many different tokens of a claim are looked at.
const CLAIM_TOKENS: usize = 400;
/// Weights: a number or a name says more of a claim than any other word.
const NUMBER_WEIGHT: f64 = 2.0;
const NAME_WEIGHT: f64 = 2.0;
/// A number that may be an article (`one`, `uma`, `一`).
const VAGUE_WEIGHT: f64 = 0.3;
/// How much a token that was met in another form counts.
pub(super) const SAME_GROUP: f64 = 0.9;
pub(super) const SAME_BEGINNING: f64 = 0.75;
pub(super) const BOTH_CHARACTERS: f64 = 0.6;
const ONE_CHARACTER: f64 = 0.25;
/// What a window of two sentences keeps when the second does not point to the first.
const TWO_SENTENCES: f64 = 0.92;
/// So many tokens apart still counts as near.
const NEAR: usize = 3;

/// One token of the claim met in one place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meeting {
    pub(super) sentence: usize,
    /// Index among the claim's tokens.
    pub(super) token: usize,
    pub(super) strength: f64,
    /// Index among the sentence's tokens.
    pub(super) there: usize,
    /// Whether the place says it with the other sign.
    pub(super) is_opposed: bool,
    /// Whether the place has the word with a negating prefix, or without the claim's.
    pub(super) is_twin: bool,
}

/// One or two neighbouring sentences, and what of the claim they cover.
#[derive(Debug, Clone)]
pub(super) struct Window {
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) covered: f64,
}

impl Premises {
    /// Every place where a token of the claim is met, each with its best strength.
    pub(super) fn meetings(&self, token: usize, claimed: &Token) -> Vec<Meeting> {
        let mut found = Vec::new();
        let mut meet = |place: Place, strength: f64, flips: bool| {
            let there = self.token(place);
            let is_opposed = flips != (there.is_negated != claimed.is_negated);
            found.push(Meeting { sentence: place.0, token, strength, there: place.1, is_opposed, is_twin: flips });
        };
        match &claimed.kind {
            Kind::Number(number) => {
                for place in &self.numbers {
                    if let Kind::Number(stated) = &self.token(*place).kind
                        && number.agrees_with(stated)
                        && (number.measure.is_some() && stated.measure.is_some()
                            || units_fit(number.unit.as_deref(), stated.unit.as_deref()))
                    {
                        meet(*place, 1.0, false);
                    }
                }
            }
            Kind::Word => {
                for key in word_keys(&claimed.stem, self.language) {
                    for place in self.places.get(&key).into_iter().flatten() {
                        let strength = match key.as_bytes().first() {
                            Some(b'=') => SAME_GROUP,
                            Some(b'^') if !share_beginning(&claimed.stem, &self.token(*place).stem) => continue,
                            Some(b'^') => SAME_BEGINNING,
                            _ => 1.0,
                        };
                        meet(*place, strength, false);
                    }
                }
                for twin in negated_twins(&claimed.stem) {
                    for place in self.places.get(&twin).into_iter().flatten() {
                        meet(*place, 1.0, true);
                    }
                }
            }
            Kind::Han => {
                for place in self.places.get(&claimed.stem).into_iter().flatten() {
                    meet(*place, 1.0, false);
                }
                if 1 < claimed.stem.chars().count() {
                    let mut each: Vec<Vec<Place>> = claimed
                        .stem
                        .chars()
                        .map(|c| self.places.get(&c.to_string()).cloned().unwrap_or_default())
                        .collect();
                    let second: BTreeSet<usize> =
                        each.pop().unwrap_or_default().into_iter().map(|place| place.0).collect();
                    let first: BTreeSet<usize> =
                        each.pop().unwrap_or_default().into_iter().map(|place| place.0).collect();
                    for sentence in first.union(&second) {
                        let both = first.contains(sentence) && second.contains(sentence);
                        found.push(Meeting {
                            sentence: *sentence,
                            token,
                            strength: if both { BOTH_CHARACTERS } else { ONE_CHARACTER },
                            there: usize::MAX,
                            is_opposed: false,
                            is_twin: false,
                        });
                    }
                }
            }
        }
        found
    }

    /// The sentence, or pair of neighbours in one text, that covers most of the claim. The earliest, and the shortest, wins a tie.
    pub(super) fn best_window(&self, claim: &[Token], meetings: &[Meeting], total: f64) -> Option<Window> {
        let mut strengths: Vec<(usize, Vec<(usize, f64)>)> = Vec::new();
        for meeting in meetings {
            if strengths.last().is_none_or(|(sentence, _)| *sentence != meeting.sentence) {
                strengths.push((meeting.sentence, Vec::new()));
            }
            if let Some((_, tokens)) = strengths.last_mut() {
                match tokens.last_mut() {
                    Some((token, strength)) if *token == meeting.token => *strength = strength.max(meeting.strength),
                    _ => tokens.push((meeting.token, meeting.strength)),
                }
            }
        }
        let sum = |tokens: &[(usize, f64)]| {
            tokens.iter().map(|(token, strength)| strength * weight(&claim[*token])).sum::<f64>() / total
        };
        let mut best: Option<Window> = None;
        let mut offer = |window: Window| {
            if best.as_ref().is_none_or(|best| best.covered + 1e-9 < window.covered) {
                best = Some(window);
            }
        };
        for (at, (sentence, tokens)) in strengths.iter().enumerate() {
            offer(Window { first: *sentence, last: *sentence, covered: sum(tokens) });
            let Some((next, more)) = strengths.get(at + 1).filter(|(next, _)| *next == sentence + 1) else { continue };
            if self.sentences[*next].source != self.sentences[*sentence].source {
                continue;
            }
            let mut both: BTreeMap<usize, f64> = tokens.iter().copied().collect();
            for (token, strength) in more {
                let known = both.entry(*token).or_insert(0.0);
                *known = known.max(*strength);
            }
            let both: Vec<(usize, f64)> = both.into_iter().collect();
            let keeps = if self.sentences[*next].points_back { 1.0 } else { TWO_SENTENCES };
            offer(Window { first: *sentence, last: *next, covered: sum(&both) * keeps });
        }
        best
    }
}

/// Share of the claim's neighbouring tokens, of those met, that stand near each other in the evidence too. 1 where there are none.
pub(super) fn nearness(claim: &[Token], here: &[Meeting]) -> f64 {
    let (mut pairs, mut near) = (0usize, 0usize);
    let places = |at: usize| here.iter().filter(move |meeting| meeting.token == at && meeting.there != usize::MAX);
    for at in 1..claim.len() {
        if places(at - 1).next().is_none() || places(at).next().is_none() {
            continue;
        }
        pairs += 1;
        let is_near = places(at - 1).any(|one| {
            places(at).any(|other| one.sentence == other.sentence && one.there.abs_diff(other.there) <= NEAR)
        });
        near += usize::from(is_near);
    }
    if pairs == 0 { 1.0 } else { near as f64 / pairs as f64 }
}

/// The different tokens of a claim.
pub(super) fn read_claim(claim: &str, language: Language) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut seen = BTreeSet::new();
    for token in statements(claim, language).into_iter().flat_map(|sentence| read(sentence, 0, language).tokens) {
        if tokens.len() < CLAIM_TOKENS && seen.insert(token.stem.clone()) {
            tokens.push(token);
        }
    }
    tokens
}

pub(super) fn weight(token: &Token) -> f64 {
    match &token.kind {
        Kind::Number(number) if number.is_vague => VAGUE_WEIGHT,
        Kind::Number(_) => NUMBER_WEIGHT,
        Kind::Word if token.is_name => NAME_WEIGHT,
        Kind::Word | Kind::Han => 1.0,
    }
}

/// Units of numbers that are not of one kind never fit; an unnamed unit fits any but a share.
fn units_fit(claimed: Option<&str>, stated: Option<&str>) -> bool {
    let is_special = |unit: &str| matches!(unit, "%" | "$");
    match (claimed, stated) {
        (Some(one), Some(other)) => one == other || !(is_special(one) || is_special(other)),
        (Some(_), None) | (None, Some(_)) | (None, None) => true,
    }
}

/// Whether two stems begin alike for at least five letters and two thirds of the longer one.
fn share_beginning(one: &str, other: &str) -> bool {
    let shared = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let longer = one.chars().count().max(other.chars().count());
    5 <= shared && longer * 2 <= shared * 3
}

/// The word with its negating prefix taken off or put on: `unlimited` and `limit`, `ilimitado` and `limite`.
fn negated_twins(stem: &str) -> Vec<String> {
    const PREFIXES: [&str; 6] = ["un", "in", "im", "il", "ir", "dis"];
    let is_long = |word: &str| 4 <= word.chars().count();
    let off =
        PREFIXES.iter().filter_map(|prefix| stem.strip_prefix(prefix)).filter(|rest| is_long(rest)).map(str::to_owned);
    let on = PREFIXES.iter().filter(|_| is_long(stem)).map(|prefix| format!("{prefix}{stem}"));
    // Portuguese writes one l: `ilimitado`.
    let off_l = stem.strip_prefix('i').filter(|rest| rest.starts_with('l') && is_long(rest)).map(str::to_owned);
    let on_l = (stem.starts_with('l') && is_long(stem)).then(|| format!("i{stem}"));
    off.chain(on).chain(off_l).chain(on_l).collect()
}
