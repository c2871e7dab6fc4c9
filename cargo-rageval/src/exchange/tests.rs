//! Cases that go to another format and back are what they were, but for what was named.

use std::{fs, path::PathBuf};

use proptest::{collection::vec, option, prelude::*};
use rageval_runner::{
    load::plain::{PlainCase, PlainSet},
    model::{CaseId, Expectation, Judgement, Place, RetrievedContext},
};
use serde_json::json;

use super::{Choices, Format, Told, Wrong, cell, loss::Fate};

fn choices() -> Choices {
    Choices { separator: "|".to_owned(), query_var: None, split: "test".to_owned(), without_answers: false }
}

/// Words as people and machines write them: line ends of all kinds, quotes, marks, digits, and what YAML, Python and tables give a meaning.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zA-Zéã退货 ]{1,8}",
        1 => prop::sample::select(vec![
            "\n", "\r\n", "\u{2028}", "\u{85}", "\t", "\"", "'", "\\", ",", ";", "|", ": ", " #", "- ", "[", "]", "{", "}", "007", "no",
            "null", "NaN", "<top>", "=", "\u{feff}", "\u{200b}", "😀", "&a", "*a", "!x", "%", "@", "`",
        ]).prop_map(str::to_owned),
    ];
    vec(piece, 1..6)
        .prop_map(|pieces| pieces.concat())
        .prop_filter("it says something", |text| !text.trim().is_empty() && !cell::is_nothing(text))
}

fn word() -> impl Strategy<Value = String> {
    "[a-z0-9é退][a-z0-9 -]{0,6}[a-z0-9]"
}

fn case() -> impl Strategy<Value = PlainCase> {
    let judgement = (prop_oneof![word(), text()], prop::sample::select(vec![1.0, 0.5, 0.0, 2.0, -1.0]));
    let context = (option::of(word()), prop_oneof![text(), Just(String::new())], option::of(0..9u8));
    let first = (text(), vec(text(), 0..3), option::of(vec(judgement, 0..4)), vec(text(), 0..3), any::<bool>());
    let second =
        (option::of(word()), option::of(word()), option::of("(en|pt-BR|zh)"), vec(word(), 0..3), option::of(word()));
    let metadata = prop::collection::btree_map(word(), prop_oneof![text(), Just(String::new())], 0..3);
    let third = (
        metadata,
        option::of((prop_oneof![text(), Just(String::new())], vec(context, 0..3))),
        thresholds(),
        any::<bool>(),
    );
    (first, second, third).prop_map(|(first, second, third)| {
        let (query, references, relevant, reference_contexts, refuse) = first;
        let (kind, difficulty, language, mut tags, document) = second;
        let (metadata, recorded, thresholds, known) = third;
        tags.sort();
        tags.dedup();
        let mut unique: Vec<String> = Vec::new();
        for reference in references {
            if !unique.contains(&reference) {
                unique.push(reference);
            }
        }
        let relevant = relevant.map(|list| {
            let mut kept: Vec<Judgement> = Vec::new();
            for (id, grade) in list {
                // What should be declined has no relevant documents.
                let grade = if refuse { 0.0 } else { grade };
                if kept.iter().all(|known| known.id.as_str() != id) {
                    kept.push(Judgement { id: id.into(), grade });
                }
            }
            kept
        });
        let recorded = recorded.map(|(response, contexts)| {
            let context = |(id, text, score): (Option<String>, String, Option<u8>)| RetrievedContext {
                id: id.map(Into::into),
                text,
                score: score.map(|score| f64::from(score) + 0.5),
            };
            (response, contexts.into_iter().map(context).collect())
        });
        PlainCase {
            references: unique,
            relevant,
            reference_contexts,
            expectation: if refuse { Expectation::Refuse } else { Expectation::Answer },
            kind,
            difficulty,
            language,
            tags,
            document,
            metadata,
            thresholds,
            known_failure: known.then(|| json!({"metrics": ["contains"], "reason": "for now"})),
            recorded,
            ..PlainCase::new(CaseId::new("placeholder").expect("an id"), query, Place::default())
        }
    })
}

fn thresholds() -> impl Strategy<Value = serde_json::Map<String, serde_json::Value>> {
    let bar = prop_oneof![
        text().prop_map(|text| ("contains", json!({"all": [text], "ignore_case": false, "min": 1}))),
        vec(text(), 2..3)
            .prop_map(|texts| ("contains", json!({"any": texts, "ignore_case": true, "min": 1, "not": true}))),
        Just(("regex", json!({"pattern": "^a\\d", "min": 1}))),
        Just(("latency", json!({"max": 100, "min": 1}))),
        Just(("faithfulness", json!({"min": 0.5}))),
        Just(("recall@5", json!({"min": 1, "max_drop": 0.5}))),
    ];
    vec(bar, 0..3).prop_map(|bars| bars.into_iter().map(|(key, bar)| (key.to_owned(), bar)).collect())
}

fn set() -> impl Strategy<Value = PlainSet> {
    vec((case(), "[a-zA-Zé][a-zA-Z0-9 ._é-]{0,9}[a-z0-9]"), 1..4).prop_map(|cases| {
        let mut set = PlainSet::default();
        for (number, (case, id)) in cases.into_iter().enumerate() {
            let id = CaseId::new(format!("{id}{number}")).expect("an id");
            set.cases.push(PlainCase { id, ..case });
        }
        set
    })
}

