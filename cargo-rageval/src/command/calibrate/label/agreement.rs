//! How far a person's labels agree with those of others, told at the end of a sitting.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use rageval_runner::{
    load::Labels,
    model::{Human, MetricKey},
    report::console::text::visible,
    stats,
};

/// What is labelled now, and the agreement with each other person who labelled the same items.
pub(super) fn lines(labels: &Labels, metric: &MetricKey, annotator: &str, drawn: usize, file: &Path) -> Vec<String> {
    let mut said: BTreeMap<&str, BTreeMap<&str, Human>> = BTreeMap::new();
    for label in labels.labels.iter().filter(|label| label.metric == *metric) {
        said.entry(&label.annotator).or_default().insert(&label.item, label.human);
    }
    let own = said.remove(annotator).unwrap_or_default();
    let mut lines = vec![format!(
        "{} labelled {} items of {metric} in all; this draw has {drawn}; {}",
        visible(annotator),
        own.len(),
        file.display()
    )];
    for (other, theirs) in &said {
        let pairs: Vec<(Human, Human)> =
            own.iter().filter_map(|(item, mine)| Some((*mine, *theirs.get(item)?))).collect();
        if !pairs.is_empty() {
            lines.push(format!("with {}: {}", visible(other), agreement(&pairs)));
        }
    }
    let shared: BTreeSet<&str> = said.values().flat_map(BTreeMap::keys).copied().collect();
    if !own.keys().any(|item| shared.contains(item)) {
        lines.push("nobody else labelled these items yet, so how well people agree is not known".to_owned());
    }
    lines
}

fn agreement(pairs: &[(Human, Human)]) -> String {
    let items = if pairs.len() == 1 { "1 item".to_owned() } else { format!("{} items", pairs.len()) };
    let verdicts: Option<Vec<_>> = pairs
        .iter()
        .map(|pair| match pair {
            (Human::Verdict(mine), Human::Verdict(theirs)) => Some((*mine, *theirs)),
            (Human::Score(_), _) | (_, Human::Score(_)) => None,
        })
        .collect();
    let figure = |number: Option<f64>| number.map_or("-".to_owned(), |number| format!("{number:.2}"));
    match verdicts {
        Some(verdicts) => {
            let same = verdicts.iter().filter(|(mine, theirs)| mine == theirs).count();
            format!("the same verdict on {same} of {items}, kappa {}", figure(stats::cohen_kappa(&verdicts)))
        }
        None => {
            let numbers: Vec<(f64, f64)> =
                pairs.iter().map(|(mine, theirs)| (mine.number(), theirs.number())).collect();
            let apart: Vec<f64> = numbers.iter().map(|(mine, theirs)| (mine - theirs).abs()).collect();
            format!(
                "{} apart on average over {items}, rho {}",
                figure(stats::mean(&apart)),
                figure(stats::spearman(&numbers))
            )
        }
    }
}
