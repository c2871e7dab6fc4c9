//! Reads what the policy says so that its judge can be trusted: waivers, and the families of judge and generator.

use jiff::civil::Date;

use crate::trust::{
    Party, Waivable, Waiver,
    family::{NO_MODEL, of_name},
};

use super::{
    diagnostic::quoted,
    node::{Entry, Kind, Node},
    read::{Empty, Reader},
    shape::{Key, Need, Shape},
};

pub(crate) const FAMILY: Key = Key::optional(
    "family",
    Shape::Text,
    "The family of the model, where its name does not tell: no judge grades its own. `none` for what is no model.",
);

/// What can be waived.
pub(crate) const KEYS: &[Key] = &[
    Key::optional(
        "alias",
        Shape::Map(WAIVER),
        "That the provider moves the name of the judge's model to other models.",
    ),
    Key::optional("family", Shape::Map(WAIVER), "That the judge and the generator are of one family."),
    Key::optional(
        "generator",
        Shape::Map(WAIVER),
        "That nobody says which model writes the answers, or that `system.generator` and the system say different ones.",
    ),
    Key::optional("calibration", Shape::Map(WAIVER), "That the judge is not calibrated; nothing checks that yet."),
];

const WAIVER: &[Key] = &[
    Key::required("reason", Shape::Text, "Why; it is printed on every run."),
    Key::required("until", Shape::Date, "The last day on which it holds, in UTC, as in `2026-12-31`."),
];

/// The one provider that takes a family and may ask no model.
const JUDGE_THAT_MAY_BE_CODE: &str = "command";

/// The waivers, in the order of [`Waivable::ALL`].
pub(crate) fn waivers(reader: &mut Reader<'_>, node: &Node<'_>) -> Vec<Waiver> {
    let Some(entries) = reader.map(node, "\"waive\"") else { return Vec::new() };
    let fields = reader.fields(&node.span, entries, KEYS, Empty::Refused);
    let of = |what: Waivable| Some((what, fields.entry(what.as_str())?));
    Waivable::ALL.into_iter().filter_map(of).filter_map(|(what, entry)| waiver(reader, what, entry)).collect()
}

fn waiver(reader: &mut Reader<'_>, what: Waivable, entry: &Entry<'_>) -> Option<Waiver> {
    let entries = reader.map(&entry.value, quoted(&entry.key))?;
    let fields = reader.fields(&entry.value.span, entries, WAIVER, Empty::Refused);
    let reason = fields.get("reason").and_then(|node| reader.text(node, "\"reason\""));
    let until = fields.get("until").and_then(|node| date(reader, node));
    Some(Waiver { what, reason: reason?, until: until?, place: reader.source.place(entry.key_span.start) })
}

/// A day of the calendar: year, month and day with `-` between them, and nothing else.
fn date(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<Date> {
    const LONG: usize = "2026-12-31".len();
    let text = match &node.kind {
        Kind::Text(text) | Kind::Number(text) => text.as_ref(),
        Kind::Null | Kind::Bool(_) | Kind::List(_) | Kind::Map(_) => "",
    };
    let date = text.parse::<Date>().ok().filter(|_| text.len() == LONG);
    if date.is_none() {
        reader.report(&node.span, "\"until\" is a day of the calendar, as in `2026-12-31`");
    }
    date
}

/// What the map under `judge` or `system` says of a family, beside the model under `named`. What is no such map is reported where it is
/// read, and so is a model that is required and missing.
pub(crate) fn party(reader: &mut Reader<'_>, entry: &Entry<'_>, named: &Key) -> Party {
    let place = reader.source.place(entry.key_span.start);
    Party { family: family(reader, entry, named), place }
}

fn family(reader: &mut Reader<'_>, entry: &Entry<'_>, named: &Key) -> Option<String> {
    let Kind::Map(entries) = &entry.value.kind else { return None };
    let of = |key: &str| entries.iter().find(|entry| entry.key == key && entry.value.kind != Kind::Null);
    let family = of(FAMILY.name)?;
    let word = reader.text(&family.value, "\"family\"")?;
    let is_none = word.trim().eq_ignore_ascii_case(NO_MODEL);
    if let Some(Kind::Text(provider)) = of("provider").map(|provider| &provider.value.kind)
        && is_none
        && provider != JUDGE_THAT_MAY_BE_CODE
    {
        let why =
            format!("\"family\" says that the judge is no model, and one of the provider {} is", quoted(provider));
        reader.report(&family.value.span, why);
        return None;
    }
    match of(named.name).map(|model| &model.value.kind) {
        Some(Kind::Text(model)) if is_none => {
            let told: Vec<String> = of_name(model).into_iter().collect();
            if !told.is_empty() {
                let told = told.join(", ");
                let why = format!("\"family\" says that {} is no model, and its name says {told}", quoted(model));
                reader.report(&family.value.span, why);
            }
        }
        None if named.need == Need::Optional => {
            let why = format!("\"family\" is that of {}, which is missing", quoted(named.name));
            let problem = reader.problem(&family.key_span, why).help(format!("add `{}: NAME` beside it", named.name));
            reader.problems.push(problem);
        }
        Some(_) | None => {}
    }
    Some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_are_what_can_be_waived() {
        let keys: Vec<_> = KEYS.iter().map(|key| key.name).collect();
        assert_eq!(keys, Waivable::ALL.map(Waivable::as_str));
    }
}
