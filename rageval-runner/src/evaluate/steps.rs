//! Asks a judge for the evaluation steps of `g_eval`, once for a metric.

use std::{io, sync::Arc, time::Duration};

use super::Judging;
use crate::{
    judge::Judge,
    metric::{
        asking::{self, Reading},
        g_eval::steps,
    },
    model::{AskedOf, CaseId, Ending, Exchange, JudgeRequest, MetricKey, Reply, Request, Transcript, Unmeasured},
    store::{ledger::Account, slots::Limit},
};

/// The steps that a judge writes for a request of [`steps::request`], on a runtime of its own: for programs that ask for nothing else.
/// What it takes is counted on the account; `None` for a judge that is code.
///
/// # Errors
/// The judge gave none, asked once more where its reply did not fit; the budget is used up; or the runtime can't start.
pub fn ask_for(
    judge: Arc<dyn Judge>,
    timeout: Duration,
    account: Option<Account>,
    key: &MetricKey,
    request: &JudgeRequest,
) -> io::Result<Result<Vec<String>, Unmeasured>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let judging = Judging { judge, timeout, limit: Limit::in_process(1), minute: None, replies: None, account };
    Ok(runtime.block_on(asked(&judging, key, request)))
}

async fn asked(judging: &Judging, key: &MetricKey, request: &JudgeRequest) -> Result<Vec<String>, Unmeasured> {
    // Requests are told apart by case; here the metric stands in its place.
    let place = CaseId::new(key.to_string())
        .map_err(|error| Unmeasured::new(crate::metric::cause::DATA, format!("the name of {key}: {error}")))?;
    let mut transcript = Transcript::default();
    loop {
        match asking::read(&transcript, request, steps::read) {
            Reading::Read(steps) => return Ok(steps),
            Reading::Fault(fault) => return Err(fault),
            Reading::Ask(request) => {
                let reply = match &request {
                    Request::Judge(asked) => judging.ask(&place, asked).await.0,
                    Request::Embed(_) => {
                        let why = "steps are no matter of an embedder".to_owned();
                        Reply::Failed { ending: Ending::Unsupported, why }
                    }
                };
                transcript.exchanges.push(Exchange { request, reply, of: AskedOf::Policy, source: None });
            }
        }
    }
}
