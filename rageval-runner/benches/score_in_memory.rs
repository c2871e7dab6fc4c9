//! Times recall@10, nDCG@10, MAP and MRR over a file of JSON lines that is in memory already: nanoseconds a query, best of several rounds.
//!
//! `benches/score_vs_python.py` runs it beside the same in plain Python: `cargo bench -p rageval-runner --bench score_in_memory -- FILE ROUNDS`.

use std::{
    hint::black_box,
    path::PathBuf,
    time::{Duration, Instant},
};

use rageval_runner::{
    load::rankings::{self, RankedQuery},
    metric::retrieval::{Found, Gain, Measurement, Relevant},
};

struct Query {
    judged: Vec<(String, f64)>,
    ranking: Vec<String>,
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let (Some(path), Some(rounds)) = (arguments.next(), arguments.next().and_then(|rounds| rounds.parse::<u32>().ok()))
    else {
        eprintln!("usage: score_in_memory FILE ROUNDS");
        return;
    };
    let mut queries = Vec::new();
    let keep = |query: &RankedQuery<'_>| Query {
        judged: query.judgements().map(|(id, grade)| (id.to_owned(), grade)).collect(),
        ranking: query.ranking().flatten().map(str::to_owned).collect(),
    };
    rankings::for_each(&PathBuf::from(path), keep, |_, query| queries.push(query)).expect("a readable file");
    let measurements =
        ["recall@10", "ndcg@10", "map", "mrr"].map(|key| Measurement::parse(key, Gain::Linear).expect("a metric"));
    let mut best = Duration::MAX;
    let mut means = [0.0; 4];
    for _ in 0..rounds {
        let start = Instant::now();
        let mut sums = [0.0; 4];
        for query in black_box(&queries) {
            let relevant =
                Relevant::new(query.judged.iter().map(|(id, grade)| (id.as_str(), *grade))).expect("relevant");
            let found = Found::in_ranking(query.ranking.iter().map(|id| Some(id.as_str())), &relevant);
            for (sum, one) in sums.iter_mut().zip(measurements) {
                *sum += one.score(&found).expect("a score").get();
            }
        }
        means = sums.map(|sum| sum / queries.len() as f64);
        best = best.min(start.elapsed());
    }
    println!("{} {means:?}", best.as_nanos() / queries.len().max(1) as u128);
}
