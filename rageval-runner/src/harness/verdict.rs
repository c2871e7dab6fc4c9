//! Decides the trials from their records, and ends the run.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::atomic::Ordering,
};

use super::{
    finished::Together,
    session::{self, Session, Shared},
    setup::{Files, Problem, Reach, Scope},
    snapshots::{Finding, Writing},
    trials::{self, Role},
};
use crate::{
    evaluate::{self, stamp},
    gate::{
        self, Basis, DropTests, MetricFacts,
        rule::{MetricRule, Orphans},
    },
    metric::Metric,
    model::{
        CaseId, GoldenCase, MetricKey, Place, Scores,
        background::Background,
        run::{Decision, Ruling, SnapshotFailure},
    },
    report::{
        background::{self, Known},
        console::{self, OfSet, text::visible},
        told::Told,
    },
    store::{self, StoreError, lock::LockFiles, runs::ForReports},
    trust::{self, Generators, Trust, Waivable},
};

/// What the metrics are, by name.
pub(super) fn facts(metrics: &[&'static dyn Metric]) -> BTreeMap<String, MetricFacts> {
    let fact = |metric: &&'static dyn Metric| (metric.name().to_owned(), MetricFacts::of(*metric));
    metrics.iter().map(fact).collect()
}

pub(super) fn basis(session: &Session) -> Basis<'_> {
    Basis {
        rules: &session.files.policy.rules,
        baseline: session.baseline.as_ref(),
        history: &session.history,
        judge: &session.judge_stamp,
        metrics: &session.facts,
        seed: session::SEED,
        target: session.target,
    }
}

/// The cases whose records decide the gate at this place of the list.
pub(super) fn population(session: &Session, index: usize) -> BTreeSet<CaseId> {
    gate::needed_cases(&session.gates[index], &session.gates, &basis(session))
}

/// Decides one trial; whatever keeps it from being decided makes it red.
pub(super) fn decide(session: &Session, name: &str, role: Role) -> Decision {
    let decided = match role {
        Role::Setup => Ok(set_up(session)),
        Role::Case(index) => case(session, &session.files.set.cases[index], role),
        Role::Gate(index) => gate(session, index, role),
        Role::Calibration(index) => Ok(calibration(session, &session.trusted[index])),
        Role::Orphans => Ok(orphans(session, name)),
        Role::Lock => Ok(lock(session)),
    };
    decided.unwrap_or_else(|problem| {
        let why = problem.lines.first().map_or("", String::as_str);
        Decision::told(
            name,
            Ruling::Undecided,
            vec![console::text::line("undecided", &format!("the set-up is broken: {why}"))],
        )
    })
}

fn set_up(session: &Session) -> Decision {
    if session.blocking_problem().is_none() {
        // Opening is tried here too, so that this trial alone finds what would stop the others.
        session.evaluation().err();
    }
    let mut problems: Vec<Problem> = session.all_problems().into_iter().cloned().collect();
    if problems.iter().all(|problem| problem.reach == Reach::Regression) {
        problems.extend(missing_keys(session));
    }
    let mut decision = console::trust::decision(&session.trust(&generators(session)));
    let broken = problems.iter().flat_map(|problem| console::text::whole_lines("undecided", &problem.lines));
    decision.lines.extend(broken);
    // What is known to be wrong weighs more than what could not be told.
    if !problems.is_empty() && decision.ruling == Ruling::Pass {
        decision.ruling = Ruling::Undecided;
    }
    decision
}

/// Whether the trial of the set-up looks at the records of all cases: which model wrote an answer, and whether a judge or embedder without
/// its key is needed, shows only then.
pub(super) fn setup_needs_records(session: &Session) -> bool {
    session.asks_who_writes() || session.judge_key_is_missing().or_else(|| session.embedder_key_is_missing()).is_some()
}

/// Which models write the answers, as the policy and the records of all cases say.
fn generators(session: &Session) -> Generators {
    let declared = session.files.policy.system.generator.as_deref();
    if !trust::concerns(&session.judge_stamp) {
        return Generators::declared(declared);
    }
    if !session.asks_who_writes() {
        return Generators { declared: declared.map(str::to_owned), told: None };
    }
    match session.records(&session.files.set.cases) {
        Ok(_) => session.generators_so_far(),
        // Without answers nobody says anything; the problem itself is told beside it.
        Err(_) => Generators::declared(declared),
    }
}

