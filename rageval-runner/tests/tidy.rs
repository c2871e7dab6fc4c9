//! The rules of the house that the compiler does not know, read off the sources.
//!
//! Each rule stands in ARCHITECTURE.md; a test here fails with the file, the line and what to do.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The layers of `rageval-runner`, lowest first. A module uses its own layer and those below.
const LAYERS: &[(&str, &[&str])] = &[
    ("vocabulary", &["model"]),
    ("logic", &["metric", "text", "stats", "gate", "trust", "report"]),
    ("ports", &["system", "judge", "embed", "contain"]),
    ("I/O", &["load", "store", "evaluate"]),
    ("assembly", &["harness"]),
];

/// Lines that a file may have and still be read in one sitting.
const LONGEST: usize = 450;

struct Source {
    /// Path below the workspace root, with `/`.
    path: String,
    /// The lines before its unit tests, without comments.
    code: Vec<(usize, String)>,
    lines: usize,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace root").to_owned()
}

fn sources(below: &str) -> Vec<Source> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(below)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push(source(&path));
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(!found.is_empty(), "no sources below {below}");
    found
}

fn source(path: &Path) -> Source {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let code = text
        .lines()
        .enumerate()
        .take_while(|(_, line)| !line.starts_with("#[cfg(test)]"))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
        .map(|(i, line)| (i + 1, line.to_owned()))
        .collect();
    let below_root = path.strip_prefix(root()).expect("below the root").to_string_lossy().replace('\\', "/");
    Source { path: below_root, code, lines: text.lines().count() }
}

/// The module of `rageval-runner` that a source belongs to: `metric` for `metric/faithfulness.rs`.
fn module(source: &Source) -> &str {
    let below = source.path.strip_prefix("rageval-runner/src/").expect("a source of the runner");
    below.split('/').next().expect("a part").trim_end_matches(".rs")
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|(_, modules)| modules.contains(&module))
}

