//! The metric `bleu`: how much of the answer, in runs of up to four words, stands in a reference.

use std::sync::LazyLock;

use regex::Regex;

use super::{
    ngram::Bag,
    reference::{against, against_references, best_reference, without_reference},
};
use crate::{
    metric::{Formula, Input, Kind, Made, Metric, Params, Step, worked::equals},
    model::{GoldenCase, Language, Transcript, UnitInterval, score::OutOfRange},
    report::console::text,
    text::normal::pattern,
};

/// Sentence BLEU (Papineni et al. 2002), 0 to 1, the best over the references; figures as those of `sacrebleu`'s sentence score.
///
/// The geometric mean of the clipped precisions of runs of 1 to 4 tokens, times exp(1 - reference length / answer length) for an answer
/// shorter than the reference. Only the lengths of runs that the answer has count (`effective_order`). The i-th length without any match
/// counts as 1 / (2^i x its runs) (`exp` smoothing, of NIST's `mteval`). Without a common token it is 0. Letter case counts. Tokens are
/// those of `mteval-v13a`; in Chinese each character is one more.
#[derive(Debug, Clone, Copy)]
pub struct Bleu;

/// The longest run.
const LONGEST: usize = 4;

impl Metric for Bleu {
    fn name(&self) -> &str {
        "bleu"
    }

    fn about(&self) -> &str {
        "how much of the answer, in runs of up to four words, stands in a reference answer (sentence BLEU)"
    }

    fn formula(&self, _params: &Params) -> Formula {
        Formula::of(
            "geometric mean of the precisions of runs of 1 to 4 tokens x exp(1 - reference / answer length) for a shorter answer",
        )
    }

    fn worked(&self, Made { input, .. }: &Made<'_>) -> Option<Vec<String>> {
        let prepare = |text: &str| tokens(text, input.language());
        let (number, wanted) = best_reference(input, prepare, |answer, other| bleu(answer, other))?;
        let own = prepare(&input.sample.answer.response);
        let value = bleu(&own, &wanted).ok()?.get();
        let precisions = precisions(&own, &wanted).filter(|all| !all.is_empty())?;
        let terms: Vec<String> = precisions.iter().map(|one| text::score(*one)).collect();
        let brevity = if own.len() < wanted.len() {
            format!(" x exp(1 - {}/{})", wanted.len(), own.len())
        } else {
            String::new()
        };
        let start = against(input, number);
        Some(vec![format!("{start}({})^(1/{}){brevity}{}", terms.join(" x "), terms.len(), equals(value))])
    }

    fn kind(&self) -> Kind {
        Kind::Text
    }

    fn not_applicable(&self, case: &GoldenCase, _params: &Params) -> Option<String> {
        without_reference(case)
    }

    fn step(&self, input: &Input<'_>, _transcript: &Transcript) -> Step {
        let language = input.language();
        Step::Done(against_references(
            input,
            |text| tokens(text, language),
            |answer, reference| bleu(answer, reference),
        ))
    }
}

fn bleu(answer: &[String], reference: &[String]) -> Result<UnitInterval, OutOfRange> {
    let (length, wanted) = (answer.len(), reference.len());
    if length == 0 || wanted == 0 {
        return Ok(UnitInterval::from_yes(length == wanted));
    }
    let Some(precisions) = precisions(answer, reference) else { return Ok(UnitInterval::ZERO) };
    let logarithms: f64 = precisions.iter().map(|precision| precision.ln()).sum();
    let brevity = if length < wanted { 1.0 - wanted as f64 / length as f64 } else { 0.0 };
    UnitInterval::new((brevity + logarithms / precisions.len() as f64).exp())
}

/// The precision of each length of runs that the answer has; `None` without a common token.
fn precisions(answer: &[String], reference: &[String]) -> Option<Vec<f64>> {
    let mut precisions = Vec::new();
    let mut smoothing = 1.0;
    for n in 1..=LONGEST.min(answer.len()) {
        let own = Bag::of(answer, n);
        let common = own.common(&Bag::of(reference, n));
        if common == 0 && n == 1 {
            return None;
        }
        let precision = if common == 0 {
            smoothing *= 2.0;
            1.0 / (smoothing * own.total() as f64)
        } else {
            common as f64 / own.total() as f64
        };
        precisions.push(precision);
    }
    Some(precisions)
}

/// The tokens of `mteval-v13a`, with Chinese characters and full-width signs apart where the case is Chinese.
fn tokens(text: &str, language: Language) -> Vec<String> {
    let text = match language {
        Language::En | Language::Pt => plain(text),
        Language::Zh => apart(text),
    };
    let text = SIGN.replace_all(&text, " $1 ");
    let text = POINT_AFTER.replace_all(&text, "$1 $2 ");
    let text = POINT_BEFORE.replace_all(&text, " $1 $2");
    let text = DASH.replace_all(&text, "$1 $2 ");
    text.split_whitespace().map(str::to_owned).collect()
}

