//! What `thresholds.yaml` says of the system under test: checked, resolved, and not yet started.

use std::{collections::BTreeMap, fmt, path::PathBuf, time::Duration};

use crate::model::Place;

/// How long a system may take for one question where the policy does not say.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// How many questions are asked at once where the policy does not say.
pub const DEFAULT_MAX_IN_FLIGHT: usize = 8;

/// Names that the strings of an HTTP body may use: the case's id, the question, the language tag (empty where the case has none), and
/// its metadata by key.
pub const TEMPLATE_NAMES: [&str; 4] = ["id", "query", "language", "metadata"];

/// The system under test, as the policy describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemSpec {
    /// How it is reached.
    pub kind: SystemKind,
    /// The model that writes its answers, for the check that no judge grades its own family; `None` where undeclared.
    pub generator: Option<String>,
    /// The longest time that one question may take; above 0.
    pub timeout: Duration,
    /// Questions asked at once; at least 1.
    pub max_in_flight: usize,
    /// Where the `system` key stands; the first line of the policy where it is missing.
    pub place: Place,
}

impl SystemSpec {
    /// A function of the test binary with the default limits: what a policy without `system` means.
    pub fn function() -> Self {
        Self::of_kind(SystemKind::Function)
    }

    /// A system of this kind with the default limits and no declared generator.
    pub fn of_kind(kind: SystemKind) -> Self {
        Self {
            kind,
            generator: None,
            timeout: DEFAULT_TIMEOUT,
            max_in_flight: DEFAULT_MAX_IN_FLIGHT,
            place: Place::default(),
        }
    }
}

/// How the system is reached. Paths are absolute.
#[derive(Debug, Clone, PartialEq)]
pub enum SystemKind {
    /// A function of the test binary.
    Function,
    /// Answers that were recorded earlier.
    Recorded(RecordedSpec),
    /// A program that speaks JSON lines.
    Command(CommandSpec),
    /// An HTTP endpoint that speaks JSON.
    Http(Box<HttpSpec>),
}

impl SystemKind {
    /// The word after `kind:`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Recorded(_) => "recorded",
            Self::Command(_) => "command",
            Self::Http(_) => "http",
        }
    }
}

/// Recorded answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedSpec {
    /// A JSON-lines file keyed by case id; `None`: the answers stand in the cases themselves. Where both have one, the file's counts.
    pub samples: Option<PathBuf>,
}

/// A program that speaks JSON lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSpec {
    /// The program and its arguments; at least one. A program with a `/` in it is relative to `folder`.
    pub run: Vec<String>,
    /// How many processes.
    pub per: Per,
    /// Variables set for it, beside those it inherits.
    pub env: BTreeMap<String, String>,
    /// The folder it starts in: that of the policy.
    pub folder: PathBuf,
}

/// How many processes a command becomes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Per {
    /// One process for all cases: a line in, a line out.
    #[default]
    Run,
    /// One process for each case.
    Case,
}

/// An HTTP endpoint that speaks JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct HttpSpec {
    /// Where to send the question: `http://` or `https://`.
    pub url: String,
    /// The method.
    pub method: HttpMethod,
    /// Headers in the order of the file; names in lower case, each once.
    pub headers: Vec<(String, HeaderTemplate)>,
    /// The body: every string in it is a template over [`TEMPLATE_NAMES`]; keys, numbers and the rest are sent as they stand.
    pub body: serde_json::Value,
    /// Where the answer's text stands in the reply.
    pub answer: JsonPointer,
    /// Where the retrieved contexts stand; `None`: the endpoint does not return them.
    pub contexts: Option<ContextPointers>,
    /// Where the endpoint's own refusal flag stands.
    pub refused: Option<JsonPointer>,
    /// Where the tokens used stand.
    pub usage: Option<UsagePointers>,
    /// Where the cost in US dollars stands.
    pub cost: Option<JsonPointer>,
    /// Where the model that wrote the answer stands.
    pub model: Option<JsonPointer>,
}

/// The method of a request that carries a body.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HttpMethod {
    /// `POST`.
    #[default]
    Post,
    /// `PUT`.
    Put,
    /// `PATCH`.
    Patch,
}

impl HttpMethod {
    /// Every method.
    pub const ALL: [Self; 3] = [Self::Post, Self::Put, Self::Patch];

    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
        }
    }
}

/// Where retrieved contexts stand in a reply. The pointers of a context start at its entry, not at the reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextPointers {
    /// The list, from the top of the reply.
    pub each: JsonPointer,
    /// The document's id in an entry; `None`: entries have none.
    pub id: Option<JsonPointer>,
    /// The text in an entry; the empty pointer where entries are texts themselves.
    pub text: JsonPointer,
    /// The retriever's score in an entry.
    pub score: Option<JsonPointer>,
}

/// Where the tokens used stand in a reply; at least one of the two is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsagePointers {
    /// Tokens read.
    pub input_tokens: Option<JsonPointer>,
    /// Tokens written.
    pub output_tokens: Option<JsonPointer>,
}

