//! Brings one request to a hosted model and its reply back, whatever happens on the way.

mod again;
pub(crate) mod key;
mod pace;

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use reqwest::{Client, StatusCode, Url, header::LOCATION};
use serde_json::Value;
use tokio::time::{Instant, sleep_until, timeout};

use self::key::Headers;
pub use again::TRIES;
pub(crate) use pace::Pace;

use crate::{
    judge::reply::strict,
    model::{Ending, Reply},
    system::{
        excerpt::{self, chain, excerpt},
        http::client::{Read, build_client, read_bytes, shown_url},
    },
};

/// Bytes of a reply that are read; a longer one is a fault.
const MAX_REPLY_BYTES: usize = 16 << 20;

/// Tries while nothing has been heard from the server: it may be about to start, but more likely the address is wrong.
const FIRST_TRIES: u32 = 3;

/// Everything that the requests to one hosted model share. No `Debug`: it holds the key.
pub(crate) struct Transport {
    client: Client,
    headers: Headers,
    /// When the next request may be sent.
    pub(crate) pace: Pace,
    timeout: Duration,
    try_timeout: Duration,
    /// Tries that were sent again, by what was wrong with them.
    again: Mutex<BTreeMap<String, u64>>,
    /// Something came back once.
    reached: AtomicBool,
    /// A request was given up without anything having come back from the server, ever.
    unreachable: AtomicBool,
}

/// One request on its way: all that its tries share.
pub(crate) struct Call {
    deadline: Instant,
    seed: [u8; 32],
    tokens: u64,
    tries: u32,
    unanswered: u32,
}

impl Call {
    /// How often it was sent so far.
    pub(crate) fn tries(&self) -> u64 {
        self.tries.into()
    }

    /// About how many tokens it is.
    pub(crate) fn tokens(&self) -> u64 {
        self.tokens
    }

    /// How many tries may have been read without a whole reply: those that were cut off, not those that were refused.
    pub(crate) fn unanswered(&self) -> u64 {
        self.unanswered.into()
    }
}

/// What a server made of a request.
pub(crate) enum Answered {
    /// A status of success with a JSON value.
    Value(Value),
    /// A status that no repetition would change.
    Refused(Refused),
}

/// A request that the server refused for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) status: StatusCode,
    /// The body, without the key.
    pub(crate) body: String,
}

impl Refused {
    /// The status and the first 200 characters of the body.
    pub(crate) fn why(&self) -> String {
        let body = excerpt(&self.body, excerpt::REPLY);
        let reason = self.status.canonical_reason().map(|reason| format!(" {reason}")).unwrap_or_default();
        format!("{}{reason}: {}", self.status.as_str(), if body.is_empty() { "no body" } else { &body })
    }
}

/// Why there is no reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// How it ended.
    pub ending: Ending,
    /// What was said, shortened.
    pub why: String,
}

impl Failed {
    /// No reply, for this reason.
    pub fn new(ending: Ending, why: impl Into<String>) -> Self {
        Self { ending, why: why.into() }
    }
}

impl From<Failed> for Reply {
    fn from(failed: Failed) -> Self {
        Self::Failed { ending: failed.ending, why: failed.why }
    }
}

/// What was wrong with one try that may be repeated.
struct Fault {
    /// As it is counted.
    kind: String,
    ending: Ending,
    why: String,
    /// How long the server wants to wait.
    pause: Option<Duration>,
    /// Whether the request was read.
    read: WasRead,
}

/// Whether a try reached its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WasRead {
    /// There was no connection, or the server said that it would not.
    No,
    /// Nobody knows: it was sent, and no whole reply came.
    Perhaps,
}

impl Transport {
    /// `timeout` is the limit for a whole call and `try_timeout` that for one try.
    pub(crate) fn new(
        url: &Url,
        headers: Headers,
        pace: Pace,
        timeout: Duration,
        try_timeout: Duration,
    ) -> Result<Self, String> {
        Ok(Self {
            client: build_client(url)?,
            headers,
            pace,
            timeout,
            try_timeout,
            again: Mutex::default(),
            reached: AtomicBool::new(false),
            unreachable: AtomicBool::new(false),
        })
    }

    /// Why nothing can be asked: the key is missing.
    pub(crate) fn missing_key(&self) -> Option<&str> {
        self.headers.missing()
    }

    /// Starts a call of about so many tokens; `seed` spreads its pauses.
    pub(crate) fn call(&self, seed: [u8; 32], tokens: u64) -> Call {
        // A little before the caller's own limit, so that the reason that is known here is the one that is told.
        let early = (self.timeout / 10).min(Duration::from_millis(500));
        Call { deadline: Instant::now() + (self.timeout - early), seed, tokens, tries: 0, unanswered: 0 }
    }

