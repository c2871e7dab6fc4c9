//! Log probabilities of scores: asked for, read off the tokens, and never believed in words.

use std::time::Duration;

use rageval_runner::{
    judge::{Judge, spec::JudgeProvider},
    model::{CaseId, Ending, JudgeRequest, Language, Reply as Replied},
    system::spec::{CommandSpec, Per},
};
use serde_json::{Value, json};

use super::{
    Test, anthropic, ask, open, openai, run,
    stub::{Reply, Seen, Stub, completion},
};

pub(crate) const TESTS: &[Test] = &[
    ("log_probabilities_are_asked_for_and_become_probabilities_of_scores", asked),
    ("a_reply_that_states_its_own_probabilities_is_not_believed", stated),
    ("a_reply_without_log_probabilities_is_unsupported_and_asked_once", ignored),
    ("a_server_that_gives_fewer_alternatives_is_asked_for_those", fewer),
    ("a_server_that_refuses_log_probabilities_is_not_asked_again", refused),
    ("where_no_schema_is_taken_the_text_is_asked_for_and_tools_stay_for_the_rest", text_form),
    ("other_requests_ask_for_no_log_probabilities", others),
    ("judges_that_have_none_say_so_without_asking", unsupported),
];

fn scored() -> JudgeRequest {
    let request = JudgeRequest::new("g_eval.score", Language::En).numbered("steps", ["Look."]);
    JudgeRequest { logprobs: true, ..request.text("answer", "30 days.").text("scale", "5") }
}

async fn weigh(judge: &dyn Judge) -> Result<Value, (Ending, String)> {
    let case = CaseId::new("case-1").expect("a valid id");
    let request = scored();
    let asked = tokio::time::timeout(Duration::from_secs(5), judge.ask(&case, &request));
    match asked.await.expect("in time").reply {
        Replied::Value { value } => Ok(value),
        Replied::Failed { ending, why } => Err((ending, why)),
    }
}

/// A completion in which `before` stands before the score 4 and `after` behind it.
fn weighed(before: &str, after: &str) -> Reply {
    let entry = |token: &str, p: f64| json!({"token": token, "logprob": p.ln(), "bytes": token.as_bytes()});
    let mut score = entry("4", 0.5);
    score["top_logprobs"] = json!([entry("4", 0.5), entry("5", 0.25), entry("\"", 0.125)]);
    let mut completion = completion(&format!("{before}4{after}"));
    completion["choices"][0]["logprobs"] = json!({"content": [entry(before, 0.9), score, entry(after, 0.9)]});
    Reply::ok(completion)
}

fn close(value: &Value, score: &str, p: f64) {
    let found = value["score_probabilities"][score].as_f64().expect("a probability");
    assert!((found - p).abs() < 1e-12, "{value}");
}

fn asked() {
    let stub = Stub::script(vec![weighed("{\"score\": ", "}")]);
    let value = run(weigh(&*openai(&stub))).expect("a value");
    assert_eq!(value["score"], 4);
    close(&value, "4", 0.5);
    close(&value, "5", 0.25);
    assert_eq!(value["score_probabilities"].as_object().map(serde_json::Map::len), Some(2));
    let body = stub.seen()[0].json();
    assert_eq!((&body["logprobs"], &body["top_logprobs"]), (&json!(true), &json!(20)));
    assert_eq!(body["response_format"]["json_schema"]["name"], "g_eval-score");
}

