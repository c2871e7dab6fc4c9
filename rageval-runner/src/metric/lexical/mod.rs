//! Text metrics: what the answer says, by rule.
//!
//! Each can be negated with `not: true`. A blank answer scores like any other text, except under `not`, where it is unmeasured: it would
//! pass by saying nothing.

pub mod bleu;
pub mod chrf;
pub mod citation;
pub mod contains;
pub mod json_schema;
mod ngram;
pub mod pattern;
pub mod reference;
pub mod rouge;

pub use bleu::Bleu;
pub use chrf::Chrf;
pub use citation::Citation;
pub use contains::Contains;
pub use json_schema::JsonSchema;
pub use pattern::RegexMatch;
pub use reference::{ExactMatch, TokenF1};
pub use rouge::Rouge;

use super::{
    Input, NOT,
    answering::{Answering, blank},
};
use crate::model::Outcome;

/// The outcome of a negated metric on a blank answer; `None` for any other.
fn passes_by_silence(input: &Input<'_>) -> Option<Outcome> {
    (Answering::of(input.sample) == Answering::Blank && input.params.flag(NOT.name)).then(|| blank(input))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::metric::{Metric, trying::Try};

    /// The score is a figure of another tool, up to the last digits of its arithmetic.
    pub(super) fn expect_figure(tried: &Try, figure: f64) {
        let (outcome, _) = tried.run();
        let score = outcome.score().unwrap_or_else(|| panic!("expected {figure}, got {outcome:?}")).get();
        assert!((score - figure).abs() < 1e-12, "expected {figure}, got {score}");
        if figure == 1.0 {
            assert_eq!(score, 1.0, "perfect is exactly 1");
        }
    }

    fn tried(metric: &'static dyn Metric, answer: &str) -> Try {
        Try::of(metric).answer(answer).references(&["x"]).param("any", json!("x")).param("pattern", json!("(x)"))
    }

    #[test]
    fn not_turns_a_score_round_and_nothing_else() {
        let not = |tried: Try| tried.param("not", json!(true));
        not(tried(&TokenF1, "x y")).expect_score(1.0 - 2.0 / 3.0);
        not(tried(&ExactMatch, "x")).expect_score(0.0);
        not(tried(&ExactMatch, "x").references(&[])).expect_not_applicable("no reference");
        not(tried(&ExactMatch, "x").references(&[""])).expect_unmeasured("data error");
        tried(&TokenF1, "x").param("not", json!(false)).expect_score(1.0);
        not(Try::of(&Contains).answer("free shipping").param("all", json!(["free", "refund", "days"])))
            .expect_score(1.0)
            .expect_note("not: missing: \"refund\", \"days\"");
        let detail =
            not(Try::of(&Contains).answer("free shipping").param("all", json!(["free", "refund", "days"]))).detail();
        assert_eq!(detail.k_of_n, Some((2, 3)));
    }

    const BLANKS: [&dyn Metric; 11] = [
        &ExactMatch,
        &TokenF1,
        &Rouge::One,
        &Rouge::Two,
        &Rouge::L,
        &Bleu,
        &Chrf,
        &Contains,
        &RegexMatch,
        &Citation,
        &JsonSchema,
    ];

    #[test]
    fn a_blank_answer_never_passes_by_what_it_does_not_say() {
        for metric in BLANKS {
            for blank in ["", " \n"] {
                tried(metric, blank).expect_score(0.0).param("not", json!(true)).expect_unmeasured("answer blank");
            }
        }
    }

    #[test]
    fn the_wording_of_a_refusal_can_be_looked_at() {
        for metric in [&Contains as &'static dyn Metric, &RegexMatch] {
            tried(metric, "").refusal("Sorry, no x.").expect_score(1.0);
            tried(metric, "").should_refuse().refusal("Sorry, no x.").expect_score(1.0);
        }
    }
}
