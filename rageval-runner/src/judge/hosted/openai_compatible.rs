//! `OpenAI`'s chat completions, as many servers speak them.

use serde::Serialize;
use serde_json::{Value, value::RawValue};

use super::{
    Read, Setting, ending,
    negotiate::{Asked, Form, LimitName, Sent},
};
use crate::{
    judge::{prompt::Prompt, transport::Failed},
    model::Ending,
};

/// What servers call the end of a completion by its limit.
const LENGTH: [&str; 2] = ["length", "max_tokens"];

/// Reasons of an end that is whole; the first two are `OpenAI`'s, the others those of servers that speak almost the same.
const WHOLE: [&str; 7] = ["stop", "tool_calls", "function_call", "eos", "eos_token", "end_turn", "stop_sequence"];

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: [Message<'a>; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_logprobs: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<[Tool<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<ToolChoice<'a>>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct ResponseFormat<'a> {
    r#type: &'static str,
    json_schema: JsonSchema<'a>,
}

#[derive(Serialize)]
struct JsonSchema<'a> {
    name: &'a str,
    strict: bool,
    schema: &'a RawValue,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'static str,
    parameters: &'a RawValue,
}

#[derive(Serialize)]
struct ToolChoice<'a> {
    r#type: &'static str,
    function: Named<'a>,
}

#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
}

