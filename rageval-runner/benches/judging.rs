//! What judging costs beside waiting: 1,000 cases with the four RAG metrics against a judge and an embedder of 50 ms each on the loopback.
//!
//! This binary is several programs, as `RAGEVAL_PART` says: the server, a whole gate, the evaluation alone with its replies stored or not,
//! and for comparison threads that send one body again and again over bare sockets. Without it each of them is run in a process of its
//! own, whose wall time, processor time and peak memory go into a table. Numbers of cases may follow on the command line.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Child, Command, ExitCode, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use futures_util::StreamExt as _;
use rageval_runner::{
    embed::{self, stored::VectorKeys},
    evaluate::{Embedding, Evaluation, Judging, Replies, Vectors},
    judge::{self, key::ReplyKeys, spec::ReplyMode},
    load,
    metric::{METRICS, Metric},
    store::{
        baseline::Answers,
        ledger::{Account, Ledger},
        replies::ReplyStore,
        slots::Limit,
    },
    system,
};
use serde_json::json;

#[path = "../tests/support/four_metrics.rs"]
mod four_metrics;
#[path = "../tests/support/request.rs"]
mod request;
#[expect(dead_code, reason = "the server of the tests, of which less is needed here")]
#[path = "../tests/providers/stub.rs"]
mod stub;

use four_metrics::{METRICS_YAML, answer, asked, cases};
use stub::Stub;

const PART: &str = "RAGEVAL_PART";
const PARTS: [&str; 4] = ["gate", "stored", "unstored", "bare"];
/// Longest time for one part, per 1,000 cases.
const AT_MOST: Duration = Duration::from_secs(120);
const ROUNDS: usize = 3;
const LATENCY: Duration = Duration::from_millis(50);
const IN_FLIGHT: usize = 50;
const JUDGED: usize = 4;

fn main() -> ExitCode {
    let folder = std::env::current_dir().expect("a folder");
    match std::env::var(PART).ok().as_deref() {
        Some("serve") => serve(),
        Some("gate") => {
            let code = rageval_runner::Suite::new(rageval_runner::location!()).run();
            tell_peak();
            return code;
        }
        Some("bare") => bare(&folder),
        Some(part) => evaluate(&folder, part),
        None => table(),
    }
    ExitCode::SUCCESS
}

fn table() {
    let counts: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let server = Server::start();
    println!("50 ms, {IN_FLIGHT} in flight each for judge and embedder; load {}", load_average());
    println!(
        "{:>7} {:>9} {:>8} {:>8} {:>8} {:>14} {:>15} {:>10} {:>10} {:>9}",
        "cases",
        "part",
        "judge",
        "embed",
        "wall s",
        "wall / ideal",
        "/ judge's alone",
        "CPU ms",
        "of it sys",
        "peak MiB"
    );
    for cases in if counts.is_empty() { vec![1000] } else { counts } {
        // Removed at the very end: a file system that has just removed thousands of files is slow to make new ones.
        let mut folders = Vec::new();
        for _ in 0..ROUNDS {
            for part in PARTS {
                let folder = tempfile::tempdir().expect("a temporary folder");
                project(folder.path(), cases, &server.url);
                let used = run(folder.path(), part, cases);
                let [judged, embedded] = server.counted();
                let ideal = |requests: usize| (requests as f64 / IN_FLIGHT as f64) * LATENCY.as_secs_f64();
                let (all, alone) = (ideal(judged) + ideal(embedded), ideal(judged));
                let each = |seconds: f64| seconds * 1000.0 / judged as f64;
                let [own, system] = used.processor;
                let (whole, system) = (each(own + system), each(system));
                println!(
                    "{cases:>7} {part:>9} {judged:>8} {embedded:>8} {:>8.2} {:>14.3} {:>15.3} {whole:>10.3} {system:>10.3} {:>9.0}",
                    used.wall,
                    used.wall / all,
                    used.wall / alone,
                    used.peak
                );
                folders.push(folder);
            }
        }
    }
    println!(
        "CPU ms: processor time of the whole process for a request to the judge, and the kernel's part of it; load {}",
        load_average()
    );
}

/// What a process took: seconds, seconds of processor time of its own and of the kernel for it, MiB.
struct Used {
    wall: f64,
    processor: [f64; 2],
    peak: f64,
}

