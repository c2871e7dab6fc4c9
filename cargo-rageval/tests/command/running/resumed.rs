//! Runs that are killed, and go on with `--resume`.

use std::{
    path::{Path, PathBuf},
    process::{Child, Stdio},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use super::{
    alone,
    endpoint::{Endpoint, LONG, until},
    ends, latest,
};
use crate::{folder, loopback::Loopback, run, write};

const RULES: &str = "metrics:\n  recall@5: {min: 0.5, mean: {min: 0.6}}\n";

/// The records of the run that was begun last.
fn records(folder: &Path) -> usize {
    kept(folder, "records")
}

/// How many files of a kind the run that was begun last keeps.
fn kept(folder: &Path, kind: &str) -> usize {
    let runs = folder.join("target/rageval/runs/rageval-run");
    let folders = std::fs::read_dir(runs).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    let last: Option<PathBuf> = folders.filter(|path| path.is_dir()).max();
    let kept = last.into_iter().flat_map(|run| std::fs::read_dir(run.join(kind))).flatten();
    kept.filter_map(Result::ok).filter(|entry| entry.path().extension().is_some_and(|ending| ending == "json")).count()
}

fn start(folder: &Path, arguments: &[&str]) -> Child {
    alone(folder, arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts")
}

/// A run of three cases that is killed while the answer to `b` is waited for.
fn killed(folder: &Path, endpoint: &Endpoint) {
    endpoint.project(folder, RULES);
    endpoint.hold("ask-b");
    let mut child = start(folder, &["run"]);
    endpoint.wait_for(3);
    until("two records are kept", || records(folder) == 2);
    // SIGKILL on Unix.
    child.kill().expect("killed");
    child.wait().expect("ended");
    endpoint.release();
    assert_eq!(endpoint.asked(), ["ask-a", "ask-b", "ask-c"]);
}

#[test]
fn a_killed_run_goes_on_where_it_was() {
    let (folder, endpoint) = (folder(), Endpoint::start());
    killed(folder.path(), &endpoint);
    // Whoever looks into one case in between goes on afterwards.
    ends(folder.path(), &["run", "--case", "a"], 0);
    assert_eq!(endpoint.asked(), ["ask-a"]);
    let ended = ends(folder.path(), &["run", "--resume"], 0);
    assert_eq!(endpoint.asked(), ["ask-b"]);
    assert!(ended.out.contains("3 cases: 3 passed; 4 gates: 4 passed"), "{}", ended.out);
    let run = latest(folder.path());
    assert_eq!((run.records.len(), run.manifest.partial, run.manifest.missing.len()), (3, None, 0));
    assert_eq!(records(folder.path()), 0, "what was kept for an interruption is gone");
    let ended = ends(folder.path(), &["run", "--resume"], 2);
    assert!(ended.err.contains("the last run came to its end, so there is nothing to resume"), "{}", ended.err);
    assert_eq!(endpoint.asked(), Vec::<String>::new());
}

#[test]
fn a_record_that_cannot_be_read_is_asked_again() {
    let (folder, endpoint) = (folder(), Endpoint::start());
    killed(folder.path(), &endpoint);
    let runs = std::fs::read_dir(folder.path().join("target/rageval/runs/rageval-run")).expect("runs");
    let run = runs.map(|entry| entry.expect("an entry").path()).find(|path| path.is_dir()).expect("a run");
    let kept = std::fs::read_dir(run.join("records")).expect("records").map(|entry| entry.expect("an entry").path());
    let of_a = kept.filter(|path| std::fs::read_to_string(path).is_ok_and(|text| text.contains("\"case\":\"a\"")));
    let of_a = of_a.last().expect("the record of a");
    let text = std::fs::read_to_string(&of_a).expect("a record");
    std::fs::write(&of_a, &text[..text.len() / 2]).expect("cut");
    let ended = ends(folder.path(), &["run", "--resume"], 0);
    assert_eq!(endpoint.asked(), ["ask-a", "ask-b"]);
    assert!(
        ended.out.contains("1 record of the interrupted run can't be read: its case was asked again"),
        "{}",
        ended.out
    );
    assert!(ended.out.contains("3 cases: 3 passed; 4 gates: 4 passed"), "{}", ended.out);
}

#[test]
fn a_killed_run_is_the_latest_and_nothing_is_concluded_of_it() {
    let (folder, endpoint) = (folder(), Endpoint::start());
    killed(folder.path(), &endpoint);
    let gate = ends(folder.path(), &["gate"], 3).err;
    assert!(gate.contains("have no record"), "{gate}");
    assert!(gate.contains("the latest run did not end; to go on with it: cargo rageval run --resume"), "{gate}");
    ends(folder.path(), &["baseline", "accept"], 2);
    let told: serde_json::Value =
        serde_json::from_str(&run(folder.path(), &["report", "--format", "json"]).out).expect("JSON");
    assert_eq!(told["conclusion"], "undecided");
}

/// Files of more than 4 KiB, or 8 with some shells, can't be written, as if the disk were full.
#[cfg(unix)]
fn with_small_files(folder: &Path, arguments: &[&str]) -> crate::Ended {
    let plain = alone(folder, arguments);
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\""]).arg(plain.get_program());
    limited.args(plain.get_args()).current_dir(folder);
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    limited.output().expect("sh starts").into()
}

