//! A judge on the loopback whose verdicts a test can change between calls, and a project that is judged by it.

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use rageval_runner::{
    judge, load,
    metric::METRICS,
    model::{
        Answer, CaseId, Claim, Detail, Heard, MetricKey, Outcome, Readings, Record, Reduced, Reduction, Repeat,
        Repeated, RetrievedContext, Sample, Taken, Transcript, UnitInterval, Verdict,
        run::{Manifest, Run, SetStamp, SystemStamp},
    },
};
use serde_json::{Value, json};

use super::{server, write};

/// What it says of a statement that is shown for the n-th time, counted from 0; `None`: it breaks down.
type Opinion = dyn Fn(&str, usize) -> Option<&'static str> + Send + Sync;

/// A judge that knows these statements, on a free port; its threads end with the test binary.
pub(crate) struct Loopback {
    address: String,
    shared: Arc<Shared>,
}

struct Shared {
    /// Judged wherever they stand in a request.
    statements: Vec<String>,
    opinion: Mutex<Arc<Opinion>>,
    /// Names of requests, with the statements in the order shown.
    asked: Mutex<Vec<(String, Vec<String>)>>,
}

impl Loopback {
    /// Supports every statement until it is told otherwise.
    pub(crate) fn start(statements: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let shared = Arc::new(Shared {
            statements: statements.into_iter().map(Into::into).collect(),
            opinion: Mutex::new(Arc::new(|_, _| Some("supported"))),
            asked: Mutex::default(),
        });
        let of_server = Arc::clone(&shared);
        let address = server::start(move |body| reply(body, &of_server));
        Self { address, shared }
    }

    /// Changes its mind.
    pub(crate) fn thinks(&self, opinion: impl Fn(&str, usize) -> Option<&'static str> + Send + Sync + 'static) {
        *self.shared.opinion.lock().expect("no panic") = Arc::new(opinion);
    }

    /// How many requests came since this was asked last, and their names, each once.
    pub(crate) fn asked(&self) -> (usize, Vec<String>) {
        let asked = std::mem::take(&mut *self.shared.asked.lock().expect("no panic"));
        let mut names: Vec<String> = asked.iter().map(|(name, _)| name.clone()).collect();
        names.sort();
        names.dedup();
        (asked.len(), names)
    }

    /// The policy's `judge`.
    pub(crate) fn judge(&self, model: &str) -> String {
        format!("{{provider: openai, base_url: \"http://{}/v1\", model: {model}, timeout: 20s}}", self.address)
    }
}

fn reply(body: &str, shared: &Shared) -> (u16, String) {
    let request: Value = serde_json::from_str(body).expect("a JSON body");
    let name = request["response_format"]["json_schema"]["name"].as_str().expect("a schema's name").to_owned();
    let mut shown: Vec<(usize, &String)> =
        shared.statements.iter().filter_map(|statement| Some((body.find(statement.as_str())?, statement))).collect();
    shown.sort();
    let mut asked = shared.asked.lock().expect("no panic");
    let before = |statement: &String| asked.iter().filter(|(_, statements)| statements.contains(statement)).count();
    let times: Vec<usize> = shown.iter().map(|(_, statement)| before(statement)).collect();
    asked.push((name.clone(), shown.iter().map(|(_, statement)| (*statement).clone()).collect()));
    drop(asked);
    // An opinion may be waited for while others are had.
    let opinion = Arc::clone(&shared.opinion.lock().expect("no panic"));
    let mut entries = Vec::new();
    for (((_, statement), times), n) in shown.iter().zip(times).zip(1..) {
        let Some(verdict) = opinion(statement, times) else { return (400, "{\"error\": \"broken\"}".to_owned()) };
        entries.push(if name.contains("confirm") {
            json!({"n": n, "verdict": verdict, "context": null, "quote": null})
        } else {
            let claim = json!({"claim": statement, "verdict": verdict, "context": null, "quote": null});
            json!({"n": n, "claims": [claim]})
        });
    }
    let key = if name.contains("confirm") { "claims" } else { "sentences" };
    let content = json!({key: entries}).to_string();
    let reply = json!({
        "id": "c1", "object": "chat.completion", "model": request["model"],
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25},
    });
    (200, reply.to_string())
}

/// The statements of the project's answers: two of each of its three cases.
pub(crate) const STATEMENTS: [&str; 6] =
    ["Alpha is red.", "Alpha is big.", "Beta is red.", "Beta is big.", "Gamma is red.", "Gamma is big."];

const CASES: [&str; 3] = ["alpha", "beta", "gamma"];

/// Writes a project of three cases with this judge; `further` are lines of its policy.
pub(crate) fn project(folder: &Path, judge: &str, further: &str) {
    policy(folder, judge, further);
    std::fs::create_dir_all(folder.join("cases")).expect("made");
    cases(folder, &CASES, "What of");
}

