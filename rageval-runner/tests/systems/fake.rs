//! The program under test: the question says what goes wrong.

use std::{
    io::{BufRead, Read, Write, stdin, stdout},
    net::TcpStream,
    process::{Command, ExitCode, Stdio, exit},
    thread::sleep,
    time::Duration,
};

use serde_json::{Value, json};

/// Answers JSON lines until stdin ends.
pub(crate) fn system() -> ExitCode {
    if let Ok(noise) = std::env::var("FAKE_NOISE") {
        say(&noise);
    }
    let mut held = Vec::new();
    for line in stdin().lock().lines() {
        let question: Value = serde_json::from_str(&line.expect("a line")).expect("a question");
        let id = question["id"].as_str().expect("an id").to_owned();
        let query = question["query"].as_str().expect("a query").to_owned();
        let reply = |response: &str| {
            json!({"id": id, "response": response, "contexts": [{"id": "d1", "text": "fee"}]}).to_string()
        };
        let (what, with) = query.split_once(' ').unwrap_or((&query, ""));
        match what {
            "crash" => {
                eprintln!("loading\nindex is gone");
                exit(3);
            }
            "once" => {
                say(&reply("once"));
                exit(0);
            }
            "hang" => sleep(Duration::from_secs(600)),
            "hold" => held.push(reply("held")),
            "ignore" | "silent" => {}
            "garbage" => say("Traceback (most recent call last)"),
            "cut" => say(&reply("cut")[..40]),
            "twice" => {
                say(&reply("one"));
                say(&reply("two"));
            }
            "unknown" => say(r#"{"id": "other", "response": "?"}"#),
            "anonymous" => say(r#"{"response": "?"}"#),
            "error" => say(&json!({"id": id, "error": with}).to_string()),
            "wrong" => say(&json!({"id": id, "response": 7, "contexts": "fee"}).to_string()),
            "flood" => flood(),
            "stderr" => {
                std::io::stderr().write_all("noise\n".repeat(200_000).as_bytes()).expect("stderr");
                say(&reply("quiet"));
            }
            "where" => {
                let folder = std::env::current_dir().expect("a folder");
                say(&reply(&format!("{} {}", folder.display(), std::env::var("FAKE_GREETING").unwrap_or_default())));
            }
            "process" => say(&reply(&std::process::id().to_string())),
            "length" => say(&reply(&query.len().to_string())),
            "spawn" => {
                let own = std::env::current_exe().expect("a path");
                #[expect(
                    clippy::zombie_processes,
                    reason = "it is left running on purpose, for whoever ends this process"
                )]
                Command::new(own).args(["fake-sleeper", with]).stdin(Stdio::null()).spawn().expect("a child");
                say(&reply("spawned"));
            }
            _ => say(&reply(&format!("re: {query}"))),
        }
        // What was held goes out after the next reply.
        if what != "hold" {
            held.drain(..).for_each(|reply| say(&reply));
        }
    }
    ExitCode::SUCCESS
}

/// Holds a connection to this port, and its inherited stdout, until it is killed.
pub(crate) fn sleeper(port: Option<&str>) -> ExitCode {
    let port = port.and_then(|port| port.parse().ok()).expect("a port");
    let mut connection = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    let _ = connection.read(&mut [0]);
    ExitCode::SUCCESS
}

fn say(line: &str) {
    let mut stdout = stdout().lock();
    // A broken pipe means that the test is over.
    if writeln!(stdout, "{line}").and_then(|()| stdout.flush()).is_err() {
        exit(0);
    }
}

fn flood() {
    let chunk = [b'x'; 1 << 16];
    let mut stdout = stdout().lock();
    while stdout.write_all(&chunk).is_ok() {}
    exit(0);
}
