//! A set-up that is broken, or that would open the gate, is red before anything runs.

use crate::fixture::{FINE, Project, RECALL};

crate::tests![
    no_thresholds_is_red,
    an_empty_set_is_red,
    duplicate_threshold_keys_are_red,
    duplicate_ids_are_red,
    an_unknown_metric_is_red_at_its_place,
    an_unknown_slice_is_red_at_its_place,
    broken_files_are_red_under_any_filter,
    insta_switches_are_refused_in_ci,
    insta_configuration_is_refused_in_ci,
    ci_set_to_false_is_not_ci,
    a_missing_baseline_is_one_red_trial,
    an_unreadable_baseline_is_one_red_trial,
    no_regression_key_is_one_notice,
    a_system_that_cannot_be_opened_is_red_everywhere,
    a_missing_header_variable_is_named,
    a_function_and_another_kind_are_refused,
    a_shard_in_another_form_is_refused,
    an_open_quote_in_csv_is_red,
    names_of_slices_hold_no_control_characters,
    two_merges_in_one_map_are_red,
    no_threads_are_wrong_usage,
];

fn no_thresholds_is_red() {
    let project = Project::new(RECALL, FINE);
    std::fs::remove_file(project.path("thresholds.yaml")).expect("removed");
    project.run(&[]).ends_with(101).says("no thresholds.yaml").says("start one with `cargo rageval init`");
}

fn an_empty_set_is_red() {
    for (file, text) in [("cases/all.yaml", ""), ("cases/all.yaml", "[]"), ("cases/all.jsonl", "\n\n")] {
        let project = Project::new(RECALL, FINE);
        std::fs::remove_file(project.path("cases/all.yaml")).expect("removed");
        project.write(file, text);
        project.run(&[]).ends_with(101);
        project.run(&["--list"]).ends_with(101);
    }
    let project = Project::new(RECALL, FINE);
    std::fs::remove_file(project.path("cases/all.yaml")).expect("removed");
    project.run(&[]).ends_with(101).says("no file of cases");
}

fn duplicate_threshold_keys_are_red() {
    let rules = format!("{RECALL}  recall@5: {{min: 0.0}}\n");
    Project::new(&rules, FINE).run(&[]).ends_with(101).says("recall@5").says("thresholds.yaml:");
}

fn duplicate_ids_are_red() {
    let project = Project::new(RECALL, FINE);
    project.write("cases/more.yaml", FINE);
    project.run(&[]).ends_with(101).says("fine").says("cases/all.yaml:2").says("cases/more.yaml:2");
}

fn an_unknown_metric_is_red_at_its_place() {
    let rules = RECALL.replace("recall@5", "recal@5");
    Project::new(&rules, FINE).run(&[]).ends_with(101).says("thresholds.yaml:6:3").says("recall");
}

fn an_unknown_slice_is_red_at_its_place() {
    let rules = format!("{RECALL}slices: {{by: [langauge]}}\n");
    Project::new(&rules, FINE).run(&[]).ends_with(101).says("thresholds.yaml:7").says("did you mean");
}

fn broken_files_are_red_under_any_filter() {
    let project = Project::new(RECALL, FINE);
    project.write("cases/broken.yaml", "- id: x\n");
    for arguments in [&["fine"][..], &["--skip", "gate"], &["nothing-matches"], &["--ignored"], &["--list"]] {
        project.run(arguments).ends_with(101).says("cases/broken.yaml:1");
    }
}

fn insta_switches_are_refused_in_ci() {
    for (name, value) in [
        ("INSTA_UPDATE", "always"),
        ("INSTA_UPDATE", "force"),
        ("INSTA_UPDATE", "unseen"),
        ("INSTA_FORCE_PASS", "1"),
        ("INSTA_FORCE_UPDATE", "1"),
    ] {
        let project = Project::new(RECALL, FINE);
        let ran = project.run_with(&[], &[("CI", "true"), (name, value)]);
        ran.ends_with(101).says(name);
        assert!(ran.failed().contains(&"gate::setup".to_owned()), "{}", ran.stdout);
        assert_eq!(project.asked(), Vec::<String>::new(), "nothing runs");
        project.run_with(&["fine"], &[("CI", "1"), (name, value)]).ends_with(101);
        project.run_with(&["fine"], &[(name, value)]).ends_with(0);
    }
    Project::new(RECALL, FINE).run_with(&[], &[("CI", "true"), ("INSTA_UPDATE", "no")]).ends_with(0);
}

fn insta_configuration_is_refused_in_ci() {
    let project = Project::new(RECALL, FINE);
    project.write(".config/insta.yaml", "behavior:\n  force_pass: true\n");
    project.run_with(&[], &[("CI", "true")]).ends_with(101).says("behavior.force_pass");
    project.run(&[]).ends_with(0);
}

