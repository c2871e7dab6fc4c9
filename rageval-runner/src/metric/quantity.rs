//! Quantities with a largest allowed value: length, latency, tokens, cost.

use unicode_segmentation::UnicodeSegmentation;

use super::{
    Formula, Input, Kind, Metric, Param, ParamKind, Params, Step,
    answering::{Answering, blank},
    cause,
    material::sentences,
};
use crate::{
    model::{Detail, GoldenCase, Outcome, Score, Transcript, UnitInterval},
    text,
};

/// Length of the answer; characters, or words or sentences by `unit`.
///
/// Characters are what a reader counts (Unicode's extended grapheme clusters), blanks at both ends left out. Unmeasured for a blank
/// answer: it would keep every limit.
#[derive(Debug, Clone, Copy)]
pub struct Length;

/// Time the system took, in milliseconds. A recorded answer that states none counts as 0.
#[derive(Debug, Clone, Copy)]
pub struct Latency;

/// Tokens read and written for the answer. Unmeasured where the system reports no usage.
#[derive(Debug, Clone, Copy)]
pub struct Tokens;

/// Cost of the answer in US dollars. Unmeasured where the system reports none.
#[derive(Debug, Clone, Copy)]
pub struct Cost;

const MAX: Param = Param { name: "max", kind: ParamKind::Number, about: "the largest value that passes; required" };

const UNIT: Param = Param {
    name: "unit",
    kind: ParamKind::OneOf(&["characters", "words", "sentences"]),
    about: "what is counted; characters by default",
};

impl Metric for Length {
    fn name(&self) -> &str {
        "length"
    }

    fn about(&self) -> &str {
        "whether the answer is at most `max` characters, words or sentences long"
    }

    fn formula(&self, _params: &Params) -> Formula {
        Formula::of("1 when the answer's length is at most `max`, else 0")
    }

    fn kind(&self) -> Kind {
        Kind::Quantity
    }

    fn params(&self) -> &[Param] {
        &[MAX, UNIT]
    }

    fn not_applicable(&self, _case: &GoldenCase, _params: &Params) -> Option<String> {
        None
    }

    fn step(&self, input: &Input<'_>, _transcript: &Transcript) -> Step {
        if Answering::of(input.sample) == Answering::Blank {
            return Step::Done(blank(input));
        }
        let response = input.sample.answer.response.trim();
        let unit = input.params.text("unit").unwrap_or("characters");
        let length = match unit {
            "characters" => response.graphemes(true).count(),
            "words" => text::words(response, input.language()).len(),
            "sentences" => sentences(response, input.language()).len(),
            other => {
                let why = format!("length: `unit` is `{other}`; use characters, words or sentences");
                return Step::Done(Outcome::unmeasured(cause::PARAMETER, why));
            }
        };
        Step::Done(at_most(input, length as f64, unit))
    }
}

impl Metric for Latency {
    fn name(&self) -> &str {
        "latency"
    }

    fn about(&self) -> &str {
        "whether the system took at most `max` milliseconds"
    }

    fn formula(&self, _params: &Params) -> Formula {
        Formula::of("1 when the milliseconds of the call are at most `max`, else 0")
    }

    fn kind(&self) -> Kind {
        Kind::Quantity
    }

    fn params(&self) -> &[Param] {
        &[MAX]
    }

    fn not_applicable(&self, _case: &GoldenCase, _params: &Params) -> Option<String> {
        None
    }

    fn step(&self, input: &Input<'_>, _transcript: &Transcript) -> Step {
        Step::Done(match input.sample.latency_ms {
            Some(latency_ms) => at_most(input, latency_ms, "ms"),
            None => Outcome::unmeasured(
                cause::LATENCY,
                "the recorded answer states no `latency_ms`; record it, or drop the metric",
            ),
        })
    }
}

impl Metric for Tokens {
    fn name(&self) -> &str {
        "tokens"
    }

    fn about(&self) -> &str {
        "whether the answer used at most `max` tokens, read and written"
    }

    fn formula(&self, _params: &Params) -> Formula {
        Formula::of("1 when tokens read and written are at most `max`, else 0")
    }

    fn kind(&self) -> Kind {
        Kind::Quantity
    }

    fn params(&self) -> &[Param] {
        &[MAX]
    }

    fn not_applicable(&self, _case: &GoldenCase, _params: &Params) -> Option<String> {
        None
    }

    fn step(&self, input: &Input<'_>, _transcript: &Transcript) -> Step {
        Step::Done(match input.sample.answer.usage {
            Some(usage) => at_most(input, usage.total() as f64, "tokens"),
            None => Outcome::unmeasured(
                cause::USAGE,
                "tokens: the system reported no usage; return it with the answer (`with_usage`, or `usage` in a recorded \
                 or HTTP answer), or take `tokens` out of the metrics",
            ),
        })
    }
}

impl Metric for Cost {
    fn name(&self) -> &str {
        "cost"
    }

