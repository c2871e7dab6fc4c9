//! Claims with where they stand in the answer, and what stands against them.

pub(crate) use rageval_runner::report::judged::Judged;
use rageval_runner::{
    model::{Claim, DocId, Language, MetricKey, Outcome, Record, Sample, run::Finding},
    report::judged::{is_failing, is_of_contexts},
};

use super::nearest::{Nearest, nearest};
use crate::report::view::CaseView;

/// A claim with what is shown beside it.
#[derive(Debug)]
pub(crate) struct ShownClaim<'r> {
    /// The claim.
    pub(crate) claim: &'r Claim,
    /// Where it stands in the answer.
    pub(crate) in_answer: Option<Nearest>,
    /// The evidence.
    pub(crate) beside: Beside<'r>,
}

/// What stands beside a claim.
#[derive(Debug, PartialEq)]
pub(crate) enum Beside<'r> {
    /// The judge named it.
    Named {
        /// The document, where it has an id.
        id: Option<&'r DocId>,
        /// The sentence.
        text: &'r str,
    },
    /// The judge named none; of what was retrieved, this shares most words with the claim.
    Nearest {
        /// Its rank among what was retrieved, from 1.
        rank: usize,
        /// The document, where it has an id.
        id: Option<&'r DocId>,
        /// The sentence.
        text: &'r str,
        /// Share of the claim's content words that stand there, 0 to 1.
        share: f64,
    },
    /// The judge named none, and nothing that was retrieved is like it.
    Nothing,
    /// The judge named none, and none is looked for: the claim holds, is not one of the answer, or is held against the reference.
    NotSought,
}

impl<'r> ShownClaim<'r> {
    /// A claim of a metric of this case.
    pub(crate) fn of(claim: &'r Claim, metric: &MetricKey, sample: Option<&'r Sample>, language: Language) -> Self {
        let is_of_answer = Judged::of(claim, metric).0 == Judged::Answer;
        let in_answer =
            sample.filter(|_| is_of_answer).and_then(|sample| nearest(&claim.text, &sample.answer.response, language));
        let beside = match &claim.evidence {
            Some(evidence) => Beside::Named { id: evidence.id.as_ref(), text: &evidence.text },
            None if is_of_answer && is_failing(claim.verdict) && is_of_contexts(metric) => {
                sample.map_or(Beside::Nothing, |sample| among(claim, sample, language))
            }
            None => Beside::NotSought,
        };
        Self { claim, in_answer, beside }
    }
}

/// Of what was retrieved, the sentence that shares most words with a claim.
fn among<'r>(claim: &Claim, sample: &'r Sample, language: Language) -> Beside<'r> {
    let mut best: Option<(f64, Beside<'r>)> = None;
    for (rank, context) in sample.readable_contexts() {
        let Some(found) = nearest(&claim.text, &context.text, language) else { continue };
        if best.as_ref().is_none_or(|(share, _)| *share < found.share) {
            let text = &context.text[found.range];
            best = Some((found.share, Beside::Nearest { rank, id: context.id.as_ref(), text, share: found.share }));
        }
    }
    best.map_or(Beside::Nothing, |(_, beside)| beside)
}

/// The language whose rules apply to a case; English where the run does not tell.
pub(crate) fn language(case: &CaseView<'_>) -> Language {
    case.golden.and_then(|golden| Language::of_tag(&golden.language)).unwrap_or_default()
}

/// The failing claims of the metrics that make a case red, in the order of its findings; with each the metric.
pub(crate) fn failing<'r>(case: &CaseView<'r>, record: &'r Record) -> Vec<(&'r MetricKey, ShownClaim<'r>)> {
    let language = language(case);
    let red: Vec<&Finding> = case.red_findings().collect();
    let metrics = red.iter().filter_map(|finding| finding.metric.as_ref());
    let mut shown: Vec<(&MetricKey, ShownClaim<'_>)> = Vec::new();
    for metric in metrics {
        if shown.iter().any(|(other, _)| *other == metric) {
            continue;
        }
        let claims = record.settled(metric).and_then(Outcome::detail).map(|detail| &detail.claims);
        let failing = claims.into_iter().flatten().filter(|claim| is_failing(claim.verdict));
        shown.extend(failing.map(|claim| (metric, ShownClaim::of(claim, metric, record.sample(), language))));
    }
    shown
}
