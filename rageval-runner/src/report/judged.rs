//! What a text that a metric judged is, and what its verdict is called: of a claim of the answer, a context that was retrieved, a sentence of the reference.

use serde::Serialize;

use crate::model::{Claim, MetricKey, Verdict};

/// What a text that a metric judged is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Judged {
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
    pub fn of<'c>(claim: &'c Claim, metric: &MetricKey) -> (Self, &'c str) {
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
    pub fn fault(self) -> Option<&'static str> {
        match self {
            Self::Answer => None,
            Self::Context => Some("not useful"),
            Self::Retrieved => Some("not found in what was retrieved"),
            Self::Reference => Some("missing from the answer"),
        }
    }

    /// What it is called: `claim`, `context`, `reference`.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Answer => "claim",
            Self::Context => "context",
            Self::Retrieved | Self::Reference => "reference",
        }
    }

    /// A metric's verdict in the words of what it is about: of a context `useful` or `not useful`.
    pub fn verdict(self, verdict: Verdict, metric: &MetricKey) -> &'static str {
        let is_failing = is_failing(verdict);
        match self {
            Self::Answer => word(verdict, metric),
            Self::Context => {
                if is_failing {
                    "not useful"
                } else {
                    "useful"
                }
            }
            Self::Retrieved => {
                if is_failing {
                    "not found in what was retrieved"
                } else {
                    "found in what was retrieved"
                }
            }
            Self::Reference => {
                if is_failing {
                    "missing from the answer"
                } else {
                    "in the answer"
                }
            }
        }
    }
}

/// What a metric's verdict is called where people read it. What `answer_correctness` finds wrong the reference may merely lack; of
/// `toxicity` and `bias` nothing is supported or contradicted.
pub fn word(verdict: Verdict, metric: &MetricKey) -> &'static str {
    match (metric.name(), verdict) {
        ("answer_correctness", Verdict::Contradicted) => "wrong",
        ("toxicity", Verdict::Supported) => "clean",
        ("toxicity", Verdict::Contradicted) => "toxic",
        ("bias", Verdict::Supported) => "unbiased",
        ("bias", Verdict::Contradicted) => "biased",
        (_, verdict) => verdict.as_str(),
    }
}

/// Whether what was retrieved tells anything of a claim of this metric; `answer_correctness` holds claims against the reference.
pub fn is_of_contexts(metric: &MetricKey) -> bool {
    metric.name() != "answer_correctness"
}

/// The verdict that a word of [`word`] or of a run file names.
pub fn verdict_of(word_said: &str, metric: &MetricKey) -> Option<Verdict> {
    let said = Verdict::ALL.into_iter().find(|verdict| word(*verdict, metric) == word_said);
    said.or_else(|| Verdict::from_word(word_said))
}

/// Whether a verdict counts against a claim in every metric that has verdicts.
pub fn is_failing(verdict: Verdict) -> bool {
    match verdict {
        Verdict::Unsupported | Verdict::Contradicted => true,
        Verdict::Supported | Verdict::Inferred => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_claim_of_the_answer_is_named_for_what_it_is() {
        for (metric, text, expected) in [
            ("faithfulness", "30 days.", (Judged::Answer, "30 days.")),
            ("context_precision", "context en/a", (Judged::Context, "en/a")),
            ("context_precision", "context at rank 2", (Judged::Context, "at rank 2")),
            ("context_recall", "30 days.", (Judged::Retrieved, "30 days.")),
            ("answer_correctness", "reference: 14 days.", (Judged::Reference, "14 days.")),
        ] {
            let claim = Claim { text: text.into(), verdict: Verdict::Unsupported, evidence: None, reason: None };
            assert_eq!(Judged::of(&claim, &MetricKey::parse(metric).expect("a metric")), expected, "{metric}");
        }
    }

    #[test]
    fn a_verdict_is_told_in_the_words_of_what_it_is_about() {
        let metric = MetricKey::parse("faithfulness").expect("a metric");
        for judged in [Judged::Context, Judged::Retrieved, Judged::Reference] {
            assert_eq!(judged.fault(), Some(judged.verdict(Verdict::Unsupported, &metric)));
            assert_ne!(judged.fault(), Some(judged.verdict(Verdict::Supported, &metric)));
        }
        let told = Judged::Answer.verdict(Verdict::Contradicted, &metric);
        assert_eq!((Judged::Answer.fault(), told), (None, "contradicted"));
    }

    #[test]
    fn what_the_reference_lacks_is_not_called_contradicted() {
        let metric = MetricKey::parse("answer_correctness").expect("a metric");
        assert_eq!(word(Verdict::Contradicted, &metric), "wrong");
        for word in ["wrong", "contradicted"] {
            assert_eq!(verdict_of(word, &metric), Some(Verdict::Contradicted), "{word}");
        }
        let other = MetricKey::parse("faithfulness").expect("a metric");
        assert_eq!(verdict_of("wrong", &other), None);
        for (metric, word_said, verdict) in [
            ("toxicity", "clean", Verdict::Supported),
            ("toxicity", "toxic", Verdict::Contradicted),
            ("bias", "unbiased", Verdict::Supported),
            ("bias", "biased", Verdict::Contradicted),
        ] {
            let metric = MetricKey::parse(metric).expect("a metric");
            assert_eq!((word(verdict, &metric), verdict_of(word_said, &metric)), (word_said, Some(verdict)));
        }
    }
}
