//! Finds what a person must not see again in an error: keys and passwords that were pasted into a file.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::source::Span;
use crate::system::spec::is_variable;

/// The value of a key like `api_key_env`, on its line or the next, and the user and password of an address.
static SECRET: LazyLock<Regex> = LazyLock::new(|| {
    let value = r#""(?<double>[^"\n]*)|'(?<single>[^'\n]*)|(?<plain>[^\s"'{\[#,}\]][^,}\]\n]*)"#;
    let pattern =
        format!(r#"(?i)api[_-]?key[\w-]*["']?\s*:\s*(?:[|>][-+]?\s+|[&!]\S*\s+)*(?:{value})|://(?<user>[^/\s@"']+)@"#);
    Regex::new(&pattern).expect("the pattern is tested")
});

/// Where such things stand in a text. Names of variables are none.
pub(crate) fn secrets(text: &str) -> Vec<Span> {
    SECRET.captures_iter(text).filter_map(|found| secret(&found)).collect()
}

fn secret(found: &Captures<'_>) -> Option<Span> {
    if let Some(user) = found.name("user") {
        return Some(user.range());
    }
    let value = found.name("double").or(found.name("single")).or(found.name("plain"))?;
    let text = value.as_str().trim_end();
    // Nothing stood behind the key, and this is the next one.
    let is_key = found.name("plain").is_some() && (text.contains(": ") || text.ends_with(':'));
    (!is_key && !names_variable(text)).then(|| value.start()..value.start() + text.len())
}

/// Whether a text is the name of a variable, and not a key that could be one: long, of small letters and digits, without `_`.
pub(crate) fn names_variable(text: &str) -> bool {
    let has = |what: fn(&u8) -> bool| text.as_bytes().iter().any(what);
    let looks_like_a_key =
        text.len() >= 20 && !text.contains('_') && has(u8::is_ascii_digit) && has(u8::is_ascii_lowercase);
    is_variable(text) && !looks_like_a_key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<&str> = secrets(text).into_iter().map(|span| &text[span]).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn pasted_keys_are_found_however_they_are_written() {
        check("  api_key_env: sk-12345678\n  model: m", &["sk-12345678"]);
        check("judge: {api_key_env: sk-1/2+3=, model: m}", &["sk-1/2+3="]);
        check("judge: {\"api_key_env\": \"sk-1, 2\", model: m}", &["sk-1, 2"]);
        check("api_key_env: 'sk-1'  # mine", &["sk-1"]);
        check("api_key_env:\n  sk-12\nmodel: m", &["sk-12"]);
        check("api_key_env: >-\r\n  sk-12\r\nmodel: m", &["sk-12"]);
        check("api_key_env: &key sk-12", &["sk-12"]);
        check("api_key_env: abcdef0123456789abcdef0123456789", &["abcdef0123456789abcdef0123456789"]);
        check("api_key_env: MY_COMPANYS_OPENAI_KEY_2026\napi_key_env: judgekey", &[]);
        check("api_key: sk-12\nApi-Key: sk-34\napikey: sk-56", &["sk-12", "sk-34", "sk-56"]);
        check("api_key_env: \"sk-12", &["sk-12"]);
    }

    #[test]
    fn users_and_passwords_of_addresses_are_found() {
        check("base_url: http://user:pass@127.0.0.1:8082/v1", &["user:pass"]);
        check("base_url: http://127.0.0.1:8082/v1@2", &[]);
    }

    #[test]
    fn names_of_variables_and_other_keys_are_none() {
        for text in [
            "api_key_env: JUDGE_KEY",
            "api_key_env: \"JUDGE_KEY\"",
            "api_key_env:\nmodel: m",
            "api_key_env: ",
            "max_tokens: 3",
        ] {
            check(text, &[]);
        }
    }
}
