//! A system behind an address on the loopback that says which questions came, and can be made to wait with an answer.

use std::{
    path::Path,
    sync::{Arc, Condvar, Mutex},
    thread,
    time::{Duration, Instant},
};

use crate::{server, write};

/// Nothing that a test waits for takes longer.
pub(crate) const LONG: Duration = Duration::from_secs(60);

#[derive(Default)]
struct Shared {
    /// The questions that came, and the one whose answer waits.
    state: Mutex<(Vec<String>, Option<String>)>,
    changed: Condvar,
}

/// An endpoint on a free port; its threads end with the test binary.
pub(crate) struct Endpoint {
    address: String,
    shared: Arc<Shared>,
}

impl Endpoint {
    pub(crate) fn start() -> Self {
        let shared = Arc::<Shared>::default();
        let of_server = Arc::clone(&shared);
        let address = server::start(move |body| reply(body, &of_server));
        Self { address, shared }
    }

    /// Writes a policy that asks it about three cases.
    pub(crate) fn project(&self, folder: &Path, rest: &str) {
        let policy = format!(
            "version: 1\nsystem:\n  kind: http\n  generator: none-code\n  url: http://{}/ask\n  body: {{question: \"{{{{ query }}}}\"}}\n  \
             answer: /answer\n  contexts: {{each: /sources, id: /id, text: /text}}\n{rest}",
            self.address
        );
        write(folder, "thresholds.yaml", &policy);
        std::fs::create_dir_all(folder.join("cases")).expect("made");
        let cases: String = ["a", "b", "c"]
            .iter()
            .map(|id| format!("- {{id: {id}, query: ask-{id}, relevant_doc_ids: [d]}}\n"))
            .collect();
        write(&folder.join("cases"), "all.yaml", &cases);
    }

    /// Lets the answer to this question wait.
    pub(crate) fn hold(&self, question: &str) {
        self.shared.state.lock().expect("no panic").1 = Some(question.to_owned());
    }

    /// Lets every answer go.
    pub(crate) fn release(&self) {
        self.shared.state.lock().expect("no panic").1 = None;
        self.shared.changed.notify_all();
    }

    /// The questions since this was asked last, sorted.
    pub(crate) fn asked(&self) -> Vec<String> {
        let mut asked = std::mem::take(&mut self.shared.state.lock().expect("no panic").0);
        asked.sort();
        asked
    }

    /// Waits until so many questions came.
    pub(crate) fn wait_for(&self, count: usize) {
        let state = self.shared.state.lock().expect("no panic");
        let few = |state: &mut (Vec<String>, Option<String>)| state.0.len() < count;
        let (_state, timed) = self.shared.changed.wait_timeout_while(state, LONG, few).expect("no panic");
        assert!(!timed.timed_out(), "{count} questions never came");
    }
}

/// Waits until something holds; each look takes a moment of its own.
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < LONG, "{what}: never");
        thread::park_timeout(Duration::from_millis(20));
    }
}

fn reply(body: &str, shared: &Shared) -> (u16, String) {
    let request: serde_json::Value = serde_json::from_str(body).expect("a JSON body");
    let question = request["question"].as_str().expect("a question").to_owned();
    let mut state = shared.state.lock().expect("no panic");
    state.0.push(question.clone());
    shared.changed.notify_all();
    let held = |state: &mut (Vec<String>, Option<String>)| state.1.as_ref() == Some(&question);
    drop(shared.changed.wait_timeout_while(state, LONG, held).expect("no panic"));
    let text = format!("{question} takes 30 days.");
    (200, serde_json::json!({"answer": text, "sources": [{"id": "d", "text": text}]}).to_string())
}
