//! Judges that are models behind an address: one way of asking for all, two interfaces.

mod anthropic;
mod ending;
mod logprobs;
mod negotiate;
mod openai_compatible;
mod usage;

use std::{
    borrow::Cow,
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use reqwest::Url;
use serde_json::Value;
use tokio::time::Instant;

use self::{
    negotiate::{Alternatives, Asked, Form, Next},
    usage::tokens_used,
};
use super::{
    Judge, Judged, Spent, estimated_tokens, fingerprint,
    prompt::{Prompt, Prompts},
    reply,
    spec::{DEFAULT_MAX_TOKENS, Hosted},
    transport::{
        Answered, Call, Failed, Pace, Refused, Transport,
        key::{Headers, KeyHeader},
    },
};
use crate::{
    model::{CaseId, Ending, JudgeRequest, Reply, SCORE_PROBABILITIES, run::JudgeStamp},
    system::{BoxFuture, excerpt::excerpt},
};

/// The version of Anthropic's interface that is spoken.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// What the tool is for that a reply is the argument of.
const TOOL: &str = "Takes the reply.";

/// Where a model is, and how it is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interface<'a> {
    /// Chat completions.
    Openai,
    /// Chat completions as Azure has them.
    Azure {
        /// The name of the deployment.
        deployment: &'a str,
        /// The version of the interface.
        api_version: &'a str,
    },
    /// Messages.
    Anthropic,
}

/// The shape of bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    Completions,
    Messages,
}

/// What every body says.
#[derive(Debug, Clone, PartialEq)]
struct Setting {
    model: String,
    temperature: f64,
    max_tokens: Option<usize>,
    /// The limit that is sent where none is given; `None`: none is sent.
    default_max_tokens: Option<usize>,
}

/// What a reply of success holds.
#[derive(Debug, Clone, PartialEq)]
enum Read {
    /// Text, for the reader.
    Text(String),
    /// The argument of the tool that was asked for.
    Value(Value),
}

/// A model behind an address. No `Debug`: its transport holds the key.
pub(super) struct HostedJudge {
    provider: &'static str,
    protocol: Protocol,
    url: Url,
    setting: Setting,
    prompts: Arc<Prompts>,
    transport: Transport,
    first: Asked,
    learned: Mutex<Learned>,
}

/// What the replies so far have shown.
struct Learned {
    asked: Asked,
    /// Whether another form may be guessed at: not after a reply has come, and not after guessing was no help.
    guesses: Guesses,
    /// Names other than that of the policy by which replies called their model.
    models: BTreeSet<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Guesses {
    Open,
    Closed,
}

impl HostedJudge {
    /// Looks up the key and sends nothing. An error says what is wrong with the address.
    pub(super) fn new(
        provider: &'static str,
        interface: Interface<'_>,
        hosted: &Hosted,
        prompts: Arc<Prompts>,
        timeout: Duration,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let url = url(interface, &hosted.base_url)?;
        let (protocol, header, fixed): (_, _, &[_]) = match interface {
            Interface::Openai => (Protocol::Completions, KeyHeader::Bearer, &[]),
            Interface::Azure { .. } => (Protocol::Completions, KeyHeader::Named("api-key"), &[]),
            Interface::Anthropic => {
                (Protocol::Messages, KeyHeader::Named("x-api-key"), &[("anthropic-version", ANTHROPIC_VERSION)])
            }
        };
        let headers = Headers::new("judge", hosted.api_key_env.as_deref(), header, fixed, env);
        let pace = Pace::new(hosted.requests_per_minute, hosted.tokens_per_minute);
        let try_timeout = hosted.try_timeout.unwrap_or(timeout / 2);
        let (first, default_max_tokens) = match protocol {
            Protocol::Completions => (Asked::first(Form::Schema), None),
            Protocol::Messages => (Asked::first(Form::Tool), Some(DEFAULT_MAX_TOKENS)),
        };
        Ok(Self {
            provider,
            protocol,
            transport: Transport::new(&url, headers, pace, timeout, try_timeout)?,
            url,
            setting: Setting {
                model: hosted.model.clone(),
                temperature: hosted.temperature,
                max_tokens: hosted.max_tokens,
                default_max_tokens,
            },
            prompts,
            first,
            learned: Mutex::new(Learned { asked: first, guesses: Guesses::Open, models: BTreeSet::new() }),
        })
    }

