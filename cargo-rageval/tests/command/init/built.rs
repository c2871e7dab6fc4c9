//! From nothing to a gate that is green, then red, then green: a crate that is really built, in the target folder of this workspace.

use std::{
    fs::{self, File},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::{Path, PathBuf},
    process::Command,
};

use super::{super::Ended, command, files, put, read};

/// The root of this workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace root").to_owned()
}

/// The folder of the crate, empty, and a lock that keeps it to one test at a time.
///
/// It is the same each time: cargo names objects by where a crate stands, and would leave others in the target folder for each new place. It can't be
/// below the target folder, where a crate would belong to this workspace.
fn same_folder() -> (PathBuf, File) {
    let mut hasher = DefaultHasher::new();
    root().hash(&mut hasher);
    let name = format!("rageval-init-{:016x}", hasher.finish());
    let lock = File::create(std::env::temp_dir().join(format!("{name}.lock"))).expect("a lock");
    lock.lock().expect("locked");
    let folder = std::env::temp_dir().join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("emptied");
    }
    fs::create_dir(&folder).expect("made");
    (folder, lock)
}

/// Makes the build one of what is here: the same versions and, by the profile of this workspace, the same objects.
///
/// A manifest that says how many symbols there are gets no such line for all dependencies, which would hold for macros too and make other
/// objects of nearly all there is.
fn settled(folder: &Path) {
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).expect("copied");
    let manifest = read(&root(), "Cargo.toml");
    let profiles = manifest.find("[profile.dev]").map_or("", |at| &manifest[at..]);
    put(folder, ".cargo/config.toml", &format!("[net]\noffline = true\n{profiles}"));
    let written = read(folder, "Cargo.toml").replace("\"*\" = { debug = \"line-tables-only\" }\n", "");
    put(folder, "Cargo.toml", &format!("{written}\n[profile.dev]\ndebug = \"line-tables-only\"\n"));
}

/// A command whose builds go to the target folder of this workspace, and whose runs stay in the folder.
fn here(mut command: Command, folder: &Path) -> Ended {
    // <target>/debug/cargo-rageval
    let target = Path::new(env!("CARGO_BIN_EXE_cargo-rageval")).ancestors().nth(2).expect("a target folder");
    command
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target)
        .env("RAGEVAL_RUNS", folder.join("runs"))
        .env_remove("CI");
    for variable in
        ["INSTA_UPDATE", "INSTA_FORCE_PASS", "RAGEVAL_SHARD", "CARGO_MANIFEST_DIR", "NEXTEST", "NEXTEST_RUN_ID"]
    {
        command.env_remove(variable);
    }
    command.output().expect("it starts").into()
}

fn gate(folder: &Path) -> Ended {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "--test", "rag_regression"]);
    here(cargo, folder)
}

#[track_caller]
fn is(ended: &Ended, code: i32, words: &[&str]) {
    assert_eq!(ended.code, Some(code), "{}\n{}", ended.out, ended.err);
    for word in words {
        assert!(ended.out.contains(word) || ended.err.contains(word), "{word}\n{}\n{}", ended.out, ended.err);
    }
}

/// Cargo names each crate that it compiles, whether or not it is a terminal that it writes to.
#[track_caller]
fn built_nothing(ended: &Ended) {
    assert!(ended.err.contains("Finished") && !ended.err.contains("Compiling"), "{}", ended.err);
}

#[test]
fn a_function_is_green_at_once_red_when_it_says_something_wrong_and_green_again() {
    let (folder, _lock) = same_folder();
    let path = folder.as_path();
    let runner = root().join("rageval-runner").display().to_string();
    let arguments = ["--system", "function", "--runner-path", &runner];
    files(path, &arguments);
    settled(path);

    let ended = here(command(path, &arguments), path);
    let kept = "What the judge said is kept in 6 snapshots";
    is(&ended, 0, &["6 cases: 6 passed", "first use", "The first run passed.", kept, "Nothing was written"]);
    assert_eq!(fs::read_dir(path.join("tests/snapshots/rag_regression")).expect("there").count(), 6);
    // Started once more it runs nothing: another run would keep what nobody has seen.
    is(&here(command(path, &arguments), path), 0, &["Nothing was run: there are snapshots already."]);
    is(&gate(path), 0, &["6 cases: 6 passed"]);

    let right = read(path, "src/lib.rs");
    let wrong = right.replace("text: text.to_string()", "text: text.replace(\"20 cents\", \"7 euros\")");
    assert_ne!(right, wrong);
    put(path, "src/lib.rs", &wrong);
    is(
        &gate(path),
        101,
        &["case::examples::late-fee", "answer_correctness fell from 1 of 1 to 0 of 1", "gate::faithfulness::bottom10 "],
    );

    put(path, "src/lib.rs", &right);
    is(&gate(path), 0, &["6 cases: 6 passed"]);

    // What is read when the test runs is no reason to build: neither a changed case nor a bar.
    let cases = read(path, "cases/examples.yaml");
    put(path, "cases/examples.yaml", &cases.replace("costs 20 cents a day", "costs 30 cents a day"));
    let red = gate(path);
    is(&red, 101, &["case::examples::late-fee", "expected    A late book costs 30 cents a day."]);
    built_nothing(&red);
    put(path, "cases/examples.yaml", &cases);
    let bars = read(path, "thresholds.yaml");
    put(path, "thresholds.yaml", &format!("{bars}# Looked at.\n"));
    let green = gate(path);
    is(&green, 0, &["6 cases: 6 passed"]);
    built_nothing(&green);
}

#[test]
fn the_example_in_a_member_of_a_workspace_is_green_at_once() {
    let (folder, _lock) = same_folder();
    let path = folder.as_path();
    put(path, "Cargo.toml", "[workspace]\nmembers = [\"search\"]\nresolver = \"2\"\n");
    put(path, "search/Cargo.toml", "[package]\nname = \"search\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    put(path, "search/src/lib.rs", "");
    settled(path);
    let runner = root().join("rageval-runner").display().to_string();
    let ended = here(command(path, &["--crate", "search", "--system", "function", "--runner-path", &runner]), path);
    is(
        &ended,
        0,
        &["6 cases: 6 passed", "kept in 6 snapshots", "search/tests/rag_regression.rs answers from an example"],
    );
    assert!(!ended.err.contains("warning"), "{}", ended.err);
    // A system of the policy takes the place of the function.
    put(
        path,
        "search/thresholds.yaml",
        &read(path, "search/thresholds.yaml").replace("kind: function", "kind: recorded, samples: answers.jsonl"),
    );
    put(path, "search/answers.jsonl", include_str!("../../../src/command/init/templates/answers.jsonl"));
    fs::remove_file(path.join("search/tests/rag_regression.rs")).expect("removed");
    let ended = here(command(path, &["--crate", "search"]), path);
    is(&ended, 0, &["wrote    search/tests/rag_regression.rs", "Nothing was run: there are snapshots already."]);
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "-p", "search", "--test", "rag_regression"]);
    is(&here(cargo, path), 0, &["6 cases: 6 passed"]);
}
