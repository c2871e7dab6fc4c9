//! Simulates runs of a judge that flips and prints what the gate makes of them: runs blocked for nothing, losses found, extra requests.
//!
//! It drives `rageval_runner::gate` itself: `cargo run --release -p rageval-runner --example noise_simulation -- [RUNS]` prints the tables of
//! docs/noise-simulation.md. RUNS (1,000) is for rows of up to 200 cases; sets of 1,000 cases get a fifth of it.

mod truth;
mod world;

use std::thread;

use truth::Setting;
use world::{Ran, Scene};

/// Most runs of one world.
const RUNS: u32 = 1_000;

fn main() {
    let runs = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(RUNS);
    let main = Setting::MAIN;
    table(
        "Answers that changed",
        runs,
        &[
            ("5 %", Setting { changed: 0.05, ..main }),
            ("30 %", main),
            ("100 %", Setting { changed: 1.0, ..main }),
            ("5 %, 10 % of the claims borderline", Setting { changed: 0.05, borderline: 0.1, ..main }),
            ("30 %, 10 % borderline", Setting { borderline: 0.1, ..main }),
            ("100 %, 10 % borderline", Setting { changed: 1.0, borderline: 0.1, ..main }),
            ("30 %, 20 % borderline", Setting { borderline: 0.2, ..main }),
            ("100 %, 20 % borderline", Setting { changed: 1.0, borderline: 0.2, ..main }),
        ],
    );
    table(
        "Flips",
        runs / 2,
        &[
            ("0 %", Setting { flips: 0.0, ..main }),
            ("2 %", Setting { flips: 0.02, ..main }),
            ("10 %", Setting { flips: 0.10, ..main }),
            ("10 %, 100 % changed", Setting { flips: 0.10, changed: 1.0, ..main }),
        ],
    );
    table(
        "Cases",
        runs / 2,
        &[
            ("50", Setting { cases: 50, ..main }),
            ("50, 100 % changed", Setting { cases: 50, changed: 1.0, ..main }),
            ("50, 100 % changed, 10 % borderline", Setting { cases: 50, changed: 1.0, borderline: 0.1, ..main }),
            ("1,000", Setting { cases: 1_000, ..main }),
            ("1,000, 100 % changed", Setting { cases: 1_000, changed: 1.0, ..main }),
            ("1,000, 100 % changed, 10 % borderline", Setting { cases: 1_000, changed: 1.0, borderline: 0.1, ..main }),
        ],
    );
    table(
        "Out of reach",
        runs / 2,
        &[
            ("5 % flips that repeat on every sample", Setting { repeats: true, ..main }),
            ("2 % flips that repeat", Setting { flips: 0.02, repeats: true, ..main }),
            ("5 % of the claims a coin toss", Setting { borderline: 0.05, borderline_bad: 0.5, ..main }),
            ("the same, 100 % changed", Setting { borderline: 0.05, borderline_bad: 0.5, changed: 1.0, ..main }),
        ],
    );
}

fn table(title: &str, runs: u32, rows: &[(&str, Setting)]) {
    println!(
        "\n| {title} | case | mean | mean_drop | bottom10 | bottom10_drop | **in all** | first readings | extra requests | 1 case lost | 5 % | 10 % | 20 % |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (name, setting) in rows {
        println!("| {name} {}", row(setting, runs));
    }
}

fn row(setting: &Setting, runs: u32) -> String {
    let runs = if setting.cases > 200 { runs.div_ceil(5) } else { runs };
    let scene = Scene::new(setting.cases);
    let quiet = simulated(&scene, setting, runs);
    let found = |lost: usize, runs: u32| {
        let ran = simulated(&scene, &Setting { lost, ..*setting }, runs);
        share(&ran, |ran| ran.rule.finds())
    };
    let extra = quiet.iter().map(Ran::extra).sum::<usize>() as f64 / (quiet.len() * setting.cases) as f64;
    let gate = |place: usize| share(&quiet, |ran| ran.rule.gates[place]);
    let of_cases = |percent: usize| setting.cases * percent / 100;
    let cells = [
        share(&quiet, |ran| ran.rule.cases > 0),
        gate(0),
        gate(1),
        gate(2),
        gate(3),
        format!("**{}**", share(&quiet, |ran| ran.rule.any())),
        share(&quiet, |ran| ran.naive.any()),
        format!("{:.1}", 100.0 * extra),
        found(1, runs),
        found(of_cases(5), runs.div_ceil(5)),
        found(of_cases(10), runs.div_ceil(5)),
        found(of_cases(20), runs.div_ceil(5)),
    ];
    format!("| {} |", cells.join(" | "))
}

/// The share of runs of which this is so, in percent.
fn share(runs: &[Ran], is_so: impl Fn(&Ran) -> bool) -> String {
    format!("{:.1}", 100.0 * runs.iter().filter(|ran| is_so(ran)).count() as f64 / runs.len() as f64)
}

/// So many runs of one world, numbered from 0: the same whatever the number of threads.
fn simulated(scene: &Scene, setting: &Setting, runs: u32) -> Vec<Ran> {
    let threads = thread::available_parallelism().map_or(1, |count| count.get() as u32);
    thread::scope(|scope| {
        let part =
            |first: u32| move || (first..runs).step_by(threads as usize).map(|n| scene.run(setting, n)).collect();
        let parts: Vec<thread::ScopedJoinHandle<'_, Vec<Ran>>> =
            (0..threads).map(|first| scope.spawn(part(first))).collect();
        parts.into_iter().flat_map(|part| part.join().expect("a simulated run does not panic")).collect()
    })
}
