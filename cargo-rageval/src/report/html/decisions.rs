//! What was decided, first on the page: the conclusion, the red gates, the red cases with the claim that fails beside its evidence.

use maud::{Markup, html};
use rageval_runner::{
    model::{
        MetricKey, Record, Verdict,
        record::Taken,
        run::{Conclusion, Decision, FindingLevel, Ruling},
    },
    report::console::{
        self,
        text::{RED_TEXTS, run_alone},
    },
};

use super::{
    findings, metrics,
    snapshot_diff::toned,
    text::{CaseLink, Code, Outside, count, cut},
};
use crate::report::{
    claims::{self, Beside, Judged, ShownClaim},
    view::{CaseView, View},
    why::worst_first,
};

/// Red gates that are shown at once; the rest is folded.
const GATES: usize = 12;
/// Red cases that the static part shows; the list below has all.
const CASES: usize = 30;
/// Red cases above which a line for each metric comes first.
const FEW: usize = 5;
/// Failing claims that a red case shows here; its page has all.
const CLAIMS: usize = 4;
/// Characters of the answer that a red case shows here.
const ANSWER: usize = 240;
/// Documents and sentences of a list that a red case shows here.
const NAMED: usize = 6;
/// Lines of a snapshot's difference that a red case shows here.
const LINES: usize = 8;

/// The section.
pub(super) fn section(view: &View<'_>) -> Markup {
    let (shown, folded) = view.red_gates.split_at(view.red_gates.len().min(GATES));
    let red_cases = worst_first(view.red_cases());
    html! {
        section #decisions aria-labelledby="decisions-title" {
            h2 #decisions-title { "Decisions" }
            @if view.red_gates.is_empty() && red_cases.is_empty() {
                p {
                    @if view.conclusion == Conclusion::Pass && view.inconclusive.is_empty() { "Every case and every gate passed." }
                    @else { "No case and no gate is red." }
                }
            }
            @if view.conclusion != Conclusion::Pass {
                p { "What a red text means, and what to do: " a href=(RED_TEXTS) rel="noopener" { "My gate is red" } "." }
            }
            @if !view.red_gates.is_empty() {
                h3 { "Red gates: " span.n { (tally(&view.red_gates.iter().map(|gate| gate.ruling))) } }
                (gates(shown, view))
                @if !folded.is_empty() {
                    details { summary { (count(folded.len(), "more red gate")) } (gates(folded, view)) }
                }
            }
            @if red_cases.len() > FEW { (metrics::short(view)) }
            @if !red_cases.is_empty() {
                h3 { "Red cases: " span.n { (tally(&red_cases.iter().filter_map(|case| Some(case.decision?.ruling)))) } }
                @if red_cases.len() > CASES { p.muted { "The worst " (CASES) ", furthest below their bars first." } }
                @for case in red_cases.iter().take(CASES) { (red_case(case, view)) }
                @if red_cases.len() > CASES {
                    p {
                        (count(red_cases.len() - CASES, "more red case"))
                        " in the " a href="#cases" { "list of cases" } ", red ones first."
                    }
                }
            }
            @if !view.inconclusive.is_empty() {
                details {
                    summary { (count(view.inconclusive.len(), "inconclusive gate")) ": too little to say, and they pass" }
                    (gates(&view.inconclusive, view))
                }
            }
        }
    }
}

/// `63 failed, 31 undecided`, without what there is none of.
fn tally(rulings: &(impl Iterator<Item = Ruling> + Clone)) -> String {
    let parts = [Ruling::Fail, Ruling::Undecided]
        .map(|ruling| (rulings.clone().filter(|one| *one == ruling).count(), word(ruling)));
    parts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect::<Vec<_>>().join(", ")
}

fn gates(gates: &[&Decision], view: &View<'_>) -> Markup {
    let target = view.run.manifest.target.as_deref().unwrap_or("rag_regression");
    html! {
        div.gates {
            @for gate in gates {
                details.gate {
                    summary {
                        (state(word(gate.ruling)))
                        " " strong { (Outside(gate.trial.strip_prefix("gate::").unwrap_or(&gate.trial))) }
                        " " span.why { (Outside(&console::reason(gate))) }
                    }
                    pre dir="auto" { @for line in &gate.lines { (Outside(line)) "\n" } }
                    @if gate.lines.iter().all(|line| !line.starts_with("look ")) {
                        p { (Code(&run_alone(target, &gate.trial))) }
                    }
                }
            }
        }
    }
}

