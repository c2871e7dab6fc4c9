//! What the command knows of the process it runs in: the only reader of the environment.

use std::{
    env,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{SystemTime, UNIX_EPOCH},
};

use rageval_runner::{
    Location,
    harness::Surroundings,
    load,
    metric::{self, Described, METRICS, Metric},
    store::own_metrics,
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
    /// Whether this is CI: `CI` is set and neither `false` nor `0`.
    pub(crate) ci: bool,
    /// Cargo, for the tests that `watch` runs.
    pub(crate) cargo: OsString,
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

/// Whether a switch of the environment is on.
fn is_on(name: &str) -> bool {
    Context::variable(name).is_some_and(|value| value != "0" && value != "false")
}

/// Keeps insta from printing, and from asking cargo for the folder in which this program was built.
#[expect(unsafe_code, reason = "insta takes these two from the environment only; no other thread exists yet")]
fn quiet_insta(root: &Path) {
    for (name, value) in [("INSTA_OUTPUT", Path::new("none")), ("INSTA_WORKSPACE_ROOT", root)] {
        if env::var_os(name).is_none() {
            // SAFETY: called at the start of `main`, before any thread is started.
            unsafe { env::set_var(name, value) };
        }
    }
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
        Self::day_in(0)
    }

    /// The day in UTC so many days from now.
    pub(crate) fn day_in(days: u64) -> Date {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        // A clock that stands before 1970 is no reason for a waiver to hold.
        utc_day(now.map_or(u64::MAX, |since| since.as_secs() + days * 24 * 60 * 60))
    }

    /// This program again.
    pub(crate) fn this_program() -> io::Result<Command> {
        env::current_exe().map(Command::new)
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
        quiet_insta(root.as_deref().unwrap_or(&here));
        // Files are named as a person would from here, so the folder itself has no name.
        let root = root.filter(|root| *root != here).unwrap_or_default();
        let folder = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(|value| root.join(value));
        let runs = folder("RAGEVAL_RUNS").unwrap_or_else(|| {
            let target = folder("CARGO_TARGET_DIR").or_else(|| target_folder(&root));
            target.unwrap_or_else(|| root.join("target")).join("rageval").join("runs")
        });
        let judge_mode = Self::variable("RAGEVAL_JUDGE_MODE");
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        Self { arguments, root, runs, judge_mode, ci: is_on("CI"), cargo }
    }

    /// The file of the policy.
    ///
    /// # Errors
    /// There is none, with how to begin.
    pub(crate) fn policy_that_is_there(&self) -> Result<PathBuf, String> {
        let file = self.root.join(load::FILE_NAME);
        // One that is there and can't be read is told by whoever reads it.
        match file.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err("no thresholds.yaml here or in a folder above; start one with `cargo rageval init`".to_owned())
            }
            Ok(_) | Err(_) => Ok(file),
        }
    }

    /// The metrics that the command knows: those that are built in, and those of test binaries as the runs that are named describe them, else the
    /// newest runs here. None of these can be measured here; their rules can be read, and their scores decided over.
    pub(crate) fn metrics(&self, named: &[&Path]) -> Vec<&'static dyn Metric> {
        let mut own = own_metrics::of_newest(&self.runs);
        for run in named {
            own.extend(own_metrics::of_run(run));
        }
        let own = own.into_iter().filter(|(name, _)| metric::find(name).is_none());
        // For as long as the process, as the built-in ones are: there are a few, and a process runs one command.
        let own = own.map(|(name, facts)| &*Box::leak(Box::new(Described::new(&name, facts))) as &'static dyn Metric);
        METRICS.iter().copied().chain(own).collect()
    }

    /// What a run must know of this process.
    pub(crate) fn surroundings(&self, location: Location) -> Surroundings {
        Surroundings {
            runs: self.runs.clone(),
            ci: self.ci,
            judge_mode: self.judge_mode.clone(),
            insta_update: Self::variable("INSTA_UPDATE"),
            insta_force_pass: is_on("INSTA_FORCE_PASS"),
            insta_force_update: is_on("INSTA_FORCE_UPDATE") || is_on("INSTA_FORCE_UPDATE_SNAPSHOTS"),
            variable: Self::variable,
            location,
        }
    }
}
