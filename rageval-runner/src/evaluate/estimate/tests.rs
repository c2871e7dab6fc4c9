//! Estimates over small sets.

use std::path::Path;

use serde_json::json;

use super::*;
use crate::{
    embed::{
        spec::{EmbedderProvider, EmbedderSpec, HostedEmbeddings},
        stored::{self, VectorKeys},
    },
    judge::{
        key::ReplyKeys,
        spec::{Hosted, JudgeProvider, JudgeSpec, ReplyMode},
    },
    load,
    metric::METRICS,
    model::{
        Answer, Language, Record, Repeat, Repeated, RetrievedContext, Taken,
        run::{Manifest, Run},
    },
    store::{
        baseline::Answers,
        replies::{ReplyStore, StoredReply},
    },
};

/// A set of cases and the rules of a policy, in a folder of their own.
struct World {
    folder: tempfile::TempDir,
    set: GoldenSet,
    rules: Rules,
}

impl World {
    fn new(metrics: &str, cases: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("thresholds.yaml");
        std::fs::write(&file, format!("version: 1\njudge: {{provider: offline}}\nmetrics: {metrics}\n"))
            .expect("written");
        std::fs::create_dir(folder.path().join("cases")).expect("made");
        std::fs::write(folder.path().join("cases/all.yaml"), cases).expect("written");
        let policy = load::policy(&file, METRICS).unwrap_or_else(|problems| panic!("{problems}"));
        let set = load::cases(&policy, METRICS).unwrap_or_else(|problems| panic!("{problems}"));
        Self { folder, set, rules: policy.rules }
    }

    fn replies(&self, mode: ReplyMode) -> Replies {
        Replies::new(self.store(), keys(), mode)
    }

    fn store(&self) -> ReplyStore {
        ReplyStore::new(self.folder.path(), Some(Path::new("replies")))
    }

    fn estimate(&self, samples: &Samples, mode: ReplyMode) -> Estimate {
        estimate(
            &self.set,
            &self.rules,
            &Prompts::default(),
            METRICS,
            samples,
            Stored { replies: Some(&self.replies(mode)), vectors: None },
        )
    }
}

fn keys() -> ReplyKeys {
    let hosted = Hosted::new("http://127.0.0.1:1/v1", "m");
    ReplyKeys::of(&JudgeSpec::of_provider(JudgeProvider::Openai(Box::new(hosted)))).expect("keys")
}

const CASES: &str = "
- {id: a, query: How long?, reference: It takes 3 days., reference_contexts: [Refunds take 3 days.]}
- {id: b, query: How much?, reference: It costs 4 euros.}
- {id: c, query: What else?}
";

/// A run that answered case `a` like this, and was asked this.
fn run_of(world: &World, response: &str, transcript: Transcript) -> Samples {
    let case = &world.set.cases[0];
    let answer = Answer::new(response).with_contexts([RetrievedContext::new("d", "Refunds take 3 days.")]);
    let record = Record::new(
        case.id.clone(),
        case.digest(),
        Taken::Sample(Sample { answer, is_refusal: false, latency_ms: None }),
        BTreeMap::new(),
        transcript,
    );
    let run = Run {
        format: String::new(),
        version: 1,
        manifest: Manifest::default(),
        records: vec![record],
        decisions: vec![],
        ..Run::default()
    };
    Samples::new(Some(run), Answers::default(), None)
}

#[test]
fn each_case_stands_on_the_best_answer_that_is_known() {
    let world = World::new("{faithfulness: }", CASES);
    let samples = run_of(&world, "It takes 3 days.", Transcript::default());
    let estimate = world.estimate(&samples, ReplyMode::Cached);
    assert_eq!(estimate.cases, BTreeMap::from([(Source::Run, 1), (Source::StandIn, 1), (Source::Nothing, 1)]));
    assert_eq!(estimate.requests["faithfulness.verdicts"].requests, 2);
}

#[test]
fn an_answer_to_a_case_that_changed_since_is_not_taken() {
    let mut world = World::new("{faithfulness: }", CASES);
    let samples = run_of(&world, "It takes 3 days.", Transcript::default());
    world.set.cases[0].query.push('!');
    let estimate = world.estimate(&samples, ReplyMode::Cached);
    assert_eq!(estimate.cases, BTreeMap::from([(Source::StandIn, 2), (Source::Nothing, 1)]));
}