fn red_case(case: &CaseView<'_>, view: &View<'_>) -> Markup {
    let query = case.golden.map_or("", |golden| &golden.query);
    let sample = case.record.and_then(Record::sample);
    let failing = case.record.map(|record| claims::failing(case, record)).unwrap_or_default();
    let (failing, others): (Vec<_>, Vec<_>) =
        failing.into_iter().partition(|(metric, shown)| Judged::of(shown.claim, metric).0 == Judged::Answer);
    let snapshot = case.decision.and_then(|decision| decision.snapshot.as_ref());
    let target = view.run.manifest.target.as_deref().unwrap_or("rag_regression");
    html! {
        article.case {
            header {
                (state(case.state())) " " strong { (CaseLink(case.id)) }
                @if let Some(golden) = case.golden { " " span.place { (Outside(&golden.place.to_string())) } }
            }
            @if !query.is_empty() { p.query { (Outside(query)) } }
            @if let Some(sample) = sample {
                p.said {
                    span.muted { (if sample.is_refusal { "declined: " } else { "answer: " }) }
                    @let shown = cut(&sample.answer.response, ANSWER);
                    @if shown.trim().is_empty() { span.muted { "blank" } } @else { (Outside(shown)) }
                    @if shown.len() < sample.answer.response.len() { "…" }
                }
            }
            ul.findings {
                @if let Some(Taken::Failed(fault)) = case.record.map(|record| &record.taken) {
                    li.red { (Outside(&fault.cause)) ": " (Outside(&fault.why)) }
                }
                @for (_, line) in findings::lines(case.red_findings()) { li.red { (Outside(&line)) } }
                @if let Some(snapshot) = snapshot { li.red { "snapshot: " (Outside(&snapshot.why)) } }
            }
            (retrieval(case))
            (judged(&others))
            @if !failing.is_empty() { (beside(&failing[..failing.len().min(CLAIMS)])) }
            @if failing.len() > CLAIMS {
                p.muted { (count(failing.len() - CLAIMS, "more failing claim")) " on the case's page" }
            }
            @if let (true, Some(snapshot)) = (failing.is_empty(), snapshot) { (diff(&snapshot.diff)) }
            @if let Some(decision) = case.decision {
                details.alone { summary { "Run it alone" } (Code(&run_alone(target, &decision.trial))) }
            }
        }
    }
}

/// What should have been found and was not, and what stood there instead; nothing where no red metric of a ranking missed any.
fn retrieval(case: &CaseView<'_>) -> Markup {
    let Some(record) = case.record else { return html! {} };
    let rankings = case.red_findings().filter_map(|finding| {
        record.settled(finding.metric.as_ref()?)?.detail()?.ranked.as_ref().filter(|ranked| !ranked.missed.is_empty())
    });
    // Of several cut-offs that which misses most.
    let Some(ranked) = rankings.max_by_key(|ranked| ranked.missed.len()) else { return html! {} };
    let contexts = record.sample().map(|sample| sample.answer.retrieved_contexts.as_slice()).unwrap_or_default();
    let is_found = |rank: usize| ranked.found.iter().any(|(_, found)| *found == rank);
    let instead: Vec<_> = (1..).zip(contexts).filter(|(rank, _)| !is_found(*rank)).collect();
    html! {
        p { span.muted { "missed " } (listed(ranked.missed.iter().map(|id| id.as_str().to_owned()))) }
        p {
            span.muted { "instead " }
            @if contexts.is_empty() { span.muted { "nothing was retrieved" } }
            @else if instead.is_empty() { span.muted { "nothing else was retrieved" } }
            @else {
                (listed(instead.iter().map(|(rank, context)| {
                    format!("{rank} {}", context.id.as_ref().map_or("without an id", |id| id.as_str()))
                })))
            }
        }
    }
}

/// The first few of a list, and how many more there are.
fn listed(all: impl ExactSizeIterator<Item = String>) -> Markup {
    let more = all.len().saturating_sub(NAMED);
    html! {
        @for (at, one) in all.take(NAMED).enumerate() { @if at > 0 { ", " } (Outside(&one)) }
        @if more > 0 { span.muted { " and " (more) " more" } }
    }
}

