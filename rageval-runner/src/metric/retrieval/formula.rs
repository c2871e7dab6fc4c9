//! The retrieval formulas, over the hits of one ranking.
//!
//! All are numbers in [0, 1]; perfect is exactly 1. There is no epsilon in any denominator: [`Found`] has at least one relevant document.

use std::{array, num::NonZeroUsize, sync::LazyLock};

use super::ranking::Found;

/// What a grade is worth to [`ndcg`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Gain {
    /// The grade itself, as `trec_eval` does.
    #[default]
    Linear,
    /// 2 to the grade, minus 1.
    Exponential,
}

impl Gain {
    /// What a grade is worth.
    pub(super) fn of(self, grade: f64) -> f64 {
        match self {
            Self::Linear => grade,
            Self::Exponential => grade.exp2() - 1.0,
        }
    }
}

/// 1 when the first `k` hold a relevant document, else 0.
pub fn hit_rate(found: &Found<'_>, k: NonZeroUsize) -> f64 {
    if found.within(k.get()).is_empty() { 0.0 } else { 1.0 }
}

/// Share of the relevant documents that the first `k` hold.
pub fn recall(found: &Found<'_>, k: NonZeroUsize) -> f64 {
    found.within(k.get()).len() as f64 / found.relevant.count() as f64
}

/// Relevant documents among the first `k`, divided by `k` even when the ranking is shorter.
pub fn precision(found: &Found<'_>, k: NonZeroUsize) -> f64 {
    found.within(k.get()).len() as f64 / k.get() as f64
}

/// Harmonic mean of precision and recall at `k`: `2 hits / (k + relevant)`.
pub fn f1(found: &Found<'_>, k: NonZeroUsize) -> f64 {
    (2 * found.within(k.get()).len()) as f64 / (k.get() + found.relevant.count()) as f64
}

/// 1 divided by the rank of the first relevant document, within the first `k` where given; 0 when there is none.
pub fn reciprocal_rank(found: &Found<'_>, k: Option<NonZeroUsize>) -> f64 {
    match found.hits().first() {
        Some(hit) if k.is_none_or(|k| hit.rank <= k.get()) => 1.0 / hit.rank as f64,
        Some(_) | None => 0.0,
    }
}

/// Precision at the rank of each hit, within the first `k` where given, summed and divided by the number of relevant documents.
///
/// Divided by all of them also when `k` is smaller, as `trec_eval`'s `map_cut` does.
pub fn average_precision(found: &Found<'_>, k: Option<NonZeroUsize>) -> f64 {
    let hits = k.map_or(found.hits(), |k| found.within(k.get()));
    let precisions = hits.iter().enumerate().map(|(index, hit)| (index + 1) as f64 / hit.rank as f64);
    precisions.sum::<f64>() / found.relevant.count() as f64
}

/// Precision at R, the number of relevant documents.
pub fn r_precision(found: &Found<'_>) -> f64 {
    let relevant = found.relevant.count();
    found.within(relevant).len() as f64 / relevant as f64
}

/// Normalised discounted cumulative gain: the sum of gain / log2(rank + 1), divided by that of the best ranking there is,
/// both cut at `k` where given (Järvelin and Kekäläinen 2002, as `trec_eval` computes it).
///
/// The best ranking is made from the judgements, never from what was retrieved. NaN when a gain is too large for a number.
pub fn ndcg(found: &Found<'_>, k: Option<NonZeroUsize>, gain: Gain) -> f64 {
    let (sum, ideal) = gains(found, k, gain);
    if ideal.is_infinite() {
        return f64::NAN;
    }
    // No ranking is better than the ideal; where two grades are equal up to rounding, the sums may differ in their last digit.
    sum.min(ideal) / ideal
}

