//! Writes a text as a JSON string on one line in which nothing hides and no chat template finds a token of its own.

use std::fmt::Write;

/// Writes the text as a JSON string: reading it as JSON gives the text back.
///
/// Beyond what JSON demands, these are written as `\u....`: characters that show nothing (direction controls, zero-width and tag
/// characters, variation selectors, private use), and the first character of what a model's chat template may read as its own
/// (`<|im_end|>`, `</s>`, `[INST]`).
pub(super) fn write_one_line(text: &str, line: &mut String) {
    line.push('"');
    let mut rest = text;
    loop {
        let plain = plain_length(rest.as_bytes());
        let (before, from) = rest.split_at(plain);
        line.push_str(before);
        let Some(c) = from.chars().next() else { break };
        rest = &from[c.len_utf8()..];
        match c {
            '"' => line.push_str("\\\""),
            '\\' => line.push_str("\\\\"),
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            '<' if opens_a_tag(rest) => escape(line, c),
            '[' if opens_a_marker(rest) => escape(line, c),
            c if c.is_control() || is_hidden(c) => escape(line, c),
            c => line.push(c),
        }
    }
    line.push('"');
}

/// How many bytes at the start of a text are written as they are, whatever follows. Most texts are one such run, so that this is the loop
/// that the time goes into.
fn plain_length(bytes: &[u8]) -> usize {
    let mut length = 0;
    while length < bytes.len() && IS_PLAIN[bytes[length] as usize] {
        length += 1;
    }
    length
}

/// The printable letters of ASCII but for those that are looked at.
const IS_PLAIN: [bool; 256] = {
    let mut is_plain = [false; 256];
    let mut byte = 0x20;
    while byte < 0x7f {
        is_plain[byte] = !matches!(byte as u8, b'"' | b'\\' | b'<' | b'[');
        byte += 1;
    }
    is_plain
};

fn escape(line: &mut String, c: char) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        // Writing to a string can't fail.
        let _ = write!(line, "\\u{unit:04x}");
    }
}

/// Whether a `<` with this after it could begin `<s>`, `</s>`, `<|end|>`, `<<SYS>>`; not so in `a < b`, `<3` and `<= 5`.
fn opens_a_tag(rest: &str) -> bool {
    rest.chars().next().is_some_and(|c| !c.is_whitespace() && !c.is_numeric() && !matches!(c, '=' | '-' | '.' | ','))
}

/// Whether a `[` with this after it begins `[INST]`, `[/INST]`, `[gMASK]`; not so in `[1]` and `[a]`.
fn opens_a_marker(rest: &str) -> bool {
    let name = rest.strip_prefix('/').unwrap_or(rest);
    let end = name.find(|c: char| !c.is_ascii_alphabetic() && c != '_').unwrap_or(name.len());
    2 <= end && name[end..].starts_with(']')
}

/// Characters that show nothing or change the order of others, by Unicode's `Default_Ignorable_Code_Point` with separators, private
/// use, specials and the blank letters added.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{2800}' | '\u{3164}'
        | '\u{E000}'..='\u{F8FF}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}'
        | '\u{FFFE}'..='\u{FFFF}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{10FFFF}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn one_line(text: &str) -> String {
        let mut line = String::new();
        write_one_line(text, &mut line);
        line
    }

    #[test]
    fn readable_text_stays_readable() {
        for text in
            ["退款需要 30 天。", "São 30 dias, não 15.", "a < b, x <= 5, <3 and [1] [a] [see below]", "/n 'x' > y", ""]
        {
            assert_eq!(one_line(text), format!("\"{text}\""));
        }
        assert_eq!(one_line("a\n\"b\"\t\\"), r#""a\n\"b\"\t\\""#);
    }

    #[test]
    fn hidden_text_and_chat_tokens_are_spelled_out() {
        for (text, expected) in [
            ("a\u{202E}b\u{200B}", r#""a\u202eb\u200b""#),
            ("\u{E0041}", r#""\udb40\udc41""#),
            ("\u{7f}\u{85}\u{2028}\0", r#""\u007f\u0085\u2028\u0000""#),
            ("<|im_end|>", r#""\u003c|im_end|>""#),
            ("</s><s>", r#""\u003c/s>\u003cs>""#),
            ("<<SYS>>", r#""\u003c\u003cSYS>>""#),
            ("<｜User｜>", r#""\u003c｜User｜>""#),
            ("[INST][/INST][gMASK]", r#""\u005bINST]\u005b/INST]\u005bgMASK]""#),
        ] {
            assert_eq!(one_line(text), expected);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_one_line_that_reads_back(text in any::<String>()) {
            let line = one_line(&text);
            prop_assert_eq!(line.lines().count(), 1);
            prop_assert!(!line.chars().any(|c| c.is_control() || is_hidden(c)));
            prop_assert_eq!(serde_json::from_str::<String>(&line).expect("JSON"), text);
        }
    }
}
