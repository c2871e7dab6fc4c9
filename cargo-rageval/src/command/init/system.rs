//! What answers the questions: as said by flags or on the terminal, and as it stands in `thresholds.yaml`.

use clap::ValueEnum;
use serde_json::json;

/// The four kinds of system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Kind {
    /// A Rust function, called by a test of its crate
    Function,
    /// An HTTP endpoint
    Http,
    /// A program that reads questions and writes answers, one JSON object a line
    Command,
    /// A file of recorded answers
    Recorded,
}

impl Kind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Http => "http",
            Self::Command => "command",
            Self::Recorded => "recorded",
        }
    }
}

/// What was said of it so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) kind: Option<Kind>,
    pub(super) url: Option<String>,
    pub(super) command: Vec<String>,
    pub(super) samples: Option<String>,
}

/// A system of which all is known that its entry needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum System {
    Function,
    /// Its address.
    Http(String),
    /// The program and its arguments.
    Command(Vec<String>),
    /// The file, relative to `thresholds.yaml`.
    Recorded(String),
}

impl Said {
    /// The system, or what is missing, with the flags that say it.
    pub(super) fn system(&self) -> Result<System, String> {
        let need = |flag: &str, what: &str| format!("--system needs {flag}: {what}");
        match self.kind {
            None => Err("what answers the questions? There is no terminal to ask on, so say it with one of\n  \
                 --system function\n  --url http://127.0.0.1:8080/ask\n  --command ./bin/rag\n  --samples answers.jsonl"
                .to_owned()),
            Some(Kind::Function) => Ok(System::Function),
            Some(Kind::Http) => {
                let url = self.url.as_ref().ok_or_else(|| need("--url", "the address that is asked"))?;
                address(url).map(System::Http)
            }
            Some(Kind::Command) if self.command.is_empty() => Err(need("--command", "the program and its arguments")),
            Some(Kind::Command) => Ok(System::Command(self.command.clone())),
            Some(Kind::Recorded) => {
                let samples = self
                    .samples
                    .as_ref()
                    .ok_or_else(|| need("--samples", "the file of answers; a missing one is written as an example"))?;
                Ok(System::Recorded(samples.clone()))
            }
        }
    }
}

/// An address as `thresholds.yaml` takes it; the loader of the policy is stricter, and says where.
fn address(url: &str) -> Result<String, String> {
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or_default();
    if host.is_empty() || url.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err("--url takes an address that starts with http:// or https://".to_owned());
    }
    if host.contains('@') {
        return Err("--url: user names and passwords belong into a header, from the environment: headers: {authorization: \"Bearer ${TOKEN}\"}".to_owned());
    }
    Ok(url.to_owned())
}

impl System {
    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Function => Kind::Function,
            Self::Http(_) => Kind::Http,
            Self::Command(_) => Kind::Command,
            Self::Recorded(_) => Kind::Recorded,
        }
    }

    /// Its entry in `thresholds.yaml`, with what a newcomer changes. Texts are written as JSON, which YAML holds.
    pub(super) fn yaml(&self) -> String {
        match self {
            Self::Function => {
                "# What answers: the function in tests/rag_regression.rs.\nsystem: {kind: function}\n".to_owned()
            }
            Self::Http(url) => format!(
                "# What answers. `answer` and `contexts` say where the reply has them (JSON pointers); a secret comes from the environment:\n\
                 #   headers: {{authorization: \"Bearer ${{RAG_TOKEN}}\"}}\n\
                 system:\n  kind: http\n  url: {}\n  body: {{question: \"{{{{ query }}}}\"}}\n  answer: /answer\n  contexts: {{each: /sources, id: /id, text: /text}}\n",
                json!(url)
            ),
            Self::Command(run) => {
                let words: Vec<String> = run.iter().map(|word| json!(word).to_string()).collect();
                format!(
                    "# What answers. It reads {{\"id\": ..., \"query\": ...}}, one object a line, and writes\n\
                     # {{\"id\": ..., \"response\": ..., \"retrieved_contexts\": [{{\"id\": ..., \"text\": ...}}]}}. `per: case` starts it anew for each question.\n\
                     system: {{kind: command, run: [{}], per: run}}\n",
                    words.join(", ")
                )
            }
            Self::Recorded(samples) => {
                format!(
                    "# What answers: one JSON object a line, by the id of the case.\nsystem: {{kind: recorded, samples: {}}}\n",
                    json!(samples)
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_its_flag() {
        let said = |kind| Said { kind: Some(kind), ..Said::default() };
        assert!(Said::default().system().expect_err("missing").contains("\n  --samples answers.jsonl"));
        assert!(said(Kind::Http).system().expect_err("missing").starts_with("--system needs --url: "));
        assert!(said(Kind::Command).system().expect_err("missing").starts_with("--system needs --command: "));
        assert!(said(Kind::Recorded).system().expect_err("missing").starts_with("--system needs --samples: "));
        assert_eq!(said(Kind::Function).system(), Ok(System::Function));
    }

    #[test]
    fn addresses_are_checked() {
        for good in ["http://127.0.0.1:8080/ask", "https://a.b", "http://a/@b"] {
            assert_eq!(address(good), Ok(good.to_owned()));
        }
        for bad in ["", "localhost:8080", "ftp://a", "http://", "http://a b", "http://user:secret@host/"] {
            assert!(address(bad).is_err(), "{bad}");
        }
        assert!(!address("http://user:secret@host/").expect_err("refused").contains("secret"));
    }
}
