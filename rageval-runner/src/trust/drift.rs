//! How a judge differs from another one, or from itself, on the same answers.

use crate::{
    model::{CaseId, Claim, MetricKey, Outcome, Verdict},
    stats::{Cluster, Interval, mean, mean_interval, spearman},
};

/// Scores closer than this are equal.
const SLACK: f64 = 1e-9;

/// One recorded answer with what two judges say of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Rejudged {
    /// The case.
    pub case: CaseId,
    /// What the earlier judge said.
    pub before: Outcome,
    /// What the later one says.
    pub now: Outcome,
    /// The claims of the earlier one, each with the later one's verdict; empty where they were not judged again.
    pub claims: Vec<(Claim, Verdict)>,
}

/// A score by both judges.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift<'a> {
    /// The answer.
    pub of: &'a Rejudged,
    /// The earlier score.
    pub before: f64,
    /// The later score.
    pub now: f64,
}

impl Shift<'_> {
    /// Later minus earlier.
    pub fn size(&self) -> f64 {
        self.now - self.before
    }
}

/// Claims on which two judges can be compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flips {
    /// All of them.
    pub claims: usize,
    /// Good to the earlier judge and bad to the later one.
    pub to_bad: usize,
    /// Bad to the earlier judge and good to the later one.
    pub to_good: usize,
}

impl Flips {
    /// Claims on which the two disagree.
    pub fn flipped(&self) -> usize {
        self.to_bad + self.to_good
    }
}

/// How one metric differs between two judges on the same answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Drift<'a> {
    /// The metric.
    pub metric: &'a MetricKey,
    /// Answers that both scored, largest shift first, equal ones in the order given.
    pub shifts: Vec<Shift<'a>>,
    /// Mean score of the earlier judge over them; `None` where both scored none.
    pub before: Option<f64>,
    /// Mean score of the later judge.
    pub now: Option<f64>,
    /// 95 % BCa interval of the mean shift over answers; `None` where there are fewer than two or all shifts are equal.
    pub interval: Option<Interval>,
    /// Spearman's rank correlation of both judges' scores; `None` where one of them has no order.
    pub rho: Option<f64>,
    /// Claims on which both can be compared; `None` where there is none.
    pub flips: Option<Flips>,
    /// Answers that only one of the two scored.
    pub one_sided: Vec<&'a Rejudged>,
}

impl<'a> Drift<'a> {
    /// Compares two judges on the answers of one metric, by what each said first: the majority of several readings of one beside the first
    /// reading of the other would look like a shift. `is_bad` says which verdicts count against the score.
    pub fn of(metric: &'a MetricKey, answers: &'a [Rejudged], is_bad: impl Fn(Verdict) -> bool, seed: u64) -> Self {
        let mut shifts = Vec::new();
        let mut one_sided = Vec::new();
        for of in answers {
            match (of.before.first_score(), of.now.first_score()) {
                (Some(before), Some(now)) => shifts.push(Shift { of, before: before.get(), now: now.get() }),
                (None, None) => {}
                (Some(_), None) | (None, Some(_)) => one_sided.push(of),
            }
        }
        let pairs: Vec<(f64, f64)> = shifts.iter().map(|shift| (shift.before, shift.now)).collect();
        let (before, now): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let clusters: Vec<Cluster> = shifts.iter().map(|shift| Cluster::one(shift.size())).collect();
        let mut flips = Flips::default();
        for (claim, verdict) in answers.iter().flat_map(|answer| &answer.claims) {
            flips.claims += 1;
            match (is_bad(claim.verdict), is_bad(*verdict)) {
                (false, true) => flips.to_bad += 1,
                (true, false) => flips.to_good += 1,
                (true, true) | (false, false) => {}
            }
        }
        shifts.sort_by(|a, b| b.size().abs().total_cmp(&a.size().abs()));
        Self {
            metric,
            before: mean(&before),
            now: mean(&now),
            interval: mean_interval(&clusters, seed),
            rho: spearman(&pairs),
            flips: Some(flips).filter(|flips| flips.claims > 0),
            shifts,
            one_sided,
        }
    }

    /// Scores that are not equal.
    pub fn moved(&self) -> impl Iterator<Item = &Shift<'a>> {
        self.shifts.iter().filter(|shift| shift.size().abs() > SLACK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::UnitInterval;

    fn score(of: f64) -> Outcome {
        Outcome::scored(UnitInterval::new(of).expect("in range"))
    }

    fn answer(case: &str, before: Outcome, now: Outcome) -> Rejudged {
        Rejudged { case: CaseId::new(case).expect("an id"), before, now, claims: Vec::new() }
    }

    fn is_bad(verdict: Verdict) -> bool {
        verdict != Verdict::Supported
    }

    #[test]
    fn scores_that_both_gave_are_paired_and_the_largest_shift_stands_first() {
        let answers = [
            answer("a", score(1.0), score(0.9)),
            answer("b", score(0.5), score(1.0)),
            answer("c", score(0.2), score(0.2)),
            answer("d", score(0.4), Outcome::not_applicable("declined")),
            answer("e", Outcome::not_applicable("declined"), Outcome::not_applicable("declined")),
        ];
        let key = MetricKey::parse("faithfulness").expect("a key");
        let drift = Drift::of(&key, &answers, is_bad, 0);
        let order: Vec<&str> = drift.shifts.iter().map(|shift| shift.of.case.as_str()).collect();
        assert_eq!(order, ["b", "a", "c"]);
        assert_eq!(drift.moved().count(), 2);
        assert_eq!(drift.one_sided.iter().map(|of| of.case.as_str()).collect::<Vec<_>>(), ["d"]);
        assert!((drift.before.expect("a mean") - 1.7 / 3.0).abs() < 1e-12);
        assert!((drift.now.expect("a mean") - 2.1 / 3.0).abs() < 1e-12);
        assert_eq!(drift.rho, Some(0.5));
        assert_eq!(drift.flips, None);
        assert!(drift.interval.is_some());
    }

    #[test]
    fn first_readings_are_compared_with_first_readings() {
        let answers =
            [answer("a", score(1.0).read_first_as(&score(0.5)), score(0.5)), answer("b", score(1.0), score(1.0))];
        let key = MetricKey::parse("faithfulness").expect("a key");
        let drift = Drift::of(&key, &answers, is_bad, 0);
        assert_eq!((drift.before, drift.now, drift.moved().count()), (Some(0.75), Some(0.75), 0));
    }

    #[test]
    fn claims_flip_where_they_change_their_side_and_not_where_only_the_word_does() {
        let claim = |before: Verdict, now: Verdict| {
            (Claim { text: "x".to_owned(), verdict: before, evidence: None, reason: None }, now)
        };
        let mut answers = [answer("a", score(1.0), score(0.5))];
        answers[0].claims = vec![
            claim(Verdict::Supported, Verdict::Inferred),
            claim(Verdict::Unsupported, Verdict::Contradicted),
            claim(Verdict::Contradicted, Verdict::Supported),
            claim(Verdict::Supported, Verdict::Supported),
        ];
        let key = MetricKey::parse("faithfulness").expect("a key");
        let flips = Drift::of(&key, &answers, is_bad, 0).flips.expect("claims");
        assert_eq!(flips, Flips { claims: 4, to_bad: 1, to_good: 1 });
        assert_eq!(flips.flipped(), 2);
    }

    #[test]
    fn nothing_to_compare_is_no_number() {
        let key = MetricKey::parse("faithfulness").expect("a key");
        let drift = Drift::of(&key, &[], is_bad, 0);
        assert_eq!((drift.before, drift.now, drift.interval, drift.rho), (None, None, None, None));
    }
}