/// A JSON pointer (RFC 6901): empty for the whole value, else parts that each start with `/`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JsonPointer(String);

/// Why a text is no JSON pointer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PointerError {
    /// It does not start with `/`.
    #[error("a JSON pointer is empty or starts with `/`, as in `/answer`")]
    Start,
    /// A `~` that is not `~0` or `~1`.
    #[error("in a JSON pointer `~` is written `~0` and a `/` within a key `~1`")]
    Escape,
}

impl JsonPointer {
    /// Checks the syntax.
    pub fn new(text: impl Into<String>) -> Result<Self, PointerError> {
        let text = text.into();
        if !text.is_empty() && !text.starts_with('/') {
            return Err(PointerError::Start);
        }
        if text.split('~').skip(1).any(|after| !after.starts_with(['0', '1'])) {
            return Err(PointerError::Escape);
        }
        Ok(Self(text))
    }

    /// The value it points to; `None` where there is none.
    pub fn find<'v>(&self, value: &'v serde_json::Value) -> Option<&'v serde_json::Value> {
        value.pointer(&self.0)
    }

    /// The pointer as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for JsonPointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A header's value in which `${NAME}` stands for a variable of the environment. Holds no value of any variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderTemplate(Vec<HeaderPart>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum HeaderPart {
    Text(String),
    Variable(String),
}

/// Why a text is no header value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// `${` without `}`.
    #[error("`${{` without a closing `}}`")]
    Open,
    /// What stands between the braces is no name of a variable.
    #[error("`${{{0}}}` is no variable: a name is letters, digits and `_`, and does not start with a digit")]
    Name(String),
    /// A character that headers must not hold.
    #[error("a header's value must not hold control characters, this one has U+{0:04X}")]
    Control(u32),
}

impl HeaderTemplate {
    /// Reads text with `${NAME}` in it. A `$` before anything but `{` is itself.
    pub fn parse(text: &str) -> Result<Self, HeaderError> {
        if let Some(control) = text.chars().find(|c| c.is_control() && *c != '\t') {
            return Err(HeaderError::Control(u32::from(control)));
        }
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            let (name, after) = after.split_once('}').ok_or(HeaderError::Open)?;
            if !is_variable(name) {
                return Err(HeaderError::Name(name.to_owned()));
            }
            if !before.is_empty() {
                parts.push(HeaderPart::Text(before.to_owned()));
            }
            parts.push(HeaderPart::Variable(name.to_owned()));
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(HeaderPart::Text(rest.to_owned()));
        }
        Ok(Self(parts))
    }

    /// The variables it needs, in order.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            HeaderPart::Variable(name) => Some(name.as_str()),
            HeaderPart::Text(_) => None,
        })
    }

    /// The value with every variable put in by `lookup`; `Err` names the first one that it does not know.
    pub fn expand(&self, lookup: impl Fn(&str) -> Option<String>) -> Result<String, String> {
        let mut value = String::new();
        for part in &self.0 {
            match part {
                HeaderPart::Text(text) => value.push_str(text),
                HeaderPart::Variable(name) => value.push_str(&lookup(name).ok_or_else(|| name.clone())?),
            }
        }
        Ok(value)
    }
}

/// Whether this is a name that every shell can set.
pub fn is_variable(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name.chars().next().is_some_and(|first| !first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_follow_the_rfc() {
        for good in ["", "/", "/answer", "/a~1b", "/m~0n", "/0/text", "//"] {
            assert_eq!(JsonPointer::new(good).map(|p| p.to_string()), Ok(good.to_owned()));
        }
        assert_eq!(JsonPointer::new("answer"), Err(PointerError::Start));
        assert_eq!(JsonPointer::new("$.answer"), Err(PointerError::Start));
        for bad in ["/a~", "/a~2", "/~~0"] {
            assert_eq!(JsonPointer::new(bad), Err(PointerError::Escape), "{bad}");
        }
    }

    #[test]
    fn a_header_takes_its_variables_from_the_lookup() {
        let header = HeaderTemplate::parse("Bearer ${RAG_TOKEN}:$5 ${B}").expect("a valid value");
        assert_eq!(header.variables().collect::<Vec<_>>(), ["RAG_TOKEN", "B"]);
        let known = |name: &str| (name == "RAG_TOKEN").then(|| "secret".to_owned());
        assert_eq!(header.expand(known), Err("B".to_owned()));
        assert_eq!(header.expand(|name| Some(name.to_lowercase())), Ok("Bearer rag_token:$5 b".to_owned()));
    }

    #[test]
    fn a_header_that_could_not_be_sent_is_refused() {
        assert_eq!(HeaderTemplate::parse("Bearer ${TOKEN"), Err(HeaderError::Open));
        for name in ["", "1A", "A-B", "A B", "A$"] {
            assert_eq!(HeaderTemplate::parse(&format!("${{{name}}}")), Err(HeaderError::Name(name.to_owned())));
        }
        assert_eq!(HeaderTemplate::parse("a\r\nb"), Err(HeaderError::Control(0x0d)));
    }
}