fn ci_set_to_false_is_not_ci() {
    for value in ["false", "0", ""] {
        Project::new(RECALL, FINE).run_with(&[], &[("CI", value), ("INSTA_UPDATE", "always")]).ends_with(0);
    }
}

/// Rules that compare with a baseline.
fn compared() -> String {
    let drops =
        RECALL.replace("{min: 0.5, mean: {min: 0.5}", "{min: 0.5, max_drop: 0.1, mean: {min: 0.5, max_drop: 0.1}");
    format!("{drops}regression: {{baseline: baselines/main.json}}\n")
}

fn a_missing_baseline_is_one_red_trial() {
    let ran = Project::new(&compared(), FINE).run(&[]);
    ran.ends_with(101).says("cargo rageval baseline accept").says("baselines/main.json");
    assert_eq!(ran.failed(), ["gate::setup"]);
}

fn an_unreadable_baseline_is_one_red_trial() {
    let project = Project::new(&compared(), FINE);
    project.write("baselines/main.json", "{\"format\": \"rageval-baseline\"");
    let ran = project.run(&[]);
    assert_eq!(ran.ends_with(101).failed(), ["gate::setup"]);
    project.write("baselines/main.json", "{\"format\": \"rageval-baseline\", \"version\": 99}");
    project.run(&[]).ends_with(101).says("newer");
}

fn no_regression_key_is_one_notice() {
    let rules = RECALL.replace("{min: 0.5, ", "{min: 0.5, max_drop: 0.1, ");
    Project::new(&rules, FINE).run(&[]).ends_with(0).says("regression.baseline");
}

fn a_system_that_cannot_be_opened_is_red_everywhere() {
    let rules = RECALL.replace("kind: function", "kind: recorded, samples: missing.jsonl");
    let project = Project::new(&rules, FINE).with("RAGEVAL_FIXTURE", "no-function");
    let ran = project.run(&[]);
    ran.ends_with(101).says("missing.jsonl");
    let failed = ran.failed();
    assert!(failed.contains(&"gate::setup".to_owned()) && failed.contains(&"case::all::fine".to_owned()), "{failed:?}");
    project.run(&["fine"]).ends_with(101).says("the set-up is broken");
}

fn a_missing_header_variable_is_named() {
    let http = "version: 1\nsystem:\n  kind: http\n  url: http://127.0.0.1:9/ask\n  headers: {authorization: \"Bearer ${NO_SUCH_TOKEN}\"}\n  \
                body: {q: \"{{ query }}\"}\n  answer: /a\njudge: {provider: offline}\nmetrics: {recall@5: 0.5}\n";
    for value in [None, Some("")] {
        let project = Project::new(http, FINE).with("RAGEVAL_FIXTURE", "no-function");
        let variables: Vec<(&str, &str)> = value.map(|value| ("NO_SUCH_TOKEN", value)).into_iter().collect();
        project.run_with(&[], &variables).ends_with(101).says("NO_SUCH_TOKEN");
    }
}

fn a_function_and_another_kind_are_refused() {
    let rules = RECALL.replace("kind: function", "kind: recorded, samples: s.jsonl");
    Project::new(&rules, FINE).run(&[]).ends_with(101).says("also passes a function");
    let project = Project::new(RECALL, FINE).with("RAGEVAL_FIXTURE", "no-function");
    project.run(&[]).ends_with(101).says("the test passes none");
}

fn a_shard_in_another_form_is_refused() {
    for shard in ["false", "x", "0", "0/3", "4/3", "1/0"] {
        let ran = Project::new(RECALL, FINE).run_with(&[], &[("RAGEVAL_SHARD", shard)]);
        ran.ends_with(101).says("which is no shard");
    }
    Project::new(RECALL, FINE).run_with(&[], &[("RAGEVAL_SHARD", "1/3")]).ends_with(0).says("gates are deferred");
}

fn an_open_quote_in_csv_is_red() {
    let project = Project::new(RECALL, FINE);
    project.write("cases/a.csv", "id,relevant_doc_ids,query\na,fee,\"ok [found: fee]\nb,fee,What?\n");
    project.run(&[]).ends_with(101).says("cases/a.csv:2").says("never closed");
}

fn names_of_slices_hold_no_control_characters() {
    let rules = format!("{RECALL}slices: {{by: [type], min_cases: 1}}\n");
    let case = "- {id: a, query: \"a [found: fee]\", relevant_doc_ids: [fee], type: \"\\e[31ma\"}\n";
    Project::new(&rules, case).run(&[]).ends_with(101).says("control characters");
}

fn two_merges_in_one_map_are_red() {
    let rules = "version: 1\nmetrics:\n  <<: {recall@5: {min: 0.0}}\n  <<: {recall@5: {min: 0.9}}\n";
    Project::new(rules, FINE).run(&[]).ends_with(101).says("thresholds.yaml:4").says("twice");
}

fn no_threads_are_wrong_usage() {
    Project::new(RECALL, FINE).run(&["--test-threads", "0"]).ends_with(2);
}
