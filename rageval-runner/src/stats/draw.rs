//! Seeded random draws that are the same on every machine.

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

/// A stream of draws: ChaCha with 8 rounds, a cipher's key stream, seeded from one number.
///
/// The same seed gives the same draws on every platform and in every version of this crate that names the same generator.
#[derive(Debug, Clone)]
pub struct Draws(ChaCha8Rng);

impl Draws {
    /// The stream of this seed.
    pub fn seeded(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// 64 fair coin tosses.
    pub fn coins(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`, each equally likely; `bound` of 0 gives 0.
    ///
    /// Lemire, "Fast random integer generation in an interval" (2019): a multiplication, and a rare rejection that removes the bias.
    pub fn below(&mut self, bound: u32) -> u32 {
        let mut product = u64::from(self.0.next_u32()) * u64::from(bound);
        if (product as u32) < bound {
            let biased = bound.wrapping_neg() % bound;
            while (product as u32) < biased {
                product = u64::from(self.0.next_u32()) * u64::from(bound);
            }
        }
        (product >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_below_the_bound_is_drawn_about_equally_often() {
        let mut draws = Draws::seeded(0);
        let mut counts = [0_u32; 6];
        for _ in 0..60_000 {
            counts[draws.below(6) as usize] += 1;
        }
        // Six standard deviations of a binomial count with n = 60,000 and p = 1/6 are 548.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 548), "{counts:?}");
    }

    #[test]
    fn equal_seeds_draw_equally_and_others_do_not() {
        let first = |seed| (0..8).map(|_| Draws::seeded(seed).below(1_000_000)).next();
        assert_eq!(first(7), first(7));
        assert_ne!(first(7), first(8));
    }

    #[test]
    fn nothing_to_choose_from_is_zero() {
        assert_eq!(Draws::seeded(0).below(0), 0);
        assert_eq!(Draws::seeded(0).below(1), 0);
    }
}
