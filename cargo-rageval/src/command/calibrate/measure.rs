//! Has one judge score the labelled items.

use std::{collections::BTreeMap, path::Path};

use rageval_runner::{
    evaluate::stamp,
    load::{Labels, Policy},
    metric::{METRICS, single_claim},
    model::{
        Item, MetricKey, Outcome, Transcript, Verdict,
        run::{JudgeStamp, Run},
    },
    store::{baseline::Answers, runs},
    trust::calibration::{Judged, Measured},
};

use crate::{
    asking::{self, Asking, Need},
    context::Context,
    exit::Failure,
};

/// What a judge said of the labelled items of one metric, with all that it was asked for that.
pub(super) struct Heard {
    pub(super) measured: Measured,
    pub(super) transcripts: Vec<Transcript>,
}

/// The judge of this policy, to be asked.
pub(super) fn open(policy: &Policy, context: &Context) -> Result<Asking, Failure> {
    asking::open(policy, context, Need::Replies, Answers::default())
}

/// What it says of every labelled item of these metrics: of a claim alone where one is labelled, else of the whole answer.
pub(super) fn heard(
    asking: &Asking,
    policy: &Policy,
    labels: &Labels,
    metrics: &[MetricKey],
) -> BTreeMap<MetricKey, Heard> {
    let of_metric = |key| labels.items_of(key).into_iter().map(move |item| (key, item));
    let jobs: Vec<(&MetricKey, &Item)> = metrics.iter().flat_map(of_metric).collect();
    let outcomes = asking.inner().each(jobs.clone(), async |evaluation, (key, item)| match &item.claim {
        Some(_) => evaluation.claim(item, key).await,
        None => {
            let mut record = evaluation.outcomes(&item.case, item.sample.clone(), std::slice::from_ref(key)).await;
            let nothing = || Outcome::unmeasured("no outcome", "the metric ended without one");
            (record.outcomes.remove(key).unwrap_or_else(nothing), record.transcript)
        }
    });
    let mut judged: BTreeMap<&MetricKey, (BTreeMap<String, Judged>, Vec<Transcript>)> = BTreeMap::new();
    for ((key, item), (outcome, transcript)) in jobs.into_iter().zip(outcomes) {
        let (judged, transcripts) = judged.entry(key).or_default();
        judged.insert(item.id.clone(), Judged::from(&outcome));
        transcripts.push(transcript);
    }
    let mut heard = BTreeMap::new();
    for (key, (judged, transcripts)) in judged {
        let (stamp, version) = (stamp_of(asking, policy, key), labels.set_version.as_deref());
        let measured = Measured::of(key, (&labels.items, &labels.labels), version, stamp, &judged);
        heard.insert(key.clone(), Heard { measured, transcripts });
    }
    heard
}

/// Who gives the verdicts of a metric.
pub(super) fn stamp_of(asking: &Asking, policy: &Policy, key: &MetricKey) -> JudgeStamp {
    let embedding = asking.inner().evaluation().embedding.as_ref();
    stamp::of_metric(policy, asking.judge(), embedding.map(|embedding| &*embedding.embedder), METRICS, key)
}

/// Reads the run of this path; `latest` is the latest one.
pub(super) fn read_run(path: &Path, context: &Context) -> Result<Run, Failure> {
    let latest = context.runs.join("latest");
    let path = if path == Path::new("latest") { &latest } else { path };
    if *path == latest && !path.exists() {
        let why = format!("{}: no run yet; run the gate first: {}", path.display(), super::super::GATES);
        return Err(Failure::Input(why));
    }
    runs::read(path).map_err(|error| Failure::Input(error.to_string()))
}

/// What a run's judge said of things like the labelled ones: of claims, where single claims are. `None` where the run has no score.
pub(super) fn scores_of(run: &Run, key: &MetricKey, labels: &Labels) -> Option<Vec<f64>> {
    let is_of_claims = is_of_claims(key, labels);
    let mut scores = Vec::new();
    for outcome in run.records.iter().filter_map(|record| record.outcomes.get(key)) {
        let Outcome::Scored { score, detail } = outcome else { continue };
        if is_of_claims {
            scores.extend(detail.claims.iter().map(|claim| f64::from(claim.verdict == Verdict::Supported)));
        } else {
            scores.push(score.value.get());
        }
    }
    (!scores.is_empty()).then_some(scores)
}

/// Whether all that is labelled of a metric are single claims.
pub(super) fn is_of_claims(key: &MetricKey, labels: &Labels) -> bool {
    single_claim::takes_claims(key.name()) && labels.items_of(key).iter().all(|item| item.claim.is_some())
}
