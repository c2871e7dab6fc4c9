//! Agreement of people and judges on categories: the confusion table, kappa and alpha.

use std::collections::BTreeMap;

/// The confusion table of a judge against people, in items or in their weights.
///
/// *Positive* is what the caller makes of it, such as "the claim is supported"; people are right by definition.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Confusion {
    /// Yes by people, yes by the judge.
    pub true_positive: f64,
    /// No by people, yes by the judge.
    pub false_positive: f64,
    /// Yes by people, no by the judge.
    pub false_negative: f64,
    /// No by people, no by the judge.
    pub true_negative: f64,
}

impl Confusion {
    /// The table of `(people, judge)`, each item counted once.
    pub fn of(pairs: impl IntoIterator<Item = (bool, bool)>) -> Self {
        let mut table = Self::default();
        for (people, judge) in pairs {
            table.add(people, judge, 1.0);
        }
        table
    }

    /// The table of `(people, judge, weight)`; `None` where a weight is negative or not finite.
    pub fn weighted(items: impl IntoIterator<Item = (bool, bool, f64)>) -> Option<Self> {
        let mut table = Self::default();
        for (people, judge, weight) in items {
            if !weight.is_finite() || weight < 0.0 {
                return None;
            }
            table.add(people, judge, weight);
        }
        Some(table)
    }

    fn add(&mut self, people: bool, judge: bool, weight: f64) {
        let cell = match (people, judge) {
            (true, true) => &mut self.true_positive,
            (false, true) => &mut self.false_positive,
            (true, false) => &mut self.false_negative,
            (false, false) => &mut self.true_negative,
        };
        *cell += weight;
    }

    /// Items that people call positive.
    pub fn positives(&self) -> f64 {
        self.true_positive + self.false_negative
    }

    /// Items that people call negative.
    pub fn negatives(&self) -> f64 {
        self.false_positive + self.true_negative
    }

    /// All items.
    pub fn total(&self) -> f64 {
        self.positives() + self.negatives()
    }

    /// True positive rate (sensitivity, recall): the share of people's yes that the judge finds, 0 to 1; `None` without a yes of people.
    pub fn true_positive_rate(&self) -> Option<f64> {
        share(self.true_positive, self.positives())
    }

    /// True negative rate (specificity): the share of people's no that the judge finds, 0 to 1; `None` without a no of people.
    pub fn true_negative_rate(&self) -> Option<f64> {
        share(self.true_negative, self.negatives())
    }

    /// The mean of both rates, 0 to 1, 0.5 for a judge that always says the same; `None` where people said only yes or only no.
    ///
    /// Brodersen et al., "The balanced accuracy and its posterior distribution" (2010).
    pub fn balanced_accuracy(&self) -> Option<f64> {
        Some(f64::midpoint(self.true_positive_rate()?, self.true_negative_rate()?))
    }

    /// The share of items on which both agree, 0 to 1; `None` of nothing.
    pub fn accuracy(&self) -> Option<f64> {
        share(self.true_positive + self.true_negative, self.total())
    }

    /// Cohen's kappa of this table; see [`cohen_kappa`].
    pub fn kappa(&self) -> Option<f64> {
        let total = self.total();
        let observed = self.accuracy()?;
        let judged_positive = self.true_positive + self.false_positive;
        let judged_negative = self.false_negative + self.true_negative;
        let by_chance = (self.positives() * judged_positive + self.negatives() * judged_negative) / (total * total);
        beyond_chance(observed, by_chance)
    }
}

/// A part of a whole; `None` where the whole is nothing.
fn share(part: f64, whole: f64) -> Option<f64> {
    (0.0 < whole).then(|| part / whole)
}

/// How much of the agreement that chance leaves open was reached; `None` where chance leaves none.
fn beyond_chance(observed: f64, by_chance: f64) -> Option<f64> {
    (by_chance < 1.0).then(|| (observed - by_chance) / (1.0 - by_chance))
}

