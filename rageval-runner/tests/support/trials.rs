//! Runs the tests of a binary that is also something else, and so has no test harness of its own.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

/// A test by its name: it panics when it fails.
pub(crate) type Test = (&'static str, fn());

/// Runs the groups as the command line says, each test named `group::test`.
pub(crate) fn run(groups: &[(&'static str, &'static [Test])]) -> ExitCode {
    let trials = groups.iter().flat_map(|(group, tests)| {
        tests.iter().map(move |(name, test)| {
            Trial::test(format!("{group}::{name}"), move || {
                std::panic::catch_unwind(test).map_err(|panic| {
                    let text = panic.downcast_ref::<String>().map(String::as_str);
                    Failed::from(
                        text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("panicked").to_owned(),
                    )
                })
            })
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}
