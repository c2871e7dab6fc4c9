//! Shares and means of a judge, corrected for the errors that it made on labelled items.

use super::{Interval, normal};

/// An estimate with its 95 % interval. Neither is cut to 0 and 1: what lies outside says that the labelled items and the corrected ones do not fit together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Corrected {
    /// The estimate.
    pub estimate: f64,
    /// Its 95 % interval, which need not be centred on the estimate.
    pub interval: Interval,
}

/// A share with the number of items that it was counted over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    share: f64,
    n: f64,
}

impl Share {
    /// `wins` of `n`; `None` when `n` is 0 or smaller than `wins`.
    pub fn of(wins: usize, n: usize) -> Option<Self> {
        Self::with_effective(wins as f64 / n as f64, n as f64)
    }

    /// A share of weighted items: `share` in [0, 1], over as many items as `n` says, which is above 0; `None` otherwise. See [`effective_size`].
    pub fn with_effective(share: f64, n: f64) -> Option<Self> {
        ((0.0..=1.0).contains(&share) && 0.0 < n && n.is_finite()).then_some(Self { share, n })
    }

    /// The variance of the share.
    fn variance(&self) -> f64 {
        self.share * (1.0 - self.share) / self.n
    }

    /// The share with so many wins and as many losses added.
    fn with(&self, added: f64) -> Self {
        let n = self.n + 2.0 * added;
        Self { share: (self.share * self.n + added) / n, n }
    }
}

/// How many items of equal weight are worth these weighted ones: (sum of weights)^2 / sum of squared weights; `None` of nothing, of weights that are negative or
/// not finite, where all are 0, and where a sum is too large for a number.
///
/// Kish, Survey Sampling (1965), section 11.7.
pub fn effective_size(weights: &[f64]) -> Option<f64> {
    if weights.iter().any(|weight| !weight.is_finite() || *weight < 0.0) {
        return None;
    }
    let (sum, squares) =
        weights.iter().fold((0.0, 0.0), |(sum, squares), weight| (sum + weight, squares + weight * weight));
    (0.0 < squares).then(|| sum * sum / squares).filter(|size| size.is_finite())
}

/// The true share of positives behind the share that a judge calls so, given its true positive and true negative rates on labelled items.
///
/// (judged + TNR - 1) / (TPR + TNR - 1), Rogan and Gladen, "Estimating prevalence from the results of a screening test" (1978). The interval by Lang and
/// Reiczigel, "Confidence limits for prevalence of disease adjusted for estimated sensitivity and specificity" (2014): half of z^2 wins and losses are added
/// to the judged share and one of each to both rates, whose own uncertainty is counted. `None` where TPR + TNR is at most 1, before or after that
/// addition: of a judge that is no better than a coin nothing can be corrected.
pub fn rogan_gladen(judged: Share, true_positive_rate: Share, true_negative_rate: Share) -> Option<Corrected> {
    let estimate = prevalence(judged, true_positive_rate, true_negative_rate)?;
    let z = normal::quantile(0.975);
    let (judged, tpr, tnr) = (judged.with(z * z / 2.0), true_positive_rate.with(1.0), true_negative_rate.with(1.0));
    let centre = prevalence(judged, tpr, tnr)?;
    let shift = 2.0 * z * z * (centre * tpr.variance() - (1.0 - centre) * tnr.variance());
    let discrimination = tpr.share + tnr.share - 1.0;
    let variance = judged.variance() + centre.powi(2) * tpr.variance() + (1.0 - centre).powi(2) * tnr.variance();
    let half = z * variance.sqrt() / discrimination;
    Some(Corrected { estimate, interval: Interval { low: centre + shift - half, high: centre + shift + half } })
}

fn prevalence(judged: Share, true_positive_rate: Share, true_negative_rate: Share) -> Option<f64> {
    let discrimination = true_positive_rate.share + true_negative_rate.share - 1.0;
    // 0.6 + 0.4 - 1 is no exact 0.
    (1e-9 < discrimination).then(|| (judged.share + true_negative_rate.share - 1.0) / discrimination)
}

/// An item that was labelled and judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Labelled {
    /// What people say.
    pub human: f64,
    /// What the judge says.
    pub judge: f64,
    /// How many items it stands for; 1 where it was not drawn with weights.
    pub weight: f64,
}

