//! A case on its way in: fields of other formats, held to the rules of ours. What breaks one is named and left out.

use std::collections::{BTreeMap, BTreeSet};

use rageval_runner::{
    load::plain::{Located, PlainCase, Value},
    model::{DocId, Expectation, Judgement, Place, RetrievedContext, ids::is_unfit_for_names},
};

use super::{
    ids::Ids,
    loss::{Told, Whose},
};

/// The cases read so far.
#[derive(Default)]
pub(crate) struct Drafts {
    ids: Ids,
    pub(crate) cases: Vec<PlainCase>,
}

/// One case that has its id and question.
pub(crate) struct Draft<'t> {
    pub(crate) case: PlainCase,
    told: &'t mut Told,
    contexts: Vec<RetrievedContext>,
    response: Option<String>,
}

impl Drafts {
    /// Starts a case. A row without a question is none, and is named; `field` is where the question should be.
    pub(crate) fn start<'t>(
        &mut self,
        row: &Place,
        id: Option<&str>,
        (field, query): (&str, Option<&str>),
        told: &'t mut Told,
    ) -> Option<Draft<'t>> {
        let Some(query) = query.filter(|query| !query.trim().is_empty()) else {
            told.lost_at(row, field, "a case without a question is no case");
            return None;
        };
        let id = self.ids.of(id, query, row, told);
        let case = PlainCase::new(id, query.to_owned(), row.clone());
        Some(Draft { case, told, contexts: Vec::new(), response: None })
    }

    /// All cases, once what was made of them is told.
    pub(crate) fn end(self, told: &mut Told) -> Vec<PlainCase> {
        self.ids.tell(told);
        self.cases
    }
}

