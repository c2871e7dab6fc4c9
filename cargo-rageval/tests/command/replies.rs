//! `cargo rageval replies`.

use std::{fs, path::Path};

use rageval_runner::{
    embed::{
        self,
        stored::{REQUEST, VectorKeys, to_value},
    },
    evaluate::stamp,
    judge::{self, key::ReplyKeys},
    load,
    metric::METRICS,
    model::{
        Answer, AskedOf, CaseId, EmbedRequest, Ending, Exchange, JudgeRequest, Language, MetricKey, Outcome, Record,
        Reply, Request, Sample, Taken, Transcript, UnitInterval,
        run::{JudgeStamp, Manifest, Run},
    },
    store::replies::{ReplyStore, StoredReply},
};
use serde_json::json;

use super::{ends, folder, json, passes, refuses, write};

const POLICY: &str = "version: 1\njudge: {provider: openai, base_url: \"http://127.0.0.1:1/v1\", model: m-2026-01-01, api_key_env: NO_SUCH_KEY}\nbudget: {requests: 100}\nmetrics: {refusal_correctness: }\n";

/// What one case asks.
fn request(case: &str) -> JudgeRequest {
    JudgeRequest::new("refusal_correctness.verdict", Language::En)
        .text("query", format!("What of {case}?"))
        .text("answer", "I can't\u{1b}[2J say.")
}

fn value(text: &str) -> Reply {
    Reply::Value { value: json!({"reason": text, "refused": true}) }
}

fn record(case: &str, exchanges: Vec<(JudgeRequest, Reply)>, outcome: Outcome) -> Record {
    let exchange =
        |(request, reply)| Exchange { request: Request::Judge(request), reply, of: AskedOf::Policy, source: None };
    Record::new(
        CaseId::new(case).expect("a valid id"),
        "one".into(),
        Taken::Sample(Sample { answer: Answer::new("I can't say."), is_refusal: true, latency_ms: None }),
        [(MetricKey::parse("refusal_correctness").expect("a key"), outcome)].into(),
        Transcript { exchanges: exchanges.into_iter().map(exchange).collect() },
    )
}

fn scored(case: &str) -> Record {
    let outcome = Outcome::scored(UnitInterval::new(1.0).expect("in range"));
    record(case, vec![(request(case), value("it declines"))], outcome)
}

/// Writes a run of the policy's judge.
fn write_run(folder: &Path, name: &str, records: Vec<Record>, change: impl FnOnce(&mut Manifest)) {
    let policy = load::policy(&folder.join("thresholds.yaml"), METRICS).expect("a policy");
    let judge = judge::open(&policy.judge, &|_| None).expect("a judge").stamp();
    let mut manifest = Manifest { run_id: name.into(), judge, ..Manifest::default() };
    change(&mut manifest);
    let run =
        Run { format: "rageval-run".into(), version: 1, manifest, records, decisions: Vec::new(), ..Run::default() };
    write(folder, name, &serde_json::to_string(&run).expect("JSON"));
}

fn store(folder: &Path) -> ReplyStore {
    ReplyStore::new(folder, None)
}

/// Stores a reply for a case, as the judge of the policy or as another model.
fn keep(folder: &Path, case: &str, model: &str, stored: &str) {
    fs::write(folder.join("other.yaml"), POLICY.replace("m-2026-01-01", model)).expect("written");
    let policy = load::policy(&folder.join("other.yaml"), METRICS).expect("a policy");
    let keys = ReplyKeys::of(&policy.judge).expect("a hosted judge");
    let key = keys.key(&request(case)).expect("a prompt");
    let entry = StoredReply {
        judge: keys.judge().into(),
        model: keys.model().into(),
        request: "refusal_correctness.verdict".into(),
        case: case.into(),
        stored: stored.into(),
        ..StoredReply::new(&key, json!({"reason": format!("of {case}"), "refused": true}))
    };
    store(folder).put(&entry).expect("stored");
}

