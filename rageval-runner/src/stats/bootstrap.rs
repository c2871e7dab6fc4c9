//! Bias-corrected and accelerated bootstrap limits of a mean.

use super::{
    Interval,
    draw::Draws,
    resample::{self, corrected},
};

/// Resamples for lists of up to [`FULL_UP_TO`] numbers or clusters.
pub const RESAMPLES: usize = 10_000;

/// The longest list that gets all [`RESAMPLES`]; for longer ones resamples x length stays what it is here.
pub const FULL_UP_TO: usize = 200;

/// From this many numbers or clusters on the limits are computed without resampling.
pub const EXPANDED_FROM: usize = 2_000;

/// Numbers that are drawn together, because they are likely to rise and fall together.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cluster {
    /// Their sum.
    pub sum: f64,
    /// How many they are.
    pub count: f64,
}

impl Cluster {
    /// A cluster of one number.
    pub fn one(number: f64) -> Self {
        Self { sum: number, count: 1.0 }
    }

    /// Adds a number.
    pub fn add(&mut self, number: f64) {
        self.sum += number;
        self.count += 1.0;
    }

    fn mean(&self) -> f64 {
        self.sum / self.count
    }
}

/// The 95 % BCa interval of the mean over all numbers of all clusters.
///
/// Efron, "Better bootstrap confidence intervals" (1987); the acceleration by the jackknife over clusters. `None` for fewer than two clusters and
/// for clusters that all have one mean: where no spread was seen, nothing can be said of it.
pub fn mean_interval(clusters: &[Cluster], seed: u64) -> Option<Interval> {
    let limits = limits(clusters, [0.025, 0.975], seed)?;
    Some(Interval { low: limits[0], high: limits[1] })
}

/// The one-sided 95 % upper BCa limit of the mean over all numbers of all clusters.
///
/// `None` for fewer than two clusters. Clusters that all have one mean give that mean: of numbers that are all 0, the limit is 0.
pub fn mean_upper_limit(clusters: &[Cluster], seed: u64) -> Option<f64> {
    if clusters.len() < 2 {
        return None;
    }
    if are_constant(clusters) {
        return clusters.first().map(Cluster::mean);
    }
    limits(clusters, [0.95], seed).map(|limits| limits[0])
}

/// Whether there is no spread between the clusters.
fn are_constant(clusters: &[Cluster]) -> bool {
    clusters.first().is_none_or(|first| clusters.iter().all(|cluster| cluster.mean() == first.mean()))
}

/// The limits below which the given shares of the corrected bootstrap distribution lie.
fn limits<const N: usize>(clusters: &[Cluster], levels: [f64; N], seed: u64) -> Option<[f64; N]> {
    if clusters.len() < 2 || are_constant(clusters) {
        return None;
    }
    // Sorted, so that the limits do not depend on the order of the input.
    let mut clusters = clusters.to_vec();
    clusters.sort_by(|a, b| a.sum.total_cmp(&b.sum).then(a.count.total_cmp(&b.count)));
    let observed = mean_of(&clusters);
    let jackknife = jackknife(&clusters);
    if clusters.len() >= EXPANDED_FROM {
        let error = standard_error(&clusters, observed);
        let acceleration = resample::acceleration(&jackknife);
        return Some(levels.map(|level| observed + error * expanded(acceleration, level)));
    }
    resample::bca(&resampled_means(&clusters, seed), observed, &jackknife, levels)
}

/// The same limit in standard errors from the mean, by expansion instead of resampling.
///
/// Of a mean both the bias correction and a sixth of the skewness of the bootstrap distribution tend to the acceleration (Efron 1987; Hall, "The bootstrap
/// and Edgeworth expansion", 1992), and the Cornish-Fisher expansion turns the corrected point into a quantile; what is left out is of order 1/n.
fn expanded(acceleration: f64, level: f64) -> f64 {
    let point = corrected(acceleration, acceleration, level);
    point + acceleration * (point * point - 1.0)
}

/// Standard error of the mean over all numbers, from the linearised clusters.
fn standard_error(clusters: &[Cluster], mean: f64) -> f64 {
    let count: f64 = clusters.iter().map(|cluster| cluster.count).sum();
    let squares: f64 = clusters.iter().map(|cluster| (cluster.sum - mean * cluster.count).powi(2)).sum();
    squares.sqrt() / count
}

/// Mean over all numbers of these clusters.
fn mean_of(clusters: &[Cluster]) -> f64 {
    let total = clusters.iter().fold(Cluster::default(), |total, cluster| Cluster {
        sum: total.sum + cluster.sum,
        count: total.count + cluster.count,
    });
    total.mean()
}

