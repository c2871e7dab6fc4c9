//! The difference of a snapshot, each line by what it says: a fallen score is not green because it is new.

use std::collections::BTreeMap;

use rageval_runner::{
    model::MetricKey,
    report::judged::{is_failing, verdict_of},
};

/// A line with its class.
pub(super) type Toned<'d> = (&'static str, &'d str);

/// Each line with its class: `was` of what no longer stands there, of what is new `better` or `worse`, and `plain`.
pub(super) fn toned(lines: &[String]) -> Vec<Toned<'_>> {
    let headings = lines.iter().filter_map(|line| heading(line.strip_prefix("- ")?));
    let before: BTreeMap<&str, Option<f64>> = headings.collect();
    let mut metric = None;
    let mut toned = Vec::with_capacity(lines.len());
    for line in lines {
        let heading = line.get(2..).and_then(heading);
        metric = heading.map_or(metric, |(key, _)| MetricKey::parse(key).ok());
        let class = match (line.as_bytes().first(), heading) {
            (Some(b'-'), _) => "was",
            (Some(b'+'), Some((key, share))) => of_share(before.get(key).copied().flatten(), share),
            (Some(b'+'), None) => of_claim(line, metric.as_ref()),
            (_, _) => "plain",
        };
        toned.push((class, line.as_str()));
    }
    toned
}

/// A metric and its share, of a line that is no claim's: `faithfulness: 1 of 2`.
fn heading(line: &str) -> Option<(&str, Option<f64>)> {
    let (key, standing) = line.split_once(": ").filter(|(key, _)| !key.starts_with(' '))?;
    let share = standing.split_once(" of ").and_then(|(k, n)| Some((k.parse::<f64>().ok()?, n.parse::<f64>().ok()?)));
    Some((key, share.filter(|(_, n)| *n > 0.0).map(|(k, n)| k / n)))
}

/// Of a new share beside the old one; where there was none, beside all of it.
fn of_share(before: Option<f64>, now: Option<f64>) -> &'static str {
    match (before, now) {
        (Some(before), Some(now)) if now < before => "worse",
        (Some(before), Some(now)) if now > before => "better",
        (None, Some(now)) if now < 1.0 => "worse",
        (None, Some(_)) => "better",
        (_, _) => "plain",
    }
}

fn of_claim(line: &str, metric: Option<&MetricKey>) -> &'static str {
    let word = line.get(1..).and_then(|claim| claim.trim_start().split(':').next());
    match word.zip(metric).and_then(|(word, metric)| verdict_of(word, metric)) {
        Some(verdict) if is_failing(verdict) => "worse",
        Some(_) => "better",
        None => "plain",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fallen_score_and_a_bad_claim_are_worse_though_they_are_new() {
        let lines = [
            ("was", "- answer_correctness: 1 of 1"),
            ("worse", "+ answer_correctness: 0 of 1"),
            ("was", "-   supported: A: b."),
            ("worse", "+   wrong: A: c."),
            ("plain", "  context_recall: 1 of 2"),
            ("better", "+   supported: D."),
            ("was", "- faithfulness: 1 of 2"),
            ("better", "+ faithfulness: 2 of 2"),
            ("plain", "+ context_precision: scored"),
            ("worse", "+ refusal_correctness: 0 of 1"),
        ];
        let texts = lines.map(|(_, line)| line.to_owned());
        assert_eq!(toned(&texts), lines);
    }
}
