//! The trials: their names, what each waits for, and what it says.

use std::{
    collections::BTreeSet,
    io::{self, Write as _},
    process::ExitCode,
    sync::{Arc, PoisonError},
};

use libtest_mimic::{Failed, Trial};

use super::{
    context::{self, Context},
    course::Course,
    exit_guard::ExitGuard,
    flags::Flags,
    opening::{Opening, Purpose},
    session::Session,
    setup::{self, Scope},
    suite::Location,
    verdict,
};
use crate::{
    contain::contained,
    metric::Metric,
    model::{CaseId, run::Decision},
    report::console,
    store::lock::LockFiles,
    system::RagSystem,
    trust::lock,
};

/// Exit code of a red run, as libtest's.
const RED: u8 = 101;

/// What one trial decides.
#[derive(Debug, Clone, Copy)]
pub(super) enum Role {
    /// Whether the set-up can be trusted.
    Setup,
    /// The case at this place of the set.
    Case(usize),
    /// The gate at this place of the list.
    Gate(usize),
    /// Whether the judge of the metric at this place of the list is believed.
    Calibration(usize),
    /// Whether snapshots are left without a case.
    Orphans,
    /// Whether the golden set is the one that was locked.
    Lock,
}

/// Runs the trials that the command line asks for.
pub(super) fn run(
    location: Location,
    function: Option<Arc<dyn RagSystem>>,
    metrics: Vec<&'static dyn Metric>,
    context: Context,
    flags: &Flags,
) -> ExitCode {
    let package = setup::package_folder(location, &context);
    let known: Vec<&dyn Metric> = metrics.iter().map(|metric| *metric as &dyn Metric).collect();
    if let Some(twice) = setup::named_twice(&known) {
        eprintln!("Error: two metrics are called `{twice}`; rename your own");
        return ExitCode::from(RED);
    }
    let files = match setup::files(&package, &known, flags) {
        Ok(files) => files,
        // Red under any filter, and for a listing: a runner that lists nothing would run nothing, and that is green.
        Err(problem) => {
            eprintln!(
                "Error: the golden cases or thresholds.yaml cannot be read; nothing was run\n\n{}",
                problem.trim_end()
            );
            return ExitCode::from(RED);
        }
    };
    context::quiet_insta(&files.policy.root);
    let opening = Opening {
        target: location.target,
        runs: format!("{}.{}", location.package, location.target),
        id: None,
        snapshots: package.join("tests").join("snapshots").join(location.target),
        location,
        purpose: if flags.libtest.list { Purpose::Listing } else { Purpose::Running },
        function,
        metrics,
        context,
        files,
        course: Course::default(),
    };
    let session = match opening.session() {
        Ok(session) => Arc::new(session),
        Err(problem) => {
            eprintln!("Error: {problem}");
            return ExitCode::from(RED);
        }
    };
    let roles = roles(&session);
    let trials: Vec<Trial> = roles.iter().map(|(name, role)| trial(&session, name, *role)).collect();
    let mut guard = None;
    if !flags.libtest.list {
        if let Err(problem) = match_exact(&session, flags, &trials) {
            eprintln!("Error: {problem}");
            return ExitCode::from(RED);
        }
        let selected: Vec<Role> = trials
            .iter()
            .zip(&roles)
            .filter(|(trial, _)| !flags.libtest.is_filtered_out(trial) && !flags.libtest.is_ignored(trial))
            .map(|(_, (_, role))| *role)
            .collect();
        // From here on user code runs in this process, and may end it.
        guard = Some(ExitGuard::raise());
        session.prefetch(&needs(&session, &selected), selected);
    }
    let conclusion = match contained(|| libtest_mimic::run(&flags.libtest, trials)) {
        Ok(conclusion) => conclusion,
        Err(why) => {
            // Printing fails when nobody reads on, as behind `head`.
            tell(&format!("Error: the run ended before all of it was decided and written: {why}"));
            if let Some(guard) = guard {
                guard.lower();
            }
            return ExitCode::from(RED);
        }
    };
    let Some(guard) = guard else { return conclusion.exit_code() };
    let written = verdict::finish(&session);
    if let Err(error) = &written {
        tell(&format!("Error: the run file cannot be written: {error}"));
    }
    guard.lower();
    if conclusion.has_failed() || written.is_err() { ExitCode::from(RED) } else { conclusion.exit_code() }
}

