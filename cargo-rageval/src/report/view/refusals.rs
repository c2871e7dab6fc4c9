//! Answered or declined, against what was right.

use rageval_runner::model::CaseId;

use super::CaseView;

/// The 2 x 2 table of refusals; cases whose question the golden set does not tell, and those without an answer, stand in none.
#[derive(Debug, Default)]
pub(crate) struct Refusals<'r> {
    /// Answered, as it should.
    pub(crate) answered_answerable: Vec<&'r CaseId>,
    /// Declined, and should have answered.
    pub(crate) refused_answerable: Vec<&'r CaseId>,
    /// Answered, and should have declined.
    pub(crate) answered_unanswerable: Vec<&'r CaseId>,
    /// Declined, as it should.
    pub(crate) refused_unanswerable: Vec<&'r CaseId>,
    /// Without an answer: through a fault, or a blank one.
    pub(crate) failed: Vec<&'r CaseId>,
}

impl<'r> Refusals<'r> {
    pub(super) fn of(cases: &[CaseView<'r>]) -> Self {
        let mut table = Self::default();
        for case in cases {
            let Some((golden, record)) = case.golden.zip(case.record) else { continue };
            // A blank answer neither answers nor declines.
            let sample = record.sample().filter(|sample| !sample.is_blank());
            let list = match (sample.map(|sample| sample.is_refusal), golden.should_refuse) {
                (None, _) => &mut table.failed,
                (Some(false), false) => &mut table.answered_answerable,
                (Some(true), false) => &mut table.refused_answerable,
                (Some(false), true) => &mut table.answered_unanswerable,
                (Some(true), true) => &mut table.refused_unanswerable,
            };
            list.push(case.id);
        }
        table
    }
}
