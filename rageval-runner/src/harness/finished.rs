//! Records that are finished: what gates need of them in memory, each whole where it can be had again.

use std::{
    collections::BTreeMap,
    fmt, io,
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    confirm,
    session::{Session, store_problem},
    setup::Problem,
};
use crate::{
    metric::Metric,
    model::{CaseId, CaseScores, Ending, GoldenCase, MetricKey, Record, Reply, Request},
    store::{
        runs::record_text,
        spool::{Span, Spool},
    },
    trust::Told,
};

/// Bytes of records, as they stand in a run file, that stay in memory until their trials have looked at them. A record takes about seven
/// times as much there; a run of some hundred cases reads none back.
const KEPT_NEAR: usize = 8 << 20;
/// Taken for the bytes of a record whose text nobody counted.
pub(super) const UNCOUNTED: usize = KEPT_NEAR / 64;

/// A record that is finished.
#[derive(Debug, Clone)]
pub(super) struct Finished {
    /// What gates need of it, by its first readings.
    pub(super) scores: Arc<CaseScores>,
    /// Metrics that its snapshot alone makes suspect.
    pub(super) by_snapshot: Box<[MetricKey]>,
    whole: Whole,
}

/// Where a record is whole.
#[derive(Debug, Clone)]
enum Whole {
    /// In the spool of this process.
    Spooled(Span),
    /// In a file of the run's folder, which many processes share.
    File,
    /// In memory, since the spool can't be written.
    Held(Arc<Record>),
}

/// Where the records of this process are, and what all of them say together.
#[derive(Debug)]
pub(super) struct Shelf {
    spool: Spool,
    near: Mutex<Near>,
    together: Mutex<Together>,
}

/// Whole records that no trial has looked at yet, as far as there is room.
#[derive(Debug, Default)]
struct Near {
    records: BTreeMap<CaseId, (Arc<Record>, usize)>,
    bytes: usize,
}

/// What is counted over all records as they come.
#[derive(Debug, Clone, Default)]
pub(super) struct Together {
    /// Which models wrote the answers.
    pub(super) told: Told,
    /// Cases that lack a reply of the judge for want of its key.
    pub(super) lack_judge: usize,
    /// The same of the embedder.
    pub(super) lack_embedder: usize,
    /// Why records stay in memory; `None` while they need not.
    pub(super) unspooled: Option<String>,
}

impl Shelf {
    pub(super) fn new(spool: Spool) -> Self {
        Self { spool, near: Mutex::default(), together: Mutex::default() }
    }

    /// What the records say together that have come by now.
    pub(super) fn together(&self) -> Together {
        self.together.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Gives the disk back what finished records take of it; returns whether that was anything.
    pub(super) fn give_room(&self) -> bool {
        self.spool.recall().unwrap_or(false)
    }

    fn near(&self, case: &CaseId) -> Option<Arc<Record>> {
        let near = self.near.lock().unwrap_or_else(PoisonError::into_inner);
        near.records.get(case).map(|(record, _)| Arc::clone(record))
    }

    /// Lets go of a whole record that its trial has looked at; it can be read again.
    pub(super) fn leave(&self, case: &CaseId) {
        let mut near = self.near.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, bytes)) = near.records.remove(case) {
            near.bytes -= bytes;
        }
    }

    fn put_near(&self, record: &Arc<Record>, bytes: usize) {
        let mut near = self.near.lock().unwrap_or_else(PoisonError::into_inner);
        if near.bytes + bytes <= KEPT_NEAR {
            near.bytes += bytes;
            near.records.insert(record.case.clone(), (Arc::clone(record), bytes));
        }
    }

    fn count(&self, record: &Record) {
        let lacks = |is_theirs: fn(&Request) -> bool| {
            usize::from(record.exchanges().any(|exchange| {
                is_theirs(&exchange.request) && matches!(exchange.reply, Reply::Failed { ending: Ending::NoKey, .. })
            }))
        };
        let (judge, embedder) = (
            lacks(|request| matches!(request, Request::Judge(_))),
            lacks(|request| matches!(request, Request::Embed(_))),
        );
        let mut together = self.together.lock().unwrap_or_else(PoisonError::into_inner);
        together.told.hear(record);
        together.lack_judge += judge;
        together.lack_embedder += embedder;
    }

    /// Puts a record, of which this is the text, out of memory. What can't be written stays there: nothing is lost, and it is said.
    fn spooled(&self, record: &Arc<Record>, text: &[u8]) -> Whole {
        match self.spool.add(text) {
            Ok(span) => {
                self.put_near(record, text.len());
                Whole::Spooled(span)
            }
            Err(error) => {
                let mut together = self.together.lock().unwrap_or_else(PoisonError::into_inner);
                together.unspooled.get_or_insert_with(|| error.to_string());
                Whole::Held(Arc::clone(record))
            }
        }
    }
}

