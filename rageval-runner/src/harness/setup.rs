//! Reads what the run is made of, and finds what would open the gate.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use jiff::civil::Date;

use super::{context::Context, flags::Flags, suite::Location};
use crate::{
    embed::{self, Embedder},
    judge::{self, Judge, spec::ReplyMode},
    load::{self, Diagnostics, Policy, ReplyModes},
    metric::Metric,
    model::{
        GoldenSet, MetricKey,
        run::{AcceptedRun, Baseline},
    },
    store::{
        self, StoreError,
        baseline::{Answers, read_texts},
    },
    system::{self, RagSystem, spec::SystemKind},
    trust::utc_day,
};

/// What the files say: enough to list the trials.
pub(super) struct Files {
    pub(super) policy: Policy,
    pub(super) set: GoldenSet,
    pub(super) scope: Scope,
}

/// How much of the golden set was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// All of it: gates can be decided.
    Whole,
    /// The one file that `--exact` asks for.
    OneFile,
    /// All of it, of which some cases were picked: no gate is decided.
    Picked,
}

/// A broken set-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    /// What is wrong and what to do, line by line.
    pub(super) lines: Vec<String>,
    /// How far it reaches.
    pub(super) reach: Reach,
}

/// How far a broken set-up reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Nothing can be asked: every trial is red.
    Everything,
    /// `gate::setup` is red; what needs no baseline is decided.
    Regression,
}

impl Problem {
    pub(super) fn everything(text: impl Into<String>) -> Self {
        Self { lines: text.into().lines().map(str::to_owned).collect(), reach: Reach::Everything }
    }

    pub(super) fn regression(text: impl Into<String>) -> Self {
        Self { lines: text.into().lines().map(str::to_owned).collect(), reach: Reach::Regression }
    }
}

/// The package's folder: as compiled, unless the run says otherwise.
pub(super) fn package_folder(location: Location, context: &Context) -> PathBuf {
    context.manifest_dir.clone().unwrap_or_else(|| PathBuf::from(location.manifest_dir))
}

/// A name that two metrics have: the rules would hold for one of them, and nobody could tell which.
pub(super) fn named_twice<'m>(metrics: &[&'m dyn Metric]) -> Option<&'m str> {
    let repeated = |(i, metric): (usize, &&'m dyn Metric)| {
        metrics[..i].iter().any(|other| other.name() == metric.name()).then(|| metric.name())
    };
    metrics.iter().enumerate().find_map(repeated)
}

/// Reads the policy, and the cases: all of them, or the one file in which `--exact` can be satisfied.
pub(super) fn files(package: &Path, metrics: &[&dyn Metric], flags: &Flags) -> Result<Files, String> {
    let file = load::find(package).ok_or_else(|| {
        format!(
            "no thresholds.yaml in {} or a folder above it, up to the workspace root; it holds the rules of the gate: start one with `cargo rageval init`",
            package.display()
        )
    })?;
    let policy = load::policy(&file, metrics).map_err(|problems| problems.to_string())?;
    if let Some(set) = flags.exact_name().and_then(|name| one_file(name, &policy, metrics).transpose()) {
        return Ok(Files { policy, set: set.map_err(|problems| problems.to_string())?, scope: Scope::OneFile });
    }
    whole(policy, metrics)
}

/// The whole golden set of a policy.
pub(super) fn whole(policy: Policy, metrics: &[&dyn Metric]) -> Result<Files, String> {
    let set = load::cases(&policy, metrics).map_err(|problems| problems.to_string())?;
    let slices = load::check_slices(&policy, &set);
    if !slices.is_empty() {
        return Err(slices.to_string());
    }
    Ok(Files { policy, set, scope: Scope::Whole })
}

