//! When the next request may be sent: limits a minute, and what the server says of its own.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// How much of a minute's allowance may be used at once after a pause: a twelfth, so that no minute sees much more than its limit.
const BURST: Duration = Duration::from_secs(5);

/// The gap between requests after the first sign that the server is overrun.
const FIRST_GAP: Duration = Duration::from_millis(10);

/// The largest gap that signs of an overrun server lead to.
const LARGEST_GAP: Duration = Duration::from_secs(5);

/// The gap grows once in this time at most, and once in so many gaps: requests that were sent together are refused together, and say the
/// same thing.
const GROWS_EVERY: Duration = Duration::from_millis(250);
const GROWS_EVERY_GAPS: u32 = 8;

/// A gap below this is none.
const NO_GAP: Duration = Duration::from_millis(1);

/// When the next request may be sent. Shared by all requests of one judge in this process.
///
/// Each first try is given its time in the order in which they come, so nobody waits for a lock, and a repetition is charged but does
/// not wait: its own pause is longer already, and it would run into its time limit behind those that can wait.
#[derive(Debug)]
pub(crate) struct Pace {
    /// A request's share of a minute.
    request: Duration,
    /// A token's share of a minute.
    token: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// When the requests sent so far are paid for.
    requests_until: Option<Instant>,
    /// When the tokens used so far are paid for.
    tokens_until: Option<Instant>,
    /// When the server takes requests again.
    paused_until: Option<Instant>,
    /// Kept between requests while the server says that there are too many.
    gap: Duration,
    /// When the next request may follow the last one.
    gap_until: Option<Instant>,
    /// When the gap may grow again.
    grows_from: Option<Instant>,
}

impl Pace {
    /// `None` is no limit; 0 counts as 1.
    pub(crate) fn new(requests_per_minute: Option<usize>, tokens_per_minute: Option<usize>) -> Self {
        let share = |limit: Option<usize>| {
            limit.map_or(Duration::ZERO, |limit| Duration::from_secs_f64(60.0 / limit.max(1) as f64))
        };
        Self { request: share(requests_per_minute), token: share(tokens_per_minute), state: Mutex::default() }
    }

    /// Takes a place for a request of about so many tokens: the time at which it may be sent.
    pub(crate) fn reserve(&self, tokens: u64, now: Instant) -> Instant {
        let mut state = self.lock();
        let mut at = now;
        for until in [state.paused_until, state.gap_until].into_iter().flatten() {
            at = at.max(until);
        }
        // A first burst is free; what is beyond it waits until it is paid for.
        for until in [state.requests_until, state.tokens_until].into_iter().flatten() {
            at = at.max(until.checked_sub(BURST).unwrap_or(now));
        }
        state.gap_until = Some(at + state.gap);
        self.charge(&mut state, 1, tokens, at);
        at
    }

    /// A request is sent again: what it uses is charged. Returns when the server takes requests again, where it has said so.
    pub(crate) fn again(&self, tokens: u64, now: Instant) -> Option<Instant> {
        let mut state = self.lock();
        self.charge(&mut state, 1, tokens, now);
        state.paused_until
    }

    /// When the server takes requests again, where it has said so and that is yet to come.
    pub(crate) fn paused_until(&self, now: Instant) -> Option<Instant> {
        self.lock().paused_until.filter(|until| *until > now)
    }

    /// A reply used this many tokens beyond those that were reserved; what it says beyond a whole minute's is not believed.
    pub(crate) fn used(&self, beyond: u64, now: Instant) {
        let a_minute = Duration::from_secs(60).as_nanos().checked_div(self.token.as_nanos()).unwrap_or_default();
        let beyond = beyond.min(u64::try_from(a_minute).unwrap_or(u64::MAX));
        self.charge(&mut self.lock(), 0, beyond, now);
    }

