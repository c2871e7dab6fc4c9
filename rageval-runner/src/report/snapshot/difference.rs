//! What differs between two snapshots of one case, and whether that is red.

use std::collections::BTreeMap;

use super::{Snapshot, share_of};
use crate::{
    gate::rule::FailOn,
    model::{Claim, MetricKey},
    report::judged::{Judged, is_failing, verdict_of},
};

/// Why a difference is red; `None` when `fail_on` lets it pass.
pub fn red(fail_on: FailOn, stored: &Snapshot, new: &Snapshot) -> Option<String> {
    let unseen = unseen(&stored.body, &new.body);
    match fail_on {
        FailOn::Never => None,
        FailOn::Any | FailOn::Worse if !unseen.is_empty() => {
            Some(format!("verdicts of {} have not been reviewed yet", unseen.join(", ")))
        }
        FailOn::Any => Some(other_metrics(&stored.body, &new.body).unwrap_or("the verdicts changed".to_owned())),
        FailOn::Worse if stored.digest == new.digest => {
            let judge = || "the same answer, contexts and judge now get other verdicts".to_owned();
            Some(other_metrics(&stored.body, &new.body).unwrap_or_else(judge))
        }
        FailOn::Worse => worse(&stored.body, &new.body),
    }
}

/// Whether a metric's lines differ from those of the reviewed snapshot, which holds it.
pub fn changed_metrics(stored: &Snapshot, new: &Snapshot) -> impl Fn(&str) -> bool {
    let (old, now) = (lines_of_each(&stored.body), lines_of_each(&new.body));
    move |name| old.contains_key(name) && old.get(name) != now.get(name)
}

/// Metrics that the stored verdicts do not hold.
fn unseen<'a>(old: &str, new: &'a str) -> Vec<&'a str> {
    let old = Standing::of_all(old);
    Standing::of_all(new).into_keys().filter(|key| !old.contains_key(key)).collect()
}

/// Which metrics are judged no more or newly, where no verdict differs beside that: nobody changed their mind then.
///
/// A metric that was not applicable and now is judged, as `pairwise` with its first baseline, counts, and so does the reverse.
pub(super) fn other_metrics(old: &str, new: &str) -> Option<String> {
    let (old, new) = (lines_of_each(old), lines_of_each(new));
    let keys: std::collections::BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
    let mut changed = Vec::new();
    for key in keys {
        let is_applicable = |lines: &Vec<&str>| !lines[0].starts_with("not applicable, ");
        match (old.get(key), new.get(key)) {
            (Some(before), Some(now)) if before == now => {}
            (Some(before), Some(now)) => match (is_applicable(before), is_applicable(now)) {
                (false, true) => changed.push(format!("+ {key} (was not applicable)")),
                (true, false) => changed.push(format!("- {key} (now {})", now[0])),
                (true, true) | (false, false) => return None,
            },
            (Some(_), None) => changed.push(format!("- {key}")),
            (None, _) => changed.push(format!("+ {key}")),
        }
    }
    (!changed.is_empty()).then(|| format!("the metrics that are judged changed: {}", changed.join(", ")))
}

/// The standing of each metric in a body, then its claims.
fn lines_of_each(body: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut all: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut current = "";
    for line in body.lines() {
        match line.split_once(": ").filter(|_| !line.starts_with("  ")) {
            Some((key, standing)) => {
                current = key;
                all.insert(key, vec![standing]);
            }
            None => all.entry(current).or_default().push(line),
        }
    }
    all
}

/// Why a changed answer's verdicts are worse: a lower share, or a claim newly unsupported or contradicted.
pub(super) fn worse(old: &str, new: &str) -> Option<String> {
    let (old, new) = (Standing::of_all(old), Standing::of_all(new));
    for (key, now) in &new {
        let Some(before) = old.get(key) else { continue };
        if let (Some((k, n)), Some((now_k, now_n))) = (before.share, now.share)
            && now_k * n < k * now_n
        {
            return Some(format!("{key} fell from {k} of {n} to {now_k} of {now_n}"));
        }
        if let Some(claim) = now.bad.iter().find(|claim| !before.bad.contains(claim)) {
            return Some(format!("{key}: {}", newly(key, claim)));
        }
    }
    None
}

/// What is newly wrong, in the words of what it is about. `bad` is a line of a body: a verdict and a text.
fn newly(key: &str, bad: &str) -> String {
    let as_told = || format!("a claim is newly {bad}");
    let Some((word, text)) = bad.split_once(": ") else { return as_told() };
    let Ok(metric) = MetricKey::parse(key) else { return as_told() };
    let Some(verdict) = verdict_of(word, &metric) else { return as_told() };
    let claim = Claim { text: text.to_owned(), verdict, evidence: None, reason: None };
    let (judged, text) = Judged::of(&claim, &metric);
    match judged {
        Judged::Answer => as_told(),
        Judged::Context => format!("a context is newly {}: {text}", judged.verdict(verdict, &metric)),
        Judged::Retrieved | Judged::Reference => {
            format!("a sentence of the reference is newly {}: {text}", judged.verdict(verdict, &metric))
        }
    }
}

/// What one metric's lines in a body say.
#[derive(Debug, Default)]
struct Standing<'a> {
    share: Option<(usize, usize)>,
    bad: Vec<&'a str>,
}

impl<'a> Standing<'a> {
    fn of_all(body: &'a str) -> BTreeMap<&'a str, Self> {
        let mut all: BTreeMap<&str, Self> = BTreeMap::new();
        let mut current = "";
        for line in body.lines() {
            if let Some(claim) = line.strip_prefix("  ") {
                let metric = MetricKey::parse(current).ok();
                let verdict = claim.split(':').next().zip(metric).and_then(|(word, metric)| verdict_of(word, &metric));
                if verdict.is_some_and(is_failing) {
                    all.entry(current).or_default().bad.push(claim);
                }
            } else if let Some((key, standing)) = line.split_once(": ") {
                current = key;
                all.insert(key, Self { share: share_of(standing), bad: Vec::new() });
            }
        }
        all
    }
}

/// The lines that differ, with `-` and `+`, each metric's heading kept above them.
pub fn difference(old: &str, new: &str) -> Vec<String> {
    let diff = similar::TextDiff::from_lines(old, new);
    let mut lines = Vec::new();
    for change in diff.iter_all_changes() {
        let line = change.value().trim_end_matches('\n');
        match change.tag() {
            similar::ChangeTag::Delete => lines.push(format!("- {line}")),
            similar::ChangeTag::Insert => lines.push(format!("+ {line}")),
            similar::ChangeTag::Equal if !line.starts_with("  ") => lines.push(format!("  {line}")),
            similar::ChangeTag::Equal => {}
        }
    }
    // An unchanged heading is kept only above a changed claim of its own.
    let explains = |i: usize| lines.get(i + 1).is_some_and(|next: &String| next[2..].starts_with("  "));
    let kept = (0..lines.len()).filter(|&i| !lines[i].starts_with("  ") || explains(i));
    kept.map(|i| lines[i].clone()).collect()
}
