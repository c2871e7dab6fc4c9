//! What the command knows of the process it runs in: the only reader of the environment.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

use rageval_runner::load;

/// The process's surroundings.
#[derive(Debug)]
pub(crate) struct Context {
    /// The command line, with `rageval` as its second word, as cargo passes it.
    pub(crate) arguments: Vec<OsString>,
    /// The folder of `thresholds.yaml`, found upward from where the command runs; empty where that is this folder, or there is none.
    pub(crate) root: PathBuf,
    /// The folder of run folders: `RAGEVAL_RUNS`, else below the target folder.
    pub(crate) runs: PathBuf,
}

impl Context {
    /// Reads it once.
    pub(crate) fn from_environment() -> Self {
        let mut arguments: Vec<_> = env::args_os().collect();
        // Run by hand as `cargo-rageval score`, cargo's word is missing.
        if arguments.get(1).is_none_or(|word| word != "rageval") {
            arguments.insert(1.min(arguments.len()), "rageval".into());
        }
        let here = env::current_dir().unwrap_or_default();
        let root = load::find(&here).and_then(|file| file.parent().map(Path::to_owned));
        // Files are named as a person would from here, so the folder itself has no name.
        let root = root.filter(|root| *root != here).unwrap_or_default();
        let folder = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(|value| root.join(value));
        let runs = folder("RAGEVAL_RUNS").unwrap_or_else(|| {
            let target = folder("CARGO_TARGET_DIR").unwrap_or_else(|| root.join("target"));
            target.join("rageval").join("runs")
        });
        Self { arguments, root, runs }
    }
}
