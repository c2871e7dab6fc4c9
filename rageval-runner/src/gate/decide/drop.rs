//! Decides a drop against the baseline.

use super::{
    super::{
        basis::holds_drop,
        regression::{DropTest, DropTests, Holes, PValue, Pairs, Stage, drops},
        rule::{DecisionRule, TailStatistic},
        tally::{self, Reading},
    },
    Evidence, Found, MOST_NAMED, tail, tail_name,
};
use crate::{
    model::{CaseId, MetricKey, run::Ruling},
    report::console::text::{against, bar, interval_text, probability, score},
    stats,
};

/// Differences that are not zero, below which a drop can't be told from chance: with 6 the smallest p-value is 1/64.
pub const FEWEST_CHANGES: usize = 7;

/// Level of the test that makes a drop red, over all gates of the run.
pub const ALPHA: f64 = 0.01;

/// Level of the test that raises suspicion, over all gates of the run.
pub const SUSPICION: f64 = 0.05;

const ACCEPT_BASELINE: &str = "cargo rageval baseline accept, after a run of all cases";

impl Evidence<'_> {
    pub(super) fn mean_drop(&self, metric: &MetricKey, max_drop: f64, tests: &DropTests) -> Found {
        let pairs = match self.pairs(Reading::First, metric) {
            Ok(pairs) => pairs,
            Err(found) => return *found,
        };
        let rule = self.basis.decision_rule(metric);
        let test = tests.get(&self.gate.name);
        let of_both = test.is_some_and(|test| test.stage == Stage::ReadAgain);
        let pairs = if of_both { pairs.of_both_readings() } else { pairs };
        let p_of = |p: fn(&DropTest) -> PValue| test.as_ref().map(p);
        // A drop that no p-value decides is not one of those that are corrected together, whoever tests the others.
        let corrected = test.map_or(1, |_| tests.len());
        let measured =
            self.judge_drop(rule, &pairs.with(Holes::LeftOut), max_drop, p_of(|test| test.measured), tests.len());
        let at_zero =
            self.judge_drop(rule, &pairs.with(Holes::AtZero), max_drop, p_of(|test| test.at_zero), tests.len());
        let is_at_zero = severity(at_zero.ruling) > severity(measured.ruling) && !pairs.unmeasured.is_empty();
        let judged = if is_at_zero { at_zero } else { measured };
        let mut headline = judged.headline;
        if is_at_zero {
            headline = format!("{headline}, with {} unmeasured at 0", pairs.unmeasured.len());
        }
        let is_of_readings = rule == DecisionRule::Confident && self.basis.is_noisy(metric);
        let stage = test.filter(|_| is_of_readings).and_then(|test| stage_text(test.stage, pairs.read_again));
        let mut found = self.found(judged.ruling, headline);
        (found.statistic, found.threshold, found.n) = (judged.drop, Some(max_drop), Some(pairs.scored.len()));
        let numbers = pairs.with(Holes::LeftOut);
        let differences = drops(&numbers);
        if !judged.ruling.is_red() {
            let few = self.few(pairs.scored.len());
            let seen = detectable(&differences, corrected).map(|seen| format!("; {seen}")).unwrap_or_default();
            found.text.headline =
                format!("{}, over {} paired cases{few}{seen}", found.text.headline, pairs.scored.len());
            found.text.headline.extend(stage.map(|stage| format!("; {stage}")));
            return found;
        }
        found.text.facts.extend(stage);
        let drop = self.interval_of_drop(&numbers);
        found.text.facts.push(format!(
            "mean {} -> {}{drop} over {} paired cases{}",
            mean_text(numbers.iter().map(|(_, before, _)| *before)),
            mean_text(numbers.iter().map(|(_, _, now)| *now)),
            pairs.scored.len(),
            self.few(pairs.scored.len())
        ));
        found.text.facts.extend(not_compared(&pairs));
        found.text.facts.push(spread_fact(&differences, corrected));
        found.text.facts.extend(stats::standardised_mean(&differences).map(|effect| {
            format!(
                "effect size {effect:.2}, Wilcoxon p {}; neither decides",
                probability(stats::wilcoxon(&differences))
            )
        }));
        self.name_dropped(&mut found, &pairs);
        found
    }

    pub(super) fn bottom10_drop(&self, metric: &MetricKey, max_drop: f64, which: TailStatistic) -> Found {
        let pairs = match self.pairs(Reading::Settled, metric) {
            Ok(pairs) => pairs,
            Err(found) => return *found,
        };
        let drop_of = |holes| {
            let (before, now): (Vec<f64>, Vec<f64>) =
                pairs.with(holes).into_iter().map(|(_, before, now)| (before, now)).unzip();
            Some((tail(&before, which)?, tail(&now, which)?))
        };
        let (Some(measured), Some(at_zero)) = (drop_of(Holes::LeftOut), drop_of(Holes::AtZero)) else {
            return self.undecided("no paired case has a score".to_owned());
        };
        let drop = |(before, now): (f64, f64)| before - now;
        let (shown, with_zeros) = if holds_drop(drop(measured), max_drop) && !holds_drop(drop(at_zero), max_drop) {
            (at_zero, format!(", with {} unmeasured at 0", pairs.unmeasured.len()))
        } else {
            (measured, String::new())
        };
        let value = drop(shown);
        let ruling = if holds_drop(value, max_drop) { Ruling::Pass } else { Ruling::Fail };
        let name = tail_name(which);
        let headline = format!(
            "{name} {} -> {}: dropped by {}, max_drop {}{with_zeros}",
            score(shown.0),
            score(shown.1),
            against(value, max_drop),
            bar(max_drop)
        );
        let mut found = self.found(ruling, headline);
        (found.statistic, found.threshold, found.n) = (Some(value), Some(max_drop), Some(pairs.scored.len()));
        if !ruling.is_red() {
            return found;
        }
        found.text.facts.push(format!("over {} paired cases{}", pairs.scored.len(), self.few(pairs.scored.len())));
        found.text.facts.extend(not_compared(&pairs));
        self.name_dropped(&mut found, &pairs);
        found
    }

    /// The interval of a drop, in words; empty without spread.
    fn interval_of_drop(&self, pairs: &[(CaseId, f64, f64)]) -> String {
        stats::mean_interval(&self.clusters(pairs), self.basis.seed)
            .map(|interval| format!(", drop in {} (95%),", interval_text(&interval)))
            .unwrap_or_default()
    }

    /// The drops of these pairs in clusters of one document each.
    fn clusters(&self, pairs: &[(CaseId, f64, f64)]) -> Vec<stats::Cluster> {
        let cases = pairs.iter().map(|(case, _, _)| case.clone());
        let numbers: Vec<_> = cases.zip(drops(pairs)).collect();
        tally::clusters(&numbers, self.set, &self.basis.rules.cluster)
    }

    /// Decides a drop of the mean by one of the three rules.
    fn judge_drop(
        &self,
        rule: DecisionRule,
        pairs: &[(CaseId, f64, f64)],
        max_drop: f64,
        p: Option<PValue>,
        gates: usize,
    ) -> JudgedDrop {
        let differences = drops(pairs);
        let Some(drop) = stats::mean(&differences) else {
            return JudgedDrop {
                ruling: Ruling::Undecided,
                drop: None,
                headline: "no paired case has a score".to_owned(),
            };
        };
        let said = format!("mean drop {}, max_drop {}", against(drop, max_drop), bar(max_drop));
        let judged = |ruling, headline| JudgedDrop { ruling, drop: Some(drop), headline };
        let holds = holds_drop(drop, max_drop);
        match rule {
            DecisionRule::Point => judged(if holds { Ruling::Pass } else { Ruling::Fail }, said),
            DecisionRule::NonInferior => match stats::mean_upper_limit(&self.clusters(pairs), self.basis.seed) {
                Some(limit) => {
                    let ruling = if holds_drop(limit, max_drop) { Ruling::Pass } else { Ruling::Fail };
                    let limit = against(limit, max_drop);
                    judged(
                        ruling,
                        format!("mean drop {}, upper limit {limit} (95%), max_drop {}", score(drop), bar(max_drop)),
                    )
                }
                None => judged(Ruling::Undecided, format!("{said}: one case, or one document, has no upper limit")),
            },
            DecisionRule::Confident if holds => judged(Ruling::Pass, said),
            DecisionRule::Confident => {
                let changed = differences.iter().filter(|difference| **difference != 0.0).count();
                match p {
                    _ if changed < FEWEST_CHANGES => judged(
                        Ruling::Inconclusive,
                        format!("{said}: too few changed cases ({changed}), the case rules decide"),
                    ),
                    None => judged(Ruling::Undecided, format!("{said}: its p-value is missing")),
                    Some(p) if p.adjusted <= ALPHA => judged(
                        Ruling::Fail,
                        format!(
                            "{said}, p {} ({} among the run's gates)",
                            probability(p.alone),
                            probability(p.adjusted)
                        ),
                    ),
                    Some(p) if p.adjusted <= SUSPICION => judged(
                        Ruling::Inconclusive,
                        format!(
                            "{said}: suspected, p {} ({} among the run's gates)",
                            probability(p.alone),
                            probability(p.adjusted)
                        ),
                    ),
                    // However far they fell, no pattern of so few signs is as rare as it takes among so many gates.
                    Some(_) if f64::exp2(-(changed as f64)) * gates as f64 > ALPHA => judged(
                        Ruling::Inconclusive,
                        format!(
                            "{said}: too few changed cases ({changed}) for a test among {gates} gates, the case rules decide"
                        ),
                    ),
                    Some(p) => {
                        judged(Ruling::Inconclusive, format!("{said}: may be chance, p {}", probability(p.alone)))
                    }
                }
            }
        }
    }

    /// The pairs to compare, or why that can't be decided.
    fn pairs(&self, reading: Reading, metric: &MetricKey) -> Result<Pairs, Box<Found>> {
        let baseline = match self.basis.comparable(metric) {
            Some(Ok(baseline)) => baseline,
            Some(Err(why)) => {
                let mut found = self.undecided(why.why().to_owned());
                found.text.accept = why.accept().to_owned();
                found.text.facts.extend(why.difference().into_iter().flatten());
                return Err(Box::new(found));
            }
            // The baseline that the policy names could not be read: `gate::setup` is red for it, once.
            None => {
                let why = "not compared: the baseline is missing or unreadable, see gate::setup";
                return Err(Box::new(self.found(Ruling::Inconclusive, why.to_owned())));
            }
        };
        let pairs = Pairs::of(reading, metric, &self.gate.population, self.scores, baseline);
        match self.too_little(pairs.scored.len(), &pairs.unmeasured_faults(), "paired") {
            Some(mut found) => {
                if found.ruling == Ruling::Undecided && pairs.unmeasured.is_empty() {
                    found.text.accept = ACCEPT_BASELINE.to_owned();
                }
                Err(Box::new(found))
            }
            None => Ok(pairs),
        }
    }

    /// Names the cases that dropped, the largest drop first.
    fn name_dropped(&self, found: &mut Found, pairs: &Pairs) {
        let mut dropped: Vec<_> = pairs.scored.iter().filter(|(_, before, now)| before > now).collect();
        dropped.sort_by(|a, b| (b.1 - b.2).total_cmp(&(a.1 - a.2)).then_with(|| a.0.cmp(&b.0)));
        let cases: Vec<_> = dropped
            .into_iter()
            .take(MOST_NAMED)
            .map(|(case, before, now)| (case, format!("{} -> {}", score(*before), score(*now))))
            .collect();
        self.name_cases(found, "the largest drops", &cases);
        found.text.accept = "cargo rageval baseline accept --reason WHY".to_owned();
    }
}

