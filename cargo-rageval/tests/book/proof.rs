//! That the test of the book can fail: a page with one fault each, and the word that tells it.

use super::{block, compiled, links, page::Page, red_texts, walk};

/// A page, what is wrong with it, and what must be said.
const FAULTS: &[(&str, &str, &str)] = &[
    ("a word that nobody knows", "```sh ignore-me\nfalse\n```\n", "is no word for a block"),
    ("a language that nobody knows", "```\nfalse\n```\n", "a block of the language"),
    ("an indented block", "a\n\n    false\n", "a block of the language"),
    ("a text that nothing holds", "```text\na\n```\n", "a text must say"),
    ("a text that its file lacks", "```text shown-by=README.md\nno such line\n```\n", "does not hold"),
    ("a policy with an unknown key", "```yaml\nmetrics: {recall@5: {minimum: 1}}\n```\n", "minimum"),
    ("cases with an unknown key", "```yaml\n- {id: a, querry: b}\n```\n", "querry"),
    ("JSON that is none", "```json\n{a: 1}\n```\n", "key must be a string"),
    ("a script with an unknown key", "```json as=script\n{\"reqest\": 1}\n```\n", "reqest"),
    (
        "an input that the action lacks",
        "```yaml as=workflow\n- uses: ./\n  with: {judge-mod: replay}\n```\n",
        "judge-mod",
    ),
    ("a format that nothing reads", "```csv\na,b\n```\n", "nothing reads csv"),
    ("a file that the reader can't name", "```json file=a.json\n1\n```\n", "do not name `a.json`"),
    ("a link to no page", "[a](nowhere.md)\n", "no such page"),
    ("a link to no heading", "[a](#nowhere)\n", "no such heading"),
    ("a link out of the book", "[a](../README.md)\n", "leads out of the book"),
    ("a page that the summary lacks", "# A page\n", "names docs/fault.md as []"),
];

/// The same, of blocks that run.
const FAILURES: &[(&str, &str, &str)] = &[
    ("another output", "```console\n$ echo a\nb\n```\n", "+++"),
    ("output that the page lacks", "```console\n$ echo a\n```\n", "+++"),
    ("an output that never comes", "```console\n$ true\na\n```\n", "---"),
    ("a command that fails", "```sh\nfalse\n```\n", "ended with Some(1), not with 0"),
    ("a command that passes and should not", "```console exit=1\n$ true\n```\n", "ended with Some(0), not with 1"),
    ("a first command that fails", "```sh\nfalse\ntrue\n```\n", "ended with Some(1)"),
    ("a block without a command", "```console\na\n```\n", "begins with `$ `"),
    ("lines for a file that is not there", "```toml append=a.toml\na = 1\n```\n", "a.toml"),
    ("a policy as a file", "```yaml file=thresholds.yaml\nversion: 2\n```\n", "version"),
];

/// Faults that go unseen.
pub(crate) fn unseen() -> Vec<String> {
    let mut unseen = Vec::new();
    let mut look = |(what, text, told): &(&str, &str, &str)| {
        let page = Page::new("docs/fault.md".to_owned(), (*text).to_owned());
        let mut said = walk::page(&page).err().unwrap_or_default();
        let pages = [page, Page::new("docs/SUMMARY.md".to_owned(), String::new())];
        said += &block::faults(&pages[0]).join("\n");
        said += &links::broken(&pages).join("\n");
        said += &links::not_in_the_summary(&pages).join("\n");
        if !said.contains(told) {
            unseen.push(format!("{what}: nothing says {told:?}, but\n{said}"));
        }
    };
    FAULTS.iter().for_each(&mut look);
    if cfg!(unix) {
        FAILURES.iter().for_each(&mut look);
        let rust = [Page::new("docs/fault.md".to_owned(), "```rust\nfn a() -> u8 { \"\" }\n```\n".to_owned())];
        if compiled::check(&rust, "fault").is_ok() {
            unseen.push("Rust that does not compile".to_owned());
        }
    }
    let red = [Page::new("docs/red.md".to_owned(), "### `nothing prints this, ever`\n".to_owned())];
    if red_texts::unknown(&red).is_empty() {
        unseen.push("a red text that nothing prints".to_owned());
    }
    if red_texts::unexplained(&red).len() < 40 {
        unseen.push("red texts that the page does not explain".to_owned());
    }
    unseen
}
