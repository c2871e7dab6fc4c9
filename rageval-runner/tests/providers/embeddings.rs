//! Embeddings over HTTP, with everything that can go wrong on the way.

use std::{fs, path::Path, process::Command, sync::Arc, time::Duration};

use rageval_runner::{
    embed::{
        self, Embedder,
        spec::{EmbedderProvider, EmbedderSpec, HostedEmbeddings},
    },
    judge::Spent,
    model::Ending,
};
use serde_json::{Value, json};

use super::{
    GATE, KEY, Test, run,
    secrets::walk,
    stub::{Reply, Stub},
};

pub(crate) const TESTS: &[Test] = &[
    ("texts_are_sent_as_floats_are_asked_for_and_vectors_come_in_their_order", in_order),
    ("what_a_request_took_is_what_its_reply_says", took),
    ("a_reply_that_is_not_one_vector_a_text_is_refused_with_the_reason", misfits),
    ("passing_faults_are_got_over_and_counted", passing),
    ("a_refusal_says_what_to_look_at", refusals),
    ("a_missing_key_is_told_when_something_is_asked_and_nothing_is_sent", missing),
    ("a_server_that_hangs_ends_as_a_time_out_that_names_the_key_to_raise", hang),
    ("fingerprints_differ_by_model_and_not_by_address", fingerprints),
    ("a_name_that_the_server_gives_its_model_is_told", other_name),
    ("requests_a_minute_are_waited_for", minute),
    ("a_gate_scores_by_vectors_that_stand_in_none_of_its_files", gated),
    ("a_gate_without_the_embedders_key_says_so_once_where_a_vector_is_needed", keyless),
];

pub(crate) fn hosted(base_url: &str) -> HostedEmbeddings {
    HostedEmbeddings { api_key_env: Some("JUDGE_KEY".to_owned()), ..HostedEmbeddings::new(base_url, "e5-small") }
}

pub(crate) fn open(hosted: HostedEmbeddings) -> Arc<dyn Embedder> {
    let provider = EmbedderProvider::Openai(Box::new(hosted));
    let spec = EmbedderSpec { timeout: Duration::from_secs(3), ..EmbedderSpec::of_provider(provider) };
    embed::open(&spec, &|name| (name == "JUDGE_KEY").then(|| KEY.to_owned())).expect("an embedder")
}

fn of(stub: &Stub) -> Arc<dyn Embedder> {
    open(hosted(&format!("{}/v1/", stub.url())))
}

fn texts(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("text {n}")).collect()
}

/// What came, after the embedder's own limits let it be asked.
pub(crate) fn ask(embedder: &dyn Embedder, count: usize) -> Result<Vec<Vec<f32>>, (Ending, String)> {
    let texts = texts(count);
    run(async {
        embedder.admit(&texts).await;
        embedder.embed(&texts).await.vectors.map_err(|failed| (failed.ending, failed.why))
    })
}

#[track_caller]
fn failure(came: Result<Vec<Vec<f32>>, (Ending, String)>) -> (Ending, String) {
    came.expect_err("a failure")
}

/// A reply with these entries.
fn data(entries: &Value) -> Reply {
    Reply::ok(
        json!({"object": "list", "model": "e5-small", "data": entries, "usage": {"prompt_tokens": 4, "total_tokens": 4}}),
    )
}

fn two() -> Reply {
    data(&json!([{"index": 0, "embedding": [1, 0]}, {"index": 1, "embedding": [0.5, -0.25]}]))
}

