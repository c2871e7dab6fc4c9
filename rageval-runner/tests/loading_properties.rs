//! Loading holds for any input: nothing panics, and a valid id comes back as it was written.

use std::fs;

use proptest::prelude::*;
use rageval_runner::load;

const POLICY: &str = "version: 1\nmetrics: {}\n";

/// Loads a project whose only file of cases holds these bytes, and the same bytes as a policy.
fn load_everything(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join(load::FILE_NAME);
    fs::write(&file, bytes).expect("a file");
    if let Err(problems) = load::policy(&file, &[]) {
        assert!(!problems.to_string().is_empty());
    }
    // An empty list of metrics is refused, so that the cases are read under a policy with a judge and one unknown rule left out.
    fs::write(&file, POLICY.replace("{}", "{m: }")).expect("a file");
    let policy = load::policy(&file, &[&common::ANY]).expect("a valid policy");
    fs::create_dir(folder.path().join("cases")).expect("a folder");
    for ending in ["yaml", "json", "jsonl", "csv"] {
        let cases = folder.path().join("cases").join(format!("a.{ending}"));
        fs::write(&cases, bytes).expect("a file");
        if let Err(problems) = load::cases(&policy, &[&common::ANY]) {
            assert!(!problems.to_string().is_empty());
        }
        fs::remove_file(cases).expect("the file is there");
    }
}

mod common {
    use rageval_runner::{
        metric::{Input, Kind, Metric, Params, Step},
        model::{Detail, GoldenCase, Outcome, Transcript, UnitInterval},
    };

    /// A metric that scores everything 1.
    pub(crate) struct Any;

    pub(crate) static ANY: Any = Any;

    impl Metric for Any {
        fn name(&self) -> &str {
            "m"
        }

        fn about(&self) -> &str {
            "Nothing."
        }

        fn kind(&self) -> Kind {
            Kind::Text
        }

        fn not_applicable(&self, _: &GoldenCase, _: &Params) -> Option<String> {
            None
        }

        fn step(&self, _: &Input<'_>, _: &Transcript) -> Step {
            Step::Done(Outcome::Scored { score: UnitInterval::ONE.into(), detail: Detail::default() })
        }
    }
}

/// Pieces of the four formats, so that the parsers are entered deeply.
fn soup() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "- ",
        "id",
        ": ",
        "query",
        "\n",
        "  ",
        "{",
        "}",
        "[",
        "]",
        "\"",
        "'",
        ",",
        ";",
        "\\",
        "\\ud800",
        "&a ",
        "*a",
        "<<",
        "!!str ",
        "|\n",
        ">\n",
        "#",
        "---\n",
        "...\n",
        "\t",
        "\r\n",
        "é",
        "退",
        "\u{feff}",
        "\u{2028}",
        "\u{85}",
        "null",
        "true",
        "1e3",
        "007",
        "-",
        ".nan",
        "thresholds",
        "m",
        "metrics",
        "version: 1\n",
        "should_refuse",
        "relevant_doc_ids",
        "response",
        "{{ query }}",
        "system: {kind: http, url: ",
        "slices: {by: [",
        "\u{1f600}",
        "\0",
        "a",
        "?",
        "%YAML 1.2\n",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        load_everything(&bytes);
    }

    #[test]
    fn arbitrary_pieces_never_panic(text in soup()) {
        load_everything(text.as_bytes());
    }

    #[test]
    fn an_id_comes_back_as_it_was_written(id in "\\PC{1,30}") {
        let Ok(id) = rageval_runner::model::CaseId::new(id) else { return Ok(()) };
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join(load::FILE_NAME);
        fs::write(&file, POLICY.replace("{}", "{m: }")).expect("a file");
        let policy = load::policy(&file, &[&common::ANY]).expect("a valid policy");
        fs::create_dir(folder.path().join("cases")).expect("a folder");
        let quoted = serde_json::to_string(id.as_str()).expect("a text");
        let texts = [
            ("json", format!("[{{\"id\": {quoted}, \"query\": \"Q?\"}}]")),
            ("jsonl", format!("{{\"id\": {quoted}, \"query\": \"Q?\"}}")),
            ("yaml", format!("- id: {quoted}\n  query: Q?\n")),
            ("csv", format!("id,query\n\"{}\",Q?\n", id.as_str().replace('"', "\"\""))),
        ];
        for (ending, text) in texts {
            let cases = folder.path().join("cases").join(format!("a.{ending}"));
            fs::write(&cases, &text).expect("a file");
            let golden_set = load::cases(&policy, &[&common::ANY]).map_err(|problems| TestCaseError::fail(problems.to_string()))?;
            prop_assert_eq!(&golden_set.cases[0].id, &id);
            fs::remove_file(cases).expect("the file is there");
        }
    }
}
