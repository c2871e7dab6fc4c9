//! Reads what one run may spend on models, and says where that must be stated.

use crate::{
    embed::spec::EmbedderSpec,
    judge::spec::{JudgeProvider, JudgeSpec, ReplyMode},
    model::{Budget, Place},
};

use super::{
    diagnostic::quoted,
    node::{Entry, Kind, Node},
    read::{Empty, Fields, Reader},
    shape::{Key, Shape},
    thresholds::Policy,
};

/// Keys of the budget.
pub(crate) const KEYS: &[Key] = &[
    Key::optional("requests", Shape::Count(0), "Requests, those that are sent again included."),
    Key::optional("tokens", Shape::Count(0), "Tokens, read and written."),
    Key::optional("usd", Shape::Number, "US dollars, at the prices that `judge.price` and `embedder.price` state."),
    Key::optional(
        "minutes",
        Shape::Number,
        "Minutes from the first request of the run on; calls under way are cut off.",
    ),
];

/// The budget: at least one limit.
pub(crate) fn read(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<Budget> {
    let node = &entry.value;
    let entries = reader.map(node, "\"budget\"")?;
    let fields = reader.fields(&node.span, entries, KEYS, Empty::Refused);
    if entries.is_empty() {
        let problem = reader
            .problem(&entry.key_span, "\"budget\" limits nothing")
            .help("it takes `requests`, `tokens`, `usd` and `minutes`, at least one");
        reader.problems.push(problem);
    }
    let mut count = |name: &'static str| fields.get(name).and_then(|node| reader.count(node, quoted(name), 0));
    let (requests, tokens) = (count("requests"), count("tokens"));
    let usd = fields.get("usd").and_then(|node| {
        let usd = reader.number(node, "\"usd\"")?;
        if usd < 0.0 {
            reader.report(&node.span, "\"usd\" is 0 or more");
        }
        Some(usd)
    });
    let minutes = fields.get("minutes").and_then(|node| {
        let minutes = reader.number(node, "\"minutes\"")?;
        if minutes <= 0.0 {
            reader.report(&node.span, "\"minutes\" is above 0");
        }
        Some(minutes)
    });
    let place = reader.source.place(entry.key_span.start);
    Some(Budget { requests: requests.map(|n| n as u64), tokens: tokens.map(|n| n as u64), usd, minutes, place })
}

/// Models that may cost money have a budget, and a budget in money knows what they cost.
pub(crate) fn check(
    reader: &mut Reader<'_>,
    policy: &Fields<'_, '_>,
    judge: Option<&JudgeSpec>,
    embedder: Option<&EmbedderSpec>,
) {
    let models = [
        judge.zip(policy.entry("judge")).map(|(judge, entry)| Model {
            whom: "judge",
            entry,
            may_cost: judge.is_hosted() && judge.mode != ReplyMode::Replay,
            has_price: judge.price.is_some(),
            priced_by: priced_by(&judge.provider),
        }),
        embedder.zip(policy.entry("embedder")).map(|(embedder, entry)| Model {
            whom: "embedder",
            entry,
            may_cost: embedder.is_hosted() && embedder.mode != ReplyMode::Replay,
            has_price: embedder.price.is_some(),
            priced_by: embedder.is_hosted().then_some(
                "add `price: {input: 0.02}` to `embedder`, with the US dollars for a million tokens that your provider asks",
            ),
        }),
    ];
    let budget = policy.get("budget");
    for model in models.into_iter().flatten() {
        match budget {
            None => check_stated(reader, &model),
            Some(budget) => check_price(reader, budget, &model),
        }
    }
}

/// The same for a judge that stands in a file of its own and is held to the policy's budget.
pub(crate) fn check_other(reader: &mut Reader<'_>, entry: &Entry<'_>, budget: Option<&Budget>, judge: &JudgeSpec) {
    let is_in_money = budget.is_some_and(|budget| budget.usd.is_some());
    let Some(help) = priced_by(&judge.provider).filter(|_| is_in_money && judge.price.is_none()) else { return };
    let message = "`budget.usd` of thresholds.yaml limits nothing: no `judge.price` says what a token costs";
    let problem = reader.problem(&entry.key_span, message).help(help);
    reader.problems.push(problem);
}

/// A model of the policy, as far as a budget is concerned.
struct Model<'n, 's> {
    whom: &'static str,
    entry: &'n Entry<'s>,
    /// What only replays can spend nothing.
    may_cost: bool,
    has_price: bool,
    /// What to do where a budget in money lacks its price; `None`: code costs nothing whatever the budget says.
    priced_by: Option<&'static str>,
}

fn check_stated(reader: &mut Reader<'_>, model: &Model<'_, '_>) {
    let Model { whom, entry, may_cost, .. } = model;
    if !may_cost {
        return;
    }
    let message = format!("this {whom} may cost money, and no `budget` says how much one run may spend");
    let problem = reader.problem(&entry.key_span, message).help(format!(
        "add one line beside `{whom}`, as in `budget: {{requests: 1000, minutes: 10}}`; `cargo rageval estimate` says what a run takes"
    ));
    reader.problems.push(problem);
}

fn check_price(reader: &mut Reader<'_>, budget: &Node<'_>, model: &Model<'_, '_>) {
    let Some((usd, help)) = usd(budget).zip(model.priced_by).filter(|_| !model.has_price) else { return };
    let message = format!("\"usd\" limits nothing: no `{}.price` says what a token costs", model.whom);
    let problem = reader.problem(&usd.key_span, message).help(help);
    reader.problems.push(problem);
}

fn priced_by(provider: &JudgeProvider) -> Option<&'static str> {
    match provider {
        JudgeProvider::Offline | JudgeProvider::Scripted { .. } => None,
        JudgeProvider::Command { .. } => {
            Some("a program says nothing of its tokens: limit `requests` or `minutes` in place of `usd`")
        }
        JudgeProvider::Openai(_) | JudgeProvider::Azure { .. } | JudgeProvider::Anthropic(_) => Some(
            "add `price: {input: 0.15, output: 0.60}` to `judge`, with the US dollars for a million tokens read and written that your provider asks",
        ),
    }
}

/// How what is stored is used, by whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyModes {
    /// The judge's replies.
    pub judge: ReplyMode,
    /// The embedder's vectors.
    pub embedder: ReplyMode,
}

impl Policy {
    /// As the policy says, or both as `over` does.
    pub fn reply_modes(&self, over: Option<ReplyMode>) -> ReplyModes {
        let judge = over.unwrap_or(self.judge.mode);
        let of_embedder = self.embedder.as_ref().map_or(judge, |embedder| embedder.mode);
        ReplyModes { judge, embedder: over.unwrap_or(of_embedder) }
    }

    /// A model that may cost money in these modes although the policy has no budget, and where it stands.
    pub fn unbudgeted(&self, modes: ReplyModes) -> Option<(&'static str, &Place)> {
        if self.budget.is_some() {
            return None;
        }
        if self.judge.is_hosted() && modes.judge != ReplyMode::Replay {
            return Some(("a judge", &self.judge.place));
        }
        let embedder = self.embedder.as_ref().filter(|embedder| embedder.is_hosted())?;
        (modes.embedder != ReplyMode::Replay).then_some(("an embedder", &embedder.place))
    }
}

fn usd<'n, 's>(budget: &'n Node<'s>) -> Option<&'n Entry<'s>> {
    match &budget.kind {
        Kind::Map(entries) => entries.iter().find(|entry| entry.key == "usd"),
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Text(_) | Kind::List(_) => None,
    }
}
