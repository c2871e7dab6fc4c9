//! Compiles the pieces of Rust that pages show, each a module of one program of a reader's crate.

use std::fmt::Write as _;

use super::{page::Page, sandbox::Sandbox};

const MANIFEST: &str = r#"[package]
name = "book"
version = "0.0.0"
edition = "2024"

[dev-dependencies]
rageval-runner = "0.1"
serde_json = "1"
"#;

/// What may stand around a piece: by the word of `with=`.
const AROUND: &[(&str, &str)] = &[
    (
        "answer",
        "async fn answer(query: String) -> rageval_runner::Result<rageval_runner::Answer> { Ok(rageval_runner::Answer::new(query)) }\n",
    ),
    (
        "my_crate",
        r#"mod my_crate {
    pub(crate) struct Hit { pub(crate) id: String, pub(crate) text: String, pub(crate) score: f64 }
    pub(crate) async fn search(_query: &str) -> rageval_runner::Result<Vec<Hit>> { Ok(Vec::new()) }
    pub(crate) fn compose(query: &str, _found: &[Hit]) -> String { query.to_owned() }
}
"#,
    ),
];

/// Compiles the blocks of all pages, in a folder of this name.
pub(crate) fn check(pages: &[Page], folder: &str) -> Result<(), String> {
    // Windows has no `sh`.
    if cfg!(not(unix)) {
        return Ok(());
    }
    let mut sandbox = Sandbox::new(folder, None);
    sandbox.write("Cargo.toml", MANIFEST);
    sandbox.write("src/lib.rs", "");
    let mut program = String::new();
    for page in pages {
        let pieces = page
            .blocks
            .iter()
            .filter(|block| block.language == "rust" && block.ignored().is_none() && block.value("file").is_none());
        for block in pieces {
            let name: String = page
                .path
                .chars()
                .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
                .collect();
            let whole = whole(&block.body, block.value("with"))?;
            let (path, line) = (&page.path, block.line);
            writeln!(program, "// {path}:{line}\nmod {name}_{line} {{\n{whole}}}\n").expect("a text grows");
        }
    }
    if program.is_empty() {
        return Err("the book has no piece of Rust".to_owned());
    }
    sandbox.write(
        "examples/pieces.rs",
        &format!(
            "#![allow(dead_code, unused_imports, reason = \"pieces of something larger\")]\n\n{program}fn main() {{}}\n"
        ),
    );
    // A check would build what the gate needs once more, as metadata; built, it is there.
    let ended = sandbox.run("cargo build --quiet --example pieces")?;
    if ended.code == Some(0) { Ok(()) } else { Err(ended.printed) }
}

/// A piece with what stands around it.
fn whole(body: &str, with: Option<&str>) -> Result<String, String> {
    let words: Vec<&str> = with.map(|with| with.split(',').collect()).unwrap_or_default();
    let mut text = String::new();
    for word in words.iter().filter(|word| **word != "main") {
        let around = AROUND.iter().find(|(name, _)| name == word);
        text += around.ok_or_else(|| format!("with={word}: nothing of that name is known"))?.1;
    }
    Ok(if words.contains(&"main") { format!("{text}fn main() {{\n{body}\n}}\n") } else { text + body })
}
