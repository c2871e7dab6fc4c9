//! Puts together what evaluates the cases of a run.

use std::sync::Arc;

use super::{
    session::{Session, Shared},
    setup::{self, Problem},
};
use crate::{
    embed::stored::VectorKeys,
    evaluate::{Embedding, Evaluation, Judging, Replies, Vectors},
    judge::{key::ReplyKeys, spec::Minute},
    store::{
        ledger::{Account, Ledger},
        replies::ReplyStore,
        slots::Limit,
    },
};

/// All that evaluates cases, with limits that hold within this process or over all processes of the run.
pub(super) fn evaluation(session: &Session) -> Result<Evaluation, Problem> {
    let policy = &session.files.policy;
    let system = setup::open_system(&session.files, session.function.clone())?;
    let modes = setup::reply_modes(&session.context, policy)?;
    let baseline = setup::baseline_answers(&session.files, &session.metrics, session.baseline.as_ref())?;
    let shared = match &session.records {
        Shared::Memory(_) => None,
        Shared::Folder(_) => Some(&session.folder),
    };
    let ledger = match shared {
        Some(folder) => folder.ledger(policy.budget.as_ref()),
        None => Ledger::in_process(policy.budget.as_ref()),
    };
    let keys = ReplyKeys::of(&policy.judge);
    let limit = |what: &str, places: usize| match shared {
        Some(folder) => folder.limit(what, places),
        None => Limit::in_process(places),
    };
    let minute = |what: &str, Minute { requests, tokens }: Minute| {
        shared.and_then(|folder| folder.minute(what, requests, tokens))
    };
    Ok(Evaluation {
        system,
        judging: Judging {
            judge: Arc::clone(&session.judge),
            timeout: policy.judge.timeout,
            limit: limit("judge", policy.judge.max_in_flight),
            minute: minute("judge", policy.judge.minute()),
            account: keys.as_ref().map(|_| Account { ledger: ledger.clone(), price: policy.judge.price }),
            replies: keys.map(|keys| {
                let store = ReplyStore::new(&policy.root, policy.judge.replies.as_deref());
                Replies::new(store, keys, modes.judge).shared(shared.map(|folder| folder.claims("judge")))
            }),
        },
        metrics: session.metrics.clone(),
        rules: policy.rules.clone(),
        baseline,
        system_timeout: policy.system.timeout,
        system_limit: limit("system", policy.system.max_in_flight),
        embedding: session.embedder.clone().zip(policy.embedder.as_ref()).map(|(embedder, spec)| {
            let keys = VectorKeys::of(spec);
            Embedding {
                embedder,
                timeout: spec.timeout,
                limit: limit("embedder", spec.max_in_flight),
                minute: minute("embedder", spec.minute()),
                account: keys.as_ref().map(|_| Account { ledger: ledger.clone(), price: spec.price }),
                vectors: keys.map(|keys| {
                    let store = ReplyStore::new(&policy.root, spec.replies.as_deref());
                    Vectors::new(store, keys, modes.embedder).shared(shared.map(|folder| folder.claims("embedder")))
                }),
            }
        }),
        ledger,
    })
}
