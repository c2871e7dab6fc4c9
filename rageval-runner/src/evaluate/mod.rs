//! The one loop that asks: the system first, then whatever the metrics need.
//!
//! User code never runs on the runtime's own threads: each call of the system sits on a blocking thread of its own, so that a
//! system that blocks, spins or panics costs its own case and no other. Whatever happens, a case ends as a [`Record`].

pub mod asking;
pub mod assembly;
pub mod calibrated;
mod claim;
pub mod estimate;
mod judging;
mod kept;
mod limits;
mod probing;
mod repeats;
pub mod reread;
mod similarity;
pub mod stamp;
pub mod steps;
pub mod thrice;

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

pub use judging::{Judging, Replies};

use crate::{
    contain::contained,
    gate::rule::{MetricRule, Rules},
    judge::offline,
    metric::{Input, Metric, Params, Step, finish},
    model::{
        AskedOf, CaseId, Exchange, GoldenCase, JudgeRequest, MetricKey, Outcome, Record, Reply, ReplySource, Request,
        Sample, Taken, Transcript, Unmeasured,
    },
    store::{baseline::Answers, ledger::Ledger, slots::Limit},
    system::{Asked, Latency, Question, RagSystem, cause},
    text,
};

pub use similarity::{Embedding, Vectors};

/// Rounds of asking after which a metric is taken to be unable to finish.
const MAX_ROUNDS: usize = 16;

/// How long after its time limit a call may take to wind up before its thread is left behind.
const GRACE: Duration = Duration::from_millis(250);

/// Everything that one case's evaluation needs; shared by all.
pub struct Evaluation {
    /// The system under test.
    pub system: Arc<dyn RagSystem>,
    /// The judge.
    pub judging: Judging,
    /// What the run spends on models, of its budget.
    pub ledger: Ledger,
    /// The metrics that rules may name.
    pub metrics: Vec<&'static dyn Metric>,
    /// The rules, for the metrics to compute and their parameters.
    pub rules: Rules,
    /// The answers of the accepted run, for metrics that compare with them; empty where none does or there is no such run.
    pub baseline: Answers,
    /// How long one call of the system may take.
    pub system_timeout: Duration,
    /// How many calls of the system may be under way.
    pub system_limit: Limit,
    /// The embedder with its limits; `None` where the policy names none.
    pub embedding: Option<Embedding>,
}

/// One metric of one case, on its way to an outcome.
struct Pending<'a> {
    metric: &'static dyn Metric,
    key: &'a MetricKey,
    params: Params,
    /// Who answers its requests.
    of: AskedOf,
    /// What it asked last.
    asked: Vec<JudgeRequest>,
}

impl Evaluation {
    /// Asks the system about one case once and takes every metric to its outcome; `repeat` is the number of this asking, where there are several.
    async fn once(&self, case: &GoldenCase, repeat: Option<usize>) -> Record {
        let taken = match self.take(case, repeat).await {
            Ok(sample) => Taken::Sample(sample),
            Err(fault) => Taken::Failed(fault),
        };
        self.measured(case, taken, self.rules.metrics_of(case)).await
    }

    /// Takes the given metrics of an answer that is there already to their outcomes. The requests are those of a whole record, so that what
    /// is stored for them is found.
    pub async fn outcomes(&self, case: &GoldenCase, sample: Sample, metrics: &[MetricKey]) -> Record {
        let metrics = metrics.iter().map(|key| (key, self.rules.metrics.get(key)));
        self.measured(case, Taken::Sample(sample), metrics).await
    }

