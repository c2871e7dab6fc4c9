//! What judged metrics show a judge: sentences and readable contexts, as they are numbered.

use std::collections::BTreeMap;

use crate::{
    metric::{
        Input, Params,
        answering::{Answering, blank, right_refusal},
        numbered::Part,
        quote::grounds,
    },
    model::{DocId, Evidence, Expectation, GoldenCase, JudgeRequest, Language, Outcome, RetrievedContext, Sample},
    text,
};

/// What the parameter `fields` may name: the parts of a case and its sample that a judge is shown, in the order in which it is.
pub const FIELDS: [&str; 4] = ["query", "reference", "contexts", "answer"];

/// The parts that `fields` names, in the order of [`FIELDS`]; `query` and `answer` where it is left out.
pub fn chosen_fields(params: &Params) -> Vec<&'static str> {
    let chosen = params.texts("fields");
    let chosen = if chosen.is_empty() { vec!["query", "answer"] } else { chosen };
    FIELDS.into_iter().filter(|field| chosen.contains(field)).collect()
}

/// What a metric that shows `fields` says without asking: of a case without such a field, a blank answer, a right refusal. `None`: the
/// judge decides, of a wrong refusal too.
pub fn settled(input: &Input<'_>) -> Option<Outcome> {
    if let Some(why) = lacks_field(input.case, input.params) {
        return Some(Outcome::not_applicable(why));
    }
    match (Answering::of(input.sample), input.case.expectation) {
        (Answering::Blank, _) => Some(blank(input)),
        (Answering::Refused, Expectation::Refuse) => Some(right_refusal()),
        (Answering::Refused, Expectation::Answer) | (Answering::Answered, _) => None,
    }
}

/// Why a case can't show what `fields` names, as a phrase; `None` when it can.
pub fn lacks_field(case: &GoldenCase, params: &Params) -> Option<String> {
    (chosen_fields(params).contains(&"reference") && first_reference(case).is_none())
        .then(|| "the case has no reference answer".to_owned())
}

/// Adds the parts that `fields` names to a request.
pub fn with_chosen_fields(mut request: JudgeRequest, input: &Input<'_>) -> JudgeRequest {
    for field in chosen_fields(input.params) {
        request = match field {
            "query" => request.text(field, &input.case.query),
            "reference" => request.text(field, first_reference(input.case).unwrap_or_default()),
            "contexts" => request.numbered(field, Readable::of(input.sample).texts()),
            _ => request.text(field, &input.sample.answer.response),
        };
    }
    request
}

/// The first reference that says something.
fn first_reference(case: &GoldenCase) -> Option<&str> {
    case.references.iter().map(String::as_str).find(|reference| !reference.trim().is_empty())
}

/// The sentences of a text, trimmed, blank ones dropped; empty only for a blank text.
pub fn sentences(text: &str, language: Language) -> Vec<String> {
    text::sentences(text, language)
        .into_iter()
        .map(str::trim)
        .filter(|sentence| !sentence.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The sentences of a text that could state something: empty for one of blanks, punctuation and symbols alone, such as `…`.
///
/// One sentence with a letter or digit keeps all of them, so that their numbers follow the text.
pub fn stating_sentences(text: &str, language: Language) -> Vec<String> {
    if text.chars().any(char::is_alphanumeric) { sentences(text, language) } else { Vec::new() }
}

/// The contexts that hold text, in rank order: their place here, from 1, is the number that the judge knows them by.
#[derive(Debug, Clone, PartialEq)]
pub struct Readable<'a> {
    contexts: Vec<(Option<&'a DocId>, &'a str)>,
}

impl<'a> Readable<'a> {
    /// The readable contexts of a sample.
    pub fn of(sample: &'a Sample) -> Self {
        Self {
            contexts: sample.readable_contexts().map(|(_, context)| (context.id.as_ref(), &*context.text)).collect(),
        }
    }

    /// Their texts in order.
    pub fn texts(&self) -> impl Iterator<Item = &'a str> {
        self.contexts.iter().map(|(_, text)| *text)
    }

    /// The same contexts in another order: the place `n` is that of the context `order[n]`; a number beyond them is left out.
    #[must_use]
    pub fn in_order(&self, order: &[usize]) -> Self {
        Self { contexts: order.iter().filter_map(|place| self.contexts.get(*place).copied()).collect() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.contexts.len()
    }

    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.contexts.is_empty()
    }

    /// What a part of a reply gives as its evidence, and as its reason: see [`grounds`].
    ///
    /// # Errors
    /// A number that no context has, or a wrong type.
    pub fn grounds(&self, part: &Part<'_>) -> Result<(Option<Evidence>, Option<String>), String> {
        grounds(part, &self.contexts)
    }
}

/// What a report calls each retrieved context: by document and not by rank, so that a context keeps its name when others move past it.
pub fn names_of(contexts: &[RetrievedContext]) -> Vec<String> {
    let mut times: BTreeMap<&DocId, usize> = BTreeMap::new();
    let mut names = Vec::new();
    for (context, rank) in contexts.iter().zip(1_usize..) {
        names.push(match &context.id {
            None => format!("context at rank {rank}"),
            Some(id) => {
                let time = times.entry(id).and_modify(|time| *time += 1).or_insert(1);
                if *time == 1 { format!("context {id}") } else { format!("context {id} ({time})") }
            }
        });
    }
    names
}

/// How a fault names a case: its id and where it stands.
pub fn named(input: &Input<'_>) -> String {
    format!("case `{}` ({})", input.case.id, input.case.place)
}
