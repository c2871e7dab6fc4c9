//! Texts that many cases share, held once: retrieved documents, above all.

use std::{collections::HashMap, fmt::Write};

use serde::{Serialize, Serializer};

use super::text::is_hidden;

/// Texts by number, in the order in which they were first met.
#[derive(Debug, Default)]
pub(super) struct Texts<'t> {
    numbers: HashMap<&'t str, usize>,
    all: Vec<&'t str>,
}

/// The number of a text among [`Texts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TextNumber(usize);

impl Serialize for TextNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'t> Texts<'t> {
    /// The number of a text, which is kept once.
    pub(super) fn number(&mut self, text: &'t str) -> TextNumber {
        let next = self.all.len();
        let number = *self.numbers.entry(text).or_insert(next);
        if number == next {
            self.all.push(text);
        }
        TextNumber(number)
    }

    /// All of them, by number.
    pub(super) fn all(&self) -> &[&'t str] {
        &self.all
    }
}

/// JSON as it may stand inside a `<script>`: nothing in it can end the element, start a comment or be taken for markup.
pub(super) fn json(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let plain = serde_json::to_string(value)?;
    let mut safe = String::with_capacity(plain.len() + plain.len() / 64);
    let mut rest = plain.as_str();
    // Outside its strings JSON has none of these; and who reads the source of the page should see what hides.
    while let Some(at) = rest.find(|c| matches!(c, '<' | '>' | '&') || is_hidden(c)) {
        let (before, after) = rest.split_at(at);
        safe.push_str(before);
        let mut after = after.chars();
        for unit in after.next().unwrap_or_default().encode_utf16(&mut [0; 2]) {
            // Writing into a string does not fail.
            let _ = write!(safe, "\\u{unit:04x}");
        }
        rest = after.as_str();
    }
    safe.push_str(rest);
    Ok(safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_kept_once() {
        let mut texts = Texts::default();
        assert_eq!(
            (texts.number("a"), texts.number("b"), texts.number("a")),
            (TextNumber(0), TextNumber(1), TextNumber(0))
        );
        assert_eq!(texts.all(), ["a", "b"]);
    }

    #[test]
    fn nothing_ends_the_script_and_all_is_read_back() {
        let hostile = ["</script><script>alert(1)</script>", "<!--<script>", "a\u{2028}\u{0}\u{202e}\u{e0001}&amp;"];
        let json = json(&hostile).expect("JSON");
        assert!(!json.contains(['<', '>', '&', '\u{2028}', '\u{202e}', '\u{e0001}', '\u{0}']), "{json}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).expect("JSON"), hostile);
    }
}
