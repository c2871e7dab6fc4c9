//! The gates that a policy makes of a set.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    basis::{Basis, MetricFacts},
    rule::{Bottom10Rule, DecisionRule, Level, MeanRule, MetricRule, Rules, SetRules, SliceName, TailStatistic},
    slice,
};
use crate::{
    metric::Params,
    model::{
        CaseId, GoldenSet, MetricKey, UnitInterval,
        run::{GateFacts, SliceFacts},
    },
};

/// One rule over many cases, with the cases it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// The trial's name: `gate::recall@5::mean@language=pt`.
    pub name: String,
    /// The metric; `None` for `gate::set::unmeasured`.
    pub metric: Option<MetricKey>,
    /// The slice; `None` for the whole set.
    pub slice: Option<SliceName>,
    /// What must hold.
    pub rule: GateRule,
    /// What a broken rule does.
    pub level: Level,
    /// The cases, in the order of the set.
    pub population: Vec<CaseId>,
}

/// What must hold over the cases of a gate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GateRule {
    /// The mean is at least `min`.
    Mean {
        /// The lowest mean that passes.
        min: UnitInterval,
    },
    /// The share of scored cases at or above `of` is at least `min`.
    PassRate {
        /// The lowest share that passes.
        min: UnitInterval,
        /// The score that counts as passed; `None` where neither the rule nor the metric states one.
        of: Option<UnitInterval>,
    },
    /// The statistic of the worst tenth is at least `min`.
    Bottom10 {
        /// The lowest statistic that passes.
        min: UnitInterval,
        /// Which statistic.
        statistic: TailStatistic,
    },
    /// The paired mean does not drop by more than `max_drop`.
    MeanDrop {
        /// The largest drop that passes.
        max_drop: UnitInterval,
    },
    /// The mean does not drop by more than `max_drop` from the best of the last accepted runs.
    WindowDrop {
        /// The largest drop that passes.
        max_drop: UnitInterval,
    },
    /// The statistic of the worst tenth of the paired cases does not drop by more than `max_drop`.
    Bottom10Drop {
        /// The largest drop that passes.
        max_drop: UnitInterval,
        /// Which statistic.
        statistic: TailStatistic,
    },
    /// At most `max` cases have something unmeasured.
    Unmeasured {
        /// The most unmeasured cases that pass.
        max: usize,
    },
}

impl Gate {
    /// What of it is told beside a decision.
    pub fn facts(&self) -> GateFacts {
        let of = |slice: &SliceName| SliceFacts { field: slice.field.to_string(), value: slice.value.clone() };
        GateFacts {
            metric: self.metric.clone(),
            rule: self.rule.statistic().to_owned(),
            slice: self.slice.as_ref().map(of),
            warns: self.level == Level::Warn,
        }
    }
}

impl GateRule {
    /// The part of the trial's name: `mean`, `pass_rate`, `bottom10`, `mean_drop`, `window_drop`, `bottom10_drop`, `unmeasured`.
    pub fn statistic(self) -> &'static str {
        match self {
            Self::Mean { .. } => "mean",
            Self::PassRate { .. } => "pass_rate",
            Self::Bottom10 { .. } => "bottom10",
            Self::MeanDrop { .. } => "mean_drop",
            Self::WindowDrop { .. } => "window_drop",
            Self::Bottom10Drop { .. } => "bottom10_drop",
            Self::Unmeasured { .. } => "unmeasured",
        }
    }
}

