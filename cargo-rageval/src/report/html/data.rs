//! The cases as data inside the page: an index for the list, and the pages of cases in pieces that are read when one is opened.

use std::{collections::BTreeMap, io};

use rageval_runner::model::{CaseId, MetricKey, Outcome, Record};
use serde::Serialize;

use super::{
    case_page::CasePage,
    text::cut,
    texts::{Texts, json},
};
use crate::report::view::{CaseView, View};

/// Cases a piece: a page that is opened reads so many.
const CASES_A_PIECE: usize = 50;
/// Texts a piece.
const TEXTS_A_PIECE: usize = 200;
/// Characters of question, answer and reason that the list shows and searches.
const LISTED: usize = 240;

/// Values of a field up to which the list can be filtered by it: more are no slices, and searched better.
const VALUES: usize = 200;

/// What the list shows, filters and searches: a column a thing, an entry a case, in the order of the view.
#[derive(Debug, Serialize)]
struct Index<'r> {
    cases_a_piece: usize,
    texts_a_piece: usize,
    ids: Vec<&'r CaseId>,
    states: Vec<&'static str>,
    questions: Vec<&'r str>,
    answers: Vec<&'r str>,
    /// Why it is red, in a few words; empty where it is not.
    whys: Vec<&'r str>,
    places: Vec<String>,
    flaky: Vec<usize>,
    /// By metric each case's settled score; `-1` where it does not apply, `-2` where it is unmeasured, `-3` where there is no outcome.
    scores: BTreeMap<String, Vec<f64>>,
    /// By field each case's values, as numbers of `values`.
    fields: BTreeMap<&'r str, Vec<Vec<usize>>>,
    /// By field every value.
    values: BTreeMap<&'r str, Vec<&'r str>>,
}

/// Writes the scripts that hold the cases, piece by piece.
pub(super) fn write(view: &View<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    let mut texts = Texts::default();
    for (number, piece) in view.cases.chunks(CASES_A_PIECE).enumerate() {
        let pages: Vec<CasePage<'_>> = piece.iter().map(|case| CasePage::of(case, view.run, &mut texts)).collect();
        script(&format!("cases-{number}"), &pages, out)?;
    }
    for (number, piece) in texts.all().chunks(TEXTS_A_PIECE).enumerate() {
        script(&format!("texts-{number}"), &piece, out)?;
    }
    script("index", &index(view), out)
}

fn script(id: &str, value: &impl Serialize, out: &mut dyn io::Write) -> io::Result<()> {
    write!(out, "<script type=\"application/json\" id=\"{id}\">{}</script>", json(value)?)
}

fn index<'r>(view: &View<'r>) -> Index<'r> {
    let cases = &view.cases;
    let score = |record: Option<&Record>, key: &MetricKey| match record.and_then(|record| record.settled(key)) {
        // Three decimals are enough to sort and to show.
        Some(Outcome::Scored { score, .. }) => (score.value.get() * 1000.0).round() / 1000.0,
        Some(Outcome::NotApplicable { .. }) => -1.0,
        Some(Outcome::Unmeasured { .. }) => -2.0,
        None => -3.0,
    };
    let scores = view
        .metrics
        .iter()
        .map(|metric| (metric.key.to_string(), cases.iter().map(|case| score(case.record, metric.key)).collect()));
    let mut values: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for case in cases {
        for (field, of_case) in case.golden.iter().flat_map(|golden| &golden.fields) {
            values.entry(field).or_default().extend(of_case.iter().map(String::as_str));
        }
    }
    for all in values.values_mut() {
        all.sort_unstable();
        all.dedup();
    }
    values.retain(|_, all| all.len() <= VALUES);
    let fields = values.iter().map(|(field, all)| {
        let of_case = |case: &CaseView<'_>| {
            let own = case.golden.and_then(|golden| golden.fields.get(*field));
            own.into_iter().flatten().filter_map(|value| all.binary_search(&value.as_str()).ok()).collect()
        };
        (*field, cases.iter().map(of_case).collect())
    });
    Index {
        cases_a_piece: CASES_A_PIECE,
        texts_a_piece: TEXTS_A_PIECE,
        ids: cases.iter().map(|case| case.id).collect(),
        states: cases.iter().map(CaseView::state).collect(),
        questions: cases.iter().map(|case| cut(case.golden.map_or("", |golden| &golden.query), LISTED)).collect(),
        answers: cases
            .iter()
            .map(|case| cut(case.record.and_then(Record::sample).map_or("", |sample| &sample.answer.response), LISTED))
            .collect(),
        whys: cases.iter().map(|case| cut(super::decisions::why(case), LISTED)).collect(),
        places: cases
            .iter()
            .map(|case| case.golden.map_or_else(String::new, |golden| golden.place.to_string()))
            .collect(),
        flaky: (0..cases.len()).filter(|at| cases[*at].is_flaky()).collect(),
        scores: scores.collect(),
        fields: fields.collect(),
        values,
    }
}