impl Draft<'_> {
    /// Names a field that has no place in ours.
    pub(crate) fn lost(&mut self, field: &str, why: impl Into<String>) {
        self.told.lost(Whose { id: self.case.id.as_str(), place: &self.case.place }, field, why);
    }

    /// The same for a part of the case that stands elsewhere than the case.
    pub(crate) fn lost_at(&mut self, field: &str, why: impl Into<String>, place: &Place) {
        self.told.lost(Whose { id: self.case.id.as_str(), place }, field, why);
    }

    /// Names a field that says something else in ours.
    pub(crate) fn changed(&mut self, field: &str, why: impl Into<String>) {
        self.told.changed(Whose { id: self.case.id.as_str(), place: &self.case.place }, field, why);
    }

    /// The same for a part of the case that stands elsewhere than the case.
    pub(crate) fn changed_at(&mut self, field: &str, why: impl Into<String>, place: &Place) {
        self.told.changed(Whose { id: self.case.id.as_str(), place }, field, why);
    }

    /// A right answer.
    pub(crate) fn reference(&mut self, field: &str, text: String) {
        if text.trim().is_empty() {
            self.lost(field, "blank");
        } else if !self.case.references.contains(&text) {
            self.case.references.push(text);
        }
    }

    /// Texts that hold the right answer.
    pub(crate) fn reference_contexts(&mut self, field: &str, texts: Vec<Option<String>>) {
        for text in texts {
            match text.filter(|text| !text.trim().is_empty()) {
                Some(text) => self.case.reference_contexts.push(text),
                None => self.lost(field, "a blank context"),
            }
        }
    }

    /// Documents that should be found.
    pub(crate) fn relevant(&mut self, field: &str, judgements: Vec<(Option<String>, f64)>) {
        let mut kept: Vec<Judgement> = Vec::new();
        let mut seen = BTreeSet::new();
        for (id, grade) in judgements {
            let Some(id) = id.filter(|id| !id.trim().is_empty()) else {
                self.lost(field, "a blank id");
                continue;
            };
            if seen.insert(id.clone()) {
                kept.push(Judgement { id: DocId(id), grade });
            } else {
                self.lost(field, format!("{id:?} stands twice"));
            }
        }
        self.case.relevant = Some(kept);
    }

    /// `type`, `difficulty` or `document`.
    pub(crate) fn word(&mut self, field: &str, text: String, of: fn(&mut PlainCase) -> &mut Option<String>) {
        if text.trim().is_empty() || text.chars().any(is_unfit_for_names) {
            self.lost(field, format!("{text:?} is blank, or holds control characters"));
        } else {
            *of(&mut self.case) = Some(text);
        }
    }

    /// The language tag.
    pub(crate) fn language(&mut self, field: &str, tag: String) {
        let is_tag = !tag.is_empty() && tag.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        if is_tag {
            self.case.language = Some(tag);
        } else {
            self.lost(field, format!("{tag:?} is no language tag, such as pt-BR"));
        }
    }

    /// Words for slices.
    pub(crate) fn tags(&mut self, field: &str, tags: Vec<String>) {
        for tag in tags {
            if tag.trim().is_empty() || tag.chars().any(is_unfit_for_names) {
                self.lost(field, format!("{tag:?} is blank, or holds control characters"));
            } else if !self.case.tags.contains(&tag) {
                self.case.tags.push(tag);
            }
        }
    }

    /// A value without a key of its own. Lists and maps become their JSON text.
    pub(crate) fn metadata(&mut self, field: &str, key: &str, value: &Located) {
        let text = match &value.value {
            Value::Null => return,
            Value::Text(_) | Value::Number(_) | Value::Bool(_) => value.word().unwrap_or_default(),
            Value::List(_) | Value::Map(_) => {
                self.changed(field, "kept in `metadata` as JSON text");
                value.to_json().to_string()
            }
        };
        if self.case.metadata.contains_key(key) {
            self.lost(field, format!("`metadata` has the key {key:?} already"));
        } else {
            self.case.metadata.insert(key.to_owned(), text);
        }
    }

    /// A value of another program's metadata: a key of ours where it is called as one, else metadata.
    pub(crate) fn aside(&mut self, field: &str, key: &str, value: &Located) {
        let named = format!("{field}.{key}");
        match (key, value.word(), &value.value) {
            ("type", Some(word), _) => self.word(&named, word, |case| &mut case.kind),
            ("difficulty", Some(word), _) => self.word(&named, word, |case| &mut case.difficulty),
            ("document", Some(word), _) => self.word(&named, word, |case| &mut case.document),
            ("language", Some(word), _) => self.language(&named, word),
            ("should_refuse", _, Value::Bool(yes)) => {
                self.case.expectation = if *yes { Expectation::Refuse } else { Expectation::Answer };
            }
            ("tags", _, Value::List(items)) if items.iter().all(|item| item.word().is_some()) => {
                self.tags(&named, items.iter().filter_map(Located::word).collect());
            }
            _ => self.metadata(&named, key, value),
        }
    }

    /// A recorded answer.
    pub(crate) fn response(&mut self, text: String) {
        self.response = Some(text);
    }

    /// What was retrieved, in rank order.
    pub(crate) fn retrieved(&mut self, contexts: Vec<RetrievedContext>) {
        self.contexts = contexts;
    }

    /// Ends the case.
    pub(crate) fn end(mut self, drafts: &mut Drafts) {
        if self.response.is_some() || !self.contexts.is_empty() {
            // Contexts alone are the record of a retrieval, which ours says with an empty answer.
            self.case.recorded = Some((self.response.unwrap_or_default(), self.contexts));
        }
        drafts.cases.push(self.case);
    }
}

/// A field of a row under one of its names; what is there under further ones stays, and is named as a field that is not known.
pub(crate) struct Row<'r> {
    pub(crate) place: &'r Place,
    left: BTreeMap<&'r str, &'r Located>,
    /// The names in the order of the row.
    order: Vec<&'r str>,
}

impl<'r> Row<'r> {
    /// The fields of a map that say something.
    pub(crate) fn new(row: &'r Located) -> Self {
        let entries: &[(String, Located)] = if let Value::Map(entries) = &row.value { entries } else { &[] };
        let stated = || entries.iter().filter(|(_, value)| value.value != Value::Null);
        Self {
            place: &row.place,
            left: stated().map(|(name, value)| (name.as_str(), value)).collect(),
            order: stated().map(|(name, _)| name.as_str()).collect(),
        }
    }

    /// Takes the field of the first of these names.
    pub(crate) fn take(&mut self, names: &[&'static str]) -> Option<(&'static str, &'r Located)> {
        names.iter().find_map(|name| Some((*name, self.left.remove(*name)?)))
    }

    /// Whether a field is there and was not taken.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.left.contains_key(name)
    }

    /// What nobody took, in the order of the row.
    pub(crate) fn rest(self) -> Vec<(&'r str, &'r Located)> {
        self.order.into_iter().filter_map(|name| Some((name, *self.left.get(name)?))).collect()
    }
}