/// Every gate of the policy over this set, from the files alone: by metric, the whole set before its slices, then `gate::set::unmeasured`.
///
/// `mean_drop` and `bottom10_drop` exist only with a `regression` key, `window_drop` only with a `window` in it. A slice has the set's rules with its own over them, number by number.
pub fn gates(rules: &Rules, set: &GoldenSet) -> Vec<Gate> {
    let whole: Vec<CaseId> = set.cases.iter().map(|case| case.id.clone()).collect();
    let by_field = slice::slices_of(&rules.slices, set);
    let mut gates = Vec::new();
    for (metric, rule) in &rules.metrics {
        let mut push = |slice: Option<&SliceName>, set_rules: &SetRules, population: &[CaseId]| {
            for (gate_rule, level) in gate_rules(rules, rule, set_rules) {
                let suffix = slice.map(|slice| format!("@{slice}")).unwrap_or_default();
                gates.push(Gate {
                    name: format!("gate::{metric}::{}{suffix}", gate_rule.statistic()),
                    metric: Some(metric.clone()),
                    slice: slice.cloned(),
                    rule: gate_rule,
                    level,
                    population: population.to_vec(),
                });
            }
        };
        push(None, &rule.set, &whole);
        for slice in &by_field {
            let set_rules = match rule.slices.get(slice) {
                Some((_, own)) => overlaid(&rule.set, own),
                None => rule.set,
            };
            push(Some(slice), &set_rules, &population_of(slice, set));
        }
        // A slice that only this metric names has the rules written there and no others.
        for (slice, (_, own)) in rule.slices.iter().filter(|(slice, _)| !by_field.contains(slice)) {
            push(Some(slice), own, &population_of(slice, set));
        }
    }
    let rule = GateRule::Unmeasured { max: rules.max_unmeasured };
    let name = format!("gate::set::{}", rule.statistic());
    gates.push(Gate { name, metric: None, slice: None, rule, level: Level::Fail, population: whole });
    gates
}

/// The judged metrics with a rule that can fail, of the policy or of a case, in the order of their names and from the files
/// alone: each has a judge that must be believed.
pub fn trusted_metrics(rules: &Rules, set: &GoldenSet, metrics: &BTreeMap<String, MetricFacts>) -> Vec<MetricKey> {
    let params = |key: &MetricKey| rules.metrics.get(key).map(|rule| rule.params.clone()).unwrap_or_default();
    let is_judged =
        |key: &MetricKey, params: &Params| metrics.get(key.name()).is_some_and(|facts| facts.is_judged(params));
    let of_policy = rules.metrics.iter().filter(|(key, rule)| rule.can_fail() && is_judged(key, &rule.params));
    // A case's own bar has the level that the policy gives the metric.
    let fails = |key: &MetricKey| rules.metrics.get(key).is_none_or(|rule| rule.level == Level::Fail);
    let of_cases = set
        .cases
        .iter()
        .flat_map(|case| &case.bars)
        .filter(|(key, bar)| (bar.min.is_some() || bar.max_drop.is_some()) && fails(key))
        .filter(|(key, bar)| is_judged(key, &params(key).overlaid(&bar.params)));
    let keys: BTreeSet<&MetricKey> = of_policy.map(|(key, _)| key).chain(of_cases.map(|(key, _)| key)).collect();
    keys.into_iter().cloned().collect()
}

/// The cases whose records decide a gate: its population, and for a mean that is compared confidently those of all such gates, whose p-values are corrected together.
///
/// So a gate that runs alone, in a process of its own, decides what it decides among all.
pub fn needed_cases(gate: &Gate, all: &[Gate], basis: &Basis<'_>) -> BTreeSet<CaseId> {
    let mut cases: BTreeSet<CaseId> = gate.population.iter().cloned().collect();
    if is_tested(gate, basis) {
        for other in all.iter().filter(|other| is_tested(other, basis)) {
            cases.extend(other.population.iter().cloned());
        }
    }
    cases
}

/// Whether a gate is decided with a p-value.
pub fn is_tested(gate: &Gate, basis: &Basis<'_>) -> bool {
    let is_mean_drop = matches!(gate.rule, GateRule::MeanDrop { .. });
    is_mean_drop && gate.metric.as_ref().is_some_and(|metric| basis.decision_rule(metric) == DecisionRule::Confident)
}

fn population_of(slice: &SliceName, set: &GoldenSet) -> Vec<CaseId> {
    set.cases.iter().filter(|case| slice::contains(slice, case)).map(|case| case.id.clone()).collect()
}

