//! A judge that was not held against people, or not well enough, is red, and only a waiver that holds passes it.

use std::{collections::BTreeMap, fmt::Write as _};

use rageval_runner::{
    evaluate::stamp,
    judge, load,
    metric::METRICS,
    model::{MetricKey, UnitInterval, run::Ruling},
    store::calibration::{self, FILE},
    trust::calibration::{Calibration, Judged, Measured},
};

use crate::fixture::{Project, Ran};

crate::tests![
    a_judge_that_agrees_with_people_may_gate,
    a_judge_without_calibration_is_red,
    labels_alone_are_no_calibration,
    too_few_labels_are_red,
    a_judge_that_disagrees_is_red,
    a_constant_judge_is_red,
    people_who_always_say_the_same_are_red,
    an_unmeasured_item_is_red,
    changed_labels_are_red,
    another_judge_is_red,
    other_parameters_of_the_metric_are_another_judge,
    a_metric_left_to_offline_keeps_the_calibration_of_offline,
    a_calibration_that_was_touched_is_red,
    labels_of_another_set_version_are_red,
    a_version_that_labels_state_later_is_held_too,
    means_of_systems_are_red,
    a_broken_calibration_is_red,
    lower_bars_are_red_without_a_waiver,
    higher_bars_hold,
    a_waiver_passes_each_refusal_and_is_printed,
    an_expired_waiver_is_red,
    a_waiver_without_use_is_a_notice,
    metrics_that_cannot_fail_need_no_calibration,
    a_filtered_run_prints_the_waiver_too,
    one_of_many_processes_says_it,
];

const CASES: &str = "- {id: fine, query: \"What is the fee? [found: fee]\"}\n";

fn rules(more: &str) -> String {
    format!(
        "version: 1\njudge: {{provider: offline}}\nsnapshots: {{fail_on: never}}\nmetrics:\n  faithfulness: {{min: 0.5}}\n{more}"
    )
}

const WAIVER: &str = "waive: {calibration: {reason: as agreed, until: 2999-12-31}}\n";

/// What people say of the item at this place.
fn human(i: usize) -> f64 {
    (i % 5) as f64 / 4.0
}

/// JSON lines of so many labels; `more` is put into each row.
fn labels(count: usize, human: fn(usize) -> f64, more: &str) -> String {
    let mut lines = String::new();
    for i in 0..count {
        let said = human(i);
        let _ = writeln!(
            lines,
            "{{\"id\": \"i{i:02}\", \"query\": \"Q{i}?\", \"response\": \"It takes {i} days.\", \
             \"retrieved_contexts\": [\"It takes {i} days.\"], \"metric\": \"faithfulness\", \"annotator\": \"ana\", \"score\": {said}{more}}}"
        );
    }
    lines
}

/// A project with so many labels and a calibration in which the judge says what `judge` gives of the item at each place.
fn calibrated(rules: &str, labels: &str, judge: fn(usize) -> Option<f64>) -> Project {
    let project = Project::new(rules, CASES);
    project.write("cases/calibration/ana.jsonl", labels);
    store(&project, judge);
    project
}

/// Writes `baselines/calibration.json` for the labels and the judge as they stand in the project.
fn store(project: &Project, says: fn(usize) -> Option<f64>) {
    let policy = load::policy(&project.path("thresholds.yaml"), METRICS).expect("a policy");
    let labels = load::labels(&policy, METRICS).expect("labels");
    let metric = MetricKey::parse("faithfulness").expect("a metric");
    let judge = judge::open(&policy.judge, &|_| None).expect("a judge");
    let stamp = stamp::of_metric(&policy, judge.as_ref(), None, METRICS, &metric);
    let judged = |(i, id): (usize, &String)| match says(i) {
        Some(score) => (id.clone(), Judged::Scored(UnitInterval::new(score).expect("a score"))),
        None => (id.clone(), Judged::Unmeasured("time-out".to_owned())),
    };
    let ids: Vec<String> = labels.items.iter().map(|item| item.id.clone()).collect();
    let judged: BTreeMap<String, Judged> = ids.iter().enumerate().map(judged).collect();
    let measured =
        Measured::of(&metric, (&labels.items, &labels.labels), labels.set_version.as_deref(), stamp, &judged);
    let path = project.path(FILE);
    calibration::write(&path, &Calibration { metrics: [(metric, measured)].into() }).expect("written");
}

/// A judge that says what people say, but for one item in ten.
fn agrees(i: usize) -> Option<f64> {
    Some(if i % 10 == 3 { 1.0 - human(i) } else { human(i) })
}

