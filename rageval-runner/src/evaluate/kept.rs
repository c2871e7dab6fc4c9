//! What models replied and is kept, by key: used again, asked for once by all cases and processes of a run, stored before it is used.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs::File,
    io::{Read as _, Write as _},
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use serde_json::Value;
use tokio::sync::OwnedMutexGuard;

use crate::{
    judge::{Failed, key::ReplyKey, spec::ReplyMode},
    model::Ending,
    store::{
        replies::{ReplyStore, StoredReply},
        slots::{Backoff, try_lock_to_read},
    },
};

/// What is kept, as notices and reasons call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// Replies of the judge.
    Replies,
    /// Vectors of the embedder.
    Vectors,
}

impl What {
    fn one(self) -> &'static str {
        match self {
            Self::Replies => "reply",
            Self::Vectors => "vector",
        }
    }

    fn many(self) -> &'static str {
        match self {
            Self::Replies => "replies",
            Self::Vectors => "vectors",
        }
    }

    fn whose(self) -> &'static str {
        match self {
            Self::Replies => "judge",
            Self::Vectors => "embedder",
        }
    }
}

/// Stored replies of one model, and how they are used.
pub(super) struct Kept {
    what: What,
    store: ReplyStore,
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

/// What stands under a key, for a run of this mode.
pub(super) enum Looked<T> {
    /// It is stored.
    Found(T),
    /// Nothing is stored.
    Absent,
    /// It is to be asked for, whatever is stored.
    ToAsk,
    /// What is stored cannot be read, and nothing may be asked.
    Failed(Failed),
}

/// The right to ask for what belongs under a key; who else wants it waits.
pub(super) struct Turn<'k> {
    kept: &'k Kept,
    key: ReplyKey,
    guard: Option<OwnedMutexGuard<()>>,
    claim: Option<File>,
}

impl Kept {
    pub(super) fn new(what: What, store: ReplyStore, mode: ReplyMode) -> Self {
        Self {
            what,
            store,
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

    pub(super) fn mode(&self) -> ReplyMode {
        self.mode
    }

    /// Shares what is being asked with the other processes of the run, through lock files in this folder of the run.
    pub(super) fn share(&mut self, claims: Option<PathBuf>) {
        self.claims = claims;
    }

    /// Waits until nobody in this process asks for what belongs under this key.
    ///
    /// Who needs several takes them in the order of their keys, so that no two wait for each other.
    pub(super) async fn turn(&self, key: &ReplyKey) -> Turn<'_> {
        let turn = {
            let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(under_way.entry(key.clone()).or_default())
        };
        Turn { kept: self, key: key.clone(), guard: Some(turn.lock_owned().await), claim: None }
    }

    /// What is stored under a key, as `read` understands it.
    pub(super) fn look<T>(&self, key: &ReplyKey, read: impl FnOnce(Value) -> Result<T, String>) -> Looked<T> {
        match self.mode {
            ReplyMode::Live if !self.fresh().contains(key) => return Looked::ToAsk,
            ReplyMode::Live | ReplyMode::Cached | ReplyMode::Replay => {}
        }
        let why = match self.store.get(key) {
            Ok(None) => return Looked::Absent,
            Ok(Some(entry)) => match read(entry.value) {
                Ok(value) => {
                    self.found.fetch_add(1, Ordering::Relaxed);
                    return Looked::Found(value);
                }
                Err(why) => format!("{why}; {}", self.store.path(key).display()),
            },
            Err(error) => error.why_first(),
        };
        self.unreadable.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone(), why.clone());
        match self.mode {
            ReplyMode::Live | ReplyMode::Cached => Looked::ToAsk,
            ReplyMode::Replay => {
                let one = self.what.one();
                let why = format!(
                    "the stored {one} cannot be read, and `replay` asks nothing; RAGEVAL_JUDGE_MODE=cached asks anew: {why}"
                );
                Looked::Failed(Failed::new(Ending::Missing, why))
            }
        }
    }

    /// Whether something readable or not stands under a key.
    pub(super) fn is_stored(&self, key: &ReplyKey) -> bool {
        matches!(self.store.get(key), Ok(Some(_)))
    }

    /// Why what is not stored may not be asked for; `None` where it may.
    pub(super) fn refused(&self) -> Option<Failed> {
        match self.mode {
            ReplyMode::Live | ReplyMode::Cached => None,
            ReplyMode::Replay => {
                // What to do stands first: reports shorten the rest.
                let why = format!(
                    "no {} is stored, and `replay` asks nothing; RAGEVAL_JUDGE_MODE=cached asks for what is missing; looked in {}",
                    self.what.one(),
                    self.store.folder().display()
                );
                Some(Failed::new(Ending::Missing, why))
            }
        }
    }

