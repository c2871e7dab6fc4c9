//! Bootstrap intervals of any statistic over resampled items.

use super::{
    Interval,
    bootstrap::{FULL_UP_TO, RESAMPLES},
    draw::Draws,
    normal,
};

/// How limits are read off the statistics of the resamples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limits {
    /// Their 0.025 and 0.975 quantiles (Efron, "Bootstrap methods", 1979).
    Percentile,
    /// Quantiles corrected for bias and skewness: BCa (Efron, "Better bootstrap confidence intervals", 1987), the acceleration by the jackknife over items.
    Bca,
}

/// The interval of a statistic, with what the resamples said.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resampled {
    /// The 95 % interval.
    pub interval: Interval,
    /// How many resamples had the statistic.
    pub resamples: usize,
    /// How many had none, such as a correlation of items that all have one score; at most a twentieth of all.
    pub undefined: usize,
}

/// The 95 % bootstrap interval of a statistic of `n` items.
///
/// `statistic` gets the places of a resample, `n` numbers below `n` with repetitions, and returns `None` where it has no value. A weight stays with its item:
/// items are drawn with equal chances and the statistic weighs them. The same `seed` gives the same resamples: 10,000 up to 200 items, fewer beyond, so
/// that resamples x items stays what it is there, and at least 1,000. `None` where no interval can be given: of fewer than two items, where the items
/// themselves have no statistic or more than a twentieth of the resamples have none, where all resamples give one value, and for BCa where a jackknife
/// sample has none or all resamples lie on one side.
pub fn interval_over_items(
    n: usize,
    limits: Limits,
    seed: u64,
    statistic: impl Fn(&[usize]) -> Option<f64>,
) -> Option<Resampled> {
    if n < 2 {
        return None;
    }
    let mut places: Vec<usize> = (0..n).collect();
    let observed = finite(statistic(&places))?;
    let asked = (RESAMPLES * FULL_UP_TO / n).clamp(RESAMPLES / 10, RESAMPLES);
    // More items than a 32-bit number counts do not fit into memory.
    let bound = u32::try_from(n).unwrap_or(u32::MAX);
    let mut draws = Draws::seeded(seed);
    let mut drawn = vec![0; n];
    let mut resampled = Vec::with_capacity(asked);
    for _ in 0..asked {
        draws.fill_below(bound, &mut drawn);
        for (place, drawn) in places.iter_mut().zip(&drawn) {
            *place = *drawn as usize;
        }
        resampled.extend(finite(statistic(&places)));
    }
    let undefined = asked - resampled.len();
    if asked < undefined * 20 {
        return None;
    }
    resampled.sort_by(f64::total_cmp);
    if resampled.first() == resampled.last() {
        return None;
    }
    let interval = match limits {
        Limits::Percentile => Interval { low: quantile(&resampled, 0.025), high: quantile(&resampled, 0.975) },
        Limits::Bca => {
            let [low, high] = bca(&resampled, observed, &jackknife(n, statistic)?, [0.025, 0.975])?;
            Interval { low, high }
        }
    };
    Some(Resampled { interval, resamples: resampled.len(), undefined })
}

fn finite(statistic: Option<f64>) -> Option<f64> {
    statistic.filter(|value| value.is_finite())
}

/// The statistic without each item in turn; `None` where one of them has none.
fn jackknife(n: usize, statistic: impl Fn(&[usize]) -> Option<f64>) -> Option<Vec<f64>> {
    (0..n).map(|left_out| finite(statistic(&(0..n).filter(|place| *place != left_out).collect::<Vec<_>>()))).collect()
}

/// The BCa limits below which the given shares lie, from the resampled statistics in ascending order, the observed one and the jackknife's.
///
/// Half of the resamples that tie with the observed statistic count as below, as in SciPy, so that a statistic of few distinct values is not pushed to
/// one side. `None` of nothing, and where all resamples lie on one side of the observed statistic.
pub fn bca<const N: usize>(resampled: &[f64], observed: f64, jackknife: &[f64], levels: [f64; N]) -> Option<[f64; N]> {
    let below = resampled.partition_point(|statistic| *statistic < observed);
    let up_to = resampled.partition_point(|statistic| *statistic <= observed);
    let bias = normal::quantile((below + up_to) as f64 / (2 * resampled.len()) as f64);
    if !bias.is_finite() {
        return None;
    }
    let acceleration = acceleration(jackknife);
    Some(levels.map(|level| quantile(resampled, normal::cdf(corrected(bias, acceleration, level)))))
}

