//! The interval of a share.

use super::Interval;

/// The 0.975 quantile of the standard normal distribution.
const Z_95: f64 = 1.959_963_984_540_054;

/// The 95 % Wilson score interval of `wins` of `n`; `None` when `n` is 0 or smaller than `wins`.
///
/// Wilson, "Probable inference, the law of succession, and statistical inference" (1927), without continuity correction. It stays inside [0, 1]
/// and has a width at 0 and at n wins, where the textbook interval has none.
pub fn wilson(wins: usize, n: usize) -> Option<Interval> {
    if n == 0 || wins > n {
        return None;
    }
    let (share, count, z2) = (wins as f64 / n as f64, n as f64, Z_95 * Z_95);
    let scale = 1.0 + z2 / count;
    let centre = (share + z2 / (2.0 * count)) / scale;
    let half = Z_95 * (share * (1.0 - share) / count + z2 / (4.0 * count * count)).sqrt() / scale;
    // At the ends the formula gives exactly 0 and 1; rounding may miss them by one unit in the last place.
    let low = if wins == 0 { 0.0 } else { centre - half };
    let high = if wins == n { 1.0 } else { centre + half };
    Some(Interval { low, high })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected limits from `scipy.stats.binomtest(wins, n).proportion_ci(method="wilson")`, SciPy 1.17.1.
    #[test]
    fn the_figures_of_scipy_are_reproduced() {
        for (wins, n, low, high) in WILSON {
            let interval = wilson(wins, n).expect("a share");
            assert!(
                (interval.low - low).abs() < 1e-12 && (interval.high - high).abs() < 1e-12,
                "{wins}/{n}: {interval:?}"
            );
        }
    }

    const WILSON: [(usize, usize, f64, f64); 5] = [
        (0, 10, 0.0, 0.27753279986288926),
        (10, 10, 0.7224672001371109, 1.0),
        (57, 60, 0.8629948352365148, 0.9828504978356044),
        (1, 2, 0.09453120573423074, 0.9054687942657693),
        (950, 1000, 0.9346861797557491, 0.9618697376072511),
    ];

    #[test]
    fn a_share_of_nothing_has_no_interval() {
        assert_eq!(wilson(0, 0), None);
        assert_eq!(wilson(3, 2), None);
    }
}
