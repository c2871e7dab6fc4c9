//! System kind `http`: an endpoint that takes and gives JSON.

mod body;
pub(crate) mod client;
mod reply;
pub(crate) mod secret;

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use reqwest::{
    Client, Method, Response, StatusCode, Url,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER},
};
use tokio::time::{Instant, sleep};

use self::{
    body::BodyTemplate,
    client::{Read, build_client, read_bytes, retry_after, shown_url},
    reply::ReplyReader,
    secret::Secrets,
};
use super::{
    Asked, BoxFuture, Latency, Question, RagSystem, SetupError, cause,
    excerpt::{self, chain, excerpt},
    spec::{HttpMethod, HttpSpec},
};
use crate::model::{Answer, CaseId, GoldenSet, Unmeasured};

/// Bytes of a reply that are read; a longer one is a fault.
pub const MAX_REPLY_BYTES: usize = 16 << 20;

/// Bytes of a reply with an error status that are read: enough for what is shown.
const MAX_ERROR_BYTES: usize = 64 << 10;

/// How often a question is sent again after one of [`RETRIED`].
pub const RETRIES: u32 = 2;

/// The statuses after which a question is sent again: each says that this try was not answered, and may be repeated. After anything else
/// (a 500, a broken connection) the endpoint may have worked on the question, and a second try would hide a fault of the system.
const RETRIED: [StatusCode; 4] = [
    StatusCode::TOO_MANY_REQUESTS,
    StatusCode::BAD_GATEWAY,
    StatusCode::SERVICE_UNAVAILABLE,
    StatusCode::GATEWAY_TIMEOUT,
];

/// The wait before the first repetition where the endpoint names none; doubled each time.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// Headers that the client sets itself.
const OWN_HEADERS: [&str; 4] = ["connection", "content-length", "host", "transfer-encoding"];

/// An endpoint that takes and gives JSON.
///
/// No `Debug`: it holds the values of secret headers.
#[expect(missing_debug_implementations, reason = "it holds the values of secret headers")]
pub struct HttpSystem {
    client: Client,
    method: Method,
    url: Url,
    headers: HeaderMap,
    secrets: Secrets,
    body: BodyTemplate,
    reply: ReplyReader,
    timeout: Duration,
    /// Tries that were repeated.
    repeated: AtomicU64,
}

impl HttpSystem {
    /// Checks the description and reads the variables that its headers name. Nothing is sent.
    ///
    /// `timeout` is the limit that the caller sets on one question: no pause before a repetition goes beyond it. A host on this machine
    /// is asked directly; for any other the proxies that `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` name are used.
    pub fn new(spec: &HttpSpec, timeout: Duration, env: &dyn Fn(&str) -> Option<String>) -> Result<Self, SetupError> {
        let mut problems = Vec::new();
        let mut note = |problem: String| problems.push(problem);
        let url = read_url(&spec.url).map_err(&mut note).ok();
        let (headers, secrets) = read_headers(spec, env, &mut note);
        let body = BodyTemplate::new(&spec.body).map_err(|found| found.into_iter().for_each(&mut note)).ok();
        let client =
            url.as_ref().and_then(|url| build_client(url).map_err(|why| note(format!("system.url: {why}"))).ok());
        match (url, body, client) {
            (Some(url), Some(body), Some(client)) if problems.is_empty() => {
                let method = match spec.method {
                    HttpMethod::Post => Method::POST,
                    HttpMethod::Put => Method::PUT,
                    HttpMethod::Patch => Method::PATCH,
                };
                Ok(Self {
                    client,
                    method,
                    url,
                    headers,
                    secrets,
                    body,
                    reply: ReplyReader::new(spec),
                    timeout,
                    repeated: AtomicU64::new(0),
                })
            }
            _ => Err(SetupError { problems }),
        }
    }

    async fn exchange(&self, question: &Question) -> Result<Asked, Unmeasured> {
        let body = self.body.render(question).map_err(|why| Unmeasured::new(cause::ERROR, why))?;
        let body = serde_json::to_vec(&body).map_err(|error| Unmeasured::new(cause::ERROR, error.to_string()))?;
        let started = Instant::now();
        let mut tries = 1;
        loop {
            let sent = Instant::now();
            let request = self.client.request(self.method.clone(), self.url.clone());
            let response = request
                .headers(self.headers.clone())
                .body(body.clone())
                .send()
                .await
                .map_err(|error| self.transport_fault(error))?;
            let status = response.status();
            if status.is_success() {
                let answer = self.read_reply(response).await?;
                // The system's own time: pauses before a repetition are not its work.
                let latency = Latency::Stated(sent.elapsed().as_secs_f64() * 1000.0);
                return Ok(Asked { answer, latency });
            }
            if !RETRIED.contains(&status) {
                return Err(self.status_fault(response, "").await);
            }
            if tries > RETRIES {
                return Err(self.status_fault(response, &format!(", the last of {tries} tries")).await);
            }
            let pause = pause(response.headers(), &question.case_id, tries);
            if started.elapsed() + pause >= self.timeout {
                let wait = format!(", and a wait of {:.1} s would pass the time limit", pause.as_secs_f64());
                return Err(self.status_fault(response, &wait).await);
            }
            drop(response);
            sleep(pause).await;
            self.repeated.fetch_add(1, Ordering::Relaxed);
            tries += 1;
        }
    }

