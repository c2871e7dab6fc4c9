//! `cargo rageval watch`: what is asked after a change of a file.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command},
    sync::mpsc::{Receiver, channel},
    thread,
};

use super::{
    folder,
    running::{
        alone,
        endpoint::{Endpoint, LONG},
    },
    write,
};

const RULES: &str = "metrics:\n  recall@5: {min: 0.5, mean: {min: 0.6}}\n";

/// A watch that is under way; killed where a test ends before it.
struct Watch {
    child: Child,
    lines: Receiver<String>,
}

impl Watch {
    fn start(folder: &Path, arguments: &[&str]) -> Self {
        Self::of(alone(folder, &[&["watch"], arguments].concat()))
    }

    #[cfg(unix)]
    fn with_cargo(folder: &Path, cargo: &Path) -> Self {
        let mut command = alone(folder, &["watch"]);
        command.env("CARGO", cargo);
        Self::of(command)
    }

    fn of(mut command: Command) -> Self {
        // One pipe for both, so that lines come in the order in which they were said.
        let (reader, writer) = std::io::pipe().expect("a pipe");
        command.stdout(writer.try_clone().expect("a pipe")).stderr(writer);
        let child = command.spawn().expect("the program starts");
        drop(command);
        let (sender, lines) = channel();
        thread::spawn(move || {
            BufReader::new(reader).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Self { child, lines }
    }

    /// The lines up to one that holds this text.
    #[track_caller]
    fn says(&self, text: &str) -> String {
        let mut said = String::new();
        loop {
            let line = self.lines.recv_timeout(LONG).unwrap_or_else(|_| panic!("{text} was never said, but {said}"));
            said.push_str(&line);
            said.push('\n');
            if line.contains(text) {
                return said;
            }
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// What Ctrl-C sends.
pub(crate) fn interrupt(child: &Child) {
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is there");
    assert!(status.success());
}

const WAITS: &str = "waiting for changes";

#[test]
fn a_change_asks_what_it_touches_and_no_more() {
    let (folder, endpoint) = (folder(), Endpoint::start());
    endpoint.project(folder.path(), RULES);
    let watch = Watch::start(folder.path(), &[]);
    watch.says("3 cases: 3 passed; 4 gates: 4 passed");
    watch.says(WAITS);
    assert_eq!(endpoint.asked(), ["ask-a", "ask-b", "ask-c"]);

    endpoint.project(folder.path(), &RULES.replace("0.6", "0.7"));
    watch.says("nothing is asked");
    watch.says("3 cases: 3 passed; 4 gates: 4 passed");
    watch.says(WAITS);
    assert_eq!(endpoint.asked(), Vec::<String>::new());

    let cases = folder.path().join("cases");
    let stored = std::fs::read_to_string(cases.join("all.yaml")).expect("cases");
    write(
        &cases,
        "all.yaml",
        &stored.replace("query: ask-b, relevant_doc_ids: [d]", "query: ask-x, relevant_doc_ids: [e]"),
    );
    watch.says("1 case changed: asking b");
    watch.says("---- case::all::b ----");
    watch.says("3 cases: 2 passed, 1 failed");
    watch.says(WAITS);
    assert_eq!(endpoint.asked(), ["ask-x"]);

    let policy = std::fs::read_to_string(folder.path().join("thresholds.yaml")).expect("a policy");
    write(folder.path(), "thresholds.yaml", &policy.replace("metrics:", "metrics: ["));
    watch.says("thresholds.yaml");
    watch.says(WAITS);
    assert_eq!(endpoint.asked(), Vec::<String>::new());

    write(folder.path(), "thresholds.yaml", &policy);
    let said = watch.says(WAITS);
    assert!(said.contains("mended: nothing else changed"), "{said}");
    assert_eq!(endpoint.asked(), Vec::<String>::new());

    write(folder.path(), "thresholds.yaml", &policy.replace("recall@5", "mrr"));
    watch.says("what is measured changed: asking 3 cases");
    watch.says(WAITS);
    assert_eq!(endpoint.asked().len(), 3);
}

#[test]
fn only_the_watched_cases_are_asked() {
    let (folder, endpoint) = (folder(), Endpoint::start());
    endpoint.project(folder.path(), RULES);
    let watch = Watch::start(folder.path(), &["--case", "a"]);
    watch.says("partial: only --case a; no gate is decided");
    watch.says(WAITS);
    assert_eq!(endpoint.asked(), ["ask-a"]);
    let cases = folder.path().join("cases");
    let stored = std::fs::read_to_string(cases.join("all.yaml")).expect("cases");
    write(&cases, "all.yaml", &stored.replace("ask-b", "ask-x"));
    watch.says("a case that is not watched changed: nothing is asked");
    watch.says(WAITS);
    write(&cases, "all.yaml", &stored.replace("ask-a", "ask-y"));
    watch.says("asking a");
    watch.says(WAITS);
    assert_eq!(endpoint.asked(), ["ask-y"]);
}

#[test]
fn a_judge_that_may_cost_money_is_asked_about_everything_after_a_yes_alone() {
    let (folder, endpoint) = (folder(), Endpoint::start());
    let rest = "judge: {provider: openai, base_url: \"http://127.0.0.1:9/v1\", model: m-2026-01-01, mode: cached}\nbudget: {requests: 5}\n\
                metrics:\n  recall@5: {mean: {min: 0.6}}\n";
    endpoint.project(folder.path(), rest);
    let watch = Watch::start(folder.path(), &[]);
    watch.says("not asked: the judge may cost money");
    watch.says(WAITS);
    assert_eq!(endpoint.asked(), Vec::<String>::new());
    drop(watch);
    let watch = Watch::start(folder.path(), &["--yes"]);
    watch.says(WAITS);
    assert_eq!(endpoint.asked().len(), 3);
}

#[test]
fn a_changed_address_is_asked_about_every_case() {
    let (folder, endpoint, other) = (folder(), Endpoint::start(), Endpoint::start());
    endpoint.project(folder.path(), RULES);
    let watch = Watch::start(folder.path(), &[]);
    watch.says(WAITS);
    assert_eq!(endpoint.asked().len(), 3);
    other.project(folder.path(), RULES);
    watch.says("the system changed: asking 3 cases");
    watch.says(WAITS);
    assert_eq!((endpoint.asked().len(), other.asked().len()), (0, 3));
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_it_cleanly() {
    let (folder, endpoint) = (folder(), Endpoint::start());
    endpoint.project(folder.path(), RULES);
    let mut watch = Watch::start(folder.path(), &[]);
    watch.says(WAITS);
    interrupt(&watch.child);
    watch.says("watch ended");
    assert_eq!(watch.child.wait().expect("ended").code(), Some(0));
}

/// A cargo that writes down what it was asked to do, and does nothing.
#[cfg(unix)]
fn fake_cargo(folder: &Path) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let path = folder.join("fake-cargo");
    write(
        folder,
        "fake-cargo",
        "#!/bin/sh\n[ \"$1\" = metadata ] && exit 1\necho \"$@\" >> \"$(dirname \"$0\")/asked.log\"\n",
    );
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("made executable");
    path
}

#[cfg(unix)]
#[test]
fn a_function_is_asked_by_its_own_test() {
    let folder = folder();
    super::running::recorded(folder.path(), RULES);
    write(folder.path(), "thresholds.yaml", &format!("version: 1\n{RULES}"));
    std::fs::create_dir_all(folder.path().join("src/answers")).expect("made");
    std::fs::create_dir_all(folder.path().join("tests/snapshots")).expect("made");
    write(folder.path(), "src/answers/shop.txt", "30 days");
    let cargo = fake_cargo(folder.path());
    let watch = Watch::with_cargo(folder.path(), &cargo);
    let asked = || {
        let log = folder.path().join("asked.log");
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        std::fs::remove_file(log).ok();
        text
    };
    watch.says("cargo test --test rag_regression");
    watch.says(WAITS);
    assert_eq!(asked(), "test --quiet --test rag_regression --\n");
    let cases = folder.path().join("cases");
    let stored = std::fs::read_to_string(cases.join("all.yaml")).expect("cases");
    write(&cases, "all.yaml", &stored.replace("How long does shipping take?", "How long?"));
    watch.says("1 case changed: asking shipping");
    watch.says(WAITS);
    assert_eq!(asked(), "test --quiet --test rag_regression -- --exact case::all::shipping\n");
    write(folder.path(), "thresholds.yaml", &format!("version: 1\n{}", RULES.replace("0.6", "0.7")));
    watch.says("nothing is asked");
    // This cargo left no run behind.
    watch.says("error: no run of all cases is there to be decided");
    watch.says(WAITS);
    assert_eq!(asked(), "");
    // A snapshot is no source.
    write(folder.path(), "tests/snapshots/a.snap.new", "x");
    write(folder.path(), "src/answers/shop.txt", "14 days");
    watch.says("the source changed: asking 3 cases");
    watch.says(WAITS);
    assert_eq!(asked(), "test --quiet --test rag_regression --\n");
}
