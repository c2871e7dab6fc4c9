//! The run as a whole: metrics, the worst tenth, the baseline, the judge, costs, what is worth knowing though it is green.

use rageval_runner::{
    model::{CaseId, run::FindingKind},
    report::console::{
        spending::{self, money, thousands},
        text::{interval_text, score},
    },
    stats,
};

use super::{NAME, TEXT, signed};
use crate::report::{
    Input,
    markdown::{
        fill::Section,
        inert::{code, row},
    },
    view::{CaseView, MetricView, SliceView, Spread},
};

/// The fewest scored cases that have a tenth.
const TENTH: usize = 10;
/// Worst cases of each metric that the tail names.
const TAIL: usize = 3;

/// Each metric over the set.
pub(super) fn metrics(input: &Input<'_>) -> Section {
    Section {
        rank: 3,
        title: "Metrics",
        head: "| Metric | Mean (95%) | Baseline | Now | Change | Worst tenth | Its baseline | Cases |\n\
               |---|--:|--:|--:|--:|--:|--:|--:|\n"
            .to_owned(),
        rows: input.view.metrics.iter().map(metric_row).collect(),
        what: "metrics",
        ..Section::default()
    }
}

/// The mean is over all scored cases; baseline, now and change are over those that both scored, so that they subtract.
fn metric_row(metric: &MetricView<'_>) -> String {
    let interval = metric.interval().map(|interval| format!(" {}", interval_text(&interval)));
    let mean = metric.mean.map(|mean| format!("{}{}", score(mean), interval.unwrap_or_default()));
    let [before, now] = sides(metric.paired.iter().map(|(_, before, now)| (*before, *now)));
    let mut cases = vec![format!("{} of {}", metric.scored.len(), metric.total())];
    if !before.is_empty() && before.len() != metric.scored.len() {
        cases.push(format!("{} compared", before.len()));
    }
    if !metric.unmeasured.is_empty() {
        cases.push(format!("**{} unmeasured**", metric.unmeasured.len()));
    }
    row(&[
        code(&metric.key.to_string(), NAME),
        mean.unwrap_or_else(|| "none".to_owned()),
        mean_of(&before).map(score).unwrap_or_default(),
        mean_of(&now).map(score).unwrap_or_default(),
        mean_of(&before).zip(mean_of(&now)).map(|(before, now)| change(before, now)).unwrap_or_default(),
        metric.tail().map(|tail| format!("{} {}", score(tail), metric.tail_name())).unwrap_or_default(),
        metric.tail_of(&before).map(score).unwrap_or_default(),
        cases.join(", "),
    ])
}

/// The difference of two scores as they are shown, in four decimals: the row's numbers add up.
fn change(before: f64, now: f64) -> String {
    let shown = |number: f64| (number * 10_000.0).round() / 10_000.0;
    signed(score(shown(now) - shown(before)))
}

fn sides(pairs: impl Iterator<Item = (f64, f64)>) -> [Vec<f64>; 2] {
    let (before, now) = pairs.unzip();
    [before, now]
}

fn mean_of(numbers: &[f64]) -> Option<f64> {
    stats::mean(numbers)
}

/// The cases of the worst tenth of each metric: a mean hides them.
pub(super) fn tail(input: &Input<'_>) -> Section {
    // A tenth of fewer than ten cases is none, and one that is perfect hides nothing.
    let has_tail = |metric: &&MetricView<'_>| {
        metric.scored.len() >= TENTH && metric.tail().is_some_and(|tail| score(tail) != "1.00")
    };
    let rows = input.view.metrics.iter().filter(has_tail).map(|metric| {
        let worst = metric.scored.iter().take(metric.decile_size().min(TAIL));
        let named: Vec<String> =
            worst.map(|(case, value)| format!("{} {}", score(*value), code(case.as_str(), NAME))).collect();
        let more = metric.decile_size() - named.len();
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        row(&[
            code(&metric.key.to_string(), NAME),
            metric.tail().map(score).unwrap_or_default(),
            metric.tail_name().to_owned(),
            format!("{}{more}", named.join(", ")),
        ])
    });
    Section {
        rank: 8,
        title: "The worst tenth",
        head: "| Metric | Worst tenth | Statistic | Cases |\n|---|--:|---|---|\n".to_owned(),
        rows: rows.collect(),
        what: "metrics",
        ..Section::default()
    }
}

