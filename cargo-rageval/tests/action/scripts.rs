//! Each script of the action alone.

use std::process::Command;

use crate::github::{Runner, leave_run};

fn mode(judge_mode: &str, environment: &[(&str, &str)]) -> (i32, Option<String>, Option<String>, String) {
    let mut all = vec![("JUDGE_MODE", judge_mode)];
    all.extend(environment);
    let step = Runner::new().script("mode.sh", &all);
    let output = |name| step.output(name).map(str::to_owned);
    (step.code, output("judge-mode"), output("without-key"), step.out)
}

#[test]
fn without_its_key_a_judge_is_replayed_and_it_says_so() {
    for key in [&[("JUDGE_KEY_ENV", "ACME_KEY"), ("ACME_KEY", "")][..], &[("JUDGE_KEY_ENV", "ACME_KEY")]] {
        let (code, mode, without_key, out) = mode("auto", key);
        assert_eq!((code, mode.as_deref(), without_key.as_deref()), (0, Some("replay"), Some("true")), "{out}");
        assert!(out.contains("::notice title=rageval::no key in ACME_KEY: stored replies only"), "{out}");
    }
}

#[test]
fn with_its_key_or_without_need_of_one_the_policy_says_how_replies_are_used() {
    for key in [&[("JUDGE_KEY_ENV", "ACME_KEY"), ("ACME_KEY", "k")][..], &[("JUDGE_KEY_ENV", "")], &[]] {
        let (code, mode, without_key, out) = mode("auto", key);
        assert_eq!((code, mode.as_deref(), without_key.as_deref(), out.as_str()), (0, Some(""), Some("false"), ""));
    }
}

#[test]
fn a_mode_that_is_said_is_taken_and_an_unknown_one_is_refused() {
    assert_eq!(mode("live", &[]).1.as_deref(), Some("live"));
    let (code, _, _, out) = mode("livee", &[]);
    assert_eq!(code, 2);
    assert!(out.contains("::error title=rageval::judge-mode is not one of auto, live, cached, replay"), "{out}");
}

#[test]
fn the_gate_step_passes_and_keeps_the_exit_code() {
    for (command, expected) in [("exit 101", "101"), ("true", "0"), ("kill -9 $$", "137"), ("no-such-program", "127")] {
        let step = Runner::new().script("gate.sh", &[("COMMAND", command)]);
        assert_eq!((step.code, step.output("exit-code")), (0, Some(expected)), "{}", step.out);
    }
}

#[test]
fn what_the_gate_prints_is_no_command_and_it_sees_no_file_of_commands() {
    let planted = "printf '::add-mask::ok\\n::set-output name=exit-code::0'; test -z \"$GITHUB_OUTPUT$GITHUB_ENV$GITHUB_STEP_SUMMARY\"";
    let step = Runner::new().script("gate.sh", &[("COMMAND", planted)]);
    assert_eq!(step.output("exit-code"), Some("0"), "{}", step.out);
    let (start, rest) = step.out.split_once('\n').expect("lines");
    let token = start.strip_prefix("::stop-commands::").expect("commands are stopped first");
    assert!(token.len() == 64 && token.chars().all(|c| c.is_ascii_hexdigit()), "{token}");
    let end = format!("\n::{token}::\n");
    assert_eq!(rest.find(&end), Some(rest.len() - end.len()), "they start again last of all: {rest}");
    let other = Runner::new().script("gate.sh", &[("COMMAND", "true")]);
    assert!(!other.out.contains(token), "a token is used once");
}

#[test]
fn an_empty_mode_is_none_and_runs_of_before_are_gone() {
    let runner = Runner::new();
    std::fs::create_dir_all(runner.path("temp/rageval/runs")).expect("a folder");
    std::fs::write(runner.path("temp/rageval/runs/latest"), "old").expect("written");
    let command = "test -z \"${RAGEVAL_JUDGE_MODE+set}\" && test ! -e \"$RAGEVAL_RUNS/latest\"";
    let step = runner.script("gate.sh", &[("COMMAND", command), ("RAGEVAL_JUDGE_MODE", "")]);
    assert_eq!(step.output("exit-code"), Some("0"), "{}", step.out);
}

fn report(runner: &Runner, exit_code: &str, without_key: &str) -> crate::github::Step {
    let runs = runner.path("runs").display().to_string();
    let environment = [
        ("EXIT_CODE", exit_code),
        ("RUNS", &runs),
        ("WITHOUT_KEY", without_key),
        ("NAME", "help"),
        ("ARTIFACT", "help-run"),
        ("BASE_BASELINE", ""),
    ];
    runner.script("report.sh", &environment)
}

