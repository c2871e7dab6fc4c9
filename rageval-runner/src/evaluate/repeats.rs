//! Asks a case as often as it says, and reduces what comes of it.

use super::Evaluation;
use crate::{
    gate::repeats,
    model::{GoldenCase, Record, Repeat},
};

impl Evaluation {
    /// Asks the system about one case and takes every metric to its outcome; about a repeated one `times` times, each call a fresh one.
    ///
    /// Repeats are asked side by side, within the limits of the run. Equal answers make equal requests to the judge, which are asked once.
    pub async fn record(&self, case: &GoldenCase) -> Record {
        if case.repeats.times == 1 {
            return self.once(case, None).await;
        }
        let asked = (1..=case.repeats.times).map(|repeat| self.once(case, Some(repeat)));
        let records = futures_util::future::join_all(asked).await;
        let repeat = |Record { taken, outcomes, transcript, .. }| Repeat { taken, outcomes, transcript };
        repeats::record(case, &self.rules, records.into_iter().map(repeat).collect())
    }
}
