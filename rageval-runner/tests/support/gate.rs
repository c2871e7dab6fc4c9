//! A project whose gate is the test binary itself: recorded answers, one metric's outcomes, and what was printed.

use std::{
    fs,
    path::PathBuf,
    process::{Command, ExitCode, Stdio},
};

use rageval_runner::{
    model::{CaseId, MetricKey, Outcome},
    store::runs,
};
use serde_json::Value;

use super::trials::{self, Test};

/// Makes the binary a gate over the project in `CARGO_MANIFEST_DIR`.
const GATE: &str = "RAGEVAL_GATE";

/// What a test binary is: the gate, where it was started as one, else its tests.
pub(crate) fn main(groups: &[(&'static str, &'static [Test])]) -> ExitCode {
    if std::env::var_os(GATE).is_some() {
        return rageval_runner::Suite::new(rageval_runner::location!()).run();
    }
    trials::run(groups)
}

/// A project in a folder of its own.
pub(crate) struct Project {
    folder: tempfile::TempDir,
}

/// How a run of its gate ended.
#[derive(Debug)]
pub(crate) struct Ran {
    code: Option<i32>,
    text: String,
}

impl Project {
    /// A project over recorded answers; what follows `system` and `snapshots` in its policy is given.
    pub(crate) fn new(policy: &str, cases: &[Value]) -> Self {
        let project = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        project.write("Cargo.toml", "[workspace]\n");
        project.write(
            "thresholds.yaml",
            &format!("version: 1\nsystem: {{kind: recorded, generator: g}}\nsnapshots: {{fail_on: never}}\n{policy}\n"),
        );
        project.write("cases/all.jsonl", &lines(cases));
        project
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    /// The replies of a scripted judge at `replies.jsonl`.
    pub(crate) fn with_replies(self, replies: &[Value]) -> Self {
        self.write("replies.jsonl", &lines(replies));
        self
    }

    /// Runs the gate as in CI, with a variable of the environment.
    pub(crate) fn run(&self, (name, value): (&str, &str)) -> Ran {
        let mut command = Command::new(std::env::current_exe().expect("this binary"));
        for (name, _) in std::env::vars() {
            if ["CI", "NEXTEST", "INSTA", "RAGEVAL"].iter().any(|prefix| name.starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command.env(GATE, "1").env("CARGO_MANIFEST_DIR", self.folder.path()).env("RAGEVAL_RUNS", self.path("runs"));
        let output = command.env("CI", "true").env(name, value).output().expect("a run");
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        Ran { code: output.status.code(), text }
    }

    /// The outcome of one metric of a case in the newest run.
    #[track_caller]
    pub(crate) fn outcome(&self, case: &str, metric: &str) -> Outcome {
        let run = runs::read(&self.path("runs/latest")).expect("a run");
        let (case, metric) = (CaseId::new(case).expect("a valid id"), MetricKey::parse(metric).expect("a key"));
        let record = run.records.into_iter().find(|record| record.case == case).expect("a record");
        record.outcomes.get(&metric).cloned().expect("an outcome")
    }
}

/// One object a line.
fn lines(objects: &[Value]) -> String {
    objects.iter().map(|object| format!("{object}\n")).collect()
}

impl Ran {
    #[track_caller]
    pub(crate) fn ends_with(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "{}", self.text);
        self
    }

    #[track_caller]
    pub(crate) fn says(&self, text: &str) -> &Self {
        assert!(self.text.contains(text), "not said: {text}\n{}", self.text);
        self
    }

    /// What the summary notes.
    pub(crate) fn notices(&self) -> impl Iterator<Item = &str> {
        self.text.lines().filter(|line| line.starts_with("notice"))
    }
}
