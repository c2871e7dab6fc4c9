//! Correlation of two readings of the same things: of their ranks, of their order pair by pair, and of their numbers.

/// The rank of each number in ascending order, from 1; equal numbers share the mean of the ranks that they take together.
///
/// Numbers are equal when they compare so: 0 and -0 are. `None` where one is NaN, which has no rank.
pub fn average_ranks(numbers: &[f64]) -> Option<Vec<f64>> {
    if numbers.iter().any(|number| number.is_nan()) {
        return None;
    }
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    // Adding 0 makes 0 of -0, so that equal numbers stand together.
    order.sort_by(|a, b| (numbers[*a] + 0.0).total_cmp(&(numbers[*b] + 0.0)));
    let mut ranks = vec![0.0; numbers.len()];
    let mut before = 0;
    for group in order.chunk_by(|a, b| numbers[*a] == numbers[*b]) {
        let shared = before as f64 + (group.len() as f64 + 1.0) / 2.0;
        for place in group {
            ranks[*place] = shared;
        }
        before += group.len();
    }
    Some(ranks)
}

/// Spearman's rank correlation of pairs, from -1 to 1: Pearson's correlation of their average ranks, which is exact for ties too.
///
/// `None` where there is none: of fewer than two pairs, where one side is always the same, and where a number is NaN.
///
/// Spearman, "The proof and measurement of association between two things" (1904).
pub fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    let (left, right): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (left, right) = (average_ranks(&left)?, average_ranks(&right)?);
    // The mean of all ranks, ties or not.
    let centre = (pairs.len() as f64 + 1.0) / 2.0;
    let product =
        |one: &[f64], other: &[f64]| one.iter().zip(other).map(|(a, b)| (a - centre) * (b - centre)).sum::<f64>();
    let (left_spread, right_spread) = (product(&left, &left), product(&right, &right));
    if left_spread == 0.0 || right_spread == 0.0 {
        return None;
    }
    Some(product(&left, &right) / (left_spread * right_spread).sqrt())
}

/// Kendall's tau-b of pairs, from -1 to 1: how much more often two things stand in the same order on both sides than in opposite ones.
///
/// Pairs of things that tie on one side count for neither order, and the two sides' ties shrink the denominator: (C - D) / sqrt((P - T)(P - U)) with P all
/// pairs of things and T, U those that tie on the left and on the right. `None` where there is none: of fewer than two pairs, where one side is always
/// the same, and where a number is NaN. Takes no weights: there is no agreed weighted form.
///
/// Kendall, "The treatment of ties in ranking problems" (1945); counted in n log n steps as by Knight, "A computer method for calculating Kendall's tau
/// with ungrouped data" (1966).
pub fn kendall_tau_b(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.iter().any(|(left, right)| left.is_nan() || right.is_nan()) {
        return None;
    }
    // Adding 0 makes 0 of -0, so that equal numbers stand together.
    let mut sorted: Vec<(f64, f64)> = pairs.iter().map(|(left, right)| (left + 0.0, right + 0.0)).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let tied_left = tied(sorted.chunk_by(|a, b| a.0 == b.0));
    let tied_both = tied(sorted.chunk_by(|a, b| a == b));
    let mut right: Vec<f64> = sorted.iter().map(|(_, right)| *right).collect();
    let discordant = sort_counting_swaps(&mut right);
    let tied_right = tied(right.chunk_by(|a, b| a == b));
    let all = two_of(pairs.len());
    let (left_spread, right_spread) = (all - tied_left, all - tied_right);
    if left_spread == 0 || right_spread == 0 {
        return None;
    }
    let concordant = all + tied_both - tied_left - tied_right - discordant;
    // Counts stay exact in a float up to 2^53, which is the pairs of a hundred million things.
    Some((concordant as f64 - discordant as f64) / ((left_spread as f64).sqrt() * (right_spread as f64).sqrt()))
}

/// How many pairs `n` things make.
fn two_of(n: usize) -> u64 {
    let n = n as u64;
    n * n.saturating_sub(1) / 2
}

/// How many pairs of things stand in one group.
fn tied<'a, T: 'a>(groups: impl Iterator<Item = &'a [T]>) -> u64 {
    groups.map(|group| two_of(group.len())).sum()
}

/// Sorts by merging runs of doubled length, and returns how many pairs stood in descending order.
fn sort_counting_swaps(numbers: &mut [f64]) -> u64 {
    let mut swaps = 0;
    let mut width = 1;
    let mut merged = Vec::with_capacity(numbers.len());
    while width < numbers.len() {
        for run in numbers.chunks_mut(2 * width) {
            let (left, right) = run.split_at(width.min(run.len()));
            let (mut from_left, mut from_right) = (0, 0);
            merged.clear();
            while from_left < left.len() && from_right < right.len() {
                if right[from_right] < left[from_left] {
                    swaps += (left.len() - from_left) as u64;
                    merged.push(right[from_right]);
                    from_right += 1;
                } else {
                    merged.push(left[from_left]);
                    from_left += 1;
                }
            }
            merged.extend_from_slice(&left[from_left..]);
            merged.extend_from_slice(&right[from_right..]);
            run.copy_from_slice(&merged);
        }
        width *= 2;
    }
    swaps
}

/// Pearson's correlation of pairs, from -1 to 1.
///
/// `None` where there is none: of fewer than two pairs, where one side is always the same (to within 1e-13 of its size, which is what rounding leaves of
/// equal numbers), and where a number is not finite.
///
/// Pearson, "Note on regression and inheritance in the case of two parents" (1895).
pub fn pearson(pairs: &[(f64, f64)]) -> Option<f64> {
    weighted_pearson(pairs.iter().map(|(left, right)| (*left, *right, 1.0)))
}

