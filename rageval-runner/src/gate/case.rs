//! What the rules say of one case.

use super::{
    basis::{Basis, Incomparable, holds_drop, holds_min, same_estimand},
    noise,
    rule::{Level, MetricRule},
    tally,
};
use crate::{
    model::{
        CaseScores, GoldenCase, MetricKey, Outcome, Record, UnitInterval, Unmeasured,
        run::{Decision, Ruling, SnapshotFailure},
    },
    report::console,
};

/// A rule that a score breaks.
#[derive(Debug, Clone, PartialEq)]
pub struct Broken {
    /// The metric.
    pub metric: MetricKey,
    /// The score.
    pub score: f64,
    /// The bar.
    pub bar: Bar,
}

/// The bar of a rule on one case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bar {
    /// The lowest score that passes.
    Min(f64),
    /// The largest drop against the baseline that passes.
    MaxDrop {
        /// The baseline's score.
        baseline: f64,
        /// The bar.
        max_drop: f64,
    },
}

/// What the rules say of one case.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CaseFindings {
    /// Broken rules that make it red.
    pub failed: Vec<Broken>,
    /// Broken rules that only warn.
    pub warned: Vec<Broken>,
    /// Broken rules of metrics in which it is known to fail.
    pub known: Vec<Broken>,
    /// Metrics that it is said to fail, and in which it breaks no rule.
    pub recovered: Vec<MetricKey>,
    /// What is unmeasured: of the system once, else of each metric.
    pub faults: Vec<(Option<MetricKey>, Unmeasured)>,
    /// Drops that can't be decided.
    pub undecided: Vec<(MetricKey, Incomparable)>,
}

impl CaseFindings {
    /// Whether the case is red for its scores or for what is unmeasured; snapshots apart.
    pub fn ruling(&self, max_unmeasured: usize) -> Ruling {
        if !self.failed.is_empty() {
            Ruling::Fail
        } else if !self.undecided.is_empty() || (!self.faults.is_empty() && max_unmeasured == 0) {
            Ruling::Undecided
        } else if !self.faults.is_empty() {
            Ruling::Inconclusive
        } else {
            Ruling::Pass
        }
    }
}

/// What the rules say of one case: its own bars over the policy's.
pub fn case_findings(case: &GoldenCase, scores: &CaseScores, basis: &Basis<'_>) -> CaseFindings {
    let mut findings =
        CaseFindings { faults: tally::faults_of(case, Some(scores), basis.rules), ..CaseFindings::default() };
    let known_metrics = case.known_failure.as_ref().map_or(&[][..], |known| &known.metrics);
    for (metric, rule) in basis.rules.metrics_of(case) {
        let CaseBars { min, max_drop, level } = case_bars(case, metric, rule);
        let settled = scores.settled(metric).and_then(|outcome| outcome.score());
        let Some(score) = settled.map(UnitInterval::get) else { continue };
        let mut broken = Vec::new();
        if let Some(min) = min.filter(|min| !holds_min(score, *min)) {
            broken.push(Bar::Min(min));
        }
        if let Some((max_drop, accepted)) = max_drop.zip(accepted_score(case, scores, metric, basis)) {
            match accepted.and_then(|accepted| accepted.carries(max_drop)) {
                Ok(accepted) => {
                    let baseline = judged_again(scores, metric).unwrap_or(accepted);
                    if !holds_drop(baseline - score, max_drop) {
                        broken.push(Bar::MaxDrop { baseline, max_drop });
                    }
                }
                Err(why) if level == Level::Fail => findings.undecided.push((metric.clone(), why)),
                Err(_) => {}
            }
        }
        let is_known = known_metrics.contains(metric);
        if is_known && broken.is_empty() {
            findings.recovered.push(metric.clone());
        }
        let list = match level {
            _ if is_known => &mut findings.known,
            Level::Fail => &mut findings.failed,
            Level::Warn => &mut findings.warned,
        };
        list.extend(broken.into_iter().map(|bar| Broken { metric: metric.clone(), score, bar }));
    }
    findings
}

/// The bars of one metric on one case: the case's own over the policy's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CaseBars {
    pub(super) min: Option<f64>,
    pub(super) max_drop: Option<f64>,
    pub(super) level: Level,
}