    /// Waits until a request of about so many tokens may be sent. This is no part of its time limit, since it is ours.
    pub(crate) async fn admit(&self, tokens: u64) {
        let now = Instant::now();
        // A server that wants nothing for longer than anyone waits is not waited for: the call says so at once.
        if self.pace.paused_until(now).is_none_or(|until| until <= now + self.timeout) {
            let at = self.pace.reserve(tokens, now);
            if at > now {
                sleep_until(at).await;
            }
        }
    }

    /// Sends a body until something final comes of it. The key appears in nothing that comes back.
    pub(crate) async fn send(&self, url: &Url, body: &str, call: &mut Call) -> Result<Answered, Failed> {
        let first = call.tries;
        loop {
            let now = Instant::now();
            if let Some(until) = self.pace.paused_until(now).filter(|until| *until >= call.deadline) {
                let wait = (until - now).as_secs_f64();
                let why = format!(
                    "not sent: the server wants no requests for another {wait:.1} s, which is beyond `{}.timeout`",
                    self.headers.whose()
                );
                return Err(Failed::new(Ending::Provider, why));
            }
            call.tries += 1;
            let limit = self.try_timeout.min(call.deadline.saturating_duration_since(now));
            let fault = match timeout(limit, self.once(url, body)).await {
                Ok(Ok(answered)) => {
                    self.reached.store(true, Ordering::Relaxed);
                    self.pace.answered();
                    return Ok(answered);
                }
                Ok(Err(fault)) => fault,
                Err(_) => Fault {
                    kind: "no reply in time".to_owned(),
                    ending: Ending::TimeOut,
                    why: format!(
                        "no reply within {:.1} s; raise `{}.try_timeout` if that is too short",
                        limit.as_secs_f64(),
                        self.headers.whose()
                    ),
                    pause: None,
                    read: WasRead::Perhaps,
                },
            };
            call.unanswered += u32::from(fault.read == WasRead::Perhaps);
            self.wait_after(fault, call, call.tries - first).await?;
        }
    }

    /// Waits before another try, or says why there is none.
    async fn wait_after(&self, fault: Fault, call: &Call, tries: u32) -> Result<(), Failed> {
        let Fault { kind, ending, why, pause, read: _ } = fault;
        let give_up = |rest: String| Err(Failed::new(ending, format!("{why}{rest}")));
        let reached = self.reached.load(Ordering::Relaxed);
        let most = match (reached, self.unreachable.load(Ordering::Relaxed)) {
            (true, _) => TRIES,
            (false, false) => FIRST_TRIES,
            (false, true) => 1,
        };
        if tries >= most {
            if !reached {
                self.unreachable.store(true, Ordering::Relaxed);
            }
            return give_up(if tries == 1 { String::new() } else { format!("; the last of {tries} tries") });
        }
        let now = Instant::now();
        let mut at = now + again::pause(pause, &call.seed, tries);
        if let Some(until) = self.pace.paused_until(now) {
            at = at.max(until);
        }
        if at >= call.deadline {
            let (wait, limit) = ((at - now).as_secs_f64(), self.timeout.as_secs_f64());
            return give_up(format!(
                "; try {tries}, and after a wait of {wait:.1} s no time would be left of `{}.timeout`, {limit} s",
                self.headers.whose()
            ));
        }
        self.pace.again(call.tokens, now);
        *self.again.lock().unwrap_or_else(PoisonError::into_inner).entry(kind).or_default() += 1;
        sleep_until(at).await;
        Ok(())
    }

