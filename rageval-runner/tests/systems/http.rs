//! System kind `http` against an endpoint that misbehaves.

use std::{
    net::TcpListener,
    path::Path,
    process::{Command, ExitCode},
    sync::{Mutex, mpsc},
    time::{Duration, Instant},
};

use rageval_runner::{
    Answer, RetrievedContext,
    model::{GoldenSet, Place},
    system::{
        self, Latency, RagSystem,
        spec::{ContextPointers, HeaderTemplate, HttpMethod, HttpSpec, JsonPointer, SystemKind, SystemSpec},
    },
};
use serde_json::{Value, json};

use crate::{
    Came, ask, ask_within, fault, response, run,
    stub::{Reply, Stub},
};

const SECRET: &str = "sk-\"very\"-secret-0451";

fn pointer(text: &str) -> JsonPointer {
    JsonPointer::new(text).expect("a pointer")
}

fn spec(url: &str) -> SystemSpec {
    let header = |key: &str, value: &str| (key.to_owned(), HeaderTemplate::parse(value).expect("a header"));
    let http = HttpSpec {
        url: url.to_owned(),
        method: HttpMethod::Put,
        headers: vec![header("authorization", "Bearer ${RAG_TOKEN}"), header("x-fixed", "yes")],
        body: json!({"question": "{{ query }}", "ids": ["{{ id }}", "{{ metadata.plan }}"], "top_k": 3}),
        answer: pointer("/answer"),
        contexts: Some(ContextPointers {
            each: pointer("/sources"),
            id: Some(pointer("/id")),
            text: pointer("/text"),
            score: None,
        }),
        refused: None,
        usage: None,
        cost: None,
        model: None,
    };
    let mut spec = SystemSpec::of_kind(SystemKind::Http(Box::new(http)));
    spec.timeout = Duration::from_secs(5);
    spec.place = Place { file: "thresholds.yaml".to_owned(), line: 4, column: 1 };
    spec
}

fn open(url: &str) -> Box<dyn RagSystem> {
    let env = |name: &str| (name == "RAG_TOKEN").then(|| SECRET.to_owned());
    system::open(&spec(url), Path::new("."), &env, &GoldenSet::default()).expect("a system")
}

/// Asks a stub once.
fn ask_once(stub: &Stub) -> Came {
    let system = open(&stub.url());
    run(ask(&*system, "q1", "why?"))
}

