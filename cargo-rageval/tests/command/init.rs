//! `cargo rageval init`: what it writes, what it leaves alone, and what it refuses.

mod built;
mod crates;
mod first_runs;

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use super::{Ended, ends, folder, passes, program, refuses, write};

/// The program in a folder, outside CI whatever the tests run in.
fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = program(folder, &[&["init"], arguments].concat());
    command.env_remove("CI").env_remove("RAGEVAL_RUNS");
    command
}

#[track_caller]
fn init(folder: &Path, arguments: &[&str], code: i32) -> String {
    let ended: Ended = command(folder, arguments).output().expect("the program starts").into();
    assert_eq!(ended.code, Some(code), "{}\n{}", ended.out, ended.err);
    ended.out + &ended.err
}

/// Writes the files and runs nothing.
#[track_caller]
fn files(folder: &Path, arguments: &[&str]) -> String {
    init(folder, &[&["--no-run"], arguments].concat(), 0)
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn put(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(path, text).expect("written");
}

/// All files below a folder, by their path.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("readable") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("below").display().to_string().replace('\\', "/");
                found.insert(name, fs::read(&path).expect("readable"));
            }
        }
    }
    found
}

fn names(folder: &Path) -> Vec<String> {
    tree(folder).into_keys().collect()
}

const EACH: [&[&str]; 4] = [
    &["--system", "function"],
    &["--url", "http://127.0.0.1:8080/ask"],
    &["--samples", "answers.jsonl"],
    &["--command", "./bin/rag", "--top-k", "5"],
];

#[test]
fn without_a_terminal_what_is_not_said_is_wrong_usage_and_nothing_is_written() {
    let folder = folder();
    let said = init(folder.path(), &[], 2);
    for flag in ["--system function", "--url http", "--command ./bin/rag", "--samples answers.jsonl"] {
        assert!(said.contains(flag), "{said}");
    }
    for (kind, flag) in [("http", "--url"), ("command", "--command"), ("recorded", "--samples")] {
        assert!(init(folder.path(), &["--system", kind], 2).contains(&format!("needs {flag}: ")));
    }
    assert_eq!(names(folder.path()), [] as [&str; 0]);
}

#[test]
fn flags_that_contradict_each_other_are_refused() {
    let folder = folder();
    assert!(refuses(folder.path(), &["init", "--url", "http://a/", "--samples", "a"]).contains("cannot be used with"));
    let said = init(folder.path(), &["--system", "function", "--url", "http://a/"], 2);
    assert!(said.contains("--system function and the flag of http contradict each other"), "{said}");
    let said = init(folder.path(), &["--url", "http://me:secret@host/"], 2);
    assert!(said.contains("belong into a header") && !said.contains("secret"), "{said}");
    assert_eq!(names(folder.path()), [] as [&str; 0]);
}

#[test]
fn in_ci_nothing_is_run_since_nobody_saw_the_verdicts() {
    let folder = folder();
    let ci = |arguments: &[&str]| {
        Ended::from(command(folder.path(), arguments).env("CI", "true").output().expect("the program starts"))
    };
    let ended = ci(&["--samples", "a.jsonl"]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""));
    assert!(ended.err.contains("CI is set") && ended.err.contains("--no-run"), "{}", ended.err);
    assert_eq!(names(folder.path()), [] as [&str; 0]);
    assert_eq!(ci(&["--samples", "a.jsonl", "--no-run"]).code, Some(0));
}

#[test]
fn every_kind_has_its_files_and_they_can_be_read() {
    let all = [
        ".gitignore",
        ".github/workflows/rag-regression.yml",
        ".rageval/schema/cases.json",
        ".rageval/schema/thresholds.json",
        "cases/examples.yaml",
        "thresholds.yaml",
    ];
    let more: [&[&str]; 4] = [
        &[".config/nextest.toml", "Cargo.toml", "src/lib.rs", "tests/rag_regression.rs"],
        &[],
        &["answers.jsonl"],
        &[],
    ];
    for (arguments, more) in EACH.iter().zip(more) {
        let folder = folder();
        let said = files(folder.path(), arguments);
        let mut expected = [&all, more].concat();
        expected.sort_unstable();
        assert_eq!(names(folder.path()), expected);
        for name in expected {
            assert!(said.contains(&format!("wrote    {name}\n")), "{name}: {said}");
        }
        assert!(said.contains("\nNext:\n  1. ") && said.contains("\n  3. cargo rageval baseline accept: "), "{said}");
        // The policy and the cases are such as the command takes, and hold a refusal.
        let stats = passes(folder.path(), &["cases", "stats"]);
        assert!(stats.contains("should_refuse false 5, true 1"), "{stats}");
        let policy = read(folder.path(), "thresholds.yaml");
        assert!(
            policy.contains("budget: {requests: 1000}\n") && policy.contains("{reason: \"first use\", until: 20"),
            "{policy}"
        );
        assert!(!policy.contains("\nregression:"), "{policy}");
    }
}

