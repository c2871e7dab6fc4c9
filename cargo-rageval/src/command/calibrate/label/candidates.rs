//! What of a run can be labelled: single claims, or whole answers where a metric has no claims.

use std::collections::{BTreeMap, BTreeSet};

use rageval_runner::{
    metric::single_claim,
    model::{
        CaseId, Claim, GoldenCase, GoldenSet, Heard, Item, MetricKey, Outcome, Record, Sample, Verdict, case::Fields,
        ids::MAX_CASE_ID_BYTES, run::Run,
    },
    text,
    trust::sampling::{Standing, Stratum},
};

/// Something to label, and what it is drawn on.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) item: Item,
    pub(super) stratum: Stratum,
}

/// What a run holds of one metric.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// What can be labelled, in the order of the cases.
    pub(super) all: Vec<Candidate>,
    /// Cases that changed or went since the run.
    pub(super) changed: usize,
    /// Cases without a score of the metric, declined ones among them.
    pub(super) unscored: usize,
    /// Cases that were asked several times: the score is of several answers, and holds the claims of none.
    pub(super) repeated: usize,
}

/// Everything of a run that people can be asked about.
pub(super) fn candidates(run: &Run, set: &GoldenSet, metric: &MetricKey) -> Candidates {
    let cases: BTreeMap<&CaseId, &GoldenCase> = set.cases.iter().map(|case| (&case.id, case)).collect();
    let mut found = Candidates::default();
    for record in &run.records {
        let Some(case) = cases.get(&record.case).filter(|case| case.digest() == record.digest) else {
            found.changed += 1;
            continue;
        };
        let before = found.all.len();
        found.all.extend(of_record(record, case, metric));
        let reduced = record.outcomes.get(metric).and_then(|outcome| outcome.detail()?.reduced);
        match (found.all.len() == before, reduced) {
            (false, _) => {}
            (true, Some(_)) => found.repeated += 1,
            (true, None) => found.unscored += 1,
        }
    }
    found
}

fn of_record(record: &Record, case: &GoldenCase, metric: &MetricKey) -> Vec<Candidate> {
    let (Some(sample), Some(Outcome::Scored { score, detail })) = (record.sample(), record.outcomes.get(metric)) else {
        return Vec::new();
    };
    // Whether a label's answer declines is what the text says, since a label keeps no flag of the system.
    let declines = sample.is_refusal || text::is_refusal(&sample.answer.response, case.language);
    if declines || sample.answer.response.trim().is_empty() {
        return Vec::new();
    }
    let language = case.language_tag.clone().unwrap_or_else(|| case.language.as_str().to_owned());
    let candidate = |claim: Option<&str>, standing| Candidate {
        item: item(case, sample, metric, claim),
        stratum: Stratum { language: language.clone(), standing },
    };
    if !single_claim::takes_claims(metric.name()) {
        return vec![candidate(None, Standing::of_score(score.value))];
    }
    let mut seen = BTreeSet::new();
    let claims = detail.claims.iter().enumerate().filter(|(_, claim)| seen.insert(claim.text.as_str()));
    let standing = |(at, claim): (usize, &Claim)| Standing::of_verdicts(claim.verdict, readings(record, metric, at));
    claims.map(|(at, claim)| candidate(Some(&claim.text), standing((at, claim)))).collect()
}

/// What further readings said of one claim of an answer.
fn readings(record: &Record, metric: &MetricKey, at: usize) -> Vec<Verdict> {
    let heard = record.readings.get(metric).map(|readings| readings.now.as_slice()).unwrap_or_default();
    let of_claim = |heard: &Heard| match heard {
        Heard::Verdicts { verdicts } => verdicts.get(at).copied(),
        Heard::Score { .. } | Heard::Nothing { .. } => None,
    };
    heard.iter().filter_map(of_claim).collect()
}

/// The item with an id that says which answer of which case it is, and another one for another answer.
fn item(case: &GoldenCase, sample: &Sample, metric: &MetricKey, claim: Option<&str>) -> Item {
    let mut fields = Fields::default();
    fields.add("metric", &metric.to_string());
    fields.add("case", &case.digest());
    fields.add("response", &sample.answer.response);
    for context in &sample.answer.retrieved_contexts {
        fields.add("context id", context.id.as_ref().map_or("", |id| id.as_str()));
        fields.add("context", &context.text);
    }
    fields.add("claim", claim.unwrap_or_default());
    let digest = fields.finish();
    let mark = format!("#{}", &digest[..10]);
    let name = case.id.as_str();
    let room = MAX_CASE_ID_BYTES - mark.len();
    let end = (0..=room.min(name.len())).rev().find(|end| name.is_char_boundary(*end)).unwrap_or_default();
    let id = format!("{}{mark}", &name[..end]);
    // The start of an id and hex digits are an id.
    let case_id = CaseId::new(id.clone()).unwrap_or_else(|_| case.id.clone());
    let case = GoldenCase { id: case_id, bars: BTreeMap::new(), known_failure: None, ..case.clone() };
    Item { id, case, sample: sample.clone(), claim: claim.map(str::to_owned) }
}
