//! A headless Chromium, spoken to over a pipe in its debugging protocol.
//!
//! A client crate would bring the whole protocol as generated code, minutes of building for the dozen calls that are made here.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

/// The longest that one answer of the browser is waited for.
const PATIENCE: Duration = Duration::from_secs(120);

/// One page of a browser of its own.
pub(crate) struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    next: u64,
    session: Option<String>,
    /// What the page did and was not asked for: console lines, exceptions, requests, dialogs.
    events: VecDeque<Value>,
    _profile: tempfile::TempDir,
}

/// The browser to use: `RAGEVAL_CHROMIUM`, else the first that is found under one of its names.
fn program() -> Option<std::path::PathBuf> {
    if let Some(named) = std::env::var_os("RAGEVAL_CHROMIUM").filter(|named| !named.is_empty()) {
        return Some(named.into());
    }
    let folders: Vec<_> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|path| path.is_file())
}

/// A browser; `None`, which is told, where there is none and none is required.
pub(crate) fn start() -> Option<Browser> {
    let is_required = std::env::var_os("RAGEVAL_REQUIRE_CHROMIUM").is_some_and(|value| value == "1")
        && std::env::var_os("CI").is_some_and(|value| value != "false" && value != "0");
    match program() {
        Some(program) => Some(Browser::start(&program)),
        None if is_required => panic!("no Chromium is found, and RAGEVAL_REQUIRE_CHROMIUM=1 says that there is one"),
        None => {
            eprintln!(
                "skipped: no Chromium is found as chromium, chromium-browser, google-chrome or by RAGEVAL_CHROMIUM"
            );
            None
        }
    }
}

impl Browser {
    fn start(program: &Path) -> Self {
        let profile = tempfile::tempdir().expect("a folder for the profile");
        // The protocol speaks on the file descriptors 3 and 4: those of the child's standard input and output.
        let mut child = Command::new("sh")
            .args(["-c", r#"exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null"#])
            .arg(program)
            .args(["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run"])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--hide-scrollbars",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        let to = child.stdin.take().expect("a pipe");
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, from) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while out.read_until(0, &mut message).is_ok_and(|read| read > 0) {
                message.pop();
                let Ok(value) = serde_json::from_slice(&message) else { break };
                if sender.send(value).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let events = VecDeque::new();
        let mut browser = Self { child, to, from, next: 0, session: None, events, _profile: profile };
        let target = browser.call("Target.createTarget", &json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", &attach);
        browser.session = Some(attached["sessionId"].as_str().expect("a session").to_owned());
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    fn message(&mut self, until: Instant, what: &str) -> Value {
        let left = until.saturating_duration_since(Instant::now());
        self.from.recv_timeout(left).unwrap_or_else(|error| panic!("waiting for {what}: {error}"))
    }

    /// One call, and its result.
    pub(crate) fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.next += 1;
        let mut call = json!({"id": self.next, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            call["sessionId"] = session.as_str().into();
        }
        let mut text = call.to_string().into_bytes();
        text.push(0);
        self.to.write_all(&text).expect("the browser listens");
        let until = Instant::now() + PATIENCE;
        loop {
            let mut message = self.message(until, method);
            if message["id"] == self.next {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].take();
            }
            if !message["method"].is_null() {
                self.events.push_back(message);
            }
        }
    }

    /// Opens a file and waits until it is loaded; gives the time that took.
    pub(crate) fn open(&mut self, file: &Path, hash: &str) -> Duration {
        let begin = Instant::now();
        // Another page first: a change of the hash alone loads nothing.
        self.call("Page.navigate", &json!({"url": "about:blank"}));
        self.events.clear();
        self.call("Page.navigate", &json!({"url": format!("file://{}{hash}", file.display())}));
        let until = begin + PATIENCE;
        while self.evaluate("document.readyState + location.protocol") != "completefile:" {
            assert!(Instant::now() < until, "the page does not load");
        }
        begin.elapsed()
    }

    /// What an expression gives, promises awaited.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let asked = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut result = self.call("Runtime.evaluate", &asked);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {}", result["exceptionDetails"]);
        result["result"]["value"].take()
    }

    /// Evaluates until the expression holds.
    pub(crate) fn wait(&mut self, condition: &str) {
        let until = Instant::now() + PATIENCE;
        while self.evaluate(condition) != true {
            assert!(Instant::now() < until, "never true: {condition}");
            self.frames();
        }
    }

    /// Lets the page draw twice.
    fn frames(&mut self) {
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    }

    /// Presses a key that types nothing, or types a character.
    pub(crate) fn key(&mut self, key: &str) {
        let mut down = json!({"type": "keyDown", "key": key, "code": key});
        if key.chars().count() == 1 {
            down["text"] = key.into();
        }
        let code = match key {
            "Enter" => 13,
            "Escape" => 27,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            _ => 0,
        };
        if code != 0 {
            down["windowsVirtualKeyCode"] = code.into();
        }
        if key == "Enter" {
            down["text"] = "\r".into();
        }
        self.call("Input.dispatchKeyEvent", &down);
        down["type"] = "keyUp".into();
        self.call("Input.dispatchKeyEvent", &down);
    }

    /// Types a text into what has the focus.
    pub(crate) fn insert(&mut self, text: &str) {
        self.call("Input.insertText", &json!({"text": text}));
    }

    /// Everything that a page that minds its own business does not do: console lines, exceptions, dialogs, requests other than its own file.
    pub(crate) fn misbehaviour(&mut self) -> Vec<String> {
        // What the page has begun is told by then.
        self.frames();
        let told = self.events.iter().filter_map(|event| {
            let parameters = &event["params"];
            match event["method"].as_str()? {
                "Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Page.javascriptDialogOpening" => {
                    Some(event.to_string())
                }
                "Log.entryAdded" => Some(parameters["entry"].to_string()),
                "Network.requestWillBeSent" => {
                    let url = parameters["request"]["url"].as_str().unwrap_or_default();
                    let is_own =
                        parameters["type"] == "Document" && (url.starts_with("file://") || url == "about:blank");
                    (!is_own && !url.starts_with("data:,")).then(|| format!("a request of {url}"))
                }
                _ => None,
            }
        });
        told.collect()
    }

    /// A picture of the window, where `RAGEVAL_SCREENSHOTS` names a folder for them.
    pub(crate) fn picture(&mut self, name: &str) {
        let Some(folder) = std::env::var_os("RAGEVAL_SCREENSHOTS") else { return };
        self.frames();
        let taken = self.call("Page.captureScreenshot", &json!({"format": "png"}));
        let bytes = STANDARD.decode(taken["data"].as_str().expect("a picture")).expect("base64");
        std::fs::write(Path::new(&folder).join(format!("{name}.png")), bytes).expect("the picture is written");
    }

    /// The size of the window, and whether the page is dark.
    pub(crate) fn look(&mut self, width: u32, height: u32, is_dark: bool) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.call("Emulation.setDeviceMetricsOverride", &size);
        let scheme = if is_dark { "dark" } else { "light" };
        self.call(
            "Emulation.setEmulatedMedia",
            &json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]}),
        );
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Killed: it has nothing to keep.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
