//! The metric `chrf`: which runs of characters the answer shares with a reference.

use super::{
    ngram::Bag,
    reference::{against, against_references, best_reference, without_reference},
};
use crate::{
    metric::{Formula, Input, Kind, Made, Metric, Params, Step, worked::equals},
    model::{GoldenCase, Transcript, UnitInterval, score::OutOfRange},
    report::console::text,
};

/// chrF2 (Popović 2015), 0 to 1, the best over the references; figures as those of `sacrebleu`.
///
/// Precision and recall of runs of 1 to 6 characters, each averaged over the lengths of which both texts have any, then F with recall
/// weighing twice as much (beta 2). White space is left out, letter case counts. It needs no words, so it suits Chinese and inflected
/// languages.
#[derive(Debug, Clone, Copy)]
pub struct Chrf;

/// The longest run.
const LONGEST: usize = 6;

/// Weights of recall and precision in F with beta 2: beta² / (1 + beta²) and 1 / (1 + beta²).
const RECALL: f64 = 0.8;
const PRECISION: f64 = 0.2;

impl Metric for Chrf {
    fn name(&self) -> &str {
        "chrf"
    }

    fn about(&self) -> &str {
        "runs of up to six characters that the answer shares with a reference answer (chrF2)"
    }

    fn formula(&self, _params: &Params) -> Formula {
        Formula::of("5 x P x R / (4 x P + R), P and R the mean precision and recall of runs of 1 to 6 characters")
    }

    fn worked(&self, Made { input, .. }: &Made<'_>) -> Option<Vec<String>> {
        let (number, wanted) = best_reference(input, characters, |answer, other| chrf(answer, other))?;
        let own = characters(&input.sample.answer.response);
        let (orders, precision, recall) = shares(&own, &wanted);
        let value = chrf(&own, &wanted).ok()?.get();
        let (p, r) = (text::score(precision), text::score(recall));
        let means = format!("{}P = {p}, R = {r} over runs of 1 to {orders}", against(input, number));
        Some(vec![means, format!("5 x {p} x {r} / (4 x {p} + {r}){}", equals(value))]).filter(|_| orders > 0)
    }

    fn kind(&self) -> Kind {
        Kind::Text
    }

    fn not_applicable(&self, case: &GoldenCase, _params: &Params) -> Option<String> {
        without_reference(case)
    }

    fn step(&self, input: &Input<'_>, _transcript: &Transcript) -> Step {
        Step::Done(against_references(input, characters, |answer, reference| chrf(answer, reference)))
    }
}

fn characters(text: &str) -> Vec<char> {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

fn chrf(answer: &[char], reference: &[char]) -> Result<UnitInterval, OutOfRange> {
    let (_, precision, recall) = shares(answer, reference);
    if precision == 0.0 || recall == 0.0 {
        return Ok(UnitInterval::ZERO);
    }
    // The weighted harmonic mean in this form can't leave 0 to 1 by rounding, and is exactly 1 for equal texts.
    UnitInterval::new(1.0 / (RECALL / recall + PRECISION / precision))
}

/// How many lengths of runs both texts have, and the mean precision and recall over them, 0 where nothing is shared.
fn shares(answer: &[char], reference: &[char]) -> (usize, f64, f64) {
    let orders = LONGEST.min(answer.len()).min(reference.len());
    let (mut precision, mut recall) = (0.0, 0.0);
    for n in 1..=orders {
        let (own, wanted) = (Bag::of(answer, n), Bag::of(reference, n));
        let common = own.common(&wanted) as f64;
        precision += common / own.total() as f64;
        recall += common / wanted.total() as f64;
    }
    if precision == 0.0 || recall == 0.0 {
        return (orders, 0.0, 0.0);
    }
    (orders, precision / orders as f64, recall / orders as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::{lexical::tests::expect_figure, trying::Try};

    /// Figures of sacrebleu 2.6.0, `CHRF()`, divided by 100.
    #[test]
    fn figures_are_those_of_sacrebleu() {
        for (answer, reference, figure) in [
            ("Refunds take 30 days.", "Refunds are paid within 30 days.", 0.40722063688279064),
            (
                "The customer's card won't be charged twice, ever.",
                "A customer's card is never charged twice.",
                0.6722367741422888,
            ),
            ("Shipping is free", "Shipping is free in Portugal, Spain and 3.5 other places.", 0.2959902992757036),
            ("the the the the", "the cat sat on the mat", 0.1515956671519429),
            ("completely different words", "no overlap here", 0.14576896629211694),
            (
                "Send it back by June 29th, 2007 and keep the receipt, please.",
                "Keep the receipt and send it back by June 29, 2007.",
                0.713732938731605,
            ),
            (
                "It costs $1,234.50 (plus 5-10% tax) & shipping.",
                "It costs $1,234.50, plus 5-10% tax & shipping.",
                0.8263483937780839,
            ),
            ("O reembolso é pago em 30 dias.", "O reembolso é feito em até 30 dias úteis.", 0.4614857595494792),
            ("A avó não aceita.", "O avô não aceita.", 0.6808265808265808),
            ("退款需要30天。", "退款需在30天内完成。", 0.22281383429694568),
            ("请使用iPhone15登录，价格为3.5元。", "请用iPhone15登录，价格是3.5元。", 0.7459371320248871),
        ] {
            expect_figure(&Try::of(&Chrf).answer(answer).references(&[reference]), figure);
        }
    }

    #[test]
    fn equal_texts_are_exactly_1_and_texts_with_nothing_in_common_0() {
        for text in ["Y", "30 days.", "退款", "It is free of charge, always and for everyone."] {
            Try::of(&Chrf).answer(text).references(&["zzz", text]).expect_score(1.0);
        }
        for (answer, reference) in [("", "Yes"), ("abc", "xyz"), (" ", "Yes")] {
            Try::of(&Chrf).answer(answer).references(&[reference]).expect_score(0.0);
        }
    }
}
