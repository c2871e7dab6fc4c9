//! System kind `recorded`: answers that were written down earlier.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    fs::File,
    io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use unicode_normalization::UnicodeNormalization;

use super::{
    Asked, BoxFuture, Latency, Question, RagSystem, SetupError, cause,
    excerpt::excerpt,
    setup::shown_path,
    spec::RecordedSpec,
    wire::{Object, Said},
};
use crate::model::{Answer, GoldenSet, Unmeasured};

/// Problems of one file that are listed; the rest is counted.
const MAX_PROBLEMS: usize = 50;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Ids that a notice names; the rest is counted.
const NAMED: usize = 5;

/// Recorded answers by case id; several of a repeated case, in the order of their lines.
///
/// In a file, each line is one object: the case's `id`, and `response`, `retrieved_contexts`, `usage`, `cost_usd`, `refused`,
/// `latency_ms`, or `error` for a call that failed when it was recorded. See `docs/systems.md` for other names that are read.
///
/// Every line is read when the file is opened, so that all problems are told at once, and again when its case is asked: answers are not kept
/// in memory.
#[derive(Debug)]
pub struct RecordedSystem {
    /// By id under NFC, as cases are told apart.
    by_id: BTreeMap<String, Vec<Entry>>,
    /// The file; `None` where answers stand only in the cases.
    file: Option<Lines>,
}

/// A file of recorded answers.
#[derive(Debug)]
struct Lines {
    /// As errors name it.
    name: String,
    text: Mutex<Box<dyn ReadSeek>>,
}

/// What lines are read from, by position.
trait ReadSeek: Read + Seek + Send + fmt::Debug {}

impl<T: Read + Seek + Send + fmt::Debug> ReadSeek for T {}

/// One recorded answer.
#[derive(Debug, Clone)]
enum Entry {
    /// In the file.
    Line(Line),
    /// In its case.
    InCase(Arc<Answer>),
}

/// A line of the file.
#[derive(Debug, Clone, Copy)]
struct Line {
    /// Its number, from 1.
    number: usize,
    offset: u64,
    /// Bytes, without the line end.
    length: usize,
    /// The start of its digest: a file that is written anew during a run gives no answers.
    digest: [u8; 8],
}

impl Entry {
    fn number(&self) -> Option<usize> {
        match self {
            Self::Line(line) => Some(line.number),
            Self::InCase(_) => None,
        }
    }
}

