//! Text metrics: what the answer says, by rule.
//!
//! Each can be negated with `not: true`. A blank answer scores like any other text, except under `not`, where it is unmeasured: it would
//! pass by saying nothing.

use std::collections::{BTreeMap, BTreeSet};

use regex::{Regex, RegexBuilder};
use unicode_normalization::UnicodeNormalization;

use super::{
    Input, Kind, Metric, Param, ParamKind, Params, Step,
    answering::{Answering, blank, right_refusal},
    cause,
    material::named,
};
use crate::{
    model::{Detail, DocId, Expectation, GoldenCase, Outcome, Transcript, UnitInterval},
    text,
};

/// 1 when the answer equals a reference after `SQuAD`'s normalisation, else 0; the best over the references.
#[derive(Debug, Clone, Copy)]
pub struct ExactMatch;

/// Overlap of the answer's words with a reference's, as F1 over bags of normalised tokens (`SQuAD`); the best over the references.
#[derive(Debug, Clone, Copy)]
pub struct TokenF1;

/// 1 when the answer holds at least one text of `any` and every text of `all`, else 0. Whatever of the two is given must hold.
///
/// Texts are compared as parts of the answer (`30` is in `300`), after normalisation, in any letter case unless `ignore_case: false`.
#[derive(Debug, Clone, Copy)]
pub struct Contains;

/// 1 when `pattern` matches anywhere in the answer as it stands, else 0.
#[derive(Debug, Clone, Copy)]
pub struct RegexMatch;

/// Share of the different ids cited in the answer that were retrieved; 0 when it cites none.
///
/// A citation is `[id]`, or several ids in one pair of brackets between `,` or `;`; a Markdown link is none. With `pattern` it is
/// what the pattern's one capture group holds.
#[derive(Debug, Clone, Copy)]
pub struct Citation;

impl Metric for ExactMatch {
    fn name(&self) -> &str {
        "exact_match"
    }

    fn about(&self) -> &str {
        "whether the answer equals a reference answer after normalisation"
    }

    fn kind(&self) -> Kind {
        Kind::Text
    }

    fn not_applicable(&self, case: &GoldenCase, _params: &Params) -> Option<String> {
        without_reference(case)
    }

    fn step(&self, input: &Input<'_>, _transcript: &Transcript) -> Step {
        Step::Done(against_references(input, |answer, reference| UnitInterval::from_yes(answer.is_equal(reference))))
    }
}

impl Metric for TokenF1 {
    fn name(&self) -> &str {
        "token_f1"
    }

    fn about(&self) -> &str {
        "overlap of the answer's words with those of a reference answer, as F1"
    }

    fn kind(&self) -> Kind {
        Kind::Text
    }

    fn not_applicable(&self, case: &GoldenCase, _params: &Params) -> Option<String> {
        without_reference(case)
    }

    fn step(&self, input: &Input<'_>, _transcript: &Transcript) -> Step {
        Step::Done(against_references(input, Normalised::overlap))
    }
}

/// A text as exact match and token F1 see it.
struct Normalised {
    tokens: Vec<String>,
    text: String,
}

impl Normalised {
    fn of(text: &str, input: &Input<'_>) -> Self {
        Self { tokens: text::answer_tokens(text, input.language()), text: text::normalise(text) }
    }

    /// Equal tokens; texts of articles and punctuation alone have none and are compared as they stand.
    fn is_equal(&self, other: &Self) -> bool {
        if self.tokens.is_empty() { self.text == other.text } else { self.tokens == other.tokens }
    }

    /// 2 x common tokens / all tokens, each token as often as it stands in both.
    fn overlap(&self, other: &Self) -> UnitInterval {
        let mut left: BTreeMap<&str, usize> = BTreeMap::new();
        for token in &other.tokens {
            *left.entry(token).or_default() += 1;
        }
        let mut common = 0;
        for token in &self.tokens {
            if let Some(count) = left.get_mut(token.as_str()).filter(|count| **count > 0) {
                *count -= 1;
                common += 1;
            }
        }
        UnitInterval::share(2 * common, self.tokens.len() + other.tokens.len())
            .unwrap_or_else(|| UnitInterval::from_yes(self.is_equal(other)))
    }
}

fn without_reference(case: &GoldenCase) -> Option<String> {
    case.references.is_empty().then(|| "the case has no reference answer".to_owned())
}

