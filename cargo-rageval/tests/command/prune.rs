//! `cargo rageval prune`.

use std::{
    fs,
    path::Path,
    time::{Duration, SystemTime},
};

use super::{folder, passes, refuses, write};

/// Makes something look as old as this.
fn age(path: &Path, hours: u64) {
    let then = SystemTime::now() - Duration::from_secs(3600 * hours);
    fs::File::open(path).and_then(|file| file.set_modified(then)).expect("dated");
}

/// A project with five runs of one target, `run-1` the newest.
fn project() -> tempfile::TempDir {
    let folder = folder();
    let runs = folder.path().join("target/rageval/runs/demo.rag");
    for n in 1..=5 {
        let run = runs.join(format!("run-{n}"));
        fs::create_dir_all(&run).expect("made");
        write(&run, "run.json", &"x".repeat(1024));
        age(&run, n);
    }
    write(&runs, "latest", "run-4");
    write(runs.parent().expect("runs"), "latest", "demo.rag/run-4");
    folder
}

fn left(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder.join("target/rageval/runs/demo.rag")).expect("read");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn the_newest_runs_and_the_latest_stay() {
    let project = project();
    let folder = project.path();
    let all = left(folder);
    let told = passes(folder, &["prune", "--runs", "2", "--dry-run"]);
    assert!(told.contains("2 runs would be removed (2.0 KiB), 3 stay"), "{told}");
    assert!(told.contains("would be removed: run-5 (1.0 KiB)\n  would be removed: run-3 (1.0 KiB)"), "{told}");
    assert_eq!(left(folder), all, "a dry run removes nothing");
    let told = passes(folder, &["prune", "--runs", "2"]);
    assert!(told.contains("2 runs removed (2.0 KiB), 3 stay"), "{told}");
    assert_eq!(left(folder), ["latest", "run-1", "run-2", "run-4"]);
    assert!(passes(folder, &["prune", "--runs", "0"]).contains("1 stays"));
    assert_eq!(left(folder), ["latest", "run-4"], "what `latest` names stays whatever its age");
    assert!(passes(folder, &["prune"]).contains("0 runs removed"));
}

#[test]
fn without_a_latest_that_can_be_followed_no_run_goes() {
    for file in ["latest", "demo.rag/latest"] {
        for named in ["", "../demo.rag/run-4", "/", "run-9", "demo.rag/run-9", ".", "\0"] {
            let project = project();
            let all = left(project.path());
            write(&project.path().join("target/rageval/runs"), file, named);
            let told = refuses(project.path(), &["prune", "--runs", "0"]);
            assert!(told.contains("latest") && told.contains("no run was removed"), "{file} {named:?}: {told}");
            assert_eq!(left(project.path()), all, "{file} {named:?}");
        }
    }
    let project = project();
    let latest = project.path().join("target/rageval/runs/latest");
    fs::write(&latest, b"\xff\xfe").expect("written");
    assert!(refuses(project.path(), &["prune", "--runs", "0"]).contains("it can't be read"));
    fs::remove_file(&latest).expect("removed");
    fs::create_dir(&latest).expect("made");
    assert!(refuses(project.path(), &["prune", "--runs", "0"]).contains("no plain file"));
    assert_eq!(left(project.path()).len(), 6);
}

#[cfg(unix)]
#[test]
fn a_linked_folder_of_runs_is_not_followed() {
    for name in ["target/rageval", "target/rageval/runs"] {
        let (project, elsewhere) = (project(), folder());
        let (inside, outside) = (project.path().join(name), elsewhere.path().join("moved"));
        fs::rename(&inside, &outside).expect("moved");
        std::os::unix::fs::symlink(&outside, &inside).expect("linked");
        let all = left(project.path());
        let told = refuses(project.path(), &["prune", "--runs", "0"]);
        assert!(told.contains("symbolic link, which is not followed, and nothing was removed"), "{told}");
        assert_eq!(left(project.path()), all);
    }
}

#[test]
fn what_has_not_the_form_of_a_run_is_left_alone() {
    let project = project();
    let runs = project.path().join("target/rageval/runs/demo.rag");
    fs::create_dir_all(runs.join("notes")).expect("made");
    write(&runs.join("notes"), "mine.txt", "mine");
    age(&runs.join("notes"), 1000);
    fs::create_dir_all(project.path().join("target/rageval/runs/other/deep")).expect("made");
    passes(project.path(), &["prune", "--runs", "0"]);
    assert_eq!(left(project.path()), ["latest", "notes", "run-4"]);
    assert!(project.path().join("target/rageval/runs/other/deep").is_dir());
}

#[cfg(unix)]
#[test]
fn links_are_neither_followed_nor_removed() {
    use std::os::unix::fs::symlink;
    let (project, elsewhere) = (project(), folder());
    fs::create_dir_all(elsewhere.path().join("run-9")).expect("made");
    write(&elsewhere.path().join("run-9"), "run.json", "mine");
    let runs = project.path().join("target/rageval/runs");
    symlink(elsewhere.path(), runs.join("linked.target")).expect("linked");
    symlink(elsewhere.path().join("run-9"), runs.join("demo.rag/run-0")).expect("linked");
    symlink(elsewhere.path().join("run-9"), runs.join("demo.rag/run-5/inside")).expect("linked");
    passes(project.path(), &["prune", "--runs", "0"]);
    assert_eq!(left(project.path()), ["latest", "run-0", "run-4"]);
    assert!(runs.join("linked.target").is_symlink());
    assert!(elsewhere.path().join("run-9/run.json").is_file(), "behind a link nothing is touched");
}

#[test]
fn locks_of_ended_runs_and_files_of_dead_writers_go() {
    let folder = folder();
    let run = folder.path().join("target/rageval/runs/demo.rag/nextest-1");
    for name in [
        "records/a.json",
        "records/.tmpOld",
        "records/.tmpNew",
        "locks/a.lock",
        "slots/budget",
        "slots/judge/1",
        "claims/judge/k.lock",
        "manifest.json",
    ] {
        let path = run.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(&path, "12").expect("written");
    }
    age(&run.join("records/.tmpOld"), 2);
    // A run of many processes may be going on for a day.
    let told = passes(folder.path(), &["prune"]);
    assert!(told.contains("1 stale lock or temporary file (2 bytes)"), "{told}");
    assert!(run.join("locks/a.lock").is_file() && run.join("records/.tmpNew").is_file());
    age(&run, 25);
    let told = passes(folder.path(), &["prune"]);
    assert!(told.contains("removed: 3 stale locks and temporary files (6 bytes)"), "{told}");
    assert!(!run.join("locks/a.lock").exists() && !run.join("claims/judge").exists());
    assert!(run.join("slots/budget").is_file(), "what the run spent is read from it");
    assert!(run.join("records/a.json").is_file());
}

#[test]
fn without_runs_there_is_nothing_to_do_and_without_a_policy_no_replies_to_prune() {
    let folder = folder();
    assert!(passes(folder.path(), &["prune"]).contains("no runs there"));
    let project = project();
    let told = refuses(project.path(), &["prune", "--runs", "0", "--replies"]);
    assert!(told.contains("no thresholds.yaml"), "{told}");
    assert_eq!(left(project.path()).len(), 6, "what refuses, refuses before anything is removed");
}
