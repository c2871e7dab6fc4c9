//! `judge check`: asks the judge a fixed set of probes, and says whether it changed behind its name.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use rageval_runner::{
    load::{self, Policy},
    model::{Unmeasured, Verdict, run::JudgeStamp},
    report::console::text::{interval_text, shortened, visible},
    store::{
        baseline::{self, Answers},
        probes::{self, RecordedProbes},
    },
    trust::{
        probe_set,
        probes::{ALPHA, Compared, Findings, Probe},
    },
};

use serde_json::{Value, json};

use super::{
    format::{Format, print_json},
    gate,
};
use crate::{
    asking::{self, Asking, Need},
    context::Context,
    exit::{Ending, Failure, tell},
};

/// Look at the judge itself
#[derive(Debug, Subcommand)]
pub(crate) enum Judge {
    Check(Check),
}

/// Say whether the judge changed behind its name
///
/// Asks the judge of thresholds.yaml about recorded claims, each several times and never from stored replies, and compares its verdicts with
/// those of the day on which they were recorded. `--record` records: the claims of the file that is there; where there is none, claims of
/// the baseline's faithfulness, or a built-in dozen in English, Portuguese and Chinese where it has fewer.
///
/// A flip is a claim that most readings now put on another side: supported, or not. The judge's own noise is no drift: the test deals the
/// readings of each claim out anew to then and now, in all ways, and drift is a difference that such a deal reaches with
/// p <= 0.01. Ends with 0 without drift, 1 with it, 3 where it can't be told. What is asked counts against the `budget` of
/// thresholds.yaml as a run of its own. A judge that is code says the same each time and is not asked.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo rageval judge check --record     # the first time, and after a change of judge
  cargo rageval judge check              # once a day, beside the gate
  cargo rageval judge check --samples 5")]
pub(crate) struct Check {
    /// How often each probe is asked, from 2 to 9; fewer than 3 find only large drift
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(2..=9))]
    samples: u32,
    /// Write down what the judge says now, with the day and its fingerprint
    #[arg(long)]
    record: bool,
    /// The recorded probes [default: probes.json beside the baseline]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// How what was found is printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Claims of the baseline that become probes, and how few of them are too few.
const DRAWN: usize = 24;
const FEWEST: usize = 12;
/// Columns of a claim or a reason.
const TEXT: usize = 80;
/// Faults that are listed; the rest is counted.
const SHOWN: usize = 5;

/// Does what the command line says.
pub(crate) fn run(judge: &Judge, context: &Context) -> Result<Ending, Failure> {
    match judge {
        Judge::Check(check) => run_check(check, context),
    }
}

fn run_check(check: &Check, context: &Context) -> Result<Ending, Failure> {
    let file = context.policy_that_is_there().map_err(Failure::Input)?;
    let policy = load::policy(&file, &context.metrics(&[])).map_err(|problems| Failure::Input(problems.to_string()))?;
    let judge = asking::open_judge(&policy)?;
    let stamp = judge.stamp();
    if judge.is_deterministic() {
        show(&format!(
            "the judge {} is code: it says the same each time, so there is nothing to check\n",
            named(&stamp)
        ))?;
        return Ok(Ending::Pass);
    }
    let path = check.file.clone().unwrap_or_else(|| context.root.join(beside_baseline(&policy)));
    let recorded = probes::read_if_present(&path).map_err(|error| Failure::Input(error.to_string()))?;
    if let Some(missing) = judge.missing_key() {
        tell(&format!("undecided: {}: {missing}", policy.judge.place));
        return Ok(Ending::Undecided);
    }
    if check.record {
        let probes = match recorded {
            Some(recorded) => recorded.probes.into_iter().map(|(probe, _)| probe).collect(),
            None => drawn(context)?,
        };
        return record(check, &policy, context, &path, probes);
    }
    let Some(recorded) = recorded else {
        return Err(Failure::Input(format!(
            "{}: no probes are recorded yet; record what the judge says today: cargo rageval judge check --record",
            path.display()
        )));
    };
    if recorded.judge != stamp {
        tell(&format!(
            "undecided: {} was recorded on {} with another judge, {}, and this one is {}; record anew: cargo rageval judge check --record",
            path.display(),
            recorded.recorded,
            named(&recorded.judge),
            named(&stamp)
        ));
        return Ok(Ending::Undecided);
    }
    compare(check, &policy, context, &recorded)
}

