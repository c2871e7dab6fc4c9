//! The metric `regex`: whether a regular expression matches in the answer.

use regex::{Regex, RegexBuilder};

use super::passes_by_silence;
use crate::{
    metric::{Formula, Input, Kind, Metric, Param, ParamKind, Params, Step, asking::shortened, cause},
    model::{Detail, GoldenCase, Outcome, Transcript, UnitInterval},
};

/// 1 when `pattern` matches anywhere in the answer as it stands, else 0.
#[derive(Debug, Clone, Copy)]
pub struct RegexMatch;

impl Metric for RegexMatch {
    fn name(&self) -> &str {
        "regex"
    }

    fn about(&self) -> &str {
        "whether a regular expression matches in the answer"
    }

    fn formula(&self, _params: &Params) -> Formula {
        Formula::of("1 when `pattern` matches anywhere in the answer, else 0")
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
        if let Some(outcome) = passes_by_silence(input) {
            return Step::Done(outcome);
        }
        Step::Done(match compile(pattern) {
            Err(why) => Outcome::unmeasured(cause::PARAMETER, format!("regex: {why}")),
            Ok(regex) => {
                let found = regex.find(&input.sample.answer.response);
                let note = match found {
                    Some(found) => format!("matched: {:?}", shortened(found.as_str())),
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::metric::trying::Try;

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
}
