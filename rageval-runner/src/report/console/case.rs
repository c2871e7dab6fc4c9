//! What a failing case prints.

use std::collections::BTreeSet;

use super::{
    repeats, shell,
    text::{
        COLUMNS, LABEL, accept_snapshots, against, bar, diff_line, line, lines_of, listed, run_alone, score, visible,
        whole_line,
    },
};
use crate::{
    gate::{
        Basis,
        case::{Bar, Broken, CaseFindings},
        noise,
    },
    model::{
        Claim, Detail, Ending, Expectation, GoldenCase, MetricKey, Ranked, Record, Sample, Unmeasured, Verdict,
        run::SnapshotFailure,
    },
    report::judged::{self, Judged},
};

/// Lines of a failing case.
pub const MOST_LINES: usize = 15;

/// Lines that an answer or a reference takes where there is room.
const MOST_TEXT_LINES: usize = 3;

/// Columns left of the label.
const TEXT: usize = COLUMNS - LABEL;

/// What a red case prints: what was asked, what came back, what was expected, what broke and why, where the case stands, how to look closer, how to accept.
pub fn lines(
    case: &GoldenCase,
    record: &Record,
    findings: &CaseFindings,
    snapshot: Option<&SnapshotFailure>,
    basis: &Basis<'_>,
) -> Vec<String> {
    if let Some(told) = told_by_set_up(findings, snapshot) {
        return vec![told];
    }
    let head = [line("case", &format!("{}, {}", case.place, case.id)), line("question", &case.query)];
    let repeats::Seen { record: seen, mark } = repeats::seen(record, findings);
    let answer = seen.sample().map(|sample| mark + &answer_text(sample));
    let expected = expected_text(case);
    let mut foot = vec![whole_line("look", &run_alone(basis.target, &case.trial_name()))];
    foot.extend(accept_lines(case, findings, snapshot, basis));
    let room = MOST_LINES - head.len() - usize::from(answer.is_some()) - 1 - foot.len();

    let mut failed = fault_lines(findings);
    failed.extend(snapshot.map(|snapshot| line("snapshot", &snapshot.why)));
    failed.extend(findings.failed.iter().map(|broken| line("failed", &broken_text(broken, record))));
    failed.extend(repeats::lines(record, findings));
    failed.extend(reading_lines(record, findings));
    for (metric, why) in &findings.undecided {
        failed.push(line("undecided", &format!("max_drop of {metric}: {}", why.why())));
        failed.extend(why.difference().map(|[now, before]| line("", &format!("{now}, {before}"))));
    }
    let evidence = evidence_lines(case, &seen, findings, snapshot);
    // The evidence keeps up to half of the room, since a score alone explains nothing.
    let for_failed = room - evidence.len().min(room / 2);
    let mut body = at_most(failed, for_failed, "failed");
    let for_evidence = room - body.len();
    body.extend(evidence_at_most(evidence, for_evidence, case));
    // What room is left goes to the answer, then to what was expected.
    let spare = room - body.len();
    let answer = answer.map(|answer| lines_of("answer", &answer, (1 + spare).min(MOST_TEXT_LINES))).unwrap_or_default();
    let spare = spare.saturating_sub(answer.len().saturating_sub(1));
    let expected = lines_of("expected", &expected, (1 + spare).min(MOST_TEXT_LINES));
    head.into_iter().chain(answer).chain(expected).chain(body).chain(foot).collect()
}

/// The one line of a case that nothing is wrong with but the missing key of the judge, which `gate::setup` tells at length.
fn told_by_set_up(findings: &CaseFindings, snapshot: Option<&SnapshotFailure>) -> Option<String> {
    let CaseFindings { failed, faults, undecided, warned: _, known: _, recovered: _ } = findings;
    let (_, first) = faults.first()?;
    let is_all = failed.is_empty() && undecided.is_empty() && snapshot.is_none();
    let is_key = |(_, fault): &(_, Unmeasured)| fault.cause == Ending::NoKey.cause();
    (is_all && faults.iter().all(is_key)).then(|| whole_line("unmeasured", &format!("{}: {}", first.cause, first.why)))
}

