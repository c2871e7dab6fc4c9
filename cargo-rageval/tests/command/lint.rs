//! `cargo rageval cases lint`: each code on a case that has it, and on one that nearly has.

use std::fs;

use super::{Ended, ends, folder, passes, refuses, run, write};

fn project(cases: &str) -> tempfile::TempDir {
    let folder = folder();
    write(
        folder.path(),
        "thresholds.yaml",
        "version: 1\nmetrics:\n  recall@5: {min: 0.2}\n  length: {min: 1, max: 900}\n",
    );
    fs::create_dir(folder.path().join("cases")).expect("made");
    write(&folder.path().join("cases"), "all.yaml", cases);
    folder
}

fn lint(cases: &str, more: &[&str]) -> Ended {
    run(project(cases).path(), &[&["cases", "lint"], more].concat())
}

/// The findings of a set, without the last line.
#[track_caller]
fn check(cases: &str, expected: &[&str]) {
    let ended = lint(cases, &[]);
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{}", ended.out);
    let lines: Vec<&str> = ended.out.lines().collect();
    let (last, findings) = lines.split_last().expect("a line");
    assert_eq!(findings, expected, "{last}");
}

#[test]
fn a_sound_set_is_passed_over() {
    let cases = "- {id: a, query: What is the fee?, relevant_doc_ids: [d, {id: e, grade: 0}], ground_truth_answer: None., language: en}\n\
                 - {id: b, query: \"费用是 iPhone 15 Pro Max 多少？\", relevant_doc_ids: [d], language: zh}\n\
                 - {id: c, query: Will it rain?, should_refuse: true}\n";
    let ended = lint(cases, &["--deny", "all"]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(0), "3 cases, nothing found\n"));
}

#[test]
fn a_case_that_measures_nothing_is_named() {
    check(
        "- {id: a, query: What is the fee?}\n- {id: b, query: Why so?, thresholds: {length: {max: 9}}}\n",
        &[
            "cases/all.yaml:1: warning[nothing-expected]: a: says nothing of its right answer: add ground_truth_answer or relevant_doc_ids, or should_refuse: true",
        ],
    );
    check(
        "- {id: a, query: What is the fee?, relevant_doc_ids: [{id: d, grade: 0}]}\n",
        &[
            "cases/all.yaml:1: warning[irrelevant-only]: a: grades every document that it names 0 or less, so retrieval is not measured for it",
        ],
    );
}

#[test]
fn a_reference_that_no_context_says_is_named() {
    let case = |reference: &str| {
        format!(
            "- {{id: a, query: How long?, ground_truth_answer: {reference}, reference_contexts: [Items may be returned within 30 days of delivery.]}}\n"
        )
    };
    check(&case("Items may be returned within 30 days."), &[]);
    check(&case("\"Yes.\""), &[]);
    check(
        &case("The courier rings twice in the morning."),
        &[
            "cases/all.yaml:1: warning[unsupported-reference]: a: no sentence of its reference stands in its reference contexts, going by words and numbers",
        ],
    );
}

#[test]
fn a_reference_on_the_other_side_of_should_refuse_is_named() {
    check(
        "- {id: a, query: What is it?, ground_truth_answer: I don't know.}\n- {id: b, query: And who?, should_refuse: true, ground_truth_answer: Thirty days.}\n- {id: c, query: When then?, should_refuse: true, ground_truth_answer: I cannot answer that.}\n",
        &[
            "cases/all.yaml:1: warning[refusal-reference]: a: should be answered, and its reference reads like a refusal: say should_refuse: true if declining is right",
            "cases/all.yaml:2: warning[refusal-reference]: b: should be declined, and its reference reads like an answer",
        ],
    );
}

#[test]
fn a_tag_of_another_script_is_named() {
    let case =
        |query: &str, tag: &str| format!("- {{id: a, query: \"{query}\", relevant_doc_ids: [d], language: {tag}}}\n");
    check(
        &case("What is the fee?", "zh"),
        &["cases/all.yaml:1: warning[language-script]: a: is tagged zh, and its question has no Chinese characters"],
    );
    check(
        &case("费用是多少钱呢", "pt-BR"),
        &["cases/all.yaml:1: warning[language-script]: a: is tagged pt-BR, and its question has few Latin letters"],
    );
    check(&case("shenme shi feiyong", "zh-Latn"), &[]);
    check(&case("Privet, kak dela", "sr-Latn"), &[]);
    check(&case("42?", "zh"), &[]);
}

#[test]
fn what_nobody_sees_is_named() {
    check(
        "- {id: a, query: \" What is the fee?\", relevant_doc_ids: [d]}\n- {id: b, query: \"Who\\u200b pays it?\", relevant_doc_ids: [d]}\n- {id: c, query: 👩\u{200d}💻 costs what?, relevant_doc_ids: [\"d\\u00a0e\"]}\n",
        &[
            "cases/all.yaml:1: warning[outer-blanks]: a: its question starts or ends with blanks, which the system is asked too",
            "cases/all.yaml:2: warning[invisible-characters]: b: its question holds U+200B, which nobody sees",
            "cases/all.yaml:3: warning[invisible-characters]: c: a document id holds U+00A0, which nobody sees",
        ],
    );
}

#[test]
fn questions_that_say_the_same_are_told_apart_by_what_they_expect() {
    check(
        "- {id: a, query: What is the fee?, relevant_doc_ids: [d]}\n- {id: b, query: \"what is... THE fee\", relevant_doc_ids: [d]}\n- {id: c, query: What is the fee?, should_refuse: true}\n",
        &[
            "cases/all.yaml:2: warning[near-duplicate]: b: asks nearly what \"a\" asks: they agree in all of their words, cases/all.yaml:1",
            "cases/all.yaml:3: warning[same-question]: c: asks what \"a\" asks and expects something else, cases/all.yaml:1",
        ],
    );
}

