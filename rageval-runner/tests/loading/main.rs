//! Loading files that a person wrote: whole projects in `fixtures/load`, each with the text that loading it must give.

mod labels;
mod schema;

use std::{
    fs,
    path::{Path, PathBuf},
};

use rageval_runner::{
    load::{self, Diagnostics, Policy},
    metric::METRICS,
    model::{GoldenCase, GoldenSet},
};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/load")
}

fn load(folder: &Path) -> Result<(Policy, GoldenSet), Diagnostics> {
    let policy = load::policy(&folder.join(load::FILE_NAME), METRICS)?;
    let golden_set = load::cases(&policy, METRICS)?;
    let problems = load::check_slices(&policy, &golden_set);
    if problems.is_empty() { Ok((policy, golden_set)) } else { Err(problems) }
}

/// What a reader of the test wants to see: every problem, else what was read.
fn shown(folder: &Path) -> String {
    match load(folder) {
        Err(problems) => format!("{problems}\n"),
        Ok((policy, golden_set)) => {
            let root = policy.root.to_string_lossy().into_owned();
            let budget = policy.budget.map(|budget| format!("{budget:#?}\n")).unwrap_or_default();
            let embedder = policy.embedder.iter().map(|embedder| format!("{embedder:#?}\n")).collect::<String>();
            let trust = Some(policy.trust).filter(|trust| {
                !trust.waivers.is_empty() || trust.judge.family.is_some() || trust.system.family.is_some()
            });
            let trust = trust.map(|trust| format!("{trust:#?}\n")).unwrap_or_default();
            let (system, judge, rules) = (policy.system, policy.judge, policy.rules);
            let read = format!("{system:#?}\n{judge:#?}\n{embedder}{budget}{trust}{rules:#?}\n{golden_set:#?}\n");
            read.replace(&root, "ROOT")
        }
    }
}

