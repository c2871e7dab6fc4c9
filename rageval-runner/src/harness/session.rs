//! One run: its records, whoever evaluates them, and its decisions.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, OnceLock, PoisonError, atomic::AtomicUsize},
};

use futures_util::StreamExt as _;
use tokio::runtime::Runtime;

use super::{
    assembly,
    confirm::{self, Settled},
    context::Context,
    course::Course,
    finished::{Finished, Shelf, UNCOUNTED},
    setup::{Files, Problem, Reach},
    snapshots::Snapshots,
    trials::Role,
};
use crate::{
    embed::Embedder,
    evaluate::{Evaluation, calibrated, stamp},
    gate::{DropTests, Gate, MetricFacts},
    judge::Judge,
    load::Policy,
    metric::Metric,
    model::{
        CaseId, GoldenCase, MetricKey, Record, Scores,
        run::{AcceptedRun, Baseline, Decision, JudgeStamp},
    },
    store::{StoreError, ledger::Ledger, runs::RunFolder},
    system::RagSystem,
    trust::{self, Date, Generators, Trust, calibration::Looked},
};

/// Seed of every random draw of a run.
pub(super) const SEED: u64 = 0;

/// One run, shared by all trials.
pub(super) struct Session {
    pub(super) files: Files,
    pub(super) metrics: Vec<&'static dyn Metric>,
    pub(super) gates: Vec<Gate>,
    /// Judged metrics with a rule that can fail: each has a judge that must be believed.
    pub(super) trusted: Vec<MetricKey>,
    pub(super) baseline: Option<Baseline>,
    /// The accepted runs that `regression.window` looks back on.
    pub(super) history: Vec<AcceptedRun>,
    pub(super) snapshots: Snapshots,
    pub(super) judge: Arc<dyn Judge>,
    /// The judge's, with the embedder's in its fingerprint where there is one.
    pub(super) judge_stamp: JudgeStamp,
    pub(super) embedder: Option<Arc<dyn Embedder>>,
    pub(super) facts: BTreeMap<String, MetricFacts>,
    /// The test target, for the commands that a failure names.
    pub(super) target: &'static str,
    pub(super) folder: RunFolder,
    /// What is wrong with the set-up, found before anything ran.
    pub(super) problems: Vec<Problem>,
    pub(super) context: Context,
    /// What is told and kept while the run goes on.
    pub(super) course: Course,
    pub(super) decisions: Mutex<BTreeMap<String, Decision>>,
    /// Cases whose verdicts changed and pass.
    pub(super) changed: AtomicUsize,
    /// Cases whose snapshot insta's own switch rewrote.
    pub(super) rewritten: AtomicUsize,
    /// The p-values of all gates that have one; computed once.
    pub(super) drop_tests: OnceLock<DropTests>,
    /// The day on which this process first looked whether a waiver holds.
    pub(super) today: OnceLock<Date>,
    /// How the judge of each trusted metric was held against people; looked at once.
    pub(super) calibrations: OnceLock<BTreeMap<MetricKey, Looked>>,
    pub(super) function: Option<Arc<dyn RagSystem>>,
    pub(super) records: Shared,
    /// Where the records are whole.
    pub(super) shelf: Shelf,
    /// The place of each case in the set.
    pub(super) places: BTreeMap<CaseId, usize>,
    /// What further readings came to; of one process, which sets it once all first readings are there.
    pub(super) settled: OnceLock<Result<Arc<Settled>, Problem>>,
    /// Built on the first record that is in no store.
    pub(super) evaluation: OnceLock<Result<Arc<Evaluation>, Problem>>,
    pub(super) runtime: OnceLock<Background>,
}

/// A runtime that never waits for its threads: a call that hangs must not keep the process from ending.
pub(super) struct Background(Option<Runtime>);

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Where records are while the run goes on.
pub(super) enum Shared {
    /// One process: evaluated ahead.
    Memory(BTreeMap<CaseId, OnceLock<Result<Finished, Problem>>>),
    /// Many processes: files of the run folder, and what this process has read.
    Folder(Mutex<BTreeMap<CaseId, Finished>>),
}

impl Session {
    /// The system and the judge, opened on the first call.
    pub(super) fn evaluation(&self) -> Result<Arc<Evaluation>, Problem> {
        self.evaluation.get_or_init(|| assembly::evaluation(self).map(Arc::new)).clone()
    }