#[test]
fn every_report_is_written_and_the_comment_bears_its_mark() {
    let runner = Runner::new();
    leave_run(&runner.path("runs"));
    let step = report(&runner, "101", "false");
    assert_eq!(step.code, 0, "{}", step.out);
    let comment = std::fs::read_to_string(step.output("comment").expect("a comment")).expect("readable");
    assert!(comment.starts_with("### ❌ failed: "), "what it came to comes first: {comment}");
    assert!(comment.ends_with("\n<!-- rageval-action:help -->\n"), "{comment}");
    assert!(comment.contains("refusal_correctness"), "{comment}");
    let fetch = "gh run download 77 --repo acme/help --name help-run --dir help-run";
    for text in [&comment, &runner.read("summary.md")] {
        let read = "`help-run/report.html`, or `cargo rageval report help-run/runs/latest --format text`";
        assert!(text.contains(&format!("`{fetch}` fetches it; then open {read}.")), "{text}");
    }
    assert!(runner.read("summary.md").contains("failed"), "{}", runner.read("summary.md"));
    assert!(step.out.contains("::error file=cases/a.yaml,line=3"), "{}", step.out);
    let folder = std::path::Path::new(step.output("folder").expect("a folder"));
    for file in ["report.html", "junit.xml", "report.json", "scores.csv", "runs/latest"] {
        assert!(folder.join(file).is_file(), "{file}: {}", step.out);
    }
    assert!(!comment.contains("maintainer"), "{comment}");
}

#[test]
fn a_red_run_without_key_asks_for_a_maintainer_and_a_green_one_does_not() {
    for (exit_code, asks) in [("101", true), ("0", false)] {
        let runner = Runner::new();
        leave_run(&runner.path("runs"));
        let step = report(&runner, exit_code, "true");
        let comment = std::fs::read_to_string(step.output("comment").expect("a comment")).expect("readable");
        assert_eq!(comment.contains("Needs a maintainer's run"), asks, "{comment}");
        assert!(comment.starts_with("### ❌ failed: "), "{comment}");
        assert_eq!(runner.read("summary.md").contains("Needs a maintainer's run"), asks);
    }
}

#[test]
fn a_gate_that_left_no_run_is_told_as_undecided() {
    let runner = Runner::new();
    std::fs::create_dir(runner.path("runs")).expect("a folder");
    let step = report(&runner, "101", "false");
    assert_eq!(step.code, 0, "{}", step.out);
    let comment = std::fs::read_to_string(step.output("comment").expect("a comment")).expect("readable");
    assert!(comment.contains("undecided: the gate left no run** (exit code 101)"), "{comment}");
    assert_eq!(runner.read("summary.md"), comment);
}

#[test]
fn a_report_that_cannot_be_written_is_a_warning() {
    let runner = Runner::new();
    std::fs::create_dir(runner.path("runs")).expect("a folder");
    std::fs::write(runner.path("runs/latest"), "gone/1").expect("written");
    let step = report(&runner, "101", "false");
    assert_eq!(step.code, 0, "{}", step.out);
    assert!(step.out.contains("::warning title=rageval::the report report.html could not be written"), "{}", step.out);
    let comment = std::fs::read_to_string(step.output("comment").expect("a comment")).expect("readable");
    assert!(comment.contains("ended with exit code 101, and its report could not be written"), "{comment}");
}

const COMMENT: [(&str, &str); 3] = [("NAME", "help"), ("NUMBER", "12"), ("COMMENT", "comment.md")];

#[test]
fn the_first_comment_is_written_and_a_later_one_updates_it() {
    let runner = Runner::new();
    runner.gh("exit 0");
    assert_eq!(runner.script("comment.sh", &COMMENT).code, 0);
    let asked = runner.asked();
    let last = asked.lines().last().expect("asked");
    assert_eq!(last, "api --silent --method POST repos/acme/help/issues/12/comments --field body=@comment.md");

    runner.gh("[[ $* == *PATCH* ]] || echo 4711");
    assert_eq!(runner.script("comment.sh", &COMMENT).code, 0);
    let asked = runner.asked();
    let last = asked.lines().last().expect("asked");
    assert_eq!(last, "api --silent --method PATCH repos/acme/help/issues/comments/4711 --field body=@comment.md");
}

#[test]
fn only_a_bots_own_comment_is_looked_for() {
    let runner = Runner::new();
    // What the filter makes of comments is jq's work; here it is enough that it asks for both.
    runner.gh("exit 0");
    runner.script("comment.sh", &COMMENT);
    let asked = runner.asked();
    assert!(asked.contains(".user.type == \"Bot\"") && asked.contains("contains(env.MARKER)"), "{asked}");
}

#[test]
fn a_comment_that_cannot_be_written_is_a_warning() {
    let step = Runner::new().script("comment.sh", &COMMENT);
    assert_eq!(step.code, 0);
    assert!(step.out.contains("::warning title=rageval::the comment could not be written"), "{}", step.out);
}

/// A checkout of two commits; returns the id of the first, the base.
fn checkout(runner: &Runner, folder: &str) -> String {
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"];
        let output = Command::new("git").args(identity).args(arguments).current_dir(runner.path("work")).output();
        let output = output.expect("git starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
    };
    git(&["init", "--quiet"]);
    runner.write(&format!("{folder}baselines/main.json"), "the base branch's");
    runner.write(&format!("{folder}baselines/main.samples.jsonl"), "its texts");
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "base"]);
    let base = git(&["rev-parse", "HEAD"]);
    runner.write(&format!("{folder}baselines/main.json"), "the pull request's");
    git(&["commit", "--quiet", "-am", "head"]);
    base
}

