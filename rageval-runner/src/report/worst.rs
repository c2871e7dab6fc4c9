//! Which of the red trials is the worst: one order for every report.

use std::cmp::Ordering;

use super::console::trust::SETUP;
use crate::model::run::{Decision, Finding, FindingLevel, GateFacts, Ruling};

/// The red findings of a case, the largest shortfall first; equals stay as they were found.
pub fn findings(decision: &Decision) -> Vec<&Finding> {
    let red = decision.findings.iter().filter(|finding| finding.level == FindingLevel::Red);
    let mut findings: Vec<&Finding> = red.collect();
    findings.sort_by(|a, b| more_first(a.shortfall(), b.shortfall()));
    findings
}

/// The order of red cases: those that failed first, then the one whose score lies furthest on the wrong side of its bar. Equals are left as they stand.
pub fn of_cases(one: &Decision, other: &Decision) -> Ordering {
    let shortfall = |decision: &Decision| findings(decision).first().and_then(|finding| finding.shortfall());
    let by_ruling = is_undecided(one).cmp(&is_undecided(other));
    by_ruling.then_with(|| more_first(shortfall(one), shortfall(other)))
}

/// The red ones among gates, set-up and trust: what may explain the rest first (set-up, judge, lock), then those that failed, those over the whole set
/// before slices, and the largest fall below a bar or the baseline first. Equals go by name.
pub fn gates<'d>(decisions: impl IntoIterator<Item = &'d Decision>) -> Vec<&'d Decision> {
    let is_red = |decision: &&Decision| !decision.is_of_case() && decision.ruling.is_red();
    let mut gates: Vec<&Decision> = decisions.into_iter().filter(is_red).collect();
    let is_of_slice = |gate: &Decision| gate.gate.as_ref().is_some_and(|facts| facts.slice.is_some());
    // Where the set-up is broken, gates are no gates over scores.
    let place = |gate: &Decision| (gate.trial != SETUP, is_of_scores(gate), is_undecided(gate), is_of_slice(gate));
    gates.sort_by(|a, b| {
        let by_fall = || more_first(fall(a), fall(b)).then_with(|| a.trial.cmp(&b.trial));
        place(a).cmp(&place(b)).then_with(by_fall)
    });
    gates
}

/// Whether a decision that is no case's is over scores; else it is about what comes before any score.
pub fn is_of_scores(decision: &Decision) -> bool {
    decision.gate.is_some() || decision.statistic.is_some() && !decision.trial.starts_with("gate::calibration::")
}

/// How far a gate's number lies on the wrong side of what it was compared with; `None` where there is none, and of a count of cases.
fn fall(gate: &Decision) -> Option<f64> {
    let GateFacts { metric, rule, slice: _, warns: _ } = gate.gate.as_ref()?;
    let below = gate.threshold? - gate.statistic?;
    metric.is_some().then_some(if rule.ends_with("_drop") { -below } else { below })
}

fn is_undecided(decision: &Decision) -> bool {
    decision.ruling != Ruling::Fail
}

/// The larger number first, and none last. What differs by the error of a subtraction is equal.
fn more_first(one: Option<f64>, other: Option<f64>) -> Ordering {
    let rounded = |number: Option<f64>| number.map_or(f64::NEG_INFINITY, |number| (number * 1e9).round() + 0.0);
    rounded(other).total_cmp(&rounded(one))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gate::fixture::key,
        model::run::{FindingKind, SliceFacts},
    };

    fn gate(trial: &str, ruling: Ruling, statistic: f64, threshold: f64) -> Decision {
        let parts: Vec<&str> = trial.split("::").collect();
        let (rule, slice) = parts[2].split_once('@').map_or((parts[2], None), |(rule, slice)| (rule, Some(slice)));
        let slice = slice.map(|slice| SliceFacts { field: "tags".to_owned(), value: slice.to_owned() });
        let facts = GateFacts { metric: Some(key(parts[1])), rule: rule.to_owned(), slice, warns: false };
        let (statistic, threshold) = (Some(statistic), Some(threshold));
        Decision { statistic, threshold, gate: Some(facts), ..Decision::told(trial, ruling, Vec::new()) }
    }

    #[test]
    fn the_largest_fall_comes_first_behind_what_may_explain_it() {
        use Ruling::{Fail, Pass, Undecided};
        let all = [
            gate("gate::a::mean", Fail, 0.7, 0.8),
            gate("gate::a::mean@x", Fail, 0.0, 0.8),
            gate("gate::b::mean_drop", Fail, 0.5, 0.1),
            gate("gate::c::mean", Undecided, 0.0, 0.8),
            gate("gate::d::mean", Pass, 0.9, 0.8),
            gate("gate::e::mean", Fail, 0.2, 0.3),
            Decision::told("gate::broken", Undecided, Vec::new()),
            Decision::told("gate::setup", Undecided, Vec::new()),
        ];
        let names: Vec<&str> = gates(&all).into_iter().map(|gate| gate.trial.as_str()).collect();
        let expected = [
            "gate::setup",
            "gate::broken",
            "gate::b::mean_drop",
            "gate::a::mean",
            "gate::e::mean",
            "gate::a::mean@x",
            "gate::c::mean",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_case_is_as_bad_as_its_worst_broken_rule() {
        let finding = |name: &str, score: f64, level| Finding {
            kind: FindingKind::Min,
            level,
            metric: Some(key(name)),
            score: Some(score),
            bar: Some(1.0),
            baseline: None,
            text: String::new(),
        };
        let case = |scores: &[(&str, f64)]| {
            let findings = scores.iter().map(|(name, score)| finding(name, *score, FindingLevel::Red)).collect();
            Decision { findings, ..Decision::told("case::a", Ruling::Fail, Vec::new()) }
        };
        let both = case(&[("faithfulness", 0.5), ("recall@5", 0.0), ("refusal_correctness", 0.0)]);
        let first = findings(&both)[0].metric.as_ref().map(ToString::to_string);
        assert_eq!(first.as_deref(), Some("recall@5"), "of equals the first that was found");
        assert_eq!(of_cases(&both, &case(&[("recall@5", 0.2)])), Ordering::Less);
        assert_eq!(of_cases(&both, &case(&[("recall@5", 0.0)])), Ordering::Equal);
        let undecided = Decision { ruling: Ruling::Undecided, ..both.clone() };
        assert_eq!(of_cases(&undecided, &case(&[])), Ordering::Greater);
    }
}
