//! Properties that every decision has, whatever the scores.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{
    decide_gate, drop_tests,
    fixture::{World, id, scored, unit},
    gates,
    plan::Gate,
    rule::{Bottom10Rule, Level, MeanRule, PassRateRule, TailStatistic},
    tally::Tally,
};
use crate::model::{
    Outcome,
    run::{Decision, Ruling},
};

/// Scores as metrics give them: shares of small counts, and any number.
fn score() -> impl Strategy<Value = f64> {
    prop_oneof![(0_u32..=6).prop_map(|k| f64::from(k) / 6.0), 0.0..=1.0]
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        6 => score().prop_map(scored),
        1 => Just(Outcome::not_applicable("no relevant documents")),
        1 => Just(Outcome::unmeasured("system error", "status 500")),
    ]
}

/// A world with a `min` of everything that has one, and drops of everything that has them.
fn world(outcomes: Vec<Outcome>, min: f64, max_drop: f64, max_unmeasured: usize, statistic: TailStatistic) -> World {
    let before = vec![0.8; outcomes.len()];
    World::with("recall@5", outcomes)
        .accepted(&before)
        .rule(|rule| {
            let (min, max_drop, level) = (Some(unit(min)), Some(unit(max_drop)), Level::Fail);
            rule.min = min;
            rule.max_drop = max_drop;
            rule.set.mean = Some(MeanRule { min, max_drop, level });
            rule.set.pass_rate = min.map(|min| PassRateRule { min, of: None, level });
            rule.set.bottom10 = Some(Bottom10Rule { min, max_drop, statistic, level });
        })
        .change(|world| world.rules.max_unmeasured = max_unmeasured)
}

fn any_world(cases: std::ops::Range<usize>) -> impl Strategy<Value = World> {
    let statistic = prop_oneof![Just(TailStatistic::Quantile), Just(TailStatistic::TailMean)];
    (prop::collection::vec(outcome(), cases), score(), score(), 0_usize..3, statistic).prop_map(
        |(outcomes, min, max_drop, unmeasured, statistic)| world(outcomes, min, max_drop, unmeasured, statistic),
    )
}

fn decide_all(world: &World) -> BTreeMap<String, Decision> {
    let all: Vec<Gate> = gates(&world.rules, &world.set);
    let scores = world.scores();
    let tests = drop_tests(&all, &scores, &world.basis());
    let decide = |gate: &Gate| decide_gate(gate, &world.set, &scores, &world.basis(), &tests);
    all.iter().map(|gate| (gate.name.clone(), decide(gate))).collect()
}

fn rulings(world: &World) -> BTreeMap<String, Ruling> {
    decide_all(world).into_iter().map(|(name, decision)| (name, decision.ruling)).collect()
}

fn with_outcome(world: &World, place: usize, outcome: &Outcome) -> World {
    world.clone().change(|world| {
        let case = id(&format!("c{place:02}"));
        let record = world.record_mut(&case);
        record.outcomes.values_mut().for_each(|held| *held = outcome.clone());
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_three_outcomes_add_up(world in any_world(0..30)) {
        let all: Vec<_> = world.set.cases.iter().map(|case| case.id.clone()).collect();
        let metric = world.rules.metrics.keys().next().expect("a metric");
        let tally = Tally::of(metric, &all, &world.scores());
        prop_assert_eq!(tally.total(), world.set.cases.len());
        prop_assert_eq!(tally.scored.len() + tally.not_applicable.len() + tally.unmeasured.len(), all.len());
    }

    #[test]
    fn the_order_of_cases_decides_nothing(world in any_world(1..30)) {
        let mut reversed = world.clone();
        reversed.set.cases.reverse();
        prop_assert_eq!(rulings(&world), rulings(&reversed));
    }

    #[test]
    fn lowering_a_score_turns_no_gate_green(world in any_world(1..30), place in 0_usize..30, share in 0.0_f64..1.0) {
        let place = place % world.set.cases.len();
        let held = world.records[&id(&format!("c{place:02}"))].outcomes.values().next().expect("an outcome").score();
        prop_assume!(held.is_some());
        let lower = held.expect("a score").get() * share;
        let before = rulings(&world);
        let after = rulings(&with_outcome(&world, place, &scored(lower)));
        for (gate, ruling) in before {
            prop_assert!(!ruling.is_red() || after[&gate].is_red(), "{} {:?} -> {:?}", gate, ruling, after[&gate]);
        }
    }

    #[test]
    fn losing_a_score_turns_no_gate_green(world in any_world(1..30), place in 0_usize..30) {
        let place = place % world.set.cases.len();
        let held = world.records[&id(&format!("c{place:02}"))].outcomes.values().next().expect("an outcome").score();
        prop_assume!(held.is_some());
        let before = rulings(&world);
        let after = rulings(&with_outcome(&world, place, &Outcome::unmeasured("system error", "status 500")));
        for (gate, ruling) in before {
            prop_assert!(!ruling.is_red() || after[&gate].is_red(), "{} {:?} -> {:?}", gate, ruling, after[&gate]);
        }
    }

    #[test]
    fn a_passing_gate_met_its_bar_over_cases_that_were_scored(world in any_world(0..30)) {
        for (name, decision) in decide_all(&world) {
            if decision.ruling == Ruling::Pass && !name.starts_with("gate::set") {
                prop_assert!(decision.n.is_some_and(|n| n > 0), "{}: {:?}", name, decision.lines);
                let (statistic, threshold) = (decision.statistic.expect("a number"), decision.threshold.expect("a bar"));
                let holds = if name.contains("drop") { statistic <= threshold + 1e-9 } else { statistic >= threshold - 1e-9 };
                prop_assert!(holds, "{}: {:?}", name, decision.lines);
            }
        }
    }

    #[test]
    fn more_allowed_faults_turn_no_scored_gate_green_that_failed(world in any_world(1..30)) {
        let measured = rulings(&world.clone().change(|world| world.rules.max_unmeasured = 30));
        for (gate, ruling) in rulings(&world) {
            prop_assert!(ruling != Ruling::Fail || measured[&gate].is_red(), "{}", gate);
        }
    }

    #[test]
    fn a_red_decision_explains_itself_within_the_width(world in any_world(1..30)) {
        for decision in decide_all(&world).values().filter(|decision| decision.ruling.is_red()) {
            prop_assert!(decision.lines.len() >= 2 && decision.lines.len() <= 18, "{:?}", decision.lines);
            prop_assert!(decision.lines.iter().all(|line| line.chars().count() <= 100), "{:?}", decision.lines);
        }
    }
}