/// The point of the bootstrap distribution, in standard normal units, at which BCa puts the limit of this level.
pub(super) fn corrected(bias: f64, acceleration: f64, level: f64) -> f64 {
    let shifted = bias + normal::quantile(level);
    bias + shifted / (1.0 - acceleration * shifted)
}

/// A sixth of the skewness of the jackknife statistics; 0 without spread.
pub(super) fn acceleration(jackknife: &[f64]) -> f64 {
    let centre = jackknife.iter().sum::<f64>() / jackknife.len() as f64;
    let (squares, cubes) = jackknife.iter().fold((0.0, 0.0), |(squares, cubes), statistic| {
        let distance = centre - statistic;
        (squares + distance * distance, cubes + distance * distance * distance)
    });
    if squares > 0.0 { cubes / (6.0 * f64::powf(squares, 1.5)) } else { 0.0 }
}

/// The value below which this share of the ascending numbers lies, interpolated between neighbours (type 7 of Hyndman and Fan, "Sample quantiles in
/// statistical packages", 1996, as in NumPy). Panics of nothing.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let position = share.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * (position - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{Cluster, mean, mean_interval, spearman};

    const SCORES: [f64; 12] = [1.0, 0.9, 0.4, 1.0, 0.8, 0.0, 0.7, 1.0, 0.95, 0.6, 1.0, 0.75];

    fn mean_at(places: &[usize]) -> Option<f64> {
        mean(&places.iter().map(|place| SCORES[*place]).collect::<Vec<_>>())
    }

    #[test]
    fn the_interval_of_a_mean_is_that_of_the_means_own_bootstrap() {
        let here = interval_over_items(SCORES.len(), Limits::Bca, 0, mean_at).expect("an interval");
        let there = mean_interval(&SCORES.map(Cluster::one), 0).expect("an interval");
        assert!((here.interval.low - there.low).abs() < 0.01, "{here:?} {there:?}");
        assert!((here.interval.high - there.high).abs() < 0.01, "{here:?} {there:?}");
        assert_eq!((here.resamples, here.undefined), (RESAMPLES, 0));
    }

    #[test]
    fn equal_seeds_give_equal_intervals() {
        let skewed =
            |places: &[usize]| Some(places.iter().map(|place| SCORES[*place] * (*place as f64 + 2.0).sqrt()).sum());
        let of = |seed| interval_over_items(SCORES.len(), Limits::Percentile, seed, skewed);
        assert_eq!(of(5), of(5));
        assert_ne!(of(5), of(6));
    }

    #[test]
    fn what_has_no_spread_has_no_interval() {
        for limits in [Limits::Percentile, Limits::Bca] {
            assert_eq!(interval_over_items(0, limits, 0, |_| Some(1.0)), None);
            assert_eq!(interval_over_items(1, limits, 0, |_| Some(1.0)), None);
            assert_eq!(interval_over_items(9, limits, 0, |_| Some(1.0)), None);
            assert_eq!(interval_over_items(9, limits, 0, |_| None), None);
            assert_eq!(interval_over_items(9, limits, 0, |_| Some(f64::NAN)), None);
        }
    }

    /// Where 4 items of 60 differ from the others, e^-4 or 1.8 % of the resamples draw none of them and have no correlation; where 1 does, e^-1.
    #[test]
    fn resamples_without_the_statistic_are_counted_and_too_many_leave_no_interval() {
        let correlation = |odd: usize| {
            move |places: &[usize]| {
                let judge = |place: usize| if place < odd { 0.0 } else { 1.0 };
                spearman(&places.iter().map(|place| (judge(*place), *place as f64)).collect::<Vec<_>>())
            }
        };
        let few = interval_over_items(60, Limits::Percentile, 0, correlation(4)).expect("an interval");
        assert!(0 < few.undefined && few.undefined + few.resamples == RESAMPLES, "{few:?}");
        assert_eq!(interval_over_items(60, Limits::Percentile, 0, correlation(1)), None);
    }

    #[test]
    fn resamples_on_one_side_have_no_bca_limits() {
        assert_eq!(bca(&[1.0, 2.0, 3.0], 0.5, &[1.0, 2.0, 3.0], [0.5]), None);
        assert_eq!(bca(&[], 0.5, &[1.0], [0.5]), None);
    }
}
