//! What the rows of a comment say, over the run of every outcome with single things changed.

use rageval_runner::model::{
    CaseId, Claim, Detail, MetricKey, Outcome, Record, RetrievedContext, Taken, UnitInterval, Verdict,
    background::{CalibrationBackground, CaseBackground},
    run::{Decision, Run},
};

use super::rendered;
use crate::report::fixture;

fn claim(text: &str, verdict: Verdict) -> Claim {
    Claim { text: text.to_owned(), verdict, evidence: None, reason: None }
}

fn half(claims: Vec<Claim>) -> Outcome {
    Outcome::scored_with(UnitInterval::new(0.5).expect("in range"), Detail { claims, ..Detail::default() })
}

fn record<'r>(run: &'r mut Run, case: &str) -> &'r mut Record {
    run.records.iter_mut().find(|record| record.case.as_str() == case).expect("a record")
}

fn decision<'r>(run: &'r mut Run, case: &str) -> &'r mut Decision {
    let end = format!("::{case}");
    run.decisions.iter_mut().find(|decision| decision.trial.ends_with(&end)).expect("a decision")
}

/// The last cell of a red case's row.
fn why(run: &Run, case: &str) -> String {
    let text = rendered("markdown", run);
    let start = format!("| `{case}` ");
    let row = text.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("{case}: {text}"));
    row.trim_end_matches(" |").rsplit(" | ").next().expect("a cell").to_owned()
}

/// The run in which `below-min` is red in one metric, with these claims.
fn with_claims(metric: &str, claims: Vec<Claim>) -> Run {
    let mut run = fixture::every_outcome();
    let key: MetricKey = fixture::key(metric);
    for finding in &mut decision(&mut run, "below-min").findings {
        finding.metric = Some(key.clone());
    }
    record(&mut run, "below-min").outcomes.insert(key, half(claims));
    run
}

#[test]
fn what_the_answer_did_not_say_is_not_told_as_its_claim() {
    for (metric, text, told) in [
        ("context_precision", "context pt/sizes", "not useful: `pt/sizes`"),
        ("context_recall", "Gold is free.", "not found in what was retrieved: `Gold is free.`"),
        ("answer_correctness", "reference: Gold is free.", "missing from the answer: `Gold is free.`"),
    ] {
        let run = with_claims(metric, vec![claim(text, Verdict::Unsupported)]);
        assert_eq!(why(&run, "below-min"), format!("{told}; answered: `Within 30 days.`"), "{metric}");
    }
}

#[test]
fn a_claim_of_the_answer_comes_before_the_worst_finding() {
    let claims =
        vec![claim("reference: Gold is free.", Verdict::Contradicted), claim("It is red.", Verdict::Unsupported)];
    let run = with_claims("answer_correctness", claims);
    assert_eq!(why(&run, "below-min"), "**unsupported:** `It is red.`; expected: `Within 30 days.`");

    let mut run = with_claims("faithfulness", vec![claim("It is red.", Verdict::Unsupported)]);
    let recall = fixture::key("context_recall");
    let findings = &mut decision(&mut run, "below-min").findings;
    let mut worse = findings[0].clone();
    (worse.metric, worse.score) = (Some(recall.clone()), Some(0.0));
    findings.push(worse);
    let missing = vec![claim("Gold is free.", Verdict::Unsupported)];
    record(&mut run, "below-min").outcomes.insert(recall, half(missing));
    assert_eq!(
        why(&run, "below-min"),
        "**unsupported:** `It is red.`; expected: `Within 30 days.`; not found in what was retrieved: `Gold is free.`"
    );
}

#[test]
fn a_refusal_is_shown_and_not_a_claim_of_it() {
    let mut run = with_claims("faithfulness", vec![claim("I cannot say.", Verdict::Unsupported)]);
    if let Taken::Sample(sample) = &mut record(&mut run, "below-min").taken {
        (sample.is_refusal, sample.answer.response) = (true, "I cannot say.".to_owned());
    }
    assert_eq!(why(&run, "below-min"), "declined: `I cannot say.`");
}

#[test]
fn where_the_judge_names_no_evidence_the_nearest_sentence_stands_there() {
    let mut run =
        with_claims("faithfulness", vec![claim("The locker keeps the parcel 60 days.", Verdict::Unsupported)]);
    if let Taken::Sample(sample) = &mut record(&mut run, "below-min").taken {
        let text = "Gold is free. A parcel is kept for 5 days in the locker.";
        sample.answer.retrieved_contexts = vec![RetrievedContext::new("parcels", text)];
    }
    let told = "nearest: `parcels` `A parcel is kept for 5 days in the locker.`";
    assert_eq!(why(&run, "below-min"), format!("**unsupported:** `The locker keeps the parcel 60 days.`; {told}"));
}

