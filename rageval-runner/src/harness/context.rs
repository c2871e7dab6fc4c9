//! What the process was started with: the only reader of the environment in a test binary.

use super::direct::Surroundings;

use std::{
    env,
    ffi::OsStr,
    path::{Path, PathBuf},
};

/// What the environment says to the harness.
#[derive(Debug, Clone)]
pub(super) struct Context {
    /// `CI` is set and neither `false` nor `0` nor empty.
    pub(super) ci: bool,
    /// The id of a run in which each test is a process: `NEXTEST_RUN_ID`, when `NEXTEST` is set.
    pub(super) nextest_run: Option<String>,
    /// `RAGEVAL_SHARD`: this run holds a part of the cases, and gates are decided later.
    pub(super) shard: Option<String>,
    /// `RAGEVAL_JUDGE_MODE`: how stored replies are used, whatever the policy says.
    pub(super) judge_mode: Option<String>,
    /// `RAGEVAL_RUNS`: the folder of run folders, in place of `target/rageval/runs`.
    pub(super) runs: Option<PathBuf>,
    /// `CARGO_MANIFEST_DIR` at run time, which a moved build or an archive sets anew.
    pub(super) manifest_dir: Option<PathBuf>,
    /// `INSTA_UPDATE`.
    pub(super) insta_update: Option<String>,
    /// `INSTA_FORCE_PASS` is on.
    pub(super) insta_force_pass: bool,
    /// `INSTA_FORCE_UPDATE` or `INSTA_FORCE_UPDATE_SNAPSHOTS` is on: old spellings of `INSTA_UPDATE=force`.
    pub(super) insta_force_update: bool,
    /// This executable.
    pub(super) executable: Option<PathBuf>,
    /// A variable by name, for headers that say `${NAME}` and for keys; an empty one counts as unset.
    pub(super) variable: fn(&str) -> Option<String>,
}

impl Context {
    /// Reads the environment, once, before any thread starts.
    pub(super) fn from_environment() -> Self {
        let text = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let on = |name: &str| text(name).is_some_and(|value| value != "0" && value != "false");
        let path = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        Self {
            ci: on("CI"),
            nextest_run: text("NEXTEST").and_then(|_| text("NEXTEST_RUN_ID")),
            shard: text("RAGEVAL_SHARD"),
            judge_mode: text("RAGEVAL_JUDGE_MODE"),
            runs: path("RAGEVAL_RUNS"),
            manifest_dir: path("CARGO_MANIFEST_DIR"),
            insta_update: text("INSTA_UPDATE"),
            insta_force_pass: on("INSTA_FORCE_PASS"),
            insta_force_update: on("INSTA_FORCE_UPDATE") || on("INSTA_FORCE_UPDATE_SNAPSHOTS"),
            executable: env::current_exe().ok(),
            variable: |name| env::var(name).ok().filter(|value| !value.is_empty()),
        }
    }

    /// What a command that runs says of itself.
    pub(super) fn of_command(surroundings: &Surroundings) -> Self {
        Self {
            ci: surroundings.ci,
            nextest_run: None,
            shard: None,
            judge_mode: surroundings.judge_mode.clone(),
            runs: Some(surroundings.runs.clone()),
            manifest_dir: None,
            insta_update: surroundings.insta_update.clone(),
            insta_force_pass: surroundings.insta_force_pass,
            insta_force_update: surroundings.insta_force_update,
            executable: None,
            variable: surroundings.variable,
        }
    }

    /// The folder of run folders: as told, else below the target folder that holds this executable, else below `root`.
    pub(super) fn runs_folder(&self, root: &Path) -> PathBuf {
        if let Some(runs) = &self.runs {
            return if runs.is_absolute() { runs.clone() } else { root.join(runs) };
        }
        let executable = self.executable.as_deref().unwrap_or(root);
        // Cargo marks its target folder with this file, unless the folder was there before; the binary then stands in
        // <target>/<profile>/deps.
        let marked = executable.ancestors().skip(1).find(|folder| folder.join("CACHEDIR.TAG").is_file());
        let by_place = || executable.parent().filter(|deps| deps.ends_with("deps"))?.parent()?.parent();
        let target = marked.or_else(by_place);
        target.map_or_else(|| root.join("target"), Path::to_owned).join("rageval").join("runs")
    }
}

/// Keeps insta from printing diffs between the test lines, and from asking cargo for the workspace in each process.
///
/// Must be called before any thread starts: it changes the environment, which other threads may be reading.
#[expect(unsafe_code, reason = "insta takes these two from the environment only; no other thread exists yet")]
pub(super) fn quiet_insta(root: &Path) {
    let unset = |name: &str| env::var_os(name).is_none();
    if unset("INSTA_OUTPUT") {
        // SAFETY: called at the start of `main`, before the harness starts any thread.
        unsafe { env::set_var("INSTA_OUTPUT", "none") };
    }
    if unset("INSTA_WORKSPACE_ROOT") {
        let workspace = env::var_os("NEXTEST_WORKSPACE_ROOT").unwrap_or_else(|| OsStr::new(root).to_owned());
        // SAFETY: as above.
        unsafe { env::set_var("INSTA_WORKSPACE_ROOT", workspace) };
    }
}