fn run(folder: &Path, part: &str, cases: usize) -> Used {
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command.current_dir(folder).arg("-q").env(PART, part).env("CI", "true");
    command.env("CARGO_MANIFEST_DIR", folder).env("RAGEVAL_RUNS", folder.join("runs"));
    command.env_remove("NEXTEST_RUN_ID").env_remove("RAGEVAL_JUDGE_MODE");
    let before = processor_time();
    let started = Instant::now();
    let output = command.output().expect("a run");
    let wall = started.elapsed();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(wall < AT_MOST * (cases as u32).div_ceil(1000), "{wall:?}");
    let peak = said.lines().rev().find_map(|line| line.strip_prefix("peak KiB: ")?.parse::<f64>().ok());
    Used {
        wall: wall.as_secs_f64(),
        processor: processor_time()
            .zip(before)
            .map_or([f64::NAN; 2], |(after, before)| [after[0] - before[0], after[1] - before[1]]),
        peak: peak.map_or(f64::NAN, |peak| peak / 1024.0),
    }
}

fn project(folder: &Path, count: usize, url: &str) {
    fs::write(folder.join("Cargo.toml"), "[workspace]\n").expect("written");
    let policy = format!(
        "version: 1\nsystem: {{kind: recorded, generator: g}}\nsnapshots: {{fail_on: never}}\nbudget: {{requests: 10000000}}\n\
         judge: {{provider: openai, base_url: \"{url}/v1\", model: judge-2026-01-01, max_in_flight: {IN_FLIGHT}}}\n\
         embedder: {{provider: openai, base_url: \"{url}/v1\", model: e5-small, max_in_flight: {IN_FLIGHT}}}\n{METRICS_YAML}"
    );
    fs::write(folder.join("thresholds.yaml"), policy).expect("written");
    fs::create_dir(folder.join("cases")).expect("made");
    fs::write(folder.join("cases/all.jsonl"), cases(count)).expect("written");
}

/// The server, in a process of its own.
struct Server {
    url: String,
    child: Child,
    output: Mutex<BufReader<std::process::ChildStdout>>,
}

impl Server {
    fn start() -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this binary"));
        let piped = command.env(PART, "serve").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.spawn().expect("a server");
        let mut output = BufReader::new(child.stdout.take().expect("its output"));
        let mut url = String::new();
        output.read_line(&mut url).expect("its address");
        Self { url: url.trim().to_owned(), child, output: Mutex::new(output) }
    }

    /// Requests to the judge and to the embedder since this was asked last.
    fn counted(&self) -> [usize; 2] {
        writeln!(self.child.stdin.as_ref().expect("its input")).expect("asked");
        let mut line = String::new();
        self.output.lock().expect("no panic").read_line(&mut line).expect("its counts");
        let mut numbers = line.split_whitespace().map(|number| number.parse().expect("a number"));
        [numbers.next().expect("two numbers"), numbers.next().expect("two numbers")]
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Its input ends, so it does.
        drop(self.child.stdin.take());
        self.child.wait().ok();
    }
}

fn serve() {
    let counts = Arc::new(Mutex::new([0_usize; 2]));
    let counted = Arc::clone(&counts);
    let stub = Stub::start(move |seen, _| {
        let due = Instant::now() + LATENCY;
        counted.lock().expect("no panic")[usize::from(asked(seen).is_none())] += 1;
        let reply = answer(seen);
        // The making of the reply is part of the latency.
        thread::sleep(due.saturating_duration_since(Instant::now()));
        reply
    });
    println!("{}", stub.url());
    for _ in std::io::stdin().lines() {
        let [judged, embedded] = std::mem::take(&mut *counts.lock().expect("no panic"));
        println!("{judged} {embedded}");
    }
}

