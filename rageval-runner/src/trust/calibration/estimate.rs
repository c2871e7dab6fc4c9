//! A figure over labelled items, with its interval.

use serde::Serialize;

use crate::stats::{
    self,
    resample::{Limits, interval_over_items},
};

/// Seed of the resamples, as everywhere.
const SEED: u64 = 0;

/// A figure with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// The limits, the lower first; `None` where the items are too few or too much alike for one.
    pub interval: Option<(f64, f64)>,
}

impl Estimate {
    /// A figure of `n` items with its BCa bootstrap interval over items: `statistic` gets the places of the items that are counted, with
    /// repetitions. `None` where the items themselves have no such figure.
    pub fn over_items(n: usize, statistic: impl Fn(&[usize]) -> Option<f64>) -> Option<Self> {
        let places: Vec<usize> = (0..n).collect();
        let value = statistic(&places).filter(|value| value.is_finite())?;
        let interval = interval_over_items(n, Limits::Bca, SEED, statistic);
        Some(Self { value, interval: interval.map(|found| (found.interval.low, found.interval.high)) })
    }

    /// The same of pairs, such as a correlation.
    pub fn over_pairs(pairs: &[(f64, f64)], statistic: impl Fn(&[(f64, f64)]) -> Option<f64>) -> Option<Self> {
        Self::over_items(pairs.len(), |places| statistic(&places.iter().map(|place| pairs[*place]).collect::<Vec<_>>()))
    }
}

/// Spearman's correlation with its interval. Gives what [`stats::spearman`] gives of each resample, without sorting it: how often each
/// distinct number was drawn is enough to know all ranks.
pub fn spearman(pairs: &[(f64, f64)]) -> Option<Estimate> {
    // The figure itself is the one that decides, to the last digit.
    let value = stats::spearman(pairs)?;
    let (left, right) = (Levels::of(pairs.iter().map(|pair| pair.0)), Levels::of(pairs.iter().map(|pair| pair.1)));
    let resampled = Estimate::over_items(pairs.len(), |places| {
        let (left_ranks, right_ranks) = (left.ranks(places), right.ranks(places));
        let centre = (places.len() as f64 + 1.0) / 2.0;
        let (mut product, mut left_spread, mut right_spread) = (0.0, 0.0, 0.0);
        for place in places {
            let a = left_ranks[left.level[*place]] - centre;
            let b = right_ranks[right.level[*place]] - centre;
            product += a * b;
            left_spread += a * a;
            right_spread += b * b;
        }
        (left_spread > 0.0 && right_spread > 0.0).then(|| product / (left_spread * right_spread).sqrt())
    });
    Some(Estimate { value, interval: resampled.and_then(|resampled| resampled.interval) })
}

/// Numbers by the place of each among the distinct ones.
struct Levels {
    /// For each number, its place among the distinct numbers in ascending order.
    level: Vec<usize>,
    /// How many distinct numbers there are.
    distinct: usize,
}

impl Levels {
    fn of(numbers: impl Iterator<Item = f64>) -> Self {
        let numbers: Vec<f64> = numbers.map(|number| number + 0.0).collect();
        let mut distinct = numbers.clone();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        let level = numbers.iter().map(|number| distinct.partition_point(|known| known < number)).collect();
        Self { level, distinct: distinct.len() }
    }

    /// The average rank of each distinct number among the drawn ones.
    fn ranks(&self, places: &[usize]) -> Vec<f64> {
        let mut ranks = vec![0.0; self.distinct];
        for place in places {
            ranks[self.level[*place]] += 1.0;
        }
        let mut before = 0.0;
        for rank in &mut ranks {
            let count = *rank;
            *rank = before + (count + 1.0) / 2.0;
            before += count;
        }
        ranks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting_gives_the_interval_that_sorting_gives() {
        let pairs: Vec<(f64, f64)> = (0..60_u32).map(|i| (f64::from(i % 5), f64::from((i * 7 + i / 9) % 11))).collect();
        let counted = spearman(&pairs).expect("a correlation");
        let sorted = Estimate::over_pairs(&pairs, stats::spearman).expect("a correlation");
        assert_eq!(counted.value.to_bits(), sorted.value.to_bits());
        let ((low, high), (other_low, other_high)) = (counted.interval.expect("one"), sorted.interval.expect("one"));
        assert!((low - other_low).abs() < 1e-9 && (high - other_high).abs() < 1e-9, "{counted:?} {sorted:?}");
    }

    #[test]
    fn what_has_no_correlation_has_no_estimate() {
        assert_eq!(spearman(&[]), None);
        assert_eq!(spearman(&[(0.5, 0.5); 60]), None);
    }
}
