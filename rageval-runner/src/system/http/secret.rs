//! Values of the environment that must appear in no text.

/// Shorter values are no secrets, and hiding them would spoil every text.
const HIDDEN_FROM: usize = 4;

/// A reply that holds a value of this length or more has repeated it, and not met it by chance.
const REPEATED_FROM: usize = 8;

/// How often a text is decoded in search of a value that was encoded on the way.
const DECODED: usize = 3;

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

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
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
        // A spelling that nobody thought of can't be replaced, so nothing of the text is shown.
        match self.encoded_in(&text) {
            Some(name) => format!("(a text that holds ${{{name}}} in another spelling, not shown)"),
            None => text,
        }
    }

    /// The variable whose value stands in a text once its escapes are decoded: those of JSON, and those of addresses.
    fn encoded_in(&self, text: &str) -> Option<&str> {
        let mut decoded = text.to_owned();
        for _ in 0..DECODED {
            let next = unescaped(&decoded);
            if next == decoded {
                break;
            }
            decoded = next;
            let long = self.0.iter().filter(|secret| secret.length >= REPEATED_FROM);
            if let Some(secret) = long.into_iter().find(|secret| decoded.contains(&secret.spellings[0])) {
                return Some(&secret.name);
            }
        }
        None
    }

    /// The variable whose value stands in a reply.
    pub(crate) fn repeated_in(&self, bytes: &[u8]) -> Option<&str> {
        if self.is_empty() {
            return None;
        }
        let text = String::from_utf8_lossy(bytes);
        let long = self.0.iter().filter(|secret| secret.length >= REPEATED_FROM);
        long.into_iter()
            .find(|secret| secret.spellings.iter().any(|value| text.contains(value)))
            .map(|secret| secret.name.as_str())
            .or_else(|| self.encoded_in(&text))
    }
}

/// The text with each escape of JSON strings and of addresses replaced by what it stands for.
fn unescaped(text: &str) -> String {
    let mut found = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '%']) {
        found.push_str(&rest[..at]);
        let escape = &rest[at..];
        let hex = |from: usize, to: usize| {
            escape.get(from..to).and_then(|digits| u32::from_str_radix(digits, 16).ok()).and_then(char::from_u32)
        };
        let (character, length) = match escape.as_bytes() {
            [b'\\', b'u', ..] => (hex(2, 6), 6),
            [b'\\', next @ (b'/' | b'"' | b'\\'), ..] => (Some(char::from(*next)), 2),
            // Beyond ASCII an escape is a part of a character; no key is.
            [b'%', ..] => (hex(1, 3).filter(char::is_ascii), 3),
            _ => (None, 1),
        };
        match character {
            Some(character) => {
                found.push(character);
                rest = &escape[length..];
            }
            None => {
                found.push_str(&escape[..1]);
                rest = &escape[1..];
            }
        }
    }
    found.push_str(rest);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_in_another_spelling_is_found_and_nothing_of_its_text_shown() {
        let mut secrets = Secrets::default();
        let key = "sk-ab/cd+ef==0123456789";
        secrets.add("KEY", key);
        let each = |c: char| format!("\\u{:04x}", u32::from(c));
        let percent = |c: char| format!("%{:02X}", u32::from(c));
        let spellings = [
            key.replace('/', "\\/"),
            key.replace('/', "%2F").replace('+', "%2b").replace('=', "%3D"),
            key.chars().map(each).collect(),
            key.chars().map(percent).collect(),
            key.replace('/', "%252F"),
            key.replace('/', "\\\\/"),
        ];
        for spelling in spellings {
            let text = format!("Incorrect key: {spelling}, 100% wrong \\ %zz");
            let shown = secrets.hide(&text);
            assert_eq!(shown, "(a text that holds ${KEY} in another spelling, not shown)", "{spelling}");
            assert_eq!(secrets.repeated_in(text.as_bytes()), Some("KEY"), "{spelling}");
        }
        let fine = "100% of \\u0041 \\n %41 stays as it is, \\";
        assert_eq!(secrets.hide(fine), fine);
        assert_eq!(secrets.repeated_in(fine.as_bytes()), None);
    }

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
