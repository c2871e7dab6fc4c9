//! The list of prompts: for each request its fields, its template in every language, and the schema of its reply.

use crate::model::Language;

/// Every language that prompts are written in.
pub const LANGUAGES: [Language; 3] = [Language::En, Language::Pt, Language::Zh];

/// What a field of a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// One text.
    Text,
    /// Texts numbered from 1, at least one.
    Numbered,
    /// Texts numbered from 1, perhaps none: the template says what an empty block means.
    NumberedOrNone,
}

/// Whether a request must have a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    /// It is an error to leave it out.
    Always,
    /// The template shows it where there is one.
    WhereGiven,
}

/// A field that a prompt shows.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) presence: Presence,
}

const fn text(name: &'static str) -> Field {
    Field { name, kind: Kind::Text, presence: Presence::Always }
}

const fn numbered(name: &'static str) -> Field {
    Field { name, kind: Kind::Numbered, presence: Presence::Always }
}

const fn where_given(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, presence: Presence::WhereGiven }
}

/// The prompt of one request name.
#[derive(Debug)]
pub(super) struct Template {
    /// `metric.step`.
    pub(super) name: &'static str,
    /// What a request of this name holds.
    pub(super) fields: &'static [Field],
    /// JSON schema of the reply.
    pub(super) schema: &'static str,
    /// What it says of data and of the reply.
    pub(super) rules: Rules,
    /// The fields that stay the same while the one after them changes from request to request: the code in the fences is drawn from
    /// these alone, so that what a server has read of one request serves the next. Empty where it is drawn from all fields.
    pub(super) shared: &'static [&'static str],
    /// In the order of [`LANGUAGES`].
    texts: [&'static str; 3],
}

/// Which of the two texts stands for `rules` in a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rules {
    /// All that can be said.
    Full,
    /// The same in few words, for small models.
    Brief,
}

impl Template {
    /// For requests that are alike but for the field after these.
    const fn sharing(self, shared: &'static [&'static str]) -> Self {
        Self { shared, ..self }
    }

    /// For small models.
    const fn brief(self) -> Self {
        Self { rules: Rules::Brief, ..self }
    }

    /// The built-in file in a language.
    pub(super) fn text(&self, language: Language) -> &'static str {
        in_language(&self.texts, language)
    }
}

/// The rules that hold for every request: what is data, what does not count, what a reply is. A template of its own, with the one
/// value `reasons`.
pub(super) fn rules(rules: Rules, language: Language) -> &'static str {
    let full = [include_str!("rules.en.md"), include_str!("rules.pt.md"), include_str!("rules.zh.md")];
    let brief =
        [include_str!("rules.brief.en.md"), include_str!("rules.brief.pt.md"), include_str!("rules.brief.zh.md")];
    let texts = match rules {
        Rules::Full => full,
        Rules::Brief => brief,
    };
    in_language(&texts, language).trim_end()
}

fn in_language(texts: &[&'static str; 3], language: Language) -> &'static str {
    let [en, pt, zh] = texts;
    match language {
        Language::En => en,
        Language::Pt => pt,
        Language::Zh => zh,
    }
}

/// The template whose files bear the request's name.
macro_rules! template {
    ($name:literal, $fields:expr) => {
        Template {
            name: $name,
            fields: $fields,
            schema: include_str!(concat!($name, ".json")),
            rules: Rules::Full,
            shared: &[],
            texts: [
                include_str!(concat!($name, ".en.md")),
                include_str!(concat!($name, ".pt.md")),
                include_str!(concat!($name, ".zh.md")),
            ],
        }
    };
}

/// The template of a request.
pub(super) fn template(name: &str) -> Option<&'static Template> {
    TEMPLATES.iter().find(|template| template.name == name)
}

/// Every prompt, sorted by name. Adding one is its files and an entry here.
pub(super) const TEMPLATES: &[Template] = &[
    template!("answer_correctness.statements", &[text("query"), numbered("answer"), numbered("reference")]),
    template!("answer_relevancy.questions", &[text("answer"), text("count")]),
    template!("answer_relevancy.verdicts", &[text("query"), numbered("sentences")]),
    template!("bias.verdicts", &[text("query"), numbered("sentences")]),
    template!("context_entity_recall.entities", &[numbered("sentences"), numbered("contexts")]),
    template!(
        "context_precision.verdicts",
        &[text("query"), where_given("reference", Kind::Text), numbered("contexts")]
    ),
    template!("context_recall.attributions", &[text("query"), numbered("sentences"), numbered("contexts")]),
    template!("context_relevancy.verdicts", &[text("query"), numbered("contexts")]),
    template!("faithfulness.claims", &[text("query"), numbered("sentences")]),
    template!("faithfulness.confirm", &[text("query"), numbered("claims"), numbered("contexts")]),
    template!("faithfulness.labels", &[text("query"), numbered("sentences"), numbered("contexts")]),
    template!("faithfulness.sentence", &[numbered("contexts"), text("sentence")]).sharing(&["contexts"]).brief(),
    template!("faithfulness.verdicts", &[text("query"), numbered("sentences"), numbered("contexts")]),
    template!(
        "g_eval.score",
        &[
            where_given("criteria", Kind::Text),
            numbered("steps"),
            where_given("query", Kind::Text),
            where_given("reference", Kind::Text),
            where_given("contexts", Kind::NumberedOrNone),
            where_given("answer", Kind::Text),
            text("scale")
        ]
    ),
    template!("g_eval.steps", &[text("criteria"), numbered("fields")]),
    template!(
        "noise_sensitivity.attributions",
        &[text("query"), numbered("answer"), numbered("reference"), numbered("contexts")]
    ),
    template!(
        "pairwise.preference",
        &[where_given("criteria", Kind::Text), text("query"), text("first"), text("second")]
    ),
    template!("refusal_correctness.verdict", &[text("query"), text("answer")]),
    template!(
        "rubric.level",
        &[
            text("criterion"),
            where_given("query", Kind::Text),
            where_given("reference", Kind::Text),
            where_given("contexts", Kind::NumberedOrNone),
            where_given("answer", Kind::Text),
            numbered("levels")
        ]
    ),
    template!(
        "self_critique.grades",
        &[
            text("query"),
            text("answer"),
            Field { name: "contexts", kind: Kind::NumberedOrNone, presence: Presence::Always }
        ]
    ),
    template!("task_completion.tasks", &[numbered("query"), text("answer")]),
    template!("toxicity.verdicts", &[text("query"), numbered("sentences")]),
];