    async fn read_reply(&self, response: Response) -> Result<Answer, Unmeasured> {
        let invalid = |why: String| Unmeasured::new(cause::INVALID, self.hide(&why));
        let bytes = match read_bytes(response, MAX_REPLY_BYTES).await {
            Read::Whole(bytes) => bytes,
            Read::TooLong(_) => {
                return Err(invalid(format!("the reply is longer than {} MiB", MAX_REPLY_BYTES >> 20)));
            }
            Read::Broken { error, .. } if error.is_timeout() => return Err(self.transport_fault(error)),
            Read::Broken { bytes, error } => {
                let why = chain(&error.without_url());
                return Err(invalid(format!("the reply broke off after {} bytes: {}", bytes.len(), self.said(&why))));
            }
        };
        if let Some(name) = self.secrets.repeated_in(&bytes) {
            return Err(invalid(format!(
                "the reply repeats the value of `${{{name}}}`, so it is not kept; \
                 if that value is no secret, write it into the header itself"
            )));
        }
        self.reply.read(&bytes).map_err(|why| {
            let text = String::from_utf8_lossy(&bytes);
            invalid(format!("{why}; the reply: {}", shown_body(&self.said(&text))))
        })
    }

    async fn status_fault(&self, response: Response, tried: &str) -> Unmeasured {
        let status = response.status();
        let to = response.headers().get(LOCATION).map(|to| String::from_utf8_lossy(to.as_bytes()).into_owned());
        if let (true, Some(to)) = (status.is_redirection(), to) {
            let to = self.said(&to);
            let why = format!("{status}: redirects to {to}, which is not followed; put the final address into `url`");
            return Unmeasured::new(cause::ERROR, self.hide(&why));
        }
        let bytes = match read_bytes(response, MAX_ERROR_BYTES).await {
            Read::Whole(bytes) | Read::TooLong(bytes) | Read::Broken { bytes, .. } => bytes,
        };
        let body = self.said(&String::from_utf8_lossy(&bytes));
        Unmeasured::new(cause::ERROR, self.hide(&format!("{status}{tried}: {}", shown_body(&body))))
    }

    fn transport_fault(&self, error: reqwest::Error) -> Unmeasured {
        let cause = if error.is_timeout() { cause::TIME_OUT } else { cause::ERROR };
        let what = if error.is_connect() { "no connection to" } else { "no reply from" };
        let why = format!("{what} {}: {}", shown_url(&self.url), self.secrets.hide(&chain(&error.without_url())));
        Unmeasured::new(cause, excerpt(&self.hide(&why), excerpt::ERROR))
    }

    /// What the endpoint said, without secrets, shortened. Secrets go first: cutting could leave a part of one.
    fn said(&self, text: &str) -> String {
        excerpt(&self.secrets.hide(text), excerpt::REPLY)
    }

    fn hide(&self, why: &str) -> String {
        self.secrets.hide(why)
    }
}

impl RagSystem for HttpSystem {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Asked, Unmeasured>> {
        Box::pin(self.exchange(question))
    }

    fn notices(&self, _set: &GoldenSet) -> Vec<String> {
        match self.repeated.load(Ordering::Relaxed) {
            0 => Vec::new(),
            times => {
                vec![format!(
                    "questions that the endpoint refused with 429, 502, 503 or 504 and that were sent again: {times}"
                )]
            }
        }
    }
}

