//! A system that answers otherwise from call to call: asked several times for a case, each case decided once.

use rageval_runner::{
    model::{MetricKey, Outcome, Record, UnitInterval},
    store::baseline,
};

use crate::{
    fixture::{Project, Ran},
    processes::all_at_once,
};

crate::tests![
    a_case_is_asked_as_often_as_it_says_and_decided_once,
    a_red_case_shows_all_its_scores_and_its_worst_answer,
    a_metric_and_a_case_reduce_in_their_own_way,
    random_answers_leave_no_snapshot_to_review,
    a_snapshot_from_before_is_an_orphan,
    one_failed_call_leaves_the_case_unmeasured,
    a_refusal_among_answers_is_left_out_of_what_it_says_nothing_to,
    a_random_system_gives_the_same_decisions_with_the_same_seed,
    many_processes_ask_each_repeat_once,
    a_baseline_of_other_repeats_is_compared_where_the_number_means_the_same,
    recorded_answers_are_repeats_by_their_lines,
];

/// For tests that are about other things than whether the judge can be believed.
const WAIVED: &str = "waive: {calibration: {reason: a test, until: 2999-12-31}}\n";

/// Rules under which each case is asked so often.
fn rules(repeats: &str, metrics: &str) -> String {
    format!(
        "version: 1\nsystem: {{kind: function, timeout: 10s, max_in_flight: 1}}\njudge: {{provider: offline}}\n\
         {WAIVED}repeats: {repeats}\nmetrics: {metrics}\n"
    )
}

const TRUE: &str = "The fee is 12 euros.";
const FALSE: &str = "The fee is 99 euros.";

/// A case whose answers come in this turn, over all its calls by one process.
fn in_turn(id: &str, answers: &[&str], rest: &str) -> String {
    format!("- {{id: {id}, query: \"{id} [found: fee] [turns: {}]\"{rest}}}\n", answers.join("|"))
}

fn record(project: &Project, id: &str) -> Record {
    let records = project.latest_run().records;
    records.into_iter().find(|record| record.case.as_str() == id).expect("a record")
}

fn score(record: &Record, key: &str) -> Option<f64> {
    record.outcomes[&MetricKey::parse(key).expect("a key")].score().map(UnitInterval::get)
}

fn a_case_is_asked_as_often_as_it_says_and_decided_once() {
    let project = Project::new(
        &rules("{times: 4}", "{faithfulness: {min: 0.7, mean: {min: 0.7}}}"),
        &in_turn("often", &[TRUE, TRUE, TRUE, FALSE], ""),
    );
    project.run(&[]).ends_with(0).says("faithfulness");
    assert_eq!(project.asked().len(), 4);
    let record = record(&project, "often");
    assert_eq!(score(&record, "faithfulness"), Some(0.75));
    let repeats = record.repeats.as_ref().expect("repeats");
    let mut answers: Vec<_> = repeats
        .each
        .iter()
        .filter_map(|repeat| match &repeat.taken {
            rageval_runner::model::Taken::Sample(sample) => Some(sample.answer.response.clone()),
            rageval_runner::model::Taken::Failed(_) => None,
        })
        .collect();
    answers.sort();
    assert_eq!(answers, [TRUE, TRUE, TRUE, FALSE]);
    assert!(repeats.each.iter().all(|repeat| repeat.transcript.exchanges.len() == 1));
    assert_eq!(record.exchanges().count(), 4);
    assert_eq!(record.sample().map(|sample| sample.answer.response.as_str()), Some(TRUE), "nearest to 0.75");
    let of_gate =
        project.latest_run().decisions.into_iter().find(|decision| decision.trial == "gate::faithfulness::mean");
    assert_eq!(of_gate.and_then(|gate| gate.n), Some(1), "four repeats are one case");
}

fn a_red_case_shows_all_its_scores_and_its_worst_answer() {
    let project = Project::new(
        &rules("{times: 4}", "{faithfulness: {min: 0.8}}"),
        &in_turn("often", &[TRUE, TRUE, TRUE, FALSE], ""),
    );
    let ran = project.run(&[]);
    ran.ends_with(101).says("faithfulness 0.75, min 0.80").says("faithfulness: mean of 1.00, 1.00, 1.00, 0.00");
    ran.says("(repeat 4 of 4) The fee is 99 euros.").says("claim       contradicted: The fee is 99 euros.");
    assert_eq!(ran.failed(), ["case::all::often"]);
}