    /// A reply with what it took; the prompt is made where it is not there yet.
    async fn judged(&self, case: &CaseId, request: &JudgeRequest, prompt: Option<&Prompt>) -> Judged {
        let mut spent = Spent::default();
        let reply = match self.reply(case, request, prompt, &mut spent).await {
            Ok(value) => Reply::Value { value },
            // A reply's text may hold the key in a spelling that its envelope hid.
            Err(failed) => Failed::new(failed.ending, self.transport.hide(&failed.why)).into(),
        };
        Judged { reply, spent }
    }

    async fn reply(
        &self,
        case: &CaseId,
        request: &JudgeRequest,
        prompt: Option<&Prompt>,
        spent: &mut Spent,
    ) -> Result<Value, Failed> {
        if request.logprobs && self.protocol == Protocol::Messages {
            return Err(Failed::new(Ending::Unsupported, "Anthropic's messages carry no log probabilities"));
        }
        let prompt = match prompt {
            Some(prompt) => Cow::Borrowed(prompt),
            None => {
                let rendered = self.prompts.render(request);
                Cow::Owned(rendered.map_err(|error| Failed::new(Ending::Unsupported, error.to_string()))?)
            }
        };
        if let Some(missing) = self.transport.missing_key() {
            return Err(Failed::new(Ending::NoKey, missing));
        }
        let tokens = estimated_tokens(request);
        let mut call = self.call(case, request, &prompt, tokens);
        let mut passed_over = None;
        let exchanged = self.exchange(request, &prompt, &mut call, &mut passed_over).await;
        spent.requests = call.tries();
        // A try that was cut off may have been read and paid for all the same.
        spent.estimated_tokens = call.unanswered() * tokens;
        for envelope in passed_over.iter().chain(exchanged.as_ref().ok().map(|(_, envelope)| envelope)) {
            match tokens_used(envelope) {
                Some((read, written)) => {
                    spent.input_tokens = spent.input_tokens.saturating_add(read);
                    spent.output_tokens = spent.output_tokens.saturating_add(written);
                }
                None => spent.estimated_tokens += tokens,
            }
        }
        spent.input_tokens = spent.input_tokens.saturating_add(spent.estimated_tokens);
        let (form, envelope) = exchanged?;
        let read = match self.protocol {
            Protocol::Completions => openai_compatible::read(&envelope, form, &prompt.schema_name, &self.setting),
            Protocol::Messages => anthropic::read(&envelope, form, &prompt.schema_name, &self.setting),
        }?;
        let value = match read {
            Read::Value(value) => value,
            Read::Text(text) => {
                let mut value = reply::read_object(&text)
                    .map_err(|unreadable| Failed::new(Ending::Unreadable, self.transport.hide(&unreadable.why)))?;
                if request.logprobs {
                    // Over whatever the text states of itself.
                    value[SCORE_PROBABILITIES] = logprobs::score_probabilities(&envelope, &text)?;
                }
                value
            }
        };
        self.transport.refuse_key_in(&value).map_err(|why| Failed::new(Ending::Provider, why))?;
        Ok(value)
    }

    /// A request on its way; its seed spreads its pauses.
    fn call(&self, case: &CaseId, request: &JudgeRequest, prompt: &Prompt, tokens: u64) -> Call {
        let seed = blake3::hash(format!("{case}\n{}\n{}", request.name, prompt.user).as_bytes());
        self.transport.call(*seed.as_bytes(), tokens)
    }

