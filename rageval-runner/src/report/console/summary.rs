//! What a run prints at its end.

use std::collections::BTreeMap;

use super::{
    case::bar_text,
    text::{COLUMNS, LABEL, line, listed, whole_line},
};
use crate::{
    gate::{
        Basis, Population,
        case::{Bar, Broken, CaseFindings, case_findings},
        tally,
    },
    model::{
        CaseId, GoldenCase, GoldenSet, Record,
        run::{Decision, Ruling},
    },
};

/// Lines of a summary.
pub const MOST_LINES: usize = 12;

/// Worst scores that a summary names.
const MOST_WORST: usize = 5;

/// All that a summary is made from.
#[derive(Debug, Clone, Copy)]
pub struct Summary<'a> {
    /// What was decided.
    pub decisions: &'a [Decision],
    /// The golden set.
    pub set: &'a GoldenSet,
    /// The records.
    pub records: &'a BTreeMap<CaseId, Record>,
    /// What it was decided by.
    pub basis: Basis<'a>,
    /// The set against the baseline, where there is one.
    pub population: Option<&'a Population>,
    /// Notices of the run itself, without a label: `no regression.baseline: nothing is compared`.
    pub notices: &'a [String],
    /// Where the run is kept.
    pub run: &'a str,
}

/// The lines after the test runner's own summary, at most [`MOST_LINES`]: counts, causes, the worst scores, known failures, notices, where the run is.
pub fn summary(summary: &Summary<'_>) -> Vec<String> {
    let Summary { decisions, set, records, basis, population, notices, run } = summary;
    let (cases, gates): (Vec<&Decision>, Vec<&Decision>) =
        decisions.iter().partition(|decision| decision.trial.starts_with("case::"));
    let trials: BTreeMap<String, &GoldenCase> = set.cases.iter().map(|case| (case.trial_name(), case)).collect();
    let red: Vec<(&GoldenCase, CaseFindings)> = cases
        .iter()
        .filter(|decision| decision.ruling.is_red())
        .filter_map(|decision| trials.get(&decision.trial))
        .filter_map(|case| Some((*case, case_findings(case, records.get(&case.id)?, basis))))
        .collect();

    let mut lines = vec![line("rageval", &format!("{}; {}", counts(&cases, "case"), counts(&gates, "gate")))];
    let causes = causes(&red, cases.iter().filter_map(|decision| trials.get(&decision.trial)), records, basis);
    if !causes.is_empty() {
        lines.push(line("causes", &listed(&causes, COLUMNS - LABEL)));
    }
    if let Some(population) = population {
        let Population { paired, new, changed, vanished } = population;
        let counts = format!(
            "{} paired, {} new, {} changed, {} vanished",
            paired.len(),
            new.len(),
            changed.len(),
            vanished.len()
        );
        lines.push(line("baseline", &counts));
    }
    lines.extend(worst(&red).into_iter().map(|text| line("worst", &text)));
    let red_gates: Vec<&str> =
        gates.iter().filter(|gate| gate.ruling.is_red()).map(|gate| gate.trial.as_str()).collect();
    if !red_gates.is_empty() {
        lines.push(line("red gates", &listed(&red_gates, COLUMNS - LABEL)));
    }

    let all = decisions.iter().flat_map(|decision| &decision.notices).chain(notices.iter());
    let (known, others): (Vec<&String>, Vec<&String>) = all.partition(|notice| notice.starts_with("known failure: "));
    let known: Vec<&str> =
        known.into_iter().filter_map(|notice| notice.strip_prefix("known failure: ")?.split(": ").next()).collect();
    if !known.is_empty() {
        let text = format!("{}: {}", known.len(), listed(&known, COLUMNS - LABEL - 6));
        lines.push(line("known", &text));
    }
    let room = MOST_LINES - 1 - lines.len();
    if others.len() <= room {
        lines.extend(others.into_iter().map(|notice| line("notice", notice)));
    } else if room > 0 {
        lines.extend(others.iter().take(room - 1).map(|notice| line("notice", notice)));
        lines.push(line("notice", &format!("{} more, in the run", others.len() - (room - 1))));
    }
    lines.push(whole_line("run", run));
    lines
}

/// `97 cases: 90 passed, 5 failed, 2 undecided`; the four add up.
fn counts(decisions: &[&Decision], what: &str) -> String {
    let plural = if decisions.len() == 1 { "" } else { "s" };
    let words: Vec<String> = [
        (Ruling::Pass, "passed"),
        (Ruling::Fail, "failed"),
        (Ruling::Undecided, "undecided"),
        (Ruling::Inconclusive, "inconclusive"),
    ]
    .into_iter()
    .map(|(ruling, word)| (decisions.iter().filter(|decision| decision.ruling == ruling).count(), word))
    .filter(|(count, _)| *count > 0)
    .map(|(count, word)| format!("{count} {word}"))
    .collect();
    let words = if words.is_empty() { "none ran".to_owned() } else { words.join(", ") };
    format!("{} {what}{plural}: {words}", decisions.len())
}

/// How many cases are red, or have something unmeasured, for which cause: the most frequent first. A case counts once for each of its causes.
fn causes<'a>(
    red: &[(&GoldenCase, CaseFindings)],
    ran: impl Iterator<Item = &'a &'a GoldenCase>,
    records: &BTreeMap<CaseId, Record>,
    basis: &Basis<'_>,
) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for case in ran {
        let mut of_case: Vec<String> =
            tally::faults_of(records.get(&case.id), basis.rules).into_iter().map(|(_, fault)| fault.cause).collect();
        of_case.sort_unstable();
        of_case.dedup();
        for cause in of_case {
            *counts.entry(cause).or_default() += 1;
        }
    }
    for (_, findings) in red {
        let is_min = |broken: &Broken| matches!(broken.bar, Bar::Min(_));
        let is_red = findings.ruling(basis.rules.max_unmeasured).is_red();
        let of_case = [
            (findings.failed.iter().any(is_min), "below min"),
            (findings.failed.iter().any(|broken| !is_min(broken)), "dropped"),
            (!findings.undecided.is_empty(), "not comparable"),
            (!is_red, "snapshot alone"),
        ];
        for (_, cause) in of_case.into_iter().filter(|(applies, _)| *applies) {
            *counts.entry(cause.to_owned()).or_default() += 1;
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counts.into_iter().map(|(cause, count)| format!("{count} {cause}")).collect()
}

/// The broken rules with the largest shortfall, one a case.
fn worst(red: &[(&GoldenCase, CaseFindings)]) -> Vec<String> {
    let mut worst: Vec<(f64, &GoldenCase, &Broken)> = red
        .iter()
        .filter_map(|(case, findings)| {
            let of_case = findings.failed.iter().map(|broken| (shortfall(broken), *case, broken));
            of_case.max_by(|a, b| a.0.total_cmp(&b.0))
        })
        .collect();
    worst.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.id.cmp(&b.1.id)));
    worst
        .into_iter()
        .take(MOST_WORST)
        .map(|(_, case, broken)| format!("{}: {}  {}", case.id, bar_text(broken), case.place))
        .collect()
}

/// How far a score lies on the wrong side of its bar.
fn shortfall(broken: &Broken) -> f64 {
    match broken.bar {
        Bar::Min(min) => min - broken.score,
        Bar::MaxDrop { baseline, max_drop } => baseline - broken.score - max_drop,
    }
}
