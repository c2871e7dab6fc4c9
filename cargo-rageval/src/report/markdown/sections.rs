//! The parts of a comment, in the order in which a reader who has two minutes needs them.

mod overview;

use rageval_runner::{
    model::{
        Claim,
        run::{Decision, Finding, FindingKind},
    },
    report::console::text::{against, bar, score},
};

use self::overview::{against_baseline, asides, costs, metrics, populations, refusals, slices, tail};
use super::{
    fill::Section,
    inert::{block, code, row},
};
use crate::report::{Input, lowered::LoweredScore, view::CaseView, why};

/// Columns of an id or a name in a table.
const NAME: usize = 60;
/// Columns of a claim, or of its evidence.
const TEXT: usize = 160;

/// Every part, in its order.
pub(super) fn all(input: &Input<'_>) -> Vec<Section> {
    vec![
        set_up(input),
        red_cases(input),
        red_gates(input),
        lowered(input),
        metrics(input),
        against_baseline(input),
        tail(input),
        asides(input),
        refusals(input),
        costs(input),
        texts_of_cases(input),
        texts_of_gates(input),
        slices(input),
        populations(input),
    ]
}

/// Where the run came from.
pub(super) fn foot(input: &Input<'_>) -> String {
    let manifest = &input.view.run.manifest;
    let judge = format!("{} {}", manifest.judge.provider, manifest.judge.model);
    let revision = manifest.git_revision.as_deref().map(|revision| format!(" at {}", code(revision, 12)));
    let (run, rageval) = (code(&manifest.run_id, NAME), code(&manifest.rageval, 20));
    format!("Run {run}{}, judge {}, rageval {rageval}.\n", revision.unwrap_or_default(), code(judge.trim(), NAME))
}

fn is_of_scores(decision: &Decision) -> bool {
    decision.gate.is_some() || decision.statistic.is_some() && !decision.trial.starts_with("gate::calibration::")
}

/// What is wrong before any score: the set-up, the judge, the lock. It explains all that follows, so that it comes first, and whole.
fn set_up(input: &Input<'_>) -> Section {
    let decisions = input.view.red_gates.iter().filter(|decision| !is_of_scores(decision));
    Section {
        rank: 0,
        title: "Wrong before any score",
        rows: decisions.map(|decision| decision_block(decision)).collect(),
        what: "of these",
        ..Section::default()
    }
}

/// One row a case by its worst finding, the worst case first.
fn red_cases(input: &Input<'_>) -> Section {
    let cases = why::worst_first(input.view.red_cases());
    Section {
        rank: 1,
        title: "Red cases",
        head: "| Case | Metric | Score | Bar | Baseline | Change | Why |\n|---|---|--:|--:|--:|--:|---|\n".to_owned(),
        rows: cases.into_iter().map(case_row).collect(),
        what: "red cases",
        ..Section::default()
    }
}

fn case_row(case: &CaseView<'_>) -> String {
    let findings = why::red_findings(case);
    let snapshot = case.decision.and_then(|decision| decision.snapshot.as_ref());
    let [mut metric, mut shown, mut limit, mut baseline, mut change] = std::array::from_fn(|_| String::new());
    let mut told = Vec::new();
    if let Some(finding) = findings.first() {
        let before = finding.metric.as_ref().and_then(|metric| why::baseline(case, metric));
        metric = finding.metric.as_ref().map(|metric| code(&metric.to_string(), NAME)).unwrap_or_default();
        baseline = before.map(score).unwrap_or_default();
        // What was compared with the bar is shown in as many decimals as tell on which side it lies.
        match (finding.score, finding.bar, finding.baseline) {
            (Some(now), Some(least), None) => {
                (shown, limit) = (against(now, least), format!("min {}", bar(least)));
                change = before.map(|before| signed(score(now - before))).unwrap_or_default();
            }
            (Some(now), Some(most), Some(before)) => {
                (shown, limit) = (score(now), format!("max_drop {}", bar(most)));
                change = format!("-{}", against(before - now, most));
            }
            (now, ..) => shown = now.map(score).unwrap_or_default(),
        }
        told.push(why_of(case, finding));
    } else if let Some(snapshot) = snapshot {
        metric = "snapshot".to_owned();
        told.push(code(&snapshot.why, TEXT));
        told.extend(snapshot.diff.iter().take(2).map(|line| code(line, TEXT)));
    } else {
        told.extend(case.decision.map(|decision| code(&why::reason(decision), TEXT)));
    }
    // A word that is missing says less than the claim that stands in its place.
    let is_claimed =
        |finding: &&&Finding| finding.metric.as_ref().is_some_and(|key| why::failing_claim(case, key).is_some());
    let is_first = |finding: &Finding| findings.first().is_some_and(|first| std::ptr::eq(*first, finding));
    if let Some(finding) = findings.iter().find(is_claimed).filter(|finding| !is_first(finding)) {
        told.push(why_of(case, finding));
    }
    let others = findings.iter().skip(1).filter_map(|finding| Some(code(&finding.metric.as_ref()?.to_string(), NAME)));
    let snapshot = snapshot.filter(|_| !findings.is_empty()).map(|_| "snapshot".to_owned());
    let mut also: Vec<String> = others.chain(snapshot).filter(|other| *other != metric).collect();
    also.dedup();
    if !also.is_empty() {
        metric = format!("{metric}, also {}", also.join(", "));
    }
    row(&[name_of(case), metric, shown, limit, baseline, change, told.join("; ")])
}

/// `+0.10`, `-0.10`, `0.00`.
fn signed(number: String) -> String {
    if number.starts_with('-') || number == "0.00" { number } else { format!("+{number}") }
}

