//! The metric `context_entity_recall`: which share of the reference's entities the retrieved contexts name.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    Formula, Input, Kind, Metric, Params, Step, asking,
    context_recall::{missing_reference, reference_and_contexts},
    material::Readable,
    numbered::entries,
    scoring::{push_claim, share_of_claims, supported},
};
use crate::{
    model::{Claim, GoldenCase, JudgeRequest, Outcome, Transcript, Verdict},
    text,
};

/// Share of the different entities of the reference answer that the retrieved contexts name, 0 to 1.
///
/// Entities in both / entities of the reference, after RAGAS's context entities recall. An entity is a name, place, date, amount or the
/// like, as the judge finds them sentence by sentence; the same one in other letter case counts once.
///
/// No readable context: 0. Not applicable without a reference, where the right answer is to decline, and where the judge says of every
/// sentence that it names no entity. Unmeasured, as an error in the case, for a first reference without text.
#[derive(Debug, Clone, Copy)]
pub struct ContextEntityRecall;

const WORDS: [(&str, Verdict); 2] = [("found", Verdict::Supported), ("missing", Verdict::Unsupported)];

impl Metric for ContextEntityRecall {
    fn name(&self) -> &str {
        "context_entity_recall"
    }

    fn about(&self) -> &str {
        "share of the reference answer's entities that the retrieved contexts name"
    }

    fn formula(&self, _params: &Params) -> Formula {
        Formula::share("entities of the reference that the contexts name / entities of the reference", "entities found")
    }

    fn kind(&self) -> Kind {
        Kind::Judged
    }

    fn not_applicable(&self, case: &GoldenCase, _params: &Params) -> Option<String> {
        missing_reference(case)
    }

    fn step(&self, input: &Input<'_>, transcript: &Transcript) -> Step {
        let (sentences, contexts) = match reference_and_contexts(input) {
            Ok(both) => both,
            Err(outcome) => return Step::Done(*outcome),
        };
        let request = JudgeRequest::new("context_entity_recall.entities", input.language())
            .numbered("sentences", sentences.iter())
            .numbered("contexts", contexts.texts());
        asking::read(transcript, &request, |reply| entities(reply, sentences.len(), &contexts)).then(|entities| {
            if entities.is_empty() {
                return Outcome::not_applicable("the judge finds no entity in the reference answer");
            }
            share_of_claims(supported(&entities), entities)
        })
    }
}

/// The different entities, in the order of the reference.
fn entities(reply: &Value, sentences: usize, contexts: &Readable<'_>) -> Result<Vec<Claim>, String> {
    let mut all = Vec::new();
    for sentence in entries(reply, "sentences", sentences)? {
        for part in sentence.list_or_no_claim("entities")? {
            let name = part.text("entity")?.ok_or_else(|| format!("{} has no `entity`", part.place()))?;
            let (evidence, reason) = contexts.grounds(&part)?;
            let verdict = part.one_of("verdict", &WORDS)?;
            let claim = Claim { text: text::normalise(name), verdict, evidence, reason };
            push_claim(&mut all, claim, |verdict| match verdict {
                Verdict::Supported | Verdict::Inferred => "found",
                Verdict::Unsupported | Verdict::Contradicted => "missing",
            })?;
        }
    }
    let mut seen = BTreeSet::new();
    all.retain(|claim| seen.insert(claim.text.clone()));
    Ok(all)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        metric::trying::{Try, context},
        model::Language,
    };

    fn tried() -> Try {
        Try::of(&ContextEntityRecall)
            .answer("Lisbon.")
            .references(&["The office is in Lisbon. It opened in Lisbon in 2007.", "another"])
            .contexts(vec![context("blank", ""), context("office", "Our office in Lisbon.")])
    }

    fn reply(second: &[(&str, &str)]) -> Value {
        let of = |list: &[(&str, &str)]| -> Value {
            list.iter().map(|(entity, verdict)| json!({"entity": entity, "verdict": verdict})).collect()
        };
        json!({"sentences": [{"n": 1, "entities": of(&[("Lisbon", "found")])}, {"n": 2, "entities": of(second)}]})
    }

    #[test]
    fn the_request_shows_the_first_reference_and_the_readable_contexts() {
        let expected = JudgeRequest::new("context_entity_recall.entities", Language::En)
            .numbered("sentences", ["The office is in Lisbon.", "It opened in Lisbon in 2007."])
            .numbered("contexts", ["Our office in Lisbon."]);
        assert_eq!(tried().first_request(), expected);
    }

    #[test]
    fn the_score_is_entities_found_of_all_different_ones() {
        tried().replies(&[reply(&[("LISBON", "found"), ("2007", "missing")])]).expect_share(1, 2);
        tried().replies(&[reply(&[("2007", "found")])]).expect_share(2, 2);
        let none = json!({"sentences": [{"n": 1, "no_claim": true}, {"n": 2, "no_claim": true}]});
        tried().replies(&[none]).expect_not_applicable("no entity");
    }

    #[test]
    fn what_the_case_lacks_makes_it_not_applicable_and_what_the_system_lacks_makes_it_zero() {
        tried().references(&[]).expect_not_applicable("no reference").expect_asked(0);
        tried().should_refuse().expect_not_applicable("decline").expect_asked(0);
        tried().references(&["…"]).expect_unmeasured("data error").expect_asked(0);
        tried().contexts(vec![]).expect_score(0.0).expect_note("no contexts").expect_asked(0);
    }

    #[test]
    fn a_reply_that_does_not_fit_is_asked_again_and_then_unmeasured() {
        let good = reply(&[("2007", "found")]);
        for bad in [
            json!({"sentences": [{"n": 1, "entities": [{"entity": "Lisbon", "verdict": "found"}]}]}),
            reply(&[]),
            reply(&[("", "found")]),
            reply(&[("2007", "yes")]),
            reply(&[("lisbon", "missing")]),
            json!({"entities": [{"entity": "Lisbon", "verdict": "found"}]}),
        ] {
            tried().replies(&[bad.clone(), bad.clone()]).expect_unmeasured("judge reply incomplete").expect_asked(2);
            tried().replies(&[bad, good.clone()]).expect_share(2, 2).expect_asked(2);
        }
    }
}
