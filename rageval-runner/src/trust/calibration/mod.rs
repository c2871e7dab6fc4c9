//! Holds a judge against people: what both say of the same items.

pub mod binary;
pub mod estimate;
pub mod people;
pub mod refusal;
pub mod report;

use std::collections::BTreeMap;

use crate::model::{Human, Item, Label, MetricKey, Outcome, Place, UnitInterval, case::Fields, run::JudgeStamp};

pub use estimate::Estimate;
pub use refusal::{Differences, Labelled, Now, Refusal, refusals};
pub use report::{Asked, Report, report};

/// The fewest labelled items from which a judge can be believed; `calibration.min_labels` may ask for more.
pub const MIN_LABELS: usize = 50;

/// The lowest rank correlation with people from which a judge can be believed; `calibration.min_spearman` may ask for more.
pub const MIN_SPEARMAN: f64 = 0.7;

/// How well a judge must agree with people.
#[derive(Debug, Clone, PartialEq)]
pub struct Bars {
    /// The fewest items that people labelled and the judge scored.
    pub min_labels: usize,
    /// The lowest Spearman correlation, 0 to 1.
    pub min_spearman: f64,
    /// Where they stand; the first line of the policy where it does not say.
    pub place: Place,
}

impl Default for Bars {
    fn default() -> Self {
        Self { min_labels: MIN_LABELS, min_spearman: MIN_SPEARMAN, place: Place::default() }
    }
}

/// The judge of each metric held against people: what `baselines/calibration.json` keeps.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Calibration {
    /// By metric as the policy names it.
    pub metrics: BTreeMap<MetricKey, Measured>,
}

/// One metric's labelled items, each as people and the judge see it.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Who judged, with the fingerprint of this metric's verdicts: see `evaluate::stamp::of_metric`.
    pub judge: JudgeStamp,
    /// Digest of the labels of this metric: see [`label_digest`].
    pub labels: String,
    /// The version of the golden set that the labels were drawn from, where they state one.
    pub set_version: Option<String>,
    /// The items, sorted by id.
    pub items: Vec<MeasuredItem>,
}

/// What people say of one item, and what it is: what the labels fix of it.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelledItem {
    /// Its language tag as written, else the language that its question was taken for.
    pub language: String,
    /// What people said, by annotator; never empty.
    pub people: BTreeMap<String, Human>,
    /// How many items of the run this one stands for, above 0.
    pub weight: f64,
    /// Characters of the answer, or of the claim where one is labelled.
    pub length: usize,
}

/// One item as people and the judge see it.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredItem {
    /// Its id.
    pub item: String,
    /// Its language tag as written, else the language that its question was taken for.
    pub language: String,
    /// What people said, by annotator; never empty.
    pub people: BTreeMap<String, Human>,
    /// What the judge said.
    pub judge: Judged,
    /// How many items of the run this one stands for, above 0.
    pub weight: f64,
    /// Characters of the answer, or of the claim where one is labelled.
    pub length: usize,
}

/// What the judge said of an item.
#[derive(Debug, Clone, PartialEq)]
pub enum Judged {
    /// A score.
    Scored(UnitInterval),
    /// The metric has nothing to measure here, and why.
    NotApplicable(String),
    /// It gave no score that can be used, and why.
    Unmeasured(String),
}

/// What was found of one metric's calibration.
#[derive(Debug, Clone, PartialEq)]
pub struct Looked {
    /// What is stored; `None` where nothing is.
    pub measured: Option<Measured>,
    /// Everything that keeps the judge from being believed; empty where it may gate.
    pub refusals: Vec<Refusal>,
}

impl From<&Outcome> for Judged {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Scored { score, .. } => Self::Scored(score.value),
            Outcome::NotApplicable { why } => Self::NotApplicable(why.clone()),
            Outcome::Unmeasured { fault } => Self::Unmeasured(format!("{}: {}", fault.cause, fault.why)),
        }
    }
}

impl MeasuredItem {
    /// What the labels say of it.
    pub fn labelled(&self) -> LabelledItem {
        let Self { item: _, language, people, judge: _, weight, length } = self;
        LabelledItem { language: language.clone(), people: people.clone(), weight: *weight, length: *length }
    }

    /// What people say together, 0 to 1: the mean of their scores to nine decimals, the majority of their verdicts. `None` where as many say yes
    /// as no.
    pub fn human(&self) -> Option<f64> {
        let numbers: Vec<f64> = self.people.values().map(|human| human.number()).collect();
        let mean = crate::stats::mean(&numbers)?;
        if self.people.values().all(|human| matches!(human, Human::Score(_))) {
            return Some(rounded(mean));
        }
        // Verdicts are 1 or 0, so that their mean is the share of yes.
        if mean == 0.5 { None } else { Some(f64::from(mean > 0.5)) }
    }

