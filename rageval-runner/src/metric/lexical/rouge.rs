//! The metrics `rouge_1`, `rouge_2` and `rouge_l`: which runs of words the answer shares with a reference.

use super::{
    ngram::Bag,
    reference::{against, against_references, best_reference, f1_line, without_reference},
};
use crate::{
    metric::{Formula, Input, Kind, Made, Metric, Params, Step},
    model::{GoldenCase, Outcome, Transcript, UnitInterval},
    text::{normalise, word::is_han},
};

/// ROUGE (Lin 2004) as F1, 0 to 1, the best over the references; figures as those of the `rouge-score` package without stemming.
///
/// Tokens are runs of letters and digits in lower case, in Chinese one a character. Where neither text has a pair of words, `rouge_2` is 1
/// for equal words and else 0, so that a right answer of one word is not wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rouge {
    /// Shared words: 2 x common words / all words.
    One,
    /// Shared pairs of neighbours.
    Two,
    /// The longest common subsequence of words: 2 x its length / all words.
    L,
}

impl Metric for Rouge {
    fn name(&self) -> &str {
        match self {
            Self::One => "rouge_1",
            Self::Two => "rouge_2",
            Self::L => "rouge_l",
        }
    }

    fn about(&self) -> &str {
        match self {
            Self::One => "words that the answer shares with a reference answer (ROUGE-1, F1)",
            Self::Two => "pairs of neighbouring words that the answer shares with a reference answer (ROUGE-2, F1)",
            Self::L => "longest common subsequence of words of the answer and a reference answer (ROUGE-L, F1)",
        }
    }

    fn formula(&self, _params: &Params) -> Formula {
        match self {
            Self::One => Formula::of(
                "2 x common words / (words of the answer + words of the reference); the best reference counts",
            ),
            Self::Two => Formula::of(
                "2 x common pairs of neighbouring words / (pairs of the answer + pairs of the reference); the best reference counts",
            ),
            Self::L => Formula::of(
                "2 x longest common subsequence of words / (words of the answer + words of the reference); the best reference counts",
            ),
        }
    }

    fn worked(&self, Made { input, .. }: &Made<'_>) -> Option<Vec<String>> {
        let (number, reference) = best_reference(input, Words::of, |answer, other| Ok(self.score(answer, other)))?;
        let (own, wanted) = (Words::of(&input.sample.answer.response).words, reference.words);
        let of_runs = |n| {
            let (own, wanted) = (Bag::of(&own, n), Bag::of(&wanted, n));
            (own.common(&wanted), own.total(), wanted.total())
        };
        let (common, answer, reference) = match self {
            Self::One => of_runs(1),
            Self::Two => of_runs(2),
            Self::L => (common_subsequence(&own, &wanted), own.len(), wanted.len()),
        };
        (answer + reference > 0).then(|| vec![against(input, number) + &f1_line(common, answer, reference)])
    }

    fn kind(&self) -> Kind {
        Kind::Text
    }

    fn not_applicable(&self, case: &GoldenCase, _params: &Params) -> Option<String> {
        without_reference(case)
    }

    fn step(&self, input: &Input<'_>, _transcript: &Transcript) -> Step {
        Step::Done(self.outcome(input))
    }
}

impl Rouge {
    fn outcome(self, input: &Input<'_>) -> Outcome {
        against_references(input, Words::of, |answer, reference| Ok(self.score(answer, reference)))
    }

    fn score(self, answer: &Words, reference: &Words) -> UnitInterval {
        let (one, other) = (&answer.words, &reference.words);
        let f1 = match self {
            Self::One => Bag::of(one, 1).f1(&Bag::of(other, 1)),
            Self::Two => Bag::of(one, 2).f1(&Bag::of(other, 2)),
            Self::L => UnitInterval::share(2 * common_subsequence(one, other), one.len() + other.len()),
        };
        f1.unwrap_or_else(|| UnitInterval::from_yes(answer == reference))
    }
}

/// A text as ROUGE sees it.
#[derive(PartialEq)]
struct Words {
    words: Vec<String>,
    /// The text, where it has no words: it is then compared as it stands.
    wordless: Option<String>,
}

impl Words {
    fn of(text: &str) -> Self {
        let normal = normalise(text);
        let mut words = Vec::new();
        let mut word = String::new();
        for c in normal.chars() {
            let is_part = c.is_alphanumeric() && !is_han(c);
            if is_part {
                word.push(c);
                continue;
            }
            if !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            if is_han(c) {
                words.push(c.to_string());
            }
        }
        if !word.is_empty() {
            words.push(word);
        }
        let wordless = words.is_empty().then_some(normal);
        Self { words, wordless }
    }
}