/// What one of the three rules says of a drop.
struct JudgedDrop {
    ruling: Ruling,
    drop: Option<f64>,
    headline: String,
}

/// What a drop that was suspected says of the readings it is decided on; `None` of one that was not.
fn stage_text(stage: Stage, read_again: usize) -> Option<String> {
    match stage {
        Stage::Unsuspected => None,
        Stage::Suspected => Some("not confirmed: no second reading".to_owned()),
        Stage::ReadAgain => Some(format!("average of two readings of {read_again} changed cases")),
    }
}

/// How many got worse and better, and the smallest drop that this many cases could have shown.
fn spread_fact(differences: &[f64], corrected: usize) -> String {
    let worse = differences.iter().filter(|difference| **difference > 0.0).count();
    let better = differences.iter().filter(|difference| **difference < 0.0).count();
    let counts = format!("{worse} worse, {better} better, {} equal", differences.len() - worse - better);
    match detectable(differences, corrected) {
        Some(seen) => format!("{counts}; {seen}"),
        None => counts,
    }
}

/// The smallest true drop that this many cases would show, in words; `None` without spread.
fn detectable(differences: &[f64], corrected: usize) -> Option<String> {
    let alpha = ALPHA / corrected as f64;
    // No score falls by more than 1.
    let drop = stats::minimum_detectable_mean(differences, alpha).filter(|drop| *drop <= 1.0)?;
    Some(format!("a true drop of {} would show 8 times in 10", score(drop)))
}

/// Which cases are not compared, in words; `None` when all are.
fn not_compared(pairs: &Pairs) -> Option<String> {
    let counts = [(pairs.new, "new"), (pairs.changed, "changed"), (pairs.not_applicable, "without two scores")];
    let words: Vec<String> =
        counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    (!words.is_empty()).then(|| format!("not compared: {}", words.join(", ")))
}

/// A mean in words; a dash of nothing.
fn mean_text(scores: impl Iterator<Item = f64>) -> String {
    stats::mean(&scores.collect::<Vec<_>>()).map_or_else(|| "-".to_owned(), score)
}

/// Which of two rulings on the same drop counts: the one that says more against it.
fn severity(ruling: Ruling) -> u8 {
    match ruling {
        Ruling::Pass => 0,
        Ruling::Inconclusive => 1,
        Ruling::Undecided => 2,
        Ruling::Fail => 3,
    }
}
