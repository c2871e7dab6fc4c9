//! Cases that failed, and what they print.

use unicode_width::UnicodeWidthStr;

use super::*;
use crate::{
    gate::{
        decide_case,
        fixture::{World, id, key, scored, unit},
        rule::MetricRule,
    },
    model::{
        Claim, Detail, Evidence, Judgement, KnownFailure, Outcome, Ranked, RetrievedContext, Taken, Unmeasured, Verdict,
    },
};

fn claim(text: &str, verdict: Verdict, evidence: &str) -> Claim {
    let evidence = Evidence { id: Some("refunds".into()), text: evidence.to_owned() };
    Claim { text: text.to_owned(), verdict, evidence: Some(evidence), reason: None }
}

/// A case with two claims, one contradicted, and one relevant document that was not found.
fn world() -> World {
    let detail = Detail {
        claims: vec![
            claim("Returns are free.", Verdict::Supported, "Returns cost nothing."),
            claim("You have 60 days to return it.", Verdict::Contradicted, "Refunds are possible within 30 days."),
        ],
        k_of_n: Some((1, 2)),
        ..Detail::default()
    };
    World::with("faithfulness", [Outcome::scored_with(unit(0.5), detail)])
        .rule(|rule| rule.min = Some(unit(0.8)))
        .change(|world| {
            world
                .rules
                .metrics
                .insert(key("recall@5"), MetricRule { max_drop: Some(unit(0.25)), ..MetricRule::default() });
            let ranked = Ranked { found: Vec::new(), missed: vec!["refunds".into()] };
            let detail = Detail { ranked: Some(ranked), k_of_n: Some((0, 1)), ..Detail::default() };
            let case = &mut world.set.cases[0];
            case.query = "How long do I have to return a laptop?".to_owned();
            case.references = vec!["Within 30 days.".to_owned()];
            case.relevant = Some(vec![Judgement { id: "refunds".into(), grade: 1.0 }]);
            let digest = case.digest();
            let record = world.record_mut(&id("c00"));
            record.digest = digest;
            record.outcomes.insert(key("recall@5"), Outcome::scored_with(unit(0.0), detail));
            let Taken::Sample(sample) = &mut record.taken else { panic!("a sample") };
            sample.answer.response = "Returns are free.\nYou have 60 days to return it.".to_owned();
            sample.answer.retrieved_contexts =
                ["shipping", "warranty", "contact"].map(|id| RetrievedContext::new(id, "text")).into();
        })
        .accepted(&[0.5])
        .change(|world| {
            let baseline = world.baseline.as_mut().expect("a baseline");
            baseline.manifest.metric_versions.insert("recall".to_owned(), 1);
            let case = baseline.cases.get_mut(&id("c00")).expect("a case");
            case.outcomes.insert(key("recall@5"), scored(1.0));
        })
}

fn check(world: &World, snapshot: Option<&SnapshotFailure>, expected: &[&str]) {
    let case = &world.set.cases[0];
    let decision = decide_case(case, &world.records[&case.id], &world.basis(), snapshot);
    assert_eq!(decision.lines, expected, "\n{}", decision.lines.join("\n"));
}

#[test]
fn a_failing_case_says_what_broke_and_why() {
    check(
        &world(),
        None,
        &[
            "case        cases/en.yaml:10, c00",
            "question    How long do I have to return a laptop?",
            "answer      Returns are free. You have 60 days to return it.",
            "expected    Within 30 days.",
            "failed      faithfulness 0.50, min 0.80 (1 of 2)",
            "failed      recall@5 0.00, baseline 1.00: dropped by 1.00, max_drop 0.25 (0 of 1)",
            "missed      refunds",
            "instead     1 shipping, 2 warranty, 3 contact",
            "claim       contradicted: You have 60 days to return it.",
            "evidence    [refunds] Refunds are possible within 30 days.",
            "look        cargo test --test rag_regression -- --exact 'case::en::c00'",
            "accept      cargo rageval baseline accept --reason WHY",
            "accept      thresholds: {faithfulness: {min: 0.5}} or known_failure at cases/en.yaml:10",
        ],
    );
}

