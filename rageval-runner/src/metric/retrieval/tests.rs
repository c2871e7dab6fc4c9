//! Tables of rankings and judgements, and what the metrics say of them.

use super::*;
use crate::metric::METRICS;
use crate::model::{Answer, CaseId, Judgement, RetrievedContext, Sample};

fn case(relevant: Option<&[(&str, f64)]>) -> GoldenCase {
    GoldenCase {
        relevant: relevant
            .map(|list| list.iter().map(|(id, grade)| Judgement { id: (*id).into(), grade: *grade }).collect()),
        group: "a".into(),
        ..GoldenCase::new(CaseId::new("a").expect("a valid id"), "where?")
    }
}

fn step(key: &str, params: &[(&str, &str)], relevant: Option<&[(&str, f64)]>, ids: &[Option<&str>]) -> Outcome {
    worked_step(key, params, relevant, ids).0
}

/// The outcome, and the formula with its numbers.
fn worked_step(
    key: &str,
    params: &[(&str, &str)],
    relevant: Option<&[(&str, f64)]>,
    ids: &[Option<&str>],
) -> (Outcome, Vec<String>) {
    let key = MetricKey::parse(key).expect("a valid key");
    let metric = Measure::ALL.into_iter().find(|metric| metric.name() == key.name()).expect("a known metric");
    let contexts = ids.iter().map(|id| match id {
        Some(id) => RetrievedContext::new(*id, "text"),
        None => RetrievedContext::without_id("text"),
    });
    let sample =
        Sample { answer: Answer::new("here").with_contexts(contexts), is_refusal: false, latency_ms: Some(0.0) };
    let params = Params(params.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect());
    let case = case(relevant);
    let input = Input { case: &case, sample: &sample, key: &key, params: &params, baseline: None };
    match metric.step(&input, &Transcript::default()) {
        Step::Done(outcome) => {
            let lines = crate::metric::worked::worked(&metric, &input, &Transcript::default(), &outcome);
            (outcome, lines)
        }
        Step::Ask(_) => panic!("a retrieval metric asks nobody"),
    }
}

fn score(key: &str, relevant: &[(&str, f64)], ids: &[&str]) -> f64 {
    let ids: Vec<_> = ids.iter().map(|id| Some(*id)).collect();
    step(key, &[], Some(relevant), &ids).score().expect("a score").get()
}

#[test]
fn every_metric_is_in_the_list_once() {
    let retrieval = METRICS.iter().filter(|metric| metric.kind() == Kind::Retrieval);
    let names: Vec<_> = retrieval.map(|metric| metric.name().to_owned()).collect();
    assert_eq!(names, Measure::ALL.map(|measure| measure.as_str().to_owned()));
}

#[test]
fn keys_and_cutoffs_give_the_number_of_the_formula() {
    let relevant = [("a", 1.0), ("b", 1.0)];
    let rows = [
        ("hit_rate@1", 0.0),
        ("hit_rate@2", 1.0),
        ("recall@2", 0.5),
        ("recall@3", 1.0),
        ("precision@2", 0.5),
        ("precision@10", 0.2),
        ("f1@2", 0.5),
        ("mrr", 0.5),
        ("mrr@1", 0.0),
        ("map", (0.5 + 2.0 / 3.0) / 2.0),
        ("map@2", 0.25),
        ("r_precision", 0.5),
        ("ndcg@2", (1.0 / 3f64.log2()) / (1.0 + 1.0 / 3f64.log2())),
        ("ndcg/labelled", (1.0 / 3f64.log2() + 0.5) / (1.0 + 1.0 / 3f64.log2())),
    ];
    for (key, expected) in rows {
        let got = score(key, &relevant, &["x", "b", "a"]);
        assert!((got - expected).abs() < 1e-12, "{key}: {got}, not {expected}");
    }
}

#[test]
fn three_of_three_is_exactly_1() {
    let relevant = [("a", 1.0), ("b", 1.0), ("c", 1.0)];
    for key in ["recall@3", "precision@3", "f1@3", "map", "map@3", "ndcg", "ndcg@3", "mrr", "r_precision", "hit_rate@3"]
    {
        assert_eq!(score(key, &relevant, &["c", "a", "b"]), 1.0, "{key}");
    }
}