#[test]
fn a_red_comment_names_the_page_of_red_texts_once() {
    use rageval_runner::{model::run::Conclusion, report::console::text::RED_TEXTS};
    let mut run = fixture::every_outcome();
    for name in ["markdown", "summary", "html", "text"] {
        assert_eq!(rendered(name, &run).matches(RED_TEXTS).count(), 1, "{name}");
    }
    run.decisions.retain(|decision| decision.trial.ends_with("::passes"));
    run.cases.retain(|case| case.case.as_str() == "passes");
    run.records.retain(|record| record.case.as_str() == "passes");
    run.background.metrics.clear();
    run.manifest.golden_set.cases = 1;
    assert_eq!(run.conclusion(), Conclusion::Pass, "{:?}", run.holes());
    for name in ["markdown", "html", "text"] {
        assert_eq!(rendered(name, &run).matches(RED_TEXTS).count(), 0, "{name}");
    }
}

#[test]
fn a_judge_whose_calibration_is_waived_says_so_in_one_line_for_equal_reasons() {
    let mut run = fixture::every_outcome();
    let one = CalibrationBackground {
        metric: fixture::key("faithfulness"),
        items: Vec::new(),
        rho: None,
        interval: None,
        min_rho: 0.7,
        refusals: vec!["0 items are labelled".to_owned()],
    };
    let another = CalibrationBackground { metric: fixture::key("context_recall"), ..one.clone() };
    run.background.calibrations = vec![one, another];
    let line = |run: &Run| {
        let text = rendered("markdown", run);
        let lines: Vec<String> =
            text.lines().filter(|line| line.starts_with("- judge of ")).map(str::to_owned).collect();
        lines
    };
    run.background.waivers.clear();
    let (both, why) = ("- judge of `faithfulness`, `context_recall`:", "nobody has labelled anything");
    assert_eq!(line(&run), [format!("{both} **not believed**, {why}")]);
    run.background.waivers.push("calibration until 2027-01-31: first use".to_owned());
    assert_eq!(line(&run), [format!("{both} not believed (waived until 2027-01-31), {why}")]);
}

#[test]
fn equals_stay_in_the_order_of_the_set() {
    let run = fixture::every_outcome();
    let text = rendered("markdown", &run);
    let at = |case: &str| text.find(&format!("| `{case}` `cases/help.yaml")).expect(case);
    assert!(at("system-fails") < at("judge-fails") && at("judge-fails") < at("cannot-compare"), "{text}");
}

#[test]
fn the_numbers_of_a_metric_subtract() {
    let text = rendered("markdown", &fixture::every_outcome());
    let (_, table) = text.split_once("| Metric | Mean (95%) | Baseline | Now | Change |").expect("a table");
    let rows: Vec<&str> = table.lines().skip(2).take_while(|line| line.starts_with("| `")).collect();
    assert_eq!(rows.len(), 4, "{table}");
    for row in rows {
        let cells: Vec<f64> = row.split(" | ").skip(2).take(3).map(|cell| cell.parse().expect("a number")).collect();
        assert!((cells[1] - cells[0] - cells[2]).abs() < 1e-9, "{row}");
        assert!(row.contains(" compared, "), "pairs are fewer than the scored: {row}");
    }
}

#[test]
fn gates_beyond_the_first_few_are_folded() {
    let mut run = fixture::every_outcome();
    let of_set = |decision: &&Decision| decision.trial == "gate::faithfulness::mean";
    let gate = run.decisions.iter().find(of_set).expect("a gate").clone();
    for n in 0..20 {
        run.decisions.push(Decision { trial: format!("gate::more{n}::mean"), ..gate.clone() });
    }
    let text = rendered("summary", &run);
    let (_, gates) = text.split_once("#### Red gates\n\n").expect("gates");
    let (shown, rest) = gates.split_once("<details><summary>More red gates</summary>").expect("a fold");
    let (rest, _) = rest.split_once("</details>").expect("its end");
    let count = |part: &str| part.lines().filter(|line| line.starts_with("| `")).count();
    assert_eq!((count(shown), count(rest)), (8, 17), "{text}");
    assert!(!shown.contains("@language=") && rest.contains("@language="), "whole sets come first: {text}");
}

#[test]
fn a_tenth_of_few_cases_is_not_listed() {
    let mut run = fixture::every_outcome();
    let key = fixture::key("context_recall");
    record(&mut run, "below-min").outcomes.insert(key, half(Vec::new()));
    let text = rendered("markdown", &run);
    let (_, tail) = text.split_once("#### The worst tenth").expect("a section");
    let (tail, _) = tail.split_once("####").expect("the next");
    assert!(tail.contains("| `faithfulness` | 0.50 | quantile |"), "{tail}");
    assert!(!tail.contains("context_recall") && !tail.contains("1.00 |"), "{tail}");
}

