//! A run without a test binary: the same session and the same decisions, for systems that need no code of the user's.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    context::Context,
    course::{Course, Event, Teller},
    finished::{Finished, UNCOUNTED},
    opening::{Opening, Purpose},
    session::{Session, Shared},
    setup::{self, Files, Problem, Reach, Scope},
    suite::Location,
    trials::{self, Role},
    verdict,
};
use crate::{
    load::{self, Policy},
    metric::Metric,
    model::{
        CaseId, GoldenCase, GoldenSet, Record, Records,
        run::{Decision, Manifest, Run},
    },
    report::console::text::NO_TARGET,
    store::{
        StoreError,
        going::{self, Going, LastRun},
        runs::RunFolder,
    },
    system::spec::SystemKind,
};

/// What the process that runs knows of itself.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The folder of run folders.
    pub runs: PathBuf,
    /// Whether this is CI, where nothing is written beside the source.
    pub ci: bool,
    /// `RAGEVAL_JUDGE_MODE`.
    pub judge_mode: Option<String>,
    /// `INSTA_UPDATE`.
    pub insta_update: Option<String>,
    /// `INSTA_FORCE_PASS` is on.
    pub insta_force_pass: bool,
    /// `INSTA_FORCE_UPDATE` is on.
    pub insta_force_update: bool,
    /// A variable of the environment by name; an empty one counts as unset.
    pub variable: fn(&str) -> Option<String>,
    /// Where the source of whoever runs stands, and how it asserts a snapshot: [`location!`](crate::location).
    pub location: Location,
}

/// A policy with its golden cases, as they stand in their files.
#[derive(Clone)]
pub struct Opened {
    policy: Policy,
    set: GoldenSet,
    metrics: Vec<&'static dyn Metric>,
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened").field("policy", &self.policy).field("set", &self.set).finish_non_exhaustive()
    }
}

/// What is to be run.
#[derive(Debug, Clone, Default)]
pub struct Order {
    /// Which cases.
    pub part: Part,
    /// From where.
    pub start: Start,
}

/// Which cases a run has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Part {
    /// All of them, with every gate.
    #[default]
    Whole,
    /// Some, and no gate: a gate is decided over its whole population or not at all.
    Picked {
        /// The cases.
        cases: BTreeSet<CaseId>,
        /// How they were picked, as a phrase: `--case refund`.
        how: String,
    },
}

/// From where a run starts.
#[derive(Debug, Clone, Default)]
pub enum Start {
    /// From nothing.
    #[default]
    Anew,
    /// From what a run that was interrupted has.
    Resumed,
    /// From records of earlier runs, which are decided as they stand: nothing is asked about these cases.
    Stored(Records),
}

/// A run that came to its end.
#[derive(Debug, Clone)]
pub struct Ended {
    /// Its `run.json`.
    pub path: PathBuf,
    /// Why there is no such file, though all was decided: it can't be written. What [`Start::Resumed`] goes on with is kept.
    pub unwritten: Option<String>,
    /// What was decided, by trial.
    pub decisions: Vec<Decision>,
    /// What is worth knowing of it, line by line.
    pub summary: Vec<String>,
    /// Where it comes from.
    pub manifest: Manifest,
    /// Whether a file that regression rules need is missing or can't be read.
    pub lacks_baseline: bool,
    /// Whether there are records, and in each the system failed.
    pub is_unanswered: bool,
}

/// Why nothing was run.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The files or the set-up are wrong.
    #[error("{0}")]
    SetUp(String),
    /// The run can't be resumed.
    #[error("{0}")]
    NotResumed(String),
    /// The run folder can't be used.
    #[error("the run folder cannot be used: {0}; RAGEVAL_RUNS names another folder for runs")]
    Store(#[from] StoreError),
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self::SetUp(problem.lines.join("\n"))
    }
}

impl Opened {
    /// Reads the policy and its cases, which may name these metrics. One that is only [described](crate::metric::Described) leaves the cases that are
    /// asked unmeasured.
    ///
    /// # Errors
    /// Every problem of all files.
    pub fn read(policy: &Path, metrics: Vec<&'static dyn Metric>) -> Result<Self, String> {
        let policy = load::policy(policy, &metrics).map_err(|problems| problems.to_string())?;
        let Files { policy, set, .. } = setup::whole(policy, &metrics)?;
        Ok(Self { policy, set, metrics })
    }

    /// The policy.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The golden set.
    pub fn set(&self) -> &GoldenSet {
        &self.set
    }

    /// The folder of the snapshots of a policy that has no test target.
    pub fn snapshots(policy: &Policy) -> PathBuf {
        policy.root.join("snapshots")
    }

