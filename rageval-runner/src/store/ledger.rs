//! What a run spends on models, held against its budget: in this process, or over all processes of the run.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use tokio::time::Instant;

use super::{
    StoreError,
    slots::{Backoff, try_lock_to_read},
};
use crate::{
    judge::Spent,
    model::{Budget, Price, Spending},
    report::console::spending::{self, money, thousands},
};

/// What a run spent so far, and the budget that it may spend. Clones share it.
///
/// What a request is estimated to take is counted before it is sent and corrected once it has ended. Who dies in between leaves the
/// estimate behind: it may have been paid for. Over many processes the totals stand in a file that is read and written under a lock of
/// the kernel, which ends with its holder; a file that is damaged lets nothing be asked.
#[derive(Debug, Clone)]
pub struct Ledger(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    budget: Budget,
    totals: Kept,
    /// When the run's minutes end, as first seen by this process: a clock that is set back gives nobody more.
    deadline: OnceLock<Instant>,
}

#[derive(Debug)]
enum Kept {
    Memory(Mutex<Totals>),
    File(PathBuf),
}

/// Who asks: a ledger, and what the model costs.
#[derive(Debug, Clone)]
pub struct Account {
    /// The ledger of the run.
    pub ledger: Ledger,
    /// What the model costs; `None` where no price is configured.
    pub price: Option<Price>,
}

/// What was counted for a request that is about to be sent. Dropped without [`Reservation::settle`], it stays counted.
#[derive(Debug)]
#[must_use = "what was really spent is settled"]
pub struct Reservation {
    account: Account,
    estimate: Spent,
}

/// The limits of a budget, in the order in which they are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LimitKind {
    Requests,
    Tokens,
    Usd,
    Minutes,
}

impl LimitKind {
    const ALL: [Self; 4] = [Self::Requests, Self::Tokens, Self::Usd, Self::Minutes];
}

/// What is counted. In a file: eight numbers of 8 bytes, and the first 8 bytes of their digest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Totals {
    /// When the first request was let through, in microseconds since 1970; 0 before.
    started: u64,
    requests: u64,
    input_tokens: u64,
    output_tokens: u64,
    estimated_tokens: u64,
    /// Billionths of a US dollar.
    nano_usd: u64,
    /// Requests that had a price.
    priced: u64,
    /// 1 and the place of the limit that a request would have gone beyond; 0 while there was none.
    closed: u64,
}

impl Account {
    /// Counts a request that is about to be sent.
    ///
    /// # Errors
    /// Why it must not be sent: it would go beyond the budget, an earlier one would have, or the totals can't be kept.
    pub async fn reserve(&self, estimate: Spent) -> Result<Reservation, String> {
        let inner = &self.ledger.0;
        let cost = Cost::of(estimate, self.price);
        let kept = inner.totals.change(|totals| inner.budget.take(totals, estimate, cost, now())).await;
        let started = kept.map_err(|error| format!("not asked: what the run spent cannot be kept: {error}"))??;
        if let Some(minutes) = inner.budget.minutes {
            let left = minutes_long(minutes).saturating_sub(now().saturating_sub(started));
            inner.deadline.get_or_init(|| Instant::now() + left);
        }
        Ok(Reservation { account: self.clone(), estimate })
    }
}

impl Reservation {
    /// When a call under way must be cut off, because the run's minutes are over.
    pub fn deadline(&self) -> Option<Instant> {
        self.account.ledger.0.deadline.get().copied()
    }

    /// Why a call was cut off at its deadline.
    pub fn cut_off(&self) -> String {
        let budget = &self.account.ledger.0.budget;
        format!("cut off: {}; {}", budget.minutes_over(), budget.raise(LimitKind::Minutes))
    }

    /// Puts what was really spent in the place of the estimate. Where the totals can't be kept the estimate stays, and the next
    /// request is told why.
    pub async fn settle(self, spent: Spent) {
        let Self { account, estimate } = self;
        let (counted, real) = (Cost::of(estimate, account.price), Cost::of(spent, account.price));
        let settle = |totals: &mut Totals| {
            totals.subtract(estimate, counted);
            totals.add(spent, real);
        };
        account.ledger.0.totals.change(settle).await.ok();
    }
}

impl Ledger {
    /// A ledger of this process; without a budget it only counts.
    pub fn in_process(budget: Option<&Budget>) -> Self {
        Self::new(budget, Kept::Memory(Mutex::default()))
    }

    /// A ledger of all processes that name this file.
    pub fn across_processes(budget: Option<&Budget>, file: PathBuf) -> Self {
        Self::new(budget, Kept::File(file))
    }

