//! A project in a temporary folder, its system, and what a run of its gate printed.

use std::{
    collections::BTreeMap,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use rageval_runner::{Answer, RetrievedContext};

/// Makes this binary the gate.
pub(crate) const SWITCH: &str = "RAGEVAL_FIXTURE";
/// A file to which the system appends a line for each question.
const LOG: &str = "RAGEVAL_FIXTURE_LOG";
/// The longest that any run may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The system: does what stands in brackets in the question, as in `What is the fee? [answer: 12 euros]`; `[long: 9]` answers 9 MiB, `[turns: A|B]` answers A, then B,
/// then A again, `[random: A|B]` one of them, and `!why` among these fails.
pub(crate) async fn answer(query: String) -> rageval_runner::Result<Answer> {
    if let Some(log) = std::env::var_os(LOG) {
        let mut file = fs::OpenOptions::new().create(true).append(true).open(log)?;
        file.write_all(format!("{query}\n").as_bytes())?;
    }
    let directive = |name: &str| {
        let (_, rest) = query.split_once(&format!("[{name}: "))?;
        rest.split_once(']').map(|(text, _)| text.to_owned())
    };
    if let Some(ms) = directive("wait") {
        tokio::time::sleep(Duration::from_millis(ms.parse()?)).await;
    }
    if let Some(text) = directive("panic") {
        panic!("{text}");
    }
    if let Some(text) = directive("error") {
        return Err(text.into());
    }
    // What comes in turn, and what comes at random, depend on how often this process has asked the same before: in which order the repeats
    // of several cases are asked is nobody's promise.
    let call = calls_before(&query);
    let one_of = |options: String, at: u64| {
        let options: Vec<&str> = options.split('|').collect();
        options[usize::try_from(at).unwrap_or_default() % options.len()].to_owned()
    };
    let turn = directive("turns").map(|options| one_of(options, call));
    let chosen = turn.or_else(|| directive("random").map(|options| one_of(options, random(call))));
    if let Some(why) = chosen.as_ref().and_then(|text| text.strip_prefix('!')) {
        return Err(why.into());
    }
    if query.contains("[hang]") {
        std::future::pending::<()>().await;
    }
    if query.contains("[block]") {
        // Blocks its thread inside async code, as a forgotten lock does.
        std::thread::sleep(Duration::from_secs(3600));
    }
    if query.contains("[exit]") {
        std::process::exit(0);
    }
    if query.contains("[abort]") {
        std::process::abort();
    }
    let found = directive("found").unwrap_or_default();
    let contexts = found.split(' ').filter(|id| !id.is_empty()).map(|id| RetrievedContext::new(id, evidence(id)));
    let long =
        directive("long").map(|mib| "The fee is 12 euros. ".repeat((mib.parse::<usize>().unwrap_or(1) << 20) / 21));
    let answer = chosen.or(long).or_else(|| directive("answer")).unwrap_or_else(|| "The fee is 12 euros.".to_owned());
    let answer = Answer::new(answer).with_contexts(contexts);
    Ok(match directive("written by") {
        Some(model) => answer.with_generator(model),
        None => answer,
    })
}

/// How often this process has asked a question before, by question; counts this call.
fn calls_before(query: &str) -> u64 {
    static CALLS: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());
    let mut calls = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
    let count = calls.entry(query.to_owned()).or_default();
    *count += 1;
    *count - 1
}

/// A number that follows from the seed and the number of the call, by splitmix64.
fn random(call: u64) -> u64 {
    let seed: u64 = std::env::var("RAGEVAL_FIXTURE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_default();
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(call.wrapping_mul(0xbf58_476d_1ce4_e5b9));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) >> 8
}

/// The text of the document `id`.
fn evidence(id: &str) -> String {
    match id {
        "fee" => "The fee is 12 euros.".to_owned(),
        "time" => "Delivery takes 3 days.".to_owned(),
        other => format!("This is document {other}."),
    }
}

