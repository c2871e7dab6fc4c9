//! Judgements: which documents are relevant to which query, in lines of text.

use std::{collections::HashMap, path::Path};

use rageval_runner::{
    load::{plain::PlainCase, trec},
    model::{DocId, Judgement, Place},
};

use super::{
    Wrong,
    loss::{Told, Whose},
};

/// How a line of judgements is parted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `query TAB document TAB grade`, below a header.
    Tabs,
    /// `query iteration document grade`, with any blanks between.
    Blanks,
}

/// The judgements of each query, in the order of the file, and where its first one stands.
pub(crate) struct Judgements {
    by_query: HashMap<String, (Place, Vec<Judgement>)>,
    order: Vec<String>,
}

impl Judgements {
    /// Reads a file. Blank lines are skipped.
    pub(crate) fn read(path: &Path, shape: Shape) -> Result<Self, Wrong> {
        let text = trec::text(path).map_err(|error| Wrong(error.to_string()))?;
        let mut judgements = Self { by_query: HashMap::new(), order: Vec::new() };
        let mut grades: HashMap<(String, String), (f64, usize)> = HashMap::new();
        let mut wrong = Vec::new();
        for (number, line) in (1..).zip(text.split('\n')) {
            let line = line.strip_suffix('\r').unwrap_or(line);
            if line.trim().is_empty() || (shape == Shape::Tabs && number == 1 && is_header(line)) {
                continue;
            }
            let at = format!("{}:{number}", path.display());
            let (query, document, grade) = match parted(line, shape) {
                Ok(parts) => parts,
                Err(why) => {
                    wrong.push(format!("{at}: {why}"));
                    continue;
                }
            };
            match grades.get(&(query.to_owned(), document.to_owned())) {
                None => {}
                Some((known, _)) if *known == grade => continue,
                Some((known, first)) => {
                    wrong.push(format!(
                        "{at}: query `{query}` grades document `{document}` {grade} here and {known} at line {first}; keep one of them"
                    ));
                    continue;
                }
            }
            grades.insert((query.to_owned(), document.to_owned()), (grade, number));
            let place = Place { file: path.display().to_string(), line: number, column: 1 };
            let entry = judgements.by_query.entry(query.to_owned()).or_insert_with(|| {
                judgements.order.push(query.to_owned());
                (place, Vec::new())
            });
            entry.1.push(Judgement { id: DocId(document.to_owned()), grade });
        }
        if wrong.is_empty() { Ok(judgements) } else { Err(Wrong(wrong.join("\n"))) }
    }

    /// Takes the judgements of a query; `None` where it has none.
    pub(crate) fn take(&mut self, query: &str) -> Option<Vec<Judgement>> {
        self.by_query.remove(query).map(|(_, judgements)| judgements)
    }

    /// Names the queries that are judged and that nobody took.
    pub(crate) fn tell_rest(&self, told: &mut Told) {
        for query in &self.order {
            if let Some((place, _)) = self.by_query.get(query) {
                told.lost_at(place, format!("query {query:?}"), "it is judged here and not among the queries");
            }
        }
    }
}

fn is_header(line: &str) -> bool {
    line.rsplit('\t').next().is_some_and(|grade| grade.trim().parse::<f64>().is_err())
}

fn parted(line: &str, shape: Shape) -> Result<(&str, &str, f64), String> {
    let fields: Vec<&str> = match shape {
        Shape::Tabs => line.split('\t').collect(),
        Shape::Blanks => line.split_ascii_whitespace().collect(),
    };
    let (query, document, grade) = match (shape, &fields[..]) {
        (Shape::Tabs, [query, document, grade]) | (Shape::Blanks, [query, _, document, grade]) => {
            (*query, *document, *grade)
        }
        (Shape::Tabs, _) => {
            return Err(format!("expected `query TAB document TAB grade`, got {} fields", fields.len()));
        }
        (Shape::Blanks, _) => {
            return Err(format!("expected 4 fields `query iteration document grade`, got {}", fields.len()));
        }
    };
    match grade.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((query, document, number)),
        Ok(_) | Err(_) => Err(format!("the grade must be a number, got `{grade}`")),
    }
}

/// The judgements of a case as they can be written: whole grades, and ids that don't part a line. `query` is the id in the output.
pub(crate) fn lines(case: &PlainCase, query: &str, shape: Shape, told: &mut Told) -> String {
    const FIELD: &str = "relevant_doc_ids";
    let whose = Whose { id: case.id.as_str(), place: &case.place };
    if case.relevant.as_ref().is_none_or(Vec::is_empty) {
        let why = if case.relevant.is_some() { "an empty list can't be told from none" } else { "none" };
        let then = if shape == Shape::Tabs { ", and readers of BEIR leave out a query that nobody judged" } else { "" };
        if case.relevant.is_some() || shape == Shape::Tabs {
            told.lost(whose, FIELD, format!("{why}{then}"));
        }
    }
    let mut text = String::new();
    for judgement in case.relevant.iter().flatten() {
        let id = judgement.id.as_str();
        let parts_line = |c: char| match shape {
            Shape::Tabs => matches!(c, '\t' | '\n' | '\r' | '"'),
            Shape::Blanks => c.is_whitespace(),
        };
        if id.contains(parts_line) {
            told.lost(whose, FIELD, format!("the id {id:?} would part its line"));
            continue;
        }
        let grade = whole(judgement.grade);
        if (grade as f64) != judgement.grade {
            told.changed(whose, FIELD, format!("the grade {} of {id:?} is written as {grade}", judgement.grade));
        }
        match shape {
            Shape::Tabs => text.extend([format!("{query}\t{id}\t{grade}\n")]),
            Shape::Blanks => text.extend([format!("{query} 0 {id} {grade}\n")]),
        }
    }
    text
}

/// The nearest whole grade that is relevant where the grade is, and else is not.
fn whole(grade: f64) -> i64 {
    let near = grade.round() as i64;
    if grade > 0.0 { near.max(1) } else { near.min(0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_grade_stays_on_its_side_of_zero() {
        for (grade, expected) in [(1.0, 1), (0.2, 1), (2.5, 3), (0.0, 0), (-0.4, 0), (-2.0, -2)] {
            assert_eq!(whole(grade), expected, "{grade}");
        }
    }
}