/// The mean that people would give to a run, from the judge's scores of the run (`judged`) and its errors on labelled items.
///
/// The judge's mean minus its mean error (judge - human) on the labelled items, with the normal interval from both variances: Angelopoulos, Bates,
/// Fannjiang, Jordan and Zrnic, "Prediction-powered inference" (Science 382, 2023), algorithm 1. Variances have the divisor n - 1 instead of n, for few labels.
/// Holds where the labelled items are drawn from what the run's are, by their weights: the mean error is then weighted, and its variance is that of a
/// ratio. The labelled items should not be among the judged ones. `None` of fewer than two numbers on either side, of a number that is not finite, of a
/// weight that is not above 0, and of weights too large to be summed.
pub fn prediction_powered_mean(judged: &[f64], labelled: &[Labelled]) -> Option<Corrected> {
    let is_sound = |item: &Labelled| {
        item.human.is_finite() && item.judge.is_finite() && item.weight.is_finite() && 0.0 < item.weight
    };
    if judged.len() < 2
        || labelled.len() < 2
        || !judged.iter().all(|score| score.is_finite())
        || !labelled.iter().all(is_sound)
    {
        return None;
    }
    let (mean, variance) = mean_with_variance(judged.iter().map(|score| (*score, 1.0)));
    let (error, error_variance) =
        mean_with_variance(labelled.iter().map(|item| (item.judge - item.human, item.weight)));
    let estimate = mean - error;
    let half = normal::quantile(0.975) * (variance + error_variance).sqrt();
    if !estimate.is_finite() || !half.is_finite() {
        return None;
    }
    Some(Corrected { estimate, interval: Interval { low: estimate - half, high: estimate + half } })
}

