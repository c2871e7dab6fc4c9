//! `OpenAI`'s embeddings, as many servers speak them.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use reqwest::Url;
use serde::Serialize;
use serde_json::Value;
use tokio::time::Instant;

use super::{Embedded, Embedder, EmbedderStamp, Failed, estimated, fault_of, spec::HostedEmbeddings};
use crate::{
    judge::{
        Spent,
        transport::{
            Answered, Pace, Refused, Transport,
            key::{Headers, KeyHeader},
        },
    },
    model::{Ending, case::Fields},
    system::{BoxFuture, excerpt::excerpt},
};

/// Names that a server may give its model and that are kept for the notice.
const MODEL_NAMES: usize = 20;

/// An embedding model behind an address. No `Debug`: its transport holds the key.
pub(super) struct OpenaiEmbedder {
    url: Url,
    model: String,
    transport: Transport,
    /// Names other than that of the policy by which replies called their model.
    models: Mutex<BTreeSet<String>>,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    input: &'a [String],
    encoding_format: &'static str,
}

impl OpenaiEmbedder {
    /// Looks up the key and sends nothing. An error says what is wrong with the address.
    pub(super) fn new(
        hosted: &HostedEmbeddings,
        timeout: Duration,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let wrong = |why: String| format!("`embedder.base_url`: {why}");
        let mut url = Url::parse(&hosted.base_url).map_err(|error| wrong(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("it must start with http:// or https://".to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong(
                "no user or password in an address; name the key's variable in `api_key_env`".to_owned(),
            ));
        }
        url.path_segments_mut().map_err(|()| wrong("it has no path".to_owned()))?.pop_if_empty().push("embeddings");
        let headers = Headers::new("embedder", hosted.api_key_env.as_deref(), KeyHeader::Bearer, &[], env);
        let pace = Pace::new(hosted.requests_per_minute, hosted.tokens_per_minute);
        let try_timeout = hosted.try_timeout.unwrap_or(timeout / 2);
        let transport = Transport::new(&url, headers, pace, timeout, try_timeout)?;
        Ok(Self { url, model: hosted.model.clone(), transport, models: Mutex::default() })
    }

    async fn vectors(&self, texts: &[String], spent: &mut Spent) -> Result<Vec<Vec<f32>>, Failed> {
        if let Some(missing) = self.transport.missing_key() {
            return Err(Failed::new(Ending::NoKey, missing));
        }
        let body = Body { model: &self.model, input: texts, encoding_format: "float" };
        let body = serde_json::to_string(&body)
            .map_err(|error| Failed::new(Ending::Provider, format!("the request can't be written as JSON: {error}")))?;
        let seed = blake3::hash(texts.join("\n").as_bytes());
        let tokens = estimated(texts).tokens();
        let mut call = self.transport.call(*seed.as_bytes(), tokens);
        let answered = self.transport.send(&self.url, &body, &mut call).await;
        spent.requests = call.tries();
        // A try that was cut off may have been read and paid for all the same.
        spent.estimated_tokens = call.unanswered() * tokens;
        let told = match &answered {
            Ok(Answered::Value(value)) => value.pointer("/usage/total_tokens").and_then(Value::as_u64),
            Ok(Answered::Refused(_)) | Err(_) => Some(0),
        };
        if told.is_none() {
            spent.estimated_tokens += tokens;
        }
        spent.input_tokens = told.unwrap_or_default() + spent.estimated_tokens;
        let value = match answered? {
            Answered::Value(value) => value,
            Answered::Refused(refused) => return Err(refusal(&refused)),
        };
        if let Some(model) = value.get("model").and_then(Value::as_str).filter(|model| *model != self.model) {
            let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
            // A gateway that makes up a name for each request must not fill the memory.
            if models.len() < MODEL_NAMES {
                models.insert(excerpt(model, 100));
            }
        }
        self.transport.pace.used(told.unwrap_or_default().saturating_sub(tokens), Instant::now());
        let vectors = read(&value, texts.len()).map_err(|why| unusable(&why))?;
        let dimensions: BTreeSet<_> = vectors.iter().map(Vec::len).collect();
        if dimensions.len() > 1 {
            return Err(unusable(&format!("its vectors have different dimensions: {dimensions:?}")));
        }
        Ok(vectors)
    }
}

impl Embedder for OpenaiEmbedder {
    fn stamp(&self) -> EmbedderStamp {
        let mut fields = Fields::default();
        fields.add("provider", "openai");
        fields.add("model", &self.model);
        EmbedderStamp { provider: "openai".to_owned(), model: self.model.clone(), fingerprint: fields.finish() }
    }

