//! Draws which answers and claims of a run people should label: some of every kind, more of those that are hard to judge.
//!
//! Stratified by language and by where the judge's score leaves them. Low and uncertain ones are drawn more often, since a random draw of a
//! good system holds few of them; each drawn one carries how many it stands for (the inverse of its chance to be drawn, after Horvitz and
//! Thompson 1952), so that what is said of the run stays right.

use std::collections::BTreeMap;

use crate::{
    model::{UnitInterval, Verdict},
    stats::draw::Draws,
};

/// Where a judge's score leaves an answer or a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// A score up to 0.25; a claim that is unsupported or contradicted.
    Low,
    /// A score between 0.25 and 0.75; a claim that only follows, or on which readings differ.
    Uncertain,
    /// A score from 0.75; a supported claim.
    High,
}

impl Standing {
    /// Of a whole answer.
    pub fn of_score(score: UnitInterval) -> Self {
        match score.get() {
            low if low <= 0.25 => Self::Low,
            high if high >= 0.75 => Self::High,
            _ => Self::Uncertain,
        }
    }

    /// Of a claim, by every reading of it.
    pub fn of_verdicts(first: Verdict, more: impl IntoIterator<Item = Verdict>) -> Self {
        let of_one = |verdict| match verdict {
            Verdict::Supported => Self::High,
            Verdict::Inferred => Self::Uncertain,
            Verdict::Unsupported | Verdict::Contradicted => Self::Low,
        };
        let standing = of_one(first);
        if more.into_iter().all(|verdict| of_one(verdict) == standing) { standing } else { Self::Uncertain }
    }

    /// How many times as often as high ones these are drawn.
    fn times(self) -> f64 {
        match self {
            Self::Low => 2.0,
            Self::Uncertain => 3.0,
            Self::High => 1.0,
        }
    }
}

/// What could be labelled, by what it is drawn on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stratum {
    /// The language tag.
    pub language: String,
    /// Where the judge leaves it.
    pub standing: Standing,
}

/// One that was drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drawn {
    /// Its place in the list that was drawn from.
    pub at: usize,
    /// How many of the list it stands for, at least 1.
    pub weight: f64,
}

/// So many of a list whose entries are of these strata, or all where there are no more, in an order in which strata are mixed.
///
/// Every stratum has one before any has two, as far as `wanted` reaches; a stratum of which none is drawn is stood for by nobody. The same
/// list and seed give the same draw, and a larger `wanted` gives all that a smaller one gives, with other weights.
pub fn draw(strata: &[Stratum], wanted: usize, seed: u64) -> Vec<Drawn> {
    let mut sizes: BTreeMap<&Stratum, usize> = BTreeMap::new();
    for stratum in strata {
        *sizes.entry(stratum).or_default() += 1;
    }
    let shares = shares(&sizes, wanted.min(strata.len()));
    let mut left = shares.clone();
    let mut drawn = Vec::new();
    for at in Draws::seeded(seed).order(strata.len()) {
        let stratum = &strata[at];
        let Some(left) = left.get_mut(stratum).filter(|left| **left > 0) else { continue };
        *left -= 1;
        drawn.push(Drawn { at, weight: sizes[stratum] as f64 / shares[stratum] as f64 });
    }
    drawn
}