/// Against the baseline, and whether the judge is the one that scored it.
pub(super) fn against_baseline(input: &Input<'_>) -> Section {
    let run = input.view.run;
    let mut rows = Vec::new();
    match &run.background.baseline {
        Some(baseline) => {
            let (now, before) = (&run.manifest.judge, &baseline.manifest.judge);
            let paired = input.view.cases.iter().filter(|case| case.is_paired()).count();
            rows.push(format!(
                "- {paired} cases compared with {}; {} new, {} changed, {} vanished\n",
                code(&baseline.file, NAME),
                baseline.new.len(),
                baseline.changed.len(),
                baseline.vanished.len()
            ));
            if now.fingerprint != before.fingerprint {
                let of = |judge: &str, print: &str| format!("{} {}", code(judge, NAME), code(print, 12));
                rows.push(format!(
                    "- **the judge is another one** than the baseline's: {}, before {}\n",
                    of(&now.model, &now.fingerprint),
                    of(&before.model, &before.fingerprint)
                ));
            }
        }
        None if !run.cases.is_empty() => rows.push("- no baseline: nothing is compared\n".to_owned()),
        None => {}
    }
    if !run.manifest.judge_calls_itself.is_empty() {
        let names: Vec<String> = run.manifest.judge_calls_itself.iter().take(3).map(|name| code(name, NAME)).collect();
        let model = code(&run.manifest.judge.model, NAME);
        rows.push(format!("- **the judge calls itself** {}, not {model}\n", names.join(", ")));
    }
    rows.extend(calibrations(input));
    Section { rank: 4, title: "Baseline and judge", rows, what: "lines", ..Section::default() }
}

/// Whether each metric's judge is believed: one line for those of which the same is to be said.
fn calibrations(input: &Input<'_>) -> Vec<String> {
    let waived = input.view.waived_until("calibration").map(|day| format!("not believed (waived until {day})"));
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    for calibration in &input.view.run.background.calibrations {
        let of = match (calibration.items.len(), calibration.rho) {
            (0, _) => "nobody has labelled anything".to_owned(),
            (n, Some(rho)) => format!("rho {} with people over {n} items", score(rho)),
            (n, None) => format!("no rho with people over {n} items"),
        };
        let is_believed = calibration.refusals.is_empty();
        let said = if is_believed { "believed" } else { waived.as_deref().unwrap_or("**not believed**") };
        let (told, metric) = (format!("{said}, {of}"), code(&calibration.metric.to_string(), NAME));
        match lines.iter_mut().find(|(line, _)| *line == told) {
            Some((_, metrics)) => metrics.push(metric),
            None => lines.push((told, vec![metric])),
        }
    }
    lines.into_iter().map(|(told, metrics)| format!("- judge of {}: {told}\n", metrics.join(", "))).collect()
}

/// What is worth knowing though it is green: waivers, what warns, what is flaky, known, or could not be said.
pub(super) fn asides(input: &Input<'_>) -> Section {
    let view = &input.view;
    let mut rows: Vec<String> =
        view.run.background.waivers.iter().map(|waiver| format!("- **waived:** {}\n", code(waiver, TEXT))).collect();
    let recovered = |case: &&CaseView<'_>| {
        case.decision.is_some_and(|decision| decision.findings.iter().any(|f| f.kind == FindingKind::Recovered))
    };
    let list = |what: &str, ids: Vec<&CaseId>| {
        let shown: Vec<String> = ids.iter().take(10).map(|id| code(id.as_str(), NAME)).collect();
        let more = ids.len() - shown.len();
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        (!ids.is_empty()).then(|| format!("- {what}: {}{more}\n", shown.join(", ")))
    };
    let ids = |test: &dyn Fn(&&CaseView<'_>) -> bool| view.cases.iter().filter(test).map(|case| case.id).collect();
    rows.extend(list("flaky", ids(&|case| case.is_flaky())));
    rows.extend(list("known to fail", ids(&|case| case.state() == "known failure")));
    rows.extend(list("known to fail, and fails no longer", ids(&recovered)));
    if !view.inconclusive.is_empty() {
        let names: Vec<String> = view.inconclusive.iter().take(5).map(|gate| code(&gate.trial, NAME)).collect();
        let more = view.inconclusive.len() - names.len();
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        rows.push(format!("- too few cases to say: {}{more}\n", names.join(", ")));
    }
    // These stand above, and case by case.
    let is_told = |notice: &&&str| {
        ["known failure: ", "inconclusive: ", "flaky: ", "no longer fails: "]
            .iter()
            .any(|start| notice.starts_with(start))
    };
    let notices = view.notices.iter().filter(|notice| !is_told(notice)).copied();
    rows.extend(grouped(notices).into_iter().map(|notice| format!("- {}\n", code(&notice, TEXT))));
    Section { rank: 5, title: "Worth knowing", rows, what: "lines", ..Section::default() }
}

