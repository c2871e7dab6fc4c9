//! System kind `recorded`: answers that were written down earlier.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use unicode_normalization::UnicodeNormalization;

use super::{
    Asked, BoxFuture, Latency, Question, RagSystem, SetupError, cause,
    excerpt::excerpt,
    setup::shown_path,
    spec::RecordedSpec,
    wire::{Object, Said},
};
use crate::model::{GoldenSet, Unmeasured};

/// Problems of one file that are listed; the rest is counted.
const MAX_PROBLEMS: usize = 50;

/// Ids that a notice names; the rest is counted.
const NAMED: usize = 5;

/// Recorded answers by case id; several of a repeated case, in the order of their lines.
///
/// In a file, each line is one object: the case's `id`, and `response`, `retrieved_contexts`, `usage`, `cost_usd`, `refused`,
/// `latency_ms`, or `error` for a call that failed when it was recorded. See `docs/systems.md` for other names that are read.
#[derive(Debug, Clone)]
pub struct RecordedSystem {
    /// By id under NFC, as cases are told apart.
    by_id: BTreeMap<String, Vec<Entry>>,
    /// The file as errors name it; `None` where answers stand only in the cases.
    file: Option<String>,
}

#[derive(Debug, Clone)]
struct Entry {
    said: Said,
    /// The line in the file; `None` for an answer that stands in its case.
    line: Option<usize>,
}

/// Reads recorded answers: those of the file, and for cases that it lacks those that stand in the cases themselves.
pub fn open(spec: &RecordedSpec, root: &Path, set: &GoldenSet) -> Result<RecordedSystem, SetupError> {
    let mut system = match &spec.samples {
        None => RecordedSystem { by_id: BTreeMap::new(), file: None },
        Some(path) => {
            let file = shown_path(path, root);
            let bytes = fs::read(path)
                .map_err(|error| SetupError::of(format!("{file}: the recorded answers can't be read: {error}")))?;
            RecordedSystem::parse(&file, &bytes, set)?
        }
    };
    let mut problems = Vec::new();
    for case in &set.cases {
        let Some(answer) = &case.recorded else { continue };
        let entries = system.by_id.entry(case.id.nfc()).or_default();
        if !entries.is_empty() {
            continue;
        }
        let said = Said::Answer(Asked { answer: answer.clone(), latency: Latency::Unknown });
        entries.push(Entry { said, line: None });
        let times = case.repeats.times;
        if times > 1 {
            problems.push(format!(
                "{}: `{}` is asked {times} times, and 1 answer is recorded, in the case itself; write {times} lines to a file of `samples`",
                case.place, case.id
            ));
        }
    }
    if problems.is_empty() { Ok(system) } else { Err(SetupError { problems: at_most(problems, "the cases") }) }
}

/// The first problems, and how many more there are.
fn at_most(mut problems: Vec<String>, of: &str) -> Vec<String> {
    if problems.len() > MAX_PROBLEMS {
        let more = problems.len() - MAX_PROBLEMS;
        problems.truncate(MAX_PROBLEMS);
        problems.push(format!("{of}: and {more} more problems"));
    }
    problems
}

impl RecordedSystem {
    /// Reads JSON lines; `file` is the name that errors give them. A byte order mark, CRLF and blank lines are fine; only LF ends a line.
    ///
    /// Of a case of the set that is asked several times, as many lines are its repeats; of any other id, one line.
    pub fn parse(file: &str, bytes: &[u8], set: &GoldenSet) -> Result<Self, SetupError> {
        let times: BTreeMap<String, usize> = set
            .cases
            .iter()
            .filter(|case| case.repeats.times > 1)
            .map(|case| (case.id.nfc(), case.repeats.times))
            .collect();
        let mut by_id = BTreeMap::<String, Vec<Entry>>::new();
        let mut problems = Vec::new();
        let start = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let mut offset = start;
        for (index, raw) in bytes[start..].split(|byte| *byte == b'\n').enumerate() {
            let number = index + 1;
            let line = match std::str::from_utf8(raw) {
                Ok(line) => line.strip_suffix('\r').unwrap_or(line),
                Err(error) => {
                    problems.push(format!(
                        "{file}:{number}: byte {} of the file is not UTF-8",
                        offset + error.valid_up_to()
                    ));
                    ""
                }
            };
            offset += raw.len() + 1;
            if line.trim().is_empty() {
                continue;
            }
            let is_first = by_id.is_empty() && problems.is_empty();
            if is_first && (line.trim() == "{" || line.starts_with('[')) {
                let hint = "recorded answers are JSON lines: one object a line, no list around them";
                return Err(SetupError::of(format!("{file}:{number}: {hint}")));
            }
            match read_line(line) {
                Err(found) => problems.extend(found.into_iter().map(|problem| format!("{file}:{number}{problem}"))),
                Ok((id, said)) => {
                    let key: String = id.nfc().collect();
                    let is_repeated = times.contains_key(&key);
                    let entries = by_id.entry(key).or_default();
                    match entries.first() {
                        Some(Entry { line: Some(first), .. }) if !is_repeated => {
                            problems.push(format!("{file}:{number}: the id `{id}` stands also in line {first}"));
                        }
                        Some(_) | None => entries.push(Entry { said, line: Some(number) }),
                    }
                }
            }
        }
        if by_id.is_empty() && problems.is_empty() {
            problems.push(format!("{file}: no recorded answer in it"));
        }
        for (id, times) in &times {
            let Some(entries) = by_id.get(id).filter(|entries| entries.len() != *times) else { continue };
            let lines: Vec<String> =
                entries.iter().take(NAMED).filter_map(|entry| entry.line).map(|line| line.to_string()).collect();
            let more = if entries.len() > NAMED { ", ..." } else { "" };
            let answers = if entries.len() == 1 { "answer is" } else { "answers are" };
            problems.push(format!(
                "{file}: `{id}` is asked {times} times, and {} {answers} recorded (line {}{more}); record {times}, or change `repeats.times`",
                entries.len(),
                lines.join(", ")
            ));
        }
        let problems = at_most(problems, file);
        if problems.is_empty() { Ok(Self { by_id, file: Some(file.to_owned()) }) } else { Err(SetupError { problems }) }
    }

