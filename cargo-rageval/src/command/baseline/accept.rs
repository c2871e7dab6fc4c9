//! `baseline accept`: makes a run the one that later runs are compared with.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use clap::Args;
use rageval_runner::{
    evaluate::thrice::ReadFirst,
    load::{self, Policy},
    model::{
        AskedOf, GoldenSet, Outcome, Record,
        run::{Ruling, Run},
    },
    report::console::trust::SETUP,
    store::{
        baseline::{self, Answers},
        history, runs,
    },
};

use super::{
    super::gate,
    count, is_judged,
    readings::{self, Settled},
    reason, replace,
};
use crate::{
    asking::{self, Asking, Need},
    context::Context,
    exit::{Ending, Failure, tell},
};

/// Make a run the baseline
///
/// Writes the baseline file, and beside it the retrieved texts. A run that is partial or has unmeasured cases is refused, and so is one whose
/// judge can't be believed (a name that moves, the generator's family, no generator declared) unless that is waived. A run with red
/// cases is not; but each score that it lowers needs a reason, which is stored. A score of `pairwise` below 0.5, a tie, counts as lowered: the
/// accepted answer would be replaced by a worse one.
///
/// A judge that may say another thing the next time reads each score three times, the run's own reading counted, and what most of them
/// say is kept: a baseline made of one lucky reading would be red for nothing later. That asks within the `budget` of thresholds.yaml; with
/// `--no-reread`, and where nothing can be asked, the baseline says that it was read once, and so does each run that is compared with it.
/// A case with `repeats` is not read again: its scores are of several answers, and stay as the run has them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo rageval baseline accept
  cargo rageval baseline accept --reason \"the 2024 price list was withdrawn\"
  cargo rageval baseline accept downloads/rageval-run/run.json --no-reread")]
pub(crate) struct Accept {
    /// A run folder, its `run.json`, or a `latest` file beside run folders [default: the latest run]
    run: Option<PathBuf>,
    /// The same, as other commands take it
    #[arg(long = "run", value_name = "RUN", conflicts_with = "run")]
    named: Option<PathBuf>,
    /// The baseline file [default: the one that thresholds.yaml names, else baselines/main.json beside it]
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    /// Why scores are lowered
    #[arg(long, value_name = "TEXT", value_parser = reason)]
    reason: Option<String>,
    /// Keep what the judge said in the run, without having it read again
    #[arg(long)]
    no_reread: bool,
}

/// The files that stand here, where they can be read and are those of the run.
struct Here {
    policy: Policy,
    set: GoldenSet,
}