/// The body of a request; with log probabilities of so many alternatives to each token.
pub(super) fn body(
    setting: &Setting,
    prompt: &Prompt,
    asked: Asked,
    alternatives: Option<u8>,
) -> Result<String, serde_json::Error> {
    let schema = serde_json::from_str::<&RawValue>(&prompt.schema_text)?;
    let name = &*prompt.schema_name;
    let system = super::system_text(prompt, asked.form);
    let (response_format, tools, tool_choice) = match asked.form {
        Form::Schema => {
            let json_schema = JsonSchema { name, strict: true, schema };
            (Some(ResponseFormat { r#type: "json_schema", json_schema }), None, None)
        }
        Form::Tool => {
            let function = Function { name, description: super::TOOL, parameters: schema };
            let choice = ToolChoice { r#type: "function", function: Named { name } };
            (None, Some([Tool { r#type: "function", function }]), Some(choice))
        }
        Form::Text => (None, None, None),
    };
    let (max_tokens, max_completion_tokens) = match asked.limit {
        LimitName::MaxTokens => (setting.max_tokens, None),
        LimitName::MaxCompletionTokens => (None, setting.max_tokens),
    };
    let temperature = match asked.temperature {
        Sent::Yes => Some(setting.temperature),
        Sent::Refused => None,
    };
    let messages =
        [Message { role: "system", content: &system }, Message { role: "user", content: prompt.user.as_str() }];
    serde_json::to_string(&Body {
        model: &setting.model,
        messages,
        temperature,
        max_tokens,
        max_completion_tokens,
        logprobs: alternatives.map(|_| true),
        top_logprobs: alternatives,
        response_format,
        tools,
        tool_choice,
    })
}

/// Whether a completion was cut by the limit and is text alone.
pub(super) fn was_cut_without_call(value: &Value) -> bool {
    let text = |path: &str| value.pointer(path).and_then(Value::as_str);
    let is_cut = text("/choices/0/finish_reason").is_some_and(|reason| LENGTH.contains(&reason));
    let calls = value.pointer("/choices/0/message/tool_calls").and_then(Value::as_array);
    is_cut && text("/choices/0/message/content").is_some_and(|text| !text.is_empty()) && calls.is_none_or(Vec::is_empty)
}

/// Whether the value of `error` says anything.
fn is_error(error: &Value) -> bool {
    match error {
        Value::Null => false,
        Value::Bool(is) => *is,
        Value::Number(_) => true,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}

/// Reads a completion by the type of its end and of its parts.
pub(super) fn read(value: &Value, form: Form, name: &str, setting: &Setting) -> Result<Read, Failed> {
    let choice = match value.get("choices").and_then(Value::as_array).map(Vec::as_slice) {
        Some([choice]) => choice,
        Some(choices) => return Err(ending::unknown(&format!("it has {} choices, not one", choices.len()), value)),
        None => return Err(ending::unknown("it has no `choices`", value)),
    };
    for (whose, error) in [("it", value.get("error")), ("its choice", choice.get("error"))] {
        // Gateways put what went wrong above them beside a part of a reply.
        if error.is_some_and(is_error) {
            return Err(ending::unknown(&format!("{whose} has an `error`"), value));
        }
    }
    let Some(message) = choice.get("message").filter(|message| message.is_object()) else {
        return Err(ending::unknown("its choice has no `message`", value));
    };
    if let Some(refusal) = message.get("refusal").and_then(Value::as_str).filter(|text| !text.trim().is_empty()) {
        return Err(ending::refusal(refusal));
    }
    match choice.get("finish_reason").and_then(Value::as_str) {
        Some(reason) if LENGTH.contains(&reason) => {
            return Err(ending::length(setting, value.pointer("/usage/completion_tokens")));
        }
        Some("content_filter") => return Err(Failed::new(Ending::ContentFilter, "the provider stopped the reply")),
        Some(reason) if WHOLE.contains(&reason) => {}
        Some(other) => return Err(ending::unknown(&format!("its `finish_reason` is `{other}`"), value)),
        None => return Err(ending::unknown("its choice has no `finish_reason`", value)),
    }
    match message.get("tool_calls").and_then(Value::as_array).map(Vec::as_slice) {
        None | Some([]) => {}
        Some(calls) => return tool_calls(calls, form, name, value),
    }
    if message.get("function_call").is_some_and(Value::is_object) {
        return Err(ending::tool_call(message.pointer("/function_call/name")));
    }
    let text = match message.get("content") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => text_of(parts, value)?,
        Some(_) => return Err(ending::unknown("its `content` is neither text nor parts", value)),
    };
    if text.trim().is_empty() {
        let thought =
            ["reasoning_content", "reasoning"].iter().any(|name| message.get(*name).is_some_and(Value::is_string));
        return Err(if thought { ending::only_thoughts() } else { ending::empty() });
    }
    Ok(Read::Text(text))
}

/// The text of parts; thoughts are no part of the reply.
fn text_of(parts: &[Value], value: &Value) -> Result<String, Failed> {
    let mut text = String::new();
    for part in parts {
        match part.get("type").and_then(Value::as_str) {
            Some("text" | "output_text") => match part.get("text").and_then(Value::as_str) {
                Some(said) => text.push_str(said),
                None => return Err(ending::unknown("a part of text has no text", value)),
            },
            Some("refusal") => {
                return Err(ending::refusal(part.get("refusal").and_then(Value::as_str).unwrap_or_default()));
            }
            Some("thinking" | "reasoning") => {}
            Some(other) => return Err(ending::unknown(&format!("a part is of the type `{other}`"), value)),
            None => return Err(ending::unknown("a part has no type", value)),
        }
    }
    Ok(text)
}

/// The arguments of the one tool that was asked for. Two calls that say the same are one.
fn tool_calls(calls: &[Value], form: Form, name: &str, value: &Value) -> Result<Read, Failed> {
    let mut found: Option<&str> = None;
    for call in calls {
        let called = call.pointer("/function/name");
        if form != Form::Tool || called.and_then(Value::as_str) != Some(name) {
            return Err(ending::tool_call(called));
        }
        let Some(arguments) = call.pointer("/function/arguments").and_then(Value::as_str) else {
            return Err(ending::unknown("a tool call has no arguments", value));
        };
        match found {
            Some(other) if other != arguments => return Err(ending::two_calls()),
            Some(_) | None => found = Some(arguments),
        }
    }
    match found {
        Some(arguments) if !arguments.trim().is_empty() => Ok(Read::Text(arguments.to_owned())),
        Some(_) | None => Err(ending::empty()),
    }
}