#[test]
fn a_worse_snapshot_shows_its_difference() {
    let snapshot = SnapshotFailure {
        why: "faithfulness: 2 of 2 -> 1 of 2".to_owned(),
        diff: vec!["-   supported: You have 30 days.".to_owned(), "+   contradicted: You have 60 days.".to_owned()],
    };
    let world = world().change(|world| world.rules.metrics.clear());
    check(
        &world,
        Some(&snapshot),
        &[
            "case        cases/en.yaml:10, c00",
            "question    How long do I have to return a laptop?",
            "answer      Returns are free. You have 60 days to return it.",
            "expected    Within 30 days.",
            "snapshot    faithfulness: 2 of 2 -> 1 of 2",
            "diff        -   supported: You have 30 days.",
            "diff        +   contradicted: You have 60 days.",
            "look        cargo test --test rag_regression -- --exact 'case::en::c00'",
            "accept      cargo insta review",
        ],
    );
}

#[test]
fn a_case_whose_system_failed_says_how() {
    let world = world().change(|world| {
        let record = world.record_mut(&id("c00"));
        record.outcomes.clear();
        record.taken = Taken::Failed(Unmeasured::new("system error", "status 503\r\n::error::down"));
    });
    check(
        &world,
        None,
        &[
            "case        cases/en.yaml:10, c00",
            "question    How long do I have to return a laptop?",
            "expected    Within 30 days.",
            "unmeasured  system error: status 503 ::error::down",
            "look        cargo test --test rag_regression -- --exact 'case::en::c00'",
        ],
    );
}

#[test]
fn a_case_under_another_judge_says_what_to_do() {
    let world = world().change(|world| {
        world.judge.fingerprint = "bbbbbbbbbbbb".to_owned();
        world.rules.metrics.remove(&key("recall@5"));
        let rule = MetricRule { max_drop: Some(unit(0.1)), ..MetricRule::default() };
        world.rules.metrics.insert(key("faithfulness"), rule);
    });
    check(
        &world,
        None,
        &[
            "case        cases/en.yaml:10, c00",
            "question    How long do I have to return a laptop?",
            "answer      Returns are free. You have 60 days to return it.",
            "expected    Within 30 days.",
            "undecided   max_drop of faithfulness: another judge than the baseline's",
            "            now offline 1 (bbbbbbbb), in the baseline offline 1 (aaaaaaaa)",
            "look        cargo test --test rag_regression -- --exact 'case::en::c00'",
            "accept      cargo rageval baseline rejudge, then the same with --accept",
        ],
    );
}

#[test]
fn a_case_that_should_be_refused_says_so() {
    let world = world().change(|world| {
        let case = &mut world.set.cases[0];
        (case.expectation, case.references) = (Expectation::Refuse, Vec::new());
        world.rules.metrics.remove(&key("recall@5"));
        let record = world.record_mut(&id("c00"));
        let note = Some("answered, should decline".to_owned());
        let detail = Detail { note, ..Detail::default() };
        record.outcomes = [(key("faithfulness"), Outcome::scored_with(unit(0.0), detail))].into();
    });
    check(
        &world,
        None,
        &[
            "case        cases/en.yaml:10, c00",
            "question    How long do I have to return a laptop?",
            "answer      Returns are free. You have 60 days to return it.",
            "expected    (a refusal: should_refuse is true)",
            "failed      faithfulness 0.00, min 0.80 (answered, should decline)",
            "look        cargo test --test rag_regression -- --exact 'case::en::c00'",
            "accept      known_failure: {metrics: [faithfulness], reason: WHY} at cases/en.yaml:10",
        ],
    );
}

