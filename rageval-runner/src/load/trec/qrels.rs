//! Judgements: which documents are relevant to a query.

use std::{collections::HashMap, ops::Range, path::Path};

use super::{Problems, TrecError, fields};
use crate::metric::retrieval::Relevant;

/// The judgements of a `qrels` file, by query, in the order in which queries first appear.
///
/// A line is `query iteration document grade`; the second field is ignored. Blank lines and lines that start with `#` are skipped.
#[derive(Debug)]
pub struct Qrels<'t> {
    queries: Vec<(&'t str, Range<usize>)>,
    /// Judgements with a grade above 0, grouped by query.
    relevant: Vec<(&'t str, f64)>,
    places: HashMap<&'t str, usize>,
}

impl<'t> Qrels<'t> {
    /// Reads the text of a file; `path` is for messages.
    pub fn parse(text: &'t str, path: &Path) -> Result<Self, TrecError> {
        let mut problems = Problems::default();
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut queries: Vec<(&str, Range<usize>)> = Vec::new();
        let mut judgements: Vec<(usize, &str, f64)> = Vec::new();
        let mut grouped = true;
        let mut last: Option<usize> = None;
        for (index, line) in text.split('\n').enumerate() {
            let Some((query, document, grade)) = judgement(line).unwrap_or_else(|problem| {
                problems.add(path, index + 1, problem);
                None
            }) else {
                continue;
            };
            let place = match last {
                Some(place) if queries[place].0 == query => place,
                Some(_) | None => *places.entry(query).or_insert_with(|| {
                    queries.push((query, 0..0));
                    queries.len() - 1
                }),
            };
            grouped &= last.is_none_or(|last| last <= place);
            last = Some(place);
            judgements.push((place, document, grade));
        }
        if !grouped {
            judgements.sort_by_key(|(place, _, _)| *place);
        }
        let mut relevant = Vec::new();
        let mut of_query: Vec<(&str, f64)> = Vec::new();
        for chunk in judgements.chunk_by(|a, b| a.0 == b.0) {
            of_query.clear();
            of_query.extend(chunk.iter().map(|(_, document, grade)| (*document, *grade)));
            of_query.sort_by(|a, b| a.0.cmp(b.0));
            let query = &mut queries[chunk[0].0];
            for pair in of_query.windows(2) {
                if pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1 {
                    let (line, what) = contradiction(text, query.0, pair[0].0);
                    problems.add(path, line, what);
                }
            }
            let start = relevant.len();
            relevant.extend(chunk.iter().filter(|(_, _, grade)| *grade > 0.0).map(|(_, id, grade)| (*id, *grade)));
            query.1 = start..relevant.len();
        }
        if queries.is_empty() && problems.is_empty() {
            problems.add(path, 1, "no judgement in the whole file; expected lines of `query iteration document grade`");
        }
        problems.or(Self { queries, relevant, places })
    }

    /// Number of queries, those without relevant documents included.
    pub fn count(&self) -> usize {
        self.queries.len()
    }

    /// The query at a place from 0.
    pub fn query(&self, place: usize) -> &'t str {
        self.queries[place].0
    }

    /// The place of a query.
    pub fn place(&self, query: &str) -> Option<usize> {
        self.places.get(query).copied()
    }

    /// The relevant documents of the query at a place; `None` when all its grades are 0 or less.
    pub fn relevant(&self, place: usize) -> Option<Relevant<'t>> {
        Relevant::new(self.relevant[self.queries[place].1.clone()].iter().copied())
    }
}

fn judgement(line: &str) -> Result<Option<(&str, &str, f64)>, String> {
    let Some(mut fields) = fields(line) else { return Ok(None) };
    let (Some(query), Some(_), Some(document), Some(grade), None) =
        (fields.next(), fields.next(), fields.next(), fields.next(), fields.next())
    else {
        let count = line.split_ascii_whitespace().count();
        return Err(format!("expected 4 fields `query iteration document grade`, got {count}"));
    };
    match grade.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(Some((query, document, number))),
        Ok(_) | Err(_) => Err(format!("the grade must be a number, got `{grade}`")),
    }
}

/// The line of the second of two judgements that differ, and what to say. Looks through the text again, since only a faulty file needs it.
fn contradiction(text: &str, query: &str, document: &str) -> (usize, String) {
    let mut first: Option<(usize, f64)> = None;
    for (index, line) in text.split('\n').enumerate() {
        match judgement(line) {
            Ok(Some((q, d, grade))) if q == query && d == document => match first {
                None => first = Some((index + 1, grade)),
                Some((line, other)) if other != grade => {
                    let what = format!(
                        "query `{query}` grades document `{document}` {grade} here and {other} at line {line}; keep one of them"
                    );
                    return (index + 1, what);
                }
                Some(_) => {}
            },
            Ok(_) | Err(_) => {}
        }
    }
    (1, format!("query `{query}` grades document `{document}` twice, differently; keep one of them"))
}
