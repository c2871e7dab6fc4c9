//! Retrieval metrics of one query with 100 retrieved documents: `cargo bench -p rageval-runner --bench retrieval`.

use std::{hint::black_box, num::NonZeroUsize};

use divan::Bencher;
use rageval_runner::metric::retrieval::{Found, Gain, Measurement, Relevant};

/// Documents retrieved for a query.
const RETRIEVED: usize = 100;

fn main() {
    divan::main();
}

/// A ranking, and `relevant` judgements of which every second one is spread over it.
fn query(relevant: usize) -> (Vec<String>, Vec<(String, f64)>) {
    let mut ranking: Vec<_> = (0..RETRIEVED).map(|i| format!("doc-{:07}", i * 7919 % 1_000_003)).collect();
    let judged: Vec<_> =
        (0..relevant).map(|i| (format!("doc-{:07}", i * 104_729 % 1_000_003 + 1), 1.0 + (i % 3) as f64)).collect();
    for (i, (id, _)) in judged.iter().enumerate().step_by(2) {
        ranking[i * RETRIEVED / relevant] = id.clone();
    }
    (ranking, judged)
}

fn ask(bencher: Bencher<'_, '_>, relevant: usize, keys: &[&str]) {
    let (ranking, judged) = query(relevant);
    let measurements: Vec<_> =
        keys.iter().map(|key| Measurement::parse(key, Gain::Linear).expect("a metric")).collect();
    bencher.bench(|| {
        let relevant =
            Relevant::new(black_box(&judged).iter().map(|(id, grade)| (id.as_str(), *grade))).expect("relevant");
        let found = Found::in_ranking(black_box(&ranking), |id| Some(id), &relevant);
        measurements.iter().map(|one| one.score(&found).expect("a score").get()).sum::<f64>()
    });
}

/// The four metrics of the comparison with plain Python, from texts in memory to scores.
#[divan::bench(args = [1, 5, 20, 100])]
fn recall_ndcg_map_mrr(bencher: Bencher<'_, '_>, relevant: usize) {
    ask(bencher, relevant, &["recall@10", "ndcg@10", "map", "mrr"]);
}

/// All eight.
#[divan::bench(args = [5])]
fn every_metric(bencher: Bencher<'_, '_>, relevant: usize) {
    ask(bencher, relevant, &["hit_rate@10", "recall@10", "precision@10", "f1@10", "mrr", "map", "r_precision", "ndcg"]);
}

/// The formula alone, once the hits are known.
#[divan::bench(args = [5, 100])]
fn ndcg_of_known_hits(bencher: Bencher<'_, '_>, relevant: usize) {
    let (ranking, judged) = query(relevant);
    let relevant = Relevant::new(judged.iter().map(|(id, grade)| (id.as_str(), *grade))).expect("relevant");
    let found = Found::in_ranking(&ranking, |id| Some(id), &relevant);
    let k = NonZeroUsize::new(10);
    bencher.bench(|| rageval_runner::metric::retrieval::formula::ndcg(black_box(&found), k, Gain::Linear));
}
