//! A counting judge within a budget.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::json;

use super::*;
use crate::{
    judge::{Judged, Spent},
    model::{Budget, Language, run::JudgeStamp},
    store::ledger::Ledger,
    system::BoxFuture,
};

/// Counts what it is asked, and does what it is told.
struct Counting {
    asked: AtomicU64,
    does: Does,
}

#[derive(Clone, Copy, PartialEq)]
enum Does {
    Answer(Spent),
    Hang,
    Panic,
}

impl Judge for Counting {
    fn stamp(&self) -> JudgeStamp {
        JudgeStamp::default()
    }

    fn is_deterministic(&self) -> bool {
        false
    }

    fn missing_key(&self) -> Option<&str> {
        None
    }

    fn ask<'a>(&'a self, _case: &'a CaseId, _request: &'a JudgeRequest) -> BoxFuture<'a, Judged> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            tokio::task::yield_now().await;
            match self.does {
                Does::Answer(spent) => Judged { reply: Reply::Value { value: json!({"n": 1}) }, spent },
                Does::Hang => std::future::pending().await,
                Does::Panic => panic!("out of order"),
            }
        })
    }
}

fn judging(does: Does, budget: &Budget) -> (Arc<Counting>, Judging, Ledger) {
    let judge = Arc::new(Counting { asked: AtomicU64::new(0), does });
    let ledger = Ledger::in_process(Some(budget));
    let judging = Judging {
        judge: Arc::clone(&judge) as Arc<dyn Judge>,
        timeout: Duration::from_millis(50),
        limit: Limit::in_process(4),
        minute: None,
        account: Some(Account { ledger: ledger.clone(), price: None }),
        replies: None,
    };
    (judge, judging, ledger)
}

async fn endings(judging: &Judging, requests: u32) -> Vec<Option<Ending>> {
    let case = CaseId::new("a").expect("an id");
    let ask = |n: u32| {
        let request = JudgeRequest::new("test.number", Language::En).text("query", n.to_string());
        let case = &case;
        async move {
            match judging.ask(case, &request).await.0 {
                Reply::Value { .. } => None,
                Reply::Failed { ending, .. } => Some(ending),
            }
        }
    };
    futures_util::future::join_all((0..requests).map(ask)).await
}

const SPENT: Spent = Spent { requests: 1, input_tokens: 10, output_tokens: 1, estimated_tokens: 0 };

#[tokio::test]
async fn a_judge_is_asked_as_often_as_its_budget_says() {
    let (judge, judging, ledger) = judging(Does::Answer(SPENT), &Budget { requests: Some(7), ..Budget::default() });
    let endings = endings(&judging, 30).await;
    assert_eq!(judge.asked.load(Ordering::Relaxed), 7);
    assert_eq!(endings.iter().filter(|ending| ending.is_none()).count(), 7);
    assert_eq!(endings.iter().filter(|ending| **ending == Some(Ending::Budget)).count(), 23);
    assert_eq!(ledger.spent().map(|spent| (spent.requests, spent.input_tokens)), Some((7, 70)));
}

#[tokio::test]
async fn it_is_told_whether_a_reply_was_stored() {
    use crate::judge::spec::{Hosted, JudgeProvider, JudgeSpec};
    let hosted = Hosted::new("http://127.0.0.1:1/v1", "m-2026-01-01");
    let spec = JudgeSpec::of_provider(JudgeProvider::Openai(Box::new(hosted)));
    let folder = tempfile::tempdir().expect("a folder");
    let request = |query: &str| {
        JudgeRequest::new("refusal_correctness.verdict", Language::En).text("query", query).text("answer", "No.")
    };
    let case = CaseId::new("a").expect("an id");
    let in_mode = |mode| {
        let (_, mut judging, _) = judging(Does::Answer(SPENT), &Budget::default());
        let keys = ReplyKeys::of(&spec).expect("a hosted judge");
        judging.replies = Some(Replies::new(ReplyStore::new(folder.path(), None), keys, mode));
        judging
    };
    let cached = in_mode(ReplyMode::Cached);
    assert_eq!(cached.ask(&case, &request("one?")).await.1, Some(ReplySource::Asked));
    assert_eq!(cached.ask(&case, &request("one?")).await.1, Some(ReplySource::Stored));
    assert_eq!(in_mode(ReplyMode::Live).ask(&case, &request("one?")).await.1, Some(ReplySource::Asked));
    let replay = in_mode(ReplyMode::Replay);
    assert_eq!(replay.ask(&case, &request("one?")).await.1, Some(ReplySource::Stored));
    assert_eq!(replay.ask(&case, &request("two?")).await.1, None, "nothing was sent");
    let (_, of_code, _) = judging(Does::Answer(SPENT), &Budget::default());
    assert_eq!(of_code.ask(&case, &request("one?")).await.1, None, "its replies are not stored");
}

#[tokio::test]
async fn what_is_sent_again_uses_the_budget_up_sooner() {
    let again = Spent { requests: 3, ..SPENT };
    let (judge, judging, ledger) = judging(Does::Answer(again), &Budget { requests: Some(7), ..Budget::default() });
    for _ in 0..5 {
        endings(&judging, 1).await;
    }
    assert_eq!(judge.asked.load(Ordering::Relaxed), 3);
    assert_eq!(ledger.spent().map(|spent| spent.requests), Some(9), "the last one was sent again twice");
}

#[tokio::test]
async fn a_call_whose_end_nobody_knows_is_counted_as_estimated() {
    for (does, ending) in [(Does::Hang, Ending::TimeOut), (Does::Panic, Ending::Provider)] {
        let (_, judging, ledger) = judging(does, &Budget::default());
        assert_eq!(endings(&judging, 1).await, [Some(ending)]);
        let spent = ledger.spent().expect("one request");
        assert_eq!((spent.requests, spent.estimated_tokens > 0), (1, true));
    }
}

#[tokio::test]
async fn a_run_whose_minutes_are_over_waits_for_nobody() {
    let budget = Budget { minutes: Some(0.0005), ..Budget::default() };
    let (judge, mut judging, _) = judging(Does::Hang, &budget);
    judging.timeout = Duration::from_secs(60);
    let all = tokio::time::timeout(Duration::from_secs(10), endings(&judging, 20)).await.expect("an end");
    assert_eq!(all, vec![Some(Ending::Budget); 20]);
    assert_eq!(judge.asked.load(Ordering::Relaxed), 4, "as many as may be under way");
}
