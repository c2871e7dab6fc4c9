//! The answers of a baseline, for metrics that compare with them.

use std::{collections::BTreeMap, path::Path};

use super::{Texts, samples_path};
use crate::{
    model::{
        Answer, CaseId, GoldenCase, RetrievedContext, Sample,
        run::{Baseline, BaselineCase},
    },
    store::StoreError,
    text,
};

/// What the system answered in an accepted run, by case.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answers {
    /// The content digest of the case as it was then, and the answer.
    cases: BTreeMap<CaseId, (String, Answer)>,
}

impl Answers {
    /// The answers of the baseline that stands at `path`, with its texts as they were read.
    ///
    /// # Errors
    /// A retrieved text is not among the texts: a sample without it would look like one that found less.
    pub fn new(path: &Path, baseline: &Baseline, texts: &Texts) -> Result<Self, StoreError> {
        let mut cases = BTreeMap::new();
        for (id, case) in &baseline.cases {
            let answer = answer(case, texts).map_err(|digest| {
                let why = format!("it lacks the text {digest} that case `{id}` retrieved; {}", super::AGAIN);
                StoreError::format(&samples_path(path), why)
            })?;
            cases.insert(id.clone(), (case.digest.clone(), answer));
        }
        Ok(Self { cases })
    }

    /// The sample of a case; `None` where the run had no such case, or the case has changed since.
    pub fn sample_of(&self, case: &GoldenCase) -> Option<Sample> {
        let (_, answer) = self.cases.get(&case.id).filter(|(digest, _)| *digest == case.digest())?;
        // As for the candidate: the system's own word goes before the detector's.
        let is_refusal = answer.refused.unwrap_or_else(|| text::is_refusal(&answer.response, case.language));
        Some(Sample { answer: answer.clone(), is_refusal, latency_ms: None })
    }
}

/// The answer of a case; an error is the digest of a text that is not there.
fn answer<'a>(case: &'a BaselineCase, texts: &Texts) -> Result<Answer, &'a str> {
    let mut contexts = Vec::with_capacity(case.context_digests.len());
    for (id, digest) in case.retrieved.iter().zip(&case.context_digests) {
        let text = texts.get(digest).ok_or(digest.as_str())?;
        contexts.push(RetrievedContext { id: id.clone(), text: text.clone(), score: None });
    }
    Ok(Answer { refused: case.refused, ..Answer::new(case.response.clone()).with_contexts(contexts) })
}
