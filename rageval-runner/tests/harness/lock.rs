//! A golden set that is locked changes with a new version or is red; one that is not is a notice.

use std::fs;

use rageval_runner::{
    load,
    metric::METRICS,
    model::run::Ruling,
    store::lock::{self, LockFiles},
    trust::lock::Lock,
};

use crate::fixture::{FINE, Project, RECALL};

crate::tests![
    a_set_without_a_lock_is_one_notice,
    a_locked_set_passes_and_asks_nothing,
    changed_cases_are_red_under_any_filter,
    a_lock_that_cannot_be_read_is_undecided,
    one_case_alone_does_not_read_the_lock,
    a_stated_version_must_be_the_locked_one,
    a_process_of_its_own_decides_it,
    a_shard_decides_it_too,
    a_set_of_one_file_is_locked_beside_it,
];

const TRIAL: &str = "gate::set::lock";

/// Locks the cases of a project as they stand.
fn lock_cases(project: &Project) -> LockFiles {
    let policy = load::policy(&project.path("thresholds.yaml"), METRICS).expect("a policy");
    let set = load::cases(&policy, METRICS).expect("cases");
    let files = LockFiles::of(&policy.cases);
    lock::write(&files, &Lock::of(&set, "1.0.0"), "# Changes\n").expect("written");
    files
}

fn locked() -> Project {
    let project = Project::new(RECALL, FINE);
    lock_cases(&project);
    project
}

fn a_set_without_a_lock_is_one_notice() {
    let project = Project::new(RECALL, FINE);
    let ran = project.run(&[]);
    ran.ends_with(0).says("cases are not locked: cargo rageval cases lock --message WHY makes cases/golden.lock\n");
    let told = ran.stderr.lines().chain(ran.stdout.lines()).filter(|line| line.contains("golden.lock")).count();
    assert_eq!(told, 1, "{}", ran.stderr);
    project.run(&["--list"]).ends_with(0).does_not_say(TRIAL);
}

fn a_locked_set_passes_and_asks_nothing() {
    let project = locked();
    project.run(&["--list"]).ends_with(0).says("gate::set::lock: test");
    assert_eq!(project.files("runs"), Vec::<String>::new());
    project.run(&["--exact", TRIAL]).ends_with(0).says("1 passed").does_not_say("golden.lock");
    assert_eq!(project.asked(), Vec::<String>::new());
    project.run(&[]).ends_with(0).says("test gate::set::lock ").does_not_say("golden.lock");
}

fn changed_cases_are_red_under_any_filter() {
    let project = locked();
    project.write("cases/all.yaml", &FINE.replace("the fee?", "the price?"));
    project.write("cases/more.yaml", &FINE.replace("fine", "fresh"));
    for arguments in [&[][..], &["gate::set"], &["--exact", TRIAL], &["--skip", "case::"]] {
        let ran = project.run(arguments);
        assert_eq!(ran.ends_with(101).failed(), [TRIAL]);
        ran.says("1 changed, 1 new since version 1.0.0 of cases/golden.lock, without a new version")
            .says("changed     fine (query) cases/all.yaml:2")
            .says("new         fresh cases/more.yaml:2")
            .says("accept      cargo rageval cases lock --bump patch|minor|major --message WHY");
    }
    project.run(&["case::"]).ends_with(0);
    let run = {
        project.run(&[]).ends_with(101).says("red gates   gate::set::lock");
        project.latest_run()
    };
    let decision = run.decisions.iter().find(|decision| decision.trial == TRIAL).expect("decided");
    assert_eq!(decision.ruling, Ruling::Fail);
}

fn a_lock_that_cannot_be_read_is_undecided() {
    let project = locked();
    let path = project.path("cases/golden.lock");
    let text = fs::read_to_string(&path).expect("read");
    let newer = text.replacen("\"version\":1", "\"version\":2", 1);
    let cut = text.lines().next().expect("a line");
    for (text, why) in [(newer.as_str(), "newer rageval"), (cut, "holds 0 cases"), ("", "not a readable lock")] {
        project.write("cases/golden.lock", text);
        assert_eq!(project.run(&[]).ends_with(101).says(why).says("undecided   ").failed(), [TRIAL]);
    }
    fs::remove_file(&path).expect("removed");
    fs::create_dir(&path).expect("made");
    assert_eq!(project.run(&[]).ends_with(101).says("golden.lock").failed(), [TRIAL]);
}

fn one_case_alone_does_not_read_the_lock() {
    let project = locked();
    project.write("cases/golden.lock", "damaged");
    project.run(&["--exact", "case::all::fine"]).ends_with(0).does_not_say("golden.lock");
}

fn a_stated_version_must_be_the_locked_one() {
    let stating = |version: &str| format!("golden_set: fees\nversion: \"{version}\"\ncases:{FINE}");
    let project = Project::new(RECALL, &stating("1.0.0"));
    lock_cases(&project);
    project.run(&[]).ends_with(0);
    project.write("cases/all.yaml", &stating("1.1.0"));
    let ran = project.run(&[]);
    assert_eq!(ran.ends_with(101).failed(), [TRIAL]);
    ran.says("version 1.1.0 is stated at cases/all.yaml:2, and cases/golden.lock holds 1.0.0");
}

fn a_process_of_its_own_decides_it() {
    let project = locked();
    let nextest = [("NEXTEST", "1"), ("NEXTEST_RUN_ID", "r1")];
    project.run_with(&["--exact", TRIAL, "--nocapture"], &nextest).ends_with(0);
    project.write("cases/all.yaml", &FINE.replace("id: fine", "id: other"));
    let ran = project.run_with(&["--exact", TRIAL, "--nocapture"], &nextest);
    ran.ends_with(101).says("Error: 1 new, 1 gone since version 1.0.0 of cases/golden.lock");
    // One that was listed and is gone is red: the name must not be lost silently.
    fs::remove_file(project.path("cases/golden.lock")).expect("removed");
    project.run_with(&["--exact", TRIAL, "--nocapture"], &nextest).ends_with(101).says("no trial is called");
    assert_eq!(project.asked(), Vec::<String>::new());
}

fn a_shard_decides_it_too() {
    let project = locked();
    project.write("cases/all.yaml", &FINE.replace("the fee?", "the price?"));
    let ran = project.run_with(&[], &[("RAGEVAL_SHARD", "1/2")]);
    assert_eq!(ran.ends_with(101).failed(), [TRIAL]);
}

fn a_set_of_one_file_is_locked_beside_it() {
    let project = Project::new(&RECALL.replace("cases: cases", "cases: cases/all.yaml"), FINE);
    project.run(&[]).ends_with(0).says("makes cases/all.yaml.lock");
    let files = lock_cases(&project);
    assert_eq!(files.lock, project.path("cases/all.yaml.lock"));
    project.run(&[]).ends_with(0).says("test gate::set::lock ");
    project.write("cases/all.yaml", &FINE.replace("the fee?", "the price?"));
    assert_eq!(project.run(&[]).ends_with(101).failed(), [TRIAL]);
}