/// Means of resamples with replacement, ascending.
fn resampled_means(clusters: &[Cluster], seed: u64) -> Vec<f64> {
    let n = clusters.len();
    let resamples = (RESAMPLES * FULL_UP_TO / n).min(RESAMPLES);
    // More clusters than a 32-bit number counts do not fit into memory.
    let bound = u32::try_from(n).unwrap_or(u32::MAX);
    let mut draws = Draws::seeded(seed);
    let mut places = vec![0; n];
    let mut means: Vec<f64> = Vec::with_capacity(resamples);
    for _ in 0..resamples {
        draws.fill_below(bound, &mut places);
        // Not `mean_of`: without an optimiser its closures cost as much as the draws.
        let mut sum = 0.0;
        let mut count = 0.0;
        for place in &places {
            let cluster = &clusters[*place as usize];
            sum += cluster.sum;
            count += cluster.count;
        }
        means.push(sum / count);
    }
    means.sort_by(f64::total_cmp);
    means
}

/// The mean without each cluster in turn.
fn jackknife(clusters: &[Cluster]) -> Vec<f64> {
    let sum: f64 = clusters.iter().map(|cluster| cluster.sum).sum();
    let count: f64 = clusters.iter().map(|cluster| cluster.count).sum();
    clusters.iter().map(|cluster| (sum - cluster.sum) / (count - cluster.count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn singles(numbers: &[f64]) -> Vec<Cluster> {
        numbers.iter().copied().map(Cluster::one).collect()
    }

    /// 30 scores, skewed to the left as scores are.
    const SCORES: [f64; 30] = [
        1.0, 1.0, 0.9, 1.0, 0.8, 1.0, 1.0, 0.5, 1.0, 0.95, 1.0, 0.75, 1.0, 1.0, 0.0, 1.0, 0.85, 1.0, 0.66, 1.0, 1.0,
        0.9, 1.0, 0.25, 1.0, 1.0, 0.8, 1.0, 0.98, 1.0,
    ];

    /// `scipy.stats.bootstrap(method="BCa", n_resamples=1_000_000)`, SciPy 1.17.1; 10,000 resamples are off by about 0.001.
    #[test]
    fn the_limits_of_scipy_are_reproduced() {
        let interval = mean_interval(&singles(&SCORES), 0).expect("an interval");
        assert!((interval.low - 0.75733).abs() < 0.005, "{interval:?}");
        assert!((interval.high - 0.94100).abs() < 0.005, "{interval:?}");
        let upper = mean_upper_limit(&singles(&SCORES), 0).expect("a limit");
        assert!((upper - 0.93300).abs() < 0.005, "{upper}");
    }

    /// A NumPy script of the same formulas over clusters of three scores, 200,000 resamples.
    #[test]
    fn clusters_are_drawn_whole() {
        let mut clusters = vec![Cluster::default(); 10];
        for (i, score) in SCORES.iter().enumerate() {
            clusters[i / 3].add(*score);
        }
        let interval = mean_interval(&clusters, 0).expect("an interval");
        assert!((interval.low - 0.79717).abs() < 0.006, "{interval:?}");
        assert!((interval.high - 0.92967).abs() < 0.006, "{interval:?}");
    }

    #[test]
    fn one_number_and_equal_numbers_have_no_interval() {
        assert_eq!(mean_interval(&[], 0), None);
        assert_eq!(mean_interval(&singles(&[0.5]), 0), None);
        assert_eq!(mean_interval(&singles(&[0.5; 20]), 0), None);
    }

    #[test]
    fn the_upper_limit_of_no_change_is_no_change() {
        assert_eq!(mean_upper_limit(&singles(&[0.0; 20]), 0), Some(0.0));
        assert_eq!(mean_upper_limit(&singles(&[0.0]), 0), None);
    }

    #[test]
    fn neither_the_order_nor_a_second_call_changes_the_limits() {
        let mut reversed = SCORES;
        reversed.reverse();
        assert_eq!(mean_interval(&singles(&SCORES), 3), mean_interval(&singles(&reversed), 3));
    }

    #[test]
    fn long_lists_are_expanded_to_what_resampling_finds() {
        let scores: Vec<f64> = SCORES.iter().copied().cycle().take(EXPANDED_FROM).collect();
        let (expanded, resampled) = (mean_interval(&singles(&scores), 0), mean_interval(&singles(&scores[1..]), 0));
        let (expanded, resampled) = (expanded.expect("an interval"), resampled.expect("an interval"));
        assert!((expanded.low - resampled.low).abs() < 0.001, "{expanded:?} {resampled:?}");
        assert!((expanded.high - resampled.high).abs() < 0.001, "{expanded:?} {resampled:?}");
    }

    #[test]
    fn limits_of_scores_are_scores() {
        for scores in [[0.0, 1.0], [0.0, 0.001]] {
            let interval = mean_interval(&singles(&scores), 0).expect("an interval");
            assert!(0.0 <= interval.low && interval.low <= interval.high && interval.high <= 1.0, "{interval:?}");
        }
    }
}
