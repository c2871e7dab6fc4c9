//! What a case's snapshot says, and which difference from the reviewed one is red. Files are read and written elsewhere.

mod difference;

use std::{borrow::Cow, collections::BTreeMap, fmt::Write as _};

use unicode_normalization::UnicodeNormalization;

pub use difference::{changed_metrics, difference, red};

use super::{
    console::text::visible,
    judged::{verdict_of, word},
};
use crate::model::{CaseId, GoldenCase, MetricKey, Outcome, Record, Sample, case::Fields};

/// Bytes of an id that its file name keeps readable; the hash behind tells the rest apart.
const SLUG_BYTES: usize = 80;

/// One case's verdicts as they are compared and stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Per metric the claims with their verdicts and `k of n`.
    pub body: String,
    /// Digest of answer, contexts and judge: whether the verdicts may differ at all.
    pub digest: String,
}

impl Snapshot {
    /// The snapshot of a record; `None` where there is nothing to compare: no judged metric, something unmeasured, or a repeated case,
    /// whose answers, and with them its claims, differ from run to run.
    ///
    /// `judge` is the digest over judge and metric versions.
    pub fn of(record: &Record, is_judged: impl Fn(&MetricKey) -> bool, judge: &str) -> Option<Self> {
        if record.is_repeated() {
            return None;
        }
        let sample = record.sample()?;
        let judged = judged(record, is_judged);
        if judged.is_empty() || judged.values().any(|outcome| outcome.fault().is_some()) {
            return None;
        }
        Some(Self { body: body(&judged), digest: digest(sample, judge) })
    }

    /// What a stored snapshot's text and description say.
    ///
    /// # Errors
    /// Why it is none of ours.
    pub fn stored(text: &str, description: &str) -> Result<Self, String> {
        let digest =
            description.lines().rev().find_map(|line| line.strip_prefix(DIGEST)).unwrap_or_default().to_owned();
        if digest.is_empty() {
            return Err("its description does not end with the sample it is of".to_owned());
        }
        let (mut body, mut metric) = (String::new(), None);
        for line in text.trim_end().lines() {
            let line = read_line(line, &mut metric).ok_or_else(|| format!("this is no verdict: {}", visible(line)))?;
            body.push_str(&line);
            body.push('\n');
        }
        Ok(Self { body, digest })
    }
}

/// The file name of a case's snapshot, without ending: a readable slug and eight hex digits of the id's hash.
///
/// Ids that differ only in letter case, or only in what a slug drops, never share a file, on any file system.
pub fn file_name(id: &CaseId) -> String {
    let id = id.nfc();
    let mut slug = String::new();
    for c in id.to_lowercase().nfc() {
        let kept = if c.is_alphanumeric() || c == '_' { c } else { '-' };
        if slug.len() + kept.len_utf8() > SLUG_BYTES {
            break;
        }
        if !(kept == '-' && (slug.is_empty() || slug.ends_with('-'))) {
            slug.push(kept);
        }
    }
    let hash = blake3::hash(id.as_bytes()).to_hex();
    format!("{}-{}", slug.trim_end_matches('-'), &hash[..8]).trim_start_matches('-').to_owned()
}

/// The judged metrics that say something, by key: what their readings settled.
pub fn judged(record: &Record, is_judged: impl Fn(&MetricKey) -> bool) -> BTreeMap<&MetricKey, &Outcome> {
    let settled = |key| record.settled(key).map(|outcome| (key, outcome));
    record.outcomes.keys().filter(|key| is_judged(key)).filter_map(settled).collect()
}

/// What is compared: per metric the claims with their verdicts and `k of n`; nothing that changes from one run to the next.
fn body(judged: &BTreeMap<&MetricKey, &Outcome>) -> String {
    let mut body = String::new();
    for (key, outcome) in judged {
        match outcome {
            Outcome::Scored { score, detail } => {
                let value = score.value.get();
                let standing = match detail.k_of_n {
                    Some((k, n)) => format!("{k} of {n}"),
                    // A cosine is 0 or 1 by chance, and then again not.
                    None if detail.similarity.is_some() => "scored".to_owned(),
                    None if value == 0.0 => "0 of 1".to_owned(),
                    None if value == 1.0 => "1 of 1".to_owned(),
                    None => "scored".to_owned(),
                };
                let _ = writeln!(body, "{key}: {standing}");
                for claim in &detail.claims {
                    let _ = writeln!(body, "  {}: {}", word(claim.verdict, key), visible(&claim.text));
                }
            }
            Outcome::NotApplicable { why } => {
                let _ = writeln!(body, "{key}: not applicable, {}", visible(why));
            }
            Outcome::Unmeasured { .. } => {}
        }
    }
    body
}

/// What a reviewer reads above the verdicts. The last line is read back: it says which sample the verdicts are of.
pub fn description(case: &GoldenCase, record: &Record, digest: &str) -> String {
    let mut text = format!("Question: {}\n", visible(&case.query));
    if let Some(sample) = record.sample() {
        let _ = writeln!(text, "Answer: {}", visible(sample.answer.response.trim()));
        let ids: Vec<String> = sample
            .answer
            .retrieved_contexts
            .iter()
            .map(|context| context.id.as_ref().map_or_else(|| "(no id)".to_owned(), |id| visible(id.as_str())))
            .collect();
        let _ = writeln!(text, "Contexts: {}", if ids.is_empty() { "none".to_owned() } else { ids.join(", ") });
    }
    let _ = write!(text, "{DIGEST}{digest}");
    text
}

/// Starts the last line of a description, which says which sample the verdicts are of.
pub const DIGEST: &str = "Sample: ";

/// Digest of what the verdicts depend on: answer, contexts, judge.
fn digest(sample: &Sample, judge: &str) -> String {
    let mut fields = Fields::default();
    fields.add("judge", judge);
    fields.add("answer", &sample.answer.response);
    fields.add("refusal", if sample.is_refusal { "yes" } else { "no" });
    for context in &sample.answer.retrieved_contexts {
        fields.add("id", context.id.as_ref().map_or("", |id| id.as_str()));
        fields.add("text", &context.text);
    }
    fields.finish()
}

/// A line of a stored body as [`body`] writes it now, below the heading of its metric; after a careless merge or a slip of the hand it is
/// none, and would be compared with nothing. A word that an older version wrote for a verdict is read as today's.
fn read_line<'l>(line: &'l str, metric: &mut Option<MetricKey>) -> Option<Cow<'l, str>> {
    if let Some(claim) = line.strip_prefix("  ") {
        let (said, metric) = (claim.split(':').next()?, metric.as_ref()?);
        let today = word(verdict_of(said, metric)?, metric);
        return Some(if said == today { line.into() } else { format!("  {today}{}", &claim[said.len()..]).into() });
    }
    let (key, standing) = line.split_once(": ")?;
    let is_known = standing == "scored" || standing.starts_with("not applicable, ") || share_of(standing).is_some();
    *metric = Some(MetricKey::parse(key).ok().filter(|_| is_known)?);
    Some(line.into())
}

/// The `k of n` of a heading.
fn share_of(standing: &str) -> Option<(usize, usize)> {
    let (k, n) = standing.split_once(" of ")?;
    Some((k.parse().ok()?, n.parse().ok()?))
}

#[cfg(test)]
mod tests;