#[test]
fn a_wrong_answer_names_the_document_that_was_not_found() {
    let world = world().change(|world| drop(world.rules.metrics.remove(&key("recall@5"))));
    let lines = world.case("c00").lines;
    assert!(lines.contains(&"missed      refunds".to_owned()), "{lines:#?}");
}

#[test]
fn a_long_answer_takes_the_room_that_is_left() {
    let world = world().change(|world| {
        let Taken::Sample(sample) = &mut world.record_mut(&id("c00")).taken else { panic!("a sample") };
        sample.answer.response = "You can return it. ".repeat(30);
        world.rules.metrics.remove(&key("recall@5"));
    });
    let lines = world.case("c00").lines;
    assert!(lines[4].starts_with("          | You") || lines[4].starts_with("          | it."), "{lines:#?}");
    assert!(lines[4].ends_with('…') && lines[5].starts_with("expected"), "{lines:#?}");
    assert!(lines.len() <= MOST_LINES, "{lines:#?}");
}

#[test]
fn chinese_text_is_cut_by_columns() {
    let long = "退款期限是三十天，".repeat(20);
    let world = world().change(|world| world.set.cases[0].query = long);
    let lines = world.case("c00").lines;
    assert!(lines.iter().all(|line| line.width() <= COLUMNS), "{lines:#?}");
    assert!(lines[1].ends_with('…') && lines[1].width() >= COLUMNS - 2, "{}", lines[1]);
}

#[test]
fn a_case_that_fails_everywhere_keeps_within_its_lines() {
    let world = world().change(|world| {
        for i in 1..30 {
            let metric = key(&format!("recall@{i}"));
            world.rules.metrics.insert(metric.clone(), MetricRule { min: Some(unit(1.0)), ..MetricRule::default() });
            world.record_mut(&id("c00")).outcomes.insert(metric, scored(0.5));
        }
    });
    let snapshot = SnapshotFailure { why: "worse".to_owned(), diff: vec!["- a".to_owned(); 40] };
    let case = &world.set.cases[0];
    let decision = decide_case(case, &world.records[&case.id], &world.basis(), Some(&snapshot));
    assert_eq!(decision.lines.len(), MOST_LINES, "{:#?}", decision.lines);
    assert!(decision.lines.iter().any(|line| line.ends_with(" more")), "{:#?}", decision.lines);
}

#[test]
fn every_metric_that_keeps_a_case_red_is_named() {
    let accepts = |world: &World| -> Vec<String> {
        let lines = world.case("c00").lines;
        lines.into_iter().filter(|line| line.starts_with("accept") && line.contains(" at ")).collect()
    };
    let of = |recall: f64| {
        world().change(|world| {
            let rule = MetricRule { min: Some(unit(0.9)), ..MetricRule::default() };
            world.rules.metrics.insert(key("recall@5"), rule);
            world.record_mut(&id("c00")).outcomes.insert(key("recall@5"), scored(recall));
        })
    };
    assert_eq!(
        accepts(&of(0.0)),
        ["accept      known_failure: {metrics: [faithfulness, recall@5], reason: WHY} at cases/en.yaml:10"]
    );
    assert_eq!(
        accepts(&of(0.75)),
        [
            "accept      thresholds: {faithfulness: {min: 0.5}, recall@5: {min: 0.75}} or known_failure at cases/en.yaml:10"
        ]
    );
}

#[test]
fn what_is_known_to_fail_stays_in_the_line_that_accepts() {
    let world = world().change(|world| {
        world.set.cases[0].known_failure =
            Some(KnownFailure { metrics: vec![key("recall@5")], reason: "another word".to_owned() });
        world.record_mut(&id("c00")).outcomes.insert(key("faithfulness"), scored(0.0));
    });
    let lines = world.case("c00").lines;
    let accept = "accept      known_failure: {metrics: [faithfulness, recall@5], reason: WHY} at cases/en.yaml:10";
    assert!(lines.contains(&accept.to_owned()), "{lines:#?}");
}