fn report(broken: &[String]) {
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

/// Lines in which one of the words stands, outside the given files.
fn lines_with(below: &str, words: &[&str], except: &[&str], why: &str) -> Vec<String> {
    let mut broken = Vec::new();
    let is_meant = |source: &&Source| {
        let is_test = source.path.ends_with("/tests.rs");
        !is_test && !except.iter().any(|path| source.path.starts_with(path))
    };
    for source in sources(below).iter().filter(is_meant) {
        for (number, line) in &source.code {
            if let Some(word) = words.iter().find(|word| line.contains(**word)) {
                broken.push(format!("{}:{number}: `{word}`: {why}", source.path));
            }
        }
    }
    broken
}

#[test]
fn modules_use_their_own_layer_and_those_below() {
    let mut broken = Vec::new();
    for source in sources("rageval-runner/src") {
        let own = module(&source);
        let Some(own_layer) = layer(own) else {
            if own != "lib" {
                broken.push(format!("{}: the module `{own}` stands in no layer; add it to LAYERS", source.path));
            }
            continue;
        };
        let mut in_use = false;
        for (number, line) in &source.code {
            // `use crate::{ ... }` over several lines names modules at one level of indentation.
            let direct = line.split("crate::").skip(1).map(|rest| rest.trim_start_matches('{'));
            let listed = if in_use { line.strip_prefix("    ").filter(|l| !l.starts_with(' ')) } else { None };
            for rest in direct.chain(listed) {
                let name: String = rest.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
                if let Some(other) = layer(&name).filter(|other| *other > own_layer) {
                    let (from, to) = (LAYERS[own_layer].0, LAYERS[other].0);
                    broken.push(format!("{}:{number}: `{own}` ({from}) uses `{name}` ({to})", source.path));
                }
            }
            if line.starts_with("use crate::{") {
                in_use = !line.contains("};");
            } else if line.starts_with("};") {
                in_use = false;
            }
        }
    }
    report(&broken);
}

#[test]
fn vocabulary_and_logic_do_no_input_or_output() {
    let words = [
        "std::fs",
        "std::env",
        "std::net",
        "std::process",
        "std::thread",
        "Instant",
        "SystemTime",
        "tokio",
        "reqwest",
        "async ",
        ".await",
        "println!",
        "eprintln!",
        "thread_rng",
    ];
    let mut broken = Vec::new();
    for (_, modules) in &LAYERS[..2] {
        for module in modules.iter().filter(|module| root().join("rageval-runner/src").join(module).is_dir()) {
            let below = format!("rageval-runner/src/{module}");
            broken.extend(lines_with(&below, &words, &[], "vocabulary and logic take values and return values"));
        }
    }
    report(&broken);
}

#[test]
fn only_the_store_writes_files() {
    let words = ["fs::write", "File::create", "OpenOptions", "create_dir", "remove_file", "remove_dir", "fs::rename"];
    report(&lines_with("rageval-runner/src", &words, &["rageval-runner/src/store/"], "only `store` writes"));
    report(&lines_with("cargo-rageval/src", &words, &[], "the command writes through `store`"));
}

#[test]
fn only_load_reads_yaml() {
    report(&lines_with("rageval-runner/src", &["serde_yaml"], &["rageval-runner/src/load/"], "only `load` reads YAML"));
}

#[test]
fn one_reader_of_the_environment_a_binary() {
    let words = ["env::var", "env::args", "env::set_var", "env::current_exe", "env::vars"];
    let reader = "rageval-runner/src/harness/context.rs";
    report(&lines_with("rageval-runner/src", &words, &[reader], "the environment is read in harness/context.rs"));
    let reader = "cargo-rageval/src/context.rs";
    report(&lines_with("cargo-rageval/src", &words, &[reader], "the environment is read in context.rs"));
}

#[test]
fn files_are_readable_in_one_sitting() {
    let mut broken = Vec::new();
    for below in ["rageval-runner", "rageval-macros/src", "cargo-rageval"] {
        for source in sources(below) {
            if source.lines > LONGEST {
                broken.push(format!(
                    "{}: {} lines, at most {LONGEST}: which two ideas are in it?",
                    source.path, source.lines
                ));
            }
        }
    }
    report(&broken);
}

#[test]
fn files_are_named_after_ideas() {
    let mut broken = Vec::new();
    for below in ["rageval-runner/src", "rageval-macros/src", "cargo-rageval/src"] {
        for source in sources(below) {
            let name = source.path.rsplit('/').next().expect("a name").trim_end_matches(".rs");
            if ["utils", "util", "helpers", "common", "imp", "types", "manager", "misc"].contains(&name) {
                broken.push(format!("{}: name it after its idea", source.path));
            }
        }
    }
    report(&broken);
}

#[test]
fn every_file_says_what_it_is() {
    let mut broken = Vec::new();
    for below in ["rageval-runner", "rageval-macros/src", "cargo-rageval"] {
        for source in sources(below) {
            let text = fs::read_to_string(root().join(&source.path)).expect("readable");
            if !text.starts_with("//!") && !text.starts_with("#![") {
                broken
                    .push(format!("{}: the first line says in one sentence what the file is: `//! ...`", source.path));
            }
        }
    }
    report(&broken);
}

#[test]
fn nothing_is_left_for_later() {
    let mut broken = Vec::new();
    for below in ["rageval-runner/src", "rageval-macros/src", "cargo-rageval/src"] {
        // Joined so that this file does not find itself.
        let words = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("todo", "!("), concat!("unimplemented", "!(")];
        let except = ["rageval-macros/src/metric_macro.rs"];
        broken.extend(lines_with(below, &words, &except, "do it, or say in the documentation that it is not there"));
        let lints = [concat!("#[al", "low("), concat!("#![al", "low(")];
        broken.extend(lines_with(below, &lints, &except, "use #[expect(lint, reason = \"...\")] on the smallest item"));
    }
    report(&broken);
}
