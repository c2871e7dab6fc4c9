//! `baseline rejudge`: has the judge of today judge the baseline's own answers, and says how it differs from the judge of then.

mod text;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::Args;
use rageval_runner::{
    evaluate::thrice::ReadFirst,
    load::Policy,
    metric::{self, Params},
    model::{
        CaseId, Claim, GoldenCase, GoldenSet, Heard, MetricKey, Outcome, Record, Sample, Verdict,
        run::{Baseline as Kept, BaselineCase, JudgeStamp},
    },
    report::console::text::{listed, shortened},
    store::{
        baseline::{self, Accepted, Answers, Rejudging},
        history,
    },
    trust::{
        self, Generators,
        drift::{Drift, Rejudged},
    },
};

use super::{
    super::gate,
    count, ids, is_judged,
    readings::{self, Settled},
    reason, replace,
};
use crate::{
    asking::{self, Asking, Need, ToMeasure},
    context::Context,
    exit::{Ending, Failure, tell},
};

/// Judge the baseline's own answers again
///
/// Has the judge of thresholds.yaml judge the answers that the baseline holds, and says per metric how it differs from the judge that the
/// baseline was made with: mean shift with its interval, rank correlation, flipped verdicts, cases to read. Same answers, another
/// judge: what differs is the judge. Without `--accept` nothing is written. With it the baseline carries the new judge's scores and its
/// fingerprint, so that drops are decided again; scores that it lowers need a reason, which is stored.
///
/// Cases that changed or vanished since are listed and left out, and so are cases with `repeats`: a baseline keeps one answer of several, so
/// `--accept` is refused where it holds such cases, and a run of the new judge is to be accepted. Stored replies are used as in a run, and what is asked counts against
/// the `budget` of thresholds.yaml as a run of its own. Ends with 3 where anything could not be judged: nothing can be accepted then.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo rageval baseline rejudge
  cargo rageval baseline rejudge --accept --reason \"gpt-4o-2024-08-06 is switched off\"
  cargo rageval baseline rejudge --baseline baselines/pt.json")]
pub(crate) struct Rejudge {
    /// The baseline file [default: the one that thresholds.yaml names, else baselines/main.json beside it]
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write the scores of this judge into the baseline
    #[arg(long)]
    accept: bool,
    /// Why scores are lowered
    #[arg(long, value_name = "TEXT", value_parser = reason, requires = "accept")]
    reason: Option<String>,
    /// Keep what the judge says once, in place of what most of three readings say
    #[arg(long, requires = "accept")]
    no_reread: bool,
}

/// Columns of a claim or a reason.
const TEXT: usize = 100;
/// What to do where scores are of several answers.
const NEW_RUN: &str = "run the gate with this judge, then: cargo rageval baseline accept";
/// Seed of the intervals.
const SEED: u64 = 0;

/// An answer of the baseline whose case still stands as it stood.
struct Answered<'a> {
    case: &'a GoldenCase,
    sample: Sample,
    before: &'a BaselineCase,
    metrics: Vec<MetricKey>,
}

