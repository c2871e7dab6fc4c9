//! What is said of a judge that was held against people, or was not.

pub mod report;

use super::text::{against, bar, interval_text, line, shortened, visible, whole_line, whole_lines};
use crate::{
    model::{
        MetricKey,
        run::{Decision, JudgeStamp, Ruling},
    },
    stats::Interval,
    trust::{
        Date, Waivable, Waiver,
        calibration::{Bars, Differences, Looked, MIN_LABELS, MIN_SPEARMAN, Measured, Refusal, estimate},
    },
};

pub use report::report;

/// The command that holds the judge against the labels.
const AGAIN: &str = "hold it against people anew: cargo rageval calibrate";

/// The name of the trial that says whether the judge of a metric is believed.
pub fn trial(metric: &MetricKey) -> String {
    format!("gate::calibration::{metric}")
}

/// Decides whether the judge of a metric is believed on this day in UTC: it fails for whatever is refused unless a waiver holds, which is
/// named; it passes with the correlation, its interval and the number of items.
pub fn decision(metric: &MetricKey, looked: &Looked, bars: &Bars, waiver: Option<&Waiver>, today: Date) -> Decision {
    let Looked { measured, refusals } = looked;
    let pairs = measured.as_ref().map(Measured::pairs).unwrap_or_default();
    let rho = estimate::spearman(&pairs);
    let agreement = measured.as_ref().map(|measured| {
        let shown = rho.map_or("no correlation".to_owned(), |rho| {
            let interval = rho.interval.map(|(low, high)| format!(" {}", interval_text(&Interval { low, high })));
            format!("rho {}{}", against(rho.value, bars.min_spearman), interval.unwrap_or_default())
        });
        format!("{shown} over {} items, at least {}; {}", pairs.len(), bar(bars.min_spearman), name(&measured.judge))
    });
    let refused = refusals.first().map(|refusal| told(metric, refusal, bars).0);
    let (ruling, lines) = match (refused, waiver.filter(|waiver| waiver.holds_on(today))) {
        (None, _) => (Ruling::Pass, agreement.iter().map(|text| line("passed", text)).collect()),
        (Some(why), Some(waiver)) => {
            (Ruling::Pass, vec![whole_line("waived", &format!("{waiver}; without it: {why}"))])
        }
        (Some(_), None) => (Ruling::Fail, failed(metric, looked, bars, waiver, agreement.as_deref())),
    };
    Decision {
        statistic: rho.map(|rho| rho.value),
        threshold: Some(bars.min_spearman),
        n: measured.as_ref().map(|_| pairs.len()),
        ..Decision::told(trial(metric), ruling, lines)
    }
}

/// Why the judge of a metric is refused, a phrase each.
pub fn refusals(metric: &MetricKey, looked: &Looked, bars: &Bars) -> Vec<String> {
    looked.refusals.iter().map(|refusal| told(metric, refusal, bars).0).collect()
}

/// Every reason with what to do, then the agreement where there is any, then how to waive it.
fn failed(
    metric: &MetricKey,
    looked: &Looked,
    bars: &Bars,
    waiver: Option<&Waiver>,
    agreement: Option<&str>,
) -> Vec<String> {
    let mut lines = Vec::new();
    let mut todos: Vec<String> = Vec::new();
    for refusal in &looked.refusals {
        let (why, todo) = told(metric, refusal, bars);
        let mut said = vec![why];
        if !todos.contains(&todo) {
            said.push(todo.clone());
            todos.push(todo);
        }
        lines.extend(whole_lines("failed", &said));
    }
    lines.extend(agreement.map(|text| line("measured", text)));
    lines.push(whole_line(
        "",
        &match waiver {
            Some(waiver) => {
                format!("or waive it anew: the waiver at {} expired on {}", waiver.place, waiver.until)
            }
            None => format!(
                "or waive it in writing: `waive: {{{}: {{reason: WHY, until: YYYY-MM-DD}}}}`",
                Waivable::Calibration.as_str()
            ),
        },
    ));
    lines
}

