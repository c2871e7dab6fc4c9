//! Reads the lines that most files consist of in a fraction of the time that a parser of all JSON takes.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use super::{Document, KEYS, Key, RankedQuery};

/// More digits are left to the parser of all JSON.
const MOST_DIGITS: usize = 15;

/// What a line says whose ids hold no escapes and whose documents have an id and perhaps a whole number as their grade.
///
/// `None` for every other line, right or wrong: the parser of all JSON reads it, and says what is wrong with it. It would read a line that
/// is read here alike.
pub(super) fn read(line: &str) -> Option<RankedQuery<'_>> {
    let mut line = Scanner { text: line, at: 0 };
    let (mut id, mut judged, mut retrieved) = (None, None, None);
    line.take(b'{')?;
    loop {
        let name = line.text()?;
        line.take(b':')?;
        let is_twice = match KEYS.iter().find(|(known, _)| *known == name)?.1 {
            Key::Id => id.replace(line.text()?).is_some(),
            Key::Relevant => judged.replace(line.documents(8)?).is_some(),
            Key::Retrieved => retrieved.replace(line.documents(128)?).is_some(),
            Key::Ignored => {
                line.pass_text()?;
                false
            }
        };
        if is_twice {
            return None;
        }
        if line.take(b',').is_none() {
            break;
        }
    }
    line.take(b'}')?;
    line.pass_space();
    if line.at < line.text.len() {
        return None;
    }
    Some(RankedQuery { id: Cow::Borrowed(id?), judged: judged?, retrieved: retrieved? })
}

/// A line, and how far it was read.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    #[inline]
    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn pass_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.next() {
            self.at += 1;
        }
    }

    /// This byte, after white space.
    #[inline]
    fn take(&mut self, byte: u8) -> Option<()> {
        self.pass_space();
        (self.next() == Some(byte)).then(|| self.at += 1)
    }

    /// A text without escapes.
    #[inline]
    fn text(&mut self) -> Option<&'a str> {
        self.take(b'"')?;
        let rest = &self.text.as_bytes()[self.at..];
        let length = plain_length(rest);
        if rest.get(length) != Some(&b'"') {
            return None;
        }
        let text = &self.text[self.at..self.at + length];
        self.at += length + 1;
        Some(text)
    }

    /// Passes a text, which may hold escapes.
    fn pass_text(&mut self) -> Option<()> {
        self.pass_space();
        if self.next() != Some(b'"') {
            return None;
        }
        let mut texts = serde_json::Deserializer::from_str(&self.text[self.at..]).into_iter::<IgnoredAny>();
        texts.next()?.ok()?;
        self.at += texts.byte_offset();
        Some(())
    }

    /// A list of ids, and of objects with an id.
    fn documents(&mut self, expected: usize) -> Option<Vec<Document<'a>>> {
        self.take(b'[')?;
        let mut documents = Vec::with_capacity(expected);
        if self.take(b']').is_some() {
            return Some(documents);
        }
        loop {
            let (id, grade) = match self.take(b'{') {
                Some(()) => self.graded()?,
                None => (self.text()?, 1.0),
            };
            documents.push(Document { id: Some(Cow::Borrowed(id)), grade });
            if self.take(b',').is_none() {
                break;
            }
        }
        self.take(b']')?;
        Some(documents)
    }

    /// The rest of an object with an id and a grade.
    fn graded(&mut self) -> Option<(&'a str, f64)> {
        let (mut id, mut grade) = (None, None);
        loop {
            let name = self.text()?;
            self.take(b':')?;
            let is_twice = match name {
                "id" => id.replace(self.text()?).is_some(),
                "grade" => grade.replace(self.whole_number()?).is_some(),
                _ => return None,
            };
            if is_twice {
                return None;
            }
            if self.take(b',').is_none() {
                break;
            }
        }
        self.take(b'}')?;
        Some((id?, grade.unwrap_or(1.0)))
    }

    fn whole_number(&mut self) -> Option<f64> {
        self.pass_space();
        let rest = &self.text[self.at..];
        let length = rest.bytes().take_while(u8::is_ascii_digit).count();
        if length > MOST_DIGITS || (length > 1 && rest.starts_with('0')) {
            return None;
        }
        self.at += length;
        // What follows the digits is for whoever reads on: a fraction or an exponent is no end of an object.
        rest[..length].parse().ok()
    }
}

