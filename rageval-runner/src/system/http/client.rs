//! The client that HTTP systems and hosted judges are asked with.

use std::{net::IpAddr, time::Duration};

use reqwest::{Client, Response, Url, redirect};

use crate::system::excerpt::chain;

/// Idle connections are dropped before the usual servers do so, since a question sent into a closing connection is lost.
const IDLE: Duration = Duration::from_secs(1);

/// A client that sends each request exactly once, and nowhere else than it was told to.
///
/// A host on this machine is asked directly; for any other the proxies that the environment names are used.
pub(crate) fn build_client(url: &Url) -> Result<Client, String> {
    // An error means that the process has a provider already, which then is used.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .user_agent(concat!("rageval/", env!("CARGO_PKG_VERSION")))
        // Another host must not get the headers, and a POST must not become a GET.
        .redirect(redirect::Policy::none())
        // Nobody is ever asked twice behind our back.
        .retry(reqwest::retry::never())
        .pool_idle_timeout(IDLE);
    if is_loopback(url) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| format!("no HTTP client: {}", chain(&error.without_url())))
}

/// Whether the host is this machine.
fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.ends_with(".localhost") || bare.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

/// The address without what may be secret in it.
pub(crate) fn shown_url(url: &Url) -> String {
    let mut shown = url.clone();
    shown.set_query(None);
    shown.set_fragment(None);
    shown.to_string()
}

/// Seconds, or a date as HTTP writes it.
pub(crate) fn retry_after(text: &str, now: jiff::Timestamp) -> Option<Duration> {
    if let Ok(seconds) = text.trim().parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let at = jiff::fmt::rfc2822::parse(text.trim()).ok()?.timestamp();
    Some(Duration::try_from(at.duration_since(now)).unwrap_or_default())
}

/// What came of a body.
pub(crate) enum Read {
    /// All of it.
    Whole(Vec<u8>),
    /// The first bytes of one that is longer than wanted.
    TooLong(Vec<u8>),
    /// It broke off.
    Broken { bytes: Vec<u8>, error: reqwest::Error },
}

/// Reads a body of at most `max` bytes.
pub(crate) async fn read_bytes(mut response: Response, max: usize) -> Read {
    let mut bytes = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if bytes.len() + chunk.len() > max => {
                bytes.extend_from_slice(&chunk[..max - bytes.len()]);
                return Read::TooLong(bytes);
            }
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) => return Read::Whole(bytes),
            Err(error) => return Read::Broken { bytes, error },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_on_this_machine_are_known() {
        let loopback = |url: &str| is_loopback(&Url::parse(url).expect("an address"));
        for url in [
            "http://localhost:1/",
            "http://127.0.0.1/",
            "http://127.9.9.9/",
            "http://[::1]:80/",
            "http://rag.localhost/",
        ] {
            assert!(loopback(url), "{url}");
        }
        for url in ["http://localhost.example/", "http://10.0.0.1/", "http://128.0.0.1/"] {
            assert!(!loopback(url), "{url}");
        }
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now: jiff::Timestamp = "2026-03-01T12:00:00Z".parse().expect("a time");
        assert_eq!(retry_after("7", now), Some(Duration::from_secs(7)));
        assert_eq!(retry_after("Sun, 01 Mar 2026 12:00:05 GMT", now), Some(Duration::from_secs(5)));
        assert_eq!(retry_after("Sun, 01 Mar 2026 11:00:00 GMT", now), Some(Duration::ZERO));
        assert_eq!(retry_after("soon", now), None);
    }
}