    fn new(budget: Option<&Budget>, totals: Kept) -> Self {
        Self(Arc::new(Inner { budget: budget.cloned().unwrap_or_default(), totals, deadline: OnceLock::new() }))
    }

    /// What was spent so far; `None` where nothing was asked, or where that cannot be read.
    pub fn spent(&self) -> Option<Spending> {
        match &self.0.totals {
            Kept::Memory(totals) => totals.lock().unwrap_or_else(PoisonError::into_inner).spending(),
            Kept::File(file) => read(file).ok().flatten(),
        }
    }

    /// The budget.
    pub fn budget(&self) -> &Budget {
        &self.0.budget
    }
}

/// What the processes of a run spent; `None` where nothing was asked.
pub(crate) fn read(file: &Path) -> Result<Option<Spending>, StoreError> {
    match std::fs::read(file) {
        Ok(bytes) => Ok(Totals::from_bytes(&bytes).map_err(|why| StoreError::format(file, why))?.spending()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(StoreError::Io { path: file.to_owned(), source }),
    }
}

/// Opens the totals of a run that is taken up: what was spent stays counted, and its minutes count from the next request on.
pub(crate) fn reopen(path: &Path) -> Result<(), StoreError> {
    let Some(file) = try_lock_to_read(path).map_err(StoreError::io(path))? else {
        return Err(StoreError::format(path, "another process is counting in it"));
    };
    change_file(file, path, |totals| {
        totals.started = 0;
        totals.closed = 0;
    })
}

impl Kept {
    async fn change<T>(&self, change: impl FnOnce(&mut Totals) -> T) -> Result<T, StoreError> {
        match self {
            Self::Memory(totals) => Ok(change(&mut totals.lock().unwrap_or_else(PoisonError::into_inner))),
            Self::File(path) => {
                let mut pause = Backoff::default();
                loop {
                    match try_lock_to_read(path).map_err(StoreError::io(path))? {
                        Some(file) => return change_file(file, path, change),
                        None => pause.wait().await,
                    }
                }
            }
        }
    }
}

fn change_file<T>(mut file: File, path: &Path, change: impl FnOnce(&mut Totals) -> T) -> Result<T, StoreError> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(StoreError::io(path))?;
    let mut totals = Totals::from_bytes(&bytes).map_err(|why| StoreError::format(path, why))?;
    let changed = change(&mut totals);
    // The same length every time, so that one write replaces all; where it is torn the digest tells.
    file.rewind().and_then(|()| file.write_all(&totals.to_bytes())).map_err(StoreError::io(path))?;
    Ok(changed)
}

impl Totals {
    fn numbers(&self) -> [u64; 8] {
        let Self { started, requests, input_tokens, output_tokens, estimated_tokens, nano_usd, priced, closed } = *self;
        [started, requests, input_tokens, output_tokens, estimated_tokens, nano_usd, priced, closed]
    }

    fn to_bytes(self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.numbers().into_iter().flat_map(u64::to_le_bytes).collect();
        let digest = blake3::hash(&bytes);
        bytes.extend(&digest.as_bytes()[..8]);
        bytes
    }

    /// No bytes are a new file; any others must be whole.
    fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        let mut numbers = [0; 8];
        for (number, bytes) in numbers.iter_mut().zip(bytes.chunks_exact(8)) {
            *number = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
        }
        let [started, requests, input_tokens, output_tokens, estimated_tokens, nano_usd, priced, closed] = numbers;
        let totals =
            Self { started, requests, input_tokens, output_tokens, estimated_tokens, nano_usd, priced, closed };
        if totals.to_bytes() == bytes {
            return Ok(totals);
        }
        Err("the totals of the run are damaged, and nothing is asked without them; start another run".to_owned())
    }

    fn add(&mut self, spent: Spent, cost: Cost) {
        self.requests = self.requests.saturating_add(spent.requests);
        self.input_tokens = self.input_tokens.saturating_add(spent.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(spent.output_tokens);
        self.estimated_tokens = self.estimated_tokens.saturating_add(spent.estimated_tokens);
        self.nano_usd = self.nano_usd.saturating_add(cost.nano_usd);
        self.priced = self.priced.saturating_add(cost.priced);
    }

    fn subtract(&mut self, spent: Spent, cost: Cost) {
        self.requests = self.requests.saturating_sub(spent.requests);
        self.input_tokens = self.input_tokens.saturating_sub(spent.input_tokens);
        self.output_tokens = self.output_tokens.saturating_sub(spent.output_tokens);
        self.estimated_tokens = self.estimated_tokens.saturating_sub(spent.estimated_tokens);
        self.nano_usd = self.nano_usd.saturating_sub(cost.nano_usd);
        self.priced = self.priced.saturating_sub(cost.priced);
    }

    fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    fn spending(&self) -> Option<Spending> {
        (self.requests > 0).then(|| Spending {
            requests: self.requests,
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
            estimated_tokens: self.estimated_tokens,
            usd: (self.priced > 0).then(|| usd(self.nano_usd)),
        })
    }
}