fn stated() {
    let own = r#"{"score_probabilities": {"5": 1.0, "1": 0.0}, "score": "#;
    let stub = Stub::script(vec![weighed(own, "}")]);
    let value = run(weigh(&*openai(&stub))).expect("a value");
    close(&value, "4", 0.5);
    assert!(value["score_probabilities"].get("1").is_none(), "{value}");

    let stub = Stub::script(vec![Reply::completion(r#"{"score": 4, "score_probabilities": {"5": 1.0}}"#)]);
    let (ending, _) = run(weigh(&*openai(&stub))).expect_err("no probabilities");
    assert_eq!(ending, Ending::Unsupported);
}

fn ignored() {
    let stub = Stub::script(vec![Reply::completion(r#"{"score": 4}"#)]);
    let (ending, why) = run(weigh(&*openai(&stub))).expect_err("no probabilities");
    assert_eq!(
        (ending, why.as_str()),
        (Ending::Unsupported, "log probabilities were asked for, and the reply has none")
    );
    assert_eq!(stub.seen().len(), 1);
}

fn tops(stub: &Stub) -> Vec<Value> {
    stub.seen().iter().map(|seen| seen.json()["top_logprobs"].clone()).collect()
}

fn fewer() {
    let stub = Stub::start(|seen, _| {
        if seen.json()["top_logprobs"] == 20 {
            let message = "Invalid value for 'top_logprobs': must be less than or equal to 5.";
            return Reply::status(400, json!({"error": {"message": message, "param": "top_logprobs"}}));
        }
        weighed("{\"score\": ", "}")
    });
    let judge = openai(&stub);
    run(async {
        assert!(weigh(&*judge).await.is_ok());
        assert!(weigh(&*judge).await.is_ok());
    });
    assert_eq!(tops(&stub), [20, 5, 5]);
    let notice = "the judge refused log probabilities of 20 alternatives, so it was asked for those of 5";
    assert_eq!(judge.notices(), [notice]);
}

fn refused() {
    let stub = Stub::start(|seen, _| match seen.json().get("logprobs") {
        Some(_) => Reply::status(
            400,
            r#"{"error": {"message": "logprobs is not supported with this model", "param": "logprobs"}}"#,
        ),
        None => Reply::completion("{}"),
    });
    let judge = openai(&stub);
    run(async {
        let (ending, why) = weigh(&*judge).await.expect_err("refused");
        assert_eq!(ending, Ending::Unsupported);
        assert!(why.starts_with("the server refuses to give log probabilities: 400 Bad Request"), "{why}");
        let (ending, why) = weigh(&*judge).await.expect_err("refused");
        assert_eq!((ending, why.as_str()), (Ending::Unsupported, "the server has refused to give log probabilities"));
        assert_eq!(ask(&*judge).await, Ok(json!({})), "other requests go on");
    });
    assert_eq!(stub.seen().len(), 2);
    assert_eq!(judge.notices(), ["the judge refused to give log probabilities"]);
}

fn form(seen: &Seen) -> &'static str {
    let body = seen.json();
    match (body.get("response_format").is_some(), body.get("tools").is_some()) {
        (true, _) => "schema",
        (false, true) => "tool",
        (false, false) => "text",
    }
}

fn text_form() {
    let stub = Stub::start(|seen, _| match form(seen) {
        "schema" => Reply::status(400, "response_format is not supported"),
        "tool" => Reply::completion("{}"),
        _ => weighed("```json\n{\"score\": ", "}\n```"),
    });
    let judge = openai(&stub);
    run(async {
        close(&weigh(&*judge).await.expect("a value"), "4", 0.5);
        assert_eq!(ask(&*judge).await, Ok(json!({})));
        close(&weigh(&*judge).await.expect("a value"), "4", 0.5);
    });
    assert_eq!(stub.seen().iter().map(form).collect::<Vec<_>>(), ["schema", "text", "tool", "text"]);
}

fn others() {
    let stub = Stub::script(vec![Reply::completion("{}")]);
    assert_eq!(run(ask(&*openai(&stub))), Ok(json!({})));
    let body = stub.seen()[0].json();
    assert_eq!((body.get("logprobs"), body.get("top_logprobs")), (None, None));
}

fn unsupported() {
    let stub = Stub::script(vec![Reply::completion("{}")]);
    let (ending, why) = run(weigh(&*anthropic(&stub))).expect_err("unsupported");
    assert_eq!((ending, why.as_str()), (Ending::Unsupported, "Anthropic's messages carry no log probabilities"));
    assert!(stub.seen().is_empty());
    let binary = std::env::current_exe().expect("this binary").to_string_lossy().into_owned();
    let command = CommandSpec {
        run: vec![binary, "fake-judge".to_owned()],
        per: Per::Case,
        env: std::collections::BTreeMap::new(),
        folder: std::env::temp_dir(),
    };
    let judge = open(JudgeProvider::Command { command, model: "fake-1".to_owned() });
    let (ending, why) = run(weigh(&*judge)).expect_err("unsupported");
    assert_eq!((ending, why.as_str()), (Ending::Unsupported, "a program gives no log probabilities"));
    let (ending, _) = run(weigh(&*open(JudgeProvider::Offline))).expect_err("unsupported");
    assert_eq!(ending, Ending::Unsupported);
}
