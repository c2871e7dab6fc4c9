//! Why a case is red, in the order in which a reader needs it: the worst first, with the claim and its evidence.

use rageval_runner::{
    model::{
        Claim, Detail, MetricKey, Verdict,
        run::{Decision, Finding, FindingKind},
    },
    report::{console, judged, worst},
};

use super::{claims::Judged, view::CaseView};

/// The red cases, the worst first; equals stay in the order of the set.
pub(crate) fn worst_first<'a, 'r>(cases: impl Iterator<Item = &'a CaseView<'r>>) -> Vec<&'a CaseView<'r>>
where
    'r: 'a,
{
    let mut cases: Vec<_> = cases.filter_map(|case| Some((case.decision?, case))).collect();
    cases.sort_by(|(one, _), (other, _)| worst::of_cases(one, other));
    cases.into_iter().map(|(_, case)| case).collect()
}

/// The red findings of a case, the largest shortfall first.
pub(crate) fn red_findings<'r>(case: &CaseView<'r>) -> Vec<&'r Finding> {
    case.decision.map(worst::findings).unwrap_or_default()
}

/// The claim that counts most against a score: one of the answer before others, contradicted before unsupported.
pub(crate) fn failing_claim<'r>(case: &CaseView<'r>, metric: &MetricKey) -> Option<&'r Claim> {
    let claims = &detail(case, metric)?.claims;
    let is_of_answer = |claim: &&Claim| Judged::of(claim, metric).0 == Judged::Answer;
    let failing = claims.iter().filter(|claim| judged::is_failing(claim.verdict));
    failing.min_by_key(|claim| (!is_of_answer(claim), claim.verdict != Verdict::Contradicted))
}

/// The claim of the answer that counts most against it, with its metric: of the worst finding that has one. A refusal claims nothing.
pub(crate) fn claim_of_answer<'r>(case: &CaseView<'r>) -> Option<(&'r MetricKey, &'r Claim)> {
    if case.record?.sample()?.is_refusal {
        return None;
    }
    let of = |finding: &'r Finding| {
        let metric = finding.metric.as_ref().filter(|_| is_of_score(finding))?;
        let claim = failing_claim(case, metric)?;
        (Judged::of(claim, metric).0 == Judged::Answer).then_some((metric, claim))
    };
    red_findings(case).into_iter().find_map(of)
}

/// Whether a finding is about a score and its bar.
pub(crate) fn is_of_score(finding: &Finding) -> bool {
    matches!(finding.kind, FindingKind::Min | FindingKind::MaxDrop)
}

/// What a score was made from, as its readings settled it.
pub(crate) fn detail<'r>(case: &CaseView<'r>, metric: &MetricKey) -> Option<&'r Detail> {
    case.record?.settled(metric)?.detail()
}

/// The baseline's score of a metric, where it can be compared: of the finding, else what was accepted of the same question.
pub(crate) fn baseline(case: &CaseView<'_>, metric: &MetricKey) -> Option<f64> {
    let of_drop = case.decision.iter().flat_map(|decision| &decision.findings);
    let told =
        of_drop.filter(|finding| finding.kind == FindingKind::MaxDrop && finding.metric.as_ref() == Some(metric));
    let accepted = || {
        let golden = case.golden.filter(|_| case.is_paired())?;
        Some(golden.accepted.as_ref()?.outcomes.get(metric)?.score()?.get())
    };
    told.filter_map(|finding| finding.baseline).next().or_else(accepted)
}

/// The lines of a decision that say what is wrong: without those that name the case or say how to go on.
pub(crate) fn essence(decision: &Decision) -> Vec<&str> {
    const AROUND: [&str; 6] = ["case ", "question ", "answer ", "expected ", "look ", "accept "];
    let mut is_around = false;
    let says = |line: &&String| {
        // A line that continues another starts with a blank.
        if !line.starts_with(' ') {
            is_around = AROUND.iter().any(|label| line.starts_with(label));
        }
        !is_around
    };
    decision.lines.iter().filter(says).map(String::as_str).collect()
}

/// A line of a decision with its blanks, and otherwise as a person may see it. The harness writes every line with a label before it; a run file
/// from elsewhere need not, so that one which a build server would take for a command gets a bar.
pub(crate) fn line(line: &str) -> String {
    let line = line.split(' ').map(console::text::visible).collect::<Vec<_>>().join(" ");
    console::text::no_command(&line).into_owned()
}

/// Why a decision is red, in one line.
pub(crate) fn reason(decision: &Decision) -> String {
    match decision.findings.iter().find(|finding| finding.level == rageval_runner::model::run::FindingLevel::Red) {
        Some(finding) => console::text::visible(&finding.text),
        None => console::reason(decision),
    }
}