impl Session {
    /// Takes in a record of this process.
    pub(super) fn finish(&self, case: &GoldenCase, record: Record, text: &[u8]) -> Finished {
        let record = Arc::new(record);
        let whole = self.shelf.spooled(&record, text);
        self.finished_as(case, &record, whole)
    }

    /// The same of a record that was known before the run, as it stands in memory.
    pub(super) fn finish_known(&self, case: &GoldenCase, record: Record) -> Result<Finished, Problem> {
        let text = record_text(&record).map_err(|error| unwritable(case, &error))?;
        Ok(self.finish(case, record, &text))
    }

    /// The same of a record that is a file of the run's folder, and of this many bytes as text.
    pub(super) fn finish_of_folder(&self, case: &GoldenCase, record: Record, bytes: usize) -> Finished {
        let record = Arc::new(record);
        self.shelf.put_near(&record, bytes);
        self.finished_as(case, &record, Whole::File)
    }

    fn finished_as(&self, case: &GoldenCase, record: &Arc<Record>, whole: Whole) -> Finished {
        self.shelf.count(record);
        let can_be_suspect = confirm::can_differ(self) && !self.course.stored.contains(&case.id);
        let by_snapshot = if can_be_suspect {
            let metrics: Vec<&dyn Metric> = self.metrics.iter().map(|metric| *metric as _).collect();
            self.snapshots.suspects(case, record, &metrics)
        } else {
            Vec::new()
        };
        let scores = Arc::new(CaseScores::from(&**record));
        Finished { scores, by_snapshot: by_snapshot.into_boxed_slice(), whole }
    }

    /// The whole of a record that is there.
    pub(super) fn whole_of(&self, case: &GoldenCase, finished: &Finished) -> Result<Arc<Record>, Problem> {
        if let Some(record) = self.shelf.near(&case.id) {
            return Ok(record);
        }
        let record = match &finished.whole {
            Whole::Held(record) => return Ok(Arc::clone(record)),
            Whole::Spooled(span) => {
                let text = self.shelf.spool.read(*span).map_err(|error| lost(&case.id, &error))?;
                serde_json::from_slice::<Record>(&text).map_err(|error| lost(&case.id, &error))?
            }
            Whole::File => {
                let record = self.folder.record(case).map_err(|error| store_problem(&error))?;
                record.ok_or_else(|| lost(&case.id, &"its file is gone"))?
            }
        };
        if record.case == case.id { Ok(Arc::new(record)) } else { Err(lost(&case.id, &"another one stands there")) }
    }

    /// The records of this process as they stand in the run file, by case: with their further readings where they have any.
    pub(super) fn record_texts(&self) -> impl Iterator<Item = io::Result<Vec<u8>>> {
        let again = self.settled.get().and_then(|settled| settled.as_ref().ok()).map(|settled| &settled.again);
        let mut cases: Vec<&GoldenCase> = self.files.set.cases.iter().collect();
        cases.sort_by(|a, b| a.id.cmp(&b.id));
        cases.into_iter().filter_map(move |case| {
            let finished = self.finished_of(&case.id)?;
            let text = match (again.and_then(|again| again.get(&case.id)), &finished.whole) {
                (None, Whole::Spooled(span)) => self.shelf.spool.read(*span).map_err(|error| lost(&case.id, &error)),
                (again, Whole::Spooled(_) | Whole::File | Whole::Held(_)) => {
                    self.whole_of(case, &finished).and_then(|first| {
                        let text = match again {
                            Some(again) => record_text(&again.added_to(&first)),
                            None => record_text(&first),
                        };
                        text.map_err(|error| unwritable(case, &error))
                    })
                }
            };
            Some(text.map_err(|problem| io::Error::other(problem.lines.join(" "))))
        })
    }
}

pub(super) fn unwritable(case: &GoldenCase, error: &dyn fmt::Display) -> Problem {
    Problem::everything(format!("the record of {} cannot be written: {error}", case.id))
}

fn lost(case: &CaseId, error: &dyn fmt::Display) -> Problem {
    Problem::everything(format!("the record of {case} cannot be read back: {error}"))
}
