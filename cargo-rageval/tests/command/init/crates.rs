//! In crates and workspaces that are there already, and where there is none.

use std::{fs, path::Path};

use super::{files, folder, init, names, put, read, tree};

const FUNCTION: &[&str] = &["--system", "function"];

const MANIFEST: &str = "# Our search.\n[package]\nname = \"search\" # a name\nversion   = \"0.1.0\"\nedition = \"2021\"\n\n\
                        [dependencies]   # none\n\n# Only for tests.\n[dev-dependencies]\n# None yet.\n\n[features]\ndefault = []\n";

fn package(folder: &Path, manifest: &str) {
    put(folder, "Cargo.toml", manifest);
    put(folder, "src/lib.rs", "//! Search.\n");
}

/// Every line stands there still, in its order.
#[track_caller]
fn keeps(before: &str, after: &str) {
    let mut lines = after.lines();
    for line in before.lines() {
        assert!(lines.any(|other| other == line), "{line:?} is gone:\n{after}");
    }
}

#[test]
fn a_crate_gets_a_test_with_an_example_and_keeps_its_manifest() {
    let folder = folder();
    let path = folder.path();
    package(path, MANIFEST);
    let said = files(path, FUNCTION);
    let manifest = read(path, "Cargo.toml");
    keeps(MANIFEST, &manifest);
    assert!(manifest.contains("# None yet.\n") && manifest.contains("rageval-runner = \"0.1\"\n"), "{manifest}");
    assert!(manifest.contains("[[test]]\nname = \"rag_regression\"\nharness = false\n"), "{manifest}");
    assert!(
        said.contains(
            "changed  Cargo.toml: the dev-dependency rageval-runner, the [[test]] rag_regression, [profile.dev.package]"
        ),
        "{said}"
    );
    assert!(said.contains("1. tests/rag_regression.rs answers from an example: put your system there"), "{said}");
    assert_eq!(read(path, "src/lib.rs"), "//! Search.\n");
    let before = tree(path);
    assert!(files(path, FUNCTION).contains("Nothing was written"));
    assert!(tree(path) == before);
}

#[test]
fn a_member_of_a_workspace_gets_the_gate_and_its_root_the_profiles() {
    let folder = folder();
    let path = folder.path();
    fs::create_dir(path.join(".git")).expect("made");
    let root = "# All of ours.\n[workspace]\nmembers = [\"crates/*\"]\nresolver = \"2\"\n\n[profile.release] # small\nlto = true\n";
    put(path, "Cargo.toml", root);
    put(path, ".gitignore", "/target\n");
    let nextest = "# Ours.\n[profile.default]\nretries = 2\n";
    put(path, ".config/nextest.toml", nextest);
    package(&path.join("crates/search"), MANIFEST);
    package(&path.join("crates/index"), "[package]\nname = \"index\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");

    let said = init(path, &["--no-run", "--system", "function"], 2);
    assert!(said.contains("--crate crates/search") && said.contains("--crate crates/index"), "{said}");
    let said = files(path, &["--system", "function", "--crate", "crates/search"]);

    keeps(MANIFEST, &read(path, "crates/search/Cargo.toml"));
    assert!(!read(path, "crates/search/Cargo.toml").contains("profile.dev"));
    keeps(root, &read(path, "Cargo.toml"));
    assert!(
        read(path, "Cargo.toml")
            .contains("[profile.dev.package]\n\"*\" = { debug = \"line-tables-only\" }\nblake3 = { opt-level = 3 }\n")
    );
    let merged = read(path, ".config/nextest.toml");
    assert!(
        merged.starts_with(nextest) && merged.contains("[profile.rag-regression]\nretries = 0\nfail-fast = false\n")
    );
    assert_eq!(read(path, "crates/search/.gitignore"), ".rageval/*\n!.rageval/schema/\n*.snap.new\n");
    let workflow = read(path, ".github/workflows/rag-regression.yml");
    for line in [
        "      - \"crates/search/thresholds.yaml\"\n",
        "      - \"**/*.rs\"\n",
        "          command: cargo test --test rag_regression\n          working-directory: \"crates/search\"\n",
    ] {
        assert!(workflow.contains(line), "{workflow}");
    }
    assert!(path.join("crates/search/cases/examples.yaml").is_file() && !path.join("crates/index/tests").exists());
    assert!(said.contains("changed  .config/nextest.toml: a profile for the gate\n"), "{said}");
    let before = tree(path);
    // From the package itself it is the same.
    assert!(files(&path.join("crates/search"), FUNCTION).contains("Nothing was written"));
    assert!(tree(path) == before);
}