/// A project with replies for `a` and `b`, and two that no run uses.
fn project() -> tempfile::TempDir {
    let folder = folder();
    write(folder.path(), "Cargo.toml", "[workspace]\n");
    write(folder.path(), "thresholds.yaml", POLICY);
    keep(folder.path(), "a", "m-2026-01-01", "2026-01-02");
    keep(folder.path(), "b", "m-2026-01-01", "2026-01-02");
    keep(folder.path(), "old", "m-2026-01-01", "2020-01-02");
    keep(folder.path(), "a", "m-2025-01-01", "someday");
    write_run(folder.path(), "run.json", vec![scored("a"), scored("b")], |_| {});
    folder
}

fn left(folder: &Path) -> usize {
    store(folder).keys().expect("readable").len()
}

#[test]
fn a_case_is_shown_with_what_was_asked_and_what_is_stored() {
    let project = project();
    let folder = project.path();
    let text = passes(folder, &["replies", "show", "a", "--run", "run.json"]);
    let file = text.lines().find_map(|line| line.strip_prefix("file        ")).expect("the file").to_owned();
    assert!(folder.join(&file).is_file(), "{file}");
    let expected = format!(
        "request     refusal_correctness.verdict, in en\n\
         query       What of a?\n\
         answer      I can't say.\n\
         file        {file}\n\
         stored      2026-01-02, asked first for a\n\
         reply       {{\n            \x20 \"reason\": \"of a\",\n            \x20 \"refused\": true\n            }}\n"
    );
    assert_eq!(text, expected);
    let told = json(&passes(folder, &["replies", "show", "a", "--run", "run.json", "--format", "json"]));
    let reply = &told[0]["replies"][0];
    assert_eq!((reply["file"].as_str(), reply["stored"].as_str()), (Some(&*file), Some("2026-01-02")), "{told}");
    assert_eq!(reply["value"], serde_json::json!({"reason": "of a", "refused": true}));
    assert_eq!(told[0]["request"]["name"], "refusal_correctness.verdict");
}

#[test]
fn a_reply_that_is_not_there_or_damaged_is_said() {
    let project = project();
    let folder = project.path();
    let unreadable = Reply::Failed { ending: Ending::Unreadable, why: "no object".to_owned() };
    let again = JudgeRequest { retry: 1, sample: 2, ..request("c") };
    let outcome = Outcome::scored(UnitInterval::new(1.0).expect("in range"));
    let quiet = record("quiet", Vec::new(), outcome.clone());
    let asked = record("c", vec![(request("c"), unreadable), (again, value("x"))], outcome);
    write_run(folder, "run.json", vec![scored("a"), asked, quiet], |_| {});
    let text = passes(folder, &["replies", "show", "c", "--run", "run.json"]);
    assert_eq!(text.matches("stored      no\n").count(), 2, "{text}");
    assert!(text.contains("in the run  judge reply unreadable: no object\n"), "{text}");
    assert!(text.contains("request     refusal_correctness.verdict, in en, reading 3, asked again\n"), "{text}");
    let text = passes(folder, &["replies", "show", "quiet", "--run", "run.json"]);
    assert_eq!(text, "nothing was asked of the judge for `quiet`\n");

    let text = passes(folder, &["replies", "show", "a", "--run", "run.json"]);
    let file = text.lines().find_map(|line| line.strip_prefix("file        ")).expect("the file").to_owned();
    fs::write(folder.join(&file), "").expect("emptied");
    let text = passes(folder, &["replies", "show", "a", "--run", "run.json"]);
    assert!(
        text.contains(&format!("stored      yes, and cannot be used: {file}: not a readable reply: it is empty")),
        "{text}"
    );
    assert_eq!(
        refuses(folder, &["replies", "show", "d", "--run", "run.json"]),
        "error: run.json: it holds no case `d`\n"
    );
    write_run(folder, "filtered.json", vec![scored("a")], |manifest| {
        manifest.missing.insert(CaseId::new("d").expect("a valid id"));
    });
    assert_eq!(
        refuses(folder, &["replies", "show", "d", "--run", "filtered.json"]),
        "error: filtered.json: it holds no case `d`, and the run is partial (1 case has no record); \
         name another with --run RUN, or run the whole set again\n"
    );
}

