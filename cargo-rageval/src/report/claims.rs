//! Claims with where they stand in the answer, and what stands against them.

use rageval_runner::model::{Claim, DocId, Language, MetricKey, Outcome, Record, Sample, Verdict, run::Finding};

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

/// What a text that a metric judged is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Judged {
    /// A claim of the answer.
    Answer,
    /// A context that was retrieved: whether it is useful.
    Context,
    /// A sentence of the reference: whether it was retrieved.
    Retrieved,
    /// A sentence of the reference: whether the answer says it.
    Reference,
}

impl Judged {
    /// What a claim of a metric is, and its text without the word that says so.
    pub(crate) fn of<'c>(claim: &'c Claim, metric: &MetricKey) -> (Self, &'c str) {
        let text = claim.text.as_str();
        if let Some(sentence) = text.strip_prefix("reference: ") {
            return (Self::Reference, sentence);
        }
        match metric.name() {
            "context_recall" | "context_entity_recall" => (Self::Retrieved, text),
            name if name.starts_with("context_") => (Self::Context, text.strip_prefix("context ").unwrap_or(text)),
            _ => (Self::Answer, text),
        }
    }

    /// What is wrong with one that fails; `None` of a claim, whose verdict says it.
    pub(crate) fn fault(self) -> Option<&'static str> {
        match self {
            Self::Answer => None,
            Self::Context => Some("not useful"),
            Self::Retrieved => Some("not found in what was retrieved"),
            Self::Reference => Some("missing from the answer"),
        }
    }
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
    /// The judge named none, and none is looked for: the claim holds, or is not one of the answer.
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
            None if is_of_answer && is_failing(claim) => {
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

/// Whether a claim's verdict counts against it in every metric that has verdicts.
pub(crate) fn is_failing(claim: &Claim) -> bool {
    matches!(claim.verdict, Verdict::Unsupported | Verdict::Contradicted)
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
        let failing = claims.into_iter().flatten().filter(|claim| is_failing(claim));
        shown.extend(failing.map(|claim| (metric, ShownClaim::of(claim, metric, record.sample(), language))));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_claim_of_the_answer_is_named_for_what_it_is() {
        for (metric, text, expected) in [
            ("faithfulness", "30 days.", (Judged::Answer, "30 days.")),
            ("context_precision", "context en/a", (Judged::Context, "en/a")),
            ("context_recall", "30 days.", (Judged::Retrieved, "30 days.")),
            ("answer_correctness", "reference: 14 days.", (Judged::Reference, "14 days.")),
        ] {
            let claim = Claim { text: text.into(), verdict: Verdict::Unsupported, evidence: None, reason: None };
            assert_eq!(Judged::of(&claim, &MetricKey::parse(metric).expect("a metric")), expected, "{metric}");
        }
    }
}
