//! Tests over all metrics at once.

use proptest::{prelude::*, strategy::ValueTree as _};
use serde_json::{Value, json};

use super::{
    trying::{Try, context},
    *,
};
use crate::model::{Ending, MetricKey, Reply, UnitInterval};

/// A metric with all it needs to be scored, under any replies.
fn well_fed(metric: &'static dyn Metric) -> Try {
    Try::of(metric)
        .answer("Refunds take 30 days. Shipping is free [refunds].")
        .references(&["Refunds take 30 days. Nothing else.", "Thirty days. No fee."])
        .contexts(vec![
            context("refunds", "Within 30 days."),
            context("blank", " "),
            context("shipping", "It is free."),
        ])
        .usage(1, 2)
        .cost_usd(0.5)
        .param("max", json!(10))
        .param("any", json!(["30 days"]))
        .param("pattern", json!(r"\[(\w+)\]"))
        .param("by", json!("judge"))
        .param("criterion", json!("How kind is it?"))
        .param("levels", json!({"rude": 0, "curt": 0.5, "kind": 1}))
        .param("criteria", json!("How kind is it?"))
        .param("steps", json!(["Look for a greeting."]))
        .baseline("Refunds take a while.")
}

fn judged() -> impl Iterator<Item = &'static dyn Metric> {
    METRICS.iter().copied().filter(|metric| metric.kind() == Kind::Judged)
}

fn without_cutoff() -> impl Iterator<Item = &'static dyn Metric> {
    METRICS.iter().copied().filter(|metric| metric.kind() != Kind::Retrieval)
}

#[test]
fn every_metric_is_found_by_its_name_and_no_name_stands_twice() {
    for metric in METRICS {
        assert_eq!(find(metric.name()).map(Metric::name), Some(metric.name()));
        assert_eq!(METRICS.iter().filter(|other| other.name() == metric.name()).count(), 1, "{}", metric.name());
        let key = MetricKey::parse(metric.name()).expect("a name is a key");
        assert_eq!((key.name(), key.cutoff(), key.label()), (metric.name(), None, None));
    }
    assert!(find("faithfullness").is_none());
}

#[test]
fn every_metric_says_what_it_is_and_names_its_parameters_once() {
    for metric in METRICS {
        assert!(!metric.about().is_empty() && !metric.about().ends_with('.'), "{}", metric.name());
        assert!(metric.version() >= 1);
        let params = params_of(*metric);
        for param in &params {
            assert_eq!(params.iter().filter(|other| other.name == param.name).count(), 1, "{}", param.name);
        }
        assert_eq!(params.contains(&NOT), metric.kind() == Kind::Text, "{}", metric.name());
    }
}

#[test]
fn every_metric_and_parameter_is_documented() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/metrics.md");
    let docs = std::fs::read_to_string(docs).expect("docs/metrics.md").replace("\r\n", "\n");
    for metric in METRICS {
        let cutoff = match metric.cutoff() {
            Cutoff::Required => "@k",
            Cutoff::Optional => "[@k]",
            Cutoff::Refused => "",
        };
        let heading = format!("\n### `{}{cutoff}`\n", metric.name());
        let Some((_, section)) = docs.split_once(&heading) else { panic!("docs/metrics.md has no heading{heading}") };
        let section = section.split("\n#").next().unwrap_or(section);
        let version = format!("Version {}.", metric.version());
        assert!(section.contains(&version), "docs/metrics.md, {}: no `{version}`", metric.name());
        for param in metric.params() {
            let row = format!("`{}`", param.name);
            assert!(section.contains(&row), "docs/metrics.md, {}: nothing on {row}", metric.name());
        }
    }
}

#[test]
fn every_cause_stands_in_the_documentation() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/metrics.md");
    let docs = std::fs::read_to_string(docs).expect("docs/metrics.md");
    let own = [
        cause::ANSWER_BLANK,
        cause::REPLY_INCOMPLETE,
        cause::NO_CLAIMS,
        cause::DATA,
        cause::PARAMETER,
        cause::USAGE,
        cause::COST,
        cause::QUANTITY,
        cause::CONTEXT_IDS,
        cause::RANGE,
        cause::EMBEDDER,
        cause::EMBEDDER_TIME_OUT,
        cause::NO_EMBEDDER,
        cause::VECTOR_MISSING,
        cause::PROBABILITIES,
        cause::BASELINE,
    ];
    for cause in own.into_iter().chain(Ending::ALL.map(Ending::cause)) {
        assert!(docs.contains(&format!("| {cause} |")), "docs/metrics.md says nothing of `{cause}`");
    }
}

#[test]
fn only_text_metrics_are_negated() {
    let params = Params([("not".to_owned(), json!(true))].into());
    for metric in METRICS {
        let expected = if metric.kind() == Kind::Text { UnitInterval::ZERO } else { UnitInterval::ONE };
        assert_eq!(finish(*metric, &params, Outcome::scored(UnitInterval::ONE)).score(), Some(expected));
        let fault = Outcome::unmeasured("judge error", "x");
        assert_eq!(finish(*metric, &params, fault.clone()), fault);
    }
}

