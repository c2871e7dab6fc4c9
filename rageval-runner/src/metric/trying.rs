//! Runs a metric on one sample with replies given in order, for the tests beside the metrics.

use serde_json::Value;

use super::{Input, Metric, Params, Step};
use crate::model::{
    Answer, AskedOf, CaseId, Detail, EmbedRequest, Exchange, Expectation, GoldenCase, JudgeRequest, Language,
    MetricKey, Outcome, Place, Reply, Request, RetrievedContext, Sample, Transcript, Usage,
};

/// A metric, a case, a sample and the replies to come. Starts from an answerable English question about refunds.
pub(crate) struct Try {
    metric: &'static dyn Metric,
    case: GoldenCase,
    sample: Sample,
    params: Params,
    baseline: Option<Sample>,
    replies: Vec<Reply>,
}

/// A context with an id.
pub(crate) fn context(id: &str, text: &str) -> RetrievedContext {
    RetrievedContext::new(id, text)
}

impl Try {
    pub(crate) fn of(metric: &'static dyn Metric) -> Self {
        let case = GoldenCase {
            group: "en".to_owned(),
            place: Place { file: "cases/en.yaml".to_owned(), line: 3, column: 3 },
            ..GoldenCase::new(CaseId::new("case-1").expect("a valid id"), "How long do refunds take?")
        };
        let sample = Sample { answer: Answer::default(), is_refusal: false, latency_ms: Some(0.0) };
        Self { metric, case, sample, params: Params::default(), baseline: None, replies: Vec::new() }
    }

    pub(crate) fn language(mut self, language: Language) -> Self {
        self.case.language = language;
        self
    }

    pub(crate) fn references(mut self, references: &[&str]) -> Self {
        self.case.references = references.iter().map(|text| (*text).to_owned()).collect();
        self
    }

    pub(crate) fn should_refuse(mut self) -> Self {
        self.case.expectation = Expectation::Refuse;
        self
    }

    pub(crate) fn answer(mut self, text: &str) -> Self {
        self.sample.answer.response = text.to_owned();
        self
    }

    pub(crate) fn refusal(mut self, text: &str) -> Self {
        self.sample.is_refusal = true;
        self.answer(text)
    }

    pub(crate) fn refused_without_words(mut self) -> Self {
        self.sample.answer.refused = Some(true);
        self.refusal("")
    }

    /// The accepted run's answer.
    pub(crate) fn baseline(mut self, text: &str) -> Self {
        let is_refusal = crate::text::is_refusal(text, self.case.language);
        self.baseline = Some(Sample { answer: Answer::new(text), is_refusal, latency_ms: None });
        self
    }

    pub(crate) fn id(mut self, id: &str) -> Self {
        self.case.id = CaseId::new(id).expect("a valid id");
        self
    }

    pub(crate) fn contexts(mut self, contexts: Vec<RetrievedContext>) -> Self {
        self.sample.answer.retrieved_contexts = contexts;
        self
    }

    pub(crate) fn latency_ms(mut self, latency_ms: f64) -> Self {
        self.sample.latency_ms = Some(latency_ms);
        self
    }

    pub(crate) fn usage(mut self, input_tokens: u64, output_tokens: u64) -> Self {
        self.sample.answer.usage = Some(Usage { input_tokens, output_tokens });
        self
    }

    pub(crate) fn cost_usd(mut self, cost_usd: f64) -> Self {
        self.sample.answer.cost_usd = Some(cost_usd);
        self
    }

    pub(crate) fn param(mut self, name: &str, value: Value) -> Self {
        self.params.0.insert(name.to_owned(), value);
        self
    }

    pub(crate) fn replies(mut self, values: &[Value]) -> Self {
        self.replies = values.iter().map(|value| Reply::Value { value: value.clone() }).collect();
        self
    }

    pub(crate) fn raw_replies(mut self, replies: Vec<Reply>) -> Self {
        self.replies = replies;
        self
    }

    fn step(&self, transcript: &Transcript) -> Step {
        self.look(|input| self.metric.step(input, transcript))
    }

