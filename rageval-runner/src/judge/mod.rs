//! Judges: whatever answers a judging request.

pub mod offline;
pub mod prompt;
pub mod reply;
pub mod scripted;
pub mod spec;

use std::sync::Arc;

use spec::{JudgeProvider, JudgeSpec};

use crate::{
    model::{CaseId, JudgeRequest, Reply, run::JudgeStamp},
    system::BoxFuture,
};

/// Whatever answers a judging request.
pub trait Judge: Send + Sync {
    /// Who it is: part of every baseline, so that scores of two judges are never compared.
    fn stamp(&self) -> JudgeStamp;

    /// Whether a fresh reading of the same request is always the same, so that confirming it makes no sense.
    fn is_deterministic(&self) -> bool;

    /// Answers one request of one case. Never an `Err`: a failure is a reply that says how it ended.
    fn ask<'a>(&'a self, case: &'a CaseId, request: &'a JudgeRequest) -> BoxFuture<'a, Reply>;
}

/// Makes the judge of a policy; nothing is asked yet. An error names the file at fault.
pub fn open(spec: &JudgeSpec) -> Result<Arc<dyn Judge>, String> {
    match &spec.provider {
        JudgeProvider::Offline => Ok(Arc::new(offline::Offline)),
        JudgeProvider::Scripted { replies } => {
            let at = |why: String| format!("{}: {why}", replies.display());
            let text = std::fs::read_to_string(replies).map_err(|error| at(error.to_string()))?;
            Ok(Arc::new(scripted::Scripted::from_text(&text).map_err(|error| at(error.to_string()))?))
        }
    }
}
