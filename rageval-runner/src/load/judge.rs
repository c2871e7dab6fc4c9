//! Reads who judges, and how a judge is reached.

use std::{path::Path, sync::Arc, time::Duration};

use crate::{
    judge::spec::{
        ANTHROPIC, DEFAULT_MAX_IN_FLIGHT, DEFAULT_TIMEOUT, Hosted, JudgeProvider, JudgeSpec, OPENAI, ReplyMode,
    },
    model::Price,
};

use super::{
    connect::{ENV, MAX_IN_FLIGHT, PER, RUN, TIMEOUT, command, path, refuse_variables, variant, variant_fields},
    diagnostic::quoted,
    node::{Entry, Kind, Node},
    prompts,
    read::{Empty, Fields, Reader},
    secret::names_variable,
    shape::{Key, Shape, Variant},
    waive::FAMILY,
};

const NAME: Key =
    Key::optional("name", Shape::Text, "What stored replies call the judge; its address where it is left out.");
pub(crate) const BASE_URL: Key = Key::optional(
    "base_url",
    Shape::Text,
    "Where the model is asked, up to the part that all requests share; the provider's own address where it is left out.",
);
pub(crate) const MODEL: Key = Key::required("model", Shape::Text, "The model, with its dated version.");
pub(crate) const API_KEY_ENV: Key =
    Key::optional("api_key_env", Shape::Text, "The variable of the environment that holds the key.");
const TEMPERATURE: Key =
    Key::optional("temperature", Shape::Number, "The temperature of sampling; 0 where it is left out.");
const MAX_TOKENS: Key = Key::optional(
    "max_tokens",
    Shape::Count(1),
    "The longest reply in tokens; the server's own limit where it is left out, 4096 for `anthropic`.",
);
pub(crate) const REQUESTS_PER_MINUTE: Key =
    Key::optional("requests_per_minute", Shape::Count(1), "Requests sent in a minute; no limit where it is left out.");
pub(crate) const TOKENS_PER_MINUTE: Key = Key::optional(
    "tokens_per_minute",
    Shape::Count(1),
    "Tokens read and written in a minute; no limit where it is left out.",
);
const MODE: Key = Key::optional(
    "mode",
    Shape::OneOf(&["live", "cached", "replay"]),
    "How stored replies are used: `live` asks everything anew, `cached` only what is not stored, `replay` nothing. `cached` where it is left out.",
);
const REPLIES: Key = Key::optional(
    "replies",
    Shape::Text,
    "The folder of stored replies; `.rageval/replies`, which stays out of version control, where it is left out.",
);
const PRICE: Key = Key::optional(
    "price",
    Shape::Map(PRICE_KEYS),
    "What tokens cost, in US dollars for a million of them; needed for `budget.usd`.",
);
const PRICE_KEYS: &[Key] = &[
    Key::required("input", Shape::Number, "US dollars for a million tokens that the model reads."),
    Key::required("output", Shape::Number, "US dollars for a million tokens that the model writes."),
];
pub(crate) const TRY_TIMEOUT: Key = Key::optional(
    "try_timeout",
    Shape::Duration,
    "The longest time for one try of a request; half of `timeout` where it is left out.",
);

const REASONS: Key = Key::optional(
    "reasons",
    Shape::Flag,
    "Whether replies have a reason beside each verdict; `false` where it is left out.",
);
const PROMPTS: Key = Key::optional(
    "prompts",
    Shape::Text,
    "The folder of own prompts, `<request>.<language>.md`; the built-in ones where it is left out.",
);

