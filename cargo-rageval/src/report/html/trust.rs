//! What the numbers rest on: how the judge agrees with people, waivers, notices, known failures, and what the run was made with.

use maud::{Markup, html};
use rageval_runner::model::{
    background::{BaselineBackground, CalibrationBackground},
    run::{FindingLevel, Run},
};

use super::{
    plot::scatter,
    text::{CaseLink, Outside, change, count, heads, number},
};
use crate::report::view::{CaseView, View};

/// Items of a calibration and cases of a list that are shown.
const LISTED: usize = 200;

/// The calibrations.
pub(super) fn calibration(view: &View<'_>) -> Markup {
    let all = &view.run.background.calibrations;
    // A waiver is told with what it waives first.
    let waiver = view.run.background.waivers.iter().find(|waiver| waiver.starts_with("calibration "));
    html! {
        section #calibration aria-labelledby="calibration-title" {
            h2 #calibration-title { "Calibration" }
            @if all.is_empty() { p.muted { "No judge was held against people's labels in this run." } }
            @if let Some(waiver) = waiver { p { strong { "Waived: " } (Outside(waiver)) } }
            div.plots { @for one in all { (figure(one, waiver.is_some())) } }
        }
    }
}

fn figure(one: &CalibrationBackground, is_waived: bool) -> Markup {
    let pairs: Vec<(f64, f64)> = one.items.iter().map(|item| (item.people, item.judge)).collect();
    let rho = one.rho.map_or_else(|| "none".to_owned(), |rho| format!("{rho:.2}"));
    let interval = one.interval.map(|(low, high)| format!(" [{low:.2}, {high:.2}]")).unwrap_or_default();
    let told = format!(
        "Spearman's rho {rho}{interval} over {}, at least {} is believed",
        count(one.items.len(), "item"),
        one.min_rho
    );
    let name = one.metric.to_string();
    let described =
        format!("{told}. Each mark is one or more items, larger where more lie on each other; on the line both agree.");
    // The items on which both differ most come first.
    let mut items: Vec<_> = one.items.iter().collect();
    items.sort_by(|a, b| {
        (b.people - b.judge).abs().total_cmp(&(a.people - a.judge).abs()).then_with(|| a.item.cmp(&b.item))
    });
    html! {
        figure {
            figcaption { strong { (name) } }
            @if !pairs.is_empty() { p { (told) "." } }
            @for refusal in &one.refusals {
                p class=[(!is_waived).then_some("red")] { @if is_waived { span.muted { "waived: " } } (Outside(refusal)) }
            }
            @if !pairs.is_empty() {
                (scatter(&format!("{name}: judge against people"), &described, ("people", "judge"), &pairs))
                details {
                    summary { "Items, the largest differences first" }
                    table.numbers {
                        (heads(&["Item", "People", "Judge", "Difference"]))
                        tbody { @for item in items.iter().take(LISTED) {
                            tr {
                                th scope="row" { (Outside(&item.item)) }
                                td { (number(item.people)) }
                                td { (number(item.judge)) }
                                td { (change(item.judge - item.people)) }
                            }
                        } }
                    }
                    @if items.len() > LISTED { p.muted { (count(items.len() - LISTED, "more item")) } }
                }
            }
        }
    }
}