fn read_url(text: &str) -> Result<Url, String> {
    for (mark, place) in
        [("{{", "a template can stand in `body` only"), ("${", "a variable can stand in `headers` only")]
    {
        if text.contains(mark) {
            return Err(format!("system.url: `{mark}` in an address is sent as it stands; {place}"));
        }
    }
    let url = Url::parse(text).map_err(|error| format!("system.url: `{text}` is no address: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(format!("system.url: `{text}` must start with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("system.url: no user or password in an address; send a header such as \
                    `authorization: \"Basic ${RAG_BASIC}\"`"
            .to_owned());
    }
    Ok(url)
}

fn read_headers(
    spec: &HttpSpec,
    env: &dyn Fn(&str) -> Option<String>,
    note: &mut dyn FnMut(String),
) -> (HeaderMap, Secrets) {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    let mut secrets = Secrets::default();
    for (key, template) in &spec.headers {
        let place = format!("system.headers.{key}");
        let lookup = |name: &str| env(name).filter(|value| !value.trim().is_empty());
        for name in template.variables() {
            match lookup(name) {
                Some(value) => secrets.add(name, &value),
                None => note(format!("{place}: the variable {name} of the environment is missing or empty")),
            }
        }
        let Ok(expanded) = template.expand(lookup) else { continue };
        if OWN_HEADERS.contains(&key.as_str()) {
            note(format!("{place}: this header is set by the client itself"));
            continue;
        }
        let Ok(name) = HeaderName::try_from(key) else {
            note(format!("{place}: this is no name of a header"));
            continue;
        };
        match HeaderValue::from_bytes(expanded.as_bytes()) {
            Ok(mut value) => {
                value.set_sensitive(template.variables().next().is_some());
                headers.insert(name, value);
            }
            // The value itself is not shown: it may be the secret.
            Err(_) => note(format!(
                "{place}: the value holds a control character, perhaps a line end at the end of a variable"
            )),
        }
    }
    (headers, secrets)
}

fn shown_body(shown: &str) -> &str {
    if shown.is_empty() { "no body" } else { shown }
}

/// How long to wait: what `Retry-After` says, else twice as long each time. Up to half as much again by the case's id, so that questions
/// that were refused together do not come back together.
fn pause(headers: &HeaderMap, case: &CaseId, tries: u32) -> Duration {
    let own = FIRST_PAUSE * 2_u32.saturating_pow(tries - 1);
    let asked = headers.get(RETRY_AFTER).and_then(|value| retry_after(value.to_str().ok()?, jiff::Timestamp::now()));
    let spread = blake3::hash(case.as_str().as_bytes()).as_bytes()[0];
    asked.unwrap_or(own) + own.mul_f64(f64::from(spread) / 510.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::system::spec::{HeaderTemplate, JsonPointer};

    fn spec(url: &str, headers: &[(&str, &str)]) -> HttpSpec {
        let headers = headers
            .iter()
            .map(|(key, value)| ((*key).to_owned(), HeaderTemplate::parse(value).expect("a valid header")));
        HttpSpec {
            url: url.to_owned(),
            method: HttpMethod::Post,
            headers: headers.collect(),
            body: json!({"question": "{{ query }}"}),
            answer: JsonPointer::new("/answer").expect("a pointer"),
            contexts: None,
            refused: None,
            usage: None,
            cost: None,
            model: None,
        }
    }

    fn problems(spec: &HttpSpec, env: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
        HttpSystem::new(spec, Duration::from_secs(1), env).err().map(|error| error.problems).unwrap_or_default()
    }

    #[test]
    fn every_problem_of_the_description_comes_at_once() {
        let mut spec = spec(
            "ftp://host/ask",
            &[
                ("authorization", "Bearer ${TOKEN}"),
                ("x-tenant", "${BLANK} ${OTHER}"),
                ("host", "other"),
                ("x-broken", "${BROKEN}"),
            ],
        );
        spec.body = json!({"q": "{{ querry }}"});
        let env = |name: &str| match name {
            "BLANK" => Some(" ".to_owned()),
            "BROKEN" => Some("sk-123\n".to_owned()),
            _ => None,
        };
        let expected = [
            "system.url: `ftp://host/ask` must start with http:// or https://",
            "system.headers.authorization: the variable TOKEN of the environment is missing or empty",
            "system.headers.x-tenant: the variable BLANK of the environment is missing or empty",
            "system.headers.x-tenant: the variable OTHER of the environment is missing or empty",
            "system.headers.host: this header is set by the client itself",
            "system.headers.x-broken: the value holds a control character, perhaps a line end at the end of a variable",
            "system.body/q: unknown name `querry`; did you mean `query`?",
        ];
        assert_eq!(problems(&spec, &env), expected);
    }

    #[test]
    fn an_address_that_would_be_sent_otherwise_than_meant_is_refused() {
        for url in ["http://host/{{ query }}", "http://host/?key=${KEY}", "http://me:pw@host/", "host/ask", "http://"] {
            let found = problems(&spec(url, &[]), &|_| None);
            assert_eq!(found.len(), 1, "{url}: {found:?}");
            assert!(!found[0].contains("pw@"), "{found:?}");
        }
        assert_eq!(problems(&spec("https://host/ask?v=1", &[]), &|_| None), Vec::<String>::new());
    }
}