/// Every record of the set, as the gate asks for them.
fn evaluate(folder: &Path, part: &str) {
    let policy = load::policy(&folder.join("thresholds.yaml"), METRICS).unwrap_or_else(|problems| panic!("{problems}"));
    let set = load::cases(&policy, METRICS).unwrap_or_else(|problems| panic!("{problems}"));
    let system = system::open(&policy.system, &policy.root, &|_| None, &set).expect("a system");
    let judge = judge::open(&policy.judge, &|_| None).expect("a judge");
    let embedder = policy.embedder.as_ref().expect("an embedder");
    let ledger = Ledger::in_process(policy.budget.as_ref());
    let keys = ReplyKeys::of(&policy.judge).expect("the keys of a hosted judge");
    let store = ReplyStore::new(&policy.root, None);
    let vector_keys = VectorKeys::of(embedder).expect("the keys of a hosted embedder");
    let vector_store = ReplyStore::new(&policy.root, None);
    let evaluation = Evaluation {
        system: Arc::from(system),
        judging: Judging {
            judge,
            timeout: policy.judge.timeout,
            limit: Limit::in_process(policy.judge.max_in_flight),
            minute: None,
            account: Some(Account { ledger: ledger.clone(), price: None }),
            replies: (part == "stored").then(|| Replies::new(store, keys, ReplyMode::Cached)),
        },
        ledger: ledger.clone(),
        metrics: METRICS.iter().map(|metric| *metric as &'static dyn Metric).collect(),
        baseline: Answers::default(),
        rules: policy.rules.clone(),
        system_timeout: policy.system.timeout,
        system_limit: Limit::in_process(policy.system.max_in_flight),
        embedding: Some(Embedding {
            embedder: embed::open(embedder, &|_| None).expect("an embedder"),
            timeout: embedder.timeout,
            limit: Limit::in_process(embedder.max_in_flight),
            minute: None,
            account: Some(Account { ledger, price: None }),
            vectors: (part == "stored").then(|| Vectors::new(vector_store, vector_keys, ReplyMode::Cached)),
        }),
    };
    let evaluation = Arc::new(evaluation);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let width = policy.system.max_in_flight + 2 * IN_FLIGHT;
    let records: Vec<_> = runtime.block_on(async {
        let record = |case| {
            let evaluation = Arc::clone(&evaluation);
            async move { tokio::spawn(async move { evaluation.record(&case).await }).await.expect("a record") }
        };
        futures_util::stream::iter(set.cases).map(record).buffer_unordered(width).collect().await
    });
    assert!(records.iter().all(|record| !record.is_unmeasured()), "{:?}", records[0].faults());
    tell_peak();
}

/// What the machine itself allows: as many threads as requests in flight, each sending one body over one connection.
fn bare(folder: &Path) {
    let policy = load::policy(&folder.join("thresholds.yaml"), METRICS).unwrap_or_else(|problems| panic!("{problems}"));
    let set = load::cases(&policy, METRICS).unwrap_or_else(|problems| panic!("{problems}"));
    let text = fs::read_to_string(folder.join("thresholds.yaml")).expect("readable");
    let (_, address) = text.split_once("http://").expect("an address");
    let address = address.split_once('/').expect("a path").0;
    let shown = format!("=== BEGIN contexts x ===\n{}=== END contexts x ===", "1: \"is blue\"\n".repeat(5));
    let body = json!({
        "messages": [{"role": "system", "content": "x".repeat(2000)}, {"role": "user", "content": format!("{shown}{}", "x".repeat(2500))}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "context_precision-verdicts"}},
    })
    .to_string();
    let request =
        format!("POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let requests = set.cases.len() * JUDGED;
    thread::scope(|scope| {
        for worker in 0..IN_FLIGHT {
            let request = &request;
            scope.spawn(move || {
                let mut connection = BufReader::new(TcpStream::connect(address).expect("a connection"));
                connection.get_ref().set_nodelay(true).expect("set");
                for _ in (worker..requests).step_by(IN_FLIGHT) {
                    connection.get_mut().write_all(request.as_bytes()).expect("sent");
                    let mut length = 0;
                    loop {
                        let mut line = String::new();
                        connection.read_line(&mut line).expect("a line");
                        if let Some(value) = line.strip_prefix("content-length: ") {
                            length = value.trim().parse().expect("a length");
                        } else if line.trim().is_empty() {
                            break;
                        }
                    }
                    connection.read_exact(&mut vec![0; length]).expect("a body");
                }
            });
        }
    });
    tell_peak();
}

/// Tells the most memory that this process held at once.
fn tell_peak() {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    println!("\npeak KiB: {}", peak.unwrap_or_default().trim().trim_end_matches(" kB"));
}

/// Seconds of processor time that ended children used, their own and the kernel's for them; `None` where the system does not tell. The
/// server has not ended.
fn processor_time() -> Option<[f64; 2]> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in brackets, may hold anything; times are in hundredths of a second.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some([fields.get(13)?.parse::<f64>().ok()? / 100.0, fields.get(14)?.parse::<f64>().ok()? / 100.0])
}

fn load_average() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or("unknown").to_owned()
}
