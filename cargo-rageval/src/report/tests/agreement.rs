//! The exit code and every report agree, whatever was decided.

use proptest::prelude::*;
use rageval_runner::model::{
    background::{Background, CaseBackground},
    case::Place,
    run::{Conclusion, Decision, Manifest, Ruling, Run},
};

use super::rendered;
use crate::report::view::View;

fn ruling() -> impl Strategy<Value = Ruling> {
    prop_oneof![
        6 => Just(Ruling::Pass),
        1 => Just(Ruling::Fail),
        1 => Just(Ruling::Undecided),
        1 => Just(Ruling::Inconclusive),
    ]
}

fn decision(trial: String) -> impl Strategy<Value = Decision> {
    (ruling(), prop::collection::vec("\\PC{0,20}", 0..3)).prop_map(move |(ruling, texts)| {
        let lines = texts.iter().map(|text| format!("failed      {text}")).collect();
        Decision::told(trial.clone(), ruling, lines)
    })
}

/// Runs with any decisions about any number of cases and gates, whole and partial.
fn run() -> impl Strategy<Value = Run> {
    let lacking = prop_oneof![9 => Just(0_usize), 1 => Just(1)];
    let parts =
        (0..12_usize, 0..4_usize, any::<bool>(), lacking).prop_flat_map(|(cases, gates, is_partial, lacking)| {
            let of_cases = (0..cases).map(|case| prop::option::weighted(0.9, decision(format!("case::en::c{case}"))));
            let of_gates = (0..gates).map(|gate| decision(format!("gate::recall@5::mean@tags={gate}")));
            let partial = is_partial.then(|| "shard 1/2".to_owned());
            let of_cases = of_cases.collect::<Vec<_>>();
            (Just((cases, lacking)), of_cases, of_gates.collect::<Vec<_>>(), prop::option::of(Just(partial)))
        });
    parts.prop_map(|((cases, lacking), of_cases, of_gates, partial)| {
        let golden = |case: usize| CaseBackground {
            case: rageval_runner::model::CaseId::new(format!("c{case}")).expect("an id"),
            trial: format!("case::en::c{case}"),
            place: Place { file: "cases/en.yaml".into(), line: case + 1, column: 3 },
            query: "q".into(),
            references: Vec::new(),
            relevant: None,
            should_refuse: false,
            language: "en".into(),
            fields: [].into(),
            bars: [].into(),
            known_failure: None,
            accepted: None,
        };
        // A record of most cases: without one a whole run has not passed.
        let record = |case: usize| {
            serde_json::from_value(serde_json::json!({
                "case": format!("c{case}"),
                "digest": "d",
                "taken": {"taken": "sample", "response": "a", "retrieved_contexts": [], "is_refusal": false},
                "outcomes": {},
            }))
            .expect("a record")
        };
        Run {
            format: "rageval-run".into(),
            version: 4,
            manifest: Manifest { partial: partial.flatten(), ..Manifest::default() },
            records: (lacking..cases).map(record).collect(),
            decisions: of_cases.into_iter().flatten().chain(of_gates).collect(),
            cases: (0..cases).map(golden).collect(),
            background: Background::default(),
        }
    })
}

/// What the first line of a comment says.
fn of_markdown(text: &str) -> Option<Conclusion> {
    let first = text.lines().next()?.strip_prefix("### ")?;
    [("✅ passed", Conclusion::Pass), ("❌ failed", Conclusion::Fail), ("🛑 ", Conclusion::Undecided)]
        .into_iter()
        .find_map(|(mark, conclusion)| first.starts_with(mark).then_some(conclusion))
}

/// What a reader of the XML concludes: a failure, else an error.
fn of_junit(text: &str) -> Conclusion {
    let document = roxmltree::Document::parse(text).expect("XML");
    let suite = document.descendants().find(|node| node.has_tag_name("testsuite")).expect("a suite");
    let count = |name: &str| document.descendants().filter(|node| node.has_tag_name(name)).count();
    for (attribute, element) in
        [("failures", "failure"), ("errors", "error"), ("skipped", "skipped"), ("tests", "testcase")]
    {
        assert_eq!(suite.attribute(attribute), Some(count(element).to_string().as_str()), "{attribute}: {text}");
    }
    match (count("failure"), count("error")) {
        (0, 0) => Conclusion::Pass,
        (0, _) => Conclusion::Undecided,
        (_, _) => Conclusion::Fail,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn every_report_says_what_the_exit_code_says(run in run()) {
        let conclusion = run.conclusion();
        let json: serde_json::Value = serde_json::from_str(&rendered("json", &run)).expect("JSON");
        prop_assert_eq!(&json["conclusion"], &serde_json::to_value(conclusion).expect("JSON"));
        for name in ["markdown", "summary"] {
            prop_assert_eq!(of_markdown(&rendered(name, &run)), Some(conclusion));
        }
        prop_assert_eq!(of_junit(&rendered("junit", &run)), conclusion);
        let annotations = rendered("annotations", &run);
        let has = |level: &str| annotations.lines().any(|line| line.starts_with(&format!("::{level} ")));
        prop_assert_eq!(has("error"), conclusion != Conclusion::Pass);
        prop_assert_eq!(has("notice"), conclusion == Conclusion::Pass);
        let red = run.decisions.iter().filter(|decision| decision.ruling.is_red()).count();
        prop_assert_eq!(rendered("text", &run).matches("---- ").count(), red);
        prop_assert!(View::of(&run).headline().contains(conclusion.as_str()));
    }
}