/// A project: `thresholds.yaml` and `cases/` in a folder of its own.
pub(crate) struct Project {
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

/// A run of its gate.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Cases of which `fine` passes and finds what it should.
pub(crate) const FINE: &str = r#"
- id: fine
  query: "What is the fee? [found: fee]"
  relevant_doc_ids: [fee]
"#;

/// Rules that a perfect ranking passes.
pub(crate) const RECALL: &str = "version: 1\ncases: cases\nsystem: {kind: function, timeout: 2s}\njudge: {provider: offline}\nmetrics:\n  recall@5: {min: 0.5, mean: {min: 0.5}, bottom10: {min: 0.5}}\n";

impl Project {
    /// A project with these rules and these cases in `cases/all.yaml`.
    pub(crate) fn new(thresholds: &str, cases: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let project = Self { folder, variables: Vec::new() };
        // The search for thresholds.yaml ends here.
        project.write("Cargo.toml", "[workspace]\n");
        project.write("thresholds.yaml", thresholds);
        project.write("cases/all.yaml", cases);
        project
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    /// Sets a variable for all later runs.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Runs the gate with these arguments.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, &[])
    }

    /// Runs the gate with these arguments and variables.
    pub(crate) fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
        finish(self.command(arguments, variables))
    }

    pub(crate) fn command(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Command {
        let mut command = Command::new(std::env::current_exe().expect("this binary"));
        command.args(arguments).current_dir(self.folder.path());
        for (name, _) in std::env::vars() {
            if ["CI", "NEXTEST", "INSTA", "RAGEVAL", "CARGO_MANIFEST"].iter().any(|prefix| name.starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        command.env(SWITCH, "1").env("CARGO_MANIFEST_DIR", self.folder.path());
        command.env("RAGEVAL_RUNS", self.path("runs")).env(LOG, self.path("asked.log"));
        command.env("RUST_BACKTRACE", "1");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.envs(variables.iter().copied());
        command
    }

    /// The questions that the system was asked, in order.
    pub(crate) fn asked(&self) -> Vec<String> {
        let log = fs::read_to_string(self.path("asked.log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// The newest run, as the command reads it.
    pub(crate) fn latest_run(&self) -> rageval_runner::model::run::Run {
        rageval_runner::store::runs::read(&self.path("runs/latest")).expect("a run")
    }

    /// Every file below a folder, relative to it.
    pub(crate) fn files(&self, below: &str) -> Vec<String> {
        let root = self.path(below);
        let mut found = Vec::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.push(relative(&path, &root));
                }
            }
        }
        found.sort();
        found
    }
}

fn relative(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).expect("below").to_string_lossy().replace('\\', "/")
}

/// Waits for a command, and ends it when it takes too long.
pub(crate) fn finish(mut command: Command) -> Ran {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
    let stdout = read_aside(child.stdout.take().expect("piped"));
    let stderr = read_aside(child.stderr.take().expect("piped"));
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("waited") {
            break status;
        }
        if started.elapsed() > PATIENCE {
            child.kill().ok();
            child.wait().ok();
            panic!("the run did not end within {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    Ran { code: status.code(), stdout: stdout.join().expect("read"), stderr: stderr.join().expect("read") }
}

/// Reads a pipe to its end on a thread of its own, so that a full pipe blocks nobody.
fn read_aside(mut pipe: impl std::io::Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).ok();
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

impl Ran {
    /// Fails with everything that was printed unless the exit code is this one.
    #[track_caller]
    pub(crate) fn ends_with(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "\n--- stdout\n{}\n--- stderr\n{}", self.stdout, self.stderr);
        self
    }

    /// Fails with everything that was printed unless this text stands in it.
    #[track_caller]
    pub(crate) fn says(&self, text: &str) -> &Self {
        let said = self.stdout.contains(text) || self.stderr.contains(text);
        assert!(said, "\nnot said: {text}\n--- stdout\n{}\n--- stderr\n{}", self.stdout, self.stderr);
        self
    }

    /// Fails with everything that was printed when this text stands in it.
    #[track_caller]
    pub(crate) fn does_not_say(&self, text: &str) -> &Self {
        let said = self.stdout.contains(text) || self.stderr.contains(text);
        assert!(!said, "\nsaid: {text}\n--- stdout\n{}\n--- stderr\n{}", self.stdout, self.stderr);
        self
    }

    /// The trials that failed.
    pub(crate) fn failed(&self) -> Vec<String> {
        let lines = self.stdout.lines();
        let failed = lines.filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
        failed.map(|name| name.trim_end().to_owned()).collect()
    }
}
