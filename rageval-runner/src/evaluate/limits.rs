//! What stands between a request and the model that answers it, whoever that is.

use std::{panic::AssertUnwindSafe, time::Duration};

use futures_util::FutureExt as _;

use crate::{
    contain,
    judge::{Failed, Spent},
    model::Ending,
    store::{ledger::Account, minute::MinuteLimit, slots::Limit},
};

/// The limits of one model, and the account that its requests are counted on.
pub(super) struct Limits<'a> {
    /// Who is asked, as in `the judge panicked`.
    pub(super) whom: &'static str,
    /// How long one call may take.
    pub(super) timeout: Duration,
    /// How many calls may be under way.
    pub(super) limit: &'a Limit,
    /// What may be asked in a minute over all processes of the run.
    pub(super) minute: Option<&'a MinuteLimit>,
    /// Where requests are counted against the budget of the run; `None` for a model that is code.
    pub(super) account: Option<&'a Account>,
}

impl Limits<'_> {
    /// One call that takes about so much, within the limits and the run's budget; `admit` waits for the limits that the model keeps itself.
    ///
    /// # Errors
    /// Why there is no reply where the call itself did not say it: no place, no budget, no time, a panic.
    pub(super) async fn call<T>(
        &self,
        estimated: Spent,
        admit: impl Future<Output = ()>,
        call: impl Future<Output = (T, Spent)>,
    ) -> Result<T, Failed> {
        let fault = |why: String| Failed::new(Ending::Provider, why);
        let _permit = self.limit.acquire().await.map_err(|error| fault(error.to_string()))?;
        let Some(account) = self.account else { return self.in_time(estimated.tokens(), admit, call).await.0 };
        let reserved = account.reserve(estimated).await;
        let reservation = reserved.map_err(|why| Failed::new(Ending::Budget, why))?;
        let call = self.in_time(estimated.tokens(), admit, call);
        let called = match reservation.deadline() {
            Some(deadline) => tokio::time::timeout_at(deadline, call).await,
            None => Ok(call.await),
        };
        match called {
            Ok((reply, spent)) => {
                // Where nobody knows what it took, the estimate stays.
                if let Some(spent) = spent {
                    reservation.settle(spent).await;
                }
                reply
            }
            Err(_) => Err(Failed::new(Ending::Budget, reservation.cut_off())),
        }
    }

    /// One call within its limits of time; with what it took, `None` where it was cut off before it said so.
    async fn in_time<T>(
        &self,
        tokens: u64,
        admit: impl Future<Output = ()>,
        call: impl Future<Output = (T, Spent)>,
    ) -> (Result<T, Failed>, Option<Spent>) {
        // The limits a minute are waited for before the request's own time begins.
        if let Some(minute) = self.minute
            && let Err(error) = minute.admit(tokens).await
        {
            let why = format!("the limits a minute cannot be kept: {error}");
            return (Err(Failed::new(Ending::Provider, why)), Some(Spent::default()));
        }
        admit.await;
        let failed = |ending, why| (Err(Failed::new(ending, why)), None);
        match tokio::time::timeout(self.timeout, AssertUnwindSafe(call).catch_unwind()).await {
            Err(_) => failed(Ending::TimeOut, format!("no reply within {} s", self.timeout.as_secs_f64())),
            Ok(Err(panic)) => {
                failed(Ending::Provider, format!("the {} panicked: {}", self.whom, contain::said(panic.as_ref())))
            }
            Ok(Ok((reply, spent))) => (Ok(reply), Some(spent)),
        }
    }
}
