//! Says how a judge and people agree on one metric, in all the ways that help to decide whether to believe it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{
    Judged, Measured, MeasuredItem,
    binary::{Binary, PassRate},
    estimate::{Estimate, spearman},
    people::People,
};
use crate::{
    model::{MetricKey, run::JudgeStamp},
    stats,
};

/// Disagreements that a report lists.
const MOST_DISAGREEMENTS: usize = 10;

/// Groups by length.
const GROUPS: usize = 3;

/// What a report is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Asked<'a> {
    /// The score from which an item passes, above 0: of the metric's rules, else 0.5. Verdicts are 1 or 0.
    pub bar: f64,
    /// What the same judge said of a run whose items are like the labelled ones: scores of cases where whole answers are labelled, 1 or 0 of
    /// claims where claims are. `None` corrects no pass rate.
    pub run: Option<&'a [f64]>,
}

/// How a judge and people agree on one metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The metric.
    pub metric: MetricKey,
    /// Who judged.
    pub judge: JudgeStamp,
    /// The version of the golden set that the labels were drawn from.
    pub golden_set_version: Option<String>,
    /// What became of the items.
    pub items: Items,
    /// Correlations over the items that count.
    pub agreement: Agreement,
    /// Spearman's correlation and the items that count, by language tag.
    pub by_language: BTreeMap<String, OfLanguage>,
    /// Yes and no, at the bar.
    pub binary: Binary,
    /// People among themselves.
    pub people: People,
    /// The items on which judge and people are farthest apart, worst first; at most 10.
    pub disagreements: Vec<Disagreement>,
    /// The judge's error against the length of what it read.
    pub length: Length,
    /// The share of a run that passes, corrected for the judge's error; `None` without a run.
    pub pass_rate: Option<PassRate>,
    /// `(people, judge)` of each item that counts: the scatter plot.
    pub points: Vec<(f64, f64)>,
}

/// What became of the labelled items; the last four add up to the first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Items {
    /// Items that anybody labelled.
    pub labelled: usize,
    /// Items that count: people and the judge both say something.
    pub counted: usize,
    /// Items on which as many people say yes as no, though the judge has a score.
    pub tied: Vec<String>,
    /// Items on which the judge has nothing to measure, and why.
    pub not_applicable: BTreeMap<String, String>,
    /// Items on which it gave no score that can be used, and why.
    pub unmeasured: BTreeMap<String, String>,
}

/// Correlations of people and judge.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Agreement {
    /// Spearman's rank correlation, -1 to 1: the figure that decides.
    pub spearman: Option<Estimate>,
    /// Kendall's tau-b, -1 to 1.
    pub kendall_tau_b: Option<Estimate>,
    /// Pearson's correlation of the scores themselves, -1 to 1.
    pub pearson: Option<Estimate>,
}

/// The items of one language.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OfLanguage {
    /// Items that count.
    pub counted: usize,
    /// Spearman's rank correlation; `None` where there is none.
    pub spearman: Option<Estimate>,
    /// The mean of judge minus people: above 0 where the judge is too kind.
    pub mean_error: f64,
}

/// One item on which judge and people are apart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Disagreement {
    /// Its id.
    pub item: String,
    /// Its language tag.
    pub language: String,
    /// What people say together, 0 to 1.
    pub human: f64,
    /// What each said, as a number: a verdict that is not `supported` is 0.
    pub people: BTreeMap<String, f64>,
    /// What the judge says, 0 to 1.
    pub judge: f64,
}

/// The judge's error against the length of what it read.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Length {
    /// Spearman's correlation of judge minus people with the characters: above 0 where long answers are judged too kindly.
    pub spearman: Option<Estimate>,
    /// Shortest first, up to three groups of about as many items; empty of fewer than six items, and where all have one length.
    pub groups: Vec<LengthGroup>,
}

/// Items of like length.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LengthGroup {
    /// Characters of the longest.
    pub up_to: usize,
    /// How many items.
    pub items: usize,
    /// The mean of judge minus people.
    pub mean_error: f64,
}

/// An item that counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Counted<'a> {
    pub(super) item: &'a MeasuredItem,
    pub(super) human: f64,
    pub(super) judge: f64,
}

impl Counted<'_> {
    fn error(&self) -> f64 {
        super::rounded(self.judge - self.human)
    }
}

