//! Decides whether a calibration lets a judge gate: every reason why it does not.

use super::{Bars, Judged, MIN_LABELS, MIN_SPEARMAN, Measured};
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

/// The labels of one metric as they stand in the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Labelled {
    /// There is none.
    Nothing,
    /// Some, with the items that have one and the digest over them.
    Items {
        /// Items with a label of the metric.
        items: usize,
        /// See [`super::label_digest`].
        digest: String,
    },
    /// The files can't be read as labels, and the first reason.
    Unreadable(String),
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
    let labelled = match now.labels {
        Labelled::Nothing => Ok(None),
        Labelled::Items { items, digest } => Ok(Some((*items, digest))),
        Labelled::Unreadable(why) => Err(Refusal::Labels(why.clone())),
    };
    refusals.extend(labelled.clone().err());
    let Some(measured) = measured else {
        // How many items are labelled is not known where they can't be read.
        refusals.extend(labelled.ok().map(|found| Refusal::Missing { labelled: found.map_or(0, |(items, _)| items) }));
        return refusals;
    };
    if measured.judge.fingerprint != now.judge.fingerprint {
        refusals.push(Refusal::OtherJudge { calibrated: measured.judge.clone(), now: now.judge.clone() });
    }
    if labelled.is_ok_and(|found| found.is_none_or(|(_, digest)| *digest != measured.labels)) {
        refusals.push(Refusal::OtherLabels);
    }
    if let Some(labels) = &measured.set_version
        && now.set_version != Some(labels)
    {
        refusals.push(Refusal::OtherSetVersion { labels: labels.clone(), set: now.set_version.map(str::to_owned) });
    }
    refusals.extend(agreement(measured, now.bars));
    refusals
}

/// What the items themselves say against the judge.
fn agreement(measured: &Measured, bars: &Bars) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let unmeasured = measured.items.iter().filter(|item| matches!(item.judge, Judged::Unmeasured(_))).count();
    if unmeasured > 0 {
        refusals.push(Refusal::Unmeasured { items: unmeasured, of: measured.items.len() });
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