/// How many bytes stand before the first quotation mark, backslash or control character, eight looked at together.
#[inline]
fn plain_length(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 0xff;
    const HIGH: u64 = ONES << 7;
    // Sets the high bit of each byte below the limit, up to 0x80; of bytes above such a one perhaps too, which are not the first.
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & HIGH;
    let equal = |word: u64, byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    let (words, rest) = bytes.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let ends = equal(word, b'"') | equal(word, b'\\') | below(word, 0x20);
        if ends != 0 {
            return at * 8 + ends.trailing_zeros() as usize / 8;
        }
    }
    let within = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).unwrap_or(rest.len());
    words.len() * 8 + within
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A line that is read here is read alike by the parser of all JSON.
    fn agrees(line: &str) -> bool {
        read(line).is_none_or(|quick| serde_json::from_str::<RankedQuery<'_>>(line).is_ok_and(|whole| whole == quick))
    }

    #[test]
    fn common_lines_are_read() {
        for line in [
            r#"{"id": "q1", "relevant_doc_ids": ["d3", {"id": "d7", "grade": 2}], "retrieved": ["d7", "d1", "d3"]}"#,
            r#" {"retrieved":[],"question":"a \"b\" \u00e9","query_id":"退款","gold_ids":[{"grade":0,"id":""}]} "#,
        ] {
            assert!(read(line).is_some(), "{line}");
            assert!(agrees(line), "{line}");
        }
    }

    #[test]
    fn what_is_unusual_or_wrong_is_left_to_the_parser() {
        for line in [
            "",
            "{}",
            "[]",
            r#"{"id":"q","relevant":[],"retrieved":[]"#,
            r#"{"id":"q","relevant":[],"retrieved":[]}}"#,
            r#"{"id":"q","relevant":[],"retrieved":[],}"#,
            r#"{"id":"q","relevant":[],"retrieved":["a",]}"#,
            r#"{"id":"q","relevant":[],"retrieved":["a" "b"]}"#,
            r#"{"id":"q","relevant":[],"retrieved":[null]}"#,
            r#"{"id":"q","relevant":null,"retrieved":[]}"#,
            r#"{"id":"q","id":"q","relevant":[],"retrieved":[]}"#,
            r#"{"id":"q","relevant":[],"gold_ids":[],"retrieved":[]}"#,
            r#"{"id":"q","relevant":[],"retrieved":[],"contexts":[]}"#,
            r#"{"id":7,"relevant":[],"retrieved":[]}"#,
            r#"{"id":"q","relevant":[],"retrieved":["\u0061"]}"#,
            "{\"id\":\"q\",\"relevant\":[],\"retrieved\":[\"a\tb\"]}",
            r#"{"id":"q","relevant":[{"id":"a","id":"a"}],"retrieved":[]}"#,
            r#"{"id":"q","relevant":[{"id":"a","grade":1,"grade":1}],"retrieved":[]}"#,
            r#"{"id":"q","relevant":[{"grade":1}],"retrieved":[]}"#,
            r#"{"id":"q","relevant":[{"id":"a","grade":01}],"retrieved":[]}"#,
            r#"{"id":"q","relevant":[{"id":"a","grade":1.5}],"retrieved":[]}"#,
            r#"{"id":"q","relevant":[{"id":"a","grade":-1}],"retrieved":[]}"#,
            r#"{"id":"q","relevant":[{"id":"a","grade":1e2}],"retrieved":[]}"#,
            r#"{"id":"q","relevant":[{"id":"a","grade":}],"retrieved":[]}"#,
            r#"{"id":"q","relevant":[{"id":"a","grade":1234567890123456}],"retrieved":[]}"#,
            r#"{"id":"q","query":"\x","relevant":[],"retrieved":[]}"#,
            r#"{"id":"q","query":["a"],"relevant":[],"retrieved":[]}"#,
            r#"{"id":"q","odd":"a","relevant":[],"retrieved":[]}"#,
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }

    proptest! {
        #[test]
        fn the_plain_length_is_that_of_a_look_at_each_byte(bytes in prop::collection::vec(any::<u8>(), 0..40), at in 0usize..40, end in 0u8..0x80) {
            let mut plain: Vec<u8> = bytes.iter().map(|byte| if matches!(byte, b'"' | b'\\' | 0..0x20) { 0xff } else { *byte }).collect();
            if let Some(byte) = plain.get_mut(at) {
                *byte = end;
            }
            let expected = plain.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).unwrap_or(plain.len());
            prop_assert_eq!(plain_length(&plain), expected);
        }

        #[test]
        fn lines_of_all_kinds_are_read_alike(pieces in prop::collection::vec(prop::sample::select(&[
            "{", "}", "[", "]", ",", ":", " ", "\"id\"", "\"relevant\"", "\"retrieved\"", "\"query\"", "\"grade\"", "\"a\"", "\"é\"", "\"\\n\"",
            "0", "1", "01", "2.5", "null", "[\"a\",\"b\"]", "[{\"id\":\"a\",\"grade\":2}]", "\"id\":\"q\"", "\"relevant\":[]",
            "\"retrieved\":[]", "\t", "\u{feff}",
        ][..]), 0..14)) {
            let line = pieces.concat();
            prop_assert!(agrees(&line), "{}", line);
        }

        #[test]
        fn a_good_line_with_a_byte_changed_is_read_alike(at in 0usize..200, byte in 0u8..128) {
            let line = r#"{"id": "q1", "query": "a\u00e9b", "relevant_doc_ids": ["d3", {"id": "d7", "grade": 20}], "retrieved": ["d7", "d1"]}"#;
            let mut bytes = line.as_bytes().to_vec();
            let at = at % bytes.len();
            bytes[at] = byte;
            let line = String::from_utf8(bytes).expect("ASCII");
            prop_assert!(agrees(&line), "{}", line);
        }
    }
}