/// Writes its policy anew.
pub(crate) fn policy(folder: &Path, judge: &str, further: &str) {
    let policy = format!(
        "version: 1\nsystem: {{kind: recorded, generator: claude-opus-4-6}}\njudge: {judge}\n{further}\n\
         regression: {{baseline: baselines/main.json}}\nwaive: {{calibration: {{reason: as agreed, until: 2999-12-31}}}}\n\
         metrics:\n  faithfulness: {{max_drop: 0.25}}\n"
    );
    write(folder, "thresholds.yaml", &policy);
}

/// Writes its cases anew.
pub(crate) fn cases(folder: &Path, ids: &[&str], query: &str) {
    let lines: Vec<String> = ids
        .iter()
        .map(|id| json!({"id": id, "query": format!("{query} {id}?"), "language": "en"}).to_string())
        .collect();
    write(folder, "cases/all.jsonl", &lines.join("\n"));
}

/// Writes the run `name` of the project's cases, in which its judge finds these statements bad; `heard` are readings of the first case.
pub(crate) fn run_file(folder: &Path, name: &str, bad: &[&str], heard: &[Verdict]) {
    let policy = load::policy(&folder.join("thresholds.yaml"), METRICS).unwrap_or_else(|problems| panic!("{problems}"));
    let set = load::cases(&policy, METRICS).expect("cases");
    let manifest = Manifest {
        run_id: name.to_owned(),
        golden_set: SetStamp { digest: set.digest(), cases: set.cases.len(), ..SetStamp::default() },
        judge: judge::open(&policy.judge, &|_| None).expect("a judge").stamp(),
        system: SystemStamp { kind: "recorded".to_owned(), generator: policy.system.generator.clone() },
        policy_digest: policy.digest.clone(),
        metric_versions: [("faithfulness".to_owned(), 1)].into(),
        parameters: policy.rules.parameters(),
        ..Manifest::default()
    };
    let mut records: Vec<Record> = set.cases.iter().map(|case| record(&case.id, case.digest(), bad)).collect();
    if !heard.is_empty() {
        let now = heard.iter().map(|verdict| Heard::Verdicts { verdicts: vec![*verdict; 2] }).collect();
        records[0].readings.insert(key(), Readings { now, ..Readings::default() });
    }
    let run =
        Run { format: "rageval-run".into(), version: 2, manifest, records, decisions: Vec::new(), ..Run::default() };
    write(folder, name, &serde_json::to_string(&run).expect("JSON"));
}

/// Makes the cases of a run file repeated ones: three answers whose mean is 0.75.
pub(crate) fn repeat(folder: &Path, name: &str, ids: &[&str]) {
    let text = std::fs::read_to_string(folder.join(name)).expect("a run");
    let mut run: Run = serde_json::from_str(&text).expect("a run");
    for record in run.records.iter_mut().filter(|record| ids.contains(&record.case.as_str())) {
        let repeat = |score: f64| Repeat {
            taken: record.taken.clone(),
            outcomes: [(key(), Outcome::scored(UnitInterval::new(score).expect("in range")))].into(),
            transcript: Transcript::default(),
        };
        let each = vec![repeat(1.0), repeat(1.0), repeat(0.25)];
        let reduced = Reduced { by: Reduction::Mean, times: 3, scored: 3, min: None };
        let detail = Detail { reduced: Some(reduced), ..Detail::default() };
        record.outcomes = [(key(), Outcome::scored_with(UnitInterval::new(0.75).expect("in range"), detail))].into();
        record.repeats = Some(Repeated { shown: 1, each });
    }
    write(folder, name, &serde_json::to_string(&run).expect("JSON"));
}

fn key() -> MetricKey {
    MetricKey::parse("faithfulness").expect("a key")
}

fn record(case: &CaseId, digest: String, bad: &[&str]) -> Record {
    let is_own = |statement: &&&str| statement.to_lowercase().starts_with(case.as_str());
    let own: Vec<&str> = STATEMENTS.iter().filter(is_own).copied().collect();
    let claim = |text: &&str| {
        let verdict = if bad.contains(text) { Verdict::Unsupported } else { Verdict::Supported };
        Claim { text: (*text).to_owned(), verdict, evidence: None, reason: None }
    };
    let claims: Vec<Claim> = own.iter().map(claim).collect();
    let good = claims.iter().filter(|claim| claim.verdict == Verdict::Supported).count();
    let detail = Detail { k_of_n: Some((good, claims.len())), ..Detail { claims, ..Detail::default() } };
    let outcome = Outcome::scored_with(UnitInterval::share(good, own.len()).expect("a share"), detail);
    let answer = Answer::new(own.join(" ")).with_contexts([RetrievedContext::new("d", "A catalogue of shapes.")]);
    let taken = Taken::Sample(Sample { answer, is_refusal: false, latency_ms: None });
    Record::new(case.clone(), digest, taken, [(key(), outcome)].into(), Transcript::default())
}

/// What a baseline says of the first case: its manifest, its score.
pub(crate) fn baseline(folder: &Path) -> (Value, f64) {
    let text = std::fs::read_to_string(folder.join("baselines/main.json")).expect("a baseline");
    let mut file: Value = serde_json::from_str(&text).expect("JSON");
    let score = file["cases"][0]["outcomes"]["faithfulness"]["score"]["value"].as_f64().expect("a score");
    (file["manifest"].take(), score)
}