/// Reads recorded answers: those of the file, and for cases that it lacks those that stand in the cases themselves.
pub fn open(spec: &RecordedSpec, root: &Path, set: &GoldenSet) -> Result<RecordedSystem, SetupError> {
    let mut system = match &spec.samples {
        None => RecordedSystem { by_id: BTreeMap::new(), file: None },
        Some(path) => {
            let name = shown_path(path, root);
            let text = opened(path).map_err(|error| unreadable(&name, &error))?;
            RecordedSystem::read(&name, text, set)?
        }
    };
    let mut problems = Vec::new();
    for case in &set.cases {
        let Some(answer) = &case.recorded else { continue };
        let entries = system.by_id.entry(case.id.nfc()).or_default();
        if !entries.is_empty() {
            continue;
        }
        entries.reserve_exact(1);
        entries.push(Entry::InCase(Arc::clone(answer)));
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

/// The file itself; of a pipe, which is read only once, all that comes out of it.
fn opened(path: &Path) -> io::Result<Box<dyn ReadSeek>> {
    let mut file = File::open(path)?;
    if file.metadata()?.is_file() {
        return Ok(Box::new(file));
    }
    let mut all = Vec::new();
    file.read_to_end(&mut all)?;
    Ok(Box::new(Cursor::new(all)))
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
        Self::read(file, Box::new(Cursor::new(bytes.to_vec())), set)
    }

    fn read(file: &str, mut text: Box<dyn ReadSeek>, set: &GoldenSet) -> Result<Self, SetupError> {
        let times: BTreeMap<String, usize> = set
            .cases
            .iter()
            .filter(|case| case.repeats.times > 1)
            .map(|case| (case.id.nfc(), case.repeats.times))
            .collect();
        let mut by_id = BTreeMap::<String, Vec<Entry>>::new();
        let mut problems = Vec::new();
        let mut reader = BufReader::new(&mut text);
        let (mut whole, mut end) = (Vec::new(), 0);
        for number in 1.. {
            whole.clear();
            let read = reader.read_until(b'\n', &mut whole).map_err(|error| unreadable(file, &error))?;
            if read == 0 {
                break;
            }
            let raw = whole.strip_suffix(b"\n").unwrap_or(&whole);
            let mark = if number == 1 && raw.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
            let (raw, offset) = (&raw[mark..], end + mark as u64);
            end += read as u64;
            let line = match std::str::from_utf8(raw) {
                Ok(line) => line.strip_suffix('\r').unwrap_or(line),
                Err(error) => {
                    problems.push(format!(
                        "{file}:{number}: byte {} of the file is not UTF-8",
                        offset + error.valid_up_to() as u64
                    ));
                    ""
                }
            };
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
                Ok((id, _)) => {
                    let key: String = id.nfc().collect();
                    let is_repeated = times.contains_key(&key);
                    let entries = by_id.entry(key).or_default();
                    match entries.first() {
                        Some(Entry::Line(Line { number: first, .. })) if !is_repeated => {
                            problems.push(format!("{file}:{number}: the id `{id}` stands also in line {first}"));
                        }
                        Some(_) | None => {
                            entries.reserve_exact(1);
                            entries.push(Entry::Line(Line { number, offset, length: raw.len(), digest: digest(raw) }));
                        }
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
                entries.iter().take(NAMED).filter_map(Entry::number).map(|line| line.to_string()).collect();
            let more = if entries.len() > NAMED { ", ..." } else { "" };
            let answers = if entries.len() == 1 { "answer is" } else { "answers are" };
            problems.push(format!(
                "{file}: `{id}` is asked {times} times, and {} {answers} recorded (line {}{more}); record {times}, or change `repeats.times`",
                entries.len(),
                lines.join(", ")
            ));
        }
        let problems = at_most(problems, file);
        let lines = Lines { name: file.to_owned(), text: Mutex::new(text) };
        if problems.is_empty() { Ok(Self { by_id, file: Some(lines) }) } else { Err(SetupError { problems }) }
    }

    /// Ids of the file that no case of the set has, with their lines, in the order of the file.
    pub fn unused(&self, set: &GoldenSet) -> Vec<(usize, &str)> {
        let cases: BTreeSet<String> = set.cases.iter().map(|case| case.id.nfc()).collect();
        let unused = self.by_id.iter().filter(|(id, _)| !cases.contains(*id));
        let lines = unused.flat_map(|(id, entries)| entries.iter().map(move |entry| (entry.number(), id.as_str())));
        let mut unused: Vec<_> = lines.filter_map(|(line, id)| Some((line?, id))).collect();
        unused.sort_unstable();
        unused
    }

    pub(crate) fn answer(&self, question: &Question) -> Result<Asked, Unmeasured> {
        let place = question.repeat.map_or(0, |repeat| repeat.saturating_sub(1));
        let entry = self.by_id.get(&question.case_id.nfc()).and_then(|entries| entries.get(place));
        let said = match (entry, &self.file) {
            (Some(Entry::InCase(answer)), _) => {
                Said::Answer(Asked { answer: Answer::clone(answer), latency: Latency::Unknown })
            }
            (Some(Entry::Line(line)), Some(file)) => file.said(*line)?,
            (Some(Entry::Line(_)) | None, _) => return Err(Unmeasured::new(cause::MISSING, self.missing())),
        };
        match said {
            // No time was measured; that of the look-up would be a lie that any limit on latency passes as well.
            Said::Answer(Asked { answer, latency }) => {
                let latency = match latency {
                    Latency::Measured => Latency::Unknown,
                    stated @ (Latency::Stated(_) | Latency::Unknown) => stated,
                };
                Ok(Asked { latency, answer })
            }
            Said::Error(why) => Err(Unmeasured::new(cause::ERROR, format!("recorded as an error: {why}"))),
        }
    }

    fn missing(&self) -> String {
        match &self.file {
            Some(Lines { name, .. }) => {
                format!("{name} has no line with this id, and the case itself has no `response`")
            }
            None => "the case has no `response`, and `system` names no file of `samples`".to_owned(),
        }
    }
}

impl Lines {
    /// What a line says, which was readable when the file was opened.
    fn said(&self, line: Line) -> Result<Said, Unmeasured> {
        let place = format!("{}:{}", self.name, line.number);
        let bytes = self.bytes(line).map_err(|error| Unmeasured::new(cause::ERROR, format!("{place}: {error}")))?;
        let text = std::str::from_utf8(&bytes).ok().map(|text| text.strip_suffix('\r').unwrap_or(text));
        let said = text.filter(|_| digest(&bytes) == line.digest).and_then(|text| read_line(text).ok());
        let changed = || Unmeasured::new(cause::ERROR, format!("{place}: the file changed since it was opened"));
        said.map(|(_, said)| said).ok_or_else(changed)
    }

    fn bytes(&self, line: Line) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; line.length];
        let mut text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        text.seek(SeekFrom::Start(line.offset))?;
        text.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

fn digest(line: &[u8]) -> [u8; 8] {
    let mut start = [0; 8];
    start.copy_from_slice(&blake3::hash(line).as_bytes()[..8]);
    start
}

fn unreadable(file: &str, error: &io::Error) -> SetupError {
    SetupError::of(format!("{file}: the recorded answers can't be read: {error}"))
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
        let (Some(Lines { name: file, .. }), false) = (&self.file, unused.is_empty()) else { return Vec::new() };
        let named: Vec<_> = unused.iter().take(NAMED).map(|(line, id)| format!("`{id}` (line {line})")).collect();
        let more = unused.len() - named.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let answers = if unused.len() == 1 { "answer has" } else { "answers have" };
        vec![format!("{file}: {} recorded {answers} no case: {}{more}", unused.len(), named.join(", "))]
    }
}

#[cfg(test)]
mod tests;
