//! The metrics `exact_match` and `token_f1`: the answer's words against a reference's.

use super::{ngram::Bag, passes_by_silence};
use crate::{
    metric::{
        Formula, Input, Kind, Made, Metric, Params, Step,
        answering::{Answering, right_refusal},
        cause,
        material::named,
        worked::equals,
    },
    model::{Expectation, GoldenCase, Outcome, Transcript, UnitInterval, score::OutOfRange},
    text,
};

/// 1 when the answer equals a reference after `SQuAD`'s normalisation, else 0; the best over the references.
#[derive(Debug, Clone, Copy)]
pub struct ExactMatch;

/// Overlap of the answer's words with a reference's, as F1 over bags of normalised tokens (`SQuAD`); the best over the references.
#[derive(Debug, Clone, Copy)]
pub struct TokenF1;

impl Metric for ExactMatch {
    fn name(&self) -> &str {
        "exact_match"
    }

    fn about(&self) -> &str {
        "whether the answer equals a reference answer after normalisation"
    }

    fn formula(&self, _params: &Params) -> Formula {
        Formula::of("1 when the answer equals a reference after normalisation, else 0")
    }

    fn kind(&self) -> Kind {
        Kind::Text
    }

    fn not_applicable(&self, case: &GoldenCase, _params: &Params) -> Option<String> {
        without_reference(case)
    }

    fn step(&self, input: &Input<'_>, _transcript: &Transcript) -> Step {
        let is_equal =
            |answer: &Normalised, reference: &Normalised| Ok(UnitInterval::from_yes(answer.is_equal(reference)));
        Step::Done(against_references(input, |text| Normalised::of(text, input), is_equal))
    }
}

impl Metric for TokenF1 {
    fn name(&self) -> &str {
        "token_f1"
    }

    fn about(&self) -> &str {
        "overlap of the answer's words with those of a reference answer, as F1"
    }

    fn worked(&self, Made { input, .. }: &Made<'_>) -> Option<Vec<String>> {
        let prepare = |text: &str| Normalised::of(text, input);
        let (number, reference) = best_reference(input, prepare, |answer, other| Ok(answer.overlap(other)))?;
        let (answer, wanted) = (prepare(&input.sample.answer.response).tokens, reference.tokens);
        let common = Bag::of(&answer, 1).common(&Bag::of(&wanted, 1));
        let has_any = answer.len() + wanted.len() > 0;
        has_any.then(|| vec![against(input, number) + &f1_line(common, answer.len(), wanted.len())])
    }

    fn formula(&self, _params: &Params) -> Formula {
        Formula::of("2 x common tokens / (tokens of the answer + tokens of the reference); the best reference counts")
    }

    fn kind(&self) -> Kind {
        Kind::Text
    }

    fn not_applicable(&self, case: &GoldenCase, _params: &Params) -> Option<String> {
        without_reference(case)
    }

    fn step(&self, input: &Input<'_>, _transcript: &Transcript) -> Step {
        let overlap = |answer: &Normalised, reference: &Normalised| Ok(answer.overlap(reference));
        Step::Done(against_references(input, |text| Normalised::of(text, input), overlap))
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
        Bag::of(&self.tokens, 1)
            .f1(&Bag::of(&other.tokens, 1))
            .unwrap_or_else(|| UnitInterval::from_yes(self.is_equal(other)))
    }
}

/// Why a metric that compares with a reference does not apply to a case.
pub(super) fn without_reference(case: &GoldenCase) -> Option<String> {
    case.references.is_empty().then(|| "the case has no reference answer".to_owned())
}

/// The reference that scores best and is no blank one, with its number among all of them from 1.
pub(super) fn best_reference<'r, T>(
    input: &Input<'r>,
    prepare: impl Fn(&str) -> T,
    score: impl Fn(&T, &T) -> Result<UnitInterval, OutOfRange>,
) -> Option<(usize, T)> {
    let answer = prepare(&input.sample.answer.response);
    let all = (1..).zip(&input.case.references).filter(|(_, reference)| !reference.trim().is_empty());
    let scored = all.filter_map(|(number, reference)| {
        let reference = prepare(reference);
        Some((score(&answer, &reference).ok()?, number, reference))
    });
    // Of equal ones the first.
    let best = scored.reduce(|best, other| if best.0 < other.0 { other } else { best });
    best.map(|(_, number, reference)| (number, reference))
}

/// The start of a line on the reference of this number.
pub(super) fn against(input: &Input<'_>, number: usize) -> String {
    match input.case.references.len() {
        0 | 1 => String::new(),
        all => format!("reference {number} of {all}: "),
    }
}

/// `2 x 3 / (5 + 4)`, for F1 of what two texts share.
pub(super) fn f1_line(common: usize, answer: usize, reference: usize) -> String {
    let value = 2.0 * common as f64 / (answer + reference) as f64;
    format!("2 x {common} / ({answer} + {reference}){}", equals(value))
}

/// The best score of the answer over the references that are not blank; `prepare` makes of a text what `score` compares.
pub(super) fn against_references<T>(
    input: &Input<'_>,
    prepare: impl Fn(&str) -> T,
    score: impl Fn(&T, &T) -> Result<UnitInterval, OutOfRange>,
) -> Outcome {
    if let Some(why) = without_reference(input.case) {
        return Outcome::not_applicable(why);
    }
    if let Some(outcome) = passes_by_silence(input) {
        return outcome;
    }
    match (Answering::of(input.sample), input.case.expectation) {
        (Answering::Refused, Expectation::Refuse) => return right_refusal(),
        (Answering::Refused | Answering::Answered | Answering::Blank, Expectation::Answer | Expectation::Refuse) => {}
    }
    let answer = prepare(&input.sample.answer.response);
    let references = input.case.references.iter().filter(|reference| !reference.trim().is_empty());
    match references.map(|reference| score(&answer, &prepare(reference))).collect::<Result<Vec<_>, _>>() {
        Err(out_of_range) => Outcome::unmeasured(cause::RANGE, out_of_range.to_string()),
        Ok(scores) => match scores.into_iter().max() {
            Some(best) => Outcome::scored(best),
            None => {
                let why = format!("{}: the reference answer is blank; write what the right answer says", named(input));
                Outcome::unmeasured(cause::DATA, why)
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        metric::{
            lexical::{Bleu, Chrf, Rouge},
            trying::Try,
        },
        model::Language,
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
        for metric in [&ExactMatch as &'static dyn Metric, &TokenF1, &Rouge::One, &Rouge::Two, &Rouge::L, &Bleu, &Chrf]
        {
            let tried = |answer: &str, references: &[&str]| Try::of(metric).answer(answer).references(references);
            tried("x", &[]).expect_not_applicable("no reference");
            tried("x", &["", " "]).expect_unmeasured("data error").expect_why("`case-1` (cases/en.yaml:3)");
            tried("", &["x"]).should_refuse().refusal("Sorry.").expect_not_applicable("as it should");
            tried("", &["x"]).refusal("Sorry.").expect_score(0.0);
        }
    }
}
