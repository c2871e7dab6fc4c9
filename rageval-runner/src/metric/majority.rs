//! What several readings of one answer say together: the majority for each claim, the median of scores.

use crate::{
    metric::{Input, Metric, finish},
    model::{Claim, Detail, Heard, Outcome, UnitInterval, Verdict},
};

/// What a baseline keeps of a score that was read several times; `first` is the first reading, `heard` the further ones.
///
/// A metric with fixed items: each item has the verdict of most readings, good and bad told apart as the metric does, and a tie stays as it
/// was read first; the outcome is what the metric makes of these verdicts. Any other metric: the median of the scores, of an even number
/// the lower of the two in the middle, so that it is one that was read. Readings that say nothing are no votes; without any, and where
/// `first` is no score, it stays.
pub fn majority(metric: &dyn Metric, input: &Input<'_>, first: &Outcome, heard: &[Heard]) -> Outcome {
    let Outcome::Scored { score, detail } = first else { return first.clone() };
    let claims = &detail.claims;
    if let Some(reread) = metric.rereads().filter(|_| !claims.is_empty()) {
        let is_bad = |verdict: Verdict| reread.is_bad(input.params, verdict);
        let read_again = |at: usize| {
            heard.iter().filter_map(move |heard| match heard {
                Heard::Verdicts { verdicts } if verdicts.len() == claims.len() => verdicts.get(at).copied(),
                Heard::Verdicts { .. } | Heard::Score { .. } | Heard::Nothing { .. } => None,
            })
        };
        let settled: Vec<Claim> = claims
            .iter()
            .enumerate()
            .map(|(at, claim)| {
                let other_side = |verdict: &Verdict| is_bad(*verdict) != is_bad(claim.verdict);
                let votes = 1 + read_again(at).count();
                let against = read_again(at).filter(other_side).count();
                match read_again(at).find(other_side).filter(|_| 2 * against > votes) {
                    Some(verdict) => Claim { text: claim.text.clone(), verdict, evidence: None, reason: None },
                    None => claim.clone(),
                }
            })
            .collect();
        return if settled == *claims {
            first.clone()
        } else {
            finish(metric, input.params, reread.outcome(input, settled)).read_first_as(first)
        };
    }
    let mut scores: Vec<UnitInterval> = vec![score.value];
    scores.extend(heard.iter().filter_map(|heard| match heard {
        Heard::Score { score } => Some(*score),
        Heard::Verdicts { .. } | Heard::Nothing { .. } => None,
    }));
    scores.sort();
    let median = scores[(scores.len() - 1) / 2];
    if median == score.value {
        return first.clone();
    }
    let note = Some(format!("median of {} readings", scores.len()));
    Outcome::scored_with(median, Detail { claims: claims.clone(), note, ..Detail::default() }).read_first_as(first)
}

/// How many readings have a say, the first one counted.
pub fn readings(heard: &[Heard]) -> usize {
    1 + heard.iter().filter(|heard| !matches!(heard, Heard::Nothing { .. })).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::{
        find,
        trying::{Try, context},
    };
    use Verdict::{Contradicted, Inferred, Supported, Unsupported};

    fn first(verdicts: &[Verdict]) -> Outcome {
        let claim = |(n, verdict): (usize, &Verdict)| Claim {
            text: format!("claim {n}"),
            verdict: *verdict,
            evidence: None,
            reason: Some("first".to_owned()),
        };
        let claims: Vec<Claim> = verdicts.iter().enumerate().map(claim).collect();
        let k = verdicts.iter().filter(|verdict| **verdict == Supported).count();
        let detail = Detail { claims, k_of_n: Some((k, verdicts.len())), ..Detail::default() };
        Outcome::scored_with(UnitInterval::share(k, verdicts.len()).expect("a share"), detail)
    }

    fn settled(metric: &str, first: &Outcome, heard: &[Heard]) -> Outcome {
        let metric = find(metric).expect("a metric");
        Try::of(metric)
            .answer("A. B.")
            .contexts(vec![context("d", "text")])
            .look(|input| majority(metric, input, first, heard))
    }

    fn verdicts(verdicts: &[Verdict]) -> Heard {
        Heard::Verdicts { verdicts: verdicts.to_vec() }
    }

    fn said(outcome: &Outcome) -> Vec<Verdict> {
        outcome.detail().expect("a score").claims.iter().map(|claim| claim.verdict).collect()
    }

    fn nothing() -> Heard {
        Heard::Nothing { why: "time-out".to_owned() }
    }

    #[test]
    fn each_claim_has_the_verdict_of_most_readings_and_the_score_follows() {
        let read = first(&[Supported, Unsupported, Supported]);
        let heard =
            [verdicts(&[Contradicted, Supported, Supported]), verdicts(&[Unsupported, Supported, Contradicted])];
        let outcome = settled("faithfulness", &read, &heard);
        assert_eq!(said(&outcome), [Contradicted, Supported, Supported]);
        assert_eq!(outcome.score(), UnitInterval::share(2, 3));
        assert_eq!(outcome.detail().expect("a score").k_of_n, Some((2, 3)));
    }

    #[test]
    fn a_tie_and_a_reading_that_says_nothing_leave_the_first() {
        let read = first(&[Supported]);
        for heard in [&[verdicts(&[Unsupported])][..], &[nothing(), verdicts(&[Unsupported])], &[nothing()], &[]] {
            assert_eq!(settled("faithfulness", &read, heard), read);
        }
        // Verdicts of another number of claims are of other claims.
        let other = verdicts(&[Unsupported, Unsupported]);
        assert_eq!(settled("faithfulness", &read, &[other.clone(), other]), read);
    }

    #[test]
    fn words_of_one_side_are_one_vote() {
        let read = first(&[Supported]);
        let outcome = settled("faithfulness", &read, &[verdicts(&[Inferred]), verdicts(&[Contradicted])]);
        assert_eq!((said(&outcome), outcome.score()), (vec![Inferred], Some(UnitInterval::ZERO)));
    }

    #[test]
    fn other_metrics_have_the_median() {
        let number = |number: f64| UnitInterval::new(number).expect("in range");
        let (read, score) = (Outcome::scored(number(0.9)), |of: f64| Heard::Score { score: number(of) });
        assert_eq!(settled("rubric", &read, &[score(0.4), score(0.5)]).score(), Some(number(0.5)));
        assert_eq!(settled("rubric", &read, &[score(0.4), score(1.0)]), read);
        assert_eq!(settled("rubric", &read, &[score(0.4)]).score(), Some(number(0.4)));
        assert_eq!(readings(&[score(0.4), nothing()]), 2);
    }

    #[test]
    fn what_is_no_score_stays() {
        let outcome = Outcome::not_applicable("declined");
        assert_eq!(settled("faithfulness", &outcome, &[verdicts(&[Supported])]), outcome);
    }
}