#[test]
fn a_test_of_the_same_name_is_not_touched_and_neither_is_its_harness() {
    let folder = folder();
    let path = folder.path();
    package(path, MANIFEST);
    let theirs = "#[test]\nfn a() {}\n";
    put(path, "tests/rag_regression.rs", theirs);
    // Nothing runs before it is settled, also without --no-run.
    let said = init(path, FUNCTION, 3);
    assert_eq!(read(path, "tests/rag_regression.rs"), theirs);
    assert!(!read(path, "Cargo.toml").contains("[[test]]"));
    assert!(
        said.contains("left     tests/rag_regression.rs: it is no gate: rename it and run `cargo rageval init` again"),
        "{said}"
    );
    assert!(said.contains("Nothing was run: do by hand what is named above first."), "{said}");
}

#[test]
fn a_test_entry_with_the_harness_of_libtest_is_named() {
    let folder = folder();
    let path = folder.path();
    let manifest = format!("{MANIFEST}\n[[test]]\nname = \"rag_regression\"\n");
    package(path, &manifest);
    put(path, "tests/rag_regression.rs", "rageval_runner::main! { system: search::answer }\n");
    let said = init(path, FUNCTION, 3);
    assert!(
        said.contains("left     Cargo.toml: write `harness = false` under the [[test]] rag_regression\n"),
        "{said}"
    );
    keeps(&manifest, &read(path, "Cargo.toml"));
    // Another system answers there, so the bars only tell.
    assert!(read(path, "thresholds.yaml").contains("level: warn"));
}

#[test]
fn a_system_that_needs_no_code_may_have_a_test_too() {
    let folder = folder();
    let path = folder.path();
    package(path, MANIFEST);
    files(path, &["--url", "http://localhost:1/", "--no-workflow"]);
    assert!(!path.join("tests").exists() && read(path, "Cargo.toml") == MANIFEST);
    let said = files(path, &["--url", "http://localhost:1/", "--crate", "."]);
    assert!(read(path, "tests/rag_regression.rs").ends_with("rageval_runner::main! {}\n"));
    assert!(said.contains("2. cargo test --test rag_regression: "), "{said}");
}

#[test]
fn a_manifest_that_cargo_cannot_read_is_told_and_nothing_is_written() {
    let folder = folder();
    let path = folder.path();
    put(path, "Cargo.toml", "[package\n");
    let said = init(path, &["--no-run", "--system", "function"], 2);
    assert!(said.contains("cargo cannot read") && said.contains("Cargo.toml"), "{said}");
    assert_eq!(names(path), ["Cargo.toml"]);
}

#[test]
fn a_new_crate_is_made_in_an_empty_folder_alone() {
    let folder = folder();
    let path = folder.path();
    put(path, "app/main.py", "");
    let said = init(path, &["app", "--no-run", "--system", "function"], 2);
    assert!(said.contains("is not empty (main.py is in it)") && said.contains("--crate"), "{said}");
    package(&path.join("search"), MANIFEST);
    let said = init(path, &["search/gate", "--no-run", "--system", "function"], 2);
    assert!(said.contains("lies in the cargo project"), "{said}");
    assert!(!path.join("search/gate").exists());
    // A repository that was just made is empty still.
    put(path, "new/.git/HEAD", "");
    put(path, "new/README.md", "# Gate\n");
    files(path, &["new", "--system", "function"]);
    assert!(read(path, "new/Cargo.toml").starts_with("[package]\nname = \"gate-of-new\"\n"));
    assert!(read(path, "new/tests/rag_regression.rs").contains("gate_of_new::answer(&question)"));
}

#[test]
fn a_policy_at_the_root_of_the_workspace_is_that_of_its_members() {
    let folder = folder();
    let path = folder.path();
    put(path, "Cargo.toml", "[workspace]\nmembers = [\"search\"]\n");
    package(&path.join("search"), MANIFEST);
    put(path, "thresholds.yaml", "version: 1\nmetrics: {length: {min: 1}}\nsystem: {kind: function}\n");
    put(path, "cases/all.yaml", "- {id: a, query: What?}\n");
    let said = files(path, &["--crate", "search"]);
    assert!(
        said.contains("left     as they stand: thresholds.yaml")
            && said.contains("wrote    search/tests/rag_regression.rs"),
        "{said}"
    );
    let made = ["search/cases", "search/thresholds.yaml", "search/.rageval"];
    assert!(!made.iter().any(|name| path.join(name).exists()), "{said}");
    // A folder of its own that is no package may have another.
    files(path, &["other", "--samples", "answers.jsonl", "--no-workflow"]);
    assert!(path.join("other/thresholds.yaml").is_file());
}