/// Waivers, notices and known failures.
pub(super) fn remarks(view: &View<'_>) -> Markup {
    let known: Vec<_> =
        view.cases.iter().filter_map(|case| Some((case, case.golden?.known_failure.as_ref()?))).collect();
    html! {
        section #remarks aria-labelledby="remarks-title" {
            h2 #remarks-title { "Waivers, notices, known failures" }
            @if view.run.background.waivers.is_empty() && view.notices.is_empty() && known.is_empty() { p.muted { "None." } }
            @if !view.run.background.waivers.is_empty() {
                h3 { "Waived" }
                ul { @for waiver in &view.run.background.waivers { li { (Outside(waiver)) } } }
            }
            @if !view.notices.is_empty() {
                h3 { "Notices " span.n { (view.notices.len()) } }
                ul { @for notice in view.notices.iter().take(LISTED) { li { (Outside(notice)) } } }
                @if view.notices.len() > LISTED { p.muted { (count(view.notices.len() - LISTED, "more notice")) } }
            }
            @if !known.is_empty() {
                details {
                    summary { (count(known.len(), "known failure")) }
                    table.numbers.left {
                        (heads(&["Case", "Metrics", "Why", "Still fails"]))
                        tbody { @for (case, failure) in known.iter().take(LISTED) {
                            tr {
                                th scope="row" { (CaseLink(case.id)) }
                                td { (failure.metrics.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")) }
                                td { (Outside(&failure.reason)) }
                                td { (still_fails(case)) }
                            }
                        } }
                    }
                }
            }
        }
    }
}

/// Whether a case that is known to fail still does.
fn still_fails(case: &CaseView<'_>) -> &'static str {
    match case.decision {
        None => "not run",
        Some(decision) if decision.findings.iter().any(|one| one.level == FindingLevel::Known && one.bar.is_some()) => {
            "yes"
        }
        Some(_) => "no",
    }
}

/// What the run was made with.
pub(super) fn manifest(run: &Run) -> Markup {
    let made = &run.manifest;
    let rows = [
        ("Run", made.run_id.clone()),
        ("rageval", made.rageval.clone()),
        ("Golden set", set(&made.golden_set)),
        ("Digest of the set", made.golden_set.digest.clone()),
        ("Judge", format!("{} {}", made.judge.provider, made.judge.model)),
        ("Its fingerprint", made.judge.fingerprint.clone()),
        (
            "System",
            format!(
                "{}{}",
                made.system.kind,
                made.system.generator.as_ref().map(|name| format!(", {name}")).unwrap_or_default()
            ),
        ),
        ("Revision", made.git_revision.clone().unwrap_or_else(|| "not told".to_owned())),
        ("Seed", made.seed.to_string()),
        ("Digest of the policy", made.policy_digest.clone()),
        (
            "Metric versions",
            made.metric_versions
                .iter()
                .map(|(name, version)| format!("{name} {version}"))
                .collect::<Vec<_>>()
                .join(", "),
        ),
    ];
    html! {
        section #manifest aria-labelledby="manifest-title" {
            h2 #manifest-title { "What the run was made with" }
            table.pairs { tbody {
                @for (name, value) in &rows { tr { th scope="row" { (name) } td { (Outside(value)) } } }
                @if !made.judge_calls_itself.is_empty() {
                    tr {
                        th scope="row" { "The judge calls itself" }
                        td { @for name in &made.judge_calls_itself { div { (Outside(name)) } } }
                    }
                }
                @if let Some(why) = &made.partial { tr { th scope="row" { "Partial" } td { (Outside(why)) } } }
                @if !made.missing.is_empty() { tr { th scope="row" { "Without a record" } td { (count(made.missing.len(), "case")) } } }
            } }
            @match &run.background.baseline {
                Some(baseline) => (self::baseline(baseline)),
                None => p.muted { "Compared with no baseline." },
            }
        }
    }
}

fn set(stamp: &rageval_runner::model::run::SetStamp) -> String {
    let name = stamp.name.as_deref().unwrap_or("without a name");
    let version = stamp.version.as_deref().map(|version| format!(", version {version}")).unwrap_or_default();
    format!("{name}{version}, {}", count(stamp.cases, "case"))
}

fn baseline(baseline: &BaselineBackground) -> Markup {
    let made = &baseline.manifest;
    let names = |cases: &[rageval_runner::model::CaseId]| {
        html! {
            ul.names { @for case in cases.iter().take(LISTED) { li { (CaseLink(case)) } } @if cases.len() > LISTED { li.muted { "and " (cases.len() - LISTED) " more" } } }
        }
    };
    html! {
        h3 { "Baseline" }
        table.pairs { tbody {
            tr { th scope="row" { "File" } td { (Outside(&baseline.file)) } }
            tr { th scope="row" { "Golden set" } td { (Outside(&set(&made.golden_set))) } }
            tr {
                th scope="row" { "Judge" }
                td { (Outside(&format!("{} {}", made.judge.provider, made.judge.model))) }
            }
            tr { th scope="row" { "Its fingerprint" } td { (Outside(&made.judge.fingerprint)) } }
            tr { th scope="row" { "Revision" } td { (Outside(made.git_revision.as_deref().unwrap_or("not told"))) } }
            @for (what, cases) in [("New cases", &baseline.new), ("Changed cases", &baseline.changed)] {
                tr {
                    th scope="row" { (what) }
                    td {
                        (cases.len())
                        @if !cases.is_empty() { details { summary { "which" } (names(cases)) } }
                    }
                }
            }
            tr { th scope="row" { "Vanished cases" } td { (baseline.vanished.len()) @if !baseline.vanished.is_empty() {
                // They have no page: the set has them no more.
                details { summary { "which" } ul.names { @for case in baseline.vanished.iter().take(LISTED) { li { (Outside(case.as_str())) } } } }
            } } }
        } }
        @for lowered in &made.reasons {
            details {
                summary { "Lowered " (count(lowered.scores.len(), "score")) ": " (Outside(&lowered.reason)) }
                ul.names { @for (case, metric, before, after) in lowered.scores.iter().take(LISTED) {
                    li { (Outside(case.as_str())) " " (metric.to_string()) " " (number(*before)) " → " (number(*after)) }
                } }
            }
        }
    }
}
