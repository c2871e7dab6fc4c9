//! What gates need of a record: what became of each metric, without what explains it.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use super::{
    ids::{CaseId, MetricKey},
    outcome::{Detail, Outcome, Unmeasured},
    readings::{Confirmation, Readings},
    record::{Record, Taken},
    score::Score,
};

/// What gates need of a record. Some hundred bytes, where a record with its contexts and what was asked about them has many thousand.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseScores {
    /// The case.
    pub case: CaseId,
    /// Content digest of the case when it was asked.
    pub digest: String,
    /// Why the system gave no answer; `None` where it gave one.
    pub failed: Option<Unmeasured>,
    /// Further readings of judged scores, by metric.
    pub readings: BTreeMap<MetricKey, Readings>,
    /// Whether the case was asked several times.
    pub is_repeated: bool,
    /// By metric, in the order of the keys.
    outcomes: Box<[(MetricKey, Came)]>,
}

/// The scores of a run, by case; shared between whoever decides over them.
pub type Scores = BTreeMap<CaseId, Arc<CaseScores>>;

/// What became of one metric.
#[derive(Debug, Clone, PartialEq)]
enum Came {
    /// A score of one reading of one answer, as nearly all are.
    Score { score: Score, claims: Claims },
    /// Anything else, as it is but for the claims of a score that was not read again.
    Outcome(Box<Outcome>, Claims),
}

/// Whether a score rests on claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Claims {
    Some,
    None,
}

impl From<&Record> for CaseScores {
    fn from(record: &Record) -> Self {
        let came = |(metric, outcome): (&MetricKey, &Outcome)| {
            (metric.clone(), Came::of(outcome, record.readings.contains_key(metric)))
        };
        Self {
            case: record.case.clone(),
            digest: record.digest.clone(),
            failed: match &record.taken {
                Taken::Failed(fault) => Some(fault.clone()),
                Taken::Sample(_) => None,
            },
            readings: record.readings.clone(),
            is_repeated: record.is_repeated(),
            outcomes: record.outcomes.iter().map(came).collect(),
        }
    }
}

impl CaseScores {
    /// The scores of these records.
    pub fn of_all<'r>(records: impl IntoIterator<Item = &'r Record>) -> Scores {
        records.into_iter().map(|record| (record.case.clone(), Arc::new(Self::from(record)))).collect()
    }

    /// The first reading of a metric; its detail holds how repeats were reduced, and claims only where they were read again. `None` where it
    /// has no outcome.
    pub fn outcome(&self, metric: &MetricKey) -> Option<Cow<'_, Outcome>> {
        Some(match self.came(metric)? {
            Came::Score { score, .. } => Cow::Owned(Outcome::Scored { score: *score, detail: Detail::default() }),
            Came::Outcome(outcome, _) => Cow::Borrowed(outcome),
        })
    }

    /// What a metric says after confirmation: what its readings settled, else its first reading. `None` where it has no outcome.
    pub fn settled(&self, metric: &MetricKey) -> Option<Cow<'_, Outcome>> {
        let confirmed = self.readings.get(metric).and_then(|readings| readings.confirmation.as_ref());
        let settled = confirmed.and_then(Confirmation::settled).map(Cow::Borrowed);
        settled.or_else(|| self.outcome(metric))
    }

    /// Whether the first reading of a metric rests on claims.
    pub fn has_claims(&self, metric: &MetricKey) -> bool {
        match self.came(metric) {
            Some(Came::Score { claims, .. } | Came::Outcome(_, claims)) => *claims == Claims::Some,
            None => false,
        }
    }

    /// Whether a metric has an outcome.
    pub fn holds(&self, metric: &MetricKey) -> bool {
        self.came(metric).is_some()
    }

    /// Every fault: of the system once, else of each metric with its key.
    pub fn faults(&self) -> Vec<(Option<&MetricKey>, &Unmeasured)> {
        if let Some(fault) = &self.failed {
            return vec![(None, fault)];
        }
        self.outcomes
            .iter()
            .filter_map(|(metric, came)| match came {
                Came::Score { .. } => None,
                Came::Outcome(outcome, _) => outcome.fault().map(|fault| (Some(metric), fault)),
            })
            .collect()
    }

    fn came(&self, metric: &MetricKey) -> Option<&Came> {
        self.outcomes.iter().find(|(key, _)| key == metric).map(|(_, came)| came)
    }
}

