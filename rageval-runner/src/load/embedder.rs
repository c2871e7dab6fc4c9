//! Reads who turns texts into vectors, and how it is reached.

use std::path::Path;

use crate::{
    embed::spec::{EmbedderProvider, EmbedderSpec, HostedEmbeddings},
    judge::spec::{DEFAULT_MAX_IN_FLIGHT, DEFAULT_TIMEOUT, JudgeSpec, OPENAI, ReplyMode},
    metric::{Metric, Params},
    model::{CaseBar, MetricKey},
};

use super::{
    connect::{MAX_IN_FLIGHT, TIMEOUT, path, variant, variant_fields},
    diagnostic::quoted,
    judge::{
        API_KEY_ENV, BASE_URL, MODEL, REQUESTS_PER_MINUTE, TOKENS_PER_MINUTE, TRY_TIMEOUT, address, price, reply_mode,
        text,
    },
    node::Entry,
    read::Reader,
    shape::{Key, Shape, Variant},
    source::Span,
    thresholds::Policy,
};

const NAME: Key =
    Key::optional("name", Shape::Text, "What stored replies call the embedder; its address where it is left out.");

const MODE: Key = Key::optional(
    "mode",
    Shape::OneOf(&["live", "cached", "replay"]),
    "How stored vectors are used: `live` asks for all anew, `cached` only for what is not stored, `replay` for nothing. As the judge's replies where it is left out.",
);
const REPLIES: Key = Key::optional(
    "replies",
    Shape::Text,
    "The folder of stored vectors; that of the judge's replies where it is left out, else `.rageval/replies`.",
);
const PRICE: Key = Key::optional(
    "price",
    Shape::Map(PRICE_KEYS),
    "What tokens cost, in US dollars for a million of them; needed for `budget.usd`.",
);
const PRICE_KEYS: &[Key] =
    &[Key::required("input", Shape::Number, "US dollars for a million tokens that the model reads.")];

/// What `provider` of an embedder may be.
pub(crate) const PROVIDERS: &[Variant] = &[
    Variant {
        name: "openai",
        keys: &[
            BASE_URL,
            MODEL,
            API_KEY_ENV,
            NAME,
            MODE,
            REPLIES,
            PRICE,
            REQUESTS_PER_MINUTE,
            TOKENS_PER_MINUTE,
            TIMEOUT,
            TRY_TIMEOUT,
            MAX_IN_FLIGHT,
        ],
    },
    Variant {
        name: "scripted",
        keys: &[Key::required("vectors", Shape::Text, "The file of vectors by text."), NAME, TIMEOUT, MAX_IN_FLIGHT],
    },
];

/// Whether the policy names an embedder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EmbedderStated {
    Yes,
    No,
}

/// The embedder.
///
/// Where it does not say how stored vectors are used and where they are, it does as the judge does with its replies.
pub(crate) fn read(
    reader: &mut Reader<'_>,
    entry: &Entry<'_>,
    judge: Option<&JudgeSpec>,
    root: &Path,
) -> Option<EmbedderSpec> {
    let (deciding, found) = variant(reader, entry, "provider", PROVIDERS)?;
    let Some(found) = found else {
        let words: Vec<_> = PROVIDERS.iter().map(|provider| (provider.name, ())).collect();
        reader.one_of(&deciding.value, "\"provider\"", &words);
        return None;
    };
    let mut rest = Vec::new();
    let fields = variant_fields(reader, entry, "provider", found.keys, &mut rest);
    let timeout = fields.get("timeout").and_then(|node| reader.duration(node, "\"timeout\""));
    let timeout = timeout.unwrap_or(DEFAULT_TIMEOUT);
    let provider = match found.name {
        "scripted" => fields
            .get("vectors")
            .and_then(|node| path(reader, node, "\"vectors\"", root))
            .map(|vectors| EmbedderProvider::Scripted { vectors }),
        _ => address(reader, entry, &fields, timeout, Some(OPENAI)).map(|address| {
            EmbedderProvider::Openai(Box::new(HostedEmbeddings {
                base_url: address.base_url,
                model: address.model,
                api_key_env: address.api_key_env,
                requests_per_minute: address.requests_per_minute,
                tokens_per_minute: address.tokens_per_minute,
                try_timeout: address.try_timeout,
            }))
        }),
    };
    let name = text(reader, &fields, "name");
    let max_in_flight = fields.get("max_in_flight").and_then(|node| reader.count(node, "\"max_in_flight\"", 1));
    let mode = reply_mode(reader, &fields);
    let price = fields.get("price").and_then(|node| price(reader, node, PRICE_KEYS));
    let provider = provider?;
    let replies = match &provider {
        EmbedderProvider::Scripted { .. } => None,
        EmbedderProvider::Openai(_) => {
            let named = fields.get("replies").and_then(|node| path(reader, node, "\"replies\"", root));
            named.or_else(|| judge.and_then(|judge| judge.replies.clone()))
        }
    };
    Some(EmbedderSpec {
        provider,
        name,
        timeout,
        max_in_flight: max_in_flight.unwrap_or(DEFAULT_MAX_IN_FLIGHT),
        mode: mode.or(judge.map(|judge| judge.mode)).unwrap_or(ReplyMode::Cached),
        replies,
        price,
        place: reader.source.place(entry.key_span.start),
    })
}

/// Refuses a metric that compares vectors, in a policy that names nobody to make them.
pub(crate) fn needed(
    reader: &mut Reader<'_>,
    span: &Span,
    key: &MetricKey,
    metric: &dyn Metric,
    params: &Params,
    stated: EmbedderStated,
) {
    if stated == EmbedderStated::Yes || !metric.needs_embedder(params) {
        return;
    }
    let problem = reader
        .problem(span, format!("{} needs an embedder as it is set here, and the policy names none", quoted(&key.to_string())))
        .help("add `embedder: {provider: openai, base_url: \"http://127.0.0.1:8082/v1\", model: NAME}` to thresholds.yaml");
    reader.problems.push(problem);
}

/// The same for a case, whose parameters lie over those of the policy.
pub(crate) fn needed_by_case(
    reader: &mut Reader<'_>,
    span: &Span,
    key: &MetricKey,
    metric: &dyn Metric,
    bar: &CaseBar,
    policy: &Policy,
) {
    let rule = policy.rules.metrics.get(key);
    let params = rule.map(|rule| rule.params.clone()).unwrap_or_default().overlaid(&bar.params);
    let stated = if policy.embedder.is_some() { EmbedderStated::Yes } else { EmbedderStated::No };
    needed(reader, span, key, metric, &params, stated);
}