/// The file that holds the case of this trial name; `None` when there is none, so that the whole set must be read.
fn one_file(name: &str, policy: &Policy, metrics: &[&dyn Metric]) -> Result<Option<GoldenSet>, Diagnostics> {
    let Some(path) = name.strip_prefix("case::") else { return Ok(None) };
    // A group or an id may hold `::` itself, so each split is tried.
    for (at, _) in path.match_indices("::") {
        if let Some(set) = load::one_file(policy, &path[..at], metrics)?
            && set.cases.iter().any(|case| case.trial_name() == name)
        {
            return Ok(Some(set));
        }
    }
    Ok(None)
}

/// What in the surroundings would let a failing case pass: insta's update switches in CI.
pub(super) fn open_gates(context: &Context, root: &Path, target: &str) -> Vec<Problem> {
    if !context.ci {
        return Vec::new();
    }
    let mut switches = Vec::new();
    match context.insta_update.as_deref() {
        None | Some("no" | "auto" | "new") => {}
        Some(value) => switches.push(format!("INSTA_UPDATE={value}")),
    }
    if context.insta_force_pass {
        switches.push("INSTA_FORCE_PASS".to_owned());
    }
    if context.insta_force_update {
        switches.push("INSTA_FORCE_UPDATE".to_owned());
    }
    match load::insta_config::switches(root) {
        Ok(found) => switches.extend(found),
        Err(problem) => return vec![Problem::everything(problem)],
    }
    if switches.is_empty() {
        return Vec::new();
    }
    vec![Problem::everything(format!(
        "{} would accept changed verdicts unseen, and CI is set\nunset it; review snapshots on your machine with `{}`",
        switches.join(", "),
        crate::report::console::text::accept_snapshots(target)
    ))]
}

/// How stored replies and stored vectors are used: as the policy says, unless `RAGEVAL_JUDGE_MODE` does, which holds for both.
pub(super) fn reply_modes(context: &Context, policy: &Policy) -> Result<ReplyModes, Problem> {
    let Some(word) = context.judge_mode.as_deref() else { return Ok(policy.reply_modes(None)) };
    let mode = ReplyMode::of_variable(word).map_err(Problem::everything)?;
    // A policy that only replays needs no budget; one that is asked to ask after all does.
    if let Some((whom, place)) = policy.unbudgeted(policy.reply_modes(Some(mode))) {
        return Err(Problem::everything(format!(
            "{place}: RAGEVAL_JUDGE_MODE={word} asks {whom} that may cost money, and no `budget` says how much one run may spend\n\
             add one line to thresholds.yaml, as in `budget: {{requests: 1000, minutes: 10}}`",
        )));
    }
    Ok(policy.reply_modes(Some(mode)))
}

/// A shard that is declared in another form than `k/n`: gates would be deferred by a slip of the hand.
pub(super) fn shard(context: &Context) -> Option<Problem> {
    let shard = context.shard.as_deref()?;
    let parts = shard.split_once('/').and_then(|(k, n)| Some((k.parse::<usize>().ok()?, n.parse::<usize>().ok()?)));
    if parts.is_some_and(|(k, n)| (1..=n).contains(&k)) {
        return None;
    }
    Some(Problem::everything(format!(
        "RAGEVAL_SHARD says `{shard}`, which is no shard; write it as `1/3`, or unset it to decide the gates here"
    )))
}

/// The baseline that the policy names, and the accepted runs before it that the policy looks back on.
pub(super) fn accepted(policy: &Policy) -> Result<(Option<Baseline>, Vec<AcceptedRun>), Problem> {
    let Some(regression) = &policy.rules.regression else { return Ok((None, Vec::new())) };
    let path = policy.root.join(&regression.baseline);
    if !path.exists() {
        return Err(Problem::regression(format!(
            "{}: `regression.baseline` names {}, which does not exist: regression rules are not decided\n\
             look at this run, then accept it: cargo rageval baseline accept",
            regression.place, regression.baseline,
        )));
    }
    let baseline = store::baseline::read(&path).map_err(|error| {
        Problem::regression(format!(
            "{}: the baseline cannot be read: {error}\nrestore it from version control, or accept a run anew: cargo rageval baseline accept",
            regression.place,
        ))
    })?;
    let history = store::history::last(&path, regression.window.unwrap_or(0)).map_err(|error| {
        Problem::regression(format!(
            "{}: `regression.window` looks back on accepted runs that cannot be read: {error}",
            regression.place,
        ))
    })?;
    Ok((Some(baseline), history))
}