/// The bars of one metric on one case; `rule` is what the policy says of the metric.
pub(super) fn case_bars(case: &GoldenCase, metric: &MetricKey, rule: Option<&MetricRule>) -> CaseBars {
    let own = case.bars.get(metric);
    let min = own.and_then(|own| own.min).or(rule.and_then(|rule| rule.min));
    let max_drop = own.and_then(|own| own.max_drop).or(rule.and_then(|rule| rule.max_drop));
    let level = rule.map_or(Level::Fail, |rule| rule.level);
    CaseBars { min: min.map(UnitInterval::get), max_drop: max_drop.map(UnitInterval::get), level }
}

/// The accepted score of a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct AcceptedScore {
    score: f64,
    /// Whether the judge can be asked about the accepted answer again, where its readings can differ.
    can_be_read_again: bool,
}

impl AcceptedScore {
    /// The score, where a drop from it can be told from noise; a score that can't drop by more than `max_drop` needs no second reading.
    pub(super) fn carries(self, max_drop: f64) -> Result<f64, Incomparable> {
        let needs_none = self.can_be_read_again || holds_drop(self.score, max_drop);
        if needs_none { Ok(self.score) } else { Err(Incomparable::NotStored) }
    }
}

/// The accepted score of this case; `None` for a case or metric that is new, changed, or had no score.
pub(super) fn accepted_score(
    case: &GoldenCase,
    scores: &CaseScores,
    metric: &MetricKey,
    basis: &Basis<'_>,
) -> Option<Result<AcceptedScore, Incomparable>> {
    let accepted = basis.baseline?.cases.get(&case.id).filter(|accepted| accepted.digest == scores.digest)?;
    let comparable = basis.comparable(metric)?;
    let Some(outcome) = accepted.outcomes.get(metric) else { return Some(Err(Incomparable::NotInBaseline)) };
    let score = outcome.score()?.get();
    let now = scores.outcome(metric).and_then(|outcome| estimand(&outcome));
    let same = same_estimand(now.as_deref(), estimand(outcome).as_deref());
    let had_claims = outcome.detail().is_some_and(|detail| !detail.claims.is_empty());
    let lacks_claims = scores.has_claims(metric) && !had_claims;
    let can_be_read_again = !basis.is_noisy(metric) || !(accepted.response.trim().is_empty() || lacks_claims);
    Some(comparable.and(same).map(|()| AcceptedScore { score, can_be_read_again }))
}

/// What a score estimates where it came out of repeats and is no mean.
pub(super) fn estimand(outcome: &Outcome) -> Option<String> {
    outcome.detail().and_then(|detail| detail.reduced).and_then(|reduced| reduced.estimand())
}

/// The baseline's score after its answer was judged again; `None` where it was not.
fn judged_again(scores: &CaseScores, metric: &MetricKey) -> Option<f64> {
    let confirmation = scores.readings.get(metric)?.confirmation.as_ref()?;
    confirmation.baseline().map(UnitInterval::get)
}

