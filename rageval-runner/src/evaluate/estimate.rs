//! What a run would ask: the metrics' own steps, driven with stand-in replies, without network and without the system.

mod samples;

use std::collections::{BTreeMap, BTreeSet};

pub use samples::{Samples, Source};

use super::{MAX_ROUNDS, judging::Replies, similarity::Vectors};
use crate::{
    contain::contained,
    embed,
    gate::rule::Rules,
    judge::{self, key::ReplyKey, offline, prompt::Prompts},
    metric::{Input, Metric, Step},
    model::{
        AskedOf, EmbedRequest, Ending, Exchange, GoldenCase, GoldenSet, JudgeRequest, MetricKey, Price, Reply, Request,
        Sample, Transcript,
    },
};

/// What a run would ask, counted case by case.
///
/// Counted are first readings, each asked once: not what is sent again after an error, asked again because a reply does not fit, or
/// asked to confirm a suspicion.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Estimate {
    /// Judging requests by name.
    pub requests: BTreeMap<String, Asked>,
    /// How many cases stand on a sample of each source.
    pub cases: BTreeMap<Source, usize>,
    /// Requests by name that have no stand-in reply: what a metric asks after them is not counted.
    pub open_ended: BTreeMap<String, u64>,
}

/// What is asked under one name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Asked {
    /// Requests, equal ones once.
    pub requests: u64,
    /// Of these, whose reply is stored: they cost nothing.
    pub stored: u64,
    /// Of these, whose reply is not stored and may not be asked for, since the mode is `replay`.
    pub missing: u64,
    /// Tokens of the prompts that are left to be sent, about.
    pub input_tokens: u64,
    /// Tokens of their replies, about.
    pub output_tokens: u64,
}

impl Asked {
    /// Requests that are left to be sent.
    pub fn to_ask(&self) -> u64 {
        self.requests.saturating_sub(self.stored).saturating_sub(self.missing)
    }

    /// Read and written tokens.
    pub fn tokens(&self) -> u64 {
        self.input_tokens + self.output_tokens
    }

    /// US dollars at this price, about.
    pub fn usd(&self, price: Price) -> f64 {
        price.usd(self.input_tokens, self.output_tokens)
    }
}

impl std::ops::AddAssign for Asked {
    fn add_assign(&mut self, more: Self) {
        self.requests += more.requests;
        self.stored += more.stored;
        self.missing += more.missing;
        self.input_tokens += more.input_tokens;
        self.output_tokens += more.output_tokens;
    }
}

impl Estimate {
    /// All requests together.
    pub fn total(&self) -> Asked {
        let mut total = self.of_judge();
        total += self.of_embedder();
        total
    }

    /// What the embedder is asked.
    pub fn of_embedder(&self) -> Asked {
        self.requests.get(EmbedRequest::NAME).copied().unwrap_or_default()
    }

    /// What the judge is asked.
    pub fn of_judge(&self) -> Asked {
        let mut total = Asked::default();
        for (_, asked) in self.requests.iter().filter(|(name, _)| *name != EmbedRequest::NAME) {
            total += *asked;
        }
        total
    }
}

/// What is stored of the models that a run would ask.
#[derive(Clone, Copy, Default)]
pub struct Stored<'a> {
    /// The judge's replies; `None` for a judge that is code.
    pub replies: Option<&'a Replies>,
    /// The embedder's vectors; `None` where there is no embedder, or its vectors stand in a file: then nothing is counted for it.
    pub vectors: Option<&'a Vectors>,
}

/// Counts what a run over the set would ask under these rules with these prompts.
pub fn estimate(
    set: &GoldenSet,
    rules: &Rules,
    prompts: &Prompts,
    metrics: &[&dyn Metric],
    samples: &Samples,
    stored: Stored<'_>,
) -> Estimate {
    let mut counting = Counting { stored, prompts, counted: BTreeSet::new(), other: 0, estimate: Estimate::default() };
    for case in &set.cases {
        let (source, known) = samples.of(case);
        *counting.estimate.cases.entry(source).or_default() += 1;
        let accepted = samples.accepted(case);
        // Of repeats whose answers are not known, each is taken to be another one, so that nothing is stored or asked already.
        for repeat in 0..case.repeats.times {
            let Some((sample, earlier)) = known.get(repeat).or(known.first()) else { break };
            counting.other = if repeat < known.len() { 0 } else { repeat };
            counting.case(case, (sample, accepted.as_ref()), earlier, rules, metrics);
        }
    }
    counting.estimate
}

/// A metric on its way to its outcome.
struct Pending<'a> {
    metric: &'a dyn Metric,
    key: &'a MetricKey,
    params: crate::metric::Params,
    of: AskedOf,
}

struct Counting<'a> {
    stored: Stored<'a>,
    prompts: &'a Prompts,
    /// Equal requests of two cases are asked once, and equal texts.
    counted: BTreeSet<ReplyKey>,
    /// Above 0 where the answer stands for another one that is not known: what is asked about it is found under no key of this one.
    other: usize,
    estimate: Estimate,
}

