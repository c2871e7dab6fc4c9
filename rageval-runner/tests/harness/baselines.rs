//! A run against the one that was accepted.

use rageval_runner::store::baseline;

use crate::fixture::{Project, RECALL};

crate::tests![
    a_drop_of_one_case_is_red,
    a_drop_within_the_bar_passes,
    a_changed_case_is_compared_as_new,
    new_and_vanished_cases_are_counted,
    a_drop_of_the_mean_is_red_in_its_gate,
    another_judge_refuses_regression_rules_only,
    a_run_of_one_file_is_no_baseline,
    a_metric_or_parameters_that_the_baseline_lacks_are_red,
    a_baseline_that_lost_cases_is_unreadable,
];

const RULES: &str = "version: 1\ncases: cases\nmetrics:\n  recall@5: {max_drop: 0.1, mean: {max_drop: 0.02}, bottom10: {max_drop: 0.1}}\n\
                     regression: {baseline: baselines/main.json}\njudge: {provider: offline}\n";

fn cases(found: &[&str]) -> String {
    let case = |(i, found): (usize, &&str)| {
        format!("- {{id: c{i}, query: \"{i} [found: {found}]\", relevant_doc_ids: [fee, time]}}\n")
    };
    // The question's text is part of the case's digest, so what is found is changed beside it.
    found.iter().enumerate().map(case).collect()
}

/// A project with a baseline made of a run over these cases.
fn with_baseline(found: &[&str]) -> Project {
    baseline_of(RECALL, found)
}

fn baseline_of(rules: &str, found: &[&str]) -> Project {
    let project = Project::new(rules, &cases(found));
    project.run(&[]);
    let run = project.latest_run();
    let made = baseline::from_run(&run).expect("a whole run");
    baseline::write(&project.path("baselines/main.json"), &made.baseline, &made.texts).expect("written");
    project.write("thresholds.yaml", RULES);
    project
}

/// Rewrites the baseline as if every case had scored this in `recall@5`.
fn baseline_scores(project: &Project, score: &str) {
    let path = project.path("baselines/main.json");
    let text = std::fs::read_to_string(&path).expect("read");
    let changed = text.replace("\"value\":0.5", &format!("\"value\":{score}"));
    assert_ne!(text, changed);
    std::fs::write(path, changed).expect("written");
}

fn a_drop_of_one_case_is_red() {
    let project = with_baseline(&["fee time", "fee"]);
    project.run(&[]).ends_with(0);
    baseline_scores(&project, "1.0");
    let ran = project.run(&[]);
    ran.ends_with(101).says("0.5").says("baseline");
    assert!(ran.failed().contains(&"case::all::c1".to_owned()), "{}", ran.stdout);
    assert!(!ran.failed().contains(&"case::all::c0".to_owned()), "{}", ran.stdout);
}

fn a_drop_within_the_bar_passes() {
    let project = with_baseline(&["fee time", "fee"]);
    baseline_scores(&project, "0.6");
    project.run(&["case::"]).ends_with(0);
    baseline_scores_from(&project, "0.6", "0.6000001");
    project.run(&["case::"]).ends_with(101);
}

fn baseline_scores_from(project: &Project, from: &str, to: &str) {
    let path = project.path("baselines/main.json");
    let text = std::fs::read_to_string(&path).expect("read");
    std::fs::write(path, text.replace(&format!("\"value\":{from}"), &format!("\"value\":{to}"))).expect("written");
}

fn a_changed_case_is_compared_as_new() {
    let project = with_baseline(&["fee time", "fee"]);
    baseline_scores(&project, "1.0");
    let changed = cases(&["fee time", "fee"]).replace("\"1 [found: fee]\"", "\"1 reworded [found: fee]\"");
    project.write("cases/all.yaml", &changed);
    project.run(&["case::"]).ends_with(0);
    project.run(&[]).says("1 changed");
}

fn new_and_vanished_cases_are_counted() {
    let project = with_baseline(&["fee time", "fee"]);
    let renamed = cases(&["fee time", "fee"]).replace("id: c1", "id: c9");
    project.write("cases/all.yaml", &renamed);
    project.run(&[]).ends_with(0).says("1 new").says("1 vanished");
}

