//! Has the judge read once more what it scored: the same answer, another sample.

use std::sync::Arc;

use super::{Evaluation, MAX_ROUNDS};
use crate::{
    contain::contained,
    metric::{Input, Metric, Params, Reread, Step, asking, finish},
    model::{
        AskedOf, Claim, Exchange, GoldenCase, Heard, JudgeRequest, MetricKey, Outcome, Request, Sample, Transcript,
    },
};

/// How far the samples of one whole reading lie from those of the next, for metrics that ask more than once in a reading.
const SAMPLES_APART: u32 = 1000;

/// One more reading, and what it took.
#[derive(Debug, Clone, PartialEq)]
pub struct FreshReading {
    /// What was heard.
    pub heard: Heard,
    /// What was asked for it, in order, with the replies.
    pub exchanges: Vec<Exchange>,
}

/// A judged metric of one case.
struct Judged<'a> {
    metric: &'static dyn Metric,
    params: Params,
    of: AskedOf,
    case: &'a GoldenCase,
    key: &'a MetricKey,
    sample: &'a Sample,
    baseline: Option<Arc<Sample>>,
}

impl Judged<'_> {
    fn input(&self) -> Input<'_> {
        let Self { params, case, key, sample, baseline, .. } = self;
        Input { case, sample, key, params, baseline: baseline.as_deref() }
    }
}

impl Evaluation {
    /// The reading of this number, from 1, of a score that was read first as `first`; 0 is the first reading itself.
    ///
    /// A metric with fixed items is asked for new verdicts on those of `first`, each shown in another order; any other is taken to a score
    /// of its own, with every request under another sample. Both go the way of all requests: stored replies, limits, the budget.
    /// What fails, or gives no score, is [`Heard::Nothing`].
    pub async fn reread(
        &self,
        case: &GoldenCase,
        sample: &Sample,
        key: &MetricKey,
        first: &Outcome,
        number: u32,
    ) -> FreshReading {
        let Some(judged) = self.judged(case, sample, key) else {
            let heard = Heard::Nothing { why: format!("no metric is called `{}`", key.name()) };
            return FreshReading { heard, exchanges: Vec::new() };
        };
        let claims = first.detail().map_or(&[][..], |detail| &detail.claims);
        match judged.metric.rereads() {
            Some(reread) if !claims.is_empty() => self.verdicts_again(&judged, reread, claims, number).await,
            Some(_) | None => self.score_again(&judged, number).await,
        }
    }

    /// Whether a judge has a say in this score: without one, nothing can be read again.
    pub fn is_asked(&self, case: &GoldenCase, sample: &Sample, key: &MetricKey) -> bool {
        let Some(judged) = self.judged(case, sample, key) else { return false };
        judged.of.is_policy()
            && matches!(
                contained(|| judged.metric.step(&judged.input(), &Transcript::default())),
                Ok(Step::Ask(requests)) if requests.iter().any(|request| matches!(request, Request::Judge(_)))
            )
    }

    /// The metric and its input, for those who settle what its readings say. `None` where no metric has this name.
    pub fn with_input<T>(
        &self,
        case: &GoldenCase,
        sample: &Sample,
        key: &MetricKey,
        look: impl FnOnce(&'static dyn Metric, &Input<'_>) -> T,
    ) -> Option<T> {
        let judged = self.judged(case, sample, key)?;
        Some(look(judged.metric, &judged.input()))
    }

