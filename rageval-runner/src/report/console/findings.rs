//! What is found of a case, as data with a phrase each.

use super::{
    case::{bar_text, broken_text},
    text::visible,
};
use crate::{
    gate::case::{Bar, Broken, CaseFindings},
    model::{
        Record,
        run::{Finding, FindingKind, FindingLevel},
    },
};

/// Every finding of a case: what makes it red first, then what only warns, what is known, what recovered.
///
/// `max_unmeasured` is the policy's: above 0 the gate over the set decides on unmeasured cases, and here they only warn.
pub fn told(record: &Record, findings: &CaseFindings, max_unmeasured: usize) -> Vec<Finding> {
    let CaseFindings { failed, warned, known, recovered, faults, undecided } = findings;
    let of_faults = if max_unmeasured == 0 { FindingLevel::Red } else { FindingLevel::Warned };
    let red = failed.iter().map(|broken| of_bar(broken, FindingLevel::Red, broken_text(broken, record)));
    let unmeasured = faults.iter().map(|(metric, fault)| {
        let text = visible(&format!("{}: {}", fault.cause, fault.why));
        Finding { metric: metric.clone(), ..phrase(FindingKind::Unmeasured, of_faults, text) }
    });
    let incomparable = undecided.iter().map(|(metric, why)| {
        let text = format!("max_drop of {metric}: {}", why.why());
        Finding { metric: Some(metric.clone()), ..phrase(FindingKind::Incomparable, FindingLevel::Red, text) }
    });
    let warned = warned.iter().map(|broken| of_bar(broken, FindingLevel::Warned, bar_text(broken)));
    let known = known.iter().map(|broken| of_bar(broken, FindingLevel::Known, bar_text(broken)));
    let recovered = recovered.iter().map(|metric| {
        let text = format!("{metric} breaks no rule any more");
        Finding { metric: Some(metric.clone()), ..phrase(FindingKind::Recovered, FindingLevel::Known, text) }
    });
    red.chain(unmeasured).chain(incomparable).chain(warned).chain(known).chain(recovered).collect()
}

fn phrase(kind: FindingKind, level: FindingLevel, text: String) -> Finding {
    Finding { kind, level, metric: None, score: None, bar: None, baseline: None, text }
}

fn of_bar(broken: &Broken, level: FindingLevel, text: String) -> Finding {
    let (kind, bar, baseline) = match broken.bar {
        Bar::Min(min) => (FindingKind::Min, min, None),
        Bar::MaxDrop { baseline, max_drop } => (FindingKind::MaxDrop, max_drop, Some(baseline)),
    };
    let (metric, score) = (Some(broken.metric.clone()), Some(broken.score));
    Finding { metric, score, bar: Some(bar), baseline, ..phrase(kind, level, text) }
}

/// A broken rule in numbers alone, as [`bar_text`] says it; `None` for what is no number.
pub fn phrase_of(finding: &Finding) -> Option<String> {
    let bar = match finding.baseline {
        None => Bar::Min(finding.bar?),
        Some(baseline) => Bar::MaxDrop { baseline, max_drop: finding.bar? },
    };
    Some(bar_text(&Broken { metric: finding.metric.clone()?, score: finding.score?, bar }))
}