#[test]
fn a_repeated_document_earns_its_first_place_only() {
    assert_eq!(score("ndcg@10", &[("A", 1.0)], &["A", "A"]), 1.0);
    assert_eq!(score("precision@2", &[("A", 1.0)], &["A", "A"]), 0.5);
    assert_eq!(score("recall@3", &[("A", 1.0), ("B", 1.0)], &["A", "A", "B"]), 1.0);
    assert_eq!(score("mrr", &[("B", 1.0)], &["A", "A", "B"]), 1.0 / 3.0);
}

#[test]
fn the_listed_order_counts_and_not_the_score() {
    assert_eq!(score("mrr", &[("d3", 1.0)], &["d1", "d2", "d3"]), 1.0 / 3.0);
}

#[test]
fn an_empty_result_for_a_case_with_relevant_documents_is_0() {
    for key in ["recall@3", "precision@3", "f1@3", "map", "ndcg", "mrr", "r_precision", "hit_rate@3"] {
        assert_eq!(score(key, &[("a", 1.0)], &[]), 0.0, "{key}");
    }
}

#[test]
fn a_case_without_relevant_documents_is_not_applicable() {
    for relevant in [None, Some(&[][..]), Some(&[("a", 0.0), ("b", -1.0)][..])] {
        for metric in Measure::ALL {
            let why = metric.not_applicable(&case(relevant), &Params::default());
            assert_eq!(why.as_deref(), Some("the case names no relevant documents"));
        }
        assert!(matches!(step("recall@3", &[], relevant, &[Some("a")]), Outcome::NotApplicable { .. }));
    }
}

#[test]
fn a_context_without_id_takes_up_its_rank() {
    let outcome = step("mrr", &[], Some(&[("a", 1.0)]), &[None, Some("a")]);
    assert_eq!(outcome.score(), Some(UnitInterval::new(0.5).expect("in range")));
}

#[test]
fn contexts_that_all_lack_ids_are_a_fault_of_the_mapping_and_not_a_0() {
    let outcome = step("recall@3", &[], Some(&[("a", 1.0)]), &[None, None]);
    let fault = outcome.fault().expect("unmeasured");
    assert_eq!(fault.cause, "contexts without ids");
    assert!(fault.why.contains("give each context the id of its document"), "{}", fault.why);
}

#[test]
fn grades_beyond_all_numbers_are_unmeasured() {
    let outcome = step("ndcg", &[("gain", "exponential")], Some(&[("a", 5000.0)]), &[Some("a")]);
    assert_eq!(outcome.fault().map(|fault| fault.cause.as_str()), Some("grades too large"));
}

#[test]
fn gain_is_a_parameter_of_ndcg() {
    let relevant: &[(&str, f64)] = &[("a", 3.0), ("b", 1.0)];
    let ids = [Some("b"), Some("a")];
    let linear = step("ndcg", &[], Some(relevant), &ids).score().expect("a score").get();
    let exponential = step("ndcg", &[("gain", "exponential")], Some(relevant), &ids).score().expect("a score").get();
    assert!(exponential < linear, "{exponential} {linear}");
}

#[test]
fn the_detail_names_what_was_found_and_what_was_missed() {
    let relevant: &[(&str, f64)] = &[("a", 1.0), ("b", 1.0), ("c", 1.0), ("no", 0.0)];
    let ids = [Some("c"), None, Some("a"), Some("b")];
    let detail = step("recall@3", &[], Some(relevant), &ids).detail().cloned().expect("a detail");
    assert_eq!(detail.k_of_n, Some((2, 3)));
    let ranked = detail.ranked.expect("a ranking");
    assert_eq!(ranked.found, [(DocId::from("c"), 1), (DocId::from("a"), 3)]);
    assert_eq!(ranked.missed, [DocId::from("b")]);
}

#[test]
fn shares_carry_their_k_of_n() {
    let relevant: &[(&str, f64)] = &[("a", 1.0), ("b", 1.0)];
    let ids = [Some("a"), Some("x"), Some("b")];
    let rows = [
        ("recall@2", Some((1, 2))),
        ("precision@3", Some((2, 3))),
        ("hit_rate@3", Some((1, 1))),
        ("r_precision", Some((1, 2))),
        ("mrr", None),
        ("ndcg", None),
    ];
    for (key, expected) in rows {
        let outcome = step(key, &[], Some(relevant), &ids);
        assert_eq!(outcome.detail().and_then(|detail| detail.k_of_n), expected, "{key}");
    }
}

