//! The harness seen from outside: child processes of a gate whose system does on command what real systems do by accident.
//!
//! This binary is both. Started with `RAGEVAL_FIXTURE` it is the gate over the project in `CARGO_MANIFEST_DIR`; else it is the tests.

#[path = "../demo/adapter.rs"]
mod adapter;
mod baselines;
mod calibration;
mod compared;
mod containment;
mod decisions;
mod degraded;
#[path = "../demo/mod.rs"]
mod demo;
mod fixture;
mod judging;
mod listing;
mod lock;
mod planted;
mod processes;
mod repeats;
mod setup;
mod snapshots;
#[path = "../support/trials.rs"]
mod trials;
mod trust;
mod whole_records;

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(switch) = std::env::var_os(fixture::SWITCH) {
        let suite = rageval_runner::Suite::new(rageval_runner::location!());
        // `no-function` is a test binary for a system that needs no code.
        return match switch.to_str() {
            Some("no-function") => suite.run(),
            Some("demo") => {
                let location = rageval_runner::Location { target: "rag_regression", ..rageval_runner::location!() };
                rageval_runner::Suite::new(location).system(adapter::system()).run()
            }
            Some(_) | None => suite.system(fixture::answer).run(),
        };
    }
    let groups: [(&str, &[trials::Test]); 16] = [
        ("baselines", baselines::TESTS),
        ("calibration", calibration::TESTS),
        ("compared", compared::TESTS),
        ("containment", containment::TESTS),
        ("decisions", decisions::TESTS),
        ("degraded", degraded::TESTS),
        ("judging", judging::TESTS),
        ("listing", listing::TESTS),
        ("lock", lock::TESTS),
        ("planted", planted::TESTS),
        ("processes", processes::TESTS),
        ("repeats", repeats::TESTS),
        ("setup", setup::TESTS),
        ("snapshots", snapshots::TESTS),
        ("trust", trust::TESTS),
        ("whole_records", whole_records::TESTS),
    ];
    trials::run(&groups)
}

/// Names each function of a list after itself.
macro_rules! tests {
    ($($name:ident),+ $(,)?) => {
        pub(crate) const TESTS: &[crate::trials::Test] = &[$((stringify!($name), $name)),+];
    };
}
pub(crate) use tests;
