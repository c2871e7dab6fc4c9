//! What a server refuses is found out once, and remembered.

use serde_json::json;

use rageval_runner::{
    judge::{
        Spent,
        spec::{Hosted, JudgeProvider},
    },
    model::{CaseId, Ending, Reply as JudgeReply},
};

use super::{
    Test, anthropic, ask, failure, hosted, open, openai, request, run,
    stub::{Reply, Seen, Stub, completion},
};

pub(crate) const TESTS: &[Test] = &[
    ("a_server_without_schemas_and_tools_is_asked_for_text", text),
    ("a_server_without_schemas_is_asked_by_a_tool", tool),
    ("refused_parameters_are_left_out_once_and_noted", parameters),
    ("a_refusal_without_a_reason_is_got_around_by_another_form", guess),
    ("where_no_form_helps_the_first_refusal_is_told_and_no_more_is_guessed", no_guess),
    ("many_requests_at_once_find_the_same", at_once),
    ("a_message_without_tools_is_text", message),
    ("a_model_that_passes_over_the_tool_and_writes_on_is_asked_for_text", passed_over),
    ("a_completion_that_passes_over_the_tool_and_is_cut_is_asked_for_text", passed_over_by_completions),
    ("where_text_is_cut_too_the_reply_is_cut", cut_again),
];

/// The form of a request: what its body holds.
fn form(seen: &Seen) -> &'static str {
    let body = seen.json();
    match (body.get("response_format").is_some(), body.get("tools").is_some()) {
        (true, false) => "schema",
        (false, true) => "tool",
        (false, false) => "text",
        (true, true) => "both",
    }
}

fn forms(stub: &Stub) -> Vec<&'static str> {
    stub.seen().iter().map(form).collect()
}

