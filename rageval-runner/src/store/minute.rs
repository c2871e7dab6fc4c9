//! What may be used in a minute, over all processes of one run.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, Write as _},
    path::PathBuf,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use super::slots::{Backoff, try_lock_to_read};

/// How much of a minute's allowance may be used at once after a pause.
const BURST: Duration = Duration::from_secs(5);

/// Limits a minute that hold over all processes which share a file.
///
/// The file holds until when the requests and tokens of all are paid for; it is read and written under a lock of the kernel, which ends
/// with its holder. A file that is cut starts anew.
#[derive(Debug, Clone)]
pub struct MinuteLimit {
    file: PathBuf,
    /// A request's share of a minute.
    request: Duration,
    /// A token's share of a minute.
    token: Duration,
}

impl MinuteLimit {
    /// `None` is no limit; 0 counts as 1. No limit where neither is limited.
    pub fn new(file: PathBuf, requests: Option<usize>, tokens: Option<usize>) -> Option<Self> {
        let share = |limit: Option<usize>| {
            limit.map_or(Duration::ZERO, |limit| Duration::from_secs_f64(60.0 / limit.max(1) as f64))
        };
        (requests.is_some() || tokens.is_some()).then(|| Self { file, request: share(requests), token: share(tokens) })
    }

    /// Waits until one request of so many tokens may be sent.
    pub async fn admit(&self, tokens: u64) -> io::Result<()> {
        let mut pause = Backoff::default();
        let wait = loop {
            match try_lock_to_read(&self.file)? {
                Some(file) => break self.reserve(file, tokens, now())?,
                None => pause.wait().await,
            }
        };
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        Ok(())
    }

    /// Takes a place; returns how long until then. Times are since 1970.
    fn reserve(&self, mut file: File, tokens: u64, now: Duration) -> io::Result<Duration> {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        // What is paid for later than any limit allows was written by a clock that has been set back since.
        let read = |bytes: &[u8]| {
            let until = Duration::from_micros(u64::from_le_bytes(bytes.try_into().ok()?));
            (until < now + Duration::from_secs(24 * 3600)).then_some(until)
        };
        let (requests, used) = match bytes.len() {
            16 => (read(&bytes[..8]).unwrap_or_default(), read(&bytes[8..]).unwrap_or_default()),
            _ => (Duration::ZERO, Duration::ZERO),
        };
        let at = now.max(requests.saturating_sub(BURST)).max(used.saturating_sub(BURST));
        let tokens = u32::try_from(tokens).unwrap_or(u32::MAX);
        let cost = self.token.saturating_mul(tokens).min(Duration::from_secs(3600));
        let paid = [requests.max(at) + self.request, used.max(at) + cost];
        let mut written = Vec::with_capacity(16);
        for until in paid {
            written.extend(u64::try_from(until.as_micros()).unwrap_or(u64::MAX).to_le_bytes());
        }
        file.rewind()?;
        file.write_all(&written)?;
        Ok(at - now)
    }
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(limit: &MinuteLimit, tokens: u64, now: Duration) -> f64 {
        let file = try_lock_to_read(&limit.file).expect("a file").expect("nobody else");
        limit.reserve(file, tokens, now).expect("reserved").as_secs_f64()
    }

    #[test]
    fn processes_that_share_a_file_share_its_minute() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let limit = || MinuteLimit::new(folder.path().join("minute"), Some(60), Some(6000)).expect("a limit");
        let now = Duration::from_secs(1_000_000);
        let (one, other) = (limit(), limit());
        assert_eq!([wait(&one, 0, now), wait(&other, 0, now)], [0.0, 0.0]);
        for _ in 0..4 {
            wait(&one, 0, now);
        }
        assert_eq!(wait(&other, 0, now), 1.0);
        assert_eq!(wait(&one, 2000, now + Duration::from_secs(60)), 0.0);
        assert_eq!(wait(&other, 0, now + Duration::from_secs(60)), 15.0);
    }

    #[test]
    fn a_cut_file_starts_anew() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let limit = MinuteLimit::new(folder.path().join("minute"), Some(1), None).expect("a limit");
        let now = Duration::from_secs(1_000_000);
        wait(&limit, 0, now);
        assert!(wait(&limit, 0, now) > 50.0);
        std::fs::write(&limit.file, [1, 2, 3]).expect("written");
        assert_eq!(wait(&limit, 0, now), 0.0);
        assert!(MinuteLimit::new(folder.path().join("minute"), None, None).is_none());
    }
}
