//! What suspects come to, by tables of readings.

use proptest::prelude::*;

use super::*;
use crate::{gate::noise::Drop, model::UnitInterval};

const DEPTH: u32 = 14;

fn share(bad: &[bool]) -> f64 {
    bad.iter().filter(|bad| !**bad).count() as f64 / bad.len() as f64
}

fn is_bad(verdict: Verdict) -> bool {
    verdict != Verdict::Supported
}

/// `-` bad, `+` good.
fn flags(signs: &str) -> Vec<bool> {
    signs.chars().map(|sign| sign == '-').collect()
}

/// One reading: `-` bad, `+` good, `!` for a call that failed.
fn heard(signs: &str) -> Heard {
    if signs == "!" {
        return Heard::Nothing { why: "time-out".to_owned() };
    }
    let verdict = |bad: bool| if bad { Verdict::Unsupported } else { Verdict::Supported };
    Heard::Verdicts { verdicts: flags(signs).into_iter().map(verdict).collect() }
}

fn min(bar: f64) -> Bars {
    Bars { min: Some(bar), ..Bars::default() }
}

fn max_drop(baseline: f64, max_drop: f64) -> Bars {
    Bars { drop: Some(Drop { baseline, max_drop }), ..Bars::default() }
}

/// Reads a suspect until it needs no more: how often either answer was read, and what it came to.
fn settle(
    first: &str,
    bars: Bars,
    now: &dyn Fn(usize) -> Heard,
    baseline: Option<(&str, &dyn Fn(usize) -> Heard)>,
) -> (usize, usize, Next) {
    let bad = flags(first);
    let stored = baseline.map(|(stored, _)| flags(stored));
    let case = Case {
        bad: &bad,
        first: share(&bad),
        bars,
        depth: DEPTH,
        score: &share,
        is_bad: &is_bad,
        baseline: stored.as_deref(),
    };
    settle_case(&case, now, &|at| baseline.expect("a baseline that is read").1(at))
}

fn settle_case(
    case: &Case<'_>,
    now: &dyn Fn(usize) -> Heard,
    baseline: &dyn Fn(usize) -> Heard,
) -> (usize, usize, Next) {
    let (mut of_now, mut of_baseline) = (Vec::new(), Vec::new());
    loop {
        assert!(of_now.len() + of_baseline.len() < 60, "it never ends");
        match next(case, &of_now, &of_baseline) {
            Next::ReadNow => of_now.push(now(of_now.len())),
            Next::ReadBaseline => of_baseline.push(baseline(of_baseline.len())),
            end @ (Next::Done(_) | Next::NotConfirmed(_)) => return (of_now.len(), of_baseline.len(), end),
        }
    }
}

fn settled(end: Next) -> Settled {
    match end {
        Next::Done(settled) => settled,
        Next::ReadNow | Next::ReadBaseline | Next::NotConfirmed(_) => panic!("not settled: {end:?}"),
    }
}

/// How many further readings a case against `min` 0.85 takes and whether it is confirmed; readings repeat from the last one on.
fn against_min(first: &str, readings: &[&str]) -> (usize, bool) {
    let now = |at: usize| heard(readings[at.min(readings.len() - 1)]);
    let (count, _, end) = settle(first, min(0.85), &now, None);
    (count, settled(end).is_confirmed)
}

#[test]
fn a_claim_is_confirmed_at_the_depth_and_cleared_at_zero() {
    for (first, readings, expected) in [
        // +1, then 13 more.
        ("-+++", &["-+++"][..], (13, true)),
        // 1 - 2 = -1.
        ("-+++", &["++++"], (1, false)),
        // 1 + 1 - 2 = 0.
        ("-+++", &["-+++", "++++"], (2, false)),
        // 3 - 2 = 1, and 13 more.
        ("-+++", &["-+++", "-+++", "++++", "-+++"], (16, true)),
        // Two clean readings: 20 readings reach 14, which is the most.
        ("-+++", &["-+++", "-+++", "++++", "-+++", "-+++", "++++", "-+++"], (19, true)),
        // A third clean reading: 20 readings reach 11, and an open claim is cleared.
        ("-+++", &["-+++", "-+++", "-+++", "++++", "-+++", "++++", "-+++", "-+++", "++++", "-+++"], (19, false)),
    ] {
        assert_eq!(against_min(first, readings), expected, "{first} {readings:?}");
    }
}

#[test]
fn claims_that_were_good_at_first_are_not_in_question() {
    assert_eq!(against_min("-+++", &["+---"]), (1, false));
}

#[test]
fn it_ends_once_the_open_claims_make_no_difference() {
    // 9 of 10 is green, whatever becomes of the other.
    assert_eq!(against_min("--++++++++", &["+-++++++++"]), (1, false));
    // The first claim alone makes it red: that the second one lags behind changes nothing.
    assert_eq!(against_min("--++", &["--++", "--++", "--++", "-+++", "--++"]), (13, true));
}

#[test]
fn an_open_claim_counts_as_bad_where_it_makes_no_difference() {
    let (_, _, end) = settle("--++++++++", min(0.85), &|_| heard("+-++++++++"), None);
    let settled = settled(end);
    assert_eq!((settled.bad, settled.score), (flags("+-++++++++"), 0.9));
}

