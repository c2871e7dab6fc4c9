//! A small HTTP server on the loopback that answers what is posted to it.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::Arc,
    thread,
};

/// Starts it on a free port and returns `127.0.0.1:PORT`; its threads, one a connection, end with the test binary.
///
/// `answer` gets the body of a request and gives the status and the body of the reply.
pub(crate) fn start(answer: impl Fn(&str) -> (u16, String) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for connection in listener.incoming().map_while(Result::ok) {
            let answer = Arc::clone(&answer);
            thread::spawn(move || serve(connection, &*answer));
        }
    });
    address
}

fn serve(connection: TcpStream, answer: &dyn Fn(&str) -> (u16, String)) {
    let mut reader = BufReader::new(connection);
    while let Some(body) = read(&mut reader) {
        let (status, reply) = answer(&body);
        let head = format!("HTTP/1.1 {status} Said\r\ncontent-length: {}\r\n\r\n", reply.len());
        if reader.get_mut().write_all(format!("{head}{reply}").as_bytes()).is_err() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<String> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim().to_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(stated) = line.strip_prefix("content-length:") {
            length = stated.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    String::from_utf8(body).ok()
}
