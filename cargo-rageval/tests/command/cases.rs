//! `cargo rageval cases`: lock, diff and stats.

use std::{fs, path::Path};

use super::{ends, folder, json, passes, refuses, write};

const RULES: &str = "version: 1\nmetrics:\n  recall@5: {min: 0.2}\nslices: {by: [language], min_cases: 2}\n";
const CASES: &str = "- {id: a, query: What is the fee?, relevant_doc_ids: [d], language: en}\n\
                     - {id: b, query: Who pays it?, relevant_doc_ids: [d], language: en}\n";

fn project(cases: &str) -> tempfile::TempDir {
    let folder = folder();
    write(folder.path(), "thresholds.yaml", RULES);
    fs::create_dir(folder.path().join("cases")).expect("made");
    set(folder.path(), cases);
    folder
}

fn set(folder: &Path, cases: &str) {
    write(&folder.join("cases"), "all.yaml", cases);
}

fn stating(version: &str, cases: &str) -> String {
    format!("golden_set: fees\nversion: \"{version}\"\ncases:\n{cases}")
}

/// Lock and changelog.
fn written(folder: &Path) -> (String, String) {
    let read = |name: &str| fs::read_to_string(folder.join("cases").join(name)).unwrap_or_default();
    (read("golden.lock"), read("CHANGELOG.md"))
}

fn lock<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["cases", "lock"], more].concat()
}

#[test]
fn a_set_is_locked_changed_and_locked_again() {
    let folder = project(CASES);
    let path = folder.path();
    let said = passes(path, &lock(&["--message", "First."]));
    assert_eq!(
        said,
        "cases/golden.lock: 2 cases locked at version 1.0.0, the first\ncases/CHANGELOG.md, under 1.0.0:\n- First.\n"
    );
    assert_eq!(passes(path, &["cases", "diff"]), "no case differs from version 1.0.0 of cases/golden.lock\n");
    set(path, &CASES.replace("the fee", "the price").replace("id: b", "id: c"));
    let listed = "1 changed, 1 new, 1 gone";
    let lines = "  changed  a (query)  cases/all.yaml:1\n  new      c  cases/all.yaml:2\n  gone     b\n";
    let diff = passes(path, &["cases", "diff"]);
    assert_eq!(diff, format!("{listed} since version 1.0.0 of cases/golden.lock:\n{lines}"));
    let told = json(&passes(path, &["cases", "diff", "--format", "json"]));
    let expected = serde_json::json!({
        "since": "version 1.0.0 of cases/golden.lock",
        "changed": [{"case": "a", "keys": ["query"]}],
        "new": ["c"],
        "gone": ["b"],
        "renamed": null,
    });
    assert_eq!(told, expected);
    let said = passes(path, &lock(&["--bump", "minor", "--message", "Prices."]));
    let entry = "- Prices.\n- Changed: `a` (query)\n- New: `c`\n- Gone: `b`\n";
    let head = "cases/golden.lock: 2 cases locked at version 1.1.0, after 1.0.0";
    assert_eq!(said, format!("{head}\n{listed}:\n{lines}cases/CHANGELOG.md, under 1.1.0:\n{entry}"));
    let (lock, log) = written(path);
    assert!(lock.starts_with(
        "{\"format\":\"rageval-golden-lock\",\"version\":1,\"golden_set\":{\"name\":null,\"version\":\"1.1.0\""
    ));
    assert_eq!(log, format!("# Changes to the golden set\n\n## 1.1.0\n\n{entry}\n## 1.0.0\n\n- First.\n"));
}

#[test]
fn every_part_of_a_version_can_be_raised() {
    for (part, version) in [("patch", "1.2.4"), ("minor", "1.3.0"), ("major", "2.0.0")] {
        let folder = project(CASES);
        let path = folder.path();
        passes(path, &lock(&["--set-version", "1.2.3", "--message", "First."]));
        set(path, &CASES.replace("fee", "price"));
        assert!(
            passes(path, &lock(&["--bump", part, "--message", "x"]))
                .contains(&format!("version {version}, after 1.2.3"))
        );
    }
}

