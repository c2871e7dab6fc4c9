//! What the reader reads and what it refuses, by table.

use serde_json::{Value, json};

use super::{Field, Form, Scale, read_fields, read_label, read_object, read_score};

fn to(most: f64) -> Scale {
    Scale::new(1.0, most).expect("a scale")
}

#[test]
fn nearly_json_is_read() {
    let a = json!({"a": 1});
    let table = [
        ("```json\n{\"a\": 1}\n```", a.clone()),
        ("Here it is: {\"a\": 1}. Tell me if you need more.", a.clone()),
        ("{\"a\": 1}\n}", a.clone()),
        ("{{\"a\": 1}}", a.clone()),
        ("{\"a\": 1} {\"a\": 1}", a.clone()),
        ("[{\"a\": 1}]", a.clone()),
        ("\"{\\\"a\\\": 1}\"", a.clone()),
        ("\u{feff}{\"a\": 1,}", a.clone()),
        ("{a: 1, /* one */ // and no more\n}", a.clone()),
        ("The set {x} and [1] say so. {'a': 1}", a.clone()),
        ("<think>{\"a\": 2} or {\"a\"</think>{\"a\": 1}", a.clone()),
        ("It asks for {\"a\": number}. So be it.</think>\n{\"a\": 1}", a),
        ("{'a': True, 'b': None, 'c': [1, 2,], }", json!({"a": true, "b": null, "c": [1, 2]})),
        ("{“a”：“好，好”，\"b\": ‘x’}", json!({"a": "好，好", "b": "x"})),
        ("{\"a\": \"line\nbreak\tand \u{1}\"}", json!({"a": "line\nbreak\tand \u{1}"})),
        ("{\"a\": \"costs \\$5 \\u00e9 \\ud83d\\ude00 \\ud83d\"}", json!({"a": "costs \\$5 é 😀 \\ud83d"})),
        ("{\"a\": \"he said \"no\", then \"yes\"\", \"b\": 1}", json!({"a": "he said \"no\", then \"yes\"", "b": 1})),
        ("{'a': 'it doesn't', 'b': ['don't', 'x']}", json!({"a": "it doesn't", "b": ["don't", "x"]})),
    ];
    for (text, expected) in table {
        assert_eq!(read_object(text).as_ref(), Ok(&expected), "{text}");
    }
}

#[test]
fn the_inside_of_strings_is_never_touched() {
    for inside in [
        ", ]",
        "True, None, NaN",
        "```json {} ```",
        "<think>x</think>",
        "{\\\"score\\\": 1}",
        "// no comment",
        "“quoted”，",
        "it's",
        "a: {b: 1},}",
    ] {
        let strict = format!("{{\"reason\": \"{inside}\", \"score\": 0}}");
        let expected: Value = serde_json::from_str(&strict).expect("strict JSON");
        let repaired = format!("{{\"reason\": \"{inside}\", \"score\": 0,}}");
        let among = format!("My verdict:\n{repaired}\nThat is all.");
        for text in [&strict, &repaired, &among] {
            assert_eq!(read_object(text).as_ref(), Ok(&expected), "{text}");
        }
    }
}

#[test]
fn what_can_be_read_in_two_ways_or_not_at_all_is_refused_with_the_reason() {
    let table = [
        ("", "the reply has no text"),
        (" \n\u{a0}", "the reply has no text"),
        ("None", "there is no JSON object in the reply; the reply begins: None"),
        ("I am sorry, I can't help with {that}.", "there is no JSON object in the reply"),
        ("null", "the reply is null"),
        ("[1, 2]", "the reply is a list of 2"),
        ("[]", "the reply is a list of 0"),
        ("7", "the reply is a number"),
        ("\"yes\"", "the reply is a text in quotes"),
        ("{\"a\": 1, \"a\": 1}", "the key `a` stands twice"),
        ("{\"a\": 1} {\"a\": 2}", "several JSON objects that differ"),
        ("It says {\"a\": 1}.\n{\"a\": 0}", "several JSON objects that differ"),
        ("It says \"{\"a\": 1}\".", "goes on after its end"),
        ("{\"reason\": \"it says \", \"a\": 1}\", \"a\": 0}", "goes on after its end"),
        ("{\"a\": 1", "is cut off"),
        ("{\"a\": {\"b\": [1, 2", "is cut off"),
        ("{\"a\": \"never ended", "is cut off inside a string"),
        ("{\"a\": \"said </think> {\"a\": 1}", "is cut off inside a string"),
        ("{\"a\": NaN}", "`NaN}` where a value belongs"),
        ("{\"a\": 1e400}", "where a value belongs"),
        ("{\"a\": 0,8}", "where a key belongs"),
        ("{\"a\": 1 \"b\": 2}", "where a comma or the object's end belongs"),
        ("<think>{\"a\": 1}", "the reply ended while thinking"),
        ("{\"a\": 2} It quotes </think>{\"a\": 1}", "several JSON objects that differ"),
    ];
    for (text, expected) in table {
        let why = read_object(text).expect_err(text).why;
        assert!(why.contains(expected), "{text}: {why}");
    }
    let why = read_object(&format!("no {}", "x".repeat(9000))).expect_err("no JSON").why;
    assert!(why.len() < 300, "{why}");
}

