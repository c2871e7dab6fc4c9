//! What the readings of a suspect make of its outcome, and how that is told.

use std::collections::BTreeMap;

use super::Settled;
use crate::{
    model::{Claim, Confirmation, Detail, Heard, MetricKey, Outcome, Record, UnitInterval, Verdict},
    report::{
        console::text::{score, visible},
        judged::Judged,
    },
};

/// Why a suspect is not confirmed where nothing may be asked: the run replays stored replies.
pub const REPLAYED: &str = "no further reading is stored, and none may be asked for";

/// Claims that a remark names; the rest is counted.
const MOST_NAMED: usize = 3;

/// How the confirmation of a suspect ended. `first` is its first outcome, `now` the further readings, `is_bad` as in [`super::Case`].
///
/// A score outside 0 to 1, which no metric gives, leaves the suspect as first read.
pub fn confirmation(
    first: &Outcome,
    settled: &Settled,
    now: &[Heard],
    is_bad: &dyn Fn(Verdict) -> bool,
) -> Confirmation {
    let unit = UnitInterval::new(settled.score);
    let baseline = settled.baseline.map(UnitInterval::new).transpose();
    let (Ok(value), Ok(baseline)) = (unit, baseline) else {
        return Confirmation::NotConfirmed { why: "its readings made no score between 0 and 1".to_owned() };
    };
    let outcome = outcome(first, settled, value, now, is_bad);
    if settled.is_confirmed {
        Confirmation::Confirmed { outcome, baseline }
    } else {
        Confirmation::Cleared { outcome, baseline }
    }
}

/// The outcome that takes the place of the first one: its claims with the verdicts that most readings gave on the settled side.
fn outcome(
    first: &Outcome,
    settled: &Settled,
    value: UnitInterval,
    now: &[Heard],
    is_bad: &dyn Fn(Verdict) -> bool,
) -> Outcome {
    let detail = first.detail().cloned().unwrap_or_default();
    let detail = if settled.bad.len() == detail.claims.len() && !settled.bad.is_empty() {
        let claims: Vec<Claim> = detail
            .claims
            .into_iter()
            .enumerate()
            .map(|(at, claim)| settled_claim(claim, settled.bad[at], &verdicts_on(at, now), is_bad))
            .collect();
        let good = settled.bad.iter().filter(|bad| !**bad).count();
        Detail { k_of_n: detail.k_of_n.map(|(_, all)| (good, all)), claims, ..detail }
    } else {
        // The claims of the first reading explain its own score alone.
        Detail { note: Some("median of the readings".to_owned()), ..Detail::default() }
    };
    Outcome::scored_with(value, detail).read_first_as(first)
}

/// A claim with its settled verdict; evidence and reason stay only with the verdict that they were given for.
fn settled_claim(claim: Claim, bad: bool, heard: &[Verdict], is_bad: &dyn Fn(Verdict) -> bool) -> Claim {
    let mut counts: BTreeMap<Verdict, usize> = BTreeMap::new();
    for verdict in std::iter::once(claim.verdict).chain(heard.iter().copied()).filter(|verdict| is_bad(*verdict) == bad)
    {
        *counts.entry(verdict).or_default() += 1;
    }
    // Of equally many the first reading's, then the better one.
    let most = counts.values().copied().max().unwrap_or_default();
    let has_most = |verdict: Verdict| counts.get(&verdict) == Some(&most);
    if most == 0 || has_most(claim.verdict) {
        return claim;
    }
    let verdict = counts.keys().copied().find(|verdict| has_most(*verdict)).unwrap_or(claim.verdict);
    Claim { text: claim.text, verdict, evidence: None, reason: None }
}

fn verdicts_on(at: usize, now: &[Heard]) -> Vec<Verdict> {
    let of = |heard: &Heard| match heard {
        Heard::Verdicts { verdicts } => verdicts.get(at).copied(),
        Heard::Score { .. } | Heard::Nothing { .. } => None,
    };
    now.iter().filter_map(of).collect()
}

