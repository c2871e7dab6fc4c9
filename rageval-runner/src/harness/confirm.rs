//! Has suspects read again before anything is decided on them: in their order, until the run is decided or the budget is spent.
//!
//! One process does so for all of its trials once their first readings are there; of many processes each does so for the cases that its
//! own trial needs, and finds in the run's folder what another one has had.

mod means;
mod suspect;

use std::{
    collections::{BTreeSet, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::{StreamExt as _, stream::FuturesUnordered};

use super::{
    course::Event,
    session::{Session, Shared, store_problem},
    setup::{self, Problem, Scope},
    trials::Role,
    verdict,
};
use crate::{
    evaluate::Evaluation,
    gate::{
        self, Basis, Gate, GateRule,
        noise::{self, Progress, Start, Suspect},
    },
    load,
    metric::Metric,
    model::{CaseId, Confirmation, GoldenCase, GoldenSet, MetricKey, Readings, Record, Records},
    store::{
        baseline::Answers,
        readings::{self, FurtherReadings, Purpose},
    },
};

/// What the trials of this process need to have read again.
#[derive(Debug, Clone, Default)]
pub(super) struct Wanted {
    /// Cases that are trials.
    cases: BTreeSet<CaseId>,
    /// Gates that are trials, by their place in the list.
    gates: Vec<usize>,
}

/// The records after further readings.
#[derive(Debug, Clone, Default)]
pub(super) struct Settled {
    /// Those that were looked at, with what was read again of them.
    pub(super) records: Records,
    /// Gates whose drop is suspected and was not looked at once more, since the run is red already.
    pub(super) left: BTreeSet<String>,
}

impl Wanted {
    /// What these trials need.
    pub(super) fn of(session: &Session, selected: &[Role]) -> Self {
        let mut wanted = Self::default();
        for role in selected {
            match role {
                Role::Case(index) => {
                    wanted.cases.insert(session.files.set.cases[*index].id.clone());
                }
                Role::Gate(index) => wanted.gates.push(*index),
                Role::Setup | Role::Calibration(_) | Role::Orphans | Role::Lock => {}
            }
        }
        wanted
    }

    /// What one trial of many processes needs, where nobody knows which others there are: a gate has all of its population read again.
    fn of_process(session: &Session, selected: &[Role]) -> Self {
        let mut wanted = Self::of(session, selected);
        for index in wanted.gates.clone() {
            wanted.cases.extend(verdict::population(session, index));
        }
        wanted
    }

    /// Whether the tail of a gate that is a trial shows this score.
    fn is_in_tail(&self, session: &Session, suspect: &Suspect) -> bool {
        self.gates.iter().map(|index| &session.gates[*index]).any(|gate| {
            let is_tail = match gate.rule {
                GateRule::Bottom10 { .. } | GateRule::Bottom10Drop { .. } => true,
                GateRule::Mean { .. }
                | GateRule::PassRate { .. }
                | GateRule::MeanDrop { .. }
                | GateRule::WindowDrop { .. }
                | GateRule::Unmeasured { .. } => false,
            };
            is_tail && gate.metric.as_ref() == Some(&suspect.metric) && gate.population.contains(&suspect.case)
        })
    }
}

/// Whether a fresh reading could say anything else than the first one.
pub(super) fn can_differ(session: &Session) -> bool {
    !session.judge.is_deterministic()
}

/// The suspects among these records: by the rules, then those that only their snapshot makes red.
fn suspects(
    session: &Session,
    evaluation: &Evaluation,
    set: &GoldenSet,
    gates: &[Gate],
    records: &Records,
) -> Vec<Suspect> {
    let basis = verdict::basis(session);
    let is_read_again = |record: &Record, metric: &MetricKey| {
        let case = set.get(&record.case).zip(record.sample());
        case.is_some_and(|(case, sample)| evaluation.is_asked(case, sample, metric))
    };
    let mut suspects = noise::suspects(set, records, gates, &basis, &is_read_again);
    let by_rules: BTreeSet<(CaseId, MetricKey)> =
        suspects.iter().map(|suspect| (suspect.case.clone(), suspect.metric.clone())).collect();
    let metrics: Vec<&dyn Metric> = session.metrics.iter().map(|metric| *metric as _).collect();
    for case in &set.cases {
        let Some(record) = records.get(&case.id) else { continue };
        for metric in session.snapshots.suspects(case, record, &metrics) {
            let is_new = !by_rules.contains(&(case.id.clone(), metric.clone()));
            if is_new && basis.is_noisy(&metric) && is_read_again(record, &metric) {
                suspects.push(by_snapshot(&case.id, metric));
            }
        }
    }
    suspects
}

/// Whether a case must wait until suspects were read again: known from the case alone.
pub(super) fn is_suspect(session: &Session, case: &GoldenCase, record: &Arc<Record>) -> bool {
    if !can_differ(session) || session.course.stored.contains(&case.id) {
        return false;
    }
    let Ok(evaluation) = session.evaluation() else { return false };
    let set = GoldenSet { cases: vec![case.clone()], ..GoldenSet::default() };
    let gates = gate::gates(&session.files.policy.rules, &set);
    let records = [(case.id.clone(), Arc::clone(record))].into();
    !suspects(session, &evaluation, &set, &gates, &records).is_empty()
}

/// A suspect that no rule makes red: each of its bad verdicts is in question. What remains bad may have been reviewed, so it decides no run.
fn by_snapshot(case: &CaseId, metric: MetricKey) -> Suspect {
    let bars = noise::Bars { min: Some(1.0), ..noise::Bars::default() };
    Suspect { case: case.clone(), metric, shortfall: 0.0, bars, counts: false }
}

/// Has what these trials need read again, by their first records.
pub(super) async fn settle(
    session: &Session,
    evaluation: &Evaluation,
    records: Records,
    selected: &[Role],
) -> Result<Settled, Problem> {
    if !can_differ(session) {
        return Ok(Settled { records, left: BTreeSet::new() });
    }
    let (wanted, further) = match &session.records {
        // A run that may be interrupted keeps what it had as files too, so that whoever goes on does not ask for it again.
        Shared::Memory(_) => {
            let kept = session.course.going.as_ref().map(|going| going.folder().further_readings());
            (Wanted::of(session, selected), kept)
        }
        Shared::Folder(_) => (Wanted::of_process(session, selected), Some(session.folder.further_readings())),
    };
    let set = &session.files.set;
    let of_one_file;
    let gates: &[Gate] = match session.files.scope {
        Scope::Whole => &session.gates,
        // Which bars on the tail hold for a case is seen from the case alone.
        Scope::OneFile | Scope::Picked => {
            of_one_file = gate::gates(&session.files.policy.rules, set);
            &of_one_file
        }
    };
    let mut suspects = suspects(session, evaluation, set, gates, &records);
    suspects.retain(|suspect| wanted.cases.contains(&suspect.case) || wanted.is_in_tail(session, suspect));
    suspects.retain(|suspect| !session.course.stored.contains(&suspect.case));
    let mut settled = Settled { records, left: BTreeSet::new() };
    let desk = Desk { session, evaluation, further, answers: answers(session, evaluation), counted: Mutex::default() };
    if !suspects.is_empty() {
        let found = desk.in_order(suspects, &settled.records).await?;
        add(&mut settled.records, found);
    }
    if !session.course.stored.is_empty() {
        // A fresh reading of a mean is one of all its cases.
        return Ok(settled);
    }
    let found = means::read_again(&desk, &settled.records, &wanted.gates).await?;
    settled.left = found.left;
    add(&mut settled.records, found.readings);
    Ok(settled)
}

fn add(records: &mut Records, found: Vec<Again>) {
    for (case, metric, readings) in found {
        if let Some(record) = records.get_mut(&case) {
            Arc::make_mut(record).add_readings(metric, readings);
        }
    }
}

/// The answers of the baseline, or why they can't be judged again.
fn answers(session: &Session, evaluation: &Evaluation) -> Result<Answers, String> {
    if evaluation.baseline != Answers::default() {
        return Ok(evaluation.baseline.clone());
    }
    setup::answers_of(&session.files, session.baseline.as_ref())
        .map_err(|error| format!("the baseline's answers cannot be read: {error}"))
}

/// What was read again of one metric of one case.
type Again = (CaseId, MetricKey, Readings);

/// From where suspects are read again.
struct Desk<'a> {
    session: &'a Session,
    evaluation: &'a Evaluation,
    /// Where many processes tell each other, and a run that is interrupted whoever goes on; `None` where this process is alone.
    further: Option<FurtherReadings>,
    answers: Result<Answers, String>,
    counted: Mutex<readings::Confirmed>,
}

/// What the size of the whole set says, whatever part of it was read.
#[derive(Debug, Clone, Copy)]
struct Extent {
    depth: u32,
    budget: usize,
}

impl Desk<'_> {
    fn case(&self, id: &CaseId) -> Result<&GoldenCase, Problem> {
        let lost = || Problem::everything(format!("the case {id} was lost"));
        self.session.files.set.get(id).ok_or_else(lost)
    }

    /// Known from the files alone, so that it is the same in every process and every form of a run.
    fn extent(&self) -> Result<Extent, String> {
        let policy = &self.session.files.policy;
        let basis = verdict::basis(self.session);
        let of = |set: &GoldenSet| Extent {
            depth: noise::depth(noise::pairs_with_rules(set, &basis)),
            budget: policy.rules.confirm.budget(first_readings(set, &basis)),
        };
        match self.session.files.scope {
            Scope::Whole | Scope::Picked => Ok(of(&self.session.files.set)),
            Scope::OneFile => {
                let metrics: Vec<&dyn Metric> = self.session.metrics.iter().map(|metric| *metric as _).collect();
                let whole = load::cases(policy, &metrics);
                whole.map(|set| of(&set)).map_err(|_| "the golden set cannot be read as a whole".to_owned())
            }
        }
    }

    async fn counted(&self) -> Result<readings::Confirmed, Problem> {
        match &self.further {
            Some(further) => further.confirmed().await.map_err(|error| store_problem(&error)),
            None => Ok(*self.counted.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    async fn count(&self, more: readings::Confirmed) -> Result<(), crate::store::StoreError> {
        if let Some(further) = &self.further {
            return further.add(more).await.map(drop);
        }
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        counted.cases += more.cases;
        counted.requests += more.requests;
        Ok(())
    }

    /// Reads the suspects again, side by side as far as that changes nothing of which are.
    async fn in_order(&self, suspects: Vec<Suspect>, records: &Records) -> Result<Vec<Again>, Problem> {
        let extent = match self.extent() {
            Ok(extent) => extent,
            Err(why) => return self.leave_all(suspects, &why).await,
        };
        let confirm = &self.session.files.policy.rules.confirm;
        let mut waiting = VecDeque::from(suspects);
        let mut running = FuturesUnordered::new();
        let mut settled = Vec::new();
        loop {
            while !waiting.is_empty() {
                let readings::Confirmed { cases, requests } = self.counted().await?;
                let progress = Progress { confirmed: cases, asked: requests, in_flight: running.len() };
                match noise::may_start(progress, confirm, extent.budget, extent.depth) {
                    Start::Now => {
                        running.extend(waiting.pop_front().map(|suspect| self.confirm(suspect, records, extent.depth)));
                    }
                    Start::Wait => break,
                    Start::Never(why) => settled.extend(self.leave_all(waiting.drain(..), &why).await?),
                }
            }
            match running.next().await {
                Some(done) => settled.push(done?),
                None => return Ok(settled),
            }
        }
    }

    async fn confirm(&self, suspect: Suspect, records: &Records, depth: u32) -> Result<Again, Problem> {
        let case = self.case(&suspect.case)?;
        let lost = || Problem::everything(format!("the record of {} was lost", suspect.case));
        let record = records.get(&suspect.case).ok_or_else(lost)?;
        let read = async || {
            let (id, metric) = (&suspect.case, &suspect.metric);
            self.session.course.tell(|| Event::ReadingAgain { case: id.clone(), metric: metric.clone() });
            let question = suspect::Question::new(self, case, record, &suspect, depth);
            let read = question.read().await;
            self.count(readings::Confirmed { cases: usize::from(read.is_failing), requests: read.requests }).await?;
            Ok(read.readings)
        };
        self.had(case, suspect.metric.clone(), read).await
    }

    /// Leaves suspects as they were first read.
    async fn leave_all(&self, suspects: impl IntoIterator<Item = Suspect>, why: &str) -> Result<Vec<Again>, Problem> {
        let mut left = Vec::new();
        for suspect in suspects {
            let not_confirmed = Confirmation::NotConfirmed { why: why.to_owned() };
            let readings = Readings { confirmation: Some(not_confirmed), ..Readings::default() };
            left.push(self.had(self.case(&suspect.case)?, suspect.metric, async || Ok(readings)).await?);
        }
        Ok(left)
    }

    async fn had<F>(&self, case: &GoldenCase, metric: MetricKey, read: F) -> Result<Again, Problem>
    where
        F: AsyncFnOnce() -> Result<Readings, crate::store::StoreError>,
    {
        let readings = match &self.further {
            Some(further) => further.find_or(case, &metric, Purpose::Suspect, read).await,
            None => read().await,
        };
        Ok((case.id.clone(), metric, readings.map_err(|error| store_problem(&error))?))
    }
}

/// About how many requests the first readings of a set take: one for each case and judged metric.
fn first_readings(set: &GoldenSet, basis: &Basis<'_>) -> usize {
    let of = |case: &GoldenCase| basis.rules.metrics_of(case).filter(|(metric, _)| basis.is_judged(metric)).count();
    set.cases.iter().map(of).sum()
}
