//! The probability of each score that a completion could have given, from the log probabilities of its tokens.

use std::collections::BTreeMap;

use serde_json::{Value, value::RawValue};

use crate::{judge::transport::Failed, model::Ending};

/// The field whose value is looked at.
const SCORE: &str = "score";

/// What rounding may add to a probability or to a sum of them.
const ROUNDING: f64 = 1e-3;

/// A token with the logarithm of its probability.
struct Token {
    text: Vec<u8>,
    logprob: f64,
}

/// The probabilities of the scores, by score: of the one digit that stands under `score` in `text`, and of the digits that could have
/// stood there. They are as the model gave them, so what it could have written besides is missing from their sum.
///
/// A token counts as a digit where it is one but for what stands around the digit in the token that was written, blanks aside: beside
/// ` 4`, `5` and ` 5` are 5. Tokens that spell the same digit add up.
///
/// # Errors
/// Unsupported: the completion has no log probabilities, their tokens do not spell the reply, or the score shares its token with what
/// makes it unreadable. Unreadable, so that it is asked again: the reply is not one JSON object whose `score` is one digit.
pub(super) fn score_probabilities(completion: &Value, text: &str) -> Result<Value, Failed> {
    let tokens = tokens(completion)?;
    let (start, digit) = score_in(text)?;
    let spelled: Vec<u8> = tokens.iter().flat_map(|(token, _)| token.text.iter().copied()).collect();
    let at = only_place(&spelled, text.as_bytes())
        .ok_or_else(|| unsupported("the tokens of its log probabilities do not spell the reply"))?
        + start;
    let mut begin = 0;
    for (token, alternatives) in &tokens {
        let end = begin + token.text.len();
        if at < end {
            let alternatives = alternatives.ok_or_else(none)?;
            return of_token(token, at - begin, digit, &self::alternatives(alternatives)?);
        }
        begin = end;
    }
    Err(unsupported("the tokens of its log probabilities do not spell the reply"))
}

fn unsupported(why: &str) -> Failed {
    Failed::new(Ending::Unsupported, format!("log probabilities were asked for, and {why}"))
}

fn none() -> Failed {
    unsupported("the reply has none")
}

/// A token of the reply, and what could have stood there, where that was said.
type Written<'a> = (Token, Option<&'a Vec<Value>>);

/// The tokens of the reply.
fn tokens(completion: &Value) -> Result<Vec<Written<'_>>, Failed> {
    let content = completion.pointer("/choices/0/logprobs/content").and_then(Value::as_array);
    let content = content.filter(|content| !content.is_empty()).ok_or_else(none)?;
    content.iter().map(|entry| Ok((token(entry)?, entry.get("top_logprobs").and_then(Value::as_array)))).collect()
}

fn alternatives(entries: &[Value]) -> Result<Vec<Token>, Failed> {
    entries.iter().map(token).collect()
}

/// One token. Its bytes, where they are given, are what it stands for; its text may show them otherwise.
fn token(entry: &Value) -> Result<Token, Failed> {
    let shape = || unsupported("those of the reply have a shape that is not known");
    let logprob =
        entry.get("logprob").and_then(Value::as_f64).filter(|logprob| *logprob <= ROUNDING).ok_or_else(shape)?;
    let text = match entry.get("bytes") {
        Some(Value::Array(bytes)) => bytes
            .iter()
            .map(|byte| byte.as_u64().and_then(|byte| u8::try_from(byte).ok()).ok_or_else(shape))
            .collect::<Result<_, _>>()?,
        Some(_) | None => entry.get("token").and_then(Value::as_str).ok_or_else(shape)?.as_bytes().to_vec(),
    };
    Ok(Token { text, logprob })
}