    /// Runs what is ordered, and tells how far it is. Whatever a test binary would say is wrong with the set-up is found before anything
    /// is asked or written.
    ///
    /// # Errors
    /// Nothing was run, or the run could not be kept.
    pub fn run(self, order: Order, surroundings: &Surroundings, teller: Teller) -> Result<Ended, Refusal> {
        self.check_system()?;
        let wanted = match &order.part {
            Part::Whole => self.set.cases.iter().map(|case| case.id.clone()).collect(),
            Part::Picked { cases, .. } => cases.clone(),
        };
        let target = match &order.start {
            Start::Anew | Start::Resumed => NO_TARGET,
            Start::Stored(_) => "rageval-watch",
        };
        let interrupted = match &order.start {
            Start::Anew | Start::Stored(_) => None,
            Start::Resumed => Some(interrupted(&surroundings.runs, target)?),
        };
        let folder_of = |id: &str| RunFolder::new(surroundings.runs.clone(), target.to_owned(), id.to_owned());
        let id = interrupted.as_ref().map(|(going, ..)| going.folder().id().to_owned());
        let mut session = self.opening(&order, surroundings, teller, target, id).session().map_err(Refusal::SetUp)?;
        let ledger = session.folder.ledger(session.files.policy.budget.as_ref());
        session.course.ledger = Some(ledger);
        if let Some(problem) = session.blocking_problem() {
            return Err(problem.clone().into());
        }
        let stored = match (interrupted, order.start) {
            (Some((going, run, unreadable)), _) => {
                session.course.unreadable = unreadable;
                same(&run.manifest, &session.manifest(BTreeSet::new()))?;
                session.course.going = Some(Arc::new(going));
                // They are files of its folder already.
                let known = |case: &GoldenCase, record| Ok(session.finish_of_folder(case, record, UNCOUNTED));
                put(&session, of_these(&session, run.records), known)?
            }
            (None, Start::Stored(records)) => {
                let records = of_these(&session, records.into_values().map(Arc::unwrap_or_clone));
                // Before they are taken in: nothing of them is suspect.
                session.course.stored = records.keys().cloned().collect();
                put(&session, records, |case, record| session.finish_known(case, record))?
            }
            (None, Start::Anew | Start::Resumed) => BTreeSet::new(),
        };
        let stored = stored.intersection(&wanted).count();
        if stored < wanted.len() {
            // Whatever can't be opened is told before a folder is made for it.
            session.evaluation()?;
        }
        if session.course.going.is_none() {
            let all = session.files.set.cases.iter().map(|case| case.id.clone()).collect();
            let manifest = session.manifest(BTreeSet::new());
            session.course.going = Some(Arc::new(Going::begin(folder_of(session.folder.id()), &manifest, all)?));
        }
        session.course.tell(|| Event::Started { cases: wanted.len(), stored });
        Ok(decided(&Arc::new(session), &wanted)?)
    }

    fn check_system(&self) -> Result<(), Refusal> {
        let system = &self.policy.system;
        match system.kind {
            SystemKind::Recorded(_) | SystemKind::Command(_) | SystemKind::Http(_) => Ok(()),
            SystemKind::Function => Err(Refusal::SetUp(format!(
                "{}: the system is a function of your crate, which only its own test can call\n\
                 run `cargo test --test rag_regression`, or set `system.kind` to http, command or recorded",
                system.place
            ))),
        }
    }

    fn opening(
        self,
        order: &Order,
        surroundings: &Surroundings,
        teller: Teller,
        target: &'static str,
        id: Option<String>,
    ) -> Opening {
        let (scope, partial) = match (&order.part, &order.start) {
            (Part::Picked { how, .. }, _) => (Scope::Picked, Some(format!("only {how}; no gate is decided"))),
            (Part::Whole, Start::Stored(_)) => {
                (Scope::Whole, Some("its records are of several moments, put together by `watch`".to_owned()))
            }
            (Part::Whole, Start::Anew | Start::Resumed) => (Scope::Whole, None),
        };
        Opening {
            target: NO_TARGET,
            runs: target.to_owned(),
            id,
            snapshots: Self::snapshots(&self.policy),
            location: surroundings.location,
            purpose: Purpose::Running,
            function: None,
            metrics: self.metrics,
            context: Context::of_command(surroundings),
            files: Files { policy: self.policy, set: self.set, scope },
            course: Course { teller: Some(teller), partial, ..Course::default() },
        }
    }
}

/// The run that was begun last, where it did not come to its end.
fn interrupted(runs: &Path, target: &str) -> Result<(Going, Box<Run>, usize), Refusal> {
    let why = match going::last(runs, target)? {
        LastRun::Interrupted { going, run, unreadable } => return Ok((going, run, unreadable)),
        LastRun::Ended => "the last run came to its end, so there is nothing to resume",
        LastRun::None => "no run was interrupted, so there is nothing to resume",
    };
    Err(Refusal::NotResumed(format!("{why}\n`cargo rageval run` starts another")))
}