/// The best score of the answer over the references that are not blank.
fn against_references(input: &Input<'_>, score: impl Fn(&Normalised, &Normalised) -> UnitInterval) -> Outcome {
    if let Some(why) = without_reference(input.case) {
        return Outcome::not_applicable(why);
    }
    match (Answering::of(input.sample), input.case.expectation) {
        (Answering::Refused, Expectation::Refuse) => return right_refusal(),
        (Answering::Blank, _) if input.params.flag("not") => return blank(input),
        (Answering::Refused | Answering::Answered | Answering::Blank, Expectation::Answer | Expectation::Refuse) => {}
    }
    let answer = Normalised::of(&input.sample.answer.response, input);
    let references = input.case.references.iter().filter(|reference| !reference.trim().is_empty());
    match references.map(|reference| score(&answer, &Normalised::of(reference, input))).max() {
        Some(best) => Outcome::scored(best),
        None => {
            let why = format!("{}: the reference answer is blank; write what the right answer says", named(input));
            Outcome::unmeasured(cause::DATA, why)
        }
    }
}

impl Metric for Contains {
    fn name(&self) -> &str {
        "contains"
    }

    fn about(&self) -> &str {
        "whether the answer holds given texts"
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
    if Answering::of(input.sample) == Answering::Blank && input.params.flag("not") {
        return blank(input);
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

impl Metric for RegexMatch {
    fn name(&self) -> &str {
        "regex"
    }

    fn about(&self) -> &str {
        "whether a regular expression matches in the answer"
    }

    fn kind(&self) -> Kind {
        Kind::Text
    }

    fn params(&self) -> &[Param] {
        &[Param {
            name: "pattern",
            kind: ParamKind::Regex,
            about: "the regular expression, in the syntax of Rust's regex crate; `(?i)` ignores letter case",
        }]
    }

    fn not_applicable(&self, _case: &GoldenCase, params: &Params) -> Option<String> {
        params.text("pattern").is_none().then(|| "neither the policy nor the case gives a pattern".to_owned())
    }

    fn step(&self, input: &Input<'_>, _transcript: &Transcript) -> Step {
        let Some(pattern) = input.params.text("pattern") else {
            return Step::Done(Outcome::not_applicable("neither the policy nor the case gives a pattern"));
        };
        if Answering::of(input.sample) == Answering::Blank && input.params.flag("not") {
            return Step::Done(blank(input));
        }
        Step::Done(match compile(pattern) {
            Err(why) => Outcome::unmeasured(cause::PARAMETER, format!("regex: {why}")),
            Ok(regex) => {
                let found = regex.find(&input.sample.answer.response);
                let note = match found {
                    Some(found) => format!("matched: {:?}", super::asking::shortened(found.as_str())),
                    None => format!("no match of `{pattern}`"),
                };
                let detail = Detail { note: Some(note), ..Detail::default() };
                Outcome::scored_with(UnitInterval::from_yes(found.is_some()), detail)
            }
        })
    }
}

/// Compiles a pattern of the policy or a case within fixed limits of size, the same wherever it is checked.
///
/// # Errors
/// What is wrong with it.
pub fn compile(pattern: &str) -> Result<Regex, String> {
    RegexBuilder::new(pattern)
        .size_limit(1 << 20)
        .dfa_size_limit(1 << 21)
        .build()
        .map_err(|error| format!("the pattern `{pattern}` does not compile: {error}"))
}

impl Metric for Citation {
    fn name(&self) -> &str {
        "citation"
    }

    fn about(&self) -> &str {
        "share of the ids cited in the answer that were retrieved"
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
        match Answering::of(input.sample) {
            Answering::Refused => {
                return Step::Done(Outcome::not_applicable("the system declined: there is nothing to cite"));
            }
            Answering::Blank if input.params.flag("not") => return Step::Done(blank(input)),
            Answering::Blank | Answering::Answered => {}
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
        model::{Language, RetrievedContext},
    };

    fn exact(answer: &str, references: &[&str]) -> Try {
        Try::of(&ExactMatch).answer(answer).references(references)
    }

    fn f1(answer: &str, references: &[&str]) -> Try {
        Try::of(&TokenF1).answer(answer).references(references)
    }

    #[test]
    fn exact_match_compares_what_squad_compares() {
        for (language, answer, reference, expected) in [
            (Language::En, "The 30 days.", "30 days", 1.0),
            (Language::En, "31 days", "30 days", 0.0),
            (Language::Pt, "Até 30 dias!", "até 30 dias", 1.0),
            (Language::Pt, "avó", "avô", 0.0),
            (Language::Zh, "三十天。", "三十天", 1.0),
            (Language::En, "", "30 days", 0.0),
        ] {
            exact(answer, &[reference]).language(language).expect_score(expected);
        }
        exact("b", &["a b c", "", "B"]).expect_score(1.0);
    }

    #[test]
    fn texts_without_tokens_are_compared_as_they_stand() {
        exact("...", &["The"]).expect_score(0.0);
        exact("the", &["The"]).expect_score(1.0);
        f1("...", &["The"]).expect_score(0.0);
        f1("the", &["The"]).expect_score(1.0);
    }

    #[test]
    fn token_f1_counts_each_token_as_often_as_it_stands_in_both() {
        f1("b b c", &["b c d e"]).expect_score(4.0 / 7.0);
        f1("x y", &["y x"]).expect_score(1.0);
        f1("x", &["y"]).expect_score(0.0);
        f1("x y", &["z", "x"]).expect_score(2.0 / 3.0);
        f1("", &["y"]).expect_score(0.0);
        f1("30天", &["30日"]).language(Language::Zh).expect_score(0.5);
    }

    #[test]
    fn comparisons_need_a_reference_that_says_something() {
        for tried in [exact as fn(&str, &[&str]) -> Try, f1] {
            tried("x", &[]).expect_not_applicable("no reference");
            tried("x", &["", " "]).expect_unmeasured("data error").expect_why("`case-1` (cases/en.yaml:3)");
            tried("", &["x"]).should_refuse().refusal("Sorry.").expect_not_applicable("as it should");
            tried("", &["x"]).refusal("Sorry.").expect_score(0.0);
        }
    }

    #[test]
    fn not_turns_a_score_round_and_nothing_else() {
        let not = |tried: Try| tried.param("not", json!(true));
        not(f1("x y", &["x"])).expect_score(1.0 - 2.0 / 3.0);
        not(exact("x", &["x"])).expect_score(0.0);
        not(exact("x", &[])).expect_not_applicable("no reference");
        not(exact("x", &[""])).expect_unmeasured("data error");
        f1("x", &["x"]).param("not", json!(false)).expect_score(1.0);
        not(contains("free shipping").param("all", json!(["free", "refund", "days"])))
            .expect_score(1.0)
            .expect_note("not: missing: \"refund\", \"days\"");
        let detail = not(contains("free shipping").param("all", json!(["free", "refund", "days"]))).detail();
        assert_eq!(detail.k_of_n, Some((2, 3)));
    }

    #[test]
    fn a_blank_answer_never_passes_by_what_it_does_not_say() {
        for tried in [
            exact(" ", &["x"]),
            f1("", &["x"]),
            contains(" ").param("any", json!("free")),
            regex("", "free"),
            cites("\n", &["a"]),
        ] {
            tried.expect_score(0.0).param("not", json!(true)).expect_unmeasured("answer blank");
        }
    }

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

    #[test]
    fn the_wording_of_a_refusal_can_be_looked_at() {
        contains("").refusal("Sorry, ask support.").param("any", json!("support")).expect_score(1.0);
        regex("", "^Sorry").should_refuse().refusal("Sorry, ask support.").expect_score(1.0);
    }

    fn regex(answer: &str, pattern: &str) -> Try {
        Try::of(&RegexMatch).answer(answer).param("pattern", json!(pattern))
    }

    #[test]
    fn a_pattern_matches_anywhere_in_the_answer_as_it_stands() {
        regex("on 2024-05-01.", r"\d{4}-\d{2}-\d{2}").expect_score(1.0).expect_note("matched: \"2024-05-01\"");
        regex("on 1 May.", r"\d{4}-\d{2}-\d{2}").expect_score(0.0).expect_note("no match");
        regex("Free", "free").expect_score(0.0);
        regex("Free", "(?i)free").expect_score(1.0);
        regex("", "^$").expect_score(1.0);
    }

    #[test]
    fn a_pattern_that_is_missing_or_broken_scores_nothing() {
        Try::of(&RegexMatch).answer("x").expect_not_applicable("gives a pattern");
        regex("x", "(").expect_unmeasured("metric parameter invalid").expect_why("does not compile");
        regex("x", r"\w{5000}{5000}").expect_unmeasured("metric parameter invalid");
    }

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