#[test]
fn what_the_run_does_not_use_is_removed_and_told() {
    let project = project();
    let folder = project.path();
    let prune = ["replies", "prune", "--run", "run.json"];
    let told = |verb: &str| {
        format!(
            ".rageval/replies: 2 replies {verb}, 2 replies stay\n  \
             {verb}: 1 reply of m-2025-01-01 at http://127.0.0.1:1/v1\n  \
             {verb}: 1 reply of m-2026-01-01 at http://127.0.0.1:1/v1\n"
        )
    };
    assert_eq!(passes(folder, &[&prune[..], &["--dry-run"]].concat()), told("would be removed"));
    assert_eq!(left(folder), 4);
    assert_eq!(passes(folder, &prune), told("removed"));
    assert_eq!(left(folder), 2);
    assert_eq!(passes(folder, &prune), ".rageval/replies: 0 replies removed, 2 replies stay\n");
    // What stays is what the run asked.
    assert!(passes(folder, &["replies", "show", "b", "--run", "run.json"]).contains("stored      2026-01-02"));
}

#[test]
fn an_age_spares_what_is_younger_and_what_has_no_date() {
    let project = project();
    let folder = project.path();
    let today = StoredReply::new(&store(folder).keys().expect("readable")[0], json!(1)).stored;
    keep(folder, "new", "m-2026-01-01", &today);
    let text = passes(folder, &["replies", "prune", "--run", "run.json", "--older-than", "30"]);
    let expected = ".rageval/replies: 1 reply removed, 4 replies stay\n  \
                    removed: 1 reply of m-2026-01-01 at http://127.0.0.1:1/v1\n  \
                    unused, and not old enough: 1 reply\n  \
                    unused, of a day that cannot be read: 1 reply\n";
    assert_eq!(text, expected);
    assert_eq!(left(folder), 4);
}

#[test]
fn replies_that_any_named_run_uses_stay() {
    let project = project();
    let folder = project.path();
    write_run(folder, "other.json", vec![scored("old")], |_| {});
    let text = passes(folder, &["replies", "prune", "--run", "run.json", "--run", "other.json"]);
    assert!(text.starts_with(".rageval/replies: 1 reply removed, 3 replies stay\n"), "{text}");
}

#[test]
fn damaged_files_and_unfinished_ones_go_and_files_of_others_stay() {
    let project = project();
    let folder = project.path();
    let replies = folder.join(".rageval/replies");
    let unused = store(folder).path(
        store(folder)
            .keys()
            .expect("readable")
            .iter()
            .find(|key| store(folder).get(key).expect("readable").expect("there").case == "old")
            .expect("there"),
    );
    fs::write(unused, "half").expect("damaged");
    fs::write(replies.join("notes.txt"), "mine").expect("written");
    fs::create_dir_all(replies.join(".tmp")).expect("made");
    let left_over = fs::File::create(replies.join(".tmp/left")).expect("made");
    let two_hours_ago = std::time::SystemTime::now().checked_sub(std::time::Duration::from_secs(7200)).expect("a time");
    left_over.set_modified(two_hours_ago).expect("aged");
    let text = passes(folder, &["replies", "prune", "--run", "run.json"]);
    assert!(text.contains("  removed: 1 reply of a file that cannot be read\n"), "{text}");
    assert!(text.contains("  removed: 1 unfinished file that killed processes left\n"), "{text}");
    assert!(replies.join("notes.txt").is_file() && !replies.join(".tmp/left").exists());
    assert_eq!(left(folder), 2);
}

