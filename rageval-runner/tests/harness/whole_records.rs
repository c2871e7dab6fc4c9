//! Records that leave memory are decided and written whole, or it is said that they can't be.

use crate::fixture::{FINE, Project, RECALL};

crate::tests![
    a_record_that_is_read_back_is_decided_and_written_whole,
    a_run_that_is_killed_leaves_nothing_but_its_name,
    where_runs_cannot_be_written_the_cases_are_decided_and_the_run_is_red,
];

/// More than stays in memory for the trial of a case.
const LONG: &str = "
- {id: long, query: \"q [long: 9] [found: time]\", relevant_doc_ids: [fee]}
- {id: other, query: \"q [found: fee]\", relevant_doc_ids: [fee]}
";

fn a_record_that_is_read_back_is_decided_and_written_whole() {
    let project = Project::new(RECALL, LONG);
    let ran = project.run(&[]);
    ran.ends_with(101).says("The fee is 12 euros. The fee is 12 euros.").says("recall@5 0.00, min 0.50");
    let failed = ran.failed();
    assert!(failed.contains(&"case::all::long".to_owned()), "{failed:?}");
    assert!(!failed.contains(&"case::all::other".to_owned()), "{failed:?}");
    let run = project.latest_run();
    let answers: Vec<usize> =
        run.records.iter().map(|record| record.sample().expect("an answer").answer.response.len()).collect();
    assert_eq!(answers, ["The fee is 12 euros. ".repeat((9 << 20) / 21).len(), "The fee is 12 euros.".len()]);
}

fn a_run_that_is_killed_leaves_nothing_but_its_name() {
    let cases = format!("{FINE}- {{id: last, query: \"q [wait: 300] [abort]\", relevant_doc_ids: [fee]}}\n");
    let project = Project::new(RECALL, &cases);
    let ran = project.run(&[]);
    assert_ne!(ran.code, Some(0));
    let left = project.files("runs");
    assert!(left.iter().all(|file| file.ends_with("latest")), "{left:?}");
}

fn where_runs_cannot_be_written_the_cases_are_decided_and_the_run_is_red() {
    let project = Project::new(RECALL, FINE);
    project.write("no-folder", "");
    let folder = project.path("no-folder/runs");
    let ran = project.run_with(&[], &[("RAGEVAL_RUNS", folder.to_str().expect("UTF-8"))]);
    ran.ends_with(101).says("test case::all::fine").says("Error: the run file cannot be written: ");
    assert_eq!(ran.failed(), Vec::<String>::new());
}