    /// The server said that there are too many requests; `pause` is how long it wants none.
    pub(crate) fn overrun(&self, pause: Option<Duration>, now: Instant) {
        let mut state = self.lock();
        if state.grows_from.is_none_or(|from| from <= now) {
            state.gap = (state.gap * 2).clamp(FIRST_GAP, LARGEST_GAP);
            state.grows_from = Some(now + GROWS_EVERY.max(state.gap * GROWS_EVERY_GAPS));
        }
        if let Some(until) = pause.and_then(|pause| now.checked_add(pause)) {
            state.paused_until = Some(state.paused_until.map_or(until, |known| known.max(until)));
        }
    }

    /// The server answered: the gap shrinks.
    pub(crate) fn answered(&self) {
        let mut state = self.lock();
        state.gap = state.gap.mul_f64(0.9);
        if state.gap < NO_GAP {
            state.gap = Duration::ZERO;
        }
    }

    fn charge(&self, state: &mut State, requests: u32, tokens: u64, at: Instant) {
        let paid = |until: Option<Instant>, cost: Duration| Some(until.map_or(at, |until| until.max(at)) + cost);
        state.requests_until = paid(state.requests_until, self.request * requests);
        let tokens = u32::try_from(tokens).unwrap_or(u32::MAX);
        state.tokens_until = paid(state.tokens_until, self.token.saturating_mul(tokens).min(Duration::from_secs(3600)));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that holds this lock can panic halfway through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(from: Instant, to: Instant) -> f64 {
        (to - from).as_secs_f64()
    }

    #[test]
    fn without_limits_nobody_waits() {
        let (pace, now) = (Pace::new(None, None), Instant::now());
        assert!((0..1000).all(|_| pace.reserve(10_000, now) == now));
    }

    #[test]
    fn requests_a_minute_hold_after_a_short_burst() {
        let (pace, now) = (Pace::new(Some(60), None), Instant::now());
        let times: Vec<f64> = (0..66).map(|_| seconds(now, pace.reserve(0, now))).collect();
        assert_eq!(times[..6], [0.0; 6]);
        assert!((times[65] - 60.0).abs() < 1e-6, "{}", times[65]);
        assert_eq!(times.iter().filter(|at| **at < 60.0 - 1e-6).count(), 65);
    }

    #[test]
    fn tokens_a_minute_hold_and_are_corrected_by_what_was_used() {
        let (pace, now) = (Pace::new(None, Some(6000)), Instant::now());
        assert_eq!(pace.reserve(1000, now), now);
        pace.used(500, now);
        // 1,500 tokens are 15 s, of which 5 are free.
        assert!((seconds(now, pace.reserve(1, now)) - 10.0).abs() < 1e-6);
    }

    #[test]
    fn a_repetition_is_charged_and_does_not_wait() {
        let (pace, now) = (Pace::new(Some(60), None), Instant::now());
        for _ in 0..10 {
            assert_eq!(pace.again(0, now), None);
        }
        assert!((seconds(now, pace.reserve(0, now)) - 5.0).abs() < 1e-6);
    }

    #[test]
    fn a_pause_that_the_server_asks_for_holds_for_all() {
        let (pace, now) = (Pace::new(None, None), Instant::now());
        pace.overrun(Some(Duration::from_secs(3)), now);
        pace.overrun(Some(Duration::from_secs(1)), now);
        assert_eq!(seconds(now, pace.reserve(0, now)), 3.0);
        assert_eq!(pace.paused_until(now + Duration::from_secs(4)), None);
    }

    #[test]
    fn an_overrun_server_is_asked_ever_slower_and_then_faster_again() {
        let (pace, now) = (Pace::new(None, None), Instant::now());
        let refused = |at: u64| pace.overrun(None, now + Duration::from_millis(at));
        // Those of one moment count once.
        for at in [0, 1, 2, 300, 301, 700] {
            refused(at);
        }
        pace.reserve(0, now);
        assert_eq!(seconds(now, pace.reserve(0, now)), 0.04);
        for _ in 0..40 {
            pace.answered();
        }
        let later = now + Duration::from_secs(1);
        pace.reserve(0, later);
        assert_eq!(pace.reserve(0, later), later);
    }
}
