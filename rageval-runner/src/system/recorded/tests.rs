//! Lines as they are recorded, and those that are none.

use std::fs;

use super::*;
use crate::model::{CaseId, GoldenCase, RetrievedContext};

fn case(id: &str, recorded: Option<Answer>) -> GoldenCase {
    GoldenCase {
        recorded: recorded.map(Arc::new),
        group: "all".to_owned(),
        ..GoldenCase::new(CaseId::new(id).expect("a valid id"), "why?")
    }
}

fn set(ids: &[&str]) -> GoldenSet {
    GoldenSet { cases: ids.iter().map(|id| case(id, None)).collect(), ..GoldenSet::default() }
}

#[track_caller]
fn parse(text: &str) -> RecordedSystem {
    RecordedSystem::parse("a.jsonl", text.as_bytes(), &GoldenSet::default()).expect("readable lines")
}

fn problems(bytes: &[u8]) -> Vec<String> {
    RecordedSystem::parse("a.jsonl", bytes, &GoldenSet::default()).expect_err("problems").problems
}

fn ask(system: &RecordedSystem, id: &str) -> Result<Asked, Unmeasured> {
    system.answer(&Question::from(&case(id, None)))
}

#[test]
fn an_answer_is_found_by_its_id_under_nfc() {
    let system = parse("{\"id\": \"ac\u{327}a\u{303}o\", \"response\": \"12\", \"latency_ms\": 4}\n");
    let asked = ask(&system, "ação").expect("an answer");
    assert_eq!((asked.answer.response.as_str(), asked.latency), ("12", Latency::Stated(4.0)));
}

#[test]
fn marks_line_ends_and_separators_do_not_disturb() {
    let text =
        "\u{feff}{\"id\": \"a\", \"answer\": \"x\u{2028}y\u{85}z\"}\r\n\r\n  \n{\"id\": \"b\", \"answer\": \"\"}";
    let system = parse(text);
    assert_eq!(ask(&system, "a").expect("an answer").answer.response, "x\u{2028}y\u{85}z");
    assert_eq!(ask(&system, "b").expect("an answer").answer.response, "");
}