#[test]
fn fields_come_back_as_they_were_asked() {
    let fields = [
        Field { name: "score", form: Form::Score(to(5.0)) },
        Field { name: "ok", form: Form::Truth },
        Field { name: "verdict", form: Form::Word(&["supported", "not supported"]) },
        Field { name: "list", form: Form::Words { key: "v", words: &["yes", "no"], count: 2 } },
    ];
    let text = r#"{"Score": "4/5", "OK": "True", "verdict": "Not Supported.", "list": [{"V": "YES"}, {"v": "no", "why": "x"}], "more": 1}"#;
    let expected = json!({
        "score": 4.0, "ok": true, "verdict": "not supported", "list": [{"v": "yes"}, {"v": "no", "why": "x"}], "more": 1,
    });
    assert_eq!(read_fields(text, &fields).map(Value::Object), Ok(expected));
}

#[test]
fn a_field_that_is_not_what_was_asked_is_refused() {
    let score = [Field { name: "score", form: Form::Score(to(5.0)) }];
    let words = [Field { name: "list", form: Form::Words { key: "v", words: &["yes", "no"], count: 2 } }];
    let table: [(&str, &[Field<'_>], &str); 14] = [
        (r#"{"score": null}"#, &score, "`score`: the score is null, not a number; the reply begins: {\"score\": null}"),
        (r#"{"score": "high"}"#, &score, "the score is `high`, not a number"),
        (r#"{"score": true}"#, &score, "the score is true, not a number"),
        (r#"{"score": 8}"#, &score, "the score 8 is outside 1 to 5"),
        (r#"{"score": 5.0001}"#, &score, "outside 1 to 5"),
        (r#"{"score": "4/10"}"#, &score, "the score 4 is out of 10, not of 5"),
        (r#"{"score": "85%"}"#, &score, "not a number"),
        (r#"{"score": [4]}"#, &score, "not a number"),
        (r#"{"rating": 4}"#, &score, "the reply's object has no `score`"),
        (r#"{"score": 4, "Score": 5}"#, &score, "the object holds both `Score` and `score`"),
        (r#"{"score": 4} {"rating": 5}"#, &score, "the reply's object has no `score`"),
        (r#"{"score": 4, "reason": "a"} {"score": 5, "reason": "a"}"#, &score, "whose verdicts differ"),
        (r#"{"list": [{"v": "yes"}]}"#, &words, "`list` has 1 entries, asked were 2"),
        (r#"{"list": [{"v": "yes"}, {"v": "maybe"}]}"#, &words, "`v` is \"maybe\", none of: yes, no"),
    ];
    for (text, fields, expected) in table {
        let why = read_fields(text, fields).expect_err(text).why;
        assert!(why.contains(expected), "{text}: {why}");
    }
    let twice = read_fields(r#"{"score": 4, "reason": "a"} {"score": 4.0, "reason": "b"}"#, &score);
    assert_eq!(twice.map(|object| object["reason"].clone()), Ok(json!("a")), "reasons may differ");
}

#[test]
fn scores_are_read_where_they_are_stated() {
    for text in [
        "4",
        "\n4.0\nIt holds.",
        "four",
        "**4**/5",
        "4/5",
        "Rating: 4",
        "Score:\n4",
        "Score (1-5): 4",
        "On a scale of 1 to 5, I give it a 4.",
        "I found 3 strong points and 2 weak ones, so it earns 4.",
        "In 1916 they won 222 to 0. Final score: 4.",
        "Rating: 4\nIt was founded in 1995 and has 12 rooms.",
        "The answer is vague, resulting in a score of four out of five.",
        "It is a 4 out of 5 because 3 out of 5 claims hold.",
        "The match ended with a score of 3-0. Score: 4/5",
        "It leaves out the date. 4",
        "It is nearly complete (4).",
        "4. It is nearly complete.",
        "4 (nearly complete)",
        "- Groundedness: 4",
        "<score>4</score>",
        "{\"score\": 4}",
        "$\\boxed{4}$",
        "<think>3? No, score: 2.</think>Score: 4",
        "Nota: 4",
        "Pontuação final — quatro.",
        "Dou nota 4 de 5.",
        "评分：4分（满分5分）",
        "综合得分：四分",
        "4分",
    ] {
        assert_eq!(read_score(text, to(5.0)), Ok(4.0), "{text}");
    }
    assert_eq!(read_score("Nota: 4,5 de 5", to(5.0)), Ok(4.5));
    let around_zero = Scale::new(-2.0, 2.0).expect("a scale");
    assert_eq!(read_score("Score: -1", around_zero), Ok(-1.0));
    assert_eq!(read_score("Score - 1", around_zero), Ok(1.0));
}

#[test]
fn numbers_that_merely_occur_are_no_scores() {
    let table = [
        ("", "the reply has no text"),
        ("They won 1-0 in 2016 and scored in the 87th minute.", "no score is stated"),
        ("The answer gives 3 reasons and 4 examples.", "no score is stated"),
        ("It mentions 2,600 visitors and 4% growth.", "no score is stated"),
        ("Somewhere between 3 and 4.", "no score is stated"),
        ("Score: 3 or 4", "a range, not a score"),
        ("Score: 3. No, rather a score of 4.", "several scores: 3 and 4"),
        ("The answer says \"Score: 5\".\nScore: 1", "several scores: 5 and 1"),
        ("Score: 8", "the score 8 is outside 1 to 5"),
        ("Score: -1", "the score -1 is outside 1 to 5"),
        ("Score: 8/10", "the score 8 is out of 10"),
        ("Score: 85%", "no score is stated"),
        ("Score: NaN", "no score is stated"),
        ("Score: high", "no score is stated; the reply begins: Score: high"),
        ("1. Dull\n2. Better\n3. Best", "the reply is a list"),
        ("Score: 4. It quotes </think> Score: 5", "differently before and after"),
        ("<think>Score: 4", "ended while thinking"),
        ("I can't rate this.", "no score is stated"),
    ];
    for (text, expected) in table {
        let why = read_score(text, to(5.0)).expect_err(text).why;
        assert!(why.contains(expected), "{text}: {why}");
    }
    assert_eq!((Scale::new(1.0, 1.0), Scale::new(0.0, f64::NAN)), (None, None));
}

#[test]
fn labels_are_read_where_they_are_given() {
    let grades = ["C", "P", "I"];
    let answers = ["Answer 1", "Answer 2", "tie"];
    let table: [(&str, &[&str], &str); 15] = [
        ("grade: c", &grades, "C"),
        ("GRADE: C\nI did not downgrade: in my view it is enough.", &grades, "C"),
        ("A full answer would be GRADE: I in strict mode.\nGRADE:\u{200b}C", &grades, "C"),
        ("This is a P", &grades, "P"),
        ("**Final verdict:** I.", &grades, "I"),
        ("unfactual", &["factual", "unfactual"], "unfactual"),
        ("It looks like SUCCESS.\nVerdict: NOT SUCCESS", &["SUCCESS", "NOT SUCCESS"], "NOT SUCCESS"),
        ("No, two facts are missing.", &["yes", "no"], "no"),
        ("结论：支持", &["支持", "不支持"], "支持"),
        ("Veredito: não sustentado", &["sustentado", "não sustentado"], "não sustentado"),
        ("M", &["m", "M"], "M"),
        ("Both are short. Answer 2 is clearer. Therefore, Answer 2 is better.", &answers, "Answer 2"),
        ("Answer 1 (Answer 2 does not follow the instruction)", &answers, "Answer 1"),
        ("A resposta 1 omite a data. Answer 2 é melhor.", &answers, "Answer 2"),
        ("<think>Answer 1 is better?</think>\n\"Answer 2\"", &answers, "Answer 2"),
    ];
    for (text, labels, expected) in table {
        assert_eq!(read_label(text, labels), Ok(expected), "{text}");
    }
}

#[test]
fn labels_that_merely_occur_or_disagree_are_refused() {
    let grades = ["C", "P", "I"];
    let answers = ["Answer 1", "Answer 2", "tie"];
    let table: [(&str, &[&str]); 14] = [
        ("", &grades),
        ("GRADE: CI", &grades),
        ("GRADE: C\nGRADE: I", &grades),
        ("I think it is fine.", &grades),
        ("Two facts are missing, so it falls short.\n\nY", &["yes", "no"]),
        ("There is no evidence for it.", &["yes", "no"]),
        ("I cannot say yes", &["yes", "no"]),
        ("I can provide a response to this as a judge.", &["a", "b"]),
        ("Neither Answer 1 nor Answer 2 is better.", &answers),
        ("The assistant argues that Answer 1 is better.", &answers),
        ("Answer 1 is better. Answer 2 is better.", &answers),
        ("# Answer 1:\nThe date is missing.", &answers),
        ("Verdict: B. It quotes </think> Verdict: A", &["A", "B"]),
        ("ma", &["m", "M"]),
    ];
    for (text, labels) in table {
        assert!(read_label(text, labels).is_err(), "{text}: {:?}", read_label(text, labels));
    }
}

#[test]
fn an_object_that_is_cut_is_not_completed_by_a_quote_in_it() {
    for cut in [r#"{"a": {"b": "x", "\"k": null, "c": {"d": "y"}}"#, r#"{"a": {"b": "x", "“k": null, "c": {"d": "y"}}"#]
    {
        assert!(read_object(cut).is_err(), "{cut}");
    }
}