#[test]
fn editors_find_the_schemas_that_the_files_name() {
    let folder = folder();
    files(folder.path(), EACH[1]);
    for (file, schema) in [("thresholds.yaml", "thresholds"), ("cases/examples.yaml", "cases")] {
        let text = read(folder.path(), file);
        let name = text.lines().next().and_then(|line| line.strip_prefix("# yaml-language-server: $schema="));
        let path = folder.path().join(file).parent().expect("a folder").join(name.expect("a schema"));
        assert_eq!(fs::read_to_string(path).expect("there"), passes(folder.path(), &["schema", schema]));
    }
}

#[test]
fn started_again_it_changes_nothing_and_says_so() {
    for arguments in EACH {
        let folder = folder();
        files(folder.path(), arguments);
        let before = tree(folder.path());
        // What the policy says need not be said again.
        for again in [arguments, &[]] {
            let said = files(folder.path(), again);
            assert!(said.contains("Nothing was written: all of it is there.\n") && !said.contains("wrote "), "{said}");
        }
        assert!(tree(folder.path()) == before);
    }
}

#[test]
fn files_that_are_there_are_left_as_they_are_and_named() {
    let folder = folder();
    let path = folder.path();
    let theirs = [
        ("cases/mine.yaml", "- {id: a, query: What?}\n"),
        ("thresholds.yaml", "version: 1\nmetrics: {length: {min: 1}}\nsystem: {kind: recorded}\n"),
        (".rageval/schema/cases.json", "{}"),
        (".github/workflows/rag-regression.yml", "name: theirs\n"),
        (".gitignore", "*.log"),
    ];
    for (name, text) in theirs {
        put(path, name, text);
    }
    let said = files(path, &["--system", "recorded", "--samples", "answers.jsonl"]);
    for (name, text) in &theirs[..4] {
        assert_eq!(read(path, name), *text);
    }
    // Nor is anything written that the policy does not name.
    assert!(!path.join("cases/examples.yaml").exists() && !path.join("answers.jsonl").exists());
    assert_eq!(read(path, ".gitignore"), "*.log\n/target/\n.rageval/*\n!.rageval/schema/\n*.snap.new\n");
    for line in [
        "changed  .gitignore: /target/, .rageval/*, !.rageval/schema/, *.snap.new\n",
        "left     .rageval/schema/cases.json: it is of another version; `cargo rageval schema cases` prints that of this one\n",
        "left     .github/workflows/rag-regression.yml: let it run `cargo rageval run`\n",
        "left     as they stand: cases, thresholds.yaml\n",
        "1. put your own questions in cases\n",
    ] {
        assert!(said.contains(line), "{line}{said}");
    }
    let said = init(path, &["--no-run", "--system", "function"], 2);
    assert!(
        said.contains("thresholds.yaml:3") && said.contains("says `kind: recorded`, and the command line function"),
        "{said}"
    );
}

#[test]
fn cases_are_made_of_answers_that_are_there() {
    let folder = folder();
    let path = folder.path();
    put(
        path,
        "log/answers.jsonl",
        "{\"id\": \"fee\", \"question\": \"What is the fee?\", \"response\": \"12 euros.\"}\n",
    );
    files(path, &["--samples", "log/answers.jsonl"]);
    assert!(read(path, "cases/examples.yaml").ends_with("cases:\n  - id: \"fee\"\n    query: \"What is the fee?\"\n"));
    assert!(passes(path, &["cases", "stats"]).starts_with("cases         1 of "));
    // Bars of cases that nobody has looked at tell, and do not fail.
    assert!(read(path, "thresholds.yaml").contains("recall@5: {mean: {min: 0.80, level: warn}}"));
    put(path, "bad/answers.jsonl", "nonsense\n");
    let said = init(path, &["bad", "--samples", "answers.jsonl"], 2);
    assert!(said.contains("answers.jsonl:1: no JSON") && !path.join("bad/thresholds.yaml").exists(), "{said}");
}