/// Notices that differ only in what they are about, as one each.
fn grouped<'n>(notices: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for notice in notices {
        let (what, about) = notice.split_once(": ").unwrap_or((notice, ""));
        match groups.iter_mut().find(|(of, _)| *of == what) {
            Some((_, abouts)) => abouts.push(about),
            None => groups.push((what, vec![about])),
        }
    }
    let of = |(what, abouts): (&str, Vec<&str>)| match abouts.as_slice() {
        [""] => what.to_owned(),
        [about] => format!("{what}: {about}"),
        [first, ..] => format!("{what}: {first} and {} more", abouts.len() - 1),
        [] => String::new(),
    };
    groups.into_iter().map(of).collect()
}

/// Answered or declined, against what was right.
pub(super) fn refusals(input: &Input<'_>) -> Section {
    let table = &input.view.refusals;
    let is_told = !table.refused_unanswerable.is_empty() || !table.answered_unanswerable.is_empty();
    let of = |what: &str, answered: &[&CaseId], refused: &[&CaseId]| {
        row(&[what.to_owned(), answered.len().to_string(), refused.len().to_string()])
    };
    let rows = vec![
        of("should answer", &table.answered_answerable, &table.refused_answerable),
        of("should decline", &table.answered_unanswerable, &table.refused_unanswerable),
    ];
    Section {
        rank: 3,
        title: "Refusals",
        head: "| | answered | declined |\n|---|--:|--:|\n".to_owned(),
        rows: if is_told || !table.refused_answerable.is_empty() { rows } else { Vec::new() },
        what: "rows",
        ..Section::default()
    }
}

/// What the run cost and how long answers took.
pub(super) fn costs(input: &Input<'_>) -> Section {
    let view = &input.view;
    let mut rows = Vec::new();
    if let Some(spent) = &view.run.manifest.spent {
        rows.push(format!("- judging: {}\n", spending::line(spent, &rageval_runner::model::Budget::default())));
    }
    if let Some(Spread { n, sum, .. }) = view.cost_usd {
        rows.push(format!("- answers: {} for {n}\n", money(sum)));
    }
    if let Some(Spread { n, sum, .. }) = view.tokens {
        rows.push(format!("- answers: {} tokens for {n}\n", thousands(sum as u64)));
    }
    if let Some(Spread { n, p50, p95, .. }) = view.latency_ms {
        rows.push(format!("- latency: p50 {p50:.0} ms, p95 {p95:.0} ms over {n} answers\n"));
    }
    Section { rank: 3, title: "Cost and latency", rows, what: "lines", ..Section::default() }
}

/// Each metric over each slice, folded.
pub(super) fn slices(input: &Input<'_>) -> Section {
    let of = |metric: &MetricView<'_>, slice: &SliceView<'_>| {
        let [before, now] = sides(slice.paired.iter().copied());
        let change = mean_of(&before).zip(mean_of(&now)).map(|(before, now)| change(before, now));
        let n = slice.scores.len();
        let compared =
            if before.is_empty() || before.len() == n { String::new() } else { format!(", {} compared", before.len()) };
        row(&[
            code(&metric.key.to_string(), NAME),
            code(&format!("{}={}", slice.field, slice.value), NAME),
            slice.mean.map(score).unwrap_or_default(),
            change.unwrap_or_default(),
            format!("{n}{compared}"),
        ])
    };
    let rows = input.view.metrics.iter().flat_map(|metric| metric.slices.iter().map(move |slice| of(metric, slice)));
    Section {
        rank: 12,
        title: "Slices",
        is_folded: true,
        head: "| Metric | Slice | Mean | Change | Cases |\n|---|---|--:|--:|--:|\n".to_owned(),
        rows: rows.collect(),
        what: "slices",
        ..Section::default()
    }
}

/// Which cases are new, changed or gone, folded.
pub(super) fn populations(input: &Input<'_>, most: usize) -> Section {
    let baseline = input.view.run.background.baseline.as_ref();
    let of = |what: &str, ids: &[CaseId]| {
        let shown: Vec<String> = ids.iter().take(most).map(|id| code(id.as_str(), NAME)).collect();
        let more = ids.len() - shown.len();
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        (!ids.is_empty()).then(|| format!("- {what}: {}{more}\n", shown.join(", ")))
    };
    let rows = baseline.into_iter().flat_map(|baseline| {
        [of("new", &baseline.new), of("changed", &baseline.changed), of("vanished", &baseline.vanished)]
    });
    Section {
        rank: 13,
        title: "New, changed and vanished cases",
        is_folded: true,
        rows: rows.flatten().collect(),
        what: "lines",
        ..Section::default()
    }
}
