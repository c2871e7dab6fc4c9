//! The command line: libtest's flags, and those that libtest has and libtest-mimic lacks.

use clap::{CommandFactory as _, Parser};
use libtest_mimic::Arguments;

/// The command line of the test binary.
#[derive(Debug, Parser)]
#[command(
    disable_version_flag = true,
    about = "Runs the golden cases and the gates. Settings go into thresholds.yaml and RAGEVAL_* variables; flags are libtest's."
)]
pub(super) struct Flags {
    #[command(flatten)]
    pub(super) libtest: Arguments,
    /// Accepted and without effect: nothing is captured.
    #[arg(long)]
    no_capture: bool,
    /// Accepted and without effect: times stand in the run file.
    #[arg(long)]
    report_time: bool,
    /// Accepted and without effect: order does not matter.
    #[arg(long)]
    shuffle: bool,
}

/// Threads that trials wait on where the command line does not say; they sleep, and lines then print as cases finish.
const WAITING_THREADS: usize = 32;

impl Flags {
    /// Reads the command line; wrong flags end the process with 2.
    pub(super) fn read() -> Self {
        let mut flags = Self::parse();
        if flags.libtest.test_threads == Some(0) {
            let error = "--test-threads is at least 1";
            Self::command().error(clap::error::ErrorKind::ValueValidation, error).exit();
        }
        flags.libtest.test_threads.get_or_insert(WAITING_THREADS);
        flags
    }

    /// The one name that `--exact` asks for.
    pub(super) fn exact_name(&self) -> Option<&str> {
        self.libtest.filter.as_deref().filter(|_| self.libtest.exact && self.libtest.skip.is_empty())
    }
}
