//! Reads the checked fields of a judge's JSON object.

use serde_json::{Map, Number, Value};

use super::{
    Unreadable,
    label::whole_label,
    objects,
    score::{Scale, whole_score},
};

/// A field that was asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Field<'a> {
    /// Its key; the reply may write it in another case.
    pub name: &'a str,
    /// What its value must be.
    pub form: Form<'a>,
}

/// What a field's value must be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Form<'a> {
    /// A number on this scale; as a text too where the text is nothing else: `"4"`, `"0,8"`, `"4/5"`.
    Score(Scale),
    /// True or false; as a text too.
    Truth,
    /// One of these words, in any case.
    Word(&'a [&'a str]),
    /// A list of this many objects, each of which holds one of these words under this key.
    Words {
        /// The key in each object.
        key: &'a str,
        /// The words that are possible.
        words: &'a [&'a str],
        /// How many objects were asked for.
        count: usize,
    },
}

/// The object of a reply with these fields checked: under the names and in the spelling that was asked for, scores as numbers. What else it
/// holds stands in it unchanged.
///
/// # Errors
/// Those of [`read_object`](super::read_object), save that objects may differ in what was not asked for; a field is missing, stands there
/// in two spellings or holds anything but what was asked. `null`, `NaN`, `"high"` and a number off the scale are no score.
pub fn read_fields(text: &str, fields: &[Field<'_>]) -> Result<Map<String, Value>, Unreadable> {
    let unreadable = |what: String| Unreadable::new(&what, text);
    let mut read = Vec::new();
    for object in objects::all(text).map_err(unreadable)? {
        read.push(checked(object, fields).map_err(unreadable)?);
    }
    let mut read = read.into_iter();
    let first = read.next().ok_or_else(|| unreadable("there is no JSON object in the reply".to_owned()))?;
    if read.any(|other| fields.iter().any(|field| field.verdict(&other) != field.verdict(&first))) {
        return Err(unreadable("the reply holds several JSON objects whose verdicts differ".to_owned()));
    }
    Ok(first)
}

impl Field<'_> {
    /// What decides in this field of a checked object; a reason beside a verdict does not.
    fn verdict<'o>(&self, object: &'o Map<String, Value>) -> Vec<Option<&'o Value>> {
        let value = object.get(self.name);
        match (self.form, value) {
            (Form::Words { key, .. }, Some(Value::Array(list))) => list.iter().map(|item| item.get(key)).collect(),
            _ => vec![value],
        }
    }

    fn value(&self, value: Value) -> Result<Value, String> {
        let name = self.name;
        match self.form {
            Form::Score(scale) => score(value, scale).map_err(|why| format!("`{name}`: {why}")),
            Form::Truth => {
                truth(&value).map(Value::Bool).ok_or_else(|| format!("`{name}` is {value}, not true or false"))
            }
            Form::Word(words) => word(name, &value, words),
            Form::Words { key, words, count } => {
                let Value::Array(list) = value else { return Err(format!("`{name}` is not a list")) };
                if list.len() != count {
                    return Err(format!("`{name}` has {} entries, asked were {count}", list.len()));
                }
                let entries = list.into_iter().map(|item| match item {
                    Value::Object(mut entry) => {
                        rename(&mut entry, key)?;
                        let value = entry.get(key).ok_or_else(|| format!("an entry of `{name}` has no `{key}`"))?;
                        let value = word(key, value, words)?;
                        entry.insert(key.to_owned(), value);
                        Ok(Value::Object(entry))
                    }
                    other => Err(format!("an entry of `{name}` is {other}, not an object")),
                });
                entries.collect::<Result<_, String>>().map(Value::Array)
            }
        }
    }
}

fn checked(mut object: Map<String, Value>, fields: &[Field<'_>]) -> Result<Map<String, Value>, String> {
    for field in fields {
        rename(&mut object, field.name)?;
        let value = object.remove(field.name).ok_or_else(|| format!("the reply's object has no `{}`", field.name))?;
        object.insert(field.name.to_owned(), field.value(value)?);
    }
    Ok(object)
}

/// Gives a key the case that was asked for.
fn rename(object: &mut Map<String, Value>, name: &str) -> Result<(), String> {
    let lower = name.to_lowercase();
    let spellings: Vec<_> = object.keys().filter(|key| key.to_lowercase() == lower).cloned().collect();
    match spellings.as_slice() {
        [] => Ok(()),
        [only] => {
            if only != name
                && let Some(value) = object.remove(only)
            {
                object.insert(name.to_owned(), value);
            }
            Ok(())
        }
        [one, other, ..] => Err(format!("the object holds both `{one}` and `{other}`")),
    }
}

fn score(value: Value, scale: Scale) -> Result<Value, String> {
    let read = match value {
        Value::Number(number) => number.as_f64().ok_or_else(|| "the score is no number".to_owned())?,
        Value::String(text) => whole_score(&text, scale)?,
        other => return Err(format!("the score is {other}, not a number")),
    };
    let held = scale.holds(read)?;
    Number::from_f64(held).map(Value::Number).ok_or_else(|| "the score is no number".to_owned())
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(*truth),
        Value::String(text) => whole_label(text, &["true", "false"]).map(|word| word == "true"),
        Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn word(name: &str, value: &Value, words: &[&str]) -> Result<Value, String> {
    let found = value.as_str().and_then(|text| whole_label(text, words));
    found.map(Value::from).ok_or_else(|| format!("`{name}` is {value}, none of: {}", words.join(", ")))
}
