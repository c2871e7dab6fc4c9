//! What a calibration's decision and its report print.

use std::collections::BTreeMap;

use super::*;
use crate::{
    model::{Human, Place, UnitInterval, Verdict},
    report::console::text::COLUMNS,
    trust::calibration::{Asked, Judged, MeasuredItem, Report, report as calibrated},
};

fn judge() -> JudgeStamp {
    JudgeStamp { provider: "openai".into(), model: "m-2026".into(), fingerprint: "0123456789ab".into() }
}

fn metric() -> MetricKey {
    MetricKey::parse("faithfulness").expect("a metric")
}

/// 60 items in two languages, each labelled by two people who are a quarter apart on one in four.
fn measured() -> Measured {
    let unit = |value: f64| UnitInterval::new(value).expect("a score");
    let item = |i: usize| {
        let first = (i % 5) as f64 / 4.0;
        let second = if i.is_multiple_of(4) { (first - 0.25).abs() } else { first };
        let said = |score| Human::Score(unit(score));
        MeasuredItem {
            item: format!("i{i:02}"),
            language: if i.is_multiple_of(2) { "en" } else { "pt" }.to_owned(),
            people: [("ana".to_owned(), said(first)), ("bo".to_owned(), said(second))].into(),
            judge: Judged::Scored(unit(if i.is_multiple_of(7) { 1.0 - first } else { first })),
            weight: 1.0,
            length: 10 + 3 * i,
        }
    };
    Measured { judge: judge(), labels: "d".to_owned(), set_version: None, items: (0..60).map(item).collect() }
}

fn on(day: &str) -> Date {
    day.parse().expect("a day")
}

fn waiver() -> Waiver {
    let (reason, until) = ("as agreed".to_owned(), on("2026-12-31"));
    Waiver { what: Waivable::Calibration, reason, until, place: Place { file: "t.yaml".into(), line: 6, column: 3 } }
}

fn looked(refusals: Vec<Refusal>) -> Looked {
    Looked { measured: Some(measured()), refusals }
}

#[test]
fn a_believed_judge_passes_with_its_correlation() {
    let decision = decision(&metric(), &looked(Vec::new()), &Bars::default(), None, on("2026-01-01"));
    assert_eq!((decision.trial.as_str(), decision.ruling), ("gate::calibration::faithfulness", Ruling::Pass));
    assert_eq!((decision.threshold, decision.n), (Some(0.7), Some(60)));
    let rho = decision.statistic.expect("a correlation");
    let expected = format!("passed      rho {} [", against(rho, 0.7));
    assert!(decision.lines[0].starts_with(&expected), "{:?}", decision.lines);
    assert!(decision.lines[0].ends_with("] over 60 items, at least 0.70; openai m-2026"), "{:?}", decision.lines);
}

#[test]
fn every_reason_is_told_and_each_thing_to_do_once() {
    let refusals = vec![
        Refusal::OtherLabels,
        Refusal::OtherSetVersion { labels: "1.0.0".into(), set: None },
        Refusal::OtherJudge { calibrated: judge(), now: JudgeStamp { model: "n".into(), ..judge() } },
        Refusal::TooFew { items: 4, min: 50 },
    ];
    let decision = decision(&metric(), &looked(refusals), &Bars::default(), None, on("2026-01-01"));
    assert_eq!(decision.ruling, Ruling::Fail);
    let lines: Vec<&str> =
        decision.lines.iter().map(String::as_str).filter(|line| !line.starts_with("measured")).collect();
    let expected = [
        "failed      the labels of faithfulness are others than at its calibration",
        "            hold it against people anew: cargo rageval calibrate",
        "failed      the labels were drawn from version 1.0.0 of the golden set, which states no version",
        "            lock the cases, or take the version out of the labels, then: cargo rageval calibrate",
        "failed      another judge was held against people: openai m-2026 (with this metric 01234567); now openai n (with this metric 01234567)",
        "failed      4 labelled items count, and it takes 50",
        "            label more: cargo rageval calibrate label; then: cargo rageval calibrate",
        "            or waive it in writing: `waive: {calibration: {reason: WHY, until: YYYY-MM-DD}}`",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn a_waiver_passes_through_its_last_day() {
    let refused = looked(vec![Refusal::ConstantJudge]);
    let of = |day: &str| decision(&metric(), &refused, &Bars::default(), Some(&waiver()), on(day));
    let held = of("2026-12-31");
    assert_eq!(held.ruling, Ruling::Pass);
    let expected = "waived      calibration until 2026-12-31: as agreed; without it: the judge says the same of every item, whatever people say";
    assert_eq!(held.lines, [expected]);
    let expired = of("2027-01-01");
    assert_eq!(expired.ruling, Ruling::Fail);
    let last = expired.lines.last().expect("a line");
    assert_eq!(last, "            or waive it anew: the waiver at t.yaml:6 expired on 2026-12-31");
    // Nothing is waived that is not refused.
    let fine = decision(&metric(), &looked(Vec::new()), &Bars::default(), Some(&waiver()), on("2026-12-31"));
    assert!(fine.lines[0].starts_with("passed"), "{:?}", fine.lines);
}

fn reported(measured: &Measured, run: Option<&[f64]>) -> (Report, Vec<String>) {
    let made = calibrated(&metric(), measured, &Asked { bar: 0.75, run });
    let lines = report(&made, &[], &Bars::default());
    (made, lines)
}

#[test]
fn a_report_fits_a_screen_and_says_all_of_it() {
    let run: Vec<f64> = (0..40).map(|i| f64::from(i % 3) / 2.0).collect();
    let (made, lines) = reported(&measured(), Some(&run));
    for label in [
        "calibration",
        "passed",
        "items",
        "agreement",
        "people",
        "yes or no",
        "language",
        "length",
        "pass rate",
        "apart",
    ] {
        assert!(lines.iter().any(|line| line.starts_with(label)), "{label}\n{}", lines.join("\n"));
    }
    assert!(lines.len() <= 40 && lines.iter().all(|line| line.chars().count() <= COLUMNS), "{}", lines.join("\n"));
    assert_eq!(made.by_language.keys().collect::<Vec<_>>(), ["en", "pt"]);
    let json = serde_json::to_value(&made).expect("JSON");
    assert_eq!(json["items"]["counted"], 60);
    assert_eq!(json["binary"]["true_positive"], made.binary.true_positive);
}

#[test]
fn verdicts_of_one_person_are_a_table_without_a_plot() {
    let mut measured = measured();
    for (i, item) in measured.items.iter_mut().enumerate() {
        let verdict = if i.is_multiple_of(3) { Verdict::Unsupported } else { Verdict::Supported };
        item.people = BTreeMap::from([("ana".to_owned(), Human::Verdict(verdict))]);
        item.judge = Judged::Scored(UnitInterval::from_yes(i % 3 != 0 || i == 0));
    }
    let (made, lines) = reported(&measured, None);
    let table = "yes or no   yes from 0.75 on. People yes: judge yes 40, no 0; people no: judge yes 1, no 19";
    assert!(lines.iter().any(|line| line == table), "{}", lines.join("\n"));
    assert!(!lines.iter().any(|line| line.contains(" |") || line.starts_with("pass rate")), "{}", lines.join("\n"));
    assert!(lines.iter().any(|line| line.contains("how well people agree is not known")), "{}", lines.join("\n"));
    assert_eq!((made.people.shared, made.people.krippendorff_alpha, made.people.ceiling), (0, None, None));
}