pub(super) fn run(accept: &Accept, context: &Context) -> Result<Ending, Failure> {
    let input = |error: &dyn std::fmt::Display| Failure::Input(error.to_string());
    let named = accept.run.as_ref().or(accept.named.as_ref());
    let from = named.cloned().unwrap_or_else(|| context.runs.join("latest"));
    if named.is_none() && !from.exists() {
        let why = format!("{}: no run yet; run the gate first: {}", from.display(), super::super::GATES);
        return Err(Failure::Input(why));
    }
    let run = runs::read(&from).map_err(|error| input(&error))?;
    let metrics = context.metrics(&[&from]);
    let file = context.root.join(load::FILE_NAME);
    let policy = match load::policy(&file, &metrics) {
        Ok(policy) => Some(policy),
        // Which baseline it names, and of which system, is not known: none is taken for it.
        Err(problems) if file.is_file() && accept.to.is_none() => {
            let help = "which baseline thresholds.yaml names can't be read; mend it, or say where: --to FILE";
            return Err(Failure::Input(format!("{problems}\n{help}")));
        }
        Err(_) => None,
    };
    // Cases that cannot be read here say nothing.
    let set = policy.as_ref().and_then(|policy| load::cases(policy, &metrics).ok());
    let other = policy.as_ref().and_then(|policy| of_another(&run, policy, set.as_ref()));
    let to = match &accept.to {
        Some(to) => to.clone(),
        None => named_baseline(context, policy.as_ref(), other, &from)?,
    };
    let here = match (policy, set, other) {
        (Some(policy), Some(set), None) => Some(Here { policy, set }),
        _ => None,
    };
    let earlier = baseline::read_if_present(&to).map_err(|error| input(&error))?;
    // Before a judge is asked for what could not be kept.
    history::check(&to).map_err(|error| input(&error))?;
    let mut accepted =
        baseline::from_run(&run).map_err(|refused| Failure::Input(format!("{}: {refused}", from.display())))?;
    if let Some(lines) = distrusted(&run, here.as_ref()) {
        tell(&format!("error: {}: its judge can't be believed, so it can't become a baseline:", from.display()));
        lines.iter().for_each(|line| tell(&format!("  {line}")));
        return Ok(Ending::Fail);
    }
    let mut read = String::new();
    match reading(accept, &run, here.as_ref(), context) {
        Reading::Same => {}
        Reading::Once(why) => {
            tell(&format!("each judged score was read once: {why}"));
            accepted.baseline.manifest.readings = Some(1);
        }
        Reading::Thrice { asking, scores } => {
            let settled = readings::settled(&asking, &scores);
            asking.tell_notices();
            let Some(Settled { outcomes, differing }) = settled else { return Ok(Ending::Undecided) };
            read =
                format!("{} read 3 times, {differing} other than read first\n", count(outcomes.len(), "judged score"));
            for ((case, metric), outcome) in outcomes {
                if let Some(case) = accepted.baseline.cases.get_mut(&case) {
                    case.outcomes.insert(metric, outcome);
                }
            }
            accepted.baseline.manifest.readings = Some(3);
        }
    }
    let cases = count(accepted.baseline.cases.len(), "case");
    let changes = replace(&to, earlier.as_ref(), accepted, accept.reason.as_deref(), &metrics)?;
    let mut out = crate::out::stdout();
    let run = &run.manifest;
    let revision = run.git_revision.as_deref().map(|revision| format!(" at {revision:.12}")).unwrap_or_default();
    writeln!(out, "{}: {cases} accepted, from run {}{revision}", to.display(), run.run_id)?;
    write!(out, "{read}{changes}")?;
    out.flush()?;
    Ok(Ending::Pass)
}

/// What of the files here is not that of the run; `None` where the cases cannot be read.
fn of_another(run: &Run, policy: &Policy, set: Option<&GoldenSet>) -> Option<&'static str> {
    match set {
        Some(set) if set.digest() != run.manifest.golden_set.digest => Some("golden cases"),
        _ if policy.system.kind.as_str() != run.manifest.system.kind => Some("kind of system"),
        _ => None,
    }
}

/// The baseline file that the policy names, after a check that the run is of these cases and this system.
fn named_baseline(
    context: &Context,
    policy: Option<&Policy>,
    other: Option<&str>,
    from: &Path,
) -> Result<PathBuf, Failure> {
    if !context.root.join(load::FILE_NAME).is_file() && from.starts_with(&context.runs) {
        return Err(Failure::Input(
            "there is no thresholds.yaml here or above; say where the baseline goes: --to FILE".to_owned(),
        ));
    }
    if let Some(what) = other {
        let why = format!(
            "{}: it is a run of another {what} than stands here; run the gate again, or name its run",
            from.display()
        );
        return Err(Failure::Input(why));
    }
    let named = policy.and_then(|policy| policy.rules.regression.as_ref());
    Ok(context.root.join(named.map_or("baselines/main.json", |regression| &regression.baseline)))
}