#[test]
fn what_the_repository_ignores_already_is_not_said_twice() {
    let folder = folder();
    let path = folder.path();
    fs::create_dir(path.join(".git")).expect("made");
    put(path, ".gitignore", "target\n/.rageval/*\n*.snap.new\n");
    let said = files(path, &["gate", "--url", "http://localhost:1/"]);
    assert_eq!(read(path, "gate/.gitignore"), "!.rageval/schema/\n");
    // The workflow belongs to the repository, and the gate to its folder.
    let workflow = read(path, ".github/workflows/rag-regression.yml");
    for line in [
        "      - \"gate/cases/**\"\n",
        "          command: cargo rageval run\n",
        "          working-directory: \"gate\"\n",
    ] {
        assert!(workflow.contains(line), "{workflow}");
    }
    assert!(
        said.contains("2. cargo rageval run (in gate): ") && said.contains("wrote    gate/thresholds.yaml\n"),
        "{said}"
    );
    let said = files(path, &["other", "--url", "http://localhost:1/", "--no-workflow"]);
    assert!(!said.contains("workflow"), "{said}");
}

#[test]
fn a_folder_that_cannot_be_made_is_told_before_anything_is_written() {
    let folder = folder();
    let path = folder.path();
    // A file in the place of a folder stops every user, also one whom no permission stops.
    put(path, ".rageval", "");
    let said = init(path, &["--no-run", "--samples", "answers.jsonl"], 2);
    assert!(said.contains("error: .rageval is a file, where a folder belongs"), "{said}");
    assert_eq!(names(path), [".rageval"]);
    fs::remove_file(path.join(".rageval")).expect("removed");
    let said = files(path, &["--samples", "answers.jsonl"]);
    assert!(said.contains("wrote    .rageval/schema/cases.json"), "{said}");
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_is_told() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder();
    let path = folder.path().join("closed");
    fs::create_dir(&path).expect("made");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o555)).expect("closed");
    // No permission stops the superuser.
    if fs::write(path.join("probe"), "").is_ok() {
        return;
    }
    let said = init(folder.path(), &["closed", "--no-run", "--samples", "answers.jsonl"], 2);
    assert!(said.contains("Permission denied") && said.contains("closed"), "{said}");
}

#[test]
fn help_shows_how_each_kind_starts() {
    let help = passes(folder().path(), &["init", "--help"]);
    for words in ["--system function", "--url http", "--command ./bin/rag", "--samples answers.jsonl", "--runner-path"]
    {
        assert!(help.contains(words), "{help}");
    }
    assert!(ends(folder().path(), &["init", "-h"], 0).contains("--no-run"));
    let folder = folder();
    write(folder.path(), "file", "");
    assert!(init(folder.path(), &["file", "--samples", "a"], 2).contains("file is no folder"));
}

#[test]
fn what_stands_in_the_place_of_a_file_or_folder_is_named() {
    let check = |prepare: fn(&Path), expected: &str| {
        let folder = folder();
        prepare(folder.path());
        let before = names(folder.path());
        let told = init(folder.path(), &["--no-run", "--samples", "answers.jsonl"], 2);
        assert!(told.contains(expected), "{told}");
        assert_eq!(names(folder.path()), before, "{expected}");
    };
    let make = |folder: &Path| fs::create_dir(folder.join("thresholds.yaml")).expect("made");
    check(make, "thresholds.yaml is a folder, where a file belongs: move or remove it");
    check(|folder| write(folder, "cases", "x"), "cases is a file, where a folder belongs: move or remove it");
    check(|folder| write(folder, ".github", "x"), ".github is a file, where a folder belongs: move or remove it");
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link_that_leads_outside() {
    use std::os::unix::fs::symlink;
    for (link, to, expected) in [
        ("thresholds.yaml", "nowhere.yaml", "thresholds.yaml is a link to nothing, where a file belongs"),
        ("cases", "nowhere", "cases is a link to nothing, where a folder belongs"),
        ("cases", "", "cases is a link that leads outside, to "),
        (".rageval", "", ".rageval is a link that leads outside, to "),
    ] {
        let (folder, outside) = (folder(), folder());
        symlink(outside.path().join(to), folder.path().join(link)).expect("linked");
        let told = init(folder.path(), &["--no-run", "--samples", "answers.jsonl"], 2);
        assert!(told.contains(expected), "{told}");
        assert_eq!(names(outside.path()), Vec::<String>::new(), "{link}");
        assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 1, "{link}");
    }
}
