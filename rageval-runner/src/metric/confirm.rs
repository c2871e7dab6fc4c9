//! `faithfulness.confirm`: has given claims judged, for the first time or once more.

use serde_json::Value;

use super::{faithfulness::claim, material::Readable, numbered::entries, scoring::push_claim, shuffled::Shuffled};
use crate::model::{Claim, JudgeRequest, Language, Verdict};

/// One reading of given claims: what is asked, and how the reply is read.
///
/// Sample 0 shows claims and contexts in their own order. Each later sample shows both in an order drawn from the request itself and the
/// number of the sample, so that where something stands weighs on no two readings alike; equal inputs give an equal request.
#[derive(Debug, Clone, PartialEq)]
pub struct Confirm<'a> {
    request: JudgeRequest,
    claims: Vec<String>,
    shuffled: Shuffled<'a>,
}

impl<'a> Confirm<'a> {
    /// The reading of this number; at least one claim and one readable context.
    pub fn new(query: &str, claims: Vec<String>, contexts: &Readable<'a>, language: Language, sample: u32) -> Self {
        let shuffled = Shuffled::new(query, &claims, contexts, sample);
        let request = JudgeRequest::new("faithfulness.confirm", language)
            .text("query", query)
            .numbered("claims", shuffled.shown(&claims))
            .numbered("contexts", shuffled.contexts().texts());
        Self { request: JudgeRequest { sample, ..request }, claims, shuffled }
    }

    /// What the judge is asked.
    pub fn request(&self) -> &JudgeRequest {
        &self.request
    }

    /// The claims with what a reply says of them, in the order in which they were given.
    ///
    /// # Errors
    /// The reply does not fit the request, or gives one claim two verdicts.
    pub fn read(&self, reply: &Value) -> Result<Vec<Claim>, String> {
        let parts = self.shuffled.back(entries(reply, "claims", self.claims.len())?);
        let mut claims = Vec::with_capacity(self.claims.len());
        for (part, text) in parts.iter().zip(&self.claims) {
            push_claim(&mut claims, claim(part, text, self.shuffled.contexts())?, Verdict::as_str)?;
        }
        Ok(claims)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::{
        metric::trying::context,
        model::{Answer, Evidence, Sample},
    };

    fn texts(name: &str, count: usize) -> Vec<String> {
        (0..count).map(|n| format!("{name} {n}")).collect()
    }

    fn sample(contexts: usize) -> Sample {
        let retrieved_contexts = (0..contexts).map(|n| context(&format!("id {n}"), &format!("context {n}"))).collect();
        let answer = Answer { retrieved_contexts, ..Answer::default() };
        Sample { answer, is_refusal: false, latency_ms: None }
    }

    fn shown<'r>(request: &'r JudgeRequest, field: &str) -> &'r [String] {
        request.numbered_of(field).expect("a numbered field")
    }

    /// A judge that knows what it thinks of each text, wherever it stands: a claim of an even number is supported, by the context whose
    /// number is the claim's (of as many as there are).
    fn judged(request: &JudgeRequest) -> Value {
        let contexts = shown(request, "contexts");
        let number = |text: &str| text.rsplit(' ').next().expect("a word").parse::<usize>().expect("a number");
        let entry = |(claim, n): (&String, usize)| {
            let own = number(claim);
            let context = contexts.iter().position(|text| number(text) == own % contexts.len()).expect("the context");
            let verdict = if own % 2 == 0 { "supported" } else { "unsupported" };
            json!({"n": n, "verdict": verdict, "context": context + 1, "quote": contexts[context], "reason": claim})
        };
        let claims: Vec<_> = shown(request, "claims").iter().zip(1..).map(entry).collect();
        json!({"claims": claims})
    }

    proptest! {
        #[test]
        fn verdicts_come_back_to_their_own_claims_and_evidence_to_its_own_context(
            claims in 1..12_usize, contexts in 1..8_usize, number in 0..20_u32
        ) {
            let sample = sample(contexts);
            let readable = Readable::of(&sample);
            let confirm = Confirm::new("Q?", texts("claim", claims), &readable, Language::En, number);
            prop_assert_eq!(&confirm, &Confirm::new("Q?", texts("claim", claims), &readable, Language::En, number));
            prop_assert_eq!(confirm.request().sample, number);
            let sorted = |mut texts: Vec<String>| { texts.sort(); texts };
            prop_assert_eq!(sorted(shown(confirm.request(), "claims").to_vec()), sorted(texts("claim", claims)));
            prop_assert_eq!(sorted(shown(confirm.request(), "contexts").to_vec()), sorted(texts("context", contexts)));
            let read = confirm.read(&judged(confirm.request())).expect("a reply that fits");
            prop_assert_eq!(read.len(), claims);
            for (n, claim) in read.into_iter().enumerate() {
                let verdict = if n % 2 == 0 { Verdict::Supported } else { Verdict::Unsupported };
                let own = n % contexts;
                let id = Some(format!("id {own}").as_str().into());
                let evidence = Some(Evidence { id, text: format!("context {own}") });
                let text = format!("claim {n}");
                prop_assert_eq!(claim, Claim { text: text.clone(), verdict, evidence, reason: Some(text) });
            }
        }
    }

    #[test]
    fn the_first_sample_keeps_the_order_and_later_ones_have_orders_of_their_own() {
        let sample = sample(6);
        let readable = Readable::of(&sample);
        let of = |number, query: &str| {
            let confirm = Confirm::new(query, texts("claim", 6), &readable, Language::En, number);
            (shown(confirm.request(), "claims").to_vec(), shown(confirm.request(), "contexts").to_vec())
        };
        assert_eq!(of(0, "Q?"), (texts("claim", 6), texts("context", 6)));
        let orders: BTreeSet<_> = (0..8).map(|number| of(number, "Q?")).collect();
        assert_eq!(orders.len(), 8);
        assert_ne!(of(1, "Q?"), of(1, "Another?"));
    }

    #[test]
    fn a_reply_that_does_not_fit_is_refused_in_any_order() {
        let sample = sample(2);
        let readable = Readable::of(&sample);
        for number in 0..4 {
            let confirm = Confirm::new("Q?", vec!["a".to_owned(), "a".to_owned()], &readable, Language::En, number);
            let reply = |verdict| json!({"claims": [{"n": 1, "verdict": "supported"}, {"n": 2, "verdict": verdict}]});
            assert_eq!(confirm.read(&reply("supported")).map(|claims| claims.len()), Ok(2));
            assert!(confirm.read(&reply("unsupported")).is_err_and(|why| why.starts_with("`a` is both ")));
            assert!(confirm.read(&json!({"claims": [{"n": 1, "verdict": "supported"}]})).is_err());
        }
    }
}