/// What `provider` of a judge may be.
pub(crate) const PROVIDERS: &[Variant] = &[
    Variant { name: "offline", keys: &[TIMEOUT, MAX_IN_FLIGHT] },
    Variant {
        name: "scripted",
        keys: &[
            Key::required("replies", Shape::Text, "The file of replies by request name and case."),
            TIMEOUT,
            MAX_IN_FLIGHT,
        ],
    },
    Variant {
        name: "openai",
        keys: &[
            BASE_URL,
            MODEL,
            FAMILY,
            API_KEY_ENV,
            NAME,
            MODE,
            REPLIES,
            TEMPERATURE,
            MAX_TOKENS,
            PRICE,
            REQUESTS_PER_MINUTE,
            TOKENS_PER_MINUTE,
            TIMEOUT,
            TRY_TIMEOUT,
            MAX_IN_FLIGHT,
            REASONS,
            PROMPTS,
        ],
    },
    Variant {
        name: "azure",
        keys: &[
            Key::required("base_url", Shape::Text, "The address of the resource, without `/openai`."),
            MODEL,
            FAMILY,
            Key::optional("deployment", Shape::Text, "The name of the deployment; `model` where it is left out."),
            Key::required("api_version", Shape::Text, "The version of the interface, a date."),
            API_KEY_ENV,
            NAME,
            MODE,
            REPLIES,
            TEMPERATURE,
            MAX_TOKENS,
            PRICE,
            REQUESTS_PER_MINUTE,
            TOKENS_PER_MINUTE,
            TIMEOUT,
            TRY_TIMEOUT,
            MAX_IN_FLIGHT,
            REASONS,
            PROMPTS,
        ],
    },
    Variant {
        name: "anthropic",
        keys: &[
            BASE_URL,
            MODEL,
            FAMILY,
            API_KEY_ENV,
            NAME,
            MODE,
            REPLIES,
            TEMPERATURE,
            MAX_TOKENS,
            PRICE,
            REQUESTS_PER_MINUTE,
            TOKENS_PER_MINUTE,
            TIMEOUT,
            TRY_TIMEOUT,
            MAX_IN_FLIGHT,
            REASONS,
            PROMPTS,
        ],
    },
    Variant {
        name: "command",
        keys: &[
            RUN,
            PER,
            ENV,
            Key::required("model", Shape::Text, "What the program is, with its version."),
            FAMILY,
            NAME,
            MODE,
            REPLIES,
            TIMEOUT,
            MAX_IN_FLIGHT,
            REASONS,
            PROMPTS,
        ],
    },
];

/// Providers of the design that this version can't ask.
const LATER: [&str; 1] = ["local"];

/// The judge.
pub(crate) fn read(reader: &mut Reader<'_>, entry: &Entry<'_>, root: &Path) -> Option<JudgeSpec> {
    let (deciding, found) = variant(reader, entry, "provider", PROVIDERS)?;
    let Some(found) = found else {
        match &deciding.value.kind {
            Kind::Text(text) if LATER.contains(&text.as_ref()) => {
                let problem = reader
                    .problem(&deciding.value.span, format!("the provider {} is not in this version", quoted(text)))
                    .help(format!("it is one of `{}`", JudgeProvider::NAMES.join("`, `")));
                reader.problems.push(problem);
            }
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Text(_) | Kind::List(_) | Kind::Map(_) => {
                let words: Vec<_> = PROVIDERS.iter().map(|provider| (provider.name, ())).collect();
                reader.one_of(&deciding.value, "\"provider\"", &words);
            }
        }
        return None;
    };
    let mut rest = Vec::new();
    let fields = variant_fields(reader, entry, "provider", found.keys, &mut rest);
    let timeout = fields.get("timeout").and_then(|node| reader.duration(node, "\"timeout\""));
    let timeout = timeout.unwrap_or(DEFAULT_TIMEOUT);
    let provider = match found.name {
        "scripted" => fields
            .get("replies")
            .and_then(|node| path(reader, node, "\"replies\"", root))
            .map(|replies| JudgeProvider::Scripted { replies }),
        "openai" => hosted(reader, entry, &fields, timeout, Some(OPENAI)).map(Box::new).map(JudgeProvider::Openai),
        "azure" => azure(reader, entry, &fields, timeout),
        "anthropic" => {
            hosted(reader, entry, &fields, timeout, Some(ANTHROPIC)).map(Box::new).map(JudgeProvider::Anthropic)
        }
        "command" => {
            let command = command(reader, &fields, root);
            let model = text(reader, &fields, "model");
            command.zip(model).map(|(command, model)| JudgeProvider::Command { command, model })
        }
        _ => Some(JudgeProvider::Offline),
    };
    let name = text(reader, &fields, "name");
    let prompts = prompts::read(reader, &fields, root);
    let max_in_flight = fields.get("max_in_flight").and_then(|node| reader.count(node, "\"max_in_flight\"", 1));
    let mode = reply_mode(reader, &fields);
    let price = fields.get("price").and_then(|node| price(reader, node, PRICE_KEYS));
    let provider = provider?;
    let replies = match &provider {
        JudgeProvider::Offline | JudgeProvider::Scripted { .. } => None,
        JudgeProvider::Openai(_)
        | JudgeProvider::Azure { .. }
        | JudgeProvider::Anthropic(_)
        | JudgeProvider::Command { .. } => {
            fields.get("replies").and_then(|node| path(reader, node, "\"replies\"", root))
        }
    };
    Some(JudgeSpec {
        provider,
        name,
        timeout,
        mode: mode.unwrap_or(ReplyMode::Cached),
        replies,
        price,
        max_in_flight: max_in_flight.unwrap_or(DEFAULT_MAX_IN_FLIGHT),
        prompts: Arc::new(prompts),
        place: reader.source.place(entry.key_span.start),
    })
}