    /// Ids of the file that no case of the set has, with their lines, in the order of the file.
    pub fn unused(&self, set: &GoldenSet) -> Vec<(usize, &str)> {
        let cases: BTreeSet<String> = set.cases.iter().map(|case| case.id.nfc()).collect();
        let unused = self.by_id.iter().filter(|(id, _)| !cases.contains(*id));
        let lines = unused.flat_map(|(id, entries)| entries.iter().map(move |entry| (entry.line, id.as_str())));
        let mut unused: Vec<_> = lines.filter_map(|(line, id)| Some((line?, id))).collect();
        unused.sort_unstable();
        unused
    }

    pub(crate) fn answer(&self, question: &Question) -> Result<Asked, Unmeasured> {
        let place = question.repeat.map_or(0, |repeat| repeat.saturating_sub(1));
        match self.by_id.get(&question.case_id.nfc()).and_then(|entries| entries.get(place)).map(|entry| &entry.said) {
            // No time was measured; that of the look-up would be a lie that any limit on latency passes as well.
            Some(Said::Answer(asked)) => {
                let latency = match asked.latency {
                    Latency::Measured => Latency::Unknown,
                    stated @ (Latency::Stated(_) | Latency::Unknown) => stated,
                };
                Ok(Asked { latency, answer: asked.answer.clone() })
            }
            Some(Said::Error(why)) => Err(Unmeasured::new(cause::ERROR, format!("recorded as an error: {why}"))),
            None => Err(Unmeasured::new(cause::MISSING, self.missing())),
        }
    }

    fn missing(&self) -> String {
        match &self.file {
            Some(file) => format!("{file} has no line with this id, and the case itself has no `response`"),
            None => "the case has no `response`, and `system` names no file of `samples`".to_owned(),
        }
    }
}

/// The id and what was recorded under it, or problems that start with `: ` or with a column.
fn read_line(line: &str) -> Result<(String, Said), Vec<String>> {
    let object =
        Object::parse(line).map_err(|error| vec![format!(":{}: not a JSON object: {}", error.column, error.why)])?;
    let (id, mut problems) = match object.id() {
        Ok(Some(id)) => (Some(id), Vec::new()),
        Ok(None) => (None, vec!["no `id`".to_owned()]),
        Err(problem) => (None, vec![problem]),
    };
    let said = object.said().map_err(|found| problems.extend(found)).ok();
    match (id, said) {
        (Some(id), Some(said)) => Ok((id, said)),
        (id, _) => {
            let of = id.map(|id| format!(" (id `{}`)", excerpt(&id, 60))).unwrap_or_default();
            Err(problems.into_iter().map(|problem| format!(": {problem}{of}")).collect())
        }
    }
}

impl RagSystem for RecordedSystem {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Asked, Unmeasured>> {
        Box::pin(std::future::ready(self.answer(question)))
    }

    fn notices(&self, set: &GoldenSet) -> Vec<String> {
        let unused = self.unused(set);
        let (Some(file), false) = (&self.file, unused.is_empty()) else { return Vec::new() };
        let named: Vec<_> = unused.iter().take(NAMED).map(|(line, id)| format!("`{id}` (line {line})")).collect();
        let more = unused.len() - named.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let answers = if unused.len() == 1 { "answer has" } else { "answers have" };
        vec![format!("{file}: {} recorded {answers} no case: {}{more}", unused.len(), named.join(", "))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Answer, CaseId, Expectation, GoldenCase, Language, Place, RetrievedContext};

    fn case(id: &str, recorded: Option<Answer>) -> GoldenCase {
        GoldenCase {
            id: CaseId::new(id).expect("a valid id"),
            query: "why?".to_owned(),
            references: Vec::new(),
            relevant: None,
            reference_contexts: Vec::new(),
            expectation: Expectation::Answer,
            kind: None,
            difficulty: None,
            language_tag: None,
            language: Language::En,
            tags: Vec::new(),
            document: None,
            metadata: BTreeMap::new(),
            bars: BTreeMap::new(),
            known_failure: None,
            repeats: crate::model::Repeats::default(),
            recorded,
            group: "all".to_owned(),
            place: Place::default(),
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

    /// The set of one case that is asked three times.
    fn thrice(recorded: Option<Answer>) -> GoldenSet {
        let repeats = crate::model::Repeats { times: 3, reduce: None };
        GoldenSet {
            cases: vec![GoldenCase { repeats, ..case("a", recorded) }, case("b", None)],
            ..GoldenSet::default()
        }
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
}
