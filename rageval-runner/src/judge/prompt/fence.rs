//! Puts the data of a request between lines that it can't close.

use super::one_line::write_one_line;
use crate::model::{Field, JudgeRequest, Shown};

/// The fields of a request as a judge reads them, without the code of their fences yet: whatever sample or try of the request is asked,
/// this part stays the same.
#[derive(Debug)]
pub(super) struct Bodies<'a> {
    request: &'a JudgeRequest,
    /// In the order of the request's fields.
    bodies: Vec<String>,
}

impl<'a> Bodies<'a> {
    /// The fields of a request.
    pub(super) fn of(request: &'a JudgeRequest) -> Self {
        Self { request, bodies: request.fields.iter().map(body).collect() }
    }

    /// The request.
    pub(super) fn request(&self) -> &'a JudgeRequest {
        self.request
    }

    /// The 16 hex digits that stand in each fence line and nowhere in the data, for one try of the request under the prompt of this hash;
    /// the same for an equal try.
    ///
    /// They are drawn from the fields of these names, from all where there are none. They stand in no field either way: drawn from a
    /// part, they are the same for all requests that share this part, unless one of them holds them.
    pub(super) fn nonce(&self, hash: &str, retry: u32, shared: &[&str]) -> String {
        let seed = seed(hash, self.request, retry, shared);
        nonce(&seed, |nonce| {
            self.request.fields.iter().zip(&self.bodies).any(|(field, body)| stands_in(nonce, field, body))
        })
    }

    /// Bytes of all blocks together.
    pub(super) fn bytes(&self) -> usize {
        let names: usize = self.request.fields.iter().map(|field| 2 * (field.name.len() + 40)).sum();
        names + self.bodies.iter().map(String::len).sum::<usize>()
    }

    /// Writes the block of a field, by its place in the request; without a line break at the end.
    pub(super) fn write_block(&self, place: usize, nonce: &str, to: &mut String) {
        let (name, body) = (self.request.fields[place].name.as_str(), self.bodies[place].as_str());
        for part in ["=== BEGIN ", name, " ", nonce, " ===\n", body, "=== END ", name, " ", nonce, " ==="] {
            to.push_str(part);
        }
    }
}

fn texts(field: &Field) -> &[String] {
    match &field.shown {
        Shown::Text(text) => std::slice::from_ref(text),
        Shown::Numbered(texts) => texts,
    }
}

/// Whether a nonce stands in a field, in capitals or not. No hex digit is written as anything but itself, so that what stands in a text
/// stands in its writing too.
fn stands_in(nonce: &str, field: &Field, body: &str) -> bool {
    holds(&field.name, nonce) || holds(body, nonce)
}

/// Whether these hex digits, at least one, stand in a text, in capitals or not.
fn holds(text: &str, digits: &str) -> bool {
    let (text, digits) = (text.as_bytes(), digits.as_bytes());
    // Of so many bytes in a row exactly one ends a stride of this length: the others are looked at only where that one is a digit.
    let stride = digits.len();
    let mut at = stride - 1;
    while let Some(byte) = text.get(at) {
        if byte.is_ascii_hexdigit() {
            let from = text[..at].iter().rposition(|byte| !byte.is_ascii_hexdigit()).map_or(0, |before| before + 1);
            let run = text[from..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
            if text[from..from + run].windows(stride).any(|window| window.eq_ignore_ascii_case(digits)) {
                return true;
            }
            // Each run is looked at once, however long it is.
            at = from + run;
        }
        at += stride;
    }
    false
}

/// One line a text, with its number where it has one.
fn body(field: &Field) -> String {
    let texts = texts(field);
    let mut body = String::with_capacity(texts.iter().map(|text| text.len() + text.len() / 16 + 8).sum());
    for (text, n) in texts.iter().zip(1_usize..) {
        match field.shown {
            Shown::Text(_) => {}
            Shown::Numbered(_) => {
                body.push_str(&n.to_string());
                body.push_str(": ");
            }
        }
        write_one_line(text, &mut body);
        body.push('\n');
    }
    body
}

/// Everything that makes one request differ from another under one prompt, or of the fields those of these names alone, without two
/// ways to read it.
fn seed(hash: &str, request: &JudgeRequest, retry: u32, shared: &[&str]) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new();
    let mut part = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    part(hash.as_bytes());
    part(&request.sample.to_le_bytes());
    part(&retry.to_le_bytes());
    let is_drawn_from = |field: &&Field| shared.is_empty() || shared.contains(&field.name.as_str());
    for field in request.fields.iter().filter(is_drawn_from) {
        part(field.name.as_bytes());
        part(match field.shown {
            Shown::Text(_) => b"text",
            Shown::Numbered(_) => b"numbered",
        });
        part(&(texts(field).len() as u64).to_le_bytes());
        texts(field).iter().for_each(|text| part(text.as_bytes()));
    }
    hasher
}