/// Joins words parted at the end of a line and resolves the four entities, as `mteval` does.
fn plain(text: &str) -> String {
    let text = text.replace("<skipped>", "").replace("-\n", "").replace('\n', " ");
    let text = text.replace("&quot;", "\"").replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");
    // Its rules look at the neighbours of a sign, so a text begins and ends with a blank.
    format!(" {text} ")
}

fn apart(text: &str) -> String {
    let mut out = String::with_capacity(2 * text.len());
    for c in text.trim().chars() {
        if is_wide(c) {
            out.extend([' ', c, ' ']);
        } else {
            out.push(c);
        }
    }
    out
}

/// What sacrebleu's Chinese tokenizer parts: Han characters, their radicals and strokes, their punctuation, full-width forms, signs.
fn is_wide(c: char) -> bool {
    matches!(c,
        '\u{2600}'..='\u{27BF}' | '\u{2E80}'..='\u{2EFF}' | '\u{2F00}'..='\u{2FDF}' | '\u{2FF0}'..='\u{303F}'
        | '\u{3100}'..='\u{312F}' | '\u{31A0}'..='\u{31BF}' | '\u{31C0}'..='\u{31EF}' | '\u{3200}'..='\u{33FF}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{FE10}'..='\u{FE1F}'
        | '\u{FE30}'..='\u{FE4F}' | '\u{FF00}'..='\u{FFEF}' | '\u{20000}'..='\u{323AF}')
}

/// ASCII signs but `'`, `,`, `-` and `.`.
static SIGN: LazyLock<Regex> = LazyLock::new(|| pattern(r"([\{-~\[-` -&\(-\+:-@/])"));

/// Points and commas, unless after a digit; and unless before one.
static POINT_AFTER: LazyLock<Regex> = LazyLock::new(|| pattern(r"([^0-9])([\.,])"));
static POINT_BEFORE: LazyLock<Regex> = LazyLock::new(|| pattern(r"([\.,])([^0-9])"));

/// A dash after a digit.
static DASH: LazyLock<Regex> = LazyLock::new(|| pattern(r"([0-9])(-)"));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::{lexical::tests::expect_figure, trying::Try};

    /// Figures of sacrebleu 2.6.0: `BLEU(effective_order=True)`, for Chinese with `tokenize="zh"`, divided by 100.
    #[test]
    fn figures_are_those_of_sacrebleu() {
        use Language::{En, Pt, Zh};
        for (language, answer, reference, figure) in [
            (En, "Refunds take 30 days.", "Refunds are paid within 30 days.", 0.28641904579795424),
            (
                En,
                "The customer's card won't be charged twice, ever.",
                "A customer's card is never charged twice.",
                0.12549310621989482,
            ),
            (En, "Shipping is free", "Shipping is free in Portugal, Spain and 3.5 other places.", 0.049787068367863965),
            (En, "the the the the", "the cat sat on the mat", 0.11521590992286539),
            (En, "completely different words", "no overlap here", 0.0),
            (
                En,
                "Send it back by June 29th, 2007 and keep the receipt, please.",
                "Keep the receipt and send it back by June 29, 2007.",
                0.23505204106959604,
            ),
            (
                En,
                "It costs $1,234.50 (plus 5-10% tax) & shipping.",
                "It costs $1,234.50, plus 5-10% tax & shipping.",
                0.5773502691896262,
            ),
            (Pt, "O reembolso é pago em 30 dias.", "O reembolso é feito em até 30 dias úteis.", 0.21897593220582773),
            (Pt, "A avó não aceita.", "O avô não aceita.", 0.39763536438352515),
            (Zh, "退款需要30天。", "退款需在30天内完成。", 0.2095871245288356),
            (Zh, "请使用iPhone15登录，价格为3.5元。", "请用iPhone15登录，价格是3.5元。", 0.5923033072023252),
        ] {
            expect_figure(&Try::of(&Bleu).language(language).answer(answer).references(&[reference]), figure);
        }
    }

    #[test]
    fn short_right_answers_are_exactly_1() {
        for text in ["Yes", "30 days.", "It is free of charge.", "<skipped>", "…"] {
            Try::of(&Bleu).answer(text).references(&["other", text]).expect_score(1.0);
        }
        Try::of(&Bleu).answer("").references(&["Yes"]).expect_score(0.0);
        Try::of(&Bleu).answer("yes").references(&["Yes"]).expect_score(0.0);
    }

    #[test]
    fn tokens_are_those_of_mteval() {
        for (language, text, expected) in [
            (Language::En, "It's $3.50, or 5-10%.", "It's $ 3.50 , or 5 - 10 % ."),
            (Language::En, "a.b e-mail &amp; co-\nop", "a . b e-mail & coop"),
            (Language::Pt, "não (R$ 1.234,56)", "não ( R $ 1.234,56 )"),
            (Language::Zh, "退款30天，iPhone15。", "退 款 30 天 ， iPhone15 。"),
        ] {
            assert_eq!(tokens(text, language).join(" "), expected, "{text:?}");
        }
    }
}
