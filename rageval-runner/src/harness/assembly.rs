//! Opens what evaluates the cases of a run, with limits that hold over all its processes.

use std::sync::Arc;

use super::{
    session::{Session, Shared},
    setup::{self, Problem},
};
use crate::evaluate::{
    Evaluation,
    assembly::{self, Keeping, Parts},
};

/// All that evaluates cases, with limits that hold within this process or over all processes of the run.
pub(super) fn evaluation(session: &Session) -> Result<Evaluation, Problem> {
    let policy = &session.files.policy;
    let parts = Parts {
        system: setup::open_system(&session.files, session.function.clone(), &session.context)?,
        judge: Arc::clone(&session.judge),
        embedder: session.embedder.clone(),
        metrics: session.metrics.clone(),
        keeping: Keeping::Stored(setup::reply_modes(&session.context, policy)?),
        baseline: setup::baseline_answers(&session.files, &session.metrics, session.baseline.as_ref())?,
        run: match &session.records {
            Shared::Memory(_) => None,
            Shared::Folder(_) => Some(&session.folder),
        },
        ledger: session.course.ledger.clone(),
    };
    Ok(assembly::evaluation(policy, parts))
}
