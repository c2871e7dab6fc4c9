//! The `scripted` judge: replies from a file or from code, for tests.
//!
//! The format, with examples, is in `docs/scripted-judge.md`.

mod entry;

use std::{fmt, time::Duration};

use serde_json::Value;

pub use entry::{ANY_CASE, Entry, MAX_DELAY_MS};

use super::{Judge, Judged, reply::strict};
use crate::{
    model::{CaseId, Ending, JudgeRequest, Reply, case::Fields, run::JudgeStamp},
    system::BoxFuture,
};

/// A judge whose replies are written down beforehand, by request name and case.
///
/// What it answers depends on the request alone: on its name, its case, its `sample` and its `retry`, never on what was asked before.
///
/// ```
/// use rageval_runner::judge::scripted::Scripted;
/// use rageval_runner::model::Ending;
/// use serde_json::json;
///
/// let judge = Scripted::new()
///     .reply("refusal_correctness.verdict", "*", json!({"refused": false}))
///     .text("faithfulness.verdicts", "refund-window", "I would rather not say.")
///     .end("faithfulness.verdicts", "*", Ending::TimeOut, "no answer for 60 s");
/// assert_eq!(judge.entries().len(), 3);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scripted {
    entries: Vec<Entry>,
}

/// Everything that is wrong with a script, by line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ScriptError {
    /// Line (or place in the list of entries), from 1, and what is wrong there.
    pub problems: Vec<(usize, String)>,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<_> = self.problems.iter().map(|(line, what)| format!("line {line}: {what}")).collect();
        write!(f, "the judge's script cannot be used:\n{}", lines.join("\n"))
    }
}

