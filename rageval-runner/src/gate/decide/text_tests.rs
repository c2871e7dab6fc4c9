//! Gates that failed or could not be decided, and what they print.

use super::tests::*;

use super::*;
use crate::{
    gate::{
        fixture::{World, golden, id, unit},
        rule::{Bottom10Rule, PassRateRule},
    },
    model::{AskedOf, MetricKey, Outcome},
};

const MEAN: &str = "gate::recall@5::mean";
const JUDGED_DROP: &str = "gate::faithfulness::mean_drop";

/// Compares the whole text of a gate.
fn check(world: &World, gate: &str, expected: &[&str]) {
    let lines = world.gate(gate).lines;
    assert_eq!(lines, expected, "\n{}", lines.join("\n"));
}

#[test]
fn a_failing_mean_shows_its_interval_and_its_lowest_cases() {
    let values: Vec<f64> = (0..12).map(|i| if i < 3 { 0.25 * f64::from(i) } else { 0.99 }).collect();
    let others = vec![Outcome::not_applicable("no relevant documents")];
    let world = World::with("recall@5", outcomes(&values, others)).mean(0.82).rule(|rule| rule.min = Some(unit(0.4)));
    check(
        &world,
        MEAN,
        &[
            "failed      mean 0.805, min 0.82",
            "            mean 0.805 [0.54, 0.95] over 12 of 13 (1 not applicable)",
            "cases       the lowest 10 of 12; red as cases: 2 of these 10",
            "            0.00 c00 (red) cases/en.yaml:10",
            "            0.25 c01 (red) cases/en.yaml:11",
            "            0.50 c02 cases/en.yaml:12",
            "            0.99 c03 cases/en.yaml:13",
            "            0.99 c04 cases/en.yaml:14",
            "            0.99 c05 cases/en.yaml:15",
            "            0.99 c06 cases/en.yaml:16",
            "            0.99 c07 cases/en.yaml:17",
            "            and 2 more",
            "look        cargo test --test rag_regression -- --exact 'gate::recall@5::mean'",
            "accept      a lower `min` in thresholds.yaml; now it is 0.82",
        ],
    );
}

#[test]
fn a_failing_pass_rate_names_the_cases_that_did_not_pass() {
    let world = World::of(&[0.8, 0.8, 0.79, 0.5]).rule(|rule| {
        rule.set.pass_rate = Some(PassRateRule { min: unit(0.9), of: Some(unit(0.8)), level: Level::Fail });
    });
    check(
        &world,
        "gate::recall@5::pass_rate",
        &[
            "failed      pass rate 0.50, min 0.90 (few cases)",
            "            pass rate 0.500 [0.15, 0.85] over 4 of 4",
            "            a case counts as passed from 0.80 on",
            "cases       the lowest 2 of 4; red as cases: 0 of these 2",
            "            0.50 c03 cases/en.yaml:13",
            "            0.79 c02 cases/en.yaml:12",
            "look        cargo test --test rag_regression -- --exact 'gate::recall@5::pass_rate'",
            "accept      a lower `min` in thresholds.yaml; now it is 0.90",
        ],
    );
}

#[test]
fn a_failing_worst_tenth_names_the_cases_in_it() {
    let world = World::of(&[scores(18, 1), vec![0.3]].concat()).rule(|rule| {
        rule.set.bottom10 = Some(Bottom10Rule { min: Some(unit(0.5)), ..Bottom10Rule::default() });
        rule.min = Some(unit(0.1));
    });
    check(
        &world,
        "gate::recall@5::bottom10",
        &[
            "failed      bottom10 quantile 0.30, min 0.50",
            "            quantile 0.300 [0.00, 1.00] over 20 of 20",
            "            tail mean 0.15 of the lowest 2",
            "cases       the lowest 2 of 20; red as cases: 1 of these 2",
            "            0.00 c18 (red) cases/en.yaml:28",
            "            0.30 c19 cases/en.yaml:29",
            "look        cargo test --test rag_regression -- --exact 'gate::recall@5::bottom10'",
            "accept      a lower `min` in thresholds.yaml; now it is 0.50",
        ],
    );
}

#[test]
fn a_failing_drop_shows_what_changed() {
    let world = judged_drop(12, 48).change(|world| {
        world.set.cases.push(golden("new", 99));
        let mut record = crate::model::Record::clone(&world.records[&id("c00")]);
        record.case = id("new");
        world.records.insert(id("new"), record.into());
    });
    check(
        &world,
        JUDGED_DROP,
        &[
            "failed      mean drop 0.08, max_drop 0.02, p 0.0002 (0.0002 among the run's gates)",
            "            mean 0.90 -> 0.82, drop in [0.05, 0.13] (95%), over 60 paired cases",
            "            not compared: 1 new",
            "            12 worse, 0 better, 48 equal; a true drop of 0.066 would show 8 times in 10",
            "            effect size 0.50, Wilcoxon p 0.0003; neither decides",
            "cases       the largest drops; red as cases: 0 of these 10",
            "            0.90 -> 0.50 c00 cases/en.yaml:10",
            "            0.90 -> 0.50 c01 cases/en.yaml:11",
            "            0.90 -> 0.50 c02 cases/en.yaml:12",
            "            0.90 -> 0.50 c03 cases/en.yaml:13",
            "            0.90 -> 0.50 c04 cases/en.yaml:14",
            "            0.90 -> 0.50 c05 cases/en.yaml:15",
            "            0.90 -> 0.50 c06 cases/en.yaml:16",
            "            0.90 -> 0.50 c07 cases/en.yaml:17",
            "            and 2 more",
            "look        cargo test --test rag_regression -- --exact 'gate::faithfulness::mean_drop'",
            "accept      cargo rageval baseline accept --reason WHY",
        ],
    );
}

