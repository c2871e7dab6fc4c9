//! `cargo rageval calibrate --judge A --judge B`.

use serde_json::Value;

use super::{Says, ends, project, refuses, replies, right, run, stored, write};

fn always_yes(_: usize) -> &'static str {
    "supported"
}

/// Three judges in files beside the policy: two that agree with people, and one that does not.
fn judges() -> tempfile::TempDir {
    let folder = project(60, right);
    let says: [(&str, Says); 2] = [("good", right), ("bad", always_yes)];
    for (name, says) in says {
        write(folder.path(), &format!("{name}.jsonl"), &replies(60, says));
        let judge = format!("judge: {{provider: scripted, replies: {name}.jsonl}}\n");
        write(folder.path(), &format!("{name}.yaml"), &judge);
    }
    folder
}

#[test]
fn those_that_pass_come_first_and_disagreements_are_listed() {
    let folder = judges();
    let text = ends(folder.path(), &["calibrate", "--judge", "bad.yaml", "--judge", "good.yaml"], 0);
    let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} in {text}"));
    assert!(place("1.  good.yaml") < place("-   bad.yaml"), "{text}");
    assert!(text.contains("not believed: the judge says the same of every item"), "{text}");
    assert!(text.contains("judges disagree on 30 of 60 items"), "{text}");
    assert!(text.contains("i1: people 0.00, good.yaml 0.00, bad.yaml 1.00"), "{text}");
    assert!(text.contains("judge minus people: +0.") && text.contains("nothing was written"), "{text}");
    assert!(stored(folder.path()).is_none());
}

#[test]
fn where_none_passes_it_fails_and_offline_is_one_to_compare() {
    let folder = judges();
    let text = ends(folder.path(), &["calibrate", "--judge", "offline", "--judge", "bad.yaml"], 1);
    assert!(text.contains("offline  (offline ") && text.contains("about 0.00 USD"), "{text}");
}

#[test]
fn a_judge_without_replies_is_undecided() {
    let folder = judges();
    write(folder.path(), "good.jsonl", &replies(1, right));
    let text = ends(folder.path(), &["calibrate", "--judge", "good.yaml"], 3);
    assert!(text.contains("unmeasured: i59: "), "{text}");
}

#[test]
fn as_json_each_judge_has_its_report() {
    let folder = judges();
    let arguments = ["calibrate", "--judge", "bad.yaml", "--judge", "good.yaml", "--format", "json"];
    let value: Value = serde_json::from_str(&run(folder.path(), &arguments).out).expect("JSON");
    let judges = value["metrics"][0]["judges"].as_array().expect("judges");
    assert_eq!(judges.iter().map(|judge| &judge["judge"]).collect::<Vec<_>>(), ["good.yaml", "bad.yaml"]);
    assert_eq!(value["metrics"][0]["disagreements"].as_array().map(Vec::len), Some(30));
}

#[test]
fn what_is_no_judge_is_refused_at_its_place() {
    let folder = judges();
    write(folder.path(), "wrong.yaml", "judge: {provider: scripted, replys: a.jsonl}\nmetrics: {}\n");
    let text = refuses(folder.path(), &["calibrate", "--judge", "wrong.yaml"]);
    assert!(text.contains("wrong.yaml:1") && text.contains("replys") && text.contains("unknown key"), "{text}");
    write(folder.path(), "empty.yaml", "");
    assert!(refuses(folder.path(), &["calibrate", "--judge", "empty.yaml"]).contains("holds a `judge`"));
    assert!(refuses(folder.path(), &["calibrate", "--judge", "none.yaml"]).contains("none.yaml"));
    let twice = refuses(folder.path(), &["calibrate", "--judge", "good.yaml", "--judge", "good.yaml"]);
    assert!(twice.contains("given twice"), "{twice}");
    let text = refuses(folder.path(), &["calibrate", "--judge", "good.yaml", "--check"]);
    assert!(text.contains("cannot be used with"), "{text}");
}

#[test]
fn a_judge_that_may_cost_money_needs_a_budget_and_a_price_for_one_in_money() {
    let folder = judges();
    let hosted = "judge: {provider: openai, base_url: \"http://127.0.0.1:1/v1\", model: m-2026-01-01}\n";
    write(folder.path(), "hosted.yaml", hosted);
    let text = refuses(folder.path(), &["calibrate", "--judge", "hosted.yaml"]);
    assert!(text.contains("hosted.yaml:1") && text.contains("no `budget`"), "{text}");
    let policy = std::fs::read_to_string(folder.path().join("thresholds.yaml")).expect("read");
    write(folder.path(), "thresholds.yaml", &format!("{policy}budget: {{usd: 1}}\n"));
    let text = refuses(folder.path(), &["calibrate", "--judge", "hosted.yaml"]);
    assert!(text.contains("no `judge.price` says what a token costs"), "{text}");
}
