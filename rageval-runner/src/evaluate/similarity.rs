//! Answers what metrics ask of the embedder: vectors are fetched within its limits, similarities reckoned here.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures_util::FutureExt as _;

use crate::{
    contain,
    embed::{BATCH, Embedder, Failed, cosine, estimated_tokens},
    model::{EmbedRequest, Ending, Reply},
    store::{minute::MinuteLimit, slots::Limit},
};

/// The embedder with its limits.
pub struct Embedding {
    /// The embedder.
    pub embedder: Arc<dyn Embedder>,
    /// How long one request may take.
    pub timeout: Duration,
    /// How many requests may be under way.
    pub limit: Limit,
    /// What it may be asked in a minute over all processes of the run; `None` where nothing limits it or this process is alone.
    pub minute: Option<MinuteLimit>,
}

/// The similarity of a text to each of others, as a list of numbers from -1 to 1. `None` is a policy without an embedder.
pub(super) async fn similarities(embedding: Option<&Embedding>, request: &EmbedRequest) -> Reply {
    let Some(embedding) = embedding else {
        let why = "no `embedder` in thresholds.yaml".to_owned();
        return Reply::Failed { ending: Ending::Unsupported, why };
    };
    let texts = request.texts();
    match embedding.vectors(&texts).await.and_then(|vectors| compared(request, &texts, &vectors)) {
        Ok(similarities) => Reply::Value { value: similarities.into() },
        Err(failed) => failed.into(),
    }
}

impl Embedding {
    async fn vectors(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Failed> {
        let fault = |why: String| Failed::new(Ending::Provider, why);
        let _permit = self.limit.acquire().await.map_err(|error| fault(error.to_string()))?;
        // The limits a minute are waited for before the request's own time begins.
        if let Some(minute) = &self.minute {
            for batch in texts.chunks(BATCH) {
                let admitted = minute.admit(estimated_tokens(batch)).await;
                admitted.map_err(|error| fault(format!("the limits a minute cannot be kept: {error}")))?;
            }
        }
        self.embedder.admit(texts).await;
        let call = AssertUnwindSafe(self.embedder.embed(texts)).catch_unwind();
        match tokio::time::timeout(self.timeout, call).await {
            Err(_) => {
                let why = format!("no reply within {} s", self.timeout.as_secs_f64());
                Err(Failed::new(Ending::TimeOut, why))
            }
            Ok(Err(panic)) => Err(fault(format!("the embedder panicked: {}", contain::said(panic.as_ref())))),
            Ok(Ok(vectors)) => vectors,
        }
    }
}

/// The cosine of the first text's vector with that of each of the others.
fn compared(request: &EmbedRequest, texts: &[String], vectors: &[Vec<f32>]) -> Result<Vec<f64>, Failed> {
    let fault = |why: String| Failed::new(Ending::Provider, why);
    if texts.len() != vectors.len() {
        return Err(fault(format!("{} vectors came back for {} texts", vectors.len(), texts.len())));
    }
    let vector = |text: &String| {
        let found = texts.iter().zip(vectors).find(|(known, _)| *known == text);
        found.map(|(_, vector)| vector).ok_or_else(|| fault("a text without a vector".to_owned()))
    };
    let own = vector(&request.text)?;
    request.others.iter().map(|other| cosine(own, vector(other)?).map_err(fault)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        embed::{EmbedderStamp, scripted::Scripted},
        system::BoxFuture,
    };

    const SCRIPT: &str = r#"{"text": "q", "vector": [3, 4]}
{"text": "a", "vector": [4, 3]}
{"text": "b", "vector": [-6, -8]}"#;

    /// An embedder that misbehaves.
    enum Bad {
        Hangs,
        Panics,
        Short,
    }

    impl Embedder for Bad {
        fn stamp(&self) -> EmbedderStamp {
            EmbedderStamp { provider: String::new(), model: String::new(), fingerprint: String::new() }
        }

        fn embed<'a>(&'a self, _texts: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, Failed>> {
            Box::pin(async move {
                match self {
                    Self::Hangs => std::future::pending().await,
                    Self::Panics => panic!("out of luck"),
                    Self::Short => Ok(vec![vec![1.0]]),
                }
            })
        }
    }

    fn asked(embedder: Option<Arc<dyn Embedder>>, others: &[&str]) -> Reply {
        let embedding = embedder.map(|embedder| Embedding {
            embedder,
            timeout: Duration::from_millis(50),
            limit: Limit::in_process(1),
            minute: None,
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(similarities(embedding.as_ref(), &EmbedRequest::new("q", others.iter().copied())))
    }

    fn scripted() -> Option<Arc<dyn Embedder>> {
        Some(Arc::new(Scripted::from_text(SCRIPT).expect("a script")))
    }

    fn failed(ending: Ending, why: &str) -> Reply {
        Reply::Failed { ending, why: why.to_owned() }
    }

    #[test]
    fn similarities_come_in_the_order_of_the_others() {
        let reply = asked(scripted(), &["b", "a", "q", "a"]);
        assert_eq!(reply, Reply::Value { value: json!([-1.0, 0.96, 1.0, 0.96]) });
    }

    #[test]
    fn equal_texts_are_sent_once() {
        assert_eq!(EmbedRequest::new("q", ["a", "q", "a", "b"]).texts(), ["q", "a", "b"]);
    }

    #[test]
    fn without_an_embedder_it_is_said_what_is_missing() {
        assert_eq!(asked(None, &["a"]), failed(Ending::Unsupported, "no `embedder` in thresholds.yaml"));
    }

    #[test]
    fn a_text_without_a_vector_is_no_similarity() {
        assert_eq!(asked(scripted(), &["c"]), failed(Ending::Missing, "the script has no vector for: c"));
    }

    #[test]
    fn an_embedder_that_misbehaves_costs_its_own_request() {
        let of = |bad: Bad| asked(Some(Arc::new(bad)), &["a"]);
        assert_eq!(of(Bad::Hangs), failed(Ending::TimeOut, "no reply within 0.05 s"));
        let _quiet = contain::quietly();
        assert_eq!(of(Bad::Panics), failed(Ending::Provider, "the embedder panicked: out of luck"));
        assert_eq!(of(Bad::Short), failed(Ending::Provider, "1 vectors came back for 2 texts"));
    }
}
