//! What a run without a test binary does beside deciding: it tells how far it is, keeps what it has, and leaves known records as they are.

use std::{
    collections::BTreeSet,
    fmt,
    sync::{Arc, atomic::AtomicUsize},
};

use super::{
    finished::{Finished, unwritable},
    session::{Session, store_problem},
    setup::Problem,
};
use crate::{
    model::{CaseId, GoldenCase, MetricKey, Record, Spending},
    store::{going::Going, ledger::Ledger, runs::record_text},
};

/// How far a run is.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// It begins.
    Started {
        /// Cases whose records it needs.
        cases: usize,
        /// How many of these are there already.
        stored: usize,
    },
    /// A case was asked, and all of its metrics have an outcome.
    CaseDone {
        /// The case.
        case: CaseId,
        /// Whether something of it is unmeasured.
        is_unmeasured: bool,
        /// What the run spent on models by now; `None` where none was asked that costs anything.
        spent: Option<Spending>,
    },
    /// A suspect is read again before anything is decided on it.
    ReadingAgain {
        /// The case.
        case: CaseId,
        /// The metric.
        metric: MetricKey,
    },
    /// All records are there; what is left is to decide.
    Deciding,
}

/// Where events go.
pub type Teller = Arc<dyn Fn(Event) + Send + Sync>;

/// What is told and kept while a run goes on; nothing of it in a test binary.
#[derive(Clone, Default)]
pub(super) struct Course {
    /// Who is told how far it is.
    pub(super) teller: Option<Teller>,
    /// Where records are kept as they come.
    pub(super) going: Option<Arc<Going>>,
    /// What counts the spending, over an interruption too.
    pub(super) ledger: Option<Ledger>,
    /// Cases whose records are of an earlier run: they are decided as they stand, and nothing of them is read again.
    pub(super) stored: BTreeSet<CaseId>,
    /// Why the run holds a part of the cases only.
    pub(super) partial: Option<String>,
    /// Records of the interrupted run that can't be read: their cases are asked again.
    pub(super) unreadable: usize,
    /// Cases whose first snapshot insta's own switch wrote.
    pub(super) first_snapshots: Arc<AtomicUsize>,
}

impl fmt::Debug for Course {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Course").field("stored", &self.stored.len()).field("partial", &self.partial).finish()
    }
}

impl Course {
    pub(super) fn tell(&self, event: impl FnOnce() -> Event) {
        if let Some(teller) = &self.teller {
            teller(event());
        }
    }
}

impl Session {
    /// Keeps and tells what came of a case.
    pub(super) fn arrived(&self, case: &GoldenCase, record: Record) -> Result<Finished, Problem> {
        let text = record_text(&record).map_err(|error| unwritable(case, &error))?;
        let is_kept = match &self.course.going {
            Some(going) => going.keep(case, &record, &text).map_err(|error| store_problem(&error))?,
            None => false,
        };
        self.course.tell(|| Event::CaseDone {
            case: case.id.clone(),
            is_unmeasured: record.outcomes.values().any(|outcome| outcome.fault().is_some()),
            spent: self.ledger().and_then(Ledger::spent),
        });
        Ok(if is_kept { self.finish_of_folder(case, record, text.len()) } else { self.finish(case, record, &text) })
    }
}
