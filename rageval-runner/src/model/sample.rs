//! What the system did with one case, once.

use serde::{Deserialize, Serialize};

use super::ids::DocId;

/// What a RAG system returns for one question. The type that user code builds.
///
/// ```
/// use rageval_runner::{Answer, RetrievedContext};
///
/// let answer = Answer::new("Within 30 days.")
///     .with_contexts([RetrievedContext::new("refunds", "Refunds are possible within 30 days.").with_score(7.2)]);
/// assert_eq!(answer.retrieved_contexts.len(), 1);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answer {
    /// The answer's text.
    pub response: String,
    /// What was fetched, in rank order, best first.
    #[serde(default)]
    pub retrieved_contexts: Vec<RetrievedContext>,
    /// The system's own word on whether it declined to answer; `None` leaves it to the text detector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<bool>,
    /// Tokens used, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Cost in US dollars, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The model that wrote it, where the system says so; checked against the judge's family.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<String>,
}

impl Answer {
    /// An answer with this text and nothing else.
    pub fn new(response: impl Into<String>) -> Self {
        Self { response: response.into(), ..Self::default() }
    }

    /// Sets what was fetched, in rank order.
    #[must_use]
    pub fn with_contexts(mut self, contexts: impl IntoIterator<Item = RetrievedContext>) -> Self {
        self.retrieved_contexts = contexts.into_iter().collect();
        self
    }

    /// Sets the system's own word on whether it declined.
    #[must_use]
    pub fn with_refused(mut self, refused: bool) -> Self {
        self.refused = Some(refused);
        self
    }

    /// Sets the tokens used.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Sets the cost in US dollars.
    #[must_use]
    pub fn with_cost_usd(mut self, cost_usd: f64) -> Self {
        self.cost_usd = Some(cost_usd);
        self
    }

    /// Sets the model that wrote it: a judge of the same family is refused. Takes the place of `system.generator` where every answer has it.
    #[must_use]
    pub fn with_generator(mut self, model: impl Into<String>) -> Self {
        self.generator = Some(model.into());
        self
    }
}

impl From<String> for Answer {
    fn from(response: String) -> Self {
        Self::new(response)
    }
}

impl From<&str> for Answer {
    fn from(response: &str) -> Self {
        Self::new(response)
    }
}

/// One fetched piece of text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RetrievedContext {
    /// The document it comes from; retrieval metrics compare it with the case's relevant ids. `None` where the system names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<DocId>,
    /// The text; a blank one counts as none.
    pub text: String,
    /// The retriever's score, for people to read; the order of the list decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

impl RetrievedContext {
    /// A context with an id and a text.
    pub fn new(id: impl Into<DocId>, text: impl Into<String>) -> Self {
        Self { id: Some(id.into()), text: text.into(), score: None }
    }

    /// A context whose document has no id.
    pub fn without_id(text: impl Into<String>) -> Self {
        Self { id: None, text: text.into(), score: None }
    }

    /// Sets the retriever's score.
    #[must_use]
    pub fn with_score(mut self, score: f64) -> Self {
        self.score = Some(score);
        self
    }

    /// Whether there is nothing to read in it.
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }
}

/// Tokens that one answer used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Usage {
    /// Tokens read.
    #[serde(default)]
    pub input_tokens: u64,
    /// Tokens written.
    #[serde(default)]
    pub output_tokens: u64,
}

impl Usage {
    /// Tokens in all.
    pub fn total(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

/// What the system did with one case, once: its answer, how long it took, and whether that was a refusal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sample {
    /// What came back.
    #[serde(flatten)]
    pub answer: Answer,
    /// Whether it declined: the system's own flag, else what the text detector says. Settled once, before any metric.
    pub is_refusal: bool,
    /// Time of the call in milliseconds; `None` for recorded answers that state none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<f64>,
}

impl Sample {
    /// Contexts that hold text, with their rank from 1 in the list as returned.
    pub fn readable_contexts(&self) -> impl Iterator<Item = (usize, &RetrievedContext)> {
        self.answer.retrieved_contexts.iter().enumerate().filter(|(_, c)| !c.is_blank()).map(|(i, c)| (i + 1, c))
    }

    /// Whether the answer has no text.
    pub fn is_blank(&self) -> bool {
        self.answer.response.trim().is_empty()
    }
}