/// The notice on a metric of a case that its further readings cleared: the case is green, and flaky. `None` where it was not suspected, or not cleared.
pub fn notice(record: &Record, metric: &MetricKey) -> Option<String> {
    let readings = record.readings.get(metric)?;
    let (Some(Confirmation::Cleared { outcome, baseline }), Some(first)) =
        (&readings.confirmation, record.outcomes.get(metric).and_then(Outcome::score))
    else {
        return None;
    };
    let now = outcome.score()?;
    let votes = votes(record, metric);
    let votes = if votes.is_empty() { votes } else { format!(": {votes}") };
    let again = baseline.map(|baseline| format!("; its baseline judged again: {}", score(baseline.get())));
    Some(format!(
        "flaky: {}: {metric} {} at first, {} after {} readings{votes}{}",
        visible(record.case.as_str()),
        score(first.get()),
        score(now.get()),
        readings.now.len() + 1,
        again.unwrap_or_default(),
    ))
}

/// What a red case says of the readings behind a score: `confirmed: claim 2 unsupported in 14 of 15 readings`, `not confirmed: WHY`; `None` where it was
/// not suspected, or is cleared.
pub fn remark(record: &Record, metric: &MetricKey) -> Option<String> {
    let readings = record.readings.get(metric)?;
    match readings.confirmation.as_ref()? {
        Confirmation::Cleared { .. } => None,
        Confirmation::NotConfirmed { why } => Some(format!("not confirmed: {why}")),
        Confirmation::Confirmed { .. } => {
            let votes = votes(record, metric);
            Some(if votes.is_empty() { "confirmed".to_owned() } else { format!("confirmed: {votes}") })
        }
    }
}

