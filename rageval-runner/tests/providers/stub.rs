//! A model's server on the loopback that can misbehave byte by byte.

use std::{
    io::{BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use serde_json::{Value, json};

pub(crate) use crate::request::Seen;
use crate::request::read;

impl Seen {
    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("a JSON body")
    }
}

#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// A whole reply: status, further headers, body.
    Whole(u16, &'static str, String),
    /// A reply of status 200 that ends in the middle of its body.
    Cut(String),
    /// Nothing, until the other side goes.
    Hang,
}

impl Reply {
    #[expect(clippy::needless_pass_by_value, reason = "callers pass what they have just made")]
    pub(crate) fn ok(body: impl ToString) -> Self {
        Self::Whole(200, "", body.to_string())
    }

    #[expect(clippy::needless_pass_by_value, reason = "callers pass what they have just made")]
    pub(crate) fn status(status: u16, body: impl ToString) -> Self {
        Self::Whole(status, "", body.to_string())
    }

    /// A chat completion that holds this text.
    pub(crate) fn completion(text: &str) -> Self {
        Self::ok(completion(text))
    }
}

/// A chat completion that holds this text.
pub(crate) fn completion(text: &str) -> Value {
    json!({
        "id": "c1", "object": "chat.completion", "model": "judge-2026-01-01",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25},
    })
}

/// A server on a free port of the loopback; its threads end with the test binary.
pub(crate) struct Stub {
    address: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Stub {
    /// Answers by what came and by how many came before.
    pub(crate) fn start(answer: impl Fn(&Seen, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (shared, answer) = (Arc::clone(&seen), Arc::new(answer));
        thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                let (shared, answer) = (Arc::clone(&shared), Arc::clone(&answer));
                thread::spawn(move || serve(connection, &shared, &*answer));
            }
        });
        Self { address, seen }
    }

    /// Gives these replies in order, then the last one for ever.
    pub(crate) fn script(replies: Vec<Reply>) -> Self {
        Self::start(move |_, nth| replies[nth.min(replies.len() - 1)].clone())
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("no panic").clone()
    }
}

/// Takes requests from one connection until a reply ends it.
fn serve(connection: TcpStream, shared: &Mutex<Vec<Seen>>, answer: &dyn Fn(&Seen, usize) -> Reply) {
    // A reply is written in one piece.
    let _ = connection.set_nodelay(true);
    let mut reader = BufReader::new(connection);
    while let Some(request) = read(&mut reader) {
        let nth = {
            let mut seen = shared.lock().expect("no panic");
            seen.push(request.clone());
            seen.len() - 1
        };
        let (bytes, goes_on) = match answer(&request, nth) {
            Reply::Whole(status, headers, body) => {
                let length = body.len();
                let head = format!("HTTP/1.1 {status} Said\r\ncontent-length: {length}\r\n{headers}\r\n");
                (format!("{head}{body}"), true)
            }
            Reply::Cut(body) => {
                let half = body.get(..body.len() / 2).unwrap_or_default();
                (format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{half}", body.len()), false)
            }
            Reply::Hang => {
                let _ = reader.read(&mut [0]);
                return;
            }
        };
        // The client may have gone: that is its right.
        if reader.get_mut().write_all(bytes.as_bytes()).is_err() || !goes_on {
            return;
        }
    }
}
