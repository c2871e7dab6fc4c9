//! A fenced block: its language, and the words that say what it is.
//!
//! A reader sees none of them: mdBook and GitHub take the first word for the language and leave out the others.

use std::ops::Range;

use super::page::Page;

/// Words with a value, `file=thresholds.yaml`.
const VALUES: &[(&str, &str)] = &[
    ("file", "the content of this file of the page's folder"),
    ("append", "lines to add to this file"),
    (
        "in",
        "commands that run in a copy of `tests/book/projects/NAME`, the same for all blocks of the page that name it",
    ),
    ("exit", "how the last command of the block ends; 0 where it is left out"),
    ("as", "the format in which it is read"),
    ("shown-by", "a file of the repository in which each of its lines stands: a test, or what is in use"),
    ("with", "what stands around a piece of Rust that is compiled"),
];

/// Why a block is not run.
pub(crate) const IGNORED: &[(&str, &str)] = &[
    ("ignore-hosted", "needs a model, a server or a key"),
    ("ignore-install", "installs software or writes outside of the folder"),
    ("ignore-github", "runs on GitHub"),
    ("ignore-person", "waits for a person at a terminal"),
    ("ignore-slow", "takes minutes, or belongs to a bench"),
    ("ignore-repository", "is for a clone of this repository, whose own checks run it"),
    ("ignore-output", "shows what a program prints, and stands for more than one run"),
    ("ignore-form", "shows a form or a drawing, and nothing that could run"),
];

/// Languages that a block may be of.
const LANGUAGES: &[&str] = &["console", "sh", "yaml", "json", "toml", "rust", "python", "text", "mermaid", "csv"];

/// A block.
pub(crate) struct Block {
    /// The first word; empty where there is none.
    pub(crate) language: String,
    pub(crate) words: Vec<String>,
    /// Of its fence, from 1.
    pub(crate) line: usize,
    pub(crate) body: String,
    /// Of the body in the page.
    pub(crate) place: Range<usize>,
}

impl Block {
    pub(crate) fn new(info: &str, line: usize, body: String, place: Range<usize>) -> Self {
        let mut words = info.split_whitespace().map(str::to_owned);
        Self { language: words.next().unwrap_or_default(), words: words.collect(), line, body, place }
    }

    /// The value of a word, `thresholds.yaml` of `file=thresholds.yaml`.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    }

    /// The word that says why it is not run.
    pub(crate) fn ignored(&self) -> Option<&str> {
        self.words.iter().map(String::as_str).find(|word| word.starts_with("ignore-"))
    }

    /// What the test does with it, for the count.
    pub(crate) fn kind(&self) -> String {
        match self.ignored() {
            Some(word) => format!("not run, {word}"),
            None if self.value("shown-by").is_some() => format!("{}, each line held by another file", self.language),
            None if self.language == "mermaid" => "mermaid, a drawing".to_owned(),
            None if matches!(self.language.as_str(), "console" | "sh") => format!("{}, run", self.language),
            None if self.value("file").or(self.value("append")).is_some() => {
                format!("{}, a file that commands use", self.language)
            }
            None if self.language == "rust" => "rust, compiled".to_owned(),
            None => format!("{}, read", self.language),
        }
    }
}

/// What is wrong with the words of a page's blocks.
pub(crate) fn faults(page: &Page) -> Vec<String> {
    let mut faults = Vec::new();
    let mut read_to = 0;
    for block in &page.blocks {
        let before = &page.text[read_to..block.place.start];
        read_to = block.place.end;
        let mut say = |what: String| faults.push(format!("{}:{}: {what}", page.path, block.line));
        if !LANGUAGES.contains(&block.language.as_str()) {
            say(format!("a block of the language {:?}; known are {}", block.language, LANGUAGES.join(", ")));
        }
        for word in &block.words {
            let known = match word.split_once('=') {
                Some((name, value)) => !value.is_empty() && VALUES.iter().any(|(known, _)| *known == name),
                None => IGNORED.iter().any(|(known, _)| known == word),
            };
            if !known {
                say(format!("{word:?} is no word for a block; tests/book/block.rs lists them"));
            }
        }
        if let Some(file) = block.value("file").or(block.value("append"))
            && !before.contains(&format!("`{file}`"))
        {
            say(format!(
                "the words before it do not name `{file}`, and a reader does not see what stands behind the language"
            ));
        }
        let said = block.ignored().is_some() || block.value("shown-by").is_some();
        if block.language == "text" && !said && block.value("file").is_none() {
            say("a text must say which test holds it (`shown-by=FILE`), which file it is, or why none does".to_owned());
        }
    }
    faults
}
