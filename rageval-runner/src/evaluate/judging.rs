//! Asks the judge: from the stored replies first, then within the limits of the policy.

use std::{
    collections::{HashMap, HashSet},
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use crate::{
    contain,
    judge::{
        self, Judge, Judged, Spent,
        key::{ReplyKey, ReplyKeys},
        spec::ReplyMode,
    },
    model::{CaseId, Ending, JudgeRequest, Reply},
    store::{
        ledger::Account,
        minute::MinuteLimit,
        replies::{ReplyStore, StoredReply},
        slots::Limit,
    },
};

/// The judge with everything that stands between a request and its reply.
pub struct Judging {
    /// The judge.
    pub judge: Arc<dyn Judge>,
    /// How long one call may take.
    pub timeout: Duration,
    /// How many calls may be under way.
    pub limit: Limit,
    /// What may be asked in a minute over all processes of the run; `None` where nothing limits it or this process is alone, since a
    /// judge keeps its own limits within a process.
    pub minute: Option<MinuteLimit>,
    /// Where its requests are counted against the budget of the run; `None` for a judge that is code.
    pub account: Option<Account>,
    /// Replies that are kept; `None` for a judge that is code.
    pub replies: Option<Replies>,
}

/// The stored replies of a judge, and how they are used.
pub struct Replies {
    store: ReplyStore,
    keys: ReplyKeys,
    mode: ReplyMode,
    /// Requests on their way: who asks the same waits, and reads what was stored.
    under_way: Mutex<HashMap<ReplyKey, Arc<tokio::sync::Mutex<()>>>>,
    /// Stored by this run: not asked twice, in `live` either.
    fresh: Mutex<HashSet<ReplyKey>>,
    found: AtomicU64,
    asked: AtomicU64,
    /// Replies that could not be read or written, in the words of the first.
    trouble: Mutex<Option<(u64, String)>>,
}

impl Judging {
    /// The reply to one request. Never an `Err`: a failure is a reply that says how it ended.
    pub async fn ask(&self, case: &CaseId, request: &JudgeRequest) -> Reply {
        let Some(replies) = &self.replies else { return self.within_limits(case, request).await };
        let key = match replies.keys.key(request) {
            Ok(key) => key,
            Err(error) => return Reply::Failed { ending: Ending::Unsupported, why: error.to_string() },
        };
        // One at a time for a key: equal requests of two cases are paid for once.
        let turn = replies.turn(&key);
        let held = turn.lock().await;
        let reply = match replies.find(&key, request) {
            Some(reply) => reply,
            None => {
                let reply = self.within_limits(case, request).await;
                replies.keep(case, request, &key, &reply).await;
                reply
            }
        };
        drop(held);
        replies.end_turn(&key, turn);
        reply
    }

    /// Drops stored replies that left a metric unmeasured, so that the next run asks anew. Replies that are replayed stay.
    pub fn forget(&self, requests: &[JudgeRequest]) {
        let Some(replies) = &self.replies else { return };
        match replies.mode {
            ReplyMode::Replay => {}
            ReplyMode::Live | ReplyMode::Cached => {
                for key in requests.iter().filter_map(|request| replies.keys.key(request).ok()) {
                    if let Err(error) = replies.store.remove(&key) {
                        replies.note(error.to_string());
                    }
                }
            }
        }
    }

    /// What the run should say of the judge, one line each.
    pub fn notices(&self) -> Vec<String> {
        let mut notices = self.judge.notices();
        if let Some(replies) = &self.replies {
            notices.extend(replies.notices());
        }
        notices
    }

    /// One request, within the judge's limits and the run's budget.
    async fn within_limits(&self, case: &CaseId, request: &JudgeRequest) -> Reply {
        // A judge without its key would say the same after every wait.
        if let Some(missing) = self.judge.missing_key() {
            return Reply::Failed { ending: Ending::NoKey, why: missing.to_owned() };
        }
        let _permit = match self.limit.acquire().await {
            Ok(permit) => permit,
            Err(error) => return Reply::Failed { ending: Ending::Provider, why: error.to_string() },
        };
        let Some(account) = &self.account else { return self.call(case, request).await.reply };
        let reservation = match account.reserve(judge::estimated(request)).await {
            Ok(reservation) => reservation,
            Err(why) => return Reply::Failed { ending: Ending::Budget, why },
        };
        let call = self.call(case, request);
        let judged = match reservation.deadline() {
            Some(deadline) => tokio::time::timeout_at(deadline, call).await,
            None => Ok(call.await),
        };
        match judged {
            Ok(Called { reply, spent: Some(spent) }) => {
                reservation.settle(spent).await;
                reply
            }
            // Nobody knows what it took, so the estimate stays.
            Ok(Called { reply, spent: None }) => reply,
            Err(_) => Reply::Failed { ending: Ending::Budget, why: reservation.cut_off() },
        }
    }

    /// One call, within its limits of time.
    async fn call(&self, case: &CaseId, request: &JudgeRequest) -> Called {
        // The limits a minute are waited for before the request's own time begins.
        if let Some(minute) = &self.minute
            && let Err(error) = minute.admit(judge::estimated_tokens(request)).await
        {
            let why = format!("the limits a minute cannot be kept: {error}");
            let reply = Reply::Failed { ending: Ending::Provider, why };
            return Called { reply, spent: Some(Spent::default()) };
        }
        self.judge.admit(request).await;
        let call = AssertUnwindSafe(self.judge.ask(case, request));
        let failed = |ending, why| Called { reply: Reply::Failed { ending, why }, spent: None };
        match tokio::time::timeout(self.timeout, futures_util::FutureExt::catch_unwind(call)).await {
            Err(_) => failed(Ending::TimeOut, format!("no reply within {} s", self.timeout.as_secs_f64())),
            Ok(Err(panic)) => {
                failed(Ending::Provider, format!("the judge panicked: {}", contain::said(panic.as_ref())))
            }
            Ok(Ok(Judged { reply, spent })) => Called { reply, spent: Some(spent) },
        }
    }
}

/// How a call ended.
struct Called {
    reply: Reply,
    /// What it took; `None` where it was cut off before it said so.
    spent: Option<Spent>,
}

impl Replies {
    /// Stored replies of the judge that makes these keys.
    pub fn new(store: ReplyStore, keys: ReplyKeys, mode: ReplyMode) -> Self {
        Self {
            store,
            keys,
            mode,
            under_way: Mutex::default(),
            fresh: Mutex::default(),
            found: AtomicU64::new(0),
            asked: AtomicU64::new(0),
            trouble: Mutex::default(),
        }
    }

    /// The key of a request, and the reply that a run would have without asking; `None`: a request without a prompt.
    pub(super) fn look_up(&self, request: &JudgeRequest) -> Option<(ReplyKey, Option<Reply>)> {
        let key = self.keys.key(request).ok()?;
        let reply = self.find(&key, request);
        Some((key, reply))
    }

    /// The stored reply, or why there is none and none may be asked for; `None`: it is to be asked for.
    fn find(&self, key: &ReplyKey, request: &JudgeRequest) -> Option<Reply> {
        match self.mode {
            ReplyMode::Live if !self.fresh().contains(key) => return None,
            ReplyMode::Live | ReplyMode::Cached | ReplyMode::Replay => {}
        }
        let damaged = match self.store.get(key) {
            Ok(Some(entry)) => {
                self.found.fetch_add(1, Ordering::Relaxed);
                return Some(Reply::Value { value: entry.value });
            }
            Ok(None) => None,
            Err(error) => Some(error.to_string()),
        };
        if let Some(why) = &damaged {
            self.note(why.clone());
        }
        // A first reply without a readable value is not stored; where the second one is, it was asked again then, and need not be now.
        let second = JudgeRequest { retry: 1, ..request.clone() };
        if request.retry == 0
            && let Ok(key) = self.keys.key(&second)
            && matches!(self.store.get(&key), Ok(Some(_)))
        {
            let why = "the first reply could not be read and was not stored; the second one is".to_owned();
            return Some(Reply::Failed { ending: Ending::Unreadable, why });
        }
        match self.mode {
            ReplyMode::Live | ReplyMode::Cached => None,
            ReplyMode::Replay => {
                let folder = self.store.folder().display();
                let why = damaged.unwrap_or_else(|| {
                    format!(
                        "no reply is stored in {folder} for this request, and `replay` asks nothing; \
                         run with RAGEVAL_JUDGE_MODE=cached to ask for what is missing"
                    )
                });
                Some(Reply::Failed { ending: Ending::Missing, why })
            }
        }
    }

    /// Stores what was read. A reply that can't be stored is used all the same, and told.
    async fn keep(&self, case: &CaseId, request: &JudgeRequest, key: &ReplyKey, reply: &Reply) {
        match reply {
            Reply::Failed { ending: Ending::NoKey | Ending::Budget, .. } => {}
            Reply::Value { .. } | Reply::Failed { .. } => {
                self.asked.fetch_add(1, Ordering::Relaxed);
            }
        }
        let Reply::Value { value } = reply else { return };
        let entry = StoredReply {
            judge: self.keys.judge().to_owned(),
            model: self.keys.model().to_owned(),
            request: request.name.clone(),
            case: case.to_string(),
            sample: request.sample,
            retry: request.retry,
            ..StoredReply::new(key, value.clone())
        };
        let store = self.store.clone();
        // It waits for the disk, so that no reply is lost once it was paid for.
        match tokio::task::spawn_blocking(move || store.put(&entry)).await {
            Ok(Ok(())) => {
                self.fresh().insert(key.clone());
            }
            Ok(Err(error)) => self.note(error.to_string()),
            Err(error) => self.note(error.to_string()),
        }
    }

    fn fresh(&self) -> MutexGuard<'_, HashSet<ReplyKey>> {
        self.fresh.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn(&self, key: &ReplyKey) -> Arc<tokio::sync::Mutex<()>> {
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(under_way.entry(key.clone()).or_default())
    }

    /// Forgets a turn that nobody else waits for.
    fn end_turn(&self, key: &ReplyKey, turn: Arc<tokio::sync::Mutex<()>>) {
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        drop(turn);
        if under_way.get(key).is_some_and(|turn| Arc::strong_count(turn) == 1) {
            under_way.remove(key);
        }
    }

    fn note(&self, why: String) {
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        trouble.get_or_insert((0, why)).0 += 1;
    }

    fn notices(&self) -> Vec<String> {
        let (found, asked) = (self.found.load(Ordering::Relaxed), self.asked.load(Ordering::Relaxed));
        let mut notices = Vec::new();
        if found + asked > 0 {
            let mode = self.mode.as_str();
            notices.push(format!("judge replies: {found} stored, {asked} asked for (`{mode}`)"));
        }
        if let Some((times, why)) = &*self.trouble.lock().unwrap_or_else(PoisonError::into_inner) {
            let more = if *times > 1 { format!("; {times} times in all") } else { String::new() };
            notices.push(format!("a stored reply cannot be used: {why}{more}"));
        }
        notices
    }
}

#[cfg(test)]
mod tests;
