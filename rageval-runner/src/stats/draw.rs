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

    /// The numbers below `count` in an order of which each is equally likely (Fisher and Yates, in Durstenfeld's form).
    pub fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            let mut place = [0];
            self.fill_below(u32::try_from(last + 1).unwrap_or(u32::MAX), &mut place);
            order.swap(last, place[0] as usize);
        }
        order
    }

    /// Fills `places` with numbers below `bound`, each equally likely; with a `bound` of 0 they are 0.
    ///
    /// Lemire, "Fast random integer generation in an interval" (2019): a multiplication, and a rare rejection that removes the bias. One draw of
    /// 64 coins gives four numbers: this is the inner loop of every interval, and it must be quick without an optimiser too.
    pub fn fill_below(&mut self, bound: u32, places: &mut [u32]) {
        let mut place = 0;
        let mut coins = 0_u64;
        let mut left = 0;
        // The bits of one number: 16 are enough for bounds that leave rejections rare.
        let bits = if bound <= 1 << 12 { 16 } else { 32 };
        let mask = (1_u64 << bits) - 1;
        let biased = if bound == 0 { 0 } else { (1_u64 << bits) % u64::from(bound) };
        while place < places.len() {
            if left == 0 {
                coins = self.coins();
                left = 64 / bits;
            }
            let product = (coins & mask) * u64::from(bound);
            coins >>= bits;
            left -= 1;
            if product & mask >= biased {
                places[place] = (product >> bits) as u32;
                place += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_below_the_bound_is_drawn_about_equally_often() {
        // A bound with 16 bits a number, and one with 32; counted in six bins.
        for bound in [6, 6_000_000] {
            let mut places = vec![0; 60_000];
            Draws::seeded(0).fill_below(bound, &mut places);
            let mut counts = [0_u32; 6];
            for place in places {
                counts[(place / (bound / 6)) as usize] += 1;
            }
            // Six standard deviations of a binomial count with n = 60,000 and p = 1/6 are 548.
            assert!(counts.iter().all(|count| count.abs_diff(10_000) < 548), "{counts:?}");
        }
    }

    fn drawn(seed: u64, bound: u32) -> [u32; 8] {
        let mut places = [0; 8];
        Draws::seeded(seed).fill_below(bound, &mut places);
        places
    }

    #[test]
    fn equal_seeds_draw_equally_and_others_do_not() {
        assert_eq!(drawn(7, 1_000_000), drawn(7, 1_000_000));
        assert_ne!(drawn(7, 1_000_000), drawn(8, 1_000_000));
    }

    #[test]
    fn the_draws_of_a_seed_never_change() {
        assert_eq!(drawn(0, 100), [23, 65, 96, 70, 75, 72, 64, 46]);
    }

    #[test]
    fn each_order_is_drawn_about_equally_often_and_that_of_a_seed_never_changes() {
        let mut draws = Draws::seeded(0);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..6_000 {
            *counts.entry(draws.order(3)).or_insert(0_u32) += 1;
        }
        // Six standard deviations of a binomial count with n = 6,000 and p = 1/6 are 173.
        assert!(counts.len() == 6 && counts.values().all(|count| count.abs_diff(1_000) < 173), "{counts:?}");
        assert_eq!(Draws::seeded(0).order(8), [0, 6, 4, 7, 2, 3, 5, 1]);
        assert_eq!((Draws::seeded(0).order(0), Draws::seeded(0).order(1)), (vec![], vec![0]));
    }

    #[test]
    fn nothing_to_choose_from_is_zero() {
        assert_eq!(drawn(0, 0), [0; 8]);
        assert_eq!(drawn(0, 1), [0; 8]);
    }
}
