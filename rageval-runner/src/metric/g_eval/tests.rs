//! G-Eval as tables of replies.

use serde_json::{Value, json};

use super::*;
use crate::{
    metric::trying::{Try, context},
    model::{Language, Reply},
};

fn tried() -> Try {
    Try::of(&GEval)
        .answer("30 days.")
        .param("criteria", json!("How much does it help?"))
        .param("steps", json!(["Read the question.", "See what is answered."]))
}

fn scores(scores: &[u64]) -> Vec<Value> {
    scores.iter().map(|score| json!({"score": score})).collect()
}

fn weighed(score: u64, probabilities: &Value) -> Value {
    json!({"score": score, "score_probabilities": probabilities})
}

fn by_logprobs() -> Try {
    tried().param("mode", json!("logprobs"))
}

#[test]
fn the_request_shows_criteria_steps_fields_and_scale() {
    let expected = JudgeRequest::new("g_eval.score", Language::En)
        .text("criteria", "How much does it help?")
        .numbered("steps", ["Read the question.", "See what is answered."])
        .text("query", "How long do refunds take?")
        .text("answer", "30 days.")
        .text("scale", "5");
    assert_eq!(tried().first_request(), expected);
    let all = tried()
        .references(&["", "Thirty days."])
        .contexts(vec![context("blank", ""), context("refunds", "Within 30 days.")])
        .param("fields", json!(["answer", "reference", "contexts"]))
        .param("scale", json!(10));
    let request = all.first_request();
    let names: Vec<_> = request.fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["criteria", "steps", "reference", "contexts", "answer", "scale"]);
    assert_eq!(request.text_of("reference"), Some("Thirty days."));
    assert_eq!(request.text_of("scale"), Some("10"));
    all.references(&[]).expect_not_applicable("no reference").expect_asked(0);
}

#[test]
fn steps_alone_are_enough_and_criteria_alone_are_not() {
    let bare = || Try::of(&GEval).answer("30 days.");
    let steps_only = bare().param("steps", json!("Look."));
    assert_eq!(steps_only.first_request().text_of("criteria"), None);
    bare().param("criteria", json!("help")).expect_unmeasured("metric parameter invalid").expect_why("rageval steps");
    bare().expect_unmeasured("metric parameter invalid").expect_asked(0);
}

#[test]
fn the_scale_becomes_0_to_1() {
    for (score, expected) in [(1, 0.0), (2, 0.25), (4, 0.75), (5, 1.0)] {
        tried().replies(&scores(&[score])).expect_score(expected).expect_asked(1);
    }
    tried().param("scale", json!(2)).replies(&scores(&[2])).expect_score(1.0);
    tried().param("scale", json!(10)).replies(&scores(&[10])).expect_score(1.0);
    tried().replies(&scores(&[4])).expect_note("mode single: 4 on a scale of 1 to 5");
    for bad in [json!(1), json!(11), json!(2.5), json!("5")] {
        tried().param("scale", bad).expect_unmeasured("metric parameter invalid").expect_asked(0);
    }
}

#[test]
fn a_score_off_the_scale_is_asked_again_and_then_unmeasured() {
    for bad in
        [json!({"score": 0}), json!({"score": 6}), json!({"score": 4.5}), json!({"score": "4"}), json!({}), json!(4)]
    {
        tried().replies(&[bad.clone(), bad.clone()]).expect_unmeasured("judge reply incomplete").expect_asked(2);
        tried().replies(&[bad, json!({"score": 5})]).expect_score(1.0).expect_asked(2);
    }
}

#[test]
fn refusals_and_silence_are_told_apart() {
    tried().should_refuse().refusal("Sorry.").expect_not_applicable("as it should").expect_asked(0);
    tried().refusal("Sorry.").replies(&scores(&[1])).expect_score(0.0);
    tried().should_refuse().replies(&scores(&[2])).expect_score(0.25);
    tried().answer(" ").expect_unmeasured("answer blank").expect_asked(0);
}

