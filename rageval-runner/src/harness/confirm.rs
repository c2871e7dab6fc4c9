//! Has suspects read again before anything is decided on them: in their order, until the run is decided or the budget is spent.
//!
//! One process does so for all of its trials once their first readings are there; of many processes each does so for the cases that its
//! own trial needs, and finds in the run's folder what another one has had.

mod means;
mod suspect;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::{StreamExt as _, stream::FuturesUnordered};

use super::{
    course::Event,
    finished::Finished,
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
    model::{CaseId, CaseScores, Confirmation, GoldenCase, GoldenSet, MetricKey, Readings, Record, Scores},
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

/// What further readings came to.
#[derive(Debug, Default)]
pub(super) struct Settled {
    /// The cases of which something was read again.
    pub(super) again: BTreeMap<CaseId, ReadAgain>,
    /// Gates whose drop is suspected and was not looked at once more, since the run is red already.
    pub(super) left: BTreeSet<String>,
}

/// What was read again of one case.
#[derive(Debug)]
pub(super) struct ReadAgain {
    /// By metric, in the order in which they were had.
    readings: Vec<(MetricKey, Readings)>,
    /// Its scores with them.
    scores: Arc<CaseScores>,
}

impl Settled {
    /// The same scores with what was read again.
    pub(super) fn over(&self, mut scores: Scores) -> Scores {
        for (id, scores) in &mut scores {
            if let Some(again) = self.again.get(id) {
                *scores = Arc::clone(&again.scores);
            }
        }
        scores
    }
}

impl ReadAgain {
    /// The record of the case with its further readings.
    pub(super) fn added_to(&self, first: &Record) -> Record {
        with_readings(first, &self.readings)
    }
}

fn with_readings(first: &Record, readings: &[(MetricKey, Readings)]) -> Record {
    let mut record = first.clone();
    for (metric, readings) in readings {
        record.add_readings(metric.clone(), readings.clone());
    }
    record
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
    scores: &Scores,
) -> Vec<Suspect> {
    let basis = verdict::basis(session);
    let is_read_again = |id: &CaseId, metric: &MetricKey| {
        let found = session.case_of(id).zip(session.finished_of(id));
        // A record that can't be read back stays suspect: whoever reads it again says why that is impossible.
        found.is_some_and(|(case, finished)| {
            session
                .whole_of(case, &finished)
                .map_or(true, |record| record.sample().is_some_and(|sample| evaluation.is_asked(case, sample, metric)))
        })
    };
    let mut suspects = noise::suspects(set, scores, gates, &basis, &is_read_again);
    let by_rules: BTreeSet<(CaseId, MetricKey)> =
        suspects.iter().map(|suspect| (suspect.case.clone(), suspect.metric.clone())).collect();
    for case in &set.cases {
        let Some(finished) = session.finished_of(&case.id).filter(|_| scores.contains_key(&case.id)) else { continue };
        for metric in finished.by_snapshot {
            let is_new = !by_rules.contains(&(case.id.clone(), metric.clone()));
            if is_new && basis.is_noisy(&metric) && is_read_again(&case.id, &metric) {
                suspects.push(by_snapshot(&case.id, metric));
            }
        }
    }
    suspects
}

/// Whether a case must wait until suspects were read again: known from the case alone.
pub(super) fn is_suspect(session: &Session, case: &GoldenCase, finished: &Finished) -> bool {
    if !can_differ(session) || session.course.stored.contains(&case.id) {
        return false;
    }
    let Ok(evaluation) = session.evaluation() else { return false };
    let set = GoldenSet { cases: vec![case.clone()], ..GoldenSet::default() };
    let gates = gate::gates(&session.files.policy.rules, &set);
    let scores = [(case.id.clone(), Arc::clone(&finished.scores))].into();
    !suspects(session, &evaluation, &set, &gates, &scores).is_empty()
}

/// A suspect that no rule makes red: each of its bad verdicts is in question. What remains bad may have been reviewed, so it decides no run.
fn by_snapshot(case: &CaseId, metric: MetricKey) -> Suspect {
    let bars = noise::Bars { min: Some(1.0), ..noise::Bars::default() };
    Suspect { case: case.clone(), metric, shortfall: 0.0, bars, counts: false }
}

/// Has what these trials need read again, by their first scores.
pub(super) async fn settle(
    session: &Session,
    evaluation: &Evaluation,
    mut scores: Scores,
    selected: &[Role],
) -> Result<Settled, Problem> {
    if !can_differ(session) {
        return Ok(Settled::default());
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
    let mut suspects = suspects(session, evaluation, set, gates, &scores);
    suspects.retain(|suspect| wanted.cases.contains(&suspect.case) || wanted.is_in_tail(session, suspect));
    suspects.retain(|suspect| !session.course.stored.contains(&suspect.case));
    let mut settled = Settled::default();
    let desk = Desk { session, evaluation, further, answers: answers(session, evaluation), counted: Mutex::default() };
    if !suspects.is_empty() {
        let found = desk.in_order(suspects).await?;
        scores = add(session, &mut settled, scores, found)?;
    }
    if !session.course.stored.is_empty() {
        // A fresh reading of a mean is one of all its cases.
        return Ok(settled);
    }
    let found = means::read_again(&desk, &scores, &wanted.gates).await?;
    settled.left = found.left;
    add(session, &mut settled, scores, found.readings)?;
    Ok(settled)
}

/// Adds what was read again to what is settled; returns the scores with it.
fn add(session: &Session, settled: &mut Settled, scores: Scores, found: Vec<Again>) -> Result<Scores, Problem> {
    let mut by_case: BTreeMap<CaseId, Vec<(MetricKey, Readings)>> = BTreeMap::new();
    for (case, metric, readings) in found {
        by_case.entry(case).or_default().push((metric, readings));
    }
    for (id, more) in by_case {
        let first = whole(session, &id)?;
        let before = settled.again.remove(&id).map(|again| again.readings).unwrap_or_default();
        let readings: Vec<_> = before.into_iter().chain(more).collect();
        let scores = Arc::new(CaseScores::from(&with_readings(&first, &readings)));
        settled.again.insert(id, ReadAgain { readings, scores });
    }
    Ok(settled.over(scores))
}

/// The whole record of a case that is there.
fn whole(session: &Session, id: &CaseId) -> Result<Arc<Record>, Problem> {
    let lost = || Problem::everything(format!("the record of {id} was lost"));
    let (case, finished) = session.case_of(id).zip(session.finished_of(id)).ok_or_else(lost)?;
    session.whole_of(case, &finished)
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
        self.session.case_of(id).ok_or_else(lost)
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
    async fn in_order(&self, suspects: Vec<Suspect>) -> Result<Vec<Again>, Problem> {
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
                        running.extend(waiting.pop_front().map(|suspect| self.confirm(suspect, extent.depth)));
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

    async fn confirm(&self, suspect: Suspect, depth: u32) -> Result<Again, Problem> {
        let case = self.case(&suspect.case)?;
        let record = whole(self.session, &suspect.case)?;
        let read = async || {
            let (id, metric) = (&suspect.case, &suspect.metric);
            self.session.course.tell(|| Event::ReadingAgain { case: id.clone(), metric: metric.clone() });
            let question = suspect::Question::new(self, case, &record, &suspect, depth);
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
