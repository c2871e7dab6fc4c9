//! A project over recorded answers whose judge changes its mind by a seeded rule.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
};

use rageval_runner::{
    model::{Confirmation, Outcome, Readings, Record, run::Run},
    store::{baseline, runs},
};
use serde_json::{Value, json};

use super::super::{
    GATE, KEY,
    stub::{Reply, Seen, Stub},
};

/// Claims of an answer.
pub(crate) const CLAIMS: usize = 4;

/// One thing that the judge is asked about one claim.
pub(crate) struct Asked<'a> {
    /// The claim.
    pub(crate) claim: &'a str,
    /// The code of the message: another one for each sample, the same each time the same is asked.
    pub(crate) code: &'a str,
    /// Whether it is a fresh reading of claims that were found before.
    pub(crate) is_again: bool,
}

impl Asked<'_> {
    /// What is true: a claim is supported unless it says itself that it is wrong.
    pub(crate) fn truth(&self) -> bool {
        !self.claim.contains("wrong")
    }

    /// A draw in thousandths that is the same each time the same is asked.
    pub(crate) fn draw(&self, salt: &str) -> u64 {
        let hash = blake3::hash(format!("{salt} {} {}", self.code, self.claim).as_bytes());
        u64::from_le_bytes(hash.as_bytes()[..8].try_into().expect("8 bytes")) % 1000
    }
}

/// Whether the judge finds a claim supported; `None`: the whole call fails.
pub(crate) type Rule = fn(&Asked<'_>) -> Option<bool>;

/// Flips 5 verdicts of 100.
pub(crate) fn flips(asked: &Asked<'_>) -> Option<bool> {
    Some(asked.truth() != (asked.draw("a") < 50))
}

/// Tells the truth.
pub(crate) fn honest(asked: &Asked<'_>) -> Option<bool> {
    Some(asked.truth())
}

pub(crate) struct Project {
    folder: tempfile::TempDir,
    stub: Stub,
    rule: Arc<Mutex<Rule>>,
}

/// How a run ended.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) text: String,
}

impl Project {
    /// So many cases, each with an answer of claims that are all true.
    pub(crate) fn new(cases: usize, rule: Rule, metrics: &str) -> Self {
        let rule = Arc::new(Mutex::new(rule));
        let judge = Arc::clone(&rule);
        let stub = Stub::start(move |seen, _| {
            let rule = *judge.lock().expect("no panic");
            reply(seen, rule)
        });
        let project = Self { folder: tempfile::tempdir().expect("a temporary folder"), stub, rule };
        project.write("Cargo.toml", "[workspace]\n");
        project.policy(metrics, "");
        project.answers(cases, |_, _| String::new());
        project
    }

    /// Sets the rules; `more` are further lines of the policy.
    pub(crate) fn policy(&self, metrics: &str, more: &str) {
        let policy = format!(
            "version: 1\nsystem: {{kind: recorded, generator: g}}\nsnapshots: {{fail_on: never}}\nbudget: {{requests: 9000}}\n\
             waive: {{calibration: {{reason: the judge is a stub, until: 2999-12-31}}}}\n\
             judge: {{provider: openai, base_url: \"{}\", model: m, api_key_env: JUDGE_KEY, max_in_flight: 8, timeout: 20s}}\n\
             metrics:\n  faithfulness: {metrics}\n{more}\n",
            self.stub.url()
        );
        self.write("thresholds.yaml", &policy);
    }

    /// Sets what makes a snapshot red.
    pub(crate) fn snapshots(&self, fail_on: &str) {
        let path = self.folder.path().join("thresholds.yaml");
        let policy = fs::read_to_string(&path).expect("readable");
        self.write("thresholds.yaml", &policy.replace("fail_on: never", &format!("fail_on: {fail_on}")));
    }

