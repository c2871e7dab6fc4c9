//! Words of commands that people copy into a shell.

/// A text between single quotes, which a POSIX shell takes for one word.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The same without quotes where none are needed.
pub fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_=.:/".contains(c);
    if !text.is_empty() && !text.starts_with('=') && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        quoted(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_a_shell_is_quoted_where_it_must_be() {
        for (text, word) in [
            ("case-1", "case-1"),
            ("language=pt", "language=pt"),
            ("退款", "退款"),
            ("", "''"),
            ("=cmd", "'=cmd'"),
            ("it's $HOME", r"'it'\''s $HOME'"),
        ] {
            assert_eq!(super::word(text), word);
        }
        assert_eq!(quoted("a"), "'a'");
    }
}