impl Scripted {
    /// A judge without any reply: every request ends as [`Ending::Missing`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads JSON lines: one [`Entry`] a line, blank lines skipped, a byte-order mark and CRLF accepted.
    ///
    /// # Errors
    /// All problems of all lines: no JSON object, an unknown key, not exactly one of `value`, `text` and `end`, a reply nobody can get.
    pub fn from_text(text: &str) -> Result<Self, ScriptError> {
        let mut problems = Vec::new();
        let mut entries = Vec::new();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (line, number) in text.split('\n').zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
            let entry = strict::read(line).and_then(serde_json::from_value::<Entry>);
            match entry {
                Ok(entry) => entries.push((number, entry)),
                Err(error) => problems.push((number, error.to_string())),
            }
        }
        Self::checked(entries, problems)
    }

    /// Takes entries that were read elsewhere, from YAML for example; problems are placed by their position in the list.
    ///
    /// # Errors
    /// All problems of all entries, as in [`Scripted::from_text`].
    pub fn from_entries(entries: impl IntoIterator<Item = Entry>) -> Result<Self, ScriptError> {
        Self::checked((1..).zip(entries).collect(), Vec::new())
    }

    fn checked(placed: Vec<(usize, Entry)>, mut problems: Vec<(usize, String)>) -> Result<Self, ScriptError> {
        for (index, (line, entry)) in placed.iter().enumerate() {
            problems.extend(entry.problem().map(|problem| (*line, problem)));
            let is_numbered = entry.sample.is_some() || entry.retry.is_some();
            let before = placed.iter().take(index).find(|(_, other)| is_numbered && other.has_key_of(entry));
            if let Some((other, _)) = before {
                problems.push((*line, format!("line {other} has the same request, case, sample and retry")));
            }
        }
        problems.sort();
        if problems.is_empty() {
            Ok(Self { entries: placed.into_iter().map(|(_, entry)| entry).collect() })
        } else {
            Err(ScriptError { problems })
        }
    }

    /// Adds a reply that was read.
    #[must_use]
    pub fn reply(self, request: &str, case: &str, value: Value) -> Self {
        self.entry(Entry { value: Some(value), ..Entry::blank(request, case) })
    }

    /// Adds a raw reply, which is read by [`read_object`](super::reply::read_object) when asked for.
    #[must_use]
    pub fn text(self, request: &str, case: &str, text: &str) -> Self {
        self.entry(Entry { text: Some(text.to_owned()), ..Entry::blank(request, case) })
    }

    /// Adds an ending without a reply.
    #[must_use]
    pub fn end(self, request: &str, case: &str, ending: Ending, why: &str) -> Self {
        self.entry(Entry { end: Some(ending), why: Some(why.to_owned()), ..Entry::blank(request, case) })
    }

    /// Adds an entry as it is, for a sample, a retry or a delay of its own. One that holds no reply answers [`Ending::Missing`].
    #[must_use]
    pub fn entry(mut self, entry: Entry) -> Self {
        self.entries.push(entry);
        self
    }

    /// Its entries in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Digest over its entries in order: 32 hex digits. Blank lines and the order of keys don't count.
    pub fn digest(&self) -> String {
        let mut fields = Fields::default();
        for entry in &self.entries {
            let number = |number: Option<u64>| number.map_or_else(String::new, |number| number.to_string());
            fields.add("request", &entry.request);
            fields.add("case", &entry.case);
            fields.add("sample", &number(entry.sample.map(u64::from)));
            fields.add("retry", &number(entry.retry.map(u64::from)));
            fields.add("value", &entry.value.as_ref().map_or_else(String::new, Value::to_string));
            // Told apart from an absent text by its first letter.
            fields.add("text", &entry.text.as_ref().map_or_else(String::new, |text| format!("t{text}")));
            fields.add("end", entry.end.map_or("", Ending::cause));
            fields.add("why", entry.why.as_deref().unwrap_or_default());
            fields.add("delay", &number(entry.delay_ms));
        }
        fields.finish()
    }

    /// The entry that answers a request of a case.
    ///
    /// Entries of the case itself come before those for every case. Among either, the first kind that has a fitting entry wins: `sample`
    /// and `retry` stated and equal; only `sample`; only `retry`; neither. Of several entries with neither, in the order of the
    /// script, the one at place 2 x sample + retry (from 0) answers, and the last for all places beyond.
    pub fn find(&self, case: &CaseId, request: &JudgeRequest) -> Option<&Entry> {
        let named: Vec<_> = self.entries.iter().filter(|entry| entry.request == request.name).collect();
        let own = named.iter().copied().filter(|entry| entry.is_of(case));
        let shared = named.iter().copied().filter(|entry| entry.case == ANY_CASE);
        fitting(&own.collect::<Vec<_>>(), request).or_else(|| fitting(&shared.collect::<Vec<_>>(), request))
    }

    /// What it answers to a request of a case, without the delay.
    pub fn answer(&self, case: &CaseId, request: &JudgeRequest) -> Reply {
        match self.find(case, request) {
            Some(entry) => entry.reply(),
            None => Reply::Failed {
                ending: Ending::Missing,
                why: format!(
                    "the script has no reply to `{}` for case `{case}` (sample {}, retry {})",
                    request.name, request.sample, request.retry
                ),
            },
        }
    }
}

fn fitting<'a>(entries: &[&'a Entry], request: &JudgeRequest) -> Option<&'a Entry> {
    let stated = |sample: Option<u32>, retry: Option<u32>| {
        entries.iter().find(move |entry| entry.sample == sample && entry.retry == retry).copied()
    };
    let (sample, retry) = (Some(request.sample), Some(request.retry));
    stated(sample, retry).or_else(|| stated(sample, None)).or_else(|| stated(None, retry)).or_else(|| {
        let open: Vec<_> = entries.iter().filter(|entry| entry.sample.is_none() && entry.retry.is_none()).collect();
        let place = 2 * u64::from(request.sample) + u64::from(request.retry);
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        open.get(place).or_else(|| open.last()).map(|entry| **entry)
    })
}

impl Judge for Scripted {
    fn stamp(&self) -> JudgeStamp {
        let digest = self.digest();
        JudgeStamp { provider: "scripted".to_owned(), model: digest.clone(), fingerprint: digest }
    }

    /// Whether no reply depends on the sample: no entry states one, and no request of a case has several entries without numbers.
    fn is_deterministic(&self) -> bool {
        self.entries.iter().enumerate().all(|(index, entry)| {
            let before = self.entries.iter().take(index);
            let is_second = entry.retry.is_none() && before.into_iter().any(|other| other.has_key_of(entry));
            entry.sample.is_none() && !is_second
        })
    }