fn text() {
    let stub = Stub::start(|seen, _| match form(seen) {
        "schema" => Reply::status(400, r#"{"error": {"message": "response_format is not supported"}}"#),
        "tool" => Reply::status(400, r#"{"error": {"message": "this model does not support tools"}}"#),
        _ => Reply::completion("Sure:\n```json\n{\"n\": 1}\n```"),
    });
    let judge = openai(&stub);
    run(async {
        assert_eq!(ask(&*judge).await, Ok(json!({"n": 1})));
        assert_eq!(ask(&*judge).await, Ok(json!({"n": 1})));
    });
    assert_eq!(forms(&stub), ["schema", "tool", "text", "text"]);
    let system = stub.seen()[2].json()["messages"][0]["content"].as_str().expect("text").to_owned();
    assert!(system.contains("fits this JSON schema, and with nothing else:\n{"), "{system}");
    let notice =
        "the judge refused a JSON schema for its reply, so it was asked by text that says what it must look like";
    assert_eq!(judge.notices(), [notice]);
}

fn tool() {
    let stub = Stub::start(|seen, _| match form(seen) {
        "schema" => Reply::status(422, r#"{"detail": "json_schema: extra fields not permitted"}"#),
        _ => {
            let mut reply = completion("");
            let call = json!({"id": "1", "type": "function", "function": {"name": "faithfulness-verdicts", "arguments": "{\"n\": 2}"}});
            reply["choices"][0]["message"] = json!({"role": "assistant", "content": null, "tool_calls": [call]});
            reply["choices"][0]["finish_reason"] = json!("tool_calls");
            Reply::ok(reply)
        }
    });
    assert_eq!(run(ask(&*openai(&stub))), Ok(json!({"n": 2})));
    let body = stub.seen()[1].json();
    assert_eq!(body["tool_choice"]["function"]["name"], "faithfulness-verdicts");
    assert_eq!(body["tools"][0]["function"]["parameters"]["type"], "object");
}

fn parameters() {
    let stub = Stub::start(|seen, _| {
        let body = seen.json();
        let refused = |name: &str, rest: &str| {
            let message = format!("Unsupported parameter: '{name}' is not supported with this model.{rest}");
            Reply::status(400, json!({"error": {"message": message, "param": name, "code": "unsupported_parameter"}}))
        };
        match (body.get("max_tokens"), body.get("temperature")) {
            (Some(_), _) => refused("max_tokens", " Use 'max_completion_tokens' instead."),
            (None, Some(_)) => refused("temperature", ""),
            (None, None) => Reply::completion("{}"),
        }
    });
    let limited = Hosted { max_tokens: Some(300), ..hosted(&stub.url()) };
    let judge = open(JudgeProvider::Openai(Box::new(limited)));
    run(async {
        assert_eq!(ask(&*judge).await, Ok(json!({})));
        assert_eq!(ask(&*judge).await, Ok(json!({})));
    });
    assert_eq!(stub.seen().len(), 4);
    assert_eq!(stub.seen()[3].json()["max_completion_tokens"], 300);
    assert_eq!(judge.notices().len(), 2, "{:?}", judge.notices());
}

fn guess() {
    let stub = Stub::start(|seen, _| match form(seen) {
        "schema" => Reply::status(400, "Bad Request"),
        _ => Reply::completion("{}"),
    });
    let judge = openai(&stub);
    run(async {
        assert_eq!(ask(&*judge).await, Ok(json!({})));
        assert_eq!(ask(&*judge).await, Ok(json!({})));
    });
    assert_eq!(forms(&stub), ["schema", "tool", "tool"]);
}

fn no_guess() {
    let stub = Stub::start(|seen, _| Reply::status(400, format!("no, {}", form(seen).len())));
    let judge = openai(&stub);
    run(async {
        for _ in 0..2 {
            assert_eq!(failure(ask(&*judge).await), (Ending::Provider, "400 Bad Request: no, 6".to_owned()));
        }
    });
    assert_eq!(forms(&stub), ["schema", "tool", "text", "schema"]);
    assert_eq!(judge.notices(), Vec::<String>::new());
}

fn at_once() {
    let stub = Stub::start(|seen, _| match form(seen) {
        "schema" => Reply::status(400, "response_format is not supported"),
        _ => Reply::completion("{}"),
    });
    let judge = openai(&stub);
    run(async {
        let replies = futures_util::future::join_all((0..8).map(|_| ask(&*judge))).await;
        assert!(replies.iter().all(|reply| *reply == Ok(json!({}))), "{replies:?}");
        let before = stub.seen().len();
        assert!(ask(&*judge).await.is_ok());
        assert_eq!(stub.seen().len(), before + 1);
    });
    assert_eq!(judge.notices().len(), 1);
}

fn message() {
    let stub = Stub::start(|seen, _| match form(seen) {
        "tool" => Reply::status(
            400,
            r#"{"type": "error", "error": {"type": "invalid_request_error", "message": "tools: not supported"}}"#,
        ),
        _ => Reply::ok(json!({"content": [{"type": "text", "text": "{\"n\": 3}"}], "stop_reason": "end_turn"})),
    });
    assert_eq!(run(ask(&*anthropic(&stub))), Ok(json!({"n": 3})));
    assert_eq!(forms(&stub), ["tool", "text"]);
}

/// A message by a server that takes tools and leaves the model free to call none: the reply, and blanks up to the limit.
fn written_on() -> Reply {
    let text = format!("{{\"n\": 3}}{}", "\n".repeat(200));
    Reply::ok(json!({
        "content": [{"type": "text", "text": text}], "stop_reason": "max_tokens", "usage": {"input_tokens": 900, "output_tokens": 4096},
    }))
}

fn passed_over() {
    let stub = Stub::start(|seen, _| match form(seen) {
        "tool" => written_on(),
        _ => Reply::ok(json!({
            "content": [{"type": "text", "text": "{\"n\": 3}"}], "stop_reason": "end_turn", "usage": {"cache_read_input_tokens": 640, "input_tokens": 310, "output_tokens": 9},
        })),
    });
    let judge = anthropic(&stub);
    let case = CaseId::new("case-1").expect("a valid id");
    let judged = run(judge.ask(&case, &request()));
    assert_eq!(judged.reply, JudgeReply::Value { value: json!({"n": 3}) });
    // What was passed over was paid for, and what was kept from an earlier request is read all the same.
    let spent = Spent { requests: 2, input_tokens: 1_850, output_tokens: 4_105, estimated_tokens: 0 };
    assert_eq!(judged.spent, spent);
    assert_eq!(run(ask(&*judge)), Ok(json!({"n": 3})));
    assert_eq!(forms(&stub), ["tool", "text", "text"]);
    let notice =
        "the judge refused or passed over a tool call, so it was asked by text that says what it must look like";
    assert_eq!(judge.notices(), [notice]);
}

fn passed_over_by_completions() {
    let stub = Stub::start(|seen, _| match form(seen) {
        "schema" => Reply::status(400, "response_format is not supported"),
        "tool" => {
            let mut reply = completion("{\"n\": 3}\n\n\n");
            reply["choices"][0]["finish_reason"] = json!("length");
            Reply::ok(reply)
        }
        _ => Reply::completion("{\"n\": 3}"),
    });
    assert_eq!(run(ask(&*openai(&stub))), Ok(json!({"n": 3})));
    assert_eq!(forms(&stub), ["schema", "tool", "text"]);
}

fn cut_again() {
    let stub = Stub::start(|_, _| written_on());
    let judge = anthropic(&stub);
    run(async {
        for _ in 0..2 {
            let (ending, why) = failure(ask(&*judge).await);
            assert_eq!(ending, Ending::Length);
            assert!(why.contains("after 4096 tokens"), "{why}");
        }
    });
    assert_eq!(forms(&stub), ["tool", "text", "text"]);
}
