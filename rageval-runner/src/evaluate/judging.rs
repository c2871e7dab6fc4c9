//! Asks the judge: from the stored replies first, then within the limits of the policy.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs::File,
    io::{Read as _, Write as _},
    panic::AssertUnwindSafe,
    path::PathBuf,
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
    model::{CaseId, Ending, JudgeRequest, Reply, Request, Transcript},
    store::{
        ledger::Account,
        minute::MinuteLimit,
        replies::{ReplyStore, StoredReply},
        slots::{Backoff, Limit, try_lock_to_read},
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
    /// Where the processes of one run tell each other what they ask; `None` where this process is alone.
    claims: Option<PathBuf>,
    /// Stored replies that could not be read, and why.
    unreadable: Mutex<BTreeMap<ReplyKey, String>>,
    /// How many replies could not be written or removed, and why the first could not.
    unkept: Mutex<Option<(u64, String)>>,
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
                // Held until the reply is stored: no other process of the run asks the same meanwhile.
                let claim = replies.claim(&key).await;
                match claim.as_ref().and_then(|_| replies.find(&key, request)) {
                    Some(reply) => reply,
                    None => {
                        let reply = self.within_limits(case, request).await;
                        replies.keep(case, request, &key, &reply, claim).await;
                        reply
                    }
                }
            }
        };
        drop(held);
        replies.end_turn(&key, turn);
        reply
    }

    /// Drops stored replies that do not fit their questions, so that the next run asks anew: the last that an unmeasured metric asked.
    ///
    /// Where one of them has no value at all, that is why the metric is unmeasured, and what is stored of the others is kept. Replies
    /// that are replayed stay.
    pub fn forget(&self, requests: &[JudgeRequest], transcript: &Transcript) {
        let Some(replies) = &self.replies else { return };
        let has_value = |request: &JudgeRequest| {
            matches!(transcript.reply_to(&Request::Judge(request.clone())), Some(Reply::Value { .. }))
        };
        if !requests.iter().all(has_value) {
            return;
        }
        match replies.mode {
            ReplyMode::Replay => {}
            ReplyMode::Live | ReplyMode::Cached => {
                let tries = requests
                    .iter()
                    .flat_map(|request| (0..=request.retry).map(|retry| JudgeRequest { retry, ..request.clone() }));
                for key in tries.filter_map(|request| replies.keys.key(&request).ok()) {
                    replies.remove(&key);
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
            claims: None,
            unreadable: Mutex::default(),
            unkept: Mutex::default(),
        }
    }

    /// The key of a request, and the reply that a run would have without asking; `None`: a request without a prompt.
    pub(super) fn look_up(&self, request: &JudgeRequest) -> Option<(ReplyKey, Option<Reply>)> {
        let key = self.keys.key(request).ok()?;
        let reply = self.find(&key, request);
        Some((key, reply))
    }

    /// Shares what is being asked with the other processes of the run, through lock files in this folder of the run.
    #[must_use]
    pub fn shared(mut self, claims: Option<PathBuf>) -> Self {
        self.claims = claims;
        self
    }

    /// The stored reply, or why there is none and none may be asked for; `None`: it is to be asked for.
    fn find(&self, key: &ReplyKey, request: &JudgeRequest) -> Option<Reply> {
        match self.mode {
            ReplyMode::Live if !self.fresh().contains(key) => return None,
            ReplyMode::Live | ReplyMode::Cached | ReplyMode::Replay => {}
        }
        match self.store.get(key) {
            Ok(Some(entry)) => {
                self.found.fetch_add(1, Ordering::Relaxed);
                return Some(Reply::Value { value: entry.value });
            }
            Ok(None) => {}
            Err(error) => return self.damaged(key, &error.why_first()),
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
                // What to do stands first: reports shorten the rest.
                let why = format!(
                    "no reply is stored, and `replay` asks nothing; RAGEVAL_JUDGE_MODE=cached asks for what is missing; looked in {}",
                    self.store.folder().display()
                );
                Some(Reply::Failed { ending: Ending::Missing, why })
            }
        }
    }

    /// A stored reply that cannot be read counts as none.
    fn damaged(&self, key: &ReplyKey, why: &str) -> Option<Reply> {
        self.unreadable.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone(), why.to_owned());
        match self.mode {
            ReplyMode::Live | ReplyMode::Cached => None,
            ReplyMode::Replay => {
                let why = format!(
                    "the stored reply cannot be read, and `replay` asks nothing; RAGEVAL_JUDGE_MODE=cached asks anew: {why}"
                );
                Some(Reply::Failed { ending: Ending::Missing, why })
            }
        }
    }

    /// Waits until no other process of the run asks this, and keeps the others from it while the file is held.
    ///
    /// `None`: this process is alone, or the folder of the run cannot be used; then the same may be paid for twice, and no more.
    async fn claim(&self, key: &ReplyKey) -> Option<File> {
        let path = self.claims.as_ref()?.join(format!("{key}.lock"));
        let mut pause = Backoff::default();
        loop {
            if let Some(mut file) = try_lock_to_read(&path).ok()? {
                let mut text = String::new();
                // A process that stored the reply wrote so; one that died did not.
                if file.read_to_string(&mut text).is_ok_and(|read| read > 0) {
                    self.fresh().insert(key.clone());
                }
                return Some(file);
            }
            pause.wait().await;
        }
    }

    /// Stores what was read. A reply that can't be stored is used all the same, and told.
    async fn keep(&self, case: &CaseId, request: &JudgeRequest, key: &ReplyKey, reply: &Reply, claim: Option<File>) {
        let value = match reply {
            Reply::Value { value } => value,
            Reply::Failed { ending, why: _ } => return self.keep_nothing(key, *ending),
        };
        self.asked.fetch_add(1, Ordering::Relaxed);
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
        // Written before it is used, so that a process that is killed later has not lost what it paid for.
        let put = tokio::task::spawn_blocking(move || store.put(&entry).map_err(|error| error.why_first())).await;
        match put.unwrap_or_else(|error| Err(error.to_string())) {
            Ok(()) => {
                self.fresh().insert(key.clone());
                if let Some(mut claim) = claim {
                    // Where that fails, another process asks once more.
                    let _ = claim.write_all(b"stored");
                }
            }
            Err(why) => self.cannot_keep(why),
        }
    }

    /// What stands under a key for which the judge now replied something that has no value is out of date.
    fn keep_nothing(&self, key: &ReplyKey, ending: Ending) {
        match ending {
            Ending::Unreadable
            | Ending::Empty
            | Ending::Length
            | Ending::ContentFilter
            | Ending::Refusal
            | Ending::ToolCall => {
                self.asked.fetch_add(1, Ordering::Relaxed);
                self.remove(key);
            }
            Ending::TimeOut | Ending::Provider => {
                self.asked.fetch_add(1, Ordering::Relaxed);
            }
            // Nothing was sent.
            Ending::Unsupported | Ending::Missing | Ending::Budget | Ending::NoKey => {}
        }
    }

    fn remove(&self, key: &ReplyKey) {
        self.fresh().remove(key);
        if let Err(error) = self.store.remove(key) {
            self.cannot_keep(error.why_first());
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

    fn cannot_keep(&self, why: String) {
        let mut unkept = self.unkept.lock().unwrap_or_else(PoisonError::into_inner);
        unkept.get_or_insert((0, why)).0 += 1;
    }

    fn notices(&self) -> Vec<String> {
        let (found, asked) = (self.found.load(Ordering::Relaxed), self.asked.load(Ordering::Relaxed));
        let mut notices = Vec::new();
        if found + asked > 0 {
            let mode = self.mode.as_str();
            notices.push(format!("judge replies: {found} stored, {asked} asked for (`{mode}`)"));
        }
        let unreadable = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = unreadable.values().next() {
            let what = match self.mode {
                ReplyMode::Live | ReplyMode::Cached => "asked anew",
                ReplyMode::Replay => "not asked",
            };
            notices.push(format!("stored replies that cannot be read: {}, {what}: {why}", unreadable.len()));
        }
        if let Some((times, why)) = &*self.unkept.lock().unwrap_or_else(PoisonError::into_inner) {
            notices.push(format!("judge replies that are not kept: {times}: {why}"));
        }
        notices
    }
}

#[cfg(test)]
mod tests;