const REPEATED: &str = "{faithfulness: }\nrepeats: {times: 3}";

#[test]
fn repeats_whose_answers_are_not_known_are_each_another_answer() {
    let once = World::new("{faithfulness: }", CASES).estimate(&Samples::default(), ReplyMode::Cached).total();
    let world = World::new(REPEATED, CASES);
    let thrice = world.estimate(&Samples::default(), ReplyMode::Cached).total();
    assert_eq!((once.requests, thrice.requests, thrice.to_ask()), (2, 6, 6));
    assert_eq!(thrice.tokens(), 3 * once.tokens());
    let replay = world.estimate(&Samples::default(), ReplyMode::Replay).total();
    assert_eq!((replay.missing, replay.to_ask()), (6, 0), "`replay` asks nothing about them either");
}

#[test]
fn repeats_of_a_run_are_counted_by_their_answers() {
    let world = World::new(REPEATED, CASES);
    let counted = |responses: &[&str]| {
        let samples = run_of(&world, responses[0], Transcript::default());
        let mut record = samples.run.into_values().next().expect("a record");
        let each = responses.iter().map(|response| {
            let answer = Answer::new(*response).with_contexts([RetrievedContext::new("d", "Refunds take 3 days.")]);
            let taken = Taken::Sample(Sample { answer, is_refusal: false, latency_ms: None });
            Repeat { taken, outcomes: BTreeMap::new(), transcript: Transcript::default() }
        });
        record.repeats = Some(Repeated { shown: 1, each: each.collect() });
        let run = Run {
            format: String::new(),
            version: 1,
            manifest: Manifest::default(),
            records: vec![record],
            decisions: vec![],
            ..Run::default()
        };
        let samples = Samples::new(Some(run), Answers::default(), None);
        // Those of case `b`, which stands on its reference, are three.
        world.estimate(&samples, ReplyMode::Cached).total().requests - 3
    };
    assert_eq!(
        counted(&["It takes 3 days.", "It takes 3 days.", "It takes 3 days."]),
        1,
        "equal answers are judged once"
    );
    assert_eq!(counted(&["It takes 3 days.", "It takes 4 days.", "It takes 5 days."]), 3);
    assert_eq!(counted(&["It takes 3 days.", "It takes 4 days."]), 3, "one call failed, and may not the next time");
}

#[test]
fn tokens_are_those_of_the_real_prompt_and_of_the_stand_in() {
    let world = World::new("{faithfulness: }", CASES);
    let of =
        |response: &str| world.estimate(&run_of(&world, response, Transcript::default()), ReplyMode::Cached).total();
    let (short, long) = (of("It takes 3 days."), of(&"It takes 3 days to the hour. ".repeat(20)));
    assert!((700..2500).contains(&(short.input_tokens / 2)), "{short:?}");
    assert!(long.input_tokens > short.input_tokens + 100 && long.output_tokens > short.output_tokens + 100, "{long:?}");
}

#[test]
fn stored_replies_are_subtracted_and_in_live_mode_they_are_not() {
    let world = World::new("{faithfulness: }", CASES);
    let samples = Samples::default();
    let none = world.estimate(&samples, ReplyMode::Cached).total();
    assert_eq!((none.requests, none.stored, none.to_ask()), (2, 0, 2));
    let request = JudgeRequest::new("faithfulness.verdicts", Language::En)
        .text("query", "How much?")
        .numbered("sentences", ["It costs 4 euros."])
        .numbered("contexts", ["It costs 4 euros."]);
    let key = keys().key(&request).expect("a prompt");
    let value = json!({"sentences": [{"n": 1, "no_claim": true}]});
    world.store().put(&StoredReply { request: request.name.clone(), ..StoredReply::new(&key, value) }).expect("stored");
    let cached = world.estimate(&samples, ReplyMode::Cached).total();
    assert_eq!((cached.requests, cached.stored, cached.to_ask()), (2, 1, 1));
    assert!(cached.tokens() < none.tokens());
    let live = world.estimate(&samples, ReplyMode::Live).total();
    assert_eq!(live, none);
    let replay = world.estimate(&samples, ReplyMode::Replay).total();
    assert_eq!((replay.stored, replay.missing, replay.to_ask(), replay.tokens()), (1, 1, 0, 0));
}

