//! What of a run goes into a baseline, and which runs may become one.

use std::{collections::BTreeMap, fmt};

use super::Texts;
use crate::model::{
    CaseId, MetricKey, Outcome, Record, Score, Taken, Unmeasured,
    run::{Baseline, BaselineCase, BaselineManifest, Run},
};

/// Metrics whose outcomes differ from one run to the next even when nothing changed: they stay out of a baseline.
const TIMES_AND_COSTS: [&str; 2] = ["latency", "cost"];

/// A run that may become a baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct Accepted {
    /// The baseline.
    pub baseline: Baseline,
    /// The retrieved texts it refers to.
    pub texts: Texts,
}

/// Why a run can't become a baseline, with every case that is to blame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refused {
    /// It holds no record at all.
    pub is_empty: bool,
    /// Cases of the set that have no record: the run was filtered, sharded or interrupted.
    pub missing: Vec<CaseId>,
    /// Why the run is partial whatever it holds.
    pub partial: Option<String>,
    /// Cases with more than one record.
    pub repeated: Vec<CaseId>,
    /// What could not be measured: the case, the metric (none when the system itself failed), and why.
    pub unmeasured: Vec<(CaseId, Option<MetricKey>, Unmeasured)>,
}

impl std::error::Error for Refused {}

/// So many names are shown in a refusal; the rest is counted.
const SHOWN: usize = 20;

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Vec::new();
        if self.is_empty {
            lines.push("the run holds no case".to_owned());
        }
        if !self.missing.is_empty() {
            lines.push(format!(
                "the run is partial, {} of its set without a record: {}; run the whole set, without filter or shard",
                counted(self.missing.len()),
                listed(&self.missing)
            ));
        }
        if let Some(why) = &self.partial {
            lines.push(format!("the run is partial, {why}; run the whole set, without filter or shard"));
        }
        if !self.repeated.is_empty() {
            lines.push(format!(
                "{} with more than one record: {}",
                counted(self.repeated.len()),
                listed(&self.repeated)
            ));
        }
        if !self.unmeasured.is_empty() {
            lines.push("not everything was measured; a baseline must not have holes:".to_owned());
            for (case, metric, fault) in self.unmeasured.iter().take(SHOWN) {
                let metric = metric.as_ref().map_or_else(|| "the system".to_owned(), ToString::to_string);
                lines.push(format!("  {case}: {metric}: {}: {}", fault.cause, fault.why));
            }
            if self.unmeasured.len() > SHOWN {
                lines.push(format!("  and {} more", self.unmeasured.len() - SHOWN));
            }
        }
        f.write_str(&lines.join("\n"))
    }
}

fn counted(count: usize) -> String {
    if count == 1 { "1 case".to_owned() } else { format!("{count} cases") }
}

fn listed(ids: &[CaseId]) -> String {
    let shown: Vec<_> = ids.iter().take(SHOWN).map(CaseId::as_str).collect();
    let more = ids.len().saturating_sub(SHOWN);
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}

/// What of a run goes into a baseline; refused when the run is partial, has unmeasured cases or holds a case twice.
///
/// Reasons for lowered scores are not the run's: the caller adds them.
pub fn from_run(run: &Run) -> Result<Accepted, Refused> {
    let mut refused = Refused {
        is_empty: run.records.is_empty(),
        missing: run.manifest.missing.iter().cloned().collect(),
        partial: run.manifest.partial.clone(),
        ..Refused::default()
    };
    let mut cases = BTreeMap::new();
    let mut texts = Texts::new();
    for record in &run.records {
        for (metric, fault) in record.faults() {
            refused.unmeasured.push((record.case.clone(), metric.cloned(), fault.clone()));
        }
        if let Some(case) = case(record, &mut texts)
            && cases.insert(record.case.clone(), case).is_some()
        {
            refused.repeated.push(record.case.clone());
        }
    }
    if refused != Refused::default() {
        return Err(refused);
    }
    let manifest = BaselineManifest::from(&run.manifest);
    Ok(Accepted { baseline: Baseline { manifest, cases }, texts })
}

/// The entry of one record; `None` where the system failed.
fn case(record: &Record, texts: &mut Texts) -> Option<BaselineCase> {
    let sample = match &record.taken {
        Taken::Sample(sample) => sample,
        Taken::Failed(_) => return None,
    };
    let contexts = &sample.answer.retrieved_contexts;
    let mut context_digests = Vec::with_capacity(contexts.len());
    for context in contexts {
        let digest = text_digest(&context.text);
        texts.entry(digest.clone()).or_insert_with(|| context.text.clone());
        context_digests.push(digest);
    }
    // What was read several times is believed over its first reading.
    let settled = |key: &MetricKey| Some((key.clone(), without_raw(record.settled(key)?)));
    let outcomes =
        record.outcomes.keys().filter(|key| !TIMES_AND_COSTS.contains(&key.name())).filter_map(settled).collect();
    Some(BaselineCase {
        digest: record.digest.clone(),
        response: sample.answer.response.clone(),
        refused: sample.answer.refused,
        retrieved: contexts.iter().map(|context| context.id.clone()).collect(),
        context_digests,
        outcomes,
    })
}

/// The outcome without the measured quantity behind a yes or no.
fn without_raw(outcome: &Outcome) -> Outcome {
    match outcome {
        Outcome::Scored { score, detail } => {
            Outcome::Scored { score: Score { raw: None, ..*score }, detail: detail.clone() }
        }
        Outcome::NotApplicable { .. } | Outcome::Unmeasured { .. } => outcome.clone(),
    }
}

/// The digest under which a retrieved text is filed: 32 hex digits of blake3.
pub fn text_digest(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..32].to_owned()
}
