//! Statistics: plain numbers in, plain numbers out; knows no word of RAG.

pub mod agreement;
pub mod bootstrap;
pub mod corrected;
pub mod draw;
pub mod multiple;
pub mod normal;
pub mod paired;
pub mod pass_at;
pub mod proportion;
pub mod rank;
pub mod resample;
pub mod tail;

pub use agreement::{Confusion, Level, cohen_kappa, krippendorff_alpha};
pub use bootstrap::{Cluster, mean_interval, mean_upper_limit};
pub use corrected::{Corrected, Labelled, Share, effective_size, prediction_powered_mean, rogan_gladen};
pub use multiple::holm;
pub use paired::{drop_p_value, mcnemar, minimum_detectable_mean, sign_flip, standardised_mean, wilcoxon};
pub use pass_at::{pass_all, pass_at};
pub use proportion::wilson;
pub use rank::{average_ranks, kendall_tau_b, pearson, spearman, weighted_pearson};
pub use resample::{Limits, Resampled, interval_over_items};
pub use tail::{decile_size, lowest_decile, lowest_decile_limits, lowest_decile_mean};

/// Two limits, the lower first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower limit.
    pub low: f64,
    /// The upper limit.
    pub high: f64,
}

/// Arithmetic mean; `None` of nothing. Adds in the order given, so lowering one number never raises it.
pub fn mean(numbers: &[f64]) -> Option<f64> {
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_nothing_is_no_number() {
        assert_eq!(mean(&[]), None);
    }

    #[test]
    fn the_mean_of_ones_is_exactly_one() {
        assert_eq!(mean(&[1.0; 49]), Some(1.0));
    }
}