#[track_caller]
fn is_red(project: &Project, why: &str) -> Ran {
    let ran = project.run(&[]);
    ran.ends_with(101).says(why);
    assert_eq!(ran.failed(), ["gate::calibration::faithfulness"], "{}", ran.stdout);
    ran
}

fn a_judge_that_agrees_with_people_may_gate() {
    let project = calibrated(&rules(""), &labels(60, human, ""), agrees);
    project.run(&[]).ends_with(0).does_not_say("waived");
    let run = project.latest_run();
    let decision = run.decisions.iter().find(|decision| decision.trial == "gate::calibration::faithfulness");
    let decision = decision.expect("decided");
    assert_eq!((decision.ruling, decision.threshold, decision.n), (Ruling::Pass, Some(0.7), Some(60)));
    assert_eq!(decision.lines.len(), 1);
    let line = &decision.lines[0];
    assert!(
        line.starts_with("passed      rho 0.9") && line.contains("] over 60 items, at least 0.70; offline"),
        "{line}"
    );
    // It asks nothing: the one case was asked once, and no item was.
    assert_eq!(project.asked().len(), 1);
}

fn a_judge_without_calibration_is_red() {
    let project = Project::new(&rules(""), CASES);
    is_red(
        &project,
        "no calibration of faithfulness: nobody knows whether its judge agrees with people; 0 items are labelled",
    )
    .says("label at least 50: cargo rageval calibrate label; then: cargo rageval calibrate")
    .says("or waive it in writing: `waive: {calibration: {reason: WHY, until: YYYY-MM-DD}}`");
}

fn labels_alone_are_no_calibration() {
    let project = Project::new(&rules(""), CASES);
    project.write("cases/calibration/ana.jsonl", &labels(60, human, ""));
    is_red(&project, "60 items are labelled, and the judge was not held against them")
        .says("hold it against them: cargo rageval calibrate");
}

fn too_few_labels_are_red() {
    is_red(&calibrated(&rules(""), &labels(49, human, ""), agrees), "49 labelled items count, and it takes 50");
    calibrated(&rules(""), &labels(50, human, ""), agrees).run(&[]).ends_with(0);
}

fn a_judge_that_disagrees_is_red() {
    let disagrees = |i: usize| Some(if i.is_multiple_of(3) { 1.0 - human(i) } else { human(i) });
    is_red(&calibrated(&rules(""), &labels(60, human, ""), disagrees), "the judge's correlation with people is 0.3")
        .says("below 0.70")
        .says("measured    rho 0.3");
}

fn a_constant_judge_is_red() {
    let project = calibrated(&rules(""), &labels(60, human, ""), |_| Some(1.0));
    is_red(&project, "the judge says the same of every item");
}

fn people_who_always_say_the_same_are_red() {
    let project = calibrated(&rules(""), &labels(60, |_| 1.0, ""), |i| Some(human(i)));
    is_red(&project, "people say the same of every item");
}

fn an_unmeasured_item_is_red() {
    let project = calibrated(&rules(""), &labels(60, human, ""), |i| Some(human(i)).filter(|_| i != 7));
    is_red(&project, "the judge gave no score on 1 of 60 labelled items");
}

fn changed_labels_are_red() {
    let project = calibrated(&rules(""), &labels(60, human, ""), agrees);
    let text = labels(60, human, "");
    project.write("cases/calibration/ana.jsonl", &text.replacen("\"score\": 0.25", "\"score\": 0.5", 1));
    is_red(&project, "the labels of faithfulness are others than at its calibration").says("cargo rageval calibrate");
    project.write("cases/calibration/ana.jsonl", &text.replacen("It takes 7 days.", "It takes 8 days.", 1));
    is_red(&project, "the labels of faithfulness are others");
    // What changes no label changes nothing: the order of the rows, a note.
    let turned: Vec<&str> = text.lines().rev().collect();
    project.write("cases/calibration/ana.jsonl", &turned.join("\n").replacen("}", ", \"note\": \"hm\"}", 1));
    project.run(&[]).ends_with(0);
    std::fs::remove_file(project.path("cases/calibration/ana.jsonl")).expect("removed");
    is_red(&project, "the labels of faithfulness are others");
}

fn another_judge_is_red() {
    let project = calibrated(&rules(""), &labels(60, human, ""), agrees);
    let path = project.path(FILE);
    let text = std::fs::read_to_string(&path).expect("read");
    let start = text.find("\"fingerprint\":\"").expect("a fingerprint") + "\"fingerprint\":\"".len();
    std::fs::write(&path, format!("{}0000{}", &text[..start], &text[start + 4..])).expect("written");
    is_red(&project, "another judge was held against people: offline")
        .says("(with this metric 0000")
        .says("cargo rageval calibrate");
}

