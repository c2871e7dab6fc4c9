//! Puts together what asks, as the policy says: models with their limits, the budget and the stored replies.

use std::sync::Arc;

use super::{Embedding, Evaluation, Judging, Replies, Vectors};
use crate::{
    embed::{Embedder, stored::VectorKeys},
    judge::{Judge, key::ReplyKeys, spec::Minute},
    load::{Policy, ReplyModes},
    metric::Metric,
    store::{
        baseline::Answers,
        ledger::{Account, Ledger},
        replies::ReplyStore,
        runs::RunFolder,
        slots::Limit,
    },
    system::RagSystem,
};

/// What an evaluation is made of beside the policy: all that had to be opened first.
pub struct Parts<'a> {
    /// The system under test.
    pub system: Arc<dyn RagSystem>,
    /// The judge of the policy.
    pub judge: Arc<dyn Judge>,
    /// Its embedder; `None` where it names none.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// The metrics that rules may name.
    pub metrics: Vec<&'static dyn Metric>,
    /// The answers of the accepted run; empty where no metric compares with them.
    pub baseline: Answers,
    /// What is done with stored replies.
    pub keeping: Keeping,
    /// The folder of the run over whose processes limits and budget hold; `None`: they hold within this process.
    pub run: Option<&'a RunFolder>,
    /// What counts the run's spending; `None`: what `run` says, else nobody but this process.
    pub ledger: Option<Ledger>,
}

/// What is done with stored replies and vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    /// They are used as the modes say, and what is asked is stored.
    Stored(ReplyModes),
    /// They are neither read nor written: everything is asked.
    Nothing,
}

/// All that evaluates cases under a policy.
pub fn evaluation(policy: &Policy, parts: Parts<'_>) -> Evaluation {
    let Parts { system, judge, embedder, metrics, baseline, keeping, run, ledger } = parts;
    let ledger = match (ledger, run) {
        (Some(ledger), _) => ledger,
        (None, Some(folder)) => folder.ledger(policy.budget.as_ref()),
        (None, None) => Ledger::in_process(policy.budget.as_ref()),
    };
    let limit = |what: &str, places: usize| match run {
        Some(folder) => folder.limit(what, places),
        None => Limit::in_process(places),
    };
    let minute =
        |what: &str, Minute { requests, tokens }: Minute| run.and_then(|folder| folder.minute(what, requests, tokens));
    let modes = match keeping {
        Keeping::Stored(modes) => Some(modes),
        Keeping::Nothing => None,
    };
    let keys = ReplyKeys::of(&policy.judge);
    let judging = Judging {
        judge,
        timeout: policy.judge.timeout,
        limit: limit("judge", policy.judge.max_in_flight),
        minute: minute("judge", policy.judge.minute()),
        account: keys.as_ref().map(|_| Account { ledger: ledger.clone(), price: policy.judge.price }),
        replies: keys.zip(modes).map(|(keys, modes)| {
            let store = ReplyStore::new(&policy.root, policy.judge.replies.as_deref());
            Replies::new(store, keys, modes.judge).shared(run.map(|folder| folder.claims("judge")))
        }),
    };
    let embedding = embedder.zip(policy.embedder.as_ref()).map(|(embedder, spec)| {
        let keys = VectorKeys::of(spec);
        Embedding {
            embedder,
            timeout: spec.timeout,
            limit: limit("embedder", spec.max_in_flight),
            minute: minute("embedder", spec.minute()),
            account: keys.as_ref().map(|_| Account { ledger: ledger.clone(), price: spec.price }),
            vectors: keys.zip(modes).map(|(keys, modes)| {
                let store = ReplyStore::new(&policy.root, spec.replies.as_deref());
                Vectors::new(store, keys, modes.embedder).shared(run.map(|folder| folder.claims("embedder")))
            }),
        }
    });
    Evaluation {
        system,
        judging,
        metrics,
        rules: policy.rules.clone(),
        baseline,
        system_timeout: policy.system.timeout,
        system_limit: limit("system", policy.system.max_in_flight),
        embedding,
        ledger,
    }
}
