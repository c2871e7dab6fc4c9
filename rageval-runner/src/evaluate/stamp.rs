//! Who gave the scores of a run: all that they depend on beside the system.

use crate::{
    embed::{self, Embedder},
    gate::rule::Rules,
    judge::{Judge, offline::Offline, spec::JudgeProvider},
    load::Policy,
    metric::Metric,
    model::{AskedOf, MetricKey, case::Fields, run::JudgeStamp},
};

/// The judge's own stamp, and with it the metrics that the rules of `offline` score although another judge is named: what verdicts
/// depend on.
pub fn of_verdicts(policy: &Policy, judge: &dyn Judge) -> JudgeStamp {
    let stamp = judge.stamp();
    let offline: Vec<String> = by_offline_rules(policy).map(ToString::to_string).collect();
    if offline.is_empty() {
        return stamp;
    }
    let mut fields = Fields::default();
    fields.add("judge", &stamp.fingerprint);
    fields.add("offline", &Offline.stamp().fingerprint);
    for key in &offline {
        fields.add("metric", key);
    }
    JudgeStamp { fingerprint: fields.finish(), ..stamp }
}

/// What scores depend on: verdicts, and the embedder where there is one. Runs are comparable only where it is equal.
pub fn of_scores(policy: &Policy, judge: &dyn Judge, embedder: Option<&dyn Embedder>) -> JudgeStamp {
    let stamp = of_verdicts(policy, judge);
    match embedder {
        Some(embedder) => embed::folded(stamp, &embedder.stamp()),
        None => stamp,
    }
}

/// What the scores of one metric depend on beside the system: whoever judges it, its definition, its parameters in the policy, and the
/// embedder where it compares vectors. A calibration is bound to it; what belongs to other metrics alone does not change it.
pub fn of_metric(
    policy: &Policy,
    judge: &dyn Judge,
    embedder: Option<&dyn Embedder>,
    metrics: &[&dyn Metric],
    key: &MetricKey,
) -> JudgeStamp {
    let stamp = if by_offline_rules(policy).any(|offline| offline == key) { Offline.stamp() } else { judge.stamp() };
    let params = policy.rules.metrics.get(key).map(|rule| rule.params.clone()).unwrap_or_default();
    let mut fields = Fields::default();
    fields.add("judge", &stamp.fingerprint);
    fields.add("metric", &key.to_string());
    fields.add("parameters", &params.digest());
    // Loading knows no other metrics than these.
    if let Some(metric) = metrics.iter().find(|metric| metric.name() == key.name()) {
        fields.add("version", &metric.version().to_string());
        if let Some(embedder) = embedder.filter(|_| metric.needs_embedder(&params)) {
            fields.add("embedder", &embedder.stamp().fingerprint);
        }
    }
    JudgeStamp { fingerprint: fields.finish(), ..stamp }
}

/// What this policy has and a run of an otherwise equal judge had not, found by its fingerprint; `None` where that does not tell.
pub fn lacking(
    policy: &Policy,
    judge: &dyn Judge,
    embedder: Option<&dyn Embedder>,
    fingerprint: &str,
) -> Option<&'static str> {
    let plain = judge.stamp();
    let verdicts = of_verdicts(policy, judge).fingerprint;
    let embedded = embedder.map(|embedder| embed::folded(plain.clone(), &embedder.stamp()).fingerprint);
    let now = of_scores(policy, judge, embedder).fingerprint;
    if fingerprint == now {
        None
    } else if fingerprint == verdicts {
        Some("an embedder")
    } else if embedded.is_some_and(|embedded| embedded == fingerprint) {
        Some("metrics left to `offline`")
    } else if fingerprint == plain.fingerprint {
        Some(if embedder.is_some() { "an embedder and metrics left to `offline`" } else { "metrics left to `offline`" })
    } else {
        None
    }
}

/// The metrics that the rules of `offline` score although another judge is named.
pub fn by_offline_rules(policy: &Policy) -> impl Iterator<Item = &MetricKey> {
    let Rules { metrics, .. } = &policy.rules;
    let is_named = !matches!(policy.judge.provider, JudgeProvider::Offline);
    metrics.iter().filter(move |(_, rule)| is_named && rule.judge == AskedOf::Offline).map(|(key, _)| key)
}