/// Each folder of `fixtures/load` is a project; `expected.txt` in it is what loading it says. A difference leaves the new text in
/// the build's folder, with the command that accepts it.
#[test]
fn every_project_loads_as_written_down() {
    let mut wrong = Vec::new();
    let mut folders: Vec<_> =
        fs::read_dir(fixtures()).expect("fixtures").map(|entry| entry.expect("entry").path()).collect();
    folders.sort();
    assert!(!folders.is_empty());
    for folder in folders {
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let expected = folder.join("expected.txt");
        let actual = shown(&folder);
        if fs::read_to_string(&expected).is_ok_and(|text| text.replace("\r\n", "\n") == actual) {
            continue;
        }
        let written = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.txt"));
        fs::write(&written, &actual).expect("the build's folder can be written");
        wrong.push(format!("{name}:\n{actual}\nto accept: cp {} {}\n", written.display(), expected.display()));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A project in a folder of its own, which lasts as long as it does.
struct Project(tempfile::TempDir);

impl Project {
    fn new(policy: &str) -> Self {
        let project = Self(tempfile::tempdir().expect("a temporary folder"));
        project.with("thresholds.yaml", policy.as_bytes())
    }

    /// A project whose cases hold recorded answers.
    fn recorded() -> Self {
        Self::new("version: 1\nsystem: {kind: recorded}\nmetrics: {recall@5: }\n")
    }

    /// A project whose system is a function.
    fn function() -> Self {
        Self::new("version: 1\nmetrics: {recall@5: }\n")
    }

    fn with(self, path: &str, bytes: &[u8]) -> Self {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, bytes).expect("a file");
        self
    }

    fn load(&self) -> Result<GoldenSet, Diagnostics> {
        load(self.0.path()).map(|(_, golden_set)| golden_set)
    }

    fn policy(&self) -> Policy {
        load::policy(&self.0.path().join(load::FILE_NAME), METRICS).expect("a valid policy")
    }

    /// Ids with their groups, in order.
    fn ids(&self) -> Vec<String> {
        match self.load() {
            Ok(golden_set) => golden_set.cases.iter().map(GoldenCase::trial_name).collect(),
            Err(problems) => panic!("{problems}"),
        }
    }

    /// Every problem as `file:line:column message`.
    fn problems(&self) -> Vec<String> {
        match self.load() {
            Ok(_) => Vec::new(),
            Err(problems) => problems
                .iter()
                .map(|problem| {
                    let place = problem.place();
                    format!("{}:{}:{} {}", place.file, place.line, place.column, problem.message())
                })
                .collect(),
        }
    }
}

/// One case from YAML.
fn one_case(text: &str) -> GoldenCase {
    let project = Project::recorded().with("cases/a.yaml", text.as_bytes());
    let mut golden_set = project.load().unwrap_or_else(|problems| panic!("{problems}"));
    golden_set.cases.remove(0)
}

#[test]
fn every_name_of_a_key_fills_its_own_field() {
    fn check(line: &str, field: fn(&GoldenCase) -> String, expected: &str) {
        let query = if ["query", "question", "user_input", "input"].iter().any(|name| line.starts_with(name)) {
            ""
        } else {
            "query: Q?"
        };
        let id = if ["id:", "case_id", "name"].iter().any(|name| line.starts_with(name)) { "" } else { "id: a" };
        let response = if line.contains("context") && !line.starts_with("context:") && !line.starts_with("ref") {
            "response: R"
        } else {
            ""
        };
        let text = format!("- {line}\n  {id}\n  {query}\n  {response}\n");
        assert_eq!(field(&one_case(&text)), expected, "{text}");
    }
    for name in ["id", "case_id", "name"] {
        check(&format!("{name}: x"), |case| case.id.to_string(), "x");
    }
    for name in ["query", "question", "user_input", "input"] {
        check(&format!("{name}: x"), |case| case.query.clone(), "x");
    }
    for name in ["ground_truth_answer", "reference", "ground_truth", "expected_output", "answer_gold"] {
        check(&format!("{name}: x"), |case| case.references.join("|"), "x");
    }
    for name in ["relevant_doc_ids", "relevant", "gold_ids", "reference_context_ids"] {
        check(&format!("{name}: [x]"), |case| case.relevant.as_ref().expect("relevant")[0].id.to_string(), "x");
    }
    for name in ["reference_contexts", "context"] {
        check(&format!("{name}: [x]"), |case| case.reference_contexts.join("|"), "x");
    }
    for line in ["should_refuse: true", "answerable: false"] {
        check(line, |case| format!("{:?}", case.expectation), "Refuse");
    }
    for line in ["should_refuse: false", "answerable: true"] {
        check(line, |case| format!("{:?}", case.expectation), "Answer");
    }
    for name in ["language", "lang"] {
        check(
            &format!("{name}: pt-BR"),
            |case| format!("{:?} {:?}", case.language_tag, case.language),
            "Some(\"pt-BR\") Pt",
        );
    }
    for name in ["document", "cluster"] {
        check(&format!("{name}: x"), |case| case.document.clone().unwrap_or_default(), "x");
    }
    for name in ["response", "answer", "actual_output"] {
        check(&format!("{name}: x"), |case| case.recorded.clone().expect("recorded").response.clone(), "x");
    }
    for name in ["retrieved_contexts", "contexts", "retrieval_context"] {
        let text = |case: &GoldenCase| case.recorded.clone().expect("recorded").retrieved_contexts[0].text.clone();
        check(&format!("{name}: [x]"), text, "x");
    }
}

#[test]
fn context_and_retrieval_context_are_two_things() {
    let case = one_case("- {id: a, input: Q?, context: [right], retrieval_context: [found], actual_output: R}");
    assert_eq!(case.reference_contexts, ["right"]);
    assert_eq!(case.recorded.expect("recorded").retrieved_contexts[0].text, "found");
}

#[test]
fn json_lines_end_at_lf_alone() {
    let line = "{\"id\": \"a\", \"query\": \"a\u{2028}b\u{85}c?\", \"response\": \"\"}";
    let project = Project::recorded().with("cases/a.jsonl", format!("\u{feff}{line}\r\n\n \t\r\n").as_bytes());
    assert_eq!(project.ids(), ["case::a::a"]);
}

#[test]
fn an_invisible_character_in_a_key_is_named() {
    let project = Project::function().with("cases/a.jsonl", "{\"\u{feff}id\": \"a\", \"query\": \"Q?\"}".as_bytes());
    let problems = project.load().expect_err("an unknown key").to_string();
    assert!(problems.contains("unknown key \"\\u{FEFF}id\""), "{problems}");
    assert!(problems.contains("it is \"id\" but for characters that are not shown"), "{problems}");
}

#[test]
fn bytes_that_are_no_utf8_are_named_with_their_offset() {
    let project = Project::function().with("cases/a.jsonl", b"{\"id\": \"a\"}\n{\"query\": \"Qual \xe9 a taxa?\"}\n");
    assert_eq!(project.problems(), ["cases/a.jsonl:2:17 the file is not UTF-8: byte 28 is 0xE9"]);
}

#[test]
fn files_are_taken_in_the_order_of_their_paths() {
    let case = |id: &str| format!("- {{id: c{id}, query: Q?}}\n").into_bytes();
    let project = Project::function()
        .with("cases/b.yml", &case("1"))
        .with("cases/a/z.yaml", &case("2"))
        .with("cases/a-b.YAML", &case("3"))
        .with("cases/a/calibration/y.yaml", &case("4"))
        .with("cases/calibration/y.yaml", &case("5"))
        .with("cases/_drafts/y.yaml", &case("6"))
        .with("cases/.hidden.yaml", &case("7"));
    let names = ["case::a/calibration/y::c4", "case::a/z::c2", "case::a-b::c3", "case::b::c1"];
    assert_eq!(project.ids(), names);
}

#[test]
fn one_group_is_read_without_the_other_files() {
    let project = Project::function()
        .with("cases/a/x.yaml", b"- {id: one, query: Q?}\n")
        .with("cases/a/x.csv", b"id,query\ntwo,Q?\n")
        .with("cases/a/x.notes.yaml", b"broken: [")
        .with("cases/b.yaml", b"broken: [")
        .with("cases/_c.yaml", b"broken: [")
        .with("cases/calibration/d.yaml", b"broken: [");
    let policy = project.policy();
    let ids = |group: &str| {
        load::one_file(&policy, group, METRICS)
            .unwrap_or_else(|problems| panic!("{problems}"))
            .map(|golden_set| golden_set.cases.iter().map(|case| case.id.to_string()).collect::<Vec<_>>())
    };
    assert_eq!(ids("a/x"), Some(vec!["two".to_owned(), "one".to_owned()]));
    for nothing in ["a", "a/y", "", "..", "../a", "a/../b", "/a/x", "_c", "calibration/d", "a/x.yaml", "a//x", "./b"] {
        assert_eq!(ids(nothing), None, "{nothing}");
    }
    assert!(load::one_file(&policy, "b", METRICS).is_err());
}

#[test]
fn a_path_that_would_break_the_names_of_tests_is_refused() {
    let project = Project::function().with("cases/a.yaml", b"- {id: a, query: Q?}\n");
    if fs::write(project.0.path().join("cases/b::c.yaml"), "- {id: b, query: Q?}\n").is_err() {
        return;
    }
    assert_eq!(
        project.problems(),
        ["cases/b::c.yaml:0:0 the path of a file of cases must not hold `:` or control characters"]
    );
}

#[test]
fn the_policy_is_looked_for_up_to_the_workspace() {
    let project = Project::function()
        .with("Cargo.toml", b"[workspace]\n")
        .with("crate/Cargo.toml", b"[package]\n")
        .with("crate/src/lib.rs", b"")
        .with("crate/inner/Cargo.toml", b"[workspace.package]\n");
    let root = project.0.path();
    let policy = Some(root.join(load::FILE_NAME));
    assert_eq!(load::find(root), policy);
    assert_eq!(load::find(&root.join("crate/src")), policy);
    assert_eq!(load::find(&root.join("crate/inner")), None);
}

#[test]
fn only_the_first_fifty_problems_are_shown() {
    let rows: String = (0..60).map(|n| format!("- {{id: c{n}, query: }}\n")).collect();
    let project = Project::function().with("cases/a.yaml", rows.as_bytes());
    let text = project.load().expect_err("60 problems").to_string();
    assert_eq!(text.matches("\"query\" has no value").count(), 50);
    assert!(text.ends_with("\nand 10 more\n\n60 problems in 1 file"), "{text}");
}

#[test]
fn the_digest_of_the_policy_ignores_line_ends() {
    let digest = |text: &str| Project::new(text).policy().digest;
    let text = "version: 1\nmetrics: {recall@5: 0.5}\n";
    assert_eq!(digest(text), digest(&text.replace('\n', "\r\n")));
    assert_ne!(digest(text), digest(&text.replace("0.5", "0.4")));
}

/// Files in the shapes that others' tools write, with what must become of each.
#[test]
fn files_of_other_tools_load_as_expected() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/loading");
    let Ok(expected) = fs::read(data.join("expected.json")) else {
        println!("skipped: {} is absent", data.display());
        return;
    };
    let expected: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&expected).expect("JSON");
    // The two files that may either fail, or load such that no metric that needs contexts can pass.
    let loads = [("blank_context.jsonl", 1), ("null_contexts.jsonl", 1), ("array.json", 2)];
    for (name, entry) in &expected {
        let project = Project::recorded().with(&format!("cases/{name}"), &fs::read(data.join(name)).expect("a file"));
        let cases = loads.iter().find(|(file, _)| file == name).map(|(_, cases)| *cases);
        let cases = cases.or_else(|| entry["cases"].as_u64());
        match (project.load(), cases) {
            (Ok(golden_set), Some(cases)) => assert_eq!(golden_set.cases.len() as u64, cases, "{name}"),
            (Err(_), None) => {}
            (Ok(_), None) => panic!("{name} loads, and should not"),
            (Err(problems), Some(_)) => panic!("{name}: {problems}"),
        }
    }
    let problems = |name: &str| {
        let project = Project::recorded().with(&format!("cases/{name}"), &fs::read(data.join(name)).expect("a file"));
        project.problems().join("\n")
    };
    let check = |name: &str, expected: &str| assert_eq!(problems(name), expected);
    check("duplicate_ids.jsonl", "cases/duplicate_ids.jsonl:3:8 the id \"dup\" stands twice");
    check("string_contexts.jsonl", "cases/string_contexts.jsonl:1:58 case \"sc\": \"contexts\" is a list, got a text");
    check("number_id.jsonl", "cases/number_id.jsonl:1:8 the id of a case is a text, got a number");
    check("missing_question.jsonl", "cases/missing_question.jsonl:1:1 case \"mq\": \"query\" is missing");
    check("truncated_line.jsonl", "cases/truncated_line.jsonl:3:29 this is not JSON: it is cut off here");
    check("empty.jsonl", "cases/empty.jsonl:0:0 the file holds no case");
    assert!(problems("latin1.jsonl").starts_with("cases/latin1.jsonl:1:"), "{}", problems("latin1.jsonl"));
    assert!(problems("aggregate_row.jsonl").starts_with("cases/aggregate_row.jsonl:2:"));
}

