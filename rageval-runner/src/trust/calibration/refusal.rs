//! Decides whether a calibration lets a judge gate: every reason why it does not.

use std::collections::{BTreeMap, BTreeSet};

use super::{Bars, Judged, LabelledItem, MIN_LABELS, MIN_SPEARMAN, Measured};
use crate::{model::run::JudgeStamp, stats};

/// Slack of the comparison, as in all comparisons of scores.
const SLACK: f64 = 1e-9;

/// What a calibration is looked at against: what holds here and now.
#[derive(Debug, Clone, PartialEq)]
pub struct Now<'a> {
    /// Who judges the metric, with the fingerprint of its verdicts.
    pub judge: &'a JudgeStamp,
    /// The labels of the metric.
    pub labels: &'a Labelled,
    /// The version of the golden set, stated or locked.
    pub set_version: Option<&'a str>,
    /// How well the judge must agree.
    pub bars: &'a Bars,
}

/// Of so many labelled items one may be not applicable to the judge: rho is over the others.
const ONE_NOT_APPLICABLE_IN: usize = 10;

/// The labels of one metric as they stand in the files.
#[derive(Debug, Clone, PartialEq)]
pub enum Labelled {
    /// There is none.
    Nothing,
    /// Some, with the items that have one and the digest over them.
    Items {
        /// Items with a label of the metric, by id: see [`super::labelled_items`].
        items: BTreeMap<String, LabelledItem>,
        /// See [`super::label_digest`].
        digest: String,
        /// The version of the golden set that the labels state.
        set_version: Option<String>,
    },
    /// The files can't be read as labels, and the first reason.
    Unreadable(String),
}

/// How the items of a calibration differ from the labelled ones, by id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Differences {
    /// Labelled, and not in the calibration.
    pub missing: Vec<String>,
    /// In the calibration, and not labelled; or there more than once.
    pub added: Vec<String>,
    /// Other people, words or scores, weight, language or length than in the labels.
    pub changed: Vec<String>,
    /// How many items are labelled.
    pub labelled: usize,
}

/// One reason why a judge is not believed.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    /// The policy asks for fewer labels or less agreement than [`MIN_LABELS`] and [`MIN_SPEARMAN`].
    LowBar,
    /// The labels can't be read, and why; means of systems among them.
    Labels(String),
    /// The stored calibration can't be read, and why.
    Unreadable(String),
    /// There is no calibration of the metric; how many items are labelled for it.
    Missing {
        /// Items with a label of the metric.
        labelled: usize,
    },
    /// Another judge was held against people.
    OtherJudge {
        /// The one that was.
        calibrated: JudgeStamp,
        /// The one that judges now.
        now: JudgeStamp,
    },
    /// Labels came, changed or went since.
    OtherLabels,
    /// The labels are the same, and the items of the calibration are not theirs: somebody changed the calibration.
    OtherItems(Differences),
    /// The labels were drawn from another version of the golden set.
    OtherSetVersion {
        /// The version that the labels state.
        labels: String,
        /// The version of the golden set; `None` where it states none.
        set: Option<String>,
    },
    /// The judge gave no score on some items.
    Unmeasured {
        /// How many.
        items: usize,
        /// Of how many labelled.
        of: usize,
    },
    /// More than a tenth of the items are not applicable to the judge, so that the correlation would be over those that are left.
    NotApplicable {
        /// How many.
        items: usize,
        /// Of how many labelled.
        of: usize,
    },
    /// Too few items that people labelled and the judge scored.
    TooFew {
        /// How many there are.
        items: usize,
        /// How many there must be.
        min: usize,
    },
    /// The judge says the same of every item.
    ConstantJudge,
    /// People say the same of every item.
    ConstantPeople,
    /// The rank correlation is below the bar.
    Low {
        /// The correlation.
        rho: f64,
        /// The bar.
        min: f64,
    },
}

