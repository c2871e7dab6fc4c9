//! Text from outside as data: nothing in it is markup, a link, a mention or a reference.
//!
//! GitHub looks for `@name`, `#123`, commit ids, addresses and `:emoji:` in the text of a page after Markdown was read, so that a backslash
//! or an entity before them does not help. In a code span it looks for none, and Markdown knows no markup there. So everything
//! that is not ours stands in one, shortened, on one line, with invisible characters spelled out.

use rageval_runner::report::console::text::shortened;

use crate::report::why;

/// A text as a code span.
pub(super) fn code(text: &str, columns: usize) -> String {
    let text = shortened(text, columns);
    if text.is_empty() {
        return "–".to_owned();
    }
    let fence = "`".repeat(longest_run(&text) + 1);
    let blank = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{blank}{text}{blank}{fence}")
}

/// A row of a table of texts of ours and code spans.
pub(super) fn row(cells: &[String]) -> String {
    // A bar ends a cell unless a backslash stands before it, in code too; a backslash of the text itself must not be that one.
    let whole = |cell: &String| cell.replace("\\|", "\\ |").replace('|', "\\|");
    format!("| {} |\n", cells.iter().map(whole).collect::<Vec<_>>().join(" | "))
}

/// A sentence of ours that may name something from outside: as it is where it is made of plain words and numbers, else as a code span.
pub(super) fn sentence(text: &str) -> String {
    let is_plain = |word: &str| {
        let word = word.trim_start_matches('(').trim_end_matches([')', ',', ';', ':', '.']);
        let is_number = |part: &str| part.len() <= 9 && part.bytes().all(|byte| byte.is_ascii_digit());
        let is_word = word.len() < 20 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
        is_word || word.split('/').all(is_number)
    };
    if text.split(' ').all(is_plain) { text.to_owned() } else { code(text, 200) }
}

/// Lines as a block of code.
pub(super) fn block<'a>(lines: impl IntoIterator<Item = &'a str>) -> String {
    let text = lines.into_iter().map(why::line).collect::<Vec<_>>().join("\n");
    let fence = "`".repeat(longest_run(&text).max(2) + 1);
    format!("{fence}text\n{text}\n{fence}\n")
}

/// The longest run of backticks.
fn longest_run(text: &str) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_code_span_whatever_it_holds() {
        for (text, span) in [
            ("plain", "`plain`"),
            ("a `b` c", "``a `b` c``"),
            ("`b`", "`` `b` ``"),
            ("```", "```` ``` ````"),
            ("a|b", "`a|b`"),
            ("a\nb\r\n| c", "`a b | c`"),
            ("", "–"),
            ("\u{202e}x", "`<U+202E>x`"),
        ] {
            assert_eq!(code(text, 100), span, "{text:?}");
        }
    }

    #[test]
    fn a_bar_ends_no_cell() {
        for (text, line) in
            [("a|b", "| `a\\|b` | c |\n"), ("a\\|b", "| `a\\ \\|b` | c |\n"), ("a\\", "| `a\\` | c |\n")]
        {
            assert_eq!(row(&[code(text, 100), "c".to_owned()]), line);
        }
    }

    #[test]
    fn only_plain_words_are_no_code() {
        assert_eq!(sentence("failed: 3 of 60 cases and 2 gates"), "failed: 3 of 60 cases and 2 gates");
        assert_eq!(sentence("partial: 1 of 2 cases ran (shard 1/3)"), "partial: 1 of 2 cases ran (shard 1/3)");
        for text in ["see @team", "fixes #1", "www.example.com", "a://b", "<b>", "*a*", "GH-1", ":smile:"] {
            assert_eq!(sentence(text), format!("`{text}`"));
        }
    }

    #[test]
    fn a_block_is_closed_by_nothing_in_it() {
        assert_eq!(block(["claim       a ```", "            b"]), "````text\nclaim       a ```\n            b\n````\n");
        assert_eq!(block(["a\n```\n@x"]), "````text\na ``` @x\n````\n");
    }
}
