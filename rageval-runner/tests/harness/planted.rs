//! Nothing that a gate prints is a command of a build server, whatever stands in answers, verdicts, ids, errors and names of files.

use std::fmt::Write as _;

use crate::fixture::{Project, RECALL, Ran};

crate::tests![
    no_line_of_a_red_gate_is_a_command_of_an_answer,
    no_line_of_a_process_of_its_own_is_one,
    no_line_about_a_file_of_the_project_is_one,
    the_check_sees_a_command,
];

/// Commands behind everything that ends a line for somebody: line feed, carriage return, both, next line, line and paragraph separator, vertical
/// tab, form feed; and after blanks, which runners skip. In YAML between double quotes.
const PLANTED: &str = r"::error file=a::planted\n::error::planted\r::set-output name=a::planted\r\n::add-mask::planted\N::group::planted\L::warning::planted\P::stop-commands::planted\v::notice::planted\f::debug::planted\n   ::save-state name=a::planted\n\t##[group planted\n##[error planted\n##vso[task.complete planted\e[31m\n\e[0m::error::planted";

/// The same in JSON.
fn planted_json() -> String {
    PLANTED
        .replace(r"\N", r"\u0085")
        .replace(r"\L", r"\u2028")
        .replace(r"\P", r"\u2029")
        .replace(r"\v", r"\u000b")
        .replace(r"\e", r"\u001b")
}

/// Lines that a runner takes for a command: GitHub's skip blanks, and the older form counts wherever it stands.
fn commands(ran: &Ran) -> Vec<String> {
    let ends_a_line = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}', '\u{b}', '\u{c}'];
    let lines = ran.stdout.split(ends_a_line).chain(ran.stderr.split(ends_a_line));
    let is_command = |line: &&str| {
        let start = line.trim_start_matches(|c: char| c.is_whitespace() || c.is_control());
        start.starts_with("::") || line.contains("##[") || line.contains("##vso[")
    };
    lines.filter(is_command).map(str::to_owned).collect()
}

#[track_caller]
fn check(ran: &Ran) {
    assert_eq!(commands(ran), Vec::<String>::new(), "\n--- stdout\n{}\n--- stderr\n{}", ran.stdout, ran.stderr);
}

const RULES: &str = "version: 1\nsystem: {kind: function, timeout: 2s}\njudge: {provider: scripted, replies: replies.jsonl}\n\
    waive: {calibration: {reason: 'a ::error::planted fixture', until: 2999-12-31}}\nmetrics:\n  faithfulness: {min: 0.9, mean: {min: 0.9}}\n  \
    context_precision: {min: 0.9}\n  answer_correctness: {min: 0.9}\n  recall@5: {min: 0.9, mean: {min: 0.9}, bottom10: {min: 0.9}}\nslices: {by: [type], min_cases: 1}\n";

/// Cases of which every text is planted: an answer, a document, an error, a panic, a name of a model, a reason, a slice.
fn project() -> Project {
    let case = |id: &str, query: &str| {
        format!(
            "- id: \"{id}\"\n  query: \"{query} {PLANTED}\"\n  ground_truth_answer: \"{PLANTED}\"\n  relevant_doc_ids: [\"::error::planted\"]\n  type: \"::error::planted\"\n"
        )
    };
    let mut cases = String::new();
    cases.push_str(&case("answers", &format!("a [answer: {PLANTED}]")));
    cases.push_str(&case("::error::planted", &format!("b [answer: {PLANTED}] [found: {}]", PLANTED.replace(' ', "_"))));
    cases.push_str(&case("fails", &format!("c [error: {PLANTED}]")));
    cases.push_str(&case("panics", &format!("d [panic: {PLANTED}]")));
    cases.push_str(&case("written", &format!("e [written by: {PLANTED}]")));
    cases.push_str(&case("known", &format!("f [answer: {PLANTED}]")));
    let _ = writeln!(cases, "  known_failure: {{metrics: [recall@5], reason: \"{PLANTED}\"}}");
    let project = Project::new(RULES, &cases);
    let text = planted_json();
    let judged = format!(
        r#"{{"request": "faithfulness.verdicts", "case": "*", "value": {{"sentences": [{{"n": 1, "claims": [{{"claim": "{text}", "verdict": "unsupported", "evidence": "{text}", "reason": "{text}"}}]}}]}}}}"#
    );
    let unreadable = format!(r#"{{"request": "*", "case": "*", "text": "{text}"}}"#);
    project.write("replies.jsonl", &format!("{judged}\n{unreadable}\n"));
    project
}

const IN_CI: [(&str, &str); 2] = [("CI", "true"), ("GITHUB_ACTIONS", "true")];

fn no_line_of_a_red_gate_is_a_command_of_an_answer() {
    let project = project();
    for variables in [&IN_CI[..], &[]] {
        for arguments in [&[][..], &["--nocapture"], &["--test-threads", "1"], &["--list"]] {
            let ran = project.run_with(arguments, variables);
            check(&ran);
            if arguments != ["--list"] {
                ran.ends_with(101).says("answer      ::error file=a::planted");
            }
        }
    }
}

fn no_line_of_a_process_of_its_own_is_one() {
    let project = project();
    for name in ["case::all::answers", "case::all::fails", "case::all::panics", "gate::recall@5::mean", "gate::setup"] {
        let nextest = [("NEXTEST", "1"), ("NEXTEST_RUN_ID", "r"), ("CI", "true")];
        let ran = project.run_with(&["--exact", name, "--nocapture"], &nextest);
        check(&ran);
        assert!(ran.stderr.contains("Error: ") || ran.code == Some(0), "{name}: {}", ran.stderr);
    }
}

#[cfg(unix)]
fn no_line_about_a_file_of_the_project_is_one() {
    let project = Project::new(RECALL, crate::fixture::FINE);
    for folder in ["snapshots", "tests/snapshots"] {
        project
            .write(&format!("{folder}/::error title=a::planted.snap"), "---\nsource: a\n---\nfaithfulness: 1 of 1\n");
        project.write(&format!("{folder}/a\n::error::planted.snap"), "---\nsource: a\n---\nfaithfulness: 1 of 1\n");
    }
    project.write("cases/::error::planted.yaml", "- {id: [::error::planted\n");
    project.write("cases/b\n::error::planted.yaml", "::error::planted\n\r::error::planted\n");
    let broken = project.run_with(&[], &IN_CI);
    check(&broken);
    broken.ends_with(101).says("planted.yaml");
    project.write("cases/::error::planted.yaml", "- {id: x, query: q}\n");
    project.write("cases/b\n::error::planted.yaml", "- {id: y, query: q}\n");
    project.write("thresholds.yaml", &format!("{RECALL}snapshots: {{orphans: fail}}\n"));
    check(&project.run_with(&[], &IN_CI));
}

#[cfg(not(unix))]
fn no_line_about_a_file_of_the_project_is_one() {
    // Such names can't be made there.
}

fn the_check_sees_a_command() {
    for text in ["a\n::error::x", "a\r ::error::x", "a\u{2028}\t::add-mask::x", "say ##[group]x", "\u{1b}::x"] {
        let ran = Ran { code: None, stdout: String::new(), stderr: text.to_owned() };
        assert_eq!(commands(&ran).len(), 1, "{text:?}");
    }
    let fine =
        Ran { code: None, stdout: "test case::a::b ... ok\nanswer      ::error::x".to_owned(), stderr: String::new() };
    assert_eq!(commands(&fine), Vec::<String>::new());
}
