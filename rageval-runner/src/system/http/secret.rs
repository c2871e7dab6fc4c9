//! Values of the environment that must appear in no text.

/// Shorter values are no secrets, and hiding them would spoil every text.
const HIDDEN_FROM: usize = 4;

/// A reply that holds a value of this length or more has repeated it, and not met it by chance.
const REPEATED_FROM: usize = 8;

/// How often a value may have been written into a JSON string that was written into a JSON string.
const JSON_DEPTH: usize = 3;

/// The values that were put into headers, by the name of their variable. No `Debug`, on purpose.
#[derive(Default)]
pub(crate) struct Secrets(Vec<Secret>);

struct Secret {
    name: String,
    /// The value, and what it becomes within JSON strings; the longest last.
    spellings: Vec<String>,
    length: usize,
}

impl Secrets {
    /// Adds the value of a variable.
    pub(crate) fn add(&mut self, name: &str, value: &str) {
        let value = value.trim();
        let mut spellings = vec![value.to_owned()];
        // A text in JSON may itself be JSON, as a judge's reply in its envelope is.
        for depth in 0..JSON_DEPTH {
            let escaped = serde_json::Value::from(spellings[depth].as_str()).to_string();
            spellings.push(escaped[1..escaped.len() - 1].to_owned());
        }
        spellings.dedup();
        self.0.push(Secret { name: name.to_owned(), spellings, length: value.chars().count() });
        // A value that is part of another one must not be replaced first.
        self.0.sort_by_key(|secret| std::cmp::Reverse(secret.length));
    }

    /// The text with `${NAME}` in place of every value.
    pub(crate) fn hide(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in self.0.iter().filter(|secret| secret.length >= HIDDEN_FROM) {
            // A shorter spelling may be part of a longer one.
            for spelling in secret.spellings.iter().rev() {
                if text.contains(spelling) {
                    text = text.replace(spelling, &format!("${{{}}}", secret.name));
                }
            }
        }
        text
    }

    /// The variable whose value stands in a reply.
    pub(crate) fn repeated_in(&self, bytes: &[u8]) -> Option<&str> {
        if self.0.is_empty() {
            return None;
        }
        let text = String::from_utf8_lossy(bytes);
        let long = self.0.iter().filter(|secret| secret.length >= REPEATED_FROM);
        long.into_iter()
            .find(|secret| secret.spellings.iter().any(|value| text.contains(value)))
            .map(|secret| secret.name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_hidden_longest_first_and_in_json_too() {
        let mut secrets = Secrets::default();
        secrets.add("PART", "abcd");
        secrets.add("WHOLE", "abcd\"efgh");
        secrets.add("TINY", "s");
        assert_eq!(secrets.hide(r#"is abcd"efgh, "abcd\"efgh", abcd"#), r#"is ${WHOLE}, "${WHOLE}", ${PART}"#);
        assert_eq!(secrets.repeated_in(br#"{"said": "abcd\"efgh"}"#), Some("WHOLE"));
        assert_eq!(secrets.repeated_in(b"abcd"), None);
    }
}