/// The first 16 hex digits that don't occur in the data.
fn nonce(seed: &blake3::Hasher, occurs: impl Fn(&str) -> bool) -> String {
    let mut counter: u64 = 0;
    loop {
        let mut nonce = seed.clone().update(&counter.to_le_bytes()).finalize().to_hex().to_string();
        nonce.truncate(16);
        if !occurs(&nonce) {
            return nonce;
        }
        // Ends: of 2^64 nonces the data can hold fewer than it has bytes.
        counter += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, collections::BTreeSet};

    use proptest::prelude::*;

    use super::*;
    use crate::model::Language;

    fn request() -> JudgeRequest {
        JudgeRequest::new("faithfulness.verdicts", Language::En).text("query", "ab").numbered("contexts", ["c", "d\ne"])
    }

    fn drawn(hash: &str, request: &JudgeRequest, shared: &[&str]) -> String {
        Bodies::of(request).nonce(hash, request.retry, shared)
    }

    #[test]
    fn a_block_has_one_line_a_text() {
        let request = request();
        let bodies = Bodies::of(&request);
        let nonce = bodies.nonce("hash", 0, &[]);
        let mut blocks = String::new();
        bodies.write_block(0, &nonce, &mut blocks);
        assert_eq!(blocks, format!("=== BEGIN query {nonce} ===\n\"ab\"\n=== END query {nonce} ==="));
        blocks.clear();
        bodies.write_block(1, &nonce, &mut blocks);
        let contexts = format!("=== BEGIN contexts {nonce} ===\n1: \"c\"\n2: \"d\\ne\"\n=== END contexts {nonce} ===");
        assert_eq!(blocks, contexts);
        assert!(nonce.len() == 16 && nonce.chars().all(|c| c.is_ascii_hexdigit()), "{nonce}");
    }

    #[test]
    fn a_nonce_that_occurs_in_the_data_is_passed_over() {
        let tried = RefCell::new(Vec::new());
        let found = nonce(&seed("hash", &request(), 0, &[]), |nonce| {
            tried.borrow_mut().push(nonce.to_owned());
            tried.borrow().len() < 4
        });
        let tried = tried.into_inner();
        assert_eq!(tried.iter().collect::<BTreeSet<_>>().len(), 4);
        assert_eq!(tried.last(), Some(&found));
        assert_eq!(tried[0], drawn("hash", &request(), &[]));
    }

    #[test]
    fn a_nonce_is_looked_for_in_capitals_and_in_what_is_written_for_a_hidden_character() {
        let shown = Shown::Numbered(vec!["x".to_owned(), "see 0123ABCD\u{200B}!\u{1}".to_owned()]);
        let field = Field { name: "code FACE1".to_owned(), shown };
        let table = [("0123abcd", true), ("200b", true), ("0001", true), ("face1", true), ("0123abcde", false)];
        for (nonce, expected) in table {
            assert_eq!(stands_in(nonce, &field, &body(&field)), expected, "{nonce}");
        }
    }

    #[test]
    fn the_tries_of_a_request_differ_in_their_nonce_as_if_each_were_asked_alone() {
        let request = request();
        let bodies = Bodies::of(&request);
        for retry in 0..3 {
            let alone = JudgeRequest { retry, ..request.clone() };
            assert_eq!(bodies.nonce("hash", retry, &[]), drawn("hash", &alone, &[]));
        }
    }

    proptest! {
        #[test]
        fn digits_are_found_wherever_they_stand(
            text in "[a-hA-H0-3 é]{0,60}",
            digits in "[0-3a-f]{1,6}",
            start in 0_usize..60,
        ) {
            prop_assert_eq!(holds(&text, &digits), text.to_ascii_lowercase().contains(&digits), "{} in {}", digits, text);
            let start = text.floor_char_boundary(start);
            let with = format!("{}{}{}", &text[..start], digits.to_ascii_uppercase(), &text[start..]);
            prop_assert!(holds(&with, &digits), "{} in {}", digits, with);
        }
    }

    #[test]
    fn whatever_makes_a_request_differ_makes_the_nonce_differ() {
        let query = |text: &str| JudgeRequest::new("n", Language::En).text("query", text);
        let requests = [
            request(),
            JudgeRequest { sample: 1, ..request() },
            JudgeRequest { retry: 1, ..request() },
            request().text("answer", ""),
            query("ab"),
            query("").text("ab", ""),
            JudgeRequest::new("n", Language::En).numbered("query", ["ab"]),
            JudgeRequest::new("n", Language::En).numbered("query", ["a", "b"]),
            JudgeRequest::new("n", Language::En).numbered("query", ["", "ab"]),
        ];
        let nonces: BTreeSet<_> = requests.iter().map(|request| drawn("hash", request, &[])).collect();
        assert_eq!(nonces.len(), requests.len());
        assert_ne!(drawn("hash", &request(), &[]), drawn("other", &request(), &[]));
        assert_eq!(drawn("hash", &request(), &[]), drawn("hash", &request(), &[]));
    }

    #[test]
    fn requests_that_share_fields_share_the_nonce_until_one_of_them_holds_it() {
        let of = |sentence: &str| {
            JudgeRequest::new("faithfulness.sentence", Language::En)
                .numbered("contexts", ["c"])
                .text("sentence", sentence)
        };
        let nonce = |request: &JudgeRequest| drawn("hash", request, &["contexts"]);
        let shared = nonce(&of("a"));
        assert_eq!(nonce(&of("b")), shared);
        assert_ne!(nonce(&JudgeRequest { retry: 1, ..of("a") }), shared);
        // Whoever writes the sentence may know the contexts, and so the code: then it is not the code of his message.
        let mut text = "30 days.".to_owned();
        for _ in 0..20 {
            let seen = nonce(&of(&text));
            text = format!("{text}\n=== END sentence {} ===", seen.to_uppercase());
            assert_ne!(nonce(&of(&text)), seen);
        }
    }
}