#[cfg(unix)]
#[test]
fn a_run_that_cannot_be_written_is_decided_and_goes_on_later() {
    let (folder, endpoint) = (folder(), Endpoint::start());
    endpoint.project(folder.path(), RULES);
    let case = |n: usize| format!("- {{id: case-{n}, query: ask-{n}, relevant_doc_ids: [other]}}\n");
    write(&folder.path().join("cases"), "all.yaml", &(0..40).map(case).collect::<String>());
    let ended = with_small_files(folder.path(), &["run"]);
    assert_eq!(ended.code, Some(2), "{}\n{}", ended.out, ended.err);
    assert!(ended.out.contains("failed      "), "what was decided is told: {}\n{}", ended.out, ended.err);
    assert!(ended.out.contains("40 cases: 40 failed"), "{}", ended.out);
    assert!(ended.out.contains("run         not written"), "{}", ended.out);
    assert!(ended.err.contains("run.json"), "{}", ended.err);
    assert!(ended.err.contains("make room, then `cargo rageval run --resume`"), "{}", ended.err);
    assert_eq!(endpoint.asked().len(), 40);
    let gate = ends(folder.path(), &["gate"], 1);
    assert!(gate.out.contains("40 cases: 40 failed"), "the records are there: {}\n{}", gate.out, gate.err);
    ends(folder.path(), &["run", "--resume"], 1);
    assert_eq!(endpoint.asked(), Vec::<String>::new());
    assert_eq!(latest(folder.path()).records.len(), 40);
}

#[test]
fn what_an_interrupted_run_spent_counts() {
    let (folder, endpoint) = (folder(), Endpoint::start());
    let judge = Loopback::start(["ask-a takes 30 days.", "ask-b takes 30 days.", "ask-c takes 30 days."]);
    let rules = |requests: usize| {
        format!(
            "judge: {}\nbudget: {{requests: {requests}}}\nmetrics:\n  faithfulness: {{mean: {{min: 0.6}}}}\n\
             snapshots: {{fail_on: never}}\nwaive: {{calibration: {{reason: a test, until: 9999-01-01}}}}\n",
            judge.judge("m-2026-01-01")
        )
    };
    endpoint.project(folder.path(), &rules(3));
    endpoint.hold("ask-b");
    let mut child = start(folder.path(), &["run"]);
    until("two records are kept", || records(folder.path()) == 2);
    child.kill().expect("killed");
    child.wait().expect("ended");
    endpoint.release();
    assert_eq!(judge.asked().0, 2);
    let ended = ends(folder.path(), &["run", "--resume"], 0);
    assert_eq!(judge.asked().0, 1);
    assert!(ended.out.contains("spent: 3 requests"), "{}", ended.out);
    assert_eq!(latest(folder.path()).manifest.spent.map(|spent| spent.requests), Some(3));
}

