//! Weighs a claim against evidence by text alone: the evidence screen.
//!
//! It asks whether the claim's words, numbers and names stand close together in the evidence, and whether the place where they do says
//! the opposite. It is no entailment: it neither knows what words mean beyond a short table nor follows an argument. What it is worth was
//! measured; `docs/offline-judge.md` has the figures.

mod conflict;
mod lexicon;
mod meeting;
mod premise;

use conflict::{opposed, unknown_name};
use meeting::{BOTH_CHARACTERS, Meeting, SAME_BEGINNING, Window, nearness, read_claim, weight};
pub use premise::Premises;
use premise::Token;

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

        let total: f64 = claim.iter().map(weight).sum();
        if OPPOSED_FROM <= window.covered + Self::clashing(claim, sentences, &missing) / total
            && let Some(why) = self
                .number_conflict(claim, sentences, &missing)
                .or_else(|| opposed(&self.sentences, claim, here))
                .or_else(|| self.opposite(claim, sentences, &missing))
                .or_else(|| self.confined(claim, everywhere, sentences, &missing))
                .or_else(|| self.scattered(claim, here))
        {
            return reading(Verdict::Contradicted, CONTRADICTED, why);
        }
        let vital = missing.iter().find(|at| match &claim[**at].kind {
            premise::Kind::Number(number) => !number.is_vague && !number.is_small_word,
            premise::Kind::Word | premise::Kind::Han => false,
        });
        if let Some(at) = vital {
            let place = if met(*at, everywhere) { "stands elsewhere" } else { "is not in the evidence" };
            return reading(Verdict::Unsupported, VITAL_MISSING, format!("\"{}\" {place}", claim[*at].shown));
        }
        if let Some(name) = unknown_name(claim, everywhere) {
            return reading(Verdict::Unsupported, VITAL_MISSING, format!("\"{name}\" is not in the evidence"));
        }
        if window.covered * (APART + (1.0 - APART) * nearness) < ENOUGH {
            let words: Vec<_> = missing.iter().take(5).map(|at| format!("\"{}\"", claim[*at].shown)).collect();
            return reading(Verdict::Unsupported, 1.0, format!("nothing near it says {}", words.join(", ")));
        }
        if let Some((sentence, why)) = self.overruled(claim, everywhere, window, &missing) {
            let best = Some((sentence.source, sentence.text.clone()));
            return Reading { best, ..reading(Verdict::Contradicted, CONTRADICTED, why) };
        }
        let is_rounded = here.iter().any(|meeting| {
            match (&claim[meeting.token].kind, self.sentences[meeting.sentence].tokens.get(meeting.there)) {
                (premise::Kind::Number(claimed), Some(Token { kind: premise::Kind::Number(stated), .. })) => {
                    !claimed.equals(stated)
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
            let words: Vec<_> = missing.iter().take(3).map(|at| format!("\"{}\"", claim[*at].shown)).collect();
            format!("all but {} is there", words.join(", "))
        };
        reading(Verdict::Supported, 1.0, why)
    }
}

/// From this coverage on the place speaks of the same thing, so that what it says otherwise contradicts.
const OPPOSED_FROM: f64 = 0.45;
/// What a contradicted claim keeps of its coverage.
const CONTRADICTED: f64 = 0.3;
/// What a claim keeps when the place lacks one of its numbers or names.
const VITAL_MISSING: f64 = 0.6;

#[cfg(test)]
mod tests;
