//! What `thresholds.yaml` says of the judge: checked, resolved, and not yet started.

use std::{path::PathBuf, sync::Arc, time::Duration};

use super::prompt::Prompts;
use crate::{
    model::{Place, Price},
    system::spec::CommandSpec,
};

/// How long a judge may take for one request where the policy does not say.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// How many requests are asked at once where the policy does not say.
pub const DEFAULT_MAX_IN_FLIGHT: usize = 8;

/// Tokens that a reply of the `anthropic` provider may have where the policy does not say: its messages can't be asked without a limit.
pub const DEFAULT_MAX_TOKENS: usize = 4096;

/// Where the models of `OpenAI` are asked.
pub const OPENAI: &str = "https://api.openai.com/v1";

/// Where the models of Anthropic are asked.
pub const ANTHROPIC: &str = "https://api.anthropic.com";

/// The judge, as the policy describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeSpec {
    /// Who answers.
    pub provider: JudgeProvider,
    /// What stored replies call it, so that they are found again after it moved; `None`: by where it is asked.
    pub name: Option<String>,
    /// The longest time that one request may take, with all that is sent again; above 0.
    pub timeout: Duration,
    /// Requests asked at once; at least 1.
    pub max_in_flight: usize,
    /// How stored replies are used; of no effect on a judge that is code.
    pub mode: ReplyMode,
    /// The folder of stored replies, absolute; `None`: the usual one.
    pub replies: Option<PathBuf>,
    /// What a judge that is a language model is told; `offline` and `scripted` read requests as they are.
    pub prompts: Arc<Prompts>,
    /// What it costs; `None` where the policy does not say.
    pub price: Option<Price>,
    /// Where the `judge` key stands; the first line of the policy where it is missing.
    pub place: Place,
}

impl JudgeSpec {
    /// A judge of this provider with the default limits.
    pub fn of_provider(provider: JudgeProvider) -> Self {
        Self {
            provider,
            name: None,
            timeout: DEFAULT_TIMEOUT,
            max_in_flight: DEFAULT_MAX_IN_FLIGHT,
            mode: ReplyMode::Cached,
            replies: None,
            prompts: Arc::default(),
            price: None,
            place: Place::default(),
        }
    }

    /// Whether asking it may cost money: it is a model behind an address.
    pub fn is_hosted(&self) -> bool {
        match &self.provider {
            JudgeProvider::Openai(_) | JudgeProvider::Azure { .. } | JudgeProvider::Anthropic(_) => true,
            JudgeProvider::Offline | JudgeProvider::Scripted { .. } | JudgeProvider::Command { .. } => false,
        }
    }

    /// The limits a minute that it has.
    pub fn minute(&self) -> Minute {
        match &self.provider {
            JudgeProvider::Openai(hosted) | JudgeProvider::Azure { hosted, .. } | JudgeProvider::Anthropic(hosted) => {
                Minute { requests: hosted.requests_per_minute, tokens: hosted.tokens_per_minute }
            }
            JudgeProvider::Offline | JudgeProvider::Scripted { .. } | JudgeProvider::Command { .. } => {
                Minute::default()
            }
        }
    }

    /// What stored replies call the judge: its `name`, else scheme, host, port and path of a hosted one, else the word of its provider.
    pub fn called(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        match &self.provider {
            JudgeProvider::Openai(hosted) | JudgeProvider::Anthropic(hosted) => hosted.base_url.clone(),
            // Another deployment is another model, whatever `model` says.
            JudgeProvider::Azure { hosted, deployment, api_version: _ } => {
                format!("{}/openai/deployments/{deployment}", hosted.base_url)
            }
            JudgeProvider::Offline | JudgeProvider::Scripted { .. } | JudgeProvider::Command { .. } => {
                self.provider.as_str().to_owned()
            }
        }
    }
}

/// How stored replies are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyMode {
    /// Every request is asked, and its reply stored in place of an older one.
    Live,
    /// What is stored is used, the rest asked and stored.
    Cached,
    /// What is stored is used, and nothing asked: what is not there is unmeasured. Needs no key.
    Replay,
}

