//! Names, bodies and digests of snapshots.

use super::{
    difference::{other_metrics, worse},
    *,
};
use crate::model::Verdict;

fn name(id: &str) -> String {
    file_name(&CaseId::new(id).expect("a valid id"))
}

#[test]
fn no_two_ids_share_a_file() {
    let ids =
        ["Refund-EU", "refund-eu", "a/b", "a-b", "../../evil", "evil", "CON", "ação", "acao", "退款-期限", "…", "a b"];
    let names: std::collections::BTreeSet<String> = ids.iter().map(|id| name(id).to_lowercase()).collect();
    assert_eq!(names.len(), ids.len());
    assert_eq!(name("退款-期限").split('-').count(), 3);
    assert!(name("../../evil").starts_with("evil-"));
    assert_eq!(name("…").len(), 8);
}

#[test]
fn ids_equal_under_nfc_share_a_file() {
    assert_eq!(name("a\u{e7}\u{e3}o"), name("ac\u{327}a\u{303}o"));
}

#[test]
fn names_stay_below_the_limit_of_file_systems() {
    assert!(name(&"退".repeat(50)).len() + ".snap.new".len() < 255);
}

#[test]
fn reasons_and_evidence_are_not_compared() {
    use crate::model::{Claim, Detail, Evidence, UnitInterval};
    let of = |reason: Option<&str>, evidence| {
        let claim =
            Claim { text: "A.".into(), verdict: Verdict::Supported, evidence, reason: reason.map(str::to_owned) };
        let detail = Detail { claims: vec![claim], k_of_n: Some((1, 1)), ..Detail::default() };
        let key = MetricKey::parse("faithfulness").expect("a key");
        body(&BTreeMap::from([(&key, &Outcome::scored_with(UnitInterval::ONE, detail))]))
    };
    assert_eq!(of(None, None), "faithfulness: 1 of 1\n  supported: A.\n");
    let evidence = Evidence { id: None, text: "A, it says.".into() };
    assert_eq!(of(Some("stated (confidence 0.9)"), Some(evidence)), of(None, None));
}

#[test]
fn a_score_with_a_cosine_in_it_never_moves_a_body() {
    use crate::model::{Detail, UnitInterval};
    let key = MetricKey::parse("answer_relevancy").expect("a key");
    let with = |value: f64, similarity| {
        let score = UnitInterval::new(value).expect("a score");
        let outcome = Outcome::scored_with(score, Detail { similarity, ..Detail::default() });
        body(&BTreeMap::from([(&key, &outcome)]))
    };
    for value in [0.0, 0.3, 0.999_999_9, 1.0] {
        assert_eq!(with(value, Some(value)), "answer_relevancy: scored\n");
    }
    assert_eq!(with(0.0, None), "answer_relevancy: 0 of 1\n");
}

#[test]
fn metrics_that_are_judged_no_more_are_named() {
    let both =
        "faithfulness: 1 of 1\n  supported: A.\npairwise: not applicable, no baseline\nrefusal_correctness: 1 of 1\n";
    let check = |new: &str, expected: Option<&str>| {
        let expected = expected.map(|what| format!("the metrics that are judged changed: {what}"));
        assert_eq!(other_metrics(both, new), expected);
    };
    check(&both.replace("refusal_correctness: 1 of 1\n", ""), Some("- refusal_correctness"));
    check(&both.replace("not applicable, no baseline", "1 of 1"), Some("+ pairwise (was not applicable)"));
    check(
        &both.replace("correctness: 1 of 1", "correctness: not applicable, no answer"),
        Some("- refusal_correctness (now not applicable, no answer)"),
    );
    check(&format!("a: 1 of 1\n{both}"), Some("+ a"));
    check(both, None);
    let mind = both.replace("supported: A", "unsupported: A");
    check(&mind, None);
    check(&mind.replace("refusal_correctness: 1 of 1\n", ""), None);
}

#[test]
fn a_lower_share_is_worse() {
    let why = worse("faithfulness: 3 of 3\n", "faithfulness: 3 of 4\n");
    assert_eq!(why.as_deref(), Some("faithfulness fell from 3 of 3 to 3 of 4"));
    assert_eq!(worse("faithfulness: 1 of 2\n", "faithfulness: 2 of 4\n"), None);
}

#[test]
fn a_newly_bad_claim_is_worse_although_the_share_holds() {
    let old = "faithfulness: 1 of 2\n  supported: A.\n  unsupported: B.\n";
    let new = "faithfulness: 1 of 2\n  supported: A.\n  contradicted: C.\n";
    assert_eq!(worse(old, new).as_deref(), Some("faithfulness: a claim is newly contradicted: C."));
    assert_eq!(worse(old, old), None);
    assert_eq!(worse(old, "faithfulness: 2 of 2\n  supported: A.\n  supported: B.\n"), None);
}

#[test]
fn a_difference_keeps_the_heading_of_what_changed() {
    let old = "a: 1 of 1\n  supported: A.\nb: 2 of 2\n  supported: B.\n  supported: C.\n";
    let new = "a: 1 of 1\n  supported: A.\nb: 1 of 2\n  supported: B.\n  unsupported: C.\n";
    let expected = ["- b: 2 of 2", "+ b: 1 of 2", "-   supported: C.", "+   unsupported: C."];
    assert_eq!(difference(old, new), expected);
}

#[test]
fn what_is_no_claim_is_not_told_as_one() {
    for (old, new, told) in [
        (
            "context_precision: scored\n  supported: context d1\n",
            "context_precision: scored\n  unsupported: context d1\n",
            "context_precision: a context is newly not useful: d1",
        ),
        (
            "answer_correctness: scored\n  supported: A.\n",
            "answer_correctness: scored\n  wrong: A.\n",
            "answer_correctness: a claim is newly wrong: A.",
        ),
        (
            "answer_correctness: scored\n  supported: reference: A.\n",
            "answer_correctness: scored\n  unsupported: reference: A.\n",
            "answer_correctness: a sentence of the reference is newly missing from the answer: A.",
        ),
    ] {
        assert_eq!(worse(old, new).as_deref(), Some(told));
    }
}

#[test]
fn a_word_of_an_older_version_is_read_as_todays() {
    let stored = |text: &str| Snapshot::stored(text, "Sample: 0123").map(|snapshot| snapshot.body);
    let text = "answer_correctness: scored\n  contradicted: A.\nfaithfulness: 0 of 1\n  contradicted: A: b.\n";
    let today = "answer_correctness: scored\n  wrong: A.\nfaithfulness: 0 of 1\n  contradicted: A: b.\n";
    assert_eq!(stored(text), Ok(today.to_owned()));
    assert_eq!(stored(today), Ok(today.to_owned()));
    assert_eq!(stored("faithfulness: 0 of 1\n  wrong: A.\n"), Err("this is no verdict: wrong: A.".to_owned()));
}
