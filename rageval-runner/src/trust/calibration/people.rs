//! How people agree among themselves: a benchmark for a judge.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{
    MeasuredItem,
    estimate::{Estimate, spearman},
};
use crate::{
    model::Human,
    stats::{
        self,
        agreement::{Level, krippendorff_alpha},
    },
};

/// People among themselves. All of it is empty where no item was labelled by two.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct People {
    /// Who labelled how many items.
    pub annotators: BTreeMap<String, usize>,
    /// Items that two or more labelled.
    pub shared: usize,
    /// Krippendorff's alpha over these: nominal for verdicts as yes and no, interval for scores.
    pub krippendorff_alpha: Option<Estimate>,
    /// Spearman's correlation of each person with the mean of the others, over the items that both they and others labelled.
    pub against_others: BTreeMap<String, Estimate>,
    /// The mean of these: a benchmark for a judge and no bound, since one person against the mean of the others is noisier than a judge against
    /// the mean of all.
    pub ceiling: Option<f64>,
}

impl People {
    /// The people of these items.
    pub(super) fn of(items: &[MeasuredItem]) -> Self {
        let mut annotators: BTreeMap<String, usize> = BTreeMap::new();
        for name in items.iter().flat_map(|item| item.people.keys()) {
            *annotators.entry(name.clone()).or_default() += 1;
        }
        let shared: Vec<&MeasuredItem> = items.iter().filter(|item| item.people.len() > 1).collect();
        let units: Vec<Vec<f64>> =
            shared.iter().map(|item| item.people.values().map(|human| human.number()).collect()).collect();
        let are_scores = shared.iter().flat_map(|item| item.people.values()).all(|human| match human {
            Human::Score(_) => true,
            Human::Verdict(_) => false,
        });
        let level = if are_scores { Level::Interval } else { Level::Nominal };
        let alpha = Estimate::over_items(units.len(), |places| {
            krippendorff_alpha(&places.iter().map(|place| units[*place].clone()).collect::<Vec<_>>(), level)
        });
        let names: BTreeSet<&String> = shared.iter().flat_map(|item| item.people.keys()).collect();
        let against_others: BTreeMap<String, Estimate> =
            names.into_iter().filter_map(|name| Some((name.clone(), against_others(name, &shared)?))).collect();
        let rhos: Vec<f64> = against_others.values().map(|estimate| estimate.value).collect();
        Self {
            annotators,
            shared: shared.len(),
            krippendorff_alpha: alpha,
            ceiling: stats::mean(&rhos),
            against_others,
        }
    }
}

/// One person against the mean of the others.
fn against_others(name: &str, shared: &[&MeasuredItem]) -> Option<Estimate> {
    let pairs: Vec<(f64, f64)> = shared
        .iter()
        .filter_map(|item| {
            let own = item.people.get(name)?.number();
            let others = item.people.iter().filter(|(other, _)| *other != name).map(|(_, human)| human.number());
            Some((own, super::rounded(stats::mean(&others.collect::<Vec<_>>())?)))
        })
        .collect();
    spearman(&pairs)
}
