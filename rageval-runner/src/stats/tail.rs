//! The lowest tenth of a list of numbers.

/// How many numbers make the lowest tenth of `n`: ceil(0.10 n), so 1 for 1 to 10, 2 for 11 to 20; 0 of none.
///
/// In whole numbers: 0.1 is no binary fraction, and `(0.1 * 30.0).ceil()` is 4.
pub fn decile_size(n: usize) -> usize {
    n.div_ceil(10)
}

/// The ceil(0.10 n)-th lowest number; `None` of nothing.
///
/// Nearest rank (type 1 of Hyndman and Fan, "Sample quantiles in statistical packages", 1996): no interpolation, so it is always one of the numbers.
pub fn lowest_decile(numbers: &[f64]) -> Option<f64> {
    sorted_tail(numbers).last().copied()
}

/// The mean of the ceil(0.10 n) lowest numbers; `None` of nothing.
pub fn lowest_decile_mean(numbers: &[f64]) -> Option<f64> {
    super::mean(&sorted_tail(numbers))
}

/// The observed numbers between which the true 0.10 quantile lies with probability of at least 0.95; an end is `None` where so few numbers bound it on no side.
///
/// By order statistics, whatever the distribution (David and Nagaraja, "Order statistics", 2003, section 7.1): the number of observations below the true
/// quantile is binomial with n and 0.10. Up to 35 numbers have no lower end, and a single one has no upper end.
pub fn lowest_decile_limits(numbers: &[f64]) -> (Option<f64>, Option<f64>) {
    let (low, high) = decile_limit_ranks(numbers.len());
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |rank: usize| rank.checked_sub(1).and_then(|place| sorted.get(place)).copied();
    (low.and_then(at), high.and_then(at))
}

/// Ranks from 1 of the limits: the highest that is too low with probability of at most 0.025, and the lowest that is too high with that probability.
fn decile_limit_ranks(n: usize) -> (Option<usize>, Option<usize>) {
    let (mut low, mut high) = (None, None);
    // In logarithms, as 0.9^n underflows.
    let mut term = n as f64 * 0.9_f64.ln();
    let mut up_to = 0.0;
    for below in 0..n {
        up_to += term.exp();
        term += ((n - below) as f64 / (below + 1) as f64).ln() - 9.0_f64.ln();
        let rank = below + 1;
        if up_to <= 0.025 {
            low = Some(rank);
        }
        if high.is_none() && 1.0 - up_to <= 0.025 {
            high = Some(rank);
        }
    }
    (low, high)
}

/// The lowest tenth, ascending.
fn sorted_tail(numbers: &[f64]) -> Vec<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.truncate(decile_size(numbers.len()));
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `n` ones, of which `zeros` are 0.
    fn ones_with_zeros(n: usize, zeros: usize) -> Vec<f64> {
        (0..n).map(|i| if i < zeros { 0.0 } else { 1.0 }).collect()
    }

    #[test]
    fn one_zero_is_the_decile_up_to_ten_numbers_and_no_longer() {
        for n in [1, 5, 9, 10] {
            assert_eq!(lowest_decile(&ones_with_zeros(n, 1)), Some(0.0), "n = {n}");
        }
        for n in [11, 19, 20] {
            assert_eq!(lowest_decile(&ones_with_zeros(n, 1)), Some(1.0), "n = {n}");
            assert_eq!(lowest_decile_mean(&ones_with_zeros(n, 1)), Some(0.5), "n = {n}");
        }
    }

    #[test]
    fn the_rank_is_computed_without_rounding_errors() {
        let ranks: Vec<_> = [0, 1, 10, 11, 20, 21, 30, 31, 100, 101].map(decile_size).into();
        assert_eq!(ranks, [0, 1, 1, 2, 2, 3, 3, 4, 10, 11]);
    }

    /// Found with `scipy.stats.binom.cdf` and `.sf`, SciPy 1.17.1.
    #[test]
    fn the_ranks_of_the_limits_are_those_of_the_binomial_distribution() {
        for (n, low, high) in [
            (1, None, None),
            (2, None, Some(2)),
            (10, None, Some(4)),
            (20, None, Some(6)),
            (36, Some(1), Some(8)),
            (37, Some(1), Some(9)),
            (60, Some(2), Some(12)),
            (100, Some(5), Some(17)),
            (200, Some(12), Some(30)),
            (1000, Some(82), Some(120)),
        ] {
            assert_eq!(decile_limit_ranks(n), (low, high), "n = {n}");
        }
    }

    #[test]
    fn the_limits_are_numbers_that_were_observed() {
        let numbers: Vec<f64> = (0..60).rev().map(f64::from).collect();
        assert_eq!(lowest_decile_limits(&numbers), (Some(1.0), Some(11.0)));
        assert_eq!(lowest_decile_limits(&[0.5]), (None, None));
        assert_eq!(lowest_decile_limits(&[]), (None, None));
    }

    #[test]
    fn the_decile_of_nothing_is_no_number() {
        assert_eq!(lowest_decile(&[]), None);
        assert_eq!(lowest_decile_mean(&[]), None);
    }

    #[test]
    fn the_order_of_the_numbers_does_not_matter() {
        let numbers = [0.9, 0.1, 0.5, 0.3, 0.7, 0.2, 0.8, 0.4, 0.6, 1.0, 0.05];
        assert_eq!(lowest_decile(&numbers), Some(0.1));
        assert!((lowest_decile_mean(&numbers).expect("eleven numbers") - 0.075).abs() < 1e-15);
    }
}