fn a_drop_of_the_mean_is_red_in_its_gate() {
    let project = with_baseline(&["fee time", "fee", "fee"]);
    baseline_scores(&project, "0.58");
    let ran = project.run(&[]);
    assert_eq!(ran.ends_with(101).failed(), ["gate::recall@5::mean_drop"], "{}", ran.stdout);
}

fn another_judge_refuses_regression_rules_only() {
    let judged =
        RECALL.replace("metrics:\n", "snapshots: {fail_on: never}\nwaive: {calibration: {reason: a fixture, until: 2999-12-31}}\nmetrics:\n  faithfulness: {mean: {min: 0}}\n");
    let project = baseline_of(&judged, &["fee time", "fee"]);
    let path = project.path("baselines/main.json");
    let text = std::fs::read_to_string(&path).expect("read");
    let start = text.find("\"fingerprint\":\"").expect("a fingerprint") + "\"fingerprint\":\"".len();
    let changed = format!("{}0000{}", &text[..start], &text[start + 4..]);
    assert_ne!(text, changed);
    std::fs::write(path, changed).expect("written");
    let rules = RULES.replace("metrics:\n  recall@5:", "snapshots: {fail_on: never}\nwaive: {calibration: {reason: a fixture, until: 2999-12-31}}\nmetrics:\n  faithfulness: {min: 0, max_drop: 0.5, mean: {min: 0, max_drop: 0.5}}\n  recall@5:");
    project.write("thresholds.yaml", &rules);
    let ran = project.run(&[]);
    ran.ends_with(101).says("judge");
    let failed = ran.failed();
    assert!(failed.contains(&"gate::faithfulness::mean_drop".to_owned()), "{failed:?}");
    assert!(!failed.contains(&"gate::faithfulness::mean".to_owned()), "{failed:?}");
}

fn a_run_of_one_file_is_no_baseline() {
    let project = Project::new(RECALL, &cases(&["fee time"]));
    project.write("cases/other.yaml", "- {id: other, query: \"o [found: fee]\", relevant_doc_ids: [fee]}\n");
    project.run(&["--exact", "case::all::c0"]).ends_with(0);
    let refused = baseline::from_run(&project.latest_run()).expect_err("a partial run");
    assert!(refused.to_string().contains("only the file of one case was read"), "{refused}");
    project.run_with(&["case::"], &[("RAGEVAL_SHARD", "1/2")]).ends_with(0);
    assert!(baseline::from_run(&project.latest_run()).is_err());
}

fn a_metric_or_parameters_that_the_baseline_lacks_are_red() {
    let project = with_baseline(&["fee time", "fee"]);
    project.run(&[]).ends_with(0);
    project.write("thresholds.yaml", &RULES.replace("recall@5", "recall@3"));
    let ran = project.run(&["case::"]);
    ran.ends_with(101).says("the baseline was made without this metric");
    let rules = RECALL
        .replace("recall@5: {min: 0.5, mean: {min: 0.5}, bottom10: {min: 0.5}}", "ndcg@5: {min: 0, gain: exponential}");
    let project = baseline_of(&rules, &["fee time", "fee"]);
    project.write("thresholds.yaml", &RULES.replace("recall@5: {", "ndcg@5: {gain: exponential, "));
    project.run(&[]).ends_with(0);
    project.write("thresholds.yaml", &RULES.replace("recall@5", "ndcg@5"));
    project.run(&["case::"]).ends_with(101).says("other parameters");
}

fn a_baseline_that_lost_cases_is_unreadable() {
    let project = with_baseline(&["fee time", "fee"]);
    let path = project.path("baselines/main.json");
    let text = std::fs::read_to_string(&path).expect("read").replace("\"cases\":2", "\"cases\":3");
    std::fs::write(path, text).expect("written");
    assert_eq!(project.run(&[]).ends_with(101).says("says that there are 3").failed(), ["gate::setup"]);
}