#[test]
fn the_bar_of_the_tail_is_settled_beside_that_of_the_case() {
    let bars = Bars { tail: Some(0.5), ..min(0.85) };
    // The first two claims make it red; whether it lies below 0.5 hangs on the third, which is cleared later.
    let now = |at: usize| if at == 14 { heard("--++") } else { heard("---+") };
    let (count, _, end) = settle("---+", bars, &now, None);
    assert_eq!((count, settled(end).score), (13, 0.25));
    let lagging = |at: usize| if at == 5 { heard("--++") } else { heard("---+") };
    let (count, _, end) = settle("---+", bars, &lagging, None);
    assert_eq!((count, settled(end).score), (16, 0.25));
}

#[test]
fn below_the_tail_alone_a_case_is_confirmed_and_breaks_no_rule_of_its_own() {
    let bars = Bars { tail: Some(0.5), ..Bars::default() };
    let (_, _, end) = settle("--+", bars, &|_| heard("--+"), None);
    let settled = settled(end);
    assert!(settled.is_confirmed && !settled.breaks_case_rule);
}

#[test]
fn readings_that_all_repeat_the_first_carry_no_information() {
    let (_, _, end) = settle("-+", min(0.85), &|_| heard("-+"), None);
    assert!(settled(end).no_information);
    // A claim that is not in question was read otherwise once.
    let (_, _, end) = settle("-+", min(0.85), &|at| heard(if at == 3 { "--" } else { "-+" }), None);
    assert!(!settled(end).no_information);
}

#[test]
fn a_failed_call_is_no_vote() {
    let (count, _, end) = settle("-+", min(0.85), &|at| heard(if at < 5 { "!" } else { "-+" }), None);
    assert!((count, settled(end).is_confirmed) == (18, true));
    let short = |_: usize| Heard::Verdicts { verdicts: vec![Verdict::Supported] };
    let (_, _, end) = settle("-+", min(0.85), &short, None);
    assert_eq!(end, Next::NotConfirmed("20 calls about the answer gave too few readings".to_owned()));
}

#[test]
fn failed_calls_have_an_end() {
    let (count, _, end) = settle("-+", min(0.85), &|_| heard("!"), None);
    assert_eq!((count, end), (20, Next::NotConfirmed("20 calls about the answer gave too few readings".to_owned())));
    let (_, count, end) = settle("-+", max_drop(1.0, 0.1), &|_| heard("-+"), Some(("++", &|_| heard("!"))));
    let expected = Next::NotConfirmed("20 calls about the baseline's answer gave too few readings".to_owned());
    assert_eq!((count, end), (20, expected));
}

/// A case of four claims against `max_drop` 0.10, whose first claim each reading finds bad: further readings of either answer, and whether it is confirmed.
fn against_baseline(stored: &str, of_baseline: &[&str]) -> (usize, usize, bool, Option<f64>) {
    let read = |at: usize| heard(of_baseline[at.min(of_baseline.len() - 1)]);
    let bars = max_drop(share(&flags(stored)), 0.10);
    let (now, baseline, end) = settle("-+++", bars, &|_| heard("-+++"), Some((stored, &read)));
    let settled = settled(end);
    (now, baseline, settled.is_confirmed, settled.baseline)
}

#[test]
fn a_baseline_that_was_lucky_is_found_out() {
    for (stored, readings, expected) in [
        // 5 good votes, the stored one among them.
        ("++++", &["++++"][..], (13, 4, true, Some(1.0))),
        // Two bad votes of 7 change nothing.
        ("++++", &["-+++", "-+++", "++++"], (13, 6, true, Some(1.0))),
        // With 3 bad ones 5 good of 7 are out of reach: the baseline was no better, and the case is green after two readings.
        ("++++", &["-+++", "-+++", "-+++", "++++"], (2, 4, false, Some(0.75))),
        // A claim stored as bad stays so.
        ("+++-", &["++++"], (0, 0, false, None)),
    ] {
        assert_eq!(against_baseline(stored, readings), expected, "{stored} {readings:?}");
    }
}

#[test]
fn the_baseline_is_judged_again_only_for_what_is_red_by_a_drop_alone() {
    let never = |_: usize| -> Heard { panic!("the baseline is judged again") };
    let both = Bars { min: Some(0.85), ..max_drop(1.0, 0.10) };
    let (_, count, end) = settle("-+++", both, &|_| heard("-+++"), Some(("++++", &never)));
    assert!(count == 0 && settled(end).is_confirmed);
    // Cleared before it reaches +3.
    let now = |at: usize| heard(if at == 0 { "-+++" } else { "++++" });
    let (_, count, end) = settle("-+++", max_drop(1.0, 0.10), &now, Some(("++++", &never)));
    assert!(count == 0 && !settled(end).is_confirmed);
    // A baseline that can't be judged again stands.
    let (_, _, end) = settle("-+++", max_drop(1.0, 0.10), &|_| heard("-+++"), None);
    assert!(settled(end).is_confirmed);
}