#[test]
fn where_nothing_came_back_nothing_else_is_spoken_of() {
    let world = world().change(|world| {
        let Taken::Sample(sample) = &mut world.record_mut(&id("c00")).taken else { panic!("a sample") };
        sample.answer.retrieved_contexts.clear();
    });
    let lines = world.case("c00").lines;
    assert!(lines.contains(&"instead     nothing was retrieved".to_owned()), "{lines:#?}");
}

#[test]
fn a_difference_that_is_cut_says_where_the_rest_is() {
    let world = world().change(|world| world.rules.metrics.clear());
    let lines_of = |count: usize| {
        let snapshot = SnapshotFailure { why: "worse".to_owned(), diff: vec!["- a".to_owned(); count] };
        let case = &world.set.cases[0];
        decide_case(case, &world.records[&case.id], &world.basis(), Some(&snapshot)).lines
    };
    let cut = lines_of(10);
    assert_eq!(cut.len(), MOST_LINES, "{cut:#?}");
    assert_eq!(cut.iter().filter(|line| line.starts_with("diff")).count(), 7, "{cut:#?}");
    assert_eq!(cut[12], "            and 3 more lines: cargo rageval explain c00", "{cut:#?}");
    let whole = lines_of(8);
    assert_eq!(whole.len(), MOST_LINES, "{whole:#?}");
    assert!(!whole.iter().any(|line| line.contains("more")), "{whole:#?}");
}

#[test]
fn text_of_an_answer_is_data() {
    let attack = "\u{1b}[31mred\u{1b}[0m\n::error file=a::b\r##[error]x ##vso[task.complete] \u{202e}txt.exe\u{7}";
    let world = world().change(|world| {
        world.set.cases[0].query = attack.to_owned();
        world.set.cases[0].known_failure =
            Some(KnownFailure { metrics: vec![key("faithfulness")], reason: attack.to_owned() });
    });
    let decision = world.case("c00");
    for line in decision.lines.iter().chain(&decision.notices) {
        assert!(!line.chars().any(char::is_control) && !line.contains('\u{202e}'), "{line:?}");
        assert!(!line.trim_start().starts_with("::") && !line.contains("##[") && !line.contains("##vso["), "{line:?}");
    }
    assert!(
        decision.lines[1].contains("red ::error file=a::b # #[error]x # #vso[task.complete] <U+202E>txt.exe"),
        "{}",
        decision.lines[1]
    );
}

#[test]
fn one_line_says_why_a_trial_is_red() {
    use crate::report::console::reason;

    let mut decision = world().case("c00");
    assert_eq!(reason(&decision), "faithfulness 0.50, min 0.80 (1 of 2)");
    decision.lines.clear();
    assert_eq!(reason(&decision), "case::en::c00");
}

#[test]
fn what_is_no_claim_of_the_answer_has_a_line_of_its_own_kind() {
    let judged = |text: &str, verdict| Claim { text: text.to_owned(), verdict, evidence: None, reason: None };
    for (metric, text, told) in [
        ("context_precision", "context en/a", "context     not useful: en/a"),
        ("context_recall", "Gold is free.", "reference   not found in what was retrieved: Gold is free."),
        ("answer_correctness", "reference: Gold is free.", "reference   missing from the answer: Gold is free."),
        ("faithfulness", "Gold is free.", "claim       unsupported: Gold is free."),
    ] {
        let detail = Detail { claims: vec![judged(text, Verdict::Unsupported)], ..Detail::default() };
        let world =
            World::with(metric, [Outcome::scored_with(unit(0.0), detail)]).rule(|rule| rule.min = Some(unit(0.8)));
        let case = &world.set.cases[0];
        let lines = decide_case(case, &world.records[&case.id], &world.basis(), None).lines;
        assert!(lines.iter().any(|line| line == told), "{metric}: {}", lines.join("\n"));
    }
}