/// Writes a set in a format, and reads it again; with what both told.
fn there_and_back(set: &PlainSet, format: Format) -> (Result<PlainSet, Wrong>, Told, Told) {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut out, mut back) = (Told::default(), Told::default());
    let written = super::write(set, format, &choices(), &mut out);
    let paths: Vec<PathBuf> = written
        .iter()
        .map(|file| {
            let path = folder.path().join(if file.name.is_empty() { "file" } else { file.name });
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(&path, &file.bytes).expect("written");
            path
        })
        .collect();
    let named = if paths.len() == 1 { paths } else { vec![folder.path().to_owned()] };
    (super::read(&named, format, &choices(), &mut back), out, back)
}

/// The fields that the losses of a case name, by the words of ours.
fn named(told: &Told, id: &str) -> Vec<String> {
    let own = |field: &str| {
        match field {
            "context" => "reference_contexts",
            "retrieval_context" => "retrieved_contexts",
            "actual_output" => "response",
            "reference" => "ground_truth_answer",
            "reference_context_ids" => "relevant_doc_ids",
            "comments" => "metadata.comments",
            field => field,
        }
        .to_owned()
    };
    told.losses.iter().filter(|loss| loss.case.as_deref() == Some(id)).map(|loss| own(&loss.field)).collect()
}

/// Every field that differs must be one that was named.
fn check(set: &PlainSet, format: Format) -> Result<(), TestCaseError> {
    let (read, out, back) = there_and_back(set, format);
    let read = read.map_err(|wrong| TestCaseError::fail(wrong.0))?;
    let renamed = |id: &str| {
        out.losses.iter().any(|l| l.fate == Fate::Changed && l.field == "id" && l.case.as_deref() == Some(id))
    };
    let unjudged = |case: &PlainCase| format == Format::Beir && case.relevant.as_ref().is_none_or(Vec::is_empty);
    let lost_whole = |case: &PlainCase| {
        let names = named(&out, case.id.as_str());
        // All ids of the judgements part their lines.
        format == Format::Beir && names.iter().filter(|name| *name == "relevant_doc_ids").count() > 0
    };
    let expected: Vec<&PlainCase> = set.cases.iter().filter(|case| !unjudged(case)).collect();
    let mut found = read.cases.iter();
    for case in expected {
        let id = case.id.as_str();
        let Some(again) = found.clone().next().filter(|again| again.id == case.id || renamed(id)) else {
            prop_assert!(lost_whole(case), "{id} is gone and was not named: {out:?}");
            continue;
        };
        found.next();
        let mut names = named(&out, id);
        names.extend(named(&back, again.id.as_str()));
        for field in differing(case, again) {
            let is_named = names.iter().any(|name| {
                name == field
                    || name.starts_with(&format!("{field}."))
                    || (field == "thresholds" && name == "should_refuse")
                    || (field == "recorded" && (name == "response" || name == "retrieved_contexts"))
                    || (name == "vars" && ["query", "references", "reference_contexts"].contains(&field))
                    || (field == "references" && name == "ground_truth_answer")
            });
            prop_assert!(is_named, "{field} of {id} differs and was not named: {names:?}\n{case:#?}\n{again:#?}");
        }
    }
    prop_assert_eq!(found.next(), None);
    Ok(())
}

fn differing(a: &PlainCase, b: &PlainCase) -> Vec<&'static str> {
    let pairs = [
        ("id", a.id == b.id),
        ("query", a.query == b.query),
        ("references", a.references == b.references),
        ("relevant_doc_ids", a.relevant == b.relevant),
        ("reference_contexts", a.reference_contexts == b.reference_contexts),
        ("should_refuse", a.expectation == b.expectation),
        ("type", a.kind == b.kind),
        ("difficulty", a.difficulty == b.difficulty),
        ("language", a.language == b.language),
        ("tags", a.tags == b.tags),
        ("document", a.document == b.document),
        ("metadata", a.metadata == b.metadata),
        ("thresholds", a.thresholds == b.thresholds),
        ("repeats", a.repeats == b.repeats),
        ("known_failure", a.known_failure == b.known_failure),
        ("recorded", a.recorded == b.recorded),
    ];
    pairs.into_iter().filter(|(_, is_same)| !is_same).map(|(field, _)| field).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn our_yaml_loses_nothing(set in set()) {
        let (_, out, back) = there_and_back(&set, Format::RagevalYaml);
        prop_assert_eq!(out, Told::default());
        prop_assert_eq!(back, Told::default());
        check(&set, Format::RagevalYaml)?;
    }

    #[test]
    fn our_json_and_json_lines_lose_nothing(set in set()) {
        for format in [Format::RagevalJson, Format::RagevalJsonl] {
            let (_, out, _) = there_and_back(&set, format);
            prop_assert_eq!(out, Told::default());
            check(&set, format)?;
        }
    }

    #[test]
    fn our_tables_name_what_they_lose(set in set()) {
        check(&set, Format::RagevalCsv)?;
    }

    #[test]
    fn ragas_names_what_it_loses(set in set()) {
        for format in [Format::RagasJson, Format::RagasJsonl, Format::RagasCsv, Format::RagasParquet] {
            check(&set, format)?;
        }
    }

    #[test]
    fn deepeval_names_what_it_loses(set in set()) {
        for format in [Format::DeepevalJson, Format::DeepevalJsonl, Format::DeepevalCsv] {
            check(&set, format)?;
        }
    }

    #[test]
    fn promptfoo_names_what_it_loses(set in set()) {
        check(&set, Format::Promptfoo)?;
    }

    #[test]
    fn beir_and_trec_name_what_they_lose(set in set()) {
        for format in [Format::Beir, Format::Trec] {
            check(&set, format)?;
        }
    }
}