    fn about(&self) -> &str {
        "whether the answer cost at most `max` US dollars"
    }

    fn formula(&self, _params: &Params) -> Formula {
        Formula::of("1 when the US dollars are at most `max`, else 0")
    }

    fn kind(&self) -> Kind {
        Kind::Quantity
    }

    fn params(&self) -> &[Param] {
        &[MAX]
    }

    fn not_applicable(&self, _case: &GoldenCase, _params: &Params) -> Option<String> {
        None
    }

    fn step(&self, input: &Input<'_>, _transcript: &Transcript) -> Step {
        Step::Done(match input.sample.answer.cost_usd {
            Some(cost) => at_most(input, cost, "US dollars"),
            None => Outcome::unmeasured(
                cause::COST,
                "cost: the system reported no cost; return it with the answer (`with_cost_usd`, or `cost_usd` in a \
                 recorded or HTTP answer), or take `cost` out of the metrics",
            ),
        })
    }
}

/// 1 when the quantity is at most `max`, compared exactly, else 0; the quantity is kept as the raw value.
fn at_most(input: &Input<'_>, raw: f64, unit: &str) -> Outcome {
    let name = input.key.name();
    if !raw.is_finite() || raw < 0.0 {
        let why = format!("{name}: the system reported {raw} {unit}, which is no quantity");
        return Outcome::unmeasured(cause::QUANTITY, why);
    }
    let Some(max) = input.params.number("max") else {
        let why = format!("{name}: `max` is missing; write the largest value that passes under `{name}`");
        return Outcome::unmeasured(cause::PARAMETER, why);
    };
    let value = UnitInterval::from_yes(raw <= max);
    let note = Some(format!("{raw} {unit}, at most {max}"));
    Outcome::Scored {
        score: Score { value, raw: Some(raw), first: None },
        detail: Detail { note, ..Detail::default() },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{metric::trying::Try, model::Language};

    fn length(text: &str, unit: &str) -> Try {
        Try::of(&Length).answer(text).param("unit", json!(unit)).param("max", json!(5))
    }

    #[test]
    fn length_counts_what_a_reader_counts() {
        for (language, text, unit, raw) in [
            (Language::En, " 12345\n", "characters", 5.0),
            (Language::En, "123456", "characters", 6.0),
            (Language::Pt, "ac\u{327}a\u{303}o", "characters", 4.0),
            (Language::Zh, "退款期限三十天", "characters", 7.0),
            (Language::En, "One two, three.", "words", 3.0),
            (Language::En, "One. Two! Three?", "sentences", 3.0),
            (Language::Zh, "一。二！三？四。五。六。", "sentences", 6.0),
        ] {
            let tried = length(text, unit).language(language);
            tried.expect_raw(raw).expect_score(if raw <= 5.0 { 1.0 } else { 0.0 });
        }
        Try::of(&Length)
            .answer("12345")
            .param("max", json!(5))
            .expect_score(1.0)
            .expect_note("5 characters, at most 5");
    }

    #[test]
    fn a_blank_answer_keeps_no_limit() {
        length(" ", "characters").expect_unmeasured("answer blank");
        length("", "words").refused_without_words().expect_score(1.0).expect_raw(0.0);
    }

    #[test]
    fn a_quantity_at_its_maximum_passes_and_zero_is_a_maximum() {
        Try::of(&Latency).latency_ms(100.0).param("max", json!(100)).expect_score(1.0).expect_raw(100.0);
        Try::of(&Latency).latency_ms(100.1).param("max", json!(100)).expect_score(0.0).expect_raw(100.1);
        Try::of(&Tokens).usage(7, 3).param("max", json!(9)).expect_score(0.0).expect_note("10 tokens, at most 9");
        Try::of(&Cost).cost_usd(0.0).param("max", json!(0)).expect_score(1.0).expect_raw(0.0);
        Try::of(&Cost).cost_usd(0.001).param("max", json!(0)).expect_score(0.0);
    }

    #[test]
    fn what_was_not_reported_is_unmeasured_with_what_to_do() {
        Try::of(&Tokens).param("max", json!(9)).expect_unmeasured("usage not reported").expect_why("with_usage");
        Try::of(&Cost).param("max", json!(9)).expect_unmeasured("cost not reported").expect_why("with_cost_usd");
        for bad in [f64::NAN, f64::INFINITY, -1.0] {
            Try::of(&Cost).cost_usd(bad).param("max", json!(9)).expect_unmeasured("quantity invalid");
            Try::of(&Latency).latency_ms(bad).param("max", json!(9)).expect_unmeasured("quantity invalid");
        }
    }

    #[test]
    fn a_maximum_that_is_missing_passes_nothing() {
        Try::of(&Latency).expect_unmeasured("metric parameter invalid").expect_why("`max` is missing");
        Try::of(&Tokens).usage(1, 1).expect_unmeasured("metric parameter invalid");
        length("a", "pages").expect_unmeasured("metric parameter invalid");
    }
}
