//! Lists in the cells of a table: JSON, or as Python prints them.

/// The items of a list; `None` for one that says nothing. JSON and `repr` of a Python list or a numpy array are read.
///
/// # Errors
/// What is wrong with it, as a phrase.
pub(crate) fn list(text: &str) -> Result<Vec<Option<String>>, String> {
    if let Ok(items) = serde_json::from_str::<Vec<serde_json::Value>>(text) {
        return items.into_iter().map(json_item).collect();
    }
    Python { rest: text.trim() }.list()
}

/// Whether a cell says that there is nothing, as Python's tools write it.
pub(crate) fn is_nothing(text: &str) -> bool {
    matches!(text.trim(), "nan" | "NaN" | "None" | "null" | "<NA>" | "NaT")
}

fn json_item(item: serde_json::Value) -> Result<Option<String>, String> {
    match item {
        serde_json::Value::Null => Ok(None),
        serde_json::Value::String(text) => Ok(Some(text)),
        serde_json::Value::Number(number) => Ok(Some(number.to_string())),
        other => Err(format!("{other} is no text")),
    }
}

struct Python<'t> {
    rest: &'t str,
}

impl Python<'_> {
    fn list(mut self) -> Result<Vec<Option<String>>, String> {
        if !self.take("[") {
            return Err("it does not start with `[`".to_owned());
        }
        let mut items = Vec::new();
        loop {
            self.rest = self.rest.trim_start();
            if self.take("]") {
                break;
            }
            // numpy puts blanks between the items and no commas.
            if self.take(",") && !items.is_empty() {
                continue;
            }
            items.push(self.item()?);
        }
        if self.rest.trim().is_empty() { Ok(items) } else { Err("something follows the list".to_owned()) }
    }

    fn take(&mut self, what: &str) -> bool {
        let rest = self.rest.strip_prefix(what);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn item(&mut self) -> Result<Option<String>, String> {
        match self.rest.chars().next() {
            None => Err("the list is cut off".to_owned()),
            Some(quote @ ('\'' | '"')) => self.literal(quote).map(Some),
            Some(_) => {
                let end = self.rest.find([',', ']', ' ', '\n']).unwrap_or(self.rest.len());
                let (word, rest) = self.rest.split_at(end);
                self.rest = rest;
                match word {
                    "None" | "nan" => Ok(None),
                    _ if word.parse::<f64>().is_ok() => Ok(Some(word.to_owned())),
                    "..." => Err("it was shortened when it was printed".to_owned()),
                    _ => Err(format!("`{word}` is no text in quotes")),
                }
            }
        }
    }

    fn literal(&mut self, quote: char) -> Result<String, String> {
        let mut text = String::new();
        let mut chars = self.rest[quote.len_utf8()..].char_indices();
        while let Some((at, c)) = chars.next() {
            if c == quote {
                self.rest = &self.rest[quote.len_utf8() + at + c.len_utf8()..];
                return Ok(text);
            }
            if c != '\\' {
                text.push(c);
                continue;
            }
            let Some((_, escaped)) = chars.next() else { break };
            let digits = match escaped {
                'x' => 2,
                'u' => 4,
                'U' => 8,
                _ => 0,
            };
            if digits == 0 {
                match escaped {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    '\\' | '\'' | '"' => text.push(escaped),
                    // Python keeps a backslash that escapes nothing.
                    other => text.extend(['\\', other]),
                }
                continue;
            }
            let code: String = chars.by_ref().take(digits).map(|(_, c)| c).collect();
            let c = u32::from_str_radix(&code, 16).ok().and_then(char::from_u32);
            text.push(c.ok_or_else(|| format!("`\\{escaped}{code}` is no character"))?);
        }
        Err("a text in it is never closed".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let items = list(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(items, expected.iter().map(|text| Some((*text).to_owned())).collect::<Vec<_>>(), "{text}");
    }

    #[test]
    fn json_and_python_and_numpy_lists_are_read() {
        check(r#"["a", "b; c"]"#, &["a", "b; c"]);
        check(r#"['a', "it's", 'x\n\'y\'', 'caf\xe9', '\u4f60\U0001f600']"#, &["a", "it's", "x\n'y'", "café", "你😀"]);
        check("['a' 'b'\n 'c']", &["a", "b", "c"]);
        check("[1, 2]", &["1", "2"]);
        check("[]", &[]);
        check("['a',]", &["a"]);
        check(r"['\d+']", &[r"\d+"]);
        assert_eq!(list("[None, 'a']"), Ok(vec![None, Some("a".to_owned())]));
    }

    #[test]
    fn what_is_no_list_of_texts_is_refused() {
        for text in ["a", "['a'", "['a", "[{'a': 1}]", "['a' ... 'b']", "['a'] b", "[\"a\", [\"b\"]]", r"['\ud800']"] {
            assert!(list(text).is_err(), "{text}");
        }
    }
}