/// What is wrong where a key is missing and a reply or a vector is needed that is not stored: the records tell.
fn missing_keys(session: &Session) -> Vec<Problem> {
    let policy = &session.files.policy;
    let judge = session.judge_key_is_missing().map(|missing| {
        let else_do = "or run with RAGEVAL_JUDGE_MODE=replay on stored replies, or with `judge: {provider: offline}`";
        missing_key(session, &policy.judge.place, missing, |all| all.lack_judge, "replies", else_do)
    });
    let embedder = session.embedder_key_is_missing().zip(policy.embedder.as_ref()).map(|(missing, spec)| {
        let else_do = "or run with RAGEVAL_JUDGE_MODE=replay on stored vectors";
        missing_key(session, &spec.place, missing, |all| all.lack_embedder, "vectors", else_do)
    });
    [judge, embedder].into_iter().flatten().flatten().collect()
}

/// The same of one key; `None` where no case needs it.
fn missing_key(
    session: &Session,
    place: &Place,
    missing: &str,
    lacking: fn(&Together) -> usize,
    what: &str,
    else_do: &str,
) -> Option<Problem> {
    let cases = &session.files.set.cases;
    if let Err(problem) = session.records(cases) {
        return Some(problem);
    }
    let needing = lacking(&session.shelf.together());
    let (all, s) = (cases.len(), plural(cases.len()));
    let verb = if needing == 1 { "needs" } else { "need" };
    (needing > 0).then(|| {
        Problem::everything(format!(
            "{place}: {missing}; of {all} case{s}, {needing} {verb} {what} that are not stored\n{else_do}"
        ))
    })
}

/// Every case of the set.
pub(super) fn all_cases(session: &Session) -> impl Iterator<Item = CaseId> + '_ {
    session.files.set.cases.iter().map(|case| case.id.clone())
}

fn case(session: &Session, case: &GoldenCase, role: Role) -> Result<Decision, Problem> {
    let record = session.settled_record(case, role)?;
    let metrics: Vec<&dyn Metric> = session.metrics.iter().map(|metric| *metric as &dyn Metric).collect();
    let file = session.files.policy.root.join(&case.place.file);
    let failure = match session.snapshots.check(case, &record, &metrics, &file) {
        Ok(Finding::Nothing | Finding::Same) => None,
        Ok(Finding::Changed) => {
            session.changed.fetch_add(1, Ordering::Relaxed);
            None
        }
        Ok(Finding::Written) => {
            session.course.first_snapshots.fetch_add(1, Ordering::Relaxed);
            None
        }
        Ok(Finding::Rewritten) => {
            session.rewritten.fetch_add(1, Ordering::Relaxed);
            None
        }
        Ok(Finding::Red { why, diff }) => Some(SnapshotFailure { why, diff }),
        Err(problem) => Some(SnapshotFailure { why: problem, diff: Vec::new() }),
    };
    session.shelf.leave(&case.id);
    Ok(gate::decide_case(case, &record, &basis(session), failure.as_ref()))
}

fn gate(session: &Session, index: usize, role: Role) -> Result<Decision, Problem> {
    let needed = population(session, index);
    let set = &session.files.set;
    let cases = set.cases.iter().filter(|case| needed.contains(&case.id));
    let finished = session.records(cases)?.into_iter();
    let first: Scores = finished.map(|finished| (finished.scores.case.clone(), finished.scores)).collect();
    let settled = session.settled(first.clone(), role)?;
    let scores = settled.over(first);
    let basis = basis(session);
    let gate = &session.gates[index];
    let none = DropTests::default();
    let tests = if gate::is_tested(gate, &basis) {
        // All gates with a p-value need the same records, so whichever comes first tests for all.
        session.drop_tests.get_or_init(|| gate::drop_tests(&session.gates, &scores, &basis))
    } else {
        &none
    };
    let mut decision = gate::decide_gate(gate, set, &scores, &basis, tests);
    if settled.left.contains(&gate.name) {
        decision.notices.push(format!("not read again, since the run is red already: {}", visible(&gate.name)));
    }
    if matches!(session.records, Shared::Folder(_)) {
        let all = set.cases.iter().map(|case| case.id.clone()).collect();
        // What records, spending and each process's end add, the reader of the folder joins.
        let shown = || {
            let trust = session.trust(&session.generators_so_far());
            let (waivers, waived_nothing) = waivers(session, &trust);
            let notices = notices_of_files(session, &trust, waived_nothing);
            let cases = background::cases(set, &basis).collect();
            ForReports { cases, background: background(session, &waivers, &notices) }
        };
        let kept = session.folder.write_manifest(&session.manifest(BTreeSet::new()), all, shown);
        kept.and_then(|()| session.folder.finish())
            .map_err(|error| Problem::everything(format!("the run folder cannot be used: {error}")))?;
    }
    Ok(decision)
}