#[test]
fn blank_and_missing_contexts_count_as_none() {
    let case = one_case("- {id: a, query: Q?, answer: R, contexts: [\"\"]}");
    let contexts = case.recorded.expect("recorded").retrieved_contexts.clone();
    assert!(contexts.len() == 1 && contexts[0].is_blank());
    let case = one_case("- {id: a, query: Q?, answer: R, contexts: null}");
    assert!(case.recorded.expect("recorded").retrieved_contexts.is_empty());
}

#[test]
fn an_own_prompt_is_the_same_with_any_line_ends() {
    let text = "=== system ===\n{{ rules }}\n=== user ===\n{{ query }}\n{{ answer }}\nJudge.\n";
    let prompts = |text: &str| {
        let judge = "{provider: command, run: [./judge], model: m, prompts: own}";
        let project = Project::new(&format!("version: 1\njudge: {judge}\nmetrics: {{recall@5: }}\n"))
            .with("cases/a.yaml", b"- {id: a, query: Q?}\n")
            .with("own/refusal_correctness.verdict.en.md", text.as_bytes());
        project.policy().judge.prompts
    };
    let plain = prompts(text);
    assert_eq!(prompts(&format!("\u{feff}{}", text.replace('\n', "\r\n"))), plain);
    assert_ne!(plain, std::sync::Arc::default());
}