impl Counting<'_> {
    fn case(
        &mut self,
        case: &GoldenCase,
        (sample, accepted): (&Sample, Option<&Sample>),
        earlier: &Transcript,
        rules: &Rules,
        metrics: &[&dyn Metric],
    ) {
        let mut pending: Vec<Pending<'_>> = Vec::new();
        for (key, rule) in rules.metrics_of(case) {
            let Some(metric) = metrics.iter().copied().find(|metric| metric.name() == key.name()) else { continue };
            let params = rules.params_of(case, key);
            if let Ok(None) = contained(|| metric.not_applicable(case, &params)) {
                let of = rule.map_or(AskedOf::Policy, |rule| rule.judge);
                pending.push(Pending { metric, key, params, of });
            }
        }
        let mut known: BTreeMap<AskedOf, Transcript> =
            pending.iter().map(|one| (one.of, Transcript::default())).collect();
        for _ in 0..MAX_ROUNDS {
            let mut asked: Vec<(AskedOf, Request)> = Vec::new();
            pending.retain(|one| {
                let baseline = accepted.filter(|_| one.metric.reads_baseline());
                let input = Input { case, sample, key: one.key, params: &one.params, baseline };
                let transcript = known.entry(one.of).or_default();
                match contained(|| one.metric.step(&input, transcript)) {
                    Ok(Step::Ask(requests)) => {
                        let is_new = |request: &Request| transcript.reply_to(request).is_none();
                        asked.extend(requests.into_iter().filter(is_new).map(|request| (one.of, request)));
                        true
                    }
                    // A metric that panics asks nothing more in a run either.
                    Ok(Step::Done(_)) | Err(_) => false,
                }
            });
            asked.sort();
            asked.dedup();
            if asked.is_empty() {
                return;
            }
            for (of, request) in asked {
                let reply = match (of, &request) {
                    (AskedOf::Policy, Request::Judge(asked)) => self.judge(asked, earlier.reply_to(&request)),
                    (AskedOf::Offline, Request::Judge(asked)) => offline::reply(asked),
                    (AskedOf::Policy | AskedOf::Offline, Request::Embed(asked)) => self.embedder(asked),
                };
                known.entry(of).or_default().exchanges.push(Exchange { request, reply, of, source: None });
            }
        }
    }

    /// Counts one judging request; returns its stored reply, else the one that an earlier run got, else a stand-in.
    fn judge(&mut self, request: &JudgeRequest, earlier: Option<&Reply>) -> Reply {
        let stand_in = match earlier {
            Some(reply @ Reply::Value { .. }) => reply.clone(),
            Some(Reply::Failed { .. }) | None => offline::reply(request),
        };
        let prompt = match self.prompts.render(request) {
            Ok(prompt) => prompt,
            // Nothing is sent without a prompt.
            Err(error) => return Reply::Failed { ending: Ending::Unsupported, why: error.to_string() },
        };
        let asked = self.of_other(request);
        let (stored, is_counted) = match self.stored.replies.and_then(|replies| replies.look_up(&asked)) {
            Some((key, stored)) => (stored, !self.counted.insert(key)),
            None => (None, false),
        };
        if is_counted {
            return stored.unwrap_or(stand_in);
        }
        let asked = self.estimate.requests.entry(request.name.clone()).or_default();
        asked.requests += 1;
        match stored {
            Some(reply @ Reply::Failed { ending: Ending::Missing, .. }) => {
                asked.missing += 1;
                reply
            }
            Some(reply) => {
                asked.stored += 1;
                reply
            }
            None => {
                let texts = [&*prompt.system, &prompt.user, &prompt.schema_text];
                asked.input_tokens += texts.into_iter().map(judge::tokens_of).sum::<u64>();
                asked.output_tokens += match &stand_in {
                    Reply::Value { value } => judge::tokens_of(&value.to_string()),
                    Reply::Failed { .. } => {
                        *self.estimate.open_ended.entry(request.name.clone()).or_default() += 1;
                        judge::estimated(request).output_tokens
                    }
                };
                stand_in
            }
        }
    }

    /// The request under a key that no request about a known answer has.
    fn of_other(&self, request: &JudgeRequest) -> JudgeRequest {
        let beyond = u32::try_from(self.other).unwrap_or(u32::MAX).saturating_mul(1_000_000);
        JudgeRequest { sample: request.sample.saturating_add(beyond), ..request.clone() }
    }

    /// Counts what one question to the embedder takes, less the texts whose vectors are stored; the texts stand in for like ones.
    fn embedder(&mut self, request: &EmbedRequest) -> Reply {
        let stand_in = Reply::Value { value: vec![1.0; request.others.len()].into() };
        let Some(vectors) = self.stored.vectors else { return stand_in };
        let mut to_ask = Vec::new();
        let mut refused = None;
        let mut new = 0_usize;
        for text in request.texts() {
            let (key, found) = match self.other {
                0 => vectors.look_up(&text),
                other => vectors.look_up(&format!("{text}\0{other}")),
            };
            let is_new = self.counted.insert(key);
            new += usize::from(is_new);
            match found {
                Some(Ok(_)) => {}
                Some(Err(failed)) => refused = Some(failed),
                None if is_new => to_ask.push(text),
                None => {}
            }
        }
        let requests = |texts: usize| texts.div_ceil(embed::BATCH) as u64;
        let asked = self.estimate.requests.entry(EmbedRequest::NAME.to_owned()).or_default();
        asked.requests += requests(new);
        if let Some(failed) = refused {
            asked.missing += requests(new);
            return failed.into();
        }
        asked.stored += requests(new) - requests(to_ask.len());
        asked.input_tokens += embed::estimated(&to_ask).tokens();
        stand_in
    }
}

#[cfg(test)]
mod tests;