    /// Sends the prompt in the ways of asking that are left until one is taken; returns the form that was, and the envelope. A reply that passed
    /// over the tool is put aside, since it was paid for.
    async fn exchange(
        &self,
        request: &JudgeRequest,
        prompt: &Prompt,
        call: &mut Call,
        passed_over: &mut Option<Value>,
    ) -> Result<(Form, Value), Failed> {
        let mut asked = self.learned().asked;
        if request.logprobs && asked.alternatives == Alternatives::Refused {
            return Err(Failed::new(Ending::Unsupported, "the server has refused to give log probabilities"));
        }
        // The refusal that a guess tries to get around: where no guess helps, it is the one to tell.
        let mut first_refusal: Option<Refused> = None;
        // Each round moves `asked` on or ends, so there are only a few.
        loop {
            // The log probabilities of a completion are those of its text, not of a call's arguments.
            if request.logprobs && asked.form == Form::Tool {
                asked.form = Form::Text;
            }
            let alternatives = asked.alternatives.count().filter(|_| request.logprobs);
            let body = match self.protocol {
                Protocol::Completions => openai_compatible::body(&self.setting, prompt, asked, alternatives),
                Protocol::Messages => anthropic::body(&self.setting, prompt, asked),
            };
            let body = body.map_err(|error| {
                Failed::new(Ending::Unsupported, format!("the request can't be written as JSON: {error}"))
            })?;
            let refused = match self.transport.send(&self.url, &body, call).await? {
                Answered::Value(value) => {
                    // That calls were passed over says nothing of how well they would do.
                    let form = if request.logprobs { asked.form.min(Form::Tool) } else { asked.form };
                    self.learn(Asked { form, ..asked }, &value, call.tokens());
                    if asked.form == Form::Tool && self.was_cut_without_call(&value) {
                        asked.form = Form::Text;
                        let mut learned = self.learned();
                        learned.asked = learned.asked.merge(asked);
                        *passed_over = Some(value);
                        continue;
                    }
                    return Ok((asked.form, value));
                }
                Answered::Refused(refused) => refused,
            };
            if request.logprobs
                && let Some(fewer) = negotiate::fewer_alternatives(asked, &refused)
            {
                let mut learned = self.learned();
                learned.asked.alternatives = learned.asked.alternatives.max(fewer.alternatives);
                if fewer.alternatives == Alternatives::Refused {
                    let why = format!("the server refuses to give log probabilities: {}", refused.why());
                    return Err(Failed::new(Ending::Unsupported, why));
                }
                asked = fewer;
                continue;
            }
            let next = negotiate::after(asked, &refused);
            match next {
                Next::Named(next) => {
                    let mut learned = self.learned();
                    if first_refusal.is_none() {
                        learned.asked = learned.asked.merge(next);
                    }
                    asked = next;
                }
                Next::Guessed(next) if self.learned().guesses == Guesses::Open => {
                    first_refusal.get_or_insert(refused);
                    asked = next;
                }
                Next::Guessed(_) | Next::Nothing => {
                    if first_refusal.is_some() {
                        self.learned().guesses = Guesses::Closed;
                    }
                    return Err(self.refusal(&first_refusal.unwrap_or(refused)));
                }
            }
        }
    }

    /// Whether the tool that must be called was passed over, and the reply cut. Some servers take `tool_choice` and do not hold the model to
    /// it; one that is told of a tool and calls none may write on to the limit.
    fn was_cut_without_call(&self, envelope: &Value) -> bool {
        match self.protocol {
            Protocol::Completions => openai_compatible::was_cut_without_call(envelope),
            Protocol::Messages => anthropic::was_cut_without_call(envelope),
        }
    }

    /// A reply came: this way of asking works.
    fn learn(&self, asked: Asked, value: &Value, tokens: u64) {
        let mut learned = self.learned();
        learned.asked = learned.asked.merge(asked);
        learned.guesses = Guesses::Closed;
        if let Some(model) = value.get("model").and_then(Value::as_str).filter(|model| *model != self.setting.model) {
            // A gateway that makes up a name for each request must not fill the memory.
            if learned.models.len() < 20 {
                learned.models.insert(excerpt(model, 100));
            }
        }
        drop(learned);
        if let Some((read, written)) = tokens_used(value) {
            self.transport.pace.used(read.saturating_add(written).saturating_sub(tokens), Instant::now());
        }
    }