fn azure(
    reader: &mut Reader<'_>,
    entry: &Entry<'_>,
    fields: &Fields<'_, '_>,
    timeout: Duration,
) -> Option<JudgeProvider> {
    let hosted = hosted(reader, entry, fields, timeout, None);
    let deployment = text(reader, fields, "deployment");
    let api_version = text(reader, fields, "api_version");
    let hosted = hosted?;
    let deployment = deployment.unwrap_or_else(|| hosted.model.clone());
    Some(JudgeProvider::Azure { hosted: Box::new(hosted), deployment, api_version: api_version? })
}

/// The keys that all hosted judges share. `own` is the provider's own address, at which a key is always needed.
fn hosted(
    reader: &mut Reader<'_>,
    entry: &Entry<'_>,
    fields: &Fields<'_, '_>,
    timeout: Duration,
    own: Option<&str>,
) -> Option<Hosted> {
    let address = address(reader, entry, fields, timeout, own);
    let temperature = fields.get("temperature").and_then(|node| {
        let temperature = reader.number(node, "\"temperature\"")?;
        if temperature < 0.0 {
            reader.report(&node.span, "\"temperature\" is 0 or more");
        }
        Some(temperature)
    });
    let max_tokens = fields.get("max_tokens").and_then(|node| reader.count(node, "\"max_tokens\"", 1));
    let address = address?;
    Some(Hosted {
        base_url: address.base_url,
        model: address.model,
        api_key_env: address.api_key_env,
        temperature: temperature.unwrap_or_default(),
        max_tokens,
        requests_per_minute: address.requests_per_minute,
        tokens_per_minute: address.tokens_per_minute,
        try_timeout: address.try_timeout,
    })
}

/// Where a model is asked and within which limits, whatever it is asked for.
pub(crate) struct Address {
    pub(crate) base_url: String,
    pub(crate) model: String,
    pub(crate) api_key_env: Option<String>,
    pub(crate) requests_per_minute: Option<usize>,
    pub(crate) tokens_per_minute: Option<usize>,
    pub(crate) try_timeout: Option<Duration>,
}

