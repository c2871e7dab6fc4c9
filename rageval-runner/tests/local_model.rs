//! Both clients against a real model's server on this machine, off unless `RAGEVAL_LOCAL_JUDGE` names one: `http://127.0.0.1:PORT`.
//!
//! Asserted is what such a server reliably does: replies of the right form, and its real failures. What the model says is printed.
//! The server is one that speaks `OpenAI`'s chat completions and Anthropic's messages, as llama.cpp's does; where it asks for a key,
//! `RAGEVAL_LOCAL_JUDGE_KEY` holds it.

#[path = "support/gate.rs"]
mod gate;
#[path = "support/trials.rs"]
mod trials;

use std::process::ExitCode;

use gate::{Project, Ran};
use rageval_runner::model::{Outcome, Unmeasured};
use serde_json::{Value, json};
use trials::Test;

const TESTS: &[Test] = &[
    ("labels_of_an_easy_case_come_back_by_chat_completions", || labels(Client::Openai)),
    ("labels_of_an_easy_case_come_back_by_messages", || labels(Client::Anthropic)),
    ("a_reply_cut_by_max_tokens_is_no_verdict_by_chat_completions", || cut(Client::Openai)),
    ("a_reply_cut_by_max_tokens_is_no_verdict_by_messages", || cut(Client::Anthropic)),
    ("a_context_beyond_the_window_ends_as_the_error_of_the_server_by_chat_completions", || overflow(Client::Openai)),
    ("a_context_beyond_the_window_ends_as_the_error_of_the_server_by_messages", || overflow(Client::Anthropic)),
    ("a_wrong_key_ends_as_the_error_of_the_server", wrong_key),
    ("texts_that_steer_a_judge_leave_its_reply_in_form", attacks),
    ("embeddings_of_a_chat_server_end_as_an_error_that_says_what_to_do", embeddings),
];

fn main() -> ExitCode {
    gate::main(&[("local_model", TESTS)])
}

/// Who asks.
#[derive(Debug, Clone, Copy)]
enum Client {
    Openai,
    Anthropic,
}

impl Client {
    /// The judge of the policy; `further` are more of its keys.
    fn judge(self, url: &str, further: &str) -> String {
        let (provider, path) = match self {
            Self::Openai => ("openai", "/v1"),
            Self::Anthropic => ("anthropic", ""),
        };
        // A small model on a busy machine takes its time, and answers one request after the other.
        format!(
            "judge: {{provider: {provider}, base_url: \"{url}{path}\", model: local, api_key_env: JUDGE_KEY, max_in_flight: 1, \
             timeout: 10m, try_timeout: 10m{further}}}\nbudget: {{requests: 20}}\n"
        )
    }
}

/// The address of the server; without one the test is skipped.
fn server() -> Option<String> {
    let url = std::env::var("RAGEVAL_LOCAL_JUDGE").ok().filter(|url| !url.is_empty());
    if url.is_none() {
        println!("skipped: RAGEVAL_LOCAL_JUDGE names no server, as in RAGEVAL_LOCAL_JUDGE=http://127.0.0.1:8081");
    }
    url.map(|url| url.trim_end_matches('/').to_owned())
}

/// The key of the server, where it asks for one.
fn key() -> Option<String> {
    std::env::var("RAGEVAL_LOCAL_JUDGE_KEY").ok().filter(|key| !key.is_empty())
}

/// One case: of its two sentences the first stands in the context word for word, and of the second there is nothing.
fn easy(context: &str) -> Value {
    json!({
        "id": "easy", "language": "en", "query": "How long can I return an order?",
        "response": "Orders can be returned within 30 days of delivery. The office cat is called Archibald.",
        "retrieved_contexts": [context],
    })
}

const CONTEXT: &str = "Orders can be returned within 30 days of delivery. Refunds are paid within 5 business days.";

/// The gate over one case by `faithfulness` with labels; a server that asks for no key does not mind one.
fn measured(judge: &str, case: Value, key: &str) -> (Ran, Outcome) {
    let project = Project::new(&format!("{judge}metrics: {{faithfulness: {{mode: labels}}}}"), &[case]);
    let ran = project.run(("JUDGE_KEY", key));
    let outcome = project.outcome("easy", "faithfulness");
    (ran, outcome)
}

fn measured_with_its_key(judge: &str, case: Value) -> (Ran, Outcome) {
    measured(judge, case, &key().unwrap_or_else(|| "no key is asked for".to_owned()))
}

/// Why there is no score; the run is red for it.
#[track_caller]
fn unmeasured((ran, outcome): (Ran, Outcome), expected: &str) -> String {
    match outcome {
        Outcome::Unmeasured { fault: Unmeasured { cause, why } } => {
            println!("{cause}: {why}");
            ran.ends_with(101).says(&cause);
            assert_eq!(cause, expected, "{why}");
            why
        }
        Outcome::Scored { .. } | Outcome::NotApplicable { .. } => panic!("{outcome:?}"),
    }
}

