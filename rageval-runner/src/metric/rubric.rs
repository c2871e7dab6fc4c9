//! The metric `rubric`: which of the user's own levels the answer reaches.

use serde_json::Value;

use super::{
    Formula, Input, Kind, Metric, Param, ParamKind, Params, Step, asking, cause, material, numbered::Part,
    scoring::scored,
};
use crate::model::{Detail, GoldenCase, JudgeRequest, Outcome, Transcript};

/// The score of the level that a judge puts the answer at, out of levels that the user writes with their scores.
///
/// The judge sees `criterion`, the levels' texts numbered from the lowest score up, and what `fields` says; the scores it does not see.
///
/// Not applicable to a right refusal, and where `fields` has the reference and the case has none. Unmeasured for a blank answer, and
/// without `criterion` or `levels`.
#[derive(Debug, Clone, Copy)]
pub struct Rubric;

impl Metric for Rubric {
    fn name(&self) -> &str {
        "rubric"
    }

    fn about(&self) -> &str {
        "which of your own levels the answer reaches, by your criterion"
    }

    fn formula(&self, _params: &Params) -> Formula {
        Formula::of("the score that thresholds.yaml gives the level that the judge chose")
    }

    fn kind(&self) -> Kind {
        Kind::Judged
    }

    fn params(&self) -> &[Param] {
        &[
            Param { name: "criterion", kind: ParamKind::Text, about: "what is graded, in a sentence; required" },
            Param {
                name: "levels",
                kind: ParamKind::Levels,
                about: "the levels with their scores: a text that describes each, and a number from 0 to 1; required",
            },
            Param {
                name: "fields",
                kind: ParamKind::SomeOf(&material::FIELDS),
                about: "what the judge is shown; `[query, answer]` where it is left out",
            },
        ]
    }

    fn not_applicable(&self, case: &GoldenCase, params: &Params) -> Option<String> {
        material::lacks_field(case, params)
    }

    fn step(&self, input: &Input<'_>, transcript: &Transcript) -> Step {
        if let Some(outcome) = material::settled(input) {
            return Step::Done(outcome);
        }
        let (criterion, levels) = match (input.params.text("criterion"), levels(input.params)) {
            (Some(criterion), Ok(levels)) => (criterion, levels),
            (None, _) => {
                return Step::Done(unusable("`criterion` is missing; write what is graded under `rubric`"));
            }
            (_, Err(why)) => return Step::Done(unusable(&why)),
        };
        let request = request(input, criterion, &levels);
        asking::read(transcript, &request, |reply| level(reply, levels.len())).then(|(n, reason)| {
            match levels.get(n - 1) {
                Some((text, score)) => {
                    let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
                    scored(*score, Detail { note: Some(format!("level \"{text}\"{reason}")), ..Detail::default() })
                }
                None => unusable("the level is none of the list"),
            }
        })
    }
}

fn unusable(why: &str) -> Outcome {
    Outcome::unmeasured(cause::PARAMETER, format!("rubric: {why}"))
}

/// The levels from the lowest score up; of equal scores in the order of their texts.
fn levels(params: &Params) -> Result<Vec<(&str, f64)>, String> {
    let Some(Value::Object(map)) = params.0.get("levels") else {
        return Err("`levels` is missing; write at least two, each with its score".to_owned());
    };
    let score = |(text, score): (&'_ String, &'_ Value)| score.as_f64().is_some() && !text.trim().is_empty();
    if map.len() < 2 || !map.iter().all(score) {
        return Err("`levels` takes at least two texts, each with a number from 0 to 1".to_owned());
    }
    let mut levels: Vec<_> = map.iter().filter_map(|(text, score)| Some((text.as_str(), score.as_f64()?))).collect();
    levels.sort_by(|(one, low), (other, high)| low.total_cmp(high).then_with(|| one.cmp(other)));
    Ok(levels)
}

fn request(input: &Input<'_>, criterion: &str, levels: &[(&str, f64)]) -> JudgeRequest {
    let request = JudgeRequest::new("rubric.level", input.language()).text("criterion", criterion);
    let request = material::with_chosen_fields(request, input);
    request.numbered("levels", levels.iter().map(|(text, _)| *text))
}