/// Whether the judge of a metric is believed, by the files alone.
fn calibration(session: &Session, metric: &MetricKey) -> Decision {
    let policy = &session.files.policy;
    let waiver = policy.trust.waiver(Waivable::Calibration);
    let looked = &session.calibrations()[metric];
    console::calibration::decision(metric, looked, &policy.calibration, waiver, session.today())
}

fn orphans(session: &Session, name: &str) -> Decision {
    // A repeated case has no snapshot, so that one from before is not looked at any more.
    let compared = session.files.set.cases.iter().filter(|case| case.repeats.times == 1);
    let orphans = session.snapshots.orphans(compared.map(|case| &case.id));
    if orphans.is_empty() {
        return Decision::told(name, Ruling::Pass, Vec::new());
    }
    let (count, folder) = (orphans.len(), session.snapshots.folder.display().to_string());
    let headline = format!("snapshots that belong to no case: {count}");
    let mut lines = vec![headline.clone(), visible(&format!("in {folder}"))];
    lines.extend(orphans.iter().take(10).map(|file| visible(file)));
    if count > 10 {
        lines.push(format!("and {} more", count - 10));
    }
    lines.push("delete them when their cases are gone for good, or repeated".to_owned());
    let ruling = match session.files.policy.rules.orphans {
        Orphans::Warn => Ruling::Pass,
        Orphans::Fail => Ruling::Fail,
    };
    let mut decision = Decision::told(name, ruling, lines);
    decision.notices = vec![visible(&format!("{headline}: {}", orphans.join(", ")))];
    decision
}

/// Reads the golden set's lock only here: a listing, and a process that runs one case, need to know no more than whether it is there.
fn lock(session: &Session) -> Decision {
    let policy = &session.files.policy;
    let files = LockFiles::of(&policy.cases);
    let read = store::lock::read(&files.lock).map_err(|error| error.to_string());
    trust::lock::decide(&session.files.set, read.as_ref().map_err(String::as_str), &files.name(&policy.root))
}

/// Ends the run: writes what this process holds of it, and prints what is worth knowing after libtest's own summary.
pub(super) fn finish(session: &Session) -> Result<(), StoreError> {
    if !trials::has_decided(session) {
        return Ok(());
    }
    if session.context.nextest_run.is_some() {
        let told = told(session);
        let trials: Vec<String> = trials::take_decisions(session).into_iter().map(|decision| decision.trial).collect();
        return if told.is_empty() { Ok(()) } else { session.folder.write_told(&trials.join("\n"), &told) };
    }
    let Written { lines, unwritten, .. } = end(session);
    for line in lines {
        trials::tell(&line);
    }
    unwritten.map_or(Ok(()), Err)
}

/// A run that has ended.
pub(super) struct Written {
    /// Its `run.json`.
    pub(super) path: PathBuf,
    /// Why that file is not there.
    pub(super) unwritten: Option<StoreError>,
    /// What is worth knowing of it.
    pub(super) lines: Vec<String>,
    /// What was decided, by trial.
    pub(super) decisions: Vec<Decision>,
}

/// Writes the run and sums it up.
pub(super) fn end(session: &Session) -> Written {
    let decisions = trials::take_decisions(session);
    let population = session.baseline.as_ref().map(|baseline| gate::compare_population(&session.files.set, baseline));
    let trust = session.trust(&session.generators_so_far());
    let (waivers, waived_nothing) = waivers(session, &trust);
    let notices = notices(session, &trust, &session.scores(), waived_nothing);
    let background = background(session, &waivers, &notices);
    let (path, unwritten) = match session.write_run(&decisions, &background) {
        Ok(path) => (path, None),
        Err(error) => (session.folder.path().join("run.json"), Some(error)),
    };
    let shown = if unwritten.is_some() { "not written".to_owned() } else { path.display().to_string() };
    let of_set: Vec<OfSet<'_>> = session.files.set.cases.iter().map(OfSet::from).collect();
    let summary = console::summary::Summary {
        decisions: &decisions,
        cases: &of_set,
        waivers: &waivers,
        population: population.as_ref().filter(|_| session.files.scope == Scope::Whole),
        notices: &notices,
        run: &shown,
    };
    let lines = console::summary::summary(&summary);
    Written { path, unwritten, lines, decisions }
}

/// Rules and baseline as the run file holds them for reports.
fn background(session: &Session, waivers: &[String], notices: &[String]) -> Background {
    let Files { policy, set, .. } = &session.files;
    let calibrations: Vec<_> = session.calibrations().iter().collect();
    let bars = &policy.calibration;
    background::background(&Known { set, basis: basis(session), calibrations: &calibrations, bars, waivers, notices })
}