    /// Shows what the metric looks at.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&Input<'_>) -> T) -> T {
        let key = MetricKey::parse(self.metric.name()).expect("a metric's name is a key");
        let baseline = self.baseline.as_ref();
        look(&Input { case: &self.case, sample: &self.sample, key: &key, params: &self.params, baseline })
    }

    /// What it asks first.
    pub(crate) fn first_requests(&self) -> Vec<JudgeRequest> {
        match self.step(&Transcript::default()) {
            Step::Ask(requests) => requests
                .into_iter()
                .filter_map(|request| match request {
                    Request::Judge(request) => Some(request),
                    Request::Embed(_) => None,
                })
                .collect(),
            Step::Done(outcome) => panic!("it asked nothing and is {outcome:?}"),
        }
    }

    /// The one thing it asks first.
    pub(crate) fn first_request(&self) -> JudgeRequest {
        let requests = self.first_requests();
        assert_eq!(requests.len(), 1, "{requests:?}");
        requests.into_iter().next().expect("one request")
    }

    /// The outcome after negation, and how many requests were made. Panics when it asks for more than there are replies.
    pub(crate) fn run(&self) -> (Outcome, usize) {
        let mut replies = self.replies.iter();
        self.run_with(|request| replies.next().unwrap_or_else(|| panic!("no reply left for {request:?}")).clone())
    }

    /// The same with a judge, and an embedder by which all texts are alike.
    pub(crate) fn run_by(&self, mut judge: impl FnMut(&JudgeRequest) -> Reply) -> (Outcome, usize) {
        self.run_with(|request| match request {
            Request::Judge(request) => judge(request),
            Request::Embed(EmbedRequest { others, .. }) => Reply::Value { value: vec![1.0; others.len()].into() },
        })
    }

    /// The outcome, and the formula with its numbers.
    pub(crate) fn worked(&self) -> (Outcome, Vec<String>) {
        let mut replies = self.replies.iter();
        let next =
            |request: &Request| replies.next().unwrap_or_else(|| panic!("no reply left for {request:?}")).clone();
        let (outcome, transcript) = self.transcript_with(next);
        let lines = self.look(|input| super::worked::worked(self.metric, input, &transcript, &outcome));
        (outcome, lines)
    }

    fn run_with(&self, reply_to: impl FnMut(&Request) -> Reply) -> (Outcome, usize) {
        let (outcome, transcript) = self.transcript_with(reply_to);
        (outcome, transcript.exchanges.len())
    }

    fn transcript_with(&self, mut reply_to: impl FnMut(&Request) -> Reply) -> (Outcome, Transcript) {
        let mut transcript = Transcript::default();
        loop {
            match self.step(&transcript) {
                Step::Done(outcome) => {
                    let outcome = super::finish(self.metric, &self.params, outcome);
                    return (outcome, transcript);
                }
                Step::Ask(requests) => {
                    assert!(!requests.is_empty(), "an empty question never ends");
                    for request in requests {
                        assert_eq!(transcript.reply_to(&request), None, "it asked the same again");
                        let reply = reply_to(&request);
                        transcript.exchanges.push(Exchange { request, reply, of: AskedOf::Policy, source: None });
                    }
                }
            }
        }
    }

    pub(crate) fn detail(&self) -> Detail {
        self.run().0.detail().expect("a score").clone()
    }

    pub(crate) fn expect_score(self, expected: f64) -> Self {
        let (outcome, _) = self.run();
        let score = outcome.score().unwrap_or_else(|| panic!("expected {expected}, got {outcome:?}")).get();
        assert!((score - expected).abs() < 1e-15, "expected {expected}, got {score}: {outcome:?}");
        if expected == 1.0 {
            assert_eq!(score, 1.0, "perfect is exactly 1");
        }
        self
    }

    pub(crate) fn expect_share(self, k: usize, n: usize) -> Self {
        assert_eq!(self.detail().k_of_n, Some((k, n)));
        self.expect_score(k as f64 / n as f64)
    }

    pub(crate) fn expect_raw(self, raw: f64) -> Self {
        match self.run().0 {
            Outcome::Scored { score, .. } => assert_eq!(score.raw, Some(raw)),
            outcome @ (Outcome::NotApplicable { .. } | Outcome::Unmeasured { .. }) => panic!("not scored: {outcome:?}"),
        }
        self
    }

    pub(crate) fn expect_note(self, part: &str) -> Self {
        let note = self.detail().note.unwrap_or_default();
        assert!(note.contains(part), "`{note}` lacks `{part}`");
        self
    }

    pub(crate) fn expect_not_applicable(self, part: &str) -> Self {
        match self.run().0 {
            Outcome::NotApplicable { why } => assert!(why.contains(part), "`{why}` lacks `{part}`"),
            outcome @ (Outcome::Scored { .. } | Outcome::Unmeasured { .. }) => panic!("applicable: {outcome:?}"),
        }
        self
    }

    pub(crate) fn expect_unmeasured(self, cause: &str) -> Self {
        let (outcome, _) = self.run();
        let fault = outcome.fault().unwrap_or_else(|| panic!("expected `{cause}`, got {outcome:?}"));
        assert_eq!(fault.cause, cause, "{}", fault.why);
        assert!(!fault.why.is_empty());
        self
    }

    pub(crate) fn expect_why(self, part: &str) -> Self {
        let (outcome, _) = self.run();
        let why = &outcome.fault().expect("a fault").why;
        assert!(why.contains(part), "`{why}` lacks `{part}`");
        self
    }

    pub(crate) fn expect_asked(self, requests: usize) -> Self {
        assert_eq!(self.run().1, requests);
        self
    }
}
