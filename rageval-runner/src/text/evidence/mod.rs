//! Weighs a claim against evidence by text alone: the evidence screen.
//!
//! It asks whether the claim's words, numbers and names stand close together in the evidence, and whether the place where they do says
//! the opposite. It is no entailment: it neither knows what words mean beyond a short table nor follows an argument. What it is worth was
//! measured; `docs/offline-judge.md` has the figures.

mod lexicon;
mod premise;

pub use premise::Premises;
use premise::{Sentence, Token};

use crate::model::{Language, Verdict};

/// What the screen says of one claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Its verdict. `Inferred` where a number agrees only by rounding or within `about`, `more than`, `up to`.
    pub verdict: Verdict,
    /// The nearest evidence: the index of the text it stands in, and the sentence, or two neighbours, trimmed. `None` when nothing of the
    /// claim is in the evidence.
    pub best: Option<(usize, String)>,
    /// Share of the claim's weight that its nearest evidence covers, in [0, 1]; lowered where it speaks against the claim. 0 for a claim
    /// without words.
    pub coverage: f64,
    /// Why, as a phrase: `all but "dublin" is there`, `says 30 days, not 60`.
    pub why: String,
}

/// How a sentence hangs on what stands before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opening {
    /// Its first words point back: `it`, `isso`, `该`.
    pub points_back: bool,
    /// It begins with a bullet or a list number.
    pub is_list_item: bool,
}

/// How a sentence begins.
pub fn opening(sentence: &str, language: Language) -> Opening {
    Opening {
        points_back: premise::read(sentence, 0, language).points_back,
        is_list_item: super::sentence::without_marker(sentence).len() < sentence.trim_start().len(),
    }
}

/// Weighs one claim against texts, each a passage of evidence. For many claims over the same texts, make [`Premises`] once.
pub fn weigh(claim: &str, evidence: &[&str], language: Language) -> Reading {
    Premises::new(evidence, language).weigh(claim)
}

/// From this share on a claim counts as stated. Chosen on the odd rows of the labelled data, see `docs/offline-judge.md`.
const ENOUGH: f64 = 0.60;

/// What coverage keeps when no neighbours of the claim are neighbours in the evidence.
const APART: f64 = 0.85;
/// So many tokens apart still counts as near.
const NEAR: usize = 3;

/// At most so many different tokens of a claim are looked at.
const CLAIM_TOKENS: usize = 400;

/// Weights: a number or a name says more of a claim than any other word.
const NUMBER_WEIGHT: f64 = 2.0;
const NAME_WEIGHT: f64 = 2.0;
/// A number that may be an article (`one`, `uma`, `一`).
const VAGUE_WEIGHT: f64 = 0.3;

/// How much a token that was met in another form counts.
const SAME_GROUP: f64 = 0.9;
const SAME_BEGINNING: f64 = 0.75;
const BOTH_CHARACTERS: f64 = 0.6;
const ONE_CHARACTER: f64 = 0.25;
/// What a window of two sentences keeps when the second does not point to the first.
const TWO_SENTENCES: f64 = 0.92;

/// One token of the claim met in one place.
#[derive(Debug, Clone, Copy)]
struct Meeting {
    sentence: usize,
    /// Index among the claim's tokens.
    token: usize,
    strength: f64,
    /// Index among the sentence's tokens.
    there: usize,
    /// Whether the place says it with the other sign.
    is_opposed: bool,
    /// Whether the place has the word with a negating prefix, or without the claim's.
    is_twin: bool,
}

/// One or two neighbouring sentences, and what of the claim they cover.
#[derive(Debug, Clone)]
struct Window {
    first: usize,
    last: usize,
    covered: f64,
}

impl Premises {
    /// Weighs one claim.
    pub fn weigh(&self, claim: &str) -> Reading {
        let claim = read_claim(claim, self.language);
        let total: f64 = claim.iter().map(weight).sum();
        if claim.is_empty() || total <= 0.0 {
            return Reading {
                verdict: Verdict::Unsupported,
                best: None,
                coverage: 0.0,
                why: "nothing in it to check".to_owned(),
            };
        }
        let mut meetings: Vec<Meeting> =
            claim.iter().enumerate().flat_map(|(at, token)| self.meetings(at, token)).collect();
        meetings.sort_by_key(|meeting| (meeting.sentence, meeting.token));
        let Some(window) = self.best_window(&claim, &meetings, total) else {
            return Reading {
                verdict: Verdict::Unsupported,
                best: None,
                coverage: 0.0,
                why: "none of its words is in the evidence".to_owned(),
            };
        };
        let here: Vec<Meeting> = meetings
            .iter()
            .filter(|meeting| window.first <= meeting.sentence && meeting.sentence <= window.last)
            .copied()
            .collect();
        self.read_window(&claim, &meetings, &here, &window)
    }

