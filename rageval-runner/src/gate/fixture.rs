//! A small world for the tests of decisions: rules, cases, records and a baseline, changed by closures.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    Basis, DropTests, MetricFacts, decide_case, decide_gate, drop_tests, gates,
    rule::{MeanRule, MetricRule, Regression, Rules, SliceField, SliceName},
};
use crate::{
    metric::Kind,
    model::{
        Answer, CaseId, CaseScores, GoldenCase, GoldenSet, MetricKey, Outcome, Place, Record, Records, Sample, Scores,
        Taken, UnitInterval,
        run::{AcceptedRun, Baseline, BaselineCase, Decision, JudgeStamp},
    },
};

pub(crate) fn unit(number: f64) -> UnitInterval {
    UnitInterval::new(number).expect("a score")
}

pub(crate) fn key(text: &str) -> MetricKey {
    MetricKey::parse(text).expect("a metric key")
}

pub(crate) fn id(text: &str) -> CaseId {
    CaseId::new(text).expect("an id")
}

pub(crate) fn scored(number: f64) -> Outcome {
    Outcome::scored(unit(number))
}

pub(crate) fn golden(name: &str, line: usize) -> GoldenCase {
    GoldenCase {
        references: vec!["This about it.".to_owned()],
        kind: Some("fact".to_owned()),
        language_tag: Some("en".to_owned()),
        group: "en".to_owned(),
        place: Place { file: "cases/en.yaml".to_owned(), line, column: 3 },
        ..GoldenCase::new(id(name), format!("What about {name}?"))
    }
}

pub(crate) fn slice(field: SliceField, value: &str) -> SliceName {
    SliceName { field, value: value.to_owned() }
}

/// Rules, cases, records and a baseline. The metrics known: `faithfulness` is judged, `recall@5` and `latency` are not, `pairwise` compares with the baseline.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) rules: Rules,
    pub(crate) set: GoldenSet,
    pub(crate) records: Records,
    pub(crate) baseline: Option<Baseline>,
    pub(crate) history: Vec<AcceptedRun>,
    pub(crate) judge: JudgeStamp,
    metrics: BTreeMap<String, MetricFacts>,
}

impl World {
    /// Cases `c00`, `c01`, ... with these scores of `recall@5`, and no rule yet.
    pub(crate) fn of(scores: &[f64]) -> Self {
        Self::with("recall@5", scores.iter().copied().map(scored))
    }

    /// Cases `c00`, `c01`, ... with these outcomes of a metric, and no rule yet.
    pub(crate) fn with(metric: &str, outcomes: impl IntoIterator<Item = Outcome>) -> Self {
        let judge = JudgeStamp { provider: "offline".into(), model: "1".into(), fingerprint: "aaaaaaaaaaaa".into() };
        let facts = |kind| MetricFacts { kind, version: 1, reads_baseline: false, judged_when: None };
        let metrics = [("faithfulness", Kind::Judged), ("recall", Kind::Retrieval), ("latency", Kind::Quantity)];
        let mut metrics: BTreeMap<_, _> = metrics.map(|(name, kind)| (name.to_owned(), facts(kind))).into();
        metrics.insert("pairwise".to_owned(), MetricFacts { reads_baseline: true, ..facts(Kind::Judged) });
        let (rules, set, records) = (Rules::default(), GoldenSet::default(), BTreeMap::new());
        let mut world = Self { rules, set, records, baseline: None, history: Vec::new(), judge, metrics };
        world.rules.metrics.insert(key(metric), MetricRule::default());
        for (i, outcome) in outcomes.into_iter().enumerate() {
            let case = golden(&format!("c{i:02}"), 10 + i);
            world.records.insert(case.id.clone(), Arc::new(Self::record(&case, metric, outcome)));
            world.set.cases.push(case);
        }
        world
    }

    fn record(case: &GoldenCase, metric: &str, outcome: Outcome) -> Record {
        let sample = Sample { answer: Answer::new("That about it."), is_refusal: false, latency_ms: Some(1.0) };
        Record::new(
            case.id.clone(),
            case.digest(),
            Taken::Sample(sample),
            [(key(metric), outcome)].into(),
            crate::model::Transcript::default(),
        )
    }

    /// The record of a case, to be changed.
    pub(crate) fn record_mut(&mut self, id: &CaseId) -> &mut Record {
        Arc::make_mut(self.records.get_mut(id).expect("a record"))
    }

    /// The scores of the records as they stand.
    pub(crate) fn scores(&self) -> Scores {
        CaseScores::of_all(self.records.values().map(AsRef::as_ref))
    }

    /// Sets the rule of the first metric.
    pub(crate) fn rule(mut self, change: impl FnOnce(&mut MetricRule)) -> Self {
        change(self.rules.metrics.values_mut().next().expect("a metric"));
        self
    }

    /// Asks for a mean of at least this.
    pub(crate) fn mean(self, min: f64) -> Self {
        self.rule(|rule| rule.set.mean = Some(MeanRule { min: Some(unit(min)), ..MeanRule::default() }))
    }

    /// Changes anything.
    pub(crate) fn change(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Accepts these scores of the first metric as the baseline, case by case; the set as it stands.
    pub(crate) fn accepted(mut self, scores: &[f64]) -> Self {
        let metric = self.rules.metrics.keys().next().expect("a metric").clone();
        self.rules.regression = Some(Regression {
            baseline: "baselines/main.json".into(),
            decision: None,
            window: None,
            place: Place::default(),
        });
        let mut baseline = Baseline::default();
        baseline.manifest.judge = self.judge.clone();
        baseline.manifest.metric_versions.insert(metric.name().to_owned(), 1);
        for (case, score) in self.set.cases.iter().zip(scores) {
            let accepted = BaselineCase {
                digest: case.digest(),
                response: "That about it.".to_owned(),
                refused: None,
                retrieved: Vec::new(),
                context_digests: Vec::new(),
                outcomes: [(metric.clone(), scored(*score))].into(),
            };
            baseline.cases.insert(case.id.clone(), accepted);
        }
        self.baseline = Some(baseline);
        self
    }

    pub(crate) fn basis(&self) -> Basis<'_> {
        Basis {
            rules: &self.rules,
            baseline: self.baseline.as_ref(),
            history: &self.history,
            judge: &self.judge,
            metrics: &self.metrics,
            seed: 0,
            target: "rag_regression",
        }
    }

    pub(crate) fn tests(&self) -> DropTests {
        drop_tests(&gates(&self.rules, &self.set), &self.scores(), &self.basis())
    }

    /// The names of all gates.
    pub(crate) fn gate_names(&self) -> Vec<String> {
        gates(&self.rules, &self.set).into_iter().map(|gate| gate.name).collect()
    }

    /// Decides the gate of this name.
    pub(crate) fn gate(&self, name: &str) -> Decision {
        let all = gates(&self.rules, &self.set);
        let gate = all.iter().find(|gate| gate.name == name);
        let gate = gate.unwrap_or_else(|| panic!("no gate {name} among {:?}", self.gate_names()));
        decide_gate(gate, &self.set, &self.scores(), &self.basis(), &self.tests())
    }

    /// Decides the case of this id.
    pub(crate) fn case(&self, name: &str) -> Decision {
        let case = self.set.get(&id(name)).expect("a case");
        decide_case(case, &self.records[&case.id], &self.basis(), None)
    }
}