#[test]
fn nothing_is_locked_without_a_change_a_message_or_a_new_version() {
    let folder = project(CASES);
    let path = folder.path();
    assert!(refuses(path, &lock(&[])).contains("--message <TEXT>"));
    assert!(refuses(path, &lock(&["--message", " "])).contains("say what changed and why"));
    let no_lock = refuses(path, &lock(&["--bump", "minor", "--message", "x"]));
    assert!(no_lock.contains("there is no cases/golden.lock yet"), "{no_lock}");
    assert_eq!(written(path), (String::new(), String::new()));
    passes(path, &lock(&["--message", "First."]));
    let before = written(path);
    let same = refuses(path, &lock(&["--bump", "minor", "--message", "x"]));
    assert!(same.contains("no case changed since version 1.0.0 of cases/golden.lock"), "{same}");
    set(path, &CASES.replace("fee", "price"));
    assert!(refuses(path, &lock(&["--message", "x"])).contains("--bump patch|minor|major"));
    for version in ["1.0.0", "0.9.0"] {
        let said = refuses(path, &lock(&["--set-version", version, "--message", "x"]));
        assert!(said.contains(&format!("version {version} is not above 1.0.0")), "{said}");
    }
    assert!(refuses(path, &lock(&["--set-version", "a b", "--message", "x"])).contains("one word"));
    assert_eq!(written(path), before);
}

#[test]
fn a_version_in_the_cases_and_the_lock_agree() {
    let folder = project(&stating("2.0.0", CASES));
    let path = folder.path();
    let other = refuses(path, &lock(&["--set-version", "1.0.0", "--message", "x"]));
    assert!(other.contains("the cases state 2.0.0: write 1.0.0 at cases/all.yaml:2"), "{other}");
    assert!(passes(path, &lock(&["--message", "First."])).contains("version 2.0.0, the first"));
    let changed = CASES.replace("fee", "price");
    set(path, &stating("2.0.0", &changed));
    let stale = refuses(path, &lock(&["--message", "x"]));
    assert!(stale.contains("the cases state version 2.0.0, which is locked already"), "{stale}");
    let bump = refuses(path, &lock(&["--bump", "minor", "--message", "x"]));
    assert!(bump.contains("write 2.1.0 at cases/all.yaml:2, then lock again"), "{bump}");
    set(path, &stating("2.1.0", &changed));
    assert!(passes(path, &lock(&["--message", "Prices."])).contains("version 2.1.0, after 2.0.0"));
    set(path, &stating("3.0.0", &changed));
    let unchanged = refuses(path, &lock(&["--message", "x"]));
    assert!(unchanged.contains("the cases state version 3.0.0: write 2.1.0 at cases/all.yaml:2"), "{unchanged}");
}

#[test]
fn versions_of_another_form_are_named_and_not_bumped() {
    let folder = project(CASES);
    let path = folder.path();
    passes(path, &lock(&["--set-version", "2026-05", "--message", "First."]));
    set(path, &CASES.replace("fee", "price"));
    assert!(refuses(path, &lock(&["--bump", "patch", "--message", "x"])).contains("is not MAJOR.MINOR.PATCH"));
    assert!(refuses(path, &lock(&["--set-version", "2026-05", "--message", "x"])).contains("is not above"));
    passes(path, &lock(&["--set-version", "2026-06", "--message", "Prices."]));
}

#[test]
fn a_removed_lock_does_not_bring_the_version_down() {
    let project = project(CASES);
    let path = project.path();
    passes(path, &lock(&["--message", "First."]));
    set(path, &CASES.replace("the fee", "the price"));
    passes(path, &lock(&["--bump", "minor", "--message", "Prices."]));
    fs::remove_file(path.join("cases/golden.lock")).expect("removed");
    let log = fs::read_to_string(path.join("cases/CHANGELOG.md")).expect("the changelog");
    for more in [&[][..], &["--bump", "minor"], &["--set-version", "1.1.0"], &["--set-version", "1.0.5"]] {
        let said = refuses(path, &lock(&[more, &["--message", "a"]].concat()));
        assert!(said.contains("holds versions up to 1.1.0, so the lock was removed: restore it"), "{said}");
        assert!(!path.join("cases/golden.lock").exists());
        assert_eq!(fs::read_to_string(path.join("cases/CHANGELOG.md")).expect("the changelog"), log);
    }
    let said = passes(path, &lock(&["--set-version", "1.2.0", "--message", "a"]));
    assert!(said.contains("locked at version 1.2.0, after 1.1.0 of cases/CHANGELOG.md, whose lock is gone"), "{said}");
}

#[test]
fn a_damaged_or_newer_lock_is_never_overwritten() {
    let folder = project(CASES);
    let path = folder.path();
    for (text, why) in [
        ("{\"format\":\"rageval-golden-lock\",\"version\":2}", "update rageval"),
        ("<<<<<<< ours", "restore it from version control"),
    ] {
        write(&path.join("cases"), "golden.lock", text);
        for command in [lock(&["--bump", "minor", "--message", "x"]), vec!["cases", "diff"]] {
            assert!(refuses(path, &command).contains(why));
        }
        assert_eq!(written(path), (text.to_owned(), String::new()));
    }
}