fn a_metric_and_a_case_reduce_in_their_own_way() {
    let cases = in_turn("set", &[TRUE, FALSE], ", relevant_doc_ids: [fee]")
        + &in_turn("own", &[TRUE, FALSE], ", repeats: {times: 6, reduce: majority}")
        + &in_turn("bar", &[TRUE, FALSE], ", thresholds: {faithfulness: {reduce: pass@2}}")
        + &in_turn("once", &[TRUE], ", repeats: {times: 1}");
    let metrics = "{faithfulness: {min: 0.5, level: warn, reduce: worst}, recall@5: }";
    let project = Project::new(&rules("{times: 4, reduce: median}", metrics), &cases);
    project.run(&[]);
    let of = |id| score(&record(&project, id), "faithfulness");
    assert_eq!(of("set"), Some(0.0), "the worst, as the metric says");
    assert_eq!(of("own"), Some(0.0), "half is no majority");
    let one_pair_of_six_fails = of("bar").expect("a score");
    assert!((one_pair_of_six_fails - 5.0 / 6.0).abs() < 1e-12, "{one_pair_of_six_fails}");
    assert_eq!(of("once"), Some(1.0));
    assert!(!record(&project, "once").is_repeated());
    let by = |id, key: &str| {
        let record = record(&project, id);
        let outcome = &record.outcomes[&MetricKey::parse(key).expect("a key")];
        outcome.detail().and_then(|detail| detail.reduced).map(|reduced| (reduced.by.to_string(), reduced.times))
    };
    assert_eq!(by("set", "recall@5"), Some(("median".to_owned(), 4)));
    assert_eq!(by("own", "faithfulness"), Some(("majority".to_owned(), 6)));
    assert_eq!(project.asked().len(), 4 + 6 + 4 + 1);
}

fn random(seed: &str, times: usize, metrics: &str) -> Project {
    let case = format!("- {{id: one, query: \"one [found: fee] [random: {TRUE}|{TRUE}|{FALSE}]\"}}\n");
    let project = Project::new(&rules(&format!("{{times: {times}}}"), metrics), &case);
    project.with("RAGEVAL_FIXTURE_SEED", seed)
}

const FOLDER: &str = "tests/snapshots/harness";

fn random_answers_leave_no_snapshot_to_review() {
    let metrics = "{faithfulness: {min: 0.5, reduce: pass@3}}";
    let mut seen = Vec::new();
    for seed in ["1", "2", "3", "4", "5", "6"] {
        let project = random(seed, 9, metrics);
        project.run(&[]).ends_with(0).does_not_say("insta");
        assert_eq!(project.files(FOLDER), Vec::<String>::new());
        let record = record(&project, "one");
        let verdicts = |outcome: &Outcome| outcome.detail().map_or(0, |detail| detail.claims.len());
        assert!(record.outcomes.values().all(|outcome| verdicts(outcome) == 0));
        seen.push(
            record.repeats.expect("repeats").each.iter().map(|repeat| repeat.outcomes.clone()).collect::<Vec<_>>(),
        );
    }
    seen.dedup();
    assert!(seen.len() > 1, "the seeds answer differently");
}

fn a_snapshot_from_before_is_an_orphan() {
    let project = random("1", 3, "{faithfulness: {mean: {min: 0}}}");
    let repeated = std::fs::read_to_string(project.path("thresholds.yaml")).expect("read");
    project.write("thresholds.yaml", &repeated.replace("{times: 3}", "{times: 1}"));
    project.run(&[]).ends_with(101).says("no snapshot of this case yet");
    let pending = project.files(FOLDER);
    let name = pending[0].strip_suffix(".new").expect("a pending snapshot");
    std::fs::rename(project.path(FOLDER).join(&pending[0]), project.path(FOLDER).join(name)).expect("renamed");
    project.write("thresholds.yaml", &repeated);
    project.run(&[]).ends_with(0).says(name);
    project.write("thresholds.yaml", &format!("{repeated}snapshots: {{orphans: fail}}\n"));
    assert_eq!(project.run(&[]).ends_with(101).failed(), ["gate::set::orphans"]);
}

fn one_failed_call_leaves_the_case_unmeasured() {
    let project = Project::new(
        &rules("{times: 3}", "{faithfulness: {mean: {min: 0}}}"),
        &in_turn("one", &[TRUE, TRUE, "!HTTP 500"], ""),
    );
    let ran = project.run(&[]);
    ran.ends_with(101).says("system error: repeat 3 of 3: HTTP 500");
    let mut failed = ran.failed();
    failed.sort();
    assert_eq!(failed, ["case::all::one", "gate::faithfulness::mean", "gate::set::unmeasured"]);
    assert_eq!(score(&record(&project, "one"), "faithfulness"), None);
}

fn a_refusal_among_answers_is_left_out_of_what_it_says_nothing_to() {
    let project = Project::new(
        &rules("{times: 4}", "{faithfulness: {mean: {min: 0}}, refusal_correctness: {mean: {min: 0}}}"),
        &in_turn("one", &[TRUE, FALSE, "I don't know.", "I don't know."], ""),
    );
    project.run(&[]).ends_with(0);
    let record = record(&project, "one");
    assert_eq!(score(&record, "faithfulness"), Some(0.5), "two repeats claimed something");
    assert_eq!(score(&record, "refusal_correctness"), Some(0.5), "two of four answered what can be answered");
}

