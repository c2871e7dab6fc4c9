//! Faults on the way are got over where that can be, and told where it can't.

use std::time::{Duration, Instant};

use rageval_runner::{
    judge::{
        self,
        spec::{Hosted, JudgeProvider, JudgeSpec},
    },
    model::Ending,
};
use serde_json::{Value, json};

use super::{
    Test, ask, failure, hosted, open, open_within, openai, run,
    stub::{Reply, Stub},
};

pub(crate) const TESTS: &[Test] = &[
    ("passing_faults_are_got_over_and_counted", passing),
    ("tries_are_bounded_in_number", bounded),
    ("what_was_sent_again_is_counted_and_what_was_cut_off_estimated", counted),
    ("a_server_names_its_own_pause", pauses),
    ("a_pause_beyond_the_limit_is_told_at_once_and_to_all", long_pause),
    ("a_try_that_hangs_is_followed_by_another", hang),
    ("a_request_ends_before_its_limit_with_the_reason", deadline),
    ("an_error_body_of_any_shape_is_shown_in_short", bodies),
    ("a_missing_key_is_told_when_something_is_asked_and_nothing_is_sent", missing),
    ("a_server_that_is_not_there_is_given_up_soon", nobody),
    ("requests_a_minute_are_waited_for_outside_the_time_limit", minute),
];

fn counted() {
    let completion = super::stub::completion(FINE).to_string();
    let cases: [(Vec<Reply>, u64, u64); 4] = [
        (vec![], 1, 0),
        (vec![quick(429, ""), quick(500, "")], 3, 0),
        (vec![Reply::Cut(completion.clone()), quick(503, "")], 3, 1),
        (vec![Reply::ok("<html>"), Reply::Cut(completion)], 3, 2),
    ];
    for (mut replies, requests, unanswered) in cases {
        replies.push(Reply::completion(FINE));
        let stub = Stub::script(replies);
        let (judge, request) = (openai(&stub), super::request());
        let case = rageval_runner::model::CaseId::new("case-1").expect("a valid id");
        let spent = run(async { judge.ask(&case, &request).await.spent });
        let estimate = unanswered * judge::estimated_tokens(&request);
        assert_eq!(
            (spent.requests, spent.input_tokens, spent.output_tokens, spent.estimated_tokens),
            (requests, 20 + estimate, 5, estimate)
        );
    }
    let stub = Stub::script(vec![Reply::status(400, "no")]);
    let judge = openai(&stub);
    let case = rageval_runner::model::CaseId::new("case-1").expect("a valid id");
    let spent = run(async { judge.ask(&case, &super::request()).await.spent });
    assert_eq!(spent.tokens(), 0, "a refusal costs no tokens");
    assert!(spent.requests > 0);
}

const FINE: &str = r#"{"n": 1}"#;

fn fine() -> Result<Value, (Ending, String)> {
    Ok(json!({"n": 1}))
}

fn quick(status: u16, body: &str) -> Reply {
    Reply::Whole(status, "retry-after-ms: 5\r\n", body.to_owned())
}