/// Decides one case from its record, and from its snapshot where that was compared.
pub fn decide_case(
    case: &GoldenCase,
    record: &Record,
    basis: &Basis<'_>,
    snapshot: Option<&SnapshotFailure>,
) -> Decision {
    let findings = case_findings(case, &CaseScores::from(record), basis);
    let ruling = if snapshot.is_some() { Ruling::Fail } else { findings.ruling(basis.rules.max_unmeasured) };
    let (statistic, threshold) = match findings.failed.first() {
        Some(Broken { score, bar: Bar::Min(min), .. }) => (Some(*score), Some(*min)),
        Some(Broken { score, bar: Bar::MaxDrop { baseline, max_drop }, .. }) => {
            (Some(baseline - score), Some(*max_drop))
        }
        None => (None, None),
    };
    let lines =
        if ruling.is_red() { console::case::lines(case, record, &findings, snapshot, basis) } else { Vec::new() };
    let mut notices = console::case::notices(case, &findings, basis);
    notices.extend(record.readings.keys().filter_map(|metric| noise::notice(record, metric)));
    Decision {
        statistic,
        threshold,
        notices,
        snapshot: snapshot.cloned(),
        findings: console::findings::told(record, &findings, basis.rules.max_unmeasured),
        ..Decision::told(case.trial_name(), ruling, lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gate::fixture::{World, id, key, scored, unit},
        model::{CaseBar, KnownFailure, Taken},
    };

    fn with_min(score: f64, min: f64) -> World {
        World::of(&[score]).rule(|rule| rule.min = Some(unit(min)))
    }

    fn ruling(world: &World) -> Ruling {
        world.case("c00").ruling
    }

    fn known(world: World) -> World {
        world.change(|world| {
            let known = KnownFailure { metrics: vec![key("recall@5")], reason: "the index lacks it".to_owned() };
            world.set.cases[0].known_failure = Some(known);
        })
    }

    #[test]
    fn a_score_is_compared_with_a_slack_of_a_billionth() {
        let by_addition = 0.1 + 0.6;
        for (score, min, expected) in [
            (0.7966, 0.80, Ruling::Fail),
            (7.0 / 10.0, 0.7, Ruling::Pass),
            (by_addition, 0.7, Ruling::Pass),
            (0.699_999_999_99, 0.7, Ruling::Pass),
            (0.699_999_99, 0.7, Ruling::Fail),
            (0.0, 0.0, Ruling::Pass),
            (1.0, 1.0, Ruling::Pass),
        ] {
            assert_eq!(ruling(&with_min(score, min)), expected, "{score} {min}");
        }
    }

    #[test]
    fn a_drop_is_compared_with_the_same_slack() {
        for (before, now, max_drop, expected) in [
            (0.90, 0.88, 0.02, Ruling::Pass),
            (0.90, 0.879, 0.02, Ruling::Fail),
            (0.5, 0.5, 0.0, Ruling::Pass),
            (0.5, 0.49, 0.0, Ruling::Fail),
            (0.2, 0.9, 0.0, Ruling::Pass),
        ] {
            let world = World::of(&[now]).rule(|rule| rule.max_drop = Some(unit(max_drop))).accepted(&[before]);
            assert_eq!(ruling(&world), expected, "{before} -> {now}, {max_drop}");
        }
    }

    #[test]
    fn a_new_or_changed_case_has_min_alone() {
        let dropped = World::of(&[0.1]).rule(|rule| rule.max_drop = Some(unit(0.0))).accepted(&[0.9]);
        assert_eq!(ruling(&dropped), Ruling::Fail);
        let changed = dropped.clone().change(|world| {
            world.set.cases[0].query = "Another question?".to_owned();
            let digest = world.set.cases[0].digest();
            world.record_mut(&id("c00")).digest = digest;
        });
        assert_eq!(ruling(&changed), Ruling::Pass);
        let new = dropped.change(|world| world.baseline.as_mut().expect("a baseline").cases.clear());
        assert_eq!(ruling(&new), Ruling::Pass);
    }

    #[test]
    fn a_bar_of_the_case_goes_over_that_of_the_policy() {
        for (own, expected) in [(0.4, Ruling::Pass), (0.6, Ruling::Fail)] {
            let world = with_min(0.5, if own < 0.5 { 0.9 } else { 0.1 }).change(|world| {
                let bar = CaseBar { min: Some(unit(own)), ..CaseBar::default() };
                world.set.cases[0].bars.insert(key("recall@5"), bar);
            });
            assert_eq!(ruling(&world), expected, "{own}");
        }
    }

    #[test]
    fn a_bar_of_zero_in_the_case_is_a_bar() {
        let world = with_min(0.0, 0.9).change(|world| {
            let bar = CaseBar { min: Some(unit(0.0)), ..CaseBar::default() };
            world.set.cases[0].bars.insert(key("recall@5"), bar);
        });
        assert_eq!(ruling(&world), Ruling::Pass);
    }

    #[test]
    fn a_rule_that_warns_does_not_fail() {
        let world = with_min(0.5, 0.9).rule(|rule| rule.level = Level::Warn);
        let decision = world.case("c00");
        assert_eq!(decision.ruling, Ruling::Pass);
        assert_eq!(decision.notices, ["warning: c00: recall@5 0.50, min 0.90"]);
    }

    #[test]
    fn a_known_failure_passes_with_a_notice_while_it_fails() {
        let decision = known(with_min(0.5, 0.9)).case("c00");
        assert_eq!(decision.ruling, Ruling::Pass);
        assert_eq!(decision.notices, ["known failure: c00: recall@5 0.50, min 0.90: the index lacks it"]);
    }

    #[test]
    fn a_known_failure_that_passes_says_so() {
        let decision = known(with_min(0.95, 0.9)).case("c00");
        assert_eq!(decision.ruling, Ruling::Pass);
        assert_eq!(decision.notices, ["no longer fails: c00; remove its `known_failure` at cases/en.yaml:10"]);
    }

    #[test]
    fn a_known_failure_excuses_no_other_metric() {
        let world = known(with_min(0.5, 0.9)).change(|world| {
            let mut rule = world.rules.metrics[&key("recall@5")].clone();
            rule.min = Some(unit(1.0));
            world.rules.metrics.insert(key("faithfulness"), rule);
            world.record_mut(&id("c00")).outcomes.insert(key("faithfulness"), scored(0.9));
        });
        assert_eq!(ruling(&world), Ruling::Fail);
    }

    #[test]
    fn a_known_failure_never_excuses_what_is_unmeasured() {
        let world = known(World::with("recall@5", [Outcome::unmeasured("system error", "500")]));
        assert_eq!(ruling(&world.rule(|rule| rule.min = Some(unit(0.9)))), Ruling::Undecided);
    }

    #[test]
    fn what_is_unmeasured_is_undecided_under_any_rule() {
        let faults = [
            World::with("recall@5", [Outcome::unmeasured("judge time-out", "60 s")]),
            World::of(&[1.0]).change(|world| {
                let record = world.record_mut(&id("c00"));
                record.taken = Taken::Failed(Unmeasured::new("system crashed", "exit 1"));
                record.outcomes.clear();
            }),
            World::of(&[1.0]).change(|world| world.record_mut(&id("c00")).outcomes.clear()),
        ];
        for world in faults {
            assert_eq!(ruling(&world), Ruling::Undecided);
            assert_eq!(ruling(&world.clone().rule(|rule| rule.level = Level::Warn)), Ruling::Undecided);
            let allowed = world.change(|world| world.rules.max_unmeasured = 1).case("c00");
            assert_eq!(allowed.ruling, Ruling::Inconclusive);
            assert!(allowed.notices[0].starts_with("unmeasured: c00: "), "{:?}", allowed.notices);
        }
    }

    #[test]
    fn a_metric_that_only_the_case_names_is_unmeasured_where_the_record_lacks_it() {
        let world = World::of(&[1.0]).change(|world| {
            world.set.cases[0].bars.insert(key("faithfulness"), CaseBar::default());
        });
        assert_eq!(ruling(&world), Ruling::Undecided);
        assert_eq!(world.gate("gate::set::unmeasured").ruling, Ruling::Undecided);
    }

    #[test]
    fn a_metric_that_does_not_apply_breaks_no_rule() {
        let world = World::with("recall@5", [Outcome::not_applicable("the case names no relevant documents")]);
        assert_eq!(ruling(&world.rule(|rule| rule.min = Some(unit(1.0)))), Ruling::Pass);
    }

    fn judged_by_another(min: f64) -> World {
        let world = World::with("faithfulness", [scored(0.8)]).accepted(&[0.9]);
        world.change(|world| world.judge.fingerprint = "bbbbbbbbbbbb".to_owned()).rule(|rule| {
            rule.min = Some(unit(min));
            rule.max_drop = Some(unit(0.5));
        })
    }

    #[test]
    fn under_another_judge_drops_are_undecided_and_min_is_decided() {
        assert_eq!(ruling(&judged_by_another(0.7)), Ruling::Undecided);
        assert_eq!(ruling(&judged_by_another(0.85)), Ruling::Fail);
        assert_eq!(ruling(&judged_by_another(0.7).rule(|rule| rule.max_drop = None)), Ruling::Pass);
    }

    #[test]
    fn a_metric_without_judge_does_not_care_who_judges() {
        let world = World::of(&[0.8]).accepted(&[0.9]).rule(|rule| rule.max_drop = Some(unit(0.5)));
        assert_eq!(ruling(&world.change(|world| world.judge.fingerprint.clear())), Ruling::Pass);
    }

    #[test]
    fn another_version_of_a_metric_is_not_compared() {
        let world = World::of(&[0.8]).accepted(&[0.9]).rule(|rule| rule.max_drop = Some(unit(0.5)));
        let older = world.change(|world| {
            let baseline = world.baseline.as_mut().expect("a baseline");
            baseline.manifest.metric_versions.insert("recall".to_owned(), 0);
        });
        assert_eq!(ruling(&older), Ruling::Undecided);
    }

    #[test]
    fn a_snapshot_that_is_worse_makes_a_passing_case_fail() {
        let world = with_min(1.0, 0.9);
        let case = &world.set.cases[0];
        let snapshot = SnapshotFailure { why: "no snapshot".to_owned(), diff: Vec::new() };
        let decision = decide_case(case, &world.records[&case.id], &world.basis(), Some(&snapshot));
        assert_eq!(decision.snapshot.as_ref(), Some(&snapshot));
        assert_eq!(decision.ruling, Ruling::Fail);
    }
}
