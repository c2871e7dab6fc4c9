//! Prompts: what a language model is told and shown for a judging request.
//!
//! `docs/prompts.md` has the form of the messages and what it protects against.

mod catalog;
mod fence;
mod one_line;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, sync::LazyLock};

use catalog::{Kind, Presence, TEMPLATES, Template};
use fence::Fenced;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde_json::Value;

use crate::model::{JudgeRequest, Language, Shown};

/// Version of everything about a prompt that code makes: fences, nonces, the writing of texts. Raised when any of it changes.
const FORM: &str = "1";

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
    /// The same schema as text, its keys in the order in which the judge should write them: in an entry the number first.
    pub schema_text: String,
    /// 64 hex digits over everything that makes the prompt but the data: template, schema and form.
    pub hash: String,
}

/// Why there is no prompt for a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PromptError {
    /// No template has this name.
    #[error("there is no prompt for `{name}`; those that have one: {}", names().join(", "))]
    NoTemplate {
        /// The request's name.
        name: String,
    },
    /// The request's fields are not those that its prompt shows.
    #[error("the request `{name}` does not fit its prompt: the field `{field}` {why}")]
    Field {
        /// The request's name.
        name: String,
        /// The field's name.
        field: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The template itself is at fault.
    #[error("the prompt `{name}` ({}) is at fault: {why}", language.as_str())]
    Template {
        /// The request's name.
        name: String,
        /// The template's language.
        language: Language,
        /// What is wrong with it.
        why: String,
    },
}

/// The prompt of a request. Equal requests give equal prompts; every text of the request stands in it whole, exactly once, inside a
/// fence.
///
/// # Errors
/// There is no template of its name; a field is missing, unknown, given twice, or numbered where one text belongs; the template does
/// not show every field once.
pub fn render(request: &JudgeRequest) -> Result<Prompt, PromptError> {
    let template = TEMPLATES
        .iter()
        .find(|template| template.name == request.name)
        .ok_or_else(|| PromptError::NoTemplate { name: request.name.clone() })?;
    let language = request.language;
    let at_fault = |why: String| PromptError::Template { name: request.name.clone(), language, why };
    check_fields(template, request)?;
    let hash = template.hash(language, FORM);
    let Fenced { nonce, blocks } = Fenced::of(&hash, request);
    let (system, user) = parts(template, language).map_err(at_fault)?;
    let system = fill(system, &BTreeMap::from([("rules", catalog::rules(language).to_owned())])).map_err(at_fault)?;
    let user = fill(user, &blocks).map_err(at_fault)?;
    // A template that leaves a block out, or shows it twice or among the instructions, would be judged by what is left.
    let is_shown_once = |block: &String| user.matches(block.as_str()).count() == 1;
    if !blocks.values().all(is_shown_once) || user.matches(&nonce).count() != 2 * blocks.len() {
        return Err(at_fault("it does not show every field exactly once".to_owned()));
    }
    let schema = serde_json::from_str(template.schema).map_err(|error| at_fault(format!("its schema: {error}")))?;
    Ok(Prompt {
        system,
        user,
        schema_name: template.name.replace('.', "-"),
        schema,
        schema_text: template.schema.trim_end().to_owned(),
        hash,
    })
}

/// 64 hex digits over all templates and schemas: changes when any prompt may.
pub fn digest() -> String {
    let mut hasher = blake3::Hasher::new();
    for template in TEMPLATES {
        for language in catalog::LANGUAGES {
            hasher.update(template.hash(language, FORM).as_bytes());
        }
    }
    hasher.finalize().to_hex().to_string()
}

/// The names of the requests that have prompts, sorted.
pub fn names() -> &'static [&'static str] {
    static NAMES: LazyLock<Vec<&'static str>> =
        LazyLock::new(|| TEMPLATES.iter().map(|template| template.name).collect());
    &NAMES
}

fn check_fields(template: &Template, request: &JudgeRequest) -> Result<(), PromptError> {
    let fault = |field: &str, why| Err(PromptError::Field { name: request.name.clone(), field: field.to_owned(), why });
    for (index, field) in request.fields.iter().enumerate() {
        let Some(known) = template.fields.iter().find(|known| known.name == field.name) else {
            return fault(&field.name, "is not shown by it");
        };
        if request.fields[..index].iter().any(|earlier| earlier.name == field.name) {
            return fault(&field.name, "is given twice");
        }
        match (known.kind, &field.shown) {
            (Kind::Text, Shown::Numbered(_)) => return fault(&field.name, "is numbered; it must be one text"),
            (Kind::Numbered | Kind::NumberedOrNone, Shown::Text(_)) => {
                return fault(&field.name, "is one text; it must be numbered");
            }
            (Kind::Numbered, Shown::Numbered(texts)) if texts.is_empty() => {
                return fault(&field.name, "holds nothing to judge");
            }
            (Kind::Text, Shown::Text(_)) | (Kind::Numbered | Kind::NumberedOrNone, Shown::Numbered(_)) => {}
        }
    }
    for known in template.fields {
        let is_given = request.fields.iter().any(|field| field.name == known.name);
        match known.presence {
            Presence::Always if !is_given => return fault(known.name, "is missing"),
            Presence::Always | Presence::WhereGiven => {}
        }
    }
    Ok(())
}

/// The two messages of a template file, not yet filled in.
fn parts(template: &Template, language: Language) -> Result<(&'static str, &'static str), String> {
    template
        .text(language)
        .trim_end()
        .strip_prefix("=== system ===\n")
        .and_then(|text| text.split_once("\n=== user ===\n"))
        .ok_or_else(|| "it needs a line `=== system ===` on top and one `=== user ===` below".to_owned())
}

/// A template with its values; values are never read as templates.
fn fill(template: &'static str, values: &BTreeMap<&str, String>) -> Result<String, String> {
    static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment
    });
    let values = minijinja::Value::from_pairs(values.iter().map(|(name, value)| (*name, value.as_str())));
    ENVIRONMENT.render_str(template, values).map_err(|error| error.to_string())
}
