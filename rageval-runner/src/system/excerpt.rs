//! Shortens what a system said, so that it fits into a reason.

/// Characters of a reply that a reason shows.
pub(crate) const REPLY: usize = 200;

/// Characters of an error's chain that a reason shows.
pub(crate) const ERROR: usize = 300;

/// The text on one line without terminal sequences, cut to `max` characters; `…` marks the cut.
pub(crate) fn excerpt(text: &str, max: usize) -> String {
    let mut shown = String::new();
    let mut blank = false;
    let mut count = 0;
    let mut rest = text.trim().chars();
    while let Some(c) = rest.next() {
        if c == '\u{1b}' {
            skip_terminal_sequence(&mut rest);
            continue;
        }
        // Line ends and other control characters would break the line that the reason is printed on.
        if c.is_whitespace() || c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') {
            blank = true;
            continue;
        }
        if blank && !shown.is_empty() {
            shown.push(' ');
            count += 1;
        }
        blank = false;
        if count >= max {
            shown.truncate(shown.trim_end().len());
            shown.push('…');
            break;
        }
        shown.push(c);
        count += 1;
    }
    shown
}

/// Skips the rest of `ESC [ … letter`, or the one character after another `ESC`.
fn skip_terminal_sequence(rest: &mut std::str::Chars<'_>) {
    if rest.next() == Some('[') {
        for c in rest.by_ref() {
            if ('@'..='~').contains(&c) {
                break;
            }
        }
    }
}

/// An error with everything below it: `asking failed: connection refused`. A cause whose text its parent already holds is left out.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let below = cause.to_string();
        if !text.contains(&below) {
            text.push_str(": ");
            text.push_str(&below);
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(excerpt("退款期限", 2), "退款…");
        assert_eq!(excerpt("ab cd", 3), "ab…");
        assert_eq!(excerpt("abc", 3), "abc");
    }

    #[test]
    fn control_characters_and_terminal_sequences_do_not_get_through() {
        assert_eq!(excerpt("\u{1b}[31mred\u{1b}[0m\r\n\tline\u{7}\u{2028}end\u{1b}", 99), "red line end");
    }

    #[test]
    fn a_cause_is_named_once() {
        #[derive(Debug, thiserror::Error)]
        #[error("asking failed")]
        struct Outer(#[source] std::io::Error);
        let error = Outer(std::io::Error::other("connection refused"));
        assert_eq!(chain(&error), "asking failed: connection refused");

        #[derive(Debug, thiserror::Error)]
        #[error("asking failed: {0}")]
        struct Repeats(#[source] std::io::Error);
        assert_eq!(chain(&Repeats(std::io::Error::other("no"))), "asking failed: no");
    }
}
