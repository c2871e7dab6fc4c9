//! Judge and people as yes and no, and what the judge's errors make of a pass rate.

use serde::Serialize;

use super::{estimate::Estimate, report::Counted};
use crate::stats::{
    self,
    agreement::Confusion,
    corrected::{Corrected, Labelled, Share, effective_size, prediction_powered_mean, rogan_gladen},
};

/// Slack of the comparison with a bar, as in all comparisons of scores.
const SLACK: f64 = 1e-9;

/// Whether a score passes.
fn passes(score: f64, bar: f64) -> bool {
    score >= bar - SLACK
}

/// Judge and people as yes and no: an item is a yes from the bar on. Each item counts once.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Binary {
    /// The score from which an item is a yes.
    pub bar: f64,
    /// Yes by people, yes by the judge.
    pub true_positive: usize,
    /// No by people, yes by the judge.
    pub false_positive: usize,
    /// Yes by people, no by the judge.
    pub false_negative: usize,
    /// No by people, no by the judge.
    pub true_negative: usize,
    /// The share of people's yes that the judge finds, 0 to 1; `None` without a yes of people.
    pub true_positive_rate: Option<Estimate>,
    /// The share of people's no that the judge finds, 0 to 1; `None` without a no of people.
    pub true_negative_rate: Option<Estimate>,
    /// The mean of both rates; 0.5 for a judge that always says the same.
    pub balanced_accuracy: Option<Estimate>,
    /// Cohen's kappa; `None` where both always say the same.
    pub kappa: Option<Estimate>,
}

impl Binary {
    /// The table of the items that count, at this bar.
    pub(super) fn of(counted: &[Counted<'_>], bar: f64) -> Self {
        let said: Vec<(bool, bool)> =
            counted.iter().map(|one| (passes(one.human, bar), passes(one.judge, bar))).collect();
        let count = |cell: (bool, bool)| said.iter().filter(|said| **said == cell).count();
        let figure = |figure: fn(&Confusion) -> Option<f64>| {
            Estimate::over_items(said.len(), |places| figure(&Confusion::of(places.iter().map(|place| said[*place]))))
        };
        Self {
            bar,
            true_positive: count((true, true)),
            false_positive: count((false, true)),
            false_negative: count((true, false)),
            true_negative: count((false, false)),
            true_positive_rate: figure(Confusion::true_positive_rate),
            true_negative_rate: figure(Confusion::true_negative_rate),
            balanced_accuracy: figure(Confusion::balanced_accuracy),
            kappa: figure(Confusion::kappa),
        }
    }
}

/// The share of a run that passes and its mean score, as the judge has them and corrected for its errors on the labelled items.
///
/// By their weights the labelled items stand for what the run's are drawn from. Estimates and limits outside 0 and 1 are left as they are:
/// they say that run and labels do not fit together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PassRate {
    /// The score from which an item passes.
    pub bar: f64,
    /// Items of the run.
    pub n: usize,
    /// The share that passes by the judge, with its Wilson interval.
    pub judged: Estimate,
    /// The share behind it by Rogan and Gladen; `None` where the judge is no better than a coin.
    pub rogan_gladen: Option<Estimate>,
    /// The share that people would find, by prediction-powered inference.
    pub prediction_powered: Option<Estimate>,
    /// The mean score by the judge.
    pub mean: f64,
    /// The mean score that people would give, by prediction-powered inference.
    pub prediction_powered_mean: Option<Estimate>,
}

impl PassRate {
    /// `None` of an empty run.
    pub(super) fn of(counted: &[Counted<'_>], bar: f64, run: &[f64]) -> Option<Self> {
        let mean = stats::mean(run)?;
        let passed = run.iter().filter(|score| passes(**score, bar)).count();
        let judged = Share::of(passed, run.len())?;
        let wilson = stats::wilson(passed, run.len());
        let as_share = |score: f64| f64::from(passes(score, bar));
        let labelled = |number: &dyn Fn(f64) -> f64| -> Vec<Labelled> {
            let one = |one: &Counted<'_>| Labelled {
                human: number(one.human),
                judge: number(one.judge),
                weight: one.item.weight,
            };
            counted.iter().map(one).collect()
        };
        let shares: Vec<f64> = run.iter().map(|score| as_share(*score)).collect();
        let rates = rate(counted, bar, true).zip(rate(counted, bar, false));
        Some(Self {
            bar,
            n: run.len(),
            judged: Estimate {
                value: passed as f64 / run.len() as f64,
                interval: wilson.map(|interval| (interval.low, interval.high)),
            },
            rogan_gladen: rates.and_then(|(positive, negative)| rogan_gladen(judged, positive, negative)).map(estimate),
            prediction_powered: prediction_powered_mean(&shares, &labelled(&as_share)).map(estimate),
            mean,
            prediction_powered_mean: prediction_powered_mean(run, &labelled(&|score| score)).map(estimate),
        })
    }
}

fn estimate(corrected: Corrected) -> Estimate {
    Estimate { value: corrected.estimate, interval: Some((corrected.interval.low, corrected.interval.high)) }
}

/// The judge's rate on the items that people call so, weighted; `None` where there are none.
fn rate(counted: &[Counted<'_>], bar: f64, people_say: bool) -> Option<Share> {
    let of: Vec<&Counted<'_>> = counted.iter().filter(|one| passes(one.human, bar) == people_say).collect();
    let weights: Vec<f64> = of.iter().map(|one| one.item.weight).collect();
    let right: f64 = of.iter().filter(|one| passes(one.judge, bar) == people_say).map(|one| one.item.weight).sum();
    let all: f64 = weights.iter().sum();
    Share::with_effective(right / all, effective_size(&weights)?)
}