/// Prints a line to stderr; where nobody reads it, it is lost and nothing else is.
pub(super) fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "{}", console::text::no_command(line));
}

/// Every trial of this run by name.
pub(super) fn roles(session: &Session) -> Vec<(String, Role)> {
    let mut roles = Vec::new();
    let whole = session.files.scope == Scope::Whole;
    if whole {
        roles.push((console::trust::SETUP.to_owned(), Role::Setup));
    }
    roles.extend(session.files.set.cases.iter().enumerate().map(|(i, case)| (case.trial_name(), Role::Case(i))));
    roles.extend(session.gates.iter().enumerate().map(|(i, gate)| (gate.name.clone(), Role::Gate(i))));
    if whole {
        let calibrations = session.trusted.iter().enumerate();
        roles.extend(calibrations.map(|(i, metric)| (console::calibration::trial(metric), Role::Calibration(i))));
        roles.push(("gate::set::orphans".to_owned(), Role::Orphans));
        if LockFiles::of(&session.files.policy.cases).is_locked() {
            roles.push((lock::TRIAL.to_owned(), Role::Lock));
        }
    }
    roles
}

fn trial(session: &Arc<Session>, name: &str, role: Role) -> Trial {
    let session = Arc::clone(session);
    // Gates over a part of the cases would say nothing; they are decided over all parts together. What is read off the files alone is
    // the same in every part.
    let deferred = session.context.shard.is_some() && matches!(role, Role::Gate(_));
    let own_name = name.to_owned();
    let run = move || {
        let decision = verdict::decide(&session, &own_name, role);
        let failed = decision.ruling.is_red().then(|| failure(&session, &decision));
        session.keep(decision).map_err(|error| Failed::from(format!("the decision cannot be kept: {error}")))?;
        failed.map_or(Ok(()), Err)
    };
    Trial::test(name, run).with_ignored_flag(deferred)
}

/// The text of a red trial. A process runner shows the reason only from a line that starts with `Error: `.
fn failure(session: &Session, decision: &Decision) -> Failed {
    if session.context.nextest_run.is_some() {
        tell(&format!("Error: {}", console::reason(decision)));
    }
    let lines = decision.lines.iter().map(|line| console::text::no_command(line));
    Failed::from(lines.collect::<Vec<_>>().join("\n"))
}

/// A process that is told to run one trial and has none of that name must not be green: names that a runner changes end here.
fn match_exact(session: &Session, flags: &Flags, trials: &[Trial]) -> Result<(), String> {
    let Some(name) = flags.libtest.filter.as_deref().filter(|_| flags.libtest.exact) else { return Ok(()) };
    if session.context.nextest_run.is_none() || trials.iter().any(|trial| trial.name() == name) {
        return Ok(());
    }
    Err(format!("no trial is called {name:?}; it was listed under another name, or the files changed since"))
}

/// The cases whose records the selected trials wait for.
pub(super) fn needs(session: &Session, selected: &[Role]) -> BTreeSet<CaseId> {
    let mut wanted = BTreeSet::new();
    for role in selected {
        match role {
            Role::Setup if verdict::setup_needs_records(session) => wanted.extend(verdict::all_cases(session)),
            Role::Setup | Role::Calibration(_) | Role::Orphans | Role::Lock => {}
            Role::Case(index) => {
                wanted.insert(session.files.set.cases[*index].id.clone());
            }
            Role::Gate(index) => wanted.extend(verdict::population(session, *index)),
        }
    }
    wanted
}

/// Whether this process has decided anything that is not yet taken.
pub(super) fn has_decided(session: &Session) -> bool {
    !session.decisions.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
}

/// The decisions of this process, by trial; they are had once.
pub(super) fn take_decisions(session: &Session) -> Vec<Decision> {
    let mut decisions = session.decisions.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::take(&mut *decisions).into_values().collect()
}
