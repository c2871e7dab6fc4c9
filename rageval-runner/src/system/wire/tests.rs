//! Replies as programs and logs write them, and what is read of each.

use super::*;

#[track_caller]
fn answer(text: &str) -> Answer {
    match Object::parse(text).expect("an object").said() {
        Ok(Said::Answer(asked)) => asked.answer,
        other => panic!("{text}: {other:?}"),
    }
}

#[track_caller]
fn problems(text: &str) -> Vec<String> {
    Object::parse(text).expect("an object").said().expect_err("problems")
}

#[test]
fn an_answer_has_the_names_of_three_tools() {
    for (response, contexts) in
        [("response", "retrieved_contexts"), ("answer", "contexts"), ("actual_output", "retrieval_context")]
    {
        let read = answer(&format!(r#"{{"{response}": "12", "{contexts}": ["fee: 12"]}}"#));
        assert_eq!(read, Answer::new("12").with_contexts([RetrievedContext::without_id("fee: 12")]));
    }
}

#[test]
fn everything_that_an_answer_can_say_is_read() {
    let text = r#"{"id": 7, "response": "12", "retrieved_contexts": [{"id": "d1", "text": "fee", "score": 0.5}, {"id": 9}, "x"],
        "usage": {"prompt_tokens": 3, "output_tokens": 2}, "cost_usd": 0.01, "refused": false, "latency_ms": 31.5, "model": "m"}"#;
    let object = Object::parse(text).expect("an object");
    assert_eq!(object.id(), Ok(Some("7".to_owned())));
    let contexts = [
        RetrievedContext::new("d1", "fee").with_score(0.5),
        RetrievedContext::new("9", ""),
        RetrievedContext::without_id("x"),
    ];
    let expected = Answer::new("12")
        .with_contexts(contexts)
        .with_usage(Usage { input_tokens: 3, output_tokens: 2 })
        .with_cost_usd(0.01)
        .with_refused(false);
    assert_eq!(object.said(), Ok(Said::Answer(Asked { answer: expected, latency: Latency::Stated(31.5) })));
}

#[test]
fn ids_may_stand_beside_the_contexts() {
    let zipped = answer(r#"{"answer": "", "contexts": ["a", "b"], "retrieved_context_ids": ["1", 2]}"#);
    assert_eq!(zipped.retrieved_contexts, [RetrievedContext::new("1", "a"), RetrievedContext::new("2", "b")]);
    assert_eq!(answer(r#"{"answer": "", "retrieved_context_ids": ["1"]}"#).retrieved_contexts[0].text, "");
    problems(r#"{"answer": "", "contexts": ["a", "b"], "retrieved_context_ids": ["1"]}"#);
    problems(r#"{"answer": "", "contexts": [{"id": "x", "text": ""}], "retrieved_context_ids": ["1"]}"#);
}

#[test]
fn null_and_blank_contexts_are_none_and_stay_as_they_are() {
    assert_eq!(answer(r#"{"answer": "a", "contexts": null}"#).retrieved_contexts, []);
    assert_eq!(answer(r#"{"answer": "a", "contexts": [""]}"#).retrieved_contexts, [RetrievedContext::without_id("")]);
}

#[test]
fn an_error_of_the_system_is_not_an_answer() {
    let said = |text: &str| Object::parse(text).expect("an object").said();
    assert_eq!(said(r#"{"error": "no index", "answer": ""}"#), Ok(Said::Error("no index".to_owned())));
    assert_eq!(said(r#"{"error": {"code": 3}}"#), Ok(Said::Error("{\"code\":3}".to_owned())));
    assert!(matches!(said(r#"{"error": null, "answer": "a"}"#), Ok(Said::Answer(_))));
}

#[test]
fn every_problem_is_named() {
    let table: [(&str, &[&str]); 12] = [
        ("{}", &["no `response` (or `answer`, `actual_output`)"]),
        (r#"{"answer": null}"#, &["`answer` must be a text, got null"]),
        (r#"{"answer": "a", "response": "b"}"#, &["`response` and `answer` are two names of one thing, give one"]),
        (
            r#"{"answer": "a", "contexts": "fee: 12"}"#,
            &["`contexts` must be a list of texts or `{id, text}`, got the text \"fee: 12\""],
        ),
        (
            r#"{"answer": 3, "contexts": [1, {"text": "a", "score": "high"}, {}]}"#,
            &[
                "`answer` must be a text, got the number 3",
                "`contexts[0]` must be a text or `{id, text, score}`, got the number 1",
                "`contexts[1]` has a `score` that is no number: the text \"high\"",
                "`contexts[2]` has neither `text` nor `id`",
            ],
        ),
        (
            r#"{"answer": "a", "usage": {"input_tokens": 3}}"#,
            &["`usage` needs a whole number under `output_tokens` (or `completion_tokens`)"],
        ),
        (r#"{"answer": "a", "usage": 3}"#, &["`usage` must be `{input_tokens, output_tokens}`, got the number 3"]),
        (r#"{"answer": "a", "cost_usd": -1}"#, &["`cost_usd` must be a number of at least 0, got the number -1"]),
        (r#"{"answer": "a", "refused": "no"}"#, &["`refused` must be true or false, got the text \"no\""]),
        (
            r#"{"answer": "a", "latency_ms": "fast"}"#,
            &["`latency_ms` must be a number of at least 0, got the text \"fast\""],
        ),
        (
            r#"{"answer": "a", "retreived_contexts": []}"#,
            &["unknown key `retreived_contexts`; did you mean `retrieved_contexts`?"],
        ),
        (
            r#"{"answer": "a", "retrieved_context_ids": "d1"}"#,
            &["`retrieved_context_ids` must be a list of ids, got the text \"d1\""],
        ),
    ];
    for (text, expected) in table {
        assert_eq!(problems(text), expected, "{text}");
    }
}

#[test]
fn other_keys_are_let_be() {
    answer(r#"{"question": "q", "reference": "r", "context": [], "answer": "a", "model": "m", "timestamp": 1}"#);
}

#[test]
fn what_is_no_object_says_where() {
    let table = [
        ("[]", 1, "invalid type: sequence, expected a JSON object"),
        ("", 1, "EOF while parsing a value"),
        (r#"{"é": "#, 6, "EOF while parsing a value"),
        (r#"{"a": 1, "a": 2}"#, 12, "the key `a` stands twice"),
        ("{} {}", 4, "trailing characters"),
    ];
    for (text, column, why) in table {
        assert_eq!(Object::parse(text), Err(NoObject { column, why: why.to_owned() }), "{text}");
    }
}
