//! Asks a judge again about the items of a first reading: the same claims, sentences or contexts, and a verdict on each.

use crate::{
    metric::{Input, Params, asking::Reading},
    model::{Claim, Outcome, Transcript, Verdict},
};

/// A metric whose items stay the same, so that a fresh reading gives one verdict on each.
///
/// [`Verdict::Supported`] is good and [`Verdict::Contradicted`] bad to every such metric; [`Reread::is_bad`] says it of the others.
pub trait Reread: Send + Sync {
    /// The verdicts of the reading of this number, from 1, on the items of the first reading and in their order; or what has to be asked
    /// for them. The items and the contexts are shown in another order in each reading.
    ///
    /// `claims` are those of the first reading, blanks included, and not empty. A fault is a reading that says nothing.
    fn step(&self, input: &Input<'_>, claims: &[Claim], number: u32, transcript: &Transcript) -> Reading<Vec<Verdict>>;

    /// Whether an item of this verdict counts against the score.
    fn is_bad(&self, params: &Params, verdict: Verdict) -> bool;

    /// The outcome of these items with these verdicts, as the metric itself makes it; the score depends on the verdicts alone.
    fn outcome(&self, input: &Input<'_>, claims: Vec<Claim>) -> Outcome;
}

/// The items as texts.
pub(super) fn texts(claims: &[Claim]) -> Vec<String> {
    claims.iter().map(|claim| claim.text.clone()).collect()
}

/// The score of items of which these are bad, in their order; `None` where that is none, as of no items.
pub fn score_of(reread: &dyn Reread, input: &Input<'_>, bad: &[bool]) -> Option<f64> {
    let claim = |is_bad: &bool| Claim {
        text: String::new(),
        verdict: if *is_bad { Verdict::Contradicted } else { Verdict::Supported },
        evidence: None,
        reason: None,
    };
    Some(reread.outcome(input, bad.iter().map(claim).collect()).score()?.get())
}

#[cfg(test)]
mod tests;
