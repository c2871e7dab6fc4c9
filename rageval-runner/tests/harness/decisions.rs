//! Thresholds as a user writes them, and what the run says of them.

use crate::fixture::{FINE, Project, RECALL};

crate::tests![
    a_failing_case_is_red_and_says_where_it_stands,
    a_threshold_of_zero_is_a_threshold,
    a_perfect_score_passes_a_bar_of_one,
    a_warning_reports_and_passes,
    a_known_failure_passes_while_it_fails,
    a_case_may_have_its_own_bar,
    small_slices_are_inconclusive,
    a_slice_that_sinks_is_red_alone,
    the_run_file_is_written_when_cases_fail,
    runs_of_the_same_answers_are_equal,
    answers_cannot_write_workflow_commands,
    only_the_last_twenty_runs_are_kept,
];

const MISSED: &str =
    "- {id: bad, query: \"Where is it? [found: time]\", relevant_doc_ids: [fee], ground_truth_answer: 12 euros}\n";

fn a_failing_case_is_red_and_says_where_it_stands() {
    let ran = Project::new(RECALL, MISSED).run(&[]);
    ran.ends_with(101).says("cases/all.yaml:1").says("Where is it?").says("12 euros").says("recall@5");
    ran.says("fee").says("time").says("--exact 'case::all::bad'");
}

fn a_threshold_of_zero_is_a_threshold() {
    let rules = RECALL.replace("min: 0.5, mean: {min: 0.5}, bottom10: {min: 0.5}", "min: 0");
    Project::new(&rules, MISSED).run(&[]).ends_with(0);
}

fn a_perfect_score_passes_a_bar_of_one() {
    let rules = RECALL.replace("0.5", "1.0");
    Project::new(&rules, FINE).run(&[]).ends_with(0);
}

fn a_warning_reports_and_passes() {
    let rules = RECALL.replace("min: 0.5, mean: {min: 0.5}, bottom10: {min: 0.5}", "min: 0.5, level: warn");
    Project::new(&rules, MISSED).run(&[]).ends_with(0).says("bad");
}

fn a_known_failure_passes_while_it_fails() {
    let known = "- id: bad\n  query: q\n  relevant_doc_ids: [fee]\n  known_failure: {metrics: [recall@5], reason: not indexed yet}\n";
    let rules = RECALL.replace(", mean: {min: 0.5}, bottom10: {min: 0.5}", "");
    let project = Project::new(&rules, known);
    project.run(&[]).ends_with(0).says("known       1: bad");
    project.write("cases/all.yaml", &known.replace("query: q", "query: \"q [found: fee]\""));
    project.run(&[]).ends_with(0).says("no longer fails: bad");
    project.write("cases/all.yaml", &known.replace("query: q", "query: \"q [error: down]\""));
    project.run(&[]).ends_with(101).says("down");
}

fn a_case_may_have_its_own_bar() {
    let rules = RECALL.replace(", mean: {min: 0.5}, bottom10: {min: 0.5}", "");
    let case = "- {id: bad, query: q, relevant_doc_ids: [fee], thresholds: {recall@5: {min: 0}}}\n";
    Project::new(&rules, case).run(&[]).ends_with(0);
}

fn small_slices_are_inconclusive() {
    let rules = format!("{}slices: {{by: [type], min_cases: 2}}\n", RECALL.replace("{min: 0.5, ", "{"));
    let cases = "- {id: a, query: \"a [found: fee]\", relevant_doc_ids: [fee], type: fact}\n\
                 - {id: b, query: \"b [found: fee]\", relevant_doc_ids: [fee], type: fact}\n\
                 - {id: c, query: \"c [found: fee]\", relevant_doc_ids: [fee], type: rare}\n";
    let project = Project::new(&rules, cases);
    project.run(&[]).ends_with(0).says("rare");
}

fn a_slice_that_sinks_is_red_alone() {
    let rules = format!(
        "{}slices: {{by: [type], min_cases: 1}}\n",
        RECALL.replace("{min: 0.5, mean: {min: 0.5}, bottom10: {min: 0.5}}", "{mean: {min: 0.5}}")
    );
    let cases = "- {id: a, query: \"a [found: fee]\", relevant_doc_ids: [fee], type: fact}\n\
                 - {id: b, query: \"b [found: fee]\", relevant_doc_ids: [fee], type: fact}\n\
                 - {id: c, query: \"c\", relevant_doc_ids: [fee], type: rare}\n";
    let ran = Project::new(&rules, cases).run(&[]);
    assert_eq!(ran.ends_with(101).failed(), ["gate::recall@5::mean@type=rare"]);
}

fn the_run_file_is_written_when_cases_fail() {
    let project = Project::new(RECALL, MISSED);
    project.run(&[]).ends_with(101);
    let run = project.latest_run();
    assert_eq!(run.records.len(), 1);
    assert!(run.decisions.iter().any(|decision| decision.trial == "case::all::bad" && decision.ruling.is_red()));
    assert!(run.manifest.missing.is_empty());
}

fn runs_of_the_same_answers_are_equal() {
    let project = Project::new(RECALL, MISSED);
    let decide = || {
        project.run(&[]);
        let run = project.latest_run();
        (run.decisions, run.records.into_iter().map(|record| record.outcomes).collect::<Vec<_>>())
    };
    assert_eq!(decide(), decide());
}

fn answers_cannot_write_workflow_commands() {
    let case = "- id: bad\n  query: \"q [answer: ::set-output name=x::y\\n::error::planted\\e[31m]\"\n  relevant_doc_ids: [fee]\n";
    let ran = Project::new(RECALL, case).run(&[]);
    ran.ends_with(101).does_not_say("\u{1b}[31m");
    for line in ran.stdout.lines().chain(ran.stderr.lines()) {
        assert!(!line.trim_start().starts_with("::"), "{line}");
    }
}

fn only_the_last_twenty_runs_are_kept() {
    let project = Project::new(RECALL, FINE);
    for _ in 0..22 {
        project.run(&["fine"]).ends_with(0);
    }
    let runs = project.files("runs").into_iter().filter(|file| file.ends_with("run.json")).count();
    assert_eq!(runs, 20);
}
