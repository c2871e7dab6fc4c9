//! The parts of a comment, in the order in which a reader who has two minutes needs them.

mod overview;

use std::collections::BTreeMap;

use rageval_runner::{
    model::{
        Claim, DocId, MetricKey, Record,
        run::{Conclusion, Decision, Finding},
    },
    report::{
        console::text::{RED_TEXTS, against, bar, score},
        worst,
    },
};

use self::overview::{against_baseline, asides, costs, metrics, populations, refusals, slices, tail};
use super::{
    fill::{Room, Section},
    inert::{block, code, row},
};
use crate::report::{
    Input,
    claims::{self, Beside, Judged, ShownClaim},
    lowered::LoweredScore,
    view::CaseView,
    why,
};

/// Columns of an id or a name in a table.
const NAME: usize = 60;
/// Columns of a claim, or of its evidence.
const TEXT: usize = 160;
/// Further rules that a red case breaks and that are named.
const ALSO: usize = 2;
/// Columns of a command.
const COMMAND: usize = 400;
/// Columns of why a case is red where it has one line.
const LINE: usize = 90;

/// Every part, in its order.
pub(super) fn all(input: &Input<'_>, room: Room) -> Vec<Section> {
    let [gates, more_gates] = red_gates(input);
    let worst = why::worst_first(input.view.red_cases());
    // A fold for one or two would be more to read than they are.
    let in_full = if worst.len() <= room.worst + 2 { worst.len() } else { room.worst };
    let (worst, others) = worst.split_at(in_full);
    // Against the base branch it is about this change; by the baseline's own reasons it may be old.
    let is_of_branch = input.lowered.base.is_some();
    let of_branch = if is_of_branch { lowered(input) } else { Section::default() };
    let of_reasons = if is_of_branch { Section::default() } else { lowered(input) };
    vec![
        set_up(input),
        gates,
        more_gates,
        red_cases(worst, others.len()),
        other_cases(input, others, room),
        of_branch,
        metrics(input),
        of_reasons,
        against_baseline(input),
        tail(input),
        asides(input),
        refusals(input),
        costs(input),
        texts_of_cases(input, &worst[..worst.len().min(room.texts)]),
        texts_of_gates(input, room),
        slices(input),
        populations(input, room.rows),
    ]
}

/// How the run is looked into from elsewhere, and where it came from.
pub(super) fn foot(input: &Input<'_>) -> String {
    let help = match input.view.conclusion {
        Conclusion::Pass => String::new(),
        Conclusion::Fail | Conclusion::Undecided => {
            format!("What a red text means, and what to do: [My gate is red]({RED_TEXTS}).\n\n")
        }
    };
    format!("{help}{}\n{}", look(input), origin(input))
}

/// How a reader has the run: the report's commands name it.
fn look(input: &Input<'_>) -> String {
    let reach = &input.reach;
    let report = |format: &str| code(&format!("cargo rageval report {} --format {format}", reach.run()), COMMAND);
    let Some(name) = reach.artifact() else {
        return format!(
            "To look into this run elsewhere: fetch its folder from what the build kept, and name it in place of `RUN`: {}.\n",
            report("html")
        );
    };
    let page = code(&format!("{name}/report.html"), COMMAND);
    let fetch = match reach.fetch() {
        Some(fetch) => format!("{} fetches it", code(&fetch, COMMAND)),
        None => format!("download this build's artifact {} into a folder of that name", code(name, COMMAND)),
    };
    format!("To look into this run: {fetch}; then open {page}, or {}.\n", report("text"))
}

fn origin(input: &Input<'_>) -> String {
    let manifest = &input.view.run.manifest;
    let judge = format!("{} {}", manifest.judge.provider, manifest.judge.model);
    let revision = manifest.git_revision.as_deref().map(|revision| format!(" at {}", code(revision, 12)));
    let (run, rageval) = (code(&manifest.run_id, NAME), code(&manifest.rageval, 20));
    format!("Run {run}{}, judge {}, rageval {rageval}.\n", revision.unwrap_or_default(), code(judge.trim(), NAME))
}

