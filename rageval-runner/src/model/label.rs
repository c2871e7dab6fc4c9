//! What people say of single samples: the measure that a judge is held against.

use super::{
    case::{GoldenCase, Place},
    claim::Verdict,
    ids::MetricKey,
    sample::Sample,
    score::UnitInterval,
};

/// One thing that people and a judge look at: a question with an answer, or one claim of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Its id, unique among the labels' items.
    pub id: String,
    /// The question, with the reference answer and whatever else a metric reads. Its id is the item's.
    pub case: GoldenCase,
    /// The answer with its contexts.
    pub sample: Sample,
    /// The one claim that is labelled; `None` where the whole answer is.
    pub claim: Option<String>,
}

/// What makes two items one: question, answer, texts of the contexts, and claim.
pub type ItemTexts<'a> = (&'a str, &'a str, Vec<&'a str>, Option<&'a str>);

impl Item {
    /// What people see of it, whatever its id. Two items of the same texts are one answer that was counted twice.
    pub fn texts(&self) -> ItemTexts<'_> {
        let answer = &self.sample.answer;
        let contexts = answer.retrieved_contexts.iter().map(|context| context.text.as_str()).collect();
        (&self.case.query, &answer.response, contexts, self.claim.as_deref())
    }
}

/// What one person said of one item.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// The item.
    pub item: String,
    /// What was looked at.
    pub metric: MetricKey,
    /// What the person said.
    pub human: Human,
    /// Who.
    pub annotator: String,
    /// How many items of the run this one stands for, above 0; 1 where it was not drawn with weights.
    pub weight: f64,
    /// What the person wrote beside it.
    pub note: Option<String>,
    /// Where it stands.
    pub place: Place,
}

/// What a person says of an item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Human {
    /// A score, 0 to 1.
    Score(UnitInterval),
    /// A verdict on a claim.
    Verdict(Verdict),
}

impl Human {
    /// The number to compare with a judge's: the score, or 1 for a supported claim and 0 for any other.
    pub fn number(self) -> f64 {
        match self {
            Self::Score(score) => score.get(),
            Self::Verdict(Verdict::Supported) => 1.0,
            Self::Verdict(Verdict::Inferred | Verdict::Unsupported | Verdict::Contradicted) => 0.0,
        }
    }
}