/// What is wrong, and what to do.
pub fn told(metric: &MetricKey, refusal: &Refusal, bars: &Bars) -> (String, String) {
    let again = || AGAIN.to_owned();
    match refusal {
        Refusal::LowBar => (
            format!(
                "{}: `calibration` asks for {} labels and a correlation of {}, and less than {MIN_LABELS} or {} needs a waiver",
                bars.place,
                bars.min_labels,
                bar(bars.min_spearman),
                bar(MIN_SPEARMAN)
            ),
            "ask for as much or more".to_owned(),
        ),
        Refusal::Labels(why) => (
            format!("the labels can't be read: {}", visible(why)),
            "all that is wrong with them: cargo rageval calibrate".to_owned(),
        ),
        Refusal::Unreadable(why) => (format!("the calibration can't be read: {}", visible(why)), again()),
        Refusal::Missing { labelled } if *labelled >= bars.min_labels => (
            format!(
                "no calibration of {metric}: {labelled} items are labelled, and the judge was not held against them"
            ),
            "hold it against them: cargo rageval calibrate".to_owned(),
        ),
        Refusal::Missing { labelled } => (
            format!(
                "no calibration of {metric}: nobody knows whether its judge agrees with people; {labelled} items are labelled"
            ),
            format!("label at least {}: cargo rageval calibrate label; then: cargo rageval calibrate", bars.min_labels),
        ),
        Refusal::OtherJudge { calibrated, now } => (
            format!("another judge was held against people: {}; now {}", exact_name(calibrated), exact_name(now)),
            again(),
        ),
        Refusal::OtherLabels => (format!("the labels of {metric} are others than at its calibration"), again()),
        Refusal::OtherItems(differences) => {
            (format!("{FILE} does not hold the labels of {metric}: {}", differing(differences)), again())
        }
        Refusal::OtherSetVersion { labels, set } => {
            let todo = match set {
                Some(_) => "look whether they still fit, state its version in them, then: cargo rageval calibrate",
                None => "lock the cases, or take the version out of the labels, then: cargo rageval calibrate",
            };
            let set = set.as_ref().map_or("states no version".to_owned(), |set| format!("is at {}", visible(set)));
            (
                format!("the labels were drawn from version {} of the golden set, which {set}", visible(labels)),
                todo.to_owned(),
            )
        }
        Refusal::Unmeasured { items, of } => (
            format!("the judge gave no score on {items} of {of} labelled items"),
            "ask it again: cargo rageval calibrate".to_owned(),
        ),
        Refusal::NotApplicable { items, of } => (
            format!(
                "{items} of {of} labelled items are not applicable to the judge, more than a tenth: the correlation is over the others alone"
            ),
            "label items that the metric can measure in their place, then: cargo rageval calibrate".to_owned(),
        ),
        Refusal::TooFew { items, min } => (
            format!("{items} labelled items count, and it takes {min}"),
            "label more: cargo rageval calibrate label; then: cargo rageval calibrate".to_owned(),
        ),
        Refusal::ConstantJudge => (
            "the judge says the same of every item, whatever people say".to_owned(),
            "read the disagreements, then change the judge or its prompts: cargo rageval calibrate".to_owned(),
        ),
        Refusal::ConstantPeople => (
            "people say the same of every item, so that nothing tells a good judge from a bad one".to_owned(),
            "label items of all qualities: cargo rageval calibrate label".to_owned(),
        ),
        Refusal::Low { rho, min } => (
            format!("the judge's correlation with people is {}, below {}", against(*rho, *min), bar(*min)),
            "read the disagreements, then change the judge or its prompts: cargo rageval calibrate".to_owned(),
        ),
    }
}

/// The file of the calibration.
const FILE: &str = "baselines/calibration.json";

/// How its items differ from the labelled ones.
fn differing(differences: &Differences) -> String {
    let Differences { missing, added, changed, labelled } = differences;
    let are = |items: &[String]| if items.len() == 1 { "is" } else { "are" };
    let mut parts = Vec::new();
    if !missing.is_empty() {
        parts.push(format!(
            "{} of {labelled} labelled items {} missing: {}",
            missing.len(),
            are(missing),
            few(missing)
        ));
    }
    if !changed.is_empty() {
        let told = format!("{} {} not as labelled (people, weight, language, length)", changed.len(), are(changed));
        parts.push(format!("{told}: {}", few(changed)));
    }
    if !added.is_empty() {
        parts.push(format!("{} {} not labelled, or there twice: {}", added.len(), are(added), few(added)));
    }
    parts.join("; ")
}

/// The first three ids.
fn few(ids: &[String]) -> String {
    let shown: Vec<String> = ids.iter().take(3).map(|id| shortened(id, 40)).collect();
    match ids.len().saturating_sub(shown.len()) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Provider and model.
fn name(judge: &JudgeStamp) -> String {
    visible(&format!("{} {}", judge.provider, judge.model))
}

/// The same with the first digits of the fingerprint, by which two of one name are told apart; it covers the metric too.
fn exact_name(judge: &JudgeStamp) -> String {
    let fingerprint: String = judge.fingerprint.chars().take(8).collect();
    format!("{} (with this metric {fingerprint})", name(judge))
}

#[cfg(test)]
mod tests;
