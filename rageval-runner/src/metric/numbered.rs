//! Reads replies in which every number that was asked about must stand exactly once.

use serde_json::{Map, Value};

/// One object of a reply, with its place for error texts. Fields that nobody asked for are ignored; wrong types are refused.
#[derive(Debug, Clone, PartialEq)]
pub struct Part<'a> {
    place: String,
    fields: &'a Map<String, Value>,
}

/// The entries of `list` in the reply, in the order of their numbers `n`, which must be exactly 1 to `count`.
///
/// # Errors
/// Why the reply does not fit: no such list, an entry without a number, a number missing, repeated or never asked about.
pub fn entries<'a>(reply: &'a Value, list: &str, count: usize) -> Result<Vec<Part<'a>>, String> {
    let items = match reply.get(list) {
        Some(Value::Array(items)) => items,
        Some(other) => return Err(format!("`{list}` is {}, not a list", type_name(other))),
        None if reply.is_object() => return Err(format!("`{list}` is missing")),
        None => return Err(format!("the reply is {}, not an object", type_name(reply))),
    };
    let mut slots: Vec<Option<Part<'a>>> = Vec::new();
    slots.resize_with(count, || None);
    for (index, item) in items.iter().enumerate() {
        let place = format!("{list}[{index}]");
        let Value::Object(fields) = item else {
            return Err(format!("`{place}` is {}, not an object", type_name(item)));
        };
        let part = Part { place, fields };
        let Some(n) = part.number("n", count)? else {
            return Err(format!("`{}` has no number `n`", part.place));
        };
        match slots.get_mut(n - 1) {
            Some(slot @ None) => *slot = Some(Part { place: format!("{list} {n}"), fields }),
            Some(Some(_)) => return Err(format!("`{list}` has number {n} twice")),
            None => return Err(format!("`{list}` has number {n}, of {count}")),
        }
    }
    let missing: Vec<String> =
        slots.iter().zip(1..).filter(|(slot, _)| slot.is_none()).map(|(_, n): (_, usize)| n.to_string()).collect();
    if !missing.is_empty() {
        return Err(format!("`{list}` lacks {} of 1 to {count}", missing.join(", ")));
    }
    Ok(slots.into_iter().flatten().collect())
}

impl<'a> Part<'a> {
    /// The reply itself.
    ///
    /// # Errors
    /// The reply is not an object.
    pub fn whole(reply: &'a Value) -> Result<Self, String> {
        match reply {
            Value::Object(fields) => Ok(Self { place: "the reply".to_owned(), fields }),
            other => Err(format!("the reply is {}, not an object", type_name(other))),
        }
    }