    /// One try.
    async fn once(&self, url: &Url, body: &str) -> Result<Answered, Fault> {
        let request = self.client.post(url.clone()).headers(self.headers.all()).body(body.to_owned());
        let fault = |kind: &str, ending, why: String| Fault {
            kind: kind.to_owned(),
            ending,
            why: excerpt(&self.headers.hide(&why), excerpt::ERROR),
            pause: None,
            read: WasRead::Perhaps,
        };
        let response = request.send().await.map_err(|error| {
            let (kind, what) =
                if error.is_connect() { ("no connection", "no connection to") } else { ("no reply", "no reply from") };
            let read = if error.is_connect() { WasRead::No } else { WasRead::Perhaps };
            let why = format!("{what} {}: {}", shown_url(url), chain(&error.without_url()));
            Fault { read, ..fault(kind, Ending::Provider, why) }
        })?;
        // Whatever it is: somebody is there.
        self.reached.store(true, Ordering::Relaxed);
        let status = response.status();
        let asked = again::asked_pause(response.headers(), jiff::Timestamp::now());
        let location = response.headers().get(LOCATION).map(|to| String::from_utf8_lossy(to.as_bytes()).into_owned());
        let bytes = match read_bytes(response, MAX_REPLY_BYTES).await {
            Read::Whole(bytes) => bytes,
            // The status of a refusal says more than its broken body.
            Read::TooLong(bytes) | Read::Broken { bytes, .. } if !status.is_success() => bytes,
            Read::TooLong(_) => {
                let body = format!("the reply is longer than {} MiB", MAX_REPLY_BYTES >> 20);
                return Ok(Answered::Refused(Refused { status, body }));
            }
            Read::Broken { bytes, error } => {
                let why = format!("the reply broke off after {} bytes: {}", bytes.len(), chain(&error.without_url()));
                return Err(fault("reply cut", Ending::Provider, why));
            }
        };
        let text = String::from_utf8_lossy(&bytes);
        let refused = |status: StatusCode| {
            let body = match &location {
                Some(to) if status.is_redirection() => format!("redirects to {to}, which is not followed"),
                Some(_) | None => text.clone().into_owned(),
            };
            Refused { status, body: self.headers.hide(&body) }
        };
        let passing = |status: StatusCode| {
            if again::is_overrun(status) {
                self.pace.overrun(asked, Instant::now());
            }
            Fault {
                kind: status.as_u16().to_string(),
                ending: Ending::Provider,
                why: refused(status).why(),
                pause: asked,
                read: WasRead::No,
            }
        };
        if !status.is_success() {
            return if again::is_passing(status) {
                Err(passing(status))
            } else {
                Ok(Answered::Refused(refused(status)))
            };
        }
        if let Err(body) = self.refuse_key(&bytes) {
            return Ok(Answered::Refused(Refused { status, body }));
        }
        let value = strict::read(&text).map_err(|error| {
            let shown = excerpt(&self.headers.hide(&text), excerpt::REPLY);
            fault("reply is no JSON", Ending::Provider, format!("the reply is no JSON ({error}): {shown}"))
        })?;
        match error_within(&value) {
            Some(status) if again::is_passing(status) => Err(passing(status)),
            Some(status) => Ok(Answered::Refused(refused(status))),
            None => Ok(Answered::Value(value)),
        }
    }

    /// The same for a reply that was read.
    pub(crate) fn refuse_key_in(&self, value: &Value) -> Result<(), String> {
        if self.headers.holds_key() { self.refuse_key(value.to_string().as_bytes()) } else { Ok(()) }
    }

    /// Refuses a reply that holds the key, since replies are written down.
    pub(crate) fn refuse_key(&self, bytes: &[u8]) -> Result<(), String> {
        match self.headers.repeated_in(bytes) {
            Some(name) => Err(format!("the reply repeats the value of `{name}`, so it is not kept")),
            None => Ok(()),
        }
    }

    /// The text without the key.
    pub(crate) fn hide(&self, text: &str) -> String {
        self.headers.hide(text)
    }

    /// What was sent again, one line; none where nothing was.
    pub(crate) fn notices(&self) -> Vec<String> {
        let again = self.again.lock().unwrap_or_else(PoisonError::into_inner);
        if again.is_empty() {
            return Vec::new();
        }
        let kinds: Vec<_> = again.iter().map(|(kind, times)| format!("{kind}: {times}")).collect();
        vec![format!(
            "{} requests that were sent again, by what came of a try: {}",
            self.headers.whose(),
            kinds.join(", ")
        )]
    }
}

/// The status of an error that came with a status of success, as gateways send it: `{"error": {"code": 429, ...}}`.
fn error_within(value: &Value) -> Option<StatusCode> {
    let error = value.get("error").filter(|error| !error.is_null())?;
    if ["choices", "content", "data"].iter().any(|name| value.get(*name).is_some_and(Value::is_array)) {
        return None;
    }
    let code = ["code", "status"].iter().find_map(|name| error.get(name)?.as_u64());
    let stated = code.and_then(|code| StatusCode::from_u16(u16::try_from(code).ok()?).ok());
    let named = || match error.get("type").and_then(Value::as_str) {
        Some("overloaded_error" | "rate_limit_error" | "rate_limit_exceeded") => StatusCode::TOO_MANY_REQUESTS,
        Some("api_error" | "server_error") => StatusCode::INTERNAL_SERVER_ERROR,
        Some(_) | None => StatusCode::BAD_REQUEST,
    };
    Some(stated.unwrap_or_else(named))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_error_in_the_clothes_of_a_success_is_seen() {
        let status = |value: Value| error_within(&value).map(|status| status.as_u16());
        assert_eq!(status(json!({"error": {"code": 429, "message": "slow down"}})), Some(429));
        assert_eq!(status(json!({"type": "error", "error": {"type": "overloaded_error"}})), Some(429));
        assert_eq!(status(json!({"error": {"code": "no_such_model"}})), Some(400));
        assert_eq!(status(json!({"error": "no"})), Some(400));
        assert_eq!(status(json!({"error": null, "choices": []})), None);
        assert_eq!(status(json!({"choices": [{}]})), None);
    }
}