    /// Every broken part of the set-up, the system's opening included when it has been tried.
    pub(super) fn all_problems(&self) -> Vec<&Problem> {
        let opened = self.evaluation.get().and_then(|opened| opened.as_ref().err());
        self.problems.iter().chain(opened).collect()
    }

    /// The broken part that keeps everything from running.
    pub(super) fn blocking_problem(&self) -> Option<&Problem> {
        self.all_problems().into_iter().find(|problem| problem.reach == Reach::Everything)
    }

    fn runtime(&self) -> Result<&Runtime, Problem> {
        if let Some(runtime) = self.runtime.get().and_then(|runtime| runtime.0.as_ref()) {
            return Ok(runtime);
        }
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        // Calls of the system sit on blocking threads; one that hangs keeps its thread until the process ends.
        let runtime = builder
            .enable_all()
            .max_blocking_threads(4096)
            .build()
            .map_err(|error| Problem::everything(format!("the runtime cannot start: {error}")))?;
        let kept = self.runtime.get_or_init(|| Background(Some(runtime)));
        kept.0.as_ref().ok_or_else(|| Problem::everything("the runtime has ended"))
    }

    /// How many cases are under way at once: enough to keep the system, the judge and the embedder busy.
    pub(super) fn width(&self) -> usize {
        let policy = &self.files.policy;
        let embedder = policy.embedder.as_ref().map_or(0, |embedder| embedder.max_in_flight);
        policy.system.max_in_flight + policy.judge.max_in_flight + embedder
    }

    /// Evaluates the given cases ahead, in the background, and then has suspects read again as these trials need it; one process only.
    pub(super) fn prefetch(self: &Arc<Self>, wanted: &BTreeSet<CaseId>, selected: Vec<Role>) {
        let Shared::Memory(slots) = &self.records else { return };
        let wanted: Vec<usize> =
            (0..self.files.set.cases.len()).filter(|&i| wanted.contains(&self.files.set.cases[i].id)).collect();
        let fail_all = |problem: &Problem| {
            for &index in &wanted {
                if let Some(slot) = slots.get(&self.files.set.cases[index].id) {
                    slot.set(Err(problem.clone())).ok();
                }
            }
            self.settled.set(Err(problem.clone())).ok();
        };
        // What is stored is decided as it stands: no system and no judge is opened for it.
        if wanted.iter().all(|&index| self.course.stored.contains(&self.files.set.cases[index].id)) {
            self.settled.set(Ok(Arc::default())).ok();
            return;
        }
        let ready = match self.blocking_problem() {
            Some(problem) => Err(problem.clone()),
            None => self.evaluation().and_then(|evaluation| Ok((evaluation, self.runtime()?))),
        };
        let (evaluation, runtime) = match ready {
            Ok(ready) => ready,
            Err(problem) => return fail_all(&problem),
        };
        let session = Arc::clone(self);
        let width = self.width();
        let is_there =
            |index: &usize| slots.get(&self.files.set.cases[*index].id).is_some_and(|slot| slot.get().is_some());
        let missing: Vec<usize> = wanted.into_iter().filter(|index| !is_there(index)).collect();
        // A run that is killed from here on is the latest all the same: no older one is to be accepted or reported in its place.
        self.folder.name_latest().ok();
        runtime.spawn(async move {
            futures_util::stream::iter(missing)
                .for_each_concurrent(width, |index| {
                    let (session, evaluation) = (Arc::clone(&session), Arc::clone(&evaluation));
                    async move { session.fill(index, &evaluation).await }
                })
                .await;
            session.settle(evaluation, selected).await;
        });
    }

    /// Has suspects read again; ends with something settled whatever happens, since trials wait for it.
    async fn settle(self: Arc<Self>, evaluation: Arc<Evaluation>, selected: Vec<Role>) {
        let session = Arc::clone(&self);
        let first = self.first_scores();
        let task = tokio::spawn(async move { confirm::settle(&session, &evaluation, first, &selected).await });
        let early = |error| Err(Problem::everything(format!("the further readings ended early: {error}")));
        self.settled.set(task.await.unwrap_or_else(early).map(Arc::new)).ok();
    }

