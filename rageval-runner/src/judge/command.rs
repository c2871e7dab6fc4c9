//! Judge `command`: a program that takes requests as JSON lines and gives replies as JSON lines.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, value::RawValue};

use super::{
    Judge, Judged, estimated, fingerprint,
    prompt::{Prompt, Prompts},
    reply,
    transport::Failed,
};
use crate::{
    model::{CaseId, Ending, Field, JudgeRequest, Reply, Unmeasured, run::JudgeStamp},
    system::{
        BoxFuture,
        command::{PerCase, PerRun},
        excerpt::{self, excerpt},
        spec::{CommandSpec, Per},
    },
};

/// The word after `provider:`.
const PROVIDER: &str = "command";

/// A program that judges. It is started with the first request.
#[derive(Debug)]
pub struct CommandJudge {
    program: Program,
    model: String,
    prompts: Arc<Prompts>,
}

#[derive(Debug)]
enum Program {
    Run(PerRun),
    Case(PerCase),
}

/// A request as the program reads it: one line.
#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    case: &'a str,
    name: &'a str,
    language: &'a str,
    sample: u32,
    retry: u32,
    system: &'a str,
    user: &'a str,
    schema: &'a RawValue,
    fields: &'a [Field],
}

impl CommandJudge {
    /// The judge that a program is; `model` says what it is, with its version. An error says that no program is named.
    pub fn new(command: &CommandSpec, model: &str, prompts: Arc<Prompts>) -> Result<Self, String> {
        let program = match command.per {
            Per::Run => PerRun::open(command).map(Program::Run),
            Per::Case => PerCase::open(command).map(Program::Case),
        };
        let program = program.ok_or("`judge.run` names no program")?;
        Ok(Self { program, model: model.to_owned(), prompts })
    }

    async fn reply(&self, case: &CaseId, request: &JudgeRequest) -> Result<Value, Failed> {
        if request.logprobs {
            return Err(Failed::new(Ending::Unsupported, "a program gives no log probabilities"));
        }
        let prompt =
            self.prompts.render(request).map_err(|error| Failed::new(Ending::Unsupported, error.to_string()))?;
        let id = id(case, request, &prompt);
        let line = line(&id, case, request, &prompt).map_err(|error| {
            Failed::new(Ending::Unsupported, format!("the request can't be written as JSON: {error}"))
        })?;
        let failed = |fault: Unmeasured| Failed::new(Ending::Provider, fault.why);
        match &self.program {
            Program::Run(program) => read(&program.exchange(&id, line).await.map_err(failed)?, &id),
            Program::Case(program) => {
                let bytes = program.exchange(line).await.map_err(failed)?;
                match std::str::from_utf8(&bytes) {
                    Ok(text) if text.trim().is_empty() => {
                        Err(Failed::new(Ending::Empty, format!("`{}` wrote nothing to stdout", program.name())))
                    }
                    Ok(text) => read(text, &id),
                    Err(_) => {
                        let why = format!("`{}` wrote what is not UTF-8 to stdout", program.name());
                        Err(Failed::new(Ending::Unreadable, why))
                    }
                }
            }
        }
    }
}

impl Judge for CommandJudge {
    fn stamp(&self) -> JudgeStamp {
        JudgeStamp {
            provider: PROVIDER.to_owned(),
            model: self.model.clone(),
            fingerprint: fingerprint(PROVIDER, &self.model, &self.prompts, &[]),
        }
    }

    fn is_deterministic(&self) -> bool {
        false
    }

    fn ask<'a>(&'a self, case: &'a CaseId, request: &'a JudgeRequest) -> BoxFuture<'a, Judged> {
        Box::pin(async move {
            let reply = match self.reply(case, request).await {
                Ok(value) => Reply::Value { value },
                Err(failed) => failed.into(),
            };
            // A program says nothing of tokens.
            Judged { reply, spent: estimated(request) }
        })
    }

    fn notices(&self) -> Vec<String> {
        match &self.program {
            Program::Run(program) => program.strays(),
            Program::Case(_) => Vec::new(),
        }
    }
}

/// An id that no other request of the run has: a case may be asked the same by two metrics, about different parts of its answer.
fn id(case: &CaseId, request: &JudgeRequest, prompt: &Prompt) -> String {
    let digest = blake3::hash(format!("{}\n{}\n{}", request.sample, request.retry, prompt.user).as_bytes()).to_hex();
    format!("{case}#{}#{}", request.name, &digest[..16])
}

