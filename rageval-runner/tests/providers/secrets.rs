//! The key appears in nothing that is said or written, whatever a server does with it.

use std::{fs, path::Path, process::Command};

use rageval_runner::judge::spec::JudgeProvider;

use super::{
    GATE, KEY, Test, anthropic, ask, embeddings, hosted, open, openai, run,
    stub::{Reply, Seen, Stub, completion},
};

pub(crate) const TESTS: &[Test] =
    &[("a_key_that_a_server_repeats_is_in_no_reply", replies), ("a_run_writes_and_prints_no_key", written)];

/// The part of the key that JSON writes as it is.
const PLAIN: &str = "sk-planted-7Q2x9";

/// Says the key back in as many ways as a server can.
fn repeating(nth: usize) -> Reply {
    let key = KEY.replace('"', "\\\"");
    match nth % 7 {
        0 => Reply::status(401, format!("{{\"error\": {{\"message\": \"Incorrect API key provided: {key}\"}}}}")),
        1 => Reply::status(400, format!("bad key {KEY}{}", "y".repeat(400))),
        2 => Reply::ok(completion(&format!("{{\"reason\": \"{key}\"}}"))),
        3 => Reply::ok(format!("<html>{KEY}</html>")),
        4 => Reply::status(503, format!("{}{KEY}", "x".repeat(195))),
        5 => Reply::Whole(302, "location: http://h/?key=sk-planted-7Q2x9\"w\r\n", String::new()),
        _ => Reply::Cut(format!("{{\"k\": \"{key}\"}}{}", " ".repeat(100))),
    }
}

#[track_caller]
fn clean(text: &str) {
    assert!(!text.contains(PLAIN), "the key is in: {text}");
}

fn replies() {
    for first in 0..7 {
        let stub = Stub::start(move |_, _| repeating(first));
        let azure = JudgeProvider::Azure {
            hosted: Box::new(hosted(&stub.url())),
            deployment: "d".to_owned(),
            api_version: "1".to_owned(),
        };
        let judges = [openai(&stub), anthropic(&stub), open(azure)];
        let came = run(futures_util::future::join_all(judges.iter().map(|judge| ask(&**judge))));
        for (judge, came) in judges.iter().zip(came) {
            assert!(came.is_err(), "{first}: {came:?}");
            clean(&format!("{came:?} {:?} {:?}", judge.notices(), judge.stamp()));
        }
        let embedder = embeddings::open(embeddings::hosted(&stub.url()));
        let came = embeddings::ask(&*embedder, 2);
        assert!(came.is_err(), "{first}: {came:?}");
        clean(&format!("{came:?} {:?} {:?}", embedder.notices(), embedder.stamp()));
        assert!(stub.seen().iter().all(was_given), "the key was sent");
    }
}

/// Whether the key came with a request; else the test would show nothing.
fn was_given(seen: &Seen) -> bool {
    ["authorization", "api-key", "x-api-key"].iter().any(|name| seen.header(name).is_some_and(|v| v.contains(KEY)))
}

fn written() {
    // One request gets a good reply, which is stored; its headers say the key too.
    let stub =
        Stub::start(|seen, nth| match seen.body.contains("faithfulness-verdicts") && seen.body.contains("Q6?") {
            true => {
                let verdicts =
                    r#"{"sentences": [{"n": 1, "claims": [{"claim": "c", "verdict": "supported", "context": 1}]}]}"#;
                Reply::Whole(200, "x-echo: sk-planted-7Q2x9\"w\r\n", completion(verdicts).to_string())
            }
            false => repeating(nth),
        });
    let vectors = Stub::start(|_, nth| repeating(nth));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    };
    write("Cargo.toml", "[workspace]\n");
    let policy = format!(
        "version: 1\nsystem: {{kind: recorded, generator: g}}\n\
         judge: {{provider: openai, base_url: \"{}\", model: m, api_key_env: JUDGE_KEY, timeout: 3s}}\n\
         embedder: {{provider: openai, base_url: \"{}\", model: m, api_key_env: JUDGE_KEY, timeout: 3s}}\n\
         budget: {{requests: 1000}}\n\
         waive: {{calibration: {{reason: a fixture, until: 2999-12-31}}}}\nmetrics:\n  faithfulness: {{mean: {{min: 0.5}}}}\n  answer_correctness: {{similarity_weight: 0.25}}\n",
        stub.url(),
        vectors.url()
    );
    write("thresholds.yaml", &policy);
    let case = |n: usize| {
        format!(
            "- id: c{n}\n  query: Q{n}?\n  reference: It takes {n} weeks.\n  response: It takes {n} days.\n  retrieved_contexts: [It takes {n} days.]\n"
        )
    };
    write("cases/all.yaml", &(0..7).map(case).collect::<String>());
    let ran = Command::new(std::env::current_exe().expect("this binary"))
        .current_dir(folder.path())
        .env_remove("NEXTEST_RUN_ID")
        .env(GATE, "1")
        .env("CARGO_MANIFEST_DIR", folder.path())
        .env("RAGEVAL_RUNS", folder.path().join("runs"))
        .env("JUDGE_KEY", KEY)
        .output()
        .expect("a run");
    assert!(!stub.seen().is_empty() && !vectors.seen().is_empty(), "nothing was asked: {ran:?}");
    for stream in [&ran.stdout, &ran.stderr] {
        clean(&String::from_utf8_lossy(stream));
    }
    assert!(String::from_utf8_lossy(&ran.stderr).contains("judge") || !ran.stdout.is_empty());
    let (mut files, mut replies) = (0, 0);
    walk(folder.path(), &mut |path| {
        files += 1;
        if path.starts_with(folder.path().join(".rageval/replies")) && path.extension().is_some_and(|end| end == "json")
        {
            replies += 1;
        }
        clean(&String::from_utf8_lossy(&fs::read(path).expect("readable")));
    });
    assert!(files > 3, "a run writes its records");
    assert!(replies > 0, "a run stores its replies: {ran:?}");
}

pub(crate) fn walk(folder: &Path, look: &mut dyn FnMut(&Path)) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            walk(&path, look);
        } else {
            look(&path);
        }
    }
}