#[test]
fn a_set_is_compared_with_another_lock_or_folder() {
    let folder = project(CASES);
    let path = folder.path();
    assert!(refuses(path, &["cases", "diff"]).contains("there is no cases/golden.lock to compare with"));
    passes(path, &lock(&["--message", "First."]));
    fs::rename(path.join("cases/golden.lock"), path.join("main.lock")).expect("moved");
    fs::create_dir(path.join("other")).expect("made");
    write(&path.join("other"), "all.yaml", CASES);
    set(path, &CASES.replace("[d]", "[d, e]"));
    for (with, name) in [("main.lock", "version 1.0.0 of main.lock"), ("other", "other")] {
        let diff = passes(path, &["cases", "diff", with]);
        assert!(diff.starts_with(&format!("2 changed since {name}:\n  changed  a (relevant_doc_ids)")), "{diff}");
    }
    assert!(refuses(path, &["cases", "diff", "missing"]).contains("missing"));
}

#[test]
fn stats_count_the_set_and_name_what_is_thin_or_stands_twice() {
    let folder = project(
        "- {id: a, query: What is the fee?, type: fact, language: en, tags: [money]}\n\
         - {id: b, query: \"WHAT is... the fee\", type: fact, language: en}\n\
         - {id: c, query: Qual é a taxa?, type: fact, language: pt, should_refuse: true}\n",
    );
    let path = folder.path();
    let expected = "\
cases         3
language      en 2, pt 1
type          fact 3
difficulty    not stated 3
should_refuse false 2, true 1
tags          money 1, not stated 2

3 strata have fewer than 2 cases:
  tags  money 1
     1  language=pt
     1  should_refuse=true

1 group of questions that agree in 0.8 of their words:
  1.00  a  cases/all.yaml:1  What is the fee?
        b  cases/all.yaml:2  WHAT is... the fee
";
    assert_eq!(passes(path, &["cases", "stats"]), expected);
    let json: serde_json::Value =
        serde_json::from_str(&passes(path, &["cases", "stats", "--format", "json"])).expect("JSON");
    assert_eq!(json["fields"]["tags"], serde_json::json!({"values": {"money": 1}, "unstated": 2}));
    assert_eq!(json["near_duplicates"], serde_json::json!([{"similarity": 1.0, "cases": ["a", "b"]}]));
    assert_eq!(json["thin"][0], serde_json::json!({"slices": ["language=pt"], "cases": 1}));
    assert_eq!(json["also_labelled"], serde_json::json!([]));
    for bound in ["0", "1.1", "x"] {
        refuses(path, &["cases", "stats", "--similarity", bound]);
    }
}

#[test]
fn stats_name_cases_that_are_also_labelled() {
    let folder = project(CASES);
    let path = folder.path();
    let labels = path.join("cases/calibration");
    fs::create_dir(&labels).expect("made");
    for (file, text) in [
        ("a.jsonl", "{\"item\": \"x\", \"sample\": {\"question\": \"what is the fee\"}}\n\n"),
        ("a.csv", "item,query,score\nx,\"What is the fee?\",1\n"),
        ("a.yaml", "labels:\n  - {item: x, query: What is the fee?, score: 1}\n"),
        ("a.json", "[{\"user_input\": \"What is the FEE\"}]"),
    ] {
        write(&labels, file, text);
        let said = passes(path, &["cases", "stats"]);
        assert!(said.contains("1 case also asked in the labels of `calibration/`"), "{file}: {said}");
        assert!(said.ends_with("\n  a  cases/all.yaml:1\n"), "{file}: {said}");
        fs::remove_file(labels.join(file)).expect("removed");
    }
    write(&labels, "a.jsonl", "{\"query\": \"Something else?\"}\n");
    assert!(!passes(path, &["cases", "stats"]).contains("calibration"));
    write(&labels, "a.jsonl", "{\"query\": \n");
    assert!(refuses(path, &["cases", "stats"]).contains("cases/calibration/a.jsonl:1"));
}

#[test]
fn cases_that_cannot_be_read_are_refused() {
    let folder = project("- {id: a}\n");
    for command in [&["cases", "stats"][..], &["cases", "diff"], &["cases", "lock", "--message", "x"]] {
        assert!(ends(folder.path(), command, 2).contains("cases/all.yaml:1"));
    }
}