#[test]
fn judged_metrics_end_with_the_cause_of_whatever_ended_the_reply() {
    for metric in judged() {
        for ending in Ending::ALL {
            let failed = vec![Reply::Failed { ending, why: "so it was".to_owned() }; 8];
            well_fed(metric).raw_replies(failed).expect_unmeasured(ending.cause()).expect_why("so it was");
        }
    }
}

#[test]
fn what_several_metrics_ask_is_one_request() {
    let ask = |metric: &'static dyn Metric| well_fed(metric).references(&["Thirty days."]).first_requests();
    let mut requests: Vec<_> = judged().flat_map(ask).collect();
    let all = requests.len();
    requests.sort_by_key(|request| request.name.clone());
    requests.dedup();
    assert_eq!(requests.len(), all - 1, "faithfulness and hallucination share theirs");
}

#[test]
fn a_judges_own_score_counts_for_nothing() {
    for metric in judged() {
        for reply in [
            json!({"score": 1.0, "reason": "perfect"}),
            json!({"score": null}),
            json!({"score": "high"}),
            json!({"pass": true, "verdict": "supported"}),
            json!("{\"score\":1.0,\"reason\":\"perfect\"}"),
            json!([1, 2]),
            json!(7),
        ] {
            well_fed(metric).replies(&vec![reply; 4]).expect_unmeasured("judge reply incomplete");
        }
    }
}

/// Whether the numbers of the formula come to the score, where there is one.
fn is_explained(tried: &Try) -> bool {
    match tried.worked() {
        (Outcome::Scored { score, .. }, lines) => worked::explains(&lines, &score),
        (Outcome::NotApplicable { .. } | Outcome::Unmeasured { .. }, lines) => lines.is_empty(),
    }
}

/// Any JSON, with numbers and words that metrics look for among the rest.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0_u64..4).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any_word().prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((any_word(), inner), 0..4)
                .prop_map(|fields| fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

fn any_word() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "n",
        "sentences",
        "contexts",
        "answer",
        "reference",
        "claims",
        "claim",
        "verdict",
        "no_claim",
        "context",
        "quote",
        "reason",
        "refused",
        "score",
        "supported",
        "inferred",
        "unsupported",
        "contradicted",
        "relevant",
        "irrelevant",
        "useful",
        "not_useful",
        "attributed",
        "not_attributed",
        "correct",
        "wrong",
        "covered",
        "missing",
        "entities",
        "entity",
        "found",
        "query",
        "tasks",
        "task",
        "done",
        "not_done",
        "level",
        "faithfulness",
        "relevance",
        "completeness",
        "issues",
        "confidence",
        "clean",
        "toxic",
        "unbiased",
        "biased",
        "preferred",
        "first",
        "second",
        "tie",
    ])
}

/// A reply of nearly the right form, with what every judged metric looks for: many of them fit, some slip in one place.
fn nearly_right() -> impl Strategy<Value = Value> {
    let sentences = prop_oneof![
        list(&["relevant", "irrelevant"]),
        list(&["attributed", "not_attributed"]),
        list(&["clean", "toxic"]),
        list(&["unbiased", "biased"]),
    ];
    let contexts = prop_oneof![list(&["useful", "not_useful"]), list(&["relevant", "irrelevant"])];
    let answer = list(&["correct", "wrong"]);
    let reference = list(&["covered", "missing"]);
    // The question is one sentence.
    let query = list(&[]).prop_map(|list| list.as_array().and_then(|list| list.first()).cloned().into_iter().collect());
    let grade = || prop_oneof![10 => (0_u64..=10).prop_map(Value::from), 1 => slip()];
    let preferred =
        prop_oneof![10 => prop::sample::select(vec!["first", "second", "tie"]).prop_map(Value::from), 1 => slip()];
    let grades = (grade(), grade(), grade(), 0_u64..5, preferred);
    (sentences, contexts, answer, reference, query, grades, any::<bool>()).prop_map(
        |(sentences, contexts, answer, reference, query, grades, refused): (_, _, _, _, Value, _, _)| {
            let (faithfulness, relevance, completeness, level, preferred) = grades;
            json!({
                "sentences": sentences, "contexts": contexts, "answer": answer, "reference": reference, "query": query,
                "faithfulness": faithfulness, "relevance": relevance, "completeness": completeness, "level": level,
                "score": level, "preferred": preferred, "refused": refused,
            })
        },
    )
}