#[test]
fn a_key_whose_cutoff_makes_no_sense_is_unmeasured() {
    for (key, expected) in
        [("recall", "`recall` needs a cut-off, as in `recall@10`"), ("r_precision@3", "`r_precision` takes no cut-off")]
    {
        let outcome = step(key, &[], Some(&[("a", 1.0)]), &[Some("a")]);
        assert_eq!(outcome.fault().map(|fault| fault.why.as_str()), Some(expected));
    }
}

#[test]
fn an_unknown_metric_is_named_with_the_nearest_known_one() {
    let rows = [
        ("recal@10", "unknown retrieval metric `recal`; did you mean `recall`?; known are"),
        ("ncdg", "unknown retrieval metric `ncdg`; did you mean `ndcg`?; known are"),
        ("faithfulness", "unknown retrieval metric `faithfulness`; known are"),
        ("recall", "`recall` needs a cut-off, as in `recall@10`"),
        ("recall@0", "the cut-off after `@` is a whole number of at least 1, got `0`"),
        ("Recall@5", "a metric's name is lower-case letters"),
    ];
    for (text, expected) in rows {
        let error = Measurement::parse(text, Gain::Linear).expect_err("no metric").to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

/// The formula with its numbers over the relevant documents a (grade 3), b (1) and c (1).
#[track_caller]
fn check_worked(key: &str, params: &[(&str, &str)], ranking: &[&str], expected: &[&str]) {
    let ids: Vec<Option<&str>> = ranking.iter().map(|id| Some(*id)).collect();
    let (outcome, lines) = worked_step(key, params, Some(&[("a", 3.0), ("b", 1.0), ("c", 1.0)]), &ids);
    assert_eq!(lines, expected, "{outcome:?}");
    let Outcome::Scored { score, .. } = outcome else { panic!("{outcome:?}") };
    assert!(crate::metric::worked::explains(&lines, &score), "{lines:?} {score:?}");
}

#[test]
fn the_numbers_of_each_formula_are_written_out() {
    let ranking = ["b", "x", "a", "y"];
    check_worked("recall@5", &[], &ranking, &["|{b, a} of {a, b, c}| / 3 = 2 / 3 = 0.6667"]);
    check_worked("recall@2", &[], &ranking, &["|{b} of {a, b, c}| / 3 = 1 / 3 = 0.3333"]);
    check_worked("precision@4", &[], &ranking, &["|{b, a} of {a, b, c}| / 4 = 2 / 4 = 0.50"]);
    check_worked("f1@4", &[], &ranking, &["2 x |{b, a} of {a, b, c}| / (4 + 3) = 4 / 7 = 0.5714"]);
    check_worked("r_precision", &[], &ranking, &["|{b, a} of {a, b, c}| / 3 = 2 / 3 = 0.6667"]);
    check_worked("hit_rate@1", &[], &ranking, &["b at rank 1 among the first 1 = 1.00"]);
    check_worked("hit_rate@1", &[], &["x", "a"], &["none of {a, b, c} among the first 1 = 0.00"]);
    check_worked("mrr", &[], &["x", "a"], &["1 / 2 [a] = 0.50"]);
    check_worked("mrr@1", &[], &["x", "a"], &["none of {a, b, c} among the first 1 = 0.00"]);
    check_worked("map", &[], &ranking, &["(1/1 [b] + 2/3 [a]) / 3 = 0.5556"]);
    check_worked("map", &[], &["x"], &["(0) / 3 = 0.00"]);
    check_worked(
        "ndcg@4",
        &[],
        &ranking,
        &[
            "found: 1 / log2(2) [b at 1] + 3 / log2(4) [a at 3] = 2.50",
            "best:  3 / log2(2) + 1 / log2(3) + 1 / log2(4) = 4.1309",
            "2.50 / 4.1309 = 0.6052",
        ],
    );
    check_worked(
        "ndcg@2",
        &[("gain", "exponential")],
        &["x"],
        &["found: 0 = 0.00", "best:  7 / log2(2) + 1 / log2(3) = 7.6309", "0.00 / 7.6309 = 0.00"],
    );
}
