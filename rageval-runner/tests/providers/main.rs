//! Judges that are asked over HTTP and as a program, with everything that can go wrong on the way.
//!
//! This binary is three things. Started with `fake-judge` it is a program that judges; with `RAGEVAL_GATE` set it is a gate over the
//! project in `CARGO_MANIFEST_DIR`; else it is the tests.

mod confirming;
mod embeddings;
mod ends;
mod fake;
mod forms;
#[path = "../support/four_metrics.rs"]
mod four_metrics;
mod gate;
mod gates;
mod kills;
mod load;
mod logprobs;
mod programs;
mod replies;
#[path = "../support/request.rs"]
mod request;
mod requests;
mod secrets;
mod stub;
mod transport;
#[path = "../support/trials.rs"]
mod trials;
mod wire;

use std::{process::ExitCode, sync::Arc, time::Duration};

use rageval_runner::{
    judge::{
        self, Judge,
        spec::{Hosted, JudgeProvider, JudgeSpec},
    },
    model::{CaseId, Ending, JudgeRequest, Language, Reply},
};
use serde_json::Value;
use trials::Test;

/// Makes this binary a gate.
const GATE: &str = "RAGEVAL_GATE";

/// The key that no text may hold.
const KEY: &str = "sk-planted-7Q2x9\"w";

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("fake-judge") {
        return fake::judge();
    }
    if std::env::var_os(GATE).is_some() {
        return rageval_runner::Suite::new(rageval_runner::location!()).run();
    }
    let groups: [(&str, &[Test]); 14] = [
        ("confirming", confirming::TESTS),
        ("embeddings", embeddings::TESTS),
        ("ends", ends::TESTS),
        ("forms", forms::TESTS),
        ("gates", gates::TESTS),
        ("kills", kills::TESTS),
        ("load", load::TESTS),
        ("logprobs", logprobs::TESTS),
        ("programs", programs::TESTS),
        ("replies", replies::TESTS),
        ("requests", requests::TESTS),
        ("secrets", secrets::TESTS),
        ("transport", transport::TESTS),
        ("wire", wire::TESTS),
    ];
    trials::run(&groups)
}

/// A model that asks for the planted key.
fn hosted(base_url: &str) -> Hosted {
    Hosted { api_key_env: Some("JUDGE_KEY".to_owned()), ..Hosted::new(base_url, "judge-2026-01-01") }
}

/// Opens a judge whose requests may take three seconds, in an environment that holds the planted key.
fn open(provider: JudgeProvider) -> Arc<dyn Judge> {
    open_within(provider, Duration::from_secs(3))
}

fn open_within(provider: JudgeProvider, timeout: Duration) -> Arc<dyn Judge> {
    let spec = JudgeSpec { timeout, ..JudgeSpec::of_provider(provider) };
    judge::open(&spec, &|name| (name == "JUDGE_KEY").then(|| KEY.to_owned())).expect("a judge")
}

fn openai(stub: &stub::Stub) -> Arc<dyn Judge> {
    open(JudgeProvider::Openai(Box::new(hosted(&format!("{}/v1", stub.url())))))
}

fn anthropic(stub: &stub::Stub) -> Arc<dyn Judge> {
    open(JudgeProvider::Anthropic(Box::new(hosted(&stub.url()))))
}

fn request() -> JudgeRequest {
    let request = JudgeRequest::new("faithfulness.verdicts", Language::En).text("query", "How long do refunds take?");
    request.numbered("sentences", ["Refunds take 3 days."]).numbered("contexts", ["A refund takes 3 days."])
}

fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(future)
}

/// Asks once.
async fn ask(judge: &dyn Judge) -> Result<Value, (Ending, String)> {
    let request = request();
    judge.admit(&request).await;
    match judge.ask(&CaseId::new("case-1").expect("a valid id"), &request).await.reply {
        Reply::Value { value } => Ok(value),
        Reply::Failed { ending, why } => Err((ending, why)),
    }
}

#[track_caller]
fn failure(came: Result<Value, (Ending, String)>) -> (Ending, String) {
    came.expect_err("a failure")
}
