//! Similarities from vectors that are asked for, stored, and cut off.

use std::sync::Mutex;

use serde_json::json;

use super::*;
use crate::{
    contain,
    embed::{
        Embedded, EmbedderStamp,
        scripted::Scripted,
        spec::{EmbedderProvider, EmbedderSpec, HostedEmbeddings},
    },
    judge::Spent,
    model::{Budget, Price},
    store::ledger::Ledger,
    system::BoxFuture,
};

const SCRIPT: &str = r#"{"text": "q", "vector": [3, 4]}
{"text": "a", "vector": [4, 3]}
{"text": "b", "vector": [-6, -8]}"#;

/// An embedder that misbehaves.
enum Bad {
    Hangs,
    Panics,
    Short,
}

impl Embedder for Bad {
    fn stamp(&self) -> EmbedderStamp {
        EmbedderStamp { provider: String::new(), model: String::new(), fingerprint: String::new() }
    }

    fn embed<'a>(&'a self, _texts: &'a [String]) -> BoxFuture<'a, Embedded> {
        Box::pin(async move {
            match self {
                Self::Hangs => std::future::pending().await,
                Self::Panics => panic!("out of luck"),
                Self::Short => Ok(vec![vec![1.0]]).into(),
            }
        })
    }
}

fn case() -> CaseId {
    CaseId::new("a").expect("an id")
}

