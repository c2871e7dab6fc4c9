//! The command as a user runs it: each test starts the real program and looks at its output and exit code.

mod baseline;
mod calibrate;
mod calibration;
mod cases;
mod compare;
mod completions;
mod convert;
mod estimate;
mod explain;
mod gate;
mod init;
mod judge;
mod lint;
mod loopback;
mod prompts;
mod prune;
mod rejudge;
mod replies;
mod report;
mod running;
mod schema;
mod score;
mod server;
mod steps;
#[cfg(unix)]
mod terminal;
mod watching;
mod window;

use std::{
    path::Path,
    process::{Command, Output, Stdio},
};

/// The program, as cargo would start it in a folder.
fn program(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-rageval"));
    command.arg("rageval").args(arguments).current_dir(folder).stdin(Stdio::null());
    // Whoever builds elsewhere has runs elsewhere.
    command.env_remove("CARGO_TARGET_DIR").env_remove("RAGEVAL_RUNS");
    command
}

/// What it printed, and how it ended.
struct Ended {
    code: Option<i32>,
    out: String,
    err: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

fn run(folder: &Path, arguments: &[&str]) -> Ended {
    program(folder, arguments).output().expect("the program starts").into()
}

/// Runs it where it must succeed, and returns what it printed.
#[track_caller]
fn passes(folder: &Path, arguments: &[&str]) -> String {
    let ended = run(folder, arguments);
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{}", ended.out);
    ended.out
}

/// Runs it where it must refuse with code 2, and returns what it said.
#[track_caller]
fn refuses(folder: &Path, arguments: &[&str]) -> String {
    let ended = run(folder, arguments);
    assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{}", ended.err);
    ended.err
}

/// Runs it where it must end with this code, and returns all that it said.
#[track_caller]
fn ends(folder: &Path, arguments: &[&str], code: i32) -> String {
    let ended = run(folder, arguments);
    assert_eq!(ended.code, Some(code), "{}\n{}", ended.out, ended.err);
    ended.out + &ended.err
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("written");
}

#[test]
fn help_and_version_pass_and_a_missing_command_is_wrong_usage() {
    let folder = folder();
    assert!(passes(folder.path(), &["--help"]).contains("Usage: cargo rageval <COMMAND>"));
    assert!(passes(folder.path(), &["score", "--help"]).contains("A line of --samples:"));
    assert!(passes(folder.path(), &["baseline", "accept", "--help"]).contains("baseline accept --reason"));
    assert_eq!(passes(folder.path(), &["--version"]), concat!("cargo-rageval ", env!("CARGO_PKG_VERSION"), "\n"));
    assert!(refuses(folder.path(), &[]).contains("Usage: cargo rageval <COMMAND>"));
    assert!(refuses(folder.path(), &["scor"]).contains("score"));
}

#[test]
fn it_may_be_started_without_cargo() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_cargo-rageval")).arg("--version").output().expect("the program starts");
    assert_eq!(output.status.code(), Some(0));
}

/// What a command printed for programs.
#[track_caller]
fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
