//! What a model's reply is stored under, and the keys of a judge's.

use std::{fmt, sync::Arc};

use super::{
    prompt::{Draft, Prompt, PromptError, Prompts},
    spec::{JudgeProvider, JudgeSpec},
};
use crate::model::JudgeRequest;

/// Version of how keys are made.
const FORM: &str = "1";

/// 64 hex digits over everything that decides a reply: whoever asks the same of the same judge finds it again.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ReplyKey(String);

impl ReplyKey {
    /// The key that was written as text; `None` when it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let is_key = text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_key.then(|| Self(text.to_owned()))
    }

    /// The key of what is decided by these named values.
    pub(crate) fn of<'v>(pairs: impl IntoIterator<Item = (&'v str, &'v str)>) -> Self {
        let mut hasher = blake3::Hasher::new();
        for (name, value) in pairs {
            // With its length before it, no value can look like another pair.
            hasher.update(format!("{name}={}:", value.len()).as_bytes());
            hasher.update(value.as_bytes());
            hasher.update(b"\n");
        }
        Self(hasher.finalize().to_hex().to_string())
    }

    /// The hex digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ReplyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Makes the keys of one judge.
///
/// A key covers the request before anything was negotiated with a server: what the judge is called, its model, both messages, the
/// reply's schema, the configured parameters, the sample and the retry. Where the same model is asked in another way, the key stays.
#[derive(Debug, Clone)]
pub struct ReplyKeys {
    judge: String,
    model: String,
    parameters: Vec<(&'static str, String)>,
    prompts: Arc<Prompts>,
}

impl ReplyKeys {
    /// The keys of a judge whose replies are worth storing; `None` for one that is code and costs nothing.
    pub fn of(spec: &JudgeSpec) -> Option<Self> {
        let (model, parameters) = match &spec.provider {
            JudgeProvider::Offline | JudgeProvider::Scripted { .. } => return None,
            JudgeProvider::Openai(hosted) | JudgeProvider::Azure { hosted, .. } | JudgeProvider::Anthropic(hosted) => {
                let max_tokens = hosted.max_tokens.map_or_else(|| "none".to_owned(), |limit| limit.to_string());
                let parameters = vec![("temperature", hosted.temperature.to_string()), ("max_tokens", max_tokens)];
                (hosted.model.clone(), parameters)
            }
            JudgeProvider::Command { model, .. } => (model.clone(), Vec::new()),
        };
        Some(Self { judge: spec.called(), model, parameters, prompts: Arc::clone(&spec.prompts) })
    }

    /// What the judge is called.
    pub fn judge(&self) -> &str {
        &self.judge
    }

    /// Its model.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The key of a request's reply.
    ///
    /// # Errors
    /// The request has no prompt.
    pub fn key(&self, request: &JudgeRequest) -> Result<ReplyKey, PromptError> {
        Ok(self.of_prompt(request, request.retry, &self.prompts.render(request)?))
    }

    /// The request with its prompt and its key, which is a digest of the prompt: made once, for whoever needs more than one of them.
    ///
    /// # Errors
    /// The request has no prompt.
    pub(crate) fn keyed<'r>(&self, request: &'r JudgeRequest) -> Result<Keyed<'r>, PromptError> {
        let draft = self.prompts.draft(request)?;
        let prompt = draft.prompt(request.retry)?;
        let key = self.of_prompt(request, request.retry, &prompt);
        Ok(Keyed { request, draft, prompt, key })
    }

    /// The key of the reply to another try of a request.
    ///
    /// # Errors
    /// That try has no prompt.
    pub(crate) fn of_try(&self, keyed: &Keyed<'_>, retry: u32) -> Result<ReplyKey, PromptError> {
        Ok(self.of_prompt(keyed.request, retry, &keyed.draft.prompt(retry)?))
    }

    fn of_prompt(&self, request: &JudgeRequest, retry: u32, prompt: &Prompt) -> ReplyKey {
        let (sample, retry, logprobs) = (request.sample.to_string(), retry.to_string(), request.logprobs.to_string());
        let pairs = [
            ("form", FORM),
            ("judge", &self.judge),
            ("model", &self.model),
            ("system", &prompt.system),
            ("user", &prompt.user),
            ("schema_name", &prompt.schema_name),
            ("schema", &prompt.schema_text),
            ("sample", &sample),
            ("retry", &retry),
            ("logprobs", &logprobs),
        ];
        let parameters = self.parameters.iter().map(|(name, value)| (*name, value.as_str()));
        ReplyKey::of(pairs.into_iter().chain(parameters))
    }
}