/// What is worth a line in the summary though the case may pass: rules that warn, known failures, recoveries, what is unmeasured and allowed.
pub fn notices(case: &GoldenCase, findings: &CaseFindings, basis: &Basis<'_>) -> Vec<String> {
    let id = visible(case.id.as_str());
    let mut notices: Vec<String> =
        findings.warned.iter().map(|broken| format!("warning: {id}: {}", bar_text(broken))).collect();
    if let Some(known) = &case.known_failure {
        let reason = visible(&known.reason);
        if findings.known.is_empty() {
            if !findings.recovered.is_empty() {
                let place = visible(&case.place.to_string());
                notices.push(format!("no longer fails: {id}; remove its `known_failure` at {place}"));
            }
        } else {
            let broken: Vec<String> = findings.known.iter().map(bar_text).collect();
            notices.push(format!("known failure: {id}: {}: {reason}", broken.join("; ")));
        }
    }
    if basis.rules.max_unmeasured > 0 {
        notices.extend(findings.faults.iter().map(|(metric, fault)| {
            let of = metric.as_ref().map(|metric| format!("{metric}: ")).unwrap_or_default();
            format!("unmeasured: {id}: {of}{}", visible(&fault.cause))
        }));
    }
    notices
}

/// The lines, the last one replaced by a count where there are too many.
fn at_most(mut lines: Vec<String>, most: usize, label: &str) -> Vec<String> {
    if lines.len() > most && most > 0 {
        let left_out = lines.len() - (most - 1);
        lines.truncate(most - 1);
        lines.push(line(label, &format!("and {left_out} more")));
    }
    lines
}

/// The same for evidence, where the last line says how the rest is read.
fn evidence_at_most(mut lines: Vec<String>, most: usize, case: &GoldenCase) -> Vec<String> {
    if lines.len() > most && most > 0 {
        let left_out = lines.len() - (most - 1);
        lines.truncate(most - 1);
        let id = shell::word(case.id.as_str());
        lines.push(whole_line("", &format!("and {left_out} more lines: cargo rageval explain {id}")));
    }
    lines
}

fn answer_text(sample: &Sample) -> String {
    if sample.is_blank() {
        "(blank)".to_owned()
    } else if sample.is_refusal {
        format!("(a refusal) {}", sample.answer.response)
    } else {
        sample.answer.response.clone()
    }
}

fn expected_text(case: &GoldenCase) -> String {
    match (case.expectation, case.references.first()) {
        (Expectation::Refuse, _) => "(a refusal: should_refuse is true)".to_owned(),
        (Expectation::Answer, Some(reference)) => reference.clone(),
        (Expectation::Answer, None) => match listed_documents(case) {
            documents if documents.is_empty() => "(an answer; the case has no reference)".to_owned(),
            documents => format!("(an answer from {documents})"),
        },
    }
}

fn listed_documents(case: &GoldenCase) -> String {
    let ids: Vec<&str> = case.relevant_documents().map(|judgement| judgement.id.as_str()).collect();
    listed(&ids, 60)
}

fn fault_lines(findings: &CaseFindings) -> Vec<String> {
    // What to do often stands at the end of the cause, so a few of them are shown whole.
    let most = if findings.faults.len() <= 2 { 3 } else { 1 };
    findings
        .faults
        .iter()
        .flat_map(|(metric, fault)| {
            let of = metric.as_ref().map(|metric| format!("{metric}: ")).unwrap_or_default();
            lines_of("unmeasured", &format!("{of}{}: {}", fault.cause, fault.why), most)
        })
        .collect()
}

/// A broken rule in numbers: `faithfulness 0.50, min 0.80`.
pub fn bar_text(broken: &Broken) -> String {
    let Broken { metric, score: value, bar: broken_bar } = broken;
    match broken_bar {
        Bar::Min(min) => format!("{metric} {}, min {}", against(*value, *min), bar(*min)),
        Bar::MaxDrop { baseline, max_drop } => format!(
            "{metric} {}, baseline {}: dropped by {}, max_drop {}",
            score(*value),
            score(*baseline),
            against(baseline - value, *max_drop),
            bar(*max_drop)
        ),
    }
}