impl ReplyMode {
    /// Every mode.
    pub const ALL: [Self; 3] = [Self::Live, Self::Cached, Self::Replay];

    /// The mode that `RAGEVAL_JUDGE_MODE` says.
    ///
    /// # Errors
    /// It says none; the line names those that there are.
    pub fn of_variable(word: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == word).ok_or_else(|| {
            let modes = Self::ALL.map(|mode| format!("`{}`", mode.as_str())).join(", ");
            format!("RAGEVAL_JUDGE_MODE says `{word}`; it is one of {modes}, or unset")
        })
    }

    /// The word after `mode:` and in `RAGEVAL_JUDGE_MODE`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Cached => "cached",
            Self::Replay => "replay",
        }
    }
}

/// What may be used in a minute; `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Minute {
    /// Requests.
    pub requests: Option<usize>,
    /// Tokens, read and written.
    pub tokens: Option<usize>,
}

/// Who answers judging requests.
#[derive(Debug, Clone, PartialEq)]
pub enum JudgeProvider {
    /// Rules over the text; needs no network.
    Offline,
    /// Replies from a file, by request name and case.
    Scripted {
        /// The file; absolute.
        replies: PathBuf,
    },
    /// Anything that speaks `OpenAI`'s chat completions.
    Openai(Box<Hosted>),
    /// A deployment of Azure `OpenAI`.
    Azure {
        /// What all hosted models have. `base_url` is that of the resource, without `/openai`.
        hosted: Box<Hosted>,
        /// The name of the deployment.
        deployment: String,
        /// The version of the interface, a date.
        api_version: String,
    },
    /// Anything that speaks Anthropic's messages.
    Anthropic(Box<Hosted>),
    /// A program that speaks JSON lines.
    Command {
        /// How it is started.
        command: CommandSpec,
        /// What it is, with its version: part of the judge's fingerprint.
        model: String,
    },
}

impl JudgeProvider {
    /// The words that `provider:` takes.
    pub const NAMES: [&'static str; 6] = ["offline", "scripted", "openai", "azure", "anthropic", "command"];

    /// The word after `provider:`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Offline => "offline",
            Self::Scripted { .. } => "scripted",
            Self::Openai(_) => "openai",
            Self::Azure { .. } => "azure",
            Self::Anthropic(_) => "anthropic",
            Self::Command { .. } => "command",
        }
    }
}

/// A model behind an address.
#[derive(Debug, Clone, PartialEq)]
pub struct Hosted {
    /// Where it is asked, without `/` at its end: `http://` or `https://`, no user, password or query.
    pub base_url: String,
    /// The model, with its dated version.
    pub model: String,
    /// The variable of the environment that holds the key; `None`: no key is sent.
    pub api_key_env: Option<String>,
    /// The temperature of sampling; 0 or above.
    pub temperature: f64,
    /// The longest reply in tokens; `None`: the server's own limit.
    pub max_tokens: Option<usize>,
    /// Requests sent in a minute; `None`: no limit.
    pub requests_per_minute: Option<usize>,
    /// Tokens read and written in a minute; `None`: no limit.
    pub tokens_per_minute: Option<usize>,
    /// The longest time for one try; `None`: half of the judge's `timeout`, so that one that hangs can be followed by another.
    pub try_timeout: Option<Duration>,
}

impl Hosted {
    /// A model at an address without key and limits, at temperature 0.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            model: model.into(),
            api_key_env: None,
            temperature: 0.0,
            max_tokens: None,
            requests_per_minute: None,
            tokens_per_minute: None,
            try_timeout: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trust::check::{CODE, PROGRAM};

    #[test]
    fn the_check_of_trust_knows_the_providers_that_are_no_hosted_models() {
        let scripted = JudgeProvider::Scripted { replies: PathBuf::new() };
        assert_eq!(CODE, [JudgeProvider::Offline.as_str(), scripted.as_str()]);
        let others = JudgeProvider::NAMES.into_iter().filter(|name| !CODE.contains(name));
        assert_eq!(others.collect::<Vec<_>>(), ["openai", "azure", "anthropic", PROGRAM]);
    }
}
