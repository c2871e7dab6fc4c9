//! Cases as tests of promptfoo.

use rageval_runner::{
    load::plain::PlainCase,
    model::{Expectation, RetrievedContext},
};
use serde_json::{Value as Json, json};

use super::{
    super::{
        loss::{Told, Whose},
        ours::Tree,
        yaml_text,
    },
    bar,
};

/// A configuration with `prompts` that show the question alone, and no `providers`: those are the user's.
pub(crate) fn write(cases: &[PlainCase], told: &mut Told) -> String {
    told.notice("prompts shows the question alone, and providers are missing, without which promptfoo refuses the file: both are the system's");
    let tests = cases.iter().map(|case| test(case, told)).collect();
    yaml_text::document(&Tree::Map(vec![
        ("prompts".to_owned(), Tree::List(vec![Tree::Value("{{query}}".into())])),
        ("tests".to_owned(), Tree::List(tests)),
    ]))
}

fn test(case: &PlainCase, told: &mut Told) -> Tree {
    let whose = Whose { id: case.id.as_str(), place: &case.place };
    let text = |text: &String| Tree::Value(text.clone().into());
    let mut entries = vec![("description".to_owned(), Tree::Value(case.id.as_str().into()))];
    let mut vars = vec![("query".to_owned(), text(&case.query))];
    let list = |texts: &[String]| Tree::List(texts.iter().map(text).collect());
    match &case.references[..] {
        [] => {}
        [one] => vars.push(("reference".to_owned(), text(one))),
        several => vars.push(("reference".to_owned(), list(several))),
    }
    match &case.reference_contexts[..] {
        [] => {}
        [one] => vars.push(("context".to_owned(), text(one))),
        several => vars.push(("context".to_owned(), list(several))),
    }
    for text in [&case.query].into_iter().chain(&case.references).chain(&case.reference_contexts) {
        if bar::is_template(text) {
            told.changed(whose, "vars", format!("{text:?} holds what promptfoo takes for a template"));
        }
    }
    // A list would make a test of each item.
    let has_list = case.references.len() > 1 || case.reference_contexts.len() > 1;
    entries.push(("vars".to_owned(), Tree::Map(vars)));
    if has_list {
        entries.push(("options".to_owned(), json!({"disableVarExpansion": true}).into()));
    }
    let asserted = assertions(case, whose, told);
    if !asserted.is_empty() {
        entries.push(("assert".to_owned(), Tree::List(asserted.iter().map(in_order).collect())));
    }
    let metadata = metadata(case, whose, told);
    if !metadata.is_empty() {
        entries.push(("metadata".to_owned(), Tree::Map(metadata)));
    }
    if let Some((response, contexts)) = &case.recorded {
        entries.push(("providerOutput".to_owned(), text(response)));
        tell_contexts(contexts, whose, told);
    }
    for (stated, field) in [
        (case.relevant.is_some(), "relevant_doc_ids"),
        (case.repeats.is_some(), "repeats"),
        (case.known_failure.is_some(), "known_failure"),
    ] {
        if stated {
            told.lost(whose, field, "promptfoo has no place for it");
        }
    }
    Tree::Map(entries)
}

fn tell_contexts(contexts: &[RetrievedContext], whose: Whose<'_>, told: &mut Told) {
    if !contexts.is_empty() {
        told.lost(whose, "retrieved_contexts", "promptfoo has no place for what an answer was made from");
    }
}

fn assertions(case: &PlainCase, whose: Whose<'_>, told: &mut Told) -> Vec<Json> {
    let mut asserted = Vec::new();
    for (key, stated) in &case.thresholds {
        match bar::assertion(key, stated, case) {
            Ok(found) => {
                asserted.push(found.assertion);
                for (field, why) in found.left {
                    told.changed(whose, field, why);
                }
            }
            Err(why) => told.lost(whose, format!("thresholds.{key}"), why),
        }
    }
    let has_refusal = case.thresholds.keys().any(|key| key.split('/').next() == Some("refusal_correctness"));
    if case.expectation == Expectation::Refuse && !has_refusal {
        asserted.push(bar::refusal(case));
        told.changed(whose, "should_refuse", "it became the assertion `is-refusal`, which is a bar too");
    }
    asserted
}

/// `type` first, as people write an assertion.
fn in_order(assertion: &Json) -> Tree {
    let Json::Object(map) = assertion else { return assertion.clone().into() };
    let keys = ["type", "value", "threshold"];
    let entries = keys.iter().filter_map(|key| Some(((*key).to_owned(), map.get(*key)?.clone().into())));
    Tree::Map(entries.collect())
}

fn metadata(case: &PlainCase, whose: Whose<'_>, told: &mut Told) -> Vec<(String, Tree)> {
    let mut metadata: Vec<(String, Tree)> = Vec::new();
    for (key, word) in [
        ("type", &case.kind),
        ("difficulty", &case.difficulty),
        ("language", &case.language),
        ("document", &case.document),
    ] {
        metadata.extend(word.clone().map(|word| (key.to_owned(), Tree::Value(word.into()))));
    }
    if !case.tags.is_empty() {
        metadata.push(("tags".to_owned(), json!(case.tags).into()));
    }
    for (key, value) in &case.metadata {
        if metadata.iter().any(|(known, _)| known == key) {
            told.lost(whose, format!("metadata.{key}"), format!("the case's own {key} takes the name"));
        } else {
            metadata.push((key.clone(), Tree::Value(value.clone().into())));
        }
    }
    metadata
}