    /// The first sentence of the first text.
    pub fn first_sentence(&self) -> Option<&str> {
        self.sentences.first().map(|sentence| sentence.text.as_str())
    }

    /// Share of a text's weight that one sentence, or two neighbours, cover, in [0, 1]; what it says of the text is left aside. Words
    /// that stand in `given` don't count. `None` when nothing is left to cover.
    pub fn coverage_beyond(&self, text: &str, given: &str) -> Option<f64> {
        let claim = self.beyond(text, given);
        let total: f64 = claim.iter().map(weight).sum();
        if total <= 0.0 {
            return None;
        }
        let mut meetings: Vec<Meeting> =
            claim.iter().enumerate().flat_map(|(at, token)| self.meetings(at, token)).collect();
        meetings.sort_by_key(|meeting| (meeting.sentence, meeting.token));
        Some(self.best_window(&claim, &meetings, total).map_or(0.0, |window| window.covered.clamp(0.0, 1.0)))
    }

    /// Whether every number and name of a text that `given` lacks is somewhere in the evidence. `None` when it has none.
    pub fn has_facts_of(&self, text: &str, given: &str) -> Option<bool> {
        let is_fact = |token: &&Token| match &token.kind {
            premise::Kind::Number(number) => !number.is_vague,
            premise::Kind::Word => token.is_name,
            premise::Kind::Han => false,
        };
        let beyond = self.beyond(text, given);
        let mut facts = beyond.iter().filter(is_fact).peekable();
        facts.peek()?;
        Some(facts.all(|fact| self.meetings(0, fact).iter().any(|meeting| SAME_BEGINNING <= meeting.strength)))
    }

    /// The tokens of a text that are not in another.
    fn beyond(&self, text: &str, given: &str) -> Vec<Token> {
        let given = Self::new(&[given], self.language);
        let is_new = |token: &Token| !given.meetings(0, token).iter().any(|meeting| SAME_BEGINNING <= meeting.strength);
        read_claim(text, self.language).into_iter().filter(is_new).collect()
    }