    /// Evaluates one case into its slot; the slot is filled whatever happens, since trials wait for it.
    async fn fill(self: Arc<Self>, index: usize, evaluation: &Arc<Evaluation>) {
        let id = self.files.set.cases[index].id.clone();
        let (session, evaluation) = (Arc::clone(&self), Arc::clone(evaluation));
        let task = tokio::spawn(async move { evaluation.record(&session.files.set.cases[index]).await });
        let result = match task.await {
            Ok(record) => self.arrived(&self.files.set.cases[index], record),
            Err(error) => Err(Problem::everything(format!("the evaluation of {id} ended early: {error}"))),
        };
        if let Shared::Memory(slots) = &self.records
            && let Some(slot) = slots.get(&id)
        {
            slot.set(result).ok();
        }
    }

    /// What is finished of one case; waits for it, or evaluates it where no other process has.
    pub(super) fn record(&self, case: &GoldenCase) -> Result<Finished, Problem> {
        Ok(self.records([case])?.remove(0))
    }

    /// The whole record of one case with its further readings; waits for them where its first reading is suspect.
    pub(super) fn settled_record(&self, case: &GoldenCase, role: Role) -> Result<Arc<Record>, Problem> {
        let finished = self.record(case)?;
        let record = self.whole_of(case, &finished)?;
        if !confirm::is_suspect(self, case, &finished) {
            return Ok(record);
        }
        let settled = self.settled([(case.id.clone(), finished.scores)].into(), role)?;
        Ok(settled.again.get(&case.id).map_or(record.clone(), |again| Arc::new(again.added_to(&record))))
    }

    /// What the further readings that a trial needs say of the records with these scores.
    pub(super) fn settled(&self, scores: Scores, role: Role) -> Result<Arc<Settled>, Problem> {
        match &self.records {
            Shared::Memory(_) if scores.is_empty() => Ok(Arc::default()),
            Shared::Memory(_) => self.settled.wait().clone(),
            Shared::Folder(_) if !confirm::can_differ(self) => Ok(Arc::default()),
            Shared::Folder(_) => {
                let evaluation = self.evaluation()?;
                self.runtime()?.block_on(confirm::settle(self, &evaluation, scores, &[role])).map(Arc::new)
            }
        }
    }