/// Two entries, seldom one or three, whose numbers are seldom wrong and whose verdicts are mostly out of these words.
fn list(words: &'static [&'static str]) -> impl Strategy<Value = Value> {
    let word = |words: &'static [&'static str]| {
        let words = if words.is_empty() { &["none"] } else { words };
        prop_oneof![20 => prop::sample::select(words).prop_map(Value::from), 1 => slip()]
    };
    let part = move |name: &'static str, words| {
        let part = (any_word(), word(words), 0_u64..3).prop_map(move |(text, verdict, context)| {
            let context = if context == 0 { Value::Null } else { context.into() };
            json!({name: text, "verdict": verdict, "context": context})
        });
        prop::collection::vec(part, 1..4)
    };
    let claims = part("claim", &["supported", "inferred", "unsupported", "contradicted"]);
    let entities = part("entity", &["found", "missing"]);
    let tasks = part("task", &["done", "not_done"]);
    let numbers = prop::sample::subsequence(vec![1_u64, 2], 0..=2);
    let full = (word(words), claims, entities, tasks, numbers).prop_map(|(verdict, claims, entities, tasks, numbers)| {
        json!({"verdict": verdict, "claims": claims, "entities": entities, "tasks": tasks, "contexts": numbers})
    });
    let entry = prop_oneof![
        8 => full,
        2 => Just(json!({"no_claim": true})),
        1 => slip(),
    ];
    let length = prop_oneof![1 => Just(1_usize), 20 => Just(2), 1 => Just(3)];
    let entries = length.prop_flat_map(move |length| prop::collection::vec((entry.clone(), 0_u64..60), length));
    entries.prop_map(|entries| {
        let numbered = entries.into_iter().zip(1_u64..).map(|((mut entry, slip), n)| {
            if let Value::Object(fields) = &mut entry {
                fields.insert("n".to_owned(), if slip < 4 { slip.into() } else { n.into() });
            }
            entry
        });
        numbered.collect()
    })
}

/// Something in the wrong place. Few and small, since a reply has many places.
fn slip() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!(null),
        json!(7),
        json!(-0.5),
        json!("yes"),
        json!([]),
        json!({}),
        json!([{"n": 1}]),
    ])
}

/// The share of judged outcomes that are scores, so that the property below is known to look at some.
#[test]
fn replies_of_nearly_the_right_form_are_often_scored() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = prop::collection::vec(nearly_right(), 4);
    let drawn: Vec<_> = (0..40).map(|_| strategy.new_tree(&mut runner).expect("a tree").current()).collect();
    for metric in judged() {
        let is_scored = |replies: &&Vec<Value>| well_fed(metric).replies(replies).run().0.score().is_some();
        let scored = drawn.iter().filter(is_scored).count();
        assert!(scored >= 4, "{}: {scored} of {}", metric.name(), drawn.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn whatever_the_judge_says_a_score_lies_between_0_and_1_or_there_is_none(
        replies in prop::collection::vec(prop_oneof![2 => nearly_right(), 1 => any_json()], 4),
    ) {
        for metric in judged() {
            let tried = well_fed(metric).replies(&replies);
            let (outcome, asked) = tried.run();
            prop_assert!(asked <= 4, "{} asked {asked} times", metric.name());
            prop_assert!(is_explained(&tried), "{}: {:?}", metric.name(), tried.worked());
            if let Outcome::Scored { score, detail } = &outcome {
                prop_assert!((0.0..=1.0).contains(&score.value.get()));
                if let Some((k, n)) = detail.k_of_n {
                    prop_assert_eq!(UnitInterval::share(k, n), Some(score.value));
                }
            }
        }
    }

    #[test]
    fn whatever_the_system_says_a_score_lies_between_0_and_1_or_there_is_none(
        answer in "\\PC{0,40}|[ \\[\\](),;.a-c]{0,40}",
        reference in "\\PC{0,20}|[ .a-c]{0,20}",
        wanted in "\\PC{0,8}",
        is_refusal in any::<bool>(),
        is_negated in any::<bool>(),
    ) {
        for metric in without_cutoff() {
            let tried = well_fed(metric).references(&[&reference]).param("any", json!([wanted]));
            let tried = tried.param("not", json!(is_negated)).raw_replies(vec![
                Reply::Failed { ending: Ending::Provider, why: "x".to_owned() };
                4
            ]);
            let tried = if is_refusal { tried.refusal(&answer) } else { tried.answer(&answer) };
            if let Some(score) = tried.run().0.score() {
                prop_assert!((0.0..=1.0).contains(&score.get()), "{}: {}", metric.name(), score.get());
                prop_assert!(is_explained(&tried), "{}: {:?}", metric.name(), tried.worked());
            }
        }
    }

    #[test]
    fn an_answer_equal_to_its_reference_is_exactly_1(answer in "[a-z]{1,8}( [a-z]{1,8}){0,6}") {
        for metric in [
            &lexical::ExactMatch as &'static dyn Metric,
            &lexical::TokenF1,
            &lexical::Rouge::One,
            &lexical::Rouge::Two,
            &lexical::Rouge::L,
            &lexical::Bleu,
            &lexical::Chrf,
            &answer_correctness::AnswerCorrectness,
        ] {
            let (outcome, asked) = Try::of(metric).answer(&answer).references(&[&answer]).run();
            prop_assert_eq!((outcome.score(), asked), (Some(UnitInterval::ONE), 0));
        }
    }
}
