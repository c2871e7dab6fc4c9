//! Runs: what was retrieved for each query, with scores.

use std::{
    cmp::Ordering,
    collections::{HashMap, HashSet},
    ops::Range,
    path::Path,
};

use super::{
    super::blocks::{self, Flow, last_line_end, lines},
    BOM, NOT_UTF8, Problems, TrecError, fields,
};
use crate::metric::retrieval::{Found, Relevant};

/// What decides between documents of one query with equal scores.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ties {
    /// The order of the lines.
    #[default]
    Listed,
    /// `trec_eval`'s rule: the document id, descending; scores are compared as 32-bit numbers, which is how it keeps them.
    Trec,
}

impl Ties {
    fn compare(self, a: (f64, &str), b: (f64, &str)) -> Ordering {
        // NaN is refused when read, so every pair of scores compares.
        match self {
            Self::Listed => b.0.partial_cmp(&a.0).unwrap_or(Ordering::Equal),
            #[expect(
                clippy::cast_possible_truncation,
                reason = "trec_eval keeps scores as 32-bit numbers, and ties follow from that"
            )]
            Self::Trec => (b.0 as f32).partial_cmp(&(a.0 as f32)).unwrap_or(Ordering::Equal).then_with(|| b.1.cmp(a.1)),
        }
    }
}

/// What was retrieved for one query, best first.
#[derive(Debug, Default)]
pub struct Ranking {
    query: String,
    /// All document ids, one after the other.
    ids: String,
    entries: Vec<(f64, Range<usize>)>,
}

impl Ranking {
    /// The query.
    pub fn query(&self) -> &str {
        &self.query
    }

    /// The documents, best first.
    pub fn documents(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(_, range)| &self.ids[range.clone()])
    }

    /// Those of the relevant documents that were retrieved.
    pub fn found<'r>(&'r self, relevant: &'r Relevant<'r>) -> Found<'r> {
        Found::in_ranking(&self.entries, |(_, range)| Some(&self.ids[range.clone()]), relevant)
    }

    fn start(&mut self, query: &str) {
        self.query.clear();
        self.query.push_str(query);
        self.ids.clear();
        self.entries.clear();
    }

    fn push(&mut self, document: &str, score: f64) {
        let start = self.ids.len();
        self.ids.push_str(document);
        self.entries.push((score, start..self.ids.len()));
    }

    fn order(&mut self, ties: Ties) {
        let ids = &self.ids;
        self.entries.sort_by(|a, b| ties.compare((a.0, &ids[a.1.clone()]), (b.0, &ids[b.1.clone()])));
    }
}

/// Measures the ranking of every query of a run file, by descending score, and gives what came of it to `take`; the rank column is ignored.
///
/// A line is `query Q0 document rank score tag`; what follows the tag is ignored, and so are blank lines and lines that start with `#`.
/// `measure` runs on several threads, `take` in the order of the file. Memory grows with the number of queries and with the largest
/// ranking, not with the file, as long as the lines of each query stand together. Where they do not, the file is read again as a whole;
/// `take` is then called again for queries it has seen, and **the last call for a query counts**.
pub fn for_each_ranking<T: Send>(
    path: &Path,
    ties: Ties,
    measure: impl Fn(&Ranking) -> T + Sync,
    mut take: impl FnMut(&str, T),
) -> Result<(), TrecError> {
    match stream(path, ties, &measure, &mut take)? {
        Layout::Together => Ok(()),
        Layout::Scattered => gather(path, ties, &measure, &mut take),
    }
}

/// Whether the lines of each query stand together.
enum Layout {
    Together,
    Scattered,
}

/// What became of one block: each query with what was measured, in order, and the faulty lines with their place from 0.
struct Block<T> {
    measured: Vec<(Box<str>, T)>,
    problems: Vec<(usize, String)>,
}

fn stream<T: Send>(
    path: &Path,
    ties: Ties,
    measure: &(impl Fn(&Ranking) -> T + Sync),
    take: &mut impl FnMut(&str, T),
) -> Result<Layout, TrecError> {
    let mut problems = Problems::default();
    let mut finished: HashSet<Box<str>> = HashSet::new();
    let mut layout = Layout::Together;
    let work = |block: &[u8]| of_block(block, ties, measure);
    blocks::for_each(path, last_query_start, work, |first, block: Block<T>| {
        for (at, what) in block.problems {
            problems.add(path, first + at, what);
        }
        for (query, measured) in block.measured {
            if problems.is_empty() {
                take(&query, measured);
            }
            if !finished.insert(query) {
                layout = Layout::Scattered;
                return Flow::Stop;
            }
        }
        Flow::On
    })
    .map_err(|source| TrecError::read(path, source))?;
    match layout {
        Layout::Together => problems.or(Layout::Together),
        // The whole file is read again, and its problems are found again.
        Layout::Scattered => Ok(Layout::Scattered),
    }
}