/// Where the digit under `score` stands in a reply that is one JSON object, perhaps with a fence or words around it.
fn score_in(text: &str) -> Result<(usize, u8), Failed> {
    let unreadable = |why: &str| Failed::new(Ending::Unreadable, format!("with log probabilities, {why}"));
    let (Some(open), Some(close)) = (text.find('{'), text.rfind('}')) else {
        return Err(unreadable("a reply must be one JSON object"));
    };
    let object = text.get(open..=close).unwrap_or_default();
    // Braces in the words around the object, or a second object, make this no JSON.
    let fields = serde_json::from_str::<BTreeMap<String, &RawValue>>(object)
        .map_err(|_| unreadable("a reply must be one JSON object"))?;
    match fields.get(SCORE).map(|value| value.get()) {
        Some(value) if value.len() == 1 && value.as_bytes()[0].is_ascii_digit() => {
            // The value is a part of the text, so the way between their beginnings is its place.
            let start = value.as_ptr().addr() - text.as_ptr().addr();
            Ok((start, value.as_bytes()[0]))
        }
        Some(_) => Err(unreadable("`score` must be one digit")),
        None => Err(unreadable("a reply must have a `score`")),
    }
}

/// Where one sequence of bytes stands in another, if it does so exactly once.
fn only_place(whole: &[u8], part: &[u8]) -> Option<usize> {
    let mut found = whole.windows(part.len()).enumerate().filter(|(_, window)| *window == part).map(|(at, _)| at);
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// The probabilities of the digits in one place of one token.
fn of_token(written: &Token, at: usize, digit: u8, alternatives: &[Token]) -> Result<Value, Failed> {
    let before = written.text[..at].trim_ascii();
    let after = written.text[at + 1..].trim_ascii();
    let mut probabilities: BTreeMap<char, f64> = BTreeMap::new();
    let is_listed = alternatives.iter().any(|token| token.text == written.text);
    for token in alternatives.iter().chain((!is_listed).then_some(written)) {
        if let Some(digit) = digit_of(&token.text, before, after) {
            *probabilities.entry(char::from(digit)).or_default() += token.logprob.exp();
        }
    }
    let sum: f64 = probabilities.values().sum();
    if 1.0 + ROUNDING < sum {
        return Err(unsupported(&format!("those of the score add up to a probability of {sum:.3}")));
    }
    if !probabilities.contains_key(&char::from(digit)) {
        return Err(unsupported("those of the score's token can't be told from its surroundings"));
    }
    Ok(probabilities.into_iter().map(|(digit, p)| (digit.to_string(), Value::from(p))).collect())
}

/// The digit that a token is, between what stands around the digit in the token that was written.
fn digit_of(token: &[u8], before: &[u8], after: &[u8]) -> Option<u8> {
    let rest = token.trim_ascii().strip_prefix(before)?.trim_ascii();
    let rest = rest.strip_suffix(after).unwrap_or(rest).trim_ascii();
    match rest {
        [digit] if digit.is_ascii_digit() => Some(*digit),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A completion of these tokens, the one at `place` with alternatives.
    fn completion(tokens: &[&str], place: usize, alternatives: &[(&str, f64)]) -> Value {
        let entry = |token: &str, p: f64| json!({"token": token, "logprob": p.ln(), "bytes": token.as_bytes()});
        let content: Vec<_> = tokens
            .iter()
            .enumerate()
            .map(|(i, token)| {
                let own = alternatives.iter().find(|(other, _)| i == place && other == token).map_or(0.1, |(_, p)| *p);
                let mut entry_of = entry(token, own);
                let tops = if i == place { alternatives } else { &[] };
                entry_of["top_logprobs"] = tops.iter().map(|(token, p)| entry(token, *p)).collect();
                entry_of
            })
            .collect();
        json!({"choices": [{"logprobs": {"content": content}}]})
    }

    #[track_caller]
    fn check(tokens: &[&str], place: usize, alternatives: &[(&str, f64)], expected: &[(&str, f64)]) {
        let found = score_probabilities(&completion(tokens, place, alternatives), &tokens.concat())
            .unwrap_or_else(|failed| panic!("{failed:?}"));
        let found = found.as_object().expect("an object");
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.iter().map(|(digit, _)| *digit).collect::<Vec<_>>());
        for (digit, p) in expected {
            assert!((found[*digit].as_f64().expect("a number") - p).abs() < 1e-12, "{digit}: {found:?}");
        }
    }

    #[track_caller]
    fn refused(completion: &Value, text: &str, ending: Ending, why: &str) {
        let failed = score_probabilities(completion, text).expect_err("no probabilities");
        assert_eq!(failed.ending, ending, "{failed:?}");
        assert!(failed.why.contains(why), "{failed:?}");
    }

    #[test]
    fn the_token_of_the_score_is_found_however_the_object_is_laid_out() {
        let top = [("4", 0.7), ("5", 0.29), ("1", 0.01)];
        let expected = [("1", 0.01), ("4", 0.7), ("5", 0.29)];
        check(&["{\"", "score", "\":", " ", "4", "}"], 4, &top, &expected);
        check(&["\n{\n  ", "\"score\"", ": ", "4", "\n", "}\n"], 3, &top, &expected);
        check(&["```json\n", "{\"score\": ", "4", "}", "\n```"], 2, &top, &expected);
        // An earlier text that looks the same is inside a string.
        check(&["{\"reason\": \"\\\"score\\\": 1\", ", "\"score\":", "4", "}"], 2, &top, &expected);
        check(&["{\"reason\": \"4 of 5\", \"score\":", "4", "}"], 1, &top, &expected);
    }

    #[test]
    fn blanks_quotes_and_brackets_in_the_token_are_no_part_of_the_digit() {
        let expected = [("4", 0.7), ("5", 0.25)];
        check(&["{\"score\":", " 4", "}"], 1, &[(" 4", 0.7), (" 5", 0.2), ("5", 0.05)], &expected);
        check(&["{\"score", "\":4", "}"], 1, &[("\":4", 0.7), ("\":5", 0.25), ("4", 0.05)], &expected);
        check(&["{\"score\":", "4}"], 1, &[("4}", 0.7), ("5}", 0.2), ("5", 0.05)], &expected);
    }

    #[test]
    fn what_is_no_digit_is_left_out_of_the_sum() {
        let top = [("4", 0.6), ("10", 0.1), ("4.5", 0.1), ("\"", 0.1), ("four", 0.05), ("null", 0.05)];
        check(&["{\"score\":", "4", "}"], 1, &top, &[("4", 0.6)]);
    }

    #[test]
    fn the_token_that_was_written_counts_though_it_is_not_among_the_likeliest() {
        check(&["{\"score\":", "4", "}"], 1, &[("5", 0.5), ("3", 0.2)], &[("3", 0.2), ("4", 0.1), ("5", 0.5)]);
    }

    #[test]
    fn a_reply_without_log_probabilities_is_unsupported() {
        let text = "{\"score\": 4}";
        for completion in [
            json!({"choices": [{"message": {"content": text}}]}),
            json!({"choices": [{"logprobs": null}]}),
            json!({"choices": [{"logprobs": {"content": []}}]}),
            json!({"choices": [{"logprobs": {"content": [{"token": text, "logprob": -0.1}]}}]}),
        ] {
            refused(&completion, text, Ending::Unsupported, "the reply has none");
        }
    }

    #[test]
    fn log_probabilities_that_cannot_be_read_are_unsupported() {
        let text = "{\"score\":4}";
        let other = completion(&["{\"score\":", "5", "}"], 1, &[("5", 0.9)]);
        refused(&other, text, Ending::Unsupported, "do not spell");
        let twice = completion(&["{\"score\":", "4", "}", "{\"score\":4}"], 1, &[("4", 0.9)]);
        refused(&twice, text, Ending::Unsupported, "do not spell");
        let large = completion(&["{\"score\":", "4", "}"], 1, &[("4", 0.9), (" 5", 0.9)]);
        refused(&large, text, Ending::Unsupported, "1.800");
        for entry in [json!({"token": text}), json!({"token": text, "logprob": 2}), json!({"logprob": -1}), json!(7)] {
            let odd = json!({"choices": [{"logprobs": {"content": [entry]}}]});
            refused(&odd, text, Ending::Unsupported, "shape that is not known");
        }
    }

    #[test]
    fn a_score_that_is_not_one_digit_is_unreadable() {
        for text in
            ["{\"score\": 10}", "{\"score\": \"4\"}", "{\"score\": 4.5}", "{\"score\": -4}", "{\"mark\": 4}", "4"]
        {
            let completion = completion(&[text], 0, &[(text, 0.9)]);
            refused(&completion, text, Ending::Unreadable, "with log probabilities");
        }
        let text = "{\"score\": 4} or {\"score\": 4}";
        refused(&completion(&[text], 0, &[(text, 0.9)]), text, Ending::Unreadable, "one JSON object");
    }
}
