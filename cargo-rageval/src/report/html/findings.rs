//! The findings of a case, one line a metric: a score that breaks both of its bars is told once, with both.

use rageval_runner::model::run::{Finding, FindingKind, FindingLevel};

/// The findings as lines, in their order; a metric's `min` stands in the line of its drop.
pub(super) fn lines<'r>(findings: impl Iterator<Item = &'r Finding>) -> Vec<(FindingLevel, String)> {
    let mut lines: Vec<(&Finding, String)> = Vec::new();
    for finding in findings {
        let same = lines.iter_mut().find(|(first, _)| {
            let are_bars = |a, b| matches!((a, b), (FindingKind::Min, FindingKind::MaxDrop));
            first.level == finding.level
                && first.metric == finding.metric
                && (are_bars(first.kind, finding.kind) || are_bars(finding.kind, first.kind))
        });
        match same {
            Some((first, text)) if first.kind == FindingKind::Min => *text = both(&first.text, &finding.text),
            Some((first, text)) => *text = both(&finding.text, &first.text),
            None => lines.push((finding, finding.text.clone())),
        }
    }
    lines.into_iter().map(|(finding, text)| (finding.level, text)).collect()
}

/// `recall@5 0.00, min 0.80, baseline 1.00: dropped by 1.00, max_drop 0.50` of the two lines.
fn both(min: &str, drop: &str) -> String {
    let bar = min.split_once(", min ").map(|(_, bar)| bar.split([' ', ',']).next().unwrap_or(bar));
    match (bar, drop.split_once(", baseline ")) {
        (Some(bar), Some((score, rest))) => format!("{score}, min {bar}, baseline {rest}"),
        // Written by another version: nothing is lost.
        _ => format!("{min}; {drop}"),
    }
}

#[cfg(test)]
mod tests {
    use rageval_runner::model::MetricKey;

    use super::*;

    fn finding(kind: FindingKind, metric: &str, text: &str) -> Finding {
        let metric = Some(MetricKey::parse(metric).expect("a metric"));
        Finding { kind, level: FindingLevel::Red, metric, score: None, bar: None, baseline: None, text: text.into() }
    }

    #[test]
    fn a_score_that_breaks_both_bars_is_one_line() {
        let drop = "recall@5 0.00, baseline 1.00: dropped by 1.00, max_drop 0.50 (0 of 1)";
        let all = [
            finding(FindingKind::MaxDrop, "recall@5", drop),
            finding(FindingKind::Min, "faithfulness", "faithfulness 0.50, min 0.80 (1 of 2)"),
            finding(FindingKind::Min, "recall@5", "recall@5 0.00, min 0.80 (0 of 1)"),
        ];
        let texts: Vec<String> = lines(all.iter()).into_iter().map(|(_, text)| text).collect();
        assert_eq!(
            texts,
            [
                "recall@5 0.00, min 0.80, baseline 1.00: dropped by 1.00, max_drop 0.50 (0 of 1)",
                "faithfulness 0.50, min 0.80 (1 of 2)"
            ]
        );
    }
}
