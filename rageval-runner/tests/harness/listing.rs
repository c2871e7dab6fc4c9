//! What `--list` prints, `--exact` runs; what matches nothing is not green.

use std::collections::BTreeSet;

use crate::fixture::{FINE, Project, RECALL};

crate::tests![
    listing_reads_files_and_nothing_else,
    a_listing_has_one_line_a_trial,
    only_ignored_trials_are_listed_when_asked,
    what_is_listed_runs_by_its_exact_name,
    names_that_hide_from_a_runner_are_refused,
    an_exact_name_without_match_is_red_under_a_process_runner,
    exact_reads_only_the_file_asked_for,
    flags_of_libtest_are_accepted,
    an_unknown_flag_ends_with_two,
    a_filtered_gate_still_sees_its_whole_population,
    a_shard_defers_the_gates,
];

/// Ids that make bad test and file names.
const ODD: &str = r#"
{"id": "Refund-EU", "query": "a [found: fee]", "relevant_doc_ids": ["fee"]}
{"id": "refund-eu", "query": "b [found: fee]", "relevant_doc_ids": ["fee"]}
{"id": "a/b", "query": "c [found: fee]", "relevant_doc_ids": ["fee"]}
{"id": "../../evil", "query": "d [found: fee]", "relevant_doc_ids": ["fee"]}
{"id": "退款 期限", "query": "e [found: fee]", "relevant_doc_ids": ["fee"]}
{"id": "with \"quotes\" and \\", "query": "f [found: fee]", "relevant_doc_ids": ["fee"]}
{"id": "a::b", "query": "g [found: fee]", "relevant_doc_ids": ["fee"]}
{"id": "<a&b>", "query": "h [found: fee]", "relevant_doc_ids": ["fee"]}
"#;

fn odd() -> Project {
    let project = Project::new(RECALL, FINE);
    project.write("cases/odd.jsonl", ODD);
    project
}

fn listed(project: &Project) -> Vec<String> {
    let ran = project.run(&["--list", "--format", "terse"]);
    ran.ends_with(0);
    ran.stdout.lines().map(|line| line.strip_suffix(": test").expect("`name: test`").to_owned()).collect()
}

fn listing_reads_files_and_nothing_else() {
    let project = Project::new(RECALL, FINE);
    project.run(&["--list"]).ends_with(0);
    assert_eq!(project.asked(), Vec::<String>::new());
    assert_eq!(project.files("runs"), Vec::<String>::new());
}

fn a_listing_has_one_line_a_trial() {
    let project = Project::new(RECALL, FINE);
    let names: Vec<String> = listed(&project);
    let expected = [
        "gate::setup",
        "case::all::fine",
        "gate::recall@5::mean",
        "gate::recall@5::bottom10",
        "gate::set::unmeasured",
        "gate::set::orphans",
    ];
    assert_eq!(names.iter().collect::<BTreeSet<_>>(), expected.map(str::to_owned).iter().collect::<BTreeSet<_>>());
}

fn only_ignored_trials_are_listed_when_asked() {
    let project = Project::new(RECALL, FINE);
    assert_eq!(project.run(&["--list", "--format", "terse", "--ignored"]).ends_with(0).stdout, "");
    let ran = project.run_with(&["--list", "--format", "terse", "--ignored"], &[("RAGEVAL_SHARD", "1/2")]);
    assert!(ran.stdout.contains("gate::recall@5::mean: test"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("case::"), "{}", ran.stdout);
}

fn what_is_listed_runs_by_its_exact_name() {
    let project = odd();
    for name in listed(&project) {
        let ran = project.run(&["--exact", &name]);
        ran.ends_with(0).says("1 passed");
    }
}

fn names_that_hide_from_a_runner_are_refused() {
    for id in ["a\\u001b[31m", "a\\nb", " a", "-dash", "a\\u2028b"] {
        let project = Project::new(RECALL, FINE);
        project.write("cases/bad.jsonl", &format!("{{\"id\": \"{id}\", \"query\": \"q\"}}\n"));
        project.run(&[]).ends_with(101).says("an id must not");
        project.run(&["--list"]).ends_with(101).says("cases/bad.jsonl:1");
    }
}

fn an_exact_name_without_match_is_red_under_a_process_runner() {
    let project = Project::new(RECALL, FINE);
    let nextest = [("NEXTEST", "1"), ("NEXTEST_RUN_ID", "r")];
    project.run_with(&["--exact", "case::all::finé", "--nocapture"], &nextest).ends_with(101).says("Error: no trial");
    project.run(&["--exact", "case::all::finé"]).ends_with(0).says("0 passed");
}

fn exact_reads_only_the_file_asked_for() {
    let project = Project::new(RECALL, FINE);
    project.write("cases/broken.yaml", "- id: [");
    project.run(&["--exact", "case::all::fine"]).ends_with(0).says("1 passed");
    project.run(&["--exact", "gate::recall@5::mean"]).ends_with(101).says("cases/broken.yaml:1");
}

fn flags_of_libtest_are_accepted() {
    let project = Project::new(RECALL, FINE);
    for flags in [
        &["--nocapture"][..],
        &["--no-capture", "--show-output", "--report-time", "--shuffle"],
        &["--format", "json", "-Z", "unstable-options"],
        &["-q"],
        &["--test-threads", "1"],
        &["--skip", "gate", "fine"],
        &["--include-ignored"],
    ] {
        project.run(flags).ends_with(0);
    }
}

fn an_unknown_flag_ends_with_two() {
    Project::new(RECALL, FINE).run(&["--treshold"]).ends_with(2).says("--treshold");
}

fn a_filtered_gate_still_sees_its_whole_population() {
    let project = Project::new(
        RECALL,
        "- {id: good, query: \"a [found: fee]\", relevant_doc_ids: [fee]}\n- {id: bad, query: b, relevant_doc_ids: [fee]}\n",
    );
    let ran = project.run(&["gate::recall@5::mean"]);
    assert_eq!(project.asked().len(), 2);
    ran.ends_with(0);
    project.run(&["gate::recall@5::bottom10"]).ends_with(101).says("bad");
    project.run(&["good"]).ends_with(0).says("1 passed");
    assert!(project.latest_run().manifest.missing.iter().any(|id| id.as_str() == "bad"), "the run is partial");
}

fn a_shard_defers_the_gates() {
    let project = Project::new(RECALL, "- {id: bad, query: b, relevant_doc_ids: [fee]}\n");
    let ran = project.run_with(&[], &[("RAGEVAL_SHARD", "1/2")]);
    ran.ends_with(101);
    assert_eq!(ran.failed(), ["case::all::bad"]);
    ran.says("ignored");
}
