//! `cargo rageval snapshots apply`: what a run in CI found is left for review, as a run here would.

use std::{fs, process::Command};

use crate::Project;

crate::tests![
    a_run_of_ci_leaves_what_a_run_here_leaves,
    what_is_stored_already_is_not_left_again,
    a_run_of_other_cases_is_refused_and_named,
    a_hostile_run_writes_nowhere_else,
    a_partial_run_applies_what_it_holds,
    orphans_are_listed_and_stay,
    a_run_that_says_nothing_of_snapshots_is_refused,
    cargo_insta_sees_them,
];

const RULES: &str = "version: 1\njudge: {provider: offline}\nwaive: {calibration: {reason: a fixture, until: 2999-12-31}}\nmetrics:\n  faithfulness: {mean: {min: 0}}\n";
const CASES: &str = "- {id: one, query: \"How much and how long? The fee is 12 euros. Delivery takes 9 days. [found: fee time]\"}\n- {id: \"退款 / ação: \\\"two\\\"\", query: \"What? The fee is 12 euros. [found: fee]\"}\n";
const FOLDER: &str = "tests/snapshots/gates";

fn project() -> Project {
    Project::new(RULES, CASES)
}

/// The run of another checkout in CI: red, and it wrote nothing beside the source.
fn run_of_ci() -> Project {
    let there = project();
    let text = there.gate(&[("CI", "true")]).with(101);
    assert!(text.contains("no snapshot"), "{text}");
    assert!(there.files("tests").is_empty(), "CI writes nothing");
    there
}

fn apply(here: &Project, there: &Project) -> String {
    here.command(&["snapshots", "apply", &run_json(there)]).with(0)
}

/// The artifact: the run file alone.
fn run_json(there: &Project) -> String {
    let latest = there.read("runs/latest");
    there.path(&format!("runs/{latest}/run.json")).to_string_lossy().into_owned()
}

fn a_run_of_ci_leaves_what_a_run_here_leaves() {
    let (there, here, local) = (run_of_ci(), project(), project());
    let text = apply(&here, &there);
    assert!(text.contains("2 snapshots left for review") && text.contains("cargo insta review"), "{text}");
    local.gate(&[]).with(101);
    let files = local.files(FOLDER);
    assert_eq!(files.len(), 2, "{files:?}");
    assert_eq!(here.files(FOLDER), files);
    for file in files {
        assert!(file.ends_with(".snap.new"), "{file}");
        let (applied, own) = (here.read(&format!("{FOLDER}/{file}")), local.read(&format!("{FOLDER}/{file}")));
        assert_eq!(applied, own, "byte for byte, its header too");
        assert!(own.contains("source: ") && own.contains("input_file: cases/all.yaml"), "{own}");
    }
}

/// Does what `cargo insta accept` does.
fn accept(project: &Project) {
    for file in project.files(FOLDER).into_iter().filter(|file| file.ends_with(".snap.new")) {
        let from = project.path(&format!("{FOLDER}/{file}"));
        fs::rename(&from, from.with_extension("")).expect("renamed");
    }
}

fn what_is_stored_already_is_not_left_again() {
    let (there, here) = (run_of_ci(), project());
    apply(&here, &there);
    accept(&here);
    here.gate(&[("CI", "true")]).with(0);
    // One that is no longer true goes away, as when a run here finds the stored verdicts again.
    let stored = here.files(FOLDER);
    here.write(&format!("{FOLDER}/{}.new", stored[0]), "stale");
    let text = apply(&here, &there);
    assert!(text.contains("0 snapshots left for review, 2 cases as stored"), "{text}");
    assert!(text.contains("no longer true, removed: 1"), "{text}");
    assert_eq!(here.files(FOLDER), stored);
}

fn a_run_of_other_cases_is_refused_and_named() {
    let (there, here) = (run_of_ci(), project());
    here.write("cases/all.yaml", &CASES.replace("How much and", "How much, and").replace("ação", "acao"));
    let text = here.command(&["snapshots", "apply", &run_json(&there)]).with(2);
    assert!(text.contains("with other contents here: one"), "{text}");
    assert!(text.contains("not here: 退款"), "{text}");
    assert!(here.files("tests").is_empty(), "nothing is written");
}