/// What is wrong before any score: the set-up, the judge, the lock. It explains all that follows, so that it comes first, and whole.
fn set_up(input: &Input<'_>) -> Section {
    let decisions = input.view.red_gates.iter().filter(|decision| !worst::is_of_scores(decision));
    Section {
        rank: 0,
        title: "Wrong before any score",
        rows: decisions.map(|decision| decision_block(input, decision)).collect(),
        what: "of these",
        ..Section::default()
    }
}

/// One row a case by its worst finding, the worst case first.
fn red_cases(worst: &[&CaseView<'_>], others: usize) -> Section {
    Section {
        rank: 1,
        title: if others == 0 { "Red cases" } else { "Red cases, the worst first" },
        head: "| Case | Metric | Score, bar | Baseline, change | Why |\n|---|---|---|---|---|\n".to_owned(),
        rows: worst.iter().map(|case| case_row(case)).collect(),
        most: Some(worst.len()),
        what: "red cases",
        ..Section::default()
    }
}

/// The red cases that are not among the worst, a short line each, folded.
fn other_cases(input: &Input<'_>, others: &[&CaseView<'_>], room: Room) -> Section {
    let of = |case: &&CaseView<'_>| {
        let worst = why::red_findings(case).first().map(|finding| finding.text.clone());
        let why = worst.or_else(|| case.decision.map(why::reason)).map(|why| code(&why, LINE)).unwrap_or_default();
        row(&[name_of(case), why])
    };
    Section {
        rank: 6,
        title: "The other red cases, a line each",
        is_folded: true,
        head: "| Case | Why |\n|---|---|\n".to_owned(),
        rows: others.iter().map(of).collect(),
        most: Some(room.others),
        what: "red cases",
        then: format!(": {}", code(&format!("cargo rageval report {} --format text", input.reach.run()), COMMAND)),
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
        told.extend(reasons(case, finding));
    } else if let Some(snapshot) = snapshot {
        metric = "snapshot".to_owned();
        told.push(code(&snapshot.why, TEXT));
        told.extend(snapshot.diff.iter().take(2).map(|line| code(line, TEXT)));
    } else {
        told.extend(case.decision.map(|decision| code(&why::reason(decision), TEXT)));
    }
    told.retain(|text| !text.is_empty());
    let others = findings.iter().skip(1).filter_map(|finding| Some(code(&finding.metric.as_ref()?.to_string(), NAME)));
    let snapshot = snapshot.filter(|_| !findings.is_empty()).map(|_| "snapshot".to_owned());
    let mut also: Vec<String> = others.chain(snapshot).filter(|other| *other != metric).collect();
    also.dedup();
    let more = also.len().saturating_sub(ALSO);
    also.truncate(ALSO);
    if !also.is_empty() {
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        metric = format!("{metric}, also {}{more}", also.join(", "));
    }
    // Few columns, so that the last one, which says why, has room beside the others on a page of GitHub's width.
    let both = |one: String, other: String| match (one.is_empty(), other.is_empty()) {
        (_, true) => one,
        (true, false) => other,
        (false, false) => format!("{one}, {other}"),
    };
    row(&[name_of(case), metric, both(shown, limit), both(baseline, change), told.join("; ")])
}

/// `+0.10`, `-0.10`, `0.00`.
fn signed(number: String) -> String {
    if number.starts_with('-') || number == "0.00" { number } else { format!("+{number}") }
}

