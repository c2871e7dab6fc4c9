//! Reads how the system and the judge are reached.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use serde_json::Value;

use crate::{
    judge::spec::{
        DEFAULT_MAX_IN_FLIGHT as JUDGE_MAX_IN_FLIGHT, DEFAULT_TIMEOUT as JUDGE_TIMEOUT, JudgeProvider, JudgeSpec,
    },
    system::spec::{
        CommandSpec, ContextPointers, DEFAULT_MAX_IN_FLIGHT, DEFAULT_TIMEOUT, HeaderTemplate, HttpMethod, HttpSpec,
        Per, RecordedSpec, SystemKind, SystemSpec, TEMPLATE_NAMES, UsagePointers, is_variable,
    },
};

use super::{
    diagnostic::{did_you_mean, quoted},
    node::{Entry, Kind, Node},
    read::{Empty, Fields, Reader},
    shape::{Key, Shape, Variant},
    source::Span,
};

const GENERATOR: Key = Key::optional(
    "generator",
    Shape::Text,
    "The model that writes the answers, so that no judge grades its own family.",
);
const TIMEOUT: Key =
    Key::optional("timeout", Shape::Duration, "The longest time for one answer; `60s` where it is left out.");
const MAX_IN_FLIGHT: Key =
    Key::optional("max_in_flight", Shape::Count(1), "How many are asked at once; 8 where it is left out.");

/// What `kind` of a system may be.
pub(crate) const SYSTEM_KINDS: &[Variant] = &[
    Variant { name: "function", keys: &[GENERATOR, TIMEOUT, MAX_IN_FLIGHT] },
    Variant {
        name: "recorded",
        keys: &[
            Key::optional(
                "samples",
                Shape::Text,
                "A JSON-lines file of answers by case id; left out where they stand in the cases themselves.",
            ),
            GENERATOR,
            TIMEOUT,
            MAX_IN_FLIGHT,
        ],
    },
    Variant {
        name: "command",
        keys: &[
            Key::required("run", Shape::List(&Shape::Text), "The program and its arguments."),
            Key::optional(
                "per",
                Shape::OneOf(&["run", "case"]),
                "`run`: one process for all cases, a JSON line each; `case`: one process for each. `run` where it is left out.",
            ),
            Key::optional("env", Shape::MapOf(&Shape::Word), "Variables set for the program."),
            GENERATOR,
            TIMEOUT,
            MAX_IN_FLIGHT,
        ],
    },
    Variant {
        name: "http",
        keys: &[
            Key::required("url", Shape::Text, "Where to send the question."),
            Key::optional(
                "method",
                Shape::OneOf(&["POST", "PUT", "PATCH"]),
                "The method; `POST` where it is left out.",
            ),
            Key::optional(
                "headers",
                Shape::MapOf(&Shape::Text),
                "Headers; `${NAME}` in a value is taken from the environment.",
            ),
            Key::required("body", Shape::Any, "The JSON to send; `{{ query }}` in its texts is the question."),
            Key::required("answer", Shape::Pointer, "Where the answer stands in the reply."),
            Key::optional("contexts", Shape::Map(CONTEXTS), "Where the retrieved contexts stand in the reply."),
            Key::optional("refused", Shape::Pointer, "Where the system's own refusal flag stands in the reply."),
            Key::optional("usage", Shape::Map(USAGE), "Where the tokens used stand in the reply."),
            Key::optional("cost", Shape::Pointer, "Where the cost in US dollars stands in the reply."),
            GENERATOR,
            TIMEOUT,
            MAX_IN_FLIGHT,
        ],
    },
];

const CONTEXTS: &[Key] = &[
    Key::required("each", Shape::Pointer, "The list of contexts in the reply."),
    Key::optional("id", Shape::Pointer, "The document's id in a context."),
    Key::required("text", Shape::Pointer, "The text in a context; `\"\"` where contexts are texts themselves."),
    Key::optional("score", Shape::Pointer, "The retriever's score in a context."),
];

const USAGE: &[Key] = &[
    Key::optional("input_tokens", Shape::Pointer, "Tokens read."),
    Key::optional("output_tokens", Shape::Pointer, "Tokens written."),
];

/// What `provider` of a judge may be.
pub(crate) const JUDGE_PROVIDERS: &[Variant] = &[
    Variant { name: "offline", keys: &[TIMEOUT, MAX_IN_FLIGHT] },
    Variant {
        name: "scripted",
        keys: &[
            Key::required("replies", Shape::Text, "The file of replies by request name and case."),
            TIMEOUT,
            MAX_IN_FLIGHT,
        ],
    },
];

/// Providers of the design that this version can't ask.
const LATER_PROVIDERS: [&str; 5] = ["openai", "azure", "anthropic", "command", "local"];

