//! Simulates runs of a judge that flips and prints what the gate makes of them: runs blocked for nothing, losses found, extra requests.
//!
//! It drives `rageval_runner::gate`, not a copy of it: `cargo run --release -p rageval-runner --example noise_simulation -- [RUNS]`.

mod world;

use world::{Ran, Scene, Setting};

fn main() {
    let runs: u32 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(200);
    let start = std::time::Instant::now();
    for borderline in [0.0, 0.1] {
        for changed in [0.05, 0.3, 1.0] {
            for lost in [0, 1, 10] {
                let setting = Setting { borderline, changed, lost, ..Setting::MAIN };
                row(&setting, runs);
            }
        }
    }
    println!("{:?}", start.elapsed());
}

fn row(setting: &Setting, runs: u32) {
    let scene = Scene::new(setting.cases);
    let ran: Vec<Ran> = (0..runs).map(|number| scene.run(setting, number)).collect();
    let share = |count: usize| 100.0 * count as f64 / ran.len() as f64;
    let of = |is: &dyn Fn(&Ran) -> bool| share(ran.iter().filter(|ran| is(ran)).count());
    println!(
        "border {:3.0} changed {:3.0} lost {:2}: red {:5.1} case {:5.1} mean {:5.1} mdrop {:5.1} b10 {:5.1} b10d {:5.1} found {:5.1} | extra {:5.1}% suspects {:5.1} second {:5.1} | naive red {:5.1} case {:5.1} mdrop {:5.1} found {:5.1}",
        setting.borderline * 100.0,
        setting.changed * 100.0,
        setting.lost,
        of(&|ran| ran.rule.any()),
        of(&|ran| ran.rule.cases > 0),
        of(&|ran| ran.rule.gates[0]),
        of(&|ran| ran.rule.gates[1]),
        of(&|ran| ran.rule.gates[2]),
        of(&|ran| ran.rule.gates[3]),
        of(&|ran| ran.rule.finds()),
        ran.iter().map(|ran| ran.extra as f64).sum::<f64>() / ran.len() as f64 / setting.cases as f64 * 100.0,
        ran.iter().map(|ran| ran.suspects as f64).sum::<f64>() / ran.len() as f64,
        of(&|ran| ran.second),
        of(&|ran| ran.naive.any()),
        of(&|ran| ran.naive.cases > 0),
        of(&|ran| ran.naive.gates[1]),
        of(&|ran| ran.naive.finds()),
    );
}