fn passing() {
    let faults = [
        vec![quick(529, "overloaded"), quick(529, ""), quick(429, r#"{"detail": "slow"}"#), quick(500, "")],
        vec![quick(408, ""), quick(409, ""), quick(503, "<html>"), quick(504, "")],
        vec![Reply::Cut(super::stub::completion(FINE).to_string())],
        vec![Reply::ok("<html>busy</html>")],
        vec![Reply::ok(r#"{"choices": [{"#)],
        vec![Reply::Whole(
            200,
            "retry-after-ms: 5\r\n",
            json!({"error": {"code": 429, "message": "slow"}}).to_string(),
        )],
    ];
    let kinds = [
        "429: 1, 500: 1, 529: 2",
        "408: 1, 409: 1, 503: 1, 504: 1",
        "reply cut: 1",
        "reply is no JSON: 1",
        "reply is no JSON: 1",
        "429: 1",
    ];
    for (mut replies, kinds) in faults.into_iter().zip(kinds) {
        let tries = replies.len() + 1;
        replies.push(Reply::completion(FINE));
        let stub = Stub::script(replies);
        let judge = openai(&stub);
        assert_eq!(run(ask(&*judge)), fine(), "{kinds}");
        assert_eq!(stub.seen().len(), tries);
        let notice = format!("judge requests that were sent again, by what came of a try: {kinds}");
        assert_eq!(judge.notices(), [notice]);
    }
}

fn bounded() {
    let stub = Stub::script(vec![quick(500, "down")]);
    let (ending, why) = failure(run(ask(&*openai(&stub))));
    assert_eq!((ending, why.as_str()), (Ending::Provider, "500 Internal Server Error: down; the last of 6 tries"));
    assert_eq!(stub.seen().len(), judge::TRIES as usize);
}

fn pauses() {
    for headers in ["retry-after: 0\r\n", "retry-after-ms: 20\r\n", "retry-after: Sun, 01 Mar 2020 12:00:05 GMT\r\n"] {
        let stub = Stub::script(vec![Reply::Whole(429, headers, String::new()), Reply::completion(FINE)]);
        assert_eq!(run(ask(&*openai(&stub))), fine(), "{headers}");
    }
}

fn long_pause() {
    let stub = Stub::script(vec![Reply::Whole(429, "retry-after: 3600\r\n", "quota".to_owned())]);
    let judge = openai(&stub);
    let started = Instant::now();
    run(async {
        let (ending, why) = failure(ask(&*judge).await);
        assert_eq!(ending, Ending::Provider);
        assert!(why.starts_with("429 Too Many Requests: quota; try 1, and after a wait of 36"), "{why}");
        assert!(why.ends_with("s no time would be left of `judge.timeout`, 3 s"), "{why}");
        let (_, why) = failure(ask(&*judge).await);
        assert!(why.starts_with("not sent: the server wants no requests for another 3"), "{why}");
    });
    assert_eq!(stub.seen().len(), 1);
    assert!(started.elapsed() < Duration::from_secs(2));
}

fn hang() {
    let stub = Stub::script(vec![Reply::Hang, Reply::completion(FINE)]);
    let patient = Hosted { try_timeout: Some(Duration::from_millis(300)), ..hosted(&stub.url()) };
    let judge = open(JudgeProvider::Openai(Box::new(patient)));
    assert_eq!(run(ask(&*judge)), fine());
    assert_eq!(judge.notices(), ["judge requests that were sent again, by what came of a try: no reply in time: 1"]);
}

fn deadline() {
    let stub = Stub::script(vec![Reply::Hang]);
    let limit = Duration::from_millis(800);
    let judge = open_within(JudgeProvider::Openai(Box::new(hosted(&stub.url()))), limit);
    let started = Instant::now();
    let (ending, why) = failure(run(ask(&*judge)));
    assert!(started.elapsed() < limit, "{:?}", started.elapsed());
    assert_eq!(ending, Ending::TimeOut);
    assert!(why.starts_with("no reply within 0."), "{why}");
}

fn bodies() {
    let long = "x".repeat(5000);
    for (body, shown) in [
        ("", "no body".to_owned()),
        ("plain\n text", "plain text".to_owned()),
        (r#"{"detail": "…"}"#, r#"{"detail": "…"}"#.to_owned()),
        (r#"[1, null]"#, "[1, null]".to_owned()),
        (long.as_str(), format!("{}…", &long[..200])),
    ] {
        let stub = Stub::script(vec![Reply::status(404, body)]);
        let (ending, why) = failure(run(ask(&*openai(&stub))));
        assert_eq!(ending, Ending::Provider);
        let hint = "; are `judge.base_url` and `judge.model` right?";
        assert_eq!(why, format!("404 Not Found: {shown}{hint}"));
        assert_eq!(stub.seen().len(), 1);
    }
    let stub = Stub::script(vec![Reply::Whole(307, "location: http://elsewhere/\r\n", String::new())]);
    let (_, why) = failure(run(ask(&*openai(&stub))));
    assert_eq!(why, "307 Temporary Redirect: redirects to http://elsewhere/, which is not followed");
}

fn missing() {
    let stub = Stub::script(vec![Reply::completion(FINE)]);
    let spec = JudgeSpec::of_provider(JudgeProvider::Openai(Box::new(hosted(&stub.url()))));
    for value in [None, Some(""), Some(" \n")] {
        let judge = judge::open(&spec, &|_| value.map(str::to_owned)).expect("a missing key is no error yet");
        let (ending, why) = failure(run(ask(&*judge)));
        assert_eq!(ending, Ending::NoKey);
        let expected = "the variable JUDGE_KEY of the environment (`judge.api_key_env`) is missing or empty; set it to the judge's key";
        assert_eq!(why, expected);
    }
    assert_eq!(stub.seen().len(), 0);
}

fn nobody() {
    // A port that was free a moment ago.
    let address =
        std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    let judge =
        open_within(JudgeProvider::Openai(Box::new(hosted(&format!("http://{address}/v1")))), Duration::from_secs(10));
    run(async {
        let (ending, why) = failure(ask(&*judge).await);
        assert_eq!(ending, Ending::Provider);
        assert!(why.starts_with(&format!("no connection to http://{address}/v1/chat/completions: ")), "{why}");
        assert!(why.ends_with("; the last of 3 tries"), "{why}");
        let started = Instant::now();
        failure(ask(&*judge).await);
        assert!(started.elapsed() < Duration::from_millis(400), "tried again: {:?}", started.elapsed());
    });
}

fn minute() {
    let stub = Stub::script(vec![Reply::completion(FINE)]);
    let slow = Hosted { requests_per_minute: Some(120), ..hosted(&stub.url()) };
    let judge = open_within(JudgeProvider::Openai(Box::new(slow)), Duration::from_millis(400));
    let started = Instant::now();
    run(async {
        let replies = futures_util::future::join_all((0..13).map(|_| ask(&*judge))).await;
        assert!(replies.iter().all(|reply| *reply == fine()), "{replies:?}");
    });
    // Eleven are free: five seconds' worth, and the one that starts the clock.
    let waited = started.elapsed();
    assert!(waited >= Duration::from_millis(950), "{waited:?}");
}
