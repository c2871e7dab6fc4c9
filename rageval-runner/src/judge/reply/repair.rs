//! Reads what is nearly JSON, and never changes what stands inside a string.

use serde_json::{Map, Number, Value};

/// Objects and lists inside each other; a judge is asked for three or four.
const DEEPEST: usize = 64;

/// Characters that are looked at behind a quotation mark to tell whether it ends its string, blanks right behind it aside.
const AHEAD: usize = 160;

/// Blanks and characters that nobody sees.
pub(super) fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}')
}

/// Any mark that a judge may put around a string.
pub(super) fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '“' | '”' | '„' | '‘' | '’' | '＂')
}

/// The quotation marks that close a text which this one opened.
fn closers(open: char) -> &'static [char] {
    match open {
        '“' | '”' | '„' | '＂' => &['”', '“', '"', '＂'],
        '‘' | '’' => &['’', '‘', '\''],
        '\'' => &['\''],
        _ => &['"'],
    }
}

/// Whether what starts with `{` or `[` starts like JSON rather than like prose: `{"`, `{name:`, `[{`.
pub(super) fn begins_json(text: &str) -> bool {
    let is_object = |text: &str| {
        let Some(inner) = text.strip_prefix('{') else { return false };
        let inner = inner.trim_start_matches(is_blank);
        inner.starts_with(is_quote) || is_member(inner)
    };
    match text.strip_prefix('[') {
        Some(inner) => is_object(inner.trim_start_matches(is_blank)),
        None => is_object(text),
    }
}

/// The value that the text begins with, and its length in bytes.
pub(super) fn first(text: &str) -> Result<(Value, usize), String> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(0, Role::Value)?;
    Ok((value, reader.at))
}

/// What a string is, which says what may follow it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Key,
    Value,
    Item,
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Steps over blanks and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches(is_blank);
            let comment = if trimmed.starts_with("//") || trimmed.starts_with('#') {
                trimmed.find('\n').unwrap_or(trimmed.len())
            } else if trimmed.starts_with("/*") {
                trimmed.find("*/").map_or(trimmed.len(), |end| end + 2)
            } else {
                0
            };
            self.at += rest.len() - trimmed.len() + comment;
            if comment == 0 {
                return;
            }
        }
    }

    /// Steps over one of these characters where it comes next.
    fn take(&mut self, any: &[char]) -> bool {
        self.skip();
        match self.peek() {
            Some(c) if any.contains(&c) => {
                self.at += c.len_utf8();
                true
            }
            _ => false,
        }
    }

    fn unexpected(&self, wanted: &str) -> String {
        match self.peek() {
            None => "the JSON in the reply is cut off".to_owned(),
            Some(_) => {
                let found: String = self.rest().chars().take(20).collect();
                format!("the JSON in the reply has `{found}` where {wanted} belongs")
            }
        }
    }

    fn value(&mut self, depth: usize, role: Role) -> Result<Value, String> {
        if depth > DEEPEST {
            return Err(format!("the JSON in the reply is nested more than {DEEPEST} deep"));
        }
        self.skip();
        match self.peek() {
            Some('{') => self.object(depth),
            Some('[') => self.list(depth),
            Some(c) if is_quote(c) => self.string(role).map(Value::String),
            _ => self.literal(),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, String> {
        self.at += 1;
        let mut object = Map::new();
        while !self.take(&['}']) {
            let key = self.key()?;
            if !self.take(&[':', '：']) {
                return Err(self.unexpected("a colon"));
            }
            let value = self.value(depth + 1, Role::Value)?;
            if object.contains_key(&key) {
                return Err(format!("the key `{key}` stands twice in one object"));
            }
            object.insert(key, value);
            if !self.take(&[',', '，']) && self.peek() != Some('}') {
                return Err(self.unexpected("a comma or the object's end"));
            }
        }
        Ok(Value::Object(object))
    }

    fn list(&mut self, depth: usize) -> Result<Value, String> {
        self.at += 1;
        let mut list = Vec::new();
        while !self.take(&[']']) {
            list.push(self.value(depth + 1, Role::Item)?);
            if !self.take(&[',', '，']) && self.peek() != Some(']') {
                return Err(self.unexpected("a comma or the list's end"));
            }
        }
        Ok(Value::Array(list))
    }

    fn key(&mut self) -> Result<String, String> {
        if self.peek().is_some_and(is_quote) {
            return self.string(Role::Key);
        }
        let length = name_length(self.rest());
        if length == 0 {
            return Err(self.unexpected("a key"));
        }
        let key = self.rest()[..length].to_owned();
        self.at += length;
        Ok(key)
    }

    /// A number or a word; the words of Python too. `NaN`, `Infinity` and anything else is no value.
    fn literal(&mut self) -> Result<Value, String> {
        let rest = self.rest();
        let length = rest.find(|c: char| !(c.is_alphanumeric() || "+-._".contains(c))).unwrap_or(rest.len());
        let word = &rest[..length];
        let value = match word {
            "true" | "True" => Value::Bool(true),
            "false" | "False" => Value::Bool(false),
            "null" | "None" => Value::Null,
            _ => match serde_json::from_str::<Number>(word) {
                Ok(number) => Value::Number(number),
                Err(_) => return Err(self.unexpected("a value")),
            },
        };
        self.at += length;
        Ok(value)
    }

    /// A string with its content as it stands: line breaks, control characters and escapes that JSON lacks are kept, and a quotation mark
    /// that nothing of the structure follows is part of it.
    fn string(&mut self, role: Role) -> Result<String, String> {
        let Some(open) = self.peek() else { return Err(self.unexpected("a string")) };
        self.at += open.len_utf8();
        let closers = closers(open);
        let mut content = String::new();
        while let Some(c) = self.peek() {
            self.at += c.len_utf8();
            if c == '\\' {
                self.escape(&mut content);
            } else if closers.contains(&c) && ends_string(self.rest(), role) {
                return Ok(content);
            } else {
                content.push(c);
            }
        }
        Err("the JSON in the reply is cut off inside a string".to_owned())
    }

    /// What stands behind a backslash.
    fn escape(&mut self, content: &mut String) {
        let Some(c) = self.peek() else { return content.push('\\') };
        self.at += c.len_utf8();
        match c {
            'n' => content.push('\n'),
            't' => content.push('\t'),
            'r' => content.push('\r'),
            'b' => content.push('\u{8}'),
            'f' => content.push('\u{c}'),
            '/' | '\\' => content.push(c),
            _ if is_quote(c) => content.push(c),
            'u' => match unicode(self.rest()) {
                Some((decoded, length)) => {
                    content.push(decoded);
                    self.at += length;
                }
                None => content.push_str("\\u"),
            },
            _ => {
                content.push('\\');
                content.push(c);
            }
        }
    }
}

/// The character that the digits behind `\u` stand for, and the length of its notation from there.
fn unicode(text: &str) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
        u16::from_str_radix(digits, 16).ok()
    };
    let high = unit(0)?;
    if let Some(c) = char::from_u32(u32::from(high)) {
        return Some((c, 4));
    }
    let low = text.get(4..6).filter(|next| *next == "\\u").and_then(|_| unit(6))?;
    let decoded = char::decode_utf16([high, low]).next()?.ok()?;
    Some((decoded, 10))
}

