//! The `offline` judge: a screen for evidence by text, without a model.
use super::Judge;
use crate::{
    model::{CaseId, Ending, JudgeRequest, Reply, Verdict, run::JudgeStamp},
    system::BoxFuture,
    text::{self, evidence::weigh},
};
use serde_json::{Value, json};
/// Temporary.
#[derive(Debug, Default)]
pub struct Offline;
impl Judge for Offline {
    fn stamp(&self) -> JudgeStamp {
        JudgeStamp { provider: "offline".into(), model: "x".into(), fingerprint: "xxxxxxxx".into() }
    }
    fn is_deterministic(&self) -> bool {
        true
    }
    fn ask<'a>(&'a self, _case: &'a CaseId, r: &'a JudgeRequest) -> BoxFuture<'a, Reply> {
        Box::pin(async move {
            let refs = |name: &str| -> Vec<&str> {
                r.numbered_of(name).unwrap_or_default().iter().map(String::as_str).collect()
            };
            let n = |v: Vec<Value>| {
                v.into_iter()
                    .enumerate()
                    .map(|(i, mut v)| {
                        v["n"] = json!(i + 1);
                        v
                    })
                    .collect::<Vec<_>>()
            };
            let good = |v: Verdict| matches!(v, Verdict::Supported | Verdict::Inferred);
            let value = match r.name.as_str() {
                "faithfulness.verdicts" => {
                    json!({"sentences": n(refs("sentences").iter().map(|s| { let w = weigh(s, &refs("contexts"), r.language);
                    let mut c = json!({"claim": s, "verdict": w.verdict.as_str(), "reason": w.why}); if let Some((i, q)) = w.best { c["context"] = json!(i + 1); c["quote"] = json!(q); } json!({"claims": [c]}) }).collect())})
                }
                "answer_relevancy.verdicts" => {
                    json!({"sentences": n(refs("sentences").iter().map(|s| json!({"verdict": if weigh(r.text_of("query").unwrap(), &[s], r.language).coverage > 0.2 {"relevant"} else {"irrelevant"}})).collect())})
                }
                "context_precision.verdicts" => {
                    json!({"contexts": n(refs("contexts").iter().map(|s| json!({"verdict": if weigh(r.text_of("reference").or(r.text_of("query")).unwrap(), &[s], r.language).coverage > 0.5 {"useful"} else {"not_useful"}})).collect())})
                }
                "context_recall.attributions" => {
                    json!({"sentences": n(refs("sentences").iter().map(|s| json!({"verdict": if good(weigh(s, &refs("contexts"), r.language).verdict) {"attributed"} else {"not_attributed"}})).collect())})
                }
                "answer_correctness.statements" => {
                    json!({"answer": n(refs("answer").iter().map(|s| json!({"verdict": if good(weigh(s, &refs("reference"), r.language).verdict) {"correct"} else {"wrong"}})).collect()),
                    "reference": n(refs("reference").iter().map(|s| json!({"verdict": if good(weigh(s, &refs("answer"), r.language).verdict) {"covered"} else {"missing"}})).collect())})
                }
                "refusal_correctness.verdict" => {
                    json!({"refused": text::is_refusal(r.text_of("answer").unwrap(), r.language)})
                }
                _ => return Reply::Failed { ending: Ending::Unsupported, why: "offline".into() },
            };
            Reply::Value { value }
        })
    }
}
