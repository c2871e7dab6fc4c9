//! Judges: whatever answers a judging request.

pub mod command;
#[cfg(test)]
mod first_sample;
mod hosted;
pub mod key;
pub mod offline;
pub mod prompt;
pub mod reply;
pub mod scripted;
pub mod spec;
pub(crate) mod transport;

use std::{collections::BTreeSet, sync::Arc};

use hosted::{HostedJudge, Interface};
use prompt::{Prompt, Prompts};
use spec::{JudgeProvider, JudgeSpec};
pub use transport::{Failed, TRIES};

use crate::{
    model::{CaseId, JudgeRequest, Reply, Shown, run::JudgeStamp},
    system::BoxFuture,
};

/// Tokens of a prompt beside its data, for the estimate that is corrected once a reply says what it used.
const TOKENS_BESIDE_DATA: u64 = 700;

/// Tokens of a reply, for the same estimate.
const TOKENS_OF_REPLY: u64 = 200;

/// What asking took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// Requests that were sent, those that were sent again included.
    pub requests: u64,
    /// Tokens read by the model, as the replies say; estimated where they don't.
    pub input_tokens: u64,
    /// Tokens written by the model, as the replies say.
    pub output_tokens: u64,
    /// Tokens among both that no reply told.
    pub estimated_tokens: u64,
}

impl Spent {
    /// Read and written tokens.
    pub fn tokens(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl std::ops::AddAssign for Spent {
    fn add_assign(&mut self, more: Self) {
        self.requests = self.requests.saturating_add(more.requests);
        self.input_tokens = self.input_tokens.saturating_add(more.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(more.output_tokens);
        self.estimated_tokens = self.estimated_tokens.saturating_add(more.estimated_tokens);
    }
}

/// A reply, and what it took.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The reply.
    pub reply: Reply,
    /// What asking took.
    pub spent: Spent,
}

impl From<Reply> for Judged {
    /// A reply that took nothing.
    fn from(reply: Reply) -> Self {
        Self { reply, spent: Spent::default() }
    }
}

/// Whatever answers a judging request.
pub trait Judge: Send + Sync {
    /// Who it is: part of every baseline, so that scores of two judges are never compared.
    fn stamp(&self) -> JudgeStamp;

    /// Whether a fresh reading of the same request is always the same, so that confirming it makes no sense.
    fn is_deterministic(&self) -> bool;

    /// Waits until the judge's limits a minute let this request be asked. Called before each request; no part of its time limit, since
    /// the waiting is ours.
    fn admit<'a>(&'a self, _request: &'a JudgeRequest) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Answers one request of one case. Never an `Err`: a failure is a reply that says how it ended.
    fn ask<'a>(&'a self, case: &'a CaseId, request: &'a JudgeRequest) -> BoxFuture<'a, Judged>;

    /// The same where the request's prompt was made already, of the judge's own prompts: one that shows prompts need not make it again.
    fn ask_by<'a>(&'a self, case: &'a CaseId, request: &'a JudgeRequest, _prompt: &'a Prompt) -> BoxFuture<'a, Judged> {
        self.ask(case, request)
    }

    /// Why nothing can be asked although nothing is wrong with a request: the variable that should hold the key is unset or empty.
    fn missing_key(&self) -> Option<&str> {
        None
    }

    /// Names other than the policy's by which replies of this process called the model.
    fn other_names(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }

    /// What changes no outcome and somebody should know, one line each: requests that were sent again, parameters that were refused.
    /// To be asked once all cases are done.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Makes the judge of a policy; nothing is asked or started yet. An error names the file or key at fault.
///
/// `env` looks up a variable of the environment. A key that is not there is no error here, since nothing may need it: every request
/// then says which variable is missing.
pub fn open(spec: &JudgeSpec, env: &dyn Fn(&str) -> Option<String>) -> Result<Arc<dyn Judge>, String> {
    let hosted = |interface, hosted| -> Result<Arc<dyn Judge>, String> {
        Ok(Arc::new(HostedJudge::new(
            spec.provider.as_str(),
            interface,
            hosted,
            Arc::clone(&spec.prompts),
            spec.timeout,
            env,
        )?))
    };
    match &spec.provider {
        JudgeProvider::Offline => Ok(Arc::new(offline::Offline)),
        JudgeProvider::Scripted { replies } => {
            let at = |why: String| format!("{}: {why}", replies.display());
            let text = std::fs::read_to_string(replies).map_err(|error| at(error.to_string()))?;
            Ok(Arc::new(scripted::Scripted::from_text(&text).map_err(|error| at(error.to_string()))?))
        }
        JudgeProvider::Openai(model) => hosted(Interface::Openai, model),
        JudgeProvider::Azure { hosted: model, deployment, api_version } => {
            hosted(Interface::Azure { deployment, api_version }, model)
        }
        JudgeProvider::Anthropic(model) => hosted(Interface::Anthropic, model),
        JudgeProvider::Command { command, model } => {
            Ok(Arc::new(command::CommandJudge::new(command, model, Arc::clone(&spec.prompts))?))
        }
    }
}

/// Digest over everything that decides what a judge says: provider, model, configured parameters, prompts. 64 hex digits.
fn fingerprint(provider: &str, model: &str, prompts: &Prompts, parameters: &[(&str, &str)]) -> String {
    let prompts = prompts.digest();
    let pairs = [("provider", provider), ("model", model), ("prompts", prompts.as_str())];
    key::ReplyKey::of(pairs.into_iter().chain(parameters.iter().copied())).to_string()
}

/// About how many tokens a request and its reply are.
pub fn estimated_tokens(request: &JudgeRequest) -> u64 {
    estimated(request).tokens()
}

/// What one request may take: known before it is sent, and corrected once its reply says what it used.
pub fn estimated(request: &JudgeRequest) -> Spent {
    let data = request.fields.iter().map(|field| match &field.shown {
        Shown::Text(text) => tokens_of(text),
        Shown::Numbered(texts) => texts.iter().map(|text| tokens_of(text) + 3).sum(),
    });
    let input_tokens = data.sum::<u64>() + TOKENS_BESIDE_DATA;
    Spent {
        requests: 1,
        input_tokens,
        output_tokens: TOKENS_OF_REPLY,
        estimated_tokens: input_tokens + TOKENS_OF_REPLY,
    }
}

/// About how many tokens a text is: four letters each, or one character of a script without letters.
pub fn tokens_of(text: &str) -> u64 {
    let characters = text.chars().count() as u64;
    // Most texts are ASCII alone, and this is asked of every text again and again.
    if characters == text.len() as u64 {
        return characters / 4;
    }
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    ascii / 4 + (characters - ascii)
}
