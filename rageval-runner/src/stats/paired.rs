//! Tests on differences between two readings of the same things.

use super::{draw::Draws, normal};

/// Sign flips of the permutation test.
pub const FLIPS: usize = 9_999;

/// From this many non-zero differences on, none of which dominates, the permutation distribution is taken as normal.
pub const NORMAL_FROM: usize = 2_000;

/// One-sided p-value that the mean of `differences` is above 0: the share of sign patterns whose sum is at least the observed one.
///
/// Fisher's randomisation test for pairs (The design of experiments, 1935). Where all patterns are no more than `flips` + 1, as for up to 13 differences
/// with [`FLIPS`], each is counted and p is exact; else `flips` random ones are, the observed one counted in numerator and denominator (Phipson
/// and Smyth, 2010), so that p is never 0. Where no random pattern reaches the observed sum, p is 1 / (flips + 1) or, where that is smaller, Hoeffding's bound on it,
/// exp(-sum^2 / (2 sum of squares)) (Journal of the American Statistical Association 58, 1963, theorem 2), which is never below the exact p: without it a collapse could
/// not be told among more than a hundred tests. Zeros have no sign and drop out; with none left p is 1.
/// It assumes that under no change a difference is as likely to be up as down. Beyond [`NORMAL_FROM`] non-zero differences, of which none holds
/// more than a 200th of the sum of squares, the distribution of the sum is normal with that variance to within what the flips could show, and is taken so.
pub fn sign_flip(differences: &[f64], flips: usize, seed: u64) -> f64 {
    let mut changed: Vec<f64> = differences.iter().copied().filter(|difference| *difference != 0.0).collect();
    if changed.is_empty() {
        return 1.0;
    }
    // Sorted, so that p does not depend on the order of the input.
    changed.sort_by(f64::total_cmp);
    let observed: f64 = changed.iter().sum();
    let squares: f64 = changed.iter().map(|difference| difference * difference).sum();
    let largest = changed.iter().fold(0.0_f64, |largest, difference| largest.max(difference * difference));
    if changed.len() >= NORMAL_FROM && largest * 200.0 <= squares {
        let approximate = normal::cdf(-observed / squares.sqrt());
        return approximate.max(smallest(observed, squares, flips));
    }
    // Equal sums may differ in the last digits, by the order in which they were added.
    let slack = 1e-12 * changed.iter().map(|difference| difference.abs()).sum::<f64>();
    if let Some(patterns) = 1_usize.checked_shl(changed.len() as u32).filter(|patterns| *patterns <= flips + 1) {
        let reached = (0..patterns).filter(|pattern| signed_sum(&changed, *pattern) >= observed - slack).count();
        return reached as f64 / patterns as f64;
    }
    let mut draws = Draws::seeded(seed);
    let reached = (0..flips).filter(|_| flipped_sum(&changed, &mut draws) >= observed - slack).count();
    if reached == 0 { smallest(observed, squares, flips) } else { (reached + 1) as f64 / (flips + 1) as f64 }
}

/// The p-value of a sum that no random pattern reached: what the number of patterns shows, or the bound that holds for every pattern.
fn smallest(observed: f64, squares: f64, flips: usize) -> f64 {
    let bound = f64::exp(-observed * observed / (2.0 * squares));
    f64::min(1.0 / (flips + 1) as f64, bound.max(f64::MIN_POSITIVE))
}

/// The sum with the signs that the bits of a pattern say.
fn signed_sum(differences: &[f64], pattern: usize) -> f64 {
    let signed = |(place, difference): (usize, &f64)| if pattern >> place & 1 == 1 { -difference } else { *difference };
    differences.iter().enumerate().map(signed).sum()
}

/// The sum with each sign tossed.
fn flipped_sum(differences: &[f64], draws: &mut Draws) -> f64 {
    let mut sum = 0.0;
    for chunk in differences.chunks(64) {
        let mut coins = draws.coins();
        for difference in chunk {
            if coins & 1 == 1 {
                sum += difference;
            } else {
                sum -= difference;
            }
            coins >>= 1;
        }
    }
    sum
}

/// One-sided exact p-value that things which were yes and are no outnumber those which were no and are yes.
///
/// McNemar, "Note on the sampling error of the difference between correlated proportions" (1947), exact: the chance of at least `lost` heads in
/// `lost + gained` fair tosses. 1 when nothing changed.
pub fn mcnemar(lost: usize, gained: usize) -> f64 {
    let n = lost + gained;
    // Terms in logarithms: 2^-n underflows from about a thousand tosses on.
    let mut term = -(n as f64) * std::f64::consts::LN_2;
    let mut tail = 0.0;
    for heads in 0..=n {
        if heads >= lost {
            tail += f64::exp(term);
        }
        term += ((n - heads) as f64 / (heads + 1) as f64).ln();
    }
    f64::min(tail, 1.0)
}