/// A broken rule in numbers, with what the metric says of it.
pub(super) fn broken_text(broken: &Broken, record: &Record) -> String {
    let mut text = bar_text(broken);
    let outcome = record.settled(&broken.metric);
    if let Some(crate::model::Outcome::Scored { score, detail }) = outcome {
        let mut remarks = Vec::new();
        remarks.extend(detail.k_of_n.map(|(k, n)| format!("{k} of {n}")));
        remarks.extend(score.raw.map(|raw| format!("measured {raw}")));
        remarks.extend(detail.note.clone());
        // The votes have a line of their own.
        let remark = noise::remark(record, &broken.metric);
        remarks.extend(remark.and_then(|remark| remark.split(": ").next().map(str::to_owned)));
        if !remarks.is_empty() {
            text = format!("{text} ({})", remarks.join("; "));
        }
    }
    text
}

/// What further readings say of the broken rules: the votes, or why there are none.
fn reading_lines(record: &Record, findings: &CaseFindings) -> Vec<String> {
    let metrics: BTreeSet<_> = findings.failed.iter().map(|broken| &broken.metric).collect();
    let of = |metric: &MetricKey| if metrics.len() > 1 { format!("{metric}: ") } else { String::new() };
    let remarks = metrics.iter().filter_map(|metric| Some(format!("{}{}", of(metric), noise::remark(record, metric)?)));
    remarks.flat_map(|remark| lines_of("readings", &remark, 2)).collect()
}

/// The claims that failed with their nearest evidence, the documents that were missed with what stood in their place, and the difference of the snapshot.
fn evidence_lines<'r>(
    case: &GoldenCase,
    record: &'r Record,
    findings: &'r CaseFindings,
    snapshot: Option<&SnapshotFailure>,
) -> Vec<String> {
    let mut lines = Vec::new();
    let metrics: BTreeSet<&'r MetricKey> = findings.failed.iter().map(|broken| &broken.metric).collect();
    let detail_of = |metric: &&'r MetricKey| Some((*metric, record.settled(metric)?.detail()?));
    let details: Vec<(&MetricKey, &Detail)> = metrics.iter().filter_map(detail_of).collect();
    lines.extend(missed_lines(case, record, &details));
    for Failing { judged, words, text, claim } in failing_claims(&details) {
        lines.push(line(judged.noun(), &format!("{words}: {text}")));
        if let Some(evidence) = &claim.evidence {
            let id = evidence.id.as_ref().map(|id| format!("[{id}] ")).unwrap_or_default();
            lines.push(line("evidence", &format!("{id}{}", evidence.text)));
        } else if let Some(reason) = &claim.reason {
            lines.push(line("reason", reason));
        }
    }
    lines.extend(snapshot.iter().flat_map(|snapshot| &snapshot.diff).map(|difference| diff_line(difference)));
    lines
}

/// What failed, with the words for it.
struct Failing<'r> {
    judged: Judged,
    words: &'static str,
    text: &'r str,
    claim: &'r Claim,
}

/// What failed of these metrics, once each: claims of the answer before contexts and sentences of the reference, contradicted before unsupported.
fn failing_claims<'r>(details: &[(&MetricKey, &'r Detail)]) -> Vec<Failing<'r>> {
    let mut claims: Vec<Failing<'_>> = Vec::new();
    for (metric, detail) in details {
        for claim in detail.claims.iter().filter(|claim| judged::is_failing(claim.verdict)) {
            let (judged, text) = Judged::of(claim, metric);
            let words = judged.verdict(claim.verdict, metric);
            if !claims.iter().any(|other| (other.judged, other.words, other.text) == (judged, words, text)) {
                claims.push(Failing { judged, words, text, claim });
            }
        }
    }
    claims.sort_by_key(|one| (one.judged != Judged::Answer, one.claim.verdict != Verdict::Contradicted));
    claims
}

