//! What a red case shows of its repeats: all scores of what broke, and the repeat that broke it most.

use std::{borrow::Cow, collections::BTreeMap};

use super::text::{line, score};
use crate::{
    gate::case::CaseFindings,
    model::{MetricKey, Outcome, Record, Repeat},
};

/// Scores that stand one by one; more are counted by value.
const LISTED: usize = 12;

/// The record as a red case shows it: of a repeated one the sample, the outcomes and the claims of one repeat.
pub(super) struct Seen<'r> {
    /// What is shown.
    pub(super) record: Cow<'r, Record>,
    /// Before the answer: `(repeat 3 of 5) `; empty for a case that is asked once.
    pub(super) mark: String,
}

/// The repeat to look at: the lowest in the first metric that broke a rule, else the first that is unmeasured, else the one that stands for
/// the case.
pub(super) fn seen<'r>(record: &'r Record, findings: &CaseFindings) -> Seen<'r> {
    let Some(repeats) = &record.repeats else { return Seen { record: Cow::Borrowed(record), mark: String::new() } };
    let each = &repeats.each;
    let lowest = |metric: &MetricKey| {
        let score_of = |repeat: &Repeat| repeat.outcomes.get(metric).and_then(Outcome::score);
        (0..each.len()).filter(|at| score_of(&each[*at]).is_some()).min_by_key(|at| score_of(&each[*at]))
    };
    let faulty = |repeat: &Repeat| repeat.outcomes.values().any(|outcome| outcome.fault().is_some());
    let broken = findings.failed.first().and_then(|broken| lowest(&broken.metric));
    let unmeasured = || each.iter().position(faulty).filter(|_| !findings.faults.is_empty());
    let at = broken.or_else(unmeasured).unwrap_or(repeats.shown.saturating_sub(1));
    let mark = format!("(repeat {} of {}) ", at + 1, each.len());
    let mut shown = record.clone();
    if let Some(Repeat { taken, outcomes, transcript: _ }) = each.get(at) {
        shown.taken = taken.clone();
        shown.outcomes = outcomes.clone();
    }
    Seen { record: Cow::Owned(shown), mark }
}

/// The scores of all repeats in one line, for each metric that broke a rule.
pub(super) fn lines(record: &Record, findings: &CaseFindings) -> Vec<String> {
    let Some(repeats) = &record.repeats else { return Vec::new() };
    let mut metrics: Vec<&MetricKey> = findings.failed.iter().map(|broken| &broken.metric).collect();
    metrics.dedup();
    let text = |metric: &MetricKey| {
        let scores = each_or_counted(&repeats.each, metric);
        let by = record.outcomes.get(metric).and_then(|outcome| outcome.detail()).and_then(|detail| detail.reduced);
        let by = by.map(|reduced| format!("{} of ", reduced.by)).unwrap_or_default();
        line("repeats", &format!("{metric}: {by}{scores}"))
    };
    metrics.into_iter().map(text).collect()
}

fn each_or_counted(each: &[Repeat], metric: &MetricKey) -> String {
    let words: Vec<String> = each.iter().map(|repeat| word(repeat.outcomes.get(metric))).collect();
    if words.len() <= LISTED {
        return words.join(", ");
    }
    let mut counted: BTreeMap<&str, usize> = BTreeMap::new();
    for word in &words {
        *counted.entry(word).or_default() += 1;
    }
    counted.into_iter().map(|(word, times)| format!("{times} x {word}")).collect::<Vec<_>>().join(", ")
}

fn word(outcome: Option<&Outcome>) -> String {
    match outcome {
        Some(Outcome::Scored { score: own, .. }) => score(own.value.get()),
        Some(Outcome::NotApplicable { .. }) => "n/a".to_owned(),
        Some(Outcome::Unmeasured { .. }) | None => "unmeasured".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gate::fixture::{key, scored},
        model::{Taken, Transcript, Unmeasured},
    };

    fn each(outcomes: Vec<Outcome>) -> Vec<Repeat> {
        let repeat = |outcome| Repeat {
            taken: Taken::Failed(Unmeasured::new("of no matter", "here")),
            outcomes: [(key("recall@5"), outcome)].into(),
            transcript: Transcript::default(),
        };
        outcomes.into_iter().map(repeat).collect()
    }

    #[test]
    fn a_few_scores_stand_one_by_one() {
        let outcomes = vec![scored(1.0), scored(2.0 / 3.0), Outcome::not_applicable("a refusal")];
        assert_eq!(each_or_counted(&each(outcomes), &key("recall@5")), "1.00, 0.6667, n/a");
    }

    #[test]
    fn many_scores_are_counted_by_value() {
        let mut outcomes = vec![scored(1.0); 20];
        outcomes.extend([scored(0.0), scored(0.5), Outcome::unmeasured("judge time-out", "60 s"), scored(0.0)]);
        let expected = "2 x 0.00, 1 x 0.50, 20 x 1.00, 1 x unmeasured";
        assert_eq!(each_or_counted(&each(outcomes), &key("recall@5")), expected);
    }
}
