//! What a metric asks, what came back, and all of it so far.

use serde::{Deserialize, Serialize};

use super::case::Language;

/// One thing a metric asks of the outside.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Request {
    /// A question to the judge.
    Judge(JudgeRequest),
    /// A question to the embedder.
    Embed(EmbedRequest),
}

impl Request {
    /// The request's name, `metric.step`.
    pub fn name(&self) -> &str {
        match self {
            Self::Judge(request) => &request.name,
            Self::Embed(_) => EmbedRequest::NAME,
        }
    }
}

/// A question to the embedder: how like `text` is to each of `others`.
///
/// The reply is a list of cosine similarities, one for each of `others` in their order, each from -1 to 1. The vectors themselves never
/// enter a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EmbedRequest {
    /// The text that the others are compared with.
    pub text: String,
    /// The other texts; at least one.
    pub others: Vec<String>,
}

impl EmbedRequest {
    /// The name of every such request.
    pub const NAME: &'static str = "embed.similarities";

    /// Asks for the similarity of a text to each of others.
    pub fn new<T: Into<String>>(text: impl Into<String>, others: impl IntoIterator<Item = T>) -> Self {
        Self { text: text.into(), others: others.into_iter().map(Into::into).collect() }
    }

    /// The different texts of the request, each once: `text` first, then those of `others` in their order.
    pub fn texts(&self) -> Vec<String> {
        let mut texts = vec![self.text.clone()];
        for other in &self.others {
            if !texts.contains(other) {
                texts.push(other.clone());
            }
        }
        texts
    }
}

/// A question to the judge: named data, from which a provider makes a prompt and `offline` reads directly.
///
/// Equal requests are asked once. Everything that should make two requests differ is in here.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JudgeRequest {
    /// `metric.step`, as in `faithfulness.verdicts`: names the prompt, the reply's schema and the scripted reply.
    pub name: String,
    /// The language of the prompt.
    pub language: Language,
    /// What the judge is shown, in order.
    pub fields: Vec<Field>,
    /// 0 for the first reading; fresh readings count up.
    #[serde(default)]
    pub sample: u32,
    /// 0 for the first try; a reply whose numbers do not add up is asked again once, with 1.
    #[serde(default)]
    pub retry: u32,
    /// Whether the reply must carry `score_probabilities`: the probability of each whole number that could have stood where `score` does,
    /// as in `{"4": 0.7, "5": 0.29}`. They come from the log probabilities of the judge's tokens, never from its words.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub logprobs: bool,
}

/// The key under which a reply carries the probabilities of its scores, where [`JudgeRequest::logprobs`] asked for them.
pub const SCORE_PROBABILITIES: &str = "score_probabilities";

/// One named piece of data in a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Field {
    /// `query`, `answer`, `sentences`, `contexts`, `reference`, ...
    pub name: String,
    /// The data.
    pub shown: Shown,
}

/// The data of a field: one text, or texts that code numbered from 1.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Shown {
    /// One text.
    Text(String),
    /// Texts numbered from 1 in this order; a reply refers to them by number.
    Numbered(Vec<String>),
}

impl JudgeRequest {
    /// A first request of this name.
    pub fn new(name: impl Into<String>, language: Language) -> Self {
        Self { name: name.into(), language, fields: Vec::new(), sample: 0, retry: 0, logprobs: false }
    }

    /// Adds one text.
    #[must_use]
    pub fn text(mut self, name: &str, text: impl Into<String>) -> Self {
        self.fields.push(Field { name: name.to_owned(), shown: Shown::Text(text.into()) });
        self
    }

    /// Adds texts that are numbered from 1.
    #[must_use]
    pub fn numbered<T: Into<String>>(mut self, name: &str, texts: impl IntoIterator<Item = T>) -> Self {
        let texts = texts.into_iter().map(Into::into).collect();
        self.fields.push(Field { name: name.to_owned(), shown: Shown::Numbered(texts) });
        self
    }

    /// The text of a field; `None` when there is no such field or it is numbered.
    pub fn text_of(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|field| field.name == name).and_then(|field| match &field.shown {
            Shown::Text(text) => Some(text.as_str()),
            Shown::Numbered(_) => None,
        })
    }

    /// The numbered texts of a field; `None` when there is no such field or it is one text.
    pub fn numbered_of(&self, name: &str) -> Option<&[String]> {
        self.fields.iter().find(|field| field.name == name).and_then(|field| match &field.shown {
            Shown::Numbered(texts) => Some(texts.as_slice()),
            Shown::Text(_) => None,
        })
    }
}