/// A metric without fixed claims: its first score, further ones, and what it came to.
fn by_scores(first: f64, bars: Bars, now: &[f64], baseline: &[f64]) -> (usize, usize, Next) {
    let of = |scores: &[f64], at: usize| Heard::Score { score: UnitInterval::new(scores[at]).expect("a score") };
    let case = Case { bad: &[], first, bars, depth: DEPTH, score: &share, is_bad: &is_bad, baseline: Some(&[]) };
    settle_case(&case, &|at| of(now, at), &|at| of(baseline, at))
}

#[test]
fn without_fixed_claims_the_median_of_five_counts() {
    for (now, score, is_confirmed) in [
        ([0.9, 0.9, 0.9, 0.9], 0.9, false),
        ([0.5, 0.9, 0.6, 0.9], 0.6, true),
        ([0.84, 0.9, 0.84, 0.85], 0.84, true),
        ([0.85, 0.9, 0.1, 0.85], 0.85, false),
    ] {
        let (count, _, end) = by_scores(0.2, min(0.85), &now, &[]);
        let settled = settled(end);
        assert_eq!((count, settled.score, settled.is_confirmed, settled.bad), (4, score, is_confirmed, vec![]));
    }
}

#[test]
fn without_fixed_claims_the_baseline_is_the_median_of_five_too() {
    let (_, count, end) = by_scores(0.5, max_drop(0.9, 0.1), &[0.5; 4], &[0.55, 0.5, 0.6, 0.5]);
    assert_eq!((count, settled(end).baseline), (4, Some(0.55)));
    let (_, count, end) = by_scores(0.5, max_drop(0.9, 0.1), &[0.9; 4], &[]);
    assert!(count == 0 && !settled(end).is_confirmed);
}

#[test]
fn without_fixed_claims_failed_calls_have_an_end() {
    let case = Case { bad: &[], first: 0.2, bars: min(0.85), depth: 6, score: &share, is_bad: &is_bad, baseline: None };
    let (count, _, end) = settle_case(&case, &|_| heard("!"), &|_| heard("!"));
    assert_eq!((count, end), (12, Next::NotConfirmed("12 calls about the answer gave too few readings".to_owned())));
}

fn any_first() -> impl Strategy<Value = Vec<bool>> {
    prop::collection::vec(prop::bool::ANY, 1..9).prop_filter("something bad", |bad| bad.contains(&true))
}

fn signs(bad: &[bool]) -> String {
    bad.iter().map(|bad| if *bad { '-' } else { '+' }).collect()
}

proptest! {
    #[test]
    fn a_unanimous_judge_is_never_overruled(first in any_first(), bar in 0.05_f64..1.0, tail in 0.05_f64..1.0, stored in any_first(), depth in 6_u32..20) {
        let before = share(&stored);
        let bars = Bars { min: Some(bar), drop: Some(Drop { baseline: before, max_drop: 0.1 }), tail: Some(tail) };
        let case = Case { bad: &first, first: share(&first), bars, depth, score: &share, is_bad: &is_bad, baseline: Some(&stored) };
        let (_, _, end) = settle_case(&case, &|_| heard(&signs(&first)), &|_| heard(&signs(&stored)));
        let settled = settled(end);
        let score = share(&first);
        prop_assert_eq!(settled.breaks_case_rule, bars.breaks_min(score) || bars.breaks_drop(score, None));
        prop_assert_eq!(settled.is_confirmed, settled.breaks_case_rule || bars.breaks_tail(score));
        prop_assert_eq!(settled.bad, first);
        prop_assert!(settled.baseline.is_none_or(|baseline| (baseline - before).abs() < 1e-12));
    }

    #[test]
    fn a_judge_that_takes_everything_back_is_believed(first in any_first(), bar in 0.05_f64..1.0) {
        let all_good = vec![false; first.len()];
        let (count, _, end) = settle(&signs(&first), min(bar), &|_| heard(&signs(&all_good)), None);
        prop_assert!(count <= 1 && !settled(end).is_confirmed);
    }

    #[test]
    fn it_always_ends_and_a_settled_claim_was_never_good_at_first(
        first in any_first(), bar in 0.05_f64..1.0, readings in prop::collection::vec(prop::collection::vec(0_u8..8, 9), 30)
    ) {
        let of = |at: usize| {
            let reading: String = readings[at][..first.len()].iter().map(|k| if *k < 4 { '-' } else { '+' }).collect();
            if readings[at][8] == 0 { heard("!") } else { heard(&reading) }
        };
        let bars = Bars { drop: Some(Drop { baseline: 1.0, max_drop: 0.1 }), ..min(bar) };
        let stored = vec![false; first.len()];
        let case = Case { bad: &first, first: share(&first), bars, depth: 8, score: &share, is_bad: &is_bad, baseline: Some(&stored) };
        let (now, baseline, end) = settle_case(&case, &of, &of);
        prop_assert!(now <= 14 && baseline <= 14);
        if let Next::Done(settled) = end {
            prop_assert!(settled.bad.iter().zip(&first).all(|(settled, first)| *first || !settled));
            prop_assert!((settled.score - share(&settled.bad)).abs() < 1e-12);
        }
    }
}