    fn refusal(&self, refused: &Refused) -> Failed {
        if negotiate::is_content_filter(refused) {
            return Failed::new(Ending::ContentFilter, refused.why());
        }
        let hint = match refused.status.as_u16() {
            401 | 403 => "; is the key in the variable of `judge.api_key_env` right?",
            404 => "; are `judge.base_url` and `judge.model` right?",
            _ => "",
        };
        Failed::new(Ending::Provider, format!("{}{hint}", refused.why()))
    }

    fn learned(&self) -> MutexGuard<'_, Learned> {
        // No code that holds this lock can panic halfway through a change.
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Judge for HostedJudge {
    fn stamp(&self) -> JudgeStamp {
        let temperature = self.setting.temperature.to_string();
        let max_tokens = self.setting.max_tokens.or(self.setting.default_max_tokens);
        let max_tokens = max_tokens.map_or_else(|| "none".to_owned(), |limit| limit.to_string());
        let parameters = [("temperature", temperature.as_str()), ("max_tokens", max_tokens.as_str())];
        JudgeStamp {
            provider: self.provider.to_owned(),
            model: self.setting.model.clone(),
            fingerprint: fingerprint(self.provider, &self.setting.model, &self.prompts, &parameters),
        }
    }

    fn is_deterministic(&self) -> bool {
        false
    }

    fn admit<'a>(&'a self, request: &'a JudgeRequest) -> BoxFuture<'a, ()> {
        Box::pin(self.transport.admit(estimated_tokens(request)))
    }

    fn ask<'a>(&'a self, case: &'a CaseId, request: &'a JudgeRequest) -> BoxFuture<'a, Judged> {
        Box::pin(self.judged(case, request, None))
    }

    fn ask_by<'a>(&'a self, case: &'a CaseId, request: &'a JudgeRequest, prompt: &'a Prompt) -> BoxFuture<'a, Judged> {
        Box::pin(self.judged(case, request, Some(prompt)))
    }

    fn missing_key(&self) -> Option<&str> {
        self.transport.missing_key()
    }

    fn other_names(&self) -> BTreeSet<String> {
        self.learned().models.clone()
    }

    fn notices(&self) -> Vec<String> {
        let learned = self.learned();
        let mut notices = learned.asked.notices(self.first);
        if !learned.models.is_empty() {
            let models: Vec<_> = learned.models.iter().map(|model| format!("`{model}`")).collect();
            notices.push(format!(
                "the judge was asked as `{}` and calls itself {}",
                self.setting.model,
                models.join(", ")
            ));
        }
        notices.extend(self.transport.notices());
        notices
    }
}

/// Where requests go.
fn url(interface: Interface<'_>, base_url: &str) -> Result<Url, String> {
    let wrong = |why: String| format!("`judge.base_url`: {why}");
    let mut url = Url::parse(base_url).map_err(|error| wrong(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(wrong("it must start with http:// or https://".to_owned()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("no user or password in an address; name the key's variable in `api_key_env`".to_owned()));
    }
    {
        let mut path = url.path_segments_mut().map_err(|()| wrong("it has no path".to_owned()))?;
        path.pop_if_empty();
        match interface {
            Interface::Openai => path.extend(["chat", "completions"]),
            Interface::Azure { deployment, .. } => {
                path.extend(["openai", "deployments", deployment, "chat", "completions"])
            }
            // With and without the version, as both are written.
            Interface::Anthropic if base_url.trim_end_matches('/').ends_with("/v1") => path.extend(["messages"]),
            Interface::Anthropic => path.extend(["v1", "messages"]),
        };
    }
    match interface {
        Interface::Azure { api_version, .. } => {
            url.query_pairs_mut().append_pair("api-version", api_version);
        }
        Interface::Openai | Interface::Anthropic => {}
    }
    Ok(url)
}

/// The instructions; where nothing else holds the reply to its shape, they say it.
fn system_text(prompt: &Prompt, form: Form) -> Cow<'_, str> {
    match form {
        Form::Schema | Form::Tool => Cow::Borrowed(&prompt.system),
        Form::Text => Cow::Owned(format!(
            "{}\n\nReply with one JSON object that fits this JSON schema, and with nothing else:\n{}",
            prompt.system, prompt.schema_text
        )),
    }
}
