//! Lays a calibration's report out: at most a screen a metric.

use std::collections::BTreeMap;

use super::{name, told};
use crate::{
    report::console::text::{COLUMNS, LABEL, bar, interval_text, line, listed, shortened, visible, whole_lines},
    stats::Interval,
    trust::calibration::{
        Bars, Estimate, Refusal, Report,
        binary::{Binary, PassRate},
        people::People,
    },
};

/// Disagreements that are shown; the report itself has more.
const MOST_DISAGREEMENTS: usize = 5;

/// Languages that are shown.
const MOST_LANGUAGES: usize = 6;

/// Rows and columns of the plot.
const ROWS: usize = 9;
const ACROSS: usize = 37;

/// The report of one metric: the ruling, the correlations, the people, yes and no, languages, lengths, the pass rate where it was asked for, the
/// worst disagreements, and a plot where there is something to plot.
pub fn report(report: &Report, refusals: &[Refusal], bars: &Bars) -> Vec<String> {
    let mut lines = vec![line("calibration", &format!("{}, judged by {}", report.metric, name(&report.judge)))];
    if refusals.is_empty() {
        lines.push(line("passed", &format!("it may gate: rho is at least {}", bar(bars.min_spearman))));
    }
    for refusal in refusals {
        let (why, todo) = told(&report.metric, refusal, bars);
        lines.extend(whole_lines("failed", &[why, todo]));
    }
    lines.push(line("items", &items(report)));
    let agreement = &report.agreement;
    lines.push(line("agreement", &format!("rho {}, Spearman's", shown(agreement.spearman))));
    let others = format!("tau-b {}, Pearson {}", shown(agreement.kendall_tau_b), shown(agreement.pearson));
    lines.push(line("", &others));
    lines.extend(people(&report.people));
    lines.extend(binary(&report.binary));
    lines.extend(languages(report));
    lines.extend(length(report));
    lines.extend(report.pass_rate.iter().flat_map(pass_rate));
    lines.extend(disagreements(report));
    lines.extend(plot(&report.points));
    lines
}

/// A figure with its interval, in three decimals; `-` where there is none.
fn shown(estimate: Option<Estimate>) -> String {
    let Some(Estimate { value, interval }) = estimate else { return "-".to_owned() };
    match interval {
        Some((low, high)) => format!("{value:.3} {}", interval_text(&Interval { low, high })),
        None => format!("{value:.3}"),
    }
}

fn items(report: &Report) -> String {
    let items = &report.items;
    let left = [
        (items.tied.len(), "tied"),
        (items.not_applicable.len(), "not applicable"),
        (items.unmeasured.len(), "unmeasured"),
    ];
    let left: Vec<String> =
        left.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    let left = if left.is_empty() { String::new() } else { format!(" ({})", left.join(", ")) };
    format!("{} of {} labelled count{left}", items.counted, items.labelled)
}

fn people(people: &People) -> Vec<String> {
    let names: Vec<String> = people.annotators.iter().map(|(name, n)| format!("{} {n}", visible(name))).collect();
    let mut lines = vec![line("people", &listed(&names, COLUMNS - LABEL))];
    if people.shared == 0 {
        lines.push(line("", "no item was labelled by two, so how well people agree is not known"));
        return lines;
    }
    let ceiling = people.ceiling.map_or("-".to_owned(), |ceiling| format!("{ceiling:.3}"));
    let shared =
        format!("each against the others, over {} items: rho {ceiling}, a benchmark for a judge", people.shared);
    lines.push(line("", &shared));
    lines.push(line("", &format!("Krippendorff's alpha {}", shown(people.krippendorff_alpha))));
    lines
}

fn binary(binary: &Binary) -> Vec<String> {
    let Binary { true_positive, false_positive, false_negative, true_negative, .. } = binary;
    vec![
        line(
            "yes or no",
            &format!(
                "yes from {} on. People yes: judge yes {true_positive}, no {false_negative}; people no: judge yes {false_positive}, no {true_negative}",
                bar(binary.bar)
            ),
        ),
        line("", &format!("TPR {}, TNR {}", shown(binary.true_positive_rate), shown(binary.true_negative_rate))),
        line("", &format!("balanced accuracy {}, kappa {}", shown(binary.balanced_accuracy), shown(binary.kappa))),
    ]
}