const BASELINE: [(&str, &str); 4] =
    [("BASELINE_FILE", "baselines/main.json"), ("ARTIFACT", "help-baseline"), ("BASE_REF", "main"), ("GH_TOKEN", "t")];

#[test]
fn the_base_branchs_baseline_is_taken_out_of_its_commit_and_the_checkout_stays_as_it_is() {
    for (folder, prefix) in [(".", ""), ("sub", "sub/")] {
        let runner = Runner::new();
        let base = checkout(&runner, prefix);
        let mut environment = BASELINE.to_vec();
        environment.extend([("BASELINE", "checked-in"), ("BASE_SHA", &base)]);
        let step = runner.step("bash \"$GITHUB_ACTION_PATH/.github/action/baseline.sh\"", folder, &environment);
        assert_eq!(step.code, 0, "{}", step.out);
        let file = step.output("file").expect("a file");
        assert_eq!(std::fs::read_to_string(file).expect("readable"), "the base branch's");
        let samples = file.replace("main.json", "main.samples.jsonl");
        assert_eq!(std::fs::read_to_string(samples).expect("readable"), "its texts");
        assert_eq!(runner.read(&format!("work/{prefix}baselines/main.json")), "the pull request's");
    }
}

#[test]
fn a_base_branch_without_baseline_and_a_run_without_base_have_none() {
    let runner = Runner::new();
    checkout(&runner, "");
    for sha in ["", "0000000000000000000000000000000000000000"] {
        let mut environment = BASELINE.to_vec();
        environment.extend([("BASELINE", "checked-in"), ("BASE_SHA", sha)]);
        let step = runner.script("baseline.sh", &environment);
        assert_eq!((step.code, step.output("file")), (0, None), "{}", step.out);
        assert_eq!(step.out.contains("::warning title=rageval::the base commit could not be fetched"), !sha.is_empty());
    }
}

#[test]
fn the_artifact_of_the_newest_green_run_that_has_one_becomes_the_baseline() {
    let runner = Runner::new();
    // Two runs; the newer one left no baseline.
    runner.gh(r#"case $* in
*workflow_id) echo 5 ;;
*workflow_runs*) printf '20\n10\n' ;;
*runs/20/artifacts*) echo help-run ;;
*runs/10/artifacts*) printf 'help-run\nhelp-baseline\n' ;;
"run download 10"*) echo "of the artifact" >"${@: -1}/main.json" ;;
*) exit 9 ;;
esac"#);
    let mut environment = BASELINE.to_vec();
    environment.push(("BASELINE", "artifact"));
    let step = runner.script("baseline.sh", &environment);
    assert_eq!(step.code, 0, "{} {}", step.out, runner.asked());
    assert_eq!(runner.read("work/baselines/main.json"), "of the artifact\n");
    assert!(runner.asked().contains("branch=main&status=success"), "{}", runner.asked());
}

#[test]
fn a_baseline_that_should_come_from_an_artifact_and_does_not_is_red() {
    let runner = Runner::new();
    runner.gh("case $* in *workflow_id) echo 5 ;; *workflow_runs*) ;; *) exit 9 ;; esac");
    let mut environment = BASELINE.to_vec();
    environment.push(("BASELINE", "artifact"));
    let step = runner.script("baseline.sh", &environment);
    assert_eq!(step.code, 3, "{}", step.out);
    assert!(
        step.out.contains("no green run of main left the artifact help-baseline, and baselines/main.json"),
        "{}",
        step.out
    );
}

#[test]
fn until_a_green_run_left_one_the_file_that_is_checked_in_is_the_baseline() {
    let runner = Runner::new();
    runner.gh("case $* in *workflow_id) echo 5 ;; *workflow_runs*) ;; *) exit 9 ;; esac");
    runner.write("baselines/main.json", "checked in");
    let mut environment = BASELINE.to_vec();
    environment.push(("BASELINE", "artifact"));
    let step = runner.script("baseline.sh", &environment);
    assert_eq!(step.code, 0, "{}", step.out);
    assert!(step.out.contains("::notice title=rageval::no green run of main"), "{}", step.out);
    assert_eq!(runner.read("work/baselines/main.json"), "checked in");
}

#[test]
fn a_run_that_cannot_be_accepted_leaves_no_baseline_and_stays_green() {
    let runner = Runner::new();
    runner.write("baselines/main.json", "of before");
    let runs = runner.path("runs").display().to_string();
    let step = runner.script("accept.sh", &[("RUNS", &runs), ("BASELINE_FILE", "baselines/main.json")]);
    assert_eq!((step.code, step.output("folder")), (0, None), "{}", step.out);
    assert!(step.out.contains("::warning title=rageval::the run could not be accepted"), "{}", step.out);
}
