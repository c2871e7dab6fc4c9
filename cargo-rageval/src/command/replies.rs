//! `replies`: the stored replies of judge and embedder, shown for one case, and pruned.

mod prune;
mod show;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Subcommand;
use rageval_runner::{
    embed::{self, Embedder, stored::VectorKeys},
    evaluate::stamp,
    judge::{
        self, Judge,
        key::{ReplyKey, ReplyKeys},
    },
    load::{self, Policy},
    model::{
        AskedOf, Exchange, Request,
        run::{JudgeStamp, Run},
    },
    report::console::text::visible,
    store::{replies::ReplyStore, runs},
};

use crate::{
    context::Context,
    exit::{Ending, Failure},
};

/// Look at the stored replies of judge and embedder, and remove those that no run needs
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

/// Removes the stored replies that the latest run does not use, and tells.
pub(super) fn prune(context: &Context, dry_run: bool) -> Result<(), Failure> {
    prune::run(&prune::Prune::of_latest(dry_run), context).map(|_| ())
}

/// What is stored of the models that thresholds.yaml names.
pub(super) struct Stored {
    /// The judge's keys; `None` for a judge that is code.
    pub(super) replies: Option<ReplyKeys>,
    pub(super) reply_store: ReplyStore,
    /// The embedder's keys; `None` where there is none, or its vectors stand in a file.
    pub(super) vectors: Option<VectorKeys>,
    pub(super) vector_store: ReplyStore,
    pub(super) stamp: JudgeStamp,
    policy: Policy,
    judge: Arc<dyn Judge>,
    embedder: Option<Arc<dyn Embedder>>,
}

impl Stored {
    /// Reads the policy; models that are code have nothing stored.
    pub(super) fn of_policy(context: &Context) -> Result<Self, Failure> {
        let file = context.policy_that_is_there().map_err(Failure::Input)?;
        let policy =
            load::policy(&file, &context.metrics(&[])).map_err(|problems| Failure::Input(problems.to_string()))?;
        let replies = ReplyKeys::of(&policy.judge);
        let vectors = policy.embedder.as_ref().and_then(VectorKeys::of);
        if replies.is_none() && vectors.is_none() {
            let judge = policy.judge.provider.as_str();
            return Err(Failure::Input(format!(
                "the judge of thresholds.yaml is `{judge}`, which is code: its replies are not stored"
            )));
        }
        // Nothing is asked, so no key is needed.
        let judge = judge::open(&policy.judge, &|_| None).map_err(Failure::Input)?;
        let embedder = policy.embedder.as_ref().map(|spec| embed::open(spec, &|_| None));
        let embedder = embedder.transpose().map_err(Failure::Input)?;
        let of_embedder = policy.embedder.as_ref().and_then(|spec| spec.replies.as_deref());
        Ok(Self {
            replies,
            reply_store: ReplyStore::new(&context.root, policy.judge.replies.as_deref()),
            vectors,
            vector_store: ReplyStore::new(&context.root, of_embedder),
            stamp: stamp::of_scores(&policy, &*judge, embedder.as_deref()),
            policy,
            judge,
            embedder,
        })
    }

    /// A run of these models: keys of others would find nothing.
    fn run(&self, path: &Path) -> Result<Run, Failure> {
        if !path.exists() {
            return Err(Failure::Input(format!(
                "{}: no run there; run the gate first: {}",
                path.display(),
                super::GATES
            )));
        }
        let run = runs::read(path).map_err(|error| Failure::Input(error.to_string()))?;
        if run.manifest.judge.fingerprint == self.stamp.fingerprint {
            return Ok(run);
        }
        let why = self.difference(&run.manifest.judge);
        Err(Failure::Input(format!("{}: it was judged by {why}; run the gate again", path.display())))
    }

    /// By whom a run was judged, and what differs from thresholds.yaml as far as its stamp tells.
    fn difference(&self, theirs: &JudgeStamp) -> String {
        let ours = &self.stamp;
        if (&theirs.provider, &theirs.model) != (&ours.provider, &ours.model) {
            let named = |stamp: &JudgeStamp| format!("`{}` of `{}`", visible(&stamp.model), visible(&stamp.provider));
            return format!("{}, and thresholds.yaml names {}", named(theirs), named(ours));
        }
        let model = visible(&ours.model);
        match stamp::lacking(&self.policy, &*self.judge, self.embedder.as_deref(), &theirs.fingerprint) {
            Some(what) => format!("`{model}` without {what}, and thresholds.yaml now has that"),
            None => format!(
                "`{model}`, as thresholds.yaml names it, with other prompts, parameters or embedder, or with other metrics left to `offline`"
            ),
        }
    }

    /// The folders that hold what is stored, each once.
    fn stores(&self) -> Vec<&ReplyStore> {
        let mut stores = Vec::new();
        stores.extend(self.replies.as_ref().map(|_| &self.reply_store));
        let has_own = stores.iter().all(|store| store.folder() != self.vector_store.folder());
        stores.extend(self.vectors.as_ref().filter(|_| has_own).map(|_| &self.vector_store));
        stores
    }

    /// The keys of what was asked in one exchange of a run: none where a model that is code was asked.
    pub(super) fn keys(&self, exchange: &Exchange) -> Result<Vec<ReplyKey>, Failure> {
        match (exchange.of, &exchange.request) {
            (AskedOf::Policy, Request::Judge(request)) => {
                let key = self.replies.as_ref().map(|keys| keys.key(request));
                key.into_iter().collect::<Result<_, _>>().map_err(|error| Failure::Input(error.to_string()))
            }
            (AskedOf::Offline, Request::Judge(_)) => Ok(Vec::new()),
            (AskedOf::Policy | AskedOf::Offline, Request::Embed(request)) => {
                let keys = self.vectors.iter();
                Ok(keys.flat_map(|keys| request.texts().into_iter().map(|text| keys.key(&text))).collect())
            }
        }
    }
}

fn latest(context: &Context) -> PathBuf {
    context.runs.join("latest")
}

/// A number with its word.
pub(super) fn count(number: usize, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}
