//! What a server takes: the form of a reply, and the parameters that it refuses.

use serde_json::Value;

use crate::judge::transport::Refused;

/// How a reply of the wanted shape is asked for, the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    /// The server holds the reply to a strict JSON schema.
    Schema,
    /// The reply is the argument of a tool that must be called.
    Tool,
    /// The prompt says it, and the reader finds it in the text.
    Text,
}

/// Whether a parameter is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sent {
    Yes,
    Refused,
}

/// What the limit of a reply is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LimitName {
    MaxTokens,
    MaxCompletionTokens,
}

/// For how many other tokens log probabilities are asked, where a request wants them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Alternatives {
    /// As many as most servers give.
    Twenty,
    /// As many as those give that refuse more.
    Five,
    /// None: log probabilities are refused.
    Refused,
}

impl Alternatives {
    /// The number that is sent; `None` where nothing is.
    pub(super) fn count(self) -> Option<u8> {
        match self {
            Self::Twenty => Some(20),
            Self::Five => Some(5),
            Self::Refused => None,
        }
    }
}

/// How requests are put. It only ever moves towards what more servers take, so two that were refused at once agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) form: Form,
    pub(super) temperature: Sent,
    pub(super) limit: LimitName,
    pub(super) alternatives: Alternatives,
}

impl Asked {
    /// Before anything was refused.
    pub(super) fn first(form: Form) -> Self {
        Self { form, temperature: Sent::Yes, limit: LimitName::MaxTokens, alternatives: Alternatives::Twenty }
    }

    /// Everything that either of the two knows to be refused.
    pub(super) fn merge(self, other: Self) -> Self {
        Self {
            form: self.form.max(other.form),
            temperature: self.temperature.max(other.temperature),
            limit: self.limit.max(other.limit),
            alternatives: self.alternatives.max(other.alternatives),
        }
    }

    /// What differs from the first way of asking, one line each.
    pub(super) fn notices(self, first: Self) -> Vec<String> {
        let mut notices = Vec::new();
        if self.form != first.form {
            let instead = match self.form {
                Form::Schema => "a JSON schema",
                Form::Tool => "a tool call",
                Form::Text => "text that says what it must look like",
            };
            let refused = match first.form {
                Form::Schema => "refused a JSON schema for its reply",
                Form::Tool => "refused or passed over a tool call",
                Form::Text => "refused plain text",
            };
            notices.push(format!("the judge {refused}, so it was asked by {instead}"));
        }
        if self.temperature != first.temperature {
            notices.push("the judge refused `temperature`, so it was asked without: its verdicts may vary".to_owned());
        }
        if self.limit != first.limit {
            notices.push("the judge refused `max_tokens`, so it was asked with `max_completion_tokens`".to_owned());
        }
        match self.alternatives {
            Alternatives::Twenty => {}
            Alternatives::Five => notices.push(
                "the judge refused log probabilities of 20 alternatives, so it was asked for those of 5".to_owned(),
            ),
            Alternatives::Refused => notices.push("the judge refused to give log probabilities".to_owned()),
        }
        notices
    }
}

/// What to try after a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// The server named what it refuses: remembered at once.
    Named(Asked),
    /// It named nothing that is known, and no reply of this form has come yet: remembered once it helped.
    Guessed(Asked),
    /// No other way of asking would help.
    Nothing,
}

/// Words of a message by which a parameter is refused as such, and not for its size.
const REFUSING: [&str; 11] = [
    "support",
    "unrecognized",
    "unrecognised",
    "unknown",
    "unexpected",
    "extra input",
    "extra field",
    "not permitted",
    "not allowed",
    "deprecated",
    "instead",
];

/// Words of a message that is about something else, whatever it names beside.
const ABOUT_SOMETHING_ELSE: [&str; 8] = [
    "context length",
    "context size",
    "context window",
    "context_length",
    "context_size",
    "content_filter",
    "content management",
    "api key",
];