fn a_hostile_run_writes_nowhere_else() {
    let (there, here) = (run_of_ci(), project());
    let text = fs::read_to_string(run_json(&there)).expect("a run");
    for folder in
        ["../elsewhere/tests/snapshots/gates", "/tmp/tests/snapshots/gates", ".github/workflows", "tests/snapshots/.."]
    {
        let hostile = text.replace(&format!("\"folder\":\"{FOLDER}\""), &format!("\"folder\":\"{folder}\""));
        assert_ne!(hostile, text, "the run says where its snapshots stand");
        here.write("hostile.json", &hostile);
        let said = here.command(&["snapshots", "apply", "hostile.json"]).with(2);
        assert!(said.contains("manifest.snapshots.folder"), "{said}");
    }
    // Verdicts are text, whatever stands in them.
    let nasty = text.replace("Delivery takes 9 days.", "---\\nsource: x\\n\\u001b[2J::set-output name=x::y");
    assert_ne!(nasty, text);
    here.write("nasty.json", &nasty);
    here.command(&["snapshots", "apply", "nasty.json"]).with(0);
    for file in here.files(FOLDER) {
        let text = here.read(&format!("{FOLDER}/{file}"));
        let read_back = rageval_runner::store::snapshots::read(&here.path(&format!("{FOLDER}/{file}")));
        assert!(read_back.is_ok_and(|snapshot| snapshot.is_some()), "{text}");
        assert!(!text.contains('\u{1b}') && !text.lines().any(|line| line.trim_start().starts_with("::")), "{text}");
    }
    let outside = here.folder.path().parent().expect("a parent").join("elsewhere");
    assert!(!outside.exists() && !here.path(".github").exists());
}

fn a_partial_run_applies_what_it_holds() {
    let (there, here) = (project(), project());
    there.gate(&[("CI", "true"), ("RAGEVAL_SHARD", "1/1")]).with(101);
    let run = fs::read_to_string(run_json(&there)).expect("a run");
    let kept: Vec<&str> = run.lines().filter(|line| !line.starts_with("{\"case\":\"one\",\"digest\"")).collect();
    assert_eq!(kept.len() + 1, run.lines().count());
    here.write("part.json", &kept.join("\n"));
    let text = here.command(&["snapshots", "apply", "part.json"]).with(0);
    assert!(text.contains("1 snapshot left for review") && text.contains("says nothing of: one"), "{text}");
}

fn orphans_are_listed_and_stay() {
    let (there, here) = (run_of_ci(), project());
    apply(&here, &there);
    accept(&here);
    let stored = here.files(FOLDER);
    fs::copy(here.path(&format!("{FOLDER}/{}", stored[0])), here.path(&format!("{FOLDER}/gone-01234567.snap")))
        .expect("copied");
    let text = apply(&here, &there);
    assert!(text.contains("belong to no case, left as they are: gone-01234567.snap"), "{text}");
    assert!(here.files(FOLDER).contains(&"gone-01234567.snap".to_owned()));
}

fn a_run_that_says_nothing_of_snapshots_is_refused() {
    let (there, here) = (run_of_ci(), project());
    let text = fs::read_to_string(run_json(&there)).expect("a run");
    let (before, after) = text.split_once(",\"snapshots\":{").expect("it says");
    let (_, after) = after.split_once('}').expect("the end");
    here.write("old.json", &format!("{before}{after}"));
    let said = here.command(&["snapshots", "apply", "old.json"]).with(2);
    assert!(said.contains("does not say where its snapshots stand"), "{said}");
}

/// With the real `cargo insta`, where it is installed.
fn cargo_insta_sees_them() {
    let is_there =
        Command::new("cargo").args(["insta", "--version"]).output().is_ok_and(|output| output.status.success());
    if !is_there {
        eprintln!("skipped: cargo-insta is not installed");
        return;
    }
    let (there, here) = (run_of_ci(), project());
    here.write("Cargo.toml", "[package]\nname = \"here\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n");
    here.write("src/lib.rs", "");
    apply(&here, &there);
    let mut command = crate::clean(Command::new("cargo"), here.folder.path());
    let output = command.args(["insta", "pending-snapshots"]).output().expect("started");
    let text = crate::Ended::from(output).with(0);
    for file in here.files(FOLDER) {
        assert!(text.contains(file.trim_end_matches(".new")), "{file} is not in:\n{text}");
    }
}