/// The discounted cumulative gain of the ranking, and that of the best one.
pub(super) fn gains(found: &Found<'_>, k: Option<NonZeroUsize>, gain: Gain) -> (f64, f64) {
    let hits = k.map_or(found.hits(), |k| found.within(k.get()));
    let discounted = |grade: f64, rank: usize| gain.of(grade) / discount(rank);
    let sum: f64 = hits.iter().map(|hit| discounted(hit.grade, hit.rank)).sum();
    let depth = k.map_or(usize::MAX, NonZeroUsize::get);
    let ideal: f64 =
        found.relevant.ideal().iter().take(depth).enumerate().map(|(index, grade)| discounted(*grade, index + 1)).sum();
    (sum, ideal)
}

/// `log2(rank + 1)`, looked up for the ranks that most rankings have: a logarithm for each hit takes longer than all the rest.
fn discount(rank: usize) -> f64 {
    static FIRST: LazyLock<[f64; 128]> = LazyLock::new(|| array::from_fn(log2_of_next));
    FIRST.get(rank).copied().unwrap_or_else(|| log2_of_next(rank))
}

fn log2_of_next(rank: usize) -> f64 {
    ((rank + 1) as f64).log2()
}

#[cfg(test)]
mod tests {
    use super::{super::ranking::Relevant, *};

    fn k(k: usize) -> NonZeroUsize {
        NonZeroUsize::new(k).expect("at least 1")
    }

