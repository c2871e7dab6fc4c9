//! What the command knows of the process it runs in: the only reader of the environment.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{SystemTime, UNIX_EPOCH},
};

use rageval_runner::{
    load,
    trust::{Date, utc_day},
};

/// The process's surroundings.
#[derive(Debug)]
pub(crate) struct Context {
    /// The command line, with `rageval` as its second word, as cargo passes it.
    pub(crate) arguments: Vec<OsString>,
    /// The folder of `thresholds.yaml`, found upward from where the command runs; empty where that is this folder, or there is none.
    pub(crate) root: PathBuf,
    /// The folder of run folders: `RAGEVAL_RUNS`, else below the target folder.
    pub(crate) runs: PathBuf,
    /// `RAGEVAL_JUDGE_MODE`: how stored replies are used, whatever the policy says.
    pub(crate) judge_mode: Option<String>,
}

/// The target folder as cargo knows it: of the workspace, or configured. `None` outside a Rust project.
fn target_folder(root: &Path) -> Option<PathBuf> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]);
    if !root.as_os_str().is_empty() {
        command.current_dir(root);
    }
    let output = command.stderr(Stdio::null()).output().ok().filter(|output| output.status.success())?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    Some(PathBuf::from(metadata["target_directory"].as_str()?))
}

impl Context {
    /// A variable of the environment, such as one that holds a judge's key; an empty one counts as unset.
    pub(crate) fn variable(name: &str) -> Option<String> {
        env::var(name).ok().filter(|value| !value.is_empty())
    }

    /// The folder of `thresholds.yaml` below the root of the repository, with `/` between its parts: by `GITHUB_WORKSPACE`, else by the
    /// nearest `.git` upward. Empty where it is the root, or neither tells.
    pub(crate) fn folder_in_repository(&self) -> String {
        let Ok(here) = env::current_dir() else { return String::new() };
        let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
        let folder = real(here.join(&self.root));
        let workspace = env::var_os("GITHUB_WORKSPACE").filter(|value| !value.is_empty()).map(PathBuf::from).map(real);
        let by_git = || folder.ancestors().find(|ancestor| ancestor.join(".git").exists());
        let below = workspace.as_deref().or_else(by_git).and_then(|root| folder.strip_prefix(root).ok());
        let parts = below.into_iter().flat_map(Path::components);
        parts.map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
    }

    /// The day in UTC, on which waivers hold or have expired.
    pub(crate) fn today() -> Date {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        // A clock that stands before 1970 is no reason for a waiver to hold.
        utc_day(now.map_or(u64::MAX, |since| since.as_secs()))
    }

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
            let target = folder("CARGO_TARGET_DIR").or_else(|| target_folder(&root));
            target.unwrap_or_else(|| root.join("target")).join("rageval").join("runs")
        });
        let judge_mode = env::var("RAGEVAL_JUDGE_MODE").ok().filter(|word| !word.is_empty());
        Self { arguments, root, runs, judge_mode }
    }
}
