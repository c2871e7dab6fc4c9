//! Prompts: what a language model is told and shown for a judging request.

use serde_json::Value;

use crate::model::JudgeRequest;

/// The messages for one request, and the shape that the reply must have.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// The instructions; the same for every request of one name and language, so that a provider can keep them read.
    pub system: String,
    /// The data between fences, and a last reminder.
    pub user: String,
    /// The request's name with `-` for `.`, since providers take only letters, digits, `_` and `-`: `faithfulness-verdicts`.
    pub schema_name: String,
    /// JSON schema of the reply, fit for a provider's strict mode.
    pub schema: Value,
    /// The same schema as text, its keys in the order in which the judge should write them (evidence before verdict).
    pub schema_text: String,
    /// 64 hex digits over everything that makes the prompt but the data: template, schema and form.
    pub hash: String,
}

/// Why there is no prompt for a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PromptError {
    /// No template has this name.
    #[error("there is no prompt for `{name}`")]
    NoTemplate {
        /// The request's name.
        name: String,
    },
}

/// The prompt of a request. Equal requests give equal prompts.
///
/// # Errors
/// There is no template of its name.
pub fn render(request: &JudgeRequest) -> Result<Prompt, PromptError> {
    Err(PromptError::NoTemplate { name: request.name.clone() })
}

/// 64 hex digits over all templates and schemas: changes when any prompt may.
pub fn digest() -> String {
    blake3::hash(&[]).to_hex().to_string()
}

/// The names of the requests that have prompts.
pub fn names() -> &'static [&'static str] {
    &[]
}