/// The weighted mean of `(number, weight)`, at least two, and the variance of that mean.
fn mean_with_variance(numbers: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let n = numbers.clone().count() as f64;
    let total: f64 = numbers.clone().map(|(_, weight)| weight).sum();
    let mean = numbers.clone().map(|(number, weight)| weight * number).sum::<f64>() / total;
    let squares: f64 = numbers.map(|(number, weight)| (weight * (number - mean)).powi(2)).sum();
    (mean, squares / (total * total) * n / (n - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::draw::Draws;

    fn share(wins: usize, n: usize) -> Share {
        Share::of(wins, n).expect("a share")
    }

    fn plain(pairs: &[(f64, f64)]) -> Vec<Labelled> {
        pairs.iter().map(|(human, judge)| Labelled { human: *human, judge: *judge, weight: 1.0 }).collect()
    }

    #[test]
    fn a_judge_without_errors_needs_no_correction() {
        let corrected =
            rogan_gladen(share(57, 60), share(1_000_000, 1_000_000), share(1_000_000, 1_000_000)).expect("a share");
        assert!((corrected.estimate - 0.95).abs() < 1e-12, "{corrected:?}");
        // Agresti and Coull's interval of 57 of 60 by statsmodels 0.15, to which Lang and Reiczigel's comes down.
        assert!(
            (corrected.interval.low - 0.857498).abs() < 1e-4 && (corrected.interval.high - 0.988348).abs() < 1e-4,
            "{corrected:?}"
        );
    }

    #[test]
    fn a_lenient_judge_is_corrected_downwards() {
        // 90 % judged good, but it calls 40 % of the bad ones good and finds 95 % of the good ones.
        let corrected = rogan_gladen(share(90, 100), share(38, 40), share(12, 20)).expect("a share");
        assert!((corrected.estimate - 0.5 / 0.55).abs() < 1e-12, "{corrected:?}");
        assert!(corrected.interval.low < corrected.estimate && corrected.estimate < corrected.interval.high);
    }

    #[test]
    fn a_judge_no_better_than_a_coin_corrects_nothing() {
        assert_eq!(rogan_gladen(share(9, 10), share(6, 10), share(4, 10)), None);
        assert_eq!(rogan_gladen(share(9, 10), share(1, 10), share(4, 10)), None);
    }

    #[test]
    fn nothing_is_cut_to_fit() {
        let corrected = rogan_gladen(share(100, 100), share(90, 100), share(90, 100)).expect("a share");
        assert!(1.0 < corrected.estimate, "{corrected:?}");
    }

    /// 2,000 runs of 200 answers, of which 70 % are good, with a judge of TPR 0.9 and TNR 0.75 measured on 40 and 20 labels.
    #[test]
    fn the_interval_holds_the_true_share_as_often_as_it_says() {
        let mut draws = Draws::seeded(0);
        let mut wins = |n: usize, percent: u32| {
            let mut places = vec![0; n];
            draws.fill_below(1_000, &mut places);
            places.iter().filter(|place| **place < percent * 10).count()
        };
        let mut held = 0;
        for _ in 0..2_000 {
            let good = wins(200, 70);
            let judged = wins(good, 90) + wins(200 - good, 25);
            let corrected = rogan_gladen(share(judged, 200), share(wins(40, 90), 40), share(wins(20, 75), 20));
            held += usize::from(corrected.is_some_and(|it| it.interval.low <= 0.7 && 0.7 <= it.interval.high));
        }
        // Binomial with 0.95: three standard deviations are 29.
        assert!((1_860..=1_980).contains(&held), "{held} of 2,000");
    }

    #[test]
    fn shares_of_nothing_are_none() {
        assert_eq!(Share::of(0, 0), None);
        assert_eq!(Share::of(3, 2), None);
        assert_eq!(Share::with_effective(0.5, f64::INFINITY), None);
        assert_eq!(Share::with_effective(f64::NAN, 4.0), None);
    }

    #[test]
    fn equal_weights_are_worth_their_number_and_a_heavy_one_little() {
        assert_eq!(effective_size(&[2.0; 9]), Some(9.0));
        assert!(effective_size(&[1.0, 1.0, 100.0]).is_some_and(|size| size < 1.05));
        assert_eq!((effective_size(&[]), effective_size(&[0.0]), effective_size(&[-1.0])), (None, None, None));
        assert_eq!((effective_size(&[1e200, 1e200]), effective_size(&[1e308; 2])), (None, None));
    }

    #[test]
    fn a_judge_that_is_always_a_tenth_too_kind_is_moved_by_a_tenth() {
        let labelled = plain(&[(0.5, 0.6), (0.1, 0.2), (0.9, 1.0)]);
        let corrected = prediction_powered_mean(&[0.8, 0.9, 1.0, 0.7], &labelled).expect("a mean");
        assert!((corrected.estimate - 0.75).abs() < 1e-12, "{corrected:?}");
        // The error has no spread, so only the run's own is left: s = 0.1290994, n = 4.
        assert!((corrected.interval.high - corrected.estimate - 1.959963984540054 * 0.06454972243679).abs() < 1e-9);
    }

    #[test]
    fn weights_move_the_error_to_what_they_stand_for() {
        let labelled =
            [Labelled { human: 0.0, judge: 1.0, weight: 1.0 }, Labelled { human: 1.0, judge: 1.0, weight: 9.0 }];
        let corrected = prediction_powered_mean(&[1.0, 1.0], &labelled).expect("a mean");
        assert!((corrected.estimate - 0.9).abs() < 1e-12, "{corrected:?}");
    }

    #[test]
    fn two_items_on_both_sides_are_needed() {
        let labelled = plain(&[(0.5, 0.6), (0.1, 0.2)]);
        assert_eq!(prediction_powered_mean(&[0.5], &labelled), None);
        assert_eq!(prediction_powered_mean(&[0.5, 0.6], &labelled[..1]), None);
        assert_eq!(prediction_powered_mean(&[0.5, f64::NAN], &labelled), None);
        assert!(prediction_powered_mean(&[0.5, 0.5], &labelled).is_some());
        let heavy = Labelled { human: 0.5, judge: 0.5, weight: 0.0 };
        assert_eq!(prediction_powered_mean(&[0.5, 0.6], &[labelled[0], heavy]), None);
        let huge = [Labelled { weight: 1e308, ..labelled[0] }, Labelled { weight: 1e308, ..labelled[1] }];
        assert_eq!(prediction_powered_mean(&[0.5, 0.6], &huge), None);
    }
}