fn other_parameters_of_the_metric_are_another_judge() {
    let project = calibrated(&rules(""), &labels(60, human, ""), agrees);
    // What belongs to another metric changes nothing.
    project.write("thresholds.yaml", &rules("  context_recall: {}\n"));
    project.run(&[]).ends_with(0);
    project.write("thresholds.yaml", &rules("").replace("{min: 0.5}", "{min: 0.5, inferred: true}"));
    let ran = project.run(&["gate::calibration"]);
    ran.ends_with(101).says("another judge was held against people");
}

fn a_metric_left_to_offline_keeps_the_calibration_of_offline() {
    let project = calibrated(&rules(""), &labels(60, human, ""), agrees);
    project.write("replies.jsonl", "{\"request\": \"faithfulness.verdicts\", \"case\": \"*\", \"value\": {}}\n");
    let scripted = rules("").replace("{provider: offline}", "{provider: scripted, replies: replies.jsonl}");
    project.write("thresholds.yaml", &scripted.replace("{min: 0.5}", "{min: 0.5, judge: offline}"));
    project.run(&[]).ends_with(0);
    project.write("thresholds.yaml", &scripted);
    let ran = project.run(&["gate::calibration"]);
    ran.ends_with(101).says("another judge was held against people: offline").says("; now scripted");
}

fn a_calibration_that_was_touched_is_red() {
    let project = calibrated(&rules(""), &labels(60, human, ""), agrees);
    let path = project.path(FILE);
    let text = std::fs::read_to_string(&path).expect("read");
    let touched = |keep: fn(&str) -> bool| text.lines().filter(|line| keep(line)).collect::<Vec<_>>().join("\n");
    let file =
        touched(|line| !["i03", "i13", "i23", "i33"].iter().any(|id| line.contains(&format!("\"item\":\"{id}"))));
    std::fs::write(&path, file).expect("written");
    is_red(
        &project,
        "does not hold the labels of faithfulness: 4 of 60 labelled items are missing: i03, i13, i23 and 1 more",
    )
    .says("hold it against people anew: cargo rageval calibrate");
    let item = text.lines().find(|line| line.starts_with("{\"item\":\"i03\"")).expect("an item");
    let said = item.replace("\"people\":{\"ana\":0.75}", "\"people\":{\"ana\":0.25}");
    assert_ne!(said, item);
    std::fs::write(&path, text.replace(item, &said)).expect("written");
    is_red(&project, "1 is not as labelled (people, weight, language, length): i03");
}

fn a_version_that_labels_state_later_is_held_too() {
    let project = calibrated(&rules(""), &labels(60, human, ""), agrees);
    project.write("cases/calibration/ana.jsonl", &labels(60, human, ", \"golden_set_version\": \"1.1.0\""));
    is_red(&project, "the labels were drawn from version 1.1.0 of the golden set, which states no version")
        .says("lock the cases, or take the version out of the labels, then: cargo rageval calibrate");
}

fn labels_of_another_set_version_are_red() {
    let versioned = labels(60, human, ", \"golden_set_version\": \"1.0.0\"");
    let project = calibrated(&rules(""), &versioned, agrees);
    is_red(&project, "the labels were drawn from version 1.0.0 of the golden set, which states no version");
    let cases = |version: &str| {
        format!("version: {version}\ncases:\n- {{id: fine, query: \"What is the fee? [found: fee]\"}}\n")
    };
    project.write("cases/all.yaml", &cases("1.1.0"));
    is_red(&project, "the labels were drawn from version 1.0.0 of the golden set, which is at 1.1.0");
    project.write("cases/all.yaml", &cases("1.0.0"));
    project.run(&[]).ends_with(0);
}

fn means_of_systems_are_red() {
    let project = calibrated(&rules(""), &labels(60, human, ""), agrees);
    project.write("cases/calibration/ana.jsonl", &labels(60, human, ", \"level\": \"system\""));
    is_red(&project, "means of whole systems calibrate nothing").says("cases/calibration/ana.jsonl:1");
}

fn a_broken_calibration_is_red() {
    let project = calibrated(&rules(""), &labels(60, human, ""), agrees);
    project.write(FILE, "{\"format\":\"rageval-calibration\",\"version\":9}");
    is_red(&project, "the calibration can't be read").says("written by a newer rageval");
}

fn lower_bars_are_red_without_a_waiver() {
    for bars in ["min_labels: 20", "min_spearman: 0.3", "min_spearman: 0.6999"] {
        let rules = rules(&format!("calibration: {{{bars}}}\n"));
        let project = calibrated(&rules, &labels(60, human, ""), agrees);
        is_red(&project, "thresholds.yaml:6: `calibration` asks for").says("needs a waiver");
        project.write("thresholds.yaml", &(rules + WAIVER));
        project.run(&[]).ends_with(0).says("waived      calibration until 2999-12-31: as agreed");
    }
}

