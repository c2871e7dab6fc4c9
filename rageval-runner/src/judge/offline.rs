//! The `offline` judge: a screen for evidence by text, without a model.
use super::Judge;
use crate::{
    model::{CaseId, Ending, JudgeRequest, Reply, run::JudgeStamp},
    system::BoxFuture,
};
/// Temporary.
#[derive(Debug, Default)]
pub struct Offline;
impl Judge for Offline {
    fn stamp(&self) -> JudgeStamp {
        JudgeStamp { provider: "offline".into(), model: "x".into(), fingerprint: "xxxxxxxx".into() }
    }
    fn is_deterministic(&self) -> bool {
        true
    }
    fn ask<'a>(&'a self, _case: &'a CaseId, _request: &'a JudgeRequest) -> BoxFuture<'a, Reply> {
        Box::pin(async { Reply::Failed { ending: Ending::Unsupported, why: "temporary".into() } })
    }
}
