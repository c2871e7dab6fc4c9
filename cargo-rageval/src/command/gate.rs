//! `gate`: decides the gates over the records of a run, or of all shards of one, and asks nothing.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;
use rageval_runner::{
    embed,
    evaluate::{calibrated, stamp},
    gate::{self, Basis, MetricFacts},
    judge,
    load::{self, Policy},
    metric::Metric,
    model::{
        CaseId, CaseScores, GoldenCase, GoldenSet, MetricKey, Record, Records, Scores,
        run::{AcceptedRun, Baseline, Decision, Manifest, Run, SnapshotFailure},
    },
    report::{
        background::{self, Known},
        console::{self, spending},
    },
    store::{
        StoreError, baseline, history,
        lock::{self, LockFiles},
        runs::{self, Parts, WholeRecord},
    },
    trust::{self, Generators, Trust, Waivable, calibration::Looked},
};

use super::format::Format;
use crate::{
    context::Context,
    exit::{Ending, Failure},
    report::{self, Input, lowered::Lowered, reach::Reach, view::View},
};

/// Decide the gates over stored records
///
/// Reads the golden cases, thresholds.yaml and the baseline from here, and the records from the runs that are named: one whole run, or all
/// shards of one. Nothing is asked. Each case must have exactly one record, and all runs must be of these cases, one judge and these thresholds.
/// Cases and gates are decided by the files as they are now; a snapshot that was red in the run stays red.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo rageval gate                     # the latest run
  cargo rageval gate shards/*/run.json   # RAGEVAL_SHARD=1/3, 2/3 and 3/3
  cargo rageval gate shards/*/run.json --out whole && cargo rageval baseline accept whole")]
pub(crate) struct Gate {
    /// Run folders or run.json files [default: the latest run]
    pub(super) runs: Vec<PathBuf>,
    /// Write the run as it is decided here into this folder, as a run of its own: for reports and baselines
    #[arg(long, value_name = "FOLDER")]
    pub(super) out: Option<PathBuf>,
    /// How it is printed; json is what `cargo rageval report --format json` prints
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,
}

/// Decides and tells.
pub(crate) fn run(command: &Gate, context: &Context) -> Result<Ending, Failure> {
    let named = if command.runs.is_empty() { vec![context.runs.join("latest")] } else { command.runs.clone() };
    let (run, is_part) = decided(&named, context)?;
    if let Some(folder) = &command.out {
        write_run(folder, &run)?;
    }
    let missing = &run.manifest.missing;
    if !missing.is_empty() {
        let shown = missing.iter().take(10).map(CaseId::as_str).collect::<Vec<_>>().join(", ");
        crate::exit::tell(&format!(
            "undecided: {} of {} cases have no record: {shown}",
            missing.len(),
            run.manifest.golden_set.cases
        ));
        let target = run.manifest.target.as_deref();
        if command.runs.is_empty() && target == Some(console::text::NO_TARGET) && !is_part {
            crate::exit::tell("the latest run did not end; to go on with it: cargo rageval run --resume");
        } else if command.runs.is_empty() {
            crate::exit::tell(&format!(
                "the latest run was of a part of the cases (a `look` line, --case, --failed, `watch` or a shard); all again: {}",
                whole_run(target)
            ));
        }
        return Ok(Ending::Undecided);
    }
    let input = Input {
        view: View::of(&run),
        lowered: Lowered::stored(&run),
        folder: String::new(),
        place: named.iter().map(|run| place(run)).collect::<Vec<_>>().join(" "),
        reach: Reach::default(),
    };
    match command.format {
        Format::Text => {
            let mut out = crate::out::coloured();
            report::console::render(&input, &mut out)?;
            out.flush()?;
        }
        Format::Json => {
            let mut out = crate::out::stdout();
            report::json::render(&input, &mut out)?;
            out.flush()?;
        }
    }
    Ok(input.view.conclusion.into())
}

/// Where a run is kept, whose name may be that of the newest: what is printed holds later too.
pub(super) fn place(run: &Path) -> String {
    let folder = runs::folder(run).unwrap_or_else(|_| run.to_owned());
    let file = folder.join("run.json");
    if file.is_file() { file } else { folder }.display().to_string()
}

/// The command that runs all cases of a target.
fn whole_run(target: Option<&str>) -> String {
    match target.unwrap_or("rag_regression") {
        console::text::NO_TARGET => "cargo rageval run".to_owned(),
        target => format!("cargo test --test {target}"),
    }
}

