//! Unbiased estimates of pass@k and pass^k from `n` repeats of which `c` passed.

/// The probability that at least one of `k` repeats passes: `1 - C(n-c, k) / C(n, k)`, from 0 to 1, unbiased for 1 <= k <= n.
///
/// Chen et al. 2021, "Evaluating large language models trained on code", section 2.1. `None` where `c` is larger than `n`, `k` larger
/// than `n`, or `k` is 0.
pub fn pass_at(n: usize, c: usize, k: usize) -> Option<f64> {
    if c > n || k > n || k == 0 {
        return None;
    }
    // The quotient of the binomials as a product, which no factorial overflows; too few failures for `k` of them make it 0.
    let all_fail: f64 = if n - c < k { 0.0 } else { (n - c + 1..=n).map(|i| 1.0 - k as f64 / i as f64).product() };
    Some(1.0 - all_fail)
}

/// The probability that all of `k` repeats pass: `C(c, k) / C(n, k)`, from 0 to 1, unbiased for 1 <= k <= n.
///
/// Yao et al. 2024, "tau-bench: A benchmark for tool-agent-user interaction in real-world domains". `None` as for [`pass_at`].
pub fn pass_all(n: usize, c: usize, k: usize) -> Option<f64> {
    if c > n || k > n || k == 0 {
        return None;
    }
    if c < k {
        return Some(0.0);
    }
    Some((0..k).map(|i| (c - i) as f64 / (n - i) as f64).product())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both estimates by counting every choice of `k` among `n` repeats, the first `c` of which passed.
    fn counted(n: usize, c: usize, k: usize) -> (f64, f64) {
        let (mut chosen, mut any, mut all) = (0, 0, 0);
        for set in 0_u32..1 << n {
            if set.count_ones() as usize == k {
                let passed = (set & ((1 << c) - 1)).count_ones() as usize;
                chosen += 1;
                any += usize::from(passed > 0);
                all += usize::from(passed == k);
            }
        }
        (f64::from(any as u32) / f64::from(chosen), f64::from(all as u32) / f64::from(chosen))
    }

    #[test]
    fn the_estimates_are_the_shares_of_all_choices() {
        for n in 1..=10 {
            for c in 0..=n {
                for k in 1..=n {
                    let (any, all) = counted(n, c, k);
                    assert!((pass_at(n, c, k).expect("in range") - any).abs() < 1e-12, "pass@{k} of {c} of {n}");
                    assert!((pass_all(n, c, k).expect("in range") - all).abs() < 1e-12, "pass^{k} of {c} of {n}");
                }
            }
        }
    }

    #[test]
    fn all_and_none_are_exact() {
        for n in [1_usize, 7, 100] {
            for k in [1, n.div_ceil(2), n] {
                assert_eq!((pass_at(n, n, k), pass_all(n, n, k)), (Some(1.0), Some(1.0)));
                assert_eq!((pass_at(n, 0, k), pass_all(n, 0, k)), (Some(0.0), Some(0.0)));
            }
        }
    }

    #[test]
    fn nothing_is_estimated_beyond_the_repeats() {
        for (n, c, k) in [(3, 1, 4), (3, 4, 1), (3, 1, 0), (0, 0, 1)] {
            assert_eq!((pass_at(n, c, k), pass_all(n, c, k)), (None, None));
        }
    }
}