    /// Every place where a token of the claim is met, each with its best strength.
    fn meetings(&self, token: usize, claimed: &Token) -> Vec<Meeting> {
        let mut found = Vec::new();
        let mut meet = |place: premise::Place, strength: f64, flips: bool| {
            let there = self.token(place);
            let is_opposed = flips != (there.is_negated != claimed.is_negated);
            found.push(Meeting { sentence: place.0, token, strength, there: place.1, is_opposed, is_twin: flips });
        };
        match &claimed.kind {
            premise::Kind::Number(number) => {
                for place in &self.numbers {
                    if let premise::Kind::Number(stated) = &self.token(*place).kind
                        && number.agrees_with(stated)
                        && units_fit(number.unit.as_deref(), stated.unit.as_deref())
                    {
                        meet(*place, 1.0, false);
                    }
                }
            }
            premise::Kind::Word => {
                for key in premise::word_keys(&claimed.stem, self.language) {
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
            premise::Kind::Han => {
                for place in self.places.get(&claimed.stem).into_iter().flatten() {
                    meet(*place, 1.0, false);
                }
                if 1 < claimed.stem.chars().count() {
                    let mut each: Vec<Vec<premise::Place>> = claimed
                        .stem
                        .chars()
                        .map(|c| self.places.get(&c.to_string()).cloned().unwrap_or_default())
                        .collect();
                    let second: std::collections::BTreeSet<usize> =
                        each.pop().unwrap_or_default().into_iter().map(|place| place.0).collect();
                    let first: std::collections::BTreeSet<usize> =
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
    fn best_window(&self, claim: &[Token], meetings: &[Meeting], total: f64) -> Option<Window> {
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
            let mut both: std::collections::BTreeMap<usize, f64> = tokens.iter().copied().collect();
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

    /// What the best place says of the claim.
    fn read_window(&self, claim: &[Token], everywhere: &[Meeting], here: &[Meeting], window: &Window) -> Reading {
        let sentences = &self.sentences[window.first..=window.last];
        let text = sentences.iter().map(|sentence| sentence.text.as_str()).collect::<Vec<_>>().join(" ");
        let best = sentences.first().map(|sentence| (sentence.source, text));
        let met = |at: usize, meetings: &[Meeting]| {
            meetings.iter().any(|meeting| meeting.token == at && BOTH_CHARACTERS <= meeting.strength)
        };
        let nearness = nearness(claim, here);
        let missing: Vec<usize> = (0..claim.len()).filter(|at| !met(*at, here)).collect();
        let reading = |verdict, factor: f64, why: String| Reading {
            verdict,
            best: best.clone(),
            coverage: (window.covered * factor * (APART + (1.0 - APART) * nearness)).clamp(0.0, 1.0),
            why,
        };

        if OPPOSED_FROM <= window.covered
            && let Some(why) = self
                .number_conflict(claim, sentences, &missing)
                .or_else(|| opposed(&self.sentences, claim, here))
                .or_else(|| self.opposite(claim, sentences, &missing))
                .or_else(|| self.confined(claim, everywhere, sentences, &missing))
                .or_else(|| self.scattered(claim, here, window))
        {
            return reading(Verdict::Contradicted, CONTRADICTED, why);
        }
        let vital = missing.iter().find(|at| match &claim[**at].kind {
            premise::Kind::Number(number) => !number.is_vague,
            premise::Kind::Word | premise::Kind::Han => false,
        });
        if let Some(at) = vital {
            let place = if met(*at, everywhere) { "stands elsewhere" } else { "is not in the evidence" };
            return reading(Verdict::Unsupported, VITAL_MISSING, format!("\"{}\" {place}", claim[*at].stem));
        }
        if let Some(name) = unknown_name(claim, everywhere) {
            return reading(Verdict::Unsupported, VITAL_MISSING, format!("\"{name}\" is not in the evidence"));
        }
        if window.covered * (APART + (1.0 - APART) * nearness) < ENOUGH {
            let words: Vec<_> = missing.iter().take(5).map(|at| format!("\"{}\"", claim[*at].stem)).collect();
            return reading(Verdict::Unsupported, 1.0, format!("nothing near it says {}", words.join(", ")));
        }
        if let Some((sentence, why)) = self.overruled(claim, everywhere, window, &missing) {
            let best = Some((sentence.source, sentence.text.clone()));
            return Reading { best, ..reading(Verdict::Contradicted, CONTRADICTED, why) };
        }
        let is_rounded = here.iter().any(|meeting| {
            match (&claim[meeting.token].kind, self.sentences[meeting.sentence].tokens.get(meeting.there)) {
                (premise::Kind::Number(claimed), Some(Token { kind: premise::Kind::Number(stated), .. })) => {
                    1e-9 < (claimed.value - stated.value).abs()
                }
                _ => false,
            }
        });
        if is_rounded {
            return reading(Verdict::Inferred, 1.0, "its numbers agree when rounded".to_owned());
        }
        let why = if missing.is_empty() {
            "all of it is there".to_owned()
        } else {
            let words: Vec<_> = missing.iter().take(3).map(|at| format!("\"{}\"", claim[*at].stem)).collect();
            format!("all but {} is there", words.join(", "))
        };
        reading(Verdict::Supported, 1.0, why)
    }

    /// Another sentence that has what the best place lacks, and says the opposite: the rule for `plans` is elsewhere when the claim is of
    /// `enterprise plans`.
    fn overruled(
        &self,
        claim: &[Token],
        everywhere: &[Meeting],
        window: &Window,
        missing: &[usize],
    ) -> Option<(&Sentence, String)> {
        let total: f64 = claim.iter().map(weight).sum();
        everywhere.chunk_by(|one, other| one.sentence == other.sentence).find_map(|there| {
            let sentence =
                there.first().map(|meeting| meeting.sentence).filter(|at| *at < window.first || window.last < *at)?;
            let has_missing =
                there.iter().any(|meeting| missing.contains(&meeting.token) && SAME_GROUP <= meeting.strength);
            let covered = there
                .chunk_by(|one, other| one.token == other.token)
                .map(|meetings| {
                    meetings.iter().map(|meeting| meeting.strength).fold(0.0, f64::max)
                        * weight(&claim[meetings[0].token])
                })
                .sum::<f64>();
            if !has_missing || covered < OVERRULED_FROM * total {
                return None;
            }
            opposed(&self.sentences, claim, there).map(|why| (&self.sentences[sentence], why))
        })
    }

    /// A number of the claim that the place lacks, while it states another of the same unit.
    fn number_conflict(&self, claim: &[Token], sentences: &[Sentence], missing: &[usize]) -> Option<String> {
        missing.iter().find_map(|at| {
            let premise::Kind::Number(number) = &claim[*at].kind else { return None };
            let unit = number.unit.as_deref().filter(|_| !number.is_vague)?;
            let claimed_too = |stated: &super::number::Number| {
                claim
                    .iter()
                    .any(|token| matches!(&token.kind, premise::Kind::Number(other) if other.agrees_with(stated)))
            };
            sentences.iter().flat_map(|sentence| &sentence.tokens).find_map(|token| match &token.kind {
                premise::Kind::Number(stated) if stated.unit.as_deref() == Some(unit) && !claimed_too(stated) => {
                    Some(format!("says {}, not {}", token.stem, claim[*at].stem))
                }
                _ => None,
            })
        })
    }

    /// A word of the claim that the place lacks, while it has its opposite.
    fn opposite(&self, claim: &[Token], sentences: &[Sentence], missing: &[usize]) -> Option<String> {
        let lexicon = lexicon::lexicon(self.language);
        missing.iter().find_map(|at| {
            let opposites = lexicon.opposite.get(&claim[*at].stem)?;
            let is_claimed = |word: &String| claim.iter().any(|token| token.stem == *word);
            sentences
                .iter()
                .flat_map(|sentence| &sentence.tokens)
                .find(|token| {
                    opposites.contains(&token.stem)
                        && !is_claimed(&token.stem)
                        && token.is_negated == claim[*at].is_negated
                })
                .map(|token| format!("says \"{}\", not \"{}\"", token.stem, claim[*at].stem))
        })
    }

    /// A place that confines itself (`only e-mail support`) and lacks what the claim adds from elsewhere.
    fn confined(
        &self,
        claim: &[Token],
        everywhere: &[Meeting],
        sentences: &[Sentence],
        missing: &[usize],
    ) -> Option<String> {
        let is_confined = sentences.iter().any(|sentence| sentence.is_exclusive);
        let at = missing
            .iter()
            .find(|at| everywhere.iter().any(|meeting| meeting.token == **at && 1.0 <= meeting.strength))?;
        is_confined.then(|| format!("confines itself, and \"{}\" stands elsewhere", claim[*at].stem))
    }

    /// A number of the claim that the place states of something else: what the claim ties it to stands only in another clause, which has
    /// a number of its own.
    fn scattered(&self, claim: &[Token], here: &[Meeting], window: &Window) -> Option<String> {
        let clause_of = |meeting: &Meeting| {
            self.sentences[meeting.sentence].tokens.get(meeting.there).map(|token| (meeting.sentence, token.clause))
        };
        for (at, token) in claim.iter().enumerate() {
            let premise::Kind::Number(number) = &token.kind else { continue };
            let Some(unit) = number.unit.as_deref().filter(|unit| *unit != super::number::YEAR) else { continue };
            let homes: Vec<_> = here.iter().filter(|meeting| meeting.token == at).filter_map(clause_of).collect();
            let has_other = claim.iter().enumerate().any(|(other, token)| {
                other != at
                    && matches!(&token.kind, premise::Kind::Number(number) if number.unit.as_deref() == Some(unit))
            });
            if homes.is_empty() || has_other {
                continue;
            }
            for (other, word) in claim.iter().enumerate() {
                if matches!(word.kind, premise::Kind::Number(_)) {
                    continue;
                }
                let strong: Vec<_> = here
                    .iter()
                    .filter(|meeting| meeting.token == other && 1.0 <= meeting.strength)
                    .filter_map(clause_of)
                    .collect();
                let is_beside = |place: &(usize, u32)| homes.iter().all(|home| home.0 == place.0 && home.1 < place.1);
                if strong.is_empty() || strong.iter().any(|place| homes.contains(place) || !is_beside(place)) {
                    continue;
                }
                let has_rival = |(sentence, clause): &(usize, u32)| {
                    self.sentences[*sentence].tokens.iter().any(|there| {
                        there.clause == *clause
                            && matches!(&there.kind, premise::Kind::Number(rival) if rival.unit.as_deref() == Some(unit) && !number.agrees_with(rival))
                    })
                };
                if strong.iter().all(has_rival) && window.first <= window.last {
                    return Some(format!("\"{}\" goes with another number than {}", word.stem, token.stem));
                }
            }
        }
        None
    }
}

/// From this coverage on the place speaks of the same thing, so that what it says otherwise contradicts.
const OPPOSED_FROM: f64 = 0.45;
/// From this coverage on another sentence may overrule the best one.
const OVERRULED_FROM: f64 = 0.4;
/// What a contradicted claim keeps of its coverage.
const CONTRADICTED: f64 = 0.3;
/// What a claim keeps when the place lacks one of its numbers or names.
const VITAL_MISSING: f64 = 0.6;

/// Share of the claim's neighbouring tokens, of those met, that stand near each other in the evidence too. 1 where there are none.
fn nearness(claim: &[Token], here: &[Meeting]) -> f64 {
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
fn read_claim(claim: &str, language: Language) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for token in super::sentence::statements(claim, language)
        .into_iter()
        .flat_map(|sentence| premise::read(sentence, 0, language).tokens)
    {
        if tokens.len() < CLAIM_TOKENS && seen.insert(token.stem.clone()) {
            tokens.push(token);
        }
    }
    tokens
}

fn weight(token: &Token) -> f64 {
    match &token.kind {
        premise::Kind::Number(number) if number.is_vague => VAGUE_WEIGHT,
        premise::Kind::Number(_) => NUMBER_WEIGHT,
        premise::Kind::Word if token.is_name => NAME_WEIGHT,
        premise::Kind::Word | premise::Kind::Han => 1.0,
    }
}

/// A name of two or more words, at least half of which the evidence has nowhere.
fn unknown_name(claim: &[Token], everywhere: &[Meeting]) -> Option<String> {
    let is_known =
        |at: usize| everywhere.iter().any(|meeting| meeting.token == at && SAME_BEGINNING <= meeting.strength);
    let mut at = 0;
    while at < claim.len() {
        let len = claim[at..].iter().take_while(|token| token.is_name).count();
        let unknown = (at..at + len).filter(|at| !is_known(*at)).count();
        if 2 <= len && len <= unknown * 2 {
            return Some(claim[at..at + len].iter().map(|token| token.stem.as_str()).collect::<Vec<_>>().join(" "));
        }
        at += len.max(1);
    }
    None
}

/// A word that every place here says with the other sign: the very word that a negation is about, or half of all that was met.
fn opposed(sentences: &[Sentence], claim: &[Token], here: &[Meeting]) -> Option<String> {
    let (mut met, mut against, mut first) = (0.0, 0.0, None);
    for (at, token) in claim.iter().enumerate() {
        let mut strong =
            here.iter().filter(|meeting| meeting.token == at && SAME_BEGINNING <= meeting.strength).peekable();
        if strong.peek().is_none() {
            continue;
        }
        met += weight(token);
        let is_direct = |meeting: &Meeting| {
            let there = sentences[meeting.sentence].tokens.get(meeting.there);
            meeting.is_twin
                || token.is_negation_head
                || there.is_some_and(|there| {
                    there.is_negation_head || negates_claimed(sentences, here, meeting.sentence, there.clause)
                })
        };
        let mut is_head = false;
        let all = strong.all(|meeting| {
            is_head |= is_direct(meeting);
            meeting.is_opposed
        });
        if all {
            against += weight(token);
            first = first.or(Some(token));
            if is_head && !token.is_name {
                return Some(format!("\"{}\" is said with the opposite sign", token.stem));
            }
        }
    }
    first.filter(|_| met <= against * 2.0).map(|token| format!("\"{}\" is said with the opposite sign", token.stem))
}

/// Whether a clause negates a word that the claim asserts.
fn negates_claimed(sentences: &[Sentence], here: &[Meeting], sentence: usize, clause: u32) -> bool {
    here.iter().any(|meeting| {
        meeting.sentence == sentence
            && meeting.is_opposed
            && SAME_BEGINNING <= meeting.strength
            && sentences[sentence]
                .tokens
                .get(meeting.there)
                .is_some_and(|there| there.is_negation_head && there.clause == clause)
    })
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

#[cfg(test)]
mod tests;
