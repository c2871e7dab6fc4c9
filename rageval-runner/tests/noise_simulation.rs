//! A small slice of the simulation in `examples/noise_simulation`, with its bars held loosely: the tables stand in docs/noise-simulation.md.

#[path = "../examples/noise_simulation/truth.rs"]
mod truth;
#[path = "../examples/noise_simulation/world.rs"]
mod world;

use truth::Setting;
use world::{Ran, Scene};

fn runs(setting: Setting, count: u32) -> Vec<Ran> {
    let scene = Scene::new(setting.cases);
    (0..count).map(|number| scene.run(&setting, number)).collect()
}

fn count(runs: &[Ran], is_so: impl Fn(&Ran) -> bool) -> usize {
    runs.iter().filter(|ran| is_so(ran)).count()
}

/// Requests beyond the first readings, as a share of the cases.
fn extra(runs: &[Ran], setting: Setting) -> f64 {
    runs.iter().map(Ran::extra).sum::<usize>() as f64 / (runs.len() * setting.cases) as f64
}

#[test]
fn noise_blocks_no_run_that_first_readings_would_block() {
    for (changed, borderline, most_extra) in [(0.3, 0.0, 0.10), (1.0, 0.0, 0.25), (1.0, 0.1, 1.0)] {
        let setting = Setting { changed, borderline, ..Setting::MAIN };
        let runs = runs(setting, 6);
        assert_eq!(count(&runs, |ran| ran.rule.any()), 0, "{setting:?}");
        assert!(count(&runs, |ran| ran.naive.any()) >= 5, "{setting:?}");
        assert!(extra(&runs, setting) <= most_extra, "{setting:?}: {}", extra(&runs, setting));
    }
}

#[test]
fn a_loss_in_a_twentieth_of_the_cases_is_found_in_every_run_and_a_single_one_in_most() {
    let many = runs(Setting { lost: 10, ..Setting::MAIN }, 4);
    assert_eq!(count(&many, |ran| ran.rule.finds()), 4);
    let one = runs(Setting { lost: 1, ..Setting::MAIN }, 20);
    assert!(count(&one, |ran| ran.rule.finds()) >= 12, "{}", count(&one, |ran| ran.rule.finds()));
    assert!(one.iter().all(|ran| ran.rule.lost_cases <= 1));
}

#[test]
fn a_judge_that_never_flips_needs_no_second_reading_of_what_did_not_get_worse() {
    let quiet = runs(Setting { flips: 0.0, ..Setting::MAIN }, 3);
    assert!(quiet.iter().all(|ran| ran.extra() == 0 && !ran.rule.any() && !ran.naive.any()));
    let lost = runs(Setting { flips: 0.0, lost: 1, ..Setting::MAIN }, 3);
    assert!(lost.iter().all(|ran| ran.rule.lost_cases == 1 && ran.naive.lost_cases == 1));
}

#[test]
fn flips_that_repeat_on_every_sample_are_out_of_reach() {
    let runs = runs(Setting { repeats: true, ..Setting::MAIN }, 3);
    assert!(count(&runs, |ran| ran.rule.any()) == 3);
}
