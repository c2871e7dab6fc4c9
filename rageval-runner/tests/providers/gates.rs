//! Gates over a hosted judge, run as child processes: a budget that is used up, and a key that is missing.

use std::{
    fmt::Write as _,
    fs,
    path::PathBuf,
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use rageval_runner::{
    model::{Spending, run::Run},
    store::runs,
};

use super::{
    GATE, KEY, Test,
    stub::{Reply, Stub},
};

pub(crate) const TESTS: &[Test] = &[
    ("a_budget_that_is_used_up_stops_the_run_in_good_order", stops),
    ("what_is_stored_is_used_when_the_budget_is_used_up", stored_in_spite_of_budget),
    ("a_budget_of_tokens_and_one_of_money_hold", tokens_and_money),
    ("a_budget_holds_over_all_processes_of_a_run", over_processes),
    ("a_process_that_is_killed_leaves_its_request_counted", killed),
    ("minutes_that_are_over_cut_off_what_is_under_way", minutes),
    ("a_missing_key_is_one_red_setup_and_one_line_a_case", missing_key),
    ("a_missing_key_is_told_by_the_setup_of_many_processes", missing_key_of_processes),
    ("a_missing_key_is_not_missed_where_all_is_stored", missing_key_unneeded),
    ("a_policy_that_only_replays_asks_nothing_without_a_budget", replay_without_budget),
];

const CASES: usize = 6;

struct Project {
    folder: tempfile::TempDir,
    stub: Stub,
}

impl Project {
    /// Cases that each need one reply of the judge at `stub`.
    fn new(stub: Stub, budget: &str) -> Self {
        let project = Self { folder: tempfile::tempdir().expect("a temporary folder"), stub };
        project.write("Cargo.toml", "[workspace]\n");
        let mut cases = String::new();
        for n in 0..CASES {
            let _ = writeln!(
                cases,
                "- {{id: c{n}, query: Q{n}?, response: It takes {n} days., retrieved_contexts: [It takes {n} days.]}}"
            );
        }
        project.write("cases/all.yaml", &cases);
        project.policy(budget, "");
        project
    }

    fn policy(&self, budget: &str, judge: &str) {
        let policy = format!(
            "version: 1\nsystem: {{kind: recorded, generator: g}}\nsnapshots: {{fail_on: never}}\n{budget}\n\
             judge: {{provider: openai, base_url: \"{}\", model: m, api_key_env: JUDGE_KEY, max_in_flight: 2, timeout: 20s{judge}}}\n\
             waive: {{calibration: {{reason: a fixture, until: 2999-12-31}}}}\nmetrics:\n  faithfulness: {{min: 0.5, mean: {{min: 0.5}}}}\n",
            self.stub.url()
        );
        self.write("thresholds.yaml", &policy);
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn runs(&self) -> PathBuf {
        self.folder.path().join("runs")
    }

    fn command(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Command {
        let mut command = Command::new(std::env::current_exe().expect("this binary"));
        for (name, _) in std::env::vars() {
            if ["CI", "NEXTEST", "INSTA", "RAGEVAL"].iter().any(|prefix| name.starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        command.args(arguments).current_dir(self.folder.path()).env(GATE, "1");
        command.env("CARGO_MANIFEST_DIR", self.folder.path()).env("RAGEVAL_RUNS", self.runs());
        command.env_remove("JUDGE_KEY").envs(variables.iter().copied());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the gate with the key in its environment.
    fn run(&self) -> Ran {
        self.run_with(&[("JUDGE_KEY", KEY)])
    }

    fn run_with(&self, variables: &[(&str, &str)]) -> Ran {
        self.command(&[], variables).output().expect("a run").into()
    }

    fn latest(&self) -> Run {
        runs::read(&self.runs().join("latest")).expect("a run")
    }

    fn spent(&self) -> Spending {
        self.latest().manifest.spent.expect("something was asked")
    }
}

struct Ran {
    code: Option<i32>,
    text: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        // A text that goes over several lines is looked at as one.
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("\n          | ", " ");
        Self { code: output.status.code(), text: text(&output.stdout) + &text(&output.stderr) }
    }
}

impl Ran {
    #[track_caller]
    fn ends_with(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "{}", self.text);
        self
    }

    #[track_caller]
    fn says(&self, text: &str) -> &Self {
        assert!(self.text.contains(text), "not said: {text}\n{}", self.text);
        self
    }

    /// The lines of a red trial's failure.
    fn failure(&self, trial: &str) -> Vec<&str> {
        let start = format!("---- {trial} ----");
        let lines = self.text.lines().skip_while(|line| *line != start).skip(1);
        lines.take_while(|line| !line.trim().is_empty()).collect()
    }

    fn failed(&self, trial: &str) -> bool {
        self.text.lines().any(|line| line.starts_with(&format!("test {trial} ")) && line.ends_with("FAILED"))
    }
}

/// Answers every request with a supported claim, read with 20 tokens and written with 5.
fn judging() -> Stub {
    Stub::start(|_, _| {
        Reply::completion(
            r#"{"sentences": [{"n": 1, "claims": [{"claim": "it takes days", "verdict": "supported", "context": 1}]}]}"#,
        )
    })
}

/// Takes every request and answers none.
fn silent() -> Stub {
    Stub::start(|_, _| Reply::Hang)
}

fn nextest(run: &str) -> [(&str, &str); 3] {
    [("NEXTEST", "1"), ("NEXTEST_RUN_ID", run), ("JUDGE_KEY", KEY)]
}

fn stops() {
    let project = Project::new(judging(), "budget: {requests: 3}");
    let ran = project.run();
    ran.ends_with(101).says("budget used up").says("spent: 3 requests of 3, 60 tokens read and 15 written");
    ran.says("`budget.requests` is 3, and 3 are spent; raise it at thresholds.yaml:4");
    assert_eq!(project.stub.seen().len(), 3);
    let run = project.latest();
    assert_eq!(run.records.len(), CASES, "every case has its record");
    let spent = Spending { requests: 3, input_tokens: 60, output_tokens: 15, ..Spending::default() };
    assert_eq!(run.manifest.spent, Some(spent));
    // Asked as `m`.
    assert_eq!(run.manifest.judge_calls_itself, ["judge-2026-01-01".to_owned()].into());
}

fn stored_in_spite_of_budget() {
    let project = Project::new(judging(), "budget: {requests: 3}");
    project.run().ends_with(101);
    project.run().ends_with(0).says("spent: 3 requests of 3");
    assert_eq!(project.stub.seen().len(), CASES, "what was paid for is not asked again");
    project.policy("budget: {requests: 0}", "");
    project.run().ends_with(0);
    assert!(project.latest().manifest.judge_calls_itself.is_empty(), "stored replies tell no name");
    assert_eq!(project.latest().manifest.spent, None);
}

fn tokens_and_money() {
    // A request is estimated at about 900 tokens, and really takes 25.
    let project = Project::new(judging(), "budget: {tokens: 950}");
    project.policy("budget: {tokens: 950}", ", price: {input: 1, output: 10}");
    project.run().ends_with(101).says("`budget.tokens` is 950");
    assert!((1..=3).contains(&project.stub.seen().len()), "{}", project.stub.seen().len());
    let project = Project::new(judging(), "budget: {requests: 100}");
    project.policy("budget: {usd: 5}", ", price: {input: 1, output: 10}");
    // Six times 20 tokens at one and 5 at ten dollars a million.
    project.run().ends_with(0).says("120 tokens read and 30 written, 0.00042 USD of 5");
    assert!((project.spent().usd.expect("money") - 0.000_42).abs() < 1e-9);
    let project = Project::new(judging(), "budget: {requests: 100}");
    project.policy("budget: {usd: 0.001}", ", price: {input: 1, output: 10}");
    project.run().ends_with(101).says("`budget.usd` is 0.0010 USD, and 0.00 USD are spent");
    assert_eq!(project.stub.seen().len(), 0, "the first request would have gone beyond it");
}

/// Runs each trial in a process of its own, all at once.
fn all_at_once(project: &Project, run: &str) -> Vec<Ran> {
    let mut names: Vec<String> = (0..CASES).map(|n| format!("case::all::c{n}")).collect();
    names.extend(["gate::setup", "gate::faithfulness::mean"].map(str::to_owned));
    let start = |name: &String| project.command(&["--exact", name, "--nocapture"], &nextest(run)).spawn();
    let running: Vec<Child> = names.iter().map(|name| start(name).expect("started")).collect();
    running.into_iter().map(|child| child.wait_with_output().expect("ended").into()).collect()
}

fn over_processes() {
    let project = Project::new(judging(), "budget: {requests: 3}");
    let ran = all_at_once(&project, "r1");
    assert_eq!(project.stub.seen().len(), 3);
    let red = ran.iter().filter(|ran| ran.code == Some(101)).count();
    assert_eq!(red, CASES - 3 + 1, "three cases and the gate are red");
    assert_eq!(project.spent().requests, 3);
    all_at_once(&project, "r2");
    assert_eq!(project.stub.seen().len(), CASES, "another run has a budget of its own");
}

fn killed() {
    let project = Project::new(silent(), "budget: {requests: 1}");
    let mut child =
        project.command(&["--exact", "case::all::c0", "--nocapture"], &nextest("r1")).spawn().expect("started");
    let started = Instant::now();
    while project.stub.seen().is_empty() {
        assert!(started.elapsed() < Duration::from_secs(30), "nothing was asked");
        thread::sleep(Duration::from_millis(5));
    }
    child.kill().expect("killed");
    child.wait().expect("ended");
    let other = project.command(&["--exact", "case::all::c1", "--nocapture"], &nextest("r1")).output().expect("a run");
    Ran::from(other).ends_with(101).says("`budget.requests` is 1, and 1 are spent");
    assert_eq!(project.stub.seen().len(), 1);
}

fn minutes() {
    let project = Project::new(silent(), "budget: {minutes: 0.02}");
    let started = Instant::now();
    let ran = project.run();
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
    ran.ends_with(101).says("budget used up").says("`budget.minutes` is 0.02, counted from the run's first request");
    assert_eq!(project.latest().records.len(), CASES);
    let spent = project.spent();
    assert!((1..=2).contains(&spent.requests), "the others were not sent: {spent:?}");
    assert!(spent.estimated_tokens > 0, "what was cut off may have been paid for");
}

fn missing_key() {
    let project = Project::new(judging(), "budget: {requests: 100}");
    let ran = project.run_with(&[]);
    ran.ends_with(101);
    assert_eq!(project.stub.seen().len(), 0);
    let setup = ran.failure("gate::setup").join("\n");
    for said in ["JUDGE_KEY", "of 6 cases, 6 need replies", "RAGEVAL_JUDGE_MODE=replay", "provider: offline"] {
        assert!(setup.contains(said), "not said: {said}\n{setup}");
    }
    for trial in ["case::all::c0", "gate::faithfulness::mean", "gate::set::unmeasured"] {
        let lines = ran.failure(trial);
        assert!(lines.len() == 1 && lines[0].contains("judge key missing"), "{trial}: {lines:?}\n{}", ran.text);
    }
    let shard = project.run_with(&[("RAGEVAL_SHARD", "1/2")]);
    shard.ends_with(101);
    assert!(!shard.failed("gate::setup") && shard.failed("case::all::c0"), "{}", shard.text);
    // Alone, it looks for the replies itself.
    let alone = project.command(&["--exact", "gate::setup"], &[]).output().expect("a run");
    Ran::from(alone).ends_with(101).says("JUDGE_KEY");
}

fn missing_key_of_processes() {
    let project = Project::new(judging(), "budget: {requests: 100}");
    let without_key = [("NEXTEST", "1"), ("NEXTEST_RUN_ID", "r1")];
    let command = |trial: &str| -> Ran {
        project.command(&["--exact", trial, "--nocapture"], &without_key).output().expect("a run").into()
    };
    command("gate::setup").ends_with(101).says("Error: ").says("JUDGE_KEY");
    command("case::all::c0").ends_with(101).says("judge key missing");
    assert_eq!(project.stub.seen().len(), 0);
}

fn missing_key_unneeded() {
    let project = Project::new(judging(), "budget: {requests: 100}");
    project.run().ends_with(0);
    project.run_with(&[]).ends_with(0);
    let without_key = [("NEXTEST", "1"), ("NEXTEST_RUN_ID", "r1")];
    let setup = project.command(&["--exact", "gate::setup"], &without_key).output().expect("a run");
    Ran::from(setup).ends_with(0);
    // One reply that is not stored is needed.
    project.write(
        "cases/more.yaml",
        "- {id: new, query: Q?, response: It takes time., retrieved_contexts: [It takes time.]}\n",
    );
    let ran = project.run_with(&[]);
    ran.ends_with(101).says("of 7 cases, 1 needs replies that are not stored");
    assert!(ran.failed("gate::setup") && ran.failed("case::more::new"), "{}", ran.text);
    assert!(!ran.failed("case::all::c0"), "{}", ran.text);
}

fn replay_without_budget() {
    let project = Project::new(judging(), "budget: {requests: 100}");
    project.run().ends_with(0);
    project.policy("", ", mode: replay");
    project.run().ends_with(0);
    let ran = project.run_with(&[("JUDGE_KEY", KEY), ("RAGEVAL_JUDGE_MODE", "live")]);
    ran.ends_with(101).says("no `budget` says how much one run may spend");
    assert_eq!(project.stub.seen().len(), CASES);
}
