//! Asks the judge: from the stored replies first, then within the limits of the policy.

use std::{path::PathBuf, sync::Arc, time::Duration};

use super::{
    kept::{Kept, Looked, Turn, What},
    limits::Limits,
};
use crate::{
    judge::{
        self, Judge, Judged,
        key::{Keyed, ReplyKey, ReplyKeys},
        spec::ReplyMode,
    },
    model::{CaseId, Ending, JudgeRequest, Reply, ReplySource, Request, Transcript},
    store::{
        ledger::Account,
        minute::MinuteLimit,
        replies::{ReplyStore, StoredReply},
        slots::Limit,
    },
    system::BoxFuture,
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
    kept: Kept,
    keys: ReplyKeys,
}

impl Judging {
    /// The reply to one request, and where it came from. Never an `Err`: a failure is a reply that says how it ended.
    pub async fn ask(&self, case: &CaseId, request: &JudgeRequest) -> (Reply, Option<ReplySource>) {
        let Some(replies) = &self.replies else {
            return (self.within_limits(request, || self.judge.ask(case, request)).await, None);
        };
        let keyed = match replies.keys.keyed(request) {
            Ok(keyed) => keyed,
            Err(error) => return (Reply::Failed { ending: Ending::Unsupported, why: error.to_string() }, None),
        };
        // One at a time for a key: equal requests of two cases are paid for once.
        let mut turn = replies.kept.turn(&keyed.key).await;
        if let Some(reply) = replies.find(&keyed) {
            return from(ReplySource::Stored, reply);
        }
        if turn.claim().await
            && let Some(reply) = replies.find(&keyed)
        {
            return from(ReplySource::Stored, reply);
        }
        let reply = self.within_limits(request, || self.judge.ask_by(case, request, &keyed.prompt)).await;
        replies.keep(case, request, &keyed.key, &reply, &mut turn).await;
        from(ReplySource::Asked, reply)
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
        match replies.kept.mode() {
            ReplyMode::Replay => {}
            ReplyMode::Live | ReplyMode::Cached => {
                let tries = requests
                    .iter()
                    .flat_map(|request| (0..=request.retry).map(|retry| JudgeRequest { retry, ..request.clone() }));
                for key in tries.filter_map(|request| replies.keys.key(&request).ok()) {
                    replies.kept.remove(&key);
                }
            }
        }
    }

    /// How stored replies are used; `None` for a judge that is code.
    pub fn mode(&self) -> Option<ReplyMode> {
        self.replies.as_ref().map(|replies| replies.kept.mode())
    }

    /// What the run should say of the judge, one line each.
    pub fn notices(&self) -> Vec<String> {
        let mut notices = self.judge.notices();
        if let Some(replies) = &self.replies {
            notices.extend(replies.kept.notices());
        }
        notices
    }

    /// One request, within the judge's limits and the run's budget.
    async fn within_limits<'a>(&'a self, request: &JudgeRequest, ask: impl FnOnce() -> BoxFuture<'a, Judged>) -> Reply {
        // A judge without its key would say the same after every wait.
        if let Some(missing) = self.judge.missing_key() {
            return Reply::Failed { ending: Ending::NoKey, why: missing.to_owned() };
        }
        let limits = Limits {
            whom: "judge",
            timeout: self.timeout,
            limit: &self.limit,
            minute: self.minute.as_ref(),
            account: self.account.as_ref(),
        };
        let asked = async {
            let judged = ask().await;
            (judged.reply, judged.spent)
        };
        limits.call(judge::estimated(request), self.judge.admit(request), asked).await.unwrap_or_else(Reply::from)
    }
}

/// A reply with where it came from; nowhere, when nothing was sent.
fn from(source: ReplySource, reply: Reply) -> (Reply, Option<ReplySource>) {
    let was_sent = match &reply {
        Reply::Value { .. } => true,
        Reply::Failed { ending, why: _ } => ending.was_sent(),
    };
    (reply, was_sent.then_some(source))
}

impl Replies {
    /// Stored replies of the judge that makes these keys.
    pub fn new(store: ReplyStore, keys: ReplyKeys, mode: ReplyMode) -> Self {
        Self { kept: Kept::new(What::Replies, store, mode), keys }
    }

    /// The key of a request, and the reply that a run would have without asking; `None`: a request without a prompt.
    pub(super) fn look_up(&self, request: &JudgeRequest) -> Option<(ReplyKey, Option<Reply>)> {
        let keyed = self.keys.keyed(request).ok()?;
        let reply = self.find(&keyed);
        Some((keyed.key, reply))
    }

    /// Shares what is being asked with the other processes of the run, through lock files in this folder of the run.
    #[must_use]
    pub fn shared(mut self, claims: Option<PathBuf>) -> Self {
        self.kept.share(claims);
        self
    }

    /// The stored reply, or why there is none and none may be asked for; `None`: it is to be asked for.
    fn find(&self, keyed: &Keyed<'_>) -> Option<Reply> {
        match self.kept.look(&keyed.key, Ok) {
            Looked::Found(value) => return Some(Reply::Value { value }),
            Looked::ToAsk => return None,
            Looked::Failed(failed) => return Some(failed.into()),
            Looked::Absent => {}
        }
        // A first reply without a readable value is not stored; where the second one is, it was asked again then, and need not be now.
        if keyed.request.retry == 0
            && let Ok(key) = self.keys.of_try(keyed, 1)
            && self.kept.is_stored(&key)
        {
            let why = "the first reply could not be read and was not stored; the second one is".to_owned();
            return Some(Reply::Failed { ending: Ending::Unreadable, why });
        }
        self.kept.refused().map(Reply::from)
    }

    /// Stores what was read.
    async fn keep(&self, case: &CaseId, request: &JudgeRequest, key: &ReplyKey, reply: &Reply, turn: &mut Turn<'_>) {
        let value = match reply {
            Reply::Value { value } => value,
            Reply::Failed { ending, why: _ } => return turn.keep_nothing(*ending),
        };
        let entry = StoredReply {
            judge: self.keys.judge().to_owned(),
            model: self.keys.model().to_owned(),
            request: request.name.clone(),
            case: case.to_string(),
            sample: request.sample,
            retry: request.retry,
            ..StoredReply::new(key, value.clone())
        };
        turn.keep(entry).await;
    }
}

#[cfg(test)]
mod tests;