fn languages(report: &Report) -> Vec<String> {
    let of = &report.by_language;
    let mut lines: Vec<String> = of
        .iter()
        .take(MOST_LANGUAGES)
        .map(|(tag, language)| {
            let text = format!(
                "{}: rho {} over {}, judge minus people {:+.3}",
                visible(tag),
                shown(language.spearman),
                language.counted,
                language.mean_error
            );
            line("language", &text)
        })
        .collect();
    if of.len() > MOST_LANGUAGES {
        lines.push(line("", &format!("and {} more languages", of.len() - MOST_LANGUAGES)));
    }
    lines
}

fn length(report: &Report) -> Vec<String> {
    let length = &report.length;
    if length.groups.is_empty() {
        return Vec::new();
    }
    let groups: Vec<String> =
        length.groups.iter().map(|group| format!("{:+.3} to {}", group.mean_error, group.up_to)).collect();
    vec![
        line("length", &format!("judge minus people by characters: {}", groups.join(", "))),
        line("", &format!("rho of that with the length {}", shown(length.spearman))),
    ]
}

fn pass_rate(rate: &PassRate) -> Vec<String> {
    vec![
        line(
            "pass rate",
            &format!(
                "{} of {} items of the run, from {} on, by the judge",
                shown(Some(rate.judged)),
                rate.n,
                bar(rate.bar)
            ),
        ),
        line(
            "",
            &format!(
                "corrected {} (Rogan-Gladen), {} (prediction-powered)",
                shown(rate.rogan_gladen),
                shown(rate.prediction_powered)
            ),
        ),
        line("", &format!("mean {:.3}, corrected {}", rate.mean, shown(rate.prediction_powered_mean))),
    ]
}

fn disagreements(report: &Report) -> Vec<String> {
    let apart = &report.disagreements;
    let told = |people: &BTreeMap<String, f64>| -> String {
        let each: Vec<String> = people.values().map(|said| format!("{said:.2}")).collect();
        if people.len() > 1 { format!(" ({})", each.join(", ")) } else { String::new() }
    };
    apart
        .iter()
        .take(MOST_DISAGREEMENTS)
        .map(|one| {
            let said = format!("judge {:.2}, people {:.2}{}", one.judge, one.human, told(&one.people));
            line("apart", &format!("{}: {said}", shortened(&one.item, 40)))
        })
        .collect()
}

/// People to the right, the judge upwards; a figure says how many items stand in one place, `+` ten or more. Nothing where both say only one or
/// two things: the table says it.
fn plot(points: &[(f64, f64)]) -> Vec<String> {
    let distinct = |side: fn(&(f64, f64)) -> f64| {
        let mut numbers: Vec<f64> = points.iter().map(side).collect();
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        numbers.len()
    };
    if distinct(|point| point.0) < 3 && distinct(|point| point.1) < 3 {
        return Vec::new();
    }
    let mut counts = [[0_usize; ACROSS]; ROWS];
    // Scores lie between 0 and 1.
    let place = |number: f64, places: usize| ((number * (places - 1) as f64).round() as usize).min(places - 1);
    for (people, judge) in points {
        counts[place(*judge, ROWS)][place(*people, ACROSS)] += 1;
    }
    let mark = |count: &usize| match count {
        0 => ' ',
        1..=9 => char::from_digit(u32::try_from(*count).unwrap_or(9), 10).unwrap_or('+'),
        _ => '+',
    };
    let mut lines: Vec<String> = counts
        .iter()
        .enumerate()
        .rev()
        .map(|(row, counts)| {
            let label = match row {
                0 => "judge  0.0",
                row if row == ROWS - 1 => "judge  1.0",
                _ => "",
            };
            format!("{label:>LABEL$} |{}", counts.iter().map(mark).collect::<String>().trim_end())
        })
        .collect();
    lines.push(format!("{:>LABEL$} +{}", "", "-".repeat(ACROSS)));
    lines.push(format!("{:>LABEL$}  0.0{:^width$}1.0", "", "people", width = ACROSS - 6));
    lines
}
