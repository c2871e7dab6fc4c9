//! Asks about answers that are there already, many side by side, on a runtime of its own: for programs that do not wait for a system.

use std::{io, sync::Arc};

use futures_util::StreamExt as _;
use tokio::runtime::Runtime;

use super::{
    Evaluation,
    assembly::{self, Keeping, Parts},
};
use crate::{
    embed::Embedder,
    judge::Judge,
    load::Policy,
    metric::METRICS,
    model::{GoldenCase, MetricKey, Record, Sample, Unmeasured},
    store::baseline::Answers,
    system::{Asked, BoxFuture, Question, RagSystem, cause},
};

/// The models of a policy, to be asked about answers that are there already.
pub struct Asking {
    evaluation: Evaluation,
    runtime: Runtime,
    width: usize,
}

/// An answer, and what is to be measured of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToMeasure<'a> {
    /// The case that was answered.
    pub case: &'a GoldenCase,
    /// The answer.
    pub sample: Sample,
    /// The metrics; one that no rule names has its default parameters.
    pub metrics: Vec<MetricKey>,
}

impl Asking {
    /// What asks under this policy, within its limits and its budget; the built-in metrics.
    ///
    /// # Errors
    /// The runtime can't start.
    pub fn new(
        policy: &Policy,
        judge: Arc<dyn Judge>,
        embedder: Option<Arc<dyn Embedder>>,
        baseline: Answers,
        keeping: Keeping,
    ) -> io::Result<Self> {
        let width = policy.judge.max_in_flight + policy.embedder.as_ref().map_or(0, |embedder| embedder.max_in_flight);
        let parts = Parts {
            system: Arc::new(Answered),
            judge,
            embedder,
            metrics: METRICS.to_vec(),
            baseline,
            keeping,
            run: None,
            ledger: None,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self { evaluation: assembly::evaluation(policy, parts), runtime, width })
    }

    /// What asks, for its notices and what was spent.
    pub fn evaluation(&self) -> &Evaluation {
        &self.evaluation
    }

    /// A record for each answer, in their order, with an outcome for each of its metrics and no other.
    pub fn records(&self, answers: Vec<ToMeasure<'_>>) -> Vec<Record> {
        self.each(answers, async |evaluation, ToMeasure { case, sample, metrics }| {
            evaluation.outcomes(case, sample, &metrics).await
        })
    }

    /// Does something for each of many, about as many side by side as the models may be asked at once; the results in their order.
    #[expect(clippy::needless_pass_by_value, reason = "callers write the closure where they call")]
    pub fn each<T, R>(&self, many: impl IntoIterator<Item = T>, ask: impl AsyncFn(&Evaluation, T) -> R) -> Vec<R> {
        let asked = futures_util::stream::iter(many.into_iter().enumerate())
            .map(|(at, one)| {
                let ask = &ask;
                async move { (at, ask(&self.evaluation, one).await) }
            })
            .buffer_unordered(self.width.max(1));
        let mut done: Vec<(usize, R)> = self.runtime.block_on(asked.collect());
        done.sort_by_key(|(at, _)| *at);
        done.into_iter().map(|(_, result)| result).collect()
    }
}

/// Stands where a system would: the answers are there already.
struct Answered;

impl RagSystem for Answered {
    fn ask<'a>(&'a self, _question: &'a Question) -> BoxFuture<'a, Result<Asked, Unmeasured>> {
        Box::pin(async { Err(Unmeasured::new(cause::ERROR, "only answers that are there already are measured here")) })
    }
}