#[test]
fn a_failing_drop_of_the_worst_tenth_shows_both_figures() {
    let rule = Bottom10Rule { max_drop: Some(unit(0.4)), ..Bottom10Rule::default() };
    let now = [vec![0.3; 2], vec![0.9; 18]].concat();
    let world = World::of(&now).rule(|metric| metric.set.bottom10 = Some(rule)).accepted(&[0.8; 20]);
    check(
        &world,
        "gate::recall@5::bottom10_drop",
        &[
            "failed      bottom10 quantile 0.80 -> 0.30: dropped by 0.50, max_drop 0.40",
            "            over 20 paired cases",
            "cases       the largest drops; red as cases: 0 of these 2",
            "            0.80 -> 0.30 c00 cases/en.yaml:10",
            "            0.80 -> 0.30 c01 cases/en.yaml:11",
            "look        cargo test --test rag_regression -- --exact 'gate::recall@5::bottom10_drop'",
            "accept      cargo rageval baseline accept --reason WHY",
        ],
    );
}

#[test]
fn an_undecided_gate_names_what_is_unmeasured() {
    let world = World::with("recall@5", outcomes(&scores(10, 0), vec![fault()])).mean(0.8);
    check(
        &world,
        MEAN,
        &[
            "undecided   unmeasured: 1 of 11 cases",
            "            a number over the others would hide them",
            "cases       unmeasured",
            "            system error: c10: status 500",
            "look        cargo test --test rag_regression -- --exact 'gate::recall@5::mean'",
        ],
    );
}

#[test]
fn the_gate_of_the_unmeasured_counts_by_cause() {
    let others = vec![fault(), Outcome::unmeasured("judge time-out", "60 s"), fault()];
    check(
        &World::with("recall@5", outcomes(&scores(10, 0), others)),
        "gate::set::unmeasured",
        &[
            "undecided   unmeasured, in whole or in part: 3 of 13 cases; max_unmeasured 0",
            "cases       by cause",
            "            judge time-out, 1: c11",
            "            system error, 2: c10, c12",
            "look        cargo test --test rag_regression -- --exact 'gate::set::unmeasured'",
        ],
    );
}

#[test]
fn a_metric_that_no_case_is_scored_on_says_what_it_needs() {
    let needs = |metric: &str, why: &str, expected: &[&str]| {
        let world = World::with(metric, vec![Outcome::not_applicable(why); 12]).mean(0.5);
        let headline = format!("undecided   no case is scored on {metric}");
        let look = "look        cargo test --test rag_regression -- --exact 'gate::set::unmeasured'";
        check(&world, "gate::set::unmeasured", &[&[headline.as_str()], expected, &[look]].concat());
    };
    let give = "            drop the metric, or give the cases what it needs: docs/metrics.md";
    needs("recall@5", "no relevant documents", &[give]);
    needs(
        "pairwise",
        "no baseline answer",
        &[
            "            accept a baseline and name it in `regression.baseline`, for pairwise",
            "            cargo rageval baseline accept, after a run of all cases",
        ],
    );
}

#[test]
fn a_gate_under_another_judge_says_what_to_do() {
    let world = judged_drop(0, 20).change(|world| world.judge.fingerprint = "other".to_owned());
    check(
        &world,
        JUDGED_DROP,
        &[
            "undecided   another judge than the baseline's",
            "            now offline 1 (other)",
            "            in the baseline offline 1 (aaaaaaaa)",
            "look        cargo test --test rag_regression -- --exact 'gate::faithfulness::mean_drop'",
            "accept      cargo rageval baseline rejudge, then the same with --accept",
        ],
    );
}

#[test]
fn a_gate_under_another_judge_names_what_is_left_to_offline() {
    let world = judged_drop(0, 20).change(|world| {
        let key = MetricKey::parse("faithfulness").expect("a key");
        world.rules.metrics.get_mut(&key).expect("a rule").judge = AskedOf::Offline;
        world.judge.provider = "openai".to_owned();
        world.judge.fingerprint = "other".to_owned();
    });
    check(
        &world,
        JUDGED_DROP,
        &[
            "undecided   another judge than the baseline's",
            "            now openai 1 (other) with faithfulness left to `offline`",
            "            in the baseline offline 1 (aaaaaaaa)",
            "look        cargo test --test rag_regression -- --exact 'gate::faithfulness::mean_drop'",
            "accept      cargo rageval baseline rejudge, then the same with --accept",
        ],
    );
}

#[test]
fn a_gate_that_holds_but_for_the_unmeasured_says_so() {
    let world = World::with("recall@5", outcomes(&scores(19, 0), vec![fault()])).mean(0.96);
    check(
        &world.change(|world| world.rules.max_unmeasured = 1),
        MEAN,
        &[
            "failed      mean 0.95 with 1 unmeasured at 0, min 0.96",
            "            mean 1.000 over 19 of 20 (1 unmeasured)",
            "            unmeasured: c19",
            "cases       the lowest 10 of 19; red as cases: 0 of these 10",
            "            1.00 c00 cases/en.yaml:10",
            "            1.00 c01 cases/en.yaml:11",
            "            1.00 c02 cases/en.yaml:12",
            "            1.00 c03 cases/en.yaml:13",
            "            1.00 c04 cases/en.yaml:14",
            "            1.00 c05 cases/en.yaml:15",
            "            1.00 c06 cases/en.yaml:16",
            "            1.00 c07 cases/en.yaml:17",
            "            and 2 more",
            "look        cargo test --test rag_regression -- --exact 'gate::recall@5::mean'",
            "accept      a lower `min` in thresholds.yaml; now it is 0.96",
        ],
    );
}