#[test]
fn names_that_differ_in_letter_case_only_are_named() {
    check(
        "- {id: Fee, query: What is the fee?, relevant_doc_ids: [fees], type: Fact}\n- {id: fee, query: Who pays it?, relevant_doc_ids: [Fees], type: fact}\n",
        &[
            "cases/all.yaml:2: warning[ids-differ-in-case]: fee: has the id of \"Fee\" but for letter case, cases/all.yaml:1",
            "cases/all.yaml:2: warning[spelling]: fee: the document id \"Fees\" is \"fees\" but for letter case, cases/all.yaml:1",
            "cases/all.yaml:2: warning[spelling]: fee: the type \"fact\" is \"Fact\" but for letter case, cases/all.yaml:1",
        ],
    );
}

#[test]
fn a_case_that_lacks_what_others_have_and_a_thin_slice_are_named() {
    let project = project(
        "- {id: a, query: What is the fee?, relevant_doc_ids: [d], type: fact, language: en}\n- {id: b, query: Who pays?, relevant_doc_ids: [d], type: fact, language: en}\n- {id: c, query: Qual é a taxa?, relevant_doc_ids: [d], language: pt}\n",
    );
    let rules = fs::read_to_string(project.path().join("thresholds.yaml")).expect("read");
    write(project.path(), "thresholds.yaml", &(rules + "slices: {by: [language], min_cases: 2}\n"));
    let said = passes(project.path(), &["cases", "lint"]);
    assert!(
        said.contains("cases/all.yaml:3: warning[missing-type]: c: no type, unlike others of the set: c\n"),
        "{said}"
    );
    assert!(said.contains("cases/all.yaml:3: warning[thin-slice]: c: the slice language=pt has 1 of the 2 cases that its gates need: c\n"), "{said}");
    assert!(said.ends_with("3 cases, 2 findings: missing-type 1, thin-slice 1\n"), "{said}");
}

#[test]
fn a_known_failure_is_old_when_its_reason_says_so() {
    let case = |reason: &str| {
        format!(
            "- {{id: a, query: What is the fee?, relevant_doc_ids: [d], known_failure: {{metrics: [recall@5], reason: \"{reason}\"}}}}\n"
        )
    };
    let old = lint(&case("until the index is rebuilt, 2001-02-03"), &[]);
    assert!(
        old.out.contains(
            "warning[old-known-failure]: a: is a known failure, and the last day that its reason names is 2001-02-03, "
        ),
        "{}",
        old.out
    );
    check(&case("until the index is rebuilt, since 2001-02-03, again 9999-01-01"), &[]);
    check(&case("no day, no age"), &[]);
}

#[test]
fn a_labelled_question_is_named() {
    let project = project("- {id: a, query: What is the fee?, relevant_doc_ids: [d]}\n");
    fs::create_dir(project.path().join("cases/calibration")).expect("made");
    write(&project.path().join("cases/calibration"), "l.jsonl", "{\"query\": \"what is the FEE\"}\n");
    assert!(
        passes(project.path(), &["cases", "lint"])
            .contains("cases/all.yaml:1: warning[labelled-question]: a: its question is one of the labels")
    );
}

const TWO: &str = "- {id: a, query: \" What is the fee?\"}\n";

#[test]
fn a_code_can_be_left_out_or_made_an_error() {
    let denied = lint(TWO, &["--deny", "outer-blanks"]);
    assert_eq!(denied.code, Some(1));
    assert!(
        denied.out.contains("error[outer-blanks]") && denied.out.contains("warning[nothing-expected]"),
        "{}",
        denied.out
    );
    let allowed = lint(TWO, &["--deny", "all", "--allow", "outer-blanks", "--allow", "nothing-expected"]);
    assert_eq!((allowed.code, allowed.out.as_str()), (Some(0), "1 case, nothing found\n"));
    let both = refuses(project(TWO).path(), &["cases", "lint", "--deny", "spelling", "--allow", "spelling"]);
    assert_eq!(both, "error: spelling is both allowed and denied\n");
    assert!(
        refuses(project(TWO).path(), &["cases", "lint", "--deny", "blanks"])
            .contains("it is `all` or one of nothing-expected, ")
    );
}

#[test]
fn programs_get_findings_and_errors_as_json() {
    let found = lint(TWO, &["--format", "json", "--deny", "outer-blanks"]);
    let found: serde_json::Value = serde_json::from_str(&found.out).expect("JSON");
    assert_eq!((&found["cases"], &found["denied"]), (&1.into(), &1.into()));
    let first = &found["findings"][1];
    assert_eq!(
        (&first["code"], &first["level"], &first["case"], &first["file"], &first["line"], &first["column"]),
        (&"outer-blanks".into(), &"error".into(), &"a".into(), &"cases/all.yaml".into(), &1.into(), &3.into())
    );
    let broken = lint("- {id: a, querry: b}\n", &["--format", "json"]);
    assert_eq!(broken.code, Some(2));
    let errors: serde_json::Value = serde_json::from_str(&broken.out).expect("JSON");
    assert_eq!(
        (&errors["errors"][1]["line"], &errors["errors"][1]["help"]),
        (&1.into(), &"did you mean \"query\"?".into())
    );
    assert!(ends(project("- {id: a, querry: b}\n").path(), &["cases", "lint"], 2).contains("did you mean \"query\"?"));
}

/// The demo's own cases are what a sound set looks like: whatever is said of them is too noisy, or true.
#[test]
fn the_demo_set_is_passed_over() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    assert_eq!(passes(root, &["cases", "lint"]).lines().count(), 1);
}
