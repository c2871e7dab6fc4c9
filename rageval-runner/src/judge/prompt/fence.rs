//! Puts the data of a request between lines that it can't close.

use std::collections::BTreeMap;

use super::one_line::one_line;
use crate::model::{Field, JudgeRequest, Shown};

/// The fields of a request, each in a block of its own.
#[derive(Debug)]
pub(super) struct Fenced<'a> {
    /// 16 hex digits that stand in each fence line and nowhere in the data.
    pub(super) nonce: String,
    /// The blocks by the fields' names; without a line break at the end.
    pub(super) blocks: BTreeMap<&'a str, String>,
}

impl<'a> Fenced<'a> {
    /// The blocks of a request under the prompt of this hash; the same for an equal request.
    ///
    /// The nonce is drawn from the fields of these names, from all where there are none. It stands in no field either way: drawn from a
    /// part, it is the same for all requests that share this part, unless one of them holds it.
    pub(super) fn of(hash: &str, request: &'a JudgeRequest, shared: &[&str]) -> Self {
        let bodies: Vec<_> = request.fields.iter().map(|field| (field, body(field))).collect();
        let nonce = nonce(&seed(hash, request, shared), |nonce| {
            bodies.iter().any(|(field, body)| stands_in(nonce, field, body))
        });
        let block = |name: &str, body: &str| format!("=== BEGIN {name} {nonce} ===\n{body}=== END {name} {nonce} ===");
        let blocks = bodies.iter().map(|(field, body)| (field.name.as_str(), block(&field.name, body))).collect();
        Self { nonce, blocks }
    }
}

fn texts(field: &Field) -> impl Iterator<Item = &str> {
    match &field.shown {
        Shown::Text(text) => std::slice::from_ref(text),
        Shown::Numbered(texts) => texts.as_slice(),
    }
    .iter()
    .map(String::as_str)
}

/// Whether a nonce stands in a field, in capitals or not, before or after its texts are written as JSON.
fn stands_in(nonce: &str, field: &Field, body: &str) -> bool {
    let holds = |text: &str| text.to_ascii_lowercase().contains(nonce);
    holds(&field.name) || holds(body) || texts(field).any(holds)
}

/// One line a text, with its number where it has one.
fn body(field: &Field) -> String {
    match &field.shown {
        Shown::Text(text) => format!("{}\n", one_line(text)),
        Shown::Numbered(texts) => {
            texts.iter().zip(1..).map(|(text, n): (_, usize)| format!("{n}: {}\n", one_line(text))).collect()
        }
    }
}

/// Everything that makes one request differ from another under one prompt, or of the fields those of these names alone, without two
/// ways to read it.
fn seed(hash: &str, request: &JudgeRequest, shared: &[&str]) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new();
    let mut part = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    part(hash.as_bytes());
    part(&request.sample.to_le_bytes());
    part(&request.retry.to_le_bytes());
    let is_drawn_from = |field: &&Field| shared.is_empty() || shared.contains(&field.name.as_str());
    for field in request.fields.iter().filter(is_drawn_from) {
        part(field.name.as_bytes());
        part(match field.shown {
            Shown::Text(_) => b"text",
            Shown::Numbered(_) => b"numbered",
        });
        part(&(texts(field).count() as u64).to_le_bytes());
        texts(field).for_each(|text| part(text.as_bytes()));
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

    use super::*;
    use crate::model::Language;

    fn request() -> JudgeRequest {
        JudgeRequest::new("faithfulness.verdicts", Language::En).text("query", "ab").numbered("contexts", ["c", "d\ne"])
    }

    #[test]
    fn a_block_has_one_line_a_text() {
        let request = request();
        let Fenced { nonce, blocks } = Fenced::of("hash", &request, &[]);
        assert_eq!(blocks["query"], format!("=== BEGIN query {nonce} ===\n\"ab\"\n=== END query {nonce} ==="));
        let contexts = format!("=== BEGIN contexts {nonce} ===\n1: \"c\"\n2: \"d\\ne\"\n=== END contexts {nonce} ===");
        assert_eq!(blocks["contexts"], contexts);
        assert!(nonce.len() == 16 && nonce.chars().all(|c| c.is_ascii_hexdigit()), "{nonce}");
    }

    #[test]
    fn a_nonce_that_occurs_in_the_data_is_passed_over() {
        let tried = RefCell::new(Vec::new());
        let found = nonce(&seed("hash", &request(), &[]), |nonce| {
            tried.borrow_mut().push(nonce.to_owned());
            tried.borrow().len() < 4
        });
        let tried = tried.into_inner();
        assert_eq!(tried.iter().collect::<BTreeSet<_>>().len(), 4);
        assert_eq!(tried.last(), Some(&found));
        assert_eq!(tried[0], Fenced::of("hash", &request(), &[]).nonce);
    }

    #[test]
    fn a_nonce_is_looked_for_in_capitals_and_in_what_is_written_for_a_hidden_character() {
        let shown = Shown::Numbered(vec!["x".to_owned(), "see 0123ABCD\u{200B}!\u{1}".to_owned()]);
        let field = Field { name: "contexts".to_owned(), shown };
        let table = [("0123abcd", true), ("200b", true), ("0001", true), ("contexts", true), ("0123abcde", false)];
        for (nonce, expected) in table {
            assert_eq!(stands_in(nonce, &field, &body(&field)), expected, "{nonce}");
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
        let nonces: BTreeSet<_> = requests.iter().map(|request| Fenced::of("hash", request, &[]).nonce).collect();
        assert_eq!(nonces.len(), requests.len());
        assert_ne!(Fenced::of("hash", &request(), &[]).nonce, Fenced::of("other", &request(), &[]).nonce);
        assert_eq!(Fenced::of("hash", &request(), &[]).nonce, Fenced::of("hash", &request(), &[]).nonce);
    }

    #[test]
    fn requests_that_share_fields_share_the_nonce_until_one_of_them_holds_it() {
        let of = |sentence: &str| {
            JudgeRequest::new("faithfulness.sentence", Language::En)
                .numbered("contexts", ["c"])
                .text("sentence", sentence)
        };
        let nonce = |request: &JudgeRequest| Fenced::of("hash", request, &["contexts"]).nonce;
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