/// How many of each stratum are drawn: one after the other, each time where the most, times how often they are wanted, stand for one drawn
/// (the highest averages of d'Hondt, which never take back what they gave).
fn shares<'a>(sizes: &BTreeMap<&'a Stratum, usize>, wanted: usize) -> BTreeMap<&'a Stratum, usize> {
    let mut shares: BTreeMap<&Stratum, usize> = sizes.keys().map(|stratum| (*stratum, 0)).collect();
    for _ in 0..wanted {
        let open = shares.iter().filter(|(stratum, share)| **share < sizes[*stratum]);
        let first_then_need = |(stratum, share): &(&&Stratum, &usize)| {
            let mass = sizes[**stratum] as f64 * stratum.standing.times();
            (**share == 0, mass / (**share + 1) as f64)
        };
        let next = open.max_by(|a, b| {
            let (a, b) = (first_then_need(a), first_then_need(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        let Some(next) = next.map(|(stratum, _)| *stratum) else { break };
        *shares.entry(next).or_default() += 1;
    }
    shares
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stratum(language: &str, standing: Standing) -> Stratum {
        Stratum { language: language.to_owned(), standing }
    }

    fn list(parts: &[(&str, Standing, usize)]) -> Vec<Stratum> {
        let of_part =
            |(language, standing, count): &(&str, Standing, usize)| vec![stratum(language, *standing); *count];
        parts.iter().flat_map(of_part).collect()
    }

    fn counts(strata: &[Stratum], drawn: &[Drawn]) -> BTreeMap<Stratum, usize> {
        let mut counts = BTreeMap::new();
        for one in drawn {
            *counts.entry(strata[one.at].clone()).or_default() += 1;
        }
        counts
    }

    #[test]
    fn low_and_uncertain_ones_are_drawn_more_often_and_stand_for_fewer() {
        let strata = list(&[("en", Standing::High, 900), ("en", Standing::Low, 60), ("en", Standing::Uncertain, 40)]);
        let drawn = draw(&strata, 100, 0);
        let counts = counts(&strata, &drawn);
        assert_eq!(drawn.len(), 100);
        let share = |standing, of: usize| counts[&stratum("en", standing)] as f64 / of as f64;
        let high = share(Standing::High, 900);
        assert!(share(Standing::Low, 60) > 1.8 * high && share(Standing::Uncertain, 40) > 2.7 * high, "{counts:?}");
    }

    #[test]
    fn every_stratum_has_one_before_any_has_two() {
        let strata = list(&[("en", Standing::High, 500), ("pt", Standing::Low, 1), ("zh", Standing::High, 2)]);
        assert_eq!(counts(&strata, &draw(&strata, 3, 7)).len(), 3);
        assert_eq!(draw(&strata, 9_999, 7).len(), strata.len());
        assert_eq!(draw(&[], 5, 0), []);
    }

    #[test]
    fn readings_that_differ_make_a_claim_uncertain() {
        let of = |first, more: &[Verdict]| Standing::of_verdicts(first, more.iter().copied());
        assert_eq!(of(Verdict::Supported, &[]), Standing::High);
        assert_eq!(of(Verdict::Supported, &[Verdict::Supported, Verdict::Unsupported]), Standing::Uncertain);
        assert_eq!(of(Verdict::Contradicted, &[Verdict::Unsupported]), Standing::Low);
        assert_eq!(of(Verdict::Inferred, &[]), Standing::Uncertain);
        let of_score = |score| Standing::of_score(UnitInterval::new(score).expect("a score"));
        assert_eq!(
            [0.0, 0.25, 0.5, 0.75].map(of_score),
            [Standing::Low, Standing::Low, Standing::Uncertain, Standing::High]
        );
    }

    proptest! {
        #[test]
        fn the_drawn_stand_for_all_and_more_wanted_keep_what_fewer_gave(
            sizes in proptest::collection::vec(0..30_usize, 9), fewer in 9..40_usize, more in 0..40_usize, seed in 0..5_u64
        ) {
            let standings = [Standing::Low, Standing::Uncertain, Standing::High];
            let parts: Vec<_> = sizes.iter().enumerate()
                .map(|(at, size)| (["en", "pt", "zh"][at / 3], standings[at % 3], *size)).collect();
            let strata = list(&parts);
            let (few, many) = (draw(&strata, fewer, seed), draw(&strata, fewer + more, seed));
            prop_assert_eq!(few.len(), fewer.min(strata.len()));
            let weights: f64 = few.iter().map(|one| one.weight).sum();
            prop_assert!((weights - strata.len() as f64).abs() < 1e-6);
            prop_assert!(few.iter().all(|one| many.iter().any(|other| other.at == one.at)));
        }
    }
}
