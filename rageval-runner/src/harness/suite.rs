//! What a test binary is made of: the system, further metrics, and where the binary's source stands.

use std::{process::ExitCode, sync::Arc};

use super::{context::Context, flags::Flags, trials};
use crate::{
    metric::{self, Metric},
    system::{IntoSystem, RagSystem},
};

/// Where the test's source stands, and how its crate asserts a snapshot. Made by [`main!`](crate::main), or by hand with [`location!`](crate::location).
#[derive(Debug, Clone, Copy)]
pub struct Location {
    /// `CARGO_MANIFEST_DIR` when the test was compiled; the one at run time counts where set.
    pub manifest_dir: &'static str,
    /// The package's name.
    pub package: &'static str,
    /// The test target's name.
    pub target: &'static str,
    /// The test's source, as it was compiled.
    pub file: &'static str,
    /// The line in it.
    pub line: u32,
    /// Calls `insta::assert_snapshot!(name, body)` in the test's own crate, so that the snapshot names the right source.
    pub snapshot: fn(&str, &str),
}

/// A test binary: the system under test and the metrics beside those that are built in.
///
/// [`main!`](crate::main) writes exactly this:
///
/// ```no_run
/// # async fn answer(query: String) -> rageval_runner::Result<rageval_runner::Answer> { Ok(rageval_runner::Answer::new(query)) }
/// fn main() -> std::process::ExitCode {
///     rageval_runner::Suite::new(rageval_runner::location!()).system(answer).run()
/// }
/// ```
pub struct Suite {
    location: Location,
    system: Option<Arc<dyn RagSystem>>,
    metrics: Vec<&'static dyn Metric>,
}

impl Suite {
    /// A suite without a function system: `thresholds.yaml` must then say `kind: http`, `command` or `recorded`.
    pub fn new(location: Location) -> Self {
        Self { location, system: None, metrics: metric::METRICS.to_vec() }
    }

    /// Sets the system: a function of the question's text or of [`Question`](crate::system::Question), async or plain; see [`IntoSystem`].
    #[must_use]
    pub fn system<Kind>(mut self, system: impl IntoSystem<Kind>) -> Self {
        self.system = Some(Arc::from(system.into_system()));
        self
    }

    /// Adds a metric that `thresholds.yaml` may then name.
    #[must_use]
    pub fn metric(mut self, metric: &'static dyn Metric) -> Self {
        self.metrics.push(metric);
        self
    }

    /// Runs the trials that the command line asks for. The exit code: 0 when all passed, 101 when one failed or the set-up is
    /// broken; wrong flags end the process with 2.
    #[must_use = "return it from `main`: without it a failing gate ends with exit code 0"]
    pub fn run(self) -> ExitCode {
        let flags = Flags::read();
        let context = Context::from_environment();
        trials::run(self.location, self.system, self.metrics, context, &flags)
    }
}
