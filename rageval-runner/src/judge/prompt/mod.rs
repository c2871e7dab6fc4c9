//! Prompts: what a language model is told and shown for a judging request.
//!
//! `docs/prompts.md` has the form of the messages and what it protects against.

mod catalog;
mod fence;
mod layout;
mod one_line;
mod own;
mod reasons;
mod sheet;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, LazyLock},
};

pub use catalog::LANGUAGES;
use catalog::{Kind, Presence, TEMPLATES, Template};
use fence::Bodies;
pub use own::TemplateFault;
use serde_json::Value;
use sheet::{Origin, Sheet, Sheets, Unread, fill, texts};

use crate::model::{JudgeRequest, Language, Shown};

/// Version of everything about a prompt that code makes: fences, nonces, the writing of texts. Raised when any of it changes.
const FORM: &str = "1";

/// The messages for one request, and the shape that the reply must have.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// The instructions; the same for every request of one name and language, so that a provider can keep them read.
    pub system: Arc<str>,
    /// The data between fences, and a last reminder.
    pub user: String,
    /// The request's name with `-` for `.`, since providers take only letters, digits, `_` and `-`: `faithfulness-verdicts`.
    pub schema_name: Arc<str>,
    /// JSON schema of the reply, fit for a provider's strict mode.
    pub schema: Arc<Value>,
    /// The same schema as text, its keys in the order in which the judge should write them: in an entry the number first.
    pub schema_text: Arc<str>,
    /// 64 hex digits over everything that makes the prompt but the data: template, schema and form.
    pub hash: Arc<str>,
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

/// What a judge's prompts are made of: the built-in templates, those that the policy puts in their place, and whether reasons are asked
/// for. [`Prompts::default`] is the built-in ones, without reasons.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Prompts {
    reasons: bool,
    own: BTreeMap<(&'static str, Language), String>,
    sheets: Sheets,
}

impl fmt::Debug for Prompts {
    /// Without the sheets, which follow from the rest and are there once they were needed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompts").field("reasons", &self.reasons).field("own", &self.own).finish()
    }
}

impl Prompts {
    /// The built-in prompts. With `reasons`, a reply has a `reason` beside each verdict, where there are verdicts.
    pub fn new(reasons: bool) -> Self {
        Self { reasons, ..Self::default() }
    }

    /// Puts a template in the place of the built-in one of this name and language. Its lines end with LF alone.
    ///
    /// # Errors
    /// All that is wrong with it; the built-in one then stays.
    pub fn replace(&mut self, name: &str, language: Language, text: &str) -> Result<(), Vec<TemplateFault>> {
        let Some(template) = catalog::template(name) else {
            let why = PromptError::NoTemplate { name: name.to_owned() }.to_string();
            return Err(vec![TemplateFault { span: 0..0, why, help: None }]);
        };
        let faults = own::faults(template, text);
        if faults.is_empty() {
            self.own.insert((template.name, language), text.to_owned());
            self.sheets = Sheets::default();
            return Ok(());
        }
        Err(faults)
    }

    /// The prompt of a request. Equal requests give equal prompts; every text of the request stands in it whole, exactly once, inside a
    /// fence.
    ///
    /// # Errors
    /// There is no template of its name; a field is missing, unknown, given twice, or numbered where one text belongs; the template does
    /// not show every field once.
    pub fn render(&self, request: &JudgeRequest) -> Result<Prompt, PromptError> {
        self.draft(request)?.prompt(request.retry)
    }

    /// What the prompts of all tries of a request have in common.
    ///
    /// # Errors
    /// There is no template of its name, or its fields are not those that it shows.
    pub(crate) fn draft<'a>(&self, request: &'a JudgeRequest) -> Result<Draft<'a>, PromptError> {
        let template =
            catalog::template(&request.name).ok_or_else(|| PromptError::NoTemplate { name: request.name.clone() })?;
        check_fields(template, request)?;
        let language = request.language;
        let sheet = self.sheets.get(template, language, || self.unread(template, language));
        let sheet = sheet.map_err(|why| at_fault(request, why))?;
        Ok(Draft { sheet, shared: template.shared, bodies: Bodies::of(request) })
    }

    /// 64 hex digits over all templates and schemas: changes when any prompt may.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for template in TEMPLATES {
            for language in LANGUAGES {
                // A template without a prompt has no hash; what is wrong with it stands for it.
                let hash = self.unread(template, language).map_or_else(|why| why, |sheet| sheet.hash);
                hasher.update(hash.as_bytes());
            }
        }
        hasher.finalize().to_hex().to_string()
    }

    fn unread(&self, template: &Template, language: Language) -> Result<Unread<'_>, String> {
        let text = match self.own.get(&(template.name, language)) {
            Some(text) => (text.as_str(), Origin::Own),
            None => (template.text(language), Origin::BuiltIn),
        };
        Unread::of(template, language, text, self.reasons)
    }
}

/// A prompt without the code in its fences, which each try of a request draws anew.
pub(crate) struct Draft<'a> {
    sheet: Arc<Sheet>,
    shared: &'static [&'static str],
    bodies: Bodies<'a>,
}

impl Draft<'_> {
    /// The prompt of one try, the one that [`Prompts::render`] makes of the request with this `retry`.
    ///
    /// # Errors
    /// The template can't be filled in, or does not show every field once.
    pub(crate) fn prompt(&self, retry: u32) -> Result<Prompt, PromptError> {
        let Self { sheet, shared, bodies } = self;
        let nonce = bodies.nonce(&sheet.hash, retry, shared);
        let user = sheet.user(bodies, &nonce).map_err(|why| at_fault(bodies.request(), why))?;
        Ok(Prompt {
            system: Arc::clone(&sheet.system),
            user,
            schema_name: Arc::clone(&sheet.schema_name),
            schema: Arc::clone(&sheet.schema),
            schema_text: Arc::clone(&sheet.schema_text),
            hash: Arc::clone(&sheet.hash),
        })
    }
}

fn at_fault(request: &JudgeRequest, why: String) -> PromptError {
    PromptError::Template { name: request.name.clone(), language: request.language, why }
}

/// The built-in template of a request, as its file has it; `None` where no request has this name.
pub fn built_in(name: &str, language: Language) -> Option<&'static str> {
    catalog::template(name).map(|template| template.text(language))
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

/// What a template must have.
const PARTS: &str = "it needs a line `=== system ===` on top, and one `=== user ===` below with the data under it";

/// The line above the instructions.
const SYSTEM: &str = "=== system ===\n";

/// The line above the data, with the end of the line before.
const USER: &str = "\n=== user ===\n";

/// The two messages of a template, not yet filled in.
fn parts(text: &str) -> Option<(&str, &str)> {
    text.trim_end().strip_prefix(SYSTEM).and_then(|text| text.split_once(USER))
}

/// 64 hex digits over these parts, in which no part can look like two.
fn hash(parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}
