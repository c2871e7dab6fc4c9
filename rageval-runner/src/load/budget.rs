//! Reads what one run may spend on models, and says where that must be stated.

use crate::{
    judge::spec::{JudgeSpec, ReplyMode},
    model::Budget,
};

use super::{
    diagnostic::quoted,
    node::{Entry, Kind, Node},
    read::{Empty, Fields, Reader},
    shape::{Key, Shape},
};

/// Keys of the budget.
pub(crate) const KEYS: &[Key] = &[
    Key::optional("requests", Shape::Count(0), "Requests, those that are sent again included."),
    Key::optional("tokens", Shape::Count(0), "Tokens, read and written."),
    Key::optional("usd", Shape::Number, "US dollars, at the price that `judge.price` states."),
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

/// A judge that may cost money has a budget, and a budget in money knows what the judge costs.
pub(crate) fn check(reader: &mut Reader<'_>, policy: &Fields<'_, '_>, judge: Option<&JudgeSpec>) {
    let Some((judge, entry)) = judge.zip(policy.entry("judge")) else { return };
    match policy.get("budget") {
        // What only replays can spend nothing.
        None if judge.is_hosted() && judge.mode != ReplyMode::Replay => {
            let message = "this judge may cost money, and no `budget` says how much one run may spend";
            let problem = reader
                .problem(&entry.key_span, message)
                .help("add one line beside `judge`, as in `budget: {requests: 1000, minutes: 10}`; `cargo rageval estimate` says what a run takes");
            reader.problems.push(problem);
        }
        None => {}
        Some(budget) => {
            if let Some(usd) = usd(budget).filter(|_| judge.price.is_none()) {
                check_price(reader, usd, judge);
            }
        }
    }
}

fn check_price(reader: &mut Reader<'_>, usd: &Entry<'_>, judge: &JudgeSpec) {
    use crate::judge::spec::JudgeProvider as Provider;
    let help = match &judge.provider {
        // Judges that are code cost nothing whatever the budget says.
        Provider::Offline | Provider::Scripted { .. } => return,
        Provider::Command { .. } => {
            "a program says nothing of its tokens: limit `requests` or `minutes` in place of `usd`"
        }
        Provider::Openai(_) | Provider::Azure { .. } | Provider::Anthropic(_) => {
            "add `price: {input: 0.15, output: 0.60}` to `judge`, with the US dollars for a million tokens read and written that your provider asks"
        }
    };
    let problem =
        reader.problem(&usd.key_span, "\"usd\" limits nothing: no `judge.price` says what a token costs").help(help);
    reader.problems.push(problem);
}

fn usd<'n, 's>(budget: &'n Node<'s>) -> Option<&'n Entry<'s>> {
    match &budget.kind {
        Kind::Map(entries) => entries.iter().find(|entry| entry.key == "usd"),
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Text(_) | Kind::List(_) => None,
    }
}
