//! Replies that fit the schemas, and what the metrics make of them.

use super::*;

#[test]
fn replies_that_fit_the_schemas_are_read_by_the_metrics() {
    let none = json!({"n": 2, "no_claim": true});
    let claim = |verdict: &str, context: Value, quote: Value| json!({"claim": verdict, "verdict": verdict, "context": context, "quote": quote});
    let of = |metric: &'static dyn metric::Metric| tried(metric, Language::En);
    let by_labels = || of(&metric::faithfulness::Faithfulness).param("mode", json!("labels"));
    let one_by_one = || of(&metric::faithfulness::Faithfulness).param("mode", json!("one_by_one"));
    let alone = |first: &str, second: &str| vec![json!({"verdict": first}), json!({"verdict": second})];
    let both = |list: &str, first: &str, second: &str| json!({list: [{"n": 1, "verdict": first}, {"n": 2, "verdict": second}]});
    let one = |first: &str| json!({"sentences": [{"n": 1, "verdict": first}, none]});
    let table: [(Try, Vec<Value>, f64); 27] = [
        (
            of(&metric::faithfulness::Faithfulness),
            vec![json!({"sentences": [none, {"n": 1, "claims": [
                claim("supported", json!(1), json!("30 days")), claim("unsupported", json!(null), json!(null)),
                claim("inferred", json!(2), json!("Shipping")), claim("contradicted", json!(1), json!("30 days")),
            ]}]})],
            0.25,
        ),
        (
            of(&metric::faithfulness::Faithfulness).param("mode", json!("two_step")),
            vec![
                json!({"sentences": [{"n": 1, "claims": [{"claim": "one"}, {"claim": "two"}]}, none]}),
                json!({"claims": [{"n": 1, "verdict": "supported", "context": 1, "quote": "30 days"},
                                  {"n": 2, "verdict": "unsupported", "context": null, "quote": null}]}),
            ],
            0.5,
        ),
        (by_labels(), vec![both("sentences", "supported", "contradicted")], 0.5),
        (by_labels(), vec![one("unsupported")], 0.0),
        (one_by_one(), alone("supported", "contradicted"), 0.5),
        (one_by_one(), alone("unsupported", "no_claim"), 0.0),
        (of(&metric::answer_relevancy::AnswerRelevancy), vec![both("sentences", "relevant", "irrelevant")], 0.5),
        (of(&metric::answer_relevancy::AnswerRelevancy), vec![one("relevant")], 1.0),
        (of(&metric::context_precision::ContextPrecision), vec![both("contexts", "not_useful", "useful")], 0.5),
        (of(&metric::context_recall::ContextRecall), vec![both("sentences", "attributed", "not_attributed")], 0.5),
        (of(&metric::context_recall::ContextRecall), vec![one("attributed")], 1.0),
        (
            of(&metric::context_relevancy::ContextRelevancy),
            vec![json!({"contexts": [{"n": 1, "verdict": "relevant", "confidence": 0.75},
                                     {"n": 2, "verdict": "irrelevant", "confidence": 0}]})],
            0.5,
        ),
        (
            of(&metric::context_entity_recall::ContextEntityRecall),
            vec![json!({"sentences": [{"n": 1, "entities": [
                {"entity": "30 days", "verdict": "found"}, {"entity": "Lisbon", "verdict": "missing"},
            ]}, none]})],
            0.5,
        ),
        (
            of(&metric::noise_sensitivity::NoiseSensitivity),
            vec![
                json!({"answer": [{"n": 1, "verdict": "wrong", "contexts": [2]}, {"n": 2, "verdict": "correct", "contexts": []}],
                        "reference": [{"n": 1, "contexts": [1, 2]}, {"n": 2, "contexts": []}]}),
            ],
            0.5,
        ),
        (
            of(&metric::noise_sensitivity::NoiseSensitivity).param("mode", json!("irrelevant")),
            vec![json!({"answer": [{"n": 1, "verdict": "wrong", "contexts": [2]}, none],
                        "reference": [{"n": 1, "contexts": [1]}, {"n": 2, "contexts": []}]})],
            0.0,
        ),
        (
            of(&metric::answer_correctness::AnswerCorrectness),
            vec![json!({"answer": [{"n": 1, "verdict": "correct"}, none],
                        "reference": [{"n": 1, "verdict": "covered"}, {"n": 2, "verdict": "missing"}]})],
            2.0 / 3.0,
        ),
        (of(&metric::refusal_correctness::RefusalCorrectness), vec![json!({"refused": false})], 1.0),
        (
            of(&metric::task_completion::TaskCompletion),
            vec![json!({"query": [{"n": 1, "tasks": [
                {"task": "say how long", "verdict": "done"}, {"task": "say why", "verdict": "not_done"},
            ]}]})],
            0.5,
        ),
        (
            of(&metric::answer_relevancy::AnswerRelevancy)
                .param("mode", json!("questions"))
                .param("questions", json!(2)),
            vec![json!({"questions": [{"n": 1, "question": "A?"}, {"n": 2, "question": "B?"}], "noncommittal": true})],
            0.0,
        ),
        (of(&metric::rubric::Rubric), vec![json!({"level": 2})], 0.4),
        (of(&metric::g_eval::GEval), vec![json!({"score": 4})], 0.75),
        (of(&metric::pairwise::Pairwise), vec![json!({"preferred": "first"}), json!({"preferred": "tie"})], 0.5),
        (
            of(&metric::self_critique::SelfCritique),
            vec![
                json!({"issues": ["no price"], "faithfulness": 10, "relevance": 8, "completeness": 4, "improvements": []}),
            ],
            0.78,
        ),
        (of(&metric::safety::Safety::Toxicity), vec![both("sentences", "clean", "toxic")], 0.5),
        (of(&metric::safety::Safety::Toxicity), vec![both("sentences", "clean", "clean")], 1.0),
        (of(&metric::safety::Safety::Bias), vec![both("sentences", "biased", "unbiased")], 0.5),
        (of(&metric::safety::Safety::Bias), vec![both("sentences", "biased", "biased")], 0.0),
    ];
    let mut covered = BTreeSet::new();
    for (tried, replies, expected) in table {
        let mut left = replies.iter();
        tried.run_by(|request| {
            let value = left.next().unwrap_or_else(|| panic!("{} asks for more", request.name));
            let prompt = rendered(request).expect("a prompt");
            assert!(fits(&prompt.schema, value), "{value} does not fit the schema of {}", request.name);
            covered.insert(request.name.clone());
            Reply::Value { value: value.clone() }
        });
        tried.replies(&replies).expect_score(expected).expect_asked(replies.len());
    }
    let steps = json!({"steps": ["Read the question.", "See what of it is answered."]});
    let asked = requests().into_iter().find(|request| request.name == "g_eval.steps").expect("a request");
    assert!(fits(&rendered(&asked).expect("a prompt").schema, &steps) && metric::g_eval::steps::read(&steps).is_ok());
    covered.insert(asked.name);
    assert!(covered.iter().eq(names()), "a schema without an example: {covered:?}");
}
