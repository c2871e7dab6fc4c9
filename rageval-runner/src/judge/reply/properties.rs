//! What holds for every text whatever: no panic, no change of strict JSON, no reading inside strings, no more than linear time.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Field, Form, Scale, read_fields, read_label, read_object, read_score};

fn everything(text: &str) {
    let scale = Scale::new(1.0, 5.0).expect("a scale");
    let words = Form::Words { key: "verdict", words: &["yes", "no"], count: 2 };
    match read_object(text) {
        Ok(value) => assert!(value.is_object()),
        Err(unreadable) => assert!(!unreadable.why.is_empty()),
    }
    let _ =
        read_fields(text, &[Field { name: "score", form: Form::Score(scale) }, Field { name: "list", form: words }]);
    if let Ok(score) = read_score(text, scale) {
        assert!((1.0..=5.0).contains(&score));
    }
    let labels = ["yes", "no", "not supported", "A"];
    if let Ok(label) = read_label(text, &labels) {
        assert!(labels.contains(&label));
    }
}

/// Texts made of what readers stumble over.
fn hostile() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        "\"",
        "'",
        "“",
        "”",
        "，",
        "：",
        ":",
        ",",
        "\\",
        "\\u",
        "\\ud800",
        "//",
        "/*",
        "*/",
        "#",
        "\n",
        " ",
        "```",
        "json",
        "<think>",
        "</think>",
        "True",
        "None",
        "NaN",
        "score",
        "Score: ",
        "4",
        "-",
        "/5",
        " out of 5",
        "five",
        "评分",
        "分",
        "yes",
        "no",
        "Verdict: ",
        "\"score\": 1",
        "\u{200b}",
        "é",
        "1e999",
        "is better",
        "0,8",
        "(",
        ")",
        ".",
    ]);
    prop::collection::vec(parts, 0..40).prop_map(|parts| parts.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        hostile().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(".{0,8}", inner, 0..5).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::btree_map("[a-z]{1,6}", value(), 1..5).prop_map(|map| map.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics(text in ".{0,200}", parts in hostile(), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        everything(&text);
        everything(&parts);
        everything(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn strict_json_comes_back_unchanged(object in object()) {
        let expected = Value::Object(object);
        for text in [expected.to_string(), format!("{expected:#}"), format!("```json\n{expected}\n```"), format!("So:\n{expected}\nDone.")] {
            prop_assert_eq!(read_object(&text), Ok(expected.clone()), "{}", text);
        }
    }

    #[test]
    fn what_a_string_holds_never_becomes_a_verdict(inside in hostile()) {
        let expected = json!({"reason": inside, "score": 2});
        let text = expected.to_string();
        prop_assert_eq!(read_object(&text), Ok(expected.clone()));
        let repaired = text.replacen("\"score\":2}", "\"score\":2,}", 1);
        let read = read_object(&repaired);
        prop_assert!(read.as_ref().is_err() || read.as_ref() == Ok(&expected), "{}: {:?}", repaired, read);
    }

    #[test]
    fn a_truncated_object_is_never_completed(object in object(), cut in 0.0..1.0_f64) {
        let text = Value::Object(object).to_string();
        let end = (0..text.len()).rev().find(|at| text.is_char_boundary(*at) && (*at as f64) <= cut * text.len() as f64);
        let cut = &text[..end.unwrap_or_default()];
        prop_assert!(read_object(cut).is_err(), "{}", cut);
    }
}

#[test]
fn long_hostile_text_takes_linear_time() {
    // Time that grows with the square of this would be minutes.
    const SIZE: usize = 1 << 16;
    let parts = [
        "{",
        "[",
        "{\"a\":",
        "[{",
        "{\"",
        "\"",
        "'",
        "\\",
        "{'a': '",
        "\" ",
        "\",",
        "\", \"",
        "{\"a\":\"\",",
        "<think>",
        "</think>",
        "</",
        "<",
        "{\"a\": 1} ",
        "{a:",
        "//",
        "/*",
        " ",
        "1",
        "1 ",
        "1,",
        "一",
        "score ",
        "score: ",
        "1/5 ",
        "yes ",
        "yes is better ",
        "better is ",
        "\u{200b}",
        "(1) ",
        "\n",
        "1\n",
        "-",
        "Verdict: ",
    ];
    for part in parts {
        for text in [part.repeat(SIZE / part.len()), format!("{{\"a\": \"{}", part.repeat(SIZE / part.len()))] {
            let start = Instant::now();
            everything(&text);
            assert!(start.elapsed() < Duration::from_secs(20), "{part:?} took {:?}", start.elapsed());
        }
    }
}
