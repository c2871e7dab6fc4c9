//! Formulas with their numbers, as a person reads them.

use serde_json::{Value, json};

use super::*;
use crate::metric::{
    METRICS,
    trying::{Try, context},
};

#[test]
fn every_metric_has_a_formula() {
    for metric in METRICS {
        let formula = metric.formula(&Params::default());
        assert!(formula.text.contains([' ', '/']), "{}: its `formula` says nothing", metric.name());
        assert!(!formula.text.ends_with('.'), "{}", metric.name());
    }
}

#[track_caller]
fn check(tried: &Try, expected: &[&str]) {
    let (outcome, lines) = tried.worked();
    assert_eq!(lines, expected, "{outcome:?}");
}

fn metric(name: &str) -> Try {
    let metric = crate::metric::find(name).unwrap_or_else(|| panic!("no metric {name}"));
    let contexts = vec![context("b", "Free."), context("x", "No."), context("a", "Within 30 days.")];
    Try::of(metric).answer("Refunds take 30 days. They are free.").contexts(contexts)
}

fn verdicts(words: &[&str]) -> Value {
    let entries = (1..).zip(words).map(|(n, word): (usize, _)| json!({"n": n, "verdict": word}));
    entries.collect()
}

#[test]
fn shares_say_what_they_count() {
    let claims = json!({"sentences": [
        {"n": 1, "claims": [{"claim": "one", "verdict": "supported"}, {"claim": "two", "verdict": "contradicted"}]},
        {"n": 2, "claims": [{"claim": "three", "verdict": "supported"}]}]});
    check(&metric("faithfulness").replies(std::slice::from_ref(&claims)), &["2 of 3 claims supported: 2 / 3 = 0.6667"]);
    check(&metric("hallucination").replies(&[claims]), &["2 of 3 claims not contradicted: 2 / 3 = 0.6667"]);
    let found = json!({"contexts": verdicts(&["relevant", "irrelevant", "irrelevant"])});
    check(&metric("context_relevancy").replies(&[found]), &["1 of 3 contexts relevant: 1 / 3 = 0.3333"]);
    check(&metric("faithfulness").contexts(Vec::new()), &["no contexts: nothing supports the answer = 0.00"]);
}

#[test]
fn weights_are_shown_with_what_they_weigh() {
    let statements = json!({
        "answer": verdicts(&["correct", "wrong"]),
        "reference": verdicts(&["covered", "missing", "missing"]),
    });
    let tried = || metric("answer_correctness").references(&["Thirty days. By post. With a form."]);
    let plain = "1 correct, 1 wrong, 2 of 3 missing: 2 x 1 / (2 x 1 + 1 + 2) = 0.40";
    check(&tried().replies(std::slice::from_ref(&statements)), &[plain]);
    let weighed = tried().param("similarity_weight", json!(0.25)).replies(&[json!([0.8]), statements]);
    check(&weighed, &[plain, "0.75 x 0.40 + 0.25 x 0.80 = 0.50"]);
    let grades = json!({"faithfulness": 8, "relevance": 6, "completeness": 4});
    check(
        &metric("self_critique").replies(&[grades]),
        &["REVISE: faithfulness 8, relevance 6, completeness 4", "(0.40 x 8 + 0.35 x 6 + 0.25 x 4) / 10 = 0.63"],
    );
}

#[test]
fn ranks_and_scales_are_shown() {
    let useful = json!({"contexts": verdicts(&["useful", "not_useful", "useful"])});
    check(&metric("context_precision").replies(&[useful]), &["(1/1 + 2/3) / 2 = 0.8333"]);
    let scores = [json!({"score": 4}), json!({"score": 3})];
    let sampled = metric("g_eval").param("steps", json!(["Look."])).param("mode", json!("samples"));
    check(
        &sampled.param("samples", json!(2)).replies(&scores),
        &["mode samples: mean 3.50 of 2 on a scale of 1 to 5 (4, 3)", "(3.50 - 1) / (5 - 1) = 0.625"],
    );
}

#[test]
fn texts_are_compared_with_the_best_reference() {
    let tried =
        |name: &str| metric(name).answer("the fee is 12 euros").references(&["no", "the fee is 15 euros today"]);
    check(&tried("rouge_1"), &["reference 2 of 2: 2 x 4 / (5 + 6) = 0.7273"]);
    check(&tried("rouge_2"), &["reference 2 of 2: 2 x 2 / (4 + 5) = 0.4444"]);
    check(&tried("rouge_l"), &["reference 2 of 2: 2 x 4 / (5 + 6) = 0.7273"]);
    check(&tried("token_f1"), &["reference 2 of 2: 2 x 3 / (4 + 5) = 0.6667"]);
    check(&tried("exact_match"), &["no = 0.00"]);
    check(&tried("bleu"), &["reference 2 of 2: (0.80 x 0.50 x 0.3333 x 0.25)^(1/4) x exp(1 - 6/5) = 0.3498"]);
    let (_, chrf) = tried("chrf").worked();
    assert!(chrf[0].starts_with("reference 2 of 2: P = "), "{chrf:?}");
}

#[test]
fn negation_stands_on_a_line_of_its_own() {
    let promises = || metric("contains").param("any", json!(["free", "gratis"])).param("not", json!(true));
    check(&promises(), &["1 of 1 (found: \"free\") = 1.00", "not: 1 - 1.00 = 0.00"]);
    let overlap = metric("token_f1").references(&["They are free."]).param("not", json!(true));
    check(&overlap, &["2 x 3 / (7 + 3) = 0.60", "not: 1 - 0.60 = 0.40"]);
}

#[test]
fn quantities_show_what_was_measured() {
    check(&metric("length").param("max", json!(10)), &["36 characters, at most 10 = 0.00"]);
}

#[test]
fn long_rows_are_counted_and_not_written_out() {
    let terms = |count: usize| row((0..count).map(|i| i.to_string()), ", ");
    assert_eq!(terms(2), "0, 1");
    assert_eq!(terms(14), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ... (2 more)");
}
