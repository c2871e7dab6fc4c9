//! Runs: what was retrieved for each query, with scores.

use std::{
    cmp::Ordering,
    collections::{HashMap, HashSet},
    fs::File,
    io::{BufRead, BufReader},
    ops::Range,
    path::Path,
};

use super::{BOM, NOT_UTF8, Problems, TrecError, fields};

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

/// Reads a run file and gives each query's ranking, by descending score; the rank column is ignored.
///
/// A line is `query Q0 document rank score tag`; what follows the tag is ignored, and so are blank lines and lines that start with `#`.
/// Memory grows with the number of queries and with the largest ranking, not with the file, as long as the lines of each query stand together.
/// Where they do not, the file is read again as a whole; `visit` is then called again for queries it has seen, and **the last call for a query counts**.
pub fn for_each_ranking(path: &Path, ties: Ties, mut visit: impl FnMut(&Ranking)) -> Result<(), TrecError> {
    match stream(path, ties, &mut visit)? {
        Layout::Together => Ok(()),
        Layout::Scattered => gather(path, ties, &mut visit),
    }
}

/// Whether the lines of each query stand together.
enum Layout {
    Together,
    Scattered,
}

fn stream(path: &Path, ties: Ties, visit: &mut impl FnMut(&Ranking)) -> Result<Layout, TrecError> {
    let file = File::open(path).map_err(|source| TrecError::read(path, source))?;
    let mut reader = BufReader::with_capacity(1 << 20, file);
    let mut problems = Problems::default();
    let mut finished: HashSet<Box<str>> = HashSet::new();
    let mut ranking = Ranking::default();
    let mut bytes = Vec::new();
    let mut number = 0;
    loop {
        bytes.clear();
        if reader.read_until(b'\n', &mut bytes).map_err(|source| TrecError::read(path, source))? == 0 {
            break;
        }
        number += 1;
        let Ok(line) = std::str::from_utf8(&bytes) else {
            problems.add(path, number, NOT_UTF8);
            continue;
        };
        let line = if number == 1 { line.trim_start_matches(BOM) } else { line };
        let (query, document, score) = match retrieved(line) {
            Ok(Some(retrieved)) => retrieved,
            Ok(None) => continue,
            Err(problem) => {
                problems.add(path, number, problem);
                continue;
            }
        };
        if query != ranking.query {
            finish(&mut ranking, ties, &problems, visit);
            if !ranking.query.is_empty() {
                finished.insert(ranking.query.as_str().into());
            }
            if finished.contains(query) {
                return Ok(Layout::Scattered);
            }
            ranking.start(query);
        }
        ranking.push(document, score);
    }
    finish(&mut ranking, ties, &problems, visit);
    problems.or(Layout::Together)
}

fn finish(ranking: &mut Ranking, ties: Ties, problems: &Problems, visit: &mut impl FnMut(&Ranking)) {
    if problems.is_empty() && !ranking.entries.is_empty() {
        ranking.order(ties);
        visit(ranking);
    }
}

/// Reads the whole file and groups it by query.
fn gather(path: &Path, ties: Ties, visit: &mut impl FnMut(&Ranking)) -> Result<(), TrecError> {
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
        visit(&ranking);
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