fn in_order() {
    let shuffled = json!([{"index": 1, "embedding": [0, 1]}, {"index": 2, "embedding": [1, 1]}, {"index": 0, "embedding": [1, 0]}]);
    let stub = Stub::script(vec![data(&shuffled)]);
    assert_eq!(ask(&*of(&stub), 3), Ok(vec![vec![1.0, 0.0], vec![0.0, 1.0], vec![1.0, 1.0]]));
    let seen = &stub.seen()[0];
    assert_eq!(seen.line, "POST /v1/embeddings HTTP/1.1");
    assert_eq!(seen.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let body = json!({"model": "e5-small", "input": ["text 0", "text 1", "text 2"], "encoding_format": "float"});
    assert_eq!(seen.json(), body);
}

fn took() {
    let spent = |stub: &Stub| run(async { of(stub).embed(&texts(2)).await.spent });
    let told = Spent { requests: 1, input_tokens: 4, output_tokens: 0, estimated_tokens: 0 };
    assert_eq!(spent(&Stub::script(vec![two()])), told);
    let untold = Reply::ok(json!({"data": [{"index": 0, "embedding": [1, 0]}, {"index": 1, "embedding": [1, 0]}]}));
    let about = Spent { requests: 1, input_tokens: 2, output_tokens: 0, estimated_tokens: 2 };
    assert_eq!(spent(&Stub::script(vec![untold])), about);
    let refused = Spent { requests: 1, ..Spent::default() };
    assert_eq!(spent(&Stub::script(vec![Reply::status(400, "too long")])), refused);
    // A try that was cut off may have been paid for.
    let cut = Reply::Cut(json!({"data": [{"index": 0}]}).to_string());
    let again = Spent { requests: 2, input_tokens: 6, output_tokens: 0, estimated_tokens: 2 };
    assert_eq!(spent(&Stub::script(vec![cut, two()])), again);
}

fn misfits() {
    let fine = json!({"index": 0, "embedding": [1, 0]});
    for (entries, expected) in [
        (json!([fine]), "the index 1 is missing, and 2 texts were sent"),
        (json!([fine, fine]), "the index 0 stands in it twice"),
        (json!([fine, {"index": 2, "embedding": [1, 0]}]), "`data[1]` has the index 2, and 2 texts were sent"),
        (json!([fine, {"index": 1, "embedding": [1, 0]}, fine]), "the index 0 stands in it twice"),
        (json!([fine, {"embedding": [1, 0]}]), "`data[1]` has no `index`"),
        (json!([fine, {"index": -1, "embedding": [1, 0]}]), "`data[1]` has no `index`"),
        (json!([fine, {"index": 1}]), "`data[1]` has no `embedding`"),
        (json!([fine, {"index": 1, "embedding": [1, 0, 0]}]), "its vectors have different dimensions: {2, 3}"),
        (
            json!([fine, {"index": 1, "embedding": [1, null]}]),
            "the `embedding` of `data[1]` holds what is no number, at 1",
        ),
        (
            json!([fine, {"index": 1, "embedding": ["1", 0]}]),
            "the `embedding` of `data[1]` holds what is no number, at 0",
        ),
        (
            json!([fine, {"index": 1, "embedding": [0, 0.0]}]),
            "the `embedding` of `data[1]` is zero, so that it points nowhere",
        ),
        (json!([fine, {"index": 1, "embedding": []}]), "the `embedding` of `data[1]` is empty"),
        (
            json!([fine, {"index": 1, "embedding": [1e39, 0]}]),
            "the `embedding` of `data[1]` holds a number that is not finite in single precision",
        ),
        (
            json!([fine, {"index": 1, "embedding": "AACAPwAAAAA="}]),
            "the `embedding` of `data[1]` is a text (base64?), although `encoding_format: float` was asked for",
        ),
        (
            json!([fine, {"index": 1, "embedding": [[1, 0]]}]),
            "the `embedding` of `data[1]` holds what is no number, at 0",
        ),
        (json!([fine, {"index": 1, "embedding": null}]), "the `embedding` of `data[1]` is no list of numbers"),
        (json!({}), "it has no list `data`"),
    ] {
        let stub = Stub::script(vec![data(&entries)]);
        let (ending, why) = failure(ask(&*of(&stub), 2));
        assert_eq!(ending, Ending::Provider, "{entries}");
        assert_eq!(why, format!("the embedder's reply can't be used: {expected}"), "{entries}");
        assert_eq!(stub.seen().len(), 1, "{entries}");
    }
}

fn passing() {
    let nan = r#"{"data": [{"index": 0, "embedding": [NaN, 1]}, {"index": 1, "embedding": [1, 1]}]}"#;
    let faults = [
        (Reply::Whole(429, "retry-after: 0\r\n", "slow down".to_owned()), "429: 1"),
        (Reply::Whole(503, "retry-after-ms: 5\r\n", "loading".to_owned()), "503: 1"),
        (Reply::Cut(json!({"data": [{"index": 0}]}).to_string()), "reply cut: 1"),
        (Reply::ok(nan), "reply is no JSON: 1"),
    ];
    for (fault, kind) in faults {
        let stub = Stub::script(vec![fault, two()]);
        let embedder = of(&stub);
        assert_eq!(ask(&*embedder, 2), Ok(vec![vec![1.0, 0.0], vec![0.5, -0.25]]), "{kind}");
        let notice = format!("embedder requests that were sent again, by what came of a try: {kind}");
        assert_eq!(embedder.notices(), [notice]);
    }
    let stub = Stub::script(vec![Reply::Whole(429, "retry-after: 3600\r\n", "quota".to_owned())]);
    let (_, why) = failure(ask(&*of(&stub), 1));
    assert!(why.ends_with("s no time would be left of `embedder.timeout`, 3 s"), "{why}");
    assert_eq!(stub.seen().len(), 1);
}

fn refusals() {
    let chat = r#"{"error": {"code": 501, "message": "This server does not support embeddings.", "type": "not_supported_error"}}"#;
    for (status, body, expected) in [
        (501, chat, "this server makes no embeddings: a chat model's server needs another one beside it"),
        (401, "who?", "401 Unauthorized: who?; is the key in the variable of `embedder.api_key_env` right?"),
        (404, "", "404 Not Found: no body; are `embedder.base_url` and `embedder.model` right?"),
        (400, "too long", "400 Bad Request: too long"),
    ] {
        let stub = Stub::script(vec![Reply::status(status, body)]);
        let (ending, why) = failure(ask(&*of(&stub), 2));
        assert_eq!(ending, Ending::Provider);
        assert!(why.ends_with(expected) && why.starts_with(&status.to_string()), "{why}");
        assert_eq!(stub.seen().len(), 1);
    }
}

fn missing() {
    let stub = Stub::script(vec![two()]);
    let spec = EmbedderSpec::of_provider(EmbedderProvider::Openai(Box::new(hosted(&stub.url()))));
    let embedder = embed::open(&spec, &|_| None).expect("a missing key is no error yet");
    let (ending, why) = failure(ask(&*embedder, 2));
    assert_eq!(ending, Ending::NoKey);
    let expected = "the variable JUDGE_KEY of the environment (`embedder.api_key_env`) is missing or empty; set it to the embedder's key";
    assert_eq!(why, expected);
    assert_eq!(stub.seen().len(), 0);
}

fn hang() {
    let stub = Stub::script(vec![Reply::Hang]);
    let impatient = HostedEmbeddings { try_timeout: Some(Duration::from_millis(100)), ..hosted(&stub.url()) };
    let (ending, why) = failure(ask(&*open(impatient), 2));
    assert_eq!(ending, Ending::TimeOut);
    assert!(why.starts_with("no reply within 0.1 s; raise `embedder.try_timeout` if that is too short"), "{why}");
}

fn fingerprints() {
    let stamp =
        |base_url: &str, model: &str| open(HostedEmbeddings { model: model.to_owned(), ..hosted(base_url) }).stamp();
    let first = stamp("http://127.0.0.1:1/v1", "a");
    assert_eq!((first.provider.as_str(), first.model.as_str()), ("openai", "a"));
    assert_eq!(stamp("http://127.0.0.1:2/v1", "a"), first);
    assert_ne!(stamp("http://127.0.0.1:1/v1", "b").fingerprint, first.fingerprint);
}

fn other_name() {
    let reply = json!({"model": "e5-small-v2.gguf", "data": [{"index": 0, "embedding": [1, 0]}]});
    let embedder = of(&Stub::script(vec![Reply::ok(reply)]));
    assert_eq!(ask(&*embedder, 1), Ok(vec![vec![1.0, 0.0]]));
    assert_eq!(embedder.notices(), ["the embedder was asked as `e5-small` and calls itself `e5-small-v2.gguf`"]);
}

fn minute() {
    let stub = Stub::script(vec![data(&json!([{"index": 0, "embedding": [1, 0]}]))]);
    let slow = HostedEmbeddings { requests_per_minute: Some(120), ..hosted(&stub.url()) };
    let embedder = open(slow);
    let started = std::time::Instant::now();
    for _ in 0..13 {
        ask(&*embedder, 1).expect("a vector");
    }
    // Eleven are free: five seconds' worth, and the one that starts the clock.
    assert!(started.elapsed() >= Duration::from_millis(900), "{:?}", started.elapsed());
}

/// A project over one case with a scripted judge and this embedder.
fn gate(embedder: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    };
    write("Cargo.toml", "[workspace]\n");
    write(
        "thresholds.yaml",
        &format!(
            "version: 1\nsystem: {{kind: recorded}}\njudge: {{provider: scripted, replies: replies.jsonl}}\n{embedder}\
             metrics:\n  answer_relevancy: {{mode: questions, questions: 2}}\n  answer_correctness: {{similarity_weight: 0.25}}\n"
        ),
    );
    let statements = json!({"answer": [{"n": 1, "verdict": "correct"}], "reference": [{"n": 1, "verdict": "covered"}]});
    let questions =
        json!({"questions": [{"n": 1, "question": "Q?"}, {"n": 2, "question": "When?"}], "noncommittal": false});
    let reply = |request: &str, value: Value| json!({"request": request, "case": "*", "value": value}).to_string();
    let replies =
        [reply("answer_relevancy.questions", questions), reply("answer_correctness.statements", statements)].join("\n");
    write("replies.jsonl", &replies);
    write("vectors.jsonl", VECTORS);
    write("cases/all.yaml", "- {id: c1, query: 'Q?', response: 'In 3 days.', reference: 'Three days.'}\n");
    folder
}