    fn judged<'a>(&self, case: &'a GoldenCase, sample: &'a Sample, key: &'a MetricKey) -> Option<Judged<'a>> {
        let metric = self.metrics.iter().copied().find(|metric| metric.name() == key.name())?;
        let baseline = metric.reads_baseline().then(|| self.baseline.sample_of(case)).flatten().map(Arc::new);
        let of = self.rules.metrics.get(key).map_or(AskedOf::Policy, |rule| rule.judge);
        Some(Judged { metric, params: self.rules.params_of(case, key), of, case, key, sample, baseline })
    }

    async fn verdicts_again(
        &self,
        judged: &Judged<'_>,
        reread: &dyn Reread,
        claims: &[Claim],
        number: u32,
    ) -> FreshReading {
        let mut transcript = Transcript::default();
        for _ in 0..MAX_ROUNDS {
            let step = contained(|| reread.step(&judged.input(), claims, number, &transcript));
            let heard = match step {
                Err(panic) => Heard::Nothing { why: format!("the metric panicked: {panic}") },
                Ok(asking::Reading::Ask(request)) => {
                    let (reply, source) = self.ask(judged.case, judged.of, &request).await;
                    transcript.exchanges.push(Exchange { request, reply, of: judged.of, source });
                    continue;
                }
                Ok(asking::Reading::Fault(fault)) => {
                    let last = transcript.exchanges.last().map(|exchange| exchange.request.clone());
                    self.forget(judged.of, last.as_slice(), &transcript);
                    Heard::Nothing { why: format!("{}: {}", fault.cause, fault.why) }
                }
                Ok(asking::Reading::Read(verdicts)) if verdicts.len() == claims.len() => Heard::Verdicts { verdicts },
                Ok(asking::Reading::Read(verdicts)) => {
                    let why = format!("{} verdicts on the {} items of the first reading", verdicts.len(), claims.len());
                    Heard::Nothing { why }
                }
            };
            return FreshReading { heard, exchanges: transcript.exchanges };
        }
        unfinished(transcript)
    }

    async fn score_again(&self, judged: &Judged<'_>, number: u32) -> FreshReading {
        // The metric sees the requests that it made; the judge is asked the same under other samples.
        let (mut seen, mut sent) = (Transcript::default(), Transcript::default());
        let mut asked: Vec<Request> = Vec::new();
        for _ in 0..MAX_ROUNDS {
            let requests = match contained(|| judged.metric.step(&judged.input(), &seen)) {
                Err(panic) => {
                    let heard = Heard::Nothing { why: format!("the metric panicked: {panic}") };
                    return FreshReading { heard, exchanges: sent.exchanges };
                }
                Ok(Step::Done(outcome)) => {
                    let heard = match finish(judged.metric, &judged.params, outcome) {
                        Outcome::Scored { score, .. } => Heard::Score { score: score.value },
                        Outcome::NotApplicable { why } => Heard::Nothing { why: format!("not applicable: {why}") },
                        Outcome::Unmeasured { fault } => {
                            self.forget(judged.of, &asked, &sent);
                            Heard::Nothing { why: format!("{}: {}", fault.cause, fault.why) }
                        }
                    };
                    return FreshReading { heard, exchanges: sent.exchanges };
                }
                Ok(Step::Ask(requests)) => requests,
            };
            let new: Vec<Request> = requests.into_iter().filter(|one| seen.reply_to(one).is_none()).collect();
            if new.is_empty() {
                break;
            }
            asked = new.iter().map(|request| of_reading(request, number)).collect();
            let asking = asked.iter().map(|request| self.ask(judged.case, judged.of, request));
            let replies = futures_util::future::join_all(asking).await;
            for ((request, later), (reply, source)) in new.into_iter().zip(&asked).zip(replies) {
                seen.exchanges.push(Exchange { request, reply: reply.clone(), of: judged.of, source });
                sent.exchanges.push(Exchange { request: later.clone(), reply, of: judged.of, source });
            }
        }
        unfinished(sent)
    }

    /// Drops the stored replies that do not fit, so that the next run asks anew: the last that were asked of a reading that came to nothing.
    fn forget(&self, of: AskedOf, asked: &[Request], transcript: &Transcript) {
        let of_judge = |request: &Request| match request {
            Request::Judge(request) => Some(request.clone()),
            Request::Embed(_) => None,
        };
        let asked: Vec<JudgeRequest> = asked.iter().filter_map(of_judge).collect();
        if of.is_policy() {
            self.judging.forget(&asked, transcript);
        }
    }
}

/// The same request in the whole reading of this number.
fn of_reading(request: &Request, number: u32) -> Request {
    match request {
        Request::Judge(request) => {
            let sample = request.sample.saturating_add(number.saturating_mul(SAMPLES_APART));
            Request::Judge(JudgeRequest { sample, ..request.clone() })
        }
        // Vectors are the same each time.
        Request::Embed(_) => request.clone(),
    }
}

fn unfinished(transcript: Transcript) -> FreshReading {
    let why = "it asks for more although all its requests have replies".to_owned();
    FreshReading { heard: Heard::Nothing { why }, exchanges: transcript.exchanges }
}

#[cfg(test)]
mod tests;
