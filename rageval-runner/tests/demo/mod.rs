//! The demo: a small RAG system over the help centre of an invented company, in three languages.
//!
//! It is honest and limited. BM25 finds documents by their words, the answer is made of sentences of
//! what was found, and a question that the documents do not cover is declined. It can't paraphrase,
//! compute or combine, so some golden cases fail. [`Variant`] makes it worse on purpose, which is how
//! the gate shows what it catches.

pub(crate) mod corpus;

mod compose;
mod degrade;
pub(crate) mod language;
mod retrieve;

use language::Language;
use retrieve::{Hit, Index};

/// How many documents an answer may draw on.
const RETRIEVED: usize = 5;

/// What the system said to one question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DemoAnswer {
    pub(crate) text: String,
    /// What was retrieved, best first; also when the answer is a refusal.
    pub(crate) contexts: Vec<DemoContext>,
    pub(crate) refused: bool,
}

/// One retrieved document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DemoContext {
    pub(crate) id: String,
    pub(crate) text: String,
    /// The BM25 score, 0 or more; comparable only within one question.
    pub(crate) score: f64,
}

/// The system as it is, or one of the ways in which real ones go wrong.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Variant {
    Normal,
    /// Indexes titles and forgets the texts.
    WeakRetriever,
    /// Pads each answer with courtesies and with sentences of documents that were not retrieved.
    Verbose,
    /// Gets numbers and names wrong, and adds a claim of its own.
    Hallucinating,
    /// Answers whatever it is asked.
    NeverRefuses,
}

impl Variant {
    pub(crate) const ALL: [(&'static str, Self); 5] = [
        ("normal", Self::Normal),
        ("weak-retriever", Self::WeakRetriever),
        ("verbose", Self::Verbose),
        ("hallucinating", Self::Hallucinating),
        ("never-refuses", Self::NeverRefuses),
    ];

    /// The variant of a `RAGEVAL_DEMO` value; unset or empty is the normal system.
    pub(crate) fn from_name(name: Option<&str>) -> Result<Self, String> {
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            return Ok(Self::Normal);
        };
        Self::ALL.into_iter().find_map(|(known, variant)| (known == name).then_some(variant)).ok_or_else(|| {
            let known = Self::ALL.map(|(known, _)| known).join(", ");
            format!("unknown demo variant {name:?}; known are {known}")
        })
    }
}

/// Answers one question in its own language. The same question always gets the same answer.
pub(crate) fn answer(query: &str, variant: Variant) -> DemoAnswer {
    let language = Language::of(query);
    let index = Index::of(language);
    let tokens = index.query_tokens(query);
    let hits = match variant {
        Variant::WeakRetriever => index.search_titles(query, RETRIEVED),
        Variant::Normal | Variant::Verbose | Variant::Hallucinating | Variant::NeverRefuses => {
            index.search(query, RETRIEVED)
        }
    };
    let composed = compose::answer(index, &tokens, &hits);
    let refused = composed.is_none() && variant != Variant::NeverRefuses;
    let text = match (composed, variant) {
        (Some(text), Variant::Normal | Variant::WeakRetriever | Variant::NeverRefuses) => text,
        (Some(text), Variant::Verbose) => degrade::verbose(&text, index, &hits),
        (Some(text), Variant::Hallucinating) => degrade::hallucinating(&text, language),
        (None, Variant::NeverRefuses) => degrade::confident_guess(index, &tokens, &hits),
        (None, Variant::Normal | Variant::WeakRetriever | Variant::Verbose | Variant::Hallucinating) => {
            language.refusal().to_owned()
        }
    };
    DemoAnswer { text, contexts: hits.iter().map(context).collect(), refused }
}

fn context(hit: &Hit) -> DemoContext {
    DemoContext { id: hit.document.id.to_owned(), text: hit.document.text.clone(), score: f64::from(hit.score) }
}