    /// Sets the answers: each claim ends with what stands for its case and place.
    pub(crate) fn answers(&self, cases: usize, ending: impl Fn(usize, usize) -> String) {
        let mut lines = String::new();
        for n in 0..cases {
            let sentence = |k: usize| format!("Parcel {n} holds item {k}{}.", ending(n, k));
            let response = (0..CLAIMS).map(sentence).collect::<Vec<_>>().join(" ");
            let id = format!("c{n:02}");
            let case = json!({"id": id, "query": format!("What holds parcel {n}?"), "response": response, "retrieved_contexts": ["It holds items."]});
            let _ = writeln!(lines, "{case}");
        }
        self.write("cases/all.jsonl", &lines);
    }

    /// Has each case asked twice, with two answers whose claims end with what stands for case and place.
    pub(crate) fn repeated(&self, cases: usize, ending: impl Fn(usize, usize) -> String) {
        let path = self.folder.path().join("thresholds.yaml");
        let policy =
            fs::read_to_string(&path).expect("readable").replace("generator: g", "generator: g, samples: two.jsonl");
        self.write("thresholds.yaml", &format!("{policy}repeats: {{times: 2}}\n"));
        let (mut asked, mut answers) = (String::new(), String::new());
        for n in 0..cases {
            let sentence = |k: usize| format!("Parcel {n} holds item {k}{}.", ending(n, k));
            let response = (0..CLAIMS).map(sentence).collect::<Vec<_>>().join(" ");
            let id = format!("c{n:02}");
            let _ = writeln!(asked, "{}", json!({"id": id, "query": format!("What holds parcel {n}?")}));
            let answer = json!({"id": id, "response": response, "contexts": ["It holds items."]});
            let _ = writeln!(answers, "{answer}\n{answer}");
        }
        self.write("cases/all.jsonl", &asked);
        self.write("two.jsonl", &answers);
    }

    pub(crate) fn judge_by(&self, rule: Rule) {
        *self.rule.lock().expect("no panic") = rule;
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }

    pub(crate) fn forget_replies(&self) {
        fs::remove_dir_all(self.folder.path().join(".rageval")).expect("removed");
    }

    /// Makes the newest run the baseline.
    pub(crate) fn accept(&self) {
        let accepted = baseline::from_run(&self.latest()).expect("a whole run");
        let path = self.folder.path().join("baselines/main.json");
        baseline::write(&path, &accepted.baseline, &accepted.texts).expect("written");
    }