/// Length of the longest common subsequence.
fn common_subsequence(one: &[String], other: &[String]) -> usize {
    // `row[j]` is the length for what was read of `one` and the first j of `other`.
    let mut row = vec![0_usize; other.len() + 1];
    for word in one {
        let mut diagonal = 0;
        let mut left = 0;
        for (cell, candidate) in row.iter_mut().skip(1).zip(other) {
            let above = *cell;
            *cell = if word == candidate { diagonal + 1 } else { above.max(left) };
            diagonal = above;
            left = *cell;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        metric::{lexical::tests::expect_figure, trying::Try},
        model::Language,
    };

    const ALL: [Rouge; 3] = [Rouge::One, Rouge::Two, Rouge::L];

    fn metric(rouge: Rouge) -> &'static dyn Metric {
        match rouge {
            Rouge::One => &Rouge::One,
            Rouge::Two => &Rouge::Two,
            Rouge::L => &Rouge::L,
        }
    }

    /// Figures of rouge-score 0.1.2; for Portuguese and Chinese with a tokenizer that keeps accents and parts Han characters.
    #[test]
    fn figures_are_those_of_rouge_score() {
        for (language, answer, reference, figures) in [
            (Language::En, "Refunds take 30 days.", "Refunds are paid within 30 days.", [0.6, 0.25, 0.6]),
            (
                Language::En,
                "The customer's card won't be charged twice, ever.",
                "A customer's card is never charged twice.",
                [0.5555555555555556, 0.375, 0.5555555555555556],
            ),
            (
                Language::En,
                "Shipping is free",
                "Shipping is free in Portugal, Spain and 3.5 other places.",
                [0.42857142857142855, 0.33333333333333337, 0.42857142857142855],
            ),
            (Language::En, "the the the the", "the cat sat on the mat", [0.4, 0.0, 0.4]),
            (Language::En, "completely different words", "no overlap here", [0.0, 0.0, 0.0]),
            (
                Language::En,
                "Send it back by June 29th, 2007 and keep the receipt, please.",
                "Keep the receipt and send it back by June 29, 2007.",
                [0.8695652173913043, 0.5714285714285713, 0.5217391304347826],
            ),
            (
                Language::En,
                "It costs $1,234.50 (plus 5-10% tax) & shipping.",
                "It costs $1,234.50, plus 5-10% tax & shipping.",
                [1.0, 1.0, 1.0],
            ),
            (
                Language::Pt,
                "O reembolso é pago em 30 dias.",
                "O reembolso é feito em até 30 dias úteis.",
                [0.75, 0.42857142857142855, 0.75],
            ),
            (Language::Pt, "A avó não aceita.", "O avô não aceita.", [0.5, 0.3333333333333333, 0.5]),
            (
                Language::Zh,
                "退款需要30天。",
                "退款需在30天内完成。",
                [0.6666666666666667, 0.4615384615384615, 0.6666666666666667],
            ),
            (
                Language::Zh,
                "请使用iPhone15登录，价格为3.5元。",
                "请用iPhone15登录，价格是3.5元。",
                [0.8695652173913043, 0.6666666666666666, 0.8695652173913043],
            ),
        ] {
            for (rouge, figure) in ALL.into_iter().zip(figures) {
                let tried = Try::of(metric(rouge)).language(language).answer(answer).references(&[reference]);
                expect_figure(&tried, figure);
            }
        }
    }

    #[test]
    fn where_neither_text_has_what_is_counted_equal_texts_are_right() {
        for (answer, reference, figures) in [
            ("Yes.", "yes", [1.0, 1.0, 1.0]),
            ("No", "Yes", [0.0, 0.0, 0.0]),
            ("Yes", "Yes, always", [2.0 / 3.0, 0.0, 2.0 / 3.0]),
            ("…", "…", [1.0, 1.0, 1.0]),
            ("…", "!?", [0.0, 0.0, 0.0]),
            ("", "yes", [0.0, 0.0, 0.0]),
        ] {
            for (rouge, figure) in ALL.into_iter().zip(figures) {
                expect_figure(&Try::of(metric(rouge)).answer(answer).references(&[reference]), figure);
            }
        }
    }

    #[test]
    fn words_keep_accents_and_han_characters_stand_alone() {
        for (text, words) in [
            ("Não-pago, 3.5 €", vec!["não", "pago", "3", "5"]),
            ("退款iPhone15！", vec!["退", "款", "iphone15"]),
            ("snake_case", vec!["snake", "case"]),
            ("…", vec![]),
        ] {
            assert_eq!(Words::of(text).words, words, "{text:?}");
        }
    }
}