/// Finds out what a refusal was about. `first` is the surest form of this interface.
pub(super) fn after(asked: Asked, refused: &Refused) -> Next {
    if !matches!(refused.status.as_u16(), 400 | 422 | 501) {
        return Next::Nothing;
    }
    let said = Said::of(&refused.body);
    if ABOUT_SOMETHING_ELSE.iter().any(|words| said.message.contains(words)) {
        return Next::Nothing;
    }
    if asked.temperature == Sent::Yes && said.refuses_parameter("temperature") {
        return Next::Named(Asked { temperature: Sent::Refused, ..asked });
    }
    if asked.limit == LimitName::MaxTokens && said.refuses_parameter("max_tokens") {
        return Next::Named(Asked { limit: LimitName::MaxCompletionTokens, ..asked });
    }
    let (words, form): (&[&str], Form) = match asked.form {
        Form::Schema => (&["response_format", "json_schema", "schema", "structured output", "grammar"], Form::Tool),
        Form::Tool => (&["tool", "function"], Form::Text),
        Form::Text => return Next::Nothing,
    };
    let next = Asked { form, ..asked };
    if said.names(words) { Next::Named(next) } else { Next::Guessed(next) }
}

/// Fewer alternatives, where a request that asked for log probabilities was refused for them; `None` where it was for something else.
pub(super) fn fewer_alternatives(asked: Asked, refused: &Refused) -> Option<Asked> {
    if !matches!(refused.status.as_u16(), 400 | 422 | 501) {
        return None;
    }
    let said = Said::of(&refused.body);
    if !said.names(&["logprobs"]) {
        return None;
    }
    let alternatives = match asked.alternatives {
        Alternatives::Twenty if said.names(&["top_logprobs"]) => Alternatives::Five,
        Alternatives::Twenty | Alternatives::Five | Alternatives::Refused => Alternatives::Refused,
    };
    Some(Asked { alternatives, ..asked })
}

/// Whether a server refused what was asked for its content.
pub(super) fn is_content_filter(refused: &Refused) -> bool {
    refused.status.is_client_error()
        && serde_json::from_str::<Value>(&refused.body)
            .is_ok_and(|body| body.pointer("/error/code").and_then(Value::as_str) == Some("content_filter"))
}

/// What an error body says, in lower case.
struct Said {
    /// The parameter it names; empty where it names none.
    parameter: String,
    /// Its code and message; the whole body where that has no known shape.
    message: String,
}

impl Said {
    fn of(body: &str) -> Self {
        let parsed = serde_json::from_str::<Value>(body).unwrap_or_default();
        let text = |path: &str| parsed.pointer(path).and_then(Value::as_str).unwrap_or_default().to_lowercase();
        let parameter = text("/error/param");
        Self { parameter, message: body.to_lowercase() }
    }

    fn refuses_parameter(&self, name: &str) -> bool {
        let named = if self.parameter.is_empty() { self.message.contains(name) } else { self.parameter == name };
        named && REFUSING.iter().any(|word| self.message.contains(word))
    }

    fn names(&self, words: &[&str]) -> bool {
        let place = if self.parameter.is_empty() { &self.message } else { &self.parameter };
        words.iter().any(|word| place.contains(word))
    }
}

#[cfg(test)]
mod tests {
    use reqwest::StatusCode;

    use super::*;

    fn refused(status: u16, body: &str) -> Refused {
        Refused { status: StatusCode::from_u16(status).expect("a status"), body: body.to_owned() }
    }

    const SCHEMA: Asked = Asked {
        form: Form::Schema,
        temperature: Sent::Yes,
        limit: LimitName::MaxTokens,
        alternatives: Alternatives::Twenty,
    };

    #[track_caller]
    fn check(status: u16, body: &str, next: Next) {
        assert_eq!(after(SCHEMA, &refused(status, body)), next, "{body}");
    }

