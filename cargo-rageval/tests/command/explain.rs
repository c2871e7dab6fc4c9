//! `cargo rageval explain`: stored replies, and what can go wrong.

use std::{fs, path::Path};

use rageval_runner::{
    judge::{self, key::ReplyKeys},
    load,
    metric::METRICS,
    model::{
        Answer, CaseId, Ending, Exchange, JudgeRequest, Language, MetricKey, Outcome, Record, Reply, ReplySource,
        Request, RetrievedContext, Sample, Taken, Transcript, UnitInterval,
        run::{Manifest, Run},
    },
    store::replies::{ReplyStore, StoredReply},
};
use serde_json::json;

use super::{folder, passes, refuses, write};

const POLICY: &str = "version: 1\njudge: {provider: openai, base_url: \"http://127.0.0.1:1/v1\", model: m-2026-01-01, api_key_env: NO_SUCH_KEY}\nbudget: {requests: 100}\nmetrics:\n  refusal_correctness: {by: judge, min: 1}\n  answer_relevancy: {}\n";
const CASES: &str = "- {id: refund, query: \"How long?\"}\n- {id: other, query: \"How much?\"}\n";

fn request(answer: &str) -> JudgeRequest {
    JudgeRequest::new("refusal_correctness.verdict", Language::En).text("query", "How long?").text("answer", answer)
}

/// What the run of a gate over this answer holds.
fn record(folder: &Path, answer: &str, reply: Reply, source: Option<ReplySource>) -> Record {
    let policy = load::policy(&folder.join("thresholds.yaml"), METRICS).expect("a policy");
    let set = load::cases(&policy, METRICS).expect("cases");
    let case = set.get(&CaseId::new("refund").expect("an id")).expect("the case");
    let key = |name| MetricKey::parse(name).expect("a key");
    let (zero, fault) =
        (Outcome::scored(UnitInterval::ZERO), Outcome::unmeasured("judge reply not stored", "none stored"));
    let contexts = [RetrievedContext::new("doc\u{202e}", "\u{1b}[31mred\u{1b}[0m\n::set-output name=x::y")];
    let exchange = Exchange { request: Request::Judge(request(answer)), reply, of: Default::default(), source };
    Record::new(
        case.id.clone(),
        case.digest(),
        Taken::Sample(Sample {
            answer: Answer::new(answer).with_contexts(contexts),
            is_refusal: false,
            latency_ms: None,
        }),
        [(key("refusal_correctness"), zero), (key("answer_relevancy"), fault)].into(),
        Transcript { exchanges: vec![exchange] },
    )
}

fn write_run(folder: &Path, id: &str, records: Vec<Record>) {
    let policy = load::policy(&folder.join("thresholds.yaml"), METRICS).expect("a policy");
    let judge = judge::open(&policy.judge, &|_| None).expect("a judge").stamp();
    let manifest = Manifest {
        run_id: id.into(),
        judge,
        policy_digest: policy.digest.clone(),
        reply_mode: Some("cached".into()),
        ..Manifest::default()
    };
    let run = Run { format: "rageval-run".into(), version: 4, manifest, records, ..Run::default() };
    let target = folder.join("target/rageval/runs/demo.rag");
    fs::create_dir_all(target.join(id)).expect("made");
    write(&target.join(id), "run.json", &serde_json::to_string(&run).expect("JSON"));
    write(target.parent().expect("runs"), "latest", &format!("demo.rag/{id}"));
}

fn refused() -> Reply {
    Reply::Value { value: json!({"refused": true}) }
}

fn keep(folder: &Path, answer: &str) {
    let policy = load::policy(&folder.join("thresholds.yaml"), METRICS).expect("a policy");
    let keys = ReplyKeys::of(&policy.judge).expect("a hosted judge");
    let key = keys.key(&request(answer)).expect("a prompt");
    let entry = StoredReply {
        case: "refund".into(),
        stored: "2026-01-02".into(),
        ..StoredReply::new(&key, json!({"refused": true}))
    };
    ReplyStore::new(folder, None).put(&entry).expect("stored");
}

fn project() -> tempfile::TempDir {
    let folder = folder();
    write(folder.path(), "Cargo.toml", "[workspace]\n");
    write(folder.path(), "thresholds.yaml", POLICY);
    fs::create_dir(folder.path().join("cases")).expect("made");
    write(&folder.path().join("cases"), "all.yaml", CASES);
    folder
}

#[track_caller]
fn says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "not in it: {part}\n{text}");
    }
}

#[test]
fn a_hit_is_told_with_its_key_and_its_prompt_as_sent() {
    let project = project();
    let folder = project.path();
    keep(folder, "12 days.");
    write_run(folder, "one", vec![record(folder, "12 days.", refused(), Some(ReplySource::Stored))]);
    let text = passes(folder, &["explain", "refund", "refusal_correctness"]);
    says(
        &text,
        &[
            "came from   hit: it was stored, by an earlier run or for another case of this one (mode `cached`)",
            "stored now: the next run asks nothing",
            "  of        m-2026-01-01 at http://127.0.0.1:1/v1",
            "  stored    2026-01-02, asked first for refund",
            "system    |",
            "=== BEGIN answer ",
            "\"refused\": true",
            "it makes the case red: refusal_correctness 0.00, min 1.00",
        ],
    );
    let user: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("user")).collect();
    let fences = user.iter().filter(|line| line.contains("=== BEGIN") || line.contains("=== END")).count();
    assert_eq!(fences, 4, "both fields with their nonces\n{text}");
}

