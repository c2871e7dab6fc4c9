//! `replies`: the judge's stored replies, shown for one case, and pruned.

mod prune;
mod show;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use rageval_runner::{
    embed,
    evaluate::stamp,
    judge::{
        self,
        key::{ReplyKey, ReplyKeys},
    },
    load,
    metric::METRICS,
    model::{AskedOf, JudgeRequest, Record, Request, run::Run},
    store::{replies::ReplyStore, runs},
};

use crate::{
    context::Context,
    exit::{Ending, Failure},
};

/// Look at the judge's stored replies, and remove those that no run needs
#[derive(Debug, Subcommand)]
pub(crate) enum Replies {
    Show(show::Show),
    Prune(prune::Prune),
}

/// Does what the command line says.
pub(crate) fn run(replies: &Replies, context: &Context) -> Result<Ending, Failure> {
    match replies {
        Replies::Show(show) => show::run(show, context),
        Replies::Prune(prune) => prune::run(prune, context),
    }
}

/// The replies of the judge that thresholds.yaml names.
struct Stored {
    store: ReplyStore,
    keys: ReplyKeys,
    fingerprint: String,
}

impl Stored {
    /// Reads the policy; a judge that is code has no stored replies.
    fn of_policy(context: &Context) -> Result<Self, Failure> {
        let file = context.root.join(load::FILE_NAME);
        if !file.is_file() {
            return Err(Failure::Input("there is no thresholds.yaml here or above, which names the judge".to_owned()));
        }
        let policy = load::policy(&file, METRICS).map_err(|problems| Failure::Input(problems.to_string()))?;
        let keys = ReplyKeys::of(&policy.judge).ok_or_else(|| {
            let judge = policy.judge.provider.as_str();
            Failure::Input(format!(
                "the judge of thresholds.yaml is `{judge}`, which is code: its replies are not stored"
            ))
        })?;
        // Nothing is asked, so no key is needed.
        let judge = judge::open(&policy.judge, &|_| None).map_err(Failure::Input)?;
        let embedder = policy.embedder.as_ref().map(|spec| embed::open(spec, &|_| None));
        let embedder = embedder.transpose().map_err(Failure::Input)?;
        let store = ReplyStore::new(&context.root, policy.judge.replies.as_deref());
        let stamp = stamp::of_scores(&policy, &*judge, embedder.as_deref());
        Ok(Self { store, keys, fingerprint: stamp.fingerprint })
    }

    /// A run of this judge: keys of another would find nothing.
    fn run(&self, path: &Path) -> Result<Run, Failure> {
        if !path.exists() {
            return Err(Failure::Input(format!(
                "{}: no run there; run the gate first: cargo test --test rag_regression",
                path.display()
            )));
        }
        let run = runs::read(path).map_err(|error| Failure::Input(error.to_string()))?;
        if run.manifest.judge.fingerprint == self.fingerprint {
            return Ok(run);
        }
        let (theirs, ours) = (&run.manifest.judge.model, self.keys.model());
        Err(Failure::Input(format!(
            "{}: it was judged by `{theirs}`, and thresholds.yaml names `{ours}`, or one of them with other prompts or parameters; run the gate again",
            path.display()
        )))
    }

    fn key(&self, request: &JudgeRequest) -> Result<ReplyKey, Failure> {
        self.keys.key(request).map_err(|error| Failure::Input(error.to_string()))
    }
}

/// What a record asked of the judge of the policy, in order.
fn asked(record: &Record) -> impl Iterator<Item = &JudgeRequest> {
    record.transcript.exchanges.iter().filter_map(|exchange| match (exchange.of, &exchange.request) {
        (AskedOf::Policy, Request::Judge(request)) => Some(request),
        (AskedOf::Offline, Request::Judge(_)) | (_, Request::Embed(_)) => None,
    })
}

fn latest(context: &Context) -> PathBuf {
    context.runs.join("latest")
}

fn count(number: usize, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}
