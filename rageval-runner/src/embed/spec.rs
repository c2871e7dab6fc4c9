//! What `thresholds.yaml` says of the embedder: checked, resolved, and not yet started.

use std::{path::PathBuf, time::Duration};

use crate::{
    judge::spec::{DEFAULT_MAX_IN_FLIGHT, DEFAULT_TIMEOUT, Minute, ReplyMode},
    model::{Place, Price},
};

/// The embedder, as the policy describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct EmbedderSpec {
    /// Who turns texts into vectors.
    pub provider: EmbedderProvider,
    /// What stored replies call it, so that they are found again after it moved; `None`: by where it is asked.
    pub name: Option<String>,
    /// The longest time that one request may take, with all that is sent again; above 0.
    pub timeout: Duration,
    /// Requests asked at once; at least 1.
    pub max_in_flight: usize,
    /// How stored vectors are used; of no effect on vectors from a file.
    pub mode: ReplyMode,
    /// The folder of stored vectors, absolute; `None`: the usual one of stored replies.
    pub replies: Option<PathBuf>,
    /// What it costs; `None` where the policy does not say.
    pub price: Option<Price>,
    /// Where the `embedder` key stands.
    pub place: Place,
}

impl EmbedderSpec {
    /// An embedder of this provider with the default limits, which are those of a judge.
    pub fn of_provider(provider: EmbedderProvider) -> Self {
        Self {
            provider,
            name: None,
            timeout: DEFAULT_TIMEOUT,
            max_in_flight: DEFAULT_MAX_IN_FLIGHT,
            mode: ReplyMode::Cached,
            replies: None,
            price: None,
            place: Place::default(),
        }
    }

    /// Whether asking it may cost money: it is a model behind an address.
    pub fn is_hosted(&self) -> bool {
        match &self.provider {
            EmbedderProvider::Openai(_) => true,
            EmbedderProvider::Scripted { .. } => false,
        }
    }

    /// The limits a minute that it has.
    pub fn minute(&self) -> Minute {
        match &self.provider {
            EmbedderProvider::Openai(hosted) => {
                Minute { requests: hosted.requests_per_minute, tokens: hosted.tokens_per_minute }
            }
            EmbedderProvider::Scripted { .. } => Minute::default(),
        }
    }

    /// What stored replies call the embedder: its `name`, else the address of a hosted one, else the word of its provider.
    pub fn called(&self) -> String {
        match (&self.name, &self.provider) {
            (Some(name), _) => name.clone(),
            (None, EmbedderProvider::Openai(hosted)) => hosted.base_url.clone(),
            (None, EmbedderProvider::Scripted { .. }) => self.provider.as_str().to_owned(),
        }
    }
}

/// Who turns texts into vectors.
#[derive(Debug, Clone, PartialEq)]
pub enum EmbedderProvider {
    /// Vectors from a file, by text.
    Scripted {
        /// The file; absolute.
        vectors: PathBuf,
    },
    /// Anything that speaks `OpenAI`'s embeddings.
    Openai(Box<HostedEmbeddings>),
}

impl EmbedderProvider {
    /// The model; `None` for one that is no model.
    pub fn model(&self) -> Option<&str> {
        match self {
            Self::Scripted { .. } => None,
            Self::Openai(hosted) => Some(&hosted.model),
        }
    }

    /// The word after `provider:`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Scripted { .. } => "scripted",
            Self::Openai(_) => "openai",
        }
    }
}

/// An embedding model behind an address.
#[derive(Debug, Clone, PartialEq)]
pub struct HostedEmbeddings {
    /// Where it is asked, without `/` at its end: `http://` or `https://`, no user, password or query.
    pub base_url: String,
    /// The model, with its version.
    pub model: String,
    /// The variable of the environment that holds the key; `None`: no key is sent.
    pub api_key_env: Option<String>,
    /// Requests sent in a minute; `None`: no limit.
    pub requests_per_minute: Option<usize>,
    /// Tokens read in a minute; `None`: no limit.
    pub tokens_per_minute: Option<usize>,
    /// The longest time for one try; `None`: half of the embedder's `timeout`.
    pub try_timeout: Option<Duration>,
}

impl HostedEmbeddings {
    /// A model at an address without key and limits.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            model: model.into(),
            api_key_env: None,
            requests_per_minute: None,
            tokens_per_minute: None,
            try_timeout: None,
        }
    }
}
