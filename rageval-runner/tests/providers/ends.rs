//! Each way in which a reply can end is told apart, by type.

use rageval_runner::{
    judge::spec::{Hosted, JudgeProvider},
    model::Ending,
};
use serde_json::{Value, json};

use super::{
    Test, anthropic, ask, failure, hosted, open, openai, run,
    stub::{Reply, Stub, completion},
};

pub(crate) const TESTS: &[Test] = &[
    ("completions_end_in_many_ways", completions),
    ("messages_end_in_many_ways", messages),
    ("an_envelope_is_never_read_for_a_verdict", envelopes),
    ("the_limit_in_force_is_named_with_where_to_raise_it", limits),
    ("a_filter_that_refuses_the_question_is_no_error_of_the_request", filter),
    ("thoughts_are_no_part_of_a_reply", thoughts),
];

/// A completion whose choice is changed.
fn choice(finish_reason: &str, message: Value) -> Value {
    let mut reply = completion("");
    reply["choices"][0]["finish_reason"] = json!(finish_reason);
    reply["choices"][0]["message"] = message;
    reply
}

#[track_caller]
fn ends(reply: &Value, ending: Ending, why: &str) {
    let stub = Stub::script(vec![Reply::ok(reply)]);
    let judge = if reply.get("stop_reason").is_some() { anthropic(&stub) } else { openai(&stub) };
    let (came, said) = failure(run(ask(&*judge)));
    assert_eq!(came, ending, "{reply}: {said}");
    assert!(said.contains(why), "{reply}: {said}");
    assert_eq!(stub.seen().len(), 1, "asked again: {reply}");
}

fn completions() {
    let whole = json!({"content": "{\"n\": 1}"});
    ends(&choice("length", whole.clone()), Ending::Length, "by the server's own limit");
    ends(&choice("content_filter", whole.clone()), Ending::ContentFilter, "stopped");
    ends(&choice("stop", json!({"content": null, "refusal": "I can't help."})), Ending::Refusal, "I can't help.");
    ends(&choice("stop", json!({"content": [{"type": "refusal", "refusal": "No."}]})), Ending::Refusal, "No.");
    ends(&choice("stop", json!({"content": ""})), Ending::Empty, "no text");
    ends(&choice("stop", json!({"content": " \n"})), Ending::Empty, "no text");
    ends(&choice("stop", json!({"content": null, "reasoning_content": "hm"})), Ending::Empty, "thoughts");
    let call = json!([{"type": "function", "function": {"name": "faithfulness-verdicts", "arguments": "{}"}}]);
    ends(&choice("tool_calls", json!({"content": null, "tool_calls": call})), Ending::ToolCall, "not asked for");
    ends(&choice("stop", json!({"content": null, "function_call": {"name": "search"}})), Ending::ToolCall, "`search`");
    ends(&choice("stop", json!({"content": "I would say 0.7"})), Ending::Unreadable, "I would say 0.7");
    ends(&choice("insufficient_resources", whole.clone()), Ending::Provider, "`insufficient_resources`");
    for (place, said) in [("", "it has an `error`"), ("/choices/0", "its choice has an `error`")] {
        let mut reply = choice("stop", whole.clone());
        let part = reply.pointer_mut(place).and_then(Value::as_object_mut).expect("an object");
        part.insert("error".to_owned(), json!({"message": "upstream broke off"}));
        ends(&reply, Ending::Provider, said);
    }
}

fn messages() {
    let message = |reason: &str, content: Value| json!({"stop_reason": reason, "content": content});
    let text = json!([{"type": "text", "text": "{\"n\": 1}"}]);
    let begun = json!([{"type": "tool_use", "name": "faithfulness-verdicts", "input": {}}]);
    ends(&message("max_tokens", begun), Ending::Length, "4096 tokens");
    ends(&message("model_context_window_exceeded", text.clone()), Ending::Length, "window");
    ends(&message("refusal", text.clone()), Ending::Refusal, "declined");
    ends(&message("pause_turn", text), Ending::Provider, "`pause_turn`");
    ends(&message("end_turn", json!([])), Ending::Empty, "no text");
    ends(&message("end_turn", json!([{"type": "thinking", "thinking": "hm"}])), Ending::Empty, "thoughts");
    ends(&message("tool_use", json!([{"type": "tool_use", "name": "x", "input": {}}])), Ending::ToolCall, "`x`");
    let twice = |n: u8| json!({"type": "tool_use", "name": "faithfulness-verdicts", "input": {"n": n}});
    ends(&message("tool_use", json!([twice(1), twice(2)])), Ending::Unreadable, "twice");
    ends(&message("end_turn", json!([{"type": "server_tool_use", "n": 0.7}])), Ending::Provider, "server_tool_use");
}

fn envelopes() {
    for reply in [
        json!({"score": 1.0, "verdict": "supported"}),
        json!({"choices": []}),
        json!({"choices": [{"finish_reason": "stop"}]}),
        json!({"choices": [{"message": {"content": "{\"n\": 1}"}}]}),
        json!({"object": "response", "output": [{"type": "message", "content": [{"type": "output_text", "text": "{}"}]}]}),
        choice("stop", json!({"content": [{"type": "audio", "n": 0.7}]})),
        choice("stop", json!({"content": 0.7})),
    ] {
        ends(&reply, Ending::Provider, "a shape that is not known");
    }
}

fn limits() {
    let stub = Stub::script(vec![Reply::ok(choice("length", json!({"content": "{}"})))]);
    let limited = Hosted { max_tokens: Some(300), ..hosted(&stub.url()) };
    let (ending, why) = failure(run(ask(&*open(JudgeProvider::Openai(Box::new(limited))))));
    assert_eq!(ending, Ending::Length);
    let expected =
        "the reply was cut after 5 tokens by the limit of 300 tokens; raise `judge.max_tokens` in thresholds.yaml";
    assert_eq!(why, expected);
}

fn filter() {
    let body = json!({"error": {"code": "content_filter", "message": "The prompt was filtered", "status": 400}});
    let stub = Stub::script(vec![Reply::status(400, body)]);
    assert_eq!(failure(run(ask(&*openai(&stub)))).0, Ending::ContentFilter);
    assert_eq!(stub.seen().len(), 1);
}

fn thoughts() {
    let parts = json!([{"type": "thinking", "thinking": "{\"n\": 9}"}, {"type": "text", "text": "{\"n\": 1}"}]);
    let stub = Stub::script(vec![Reply::ok(choice("stop", json!({"content": parts})))]);
    assert_eq!(run(ask(&*openai(&stub))), Ok(json!({"n": 1})));
    let parts = json!([{"type": "redacted_thinking", "data": "{\"n\": 9}"}, {"type": "text", "text": "{\"n\": 1}"}]);
    let stub = Stub::script(vec![Reply::ok(json!({"stop_reason": "end_turn", "content": parts}))]);
    assert_eq!(run(ask(&*anthropic(&stub))), Ok(json!({"n": 1})));
}