#[test]
fn runs_that_do_not_tell_what_is_used_are_refused() {
    let project = project();
    let folder = project.path();
    let prune = |name: &str| refuses(folder, &["replies", "prune", "--run", name]);
    let missing = |manifest: &mut Manifest| {
        manifest.missing.insert(CaseId::new("b").expect("a valid id"));
    };
    write_run(folder, "missing.json", vec![scored("a")], missing);
    assert_eq!(
        prune("missing.json"),
        "error: missing.json: the run is partial: 1 case has no record; run the whole set again\n"
    );
    write_run(folder, "shard.json", vec![scored("a")], |manifest| manifest.partial = Some("shard 1/2".to_owned()));
    assert_eq!(prune("shard.json"), "error: shard.json: the run is partial: shard 1/2; run the whole set again\n");
    let hole = record("b", Vec::new(), Outcome::unmeasured("judge time-out", "no reply in 60 s"));
    write_run(folder, "hole.json", vec![scored("a"), hole], |_| {});
    assert_eq!(
        prune("hole.json"),
        "error: hole.json: 1 case is unmeasured, so what they will ask is not known; run the whole set again\n"
    );
    write_run(folder, "judge.json", vec![scored("a")], |manifest| manifest.judge.fingerprint = "other".to_owned());
    assert!(prune("judge.json").contains("run the gate again"));
    write_run(folder, "none.json", vec![scored("unknown")], |_| {});
    assert!(prune("none.json").starts_with("error: .rageval/replies: no reply there is used by the run"));
    assert!(prune("absent.json").starts_with("error: absent.json: no run there; run the gate first"));
    assert_eq!(left(folder), 4);
}

#[test]
fn a_run_of_another_judge_is_refused_with_what_differs() {
    let project = project();
    let folder = project.path();
    let show = |change: &dyn Fn(&mut Manifest)| {
        write_run(folder, "other.json", vec![scored("a")], change);
        refuses(folder, &["replies", "show", "a", "--run", "other.json"])
    };
    assert_eq!(
        show(&|manifest| manifest.judge =
            JudgeStamp { model: "m-2025".into(), fingerprint: "x".into(), ..manifest.judge.clone() }),
        "error: other.json: it was judged by `m-2025` of `openai`, and thresholds.yaml names `m-2026-01-01` of `openai`; run the gate again\n"
    );
    assert_eq!(
        show(&|manifest| manifest.judge.fingerprint = "x".into()),
        "error: other.json: it was judged by `m-2026-01-01`, as thresholds.yaml names it, with other prompts, parameters or embedder, \
         or with other metrics left to `offline`; run the gate again\n"
    );
    let embedder = "embedder: {provider: openai, base_url: \"http://127.0.0.1:1/v1\", model: e5}\n";
    let offline = POLICY.replace("{refusal_correctness: }", "{refusal_correctness: , faithfulness: {judge: offline}}");
    for (policy, what) in [
        (format!("{POLICY}{embedder}"), "an embedder"),
        (offline.clone(), "metrics left to `offline`"),
        (format!("{offline}{embedder}"), "an embedder and metrics left to `offline`"),
    ] {
        write(folder, "thresholds.yaml", &policy);
        assert_eq!(
            refuses(folder, &["replies", "show", "a", "--run", "run.json"]),
            format!(
                "error: run.json: it was judged by `m-2026-01-01` without {what}, and thresholds.yaml now has that; run the gate again\n"
            )
        );
    }
}

#[test]
fn the_latest_run_is_taken_where_there_is_one_target_only() {
    let project = project();
    let folder = project.path();
    for target in ["p.one", "p.two"] {
        fs::create_dir_all(folder.join("target/rageval/runs").join(target).join("r")).expect("made");
        write(folder, &format!("target/rageval/runs/{target}/latest"), "r");
        fs::copy(folder.join("run.json"), folder.join(format!("target/rageval/runs/{target}/r/run.json")))
            .expect("copied");
        write(folder, "target/rageval/runs/latest", &format!("{target}/r"));
        if target == "p.one" {
            assert!(passes(folder, &["replies", "show", "a"]).contains("stored      2026-01-02"));
            assert!(passes(folder, &["replies", "prune", "--dry-run"]).contains("2 replies would be removed"));
        }
    }
    let text = refuses(folder, &["replies", "prune"]);
    assert!(text.contains("several test targets") && text.contains("target/rageval/runs/p.one/latest\n"), "{text}");
}