    async fn measured<'a>(
        &'a self,
        case: &'a GoldenCase,
        taken: Taken,
        metrics: impl Iterator<Item = (&'a MetricKey, Option<&'a MetricRule>)>,
    ) -> Record {
        let mut outcomes = BTreeMap::new();
        let mut pending = Vec::new();
        for (key, rule) in metrics {
            let Some(metric) = self.metrics.iter().copied().find(|metric| metric.name() == key.name()) else {
                let why = format!("no metric is called `{}`", key.name());
                outcomes.insert(key.clone(), Outcome::unmeasured("unknown metric", why));
                continue;
            };
            let params = self.rules.params_of(case, key);
            match (contained(|| metric.not_applicable(case, &params)), &taken) {
                (Err(panic), _) => {
                    outcomes.insert(key.clone(), panicked(&panic));
                }
                (Ok(Some(why)), _) => {
                    outcomes.insert(key.clone(), Outcome::not_applicable(why));
                }
                (Ok(None), Taken::Failed(fault)) => {
                    outcomes.insert(key.clone(), Outcome::Unmeasured { fault: fault.clone() });
                }
                (Ok(None), Taken::Sample(_)) => pending.push(Pending {
                    metric,
                    key,
                    params,
                    of: rule.map_or(AskedOf::Policy, |rule| rule.judge),
                    asked: Vec::new(),
                }),
            }
        }
        let mut transcript = Transcript::default();
        if let Taken::Sample(sample) = &taken {
            self.measure(case, sample, pending, &mut outcomes, &mut transcript).await;
        }
        Record::new(case.id.clone(), case.digest(), taken, outcomes, transcript)
    }

    /// Asks the system, within its limits; settles whether the answer is a refusal.
    async fn take(&self, case: &GoldenCase, repeat: Option<usize>) -> Result<Sample, Unmeasured> {
        let _permit =
            self.system_limit.acquire().await.map_err(|error| {
                Unmeasured::new(cause::ERROR, format!("no place among the calls under way: {error}"))
            })?;
        let question = Question { repeat, ..Question::from(case) };
        let system = Arc::clone(&self.system);
        let runtime = tokio::runtime::Handle::current();
        let started = Instant::now();
        let limit = self.system_timeout;
        // The inner time-out drops the call's future, which stops what it started; the outer one leaves a blocked thread behind.
        let call = tokio::task::spawn_blocking(move || {
            contained(|| runtime.block_on(async { tokio::time::timeout(limit, system.ask(&question)).await }))
        });
        let answered = match tokio::time::timeout(limit + GRACE, call).await {
            Err(_) | Ok(Ok(Ok(Err(_)))) => {
                let why = format!("no answer within {}; raise `system.timeout` if that is too short", seconds(limit));
                return Err(Unmeasured::new(cause::TIME_OUT, why));
            }
            Ok(Err(join)) => return Err(Unmeasured::new(cause::PANIC, join.to_string())),
            Ok(Ok(Err(panic))) => return Err(Unmeasured::new(cause::PANIC, panic)),
            Ok(Ok(Ok(Ok(answered)))) => answered,
        };
        let Asked { answer, latency } = answered?;
        let latency_ms = match latency {
            Latency::Stated(ms) => Some(ms),
            Latency::Measured => Some(started.elapsed().as_secs_f64() * 1000.0),
            Latency::Unknown => None,
        };
        let is_refusal = match answer.refused {
            Some(flag) => flag,
            None => text::is_refusal(&answer.response, case.language),
        };
        Ok(Sample { answer, is_refusal, latency_ms })
    }

    /// Steps all metrics until each is done; requests of one round are asked side by side, equal ones once.
    async fn measure(
        &self,
        case: &GoldenCase,
        sample: &Sample,
        mut pending: Vec<Pending<'_>>,
        outcomes: &mut BTreeMap<MetricKey, Outcome>,
        transcript: &mut Transcript,
    ) {
        // A metric sees what its own judge replied, and nothing of another's.
        let mut known: BTreeMap<AskedOf, Transcript> =
            pending.iter().map(|one| (one.of, Transcript::default())).collect();
        let reads_baseline = pending.iter().any(|one| one.metric.reads_baseline());
        let answered_before = reads_baseline.then(|| self.baseline.sample_of(case)).flatten();
        for _ in 0..MAX_ROUNDS {
            let mut asked: Vec<(AskedOf, Request)> = Vec::new();
            let mut waiting = Vec::new();
            for mut one in pending {
                let baseline = answered_before.as_ref().filter(|_| one.metric.reads_baseline());
                let input = Input { case, sample, key: one.key, params: &one.params, baseline };
                let transcript = known.entry(one.of).or_default();
                match contained(|| one.metric.step(&input, transcript)) {
                    Err(panic) => {
                        outcomes.insert(one.key.clone(), panicked(&panic));
                    }
                    Ok(Step::Done(outcome)) => {
                        if one.of.is_policy() && matches!(outcome, Outcome::Unmeasured { .. }) {
                            self.judging.forget(&one.asked, transcript);
                        }
                        outcomes.insert(one.key.clone(), finish(one.metric, &one.params, outcome));
                    }
                    Ok(Step::Ask(requests)) => {
                        let of_judge = |request: &Request| match request {
                            Request::Judge(request) => Some(request.clone()),
                            Request::Embed(_) => None,
                        };
                        one.asked = requests.iter().filter_map(of_judge).collect();
                        for request in requests {
                            let is_new = transcript.reply_to(&request).is_none();
                            let request = (one.of, request);
                            if is_new && !asked.contains(&request) {
                                asked.push(request);
                            }
                        }
                        waiting.push(one);
                    }
                }
            }
            pending = waiting;
            if asked.is_empty() {
                break;
            }
            let replies =
                futures_util::future::join_all(asked.iter().map(|(of, request)| self.ask(case, *of, request)));
            for ((of, request), (reply, source)) in asked.iter().zip(replies.await) {
                let exchange = Exchange { request: request.clone(), reply, of: *of, source };
                known.entry(*of).or_default().exchanges.push(exchange);
            }
        }
        transcript.exchanges.extend(known.into_values().flat_map(|known| known.exchanges));
        for one in pending {
            let why = "it asks for more although all its requests have replies";
            outcomes.insert(one.key.clone(), Outcome::unmeasured("metric did not finish", why));
        }
    }

    async fn ask(&self, case: &GoldenCase, of: AskedOf, request: &Request) -> (Reply, Option<ReplySource>) {
        self.ask_at(&case.id, of, request).await
    }

    async fn ask_at(&self, case: &CaseId, of: AskedOf, request: &Request) -> (Reply, Option<ReplySource>) {
        match (of, request) {
            (AskedOf::Policy, Request::Judge(request)) => self.judging.ask(case, request).await,
            (AskedOf::Offline, Request::Judge(request)) => (offline::reply(request), None),
            (AskedOf::Policy | AskedOf::Offline, Request::Embed(request)) => {
                similarity::similarities(self.embedding.as_ref(), case, request).await
            }
        }
    }
}

fn panicked(message: &str) -> Outcome {
    Outcome::unmeasured("metric panicked", message)
}

fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}