    fn command(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Command {
        let mut command = Command::new(std::env::current_exe().expect("this binary"));
        for (name, _) in std::env::vars() {
            if ["CI", "NEXTEST", "INSTA", "RAGEVAL"].iter().any(|prefix| name.starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        command.args(arguments).current_dir(self.folder.path()).env(GATE, "1").env("JUDGE_KEY", KEY);
        command.env("CARGO_MANIFEST_DIR", self.folder.path()).env("RAGEVAL_RUNS", self.folder.path().join("runs"));
        command.envs(variables.iter().copied());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self) -> Ran {
        self.run_with(&[], &[])
    }

    pub(crate) fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
        let output = self.command(arguments, variables).output().expect("a run");
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        // A text that goes over several lines is looked at as one.
        Ran { code: output.status.code(), text: text.replace("\n          | ", " ") }
    }

    /// Starts the gate and prints nothing of it.
    pub(crate) fn start(&self) -> Child {
        self.command(&[], &[]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started")
    }

    /// Runs each trial in a process of its own, a few at once and gates first, as cargo-nextest does.
    pub(crate) fn run_in_processes(&self, run: &str) {
        let listing = self.run_with(&["--list", "--format", "terse"], &[]);
        let mut names: Vec<&str> = listing.text.lines().filter_map(|line| line.strip_suffix(": test")).collect();
        names.sort_by_key(|name| !name.starts_with("gate::"));
        let variables = [("NEXTEST", "1"), ("NEXTEST_RUN_ID", run)];
        let next = Mutex::new(names.into_iter());
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while let Some(name) = { next.lock().expect("no panic").next() } {
                        self.run_with(&["--exact", name, "--nocapture"], &variables);
                    }
                });
            }
        });
    }

    /// The newest run.
    pub(crate) fn latest(&self) -> Run {
        runs::read(&self.folder.path().join("runs/latest")).expect("a run")
    }

    /// What was read again in the newest run, by case.
    pub(crate) fn readings(&self) -> BTreeMap<String, Readings> {
        let of = |record: Record| Some((record.case.to_string(), record.readings.into_values().next()?));
        self.latest().records.into_iter().filter_map(of).collect()
    }

    /// The cases whose confirmation ended so.
    pub(crate) fn ended(&self, how: fn(&Confirmation) -> bool) -> BTreeSet<String> {
        let is_so = |readings: &Readings| readings.confirmation.as_ref().is_some_and(how);
        self.readings().into_iter().filter(|(_, readings)| is_so(readings)).map(|(case, _)| case).collect()
    }

    /// Cases of the newest run whose first score lies below a bar.
    pub(crate) fn first_scores_below(&self, bar: f64) -> usize {
        let below = |record: &&Record| {
            record.outcomes.values().next().and_then(Outcome::score).is_some_and(|score| score.get() < bar)
        };
        self.latest().records.iter().filter(below).count()
    }

    /// Every body that the judge was sent.
    pub(crate) fn bodies(&self) -> Vec<String> {
        self.stub.seen().into_iter().map(|seen| seen.body).collect()
    }
}

pub(crate) fn is_cleared(confirmation: &Confirmation) -> bool {
    matches!(confirmation, Confirmation::Cleared { .. })
}

pub(crate) fn is_confirmed(confirmation: &Confirmation) -> bool {
    matches!(confirmation, Confirmation::Confirmed { .. })
}

pub(crate) fn is_not_confirmed(confirmation: &Confirmation) -> bool {
    matches!(confirmation, Confirmation::NotConfirmed { .. })
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

    /// The trials that failed.
    pub(crate) fn failed(&self) -> BTreeSet<String> {
        let failed = |line: &str| Some(line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?.trim().to_owned());
        self.text.lines().filter_map(failed).collect()
    }
}

/// What a judge of this rule replies.
fn reply(seen: &Seen, rule: Rule) -> Reply {
    let body = seen.json();
    let shown = body["messages"][1]["content"].as_str().expect("a user message").to_owned();
    let again = texts(&shown, "claims");
    let is_again = again.is_some();
    let (code, claims) = again.or_else(|| texts(&shown, "sentences")).expect("claims or sentences");
    let mut entries: Vec<Value> = Vec::new();
    for (n, claim) in (1..).zip(&claims) {
        let n: usize = n;
        let Some(is_supported) = rule(&Asked { claim, code: &code, is_again }) else {
            return Reply::status(400, r#"{"error": {"message": "no"}}"#);
        };
        let verdict = if is_supported { "supported" } else { "unsupported" };
        entries.push(if is_again {
            json!({"n": n, "verdict": verdict, "context": 1})
        } else {
            json!({"n": n, "claims": [{"claim": claim, "verdict": verdict, "context": 1}]})
        });
    }
    let list = if is_again { "claims" } else { "sentences" };
    Reply::completion(&json!({ list: entries }).to_string())
}

/// The code and the numbered texts of a block.
fn texts(shown: &str, name: &str) -> Option<(String, Vec<String>)> {
    let (_, rest) = shown.split_once(&format!("=== BEGIN {name} "))?;
    let (code, rest) = rest.split_once(" ===\n")?;
    let (block, _) = rest.split_once(&format!("=== END {name} "))?;
    let text = |line: &str| serde_json::from_str(line.split_once(": ")?.1).ok();
    Some((code.to_owned(), block.lines().filter_map(text).collect()))
}