/// What came back for a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Reply {
    /// A value that parsed; whether it fits the question is the metric's to check.
    Value {
        /// The reply.
        value: serde_json::Value,
    },
    /// No value: how it ended instead.
    Failed {
        /// How it ended.
        ending: Ending,
        /// What was said, shortened.
        why: String,
    },
}

/// Every way in which a judge can fail to give a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Ending {
    /// The text holds no readable value.
    Unreadable,
    /// Nothing came back.
    Empty,
    /// Cut off by the length limit.
    Length,
    /// Stopped by the provider's content filter.
    ContentFilter,
    /// The judge declined.
    Refusal,
    /// A tool call that nobody asked for.
    ToolCall,
    /// No answer in time.
    TimeOut,
    /// The provider answered with an error, after retries.
    Provider,
    /// This judge cannot answer this kind of request.
    Unsupported,
    /// No stored reply, and asking is not allowed.
    Missing,
    /// The budget is used up.
    Budget,
    /// The variable that should hold the judge's key is unset or empty.
    NoKey,
}

impl Ending {
    /// Every ending.
    pub const ALL: [Self; 12] = [
        Self::Unreadable,
        Self::Empty,
        Self::Length,
        Self::ContentFilter,
        Self::Refusal,
        Self::ToolCall,
        Self::TimeOut,
        Self::Provider,
        Self::Unsupported,
        Self::Missing,
        Self::Budget,
        Self::NoKey,
    ];

    /// Whether something was sent that ended so.
    pub fn was_sent(self) -> bool {
        match self {
            Self::Unreadable
            | Self::Empty
            | Self::Length
            | Self::ContentFilter
            | Self::Refusal
            | Self::ToolCall
            | Self::TimeOut
            | Self::Provider => true,
            Self::Unsupported | Self::Missing | Self::Budget | Self::NoKey => false,
        }
    }

    /// The cause as counted in reports: `judge reply unreadable`.
    pub fn cause(self) -> &'static str {
        match self {
            Self::Unreadable => "judge reply unreadable",
            Self::Empty => "judge reply empty",
            Self::Length => "judge reply cut by length",
            Self::ContentFilter => "judge stopped by content filter",
            Self::Refusal => "judge refused",
            Self::ToolCall => "judge called a tool",
            Self::TimeOut => "judge time-out",
            Self::Provider => "judge error",
            Self::Unsupported => "judge cannot answer this",
            Self::Missing => "judge reply not stored",
            Self::Budget => "budget used up",
            Self::NoKey => "judge key missing",
        }
    }
}

/// One request with its reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Exchange {
    /// What was asked.
    pub request: Request,
    /// What came back.
    pub reply: Reply,
    /// Who answered.
    #[serde(default, skip_serializing_if = "AskedOf::is_policy")]
    pub of: AskedOf,
    /// Where the reply came from; absent where no reply of this kind is ever stored, where nothing was sent, and in runs of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<ReplySource>,
}

/// Where a reply came from, of a model whose replies are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ReplySource {
    /// It was stored: by an earlier run, or by this one for another case.
    Stored,
    /// It was asked for.
    Asked,
    /// Of several vectors some were stored, and the others asked for.
    PartlyStored,
}

/// Who answers the requests of a metric.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AskedOf {
    /// The judge of the policy.
    #[default]
    Policy,
    /// The rules of the judge `offline`, because the metric says `judge: offline`.
    Offline,
}

impl AskedOf {
    /// Whether it is the judge of the policy.
    pub fn is_policy(&self) -> bool {
        match self {
            Self::Policy => true,
            Self::Offline => false,
        }
    }
}

/// All exchanges of one sample so far, in the order asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Transcript {
    /// The exchanges.
    pub exchanges: Vec<Exchange>,
}

impl Transcript {
    /// The reply to exactly this request, where it was asked already. To be called on exchanges with one judge.
    pub fn reply_to(&self, request: &Request) -> Option<&Reply> {
        self.exchanges.iter().find(|exchange| exchange.request == *request).map(|exchange| &exchange.reply)
    }
}
