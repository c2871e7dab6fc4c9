//! What can be said of the cases only when they are seen together.

use std::collections::{BTreeMap, BTreeSet};

use rageval_runner::{
    gate::{
        rule::{SliceField, Slices},
        slice::values_of,
    },
    model::{CasePart, GoldenCase, GoldenSet},
    trust::near_duplicates::{near_duplicates, plain},
};

use super::{
    super::stats::question,
    code::{Code, Finding},
};

/// How far the words of two questions agree that are near-duplicates. `cases stats` shows more of them.
const NEAR: f64 = 0.9;

/// Most cases that one finding names.
const NAMED: usize = 5;

/// Everything that is found over the whole set.
pub(super) fn findings(set: &GoldenSet, slices: &Slices) -> Vec<Finding> {
    let mut found = same_questions(set);
    found.extend(ids_differ_in_case(set));
    found.extend(spellings(set));
    found.extend(missing_type(set, slices));
    found.extend(thin_slices(set, slices));
    found
}

fn at(case: &GoldenCase, code: Code, text: String) -> Finding {
    Finding { code, place: case.place.clone(), case: case.id.to_string(), text }
}

/// Questions that say the same: with other expectations, or nearly so.
fn same_questions(set: &GoldenSet) -> Vec<Finding> {
    let questions: Vec<_> = set.cases.iter().map(question).collect();
    let expected = |case: &GoldenCase| -> Vec<Option<String>> {
        CasePart::ALL.iter().filter(|part| **part != CasePart::Query).map(|part| case.part_digest(*part)).collect()
    };
    let mut found = Vec::new();
    for group in near_duplicates(&questions, NEAR) {
        let first = &set.cases[group.members[0]];
        for &member in &group.members[1..] {
            let case = &set.cases[member];
            let (id, place) = (&first.id, &first.place);
            let is_same = plain(question(first)) == plain(question(case));
            found.push(if is_same && expected(first) != expected(case) {
                at(
                    case,
                    Code::SameQuestion,
                    format!("asks what {id:?} asks and expects something else, {place}", id = id.as_str()),
                )
            } else {
                let agree = if is_same {
                    "in all of their words".to_owned()
                } else {
                    format!("in {NEAR} of their words or more")
                };
                at(
                    case,
                    Code::NearDuplicate,
                    format!("asks nearly what {:?} asks: they agree {agree}, {place}", id.as_str()),
                )
            });
        }
    }
    found
}

fn ids_differ_in_case(set: &GoldenSet) -> Vec<Finding> {
    let mut first: BTreeMap<String, &GoldenCase> = BTreeMap::new();
    let mut found = Vec::new();
    for case in &set.cases {
        match first.get(&case.id.as_str().to_lowercase()) {
            None => {
                first.insert(case.id.as_str().to_lowercase(), case);
            }
            Some(other) => {
                let text = format!("has the id of {:?} but for letter case, {}", other.id.as_str(), other.place);
                found.push(at(case, Code::IdsDifferInCase, text));
            }
        }
    }
    found
}

/// Words that differ in letter case only part a slice, or miss a document.
fn spellings(set: &GoldenSet) -> Vec<Finding> {
    let mut found = Vec::new();
    let words = |case: &GoldenCase| -> Vec<(&'static str, String)> {
        let documents = case.relevant.iter().flatten().map(|judgement| ("document id", judgement.id.to_string()));
        let tags = case.tags.iter().map(|tag| ("tag", tag.clone()));
        let stated = [("type", &case.kind), ("difficulty", &case.difficulty), ("document", &case.document)];
        let stated = stated.into_iter().filter_map(|(what, word)| Some((what, word.clone()?)));
        documents.chain(tags).chain(stated).collect()
    };
    let mut first: BTreeMap<(&'static str, String), (String, &GoldenCase)> = BTreeMap::new();
    let mut told: BTreeSet<(&'static str, String)> = BTreeSet::new();
    for case in &set.cases {
        for (what, word) in words(case) {
            let (spelling, other) =
                first.entry((what, word.to_lowercase())).or_insert_with(|| (word.clone(), case)).clone();
            if spelling != word && told.insert((what, word.clone())) {
                let text = format!("the {what} {word:?} is {spelling:?} but for letter case, {}", other.place);
                found.push(at(case, Code::Spelling, text));
            }
        }
    }
    found
}

fn missing_type(set: &GoldenSet, slices: &Slices) -> Option<Finding> {
    let without: Vec<&GoldenCase> = set.cases.iter().filter(|case| case.kind.is_none()).collect();
    let first = without.first()?;
    let is_usual = without.len() * 2 < set.cases.len() || slices.by.iter().any(|(_, field)| *field == SliceField::Type);
    is_usual.then(|| at(first, Code::MissingType, format!("no type, unlike others of the set: {}", named(&without))))
}

fn named(cases: &[&GoldenCase]) -> String {
    let ids: Vec<&str> = cases.iter().take(NAMED).map(|case| case.id.as_str()).collect();
    let more = cases.len().saturating_sub(NAMED);
    if more > 0 { format!("{} and {more} more", ids.join(", ")) } else { ids.join(", ") }
}

fn thin_slices(set: &GoldenSet, slices: &Slices) -> Vec<Finding> {
    let mut found = Vec::new();
    for (_, field) in &slices.by {
        let mut cases: BTreeMap<String, Vec<&GoldenCase>> = BTreeMap::new();
        for case in &set.cases {
            for value in values_of(case, field) {
                cases.entry(value.to_string()).or_default().push(case);
            }
        }
        for (value, cases) in cases.iter().filter(|(_, cases)| cases.len() < slices.min_cases) {
            let text = format!(
                "the slice {field}={value} has {} of the {} cases that its gates need: {}",
                cases.len(),
                slices.min_cases,
                named(cases)
            );
            found.push(at(cases[0], Code::ThinSlice, text));
        }
    }
    found
}