#[test]
fn a_case_without_a_line_is_unmeasured() {
    let fault = ask(&parse(r#"{"id": "a", "answer": ""}"#), "A").expect_err("a fault");
    assert_eq!(fault.cause, cause::MISSING);
    assert_eq!(fault.why, "a.jsonl has no line with this id, and the case itself has no `response`");
}

#[test]
fn a_recorded_error_is_an_error_again() {
    let fault = ask(&parse(r#"{"id": "a", "error": "HTTP 500"}"#), "a").expect_err("a fault");
    assert_eq!((fault.cause.as_str(), fault.why.as_str()), (cause::ERROR, "recorded as an error: HTTP 500"));
}

#[test]
fn all_problems_of_a_file_come_at_once() {
    let text = "{\"id\": \"a\", \"answer\": \"\"}\n{\"answer\": \"\"}\n{\"id\": \"a\", \"answer\": \"\"}\n\
                {\"id\": \"c\", \"contexts\": \"text\"}\n{\"id\": \"d\", \"answer\": \"cut\n";
    let expected = [
        "a.jsonl:2: no `id`",
        "a.jsonl:3: the id `a` stands also in line 1",
        "a.jsonl:4: no `response` (or `answer`, `actual_output`) (id `c`)",
        "a.jsonl:4: `contexts` must be a list of texts or `{id, text}`, got the text \"text\" (id `c`)",
        "a.jsonl:5:26: not a JSON object: EOF while parsing a string",
    ];
    assert_eq!(problems(text.as_bytes()), expected);
}

#[test]
fn the_byte_that_is_no_utf_8_is_named() {
    let bytes = b"\xef\xbb\xbf{\"id\": \"a\", \"answer\": \"\"}\n{\"id\": \"b\", \"answer\": \"caf\xe9\"}";
    let at = bytes.iter().position(|byte| *byte == 0xe9).expect("the byte");
    assert_eq!(problems(bytes), [format!("a.jsonl:2: byte {at} of the file is not UTF-8")]);
}

#[test]
fn another_shape_of_file_is_told_apart() {
    for text in ["[{\"id\": \"a\", \"answer\": \"\"}]", "[\n{\"id\": \"a\"}\n]", "{\n  \"id\": \"a\"\n}"] {
        let hint = "a.jsonl:1: recorded answers are JSON lines: one object a line, no list around them";
        assert_eq!(problems(text.as_bytes()), [hint]);
    }
    assert_eq!(problems(b"\n"), ["a.jsonl: no recorded answer in it"]);
}

#[test]
fn a_flood_of_problems_is_counted() {
    let found = problems("x\n".repeat(60).as_bytes());
    assert_eq!((found.len(), found[50].as_str()), (51, "a.jsonl: and 10 more problems"));
}

#[test]
fn answers_that_no_case_asks_for_are_a_notice() {
    let lines: String = (1..=7).map(|n| format!("{{\"id\": \"q{n}\", \"answer\": \"\"}}\n")).collect();
    let system = parse(&lines);
    assert_eq!(system.notices(&set(&["q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8"])), Vec::<String>::new());
    let expected = "a.jsonl: 6 recorded answers have no case: `q1` (line 1), `q2` (line 2), `q4` (line 4), `q5` (line 5), \
                    `q6` (line 6) and 1 more";
    assert_eq!(system.notices(&set(&["q3"])), [expected]);
    assert_eq!(
        parse(r#"{"id": "z", "answer": ""}"#).notices(&set(&["q3"])),
        ["a.jsonl: 1 recorded answer has no case: `z` (line 1)"]
    );
}

#[test]
fn an_answer_in_the_case_counts_where_the_file_has_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.jsonl");
    fs::write(&path, r#"{"id": "a", "answer": "file"}"#).expect("a file");
    let recorded = |text: &str| Some(Answer::new(text).with_contexts([RetrievedContext::new("d", "t")]));
    let set =
        GoldenSet { cases: vec![case("a", recorded("case")), case("b", recorded("case"))], ..GoldenSet::default() };

    let both = open(&RecordedSpec { samples: Some(path) }, folder.path(), &set).expect("a system");
    assert_eq!(ask(&both, "a").expect("an answer").answer.response, "file");
    assert_eq!(ask(&both, "b").expect("an answer").answer.response, "case");
    assert_eq!(both.notices(&set), Vec::<String>::new());

    let alone = open(&RecordedSpec::default(), folder.path(), &set).expect("a system");
    assert_eq!(ask(&alone, "a").expect("an answer").answer.response, "case");
    assert_eq!(
        ask(&alone, "c").expect_err("a fault").why,
        "the case has no `response`, and `system` names no file of `samples`"
    );
}

#[test]
fn a_file_that_changes_during_a_run_gives_no_answers() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.jsonl");
    fs::write(&path, "{\"id\": \"a\", \"answer\": \"one\"}\n{\"id\": \"b\", \"answer\": \"two\"}\n").expect("a file");
    let spec = RecordedSpec { samples: Some(path.clone()) };
    let system = open(&spec, folder.path(), &set(&["a", "b"])).expect("a system");
    assert_eq!(ask(&system, "b").expect("an answer").answer.response, "two");
    fs::write(&path, "{\"id\": \"a\", \"answer\": \"one\"}\n{\"id\": \"b\", \"answer\": \"six\"}\n").expect("a file");
    assert_eq!(ask(&system, "a").expect("an answer").answer.response, "one");
    let fault = ask(&system, "b").expect_err("a fault");
    let why = "a.jsonl:2: the file changed since it was opened";
    assert_eq!((fault.cause.as_str(), fault.why.as_str()), (cause::ERROR, why));
    fs::write(&path, "").expect("a file");
    let fault = ask(&system, "a").expect_err("a fault");
    assert!(fault.why.starts_with("a.jsonl:1: "), "{}", fault.why);
}

#[cfg(unix)]
#[test]
fn answers_that_come_out_of_a_pipe_are_read_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.jsonl");
    let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo");
    assert!(made.success());
    let writer = std::thread::spawn({
        let path = path.clone();
        move || fs::write(path, lines(&["a", "b"]))
    });
    let system = open(&RecordedSpec { samples: Some(path) }, folder.path(), &set(&["a", "b"])).expect("a system");
    writer.join().expect("a thread").expect("written");
    assert_eq!(ask(&system, "b").expect("an answer").answer.response, "1");
    assert_eq!(ask(&system, "a").expect("an answer").answer.response, "0");
}

/// The set of one case that is asked three times.
fn thrice(recorded: Option<Answer>) -> GoldenSet {
    let repeats = crate::model::Repeats { times: 3, reduce: None };
    GoldenSet { cases: vec![GoldenCase { repeats, ..case("a", recorded) }, case("b", None)], ..GoldenSet::default() }
}

fn lines(ids: &[&str]) -> String {
    let line = |(at, id): (usize, &&str)| format!("{{\"id\": \"{id}\", \"answer\": \"{at}\"}}\n");
    ids.iter().enumerate().map(line).collect()
}

#[test]
fn the_lines_of_a_repeated_case_are_its_repeats_in_their_order() {
    let set = thrice(None);
    let text = lines(&["a", "b", "a", "a"]);
    let system = RecordedSystem::parse("a.jsonl", text.as_bytes(), &set).expect("readable lines");
    let response = |repeat| {
        let question = Question { repeat: Some(repeat), ..Question::from(&set.cases[0]) };
        system.answer(&question).map(|asked| asked.answer.response)
    };
    assert_eq!([response(1), response(2), response(3)], ["0", "2", "3"].map(|text| Ok(text.to_owned())));
    assert_eq!(system.unused(&set), []);
    assert_eq!(system.unused(&GoldenSet::default()), [(1, "a"), (2, "b"), (3, "a"), (4, "a")]);
}

#[test]
fn another_number_of_lines_than_repeats_is_refused_with_both_numbers() {
    let parse = |ids: &[&str]| RecordedSystem::parse("a.jsonl", lines(ids).as_bytes(), &thrice(None)).map(|_| ());
    let problem = |text: &str| Err(SetupError::of(text));
    let advice = "record 3, or change `repeats.times`";
    assert_eq!(
        parse(&["a", "b", "a"]),
        problem(&format!("a.jsonl: `a` is asked 3 times, and 2 answers are recorded (line 1, 3); {advice}"))
    );
    assert_eq!(
        parse(&["a"]),
        problem(&format!("a.jsonl: `a` is asked 3 times, and 1 answer is recorded (line 1); {advice}"))
    );
    let many = problem(&format!(
        "a.jsonl: `a` is asked 3 times, and 6 answers are recorded (line 1, 2, 3, 4, 5, ...); {advice}"
    ));
    assert_eq!(parse(&["a"; 6]), many);
    assert_eq!(parse(&["b", "b"]), problem("a.jsonl:2: the id `b` stands also in line 1"));
    assert_eq!(parse(&["b"]), Ok(()), "a case without any answer is unmeasured, as one that is asked once");
}

#[test]
fn one_answer_in_a_repeated_case_is_not_enough() {
    let set = thrice(Some(Answer::new("in the case")));
    let error = open(&RecordedSpec::default(), Path::new("."), &set).expect_err("an error").to_string();
    assert!(error.contains("`a` is asked 3 times, and 1 answer is recorded, in the case itself"), "{error}");
}

#[test]
fn a_file_that_is_not_there_is_named_from_the_policy() {
    let folder = tempfile::tempdir().expect("a folder");
    let spec = RecordedSpec { samples: Some(folder.path().join("runs/a.jsonl")) };
    let error = open(&spec, folder.path(), &set(&["a"])).expect_err("an error").to_string();
    assert!(error.starts_with("runs/a.jsonl: the recorded answers can't be read: "), "{error}");
}