fn higher_bars_hold() {
    for (bars, why) in
        [("min_labels: 61", "60 labelled items count, and it takes 61"), ("min_spearman: 0.95", "below 0.95")]
    {
        let rules = rules(&format!("calibration: {{{bars}}}\n"));
        is_red(&calibrated(&rules, &labels(60, human, ""), agrees), why);
    }
}

/// Every refusal again, each in a project with the waiver.
fn a_waiver_passes_each_refusal_and_is_printed() {
    let rules = rules(WAIVER);
    let text = labels(60, human, "");
    let passes = |project: &Project, why: &str| {
        let ran = project.run(&[]);
        ran.ends_with(0).says("waived      calibration until 2999-12-31: as agreed");
        let run = project.latest_run();
        let decision = run.decisions.iter().find(|decision| decision.trial == "gate::calibration::faithfulness");
        let lines = &decision.expect("decided").lines;
        assert!(lines.len() == 1 && lines[0].contains(why), "{why}: {lines:?}");
    };
    passes(&Project::new(&rules, CASES), "no calibration");
    passes(&calibrated(&rules, &labels(49, human, ""), agrees), "49 labelled items count");
    passes(&calibrated(&rules, &text, |i| Some(1.0 - human(i))), "correlation with people is -1.00");
    passes(&calibrated(&rules, &text, |_| Some(1.0)), "the judge says the same");
    passes(&calibrated(&rules, &labels(60, |_| 1.0, ""), agrees), "people say the same");
    passes(&calibrated(&rules, &text, |i| Some(human(i)).filter(|_| i != 7)), "no score on 1 of 60");
    let versioned = labels(60, human, ", \"golden_set_version\": \"1.0.0\"");
    passes(&calibrated(&rules, &versioned, agrees), "version 1.0.0 of the golden set");
    let project = calibrated(&rules, &text, agrees);
    project.write("cases/calibration/ana.jsonl", &labels(59, human, ""));
    passes(&project, "the labels of faithfulness are others");
    project.write("cases/calibration/ana.jsonl", &labels(60, human, ", \"level\": \"system\""));
    passes(&project, "means of whole systems");
    project.write(FILE, "{}");
    passes(&project, "the calibration can't be read");
    let project = calibrated(&rules, &text, agrees);
    project.write("thresholds.yaml", &rules.replace("{min: 0.5}", "{min: 0, inferred: true}"));
    passes(&project, "another judge was held against people");
}

fn an_expired_waiver_is_red() {
    let project = Project::new(&rules(&WAIVER.replace("2999-12-31", "2020-02-29")), CASES);
    is_red(&project, "or waive it anew: the waiver at thresholds.yaml:6 expired on 2020-02-29").does_not_say("waived ");
}

fn a_waiver_without_use_is_a_notice() {
    let project = calibrated(&rules(WAIVER), &labels(60, human, ""), agrees);
    project.run(&[]).ends_with(0).says("thresholds.yaml:6: `waive.calibration` waives nothing; remove it");
}

fn metrics_that_cannot_fail_need_no_calibration() {
    let reported = rules("").replace("{min: 0.5}", "{min: 0.5, level: warn}");
    let project = Project::new(&reported, CASES);
    project.run(&["--list"]).ends_with(0).does_not_say("gate::calibration");
    project.run(&[]).ends_with(0);
    // A case's own bar can fail.
    let plain = rules("").replace("{min: 0.5}", "{}");
    let own = CASES.replace('}', ", thresholds: {faithfulness: 0.5}}");
    Project::new(&plain, &own).run(&["--list"]).says("gate::calibration::faithfulness: test");
}

fn a_filtered_run_prints_the_waiver_too() {
    let project = Project::new(&rules(WAIVER), CASES);
    for arguments in [&["case::all::fine", "--exact"][..], &["gate::setup"]] {
        project.run(arguments).ends_with(0).says("waived      calibration until 2999-12-31: as agreed");
    }
}

fn one_of_many_processes_says_it() {
    let project = Project::new(&rules(""), CASES);
    let many = [("NEXTEST", "1"), ("NEXTEST_RUN_ID", "r1")];
    let exact = |name: &str| project.run_with(&[name, "--exact"], &many);
    exact("gate::calibration::faithfulness").ends_with(101).says("Error: no calibration of faithfulness");
    exact("case::all::fine").ends_with(0);
    // A shard decides it too: it is read off the files alone.
    let shard = project.run_with(&["gate::"], &[("RAGEVAL_SHARD", "1/2")]);
    shard.ends_with(101).says("no calibration of faithfulness");
}