/// One-sided p-value that the later of two readings lie below the earlier ones, of pairs `(earlier, later)`.
///
/// McNemar's exact test where all readings are 0 or 1, else the sign-flip test of the mean; differences below 1e-9 are none. 1 of nothing.
pub fn drop_p_value(pairs: &[(f64, f64)], flips: usize, seed: u64) -> f64 {
    let is_binary = |reading: f64| reading == 0.0 || reading == 1.0;
    if pairs.iter().all(|(earlier, later)| is_binary(*earlier) && is_binary(*later)) {
        let lost = pairs.iter().filter(|(earlier, later)| earlier > later).count();
        let gained = pairs.iter().filter(|(earlier, later)| earlier < later).count();
        return mcnemar(lost, gained);
    }
    let difference = |(earlier, later): &(f64, f64)| earlier - later;
    let differences: Vec<f64> = pairs.iter().map(difference).filter(|difference| 1e-9 <= difference.abs()).collect();
    sign_flip(&differences, flips, seed)
}

/// One-sided p-value of Wilcoxon's signed-rank test that the differences lie above 0; 1 when none is other than 0.
///
/// Wilcoxon, "Individual comparisons by ranking methods" (1945): zeros dropped, ties at their average rank, normal approximation with the variance corrected
/// for ties and without continuity correction. For people who know it; the approximation is rough below about ten differences.
pub fn wilcoxon(differences: &[f64]) -> f64 {
    let mut changed: Vec<f64> = differences.iter().copied().filter(|difference| *difference != 0.0).collect();
    if changed.is_empty() {
        return 1.0;
    }
    changed.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let n = changed.len() as f64;
    let (mut rank_sum, mut tied, mut first) = (0.0, 0.0, 0);
    for group in changed.chunk_by(|a, b| (a.abs() - b.abs()).abs() < 1e-12) {
        let size = group.len() as f64;
        let rank = first as f64 + (size + 1.0) / 2.0;
        rank_sum += rank * group.iter().filter(|difference| **difference > 0.0).count() as f64;
        tied += size.powi(3) - size;
        first += group.len();
    }
    let centre = n * (n + 1.0) / 4.0;
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - tied / 48.0;
    normal::cdf((centre - rank_sum) / variance.sqrt())
}

/// The mean difference in standard deviations of the differences (divisor n - 1), Cohen's d for pairs; `None` without spread.
pub fn standardised_mean(differences: &[f64]) -> Option<f64> {
    Some(super::mean(differences)? / deviation(differences)?)
}

/// The standard deviation with divisor n - 1; `None` of fewer than two numbers and of equal ones.
fn deviation(numbers: &[f64]) -> Option<f64> {
    let centre = super::mean(numbers)?;
    // Equal numbers have a deviation of some 1e-17 when their mean is rounded.
    if numbers.iter().all(|number| (number - centre).abs() < 1e-12) {
        return None;
    }
    let squares: f64 = numbers.iter().map(|number| (number - centre).powi(2)).sum();
    Some((squares / (numbers.len() - 1) as f64).sqrt())
}