/// Why the judge of the run can't be believed, by what is waived here and today; else, where the files here are not those of the run, what
/// its own `gate::setup` said.
fn distrusted(run: &Run, here: Option<&Here>) -> Option<Vec<String>> {
    let lines = match here {
        Some(here) => gate::trusted(&run.manifest, run.records.iter(), &here.policy).refused.concat(),
        None => {
            let setup = run.decisions.iter().find(|decision| decision.trial == SETUP);
            setup.filter(|decision| decision.ruling == Ruling::Fail)?.lines.clone()
        }
    };
    (!lines.is_empty()).then_some(lines)
}

/// What is done about a judge that may say another thing the next time.
enum Reading<'a> {
    /// Nothing: no score is a judge's, or its judge says the same each time.
    Same,
    /// It is kept as it was read, and why.
    Once(String),
    /// These are read until each was read three times.
    Thrice { asking: Box<Asking>, scores: Vec<ReadFirst<'a>> },
}

fn reading<'a>(accept: &Accept, run: &'a Run, here: Option<&'a Here>, context: &Context) -> Reading<'a> {
    let by_judge = |record: &&Record| {
        record.outcomes.iter().any(|(key, outcome)| is_judged(key) && matches!(outcome, Outcome::Scored { .. }))
    };
    let judged: Vec<&Record> = run.records.iter().filter(by_judge).collect();
    if run.manifest.judge.provider == "offline" || judged.is_empty() {
        return Reading::Same;
    }
    let Some(Here { policy, set }) = here else {
        return Reading::Once(
            "thresholds.yaml and the cases are not here, or can't be read by this command".to_owned(),
        );
    };
    let asking = match asking::open(policy, context, Need::Replies, Answers::default()) {
        Ok(asking) => asking,
        Err(Failure::Input(why)) => return Reading::Once(why),
        Err(Failure::Usage(_) | Failure::Output(_)) => return Reading::Once("the runtime can't start".to_owned()),
    };
    if asking.judge().is_deterministic() {
        return Reading::Same;
    }
    if accept.no_reread {
        return Reading::Once("`--no-reread`".to_owned());
    }
    if *asking.stamp() != run.manifest.judge || policy.rules.parameters() != run.manifest.parameters {
        return Reading::Once("thresholds.yaml now names another judge than the run's, or other parameters".to_owned());
    }
    match asking::mode_of(context).and_then(|over| asking::may_ask(policy, over, "nothing can be read again")) {
        Ok(()) => {}
        Err(Failure::Input(why)) => return Reading::Once(why),
        Err(Failure::Usage(_) | Failure::Output(_)) => return Reading::Once("nothing can be asked".to_owned()),
    }
    if let Some(missing) = asking.judge().missing_key() {
        return Reading::Once(missing.to_owned());
    }
    // The score of a repeated case is made of several answers, and a further reading would be of one of them.
    let repeated = judged.iter().filter(|record| record.is_repeated()).count();
    if repeated > 0 {
        tell(&format!(
            "not read again: {} asked several times, whose scores rest on several answers and stay as the run has them",
            count(repeated, "case")
        ));
    }
    let mut scores = Vec::new();
    for record in judged.into_iter().filter(|record| !record.is_repeated()) {
        let (Some(case), Some(sample)) = (set.get(&record.case), record.sample()) else { continue };
        for (metric, first) in &record.outcomes {
            let of = policy.rules.metrics.get(metric).map_or(AskedOf::Policy, |rule| rule.judge);
            let readings = record.readings.get(metric);
            // What a confirmation settled was read often enough, and is in the baseline already.
            let is_settled = readings.and_then(|readings| readings.confirmation.as_ref()?.settled()).is_some();
            let is_score = matches!(first, Outcome::Scored { .. }) && !is_settled;
            if is_score
                && is_judged(metric)
                && of.is_policy()
                && asking.inner().evaluation().is_asked(case, sample, metric)
            {
                let heard = readings.map_or(&[][..], |readings| &readings.now);
                scores.push(ReadFirst { case, sample, metric, first, heard });
            }
        }
    }
    if scores.is_empty() { Reading::Same } else { Reading::Thrice { asking: Box::new(asking), scores } }
}
