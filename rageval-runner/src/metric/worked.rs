//! How a score came about: the formula of its metric, and the same with the numbers of one case.

use super::{Input, Kind, Metric, NOT, Params};
use crate::{
    model::{Detail, Outcome, Score, Transcript},
    report::console::text,
};

/// Terms of a sum and names of a list that are written out; the rest is counted.
pub(crate) const MOST_TERMS: usize = 12;

/// How a metric's score is made, in words and signs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Formula {
    /// The formula: `claims that the contexts support / all claims of the answer`.
    pub text: &'static str,
    /// What the first number of its `k of n` counts: `claims supported`. Empty where the metric is no share.
    pub counted: &'static str,
}

impl Formula {
    /// A formula that is no share.
    pub const fn of(text: &'static str) -> Self {
        Self { text, counted: "" }
    }

    /// A share; `counted` is what its `k` of `n` counts.
    pub const fn share(text: &'static str, counted: &'static str) -> Self {
        Self { text, counted }
    }
}

/// What a score was made from.
#[derive(Debug, Clone, Copy)]
pub struct Made<'a> {
    /// Case, sample and parameters.
    pub input: &'a Input<'a>,
    /// What was asked of the metric's own judge, and the replies.
    pub transcript: &'a Transcript,
    /// The score, before `not`.
    pub value: f64,
    /// What it says of itself.
    pub detail: &'a Detail,
}

/// The formula with the numbers of one outcome, a line each; empty without a score. The last line ends with `= ` and the score, unless the
/// case or the parameters are not those that were scored.
///
/// What came out of repeats has no numbers of its own: they are those of each repeat.
pub fn worked(metric: &dyn Metric, input: &Input<'_>, transcript: &Transcript, outcome: &Outcome) -> Vec<String> {
    let Outcome::Scored { score, detail } = outcome else { return Vec::new() };
    let is_negated = is_negated(metric, input.params);
    let before = if is_negated { score.value.complement().get() } else { score.value.get() };
    let own = metric.worked(&Made { input, transcript, value: before, detail });
    let mut lines = own.unwrap_or_else(|| vec![by_detail(metric.formula(input.params), detail, before, is_negated)]);
    if is_negated {
        lines.push(format!("not: 1 - {} = {}", text::score(before), text::score(score.value.get())));
    }
    lines
}

/// Whether the lines end with this score, so that they explain it.
pub fn explains(lines: &[String], score: &Score) -> bool {
    lines.last().is_some_and(|line| line.ends_with(&equals(score.value.get())))
}

fn is_negated(metric: &dyn Metric, params: &Params) -> bool {
    metric.kind() == Kind::Text && params.flag(NOT.name)
}

/// What a score's detail says of it. Of a negated one it is what stood there before.
fn by_detail(formula: Formula, detail: &Detail, value: f64, is_negated: bool) -> String {
    let note = detail.note.as_deref().map(|note| note.strip_prefix("not: ").filter(|_| is_negated).unwrap_or(note));
    let k_of_n = detail.k_of_n.map(|(k, n)| if is_negated { (n.saturating_sub(k), n) } else { (k, n) });
    let of_note = note.map(|note| format!(" ({note})")).unwrap_or_default();
    match (k_of_n, formula.counted, note) {
        (Some((k, n)), counted, _) if !counted.is_empty() => {
            format!("{k} of {n} {counted}{of_note}: {k} / {n}{}", equals(value))
        }
        (Some((k, n)), _, _) => format!("{k} of {n}{of_note}{}", equals(value)),
        (None, _, Some(note)) => format!("{note}{}", equals(value)),
        (None, _, None) if value == 0.0 => format!("no{}", equals(value)),
        (None, _, None) if value == 1.0 => format!("yes{}", equals(value)),
        (None, _, None) => format!("score{}", equals(value)),
    }
}

/// The end of a line that says what the numbers come to.
pub(crate) fn equals(value: f64) -> String {
    format!(" = {}", text::score(value))
}

/// Terms in a row, so many of them, and how many more there are.
pub(crate) fn row(terms: impl IntoIterator<Item = String>, between: &str) -> String {
    let mut terms = terms.into_iter();
    let shown: Vec<String> = terms.by_ref().take(MOST_TERMS).collect();
    match terms.count() {
        0 => shown.join(between),
        more => format!("{}{between}... ({more} more)", shown.join(between)),
    }
}

#[cfg(test)]
mod tests;