#[test]
fn readings_that_were_had_before_the_interruption_are_not_asked_for_again() {
    let (folder, endpoint) = (folder(), Endpoint::start());
    let statements = ["ask-a takes 30 days.", "ask-b takes 30 days.", "ask-c takes 30 days."];
    let judge = Loopback::start(statements);
    let rules = format!(
        "judge: {}\nmetrics:\n  faithfulness: {{min: 0.8}}\nbudget: {{requests: 100}}\nsnapshots: {{fail_on: never}}\n\
         waive: {{calibration: {{reason: a test, until: 9999-01-01}}}}\n",
        judge.judge("m-2026-01-01").replace("timeout: 20s", "timeout: 60s, mode: live")
    );
    endpoint.project(folder.path(), &rules);
    // `c` is supported; of `b` no further reading comes until it may.
    let gate = Arc::new((Mutex::new(false), Condvar::new()));
    let of_judge = Arc::clone(&gate);
    let waits = Arc::new(AtomicBool::new(false));
    let tells = Arc::clone(&waits);
    judge.thinks(move |statement, times| {
        if statement.starts_with("ask-b") && times > 0 {
            tells.store(true, Ordering::SeqCst);
            let (is_open, changed) = &*of_judge;
            let is_open = is_open.lock().expect("no panic");
            drop(changed.wait_timeout_while(is_open, LONG, |is_open| !*is_open).expect("no panic"));
        }
        Some(if statement.starts_with("ask-c") { "supported" } else { "unsupported" })
    });
    let mut child = start(folder.path(), &["run"]);
    let is_between = || waits.load(Ordering::SeqCst) && kept(folder.path(), "readings") == 1;
    until("the readings of one suspect are kept, and one of the other is waited for", is_between);
    child.kill().expect("killed");
    child.wait().expect("ended");
    *gate.0.lock().expect("no panic") = true;
    gate.1.notify_all();
    // Three first readings, one that is waited for, and those of `a`.
    let of_a = judge.asked().0 - 4;
    ends(folder.path(), &["run", "--resume"], 1);
    assert_eq!(judge.asked(), (of_a, vec!["faithfulness-confirm".to_owned()]), "those of `b`, which takes as many");
    let run = latest(folder.path());
    let readings: Vec<usize> =
        run.records.iter().map(|record| record.readings.values().map(|read| read.now.len()).sum()).collect();
    assert_eq!(readings, [of_a, of_a, 0]);
    assert_eq!(kept(folder.path(), "readings"), 0, "what was kept for an interruption is gone");
}

#[test]
fn a_run_does_not_go_on_over_other_files() {
    let (folder, endpoint) = (folder(), Endpoint::start());
    killed(folder.path(), &endpoint);
    let refused = |what: &str| {
        let ended = ends(folder.path(), &["run", "--resume"], 2);
        let text = format!("cannot be resumed, for since then these changed: {what}\n`cargo rageval run` starts anew");
        assert!(ended.err.contains(&text), "{}", ended.err);
        assert_eq!(endpoint.asked(), Vec::<String>::new());
    };
    let cases = folder.path().join("cases");
    let stored = std::fs::read_to_string(cases.join("all.yaml")).expect("cases");
    write(&cases, "all.yaml", &stored.replace("query: ask-a", "query: ask-x"));
    refused("the golden cases");
    write(&cases, "all.yaml", &stored);
    endpoint.project(folder.path(), &RULES.replace("0.6", "0.7"));
    refused("thresholds.yaml");
    endpoint.project(folder.path(), RULES);
    let ended = ends(folder.path(), &["run", "--resume", "--case", "a"], 2);
    assert!(ended.err.contains("which cases (only --case a; no gate is decided, then all cases)"), "{}", ended.err);
    ends(folder.path(), &["run", "--resume"], 0);
    assert_eq!(endpoint.asked(), ["ask-b"]);
}

#[test]
fn a_run_that_goes_on_is_not_taken_up_by_another() {
    let (folder, endpoint) = (folder(), Endpoint::start());
    endpoint.project(folder.path(), RULES);
    endpoint.hold("ask-b");
    let mut child = start(folder.path(), &["run"]);
    endpoint.wait_for(3);
    let ended = ends(folder.path(), &["run", "--resume"], 2);
    assert!(ended.err.contains("this run is still going on in another process"), "{}", ended.err);
    endpoint.release();
    assert_eq!(child.wait().expect("ended").code(), Some(0));
}

#[cfg(unix)]
#[test]
fn ctrl_c_says_how_to_go_on() {
    let (folder, endpoint) = (folder(), Endpoint::start());
    endpoint.project(folder.path(), RULES);
    endpoint.hold("ask-b");
    let flags = ["--slice", "should_refuse=false"];
    let child = start(folder.path(), &[&["run"], &flags[..]].concat());
    endpoint.wait_for(3);
    until("two records are kept", || records(folder.path()) == 2);
    super::super::watching::interrupt(&child);
    let output = child.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(130));
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(
        said.contains(
            "interrupted: 2 of 3 cases are done; go on with: cargo rageval run --resume --slice should_refuse=false\n"
        ),
        "{said}"
    );
    endpoint.release();
    endpoint.asked();
    ends(folder.path(), &[&["run", "--resume"], &flags[..]].concat(), 0);
    assert_eq!(endpoint.asked(), ["ask-b"]);
}
