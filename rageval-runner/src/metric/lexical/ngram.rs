//! Bags of n-grams, and what two of them share.

use std::collections::BTreeMap;

use crate::model::UnitInterval;

/// Every run of n items of a text, with how often it stands there.
pub(super) struct Bag<'a, T> {
    counts: BTreeMap<&'a [T], usize>,
    total: usize,
}

impl<'a, T: Ord> Bag<'a, T> {
    /// The runs of `n` items; empty for a text of fewer.
    pub(super) fn of(items: &'a [T], n: usize) -> Self {
        let mut counts: BTreeMap<&[T], usize> = BTreeMap::new();
        for gram in items.windows(n) {
            *counts.entry(gram).or_default() += 1;
        }
        Self { total: counts.values().sum(), counts }
    }

    /// How many there are, repeated ones each time.
    pub(super) fn total(&self) -> usize {
        self.total
    }

    /// How many both have, each as often as it stands in both.
    pub(super) fn common(&self, other: &Self) -> usize {
        let in_other = |gram: &&'a [T]| other.counts.get(gram).copied().unwrap_or(0);
        self.counts.iter().map(|(gram, count)| in_other(gram).min(*count)).sum()
    }

    /// 2 x common / all of both; `None` when neither has any.
    pub(super) fn f1(&self, other: &Self) -> Option<UnitInterval> {
        UnitInterval::share(2 * self.common(other), self.total + other.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_counts_as_often_as_it_stands_in_both() {
        let (one, other) = (["a", "b", "a", "b", "c"], ["a", "b", "c"]);
        for (n, totals, common) in [(1, (5, 3), 3), (2, (4, 2), 2), (3, (3, 1), 1), (4, (2, 0), 0), (6, (0, 0), 0)] {
            let (left, right) = (Bag::of(&one, n), Bag::of(&other, n));
            assert_eq!((left.total(), right.total()), totals, "{n}");
            assert_eq!((left.common(&right), right.common(&left)), (common, common), "{n}");
        }
        assert_eq!(Bag::of(&one, 6).f1(&Bag::of(&other, 6)), None);
        assert_eq!(Bag::of(&one, 2).f1(&Bag::of(&one, 2)), Some(UnitInterval::ONE));
    }
}
