//! Asks about one claim of an answer that is there already.

use super::{Evaluation, MAX_ROUNDS, panicked};
use crate::{
    contain::contained,
    metric::{Input, Step, single_claim},
    model::{AskedOf, Exchange, Item, JudgeRequest, MetricKey, Outcome, Request, Transcript},
};

impl Evaluation {
    /// What the metric's judge says of an item's claim alone, 1 where it is good and else 0; with all that was asked. An item without a claim
    /// and a metric without claims are unmeasured.
    pub async fn claim(&self, item: &Item, key: &MetricKey) -> (Outcome, Transcript) {
        let mut transcript = Transcript::default();
        let Some(claim) = item.claim.as_deref().filter(|_| single_claim::takes_claims(key.name())) else {
            let why = format!("`{key}` has no verdict on a single claim; label whole answers: leave out `claim`");
            return (Outcome::unmeasured("no single claims", why), transcript);
        };
        let params = self.rules.params_of(&item.case, key);
        let of = self.rules.metrics.get(key).map_or(AskedOf::Policy, |rule| rule.judge);
        let input = Input { case: &item.case, sample: &item.sample, key, params: &params, baseline: None };
        let mut asked: Vec<JudgeRequest> = Vec::new();
        for _ in 0..MAX_ROUNDS {
            let requests = match contained(|| single_claim::step(&input, claim, &transcript)) {
                Err(panic) => return (panicked(&panic), transcript),
                Ok(Step::Done(outcome)) => {
                    if of.is_policy() && matches!(outcome, Outcome::Unmeasured { .. }) {
                        self.judging.forget(&asked, &transcript);
                    }
                    return (outcome, transcript);
                }
                Ok(Step::Ask(requests)) => requests,
            };
            let of_judge = |request: &Request| match request {
                Request::Judge(request) => Some(request.clone()),
                Request::Embed(_) => None,
            };
            asked = requests.iter().filter_map(of_judge).collect();
            let replies = requests.iter().map(|request| self.ask(&item.case, of, request));
            let replies = futures_util::future::join_all(replies).await;
            let exchanges = requests.into_iter().zip(replies);
            transcript.exchanges.extend(exchanges.map(|(request, (reply, source))| Exchange {
                request,
                reply,
                of,
                source,
            }));
        }
        let why = "it asks for more although all its requests have replies";
        (Outcome::unmeasured("metric did not finish", why), transcript)
    }
}
