//! Reads how an HTTP endpoint is asked, and where in its reply the answer stands.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::system::spec::{ContextPointers, HeaderTemplate, HttpMethod, HttpSpec, TEMPLATE_NAMES, UsagePointers};

use super::{
    connect::{GENERATOR, MAX_IN_FLIGHT, TIMEOUT, refuse_variables},
    diagnostic::{did_you_mean, quoted},
    node::{Entry, Kind, Node},
    read::{Empty, Fields, Reader},
    shape::{Key, Shape},
    source::Span,
    waive::FAMILY,
};

/// Keys of an HTTP system beside `kind`.
pub(crate) const KEYS: &[Key] = &[
    Key::required("url", Shape::Text, "Where to send the question."),
    Key::optional("method", Shape::OneOf(&["POST", "PUT", "PATCH"]), "The method; `POST` where it is left out."),
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
    Key::optional("model", Shape::Pointer, "Where the model that wrote the answer stands in the reply."),
    GENERATOR,
    FAMILY,
    TIMEOUT,
    MAX_IN_FLIGHT,
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

/// Reads an HTTP system.
pub(crate) fn read(reader: &mut Reader<'_>, fields: &Fields<'_, '_>) -> Option<HttpSpec> {
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
    let model = fields.get("model").and_then(|node| reader.pointer(node, "\"model\""));
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
        model,
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
    let value = reader.word(&entry.value, quoted(&entry.key))?;
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

/// A number as JSON has it; one that JSON does not have is reported.
pub(crate) fn number(reader: &mut Reader<'_>, text: &str, span: &Span) -> Value {
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