/// What failed and is no claim of the answer: contexts and sentences of the reference, once each.
fn judged(failing: &[(&MetricKey, ShownClaim<'_>)]) -> Markup {
    let mut all: Vec<(&str, &str)> = Vec::new();
    for (metric, shown) in failing {
        let (judged, text) = Judged::of(shown.claim, metric);
        let one = (judged.fault().unwrap_or_default(), text);
        if !all.contains(&one) {
            all.push(one);
        }
    }
    html! {
        @if !all.is_empty() {
            ul.findings {
                @for (fault, text) in all.iter().take(NAMED) { li { span.muted { (fault) ": " } (Outside(text)) } }
                @if all.len() > NAMED { li.muted { "and " (all.len() - NAMED) " more" } }
            }
        }
    }
}

/// Failing claims, each beside what stands against it.
fn beside(failing: &[(&MetricKey, ShownClaim<'_>)]) -> Markup {
    html! {
        table.beside {
            thead { tr { th scope="col" { "Claim" } th scope="col" { "Evidence" } } }
            tbody {
                @for (metric, shown) in failing {
                    tr {
                        td {
                            @let verdict = shown.claim.verdict;
                            span class={ "verdict " (verdict.as_str()) } { (mark(verdict)) " " (Judged::Answer.verdict(verdict, metric)) }
                            " " span.muted { (metric.to_string()) }
                            div.claim { (Outside(&shown.claim.text)) }
                            @if let Some(reason) = &shown.claim.reason { div.muted { (Outside(reason)) } }
                        }
                        td { (evidence(&shown.beside)) }
                    }
                }
            }
        }
    }
}

fn evidence(beside: &Beside<'_>) -> Markup {
    html! {
        @match beside {
            Beside::Named { id, text } => {
                @if let Some(id) = id { span.muted { (Outside(id.as_str())) } }
                div { (Outside(text)) }
            }
            Beside::Nearest { rank, id, text, share } => {
                span.muted {
                    "none named; nearest by words (" (format!("{:.0} %", share * 100.0)) "), rank " (rank)
                    @if let Some(id) = id { ", " (Outside(id.as_str())) }
                }
                div { (Outside(text)) }
            }
            Beside::Nothing => span.muted { "none named, and nothing that was retrieved is like it" },
            Beside::NotSought => span.muted { "–" },
        }
    }
}

fn diff(lines: &[String]) -> Markup {
    html! {
        pre.diff dir="auto" {
            @for (class, line) in toned(lines).into_iter().take(LINES) { span class=(class) { (Outside(line)) } "\n" }
            @if lines.len() > LINES { span.muted { (count(lines.len() - LINES, "more line")) } "\n" }
        }
    }
}

/// A state as a badge: its word, never its colour alone.
pub(super) fn state(word: &str) -> Markup {
    html! { span class={ "state " (word.replace(' ', "-")) } { (word) } }
}

fn word(ruling: Ruling) -> &'static str {
    match ruling {
        Ruling::Pass => "passed",
        Ruling::Fail => "failed",
        Ruling::Inconclusive => "inconclusive",
        Ruling::Undecided => "undecided",
    }
}

/// A verdict's mark, so that it is not told by colour alone.
fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Supported => "✓",
        Verdict::Inferred => "~",
        Verdict::Unsupported => "?",
        Verdict::Contradicted => "✗",
    }
}

/// Why a case is as it is, in a phrase: what makes it red, else what only warns or is known; empty where all is well.
pub(super) fn why<'r>(case: &CaseView<'r>) -> &'r str {
    let Some(decision) = case.decision else { return "" };
    if let Some(Taken::Failed(fault)) = case.record.map(|record: &'r Record| &record.taken) {
        return &fault.why;
    }
    let of_level =
        |level| decision.findings.iter().find(|finding| finding.level == level).map(|finding| &*finding.text);
    let snapshot = decision.snapshot.as_ref().map(|snapshot| &*snapshot.why);
    of_level(FindingLevel::Red)
        .or(snapshot)
        .or(of_level(FindingLevel::Warned))
        .or(of_level(FindingLevel::Known))
        .unwrap_or_default()
}
