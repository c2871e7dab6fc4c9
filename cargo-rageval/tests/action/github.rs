//! A runner of GitHub's, as far as shell steps see one.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// A checkout with the files that a runner gives its steps.
pub(crate) struct Runner {
    folder: tempfile::TempDir,
}

/// What a step printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) code: i32,
    pub(crate) out: String,
    /// `name=value` lines that it wrote.
    pub(crate) outputs: Vec<(String, String)>,
}

impl Step {
    pub(crate) fn output(&self, name: &str) -> Option<&str> {
        self.outputs.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// The root of this repository, which is the action's.
pub(crate) fn action_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the workspace")
}

impl Runner {
    /// An empty checkout, with a `gh` that fails whatever it is asked.
    pub(crate) fn new() -> Self {
        let runner = Self { folder: tempfile::tempdir().expect("a folder") };
        for folder in ["work", "temp", "bin"] {
            fs::create_dir(runner.path(folder)).expect("a folder");
        }
        runner.gh("echo 'gh: no network' >&2; exit 1");
        runner
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file of the checkout.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path("work").join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Puts a `gh` in place that writes its arguments down and then does what this script says.
    pub(crate) fn gh(&self, script: &str) {
        let path = self.path("bin/gh");
        let asked = self.path("asked");
        let text = format!("#!/usr/bin/env bash\nprintf '%s\\n' \"$*\" >>'{}'\n{script}\n", asked.display());
        fs::write(&path, text).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("executable");
    }

    /// What `gh` was asked, a call a line.
    pub(crate) fn asked(&self) -> String {
        self.read("asked")
    }

    /// Runs one step's shell in a folder of the checkout.
    pub(crate) fn step(&self, script: &str, folder: &str, environment: &[(&str, &str)]) -> Step {
        let outputs = self.path("outputs");
        fs::write(&outputs, "").expect("written");
        let programs = Path::new(env!("CARGO_BIN_EXE_cargo-rageval")).parent().expect("a folder").to_owned();
        let path = std::env::var_os("PATH").expect("a PATH");
        let search = std::iter::once(self.path("bin")).chain([programs]).chain(std::env::split_paths(&path));
        let output = Command::new("bash")
            .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script])
            .current_dir(self.path("work").join(folder))
            .env("PATH", std::env::join_paths(search).expect("a PATH"))
            .env("CI", "true")
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_ACTION_PATH", action_path())
            .env("GITHUB_WORKSPACE", self.path("work"))
            .env("GITHUB_OUTPUT", &outputs)
            .env("GITHUB_STEP_SUMMARY", self.path("summary.md"))
            .env("GITHUB_REPOSITORY", "acme/help")
            .env("GITHUB_RUN_ID", "77")
            .env("GITHUB_REF_NAME", "main")
            .env("GITHUB_SHA", "0123456789")
            .env("RUNNER_TEMP", self.path("temp"))
            .env_remove("RAGEVAL_JUDGE_MODE")
            .env_remove("RAGEVAL_RUNS")
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .output()
            .expect("bash starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        let lines = fs::read_to_string(&outputs).expect("readable");
        let outputs = lines.lines().filter_map(|line| line.split_once('='));
        Step {
            code: output.status.code().expect("no signal"),
            out: text,
            outputs: outputs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        }
    }

    /// Runs one of the action's scripts.
    pub(crate) fn script(&self, name: &str, environment: &[(&str, &str)]) -> Step {
        self.step(&format!("bash \"$GITHUB_ACTION_PATH/.github/action/{name}\""), ".", environment)
    }
}

/// Copies a stored run to where the gate would leave it.
pub(crate) fn leave_run(runs: &Path) {
    let stored = action_path().join("rageval-runner/tests/fixtures/formats/run-v4.json");
    let folder = runs.join("help.rag_regression/1");
    fs::create_dir_all(&folder).expect("a folder");
    fs::copy(stored, folder.join("run.json")).expect("copied");
    fs::write(runs.join("latest"), "help.rag_regression/1").expect("written");
}