fn good() -> Reply {
    Reply::ok(r#"{"answer": "12 euros", "sources": [{"id": "d1", "text": "The fee is 12 euros."}]}"#)
}

pub(crate) fn a_question_is_sent_as_the_policy_describes_it() {
    let stub = Stub::start(|_, _| good());
    let system = open(&stub.url());
    let query = "What is\nthe \"fee\"? 退款 {{ id }}";
    let asked = run(system.ask(&crate::question("q1", query))).expect("an answer");
    let expected = Answer::new("12 euros").with_contexts([RetrievedContext::new("d1", "The fee is 12 euros.")]);
    assert_eq!(asked.answer, expected);
    assert!(matches!(asked.latency, Latency::Stated(ms) if ms > 0.0));

    let seen = &stub.seen()[0];
    assert_eq!(seen.line, "PUT /ask HTTP/1.1");
    assert_eq!(seen.header("authorization"), Some(format!("Bearer {SECRET}").as_str()));
    assert_eq!(seen.header("x-fixed"), Some("yes"));
    assert_eq!(seen.header("content-type"), Some("application/json"));
    let body: Value = serde_json::from_str(&seen.body).expect("a body");
    assert_eq!(body, json!({"question": query, "ids": ["q1", "pro"], "top_k": 3}));
}

pub(crate) fn an_endpoint_that_is_not_there_is_an_error() {
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port();
    let system = open(&format!("http://127.0.0.1:{port}/ask?key=k"));
    let (cause, why) = fault(run(ask(&*system, "q1", "why?")));
    assert_eq!(cause, "system error");
    assert!(why.starts_with(&format!("no connection to http://127.0.0.1:{port}/ask: ")), "{why}");
    assert!(!why.contains("key"), "{why}");
}

pub(crate) fn a_call_that_is_given_up_ends_its_connection() {
    let (sender, gone) = mpsc::channel();
    let sender = Mutex::new(sender);
    let stub = Stub::start(move |_, _| Reply::Hang(sender.lock().expect("no panic").clone()));
    let system = open(&stub.url());
    run(async {
        let came = ask_within(&*system, "q1", "why?", Duration::from_millis(200)).await;
        assert_eq!(fault(came).0, "time-out");
        gone.recv_timeout(Duration::from_secs(5)).expect("the connection ends");
    });
}

pub(crate) fn an_error_status_shows_the_first_of_its_body_in_any_shape() {
    let long = "x".repeat(100_000);
    let table = [
        (
            "500 Internal Server Error",
            r#"{"detail": ["a", {"b": 1}]}"#,
            r#"500 Internal Server Error: {"detail": ["a", {"b": 1}]}"#.to_owned(),
        ),
        ("400 Bad Request", "<h1>\u{1b}[31mbad</h1>\r\n", "400 Bad Request: <h1>bad</h1>".to_owned()),
        ("401 Unauthorized", "", "401 Unauthorized: no body".to_owned()),
        ("503 Busy", &long[..300], format!("503 Service Unavailable, and a wait of LIMIT: {}…", &long[..200])),
        ("500 Internal Server Error", &long, format!("500 Internal Server Error: {}…", &long[..200])),
    ];
    for (status, body, expected) in table {
        let (status, body) = (status.to_owned(), body.to_owned());
        let stub = Stub::start(move |_, _| Reply::new(&status, "retry-after: 3600\r\n", &body));
        let (cause, why) = fault(ask_once(&stub));
        assert_eq!(cause, "system error");
        let (start, end) = expected.split_once("LIMIT").unwrap_or((&expected, ""));
        assert!(why.starts_with(start) && why.ends_with(end), "{why}\nexpected: {expected}");
        assert_eq!(stub.seen().len(), 1, "{why}");
    }
}

pub(crate) fn only_a_refused_try_is_repeated() {
    for status in ["429 Too Many Requests", "502 Bad Gateway", "503 Service Unavailable", "504 Gateway Timeout"] {
        let stub =
            Stub::start(move |_, nth| if nth == 0 { Reply::new(status, "retry-after: 0\r\n", "") } else { good() });
        assert_eq!(response(&ask_once(&stub)), "12 euros");
        let seen = stub.seen();
        assert_eq!((seen.len(), &seen[0].body), (2, &seen[1].body), "{status}");
    }
    for status in ["500 Internal Server Error", "408 Request Timeout", "529 Overloaded", "404 Not Found"] {
        let stub =
            Stub::start(move |_, nth| if nth == 0 { Reply::new(status, "retry-after: 0\r\n", "") } else { good() });
        assert_eq!(fault(ask_once(&stub)).0, "system error");
        assert_eq!(stub.seen().len(), 1, "{status}");
    }
}

pub(crate) fn repetitions_are_bounded_in_number_and_time() {
    let stub = Stub::start(|_, _| Reply::new("429 Too Many Requests", "retry-after: 0\r\n", "slow down"));
    let (_, why) = fault(ask_once(&stub));
    assert_eq!(why, "429 Too Many Requests, the last of 3 tries: slow down");
    assert_eq!(stub.seen().len(), 3);

    let stub = Stub::start(|_, _| Reply::new("503 Service Unavailable", "retry-after: 60\r\n", "later"));
    let started = Instant::now();
    let (_, why) = fault(ask_once(&stub));
    assert!(why.starts_with("503 Service Unavailable, and a wait of 60."), "{why}");
    assert!(why.ends_with(" s would pass the time limit: later"), "{why}");
    assert_eq!(stub.seen().len(), 1);
    assert!(started.elapsed() < Duration::from_secs(5));
}

pub(crate) fn a_redirect_is_not_followed() {
    for status in ["301 Moved Permanently", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let other = Stub::start(|_, _| good());
        let to = format!("location: {}\r\n", other.url());
        let stub = Stub::start(move |_, _| Reply::new(status, &to, ""));
        let (cause, why) = fault(ask_once(&stub));
        let expected =
            format!("{status}: redirects to {}, which is not followed; put the final address into `url`", other.url());
        assert_eq!((cause.as_str(), why), ("system error", expected));
        assert_eq!(other.seen().len(), 0);
    }
}

pub(crate) fn a_reply_that_cannot_be_read_is_invalid() {
    let check = |reply: fn() -> Reply, expected: &str| {
        let stub = Stub::start(move |_, _| reply());
        let (cause, why) = fault(ask_once(&stub));
        assert_eq!(cause, "system reply invalid", "{why}");
        assert!(why.starts_with(expected), "{why}\nexpected: {expected}");
        assert!(why.chars().count() < 500, "{why}");
        assert_eq!(stub.seen().len(), 1);
    };
    check(
        || Reply::ok(r#"{"answer": "12"#),
        "the reply is no JSON: EOF while parsing a string at line 1 column 14; the reply: {\"answer\": \"12",
    );
    check(
        || Reply::ok("<html>It works!</html>"),
        "the reply is no JSON: expected value at line 1 column 1; the reply: <html>It works!",
    );
    check(|| Reply::ok(""), "the reply is no JSON: EOF while parsing a value at line 1 column 0; the reply: no body");
    check(
        || Reply::ok(r#"{"error": "rate limit"}"#),
        "`answer`: nothing at `/answer` in an object with the keys [error]; the reply: {\"error\": \"rate limit\"}",
    );
    check(|| Reply::ok(r#"{"answer": 12}"#), "`answer`: `/answer` must be a text, got the number 12; the reply: ");
    check(
        || Reply::ok(r#"{"answer": "12"}"#),
        "`contexts.each`: nothing at `/sources` in an object with the keys [answer]; ",
    );
    check(
        || Reply::ok(r#"{"answer": "12", "sources": [{"id": "d1"}]}"#),
        "`contexts.text` of entry 0: nothing at `/text` in an object with the keys [id]; ",
    );
    check(
        || Reply::ok(r#"{"answer": "9", "answer": "12", "sources": []}"#),
        "the reply can't be read: the key `answer` stands twice at line 1 column ",
    );
    check(
        || Reply::ok(r#"{"answer": "12", "sources": [{"id": "d1", "text": "a", "text": "b"}]}"#),
        "the reply can't be read: the key `text` stands twice at line 1 column ",
    );
    check(cut, "the reply broke off after 14 bytes: ");
    check(huge, "the reply is longer than 16 MiB");
}

/// A body that ends before the length that was announced.
fn cut() -> Reply {
    Reply::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"answer\": \"12".to_vec())
}

fn huge() -> Reply {
    Reply::ok(&format!(r#"{{"answer": "{}", "sources": []}}"#, "x".repeat(17 << 20)))
}

pub(crate) fn a_secret_is_in_no_error_and_no_answer() {
    let escaped = SECRET.replace('"', "\\\"");
    let replies: [fn(&str, &str) -> Reply; 6] = [
        |plain, _| Reply::new("500 Internal Server Error", "", &format!("bad token {plain}")),
        |plain, _| Reply::new("403 Forbidden", "", &format!("{}{plain}", "x".repeat(190))),
        |plain, _| Reply::new("302 Found", &format!("location: http://127.0.0.1:1/?token={plain}\r\n"), ""),
        |plain, _| Reply::ok(&format!("bad token {plain}")),
        |_, escaped| Reply::ok(&format!(r#"{{"answer": "your token is {escaped}", "sources": []}}"#)),
        |_, escaped| Reply::ok(&format!(r#"{{"{escaped}": 1}}"#)),
    ];
    for reply in replies {
        let escaped = escaped.clone();
        let stub = Stub::start(move |_, _| reply(SECRET, &escaped));
        let (_, why) = fault(ask_once(&stub));
        for part in [SECRET, &SECRET[..8], "very", "0451"] {
            assert!(!why.contains(part), "{why}");
        }
        // One of them is cut in the middle of the name.
        assert!(why.contains("${RAG_TOK"), "{why}");
    }

    let env = |name: &str| (name == "RAG_TOKEN").then(|| format!("{SECRET}\n\u{7}"));
    let error = system::open(&spec("http://127.0.0.1:1/"), Path::new("."), &env, &GoldenSet::default()).err();
    let error = error.expect("an error").to_string();
    assert!(
        error.starts_with("thresholds.yaml:4: system.headers.authorization: the value holds a control character"),
        "{error}"
    );
    assert!(!error.contains("secret"), "{error}");
}

pub(crate) fn hosts_on_this_machine_are_asked_without_a_proxy() {
    let stub = Stub::start(|_, _| good());
    let mut asker = Command::new(std::env::current_exe().expect("a path"));
    asker.args(["fake-asker", &stub.url()]);
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        asker.env(name, "http://127.0.0.1:1/");
    }
    let output = asker.output().expect("an asker");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "12 euros");
}

/// The other side of the test above.
pub(crate) fn ask_and_print(url: Option<&str>) -> ExitCode {
    let system = open(url.expect("an address"));
    match run(ask(&*system, "q1", "why?")) {
        Ok(answer) => print!("{}", answer.response),
        Err((cause, why)) => print!("{cause}: {why}"),
    }
    ExitCode::SUCCESS
}