/// Pearson's correlation of pairs that each stand for a number of others: `(left, right, weight)`, weights finite and not negative.
///
/// Means, spreads and the product are taken with the weights; only their ratios matter. `None` as for [`pearson`], where a weight is negative or not finite,
/// and where fewer than two weights are above 0.
pub fn weighted_pearson(triples: impl Iterator<Item = (f64, f64, f64)> + Clone) -> Option<f64> {
    if !triples
        .clone()
        .all(|(left, right, weight)| left.is_finite() && right.is_finite() && weight.is_finite() && 0.0 <= weight)
    {
        return None;
    }
    let counted = triples.filter(|(.., weight)| 0.0 < *weight);
    let total: f64 = counted.clone().map(|(.., weight)| weight).sum();
    if counted.clone().count() < 2 {
        return None;
    }
    let left_mean = counted.clone().map(|(left, _, weight)| weight * left).sum::<f64>() / total;
    let right_mean = counted.clone().map(|(_, right, weight)| weight * right).sum::<f64>() / total;
    let (mut product, mut left_spread, mut right_spread) = (0.0, 0.0, 0.0);
    for (left, right, weight) in counted {
        let (left, right) = (left - left_mean, right - right_mean);
        product += weight * left * right;
        left_spread += weight * left * left;
        right_spread += weight * right * right;
    }
    let is_constant = |spread: f64, mean: f64| (spread / total).sqrt() <= 1e-13 * mean.abs();
    if is_constant(left_spread, left_mean) || is_constant(right_spread, right_mean) {
        return None;
    }
    Some(product / (left_spread.sqrt() * right_spread.sqrt()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pairs(left: &[f64], right: &[f64]) -> Vec<(f64, f64)> {
        assert_eq!(left.len(), right.len());
        left.iter().copied().zip(right.iter().copied()).collect()
    }

    #[track_caller]
    fn check(left: &[f64], right: &[f64], expected: f64) {
        let rho = spearman(&pairs(left, right)).expect("a correlation");
        assert!((rho - expected).abs() < 1e-12, "{rho}, not {expected}");
    }

    #[test]
    fn equal_numbers_share_the_mean_of_their_ranks() {
        assert_eq!(average_ranks(&[0.5, 0.1, 0.5, 0.9, 0.5]), Some(vec![3.0, 1.0, 3.0, 5.0, 3.0]));
        assert_eq!(average_ranks(&[2.0, 2.0]), Some(vec![1.5, 1.5]));
        assert_eq!(average_ranks(&[0.0, -0.0, f64::NEG_INFINITY]), Some(vec![2.5, 2.5, 1.0]));
        assert_eq!(average_ranks(&[]), Some(Vec::new()));
        assert_eq!(average_ranks(&[1.0, f64::NAN]), None);
    }

    #[test]
    fn any_rising_relation_is_exactly_one() {
        let numbers: Vec<f64> = (0..1_000).map(|n| f64::from(n % 37)).collect();
        let cubes: Vec<f64> = numbers.iter().map(|n| n.powi(3) - 5.0).collect();
        assert_eq!(spearman(&pairs(&numbers, &cubes)), Some(1.0));
        let falling: Vec<f64> = numbers.iter().map(|n| -n).collect();
        assert_eq!(spearman(&pairs(&numbers, &falling)), Some(-1.0));
    }

    /// `scipy.stats.spearmanr`, SciPy 1.17.1.
    #[test]
    fn figures_of_scipy_are_reproduced() {
        check(&[1.0, 2.0, 3.0, 4.0, 5.0], &[5.0, 6.0, 7.0, 8.0, 7.0], 0.8207826816681233);
        check(&[3.0, 3.0, 1.0, 2.0, 5.0, 5.0, 5.0], &[1.0, 0.5, 0.5, 0.0, 1.0, 1.0, 0.5], 0.5861277605044714);
        check(&[0.0, 1.0, 0.0, 1.0, 1.0], &[0.2, 0.9, 0.9, 0.4, 0.4], 0.15214515486254615);
    }

    #[test]
    fn what_has_no_order_has_no_correlation() {
        assert_eq!(spearman(&[]), None);
        assert_eq!(spearman(&[(0.5, 0.5)]), None);
        assert_eq!(spearman(&pairs(&[0.7; 60], &[0.1; 60])), None);
        // A judge that always says the same.
        let people: Vec<f64> = (0..60).map(f64::from).collect();
        assert_eq!(spearman(&pairs(&[0.7; 60], &people)), None);
        assert_eq!(spearman(&pairs(&people, &[0.7; 60])), None);
        assert_eq!(spearman(&[(0.1, 0.2), (0.3, f64::NAN), (0.5, 0.6)]), None);
    }

    proptest! {
        #[test]
        fn it_lies_between_its_ends_and_does_not_depend_on_the_sides(numbers in prop::collection::vec((0..6_u8, 0..6_u8), 0..40)) {
            let these: Vec<_> = numbers.iter().map(|(a, b)| (f64::from(*a), f64::from(*b))).collect();
            let swapped: Vec<_> = these.iter().map(|(a, b)| (*b, *a)).collect();
            let turned: Vec<_> = these.iter().map(|(a, b)| (*a, -*b)).collect();
            let rho = spearman(&these);
            prop_assert_eq!(rho, spearman(&swapped));
            prop_assert_eq!(rho.map(|rho| -rho), spearman(&turned));
            prop_assert!(rho.is_none_or(|rho| (-1.0 - 1e-12..=1.0 + 1e-12).contains(&rho)));
        }
    }
}