#[test]
fn equal_requests_of_two_cases_are_counted_once() {
    let case = |id: &str| format!("- {{id: {id}, query: How long?, reference: It takes 3 days.}}\n");
    let world = World::new("{faithfulness: }", &(case("a") + &case("b")));
    assert_eq!(world.estimate(&Samples::default(), ReplyMode::Cached).total().requests, 1);
}

#[test]
fn a_request_without_stand_in_counts_and_its_metric_ends_there() {
    let world = World::new("{faithfulness: {mode: two_step}}", CASES);
    let estimate = world.estimate(&Samples::default(), ReplyMode::Cached);
    assert_eq!(estimate.open_ended, BTreeMap::from([("faithfulness.claims".to_owned(), 2)]));
    assert_eq!(estimate.requests.keys().collect::<Vec<_>>(), ["faithfulness.claims"]);
}

#[test]
fn later_rounds_are_counted_with_the_replies_of_an_earlier_run() {
    let world = World::new("{faithfulness: {mode: two_step}}", CASES);
    let request = JudgeRequest::new("faithfulness.claims", Language::En)
        .text("query", "How long?")
        .numbered("sentences", ["It takes 3 days."]);
    let value = json!({"sentences": [{"n": 1, "claims": [{"claim": "It takes 3 days."}]}]});
    let exchange =
        Exchange { request: Request::Judge(request), reply: Reply::Value { value }, of: AskedOf::Policy, source: None };
    let samples = run_of(&world, "It takes 3 days.", Transcript { exchanges: vec![exchange] });
    let estimate = world.estimate(&samples, ReplyMode::Cached);
    assert_eq!(estimate.requests["faithfulness.confirm"].requests, 1);
    assert_eq!(estimate.requests["faithfulness.claims"].requests, 2);
}

#[test]
fn texts_are_counted_once_and_less_those_whose_vectors_are_stored() {
    let case = |id: &str, answer: &str| format!("- {{id: {id}, query: How long?, reference: {answer}}}\n");
    let cases = case("a", "It takes 3 days.") + &case("b", "It takes 3 days.") + &case("c", "Who knows?");
    let world = World::new("{recall@5: }", &cases);
    let hosted = HostedEmbeddings::new("http://127.0.0.1:1/v1", "m");
    let spec = EmbedderSpec::of_provider(EmbedderProvider::Openai(Box::new(hosted)));
    let keys = VectorKeys::of(&spec).expect("a hosted embedder");
    let count = |mode: ReplyMode| {
        let vectors = Vectors::new(world.store(), keys.clone(), mode);
        let stored = Stored { replies: None, vectors: Some(&vectors) };
        let prompts = Prompts::default();
        let mut counting =
            Counting { stored, prompts: &prompts, counted: BTreeSet::new(), other: 0, estimate: Estimate::default() };
        for case in &world.set.cases {
            counting.embedder(&EmbedRequest::new(&case.query, case.references.iter().map(String::as_str)));
        }
        counting.estimate.of_embedder()
    };
    let none = count(ReplyMode::Cached);
    // Two texts, none, and one.
    assert_eq!((none.requests, none.stored, none.to_ask()), (2, 0, 2));
    let texts = ["How long?", "It takes 3 days.", "Who knows?"].map(str::to_owned);
    assert_eq!(none.input_tokens, embed::estimated(&texts).tokens());
    for text in &texts[..2] {
        let key = keys.key(text);
        world.store().put(&StoredReply::new(&key, stored::to_value(&[1.0, 0.5]))).expect("stored");
    }
    let cached = count(ReplyMode::Cached);
    assert_eq!((cached.requests, cached.stored, cached.to_ask()), (2, 1, 1));
    assert_eq!(cached.input_tokens, embed::estimated(&texts[2..]).tokens());
    assert_eq!(count(ReplyMode::Live), none);
    let replay = count(ReplyMode::Replay);
    assert_eq!((replay.stored, replay.missing, replay.to_ask(), replay.tokens()), (1, 1, 0, 0));
}

#[test]
fn a_price_makes_money_of_tokens() {
    let asked = Asked { requests: 1, input_tokens: 2_000_000, output_tokens: 100_000, ..Asked::default() };
    assert!((asked.usd(Price { input: 0.15, output: 0.6 }) - 0.36).abs() < 1e-12);
}