/// A map whose keys depend on one of them: the word under that key, the entries without it, and the keys that go with the word.
fn variant<'n, 's>(
    reader: &mut Reader<'_>,
    entry: &'n Entry<'s>,
    by: &'static str,
    variants: &'static [Variant],
) -> Option<(&'n Entry<'s>, Option<&'static Variant>)> {
    let what = quoted(&entry.key);
    let entries = reader.map(&entry.value, &what)?;
    let Some(deciding) = entries.iter().find(|entry| entry.key == by) else {
        let known = std::iter::once(by).chain(variants.iter().flat_map(|variant| variant.keys).map(|key| key.name));
        let known: BTreeSet<_> = known.collect();
        for entry in entries.iter().filter(|entry| !known.contains(entry.key.as_ref())) {
            reader.unknown_key(entry, known.iter().copied());
        }
        let names = variants.iter().map(|variant| format!("`{}`", variant.name)).collect::<Vec<_>>().join(", ");
        let start = entry.key_span.clone();
        let problem = reader.problem(&start, format!("{what} has no \"{by}\"")).help(format!("it is one of {names}"));
        reader.problems.push(problem);
        return None;
    };
    let found = match &deciding.value.kind {
        Kind::Text(text) => variants.iter().find(|variant| variant.name == text.as_ref()),
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::List(_) | Kind::Map(_) => None,
    };
    Some((deciding, found))
}

/// The keys of a variant, each with its entry.
fn variant_fields<'n, 's>(
    reader: &mut Reader<'_>,
    entry: &'n Entry<'s>,
    by: &str,
    keys: &'static [Key],
    rest: &'n mut Vec<Entry<'s>>,
) -> Fields<'n, 's> {
    if let Kind::Map(entries) = &entry.value.kind {
        rest.extend(entries.iter().filter(|entry| entry.key != by).cloned());
    }
    reader.fields(&entry.value.span, rest, keys, Empty::Refused)
}

/// The system under test.
pub(crate) fn system(reader: &mut Reader<'_>, entry: &Entry<'_>, root: &Path) -> Option<SystemSpec> {
    let (deciding, found) = variant(reader, entry, "kind", SYSTEM_KINDS)?;
    let Some(found) = found else {
        let words: Vec<_> = SYSTEM_KINDS.iter().map(|kind| (kind.name, ())).collect();
        reader.one_of(&deciding.value, "\"kind\"", &words);
        return None;
    };
    let mut rest = Vec::new();
    let fields = variant_fields(reader, entry, "kind", found.keys, &mut rest);
    let kind = match found.name {
        "recorded" => Some(SystemKind::Recorded(RecordedSpec {
            samples: fields.get("samples").and_then(|node| path(reader, node, "\"samples\"", root)),
        })),
        "command" => command(reader, &fields, root).map(SystemKind::Command),
        "http" => http(reader, &fields).map(|http| SystemKind::Http(Box::new(http))),
        _ => Some(SystemKind::Function),
    };
    let generator = fields.get("generator").and_then(|node| reader.text(node, "\"generator\""));
    let timeout = fields.get("timeout").and_then(|node| reader.duration(node, "\"timeout\""));
    let max_in_flight = fields.get("max_in_flight").and_then(|node| reader.count(node, "\"max_in_flight\"", 1));
    Some(SystemSpec {
        kind: kind?,
        generator,
        timeout: timeout.unwrap_or(DEFAULT_TIMEOUT),
        max_in_flight: max_in_flight.unwrap_or(DEFAULT_MAX_IN_FLIGHT),
        place: reader.source.place(entry.key_span.start),
    })
}

/// The judge.
pub(crate) fn judge(reader: &mut Reader<'_>, entry: &Entry<'_>, root: &Path) -> Option<JudgeSpec> {
    let (deciding, found) = variant(reader, entry, "provider", JUDGE_PROVIDERS)?;
    let Some(found) = found else {
        match &deciding.value.kind {
            Kind::Text(text) if LATER_PROVIDERS.contains(&text.as_ref()) => {
                let problem = reader
                    .problem(&deciding.value.span, format!("the provider {} is not in this version", quoted(text)))
                    .help(format!("it is one of `{}`", JudgeProvider::NAMES.join("`, `")));
                reader.problems.push(problem);
            }
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Text(_) | Kind::List(_) | Kind::Map(_) => {
                let words: Vec<_> = JUDGE_PROVIDERS.iter().map(|provider| (provider.name, ())).collect();
                reader.one_of(&deciding.value, "\"provider\"", &words);
            }
        }
        return None;
    };
    let mut rest = Vec::new();
    let fields = variant_fields(reader, entry, "provider", found.keys, &mut rest);
    let provider = match found.name {
        "scripted" => fields
            .get("replies")
            .and_then(|node| path(reader, node, "\"replies\"", root))
            .map(|replies| JudgeProvider::Scripted { replies }),
        _ => Some(JudgeProvider::Offline),
    };
    let timeout = fields.get("timeout").and_then(|node| reader.duration(node, "\"timeout\""));
    let max_in_flight = fields.get("max_in_flight").and_then(|node| reader.count(node, "\"max_in_flight\"", 1));
    Some(JudgeSpec {
        provider: provider?,
        timeout: timeout.unwrap_or(JUDGE_TIMEOUT),
        max_in_flight: max_in_flight.unwrap_or(JUDGE_MAX_IN_FLIGHT),
        place: reader.source.place(entry.key_span.start),
    })
}