    /// The judge's score, 0 to 1; `None` where it gave none.
    pub fn score(&self) -> Option<f64> {
        match &self.judge {
            Judged::Scored(score) => Some(score.get()),
            Judged::NotApplicable(_) | Judged::Unmeasured(_) => None,
        }
    }
}

impl Measured {
    /// What people and the judge say of each item on which both say something: `(people, judge)`, in the order of the items.
    pub fn pairs(&self) -> Vec<(f64, f64)> {
        self.items.iter().filter_map(|item| Some((item.human()?, item.score()?))).collect()
    }

    /// Puts labels and the judge's outcomes side by side: every item that has a label of this metric. An item that `judged` lacks is
    /// unmeasured.
    pub fn of(
        metric: &MetricKey,
        (items, labels): (&[Item], &[Label]),
        set_version: Option<&str>,
        judge: JudgeStamp,
        judged: &BTreeMap<String, Judged>,
    ) -> Self {
        let said = |item: &str| {
            judged.get(item).cloned().unwrap_or_else(|| Judged::Unmeasured("it was not judged".to_owned()))
        };
        let measured = labelled_items(metric, items, labels).into_iter().map(|(item, labelled)| {
            let LabelledItem { language, people, weight, length } = labelled;
            MeasuredItem { judge: said(&item), item, language, people, weight, length }
        });
        Self {
            judge,
            labels: label_digest(metric, items, labels),
            set_version: set_version.map(str::to_owned),
            items: measured.collect(),
        }
    }
}

/// The items that have a label of this metric, by id.
pub fn labelled_items(metric: &MetricKey, items: &[Item], labels: &[Label]) -> BTreeMap<String, LabelledItem> {
    let mut labelled: BTreeMap<String, LabelledItem> = BTreeMap::new();
    let texts: BTreeMap<&str, &Item> = items.iter().map(|item| (item.id.as_str(), item)).collect();
    for label in labels.iter().filter(|label| label.metric == *metric) {
        // Loading checks that each label has its item.
        let Some(item) = texts.get(label.item.as_str()) else { continue };
        let entry = labelled.entry(item.id.clone()).or_insert_with(|| LabelledItem {
            language: language(item),
            people: BTreeMap::new(),
            weight: label.weight,
            length: item.claim.as_ref().unwrap_or(&item.sample.answer.response).chars().count(),
        });
        entry.people.insert(label.annotator.clone(), label.human);
    }
    labelled
}

/// A number to nine decimals: the mean of 0.1, 0.2 and 0.3 is that of 0.3, 0.2 and 0.1, and is not ranked apart from it.
fn rounded(number: f64) -> f64 {
    (number * 1e9).round() / 1e9
}

/// The language of an item: its tag as written, else what its question was taken for.
fn language(item: &Item) -> String {
    item.case.language_tag.clone().unwrap_or_else(|| item.case.language.as_str().to_owned())
}

/// Digest of the labels of one metric: 32 hex digits over the items' texts, what each person said of them, and the weights. Notes, places
/// and the order of the files say nothing.
pub fn label_digest(metric: &MetricKey, items: &[Item], labels: &[Label]) -> String {
    let mut labels: Vec<&Label> = labels.iter().filter(|label| label.metric == *metric).collect();
    labels.sort_by(|a, b| (&a.item, &a.annotator).cmp(&(&b.item, &b.annotator)));
    let texts: BTreeMap<&str, &Item> = items.iter().map(|item| (item.id.as_str(), item)).collect();
    let mut fields = Fields::default();
    for of_item in labels.chunk_by(|a, b| a.item == b.item) {
        let Some(item) = texts.get(of_item[0].item.as_str()) else { continue };
        fields.add("item", &item.id);
        fields.add("case", &item.case.digest());
        fields.add("language", &language(item));
        fields.add("response", &item.sample.answer.response);
        for context in &item.sample.answer.retrieved_contexts {
            fields.add("context id", context.id.as_ref().map_or("", |id| id.as_str()));
            fields.add("context", &context.text);
        }
        fields.add("claim", item.claim.as_deref().unwrap_or_default());
        for label in of_item {
            fields.add("annotator", &label.annotator);
            match label.human {
                Human::Score(score) => fields.add("score", &score.get().to_string()),
                Human::Verdict(verdict) => fields.add("verdict", verdict.as_str()),
            }
            fields.add("weight", &label.weight.to_string());
        }
    }
    fields.finish()
}

#[cfg(test)]
mod tests;