    #[test]
    fn a_refused_parameter_is_found_in_bodies_of_many_shapes() {
        let temperature = Next::Named(Asked { temperature: Sent::Refused, ..SCHEMA });
        let limit = Next::Named(Asked { limit: LimitName::MaxCompletionTokens, ..SCHEMA });
        check(
            400,
            r#"{"error": {"message": "Unsupported value: 'temperature' does not support 0 with this model.", "param": "temperature", "code": "unsupported_value"}}"#,
            temperature,
        );
        check(
            422,
            r#"{"detail": [{"loc": ["body", "temperature"], "msg": "Extra inputs are not permitted"}]}"#,
            temperature,
        );
        check(
            400,
            r#"{"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "param": "max_tokens"}}"#,
            limit,
        );
        check(400, "max_tokens is not supported", limit);
    }

    #[test]
    fn a_refused_form_is_followed_by_the_next_one() {
        let tool = Next::Named(Asked { form: Form::Tool, ..SCHEMA });
        check(
            400,
            r#"{"error": {"message": "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.", "param": "response_format"}}"#,
            tool,
        );
        check(400, r#"{"error": "This model does not support structured outputs"}"#, tool);
        check(400, "no", Next::Guessed(Asked { form: Form::Tool, ..SCHEMA }));
        let by_tool = Asked { form: Form::Tool, ..SCHEMA };
        let refusal = refused(400, r#"{"error": {"message": "registry.ollama.ai/x does not support tools"}}"#);
        assert_eq!(after(by_tool, &refusal), Next::Named(Asked { form: Form::Text, ..SCHEMA }));
        assert_eq!(after(Asked { form: Form::Text, ..SCHEMA }, &refusal), Next::Nothing);
    }

    #[test]
    fn what_is_about_something_else_changes_nothing() {
        for (status, body) in [
            (
                400,
                r#"{"error": {"message": "This model's maximum context length is 4096 tokens; max_tokens is not supported beyond", "param": "max_tokens"}}"#,
            ),
            (400, r#"{"error": {"code": "content_filter", "message": "response_format"}}"#),
            (401, r#"{"error": {"message": "response_format"}}"#),
            (404, "no such model: temperature is not supported"),
        ] {
            check(status, body, Next::Nothing);
        }
        let large = r#"{"error": {"message": "max_tokens is too large: 100000", "param": "max_tokens"}}"#;
        assert_ne!(
            after(SCHEMA, &refused(400, large)),
            Next::Named(Asked { limit: LimitName::MaxCompletionTokens, ..SCHEMA })
        );
    }

    #[test]
    fn log_probabilities_are_given_up_only_where_they_are_named() {
        let after =
            |asked, status, body| fewer_alternatives(asked, &refused(status, body)).map(|next| next.alternatives);
        let large = r#"{"error": {"message": "Invalid value for 'top_logprobs': must be at most 5.", "param": "top_logprobs"}}"#;
        assert_eq!(after(SCHEMA, 400, large), Some(Alternatives::Five));
        let five = Asked { alternatives: Alternatives::Five, ..SCHEMA };
        assert_eq!(after(five, 400, large), Some(Alternatives::Refused));
        let never = r#"{"error": {"message": "logprobs is not supported with this model", "param": "logprobs"}}"#;
        assert_eq!(after(SCHEMA, 400, never), Some(Alternatives::Refused));
        assert_eq!(after(SCHEMA, 400, "response_format is not supported"), None);
        assert_eq!(after(SCHEMA, 401, never), None);
    }

    #[test]
    fn what_changed_is_noted() {
        let changed = Asked {
            form: Form::Text,
            temperature: Sent::Refused,
            limit: LimitName::MaxCompletionTokens,
            alternatives: Alternatives::Five,
        };
        assert_eq!(SCHEMA.merge(changed), changed);
        assert_eq!(
            changed.notices(SCHEMA),
            [
                "the judge refused a JSON schema for its reply, so it was asked by text that says what it must look like",
                "the judge refused `temperature`, so it was asked without: its verdicts may vary",
                "the judge refused `max_tokens`, so it was asked with `max_completion_tokens`",
                "the judge refused log probabilities of 20 alternatives, so it was asked for those of 5",
            ]
        );
        assert_eq!(SCHEMA.notices(SCHEMA), Vec::<String>::new());
    }
}
