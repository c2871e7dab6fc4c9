//! What a run leaves: its manifest, and the run file.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::OnceLock,
};

use super::{
    session::{SEED, Session, Shared},
    setup::Scope,
    verdict,
};
use crate::{
    metric::{self, described::describe},
    model::{
        CaseId, MetricKey,
        background::Background,
        described::DescribedMetric,
        run::{Decision, Manifest, SetStamp, SystemStamp},
    },
    report::background,
    store::{
        StoreError,
        ledger::Ledger,
        runs,
        runs::{Parts, WholeRecord},
    },
};

impl Session {
    /// Where the run comes from.
    pub(super) fn manifest(&self, missing: BTreeSet<CaseId>) -> Manifest {
        let set = &self.files.set;
        let opened = self.evaluation.get().and_then(|opened| opened.as_ref().ok());
        Manifest {
            run_id: self.folder.id().to_owned(),
            rageval: env!("CARGO_PKG_VERSION").to_owned(),
            golden_set: SetStamp {
                name: set.name.clone(),
                version: set.version.clone(),
                digest: set.digest(),
                cases: set.cases.len(),
            },
            judge: self.judge_stamp.clone(),
            system: SystemStamp {
                kind: self.files.policy.system.kind.as_str().to_owned(),
                generator: self.files.policy.system.generator.clone(),
            },
            metric_versions: self.metric_versions(),
            own_metrics: self.own_metrics(),
            parameters: self.files.policy.rules.parameters(),
            policy_digest: self.files.policy.digest.clone(),
            git_revision: runs::git_revision(&self.files.policy.root),
            seed: SEED,
            target: Some(self.target.to_owned()),
            missing,
            partial: self.partial(),
            judge_calls_itself: self.judge.other_names(),
            spent: self.ledger().and_then(Ledger::spent),
            reply_mode: opened.and_then(|opened| opened.judging.mode()).map(|mode| mode.as_str().to_owned()),
            snapshots: self.snapshots.stamp(&self.files.policy.root, &self.metrics),
        }
    }

    /// Why the run is partial whatever it holds.
    fn partial(&self) -> Option<String> {
        let one_file = "only the file of one case was read".to_owned();
        let shard = self.context.shard.as_ref().map(|shard| format!("shard {shard}"));
        shard.or_else(|| self.course.partial.clone()).or((self.files.scope == Scope::OneFile).then_some(one_file))
    }

    /// The version of each metric that the rules or a case name.
    pub(super) fn metric_versions(&self) -> BTreeMap<String, u32> {
        let rules = self.files.policy.rules.metrics.keys();
        let named: BTreeSet<&str> =
            rules.chain(self.files.set.cases.iter().flat_map(|case| case.bars.keys())).map(MetricKey::name).collect();
        let known = self.metrics.iter().filter(|metric| named.contains(metric.name()));
        known.map(|metric| (metric.name().to_owned(), metric.version())).collect()
    }

    /// The metrics that are not built in, as others must know them to read this policy and decide over this run.
    fn own_metrics(&self) -> BTreeMap<String, DescribedMetric> {
        let rules = &self.files.policy.rules.metrics;
        let own = self.metrics.iter().filter(|metric| metric::find(metric.name()).is_none());
        let described = own.map(|metric| {
            let of_it = rules.iter().filter(|(key, _)| key.name() == metric.name());
            (metric.name().to_owned(), describe(*metric, of_it.map(|(_, rule)| &rule.params)))
        });
        described.collect()
    }

    /// Ends the run of one process: writes the run file, also when cases failed.
    pub(super) fn write_run(&self, decisions: &[Decision], background: &Background) -> Result<PathBuf, StoreError> {
        let Shared::Memory(slots) = &self.records else { return Ok(self.folder.path()) };
        let has_none = |slot: &OnceLock<_>| !matches!(slot.get(), Some(Ok(_)));
        let missing = slots.iter().filter(|(_, slot)| has_none(slot)).map(|(id, _)| id.clone()).collect();
        let manifest = self.manifest(missing);
        let basis = verdict::basis(self);
        let write = || {
            self.folder.write_run(Parts {
                manifest: &manifest,
                records: Box::new(self.record_texts().map(|text| text.map(WholeRecord::Text))),
                decisions,
                cases: Box::new(background::cases(&self.files.set, &basis).map(Cow::Owned)),
                background,
            })
        };
        let path = match write() {
            // Records that wait on the same disk may be what fills it.
            Err(error) if error.is_for_want_of_room() && self.shelf.give_room() => write(),
            written => written,
        }?;
        self.folder.finish()?;
        Ok(path)
    }
}
