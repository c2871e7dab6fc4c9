//! Answers what metrics ask of the embedder: vectors come from the stored ones or within its limits, similarities are reckoned here.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use super::{
    kept::{Kept, Looked, Turn, What},
    limits::Limits,
};
use crate::{
    embed::{
        BATCH, Embedder, Failed, cosine, estimated,
        stored::{self, VectorKeys},
    },
    judge::{key::ReplyKey, spec::ReplyMode},
    model::{CaseId, EmbedRequest, Ending, Reply, ReplySource},
    store::{
        ledger::Account,
        minute::MinuteLimit,
        replies::{ReplyStore, StoredReply},
        slots::Limit,
    },
};

/// The embedder with everything that stands between a text and its vector.
pub struct Embedding {
    /// The embedder.
    pub embedder: Arc<dyn Embedder>,
    /// How long one request may take.
    pub timeout: Duration,
    /// How many requests may be under way.
    pub limit: Limit,
    /// What it may be asked in a minute over all processes of the run; `None` where nothing limits it or this process is alone.
    pub minute: Option<MinuteLimit>,
    /// Where its requests are counted against the budget of the run; `None` for vectors from a file.
    pub account: Option<Account>,
    /// Vectors that are kept; `None` for vectors from a file.
    pub vectors: Option<Vectors>,
}

/// The stored vectors of an embedder, and how they are used.
pub struct Vectors {
    kept: Kept,
    keys: VectorKeys,
}

/// The similarity of a text to each of others, as a list of numbers from -1 to 1. `None` is a policy without an embedder.
pub(super) async fn similarities(
    embedding: Option<&Embedding>,
    case: &CaseId,
    request: &EmbedRequest,
) -> (Reply, Option<ReplySource>) {
    let Some(embedding) = embedding else {
        let why = "no `embedder` in thresholds.yaml".to_owned();
        return (Reply::Failed { ending: Ending::Unsupported, why }, None);
    };
    let vectors = embedding.vectors_of(case, &request.texts()).await;
    match vectors.and_then(|(vectors, source)| Ok((compared(request, &vectors)?, source))) {
        Ok((similarities, source)) => (Reply::Value { value: similarities.into() }, source),
        Err(failed) => (failed.into(), None),
    }
}

impl Embedding {
    /// What the run should say of the embedder, one line each.
    pub fn notices(&self) -> Vec<String> {
        let mut notices = self.embedder.notices();
        if let Some(vectors) = &self.vectors {
            notices.extend(vectors.kept.notices());
        }
        notices
    }

    /// The vectors of these different texts, by text, and where they came from.
    async fn vectors_of(
        &self,
        case: &CaseId,
        texts: &[String],
    ) -> Result<(BTreeMap<String, Vec<f32>>, Option<ReplySource>), Failed> {
        let (mut known, mut missing) = match &self.vectors {
            Some(vectors) => vectors.find(texts).await?,
            None => (BTreeMap::new(), texts.iter().map(|text| Missing { text: text.clone(), turn: None }).collect()),
        };
        let source = self.vectors.as_ref().map(|_| match (known.len(), missing.len()) {
            (_, 0) => ReplySource::Stored,
            (0, _) => ReplySource::Asked,
            (_, _) => ReplySource::PartlyStored,
        });
        while !missing.is_empty() {
            let mut batch: Vec<Missing<'_>> = missing.drain(..missing.len().min(BATCH)).collect();
            let texts: Vec<String> = batch.iter().map(|one| one.text.clone()).collect();
            match self.ask(&texts).await {
                Ok(vectors) => {
                    for (one, vector) in batch.iter_mut().zip(&vectors) {
                        one.keep(self.vectors.as_ref(), case, vector).await;
                    }
                    known.extend(texts.into_iter().zip(vectors));
                }
                Err(failed) => {
                    batch.iter().filter_map(|one| one.turn.as_ref()).for_each(|turn| turn.keep_nothing(failed.ending));
                    return Err(failed);
                }
            }
        }
        let dimensions: BTreeSet<_> = known.values().map(Vec::len).collect();
        if dimensions.len() > 1 {
            let why = format!(
                "vectors of different dimensions: {dimensions:?}; if another model has the name now, `embedder.mode: live` asks for all anew"
            );
            return Err(Failed::new(Ending::Provider, why));
        }
        Ok((known, source))
    }