/// Relevant documents that were not found within the cut-off, and what stood in the first ranks.
fn missed_lines(case: &GoldenCase, record: &Record, details: &[(&MetricKey, &Detail)]) -> Vec<String> {
    let mut rankings: Vec<&Ranked> = details.iter().filter_map(|(_, detail)| detail.ranked.as_ref()).collect();
    if rankings.is_empty() && !details.is_empty() {
        // Where only the answer is wrong, a document that was not even found under the widest cut-off may be why.
        let all = record.outcomes.values().filter_map(|outcome| outcome.detail()?.ranked.as_ref());
        rankings.extend(all.min_by_key(|ranked| ranked.missed.len()));
    }
    let mut missed = Vec::new();
    for id in rankings.into_iter().flat_map(|ranked| &ranked.missed) {
        if !missed.contains(&id) {
            missed.push(id);
        }
    }
    let Some(sample) = record.sample() else { return Vec::new() };
    if missed.is_empty() {
        return Vec::new();
    }
    let retrieved = &sample.answer.retrieved_contexts;
    let missed: Vec<String> = missed
        .into_iter()
        .map(|id| match retrieved.iter().position(|context| context.id.as_ref() == Some(id)) {
            Some(place) => format!("{id} (at rank {})", place + 1),
            None => id.to_string(),
        })
        .collect();
    let relevant: BTreeSet<_> = case.relevant_documents().map(|judgement| &judgement.id).collect();
    let instead: Vec<String> = retrieved
        .iter()
        .enumerate()
        .filter(|(_, context)| context.id.as_ref().is_none_or(|id| !relevant.contains(id)))
        .take(3)
        .map(|(place, context)| match &context.id {
            Some(id) => format!("{} {id}", place + 1),
            None => format!("{} (no id)", place + 1),
        })
        .collect();
    let instead = match (retrieved.is_empty(), instead.is_empty()) {
        (true, _) => "nothing was retrieved".to_owned(),
        (false, true) => "nothing else was retrieved".to_owned(),
        (false, false) => listed(&instead, TEXT),
    };
    vec![line("missed", &listed(&missed, TEXT)), line("instead", &instead)]
}

/// How to accept what came back; nothing accepts what is unmeasured.
fn accept_lines(
    case: &GoldenCase,
    findings: &CaseFindings,
    snapshot: Option<&SnapshotFailure>,
    basis: &Basis<'_>,
) -> Vec<String> {
    let mut lines = Vec::new();
    if snapshot.is_some() {
        lines.push(line("accept", accept_snapshots(basis.target)));
    }
    let is_drop = |broken: &&Broken| matches!(broken.bar, Bar::MaxDrop { .. });
    if findings.failed.iter().any(|broken| is_drop(&broken)) {
        lines.push(line("accept", "cargo rageval baseline accept --reason WHY"));
    } else if let Some((_, why)) = findings.undecided.first() {
        lines.push(line("accept", why.accept()));
    }
    let below_min: Vec<&Broken> = findings.failed.iter().filter(|broken| !is_drop(broken)).collect();
    if !below_min.is_empty() {
        lines.push(whole_line("accept", &format!("{} at {}", accept_below_min(&below_min, findings), case.place)));
    }
    lines
}

/// What to write for scores below `min`, every metric named: one that is left out keeps the case red.
fn accept_below_min(below_min: &[&Broken], findings: &CaseFindings) -> String {
    let lowered = |broken: &Broken| (broken.score * 100.0).floor() / 100.0;
    // A bar of 0 would be none.
    if below_min.iter().all(|broken| lowered(broken) > 0.0) {
        let bars: Vec<String> =
            below_min.iter().map(|broken| format!("{}: {{min: {}}}", broken.metric, lowered(broken))).collect();
        return format!("thresholds: {{{}}} or known_failure", bars.join(", "));
    }
    // A known failure excuses a drop of its metric too, so that what dropped is named as well; and a case has one, so that what it holds already stays.
    let broken = findings.failed.iter().chain(&findings.known);
    let metrics: BTreeSet<String> = broken.map(|broken| broken.metric.to_string()).collect();
    let metrics: Vec<String> = metrics.into_iter().collect();
    format!("known_failure: {{metrics: [{}], reason: WHY}}", metrics.join(", "))
}

#[cfg(test)]
mod tests;
