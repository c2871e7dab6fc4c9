//! The metric `contains`: whether the answer holds given texts.

use unicode_normalization::UnicodeNormalization;

use super::passes_by_silence;
use crate::{
    metric::{Formula, Input, Kind, Metric, Param, ParamKind, Params, Step, cause},
    model::{Detail, GoldenCase, Outcome, Transcript, UnitInterval},
    text,
};

/// 1 when the answer holds at least one text of `any` and every text of `all`, else 0. Whatever of the two is given must hold.
///
/// Texts are compared as parts of the answer (`30` is in `300`), after normalisation, in any letter case unless `ignore_case: false`.
#[derive(Debug, Clone, Copy)]
pub struct Contains;

impl Metric for Contains {
    fn name(&self) -> &str {
        "contains"
    }

    fn about(&self) -> &str {
        "whether the answer holds given texts"
    }

    fn formula(&self, _params: &Params) -> Formula {
        Formula::of("1 when the answer holds every text of `all` and at least one of `any`, else 0")
    }

    fn kind(&self) -> Kind {
        Kind::Text
    }

    fn params(&self) -> &[Param] {
        &[
            Param { name: "any", kind: ParamKind::Texts, about: "at least one of these stands in the answer" },
            Param { name: "all", kind: ParamKind::Texts, about: "every one of these stands in the answer" },
            Param {
                name: "ignore_case",
                kind: ParamKind::Flag,
                about: "compares without regard to letter case; true by default",
            },
        ]
    }

    fn not_applicable(&self, _case: &GoldenCase, params: &Params) -> Option<String> {
        (params.texts("any").is_empty() && params.texts("all").is_empty())
            .then(|| "neither the policy nor the case gives texts to look for".to_owned())
    }

    fn step(&self, input: &Input<'_>, _transcript: &Transcript) -> Step {
        Step::Done(contains(self, input))
    }
}

fn contains(metric: &Contains, input: &Input<'_>) -> Outcome {
    if let Some(why) = metric.not_applicable(input.case, input.params) {
        return Outcome::not_applicable(why);
    }
    if let Some(outcome) = passes_by_silence(input) {
        return outcome;
    }
    let fold = match input.params.0.get("ignore_case").and_then(serde_json::Value::as_bool) {
        Some(false) => normalised_in_case,
        Some(true) | None => text::normalise,
    };
    let (any, all) = (input.params.texts("any"), input.params.texts("all"));
    if let Some(nothing) = any.iter().chain(&all).find(|wanted| fold(wanted).is_empty()) {
        let why = format!("contains: {nothing:?} in `any` or `all` holds nothing to look for");
        return Outcome::unmeasured(cause::PARAMETER, why);
    }
    let response = fold(&input.sample.answer.response);
    let is_missing = |wanted: &&&str| !response.contains(&fold(wanted));
    let quoted = |texts: Vec<&&str>| texts.into_iter().map(|text| format!("{text:?}")).collect::<Vec<_>>().join(", ");
    let missing: Vec<&&str> = all.iter().filter(is_missing).collect();
    let has_none = !any.is_empty() && any.iter().all(|wanted| is_missing(&wanted));
    // A condition is each text of `all`, and `any` as a whole.
    let conditions = all.len() + usize::from(!any.is_empty());
    let failed = missing.len() + usize::from(has_none);
    let mut notes = Vec::new();
    if !missing.is_empty() {
        notes.push(format!("missing: {}", quoted(missing)));
    }
    if has_none {
        notes.push(format!("none of: {}", quoted(any.iter().collect())));
    }
    let found: Vec<&&str> = any.iter().chain(&all).filter(|wanted| !is_missing(wanted)).collect();
    if !found.is_empty() {
        notes.push(format!("found: {}", quoted(found)));
    }
    let detail =
        Detail { k_of_n: Some((conditions - failed, conditions)), note: Some(notes.join("; ")), ..Detail::default() };
    Outcome::scored_with(UnitInterval::from_yes(failed == 0), detail)
}

/// NFKC with single spaces, in the letter case as written.
fn normalised_in_case(text: &str) -> String {
    let text: String = text.nfkc().collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::metric::trying::Try;

    fn contains(answer: &str) -> Try {
        Try::of(&Contains).answer(answer)
    }

    #[test]
    fn contains_wants_one_of_any_and_each_of_all() {
        let answer = || contains("Refunds take ３０ Days, “always”.");
        answer().param("any", json!(["60 days", "30 days"])).expect_score(1.0).expect_share(1, 1);
        answer().param("any", json!("30 days")).expect_score(1.0);
        answer().param("any", json!(["60", "90"])).expect_score(0.0).expect_note("none of: \"60\", \"90\"");
        answer().param("all", json!(["refunds", "\"always\""])).expect_share(2, 2);
        let tried = answer().param("all", json!(["refunds", "never", "60"]));
        assert_eq!(tried.detail().k_of_n, Some((1, 3)));
        tried.expect_score(0.0).expect_note("missing: \"never\", \"60\"; found: \"refunds\"");
        let both = answer().param("all", json!(["refunds"])).param("any", json!(["60"]));
        assert_eq!(both.detail().k_of_n, Some((1, 2)));
        both.expect_score(0.0).expect_note("none of: \"60\"; found: \"refunds\"");
    }

    #[test]
    fn contains_can_look_at_letter_case() {
        contains("Use IT.").param("any", json!(["it"])).expect_score(1.0);
        contains("Use IT.").param("any", json!(["it"])).param("ignore_case", json!(false)).expect_score(0.0);
        contains("Use ＩＴ.").param("any", json!(["IT"])).param("ignore_case", json!(false)).expect_score(1.0);
    }

    #[test]
    fn contains_without_texts_has_nothing_to_measure() {
        contains("x").expect_not_applicable("gives texts");
        contains("x").param("any", json!([" "])).expect_unmeasured("metric parameter invalid");
        contains("x").param("all", json!(["x", "\u{3000}"])).expect_unmeasured("metric parameter invalid");
    }
}
