//! What a change of the files touches: nothing, decisions, some cases or all of them.

use std::collections::{BTreeMap, BTreeSet};

use rageval_runner::{
    embed::spec::EmbedderSpec,
    load::Policy,
    model::{CaseId, GoldenCase, GoldenSet, MetricKey, Place, case::Fields, run::JudgeStamp},
    system::spec::{DEFAULT_MAX_IN_FLIGHT, DEFAULT_TIMEOUT, SystemSpec},
};

/// What records and decisions depend on, as the files say it at one moment.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Face {
    /// Whom questions go to, without limits, place and what writes the answers.
    pub(super) system: SystemSpec,
    /// What answers come from, beside the policy.
    pub(super) answers: Answers,
    /// Who judges, with prompts and embedder.
    pub(super) judge: JudgeStamp,
    /// Where judge and embedder are asked, or what they are called wherever that is.
    pub(super) called: Vec<String>,
    /// The metrics and their parameters.
    pub(super) metrics: BTreeMap<MetricKey, String>,
    /// The cases.
    pub(super) cases: BTreeMap<CaseId, CaseFace>,
    /// Digest of all that is left: the policy's text, the baseline, the calibration, the lock, the snapshots.
    pub(super) rest: String,
}

/// Digests of what answers come from; empty where there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Answers {
    /// Of the answers that were recorded.
    pub(super) recorded: String,
    /// Of the source of a function.
    pub(super) source: String,
}

/// The same of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CaseFace {
    /// Digest of what its record depends on.
    pub(super) asked: String,
    /// Digest of all of it.
    pub(super) whole: String,
}

/// What must be done after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Touch {
    /// Nothing: the files say the same.
    Nothing,
    /// Decide over the records that are there.
    Decisions,
    /// Ask these cases, and decide.
    Cases(BTreeSet<CaseId>),
    /// Ask every case, since this changed.
    All(Vec<&'static str>),
}

impl Face {
    /// The face of a policy and its cases.
    pub(super) fn of(policy: &Policy, set: &GoldenSet, judge: JudgeStamp, answers: Answers, rest: &str) -> Self {
        let mut fields = Fields::default();
        fields.add("policy", &policy.digest);
        fields.add("rest", rest);
        Self {
            system: SystemSpec {
                generator: None,
                timeout: DEFAULT_TIMEOUT,
                max_in_flight: DEFAULT_MAX_IN_FLIGHT,
                place: Place::default(),
                ..policy.system.clone()
            },
            answers,
            judge,
            called: std::iter::once(policy.judge.called())
                .chain(policy.embedder.as_ref().map(EmbedderSpec::called))
                .collect(),
            metrics: policy.rules.parameters(),
            cases: set.cases.iter().map(|case| (case.id.clone(), CaseFace::of(case))).collect(),
            rest: fields.finish(),
        }
    }
}

impl CaseFace {
    fn of(case: &GoldenCase) -> Self {
        let mut asked = Fields::default();
        asked.add("content", &case.digest());
        asked.add("language", &format!("{:?} {:?}", case.language, case.language_tag));
        asked.add("metadata", &format!("{:?}", case.metadata));
        asked.add("repeats", &format!("{:?}", case.repeats));
        asked.add("recorded", &format!("{:?}", case.recorded));
        for (metric, bar) in &case.bars {
            // The bars themselves decide, and ask nothing.
            asked.add("metric", &format!("{metric} {:?} {:?}", bar.reduce, bar.params));
        }
        let mut whole = Fields::default();
        whole.add("case", &format!("{case:?}"));
        Self { asked: asked.finish(), whole: whole.finish() }
    }
}

