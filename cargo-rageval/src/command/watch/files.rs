//! The files that `watch` looks at: what they say, and when they change.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    time::Duration,
};

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};
use rageval_runner::{
    embed,
    evaluate::stamp,
    harness::Opened,
    judge,
    load::Policy,
    store::{calibration, history, lock::LockFiles},
    system::spec::SystemKind,
};

use super::{
    source::{Depth, Source},
    touch::{Answers, Face},
};

/// An editor writes a file in several steps; they are one change.
const SETTLED: Duration = Duration::from_millis(150);

/// Changes that never stop are looked at all the same.
const MOST_STEPS: usize = 40;

/// What the files say now.
///
/// # Errors
/// A judge or embedder that can't be opened.
fn face(opened: &Opened, source: &Source) -> Result<Face, String> {
    let policy = opened.policy();
    // What a judge is depends on no key.
    let judge = judge::open(&policy.judge, &|_| None)?;
    let embedder = policy.embedder.as_ref().map(|spec| embed::open(spec, &|_| None)).transpose()?;
    let stamp = stamp::of_scores(policy, judge.as_ref(), embedder.as_deref());
    let answers = Answers {
        recorded: recorded(policy).map(|path| digest([path])).unwrap_or_default(),
        source: if is_function(policy) { digest(source.files()) } else { String::new() },
    };
    Ok(Face::of(policy, opened.set(), stamp, answers, &digest(beside(policy))))
}

/// Files beside policy and cases that decisions depend on.
fn beside(policy: &Policy) -> BTreeSet<PathBuf> {
    let mut files: BTreeSet<PathBuf> = [policy.root.join(calibration::FILE), LockFiles::of(&policy.cases).lock].into();
    if let Some(regression) = &policy.rules.regression {
        let baseline = policy.root.join(&regression.baseline);
        files.extend([history::path_of(&baseline), baseline]);
    }
    for folder in [Opened::snapshots(policy), policy.labels.clone()] {
        let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        // What a run leaves for review is no change of what it is compared with.
        files.extend(entries.map(|entry| entry.path()).filter(|path| path.extension().is_none_or(|end| end != "new")));
    }
    files
}

fn recorded(policy: &Policy) -> Option<PathBuf> {
    match &policy.system.kind {
        SystemKind::Recorded(spec) => spec.samples.clone(),
        SystemKind::Function | SystemKind::Command(_) | SystemKind::Http(_) => None,
    }
}

fn is_function(policy: &Policy) -> bool {
    match &policy.system.kind {
        SystemKind::Function => true,
        SystemKind::Recorded(_) | SystemKind::Command(_) | SystemKind::Http(_) => false,
    }
}