/// Cohen's kappa of two readings of the same items in any categories: at most 1, 0 where they agree as often as by chance, below 0 where less often.
///
/// (observed - expected) / (1 - expected), expected from how often either names each category. `None` of nothing, and where both always name the one same
/// category: chance then explains all. Readings that share no category, or of which one is constant, have a kappa of at most 0.
///
/// Cohen, "A coefficient of agreement for nominal scales" (1960).
pub fn cohen_kappa<C: Ord + Copy>(pairs: &[(C, C)]) -> Option<f64> {
    let mut named: BTreeMap<C, (f64, f64)> = BTreeMap::new();
    for (left, right) in pairs {
        named.entry(*left).or_default().0 += 1.0;
        named.entry(*right).or_default().1 += 1.0;
    }
    let total = pairs.len() as f64;
    let observed = share(pairs.iter().filter(|(left, right)| left == right).count() as f64, total)?;
    let by_chance = named.values().map(|(left, right)| left * right).sum::<f64>() / (total * total);
    beyond_chance(observed, by_chance)
}

/// How far apart two values are, for Krippendorff's alpha.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Categories without order: 0 for equal ones, 1 for others.
    Nominal,
    /// Numbers: the square of their difference.
    Interval,
}

/// Krippendorff's alpha: at most 1, 0 where annotators agree as often as by chance, below 0 where less often.
///
/// Each unit lists what its annotators said, in any order; a missing value is simply not there. Units with fewer than two values say nothing of agreement and
/// are left out. 1 - (observed disagreement / disagreement expected of values drawn from all units). `None` where nothing is left, where all values
/// are equal (chance then explains all), and where a value is not finite.
///
/// Krippendorff, "Computing Krippendorff's alpha-reliability" (2011).
pub fn krippendorff_alpha(units: &[Vec<f64>], level: Level) -> Option<f64> {
    if units.iter().flatten().any(|value| !value.is_finite()) {
        return None;
    }
    let pairable: Vec<&[f64]> = units.iter().map(Vec::as_slice).filter(|values| 2 <= values.len()).collect();
    let all: Vec<f64> = pairable.iter().copied().flatten().copied().collect();
    let first = all.first()?;
    if all.iter().all(|value| value == first) {
        return None;
    }
    let total = all.len() as f64;
    let observed: f64 =
        pairable.iter().map(|values| disagreement(values, level) / (values.len() as f64 - 1.0)).sum::<f64>() / total;
    let expected = disagreement(&all, level) / (total * (total - 1.0));
    Some(1.0 - observed / expected)
}

