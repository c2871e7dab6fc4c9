//! What is sent to each interface.

use rageval_runner::judge::spec::{Hosted, JudgeProvider};
use serde_json::{Value, json};

use super::{
    KEY, Test, anthropic, ask, hosted, open, openai, run,
    stub::{Reply, Stub},
};

pub(crate) const TESTS: &[Test] = &[
    ("a_completion_is_asked_with_a_strict_schema_named_after_the_request", completion),
    ("a_deployment_of_azure_has_its_own_path_and_key_header", azure),
    ("a_message_is_asked_as_a_tool_that_must_be_called", message),
    ("the_address_may_end_with_the_version_or_without", versions),
    ("without_a_key_no_header_is_sent", no_key),
    ("the_limit_of_tokens_is_sent_where_one_is_set", limits),
    ("fingerprints_differ_by_provider_model_and_parameters_and_not_by_address", fingerprints),
];

fn completion() {
    let stub = Stub::script(vec![Reply::completion(r#"{"sentences": []}"#)]);
    assert_eq!(run(ask(&*openai(&stub))), Ok(json!({"sentences": []})));
    let seen = &stub.seen()[0];
    assert_eq!(seen.line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(seen.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(seen.header("content-type"), Some("application/json"));
    let body = seen.json();
    assert_eq!(body["model"], "judge-2026-01-01");
    assert_eq!(body["temperature"], 0.0);
    assert_eq!(body.get("max_tokens"), None);
    assert_eq!(body["response_format"]["type"], "json_schema");
    assert_eq!(body["response_format"]["json_schema"]["name"], "faithfulness-verdicts");
    assert_eq!(body["response_format"]["json_schema"]["strict"], true);
    assert_eq!(body["response_format"]["json_schema"]["schema"]["type"], "object");
    assert_eq!(body.get("tools"), None);
    let roles: Vec<_> = body["messages"].as_array().expect("messages").iter().map(|m| m["role"].clone()).collect();
    assert_eq!(roles, ["system", "user"]);
    assert!(body["messages"][1]["content"].as_str().expect("text").contains("Refunds take 3 days."));
}

fn azure() {
    let stub = Stub::script(vec![Reply::completion("{}")]);
    let judge = open(JudgeProvider::Azure {
        hosted: Box::new(hosted(&stub.url())),
        deployment: "my judge".to_owned(),
        api_version: "2024-10-21".to_owned(),
    });
    assert_eq!(run(ask(&*judge)), Ok(json!({})));
    let seen = &stub.seen()[0];
    let path = "POST /openai/deployments/my%20judge/chat/completions?api-version=2024-10-21 HTTP/1.1";
    assert_eq!(seen.line, path);
    assert_eq!((seen.header("api-key"), seen.header("authorization")), (Some(KEY), None));
}

fn message() {
    let reply = json!({
        "type": "message", "role": "assistant", "model": "judge-2026-01-01", "stop_reason": "tool_use",
        "content": [{"type": "text", "text": "Here."}, {"type": "tool_use", "id": "t", "name": "faithfulness-verdicts", "input": {"sentences": []}}],
        "usage": {"input_tokens": 10, "output_tokens": 5},
    });
    let stub = Stub::script(vec![Reply::ok(reply)]);
    assert_eq!(run(ask(&*anthropic(&stub))), Ok(json!({"sentences": []})));
    let seen = &stub.seen()[0];
    assert_eq!(seen.line, "POST /v1/messages HTTP/1.1");
    assert_eq!((seen.header("x-api-key"), seen.header("anthropic-version")), (Some(KEY), Some("2023-06-01")));
    let body = seen.json();
    assert_eq!(body["max_tokens"], 4096);
    assert_eq!(body["tool_choice"], json!({"type": "tool", "name": "faithfulness-verdicts"}));
    assert_eq!(body["tools"][0]["name"], "faithfulness-verdicts");
    assert_eq!(body["tools"][0]["input_schema"]["type"], "object");
    assert!(body["system"].is_string() && body["messages"][0]["role"] == "user", "{body}");
}

fn versions() {
    for (base, path) in [("", "/v1/messages"), ("/v1", "/v1/messages"), ("/gateway/", "/gateway/v1/messages")] {
        let stub = Stub::script(vec![Reply::status(400, "")]);
        let judge = open(JudgeProvider::Anthropic(Box::new(hosted(&format!("{}{base}", stub.url())))));
        run(ask(&*judge)).expect_err("a refusal");
        assert_eq!(stub.seen()[0].line, format!("POST {path} HTTP/1.1"));
    }
}

fn no_key() {
    let stub = Stub::script(vec![Reply::completion("{}")]);
    let judge = open(JudgeProvider::Openai(Box::new(Hosted::new(stub.url(), "local"))));
    assert_eq!(run(ask(&*judge)), Ok(json!({})));
    assert_eq!(stub.seen()[0].header("authorization"), None);
}

fn limits() {
    let stub = Stub::script(vec![Reply::completion("{}")]);
    let limited = Hosted { max_tokens: Some(300), temperature: 0.5, ..hosted(&stub.url()) };
    assert_eq!(run(ask(&*open(JudgeProvider::Openai(Box::new(limited))))), Ok(json!({})));
    let body = stub.seen()[0].json();
    assert_eq!((&body["max_tokens"], &body["temperature"]), (&json!(300), &json!(0.5)));
    assert_eq!(body.get("max_completion_tokens"), None::<&Value>);
}

fn fingerprints() {
    let of = |hosted: Hosted| open(JudgeProvider::Openai(Box::new(hosted))).stamp();
    let first = of(hosted("http://127.0.0.1:1/v1"));
    assert_eq!((first.provider.as_str(), first.model.as_str()), ("openai", "judge-2026-01-01"));
    assert_eq!(of(hosted("http://127.0.0.1:2/v1")), first);
    assert_ne!(of(Hosted { temperature: 0.7, ..hosted("http://127.0.0.1:1/v1") }).fingerprint, first.fingerprint);
    assert_ne!(of(Hosted { max_tokens: Some(9), ..hosted("http://127.0.0.1:1/v1") }).fingerprint, first.fingerprint);
    let other = open(JudgeProvider::Anthropic(Box::new(hosted("http://127.0.0.1:1")))).stamp();
    assert_ne!(other.fingerprint, first.fingerprint);
}
