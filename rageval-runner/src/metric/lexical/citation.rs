//! The metric `citation`: whether what the answer cites was retrieved.

use std::collections::BTreeSet;

use super::{passes_by_silence, pattern::compile};
use crate::{
    metric::{Formula, Input, Kind, Metric, Param, ParamKind, Params, Step, answering::Answering, cause},
    model::{Detail, DocId, GoldenCase, Outcome, Transcript, UnitInterval},
};

/// Share of the different ids cited in the answer that were retrieved; 0 when it cites none.
///
/// A citation is `[id]`, or several ids in one pair of brackets between `,` or `;`; a Markdown link is none. With `pattern` it is
/// what the pattern's one capture group holds.
#[derive(Debug, Clone, Copy)]
pub struct Citation;

impl Metric for Citation {
    fn name(&self) -> &str {
        "citation"
    }

    fn about(&self) -> &str {
        "share of the ids cited in the answer that were retrieved"
    }

    fn formula(&self, _params: &Params) -> Formula {
        Formula::share(
            "different ids cited that were retrieved / different ids cited; 0 without a citation",
            "cited ids retrieved",
        )
    }

    fn kind(&self) -> Kind {
        Kind::Text
    }

    fn params(&self) -> &[Param] {
        &[Param {
            name: "pattern",
            kind: ParamKind::Regex,
            about: "a regular expression whose one capture group is the cited id; `[id]` by default",
        }]
    }

    fn not_applicable(&self, _case: &GoldenCase, _params: &Params) -> Option<String> {
        None
    }

    fn step(&self, input: &Input<'_>, _transcript: &Transcript) -> Step {
        if Answering::of(input.sample) == Answering::Refused {
            return Step::Done(Outcome::not_applicable("the system declined: there is nothing to cite"));
        }
        if let Some(outcome) = passes_by_silence(input) {
            return Step::Done(outcome);
        }
        let response = &input.sample.answer.response;
        let retrieved: BTreeSet<&str> =
            input.sample.answer.retrieved_contexts.iter().filter_map(|c| c.id.as_ref()).map(DocId::as_str).collect();
        let cited = match input.params.text("pattern") {
            None => Ok(cited_in_brackets(response, &retrieved)),
            Some(pattern) => cited_by_pattern(response, pattern),
        };
        let contexts = input.sample.answer.retrieved_contexts.len();
        Step::Done(match cited {
            Ok(cited) if !cited.is_empty() && contexts > 0 && retrieved.is_empty() => {
                let why = format!(
                    "citation: none of the {contexts} retrieved contexts carries an id, so nothing can be compared with \
                     what is cited; give each context the id of its document"
                );
                Outcome::unmeasured(cause::CONTEXT_IDS, why)
            }
            Ok(cited) => cited_share(&cited, &retrieved),
            Err(why) => Outcome::unmeasured(cause::PARAMETER, format!("citation: {why}")),
        })
    }
}

fn cited_share(cited: &BTreeSet<&str>, retrieved: &BTreeSet<&str>) -> Outcome {
    let good = cited.intersection(retrieved).count();
    let unknown: Vec<_> = cited.difference(retrieved).map(|id| format!("{id:?}")).collect();
    match UnitInterval::share(good, cited.len()) {
        None => {
            let note = Some("no citation".to_owned());
            Outcome::scored_with(UnitInterval::ZERO, Detail { note, ..Detail::default() })
        }
        Some(score) => {
            let note = (!unknown.is_empty()).then(|| format!("cited, not retrieved: {}", unknown.join(", ")));
            Outcome::scored_with(score, Detail { k_of_n: Some((good, cited.len())), note, ..Detail::default() })
        }
    }
}