/// Why a case is red: what its answer said that does not hold, then what the worst finding tells; else what it answered.
fn reasons(case: &CaseView<'_>, worst: &Finding) -> Vec<String> {
    let claimed = why::claim_of_answer(case);
    let of_answer = claimed.map(|(metric, claim)| claim_text(claim, metric, case));
    let is_told = claimed.is_some_and(|(metric, _)| worst.metric.as_ref() == Some(metric));
    let own = (!is_told).then(|| why_of(case, worst));
    // Without a claim of it, the answer itself is the evidence.
    let answer = answer_of(case).filter(|_| claimed.is_none() && worst.score.is_some());
    of_answer.into_iter().chain(own).chain(answer).collect()
}

/// The claim that failed; what was missed; else the finding's own phrase.
fn why_of(case: &CaseView<'_>, finding: &Finding) -> String {
    let Some(metric) = finding.metric.as_ref().filter(|_| why::is_of_score(finding)) else {
        return code(&finding.text, TEXT);
    };
    let is_refusal = case.record.and_then(Record::sample).is_some_and(|sample| sample.is_refusal);
    let claim = why::failing_claim(case, metric);
    if let Some(claim) = claim.filter(|claim| !is_refusal || Judged::of(claim, metric).0 != Judged::Answer) {
        return claim_text(claim, metric, case);
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
    note.or(shared).unwrap_or_default()
}

/// A failing claim in words that say whose it is; one of the answer beside its evidence.
fn claim_text(claim: &Claim, metric: &MetricKey, case: &CaseView<'_>) -> String {
    let reason = claim.reason.as_ref().map(|reason| format!("; {}", code(reason, TEXT)));
    let (judged, said) = Judged::of(claim, metric);
    let (words, said) = (judged.verdict(claim.verdict, metric), code(said, TEXT));
    match judged {
        Judged::Answer => format!("**{words}:** {said}{}", beside(claim, metric, case)),
        Judged::Context => format!("{words}: {said}{}", reason.unwrap_or_default()),
        Judged::Retrieved | Judged::Reference => format!("{words}: {said}"),
    }
}

/// What the judge names, else the nearest of what was retrieved, else what was expected, else the judge's reason.
fn beside(claim: &Claim, metric: &MetricKey, case: &CaseView<'_>) -> String {
    let sample = case.record.and_then(Record::sample);
    let named = |what: &str, id: Option<&DocId>, text: &str| {
        let id = id.map(|id| format!("{} ", code(id.as_str(), NAME))).unwrap_or_default();
        format!("; {what}: {id}{}", code(text, TEXT))
    };
    match ShownClaim::of(claim, metric, sample, claims::language(case)).beside {
        Beside::Named { id, text } => named("evidence", id, text),
        Beside::Nearest { id, text, .. } => named("nearest", id, text),
        Beside::Nothing | Beside::NotSought => {
            let expected = case.golden.and_then(|golden| golden.references.first());
            let expected = expected.map(|expected| named("expected", None, expected));
            let reason = || claim.reason.as_ref().map(|reason| format!("; {}", code(reason, TEXT)));
            expected.or_else(reason).unwrap_or_default()
        }
    }
}

/// How the answer or the refusal begins, where the system gave one.
fn answer_of(case: &CaseView<'_>) -> Option<String> {
    let sample = case.record?.sample()?;
    let did = if sample.is_refusal { "declined" } else { "answered" };
    Some(format!("{did}: {}", code(&sample.answer.response, TEXT)))
}

/// A case by its id, and where it stands.
fn name_of(case: &CaseView<'_>) -> String {
    let place = case.golden.map(|golden| format!(" {}", code(&golden.place.to_string(), NAME))).unwrap_or_default();
    format!("{}{place}", code(case.id.as_str(), NAME))
}

/// Red gates that are shown at once; the rest is folded.
const GATES: usize = 8;

/// Red gates over scores, the worst first.
fn red_gates_in_order<'r>(input: &Input<'r>) -> Vec<&'r Decision> {
    input.view.red_gates.iter().copied().filter(|decision| worst::is_of_scores(decision)).collect()
}