/// Whether a quotation mark in front of this text ends a string: what follows is what the structure needs next.
fn ends_string(after: &str, role: Role) -> bool {
    let after = after.trim_start_matches(is_blank);
    let end = after.char_indices().nth(AHEAD).map_or(after.len(), |(end, _)| end);
    let mut near = after[..end].chars();
    let next = near.next();
    let rest = near.as_str().trim_start_matches(is_blank);
    let is_comma = matches!(next, Some(',' | '，'));
    let is_comment = |text: &str| text.starts_with("//") || text.starts_with("/*") || text.starts_with('#');
    if is_comment(after) && role != Role::Key {
        return true;
    }
    match role {
        Role::Key => matches!(next, Some(':' | '：')),
        Role::Value => {
            next == Some('}') || (is_comma && (rest.starts_with('}') || is_member(rest) || is_comment(rest)))
        }
        Role::Item => next == Some(']') || (is_comma && (rest.starts_with([']', '{', '[']) || begins_item(rest))),
    }
}

/// Whether a text begins with a key and its colon.
fn is_member(text: &str) -> bool {
    let after = match text.chars().next() {
        Some(open) if is_quote(open) => {
            let inner = &text[open.len_utf8()..];
            // An escaped quotation mark belongs to the key.
            let mut is_escaped = false;
            let near = inner.char_indices().take(AHEAD).find(|(_, c)| {
                let is_end = !is_escaped && closers(open).contains(c);
                is_escaped = !is_escaped && *c == '\\';
                is_end
            });
            near.map(|(end, close)| &inner[end + close.len_utf8()..])
        }
        Some(_) => Some(name_length(text)).filter(|length| *length > 0).map(|length| &text[length..]),
        None => None,
    };
    let colon = |after: &str| after.chars().take(AHEAD).find(|c| !is_blank(*c)).is_some_and(|c| c == ':' || c == '：');
    after.is_some_and(colon)
}

fn begins_item(text: &str) -> bool {
    text.starts_with(is_quote)
        || text.starts_with(|c: char| c == '-' || c.is_ascii_digit())
        || ["true", "false", "null", "True", "False", "None"].into_iter().any(|word| text.starts_with(word))
}

/// The length of a key that stands without quotation marks, at most [`AHEAD`].
fn name_length(text: &str) -> usize {
    let is_name = |(at, c): &(usize, char)| c.is_ascii_alphabetic() || *c == '_' || (*at > 0 && c.is_ascii_digit());
    text.char_indices().take(AHEAD).take_while(is_name).count()
}