impl Came {
    fn of(outcome: &Outcome, is_read_again: bool) -> Self {
        let detail = outcome.detail();
        let claims = if detail.is_some_and(|detail| !detail.claims.is_empty()) { Claims::Some } else { Claims::None };
        match outcome {
            // The claims of a suspect are what its further verdicts are compared with.
            Outcome::Scored { .. } if is_read_again => Self::Outcome(Box::new(outcome.clone()), claims),
            Outcome::Scored { score, detail: Detail { reduced: None, .. } } => Self::Score { score: *score, claims },
            Outcome::Scored { score, detail: Detail { reduced, .. } } => {
                let detail = Detail { reduced: *reduced, ..Detail::default() };
                Self::Outcome(Box::new(Outcome::Scored { score: *score, detail }), claims)
            }
            Outcome::NotApplicable { .. } | Outcome::Unmeasured { .. } => {
                Self::Outcome(Box::new(outcome.clone()), claims)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Answer, Claim, Sample, Transcript, UnitInterval, Verdict};

    fn key(text: &str) -> MetricKey {
        MetricKey::parse(text).expect("a valid key")
    }

    fn record(outcomes: impl IntoIterator<Item = (MetricKey, Outcome)>) -> Record {
        let sample = Sample { answer: Answer::new("x".repeat(10_000)), is_refusal: false, latency_ms: None };
        let id = CaseId::new("c").expect("a valid id");
        let outcomes = outcomes.into_iter().collect();
        Record::new(id, "d".to_owned(), Taken::Sample(sample), outcomes, Transcript::default())
    }

    fn with_claims() -> Outcome {
        let claim = Claim { text: "It is so.".to_owned(), verdict: Verdict::Unsupported, evidence: None, reason: None };
        let detail = Detail { claims: vec![claim], note: Some("1 of 1".to_owned()), ..Detail::default() };
        Outcome::scored_with(UnitInterval::ZERO, detail)
    }

    #[test]
    fn a_score_is_kept_without_what_explains_it() {
        let scores = CaseScores::from(&record([(key("faithfulness"), with_claims())]));
        assert_eq!(scores.outcome(&key("faithfulness")).as_deref(), Some(&Outcome::scored(UnitInterval::ZERO)));
        assert!(scores.has_claims(&key("faithfulness")));
        assert!(!scores.has_claims(&key("recall@5")) && !scores.holds(&key("recall@5")));
    }

    #[test]
    fn claims_that_were_read_again_stay() {
        let mut record = record([(key("faithfulness"), with_claims())]);
        let cleared = Confirmation::Cleared { outcome: Outcome::scored(UnitInterval::ONE), baseline: None };
        record.add_readings(key("faithfulness"), Readings { confirmation: Some(cleared), ..Readings::default() });
        let scores = CaseScores::from(&record);
        assert_eq!(scores.outcome(&key("faithfulness")).as_deref(), Some(&with_claims()));
        assert_eq!(scores.settled(&key("faithfulness")).and_then(|outcome| outcome.score()), Some(UnitInterval::ONE));
    }

    #[test]
    fn what_is_no_score_stays_as_it_is() {
        let unmeasured = Outcome::unmeasured("judge error", "500");
        let not_applicable = Outcome::not_applicable("no relevant documents");
        let record = record([(key("faithfulness"), unmeasured.clone()), (key("recall@5"), not_applicable.clone())]);
        let scores = CaseScores::from(&record);
        assert_eq!(scores.outcome(&key("faithfulness")).as_deref(), Some(&unmeasured));
        assert_eq!(scores.outcome(&key("recall@5")).as_deref(), Some(&not_applicable));
        assert_eq!(scores.faults(), record.faults());
    }
}