/// The rules of a set or slice as single gates.
fn gate_rules(rules: &Rules, metric: &MetricRule, set_rules: &SetRules) -> Vec<(GateRule, Level)> {
    let SetRules { mean, pass_rate, bottom10 } = *set_rules;
    let mean = mean.unwrap_or_default();
    let bottom10 = bottom10.unwrap_or_default();
    let compared = |max_drop: Option<UnitInterval>| max_drop.filter(|_| rules.regression.is_some());
    let has_window = rules.regression.as_ref().is_some_and(|regression| regression.window.is_some());
    let looking_back = compared(mean.max_drop).filter(|_| has_window);
    let statistic = bottom10.statistic;
    [
        mean.min.map(|min| (GateRule::Mean { min }, mean.level)),
        pass_rate.map(|rule| (GateRule::PassRate { min: rule.min, of: rule.of.or(metric.min) }, rule.level)),
        bottom10.min.map(|min| (GateRule::Bottom10 { min, statistic }, bottom10.level)),
        compared(mean.max_drop).map(|max_drop| (GateRule::MeanDrop { max_drop }, mean.level)),
        looking_back.map(|max_drop| (GateRule::WindowDrop { max_drop }, mean.level)),
        compared(bottom10.max_drop).map(|max_drop| (GateRule::Bottom10Drop { max_drop, statistic }, bottom10.level)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The set's rules with those of a slice over them; a number that the slice does not state keeps what stands there.
fn overlaid(set: &SetRules, own: &SetRules) -> SetRules {
    let mean = match (set.mean, own.mean) {
        (Some(set), Some(own)) => {
            Some(MeanRule { min: own.min.or(set.min), max_drop: own.max_drop.or(set.max_drop), level: own.level })
        }
        (set, own) => own.or(set),
    };
    let bottom10 = match (set.bottom10, own.bottom10) {
        (Some(set), Some(own)) => Some(Bottom10Rule {
            min: own.min.or(set.min),
            max_drop: own.max_drop.or(set.max_drop),
            statistic: own.statistic,
            level: own.level,
        }),
        (set, own) => own.or(set),
    };
    SetRules { mean, pass_rate: own.pass_rate.or(set.pass_rate), bottom10 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gate::{
            fixture::{World, golden, id, slice, unit},
            rule::{PassRateRule, SliceField},
        },
        model::{CaseBar, Place},
    };

    fn all_rules(min: f64) -> SetRules {
        SetRules {
            mean: Some(MeanRule { min: Some(unit(min)), max_drop: Some(unit(0.02)), level: Level::Fail }),
            pass_rate: Some(PassRateRule { min: unit(min), of: None, level: Level::Warn }),
            bottom10: Some(Bottom10Rule {
                min: Some(unit(min)),
                max_drop: Some(unit(0.1)),
                statistic: TailStatistic::TailMean,
                level: Level::Fail,
            }),
        }
    }

    #[test]
    fn every_rule_of_the_set_is_a_gate_and_unmeasured_always_is() {
        let world = World::of(&[1.0, 1.0]).rule(|rule| rule.set = all_rules(0.8));
        let without = ["gate::recall@5::mean", "gate::recall@5::pass_rate", "gate::recall@5::bottom10"];
        assert_eq!(world.gate_names(), [&without[..], &["gate::set::unmeasured"]].concat());
        let world = world.accepted(&[1.0, 1.0]);
        let with = ["gate::recall@5::mean_drop", "gate::recall@5::bottom10_drop", "gate::set::unmeasured"];
        assert_eq!(world.gate_names(), [&without[..], &with[..]].concat());
        assert_eq!(World::of(&[]).gate_names(), ["gate::set::unmeasured"]);
    }

    #[test]
    fn judged_metrics_with_a_rule_that_can_fail_must_be_trusted() {
        let trusted = |world: &World| -> Vec<String> {
            let keys = trusted_metrics(&world.rules, &world.set, world.basis().metrics);
            keys.iter().map(ToString::to_string).collect()
        };
        let judged = || World::with("faithfulness", [1.0].map(crate::gate::fixture::scored));
        assert_eq!(trusted(&judged()), Vec::<String>::new(), "measured and reported only");
        assert_eq!(trusted(&judged().rule(|rule| rule.min = Some(unit(0.5)))), ["faithfulness"]);
        assert_eq!(trusted(&judged().rule(|rule| rule.set = all_rules(0.5))), ["faithfulness"]);
        assert_eq!(trusted(&World::of(&[1.0]).rule(|rule| rule.min = Some(unit(0.5)))), Vec::<String>::new());
        let warns = |rule: &mut MetricRule| (rule.min, rule.level) = (Some(unit(0.5)), Level::Warn);
        assert_eq!(trusted(&judged().rule(warns)), Vec::<String>::new());
        let own = |world: &mut World| {
            let bar = CaseBar { min: Some(unit(0.5)), ..CaseBar::default() };
            world.set.cases[0].bars.insert(crate::gate::fixture::key("faithfulness"), bar);
        };
        assert_eq!(trusted(&judged().change(own)), ["faithfulness"]);
        assert_eq!(trusted(&judged().rule(warns).change(own)), Vec::<String>::new());
    }

    #[test]
    fn a_slice_has_the_rules_of_the_set_unless_it_states_its_own() {
        let zh = slice(SliceField::Language, "zh");
        let own =
            SetRules { mean: Some(MeanRule { min: Some(unit(0.6)), ..MeanRule::default() }), ..SetRules::default() };
        let world = World::of(&[1.0]).accepted(&[1.0]).rule(|rule| rule.set = all_rules(0.8)).change(|world| {
            world.set.cases.push(golden("z", 9));
            world.set.cases[1].language_tag = Some("zh".to_owned());
            world.rules.slices.by = vec![(Place::default(), SliceField::Language)];
            for rule in world.rules.metrics.values_mut() {
                rule.slices.insert(zh.clone(), (Place::default(), own));
            }
        });
        let gates = gates(&world.rules, &world.set);
        let find = |name: &str| gates.iter().find(|gate| gate.name == name).expect(name);
        let zh_mean = find("gate::recall@5::mean@language=zh");
        assert_eq!(zh_mean.rule, GateRule::Mean { min: unit(0.6) });
        assert_eq!(zh_mean.population, [id("z")]);
        assert_eq!(find("gate::recall@5::mean@language=en").rule, GateRule::Mean { min: unit(0.8) });
        // A slice that states one number loses no other rule.
        find("gate::recall@5::mean_drop@language=zh");
        find("gate::recall@5::bottom10@language=zh");
    }

    #[test]
    fn a_slice_that_one_metric_names_has_the_rules_written_there_alone() {
        let hard = slice(SliceField::Difficulty, "hard");
        let own =
            SetRules { mean: Some(MeanRule { min: Some(unit(0.6)), ..MeanRule::default() }), ..SetRules::default() };
        let world = World::of(&[1.0]).rule(|rule| {
            rule.set = all_rules(0.8);
            rule.slices.insert(hard, (Place::default(), own));
        });
        let sliced: Vec<_> = world.gate_names().into_iter().filter(|name| name.contains("hard")).collect();
        assert_eq!(sliced, ["gate::recall@5::mean@difficulty=hard"]);
    }

    #[test]
    fn a_gate_with_a_corrected_p_value_needs_the_cases_of_all_such_gates() {
        let world = World::with("faithfulness", [1.0, 1.0].map(crate::gate::fixture::scored)).accepted(&[1.0, 1.0]);
        let world = world.rule(|rule| rule.set = all_rules(0.8)).change(|world| {
            world.set.cases[1].language_tag = Some("zh".to_owned());
            world.rules.slices.by = vec![(Place::default(), SliceField::Language)];
        });
        let gates = gates(&world.rules, &world.set);
        let needed = |name: &str| {
            let gate = gates.iter().find(|gate| gate.name == name).expect(name);
            needed_cases(gate, &gates, &world.basis()).len()
        };
        assert_eq!(needed("gate::faithfulness::mean_drop@language=zh"), 2);
        assert_eq!(needed("gate::faithfulness::mean@language=zh"), 1);
    }
}