/// Gates over scores that are red: those over the whole set first, since a slice often only repeats them. The first few, then the rest, folded.
fn red_gates(input: &Input<'_>) -> [Section; 2] {
    let of = |decision: &Decision| {
        let name = decision.trial.strip_prefix("gate::").unwrap_or(&decision.trial);
        let n = decision.n.map(|n| n.to_string()).unwrap_or_default();
        row(&[code(name, NAME), code(&why::reason(decision), TEXT), n])
    };
    let mut rows: Vec<String> = red_gates_in_order(input).into_iter().map(of).collect();
    let rest = rows.split_off(rows.len().min(GATES));
    let section = |rank, title, rows| Section {
        rank,
        title,
        head: "| Gate | Why | Cases |\n|---|---|--:|\n".to_owned(),
        rows,
        what: "red gates",
        ..Section::default()
    };
    // A gate has a short line, and says more than one case.
    [section(1, "Red gates", rows), Section { is_folded: true, ..section(9, "More red gates", rest) }]
}

/// Scores of one reason that are named.
const SCORES: usize = 10;

/// What an accepted baseline lowered, by reason: a reviewer decides whether the reason holds. Those without one come first.
fn lowered(input: &Input<'_>) -> Section {
    let mut groups: BTreeMap<Option<&str>, Vec<&LoweredScore<'_>>> = BTreeMap::new();
    for score in &input.lowered.scores {
        groups.entry(score.reason).or_default().push(score);
    }
    let named = |score: &&LoweredScore<'_>| {
        let before = score.before.map(|before| format!("{} → ", self::score(before))).unwrap_or_default();
        let now = score.now.map_or_else(|| "gone".to_owned(), self::score);
        format!("{} {} {before}{now}", code(score.case.as_str(), NAME), code(&score.metric.to_string(), NAME))
    };
    let of = |(reason, scores): (&Option<&str>, &Vec<&LoweredScore<'_>>)| {
        let shown: Vec<String> = scores.iter().take(SCORES).map(named).collect();
        let more = scores.len() - shown.len();
        let more = if more == 0 { String::new() } else { format!("; and {more} more") };
        let reason = reason.map_or_else(|| "**none given**".to_owned(), |reason| code(reason, TEXT));
        row(&[reason, scores.len().to_string(), format!("{}{more}", shown.join("; "))])
    };
    Section {
        rank: if input.lowered.base.is_some() { 2 } else { 10 },
        title: match input.lowered.base {
            Some(_) => "Lowered by this branch's baseline",
            None => "Scores that the baseline lowered, by its own reasons",
        },
        is_folded: input.lowered.base.is_none(),
        head: "| Reason | Scores | Which |\n|---|--:|---|\n".to_owned(),
        rows: groups.iter().map(of).collect(),
        what: "reasons",
        ..Section::default()
    }
}

/// What each of the worst cases printed, folded.
fn texts_of_cases(input: &Input<'_>, worst: &[&CaseView<'_>]) -> Section {
    Section {
        rank: 7,
        title: "What the worst of them printed",
        is_folded: true,
        rows: worst.iter().filter_map(|case| Some(decision_block(input, case.decision?))).collect(),
        most: Some(worst.len()),
        what: "texts of cases",
        ..Section::default()
    }
}

/// What the gates printed that are shown at once, folded.
fn texts_of_gates(input: &Input<'_>, room: Room) -> Section {
    let mut decisions = red_gates_in_order(input);
    decisions.truncate(room.texts);
    Section {
        rank: 11,
        title: "What the first gates printed",
        is_folded: true,
        rows: decisions.into_iter().map(|decision| decision_block(input, decision)).collect(),
        what: "texts of gates",
        ..Section::default()
    }
}

/// The text of a decision with its name.
fn decision_block(input: &Input<'_>, decision: &Decision) -> String {
    let lines: Vec<_> = decision.lines.iter().map(|line| input.reach.line(line)).collect();
    format!("{}\n\n{}\n", code(&decision.trial, 200), block(lines.iter().map(|line| &**line)))
}