#[test]
fn a_judge_that_is_code_has_no_replies() {
    let folder = folder();
    write(folder.path(), "Cargo.toml", "[workspace]\n");
    assert!(refuses(folder.path(), &["replies", "prune"]).contains("no thresholds.yaml here or in a folder above"));
    write(folder.path(), "thresholds.yaml", "version: 1\nmetrics: {recall@5: }\n");
    let text = ends(folder.path(), &["replies", "show", "a"], 2);
    assert!(text.contains("the judge of thresholds.yaml is `offline`, which is code"), "{text}");
}

const EMBEDDER: &str = "version: 1\njudge: {provider: offline}\nembedder: {provider: openai, base_url: \"http://127.0.0.1:1/v1\", model: e5}\nbudget: {requests: 100}\nmetrics: {answer_correctness: {similarity_weight: 0.25}}\n";

/// A project of an embedder, with vectors for `one` and `two`, which case `a` compares, and for a text that no run uses.
fn embedding_project() -> tempfile::TempDir {
    let folder = folder();
    write(folder.path(), "Cargo.toml", "[workspace]\n");
    write(folder.path(), "thresholds.yaml", EMBEDDER);
    let policy = load::policy(&folder.path().join("thresholds.yaml"), METRICS).expect("a policy");
    let embedder = policy.embedder.expect("an embedder");
    let keys = VectorKeys::of(&embedder).expect("a hosted embedder");
    for text in ["one", "two", "old"] {
        let entry = StoredReply {
            judge: keys.embedder().into(),
            model: keys.model().into(),
            request: REQUEST.into(),
            case: "a".into(),
            stored: "2026-01-02".into(),
            ..StoredReply::new(&keys.key(text), to_value(&[1.0, 0.5, 0.25]))
        };
        store(folder.path()).put(&entry).expect("stored");
    }
    let exchange = Exchange {
        request: Request::Embed(EmbedRequest::new("one", ["two", "three"])),
        reply: Reply::Value { value: json!([1.0, 1.0]) },
        of: AskedOf::Policy,
        source: None,
    };
    let mut asked = scored("a");
    asked.transcript.exchanges.push(exchange);
    let policy = load::policy(&folder.path().join("thresholds.yaml"), METRICS).expect("a policy");
    let judge = judge::open(&policy.judge, &|_| None).expect("a judge");
    let embedder = embed::open(&embedder, &|_| None).expect("an embedder");
    let stamp = stamp::of_scores(&policy, &*judge, Some(&*embedder));
    write_run(folder.path(), "run.json", vec![asked], |manifest| manifest.judge = stamp);
    folder
}

#[test]
fn vectors_that_the_run_uses_stay() {
    let project = embedding_project();
    let text = passes(project.path(), &["replies", "prune", "--run", "run.json"]);
    let expected =
        ".rageval/replies: 1 reply removed, 2 replies stay\n  removed: 1 vector of e5 at http://127.0.0.1:1/v1\n";
    assert_eq!(text, expected);
    assert_eq!(left(project.path()), 2);
}

#[test]
fn the_vectors_of_a_case_are_shown_by_text_and_without_their_numbers() {
    let project = embedding_project();
    let text = passes(project.path(), &["replies", "show", "a", "--run", "run.json"]);
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("file ")).collect();
    let expected = [
        "request     embed.similarities",
        "text        one",
        "stored      2026-01-02, asked first for a",
        "vector      3 numbers",
        "text        two",
        "stored      2026-01-02, asked first for a",
        "vector      3 numbers",
        "text        three",
        "stored      no",
    ];
    assert_eq!(lines, expected);
}
