//! Tells a judge's noise from a loss: which first readings are suspects, and when further readings have settled one.
//!
//! A first reading only raises suspicion. A judged case that it would make red, or that it puts below a bar of the worst tenth, is read again
//! by fresh samples until a sequential rule says that it was noise or that it was not.

pub mod queue;
pub mod settle;
pub mod settled;
pub mod suspects;

pub use queue::{Progress, Start, may_start};
pub use settle::{Case, Next, Settled, next};
pub use settled::{REPLAYED, confirmation, notice, remark};
pub use suspects::{Bars, Drop, Suspect, pairs_with_rules, suspects};

/// The count at which a claim is confirmed as bad: 6 + ceil(log2 `pairs`), at least 6.
///
/// `pairs` is [`pairs_with_rules`]. A claim of a judge that flips by chance reaches a count of d with a probability that falls by a constant factor with each
/// step, so one step more for each doubling of the pairs keeps the chance that any of them is confirmed by noise: that is the correction for many cases.
pub fn depth(pairs: usize) -> u32 {
    6 + pairs.max(1).next_power_of_two().ilog2()
}

/// Readings of a claim, the first included, after which one that is still open is cleared.
pub fn most_readings(depth: u32) -> u32 {
    depth + 6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_depth_grows_by_one_with_each_doubling() {
        for (pairs, expected) in
            [(0, 6), (1, 6), (2, 7), (3, 8), (10, 10), (200, 14), (256, 14), (257, 15), (1_000, 16)]
        {
            assert_eq!(depth(pairs), expected, "{pairs}");
        }
    }
}