fn of_block<T>(block: &[u8], ties: Ties, measure: &impl Fn(&Ranking) -> T) -> Block<T> {
    let mut result = Block { measured: Vec::new(), problems: Vec::new() };
    let mut ranking = Ranking::default();
    for (at, bytes) in lines(block) {
        let Ok(line) = std::str::from_utf8(bytes) else {
            result.problems.push((at, NOT_UTF8.to_owned()));
            continue;
        };
        // A byte order mark can only stand at the start of the file.
        let line = if at == 0 { line.trim_start_matches(BOM) } else { line };
        match retrieved(line) {
            Ok(Some((query, document, score))) => {
                if query != ranking.query {
                    finish(&mut ranking, ties, measure, &mut result);
                    ranking.start(query);
                }
                ranking.push(document, score);
            }
            Ok(None) => {}
            Err(problem) => result.problems.push((at, problem)),
        }
    }
    finish(&mut ranking, ties, measure, &mut result);
    result
}

fn finish<T>(ranking: &mut Ranking, ties: Ties, measure: &impl Fn(&Ranking) -> T, result: &mut Block<T>) {
    if !ranking.entries.is_empty() {
        ranking.order(ties);
        result.measured.push((ranking.query.as_str().into(), measure(ranking)));
    }
}

/// Where the lines of a block's last query begin: the block's last line may not be its last. 0 when the block holds one query only.
fn last_query_start(block: &[u8]) -> usize {
    let mut end = last_line_end(block);
    let mut query: Option<&[u8]> = None;
    while end > 0 {
        let start = last_line_end(&block[..end - 1]);
        let line = block[start..end].trim_ascii_start();
        let first = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        let is_comment = first.is_empty() || first.starts_with(b"#");
        match query {
            None if !is_comment => query = Some(first),
            Some(last) if !is_comment && first != last => return end,
            Some(_) | None => {}
        }
        end = start;
    }
    0
}

/// Reads the whole file and groups it by query.
fn gather<T>(
    path: &Path,
    ties: Ties,
    measure: &impl Fn(&Ranking) -> T,
    take: &mut impl FnMut(&str, T),
) -> Result<(), TrecError> {
    let text = super::text(path)?;
    let mut problems = Problems::default();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut queries = Vec::new();
    let mut lines = Vec::new();
    for (index, line) in text.split('\n').enumerate() {
        match retrieved(line) {
            Ok(Some((query, document, score))) => {
                let place = *places.entry(query).or_insert_with(|| {
                    queries.push(query);
                    queries.len() - 1
                });
                lines.push((place, document, score));
            }
            Ok(None) => {}
            Err(problem) => problems.add(path, index + 1, problem),
        }
    }
    problems.or(())?;
    lines.sort_by_key(|(place, _, _)| *place);
    let mut ranking = Ranking::default();
    for chunk in lines.chunk_by(|a, b| a.0 == b.0) {
        ranking.start(queries[chunk[0].0]);
        for (_, document, score) in chunk {
            ranking.push(document, *score);
        }
        ranking.order(ties);
        take(&ranking.query, measure(&ranking));
    }
    Ok(())
}

fn retrieved(line: &str) -> Result<Option<(&str, &str, f64)>, String> {
    let Some(mut fields) = fields(line) else { return Ok(None) };
    let (Some(query), Some(_), Some(document), Some(_), Some(score), Some(_)) =
        (fields.next(), fields.next(), fields.next(), fields.next(), fields.next(), fields.next())
    else {
        let count = line.split_ascii_whitespace().count();
        return Err(format!("expected 6 fields `query Q0 document rank score tag`, got {count}"));
    };
    match score.parse::<f64>() {
        Ok(number) if !number.is_nan() => Ok(Some((query, document, number))),
        Ok(_) | Err(_) => Err(format!("the score must be a number, got `{score}`")),
    }
}
