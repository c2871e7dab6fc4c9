//! Makes outcomes out of a judge's claims.

use super::{cause, numbered::Part};
use crate::model::{Claim, Detail, Outcome, UnitInterval, Verdict};

/// The share of good claims, with `k of n`; unmeasured without any claim.
pub fn share_of_claims(good: usize, claims: Vec<Claim>) -> Outcome {
    let all = claims.len();
    match UnitInterval::share(good, all) {
        Some(score) => Outcome::scored_with(score, Detail { claims, k_of_n: Some((good, all)), ..Detail::default() }),
        None => no_claims(),
    }
}

/// The outcome of an answer that is no refusal and in which the judge finds no claim: unmeasured, since the judge is as likely at fault.
pub fn no_claims() -> Outcome {
    Outcome::unmeasured(cause::NO_CLAIMS, "the judge finds no claim in an answer that is neither blank nor a refusal")
}

/// A computed score; unmeasured where it lies outside 0 to 1 or is no number, which is never clamped.
pub fn scored(value: f64, detail: Detail) -> Outcome {
    match UnitInterval::new(value) {
        Ok(score) => Outcome::scored_with(score, detail),
        Err(out_of_range) => Outcome::unmeasured(cause::RANGE, out_of_range.to_string()),
    }
}

/// The claim that one numbered sentence makes, by an entry with `verdict` and perhaps `reason`; `None` for `no_claim`.
///
/// # Errors
/// The entry does not fit, see [`Part::verdict_or_no_claim`].
pub fn claim_of(part: &Part<'_>, words: &[(&str, Verdict)], sentence: &str) -> Result<Option<Claim>, String> {
    let reason = part.text("reason")?.map(str::to_owned);
    let verdict = part.verdict_or_no_claim(words)?;
    Ok(verdict.map(|verdict| Claim { text: sentence.to_owned(), verdict, evidence: None, reason }))
}

/// Adds a claim to those of one reply.
///
/// # Errors
/// The reply gave another verdict on the same statement. Of two verdicts nobody knows which to believe; such a reply may be quoting what
/// it was shown.
pub fn push_claim(claims: &mut Vec<Claim>, claim: Claim, word: impl Fn(Verdict) -> &'static str) -> Result<(), String> {
    if let Some(other) = claims.iter().find(|other| other.text == claim.text && other.verdict != claim.verdict) {
        let (one, two) = (word(other.verdict), word(claim.verdict));
        return Err(format!("`{}` is both {one} and {two}", claim.text));
    }
    claims.push(claim);
    Ok(())
}

/// How many claims are supported.
pub fn supported(claims: &[Claim]) -> usize {
    claims.iter().filter(|claim| claim.verdict == Verdict::Supported).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_outside_the_interval_is_a_fault_and_never_clamped() {
        for bad in [f64::NAN, -0.1, 1.1, f64::INFINITY] {
            assert_eq!(scored(bad, Detail::default()).fault().map(|fault| fault.cause.as_str()), Some(cause::RANGE));
        }
        assert_eq!(scored(1.0, Detail::default()).score(), Some(UnitInterval::ONE));
    }

    #[test]
    fn no_claims_are_no_score() {
        assert_eq!(share_of_claims(0, Vec::new()), no_claims());
    }
}