/// The number of the level, and why.
fn level(reply: &Value, levels: usize) -> Result<(usize, Option<String>), String> {
    let part = Part::whole(reply)?;
    let number = part.number("level", levels)?.ok_or("the reply has no `level`")?;
    Ok((number, part.text("reason")?.map(str::to_owned)))
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
        Try::of(&Rubric)
            .answer("30 days.")
            .param("criterion", json!("How kind is the tone?"))
            .param("levels", json!({"warm": 1, "rude": 0, "curt": 0.4}))
    }

    #[test]
    fn the_request_shows_levels_from_the_lowest_up_without_their_scores() {
        let expected = JudgeRequest::new("rubric.level", Language::En)
            .text("criterion", "How kind is the tone?")
            .text("query", "How long do refunds take?")
            .text("answer", "30 days.")
            .numbered("levels", ["rude", "curt", "warm"]);
        assert_eq!(tried().first_request(), expected);
    }

    #[test]
    fn the_score_is_that_of_the_level() {
        for (level, score) in [(1, 0.0), (2, 0.4), (3, 1.0)] {
            tried().replies(&[json!({"level": level, "score": 1.0})]).expect_score(score);
        }
        tried().replies(&[json!({"level": 2, "reason": "no greeting"})]).expect_note("level \"curt\": no greeting");
    }

    #[test]
    fn the_judge_sees_what_was_chosen() {
        let all = || {
            tried()
                .references(&["", "Thirty days."])
                .contexts(vec![context("blank", ""), context("refunds", "Within 30 days.")])
                .param("fields", json!(["answer", "reference", "contexts", "query"]))
        };
        let expected = JudgeRequest::new("rubric.level", Language::En)
            .text("criterion", "How kind is the tone?")
            .text("query", "How long do refunds take?")
            .text("reference", "Thirty days.")
            .numbered("contexts", ["Within 30 days."])
            .text("answer", "30 days.")
            .numbered("levels", ["rude", "curt", "warm"]);
        assert_eq!(all().first_request(), expected);
        all().references(&[]).expect_not_applicable("no reference").expect_asked(0);
        let answer_only = tried().param("fields", json!("answer")).first_request();
        assert_eq!(answer_only.text_of("query"), None);
    }

    #[test]
    fn refusals_and_silence_are_told_apart() {
        tried().should_refuse().refusal("Sorry.").expect_not_applicable("as it should").expect_asked(0);
        tried().refusal("Sorry.").replies(&[json!({"level": 3})]).expect_score(1.0);
        tried().should_refuse().replies(&[json!({"level": 1})]).expect_score(0.0);
        tried().answer(" ").expect_unmeasured("answer blank").expect_asked(0);
    }

    #[test]
    fn a_rubric_without_its_parts_scores_nothing() {
        let bare = || Try::of(&Rubric).answer("30 days.");
        bare().expect_unmeasured("metric parameter invalid").expect_why("`criterion`").expect_asked(0);
        let without = || bare().param("criterion", json!("tone"));
        without().expect_unmeasured("metric parameter invalid").expect_why("`levels` is missing");
        for levels in [json!({"good": 1}), json!({"good": "1", "bad": 0}), json!({" ": 1, "bad": 0})] {
            without().param("levels", levels).expect_unmeasured("metric parameter invalid").expect_why("at least two");
        }
        without()
            .param("levels", json!({"good": 2, "bad": 0}))
            .replies(&[json!({"level": 2})])
            .expect_unmeasured("score out of range");
    }

    #[test]
    fn a_reply_that_does_not_fit_is_asked_again_and_then_unmeasured() {
        for bad in [
            json!({"level": 0}),
            json!({"level": 4}),
            json!({"level": "warm"}),
            json!({"level": null}),
            json!({"level": 2, "reason": 3}),
            json!(2),
        ] {
            tried().replies(&[bad.clone(), bad.clone()]).expect_unmeasured("judge reply incomplete").expect_asked(2);
            tried().replies(&[bad, json!({"level": 3})]).expect_score(1.0).expect_asked(2);
        }
    }
}
