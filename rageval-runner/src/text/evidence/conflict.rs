//! Finds what in the evidence speaks against a claim.

use super::{
    super::number::{Number, YEAR},
    lexicon::lexicon,
    meeting::{Meeting, SAME_BEGINNING, SAME_GROUP, Window, weight},
    premise::{Kind, Premises, Sentence, Token},
};

/// From this coverage on another sentence may overrule the best one.
const OVERRULED_FROM: f64 = 0.4;

impl Premises {
    /// Another sentence that has what the best place lacks, and says the opposite: the rule for `plans` is elsewhere when the claim is of
    /// `enterprise plans`.
    pub(super) fn overruled(
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

    /// A number of the claim that the place lacks, while it states another of the same unit, or the same with another unit or sign.
    pub(super) fn number_conflict(&self, claim: &[Token], sentences: &[Sentence], missing: &[usize]) -> Option<String> {
        missing.iter().find_map(|at| {
            let Kind::Number(number) = &claim[*at].kind else { return None };
            let unit = number.unit.as_deref().filter(|_| !number.is_vague)?;
            let claimed_too = |stated: &Number| {
                claim.iter().any(|token| matches!(&token.kind, Kind::Number(other) if other.agrees_with(stated)))
            };
            sentences.iter().flat_map(|sentence| &sentence.tokens).find_map(|token| match &token.kind {
                Kind::Number(stated)
                    if (stated.unit.as_deref() == Some(unit) || number.clashes_with(stated))
                        && !claimed_too(stated) =>
                {
                    Some(format!("says {}, not {}", with_unit(token), with_unit(&claim[*at])))
                        .filter(|_| token.shown == claim[*at].shown)
                        .or_else(|| Some(format!("says {}, not {}", token.shown, claim[*at].shown)))
                }
                _ => None,
            })
        })
    }

    /// Weight of the claim's numbers that the place states with another unit or sign: it speaks of the same, and says it otherwise.
    pub(super) fn clashing(claim: &[Token], sentences: &[Sentence], missing: &[usize]) -> f64 {
        let clashes = |at: &&usize| {
            let Kind::Number(number) = &claim[**at].kind else { return false };
            sentences
                .iter()
                .flat_map(|sentence| &sentence.tokens)
                .any(|token| matches!(&token.kind, Kind::Number(stated) if number.clashes_with(stated)))
        };
        missing.iter().filter(clashes).map(|at| weight(&claim[*at])).sum()
    }

    /// A word of the claim that the place lacks, while it has its opposite.
    pub(super) fn opposite(&self, claim: &[Token], sentences: &[Sentence], missing: &[usize]) -> Option<String> {
        let lexicon = lexicon(self.language);
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
                .map(|token| format!("says \"{}\", not \"{}\"", token.shown, claim[*at].shown))
        })
    }

    /// A place that confines itself (`only e-mail support`) and lacks what the claim adds from elsewhere.
    pub(super) fn confined(
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
        is_confined.then(|| format!("confines itself, and \"{}\" stands elsewhere", claim[*at].shown))
    }

    /// A number of the claim that the place states of something else: what the claim ties it to stands only in another clause, which has
    /// a number of its own.
    pub(super) fn scattered(&self, claim: &[Token], here: &[Meeting]) -> Option<String> {
        let clause_of = |meeting: &Meeting| {
            self.sentences[meeting.sentence].tokens.get(meeting.there).map(|token| (meeting.sentence, token.clause))
        };
        for (at, token) in claim.iter().enumerate() {
            let Kind::Number(number) = &token.kind else { continue };
            let Some(unit) = number.unit.as_deref().filter(|unit| *unit != YEAR) else { continue };
            let homes: Vec<_> = here.iter().filter(|meeting| meeting.token == at).filter_map(clause_of).collect();
            let has_other = claim.iter().enumerate().any(|(other, token)| {
                other != at && matches!(&token.kind, Kind::Number(number) if number.unit.as_deref() == Some(unit))
            });
            if homes.is_empty() || has_other {
                continue;
            }
            for (other, word) in claim.iter().enumerate() {
                if matches!(word.kind, Kind::Number(_)) {
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
                            && matches!(&there.kind, Kind::Number(rival) if rival.unit.as_deref() == Some(unit) && !number.agrees_with(rival))
                    })
                };
                if strong.iter().all(has_rival) {
                    return Some(format!("\"{}\" goes with another number than {}", word.shown, token.shown));
                }
            }
        }
        None
    }
}

/// A number as it stands, with its unit where that is known.
fn with_unit(token: &Token) -> String {
    match &token.kind {
        Kind::Number(number) => {
            number.measure.map_or_else(|| token.shown.clone(), |measure| format!("{} {}", token.shown, measure.name))
        }
        Kind::Word | Kind::Han => token.shown.clone(),
    }
}

/// A word that every place here says with the other sign: the very word that a negation is about, or half of all that was met.
pub(super) fn opposed(sentences: &[Sentence], claim: &[Token], here: &[Meeting]) -> Option<String> {
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
                return Some(format!("\"{}\" is said with the opposite sign", token.shown));
            }
        }
    }
    first.filter(|_| met <= against * 2.0).map(|token| format!("\"{}\" is said with the opposite sign", token.shown))
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

/// A name of two or more words, at least half of which the evidence has nowhere.
pub(super) fn unknown_name(claim: &[Token], everywhere: &[Meeting]) -> Option<String> {
    let is_known =
        |at: usize| everywhere.iter().any(|meeting| meeting.token == at && SAME_BEGINNING <= meeting.strength);
    let mut at = 0;
    while at < claim.len() {
        let len = claim[at..].iter().take_while(|token| token.is_name).count();
        let unknown = (at..at + len).filter(|at| !is_known(*at)).count();
        if 2 <= len && len <= unknown * 2 {
            return Some(claim[at..at + len].iter().map(|token| token.shown.as_str()).collect::<Vec<_>>().join(" "));
        }
        at += len.max(1);
    }
    None
}