fn beside_baseline(policy: &Policy) -> PathBuf {
    let baseline = policy.rules.regression.as_ref().map_or("baselines/main.json", |regression| &regression.baseline);
    Path::new(baseline).with_file_name("probes.json")
}

fn named(judge: &JudgeStamp) -> String {
    format!("{} {} ({:.8})", judge.provider, judge.model, judge.fingerprint)
}

fn show(text: &str) -> io::Result<()> {
    let mut stdout = crate::out::stdout();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// The readings of each probe, and each that came to nothing with its probe's name.
type Read = (Vec<Vec<Verdict>>, Vec<(String, Unmeasured)>);

/// Asks for all readings of all probes, side by side.
fn read(asking: &Asking, probes: &[&Probe], samples: u32) -> Read {
    tell(&format!("asking {} probes {samples} times each: {} requests", probes.len(), probes.len() * samples as usize));
    let each = probes.iter().flat_map(|probe| (1..=samples).map(move |number| (*probe, number)));
    let said = asking.inner().each(each, async |evaluation, (probe, number)| evaluation.probe(probe, number).await);
    let mut faults = Vec::new();
    let mut readings = Vec::new();
    for (probe, said) in probes.iter().zip(said.chunks(samples as usize)) {
        let fault =
            |said: &Result<Verdict, Unmeasured>| said.as_ref().err().map(|fault| (probe.id.clone(), fault.clone()));
        faults.extend(said.iter().filter_map(fault));
        readings.push(said.iter().filter_map(|said| said.as_ref().ok().copied()).collect());
    }
    (readings, faults)
}

fn tell_faults(faults: &[(String, Unmeasured)]) {
    tell(&format!("readings that came to nothing: {}", faults.len()));
    for (probe, fault) in faults.iter().take(SHOWN) {
        tell(&format!("  {}  {}: {}", visible(probe), fault.cause, shortened(&fault.why, 2 * TEXT)));
    }
}

/// The claims of the baseline that are drawn, else the built-in probes.
fn drawn(context: &Context) -> Result<Vec<Probe>, Failure> {
    let (policy, set) = gate::files(context, &context.metrics(&[]))?;
    let input = |error: &dyn std::fmt::Display| Failure::Input(error.to_string());
    let Some(regression) = &policy.rules.regression else { return Ok(probe_set::built_in()) };
    let path = context.root.join(&regression.baseline);
    let Some(accepted) = baseline::read_if_present(&path).map_err(|error| input(&error))? else {
        return Ok(probe_set::built_in());
    };
    let texts = baseline::read_texts(&path).map_err(|error| input(&error))?;
    let answers = Answers::new(&path, &accepted, &texts).map_err(|error| input(&error))?;
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    for case in &set.cases {
        let (Some(sample), Some(before)) = (answers.sample_of(case), accepted.cases.get(&case.id)) else { continue };
        let contexts: Vec<String> = sample.readable_contexts().map(|(_, context)| context.text.clone()).collect();
        let of_faithfulness = before.outcomes.iter().filter(|(key, _)| key.name() == "faithfulness");
        let claims = of_faithfulness.filter_map(|(_, outcome)| outcome.detail()).flat_map(|detail| &detail.claims);
        for (claim, number) in claims.zip(1..).filter(|_| !contexts.is_empty()) {
            let probe = Probe {
                id: format!("{} claim {number}", case.id),
                language: case.language,
                query: case.query.clone(),
                claim: claim.text.clone(),
                contexts: contexts.clone(),
            };
            let is_fit = rageval_runner::model::CaseId::new(&probe.id).is_ok() && !probe.sample().is_blank();
            if is_fit {
                if claim.verdict == Verdict::Supported { good.push(probe) } else { bad.push(probe) }
            }
        }
    }
    // Both sides, each spread over the set: a judge may have become milder or stricter.
    let of_bad = bad.len().min(DRAWN / 2).max(DRAWN.saturating_sub(good.len()).min(bad.len()));
    let mut probes = spread(bad, of_bad);
    probes.extend(spread(good, DRAWN - probes.len()));
    Ok(if probes.len() < FEWEST { probe_set::built_in() } else { probes })
}

/// So many of them, at equal distances.
fn spread(probes: Vec<Probe>, wanted: usize) -> Vec<Probe> {
    let (all, wanted) = (probes.len(), wanted.min(probes.len()));
    let places: BTreeSet<usize> = (0..wanted).map(|n| n * all / wanted).collect();
    probes.into_iter().enumerate().filter(|(at, _)| places.contains(at)).map(|(_, probe)| probe).collect()
}

fn record(
    check: &Check,
    policy: &Policy,
    context: &Context,
    path: &Path,
    probes: Vec<Probe>,
) -> Result<Ending, Failure> {
    let asking = asking::open(policy, context, Need::Fresh("no probes can be recorded"), Answers::default())?;
    let (readings, faults) = read(&asking, &probes.iter().collect::<Vec<_>>(), check.samples);
    asking.tell_notices();
    if !faults.is_empty() {
        tell_faults(&faults);
        tell("nothing was recorded: every reading is needed");
        return Ok(Ending::Undecided);
    }
    let recorded = RecordedProbes {
        recorded: Context::today(),
        judge: asking.judge().stamp(),
        calls_itself: asking.judge().other_names(),
        probes: probes.into_iter().zip(readings).collect(),
    };
    probes::write(path, &recorded).map_err(|error| Failure::Input(error.to_string()))?;
    let compared: Vec<Compared<'_>> = recorded
        .probes
        .iter()
        .map(|(probe, verdicts)| Compared { probe, then: verdicts.clone(), now: verdicts.clone() })
        .collect();
    let own = Findings::of(&compared).own_rate_then.unwrap_or_default();
    show(&format!(
        "{}: {} probes recorded on {} with {}, {} readings each\n\
         own noise  {own:.3} of the readings stand against most of their probe\n\
         commit the file; later: cargo rageval judge check\n",
        path.display(),
        recorded.probes.len(),
        recorded.recorded,
        named(&recorded.judge),
        check.samples
    ))?;
    Ok(Ending::Pass)
}

fn compare(check: &Check, policy: &Policy, context: &Context, recorded: &RecordedProbes) -> Result<Ending, Failure> {
    let asking = asking::open(policy, context, Need::Fresh("the judge can't be checked"), Answers::default())?;
    let probes: Vec<&Probe> = recorded.probes.iter().map(|(probe, _)| probe).collect();
    let (readings, faults) = read(&asking, &probes, check.samples);
    asking.tell_notices();
    let compared: Vec<Compared<'_>> = recorded
        .probes
        .iter()
        .zip(readings)
        .filter(|(_, now)| !now.is_empty())
        .map(|((probe, then), now)| Compared { probe, then: then.clone(), now })
        .collect();
    let found = Findings::of(&compared);
    let mut out = format!(
        "judge      {}, recorded on {}\nasked      {} probes, {} times each\n",
        named(&recorded.judge),
        recorded.recorded,
        found.probes,
        check.samples
    );
    told(&mut out, &found, &compared);
    let names: Vec<String> = asking.judge().other_names().difference(&recorded.calls_itself).cloned().collect();
    if !names.is_empty() {
        let _ = writeln!(out, "name       the replies now call the model {}", visible(&names.join(", ")));
    }
    let ending = if found.is_drift() {
        out.push_str("drift      it is not the judge of then: look at the flipped claims, calibrate anew, then\n");
        out.push_str("           cargo rageval baseline rejudge, and cargo rageval judge check --record\n");
        Ending::Fail
    } else if !faults.is_empty() {
        out.push_str("undecided  not every reading was given\n");
        Ending::Undecided
    } else if !found.can_show_drift() {
        let _ = writeln!(
            out,
            "undecided  it can't be told: {} with {} {} could not show drift, whatever the judge says (p {:.4} at the least);\n           \
             record more probes, or ask with more --samples",
            plural(found.probes, "probe"),
            check.samples,
            if found.probes == 1 { "readings" } else { "readings each" },
            found.least_p
        );
        Ending::Undecided
    } else {
        out.push_str("no drift   beyond its own noise\n");
        Ending::Pass
    };
    match check.format {
        Format::Text => show(&out)?,
        Format::Json => print_json(&as_json(&found, &compared, recorded, check.samples, ending))?,
    }
    if !faults.is_empty() {
        tell_faults(&faults);
    }
    Ok(ending)
}

/// The same for programs. `ending` is `no_drift`, `drift` or `undecided`; shares and probabilities are 0 to 1.
fn as_json(
    found: &Findings,
    compared: &[Compared<'_>],
    recorded: &RecordedProbes,
    samples: u32,
    ending: Ending,
) -> Value {
    let flips: Vec<Value> = compared
        .iter()
        .filter(|probe| probe.is_flipped())
        .map(|probe| json!({"probe": probe.probe.id, "claim": probe.probe.claim, "then": probe.then, "now": probe.now}))
        .collect();
    let ending = match ending {
        Ending::Pass => "no_drift",
        Ending::Fail => "drift",
        Ending::Undecided | Ending::Faulty => "undecided",
    };
    json!({
        "ending": ending,
        "judge": recorded.judge,
        "recorded": recorded.recorded.to_string(),
        "samples": samples,
        "probes": found.probes,
        "flipped": found.flipped,
        "flipped_in_all": found.flipped_in_all,
        "interval": found.interval.map(|interval| [interval.low, interval.high]),
        "own_rate_then": found.own_rate_then,
        "own_rate_now": found.own_rate_now,
        "p": found.p,
        "least_p": found.least_p,
        "flips": flips,
    })
}

fn told(out: &mut String, found: &Findings, compared: &[Compared<'_>]) {
    let interval = found.interval.map(|interval| interval_text(&interval)).unwrap_or_default();
    let share = if found.probes == 0 { 0.0 } else { found.flipped as f64 / found.probes as f64 };
    let _ = writeln!(out, "flipped    {} of {}, {share:.3} {interval}", found.flipped, found.probes);
    if found.flipped > 0 {
        let _ = writeln!(
            out,
            "           {} of these {} in every reading, so that no further sample would show them to be noise",
            found.flipped_in_all, found.flipped
        );
    }
    for probe in compared.iter().filter(|probe| probe.is_flipped()) {
        let _ = writeln!(
            out,
            "           {}  {} -> {}  \"{}\"",
            visible(&probe.probe.id),
            words(&probe.then),
            words(&probe.now),
            shortened(&probe.probe.claim, TEXT)
        );
    }
    let rate = |rate: Option<f64>| rate.map_or_else(|| "not known".to_owned(), |rate| format!("{rate:.3}"));
    let _ = writeln!(
        out,
        "own noise  {} of the readings of then stand against most of their probe, {} of those of now",
        rate(found.own_rate_then),
        rate(found.own_rate_now)
    );
    let _ = writeln!(out, "chance     p {:.4} that one judge gave both; {ALPHA} and less is drift", found.p);
}

fn plural(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// `supported x2, unsupported`: what the readings of one probe say.
fn words(readings: &[Verdict]) -> String {
    let mut parts = Vec::new();
    for verdict in Verdict::ALL {
        match readings.iter().filter(|reading| **reading == verdict).count() {
            0 => {}
            1 => parts.push(verdict.as_str().to_owned()),
            times => parts.push(format!("{} x{times}", verdict.as_str())),
        }
    }
    parts.join(", ")
}