/// The smallest true mean difference that a one-sided test at level `alpha` finds with probability 0.8; `None` without spread, and for so few
/// differences that no sign pattern of theirs reaches the level (2^-n above `alpha`).
///
/// Normal approximation: (z(1 - alpha) + z(0.8)) * s / sqrt(n), s the standard deviation of the differences about their mean (divisor n - 1). It takes
/// the spread seen in this run for the true one, so it is a guide for the size of the set, and decides nothing. Below some 20 differences it promises too much: a
/// test of signs finds less than the approximation says.
pub fn minimum_detectable_mean(differences: &[f64], alpha: f64) -> Option<f64> {
    let deviation = deviation(differences)?;
    if f64::exp2(-(differences.len() as f64)) > alpha {
        return None;
    }
    Some((normal::quantile(1.0 - alpha) + normal::quantile(0.8)) * deviation / (differences.len() as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_random_pattern_reaches_is_bounded_for_all_of_them() {
        // 2^-40 in truth.
        let collapse = sign_flip(&[0.8; 40], FLIPS, 0);
        assert!((0.5_f64.powi(40)..1e-8).contains(&collapse), "{collapse}");
        let many = sign_flip(&[0.5; 2_500], FLIPS, 0);
        assert!(many < 1e-12, "{many}");
        // A sum that is barely out of reach stays where the patterns put it.
        let mut mixed = vec![0.1; 20];
        mixed.extend([-0.1; 2]);
        let p = sign_flip(&mixed, 99, 0);
        assert!((0.000_01..=0.01).contains(&p), "{p}");
    }

    /// All 2^12 sign patterns of these differences were counted by a Python script.
    #[test]
    fn the_sign_flip_test_counts_every_pattern_of_few_differences() {
        let differences = [0.3, 0.1, -0.05, 0.2, 0.0, 0.25, 0.4, -0.1, 0.15, 0.05, 0.1, -0.2, 0.3];
        let p = sign_flip(&differences, FLIPS, 0);
        assert!((p - 91.0 / 4096.0).abs() < 1e-12, "{p}");
    }

    #[test]
    fn random_patterns_agree_with_counting_all() {
        let differences = [0.3, 0.1, -0.05, 0.2, 0.25, 0.4, -0.1, 0.15, 0.05, 0.1, -0.2, 0.3];
        let random = sign_flip(&differences, 4_000, 0);
        assert!((random - 91.0 / 4096.0).abs() < 0.007, "{random}");
    }

    #[test]
    fn nothing_changed_is_no_evidence() {
        assert_eq!(sign_flip(&[0.0; 40], FLIPS, 0), 1.0);
        assert_eq!(sign_flip(&[], FLIPS, 0), 1.0);
        assert_eq!(mcnemar(0, 0), 1.0);
    }

    #[test]
    fn p_is_never_zero() {
        for count in [14, 60, 2_500] {
            assert!(sign_flip(&vec![0.5; count], FLIPS, 0) > 0.0, "{count}");
        }
    }

    #[test]
    fn gains_are_no_evidence_of_a_drop() {
        assert!(sign_flip(&[-0.5; 60], FLIPS, 0) > 0.999);
        assert!(mcnemar(0, 9) > 0.999);
    }

    #[test]
    fn the_normal_limit_agrees_with_the_flips_where_they_meet() {
        let near = |n: usize| (0..n).map(|i| if i % 100 < 51 { 0.1 } else { -0.1 }).collect::<Vec<f64>>();
        let (flipped, limit) = (sign_flip(&near(1_900), FLIPS, 0), sign_flip(&near(2_000), FLIPS, 0));
        assert!((flipped - limit).abs() < 0.03, "{flipped} {limit}");
    }

    #[test]
    fn a_few_large_differences_among_thousands_of_small_ones_are_counted() {
        let mut differences: Vec<f64> = (0..2_500).map(|i| if i % 2 == 0 { 1e-6 } else { -1e-6 }).collect();
        differences.extend([1.0; 5]);
        // All five up, one time in 32, and the small ones above their middle: the normal limit would say 0.0127.
        let p = sign_flip(&differences, 4_999, 0);
        assert!((p - 1.0 / 64.0).abs() < 0.006, "{p}");
    }

    /// `scipy.stats.binomtest(lost, lost + gained, alternative="greater").pvalue`, SciPy 1.17.1.
    #[test]
    fn mcnemar_reproduces_the_figures_of_scipy() {
        for (lost, gained, p) in MCNEMAR {
            assert!((mcnemar(lost, gained) / p - 1.0).abs() < 1e-9, "{lost} {gained}: {:e}", mcnemar(lost, gained));
        }
    }

    const MCNEMAR: [(usize, usize, f64); 5] = [
        (7, 0, 0.0078125),
        (8, 2, 0.0546875),
        (3, 3, 0.65625),
        (30, 12, 0.003957948667448363),
        (900, 700, 3.1597424797250525e-07),
    ];

    /// `scipy.stats.wilcoxon(zero_method="wilcox", correction=False, alternative="greater", method="approx")`, SciPy 1.17.1, and NumPy.
    #[test]
    fn what_is_reported_beside_the_test_reproduces_the_figures_of_scipy() {
        let differences = [0.3, 0.1, -0.05, 0.2, 0.0, 0.25, 0.4, -0.1, 0.15, 0.05, 0.1, -0.2, 0.3];
        assert!((wilcoxon(&differences) - 0.020421448774198322).abs() < 1e-9, "{}", wilcoxon(&differences));
        let changed: Vec<f64> = differences.into_iter().filter(|difference| *difference != 0.0).collect();
        let effect = standardised_mean(&changed).expect("a spread");
        assert!((effect - 0.6982754846636603).abs() < 1e-12, "{effect}");
        assert_eq!(wilcoxon(&[0.0; 4]), 1.0);
        assert_eq!(standardised_mean(&[0.1; 9]), None);
    }

    /// By hand with SciPy's normal quantiles: s = 0.1290994, n = 4.
    #[test]
    fn the_detectable_drop_follows_from_the_spread() {
        let detectable = minimum_detectable_mean(&[0.0, 0.1, 0.2, 0.3], 0.1).expect("a spread");
        let by_hand = (1.281_551_565_5 + 0.841_621_233_6) * (1.0_f64 / 60.0).sqrt() / 2.0;
        assert!((detectable - by_hand).abs() < 1e-9, "{detectable}");
        // Of four differences no pattern of signs is as rare as one in a hundred.
        assert_eq!(minimum_detectable_mean(&[0.0, 0.1, 0.2, 0.3], 0.01), None);
        assert_eq!(minimum_detectable_mean(&[0.1; 9], 0.01), None);
        assert_eq!(minimum_detectable_mean(&[0.1], 0.01), None);
        assert_eq!(minimum_detectable_mean(&[], 0.01), None);
    }
}