/// What the readings say of the claims in question: `claim 2 unsupported in 14 of 15 readings`; of a metric without fixed claims, its scores.
fn votes(record: &Record, metric: &MetricKey) -> String {
    let (Some(first), Some(readings)) = (record.outcomes.get(metric), record.readings.get(metric)) else {
        return String::new();
    };
    let claims = first.detail().map_or(&[][..], |detail| &detail.claims);
    let settled = readings.confirmation.as_ref().and_then(Confirmation::settled).and_then(Outcome::detail);
    let settled = settled.map_or(&[][..], |detail| &detail.claims);
    if claims.is_empty() || settled.len() != claims.len() {
        let of = |heard: &Heard| match heard {
            Heard::Score { score: heard } => Some(score(heard.get())),
            Heard::Verdicts { .. } | Heard::Nothing { .. } => None,
        };
        let scores: Vec<String> = readings.now.iter().filter_map(of).collect();
        return if scores.is_empty() { String::new() } else { format!("read again as {}", scores.join(", ")) };
    }
    let mut said: Vec<String> = Vec::new();
    for (at, (claim, settled)) in claims.iter().zip(settled).enumerate() {
        if claim.verdict == Verdict::Supported {
            continue;
        }
        let all: Vec<Verdict> = std::iter::once(claim.verdict).chain(verdicts_on(at, &readings.now)).collect();
        let as_settled = all.iter().filter(|verdict| **verdict == settled.verdict).count();
        let verdict = Judged::of(claim, metric).0.verdict(settled.verdict, metric);
        said.push(format!("{} {verdict} in {as_settled} of {} readings", name(claims, at, metric), all.len()));
    }
    let more = said.len().saturating_sub(MOST_NAMED);
    said.truncate(MOST_NAMED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    said.join(", ") + &more
}

/// What the claim at this place is called: `claim 2`, `context refunds`, `reference 1`, each counted among its like.
fn name(claims: &[Claim], at: usize, metric: &MetricKey) -> String {
    let (judged, text) = Judged::of(&claims[at], metric);
    match judged {
        Judged::Context => format!("{} {}", judged.noun(), visible(text)),
        Judged::Answer | Judged::Retrieved | Judged::Reference => {
            let like = claims[..at].iter().filter(|claim| Judged::of(claim, metric).0 == judged).count();
            format!("{} {}", judged.noun(), like + 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gate::fixture::{World, id, key, unit},
        model::{Evidence, Readings, run::Ruling},
    };
    use Verdict::{Contradicted, Supported, Unsupported};

    fn is_bad(verdict: Verdict) -> bool {
        verdict != Supported
    }

    fn first(verdicts: &[Verdict]) -> Outcome {
        let claim = |(at, verdict): (usize, &Verdict)| Claim {
            text: format!("claim {}", at + 1),
            verdict: *verdict,
            evidence: Some(Evidence { id: None, text: "the evidence".to_owned() }),
            reason: Some("because".to_owned()),
        };
        let good = verdicts.iter().filter(|verdict| **verdict == Supported).count();
        let claims = verdicts.iter().enumerate().map(claim).collect();
        let detail = Detail { claims, k_of_n: Some((good, verdicts.len())), ..Detail::default() };
        Outcome::scored_with(UnitInterval::share(good, verdicts.len()).expect("a share"), detail)
    }

    fn heard(readings: &[&[Verdict]]) -> Vec<Heard> {
        readings.iter().map(|verdicts| Heard::Verdicts { verdicts: verdicts.to_vec() }).collect()
    }

    fn settled(bad: &[bool], is_confirmed: bool, baseline: Option<f64>) -> Settled {
        let score = bad.iter().filter(|bad| !**bad).count() as f64 / bad.len().max(1) as f64;
        let (bad, no_information) = (bad.to_vec(), false);
        Settled { is_confirmed, breaks_case_rule: is_confirmed, bad, score, baseline, no_information }
    }

    /// A case with this first reading, `min` 0.85, and what its further readings came to.
    fn world(first: &Outcome, now: Vec<Heard>, confirmation: Confirmation) -> World {
        World::with("faithfulness", [first.clone()]).rule(|rule| rule.min = Some(unit(0.85))).change(|world| {
            let readings = Readings { now, confirmation: Some(confirmation), ..Readings::default() };
            world.record_mut(&id("c00")).readings.insert(key("faithfulness"), readings);
        })
    }

    fn remark_on(world: &World) -> Option<String> {
        remark(&world.records[&id("c00")], &key("faithfulness"))
    }

    #[test]
    fn a_cleared_suspect_is_green_with_one_notice() {
        let first = first(&[Supported, Unsupported]);
        let now = heard(&[&[Supported, Supported]]);
        let confirmation = confirmation(&first, &settled(&[false, false], false, None), &now, &is_bad);
        let decision = world(&first, now, confirmation).case("c00");
        assert_eq!(decision.ruling, Ruling::Pass);
        let expected =
            "flaky: c00: faithfulness 0.50 at first, 1.00 after 2 readings: claim 2 supported in 1 of 2 readings";
        assert_eq!(decision.notices, [expected]);
    }

    #[test]
    fn a_confirmed_suspect_says_so_in_its_lines() {
        let first = first(&[Supported, Unsupported]);
        let now = heard(&[&[Supported, Unsupported], &[Supported, Supported], &[Supported, Unsupported]]);
        let confirmation = confirmation(&first, &settled(&[false, true], true, None), &now, &is_bad);
        let world = world(&first, now, confirmation);
        let decision = world.case("c00");
        assert_eq!((decision.ruling, decision.notices.len()), (Ruling::Fail, 0));
        assert_eq!(remark_on(&world).as_deref(), Some("confirmed: claim 2 unsupported in 3 of 4 readings"));
        assert!(decision.lines.iter().any(|line| line.contains("confirmed")), "{:#?}", decision.lines);
    }

    #[test]
    fn what_was_not_confirmed_stays_as_first_read_and_says_why() {
        let why = "the run is decided by 5 confirmed cases".to_owned();
        let world = world(&first(&[Supported, Unsupported]), Vec::new(), Confirmation::NotConfirmed { why });
        assert_eq!(world.case("c00").ruling, Ruling::Fail);
        let expected = "not confirmed: the run is decided by 5 confirmed cases";
        assert_eq!(remark_on(&world).as_deref(), Some(expected));
    }

    #[test]
    fn a_claim_shows_the_verdict_that_most_readings_of_its_side_gave() {
        let first = first(&[Unsupported, Unsupported, Unsupported]);
        let now = heard(&[
            &[Contradicted, Unsupported, Supported],
            &[Contradicted, Contradicted, Supported],
            &[Supported, Supported, Supported],
        ]);
        let confirmation = confirmation(&first, &settled(&[true, true, false], true, None), &now, &is_bad);
        let outcome = confirmation.settled().expect("an outcome");
        let detail = outcome.detail().expect("a detail");
        let verdicts: Vec<_> = detail.claims.iter().map(|claim| (claim.verdict, claim.reason.is_some())).collect();
        assert_eq!(verdicts, [(Contradicted, false), (Unsupported, true), (Supported, false)]);
        assert_eq!(detail.k_of_n, Some((1, 3)));
        assert_eq!(outcome.first_score(), Some(UnitInterval::ZERO));
    }

    #[test]
    fn a_baseline_that_was_judged_again_takes_the_place_of_the_stored_one() {
        let first = first(&[Supported, Unsupported]);
        let now = heard(&[&[Supported, Unsupported]]);
        for (baseline, expected) in [(None, Ruling::Fail), (Some(0.5), Ruling::Pass)] {
            let confirmation =
                confirmation(&first, &settled(&[false, true], baseline.is_none(), baseline), &now, &is_bad);
            let world = world(&first, now.clone(), confirmation).accepted(&[1.0]).rule(|rule| {
                (rule.min, rule.max_drop) = (None, Some(unit(0.25)));
            });
            assert_eq!(world.case("c00").ruling, expected);
        }
    }

    #[test]
    fn a_drop_from_a_baseline_without_claims_is_undecided() {
        let of = |max_drop: f64, provider: &str| {
            let world = World::with("faithfulness", [first(&[Supported, Supported])]).accepted(&[1.0]);
            let world = world.rule(|rule| rule.max_drop = Some(unit(max_drop)));
            world.change(|world| world.judge.provider = provider.to_owned()).case("c00")
        };
        let decision = of(0.25, "openai");
        assert_eq!(decision.ruling, Ruling::Undecided);
        let text = decision.lines.join("\n");
        assert!(text.contains("the baseline lacks the answer or its claims"), "{text}");
        assert!(text.contains("cargo rageval baseline accept"), "{text}");
        // A score that can't drop by so much, and a judge that says the same each time.
        assert_eq!((of(1.0, "openai").ruling, of(0.25, "offline").ruling), (Ruling::Pass, Ruling::Pass));
    }

    #[test]
    fn without_fixed_claims_the_scores_are_named() {
        let first = Outcome::scored(unit(0.2));
        let now: Vec<Heard> = [0.9, 0.8, 0.9, 0.1].map(|score| Heard::Score { score: unit(score) }).into();
        let settled = Settled { score: 0.8, ..settled(&[], true, None) };
        let confirmation = confirmation(&first, &settled, &now, &is_bad);
        let world = world(&first, now, confirmation);
        assert_eq!(remark_on(&world).as_deref(), Some("confirmed: read again as 0.90, 0.80, 0.90, 0.10"));
    }

    #[test]
    fn the_tail_is_that_of_the_settled_scores_and_the_mean_that_of_the_first() {
        let first = first(&[Supported, Unsupported]);
        let now = heard(&[&[Supported, Supported]]);
        let confirmation = confirmation(&first, &settled(&[false, false], false, None), &now, &is_bad);
        let world = world(&first, now, confirmation).mean(0.85).rule(|rule| {
            let rule_of = crate::gate::rule::Bottom10Rule { min: Some(unit(0.85)), ..Default::default() };
            rule.set.bottom10 = Some(rule_of);
        });
        assert_eq!(world.gate("gate::faithfulness::bottom10").ruling, Ruling::Pass);
        assert_eq!(world.gate("gate::faithfulness::mean").ruling, Ruling::Fail);
    }
}
