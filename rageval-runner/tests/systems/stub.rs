//! An HTTP endpoint on the loopback that can misbehave byte by byte.

use std::{
    io::{BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex, mpsc},
    thread,
};

use crate::request::{Seen, read};

pub(crate) enum Reply {
    /// These bytes, then the end of the connection.
    Bytes(Vec<u8>),
    /// Nothing; the sender is told when the other side goes.
    Hang(mpsc::Sender<()>),
}

impl Reply {
    /// A whole reply.
    pub(crate) fn new(status: &str, headers: &str, body: &str) -> Self {
        let length = body.len();
        Self::Bytes(
            format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}")
                .into_bytes(),
        )
    }

    pub(crate) fn ok(body: &str) -> Self {
        Self::new("200 OK", "", body)
    }
}

/// An endpoint on a free port of the loopback; its thread ends with the test binary.
pub(crate) struct Stub {
    pub(crate) address: String,
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

    pub(crate) fn url(&self) -> String {
        format!("http://{}/ask", self.address)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("no panic").clone()
    }
}

fn serve(connection: TcpStream, shared: &Mutex<Vec<Seen>>, answer: &dyn Fn(&Seen, usize) -> Reply) {
    let mut reader = BufReader::new(connection);
    let Some(request) = read(&mut reader) else { return };
    let nth = {
        let mut seen = shared.lock().expect("no panic");
        seen.push(request.clone());
        seen.len() - 1
    };
    match answer(&request, nth) {
        Reply::Bytes(bytes) => {
            let connection = reader.get_mut();
            // The client may have gone: that is its right.
            let _ = connection.write_all(&bytes).and_then(|()| connection.flush());
        }
        Reply::Hang(gone) => {
            let _ = reader.read(&mut [0]);
            let _ = gone.send(());
        }
    }
}