/// The claim that failed beside its evidence; what was missed; else the finding's own phrase.
fn why_of(case: &CaseView<'_>, finding: &Finding) -> String {
    let metric = finding.metric.as_ref().filter(|_| matches!(finding.kind, FindingKind::Min | FindingKind::MaxDrop));
    let Some(metric) = metric else { return code(&finding.text, TEXT) };
    if let Some(claim) = why::failing_claim(case, metric) {
        return claim_text(claim, case);
    }
    let detail = why::detail(case, metric);
    let missed = detail.and_then(|detail| detail.ranked.as_ref()).map(|ranked| &ranked.missed);
    if let Some(missed) = missed.filter(|missed| !missed.is_empty()) {
        let ids: Vec<String> = missed.iter().take(3).map(|id| code(id.as_str(), NAME)).collect();
        let more = missed.len() - ids.len();
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        return format!("missed {}{more}", ids.join(", "));
    }
    let shared = detail.and_then(|detail| detail.k_of_n).map(|(k, n)| format!("{k} of {n}"));
    let note = detail.and_then(|detail| detail.note.as_deref()).map(|note| code(note, TEXT));
    match note.or(shared) {
        Some(text) => text,
        None => answer_of(case),
    }
}

fn claim_text(claim: &Claim, case: &CaseView<'_>) -> String {
    let verdict = claim.verdict.as_str();
    let expected = case.golden.and_then(|golden| golden.references.first());
    let said = match (&claim.evidence, expected, &claim.reason) {
        (Some(evidence), ..) => {
            let id = evidence.id.as_ref().map(|id| format!("{} ", code(id.as_str(), NAME))).unwrap_or_default();
            format!("; evidence: {id}{}", code(&evidence.text, TEXT))
        }
        (None, Some(expected), _) => format!("; expected: {}", code(expected, TEXT)),
        (None, None, Some(reason)) => format!("; {}", code(reason, TEXT)),
        (None, None, None) => String::new(),
    };
    format!("**{verdict}:** {}{said}", code(&claim.text, TEXT))
}

/// The answer, where the score itself says no more.
fn answer_of(case: &CaseView<'_>) -> String {
    let answer = case.record.and_then(|record| record.sample()).map(|sample| &sample.answer.response);
    answer.map(|answer| format!("answer: {}", code(answer, TEXT))).unwrap_or_default()
}

/// A case by its id, and where it stands.
fn name_of(case: &CaseView<'_>) -> String {
    let place = case.golden.map(|golden| format!(" {}", code(&golden.place.to_string(), NAME))).unwrap_or_default();
    format!("{}{place}", code(case.id.as_str(), NAME))
}

/// Gates over scores that are red: those over the whole set first, since a slice often only repeats them.
fn red_gates(input: &Input<'_>) -> Section {
    let mut decisions: Vec<_> = input.view.red_gates.iter().filter(|decision| is_of_scores(decision)).collect();
    let is_of_slice = |decision: &Decision| decision.gate.as_ref().is_some_and(|gate| gate.slice.is_some());
    decisions.sort_by_key(|decision| is_of_slice(decision));
    let of = |decision: &Decision| {
        let name = decision.trial.strip_prefix("gate::").unwrap_or(&decision.trial);
        let n = decision.n.map(|n| n.to_string()).unwrap_or_default();
        row(&[code(name, NAME), code(&why::reason(decision), TEXT), n])
    };
    Section {
        rank: 2,
        title: "Red gates",
        head: "| Gate | Why | Cases |\n|---|---|--:|\n".to_owned(),
        rows: decisions.into_iter().map(|decision| of(decision)).collect(),
        what: "red gates",
        ..Section::default()
    }
}

/// What an accepted baseline lowered: a reviewer decides whether the reason holds.
fn lowered(input: &Input<'_>) -> Section {
    let of = |score: &LoweredScore<'_>| {
        row(&[
            code(score.case.as_str(), NAME),
            code(&score.metric.to_string(), NAME),
            score.before.map(self::score).unwrap_or_default(),
            score.now.map_or_else(|| "gone".to_owned(), self::score),
            score.reason.map_or_else(|| "**none given**".to_owned(), |reason| code(reason, TEXT)),
        ])
    };
    Section {
        rank: 3,
        title: match input.lowered.base {
            Some(_) => "Lowered by this branch's baseline",
            None => "Scores that the baseline lowered, by its own reasons",
        },
        is_folded: input.lowered.base.is_none(),
        head: "| Case | Metric | Before | Now | Reason |\n|---|---|--:|--:|---|\n".to_owned(),
        rows: input.lowered.scores.iter().map(of).collect(),
        what: "scores",
        ..Section::default()
    }
}

/// What each red case printed, folded.
fn texts_of_cases(input: &Input<'_>) -> Section {
    let cases = why::worst_first(input.view.red_cases());
    Section {
        rank: 9,
        title: "Texts of the red cases",
        is_folded: true,
        rows: cases.into_iter().filter_map(|case| Some(decision_block(case.decision?))).collect(),
        what: "cases",
        ..Section::default()
    }
}

fn texts_of_gates(input: &Input<'_>) -> Section {
    let decisions = input.view.red_gates.iter().filter(|decision| is_of_scores(decision));
    Section {
        rank: 10,
        title: "Texts of the red gates",
        is_folded: true,
        rows: decisions.map(|decision| decision_block(decision)).collect(),
        what: "gates",
        ..Section::default()
    }
}

/// The text of a decision with its name.
fn decision_block(decision: &Decision) -> String {
    format!("{}\n\n{}\n", code(&decision.trial, 200), block(decision.lines.iter().map(String::as_str)))
}
