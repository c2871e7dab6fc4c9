//! Correction of p-values when several questions are asked at once.

/// Holm's adjusted p-values, in the order given; each at most 1.
///
/// Holm, "A simple sequentially rejective multiple test procedure" (1979): the i-th smallest of m is multiplied by m - i + 1, and none is smaller
/// than the one before it. Rejecting those at most alpha keeps the chance of any false rejection at alpha, whatever the dependence.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let m = p_values.len();
    let mut order: Vec<usize> = (0..m).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![1.0; m];
    let mut largest = 0.0_f64;
    for (place, index) in order.into_iter().enumerate() {
        largest = largest.max(p_values[index] * (m - place) as f64);
        adjusted[index] = largest.min(1.0);
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_of_statsmodels_are_reproduced() {
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005, 0.6]);
        let expected = [0.04, 0.09, 0.09, 0.025, 0.6];
        assert!(adjusted.iter().zip(expected).all(|(a, e)| (a - e).abs() < 1e-12), "{adjusted:?}");
    }

    #[test]
    fn one_question_needs_no_correction() {
        assert_eq!(holm(&[0.02]), [0.02]);
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn no_value_exceeds_one() {
        assert_eq!(holm(&[0.7, 0.8]), [1.0, 1.0]);
    }
}
