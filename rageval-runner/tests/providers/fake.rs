//! The program that judges, as the command judge starts it.

use std::{
    io::{BufRead as _, Write as _},
    process::ExitCode,
};

use serde_json::{Value, json};

/// Reads requests from stdin and does what stands in brackets in their first sentence, as in `[text: {"n": 1}]`.
pub(crate) fn judge() -> ExitCode {
    let mut stdout = std::io::stdout();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let request: Value = serde_json::from_str(&line).expect("a request");
        let sentences = request["fields"][1]["shown"].to_string();
        let id = &request["id"];
        let reply = if sentences.contains("[error]") {
            json!({"id": id, "error": "out of memory"})
        } else if sentences.contains("[text]") {
            json!({"id": id, "text": "Here it is: {\"n\": 2}"})
        } else if sentences.contains("[crash]") {
            return ExitCode::from(7);
        } else if sentences.contains("[hang]") {
            std::thread::sleep(std::time::Duration::from_secs(60));
            continue;
        } else {
            let seen: Vec<&String> = request.as_object().expect("an object").keys().collect();
            json!({"id": id, "value": {"keys": seen, "name": request["name"], "schema": request["schema"]["type"]}})
        };
        if writeln!(stdout, "{reply}").and_then(|()| stdout.flush()).is_err() {
            break;
        }
    }
    ExitCode::SUCCESS
}