#[test]
fn scores_of_one_reason_are_one_row() {
    let mut run = fixture::every_outcome();
    let reasons = &mut run.background.baseline.as_mut().expect("a baseline").manifest.reasons;
    let many = (0..30).map(|n| (CaseId::new(format!("c{n:02}")).expect("an id"), fixture::key("token_f1"), 0.5, 0.4));
    reasons[0].scores.extend(many);
    let text = rendered("markdown", &run);
    assert_eq!(text.matches("The index is smaller.").count(), 1, "{text}");
    assert!(text.contains("| 32 | `c00` `token_f1` 0.50 → 0.40; ") && text.contains("; and 22 more |"), "{text}");
    assert!(text.find("#### Metrics") < text.find("<summary>Scores that the baseline lowered"), "{text}");
}

/// The run of every outcome, in which so many more cases and gates are red.
fn wholly_red(more: usize) -> Run {
    let mut run = fixture::every_outcome();
    let at = run.cases.iter().position(|case| case.case.as_str() == "below-min").expect("a case");
    let (golden, red) = (run.cases[at].clone(), decision(&mut run, "below-min").clone());
    let taken = record(&mut run, "below-min").clone();
    for n in 0..more {
        let id = CaseId::new(format!("more-{n:05}")).expect("an id");
        let trial = format!("case::help::more-{n:05}");
        run.records.push(Record { case: id.clone(), ..taken.clone() });
        run.cases.push(CaseBackground { case: id, trial: trial.clone(), ..golden.clone() });
        run.decisions.push(Decision { trial, ..red.clone() });
    }
    let of_set = |decision: &&Decision| decision.trial == "gate::faithfulness::mean";
    let gate = run.decisions.iter().find(of_set).expect("a gate").clone();
    for n in 0..more.min(60) {
        run.decisions.push(Decision { trial: format!("gate::more{n}::mean"), ..gate.clone() });
    }
    run
}

#[test]
fn a_wholly_red_run_is_read_in_two_minutes() {
    for more in [40, 300, 3000] {
        let text = rendered("markdown", &wholly_red(more));
        assert!(text.len() <= 16_000, "{}", text.len());
        let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what}: {text}"));
        // The gates, the worst in full, the others by a line, in this order; then how many are left and what shows them.
        assert!(at("#### Red gates") < at("#### Red cases, the worst first"));
        assert!(at("#### Red cases, the worst first") < at("<summary>The other red cases, a line each</summary>"));
        let (_, in_full) = text.split_once("#### Red cases, the worst first\n\n").expect("a section");
        let (in_full, rest) = in_full.split_once("<details>").expect("a fold");
        let rows = |part: &str| part.lines().filter(|line| line.contains("`cases/help.yaml:")).count();
        let (others, _) = rest.split_once("</details>").expect("its end");
        assert_eq!((rows(in_full), rows(others)), (6, 25), "{text}");
        assert!(in_full.contains("**contradicted:** `You have 60 days to return it.`"), "{in_full}");
        let left = more + 9 - 6 - 25;
        assert!(
            others.contains(&format!("and {left} more red cases: `cargo rageval report RUN --format text`")),
            "{others}"
        );
        assert!(text.contains("in place of `RUN`: `cargo rageval report RUN --format html`."), "{text}");
    }
}

#[test]
fn a_short_line_tells_the_worst_broken_rule() {
    let mut run = wholly_red(40);
    for decision in &mut run.decisions {
        let Some(finding) = decision.findings.first().filter(|_| decision.trial.contains("::more-")) else { continue };
        let mut worse = finding.clone();
        (worse.score, worse.text) = (Some(0.0), "the worst of its rules".to_owned());
        decision.findings.push(worse);
    }
    let text = rendered("markdown", &run);
    let (_, others) = text.split_once("The other red cases, a line each").expect("a fold");
    let line = others.lines().find(|line| line.contains("more-0")).expect("a case");
    assert!(line.ends_with("| `the worst of its rules` |"), "{line}");
}

#[test]
fn one_or_two_beyond_the_worst_are_not_folded() {
    let mut run = fixture::every_outcome();
    run.decisions.retain(|decision| !decision.trial.ends_with("::system-fails"));
    let text = rendered("markdown", &run);
    assert!(text.contains("#### Red cases\n") && !text.contains("The other red cases"), "{text}");
}

#[test]
fn slices_say_over_how_many_their_change_is() {
    let text = rendered("markdown", &fixture::every_outcome());
    assert!(text.contains("| `faithfulness` | `language=en` | 0.8333 | -0.1538 | 15, 13 compared |"), "{text}");
}