    /// What is finished of many cases, in their order, evaluated side by side where they are missing.
    pub(super) fn records<'c>(
        &self,
        cases: impl IntoIterator<Item = &'c GoldenCase>,
    ) -> Result<Vec<Finished>, Problem> {
        match &self.records {
            Shared::Memory(slots) => cases
                .into_iter()
                .map(|case| match slots.get(&case.id) {
                    Some(slot) => slot.wait().clone(),
                    None => Err(Problem::everything(format!("case {} is not part of this run", case.id))),
                })
                .collect(),
            Shared::Folder(read) => {
                let cases: Vec<&GoldenCase> = cases.into_iter().collect();
                self.read_or_evaluate(&cases, read)
            }
        }
    }

    /// What is finished of a case by now.
    pub(super) fn finished_of(&self, id: &CaseId) -> Option<Finished> {
        match &self.records {
            Shared::Memory(slots) => slots.get(id)?.get()?.as_ref().ok().cloned(),
            Shared::Folder(read) => read.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned(),
        }
    }

    /// The case of this id.
    pub(super) fn case_of(&self, id: &CaseId) -> Option<&GoldenCase> {
        self.files.set.cases.get(*self.places.get(id)?)
    }

    fn read_or_evaluate(
        &self,
        cases: &[&GoldenCase],
        read: &Mutex<BTreeMap<CaseId, Finished>>,
    ) -> Result<Vec<Finished>, Problem> {
        if let Some(problem) = self.blocking_problem() {
            return Err(problem.clone());
        }
        let mut records = read.lock().unwrap_or_else(PoisonError::into_inner);
        let mut missing = Vec::new();
        for &case in cases {
            if records.contains_key(&case.id) {
                continue;
            }
            match self.folder.record(case).map_err(|error| store_problem(&error))? {
                Some(record) => {
                    records.insert(case.id.clone(), self.finish_of_folder(case, record, UNCOUNTED));
                }
                None => missing.push(case),
            }
        }
        if !missing.is_empty() {
            let evaluation = self.evaluation()?;
            let found: Vec<Result<Finished, StoreError>> = self.runtime()?.block_on(
                futures_util::stream::iter(missing)
                    .map(async |case| {
                        let evaluate = async || evaluation.record(case).await;
                        Ok(self.finish_of_folder(case, self.folder.record_or(case, evaluate).await?, UNCOUNTED))
                    })
                    .buffer_unordered(self.width())
                    .collect(),
            );
            for finished in found {
                let finished = finished.map_err(|error| store_problem(&error))?;
                records.insert(finished.scores.case.clone(), finished);
            }
        }
        cases
            .iter()
            .map(|case| match records.get(&case.id) {
                Some(finished) => Ok(finished.clone()),
                None => Err(Problem::everything(format!("the record of {} was lost", case.id))),
            })
            .collect()
    }

    /// Keeps a decision, and shares it with the other processes of the run.
    pub(super) fn keep(&self, decision: Decision) -> Result<(), StoreError> {
        if matches!(self.records, Shared::Folder(_)) {
            self.folder.write_decision(&decision)?;
            // A run of single cases is the latest too: an older one must not be accepted in its place.
            self.folder.name_latest()?;
        }
        self.decisions.lock().unwrap_or_else(PoisonError::into_inner).insert(decision.trial.clone(), decision);
        Ok(())
    }

    /// Whether the judge can be believed, given which models write the answers.
    pub(super) fn trust(&self, generators: &Generators) -> Trust {
        let Policy { embedder, trust, .. } = &self.files.policy;
        let embedder = embedder.as_ref().and_then(|embedder| embedder.provider.model());
        trust::check(&self.judge_stamp, generators, embedder, trust, self.today())
    }

    /// The day on which this process first looked whether a waiver holds.
    pub(super) fn today(&self) -> Date {
        *self.today.get_or_init(super::setup::today)
    }

    /// Which models write the answers, as far as the records say that are there by now.
    pub(super) fn generators_so_far(&self) -> Generators {
        let declared = self.files.policy.system.generator.clone();
        Generators { declared, told: Some(self.shelf.together().told) }
    }

    /// Whether the records of all cases are needed to tell which models write the answers. A shard holds a part of them: there it is
    /// decided with the gates, over all parts.
    pub(super) fn asks_who_writes(&self) -> bool {
        trust::concerns(&self.judge_stamp) && self.context.shard.is_none()
    }

    /// How the judge of each trusted metric was held against people, by the files as they are when this process looks first.
    pub(super) fn calibrations(&self) -> &BTreeMap<MetricKey, Looked> {
        let Files { policy, set, .. } = &self.files;
        self.calibrations.get_or_init(|| {
            let metrics: Vec<&dyn Metric> = self.metrics.iter().map(|metric| *metric as &dyn Metric).collect();
            let judge = |key: &MetricKey| {
                stamp::of_metric(policy, self.judge.as_ref(), self.embedder.as_deref(), &metrics, key)
            };
            calibrated::looked(policy, set, &metrics, &self.trusted, judge)
        })
    }

    /// Why the judge can't be asked, where this run looks for what that means to all cases. A shard holds a part of them, and these say
    /// so themselves.
    pub(super) fn judge_key_is_missing(&self) -> Option<&str> {
        self.judge.missing_key().filter(|_| self.context.shard.is_none())
    }

    /// The same of the embedder.
    pub(super) fn embedder_key_is_missing(&self) -> Option<&str> {
        self.embedder.as_ref()?.missing_key().filter(|_| self.context.shard.is_none())
    }

    /// What the run spends on models, where this process asks.
    pub(super) fn ledger(&self) -> Option<&Ledger> {
        let of_evaluation = || Some(&self.evaluation.get()?.as_ref().ok()?.ledger);
        self.course.ledger.as_ref().or_else(of_evaluation)
    }

    /// The scores that are there by now, with their further readings.
    pub(super) fn scores(&self) -> Scores {
        let scores = self.first_scores();
        match self.settled.get() {
            Some(Ok(settled)) => settled.over(scores),
            Some(Err(_)) | None => scores,
        }
    }

    fn first_scores(&self) -> Scores {
        let scores = |(id, finished): (&CaseId, &Finished)| (id.clone(), Arc::clone(&finished.scores));
        match &self.records {
            Shared::Memory(slots) => {
                slots.iter().filter_map(|(id, slot)| Some(scores((id, slot.get()?.as_ref().ok()?)))).collect()
            }
            Shared::Folder(read) => read.lock().unwrap_or_else(PoisonError::into_inner).iter().map(scores).collect(),
        }
    }
}

pub(super) fn store_problem(error: &StoreError) -> Problem {
    Problem::everything(format!("the run folder cannot be used: {error}"))
}