/// The ids between innermost brackets. What was retrieved under the whole text is one id; else `,` and `;` part several.
fn cited_in_brackets<'a>(response: &'a str, retrieved: &BTreeSet<&str>) -> BTreeSet<&'a str> {
    let mut cited = BTreeSet::new();
    for (close, _) in response.match_indices(']') {
        let before = &response[..close];
        let Some(open) = before.rfind(['[', ']']) else { continue };
        let is_link = response[close + 1..].starts_with('(');
        if before[open..].starts_with(']') || is_link {
            continue;
        }
        let inside = before[open + 1..].trim();
        if retrieved.contains(inside) {
            cited.insert(inside);
        } else {
            cited.extend(inside.split([',', ';', '，', '；', '、']).map(str::trim).filter(|id| !id.is_empty()));
        }
    }
    cited
}

fn cited_by_pattern<'a>(response: &'a str, pattern: &str) -> Result<BTreeSet<&'a str>, String> {
    let regex = compile(pattern)?;
    if regex.captures_len() != 2 {
        let groups = regex.captures_len() - 1;
        return Err(format!(
            "the pattern `{pattern}` has {groups} capture groups; write one, around the id: `\\[(\\w+)\\]`"
        ));
    }
    Ok(regex
        .captures_iter(response)
        .filter_map(|captures| captures.get(1))
        .map(|id| id.as_str().trim())
        .filter(|id| !id.is_empty())
        .collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        metric::trying::{Try, context},
        model::RetrievedContext,
    };

    fn cites(answer: &str, retrieved: &[&str]) -> Try {
        let contexts = retrieved.iter().map(|id| context(id, "text")).collect();
        Try::of(&Citation).answer(answer).contexts(contexts)
    }

    #[test]
    fn citations_are_ids_in_brackets() {
        cites("30 days [refunds].", &["refunds", "shipping"]).expect_share(1, 1);
        cites("30 days [refunds][shipping] [ made-up ].", &["refunds", "shipping"]).expect_share(2, 3);
        cites("30 days [refunds] and [refunds].", &["refunds"]).expect_share(1, 1);
        cites("[refunds, made-up; shipping]", &["refunds", "shipping"]).expect_share(2, 3);
        cites("[a, b]", &["a, b"]).expect_share(1, 1);
        cites("[退款、配送]", &["退款", "配送"]).expect_share(2, 2);
        cites("[made-up]", &["refunds"]).expect_share(0, 1).expect_note("cited, not retrieved: \"made-up\"");
        cites("see [the page](https://example.org) [refunds]", &["refunds"]).expect_share(1, 1);
        cites("x] [] [ ] [[refunds]] [open", &["refunds"]).expect_share(1, 1);
        cites("[refunds]", &[]).expect_share(0, 1);
    }

    #[test]
    fn an_answer_that_cites_nothing_is_zero_and_a_refusal_not_applicable() {
        cites("30 days.", &["refunds"]).expect_score(0.0).expect_note("no citation");
        cites("", &["refunds"]).refusal("Sorry.").expect_not_applicable("declined");
        cites("", &["refunds"]).should_refuse().refusal("Sorry.").expect_not_applicable("declined");
    }

    #[test]
    fn citations_cannot_be_compared_with_contexts_that_carry_no_id() {
        let without_ids =
            |answer: &str| Try::of(&Citation).answer(answer).contexts(vec![RetrievedContext::without_id("text")]);
        without_ids("30 days [1].").expect_unmeasured("contexts without ids");
        without_ids("30 days.").expect_score(0.0).expect_note("no citation");
    }

    #[test]
    fn a_pattern_says_what_a_citation_is() {
        let doc = |pattern: &str| cites("see (doc:refunds) (doc:x)", &["refunds"]).param("pattern", json!(pattern));
        doc(r"\(doc:(\w+)\)").expect_share(1, 2);
        doc(r"\(doc:\w+\)").expect_unmeasured("metric parameter invalid").expect_why("0 capture groups");
        doc(r"(\()doc:(\w+)\)").expect_unmeasured("metric parameter invalid").expect_why("2 capture groups");
        doc("(").expect_unmeasured("metric parameter invalid");
    }
}