#[test]
fn samples_are_asked_at_once_and_their_mean_counts() {
    let sampled = || tried().param("mode", json!("samples"));
    let requests = sampled().first_requests();
    assert_eq!(requests.iter().map(|request| request.sample).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    assert!(requests.iter().all(|request| !request.logprobs && request.retry == 0));
    sampled()
        .replies(&scores(&[4, 4, 5, 3, 4]))
        .expect_score(0.75)
        .expect_note("mode samples: mean 4.00 of 5 on a scale of 1 to 5 (4, 4, 5, 3, 4)")
        .expect_asked(5);
    let twenty = sampled().param("samples", json!(20));
    twenty.replies(&scores(&[5; 20])).expect_score(1.0).expect_asked(20);
    sampled().param("samples", json!(1)).expect_unmeasured("metric parameter invalid").expect_why("2 to 100");
}

#[test]
fn a_sample_without_a_score_is_not_left_out_of_the_mean() {
    let sampled = || tried().param("mode", json!("samples")).param("samples", json!(3));
    let (good, bad) = (json!({"score": 5}), json!({"score": 9}));
    let replies = [good.clone(), bad.clone(), good.clone(), bad];
    sampled().replies(&replies).expect_unmeasured("judge reply incomplete").expect_why("sample 2 of 3").expect_asked(4);
    let replies = [good.clone(), json!(null), good.clone(), good];
    sampled().replies(&replies).expect_score(1.0).expect_asked(4);
}

#[test]
fn the_expected_score_is_weighted_by_the_probabilities() {
    assert!(by_logprobs().first_request().logprobs);
    by_logprobs()
        .replies(&[weighed(4, &json!({"4": 0.5, "5": 0.5}))])
        .expect_score(0.875)
        .expect_note("mode logprobs: 4.50 on a scale of 1 to 5 (4: 0.500, 5: 0.500)")
        .expect_asked(1);
    // Divided by what was seen: 0.25 and 0.25 are a half each.
    by_logprobs().replies(&[weighed(1, &json!({"1": 0.25, "3": 0.25}))]).expect_score(0.25);
    // What is no score on the scale is not seen.
    by_logprobs().replies(&[weighed(5, &json!({"5": 0.6, "0": 0.2, "7": 0.2}))]).expect_score(1.0);
    by_logprobs().replies(&[weighed(5, &json!({"5": 0.7, "4": 0.0}))]).expect_score(1.0);
}

#[test]
fn probabilities_that_leave_too_much_out_are_no_score() {
    let thin = by_logprobs().replies(&[weighed(4, &json!({"4": 0.3, "5": 0.19}))]);
    thin.expect_unmeasured("score probabilities unusable").expect_why("0.490").expect_why("mode: samples");
    let thick = by_logprobs().replies(&[weighed(4, &json!({"4": 0.9, "5": 0.9}))]);
    thick.expect_unmeasured("score probabilities unusable").expect_why("add up to 1.800");
}

#[test]
fn what_is_no_probability_is_asked_again_and_then_unmeasured() {
    for bad in [
        json!({"5": 0.9}),
        json!({"4": "0.9"}),
        json!({"4": -0.1}),
        json!({"4": 1.5}),
        json!({"four": 0.9, "4": 0.1}),
        json!({"4": 0.5, "04": 0.4}),
        json!([0.5]),
        json!(null),
    ] {
        let reply = weighed(4, &bad);
        by_logprobs().replies(&[reply.clone(), reply]).expect_unmeasured("judge reply incomplete").expect_asked(2);
    }
}

#[test]
fn a_judge_without_probabilities_is_never_replaced_by_another_mode() {
    by_logprobs()
        .replies(&scores(&[5]))
        .expect_unmeasured("judge cannot answer this")
        .expect_why("mode: samples")
        .expect_asked(1);
    let refused = Reply::Failed { ending: Ending::Unsupported, why: "no log probabilities here".to_owned() };
    by_logprobs()
        .raw_replies(vec![refused])
        .expect_unmeasured("judge cannot answer this")
        .expect_why("no log probabilities here")
        .expect_why("mode: samples")
        .expect_asked(1);
    let fine = by_logprobs().param("scale", json!(10));
    fine.expect_unmeasured("metric parameter invalid").expect_why("9 or less").expect_asked(0);
}

#[test]
fn probabilities_that_were_not_asked_for_count_for_nothing() {
    tried().replies(&[weighed(2, &json!({"5": 1.0}))]).expect_score(0.25);
}

#[test]
fn steps_are_asked_for_by_criteria_and_fields() {
    let params = |fields: &[(&str, Value)]| {
        Params(fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
    };
    let expected = JudgeRequest::new("g_eval.steps", Language::Pt)
        .text("criteria", "Ajuda?")
        .numbered("fields", ["query", "contexts"]);
    let given = params(&[("criteria", json!("Ajuda?")), ("fields", json!(["contexts", "query"]))]);
    assert_eq!(steps::request(&given, Language::Pt), Some(expected));
    assert_eq!(steps::request(&params(&[]), Language::En), None);
}

#[test]
fn steps_that_nobody_could_follow_are_refused() {
    assert_eq!(steps::read(&json!({"steps": [" One. ", "Two.", ""]})), Ok(vec!["One.".to_owned(), "Two.".to_owned()]));
    let many: Vec<_> = (0..13).map(|n| n.to_string()).collect();
    for bad in [
        json!({}),
        json!({"steps": []}),
        json!({"steps": "One."}),
        json!({"steps": ["One.", "One."]}),
        json!({"steps": many}),
    ] {
        assert!(steps::read(&bad).is_err(), "{bad}");
    }
}