/// Reports on one metric.
pub fn report(metric: &MetricKey, measured: &Measured, asked: &Asked<'_>) -> Report {
    let counted: Vec<Counted<'_>> = measured
        .items
        .iter()
        .filter_map(|item| Some(Counted { item, human: item.human()?, judge: item.score()? }))
        .collect();
    let points = measured.pairs();
    Report {
        metric: metric.clone(),
        judge: measured.judge.clone(),
        golden_set_version: measured.set_version.clone(),
        items: items(measured, counted.len()),
        agreement: Agreement {
            spearman: spearman(&points),
            kendall_tau_b: Estimate::over_pairs(&points, stats::kendall_tau_b),
            pearson: Estimate::over_pairs(&points, stats::pearson),
        },
        by_language: by_language(&counted),
        binary: Binary::of(&counted, asked.bar),
        people: People::of(&measured.items),
        disagreements: disagreements(&counted),
        length: length(&counted),
        pass_rate: asked.run.and_then(|run| PassRate::of(&counted, asked.bar, run)),
        points,
    }
}

fn items(measured: &Measured, counted: usize) -> Items {
    let mut items = Items {
        labelled: measured.items.len(),
        counted,
        tied: Vec::new(),
        not_applicable: BTreeMap::new(),
        unmeasured: BTreeMap::new(),
    };
    for item in &measured.items {
        match &item.judge {
            Judged::Scored(_) if item.human().is_none() => items.tied.push(item.item.clone()),
            Judged::Scored(_) => {}
            Judged::NotApplicable(why) => {
                items.not_applicable.insert(item.item.clone(), why.clone());
            }
            Judged::Unmeasured(why) => {
                items.unmeasured.insert(item.item.clone(), why.clone());
            }
        }
    }
    items
}

fn mean_error(counted: &[Counted<'_>]) -> f64 {
    counted.iter().map(Counted::error).sum::<f64>() / counted.len() as f64
}

fn by_language(counted: &[Counted<'_>]) -> BTreeMap<String, OfLanguage> {
    let mut groups: BTreeMap<String, Vec<Counted<'_>>> = BTreeMap::new();
    for one in counted {
        groups.entry(one.item.language.clone()).or_default().push(*one);
    }
    let figures = |group: Vec<Counted<'_>>| {
        let pairs: Vec<(f64, f64)> = group.iter().map(|one| (one.human, one.judge)).collect();
        OfLanguage { counted: group.len(), spearman: spearman(&pairs), mean_error: mean_error(&group) }
    };
    groups.into_iter().map(|(language, group)| (language, figures(group))).collect()
}

fn disagreements(counted: &[Counted<'_>]) -> Vec<Disagreement> {
    let mut apart: Vec<&Counted<'_>> = counted.iter().filter(|one| one.error() != 0.0).collect();
    apart.sort_by(|a, b| b.error().abs().total_cmp(&a.error().abs()).then_with(|| a.item.item.cmp(&b.item.item)));
    let told = |one: &Counted<'_>| Disagreement {
        item: one.item.item.clone(),
        language: one.item.language.clone(),
        human: one.human,
        people: one.item.people.iter().map(|(who, human)| (who.clone(), human.number())).collect(),
        judge: one.judge,
    };
    apart.into_iter().take(MOST_DISAGREEMENTS).map(told).collect()
}

fn length(counted: &[Counted<'_>]) -> Length {
    let pairs: Vec<(f64, f64)> = counted.iter().map(|one| (one.item.length as f64, one.error())).collect();
    let mut by_length = counted.to_vec();
    by_length.sort_by(|a, b| (a.item.length, &a.item.item).cmp(&(b.item.length, &b.item.item)));
    let are_alike = by_length.first().map(|one| one.item.length) == by_length.last().map(|one| one.item.length);
    let groups = if by_length.len() < 2 * GROUPS || are_alike {
        Vec::new()
    } else {
        let group = |group: &[Counted<'_>]| LengthGroup {
            up_to: group.iter().map(|one| one.item.length).max().unwrap_or_default(),
            items: group.len(),
            mean_error: mean_error(group),
        };
        let thirds = by_length.chunks(by_length.len().div_ceil(GROUPS));
        let bounds: BTreeSet<usize> = thirds.filter_map(|third| third.last()).map(|one| one.item.length).collect();
        let mut rest = by_length.as_slice();
        let up_to = |bound: usize| {
            let (these, longer) = rest.split_at(rest.partition_point(|one| one.item.length <= bound));
            rest = longer;
            group(these)
        };
        bounds.into_iter().map(up_to).collect()
    };
    Length { spearman: spearman(&pairs), groups }
}