fn line(id: &str, case: &CaseId, request: &JudgeRequest, prompt: &Prompt) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = serde_json::to_vec(&Line {
        id,
        case: case.as_str(),
        name: &request.name,
        language: request.language.as_str(),
        sample: request.sample,
        retry: request.retry,
        system: &prompt.system,
        user: &prompt.user,
        schema: serde_json::from_str(&prompt.schema_text)?,
        fields: &request.fields,
    })?;
    // A schema that is laid out over several lines would end the line too early; within JSON, a line end is only layout.
    for byte in &mut line {
        if *byte == b'\n' || *byte == b'\r' {
            *byte = b' ';
        }
    }
    line.push(b'\n');
    Ok(line)
}

/// Reads one reply: an object with exactly one of `value`, `text` and `error`.
fn read(text: &str, id: &str) -> Result<Value, Failed> {
    let shown = || excerpt(text, excerpt::REPLY);
    let unreadable = |why: String| Failed::new(Ending::Unreadable, format!("{why}; it wrote: {}", shown()));
    let Value::Object(mut fields) = reply::strict::read(text.trim()).map_err(|error| unreadable(error.to_string()))?
    else {
        return Err(unreadable("a reply must be a JSON object".to_owned()));
    };
    match fields.get("id") {
        None | Some(Value::Null) => {}
        Some(Value::String(said)) if said == id => {}
        Some(_) => return Err(unreadable(format!("the reply's `id` is not `{id}`"))),
    }
    let said: Vec<&str> = ["value", "text", "error"].into_iter().filter(|name| fields.contains_key(*name)).collect();
    let [said] = said[..] else {
        return Err(unreadable("a reply holds exactly one of `value`, `text` and `error`".to_owned()));
    };
    match (said, fields.remove(said)) {
        ("value", Some(value @ Value::Object(_))) => Ok(value),
        ("value", _) => Err(unreadable("`value` must be an object".to_owned())),
        ("text", Some(Value::String(text))) if text.trim().is_empty() => {
            Err(Failed::new(Ending::Empty, "the reply's `text` is empty"))
        }
        ("text", Some(Value::String(text))) => {
            reply::read_object(&text).map_err(|unreadable| Failed::new(Ending::Unreadable, unreadable.why))
        }
        ("text", _) => Err(unreadable("`text` must be a text".to_owned())),
        (_, error) => {
            let error = error.unwrap_or_default();
            let why = error.as_str().map_or_else(|| error.to_string(), str::to_owned);
            Err(Failed::new(Ending::Provider, format!("the program says: {}", excerpt(&why, excerpt::ERROR))))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn fails(text: &str, ending: Ending, why: &str) {
        let failed = read(text, "a").expect_err("a failure");
        assert_eq!(failed.ending, ending, "{failed:?}");
        assert!(failed.why.starts_with(why), "{failed:?}");
    }

    #[test]
    fn a_reply_is_a_value_a_text_or_an_error() {
        let value = json!({"n": 1});
        assert_eq!(read(r#"{"id": "a", "value": {"n": 1}}"#, "a"), Ok(value.clone()));
        assert_eq!(read(r#"{"text": "```json\n{\"n\": 1}\n```"}"#, "a"), Ok(value));
        fails(r#"{"id": "a", "error": "no model"}"#, Ending::Provider, "the program says: no model");
        fails(r#"{"id": "a", "text": " "}"#, Ending::Empty, "the reply's `text` is empty");
        fails(r#"{"id": "a", "text": "I think so"}"#, Ending::Unreadable, "");
        fails(r#"{"id": "a", "value": 7}"#, Ending::Unreadable, "`value` must be an object");
        fails(r#"{"id": "a"}"#, Ending::Unreadable, "a reply holds exactly one of");
        fails(r#"{"id": "a", "value": {}, "error": "x"}"#, Ending::Unreadable, "a reply holds exactly one of");
        fails(r#"{"id": "b", "value": {}}"#, Ending::Unreadable, "the reply's `id` is not `a`");
        fails(r#"{"id": "a", "value": {"n": 1, "n": 2}}"#, Ending::Unreadable, "");
        fails("[]", Ending::Unreadable, "a reply must be a JSON object");
    }
}
