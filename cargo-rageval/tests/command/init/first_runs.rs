//! The first run of systems that need no code: it passes at once, or says what keeps it from being decided.

use std::net::TcpListener;

use super::{files, folder, init, passes, put, read, tree};
use crate::server;

/// Snapshots that stand beside the policy.
fn snapshots(folder: &std::path::Path) -> usize {
    tree(folder).keys().filter(|name| name.ends_with(".snap")).count()
}

#[test]
fn recorded_answers_pass_at_once_and_are_red_when_one_is_wrong() {
    let folder = folder();
    let path = folder.path();
    let said = init(path, &["--samples", "answers.jsonl"], 0);
    for words in
        ["6 cases: 6 passed", "waived      calibration until 20", "first use", "The first run passed.", "6 snapshots"]
    {
        assert!(said.contains(words), "{words}\n{said}");
    }
    assert_eq!(snapshots(path), 6);
    let before = tree(&path.join("cases"));
    let said = init(path, &[], 0);
    assert!(
        said.contains("Nothing was written") && said.contains("Nothing was run: there are snapshots already."),
        "{said}"
    );
    assert!(tree(&path.join("cases")) == before && snapshots(path) == 6);

    let right = read(path, "answers.jsonl");
    put(path, "answers.jsonl", &right.replacen("costs 20 cents a day.", "costs 7 euros a day.", 1));
    let said = run(path, 1);
    assert!(said.contains("late-fee") && said.contains("7 euros"), "{said}");
    put(path, "answers.jsonl", &right);
    run(path, 0);
}

#[track_caller]
fn run(folder: &std::path::Path, code: i32) -> String {
    let mut command = super::program(folder, &["run"]);
    command.env_remove("CI").env_remove("RAGEVAL_RUNS");
    let ended: super::Ended = command.output().expect("it starts").into();
    assert_eq!(ended.code, Some(code), "{}\n{}", ended.out, ended.err);
    ended.out + &ended.err
}

#[test]
fn answers_of_ones_own_pass_at_once_too() {
    let folder = folder();
    let path = folder.path();
    let line = |id: &str, answer: &str| {
        format!(
            "{{\"id\": \"{id}\", \"query\": \"What of {id}?\", \"response\": \"{answer}\", \"retrieved_contexts\": [\"It is red.\"]}}\n"
        )
    };
    // Unfaithful, refused, and good: nothing is red before somebody looked at the bars.
    put(
        path,
        "a.jsonl",
        &[line("a", "It costs 90 euros."), line("b", "Sorry, I can't help with that."), line("c", "It is red.")]
            .concat(),
    );
    let said = init(path, &["--samples", "a.jsonl"], 0);
    assert!(said.contains("3 cases: 3 passed") && said.contains("The first run passed."), "{said}");
}

#[cfg(unix)]
#[test]
fn a_program_that_answers_passes_at_once_and_one_that_is_missing_is_undecided() {
    use std::{fs, os::unix::fs::PermissionsExt as _};
    let folder = folder();
    let path = folder.path();
    let said = init(path, &["--command", "./rag.sh"], 3);
    assert!(said.contains("The first run could not be decided: why stands above."), "{said}");
    assert_eq!(snapshots(path), 0);
    let script = "#!/bin/sh\nwhile read -r line; do\n  id=${line#*\\\"id\\\":\\\"}; id=${id%%\\\"*}\n  \
                  printf '{\"id\": \"%s\", \"response\": \"The fee is 12 euros.\", \"retrieved_contexts\": [{\"id\": \"fees\", \"text\": \"The fee is 12 euros.\"}]}\\n' \"$id\"\ndone\n";
    put(path, "rag.sh", script);
    fs::set_permissions(path.join("rag.sh"), fs::Permissions::from_mode(0o755)).expect("made a program");
    let said = init(path, &[], 0);
    assert!(said.contains("The first run passed."), "{said}");
    assert_eq!(snapshots(path), 6);
}

#[test]
fn a_server_that_is_away_is_told_and_the_first_run_is_made_once_it_is_there() {
    let folder = folder();
    let path = folder.path();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let url = format!("http://{address}/ask");
    // A port that is taken and never answered would hang: this one is closed for now.
    drop(listener);
    let said = init(path, &["--url", &url], 3);
    assert!(said.contains("The first run could not be decided: why stands above. Start the system"), "{said}");
    assert!(said.contains("system error") && snapshots(path) == 0, "{said}");
    passes(path, &["cases", "stats"]);

    let answer = r#"{"answer": "The fee is 12 euros.", "sources": [{"id": "fees", "text": "The fee is 12 euros."}]}"#;
    let now = format!("http://{}/ask", server::start(|_| (200, answer.to_owned())));
    put(path, "thresholds.yaml", &read(path, "thresholds.yaml").replace(&url, &now));
    let said = init(path, &["--system", "http"], 0);
    assert!(said.contains("The first run passed.") && snapshots(path) == 6, "{said}");
    // Its bars tell that it answers none of the examples.
    assert!(said.contains("refusal_correctness"), "{said}");
}

#[test]
fn the_files_alone_are_written_where_nothing_is_to_be_run() {
    let folder = folder();
    let said = files(folder.path(), &["--samples", "answers.jsonl"]);
    assert!(said.contains("Nothing was run (--no-run).") && snapshots(folder.path()) == 0, "{said}");
}