/// The runs that are named as one, decided by the files as they are now. Where cases have no record nothing is decided. With whether
/// it was meant to be a part of the cases.
fn decided(named: &[PathBuf], context: &Context) -> Result<(Run, bool), Failure> {
    let metrics = context.metrics(&named.iter().map(PathBuf::as_path).collect::<Vec<_>>());
    context.policy_that_is_there().map_err(Failure::Input)?;
    // Read before the policy, which may name metrics that only the runs describe.
    let merged = merge(named)?;
    let (policy, set) = files(context, &metrics)?;
    let (baseline, history) = accepted(&policy)?;
    matches(&merged, &policy, &set)?;
    let mut notices = Vec::new();
    if merged.manifest.policy_digest != policy.digest {
        notices.push("thresholds.yaml changed since the run: all is decided by it as it is now".to_owned());
    }
    if let Some(spent) = &merged.manifest.spent {
        notices.push(format!("spent: {}", spending::line(spent, &policy.budget.clone().unwrap_or_default())));
    }
    let facts: BTreeMap<String, MetricFacts> =
        metrics.iter().map(|metric| (metric.name().to_owned(), MetricFacts::of(*metric))).collect();
    let basis = Basis {
        rules: &policy.rules,
        baseline: baseline.as_ref(),
        history: &history,
        judge: &merged.manifest.judge,
        metrics: &facts,
        seed: merged.manifest.seed,
        target: merged.manifest.target.as_deref().unwrap_or("rag_regression"),
    };
    let mut trust = trusted(&merged.manifest, merged.records.values().map(Arc::as_ref), &policy);
    let (of_calibrations, looked) = calibrations(&merged.manifest, (&policy, &set), &metrics, &facts, &mut trust)?;
    let is_missing = |case: &&GoldenCase| !merged.records.contains_key(&case.id);
    let missing: BTreeSet<CaseId> = set.cases.iter().filter(is_missing).map(|case| case.id.clone()).collect();
    let mut decisions = Vec::new();
    if missing.is_empty() {
        let scores = CaseScores::of_all(merged.records.values().map(Arc::as_ref));
        decisions = decide(&set, &merged.records, &scores, &merged.snapshots, &basis);
        notices.extend(basis.read_once(&set.cases));
        let locked = LockFiles::of(&policy.cases);
        if locked.is_locked() {
            let read = lock::read(&locked.lock).map_err(|error| error.to_string());
            let name = locked.name(&policy.root);
            decisions.push(trust::lock::decide(&set, read.as_ref().map_err(String::as_str), &name));
        } else {
            notices.push(trust::lock::unlocked(&locked.name(&policy.root)));
        }
        decisions.extend(of_calibrations);
        let suspects = console::readings::notices(&scores);
        notices.splice(0..0, suspects.into_iter().chain(trust.notices.iter().cloned()));
        decisions.extend(Some(console::trust::decision(&trust)).filter(|decision| decision.ruling.is_red()));
        // As a run holds them.
        decisions.sort_by(|a, b| a.trial.cmp(&b.trial));
    }
    let calibrations: Vec<_> = looked.iter().collect();
    let known = Known {
        set: &set,
        basis,
        calibrations: &calibrations,
        bars: &policy.calibration,
        waivers: &trust.waived,
        notices: &notices,
    };
    let (cases, background) = (background::cases(&set, &known.basis).collect(), background::background(&known));
    let is_part = merged.manifest.partial.is_some();
    let manifest = Manifest { missing, partial: None, policy_digest: policy.digest.clone(), ..merged.manifest.clone() };
    let records = merged.records.into_values().map(Arc::unwrap_or_clone).collect();
    let (format, version) = (runs::FORMAT.to_owned(), runs::VERSION);
    Ok((Run { format, version, manifest, records, decisions, cases, background }, is_part))
}

/// Writes a run folder.
fn write_run(folder: &Path, run: &Run) -> Result<(), Failure> {
    let parts = Parts {
        manifest: &run.manifest,
        records: Box::new(run.records.iter().map(|record| Ok(WholeRecord::Record(record)))),
        decisions: &run.decisions,
        cases: Box::new(run.cases.iter().map(Cow::Borrowed)),
        background: &run.background,
    };
    runs::write(folder, parts).map(|_| ()).map_err(|error| Failure::Input(error.to_string()))
}

/// Whether the judge of a run can be believed, by what its answers say and by what is declared and waived here and today.
pub(super) fn trusted<'r>(manifest: &Manifest, records: impl Iterator<Item = &'r Record>, policy: &Policy) -> Trust {
    let embedder = policy.embedder.as_ref().and_then(|embedder| embedder.provider.model());
    // What writes the answers may be declared later; what was declared for the run stays.
    let declared = manifest.system.generator.as_ref().or(policy.system.generator.as_ref()).map(String::as_str);
    trust::check(&manifest.judge, &Generators::of(declared, records), embedder, &policy.trust, Context::today())
}