    fn ask<'a>(&'a self, case: &'a CaseId, request: &'a JudgeRequest) -> BoxFuture<'a, Judged> {
        Box::pin(async move {
            let delay_ms = self.find(case, request).and_then(|entry| entry.delay_ms).unwrap_or(0).min(MAX_DELAY_MS);
            if delay_ms > 0 {
                tokio::time::sleep(Duration::from_millis(delay_ms)).await;
            }
            self.answer(case, request).into()
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        metric::{faithfulness::Faithfulness, trying::Try},
        model::{Language, Outcome, RetrievedContext, UnitInterval},
    };

    const NAME: &str = "faithfulness.verdicts";

    fn case(id: &str) -> CaseId {
        CaseId::new(id).expect("a valid id")
    }

    /// What the judge answers, as short text: a value as JSON, an ending as its cause.
    fn says(judge: &Scripted, id: &str, sample: u32, retry: u32) -> String {
        let request = JudgeRequest { sample, retry, ..JudgeRequest::new(NAME, Language::En) };
        match judge.answer(&case(id), &request) {
            Reply::Value { value } => value.to_string(),
            Reply::Failed { ending, .. } => ending.cause().to_owned(),
        }
    }

    fn numbered(sample: Option<u32>, retry: Option<u32>, value: i32) -> Entry {
        Entry { sample, retry, value: Some(json!(value)), ..Entry::blank(NAME, "*") }
    }

    fn script(lines: &[&str]) -> Scripted {
        Scripted::from_text(&lines.join("\n")).expect("a script")
    }

    fn problems(text: &str) -> Vec<(usize, String)> {
        Scripted::from_text(text).expect_err("a script with problems").problems
    }

    #[test]
    fn a_cases_own_entries_come_before_those_for_every_case() {
        let judge =
            Scripted::new().reply(NAME, "*", json!(0)).reply(NAME, "a", json!(1)).reply("other.step", "b", json!(2));
        assert_eq!(says(&judge, "a", 0, 0), "1");
        assert_eq!(says(&judge, "b", 0, 0), "0");
        let own_retry = Entry { retry: Some(1), value: Some(json!(3)), ..Entry::blank(NAME, "b") };
        let judge = judge.entry(own_retry);
        assert_eq!(says(&judge, "b", 0, 0), "0");
        assert_eq!(says(&judge, "b", 0, 1), "3");
    }

    #[test]
    fn ids_are_told_apart_under_nfc() {
        let judge = Scripted::new().reply(NAME, "ac\u{327}a\u{303}o", json!(1));
        assert_eq!(says(&judge, "ação", 0, 0), "1");
        assert_eq!(says(&judge, "Ação", 0, 0), "judge reply not stored");
    }

    #[test]
    fn entries_without_numbers_answer_in_order_and_the_last_for_all_beyond() {
        let judge = Scripted::new().reply(NAME, "*", json!(0)).reply(NAME, "*", json!(1)).reply(NAME, "*", json!(2));
        let said = [(0, 0), (0, 1), (1, 0), (1, 1), (7, 0), (u32::MAX, u32::MAX)].map(|(s, r)| says(&judge, "a", s, r));
        assert_eq!(said, ["0", "1", "2", "2", "2", "2"]);
        assert_eq!(says(&judge, "a", 0, 0), "0", "what was asked before does not count");
    }

    #[test]
    fn the_more_an_entry_states_the_sooner_it_is_taken() {
        let judge = Scripted::new()
            .entry(numbered(None, None, 0))
            .entry(numbered(None, Some(1), 1))
            .entry(numbered(Some(2), None, 2))
            .entry(numbered(Some(2), Some(1), 3));
        let said = [(0, 0), (0, 1), (2, 0), (2, 1), (3, 1)].map(|(s, r)| says(&judge, "a", s, r));
        assert_eq!(said, ["0", "1", "2", "3", "1"]);
    }

    #[test]
    fn a_request_that_no_entry_fits_is_missing() {
        let judge = Scripted::new().entry(numbered(Some(1), None, 1));
        assert_eq!(says(&judge, "a", 0, 0), "judge reply not stored");
        let reply = judge.answer(&case("a"), &JudgeRequest::new(NAME, Language::En));
        let why = "the script has no reply to `faithfulness.verdicts` for case `a` (sample 0, retry 0)".to_owned();
        assert_eq!(reply, Reply::Failed { ending: Ending::Missing, why });
    }

    #[test]
    fn every_ending_can_be_scripted() {
        for ending in Ending::ALL {
            let end = serde_json::to_value(ending).expect("a word");
            let line = json!({"request": NAME, "case": "*", "end": end}).to_string();
            assert_eq!(says(&script(&[&line]), "a", 0, 0), ending.cause());
        }
    }

    #[test]
    fn raw_text_is_read_as_every_judges_is() {
        let text = |text: &str| says(&Scripted::new().text(NAME, "*", text), "a", 0, 0);
        assert_eq!(text(" {\"refused\": true} "), "{\"refused\":true}");
        assert_eq!(text("Sure:\n```json\n{'refused': True}\n```"), "{\"refused\":true}");
        assert_eq!(text(" \n"), "judge reply empty");
        for unreadable in ["I am sorry.", "[1]", "{\"a\":1,\"a\":2}", "{\"score\":1.0} {\"score\":0.0}", "{\"a\":"] {
            assert_eq!(text(unreadable), "judge reply unreadable", "{unreadable}");
        }
        let long = format!("no {}", "退".repeat(300));
        let reply = Scripted::new().text(NAME, "*", &long).answer(&case("a"), &JudgeRequest::new(NAME, Language::En));
        let Reply::Failed { why, .. } = reply else { panic!("it read prose") };
        assert!(why.contains(&"退".repeat(197)) && !why.contains(&"退".repeat(198)), "{why}");
    }

    #[test]
    fn a_file_holds_one_entry_a_line() {
        let judge = script(&[
            "\u{feff}{\"request\":\"faithfulness.verdicts\",\"case\":\"*\",\"value\":null}\r",
            "",
            r#"{"request":"faithfulness.verdicts","case":"a","text":"{\"a\":1}","delay_ms":5}"#,
            r#"{"request":"faithfulness.verdicts","case":"b","end":"length","why":"cut at 10 tokens"}"#,
        ]);
        assert_eq!(says(&judge, "c", 0, 0), "null");
        assert_eq!(says(&judge, "a", 0, 0), "{\"a\":1}");
        assert_eq!(says(&judge, "b", 0, 0), "judge reply cut by length");
        assert_eq!(Scripted::from_entries(judge.entries().to_vec()), Ok(judge));
    }

    #[test]
    fn all_problems_of_a_script_are_told_at_once_by_line() {
        let text = [
            r#"{"request":"a.b","case":"*"}"#,
            r#"{"request":"a.b","case":"*","value":1,"end":"length"}"#,
            r#"{"request":"a.b","case":"*","value":1,"why":"x"}"#,
            r#"{"request":" ","case":"*","value":1}"#,
            r#"{"request":"a.b","case":"-x","value":1}"#,
            r#"{"request":"a.b","case":"*","value":1,"delay_ms":600001}"#,
            r#"{"request":"a.b","case":"*","retry":1,"value":1}"#,
            r#"{"request":"a.b","case":"*","retry":1,"value":2}"#,
            r#"{"request":"a.b","case":"*","vale":1}"#,
            r#"{"request":"a.b","case":"*","end":"tired"}"#,
            r#"{"request":"a.b","case":"*","value":1,"value":2}"#,
            "{",
        ]
        .join("\n");
        let problems = problems(&text);
        let lines: Vec<_> = problems.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12], "{problems:?}");
        let shown = ScriptError { problems }.to_string();
        for part in [
            "line 1: give exactly one of `value`, `text` and `end`",
            "line 3: `why` goes with `end` only",
            "line 8: line 7 has the same request, case, sample and retry",
            "line 9: unknown field `vale`",
            "line 10: unknown variant `tired`",
            "line 11: the key `value` stands twice",
        ] {
            assert!(shown.contains(part), "{shown}\nlacks {part}");
        }
    }

    #[test]
    fn its_stamp_is_its_content() {
        let judge = Scripted::new().reply(NAME, "*", json!({"b": 1, "a": 2}));
        let read = script(&[r#"{"case":"*", "value":{"a":2,"b":1}, "request":"faithfulness.verdicts"}"#, ""]);
        assert_eq!(judge.stamp(), read.stamp());
        assert_eq!((judge.stamp().provider.as_str(), judge.stamp().model.len()), ("scripted", 32));
        for other in [
            Scripted::new(),
            Scripted::new().reply(NAME, "*", json!({"b": 1, "a": 3})),
            Scripted::new().reply(NAME, "a", json!({"b": 1, "a": 2})),
            Scripted::new().text(NAME, "*", "{\"a\":2,\"b\":1}"),
            Scripted::new().text(NAME, "*", ""),
        ] {
            assert_ne!(judge.digest(), other.digest(), "{other:?}");
        }
    }

    #[test]
    fn it_is_deterministic_while_no_reply_depends_on_the_sample() {
        assert!(Scripted::new().is_deterministic());
        let one =
            Scripted::new().reply(NAME, "*", json!(0)).reply(NAME, "a", json!(1)).entry(numbered(None, Some(1), 2));
        assert!(one.is_deterministic());
        assert!(!one.clone().entry(numbered(Some(1), None, 2)).is_deterministic());
        assert!(!one.reply(NAME, "a", json!(2)).is_deterministic());
    }

    /// The outcome of `faithfulness` for an answer of two sentences, judged by this script.
    fn faithfulness_by(judge: &Scripted) -> (Outcome, usize) {
        let answer = "Refunds take 30 days. They cost nothing.";
        let contexts = vec![RetrievedContext::new("refunds", "Refunds are possible within 30 days.")];
        Try::of(&Faithfulness)
            .answer(answer)
            .contexts(contexts)
            .run_by(|request| judge.answer(&case("case-1"), request))
    }

    #[test]
    fn a_judge_that_lies_once_is_asked_again_and_one_that_goes_on_is_no_judge() {
        let claim =
            |n: u32, verdict: &str| json!({"n": n, "claims": [{"claim": format!("claim {n}"), "verdict": verdict}]});
        let right = json!({"sentences": [claim(1, "supported"), claim(2, "unsupported")]});
        let too_few = json!({"score": 1.0, "sentences": [claim(1, "supported")]});
        let judge = Scripted::new().reply(NAME, "*", too_few.clone()).reply(NAME, "*", right);
        let (outcome, asked) = faithfulness_by(&judge);
        assert_eq!((outcome.score().map(UnitInterval::get), asked), (Some(0.5), 2));
        let (outcome, asked) = faithfulness_by(&Scripted::new().reply(NAME, "*", too_few));
        assert_eq!(outcome.fault().map(|fault| fault.cause.as_str()), Some("judge reply incomplete"));
        assert_eq!(asked, 2);
        let quoted = r#"{"score":1.0,"reason":"perfect"} {"score":0.0}"#;
        let (outcome, _) = faithfulness_by(&Scripted::new().text(NAME, "*", quoted));
        assert_eq!(outcome.fault().map(|fault| fault.cause.as_str()), Some("judge reply unreadable"));
        let (outcome, asked) = faithfulness_by(&Scripted::new());
        assert_eq!(outcome.fault().map(|fault| fault.cause.as_str()), Some("judge reply not stored"));
        assert_eq!(asked, 1);
    }

    #[test]
    fn a_slow_reply_takes_its_time() {
        let judge = Scripted::new().entry(Entry { delay_ms: Some(20), ..numbered(None, None, 1) });
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build();
        let runtime = runtime.expect("a runtime");
        let (id, request) = (case("a"), JudgeRequest::new(NAME, Language::En));
        let start = std::time::Instant::now();
        let reply = runtime.block_on(judge.ask(&id, &request)).reply;
        assert_eq!(reply, Reply::Value { value: json!(1) });
        assert!(start.elapsed() >= Duration::from_millis(20));
    }
}