/// What a request costs.
#[derive(Debug, Clone, Copy)]
struct Cost {
    nano_usd: u64,
    priced: u64,
}

impl Cost {
    fn of(spent: Spent, price: Option<Price>) -> Self {
        let usd = price.map_or(0.0, |price| price.usd(spent.input_tokens, spent.output_tokens));
        // A part of a billionth counts as one: sums never come out too low.
        Self { nano_usd: (usd * 1e9).ceil() as u64, priced: price.map_or(0, |_| spent.requests) }
    }
}

fn usd(nano: u64) -> f64 {
    nano as f64 / 1e9
}

impl Budget {
    /// Counts a request where it fits; returns when the first one was counted, since 1970. One that does not fit ends the asking of the
    /// run: it is red already, so what more it asked would be paid for nothing.
    fn take(&self, totals: &mut Totals, estimate: Spent, cost: Cost, now: Duration) -> Result<Duration, String> {
        let micros = u64::try_from(now.as_micros()).unwrap_or(u64::MAX);
        let started = if totals.started == 0 { micros } else { totals.started };
        if let Some(limit) = usize::try_from(totals.closed).ok().and_then(|at| LimitKind::ALL.get(at.checked_sub(1)?)) {
            return Err(self.why(*limit, totals, None));
        }
        let elapsed = Duration::from_micros(micros.saturating_sub(started));
        let beyond = |limit: &LimitKind| match limit {
            LimitKind::Requests => {
                self.requests.is_some_and(|most| totals.requests.saturating_add(estimate.requests) > most)
            }
            LimitKind::Tokens => {
                self.tokens.is_some_and(|most| totals.tokens().saturating_add(estimate.tokens()) > most)
            }
            LimitKind::Usd => self.usd.is_some_and(|most| usd(totals.nano_usd.saturating_add(cost.nano_usd)) > most),
            LimitKind::Minutes => self.minutes.is_some_and(|most| elapsed >= minutes_long(most)),
        };
        if let Some(at) = LimitKind::ALL.iter().position(beyond) {
            totals.closed = at as u64 + 1;
            return Err(self.why(LimitKind::ALL[at], totals, Some((estimate, cost))));
        }
        totals.started = started;
        totals.add(estimate, cost);
        Ok(Duration::from_micros(started))
    }

    /// Why a request was not sent: the limit, what is spent, what this one would take, and what to do.
    fn why(&self, limit: LimitKind, totals: &Totals, wanted: Option<(Spent, Cost)>) -> String {
        let spent = match limit {
            LimitKind::Requests => {
                let most = thousands(self.requests.unwrap_or_default());
                format!("`budget.requests` is {most}, and {} are spent", thousands(totals.requests))
            }
            LimitKind::Tokens => {
                let most = thousands(self.tokens.unwrap_or_default());
                let wanted = wanted
                    .map(|(estimate, _)| format!("; this request takes about {}", thousands(estimate.tokens())))
                    .unwrap_or_default();
                format!("`budget.tokens` is {most}, and {} are spent{wanted}", thousands(totals.tokens()))
            }
            LimitKind::Usd => {
                let most = spending::limit(self.usd.unwrap_or_default());
                let wanted = wanted
                    .map(|(_, cost)| format!("; this request takes about {}", money(usd(cost.nano_usd))))
                    .unwrap_or_default();
                format!("`budget.usd` is {most}, and {} are spent{wanted}", money(usd(totals.nano_usd)))
            }
            LimitKind::Minutes => self.minutes_over(),
        };
        format!("not asked: {spent}; {}", self.raise(limit))
    }

    fn minutes_over(&self) -> String {
        format!("`budget.minutes` is {}, counted from the run's first request", self.minutes.unwrap_or_default())
    }

    fn raise(&self, limit: LimitKind) -> String {
        let what = match limit {
            LimitKind::Requests | LimitKind::Tokens | LimitKind::Usd => {
                "`cargo rageval estimate` says what a run takes"
            }
            LimitKind::Minutes => "or ask more at once: `judge.max_in_flight`",
        };
        format!("raise it at {} ({what})", self.place)
    }
}

fn minutes_long(minutes: f64) -> Duration {
    // A year is longer than any run, and far from overflow.
    Duration::from_secs_f64((minutes * 60.0).clamp(0.0, 365.0 * 86_400.0))
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

#[cfg(test)]
mod tests;