fn asked(embedder: Option<Arc<dyn Embedder>>, others: &[&str]) -> Reply {
    let embedding = embedder.map(|embedder| Embedding {
        embedder,
        timeout: Duration::from_millis(50),
        limit: Limit::in_process(1),
        minute: None,
        account: None,
        vectors: None,
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(similarities(embedding.as_ref(), &case(), &EmbedRequest::new("q", others.iter().copied()))).0
}

fn scripted() -> Option<Arc<dyn Embedder>> {
    Some(Arc::new(Scripted::from_text(SCRIPT).expect("a script")))
}

fn failed(ending: Ending, why: &str) -> Reply {
    Reply::Failed { ending, why: why.to_owned() }
}

#[test]
fn similarities_come_in_the_order_of_the_others() {
    let reply = asked(scripted(), &["b", "a", "q", "a"]);
    assert_eq!(reply, Reply::Value { value: json!([-1.0, 0.96, 1.0, 0.96]) });
}

#[test]
fn equal_texts_are_sent_once() {
    assert_eq!(EmbedRequest::new("q", ["a", "q", "a", "b"]).texts(), ["q", "a", "b"]);
}

#[test]
fn without_an_embedder_it_is_said_what_is_missing() {
    assert_eq!(asked(None, &["a"]), failed(Ending::Unsupported, "no `embedder` in thresholds.yaml"));
}

#[test]
fn a_text_without_a_vector_is_no_similarity() {
    assert_eq!(asked(scripted(), &["c"]), failed(Ending::Missing, "the script has no vector for: c"));
}

#[test]
fn an_embedder_that_misbehaves_costs_its_own_request() {
    let of = |bad: Bad| asked(Some(Arc::new(bad)), &["a"]);
    assert_eq!(of(Bad::Hangs), failed(Ending::TimeOut, "no reply within 0.05 s"));
    let _quiet = contain::quietly();
    assert_eq!(of(Bad::Panics), failed(Ending::Provider, "the embedder panicked: out of luck"));
    assert_eq!(of(Bad::Short), failed(Ending::Provider, "1 vectors came back for 2 texts"));
}

/// Makes a vector of each text, and remembers what it was sent.
struct Counting {
    sent: Mutex<Vec<Vec<String>>>,
    dimensions: usize,
    waits: bool,
}

impl Embedder for Counting {
    fn stamp(&self) -> EmbedderStamp {
        EmbedderStamp { provider: String::new(), model: String::new(), fingerprint: String::new() }
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Embedded> {
        self.sent.lock().expect("no panic").push(texts.to_vec());
        Box::pin(async move {
            if self.waits {
                std::future::pending::<()>().await;
            }
            tokio::task::yield_now().await;
            let vector = |text: &String| vec![text.len() as f32 / 3.0; self.dimensions];
            let spent = Spent { requests: 1, input_tokens: 10, ..Spent::default() };
            Embedded { vectors: Ok(texts.iter().map(vector).collect()), spent }
        })
    }
}

/// A folder of stored vectors, and what runs over it share.
struct World {
    folder: tempfile::TempDir,
    ledger: Ledger,
    shares: bool,
}

/// A run: its embedder, and what stands before it.
struct Running {
    embedder: Arc<Counting>,
    embedding: Embedding,
}

impl World {
    fn new(budget: &Budget) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self { folder, ledger: Ledger::in_process(Some(budget)), shares: false }
    }

    fn run(&self, mode: ReplyMode) -> Running {
        self.run_of(mode, 2, false)
    }

    fn run_of(&self, mode: ReplyMode, dimensions: usize, waits: bool) -> Running {
        let hosted = HostedEmbeddings::new("http://127.0.0.1:1/v1", "m");
        let spec = EmbedderSpec::of_provider(EmbedderProvider::Openai(Box::new(hosted)));
        let embedder = Arc::new(Counting { sent: Mutex::default(), dimensions, waits });
        let keys = VectorKeys::of(&spec).expect("a hosted embedder");
        let claims = self.shares.then(|| self.folder.path().join("claims"));
        let price = Some(Price { input: 1000.0, output: 0.0 });
        let embedding = Embedding {
            embedder: Arc::clone(&embedder) as Arc<dyn Embedder>,
            timeout: Duration::from_secs(20),
            limit: Limit::in_process(1),
            minute: None,
            account: Some(Account { ledger: self.ledger.clone(), price }),
            vectors: Some(Vectors::new(self.store(), keys, mode).shared(claims)),
        };
        Running { embedder, embedding }
    }

    fn store(&self) -> ReplyStore {
        ReplyStore::new(self.folder.path(), None)
    }
}

impl Running {
    async fn ask(&self, text: &str, others: &[&str]) -> Reply {
        self.ask_for(text, others).await.0
    }

    async fn ask_for(&self, text: &str, others: &[&str]) -> (Reply, Option<ReplySource>) {
        similarities(Some(&self.embedding), &case(), &EmbedRequest::new(text, others.iter().copied())).await
    }

    fn sent(&self) -> Vec<Vec<String>> {
        self.embedder.sent.lock().expect("no panic").clone()
    }
}

#[track_caller]
fn ended(reply: &Reply) -> (Ending, &str) {
    match reply {
        Reply::Failed { ending, why } => (*ending, why),
        Reply::Value { value } => panic!("a value: {value}"),
    }
}

#[tokio::test]
async fn it_is_told_whether_vectors_were_stored() {
    let world = World::new(&Budget::default());
    let run = world.run(ReplyMode::Cached);
    assert_eq!(run.ask_for("q", &["a"]).await.1, Some(ReplySource::Asked));
    assert_eq!(run.ask_for("q", &["a"]).await.1, Some(ReplySource::Stored));
    assert_eq!(run.ask_for("q", &["bb"]).await.1, Some(ReplySource::PartlyStored));
    let (reply, source) = world.run(ReplyMode::Replay).ask_for("new", &["q"]).await;
    assert_eq!((ended(&reply).0, source), (Ending::Missing, None), "nothing was sent");
}

#[tokio::test]
async fn only_texts_that_are_not_stored_are_sent() {
    let world = World::new(&Budget::default());
    let first = world.run(ReplyMode::Cached);
    let reply = first.ask("q", &["bb", "a", "q", "a"]).await;
    assert_eq!(reply, Reply::Value { value: json!([1.0, 1.0, 1.0, 1.0]) });
    assert_eq!(first.sent(), [["q", "bb", "a"]]);
    assert_eq!(first.embedding.notices(), ["embedder vectors: 0 stored, 3 asked for (`cached`)"]);
    let second = world.run(ReplyMode::Cached);
    assert_eq!(second.ask("a", &["q", "ccc"]).await, Reply::Value { value: json!([1.0, 1.0]) });
    assert_eq!(second.sent(), [["ccc"]]);
    assert_eq!(second.embedding.notices(), ["embedder vectors: 2 stored, 1 asked for (`cached`)"]);
    // What is asked twice in a run is sent once, in `live` too.
    let live = world.run(ReplyMode::Live);
    live.ask("a", &["q"]).await;
    live.ask("q", &["ccc"]).await;
    assert_eq!(live.sent(), [vec!["a", "q"], vec!["ccc"]]);
    let entry = world.store().get(&world.store().keys().expect("readable")[0]).expect("readable").expect("there");
    assert_eq!((entry.judge.as_str(), entry.model.as_str()), ("http://127.0.0.1:1/v1", "m"));
    assert_eq!((entry.request.as_str(), entry.case.as_str()), ("embed.vector", "a"));
}

#[tokio::test]
async fn a_replay_sends_nothing_and_says_what_is_missing() {
    let world = World::new(&Budget::default());
    world.run(ReplyMode::Cached).ask("q", &["a"]).await;
    let replay = world.run(ReplyMode::Replay);
    assert_eq!(replay.ask("q", &["a"]).await, Reply::Value { value: json!([1.0]) });
    let missed = replay.ask("q", &["b"]).await;
    let (ending, why) = ended(&missed);
    assert_eq!(ending, Ending::Missing);
    assert!(why.starts_with("no vector is stored, and `replay` asks nothing; RAGEVAL_JUDGE_MODE=cached asks"), "{why}");
    assert_eq!(replay.sent(), <[Vec<String>; 0]>::default());
    assert_eq!(world.ledger.spent().map(|spent| spent.requests), Some(1));
}

#[tokio::test]
async fn many_texts_go_in_several_requests() {
    let world = World::new(&Budget::default());
    let run = world.run(ReplyMode::Cached);
    let others: Vec<String> = (0..2 * BATCH).map(|n| format!("text {n}")).collect();
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    run.ask("q", &others).await;
    assert_eq!(run.sent().iter().map(Vec::len).collect::<Vec<_>>(), [BATCH, BATCH, 1]);
    assert_eq!(run.sent()[0][..2], ["q", "text 0"]);
}

#[tokio::test]
async fn requests_that_share_texts_wait_for_each_other_and_never_in_a_circle() {
    let mut world = World::new(&Budget::default());
    for shares in [false, true] {
        world.shares = shares;
        // Two evaluations are two processes, where they share through lock files.
        let runs = [world.run(ReplyMode::Live), world.run(ReplyMode::Live)];
        let texts = ["a", "b", "c", "d", "e", "f"];
        let ask = async |n: usize| {
            let turned: Vec<&str> = (0..texts.len()).map(|at| texts[(at * 5 + n) % texts.len()]).collect();
            runs[if shares { n % 2 } else { 0 }].ask(turned[0], &turned[1..]).await
        };
        let asked = futures_util::future::join_all((0..24).map(ask));
        let replies = tokio::time::timeout(Duration::from_secs(20), asked).await.expect("no circle");
        assert!(replies.iter().all(|reply| matches!(reply, Reply::Value { .. })), "{replies:?}");
        let mut sent = runs.iter().flat_map(Running::sent).collect::<Vec<_>>().concat();
        sent.sort();
        assert_eq!(sent, texts, "each once");
    }
}

#[tokio::test]
async fn a_stored_vector_that_cannot_be_read_is_asked_for_again_and_never_used() {
    let world = World::new(&Budget::default());
    world.run(ReplyMode::Cached).ask("q", &["a"]).await;
    let key = world.store().keys().expect("readable").remove(0);
    let entry = world.store().get(&key).expect("readable").expect("there");
    world.store().put(&StoredReply { value: json!({"f32_le_base64": "AAAA"}), ..entry }).expect("stored");
    let replay = world.run(ReplyMode::Replay);
    let missed = replay.ask("q", &["a"]).await;
    assert_eq!(ended(&missed).0, Ending::Missing);
    let why = "the stored vector cannot be read, and `replay` asks nothing; RAGEVAL_JUDGE_MODE=cached asks anew: `f32_le_base64` is cut";
    assert!(ended(&missed).1.starts_with(why), "{missed:?}");
    let cached = world.run(ReplyMode::Cached);
    assert_eq!(cached.ask("q", &["a"]).await, Reply::Value { value: json!([1.0]) });
    assert_eq!(cached.sent().concat().len(), 1);
    assert!(cached.embedding.notices()[1].starts_with("stored vectors that cannot be read: 1, asked anew: "));
}

#[tokio::test]
async fn vectors_of_another_model_under_the_same_name_are_not_compared() {
    let world = World::new(&Budget::default());
    world.run(ReplyMode::Cached).ask("q", &["a"]).await;
    let other = world.run_of(ReplyMode::Cached, 3, false);
    let reply = other.ask("q", &["b"]).await;
    let why = "vectors of different dimensions: {2, 3}; if another model has the name now, `embedder.mode: live` asks for all anew";
    assert_eq!(reply, failed(Ending::Provider, why));
}

#[tokio::test]
async fn requests_are_counted_and_end_with_the_budget() {
    let world = World::new(&Budget { requests: Some(2), ..Budget::default() });
    let run = world.run(ReplyMode::Cached);
    run.ask("q", &["a"]).await;
    run.ask("q", &["b"]).await;
    let refused = run.ask("q", &["c"]).await;
    let (ending, why) = ended(&refused);
    assert_eq!(ending, Ending::Budget);
    assert!(why.starts_with("not asked: `budget.requests` is 2, and 2 are spent"), "{why}");
    assert_eq!(
        run.ask("b", &["a", "q"]).await,
        Reply::Value { value: json!([1.0, 1.0]) },
        "stored vectors cost nothing"
    );
    let spent = world.ledger.spent().expect("two requests");
    assert_eq!((spent.requests, spent.input_tokens, spent.estimated_tokens), (2, 20, 0));
    assert!((spent.usd.expect("a price") - 0.02).abs() < 1e-9, "{spent:?}");
}

#[tokio::test]
async fn a_run_whose_minutes_are_over_waits_for_no_vector() {
    let world = World::new(&Budget { minutes: Some(0.0005), ..Budget::default() });
    let run = world.run_of(ReplyMode::Cached, 2, true);
    let cut = tokio::time::timeout(Duration::from_secs(10), run.ask("q", &["a"])).await.expect("an end");
    assert_eq!(ended(&cut).0, Ending::Budget);
    assert!(ended(&cut).1.starts_with("cut off: `budget.minutes` is 0.0005"), "{cut:?}");
}