    /// A field that is present and not null; JSON schemas that demand every key make judges write null for "none".
    fn field(&self, name: &str) -> Option<&'a Value> {
        self.fields.get(name).filter(|value| !value.is_null())
    }

    fn wrong_type(&self, name: &str, value: &Value, wanted: &str) -> String {
        format!("`{name}` of {} is {}, not {wanted}", self.place, type_name(value))
    }

    /// A text, trimmed; `None` when absent, null or blank.
    ///
    /// # Errors
    /// It is something else than a text.
    pub fn text(&self, name: &str) -> Result<Option<&'a str>, String> {
        match self.field(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.trim()).filter(|text| !text.is_empty())),
            Some(other) => Err(self.wrong_type(name, other, "a text")),
        }
    }

    /// `true` or `false`; `None` when absent or null.
    ///
    /// # Errors
    /// It is something else.
    pub fn flag(&self, name: &str) -> Result<Option<bool>, String> {
        match self.field(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(other) => Err(self.wrong_type(name, other, "true or false")),
        }
    }

    /// A whole number from 1 to `max`; `None` when absent or null.
    ///
    /// # Errors
    /// It is something else, or a number that nothing was shown under.
    pub fn number(&self, name: &str, max: usize) -> Result<Option<usize>, String> {
        let Some(value) = self.field(name) else { return Ok(None) };
        let Some(number) = value.as_u64() else {
            return Err(self.wrong_type(name, value, "a whole number"));
        };
        match usize::try_from(number) {
            Ok(number) if 1 <= number && number <= max => Ok(Some(number)),
            Ok(_) | Err(_) => Err(format!("`{name}` of {} is {number}, but the numbers are 1 to {max}", self.place)),
        }
    }

    /// A number from 0 to `max`; `None` when absent or null.
    ///
    /// # Errors
    /// It is something else, or outside.
    pub fn grade(&self, name: &str, max: f64) -> Result<Option<f64>, String> {
        let Some(value) = self.field(name) else { return Ok(None) };
        match value.as_f64() {
            Some(grade) if (0.0..=max).contains(&grade) => Ok(Some(grade)),
            Some(grade) => Err(format!("`{name}` of {} is {grade}, outside 0 to {max}", self.place)),
            None => Err(self.wrong_type(name, value, "a number")),
        }
    }

    /// The different numbers of a list, each from 1 to `max`; it may be empty, but not absent.
    ///
    /// # Errors
    /// There is no such list, or something in it is no such number or stands twice.
    pub fn numbers(&self, name: &str, max: usize) -> Result<Vec<usize>, String> {
        let items = match self.field(name) {
            None => return Err(format!("{} has no `{name}`", self.place)),
            Some(Value::Array(items)) => items,
            Some(other) => return Err(self.wrong_type(name, other, "a list")),
        };
        let mut numbers = Vec::new();
        for item in items {
            match item.as_u64().and_then(|number| usize::try_from(number).ok()) {
                Some(number) if 1 <= number && number <= max && !numbers.contains(&number) => numbers.push(number),
                Some(number) => {
                    let why = if numbers.contains(&number) { "twice".to_owned() } else { format!("of {max}") };
                    return Err(format!("`{name}` of {} has {number}, {why}", self.place));
                }
                None => {
                    let kind = type_name(item);
                    return Err(format!("`{name}` of {} holds {kind}, not a whole number", self.place));
                }
            }
        }
        Ok(numbers)
    }

    /// The texts of a list, trimmed, blank ones left out; empty when absent or null.
    ///
    /// # Errors
    /// It is no list, or holds something else than texts.
    pub fn texts(&self, name: &str) -> Result<Vec<&'a str>, String> {
        let items = match self.field(name) {
            None => return Ok(Vec::new()),
            Some(Value::Array(items)) => items,
            Some(other) => return Err(self.wrong_type(name, other, "a list")),
        };
        let mut texts = Vec::new();
        for item in items {
            match item {
                Value::String(text) => texts.push(text.trim()),
                other => return Err(format!("`{name}` of {} holds {}, not a text", self.place, type_name(other))),
            }
        }
        texts.retain(|text| !text.is_empty());
        Ok(texts)
    }

    /// What one of these words stands for. No other word, spelling or letter case is taken.
    ///
    /// # Errors
    /// It is absent, no text, or not among the words.
    pub fn one_of<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> Result<T, String> {
        let list = || words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        match self.field(name) {
            None => Err(format!("{} has no `{name}`", self.place)),
            Some(Value::String(said)) => words
                .iter()
                .find(|(word, _)| word == said)
                .map(|(_, meaning)| *meaning)
                .ok_or_else(|| format!("`{name}` of {} is `{said}`, which is none of: {}", self.place, list())),
            Some(other) => Err(self.wrong_type(name, other, &format!("one of: {}", list()))),
        }
    }

    /// The verdict of an entry that holds either one verdict or `no_claim: true`; `None` for the latter.
    ///
    /// # Errors
    /// It holds both, neither, or a word that is no verdict.
    pub fn verdict_or_no_claim<T: Copy>(&self, words: &[(&str, T)]) -> Result<Option<T>, String> {
        match (self.flag("no_claim")? == Some(true), self.field("verdict")) {
            (true, None) => Ok(None),
            (true, Some(_)) => Err(format!("{} has both a verdict and `no_claim`", self.place)),
            (false, _) => self.one_of("verdict", words).map(Some),
        }
    }

    /// The objects of a list in an entry that holds either such a list or `no_claim: true`; empty for the latter.
    ///
    /// # Errors
    /// It holds both or neither, or the list holds something else than objects.
    pub fn list_or_no_claim(&self, name: &str) -> Result<Vec<Part<'a>>, String> {
        let items = match self.field(name) {
            None => &[],
            Some(Value::Array(items)) => items.as_slice(),
            Some(other) => return Err(self.wrong_type(name, other, "a list")),
        };
        match (self.flag("no_claim")? == Some(true), items.is_empty()) {
            (true, true) => Ok(Vec::new()),
            (true, false) => Err(format!("{} has both `{name}` and `no_claim`", self.place)),
            (false, true) => Err(format!("{} has neither `{name}` nor `no_claim`", self.place)),
            (false, false) => items
                .iter()
                .enumerate()
                .map(|(index, item)| match item {
                    Value::Object(fields) => Ok(Part { place: format!("{}, {name}[{index}]", self.place), fields }),
                    other => Err(format!("`{name}[{index}]` of {} is {}, not an object", self.place, type_name(other))),
                })
                .collect(),
        }
    }

    /// Where it stands in the reply, for error texts.
    pub fn place(&self) -> &str {
        &self.place
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn why(reply: &Value, count: usize) -> String {
        entries(reply, "items", count).expect_err("a reply that does not fit")
    }

    #[test]
    fn entries_come_in_the_order_of_their_numbers() {
        let reply = json!({"items": [{"n": 2, "v": "b"}, {"n": 1, "v": "a"}], "score": 1.0});
        let entries = entries(&reply, "items", 2).expect("each number once");
        let texts: Vec<_> = entries.iter().map(|part| part.text("v")).collect();
        assert_eq!(texts, [Ok(Some("a")), Ok(Some("b"))]);
    }

    #[test]
    fn numbers_that_do_not_add_up_are_refused_with_the_reason() {
        let table = [
            (json!({"items": [{"n": 1}, {"n": 3}]}), "`items` lacks 2, 4 of 1 to 4"),
            (json!({"items": [{"n": 1}, {"n": 1}]}), "`items` has number 1 twice"),
            (json!({"items": [{"n": 5}]}), "`n` of items[0] is 5, but the numbers are 1 to 4"),
            (json!({"items": [{"n": 0}]}), "`n` of items[0] is 0, but the numbers are 1 to 4"),
            (json!({"items": [{"n": 1.0}]}), "`n` of items[0] is a number, not a whole number"),
            (json!({"items": [{"n": -1}]}), "`n` of items[0] is a number, not a whole number"),
            (json!({"items": [{"n": "1"}]}), "`n` of items[0] is a text, not a whole number"),
            (json!({"items": [{"verdict": "yes"}]}), "`items[0]` has no number `n`"),
            (json!({"items": [7]}), "`items[0]` is a number, not an object"),
            (json!({"items": {"1": "yes"}}), "`items` is an object, not a list"),
            (json!({"items": null}), "`items` is null, not a list"),
            (json!({"score": 1.0}), "`items` is missing"),
            (json!([1, 2]), "the reply is a list, not an object"),
            (json!("items"), "the reply is a text, not an object"),
            (json!(null), "the reply is null, not an object"),
        ];
        for (reply, expected) in table {
            assert_eq!(why(&reply, 4), expected);
        }
    }

    #[test]
    fn a_verdict_outside_the_vocabulary_is_refused() {
        const WORDS: [(&str, bool); 2] = [("yes", true), ("no", false)];
        let table = [
            (json!({"verdict": "yes"}), Ok(Some(true))),
            (json!({"verdict": "no", "no_claim": false, "pass": true}), Ok(Some(false))),
            (json!({"verdict": null, "no_claim": true}), Ok(None)),
            (json!({"verdict": "Yes"}), Err("`verdict` of the reply is `Yes`, which is none of: yes, no")),
            (json!({"verdict": "yes "}), Err("`verdict` of the reply is `yes `, which is none of: yes, no")),
            (json!({"verdict": true}), Err("`verdict` of the reply is true or false, not one of: yes, no")),
            (json!({"no_claim": false}), Err("the reply has no `verdict`")),
            (json!({}), Err("the reply has no `verdict`")),
            (json!({"verdict": "yes", "no_claim": true}), Err("the reply has both a verdict and `no_claim`")),
            (json!({"no_claim": "true"}), Err("`no_claim` of the reply is a text, not true or false")),
        ];
        for (reply, expected) in table {
            let part = Part::whole(&reply).expect("an object");
            assert_eq!(part.verdict_or_no_claim(&WORDS), expected.map_err(str::to_owned), "{reply}");
        }
    }

    #[test]
    fn grades_numbers_and_texts_are_read_strictly() {
        let whole = |reply: &Value| Part::whole(reply).map(|part| (part.grade("g", 10.0), part.numbers("m", 3)));
        for (reply, grade) in [
            (json!({"g": 0}), Ok(Some(0.0))),
            (json!({"g": 8.5}), Ok(Some(8.5))),
            (json!({"g": null}), Ok(None)),
            (json!({"g": 11}), Err("`g` of the reply is 11, outside 0 to 10")),
            (json!({"g": -1}), Err("`g` of the reply is -1, outside 0 to 10")),
            (json!({"g": "8"}), Err("`g` of the reply is a text, not a number")),
        ] {
            assert_eq!(whole(&reply).expect("an object").0, grade.map_err(str::to_owned), "{reply}");
        }
        for (reply, numbers) in [
            (json!({"m": []}), Ok(vec![])),
            (json!({"m": [3, 1]}), Ok(vec![3, 1])),
            (json!({}), Err("the reply has no `m`")),
            (json!({"m": 1}), Err("`m` of the reply is a number, not a list")),
            (json!({"m": [4]}), Err("`m` of the reply has 4, of 3")),
            (json!({"m": [0]}), Err("`m` of the reply has 0, of 3")),
            (json!({"m": [1, 1]}), Err("`m` of the reply has 1, twice")),
            (json!({"m": ["1"]}), Err("`m` of the reply holds a text, not a whole number")),
        ] {
            assert_eq!(whole(&reply).expect("an object").1, numbers.map_err(str::to_owned), "{reply}");
        }
        for (reply, texts) in [
            (json!({"t": [" a ", ""]}), Ok(vec!["a"])),
            (json!({}), Ok(vec![])),
            (json!({"t": "a"}), Err("`t` of the reply is a text, not a list")),
            (json!({"t": [1]}), Err("`t` of the reply holds a number, not a text")),
        ] {
            assert_eq!(Part::whole(&reply).expect("an object").texts("t"), texts.map_err(str::to_owned), "{reply}");
        }
    }
}