pub(super) fn run(rejudge: &Rejudge, context: &Context) -> Result<Ending, Failure> {
    let input = |error: &dyn std::fmt::Display| Failure::Input(error.to_string());
    let (policy, set) = gate::files(context, &context.metrics(&[]))?;
    let named = policy.rules.regression.as_ref().map_or("baselines/main.json", |regression| &regression.baseline);
    let path = rejudge.baseline.clone().unwrap_or_else(|| context.root.join(named));
    let earlier = baseline::read(&path).map_err(|error| input(&error))?;
    if rejudge.accept {
        // Before a judge is asked for what could not be kept.
        history::check(&path).map_err(|error| input(&error))?;
    }
    let texts = baseline::read_texts(&path).map_err(|error| input(&error))?;
    let answers = Answers::new(&path, &earlier, &texts).map_err(|error| input(&error))?;
    let answered = answered(&policy, &set, &earlier, &answers);
    let repeated = repeated(&set, &earlier);
    if rejudge.accept && !repeated.is_empty() {
        return Err(Failure::Input(format!(
            "{}: {} asked several times, of which a baseline keeps one answer, so that their scores can't be made again: {}; {NEW_RUN}",
            path.display(),
            count(repeated.len(), "case"),
            ids(&repeated)
        )));
    }
    if answered.is_empty() {
        return Err(Failure::Input(format!(
            "{}: it holds no judged answer of a case that stands here and is asked once; accept a run anew: cargo rageval baseline accept",
            path.display()
        )));
    }
    let asking = asking::open(&policy, context, Need::Replies, Answers::default())?;
    if let Some(lines) = distrusted(&policy, asking.stamp()).filter(|_| rejudge.accept) {
        tell("error: this judge can't be believed, so its scores can't become a baseline:");
        lines.iter().for_each(|line| tell(&format!("  {line}")));
        return Ok(Ending::Fail);
    }
    let scores = answered.iter().map(|answered| answered.metrics.len()).sum();
    tell(&format!("judging {} of {} again", count(scores, "score"), count(answered.len(), "answer")));
    let records = asking.records(answered.iter().map(Answered::to_measure).collect());
    let compared = compared(&asking, &policy, &answered, &records);
    let mut out = String::new();
    head(&mut out, &path, &earlier, asking.stamp(), answered.len());
    left_out(&mut out, &set, &earlier, &policy);
    if !repeated.is_empty() {
        let cases = count(repeated.len(), "case");
        let _ = writeln!(out, "left out: {cases} asked several times, of which one answer is kept: {}", ids(&repeated));
    }
    for (metric, rejudged) in &compared {
        let params = policy.rules.metrics.get(metric).map(|rule| rule.params.clone()).unwrap_or_default();
        let drift = Drift::of(metric, rejudged, |verdict| is_bad(metric, &params, verdict), SEED);
        text::told(&mut out, &drift);
    }
    let faults = faults(&records);
    if !faults.is_empty() {
        let _ = writeln!(out, "\nnot judged: {}\n{}", count(faults.len(), "score"), faults.join("\n"));
        out.push_str("nothing was written, and nothing can be accepted before all is judged\n");
    } else if !repeated.is_empty() {
        let _ = writeln!(out, "\nnothing was written; {NEW_RUN}");
    } else if !rejudge.accept {
        out.push_str(
            "\nnothing was written; to compare later runs with these scores: cargo rageval baseline rejudge --accept",
        );
        out.push_str(" --reason WHY\n");
    }
    show(&out)?;
    let ending = match (faults.is_empty(), rejudge.accept) {
        (false, _) => Ending::Undecided,
        (true, false) => Ending::Pass,
        (true, true) => match accept(rejudge, &asking, &policy, (&earlier, &texts), (&answered, &records)) {
            None => Ending::Undecided,
            Some(accepted) => {
                let cases = count(accepted.baseline.cases.len(), "case");
                let changes =
                    replace(&path, Some(&earlier), accepted, rejudge.reason.as_deref(), &context.metrics(&[]))?;
                show(&format!("\n{}: {cases} accepted, as this judge scores them\n{changes}", path.display()))?;
                Ending::Pass
            }
        },
    };
    asking.tell_notices();
    Ok(ending)
}

fn show(text: &str) -> io::Result<()> {
    let mut stdout = crate::out::stdout();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

impl Answered<'_> {
    fn to_measure(&self) -> ToMeasure<'_> {
        ToMeasure { case: self.case, sample: self.sample.clone(), metrics: self.metrics.clone() }
    }
}

/// The cases whose scores of then or of now are of several answers, by the baseline or by the case as it stands. Cases that `--accept`
/// takes out of the baseline anyway are not among them.
fn repeated(set: &GoldenSet, earlier: &Kept) -> Vec<CaseId> {
    let is_reduced = |outcome: &Outcome| outcome.detail().is_some_and(|detail| detail.reduced.is_some());
    let is_repeated = |case: &&GoldenCase| {
        let before = earlier.cases.get(&case.id).filter(|before| before.digest == case.digest());
        before.is_some_and(|before| case.repeats.times > 1 || before.outcomes.values().any(is_reduced))
    };
    set.cases.iter().filter(is_repeated).map(|case| case.id.clone()).collect()
}

/// The answers that can be judged again: of cases whose content is that of then, and that are asked once.
fn answered<'a>(policy: &Policy, set: &'a GoldenSet, earlier: &'a Kept, answers: &Answers) -> Vec<Answered<'a>> {
    let of = |case: &'a GoldenCase| {
        let metrics = policy.rules.metrics_of(case).map(|(key, _)| key.clone()).filter(is_judged).collect();
        Some(Answered { case, sample: answers.sample_of(case)?, before: earlier.cases.get(&case.id)?, metrics })
    };
    let repeated = repeated(set, earlier);
    let found: Vec<Answered<'_>> =
        set.cases.iter().filter(|case| !repeated.contains(&case.id)).filter_map(of).collect();
    if found.iter().all(|answered| answered.metrics.is_empty()) { Vec::new() } else { found }
}

