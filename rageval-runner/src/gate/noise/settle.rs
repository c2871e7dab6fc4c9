//! Settles one suspect: given all its readings so far, what is read next, or what it came to.

use super::{Bars, most_readings};
use crate::model::{Heard, Verdict};

/// Good votes that keep a claim of the baseline good, the stored one included.
const KEEPS: usize = 5;
/// Votes on a claim of the baseline, the stored one included.
const VOTES: usize = 7;
/// The count from which on an open claim is taken seriously enough to judge the baseline's answer again.
const LIKELY: i32 = 3;
/// Readings of a metric without fixed claims, the first included: their median counts.
const SCORES: usize = 5;

/// One suspect as it was first read, with what it is held against.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    /// Whether each claim of the first reading counts against the score, in its order; empty for a metric without fixed claims.
    pub bad: &'a [bool],
    /// The first score.
    pub first: f64,
    /// The bars.
    pub bars: Bars,
    /// [`super::depth`] of the set.
    pub depth: u32,
    /// The score of claims with these flags: their share of good ones, average precision, ...
    pub score: &'a dyn Fn(&[bool]) -> f64,
    /// Whether a claim with this verdict counts against the score.
    pub is_bad: &'a dyn Fn(Verdict) -> bool,
    /// The stored claims of the baseline's answer in the same form, empty for a metric without fixed claims; `None` where that answer can't be judged again.
    pub baseline: Option<&'a [bool]>,
}

/// What a suspect needs next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// One more reading of this run's answer.
    ReadNow,
    /// One more reading of the baseline's answer.
    ReadBaseline,
    /// No more: it is settled.
    Done(Settled),
    /// No more: too many readings failed, and the first one stands. Why, as a phrase.
    NotConfirmed(String),
}

/// What the readings of a suspect came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Settled {
    /// Whether it lies outside any of its bars.
    pub is_confirmed: bool,
    /// Whether it breaks `min` or `max_drop`, so that its case is red.
    pub breaks_case_rule: bool,
    /// Whether each claim counts against the score; empty for a metric without fixed claims.
    pub bad: Vec<bool>,
    /// The score.
    pub score: f64,
    /// The baseline's score after its answer was judged again; `None` where it was not.
    pub baseline: Option<f64>,
    /// Every further reading repeats the first one. A judge that answers equal questions equally tells nothing new, so this says that the readings
    /// agree and not that they are right.
    pub no_information: bool,
}

/// What a suspect needs next, from all its readings so far in the order in which they were asked for.
///
/// Only claims that the first reading found bad are in question. A bad reading counts +1, the first included, and a clean one -2; at 0 or less the
/// claim is cleared, at `depth` confirmed, and still open after [`most_readings`] it is cleared. It ends once it makes no difference to the case's
/// ruling, nor to which side of the tail's bar it lies on, whether all open claims are good or all are bad; open claims then count as bad.
///
/// Where the case is red by `max_drop` alone with the claims that have reached +3, the baseline may have been the lucky one: its answer is judged
/// again, and a claim stored as good keeps that with 5 good votes of at most 7, the stored one included.
///
/// A metric without fixed claims takes the median of 5 scores, of either side. A failed call is no vote; after `depth + 6` calls about one answer nothing is settled.
pub fn next(case: &Case<'_>, now: &[Heard], baseline: &[Heard]) -> Next {
    if case.bad.is_empty() { by_scores(case, now, baseline) } else { by_claims(case, now, baseline) }
}

fn by_claims(case: &Case<'_>, now: &[Heard], baseline: &[Heard]) -> Next {
    let mut claims: Vec<Count> = case.bad.iter().map(|bad| Count::first(*bad)).collect();
    let mut before = None;
    let mut voted = Vec::new();
    for asked in 0..=now.len() {
        if let Some(votes) = asked.checked_sub(1).and_then(|last| votes(case, &now[last], case.bad.len())) {
            for (claim, bad) in claims.iter_mut().zip(&votes) {
                claim.add(*bad, case.depth);
            }
            voted.push(votes);
        }
        let score = |is_bad: &dyn Fn(&Count) -> bool| (case.score)(&claims.iter().map(is_bad).collect::<Vec<_>>());
        if before.is_none() && is_by_drop_alone(case, score(&Count::is_likely)) {
            match case.baseline.map(|stored| judged_again(case, stored, baseline)) {
                Some(Again::Read) => return Next::ReadBaseline,
                Some(Again::Failed) => return not_heard("the baseline's answer", baseline.len()),
                Some(Again::Score(score)) => before = Some(score),
                None => {}
            }
        }
        let (best, worst) = (score(&Count::is_confirmed), score(&|claim| !claim.is_cleared()));
        let red = |score: f64| case.bars.breaks_min(score) || case.bars.breaks_drop(score, before);
        if red(best) == red(worst) && case.bars.breaks_tail(best) == case.bars.breaks_tail(worst) {
            let bad = claims.iter().map(|claim| !claim.is_cleared()).collect();
            let no_information = !voted.is_empty() && voted.iter().all(|votes| votes == case.bad);
            return done(case, bad, worst, before, no_information);
        }
        if asked >= most_readings(case.depth) as usize {
            return not_heard("the answer", asked);
        }
    }
    Next::ReadNow
}