fn path(reader: &mut Reader<'_>, node: &Node<'_>, what: &str, root: &Path) -> Option<std::path::PathBuf> {
    let text = reader.text(node, what)?;
    refuse_variables(reader, &text, &node.span);
    Some(root.join(text))
}

/// Reports `${NAME}` where nothing reads it: it would be used as it stands.
pub(crate) fn refuse_variables(reader: &mut Reader<'_>, text: &str, span: &Span) {
    let named = text.split("${").skip(1).any(|rest| rest.split_once('}').is_some_and(|(name, _)| is_variable(name)));
    if named {
        reader.report(span, "`${NAME}` is read only in the values of `headers`");
    }
}

fn command(reader: &mut Reader<'_>, fields: &Fields<'_, '_>, root: &Path) -> Option<CommandSpec> {
    let mut run = Vec::new();
    if let Some(node) = fields.get("run") {
        let items = reader.list(node, "\"run\"")?;
        if items.is_empty() {
            reader.report(&node.span, "\"run\" names no program");
        }
        for (at, item) in items.iter().enumerate() {
            // An argument may be empty, the program may not.
            let word = if at == 0 { reader.text(item, "the program") } else { reader.any_word(item, "an argument") };
            if let Some(word) = word {
                refuse_variables(reader, &word, &item.span);
                run.push(word);
            }
        }
    }
    let per =
        fields.get("per").and_then(|node| reader.one_of(node, "\"per\"", &[("run", Per::Run), ("case", Per::Case)]));
    let mut env = BTreeMap::new();
    for entry in fields.get("env").and_then(|node| reader.map(node, "\"env\"")).unwrap_or_default() {
        if !is_variable(&entry.key) {
            reader.report(&entry.key_span, format!("{} is no name of a variable", quoted(&entry.key)));
        }
        if let Some(value) = reader.any_word(&entry.value, &quoted(&entry.key)) {
            refuse_variables(reader, &value, &entry.value.span);
            env.insert(entry.key.to_string(), value);
        }
    }
    (!run.is_empty()).then(|| CommandSpec { run, per: per.unwrap_or_default(), env, folder: root.to_owned() })
}

fn http(reader: &mut Reader<'_>, fields: &Fields<'_, '_>) -> Option<HttpSpec> {
    let url = fields.get("url").and_then(|node| url(reader, node));
    let methods = HttpMethod::ALL.map(|method| (method.as_str(), method));
    let method = fields.get("method").and_then(|node| reader.one_of(node, "\"method\"", &methods));
    let mut headers: Vec<(String, HeaderTemplate)> = Vec::new();
    for entry in fields.get("headers").and_then(|node| reader.map(node, "\"headers\"")).unwrap_or_default() {
        if let Some(header) = header(reader, entry) {
            if headers.iter().any(|(name, _)| *name == header.0) {
                reader.report(&entry.key_span, format!("the header {} stands twice", quoted(&header.0)));
            } else {
                headers.push(header);
            }
        }
    }
    let body = fields.get("body").map(|node| body(reader, node));
    let answer = fields.get("answer").and_then(|node| reader.pointer(node, "\"answer\""));
    let contexts = fields.get("contexts").and_then(|node| contexts(reader, node));
    let refused = fields.get("refused").and_then(|node| reader.pointer(node, "\"refused\""));
    let usage = fields.get("usage").and_then(|node| usage(reader, node));
    let cost = fields.get("cost").and_then(|node| reader.pointer(node, "\"cost\""));
    Some(HttpSpec {
        url: url?,
        method: method.unwrap_or_default(),
        headers,
        body: body?,
        answer: answer?,
        contexts,
        refused,
        usage,
        cost,
    })
}

