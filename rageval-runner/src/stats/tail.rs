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
