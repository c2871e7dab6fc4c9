//! Whether a run holds all that it should: what is missing never counts as passed.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    background::MetricBackground,
    ids::CaseId,
    record::{Record, Taken},
    run::{Decision, Ruling, Run},
};

impl Run {
    /// What is missing from a run that says of itself that it is whole, a phrase each: records, decisions of cases, gates of the policy, and
    /// scores below a case that passed. Empty where nothing is, and for a partial run, which says so itself.
    ///
    /// Of runs of older versions, which do not tell their cases and rules, only what they tell is looked at.
    pub fn holes(&self) -> Vec<String> {
        if self.is_partial() {
            return Vec::new();
        }
        let mut holes = Vec::new();
        let expected = self.manifest.golden_set.cases.max(self.cases.len());
        if self.records.len() < expected {
            holes.push(format!("{} of {expected} cases have a record", self.records.len()));
        }
        let decided: BTreeMap<&str, &Decision> =
            self.decisions.iter().map(|decision| (decision.trial.as_str(), decision)).collect();
        let of_cases = self.decisions.iter().filter(|decision| decision.is_of_case()).count();
        if of_cases < expected {
            holes.push(format!("{of_cases} of {expected} cases are decided"));
        }
        let records: BTreeMap<&CaseId, &Record> = self.records.iter().map(|record| (&record.case, record)).collect();
        let passed_without = |trial: &str, record: &Record| {
            let is_passed = decided.get(trial).is_some_and(|decision| decision.ruling == Ruling::Pass);
            is_passed && self.lacks_a_score(record)
        };
        let unmeasured = self
            .cases
            .iter()
            .filter(|case| records.get(&case.case).is_some_and(|record| passed_without(&case.trial, record)));
        holes.extend(unmeasured.map(|case| format!("{} passed and is not measured", case.case)));
        let gates = self.background.metrics.iter().flat_map(gates_of).chain(self.counts_unmeasured());
        holes.extend(
            gates.filter(|gate| !decided.contains_key(gate.as_str())).map(|gate| format!("{gate} is not decided")),
        );
        holes
    }

    /// What stands in it that can't be true of one run: a record, a case or a decision twice, or a decision about no case of it.
    pub fn contradiction(&self) -> Option<String> {
        fn twice<T: Ord>(items: impl Iterator<Item = T>) -> Option<T> {
            let mut seen = BTreeSet::new();
            let mut twice = None;
            for item in items {
                if seen.contains(&item) {
                    twice.get_or_insert(item);
                } else {
                    seen.insert(item);
                }
            }
            twice
        }
        if let Some(case) = twice(self.records.iter().map(|record| &record.case)) {
            return Some(format!("case `{case}` has two records in it, and a run has one a case"));
        }
        if let Some(case) = twice(self.cases.iter().map(|case| &case.case)) {
            return Some(format!("case `{case}` stands twice in it"));
        }
        if let Some(trial) = twice(self.decisions.iter().map(|decision| &decision.trial)) {
            return Some(format!("`{trial}` is decided twice in it"));
        }
        if self.cases.is_empty() {
            return None;
        }
        let trials: BTreeSet<&str> = self.cases.iter().map(|case| case.trial.as_str()).collect();
        let is_stray = |decision: &&Decision| decision.is_of_case() && !trials.contains(decision.trial.as_str());
        let stray = self.decisions.iter().find(is_stray);
        stray.map(|decision| format!("`{}` is decided in it, and it has no such case", decision.trial))
    }

    /// Whether something of a record is unmeasured, or a metric of the policy is not in it.
    fn lacks_a_score(&self, record: &Record) -> bool {
        let lacks = |metric: &MetricBackground| !record.outcomes.contains_key(&metric.metric);
        let is_sample = matches!(record.taken, Taken::Sample(_));
        record.is_unmeasured() || (is_sample && self.background.metrics.iter().any(lacks))
    }

    /// The gate that every run with rules has.
    fn counts_unmeasured(&self) -> Option<String> {
        (!self.background.metrics.is_empty()).then(|| "gate::set::unmeasured".to_owned())
    }
}

/// The gates over the whole set that the rules of a metric make, apart from those that need a baseline.
fn gates_of(metric: &MetricBackground) -> Vec<String> {
    let rules = [
        ("mean", metric.mean_min.is_some()),
        ("pass_rate", metric.pass_rate_min.is_some()),
        ("bottom10", metric.bottom10_min.is_some()),
    ];
    let made = rules.into_iter().filter(|(_, is_made)| *is_made);
    made.map(|(rule, _)| format!("gate::{}::{rule}", metric.metric)).collect()
}

#[cfg(test)]
mod tests;