    /// A ranking, the judgements, and what the formula gives.
    type Row<'a> = (&'a [&'a str], &'a [(&'a str, f64)], f64);

    #[track_caller]
    fn check(formula: impl Fn(&Found<'_>) -> f64, rows: &[Row<'_>]) {
        for (ranking, judgements, expected) in rows {
            let relevant = Relevant::new(judgements.iter().copied()).expect("something relevant");
            let got = formula(&Found::in_ranking(ranking, |id| Some(id), &relevant));
            assert!((got - expected).abs() < 1e-12, "{ranking:?} against {judgements:?}: {got}, not {expected}");
        }
    }

    const A: &[(&str, f64)] = &[("a", 1.0)];
    const AB: &[(&str, f64)] = &[("a", 1.0), ("b", 1.0)];
    const ABC: &[(&str, f64)] = &[("a", 1.0), ("b", 1.0), ("c", 1.0)];
    const GRADED: &[(&str, f64)] = &[("a", 3.0), ("b", 2.0), ("c", 1.0), ("no", 0.0)];

    #[test]
    fn hit_rate_is_yes_or_no() {
        check(|f| hit_rate(f, k(2)), &[(&["x", "a"], AB, 1.0), (&["x", "y", "a"], AB, 0.0), (&[], AB, 0.0)]);
    }

    #[test]
    fn recall_is_a_share_of_the_relevant() {
        let rows: &[(&[&str], _, f64)] = &[
            (&["a", "x", "b"], AB, 0.5),
            (&["a", "b"], AB, 1.0),
            (&["a", "b"], ABC, 2.0 / 3.0),
            (&["a", "a"], AB, 0.5),
            (&[], AB, 0.0),
        ];
        check(|f| recall(f, k(2)), rows);
    }

    #[test]
    fn precision_divides_by_k_even_when_the_ranking_is_shorter() {
        check(
            |f| precision(f, k(4)),
            &[(&["a"], A, 0.25), (&["a", "b", "c", "x"], ABC, 0.75), (&["a", "a", "a", "a"], A, 0.25)],
        );
    }

    #[test]
    fn f1_is_the_harmonic_mean() {
        check(|f| f1(f, k(4)), &[(&["a"], AB, 2.0 * 0.25 * 0.5 / 0.75), (&["x"], AB, 0.0)]);
        check(|f| f1(f, k(2)), &[(&["a", "b"], AB, 1.0)]);
    }

    #[test]
    fn the_reciprocal_rank_is_of_the_first_hit() {
        check(|f| reciprocal_rank(f, None), &[(&["x", "x", "b", "a"], AB, 1.0 / 3.0), (&["x"], AB, 0.0)]);
        check(|f| reciprocal_rank(f, Some(k(2))), &[(&["x", "y", "b"], AB, 0.0), (&["x", "b"], AB, 0.5)]);
    }

    #[test]
    fn average_precision_divides_by_all_relevant() {
        check(
            |f| average_precision(f, None),
            &[(&["a", "x", "b"], ABC, (1.0 + 2.0 / 3.0) / 3.0), (&["c", "b", "a"], ABC, 1.0)],
        );
        check(|f| average_precision(f, Some(k(1))), &[(&["a", "b"], AB, 0.5)]);
    }

    #[test]
    fn r_precision_cuts_at_the_number_of_relevant() {
        check(r_precision, &[(&["a", "x", "b"], AB, 0.5), (&["x", "y", "a", "b"], AB, 0.0), (&["b", "a"], AB, 1.0)]);
    }

    #[test]
    fn the_ideal_is_made_from_the_judgements() {
        // Two relevant, one retrieved at rank 1: 1 / (1 + 1 / log2(3)), not 1.
        check(|f| ndcg(f, Some(k(10)), Gain::Linear), &[(&["a"], AB, 0.613_147_192_765_458_4)]);
        // Cut at 1 the ideal holds one document.
        check(|f| ndcg(f, Some(k(1)), Gain::Linear), &[(&["a"], AB, 1.0)]);
    }

    #[test]
    fn a_repeated_document_earns_once_so_that_ndcg_stays_at_most_1() {
        check(
            |f| ndcg(f, Some(k(10)), Gain::Linear),
            &[(&["a", "a"], A, 1.0), (&["x", "a", "a"], A, 1.0 / 3f64.log2())],
        );
    }

    #[test]
    fn graded_gain_is_linear_or_exponential() {
        let log3 = 3f64.log2();
        let linear = (2.0 + 3.0 / log3 + 0.5) / (3.0 + 2.0 / log3 + 0.5);
        let exponential = (3.0 + 7.0 / log3 + 0.5) / (7.0 + 3.0 / log3 + 0.5);
        check(|f| ndcg(f, None, Gain::Linear), &[(&["b", "a", "c", "no"], GRADED, linear)]);
        check(|f| ndcg(f, None, Gain::Exponential), &[(&["b", "a", "c", "no"], GRADED, exponential)]);
    }

    #[test]
    fn the_discount_is_a_logarithm_at_every_rank() {
        for rank in [1, 2, 3, 126, 127, 128, 129, 1_000_000] {
            assert_eq!(discount(rank), ((rank + 1) as f64).log2(), "{rank}");
        }
    }

    #[test]
    fn a_perfect_ranking_is_exactly_1_in_every_formula() {
        for count in 1..=50 {
            let ids: Vec<_> = (0..count).map(|i| format!("d{i}")).collect();
            let graded: Vec<_> =
                ids.iter().enumerate().map(|(i, id)| (id.as_str(), (count - i) as f64 / 7.0)).collect();
            let relevant = Relevant::new(graded.iter().copied()).expect("something relevant");
            let found = Found::in_ranking(&ids, |id| Some(id), &relevant);
            let cut = k(count);
            let all = [
                hit_rate(&found, cut),
                recall(&found, cut),
                precision(&found, cut),
                f1(&found, cut),
                reciprocal_rank(&found, None),
                average_precision(&found, None),
                r_precision(&found),
                ndcg(&found, None, Gain::Linear),
                ndcg(&found, Some(cut), Gain::Exponential),
            ];
            assert_eq!(all, [1.0; 9], "{count} documents");
        }
    }

    #[test]
    fn a_gain_beyond_all_numbers_is_no_number() {
        let relevant = Relevant::new([("a", 2000.0)]).expect("something relevant");
        assert!(ndcg(&Found::in_ranking(&["a"], |id| Some(id), &relevant), None, Gain::Exponential).is_nan());
    }
}