    /// Removes what stands under a key.
    pub(super) fn remove(&self, key: &ReplyKey) {
        self.fresh().remove(key);
        if let Err(error) = self.store.remove(key) {
            self.cannot_keep(error.why_first());
        }
    }

    fn fresh(&self) -> MutexGuard<'_, HashSet<ReplyKey>> {
        self.fresh.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cannot_keep(&self, why: String) {
        let mut unkept = self.unkept.lock().unwrap_or_else(PoisonError::into_inner);
        unkept.get_or_insert((0, why)).0 += 1;
    }

    /// What the run should say of it, one line each.
    pub(super) fn notices(&self) -> Vec<String> {
        let (found, asked) = (self.found.load(Ordering::Relaxed), self.asked.load(Ordering::Relaxed));
        let (whose, many) = (self.what.whose(), self.what.many());
        let mut notices = Vec::new();
        if found + asked > 0 {
            let mode = self.mode.as_str();
            notices.push(format!("{whose} {many}: {found} stored, {asked} asked for (`{mode}`)"));
        }
        let unreadable = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = unreadable.values().next() {
            let what = match self.mode {
                ReplyMode::Live | ReplyMode::Cached => "asked anew",
                ReplyMode::Replay => "not asked",
            };
            notices.push(format!("stored {many} that cannot be read: {}, {what}: {why}", unreadable.len()));
        }
        if let Some((times, why)) = &*self.unkept.lock().unwrap_or_else(PoisonError::into_inner) {
            notices.push(format!("{whose} {many} that are not kept: {times}: {why}"));
        }
        notices
    }
}

impl Turn<'_> {
    /// Waits until no other process of the run asks this, and keeps the others from it until the turn ends; whether there are others,
    /// so that it is worth to look again.
    ///
    /// Where the folder of the run cannot be used the same may be paid for twice, and no more.
    pub(super) async fn claim(&mut self) -> bool {
        let Some(claims) = &self.kept.claims else { return false };
        let path = claims.join(format!("{}.lock", self.key));
        let mut pause = Backoff::default();
        loop {
            match try_lock_to_read(&path) {
                Ok(Some(mut file)) => {
                    let mut text = String::new();
                    // A process that stored the reply wrote so; one that died did not.
                    if file.read_to_string(&mut text).is_ok_and(|read| read > 0) {
                        self.kept.fresh().insert(self.key.clone());
                    }
                    self.claim = Some(file);
                    return true;
                }
                Ok(None) => pause.wait().await,
                Err(_) => return false,
            }
        }
    }

    /// Stores what was asked for. What can't be stored is used all the same, and told.
    pub(super) async fn keep(&mut self, entry: StoredReply) {
        self.kept.asked.fetch_add(1, Ordering::Relaxed);
        let store = self.kept.store.clone();
        // Written before it is used, so that a process that is killed later has not lost what it paid for.
        let put = tokio::task::spawn_blocking(move || store.put(&entry).map_err(|error| error.why_first())).await;
        match put.unwrap_or_else(|error| Err(error.to_string())) {
            Ok(()) => {
                self.kept.fresh().insert(self.key.clone());
                if let Some(claim) = &mut self.claim {
                    // Where that fails, another process asks once more.
                    let _ = claim.write_all(b"stored");
                }
            }
            Err(why) => self.kept.cannot_keep(why),
        }
    }

    /// Nothing came that could be kept. Where a model now replies something that has no value, what stands under the key is out of date.
    pub(super) fn keep_nothing(&self, ending: Ending) {
        match ending {
            Ending::Unreadable
            | Ending::Empty
            | Ending::Length
            | Ending::ContentFilter
            | Ending::Refusal
            | Ending::ToolCall => {
                self.kept.asked.fetch_add(1, Ordering::Relaxed);
                self.kept.remove(&self.key);
            }
            Ending::TimeOut | Ending::Provider => {
                self.kept.asked.fetch_add(1, Ordering::Relaxed);
            }
            // Nothing was sent.
            Ending::Unsupported | Ending::Missing | Ending::Budget | Ending::NoKey => {}
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        drop(self.claim.take());
        let mut under_way = self.kept.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.guard.take());
        // Forgotten where nobody else waits for it.
        if under_way.get(&self.key).is_some_and(|turn| Arc::strong_count(turn) == 1) {
            under_way.remove(&self.key);
        }
    }
}