/// Where one claim of the first reading stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Count {
    /// Good at first, or cleared.
    Cleared,
    /// In question: its count, and how often it was read.
    Open { count: i32, readings: u32 },
    /// Bad.
    Confirmed,
}

impl Count {
    fn first(bad: bool) -> Self {
        if bad { Self::Open { count: 1, readings: 1 } } else { Self::Cleared }
    }

    fn add(&mut self, bad: bool, depth: u32) {
        let Self::Open { count, readings } = *self else { return };
        let (count, readings) = (if bad { count + 1 } else { count - 2 }, readings + 1);
        *self = if count <= 0 {
            Self::Cleared
        } else if count >= depth as i32 {
            Self::Confirmed
        } else if readings >= most_readings(depth) {
            Self::Cleared
        } else {
            Self::Open { count, readings }
        };
    }

    fn is_cleared(&self) -> bool {
        *self == Self::Cleared
    }

    fn is_confirmed(&self) -> bool {
        *self == Self::Confirmed
    }

    fn is_likely(&self) -> bool {
        match self {
            Self::Cleared => false,
            Self::Open { count, readings: _ } => *count >= LIKELY,
            Self::Confirmed => true,
        }
    }
}

/// Whether each claim is found bad; `None` where the reading is no vote.
fn votes(case: &Case<'_>, heard: &Heard, claims: usize) -> Option<Vec<bool>> {
    match heard {
        Heard::Verdicts { verdicts } if verdicts.len() == claims => {
            Some(verdicts.iter().map(|verdict| (case.is_bad)(*verdict)).collect())
        }
        Heard::Verdicts { .. } | Heard::Score { .. } | Heard::Nothing { .. } => None,
    }
}

fn is_by_drop_alone(case: &Case<'_>, score: f64) -> bool {
    !case.bars.breaks_min(score) && case.bars.breaks_drop(score, None)
}

/// What judging the baseline's answer again has come to.
enum Again {
    Read,
    Failed,
    Score(f64),
}

fn judged_again(case: &Case<'_>, stored: &[bool], heard: &[Heard]) -> Again {
    let mut tally: Vec<(usize, usize)> = stored.iter().map(|bad| if *bad { (0, VOTES) } else { (1, 0) }).collect();
    let is_lost = |(_, bad): &(usize, usize)| *bad > VOTES - KEEPS;
    for votes in heard.iter().filter_map(|heard| votes(case, heard, stored.len())) {
        for (claim, bad) in tally.iter_mut().zip(votes) {
            if bad { claim.1 += 1 } else { claim.0 += 1 }
        }
    }
    if tally.iter().all(|claim| is_lost(claim) || claim.0 >= KEEPS) {
        return Again::Score((case.score)(&tally.iter().map(is_lost).collect::<Vec<_>>()));
    }
    if heard.len() >= most_readings(case.depth) as usize { Again::Failed } else { Again::Read }
}

fn by_scores(case: &Case<'_>, now: &[Heard], baseline: &[Heard]) -> Next {
    let most = most_readings(case.depth) as usize;
    let scores = with_scores(case.first, now);
    if scores.len() < SCORES {
        return if now.len() < most { Next::ReadNow } else { not_heard("the answer", now.len()) };
    }
    let score = median(&scores);
    let mut before = None;
    if let (Some(drop), Some(_)) = (case.bars.drop, case.baseline)
        && is_by_drop_alone(case, score)
    {
        let scores = with_scores(drop.baseline, baseline);
        if scores.len() < SCORES {
            let is_open = baseline.len() < most;
            return if is_open { Next::ReadBaseline } else { not_heard("the baseline's answer", baseline.len()) };
        }
        before = Some(median(&scores));
    }
    let no_information = scores.iter().all(|score| *score == case.first);
    done(case, Vec::new(), score, before, no_information)
}

/// The first score with those that were heard, at most [`SCORES`].
fn with_scores(first: f64, heard: &[Heard]) -> Vec<f64> {
    let of = |heard: &Heard| match heard {
        Heard::Score { score } => Some(score.get()),
        Heard::Verdicts { .. } | Heard::Nothing { .. } => None,
    };
    std::iter::once(first).chain(heard.iter().filter_map(of)).take(SCORES).collect()
}

fn median(scores: &[f64]) -> f64 {
    let mut sorted = scores.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn done(case: &Case<'_>, bad: Vec<bool>, score: f64, baseline: Option<f64>, no_information: bool) -> Next {
    let breaks_case_rule = case.bars.breaks_min(score) || case.bars.breaks_drop(score, baseline);
    let is_confirmed = breaks_case_rule || case.bars.breaks_tail(score);
    Next::Done(Settled { is_confirmed, breaks_case_rule, bad, score, baseline, no_information })
}

fn not_heard(what: &str, asked: usize) -> Next {
    Next::NotConfirmed(format!("{asked} calls about {what} gave too few readings"))
}

#[cfg(test)]
mod tests;