fn url(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<String> {
    let text = reader.text(node, "\"url\"")?;
    refuse_variables(reader, &text, &node.span);
    let parsed = reqwest::Url::parse(&text).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let Some(parsed) = parsed else {
        reader.report(&node.span, "\"url\" is an address that starts with `http://` or `https://`");
        return None;
    };
    if !parsed.username().is_empty() || parsed.password().is_some() {
        let problem = reader
            .problem(&node.span, "\"url\" holds a user name or a password")
            .help("send it in a header, as in `headers: {authorization: \"Basic ${NAME}\"}`");
        reader.problems.push(problem);
    }
    Some(text)
}

fn header(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<(String, HeaderTemplate)> {
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if entry.key.is_empty() || !entry.key.chars().all(token) {
        reader.report(&entry.key_span, format!("{} is no name of a header", quoted(&entry.key)));
        return None;
    }
    let value = reader.word(&entry.value, &quoted(&entry.key))?;
    match HeaderTemplate::parse(&value) {
        Ok(template) => Some((entry.key.to_ascii_lowercase(), template)),
        Err(error) => {
            reader.report(&entry.value.span, format!("{}: {error}", quoted(&entry.key)));
            None
        }
    }
}

/// The body to send. It must hold the question somewhere, else the system would never see it.
fn body(reader: &mut Reader<'_>, node: &Node<'_>) -> Value {
    let mut names = BTreeSet::new();
    let body = template(reader, node, &mut names);
    if !names.contains("query") {
        let problem = reader
            .problem(&node.span, "\"body\" does not hold the question")
            .help("put it where the system expects it, as in `body: {question: \"{{ query }}\"}`");
        reader.problems.push(problem);
    }
    body
}

fn template(reader: &mut Reader<'_>, node: &Node<'_>, names: &mut BTreeSet<String>) -> Value {
    match &node.kind {
        Kind::Null => Value::Null,
        Kind::Bool(yes) => Value::Bool(*yes),
        Kind::Number(text) => number(reader, text, &node.span),
        Kind::Text(text) => {
            refuse_variables(reader, text, &node.span);
            names_of_template(reader, text, &node.span, names);
            Value::String(text.to_string())
        }
        Kind::List(items) => Value::Array(items.iter().map(|item| template(reader, item, names)).collect()),
        Kind::Map(entries) => Value::Object(
            entries.iter().map(|entry| (entry.key.to_string(), template(reader, &entry.value, names))).collect(),
        ),
    }
}

fn number(reader: &mut Reader<'_>, text: &str, span: &Span) -> Value {
    if let Ok(number) = serde_json::from_str::<serde_json::Number>(text) {
        return Value::Number(number);
    }
    let problem = reader
        .problem(span, format!("{} is no number of JSON", quoted(text)))
        .help("write it in decimal digits, or quote it");
    reader.problems.push(problem);
    Value::Null
}

fn names_of_template(reader: &mut Reader<'_>, text: &str, span: &Span, names: &mut BTreeSet<String>) {
    if !text.contains('{') {
        return;
    }
    let environment = minijinja::Environment::new();
    match environment.template_from_str(text) {
        Ok(template) => {
            let mut used: Vec<_> = template.undeclared_variables(false).into_iter().collect();
            used.sort();
            for name in used {
                if !TEMPLATE_NAMES.contains(&name.as_str()) {
                    let help = did_you_mean(&name, TEMPLATE_NAMES)
                        .unwrap_or_else(|| format!("it is one of {}", TEMPLATE_NAMES.join(", ")));
                    let problem =
                        reader.problem(span, format!("unknown name {} in a template", quoted(&name))).help(help);
                    reader.problems.push(problem);
                }
                names.insert(name);
            }
        }
        Err(error) => {
            let why = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
            reader.report(span, format!("this is no template: {why}"));
        }
    }
}

fn contexts(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<ContextPointers> {
    let entries = reader.map(node, "\"contexts\"")?;
    let fields = reader.fields(&node.span, entries, CONTEXTS, Empty::Refused);
    let each = fields.get("each").and_then(|node| reader.pointer(node, "\"each\""));
    let id = fields.get("id").and_then(|node| reader.pointer(node, "\"id\""));
    let text = fields.get("text").and_then(|node| reader.pointer(node, "\"text\""));
    let score = fields.get("score").and_then(|node| reader.pointer(node, "\"score\""));
    Some(ContextPointers { each: each?, id, text: text?, score })
}

fn usage(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<UsagePointers> {
    let entries = reader.map(node, "\"usage\"")?;
    let fields = reader.fields(&node.span, entries, USAGE, Empty::Refused);
    if entries.is_empty() {
        reader.report(&node.span, "\"usage\" points nowhere");
    }
    Some(UsagePointers {
        input_tokens: fields.get("input_tokens").and_then(|node| reader.pointer(node, "\"input_tokens\"")),
        output_tokens: fields.get("output_tokens").and_then(|node| reader.pointer(node, "\"output_tokens\"")),
    })
}
