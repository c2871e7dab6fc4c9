//! A request as a server on the loopback sees it.

use std::{
    io::{BufRead, BufReader, Read},
    net::TcpStream,
};

/// One request as it came.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// `POST /ask HTTP/1.1`.
    pub(crate) line: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// The next request of a connection; `None` when it ends or is no request.
pub(crate) fn read(reader: &mut BufReader<TcpStream>) -> Option<Seen> {
    let mut seen = Seen::default();
    let mut line = String::new();
    loop {
        line.clear();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let text = line.trim_end();
        match text.split_once(':') {
            _ if text.is_empty() => break,
            _ if seen.line.is_empty() => text.clone_into(&mut seen.line),
            Some((name, value)) => seen.headers.push((name.to_ascii_lowercase(), value.trim().to_owned())),
            None => return None,
        }
    }
    let length = seen.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    seen.body = String::from_utf8(body).ok()?;
    Some(seen)
}