fn labels(client: Client) {
    let Some(url) = server() else { return };
    // A server that lets the model pass over the tool of a message has it write on to the limit, once.
    let (ran, outcome) = measured_with_its_key(&client.judge(&url, ", max_tokens: 200"), easy(CONTEXT));
    ran.ends_with(0);
    let claims = &outcome.detail().unwrap_or_else(|| panic!("{outcome:?}")).claims;
    assert!(!claims.is_empty() && claims.len() <= 2, "{claims:?}");
    for claim in claims {
        println!("{}: {}", claim.verdict.as_str(), claim.text);
    }
    for notice in ran.notices() {
        println!("{notice}");
    }
}

fn cut(client: Client) {
    let Some(url) = server() else { return };
    let why = unmeasured(
        measured_with_its_key(&client.judge(&url, ", max_tokens: 5"), easy(CONTEXT)),
        "judge reply cut by length",
    );
    assert!(why.contains("limit of 5 tokens; raise `judge.max_tokens`"), "{why}");
}

fn overflow(client: Client) {
    let Some(url) = server() else { return };
    // About 200,000 tokens: beyond the window of what runs beside a test, and refused before anything is read.
    let long = "Orders can be returned within 30 days of delivery. ".repeat(20_000);
    let why = unmeasured(measured_with_its_key(&client.judge(&url, ""), easy(&long)), "judge error");
    assert!(why.starts_with("faithfulness.labels: 400 Bad Request"), "{why}");
    assert!(why.contains("context"), "{why}");
}

fn wrong_key() {
    let Some(url) = server() else { return };
    if key().is_none() {
        println!("skipped: RAGEVAL_LOCAL_JUDGE_KEY is not set: the server asks for no key, and takes any");
        return;
    }
    for client in [Client::Openai, Client::Anthropic] {
        let why = unmeasured(measured(&client.judge(&url, ""), easy(CONTEXT), "sk-not-the-key"), "judge error");
        assert!(why.starts_with("faithfulness.labels: 401 Unauthorized"), "{why}");
        assert!(why.contains("judge.api_key_env") && !why.contains("sk-not-the-key"), "{why}");
    }
}

/// Each attack of the set as a context beside the true one, and an answer that neither supports: every case has its verdict, and how many of
/// them the attack made `supported` is printed. A small model can be talked over; that no text leaves its fence is proven in `prompts.rs`.
fn attacks() {
    let Some(url) = server() else { return };
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/attacks");
    let mut cases = Vec::new();
    for file in ["en", "pt", "zh", "other"] {
        let text = std::fs::read_to_string(folder.join(format!("{file}.yaml"))).expect("the attacks");
        let attacks: Vec<std::collections::BTreeMap<String, String>> = serde_yaml::from_str(&text).expect("attacks");
        for attack in attacks {
            cases.push(json!({
                "id": format!("{file}-{}", cases.len()), "language": "en", "query": "What is the cat called?",
                "response": "The office cat is called Archibald.",
                "retrieved_contexts": [CONTEXT, attack["text"]],
            }));
        }
    }
    let judge = Client::Openai.judge(&url, "").replace("requests: 20", &format!("requests: {}", 2 * cases.len()));
    let project = Project::new(&format!("{judge}metrics: {{faithfulness: {{mode: one_by_one}}}}"), &cases);
    let key = key().unwrap_or_else(|| "no key is asked for".to_owned());
    project.run(("JUDGE_KEY", &key)).ends_with(0);
    let score = |case: &Value| {
        let outcome = project.outcome(case["id"].as_str().expect("an id"), "faithfulness");
        outcome.score().unwrap_or_else(|| panic!("{outcome:?}")).get()
    };
    let believed: Vec<&Value> = cases.iter().filter(|case| score(case) > 0.5).collect();
    println!("{} of {} attacks made an unsupported sentence `supported`", believed.len(), cases.len());
    for case in &believed {
        println!("{}", case["retrieved_contexts"][1]);
    }
    assert!(believed.len() * 2 < cases.len(), "most attacks succeed: this model is no judge");
}

fn embeddings() {
    let Some(url) = server() else { return };
    let policy = format!(
        "judge: {{provider: scripted, replies: replies.jsonl}}\n\
         embedder: {{provider: openai, base_url: \"{url}/v1\", model: local, api_key_env: JUDGE_KEY, timeout: 10m, try_timeout: 10m}}\n\
         metrics: {{answer_correctness: {{similarity_weight: 0.25}}}}"
    );
    let said = json!({"answer": [{"n": 1, "verdict": "correct"}], "reference": [{"n": 1, "verdict": "covered"}]});
    let reply = json!({"request": "answer_correctness.statements", "case": "easy", "value": said});
    let mut case = easy(CONTEXT);
    case["response"] = json!("Within 30 days.");
    case["ground_truth_answer"] = json!("30 days from delivery.");
    let project = Project::new(&policy, &[case]).with_replies(&[reply]);
    let ran = project.run(("JUDGE_KEY", &key().unwrap_or_else(|| "no key is asked for".to_owned())));
    let why = unmeasured((ran, project.outcome("easy", "answer_correctness")), "embedder error");
    assert!(why.contains("501 Not Implemented") && why.contains("this server makes no embeddings"), "{why}");
}
