//! Asks a judge for the evaluation steps of `g_eval`, once for a metric.

use std::{io, time::Duration};

use crate::{
    judge::Judge,
    metric::{
        asking::{self, Reading},
        g_eval::steps,
    },
    model::{CaseId, Ending, Exchange, JudgeRequest, MetricKey, Reply, Request, Transcript, Unmeasured},
};

/// The steps that a judge writes for a request of [`steps::request`], on a runtime of its own: for programs that ask for nothing else.
///
/// # Errors
/// The judge gave none, asked once more where its reply did not fit; or the runtime can't start.
pub fn ask_for(
    judge: &dyn Judge,
    timeout: Duration,
    key: &MetricKey,
    request: &JudgeRequest,
) -> io::Result<Result<Vec<String>, Unmeasured>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(asked(judge, timeout, key, request)))
}

async fn asked(
    judge: &dyn Judge,
    timeout: Duration,
    key: &MetricKey,
    request: &JudgeRequest,
) -> Result<Vec<String>, Unmeasured> {
    // Requests are told apart by case; here the metric stands in its place.
    let place = CaseId::new(key.to_string())
        .map_err(|error| Unmeasured::new(crate::metric::cause::DATA, format!("the name of {key}: {error}")))?;
    let mut transcript = Transcript::default();
    loop {
        match asking::read(&transcript, request, steps::read) {
            Reading::Read(steps) => return Ok(steps),
            Reading::Fault(fault) => return Err(fault),
            Reading::Ask(request) => {
                let Request::Judge(asked) = &request;
                judge.admit(asked).await;
                let reply =
                    tokio::time::timeout(timeout, judge.ask(&place, asked)).await.unwrap_or_else(|_| Reply::Failed {
                        ending: Ending::TimeOut,
                        why: format!("no reply within {} s", timeout.as_secs_f64()),
                    });
                transcript.exchanges.push(Exchange { request, reply });
            }
        }
    }
}