fn a_random_system_gives_the_same_decisions_with_the_same_seed() {
    let decided = |seed| {
        let project = random(seed, 10, "{faithfulness: {min: 0.5, mean: {min: 0.5}}}");
        project.run(&[]);
        (project.latest_run().decisions, score(&record(&project, "one"), "faithfulness").expect("a score"))
    };
    assert_eq!(decided("11"), decided("11"));
    let scores: std::collections::BTreeSet<String> =
        ["11", "12", "13", "14"].map(|seed| decided(seed).1.to_string()).into();
    assert!(scores.len() > 1, "{scores:?}");
}

fn many_processes_ask_each_repeat_once() {
    let project = random("7", 8, "{faithfulness: {min: 0.9, mean: {min: 0.9}, bottom10: {min: 0.9}}}");
    let many = all_at_once(&project, "r1");
    assert_eq!(project.asked().len(), 8);
    let failed_many: Vec<&String> = many.iter().filter(|(_, ran)| ran.code != Some(0)).map(|(name, _)| name).collect();
    let together = project.latest_run();
    let one: Ran = project.run(&[]);
    let mut failed_one = one.failed();
    failed_one.sort();
    assert_eq!(failed_one.iter().collect::<Vec<_>>(), failed_many);
    assert!(!failed_one.is_empty());
    let alone = project.latest_run();
    // Which repeat gets which answer is the order in which calls arrive, and the texts list repeats by number.
    let decided = |run: &rageval_runner::model::run::Run| {
        let of = |one: &rageval_runner::model::run::Decision| {
            (one.trial.clone(), one.ruling, one.statistic, one.threshold, one.n)
        };
        run.decisions.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(decided(&together), decided(&alone));
    assert_eq!(together.records[0].outcomes, alone.records[0].outcomes);
    assert_eq!(together.records[0].repeats.as_ref().map(|repeats| repeats.each.len()), Some(8));
}

fn a_baseline_of_other_repeats_is_compared_where_the_number_means_the_same() {
    let with = |repeats: &str, bars: &str| {
        rules(repeats, &format!("{{faithfulness: {{{bars}max_drop: 0.3}}}}"))
            + "regression: {baseline: baselines/main.json}\nsnapshots: {fail_on: never}\n"
    };
    let project = Project::new(
        &rules("{times: 4}", "{faithfulness: {mean: {min: 0}}}"),
        &in_turn("one", &[TRUE, TRUE, TRUE, FALSE], ""),
    );
    project.run(&[]).ends_with(0);
    let made = baseline::from_run(&project.latest_run()).expect("a whole run");
    assert_eq!(made.baseline.cases.values().next().map(|case| case.response.as_str()), Some(TRUE));
    baseline::write(&project.path("baselines/main.json"), &made.baseline, &made.texts).expect("written");

    project.write("thresholds.yaml", &with("{times: 8}", ""));
    project.run(&[]).ends_with(0);
    project.write("thresholds.yaml", &with("{times: 1}", ""));
    project.run(&[]).ends_with(0).does_not_say("undecided");
    for (repeats, bars, now) in [
        ("{times: 4, reduce: worst}", "", "worst of 4"),
        ("{times: 4, reduce: median}", "", "median of 4"),
        ("{times: 4, reduce: pass@2}", "min: 0.5, ", "pass@2 at min 0.5"),
    ] {
        project.write("thresholds.yaml", &with(repeats, bars));
        let ran = project.run(&[]);
        ran.ends_with(101).says("other `repeats`").says(&format!("now {now}, in the baseline the mean"));
        ran.says("cargo rageval baseline accept");
    }
    // A case that has its own way is refused alone.
    project.write("thresholds.yaml", &with("{times: 4}", ""));
    project.write("cases/all.yaml", &in_turn("one", &[TRUE, TRUE, TRUE, FALSE], ", repeats: {reduce: worst}"));
    project.run(&[]).ends_with(101).says("now worst of 4, in the baseline the mean");
}

fn recorded_answers_are_repeats_by_their_lines() {
    let thresholds = "version: 1\nsystem: {kind: recorded, samples: answers.jsonl}\njudge: {provider: offline}\n\
                      repeats: {times: 3, reduce: median}\nmetrics: {faithfulness: {min: 1}}\n";
    let project = Project::new(&format!("{thresholds}{WAIVED}"), "- {id: one, query: What is the fee?}\n")
        .with(crate::fixture::SWITCH, "no-function");
    let line = |answer: &str| format!("{{\"id\": \"one\", \"response\": \"{answer}\", \"contexts\": [\"{TRUE}\"]}}\n");
    project.write("answers.jsonl", &[line(TRUE), line(FALSE), line(TRUE)].concat());
    project.run(&[]).ends_with(0);
    assert_eq!(score(&record(&project, "one"), "faithfulness"), Some(1.0));
    project.write("answers.jsonl", &[line(TRUE), line(FALSE)].concat());
    let why = "answers.jsonl: `one` is asked 3 times, and 2 answers are recorded (line 1, 2); record 3, or change `repeats.times`";
    project.run(&[]).ends_with(101).says(why);
}
