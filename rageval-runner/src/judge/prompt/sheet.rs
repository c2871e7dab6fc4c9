//! A prompt before its data: made once for each request name and language, since all requests of one share it.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    sync::{Arc, LazyLock, PoisonError, RwLock},
};

use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde_json::Value;

use super::{
    FORM, PARTS, catalog,
    catalog::Template,
    fence::Bodies,
    hash,
    layout::{Layout, Layouts},
    parts, reasons,
};
use crate::model::Language;

/// What is wrong with a template that leaves data out, or shows it twice.
pub(super) const NOT_ONCE: &str = "it does not show every field exactly once";

/// The name of the one template of an environment.
const USER: &str = "user";

/// What all requests of one name and language share.
#[derive(Debug)]
pub(super) struct Sheet {
    pub(super) system: Arc<str>,
    pub(super) schema_name: Arc<str>,
    pub(super) schema: Arc<Value>,
    pub(super) schema_text: Arc<str>,
    pub(super) hash: Arc<str>,
    /// Holds the template of the user part, read.
    user: Environment<'static>,
    /// What the user part comes to, where that can be known before the data.
    layouts: Option<Layouts>,
}

/// Who wrote a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// It is one of ours: it shows each field as it is, and looks at nothing but which are there.
    BuiltIn,
    /// It is the user's, and may look at what the fields hold.
    Own,
}

/// A sheet whose user part and schema are still text.
pub(super) struct Unread<'a> {
    origin: Origin,
    system: String,
    user: &'a str,
    schema: String,
    pub(super) hash: String,
}

impl<'a> Unread<'a> {
    /// The sheet of a template whose file has this text.
    pub(super) fn of(
        template: &Template,
        language: Language,
        (text, origin): (&'a str, Origin),
        reasons: bool,
    ) -> Result<Self, String> {
        let reasons = reasons && reasons::fit(template.schema);
        let why = |error: minijinja::Error| error.to_string();
        let rules = fill(catalog::rules(template.rules, language), [("reasons", reasons.into())]).map_err(why)?;
        let schema = if reasons { reasons::in_schema(template.schema) } else { template.schema.to_owned() };
        let hash = hash(&[FORM, template.name, language.as_str(), text, &rules, &schema]);
        let (system, user) = parts(text).ok_or(PARTS)?;
        let system = if reasons { Cow::Owned(reasons::in_examples(system)) } else { Cow::Borrowed(system) };
        let system = fill(&system, [("rules", rules.into())]).map_err(why)?;
        Ok(Self { origin, system, user, schema, hash })
    }

    fn read(self, template: &Template) -> Result<Sheet, String> {
        let mut user = environment();
        user.add_template_owned(USER, self.user.to_owned()).map_err(|error| error.to_string())?;
        Ok(Sheet {
            system: self.system.into(),
            schema_name: template.name.replace('.', "-").into(),
            schema: Arc::new(serde_json::from_str(&self.schema).map_err(|error| format!("its schema: {error}"))?),
            schema_text: self.schema.trim_end().into(),
            hash: self.hash.into(),
            user,
            layouts: match self.origin {
                Origin::BuiltIn => Some(Layouts::default()),
                Origin::Own => None,
            },
        })
    }
}

impl Sheet {
    /// The user part of a request with this code in its fences.
    ///
    /// # Errors
    /// The template can't be filled in, or does not show every field once.
    pub(super) fn user(&self, bodies: &Bodies<'_>, nonce: &str) -> Result<String, String> {
        match &self.layouts {
            Some(layouts) => {
                let fields: Vec<&str> = bodies.request().fields.iter().map(|field| field.name.as_str()).collect();
                let layout = layouts.get(&fields, || Layout::of(&fields, |blocks| self.filled(blocks)))?;
                Ok(layout.user(bodies, nonce))
            }
            None => self.user_filled(bodies, nonce),
        }
    }

    /// The same by the template itself, whatever it looks at.
    pub(super) fn user_filled(&self, bodies: &Bodies<'_>, nonce: &str) -> Result<String, String> {
        let blocks: BTreeMap<&str, String> = (bodies.request().fields.iter().enumerate())
            .map(|(place, field)| {
                let mut block = String::new();
                bodies.write_block(place, nonce, &mut block);
                (field.name.as_str(), block)
            })
            .collect();
        let user = self.filled(&blocks)?;
        // A template that leaves a block out, or shows it twice or among the instructions, would be judged by what is left.
        let is_shown_once = |block: &String| user.matches(block.as_str()).count() == 1;
        if !blocks.values().all(is_shown_once) || user.matches(nonce).count() != 2 * blocks.len() {
            return Err(NOT_ONCE.to_owned());
        }
        Ok(user)
    }

    /// The user part with something in the place of each field.
    fn filled(&self, blocks: &BTreeMap<&str, String>) -> Result<String, String> {
        let user =
            self.user.get_template(USER).and_then(|user| user.render(minijinja::Value::from_pairs(texts(blocks))));
        user.map_err(|error| error.to_string())
    }
}

/// The sheets that were needed so far. They follow from the templates, so that two sets of prompts are equal whatever stands here.
#[derive(Default)]
pub(super) struct Sheets(RwLock<BTreeMap<(&'static str, Language), Arc<Sheet>>>);

impl Sheets {
    /// The sheet of a template, made where it is needed for the first time.
    pub(super) fn get<'a>(
        &self,
        template: &Template,
        language: Language,
        unread: impl FnOnce() -> Result<Unread<'a>, String>,
    ) -> Result<Arc<Sheet>, String> {
        let key = (template.name, language);
        if let Some(sheet) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(Arc::clone(sheet));
        }
        let sheet = Arc::new(unread()?.read(template)?);
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(key, Arc::clone(&sheet));
        Ok(sheet)
    }
}

impl Clone for Sheets {
    /// None: a clone makes its own.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for Sheets {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for Sheets {}

/// Blocks as values of a template.
pub(super) fn texts<'a>(blocks: &'a BTreeMap<&str, String>) -> impl Iterator<Item = (&'a str, minijinja::Value)> {
    blocks.iter().map(|(name, text)| (*name, text.as_str().into()))
}

/// A template with its values; values are never read as templates.
pub(super) fn fill<'a>(
    template: &str,
    values: impl IntoIterator<Item = (&'a str, minijinja::Value)>,
) -> Result<String, minijinja::Error> {
    static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(environment);
    ENVIRONMENT.render_str(template, minijinja::Value::from_pairs(values))
}

/// Steps that the filling in of one template may take; the built-in ones need a few dozen.
const FUEL: u64 = 20_000;

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    // An own prompt with a loop must not keep the reading of the policy from ending.
    environment.set_fuel(Some(FUEL));
    environment
}
