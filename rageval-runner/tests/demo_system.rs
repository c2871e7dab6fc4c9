//! The demo system and its golden cases: they fit together, and the figures below are where it stands.

use std::collections::BTreeSet;

use demo::corpus;
use demo::language::Language;
use demo::{DemoAnswer, Variant};
use serde_json::Value;

mod demo;

const FILES: [(&str, Language, &str); 3] = [
    ("en", Language::English, include_str!("../../cases/en.yaml")),
    ("pt", Language::Portuguese, include_str!("../../cases/pt.yaml")),
    ("zh", Language::Chinese, include_str!("../../cases/zh.yaml")),
];

struct Case {
    id: String,
    query: String,
    relevant: Vec<String>,
    document: Option<String>,
    should_refuse: bool,
}

impl Case {
    fn answer(&self, variant: Variant) -> DemoAnswer {
        demo::answer(&self.query, variant)
    }

    /// Share of the relevant documents among the retrieved ones.
    fn recall(&self, variant: Variant) -> f64 {
        let contexts = self.answer(variant).contexts;
        let found = self.relevant.iter().filter(|id| contexts.iter().any(|context| context.id == **id)).count();
        found as f64 / self.relevant.len() as f64
    }
}

fn cases(file: &str) -> Vec<Case> {
    let file: Value = serde_yaml::from_str(file).expect("the case file is YAML");
    let cases = file["cases"].as_array().expect("a list of cases");
    cases.iter().map(case).collect()
}

fn case(value: &Value) -> Case {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let relevant = value["relevant_doc_ids"].as_array().into_iter().flatten();
    Case {
        id: text(&value["id"]),
        query: text(&value["query"]),
        relevant: relevant.map(|relevant| text(relevant.get("id").unwrap_or(relevant))).collect(),
        document: value.get("document").map(text),
        should_refuse: value["should_refuse"] == true,
    }
}

fn all_cases() -> Vec<Case> {
    FILES.iter().flat_map(|(_, _, file)| cases(file)).collect()
}

fn answerable(file: &str) -> Vec<Case> {
    let mut cases = cases(file);
    cases.retain(|case| !case.should_refuse);
    cases
}

#[test]
fn every_document_that_a_case_names_exists() {
    for (_, language, file) in FILES {
        let known: BTreeSet<&str> = corpus::documents(language).iter().map(|document| document.id).collect();
        for case in cases(file) {
            for id in case.relevant.iter().chain(&case.document) {
                assert!(known.contains(id.as_str()), "{} names {id}", case.id);
            }
        }
    }
}

#[test]
fn document_ids_and_case_ids_are_unique() {
    let documents: Vec<&str> =
        FILES.iter().flat_map(|(_, language, _)| corpus::documents(*language)).map(|document| document.id).collect();
    assert_eq!(documents.iter().collect::<BTreeSet<_>>().len(), documents.len());
    let cases = all_cases();
    assert_eq!(cases.iter().map(|case| &case.id).collect::<BTreeSet<_>>().len(), cases.len());
}

#[test]
fn each_language_has_its_share_of_documents_and_cases() {
    for (name, language, file) in FILES {
        assert!(20 <= corpus::documents(language).len(), "documents of {name}");
        assert!(25 <= cases(file).len(), "cases of {name}");
        let declined = cases(file).iter().filter(|case| case.should_refuse).count();
        assert!(5 <= declined, "out-of-scope cases of {name}");
    }
}

#[test]
fn a_case_is_answered_in_its_language() {
    for (name, _, file) in FILES {
        for case in cases(file) {
            for context in case.answer(Variant::Normal).contexts {
                assert!(context.id.starts_with(name), "{} retrieved {}", case.id, context.id);
            }
        }
    }
}

#[test]
fn the_same_question_gets_the_same_answer() {
    for case in all_cases() {
        for (_, variant) in Variant::ALL {
            assert_eq!(case.answer(variant), case.answer(variant), "{}", case.id);
        }
    }
}

/// A change of corpus, cases or system moves these figures; they say where the system stands.
#[test]
fn most_questions_find_a_relevant_document() {
    let measured = FILES.map(|(name, _, file)| {
        let cases = answerable(file);
        let found = cases.iter().filter(|case| 0.0 < case.recall(Variant::Normal)).count();
        (name, found, cases.len())
    });
    assert_eq!(measured, [("en", 23, 28), ("pt", 24, 27), ("zh", 27, 27)]);
}

/// Per language: right refusals of what is out of scope, and wrong ones of what is not.
#[test]
fn most_refusals_are_right() {
    let measured = FILES.map(|(name, _, file)| {
        let cases = cases(file);
        let refused = |should_refuse| {
            cases
                .iter()
                .filter(|case| case.should_refuse == should_refuse && case.answer(Variant::Normal).refused)
                .count()
        };
        (name, refused(true), refused(false))
    });
    assert_eq!(measured, [("en", 3, 6), ("pt", 4, 3), ("zh", 3, 3)]);
}

#[test]
fn the_weak_retriever_finds_less() {
    for (name, _, file) in FILES {
        let mean = |variant| {
            let cases = answerable(file);
            cases.iter().map(|case| case.recall(variant)).sum::<f64>() / cases.len() as f64
        };
        let (normal, weak) = (mean(Variant::Normal), mean(Variant::WeakRetriever));
        println!("{name}: recall@5 {normal:.3}, of the weak retriever {weak:.3}");
        assert!(weak < normal - 0.1, "{name}: {weak} against {normal}");
    }
}

#[test]
fn a_verbose_answer_contains_the_plain_one() {
    for case in all_cases() {
        let (plain, verbose) = (case.answer(Variant::Normal), case.answer(Variant::Verbose));
        assert!(verbose.text.contains(&plain.text), "{}", case.id);
        assert_eq!(verbose.text == plain.text, plain.refused, "{}", case.id);
    }
}

#[test]
fn a_hallucinated_answer_is_never_the_plain_one() {
    for case in all_cases() {
        let (plain, hallucinated) = (case.answer(Variant::Normal), case.answer(Variant::Hallucinating));
        assert_eq!(hallucinated.contexts, plain.contexts);
        assert_eq!(hallucinated.text == plain.text, plain.refused, "{}", case.id);
    }
}

#[test]
fn the_system_that_never_refuses_never_refuses() {
    for case in all_cases() {
        let (plain, insistent) = (case.answer(Variant::Normal), case.answer(Variant::NeverRefuses));
        assert!(!insistent.refused, "{}", case.id);
        assert_eq!(insistent.text != plain.text, plain.refused, "{}", case.id);
    }
}

#[test]
fn an_unknown_variant_is_an_error_that_names_the_known() {
    assert_eq!(Variant::from_name(None), Ok(Variant::Normal));
    assert_eq!(Variant::from_name(Some("verbose")), Ok(Variant::Verbose));
    assert_eq!(
        Variant::from_name(Some("lazy")),
        Err("unknown demo variant \"lazy\"; known are normal, weak-retriever, verbose, hallucinating, never-refuses"
            .to_owned())
    );
}
