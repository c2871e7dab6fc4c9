//! Looks whether the judge of each metric was held against people and may gate; asks nothing.

use std::collections::BTreeMap;

use crate::{
    load::{self, Policy},
    metric::Metric,
    model::{GoldenSet, MetricKey, run::JudgeStamp},
    store::{
        calibration::{self, FILE},
        lock::{self, LockFiles},
    },
    trust::calibration::{Labelled, Looked, Now, Refusal, refusals},
};

/// What was found for each of these metrics, from `baselines/calibration.json`, the labels and the version of the golden set.
///
/// `judge` says who judges a metric, as [`super::stamp::of_metric`] does. Files that can't be read are refusals, not errors: they keep a judge
/// from being believed, and a waiver passes them too.
pub fn looked(
    policy: &Policy,
    set: &GoldenSet,
    metrics: &[&dyn Metric],
    keys: &[MetricKey],
    judge: impl Fn(&MetricKey) -> JudgeStamp,
) -> BTreeMap<MetricKey, Looked> {
    if keys.is_empty() {
        return BTreeMap::new();
    }
    let labels = load::labels(policy, metrics).map_err(|problems| {
        problems.iter().next().map(|problem| format!("{}: {}", problem.place(), problem.message())).unwrap_or_default()
    });
    let stored = calibration::read_if_present(&policy.root.join(FILE)).map_err(|error| error.to_string());
    let locked = LockFiles::of(&policy.cases);
    let version = set.version.clone().or_else(|| lock::read(&locked.lock).ok().map(|lock| lock.version));
    let look = |key: &MetricKey| {
        let labelled = match &labels {
            Ok(labels) => labels.labelled(key),
            Err(why) => Labelled::Unreadable(why.clone()),
        };
        let now =
            Now { judge: &judge(key), labels: &labelled, set_version: version.as_deref(), bars: &policy.calibration };
        match &stored {
            Ok(stored) => {
                let measured = stored.as_ref().and_then(|stored| stored.metrics.get(key));
                Looked { measured: measured.cloned(), refusals: refusals(measured, &now) }
            }
            Err(why) => Looked { measured: None, refusals: vec![Refusal::Unreadable(why.clone())] },
        }
    };
    keys.iter().map(|key| (key.clone(), look(key))).collect()
}
