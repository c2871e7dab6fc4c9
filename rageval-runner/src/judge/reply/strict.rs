//! Reads JSON strictly: one value, nothing around it, and no key twice in an object.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The value that the whole text is.
///
/// # Errors
/// It is no JSON, something stands around the value, or an object holds a key twice: of two verdicts under one key nobody knows which to
/// believe, and a plain reader takes the last without a word.
pub(crate) fn read(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str::<Strict>(text).map(|strict| strict.0)
}

/// The same for a value that is a part of something else.
pub(crate) fn value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    Strict::deserialize(deserializer).map(|strict| strict.0)
}

/// The value that the text begins with and its length in bytes, whatever follows.
pub(super) fn first(text: &str) -> Option<(Value, usize)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Strict>();
    let value = values.next()?.ok()?.0;
    Some((value, values.byte_offset()))
}

struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Strict)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number out of range"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((key, Strict(value))) = fields.next_entry::<String, Strict>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format!("the key `{key}` stands twice")));
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_as_any_reader_would() {
        for text in
            [r#"{"a":[1,-2,3.5,"x",null,true],"b":{"c":1}}"#, " 7 ", "\"退款\"", "[]", "null", "18446744073709551615"]
        {
            let plain: Value = serde_json::from_str(text).expect("JSON");
            assert_eq!(read(text).expect("JSON"), plain, "{text}");
        }
    }

    #[test]
    fn a_key_that_stands_twice_is_refused_at_any_depth() {
        for text in [r#"{"verdict":"no","verdict":"yes"}"#, r#"[{"a":{"b":1,"b":1}}]"#] {
            let error = read(text).expect_err("a key twice").to_string();
            assert!(error.contains("stands twice"), "{error}");
        }
    }

    #[test]
    fn anything_around_the_value_is_refused() {
        for text in ["{} {}", "Sure: {}", "```json\n{}\n```", "{", "", "NaN", "{\"a\":1,}", "1e999"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
