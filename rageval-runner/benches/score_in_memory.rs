//! Times recall@10, nDCG@10, MAP and MRR over a file of JSON lines that is in memory already, on one thread.
//!
//! `benches/score_vs_python.py` runs it beside the same in plain Python: `cargo bench -p rageval-runner --bench score_in_memory -- FILE ROUNDS`.
//! It prints JSON: nanoseconds a query by the clock and of the processor, and the means. `from_texts` starts from lists of ids, which are
//! borrowed from the text of the file; `prepared` starts as Python does, whose sets and dictionaries of judgements are there before the
//! clock starts; `from_strings` starts from lists in which each id has memory of its own, which takes the processor longer to fetch.

use std::{
    borrow::Cow,
    hint::black_box,
    num::NonZeroUsize,
    path::PathBuf,
    time::{Duration, Instant},
};

use rageval_runner::{
    load::rankings::RankedQuery,
    metric::retrieval::{Found, Gain, Measurement, Relevant},
};
use serde_json::{Value, json};

/// `T` is how an id is kept.
struct Query<T> {
    judged: Vec<(T, f64)>,
    ranking: Vec<T>,
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let (Some(path), Some(rounds)) = (arguments.next(), arguments.next().and_then(|rounds| rounds.parse::<u32>().ok()))
    else {
        eprintln!("usage: score_in_memory FILE ROUNDS");
        return;
    };
    let text = std::fs::read_to_string(PathBuf::from(path)).expect("a readable file");
    let (from_texts, prepared) = {
        let queries = read(&text, |id| id);
        let prepared: Vec<_> = queries.iter().map(|query| (query, relevant(query))).collect();
        (
            best(rounds, &queries, |query| four(query, &relevant(query))),
            best(rounds, &prepared, |(query, relevant)| four(query, relevant)),
        )
    };
    let queries = read(&text, str::to_owned);
    let from_strings = best(rounds, &queries, |query| four(query, &relevant(query)));
    println!("{}", json!({"from_texts": from_texts, "prepared": prepared, "from_strings": from_strings}));
}

fn read<'t, T>(text: &'t str, keep: impl Fn(&'t str) -> T) -> Vec<Query<T>> {
    let query = |line: &'t str| {
        let query: RankedQuery<'t> = serde_json::from_str(line).expect("a line of samples");
        let keep = |id| match id {
            Some(Cow::Borrowed(id)) => keep(id),
            Some(Cow::Owned(_)) | None => panic!("an id that is missing or written with escapes"),
        };
        Query {
            judged: query.judged.into_iter().map(|document| (keep(document.id), document.grade)).collect(),
            ranking: query.retrieved.into_iter().map(|document| keep(document.id)).collect(),
        }
    };
    text.lines().map(query).collect()
}

fn relevant<T: AsRef<str>>(query: &Query<T>) -> Relevant<'_> {
    Relevant::new(query.judged.iter().map(|(id, grade)| (id.as_ref(), *grade))).expect("relevant")
}

fn four<T: AsRef<str>>(query: &Query<T>, relevant: &Relevant<'_>) -> [f64; 4] {
    const MEASUREMENTS: [Measurement; 4] = {
        let ten = NonZeroUsize::new(10);
        let Some(k) = ten else { panic!("at least 1") };
        [Measurement::Recall(k), Measurement::Ndcg(ten, Gain::Linear), Measurement::Map(None), Measurement::Mrr(None)]
    };
    let found = Found::in_ranking(&query.ranking, |id| Some(id.as_ref()), relevant);
    MEASUREMENTS.map(|one| one.score(&found).expect("a score").get())
}

/// The quickest of the rounds, by the clock and of the processor each.
fn best<T>(rounds: u32, queries: &[T], four: impl Fn(&T) -> [f64; 4]) -> Value {
    let (mut wall, mut processor, mut means) = (Duration::MAX, Duration::MAX, [0.0; 4]);
    for _ in 0..rounds {
        let (start, used) = (Instant::now(), processor_time());
        let mut sums = [0.0; 4];
        for query in black_box(queries) {
            for (sum, score) in sums.iter_mut().zip(four(query)) {
                *sum += score;
            }
        }
        means = sums.map(|sum| sum / queries.len() as f64);
        wall = wall.min(start.elapsed());
        processor = processor.min(processor_time().saturating_sub(used));
    }
    let each = |time: Duration| time.as_nanos() as f64 / queries.len().max(1) as f64;
    json!({"wall": each(wall), "processor": each(processor), "means": means})
}

/// What this thread has used of the processor; by the clock where the system has no such count.
#[cfg(target_os = "linux")]
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_nsec).expect("below a second"))
}

/// What this thread has used of the processor; by the clock where the system has no such count.
#[cfg(not(target_os = "linux"))]
fn processor_time() -> Duration {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    START.elapsed()
}
