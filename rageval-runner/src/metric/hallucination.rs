//! The metric `hallucination`: which share of the answer's claims the retrieved contexts do not contradict.

use super::{
    Formula, Input, Kind, Metric, Param, Params, Reread, Step,
    asking::Reading,
    faithfulness::{MODE, judged_again, share_of},
    scoring::share_of_claims,
};
use crate::model::{Claim, GoldenCase, Outcome, Transcript, Verdict};

/// Share of the answer's claims that the retrieved contexts do not contradict, 0 to 1; 1 is an answer without contradiction.
///
/// It reads the same verdicts as `faithfulness`, asked once for both, and forgives what the contexts are silent on. Without a readable
/// context, for refusals and for blank answers it ends as `faithfulness` does.
#[derive(Debug, Clone, Copy)]
pub struct Hallucination;

impl Metric for Hallucination {
    fn name(&self) -> &str {
        "hallucination"
    }

    fn about(&self) -> &str {
        "share of the answer's claims that the retrieved contexts do not contradict: 1 is none contradicted"
    }

    fn formula(&self, _params: &Params) -> Formula {
        Formula::share(
            "claims that the contexts do not contradict / all claims of the answer",
            "claims not contradicted",
        )
    }

    fn kind(&self) -> Kind {
        Kind::Judged
    }

    fn params(&self) -> &[Param] {
        &[MODE]
    }

    fn not_applicable(&self, _case: &GoldenCase, _params: &Params) -> Option<String> {
        None
    }

    fn rereads(&self) -> Option<&dyn Reread> {
        Some(self)
    }

    fn step(&self, input: &Input<'_>, transcript: &Transcript) -> Step {
        share_of(input, transcript, |verdict| !self.is_bad(input.params, verdict))
    }
}

impl Reread for Hallucination {
    fn step(&self, input: &Input<'_>, claims: &[Claim], number: u32, transcript: &Transcript) -> Reading<Vec<Verdict>> {
        judged_again(input, claims, number, transcript)
    }

    fn is_bad(&self, _params: &Params, verdict: Verdict) -> bool {
        match verdict {
            Verdict::Supported | Verdict::Inferred | Verdict::Unsupported => false,
            Verdict::Contradicted => true,
        }
    }

    fn outcome(&self, input: &Input<'_>, claims: Vec<Claim>) -> Outcome {
        share_of_claims(claims.iter().filter(|claim| !self.is_bad(input.params, claim.verdict)).count(), claims)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::metric::{
        faithfulness::Faithfulness,
        trying::{Try, context},
    };

    fn tried(metric: &'static dyn Metric) -> Try {
        Try::of(metric).answer("Refunds take 30 days.").contexts(vec![context("refunds", "Within 30 days.")])
    }

    fn reply(verdicts: &[&str]) -> Value {
        let claims: Vec<_> =
            verdicts.iter().zip(1..).map(|(v, i)| json!({"claim": format!("claim {i}"), "verdict": v})).collect();
        json!({"sentences": [{"n": 1, "claims": claims}]})
    }

    #[test]
    fn only_contradicted_claims_count_against_it() {
        for (verdicts, k, n) in [
            (&["supported", "inferred", "unsupported"][..], 3, 3),
            (&["supported", "contradicted"], 1, 2),
            (&["contradicted"], 0, 1),
        ] {
            tried(&Hallucination).replies(&[reply(verdicts)]).expect_share(k, n);
        }
    }

    #[test]
    fn it_asks_what_faithfulness_asks_so_that_one_reply_serves_both() {
        assert_eq!(tried(&Hallucination).first_request(), tried(&Faithfulness).first_request());
        for mode in ["two_step", "labels", "one_by_one"] {
            let first = |metric| tried(metric).param("mode", json!(mode)).first_request();
            assert_eq!(first(&Hallucination), first(&Faithfulness), "{mode}");
        }
    }

    #[test]
    fn what_cant_be_judged_ends_as_it_does_for_faithfulness() {
        tried(&Hallucination).contexts(vec![]).expect_score(0.0).expect_note("no contexts").expect_asked(0);
        tried(&Hallucination).refusal("Sorry.").expect_not_applicable("nothing was claimed").expect_asked(0);
        tried(&Hallucination).answer(" ").expect_unmeasured("answer blank").expect_asked(0);
        let bad = reply(&["hallucinated"]);
        tried(&Hallucination).replies(&[bad.clone(), bad]).expect_unmeasured("judge reply incomplete");
    }
}