/// Everything that keeps a judge from being believed; empty where it may gate. Recomputed from the items: no stored verdict is taken.
pub fn refusals(measured: Option<&Measured>, now: &Now<'_>) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    if now.bars.min_labels < MIN_LABELS || now.bars.min_spearman < MIN_SPEARMAN - SLACK {
        refusals.push(Refusal::LowBar);
    }
    let Some(measured) = measured else {
        refusals.push(match now.labels {
            Labelled::Nothing => Refusal::Missing { labelled: 0 },
            Labelled::Items { items, .. } => Refusal::Missing { labelled: items.len() },
            // How many items are labelled is not known.
            Labelled::Unreadable(why) => Refusal::Labels(why.clone()),
        });
        return refusals;
    };
    if measured.judge.fingerprint != now.judge.fingerprint {
        refusals.push(Refusal::OtherJudge { calibrated: measured.judge.clone(), now: now.judge.clone() });
    }
    match now.labels {
        Labelled::Nothing => refusals.push(Refusal::OtherLabels),
        Labelled::Items { digest, .. } if *digest != measured.labels => refusals.push(Refusal::OtherLabels),
        Labelled::Items { items, .. } => refusals.extend(differences(measured, items).map(Refusal::OtherItems)),
        Labelled::Unreadable(why) => refusals.push(Refusal::Labels(why.clone())),
    }
    let stated = match now.labels {
        Labelled::Items { set_version, .. } => set_version.as_ref(),
        Labelled::Nothing | Labelled::Unreadable(_) => None,
    };
    // The labels as they are now, then as they were at the calibration.
    if let Some(labels) = [stated, measured.set_version.as_ref()]
        .into_iter()
        .flatten()
        .find(|version| now.set_version != Some(version.as_str()))
    {
        refusals.push(Refusal::OtherSetVersion { labels: labels.clone(), set: now.set_version.map(str::to_owned) });
    }
    refusals.extend(agreement(measured, now.bars));
    refusals
}

/// How the items of the calibration differ from those that are labelled; `None` where they do not.
fn differences(measured: &Measured, labelled: &BTreeMap<String, LabelledItem>) -> Option<Differences> {
    let mut found = Differences { labelled: labelled.len(), ..Differences::default() };
    let mut seen = BTreeSet::new();
    for item in &measured.items {
        match labelled.get(&item.item) {
            Some(_) if !seen.insert(item.item.as_str()) => found.added.push(item.item.clone()),
            Some(label) if *label != item.labelled() => found.changed.push(item.item.clone()),
            Some(_) => {}
            None => found.added.push(item.item.clone()),
        }
    }
    found.missing = labelled.keys().filter(|id| !seen.contains(id.as_str())).cloned().collect();
    let is_same = found.missing.is_empty() && found.added.is_empty() && found.changed.is_empty();
    (!is_same).then_some(found)
}

/// What the items themselves say against the judge.
fn agreement(measured: &Measured, bars: &Bars) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let unmeasured = measured.items.iter().filter(|item| matches!(item.judge, Judged::Unmeasured(_))).count();
    if unmeasured > 0 {
        refusals.push(Refusal::Unmeasured { items: unmeasured, of: measured.items.len() });
    }
    let not_applicable = measured.items.iter().filter(|item| matches!(item.judge, Judged::NotApplicable(_))).count();
    if not_applicable * ONE_NOT_APPLICABLE_IN > measured.items.len() {
        refusals.push(Refusal::NotApplicable { items: not_applicable, of: measured.items.len() });
    }
    let pairs = measured.pairs();
    if pairs.len() < bars.min_labels {
        refusals.push(Refusal::TooFew { items: pairs.len(), min: bars.min_labels });
    }
    match stats::spearman(&pairs) {
        Some(rho) if rho >= bars.min_spearman - SLACK => {}
        Some(rho) => refusals.push(Refusal::Low { rho, min: bars.min_spearman }),
        None => {
            let is_constant = |side: fn(&(f64, f64)) -> f64| pairs.iter().all(|pair| side(pair) == side(&pairs[0]));
            if pairs.len() > 1 && is_constant(|pair| pair.1) {
                refusals.push(Refusal::ConstantJudge);
            }
            if pairs.len() > 1 && is_constant(|pair| pair.0) {
                refusals.push(Refusal::ConstantPeople);
            }
        }
    }
    refusals
}