/// A digest that means something within this process; a file that can't be read is one that is not there.
fn digest(files: impl IntoIterator<Item = PathBuf>) -> String {
    let mut hasher = DefaultHasher::new();
    for file in files {
        (&file, std::fs::read(&file).ok()).hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}

/// Looks for changes.
pub(super) struct Watcher {
    watcher: RecommendedWatcher,
    changes: Receiver<()>,
    folders: BTreeSet<PathBuf>,
    source: Source,
}

impl Watcher {
    /// Looks at nothing yet.
    ///
    /// # Errors
    /// The operating system tells of no changes.
    pub(super) fn new(source: Source) -> notify::Result<Self> {
        let (sender, changes) = channel();
        let watcher = notify::recommended_watcher(move |event| on_event(&event, &sender))?;
        Ok(Self { watcher, changes, folders: BTreeSet::new(), source })
    }

    /// What the files say now.
    ///
    /// # Errors
    /// A judge or embedder that can't be opened.
    pub(super) fn face(&self, opened: &Opened) -> Result<Face, String> {
        face(opened, &self.source)
    }

    /// Looks at the folder of the policy, and at those of the files that it names.
    pub(super) fn look_at(&mut self, root: &Path, policy: Option<&Policy>) -> notify::Result<()> {
        let mut folders: BTreeMap<PathBuf, Depth> = [(root.to_owned(), Depth::Alone)].into();
        if let Some(policy) = policy {
            let named = beside(policy).into_iter().chain(recorded(policy));
            let alone = named.filter_map(|file| file.parent().map(Path::to_owned));
            folders.extend(
                alone.chain([Opened::snapshots(policy), policy.labels.clone()]).map(|folder| (folder, Depth::Alone)),
            );
            if is_function(policy) {
                folders.extend(self.source.folders());
            }
            let cases = &policy.cases;
            folders.extend(match cases.parent() {
                _ if cases.is_dir() => Some((cases.clone(), Depth::Below)),
                parent => parent.map(|folder| (folder.to_owned(), Depth::Alone)),
            });
        }
        for (folder, depth) in folders {
            if folder.is_dir() && !self.folders.contains(&folder) {
                let mode = match depth {
                    Depth::Below => RecursiveMode::Recursive,
                    Depth::Alone => RecursiveMode::NonRecursive,
                };
                self.watcher.watch(&folder, mode)?;
                self.folders.insert(folder);
            }
        }
        Ok(())
    }

    /// Waits for a change, and until it has settled.
    pub(super) fn wait(&self) {
        if self.changes.recv().is_err() {
            return;
        }
        for _ in 0..MOST_STEPS {
            match self.changes.recv_timeout(SETTLED) {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
        }
    }
}

/// Passes on that something changed. That a file was read is no change: else reading would wake who reads.
fn on_event(event: &notify::Result<Event>, changes: &Sender<()>) {
    if event.as_ref().is_ok_and(|event| event.kind.is_access()) {
        return;
    }
    changes.send(()).ok();
}

#[cfg(test)]
mod tests {
    use rageval_runner::{metric::METRICS, model::CaseId};

    use super::{
        super::touch::{Touch, touched},
        *,
    };

    const POLICY: &str = "\
version: 1
system:
  kind: http
  generator: gpt-4o-2024-08-06
  url: http://127.0.0.1:9/ask
  body: {question: \"{{ query }}\"}
  answer: /answer
judge: {provider: openai, base_url: \"http://127.0.0.1:9/v1\", model: qwen2.5-1.5b-q4, mode: replay}
metrics:
  recall@5: {min: 0.5}
  faithfulness: {min: 0.5}
";
    const CASES: &str = "\
- {id: a, query: How long?, relevant_doc_ids: [d], language: en, metadata: {team: x}, tags: [old], thresholds: {recall@5: {min: 0.4}}}
- {id: b, query: How much?, relevant_doc_ids: [d]}
";

    fn face_of(policy: &str, cases: &str) -> Face {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("cases")).expect("made");
        std::fs::write(folder.path().join("cases/all.yaml"), cases).expect("written");
        std::fs::write(folder.path().join("thresholds.yaml"), policy).expect("written");
        let opened = Opened::read(&folder.path().join("thresholds.yaml"), METRICS.to_vec()).expect("readable");
        // The digest of files beside goes by their paths, which are other ones for each call.
        Face { rest: policy.to_owned(), ..face(&opened, &Source::default()).expect("a judge") }
    }

    #[track_caller]
    fn check(from: &str, to: &str, expected: &Touch) {
        assert!(POLICY.contains(from) || CASES.contains(from), "{from}");
        let after = face_of(&POLICY.replace(from, to), &CASES.replace(from, to));
        assert_eq!(touched(&face_of(POLICY, CASES), &after), *expected, "{from} -> {to}");
    }

    #[test]
    fn bars_and_words_about_a_case_ask_nothing() {
        check("recall@5: {min: 0.5}", "recall@5: {min: 0.6, mean: {min: 0.7}}", &Touch::Decisions);
        check("version: 1", "version: 1\nbudget: {requests: 9}", &Touch::Decisions);
        check("gpt-4o-2024-08-06", "gpt-4.1-2025-04-14", &Touch::Decisions);
        check("kind: http", "kind: http\n  timeout: 5s\n  max_in_flight: 2", &Touch::Decisions);
        check("mode: replay", "mode: replay, max_in_flight: 2, timeout: 9s", &Touch::Decisions);
        check("tags: [old]", "tags: [new]", &Touch::Decisions);
        check("{min: 0.4}", "{min: 0.3}", &Touch::Decisions);
        check("tags: [old]", "known_failure: {metrics: [recall@5], reason: slow}", &Touch::Decisions);
        check("- {id: b, query: How much?, relevant_doc_ids: [d]}\n", "", &Touch::Decisions);
    }

    #[test]
    fn what_is_asked_or_measured_of_a_case_asks_it() {
        let a = Touch::Cases([CaseId::new("a").expect("an id")].into());
        check("How long?", "How long is it?", &a);
        check("language: en", "language: pt", &a);
        check("team: x", "team: y", &a);
        check("tags: [old]", "repeats: {times: 3}", &a);
        check("tags: [old]", "ground_truth_answer: 30 days", &a);
        check("{recall@5: {min: 0.4}}", "{recall@5: {min: 0.4}, mrr: {min: 0.1}}", &a);
    }

    #[test]
    fn who_answers_or_judges_and_what_is_measured_asks_all() {
        check(":9/ask", ":9/other", &Touch::All(vec!["the system"]));
        check("qwen2.5-1.5b-q4", "qwen2.5-3b-q4", &Touch::All(vec!["the judge"]));
        check(":9/v1", ":9/v2", &Touch::All(vec!["the judge"]));
        check(
            "recall@5: {min: 0.5}\n",
            "recall@5: {min: 0.5}\n  mrr: {min: 0.1}\n",
            &Touch::All(vec!["what is measured"]),
        );
        let two_steps = "faithfulness: {min: 0.5, mode: two_step}";
        check("faithfulness: {min: 0.5}", two_steps, &Touch::All(vec!["what is measured"]));
    }
}