/// The keys that all hosted models share, judges and embedders. `own` is the provider's own address, at which a key is always needed.
pub(crate) fn address(
    reader: &mut Reader<'_>,
    entry: &Entry<'_>,
    fields: &Fields<'_, '_>,
    timeout: Duration,
    own: Option<&str>,
) -> Option<Address> {
    let base_url = fields.get("base_url").map(|node| base_url(reader, node));
    let model = text(reader, fields, "model");
    let api_key_env = fields.get("api_key_env").and_then(|node| variable(reader, node));
    if base_url.is_none() && own.is_some() && fields.get("api_key_env").is_none() {
        let problem = reader
            .problem(&entry.key_span, "the provider's own address needs a key, and no variable is named that holds it")
            .help("add `api_key_env: NAME`, or `base_url` of a server that needs none");
        reader.problems.push(problem);
    }
    let mut count = |name: &'static str| fields.get(name).and_then(|node| reader.count(node, quoted(name), 1));
    let requests_per_minute = count("requests_per_minute");
    let tokens_per_minute = count("tokens_per_minute");
    let try_timeout = fields.get("try_timeout").and_then(|node| {
        let try_timeout = reader.duration(node, "\"try_timeout\"")?;
        if try_timeout > timeout {
            reader.report(&node.span, "\"try_timeout\" is longer than \"timeout\", which holds all tries of a request");
        }
        Some(try_timeout)
    });
    Some(Address {
        base_url: match base_url {
            Some(read) => read?,
            None => own?.to_owned(),
        },
        model: model?,
        api_key_env,
        requests_per_minute,
        tokens_per_minute,
        try_timeout,
    })
}

/// How what is stored is used, where that is said.
pub(crate) fn reply_mode(reader: &mut Reader<'_>, fields: &Fields<'_, '_>) -> Option<ReplyMode> {
    let words = ReplyMode::ALL.map(|mode| (mode.as_str(), mode));
    fields.get("mode").and_then(|node| reader.one_of(node, "\"mode\"", &words))
}

/// A price with these keys; a model that has none for `output` writes nothing.
pub(crate) fn price(reader: &mut Reader<'_>, node: &Node<'_>, keys: &'static [Key]) -> Option<Price> {
    let entries = reader.map(node, "\"price\"")?;
    let fields = reader.fields(&node.span, entries, keys, Empty::Refused);
    let mut of = |name: &'static str| {
        if !keys.iter().any(|key| key.name == name) {
            return Some(0.0);
        }
        let node = fields.get(name)?;
        let usd = reader.number(node, quoted(name))?;
        if usd < 0.0 {
            reader.report(&node.span, format!("{} is 0 or more", quoted(name)));
        }
        Some(usd)
    };
    let (input, output) = (of("input"), of("output"));
    Some(Price { input: input?, output: output? })
}

pub(crate) fn text(reader: &mut Reader<'_>, fields: &Fields<'_, '_>, name: &'static str) -> Option<String> {
    let node = fields.get(name)?;
    let text = reader.text(node, quoted(name))?;
    refuse_variables(reader, &text, &node.span);
    Some(text)
}

/// The name of a variable; a text that is none may be a key, and is not repeated.
fn variable(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<String> {
    let name = reader.text(node, "\"api_key_env\"")?;
    if names_variable(&name) {
        return Some(name);
    }
    let problem = reader
        .problem(&node.span, "\"api_key_env\" is the name of a variable of the environment, not the key itself")
        .help("as in `api_key_env: JUDGE_KEY`");
    reader.problems.push(problem);
    None
}

/// An address to which paths are added.
fn base_url(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<String> {
    let text = reader.text(node, "\"base_url\"")?;
    refuse_variables(reader, &text, &node.span);
    let parsed = reqwest::Url::parse(&text).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let Some(parsed) = parsed else {
        reader.report(&node.span, "\"base_url\" is an address that starts with `http://` or `https://`");
        return None;
    };
    if !parsed.username().is_empty() || parsed.password().is_some() {
        let problem = reader
            .problem(&node.span, "\"base_url\" holds a user name or a password")
            .help("name the variable that holds the key in `api_key_env`");
        reader.problems.push(problem);
    }
    if parsed.query().is_some() || parsed.fragment().is_some() {
        reader.report(&node.span, "\"base_url\" holds `?` or `#`; paths are added to it, so it can't");
    }
    Some(text.trim_end_matches('/').to_owned())
}
