//! Verdicts under review: what is red, what is left for review, and what is written where.

use std::fs;

use crate::fixture::{Project, Ran};

crate::tests![
    a_case_without_snapshot_is_red_and_left_for_review,
    nothing_is_written_in_ci,
    an_accepted_snapshot_is_green,
    worse_verdicts_of_a_changed_answer_are_red,
    better_verdicts_pass_with_a_notice,
    other_verdicts_of_the_same_answer_are_red,
    any_difference_may_be_red,
    no_difference_may_be_red,
    a_broken_snapshot_is_red,
    a_stale_pending_file_goes_away,
    orphans_are_listed,
    update_switches_say_what_they_rewrote,
    a_snapshot_reads_as_a_review,
    no_two_cases_share_a_file,
    a_snapshot_that_says_nothing_compares_with_nothing,
    a_metric_without_reviewed_verdicts_says_so,
    a_metric_that_is_judged_no_more_is_named,
];

const RULES: &str = "version: 1\njudge: {provider: offline}\nwaive: {calibration: {reason: a fixture, until: 2999-12-31}}\nmetrics:\n  faithfulness: {mean: {min: 0}}\n";

fn case(answer: &str) -> String {
    format!("- {{id: one, query: \"How long and how much? [found: fee time] [answer: {answer}]\"}}\n")
}

const TRUE_TWICE: &str = "The fee is 12 euros. Delivery takes 3 days.";
const TRUE_ONCE: &str = "The fee is 12 euros. Delivery takes 9 days.";
const FOLDER: &str = "tests/snapshots/harness";

fn snapshots(project: &Project, ending: &str) -> Vec<String> {
    project.files(FOLDER).into_iter().filter(|file| file.ends_with(ending)).collect()
}

/// Does what `cargo insta accept` does: the pending file takes the place of the stored one.
fn accept(project: &Project) {
    for pending in snapshots(project, ".snap.new") {
        let from = project.path(FOLDER).join(&pending);
        fs::rename(&from, from.with_extension("")).expect("renamed");
        assert!(from.with_extension("").extension().is_some_and(|ending| ending == "snap"));
    }
}

/// A project whose verdicts over this answer are accepted.
fn accepted(answer: &str) -> Project {
    let project = Project::new(RULES, &case(answer));
    project.run(&[]).ends_with(101);
    accept(&project);
    project.run(&[]).ends_with(0);
    project
}

fn answering(project: &Project, answer: &str) -> Ran {
    project.write("cases/all.yaml", &case(answer));
    project.run(&[])
}

fn a_case_without_snapshot_is_red_and_left_for_review() {
    let project = Project::new(RULES, &case(TRUE_TWICE));
    let ran = project.run(&[]);
    ran.ends_with(101).says("no snapshot").says("cargo insta review");
    assert_eq!(ran.failed(), ["case::all::one"]);
    assert_eq!(snapshots(&project, ".snap.new").len(), 1);
    assert_eq!(snapshots(&project, ".snap").len(), 0);
}

fn nothing_is_written_in_ci() {
    let project = Project::new(RULES, &case(TRUE_TWICE));
    project.run_with(&[], &[("CI", "true")]).ends_with(101).says("no snapshot");
    assert_eq!(project.files(FOLDER), Vec::<String>::new());
}

fn an_accepted_snapshot_is_green() {
    let project = accepted(TRUE_TWICE);
    project.run_with(&[], &[("CI", "true")]).ends_with(0);
    assert_eq!(snapshots(&project, ".snap.new").len(), 0);
}

fn worse_verdicts_of_a_changed_answer_are_red() {
    let project = accepted(TRUE_TWICE);
    let ran = answering(&project, TRUE_ONCE);
    ran.ends_with(101).says("faithfulness fell from 2 of 2 to 1 of 2").says("9 days");
    assert_eq!(ran.failed(), ["case::all::one"]);
    assert_eq!(snapshots(&project, ".snap.new").len(), 1);
}

fn better_verdicts_pass_with_a_notice() {
    let project = accepted(TRUE_ONCE);
    answering(&project, TRUE_TWICE).ends_with(0).says("changed");
    assert_eq!(snapshots(&project, ".snap.new").len(), 1);
}

fn other_verdicts_of_the_same_answer_are_red() {
    let project = accepted(TRUE_TWICE);
    for file in snapshots(&project, ".snap") {
        let path = project.path(FOLDER).join(file);
        let text = fs::read_to_string(&path).expect("read");
        let flipped = text.replace("supported: Delivery", "unsupported: Delivery").replace("2 of 2", "1 of 2");
        assert_ne!(text, flipped);
        fs::write(&path, flipped).expect("written");
    }
    project.run(&[]).ends_with(101).says("the same answer");
}

fn any_difference_may_be_red() {
    let project = accepted(TRUE_ONCE);
    project.write("thresholds.yaml", &format!("{RULES}snapshots: {{fail_on: any}}\n"));
    answering(&project, TRUE_TWICE).ends_with(101).says("the verdicts changed");
}

fn no_difference_may_be_red() {
    let project = accepted(TRUE_TWICE);
    project.write("thresholds.yaml", &format!("{RULES}snapshots: {{fail_on: never}}\n"));
    answering(&project, TRUE_ONCE).ends_with(0).says("changed");
}

fn a_broken_snapshot_is_red() {
    let project = accepted(TRUE_TWICE);
    for file in snapshots(&project, ".snap") {
        fs::write(project.path(FOLDER).join(file), b"---\nsource: [\n").expect("written");
    }
    project.run(&[]).ends_with(101);
}