/// A run of the gate: what it printed.
fn printed(folder: &Path, mode: &str) -> String {
    let ran = Command::new(std::env::current_exe().expect("this binary"))
        .current_dir(folder)
        .env_remove("NEXTEST_RUN_ID")
        .env_remove("CI")
        .env_remove("EMBEDDER_KEY")
        .env(GATE, "1")
        .env("CARGO_MANIFEST_DIR", folder)
        .env("RAGEVAL_RUNS", folder.join("runs"))
        .env("RAGEVAL_JUDGE_MODE", mode)
        .output()
        .expect("a run");
    [&ran.stdout, &ran.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
}

/// A run of the gate: `run.json`, the snapshot that it leaves for review, and what it printed.
fn run_gate(folder: &Path, mode: &str) -> (Value, String, String) {
    let text = printed(folder, mode);
    let (mut run_file, mut snapshot) = (None, None);
    walk(folder, &mut |path: &Path| {
        if path.ends_with("run.json") {
            run_file = Some(fs::read_to_string(path).expect("readable"));
        } else if path.extension().is_some_and(|ending| ending == "new") {
            snapshot = Some(fs::read_to_string(path).expect("readable"));
        }
    });
    let run_file = run_file.unwrap_or_else(|| panic!("no run: {text}"));
    fs::remove_dir_all(folder.join("runs")).expect("removed");
    (serde_json::from_str(&run_file).expect("a run"), snapshot.expect("a snapshot"), text)
}

/// The query is like the second question by 0.6, and the answer like its reference by 0.8.
const VECTORS: &str = r#"{"text": "Q?", "vector": [0, 7.5]}
{"text": "When?", "vector": [8, 6]}
{"text": "In 3 days.", "vector": [8, 6]}
{"text": "Three days.", "vector": [7.5, 0]}"#;

fn gated() {
    let stub = Stub::start(|seen, _| {
        let vectors: Vec<Value> = VECTORS.lines().map(|line| serde_json::from_str(line).expect("a line")).collect();
        let of = |text: &Value| vectors.iter().find(|line| line["text"] == *text).expect("a vector")["vector"].clone();
        let body = seen.json();
        let texts = body["input"].as_array().expect("texts");
        data(&texts.iter().enumerate().map(|(index, text)| json!({"index": index, "embedding": of(text)})).collect())
    });
    let hosted = format!(
        "embedder: {{provider: openai, base_url: \"{}\", model: e5-small}}\nbudget: {{requests: 2}}\n",
        stub.url()
    );
    let project = gate(&hosted);
    let (by_server, snapshot, text) = run_gate(project.path(), "cached");
    assert!(text.contains("embedder vectors: 0 stored, 4 asked for (`cached`)"), "{text}");
    assert!(text.contains("spent: 2 requests of 2, 8 tokens read"), "{text}");
    let record = &by_server["records"][0];
    let value = |metric: &str| record["outcomes"][metric]["score"]["value"].as_f64().expect("a score");
    assert!((value("answer_relevancy") - 0.8).abs() < 1e-12, "{record}");
    assert!((value("answer_correctness") - 0.95).abs() < 1e-12, "{record}");
    // The query stands among the questions: it is sent once.
    let mut sent: Vec<_> = stub.seen().iter().map(|seen| seen.json()["input"].clone()).collect();
    sent.sort_by_key(Value::to_string);
    assert_eq!(sent, [json!(["In 3 days.", "Three days."]), json!(["Q?", "When?"])]);
    assert!(!by_server.to_string().contains("7.5"), "a vector stands in the run");
    let body = snapshot.rsplit("---\n").next().expect("a body");
    let expected = "answer_correctness: scored\n  supported: In 3 days.\n  supported: reference: Three days.\nanswer_relevancy: scored\n";
    assert_eq!(body, expected);

    // A second run asks nothing, and a replay never does.
    for mode in ["cached", "replay"] {
        let (again, _, text) = run_gate(project.path(), mode);
        // Where the vectors came from is all in which the two differ.
        let asked = by_server["records"].to_string().replace("\"source\":\"asked\"", "\"source\":\"stored\"");
        assert_eq!(
            again["records"].to_string(),
            asked.replace("\"source\":\"partly_stored\"", "\"source\":\"stored\""),
            "{mode}"
        );
        assert!(text.contains(&format!("embedder vectors: 4 stored, 0 asked for (`{mode}`)")), "{text}");
    }
    assert_eq!(stub.seen().len(), 2);
    fs::remove_dir_all(project.path().join(".rageval")).expect("removed");
    let (missed, _, _) = run_gate(project.path(), "replay");
    let fault = &missed["records"][0]["outcomes"]["answer_correctness"];
    assert_eq!(fault["cause"], "vector not stored", "{missed}");
    assert_eq!(stub.seen().len(), 2);

    let scripted = gate("embedder: {provider: scripted, vectors: vectors.jsonl}\n");
    let (by_script, same, _) = run_gate(scripted.path(), "cached");
    assert_eq!(by_script["records"][0]["outcomes"], record["outcomes"]);
    assert_eq!(same, snapshot);
    let judge = |run: &Value| run["manifest"]["judge"].clone();
    assert_eq!(judge(&by_script)["provider"], "scripted");
    assert_ne!(judge(&by_script)["fingerprint"], judge(&by_server)["fingerprint"]);
}

fn keyless() {
    let stub = Stub::start(|_, _| panic!("nothing is sent"));
    let url = stub.url();
    let embedder = format!(
        "embedder: {{provider: openai, base_url: \"{url}\", model: e5-small, api_key_env: EMBEDDER_KEY}}\nbudget: {{requests: 2}}\n"
    );
    let project = gate(&embedder);
    let text = printed(project.path(), "cached");
    let said = "the variable EMBEDDER_KEY of the environment (`embedder.api_key_env`) is missing or empty; set it to the embedder's key; \
                of 1 case, 1 needs vectors that are not stored";
    assert!(text.contains(&format!("undecided   thresholds.yaml:4: {said}")), "{text}");
    assert_eq!(text.matches("needs vectors that are not stored").count(), 1, "{text}");
    assert_eq!(stub.seen().len(), 0);
    // In a replay the key is not what is missing.
    let text = printed(project.path(), "replay");
    assert!(!text.contains("EMBEDDER_KEY") && text.contains("vector not stored"), "{text}");
    // A metric that needs no vector needs no key.
    let policy = fs::read_to_string(project.path().join("thresholds.yaml")).expect("readable");
    let (head, _) = policy.split_once("metrics:").expect("metrics");
    fs::write(project.path().join("thresholds.yaml"), format!("{head}metrics: {{exact_match: }}\n")).expect("written");
    assert!(!printed(project.path(), "cached").contains("EMBEDDER_KEY"));
}
