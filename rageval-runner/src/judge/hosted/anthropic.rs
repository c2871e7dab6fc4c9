//! Anthropic's messages.

use serde::Serialize;
use serde_json::{Value, value::RawValue};

use super::{
    Read, Setting, ending,
    negotiate::{Asked, Form, Sent},
};
use crate::{
    judge::{prompt::Prompt, spec::DEFAULT_MAX_TOKENS, transport::Failed},
    model::Ending,
};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    system: &'a str,
    messages: [Message<'a>; 1],
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
struct Tool<'a> {
    name: &'a str,
    description: &'static str,
    input_schema: &'a RawValue,
}

#[derive(Serialize)]
struct ToolChoice<'a> {
    r#type: &'static str,
    name: &'a str,
}

/// The body of a request. A strict schema is asked as a tool that must be called: that is this interface's way.
pub(super) fn body(setting: &Setting, prompt: &Prompt, asked: Asked) -> Result<String, serde_json::Error> {
    let schema = serde_json::from_str::<&RawValue>(&prompt.schema_text)?;
    let name = &*prompt.schema_name;
    let system = super::system_text(prompt, asked.form);
    let (tools, tool_choice) = match asked.form {
        Form::Schema | Form::Tool => (
            Some([Tool { name, description: super::TOOL, input_schema: schema }]),
            Some(ToolChoice { r#type: "tool", name }),
        ),
        Form::Text => (None, None),
    };
    let temperature = match asked.temperature {
        Sent::Yes => Some(setting.temperature),
        Sent::Refused => None,
    };
    serde_json::to_string(&Body {
        model: &setting.model,
        max_tokens: setting.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS),
        temperature,
        system: &system,
        messages: [Message { role: "user", content: &prompt.user }],
        tools,
        tool_choice,
    })
}

/// Whether a message was cut by the limit and is text alone.
pub(super) fn was_cut_without_call(value: &Value) -> bool {
    let parts = value.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let has = |kind: &str| parts.iter().any(|part| part.get("type").and_then(Value::as_str) == Some(kind));
    value.get("stop_reason").and_then(Value::as_str) == Some("max_tokens") && has("text") && !has("tool_use")
}

/// Reads a message by the type of its end and of its parts.
pub(super) fn read(value: &Value, form: Form, name: &str, setting: &Setting) -> Result<Read, Failed> {
    let Some(parts) = value.get("content").and_then(Value::as_array) else {
        return Err(ending::unknown("it has no `content`", value));
    };
    match value.get("stop_reason").and_then(Value::as_str) {
        Some("end_turn" | "tool_use" | "stop_sequence") => {}
        Some("max_tokens") => return Err(ending::length(setting, value.pointer("/usage/output_tokens"))),
        Some("model_context_window_exceeded") => {
            return Err(Failed::new(Ending::Length, "the reply did not fit into the model's window"));
        }
        Some("refusal") => return Err(ending::refusal("")),
        Some(other) => return Err(ending::unknown(&format!("its `stop_reason` is `{other}`"), value)),
        None => return Err(ending::unknown("it has no `stop_reason`", value)),
    }
    let mut text = String::new();
    let mut thought = false;
    let mut input: Option<&Value> = None;
    for part in parts {
        match part.get("type").and_then(Value::as_str) {
            Some("text") => match part.get("text").and_then(Value::as_str) {
                Some(said) => text.push_str(said),
                None => return Err(ending::unknown("a part of text has no text", value)),
            },
            Some("thinking" | "redacted_thinking") => thought = true,
            Some("tool_use") => {
                let called = part.get("name");
                if form == Form::Text || called.and_then(Value::as_str) != Some(name) {
                    return Err(ending::tool_call(called));
                }
                let Some(given) = part.get("input").filter(|input| input.is_object()) else {
                    return Err(ending::unknown("the input of its tool call is no object", value));
                };
                match input {
                    Some(other) if other != given => return Err(ending::two_calls()),
                    Some(_) | None => input = Some(given),
                }
            }
            Some(other) => return Err(ending::unknown(&format!("a part is of the type `{other}`"), value)),
            None => return Err(ending::unknown("a part has no type", value)),
        }
    }
    match input {
        // Words beside the call are no verdict.
        Some(input) => Ok(Read::Value(input.clone())),
        None if text.trim().is_empty() && thought => Err(ending::only_thoughts()),
        None if text.trim().is_empty() => Err(ending::empty()),
        None => Ok(Read::Text(text)),
    }
}