/// The answers of the baseline, where a metric of a rule compares with them.
pub(super) fn baseline_answers(
    files: &Files,
    metrics: &[&dyn Metric],
    baseline: Option<&Baseline>,
) -> Result<Answers, Problem> {
    let (Some(regression), Some(baseline)) = (&files.policy.rules.regression, baseline) else {
        return Ok(Answers::default());
    };
    let compares =
        |key: &MetricKey| metrics.iter().any(|metric| metric.name() == key.name() && metric.reads_baseline());
    let mut keys = files.policy.rules.metrics.keys().chain(files.set.cases.iter().flat_map(|case| case.bars.keys()));
    if !keys.any(compares) {
        return Ok(Answers::default());
    }
    answers_of(files, Some(baseline)).map_err(|error| {
        Problem::everything(format!(
            "{}: a metric compares with the baseline's answers, which cannot be read: {error}\n\
             restore the file from version control, or accept a run anew: cargo rageval baseline accept",
            regression.place,
        ))
    })
}

/// The answers of the baseline, whoever needs them; none without a baseline.
pub(super) fn answers_of(files: &Files, baseline: Option<&Baseline>) -> Result<Answers, StoreError> {
    let (Some(regression), Some(baseline)) = (&files.policy.rules.regression, baseline) else {
        return Ok(Answers::default());
    };
    let path = files.policy.root.join(&regression.baseline);
    read_texts(&path).and_then(|texts| Answers::new(&path, baseline, &texts))
}

/// The day in UTC, on which waivers hold or have expired.
pub(super) fn today() -> Date {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    // A clock that stands before 1970 is no reason for a waiver to hold.
    utc_day(now.map_or(u64::MAX, |since| since.as_secs()))
}

/// Opens the judge of the policy.
pub(super) fn open_judge(policy: &Policy, context: &Context) -> Result<Arc<dyn Judge>, Problem> {
    judge::open(&policy.judge, &context.variable)
        .map_err(|error| Problem::everything(format!("{}: {error}", policy.judge.place)))
}

/// Opens the embedder of the policy, where it names one.
pub(super) fn open_embedder(policy: &Policy, context: &Context) -> Result<Option<Arc<dyn Embedder>>, Problem> {
    let Some(spec) = &policy.embedder else { return Ok(None) };
    embed::open(spec, &context.variable)
        .map(Some)
        .map_err(|error| Problem::everything(format!("{}: {error}", spec.place)))
}

/// Opens the system of the policy: the function of the test binary, or one that needs no code.
pub(super) fn open_system(
    files: &Files,
    function: Option<Arc<dyn RagSystem>>,
    context: &Context,
) -> Result<Arc<dyn RagSystem>, Problem> {
    let spec = &files.policy.system;
    let place = &spec.place;
    match (&spec.kind, function) {
        (SystemKind::Function, Some(system)) => Ok(system),
        (SystemKind::Function, None) => Err(Problem::everything(format!(
            "{place}: the system is a function, but the test passes none\n\
             write `rageval_runner::main! {{ system: your_function }}`, or set `system.kind` to http, command or recorded"
        ))),
        (SystemKind::Http(_) | SystemKind::Command(_) | SystemKind::Recorded(_), Some(_)) => {
            Err(Problem::everything(format!(
                "{place}: `system.kind` is {}, but the test also passes a function; remove one of them",
                spec.kind.as_str()
            )))
        }
        (SystemKind::Http(_) | SystemKind::Command(_) | SystemKind::Recorded(_), None) => {
            system::open(spec, &files.policy.root, &context.variable, &files.set)
                .map(Arc::from)
                .map_err(|error| Problem::everything(error.to_string()))
        }
    }
}