/// What the change from one face to another touches.
pub(super) fn touched(before: &Face, after: &Face) -> Touch {
    if before == after {
        return Touch::Nothing;
    }
    let mut all = Vec::new();
    let mut compare = |is_same: bool, what| all.extend((!is_same).then_some(what));
    compare(before.system == after.system, "the system");
    compare(before.answers.recorded == after.answers.recorded, "the recorded answers");
    compare(before.answers.source == after.answers.source, "the source");
    compare(before.judge == after.judge && before.called == after.called, "the judge");
    let is_measured = |(metric, parameters): (&MetricKey, &String)| before.metrics.get(metric) == Some(parameters);
    compare(after.metrics.iter().all(is_measured), "what is measured");
    if !all.is_empty() {
        return Touch::All(all);
    }
    let is_touched =
        |(id, now): &(&CaseId, &CaseFace)| before.cases.get(*id).is_none_or(|then| then.asked != now.asked);
    let cases: BTreeSet<CaseId> = after.cases.iter().filter(is_touched).map(|(id, _)| id.clone()).collect();
    if cases.is_empty() { Touch::Decisions } else { Touch::Cases(cases) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> CaseId {
        CaseId::new(text).expect("an id")
    }

    fn case(asked: &str, whole: &str) -> CaseFace {
        CaseFace { asked: asked.to_owned(), whole: whole.to_owned() }
    }

    fn face() -> Face {
        let metric = MetricKey::parse("recall@5").expect("a key");
        Face {
            system: SystemSpec::function(),
            answers: Answers::default(),
            judge: JudgeStamp { model: "m-1".to_owned(), ..JudgeStamp::default() },
            called: vec!["http://127.0.0.1:9/v1".to_owned()],
            metrics: [(metric, "k=5".to_owned())].into(),
            cases: [(id("a"), case("a", "a")), (id("b"), case("b", "b"))].into(),
            rest: "r".to_owned(),
        }
    }

    #[track_caller]
    fn check(change: impl FnOnce(&mut Face), expected: &Touch) {
        let mut after = face();
        change(&mut after);
        assert_eq!(touched(&face(), &after), *expected);
    }

    fn cases(ids: &[&str]) -> Touch {
        Touch::Cases(ids.iter().map(|text| id(text)).collect())
    }

    #[test]
    fn nothing_touches_nothing() {
        check(|_| {}, &Touch::Nothing);
    }

    #[test]
    fn thresholds_baseline_and_snapshots_ask_nothing() {
        check(|face| face.rest = "another".to_owned(), &Touch::Decisions);
    }

    #[test]
    fn what_of_a_case_only_decides_asks_nothing() {
        check(|face| _ = face.cases.insert(id("a"), case("a", "tagged")), &Touch::Decisions);
    }

    #[test]
    fn a_case_that_is_gone_asks_nothing() {
        check(|face| _ = face.cases.remove(&id("a")), &Touch::Decisions);
    }

    #[test]
    fn a_changed_and_a_new_case_are_asked_alone() {
        check(|face| _ = face.cases.insert(id("a"), case("another", "another")), &cases(&["a"]));
        check(|face| _ = face.cases.insert(id("c"), case("c", "c")), &cases(&["c"]));
    }

    #[test]
    fn a_case_that_changes_with_a_threshold_is_asked_alone() {
        let change = |face: &mut Face| {
            face.rest = "another".to_owned();
            face.cases.insert(id("b"), case("another", "another"));
        };
        check(change, &cases(&["b"]));
    }

    #[test]
    fn who_is_asked_touches_all() {
        check(|face| face.judge.model = "m-2".to_owned(), &Touch::All(vec!["the judge"]));
        check(|face| face.called.clear(), &Touch::All(vec!["the judge"]));
        check(|face| face.answers.recorded = "another".to_owned(), &Touch::All(vec!["the recorded answers"]));
        check(|face| face.answers.source = "another".to_owned(), &Touch::All(vec!["the source"]));
        let recorded = SystemSpec::of_kind(rageval_runner::system::spec::SystemKind::Recorded(Default::default()));
        check(|face| face.system = recorded, &Touch::All(vec!["the system"]));
    }

    #[test]
    fn a_new_metric_touches_all_and_one_that_is_gone_nothing_but_decisions() {
        let metric = MetricKey::parse("mrr").expect("a key");
        check(|face| _ = face.metrics.insert(metric, String::new()), &Touch::All(vec!["what is measured"]));
        check(
            |face| {
                face.metrics.clear();
                face.rest = "another".to_owned();
            },
            &Touch::Decisions,
        );
    }
}