/// The waivers that hold and are needed, and the notice of one for a calibration that nothing needs. A filtered run says it too.
fn waivers(session: &Session, trust: &Trust) -> (Vec<String>, Option<String>) {
    let mut waivers = trust.waived.clone();
    let today = session.today();
    let Some(waiver) = session.files.policy.trust.waiver(Waivable::Calibration) else { return (waivers, None) };
    if session.calibrations().values().any(|looked| !looked.refusals.is_empty()) {
        waivers.extend(waiver.holds_on(today).then(|| waiver.to_string()));
        return (waivers, None);
    }
    // One case of one file may name a metric that no other does.
    (waivers, (session.files.scope == Scope::Whole).then(|| waiver.waives_nothing(today)))
}

/// Notices of the run itself: what is not compared, what was left for review, what the system left to say.
fn notices(session: &Session, trust: &Trust, scores: &Scores, waived_nothing: Option<String>) -> Vec<String> {
    let mut notices = Vec::new();
    notices.extend(session.course.partial.as_ref().map(|why| format!("partial: {why}")));
    match session.course.unreadable {
        0 => {}
        1 => notices.push("1 record of the interrupted run can't be read: its case was asked again".to_owned()),
        n => notices.push(format!("{n} records of the interrupted run can't be read: their cases were asked again")),
    }
    let unspooled = session.shelf.together().unspooled;
    notices
        .extend(unspooled.map(|why| format!("records stayed in memory, since they cannot be put on the disk: {why}")));
    notices.extend(console::readings::notices(scores));
    let told = told(session);
    notices.extend(told.of_snapshots());
    notices.extend(notices_of_files(session, trust, waived_nothing));
    if let Some((ledger, spent)) = session.ledger().and_then(|ledger| Some((ledger, ledger.spent()?))) {
        notices.push(format!("spent: {}", console::spending::line(&spent, ledger.budget())));
    }
    notices.extend(told.left_to_say);
    notices
}

/// Notices that any process of a run can tell, since they follow from its files.
fn notices_of_files(session: &Session, trust: &Trust, waived_nothing: Option<String>) -> Vec<String> {
    let policy = &session.files.policy;
    let mut notices = trust.notices.clone();
    notices.extend(waived_nothing);
    let own_drops =
        session.files.set.cases.iter().flat_map(|case| case.bars.values()).any(|bar| bar.max_drop.is_some());
    if policy.rules.regression.is_none() && (policy.rules.has_drop_rules() || own_drops) {
        notices.push("no `regression.baseline` in thresholds.yaml: `max_drop` rules compare nothing".to_owned());
    }
    notices.extend(basis(session).read_once(&session.files.set.cases));
    let lock = LockFiles::of(&policy.cases);
    if session.files.scope == Scope::Whole && !lock.is_locked() {
        notices.push(trust::lock::unlocked(&lock.name(&policy.root)));
    }
    if !policy.rules.slices.by.is_empty() && session.gates.iter().all(|gate| gate.slice.is_none()) {
        notices.push("`slices` gates nothing: no metric has a rule over the set".to_owned());
    }
    if let Some(shard) = &session.context.shard {
        let gates = session.gates.len();
        notices
            .push(format!("shard {shard}: {gates} gates are deferred; over all shards: cargo rageval gate SHARD..."));
    }
    if !policy.rules.metrics.values().any(MetricRule::can_fail)
        && session.files.set.cases.iter().all(|case| case.bars.is_empty())
    {
        notices.push("no rule of thresholds.yaml can fail: no metric has a bar, or all only warn".to_owned());
    }
    let offline: Vec<String> = stamp::by_offline_rules(policy).map(ToString::to_string).collect();
    if !offline.is_empty() {
        notices.push(format!("scored by the rules of the judge `offline`: {}", offline.join(", ")));
    }
    notices
}

/// What this process alone knows of the run.
fn told(session: &Session) -> Told {
    let look = match session.snapshots.writing {
        Writing::Never => None,
        Writing::Pending | Writing::PendingAndPass => Some(console::text::accept_snapshots(session.target).to_owned()),
    };
    let mut left_to_say = Vec::new();
    if let Some(Ok(evaluation)) = session.evaluation.get() {
        left_to_say.extend(evaluation.system.notices(&session.files.set));
        left_to_say.extend(evaluation.judging.notices());
        left_to_say.extend(evaluation.embedding.iter().flat_map(evaluate::Embedding::notices));
    }
    Told {
        changed: session.changed.load(Ordering::Relaxed),
        look,
        first_snapshots: session.course.first_snapshots.load(Ordering::Relaxed),
        rewritten: session.rewritten.load(Ordering::Relaxed),
        left_to_say,
    }
}

fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}