    /// One request, within the embedder's limits and the run's budget.
    async fn ask(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Failed> {
        let limits = Limits {
            whom: "embedder",
            timeout: self.timeout,
            limit: &self.limit,
            minute: self.minute.as_ref(),
            account: self.account.as_ref(),
        };
        let asked = async {
            let embedded = self.embedder.embed(texts).await;
            (embedded.vectors, embedded.spent)
        };
        let vectors = limits.call(estimated(texts), self.embedder.admit(texts), asked).await??;
        if texts.len() != vectors.len() {
            let why = format!("{} vectors came back for {} texts", vectors.len(), texts.len());
            return Err(Failed::new(Ending::Provider, why));
        }
        Ok(vectors)
    }
}

/// A text that is to be asked for, and the right to.
struct Missing<'k> {
    text: String,
    turn: Option<Turn<'k>>,
}

impl Missing<'_> {
    async fn keep(&mut self, vectors: Option<&Vectors>, case: &CaseId, vector: &[f32]) {
        let Some((vectors, turn)) = vectors.zip(self.turn.as_mut()) else { return };
        let entry = StoredReply {
            judge: vectors.keys.embedder().to_owned(),
            model: vectors.keys.model().to_owned(),
            request: stored::REQUEST.to_owned(),
            case: case.to_string(),
            ..StoredReply::new(&vectors.keys.key(&self.text), stored::to_value(vector))
        };
        turn.keep(entry).await;
    }
}

impl Vectors {
    /// Stored vectors of the embedder that makes these keys.
    pub fn new(store: ReplyStore, keys: VectorKeys, mode: ReplyMode) -> Self {
        Self { kept: Kept::new(What::Vectors, store, mode), keys }
    }

    /// Shares what is being asked with the other processes of the run, through lock files in this folder of the run.
    #[must_use]
    pub fn shared(mut self, claims: Option<PathBuf>) -> Self {
        self.kept.share(claims);
        self
    }

    /// The key of a text, and the vector that a run would have without asking, or why it would have none; `None`: it would ask.
    pub(super) fn look_up(&self, text: &str) -> (ReplyKey, Option<Result<Vec<f32>, Failed>>) {
        let key = self.keys.key(text);
        let vector = self.look(&key);
        (key, vector)
    }

    fn look(&self, key: &ReplyKey) -> Option<Result<Vec<f32>, Failed>> {
        match self.kept.look(key, |value| stored::from_value(&value)) {
            Looked::Found(vector) => Some(Ok(vector)),
            Looked::ToAsk => None,
            Looked::Failed(failed) => Some(Err(failed)),
            Looked::Absent => self.kept.refused().map(Err),
        }
    }

    /// The vectors that are stored by text, and the texts that are to be asked for, in their order.
    ///
    /// # Errors
    /// Why one of them is not stored and may not be asked for.
    async fn find(&self, texts: &[String]) -> Result<(BTreeMap<String, Vec<f32>>, Vec<Missing<'_>>), Failed> {
        let mut known = BTreeMap::new();
        let mut missing = Vec::new();
        let by_key: BTreeMap<ReplyKey, (usize, &String)> =
            texts.iter().enumerate().map(|(at, text)| (self.keys.key(text), (at, text))).collect();
        // In the order of the keys, everywhere: whoever holds one waits only for later ones, so that no two wait for each other.
        for (key, (at, text)) in by_key {
            let mut turn = self.kept.turn(&key).await;
            let mut found = self.look(&key);
            if found.is_none() && turn.claim().await {
                found = self.look(&key);
            }
            match found {
                Some(vector) => {
                    known.insert(text.clone(), vector?);
                }
                None => missing.push((at, Missing { text: text.clone(), turn: Some(turn) })),
            }
        }
        missing.sort_by_key(|(at, _)| *at);
        Ok((known, missing.into_iter().map(|(_, one)| one).collect()))
    }
}

/// The cosine of the first text's vector with that of each of the others.
fn compared(request: &EmbedRequest, vectors: &BTreeMap<String, Vec<f32>>) -> Result<Vec<f64>, Failed> {
    let fault = |why: String| Failed::new(Ending::Provider, why);
    let vector = |text: &String| vectors.get(text).ok_or_else(|| fault("a text without a vector".to_owned()));
    let own = vector(&request.text)?;
    request.others.iter().map(|other| cosine(own, vector(other)?).map_err(fault)).collect()
}

#[cfg(test)]
mod tests;
