//! Holds the retrieval metrics to their formulas over plain maps and sets, in every bit.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

const COUNT: usize = 48;

/// Ids that are hard to tell apart: of equal length, with equal first or last bytes, or both; empty, not of ASCII, very long.
fn ids() -> Vec<String> {
    let mut ids: Vec<String> = [
        "",
        "a",
        "b",
        "ab",
        "ba",
        "abc",
        "abd",
        "abcd",
        "abce",
        "bbcd",
        "abcdefg",
        "abcdxfg",
        "退",
        "退款",
        "款退",
        "the-ends",
        "the-endsthe-ends",
    ]
    .map(str::to_owned)
    .to_vec();
    for middle in ["1", "2", "12", "21", "退", "12345678", "12345679", "02345678", "12305678"] {
        ids.push(format!("the-ends{middle}"));
        ids.push(format!("{middle}the-ends"));
        ids.push(format!("the-ends{middle}the-ends"));
    }
    for place in 0..4 {
        let mut long = "x".repeat(1000);
        long.replace_range(place * 300..=place * 300, "y");
        ids.push(long);
    }
    ids
}

const MEASUREMENTS: [&str; 13] = [
    "hit_rate@1",
    "hit_rate@7",
    "recall@3",
    "recall@10",
    "precision@10",
    "f1@5",
    "mrr",
    "mrr@4",
    "map",
    "map@10",
    "r_precision",
    "ndcg",
    "ndcg@10",
];

/// The same from the first grade above 0 of each document and the set of what was seen.
fn plain(measurement: Measurement, ranking: &[Option<&str>], judgements: &[(&str, f64)]) -> f64 {
    let mut grades = BTreeMap::new();
    for (id, grade) in judgements.iter().filter(|(_, grade)| *grade > 0.0) {
        grades.entry(*id).or_insert(*grade);
    }
    let mut seen = BTreeSet::new();
    let ranked = ranking.iter().enumerate().filter_map(|(index, id)| Some((index + 1, (*id)?)));
    let hits: Vec<_> = ranked
        .filter(|(_, id)| grades.contains_key(id) && seen.insert(*id))
        .map(|(rank, id)| (rank, grades[id]))
        .collect();
    let within = |k: usize| hits.iter().filter(move |(rank, _)| *rank <= k);
    let depth = |k: Option<NonZeroUsize>| k.map_or(usize::MAX, NonZeroUsize::get);
    let (relevant, count) = (grades.len(), grades.len() as f64);
    match measurement {
        Measurement::HitRate(k) => within(k.get()).count().min(1) as f64,
        Measurement::Recall(k) => within(k.get()).count() as f64 / count,
        Measurement::Precision(k) => within(k.get()).count() as f64 / k.get() as f64,
        Measurement::F1(k) => (2 * within(k.get()).count()) as f64 / (k.get() + relevant) as f64,
        Measurement::Mrr(k) => within(depth(k)).next().map_or(0.0, |(rank, _)| 1.0 / *rank as f64),
        Measurement::Map(k) => {
            within(depth(k)).zip(1..).map(|((rank, _), found)| f64::from(found) / *rank as f64).sum::<f64>() / count
        }
        Measurement::RPrecision => within(relevant).count() as f64 / count,
        Measurement::Ndcg(k, gain) => {
            let worth = |grade: f64, rank: usize| gain.of(grade) / ((rank + 1) as f64).log2();
            let sum: f64 = within(depth(k)).map(|(rank, grade)| worth(*grade, *rank)).sum();
            let mut best: Vec<_> = grades.values().copied().collect();
            best.sort_by(|a, b| b.total_cmp(a));
            let ideal: f64 = best.iter().take(depth(k)).zip(1..).map(|(grade, rank)| worth(*grade, rank)).sum();
            sum.min(ideal) / ideal
        }
    }
}

proptest! {
    #[test]
    fn every_metric_is_its_formula_over_plain_sets(
        judged in prop::collection::vec((0..COUNT, prop::sample::select(&[-1.0, 0.0, 0.3, 1.0, 2.0, 3.0][..])), 1..40),
        ranked in prop::collection::vec(prop::option::weighted(0.95, 0..COUNT), 0..120),
    ) {
        let ids = ids();
        let judgements: Vec<_> = judged.iter().map(|(id, grade)| (ids[*id].as_str(), *grade)).collect();
        let ranking: Vec<_> = ranked.iter().map(|id| id.map(|id| ids[id].as_str())).collect();
        let Some(relevant) = Relevant::new(judgements.iter().copied()) else {
            prop_assert!(judgements.iter().all(|(_, grade)| *grade <= 0.0));
            return Ok(());
        };
        let found = Found::in_ranking(&ranking, |id| *id, &relevant);
        for key in MEASUREMENTS {
            for gain in [Gain::Linear, Gain::Exponential] {
                let measurement = Measurement::parse(key, gain).expect("a metric");
                let got = measurement.score(&found).expect("a score").get();
                // A score is never -0, which a sum of nothing is.
                let expected = UnitInterval::new(plain(measurement, &ranking, &judgements)).expect("a score").get();
                prop_assert_eq!(got.to_bits(), expected.to_bits(), "{}: {}, not {}", key, got, expected);
            }
        }
    }
}

#[test]
fn all_the_ids_differ() {
    let ids = ids();
    assert_eq!(ids.len(), COUNT);
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), COUNT);
}
