//! Which tries are sent again, and after how long.

use std::time::Duration;

use reqwest::{StatusCode, header::HeaderMap};

use crate::system::http::client::retry_after;

/// Tries of one request, the first one included.
pub const TRIES: u32 = 6;

/// The pause before the second try where the server names none; doubled each time.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// The longest pause that is not the server's.
const LONGEST_PAUSE: Duration = Duration::from_secs(16);

/// Whether a status says that the same request may do better later.
pub(super) fn is_passing(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 409 | 429) || status.is_server_error() && !matches!(status.as_u16(), 501 | 505)
}

/// Whether a status says that there are too many requests.
pub(super) fn is_overrun(status: StatusCode) -> bool {
    matches!(status.as_u16(), 429 | 529)
}

/// How long the server asks to wait: `retry-after-ms`, else `Retry-After` in seconds or as a date.
pub(super) fn asked_pause(headers: &HeaderMap, now: jiff::Timestamp) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let milliseconds = text("retry-after-ms").and_then(|text| text.trim().parse::<f64>().ok());
    let precise = milliseconds.and_then(|ms| Duration::try_from_secs_f64(ms / 1000.0).ok());
    precise.or_else(|| {
        let text = text("retry-after")?;
        // Some servers give fractions of a second, which HTTP does not know.
        let fraction = || text.trim().parse::<f64>().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
        retry_after(text, now).or_else(fraction)
    })
}

/// The pause after so many tries: the server's where it names one, and in any case our own, which grows and is spread over a half to
/// the whole of itself by the request's seed, so that requests that failed together do not come back together.
pub(super) fn pause(asked: Option<Duration>, seed: &[u8; 32], tries: u32) -> Duration {
    let own = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(tries.saturating_sub(1))).min(LONGEST_PAUSE);
    let spread = f64::from(seed[tries as usize % seed.len()]) / 255.0;
    match asked {
        // Just after the time that was named, all come back at once otherwise.
        Some(asked) => asked + FIRST_PAUSE.mul_f64(spread / 2.0),
        None => own.mul_f64(0.5 + spread / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_that_pass_are_told_from_those_that_stay() {
        let passing = |status: u16| is_passing(StatusCode::from_u16(status).expect("a status"));
        for status in [408, 409, 429, 500, 502, 503, 504, 520, 529] {
            assert!(passing(status), "{status}");
        }
        for status in [200, 301, 400, 401, 402, 403, 404, 413, 422, 501, 505] {
            assert!(!passing(status), "{status}");
        }
    }

    #[test]
    fn a_server_names_its_pause_in_any_of_its_ways() {
        let now: jiff::Timestamp = "2026-03-01T12:00:00Z".parse().expect("a time");
        let pause = |pairs: &[(&'static str, &'static str)]| {
            let headers = pairs.iter().map(|(name, value)| {
                (reqwest::header::HeaderName::from_static(name), reqwest::header::HeaderValue::from_static(value))
            });
            asked_pause(&headers.collect(), now).map(|pause| pause.as_millis())
        };
        assert_eq!(pause(&[("retry-after", "7")]), Some(7000));
        assert_eq!(pause(&[("retry-after", "0.25")]), Some(250));
        assert_eq!(pause(&[("retry-after", "Sun, 01 Mar 2026 12:00:05 GMT")]), Some(5000));
        assert_eq!(pause(&[("retry-after-ms", "120"), ("retry-after", "9")]), Some(120));
        assert_eq!(pause(&[("retry-after-ms", "soon"), ("retry-after", "9")]), Some(9000));
        assert_eq!(pause(&[("retry-after", "-1")]), None);
        assert_eq!(pause(&[("retry-after", "soon")]), None);
        assert_eq!(pause(&[]), None);
    }

    #[test]
    fn pauses_grow_are_spread_and_repeat_exactly() {
        let (low, high) = ([0; 32], [255; 32]);
        assert_eq!(pause(None, &low, 1).as_millis(), 250);
        assert_eq!(pause(None, &high, 1).as_millis(), 500);
        assert_eq!(pause(None, &high, 5).as_millis(), 8000);
        assert_eq!(pause(None, &high, 40).as_millis(), 16000);
        assert_eq!(pause(Some(Duration::from_secs(2)), &low, 3).as_millis(), 2000);
        assert_eq!(pause(Some(Duration::from_secs(2)), &high, 3).as_millis(), 2250);
    }
}
