//! A project whose gate is this binary: recorded answers, one case a parcel, a judge at a stub.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
};

use rageval_runner::{
    model::{CaseId, MetricKey, Outcome, run::Run},
    store::{replies::ReplyStore, runs},
};
use serde_json::json;

use super::{
    GATE, KEY,
    stub::{Reply, Seen, Stub},
};

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

/// The number of the parcel that a request is about.
pub(crate) fn parcel(seen: &Seen) -> usize {
    let (_, rest) = seen.body.split_once("Parcel ").expect("the sentence of a case");
    rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().expect("a number")
}

/// Verdicts about the two sentences of a case: the first supported, the second as given.
pub(crate) fn verdicts(second: &str) -> Reply {
    let sentence = |n: usize, verdict: &str| json!({"n": n, "claims": [{"claim": format!("claim {n}"), "verdict": verdict, "context": 1}]});
    Reply::completion(&json!({"sentences": [sentence(1, "supported"), sentence(2, second)]}).to_string())
}

/// Verdicts about one of two sentences: they do not fit the question.
pub(crate) fn half() -> Reply {
    Reply::completion(r#"{"sentences": [{"n": 1, "claims": [{"claim": "c", "verdict": "supported", "context": 1}]}]}"#)
}

/// Every third parcel is as its answer says.
pub(crate) fn truth(seen: &Seen) -> Reply {
    verdicts(if parcel(seen).is_multiple_of(3) { "supported" } else { "contradicted" })
}

impl Project {
    /// A project over parcels of these numbers, one case each, judged by a stub; `further` are keys of the judge.
    pub(crate) fn new(stub: &Stub, parcels: impl IntoIterator<Item = usize>, further: &str) -> Self {
        let project = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        project.write("Cargo.toml", "[workspace]\n");
        project.judge(&stub.url(), further);
        let mut cases = String::new();
        for (at, n) in parcels.into_iter().enumerate() {
            let response = format!("Parcel {n} is blue. Parcel {n} weighs 3 kilograms.");
            let line = json!({"id": format!("c{at}"), "query": format!("What of {n}?"), "language": "en", "response": response, "retrieved_contexts": [format!("Parcel {n} is blue.")]});
            writeln!(cases, "{line}").expect("a line");
        }
        fs::create_dir(project.path("cases")).expect("made");
        project.write("cases/all.jsonl", &cases);
        project
    }

    /// Writes the policy anew.
    pub(crate) fn judge(&self, url: &str, further: &str) {
        self.policy(url, further, "{mean: {min: 0.4}}");
    }

    pub(crate) fn policy(&self, url: &str, further: &str, rule: &str) {
        let policy = format!(
            "version: 1\nsystem: {{kind: recorded, generator: g, max_in_flight: 2}}\nsnapshots: {{fail_on: never}}\n\
             judge: {{provider: openai, base_url: \"{url}/v1\", model: m-2026-01-01, api_key_env: JUDGE_KEY, timeout: 20s, max_in_flight: 4{further}}}\nbudget: {{requests: 100000}}\n\
             waive: {{calibration: {{reason: a fixture, until: 2999-12-31}}}}\nmetrics:\n  faithfulness: {rule}\n"
        );
        self.write("thresholds.yaml", &policy);
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        fs::write(self.path(path), text).expect("written");
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    fn command(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Command {
        let mut command = Command::new(std::env::current_exe().expect("this binary"));
        for (name, _) in std::env::vars() {
            if ["CI", "NEXTEST", "INSTA", "RAGEVAL"].iter().any(|prefix| name.starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        command.args(arguments).current_dir(self.folder.path());
        command.env(GATE, "1").env("CARGO_MANIFEST_DIR", self.folder.path()).env("RAGEVAL_RUNS", self.path("runs"));
        // Nothing is left for review beside the cases.
        command.env("CI", "true").env("JUDGE_KEY", KEY);
        for (name, value) in variables {
            match *value {
                "" => command.env_remove(name),
                value => command.env(name, value),
            };
        }
        command.stdin(Stdio::null());
        command
    }

    /// Runs the gate; a variable without a value is removed.
    pub(crate) fn run(&self, variables: &[(&str, &str)]) -> Ran {
        self.run_with(&[], variables)
    }

    pub(crate) fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
        let output = self.command(arguments, variables).output().expect("a run");
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        Ran { code: output.status.code(), text }
    }

    /// Runs the gate in a mode that must pass.
    #[track_caller]
    pub(crate) fn passes(&self, mode: &str) -> Ran {
        let ran = self.run(&[("RAGEVAL_JUDGE_MODE", mode)]);
        ran.ends_with(0);
        ran
    }

    /// Runs each trial in a process of its own, all at once, as cargo-nextest does; whether all passed.
    pub(crate) fn run_in_processes(&self, run: &str, mode: &str) -> bool {
        let listing = self.run_with(&["--list", "--format", "terse"], &[]);
        let names: Vec<&str> = listing.text.lines().filter_map(|line| line.strip_suffix(": test")).collect();
        let variables = [("NEXTEST", "1"), ("NEXTEST_RUN_ID", run), ("RAGEVAL_JUDGE_MODE", mode)];
        thread::scope(|scope| {
            let each = |name| scope.spawn(move || self.run_with(&["--exact", name, "--nocapture"], &variables));
            let running: Vec<_> = names.into_iter().map(each).collect();
            running.into_iter().map(|ran| ran.join().expect("ran").code).collect::<Vec<_>>()
        })
        .iter()
        .all(|code| *code == Some(0))
    }

    /// Starts the gate and prints nothing of it.
    pub(crate) fn start(&self) -> Child {
        self.command(&[], &[]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started")
    }

    /// The newest run.
    pub(crate) fn latest(&self) -> Run {
        runs::read(&self.path("runs/latest")).expect("a run")
    }

    /// The outcomes of the newest run's one metric.
    pub(crate) fn outcomes(&self) -> BTreeMap<CaseId, Outcome> {
        let key = MetricKey::parse("faithfulness").expect("a key");
        self.latest()
            .records
            .into_iter()
            .map(|mut record| (record.case, record.outcomes.remove(&key).expect("there")))
            .collect()
    }

    /// The stored replies.
    pub(crate) fn store(&self) -> ReplyStore {
        ReplyStore::new(self.folder.path(), None)
    }

    /// The file of the stored reply for a case.
    #[track_caller]
    pub(crate) fn reply_of(&self, case: &str) -> PathBuf {
        let store = self.store();
        let keys = store.keys().expect("readable");
        let of_case = |key: &&_| store.get(key).expect("readable").is_some_and(|entry| entry.case == case);
        store.path(keys.iter().find(of_case).expect("a reply of this case"))
    }
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

    /// How often a text stands in what was printed.
    pub(crate) fn times(&self, text: &str) -> usize {
        self.text.matches(text).count()
    }
}