    fn admit<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, ()> {
        Box::pin(self.transport.admit(estimated(texts).tokens()))
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Embedded> {
        Box::pin(async move {
            let mut spent = Spent::default();
            let vectors = self.vectors(texts, &mut spent).await;
            let vectors = vectors.map_err(|failed| Failed::new(failed.ending, self.transport.hide(&failed.why)));
            Embedded { vectors, spent }
        })
    }

    fn missing_key(&self) -> Option<&str> {
        self.transport.missing_key()
    }

    fn notices(&self) -> Vec<String> {
        let models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        let mut notices = self.transport.notices();
        if !models.is_empty() {
            let models: Vec<_> = models.iter().map(|model| format!("`{model}`")).collect();
            notices.insert(
                0,
                format!("the embedder was asked as `{}` and calls itself {}", self.model, models.join(", ")),
            );
        }
        notices
    }
}

fn unusable(why: &str) -> Failed {
    Failed::new(Ending::Provider, format!("the embedder's reply can't be used: {why}"))
}

fn refusal(refused: &Refused) -> Failed {
    let hint = match refused.status.as_u16() {
        401 | 403 => "; is the key in the variable of `embedder.api_key_env` right?",
        404 => "; are `embedder.base_url` and `embedder.model` right?",
        501 => "; this server makes no embeddings: a chat model's server needs another one beside it",
        _ => "",
    };
    Failed::new(Ending::Provider, format!("{}{hint}", refused.why()))
}

/// The vectors in the order of the texts. Places come from `index` alone: servers may reply in any order.
///
/// # Errors
/// Why the reply does not fit: no list, an index missing, repeated or beyond the texts, something that is no vector.
fn read(value: &Value, count: usize) -> Result<Vec<Vec<f32>>, String> {
    let Some(entries) = value.get("data").and_then(Value::as_array) else {
        return Err("it has no list `data`".to_owned());
    };
    let mut slots: Vec<Option<Vec<f32>>> = vec![None; count];
    for (place, entry) in entries.iter().enumerate() {
        let at = format!("`data[{place}]`");
        let index = entry.get("index").and_then(Value::as_u64).ok_or_else(|| format!("{at} has no `index`"))?;
        let slot = usize::try_from(index).ok().and_then(|index| slots.get_mut(index));
        match slot {
            None => return Err(format!("{at} has the index {index}, and {count} texts were sent")),
            Some(Some(_)) => return Err(format!("the index {index} stands in it twice")),
            Some(slot @ None) => {
                let embedding = entry.get("embedding").ok_or_else(|| format!("{at} has no `embedding`"))?;
                *slot = Some(vector(embedding).map_err(|why| format!("the `embedding` of {at} {why}"))?);
            }
        }
    }
    if let Some(missing) = slots.iter().position(Option::is_none) {
        return Err(format!("the index {missing} is missing, and {count} texts were sent"));
    }
    Ok(slots.into_iter().flatten().collect())
}

fn vector(embedding: &Value) -> Result<Vec<f32>, String> {
    let numbers = match embedding {
        Value::Array(numbers) => numbers,
        Value::String(_) => {
            return Err("is a text (base64?), although `encoding_format: float` was asked for".to_owned());
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            return Err("is no list of numbers".to_owned());
        }
    };
    // Beyond single precision a number becomes infinite, which is refused below.
    let number = |(place, number): (usize, &Value)| {
        number.as_f64().map(|number| number as f32).ok_or_else(|| format!("holds what is no number, at {place}"))
    };
    let vector = numbers.iter().enumerate().map(number).collect::<Result<Vec<_>, _>>()?;
    match fault_of(&vector) {
        Some(fault) => Err(fault.to_owned()),
        None => Ok(vector),
    }
}