/// Whether the judge of each metric is believed, by labels, calibration and waiver as they are here and today. A calibration is one of the judge
/// that the policy names, so that a run of another one has none. With what was looked at, for reports.
fn calibrations(
    manifest: &Manifest,
    (policy, set): (&Policy, &GoldenSet),
    metrics: &[&'static dyn Metric],
    facts: &BTreeMap<String, MetricFacts>,
    trust: &mut Trust,
) -> Result<(Vec<Decision>, BTreeMap<MetricKey, Looked>), Failure> {
    let keys = gate::trusted_metrics(&policy.rules, set, facts);
    let (waiver, today) = (policy.trust.waiver(Waivable::Calibration), Context::today());
    if keys.is_empty() {
        trust.notices.extend(waiver.map(|waiver| waiver.waives_nothing(today)));
        return Ok((Vec::new(), BTreeMap::new()));
    }
    // What a judge is depends on no key.
    let judge = judge::open(&policy.judge, &|_| None).map_err(Failure::Input)?;
    let embedder = policy.embedder.as_ref().map(|spec| embed::open(spec, &|_| None)).transpose();
    let embedder = embedder.map_err(|error| Failure::Input(error.to_string()))?;
    let is_of_the_policy = stamp::of_scores(policy, judge.as_ref(), embedder.as_deref()) == manifest.judge;
    let judged = |key: &MetricKey| {
        if is_of_the_policy {
            stamp::of_metric(policy, judge.as_ref(), embedder.as_deref(), metrics, key)
        } else {
            manifest.judge.clone()
        }
    };
    let looked = calibrated::looked(policy, set, metrics, &keys, judged);
    match waiver {
        Some(waiver) if looked.values().all(|looked| looked.refusals.is_empty()) => {
            trust.notices.push(waiver.waives_nothing(today));
        }
        Some(waiver) if waiver.holds_on(today) => trust.waived.push(waiver.to_string()),
        Some(_) | None => {}
    }
    let decided = looked
        .iter()
        .map(|(key, looked)| console::calibration::decision(key, looked, &policy.calibration, waiver, today));
    Ok((decided.collect(), looked))
}

/// Every case from its record, by the files as they are now, with the snapshot that made it red in the run; then every gate.
fn decide(
    set: &GoldenSet,
    records: &Records,
    scores: &Scores,
    snapshots: &BTreeMap<String, SnapshotFailure>,
    basis: &Basis<'_>,
) -> Vec<Decision> {
    let of_case = |case| gate::decide_case(case, &records[&case.id], basis, snapshots.get(&case.trial_name()));
    let mut decisions: Vec<Decision> = set.cases.iter().map(of_case).collect();
    let gates = gate::gates(basis.rules, set);
    let tests = gate::drop_tests(&gates, scores, basis);
    decisions.extend(gates.iter().map(|gate| gate::decide_gate(gate, set, scores, basis, &tests)));
    decisions
}

/// The policy and the cases that stand here.
pub(super) fn files(context: &Context, metrics: &[&dyn Metric]) -> Result<(Policy, GoldenSet), Failure> {
    let problems = |problems: &load::Diagnostics| Failure::Input(problems.to_string());
    let file = context.policy_that_is_there().map_err(Failure::Input)?;
    let policy = load::policy(&file, metrics).map_err(|error| problems(&error))?;
    let set = load::cases(&policy, metrics).map_err(|error| problems(&error))?;
    let slices = load::check_slices(&policy, &set);
    if slices.is_empty() { Ok((policy, set)) } else { Err(problems(&slices)) }
}

/// The baseline that the policy names, and the accepted runs that it looks back on.
fn accepted(policy: &Policy) -> Result<(Option<Baseline>, Vec<AcceptedRun>), Failure> {
    let Some(regression) = &policy.rules.regression else { return Ok((None, Vec::new())) };
    let path = policy.root.join(&regression.baseline);
    let faulty = |error: StoreError| Failure::Input(format!("{}: {error}", regression.place));
    let baseline = baseline::read(&path).map_err(faulty)?;
    let history = history::last(&path, regression.window.unwrap_or(0)).map_err(faulty)?;
    Ok((Some(baseline), history))
}

/// The records of several runs as one.
struct Merged {
    manifest: Manifest,
    records: Records,
    /// Snapshots that made their case red, by trial: all of a decision that the records do not tell.
    snapshots: BTreeMap<String, SnapshotFailure>,
}

fn merge(named: &[PathBuf]) -> Result<Merged, Failure> {
    let mut merged: Option<Merged> = None;
    for path in named {
        let run: Run = runs::read(path).map_err(|error| Failure::Input(error.to_string()))?;
        let is_first = merged.is_none();
        let all = merged.get_or_insert_with(|| Merged {
            manifest: run.manifest.clone(),
            records: Records::new(),
            snapshots: BTreeMap::new(),
        });
        same(&all.manifest, &run.manifest, path)?;
        if !is_first && let Some(more) = run.manifest.spent {
            *all.manifest.spent.get_or_insert_default() += more;
        }
        if let Some(case) = doubled(&run) {
            return Err(Failure::Input(twice(path, case)));
        }
        for record in run.records {
            if let Some(twice) = all.records.insert(record.case.clone(), Arc::new(record)) {
                let why = format!(
                    "{}: case `{}` has a record in another run too; name each shard once",
                    path.display(),
                    twice.case
                );
                return Err(Failure::Input(why));
            }
        }
        let of_snapshot = |decision: Decision| Some((decision.trial.clone(), snapshot(&decision)?));
        all.snapshots.extend(run.decisions.into_iter().filter_map(of_snapshot));
    }
    merged.ok_or_else(|| Failure::Input("name at least one run".to_owned()))
}

/// A case that has two records in one run.
pub(super) fn doubled(run: &Run) -> Option<&CaseId> {
    let mut seen = BTreeSet::new();
    run.records.iter().map(|record| &record.case).find(|case| !seen.insert(*case))
}

/// What is said of a run with two records of a case.
pub(super) fn twice(path: &Path, case: &CaseId) -> String {
    format!("{}: case `{case}` has two records in it, and a run has one a case: run the gate again", path.display())
}

/// The snapshot that made a case red. Runs of older versions tell it in the printed lines alone.
fn snapshot(decision: &Decision) -> Option<SnapshotFailure> {
    if decision.snapshot.is_some() {
        return decision.snapshot.clone();
    }
    if !decision.trial.starts_with("case::") || !decision.ruling.is_red() {
        return None;
    }
    let under = |label: &'static str| {
        let texts = decision.lines.iter().filter_map(move |line| line.strip_prefix(label));
        texts.filter_map(|rest| rest.strip_prefix(' ')).map(|text| text.trim_start().to_owned())
    };
    let why = under("snapshot").next().or_else(|| {
        // Where there was no room for the snapshot's line, the way to accept it stands there still.
        under("accept").find(|how| how == "cargo insta review").map(|_| "not as accepted".to_owned())
    })?;
    Some(SnapshotFailure { why, diff: under("diff").collect() })
}