fn is_bad(metric: &MetricKey, params: &Params, verdict: Verdict) -> bool {
    match metric::find(metric.name()).and_then(|metric| metric.rereads()) {
        Some(reread) => reread.is_bad(params, verdict),
        None => verdict != Verdict::Supported,
    }
}

/// By metric, each answer with what both judges say. The claims of then are judged again where the new judge finds other ones.
fn compared(
    asking: &Asking,
    policy: &Policy,
    answered: &[Answered<'_>],
    records: &[Record],
) -> BTreeMap<MetricKey, Vec<Rejudged>> {
    let mut compared: BTreeMap<MetricKey, Vec<Rejudged>> = BTreeMap::new();
    let mut again: Vec<(&Answered<'_>, &MetricKey, &Outcome, usize)> = Vec::new();
    for (answered, record) in answered.iter().zip(records) {
        for key in &answered.metrics {
            let (Some(before), Some(now)) = (answered.before.outcomes.get(key), record.outcomes.get(key)) else {
                continue;
            };
            let rejudged = compared.entry(key.clone()).or_default();
            let claims = same_claims(before, now);
            let has_fixed_items = metric::find(key.name()).is_some_and(|metric| metric.rereads().is_some());
            let had_claims = before.detail().is_some_and(|detail| !detail.claims.is_empty());
            if claims.is_none() && has_fixed_items && had_claims && now.score().is_some() {
                again.push((answered, key, before, rejudged.len()));
            }
            rejudged.push(Rejudged {
                case: answered.case.id.clone(),
                before: before.clone(),
                now: now.clone(),
                claims: claims.unwrap_or_default(),
            });
        }
    }
    if !again.is_empty() {
        let of = policy.judge.provider.as_str();
        tell(&format!(
            "asking `{of}` about the claims of then where it finds others: {}",
            count(again.len(), "answer")
        ));
    }
    let read = asking.inner().each(again.iter().copied(), async |evaluation, (answered, key, before, _)| {
        evaluation.reread(answered.case, &answered.sample, key, before, 1).await.heard
    });
    let mut unheard: Vec<String> = Vec::new();
    for ((answered, key, before, at), heard) in again.into_iter().zip(read) {
        let verdicts = match heard {
            Heard::Verdicts { verdicts } => verdicts,
            Heard::Score { .. } => continue,
            Heard::Nothing { why } => {
                unheard.push(format!("  {}  {key}: {}", answered.case.id, shortened(&why, 2 * TEXT)));
                continue;
            }
        };
        let claims = before.detail().map_or(&[][..], |detail| &detail.claims);
        if let Some(rejudged) = compared.get_mut(key).and_then(|rejudged| rejudged.get_mut(at)) {
            rejudged.claims = claims.iter().cloned().zip(verdicts).collect();
        }
    }
    if let Some(first) = unheard.first() {
        tell(&format!("claims of {} are not compared:\n{first}", count(unheard.len(), "answer")));
    }
    compared
}

/// The claims of then with the verdicts of now, where both judges speak of the same ones.
fn same_claims(before: &Outcome, now: &Outcome) -> Option<Vec<(Claim, Verdict)>> {
    let (before, now) = (&before.detail()?.claims, &now.detail()?.claims);
    let are_same = before.len() == now.len() && before.iter().zip(now).all(|(one, other)| one.text == other.text);
    are_same.then(|| before.iter().cloned().zip(now.iter().map(|claim| claim.verdict)).collect())
}

fn named(judge: &JudgeStamp) -> String {
    format!("{} {} ({:.8})", judge.provider, judge.model, judge.fingerprint)
}

fn head(out: &mut String, path: &Path, earlier: &Kept, now: &JudgeStamp, answers: usize) {
    let before = &earlier.manifest.judge;
    let _ = writeln!(out, "{}: {} judged again", path.display(), count(answers, "answer"));
    let _ = writeln!(out, "  then  {}\n  now   {}", named(before), named(now));
    if before.fingerprint == now.fingerprint {
        out.push_str("  the fingerprints are equal: what differs is noise, or a model that changed behind its name\n");
    }
}

/// What is not compared, with a word each.
fn left_out(out: &mut String, set: &GoldenSet, earlier: &Kept, policy: &Policy) {
    let mut part = |count_of: usize, what: &str, which: String| {
        if count_of > 0 {
            let _ = writeln!(out, "left out: {} {what}: {which}", count(count_of, "case"));
        }
    };
    let vanished: Vec<CaseId> = earlier.cases.keys().filter(|id| set.get(id).is_none()).cloned().collect();
    let in_baseline = |case: &&GoldenCase| earlier.cases.get(&case.id);
    let changed: Vec<CaseId> = set
        .cases
        .iter()
        .filter(|case| in_baseline(case).is_some_and(|before| before.digest != case.digest()))
        .map(|case| case.id.clone())
        .collect();
    let new: Vec<CaseId> =
        set.cases.iter().filter(|case| in_baseline(case).is_none()).map(|case| case.id.clone()).collect();
    part(vanished.len(), "of the baseline vanished since", ids(&vanished));
    part(changed.len(), "changed since, compared as new", ids(&changed));
    part(new.len(), "of the set not in the baseline", ids(&new));
    let of_case = |case: &GoldenCase| policy.rules.metrics_of(case).map(|(key, _)| key.clone()).collect::<Vec<_>>();
    let judged_now: BTreeSet<MetricKey> = set.cases.iter().flat_map(of_case).collect();
    let judged_then: BTreeSet<&MetricKey> =
        earlier.cases.values().flat_map(|case| case.outcomes.keys()).filter(|key| is_judged(key)).collect();
    let gone: Vec<_> = judged_then.into_iter().filter(|key| !judged_now.contains(key)).collect();
    if !gone.is_empty() {
        let _ = writeln!(
            out,
            "left out: what thresholds.yaml does not judge any more, and what --accept takes out of the baseline: {}",
            listed(&gone, 200)
        );
    }
}

/// What could not be judged, one line each.
fn faults(records: &[Record]) -> Vec<String> {
    let of = |record: &Record| {
        let told = |(metric, fault): (Option<&MetricKey>, &rageval_runner::model::Unmeasured)| {
            let metric = metric.map(ToString::to_string).unwrap_or_default();
            format!("  {}  {metric}: {}: {}", record.case, fault.cause, shortened(&fault.why, 2 * TEXT))
        };
        record.faults().into_iter().map(told).collect::<Vec<_>>()
    };
    records.iter().flat_map(of).collect()
}

/// Why this judge can't be believed, by what is declared and waived here and today.
fn distrusted(policy: &Policy, stamp: &JudgeStamp) -> Option<Vec<String>> {
    // What the answers themselves said of their generator is not in the baseline; the next run looks at it.
    let generators = Generators { declared: policy.system.generator.clone(), told: None };
    let embedder = policy.embedder.as_ref().and_then(|embedder| embedder.provider.model());
    let refused = trust::check(stamp, &generators, embedder, &policy.trust, Context::today()).refused.concat();
    (!refused.is_empty()).then_some(refused)
}

/// The baseline as this judge scores it; `None` where it could not be read often enough.
fn accept(
    rejudge: &Rejudge,
    asking: &Asking,
    policy: &Policy,
    (earlier, texts): (&Kept, &baseline::Texts),
    (answered, records): (&[Answered<'_>], &[Record]),
) -> Option<Accepted> {
    let mut outcomes: BTreeMap<CaseId, BTreeMap<MetricKey, Outcome>> =
        records.iter().map(|record| (record.case.clone(), record.outcomes.clone())).collect();
    let mut readings = None;
    if !asking.judge().is_deterministic() {
        readings = Some(1);
        if !rejudge.no_reread {
            let mut scores = Vec::new();
            for (answered, record) in answered.iter().zip(records) {
                let is_asked =
                    |key: &MetricKey| asking.inner().evaluation().is_asked(answered.case, &answered.sample, key);
                let read = record.outcomes.iter().filter(|(key, first)| first.score().is_some() && is_asked(key));
                scores.extend(read.map(|(metric, first)| ReadFirst {
                    case: answered.case,
                    sample: &answered.sample,
                    metric,
                    first,
                    heard: &[],
                }));
            }
            let Settled { outcomes: settled, differing: _ } = readings::settled(asking, &scores)?;
            for ((case, metric), outcome) in settled {
                outcomes.entry(case).or_default().insert(metric, outcome);
            }
            readings = Some(3);
        }
    }
    let judged: BTreeSet<&MetricKey> = answered.iter().flat_map(|answered| &answered.metrics).collect();
    let versions = judged.iter().filter_map(|key| metric::find(key.name()));
    let versions = versions.map(|metric| (metric.name().to_owned(), metric.version())).collect();
    let parameters = policy.rules.parameters().into_iter().filter(|(key, _)| judged.contains(key)).collect();
    let later = Rejudging { judge: asking.stamp().clone(), outcomes, versions, parameters, readings };
    let (baseline, texts) = baseline::rejudged(earlier, texts, &later, is_judged);
    Some(Accepted { baseline, texts })
}
