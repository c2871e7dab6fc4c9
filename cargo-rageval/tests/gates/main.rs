//! The command over runs that a real gate wrote.
//!
//! This binary is both. Started with `RAGEVAL_FIXTURE` it is the gate over the project in `CARGO_MANIFEST_DIR`; else it is the tests.

mod apply;
mod explain;
mod own_metrics;
#[path = "../../../rageval-runner/tests/support/trials.rs"]
mod trials;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Output, Stdio},
};

use rageval_runner::{Answer, RetrievedContext};

/// Makes this binary the gate.
const SWITCH: &str = "RAGEVAL_FIXTURE";

/// The system: finds what stands in brackets in the question, and answers the rest of it.
async fn answer(query: String) -> rageval_runner::Result<Answer> {
    let (said, found) = query.split_once(" [found: ").unwrap_or((&query, "]"));
    let answer = said.split_once("? ").map_or(said, |(_, answer)| answer);
    let contexts = found.trim_end_matches(']').split(' ').filter(|id| !id.is_empty());
    let contexts = contexts.map(|id| {
        let text = match id {
            "fee" => "The fee is 12 euros.",
            "time" => "Delivery takes 3 days.",
            _ => "Nothing of this.",
        };
        RetrievedContext::new(id, text).with_score(0.5)
    });
    Ok(Answer::new(answer).with_contexts(contexts))
}

fn main() -> ExitCode {
    if std::env::var_os(SWITCH).is_some() {
        return rageval_runner::Suite::new(rageval_runner::location!())
            .system(answer)
            .metric(&own_metrics::BRIEF)
            .run();
    }
    trials::run(&[("apply", apply::TESTS), ("explain", explain::TESTS), ("own_metrics", own_metrics::TESTS)])
}

/// A project in a folder of its own.
struct Project {
    folder: tempfile::TempDir,
}

/// What a process printed, and how it ended.
struct Ended {
    code: Option<i32>,
    text: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code(), text: text(&output.stdout) + &text(&output.stderr) }
    }
}

impl Ended {
    /// Fails with all that was printed unless it ended so; returns what was printed.
    #[track_caller]
    fn with(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{}", self.text);
        self.text
    }
}

impl Project {
    fn new(rules: &str, cases: &str) -> Self {
        let project = Self { folder: tempfile::tempdir().expect("a folder") };
        project.write("Cargo.toml", "[workspace]\n");
        project.write("thresholds.yaml", rules);
        project.write("cases/all.yaml", cases);
        project
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    fn write(&self, below: &str, text: &str) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn read(&self, below: &str) -> String {
        fs::read_to_string(self.path(below)).unwrap_or_else(|error| panic!("{below}: {error}"))
    }

    /// Runs its gate.
    fn gate(&self, variables: &[(&str, &str)]) -> Ended {
        let mut command = clean(Command::new(std::env::current_exe().expect("this binary")), self.folder.path());
        command.env(SWITCH, "1").env("CARGO_MANIFEST_DIR", self.folder.path()).env("RAGEVAL_RUNS", self.path("runs"));
        command.envs(variables.iter().copied()).output().expect("the gate starts").into()
    }

    /// Runs the command in it.
    fn command(&self, arguments: &[&str]) -> Ended {
        let mut command = clean(Command::new(env!("CARGO_BIN_EXE_cargo-rageval")), self.folder.path());
        command.arg("rageval").args(arguments).env("RAGEVAL_RUNS", self.path("runs"));
        command.output().expect("the program starts").into()
    }

    /// Names of the files in a folder, sorted.
    fn files(&self, below: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(below)).into_iter().flatten().filter_map(Result::ok);
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// Without what this process was started with.
fn clean(mut command: Command, folder: &Path) -> Command {
    command.current_dir(folder).stdin(Stdio::null());
    for (name, _) in std::env::vars() {
        if ["CI", "NEXTEST", "INSTA", "RAGEVAL", "CARGO_MANIFEST"].iter().any(|prefix| name.starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    command
}

/// A list of tests with their names.
#[macro_export]
macro_rules! tests {
    ($($name:ident),* $(,)?) => {
        pub(crate) const TESTS: &[$crate::trials::Test] = &[$((stringify!($name), $name)),*];
    };
}