/// A request with all that is made of it before it is asked.
pub(crate) struct Keyed<'r> {
    /// The request.
    pub(crate) request: &'r JudgeRequest,
    /// Its prompt.
    pub(crate) prompt: Prompt,
    /// The key of its reply.
    pub(crate) key: ReplyKey,
    draft: Draft<'r>,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{judge::spec::Hosted, model::Language};

    fn keys(change: impl FnOnce(&mut JudgeSpec, &mut Hosted)) -> ReplyKeys {
        let mut hosted = Hosted::new("http://127.0.0.1:1/v1", "model-2026-01-01");
        let mut spec = JudgeSpec::of_provider(JudgeProvider::Offline);
        change(&mut spec, &mut hosted);
        spec.provider = JudgeProvider::Openai(Box::new(hosted));
        ReplyKeys::of(&spec).expect("replies of a hosted judge are stored")
    }

    fn request(answer: &str) -> JudgeRequest {
        JudgeRequest::new("refusal_correctness.verdict", Language::En).text("query", "q").text("answer", answer)
    }

    #[test]
    fn whatever_decides_a_reply_is_in_its_key() {
        let plain = || keys(|_, _| {});
        let key = |keys: ReplyKeys, request: &JudgeRequest| keys.key(request).expect("a prompt");
        let asked = request("a");
        let all = [
            key(plain(), &asked),
            key(plain(), &request("b")),
            key(plain(), &JudgeRequest { sample: 1, ..asked.clone() }),
            key(plain(), &JudgeRequest { retry: 1, ..asked.clone() }),
            key(plain(), &JudgeRequest { logprobs: true, ..asked.clone() }),
            key(plain(), &JudgeRequest { language: Language::Pt, ..asked.clone() }),
            key(keys(|spec, _| spec.name = Some("ours".to_owned())), &asked),
            key(
                keys(|spec, _| spec.prompts = Arc::new(Prompts::new(true))),
                &JudgeRequest::new("toxicity.verdicts", Language::En).text("query", "q").numbered("sentences", ["a"]),
            ),
            key(
                plain(),
                &JudgeRequest::new("toxicity.verdicts", Language::En).text("query", "q").numbered("sentences", ["a"]),
            ),
            key(keys(|_, hosted| hosted.base_url.push('x')), &asked),
            key(keys(|_, hosted| hosted.model.push('x')), &asked),
            key(keys(|_, hosted| hosted.temperature = 0.5), &asked),
            key(keys(|_, hosted| hosted.max_tokens = Some(9)), &asked),
        ];
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        assert_eq!(key(plain(), &asked), key(plain(), &asked));
    }

    #[test]
    fn what_is_made_once_for_a_request_is_what_is_made_for_each_of_its_tries() {
        let keys = keys(|_, _| {});
        for asked in [
            request("30 days <|end|>\n"),
            JudgeRequest::new("faithfulness.sentence", Language::Zh)
                .numbered("contexts", ["退款"])
                .text("sentence", "a"),
        ] {
            let keyed = keys.keyed(&asked).expect("a prompt");
            assert_eq!(keyed.prompt, Prompts::default().render(&asked).expect("a prompt"));
            assert_eq!(keyed.key, keys.key(&asked).expect("a prompt"));
            for retry in 0..3 {
                let alone = keys.key(&JudgeRequest { retry, ..asked.clone() }).expect("a prompt");
                assert_eq!(keys.of_try(&keyed, retry).expect("a prompt"), alone);
            }
        }
    }

    #[test]
    fn a_key_is_the_digest_of_what_the_judge_is_shown() {
        let asked = request("a");
        let prompt = Prompts::default().render(&asked).expect("a prompt");
        let keys = keys(|_, _| {});
        let pairs = [
            ("form", "1"),
            ("judge", keys.judge()),
            ("model", "model-2026-01-01"),
            ("system", &prompt.system),
            ("user", &prompt.user),
            ("schema_name", "refusal_correctness-verdict"),
            ("schema", &prompt.schema_text),
            ("sample", "0"),
            ("retry", "0"),
            ("logprobs", "false"),
            ("temperature", "0"),
            ("max_tokens", "none"),
        ];
        let text: String = pairs.iter().map(|(name, value)| format!("{name}={}:{value}\n", value.len())).collect();
        assert_eq!(keys.key(&asked).expect("a prompt").as_str(), &*blake3::hash(text.as_bytes()).to_hex());
    }

    #[test]
    fn what_decides_no_reply_is_in_no_key() {
        let key = |keys: ReplyKeys| keys.key(&request("a")).expect("a prompt");
        let plain = key(keys(|_, _| {}));
        assert_eq!(plain, key(keys(|_, hosted| hosted.api_key_env = Some("KEY".to_owned()))));
        assert_eq!(plain, key(keys(|_, hosted| hosted.requests_per_minute = Some(1))));
        assert_eq!(plain, key(keys(|spec, _| spec.max_in_flight = 1)));
        let named = |address: &'static str| {
            key(keys(move |spec, hosted| {
                spec.name = Some("ours".to_owned());
                address.clone_into(&mut hosted.base_url);
            }))
        };
        assert_eq!(named("http://127.0.0.1:1/v1"), named("http://127.0.0.1:2/v1"));
    }

    #[test]
    fn another_deployment_is_another_judge() {
        let key = |deployment: &str| {
            let hosted = Box::new(Hosted::new("http://127.0.0.1:1", "model-2026-01-01"));
            let (deployment, api_version) = (deployment.to_owned(), "1".to_owned());
            let spec = JudgeSpec::of_provider(JudgeProvider::Azure { hosted, deployment, api_version });
            ReplyKeys::of(&spec).expect("a hosted judge").key(&request("a")).expect("a prompt")
        };
        assert_eq!(key("d"), key("d"));
        assert_ne!(key("d"), key("e"));
    }

    #[test]
    fn a_key_is_read_back_from_its_text_and_nothing_else_is() {
        let key = keys(|_, _| {}).key(&request("a")).expect("a prompt");
        assert_eq!(ReplyKey::parse(key.as_str()), Some(key));
        for other in ["", "ab", "../../../etc/passwd", &"G".repeat(64)] {
            assert_eq!(ReplyKey::parse(other), None);
        }
    }

    #[test]
    fn judges_that_are_code_have_no_keys() {
        assert!(ReplyKeys::of(&JudgeSpec::of_provider(JudgeProvider::Offline)).is_none());
    }
}