#[test]
fn a_miss_names_the_part_that_differs_from_a_stored_request() {
    let project = project();
    let folder = project.path();
    keep(folder, "12 days.");
    write_run(folder, "before", vec![record(folder, "12 days.", refused(), Some(ReplySource::Asked))]);
    write_run(folder, "now", vec![record(folder, "15 days.", refused(), Some(ReplySource::Asked))]);
    let text = passes(folder, &["explain", "refund", "refusal_correctness"]);
    says(
        &text,
        &[
            "miss: asked for, since nothing was stored under its key (mode `cached`)",
            "not stored now: the next run asks for it",
            "demo.rag/before; its reply is stored",
            "differs   answer: \"12 days.\", now \"15 days.\"",
        ],
    );
    // In `replay` a miss is unmeasured.
    let missing = Reply::Failed { ending: Ending::Missing, why: "no reply is stored".to_owned() };
    write_run(folder, "replayed", vec![record(folder, "16 days.", missing, None)]);
    let text = passes(folder, &["explain", "refund", "refusal_correctness"]);
    says(
        &text,
        &[
            "miss: nothing was stored under its key, and nothing may be asked",
            "answer: \"12 days.\", now \"16 days.\"",
            "no reply    judge reply not stored",
        ],
    );
    // Under another judge no key of the run can be told.
    write(folder, "thresholds.yaml", &POLICY.replace("m-2026-01-01", "m-2026-02-02"));
    let text = passes(folder, &["explain", "refund", "refusal_correctness"]);
    says(
        &text,
        &[
            "its key cannot be told",
            "thresholds.yaml is not the one of the run",
            "prompt      thresholds.yaml names another judge, other prompts",
        ],
    );
    assert!(!text.contains("=== BEGIN"), "no prompt of today beside a reply of then: {text}");
}

#[test]
fn what_is_unmeasured_says_what_to_do() {
    let project = project();
    let folder = project.path();
    write_run(folder, "one", vec![record(folder, "12 days.", refused(), None)]);
    let text = passes(folder, &["explain", "refund"]);
    says(
        &text,
        &[
            "answer_relevancy        unmeasured  RED",
            "unmeasured, which is red: judge reply not stored: none stored",
            "what to do: run once with RAGEVAL_JUDGE_MODE=cached",
        ],
    );
    let failed = Record {
        taken: Taken::Failed(rageval_runner::model::Unmeasured::new("system time-out", "no answer within 2 s")),
        ..record(folder, "x", refused(), None)
    };
    write_run(folder, "two", vec![failed]);
    says(
        &passes(folder, &["explain", "refund"]),
        &["nothing: system time-out: no answer within 2 s", "raise `system.timeout`"],
    );
}

#[test]
fn hostile_text_is_shown_and_never_sent_to_the_terminal() {
    let project = project();
    let folder = project.path();
    let nasty = "a\u{1b}]0;title\u{7}b \u{202e}c\n::add-mask::x\n##[error]y";
    write_run(folder, "one", vec![record(folder, nasty, refused(), None)]);
    for arguments in [
        &["explain", "refund"][..],
        &["explain", "refund", "refusal_correctness"],
        &["explain", "refund", "refusal_correctness", "--full"],
    ] {
        let text = passes(folder, arguments);
        assert!(!text.chars().any(|c| c != '\n' && c.is_control()), "{text:?}");
        assert!(!text.contains('\u{202e}'), "{text}");
        assert!(text.contains("<U+202E>"), "{text}");
        assert!(!text.lines().any(|line| line.trim_start().starts_with("::") || line.contains("##[")), "{text}");
    }
}

#[test]
fn long_texts_are_cut_unless_all_is_wanted() {
    let project = project();
    let folder = project.path();
    write_run(folder, "one", vec![record(folder, &"The fee is twelve euros. ".repeat(400), refused(), None)]);
    let text = passes(folder, &["explain", "refund"]);
    says(&text, &["(600 of 10000 characters; all with --full)"]);
    assert!(text.matches("twelve").count() < 30, "{text}");
    assert_eq!(passes(folder, &["explain", "refund", "--full"]).matches("twelve").count(), 400);
}

#[test]
fn unknown_names_are_refused_with_the_nearest() {
    let project = project();
    let folder = project.path();
    assert!(refuses(folder, &["explain", "refund"]).contains("no run there"));
    write_run(folder, "one", vec![record(folder, "12 days.", refused(), None)]);
    let told = refuses(folder, &["explain", "refnd"]);
    assert!(told.contains("it holds no case `refnd`; did you mean \"refund\"?"), "{told}");
    let told = refuses(folder, &["explain", "nope"]);
    assert!(told.contains("it holds no case `nope`; it has refund"), "{told}");
    let told = refuses(folder, &["explain", "refund", "refusal_corectness"]);
    assert!(
        told.contains("did you mean \"refusal_correctness\"?") && told.contains("it has answer_relevancy"),
        "{told}"
    );
    let told = refuses(folder, &["explain", "\u{1b}[2Jzzz"]);
    assert!(told.contains("`zzz`") && !told.contains('\u{1b}'), "{told}");
}