/// Shards of one run agree on everything that scores depend on.
fn same(first: &Manifest, other: &Manifest, path: &Path) -> Result<(), Failure> {
    let what = if first.golden_set.digest != other.golden_set.digest {
        "golden cases"
    } else if first.judge != other.judge {
        "another judge"
    } else if first.policy_digest != other.policy_digest {
        "thresholds.yaml"
    } else {
        return Ok(());
    };
    Err(Failure::Input(format!(
        "{}: it differs from the first run in its {what}; merge shards of one run only",
        path.display()
    )))
}

/// The runs are of the files that stand here.
fn matches(merged: &Merged, policy: &Policy, set: &GoldenSet) -> Result<(), Failure> {
    let manifest = &merged.manifest;
    if manifest.golden_set.digest != set.digest() {
        return Err(Failure::Input("the golden cases changed since the run: run the gate again".to_owned()));
    }
    let trials: BTreeSet<String> = set.cases.iter().map(GoldenCase::trial_name).collect();
    if let Some(trial) = merged.snapshots.keys().find(|trial| !trials.contains(*trial)) {
        let why =
            format!("`{trial}` is red by its snapshot in the run, and no case here is that trial: run the gate again");
        return Err(Failure::Input(why));
    }
    // Other repeats are other parameters too, and this says what of them is another.
    let reduced_otherwise = |case: &&GoldenCase| {
        merged.records.get(&case.id).is_some_and(|record| !gate::repeats::is_of(case, record, &policy.rules))
    };
    if let Some(case) = set.cases.iter().find(reduced_otherwise) {
        let why = format!(
            "{}: `{}` was asked or reduced otherwise in the run than its `repeats` say now: run the gate again",
            case.place, case.id
        );
        return Err(Failure::Input(why));
    }
    let parameters = policy.rules.parameters();
    let is_measured = |(key, digest): (&_, &_)| manifest.parameters.get(key) == Some(digest);
    if !parameters.iter().all(is_measured) {
        return Err(Failure::Input(
            "thresholds.yaml names metrics or parameters that the run did not measure: run the gate again".to_owned(),
        ));
    }
    Ok(())
}