/// Refuses to go on where what is stored would not be what the run would find now.
fn same(then: &Manifest, now: &Manifest) -> Result<(), Refusal> {
    let mut changed = Vec::new();
    let mut compare = |is_same: bool, what: String| changed.extend((!is_same).then_some(what));
    compare(then.golden_set.digest == now.golden_set.digest, "the golden cases".to_owned());
    compare(then.policy_digest == now.policy_digest, "thresholds.yaml".to_owned());
    let judge = |manifest: &Manifest| format!("{} {}", manifest.judge.provider, manifest.judge.model);
    let judges = if judge(then) == judge(now) {
        "the judge's settings or prompts".to_owned()
    } else {
        format!("the judge ({}, then {})", judge(now), judge(then))
    };
    compare(then.judge == now.judge, judges);
    compare(then.metric_versions == now.metric_versions, "the versions of metrics".to_owned());
    compare(then.rageval == now.rageval, format!("rageval ({}, then {})", now.rageval, then.rageval));
    let part = |manifest: &Manifest| manifest.partial.clone().unwrap_or_else(|| "all cases".to_owned());
    compare(then.partial == now.partial, format!("which cases ({}, then {})", part(now), part(then)));
    if changed.is_empty() {
        return Ok(());
    }
    Err(Refusal::NotResumed(format!(
        "the run {} was interrupted and cannot be resumed, for since then these changed: {}\n`cargo rageval run` starts anew",
        then.run_id,
        changed.join(", ")
    )))
}

/// The records that are of cases of the set as they stand now.
fn of_these(session: &Session, records: impl IntoIterator<Item = Record>) -> BTreeMap<CaseId, Record> {
    let is_of_its_case =
        |record: &Record| session.case_of(&record.case).is_some_and(|case| case.digest() == record.digest);
    records.into_iter().filter(is_of_its_case).map(|record| (record.case.clone(), record)).collect()
}

/// Puts records where the session looks for them, each as it is taken in; returns of which cases.
fn put(
    session: &Session,
    mut records: BTreeMap<CaseId, Record>,
    taken_in: impl Fn(&GoldenCase, Record) -> Result<Finished, Problem>,
) -> Result<BTreeSet<CaseId>, Problem> {
    let Shared::Memory(slots) = &session.records else { return Ok(BTreeSet::new()) };
    let mut stored = BTreeSet::new();
    for case in &session.files.set.cases {
        if let Some((record, slot)) = records.remove(&case.id).zip(slots.get(&case.id)) {
            slot.set(Ok(taken_in(case, record)?)).ok();
            stored.insert(case.id.clone());
        }
    }
    Ok(stored)
}

/// Evaluates what is missing, decides all of it, and writes the run.
fn decided(session: &Arc<Session>, wanted: &BTreeSet<CaseId>) -> Result<Ended, StoreError> {
    let roles = roles(session, wanted);
    let selected: Vec<Role> = roles.iter().map(|(_, role)| *role).collect();
    session.prefetch(&trials::needs(session, &selected), selected);
    // The answers come in any order; those that are waited for first are told with all others.
    let mut is_told = false;
    for (name, role) in &roles {
        if !is_told && !matches!(role, Role::Case(_) | Role::Setup) {
            session.course.tell(|| Event::Deciding);
            is_told = true;
        }
        session.keep(verdict::decide(session, name, *role))?;
    }
    let verdict::Written { path, unwritten, lines, decisions } = verdict::end(session);
    let scores = session.scores();
    let ended = Ended {
        path,
        unwritten: unwritten.map(|error| error.to_string()),
        decisions,
        summary: lines,
        manifest: session.manifest(BTreeSet::new()),
        lacks_baseline: session.problems.iter().any(|problem| problem.reach == Reach::Regression),
        is_unanswered: !scores.is_empty() && scores.values().all(|scores| scores.failed.is_some()),
    };
    if let Some(going) = session.course.going.as_ref().filter(|_| ended.unwritten.is_none()) {
        going.end();
    }
    Ok(ended)
}

/// What is decided: all trials, or the picked cases alone.
fn roles(session: &Session, wanted: &BTreeSet<CaseId>) -> Vec<(String, Role)> {
    let is_wanted = |role: &Role| match role {
        Role::Case(index) => wanted.contains(&session.files.set.cases[*index].id),
        Role::Setup | Role::Gate(_) | Role::Calibration(_) | Role::Orphans | Role::Lock => true,
    };
    trials::roles(session).into_iter().filter(|(_, role)| is_wanted(role)).collect()
}