fn a_stale_pending_file_goes_away() {
    let project = accepted(TRUE_TWICE);
    answering(&project, TRUE_ONCE).ends_with(101);
    answering(&project, TRUE_TWICE).ends_with(0);
    assert_eq!(snapshots(&project, ".snap.new"), Vec::<String>::new());
}

fn orphans_are_listed() {
    let project = accepted(TRUE_TWICE);
    project.write("cases/all.yaml", &case(TRUE_TWICE).replace("id: one", "id: renamed"));
    let ran = project.run(&[]);
    ran.ends_with(101).says("one-");
    assert!(!project.files(FOLDER).is_empty(), "nothing is deleted");
    accept(&project);
    project.run(&["renamed"]).ends_with(0).does_not_say("orphan");
    project.run(&[]).ends_with(0).says("belong to no case");
    project.write("thresholds.yaml", &format!("{RULES}snapshots: {{orphans: fail}}\n"));
    assert_eq!(project.run(&[]).ends_with(101).failed(), ["gate::set::orphans"]);
}

fn update_switches_say_what_they_rewrote() {
    let project = Project::new(RULES, &case(TRUE_TWICE));
    project
        .run_with(&[], &[("INSTA_UPDATE", "always")])
        .ends_with(0)
        .says("wrote the first snapshot of 1 case: read it before you commit it")
        .does_not_say("rewrote");
    assert_eq!(snapshots(&project, ".snap").len(), 1);
    project.write("cases/all.yaml", &case(TRUE_ONCE));
    project
        .run_with(&[], &[("INSTA_UPDATE", "always")])
        .ends_with(0)
        .says("insta's update switch rewrote the snapshot of 1 case")
        .does_not_say("wrote the first");
    project.write("cases/all.yaml", &case(TRUE_TWICE));
    project.run_with(&[], &[("INSTA_UPDATE", "always")]).ends_with(0).says("rewrote");
    project.write("cases/all.yaml", &case(TRUE_ONCE));
    project.run_with(&[], &[("INSTA_FORCE_PASS", "1")]).ends_with(0).says("changed");
    assert_eq!(snapshots(&project, ".snap.new").len(), 1);
    project.run_with(&[], &[("INSTA_UPDATE", "no")]).ends_with(101);
}

fn a_snapshot_reads_as_a_review() {
    let project = accepted(TRUE_ONCE);
    let file = snapshots(&project, ".snap").remove(0);
    let text = fs::read_to_string(project.path(FOLDER).join(file)).expect("read");
    for line in [
        "Question: How long and how much?",
        "Answer: The fee is 12 euros. Delivery takes 9 days.",
        "Contexts: fee, time",
        "faithfulness: 1 of 2",
        "  supported: The fee is 12 euros.",
        "  contradicted: Delivery takes 9 days.",
        "tests/harness/main.rs",
        "cases/all.yaml",
    ] {
        assert!(text.contains(line), "not in it: {line}\n{text}");
    }
}

fn no_two_cases_share_a_file() {
    let ids = ["Refund-EU", "refund-eu", "a/b", "a-b", "CON", "aux.txt", "../../evil"];
    let cases: String = ids.iter().map(|id| format!("- {{id: \"{id}\", query: \"q [found: fee]\"}}\n")).collect();
    let project = Project::new(RULES, &cases);
    project.run(&[]).ends_with(101);
    let files = snapshots(&project, ".snap.new");
    let folded: std::collections::BTreeSet<String> = files.iter().map(|file| file.to_lowercase()).collect();
    assert_eq!(folded.len(), ids.len(), "{files:?}");
    assert!(files.iter().all(|file| !file.contains('/')), "{files:?}");
}

fn a_snapshot_that_says_nothing_compares_with_nothing() {
    for broken in [
        "garbage",
        "",
        "<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> b\n",
        "\u{feff}---\nsource: a\n---\nfaithfulness: 1 of 2\n",
    ] {
        let project = accepted(TRUE_TWICE);
        for file in snapshots(&project, ".snap") {
            fs::write(project.path(FOLDER).join(file), broken).expect("written");
        }
        project.write("cases/all.yaml", &case(TRUE_ONCE));
        project.run_with(&[], &[("CI", "1")]).ends_with(101).says("not a readable snapshot");
    }
    let project = accepted(TRUE_TWICE);
    for file in snapshots(&project, ".snap") {
        let path = project.path(FOLDER).join(file);
        let text = fs::read_to_string(&path).expect("read").replace("faithfulness: 2 of 2", "faithfulnes: 2 of 2");
        fs::write(path, text).expect("written");
    }
    project.run_with(&[], &[("CI", "1")]).ends_with(101);
}

fn a_metric_without_reviewed_verdicts_says_so() {
    let project = accepted(TRUE_TWICE);
    project.write("thresholds.yaml", &format!("{RULES}  refusal_correctness: {{mean: {{min: 0}}}}\n"));
    project.run(&[]).ends_with(101).says("verdicts of refusal_correctness have not been reviewed yet");
}

fn a_metric_that_is_judged_no_more_is_named() {
    let project = Project::new(RULES, &case(TRUE_TWICE));
    project.write("thresholds.yaml", &format!("{RULES}  refusal_correctness: {{mean: {{min: 0}}}}\n"));
    project.run(&[]);
    accept(&project);
    project.write("thresholds.yaml", RULES);
    let ran = project.run(&[]);
    ran.ends_with(101)
        .says("the metrics that are judged changed: - refusal_correctness")
        .does_not_say("other verdicts");
    assert_eq!(ran.failed(), ["case::all::one"]);
    accept(&project);
    project.run(&[]).ends_with(0);
}
