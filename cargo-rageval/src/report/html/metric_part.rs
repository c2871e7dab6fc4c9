//! What the page of a case shows of one metric.

use rageval_runner::model::{Confirmation, DocId, MetricKey, Outcome, Record, UnitInterval, run::Run};
use serde::Serialize;

use super::case_page::{ClaimPart, heard};
use crate::report::{claims, view::CaseView};

/// One metric of one case.
#[derive(Debug, Serialize)]
pub(super) struct MetricPart<'r> {
    name: &'r MetricKey,
    /// After confirmation.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    /// The first reading, where it was another.
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<f64>,
    /// The measured quantity behind a yes-or-no score.
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<f64>,
    /// Why it does not apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_applicable: Option<&'r str>,
    /// Why it is unmeasured: the cause, and what exactly happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    unmeasured: Option<(&'r str, &'r str)>,
    /// The baseline's score, of the same question and right answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_drop: Option<f64>,
    /// Whether it makes the case red.
    is_red: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    k_of_n: Option<(usize, usize)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    similarity: Option<f64>,
    /// Relevant documents that were found, with their rank.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    found: &'r [(DocId, usize)],
    /// Relevant documents that were not.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    missed: &'r [DocId],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    claims: Vec<ClaimPart<'r>>,
    /// Further readings, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    readings: Vec<String>,
    /// How repeats became one score.
    #[serde(skip_serializing_if = "Option::is_none")]
    reduced: Option<String>,
}

impl<'r> MetricPart<'r> {
    /// Every metric of a case: those that make it red first, then by name.
    pub(super) fn all(case: &CaseView<'r>, record: &'r Record, run: &'r Run) -> Vec<Self> {
        let mut parts: Vec<Self> =
            record.outcomes.iter().map(|(key, first)| Self::of(key, first, case, record, run)).collect();
        parts.sort_by_key(|part| !part.is_red);
        parts
    }

    fn of(key: &'r MetricKey, first: &'r Outcome, case: &CaseView<'r>, record: &'r Record, run: &'r Run) -> Self {
        let settled = record.settled(key).unwrap_or(first);
        let detail = settled.detail();
        let score = settled.score().map(UnitInterval::get);
        let own = case.golden.and_then(|golden| golden.bars.get(key));
        let rules = run.background.metrics.iter().find(|rules| rules.metric == *key);
        let accepted = case.golden.filter(|_| case.is_paired()).and_then(|golden| golden.accepted.as_ref());
        let before = accepted.and_then(|accepted| accepted.outcomes.get(key)).and_then(Outcome::score);
        let ranked = detail.and_then(|detail| detail.ranked.as_ref());
        Self {
            name: key,
            score,
            first: first.score().map(UnitInterval::get).filter(|first| Some(*first) != score),
            raw: match settled {
                Outcome::Scored { score, .. } => score.raw,
                Outcome::NotApplicable { .. } | Outcome::Unmeasured { .. } => None,
            },
            not_applicable: match settled {
                Outcome::NotApplicable { why } => Some(why),
                Outcome::Scored { .. } | Outcome::Unmeasured { .. } => None,
            },
            unmeasured: settled.fault().map(|fault| (fault.cause.as_str(), fault.why.as_str())),
            before: before.map(UnitInterval::get),
            min: own.and_then(|own| own.min).or(rules.and_then(|rules| rules.min)).map(UnitInterval::get),
            max_drop: own
                .and_then(|own| own.max_drop)
                .or(rules.and_then(|rules| rules.max_drop))
                .map(UnitInterval::get),
            is_red: case.red_findings().any(|finding| finding.metric.as_ref() == Some(key)),
            k_of_n: detail.and_then(|detail| detail.k_of_n),
            note: detail.and_then(|detail| detail.note.as_deref()),
            similarity: detail.and_then(|detail| detail.similarity),
            found: ranked.map(|ranked| ranked.found.as_slice()).unwrap_or_default(),
            missed: ranked.map(|ranked| ranked.missed.as_slice()).unwrap_or_default(),
            claims: ClaimPart::all(settled, key, record.sample(), claims::language(case)),
            readings: readings(record, key),
            reduced: detail
                .and_then(|detail| detail.reduced.as_ref())
                .map(|reduced| format!("{} of {} repeats, {} scored", reduced.by, reduced.times, reduced.scored)),
        }
    }
}

/// The further readings of a metric, a line each, and how they ended.
fn readings(record: &Record, key: &MetricKey) -> Vec<String> {
    let Some(readings) = record.readings.get(key) else { return Vec::new() };
    let ended = readings.confirmation.as_ref().map(|confirmation| match confirmation {
        Confirmation::Cleared { .. } => "cleared by further readings".to_owned(),
        Confirmation::Confirmed { .. } => "confirmed by further readings".to_owned(),
        Confirmation::NotConfirmed { why } => format!("not confirmed: {why}"),
    });
    let now = readings.now.iter().map(|reading| format!("this answer: {}", heard(reading, key)));
    let before = readings.baseline.iter().map(|reading| format!("the baseline's answer: {}", heard(reading, key)));
    ended.into_iter().chain(now).chain(before).collect()
}
