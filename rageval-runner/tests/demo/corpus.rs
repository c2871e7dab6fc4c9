//! The documents of the help centre, one Markdown file a language.

use std::sync::OnceLock;

use super::language::Language;

/// One article of the help centre.
#[derive(Debug)]
pub(crate) struct Document {
    /// Unique over all languages, such as `en/refund-window`.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) text: String,
}

/// All documents of one language, in the order of its file.
pub(crate) fn documents(language: Language) -> &'static [Document] {
    static ENGLISH: OnceLock<Vec<Document>> = OnceLock::new();
    static PORTUGUESE: OnceLock<Vec<Document>> = OnceLock::new();
    static CHINESE: OnceLock<Vec<Document>> = OnceLock::new();
    match language {
        Language::English => ENGLISH.get_or_init(|| parse(include_str!("corpus/en.md"))),
        Language::Portuguese => PORTUGUESE.get_or_init(|| parse(include_str!("corpus/pt.md"))),
        Language::Chinese => CHINESE.get_or_init(|| parse(include_str!("corpus/zh.md"))),
    }
}

/// Reads `## Title {#id}` headings, each followed by the text of its document.
fn parse(markdown: &'static str) -> Vec<Document> {
    markdown.split("\n## ").skip(1).map(parse_section).collect()
}

fn parse_section(section: &'static str) -> Document {
    let (heading, text) = section.split_once('\n').expect("a heading has a text below it");
    let (title, id) = heading
        .trim_end()
        .strip_suffix('}')
        .and_then(|heading| heading.split_once(" {#"))
        .expect("a heading ends with its id, as in `## Title {#id}`");
    Document { id, title, text: text.trim().to_owned() }
}