/// The sum of distances over all ordered pairs of two of these values.
fn disagreement(values: &[f64], level: Level) -> f64 {
    let count = values.len() as f64;
    match level {
        Level::Nominal => {
            let mut sorted = values.to_vec();
            sorted.sort_by(f64::total_cmp);
            let same: f64 = sorted.chunk_by(|a, b| a == b).map(|group| (group.len() as f64).powi(2)).sum();
            count * count - same
        }
        // The squared differences of all pairs are 2 n times the squares about the mean, which loses no digits to large means.
        Level::Interval => {
            let mean = values.iter().sum::<f64>() / count;
            2.0 * count * values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(true_positive: usize, false_positive: usize, false_negative: usize, true_negative: usize) -> Confusion {
        let cells = [(true, true), (false, true), (true, false), (false, false)];
        let counts = [true_positive, false_positive, false_negative, true_negative];
        Confusion::of(cells.into_iter().zip(counts).flat_map(|(cell, count)| std::iter::repeat_n(cell, count)))
    }

    #[test]
    fn a_perfect_judge_is_exactly_one() {
        let perfect = table(49, 0, 0, 11);
        assert_eq!((perfect.true_positive_rate(), perfect.true_negative_rate()), (Some(1.0), Some(1.0)));
        assert_eq!(
            (perfect.balanced_accuracy(), perfect.accuracy(), perfect.kappa()),
            (Some(1.0), Some(1.0), Some(1.0))
        );
    }

    #[test]
    fn a_judge_that_always_says_yes_agrees_only_by_chance() {
        let lenient = table(50, 10, 0, 0);
        assert_eq!((lenient.true_positive_rate(), lenient.true_negative_rate()), (Some(1.0), Some(0.0)));
        assert_eq!((lenient.balanced_accuracy(), lenient.kappa()), (Some(0.5), Some(0.0)));
    }

    #[test]
    fn what_people_never_said_has_no_rate() {
        let table = table(50, 0, 3, 0);
        assert_eq!((table.true_negative_rate(), table.balanced_accuracy()), (None, None));
        assert_eq!(Confusion::default().accuracy(), None);
        assert_eq!(Confusion::default().kappa(), None);
        assert_eq!(self::table(9, 0, 0, 0).kappa(), None);
    }

    #[test]
    fn weights_count_as_so_many_items() {
        let items = [(true, true, 3.0), (false, true, 2.0), (true, false, 1.0), (false, false, 4.0)];
        assert_eq!(Confusion::weighted(items), Some(table(3, 2, 1, 4)));
        assert_eq!(Confusion::weighted([(true, true, -1.0)]), None);
        assert_eq!(Confusion::weighted([(true, true, f64::NAN)]), None);
    }

    #[test]
    fn kappa_of_two_categories_is_that_of_their_table() {
        let table = table(20, 5, 10, 15);
        let pairs = [(1, 1); 20].into_iter().chain([(0, 1); 5]).chain([(1, 0); 10]).chain([(0, 0); 15]);
        // Cohen's own example: 0.70 observed, 0.50 by chance.
        let kappa = cohen_kappa(&pairs.collect::<Vec<_>>()).expect("a kappa");
        assert!((kappa - 0.4).abs() < 1e-12, "{kappa}");
        assert!((table.kappa().expect("a kappa") - kappa).abs() < 1e-12);
    }

    #[test]
    fn kappa_is_none_where_chance_explains_all_and_below_zero_for_opposites() {
        assert_eq!(cohen_kappa::<u8>(&[]), None);
        assert_eq!(cohen_kappa(&[(1, 1); 9]), None);
        assert_eq!(cohen_kappa(&[(0, 1); 9]), Some(0.0));
        assert_eq!(cohen_kappa(&[(0, 1), (1, 0)]), Some(-1.0));
    }

    #[test]
    fn alpha_needs_two_values_of_a_unit_and_two_values_in_all() {
        assert_eq!(krippendorff_alpha(&[], Level::Nominal), None);
        assert_eq!(krippendorff_alpha(&[vec![1.0], vec![2.0]], Level::Nominal), None);
        assert_eq!(krippendorff_alpha(&[vec![1.0, 1.0], vec![1.0, 1.0, 1.0]], Level::Interval), None);
        assert_eq!(krippendorff_alpha(&[vec![1.0, f64::NAN]], Level::Interval), None);
    }

    #[test]
    fn units_with_a_single_value_do_not_count() {
        let units = [vec![1.0, 1.0], vec![0.0, 0.0], vec![1.0, 0.0]];
        let mut with_singles = units.to_vec();
        with_singles.extend([vec![1.0], vec![]]);
        for level in [Level::Nominal, Level::Interval] {
            assert_eq!(krippendorff_alpha(&units, level), krippendorff_alpha(&with_singles, level));
        }
    }

    #[test]
    fn annotators_of_one_mind_have_an_alpha_of_one() {
        let units = [vec![0.1, 0.1], vec![0.7, 0.7, 0.7]];
        assert_eq!(krippendorff_alpha(&units, Level::Nominal), Some(1.0));
        assert_eq!(krippendorff_alpha(&units, Level::Interval), Some(1.0));
    }
}
